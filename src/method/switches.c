/* Switches: where a system is not smooth (daedalus/system.h says what they are).
 *
 * The sides are frozen during a step, so its dense output u(t) is smooth beyond the border too, and the border is the
 * first root of a margin along it. It is found on the interpolant of the margin in the Chebyshev points
 *     t_j = middle - half cos(j pi/N),   margin(u(t)) ~ p(x) = sum_k c_k T_k(x),   j, k = 0 .. N,
 * N = 4, then 8, then 16 where the dense output has a degree above 8: as many points as its polynomial has coefficients,
 * so that p is the margin itself where that is linear in u, and a touch between two points shows. Since |T_k| <= 1 a
 * margin is positive in all of the step if
 *     c_0 - sum_(k>0) |c_k| > |c_(N-1)| + |c_N|,
 * the right side being the size of what p leaves out; most steps end there, with five points. Else the sign of p is looked at
 * between the points and at its minima, and where that leaves a doubt the margin itself is asked.
 *
 * After a switch its margin is zero but for rounding, the projection and a small part of the tolerances (`noise`): a finger that rests
 * on its stop without any force has a margin of rounding errors only. It takes part again from where the
 * next step shows a margin above that; if what shows is negative, the other side drives it back: the step is
 * given up and the switch goes back at its beginning. A switch that both sides drive back chatters, which is an error. */
#include "method/driver.h"

#include "core/vector.h"

#include <float.h>
#include <string.h>

#define CHATTER_COUNT 100  /* so many switches ... */
#define CHATTER_SPAN 1e-10 /* ... within this part of the interval are chatter; ours */
#define BEHIND 4e-15       /* of t; ours */
#define ROUNDS 8           /* of sides that change because another one did; ours */
#define UNSURE 1e-4        /* of the tolerances: what y may be off by beside a border; ours ... */
#define MOST_UNSURE \
    10            /* ... and where both sides drive it back, since steps are right to the tolerances only */
#define BETWEEN 4 /* points between two of the interpolant at which its sign is looked at; ours */
#define MINIMUM_STEPS 40 /* golden section on the interpolant: 0.618^40 < 1e-8 */
/* By so much of |p - c_0| a minimum between two of these points may lie below both. In theta, x = cos theta, |p''| is at most N^2 |p - c_0| (Bernstein), and
 * points are pi/(N sqrt(BETWEEN + 1)) apart at most, at the ends: the nearer one is half of that away. */
#define SAG (1.2337 / (BETWEEN + 1)) /* pi^2/8 */
enum { MOST = 16 };                  /* highest N */

typedef struct dae_driver_switches {
    dae_switches is; /* of the system of this run */
    dae_system own;  /* copy of the system, where it was bound */
    int bound;
    int *side;       /* m: in the arena, for checkpoints; is.side has the same */
    int *open;       /* m: 1: just switched, margin within its noise; then those before the present step */
    int *fired;      /* m: to be switched at switch_t */
    int *next;       /* m */
    double *noise;   /* m */
    double *unsure;  /* m: UNSURE to MOST_UNSURE */
    double *last;    /* m: when it switched last, NAN: never */
    double *margin;  /* m: at one point */
    double *sample;  /* (MOST+1)*m: at the points of the interpolant */
    double from, to; /* the interval of the interpolant */
} switches;

/* ---- Life ------------------------------------------------------------------------------------------- */

dae_status dae_driver_switches_create(dae_integrator *it, dae_error *err)
{
    const dae_switches *given = &it->sys.switches;
    if (!given->count) return DAE_OK;
    switches *w = dae_arena_take(it->keep, 1, sizeof *w);
    size_t m = (size_t)given->count;
    if (w) {
        w->is = *given;
        w->side = dae_arena_ints(it->arena, m);
        w->open = dae_arena_ints(it->arena, 2 * m);
        w->fired = dae_arena_ints(it->arena, m);
        w->next = dae_arena_ints(it->arena, m);
        w->noise = dae_arena_reals(it->arena, m);
        w->unsure = dae_arena_reals(it->arena, m);
        w->last = dae_arena_reals(it->arena, m);
        w->margin = dae_arena_reals(it->arena, m);
        w->sample = dae_arena_reals(it->arena, (MOST + 1) * m);
    }
    if (!w || dae_arena_failed(it->arena))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d switches", given->count);
    it->sw = w;
    if (!given->bind) return DAE_OK;
    dae_status s = given->bind(&it->sys, &w->own, err);
    if (s < 0) return s;
    w->bound = 1;
    w->is = w->own.switches;
    dae_system mine = it->sys; /* arrays that were copied stay; callbacks and their user are the bound ones */
    it->sys = w->own;
    it->sys.structure = mine.structure;
    switch (it->sys.kind) {
    case DAE_KIND_ODE: it->ivp.f = it->sys.ode.f, it->ivp.user = it->sys.ode.user; break;
    case DAE_KIND_DAE:
        it->sys.dae.mass = mine.dae.mass;
        it->ivp.f = it->sys.dae.f, it->ivp.user = it->sys.dae.user;
        break;
    case DAE_KIND_IDE: it->sys.ide.algebraic = mine.ide.algebraic, it->ivp.user = it->sys.ide.user; break;
    case DAE_KIND_MECH: it->ivp.user = it->sys.mech.user; break; /* its arrays live as long as the copy */
    }
    return DAE_OK;
}

static void set_sides(dae_integrator *it)
{
    switches *w = it->sw;
    if (w->is.side) memcpy(w->is.side, w->side, (size_t)w->is.count * sizeof *w->side);
}

void dae_driver_switches_loaded(dae_integrator *it)
{
    if (it->sw) set_sides(it);
}

void dae_driver_switches_destroy(dae_integrator *it)
{
    switches *w = it->sw;
    if (!w) return;
    for (int i = 0; w->is.side && i < w->is.count; i++) w->is.side[i] = DAE_SIDE_FREE;
    if (w->bound && w->is.release) w->is.release(&w->own);
}

/* ---- Margins ---------------------------------------------------------------------------------------- */

/* Where sides are decided anew: some rounding units behind, since mod(0.3, 0.1) is nearly 0.1, and an event at 0.3 is one with that instant. */
static double behind_now(const dae_integrator *it)
{
    double now = it->s->now, span = fabs(it->s->t_end - now);
    return now + it->ivp.direction * BEHIND * (fabs(now) + (span < fabs(now) ? span : fabs(now)));
}

static int margins(dae_integrator *it, double t, const double *y, double *margin)
{
    switches *w = it->sw;
    double at = t == it->s->now ? behind_now(it) : dae_ivp_one_sided(&it->ivp, t);
    int r = w->is.values(at, y, w->side, margin, w->next, w->is.user);
    if (r == 0 && !dae_all_finite(w->is.count, margin)) r = 1;
    return r;
}

static int margins_at(dae_integrator *it, double t, double *margin)
{
    dae_driver_at(it, t, it->scratch, NULL);
    return margins(it, t, it->scratch, margin);
}

static double margin_of(dae_integrator *it, int i, double t)
{
    return margins_at(it, t, it->sw->margin) ? NAN : it->sw->margin[i];
}

/* What margins are known to: what they change by where y moves by a part of the tolerances, to one side and to the other by a sequence in which
 * no two components move alike (fractional parts of k times the golden section). A switch whose margin is within that is open. */
static void set_noise(dae_integrator *it)
{
    switches *w = it->sw;
    const dae_ivp *ivp = &it->ivp;
    double *y = it->scratch, *moved = w->sample; /* moved: a row of those that the next step writes */
    if (margins(it, it->s->now, it->y, w->margin)) return;
    for (int i = 0; i < w->is.count; i++) w->noise[i] = w->open[i] ? fabs(w->margin[i]) : 0;
    for (int way = 0; way < 2; way++) {
        for (int j = 0; j < ivp->n; j++) {
            double d = MOST_UNSURE * (ivp->atol[j] + ivp->rtol[j] * fabs(it->y[j]));
            double k = 0.6180339887498949 * (2 * j + way + 1);
            y[j] = it->y[j] + d * (2 * (k - floor(k)) - 1);
        }
        if (margins(it, it->s->now, y, moved)) continue;
        for (int i = 0; i < w->is.count; i++)
            w->noise[i] = fmax(w->noise[i], w->unsure[i] / MOST_UNSURE * fabs(moved[i] - w->margin[i]));
    }
    for (int i = 0; i < w->is.count; i++) w->open[i] |= fabs(w->margin[i]) <= w->noise[i];
}

static dae_status stopped(double t, dae_error *err)
{
    return dae_fail(err, DAE_ERR_CALLBACK, t, "t = %.10g: the switches of the system asked to stop", t);
}

dae_status dae_driver_switches_start(dae_integrator *it, dae_error *err)
{
    switches *w = it->sw;
    it->s->switch_t = NAN;
    if (!w) return DAE_OK;
    int m = w->is.count;
    for (int i = 0; i < m; i++) w->side[i] = DAE_SIDE_FREE;
    set_sides(it);
    int r = w->is.values(behind_now(it), it->y, w->side, w->margin, w->next, w->is.user);
    if (r < 0) return stopped(it->s->now, err);
    if (r > 0) return DAE_OK; /* not known here: natural evaluation until the next start */
    memcpy(w->side, w->next, (size_t)m * sizeof *w->side);
    set_sides(it);
    r = margins(it, it->s->now, it->y, w->margin);
    if (r < 0) return stopped(it->s->now, err);
    for (int i = 0; i < m; i++) {
        w->open[i] = r > 0 || !(w->margin[i] > 0);
        w->noise[i] = 0;
        w->unsure[i] = UNSURE;
        w->last[i] = NAN;
    }
    set_noise(it);
    return DAE_OK;
}

/* Behind a discontinuity: margins that hold t (mod(t, T) < duty*T) may have jumped there. */
dae_status dae_driver_switches_jump(dae_integrator *it, dae_error *err)
{
    switches *w = it->sw;
    int jumped = 0;
    if (!w) return DAE_OK;
    int r = margins(it, it->s->now, it->y, w->margin);
    if (r < 0) return stopped(it->s->now, err);
    for (int i = 0; i < w->is.count && !r; i++) jumped |= w->margin[i] < -w->noise[i];
    return jumped ? dae_driver_switches_start(it, err) : DAE_OK;
}

/* ---- The interpolant -------------------------------------------------------------------------------- */

/* cos(m pi/N), m >= 0, N a divisor of MOST. */
static double cosine(int m, int N)
{
    enum { QUARTER = MOST / 2 };
    static const double of[QUARTER + 1] = {1,
                                           0.9807852804032304,
                                           0.9238795325112867,
                                           0.8314696123025452,
                                           0.7071067811865476,
                                           0.5555702330196023,
                                           0.38268343236508984,
                                           0.19509032201612828,
                                           0};
    m = m * (MOST / N) & (2 * MOST - 1);
    if (m > MOST) m = 2 * MOST - m;
    return m > QUARTER ? -of[MOST - m] : of[m];
}

/* Point j of N in the step. */
static double point(const switches *w, int j, int N)
{
    if (j == 0) return w->from;
    if (j == N) return w->to;
    return w->from + (w->to - w->from) * (0.5 - 0.5 * cosine(j, N));
}

/* Margins at the points that level N adds to N/2; the rows stand where N = MOST has them. */
static int sample(dae_integrator *it, int N)
{
    switches *w = it->sw;
    for (int j = 0; j <= N; j++) {
        if (N > 4 && j % 2 == 0) continue; /* known from the level before */
        int r = margins_at(it, point(w, j, N), w->sample + (size_t)(j * (MOST / N)) * (size_t)w->is.count);
        if (r) return r;
    }
    return 0;
}

/* c_k of switch i, [Trefethen, Approximation Theory and Approximation Practice, section 3]; x goes from -1 to 1 with j. Points j and N-j
 * have the same cosine, for odd k but for the sign: even c_k are made of the sums of their margins, odd ones of the differences. */
static void coefficients(const switches *w, int i, int N, double *c)
{
    size_t row = (size_t)(MOST / N) * (size_t)w->is.count;
    double fold[2][MOST / 2 + 1];
    for (int j = 0; j < N / 2; j++) {
        double u = w->sample[(size_t)j * row + (size_t)i], v = w->sample[(size_t)(N - j) * row + (size_t)i];
        fold[0][j] = j ? v + u : (v + u) / 2;
        fold[1][j] = j ? v - u : (v - u) / 2;
    }
    fold[0][N / 2] = w->sample[(size_t)(N / 2) * row + (size_t)i];
    fold[1][N / 2] = 0;
    for (int k = 0; k <= N; k++) {
        double sum = 0;
        for (int j = 0; j <= N / 2; j++) sum += fold[k % 2][j] * cosine(j * k, N);
        c[k] = (k == 0 || k == N ? 1.0 : 2.0) * sum / N;
    }
}

/* p at time t, by Clenshaw's recursion. */
static double interpolant(const switches *w, const double *c, int N, double t)
{
    double x = 2 * (t - w->from) / (w->to - w->from) - 1, b1 = 0, b2 = 0;
    for (int k = N; k > 0; k--) {
        double b = c[k] + 2 * x * b1 - b2;
        b2 = b1;
        b1 = b;
    }
    return c[0] + x * b1 - b2;
}

/* What p leaves out, about. */
static double rest_of(const double *c, int N)
{
    return fabs(c[N]) + fabs(c[N - 1]);
}

/* |p - c_0| is at most that. */
static double size_of(const double *c, int N)
{
    double sum = 0;
    for (int k = 1; k <= N; k++) sum += fabs(c[k]);
    return sum;
}

static int surely_positive(const double *c, int N)
{
    return c[0] - size_of(c, N) > rest_of(c, N);
}

/* The least value of p in [a,b]: where it is. */
static double minimum(const switches *w, const double *c, int N, double a, double b)
{
    const double golden = 0.38196601125010515;
    double x = a + golden * (b - a), y = b - golden * (b - a);
    double fx = interpolant(w, c, N, x), fy = interpolant(w, c, N, y);
    for (int k = 0; k < MINIMUM_STEPS && x != y; k++) {
        if (fx < fy) {
            b = y, y = x, fy = fx;
            x = a + golden * (b - a);
            fx = interpolant(w, c, N, x);
        } else {
            a = x, x = y, fx = fy;
            y = b - golden * (b - a);
            fy = interpolant(w, c, N, y);
        }
    }
    return fx < fy ? x : y;
}

/* The first root of margin i behind a, where it is fa > 0, or NAN; only as far as limit. Points at which p is
 * positive beyond doubt are passed; at the others the margin itself is asked. */
static double first_root(dae_integrator *it, int i, const double *c, int N, double a, double fa, double limit)
{
    switches *w = it->sw;
    double d = it->ivp.direction, doubt = rest_of(c, N), last = a, p_before = INFINITY, before = a;
    double p_last = fa, sag = SAG * size_of(c, N);
    int pieces = N * (BETWEEN + 1);
    for (int k = 1; k <= pieces; k++) {
        int j = k / (BETWEEN + 1), part = k % (BETWEEN + 1);
        double t0 = point(w, j, N), t1 = part ? point(w, j + 1, N) : t0;
        double t = t0 + (t1 - t0) * part / (BETWEEN + 1), p = interpolant(w, c, N, t);
        if (d * (t - a) <= 0) continue;
        double ask = NAN;
        if (p <= doubt) ask = t;
        else if (p_last < p && p_last < p_before && last != a &&
                 p_last - sag <= doubt) { /* a minimum between */
            double low = minimum(w, c, N, before, t);
            if (interpolant(w, c, N, low) <= doubt) ask = low;
        }
        if (!isnan(ask) && d * (ask - a) > 0) {
            double f = margin_of(it, i, ask);
            if (f <= 0) return dae_driver_locate(it, margin_of, i, a, ask, fa, fmin(f, -DBL_MIN));
            if (f > 0 && ask == t) a = t, fa = f;
        }
        if (d * (t - limit) >= 0) return NAN;
        before = last, p_before = p_last;
        last = t, p_last = p;
    }
    return NAN;
}

/* ---- After a step ------------------------------------------------------------------------------------ */

/* How far the dense output is off where the step began: not all methods pass through that point. */
static double offset(dae_integrator *it, int i)
{
    switches *w = it->sw;
    it->method->interpolate(it->self, w->from, it->scratch, NULL);
    return margins(it, w->from, it->scratch, w->margin) ? 0 : fabs(w->margin[i] - w->sample[i]);
}

/* A switch whose margin was within its noise: where the step shows more, that is its beginning (*t, *f). -1: what
 * shows is on the wrong side, at two points after another. 0: nothing shows. */
static int show(dae_integrator *it, int i, double *t, double *f)
{
    switches *w = it->sw;
    double noise = fmax(w->noise[i], offset(it, i));
    int wrong = 0;
    for (int k = 20; k >= 0; k -= 2) {
        *t = w->from + ldexp(w->to - w->from, -k);
        *f = margin_of(it, i, *t);
        if (!(fabs(*f) > 4 * noise)) continue;
        if (*f > 0) return 1;
        if (wrong++) return -1;
    }
    return wrong ? -1 : 0;
}

/* Switch i passes its border at t: so far the first, or together with it. */
static void note(dae_integrator *it, int i, double t)
{
    switches *w = it->sw;
    double first = it->s->switch_t, d = it->ivp.direction;
    if (!isnan(first) && d * (t - first) > dae_driver_same_time(it, t)) return;
    if (isnan(first) || d * (first - t) > dae_driver_same_time(it, t))
        memset(w->fired, 0, (size_t)w->is.count * sizeof *w->fired);
    w->fired[i] = 1;
    if (isnan(first) || d * (t - first) > 0 || d * (first - t) > dae_driver_same_time(it, t))
        it->s->switch_t = t;
}

static void look_at(dae_integrator *it, int i, int N)
{
    switches *w = it->sw;
    double c[MOST + 1] = {0}, a = w->from, fa = w->sample[i];
    if (w->open[i]) {
        int shows = show(it, i, &a, &fa);
        if (shows < 0) note(it, i, w->from);
        w->open[i] = shows == 0;
        if (shows <= 0) return;
    }
    coefficients(w, i, N, c);
    if (surely_positive(c, N)) return;
    double limit = isnan(it->s->switch_t) ? w->to : it->s->switch_t;
    if (!(fa > 0)) fa = DBL_MIN; /* rounding at the beginning */
    double t = first_root(it, i, c, N, a, fa, limit);
    if (!isnan(t)) note(it, i, t);
}

/* 1: no margin can vanish in this step. */
static int all_clear(const switches *w, int N)
{
    double c[MOST + 1];
    for (int i = 0; i < w->is.count; i++) {
        if (w->open[i]) return 0;
        coefficients(w, i, N, c);
        if (!surely_positive(c, N)) return 0;
    }
    return 1;
}

/* Samples with N = 4, 8 .. most, until *clear: no margin can vanish. > 0: cannot be evaluated somewhere, < 0: is to stop. */
static int sample_up_to(dae_integrator *it, int most, int *N, int *clear)
{
    int r;
    for (*N = 4; !(r = sample(it, *N)); *N *= 2) {
        *clear = all_clear(it->sw, *N);
        if (*clear || *N == most) break;
    }
    return r;
}

dae_status dae_driver_switches_look(dae_integrator *it, dae_error *err)
{
    switches *w = it->sw;
    if (w->side[0] == DAE_SIDE_FREE) return DAE_OK;
    w->from = it->s->now;
    w->to = it->ivp.t;
    if (fabs(w->to - w->from) <= BEHIND * fabs(w->to)) return DAE_OK; /* between two instants that are one */
    memcpy(w->open + w->is.count, w->open, (size_t)w->is.count * sizeof *w->open);
    int degree = it->ivp.dense_degree ? it->ivp.dense_degree : it->ivp.order + 1, N, r;
    int most = degree > 8 ? 16 : 8, clear = 0;
    it->ivp.coarse = 1; /* what the method has is enough where nothing is near; else as well as it can */
    r = sample_up_to(it, 8, &N, &clear);
    it->ivp.coarse = 0;
    if (!r && !clear) r = sample_up_to(it, most, &N, &clear);
    if (clear) return DAE_OK;
    if (r < 0) return stopped(w->to, err);
    if (r > 0) return DAE_OK; /* cannot be evaluated inside: nothing is known of this step */
    for (int i = 0; i < w->is.count && !dae_driver_cancelled(it); i++) look_at(it, i, N);
    return DAE_OK;
}

void dae_driver_switches_again(dae_integrator *it)
{
    switches *w = it->sw;
    memcpy(w->open, w->open + w->is.count, (size_t)w->is.count * sizeof *w->open);
}

/* ---- At a switch ------------------------------------------------------------------------------------- */

static const char *name_of(const switches *w, int i)
{
    return w->is.name ? w->is.name(i, w->is.user) : "a switch of the system";
}

static dae_status watch_chatter(dae_integrator *it, int i, dae_error *err)
{
    driver_state *s = it->s;
    double span = CHATTER_SPAN * fabs(s->t_end - s->t0);
    if (!s->chatter_count || fabs(s->now - s->chatter_start) > span) {
        s->chatter_start = s->now;
        s->chatter_count = 0;
    }
    if (++s->chatter_count < CHATTER_COUNT) return DAE_OK;
    return dae_fail(
        err, DAE_ERR_EVENT, s->now,
        "t = %.10g: %s switched %d times within %.3g s: each side drives it back to the other, so it "
        "chatters (as dry friction by sign(v) does at rest). Use friction that sticks, or a smooth law "
        "such as tanh(v/v0)",
        s->now, name_of(it->sw, i), s->chatter_count, fabs(s->now - s->chatter_start));
}

dae_status dae_driver_switches_act(dae_integrator *it, dae_error *err)
{
    switches *w = it->sw;
    int m = w->is.count, one = 0;
    double t = it->s->now;
    it->s->switch_t = NAN;
    for (int round = 0, more = 1; more && round < ROUNDS; round++) {
        if (margins(it, t, it->y, w->margin) < 0) return stopped(t, err);
        more = 0;
        for (int i = 0; i < m; i++) {
            /* A side that this one carried with it: its margin says so, beyond rounding. */
            int carried = round > 0 && !w->open[i] && w->margin[i] < 0;
            if (!(round == 0 ? w->fired[i] : carried)) continue;
            w->side[i] = w->next[i];
            w->open[i] = more = 1;
            w->unsure[i] = w->last[i] == t ? fmin(10 * w->unsure[i], MOST_UNSURE) : UNSURE;
            w->last[i] = t;
            one = i;
            it->s->stats.switches++;
            dae_log(&it->opt, DAE_LOG_INFO, "t=%.16g switch=\"%s\" side=%d", t, name_of(w, i), w->side[i]);
        }
        set_sides(it);
    }
    memset(w->fired, 0, (size_t)m * sizeof *w->fired);
    set_noise(it);
    if (w->is.adapt && w->is.adapt(t, it->y, w->is.user) < 0) return stopped(t, err);
    return watch_chatter(it, one, err);
}
