/* daedalus steady: where a system comes to rest, and whether it stays there. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>

enum { shown_components = 40 };

static int shown(const cli_args *args, int n)
{
    return cli_has(args, "full") || n < shown_components ? n : shown_components;
}

static void print_text(const cli_args *args, const dae_problem *p, const dae_steady_result *r)
{
    char buffer[24];
    int n = shown(args, r->n), count = shown(args, r->neigenvalue);
    printf("a steady state after %d iterations%s: %s\n\n", r->iterations, r->settled ? " and a run" : "",
           !r->neigenvalue ? "its stability is not known"
           : r->unstable   ? "unstable"
           : r->re[0] < 0  ? "stable"
                           : "neither stable nor unstable as far as eigenvalues tell");
    for (int i = 0; i < n; i++)
        printf("  %-20s %20.12g %s\n", dae_component_name(p, i, buffer, sizeof buffer), r->y[i],
               dae_component_unit(p, i));
    if (n < r->n) printf("  (the first %d of %d components; --full for all)\n", n, r->n);
    if (r->conserved)
        printf("\n  %d sum%s of the components stay%s as at the start\n", r->conserved,
               r->conserved > 1 ? "s" : "", r->conserved > 1 ? "" : "s");
    if (count) printf("\n  %18s %18s\n", "eigenvalues: re", "im");
    for (int i = 0; i < count; i++) printf("  %18.10g %18.10g\n", r->re[i], r->im[i]);
    if (count < r->neigenvalue) printf("  (the first %d of %d)\n", count, r->neigenvalue);
}

static int run(cli_args *args)
{
    dae_problem *p = cli_open_problem(args);
    if (!p) return args->status;
    dae_steady_options o = dae_steady_options_default(p);
    dae_error err = {0};
    int status = 0;
    if (cli_real(args, "at", -1e300, 1e300, &o.t) || cli_real(args, "settle", 0, 1e300, &o.settle) ||
        cli_real(args, "tolerance", 1e-15, 1, &o.tolerance))
        status = EXIT_USAGE;
    dae_steady_result *r = status ? NULL : dae_steady(p, &o, &err);
    if (!status && !r) {
        status = cli_wrong(args, "%s", err.text);
        if (err.status != DAE_ERR_INPUT && err.status != DAE_ERR_UNSUPPORTED) status = EXIT_FAILED;
    }
    if (r && args->json) dae_steady_json(r, p, o.t, cli_write_file, stdout);
    else if (r) print_text(args, p, r);
    dae_steady_destroy(r);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"set", "NAME=VALUE", NULL, "a parameter; can be given more than once"},
    {"init", "NAME=VALUE", NULL, "where the search begins; can be given more than once"},
    {"at", "T", NULL, "systems that depend on time: as they are at T (the start)"},
    {"settle", "T", NULL, "integrate this long first; without it only where Newton's method alone fails"},
    {"tolerance", "X", NULL, "of the last correction, relative (1e-10)"},
    {"full", NULL, NULL, "all components and eigenvalues, however many"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {NULL, NULL, NULL, NULL},
};
static const char *const examples[] = {
    "steady examples/equations/reactor.deq", "where a stirred tank comes to rest",
    "steady models/pendulum.json --json", "a mechanism, with the eigenvalues of small motions", NULL};
const cli_command cli_steady = {
    "steady",
    "a steady state and its eigenvalues",
    "PROBLEM|FILE",
    "problems",
    1,
    1,
    options,
    examples,
    "The steady state that Newton's method finds from the start, stable or not. Sums of components that the\n"
    "system keeps (atoms, charge) are those of the start. Exit status 1: none was found.\n"
    "docs/steady.md says how; `continue` follows it along a parameter.\n",
    run};
