/* The trajectory as comma-separated values: names, "# units", numbers that read back exactly. */
#include "core/text.h"

#include <daedalus/experiment.h>

#include <stdlib.h>

dae_status dae_run_csv(const dae_run_result *r, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    const dae_derived *d = &r->problem->derived;
    char buffer[24];
    double *value = calloc((size_t)r->npoint * (size_t)d->ncolumn + 1, sizeof *value);
    if (!value) return DAE_ERR_MEMORY;
    if (d->ncolumn && d->columns(r->problem, r->npoint, r->point_t, r->point_y, NULL, NULL, value) < 0) {
        free(value);
        return DAE_ERR_MEMORY;
    }
    dae_text_put(&x, "t");
    for (int i = 0; i < r->n; i++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, dae_component_name(r->problem, i, buffer, sizeof buffer));
    }
    for (int i = 0; i < d->ncolumn; i++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, d->column[i]);
    }
    dae_text_put(&x, "\n# ");
    dae_text_put(&x, r->problem->time_unit ? r->problem->time_unit : "");
    for (int i = 0; i < r->n; i++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, dae_component_unit(r->problem, i));
    }
    for (int i = 0; i < d->ncolumn; i++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, d->unit[i]);
    }
    dae_text_put(&x, "\n");
    for (int k = 0; k < r->npoint; k++) {
        const double *y = r->point_y + (size_t)k * (size_t)r->n;
        dae_text_print(&x, "%.17g", r->point_t[k]);
        for (int i = 0; i < r->n; i++) dae_text_print(&x, ",%.17g", y[i]);
        for (int i = 0; i < d->ncolumn; i++)
            dae_text_print(&x, ",%.17g", value[(size_t)k * (size_t)d->ncolumn + (size_t)i]);
        dae_text_put(&x, "\n");
    }
    free(value);
    return dae_text_end(&x);
}
