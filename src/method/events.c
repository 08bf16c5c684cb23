/* Event location on dense output.
 *
 * Each switching function carries an armed sign: the last sign that was seen beyond its residual. A
 * root is a change of the armed sign between neighboring points of a step (its ends and check points
 * inside), or a value that is exactly zero at a point. Between points of equal sign the function is
 * searched for an extremum towards zero, so that two roots or a double root inside an interval are
 * found too. A root is returned on its far side, so the function has its new sign there. After a root
 * that restarts, and at the start, a function that is zero is disarmed; just inside the next step it is
 * armed with the sign it takes there, so that it neither triggers again nor misses its next root. A
 * function that stays zero never triggers.
 *
 * Of many functions only the first root is located, since most often the run starts afresh there: one whose sign is the same
 * at the first root so far has its own behind it. Where the run goes on the rest of the step is searched again. */
#include "method/driver.h"
#include "method/nonnegative.h"

#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_POINTS 3           /* inside each step when nothing is said; ours */
#define MAX_ROOTS 256            /* in one step */
#define TOUCH (64 * DBL_EPSILON) /* a double root: extremum below this, relative to the ends */
#define MANY 4                   /* functions from which on only the first root is looked for; ours */
#define BEHIND 0.02              /* so much of its interval behind the first root is searched with it; ours */
#define ROUGHLY 0.1              /* of that part: as well as the first root is located before; ours */
#define INSIDE 1e-3              /* of an interval: so near to its ends slopes are looked at */
#define POLISH 4                 /* Newton steps on the projected dense output */
#define GOLDEN_STEPS 40          /* 0.618^40 < sqrt(eps): a search for an extremum is over then */
#define ZENO_COUNT 50            /* this many restarts ... */
#define ZENO_SPAN 1e-9           /* ... within this part of the interval pile up; */
#define ZENO_LAST 3              /* so do this many in a row ... */
#define ZENO_GAP (64 * DBL_EPSILON) /* ... that are no further apart than this, relative to t */

typedef struct root {
    double t;
    int index, rising;
} root;

dae_status dae_integrator_set_events(dae_integrator *it, const dae_events *events, dae_error *err)
{
    if (!it) return dae_need(it, "the integrator", err);
    if (it->started) return dae_fail(err, DAE_ERR_INPUT, NAN, "set the events before starting");
    if (!events || events->count == 0) {
        it->events = (dae_events){0};
        return DAE_OK;
    }
    if (events->count < 0 || !events->event || !events->phi) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "%d events without descriptions or without a switching function", events->count);
    }
    size_t m = (size_t)events->count;
    it->events = *events;
    it->event = dae_arena_copy(it->keep, events->event, m, sizeof *it->event);
    it->sign = dae_arena_ints(it->arena, 2 * m);
    it->phi = dae_arena_reals(it->arena, 10 * m);
    free(it->root);
    it->root = calloc(MAX_ROOTS, sizeof *it->root);
    if (!it->event || !it->sign || !it->phi || !it->root)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d events", events->count);
    it->events.event = it->event;
    return DAE_OK;
}

const dae_event_record *dae_integrator_events(const dae_integrator *it, int *count)
{
    if (count) *count = it ? it->nrecord : 0;
    return it ? it->record : NULL;
}

/* All functions at t; > 0 where they cannot be evaluated. */
static int evaluate(dae_integrator *it, double t, double *phi)
{
    int state = !it->events.no_state;
    double *y = state ? it->scratch : it->y, *yp = state && !it->events.no_slope ? y + it->ivp.n : NULL;
    if (state) dae_driver_at(it, t, y, yp);
    int r = it->events.phi(t, y, yp, phi, it->events.user);
    if (r == 0 && !dae_all_finite(it->events.count, phi)) r = 1;
    if (r < 0 && !it->refused) {
        it->refused = r;
        it->refused_at = t;
    }
    return r;
}

/* A callback wants to end the run (index < 0: the switching functions); DAE_ERR_MEMORY: for want of memory, DAE_ERR_SINGULAR: an action would change
 * what cannot move. */
static dae_status asked_to_stop(const dae_integrator *it, int answer, int index, double t, dae_error *err)
{
    const char *name = index < 0 ? NULL : it->event[index].name;
    char of[40];
    if (answer == DAE_ERR_MEMORY)
        return dae_fail(err, DAE_ERR_MEMORY, t, "t = %.10g: out of memory for events", t);
    if (index < 0)
        return dae_fail(err, DAE_ERR_CALLBACK, t, "the switching functions asked to stop at t = %.10g", t);
    if (!name) {
        snprintf(of, sizeof of, "%d", index);
        name = of;
    }
    if (answer == DAE_ERR_SINGULAR)
        return dae_fail(
            err, DAE_ERR_SINGULAR, t,
            "t = %.10g: event %s would change the speed of what cannot move there (a driver or a dead "
            "center holds it)",
            t, name);
    return dae_fail(err, DAE_ERR_CALLBACK, t, "the action of event %s asked to stop at t = %.10g", name, t);
}

/* Wherever it was that the switching functions did. */
static dae_status refused(dae_integrator *it, dae_error *err)
{
    int answer = it->refused;
    it->refused = 0;
    return answer ? asked_to_stop(it, answer, -1, it->refused_at, err) : DAE_OK;
}

static int sign_of(const dae_integrator *it, int i, double value)
{
    double residual = it->event[i].residual;
    return value > residual ? 1 : value < -residual ? -1 : 0;
}

dae_status dae_driver_events_start(dae_integrator *it, dae_error *err)
{
    it->nroot = it->refused = 0;
    it->s->zeno_count = it->s->zeno_near = 0;
    it->s->zeno_t = it->s->now;
    it->s->zeno_last = NAN;
    if (!it->events.count) return DAE_OK;
    int r = evaluate(it, it->s->now, it->phi);
    if (r < 0) return refused(it, err);
    if (r)
        return dae_fail(err, DAE_ERR_EVENT, it->s->now,
                        "t = %.10g: the switching functions cannot be evaluated at the start", it->s->now);
    for (int i = 0; i < it->events.count; i++) it->sign[i] = sign_of(it, i, it->phi[i]);
    return DAE_OK;
}

/* Function i alone. */
static double value(dae_integrator *it, int i, double t)
{
    double *phi = it->phi + 3 * (size_t)it->events.count;
    return evaluate(it, t, phi) ? NAN : phi[i];
}

static double time_tolerance(const dae_integrator *it, double t)
{
    double h = fabs(it->ivp.t - it->ivp.t_old), e = 2 * DBL_EPSILON * fmax(fabs(t), h);
    return fmax(e, it->events.tolerance);
}

/* The root of function i in [a,b], fa and fb of opposite sign: two secant steps (Illinois), then one
 * bisection, until the bracket is as small as rounding allows; returns its end with the sign of fb. */
double dae_driver_locate(dae_integrator *it, dae_driver_value *function, int i, double a, double b, double fa,
                         double fb)
{
    double tol = fmax(time_tolerance(it, b), it->loose);
    for (int k = 0; k < 200 && fabs(b - a) > tol; k++) {
        double middle = a + (b - a) / 2, x = middle;
        if (middle == a || middle == b) break;
        if (k % 3 != 2) {
            x = b - fb * (b - a) / (fb - fa);
            double guard = 0.4 * tol; /* stay inside, but let the bracket collapse */
            if (fabs(x - a) < guard) x = a + copysign(guard, b - a);
            if (fabs(b - x) < guard) x = b - copysign(guard, b - a);
            if (!((x > a && x < b) || (x < a && x > b))) x = middle;
        }
        double fx = function(it, i, x);
        if (isnan(fx)) { /* not evaluable inside: keep what is known */
            x = middle;
            fx = function(it, i, x);
            if (isnan(fx)) break;
        }
        if (fx == 0) return x;
        if ((fx > 0) == (fb > 0)) {
            if (k % 3 != 2) fa /= 1 + (double)(k % 3); /* Illinois: the other end counts less */
            b = x;
            fb = fx;
        } else {
            a = x;
            fa = fx;
        }
    }
    return b;
}

static double locate(dae_integrator *it, int i, double a, double b, double fa, double fb)
{
    return dae_driver_locate(it, value, i, a, b, fa, fb);
}

double dae_driver_same_time(const dae_integrator *it, double t)
{
    return 4 * time_tolerance(it, t);
}

/* The state at t on the constraints, with consistent accelerations: mechanical methods. 0: fine. */
static int on_constraints(dae_integrator *it, double t, double *y, double *yp)
{
    const dae_method *m = it->method;
    const dae_mech *mech = &it->sys.mech;
    it->method->interpolate(it->self, t, y, yp);
    dae_nonnegative_clip(it, y, yp);
    if (it->sys.kind != DAE_KIND_MECH || !m->project || !m->multipliers) return 1;
    return m->project(it->self, t, y) || m->multipliers(it->self, t, yp + mech->np, NULL);
}

/* Moves a root of function i that was located on the dense output to where the function is zero on the projected
 * one, [MEXX] section 2.5: Newton's method with the slope of the dense output. Stays within [a,b]. */
static double polish(dae_integrator *it, int i, double guess, double a, double b)
{
    double *y = it->scratch, *yp = y + it->ivp.n, *phi = it->phi + 3 * (size_t)it->events.count;
    double h = it->ivp.t - it->ivp.t_old, d = 1e-3 * h, tol = it->ivp.rtol[0] * fmax(fabs(h), fabs(guess));
    if (it->sys.kind != DAE_KIND_MECH || !it->method->project) return guess;
    double lo = (guess - d - a) * h > 0 ? guess - d : a, hi = (b - guess - d) * h > 0 ? guess + d : b;
    double slope = (value(it, i, hi) - value(it, i, lo)) / (hi - lo), t = guess;
    for (int k = 0; k < POLISH && isfinite(slope) && slope != 0; k++) {
        if (on_constraints(it, t, y, yp) || it->events.phi(t, y, yp, phi, it->events.user) ||
            !isfinite(phi[i]))
            return guess;
        double next = t - phi[i] / slope;
        if ((next - a) * h < 0 || (b - next) * h < 0) return t;
        if (fabs(next - t) <= tol) return next;
        t = next;
    }
    return t;
}

/* Where function i, of sign s at a and exactly zero at b, becomes zero. Most roots are passed, and b it is. */
static double zero_from(dae_integrator *it, int i, double a, double b, int s)
{
    double tol = time_tolerance(it, b), before = b - copysign(2 * tol, b - a);
    if (fabs(b - a) <= 2 * tol || s * value(it, i, before) > 0) return b;
    for (b = before; fabs(b - a) > tol;) {
        double middle = a + (b - a) / 2;
        if (middle == a || middle == b) break;
        if (s * value(it, i, middle) > 0) a = middle;
        else b = middle;
    }
    return b;
}

static void add_root(dae_integrator *it, double t, int i, int rising)
{
    int d = it->event[i].direction;
    if ((d == DAE_RISING && !rising) || (d == DAE_FALLING && rising)) return;
    if (it->nroot < MAX_ROOTS) it->root[it->nroot++] = (root){t, i, rising};
}

/* All functions, NAN where they cannot be evaluated. */
static const double *values_at(dae_integrator *it, double t, int place)
{
    double *phi = it->phi + (size_t)place * (size_t)it->events.count;
    if (evaluate(it, t, phi)) {
        for (int i = 0; i < it->events.count; i++) phi[i] = NAN;
    }
    return phi;
}

enum { LEFT = 7, RIGHT = 8, AT_FIRST = 9 }; /* places in it->phi */

/* Between a and b function i has the same sign s; left and right: just inside. If it runs towards zero at a and away from it
 * at b, there is an extremum: look whether it reaches zero (golden section). */
static void look_for_two(dae_integrator *it, int i, double a, double b, double fa, double fb, int s,
                         double left, double right)
{
    const double golden = 0.38196601125010515;
    if (!(s * left < s * fa && s * right < s * fb)) return;
    double lo = a, hi = b, x = lo + golden * (hi - lo), y = hi - golden * (hi - lo);
    double fx = s * value(it, i, x), fy = s * value(it, i, y);
    double scale = fmax(fabs(fa), fabs(fb)), tol = sqrt(DBL_EPSILON) * fabs(b - a);
    /* Near the spacing of the numbers around t the bracket cannot shrink to tol: a bound, and no point twice. */
    for (int k = 0; k < GOLDEN_STEPS && fabs(hi - lo) > tol && x != y && fx > 0 && fy > 0; k++) {
        if (fx < fy) {
            hi = y;
            y = x;
            fy = fx;
            x = lo + golden * (hi - lo);
            fx = s * value(it, i, x);
        } else {
            lo = x;
            x = y;
            fx = fy;
            y = hi - golden * (hi - lo);
            fy = s * value(it, i, y);
        }
    }
    double at = fx < fy ? x : y, low = fmin(fx, fy);
    if (isnan(low)) return;
    if (low < 0) {
        double first = locate(it, i, a, at, fa, s * low), second = locate(it, i, at, b, s * low, fb);
        add_root(it, first, i, s < 0);
        add_root(it, second, i, s > 0);
    } else if (low <= fmax(TOUCH * scale, it->event[i].residual)) {
        if (low == 0) at = zero_from(it, i, a, at, s);
        if (it->event[i].direction == DAE_BOTH) add_root(it, at, i, s < 0);
    }
}

/* Where each function was armed in the present step (NAN: before it), and its value there. */
static double *armed_time(dae_integrator *it)
{
    return it->phi + 4 * (size_t)it->events.count;
}

static double *armed_value(dae_integrator *it)
{
    return it->phi + 5 * (size_t)it->events.count;
}

/* The first root so far. */
static double first_root(const dae_integrator *it)
{
    double t = NAN, d = it->ivp.direction;
    for (int k = 0; k < it->nroot; k++) {
        if (!(d * (it->root[k].t - t) >= 0)) t = it->root[k].t;
    }
    return t;
}

/* 1: the root of function i, which has another sign at b than s, lies behind the first root so far. at: for which root the
 * functions are known. */
static int comes_later(dae_integrator *it, int i, int s, double *at)
{
    double t = first_root(it);
    const double *phi = it->phi + AT_FIRST * (size_t)it->events.count;
    if (isnan(t)) return 0;
    if (*at != t) values_at(it, t, AT_FIRST);
    *at = t;
    return sign_of(it, i, phi[i]) == s;
}

/* Just behind a, where the functions have the values fa: continued from before it, if *slope says that they are known there in
 * RIGHT; else evaluated. */
static const double *just_behind(dae_integrator *it, double a, double b, const double *fa, int slope)
{
    int m = it->events.count;
    double *left = it->phi + LEFT * (size_t)m;
    const double *before = it->phi + RIGHT * (size_t)m;
    if (!slope) return values_at(it, a + INSIDE * (b - a), LEFT);
    for (int i = 0; i < m; i++) left[i] = 2 * fa[i] - before[i];
    return left;
}

/* Compares functions at neighboring points a and b. first: only the first root matters. *slope: RIGHT has the functions just before
 * a, and at the end just before b. */
static void scan(dae_integrator *it, double a, double b, const double *fa, const double *fb, int deep,
                 int first, int *slope)
{
    const double *left = NULL, *right = NULL;
    double known = NAN;
    for (int i = 0; i < it->events.count && !dae_driver_cancelled(it); i++) {
        int s = it->sign[i], now = sign_of(it, i, fb[i]);
        if (s == 0) { /* disarmed: take the first sign that shows */
            it->sign[i] = now;
        } else if (now == 0) {
            if (fb[i] == 0 && it->event[i].residual == 0) { /* a root exactly here */
                add_root(it, s * fa[i] > 0 ? zero_from(it, i, a, b, s) : b, i, s < 0);
                it->sign[i] = 0;
            }
        } else if (now != s) {
            if (first && comes_later(it, i, s, &known)) continue;
            double from = a, ff = fa[i], t = armed_time(it)[i];
            if ((t - a) * (b - t) >
                0) { /* armed in between: near its old root the function is rounding only */
                from = t;
                ff = armed_value(it)[i];
            } else if (ff == 0 || (ff > 0) != (s > 0)) {
                ff = s * DBL_MIN; /* inside the residual band */
            }
            double at = locate(it, i, from, b, ff, fb[i]);
            if (s * ff > 0 && it->event[i].residual == 0 && value(it, i, at) == 0)
                at = zero_from(it, i, from, at, s);
            add_root(it, polish(it, i, at, from, b), i, now > 0);
            it->sign[i] = now;
        } else if (deep && fa[i] != 0) {
            if (!left) {
                left = just_behind(it, a, b, fa, *slope);
                right = values_at(it, b - INSIDE * (b - a), RIGHT);
            }
            look_for_two(it, i, a, b, fa[i], fb[i], s, left[i], right[i]);
        }
    }
    *slope = right != NULL;
}

/* Functions that are disarmed at the beginning of a step get the sign they take just inside it. */
static void arm(dae_integrator *it, double from, double to, double *phi)
{
    int m = it->events.count, disarmed = 0;
    for (int i = 0; i < m; i++) {
        disarmed += it->sign[i] == 0;
        armed_time(it)[i] = NAN;
    }
    for (int k = 26; k > 0 && disarmed; k -= 6) {
        double t = from + ldexp(to - from, -k);
        if (t == from || evaluate(it, t, phi)) continue;
        for (int i = 0; i < m; i++) {
            if (it->sign[i]) continue;
            it->sign[i] = sign_of(it, i, phi[i]);
            if (it->sign[i] == 0) continue;
            armed_time(it)[i] = t;
            armed_value(it)[i] = phi[i];
            disarmed--;
        }
    }
}

/* The functions can be evaluated at a, not at b: the last point before b at which they can, their values in phi. */
static double border(dae_integrator *it, double a, double b, double *phi)
{
    double bad = b, tol = time_tolerance(it, b);
    while (fabs(bad - a) > tol) {
        double middle = a + (bad - a) / 2;
        if (middle == a || middle == bad) break;
        if (evaluate(it, middle, phi)) bad = middle;
        else a = middle;
    }
    return evaluate(it, a, phi) ? NAN : a;
}

static int by_time(const void *a, const void *b)
{
    const root *x = a, *y = b;
    if (x->t != y->t) return x->t < y->t ? -1 : 1;
    return x->index - y->index;
}

static dae_status keep_record(dae_integrator *it, const root *r, dae_error *err)
{
    if (it->nrecord == it->capacity) {
        int more = it->capacity ? 2 * it->capacity : 64;
        dae_event_record *p = realloc(it->record, (size_t)more * sizeof *p);
        if (!p) return dae_fail(err, DAE_ERR_MEMORY, r->t, "no memory for the record of events");
        it->record = p;
        it->capacity = more;
    }
    it->record[it->nrecord++] = (dae_event_record){r->t, r->index, r->rising};
    it->s->stats.events++;
    dae_log(&it->opt, DAE_LOG_INFO, "t=%.16g event=%s rising=%d", r->t,
            it->event[r->index].name ? it->event[r->index].name : "event", r->rising);
    return DAE_OK;
}

/* Restarts by events must make headway. */
static dae_status watch_zeno(dae_integrator *it, double t, dae_error *err)
{
    driver_state *s = it->s;
    double span = ZENO_SPAN * fabs(s->t_end - s->t0);
    s->zeno_near =
        fabs(t - s->zeno_last) <= ZENO_GAP * fmax(fabs(t), fabs(s->t_end - s->t0)) ? s->zeno_near + 1 : 0;
    s->zeno_last = t;
    if (fabs(t - s->zeno_t) > span) {
        s->zeno_t = t;
        s->zeno_count = 0;
    }
    if (++s->zeno_count < ZENO_COUNT && s->zeno_near < ZENO_LAST) return DAE_OK;
    return dae_fail(err, DAE_ERR_EVENT, t,
                    "t = %.16g: events restarted the run %d times within %.3g of time; they pile up (as a "
                    "ball that comes "
                    "to rest does). End the motion in the action, or replace the contact by a constraint",
                    t, s->zeno_count, span);
}

void dae_driver_project(dae_integrator *it, double t, double *y)
{
    double *moved = it->y;
    dae_copy(it->ivp.n, y, moved);
    int r =
        it->method->project ? it->method->project(it->self, t, moved) : dae_ivp_project(&it->ivp, t, moved);
    if (!r) dae_copy(it->ivp.n, moved, y);
}

/* The same for events that act together; what follows from them is recorded too. */
static dae_status act_together(dae_integrator *it, int first, int last, double t, dae_event_outcome *out,
                               dae_error *err)
{
    int index[MAX_ROOTS], rising[MAX_ROOTS], count = 0, given;
    for (int k = first; k < last; k++) {
        const root *r = &it->root[k];
        dae_status s = keep_record(it, r, err);
        if (s) return s;
        if (it->event[r->index].terminal) out->stop = 1;
        else index[count] = r->index, rising[count++] = r->rising;
    }
    given = count;
    if (!count) return DAE_OK;
    dae_error own = {0};
    int answer =
        it->events.instant(&count, MAX_ROOTS, index, rising, t, it->y, it->yp, it->events.user, &own);
    for (int k = given; k < count; k++) {
        dae_status s = keep_record(it, &(root){t, index[k], rising[k]}, err);
        if (s) return s;
    }
    if (answer < 0 && own.status < 0) return dae_fail(err, own.status, t, "%s", own.text);
    if (answer < 0) return asked_to_stop(it, answer, index[0], t, err);
    if (answer == DAE_EVENT_STOP) out->stop = 1;
    if (answer == DAE_EVENT_RESTART) out->restart = 1;
    return DAE_OK;
}

/* Calls the actions of the roots first .. last-1, which share the time t; y, yp hold the state. */
static dae_status act(dae_integrator *it, int first, int last, double t, dae_event_outcome *out,
                      dae_error *err)
{
    if (it->events.instant) return act_together(it, first, last, t, out, err);
    for (int k = first; k < last; k++) {
        const root *r = &it->root[k];
        dae_status s = keep_record(it, r, err);
        if (s) return s;
        if (it->event[r->index].terminal) out->stop = 1; /* before any action of its own */
        if (it->event[r->index].terminal || !it->events.action) continue;
        int answer = it->events.action(r->index, t, r->rising, it->y, it->yp, it->events.user);
        if (answer < 0) return asked_to_stop(it, answer, r->index, t, err);
        if (answer == DAE_EVENT_STOP) out->stop = 1;
        if (answer == DAE_EVENT_RESTART) out->restart = 1;
    }
    return DAE_OK;
}

/* The search is given up: as if it had not begun, so that the run can go on. */
static dae_status cancelled(dae_integrator *it, double from, dae_error *err)
{
    int m = it->events.count;
    memcpy(it->sign, it->sign + m, (size_t)m * sizeof *it->sign);
    evaluate(it, from, it->phi);
    return dae_driver_take_cancel(it, err);
}

/* A root behind a would be lost without a word. */
static dae_status cannot_see(double a, double to, dae_error *err)
{
    return dae_fail(
        err, DAE_ERR_EVENT, a,
        "t = %.16g: the switching functions cannot be evaluated from here to the end of the step, t = %.10g, "
        "so that no event behind it can be found; continue them beyond their roots",
        a, to);
}

/* All roots in (from, to], as they come; with first those of the first interval that has one, of which only the first is
 * sure to be told. known: such a search has found that nothing happens before the end of this one. seen: how far the functions could
 * be evaluated. stop 1: a cancel was asked for. */
static dae_status search(dae_integrator *it, double from, double to, int first, int known, double *seen,
                         int *stop, dae_error *err)
{
    int m = it->events.count, points = it->events.check_points, deep = points >= 0, blind = 0, slope = 0;
    double *old = it->phi, *new = it->phi + m, a = from;
    if (points == 0) points = CHECK_POINTS;
    if (points < 0) points = 0;
    if (known && points > 1) points = 1;
    it->nroot = 0;
    arm(it, from, to, it->phi + 2 * m);
    for (int k = 1; k <= points + 1; k++) {
        double b = k == points + 1 ? to : from + (to - from) * ((double)k / (points + 1));
        if (b == a) continue;
        int r = evaluate(it, b, new);
        if (r < 0) break;
        if (r > 0) { /* up to where it goes; then look at the next point */
            if (blind) continue;
            double last = border(it, a, b, new);
            blind = !(fabs(b - last) <= 2 * time_tolerance(it, b)); /* else it was this one call only */
            b = last;
            if (!(it->ivp.direction * (b - a) > 0)) continue;
        } else {
            blind = 0;
        }
        scan(it, a, b, old, new, deep, first, &slope);
        if (it->refused) break;
        if (blind) slope = 0;
        *stop = dae_driver_cancelled(it);
        if (*stop || (first && it->nroot)) return DAE_OK;
        dae_copy(m, new, old);
        a = b;
    }
    *seen = blind ? a : to;
    return refused(it, err);
}

/* As before the search. */
static void search_again(dae_integrator *it)
{
    int m = it->events.count;
    memcpy(it->sign, it->sign + m, (size_t)m * sizeof *it->sign);
    dae_copy(m, it->phi + 6 * m, it->phi);
}

/* Roots in (from, *to]: first with what the method has; where an event falls, as well as it can. Of many functions *to becomes a point
 * shortly behind the first root. */
static dae_status find_roots(dae_integrator *it, double from, double *to, double *seen, int *stop,
                             dae_error *err)
{
    int m = it->events.count, first = m >= MANY;
    memcpy(it->sign + m, it->sign,
           (size_t)m * sizeof *it->sign); /* a cancelled search is repeated from here */
    dae_copy(m, it->phi, it->phi + 6 * m);
    for (int fine = 0; fine < 2; fine++) {
        it->ivp.coarse = !fine;
        /* the first pass tells whether there is a root; of many functions where, and the next looks behind it, too */
        double length = fabs(*to - from);
        it->loose = fine ? 0 : first ? ROUGHLY * BEHIND * length : length;
        dae_status s = search(it, from, *to, !fine, first && fine, seen, stop, err);
        it->ivp.coarse = 0;
        it->loose = 0;
        if (s || *stop || !it->nroot || fine) return s;
        if (first) {
            double t = first_root(it) + BEHIND * (*to - from);
            if (it->ivp.direction * (*to - t) > 0) *to = t;
        }
        search_again(it);
    }
    return DAE_OK;
}

/* Writes outputs up to each root and calls its action; *done: how far that went. */
static dae_status act_on_roots(dae_integrator *it, double *done, dae_event_outcome *out, dae_error *err)
{
    int m = it->events.count;
    double *old = it->phi, d = it->ivp.direction;
    qsort(it->root, (size_t)it->nroot, sizeof *it->root, by_time);
    if (d < 0) { /* backwards: latest first, declared order kept for equal times */
        for (int i = 0, j = it->nroot - 1; i < j; i++, j--) {
            root swap = it->root[i];
            it->root[i] = it->root[j];
            it->root[j] = swap;
        }
    }
    for (int k = 0, next; k < it->nroot; k = next) {
        double t = it->root[k].t, tol = dae_driver_same_time(it, t);
        for (next = k + 1; next < it->nroot && fabs(it->root[next].t - t) <= tol; next++)
            t = it->root[next].t;
        dae_status s = dae_driver_output(it, *done, t, err);
        if (s) return s;
        *done = t;
        dae_driver_at(it, t, it->scratch, it->scratch + it->ivp.n);
        if (t != it->s->now && t != it->ivp.t) dae_driver_project(it, t, it->scratch);
        dae_copy(it->ivp.n, it->scratch, it->y);
        dae_copy(it->ivp.n, it->scratch + it->ivp.n, it->yp);
        it->s->now = t;
        s = act(it, k, next, t, out, err);
        if (s) return s;
        if (out->stop || out->restart) {
            out->t = t;
            for (int i = 0; i < m; i++) it->sign[i] = 0; /* arm afresh inside the next step */
            if (!evaluate(it, t, old)) {
                for (int i = 0; i < m; i++) it->sign[i] = sign_of(it, i, old[i]);
            }
            for (int j = k; j < next; j++) it->sign[it->root[j].index] = 0;
            return out->restart ? watch_zeno(it, t, err) : DAE_OK;
        }
    }
    return DAE_OK;
}

dae_status dae_driver_events(dae_integrator *it, double from, double to, dae_event_outcome *out,
                             dae_error *err)
{
    int stop = 0, acted = 0;
    double done = from;
    for (double to_here, seen; from != to; from = to_here) {
        to_here = seen = to;
        dae_status s = find_roots(it, from, &to_here, &seen, &stop, err);
        if (s) return s;
        if (stop) return cancelled(it, from, err);
        if (!it->nroot && to_here != to) continue; /* it lies further on */
        s = act_on_roots(it, &done, out, err);
        if (!s) s = refused(it, err);
        if (s || out->stop || out->restart) return s;
        acted |= it->nroot > 0;
        if (seen != to_here) return cannot_see(seen, to_here, err);
    }
    if (!acted) return DAE_OK;
    /* Go on: the outputs up to the last root are written already. */
    return dae_driver_output(it, done, to, err) < 0 ? err->status : (out->written = 1, DAE_OK);
}
