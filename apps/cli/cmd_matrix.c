/* daedalus matrix: every solver on every problem that it takes, over the tolerances of the test set report.
 *
 * Each finished run is one JSON line at the end of a file, written before the next one is waited for: whatever ends
 * the program, the next call goes on from there. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char default_file[] = "out/matrix.jsonl";

typedef struct matrix {
    cli_args *args;
    const char *path;
    FILE *file;
    const char **problem, **solver;
    int nproblem, nsolver;
    dae_result_row *row; /* all that are wanted */
    char *finished;      /* count flags: 1 the file has it */
    int *order;
    int count, todo;
} matrix;

static int in_list(const char *name, const char *const *list, int n)
{
    for (int i = 0; i < n; i++) {
        if (!strcmp(list[i], name)) return 1;
    }
    return !list;
}

/* ---- Which runs ---------------------------------------------------------------------------------------- */

static int plan(matrix *x, long every)
{
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        if (!in_list(p->name, x->problem, x->nproblem)) continue;
        dae_result_row *more = NULL;
        int n = dae_results_plan(p->name, DAE_RESULTS_RANGE, &(dae_results_choice){.own = cli_own()}, &more);
        dae_result_row *all = n > 0 ? realloc(x->row, (size_t)(x->count + n) * sizeof *all) : x->row;
        if (n < 0 || (n > 0 && !all)) {
            free(more);
            return cli_wrong(x->args, "out of memory");
        }
        x->row = all;
        for (int k = 0; k < n; k++) {
            if (more[k].m % every == 0 && in_list(more[k].run.solver, x->solver, x->nsolver))
                all[x->count++] = more[k];
        }
        free(more);
    }
    x->finished = calloc((size_t)x->count + 1, 1);
    x->order = calloc((size_t)x->count + 1, sizeof *x->order);
    return x->finished && x->order ? 0 : cli_wrong(x->args, "out of memory");
}

/* Tolerances of the problem's range at which a solver that takes it has no run for its cost. */
static int left_out(const dae_problem_info *p, const dae_method_info *m)
{
    const dae_tolerance_range *r = dae_tolerance_range_find(p->name);
    int n = 0;
    if (!r || dae_matrix_exclusion(p, m)) return 0;
    for (int k = 0; k <= r->last; k++) n += pow(10, -(r->a + k * r->b)) < dae_matrix_least_rtol(p, m);
    return n;
}

/* Number of tolerances per solver and problem, or why there are none. */
static void print_eligibility(const matrix *x)
{
    printf("%-12s %-12s %s\n", "PROBLEM", "SOLVER", "RUNS");
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        if (!in_list(p->name, x->problem, x->nproblem) || !dae_tolerance_range_find(p->name)) continue;
        for (int k = 0; cli_method_at(k); k++) {
            const dae_method_info *m = cli_method_at(k);
            if (!in_list(m->name, x->solver, x->nsolver)) continue;
            const char *why = dae_matrix_exclusion(p, m);
            int runs = 0;
            for (int j = 0; j < x->count; j++)
                runs += !strcmp(x->row[j].run.problem, p->name) && !strcmp(x->row[j].run.solver, m->name);
            if (why) printf("%-12s %-12s - (%s)\n", p->name, m->name, why);
            else printf("%-12s %-12s %d", p->name, m->name, runs);
            if (!why && left_out(p, m))
                printf(" (none below %.3g for their cost)", dae_matrix_least_rtol(p, m));
            if (!why) putchar('\n');
        }
    }
}

/* ---- The file of results ------------------------------------------------------------------------------- */

/* A line of the file: a finished run of this version. */
static void take_over(matrix *x, const char *line, size_t length, int retry)
{
    dae_measurement m;
    char version[64];
    snprintf(version, sizeof version, "\"version\":\"%s\"", dae_version());
    if (!strstr(line, version) || dae_measurement_parse(line, length, &m, NULL) < 0) return;
    for (int i = 0; i < x->count; i++) {
        if (dae_result_take(&x->row[i], &m)) x->finished[i] = x->row[i].run.status == DAE_OK || !retry;
    }
}

/* Opens the file for appending after the runs in it are known; a line that was cut off is ended. */
static int open_file(matrix *x)
{
    int cut = 0, retry = cli_has(x->args, "retry");
    char *slash = strrchr(x->path, '/');
    if (slash && slash != x->path) { /* one folder is made */
        char folder[1024];
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - x->path), x->path);
        if (mkdir(folder, 0777) != 0 && errno != EEXIST)
            return cli_wrong(x->args, "--out %s: folder %s: %s", x->path, folder, strerror(errno));
    }
    struct stat info;
    int readable = stat(x->path, &info) == 0 && S_ISREG(info.st_mode) && !cli_has(x->args, "fresh");
    FILE *old = readable ? fopen(x->path, "r") : NULL;
    if (old) {
        char *line = NULL;
        size_t size = 0;
        for (ssize_t n; (n = getline(&line, &size, old)) > 0;) {
            take_over(x, line, (size_t)n, retry);
            cut = line[n - 1] != '\n';
        }
        free(line);
        fclose(old);
    }
    x->file = fopen(x->path, cli_has(x->args, "fresh") ? "w" : "a");
    if (!x->file) return cli_wrong(x->args, "--out %s: %s", x->path, strerror(errno));
    if (cut) fputc('\n', x->file);
    return 0;
}

static int on_done(const dae_result_row *row, void *user)
{
    matrix *x = user;
    int bad = dae_result_json(row, cli_write_file, x->file) < 0;
    bad |= fputc('\n', x->file) == EOF || fflush(x->file) != 0;
    if (bad) {
        cli_wrong(x->args, "--out %s: could not be written: %s; the runs before are kept", x->path,
                  strerror(errno));
        return -1;
    }
    for (int i = 0; i < x->count; i++) {
        if (!strcmp(x->row[i].run.problem, row->run.problem) &&
            !strcmp(x->row[i].run.solver, row->run.solver) && x->row[i].m == row->m)
            x->finished[i] = 1;
    }
    return 0;
}

/* Steps through the runs with a stride without common divisor, so that the mean time of the first ones is that of
 * all, and the time that is left can be told. */
static void make_order(matrix *x)
{
    long stride = 1, n = x->count;
    for (stride = (long)(0.618 * (double)n) + 1; n > 1; stride++) {
        long a = stride, b = n;
        while (b) {
            long r = a % b;
            a = b;
            b = r;
        }
        if (a == 1) break;
    }
    for (long k = 0; k < n; k++) {
        int i = (int)(k * stride % n);
        if (!x->finished[i]) x->order[x->todo++] = i;
    }
}

/* ---- Summary ------------------------------------------------------------------------------------------- */

/* All runs of a solver on a problem; they stand together. */
typedef struct group {
    int planned, runs, failed;
    double least, most, cpu; /* digits: scd, or mescd where it is not used */
} group;

static group group_of(const matrix *x, const char *problem, const char *solver)
{
    group g = {.least = INFINITY, .most = -INFINITY};
    for (int i = 0; i < x->count; i++) {
        const dae_result_row *r = &x->row[i];
        if (strcmp(r->run.problem, problem) != 0 || strcmp(r->run.solver, solver) != 0) continue;
        g.planned++;
        if (!x->finished[i]) continue;
        double digits = isfinite(r->run.scd) ? r->run.scd : r->run.mescd;
        g.runs++;
        g.failed += r->run.status != DAE_OK;
        if (isfinite(digits)) {
            g.least = fmin(g.least, digits);
            g.most = fmax(g.most, digits);
        }
        if (isfinite(r->run.cpu_seconds)) g.cpu += r->run.cpu_seconds;
    }
    return g;
}

/* What is left out for its cost: never counted, but told. */
static int print_limits(FILE *out, const matrix *x, const char *head, const char *format)
{
    int n = 0;
    for (int i = 0; i < dae_problem_count(); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        for (int k = 0; cli_method_at(k) && in_list(p->name, x->problem, x->nproblem); k++) {
            const dae_method_info *m = cli_method_at(k);
            if (!in_list(m->name, x->solver, x->nsolver) || !left_out(p, m)) continue;
            fprintf(out, "%s", n++ ? "" : head);
            fprintf(out, format, m->name, p->name, dae_matrix_least_rtol(p, m), m->order_max, left_out(p, m));
        }
    }
    return n;
}

static int summarize(const matrix *x)
{
    int failed = 0, done = 0;
    double seconds = 0;
    for (int i = 0; i < x->count; i++) {
        if (!x->finished[i]) continue;
        done++;
        failed += x->row[i].run.status != DAE_OK;
        if (isfinite(x->row[i].run.cpu_seconds)) seconds += x->row[i].run.cpu_seconds;
    }
    printf("%-12s %-12s %5s %6s  %-15s %s\n", "PROBLEM", "SOLVER", "RUNS", "FAILED", "SCD", "CPU SECONDS");
    for (int i = 0; i < x->count;) {
        const dae_result_row *r = &x->row[i];
        group g = group_of(x, r->run.problem, r->run.solver);
        char span[32] = "-";
        if (g.least <= g.most) snprintf(span, sizeof span, "%.1f .. %.1f", g.least, g.most);
        printf("%-12s %-12s %5d %6d  %-15s %.3f\n", r->run.problem, r->run.solver, g.runs, g.failed, span,
               g.cpu);
        i += g.planned;
    }
    print_limits(stdout, x, "\nLeft out for their cost\n", "  %s on %s below %.3g, order %d: %d runs\n");
    if (failed) printf("\nFailed runs\n");
    for (int i = 0; i < x->count; i++) {
        const dae_result_row *r = &x->row[i];
        if (!x->finished[i] || r->run.status == DAE_OK) continue;
        printf("  %s, %s, rtol %.3g (m = %d%s): %s\n", r->run.problem, r->run.solver, r->run.rtol, r->m,
               dae_published_failed(r->run.problem, r->run.solver, r->m) ? ", failed in the report too" : "",
               r->run.message);
        printf("    daedalus run %s --solver %s --rtol %.17g --atol %.17g --h0 %.17g\n", r->run.problem,
               r->run.solver, r->run.rtol, r->run.atol, r->run.h0);
    }
    printf("\n%d of %d runs, %d failed, %.0f s of CPU time; %s\n", done, x->count, failed, seconds, x->path);
    return failed ? EXIT_FAILED : EXIT_DONE;
}

/* ---- Files -------------------------------------------------------------------------------------------- */

typedef void cell_fn(FILE *out, const group *g);

static void runs_cell(FILE *out, const group *g)
{
    if (g->runs < g->planned) fprintf(out, " %d of %d", g->runs, g->planned);
    else fprintf(out, " %d", g->runs);
    if (g->failed) fprintf(out, ", **%d failed**", g->failed);
}

static void digits_cell(FILE *out, const group *g)
{
    if (g->least <= g->most) fprintf(out, " %.1f..%.1f", g->least, g->most);
    else fputs(" -", out);
}

/* Problems down, solvers across: those that have runs. */
static void cross(FILE *out, const matrix *x, cell_fn *cell)
{
    int column[64], n = 0;
    fputs("| problem |", out);
    for (int k = 0; cli_method_at(k) && n < 64; k++) {
        const char *name = cli_method_at(k)->name;
        int any = 0;
        for (int i = 0; i < x->count; i++) any |= !strcmp(x->row[i].run.solver, name);
        if (!any) continue;
        column[n++] = k;
        fprintf(out, " %s |", name);
    }
    fputs("\n|---|", out);
    for (int k = 0; k < n; k++) fputs("---:|", out);
    for (int j = 0; j < dae_problem_count(); j++) {
        const char *name = dae_problem_get(j)->name;
        int any = 0;
        for (int i = 0; i < x->count; i++) any |= !strcmp(x->row[i].run.problem, name);
        if (!any) continue;
        fprintf(out, "\n| %s |", name);
        for (int k = 0; k < n; k++) {
            group g = group_of(x, name, cli_method_at(column[k])->name);
            if (g.planned) cell(out, &g);
            else fputs(" ", out);
            fputs(" |", out);
        }
    }
    fputs("\n", out);
}

static void condensed(FILE *out, const matrix *x)
{
    int done = 0, failed = 0;
    double cpu = 0;
    dae_provenance p;
    char about[1024];
    dae_provenance_now(&p);
    dae_provenance_text(&p, about, sizeof about);
    for (int i = 0; i < x->count; i++) {
        if (!x->finished[i]) continue;
        done++;
        failed += x->row[i].run.status != DAE_OK;
        if (isfinite(x->row[i].run.cpu_seconds)) cpu += x->row[i].run.cpu_seconds;
    }
    fprintf(
        out,
        "# Every solver on every problem of the test set\n\n"
        "Made by `daedalus matrix --condensed`, version %s: each solver on each problem that it takes, at "
        "the\n"
        "tolerances rtol = 10^-(a + m b) of the problem's work-precision diagram in the test set report.\n\n"
        "**%d of %d runs, %d failed**, %.0f s of CPU time.\n\nComputed with %s.\n\n"
        "A blank cell: the solver does not take the equations, is explicit and the problem stiff, or is a "
        "BDF code\n"
        "for index 1 (`daedalus matrix --eligible` tells which).\n",
        dae_version(), done, x->count, failed, cpu, about);
    if (!print_limits(
            out, x, "",
            "Left out for their cost: %s on %s below %.3g, whose order %d takes more than 1.5e8 steps "
            "each there: %d runs.\n"))
        fputs("No run is left out for its cost.\n", out);
    fputs("\n## Runs\n\n", out);
    cross(out, x, runs_cell);
    fputs("\n## Digits\n\nLeast and most correct digits over the tolerances: scd, or mescd where the report "
          "does not use "
          "scd.\n\n",
          out);
    cross(out, x, digits_cell);
}

/* The finished runs. */
static dae_table *runs_table(const matrix *x)
{
    dae_result_row *list = calloc((size_t)x->count + 1, sizeof *list);
    int n = 0;
    for (int i = 0; list && i < x->count; i++) {
        if (x->finished[i]) list[n++] = x->row[i];
    }
    dae_table *t = list ? dae_results_table(list, n, NULL) : NULL;
    free(list);
    return t;
}

/* The tables of --out and the page of --condensed. */
static int write_files(const matrix *x)
{
    const char *path = cli_value(x->args, "condensed");
    cli_draft d;
    if (cli_tables_wanted(x->args) && cli_tables_write(x->args, runs_table(x))) return EXIT_USAGE;
    if (!path) return 0;
    if (cli_draft_begin(x->args, &d, "--condensed", path)) return EXIT_USAGE;
    condensed(d.file, x);
    return cli_draft_end(x->args, &d, 0);
}

static int run_matrix(matrix *x)
{
    cli_args *args = x->args;
    const char *seconds = cli_value(args, "max-seconds"), *path = cli_records_path(args);
    cli_jobs jobs = {.max_seconds = 300, .repeat = 1, .label = cli_has(args, "quiet") ? NULL : "matrix"};
    long njobs = 2, every = 1;
    if (cli_whole(args, "jobs", 1, 256, &njobs) || cli_whole(args, "every", 1, 1000, &every))
        return EXIT_USAGE;
    if (seconds && cli_number(args, "max-seconds", seconds, &jobs.max_seconds)) return EXIT_USAGE;
    if (jobs.max_seconds < 0)
        return cli_wrong(args, "--max-seconds %s: expected 0 (no limit) or more", seconds);
    if (cli_names(args, "problems", cli_problem_name, "problem", &x->problem, &x->nproblem) ||
        cli_names(args, "solvers", cli_solver_name, "solver", &x->solver, &x->nsolver) || plan(x, every))
        return EXIT_USAGE;
    if (cli_has(args, "eligible")) {
        print_eligibility(x);
        return EXIT_DONE;
    }
    if (!x->count) return cli_wrong(args, "no run is left; --eligible tells why");
    if (cli_tables_check(args, 1)) return EXIT_USAGE;
    x->path = path ? path : default_file;
    if (open_file(x)) return EXIT_USAGE;
    make_order(x);
    if (!cli_has(args, "quiet"))
        fprintf(stderr, "matrix: %d runs, %d of them are in %s\n", x->count, x->count - x->todo, x->path);
    jobs.jobs = (int)njobs;
    jobs.done = on_done;
    jobs.user = x;
    int status = cli_jobs_run(args, x->row, x->order, x->todo, &jobs);
    if (fclose(x->file) != 0 && !status) status = cli_wrong(args, "--out %s: %s", x->path, strerror(errno));
    x->file = NULL;
    int result = summarize(x);
    if (write_files(x) && !status) status = EXIT_USAGE;
    if (status == EXIT_INTERRUPTED && !cli_has(args, "quiet"))
        fprintf(stderr, "matrix: interrupted; the same command goes on where it stopped\n");
    return status ? status : result;
}

static int run(cli_args *args)
{
    matrix x = {.args = args};
    int status = run_matrix(&x);
    if (x.file) fclose(x.file);
    free(x.problem);
    free(x.solver);
    free(x.row);
    free(x.finished);
    free(x.order);
    return status;
}

static const cli_option options[] = {
    {"problems", "A,B,...", NULL, "these problems; default: all of the test set report"},
    {"solvers", "A,B,...", NULL, "these solvers; default: all"},
    {"every", "K", NULL, "every K-th tolerance only"},
    {"max-seconds", "S", NULL,
     "limit on the CPU time of a run, beyond it the run has failed; default 300, 0: none"},
    {"jobs", "N", NULL, "N runs at a time, each in a process of its own; default 2"},
    {"out", "FILE", "file",
     "FILE.jsonl: where the results are kept (out/matrix.jsonl); .csv, .json, .h5: the table of all runs; "
     "can be given "
     "more than once"},
    {"condensed", "FILE", "file", "write runs, failures and digits per solver and problem as Markdown"},
    {"fresh", NULL, NULL, "forget the runs in the file"},
    {"retry", NULL, NULL, "run again what failed"},
    {"eligible", NULL, NULL, "show which solvers run on which problems and why others do not, run nothing"},
    {"quiet", NULL, NULL, "no progress on standard error"},
    CLI_PLUGIN,
    {NULL, NULL, NULL, NULL},
};
static const char notes_text[] =
    "A solver runs on a problem if it takes its kind of equations and its "
    "index, and if it is not an explicit one on\n"
    "a stiff problem; `daedalus matrix --eligible` shows it. Left out for its cost is wnys2 on ringmod below "
    "1e-9.\n"
    "Each finished run is one JSON line in the file, which the\n"
    "same command reads first: what is there is not run again, unless the "
    "version of the library differs. The exit\n"
    "status is 1 if a run failed.\n";
static const char *const examples[] = {
    "matrix --eligible", "which solver on which problem",
    "matrix --problems hires,rober --solvers radau5,dassl --every 8 --out m.jsonl",
    "a few runs of two problems", NULL};
const cli_command cli_matrix = {"matrix",   "every solver on every problem over the report's tolerances",
                                "",         NULL,
                                0,          0,
                                options,    examples,
                                notes_text, run};
