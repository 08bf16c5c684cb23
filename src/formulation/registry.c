/* All formulations, in the order in which `list` shows them. Each entry has the info and a create function;
 * the result carries the functions that lift and lower states. */
#include <daedalus/formulation.h>

#include "core/error.h"

#include <math.h>
#include <string.h>

static const dae_formulation_info *const list[] = {NULL}; /* ended by NULL */

int dae_formulation_count(void)
{
    int n = 0;
    while (list[n]) n++;
    return n;
}

const dae_formulation_info *dae_formulation_get(int i)
{
    return i >= 0 && i < dae_formulation_count() ? list[i] : NULL;
}

const dae_formulation_info *dae_formulation_find(const char *name)
{
    for (int i = 0; name && list[i]; i++) {
        if (!strcmp(list[i]->name, name)) return list[i];
    }
    return NULL;
}

dae_formulation *dae_formulation_create(const dae_system *mech, const char *name, const dae_setting *setting,
                                        int nsetting, dae_error *err)
{
    (void)mech;
    (void)setting;
    (void)nsetting;
    dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "there is no formulation \"%s\" in this build", name);
    return NULL;
}

void dae_formulation_destroy(dae_formulation *f)
{
    (void)f; /* none can exist */
}

const dae_system *dae_formulation_system(const dae_formulation *f)
{
    (void)f;
    return NULL;
}

dae_status dae_formulation_lift(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    (void)f;
    (void)pvu;
    (void)y;
    return dae_fail(err, DAE_ERR_UNSUPPORTED, t, "no formulation");
}

dae_status dae_formulation_lower(dae_formulation *f, double t, const double *y, double *pvu, double *a,
                                 double *lambda, dae_error *err)
{
    (void)f;
    (void)y;
    (void)pvu;
    (void)a;
    (void)lambda;
    return dae_fail(err, DAE_ERR_UNSUPPORTED, t, "no formulation");
}
