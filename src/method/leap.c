/* Singular poses are leapt over.
 *
 * Where two branches of a mechanism cross, its constraints lose rank. The motion itself goes on smoothly, on the branch of its
 * momentum, but points within 1e-6 of the pose have accelerations that are rounding errors only, and an error test whose steps come
 * to end there lets them fall to nothing. With a state y(s) of some steps before, and the time t* at which the steps
 * ended, the method goes without error test, in one step and in two,
 *     s -> T   and   s -> s' -> T,   d = t* - s,   s' = s + 0.4 d,   T = t* + 0.83 d,
 * which are no longer than the steps before were. They have no point in common near the pose, so that where they agree within
 * the tolerances the second is as good as accepted steps, and the run goes on behind it; where they do not, whatever s is, what ended the
 * steps is no pose but a true end, and the run ends. */
#include "method/driver.h"

#include "core/number.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>

enum { KEPT = 12 };
#define APART 6    /* states are kept so many to a usual step; ours */
#define BEFORE 0.4 /* of the way to the pose, and beyond it; ours */
#define BEYOND 0.83
#define AGREE 3      /* in units of the tolerance; ours */
#define FORGET 8     /* usual steps; ours */
#define LONGEST 2    /* leap, in usual steps; ours */
#define NEAREST 1e-4 /* of a usual step: nearer states are of no use; ours */

struct dae_leap {
    int n, count, first; /* of a state; kept, in a ring: the place of the oldest */
    double usual;        /* the longest of the last steps: forgotten as the run goes on by such steps */
    double t[KEPT];
    double *y; /* KEPT states, and two for work */
};

int dae_driver_leap_prepare(dae_integrator *it)
{
    size_t n = (size_t)it->ivp.n;
    struct dae_leap *old = it->leap;
    it->leap = NULL;
    if (!(it->sys.kind == DAE_KIND_MECH || it->ivp.project) || it->chart || it->method->info.multistep ||
        it->method->block || it->opt.fixed_step > 0)
        return 0;
    if (old && old->n == it->ivp.n) {
        it->leap = old;
        return 0;
    }
    it->leap = dae_arena_take(it->keep, 1, sizeof *it->leap);
    double *y = dae_arena_reals(it->keep, (KEPT + 2) * n);
    if (!it->leap || !y) return -1;
    *it->leap = (struct dae_leap){.n = it->ivp.n, .y = y};
    return 0;
}

void dae_driver_leap_forget(dae_integrator *it)
{
    if (it->leap) it->leap->count = 0, it->leap->usual = 0;
}

/* Where state k of those that are kept lies, the oldest is 0. */
static int place(const struct dae_leap *l, int k)
{
    return (l->first + k) % KEPT;
}

void dae_driver_leap_note(dae_integrator *it)
{
    struct dae_leap *l = it->leap;
    double h = fabs(it->ivp.t - it->ivp.t_old);
    size_t n = (size_t)l->n;
    l->usual = h < l->usual ? fmax(h, l->usual * exp(-h / (FORGET * l->usual))) : h;
    if (l->count && fabs(it->ivp.t - l->t[place(l, l->count - 1)]) < l->usual / APART) return;
    if (l->count == KEPT) l->first = (l->first + 1) % KEPT;
    else l->count++;
    int k = place(l, l->count - 1);
    l->t[k] = it->ivp.t;
    dae_copy(l->n, it->ivp.y, l->y + (size_t)k * n);
}

/* One step of the method from (t, y) to T. */
static dae_status one_step(dae_integrator *it, double t, const double *y, double T, dae_error *err)
{
    double h = fabs(T - t);
    if (y != it->y) dae_copy(it->leap->n, y, it->y);
    it->s->now = t;
    it->opt.fixed_step = h;
    dae_status r = dae_driver_derivative(it, t, 0, err);
    if (!r) r = dae_driver_restart_only(it, h, err);
    if (!r) r = it->method->step(it->self);
    if (r >= 0 && !(fabs(it->ivp.t - T) <= 1e-9 * h)) r = DAE_ERR_CONVERGENCE;
    it->opt.fixed_step = 0;
    return r < 0 ? r : DAE_OK;
}

/* From the state at place k to T in one step and in two: how far apart, in units of the tolerance. */
static double leap_from(dae_integrator *it, int k, double end, double T)
{
    struct dae_leap *l = it->leap;
    dae_error err = {0};
    size_t n = (size_t)l->n;
    const double *y = l->y + (size_t)k * n;
    double *other = l->y + KEPT * n, s = l->t[k] + BEFORE * (end - l->t[k]), off = 0;
    if (one_step(it, l->t[k], y, T, &err)) return INFINITY;
    dae_copy(l->n, it->ivp.y, other);
    if (one_step(it, l->t[k], y, s, &err)) return INFINITY;
    s = it->ivp.t;
    dae_copy(l->n, it->ivp.y, it->y);
    if (one_step(it, s, it->y, T, &err)) return INFINITY;
    for (size_t i = 0; i < n; i++) {
        double d = fabs(it->ivp.y[i] - other[i]) / (it->ivp.atol[i] + it->ivp.rtol[i] * fabs(other[i]));
        off = d > off || isnan(d) ? d : off;
    }
    return off;
}

/* With the method as it is. */
static int leap(dae_integrator *it)
{
    struct dae_leap *l = it->leap;
    double end = it->ivp.t, d = it->ivp.direction;
    for (int i = l->count - 1; i >= 0; i--) {
        int k = place(l, i);
        double T = end + BEYOND * (end - l->t[k]);
        if (fabs(end - l->t[k]) < NEAREST * l->usual) continue;
        if (fabs(T - l->t[k]) > LONGEST * l->usual || d * (it->ivp.t_stop - T) <= 0) break;
        if (it->ivp.asked_to_stop || dae_driver_cancelled(it)) break;
        if (leap_from(it, k, end, T) <= AGREE) return 1;
    }
    it->ivp.t = it->ivp.t_old = end;
    return 0;
}

/* The stages of vern9 have large weights, which make more of rounding errors. */
static const char able[] = "dop853";

int dae_driver_leap(dae_integrator *it, dae_error *err)
{
    struct dae_leap *l = it->leap;
    driver_state *s = it->s;
    dae_error spare = {0};
    double end = it->ivp.t, now = s->now;
    if (!l || !l->count || now != end) return 0;
    double *start = l->y + (KEPT + 1) * (size_t)l->n;
    dae_copy(l->n, it->y, start);
    int done = leap(it);
    const dae_method *other = it->automatic && it->sys.kind == DAE_KIND_ODE && !it->method->info.implicit
                                  ? dae_method_lookup(NULL, able)
                                  : NULL;
    if (!done && other && other != it->method) {
        const char *was = it->method->info.name;
        if (dae_driver_replace_method(it, other, &spare)) {
            *err = spare;
            s->now = now;
            dae_copy(l->n, start, it->y);
            return 0;
        }
        it->ivp.t = it->ivp.t_old = end;
        done = leap(it);
        if (done) {
            it->evidence->changed = 1;
            dae_snprintf(it->reason, REASON_SIZE,
                         "%s could not pass a singular pose at t = %g, so %s goes on from there", was, end,
                         able);
            dae_log(&it->opt, DAE_LOG_INFO, "method=%s reason=\"%s\"", able, it->reason);
        }
    }
    s->now = now;
    dae_copy(l->n, start, it->y);
    if (!done) {
        dae_copy(l->n, start, (double *)it->ivp.y);
        return 0;
    }
    dae_driver_leap_forget(it);
    s->stats.restarts++;
    dae_log(&it->opt, DAE_LOG_INFO, "t=%.10g restart=\"singular pose, leapt over\" to=%.10g", end, it->ivp.t);
    return 1;
}
