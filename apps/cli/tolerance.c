/* --rtol and --atol of a run: a number for all components, a list with one for each, or NAME=VALUE for one. */
#include "cli.h"

#include <stdlib.h>
#include <string.h>

static int is_single(const char *text)
{
    return !strpbrk(text, ",=");
}

/* Numbers for all components, separated by commas. */
static int take_list(cli_args *args, const char *option, const char *text, int n, double *value)
{
    int count = 1;
    for (const char *c = text; *c; c++) count += *c == ',';
    if (count != n)
        return cli_wrong(args, "--%s %s: %d numbers, but the problem has %d components", option, text, count,
                         n);
    char *copy = malloc(strlen(text) + 1), *word = copy;
    if (!copy) return cli_wrong(args, "out of memory");
    strcpy(copy, text);
    int status = 0;
    for (int i = 0; i < n && !status; i++) {
        size_t length = strcspn(word, ",");
        word[length] = 0;
        status = cli_number(args, option, word, &value[i]);
        word += length + 1;
    }
    free(copy);
    return status;
}

/* NAME=VALUE */
static int take_component(cli_args *args, const dae_problem *p, const char *option, const char *text,
                          double *value)
{
    char name[128];
    size_t length = strcspn(text, "=");
    if (length >= sizeof name) return cli_wrong(args, "--%s %s: the name is too long", option, text);
    memcpy(name, text, length);
    name[length] = 0;
    int i = dae_component_find(p, name);
    if (i < 0)
        return cli_wrong(args, "--%s %s: there is no component \"%s\" (`daedalus info` lists them)", option,
                         text, name);
    return cli_number(args, option, text + length + 1, &value[i]);
}

/* The values of one of the two options in their order; *vector: they are not one number for all. */
static int take(cli_args *args, const dae_problem *p, const char *option, dae_options *o, double *value,
                int *vector)
{
    int n = dae_system_size(&p->system), is_atol = !strcmp(option, "atol");
    const double *factor = is_atol ? p->atol_factor : p->rtol_factor, *base = is_atol ? &o->atol : &o->rtol;
    const char *v;
    dae_error err = {0};
    *vector = 0;
    for (int i = 0; i < n; i++) value[i] = *base * (factor ? factor[i] : 1);
    for (int k = 0; (v = cli_value_at(args, option, k)); k++) {
        int status = 0;
        if (is_single(v)) {
            if (dae_options_set(o, option, v, &err) < 0)
                return cli_wrong(args, "--%s %s: %s", option, v, err.text);
            for (int i = 0; i < n; i++) value[i] = *base * (factor ? factor[i] : 1);
            *vector = 0;
            continue;
        }
        *vector = 1;
        status =
            strchr(v, '=') ? take_component(args, p, option, v, value) : take_list(args, option, v, n, value);
        if (status) return status;
    }
    return 0;
}

int cli_tolerances(cli_args *args, const dae_problem *p, dae_options *o, double **block)
{
    int n = dae_system_size(&p->system), relative, absolute;
    double *value = malloc(2 * (size_t)n * sizeof *value);
    *block = value;
    if (!value) return cli_wrong(args, "out of memory");
    if (take(args, p, "rtol", o, value, &relative)) return EXIT_USAGE;
    const char *r = cli_value(args, "rtol"), *a;
    int given = 0; /* an absolute tolerance for all components */
    for (int k = 0; (a = cli_value_at(args, "atol", k)); k++) given |= !strchr(a, '=');
    if (r && is_single(r) && !given && p->rtol > 0) o->atol = p->atol * (o->rtol / p->rtol);
    if (take(args, p, "atol", o, value + n, &absolute)) return EXIT_USAGE;
    if (relative) o->rtol_vec = value;
    if (absolute) o->atol_vec = value + n;
    return 0;
}
