#include "problem/form.h"

#include "core/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

dae_form *dae_form_open(const dae_form_type *type, const void *model, dae_error *err)
{
    dae_form *f = calloc(1, sizeof *f);
    if (!f) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the form %s", type->info.name);
        return NULL;
    }
    f->type = type;
    f->model = model;
    if (type->create(f, err) >= 0) return f;
    dae_form_close(f);
    return NULL;
}

void dae_form_close(dae_form *f)
{
    if (!f) return;
    f->type->destroy(f);
    free(f);
}

const dae_form_type *dae_forms_find(const dae_forms *forms, const char *name, dae_error *err)
{
    char all[160];
    int used = snprintf(all, sizeof all, "%s", forms->as_written);
    if (!strcmp(name, forms->as_written)) return NULL;
    for (const dae_form_type *const *t = forms->type; *t; t++) {
        if (!strcmp((*t)->info.name, name)) return *t;
        if (!strcmp((*t)->info.name, forms->as_written)) continue;
        if (used > 0 && (size_t)used < sizeof all)
            used += snprintf(all + used, sizeof all - (size_t)used, ", %s", (*t)->info.name);
    }
    dae_fail(err, DAE_ERR_INPUT, NAN, "there is no formulation \"%s\" of these equations; there are: %s",
             name, all);
    return NULL;
}
