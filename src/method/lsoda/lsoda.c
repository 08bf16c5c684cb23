/* lsoda: multistep methods of constant coefficients for y' = f(t,y) in Nordsieck form that choose between Adams
 * (orders 1 to 12, functional iteration) and BDF (orders 1 to 5, Newton's method) while they run.
 *
 * With z_j = h^j y^(j)/j! at t_n and l_j of the formula (l_1 = 1) one step is
 *
 *     predict   z <- P z            (Pascal's triangle)
 *     correct   a = h f(t, z_0 + l_0 a) - z_1,      z_j += l_j a
 *     test      |a|/t2 <= 1,        |v| = max |v_i| w_i
 *
 * A change of h only scales z. A run begins with Adams. The rate of the functional iteration estimates |df/dy|,
 * and so the step that stability allows; when BDF of the same order could take five times that step the run goes
 * on with BDF, and back when Adams could take the same step again. The predicted z is never stored: z stays that of
 * t_n until the step is accepted, and changes of h, order and family wait for the next step, so that dense output
 * sees the step as it was.
 *
 * Source: [Pet83] and the programs LSODE and LSODA. Where we differ (the option classic switches it off):
 * after three failures of the functional iteration in one step BDF takes over at once (the original gives up on
 * the test problem pollu); there is no fixed number of failures, and the Jacobian is made anew after an error test
 * failure; the f of a repeated iteration is not evaluated twice; the initial f after a jump is that of the right
 * side; and, always, "cannot be evaluated" is a failure to converge and the smallest step is the rounding level
 * of t. */
#include "method/method.h"

#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/failure.h"
#include "method/lsoda/coefficients.h"
#include "method/setup.h"
#include "method/vode/nordsieck.h"

#include <float.h>
#include <stdlib.h>

#define U 2.220446049250313e-16
#define SAFETY 1.2        /* [LSODA]: h at order q */
#define SAFETY_DOWN 1.3   /* [LSODA]: at order q-1 */
#define SAFETY_UP 1.4     /* [LSODA]: at order q+1 */
#define ADDON 1e-6        /* [LSODA] */
#define GROWTH_LEAST 1.1  /* [LSODA]: smaller increases are not worth it */
#define GROWTH_FIRST 1e4  /* [LSODA] RMAX: largest increase at first */
#define GROWTH_LATER 10.0 /* [LSODA] RMAX */
#define GROWTH_FAILED 2.0 /* [LSODA] RMAX: after a failure */
#define SHRINK_CONV 0.25  /* [LSODA]: after a failed iteration */
#define SHRINK_SECOND 0.2 /* [LSODA]: at most, at the second error failure of a step */
#define SHRINK_ORDER1 0.1 /* [LSODA]: from the third on, with order 1 */
#define ERROR_FAILS 10    /* [LSODA] MXNCF, classic only */
#define CONV_FAILS 10     /* [LSODA], classic only */
#define CONV_SWITCH 3     /* ours: failed iterations with Adams after which BDF takes over */
#define ITERATIONS 3      /* [LSODA] MAXCOR */
#define CRATE_FIRST 0.7   /* [LSODA] */
#define RATE_KEEP 0.2     /* [LSODA] */
#define DIVERGED 2.0      /* [LSODA] */
#define RC_CHANGE 0.3     /* [LSODA] CCMAX: J and P are made anew */
#define P_AGE 20          /* [LSODA] MSBP: steps */
#define SWITCH_WAIT 20    /* [LSODA] ICOUNT: steps before the family is judged */
#define SWITCH_RATIO 5.0  /* [LSODA] RATIO: BDF must be so much better */
#define WAIT_KEPT 3       /* [LSODA]: steps before the order is judged after a change was not worth it */
#define WAIT_RESTART 5    /* [LSODA]: after a restart at order 1 */
#define FIXED_LEVELS 20   /* ours: a run with fixed steps begins with h/2^20 and order 1 */
#define FIXED_ITERATIONS 100
#define FIXED_ROUNDING 4

/* Size of the stability region of Adams' formulas with functional iteration, by order; [LSODA] SM1. */
static const double stable[DAE_LSODA_WIDTH] = {0,   0.5,  0.575, 0.55,  0.45, 0.35,  0.25,
                                               0.2, 0.15, 0.1,   0.075, 0.05, 0.025, 0};

typedef enum family { ADAMS, BDF } family;
typedef enum outcome { CONVERGED, FAILED, STOP } outcome;

typedef struct lsoda_options {
    int order_max;
    int classic;
    const char *family;
} lsoda_options;

/* What survives a checkpoint; in the arena. */
typedef struct lsoda_state {
    double t, h;           /* z belongs to t and is scaled with h */
    double grow_max;       /* bound for the next increase of h */
    double eta;            /* h changes by this before the next step, 0: it stays */
    double hl0;            /* h l_0 in the factors; 0: there are none */
    double crate;          /* rate of convergence */
    double lam, lam_now;   /* |df/dy| from the functional iteration: last estimate; since the last judgment */
    double lam_jac;        /* |df/dy| from the Jacobian */
    double norm_y, norm_a; /* |predicted y|, |a| */
    family family, family_next;
    int q, q_next;         /* order, order from the next step on */
    int wait;              /* steps before the order is judged */
    int wait_family;       /* steps before the family is judged */
    int limited;           /* h is limited by the stability of Adams */
    int new_jac;           /* J is wanted in the next attempt */
    long accepted, step_p; /* steps since the start; their number at the last factorization */
    int level, count;      /* fixed steps: the phase of the start, steps in it */
} lsoda_state;

typedef void predict_fn(int q, int ld, const double *z, double *y, double *r);
typedef void advance_fn(int q, int ld, double *z, const double *l, const double *a, const double *y,
                        const double *rtol, const double *atol, double *w);
typedef double newton_fn(int ld, double l0, const double *d, const double *y0, const double *w, int first,
                         double *a, double *y);
typedef double functional_fn(int ld, double h, double l0, const double *f, const double *r, const double *y0,
                             const double *w, int first, double *a, double *y);
typedef double largest_fn(int ld, const double *x, const double *y, double c, const double *w);

typedef struct lsoda {
    dae_ivp *ivp;
    lsoda_state *st;
    int n, ld, classic, fixed, only, order_max[2]; /* only: 1 + the family, 0: both */
    dae_lsoda_formula formula[2][DAE_LSODA_WIDTH]; /* by family and order */
    double *z;                                     /* rows of ld: the Nordsieck array */
    double *a, *a_saved;     /* correction, and that of the step before an order decision */
    double *y0, *r;          /* predicted y and z_1 */
    double *y, *f0, *f, *b;  /* iterate, f at y0 and at y, right-hand side and increment */
    double *w, *rtol, *atol; /* reciprocal weights, tolerances (padded) */
    double *J;
    dae_shifted *P; /* factors of 1/(h l_0) - J; NULL: Adams only */
    predict_fn *predict;
    advance_fn *advance;
    newton_fn *newton;
    functional_fn *functional;
    largest_fn *largest;
} lsoda;

/* ---- Kernels ------------------------------------------------------------------------------------- */

static inline double larger(double a, double b)
{
    return a > b ? a : b; /* NaN in a is lost, in b it stays */
}

DAE_KERNEL_BODY void predict_body(int q, int ld, const double *z, double *y, double *r){
    DAE_NORDSIECK_BY_ORDER(q, dae_nordsieck_predict(Q, ld, z, 1, y, r))}

DAE_KERNEL_BODY void advance_body(int q, int ld, double *z, const double *l, const double *a, const double *y,
                                  const double *rtol, const double *atol, double *w){
    DAE_NORDSIECK_BY_ORDER(q, dae_nordsieck_advance(Q, ld, z, l, a, y, rtol, atol, w))}

/* a += d (or = d), y = y0 + l0 a; returns max |d w| */
DAE_KERNEL_BODY
    double newton_body(int ld, double l0, const double *restrict d, const double *restrict y0,
                       const double *restrict w, int first, double *restrict a, double *restrict y)
{
    double s[4] = {0, 0, 0, 0};
    for (int k = 0; k < ld; k += 4) {
        for (int i = 0; i < 4; i++) {
            double v = d[k + i], x = first ? v : a[k + i] + v;
            a[k + i] = x;
            y[k + i] = y0[k + i] + l0 * x;
            s[i] = larger(s[i], fabs(v * w[k + i]));
        }
    }
    return larger(larger(s[0], s[1]), larger(s[2], s[3]));
}

/* a = h f - r, y = y0 + l0 a; returns max |change of a| w */
DAE_KERNEL_BODY double functional_body(int ld, double h, double l0, const double *restrict f,
                                       const double *restrict r, const double *restrict y0,
                                       const double *restrict w, int first, double *restrict a,
                                       double *restrict y)
{
    double s[4] = {0, 0, 0, 0};
    for (int k = 0; k < ld; k += 4) {
        for (int i = 0; i < 4; i++) {
            double x = h * f[k + i] - r[k + i], v = first ? x : x - a[k + i];
            a[k + i] = x;
            y[k + i] = y0[k + i] + l0 * x;
            s[i] = larger(s[i], fabs(v * w[k + i]));
        }
    }
    return larger(larger(s[0], s[1]), larger(s[2], s[3]));
}

/* max |x + c y| w */
DAE_KERNEL_BODY double largest_body(int ld, const double *restrict x, const double *restrict y, double c,
                                    const double *restrict w)
{
    double s[4] = {0, 0, 0, 0};
    for (int k = 0; k < ld; k += 4) {
        for (int i = 0; i < 4; i++) s[i] = larger(s[i], fabs((x[k + i] + c * y[k + i]) * w[k + i]));
    }
    return larger(larger(s[0], s[1]), larger(s[2], s[3]));
}

DAE_KERNEL(void, predict, (int q, int ld, const double *z, double *y, double *r),
           predict_body(q, ld, z, y, r))
DAE_KERNEL(void, advance,
           (int q, int ld, double *z, const double *l, const double *a, const double *y, const double *rtol,
            const double *atol, double *w),
           advance_body(q, ld, z, l, a, y, rtol, atol, w))
DAE_KERNEL(double, newton,
           (int ld, double l0, const double *d, const double *y0, const double *w, int first, double *a,
            double *y),
           return newton_body(ld, l0, d, y0, w, first, a, y))
DAE_KERNEL(double, functional,
           (int ld, double h, double l0, const double *f, const double *r, const double *y0, const double *w,
            int first, double *a, double *y),
           return functional_body(ld, h, l0, f, r, y0, w, first, a, y))
DAE_KERNEL(double, largest, (int ld, const double *x, const double *y, double c, const double *w),
           return largest_body(ld, x, y, c, w))

static double norm(const lsoda *v, const double *x)
{
    return v->largest(v->ld, x, x, 0, v->w);
}

/* Made when an order is first used: all of them take longer than a short run. */
static const dae_lsoda_formula *formula_of(lsoda *v, family which, int q)
{
    dae_lsoda_formula *c = &v->formula[which][q];
    if (c->l[1] == 0) (which == ADAMS ? dae_lsoda_adams : dae_lsoda_bdf)(q, c);
    return c;
}

static const dae_lsoda_formula *formula(lsoda *v)
{
    return formula_of(v, v->st->family, v->st->q);
}

/* ---- Life ---------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    lsoda *v = self;
    if (!v) return;
    dae_shifted_destroy(v->P);
    free(v);
}

static int check(const dae_ivp *ivp, dae_error *err)
{
    double least = (ivp->opt->fixed_step > 0 ? 10 : 100) * U; /* [LSODA]: 100 u |y| <= 1 */
    return dae_rtol_too_small(ivp, "lsoda", least, err);
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    const lsoda_options *o = option;
    if (check(ivp, err)) return NULL;
    lsoda *v = calloc(1, sizeof *v);
    if (!v) goto memory;
    int n = ivp->n, ld = dae_nordsieck_ld(n);
    v->ivp = ivp;
    v->n = n;
    v->ld = ld;
    v->classic = o->classic;
    v->fixed = ivp->opt->fixed_step > 0;
    v->only = !strcmp(o->family, "adams") ? 1 + ADAMS : !strcmp(o->family, "bdf") || v->fixed ? 1 + BDF : 0;
    v->order_max[ADAMS] = o->order_max;
    v->order_max[BDF] = o->order_max < DAE_LSODA_BDF_MAX ? o->order_max : DAE_LSODA_BDF_MAX;
    v->st = dae_arena_take(ivp->arena, 1, sizeof *v->st);
    double *block = dae_arena_reals(ivp->arena, (size_t)ld * (size_t)(o->order_max + 1 + 11));
    if (v->only != 1 + ADAMS)
        v->J = dae_arena_reals(ivp->arena, (size_t)dae_pattern_count(&ivp->jacobian, n));
    if (dae_arena_failed(ivp->arena)) goto memory;
    double **vector[] = {&v->a, &v->a_saved, &v->y0, &v->r,    &v->y,   &v->f0,
                         &v->f, &v->b,       &v->w,  &v->rtol, &v->atol};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++, block += ld) *vector[k] = block;
    v->z = block;
    for (int i = 0; i < ld; i++) {
        v->rtol[i] = i < n ? ivp->rtol[i] : 0;
        v->atol[i] = i < n ? ivp->atol[i] + DBL_MIN : 1;
    }
    v->predict = DAE_KERNEL_PICK(predict, 0);
    v->advance = DAE_KERNEL_PICK(advance, 0);
    v->newton = DAE_KERNEL_PICK(newton, 0);
    v->functional = DAE_KERNEL_PICK(functional, 0);
    v->largest = DAE_KERNEL_PICK(largest, 0);
    if (v->only != 1 + ADAMS) {
        v->P = dae_setup_solver(ivp, NULL, ivp->sys->structure.second_order, err);
        if (!v->P) {
            destroy(v);
            return NULL;
        }
    }
    ivp->y = v->z;
    return v;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for lsoda with %d equations", ivp->n);
    destroy(v);
    return NULL;
}

/* h such that the error of a first step of order 1 is about the tolerance, [LSODA]. */
static double first_step(const lsoda *v, double t, const double *yp)
{
    double out = dae_ivp_piece_end(v->ivp), tol = 0, w = fmax(fabs(t), fabs(out)), rate = 0;
    for (int i = 0; i < v->n; i++) {
        tol = fmax(tol, v->ivp->digits[i]);
        rate = fmax(rate, fabs(yp[i]) * v->w[i]);
    }
    tol = fmax(100 * U, fmin(tol, 1e-3));
    return fmin(fabs(out - t), 1 / sqrt(1 / (tol * w * w) + tol * rate * rate));
}

/* options.error_weight: the tolerances of this step. */
static void take_tolerances(lsoda *v)
{
    if (!v->ivp->varies) return;
    for (int i = 0; i < v->n; i++) {
        v->atol[i] = v->ivp->atol[i] + DBL_MIN;
        v->w[i] = 1 / (v->rtol[i] * fabs(v->z[i]) + v->atol[i]);
    }
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    lsoda *v = self;
    dae_ivp *ivp = v->ivp;
    lsoda_state *st = v->st;
    double d = ivp->direction, room = fabs(ivp->t_stop - t);
    if (y != v->z) dae_copy(v->n, y, v->z);
    take_tolerances(v);
    for (int i = 0; i < v->ld; i++) v->w[i] = 1 / (v->rtol[i] * fabs(v->z[i]) + v->atol[i]);
    dae_status weighed = dae_check_weights(ivp, t, v->z);
    if (weighed < 0) return weighed;
    ivp->stats->f++; /* yp */
    if (v->fixed) h = ldexp(ivp->opt->fixed_step, -FIXED_LEVELS);
    else if (!(h > 0)) h = fmax(first_step(v, t, yp), dae_first_step_least(t));
    if (ivp->opt->h_max > 0 && !v->fixed) h = fmin(h, ivp->opt->h_max);
    h = d * fmin(h, room);
    for (int i = 0; i < v->n; i++) v->z[v->ld + i] = h * yp[i];
    family begin = v->only == 1 + BDF ? BDF : ADAMS;
    *st = (lsoda_state){.t = t,
                        .h = h,
                        .grow_max = GROWTH_FIRST,
                        .crate = CRATE_FIRST,
                        .family = begin,
                        .family_next = begin,
                        .q = 1,
                        .q_next = 1,
                        .wait = 2,
                        .wait_family = SWITCH_WAIT};
    ivp->h_next = h;
    ivp->order = 1;
    return DAE_OK;
}

/* ---- Changes of h, order and family ------------------------------------------------------------------ */

static double least_step(const lsoda *v)
{
    return fmax(v->ivp->opt->h_min, fmax(4 * U * fabs(v->st->t), 1e4 * DBL_MIN));
}

/* The factor eta within its bounds, for the given family and order: the smallest and largest step, the largest
 * increase, and with Adams the limit of stability. */
static double bounded(lsoda *v, double eta, family which, int q)
{
    lsoda_state *st = v->st;
    double h = fabs(st->h), h_max = v->ivp->opt->h_max;
    eta = fmin(fmax(eta, least_step(v) / h), st->grow_max);
    if (h_max > 0 && h * eta > h_max) eta = h_max / h;
    if (which == ADAMS) {
        double pdh = fmax(h * st->lam, 1e-6);
        st->limited = eta * pdh * 1.00001 >= stable[q];
        if (st->limited) eta = stable[q] / pdh;
    }
    return eta;
}

static void rescale(lsoda *v, double eta)
{
    lsoda_state *st = v->st;
    dae_nordsieck_rescale(st->q, v->ld, v->z, eta);
    st->h *= eta;
    st->wait = st->q + 1;
}

static void set_family(lsoda *v, family next)
{
    lsoda_state *st = v->st;
    if (next == st->family) return;
    st->family = st->family_next = next;
    st->wait_family = SWITCH_WAIT;
    st->lam = 0;
    st->hl0 = 0;
    dae_log(v->ivp->opt, DAE_LOG_INFO, "t=%.10g family=%s", st->t, next == BDF ? "bdf" : "adams");
}

/* What was decided after the last step, and the wall ahead. */
static void begin_step(lsoda *v)
{
    lsoda_state *st = v->st;
    if (st->q_next > st->q) { /* z_(q+1) = a l_q/(q+1) */
        double c = formula(v)->l[st->q] / (st->q + 1), *top = v->z + (st->q + 1) * v->ld;
        for (int i = 0; i < v->ld; i++) top[i] = c * v->a[i];
    }
    st->q = st->q_next;
    set_family(v, st->family_next);
    if (st->eta > 0) rescale(v, st->eta);
    st->eta = 0;
    if (dae_passes_wall(v->ivp, st->t, st->h, 4 * U, v->fixed)) {
        st->limited = 0;
        rescale(v, (v->ivp->t_stop - st->t) * (1 - 4 * U) / st->h);
    }
}

/* ---- The nonlinear equation --------------------------------------------------------------------------- */

/* max over i of w_i sum_j |J_ij|/w_j: the norm that belongs to that of vectors */
static double matrix_norm(const lsoda *v)
{
    const dae_pattern *p = &v->ivp->jacobian;
    int n = v->n;
    double *row = v->b, largest = 0;
    const double *J = v->J;
    dae_zero(n, row);
    if (p->columns > 0) n /= 1 + p->columns; /* that of one block */
    for (int j = 0; j < n; j++) {
        double scale = 1 / v->w[j];
        if (p->storage == DAE_SPARSE) {
            for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) row[p->rowind[k]] += fabs(J[k]) * scale;
        } else if (p->storage == DAE_BANDED) {
            int width = p->lower + 1 + p->upper, lo = j > p->upper ? j - p->upper : 0;
            int hi = j + p->lower < n - 1 ? j + p->lower : n - 1;
            for (int i = lo; i <= hi; i++)
                row[i] += fabs(J[(size_t)j * (size_t)width + (size_t)(p->upper + i - j)]) * scale;
        } else {
            for (int i = 0; i < n; i++) row[i] += fabs(J[(size_t)j * (size_t)n + (size_t)i]) * scale;
        }
    }
    for (int i = 0; i < n; i++) largest = fmax(largest, row[i] * v->w[i]);
    return largest;
}

/* Makes J at the predicted point and factors 1/(h l_0) - J. */
static outcome factor(lsoda *v, double t)
{
    lsoda_state *st = v->st;
    double hl0 = st->h * formula(v)->l[0];
    int bad = dae_ivp_jacobian(v->ivp, t, v->y0, v->f0, v->J);
    if (bad) return bad < 0 ? STOP : FAILED;
    st->lam_jac = matrix_norm(v);
    DAE_LINALG(v->ivp, bad = dae_shifted_factor(v->P, 1 / hl0, 0, v->J));
    v->ivp->stats->lu++;
    st->hl0 = bad ? 0 : hl0;
    st->crate = CRATE_FIRST;
    st->step_p = st->accepted;
    st->new_jac = 0;
    return bad ? FAILED : CONVERGED;
}

/* One iteration from f at the iterate; returns |d|. */
static double correct(lsoda *v, const double *f, int m)
{
    lsoda_state *st = v->st;
    double l0 = formula(v)->l[0], h = st->h;
    v->ivp->stats->newton++;
    if (st->family == ADAMS) return v->functional(v->ld, h, l0, f, v->r, v->y0, v->w, m == 0, v->a, v->y);
    double c = 1 / st->hl0, *b = v->b;
    if (m) {
        for (int i = 0; i < v->ld; i++) b[i] = c * (h * f[i] - (v->r[i] + v->a[i]));
    } else {
        for (int i = 0; i < v->ld; i++) b[i] = c * (h * f[i] - v->r[i]);
    }
    DAE_LINALG(v->ivp, dae_shifted_solve(v->P, b));
    v->ivp->stats->solves++;
    return v->newton(v->ld, l0, b, v->y0, v->w, m == 0, v->a, v->y);
}

/* The iteration from a = 0, f0 = f(t, y0) being known. */
static outcome iterate(lsoda *v, double t)
{
    lsoda_state *st = v->st;
    int most = v->fixed ? FIXED_ITERATIONS : ITERATIONS, q = st->q;
    double goal = formula(v)->t2 * 0.5 / (q + 2), del_old = 0, rate = 0, hl0 = fabs(st->h * formula(v)->l[0]);
    const double *f = v->f0;
    if (v->fixed) goal = 0;
    for (int m = 0;; m++) {
        double del = correct(v, f, m);
        if (!(del <= DBL_MAX)) return FAILED;
        int done = del <= 100 * U * st->norm_y;
        if (v->fixed) done = del <= FIXED_ROUNDING * U * st->norm_y;
        if (!done && (m > 0 || st->family == BDF)) {
            if (m > 0) {
                double rm = del <= 1024 * del_old ? del / del_old : 1024;
                rate = fmax(rate, rm);
                st->crate = fmax(RATE_KEEP * st->crate, rm);
            }
            done = del * fmin(1, 1.5 * st->crate) <= goal;
            if (done) {
                st->lam_now = fmax(st->lam_now, rate / hl0);
                if (st->lam_now != 0) st->lam = st->lam_now;
            }
        }
        if (done) {
            st->norm_a = m ? norm(v, v->a) : del;
            return CONVERGED;
        }
        if (m + 1 == most || (m >= 1 && del > DIVERGED * del_old)) return FAILED;
        del_old = del;
        int bad = dae_ivp_f(v->ivp, t, v->y, v->f);
        if (bad) return bad < 0 ? STOP : FAILED;
        f = v->f;
    }
}

/* Solves for a at t, predicted values in y0 and r. */
static outcome solve(lsoda *v, double t)
{
    lsoda_state *st = v->st;
    int bad = dae_ivp_f(v->ivp, t, v->y0, v->f0);
    if (bad) return bad < 0 ? STOP : FAILED;
    if (st->family == ADAMS) return iterate(v, t);
    int need = st->new_jac || st->hl0 == 0 || st->accepted >= st->step_p + P_AGE ||
               fabs(st->h * formula(v)->l[0] / st->hl0 - 1) > RC_CHANGE;
    for (;;) {
        outcome o = need ? factor(v, t) : CONVERGED;
        if (o != CONVERGED) return o;
        o = iterate(v, t);
        if (o != FAILED || need) return o;
        need = 1; /* an old J: once more with a new one */
        if (v->classic) {
            bad = dae_ivp_f(v->ivp, t, v->y0, v->f0);
            if (bad) return bad < 0 ? STOP : FAILED;
        }
    }
}

/* ---- The choice of order and step ------------------------------------------------------------------------ */

static double eta_of(double safety, double error, int root)
{
    return 1 / (safety * pow(error, 1.0 / root) + safety * ADDON);
}

/* Order and factor of h from the errors at orders q-1, q, q+1 (down, dsm, up; negative: not to be had). */
static double choose_order(lsoda *v, double down, double dsm, double up, int failed, int *q_next)
{
    lsoda_state *st = v->st;
    int q = st->q;
    double here = eta_of(SAFETY, dsm, q + 1), lower = down < 0 ? 0 : eta_of(SAFETY_DOWN, down, q),
           higher = up < 0 ? 0 : eta_of(SAFETY_UP, up, q + 2);
    if (st->family == ADAMS) {
        double pdh = fmax(fabs(st->h) * st->lam, 1e-6);
        if (higher > 0) higher = fmin(higher, stable[q + 1] / pdh);
        here = fmin(here, stable[q] / pdh);
        if (lower > 0) lower = fmin(lower, stable[q - 1] / pdh);
        st->lam_now = 0;
    }
    if (here >= higher && here >= lower) {
        *q_next = q;
        return here;
    }
    if (here < higher && higher > lower) {
        *q_next = q + 1;
        return higher;
    }
    *q_next = q - 1;
    return failed ? fmin(lower, 1) : lower;
}

/* Is the change worth it? With Adams at the limit of stability always. */
static int worthwhile(const lsoda *v, double eta, int q_next)
{
    const lsoda_state *st = v->st;
    if (q_next <= st->q && st->family == ADAMS &&
        eta * fmax(fabs(st->h) * st->lam, 1e-6) * 1.00001 >= stable[q_next])
        return 1;
    return eta >= GROWTH_LEAST;
}

/* The other family, where it could take larger steps: the factor of h; 0: stay. */
static double judge_family(lsoda *v, double dsm)
{
    const lsoda_state *st = v->st;
    int q = st->q;
    if (v->only) return 0;
    if (st->family == ADAMS && q > v->order_max[BDF]) return 0;
    const dae_lsoda_formula *a = formula_of(v, ADAMS, q), *b = formula_of(v, BDF, q);
    double c_adams = a->t2 * a->l[q], c_bdf = b->t2 * b->l[q];
    double floor = 100 * U * st->norm_y;
    if (st->family == ADAMS) {
        if (dsm <= floor || st->lam_now == 0) return st->limited ? 2 : 0;
        double adams = eta_of(SAFETY, dsm, q + 1), pdh = st->lam * fabs(st->h);
        adams = fmin(adams, pdh * adams > 1e-5 ? stable[q] / pdh : 2 * adams);
        double bdf = eta_of(SAFETY, dsm * (c_adams / c_bdf), q + 1);
        return bdf >= SWITCH_RATIO * adams ? bdf : 0;
    }
    double error = dsm * (c_bdf / c_adams), adams = eta_of(SAFETY, error, q + 1),
           pdh = st->lam_jac * fabs(st->h);
    adams = fmin(adams, pdh * adams > 1e-5 ? stable[q] / pdh : 2 * adams);
    if (adams < eta_of(SAFETY, dsm, q + 1)) return 0;
    if (pow(fmax(0.001, adams), 1.0 / (q + 1)) * error <= 10 * floor) return 0;
    return adams;
}

/* Family, order and step of the next step; before z and w move on. */
static void choose_next(lsoda *v, double dsm)
{
    lsoda_state *st = v->st;
    const dae_lsoda_formula *c = formula(v);
    int q = st->q;
    double eta;
    if (--st->wait_family < 0) {
        eta = judge_family(v, dsm);
        if (eta > 0) {
            st->family_next = st->family == ADAMS ? BDF : ADAMS;
            double lam = st->lam;
            st->lam = 0;
            st->eta = bounded(v, eta, st->family_next, q);
            st->lam = lam;
            st->grow_max = GROWTH_LATER;
            return;
        }
    }
    if (--st->wait > 0) {
        if (st->wait == 1 && q < v->order_max[st->family]) dae_copy(v->ld, v->a, v->a_saved);
        return;
    }
    double down = q > 1 ? v->largest(v->ld, v->z + q * v->ld, v->a, c->l[q], v->w) / c->t1 : -1;
    double up = q < v->order_max[st->family] ? v->largest(v->ld, v->a, v->a_saved, -1, v->w) / c->t3 : -1;
    eta = choose_order(v, down, dsm, up, 0, &st->q_next);
    if (!worthwhile(v, eta, st->q_next)) {
        st->q_next = q;
        st->wait = WAIT_KEPT;
        return;
    }
    st->eta = bounded(v, eta, st->family, st->q_next);
    st->grow_max = GROWTH_LATER;
}

/* Fixed steps: the start goes through FIXED_LEVELS step sizes, each twice the last, and raises the order where it
 * can, so that the starting error is negligible; it takes a whole number of steps of the wanted size. */
static void choose_fixed(lsoda *v)
{
    lsoda_state *st = v->st;
    int most = v->order_max[st->family], block = 2 * ((most + 3) / 2);
    st->count++;
    if (st->level < FIXED_LEVELS) {
        if (st->count < (st->level == 0 ? 2 * block : block)) return;
        st->level++;
        st->count = 0;
        st->eta = 2;
    } else if (st->q == most) {
        double h = v->ivp->direction * v->ivp->opt->fixed_step;
        if (st->h != h) st->eta = h / st->h;
        return;
    } else {
        st->eta = 1;
    }
    if (st->q < most) st->q_next = st->q + 1;
}

/* ---- Failures ----------------------------------------------------------------------------------------- */

static dae_status too_small(lsoda *v, const char *what, int fails)
{
    return dae_says_step_fell(v->ivp, v->st->t, v->st->h, least_step(v), fails, what, NULL);
}

static dae_status stopped(lsoda *v)
{
    return dae_says_stopped(v->ivp, v->st->t, "a user function");
}

static dae_status failed_iteration(lsoda *v, int fails)
{
    lsoda_state *st = v->st;
    v->ivp->stats->newton_failures++;
    st->grow_max = GROWTH_FAILED;
    st->new_jac = 1;
    if (v->fixed) {
        return dae_says_not_converging(v->ivp, st->t, st->h);
    }
    if (fabs(st->h) <= least_step(v) * (1 + 1e-5) || (v->classic && fails >= CONV_FAILS))
        return too_small(v, "the iteration", fails);
    if (!v->classic && !v->only && st->family == ADAMS && fails >= CONV_SWITCH && st->q <= v->order_max[BDF])
        set_family(v, BDF);
    rescale(v, bounded(v, SHRINK_CONV, st->family, st->q));
    return DAE_OK;
}

static dae_status failed_error_test(lsoda *v, double dsm, int fails)
{
    lsoda_state *st = v->st;
    const dae_lsoda_formula *c = formula(v);
    int q = st->q, q_next;
    v->ivp->stats->rejected++;
    st->grow_max = GROWTH_FAILED;
    if (!v->classic && st->step_p != st->accepted) st->new_jac = 1;
    if (fabs(st->h) <= least_step(v) * (1 + 1e-5) || (v->classic && fails >= ERROR_FAILS))
        return too_small(v, "the error test", fails);
    if (fails < 3) {
        double down = q > 1 ? norm(v, v->z + q * v->ld) / c->t1 : -1;
        double eta = choose_order(v, down, dsm, -1, 1, &q_next);
        if (fails == 2) eta = fmin(eta, SHRINK_SECOND);
        st->q = st->q_next = q_next;
        rescale(v, bounded(v, eta, st->family, q_next));
        return DAE_OK;
    }
    st->h *= fmax(SHRINK_ORDER1, least_step(v) / fabs(st->h));
    int bad = dae_ivp_f(v->ivp, st->t, v->z, v->f);
    if (bad) return bad < 0 ? stopped(v) : too_small(v, "the error test", fails);
    for (int i = 0; i < v->ld; i++) v->z[v->ld + i] = st->h * v->f[i];
    st->q = st->q_next = 1;
    st->new_jac = 1;
    st->wait = WAIT_RESTART;
    return DAE_OK;
}

/* ---- The step -------------------------------------------------------------------------------------------- */

static void accept(lsoda *v, double t, double dsm)
{
    lsoda_state *st = v->st;
    dae_ivp *ivp = v->ivp;
    double h = st->h;
    if (v->fixed) choose_fixed(v);
    else choose_next(v, dsm);
    v->advance(st->q, v->ld, v->z, formula(v)->l, v->a, v->y, v->rtol, v->atol, v->w);
    if (ivp->project)
        dae_nordsieck_moved(st->q, v->n, v->ld, v->z, st->family == BDF ? formula(v)->l : NULL, v->f0);
    st->accepted++;
    t = dae_time_at_wall(ivp, t, h);
    if (v->fixed && fabs(t - ivp->t_end) <= 1e-9 * fabs(h)) t = ivp->t_end;
    ivp->t_old = st->t;
    ivp->t = st->t = t;
    ivp->order = st->q;
    ivp->stats->accepted++;
    ivp->h_next = st->eta > 0 ? h * st->eta : h;
}

/* The new point on its constraints, into f0. */
static outcome project(lsoda *v, double t)
{
    if (!v->ivp->project) return CONVERGED;
    dae_copy(v->n, v->y, v->f0);
    int bad = dae_ivp_project(v->ivp, t, v->f0);
    return bad == 0 ? CONVERGED : bad < 0 ? STOP : FAILED;
}

static dae_status step(void *self)
{
    lsoda *v = self;
    lsoda_state *st = v->st;
    int conv_fails = 0, error_fails = 0;
    take_tolerances(v);
    begin_step(v);
    for (;;) {
        double t = st->t + st->h;
        v->ivp->stats->steps++;
        v->predict(st->q, v->ld, v->z, v->y0, v->r);
        st->norm_y = norm(v, v->y0);
        outcome o = solve(v, t);
        double dsm = st->norm_a / formula(v)->t2;
        int passed = o == CONVERGED && (dsm <= 1 || v->fixed);
        if (passed) o = project(v, t);
        if (o == STOP) return stopped(v);
        dae_status s;
        if (o == FAILED) {
            s = failed_iteration(v, ++conv_fails);
        } else {
            if (passed) {
                accept(v, t, dsm);
                return DAE_OK;
            }
            s = failed_error_test(v, dsm, ++error_fails);
        }
        if (s) return s;
    }
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    lsoda *v = self;
    const lsoda_state *st = v->st;
    dae_nordsieck_at(st->q, v->n, v->ld, v->z, (t - st->t) / st->h, st->h, y, yp);
}

/* ---- Checkpoint: the sparse factors ------------------------------------------------------------------------ */

static size_t save(const void *self, void *buffer)
{
    const lsoda *v = self;
    return v->P ? dae_shifted_save(v->P, buffer) : 0;
}

static int load(void *self, const void *buffer, size_t size)
{
    lsoda *v = self;
    return v->P ? dae_shifted_load(v->P, buffer, size) : 0;
}

/* ---- Descriptor --------------------------------------------------------------------------------------------- */

static const dae_option options[] = {
    {.name = "order_max",
     .type = DAE_OPTION_INT,
     .offset = offsetof(lsoda_options, order_max),
     .value = DAE_LSODA_ADAMS_MAX,
     .min = 1,
     .max = DAE_LSODA_ADAMS_MAX,
     .unit = "",
     .help = "highest order, BDF at most 5; with fixed steps the order"},
    {.name = "family",
     .type = DAE_OPTION_NAME,
     .offset = offsetof(lsoda_options, family),
     .text = "auto",
     .choices = "auto|adams|bdf",
     .unit = "",
     .help = "auto: chosen while it runs (fixed steps: bdf)"},
    {.name = "classic",
     .type = DAE_OPTION_INT,
     .offset = offsetof(lsoda_options, classic),
     .value = 0,
     .min = 0,
     .max = 1,
     .unit = "",
     .help = "1: as the program LSODA, without our mends"},
    {.name = NULL},
};

const dae_method dae_method_lsoda = {
    .info = {.name = "lsoda",
             .title = "Adams of orders 1 to 12 and BDF of orders 1 to 5, chosen automatically",
             .literature =
                 "Petzold: Automatic selection of methods for solving stiff and nonstiff systems of "
                 "ordinary differential equations, SIAM J. Sci. Stat. Comput. 4 (1983)",
             .summary = "ODEs that are stiff in parts of the interval, or of which it is not known whether "
                        "they are stiff",
             .order_min = 1,
             .order_max = DAE_LSODA_ADAMS_MAX,
             .kinds = 1u << DAE_KIND_ODE,
             .max_index = 0,
             .implicit = 1,
             .multistep = 1,
             .projects = 1,
             .checkpoint = 1,
             .options = options},
    .soft_end = 1,
    .option_size = sizeof(lsoda_options),
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
