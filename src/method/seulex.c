/* seulex: extrapolation of the linearly implicit Euler method with control of step size and order, for M y' = f(t,y), ODEs and
 * DAEs of index 1. With h_j = H/n_j, n_j = 2, 3, 4, ..., and J = df/dy at the start of the step
 *
 *     (M - h_j J) (y_(i+1) - y_i) = h_j f(t_(i+1), y_i),   i = 0 .. n_j - 1,   T_j1 = y_(n_j)
 *     T_j,k+1 = T_jk + (T_jk - T_j-1,k) / (n_j/n_(j-k) - 1)
 *
 * T_jj is of order j; its error is estimated by |T_jj - T_j,j-1|. Control of order and step by work per unit step, and all
 * constants of it, as in the program SEULEX: [HW] section IV.9. A row whose first increments do not contract, as a
 * simplified Newton iteration would, rejects the step.
 *
 * Dense output, [HW] IV.9 (Hairer and Ostermann): backward differences of the values of row j at the right end,
 * nabla^k y_(n_j) n_j^k, have expansions in h_j too and are extrapolated like the values, which gives the derivatives H^k
 * y^(k) there; the polynomial has them, y at both ends and degree j. The right end because stiff components have died out.
 * ODEs refine it where points inside a step are wanted (refine.h).
 * Ours: a jump of f before the first inner point of all rows leaves no trace in the tableau, since no row looks at f at the start; one
 * behind their last inner point adds a multiple of h_j, which extrapolation removes. The slope of the polynomial at the start has to
 * be that of f, and the second differences at the end have to converge. "Cannot be evaluated" halves the step; the correction of
 * values that are off the algebraic equations at the start is left to the first steps. */
#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/failure.h"
#include "method/method.h"
#include "method/refine.h"
#include "method/setup.h"

#include <float.h>
#include <stdlib.h>

enum {
    ROWS = 12,
    DERIVATIVES = 10,
    POINTS = 12
}; /* SEULEX KM; ours: derivatives at the right end at most, points of refined dense output */

#define FAC1 0.1   /* SEULEX: limits of the step size ratio for order j, fac1^(1/j) and fac2/fac1^(1/j) */
#define FAC2 4.0   /* SEULEX */
#define FAC3 0.7   /* SEULEX: the order falls if w(k-1) < 0.7 w(k) */
#define FAC4 0.9   /* SEULEX: and rises if w(k) < 0.9 w(k-1) */
#define SAFE1 0.6  /* SEULEX */
#define SAFE2 0.93 /* SEULEX */
#define WORK_JACOBIAN 5.0 /* SEULEX: in units of f, as a factorization 1 and a substitution 1 */
#define WORK_LU 1.0
#define WORK_ROW 2.0
#define THETA_MAX 1.0     /* SEULEX: increments that do not contract */
#define THETA_KEEP 1e-4   /* SEULEX: the Jacobian is kept below this and rtol */
#define LAST_STRETCH 1.01 /* ours, as in erk.c */
#define SINGULAR_MAX 5    /* SEULEX */
#define UNCLEAR \
    1000.0 /* ours: what a jump that no row sees may cost, in tolerances, where a smooth solution can look like it ... */
#define CLEAR \
    30.0 /* ... and where it cannot; 10 and 300 cost a tenth of the steps on ringmod, medakzo and orego */
#define ALIKE 0.25   /* ours: how far figures may be apart that are the same for a jump */
#define SHORTER 0.25 /* ours: towards a jump */
#define AGAIN 3      /* ours: from this attempt on every row may do, as in the first step: the last ones magnify rounding */

/* Survives in a checkpoint. */
typedef struct state {
    double t_old, t, h, h_next;
    double theta;                     /* contraction seen in the last step */
    double hh[ROWS + 2], w[ROWS + 2]; /* optimal steps and work per unit step of the rows, from 1 */
    int k;                            /* row that should converge */
    int first, rejected;              /* no step yet; attempts of this step that failed */
    int have_jac;
    int rows;     /* of the last step; 0: none, no dense output */
    int filtered; /* 1: dense output is refined with the filter, or cannot be */
} state;

typedef struct seulex {
    dae_ivp *ivp;
    state *s;
    dae_shifted *linear;
    dae_matrix mass;
    int n;
    double *y, *y0, *y1;       /* n: at t; at t_old; attempted, and then y before anybody changed it */
    double *f0, *f1;           /* n: f at t_old, at t */
    double *x, *d, *md, *scal; /* n: value inside a row; increment; M d; weights */
    double *T;                 /* ROWS n: the last row of the tableau */
    double *history;           /* (DERIVATIVES + 1) n: the last values of a row */
    double *D;                 /* DERIVATIVES ROWS n: tableaus of the derivatives at the right end */
    double *J;
    double work[ROWS + 2]; /* A_j */
    dae_refine refine;     /* ODEs only */
} seulex;

static int count_of(int j) /* n_j, j from 1 */
{
    return j + 1;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    seulex *m = self;
    if (!m) return;
    dae_shifted_destroy(m->linear);
    free(m);
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    seulex *m = calloc(1, sizeof *m);
    (void)option;
    if (!m) goto memory;
    size_t n = (size_t)ivp->n;
    dae_arena *a = ivp->arena;
    m->ivp = ivp;
    m->n = ivp->n;
    m->mass = dae_ivp_mass(ivp);
    m->s = dae_arena_take(a, 1, sizeof *m->s);
    double **vector[] = {&m->y, &m->y0, &m->y1, &m->f0, &m->f1, &m->x, &m->d, &m->md, &m->scal};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) *vector[i] = dae_arena_reals(a, n);
    m->T = dae_arena_reals(a, n * ROWS);
    m->history = dae_arena_reals(a, n * (DERIVATIVES + 1));
    m->D = dae_arena_reals(a, n * DERIVATIVES * ROWS);
    m->J = dae_arena_reals(a, (size_t)dae_pattern_count(&ivp->jacobian, ivp->n));
    if (!m->mass.n) dae_refine_create(&m->refine, ivp, POINTS);
    if (dae_arena_failed(a)) goto memory;
    dae_shifted_spec spec = {.n = ivp->n,
                             .jacobian = ivp->jacobian,
                             .mass = m->mass,
                             .second_order = ivp->sys->structure.second_order,
                             .own = ivp->linear_solver};
    ivp->no_iteration = 1;
    m->linear = dae_shifted_create(&spec, a, err);
    if (!m->linear) {
        destroy(m);
        return NULL;
    }
    m->work[1] = WORK_JACOBIAN + WORK_LU + count_of(1) * WORK_ROW;
    for (int j = 2; j <= ROWS; j++) m->work[j] = m->work[j - 1] + (count_of(j) - 1) * WORK_ROW + WORK_LU;
    dae_ivp_solves_with(ivp, dae_shifted_describe(m->linear));
    ivp->y = m->y;
    ivp->order = 2;
    return m;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for seulex on %d equations", ivp->n);
    destroy(m);
    return NULL;
}

static dae_status evaluation_failed(seulex *m, int r, const char *where)
{
    return dae_says_not_evaluated(m->ivp, r, m->s->t, "the system", where);
}

static void weights(seulex *m, const double *y)
{
    for (int i = 0; i < m->n; i++) m->scal[i] = m->ivp->atol[i] + m->ivp->rtol[i] * fabs(y[i]) + DBL_MIN;
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    seulex *m = self;
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int r = 0;
    if (y != m->y) dae_copy(m->n, y, m->y);
    dae_copy(m->n, m->y, m->y1);
    double least = INFINITY;
    for (int i = 0; i < m->n; i++) least = fmin(least, ivp->digits[i]);
    int k = (int)(-log10(least) * 0.6 + 1.5); /* SEULEX */
    *s = (state){.t_old = t, .t = t, .k = k < 2 ? 2 : k > ROWS - 2 ? ROWS - 2 : k, .first = 1, .theta = 1};
    ivp->t_old = ivp->t = t;
    if (!m->mass.n) dae_refine_begin(&m->refine, NULL);
    if (ivp->sys->kind == DAE_KIND_ODE && yp) { /* f(t,y), not counted yet */
        dae_copy(m->n, yp, m->f1);
        ivp->stats->f++;
    } else {
        r = dae_ivp_f(ivp, t, m->y, m->f1);
    }
    if (r) return evaluation_failed(m, r, "at the start");
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    else if (!(h > 0)) { /* as radau's */ double room = fabs(dae_ivp_piece_end(ivp) - t), v;
        weights(m, m->y);
        v = dae_wrms(m->n, yp ? yp : m->f1, m->scal);
        h = fmin(0.01 * room, v > 0 ? 0.5 / v : 0.01 * room);
        if (!(h > 0)) h = 1e-6 * room;
        h = fmax(h, 40 * DBL_EPSILON * fabs(t));
    }
    s->h_next = ivp->opt->fixed_step > 0 ? ivp->direction * h : dae_setup_limited(ivp, h);
    ivp->h_next = s->h_next;
    return DAE_OK;
}

/* ---- One row of the tableau ---------------------------------------------------------------------------------------- */

typedef enum outcome { FINE, DIVERGES, SINGULAR, UNDEFINED, JUMP, STOP } outcome;

static outcome judged(int r)
{
    return r == 0 ? FINE : r < 0 ? STOP : UNDEFINED;
}

/* d := (M/h - J)^-1 d */
static void solve(seulex *m, double *d)
{
    m->ivp->stats->solves++;
    DAE_LINALG(m->ivp, dae_shifted_solve(m->linear, d));
}

/* The contraction of a simplified Newton iteration for the first implicit Euler step, SEULEX. x = y_1, d = y_1 - y_0. */
static outcome contraction(seulex *m, double h, double t1)
{
    double first = dae_wrms(m->n, m->d, m->scal);
    if (m->mass.n) dae_matrix_multiply(&m->mass, m->n, m->d, m->md);
    else dae_copy(m->n, m->d, m->md);
    int r = dae_ivp_f(m->ivp, t1, m->x, m->d);
    if (r) return judged(r);
    dae_axpy(m->n, -1 / h, m->md, m->d);
    solve(m, m->d);
    double theta = dae_wrms(m->n, m->d, m->scal) / fmax(1e-10, first);
    if (!(theta <= THETA_MAX) && first > 1e-3) return DIVERGES; /* below: rounding */
    m->s->theta = fmax(m->s->theta, theta);
    return FINE;
}

/* T[c-1] := entry c of row j, for a tableau whose last row is in T, values in its first column x; rows count from `from`. */
static void extrapolate(int n, int j, int from, const double *x, double *T)
{
    for (int i = 0; i < n; i++) {
        double left = x[i];
        for (int c = 0; c < j - from; c++) {
            double before = T[(size_t)c * (size_t)n + (size_t)i];
            double ratio = (double)count_of(j) / count_of(j - c - 1);
            T[(size_t)c * (size_t)n + (size_t)i] = left;
            left += (left - before) / (ratio - 1);
        }
        T[(size_t)(j - from) * (size_t)n + (size_t)i] = left;
    }
}

/* Adds row j to the tableaus of the derivatives: differences of the last values in history, the newest first. The value at
 * the start does not take part, since algebraic variables have another expansion there; so k < n_j, and row k is the first. */
static void keep_differences(seulex *m, int j)
{
    int n = m->n, count = count_of(j);
    double *v = m->history, scale = 1;
    for (int k = 1; k <= DERIVATIVES && k < count; k++) {
        scale *= count;
        int top = count < DERIVATIVES ? count : DERIVATIVES;
        for (int q = 0; q + k <= top; q++) { /* v[q] := nabla^k of the value q steps before the end */
            double *a = v + (size_t)q * (size_t)n, *b = a + n;
            for (int i = 0; i < n; i++) a[i] -= b[i];
        }
        for (int i = 0; i < n; i++) m->d[i] = v[i] * scale;
        extrapolate(n, j, k, m->d, m->D + (size_t)(k - 1) * ROWS * (size_t)n);
    }
}

/* Row j of the tableau for a step of size H from y0. */
static outcome row(seulex *m, int j, double H)
{
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int n = m->n, count = count_of(j), bad = 0;
    double h = H / count;
    ivp->stats->lu++;
    DAE_LINALG(ivp, bad = dae_shifted_factor(m->linear, 1 / h, 0, m->J));
    if (bad) return SINGULAR;
    dae_copy(n, m->y0, m->x);
    for (int i = 1; i <= count; i++) {
        double t1 = i == count && s->t + H == s->t + h * i ? s->t + H : s->t + h * i;
        if (ivp->direction * (t1 - ivp->t_stop) > 0) t1 = ivp->t_stop;
        if (count - i < DERIVATIVES) dae_copy(n, m->x, m->history + (size_t)(count - i + 1) * (size_t)n);
        int r = dae_ivp_f(ivp, t1, m->x, m->d);
        if (r) return judged(r);
        solve(m, m->d);
        for (int q = 0; q < n; q++) m->x[q] += m->d[q];
        if (i == 1 && j <= 2) {
            outcome o = contraction(m, h, t1);
            if (o != FINE) return o;
        }
    }
    if (!dae_all_finite(n, m->x)) return UNDEFINED;
    dae_copy(n, m->x, m->history);
    extrapolate(n, j, 1, m->x, m->T);
    keep_differences(m, j);
    return FINE;
}

/* The error of row j >= 2, its optimal step and its work. */
static double judge_row(seulex *m, int j, double H)
{
    state *s = m->s;
    const double *best = m->T + (size_t)(j - 1) * (size_t)m->n, *other = best - m->n;
    double sum = 0;
    for (int i = 0; i < m->n; i++) {
        double e = (best[i] - other[i]) / m->scal[i];
        sum += e * e;
    }
    double err = sqrt(sum / m->n), expo = 1.0 / j, least = pow(FAC1, expo);
    double fac = fmin(FAC2 / least, fmax(least, pow(fmax(err, 1e-30) / SAFE1, expo) / SAFE2));
    double hh = isfinite(err) ? fabs(H) / fac : 0.1 * fabs(H), h_max = m->ivp->opt->h_max;
    if (h_max > 0) hh = fmin(hh, h_max);
    s->hh[j] = hh;
    s->w[j] = m->work[j] / hh;
    return isfinite(err) ? err : 1e30;
}

/* ---- The step -------------------------------------------------------------------------------------------------------- */

/* Rows until one converges; *kc is the last that was made. FINE with *accepted 0: the error is too large. */
static outcome rows(seulex *m, double H, int fixed, int *kc, int *accepted)
{
    state *s = m->s;
    int k = s->k;
    *accepted = 0;
    s->theta = 0;
    for (int j = 1; j <= k + 1; j++) {
        outcome o = row(m, j, H);
        if (o != FINE) return o;
        *kc = j;
        if (j == 1) continue;
        double err = judge_row(m, j, H);
        if (fixed && j == k) err = 0;
        int any = s->first || s->rejected >= AGAIN;
        int looked_at = fixed ? j == k : any || j >= k || (j == k - 1 && !s->rejected);
        *accepted = looked_at && err <= 1;
        if (*accepted) return FINE;
        /* what the rows to come can gain, SEULEX */
        double gain = j == k - 1 ? 4.0 * count_of(k) * count_of(k + 1) : 2.0 * count_of(k + 1);
        if (looked_at && j >= k - 1 && err > gain) return FINE;
    }
    return FINE;
}

static int derivatives_of(int rows)
{
    return rows - 1 < DERIVATIVES ? rows - 1 : DERIVATIVES;
}

/* With x = theta - 1 in [-1, 0] and q derivatives at the end of a step of so many rows and size h:
 * y1 + x (D_1 + x/2 (D_2 + x/3 (...))) + c x^(q+1), where c makes it y0 at x = -1. */
static void polynomial(const seulex *m, double x, double h, int rows, int q, double *y, double *yp)
{
    int n = m->n;
    for (int i = 0; i < n; i++) {
        double p = 0, dp = 0, end = 0; /* sum_k D_k x^(k-1)/k!, its derivative, and at x = -1 */
        for (int k = q; k >= 1; k--) {
            double d = m->D[((size_t)(k - 1) * ROWS + (size_t)(rows - k)) * (size_t)n + (size_t)i];
            dp = (p + x * dp) / (k + 1);
            p = d + x * p / (k + 1);
            end = d - end / (k + 1);
        }
        double sign = q % 2 ? 1 : -1; /* (-1)^(q+1) */
        double c = sign * (m->y0[i] - m->y1[i] + end), power = pow(x, q);
        if (y) y[i] = m->y1[i] + x * p + c * power * x;
        if (yp) yp[i] = (p + x * dp + (q + 1) * c * power) / h;
    }
}

/* ---- Jumps that no row sees ------------------------------------------------------------------------------------------- */

/* What two figures have in common that are the same for a jump, and differ by a factor for a smooth solution. */
static double common(double a, double b)
{
    return fabs(a - b) <= ALIKE * fmin(fabs(a), fabs(b)) ? a : 0;
}

/* |(1 - h J)^-2 h e| in tolerances, with h and the factors of the last row; twice, because what has died out at the end of the
 * step is no jump. */
static double damped_size(seulex *m, double H, int kc, double *e)
{
    int n = m->n;
    double scale = count_of(kc) / H;
    for (int pass = 0; pass < 2; pass++) {
        if (pass && m->mass.n) {
            dae_matrix_multiply(&m->mass, n, e, m->md);
            dae_copy(n, m->md, e);
        }
        for (int i = 0; pass && i < n; i++) e[i] *= scale;
        solve(m, e);
    }
    return dae_wrms(n, e, m->scal);
}

/* Before the first inner point of all rows: f at the start is not the slope of the polynomial there. That of a polynomial with one
 * derivative less is off by as much where f jumps, and by more where the solution is smooth. */
static int jump_at_start(seulex *m, double H, int kc)
{
    int n = m->n, q = derivatives_of(kc);
    double *e = m->d, *less = m->x, bound = 0;
    polynomial(m, -1, H, kc, q, NULL, e);
    polynomial(m, -1, H, kc, q - 1, NULL, less);
    if (m->mass.n) {
        dae_matrix_multiply(&m->mass, n, e, m->md);
        dae_copy(n, m->md, e);
        dae_matrix_multiply(&m->mass, n, less, m->md);
        dae_copy(n, m->md, less);
    }
    for (int i = 0; i < n; i++) {
        e[i] -= m->f0[i];
        less[i] = common(e[i], less[i] - m->f0[i]);
        double w = less[i] * H / (count_of(kc) * m->scal[i]);
        bound += w * w;
    }
    if (!(damped_size(m, H, kc, e) <= UNCLEAR)) return 1;
    return bound > (double)n * CLEAR * CLEAR && damped_size(m, H, kc, less) > CLEAR;
}

/* Behind the last inner point of all rows: a jump d adds H d n_j to the second differences nabla^2 y n_j^2 of row j, and H d (n_2, ..
 * n_j) to the differences between the columns of their tableau, while the values lack H d/n at most. */
static int jump_at_end(const seulex *m, int kc)
{
    size_t n = (size_t)m->n;
    const double *column = m->D + (ROWS + (size_t)(kc - 2)) * n;
    double sum = 0, clear = 0;
    for (size_t i = 0; i < n; i++) {
        double e = 0, both = 0;
        for (int c = 0; c < 3 && c <= kc - 2; c++) {
            double left = c < kc - 2 ? column[i - (size_t)(c + 1) * n] : 0;
            double d = (column[i - (size_t)c * n] - left) / (count_of(2 + c) * count_of(kc) * m->scal[i]);
            both = c ? common(both, d) : d;
            if (!c) e = d;
        }
        sum += e * e;
        clear += both * both;
    }
    return !(sum <= m->n * UNCLEAR * UNCLEAR) || clear > m->n * CLEAR * CLEAR;
}

/* SEULEX: order and step after an accepted step with kc rows. */
static double next_step(seulex *m, int kc)
{
    state *s = m->s;
    const double *w = s->w, *hh = s->hh, *A = m->work;
    int k = s->k, opt;
    if (kc == 2) {
        opt = s->rejected ? 2 : 3;
    } else if (kc <= k) {
        opt = kc;
        if (w[kc - 1] < w[kc] * FAC3) opt = kc - 1;
        if (w[kc] < w[kc - 1] * FAC4) opt = kc + 1 < ROWS - 1 ? kc + 1 : ROWS - 1;
    } else {
        opt = kc - 1;
        if (kc > 3 && w[kc - 2] < w[kc - 1] * FAC3) opt = kc - 2;
        if (w[kc] < w[opt] * FAC4) opt = kc < ROWS - 1 ? kc : ROWS - 1;
    }
    double h;
    if (s->rejected) {
        s->k = opt < kc ? opt : kc;
        h = fmin(fabs(s->h), hh[s->k]);
    } else {
        if (opt <= kc) h = hh[opt];
        else if (kc < k && w[kc] < w[kc - 1] * FAC4) h = hh[kc] * A[opt + 1 <= ROWS ? opt + 1 : ROWS] / A[kc];
        else h = hh[kc] * A[opt] / A[kc];
        s->k = opt;
    }
    return dae_setup_limited(m->ivp, h);
}

static void accept(seulex *m, double t1, int kc)
{
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    dae_copy(m->n, m->y1, m->y);
    if (!m->mass.n) dae_refine_begin(&m->refine, m->y0);
    s->t_old = s->t;
    s->t = t1;
    s->rows = kc;
    s->filtered = 0;
    ivp->stats->accepted++;
    ivp->t_old = s->t_old;
    ivp->t = t1;
    ivp->order = kc;
}

/* f at the start of the step, and J unless the last one still contracts. */
static int begin(seulex *m)
{
    state *s = m->s;
    int r = 0;
    if (memcmp(m->y, m->y1, (size_t)m->n * sizeof *m->y) == 0) dae_copy(m->n, m->f1, m->f0);
    else r = dae_ivp_f(m->ivp, s->t, m->y, m->f0); /* somebody changed y */
    dae_copy(m->n, m->y, m->y0);
    s->rows = 0;
    weights(m, m->y0);
    if (!r && (!s->have_jac || s->theta > fmin(THETA_KEEP, m->ivp->digits[0]))) {
        r = dae_ivp_jacobian(m->ivp, s->t, m->y0, m->f0, m->J);
        s->have_jac = 2; /* of this point */
    } else {
        s->have_jac = 1;
    }
    return r;
}

/* After a failed attempt with these rows: the next h. */
static double shorter(seulex *m, outcome o, double H, int kc)
{
    state *s = m->s;
    if (o != FINE) return o == JUMP ? SHORTER * H : 0.5 * H;
    s->k = s->k < kc ? s->k : kc;
    if (s->k > 2 && s->w[s->k - 1] < s->w[s->k] * FAC3) s->k--;
    double h = s->hh[s->k];
    return m->ivp->direction * fmin(h, 0.9 * fabs(H));
}

static dae_status step(void *self)
{
    seulex *m = self;
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int fixed = ivp->opt->fixed_step > 0, singular = 0, accepted;
    double goal = dae_ivp_piece_end(ivp), rest = goal - s->t;
    if (ivp->direction * rest <= 0) return DAE_OK;
    int r = begin(m);
    if (r) return evaluation_failed(m, r, "at the start of a step");
    double h = s->h_next, stretch = ivp->opt->h_max > 0 && fabs(rest) > ivp->opt->h_max ? 1 : LAST_STRETCH;
    s->rejected = 0;
    for (long failures = 0;; failures++) {
        int last = stretch * fabs(h) >= fabs(rest), kc = 0;
        double wanted = h, t1 = last ? goal : s->t + h;
        if (last) h = rest;
        if ((fabs(h) <= fmax(10 * DBL_EPSILON * fabs(s->t), 1e-100) || fabs(h) < ivp->opt->h_min) && !fixed &&
            !last)
            return dae_ivp_fail(
                ivp, DAE_ERR_STEP_TOO_SMALL,
                "t = %.10g: step fell to %.3g (h_min %.3g) after %ld failures; singularity or jump in the "
                "right-hand side, or inconsistent initial values?",
                s->t, fabs(h), ivp->opt->h_min, failures);
        ivp->stats->steps++;
        outcome o = rows(m, h, fixed, &kc, &accepted);
        if (o == STOP) return evaluation_failed(m, -1, "in a step");
        if (fixed && o != FINE) return evaluation_failed(m, 1, "in a step of fixed size");
        if (o == SINGULAR && ++singular >= SINGULAR_MAX)
            return dae_ivp_fail(
                ivp, DAE_ERR_SINGULAR,
                "t = %.10g: the matrix M - h J is singular, also with h = %.3g; the index may be above 1, "
                "or a variable may not occur",
                s->t, h);
        if (o == FINE && accepted) {
            dae_copy(m->n, m->T + (size_t)(kc - 1) * (size_t)m->n, m->y1);
            int jump = !fixed && (jump_at_end(m, kc) || jump_at_start(m, h, kc));
            r = jump ? 1 : dae_ivp_project(ivp, t1, m->y1);
            if (!r) r = dae_ivp_f(ivp, t1, m->y1, m->f1);
            if (r < 0) return evaluation_failed(m, r, "in a step");
            if (!r) {
                s->h = h;
                double proposed = fixed ? wanted : next_step(m, kc);
                if (last && !failures && fabs(proposed) < fabs(wanted)) proposed = wanted;
                s->h_next = ivp->h_next = proposed;
                s->first = s->rejected = 0;
                accept(m, t1, kc);
                return DAE_OK;
            }
            o = jump ? JUMP : UNDEFINED;
        }
        dae_log(ivp->opt, DAE_LOG_STEP, "t=%.10g h=%.4g rows=%d rejected=%s", s->t, h, kc,
                o == FINE       ? "error"
                : o == DIVERGES ? "contraction"
                : o == JUMP     ? "jump"
                                : "undefined");
        ivp->stats->rejected++;
        h = shorter(m, o, h, kc);
        s->rejected++;
        if (s->have_jac == 1) { /* an old one may be the reason */
            r = dae_ivp_jacobian(ivp, s->t, m->y0, m->f0, m->J);
            if (r) return evaluation_failed(m, r, "at the start of a step");
            s->have_jac = 2;
        }
    }
}

/* ---- Dense output ------------------------------------------------------------------------------------------------------ */

static void extrapolated(const seulex *m, double t, double *y, double *yp)
{
    const state *s = m->s;
    polynomial(m, (t - s->t) / s->h, s->h, s->rows, derivatives_of(s->rows), y, yp);
}

static void guess(void *self, double t, double *y)
{
    extrapolated(self, t, y, NULL);
}

/* n_j/H inv(n_j/H - J) with the factors of the last row. */
static void filter(void *self, double *x)
{
    seulex *m = self;
    double c = count_of(m->s->rows) / m->s->h;
    solve(m, x);
    for (int i = 0; i < m->n; i++) x[i] *= c;
}

/* The refined polynomial: without the filter, which spoils it where J changes along a step that is not stiff, or else
 * with it. 0: there is none. */
static int refined(seulex *m, double t, double *y, double *yp)
{
    state *s = m->s;
    dae_refine_step with = {.k = POINTS, .y1 = m->y1, .guess = guess, .filter = filter, .self = m},
                    without = with;
    without.filter = NULL;
    if (m->mass.n || m->ivp->coarse) return 0;
    if (s->filtered == 0 && dae_refine_interpolate(&m->refine, &without, t, y, yp)) return 1;
    if (s->filtered == 0) dae_refine_begin(&m->refine, m->y0);
    s->filtered = 1;
    return dae_refine_interpolate(&m->refine, &with, t, y, yp);
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    seulex *m = self;
    if (!m->s->rows) { /* no step yet */
        if (y) dae_copy(m->n, m->y, y);
        if (yp) dae_copy(m->n, m->f1, yp);
        return;
    }
    if (!y) y = m->x;
    if (!refined(m, t, y, yp)) extrapolated(m, t, y, yp);
}

static size_t save(const void *self, void *buffer)
{
    return dae_shifted_save(((const seulex *)self)->linear, buffer);
}

static int load(void *self, const void *buffer, size_t size)
{
    return dae_shifted_load(((seulex *)self)->linear, buffer, size);
}

/* ---- Descriptor ---------------------------------------------------------------------------------------------------------- */

extern const dae_method dae_method_seulex; /* the registry declares it the same way */
const dae_method dae_method_seulex = {
    .info = {.name = "seulex",
             .title = "extrapolation of the linearly implicit Euler method, variable order",
             .literature = "[HW] section IV.9",
             .summary = "stiff ODEs and DAEs of index 1, from crude to tight tolerances",
             .order_min = 2,
             .order_max = ROWS,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE,
             .max_index = 1,
             .implicit = 1,
             .checkpoint = 1,
             .projects = 1},
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
