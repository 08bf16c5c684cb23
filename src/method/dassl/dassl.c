/* dassl: backward differentiation formulas of order 1 to 5 in fixed-leading-coefficient form for
 * F(t,y,y') = 0, and so for M y' = f and y' = f.
 *
 * The past is kept as modified divided differences phi_i. With the coefficients of a step of size h at order k
 * (coefficients.h) one step is
 *
 *     predict   y0 = sum beta_i phi_i,    y0' = sum gamma_i beta_i phi_i
 *     correct   F(t, y0 + e, y0' + cj e) = 0,    Newton's method with G = dF/dy + cj dF/dy'
 *     test      ck |e| <= 1
 *     update    phi_(k+2) = e, phi_(k+1) = beta phi_(k+1) + e, phi_i = beta phi_i + phi_(i+1)
 *
 * phi stays that of t_n until the step is accepted, so that a failed attempt has nothing to undo.
 *
 * Source: [BCP96] Brenan, Campbell, Petzold, chapter 5, and the program DDASSL (revision of July 2000). Where we
 * differ (the option classic switches it off):
 *   - the smallest step is the rounding level of t, not that of the end of the interval, and there is no fixed
 *     number of failures;
 *   - hold rule: after a step that needed a retry h does not grow in the next k+2 steps at the same order, which
 *     ends the alternation "doubled and rejected, halved and accepted";
 *   - error filter: in index-1 systems with singular dF/dy' the vectors v of the error test are replaced by
 *     inv(G) cj dF/dy' v. Components in the differential part stay, algebraic combinations, whose error is that
 *     of their equations and not of the formula, vanish;
 *   - the weights of index-2 and index-3 variables are divided by h and h^2;
 *   - a Jacobian serves 12 steps at most and is made anew after a rejected step; difference Jacobians serve for
 *     several values of cj;
 *   - the iteration stops at 0.1 of the error allowed, not 0.33, and h is chosen a little more carefully;
 *   - after a jump y' is that of the right side, and algebraic variables are made consistent again;
 *   - behind a jump of an index-1 system with singular dF/dy' order 1 damps what the jump excites before higher orders
 *     begin (method/damping.h);
 *   - errors that nothing damps count more (method/undamped.h);
 *   - the residual at the predicted point is not evaluated twice. */
#include "method/method.h"

#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/kernel.h"
#include "linalg/shifted.h"
#include "method/damping.h"
#include "method/dassl/coefficients.h"
#include "method/failure.h"
#include "method/setup.h"
#include "method/undamped.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>

/* ours: the tolerance from which undamped errors count more: DETEST B1 stays below 1000 tolerances */
#define UNDAMPED 1e-8
#define U 2.220446049250313e-16
#define ITERATIONS 4      /* [DDASSL] MAXIT */
#define TEST_CLASSIC 0.33 /* [DDASSL]: the iteration stops at this part of the error allowed */
/* ours: with young Jacobians it costs little, and the error is that of the formula */
#define TEST 0.1
#define RATE_MAX 0.9 /* [DDASSL] */
/* ours: a Jacobian is made anew when the iteration converges slower (DETEST stiff D3 at 1e-2: one that was 8 steps old gave
 * increments of a third of what they should be, y2 fell below 0 within its tolerance, and ran away) */
#define RATE_SLOW 0.4
#define S_UNKNOWN 100.0  /* [DDASSL]: rate/(1 - rate) while the rate is not known */
#define CJ_LEAST 0.6     /* [DDASSL] (1-XRATE)/(1+XRATE): change of cj above which G is made anew */
#define FAIL_FACTOR 0.25 /* [DDASSL]: h after a failed iteration, and from the second error failure on */
#define ERROR_SAFETY 0.9 /* [DDASSL] */
#define SHRINK_LEAST 0.5 /* [DDASSL]: h after an accepted step */
#define SHRINK_MOST 0.9  /* [DDASSL] */
#define CONV_FAILS 10    /* [DDASSL], classic only */
#define SINGULAR_FAILS 3 /* [DDASSL], classic only */
#define LOWER_FROM 3     /* [DDASSL]: error failures of one step from which the order is 1 */
#define BIAS_CLASSIC 2.0 /* [DDASSL]: safety in the choice of h */
#define BIAS 3.0         /* ours: part of what newer Jacobians save goes into accuracy */
/* ours, with the error filter: it takes out 10 to 20 % of the steps and 0.4 digits */
#define BIAS_FILTER 10.0
/* ours: steps that a Jacobian serves; f -10 to -27 % against unlimited age, but a difference Jacobian
 * serves as many steps as it costs evaluations */
#define J_AGE 12
/* ours: initial values are left alone if a correction is below this part of the tolerances */
#define CONSISTENT 0.01
/* ours: size of the steps to consistent values, in units of the first step */
#define TINY 1e-3
#define SINGULAR_CONDITION 1e13 /* ours: dF/dy' counts as singular */
#define FIXED_LEVELS 20         /* ours: a run with fixed steps begins with h/2^20 and order 1 */
#define FIXED_ITERATIONS 100
#define FIXED_ROUNDING 4
#define FIXED_TEST 1e-6 /* ours: of tolerances that fixed steps do not otherwise use */

typedef struct dassl_options {
    int order_max;
    int classic;
    const char *filter, *higher_index, *corrector;
} dassl_options;

typedef enum outcome { CONVERGED, FAILED, SINGULAR, STOP, NO_MEMORY } outcome;
typedef enum control { PLAIN, EXCLUDED, SCALED } control;

/* What survives a checkpoint; in the arena. */
typedef struct dassl_state {
    double t, h;                 /* phi belongs to t; h: the next step */
    double h_old;                /* the last one */
    double psi[DAE_DASSL_WIDTH]; /* of the last step */
    dae_dassl_formula formula;   /* of the present attempt */
    double cj_last, cj_factor;   /* cj of the last attempt, and in the factors */
    double bias;                 /* safety in the choice of h */
    double S;                    /* rate/(1 - rate) of the iteration */
    int k, k_old, same;          /* order, that of the last step, ns: differences that need no scaling */
    int starting;                /* order and step are doubled in every step */
    int have_factors, have_jac;
    int hold;                /* accepted steps before h may grow again */
    int singular;            /* dF/dy' is: 0 not known, 1 no, 2 yes */
    int filter;              /* of errors */
    int failed;              /* the last attempt failed */
    int slow;                /* the iteration converges slowly with this Jacobian */
    long accepted, step_jac; /* steps since the start; their number at the last Jacobian */
    dae_damping damping;     /* behind a jump */
    dae_undamped undamped;
    int level, count; /* fixed steps: the phase of the start, steps in it */
} dassl_state;

typedef struct estimate {
    double e;                             /* |y - predicted y| */
    double at, lower;                     /* error at orders k and k-1 */
    double term, term_lower, term_lowest; /* size of the next term of the expansion at k, k-1, k-2 */
    int down;                             /* order k-1 is better */
} estimate;

typedef void predict_fn(int k, int ld, const double *phi, const double *beta, const double *slope, double *y,
                        double *yp);
typedef void equation_fn(int ld, double c, const double *m, const double *yp0, double cj, const double *e,
                         const double *f, double *b);
typedef double correct_fn(int ld, const double *d, const double *y0, const double *w, int first, double *e,
                          double *y);
typedef void errors_fn(int k, int ld, const double *phi, const double *beta, const double *e, const double *w,
                       double *s);
typedef void advance_fn(int k, int top, int ld, double *phi, const double *beta, const double *e,
                        const double *rtol, const double *atol, double *w);
typedef double difference_fn(int ld, const double *a, const double *b, const double *w);

typedef struct dassl {
    dae_ivp *ivp;
    dassl_state *st;
    int n, ld, order_max, classic, fixed, ide, stagger;
    int iterations;         /* that the last part took */
    int filter;             /* 0 never, 1 always, 2 where dF/dy' is singular */
    control control;        /* of index-2 and index-3 variables */
    int nhigh, *high;       /* their numbers */
    int keep_jac;           /* Jacobians serve for several values of cj */
    long j_age;             /* and so many steps at most */
    double test;            /* of the iteration */
    dae_matrix mass;        /* n = 0: identity */
    const double *diagonal; /* of M, padded; NULL: another M, or none */
    double *phi;            /* order_max + 1 rows of ld */
    double *e, *y0, *yp0;   /* y - y0, predicted y and y' */
    double *y, *yp;         /* iterate; y' of it (IDEs, general M) */
    double *f0, *f, *b;     /* f or F at the predicted point and at y; right-hand side and increment */
    double *x;              /* a vector to be filtered */
    double *base, *w;       /* reciprocal weights, and with the factors of higher index */
    double *rtol, *atol;    /* padded */
    double *J, *Jp, *A;     /* df/dy; IDEs: dF/dy, dF/dy', G */
    size_t count;           /* their values */
    dae_shifted *G;
    predict_fn *predict;
    equation_fn *equation;
    correct_fn *correct;
    errors_fn *errors;
    advance_fn *advance;
    difference_fn *difference;
} dassl;

/* ---- Kernels ------------------------------------------------------------------------------------- */

#define CASE(k, call)    \
    case k: {            \
        const int K = k; \
        call;            \
        break;           \
    }
#define BY_ORDER(k, call)                                                                      \
    switch (k) {                                                                               \
        CASE(1, call) CASE(2, call) CASE(3, call) CASE(4, call) CASE(5, call) default : break; \
    }

DAE_KERNEL_BODY void predict_order(const int k, int ld, const double *restrict phi,
                                   const double *restrict beta, const double *restrict slope,
                                   double *restrict y, double *restrict yp)
{
    for (int i = 0; i < (ld & ~3); i++) {
        double s = phi[i], d = 0;
        for (int j = 1; j <= k; j++) {
            s += beta[j] * phi[j * ld + i];
            d += slope[j] * phi[j * ld + i];
        }
        y[i] = s;
        yp[i] = d;
    }
}

DAE_KERNEL_BODY void predict_body(int k, int ld, const double *phi, const double *beta, const double *slope,
                                  double *y,
                                  double *yp){BY_ORDER(k, predict_order(K, ld, phi, beta, slope, y, yp))}

/* b = c (m (y0' + cj e) - f); m NULL: ones, e NULL: zero */
DAE_KERNEL_BODY
    void equation_body(int ld, double c, const double *restrict m, const double *restrict yp0, double cj,
                       const double *restrict e, const double *restrict f, double *restrict b)
{
    int n = ld & ~3;
    if (m) {
        if (e) {
            for (int i = 0; i < n; i++) b[i] = c * (m[i] * (yp0[i] + cj * e[i]) - f[i]);
        } else {
            for (int i = 0; i < n; i++) b[i] = c * (m[i] * yp0[i] - f[i]);
        }
    } else if (e) {
        for (int i = 0; i < n; i++) b[i] = c * (yp0[i] + cj * e[i] - f[i]);
    } else {
        for (int i = 0; i < n; i++) b[i] = c * (yp0[i] - f[i]);
    }
}

/* e -= d (or = -d), y = y0 + e; returns sum (d w)^2 */
/* first is a constant where it is called: a choice inside of the loop is not vectorized well. */
DAE_KERNEL_BODY double correct_once(int ld, const double *restrict d, const double *restrict y0,
                                    const double *restrict w, const int first, double *restrict e,
                                    double *restrict y)
{
    double s[4] = {0, 0, 0, 0};
    for (int k = 0; k < ld; k += 4) {
        for (int i = 0; i < 4; i++) {
            double v = d[k + i], x = first ? -v : e[k + i] - v;
            e[k + i] = x;
            y[k + i] = y0[k + i] + x;
            s[i] += v * w[k + i] * (v * w[k + i]);
        }
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}
DAE_KERNEL_BODY double correct_body(int ld, const double *restrict d, const double *restrict y0,
                                    const double *restrict w, int first, double *restrict e,
                                    double *restrict y)
{
    return first ? correct_once(ld, d, y0, w, 1, e, y) : correct_once(ld, d, y0, w, 0, e, y);
}

/* sums of squares, weighted, of e, of e plus the scaled top difference, and of that plus the next one */
DAE_KERNEL_BODY void errors_order(const int k, int ld, const double *restrict phi,
                                  const double *restrict beta, const double *restrict e,
                                  const double *restrict w, double *restrict out)
{
    double s[3][4] = {{0}};
    for (int b = 0; b < ld; b += 4) {
        for (int i = 0; i < 4; i++) {
            double v = e[b + i], r = v * w[b + i];
            s[0][i] += r * r;
            if (k > 1) {
                v += beta[k] * phi[k * ld + b + i];
                r = v * w[b + i];
                s[1][i] += r * r;
            }
            if (k > 2) {
                v += beta[k - 1] * phi[(k - 1) * ld + b + i];
                r = v * w[b + i];
                s[2][i] += r * r;
            }
        }
    }
    for (int j = 0; j < 3; j++) out[j] = (s[j][0] + s[j][1]) + (s[j][2] + s[j][3]);
}

DAE_KERNEL_BODY void errors_body(int k, int ld, const double *phi, const double *beta, const double *e,
                                 const double *w, double *s){
    BY_ORDER(k < 3 ? k : 3, errors_order(K, ld, phi + (k - K) * ld, beta + (k - K), e, w, s))}

/* The differences of the new point, with the weights of the next step, w = 1/(rtol |y| + atol). */
DAE_KERNEL_BODY
    void advance_order(const int k, int top, int ld, double *restrict phi, const double *restrict beta,
                       const double *restrict e, const double *restrict rtol, const double *restrict atol,
                       double *restrict w)
{
    for (int b = 0; b < ld; b += 4) {
        double v[4];
        for (int i = 0; i < 4; i++) v[i] = e[b + i];
        if (top > k) {
            for (int i = 0; i < 4; i++) phi[(k + 1) * ld + b + i] = v[i];
        }
        for (int j = k; j >= 0; j--) {
            for (int i = 0; i < 4; i++) {
                v[i] += beta[j] * phi[j * ld + b + i];
                phi[j * ld + b + i] = v[i];
            }
        }
        for (int i = 0; i < 4; i++) w[b + i] = 1 / (rtol[b + i] * fabs(v[i]) + atol[b + i]);
    }
}

DAE_KERNEL_BODY void advance_body(int k, int top, int ld, double *phi, const double *beta, const double *e,
                                  const double *rtol, const double *atol, double *w){
    BY_ORDER(k, advance_order(K, top, ld, phi, beta, e, rtol, atol, w))}

/* sum ((a - b) w)^2; b NULL: zero */
DAE_KERNEL_BODY double difference_body(int ld, const double *restrict a, const double *restrict b,
                                       const double *restrict w)
{
    double s[4] = {0, 0, 0, 0};
    for (int k = 0; k < ld; k += 4) {
        for (int i = 0; i < 4; i++) {
            double r = (b ? a[k + i] - b[k + i] : a[k + i]) * w[k + i];
            s[i] += r * r;
        }
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

DAE_KERNEL(void, predict,
           (int k, int ld, const double *phi, const double *beta, const double *slope, double *y, double *yp),
           predict_body(k, ld, phi, beta, slope, y, yp))
DAE_KERNEL(void, equation,
           (int ld, double c, const double *m, const double *yp0, double cj, const double *e, const double *f,
            double *b),
           equation_body(ld, c, m, yp0, cj, e, f, b))
DAE_KERNEL(double, correct,
           (int ld, const double *d, const double *y0, const double *w, int first, double *e, double *y),
           return correct_body(ld, d, y0, w, first, e, y))
DAE_KERNEL(void, errors,
           (int k, int ld, const double *phi, const double *beta, const double *e, const double *w,
            double *s),
           errors_body(k, ld, phi, beta, e, w, s))
DAE_KERNEL(void, advance,
           (int k, int top, int ld, double *phi, const double *beta, const double *e, const double *rtol,
            const double *atol, double *w),
           advance_body(k, top, ld, phi, beta, e, rtol, atol, w))
DAE_KERNEL(double, difference, (int ld, const double *a, const double *b, const double *w),
           return difference_body(ld, a, b, w))

static double norm(const dassl *d, const double *v)
{
    return sqrt(d->difference(d->ld, v, NULL, d->w) / d->n);
}

/* ---- Life ---------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    dassl *d = self;
    if (!d) return;
    dae_shifted_destroy(d->G);
    free(d);
}

/* Evaluations that a difference Jacobian costs; 0 with an analytic one. */
static int jacobian_cost(const dae_ivp *ivp)
{
    const dae_system *s = ivp->sys;
    int banded = ivp->jacobian.storage == DAE_BANDED;
    int all = banded ? ivp->jacobian.lower + 1 + ivp->jacobian.upper : ivp->n;
    int forced = ivp->opt->jacobian && !strcmp(ivp->opt->jacobian, "difference");
    switch (s->kind) {
    case DAE_KIND_ODE: return forced || !s->ode.jac ? all : 0;
    case DAE_KIND_DAE: return forced || !s->dae.jac ? all : 0;
    default: return (forced || !s->ide.dfdy ? all : 0) + (forced || !s->ide.dfdyp ? all : 0);
    }
}

static int check(const dae_ivp *ivp, dae_error *err)
{
    double least = (ivp->opt->fixed_step > 0 ? 10 : 100) * U; /* [DDASSL]: 100 u |y| <= 1 */
    return dae_rtol_too_small(ivp, "dassl", least, err);
}

static control control_of(const dassl_options *o)
{
    if (!strcmp(o->higher_index, "excluded")) return EXCLUDED;
    if (!strcmp(o->higher_index, "plain")) return PLAIN;
    if (!strcmp(o->higher_index, "scaled")) return SCALED;
    return o->classic ? EXCLUDED : SCALED;
}

/* All arrays. 0: fine. */
static int take(dassl *d)
{
    dae_ivp *ivp = d->ivp;
    dae_arena *a = ivp->arena;
    int n = d->n, ld = d->ld, index = 1;
    for (int i = 0; ivp->index && i < n; i++) index = ivp->index[i] > index ? ivp->index[i] : index;
    d->count = (size_t)dae_pattern_count(&ivp->jacobian, n);
    d->st = dae_arena_take(a, 1, sizeof *d->st);
    d->high = dae_arena_ints(a, (size_t)n);
    double *block = dae_arena_reals(a, (size_t)ld * (size_t)(d->order_max + 1 + 15));
    d->J = dae_arena_reals(a, d->count * (d->ide ? 3 : 1));
    if (dae_arena_failed(a)) return 1;
    double *m = NULL;
    double **vector[] = {&d->e, &d->y0, &d->yp0, &d->y, &d->yp,   &d->f0,   &d->f,
                         &d->b, &d->x,  &d->w,   &m,    &d->rtol, &d->atol, &d->base};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++, block += ld) *vector[k] = block;
    d->phi = block;
    if (d->ide) {
        d->Jp = d->J + d->count;
        d->A = d->Jp + d->count;
    }
    if (d->mass.n && d->mass.pattern.storage == DAE_DIAGONAL) {
        dae_copy(n, d->mass.a, m);
        d->diagonal = m;
    }
    for (int i = 0; i < ld; i++) {
        d->rtol[i] = i < n ? ivp->rtol[i] : 0;
        d->atol[i] = i < n ? ivp->atol[i] + DBL_MIN : 1;
    }
    for (int i = 0; ivp->index && d->control != PLAIN && i < n; i++) {
        if (ivp->index[i] > 1) d->high[d->nhigh++] = i;
    }
    if (!d->nhigh) d->base = d->w;
    if (index > 1 && d->filter == 2) d->filter = 0;
    return 0;
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    const dassl_options *o = option;
    if (check(ivp, err)) return NULL;
    dassl *d = calloc(1, sizeof *d);
    if (!d) goto memory;
    d->ivp = ivp;
    d->n = ivp->n;
    d->ld = (ivp->n + 3) & ~3;
    d->ide = ivp->sys->kind == DAE_KIND_IDE;
    d->classic = o->classic;
    d->order_max = o->order_max;
    d->stagger = !strcmp(o->corrector, "staggered");
    d->fixed = ivp->opt->fixed_step > 0;
    d->control = control_of(o);
    d->filter = !strcmp(o->filter, "on") ? 1 : !strcmp(o->filter, "off") || o->classic ? 0 : 2;
    if (ivp->sys->kind == DAE_KIND_ODE && d->filter == 2) d->filter = 0;
    int cost = jacobian_cost(ivp);
    d->keep_jac = !d->classic && cost > 0;
    d->j_age = d->classic ? LONG_MAX : cost > J_AGE ? cost : J_AGE;
    d->test = d->fixed ? FIXED_TEST : d->classic ? TEST_CLASSIC : TEST;
    d->mass = dae_ivp_mass(ivp);
    if (take(d)) goto memory;
    d->predict = DAE_KERNEL_PICK(predict, 0);
    d->equation = DAE_KERNEL_PICK(equation, 0);
    d->correct = DAE_KERNEL_PICK(correct, 0);
    d->errors = DAE_KERNEL_PICK(errors, 0);
    d->advance = DAE_KERNEL_PICK(advance, 0);
    d->difference = DAE_KERNEL_PICK(difference, 0);
    d->G = dae_setup_solver(ivp, &d->mass, d->ide ? 0 : ivp->sys->structure.second_order, err);
    if (!d->G) {
        destroy(d);
        return NULL;
    }
    ivp->y = d->phi;
    return d;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for dassl with %d equations", ivp->n);
    destroy(d);
    return NULL;
}

/* ---- The system -------------------------------------------------------------------------------------- */

/* The part that is solved for first: staggered, the system without its sensitivities. */
static dae_part first_part(const dassl *d)
{
    return d->stagger && dae_ivp_can_stagger(d->ivp) ? DAE_PART_LEAD : DAE_PART_ALL;
}

static void bound_to(const dassl *d, dae_part part)
{
    if (d->ivp->lead) d->ivp->lead->only = part == DAE_PART_LEAD;
}

/* f(t,y), or F(t,y,yp) for IDEs */
static int evaluate(dassl *d, dae_part part, double t, const double *y, const double *yp, double *f)
{
    bound_to(d, part);
    int bad = d->ide ? dae_ivp_residual(d->ivp, t, y, yp, f) : dae_ivp_f(d->ivp, t, y, f);
    bound_to(d, DAE_PART_ALL);
    return bad;
}

static int jacobian(dassl *d, double t, const double *y, const double *yp, const double *f)
{
    bound_to(d, first_part(d));
    int bad = d->ide ? dae_ivp_residual_jacobian(d->ivp, t, y, yp, f, d->J, d->Jp)
                     : dae_ivp_jacobian(d->ivp, t, y, f, d->J);
    bound_to(d, DAE_PART_ALL);
    d->st->have_jac = bad == 0;
    d->st->step_jac = d->st->accepted;
    d->st->slow = 0;
    if (!bad) dae_undamped_see(&d->st->undamped, d->ivp, d->J, d->w);
    return bad;
}

static outcome factor(dassl *d, double cj)
{
    int bad;
    if (d->ide) {
        for (size_t k = 0; k < d->count; k++) d->A[k] = d->J[k] + cj * d->Jp[k];
        DAE_LINALG(d->ivp, bad = dae_shifted_factor_values(d->G, d->A));
    } else {
        DAE_LINALG(d->ivp, bad = dae_shifted_factor(d->G, cj, 0, d->J));
    }
    d->ivp->stats->lu++;
    d->st->have_factors = bad == 0;
    d->st->cj_factor = cj;
    d->st->S = S_UNKNOWN;
    return bad ? (bad < 0 ? NO_MEMORY : SINGULAR) : CONVERGED;
}

static void solve_linear(dassl *d, double *b)
{
    DAE_LINALG(d->ivp, dae_shifted_solve(d->G, b));
    d->ivp->stats->solves++;
}

/* b = the increment of a part, zero in the others. */
static void solve_part(dassl *d, dae_part part)
{
    int n = part == DAE_PART_ALL ? 0 : d->ivp->lead->n;
    if (part == DAE_PART_ALL) {
        solve_linear(d, d->b);
        return;
    }
    if (part == DAE_PART_LEAD) {
        dae_zero(d->n - n, d->b + n);
        DAE_LINALG(d->ivp, dae_shifted_solve_lead(d->G, d->b));
    } else {
        dae_zero(n, d->b);
        DAE_LINALG(d->ivp, dae_shifted_solve_rest(d->G, d->b));
    }
    d->ivp->stats->solves++;
}

/* out = dF/dy' v */
static void multiply_mass(const dassl *d, const double *v, double *out)
{
    if (d->ide) {
        dae_matrix M = {.n = d->n, .pattern = d->ivp->jacobian, .a = d->Jp};
        dae_matrix_multiply(&M, d->n, v, out);
    } else {
        dae_matrix_multiply(&d->mass, d->n, v, out);
    }
}

/* b = c F at (y0 + e, y0' + cj e), f being f or F there; e NULL: zero */
static void right_side(dassl *d, double c, double cj, const double *e, const double *f, double *b)
{
    if (d->ide) {
        for (int i = 0; i < d->n; i++) b[i] = c * f[i];
    } else if (d->mass.n && !d->diagonal) {
        const double *v = d->yp0;
        if (e) {
            for (int i = 0; i < d->n; i++) d->yp[i] = d->yp0[i] + cj * e[i];
            v = d->yp;
        }
        dae_matrix_multiply(&d->mass, d->n, v, b);
        for (int i = 0; i < d->n; i++) b[i] = c * (b[i] - f[i]);
    } else {
        d->equation(d->ld, c, d->diagonal, d->yp0, cj, e, f, b);
    }
}

/* ---- Start ------------------------------------------------------------------------------------------- */

/* Variables of index 2 and 3: their weights, or none. h = 0: they do not count. */
static void weigh_higher_index(dassl *d, double h)
{
    double power[4] = {1, 1, fabs(h), h * h};
    if (d->control == EXCLUDED) power[2] = power[3] = 0;
    for (int j = 0; j < d->nhigh; j++) {
        int i = d->high[j];
        d->w[i] = d->base[i] * power[d->ivp->index[i]];
    }
}

static void set_weights(dassl *d, const double *y)
{
    for (int i = 0; i < d->n && d->ivp->varies; i++) d->atol[i] = d->ivp->atol[i] + DBL_MIN;
    for (int i = 0; i < d->ld; i++) d->base[i] = 1 / (d->rtol[i] * fabs(y[i]) + d->atol[i]);
    if (d->base != d->w) dae_copy(d->ld, d->base, d->w);
    weigh_higher_index(d, 0);
}

/* Is dF/dy' (IDEs: at the given point) singular? Answered by a factorization and one solution. */
static int singular_mass(dassl *d, double t, const double *yp)
{
    dae_ivp *ivp = d->ivp;
    double largest = 0, x = 0;
    int bad;
    if (!d->ide && !d->mass.n) return 0;
    if (ivp->matrix_free &&
        !d->ide) { /* which would multiply with J as it was last: judged by the diagonal */
        for (int i = 0; i < d->n; i++) {
            if (dae_matrix_get(&d->mass, i, i) == 0) return 1;
        }
        return 0;
    }
    if (d->ide) {
        bad = dae_ivp_residual(ivp, t, d->phi, yp, d->f);
        if (!bad) bad = dae_ivp_residual_jacobian(ivp, t, d->phi, yp, d->f, NULL, d->Jp);
        if (bad) return 0;
        for (size_t k = 0; k < d->count; k++) largest = fmax(largest, fabs(d->Jp[k]));
        bad = dae_shifted_factor_values(d->G, d->Jp);
    } else {
        long count = dae_pattern_count(&d->mass.pattern, d->n);
        for (long k = 0; k < count; k++) largest = fmax(largest, fabs(d->mass.a[k]));
        memset(d->J, 0, d->count * sizeof *d->J);
        bad = dae_shifted_factor(d->G, 1, 0, d->J);
    }
    if (bad) return 1;
    for (int i = 0; i < d->n; i++) d->b[i] = 1 + 0.5 * sin(1.7 * i + 0.3);
    dae_shifted_solve(d->G, d->b);
    for (int i = 0; i < d->n; i++) x = fmax(x, fabs(d->b[i]));
    return !(x * largest < SINGULAR_CONDITION);
}

/* One backward Euler step of size h from y0 to y at fixed t by Newton's method: M (y - y0)/h = f(t,y).
 * 0: converged, < 0: stop. */
static int tiny_step(dassl *d, double t, double h)
{
    double old = INFINITY;
    dae_zero(d->ld, d->yp0);
    dae_zero(d->ld, d->e);
    dae_copy(d->ld, d->y0, d->y);
    for (int m = 0; m < 20; m++) {
        int bad = dae_ivp_f(d->ivp, t, d->y, d->f);
        if (bad) return bad;
        if (m % 4 == 0) {
            bad = dae_ivp_jacobian(d->ivp, t, d->y, d->f, d->J);
            if (bad) return bad;
            if (factor(d, 1 / h) != CONVERGED) return 1;
        }
        right_side(d, 1, 1 / h, d->e, d->f, d->b);
        solve_linear(d, d->b);
        double size = sqrt(d->correct(d->ld, d->b, d->y0, d->w, 0, d->e, d->y) / d->n);
        if (!(size <= DBL_MAX) || size > 100 * old) return 1;
        if (size <= CONSISTENT * 0.1) return 0;
        old = size;
    }
    return 1;
}

/* M y' = f with singular M: if the values at t are not consistent, three tiny steps with t kept fixed make them so: M y
 * stays, algebraic variables follow, and the last two give y' and the way back to t. Where it does not converge the
 * values stay. In: phi row 0, x = y'. < 0: stop. */
static int make_consistent(dassl *d, double t, double h)
{
    double *y = d->phi, *yp = d->x;
    double size, tiny = d->ivp->direction * TINY * h;
    int bad = dae_ivp_f(d->ivp, t, y, d->f);
    if (!bad) bad = dae_ivp_jacobian(d->ivp, t, y, d->f, d->J);
    if (bad) return bad < 0 ? bad : 0;
    if (factor(d, 1 / tiny) != CONVERGED) return 0;
    dae_copy(d->ld, yp, d->yp0);
    right_side(d, 1, 0, NULL, d->f, d->b);
    solve_linear(d, d->b);
    size = norm(d, d->b);
    if (size <= CONSISTENT) return 0;
    dae_copy(d->ld, y, d->y0);
    for (int s = 0; s < 3; s++) {
        bad = tiny_step(d, t, tiny);
        if (bad) return bad < 0 ? bad : 0;
        if (s == 2) break;
        dae_copy(d->ld, d->y, d->y0);
    }
    for (int i = 0; i < d->n; i++) {
        double change = d->y[i] - d->y0[i];
        int high = d->ivp->index && d->ivp->index[i] > 1;
        y[i] = high ? d->y[i] : d->y0[i] - 2 * change;
        yp[i] = high ? 0 : change / tiny;
    }
    set_weights(d, y);
    return 0;
}

static double first_step(const dassl *d, double t, const double *yp)
{
    double h = 1e-3 * fabs(dae_ivp_piece_end(d->ivp) - t), rate = norm(d, yp);
    return rate * h > 0.5 ? 0.5 / rate : h;
}

/* Safety in the choice of h. */
static double bias(const dassl *d)
{
    if (d->classic || d->st->damping.on) return BIAS_CLASSIC;
    return d->st->filter ? BIAS_FILTER : BIAS;
}

static void interpolate(void *self, double t, double *y, double *yp);

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    dassl *d = self;
    dae_ivp *ivp = d->ivp;
    dassl_state *st = d->st;
    double room = fabs(ivp->t_stop - t), *x = d->x;
    int singular = st->singular;
    dae_damping damping = st->damping;
    dae_undamped undamped = st->undamped;
    dae_copy(d->n, yp, x);
    if (d->classic && st->accepted && t == ivp->left && t == st->t) {
        interpolate(d, t, d->y, x); /* [DDASSL] is called again with the values that it returned */
        if (!d->ide) dae_copy(d->n, y, d->phi);
    } else if (y != d->phi) {
        dae_copy(d->n, y, d->phi);
    }
    *st = (dassl_state){.t = t,
                        .k = 1,
                        .starting = 1,
                        .S = S_UNKNOWN,
                        .singular = singular,
                        .damping = damping,
                        .undamped = undamped};
    dae_status weighed = dae_check_weights(ivp, t, d->phi);
    if (weighed < 0) return weighed;
    set_weights(d, d->phi);
    if (!d->classic) dae_undamped_begin(&st->undamped, ivp, UNDAMPED, 0.25);
    if (!singular && !d->classic) st->singular = singular_mass(d, t, x) ? 2 : 1;
    st->filter = d->filter == 1 || (d->filter == 2 && st->singular == 2);
    dae_damping_begin(&st->damping,
                      st->filter && !d->classic && !d->fixed && !ivp->kink && ivp->stats->accepted > 0);
    st->bias = bias(d);
    int fixed_start = d->fixed && d->order_max > 2;
    if (!d->classic && st->singular == 2 && !d->ide) {
        double trial = h > 0 ? h : first_step(d, t, x);
        if (d->fixed) trial = ldexp(ivp->opt->fixed_step, fixed_start ? -FIXED_LEVELS : 0);
        if (make_consistent(d, t, fmin(trial, room)) < 0) {
            return dae_says_not_evaluated(ivp, -1, t, "the right-hand side", "at the start");
        }
    }
    if (d->fixed) h = ldexp(ivp->opt->fixed_step, fixed_start ? -FIXED_LEVELS : 0);
    else if (!(h > 0)) h = fmax(first_step(d, t, x), dae_first_step_least(t));
    if (ivp->opt->h_max > 0 && !d->fixed) h = fmin(h, ivp->opt->h_max);
    h = ivp->direction * fmin(h, room);
    for (int i = 0; i < d->n; i++) d->phi[d->ld + i] = h * x[i];
    st->h = st->psi[0] = h;
    st->cj_last = st->cj_factor = 1 / h;
    st->have_factors = st->have_jac = 0;
    ivp->h_next = h;
    ivp->order = 1;
    return DAE_OK;
}

/* ---- The nonlinear equation --------------------------------------------------------------------------- */

/* Newton's method for one part of e from 0; f is known there. */
static outcome iterate(dassl *d, dae_part part, double t, const double *f)
{
    dassl_state *st = d->st;
    dae_ivp *ivp = d->ivp;
    int most = d->fixed ? FIXED_ITERATIONS : ITERATIONS;
    double cj = st->formula.cj, c = 2 / (1 + cj / st->cj_factor), first = 0, n = dae_part_count(ivp, part);
    int rest = part == DAE_PART_REST,
        least = rest && ivp->lead->unweighted ? (d->iterations < most ? d->iterations : most - 1) : 0;
    for (int m = 0;; m++) {
        right_side(d, c, cj, m || rest ? d->e : NULL, f, d->b);
        solve_part(d, part);
        ivp->stats->newton++;
        d->iterations = m + 1;
        double delta = sqrt(d->correct(d->ld, d->b, d->y0, d->w, m == 0 && !rest, d->e, d->y) / n);
        if (m == 0) {
            first = delta;
        } else {
            double rate = first > 0 ? delta / first : 0;
            if (m == 2) rate = sqrt(rate);
            else if (m > 2) rate = pow(rate, 1.0 / m);
            if (!(rate <= RATE_MAX)) return FAILED;
            st->S = rate / (1 - rate);
            st->slow |= rate > RATE_SLOW && !d->nhigh;
        }
        if (m >= least) {
            if (st->S * delta <= d->test) return CONVERGED;
            if (m == 0 && delta <= 100 * U * norm(d, d->y0)) return CONVERGED;
            if (d->fixed && delta <= FIXED_ROUNDING * U * norm(d, d->y0)) return CONVERGED;
        }
        if (m + 1 == most || !(delta <= DBL_MAX)) return FAILED;
        if (d->ide) {
            for (int i = 0; i < d->n; i++) d->yp[i] = d->yp0[i] + cj * d->e[i];
        }
        int bad = evaluate(d, part, t, d->y, d->yp, d->f);
        if (bad) return bad < 0 ? STOP : FAILED;
        f = d->f;
    }
}

static double filtered(dassl *d, double *x);

/* All parts; where the first fails the error test by itself the others are not begun. */
static outcome iterate_parts(dassl *d, double t)
{
    dassl_state *st = d->st;
    dae_part first = first_part(d);
    outcome o = iterate(d, first, t, d->f0);
    if (o != CONVERGED || first == DAE_PART_ALL) return o;
    dae_copy(d->ld, d->e, d->x);
    double error = st->filter ? filtered(d, d->x) : norm(d, d->e);
    if (st->formula.ck * error > 1 && !d->fixed) return o;
    for (int i = 0; i < d->n && d->ide; i++) d->yp[i] = d->yp0[i] + st->formula.cj * d->e[i];
    int bad = evaluate(d, DAE_PART_ALL, t, d->y, d->yp, d->f);
    if (bad) return bad < 0 ? STOP : FAILED;
    return iterate(d, DAE_PART_REST, t, d->f);
}

/* Solves for e at t, predicted values in y0 and yp0; makes G where it has to. */
static outcome solve(dassl *d, double t)
{
    dassl_state *st = d->st;
    double ratio = st->formula.cj / st->cj_factor;
    int bad = evaluate(d, first_part(d), t, d->y0, d->yp0, d->f0);
    if (bad) return bad < 0 ? STOP : FAILED;
    long age = st->have_jac ? st->accepted - st->step_jac : LONG_MAX;
    int old = age >= d->j_age || (!d->classic && (st->failed || st->slow) && age > 0);
    int need = !st->have_factors || !(ratio >= CJ_LEAST && ratio <= 1 / CJ_LEAST) || old;
    int new_jac = need && (!d->keep_jac || old);
    for (;;) {
        if (new_jac) {
            bad = jacobian(d, t, d->y0, d->yp0, d->f0);
            if (bad) return bad < 0 ? STOP : FAILED;
        }
        if (need) {
            outcome o = factor(d, st->formula.cj);
            if (o != CONVERGED) return o;
        }
        outcome o = iterate_parts(d, t);
        if (o != FAILED || new_jac) return o;
        need = new_jac = 1; /* old factors: once more with new ones */
        if (d->classic) {
            bad = evaluate(d, first_part(d), t, d->y0, d->yp0, d->f0);
            if (bad) return bad < 0 ? STOP : FAILED;
        }
    }
}

/* ---- Errors ---------------------------------------------------------------------------------------------- */

/* |inv(G) cj dF/dy' x|, x is destroyed */
static double filtered(dassl *d, double *x)
{
    multiply_mass(d, x, d->b);
    solve_linear(d, d->b);
    return fabs(d->st->cj_factor) * norm(d, d->b);
}

static void judge(dassl *d, estimate *s)
{
    const dassl_state *st = d->st;
    const dae_dassl_formula *c = &st->formula;
    int k = st->k;
    double v[3] = {0, 0, 0};
    if (st->filter) {
        dae_copy(d->ld, d->e, d->x);
        for (int j = 0; j < 3 && (j == 0 || j < k); j++) {
            if (j) dae_axpy(d->ld, c->beta[k - j + 1], d->phi + (k - j + 1) * d->ld, d->x);
            v[j] = filtered(d, d->x);
        }
    } else {
        d->errors(k, d->ld, d->phi, c->beta, d->e, d->w, v);
        for (int j = 0; j < 3; j++) v[j] = sqrt(v[j] / d->n);
    }
    s->e = v[0];
    s->at = c->sigma[k] * v[0];
    s->term = (k + 1) * s->at;
    s->lower = s->term_lower = s->term_lowest = 0;
    s->down = 0;
    if (k < 2) return;
    s->lower = c->sigma[k - 1] * v[1];
    s->term_lower = k * s->lower;
    if (k > 2) s->term_lowest = (k - 1) * c->sigma[k - 2] * v[2];
    s->down = k == 2 ? s->term_lower <= 0.5 * s->term : fmax(s->term_lower, s->term_lowest) <= s->term;
}

/* (bias est + 1e-4)^(-1/(k+1)), the factor by which h could change */
static double growth(const dassl_state *st, double est, int k)
{
    return pow(st->bias * est + 1e-4, -1.0 / (k + 1));
}

/* ---- Failures ----------------------------------------------------------------------------------------- */

static double least_step(const dassl *d)
{
    double t = fabs(d->st->t);
    if (d->classic) t = fmax(t, fabs(dae_ivp_piece_end(d->ivp)));
    return fmax(d->ivp->opt->h_min, fmax(4 * U * t, 1e4 * DBL_MIN));
}

static dae_status too_small(dassl *d, const char *what, int fails)
{
    return dae_says_step_fell(d->ivp, d->st->t, d->st->h, least_step(d), fails, what,
                              d->st->accepted ? NULL : "are the initial values consistent?");
}

/* h *= r, and before the first step the difference that hangs on it. */
static dae_status reduce(dassl *d, double r, const char *what, int fails, int give_up)
{
    dassl_state *st = d->st;
    double least = least_step(d);
    st->starting = 0;
    st->failed = 1;
    if (give_up || (!d->classic && fabs(st->h) <= least * (1 + 1e-5))) return too_small(d, what, fails);
    if (!d->classic) r = fmin(1, fmax(r, least / fabs(st->h)));
    st->h *= r;
    if (!st->accepted) {
        st->psi[0] = st->h;
        for (int i = 0; i < d->ld; i++) d->phi[d->ld + i] *= r;
    }
    return d->classic && fabs(st->h) < least ? too_small(d, what, fails) : DAE_OK;
}

static dae_status failed_iteration(dassl *d, outcome o, int fails, int singular)
{
    dae_ivp *ivp = d->ivp;
    ivp->stats->newton_failures++;
    if (o == STOP) return dae_says_stopped(ivp, d->st->t, "a user function");
    if (o == NO_MEMORY) return dae_says_no_memory_to_factor(ivp, d->st->t);
    if (d->fixed) {
        return dae_says_not_converging(ivp, d->st->t, d->st->h);
    }
    if (o == SINGULAR) {
        return reduce(d, FAIL_FACTOR, "the factorization (a singular iteration matrix)", singular,
                      d->classic && singular >= SINGULAR_FAILS);
    }
    return reduce(d, FAIL_FACTOR, "the iteration", fails, d->classic && fails >= CONV_FAILS);
}

static dae_status failed_error_test(dassl *d, const estimate *s, int fails)
{
    dassl_state *st = d->st;
    int k = s->down ? st->k - 1 : st->k;
    double r = FAIL_FACTOR;
    d->ivp->stats->rejected++;
    if (fails == 1)
        r = fmax(FAIL_FACTOR, fmin(ERROR_SAFETY, ERROR_SAFETY * growth(st, s->down ? s->lower : s->at, k)));
    st->k = fails >= LOWER_FROM ? 1 : k;
    return reduce(d, r, "the error test", fails, 0);
}

/* ---- After an accepted step ------------------------------------------------------------------------------ */

/* Order of the next step and the error at that order; phi, w and psi are still those before the step. */
static int choose_order(dassl *d, const estimate *s, int raised, double *est)
{
    const dassl_state *st = d->st;
    int k = st->k;
    *est = s->at;
    if (s->down) {
        *est = s->lower;
        return k - 1;
    }
    if (st->damping.on || k == d->order_max || st->same <= k + 1 || raised) return k;
    const double *top = d->phi + (k + 1) * d->ld; /* e of the last step */
    double v, term;
    if (st->filter) {
        for (int i = 0; i < d->ld; i++) d->x[i] = d->e[i] - top[i];
        v = filtered(d, d->x);
    } else {
        v = sqrt(d->difference(d->ld, d->e, top, d->w) / d->n);
    }
    term = v; /* (k+2) est */
    if (k == 1) {
        if (term >= 0.5 * s->term) return k;
    } else {
        if (s->term_lower <= fmin(s->term, term)) {
            *est = s->lower;
            return k - 1;
        }
        if (term >= s->term) return k;
    }
    *est = v / (k + 2);
    return k + 1;
}

static void choose_next(dassl *d, const estimate *s, int raised, int retried)
{
    dassl_state *st = d->st;
    int k = st->k;
    dae_damping_accept(&st->damping, st->h);
    st->bias = bias(d);
    if (s->down || st->damping.on || k == d->order_max) st->starting = 0;
    if (retried && !d->classic) st->hold = k + 2;
    if (st->starting) {
        st->k = k + 1;
        st->h *= 2;
    } else {
        double est;
        st->k = choose_order(d, s, raised, &est);
        if (st->k != k) st->hold = 0;
        double x = st->bias * est + 1e-4;
        if (ldexp(x, st->k + 1) <= 1) { /* growth >= 2 */
            if (!st->hold) st->h *= 2;
        } else if (x >= 1) {
            st->h *= fmax(SHRINK_LEAST, fmin(SHRINK_MOST, growth(st, est, st->k)));
        }
    }
    if (st->hold) st->hold--;
    double h_max = d->ivp->opt->h_max, least = d->classic ? 0 : least_step(d);
    if (h_max > 0 && fabs(st->h) > h_max) st->h = d->ivp->direction * h_max;
    if (fabs(st->h) < least) st->h = d->ivp->direction * least;
}

/* Fixed steps: the start goes through FIXED_LEVELS step sizes, each twice the last, and raises the order where it can,
 * so that the starting error is negligible; it takes a whole number of steps of the wanted size. */
static void choose_fixed(dassl *d)
{
    dassl_state *st = d->st;
    int block = 2 * ((d->order_max + 3) / 2), top = d->order_max > 2 ? FIXED_LEVELS : 0;
    st->count++;
    if (st->level < top) {
        if (st->count < (st->level == 0 ? 2 * block : block)) return;
        st->level++;
        st->count = 0;
        st->h *= 2;
    } else if (st->k == d->order_max) {
        st->h = d->ivp->direction * d->ivp->opt->fixed_step;
        return;
    }
    if (st->k < d->order_max) st->k++;
}

static void accept(dassl *d, double t, const estimate *s, int retried)
{
    dassl_state *st = d->st;
    dae_ivp *ivp = d->ivp;
    int k = st->k, raised = k - st->k_old == 1;
    double h = st->h;
    st->k_old = k;
    st->h_old = h;
    if (d->fixed) choose_fixed(d);
    else choose_next(d, s, raised, retried);
    d->advance(k, d->order_max, d->ld, d->phi, st->formula.beta, d->e, d->rtol, d->atol, d->base);
    double factor = dae_undamped_factor(&st->undamped, h);
    for (int i = 0; i < d->ld && factor > 1; i++) d->base[i] *= factor;
    if (d->base != d->w) dae_copy(d->ld, d->base, d->w);
    memcpy(st->psi, st->formula.psi, sizeof st->psi);
    st->accepted++;
    st->failed = 0;
    if (d->fixed && fabs(t - ivp->t_end) <= 1e-9 * fabs(h)) t = ivp->t_end;
    ivp->t_old = st->t;
    ivp->t = st->t = t;
    ivp->order = k;
    ivp->stats->accepted++;
    ivp->h_next = st->h;
}

/* ---- The step -------------------------------------------------------------------------------------------- */

static void stop_at_wall(dassl *d)
{
    dassl_state *st = d->st;
    double stop = d->ivp->t_stop;
    if (!dae_passes_wall(d->ivp, st->t, st->h, 0, d->fixed)) return;
    double r = (stop - st->t) / st->h;
    st->h = stop - st->t;
    if (!st->accepted) {
        st->psi[0] = st->h;
        for (int i = 0; i < d->ld; i++) d->phi[d->ld + i] *= r;
    }
}

/* t + h; the wall itself where rounding alone is between */
static double next_time(const dassl *d)
{
    return dae_time_at_wall(d->ivp, d->st->t + d->st->h, d->st->h);
}

static void set_formula(dassl *d)
{
    dassl_state *st = d->st;
    if (st->h != st->h_old || st->k != st->k_old) st->same = 0;
    st->same = st->same + 1 < st->k_old + 2 ? st->same + 1 : st->k_old + 2;
    dae_dassl_coefficients(st->k, st->same, st->h, st->psi, &st->formula);
    if (st->formula.cj != st->cj_last) st->S = S_UNKNOWN;
    st->cj_last = st->formula.cj;
    if (d->nhigh) weigh_higher_index(d, st->h);
}

static dae_status step(void *self)
{
    dassl *d = self;
    dassl_state *st = d->st;
    int conv_fails = 0, singular = 0, error_fails = 0;
    if (d->ivp->varies) set_weights(d, d->phi);
    stop_at_wall(d);
    for (;;) {
        double t = next_time(d);
        d->ivp->stats->steps++;
        set_formula(d);
        d->predict(st->k, d->ld, d->phi, st->formula.beta, st->formula.slope, d->y0, d->yp0);
        outcome o = solve(d, t);
        dae_status s;
        if (o == CONVERGED) {
            estimate est;
            judge(d, &est);
            if (st->formula.ck * est.e <= 1 || d->fixed) {
                accept(d, t, &est, conv_fails + singular + error_fails);
                return DAE_OK;
            }
            s = failed_error_test(d, &est, ++error_fails);
        } else {
            if (o == SINGULAR) singular++;
            else conv_fails++;
            s = failed_iteration(d, o, conv_fails, singular);
        }
        if (s) return s;
    }
}

/* The polynomial through the last k_old + 1 points in Newton's form. */
static void interpolate(void *self, double t, double *y, double *yp)
{
    dassl *d = self;
    const dassl_state *st = d->st;
    double s = t - st->t, c[DAE_DASSL_WIDTH], p[DAE_DASSL_WIDTH], value = 1, slope = 0, g = s / st->psi[0];
    int k = st->k_old;
    for (int i = 1; i <= k; i++) {
        slope = slope * g + value / st->psi[i - 1];
        value *= g;
        g = (s + st->psi[i - 1]) / st->psi[i];
        c[i] = value;
        p[i] = slope;
    }
    for (int i = 0; i < d->n; i++) {
        double v = d->phi[i], r = 0;
        for (int j = 1; j <= k; j++) {
            v += c[j] * d->phi[j * d->ld + i];
            r += p[j] * d->phi[j * d->ld + i];
        }
        if (y) y[i] = v;
        if (yp) yp[i] = r;
    }
}

/* ---- Checkpoint: the sparse factors ------------------------------------------------------------------------ */

static size_t save(const void *self, void *buffer)
{
    const dassl *d = self;
    return dae_shifted_save(d->G, buffer);
}

static int load(void *self, const void *buffer, size_t size)
{
    dassl *d = self;
    return dae_shifted_load(d->G, buffer, size);
}

/* ---- Descriptor --------------------------------------------------------------------------------------------- */

static const dae_option options[] = {
    {.name = "order_max",
     .type = DAE_OPTION_INT,
     .offset = offsetof(dassl_options, order_max),
     .value = DAE_DASSL_ORDER_MAX,
     .min = 1,
     .max = DAE_DASSL_ORDER_MAX,
     .unit = "",
     .help = "highest order; with fixed steps the order"},
    {.name = "filter",
     .type = DAE_OPTION_NAME,
     .offset = offsetof(dassl_options, filter),
     .text = "auto",
     .choices = "auto|on|off",
     .unit = "",
     .help = "errors of the differential part only; auto: index 1 with singular dF/dy'"},
    {.name = "higher_index",
     .type = DAE_OPTION_NAME,
     .offset = offsetof(dassl_options, higher_index),
     .text = "auto",
     .choices = "auto|scaled|excluded|plain",
     .unit = "",
     .help = "errors of index-2 and index-3 variables: times h and h^2, not at all, or like the others"},
    {.name = "corrector",
     .type = DAE_OPTION_NAME,
     .offset = offsetof(dassl_options, corrector),
     .text = "auto",
     .choices = DAE_STAGGER_CHOICES,
     .unit = "",
     .help = "sensitivities: solved for together with y (auto), or (staggered) after y and its error test"},
    {.name = "classic",
     .type = DAE_OPTION_INT,
     .offset = offsetof(dassl_options, classic),
     .value = 0,
     .min = 0,
     .max = 1,
     .unit = "",
     .help = "1: as the program DASSL, without our mends"},
    {.name = NULL},
};

const dae_method dae_method_dassl = {
    .info = {.name = "dassl",
             .title = "fixed-leading-coefficient BDF of orders 1 to 5",
             .literature = "Brenan, Campbell, Petzold: Numerical Solution of Initial-Value Problems in "
                           "Differential-Algebraic Equations, SIAM 1996",
             .summary =
                 "implicit equations F(t,y,y') = 0, DAEs and stiff ODEs at loose and moderate tolerances",
             .order_min = 1,
             .order_max = DAE_DASSL_ORDER_MAX,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE | 1u << DAE_KIND_IDE,
             .max_index = 3,
             .controls_index = 2,
             .implicit = 1,
             .multistep = 1,
             .checkpoint = 1,
             .options = options},
    .soft_end = 1,
    .option_size = sizeof(dassl_options),
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
