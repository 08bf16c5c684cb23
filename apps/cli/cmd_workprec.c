/* daedalus workprec: solvers against each other over a ladder of tolerances: records, table, diagram, gallery. */
#include "workprec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What is shown --------------------------------------------------------------------------------- */

static void print_runs(const cli_study *s)
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
static void print_costs(const cli_study *s)
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

static int run_one(cli_args *args)
{
    cli_study s = {.args = args, .name = args->argument[0]};
    const char *out = cli_records_path(args), *plot = cli_value(args, "plot");
    int status = cli_tables_check(args, 1);
    if (!status) status = cli_study_run(&s, out, plot);
    if (s.count > 0 && cli_tables_wanted(args)) { /* also of a study that was interrupted */
        dae_table *t = dae_workprec_table(s.m, s.count, NULL);
        if (t) dae_table_note(t, "problem", s.name, 0);
        if (cli_tables_write(args, t)) status = EXIT_USAGE;
    }
    if (!status && plot) status = cli_plot(args, "--plot", plot, cli_study_script, &s);
    if (s.count > 0 && !args->json && !s.quiet) {
        if (cli_has(args, "full")) print_runs(&s);
        print_costs(&s);
        if (s.skipped) fprintf(stderr, "%d runs were taken from %s\n", s.skipped, out);
        if (!status && plot) fprintf(stderr, "wrote %s\n", plot);
    }
    cli_study_free(&s);
    return status;
}

/* ---- All problems ---------------------------------------------------------------------------------- */

static int run_in_child(const char *name, void *user)
{
    cli_args *args = user;
    const char *out = cli_value(args, "out"), *pictures = cli_value(args, "gallery");
    char record[1024], picture[1024];
    cli_study s = {.args = args, .name = name, .quiet = 1};
    snprintf(record, sizeof record, "%s/%s.jsonl", out, name);
    snprintf(picture, sizeof picture, "%s/%s.svg", pictures ? pictures : out, name);
    args->json = 0;
    int status = cli_study_run(&s, record, picture);
    if (!status) status = cli_plot(args, "--plot", picture, cli_study_script, &s);
    cli_study_free(&s);
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
                  "CPU time for 4 and for 7 correct digits. Per solver: the problems that it solved to so "
                  "many digits, on how many of them\n"
                  "it was the fastest, on how many within twice the time of the fastest, and the median of "
                  "its time relative to that of the\n"
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
    cli_draft d;
    if (cli_draft_begin(args, &d, NULL, path)) return EXIT_USAGE;
    FILE *page = d.file;
    fprintf(
        page,
        "# Work-precision diagrams\n\n"
        "Every problem with every solver that takes it: correct digits at the end of the interval against "
        "CPU\n"
        "seconds and against evaluations of f (those for difference Jacobians included), one point per\n"
        "tolerance of the test set's ladder. Lower and further right is better. Runs that failed, hit the "
        "time\n"
        "limit or have no correct digit stand in the gray strip at the work they cost. Of more than\n"
        "twelve solvers those are drawn that need least; the others are named beside the diagram. `make "
        "gallery`\n"
        "draws them anew; `daedalus workprec PROBLEM` makes one.\n\n");
    int status = write_places(args, out, page);
    for (int i = 0; cli_problem_name(i); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        snprintf(path, sizeof path, "%s/%s.svg", pictures, p->name);
        if (access(path, R_OK) != 0) continue;
        fprintf(page, "## %s: %s\n\n![%s](%s/%s.svg)\n\n", p->name, p->title, p->name, folder, p->name);
    }
    if (!status) return cli_draft_end(args, &d, 0);
    cli_draft_drop(&d);
    return status;
}

static int run_all(cli_args *args)
{
    const char *out = cli_value(args, "out"), *pictures = cli_value(args, "gallery");
    const char **name = calloc((size_t)dae_problem_count() + 1, sizeof *name);
    long jobs = 1;
    int status = 0, bad = 0;
    if (!name) return cli_wrong(args, "out of memory");
    for (int i = 0; cli_problem_name(i); i++) name[i] = cli_problem_name(i);
    if (!out) status = cli_wrong(args, "--all needs --out DIR, where it keeps what it measured");
    else if (cli_has(args, "plot"))
        status = cli_wrong(args, "--plot is for one problem; --all draws into --out, or --gallery DIR");
    else if (cli_whole(args, "jobs", 1, 64, &jobs)) status = EXIT_USAGE;
    else if ((bad = cli_make_folder(out))) status = cli_wrong(args, "--out %s: %s", out, strerror(bad));
    else if (pictures && (bad = cli_make_folder(pictures)))
        status = cli_wrong(args, "--gallery %s: %s", pictures, strerror(bad));
    if (!status) status = cli_each(args, name, dae_problem_count(), (int)jobs, 1, run_in_child, args);
    free(name);
    if (pictures && status != EXIT_USAGE && status != EXIT_INTERRUPTED) bad = write_page(args, out, pictures);
    return status ? status : bad;
}

static int run(cli_args *args)
{
    int all = cli_has(args, "all");
    cli_catch_signals();
    if (!cli_progress_mode(args)) return EXIT_USAGE;
    if (all && args->count) return cli_wrong(args, "--all and %s: give one of them", args->argument[0]);
    if (!all && !args->count)
        return cli_wrong(args, "PROBLEM is missing; usage: daedalus workprec PROBLEM|MODEL.json|--all");
    if (!all && (cli_has(args, "gallery") || cli_has(args, "jobs")))
        return cli_wrong(args, "--gallery and --jobs are for --all");
    return all ? run_all(args) : run_one(args);
}

static const cli_option options[] = {
    {"solvers", "A,B,...", "solvers",
     "SOLVER, SOLVER/FORMULATION, SOLVER/FORMULATION+project; all (default)"},
    {"range", "FROM:TO:STEP", NULL, "rtol = 10^-e for these e; an empty part keeps the test set's"},
    {"repeat", "N", NULL, "measurements of CPU time per run (10): extremes dropped, median of the rest"},
    {"max-seconds", "S", NULL, "limit on the CPU time of a run, and of its repetitions (10)"},
    {"budget", "S", NULL,
     "CPU seconds per solver; when they are used up its tighter tolerances are left out"},
    {"mescd", NULL, NULL, "digits by the mixed error instead of the relative one"},
    {"measure", "WORK", "time|f|both", "what the diagram shows; both (default): side by side"},
    {"out", "FILE.jsonl", "file",
     "append one line per run; runs that are there already are not repeated (--all: a folder); or the table "
     "of all runs: "
     ".csv, .json, .h5; can be given more than once"},
    {"plot", "FILE", "file", "the diagram: .svg, .png or .pdf"},
    {"lines", "N", NULL,
     "draw the N solvers that need least, name the others; default 12 of all, all that were named"},
    {"full", NULL, NULL, "also a table of all runs"},
    {"json", NULL, NULL, "one JSON object per run on standard output"},
    {"quiet", NULL, NULL, "no table, no progress"},
    CLI_PROGRESS,
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    CLI_START,
    CLI_RATIOS,
    {"index", "K", "1|2|3", "state the problem with this index, where it can be"},
    {"jacobian", "MODE", "auto|difference", "auto: analytic where the problem has one; difference: never"},
    {"linear-algebra", "MODE", "auto|dense|banded|sparse", "storage of Jacobians and factors"},
    {"all", NULL, NULL, "every problem: records and diagrams in the folder --out"},
    {"jobs", "N", NULL, "with --all: problems at a time (1)"},
    {"gallery", "DIR", "file", "with --all: diagrams in this folder, and a page DIR.md"},
    {"along", NULL, NULL, "digits of the largest error along the trajectory instead of at its end"},
    CLI_PLUGIN,
    {NULL, NULL, NULL, NULL},
};
static const char notes[] =
    "The table tells the CPU time that each solver needs for so many digits. A line of the diagram goes from "
    "the\n"
    "loosest to the tightest tolerance; runs without a result stand in the strip at its left. After two time "
    "limits\n"
    "in a row a solver's tighter tolerances are left out. \"all\" leaves out SUNDIALS, which Debian compiles "
    "without\n"
    "optimization; name cvode or ida to have them. Where there is no reference solution (model files, other "
    "parameters), two methods\n"
    "compute one first; it is kept in the cache. Runs that fail are results: the exit status is 0.\n";
static const char *const examples[] = {
    "workprec hires --solvers radau5,vode --repeat 3",
    "which is faster?",
    "workprec orego --repeat 3 --max-seconds 0.1 --out orego.jsonl --plot orego.svg",
    "all solvers, with a diagram",
    "workprec seven-body --solvers mexx,dop853/index1+project --range 4:6:1",
    "forms of a mechanism",
    "workprec models/four_bar.json --solvers phem56,radau5 --range 4:7:1 --repeat 3",
    "a model file; its reference is computed first",
    NULL};
const cli_command cli_workprec = {"workprec",
                                  "work-precision diagrams: solvers against each other",
                                  "[PROBLEM|MODEL.json|--all]",
                                  "problems",
                                  0,
                                  1,
                                  options,
                                  examples,
                                  notes,
                                  run};
