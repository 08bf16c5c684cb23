/* daedalus table: run characteristics, ours beside those printed in the test set report. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct table {
    cli_args *args;
    dae_result_row *row;
    int count;
    const char **solver;
    int nsolver;
    dae_problem *given;       /* a file instead of a problem of the test set */
    dae_reference *reference; /* of it, from the cache, or NULL */
    dae_problem *along;       /* --along: of the test set, and its path */
    dae_path *path;
} table;

static int append(table *t, const char *problem, dae_results_rows what)
{
    dae_result_row *more = NULL;
    dae_results_choice choice = {t->solver, t->nsolver, cli_own(), t->given};
    int n = dae_results_plan(problem, what, &choice, &more);
    dae_result_row *all = n > 0 ? realloc(t->row, (size_t)(t->count + n) * sizeof *all) : t->row;
    if (n < 0 || (n > 0 && !all)) {
        free(more);
        return cli_wrong(t->args, "out of memory");
    }
    if (n > 0) memcpy(all + t->count, more, (size_t)n * sizeof *all);
    t->row = all;
    t->count += n;
    free(more);
    return 0;
}

/* A file: the report's solvers at its tolerances, or those of the default ladder. */
static int plan_file(table *t, dae_results_rows what)
{
    cli_args *args = t->args;
    if (cli_ratios_only(args)) return EXIT_USAGE;
    t->given = cli_open_problem(args);
    if (!t->given) return args->status;
    if (cli_reference_use(args, t->given, &t->reference)) return EXIT_USAGE;
    if (append(t, NULL, what)) return EXIT_USAGE;
    return t->count ? 0 : cli_wrong(args, "%s: none of these solvers takes it", args->argument[0]);
}

/* 1: not the problem as it stands in the report. */
static int is_other(const cli_args *args)
{
    static const char *const option[] = {"set", "init", "t0", "rtol", "atol"};
    for (size_t i = 0; i < sizeof option / sizeof *option; i++) {
        if (cli_has(args, option[i])) return 1;
    }
    return 0;
}

static int plan(table *t, dae_results_rows what)
{
    cli_args *args = t->args;
    if (args->count == (cli_has(args, "all") ? 1 : 0))
        return cli_wrong(args, "one PROBLEM or --all is wanted; usage: daedalus table PROBLEM|--all");
    if (cli_names(args, "solvers", cli_solver_name, "solver", &t->solver, &t->nsolver)) return EXIT_USAGE;
    if (!args->count) {
        for (int i = 0; i < dae_problem_count(); i++) {
            if (append(t, dae_problem_get(i)->name, what)) return EXIT_USAGE;
        }
    } else if (dae_problem_is_file(args->argument[0]) || is_other(args)) {
        return plan_file(t, what);
    } else {
        const dae_problem_info *info = dae_problem_find(args->argument[0]);
        char near[200];
        if (!info) {
            cli_nearest(args->argument[0], cli_problem_name, near, sizeof near);
            return cli_wrong(args, "there is no problem \"%s\"%s%s%s", args->argument[0],
                             near[0] ? "; did you mean " : "; `daedalus list problems` shows them", near,
                             near[0] ? "?" : "");
        }
        if (append(t, info->name, what)) return EXIT_USAGE;
        if (!t->count) {
            return cli_wrong(args, "%s: the test set report has no %s for it%s", info->name,
                             what == DAE_RESULTS_RANGE ? "tolerance range" : "rows",
                             t->solver ? " that these solvers could stand beside" : "");
        }
    }
    return 0;
}

static int put_notes(const table *t, const char *path)
{
    size_t length;
    char *text = cli_read_file(path, &length);
    if (!text) return cli_wrong(t->args, "--notes %s: %s", path, strerror(errno));
    fwrite(text, 1, length, stdout);
    free(text);
    return 0;
}

/* --along: digits are those of the largest error on the way. */
static int set_path(table *t)
{
    dae_error err = {0};
    if (!cli_has(t->args, "along")) return 0;
    if (!t->args->count) return cli_wrong(t->args, "--along is for one problem");
    if (!t->given) t->along = dae_problem_create(t->args->argument[0], NULL, 0, &err);
    const dae_problem *p = t->given ? t->given : t->along;
    if (p) t->path = dae_path_create(p, p->t_end, 0, &err);
    if (!t->path) return cli_wrong(t->args, "--along: %s", err.text);
    for (int i = 0; i < t->count; i++) {
        t->row[i].path = t->path;
        t->row[i].published = NULL; /* those are of the end */
    }
    return 0;
}

static int run_table(table *t)
{
    cli_args *args = t->args;
    const char *format = cli_value(args, "format"), *rows = cli_value(args, "rows"),
               *notes = cli_value(args, "notes"), *seconds = cli_value(args, "max-seconds");
    cli_jobs jobs = {.jobs = 1, .max_seconds = 0, .label = cli_has(args, "quiet") ? NULL : "table"};
    long njobs = 1, repeat = 1;
    if (!format) format = args->json ? "json" : "md";
    if (strcmp(format, "md") != 0 && strcmp(format, "csv") != 0 && strcmp(format, "json") != 0 &&
        strcmp(format, "latex") != 0)
        return cli_wrong(args, "--format %s: expected md, csv, json or latex", format);
    if (rows && strcmp(rows, "published") != 0 && strcmp(rows, "range") != 0)
        return cli_wrong(args, "--rows %s: expected published or range", rows);
    if (cli_whole(args, "jobs", 1, 256, &njobs) || cli_whole(args, "repeat", 1, 1000, &repeat))
        return EXIT_USAGE;
    if (seconds && (cli_number(args, "max-seconds", seconds, &jobs.max_seconds) || jobs.max_seconds < 0))
        return EXIT_USAGE;
    if (notes && strcmp(format, "md") != 0) return cli_wrong(args, "--notes is for --format md");
    if (cli_tables_check(args, 0)) return EXIT_USAGE;
    int status = plan(t, rows && rows[0] == 'r' ? DAE_RESULTS_RANGE : DAE_RESULTS_PUBLISHED);
    if (status || (status = set_path(t))) return status;
    jobs.jobs = (int)njobs;
    jobs.repeat = (int)repeat;
    status = cli_jobs_run(args, t->row, NULL, t->count, &jobs);
    if (status) return status;
    int md = !strcmp(format, "md"), files = cli_has(args, "out");
    if (files && cli_tables_write(args, dae_results_table(t->row, t->count, NULL))) return EXIT_USAGE;
    files = files && !cli_has(args, "format") && !args->json; /* then the file is all that is wanted */
    dae_status written =
        files ? DAE_OK
        : md  ? dae_results_page(t->row, t->count, cli_has(args, "all") ? "table --all" : "table",
                                 !args->count, cli_write_file, stdout)
              : dae_results_write(t->row, t->count, format, cli_write_file, stdout);
    cli_wrote(written);
    if (written < 0) return cli_wrong(args, "the table could not be written");
    if (notes && put_notes(t, notes)) return EXIT_USAGE;
    for (int i = 0; i < t->count; i++) {
        if (t->row[i].run.status != DAE_OK) status = EXIT_FAILED;
    }
    return status;
}

static int run(cli_args *args)
{
    table t = {.args = args};
    cli_catch_signals();
    int status = run_table(&t);
    free(t.row);
    free(t.solver);
    dae_path_destroy(t.path);
    dae_problem_destroy(t.along);
    dae_problem_destroy(t.given);
    dae_reference_destroy(t.reference);
    return status;
}

static const cli_option options[] = {
    {"all", NULL, NULL, "all problems instead of one"},
    {"solvers", "A,B,...", NULL, "these solvers; default: all that the report has counterparts of"},
    {"rows", "WHAT", "published|range",
     "published: the rows of the report; range: the tolerances of its diagrams"},
    {"format", "F", "md|csv|json|latex", "Markdown (default), CSV, JSON or LaTeX"},
    {"out", "FILE", "file",
     "the table in this file: .csv, .json, .h5, .gp, .svg, .png or .pdf; can be given more than once"},
    {"json", NULL, NULL, "the same as --format json"},
    {"notes", "FILE", "file", "text that is put at the end of the Markdown"},
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    CLI_START,
    CLI_RATIOS,
    {"along", NULL, NULL, "digits of the largest error along the trajectory instead of at its end"},
    {"jobs", "N", NULL, "N runs at a time, each in a process of its own"},
    {"repeat", "N", NULL, "CPU time of N runs, largest and smallest dropped, averaged"},
    {"max-seconds", "S", NULL, "limit on the CPU time of a run; 0 (default): none"},
    {"quiet", NULL, NULL, "no progress on standard error"},
    CLI_PLUGIN,
    {NULL, NULL, NULL, NULL},
};
static const char notes_text[] = "A cell reads: ours (printed), counts with their ratio. What is worse than "
                                 "the printed figure by more than 0.7\n"
                                 "digits or 1.6 times the work (radau5, radau, ida, cvode; others 0.5 and "
                                 "1.3) is marked. The exit status is 1\n"
                                 "if a run failed.\n";
static const char *const examples[] = {"table hires",
                                       "every solver that has rows for it",
                                       "table rober --solvers radau,mebdfi --format csv",
                                       "two solvers, as numbers",
                                       "table chemakzo --rows range --solvers radau",
                                       "the tolerances of the diagram",
                                       NULL};
const cli_command cli_table = {"table",
                               "run characteristics beside those of the test set report",
                               "PROBLEM|--all",
                               "problems",
                               0,
                               1,
                               options,
                               examples,
                               notes_text,
                               run};
