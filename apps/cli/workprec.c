/* A study of one problem: opening it, its reference, its runs, its records. */
#include "workprec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    slow_twice = 2, /* time limits in a row after which a solver's tighter tolerances are left out; ours */
    not_taken = -1, /* instead of an exit status: the solver does not take the problem */
    readable = 12   /* lines of a diagram of all solvers; ours */
};

double cli_wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Options --------------------------------------------------------------------------------------- */

/* "4:10:0.25"; an empty part keeps the problem's. */
static int set_range(cli_study *s)
{
    const char *text = cli_value(s->args, "range") ? cli_value(s->args, "range") : s->range;
    double *part[] = {&s->ladder.from, &s->ladder.to, &s->ladder.step};
    if (!text) return 0;
    const char *rest = text;
    for (int i = 0; i < 3; i++) {
        size_t n = strcspn(rest, ":");
        char word[32], *end;
        if (n >= sizeof word) break;
        memcpy(word, rest, n);
        word[n] = 0;
        if (n > 0) {
            *part[i] = strtod(word, &end);
            if (*end || !isfinite(*part[i])) break;
        }
        rest += n;
        if (!*rest) break;
        rest++;
    }
    const dae_ladder *l = &s->ladder;
    if (*rest || !(l->from >= 0) || !(l->to >= l->from) || l->to > 16 || !(l->step >= 0.001))
        return cli_wrong(s->args,
                         "--range %s: expected FROM:TO:STEP with 0 <= FROM <= TO <= 16 and STEP >= 0.001 "
                         "(rtol goes from 10^-FROM to 10^-TO)",
                         text);
    return 0;
}

static void note_setting(cli_study *s, const char *format, const char *a, const char *b)
{
    size_t used = strlen(s->settings);
    if (used + 2 >= sizeof s->settings) return;
    snprintf(s->settings + used, sizeof s->settings - used, format, used ? " " : "", a, b);
}

/* What the diagram and the records depend on besides the problem. */
static void note_settings(cli_study *s)
{
    const char *v;
    char hash[24];
    if (s->problem->hash) {
        snprintf(hash, sizeof hash, "%08llx", s->problem->hash & 0xffffffffu);
        note_setting(s, "%smodel=%s%s", hash, "");
    }
    for (int k = 0; (v = cli_value_at(s->args, "set", k)); k++) note_setting(s, "%s%s%s", v, "");
    for (int k = 0; (v = cli_value_at(s->args, "init", k)); k++) note_setting(s, "%sinit:%s%s", v, "");
    if ((v = cli_value(s->args, "t0"))) note_setting(s, "%st0=%s%s", v, "");
    for (int k = 0; (v = cli_value_at(s->args, "rtol", k)); k++) {
        if (strpbrk(v, ",=")) note_setting(s, "%srtol:%s%s", v, "");
    }
    for (int k = 0; (v = cli_value_at(s->args, "atol", k)); k++) {
        if (strpbrk(v, ",=")) note_setting(s, "%satol:%s%s", v, "");
    }
    if ((v = cli_value(s->args, "index"))) note_setting(s, "%sindex=%s%s", v, "");
    if ((v = cli_value(s->args, "jacobian"))) note_setting(s, "%sjacobian=%s%s", v, "");
    if (cli_has(s->args, "along")) note_setting(s, "%salong%s%s", "", "");
    if ((v = cli_value(s->args, "linear-algebra"))) note_setting(s, "%slinear-algebra=%s%s", v, "");
}

/* The problem's, that of the cache, or one that is computed now by two methods and kept there. */
static int find_reference(cli_study *s)
{
    dae_problem *p = s->problem;
    char path[4096];
    dae_error err = {0};
    if (p->reference || s->unscored) return 0;
    s->reference = cli_reference_find(p);
    if (!s->reference && !s->records_only) {
        dae_reference_options o = dae_reference_options_default();
        o.running = cli_running;
        if (!s->quiet)
            fprintf(stderr, "%s: there is no reference solution; two methods compute one\n", s->name);
        s->reference = dae_reference_compute(p, &o, &err);
        if (!s->reference && cli_interrupted()) return EXIT_INTERRUPTED;
        if (!s->reference) {
            cli_wrong(s->args, "%s: no reference solution, and so no digits to compare: %s", s->name,
                      err.text);
            return EXIT_FAILED;
        }
        if (!s->quiet) {
            char buffer[24];
            fprintf(stderr, "%s: %s and %s agree in %.1f digits or more (fewest: %s)\n", s->name,
                    s->reference->method[0], s->reference->method[1], s->reference->least,
                    dae_component_name(p, s->reference->worst, buffer, sizeof buffer));
        }
        cli_reference_keep(s->args, s->reference, p, path,
                           sizeof path); /* a message is enough if it cannot be */
    }
    if (s->reference) dae_reference_use(s->reference, p);
    return 0;
}

static int set_ladder(cli_study *s)
{
    const dae_problem *p = s->problem;
    s->ladder = dae_ladder_default(p);
    if (s->rtol > 0) {
        double e = -log10(s->rtol),
               atol = s->atol > 0 ? s->atol : s->rtol * (p->rtol > 0 ? p->atol / p->rtol : 1);
        s->ladder = (dae_ladder){e, e, 1, 0, atol, 0, p->h0};
        return 0;
    }
    return set_range(s);
}

static int prepare(cli_study *s)
{
    const char *work = cli_value(s->args, "measure"), *solvers = cli_value(s->args, "solvers");
    long lines = 0;
    if (!s->reps) s->reps = 10;
    if (!(s->max_seconds > 0)) s->max_seconds = 10;
    s->work = DAE_WORK_BOTH;
    s->quiet |= cli_has(s->args, "quiet");
    s->begin = cli_wall();
    if (cli_whole(s->args, "repeat", 1, 100000, &s->reps) ||
        cli_whole(s->args, "lines", 1, CLI_MAX_SOLVERS, &lines) ||
        cli_real(s->args, "max-seconds", 1e-3, 1e9, &s->max_seconds) ||
        cli_real(s->args, "budget", 0, 1e9, &s->budget))
        return EXIT_USAGE;
    if (work && !strcmp(work, "time")) s->work = DAE_WORK_SECONDS;
    else if (work && !strcmp(work, "f")) s->work = DAE_WORK_F;
    else if (work && strcmp(work, "both") != 0)
        return cli_wrong(s->args, "--measure %s: expected time, f or both", work);
    if (!(s->rtol > 0) && cli_ratios_only(s->args)) return EXIT_USAGE;
    s->problem = cli_open(s->args, s->name);
    if (!s->problem) return s->args->status;
    s->name = s->problem->info->name;
    s->mescd = cli_has(s->args, "mescd") || s->problem->no_scd;
    note_settings(s);
    if (set_ladder(s)) return EXIT_USAGE;
    if (!solvers) solvers = "all";
    s->all = !strcmp(solvers, "all");
    s->most_lines = lines ? (int)lines : s->all ? readable : 0;
    if (cli_solvers(s->args, solvers, s->problem, s->solver, &s->nsolver)) return EXIT_USAGE;
    s->capacity = s->nsolver * dae_ladder_count(&s->ladder);
    s->m = calloc((size_t)s->capacity, sizeof *s->m);
    if (!s->m) return cli_wrong(s->args, "out of memory");
    if (!cli_has(s->args, "along")) return find_reference(s);
    dae_error err = {0};
    s->path = dae_path_create(s->problem, s->problem->t_end, 0, &err);
    return s->path ? 0 : cli_wrong(s->args, "--along: %s", err.text);
}

/* ---- Records --------------------------------------------------------------------------------------- */

int cli_measurements(const cli_args *args, const char *path, const char *text, dae_measurement **m,
                     int *count)
{
    int lines = 0, number = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    *count = 0;
    *m = calloc((size_t)lines + 2, sizeof **m);
    if (!*m) return cli_wrong(args, "out of memory");
    for (const char *c = text; *c;) {
        size_t n = strcspn(c, "\n");
        dae_error err = {0};
        number++;
        if (n > 0 && dae_measurement_parse(c, n, &(*m)[*count], &err) < 0)
            return cli_wrong(args, "%s: line %d is no measurement (%s); give another file", path, number,
                             err.text);
        *count += n > 0;
        c += n + (c[n] == '\n');
    }
    return 0;
}

/* A finished run with these settings; a time limit that was lower is no end. */
static const dae_measurement *find_old(const cli_study *s, const dae_measurement *m)
{
    for (int i = s->nold - 1; i >= 0; i--) {
        const dae_measurement *o = &s->old[i];
        if (!dae_measurement_same(o, m)) continue;
        if (o->status == DAE_ERR_MAX_SECONDS && o->max_seconds < m->max_seconds) continue;
        if (o->status == DAE_ERR_MEMORY) continue;
        return o;
    }
    return NULL;
}

static int record(cli_study *s, const dae_measurement *m)
{
    cli_text line = {0};
    int status = 0;
    if (m->status == DAE_ERR_MEMORY) /* that is of this moment, not of the run: it is not kept */
        return cli_wrong(s->args, "%s, rtol %.3g: out of memory; what was measured is kept", m->solver,
                         m->rtol);
    if (dae_measurement_json(m, cli_write_text, &line) < 0) status = cli_wrong(s->args, "out of memory");
    if (!status && s->records.fd >= 0)
        status = cli_records_append(s->args, &s->records, line.text, line.length);
    if (!status && s->args->json) fwrite(line.text, 1, line.length, stdout);
    free(line.text);
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------------ */

static void progress(const cli_study *s, const cli_solver *solver, double rtol, int done)
{
    double part = (double)done / s->capacity, elapsed = cli_wall() - s->begin;
    cli_progress_runs(s->args, done, s->capacity, s->failed, solver->label);
    if (s->quiet || !isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r%s  %s  rtol %.1e  %d of %d runs  failed %d  %.0f s", s->name, solver->label, rtol,
            done, s->capacity, s->failed, elapsed);
    if (done > 0) fprintf(stderr, "  ETA %.0f s", elapsed * (1 - part) / part);
    fputs("\033[K", stderr);
    fflush(stderr);
}

static void end_progress(const cli_study *s)
{
    if (!s->quiet && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

/* One run; 0, EXIT_USAGE (message given), EXIT_INTERRUPTED or not_taken. *m is filled if 0. */
static int measure(cli_study *s, const cli_solver *solver, int rung, dae_measurement *m)
{
    dae_run_options o = dae_run_options_default(s->problem);
    const char *jacobian = cli_value(s->args, "jacobian"), *storage = cli_value(s->args, "linear-algebra");
    dae_error err = {0};
    cli_solver_apply(solver, &o.options);
    dae_ladder_rung(&s->ladder, rung, solver->method, &o.options);
    if (jacobian && dae_options_set(&o.options, "jacobian", jacobian, &err) < 0)
        return cli_wrong(s->args, "--jacobian %s: %s", jacobian, err.text);
    if (storage && dae_options_set(&o.options, "linear_algebra", storage, &err) < 0)
        return cli_wrong(s->args, "--linear-algebra %s: %s", storage, err.text);
    o.options.max_seconds = s->max_seconds;
    o.options.max_steps = 0;
    o.repeat = s->reps > 1 ? (int)s->reps : 1;
    o.repeat_seconds = s->max_seconds;
    o.running = cli_running;
    if (!dae_problem_switches(s->problem)) o.events = NULL;
    *m = (dae_measurement){
        .rtol = o.options.rtol, .atol = o.options.atol, .h0 = o.options.h0, .max_seconds = s->max_seconds};
    snprintf(m->problem, sizeof m->problem, "%s", s->name);
    snprintf(m->settings, sizeof m->settings, "%s", s->settings);
    snprintf(m->solver, sizeof m->solver, "%s", solver->label);
    const dae_measurement *old = find_old(s, m);
    if (old) {
        *m = *old;
        s->skipped++;
        if (s->args->json) return record(&(cli_study){.args = s->args, .records = {.fd = -1}}, m);
        return 0;
    }
    if (s->path) dae_path_ask(s->path, &o);
    dae_run_result *r = dae_run(s->problem, &o, &err);
    if (!r) return cli_wrong(s->args, "%s", err.text);
    dae_measurement got = dae_measurement_of(r);
    dae_measurement_stamp(&got);
    if (s->path && r->status == DAE_OK) dae_path_compare(s->path, r, NULL, &got.scd, &got.mescd);
    got.max_seconds = m->max_seconds;
    memcpy(got.settings, m->settings, sizeof got.settings);
    memcpy(got.solver, m->solver, sizeof got.solver);
    dae_run_destroy(r);
    if (got.status == DAE_CANCELLED || cli_interrupted()) return EXIT_INTERRUPTED;
    if (got.status == DAE_ERR_INPUT || got.status == DAE_ERR_UNSUPPORTED) {
        if (s->all) return not_taken;
        return cli_wrong(s->args, "%s with %s: %s", s->name, solver->label, got.message);
    }
    *m = got;
    return record(s, m);
}

static int run_solver(cli_study *s, int k)
{
    int rungs = dae_ladder_count(&s->ladder), slow = 0;
    double used = cpu();
    for (int i = 0; i < rungs; i++) {
        dae_measurement m;
        progress(s, &s->solver[k], pow(10, -(s->ladder.from + i * s->ladder.step)), k * rungs + i);
        int status = measure(s, &s->solver[k], i, &m);
        if (status) return status == not_taken ? 0 : status;
        s->m[s->count++] = m;
        s->failed += m.status < 0;
        slow = m.status == DAE_ERR_MAX_SECONDS ? slow + 1 : 0;
        if (slow >= slow_twice || (s->budget > 0 && cpu() - used > s->budget)) break;
    }
    return 0;
}

/* Without runs: what the records have of this problem, whatever ladder it was made with. */
static int by_solver(const void *a, const void *b)
{
    const dae_measurement *x = a, *y = b;
    int c = strcmp(x->solver, y->solver);
    return c ? c : (x->rtol < y->rtol) - (x->rtol > y->rtol);
}

static int take_records(cli_study *s)
{
    dae_measurement *m = realloc(s->m, ((size_t)s->nold + 1) * sizeof *m);
    if (!m) return cli_wrong(s->args, "out of memory");
    s->m = m;
    s->nsolver = 0;
    for (int i = 0; i < s->nold; i++) {
        if (strcmp(s->old[i].problem, s->name) != 0 || strcmp(s->old[i].settings, s->settings) != 0) continue;
        int k = 0; /* of runs that were repeated with another limit the last one counts */
        while (k < s->count && !dae_measurement_same(&m[k], &s->old[i])) k++;
        m[k] = s->old[i];
        s->count += k == s->count;
    }
    qsort(m, (size_t)s->count, sizeof *m, by_solver);
    for (int i = 0; i < s->count; i++) {
        s->failed += m[i].status < 0;
        if ((i && !strcmp(m[i].solver, m[i - 1].solver)) || s->nsolver == CLI_MAX_SOLVERS) continue;
        snprintf(s->solver[s->nsolver++].label, sizeof s->solver[0].label, "%s", m[i].solver);
    }
    return 0;
}

/* ---- What is shown --------------------------------------------------------------------------------- */

dae_status cli_study_script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const cli_study *s = what;
    char title[256];
    const char *settings = s->settings, *name = s->problem->info->title;
    if (s->problem->hash) name = NULL; /* the file's description can be long */
    if (s->problem->hash) settings = strchr(settings, ' ') ? strchr(settings, ' ') + 1 : "";
    snprintf(title, sizeof title, "%s%s%s%s%s", s->name, name && name[0] ? ": " : "", name ? name : "",
             settings[0] ? ", " : "", settings);
    dae_workprec_plot_options o = {.title = title,
                                   .terminal = terminal,
                                   .work = s->work,
                                   .mescd = s->mescd,
                                   .reference_digits = s->mescd ? 0 : s->problem->reference_digits,
                                   .most_lines = s->most_lines};
    return dae_workprec_plot(s->m, s->count, &o, write, user);
}

void cli_study_free(cli_study *s)
{
    dae_path_destroy(s->path);
    if (s->problem) dae_problem_destroy(s->problem);
    dae_reference_destroy(s->reference);
    free(s->m);
    free(s->old);
    free(s->records.text);
}

int cli_study_run(cli_study *s, const char *out, const char *plot)
{
    int status = prepare(s);
    s->records.fd = -1;
    if (!status && plot) status = cli_plot_check(s->args, "--plot", plot);
    if (!status && out) status = cli_records_open(s->args, out, &s->records);
    if (!status && out) status = cli_measurements(s->args, out, s->records.text, &s->old, &s->nold);
    if (!status && s->records_only) status = take_records(s);
    for (int k = 0; !status && !s->records_only && k < s->nsolver; k++) status = run_solver(s, k);
    end_progress(s);
    int closed = s->records.fd >= 0 ? cli_records_close(s->args, &s->records) : 0;
    if (!status) status = closed;
    if (status == EXIT_INTERRUPTED)
        fprintf(stderr, "interrupted after %d runs%s%s\n", s->count, out ? "; kept in " : "", out ? out : "");
    return status;
}

/* ---- Many of them ---------------------------------------------------------------------------------- */

typedef struct each {
    const char *const *name;
    cli_work_fn *work;
    void *user;
    int stop_at_usage, status;
} each;

static int each_work(long task, int worker, dae_write_fn *write, void *to, void *user)
{
    const each *e = user;
    double begin = cli_wall();
    int status = cli_with_memory(e->work(e->name[task], e->user));
    (void)worker;
    fprintf(stderr, "%-16s %s, %.1f s\n", e->name[task], status ? "stopped" : "done", cli_wall() - begin);
    return write((const char *)&status, sizeof status, to) < 0 ? EXIT_FAILED : 0;
}

static int each_done(long task, const void *result, size_t length, void *user)
{
    each *e = user;
    int status = EXIT_FAILED;
    (void)task;
    if (length == sizeof status) memcpy(&status, result, sizeof status);
    if (status && e->status != EXIT_USAGE) e->status = status;
    return e->stop_at_usage && e->status == EXIT_USAGE ? -1 : 0;
}

static int each_died(long task, int number, void *user)
{
    each *e = user;
    if (task >= 0)
        fprintf(stderr, "%-16s ended by signal %d; the finished runs are kept\n", e->name[task], number);
    if (e->status != EXIT_USAGE) e->status = EXIT_FAILED;
    return 0;
}

static int each_look(void *user)
{
    (void)user;
    return cli_interrupted();
}

int cli_each(const cli_args *args, const char *const *name, int count, int jobs, int stop_at_usage,
             cli_work_fn *work, void *user)
{
    each e = {.name = name, .work = work, .user = user, .stop_at_usage = stop_at_usage};
    dae_workers w = {.jobs = jobs,
                     .fresh = 1,
                     .work = each_work,
                     .done = each_done,
                     .died = each_died,
                     .look = each_look,
                     .user = &e};
    dae_error err = {0};
    dae_status s = dae_workers_run(&w, count, NULL, &err);
    if (s == DAE_ERR_MEMORY || s == DAE_ERR_UNSUPPORTED) return cli_wrong(args, "%s", err.text);
    return cli_interrupted() ? EXIT_INTERRUPTED : e.status;
}
