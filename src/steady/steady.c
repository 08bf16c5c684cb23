/* A steady state near a guess: Newton's method, after a run where that alone fails. */
#include "steady/stationary.h"

#include "core/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

dae_steady_options dae_steady_options_default(const dae_problem *p)
{
    return (dae_steady_options){.t = p ? p->t0 : 0,
                                .simulation = dae_simulation_options_default(p),
                                .tolerance = 1e-10,
                                .max_iterations = 100};
}

void dae_steady_destroy(dae_steady_result *r)
{
    if (!r) return;
    free(r->y);
    free(r->re);
    free(r);
}

static dae_steady_result *create(int n, int most)
{
    dae_steady_result *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->n = n;
    r->y = calloc((size_t)n + 1, sizeof *r->y);
    r->re = calloc(2 * (size_t)most + 2, sizeof *r->re);
    r->im = r->re ? r->re + most : NULL;
    if (r->y && r->re) return r;
    dae_steady_destroy(r);
    return NULL;
}

/* The state after a run of this length from the guess in y, in place. */
static dae_status run_first(const dae_problem *p, const dae_steady_options *o, double length, double *y,
                            dae_error *err)
{
    dae_problem moved = *p;
    dae_simulation_options s = o->simulation;
    double *y0 = malloc(((size_t)dae_system_size(&p->system) + 1) * sizeof *y0);
    if (!y0) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    memcpy(y0, y, (size_t)dae_system_size(&p->system) * sizeof *y0);
    moved.y0 = y0;
    s.t_end = p->t0 + length;
    dae_simulation *sim = dae_simulation_open(&moved, &s, err);
    dae_status r = sim ? dae_simulation_start(sim, err) : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (r >= 0) r = dae_simulation_advance(sim, s.t_end, err);
    if (r >= 0) memcpy(y, dae_simulation_state(sim), (size_t)dae_system_size(&p->system) * sizeof *y);
    dae_simulation_close(sim);
    free(y0);
    return r;
}

/* Mechanisms stand still. */
static void stop(const dae_problem *p, double *y)
{
    if (p->system.kind != DAE_KIND_MECH) return;
    for (int i = 0; i < p->system.mech.nv; i++) y[p->system.mech.np + i] = 0;
}

static dae_status find(dae_stationary *s, const dae_problem *p, const dae_steady_options *o,
                       dae_steady_result *x, dae_error *err)
{
    const double *guess = o->guess ? o->guess : p->y0;
    size_t bytes = (size_t)x->n * sizeof *x->y;
    double length = p->t_end - p->t0;
    memcpy(x->y, guess, bytes);
    dae_status r = dae_stationary_anchor(s, x->y, err);
    if (r < 0) return r;
    if (o->settle > 0) {
        r = run_first(p, o, o->settle, x->y, err);
        x->settled = 1;
        if (r < 0 || r == DAE_CANCELLED) return r;
    }
    stop(p, x->y);
    r = dae_stationary_solve(s, o->tolerance, o->max_iterations, x->y, &x->iterations, err);
    if (r >= 0 || r != DAE_ERR_CONVERGENCE || o->settle != 0) return r;
    dae_error later = {0};
    memcpy(x->y, guess, bytes);
    dae_status run = run_first(p, o, length, x->y, &later);
    if (run == DAE_CANCELLED || run == DAE_ERR_MEMORY) {
        *err = later;
        return run;
    }
    if (run < 0) return r;
    x->settled = 1;
    stop(p, x->y);
    return dae_stationary_solve(s, o->tolerance, o->max_iterations, x->y, &x->iterations, err);
}

dae_steady_result *dae_steady(const dae_problem *p, const dae_steady_options *opt, dae_error *err)
{
    dae_error own = {0};
    if (!err) err = &own;
    *err = (dae_error){0};
    if (dae_need(p, "the problem", err) || dae_need(p->y0, "y0", err)) return NULL;
    dae_steady_options standard = dae_steady_options_default(p);
    if (!opt) opt = &standard;
    dae_stationary s = {0};
    int n = dae_system_size(&p->system);
    dae_steady_result *x = create(n, 2 * n);
    if (!x) dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_status r = x ? dae_stationary_open(&s, p, opt->t, NULL, err) : DAE_ERR_MEMORY;
    if (r >= 0) r = find(&s, p, opt, x, err);
    if (r >= 0 && r != DAE_CANCELLED) {
        x->conserved = s.conserved;
        if (!dae_stationary_frame(&s, x->y) && !dae_stationary_residual(&s, x->y, s.high)) {
            for (int i = 0; i < s.rows - s.conserved; i++) x->residual = fmax(x->residual, fabs(s.high[i]));
        }
        int count = dae_stationary_eigenvalues(&s, x->y, x->re, x->im);
        x->neigenvalue = count > 0 ? count : 0;
        double noise = dae_stationary_noise(&s, x->neigenvalue, x->re, x->im);
        for (int i = 0; i < x->neigenvalue; i++) x->unstable += x->re[i] > noise;
        if (s.starved) r = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    dae_stationary_close(&s);
    if (r >= 0 && r != DAE_CANCELLED) return x;
    dae_steady_destroy(x);
    return NULL;
}
