#include "sensitivity/quantity.h"

#include <math.h>
#include <string.h>

int dae_quantity_time(const dae_problem *p)
{
    return dae_system_size(&p->system) + p->derived.ncolumn;
}

int dae_quantity_parameters(const dae_problem *p)
{
    return dae_quantity_time(p) + 1;
}

int dae_quantity_count(const dae_problem *p)
{
    int count = dae_quantity_parameters(p);
    for (const dae_parameter *q = p->info ? p->info->parameter : NULL; q && q->name; q++) count++;
    return count;
}

int dae_quantity_find(const dae_problem *p, const char *name)
{
    int k = dae_component_find(p, name);
    if (k >= 0) return k;
    for (int i = 0; i < p->derived.ncolumn; i++) {
        if (!strcmp(p->derived.column[i], name)) return dae_system_size(&p->system) + i;
    }
    if (!strcmp(name, "t")) return dae_quantity_time(p);
    k = p->info ? dae_parameter_find(p, name) : -1;
    return k < 0 ? -1 : dae_quantity_parameters(p) + k;
}

int dae_quantity_lookup(const char *name, dae_symbol *out, void *user)
{
    int k = dae_quantity_find(user, name);
    if (k < 0) return 0;
    *out = (dae_symbol){.variable = k, .dimension = {.soft = 1}};
    return 1;
}

dae_expression *dae_quantity_read(const dae_problem *p, const char *text, dae_error *err)
{
    dae_expression_error at = {0};
    dae_expression *e = dae_expression_create(text, dae_quantity_lookup, (void *)p, &at);
    if (!e)
        dae_fail(err, dae_message_status(at.text), NAN,
                 "\"%.80s\", column %d: %.120s; components, sensors, t and parameters may occur", text,
                 at.column + 1, at.text);
    return e;
}

int dae_quantity_has_columns(const dae_problem *p, const dae_expression *e)
{
    const int *v;
    int nv = dae_expression_variables(e, &v), n = dae_system_size(&p->system);
    for (int i = 0; i < nv; i++) {
        if (v[i] >= n && v[i] < dae_quantity_time(p)) return 1;
    }
    return 0;
}
