/* daedalus workprec: solvers against each other over a ladder of tolerances: records, table, diagram, gallery. */
#include "workprec.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
        dae_workprec_text(s.m, s.count, s.mescd, cli_has(args, "full"), cli_write_file, stdout);
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

/* The records of all problems. */
static int read_all(const cli_args *args, const char *out, dae_measurement **m, int *count)
{
    cli_text all = {0};
    int status = 0;
    for (int i = 0; cli_problem_name(i); i++) {
        char path[1024];
        size_t length;
        snprintf(path, sizeof path, "%s/%s.jsonl", out, cli_problem_name(i));
        char *text = cli_read_file(path, &length);
        if (text && cli_write_text(text, length, &all) < 0) status = cli_wrong(args, "out of memory");
        free(text);
    }
    if (!status) status = cli_measurements(args, out, all.text ? all.text : "", m, count);
    free(all.text);
    return status;
}

static int is_drawn(const char *problem, void *pictures)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.svg", (const char *)pictures, problem);
    return access(path, R_OK) == 0;
}

static int write_page(cli_args *args, const char *out, const char *pictures)
{
    char path[1024];
    const char *folder = strrchr(pictures, '/') ? strrchr(pictures, '/') + 1 : pictures;
    dae_measurement *m = NULL;
    int count = 0, status = read_all(args, out, &m, &count);
    cli_draft d;
    snprintf(path, sizeof path, "%s.md", pictures);
    if (!status) status = cli_draft_begin(args, &d, NULL, path);
    if (!status) {
        dae_status s =
            dae_workprec_gallery(m, count, folder, is_drawn, (void *)pictures, cli_write_file, d.file);
        status = cli_draft_end(args, &d, s < 0);
    }
    free(m);
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
    {"linear-algebra", "MODE", "auto|dense|banded|sparse|krylov", "storage of Jacobians and factors"},
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
