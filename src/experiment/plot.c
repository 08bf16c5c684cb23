/* The trajectory of a run as a gnuplot script. */
#include "table/plot.h"
#include "core/number.h"

#include <daedalus/run.h>

#include <stdlib.h>
#include <string.h>

enum { longest_title = 100, room = 24 };

static void put_title(const dae_run_result *r, char *text, size_t size)
{
    const char *title = r->problem->info ? r->problem->info->title : NULL;
    dae_snprintf(text, size, "%s%s%s   (%s, rtol %g, atol %g)", r->name, title ? ": " : "",
                 title ? title : "", r->solver, r->rtol, r->atol);
    if (strlen(text) > longest_title) /* of models it can be whole sentences */
        dae_snprintf(text, size, "%s   (%s, rtol %g, atol %g)", r->name, r->solver, r->rtol, r->atol);
}

dae_status dae_run_plot(const dae_run_result *r, const char *terminal, dae_write_fn *write, void *user)
{
    const dae_problem *p = r->problem;
    size_t n = (size_t)r->n;
    const char **name = calloc(2 * n + 1, sizeof *name), **unit = name ? name + n : NULL;
    char(*buffer)[room] = calloc(n + 1, room), title[256];
    dae_status s = DAE_ERR_MEMORY;
    if (name && buffer) {
        for (int i = 0; i < r->n; i++) {
            name[i] = dae_component_name(p, i, buffer[i], room);
            unit[i] = dae_component_unit(p, i);
        }
        put_title(r, title, sizeof title);
        dae_curves c = {.n = r->n,
                        .npoint = r->npoint,
                        .x = r->point_t,
                        .y = r->point_y,
                        .name = name,
                        .unit = unit,
                        .x_name = "t",
                        .x_unit = p->time_unit ? p->time_unit : "",
                        .chosen = p->plot,
                        .nchosen = p->nplot,
                        .log_x = p->plot_log_t && r->t_end > r->t0,
                        .backwards = r->t_end < r->t0,
                        .title = title};
        double *across = NULL;
        if (p->plot_against && p->nplot > 1) {
            across = malloc((size_t)(r->npoint + 1) * sizeof *across);
            for (int k = 0; across && k < r->npoint; k++)
                across[k] = r->point_y[(size_t)k * n + (size_t)p->plot[1]];
            c.x = across ? across : c.x;
            c.x_name = name[p->plot[1]], c.x_unit = unit[p->plot[1]];
            c.nchosen = 1, c.log_x = c.backwards = 0;
        }
        while (c.log_x && c.first < r->npoint && !(r->point_t[c.first] > 0)) c.first++;
        s = dae_curves_plot(&c, terminal, write, user);
        free(across);
    }
    free(name);
    free(buffer);
    return s;
}
