/* --rtol and --atol: a number for all components, a list with one for each, or NAME=VALUE for one. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

int cli_tolerate(const cli_args *args, dae_problem *p)
{
    static const char *const option[] = {"rtol", "atol"};
    dae_error err = {0};
    int count = 0;
    dae_setting *list = calloc((size_t)args->ngiven + 1, sizeof *list);
    if (!list) return cli_wrong(args, "out of memory");
    for (int k = 0; k < 2; k++) {
        const char *v;
        for (int i = 0; (v = cli_value_at(args, option[k], i)); i++)
            list[count++] = (dae_setting){option[k], v};
    }
    int bad = count && dae_problem_tolerate(p, list, count, &err) < 0;
    free(list);
    return bad ? cli_wrong(args, "--%s", err.text) : 0;
}

void cli_tolerances_given(const cli_args *args, const dae_problem *p, dae_options *o)
{
    if (!cli_has(args, "rtol") && !cli_has(args, "atol")) return;
    o->rtol = p->rtol;
    o->atol = p->atol;
}

int cli_ratios_only(const cli_args *args)
{
    static const char *const option[] = {"rtol", "atol"};
    for (int k = 0; k < 2; k++) {
        const char *v;
        for (int i = 0; (v = cli_value_at(args, option[k], i)); i++) {
            if (!strpbrk(v, ",="))
                return cli_wrong(
                    args,
                    "--%s %s: many tolerances are tried; give NAME=VALUE or a list, whose ratios "
                    "are kept (--range sets the tolerances)",
                    option[k], v);
        }
    }
    return 0;
}
