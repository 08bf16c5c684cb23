/* Studies of growth: solvers over sizes and storages, and what they say as JSON, table, text and picture. */
#include "core/error.h"
#include "core/number.h"
#include "core/text.h"
#include "study/json.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *line_object(const dae_scale_line *l)
{
    json_t *o = json_object(), *size = json_array(), *n = json_array(), *steps = json_array(),
           *cost = json_array();
    for (int k = 0; k < l->count; k++) {
        json_array_append_new(size, dae_json_real(l->size[k]));
        json_array_append_new(n, json_integer(l->n[k]));
        json_array_append_new(steps, json_integer(l->steps[k]));
        json_array_append_new(cost, dae_json_real(l->cost[k]));
    }
    json_object_set_new(o, "solver", json_string(l->solver));
    json_object_set_new(o, "linear_algebra", json_string(l->linear_algebra));
    json_object_set_new(o, "size", size);
    json_object_set_new(o, "n", n);
    json_object_set_new(o, "steps", steps);
    json_object_set_new(o, "cpu_seconds", cost);
    json_object_set_new(o, "exponent", dae_json_real(l->fit.exponent));
    json_object_set_new(o, "exponent_error", dae_json_real(l->fit.error));
    json_object_set_new(o, "exponent_last", dae_json_real(l->fit.last));
    json_object_set_new(o, "exponent_per_step", dae_json_real(l->step.exponent));
    json_object_set_new(o, "factor", dae_json_real(l->fit.factor));
    return o;
}

dae_status dae_scale_json(const char *problem, const char *parameter, const dae_scale_line *line, int count,
                          dae_write_fn *write, void *user)
{
    json_t *lines = json_array();
    for (int j = 0; j < count; j++) json_array_append_new(lines, line_object(&line[j]));
    return dae_json_line(json_pack("{s:s,s:s,s:s,s:o,s:o}", "status", "ok", "problem", problem, "parameter",
                                   parameter, "lines", lines, "provenance", dae_provenance_object()),
                         write, user);
}

dae_table *dae_scale_table(const char *parameter, const dae_scale_line *line, int count, dae_error *err)
{
    const char *const names[] = {parameter, "solver", "linear_algebra", "equations", "steps", "cpu_seconds"};
    enum { n = sizeof names / sizeof *names };
    long rows = 0, i = 0;
    for (int j = 0; j < count; j++) rows += line[j].count;
    dae_table *t = dae_table_create(n, rows);
    for (int k = 0; t && k < n; k++) dae_table_column(t, k, names[k], k == n - 1 ? "s" : "");
    for (int j = 0; t && j < count; j++) {
        for (int k = 0; k < line[j].count; k++, i++) {
            dae_table_set(t, i, 0, line[j].size[k]);
            dae_table_set_text(t, i, 1, line[j].solver);
            dae_table_set_text(t, i, 2, line[j].linear_algebra);
            dae_table_set(t, i, 3, (double)line[j].n[k]);
            dae_table_set(t, i, 4, (double)line[j].steps[k]);
            if (isfinite(line[j].cost[k])) dae_table_set(t, i, 5, line[j].cost[k]);
            else dae_table_set_text(t, i, 5, "");
        }
    }
    if (t) t->no_units = 1;
    if (t && !t->failed) return t;
    dae_table_destroy(t);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}

/* ---- The study ------------------------------------------------------------------------------------------ */

typedef struct line {
    char solver[96], label[128];
    double *size, *cost, *per_step; /* room for all sizes */
    long *n, *steps;
    char message[256]; /* of the first run that failed */
    int failed;
} line;

struct dae_scale {
    dae_scale_options opt; /* its texts are the caller's until dae_scale_run ends */
    char parameter[64];
    line *line;
    dae_scale_line *shown; /* the same for others */
    int count, room;
    double now; /* the size that runs */
    long n;
    const char *mode;
    dae_status status;
};

static int grow(dae_scale *s)
{
    int room = 2 * s->room + 8;
    line *l = realloc(s->line, (size_t)room * sizeof *l);
    if (l) s->line = l;
    dae_scale_line *shown = realloc(s->shown, (size_t)room * sizeof *shown);
    if (shown) s->shown = shown;
    if (!l || !shown) return -1;
    s->room = room;
    return 0;
}

static int find_line(dae_scale *s, const char *solver)
{
    size_t sizes = (size_t)s->opt.nvalue + 1;
    for (int j = 0; j < s->count; j++) {
        if (!strcmp(s->line[j].solver, solver) && !strcmp(s->shown[j].linear_algebra, s->mode)) return j;
    }
    if (s->count == s->room && grow(s)) return -1;
    line *l = &s->line[s->count];
    *l = (line){.size = calloc(3 * sizes, sizeof *l->size), .n = calloc(2 * sizes, sizeof *l->n)};
    s->shown[s->count++] = (dae_scale_line){.linear_algebra = s->mode};
    if (!l->size || !l->n) return -1;
    l->cost = l->size + sizes;
    l->per_step = l->cost + sizes;
    l->steps = l->n + sizes;
    snprintf(l->solver, sizeof l->solver, "%s", solver);
    snprintf(l->label, sizeof l->label, s->opt.nmode > 1 ? "%s, %s" : "%s", solver, s->mode);
    return s->count - 1;
}

static int take(const dae_measurement *m, dae_scale *s)
{
    int j = find_line(s, m->solver);
    if (j < 0) {
        s->status = DAE_ERR_MEMORY;
        return -1;
    }
    line *l = &s->line[j];
    int k = s->shown[j].count, good = m->status == DAE_OK;
    if (k >= s->opt.nvalue) return 0;
    s->shown[j].count++;
    l->size[k] = s->now;
    l->n[k] = s->n;
    l->steps[k] = m->steps;
    l->cost[k] = good ? m->cpu_seconds : NAN;
    l->per_step[k] = good && m->steps > 0 ? m->cpu_seconds / (double)m->steps : NAN;
    if (!good && !l->failed++)
        dae_snprintf(l->message, sizeof l->message, "%.200s (at %g)", m->message, s->now);
    return 0;
}

static int on_begin(const dae_measurement *planned, int run, int count, void *user)
{
    const dae_scale *s = user;
    return s->opt.runs.begin ? s->opt.runs.begin(planned, run, count, s->opt.runs.user) : 0;
}

static int on_done(const dae_measurement *m, void *user)
{
    dae_scale *s = user;
    if (take(m, s)) return -1;
    return s->opt.runs.done ? s->opt.runs.done(m, s->opt.runs.user) : 0;
}

static int on_taken(const dae_measurement *m, void *user)
{
    dae_scale *s = user;
    if (take(m, s)) return -1;
    return s->opt.runs.taken ? s->opt.runs.taken(m, s->opt.runs.user) : 0;
}

static void on_running(dae_integrator *it, void *user)
{
    const dae_scale *s = user;
    if (s->opt.runs.running) s->opt.runs.running(it, s->opt.runs.user);
}

static int on_progress(const dae_integrator *it, double t, double t_end, void *user)
{
    const dae_scale *s = user;
    return s->opt.runs.progress ? s->opt.runs.progress(it, t, t_end, s->opt.runs.user) : 0;
}

/* All solvers on the problem of one size with one storage, at its tolerance. */
static dae_status run_size(dae_scale *s, const dae_problem *p, const char *settings, dae_error *err)
{
    enum { max_options = 8 };
    const char *solvers = s->opt.solvers ? s->opt.solvers : "all", *label[DAE_MAX_SOLVERS];
    dae_solver *list = calloc(DAE_MAX_SOLVERS, sizeof *list);
    int count = 0;
    if (!list) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_workprec_options o = s->opt.runs;
    double e = -log10(p->rtol);
    dae_ladder ladder = {e, e, 1, 0, p->atol, 0, p->h0};
    dae_setting option[max_options + 1];
    dae_status status = dae_solvers_parse(solvers, p, o.own, list, &count, err);
    for (int k = 0; k < count; k++) label[k] = list[k].label;
    if (o.noption > max_options)
        status = dae_fail(err, DAE_ERR_INPUT, NAN, "more than %d options", max_options);
    for (int k = 0; status >= 0 && k < o.noption; k++) option[k] = o.option[k];
    if (status >= 0) {
        option[o.noption++] = (dae_setting){"linear_algebra", s->mode};
        o.option = option;
        o.ladder = &ladder;
        o.settings = settings;
        o.all = !strcmp(solvers, "all");
        o.begin = on_begin;
        o.done = on_done;
        o.taken = on_taken;
        o.running = on_running;
        o.progress = s->opt.runs.progress ? on_progress : NULL;
        o.user = s;
        s->n = dae_system_size(&p->system);
        status = dae_workprec_run(p, label, count, &o, err);
    }
    free(list);
    if (s->status == DAE_ERR_MEMORY) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return status;
}

/* The exponents, and what others see. */
static void conclude(dae_scale *s)
{
    for (int j = 0; j < s->count; j++) {
        const line *l = &s->line[j];
        dae_scale_line *o = &s->shown[j];
        o->solver = l->solver;
        o->size = l->size;
        o->cost = l->cost;
        o->n = l->n;
        o->steps = l->steps;
        dae_growth_fit(l->size, l->cost, o->count, &o->fit);
        dae_growth_fit(l->size, l->per_step, o->count, &o->step);
    }
}

dae_scale *dae_scale_run(const dae_scale_options *opt, dae_status *status, dae_error *err)
{
    static const char *const automatic[] = {"auto"};
    dae_error own = {0};
    dae_scale *s = calloc(1, sizeof *s);
    if (!err) err = &own;
    if (!s) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_status r = s ? DAE_OK : DAE_ERR_MEMORY;
    if (s) {
        s->opt = *opt;
        if (!opt->nmode) s->opt.mode = automatic, s->opt.nmode = 1;
        snprintf(s->parameter, sizeof s->parameter, "%s", opt->parameter);
    }
    for (int i = 0; i < opt->nvalue && r == DAE_OK; i++) {
        char *end;
        s->now = dae_strtod(opt->value[i], &end);
        if (!opt->value[i][0] || *end || !(s->now > 0))
            r = dae_fail(err, DAE_ERR_INPUT, NAN, "%s=%s: expected a positive number", opt->parameter,
                         opt->value[i]);
        for (int k = 0; k < s->opt.nmode && r == DAE_OK; k++) {
            char settings[160] = "";
            s->mode = s->opt.mode[k];
            dae_problem *p = opt->open(opt->value[i], s->mode, settings, sizeof settings, opt->user, err);
            r = p ? run_size(s, p, settings, err) : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
            dae_problem_destroy(p);
        }
    }
    if (status) *status = r;
    if (r >= 0) {
        conclude(s);
        return s;
    }
    dae_scale_destroy(s);
    return NULL;
}

void dae_scale_destroy(dae_scale *s)
{
    if (!s) return;
    for (int j = 0; j < s->count; j++) {
        free(s->line[j].size);
        free(s->line[j].n);
    }
    free(s->line);
    free(s->shown);
    free(s);
}

const dae_scale_line *dae_scale_lines(const dae_scale *s, int *count)
{
    *count = s->count;
    return s->shown;
}

/* ---- For people ------------------------------------------------------------------------------------------ */

static void put_line(dae_text *x, const dae_scale *s, int j, const dae_scale_line *most)
{
    const dae_scale_line *l = &s->shown[j];
    for (int k = 0; k < most->count; k++) {
        int i = 0;
        while (i < l->count && l->size[i] != most->size[k]) i++;
        if (i < l->count && isfinite(l->cost[i])) dae_text_print(x, " %9.3g", l->cost[i]);
        else dae_text_print(x, " %9s", i < l->count ? "failed" : "-");
    }
    if (l->fit.count > 1) {
        dae_text_print(x, "   %5.2f", l->fit.exponent);
        if (isfinite(l->fit.error)) dae_text_print(x, " +-%4.2f", l->fit.error);
        else dae_text_print(x, "       ");
        dae_text_print(x, " %6.2f %10.2f", l->fit.last, l->step.exponent);
    }
    dae_text_print(x, "\n");
}

dae_status dae_scale_text(const dae_scale *s, const char *problem, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    int width = 12, sizes = 0;
    if (!s->count) return DAE_OK;
    for (int j = 0; j < s->count; j++) {
        if ((int)strlen(s->line[j].label) > width) width = (int)strlen(s->line[j].label);
        if (s->shown[j].count > s->shown[sizes].count) sizes = j;
    }
    const dae_scale_line *most = &s->shown[sizes];
    dae_text_print(&x, "%s: CPU seconds against %s, and the exponent of their growth\n\n%-*s", problem,
                   s->parameter, width, s->parameter);
    for (int k = 0; k < most->count; k++) dae_text_print(&x, " %9g", most->size[k]);
    dae_text_print(&x, "   exponent       last   per step\n%-*s", width, "equations");
    for (int k = 0; k < most->count; k++) dae_text_print(&x, " %9ld", most->n[k]);
    dae_text_print(&x, "\n");
    for (int j = 0; j < s->count; j++) {
        dae_text_print(&x, "%-*s", width, s->line[j].label);
        put_line(&x, s, j, most);
    }
    for (int j = 0; j < s->count; j++) {
        if (s->line[j].failed)
            dae_text_print(&x, "\n%s failed %d times: %s\n", s->line[j].label, s->line[j].failed,
                           s->line[j].message);
    }
    return dae_text_end(&x);
}

dae_status dae_scale_plot(const dae_scale *s, const char *problem, const char *title, const char *terminal,
                          dae_write_fn *write, void *user)
{
    dae_growth_line *l = calloc((size_t)s->count + 1, sizeof *l);
    char text[256];
    if (!l) return DAE_ERR_MEMORY;
    for (int j = 0; j < s->count; j++)
        l[j] = (dae_growth_line){s->line[j].label, s->shown[j].size, s->shown[j].cost, s->shown[j].count};
    snprintf(text, sizeof text, "%s%s%s: growth of CPU time with %s", problem, title && title[0] ? ", " : "",
             title ? title : "", s->parameter);
    dae_status r = dae_growth_plot(l, s->count, text, s->parameter, terminal, write, user);
    free(l);
    return r;
}
