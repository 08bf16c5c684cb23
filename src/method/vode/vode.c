/* vode, vode-adams: variable-coefficient multistep methods for y' = f(t,y) in Nordsieck form.
 *
 * With z_j = h^j y^(j)/j! at t_n and l_j of the formula (BDF of order 1 to 5 with fixed leading coefficient,
 * or Adams of order 1 to 12) one step is
 *
 *     predict   z <- P z            (Pascal's triangle)
 *     correct   a = (h f(t, z_0 + a) - z_1)/l_1,      z_j += l_j a
 *     test      |a|/t2 <= 1
 *
 * The equation for a is solved by Newton's method with I - gam J, gam = h/l_1, the Jacobian being kept for
 * many steps, or by functional iteration. The predicted z is never stored: z stays that of t_n until the step
 * is accepted, so that a failed attempt has nothing to undo.
 *
 * Source: [BHB89] Brown, Byrne, Hindmarsh 1989 and the program DVODE. Where we differ (the option classic
 * switches it off): no fixed number of error test failures; the Jacobian is made anew after an error test
 * failure, and for the next step when the iteration was slow with an old one, which cures false convergence on
 * slow manifolds; errors that nothing damps count more (method/undamped.h); the f of a repeated iteration is not evaluated twice; the coefficients of Adams' order
 * reduction are the right ones; f is evaluated at y_n, not at a rejected point, in the restart at order 1; the
 * initial f after a jump is that of the right side; and, always, "cannot be evaluated" is a failure to
 * converge. */
#include "method/method.h"

#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/failure.h"
#include "method/setup.h"
#include "method/undamped.h"
#include "method/vode/coefficients.h"
#include "method/vode/nordsieck.h"

#include <float.h>
#include <stdlib.h>

/* ours: the tolerance from which undamped errors count more: DETEST B1 stays below 1000 tolerances */
#define UNDAMPED 3e-7
#define U 2.220446049250313e-16
#define BIAS 6.0     /* [DVODE] BIAS1 = BIAS2: h at orders q-1 and q */
#define BIAS_UP 10.0 /* [DVODE] BIAS3: at order q+1 */
#define BIAS_BDF 9.0 /* ours, for BDF: part of the steps saved by the newer Jacobians goes into accuracy */
#define BIAS_BDF_UP 15.0
#define ADDON 1e-6       /* [DVODE] */
#define ETA_LEAST 1.5    /* [DVODE] THRESH: smaller increases are not worth it */
#define ETA_FIRST 1e4    /* [DVODE] ETAMX1: largest increase after the first step */
#define ETA_LATER 10.0   /* [DVODE] ETAMX2, ETAMX3 */
#define ETA_CONV 0.25    /* [DVODE] ETACF: after a failed iteration */
#define ETA_MIN 0.1      /* [DVODE] ETAMIN: after an error test failure */
#define ETA_SECOND 0.2   /* [DVODE] ETAMXF: at most, from the second failure of a step on */
#define LOWER_FROM 3     /* [DVODE] KFC: error failures of one step from which the order goes down */
#define ERROR_FAILS 7    /* [DVODE] KFH, classic only */
#define CONV_FAILS 10    /* [DVODE] MXNCF, classic only */
#define ITERATIONS 3     /* [DVODE] MAXCOR */
#define RATE_KEEP 0.3    /* [DVODE] CRDOWN */
#define DIVERGED 2.0     /* [DVODE] RDIV */
#define TEST_CLASSIC 0.1 /* [DVODE]: the iteration stops at 0.1 t2 */
#define TEST 0.05        /* ours, for Newton: as many f, 2 to 16 % fewer factorizations */
#define GAM_CHANGE 0.3   /* [DVODE] CCMAX: factor anew */
#define GAM_SAME 0.2     /* [DVODE] CCMXJ: below it gam is not to blame for bad convergence, J is */
#define P_AGE 20         /* [DVODE] MSBP: steps */
#define J_AGE 50         /* [DVODE] MSBJ: steps */
#define SLOW 0.3         /* ours: a rate above this with an old J asks for a new one (f -1 to -36 %) */
#define J_AGE_DEAR 20    /* ours: in place of that where a Jacobian costs more than DEAR evaluations */
#define DEAR 20
#define WAIT_RESTART 10 /* [DVODE]: steps before the order is judged after a restart at order 1 */
#define FIXED_LEVELS 20 /* ours: a run with fixed steps begins with h/2^20 and order 1 */
#define FIXED_ITERATIONS 100
#define SHARED 10000 /* ours: equations from which memory counts */

typedef struct vode_options {
    int order_max;
    int classic;
    const char *iteration;
    const char *corrector;
} vode_options;

typedef enum outcome { CONVERGED, FAILED, STOP } outcome;
typedef enum previous { FRESH, AFTER_CONV, AFTER_ERROR } previous; /* how the last attempt ended */

/* What survives a checkpoint; in the arena. */
typedef struct vode_state {
    double t, h;              /* z belongs to t and is scaled with h */
    double eta, eta_max;      /* the change of h before the next step, and its bound */
    double tau[DAE_VODE_TAU]; /* past steps, newest first */
    dae_vode_formula formula;
    double formula_h; /* what the formula was computed for */
    int formula_q, formula_steady, formula_all;
    double gam_p;           /* gam in the factors */
    double crate;           /* rate of convergence */
    double norm_a;          /* |a| */
    double t5_saved;        /* t5 at the time of a_saved */
    int q, q_next, rescale; /* order, order from the next step on, h (or q) changes before it */
    int wait;               /* steps before the order is judged */
    int same;               /* accepted steps in a row with the size tau[0] */
    int have_p, bad_jac;    /* there are factors; the iteration was slow with this J */
    long accepted;          /* steps since the start */
    long step_p, step_j;    /* their number at the last factorization and at the last J */
    int level, count;       /* fixed steps: the phase of the start, steps in it */
    dae_undamped undamped;  /* BDF */
} vode_state;

typedef void predict_fn(int q, int ld, const double *z, double scale, double *y, double *r);
typedef void advance_fn(int q, int ld, double *z, const double *l, const double *a, const double *y,
                        const double *rtol, const double *atol, double *w);
typedef void equation_fn(int ld, double cf, const double *f, double cr, const double *r, const double *a,
                         double *b);
typedef double correct_fn(int ld, const double *d, const double *y0, const double *w, int first, double *a,
                          double *y);
typedef double square_fn(int ld, const double *v, const double *w);

typedef struct vode {
    dae_ivp *ivp;
    vode_state *st;
    int n, ld, adams, functional, classic, order_max, fixed;
    int stagger;               /* sensitivities after y: 0 never, 1 always, 2 where they have no tolerances */
    int iterations;            /* that the last part took */
    long j_age;                /* steps after which J is made anew */
    double bias, bias_up;      /* safety in the choice of h at orders up to q, and at q+1 */
    int watch_jac;             /* J is made anew after an error failure and after slow convergence */
    double *z;                 /* order_max + 1 rows of ld: the Nordsieck array */
    double *a, *a_saved;       /* correction, and that of the step before an order decision */
    double *y0, *r;            /* predicted y, predicted z_1/l_1 */
    double *y, *f0, *b;        /* iterate, f at y0; f at y, then right-hand side and increment */
    double *w;                 /* reciprocal weights */
    const double *rtol, *atol; /* tolerances: of the driver, or these (padded): */
    double *rtol_own, *atol_own;
    double *J;
    double limit[DAE_VODE_WIDTH]; /* dsm below which eta_q >= ETA_LEAST, for each q */
    dae_shifted *P;               /* factors of 1/gam - J; NULL: functional iteration */
    predict_fn *predict;
    advance_fn *advance;
    equation_fn *equation;
    correct_fn *correct;
    square_fn *square;
} vode;

/* ---- Kernels ------------------------------------------------------------------------------------- */

DAE_KERNEL_BODY void predict_body(int q, int ld, const double *z, double scale, double *y, double *r){
    DAE_NORDSIECK_BY_ORDER(q, dae_nordsieck_predict(Q, ld, z, scale, y, r))}

DAE_KERNEL_BODY void advance_body(int q, int ld, double *z, const double *l, const double *a, const double *y,
                                  const double *rtol, const double *atol, double *w){
    DAE_NORDSIECK_BY_ORDER(q, dae_nordsieck_advance(Q, ld, z, l, a, y, rtol, atol, w))}

/* b = cf f - cr r, or with a (f is in b) b = cf b - cr (r + a) */
DAE_KERNEL_BODY void equation_body(int ld, double cf, const double *restrict f, double cr,
                                   const double *restrict r, const double *restrict a, double *restrict b)
{
    if (a) {
        for (int i = 0; i < (ld & ~3); i++) b[i] = cf * b[i] - cr * (r[i] + a[i]);
    } else {
        for (int i = 0; i < (ld & ~3); i++) b[i] = cf * f[i] - cr * r[i];
    }
}

/* a += d (or = d), y = y0 + a; returns sum (d w)^2 */
DAE_KERNEL_BODY double correct_body(int ld, const double *restrict d, const double *restrict y0,
                                    const double *restrict w, int first, double *restrict a,
                                    double *restrict y)
{
    double s[4] = {0, 0, 0, 0};
    for (int k = 0; k < ld; k += 4) {
        for (int i = 0; i < 4; i++) {
            double v = d[k + i], x = first ? v : a[k + i] + v;
            a[k + i] = x;
            y[k + i] = y0[k + i] + x;
            s[i] += v * w[k + i] * (v * w[k + i]);
        }
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

DAE_KERNEL(void, predict, (int q, int ld, const double *z, double scale, double *y, double *r),
           predict_body(q, ld, z, scale, y, r))
DAE_KERNEL(void, advance,
           (int q, int ld, double *z, const double *l, const double *a, const double *y, const double *rtol,
            const double *atol, double *w),
           advance_body(q, ld, z, l, a, y, rtol, atol, w))
DAE_KERNEL(void, equation,
           (int ld, double cf, const double *f, double cr, const double *r, const double *a, double *b),
           equation_body(ld, cf, f, cr, r, a, b))
DAE_KERNEL(double, correct,
           (int ld, const double *d, const double *y0, const double *w, int first, double *a, double *y),
           return correct_body(ld, d, y0, w, first, a, y))
DAE_KERNEL(double, square, (int ld, const double *v, const double *w), return dae_nordsieck_square(ld, v, w))

static double norm(const vode *v, const double *x)
{
    return sqrt(v->square(v->ld, x, v->w) / v->n);
}

/* ---- Life ---------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    vode *v = self;
    if (!v) return;
    dae_shifted_destroy(v->P);
    free(v);
}

/* Evaluations that a difference Jacobian costs; 0 with an analytic one. */
static int jacobian_cost(const dae_ivp *ivp)
{
    int difference = !ivp->sys->ode.jac || (ivp->opt->jacobian && !strcmp(ivp->opt->jacobian, "difference"));
    if (!difference) return 0;
    return ivp->jacobian.storage == DAE_BANDED ? ivp->jacobian.lower + 1 + ivp->jacobian.upper : ivp->n;
}

static int check(const dae_ivp *ivp, const char *name, dae_error *err)
{
    return dae_rtol_too_small(ivp, name, 10 * U, err);
}

/* The tolerances; of large systems the driver's own where they need no padding: memory that is not touched costs nothing. */
static void take_arrays(vode *v)
{
    const dae_ivp *ivp = v->ivp;
    int n = v->n, shared = v->ld == n && n >= SHARED && !ivp->varies;
    for (int i = 0; shared && i < n; i++) shared = ivp->atol[i] > 0;
    for (int i = 0; !shared && i < v->ld; i++) {
        v->rtol_own[i] = i < n ? ivp->rtol[i] : 0;
        v->atol_own[i] = i < n ? ivp->atol[i] + DBL_MIN : 1;
    }
    v->rtol = shared ? ivp->rtol : v->rtol_own;
    v->atol = shared ? ivp->atol : v->atol_own;
}

static void *create(dae_ivp *ivp, const vode_options *o, int adams, dae_error *err)
{
    if (check(ivp, adams ? "vode-adams" : "vode", err)) return NULL;
    vode *v = calloc(1, sizeof *v);
    if (!v) goto memory;
    int n = ivp->n, ld = dae_nordsieck_ld(n), cost = jacobian_cost(ivp);
    v->ivp = ivp;
    v->n = n;
    v->ld = ld;
    v->adams = adams;
    v->functional = adams && strcmp(o->iteration, "newton") != 0;
    v->classic = o->classic;
    v->order_max = o->order_max;
    v->stagger = !strcmp(o->corrector, "staggered") ? 1 : !strcmp(o->corrector, "auto") ? 2 : 0;
    v->fixed = ivp->opt->fixed_step > 0;
    v->watch_jac = !v->classic && cost <= DEAR;
    v->j_age = v->classic || v->watch_jac ? J_AGE : J_AGE_DEAR;
    v->bias = v->classic || adams ? BIAS : BIAS_BDF;
    v->bias_up = v->classic || adams ? BIAS_UP : BIAS_BDF_UP;
    v->st = dae_arena_take(ivp->arena, 1, sizeof *v->st);
    double *block = dae_arena_reals(ivp->arena, (size_t)ld * (size_t)(v->order_max + 1 + 10));
    if (!v->functional) v->J = dae_arena_reals(ivp->arena, (size_t)dae_pattern_count(&ivp->jacobian, n));
    if (dae_arena_failed(ivp->arena)) goto memory;
    double **vector[] = {&v->a,  &v->a_saved, &v->y0, &v->r,        &v->y,
                         &v->f0, &v->b,       &v->w,  &v->rtol_own, &v->atol_own};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++, block += ld) *vector[k] = block;
    v->z = block;
    take_arrays(v);
    for (int q = 1; q <= v->order_max; q++)
        v->limit[q] = pow(1 / ETA_LEAST - ADDON, q + 1) / v->bias * (1 + 1e-12);
    v->predict = DAE_KERNEL_PICK(predict, 0);
    v->advance = DAE_KERNEL_PICK(advance, 0);
    v->equation = DAE_KERNEL_PICK(equation, 0);
    v->correct = DAE_KERNEL_PICK(correct, 0);
    v->square = DAE_KERNEL_PICK(square, 0);
    if (!v->functional) {
        v->P = dae_setup_solver(ivp, NULL, ivp->sys->structure.second_order, err);
        if (!v->P) {
            destroy(v);
            return NULL;
        }
    }
    ivp->y = v->z;
    return v;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for vode with %d equations", ivp->n);
    destroy(v);
    return NULL;
}

static void *create_bdf(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, option, 0, err);
}

static void *create_adams(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, option, 1, err);
}

/* The first step, [DVODE] DVHIN: h such that |h^2 y''/2| = 1/2, y'' from differences of f. < 0: stop. */
static double first_step(vode *v, double t, const double *f0)
{
    const dae_ivp *ivp = v->ivp;
    double d = ivp->direction, out = dae_ivp_piece_end(ivp), room = fabs(out - t);
    double lo = 100 * U * fmax(fabs(t), fabs(out)), hi = 0.1 * room;
    for (int i = 0; i < v->n; i++) {
        double most = 0.1 * fabs(v->z[i]) + ivp->atol[i];
        if (fabs(f0[i]) * hi > most) hi = most / fabs(f0[i]);
    }
    double g = sqrt(lo * hi);
    if (hi < lo || !(g > 0)) return g > 0 ? g : lo;
    for (int k = 1, trouble = 0; k <= 4; k++) {
        for (int i = 0; i < v->n; i++) v->y[i] = v->z[i] + d * g * f0[i];
        int bad = dae_ivp_f(v->ivp, t + d * g, v->y, v->b);
        if (bad < 0) return -1;
        if (bad > 0) {
            if (++trouble > 40) return lo;
            g *= 0.2;
            k--;
            continue;
        }
        for (int i = 0; i < v->n; i++) v->b[i] = (v->b[i] - f0[i]) / g;
        double ydd = norm(v, v->b), next = ydd * hi * hi > 2 ? sqrt(2 / ydd) : sqrt(g * hi), ratio = next / g;
        if (k == 4 || (ratio > 0.5 && ratio < 2)) {
            g = next;
            break;
        }
        if (k >= 2 && ratio > 2) break;
        g = next;
    }
    return fmin(fmax(0.5 * g, lo), hi);
}

/* options.error_weight: the tolerances of this step. */
static void take_tolerances(vode *v)
{
    if (!v->ivp->varies) return;
    for (int i = 0; i < v->n; i++) {
        v->atol_own[i] = v->ivp->atol[i] + DBL_MIN;
        v->w[i] = 1 / (v->rtol[i] * fabs(v->z[i]) + v->atol[i]);
    }
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    vode *v = self;
    dae_ivp *ivp = v->ivp;
    vode_state *st = v->st;
    double d = ivp->direction, room = fabs(ivp->t_stop - t);
    if (y != v->z) dae_copy(v->n, y, v->z);
    take_tolerances(v);
    for (int i = 0; i < v->ld; i++) v->w[i] = 1 / (v->rtol[i] * fabs(v->z[i]) + v->atol[i]);
    dae_status weighed = dae_check_weights(ivp, t, v->z);
    if (weighed < 0) return weighed;
    ivp->stats->f++; /* yp */
    if (v->classic &&
        t == ivp->left) { /* [DVODE] knows nothing of a jump at t: f without the move to its right */
        ivp->left = NAN;
        int bad = dae_ivp_f(ivp, t, v->z, v->f0);
        ivp->left = t;
        if (!bad) yp = v->f0;
        ivp->stats->f--;
    }
    if (v->fixed) h = ldexp(ivp->opt->fixed_step, v->order_max > 2 ? -FIXED_LEVELS : 0);
    else if (!(h > 0)) h = first_step(v, t, yp);
    if (h < 0) return dae_says_not_evaluated(ivp, -1, t, "the right-hand side", "at the start");
    if (!v->fixed) h = fmax(h, dae_first_step_least(t));
    if (ivp->opt->h_max > 0 && !v->fixed) h = fmin(h, ivp->opt->h_max);
    h = d * fmin(h, room);
    for (int i = 0; i < v->n; i++) v->z[v->ld + i] = h * yp[i];
    *st = (vode_state){.t = t,
                       .h = h,
                       .eta = 1,
                       .eta_max = ETA_FIRST,
                       .q = 1,
                       .q_next = 1,
                       .wait = 2,
                       .crate = 1,
                       .undamped = st->undamped};
    st->tau[0] = h;
    if (!v->adams && !v->classic) dae_undamped_begin(&st->undamped, ivp, UNDAMPED, 0.25);
    ivp->h_next = h;
    ivp->order = 1;
    return DAE_OK;
}

/* ---- The formula ----------------------------------------------------------------------------------- */

/* For steady steps the coefficients of the last step are kept. */
static void set_formula(vode *v)
{
    vode_state *st = v->st;
    int all = st->wait == 1;
    if (st->formula_q == st->q && st->formula_h == st->h && st->formula_steady && (!all || st->formula_all))
        return;
    if (v->adams) dae_vode_adams(st->q, st->h, st->tau, all, &st->formula);
    else dae_vode_bdf(st->q, st->h, st->tau, all, &st->formula);
    st->formula_q = st->q;
    st->formula_h = st->h;
    st->formula_all = all;
    st->formula_steady = st->same >= st->q && st->tau[0] == st->h;
}

static void rescale(vode *v, double eta)
{
    dae_nordsieck_rescale(v->st->q, v->ld, v->z, eta);
    v->st->h *= eta;
}

static void lower_order(vode *v)
{
    vode_state *st = v->st;
    int q = st->q, ld = v->ld;
    double d[DAE_VODE_WIDTH];
    if (q > 2) {
        if (v->adams) dae_vode_adams_lower(q, st->h, st->tau, v->classic, d);
        else dae_vode_bdf_lower(q, st->h, st->tau, d);
        for (int j = 2; j < q; j++) dae_axpy(ld, -d[j], v->z + q * ld, v->z + j * ld);
    }
    st->q = q - 1;
    st->wait = q;
}

static void raise_order(vode *v)
{
    vode_state *st = v->st;
    int q = st->q, ld = v->ld;
    double d[DAE_VODE_WIDTH], *top = v->z + (q + 1) * ld;
    if (v->adams) {
        dae_zero(ld, top);
    } else {
        double c = dae_vode_bdf_raise(q, st->h, st->tau, d);
        for (int i = 0; i < ld; i++) top[i] = c * v->a_saved[i];
        for (int j = 2; j <= q; j++) dae_axpy(ld, d[j], top, v->z + j * ld);
    }
    st->q = q + 1;
    st->wait = q + 2;
}

/* What was decided after the last step, and the wall ahead. */
static void begin_step(vode *v)
{
    vode_state *st = v->st;
    if (dae_passes_wall(v->ivp, st->t, st->h * st->eta, 4 * U, v->fixed)) {
        st->eta = fmin(st->eta, (v->ivp->t_stop - st->t) * (1 - 4 * U) / st->h);
        st->rescale = 1;
    }
    if (!st->rescale) return;
    if (st->q_next < st->q) lower_order(v);
    else if (st->q_next > st->q) raise_order(v);
    rescale(v, st->eta);
    st->rescale = 0;
    st->eta = 1;
}

/* ---- The nonlinear equation --------------------------------------------------------------------------- */

/* Staggered: f, or J, of the system without its sensitivities. */
static int evaluate(vode *v, dae_part part, double t, const double *y, double *f, double *J)
{
    dae_lead *lead = v->ivp->lead;
    if (part == DAE_PART_LEAD) lead->only = 1;
    int bad = J ? dae_ivp_jacobian(v->ivp, t, y, f, J) : dae_ivp_f(v->ivp, t, y, f);
    if (part == DAE_PART_LEAD) lead->only = 0;
    return bad;
}

/* The part that is solved for first. Where sensitivities have no tolerances the iteration for all at once ends when y has converged,
 * which with an old J may be after one: Robertson's then have errors of 8e-3 at rtol 1e-8 (staggered 1e-6). */
static dae_part first_part(const vode *v)
{
    int wanted = dae_ivp_can_stagger(v->ivp) && (v->stagger == 1 || (v->stagger && v->ivp->lead->unweighted));
    return wanted ? DAE_PART_LEAD : DAE_PART_ALL;
}

/* b = the increment of a part, zero in the others. */
static void solve_linear(vode *v, dae_part part)
{
    int n = part == DAE_PART_ALL ? 0 : v->ivp->lead->n;
    if (part == DAE_PART_LEAD) dae_zero(v->n - n, v->b + n);
    if (part == DAE_PART_REST) dae_zero(n, v->b);
    if (v->functional) return;
    if (part == DAE_PART_ALL) DAE_LINALG(v->ivp, dae_shifted_solve(v->P, v->b));
    else if (part == DAE_PART_LEAD) DAE_LINALG(v->ivp, dae_shifted_solve_lead(v->P, v->b));
    else DAE_LINALG(v->ivp, dae_shifted_solve_rest(v->P, v->b));
    v->ivp->stats->solves++;
}

/* Makes J (where wanted) and factors 1/gam - J. */
static outcome factor(vode *v, double t, double gam, int new_jac)
{
    vode_state *st = v->st;
    int bad;
    if (new_jac) {
        bad = evaluate(v, first_part(v), t, v->y0, v->f0, v->J);
        if (bad) return bad < 0 ? STOP : FAILED;
        st->step_j = st->accepted;
        st->bad_jac = 0;
        dae_undamped_see(&st->undamped, v->ivp, v->J, v->w);
    }
    DAE_LINALG(v->ivp, bad = dae_shifted_factor(v->P, 1 / gam, 0, v->J));
    v->ivp->stats->lu++;
    st->gam_p = gam;
    st->have_p = bad == 0;
    st->crate = 1;
    st->step_p = st->accepted;
    return bad ? FAILED : CONVERGED;
}

/* The iteration for one part of a from 0, its f(t, y0) being known: in f0, of what follows the first part in b. */
static outcome iterate(vode *v, dae_part part, double t, double gam, int new_jac)
{
    vode_state *st = v->st;
    dae_ivp *ivp = v->ivp;
    int most = v->fixed ? FIXED_ITERATIONS : ITERATIONS;
    double goal = (v->classic || v->functional ? TEST_CLASSIC : TEST) * st->formula.t2, del_old = 0,
           n = dae_part_count(ivp, part), cf = 1, cr = 1;
    int rest = part == DAE_PART_REST,
        least = rest && ivp->lead->unweighted ? (v->iterations < most ? v->iterations : most - 1) : 0;
    if (!v->functional) {
        double rc = gam / st->gam_p, scale = (v->adams ? 1 : 2 / (1 + rc)) / st->gam_p;
        cf = scale * gam;
        cr = scale;
    } else {
        cf = gam;
        st->crate = 1;
    }
    for (int m = 0;; m++) {
        v->equation(v->ld, cf, v->f0, cr, v->r, m || rest ? v->a : NULL, v->b);
        solve_linear(v, part);
        ivp->stats->newton++;
        double del = sqrt(v->correct(v->ld, v->b, v->y0, v->w, m == 0 && !rest, v->a, v->y) / n);
        if (m && del_old > 0) {
            double rate = del / del_old;
            st->crate = fmax(RATE_KEEP * st->crate, rate);
            if (rate > SLOW && !new_jac && v->watch_jac) st->bad_jac = 1;
        }
        if (del * fmin(1, st->crate) <= goal && m >= least) {
            st->norm_a = m || part != DAE_PART_ALL ? norm(v, v->a) : del;
            v->iterations = m + 1;
            return CONVERGED;
        }
        if (m + 1 == most || (m >= 1 && del > DIVERGED * del_old) || !(del <= DBL_MAX)) return FAILED;
        del_old = del;
        int bad = evaluate(v, part, t, v->y, v->b, NULL);
        if (bad) return bad < 0 ? STOP : FAILED;
    }
}

/* All parts; where the first fails the error test by itself the others are not begun. */
static outcome iterate_parts(vode *v, double t, double gam, int new_jac)
{
    dae_part first = first_part(v);
    outcome o = iterate(v, first, t, gam, new_jac);
    if (o != CONVERGED || first == DAE_PART_ALL) return o;
    if (v->st->norm_a > v->st->formula.t2 && !v->fixed) return o;
    int bad = dae_ivp_f(v->ivp, t, v->y, v->b);
    if (bad) return bad < 0 ? STOP : FAILED;
    return iterate(v, DAE_PART_REST, t, gam, new_jac);
}

/* Solves for a at t, predicted values in y0 and r; factors where it has to. */
static outcome solve(vode *v, double t, previous before)
{
    vode_state *st = v->st;
    double gam = 1 / st->formula.l[1] * st->h;
    int bad = evaluate(v, first_part(v), t, v->y0, v->f0, NULL);
    if (bad) return bad < 0 ? STOP : FAILED;
    if (v->functional) return iterate_parts(v, t, gam, 0);

    double off = st->have_p ? fabs(gam / st->gam_p - 1) : 1;
    int need = !st->have_p || off > GAM_CHANGE || st->accepted >= st->step_p + P_AGE || before != FRESH ||
               st->bad_jac;
    int new_jac =
        need && (!st->accepted || st->accepted > st->step_j + v->j_age || before == AFTER_CONV ||
                 (v->watch_jac && (st->bad_jac || (before == AFTER_ERROR && st->step_j != st->accepted))));
    for (;;) {
        outcome o = need ? factor(v, t, gam, new_jac) : CONVERGED;
        if (o != CONVERGED) return o;
        if (need) off = 0;
        o = iterate_parts(v, t, gam, new_jac);
        if (o != FAILED || new_jac) return o;
        need = 1; /* an old J: once more, with a new one unless gam may have been the cause */
        new_jac = off < GAM_SAME;
        if (v->classic) {
            bad = evaluate(v, first_part(v), t, v->y0, v->f0, NULL);
            if (bad) return bad < 0 ? STOP : FAILED;
        }
    }
}

/* ---- Failures ----------------------------------------------------------------------------------------- */

static double least_step(const vode *v)
{
    return fmax(v->ivp->opt->h_min, fmax(4 * U * fabs(v->st->t), 1e4 * DBL_MIN));
}

static dae_status too_small(vode *v, const char *what, int fails)
{
    return dae_says_step_fell(v->ivp, v->st->t, v->st->h, least_step(v), fails, what, NULL);
}

static dae_status stopped(vode *v)
{
    return dae_says_stopped(v->ivp, v->st->t, "a user function");
}

static dae_status failed_iteration(vode *v, int fails)
{
    vode_state *st = v->st;
    v->ivp->stats->newton_failures++;
    st->eta_max = 1;
    if (v->fixed) {
        return dae_says_not_converging(v->ivp, st->t, st->h);
    }
    double least = least_step(v);
    if (fabs(st->h) <= least * (1 + 1e-5) || (v->classic && fails >= CONV_FAILS))
        return too_small(v, "the iteration", fails);
    rescale(v, fmax(ETA_CONV, least / fabs(st->h)));
    return DAE_OK;
}

static double eta_of(double error, int root)
{
    return 1 / (pow(error, 1.0 / root) + ADDON);
}

static dae_status failed_error_test(vode *v, double dsm, int fails)
{
    vode_state *st = v->st;
    dae_ivp *ivp = v->ivp;
    double least = least_step(v);
    ivp->stats->rejected++;
    st->eta_max = 1;
    if (fabs(st->h) <= least * (1 + 1e-5) || (v->classic && fails >= ERROR_FAILS))
        return too_small(v, "the error test", fails);
    double floor = fmax(ETA_MIN, least / fabs(st->h));
    if (fails < LOWER_FROM) {
        double eta = fmax(eta_of(v->bias * dsm, st->q + 1), floor);
        if (fails == 2) eta = fmin(eta, ETA_SECOND);
        rescale(v, eta);
    } else if (st->q > 1) {
        lower_order(v);
        rescale(v, floor);
    } else {
        st->h *= floor;
        int bad = dae_ivp_f(ivp, st->t, v->classic ? v->y : v->z, v->b);
        if (bad < 0) return stopped(v);
        if (bad)
            return dae_ivp_fail(ivp, DAE_ERR_UNDEFINED,
                                "t = %.10g: the right-hand side cannot be evaluated at an accepted point",
                                st->t);
        for (int i = 0; i < v->n; i++) v->z[v->ld + i] = st->h * v->b[i];
        st->tau[0] = st->h;
        st->same = 0;
        st->wait = WAIT_RESTART;
    }
    st->q_next = st->q;
    return DAE_OK;
}

/* ---- After an accepted step ------------------------------------------------------------------------------ */

/* The factors by which h could change at orders q-1 and q+1; before z, w and tau move on. */
static void judge_orders(const vode *v, double *down, double *up)
{
    const vode_state *st = v->st;
    const dae_vode_formula *c = &st->formula;
    int q = st->q, ld = v->ld;
    double *b = v->b;
    if (q > 1) {
        const double *top = v->z + q * ld;
        for (int i = 0; i < ld; i++) b[i] = top[i] + c->l[q] * v->a[i];
        *down = eta_of(v->bias * norm(v, b) / c->t1, q);
    }
    if (q < v->order_max) {
        double r = st->h / st->tau[0], k = c->t5 / st->t5_saved;
        for (int j = 0; j <= q; j++) k *= r;
        for (int i = 0; i < ld; i++) b[i] = v->a[i] - k * v->a_saved[i];
        *up = eta_of(v->bias_up * norm(v, b) / c->t3, q + 2);
    }
}

/* Step size and order of the next step. */
static void choose_next(vode *v, double dsm, double down, double up)
{
    vode_state *st = v->st;
    int q = st->q;
    st->q_next = q;
    st->eta = 1;
    if (st->eta_max == 1) { /* a failure in this step: nothing changes */
        if (st->wait < 2) st->wait = 2;
        return;
    }
    double eta;
    if (st->wait > 0) {
        if (dsm > v->limit[q]) return; /* eta_q < ETA_LEAST */
        eta = eta_of(v->bias * dsm, q + 1);
    } else {
        st->wait = 2;
        eta = eta_of(v->bias * dsm, q + 1);
        if (eta >= up) {
            if (eta < down) {
                eta = down;
                st->q_next = q - 1;
            }
        } else if (up > down) {
            eta = up;
            st->q_next = q + 1;
        } else {
            eta = down;
            st->q_next = q - 1;
        }
    }
    if (eta < ETA_LEAST) {
        st->q_next = q;
        return;
    }
    if (st->q_next > q) dae_copy(v->ld, v->a, v->a_saved);
    eta = fmin(eta, st->eta_max);
    double h_max = v->ivp->opt->h_max;
    if (h_max > 0 && fabs(st->h) * eta > h_max) eta = h_max / fabs(st->h);
    st->eta = eta;
    st->rescale = 1;
}

/* Fixed steps: the start goes through FIXED_LEVELS step sizes, each twice the last, and raises the order where
 * it can, so that the starting error is negligible; it takes a whole number of steps of the wanted size. */
static void choose_fixed(vode *v)
{
    vode_state *st = v->st;
    int block = 2 * ((v->order_max + 3) / 2), top = v->order_max > 2 ? FIXED_LEVELS : 0;
    st->q_next = st->q;
    st->eta = 1;
    st->count++;
    if (st->level < top) {
        if (st->count < (st->level == 0 ? 2 * block : block)) return;
        st->level++;
        st->count = 0;
        st->eta = 2;
    } else if (st->q == v->order_max) {
        double h = v->ivp->direction * v->ivp->opt->fixed_step;
        if (st->h != h) st->eta = h / st->h;
        st->rescale = st->h != h;
        return;
    }
    st->rescale = 1;
    if (st->q < v->order_max) {
        dae_copy(v->ld, v->a, v->a_saved);
        st->q_next = st->q + 1;
    }
}

static void accept(vode *v, double t, double dsm)
{
    vode_state *st = v->st;
    dae_ivp *ivp = v->ivp;
    double h = st->h, down = 0, up = 0;
    if (st->wait == 1 && st->eta_max > 1 && !v->fixed) judge_orders(v, &down, &up);
    v->advance(st->q, v->ld, v->z, st->formula.l, v->a, v->y, v->rtol, v->atol, v->w);
    if (v->ivp->project)
        dae_nordsieck_moved(st->q, v->n, v->ld, v->z, v->adams ? NULL : st->formula.l, v->f0);
    double factor = dae_undamped_factor(&st->undamped, h);
    for (int i = 0; i < v->ld && factor > 1; i++) v->w[i] *= factor;
    st->same = st->tau[0] == h && st->accepted ? st->same + 1 : 1;
    memmove(st->tau + 1, st->tau, (DAE_VODE_TAU - 1) * sizeof *st->tau);
    st->tau[0] = h;
    st->accepted++;
    if (--st->wait == 1 && st->q < v->order_max) {
        dae_copy(v->ld, v->a, v->a_saved);
        st->t5_saved = st->formula.t5;
    }
    t = dae_time_at_wall(ivp, t, h);
    if (v->fixed && fabs(t - ivp->t_end) <= 1e-9 * fabs(h)) t = ivp->t_end;
    ivp->t_old = st->t;
    ivp->t = st->t = t;
    ivp->order = st->q;
    ivp->stats->accepted++;
    if (v->fixed) choose_fixed(v);
    else choose_next(v, dsm, down, up);
    st->eta_max = ETA_LATER;
    ivp->h_next = h * st->eta;
}

/* ---- The step -------------------------------------------------------------------------------------------- */

/* The new point on its constraints, into f0. */
static outcome project(vode *v, double t)
{
    if (!v->ivp->project) return CONVERGED;
    dae_copy(v->n, v->y, v->f0);
    int bad = dae_ivp_project(v->ivp, t, v->f0);
    return bad == 0 ? CONVERGED : bad < 0 ? STOP : FAILED;
}

static dae_status step(void *self)
{
    vode *v = self;
    vode_state *st = v->st;
    previous before = FRESH;
    int conv_fails = 0, error_fails = 0;
    take_tolerances(v);
    begin_step(v);
    for (;;) {
        double t = st->t + st->h;
        v->ivp->stats->steps++;
        set_formula(v);
        v->predict(st->q, v->ld, v->z, 1 / st->formula.l[1], v->y0, v->r);
        outcome o = solve(v, t, before);
        double dsm = st->norm_a / st->formula.t2;
        int passed = o == CONVERGED && (dsm <= 1 || v->fixed);
        if (passed) o = project(v, t);
        if (o == STOP) return stopped(v);
        dae_status s;
        if (o == FAILED) {
            s = failed_iteration(v, ++conv_fails);
            before = AFTER_CONV;
        } else {
            if (passed) {
                accept(v, t, dsm);
                return DAE_OK;
            }
            s = failed_error_test(v, dsm, ++error_fails);
            before = AFTER_ERROR;
        }
        if (s) return s;
    }
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    vode *v = self;
    const vode_state *st = v->st;
    dae_nordsieck_at(st->q, v->n, v->ld, v->z, (t - st->t) / st->h, st->h, y, yp);
}

/* ---- Checkpoint: the sparse factors ------------------------------------------------------------------------ */

static size_t save(const void *self, void *buffer)
{
    const vode *v = self;
    return v->P ? dae_shifted_save(v->P, buffer) : 0;
}

static int load(void *self, const void *buffer, size_t size)
{
    vode *v = self;
    return v->P ? dae_shifted_load(v->P, buffer, size) : 0;
}

/* ---- Descriptors ------------------------------------------------------------------------------------------- */

#define CLASSIC                                                                                           \
    {                                                                                                     \
        .name = "classic", .type = DAE_OPTION_INT, .offset = offsetof(vode_options, classic), .value = 0, \
        .min = 0, .max = 1, .unit = "", .help = "1: as the program DVODE, without our mends"              \
    }
#define ORDER_MAX(most)                                                                           \
    {                                                                                             \
        .name = "order_max", .type = DAE_OPTION_INT, .offset = offsetof(vode_options, order_max), \
        .value = most, .min = 1, .max = most, .unit = "",                                         \
        .help = "highest order; with fixed steps the order"                                       \
    }

#define CORRECTOR                                                                                  \
    {                                                                                              \
        .name = "corrector", .type = DAE_OPTION_NAME, .offset = offsetof(vode_options, corrector), \
        .text = "auto", .choices = DAE_STAGGER_CHOICES, .unit = "",                                \
        .help = "sensitivities: solved for together with y, or (staggered) after y and its "       \
                "error test; auto: together where they have tolerances"                            \
    }

static const dae_option bdf_options[] = {
    ORDER_MAX(DAE_VODE_BDF_MAX),
    CORRECTOR,
    CLASSIC,
    {.name = NULL},
};

static const dae_option adams_options[] = {
    ORDER_MAX(DAE_VODE_ADAMS_MAX),
    {.name = "iteration",
     .type = DAE_OPTION_NAME,
     .offset = offsetof(vode_options, iteration),
     .text = "functional",
     .choices = "functional|newton",
     .unit = "",
     .help = "how the implicit equation is solved"},
    CORRECTOR,
    CLASSIC,
    {.name = NULL},
};

const dae_method dae_method_vode = {
    .info = {.name = "vode",
             .title = "variable-coefficient BDF of orders 1 to 5",
             .literature = "Brown, Byrne, Hindmarsh: VODE, a variable-coefficient ODE solver, SIAM J. Sci. "
                           "Stat. Comput. 10 (1989)",
             .summary = "stiff ODEs at loose and moderate tolerances; cheap steps, one real factorization "
                        "for many of them",
             .order_min = 1,
             .order_max = DAE_VODE_BDF_MAX,
             .kinds = 1u << DAE_KIND_ODE,
             .max_index = 0,
             .implicit = 1,
             .multistep = 1,
             .projects = 1,
             .checkpoint = 1,
             .options = bdf_options},
    .soft_end = 1,
    .option_size = sizeof(vode_options),
    .create = create_bdf,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};

const dae_method dae_method_vode_adams = {
    .info = {.name = "vode-adams",
             .title = "variable-coefficient Adams of orders 1 to 12",
             .literature = "Brown, Byrne, Hindmarsh: VODE, a variable-coefficient ODE solver, SIAM J. Sci. "
                           "Stat. Comput. 10 (1989)",
             .summary = "nonstiff ODEs whose right-hand side is dear: one to two evaluations per step",
             .order_min = 1,
             .order_max = DAE_VODE_ADAMS_MAX,
             .kinds = 1u << DAE_KIND_ODE,
             .max_index = 0,
             .multistep = 1,
             .projects = 1,
             .checkpoint = 1,
             .options = adams_options},
    .soft_end = 1,
    .option_size = sizeof(vode_options),
    .create = create_adams,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
