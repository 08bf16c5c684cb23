/* Explicit Euler with step size control, as an own method beside those of the library.
 *     y1 = y0 + h f(t0, y0),    error estimate  h/2 (f(t1, y1) - f(t0, y0)),
 * the difference to the trapezoidal rule, [HNW] II.4. Dense output: the cubic Hermite polynomial.
 *
 *     cc -shared -fPIC -O2 $(pkg-config --cflags daedalus) -o euler.so euler.c
 *     daedalus workprec hires --plugin ./euler.so --solvers euler,rkc --range 2:4:1 */
#include <daedalus/plugin.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAFETY 0.9 /* ours, as the limits of a change of h: 0.2 and 5 */

typedef struct euler {
    dae_ivp *ivp;
    double *last;           /* 3: t_old, t, next step; in the arena, so that a checkpoint has them */
    double *y;              /* n: the solution at t */
    double *y0, *f0;        /* n each: where the last step began */
    double *y1, *f1;        /* n each: where it ended */
    double *error, *weight; /* n each */
} euler;

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    euler *e = calloc(1, sizeof *e);
    (void)option;
    if (e) {
        double **array[] = {&e->y, &e->y0, &e->f0, &e->y1, &e->f1, &e->error, &e->weight};
        for (int k = 0; k < 7; k++) *array[k] = dae_arena_reals(ivp->arena, (size_t)ivp->n);
        e->last = dae_arena_reals(ivp->arena, 3);
        e->ivp = ivp;
        if (!dae_arena_failed(ivp->arena)) return e;
    }
    free(e);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for Euler's method on %d equations", ivp->n);
    return NULL;
}

static void copy(const euler *e, const double *from, double *to)
{
    memcpy(to, from, (size_t)e->ivp->n * sizeof *to);
}

/* sqrt(mean (error/weight)^2) */
static double norm(const euler *e)
{
    double s = 0;
    for (int i = 0; i < e->ivp->n; i++) s += e->error[i] / e->weight[i] * (e->error[i] / e->weight[i]);
    return sqrt(s / e->ivp->n);
}

static void report(euler *e)
{
    e->ivp->t_old = e->last[0];
    e->ivp->t = e->last[1];
    e->ivp->h_next = e->last[2];
    e->ivp->y = e->y;
    e->ivp->order = 1;
}

/* r is what an evaluation returned: < 0 stop, > 0 cannot be evaluated. */
static dae_status failed(euler *e, int r)
{
    if (r < 0) return dae_ivp_fail(e->ivp, DAE_ERR_CALLBACK, "the right-hand side asked to stop");
    return dae_ivp_fail(e->ivp, DAE_ERR_UNDEFINED, "the right-hand side cannot be evaluated at t = %g",
                        e->last[1]);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    euler *e = self;
    (void)yp;
    if (y != e->y) copy(e, y, e->y);
    e->last[0] = e->last[1] = t;
    if (e->ivp->opt->fixed_step > 0) h = e->ivp->opt->fixed_step;
    if (h == 0) {
        int r = dae_ivp_f(e->ivp, t, e->y, e->f0);
        if (r) return failed(e, r);
        h = dae_ivp_first_step(e->ivp, t, e->y, e->f0, 1);
    }
    e->last[2] = e->ivp->direction * fabs(h);
    report(e);
    return DAE_OK;
}

static dae_status step(void *self)
{
    euler *e = self;
    dae_ivp *ivp = e->ivp;
    int n = ivp->n, fixed = ivp->opt->fixed_step > 0;
    double t0 = e->last[1], h = e->last[2], h_max = ivp->opt->h_max;
    double goal = dae_ivp_piece_end(ivp);
    copy(e, e->y, e->y0);
    int r = dae_ivp_f(ivp, t0, e->y0, e->f0);
    if (r) return failed(e, r);
    for (;;) {
        if (h_max > 0 && fabs(h) > h_max) h = ivp->direction * h_max;
        int last = 1.01 * fabs(h) >= fabs(goal - t0);
        double t1 = last ? goal : t0 + h, dt = t1 - t0;
        if (fabs(dt) <= 4 * DBL_EPSILON * fabs(t0)) {
            return dae_ivp_fail(ivp, DAE_ERR_STEP_TOO_SMALL, "step fell to %.3g; stiff? try radau5", dt);
        }
        ivp->stats->steps++;
        for (int i = 0; i < n; i++) e->y1[i] = e->y0[i] + dt * e->f0[i];
        r = dae_ivp_f(ivp, t1, e->y1, e->f1);
        if (r < 0 || (r > 0 && fixed)) return failed(e, r);
        for (int i = 0; i < n && !r; i++) {
            e->error[i] = dt / 2 * (e->f1[i] - e->f0[i]);
            e->weight[i] = ivp->atol[i] + ivp->rtol[i] * fmax(fabs(e->y0[i]), fabs(e->y1[i]));
        }
        double err = fixed ? 0 : r ? 100 : norm(e);
        double next = fixed ? h : dt * fmin(5, fmax(0.2, SAFETY / sqrt(err + DBL_MIN)));
        if (err <= 1) {
            copy(e, e->y1, e->y);
            e->last[0] = t0;
            e->last[1] = t1;
            e->last[2] = last && fabs(next) < fabs(h) ? h : next;
            ivp->stats->accepted++;
            report(e);
            return DAE_OK;
        }
        ivp->stats->rejected++;
        h = next;
    }
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    const euler *e = self;
    double h = e->last[1] - e->last[0], s = h != 0 ? (t - e->last[0]) / h : 0;
    double b0 = (1 - s) * (1 - s), b1 = s * s;
    for (int i = 0; i < e->ivp->n; i++) {
        double d = h != 0 ? e->y1[i] - e->y0[i] : 0, y0 = h != 0 ? e->y0[i] : e->y[i];
        if (y) y[i] = y0 + b1 * (3 - 2 * s) * d + h * s * (1 - s) * ((1 - s) * e->f0[i] - s * e->f1[i]);
        if (yp)
            yp[i] = h != 0 ? 6 * s * (1 - s) * d / h + (b0 - 2 * s * (1 - s)) * e->f0[i] +
                                 (b1 - 2 * s * (1 - s)) * e->f1[i]
                           : e->f0[i];
    }
}

static const dae_method method = {
    .info = {.name = "euler",
             .title = "explicit Euler",
             .literature = "Euler 1768; [HNW] I.7",
             .summary = "order 1 with step size control; the example of docs/own-solver.md",
             .order_min = 1,
             .order_max = 1,
             .kinds = 1u << DAE_KIND_ODE,
             .checkpoint = 1},
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = free,
    .interface = DAE_METHOD_INTERFACE,
};

/* What --plugin and dae_plugin_open look for; a program that has the method compiled in calls it itself. */
extern dae_plugin_fn dae_plugin_methods;
DAE_API const dae_method *const *dae_plugin_methods(int interface)
{
    static const dae_method *const list[] = {&method, NULL};
    return interface >= DAE_METHOD_INTERFACE ? list : NULL;
}
