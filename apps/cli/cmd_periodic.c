/* daedalus periodic: a cycle, its period and its stability. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

enum { shown_components = 40 };

static void print_text(const dae_problem *p, const dae_periodic_result *r, int full)
{
    char buffer[24];
    int n = full || r->n < shown_components ? r->n : shown_components;
    printf("a cycle with the period %.12g after %d iterations: %s\n\n  a point of it, at t = %.10g\n",
           r->period, r->iterations, r->unstable ? "unstable" : "stable", r->t);
    for (int i = 0; i < n; i++)
        printf("  %-20s %20.12g %s\n", dae_component_name(p, i, buffer, sizeof buffer), r->y[i],
               dae_component_unit(p, i));
    if (n < r->n) printf("  (the first %d of %d components; --full for all)\n", n, r->n);
    printf("\n  Floquet multipliers\n  %18s %18s %18s\n", "re", "im", "modulus");
    n = full || r->nmultiplier < shown_components ? r->nmultiplier : shown_components;
    for (int i = 0; i < n; i++)
        printf("  %18.10g %18.10g %18.10g\n", r->re[i], r->im[i], hypot(r->re[i], r->im[i]));
}

static int read_options(cli_args *args, dae_periodic_options *o)
{
    dae_options *a = &o->sensitivity.simulation.options;
    double ratio = a->atol / a->rtol;
    o->forced = cli_has(args, "forced");
    if (cli_real(args, "period", 0, 1e300, &o->period) || cli_real(args, "settle", -1, 1e300, &o->settle) ||
        cli_real(args, "tolerance", 1e-15, 1, &o->tolerance) || cli_real(args, "rtol", 1e-15, 1, &a->rtol))
        return EXIT_USAGE;
    a->atol = ratio * a->rtol;
    if (cli_real(args, "atol", 0, 1e300, &a->atol)) return EXIT_USAGE;
    if (cli_value(args, "solver") && cli_check_solver(args, a->method = cli_value(args, "solver")))
        return EXIT_USAGE;
    if (cli_value(args, "formulation") &&
        cli_check_formulation(args, a->formulation = cli_value(args, "formulation")))
        return EXIT_USAGE;
    return 0;
}

static int run(cli_args *args)
{
    dae_problem *p = cli_open_problem(args);
    if (!p) return args->status;
    dae_periodic_options o = dae_periodic_options_default(p);
    dae_error err = {0};
    int status = read_options(args, &o);
    dae_periodic_result *r = status ? NULL : dae_periodic(p, &o, &err);
    if (!status && !r) {
        status = cli_wrong(args, "%s", err.text);
        if (err.status != DAE_ERR_INPUT && err.status != DAE_ERR_UNSUPPORTED) status = EXIT_FAILED;
    }
    if (r && args->json) dae_periodic_json(r, p, cli_write_file, stdout);
    else if (r) print_text(p, r, cli_has(args, "full"));
    dae_periodic_destroy(r);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"period", "T", NULL, "a guess, or with --forced the period itself; default: found on a run"},
    {"forced", NULL, NULL, "the system depends on time with the period --period"},
    {"settle", "T", NULL, "integrate this long first (to the end of the problem); -1: begin at the start"},
    {"set", "NAME=VALUE", NULL, "a parameter; can be given more than once"},
    {"init", "NAME=VALUE", NULL, "where the search begins; can be given more than once"},
    {"tolerance", "X", NULL, "of the last correction, relative (1e-8)"},
    {"solver", "S", "solvers", "integrator; default: auto"},
    {"formulation", "F", "formulations", "of a mechanism; default: auto"},
    {"rtol", "R", NULL, "relative tolerance of the runs (1e-9, or that of the problem)"},
    {"atol", "A", NULL, "absolute tolerance of the runs"},
    {"full", NULL, NULL, "all components and multipliers, however many"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {NULL, NULL, NULL, NULL},
};
static const char *const examples[] = {"periodic vdpol-mu --set mu=1 --init y1=2",
                                       "the cycle of van der Pol's oscillator", NULL};
const cli_command cli_periodic = {
    "periodic",
    "a periodic solution and its Floquet multipliers",
    "PROBLEM|FILE",
    "problems",
    1,
    1,
    options,
    examples,
    "The problem is integrated until it has settled, and the cycle that it comes back to is made exact by "
    "shooting with\n"
    "derivatives, through events too. Multipliers above 1 in modulus: unstable. docs/steady.md says how.\n"
    "Exit status 1: there is none near.\n",
    run};
