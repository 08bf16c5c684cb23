/* The trajectory of a run as a gnuplot script. */
#include "table/plot.h"
#include "core/number.h"

#include <daedalus/run.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest_title = 100, room = 24 };
#define OFF 0.05      /* ours */
#define ROUNDING 1e-9 /* of the largest curve of the same unit: shows rounding only; ours */

static void put_title(const dae_run_result *r, char *text, size_t size)
{
    const char *title = r->problem->info ? r->problem->info->title : NULL;
    if (title && !strcmp(title, r->name)) title = NULL;
    dae_snprintf(text, size, "%s%s%s   (%s, rtol %g, atol %g)", r->name, title ? ": " : "",
                 title ? title : "", r->solver, r->rtol, r->atol);
    if (strlen(text) > longest_title) /* of models it can be whole sentences */
        dae_snprintf(text, size, "%s   (%s, rtol %g, atol %g)", r->name, r->solver, r->rtol, r->atol);
}

/* Half widths of the bands of a run with derivatives: what the solution changes by where every parameter is off by the part OFF of itself
 * (one that is 0: by OFF), independent of each other. NULL: there are none. */
static double *bands(const dae_run_result *r)
{
    const dae_problem *p = r->problem;
    size_t n = (size_t)r->n, size = n * (size_t)r->npoint;
    double *half = r->point_s ? calloc(size + 1, sizeof *half) : NULL;
    for (int j = 0; half && j < r->nsensitivity; j++) {
        int k = p->info ? dae_parameter_find(p, r->sensitivity[j]) : -1;
        char base[200];
        snprintf(base, sizeof base, "%.*s", (int)strcspn(r->sensitivity[j], "("), r->sensitivity[j]);
        int i = k < 0 ? dae_component_find(p, base) : -1;
        double value = k >= 0 ? p->parameter[k] : i >= 0 ? p->y0[i] : 0, off = OFF * (value != 0 ? value : 1);
        for (size_t q = 0; q < size; q++) {
            double d = off * r->point_s[q / n * n * (size_t)r->nsensitivity + (size_t)j * n + q % n];
            half[q] += d * d;
        }
    }
    for (size_t q = 0; half && q < size; q++) half[q] = sqrt(half[q]);
    return half;
}

/* Components and derived columns of every point side by side. A column that cannot be had at a point is a gap there. */
static double *with_derived(const dae_run_result *r, size_t n, size_t wide)
{
    const dae_problem *p = r->problem;
    size_t more = wide - n, count = (size_t)r->npoint;
    double *all = malloc((wide * count + 1) * sizeof *all), *own = malloc((more * count + 1) * sizeof *own);
    int bad = all && own ? p->derived.columns(p, r->npoint, r->point_t, r->point_y, NULL, NULL, own)
                         : DAE_ERR_MEMORY,
        whole = bad >= 0;
    for (size_t k = 0; k < count && bad != DAE_ERR_MEMORY; k++) {
        double *at = all + k * wide, *column = own + k * more;
        memcpy(at, r->point_y + k * n, n * sizeof *at);
        if (!whole) bad = p->derived.columns(p, 1, r->point_t + k, r->point_y + k * n, NULL, NULL, column);
        for (size_t i = 0; i < more; i++) at[n + i] = bad < 0 ? NAN : column[i];
    }
    free(own);
    if (bad != DAE_ERR_MEMORY) return all;
    free(all);
    return NULL;
}

/* Bands of the components among derived columns, which have none. */
static double *widened(double *half, const dae_run_result *r, size_t n, size_t wide)
{
    double *all = half ? calloc(wide * (size_t)r->npoint + 1, sizeof *all) : NULL;
    for (size_t k = 0; all && k < (size_t)r->npoint; k++)
        memcpy(all + k * wide, half + k * n, n * sizeof *all);
    free(half);
    return all;
}

/* Curves of mechanisms that show something: not those that stay 0 but for what the tolerances allow, or rounding beside others of their
 * unit. All of them, where none would be left. -1: out of memory. */
static int worth(const dae_curves *c, const int *drawn, int ndrawn, double atol, int *out)
{
    int count = 0;
    double *most = calloc((size_t)ndrawn, sizeof *most);
    if (!most) return -1;
    for (int k = 0; k < ndrawn; k++)
        for (int i = 0; i < c->npoint; i++)
            most[k] = fmax(most[k], fabs(c->y[(size_t)i * (size_t)c->n + (size_t)drawn[k]]));
    for (int k = 0; k < ndrawn; k++) {
        double scale = 0;
        for (int j = 0; j < ndrawn; j++)
            if (!strcmp(c->unit[drawn[j]], c->unit[drawn[k]])) scale = fmax(scale, most[j]);
        if (most[k] > ROUNDING * scale && most[k] > atol) out[count++] = drawn[k];
    }
    free(most);
    if (count) return count;
    memcpy(out, drawn, (size_t)ndrawn * sizeof *out);
    return ndrawn;
}

dae_status dae_run_plot(const dae_run_result *r, const char *terminal, dae_write_fn *write, void *user)
{
    const dae_problem *p = r->problem;
    size_t n = (size_t)r->n, wide = n;
    const int *drawn = p->drawn ? p->drawn : p->plot, ndrawn = p->drawn ? p->ndrawn : p->nplot;
    for (int k = 0; k < ndrawn; k++) {
        if (drawn[k] >= r->n) wide = n + (size_t)p->derived.ncolumn;
    }
    const char **name = calloc(2 * wide + 1, sizeof *name), **unit = name ? name + wide : NULL;
    double *all = wide > n ? with_derived(r, n, wide) : NULL;
    char(*buffer)[room] = calloc(n + 1, room), title[256];
    dae_status s = DAE_ERR_MEMORY;
    if (name && buffer && (all || wide == n)) {
        for (size_t k = n; k < wide; k++)
            name[k] = p->derived.column[k - n], unit[k] = p->derived.unit[k - n];
        for (int i = 0; i < r->n; i++) {
            name[i] = dae_component_name(p, i, buffer[i], room);
            unit[i] = dae_component_unit(p, i);
        }
        put_title(r, title, sizeof title);
        dae_curves c = {.n = (int)wide,
                        .npoint = r->npoint,
                        .x = r->point_t,
                        .y = all ? all : r->point_y,
                        .name = name,
                        .unit = unit,
                        .x_name = "t",
                        .x_unit = p->time_unit ? p->time_unit : "",
                        .chosen = drawn,
                        .nchosen = ndrawn,
                        .log_x = p->plot_log_t && r->t_end > r->t0,
                        .backwards = r->t_end < r->t0,
                        .title = title};
        int some = r->problem->system.kind == DAE_KIND_MECH && ndrawn, starved = 0;
        int *kept = some ? calloc((size_t)ndrawn, sizeof *kept) : NULL;
        if (some) {
            c.nchosen = kept ? worth(&c, drawn, ndrawn, r->atol, kept) : -1;
            c.chosen = kept;
            starved = c.nchosen < 0;
        }
        double *across = NULL, *half = bands(r);
        if (all) half = widened(half, r, n, wide);
        if (!half && r->point_s) starved = 1;
        c.band = half;
        if (half && strlen(title) + 60 < sizeof title)
            strcat(title, r->nsensitivity > 1 ? "; bands: parameters of --sens off by 5 % each"
                                              : "; band: parameter of --sens off by 5 %");
        if (p->plot_against && ndrawn > 1) {
            across = malloc((size_t)(r->npoint + 1) * sizeof *across);
            if (!across) starved = 1;
            for (int k = 0; across && k < r->npoint; k++)
                across[k] = c.y[(size_t)k * wide + (size_t)drawn[1]];
            c.x = across ? across : c.x;
            c.x_name = name[drawn[1]], c.x_unit = unit[drawn[1]];
            c.nchosen = 1, c.log_x = c.backwards = 0, c.band = NULL;
        }
        while (c.log_x && c.first < r->npoint && !(r->point_t[c.first] > 0)) c.first++;
        s = starved ? DAE_ERR_MEMORY : dae_curves_plot(&c, terminal, write, user);
        free(across);
        free(half);
        free(kept);
    }
    free(name);
    free(buffer);
    free(all);
    return s;
}
