/* daedalus continue: steady states along a parameter. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct following {
    cli_args *args;
    const dae_problem *p;
    dae_branch *b;
    int component, shown, lines;
} following;

static int progress(int points, double value, void *user)
{
    following *f = user;
    if (f->shown) fprintf(stderr, "\r%d points, at %.6g   ", points, value), f->lines = 1;
    return cli_interrupted();
}

static dae_status script(const void *data, const char *terminal, dae_write_fn *write, void *user)
{
    const following *f = data;
    return dae_branch_plot(f->b, f->p, f->component, terminal, write, user);
}

static void print_text(const following *f)
{
    const dae_branch *b = f->b;
    char buffer[24];
    printf("%d steady states along %s%s%s%s\n\n  %-6s %16s %16s %9s\n", b->count, b->parameter,
           b->closed ? "; the branch is closed" : "", b->message[0] ? "; " : "", b->message, "", b->parameter,
           dae_component_name(f->p, f->component, buffer, sizeof buffer), "unstable");
    for (int j = 0; j < b->count; j++) {
        if (!b->kind[j] && j != b->start && j && j != b->count - 1) continue;
        printf("  %-6s %16.10g %16.10g %9d",
               b->kind[j]      ? dae_branch_kind_name(b->kind[j])
               : j == b->start ? "start"
                               : "",
               b->value[j], b->y[(size_t)j * (size_t)b->n + (size_t)f->component], b->unstable[j]);
        if (b->kind[j] == DAE_BRANCH_HOPF)
            printf("   period %.8g", 2 * 3.14159265358979323846 / b->frequency[j]);
        printf("\n");
    }
}

static int answer(following *f)
{
    cli_args *args = f->args;
    const char *plot = cli_value(args, "plot");
    int status = 0;
    if (args->json) dae_branch_json(f->b, f->p, cli_write_file, stdout);
    else print_text(f);
    fflush(stdout);
    if (cli_value(args, "out")) status = cli_tables_write(args, dae_branch_table(f->b, f->p));
    if (!status && plot) status = cli_plot(args, "--plot", plot, script, f);
    if (status) return status;
    dae_status s = f->b->status;
    if (s == DAE_CANCELLED) return cli_ended_by(EXIT_INTERRUPTED);
    return s == DAE_ERR_MAX_STEPS ? EXIT_LIMIT : s < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int work(cli_args *args, dae_problem *p, cli_free *free_list)
{
    following f = {.args = args, .p = p};
    dae_branch_options o = dae_branch_options_default(p);
    const dae_fit_free *a = &free_list->list[0];
    const char *component = cli_value(args, "component");
    long points = o.max_points;
    dae_error err = {0};
    if (free_list->count != 1) return cli_wrong(args, "--free: one parameter, as in --free B[1..5]");
    if (isfinite(a->min)) o.min = a->min;
    if (isfinite(a->max)) o.max = a->max;
    if (component) f.component = dae_component_find(p, component);
    else if (p->nplot > 0) f.component = p->plot[0];
    if (f.component < 0) return cli_wrong(args, "--component %s: there is none of that name", component);
    if (cli_real(args, "at", -1e300, 1e300, &o.steady.t) ||
        cli_real(args, "settle", 0, 1e300, &o.steady.settle) ||
        cli_real(args, "step", 1e-9, 1, &o.step_max) || cli_whole(args, "points", 1, 1000000, &points))
        return EXIT_USAGE;
    if (o.step > o.step_max / 2) o.step = o.step_max / 2;
    o.max_points = (int)points;
    f.shown = !args->json && !cli_has(args, "quiet") && isatty(2);
    o.progress = progress;
    o.user = &f;
    o.steady.simulation.options.stop = cli_stop;
    if (cli_value(args, "plot") && cli_plot_check(args, "--plot", cli_value(args, "plot"))) return EXIT_USAGE;
    cli_catch_signals();
    f.b = dae_continue(p, a->name, &o, &err);
    if (f.lines) fprintf(stderr, "\n");
    int status;
    if (!f.b) {
        status = cli_wrong(args, "%s", err.text);
        if (err.status != DAE_ERR_INPUT && err.status != DAE_ERR_UNSUPPORTED) status = EXIT_FAILED;
    } else {
        status = answer(&f);
    }
    dae_branch_destroy(f.b);
    return status;
}

/* --free NAME=VALUE[..]: where it begins is a setting. */
static dae_problem *open_at(cli_args *args, const cli_free *f, dae_problem *p)
{
    char text[64];
    dae_error err = {0};
    if (!f->count || isnan(f->list[0].start)) return p;
    snprintf(text, sizeof text, "%.17g", f->list[0].start);
    dae_problem *other = dae_problem_variant(p, &(dae_setting){f->list[0].name, text}, 1, &err);
    if (!other) args->status = cli_wrong(args, "%s", err.text);
    dae_problem_destroy(p);
    return other;
}

static int run(cli_args *args)
{
    cli_free f = {0};
    dae_problem *p = cli_open_problem(args);
    int status = p ? cli_free_read(args, &f) : args->status;
    if (!status) p = open_at(args, &f, p);
    if (!status) status = p ? work(args, p, &f) : args->status;
    cli_free_drop(&f);
    dae_problem_destroy(p);
    return status;
}

static const cli_option options[] = {
    {"free", "NAME[=START][[MIN..MAX]]", NULL,
     "the parameter, where it begins and its bounds (a tenth to ten times its value)"},
    {"component", "NAME", NULL, "what is shown and drawn; default: the first that the problem plots"},
    {"set", "NAME=VALUE", NULL, "a parameter that stays; can be given more than once"},
    {"init", "NAME=VALUE", NULL, "where the search begins; can be given more than once"},
    {"at", "T", NULL, "systems that depend on time: as they are at T (the start)"},
    {"settle", "T", NULL, "integrate this long before the first steady state"},
    {"step", "X", NULL, "largest step, in parts of the bounds and of the size of the solution (0.05)"},
    {"points", "N", NULL, "at most, in each direction (1000)"},
    {"out", "FILE", "file",
     "all points: .csv, .json, .h5, .gp, .svg, .png or .pdf; - is standard output; can be given more than "
     "once"},
    {"plot", "FILE", "file", "bifurcation diagram: .svg, .png, .pdf"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    {"quiet", NULL, NULL, "no progress"},
    {NULL, NULL, NULL, NULL},
};
static const char *const examples[] = {
    "continue examples/steady/brusselator.deq --free 'B[1..5]'", "where it begins to oscillate",
    "continue examples/steady/snap.json --free 'm[0.1..5]' --component load.y --plot snap.svg",
    "a load that snaps through", NULL};
const cli_command cli_continue = {"continue",
                                  "steady states along a parameter, folds and Hopf points",
                                  "PROBLEM|FILE",
                                  "problems",
                                  1,
                                  1,
                                  options,
                                  examples,
                                  "It begins at the steady state nearest to the start (as `steady` finds it) "
                                  "and goes both ways, around folds, up to\n"
                                  "the bounds. fold: two steady states meet; hopf: cycles of the shown "
                                  "period begin; cross: another branch crosses.\n"
                                  "Exit status 1: no first steady state, or the branch ended before a bound. "
                                  "docs/steady.md has pictures.\n",
                                  run};
