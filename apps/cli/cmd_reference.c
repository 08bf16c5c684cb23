/* daedalus reference: an accurate solution at the end of the interval, and how many of its digits can be trusted. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int on_level(double rtol, double least, void *user)
{
    (void)user;
    fprintf(stderr, "reference: rtol %.1e, all components agree in %.1f digits\n", rtol, least);
    return 0;
}

/* Digits of a stored value against ours. */
static double digits(double stored, double y)
{
    double error = fabs(stored - y), scale = fabs(y);
    if (error == 0) return 16;
    return scale > 0 ? fmax(0, fmin(16, -log10(error / scale))) : 0;
}

static void print(const dae_reference *r, const dae_problem *p, const char *path, int cached)
{
    char key[2048], buffer[24];
    dae_reference_key(p, key, sizeof key);
    printf("Reference solution of %s\n\n", key);
    printf("   methods   %s and %s, rtol %.1e (%d tolerances tried)\n", r->method[0], r->method[1], r->rtol,
           r->levels);
    printf("   stopped   %s\n", r->stopped);
    printf("   cache     %s%s\n\n", path, cached ? " (read from there; --fresh computes anew)" : "");
    printf("Solution at t = %.10g and the digits that can be trusted%s:\n\n", r->t,
           p->reference ? ", digits in common with the stored reference" : "");
    for (int i = 0; i < r->n; i++) {
        printf("%-12s %24.16e %6.1f", dae_component_name(p, i, buffer, sizeof buffer), r->y[i], r->digits[i]);
        if (p->reference) printf(" %6.1f", digits(p->reference[i], r->y[i]));
        if (p->scored && !p->scored[i]) printf("   (not scored)");
        putchar('\n');
    }
    printf("\n%.1f digits or more can be trusted in every component that counts (fewest: %s)\n", r->least,
           dae_component_name(p, r->worst, buffer, sizeof buffer));
}

static int compute(cli_args *args, const dae_problem *p, dae_reference **r)
{
    dae_reference_options o = dae_reference_options_default();
    const char *wanted = cli_value(args, "digits"), *seconds = cli_value(args, "max-seconds");
    const char **name = NULL;
    int count = 0;
    dae_error err = {0};
    if (wanted && cli_number(args, "digits", wanted, &o.digits)) return EXIT_USAGE;
    if (seconds && cli_number(args, "max-seconds", seconds, &o.max_seconds)) return EXIT_USAGE;
    if (o.max_seconds < 0) return cli_wrong(args, "--max-seconds %s: expected 0 (no limit) or more", seconds);
    if (cli_names(args, "solvers", cli_solver_name, "solver", &name, &count)) return EXIT_USAGE;
    if (count && count != 2) {
        free(name);
        return cli_wrong(args, "--solvers: two are wanted, %d were given", count);
    }
    for (int k = 0; k < count; k++) o.method[k] = name[k];
    if (!cli_has(args, "quiet")) o.level = on_level;
    o.running = cli_running;
    cli_catch_signals();
    *r = dae_reference_compute(p, &o, &err);
    free(name);
    if (*r) return 0;
    if (cli_interrupted()) return EXIT_INTERRUPTED;
    if (err.status == DAE_ERR_INPUT || err.status == DAE_ERR_UNSUPPORTED)
        return cli_wrong(args, "%s", err.text);
    cli_wrong(args, "%s", err.text);
    return err.status == DAE_ERR_MAX_SECONDS ? EXIT_LIMIT : EXIT_FAILED;
}

static int run(cli_args *args)
{
    char path[4096] = "", name[128];
    dae_problem *p = cli_open_problem(args);
    if (!p) return args->status;
    dae_reference *r =
        cli_has(args, "fresh") || cli_has(args, "solvers") ? NULL : cli_reference_find(args, p);
    int cached = r != NULL, status = 0;
    if (!r) status = compute(args, p, &r);
    dae_store cache = cli_cache(args);
    dae_reference_name(p, name, sizeof name);
    cli_cache_path(name, path, sizeof path);
    dae_error err = {0};
    if (r && !cached && dae_reference_keep(r, p, &cache, &err) < 0)
        status = err.status == DAE_ERR_MEMORY ? cli_wrong(args, "out of memory") : EXIT_USAGE;
    if (r && args->json) cli_wrote(dae_reference_write(r, p, cli_write_file, stdout));
    else if (r) print(r, p, path, cached);
    dae_reference_destroy(r);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    CLI_START,
    CLI_RATIOS,
    {"index", "K", "1|2|3", "state the problem with this index, where it can be"},
    {"formulation", "F", "formulations", "of problems that have such a parameter"},
    {"digits", "D", NULL, "stop when all components agree in so many digits; default 11"},
    {"solvers", "A,B", NULL, "these two methods; default: by the kind of the equations"},
    {"max-seconds", "S", NULL, "limit on the CPU time of each run; default 60, 0: none"},
    {"fresh", NULL, NULL, "compute also if the cache has it"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {"quiet", NULL, NULL, "no progress on standard error"},
    {NULL, NULL, NULL, NULL},
};
static const char notes_text[] = "Two methods of different families run at tolerances from 1e-7 to 3e-15 "
                                 "until they agree. The digits of a component\n"
                                 "follow from the difference of the two and from how far each moved with the "
                                 "last tolerance. The result is kept below\n"
                                 "$XDG_CACHE_HOME/daedalus (or ~/.cache/daedalus); `daedalus run` with the "
                                 "same parameters is then scored by it.\n";
static const char *const examples[] = {"reference vdpol-mu --set mu=100", "digits of another parameter",
                                       "run vdpol-mu --set mu=100", "has a score now", NULL};
const cli_command cli_reference = {"reference",
                                   "an accurate solution, and how many of its digits can be trusted",
                                   "PROBLEM|MODEL.json",
                                   "problems",
                                   1,
                                   1,
                                   options,
                                   examples,
                                   notes_text,
                                   run};
