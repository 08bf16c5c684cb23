/* MEBDF: modified extended backward differentiation formulas of order 2 to 8 for M y' = f(t,y) and
 * F(t,y,y') = 0, index up to 3.
 *
 * History: backward differences D_j = nabla^j y_n at constant h. With k steps back, q = h beta:
 *
 *     stage 1, t_(n+1):  y1 = a  + q y1',   a  = sum_(j<k) e_j D_j
 *     stage 2, t_(n+2):  y2 = a' + q y2',   a' = the same with the differences formed from y1, y_n, ..
 *     stage 3, t_(n+1):  y_(n+1) = sum_(j<k) m_j D_j + h (b2 y2' + (b1 - beta) y1') + q y'_(n+1)
 *
 * of order k, k, k+1. All three have the same leading coefficient, so one matrix M/q - J (dF/dy'/q + dF/dy)
 * serves all. y1' and y2' follow from the formulas; only y'_(n+1) is implicit in stage 3. Every vector that
 * a step needs is a linear combination of D_0 .. D_k and y1, formed in one sweep (combine).
 *
 * mebdfdae starts stages 1 and 3 with the derivatives it knows; mebdfi evaluates the residual for every
 * iterate. Sources: [CASH83], [CC92], [MEBDFDAE]. Where we differ (option classic = 1 switches it off):
 * a formula is iterated with its own q, not with that of the factors, and increments are damped by the
 * difference; stage 1 of mebdfdae on DAEs does not start with y2' of the last step, which hides what is left
 * of the algebraic equations (transistor amplifier, rtol 1e-7: fails); the Jacobian survives a change of h
 * while the iteration converges fast; the smallest step is relative to t; several error failures near each
 * other (a kink) lead back to order 1. A wall (t_stop) is reached with a step of stage 1 only, whose local
 * error h^(k+1) is of the order of the global error. */
#include "method/mebdf/mebdf.h"

#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/failure.h"
#include "method/mebdf/coefficients.h"
#include "method/method.h"
#include "method/setup.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RATE_FIRST 0.1 /* [MEBDFDAE] crate: squared rate of convergence before it is known */
#define RATE_DECAY 0.9 /* [MEBDFDAE] */
/* [MEBDFDAE] iterates of stages 1 and 2; of stage 3 in mebdfi, one more in mebdfdae */
#define ITER_MAX 5
#define ITER_FIXED 20  /* ours: iterates with fixed steps, where no smaller step helps */
#define DRIFT 0.2      /* [MEBDFDAE] the factors serve while |q/q_factored - 1| is at most this, */
#define DRIFT_BAND 0.1 /* ... for banded matrices this */
#define SERVED_MAX 5   /* [MEBDFDAE] a change of h renews factors that served more steps */
#define GROW_FIRST 1e4 /* [MEBDFDAE] rmax: largest ratio of steps until the first change, */
#define GROW_MAX 10    /* ... later, */
#define GROW_FAILED 2  /* ... and after a return to order 1 */
#define SAFETY 1.5     /* [MEBDFDAE] factor on the error of step and order choices, */
#define SAFETY_EMB 1.8 /* ... after a failure of the embedded test */
#define EMBEDDED 4     /* [MEBDFDAE] limit of mean square (y_(n+1) - y1)/w */
#define KEEP 1.1       /* [MEBDFDAE] smaller growth is not worth a change */
#define HOLD 10        /* [MEBDFDAE] steps until the next decision after one that changed nothing */
#define CALM 22        /* [MEBDFDAE] steps after a failure in which the step does not shrink by choice */
#define SAMPLE 4       /* [MEBDFDAE] after every 4th decision the rate of convergence is measured */
/* ours: squared first increment, in tolerances, that a rate of convergence seen with other factors does not vouch for (DETEST
 * stiff E4 at 1e-4: h grew by 4 with the old Jacobian, stage 2 took one iterate, and z4 > 0 fell below 0 and ran away) */
#define LARGE 0.2
#define SMALL 0.01 /* ours: a component that is so far below its atol is small */
#define MOVED 0.1  /* ours: part of itself by which the last increment may move a small component */
#define VACUOUS 10 /* ours: components of this size, in units of atol, are hardly controlled */
/* ours: factor on the bound of the iteration, whose error shows at loose tolerances */
#define SHARPER 0.25
/* ours: squared rate of convergence up to which a change of h keeps the Jacobian ... */
#define JAC_KEEP 3e-5
/* ... for so many steps (a quarter fewer Jacobians; with 1e-3 a third, and index 3 lost 0.3 digits) */
#define JAC_AGE 20
/* ours: least first step behind a discontinuity, in units of the last one (emep: 7 % fewer steps) */
#define RESTART 1e-5
#define FAILURES 7 /* [MEBDFDAE] error failures in a row that end a classic run */
/* ours: error failures without a decision between them that act like 3 in a row (kinks) */
#define TROUBLE 4
#define STUCK 3          /* ours: so many rejections in a row that do not lower the error of a DAE ... */
#define STUCK_ERR 1e6    /* ... of at most this square (the first step: any) are a correction of y_n */
#define FAILURES_MAX 100 /* ours: failures in a row of any kind that end a run */
#define SHORTER 10       /* [MEBDFDAE] times that the classic smallest step may be divided by 10 */
#define WALL_STEPS 4     /* ours: from so many steps before a wall on, h divides the rest evenly */

typedef struct mebdf_options {
    int classic, order, order_max, error_index;
} mebdf_options;

/* What survives a checkpoint; in the arena. */
typedef struct mebdf_state {
    double h, q_factored; /* present step, and h beta at the last factorization (0: none) */
    double rate[2];       /* squared rates of convergence of stages 1 and 2 */
    int measured;         /* ... the latter was seen with these factors */
    double grow_max;
    double h_min;                    /* classic: grows shorter */
    double h_now, h_before, h_ratio; /* the two last different steps seen by remember(), and their ratio */
    double h_done;                   /* step of the polynomial in D */
    double ratio;                    /* pending change of h, */
    int k_next;                      /* ... and of k; 0: none */
    int k, k_last;                   /* present order of the stages, that of the last successful stage 1 */
    int counter;                     /* accepted steps until the next decision */
    int terms;                       /* D_0 .. D_terms make the polynomial of the last step */
    int changed;                     /* h or k changed since the last step: predict from D */
    int embedded;                    /* an embedded test failed since the last decision */
    int served, age;                 /* accepted steps with these factors, with this Jacobian */
    int need_jac, need_lu;
    int fresh;         /* the Jacobian is of this attempt */
    double slowest;    /* largest squared rate of convergence seen with this Jacobian, 0: none yet */
    double error_last; /* of the last rejection */
    int stuck;         /* rejections that did not lower it */
    double pl_last;    /* classic: an estimate that outlives its step */
    int sampling, decisions;
    int failures, error_failures, shorter, singular; /* in a row */
    int hard_end;             /* the system could not be evaluated beyond the end: do not go there */
    int trouble;              /* error failures since the last decision */
    int wall;                 /* this step ends at t_stop: stage 1 only */
    int starting;             /* fixed step: starting values are not there yet */
    long accepted, calm_from; /* steps, and their number at the last failure */
} mebdf_state;

struct dae_mebdf {
    dae_ivp *ivp;
    mebdf_state *st;
    int n;
    int residual; /* 1: mebdfi */
    int classic, k_fixed, k_max, error_index, index3;
    int ide, difference; /* kind of system; Jacobians are differences */
    double drift;
    dae_matrix mass;
    double *D[K_MAX + 2], *saved;                    /* history; D_(k+1) of an earlier step */
    double *y1, *y2, *y3;                            /* stages */
    double *yp2;                                     /* derivative of stage 2 */
    double *sum, *a, *a2, *p2, *a3;                  /* see combine */
    double *w;                                       /* h^(index-1)/(atol + rtol |y|) */
    double *f, *r, *x;                               /* right-hand side, residual, room */
    double *J, *K, *P;                               /* Jacobian; IDEs: dF/dy' and the iteration matrix */
    double *start;                                   /* fixed step: K_MAX+1 starting values */
    double late[K_MAX + 1][K_MAX], e_sum[K_MAX + 1]; /* a' = e_sum y1 - sum late_i D_i */
    dae_shifted *lu;
};
typedef struct dae_mebdf mebdf;

typedef enum outcome { CONVERGED, FAILED, UNDEFINED, STOP } outcome;

/* ---- Life ---------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    mebdf *m = self;
    if (!m) return;
    dae_shifted_destroy(m->lu);
    free(m);
}

static int use_differences(const dae_ivp *ivp)
{
    const dae_system *s = ivp->sys;
    if (ivp->opt->jacobian && !strcmp(ivp->opt->jacobian, "difference")) return 1;
    if (s->kind == DAE_KIND_ODE) return !s->ode.jac;
    if (s->kind == DAE_KIND_DAE) return !s->dae.jac;
    return !s->ide.dfdy || !s->ide.dfdyp;
}

static int take_arrays(mebdf *m)
{
    dae_arena *a = m->ivp->arena;
    size_t ld = ((size_t)m->n + 7) / 8 * 8, count = (size_t)dae_pattern_count(&m->ivp->jacobian, m->n);
    double **vector[] = {&m->saved, &m->y1, &m->y2, &m->y3, &m->yp2, &m->sum, &m->a,
                         &m->a2,    &m->p2, &m->a3, &m->w,  &m->f,   &m->r,   &m->x};
    enum { VECTORS = sizeof vector / sizeof *vector };
    m->st = dae_arena_take(a, 1, sizeof *m->st);
    double *block = dae_arena_reals(a, ld * (VECTORS + K_MAX + 2));
    m->J = dae_arena_reals(a, count);
    if (m->ide) {
        m->K = dae_arena_reals(a, count);
        m->P = dae_arena_reals(a, count);
    }
    if (m->ivp->opt->fixed_step > 0) m->start = dae_arena_reals(a, (size_t)m->n * (K_MAX + 1));
    if (dae_arena_failed(a)) return -1;
    for (int j = 0; j < K_MAX + 2; j++, block += ld) m->D[j] = block;
    for (int j = 0; j < VECTORS; j++, block += ld) *vector[j] = block;
    return 0;
}

static void *create(dae_ivp *ivp, const mebdf_options *o, int residual, dae_error *err)
{
    mebdf *m = calloc(1, sizeof *m);
    if (!m) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for mebdf");
        return NULL;
    }
    m->ivp = ivp;
    m->n = ivp->n;
    m->residual = residual;
    m->classic = o->classic;
    m->k_max = o->order_max - 1;
    m->k_fixed = o->order ? o->order - 1 : ivp->opt->fixed_step > 0 ? m->k_max : 0;
    m->error_index = o->error_index;
    m->ide = ivp->sys->kind == DAE_KIND_IDE;
    m->difference = use_differences(ivp);
    m->drift = ivp->jacobian.storage == DAE_BANDED ? DRIFT_BAND : DRIFT;
    m->mass = dae_ivp_mass(ivp);
    if (o->order == 1 || m->k_fixed > m->k_max) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "order = %d must be 0 (variable) or 2 .. order_max (%d)", o->order,
                 o->order_max);
        goto fail;
    }
    for (int i = 0; ivp->index && i < m->n; i++) m->index3 |= ivp->index[i] == 3;
    for (int k = 1; k <= K_MAX; k++) {
        for (int i = k - 1; i >= 0; i--) {
            m->late[k][i] = m->e_sum[k]; /* sum of e_j, j > i */
            m->e_sum[k] += formulas[k].e[i];
        }
    }
    if (take_arrays(m)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for mebdf with %d equations", m->n);
        goto fail;
    }
    m->lu = dae_setup_solver(ivp, &m->mass, m->ide ? 0 : ivp->sys->structure.second_order, err);
    if (!m->lu) goto fail;
    ivp->y = m->D[0];
    return m;
fail:
    destroy(m);
    return NULL;
}

static void *create_mebdfdae(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, option, 0, err);
}

static void *create_mebdfi(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, option, 1, err);
}

/* Steps are fixed (after the start). */
static int fixed_steps(const mebdf *m)
{
    return m->start && !m->st->starting;
}

/* Nothing is evaluated beyond this time; infinite: no such time. */
static double wall_time(const mebdf *m)
{
    return m->st->hard_end && isinf(m->ivp->t_stop) ? m->ivp->t_end : m->ivp->t_stop;
}

/* ---- Weights and norms ----------------------------------------------------------------------------- */

/* w = h^(index-1)/(atol + rtol |y|) */
static void weigh(mebdf *m, const double *restrict y)
{
    const double *rtol = m->ivp->rtol, *atol = m->ivp->atol;
    double *restrict w = m->w;
    int n = m->n;
    if (m->ivp->scalar_tolerances) {
        double r = rtol[0], a = fmax(atol[0], DBL_MIN);
        for (int i = 0; i < n; i++) w[i] = 1 / (a + r * fabs(y[i]));
    } else {
        for (int i = 0; i < n; i++) w[i] = 1 / (atol[i] + rtol[i] * fabs(y[i]) + DBL_MIN);
    }
    if (!m->ivp->index) return;
    double h = fabs(m->st->h), power[4] = {1, 1, h, h * h};
    for (int i = 0; i < n; i++) w[i] *= power[m->ivp->index[i]];
}

/* The weights of the error test: variables above error_index do not count. */
static void weigh_error(mebdf *m, const double *y)
{
    weigh(m, y);
    if (!m->ivp->index || m->error_index >= 3) return;
    for (int i = 0; i < m->n; i++) {
        if (m->ivp->index[i] > m->error_index) m->w[i] = 0;
    }
}

/* sum (w (x - z))^2 */
static double distance(const mebdf *m, const double *restrict x, const double *restrict z)
{
    const double *restrict w = m->w;
    double s = 0;
    for (int i = 0; i < m->n; i++) {
        double v = (x[i] - z[i]) * w[i];
        s += v * v;
    }
    return s;
}

/* Limit of the error test for stages of order k. */
static double limit(const mebdf *m, int k)
{
    return inverse_error[k] * inverse_error[k] * m->n;
}

static double root_of(double x, int k) /* x^(1/(2k)) */
{
    switch (k) {
    case 1: return sqrt(x);
    case 2: return sqrt(sqrt(x));
    case 3: return sqrt(cbrt(x));
    case 4: return sqrt(sqrt(sqrt(x)));
    case 6: return sqrt(sqrt(cbrt(x)));
    case 8: return sqrt(sqrt(sqrt(sqrt(x))));
    default: return pow(x, 1.0 / (2 * k));
    }
}

/* ---- Changing the step and the order ----------------------------------------------------------------- */

/* D_1 .. D_k at the distance r h: interpolation through y_n, y_(n-1), .. y_(n-k),
 *     D_j <- sum_(i>=j) T_ji D_i,   T_ji = sum_m (-1)^m C(j,m) phi_i(-m r),   phi_i(x) = x(x+1)..(x+i-1)/i! */
static void rescale(mebdf *m, double r, int k)
{
    double phi[K_MAX + 1][K_MAX + 1], T[K_MAX + 1][K_MAX + 1];
    for (int l = 0; l <= k; l++) {
        phi[l][0] = 1;
        for (int i = 1; i <= k; i++) phi[l][i] = phi[l][i - 1] * (-l * r + (i - 1)) / i;
    }
    double power = 1;
    for (int j = 1; j <= k; j++) {
        power *= r;
        T[j][j] = power;
        for (int i = j + 1; i <= k; i++) {
            double c = 1, s = 0;
            for (int l = 0; l <= j; l++) {
                s += (l & 1 ? -c : c) * phi[l][i];
                c = c * (j - l) / (l + 1);
            }
            T[j][i] = s;
        }
    }
    for (int p = 0; p < m->n; p++) {
        double d[K_MAX + 1];
        for (int j = 1; j <= k; j++) d[j] = m->D[j][p];
        for (int j = 1; j <= k; j++) {
            double s = 0;
            for (int i = j; i <= k; i++) s += T[j][i] * d[i];
            m->D[j][p] = s;
        }
    }
}

/* h <- r h, order k; the history follows. */
static void change(mebdf *m, double r, int k)
{
    mebdf_state *st = m->st;
    if (r != 1) rescale(m, r, k);
    st->h *= r;
    st->k = k;
    st->counter = k + 2;
    st->changed = 1;
    st->grow_max = GROW_MAX;
}

/* [MEBDFDAE] hchose: no return to a step shorter than the one before the last increase. */
static double remember(mebdf *m, double r)
{
    mebdf_state *st = m->st;
    if (st->h != st->h_now) {
        st->h_ratio = st->h / st->h_now;
        st->h_before = st->h_now;
        st->h_now = st->h;
    }
    if (r > 1 || st->h_ratio <= 1 || fabs(r * st->h) <= fabs(st->h_before)) return r;
    return st->h_before / st->h;
}

/* The smallest step here. */
static double least(const mebdf *m)
{
    if (m->classic) return m->st->h_min;
    return fmax(m->ivp->opt->h_min, 16 * DBL_EPSILON * fabs(m->ivp->t));
}

static double longest(const mebdf *m)
{
    double h = 10 * fabs(m->ivp->t_end - m->ivp->t), h_max = m->ivp->opt->h_max;
    return h_max > 0 && h_max < h ? h_max : h;
}

/* Order and step after [MEBDFDAE]; they are applied when the next step begins. */
static void decide(mebdf *m)
{
    mebdf_state *st = m->st;
    int n = m->n, k = st->k, k_new = k;
    double safety = st->embedded ? SAFETY_EMB : SAFETY, up = 0, cur = 0, dn = 0, dd = 0;
    st->embedded = st->trouble = 0;
    st->sampling = ++st->decisions % SAMPLE == 0;
    weigh_error(m, m->D[0]);
    const double *d2 = m->D[k + 1], *d1 = m->D[k], *d0 = m->D[k - 1];
    for (int i = 0; i < n; i++) {
        double w = m->w[i], u = (d2[i] - m->saved[i]) * w, c = d2[i] * w, d = d1[i] * w, e = d0[i] * w;
        up += u * u;
        cur += c * c;
        dn += d * d;
        dd += e * e;
    }
    double pr1 = INFINITY, pr2, pr3 = INFINITY;
    int settled = m->k_fixed && m->k_fixed <= k;
    if (k < m->k_max && !settled) pr3 = root_of(up / limit(m, k + 1), k + 2) * (safety + 0.2) + 1.8e-6;
    pr2 = root_of(cur / limit(m, k), k + 1) * safety + 1.6e-6;
    if (k > 1) pr1 = root_of(dn / limit(m, k - 1), k) * (safety + 0.1) + 1.7e-6;
    if (k > 2) pr1 = fmax(pr1, root_of(dd / limit(m, k - 2), k - 1) * (safety + 0.1) + 1.7e-6);
    int grows = k > 1 && k < m->k_max && up > cur && cur > (k > 2 ? fmin(dn, dd) : dn);
    double pr = pr2;
    if (grows) {
        pr = pr1;
        k_new = k - 1;
    } else if (pr3 < pr2 && pr3 < pr1) {
        pr = pr3;
        k_new = k + 1;
    } else if (pr1 < pr2) {
        pr = pr1;
        k_new = k - 1;
    }
    if (settled) {
        pr = pr2;
        k_new = k;
    }
    double r = 1 / pr;
    st->counter = HOLD;
    if (r > 1 && r < KEEP) return;
    r = fmin(r, st->grow_max);
    r = remember(m, r);
    if (st->accepted - st->calm_from <= CALM && r < KEEP) return;
    if (m->index3 && k <= 2 && pr3 < 1) k_new = k + 1;
    r = fmax(r, least(m) / fabs(st->h));
    r = fmin(r, longest(m) / fabs(st->h));
    st->ratio = r;
    st->k_next = k_new;
    if (st->served > SERVED_MAX + 1) st->need_lu = 1;
}

/* ---- Matrices ------------------------------------------------------------------------------------------ */

/* r = f(t,y) + M (A - y)/q, or -F(t, y, (y - A)/q); known: f or F is in m->f. */
static int evaluate_residual(mebdf *m, double t, const double *restrict y, const double *restrict A, double q,
                             int known)
{
    int n = m->n, bad = 0;
    double s = 1 / q, *restrict r = m->r, *restrict x = m->x;
    if (known) {
        dae_copy(n, m->f, r);
    } else if (m->ide) {
        for (int i = 0; i < n; i++) x[i] = (y[i] - A[i]) * s;
        bad = dae_ivp_residual(m->ivp, t, y, x, r);
    } else {
        bad = dae_ivp_f(m->ivp, t, y, r);
    }
    if (bad) return bad;
    if (m->ide) {
        for (int i = 0; i < n; i++) r[i] = -r[i];
    } else if (!m->mass.n) {
        for (int i = 0; i < n; i++) r[i] += (A[i] - y[i]) * s;
    } else if (m->mass.pattern.storage == DAE_DIAGONAL) {
        const double *restrict d = m->mass.a;
        for (int i = 0; i < n; i++) r[i] += d[i] * ((A[i] - y[i]) * s);
    } else {
        for (int i = 0; i < n; i++) x[i] = (A[i] - y[i]) * s;
        dae_matrix_multiply(&m->mass, n, x, m->f);
        for (int i = 0; i < n; i++) r[i] += m->f[i];
    }
    return 0;
}

/* r = M (y' + (A - y)/q), the same where y' is known instead of f. */
static void known_residual(mebdf *m, const double *restrict yp, const double *restrict y,
                           const double *restrict A, double q)
{
    int n = m->n;
    double s = 1 / q, *restrict r = m->r;
    for (int i = 0; i < n; i++) r[i] = yp[i] + (A[i] - y[i]) * s;
    if (!m->mass.n) return;
    dae_copy(n, r, m->x);
    dae_matrix_multiply(&m->mass, n, m->x, r);
}

/* The Jacobian at (t, y) of stage 1; differences leave f (or F) of this point in m->f. */
static int jacobian(mebdf *m, double t, const double *y, const double *A, double q)
{
    dae_ivp *ivp = m->ivp;
    int bad = 0;
    if (m->ide) {
        for (int i = 0; i < m->n; i++) m->x[i] = (y[i] - A[i]) / q;
        if (m->difference) bad = dae_ivp_residual(ivp, t, y, m->x, m->f);
        if (!bad) bad = dae_ivp_residual_jacobian(ivp, t, y, m->x, m->f, m->J, m->K);
    } else {
        if (m->difference) bad = dae_ivp_f(ivp, t, y, m->f);
        if (!bad) bad = dae_ivp_jacobian(ivp, t, y, m->f, m->J);
    }
    return bad;
}

static int factor(mebdf *m, double q)
{
    dae_ivp *ivp = m->ivp;
    int bad;
    if (m->ide) {
        long count = dae_pattern_count(&ivp->jacobian, m->n);
        double s = 1 / q;
        for (long i = 0; i < count; i++) m->P[i] = s * m->K[i] + m->J[i];
        DAE_LINALG(ivp, bad = dae_shifted_factor_values(m->lu, m->P));
    } else {
        DAE_LINALG(ivp, bad = dae_shifted_factor(m->lu, 1 / q, 0, m->J));
    }
    if (!bad) ivp->stats->lu++;
    return bad;
}

/* ---- Newton's iteration ---------------------------------------------------------------------------------- */

/* Solves for the increment, adds it to y and returns sum (w d)^2. */
static double increment(mebdf *m, double *restrict y, double scale)
{
    dae_ivp *ivp = m->ivp;
    DAE_LINALG(ivp, dae_shifted_solve(m->lu, m->r));
    ivp->stats->solves++;
    ivp->stats->newton++;
    const double *restrict r = m->r, *restrict w = m->w;
    double s = 0;
    for (int i = 0; i < m->n; i++) {
        double d = scale * r[i], v = d * w[i];
        y[i] += d;
        s += v * v;
    }
    return s;
}

/* Ours: where all components are of the size of their atol the norm asks for next to nothing. Then a component that is far below counts as
 * moved while the last increment is a part of itself: what it multiplies need not be small (DETEST stiff F5 at 1e-2: y4 = 9e-6
 * became -1e-3, and y2 ran away to 8e4 with every error test passed). */
static int moves_small_components(const mebdf *m, const double *y, double scale)
{
    const double *atol = m->ivp->atol, *y0 = m->D[0];
    for (int i = 0; i < m->n; i++) {
        if (fabs(y0[i]) >= VACUOUS * atol[i]) return 0;
    }
    for (int i = 0; i < m->n; i++) {
        double now = fabs(y[i]), before = fabs(y0[i]);
        if (fmin(now, before) < SMALL * atol[i] && fabs(scale * m->r[i]) > MOVED * fmax(now, before))
            return 1;
    }
    return 0;
}

/* Iterates y = A + q y' at t from y. There y' may be known (yp, else NULL), or f (in m->f, with known = 1). */
static outcome iterate(mebdf *m, int stage, double t, double *y, const double *A, const double *yp, int known)
{
    mebdf_state *st = m->st;
    int k = st->k, most = stage == 3 && !m->residual ? ITER_MAX + 1 : ITER_MAX;
    double q = st->h * formulas[k].beta, drift = q / st->q_factored, scale = 2 * drift / (1 + drift);
    if (fixed_steps(m)) most = ITER_FIXED;
    double bound = inverse_error[k] / (2 * k), old = 0;
    bound = 0.5 * m->n * bound * bound;
    if (stage < 3) bound /= st->k_last;
    if (!m->classic) bound *= SHARPER;
    if (m->classic) scale = m->residual ? 1 : drift;
    double *rate = &st->rate[stage == 2];
    int ode = !m->classic && m->ivp->sys->kind == DAE_KIND_ODE;
    weigh(m, y);
    for (int it = 0; it < most; it++) {
        double q_now = m->classic && m->residual && (it > 0 || stage > 1) ? st->q_factored : q;
        if (it == 0 && yp) {
            known_residual(m, yp, y, A, q_now);
        } else {
            int bad = evaluate_residual(m, t, y, A, q_now, known && it == 0);
            if (bad) return bad < 0 ? STOP : UNDEFINED;
        }
        if (stage == 3 && it) weigh(m, y);
        double s = increment(m, y, scale);
        dae_log(m->ivp->opt, DAE_LOG_ITER, "stage=%d iterate=%d size=%.3g rate=%.3g", stage, it + 1, s,
                *rate);
        if (!isfinite(s)) return FAILED;
        if (stage < 3 && it > 0 && old > 0) {
            *rate = fmax(RATE_DECAY * *rate, s / old);
            st->measured |= stage == 2;
            st->slowest = fmax(st->slowest, s / old);
        }
        int small = s * fmin(1, 2 * *rate) < bound;
        if (small && it < most - 1 && ode && moves_small_components(m, y, scale)) small = 0;
        if (small && it == 0 && stage == 2 && s > LARGE * m->n && !st->measured && ode) small = 0;
        if (!(st->sampling && stage == 1 && it == 0) && small) return CONVERGED;
        int worse = stage < 3 && it > 0 && s > old;
        old = s;
        if (worse) break;
    }
    int enough = SHARPER * old * fmin(1, 2 * *rate) < bound; /* it would have been for the original program */
    return enough && !m->classic ? CONVERGED : FAILED;
}

/* ---- One attempt -------------------------------------------------------------------------------------------- */

/* From D_0 .. D_k, in one sweep:
 *     sum = sum_(j<=k) D_j      prediction at t_(n+1);  nabla^(k+1) of y1 is y1 - sum
 *     a   = sum_(j<k) e_j D_j   a3 = sum_(j<k) m_j D_j
 *     a2  = sum late_j D_j      a' = e_sum y1 - a2
 *     p2  = sum (k-j) D_j       prediction at t_(n+2) = (k+1) y1 - p2 */
static inline void combine_k(mebdf *m, const int k)
{
    const struct formula *c = &formulas[k];
    const double *late = m->late[k];
    for (int i = 0; i < m->n; i++) {
        double s = 0, a = 0, a2 = 0, p2 = 0, a3 = 0;
        for (int j = k; j >= 0; j--) {
            double d = m->D[j][i];
            s += d;
            if (j == k) continue;
            a += c->e[j] * d;
            a2 += late[j] * d;
            p2 += (k - j) * d;
            a3 += c->m[j] * d;
        }
        m->sum[i] = s;
        m->a[i] = a;
        m->a2[i] = a2;
        m->p2[i] = p2;
        m->a3[i] = a3;
    }
}

static void combine(mebdf *m)
{
    switch (m->st->k) {
    case 1: combine_k(m, 1); break;
    case 2: combine_k(m, 2); break;
    case 3: combine_k(m, 3); break;
    case 4: combine_k(m, 4); break;
    case 5: combine_k(m, 5); break;
    case 6: combine_k(m, 6); break;
    default: combine_k(m, 7); break;
    }
}

/* A failed attempt: h <- r h with order k. 0: try again, < 0: the run fails. */
static int retry(mebdf *m, double r, int k)
{
    mebdf_state *st = m->st;
    dae_ivp *ivp = m->ivp;
    if (fixed_steps(m)) {
        return (int)dae_says_not_converging(ivp, ivp->t, st->h);
    }
    st->wall = 0;
    double low = least(m);
    int small = fabs(st->h) <= low * 1.00001;
    if (small && m->classic && st->shorter < SHORTER) {
        st->shorter++;
        st->h_min = low = low / 10;
        small = 0;
    }
    if (small || ++st->failures > FAILURES_MAX || (m->classic && st->error_failures >= FAILURES)) {
        return (int)dae_says_step_fell_in_a_row(ivp, st->h, low, st->failures);
    }
    if (st->served > SERVED_MAX) { /* the failure renews the matrix */
        st->need_lu = 1;
        st->calm_from = st->accepted;
    }
    change(m, fmax(r, low / fabs(st->h)), k);
    return 0;
}

static int stop(mebdf *m, double t)
{
    return (int)dae_says_stopped(m->ivp, t, "a user function");
}

/* An iteration that failed or a function that cannot be evaluated. */
static int retry_iteration(mebdf *m, outcome o, int stage, double t)
{
    mebdf_state *st = m->st;
    if (o == STOP) return stop(m, t);
    m->ivp->stats->newton_failures++;
    if (o == FAILED && stage == 1 && !st->fresh) { /* the same again with a new matrix */
        st->need_jac = st->need_lu = 1;
        st->calm_from = st->accepted;
        return ++st->failures > FAILURES_MAX ? retry(m, 0.5, st->k) : 0;
    }
    if (o == UNDEFINED) {
        st->need_jac = st->need_lu = 1;
        if (m->ivp->direction * (t - m->ivp->t_end) > 0) st->hard_end = 1;
    }
    return retry(m, stage < 3 && o == FAILED ? remember(m, 0.5) : 0.5, st->k);
}

/* The error test of stage 1 failed: s = sum (w nabla^(k+1))^2. */
static int retry_error(mebdf *m, double s)
{
    mebdf_state *st = m->st;
    int k = st->k, n = m->n;
    m->ivp->stats->rejected++;
    int j = ++st->error_failures;
    if (j >= 3 ||
        (++st->trouble >= TROUBLE && !m->classic)) { /* the history is worth nothing: afresh with order 1 */
        st->trouble = 0;
        if (!m->residual && !m->mass.n) { /* else D_1 = h y' to first order */
            int bad = dae_ivp_f(m->ivp, m->ivp->t, m->D[0], m->f);
            if (bad < 0) return stop(m, m->ivp->t);
            for (int i = 0; i < n && !bad; i++) m->D[1][i] = st->h * m->f[i];
        }
        int result = retry(m, 0.1, 1);
        st->need_jac = st->need_lu = 1;
        st->counter = HOLD;
        st->calm_from = st->accepted;
        st->grow_max = GROW_FAILED;
        return result;
    }
    double p = root_of(s / (0.2 * limit(m, k)), k + 1) * SAFETY + 1.6e-6;
    int k_new = k;
    if (k > 1 && !m->k_fixed) {
        double s1 = 0, s2 = 0;
        for (int i = 0; i < n; i++) { /* nabla^k and nabla^(k-1) of y1 */
            double d = m->y1[i] - m->sum[i] + m->D[k][i], v = d * m->w[i], u = (d + m->D[k - 1][i]) * m->w[i];
            s1 += v * v;
            s2 += u * u;
        }
        double pl = root_of(s1 / (0.2 * limit(m, k - 1)), k) * SAFETY + 1.7e-6;
        if (!m->classic) st->pl_last = 0;
        if (k > 2) st->pl_last = root_of(s2 / (0.2 * limit(m, k - 2)), k - 1) * SAFETY + 1.7e-6;
        pl = fmax(pl, st->pl_last);
        if (pl < p) {
            p = pl;
            k_new = k - 1;
        }
    }
    return retry(m, 1 / (j * p), k_new);
}

static int again(int retried)
{
    return retried < 0 ? retried : 1;
}

/* The error of a DAE that does not fall with h comes from y_n, off its constraints after a jump: taking the step
 * mends it. s: as in retry_error. */
static int is_correction(mebdf *m, double s)
{
    mebdf_state *st = m->st;
    st->stuck = st->k == 1 && st->error_failures > 0 && s > 0.8 * st->error_last ? st->stuck + 1 : 0;
    st->error_last = s;
    int first = st->accepted == 0; /* initial values may be far off, as Robertson's y3(0) = 0.5 */
    if (m->classic || !(m->ide || m->mass.n) || st->stuck < STUCK || (!first && s > STUCK_ERR * limit(m, 1)))
        return 0;
    dae_log(m->ivp->opt, DAE_LOG_WARN,
            "t=%.10g warning=\"the error %.3g does not fall with h: taken as a correction of y\"", m->ivp->t,
            sqrt(s / limit(m, 1)));
    return 1;
}

/* After a correction: the difference to the value before it is not a derivative. */
static void forget_correction(mebdf *m, const double *d1)
{
    mebdf_state *st = m->st;
    dae_copy(m->n, d1, m->D[1]);
    dae_zero(m->n, m->D[2]);
    st->counter = 3;
    st->k_next = st->stuck = 0;
    st->grow_max = GROW_FIRST;
    st->changed = 1;
}

/* The matrix for this step, where it is due. 0: fine; 1: try again; < 0: failed. */
static int renew(mebdf *m, double t1, int *fresh_f)
{
    mebdf_state *st = m->st;
    dae_ivp *ivp = m->ivp;
    double q = st->h * formulas[st->k].beta;
    if (fixed_steps(m)) st->need_jac = st->need_lu = 1;
    if (!st->need_lu && fabs(q / st->q_factored - 1) <= m->drift) return 0;
    if (m->classic || st->need_jac || st->age > JAC_AGE || !(st->slowest > 0 && st->slowest < JAC_KEEP)) {
        int bad = jacobian(m, t1, m->y1, m->a, q);
        if (bad < 0) return stop(m, t1);
        if (bad) return again(retry_iteration(m, UNDEFINED, 1, t1));
        st->age = st->need_jac = 0;
        st->fresh = 1;
        st->slowest = 0;
        *fresh_f = m->difference;
    }
    int bad = factor(m, q);
    if (bad < 0) return (int)dae_says_no_memory_to_factor(ivp, ivp->t);
    if (bad > 0) {
        if (++st->singular > 5) {
            return (int)dae_ivp_fail(ivp, DAE_ERR_SINGULAR,
                                     "t = %.10g: the iteration matrix is singular (row %d of its "
                                     "elimination), also with h = %.3g; the index "
                                     "may be above 3, equations redundant, or a variable may not occur",
                                     ivp->t, bad, st->h);
        }
        return again(retry_iteration(m, UNDEFINED, 1, t1));
    }
    st->singular = 0;
    st->q_factored = q;
    st->measured = 0;
    st->served = st->need_lu = 0;
    return 0;
}

/* D_0 .. D_(k+1) from y_(n+1). */
static void accept(mebdf *m, const double *restrict y, double t1)
{
    mebdf_state *st = m->st;
    dae_ivp *ivp = m->ivp;
    int k = st->k;
    for (int i = 0; i < m->n; i++) {
        double v = y[i];
        for (int j = 0; j <= k; j++) {
            double d = m->D[j][i];
            m->D[j][i] = v;
            v -= d;
        }
        m->D[k + 1][i] = v;
    }
    ivp->t_old = ivp->t;
    ivp->t = t1;
    ivp->order = k + 1;
    ivp->stats->accepted++;
    st->h_done = st->h;
    st->terms = k + 1;
    st->accepted++;
    st->served++;
    st->age++;
    st->changed = st->failures = st->error_failures = st->shorter = 0;
    ivp->h_next = st->h;
    if (fixed_steps(m)) return;
    if (st->counter == 2) dae_copy(m->n, m->D[k + 1], m->saved);
    if (ivp->direction * (ivp->t - ivp->t_end) > 0) return; /* past the end: no more changes */
    if (--st->counter > 0) return;
    decide(m);
    if (st->k_next) ivp->h_next = st->h * st->ratio;
}

/* One attempt. 1: accepted, 0: try again, < 0: failed. */
static int attempt(mebdf *m)
{
    mebdf_state *st = m->st;
    dae_ivp *ivp = m->ivp;
    const struct formula *c = &formulas[st->k];
    int n = m->n, k = st->k, fixed = fixed_steps(m), fresh_f = 0;
    double h = st->h, q = h * c->beta, by_q = 1 / q;
    double wall = wall_time(m), t1 = st->wall ? wall : ivp->t + h, t2 = ivp->t + 2 * h;
    if (fixed && fabs(t1 - ivp->t_end) <= 1e-10 * fabs(h)) t1 = ivp->t_end;
    if (ivp->direction * (t2 - wall) > 0) t2 = wall; /* rounding */
    ivp->stats->steps++;
    combine(m);
    dae_copy(n, st->changed ? m->sum : m->y2, m->y1);
    int r = renew(m, t1, &fresh_f);
    if (r) return r < 0 ? r : 0;
    int shortcut = !m->residual && (m->classic || !m->mass.n) && !st->changed && !fresh_f;
    outcome o = iterate(m, 1, t1, m->y1, m->a, shortcut ? m->yp2 : NULL, fresh_f && !m->classic);
    if (o != CONVERGED) return retry_iteration(m, o, 1, t1);
    st->k_last = k;
    st->fresh = 0;
    if (!fixed) {
        weigh_error(m, m->y1);
        double s = distance(m, m->y1, m->sum);
        dae_log(ivp->opt, DAE_LOG_ITER, "error=%.3g k=%d h=%.6g", sqrt(s / limit(m, k)), k, h);
        if (!(s <= limit(m, k)) && !is_correction(m, s)) return retry_error(m, s);
    }
    if (st->wall) {
        accept(m, m->y1, t1);
        return 1;
    }
    double *restrict A = m->y3, e_sum = m->e_sum[k];
    for (int i = 0; i < n; i++) {
        double y = m->y1[i];
        m->y2[i] = (k + 1) * y - m->p2[i];
        m->a2[i] = e_sum * y - m->a2[i];
    }
    o = iterate(m, 2, t2, m->y2, m->a2, NULL, 0);
    st->changed = 1; /* y2 and its derivative are not those of the last step any more */
    if (o != CONVERGED) return retry_iteration(m, o, 2, t2);
    double b1 = h * (c->b1 - c->beta) * by_q, b2 = h * c->b2;
    for (int i = 0; i < n; i++) {
        double yp2 = (m->y2[i] - m->a2[i]) * by_q;
        m->yp2[i] = yp2;
        m->a3[i] += b2 * yp2 + b1 * (m->y1[i] - m->a[i]);
        m->p2[i] = (m->y1[i] - m->a[i]) * by_q; /* y1' */
        A[i] = m->y1[i];
    }
    o = iterate(m, 3, t1, m->y3, m->a3, m->residual ? NULL : m->p2, 0);
    if (o != CONVERGED) return retry_iteration(m, o, 3, t1);
    if (!fixed) {
        weigh_error(m, m->y3);
        double s = distance(m, m->y3, m->y1);
        if (!(s <= EMBEDDED * n)) {
            st->embedded = 1;
            ivp->stats->rejected++;
            return retry(m, 0.5, k);
        }
    }
    int correction = st->stuck >= STUCK;
    if (correction) dae_copy(n, m->D[1], m->x);
    accept(m, m->y3, t1);
    if (correction) forget_correction(m, m->x);
    return 1;
}

/* ---- The step -------------------------------------------------------------------------------------------------- */

/* Before a wall: h such that the rest is a whole number of steps; the last one uses stage 1 only, since stage 2
 * would evaluate beyond it. */
static void approach_wall(mebdf *m)
{
    mebdf_state *st = m->st;
    double left = fabs((wall_time(m) - m->ivp->t) / st->h), whole = round(left);
    int exact = fabs(left - whole) <= 1e-10 * left;
    st->wall = exact && whole == 1;
    if (left >= (fixed_steps(m) ? 2 : WALL_STEPS) || (exact && whole >= 1)) return;
    double count = fmax(2, ceil(left));
    change(m, left / count, st->k);
}

static dae_status advance(mebdf *m)
{
    mebdf_state *st = m->st;
    if (st->k_next) {
        change(m, st->ratio, st->k_next);
        st->k_next = 0;
    }
    for (;;) {
        if (!isinf(wall_time(m))) approach_wall(m);
        int done = attempt(m);
        if (done < 0) return (dae_status)done;
        if (done) return DAE_OK;
    }
}

void dae_mebdf_set_history(struct dae_mebdf *m, int k, double h, const double *past)
{
    mebdf_state *st = m->st;
    int n = m->n;
    for (int j = 0; j <= k; j++) dae_copy(n, past + (size_t)j * (size_t)n, m->D[j]);
    for (int j = 1; j <= k; j++) {
        for (int i = k; i >= j; i--) {
            for (int p = 0; p < n; p++) m->D[i][p] = m->D[i - 1][p] - m->D[i][p];
        }
    }
    dae_zero(n, m->D[k + 1]);
    st->k = k;
    st->h = st->h_done = h;
    st->terms = k;
    st->changed = st->need_jac = st->need_lu = 1;
    st->counter = k + 2;
    st->starting = st->k_next = 0;
}

/* Fixed step: y at t0, t0 + h, .. t0 + k h from a run with error control. One call, one step of length k h. */
static dae_status start_fixed(mebdf *m)
{
    dae_ivp *ivp = m->ivp;
    int k = m->k_fixed, n = m->n;
    double t0 = ivp->t, h = ivp->direction * ivp->opt->fixed_step;
    dae_copy(n, m->D[0], m->start + (size_t)k * (size_t)n);
    for (int j = 1; j <= k;) {
        dae_status s = advance(m);
        if (s) return s;
        for (; j <= k && ivp->direction * (ivp->t - (t0 + j * h)) >= 0; j++) {
            dae_mebdf_interpolate(m, t0 + j * h, m->start + (size_t)(k - j) * (size_t)n, NULL);
        }
    }
    dae_mebdf_set_history(m, k, h, m->start);
    ivp->t_old = t0;
    ivp->t = t0 + k * h;
    ivp->order = k + 1;
    return DAE_OK;
}

static dae_status step(void *self)
{
    mebdf *m = self;
    return m->st->starting ? start_fixed(m) : advance(m);
}

/* |y'| in the weights of the error test, over the variables that have a derivative. */
static double speed(const mebdf *m, const double *y, const double *yp)
{
    double s = 0;
    for (int i = 0; i < m->n; i++) {
        double v = yp[i] / (m->ivp->atol[i] + m->ivp->rtol[i] * fabs(y[i]) + DBL_MIN);
        if (!m->ivp->index || m->ivp->index[i] <= 1) s += v * v;
    }
    return sqrt(s / m->n);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    mebdf *m = self;
    dae_ivp *ivp = m->ivp;
    mebdf_state *st = m->st;
    double room = fmin(fabs(ivp->t_stop - t), fabs(ivp->t_end - t));
    *st = (mebdf_state){
        .k = 1, .k_last = 1, .counter = 3, .changed = 1, .need_jac = 1, .need_lu = 1, .grow_max = GROW_FIRST};
    st->rate[0] = st->rate[1] = RATE_FIRST;
    st->starting = ivp->opt->fixed_step > 0;
    if (st->starting && m->k_fixed * ivp->opt->fixed_step > fabs(ivp->t_stop - t)) {
        return dae_ivp_fail(
            ivp, DAE_ERR_INPUT,
            "t = %.10g: %d fixed steps of %g, which order %d starts with, do not fit before %g", t,
            m->k_fixed, ivp->opt->fixed_step, m->k_fixed + 1, ivp->t_stop);
    }
    if (!(h > 0)) { /* ours: a first step that changes y by half its tolerance, 1 % of the interval at most */
        double v = speed(m, y, yp);
        h = fmin(0.01 * room, v > 0 ? 0.5 / v : 0.01 * room);
        if (!(h > 0)) h = 1e-6 * room;
        h = fmax(h, dae_first_step_least(t));
    }
    if (ivp->stats->accepted > 0 && !m->classic) h = fmax(h, RESTART * fabs(ivp->stats->h_last));
    if (ivp->opt->h_max > 0) h = fmin(h, ivp->opt->h_max);
    h = fmin(h, room);
    st->h = st->h_now = st->h_before = st->h_done = ivp->direction * h;
    if (m->classic) st->h_now = ivp->direction * fmax(ivp->rtol[0], ivp->atol[0]) / 10;
    st->h_ratio = 1;
    st->h_min = h;
    dae_copy(m->n, y, m->D[0]);
    for (int i = 0; i < m->n; i++) m->D[1][i] = st->h * yp[i];
    if (ivp->sys->kind == DAE_KIND_ODE)
        ivp->stats->f++; /* f(t0,y0), made by the driver; for the others it counts itself */
    ivp->h_next = st->h;
    ivp->order = 2;
    return DAE_OK;
}

/* ---- Dense output ------------------------------------------------------------------------------------------------ */

/* y(t_n + s h) = sum_j phi_j(s) D_j, phi_j(s) = s(s+1)..(s+j-1)/j! */
void dae_mebdf_interpolate(void *self, double t, double *y, double *yp)
{
    const mebdf *m = self;
    const mebdf_state *st = m->st;
    double s = (t - m->ivp->t) / st->h_done, phi[K_MAX + 2] = {1}, dphi[K_MAX + 2] = {0};
    int last = st->terms;
    for (int j = 1; j <= last; j++) {
        phi[j] = phi[j - 1] * (s + (j - 1)) / j;
        dphi[j] = (dphi[j - 1] * (s + (j - 1)) + phi[j - 1]) / j;
    }
    for (int i = 0; i < m->n; i++) {
        double v = 0, d = 0;
        for (int j = last; j >= 1; j--) {
            v += phi[j] * m->D[j][i];
            d += dphi[j] * m->D[j][i];
        }
        y[i] = m->D[0][i] + v;
        if (yp) yp[i] = d / st->h_done;
    }
}

/* ---- Checkpoint: the sparse factors ---------------------------------------------------------------------------------- */

static size_t save(const void *self, void *buffer)
{
    const mebdf *m = self;
    return dae_shifted_save(m->lu, buffer);
}

static int load(void *self, const void *buffer, size_t size)
{
    mebdf *m = self;
    return dae_shifted_load(m->lu, buffer, size);
}

/* ---- Descriptors ---------------------------------------------------------------------------------------------------- */

#define OPTION(field, standard, lo, hi, text)                                                          \
    {                                                                                                  \
#field, DAE_OPTION_INT, offsetof(mebdf_options, field), standard, NULL, lo, hi, NULL, "", text \
    }

static const dae_option option_table[] = {
    OPTION(order, 0, 0, K_MAX + 1, "order held fixed (2 to 8) once it is reached; 0: variable"),
    OPTION(order_max, K_MAX + 1, 2, K_MAX + 1, "highest order, 2 to 8"),
    OPTION(error_index, 3, 1, 3, "variables of a higher index are left out of the error test"),
    OPTION(classic, 0, 0, 1, "1: the strategy of the original program without the corrections made here"),
    {.name = NULL},
};

/* clang-format off */
#define COMMON                                                                         \
    .soft_end = 1, .option_size = sizeof(mebdf_options), .reset = reset, .step = step, \
    .interpolate = dae_mebdf_interpolate, .destroy = destroy, .save = save, .load = load
/* clang-format on */

const dae_method dae_method_mebdfdae = {
    .info = {.name = "mebdfdae",
             .title = "modified extended BDF of orders 2 to 8 for M y' = f(t,y)",
             .literature =
                 "Cash, Considine: An MEBDF code for stiff initial value problems, ACM TOMS 18, 1992",
             .summary =
                 "stiff ODEs and DAEs of index 1, 2, 3 with smooth solutions; few evaluations of f per step",
             .order_min = 2,
             .order_max = 8,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE,
             .max_index = 3,
             .implicit = 1,
             .multistep = 1,
             .checkpoint = 1,
             .options = option_table},
    .create = create_mebdfdae,
    COMMON,
};

const dae_method dae_method_mebdfi = {
    .info = {.name = "mebdfi",
             .title = "modified extended BDF of orders 2 to 8 for F(t,y,y') = 0",
             .literature = "Abdulla, Cash, Diamantakis: An MEBDF package for the numerical solution of large "
                           "sparse systems "
                           "of stiff initial value problems, 2001",
             .summary = "stiff ODEs, DAEs and implicit equations of index 1, 2, 3 with smooth solutions",
             .order_min = 2,
             .order_max = 8,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE | 1u << DAE_KIND_IDE,
             .max_index = 3,
             .implicit = 1,
             .multistep = 1,
             .checkpoint = 1,
             .options = option_table},
    .create = create_mebdfi,
    COMMON,
};
