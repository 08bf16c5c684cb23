#include "method/poles.h"

#include "core/error.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#define BISECTIONS 50
/* ours: f is unbounded if it grows by GROWTH from NEAR to NEARER (parts of the step); 1/q does by 100, what is integrable by 10 */
#define NEAR 1e-5
#define NEARER 1e-7
#define GROWTH 20
#define APART \
    8 /* ours: rounding units of t that these are from the pole at least, in steps so short that they would not be told from it */
#define CALM 1.25    /* ours: after a step that changes q by less each evaluation need not be looked at */
#define MUCH 2       /* ours: a step that changes q by such a factor is looked into ... */
#define PARTS 5      /* ours: ... in so many parts */
#define SHORTER 0.25 /* ours: part of a step that went over one, for the next attempt */
#define LEAST 100    /* ours: rounding units of t, or of the interval; shorter steps are not tried */

struct dae_pole_watch {
    dae_poles is;
    int known; /* before belongs to the present point */
    int calm;  /* the last step did not change them much, and the next one is not much longer */
    double *before, *now, *mid; /* q at the ends of the step and in between */
    double *y, *f, *far;        /* a point in between, |f| there and at another one */
    double *inside;             /* a point of the dense output */
    double told;                /* time of the last warning */
    dae_integrator *it;
    dae_ode ode; /* of the user; explicit methods see it through this */
};
typedef struct dae_pole_watch watch;

static double at(double a, double b, double x)
{
    return a + x * (b - a);
}

/* The point at x on the line from the present point to (t, y), x = 0 .. 1. */
static double point(watch *w, double t, const double *y, double x)
{
    const dae_integrator *it = w->it;
    for (int i = 0; i < it->ivp.n; i++) w->y[i] = at(it->y[i], y[i], x);
    return at(it->s->now, t, x);
}

/* Where q_i is zero on that line. */
static double zero(watch *w, double t, const double *y, int i)
{
    double a = 0, b = 1;
    for (int k = 0; k < BISECTIONS; k++) {
        double x = 0.5 * (a + b), now = point(w, t, y, x);
        if (w->is.values(now, w->y, w->mid, w->is.user)) return x;
        if (w->mid[i] * w->before[i] > 0) a = x;
        else b = x;
    }
    return 0.5 * (a + b);
}

/* |f| of the point at x, one-sided like every evaluation; 0: it cannot be evaluated. */
static int magnitude(watch *w, double t, const double *y, double x, double *f)
{
    const dae_system *sys = &w->it->sys;
    double now = dae_ivp_one_sided(&w->it->ivp, point(w, t, y, x));
    int ode = sys->kind == DAE_KIND_ODE,
        bad = ode ? w->ode.f(now, w->y, f, w->ode.user) : sys->dae.f(now, w->y, f, sys->dae.user);
    w->it->s->stats.f++;
    for (int k = 0; k < w->it->ivp.n; k++) f[k] = fabs(f[k]);
    return !bad;
}

/* Whether f is unbounded at the zero of q_i on that line: it grows toward it. */
static int is_pole(watch *w, double t, const double *y, int i)
{
    double x = zero(w, t, y, i), h = fabs(t - w->it->s->now);
    double nearer = h > 0 ? fmax(NEARER, APART * DBL_EPSILON * fabs(t) / h) : NEARER;
    double near = NEAR / NEARER * nearer;
    for (int side = -1; side < 2; side += 2) {
        if (x + side * near < 0 || x + side * near > 1) continue;
        if (!magnitude(w, t, y, x + side * near, w->far) || !magnitude(w, t, y, x + side * nearer, w->f))
            return 1;
        for (int k = 0; k < w->it->ivp.n; k++) {
            if (!(w->f[k] <= GROWTH * w->far[k])) return 1;
        }
    }
    return 0;
}

/* The pole between the present point and (t, y): its number, -1: none. q of (t, y) into w->now; *bad: it cannot be told. */
static int between(watch *w, double t, const double *y, int *bad)
{
    dae_integrator *it = w->it;
    *bad = (!w->known && w->is.values(it->s->now, it->y, w->before, w->is.user)) ||
           w->is.values(t, y, w->now, w->is.user);
    if (*bad) return -1;
    w->known = 1;
    for (int i = 0; i < w->is.count; i++) {
        if (w->before[i] * w->now[i] < 0 && is_pole(w, t, y, i)) return i;
    }
    return -1;
}

/* ---- Methods without an iteration, which may go astray for a while: f beyond a pole is refused ------------------------------------------------------ */

static int guarded_f(double t, const double *y, double *f, void *user)
{
    watch *w = user;
    int bad, r = w->ode.f(t, y, f, w->ode.user);
    if (r || w->calm || !w->it->method || (w->it->method->info.implicit && !w->it->ivp.no_iteration))
        return r;
    return between(w, t, y, &bad) >= 0;
}

static int guarded_jac(double t, const double *y, double *jac, void *user)
{
    const watch *w = user;
    return w->ode.jac(t, y, jac, w->ode.user);
}

static int guarded_dfdt(double t, const double *y, double *dfdt, void *user)
{
    const watch *w = user;
    return w->ode.dfdt(t, y, dfdt, w->ode.user);
}

static void guard(dae_integrator *it)
{
    watch *w = it->poles;
    w->ode = it->sys.ode;
    w->ode.user = it->ivp.user;
    it->sys.ode.f = it->ivp.f = guarded_f;
    if (w->ode.jac) it->sys.ode.jac = guarded_jac;
    if (w->ode.dfdt) it->sys.ode.dfdt = guarded_dfdt;
    it->sys.ode.user = it->ivp.user = w;
}

dae_status dae_poles_create(dae_integrator *it, dae_error *err)
{
    const dae_poles *given = &it->sys.poles;
    size_t n = (size_t)it->ivp.n, m = (size_t)given->count;
    if (!given->count || (it->sys.kind != DAE_KIND_ODE && it->sys.kind != DAE_KIND_DAE)) return DAE_OK;
    watch *w = dae_arena_take(it->keep, 1, sizeof *w);
    double *room = dae_arena_reals(it->keep, 3 * m + 4 * n);
    if (!w || !room) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d poles", given->count);
    *w = (watch){.is = *given,
                 .told = NAN,
                 .it = it,
                 .before = room,
                 .now = room + m,
                 .mid = room + 2 * m,
                 .y = room + 3 * m,
                 .f = room + 3 * m + n,
                 .far = room + 3 * m + 2 * n,
                 .inside = room + 3 * m + 3 * n};
    it->poles = w;
    if (it->sys.kind == DAE_KIND_ODE) guard(it);
    return DAE_OK;
}

void dae_poles_forget(dae_integrator *it)
{
    if (it->poles) it->poles->known = it->poles->calm = 0;
}

/* The largest factor by which a q changed in the step. */
static double change(const watch *w)
{
    double most = 1;
    for (int i = 0; i < w->is.count; i++) {
        double a = fabs(w->before[i]), b = fabs(w->now[i]);
        most = fmax(most, fmax(a, b) / fmax(fmin(a, b), DBL_MIN));
    }
    return most;
}

/* The same for points of the dense output. */
static int inside(watch *w)
{
    dae_integrator *it = w->it;
    int bad, pole = -1;
    it->ivp.coarse = 1;
    for (int k = 1; k < PARTS && pole < 0; k++) {
        double t = at(it->s->now, it->ivp.t, (double)k / PARTS);
        it->method->interpolate(it->self, t, w->inside, NULL);
        pole = between(w, t, w->inside, &bad);
    }
    it->ivp.coarse = 0;
    return pole;
}

int dae_poles_passed(dae_integrator *it)
{
    watch *w = it->poles;
    int bad, pole = between(w, it->ivp.t, it->ivp.y, &bad);
    double *now = w->now, moved = bad ? INFINITY : change(w);
    if (pole < 0 && moved > MUCH && !bad) {
        pole = inside(w);
        bad = w->is.values(it->ivp.t, it->ivp.y, w->now, w->is.user);
    }
    if (pole >= 0) return pole;
    w->calm = moved <= CALM && fabs(it->ivp.h_next) <= CALM * fabs(it->ivp.t - it->ivp.t_old);
    w->now = w->before;
    w->before = now;
    w->known = !bad;
    return -1;
}

dae_status dae_poles_repeat(dae_integrator *it, int i, double *h, dae_error *err)
{
    watch *w = it->poles;
    double t = it->s->now, step = fabs(it->ivp.t - t);
    const char *name = w->is.name ? w->is.name(i, w->is.user) : NULL;
    char number[40];
    if (!name) {
        snprintf(number, sizeof number, "denominator %d", i + 1);
        name = number;
    }
    if (it->opt.fixed_step > 0 || step <= LEAST * DBL_EPSILON * fmax(fabs(t), fabs(it->s->t_end - it->s->t0)))
        return dae_fail(
            err, DAE_ERR_UNDEFINED, t,
            "t = %.10g: the system is divided by %s, which becomes zero within the next step of %.3g", t,
            name, step);
    if (w->told != t)
        dae_log(&it->opt, DAE_LOG_WARN,
                "t=%.10g warning=\"a step of %.3g went over a pole, where %s is zero: repeated with shorter "
                "ones\"",
                t, step, name);
    w->told = t;
    it->s->stats.accepted--;
    it->s->stats.rejected++;
    *h = SHORTER * step;
    return DAE_OK;
}
