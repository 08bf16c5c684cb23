/* Periodic solutions by single shooting. With the flow y(T; x) and its derivative S by the initial values x, in an orthonormal basis V of
 * the states that a run can begin with:
 *
 *     (S V - V) dx + y'(T) dT = x - y(T),      f(x)^T V dx = 0        (the second, and dT, for systems that do not depend on time)
 *
 * by least squares, damped where the error grows; Floquet multipliers are the eigenvalues of V^T S V. */
#include <daedalus/steady.h>

#include "core/arena.h"
#include "core/error.h"
#include "core/vector.h"
#include "linalg/eigenvalues.h"
#include "linalg/least_squares.h"
#include "linalg/svd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 200,
    TRIES = 8,
    LOOKS = 1000,
    WINDOWS = 3,
    LONGER = 5
};                /* LOOKS: steps of a run at least, to see
 * it come back within a window, which becomes longer WINDOWS times */
#define RTOL 1e-9 /* ours: of the runs */
#define RANK 1e-8 /* ours: directions whose singular value is below this part of the largest are no states */
#define RETURNED 0.25 /* ours: of the size of the orbit: as near to where it began it has come back */
#define CIRCLES 1e-6  /* ours: multipliers whose modulus is above 1 by this are unstable */

typedef struct shooting {
    const dae_problem *p;
    const dae_periodic_options *o;
    int n, forced, dim; /* dim: columns of V */
    int stopped;        /* a run was */
    dae_problem moved;  /* p with another start */
    dae_arena *arena;
    const char **name; /* n: "x(0)" */
    int *algebraic;    /* n flags */
    double *x;         /* n: the point of the cycle */
    double T;
    double *end, *S, *V, *rate0, *rate1, *floor; /* n, n*n, n*n, n, n, n */
    double *A, *b, *C;                           /* work */
} shooting;

dae_periodic_options dae_periodic_options_default(const dae_problem *p)
{
    dae_periodic_options o = {
        .sensitivity = dae_sensitivity_options_default(p), .tolerance = 1e-8, .max_iterations = 30};
    dae_options *a = &o.sensitivity.simulation.options;
    if (a->rtol > RTOL) {
        a->atol *= RTOL / a->rtol;
        a->rtol = RTOL;
    }
    return o;
}

void dae_periodic_destroy(dae_periodic_result *r)
{
    if (!r) return;
    free(r->y);
    free(r->re);
    free(r);
}

static double size_of(const shooting *s, int i, double y)
{
    return fabs(y) + s->floor[i];
}

/* rms of the difference relative to y */
static double difference(const shooting *s, const double *y, const double *z)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        double d = (y[i] - z[i]) / size_of(s, i, y[i]);
        sum += d * d;
    }
    return sqrt(sum / s->n);
}

/* ---- Building ------------------------------------------------------------------------------------------------------- */

static dae_status no_memory(dae_error *err)
{
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* Variables whose derivative does not occur follow from the others. */
static void find_algebraic(shooting *s)
{
    const dae_system *sys = &s->p->system;
    for (int i = 0; i < s->n; i++) {
        s->algebraic[i] = 0;
        if (sys->kind == DAE_KIND_IDE && sys->ide.algebraic) s->algebraic[i] = sys->ide.algebraic[i];
        if (sys->kind == DAE_KIND_DAE && sys->dae.mass.n && sys->dae.mass.pattern.storage == DAE_DIAGONAL)
            s->algebraic[i] = sys->dae.mass.a[i] == 0;
    }
}

static dae_status build(shooting *s, dae_error *err)
{
    size_t n = (size_t)s->n;
    char buffer[64];
    s->arena = dae_arena_create();
    if (!s->arena) return no_memory(err);
    double **vector[] = {&s->x, &s->end, &s->rate0, &s->rate1, &s->floor};
    for (size_t k = 0; k < 5; k++) *vector[k] = dae_arena_reals(s->arena, n);
    s->S = dae_arena_reals(s->arena, n * n);
    s->V = dae_arena_reals(s->arena, n * n);
    s->C = dae_arena_reals(s->arena, n * n);
    s->A = dae_arena_reals(s->arena, (n + 1) * (n + 1));
    s->b = dae_arena_reals(s->arena, 2 * n + 2);
    s->algebraic = dae_arena_ints(s->arena, n);
    s->name = dae_arena_take(s->arena, n, sizeof *s->name);
    if (dae_arena_failed(s->arena)) return no_memory(err);
    for (int i = 0; i < s->n; i++) {
        const char *base = dae_component_name(s->p, i, buffer, sizeof buffer);
        char *own = dae_arena_take(s->arena, strlen(base) + 4, 1);
        if (!own) return no_memory(err);
        snprintf(own, strlen(base) + 4, "%s(0)", base);
        s->name[i] = own;
        double size = s->p->rtol > 0 ? s->p->atol / s->p->rtol : 1e-3;
        if (s->p->atol_factor) size *= s->p->atol_factor[i];
        s->floor[i] = fmax(fmin(size, 1), 1e-8);
    }
    find_algebraic(s);
    s->moved = *s->p;
    s->moved.y0 = s->x;
    memcpy(s->x, s->o->guess ? s->o->guess : s->p->y0, n * sizeof *s->x);
    return DAE_OK;
}

/* ---- A first guess ---------------------------------------------------------------------------------------------------- */

/* A run that was stopped ends the search. */
static dae_status or_stopped(shooting *s, dae_status r)
{
    if (r == DAE_CANCELLED) s->stopped = 1;
    return r == DAE_CANCELLED ? DAE_ERR_CALLBACK : r;
}

/* y after a run of this length from y, in place. */
static dae_status go_on(shooting *s, double length, dae_error *err)
{
    dae_simulation_options o = s->o->sensitivity.simulation;
    o.t_end = s->p->t0 + length;
    dae_simulation *sim = dae_simulation_open(&s->moved, &o, err);
    dae_status r = sim ? dae_simulation_start(sim, err) : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (r >= 0) r = dae_simulation_advance(sim, o.t_end, err);
    r = or_stopped(s, r);
    if (r == DAE_EVENT)
        r = dae_fail(err, DAE_ERR_EVENT, dae_simulation_time(sim),
                     "an event ended the run before a cycle was found");
    if (r >= 0) memcpy(s->x, dae_simulation_state(sim), (size_t)s->n * sizeof *s->x);
    dae_simulation_close(sim);
    return r;
}

/* The side of the plane through x across its rate. */
static double side(const shooting *s, const double *y)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        double w = s->b[i];
        sum += s->rate0[i] * (y[i] - s->x[i]) / (w * w);
    }
    return sum;
}

static double away(const shooting *s, const double *y)
{
    double sum = 0;
    for (int i = 0; i < s->n; i++) {
        double d = (y[i] - s->x[i]) / s->b[i];
        sum += d * d;
    }
    return sqrt(sum);
}

/* The time after which the run from x comes back to it: through the plane across its rate, near x. Two runs: the first measures the
 * size of the orbit in each component, s->b. */
static dae_status find_period(shooting *s, double length, dae_error *err)
{
    dae_simulation_options o = s->o->sensitivity.simulation;
    o.t_end = s->p->t0 + length;
    double fine = length / LOOKS;
    if (!(o.options.h_max > 0 && o.options.h_max < fine)) o.options.h_max = fine;
    for (int i = 0; i < s->n; i++) s->b[i] = 0;
    s->T = 0;
    double farthest = 0;
    for (int pass = 0; pass < 2; pass++) {
        dae_simulation *sim = dae_simulation_open(&s->moved, &o, err);
        dae_status r = sim               ? dae_simulation_start(sim, err)
                       : err->status < 0 ? err->status
                                         : DAE_ERR_INTERNAL;
        double before = 0, t = s->p->t0;
        for (int k = 0; r == DAE_OK && !(s->T > 0) && t < o.t_end; k++) {
            double last = t;
            r = dae_simulation_step(sim, err);
            t = dae_simulation_time(sim);
            if (r != DAE_OK) break;
            if (k == 0 && dae_simulation_interpolate(sim, last, s->end, s->rate0, NULL) < 0)
                for (int i = 0; i < s->n; i++)
                    s->rate0[i] = (dae_simulation_state(sim)[i] - s->x[i]) / (t - last);
            const double *y = dae_simulation_state(sim);
            if (!pass) {
                for (int i = 0; i < s->n; i++) s->b[i] = fmax(s->b[i], fabs(y[i] - s->x[i]));
                continue;
            }
            double now = side(s, y), far = away(s, y);
            farthest = fmax(farthest, far);
            if (k > 2 && before < 0 && now >= 0 && far < RETURNED * sqrt(s->n) + 0.5 * farthest) {
                double part = before / (before - now), at = last + part * (t - last);
                int good = 1;
                if (dae_simulation_interpolate(sim, at, s->end, NULL, NULL) >= 0)
                    good = away(s, s->end) < RETURNED * farthest;
                if (good) s->T = at - s->p->t0;
            }
            before = now;
        }
        dae_simulation_close(sim);
        r = or_stopped(s, r);
        if (r < 0) return r;
        if (pass) break;
        for (int i = 0; i < s->n; i++) s->b[i] = fmax(s->b[i], s->floor[i]);
    }
    if (s->T > 0) return DAE_OK;
    return dae_fail(
        err, DAE_ERR_CONVERGENCE, NAN,
        "the run did not come back to where it was within %g units of time: give a guess of the period, or a "
        "longer run",
        length);
}

/* ---- Shooting --------------------------------------------------------------------------------------------------------------- */

/* y(T) and S from x; V and the rate at the start. */
static dae_status shoot(shooting *s, dae_error *err)
{
    int n = s->n;
    dae_sensitivity_options o = s->o->sensitivity;
    o.simulation.t_end = s->p->t0 + s->T;
    dae_sensitivity *d = dae_sensitivity_open(&s->moved, &o, s->name, n, err);
    dae_status r = d ? dae_sensitivity_start(d, err) : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (r >= 0) {
        double *P = s->S, *sigma = s->b;
        memcpy(s->end, dae_sensitivity_state(d), (size_t)n * sizeof *s->end);
        memcpy(P, dae_sensitivity_values(d), (size_t)n * (size_t)n * sizeof *P);
        for (int k = 0; k < n * n; k++) { /* algebraic variables are no directions of their own */
            if (s->algebraic[k % n] || s->algebraic[k / n]) P[k] = 0;
        }
        int whole = 1;
        for (int k = 0; k < n * n; k++) whole &= P[k] == (k % (n + 1) == 0);
        memcpy(s->V, P, (size_t)n * (size_t)n * sizeof *P);
        s->dim = n;
        if (!whole) {
            dae_svd(n, n, s->V, sigma, NULL);
            for (s->dim = 0; s->dim < n && sigma[s->dim] > RANK * sigma[0]; s->dim++) continue;
        }
        memcpy(s->x, s->end, (size_t)n * sizeof *s->x); /* consistent now */
        r = dae_sensitivity_advance(d, o.simulation.t_end, err);
    }
    r = or_stopped(s, r);
    if (r == DAE_EVENT)
        r = dae_fail(err, DAE_ERR_EVENT, dae_sensitivity_time(d), "an event ended the run within the period");
    if (r >= 0) {
        memcpy(s->end, dae_sensitivity_state(d), (size_t)n * sizeof *s->end);
        memcpy(s->S, dae_sensitivity_values(d), (size_t)n * (size_t)n * sizeof *s->S);
    }
    dae_sensitivity_close(d);
    return r;
}

/* y' at x (start) and at the end: of a run that only starts. */
static dae_status rate_at(shooting *s, const double *y, double t, double *out, dae_error *err)
{
    const dae_system *sys = &s->p->system;
    if (sys->kind == DAE_KIND_ODE) {
        if (!sys->ode.f(t, y, out, sys->ode.user)) return DAE_OK;
        return dae_fail(err, DAE_ERR_UNDEFINED, t, "the system cannot be evaluated on the cycle");
    }
    dae_problem here = s->moved;
    dae_simulation_options o = s->o->sensitivity.simulation;
    double d = 1e-4 * s->T;
    here.y0 = y;
    o.t_end = s->p->t0 + d;
    o.events = NULL;
    dae_simulation *sim = dae_simulation_open(&here, &o, err);
    dae_status r = sim ? dae_simulation_start(sim, err) : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (r >= 0) r = or_stopped(s, dae_simulation_step(sim, err));
    if (r >= 0) r = dae_simulation_interpolate(sim, s->p->t0, s->b, out, err);
    dae_simulation_close(sim);
    return r < 0 ? r : DAE_OK;
}

/* dx (in x units, into b[0..n-1]) and dT (*dT) of Newton's method. */
static dae_status correct(shooting *s, double *dT, dae_error *err)
{
    int n = s->n, rows = n + 1, columns = s->dim + 1;
    double *A = s->A, *b = s->b;
    if (!s->forced) {
        dae_status r = rate_at(s, s->x, s->p->t0, s->rate0, err);
        if (r >= 0) r = rate_at(s, s->end, s->p->t0, s->rate1, err);
        if (r < 0) return r;
    }
    for (int i = 0; i < n; i++) b[i] = s->algebraic[i] ? 0 : (s->x[i] - s->end[i]) / size_of(s, i, s->x[i]);
    b[n] = 0;
    double steep = 0;
    for (int i = 0; i < n && !s->forced; i++) {
        double w = size_of(s, i, s->x[i]);
        steep += s->rate0[i] / w * s->rate0[i] / w;
    }
    steep = sqrt(steep);
    for (int c = 0; c < columns; c++) {
        const double *v = s->V + c * n;
        double along = 0;
        for (int i = 0; i < n; i++) {
            double w = size_of(s, i, s->x[i]), sum = 0;
            if (c < s->dim) {
                for (int k = 0; k < n; k++) sum += s->S[k * n + i] * v[k];
                sum -= v[i];
                if (!s->forced) along += s->rate0[i] / w * v[i] / w;
            } else {
                sum = s->forced ? 0 : s->rate1[i] * s->T;
            }
            A[c * rows + i] = s->algebraic[i] ? 0 : sum / w;
        }
        A[c * rows + n] = c < s->dim ? (steep > 0 ? along / steep : 0) : s->forced;
    }
    int rank = dae_least_squares(rows, columns, A, b, 1e-12);
    if (rank == -1) return no_memory(err);
    if (rank < 0)
        return dae_fail(err, DAE_ERR_SINGULAR, NAN, "the matrix of the shooting method is not finite");
    *dT = s->forced ? 0 : b[s->dim] * s->T;
    for (int i = 0; i < n; i++) s->C[i] = 0;
    for (int c = 0; c < s->dim; c++) dae_axpy(n, b[c], s->V + c * n, s->C);
    memcpy(b, s->C, (size_t)n * sizeof *b);
    return DAE_OK;
}

static dae_status newton(shooting *s, dae_periodic_result *r, dae_error *err)
{
    int n = s->n;
    double dT = 0, *old = malloc(2 * (size_t)n * sizeof *old), *dx = old ? old + n : NULL;
    if (!old) return no_memory(err);
    dae_status status = shoot(s, err);
    double off = status < 0 ? INFINITY : difference(s, s->x, s->end);
    for (r->iterations = 0; status >= 0; r->iterations++) {
        r->residual = off;
        status = correct(s, &dT, err);
        if (status < 0) break;
        memcpy(dx, s->b, (size_t)n * sizeof *dx);
        memcpy(old, s->x, (size_t)n * sizeof *old);
        double norm = fabs(dT / s->T), was = s->T, sum = 0;
        for (int i = 0; i < n; i++) sum += dx[i] / size_of(s, i, s->x[i]) * dx[i] / size_of(s, i, s->x[i]);
        norm = fmax(norm, sqrt(sum / n));
        if (norm <= s->o->tolerance && off <= 1e2 * s->o->tolerance) break;
        if (r->iterations == s->o->max_iterations) {
            status = dae_fail(err, DAE_ERR_CONVERGENCE, NAN,
                              "no cycle was found: after %d iterations the correction is %.2g, the end is "
                              "%.2g off the start",
                              r->iterations, norm, off);
            break;
        }
        double factor = 1, best = off;
        if (fabs(dT) > 0.3 * was) factor = 0.3 * was / fabs(dT);
        for (int k = 0; k < TRIES; k++, factor /= 2) {
            dae_error inner = {0};
            for (int i = 0; i < n; i++) s->x[i] = s->algebraic[i] ? s->end[i] : old[i] + factor * dx[i];
            s->T = was + factor * dT;
            status = shoot(s, &inner);
            best = status < 0 ? INFINITY : difference(s, s->x, s->end);
            if (best < off || (best < 1e-6 && factor == 1)) break;
            if (status == DAE_ERR_MEMORY || s->stopped) {
                *err = inner;
                break;
            }
            if (k + 1 == TRIES)
                status = dae_fail(err, DAE_ERR_CONVERGENCE, NAN,
                                  "no cycle was found: the end stays %.2g off the start; let the run settle "
                                  "longer, or give "
                                  "another guess%s%.80s",
                                  off, inner.text[0] ? ": " : "", inner.text);
        }
        off = best;
    }
    free(old);
    return status;
}

/* Eigenvalues of V^T S V. */
static dae_status multipliers(shooting *s, dae_periodic_result *r, dae_error *err)
{
    int n = s->n, d = s->dim;
    for (int c = 0; c < d; c++) {
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += s->S[k * n + i] * s->V[c * n + k];
            s->C[i] = sum;
        }
        for (int i = 0; i < d; i++) s->A[c * d + i] = dae_dot(n, s->V + i * n, s->C);
    }
    int bad = dae_eigenvalues(d, s->A, r->re, r->im);
    if (bad <= DAE_EIGENVALUES_NO_MEMORY) return no_memory(err);
    if (bad) return dae_fail(err, DAE_ERR_CONVERGENCE, NAN, "the Floquet multipliers did not converge");
    r->nmultiplier = d;
    for (int i = 1; i < d; i++) {
        double a = r->re[i], b = r->im[i], size = hypot(a, b);
        int k = i;
        for (; k > 0 && hypot(r->re[k - 1], r->im[k - 1]) < size; k--)
            r->re[k] = r->re[k - 1], r->im[k] = r->im[k - 1];
        r->re[k] = a;
        r->im[k] = b;
    }
    int one = -1; /* along the cycle */
    for (int i = 0; i < d && !s->forced; i++) {
        if (one < 0 || hypot(r->re[i] - 1, r->im[i]) < hypot(r->re[one] - 1, r->im[one])) one = i;
    }
    for (int i = 0; i < d; i++) r->unstable += i != one && hypot(r->re[i], r->im[i]) > 1 + CIRCLES;
    return DAE_OK;
}

/* ---- All ---------------------------------------------------------------------------------------------------------------------- */

static dae_status solve(shooting *s, dae_periodic_result *r, dae_error *err)
{
    double length = s->p->t_end - s->p->t0, settle = s->o->settle > 0 ? s->o->settle : length;
    dae_status status = build(s, err);
    s->T = s->o->period;
    if (status >= 0 && s->forced) settle = ceil(settle / s->T - 1e-9) * s->T; /* the phase stays */
    if (status >= 0 && s->o->settle >= 0) status = go_on(s, settle, err);
    double window = fmax(length, settle);
    for (int k = 0; k < WINDOWS && status >= 0 && !(s->T > 0); k++, window *= LONGER) {
        status = find_period(s, window, err);
        if (status == DAE_ERR_CONVERGENCE && k + 1 < WINDOWS) status = DAE_OK;
    }
    if (status >= 0) status = newton(s, r, err);
    if (status >= 0) status = multipliers(s, r, err);
    if (status < 0) return status;
    memcpy(r->y, s->x, (size_t)s->n * sizeof *r->y);
    r->t = s->p->t0;
    r->period = s->T;
    r->forced = s->forced;
    if (s->forced || r->nmultiplier == 0) return DAE_OK;
    double moved = 0; /* a steady state is no cycle */
    for (int i = 0; i < s->n; i++) moved = fmax(moved, fabs(s->rate0[i]) * s->T / size_of(s, i, s->x[i]));
    if (moved > 1e-4) return DAE_OK;
    return dae_fail(
        err, DAE_ERR_CONVERGENCE, NAN,
        "the search came to a steady state, where nothing moves; give a point of the cycle as a start");
}

dae_periodic_result *dae_periodic(const dae_problem *p, const dae_periodic_options *opt, dae_error *err)
{
    dae_error own = {0};
    if (!err) err = &own;
    *err = (dae_error){0};
    if (dae_need(p, "the problem", err) || dae_need(p->y0, "y0", err)) return NULL;
    dae_periodic_options standard = dae_periodic_options_default(p);
    if (!opt) opt = &standard;
    int n = dae_system_size(&p->system);
    if (n > MOST || opt->period < 0 || (opt->forced && !(opt->period > 0))) {
        if (n > MOST)
            dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "%d components; shooting is for %d at most", n, MOST);
        else if (opt->period < 0)
            dae_fail(err, DAE_ERR_INPUT, NAN, "period = %g must not be negative", opt->period);
        else dae_fail(err, DAE_ERR_INPUT, NAN, "a forced system needs its period");
        return NULL;
    }
    shooting s = {.p = p, .o = opt, .n = n, .forced = opt->forced};
    dae_periodic_result *r = calloc(1, sizeof *r);
    if (r) {
        r->n = n;
        r->y = calloc((size_t)n + 1, sizeof *r->y);
        r->re = calloc(2 * (size_t)n + 2, sizeof *r->re);
        r->im = r->re ? r->re + n : NULL;
    }
    dae_status status = r && r->y && r->re ? solve(&s, r, err) : no_memory(err);
    dae_arena_destroy(s.arena);
    if (status >= 0) return r;
    if (s.stopped) dae_fail(err, DAE_CANCELLED, NAN, "stopped before a cycle was found");
    dae_periodic_destroy(r);
    return NULL;
}
