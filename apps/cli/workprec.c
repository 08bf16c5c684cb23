/* A study of one problem: opening it, its reference, its runs, its records. */
#include "workprec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { readable = 12 }; /* lines of a diagram of all solvers; ours */

double cli_wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Options --------------------------------------------------------------------------------------- */

typedef struct noted {
    char *text;
    size_t size;
} noted;

static void note(const noted *n, const char *name, const char *value)
{
    size_t used = strlen(n->text);
    if (used + 2 < n->size) snprintf(n->text + used, n->size - used, "%s%s%s", used ? " " : "", name, value);
}

void cli_study_settings(const cli_args *args, const dae_problem *p, char *out, size_t size)
{
    const char *v;
    char hash[24];
    noted n = {out, size};
    out[0] = 0;
    if (p->hash) {
        snprintf(hash, sizeof hash, "%08llx", p->hash & 0xffffffffu);
        note(&n, "model=", hash);
    }
    for (int k = 0; (v = cli_value_at(args, "set", k)); k++) note(&n, "", v);
    for (int k = 0; (v = cli_value_at(args, "init", k)); k++) note(&n, "init:", v);
    if ((v = cli_value(args, "t0"))) note(&n, "t0=", v);
    for (int k = 0; (v = cli_value_at(args, "rtol", k)); k++) {
        if (strpbrk(v, ",=")) note(&n, "rtol:", v);
    }
    for (int k = 0; (v = cli_value_at(args, "atol", k)); k++) {
        if (strpbrk(v, ",=")) note(&n, "atol:", v);
    }
    if ((v = cli_value(args, "index"))) note(&n, "index=", v);
    if ((v = cli_value(args, "jacobian"))) note(&n, "jacobian=", v);
    if (cli_has(args, "along")) note(&n, "along", "");
    if ((v = cli_value(args, "linear-algebra"))) note(&n, "linear-algebra=", v);
}

static void on_computing(void *user)
{
    const cli_study *s = user;
    if (!s->quiet) fprintf(stderr, "%s: there is no reference solution; two methods compute one\n", s->name);
}

static void on_running(dae_integrator *it, void *user)
{
    (void)user;
    cli_running(it, NULL);
}

/* The problem's, that of the cache, or one that is computed now by two methods and kept there. */
static int find_reference(cli_study *s)
{
    dae_problem *p = s->problem;
    dae_store cache = cli_cache(s->args);
    dae_error err = {0};
    if (p->reference) return 0;
    s->reference = cli_reference_find(s->args, p);
    if (!s->reference && !s->records_only) {
        dae_reference_options o = dae_reference_options_default();
        o.running = on_running;
        o.computing = on_computing;
        o.user = s;
        s->reference = dae_reference_obtain(p, &cache, &o, &err);
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
    }
    if (s->reference) dae_reference_use(s->reference, p);
    return 0;
}

static int set_ladder(cli_study *s)
{
    const dae_problem *p = s->problem;
    const char *range = cli_value(s->args, "range") ? cli_value(s->args, "range") : s->range;
    dae_error err = {0};
    s->ladder = dae_ladder_default(p);
    if (range && dae_ladder_parse(range, &s->ladder, &err) < 0)
        return cli_wrong(s->args, "--range %s", err.text);
    return 0;
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
        cli_whole(s->args, "lines", 1, DAE_MAX_SOLVERS, &lines) ||
        cli_real(s->args, "max-seconds", 1e-3, 1e9, &s->max_seconds) ||
        cli_real(s->args, "budget", 0, 1e9, &s->budget))
        return EXIT_USAGE;
    if (work && !strcmp(work, "time")) s->work = DAE_WORK_SECONDS;
    else if (work && !strcmp(work, "f")) s->work = DAE_WORK_F;
    else if (work && strcmp(work, "both") != 0)
        return cli_wrong(s->args, "--measure %s: expected time, f or both", work);
    if (cli_ratios_only(s->args)) return EXIT_USAGE;
    s->problem = cli_open(s->args, s->name);
    if (!s->problem) return s->args->status;
    s->name = s->problem->info->name;
    s->mescd = cli_has(s->args, "mescd") || s->problem->no_scd;
    cli_study_settings(s->args, s->problem, s->settings, sizeof s->settings);
    if (set_ladder(s)) return EXIT_USAGE;
    if (!solvers) solvers = "all";
    s->all = !strcmp(solvers, "all");
    s->most_lines = lines ? (int)lines : s->all ? readable : 0;
    dae_error err = {0};
    if (dae_solvers_parse(solvers, s->problem, cli_own(), s->solver, &s->nsolver, &err) < 0)
        return cli_wrong(s->args, "--solvers: %s", err.text);
    s->capacity = s->nsolver * dae_ladder_count(&s->ladder);
    s->m = calloc((size_t)s->capacity, sizeof *s->m);
    if (!s->m) return cli_wrong(s->args, "out of memory");
    if (!cli_has(s->args, "along")) return find_reference(s);
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

int cli_study_record(cli_study *s, const dae_measurement *m, int keep)
{
    cli_text line = {0};
    int status = 0;
    if (dae_measurement_json(m, cli_write_text, &line) < 0) status = cli_wrong(s->args, "out of memory");
    if (!status && keep && s->records.fd >= 0)
        status = cli_records_append(s->args, &s->records, line.text, line.length);
    if (!status && s->args->json) fwrite(line.text, 1, line.length, stdout);
    free(line.text);
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------------ */

int cli_study_begin(const dae_measurement *m, int done, int count, void *user)
{
    const cli_study *s = user;
    double part = (double)done / count, elapsed = cli_wall() - s->begin;
    cli_progress_runs(s->args, done, count, s->failed, m->solver);
    if (s->quiet || !isatty(STDERR_FILENO)) return 0;
    fprintf(stderr, "\r%s  %s  rtol %.1e  %d of %d runs  failed %d  %.0f s", s->name, m->solver, m->rtol,
            done, count, s->failed, elapsed);
    if (done > 0) fprintf(stderr, "  ETA %.0f s", elapsed * (1 - part) / part);
    fputs("\033[K", stderr);
    fflush(stderr);
    return 0;
}

static int on_done(const dae_measurement *m, void *user)
{
    cli_study *s = user;
    s->m[s->count++] = *m;
    s->failed += m->status < 0;
    s->status = cli_study_record(s, m, 1);
    return s->status || cli_interrupted();
}

static int on_taken(const dae_measurement *m, void *user)
{
    cli_study *s = user;
    s->m[s->count++] = *m;
    s->failed += m->status < 0;
    s->skipped++;
    s->status = s->args->json ? cli_study_record(s, m, 0) : 0;
    return s->status || cli_interrupted();
}

void cli_study_progress_end(const cli_study *s)
{
    if (!s->quiet && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

/* What the records do not have. */
static int run_solvers(cli_study *s)
{
    const char *label[DAE_MAX_SOLVERS], *v;
    dae_setting option[2];
    dae_workprec_options o = {.ladder = &s->ladder,
                              .max_seconds = s->max_seconds,
                              .budget = s->budget,
                              .repeat = (int)s->reps,
                              .settings = s->settings,
                              .option = option,
                              .path = s->path,
                              .own = cli_own(),
                              .all = s->all,
                              .known = s->old,
                              .nknown = s->nold,
                              .begin = cli_study_begin,
                              .done = on_done,
                              .taken = on_taken,
                              .running = on_running,
                              .user = s};
    dae_error err = {0};
    for (int k = 0; k < s->nsolver; k++) label[k] = s->solver[k].label;
    if ((v = cli_value(s->args, "jacobian"))) option[o.noption++] = (dae_setting){"jacobian", v};
    if ((v = cli_value(s->args, "linear-algebra"))) option[o.noption++] = (dae_setting){"linear_algebra", v};
    dae_status status = dae_workprec_run(s->problem, label, s->nsolver, &o, &err);
    if (s->status) return s->status;
    if (status == DAE_CANCELLED || cli_interrupted()) return EXIT_INTERRUPTED;
    return status < 0 ? cli_wrong(s->args, "%s", err.text) : 0;
}

/* Without runs: what the records have of this problem, whatever ladder it was made with. */
static int take_records(cli_study *s)
{
    dae_measurement *m = realloc(s->m, ((size_t)s->nold + 1) * sizeof *m);
    if (!m) return cli_wrong(s->args, "out of memory");
    s->m = m;
    s->count = dae_workprec_select(s->old, s->nold, s->name, s->settings, m);
    for (int i = 0; i < s->count; i++) s->failed += m[i].status < 0;
    return 0;
}

/* ---- What is shown --------------------------------------------------------------------------------- */

dae_status cli_study_script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const cli_study *s = what;
    dae_workprec_plot_options o = {.problem = s->problem,
                                   .settings = s->settings,
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
    else if (!status) status = run_solvers(s);
    cli_study_progress_end(s);
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
