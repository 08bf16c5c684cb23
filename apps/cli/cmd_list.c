/* daedalus list: what there is. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static void kinds_text(unsigned kinds, char *out)
{
    out[0] = 0;
    for (int k = DAE_KIND_ODE; k <= DAE_KIND_MECH; k++) {
        if (!(kinds & 1u << k)) continue;
        if (out[0]) strcat(out, " ");
        strcat(out, k == DAE_KIND_MECH ? "mech" : dae_kind_name((dae_kind)k));
    }
}

/* -1: every index. */
static int wanted_index = -1;

static void print_problems(void)
{
    printf("%-16s %-11s %4s %6s %6s  %s\n", "PROBLEM", "KIND", "N", "INDEX", "STIFF", "TITLE");
    for (int i = 0; dae_problem_get(i); i++) {
        const dae_problem_info *p = dae_problem_get(i);
        if (wanted_index >= 0 && p->index != wanted_index) continue;
        printf("%-16s %-11s %4d %6d %6s  %s\n", p->name, dae_kind_name(p->kind), p->n, p->index,
               p->stiff ? "yes" : "no", p->title);
    }
}

static void print_solvers(void)
{
    printf("%-12s %-7s %-14s %5s  %-8s  %s\n", "SOLVER", "ORDER", "KINDS", "INDEX", "IMPLICIT", "TITLE");
    for (int i = 0; cli_method_at(i); i++) {
        const dae_method_info *m = cli_method_at(i);
        char order[32], kinds[64];
        if (wanted_index >= 0 && m->max_index < wanted_index) continue;
        snprintf(order, sizeof order, m->order_min == m->order_max ? "%d" : "%d-%d", m->order_min,
                 m->order_max);
        kinds_text(m->kinds, kinds);
        printf("%-12s %-7s %-14s %5d  %-8s  %s\n", m->name, order, kinds, m->max_index,
               m->implicit ? "yes" : "no", m->title);
    }
}

static void print_formulations(void)
{
    printf("%-12s %-11s %5s  %s\n", "FORMULATION", "KIND", "INDEX", "TITLE");
    for (int i = 0; dae_formulation_get(i); i++) {
        const dae_formulation_info *f = dae_formulation_get(i);
        printf("%-12s %-11s %5d  %s\n", f->name, dae_kind_name(f->kind), f->index, f->title);
    }
    printf("\n%-12s %-11s %5s  %s\n", "OF EQUATIONS", "KIND", "INDEX", "WHAT IT IS (docs/equations.md)");
    for (int i = 0; dae_equations_form(i); i++) {
        const dae_formulation_info *f = dae_equations_form(i);
        printf("%-12s %-11s %5d  %s\n", f->name, dae_kind_name(f->kind), f->index, f->summary);
    }
}

static int run(cli_args *args)
{
    const char *what = args->count ? args->argument[0] : "all", *index = cli_value(args, "index");
    int all = !strcmp(what, "all"), problems = all || !strcmp(what, "problems"),
        solvers = all || !strcmp(what, "solvers"), formulations = all || !strcmp(what, "formulations");
    if (!problems && !solvers && !formulations) {
        return cli_wrong(args, "\"%s\" cannot be listed; expected problems, solvers or formulations", what);
    }
    if (index) {
        char *end;
        long k = strtol(index, &end, 10);
        if (end == index || *end || k < 0 || k > 3)
            return cli_wrong(args, "--index %s: expected 0, 1, 2 or 3", index);
        wanted_index = (int)k;
    }
    if (args->json) {
        cli_wrote(dae_list_json(all ? NULL : what, wanted_index, cli_own(), cli_write_file, stdout));
        return EXIT_DONE;
    }
    if (problems) print_problems();
    if (all) putchar('\n');
    if (solvers) print_solvers();
    if (all) putchar('\n');
    if (formulations) print_formulations();
    return EXIT_DONE;
}

static const cli_option options[] = {
    {"index", "K", "0|1|2|3", "problems of this index; solvers that take it"},
    {"json", NULL, NULL, "one JSON object on standard output"},
    CLI_PLUGIN,
    {NULL, NULL, NULL, NULL},
};
static const char *const examples[] = {"list problems",
                                       "the test set",
                                       "list problems --index 3",
                                       "those of index 3",
                                       "list solvers --json",
                                       "for programs",
                                       NULL};
const cli_command cli_list = {"list",
                              "the problems, solvers and formulations there are",
                              "[problems|solvers|formulations]",
                              "problems|solvers|formulations",
                              0,
                              1,
                              options,
                              examples,
                              NULL,
                              run};
