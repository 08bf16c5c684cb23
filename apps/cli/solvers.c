/* Solvers as studies name them: "radau5", "dop853/index1", "dop853/index1+project"; lists of them; "all". */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

/* SUNDIALS as Debian compiles it is not optimized: its times say nothing about its methods. */
static int left_out_of_all(const dae_method_info *m)
{
    return !strcmp(m->name, "cvode") || !strcmp(m->name, "cvode-adams") || !strcmp(m->name, "ida");
}

static int takes(const dae_method_info *m, const dae_problem *p)
{
    if (p->system.kind == DAE_KIND_MECH) {
        dae_options o = dae_options_default();
        o.own = cli_own();
        o.method = m->name;
        dae_error err = {0};
        dae_formulation *f = dae_formulation_open(&p->system, &o, &(dae_options){0}, &err);
        dae_formulation_destroy(f);
        return f != NULL;
    }
    return dae_method_takes(m, &p->system);
}

static int parse(const cli_args *args, const char *word, size_t length, cli_solver *s)
{
    *s = (cli_solver){0};
    if (length == 0 || length >= sizeof s->label)
        return cli_wrong(args, "--solvers: a name is empty or too long; expected a,b,c or all");
    memcpy(s->label, word, length);
    char method[sizeof s->label];
    memcpy(method, s->label, sizeof method);
    char *slash = strchr(method, '/');
    if (slash) {
        *slash++ = 0;
        char *plus = strchr(slash, '+');
        if (plus) {
            *plus++ = 0;
            if (strcmp(plus, "project") != 0)
                return cli_wrong(
                    args, "--solvers %s: expected SOLVER, SOLVER/FORMULATION or SOLVER/FORMULATION+project",
                    s->label);
            s->project = 1;
        }
        const dae_formulation_info *f = dae_formulation_find(slash);
        if (!f) return cli_check_formulation(args, slash);
        s->formulation = f->name;
    }
    s->method = cli_method(method);
    return s->method ? 0 : cli_check_solver(args, method);
}

int cli_solvers(const cli_args *args, const char *list, const dae_problem *p, cli_solver *out, int *count)
{
    *count = 0;
    if (!strcmp(list, "all")) {
        for (int i = 0; cli_method_at(i) && *count < CLI_MAX_SOLVERS; i++) {
            const dae_method_info *m = cli_method_at(i);
            if (left_out_of_all(m) || !takes(m, p)) continue;
            cli_solver *s = &out[(*count)++];
            *s = (cli_solver){.method = m};
            snprintf(s->label, sizeof s->label, "%s", m->name);
        }
        return *count ? 0 : cli_wrong(args, "there is no solver for %s", p->info->name);
    }
    for (;;) {
        size_t n = strcspn(list, ",");
        if (*count == CLI_MAX_SOLVERS)
            return cli_wrong(args, "--solvers: more than %d are not drawn in one diagram", CLI_MAX_SOLVERS);
        if (parse(args, list, n, &out[*count])) return EXIT_USAGE;
        for (int i = 0; i < *count; i++) {
            if (!strcmp(out[i].label, out[*count].label))
                return cli_wrong(args, "--solvers: %s is named twice", out[i].label);
        }
        ++*count;
        if (!list[n]) return 0;
        list += n + 1;
    }
}

void cli_solver_apply(const cli_solver *s, dae_options *o)
{
    static const dae_setting project = {"formulation.project", "1"};
    o->own = cli_own();
    o->method = s->method->name;
    o->formulation = s->formulation;
    if (s->project) {
        o->setting = &project;
        o->nsetting = 1;
    }
}
