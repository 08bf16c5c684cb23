/* The trajectory as comma-separated values: names, "# units", numbers that read back exactly. */
#include "experiment/text.h"

dae_status dae_run_csv(const dae_run_result *r, dae_write_fn *write, void *user)
{
    dae_text x = {.write = write, .user = user};
    char buffer[24];
    dae_text_put(&x, "t");
    for (int i = 0; i < r->n; i++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, dae_component_name(r->problem, i, buffer, sizeof buffer));
    }
    dae_text_put(&x, "\n# ");
    dae_text_put(&x, r->problem->time_unit ? r->problem->time_unit : "");
    for (int i = 0; i < r->n; i++) {
        dae_text_put(&x, ",");
        dae_text_field(&x, dae_component_unit(r->problem, i));
    }
    dae_text_put(&x, "\n");
    for (int k = 0; k < r->npoint; k++) {
        const double *y = r->point_y + (size_t)k * (size_t)r->n;
        dae_text_print(&x, "%.17g", r->point_t[k]);
        for (int i = 0; i < r->n; i++) dae_text_print(&x, ",%.17g", y[i]);
        dae_text_put(&x, "\n");
    }
    return dae_text_end(&x);
}
