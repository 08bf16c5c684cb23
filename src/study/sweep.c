/* Runs of a sweep: one as a line of comma-separated values, all of them as a table. */
#include "core/arena.h"
#include "core/error.h"
#include "core/number.h"
#include "core/text.h"
#include "problem/problem.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { few = 20, max_settings = 128 };

struct dae_sweep {
    dae_arena *arena;
    const dae_design *design;
    dae_sweep_options opt; /* texts in the arena */
    int *component;        /* recorded; -1 - k: derived column k */
    int derived;           /* 1: there are such */
    int ncomponent;
    const char **name, **unit; /* of the recorded components */
    double t0, t_end;
    const char *time_unit;
    double *at; /* points times of run 0: the names of columns; runs with another interval scale them */
};

static const char *const counters[] = {"steps", "accepted", "f", "jac", "lu", "cpu_seconds"};
enum { ncounters = sizeof counters / sizeof *counters };

/* ---- What is recorded ------------------------------------------------------------------------------ */

static const char *kept(dae_sweep *s, const char *text)
{
    return text ? dae_arena_copy(s->arena, text, strlen(text) + 1, 1) : NULL;
}

static const dae_setting *kept_settings(dae_sweep *s, const dae_setting *list, int n)
{
    dae_setting *copy = dae_arena_take(s->arena, (size_t)n + 1, sizeof *copy);
    for (int i = 0; copy && i < n; i++)
        copy[i] = (dae_setting){kept(s, list[i].name), kept(s, list[i].value)};
    return copy;
}

static int find_component(const dae_problem *p, int n, const char *word, size_t length)
{
    for (int i = 0; i < n; i++) {
        char buffer[24];
        const char *name = dae_component_name(p, i, buffer, sizeof buffer);
        if (strlen(name) == length && !strncmp(name, word, length)) return i;
    }
    return n;
}

/* The sensor or reaction of this name as it is recorded; 0: there is none. */
static int find_column(const dae_problem *p, const char *word, size_t length)
{
    for (int k = 0; p->derived.columns && k < p->derived.ncolumn; k++) {
        if (strlen(p->derived.column[k]) == length && !strncmp(p->derived.column[k], word, length))
            return -1 - k;
    }
    return 0;
}

static dae_status choose_components(dae_sweep *s, const dae_problem *p, dae_error *err)
{
    int n = dae_system_size(&p->system), most = n + p->derived.ncolumn;
    s->component = dae_arena_take(s->arena, (size_t)most + 1, sizeof *s->component);
    if (!s->component) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (!s->opt.record) {
        int hinted = n > few && p->plot && p->nplot > 0;
        s->ncomponent = hinted ? p->nplot : n < few ? n : few;
        for (int i = 0; i < s->ncomponent; i++) s->component[i] = hinted ? p->plot[i] : i;
    }
    for (const char *word = s->opt.record; word && *word;) {
        size_t length = strcspn(word, ",");
        int i = find_component(p, n, word, length);
        if (i == n && !(i = find_column(p, word, length))) {
            return dae_fail(err, DAE_ERR_INPUT, NAN,
                            "%s has no component or sensor \"%.*s\"; `daedalus info %s` lists them",
                            s->opt.problem, (int)length, word, s->opt.problem);
        }
        s->derived |= i < 0;
        if (s->ncomponent == most) return dae_fail(err, DAE_ERR_INPUT, NAN, "a component is named twice");
        s->component[s->ncomponent++] = i;
        word += length + (word[length] == ',');
    }
    s->name = dae_arena_take(s->arena, (size_t)s->ncomponent + 1, sizeof *s->name);
    s->unit = dae_arena_take(s->arena, (size_t)s->ncomponent + 1, sizeof *s->unit);
    for (int i = 0; s->name && s->unit && i < s->ncomponent; i++) {
        char buffer[24];
        int k = s->component[i];
        s->name[i] =
            kept(s, k < 0 ? p->derived.column[-1 - k] : dae_component_name(p, k, buffer, sizeof buffer));
        s->unit[i] = kept(s, k < 0 ? p->derived.unit[-1 - k] : dae_component_unit(p, k));
    }
    return dae_arena_failed(s->arena) ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory") : DAE_OK;
}

/* ---- Settings of a run ----------------------------------------------------------------------------- */

/* The problem of a run; NULL: see *err. */
static dae_problem *open_run(const dae_sweep *s, long run, dae_error *err)
{
    dae_setting all[max_settings];
    char value[max_settings][64]; /* dae_sweep_create has checked that there are no more */
    int n = 0;
    for (; n < s->opt.nsetting; n++) all[n] = s->opt.setting[n];
    for (int k = 0; k < dae_design_width(s->design); k++) {
        if (dae_design_value(s->design, run, k, value[k], sizeof value[k]) < 0) {
            dae_fail(err, DAE_ERR_INPUT, NAN, "there is no run %ld", run);
            return NULL;
        }
        all[n++] = (dae_setting){dae_design_name(s->design, k), value[k]};
    }
    dae_problem *p = s->opt.model
                         ? dae_problem_open_text(s->opt.model, strlen(s->opt.model), s->opt.file, all, n, err)
                         : dae_problem_create(s->opt.problem, all, n, err);
    if (p && s->opt.like && dae_problem_follow(p, s->opt.like, err) < 0) {
        dae_problem_destroy(p);
        p = NULL;
    }
    return p;
}

/* The first run that can be opened: single ones that cannot are failed runs. *err is that of run 0. */
static dae_problem *open_any(const dae_sweep *s, dae_error *err)
{
    dae_error other = {0};
    dae_problem *p = open_run(s, 0, err);
    for (long k = 1; !p && k < few && k < dae_design_count(s->design); k++) p = open_run(s, k, &other);
    return p;
}

static dae_status run_options(const dae_sweep *s, const dae_problem *p, dae_run_options *o, dae_error *err)
{
    *o = dae_run_options_default(p);
    int rtol = 0, atol = 0;
    for (int i = 0; i < s->opt.noption; i++) {
        dae_status bad = dae_options_set(&o->options, s->opt.option[i].name, s->opt.option[i].value, err);
        if (bad < 0) return bad;
        rtol |= !strcmp(s->opt.option[i].name, "rtol");
        atol |= !strcmp(s->opt.option[i].name, "atol");
    }
    if (rtol && !atol && p->rtol > 0) o->options.atol = p->atol * (o->options.rtol / p->rtol);
    o->t_end = s->opt.t_end != 0 ? s->opt.t_end : p->t_end;
    return DAE_OK;
}

/* Equidistant times of a run; free them. */
static double *times(const dae_sweep *s, const dae_problem *p, double t_end)
{
    int n = s->opt.points;
    double *at = calloc((size_t)n, sizeof *at);
    for (int i = 0; at && i < n; i++) at[i] = i == n - 1 ? t_end : p->t0 + (t_end - p->t0) * i / (n - 1);
    return at;
}

dae_sweep *dae_sweep_create(const dae_sweep_options *opt, const dae_design *d, dae_error *err)
{
    dae_sweep *s = calloc(1, sizeof *s);
    dae_problem *p = NULL;
    if (!s || !(s->arena = dae_arena_create())) {
        free(s);
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        return NULL;
    }
    s->design = d;
    s->opt = *opt;
    s->opt.problem = kept(s, opt->problem);
    s->opt.model = kept(s, opt->model);
    s->opt.file = kept(s, opt->file);
    s->opt.record = kept(s, opt->record);
    s->opt.setting = kept_settings(s, opt->setting, opt->nsetting);
    s->opt.option = kept_settings(s, opt->option, opt->noption);
    if (dae_arena_failed(s->arena)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        goto fail;
    }
    if (dae_design_count(d) < 1) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "nothing varies; give a parameter to vary, to sample or to list");
        goto fail;
    }
    if (opt->nsetting + dae_design_width(d) > max_settings) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "more than %d parameters are set", max_settings);
        goto fail;
    }
    for (int i = 0; i < opt->nsetting; i++) {
        for (int k = 0; k < dae_design_width(d); k++) {
            if (strcmp(opt->setting[i].name, dae_design_name(d, k)) != 0) continue;
            dae_fail(err, DAE_ERR_INPUT, NAN, "the parameter %s is fixed and varied", opt->setting[i].name);
            goto fail;
        }
    }
    dae_run_options o;
    if (!(p = open_any(s, err))) goto fail;
    if (!s->opt.problem) s->opt.problem = kept(s, p->info && p->info->name ? p->info->name : "system");
    s->t0 = p->t0;
    s->t_end = opt->t_end != 0 ? opt->t_end : p->t_end;
    s->time_unit = kept(s, p->time_unit ? p->time_unit : "");
    if (run_options(s, p, &o, err) < 0 || choose_components(s, p, err) < 0) goto fail;
    if (opt->points > 1) {
        s->at = times(s, p, s->t_end);
        if (!s->at) {
            dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
            goto fail;
        }
    }
    dae_problem_destroy(p);
    return s;
fail:
    dae_problem_destroy(p);
    dae_sweep_destroy(s);
    return NULL;
}

void dae_sweep_destroy(dae_sweep *s)
{
    if (!s) return;
    free(s->at);
    dae_arena_destroy(s->arena);
    free(s);
}

/* ---- Lines ----------------------------------------------------------------------------------------- */

dae_status dae_sweep_header(const dae_sweep *s, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    int width = dae_design_width(s->design);
    dae_text_put(&x, "run");
    for (int k = 0; k < width; k++) dae_text_print(&x, ",%s", dae_design_name(s->design, k));
    dae_text_put(&x, ",status,reason,t");
    for (int i = 0; i < s->ncomponent; i++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, s->name[i]);
    }
    for (int i = 0; i < ncounters; i++) dae_text_print(&x, ",%s", counters[i]);
    for (int j = 0; s->at && j < s->opt.points; j++) {
        for (int i = 0; i < s->ncomponent; i++) {
            char text[128];
            dae_snprintf(text, sizeof text, "%s@%.9g", s->name[i], s->at[j]);
            dae_text_put(&x, ",");
            dae_text_field(&x, text);
        }
    }
    dae_text_put(&x, "\n# ");
    for (int k = 0; k < width; k++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, dae_design_unit(s->design, k));
    }
    dae_text_print(&x, ",,,%s", s->time_unit);
    for (int i = 0; i < s->ncomponent; i++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, s->unit[i]);
    }
    dae_text_put(&x, ",,,,,,s");
    for (int j = 0; s->at && j < s->opt.points; j++) {
        for (int i = 0; i < s->ncomponent; i++) {
            dae_text_put(&x, ",");
            dae_text_field(&x, s->unit[i]);
        }
    }
    dae_text_put(&x, "\n");
    return dae_text_end(&x);
}

static void begin_line(dae_text *x, const dae_sweep *s, long run, const char *status, const char *reason)
{
    dae_text_print(x, "%ld", run);
    for (int k = 0; k < dae_design_width(s->design); k++) {
        char value[64] = "";
        dae_design_value(s->design, run, k, value, sizeof value);
        dae_text_put(x, ",");
        dae_text_field(x, value);
    }
    dae_text_print(x, ",%s,", status);
    dae_text_field(x, reason);
}

static void empty_fields(dae_text *x, const dae_sweep *s)
{
    dae_text_fill(x, ',', 1 + s->ncomponent + ncounters + (s->at ? s->opt.points * s->ncomponent : 0));
    dae_text_put(x, "\n");
}

static void put_number(dae_text *x, double v)
{
    if (isfinite(v)) dae_text_print(x, ",%.17g", v);
    else dae_text_put(x, ",");
}

dae_status dae_sweep_lost(const dae_sweep *s, long run, const char *reason, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    begin_line(&x, s, run, "lost", reason);
    empty_fields(&x, s);
    return dae_text_end(&x);
}

/* What is recorded of a point (y NULL: there is none). A run whose parameters make it smaller may not have all. */
static void put_point(dae_text *x, const dae_sweep *s, const dae_problem *p, int n, double t, const double *y)
{
    int ncolumn = p->derived.ncolumn;
    double *column = y && s->derived ? calloc((size_t)ncolumn + 1, sizeof *column) : NULL;
    dae_status r =
        column && p->derived.columns ? dae_problem_columns(p, t, y, column, NULL) : DAE_ERR_UNDEFINED;
    int known = r >= 0;
    if ((y && s->derived && !column) || r == DAE_ERR_MEMORY) x->failed = DAE_TEXT_STARVED;
    for (int i = 0; i < s->ncomponent; i++) {
        int k = s->component[i];
        put_number(x, k < 0 ? (known && -1 - k < ncolumn ? column[-1 - k] : NAN) : y && k < n ? y[k] : NAN);
    }
    free(column);
}

dae_status dae_sweep_run(const dae_sweep *s, long run, void (*running)(dae_integrator *it, void *user),
                         dae_write_fn *write, void *user, dae_status *status)
{
    dae_text x = {.write = write, .user = user};
    dae_error err = {0};
    dae_run_options o;
    dae_run_result *r = NULL;
    dae_problem *p = open_run(s, run, &err);
    *status = p ? DAE_OK : err.status;
    if (*status >= 0) *status = run_options(s, p, &o, &err);
    if (*status >= 0) {
        double *at = s->at ? times(s, p, o.t_end) : NULL;
        o.running = running;
        o.running_user = user;
        o.at = at;
        o.nat = at ? s->opt.points : 0;
        if (s->at && !at) dae_fail(&err, DAE_ERR_MEMORY, NAN, "out of memory");
        else r = dae_run(p, &o, &err);
        free(at);
        *status = r ? r->status : err.status;
    }
    if (*status == DAE_CANCELLED) {
        dae_run_destroy(r);
        dae_problem_destroy(p);
        return DAE_OK;
    }
    const char *reason = r ? r->error.text : err.text;
    begin_line(&x, s, run, dae_run_status_word(*status), *status < 0 ? reason : "");
    if (!r || !r->started) {
        empty_fields(&x, s);
    } else {
        dae_measurement m = dae_measurement_of(r);
        put_number(&x, m.t);
        put_point(&x, s, p, r->n, r->last.t, r->last.y);
        dae_text_print(&x, ",%ld,%ld,%ld,%ld,%ld,%.6g", m.steps, m.accepted, m.f + m.f_jac, m.jac, m.lu,
                       m.cpu_seconds);
        for (int j = 0; s->at && j < s->opt.points; j++) {
            int there = j < r->nat;
            put_point(&x, s, p, r->n, there ? r->at[j].t : NAN, there ? r->at[j].y : NULL);
        }
        dae_text_put(&x, "\n");
    }
    dae_run_destroy(r);
    dae_problem_destroy(p);
    return dae_text_end(&x);
}

/* ---- All of them ------------------------------------------------------------------------------------ */

typedef struct collector {
    dae_bytes lines;
    const dae_sweep_all *opt;
} collector;

static int collect(const char *text, size_t length, void *user)
{
    return dae_bytes_write(text, length, &((collector *)user)->lines);
}

static void pass_on(dae_integrator *it, void *user)
{
    const dae_sweep_all *opt = ((collector *)user)->opt;
    if (opt->running) opt->running(it, opt->user);
}

dae_table *dae_sweep_table(const dae_sweep *s, const dae_sweep_all *opt, dae_error *err)
{
    static const dae_sweep_all nothing;
    collector c = {.opt = opt ? opt : &nothing};
    long count = dae_design_count(s->design);
    int bad = dae_sweep_header(s, collect, &c) < 0, stop = 0;
    for (long k = 0; k < count && !bad && !stop; k++) {
        dae_status status = DAE_OK;
        bad = dae_sweep_run(s, k, pass_on, collect, &c, &status) < 0 || status == DAE_ERR_MEMORY;
        stop = status == DAE_CANCELLED || (c.opt->done && c.opt->done(k, count, status, c.opt->user));
    }
    dae_table *t = NULL;
    if (bad) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    else t = dae_table_read(c.lines.text, c.lines.length, err);
    if (t) {
        dae_table_mark_words(t, "status");
        dae_table_mark_words(t, "reason");
        dae_table_note(t, "problem", s->opt.problem, 0);
        dae_table_note(t, "runs", NULL, (double)count);
    }
    free(c.lines.text);
    return t;
}

dae_table *dae_sweep_over(const dae_sweep_options *opt, const char *const *vary, int nvary,
                          const dae_sweep_all *all, dae_error *err)
{
    dae_problem *p = opt->model ? dae_problem_open_text(opt->model, strlen(opt->model), opt->file,
                                                        opt->setting, opt->nsetting, err)
                                : dae_problem_create(opt->problem, opt->setting, opt->nsetting, err);
    dae_design *d = p ? dae_design_create(p->info, 0) : NULL;
    dae_status bad = p && !d ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory") : DAE_OK;
    for (int k = 0; d && k < nvary && bad >= 0; k++) bad = dae_design_vary(d, vary[k], err);
    dae_sweep *s = d && bad >= 0 ? dae_sweep_create(opt, d, err) : NULL;
    dae_table *t = s ? dae_sweep_table(s, all, err) : NULL;
    dae_sweep_destroy(s);
    dae_design_destroy(d);
    dae_problem_destroy(p);
    return t;
}
