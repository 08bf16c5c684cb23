/* daedalus workprec: solvers against each other over a ladder of tolerances: records, table, diagram, gallery. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    slow_twice = 2, /* time limits in a row after which a solver's tighter tolerances are left out; ours */
    not_taken = -1  /* instead of an exit status: the solver does not take the problem */
};

typedef struct study {
    cli_args *args;
    const char *name;
    dae_problem *problem;
    dae_ladder ladder;
    cli_solver solver[CLI_MAX_SOLVERS];
    int nsolver;
    char settings[160];
    long reps;
    double max_seconds, budget;
    dae_work work;
    int mescd;
    cli_records records;
    dae_measurement *m; /* of this study, by solver, loose to tight */
    int count, capacity;
    dae_measurement *old; /* what the records held */
    int nold;
    int all; /* solvers that do not take the problem are left out */
    int quiet, failed, skipped;
    double begin;
} study;

static double wall(void)
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
static int set_range(study *s)
{
    const char *text = cli_value(s->args, "range");
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

static void note_setting(study *s, const char *format, const char *a, const char *b)
{
    size_t used = strlen(s->settings);
    if (used + 2 >= sizeof s->settings) return;
    snprintf(s->settings + used, sizeof s->settings - used, format, used ? " " : "", a, b);
}

static int prepare(study *s)
{
    const char *work = cli_value(s->args, "measure"), *solvers = cli_value(s->args, "solvers"), *v;
    s->reps = 10;
    s->max_seconds = 10;
    s->work = DAE_WORK_BOTH;
    s->quiet = cli_has(s->args, "quiet");
    s->begin = wall();
    if (cli_whole(s->args, "reps", 1, 100000, &s->reps) ||
        cli_real(s->args, "max-seconds", 1e-3, 1e9, &s->max_seconds) ||
        cli_real(s->args, "budget", 0, 1e9, &s->budget))
        return EXIT_USAGE;
    if (work && !strcmp(work, "time")) s->work = DAE_WORK_SECONDS;
    else if (work && !strcmp(work, "f")) s->work = DAE_WORK_F;
    else if (work && strcmp(work, "both") != 0)
        return cli_wrong(s->args, "--measure %s: expected time, f or both", work);
    s->problem = cli_open_named(s->args, s->name);
    if (!s->problem) return EXIT_USAGE;
    s->name = s->problem->info->name;
    if (!s->problem->reference)
        return cli_wrong(s->args,
                         "%s has no reference solution with these parameters: there are no digits to compare",
                         s->name);
    s->mescd = cli_has(s->args, "mescd") || s->problem->no_scd;
    for (int k = 0; (v = cli_value_at(s->args, "set", k)); k++) note_setting(s, "%s%s%s", v, "");
    if ((v = cli_value(s->args, "index"))) note_setting(s, "%sindex=%s%s", v, "");
    if ((v = cli_value(s->args, "jacobian"))) note_setting(s, "%sjacobian=%s%s", v, "");
    if ((v = cli_value(s->args, "linear-algebra"))) note_setting(s, "%slinear-algebra=%s%s", v, "");
    s->ladder = dae_ladder_default(s->problem);
    if (set_range(s)) return EXIT_USAGE;
    if (!solvers) solvers = "all";
    s->all = !strcmp(solvers, "all");
    if (cli_solvers(s->args, solvers, s->problem, s->solver, &s->nsolver))
        return EXIT_USAGE;
    s->capacity = s->nsolver * dae_ladder_count(&s->ladder);
    s->m = calloc((size_t)s->capacity, sizeof *s->m);
    return s->m ? 0 : cli_wrong(s->args, "out of memory");
}

/* ---- Records --------------------------------------------------------------------------------------- */

static int read_old(study *s)
{
    int lines = 0;
    for (const char *c = s->records.text; *c; c++) lines += *c == '\n';
    s->old = calloc((size_t)lines + 1, sizeof *s->old);
    if (!s->old) return cli_wrong(s->args, "out of memory");
    int number = 0;
    for (const char *c = s->records.text; *c;) {
        size_t n = strcspn(c, "\n");
        dae_error err = {0};
        number++;
        if (n > 0 && dae_measurement_parse(c, n, &s->old[s->nold], &err) < 0)
            return cli_wrong(s->args, "--out %s: line %d is no measurement (%s); give another file",
                             s->records.path, number, err.text);
        s->nold += n > 0;
        c += n + 1;
    }
    return 0;
}

/* A finished run with these settings; a time limit that was lower is no end. */
static const dae_measurement *find_old(const study *s, const dae_measurement *m)
{
    for (int i = s->nold - 1; i >= 0; i--) {
        const dae_measurement *o = &s->old[i];
        if (!dae_measurement_same(o, m)) continue;
        if (o->status == DAE_ERR_MAX_SECONDS && o->max_seconds < m->max_seconds) continue;
        return o;
    }
    return NULL;
}

static int record(study *s, const dae_measurement *m)
{
    cli_text line = {0};
    int status = 0;
    if (dae_measurement_json(m, cli_write_text, &line) < 0) status = cli_wrong(s->args, "out of memory");
    if (!status && s->records.fd >= 0)
        status = cli_records_append(s->args, &s->records, line.text, line.length);
    if (!status && s->args->json) fwrite(line.text, 1, line.length, stdout);
    free(line.text);
    return status;
}

/* ---- Runs ------------------------------------------------------------------------------------------ */

static void progress(const study *s, const cli_solver *solver, double rtol, int done)
{
    double part = (double)done / s->capacity, elapsed = wall() - s->begin;
    if (s->quiet || !isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r%s  %s  rtol %.1e  %d of %d runs  failed %d  %.0f s", s->name, solver->label, rtol,
            done, s->capacity, s->failed, elapsed);
    if (done > 0) fprintf(stderr, "  ETA %.0f s", elapsed * (1 - part) / part);
    fputs("\033[K", stderr);
    fflush(stderr);
}

static void end_progress(const study *s)
{
    if (!s->quiet && isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

/* One run; 0, EXIT_USAGE (message given), EXIT_INTERRUPTED or not_taken. *m is filled if 0. */
static int measure(study *s, const cli_solver *solver, int rung, dae_measurement *m)
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
    *m = (dae_measurement){
        .rtol = o.options.rtol, .atol = o.options.atol, .h0 = o.options.h0, .max_seconds = s->max_seconds};
    snprintf(m->problem, sizeof m->problem, "%s", s->name);
    snprintf(m->settings, sizeof m->settings, "%s", s->settings);
    snprintf(m->solver, sizeof m->solver, "%s", solver->label);
    const dae_measurement *old = find_old(s, m);
    if (old) {
        *m = *old;
        s->skipped++;
        if (s->args->json) return record(&(study){.args = s->args, .records = {.fd = -1}}, m);
        return 0;
    }
    dae_run_result *r = dae_run(s->problem, &o, &err);
    if (!r) return cli_wrong(s->args, "%s", err.text);
    dae_measurement got = dae_measurement_of(r);
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

static int run_solver(study *s, int k)
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

/* ---- What is shown --------------------------------------------------------------------------------- */

static void print_runs(const study *s)
{
    printf("%-22s %8s %8s %8s %6s %6s %7s %8s %6s %6s %10s  %s\n", "solver", "rtol", "atol", "h0", "scd",
           "mescd", "steps", "f", "Jac", "LU", "CPU [s]", "status");
    for (int i = 0; i < s->count; i++) {
        const dae_measurement *m = &s->m[i];
        printf("%-22s %8.1e %8.1e %8.1e ", m->solver, m->rtol, m->atol, m->h0);
        if (isfinite(m->scd)) printf("%6.2f ", m->scd);
        else printf("%6s ", "-");
        if (isfinite(m->mescd)) printf("%6.2f ", m->mescd);
        else printf("%6s ", "-");
        printf("%7ld %8ld %6ld %6ld %10.3e  %s\n", m->steps, m->f, m->jac, m->lu, m->cpu_seconds,
               m->status == DAE_OK ? "ok" : dae_status_text(m->status));
    }
    putchar('\n');
}

static void put_time(double x, int best)
{
    char text[24];
    if (!isfinite(x)) {
        printf(" %9s", "-");
        return;
    }
    if (x < 1e-3) snprintf(text, sizeof text, "%.3g us", 1e6 * x);
    else if (x < 1) snprintf(text, sizeof text, "%.3g ms", 1e3 * x);
    else snprintf(text, sizeof text, "%.3g s", x);
    printf(" %8s%s", text, best ? "*" : " ");
}

/* Time for 2, 3, ... digits; the best of a column has a star. */
static void print_costs(const study *s)
{
    double most = 0;
    for (int i = 0; i < s->count; i++) most = fmax(most, dae_measurement_digits(&s->m[i], s->mescd));
    int to = most < 14 ? (int)most : 14, from = to > 2 ? 2 : 1, failed[CLI_MAX_SOLVERS] = {0};
    printf("%s: CPU time for so many digits (%s), * least\n%-22s", s->name, s->mescd ? "mescd" : "scd",
           "solver");
    for (int d = from; d <= to; d++) printf(" %8d ", d);
    printf("   runs  failed\n");
    for (int k = 0; k < s->nsolver; k++) {
        int runs = 0;
        for (int i = 0; i < s->count; i++) {
            if (strcmp(s->m[i].solver, s->solver[k].label) != 0) continue;
            runs++;
            failed[k] += s->m[i].status < 0;
        }
        if (runs == 0) continue;
        printf("%-22s", s->solver[k].label);
        for (int d = from; d <= to; d++) {
            double mine =
                dae_workprec_cost(s->m, s->count, s->solver[k].label, d, s->mescd, DAE_WORK_SECONDS);
            int best = isfinite(mine);
            for (int j = 0; best && j < s->nsolver; j++) {
                best = !(dae_workprec_cost(s->m, s->count, s->solver[j].label, d, s->mescd,
                                           DAE_WORK_SECONDS) < mine);
            }
            put_time(mine, best);
        }
        printf(" %6d  %6d\n", runs, failed[k]);
    }
}

static dae_status script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const study *s = what;
    char title[256];
    snprintf(title, sizeof title, "%s: %s%s%s", s->name, s->problem->info->title, s->settings[0] ? ", " : "",
             s->settings);
    dae_workprec_plot_options o = {title, terminal, s->work, s->mescd,
                                   s->mescd ? 0 : s->problem->reference_digits};
    return dae_workprec_plot(s->m, s->count, &o, write, user);
}

static void study_free(study *s)
{
    dae_problem_destroy(s->problem);
    free(s->m);
    free(s->old);
    free(s->records.text);
}

/* Everything of one problem. out and plot may be NULL. */
static int run_study(study *s, const char *out, const char *plot)
{
    int status = prepare(s);
    s->records.fd = -1;
    if (!status && plot) status = cli_plot_check(s->args, plot);
    if (!status && out) status = cli_records_open(s->args, out, &s->records);
    if (!status && out) status = read_old(s);
    for (int k = 0; !status && k < s->nsolver; k++) status = run_solver(s, k);
    end_progress(s);
    int closed = s->records.fd >= 0 ? cli_records_close(s->args, &s->records) : 0;
    if (!status) status = closed;
    if (status == EXIT_INTERRUPTED)
        fprintf(stderr, "interrupted after %d runs%s%s\n", s->count, out ? "; kept in " : "", out ? out : "");
    if (!status && plot) status = cli_plot(s->args, plot, script, s);
    return status;
}

static int run_one(cli_args *args)
{
    study s = {.args = args, .name = args->argument[0]};
    const char *out = cli_value(args, "out"), *plot = cli_value(args, "plot");
    int status = run_study(&s, out, plot);
    if (s.count > 0 && !args->json && !s.quiet) {
        if (cli_has(args, "full")) print_runs(&s);
        print_costs(&s);
        if (s.skipped) fprintf(stderr, "%d runs were taken from %s\n", s.skipped, out);
        if (!status && plot) fprintf(stderr, "wrote %s\n", plot);
    }
    study_free(&s);
    return status;
}

/* ---- All problems ---------------------------------------------------------------------------------- */

enum { max_jobs = 64 };

typedef struct worker {
    pid_t pid;
    int problem;
    double begin;
} worker;

static int run_in_child(cli_args *args, const char *name, const char *out, const char *pictures)
{
    char record[1024], picture[1024];
    study s = {.args = args, .name = name, .quiet = 1};
    snprintf(record, sizeof record, "%s/%s.jsonl", out, name);
    snprintf(picture, sizeof picture, "%s/%s.svg", pictures ? pictures : out, name);
    args->json = 0;
    int status = run_study(&s, record, picture);
    study_free(&s);
    return status;
}

/* The places of the solvers from the records of all problems. */
static int write_places(cli_args *args, const char *out, FILE *page)
{
    static const double digits[2] = {4, 7};
    dae_measurement *m = NULL;
    int count = 0, capacity = 0;
    for (int i = 0; cli_problem_name(i); i++) {
        char path[1024];
        size_t length;
        snprintf(path, sizeof path, "%s/%s.jsonl", out, cli_problem_name(i));
        char *text = cli_read_file(path, &length);
        for (const char *c = text; c && *c;) {
            size_t n = strcspn(c, "\n");
            if (count == capacity) {
                dae_measurement *longer = realloc(m, (size_t)(capacity = 2 * capacity + 1024) * sizeof *m);
                if (!longer) break;
                m = longer;
            }
            count += dae_measurement_parse(c, n, &m[count], NULL) >= 0;
            c += n + (c[n] == '\n');
        }
        free(text);
    }
    fprintf(page, "## Places\n\n"
                  "CPU time for 4 and for 7 correct digits. Per solver: the problems that it solved to so many digits, on how many of them\n"
                  "it was the fastest, on how many within twice the time of the fastest, and the median of its time relative to that of the\n"
                  "fastest; then the three fastest of every problem.\n\n");
    dae_status s = dae_workprec_places(m, count, digits, cli_write_file, page);
    fputs("\n", page);
    free(m);
    return s < 0 ? cli_wrong(args, "out of memory") : 0;
}

static int write_page(cli_args *args, const char *out, const char *pictures)
{
    char path[1024];
    const char *folder = strrchr(pictures, '/') ? strrchr(pictures, '/') + 1 : pictures;
    snprintf(path, sizeof path, "%s.md", pictures);
    FILE *page = fopen(path, "w");
    if (!page) return cli_wrong(args, "%s: %s", path, strerror(errno));
    fprintf(
        page,
        "# Work-precision diagrams\n\n"
        "Every problem with every solver that takes it: correct digits at the end of the interval against "
        "CPU\n"
        "seconds and against evaluations of f (those for difference Jacobians included), one point per\n"
        "tolerance of the test set's ladder. Lower and further right is better. Runs that failed, hit the "
        "time\n"
        "limit or have no correct digit stand in the gray strip at the work they cost. `make gallery` draws\n"
        "them anew; `daedalus workprec PROBLEM` makes one.\n\n");
    int status = write_places(args, out, page);
    for (int i = 0; cli_problem_name(i); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        snprintf(path, sizeof path, "%s/%s.svg", pictures, p->name);
        if (access(path, R_OK) != 0) continue;
        fprintf(page, "## %s: %s\n\n![%s](%s/%s.svg)\n\n", p->name, p->title, p->name, folder, p->name);
    }
    int bad = ferror(page);
    if (fclose(page) != 0 || bad) return cli_wrong(args, "%s.md: could not be written", pictures);
    return status;
}

/* Waits for one worker; its exit status (a signal counts as failure), *slot is free then. */
static int wait_for_one(worker *w, int n, int *slot)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, 0)) < 0 && errno == EINTR) continue;
    for (*slot = 0; *slot < n && w[*slot].pid != pid; ++*slot) continue;
    if (*slot == n) return EXIT_FAILED;
    const char *name = cli_problem_name(w[*slot].problem);
    w[*slot].pid = 0;
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "%-16s ended by signal %d; the finished runs are kept\n", name, WTERMSIG(status));
        return EXIT_FAILED;
    }
    fprintf(stderr, "%-16s %s, %.1f s\n", name, WEXITSTATUS(status) ? "stopped" : "done",
            wall() - w[*slot].begin);
    return WEXITSTATUS(status);
}

static int run_all(cli_args *args)
{
    const char *out = cli_value(args, "out"), *pictures = cli_value(args, "gallery");
    worker w[max_jobs] = {{0}};
    long jobs = 1;
    int busy = 0, status = 0, next = 0, bad;
    if (!out) return cli_wrong(args, "--all needs --out DIR, where it keeps what it measured");
    if (cli_has(args, "plot"))
        return cli_wrong(args, "--plot is for one problem; --all draws into --out, or --gallery DIR");
    if (cli_whole(args, "jobs", 1, max_jobs, &jobs)) return EXIT_USAGE;
    if ((bad = cli_make_folder(out))) return cli_wrong(args, "--out %s: %s", out, strerror(bad));
    if (pictures && (bad = cli_make_folder(pictures)))
        return cli_wrong(args, "--gallery %s: %s", pictures, strerror(bad));
    while ((cli_problem_name(next) && status != EXIT_USAGE && !cli_interrupted()) || busy > 0) {
        if (busy < jobs && cli_problem_name(next) && status != EXIT_USAGE && !cli_interrupted()) {
            int slot = 0;
            while (w[slot].pid) slot++;
            fflush(NULL);
            w[slot] = (worker){fork(), next, wall()};
            if (w[slot].pid < 0) return cli_wrong(args, "fork: %s", strerror(errno));
            if (w[slot].pid == 0) _exit(run_in_child(args, cli_problem_name(next), out, pictures));
            next++;
            busy++;
            continue;
        }
        int slot, got = wait_for_one(w, max_jobs, &slot);
        busy--;
        if (got && status != EXIT_USAGE) status = got;
    }
    if (cli_interrupted()) return EXIT_INTERRUPTED;
    if (pictures && status != EXIT_USAGE) bad = write_page(args, out, pictures);
    return status ? status : bad;
}

static int run(cli_args *args)
{
    int all = cli_has(args, "all");
    cli_catch_signals();
    if (all && args->count) return cli_wrong(args, "--all and %s: give one of them", args->argument[0]);
    if (!all && !args->count)
        return cli_wrong(args, "PROBLEM is missing; usage: daedalus workprec PROBLEM|--all");
    if (!all && (cli_has(args, "gallery") || cli_has(args, "jobs")))
        return cli_wrong(args, "--gallery and --jobs are for --all");
    return all ? run_all(args) : run_one(args);
}

static const cli_option options[] = {
    {"solvers", "A,B,...", "solvers",
     "SOLVER, SOLVER/FORMULATION, SOLVER/FORMULATION+project; all (default)"},
    {"range", "FROM:TO:STEP", NULL, "rtol = 10^-e for these e; an empty part keeps the test set's"},
    {"reps", "N", NULL, "measurements of CPU time per run (10): extremes dropped, median of the rest"},
    {"max-seconds", "S", NULL, "limit on the CPU time of a run, and of its repetitions (10)"},
    {"budget", "S", NULL,
     "CPU seconds per solver; when they are used up its tighter tolerances are left out"},
    {"mescd", NULL, NULL, "digits by the mixed error instead of the relative one"},
    {"measure", "WORK", "time|f|both", "what the diagram shows; both (default): side by side"},
    {"out", "FILE.jsonl", "file",
     "append one line per run; runs that are there already are not repeated (--all: a folder)"},
    {"plot", "FILE", "file", "the diagram: .svg, .png or .pdf"},
    {"full", NULL, NULL, "also a table of all runs"},
    {"json", NULL, NULL, "one JSON object per run on standard output"},
    {"quiet", NULL, NULL, "no table, no progress"},
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    {"index", "K", "1|2|3", "state the problem with this index, where it can be"},
    {"jacobian", "MODE", "auto|difference", "auto: analytic where the problem has one; difference: never"},
    {"linear-algebra", "MODE", "auto|dense|banded|sparse", "storage of Jacobians and factors"},
    {"all", NULL, NULL, "every problem: records and diagrams in the folder --out"},
    {"jobs", "N", NULL, "with --all: problems at a time (1)"},
    {"gallery", "DIR", "file", "with --all: diagrams in this folder, and a page DIR.md"},
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "The table tells the CPU time that each solver needs for so many digits. A line of the diagram goes from "
    "the\n"
    "loosest to the tightest tolerance; runs without a result stand in the strip at its left. After two time "
    "limits\n"
    "in a row a solver's tighter tolerances are left out. \"all\" leaves out SUNDIALS, which Debian compiles "
    "without\n"
    "optimization; name cvode or ida to have them. Runs that fail are results: the exit status is 0.\n";
static const char *const examples[] = {
    "workprec hires --solvers radau5,vode --reps 3",
    "which is faster?",
    "workprec orego --reps 3 --max-seconds 0.1 --out orego.jsonl --plot orego.svg",
    "all solvers, with a diagram",
    "workprec seven-body --solvers mexx,dop853/index1+project --range 4:6:1",
    "forms of a mechanism",
    NULL};
const cli_command cli_workprec = {"workprec",
                                  "work-precision diagrams: solvers against each other",
                                  "[PROBLEM|--all]",
                                  "problems",
                                  0,
                                  1,
                                  options,
                                  examples,
                                  notes,
                                  run};
