/* daedalus compare: solvers and formulations of one mechanism side by side: cost, drift, energy, error. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct comparison {
    cli_args *args;
    dae_problem *problem; /* as opened */
    dae_problem view;     /* as a mechanical one */
    dae_reference *reference;
    dae_solver solver[DAE_MAX_SOLVERS];
    int nsolver;
    int chosen; /* 1: the solvers were named; others that do not apply are left out with a note */
    dae_run_options options;
    dae_compared row[DAE_MAX_SOLVERS];
    int count;
} comparison;

static int choose(comparison *c, int mechanical)
{
    const char *solvers = cli_value(c->args, "solvers"), *forms = cli_value(c->args, "formulations");
    char list[4096];
    dae_error err = {0};
    c->chosen = solvers != NULL;
    if (forms && !mechanical)
        return cli_wrong(c->args, "--formulations: %s is no mechanical system; leave them out",
                         c->view.info->name);
    if (forms) {
        if (dae_solvers_cross(solvers ? solvers : "radau5,dopri5", forms, cli_own(), list, sizeof list,
                              &err) < 0)
            return cli_wrong(c->args, "%s", err.text);
        solvers = list;
    }
    if (!solvers) solvers = dae_compare_solvers(mechanical);
    if (dae_solvers_parse(solvers, &c->view, cli_own(), c->solver, &c->nsolver, &err) < 0)
        return cli_wrong(c->args, "--solvers: %s", err.text);
    return 0;
}

/* The problem's own, that of the cache, or for a model a new one. */
static int find_reference(comparison *c)
{
    const char *mode = cli_value(c->args, "reference");
    dae_error err = {0};
    if (cli_reference_use(c->args, &c->view, &c->reference)) return EXIT_USAGE;
    if (c->view.reference || (mode && !strcmp(mode, "none"))) return 0;
    dae_reference_options o = dae_reference_options_default();
    o.digits = 10;
    o.running = cli_running;
    o.max_seconds = 10;
    if (!cli_has(c->args, "quiet")) fprintf(stderr, "compare: computing a reference solution ...\n");
    c->reference = dae_reference_compute(&c->view, &o, &err);
    if (c->reference) dae_reference_use(c->reference, &c->view);
    else if (err.status == DAE_ERR_MEMORY) return cli_wrong(c->args, "out of memory");
    else if (!cli_has(c->args, "quiet")) fprintf(stderr, "compare: no reference solution: %s\n", err.text);
    return 0;
}

static int set_tolerances(comparison *c)
{
    dae_options *o = &c->options.options;
    double seconds = 60;
    long reps = 3;
    if (cli_real(c->args, "max-seconds", 1e-3, 1e9, &seconds) ||
        cli_whole(c->args, "repeat", 1, 100000, &reps))
        return EXIT_USAGE;
    const char *tend = cli_value(c->args, "tend");
    if (tend && cli_number(c->args, "tend", tend, &c->options.t_end)) return EXIT_USAGE;
    if (tend) c->view.t_end = c->options.t_end, c->view.reference = NULL;
    o->max_seconds = seconds;
    c->options.repeat = (int)reps;
    c->options.repeat_seconds = seconds;
    c->options.running = cli_running;
    return 0;
}

static dae_status script(const void *what, const char *terminal, dae_write_fn *write, void *user)
{
    const comparison *c = what;
    char title[200];
    snprintf(title, sizeof title, "%s: drift off the constraints, rtol %.1e", c->view.info->name,
             c->options.options.rtol);
    return dae_compare_plot(c->row, c->count, title, terminal, write, user);
}

static int run_all(comparison *c)
{
    for (int k = 0; k < c->nsolver; k++) {
        dae_run_options o = c->options;
        dae_error err = {0};
        dae_solver_apply(&c->solver[k], &o.options);
        cli_progress_runs(c->args, k, c->nsolver, 0, c->solver[k].label);
        if (!strcmp(cli_progress_mode(c->args), "auto"))
            fprintf(stderr, "compare: %s (%d of %d)\n", c->solver[k].label, k + 1, c->nsolver);
        dae_compared *row = &c->row[c->count];
        if (dae_compare_run(&c->view, &o, c->solver[k].label, row, &err) < 0)
            return cli_wrong(c->args, "%s", err.text);
        if (row->run.status == DAE_CANCELLED || cli_interrupted()) return EXIT_INTERRUPTED;
        if (row->run.status != DAE_ERR_INPUT && row->run.status != DAE_ERR_UNSUPPORTED) {
            c->count++;
            continue;
        }
        dae_compared_free(row);
        if (c->chosen)
            return cli_wrong(c->args, "%s with %s: %s", c->view.info->name, row->run.solver,
                             row->run.message);
        fprintf(stderr, "compare: without %s: %s\n", row->run.solver, row->run.message);
    }
    return c->count ? 0 : cli_wrong(c->args, "none of the solvers takes %s", c->view.info->name);
}

static int show(comparison *c)
{
    const char *format = cli_value(c->args, "format"), *plot = cli_value(c->args, "plot");
    int failed = 0;
    if (c->args->json) format = "json";
    if (!format) format = "text";
    if (!strcmp(format, "text"))
        printf("%s from t = %g to %g, rtol %.1e, atol %.1e\n\n", c->view.info->name, c->view.t0,
               c->options.t_end, c->options.options.rtol, c->options.options.atol);
    cli_wrote(dae_compare_write(c->row, c->count, format, cli_write_file, stdout));
    fflush(stdout);
    if (cli_has(c->args, "out")) {
        dae_table *t = dae_compare_table(c->row, c->count, NULL);
        if (t) dae_table_note(t, "problem", c->view.info->name, 0);
        if (cli_tables_write(c->args, t)) return EXIT_USAGE;
    }
    for (int k = 0; k < c->count; k++) {
        if (c->row[k].run.status >= 0) continue;
        failed = 1;
        fprintf(stderr, "%s: %s\n", c->row[k].run.solver, c->row[k].run.message);
    }
    if (plot) {
        if (cli_plot(c->args, "--plot", plot, script, c)) return EXIT_USAGE;
        if (!cli_has(c->args, "quiet")) fprintf(stderr, "wrote %s\n", plot);
    }
    return failed ? EXIT_FAILED : 0;
}

static int compare(comparison *c)
{
    const char *plot = cli_value(c->args, "plot"), *format = cli_value(c->args, "format");
    if (format && strcmp(format, "text") != 0 && strcmp(format, "md") != 0 && strcmp(format, "csv") != 0 &&
        strcmp(format, "json") != 0)
        return cli_wrong(c->args, "--format %s: expected text, md, csv or json", format);
    if (!cli_progress_mode(c->args) || cli_tables_check(c->args, 0)) return EXIT_USAGE;
    c->problem = cli_open_problem(c->args);
    if (!c->problem) return c->args->status;
    int mechanical = dae_compare_mechanism(c->problem, &c->view);
    c->options = dae_run_options_default(&c->view);
    if (!dae_problem_switches(c->problem)) c->options.events = NULL;
    if (plot && !mechanical)
        return cli_wrong(c->args, "--plot: %s has no constraints to drift from", c->view.info->name);
    if (plot && cli_plot_check(c->args, "--plot", plot)) return EXIT_USAGE;
    cli_catch_signals();
    if (set_tolerances(c) || choose(c, mechanical) || find_reference(c)) return EXIT_USAGE;
    if (cli_interrupted()) return EXIT_INTERRUPTED;
    int status = run_all(c);
    return status ? status : show(c);
}

static int run(cli_args *args)
{
    comparison *c = calloc(1, sizeof *c);
    if (!c) return cli_wrong(args, "out of memory");
    c->args = args;
    int status = compare(c);
    for (int k = 0; k < c->count; k++) dae_compared_free(&c->row[k]);
    dae_reference_destroy(c->reference);
    if (c->problem) dae_problem_destroy(c->problem);
    free(c);
    return status;
}

static const cli_option options[] = {
    {"solvers", "A,B,...", NULL,
     "solvers, each alone or as SOLVER/FORMULATION or SOLVER/FORMULATION+project"},
    {"formulations", "F,G,...", NULL, "every solver in each of these that it can take; +project as above"},
    CLI_TOLERANCES,
    {"tend", "T", NULL, "another end of the interval"},
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    CLI_START,
    {"reference", "MODE", "auto|none",
     "auto: the problem's or the cached reference, else one is computed; none: no digits"},
    {"repeat", "N", NULL, "CPU time of N runs, largest and smallest dropped, median; default 3"},
    {"max-seconds", "S", NULL, "limit on the CPU time of a run; default 60"},
    {"out", "FILE", "file",
     "the table in this file: .csv, .json, .h5, .gp, .svg, .png or .pdf; can be given more than once"},
    {"format", "F", "text|md|csv|json", "of the table on standard output"},
    {"json", NULL, NULL, "the same as --format json"},
    {"plot", "FILE", "file", "the drift over time, drawn with gnuplot: .svg, .png or .pdf"},
    {"quiet", NULL, NULL, "no progress on standard error"},
    CLI_PROGRESS,
    {NULL, NULL, NULL, NULL},
};
static const char notes[] = "|g| and |Gv+g_t| are the largest residuals of the position and velocity "
                            "constraints at the accepted points, energy\n"
                            "(model files) the largest error of its balance. Without --solvers: direct "
                            "integration with index 3, 2 (also GGL) and\n"
                            "1, stabilization by Baumgarte, projection, partitioned coordinates, and the "
                            "methods for the descriptor form.\n";
static const char *const examples[] = {
    "compare andrews --plot drift.svg",
    "the ways to integrate a mechanism, and their drift",
    "compare seven-body --solvers radau5,dopri5 --formulations index3,index1,statespace",
    "chosen ones",
    "compare seven-body --solvers dop853/index1+project,phem56 --rtol 1e-8 --format csv",
    "as numbers",
    NULL};
const cli_command cli_compare = {"compare",
                                 "solvers and formulations of a mechanism: cost, drift, energy, error",
                                 "PROBLEM|MODEL.json",
                                 "problems",
                                 1,
                                 1,
                                 options,
                                 examples,
                                 notes,
                                 run};
