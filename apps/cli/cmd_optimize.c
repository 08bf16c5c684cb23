/* daedalus optimize: the parameters for which something of a run is least. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { max_conditions = 32 };

typedef struct optimizing {
    cli_args *args;
    int shown, lines;
} optimizing;

static int progress(const dae_optimize_progress *at, void *user)
{
    optimizing *o = user;
    if (o->shown) {
        fprintf(stderr, "\revaluation %d: %.8g%s   ", at->evaluation, at->objective,
                at->violation > 1e-8 ? " (a condition is broken)" : "");
        o->lines = 1;
    }
    return cli_interrupted();
}

static void print_text(const cli_free *f, const char *minimize, const dae_optimize_result *r)
{
    printf("%s after %d runs\n\n  %s: %.8g, at the start %.8g\n\n", r->message, r->evaluations, minimize,
           r->objective, r->objective_start);
    printf("  %-16s %16s %16s\n", "parameter", "start", "best");
    for (int j = 0; j < r->count; j++)
        printf("  %-16s %16.8g %16.8g\n", f->list[j].name, r->start[j], r->value[j]);
    printf("\nrun it: ");
    for (int j = 0; j < r->count; j++) printf(" --set %s=%.8g", f->list[j].name, r->value[j]);
    printf("\n");
}

static int work(cli_args *args, dae_problem *p, cli_free *f)
{
    const char *minimize = cli_value(args, "minimize"), *subject[max_conditions];
    dae_optimize_options o = dae_optimize_options_default(p);
    dae_options *a = &o.sensitivity.simulation.options;
    optimizing state = {.args = args};
    long evaluations = o.max_evaluations, points = o.points, seed = 1;
    dae_error err = {0};
    if (!minimize)
        return cli_wrong(args, "--minimize is missing: what shall be least, as in --minimize 'rms(x)'");
    for (o.nsubject = 0; cli_value_at(args, "subject-to", o.nsubject); o.nsubject++) {
        if (o.nsubject == max_conditions) return cli_wrong(args, "more than %d conditions", max_conditions);
        subject[o.nsubject] = cli_value_at(args, "subject-to", o.nsubject);
    }
    o.subject = subject;
    if (cli_whole(args, "max-evaluations", 1, 1000000, &evaluations) ||
        cli_whole(args, "points", 3, 1000001, &points) || cli_whole(args, "seed", 0, 1l << 30, &seed) ||
        cli_real(args, "tolerance", 1e-15, 1, &o.tolerance))
        return EXIT_USAGE;
    cli_tolerances_given(args, p, a);
    o.max_evaluations = (int)evaluations;
    o.points = (int)points;
    o.seed = (unsigned long)seed;
    o.global = cli_has(args, "global");
    if (cli_value(args, "solver") && cli_check_solver(args, a->method = cli_value(args, "solver")))
        return EXIT_USAGE;
    if (cli_value(args, "formulation") &&
        cli_check_formulation(args, a->formulation = cli_value(args, "formulation")))
        return EXIT_USAGE;
    state.shown = !args->json && !cli_has(args, "quiet") && isatty(2);
    o.progress = progress;
    o.user = &state;
    a->stop = cli_stop;
    cli_catch_signals();
    dae_optimize_result *r = dae_optimize(p, f->list, f->count, minimize, &o, &err);
    if (state.lines) fprintf(stderr, "\n");
    if (!r) {
        int status = cli_wrong(args, "%s", err.text);
        return err.status == DAE_ERR_INPUT || err.status == DAE_ERR_UNSUPPORTED ? status : EXIT_FAILED;
    }
    if (args->json) dae_optimize_json(r, f->list, p, minimize, cli_write_file, stdout);
    else print_text(f, minimize, r);
    dae_status s = r->status;
    dae_optimize_destroy(r);
    if (s == DAE_CANCELLED) return cli_ended_by(EXIT_INTERRUPTED);
    return s == DAE_ERR_MAX_STEPS ? EXIT_LIMIT : s < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int run(cli_args *args)
{
    cli_free f = {0};
    dae_problem *p = cli_open_problem(args);
    int status = p ? cli_free_read(args, &f) : args->status;
    if (!status) status = work(args, p, &f);
    cli_free_drop(&f);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"minimize", "EXPR", NULL,
     "what shall be least: of final(E), integral(E), mean(E), rms(E), maximum(E), minimum(E), E in "
     "components, "
     "sensors, t and parameters; a name alone is its value at the end"},
    {"subject-to", "EXPR<=EXPR", NULL, "a condition, also >=; can be given more than once"},
    {"free", "NAME[=START][[MIN..MAX]],...", NULL,
     "what may be chosen: parameters, or initial values as x(0)"},
    {"global", NULL, NULL, "search the whole box first: for rough problems; all free ones need bounds"},
    {"seed", "N", NULL, "of that search (1)"},
    {"set", "NAME=VALUE", NULL, "a parameter that stays; can be given more than once"},
    CLI_START,
    {"points", "N", NULL, "at which extremes look at the run (401)"},
    {"max-evaluations", "N", NULL,
     "runs with derivatives (200); a global search takes 20 times as many without"},
    {"tolerance", "X", NULL, "relative change of parameters at which it ends (1e-6)"},
    {"solver", "S", "solvers", "integrator; default: auto"},
    {"formulation", "F", "formulations", "of a mechanism; default: auto"},
    CLI_TOLERANCES,
    {"json", NULL, NULL, "one JSON object on standard output"},
    {"quiet", NULL, NULL, "no progress"},
    {NULL, NULL, NULL, NULL},
};
static const char *const examples[] = {
    "optimize examples/design/suspension.deq --minimize 'rms(acc)' --subject-to 'maximum(abs(travel)) <= "
    "0.06' --free 'k[5e3..1e5],c[100..5000]'",
    "spring and damper for comfort", NULL};
const cli_command cli_optimize = {"optimize",
                                  "the best parameters of a design",
                                  "PROBLEM|FILE",
                                  "problems",
                                  1,
                                  1,
                                  options,
                                  examples,
                                  "docs/design.md has a suspension, a crane and a four-bar.\n",
                                  run};
