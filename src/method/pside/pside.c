/* Four-stage Radau IIA with the PILSRK iteration for g(t,y,y') = 0, index up to 3.
 *
 * The unknowns of a step are the stage derivatives D_i:
 *
 *     g(t_n + c_i h, Y_i, D_i) = 0,   Y_i = y_n + h sum_j a_ij D_j,   i = 1 .. 4,
 *     y_(n+1) = Y_4,   y'_(n+1) = D_4
 *
 * with g = y' - f (ODE), M y' - f (DAE) or F (IDE). Newton's method would need I (x) K + h A (x) J,
 * K = dg/dy', J = dg/dy. With inv(Q) A Q = D (I - B), B nilpotent, it is replaced by four real systems of
 * size n that do not depend on each other, solved once, or twice where a variable has an index above 1:
 *
 *     t = -inv(Q) G,   x_i = inv(K + h d_i J) t_i,   [b = B x,   x_i = inv(K + h d_i J)(t_i - K b_i) + b_i]
 *     dD = Q x,   dY = h A dD
 *
 * so that factorizations, solves and evaluations can run on four threads. Iteration matrix for
 * y' = lambda y: spectral radius at most 0.45 on the imaginary axis, 0.22 on the negative real axis, 0 at
 * infinity.
 *
 * Sources: [PSIDE], [PILSRK]. Where we differ (classic = 1 takes the first five back):
 * - no smaller step after an error far below the tolerance: errors at rounding level mislead the controller;
 * - growth of a component is suspicious only where the iteration converges slowly;
 * - after several failures in a row the Jacobian is renewed between iterations (Newton's method proper),
 *   which finds the right side of a kink;
 * - a prediction that is corrected by the size of the solution is replaced by D = y'_n;
 * - the iteration is carried further where a variable has index 3;
 * - a singular matrix halves the step, a Jacobian that cannot be evaluated is replaced by the last one, and
 *   there is dense output. */
#include "method/method.h"

#include "core/matrix.h"
#include "core/pool.h"
#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/failure.h"
#include "method/pside/kernels.h"
#include "method/refine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* All constants are those of [PSIDE] unless marked. */
#define UROUND (DBL_EPSILON / 2)
#define LEAST 1e-100 /* ours: smallest step at t = 0, where rounding sets no limit */
#define TAU 0.01     /* the iteration stops at a predicted error of this */
/* ours: where a variable has index 3; an error of the velocities counts times h and passes TAU, but stays */
#define TAU_INDEX_3 0.002
#define KAPPA 100.0 /* ... or at this many rounding units of y_n */
#define NEWTON_MAX 15
#define NEWTON_FIXED 60 /* ours: with fixed_step there is no smaller step to hope for */
#define GROWTH 100      /* largest growth of a component in a step */
#define ALPHA_START 0.1 /* contractivity assumed after the first iteration */
#define ALPHA_REF 0.15  /* contractivity that steps aim at */
#define ALPHA_JAC 0.1   /* above it the Jacobian is evaluated anew */
#define ALPHA_TRUST 0.5 /* ours: growth is looked at where the iteration contracts worse than this */
#define ALPHA_LU 0.2    /* relative change of h that is factored anew */
#define XI 1.2          /* slow above XI*ALPHA_REF: the step is to blame */
#define SHRINK_MIN 0.2  /* h_new >= 0.2 h */
#define GROW_MAX 2.0    /* h_new <= 2 h */
#define OMEGA 0.05      /* the rest of the interval is shared out in steps up to so much too long */
#define REFINE_POINTS 7 /* ours: of refined dense output, the order of the method */
#define SAFETY 0.8
#define P_MIN 0.1 /* estimated order after repeated rejections */
#define P_MAX 5.0
#define START_CHANGE 0.5 /* first step: |h y'| */
#define START_PART 1e-5  /* first step: part of the interval, and absolute */
/* ours: an error below it is no reason for a smaller step, whatever its history says */
#define ERROR_FLOOR 1e-3
/* ours: a first correction of more than this times y_n shows a bad prediction (index 1) */
#define FAR 0.3
#define PATIENCE 3     /* ours: after so many failures in a row the Jacobian follows the iterates, */
#define FOLLOW 5       /* ours: so many of them */
#define SINGULAR_MAX 5 /* ours */
/* ours: some 20 to 100 microseconds, the time between two solves; then a thread sleeps */
#define SPINS 2000
#define PARALLEL_MIN 64 /* ours: bench_pside gained 1.3 at n = 40, 1.5 at 80, on a machine not idle */

typedef struct pside_options {
    int classic, parallel_f, parallel_min;
    double growth;
} pside_options;

/* What survives a checkpoint; in the arena. */
typedef struct pside_state {
    double h, hlu;       /* present step; step of the factors */
    double h_acc, e_acc; /* of the last accepted step */
    double h_rej, e_rej; /* of the last rejected one */
    double alpha;        /* contractivity of the last iteration */
    int first;           /* no step accepted yet */
    int last;            /* this step ends at t_stop */
    int rejected;        /* the last attempt failed by its error */
    int jac_here, have_jac, need_jac, need_lu;
    int singular, failures; /* in a row */
} pside_state;

typedef struct pside {
    dae_ivp *ivp;
    pside_state *st;
    pside_options option;
    dae_kind kind;
    int n, ld;             /* size, and distance of the vectors of a group of four */
    int inner;             /* m, inner iterations */
    double tau;            /* the iteration stops at a predicted error of this */
    dae_matrix mass;       /* DAEs; n = 0: identity */
    dae_matrix K;          /* IDEs: dF/dy' */
    double *y, *yp;        /* last accepted point */
    double *D_old;         /* 4: stage derivatives of the last step, for predictor and dense output */
    double *D, *Y, *F, *X; /* 4 each: stages, evaluations, transformed increments */
    double *KD;            /* 4: M D for DAEs with a mass matrix, else D; NULL for IDEs */
    double *T, *R, *KR;    /* 4 each, inner > 1: right-hand sides, B x, K B x */
    double *J, *values[S]; /* Jacobian; IDEs: K + h d_i J */
    double *Kvalues;
    double *e, *x;         /* error vector; room */
    double *base, *weight; /* 1/(atol + rtol |y_n|), and times h^(index-1) */
    double *limit;         /* of Y_4 in the growth test, NULL: off */
    double scale[S];       /* of right-hand sides: the factors are those of this times the matrix */
    int bad[S];            /* results of parallel factorizations and evaluations */
    dae_shifted *solver[S];
    dae_pool *pool;
    const pside_kernels *kernels;
    dae_refine refine; /* ODEs only */
} pside;

static double clip(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* ---- Life ------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    pside *p = self;
    if (!p) return;
    dae_pool_destroy(p->pool);
    for (int k = 0; k < S; k++) dae_shifted_destroy(p->solver[k]);
    free(p);
}

/* Arrays from the arena. */
static void take_arrays(pside *p)
{
    dae_arena *a = p->ivp->arena;
    size_t ld = (size_t)p->ld, stored = (size_t)dae_pattern_count(&p->ivp->jacobian, p->n);
    double **single[] = {&p->y, &p->yp, &p->e, &p->x, &p->base, &p->weight, &p->limit};
    double **group[] = {&p->D_old, &p->D, &p->Y, &p->F, &p->X};
    double **more[] = {&p->T, &p->R, &p->KR};
    p->st = dae_arena_take(a, 1, sizeof *p->st);
    if (p->kind == DAE_KIND_ODE) dae_refine_create(&p->refine, p->ivp, REFINE_POINTS);
    for (size_t k = 0; k < sizeof single / sizeof *single; k++) *single[k] = dae_arena_reals(a, ld);
    for (size_t k = 0; k < sizeof group / sizeof *group; k++) *group[k] = dae_arena_reals(a, S * ld);
    for (size_t k = 0; p->inner > 1 && k < sizeof more / sizeof *more; k++)
        *more[k] = dae_arena_reals(a, S * ld);
    p->J = dae_arena_reals(a, stored);
    if (p->kind == DAE_KIND_IDE) {
        p->Kvalues = dae_arena_reals(a, stored);
        for (int k = 0; k < S; k++) p->values[k] = dae_arena_reals(a, stored);
    } else {
        p->KD = p->mass.n ? dae_arena_reals(a, S * ld) : p->D;
    }
    if (!p->ivp->index) p->weight = p->base;
    if (!(p->option.growth > 0)) p->limit = NULL;
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    pside *p = calloc(1, sizeof *p);
    if (!p) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for pside");
        return NULL;
    }
    p->ivp = ivp;
    p->option = *(const pside_options *)option;
    p->kind = ivp->sys->kind;
    p->n = ivp->n;
    p->ld = (p->n + 7) / 8 * 8;
    p->inner = 1;
    p->tau = TAU;
    for (int i = 0; ivp->index && i < p->n; i++) {
        if (ivp->index[i] > 1) p->inner = 2;
        if (ivp->index[i] > 2 && !p->option.classic && !(ivp->opt->fixed_step > 0)) p->tau = TAU_INDEX_3;
    }
    p->mass = dae_ivp_mass(ivp);
    p->kernels = dae_pside_kernels();
    take_arrays(p);
    if (dae_arena_failed(ivp->arena)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for pside with %d equations", p->n);
        destroy(p);
        return NULL;
    }
    int ide = p->kind == DAE_KIND_IDE;
    p->K = (dae_matrix){.n = p->n, .pattern = ivp->jacobian, .a = p->Kvalues};
    dae_shifted_spec spec = {.n = p->n,
                             .jacobian = ivp->jacobian,
                             .mass = p->mass,
                             .second_order = ide ? 0 : ivp->sys->structure.second_order,
                             .own = ivp->linear_solver};
    for (int k = 0; k < S; k++) {
        p->solver[k] = dae_shifted_create(&spec, ivp->arena, err);
        if (!p->solver[k]) {
            destroy(p);
            return NULL;
        }
    }
    if (p->n >= p->option.parallel_min && !ivp->matrix_free)
        p->pool = dae_pool_create(ivp->opt->threads < S ? ivp->opt->threads : S);
    dae_pool_spin(p->pool, SPINS);
    dae_ivp_solves_with(ivp, dae_shifted_describe(p->solver[0]));
    dae_log(ivp->opt, DAE_LOG_INFO, "threads=%d", p->pool ? ivp->opt->threads : 1);
    ivp->y = p->y;
    return p;
}

/* ---- Norms ------------------------------------------------------------------------------------ */

/* After y_n has changed. */
static void set_base_weights(pside *p)
{
    const dae_ivp *ivp = p->ivp;
    p->kernels->weights(p->n, ivp->atol, ivp->rtol, p->y, p->base);
    for (int i = 0; p->limit && i < p->n; i++) {
        int free = ivp->index && ivp->index[i] > 1;
        p->limit[i] = free ? INFINITY : p->option.growth * fmax(fabs(p->y[i]), ivp->atol[i]);
    }
}

/* The error of index-2 variables counts times h, of index-3 variables times h^2. */
static void set_weights(pside *p)
{
    const int *index = p->ivp->index;
    double h = fabs(p->st->h), power[4] = {1, 1, h, h * h};
    for (int i = 0; index && i < p->n; i++) p->weight[i] = p->base[i] * power[index[i]];
}

static double norm(const pside *p, const double *v)
{
    return sqrt(dae_sum_squares(p->n, v, p->weight) / p->n);
}

/* ---- Start ------------------------------------------------------------------------------------ */

/* At most the largest h with |h y'| <= START_CHANGE, [PSIDE]: relative to y', not to y, all indices alike. */
static double first_step(const pside *p, double room)
{
    const dae_ivp *ivp = p->ivp;
    double h = fmin(START_PART, START_PART * room), sum = 0;
    for (int i = 0; i < p->n; i++) {
        double w = ivp->atol[i] + ivp->rtol[i] * fabs(p->yp[i]);
        double v = p->yp[i] / (w > DBL_MIN ? w : DBL_MIN);
        sum += v * v;
    }
    double speed = sqrt(sum / p->n);
    return h * speed > START_CHANGE ? START_CHANGE / speed : h;
}

/* h, at most the rest of the interval. */
static void set_step(pside *p, double h)
{
    pside_state *st = p->st;
    dae_ivp *ivp = p->ivp;
    double room = fabs(ivp->t_stop - ivp->t);
    st->last = h >= room;
    st->h = st->last ? ivp->t_stop - ivp->t : ivp->direction * h;
    ivp->h_next = st->h;
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    pside *p = self;
    dae_ivp *ivp = p->ivp;
    double room = fabs(ivp->t_stop - t);
    *p->st = (pside_state){.first = 1, .need_jac = 1, .need_lu = 1};
    ivp->t = ivp->t_old = t;
    dae_copy(p->n, y, p->y);
    dae_copy(p->n, yp, p->yp);
    for (int k = 0; k < S; k++) dae_copy(p->n, yp, p->D_old + k * p->ld);
    set_base_weights(p);
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    if (!(h > 0)) h = fmax(first_step(p, room), dae_first_step_least(t));
    if (ivp->opt->h_max > 0 && !(ivp->opt->fixed_step > 0)) h = fmin(h, ivp->opt->h_max);
    set_step(p, h);
    p->st->h_acc = p->st->h;
    ivp->order = 7;
    return DAE_OK;
}

/* ---- Evaluations ------------------------------------------------------------------------------ */

static int uses_differences(const dae_ivp *ivp)
{
    if (ivp->opt->jacobian && !strcmp(ivp->opt->jacobian, "difference")) return 1;
    if (ivp->sys->kind == DAE_KIND_ODE) return !ivp->sys->ode.jac;
    if (ivp->sys->kind == DAE_KIND_DAE) return !ivp->sys->dae.jac;
    return !ivp->sys->ide.dfdy || !ivp->sys->ide.dfdyp;
}

/* J (and K) at a point; > 0: cannot be evaluated. */
static int evaluate_jacobian(pside *p, double t, const double *y, const double *yp)
{
    dae_ivp *ivp = p->ivp;
    int ide = p->kind == DAE_KIND_IDE, bad = 0;
    if (uses_differences(ivp)) { /* D_4 is not f(t,y) to all digits, and differences would show that */
        bad = ide ? dae_ivp_residual(ivp, t, y, yp, p->x) : dae_ivp_f(ivp, t, y, p->x);
        ivp->stats->f--;
        ivp->stats->f_jac++;
    }
    if (bad) return bad;
    if (ide) return dae_ivp_residual_jacobian(ivp, t, y, yp, p->x, p->J, p->Kvalues);
    return dae_ivp_jacobian(ivp, t, y, p->x, p->J);
}

static double stage_time(const pside *p, int k)
{
    const pside_state *st = p->st;
    if (k == S - 1) return st->last ? p->ivp->t_stop : p->ivp->t + st->h;
    return p->ivp->t + pside_c[k] * st->h;
}

/* D and Y from the polynomial of the last step, extended to `ratio` times its length; 0: D = y'_n. */
static void predict(pside *p, double ratio, double hA[S][S])
{
    const pside_state *st = p->st;
    double W[S][S];
    for (int i = 0; i < S; i++) {
        double z = ratio * pside_c[i];
        for (int j = 0; j < S; j++) {
            W[i][j] =
                pside_Uinv[0][j] + z * (pside_Uinv[1][j] + z * (pside_Uinv[2][j] + z * pside_Uinv[3][j]));
            hA[i][j] = st->h * pside_A[i][j];
        }
    }
    p->kernels->predict(p->n, p->ld, (const double(*)[S])W, (const double(*)[S])hA, p->D_old, p->y, p->D,
                        p->Y);
}

static dae_status jacobian(pside *p)
{
    pside_state *st = p->st;
    int bad = evaluate_jacobian(p, p->ivp->t, p->y, p->yp);
    if (bad < 0) return dae_says_stopped(p->ivp, p->ivp->t, "the Jacobian");
    if (bad > 0 && !st->have_jac) {
        return dae_ivp_fail(p->ivp, DAE_ERR_UNDEFINED, "t = %.10g: the Jacobian cannot be evaluated",
                            p->ivp->t);
    }
    st->need_jac = 0;
    st->have_jac = st->jac_here = 1; /* where it could not be evaluated the last one must do */
    st->need_lu = 1;
    return DAE_OK;
}

static int evaluate_stage(void *self, int k, int piece, int thread)
{
    pside *p = self;
    const dae_ivp *ivp = p->ivp;
    const double *Y = p->Y + k * p->ld;
    double *F = p->F + k * p->ld, t = dae_ivp_one_sided(ivp, stage_time(p, k));
    p->bad[k] = p->kind == DAE_KIND_IDE ? ivp->sys->ide.residual(t, Y, p->D + k * p->ld, F, ivp->user)
                                        : ivp->f(t, Y, F, ivp->user);
    (void)piece, (void)thread;
    return 0;
}

/* All stages on the threads; counted as if one after the other up to the first that fails. */
static int evaluate_parallel(pside *p)
{
    dae_ivp *ivp = p->ivp;
    int profile = ivp->opt->profile;
    unsigned long long begin = profile ? dae_ticks() : 0;
    dae_pool_run(p->pool, S, evaluate_stage, p);
    if (profile) {
        ivp->user_ticks += dae_ticks() - begin;
        ivp->user_timed++;
    }
    for (int k = 0; k < S; k++) {
        ivp->stats->f++;
        if (p->bad[k] > 0) ivp->stats->undefined++;
        if (p->bad[k]) return p->bad[k];
    }
    return 0;
}

/* F_i = f or F at the stages. Values that are not finite show in |dY|. */
static int evaluate_stages(pside *p)
{
    dae_ivp *ivp = p->ivp;
    double t[S];
    if (p->pool && p->option.parallel_f) return evaluate_parallel(p);
    for (int k = 0; k < S; k++) t[k] = stage_time(p, k);
    if (p->kind != DAE_KIND_IDE) return dae_ivp_f_stages(ivp, S, p->ld, t, p->Y, p->F);
    for (int k = 0; k < S; k++) {
        int bad = dae_ivp_residual(ivp, t[k], p->Y + k * p->ld, p->D + k * p->ld, p->F + k * p->ld);
        if (bad) return bad;
    }
    return 0;
}

/* ---- Linear algebra --------------------------------------------------------------------------- */

/* K + hlu d_k J; for ODEs and DAEs (M/(hlu d_k) - df/dy), scale_k = 1/(hlu d_k) times that. */
static int factor_one(void *self, int k, int piece, int thread)
{
    pside *p = self;
    (void)piece, (void)thread;
    double q = p->st->hlu * pside_d[k];
    if (p->kind != DAE_KIND_IDE) {
        p->bad[k] = dae_shifted_factor(p->solver[k], 1 / q, 0, p->J);
        return 0;
    }
    long stored = dae_pattern_count(&p->ivp->jacobian, p->n);
    double *restrict v = p->values[k];
    for (long i = 0; i < stored; i++) v[i] = p->Kvalues[i] + q * p->J[i];
    p->bad[k] = dae_shifted_factor_values(p->solver[k], v);
    return 0;
}

static void set_scales(pside *p)
{
    for (int k = 0; k < S; k++) p->scale[k] = p->kind == DAE_KIND_IDE ? -1 : 1 / (p->st->hlu * pside_d[k]);
}

/* 0: fine, > 0: singular, < 0: out of memory */
static int factor(pside *p)
{
    dae_ivp *ivp = p->ivp;
    p->st->hlu = p->st->h;
    set_scales(p);
    DAE_LINALG(ivp, dae_pool_run(p->pool, S, factor_one, p));
    ivp->stats->lu += S;
    for (int k = 0; k < S; k++) {
        if (p->bad[k]) return p->bad[k];
    }
    return 0;
}

static int solve_one(void *self, int k, int piece, int thread)
{
    pside *p = self;
    dae_shifted_solve(p->solver[k], p->X + k * p->ld);
    (void)piece, (void)thread;
    return 0;
}

/* V_k := K U_k for all stages; ODEs: not needed. */
static void multiply(const pside *p, const double *U, double *V)
{
    const dae_matrix *K = p->kind == DAE_KIND_IDE ? &p->K : &p->mass;
    for (int k = 0; k < S; k++) dae_matrix_multiply(K, p->n, U + k * p->ld, V + k * p->ld);
}

/* One more inner iteration: x := inv(K + h d J)(t - K B x) + B x. */
static void correct(pside *p)
{
    int n = p->n, ld = p->ld;
    p->kernels->couple(n, ld, p->X, p->R);
    const double *KR = p->R;
    if (p->kind == DAE_KIND_IDE || p->mass.n) {
        multiply(p, p->R, p->KR);
        KR = p->KR;
    }
    for (int k = 0; k < S; k++) {
        const double *t = p->T + k * ld, *b = KR + k * ld;
        double *x = p->X + k * ld, q = p->kind == DAE_KIND_IDE ? 1 : p->scale[k];
        for (int i = 0; i < n; i++) x[i] = t[i] - q * b[i];
    }
    dae_pool_run(p->pool, S, solve_one, p);
    for (int k = 0; k < S; k++) {
        const double *b = p->R + k * ld;
        double *x = p->X + k * ld;
        for (int i = 0; i < n; i++) x[i] += b[i];
    }
}

/* ---- Newton's method -------------------------------------------------------------------------- */

/* One iteration from the evaluations in F: new D and Y, |dY|. */
static double iterate(pside *p, double hA[S][S])
{
    int n = p->n, ld = p->ld;
    DAE_LINALG(p->ivp, {
        if (p->mass.n) multiply(p, p->D, p->KD);
        p->kernels->transform(n, ld, p->scale, p->F, p->KD, p->X);
        if (p->inner > 1) dae_copy(S * ld, p->X, p->T);
        dae_pool_run(p->pool, S, solve_one, p);
        for (int m = 1; m < p->inner; m++) correct(p);
        p->kernels->update(n, ld, (const double(*)[S])hA, p->X, p->weight, p->D, p->Y, p->x);
    });
    p->ivp->stats->solves += S * p->inner;
    p->ivp->stats->newton++;
    return sqrt(dae_sum(n, p->x) / (S * (double)n));
}

static int grows(const pside *p)
{
    return p->limit && p->kernels->exceeding(p->n, p->Y + (S - 1) * p->ld, p->limit);
}

typedef enum outcome { SOLVED, EXACT, GROWS, UNDEFINED, DIVERGED, SLOW, STOP } outcome;

/* Jacobian and factors at the present iterate. */
static outcome follow(pside *p)
{
    int last = (S - 1) * p->ld;
    int bad = evaluate_jacobian(p, stage_time(p, S - 1), p->Y + last, p->D + last);
    p->st->need_jac = 1; /* for the next attempt or step */
    if (bad < 0) return STOP;
    return bad || factor(p) ? UNDEFINED : SOLVED;
}

static outcome newton(pside *p)
{
    pside_state *st = p->st;
    dae_ivp *ivp = p->ivp;
    int proper = st->failures >= PATIENCE && !p->option.classic;
    int fixed = ivp->opt->fixed_step > 0, most = fixed ? NEWTON_FIXED : NEWTON_MAX;
    double hA[S][S], u_old = 0, size = norm(p, p->y), floor = KAPPA * UROUND * size;
    int flat = p->inner > 1 || p->option.classic;
    predict(p, st->h / st->h_acc, hA);
    st->alpha = ALPHA_START;
    if (p->option.classic && grows(p)) return GROWS;
    for (int k = 1;; k++) {
        int bad = evaluate_stages(p);
        if (bad) return bad < 0 ? STOP : UNDEFINED;
        double u = iterate(p, hA);
        dae_log(ivp->opt, DAE_LOG_ITER, "newton=%d delta=%.3g alpha=%.3g", k, u, st->alpha);
        if (!isfinite(u)) {
            ivp->stats->undefined++;
            return UNDEFINED;
        }
        if (p->option.classic && grows(p)) return GROWS;
        if (k == 1) {
            if (u == 0) return EXACT;
            if (u > FAR * size && !flat) { /* the prediction was worth nothing: D = y'_n instead */
                flat = 1;
                predict(p, 0, hA);
                k = 0;
                continue;
            }
        } else {
            st->alpha = sqrt(st->alpha * (u / u_old));
            if (!p->option.classic && !proper && st->alpha > ALPHA_TRUST && grows(p)) return GROWS;
            if (fixed && st->alpha >= 1 && u < 1) return SOLVED; /* rounding */
            if (st->alpha >= 1 && !(proper && k <= FOLLOW) && !fixed) return DIVERGED;
            if (u < floor || u * st->alpha < p->tau * (1 - st->alpha)) return SOLVED;
            if (proper && k <= FOLLOW) st->alpha = fmin(st->alpha, 0.9);
            else if (k == most || (!fixed && u * pow(st->alpha, most - k) > p->tau * (1 - st->alpha)))
                return SLOW;
        }
        u_old = u;
        outcome o = proper && k <= FOLLOW ? follow(p) : SOLVED;
        if (o != SOLVED) return o;
    }
}

/* ---- Error and step size ---------------------------------------------------------------------- */

/* e = -h d_4 inv(K + hlu d_4 J) g(t_(n+1), Y_4, (sum v_i D_i - b0 y'_n)/d_4); returns what g returned. */
static int estimate(pside *p, double *error)
{
    dae_ivp *ivp = p->ivp;
    int n = p->n, bad;
    double h = p->st->h, d = pside_d[S - 1];
    const double *Y = p->Y + (S - 1) * p->ld;
    p->kernels->combine(n, p->ld, pside_v, p->D, -pside_b0, p->yp, p->x);
    for (int i = 0; i < n; i++) p->x[i] /= d;
    if (p->kind == DAE_KIND_IDE) {
        bad = dae_ivp_residual(ivp, stage_time(p, S - 1), Y, p->x, p->e);
        if (bad) return bad;
    } else {
        const double *kx = p->x;
        bad = dae_ivp_f(ivp, stage_time(p, S - 1), Y, p->e);
        if (bad) return bad;
        if (p->mass.n) {
            dae_matrix_multiply(&p->mass, n, p->x, p->F);
            kx = p->F;
        }
        for (int i = 0; i < n; i++) p->e[i] -= kx[i];
    }
    double q = h * d * p->scale[S - 1];
    for (int i = 0; i < n; i++) p->e[i] *= q;
    DAE_LINALG(ivp, dae_shifted_solve(p->solver[S - 1], p->e));
    ivp->stats->solves++;
    *error = norm(p, p->e);
    return 0;
}

static double fifth_root(double x)
{
    return pow(x, 0.2);
}

/* |h_r| after an accepted step. */
static double step_after(const pside *p, double e)
{
    const pside_state *st = p->st;
    double h = fabs(st->h), h_acc = fabs(st->h_acc);
    if (e == 0) return GROW_MAX * h;
    if (st->first || st->rejected) return SAFETY * h / fifth_root(e);
    double predicted = SAFETY * h * (h / h_acc) * fifth_root(st->e_acc / (e * e));
    return e < ERROR_FLOOR && !p->option.classic ? fmax(h, predicted) : predicted;
}

/* |h_r| after a rejected step. */
static double step_after_rejection(const pside *p, double e)
{
    const pside_state *st = p->st;
    double h = fabs(st->h);
    if (!st->rejected || st->first) return SAFETY * h / fifth_root(e);
    double order = clip(log(e / st->e_rej) / log(h / fabs(st->h_rej)), P_MIN, P_MAX);
    return SAFETY * h * pow(e, -1 / order);
}

/* Shares the rest of the interval out in equal steps near h. */
static double equalize(const pside *p, double h)
{
    double room = fabs(p->ivp->t_stop - p->ivp->t), count = room / h, whole = floor(count);
    if (!(count - whole <= OMEGA && count >= 1)) whole++;
    return whole > 1 ? room / whole : room;
}

/* The next step, and whether Jacobian and factors are renewed. h_r: the step that the error allows. */
static void plan(pside *p, outcome o, double h_r)
{
    pside_state *st = p->st;
    dae_ivp *ivp = p->ivp;
    double alpha = st->alpha, h = fabs(st->h), h_new = h / 2;
    double h_alpha = clip(ALPHA_REF * h / fmax(alpha, ALPHA_REF / GROW_MAX), SHRINK_MIN * h, GROW_MAX * h);
    switch (o) {
    case SOLVED:
    case EXACT:
        if (st->jac_here && alpha > ALPHA_REF) h_r = fmin(h_r, h_alpha);
        h_new = clip(h_r, SHRINK_MIN * h, GROW_MAX * h);
        if (o == SOLVED && alpha - fabs(st->h - st->hlu) / fabs(st->hlu) > ALPHA_JAC) {
            if (st->jac_here) h_new = h / 2;
            else st->need_jac = 1;
        }
        break;
    case DIVERGED:
        h_new = h_alpha;
        st->need_jac |= !st->jac_here;
        break;
    case SLOW:
        if (!st->jac_here) h_new = h;
        else if (alpha > XI * ALPHA_REF) h_new = h_alpha;
        st->need_jac |= !st->jac_here;
        break;
    default: break; /* half the step */
    }
    if (ivp->opt->h_max > 0) h_new = fmin(h_new, ivp->opt->h_max);
    set_step(p, equalize(p, h_new));
    if (fabs(st->h - st->hlu) > ALPHA_LU * fabs(st->hlu)) st->need_lu = 1;
}

/* The attempt becomes the last step. */
static void accept(pside *p, double e)
{
    pside_state *st = p->st;
    dae_ivp *ivp = p->ivp;
    double *D = p->D_old;
    if (p->kind == DAE_KIND_ODE) dae_refine_begin(&p->refine, p->y);
    ivp->t_old = ivp->t;
    ivp->t = stage_time(p, S - 1);
    dae_copy(p->n, p->Y + (S - 1) * p->ld, p->y);
    dae_copy(p->n, p->D + (S - 1) * p->ld, p->yp);
    dae_copy(S * p->ld, p->D, D);
    st->h_acc = st->h;
    st->e_acc = e;
    st->first = st->rejected = st->jac_here = st->failures = st->singular = 0;
    ivp->stats->accepted++;
    set_base_weights(p);
}

static int call_failed(pside *p)
{
    return (int)dae_ivp_fail(p->ivp, DAE_ERR_CALLBACK, "t = %.10g: the %s asked to stop", p->ivp->t,
                             p->kind == DAE_KIND_IDE ? "residual" : "right-hand side");
}

/* One attempt with a fixed step: 1, or < 0: failed. */
static int attempt_fixed(pside *p)
{
    pside_state *st = p->st;
    outcome o = newton(p);
    if (o == STOP) return call_failed(p);
    if (o != SOLVED && o != EXACT) {
        p->ivp->stats->newton_failures++;
        return (int)dae_says_not_converging(p->ivp, p->ivp->t, st->h);
    }
    int bad = dae_ivp_project(p->ivp, stage_time(p, S - 1), p->Y + (S - 1) * p->ld);
    if (bad < 0) return call_failed(p);
    if (bad)
        return (int)dae_ivp_fail(p->ivp, DAE_ERR_CONVERGENCE,
                                 "t = %.10g: the projection does not converge with the fixed step %g",
                                 p->ivp->t, st->h);
    accept(p, 1);
    double h = p->ivp->opt->fixed_step, room = fabs(p->ivp->t_stop - p->ivp->t);
    set_step(p, room <= h * (1 + 1e-10) ? room : h);
    st->need_jac = 1;
    return 1;
}

/* One attempt. 1: accepted, 0: try again, < 0: failed. */
static int attempt(pside *p)
{
    pside_state *st = p->st;
    dae_ivp *ivp = p->ivp;
    double e = 0, h_r = 0, h = st->h;
    set_weights(p);
    if (ivp->opt->fixed_step > 0) return attempt_fixed(p);
    outcome o = newton(p);
    if (o == SOLVED || o == EXACT) {
        int bad = estimate(p, &e);
        if (!bad && e < 1) bad = dae_ivp_project(ivp, stage_time(p, S - 1), p->Y + (S - 1) * p->ld);
        if (bad < 0) o = STOP;
        else if (bad > 0 || !isfinite(e)) o = UNDEFINED;
    }
    dae_log(ivp->opt, DAE_LOG_ITER, "outcome=%d err=%.3g h=%.6g alpha=%.3g", (int)o, e, h, st->alpha);
    if (o == STOP) return call_failed(p);
    int solved = o == SOLVED || o == EXACT, accepted = solved && e < 1;
    if (accepted) {
        h_r = step_after(p, e);
        accept(p, e);
    } else {
        if (solved) {
            h_r = step_after_rejection(p, e);
            st->h_rej = h;
            st->e_rej = e;
            st->rejected = 1;
            ivp->stats->rejected++;
        } else {
            ivp->stats->newton_failures++;
        }
        st->failures++;
    }
    plan(p, o, h_r);
    return accepted;
}

/* ---- The step --------------------------------------------------------------------------------- */

/* Factors what has to be; a singular matrix halves the step. */
static dae_status prepare(pside *p)
{
    pside_state *st = p->st;
    dae_ivp *ivp = p->ivp;
    while (st->need_lu) {
        int bad = factor(p);
        if (bad < 0) return dae_says_no_memory_to_factor(ivp, ivp->t);
        if (!bad) {
            st->need_lu = 0;
        } else if (++st->singular >= SINGULAR_MAX) {
            return dae_ivp_fail(ivp, DAE_ERR_SINGULAR,
                                "t = %.10g: the iteration matrix is singular (row %d of its elimination), "
                                "also with h = %.3g; the index "
                                "may be above 3, equations redundant, or a variable may not occur",
                                ivp->t, bad, st->h);
        } else if (ivp->opt->fixed_step <= 0) {
            set_step(p, fabs(st->h) / 2);
        }
    }
    return DAE_OK;
}

static dae_status step(void *self)
{
    pside *p = self;
    pside_state *st = p->st;
    dae_ivp *ivp = p->ivp;
    for (;;) {
        dae_status s = st->need_jac ? jacobian(p) : DAE_OK;
        if (!s) s = prepare(p);
        if (s) return s;
        double least = fmax(ivp->opt->h_min, fmax(10 * UROUND * fabs(ivp->t), LEAST));
        if (fabs(st->h) < least && !st->last) {
            return dae_says_step_fell_in_a_row(ivp, st->h, least, st->failures);
        }
        ivp->stats->steps++;
        int done = attempt(p);
        if (done < 0) return (dae_status)done;
        if (done) return DAE_OK;
    }
}

/* ---- Dense output: the integral of the polynomial through the D_i, and that polynomial -------- */

/* The polynomial through the stage derivatives. */
static void collocation(pside *p, double t, double *y, double *yp)
{
    double h = p->st->h_acc, x = (t - p->ivp->t) / h, w[S], v[S];
    for (int j = 0; j < S; j++) {
        double a[S];
        for (int k = 0; k < S; k++) a[k] = pside_Uinv[k][j];
        v[j] = a[0] + x * (a[1] + x * (a[2] + x * a[3]));
        w[j] = h * x * (a[0] + x * (a[1] / 2 + x * (a[2] / 3 + x * (a[3] / 4))));
    }
    p->kernels->combine(p->n, p->ld, w, p->D_old, 1, p->y, y);
    if (yp) p->kernels->combine(p->n, p->ld, v, p->D_old, 0, p->y, yp);
}

static void guess(void *self, double t, double *y)
{
    collocation(self, t, y, NULL);
}

/* inv(1 - hlu d J), with the last of the factors that the step left. */
static void filter(void *self, double *x)
{
    pside *p = self;
    double q = 1 / (p->st->hlu * pside_d[S - 1]);
    for (int i = 0; i < p->n; i++) x[i] *= q;
    DAE_LINALG(p->ivp, dae_shifted_solve(p->solver[S - 1], x));
    p->ivp->stats->solves++;
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    pside *p = self;
    dae_refine_step s = {.k = REFINE_POINTS, .y1 = p->y, .guess = guess, .filter = filter, .self = p};
    int fine = p->kind == DAE_KIND_ODE && p->ivp->opt->fixed_step <= 0;
    if (!fine || !dae_refine_interpolate(&p->refine, &s, t, y, yp)) collocation(p, t, y, yp);
}

/* ---- Checkpoint: the sparse factors ----------------------------------------------------------- */

static size_t save(const void *self, void *buffer)
{
    const pside *p = self;
    unsigned char *out = buffer;
    size_t used = 0;
    for (int k = 0; k < S; k++) used += dae_shifted_save(p->solver[k], out ? out + used : NULL);
    return used;
}

static int load(void *self, const void *buffer, size_t size)
{
    pside *p = self;
    const unsigned char *in = buffer;
    size_t used = 0;
    for (int k = 0; k < S; k++) {
        size_t need = dae_shifted_save(p->solver[k], NULL);
        if (used + need > size || dae_shifted_load(p->solver[k], in + used, need)) return 1;
        used += need;
    }
    set_scales(p);
    return 0;
}

/* ---- Descriptor ------------------------------------------------------------------------------- */

#define OPTION(field, type, standard, low, high, text)                                          \
    {                                                                                           \
#field, type, offsetof(pside_options, field), standard, NULL, low, high, NULL, "", text \
    }

static const dae_option option_table[] = {
    OPTION(classic, DAE_OPTION_INT, 0, 0, 1,
           "1: step control, growth test and end of the iteration as in the original program"),
    OPTION(growth, DAE_OPTION_REAL, GROWTH, 0, 1e300,
           "a step that makes a component so many times larger is halved; 0: no such test"),
    OPTION(parallel_f, DAE_OPTION_INT, 0, 0, 1,
           "1: the stages are evaluated on the threads too; the functions must allow that"),
    OPTION(parallel_min, DAE_OPTION_INT, PARALLEL_MIN, 1, 1e9, "smallest system that is worth the threads"),
    {.name = NULL},
};

const dae_method dae_method_pside = {
    .info = {.name = "pside",
             .title = "four-stage Radau IIA of order 7, parallel over the stages",
             .literature = "de Swart, Lioen, van der Veen: Specification of PSIDE, CWI 1997",
             .summary = "stiff ODEs, DAEs and implicit equations of index 1, 2, 3; uses up to four threads "
                        "on large ones",
             .order_min = 7,
             .order_max = 7,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE | 1u << DAE_KIND_IDE,
             .max_index = 3,
             .implicit = 1,
             .checkpoint = 1,
             .projects = 1,
             .options = option_table},
    .option_size = sizeof(pside_options),
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
