/* Errors along a trajectory, [RNY] section 3.1: Delta = max |D_i|, RelErr = Delta/|E*|, mean = sqrt(sum D_i^2/n). */
#include <daedalus/path.h>

#include "core/error.h"
#include "core/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { default_points = 1000 };
static const double tightest = 1e-12, loosest = 1e-9; /* of the path; ours */

struct dae_path {
    const dae_problem *p;
    int n, npoint;
    double *t, *y; /* npoint; n per point */
    char source[80];
};

void dae_path_destroy(dae_path *x)
{
    if (!x) return;
    free(x->t);
    free(x->y);
    free(x);
}

const char *dae_path_source(const dae_path *x)
{
    return x ? x->source : "";
}

void dae_path_ask(const dae_path *x, dae_run_options *opt)
{
    opt->trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    opt->points = x->npoint;
    opt->max_values = 4 * ((size_t)x->npoint + 1) * ((size_t)x->n + 1);
}

static dae_status keep(dae_path *x, const dae_run_result *r)
{
    size_t count = (size_t)r->npoint, n = (size_t)r->n;
    x->n = r->n;
    x->npoint = r->npoint;
    x->t = malloc((count + 1) * sizeof *x->t);
    x->y = malloc((count * n + 1) * sizeof *x->y);
    if (!x->t || !x->y) return DAE_ERR_MEMORY;
    memcpy(x->t, r->point_t, count * sizeof *x->t);
    memcpy(x->y, r->point_y, count * n * sizeof *x->y);
    dae_snprintf(x->source, sizeof x->source, "%s, rtol %.0e", r->solver, r->rtol);
    return DAE_OK;
}

dae_path *dae_path_create(const dae_problem *p, double t_end, int points, dae_error *err)
{
    dae_path *x = calloc(1, sizeof *x);
    dae_status s = x ? DAE_ERR_CONVERGENCE : DAE_ERR_MEMORY;
    double ratio = p->rtol > 0 && p->atol > 0 ? p->atol / p->rtol : 1;
    if (x) x->p = p;
    for (double tol = tightest; x && s == DAE_ERR_CONVERGENCE && tol < 1.5 * loosest; tol *= 10) {
        dae_run_options o = dae_run_options_default(p);
        x->n = dae_system_size(&p->system);
        x->npoint = points > 1 ? points : default_points;
        dae_path_ask(x, &o);
        o.t_end = t_end;
        o.options.rtol = tol;
        o.options.atol = ratio * tol;
        o.options.h0 = fmin(o.options.h0, tol);
        if (!dae_problem_switches(p)) o.events = NULL;
        dae_run_result *r = dae_run(p, &o, err);
        if (!r) s = DAE_ERR_MEMORY;
        else if (r->status == DAE_OK) s = keep(x, r);
        else if (err) *err = r->error;
        dae_run_destroy(r);
    }
    if (s == DAE_OK) return x;
    if (s == DAE_ERR_MEMORY) dae_fail(err, s, NAN, "out of memory");
    dae_path_destroy(x);
    return NULL;
}

/* Of component k; *size: its largest |E|, *mixed: the largest error relative to atol/rtol + |E|. */
static dae_path_error component(const dae_path *x, const dae_run_result *r, int k, double *size,
                                double *mixed)
{
    dae_path_error e = {0, x->t[0], NAN, 0};
    double sum = 0, floor = r->rtol > 0 ? r->atol / r->rtol : 1, at = 0;
    *size = *mixed = 0;
    for (int i = 0; i < r->npoint; i++) {
        size_t place = (size_t)i * (size_t)x->n + (size_t)k;
        double E = x->y[place], d = fabs(r->point_y[place] - E);
        sum += d * d;
        *size = fmax(*size, fabs(E));
        *mixed = fmax(*mixed, d / (floor + fabs(E)));
        if (d <= e.largest) continue;
        e.largest = d;
        e.t = x->t[i];
        at = fabs(E);
    }
    e.relative = at > 0 ? 100 * e.largest / at : NAN;
    e.mean = sqrt(sum / r->npoint);
    return e;
}

dae_status dae_path_compare(const dae_path *x, const dae_run_result *r, dae_path_error *error, double *scd,
                            double *mescd)
{
    double worst = 0, worst_mixed = 0;
    if (!x || !r || r->n != x->n || r->npoint < 2 || r->npoint > x->npoint) return DAE_ERR_INPUT;
    for (int i = 0; i < r->npoint; i++) {
        if (fabs(r->point_t[i] - x->t[i]) > 1e-12 * fmax(fabs(x->t[0]), fabs(x->t[x->npoint - 1])))
            return DAE_ERR_INPUT;
    }
    for (int k = 0; k < x->n; k++) {
        double size, mixed;
        dae_path_error e = component(x, r, k, &size, &mixed);
        if (error) error[k] = e;
        if (x->p->scored && !x->p->scored[k]) continue;
        if (size > 0) worst = fmax(worst, e.largest / size);
        worst_mixed = fmax(worst_mixed, mixed);
    }
    if (scd) *scd = worst > 0 ? -log10(worst) : NAN;
    if (mescd) *mescd = worst_mixed > 0 ? -log10(worst_mixed) : NAN;
    return DAE_OK;
}
