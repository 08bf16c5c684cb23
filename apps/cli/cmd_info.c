/* daedalus info: all about one problem, solver or formulation. */
#include "cli.h"

#include <string.h>

/* All names that can be asked for. */
static const char *any_name(int i)
{
    const char *(*const list[])(int) = {cli_problem_name, cli_solver_name, cli_formulation_name};
    for (int k = 0; k < 3; k++) {
        int j = 0;
        for (; list[k](j); j++) {
            if (i-- == 0) return list[k](j);
        }
    }
    return NULL;
}

static void print_parameters(const dae_parameter *q)
{
    if (!q || !q->name) return;
    printf("\nParameters (--set name=value)\n");
    for (; q->name; q++) {
        char value[64];
        if (q->choices) {
            snprintf(value, sizeof value, "%.60s", q->choices);
        } else {
            snprintf(value, sizeof value, "%g%s%s", q->value, q->unit && q->unit[0] ? " " : "",
                     q->unit ? q->unit : "");
        }
        printf("  %-14s %-20s %s", q->name, value, q->help ? q->help : "");
        if (!q->choices && q->min <= q->max) printf(" (%g .. %g)", q->min, q->max);
        putchar('\n');
    }
}

static void print_components(const dae_problem *p, int n)
{
    printf("\nComponents\n ");
    int column = 1;
    for (int i = 0; i < n && i < 60; i++) {
        char buffer[24], item[96];
        const char *unit = dae_component_unit(p, i);
        snprintf(item, sizeof item, " %.40s%s%.30s%s", dae_component_name(p, i, buffer, sizeof buffer),
                 unit[0] ? " [" : "", unit, unit[0] ? "]" : "");
        if (column + (int)strlen(item) > 100) column = printf("\n ") - 1;
        column += printf("%s", item);
    }
    printf("%s\n", n > 60 ? " ..." : "");
}

/* A problem of the test set by its name, or of a file. */
static int info_problem(cli_args *args, const char *name)
{
    dae_problem *p = cli_open(args, name);
    if (!p) return args->status;
    const dae_problem_info *info = p->info;
    if (args->json) {
        cli_wrote(dae_problem_json(p, cli_write_file, stdout));
        dae_problem_destroy(p);
        return EXIT_DONE;
    }
    int n = dae_system_size(&p->system);
    printf("%s: %s\n\n", info->name, info->title);
    printf("  kind           %s, n = %d, index %d, %s\n", dae_kind_name(info->kind), n, info->index,
           info->stiff ? "stiff" : "not stiff");
    if (info->aliases) printf("  also called    %s\n", info->aliases);
    if (info->origin) printf("  origin         %s\n", info->origin);
    printf("  interval       t = %g .. %g%s%s\n", p->t0, p->t_end, p->time_unit ? " " : "",
           p->time_unit ? p->time_unit : "");
    printf("  defaults       rtol %g, atol %g", p->rtol, p->atol);
    if (p->h0 > 0) printf(", h0 %g", p->h0);
    printf("\n");
    if (p->reference)
        printf("  reference      %.1f digits%s%s\n", p->reference_digits, p->reference_source ? ": " : "",
               p->reference_source ? p->reference_source : "");
    if (p->ndiscontinuity)
        printf("  discontinuous  at %d times, the first at t = %g\n", p->ndiscontinuity, p->discontinuity[0]);
    print_parameters(info->parameter);
    print_components(p, n);
    const char *doc = p->doc ? p->doc : dae_problem_doc(info->name);
    if (doc) printf("\n%s\n", doc);
    dae_problem_destroy(p);
    return EXIT_DONE;
}

static void print_options(const dae_option *o)
{
    if (!o || !o->name) return;
    printf("\nOptions (--opt name=value)\n");
    for (; o->name; o++) {
        if (o->type == DAE_OPTION_NAME) {
            printf("  %-16s %-14s %s%s%s\n", o->name, o->text ? o->text : "", o->help,
                   o->choices ? "; one of " : "", o->choices ? o->choices : "");
        } else if (o->min <= o->max) {
            printf("  %-16s %-14g %s (%g .. %g%s%s)\n", o->name, o->value, o->help, o->min, o->max,
                   o->unit && o->unit[0] ? " " : "", o->unit ? o->unit : "");
        } else {
            printf("  %-16s %-14g %s\n", o->name, o->value, o->help);
        }
    }
}

static int info_solver(const cli_args *args, const dae_method_info *m)
{
    if (args->json) return dae_method_json(m, cli_write_file, stdout), EXIT_DONE;
    printf("%s: %s\n\n", m->name, m->title);
    if (m->order_min == m->order_max) printf("  order          %d\n", m->order_min);
    else printf("  order          %d to %d\n", m->order_min, m->order_max);
    printf("  takes         ");
    for (int k = DAE_KIND_ODE; k <= DAE_KIND_MECH; k++) {
        if (m->kinds & 1u << k) printf(" %s", dae_kind_name((dae_kind)k));
    }
    if (m->max_index > 0) printf(", up to index %d", m->max_index);
    printf("\n  kind           %s, %s\n",
           m->implicit ? "implicit (for stiff problems)" : "explicit (for nonstiff problems)",
           m->multistep ? "multistep" : "one-step");
    printf("  checkpoint     %s\n",
           m->checkpoint ? "yes: a resumed run gives the same numbers, bit for bit" : "no");
    if (m->literature) printf("  literature     %s\n", m->literature);
    if (m->summary) printf("\n%s\n", m->summary);
    print_options(m->options);
    const char *doc = dae_method_doc(m->name);
    if (doc) printf("\n%s", doc);
    return EXIT_DONE;
}

static int info_formulation(const cli_args *args, const dae_formulation_info *f)
{
    if (args->json) return dae_formulation_json(f, cli_write_file, stdout), EXIT_DONE;
    printf("%s: %s\n\n  gives          %s of index %d\n", f->name, f->title, dae_kind_name(f->kind),
           f->index);
    if (f->summary) printf("\n%s\n", f->summary);
    print_options(f->options);
    const char *doc = dae_formulation_doc(f->name);
    if (doc) printf("\n%s", doc);
    return EXIT_DONE;
}

static int info_auto(void)
{
    printf("auto: the program chooses the method from the kind, index and size of the system, the tolerance "
           "and, for\n"
           "ODEs, from how stiff the equations are at the start; the report says which it took and why.\n");
    return EXIT_DONE;
}

static int run(cli_args *args)
{
    const char *name = args->argument[0];
    static const char *const section[] = {"joints", "forces", "blocks"};
    for (int k = 0; k < 3; k++) {
        if (strcmp(name, section[k]) != 0) continue;
        mbs_write_types(k, args->json, cli_write_file, stdout);
        return EXIT_DONE;
    }
    if (dae_problem_find(name) || dae_problem_is_file(name)) return info_problem(args, name);
    if (cli_method(name)) return info_solver(args, cli_method(name));
    if (cli_formulation(name)) return info_formulation(args, cli_formulation(name));
    if (!strcmp(name, "auto")) return info_auto();
    char near[200];
    cli_nearest(name, any_name, near, sizeof near);
    if (near[0])
        return cli_wrong(args, "there is no problem, solver or formulation \"%s\"; did you mean %s?", name,
                         near);
    return cli_wrong(args, "there is no problem, solver or formulation \"%s\"; `daedalus list` shows them",
                     name);
}

static const cli_option options[] = {
    {"json", NULL, NULL, "one JSON object on standard output, the page as Markdown and as HTML in it"},
    {"set", "NAME=VALUE", NULL, "a parameter of the problem; can be given more than once"},
    CLI_START,
    CLI_TOLERANCES,
    CLI_PLUGIN,
    {NULL, NULL, NULL, NULL},
};
static const char *const examples[] = {
    "info andrews",
    "equations, origin, parameters, reference",
    "info pump --json",
    "sizes, index, interval, discontinuities, initial values, tolerances, reference",
    "info radau5",
    "a solver and its options",
    "info joints",
    "types of joints and their fields (--json: JSON Schema); also forces",
    NULL};
const cli_command cli_info = {
    "info", "all about a problem, solver or formulation", "NAME", "names", 1, 1, options, examples, NULL,
    run};
