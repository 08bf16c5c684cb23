/* Blended implicit methods, orders 4, 6, 8, 10, 12, for M y' = f(t,y), index up to 3.
 *
 * One step advances a block of k = 3, 4, 6, 8, 10 equal sub-steps h. Its equations are written in two
 * equivalent forms (coefficients.h), A_1 Y = h B_1 F and A_2 Y = h B_2 F, which are blended with the weight
 * inv(theta), theta = M - h gamma J: the first counts for slow components, the second for stiff ones. The
 * matrix of Newton's method for the blend is replaced by theta itself, so that one iteration is
 *
 *     Z := inv(theta) (M (A_1 - A_2) Y - h (B_1 - B_2) F)
 *     Z := inv(theta) (M (Z + A_2 Y) - h B_2 F),   Y := Y - Z
 *
 * with one real factorization of size n per block. All is divided by h gamma here, so that the matrix is
 * lambda M - J, lambda = 1/(h gamma). The error comes from the k-th difference psi of h f over the block,
 * filtered by inv(theta) once (E1: the slow components) and again (E2: the stiff ones); Q says that E2 rules.
 *
 * Sources: [BM05] (methods, iteration) and the program BiMD of [TESTSET] (constants and strategy, marked
 * [BIMD]). Where we differ, unless `classic` is set:
 *   - an iteration that cannot reach its limit is given up at once;
 *   - the order falls where the lower one is cheaper, also if its h is smaller, and then waits longer;
 *   - a constant Jacobian of a DAE is made once, and its factors are kept as those of an ODE;
 *   - after a discontinuity h goes on from the last one;
 *   - increments below the tolerance that jump about a kink of f end the iteration;
 *   - no number of failures ends the run, only h.
 * h0, h_min and fixed_step mean the sub-step h, h_max the block. */
#include "method/method.h"

#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/bimd/kernels.h"
#include "method/block.h"
#include "method/failure.h"
#include "method/refine.h"
#include "method/setup.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { LEVELS = 5 }; /* p = 4, 6, 8, 10, 12 */
static const struct formula *const formulas[LEVELS] = {&order4, &order6, &order8, &order10, &order12};

/* [BIMD] for each order. */
static const int most_iterations[LEVELS] = {10, 12, 14, 16, 18};
static const double jac_change[LEVELS] = {2e-2, 1e-2, 1e-3, 2e-4, 3e-5}; /* h dJ tolerated, slow regime, */
static const double jac_stiff[LEVELS] = {5e-2, 4e-2, 3e-2, 2e-2, 1e-2};  /* and dJ/|J| in the stiff one */
static const double jac_rho[LEVELS] = {5e-3, 4e-3, 3e-3, 2e-3, 1e-3};    /* below it J is kept */
static const double lu_high[LEVELS] = {1.10, 1.09, 1.08, 1.07, 1.06};    /* h/h_LU between which */
static const double lu_low[LEVELS] = {0.90, 0.91, 0.92, 0.93, 0.94};     /* the factors may be kept */
static const double lu_fit[LEVELS][2] = {
    {-1.4487, 2.3593}, {-1.4983, 3.1163}, {-1.4662, 3.5197}, {-1.429, 3.7538}, {-1.3964, 3.9104}};
static const double stiff_share[LEVELS] = {7, 6, 5, 4, 0}; /* of E2 in the error */
static const double index_scale[LEVELS] = {16, 40, 160, 900, 7000};

#define UNIT 1e-16         /* [BIMD] */
#define STOP 0.1           /* [BIMD] stop of the iteration, */
#define STOP_SMALL 0.01    /* where the smallest |y_i| is nearly at rest, */
#define STOP_RESTRICT 0.05 /* and where nothing moves */
#define SMALL_Y 1e-2       /* [BIMD] what that means */
#define SMALL_F 1e-5
#define SMALL_F_ALL 1e-2
#define RHO_BAD 0.99    /* [BIMD] contractivity that is a failure, */
#define RHO_ONE 1e-3    /* and after one iteration */
#define RHO_MAX 0.5     /* above it the order falls (k = 3; else this to the power k/3) */
#define SAFE 0.05       /* [BIMD] on the error: */
#define SAFE_UP 0.025   /* for a higher order, */
#define SAFE_REJECT 0.1 /* after a rejection */
#define RATIO_LOW 0.12  /* [BIMD] limits of h_new/h */
#define RATIO_HIGH 10.0
#define H_SHARE 8         /* [BIMD] h is at most this part of the interval */
#define WAIT 3            /* [BIMD] blocks at an order before it may rise; */
#define WAIT_MAX 48       /* ours: up to this where a higher order was too dear */
#define STUCK_NEWTON 4    /* ours: after so many failures of the iteration in a row ... */
#define STOP_STUCK 0.5    /* ... increments of this size end it: it jumps about a kink of f */
#define H_FLOOR 1e-40     /* ours: smallest h over the largest, for t = 0 */
#define SINGULAR_MAX 5    /* [BIMD] */
#define STUCK 3           /* [BIMD] DAE: more rejections than this, ... */
#define STUCK_CHANGE 1e-4 /* ... with errors that differ by less: accepted */
#define STUCK_ERR 0.9
#define PROBE_SIZE 5 /* [BIMD] systems above it get the probe */
#define PROBE_STEP 1e-3
#define PROBE_SEED 0.3141592654
#define PROBE_LINEAR 1e-6    /* ours: relative change of the probe of a DAE that counts as none */
#define FIXED_ITERATIONS 300 /* ours: with a fixed step the iteration is to converge if it can, ... */
#define FIXED_FLOOR 1e-6     /* ... at least down to relative increments of this size ... */
#define FIXED_PATIENCE 12    /* ... that have not fallen any more for so many iterations */

typedef struct bimd_options {
    int order_min, order_max, classic;
} bimd_options;

/* What survives a checkpoint; in the arena. */
typedef struct bimd_state {
    double h;              /* sub-step, > 0 */
    double h_past;         /* of the last accepted block, with sign: the polynomial in `past` */
    double h_0, h_00;      /* sub-steps of psi_0 and psi_00 */
    double h_cap;          /* largest h */
    double lambda;         /* of the factors */
    double h_lu, rho_lu;   /* of the block that first used the factors, */
    double h_jac, rho_jac; /* and the Jacobian */
    double norm_jac;       /* of the last probe, or of J */
    double rho, rho_old;   /* contractivity of the last two blocks */
    double err, err_last;  /* of this block, and of its last rejection */
    double e2;             /* |E2| */
    int k_past;            /* degree of the polynomial in `past` */
    int level;             /* p = formulas[level]->p */
    int it, it_old;
    int psi_at;                     /* which of the three is psi; psi_0 and psi_00 follow */
    int stiff, stiff_jac, stiff_lu; /* Q: now, and when J and the factors were made */
    int success;                    /* the block before was accepted (or there is none) */
    int first, last, constant;      /* constant: start values y_0 */
    int moves, restricted;
    int have_jac, jac_here, lu_here, new_jac, new_lu; /* new: not yet used by a block */
    int force_jac, force_lu, changed;                 /* changed: the order since the last block */
    int have_probe, nonlinear;                        /* v_jac is there; DAE: J is not constant */
    int wait;                                         /* blocks at an order before it may rise */
    int blocks;                                       /* accepted at this order */
    int retried, retried_old; /* this block and the last one were rejected before they were accepted */
    int pending;              /* failures not yet worked off */
    int newton_row, error_row, rejections, relaxed, singular;
} bimd_state;

typedef struct bimd {
    dae_ivp *ivp;
    bimd_state *st;
    int n, ld; /* size, and distance of the vectors in the arrays below */
    int level_min, level_max, classic;
    int dae, index; /* M is given; highest index of a variable */
    dae_matrix mass;
    const double *mass_diagonal; /* NULL: identity, or not diagonal */
    int mass_full;               /* M is neither the identity nor diagonal */
    double rtol_min;
    double *y, *Y, *F; /* last accepted point; k+1 vectors each: block values and right-hand sides */
    double *Z, *S;     /* k vectors each: increments, second halves of the right-hand sides */
    double *past;      /* k+1 vectors: backward differences of the last accepted block */
    double *psi;       /* 3 vectors */
    double *J, *x, *z1, *z2, *fx; /* Jacobian, room */
    double *probe, *v, *v_jac;    /* its direction, its values now and at the last Jacobian */
    double *lm, *zero;            /* lambda diag(M); 0 */
    double *base, *weight;        /* 1/(atol + rtol |y|), and with the powers of h for index 2 and 3 */
    dae_shifted *solver;
    const bimd_kernels *kernel[LEVELS];
    double B[LEVELS][K_MAX][K_MAX + 1];
    double rho_max[LEVELS], rho_up[LEVELS];
    dae_refine refine; /* ODEs only */
} bimd;

/* ---- Life ---------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    bimd *b = self;
    if (!b) return;
    dae_shifted_destroy(b->solver);
    free(b);
}

static void prepare_tables(bimd *b)
{
    double up = 0.01 * fabs(log10(fmin(b->rtol_min, 0.1)));
    for (int level = 0; level < LEVELS; level++) {
        const struct formula *m = formulas[level];
        for (int i = 0; i < m->k; i++) {
            for (int j = 0; j <= m->k; j++) b->B[level][i][j] = m->B[i][j] / m->denominator[i];
        }
        b->kernel[level] = dae_bimd_kernels(level);
        b->rho_max[level] = pow(RHO_MAX, m->k / 3.0);
        b->rho_up[level] = pow(up, m->k / 3.0);
    }
}

/* [BIMD] the direction of the probe: a logistic map, in (1/2, 1]. */
static void set_probe(bimd *b)
{
    double x = PROBE_SEED, largest = 0;
    for (int i = 0; i < b->n; i++) {
        x = 4 * x * (1 - x);
        b->probe[i] = x < 0.5 ? x + 0.5 : x;
        largest = fmax(largest, b->probe[i]);
    }
    for (int i = 0; i < b->n; i++) b->probe[i] /= largest;
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    const bimd_options *o = option;
    if (o->order_min % 2 || o->order_max % 2 || o->order_min > o->order_max) {
        dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "bimd: order_min = %d and order_max = %d must be 4, 6, 8, 10 or 12, the first not the larger",
            o->order_min, o->order_max);
        return NULL;
    }
    bimd *b = calloc(1, sizeof *b);
    if (!b) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for bimd");
        return NULL;
    }
    int n = ivp->n;
    b->ivp = ivp;
    b->n = n;
    b->ld = (n + 7) / 8 * 8;
    b->level_min = (o->order_min - 4) / 2;
    b->level_max = (o->order_max - 4) / 2;
    b->classic = o->classic;
    b->mass = dae_ivp_mass(ivp);
    b->dae = b->mass.n > 0;
    b->index = 1;
    for (int i = 0; ivp->index && i < n; i++) b->index = ivp->index[i] > b->index ? ivp->index[i] : b->index;
    if (b->mass.n && b->mass.pattern.storage == DAE_DIAGONAL) b->mass_diagonal = b->mass.a;
    b->mass_full = b->mass.n && !b->mass_diagonal;
    b->rtol_min = dae_setup_digits(ivp);
    prepare_tables(b);
    size_t ld = (size_t)b->ld, k = (size_t)formulas[b->level_max]->k;
    dae_arena *a = ivp->arena;
    b->st = dae_arena_take(a, 1, sizeof *b->st);
    double *block = dae_arena_reals(a, ld * (3 * (k + 1) + 2 * k + 3 + 12));
    if (!b->dae) dae_refine_create(&b->refine, ivp, formulas[b->level_max]->p);
    b->J = dae_arena_reals(a, (size_t)dae_pattern_count(&ivp->jacobian, n));
    if (dae_arena_failed(a)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for bimd with %d equations", n);
        destroy(b);
        return NULL;
    }
    double **vector[] = {&b->y, &b->x,     &b->z1, &b->z2,   &b->fx,   &b->probe,
                         &b->v, &b->v_jac, &b->lm, &b->zero, &b->base, &b->weight};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++, block += ld) *vector[i] = block;
    double **rows[] = {&b->Y, &b->F, &b->past};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++, block += ld * (k + 1)) *rows[i] = block;
    b->Z = block;
    b->S = block + ld * k;
    b->psi = block + 2 * ld * k;
    set_probe(b);
    b->solver = dae_setup_solver(ivp, &b->mass, ivp->sys->structure.second_order, err);
    if (!b->solver) {
        destroy(b);
        return NULL;
    }
    ivp->y = b->y;
    return b;
}

/* h for the present order, limited by h_max and by the wall ahead; marks the last block. */
static void fit(bimd *b)
{
    bimd_state *st = b->st;
    const dae_options *opt = b->ivp->opt;
    double room = fabs(b->ivp->t_stop - b->ivp->t);
    int k = formulas[st->level]->k;
    if (opt->fixed_step <= 0) {
        st->h = fmin(st->h, st->h_cap);
        if (opt->h_max > 0) st->h = fmin(st->h, opt->h_max / k);
    }
    st->last = st->h * k >= room * (1 - 1e-10);
    if (st->last) st->h = room / k;
    else if (b->dae && opt->fixed_step <= 0 && 2 * st->h * k > room) st->h = room / (2 * k); /* [BIMD] */
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    bimd *b = self;
    dae_ivp *ivp = b->ivp;
    bimd_state *st = b->st;
    double room = fabs(ivp->t_stop - t);
    int k_old = formulas[st->level]->k;
    double h_old = ivp->stats->accepted > 0 ? st->h_0 : 0; /* a restart: the last sub-step */
    *st = (bimd_state){.level = b->level_min,
                       .first = 1,
                       .success = 1,
                       .constant = 1,
                       .force_jac = 1,
                       .force_lu = 1,
                       .h_lu = 1,
                       .wait = WAIT,
                       .err_last = -1};
    dae_copy(b->n, y, b->y);
    dae_status got = dae_setup_rates(ivp, t, b->y, yp, b->F);
    if (got) return got;
    if (h > 0 && h != ivp->opt->h0) h /= k_old; /* the driver goes on with the length of the last block */
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    if (!(h > 0)) { /* ours: changes y by half its tolerance, 1 % of the interval at most */
        double v = dae_setup_speed(ivp, b->y, yp);
        h = fmin(0.01 * room, v > 0 ? 0.5 / v : 0.01 * room);
        if (!(h > 0)) h = 1e-6 * room;
    }
    /* Ours: a tiny first step would follow fast unstable modes that a long one does not see (tba). */
    if (!b->classic && h_old > 0 && ivp->opt->fixed_step <= 0) h = fmax(h, h_old);
    st->h_cap = room > 1000 * DBL_EPSILON * fabs(t) ? room / H_SHARE : room; /* of rounding size: one block */
    st->h = fmax(h, 20 * DBL_EPSILON * fabs(t));
    ivp->t = t;
    fit(b);
    ivp->h_next = ivp->direction * st->h * formulas[st->level]->k;
    ivp->order = formulas[st->level]->p;
    return DAE_OK;
}

/* ---- Start values --------------------------------------------------------------------------------- */

static double block_time(const bimd *b, int i)
{
    const bimd_state *st = b->st;
    if (st->last && i == formulas[st->level]->k) return b->ivp->t_stop;
    return b->ivp->t + b->ivp->direction * st->h * i;
}

/* Y_i, i = 0 .. k: the start of the iteration. */
static void predict(bimd *b)
{
    bimd_state *st = b->st;
    int n = b->n, ld = b->ld, k = formulas[st->level]->k, degree = st->k_past;
    dae_copy(n, b->y, b->Y);
    if (st->constant) {
        for (int i = 1; i <= k; i++) dae_copy(n, b->y, b->Y + i * ld);
        return;
    }
    double ratio = b->ivp->direction * st->h / st->h_past;
    for (int i = 1; i <= k; i++) {
        double c[K_MAX + 1], *restrict yi = b->Y + i * ld;
        dae_block_weights(i * ratio, degree, c);
        dae_copy(n, b->past, yi);
        for (int j = 1; j <= degree; j++) dae_axpy(n, c[j], b->past + j * ld, yi);
    }
}

/* ---- Matrices ------------------------------------------------------------------------------------- */

/* v: the difference quotient of f along the probe, at the last point, and how much it differs from the one at
 * the last Jacobian (< 0: there is none). > 0: cannot be evaluated. */
static int take_probe(bimd *b, double *change, double *norm)
{
    int n = b->n;
    double sigma = PROBE_STEP * (1 + dae_largest(n, b->y));
    for (int i = 0; i < n; i++) b->x[i] = b->y[i] + sigma * b->probe[i];
    *change = -1;
    int bad = dae_ivp_f(b->ivp, b->ivp->t, b->x, b->v);
    if (bad) return bad;
    for (int i = 0; i < n; i++) b->v[i] = (b->v[i] - b->F[i]) / sigma;
    *norm = dae_largest(n, b->v);
    if (!b->st->have_probe) return 0;
    *change = 0;
    for (int i = 0; i < n; i++) *change = fmax(*change, fabs(b->v[i] - b->v_jac[i]));
    return 0;
}

/* After an accepted block, ODE: whether a new Jacobian is needed. usable: v and v_jac are there. */
static int wants_jacobian(const bimd *b, int usable, double change)
{
    const bimd_state *st = b->st;
    int level = st->level;
    if (st->force_jac) return 1;
    if (usable && change <= 100 * UNIT * st->norm_jac) return 0; /* linear */
    if (st->changed || st->constant) return 1;
    if (st->rho < jac_rho[level] || st->it < 3) return 0;
    if (!usable) return 1;
    if (st->rho >= 0.05 && st->it >= 4) return 1;
    if (st->stiff) return change > jac_stiff[level] * st->norm_jac;
    return st->stiff_jac || st->rho_jac >= 1 ||
           st->h_jac * change > jac_change[level] * st->rho_jac / formulas[level]->rho_tilde;
}

/* [BIMD] Largest row sum of |J|, over n. */
static double mean_norm(const bimd *b)
{
    dae_matrix J = {b->n, b->ivp->jacobian, b->J};
    double m = 0;
    for (int i = 0; i < b->n; i++) {
        double s = 0;
        for (int j = 0; j < b->n; j++) s += fabs(dae_matrix_get(&J, i, j));
        m = fmax(m, s);
    }
    return m / b->n;
}

static dae_status jacobian(bimd *b)
{
    bimd_state *st = b->st;
    int bad = dae_ivp_jacobian(b->ivp, b->ivp->t, b->y, b->F, b->J);
    if (bad < 0) return dae_says_stopped(b->ivp, b->ivp->t, "the Jacobian");
    if (bad > 0 && !st->have_jac) {
        return dae_ivp_fail(b->ivp, DAE_ERR_UNDEFINED, "t = %.10g: the Jacobian cannot be evaluated",
                            b->ivp->t);
    }
    st->have_jac = st->jac_here = st->new_jac = 1;
    return DAE_OK;
}

/* A new Jacobian where it is wanted. [BIMD] makes one for each block of a DAE; we see if it is constant. */
static dae_status renew_jacobian(bimd *b)
{
    bimd_state *st = b->st;
    int fixed = b->ivp->opt->fixed_step > 0, want = st->success || !st->jac_here, bad = 0;
    int probes = !fixed && (b->dae ? !b->classic && !st->nonlinear : b->n > PROBE_SIZE);
    double change = -1, norm = st->norm_jac;
    if (probes && st->success) {
        bad = take_probe(b, &change, &norm);
        if (bad < 0) return dae_says_stopped(b->ivp, b->ivp->t, "the right-hand side");
        if (bad) st->have_probe = 0;
        if (b->dae) {
            st->nonlinear = bad || change > PROBE_LINEAR * norm;
            want = change < 0 || st->nonlinear;
        }
    }
    if (!b->dae && !fixed && st->success) want = wants_jacobian(b, change >= 0, change);
    st->norm_jac = norm;
    if (!want) return DAE_OK;
    dae_status s = jacobian(b);
    if (s) return s;
    if (probes && !bad) {
        dae_copy(b->n, b->v, b->v_jac);
        st->have_probe = 1;
    } else if (!b->dae && b->n <= PROBE_SIZE) {
        st->norm_jac = mean_norm(b);
    }
    return DAE_OK;
}

/* The factors were made with h_LU: how far h may fall before new ones pay. */
static double lowest_ratio(const bimd *b)
{
    const bimd_state *st = b->st;
    const struct formula *m = formulas[st->level];
    double h_prev = fabs(st->h_past), c1 = lu_fit[st->level][0], c2 = lu_fit[st->level][1];
    double it = st->it * log(st->rho) / log(st->rho * st->h / h_prev);
    double al = b->n / (6 * m->k * it) + 1;
    double c3 = m->rho_tilde / (m->gamma * st->rho_lu) * pow(lu_low[st->level] * st->rho_lu, 1 / al);
    double root = c1 * c1 - c2 + c3 * c3;
    return root > 0 ? -(c1 + sqrt(root)) : 1;
}

static int wants_factors(const bimd *b)
{
    const bimd_state *st = b->st;
    int level = st->level;
    if ((b->dae && (b->classic || st->nonlinear)) || st->new_jac || st->changed || !st->success ||
        st->force_lu || b->n < 2 * formulas[level]->k)
        return 1;
    if (st->rho > 0.05 && st->it >= 4) return 1;
    double x = st->h / st->h_lu;
    if (st->stiff) return fabs(x - 1) > jac_stiff[level];
    if (x > lu_high[level] || x < lu_low[level] || st->stiff_lu || st->rho_lu >= 1) return 1;
    return x < 1 && st->it > 1 && x < lowest_ratio(b);
}

/* Factors lambda M - J; > 0: singular. */
static int factor(bimd *b)
{
    bimd_state *st = b->st;
    int bad;
    st->lambda = 1 / (b->ivp->direction * st->h * formulas[st->level]->gamma);
    DAE_LINALG(b->ivp, bad = dae_shifted_factor(b->solver, st->lambda, 0, b->J));
    if (bad) return bad;
    b->ivp->stats->lu++;
    for (int i = 0; i < b->n; i++)
        b->lm[i] = b->mass_diagonal ? st->lambda * b->mass_diagonal[i] : st->lambda;
    st->h_lu = st->h;
    st->new_lu = 1;
    return 0;
}

static void set_base_weights(bimd *b)
{
    for (int i = 0; i < b->n; i++) {
        double w = b->ivp->atol[i] + b->ivp->rtol[i] * fabs(b->y[i]);
        b->base[i] = 1 / (w > 0 ? w : DBL_MIN);
    }
}

/* [BIMD] The error of index-2 variables counts times h, of index-3 variables times h^2, limited. */
static void set_weights(bimd *b)
{
    const int *index = b->ivp->index;
    if (b->index < 2 || b->ivp->opt->fixed_step > 0) { /* order studies want all variables converged */
        dae_copy(b->n, b->base, b->weight);
        return;
    }
    double h = b->st->h, cs = index_scale[b->st->level], c = b->rtol_min / (100 * UNIT);
    double power[4] = {1, 1, fmin(1, fmin(1, c / cs) * h), fmin(1, fmin(1, c / (cs * cs)) * h * h)};
    for (int i = 0; i < b->n; i++) b->weight[i] = b->base[i] * power[index[i]];
}

/* ---- The iteration -------------------------------------------------------------------------------- */

static void solve(bimd *b, double *x)
{
    DAE_LINALG(b->ivp, dae_shifted_solve(b->solver, x));
    b->ivp->stats->solves++;
}

/* x := lambda M x, M neither the identity nor diagonal */
static void times_mass(bimd *b, double *x)
{
    for (int i = 0; i < b->n; i++) b->fx[i] = b->st->lambda * x[i];
    dae_matrix_multiply(&b->mass, b->n, b->fx, x);
}

typedef enum outcome { CONVERGED, DIVERGED, UNDEFINED, STOPPED } outcome;

/* F_i, i = 1 .. k */
static int evaluate(bimd *b)
{
    double t[K_MAX];
    int k = formulas[b->st->level]->k;
    for (int i = 0; i < k; i++) t[i] = block_time(b, i + 1);
    return dae_ivp_f_stages(b->ivp, k, b->ld, t, b->Y + b->ld, b->F + b->ld);
}

/* 1 if a right-hand side is not finite: counted and named as the driver does it. */
static int lost_values(bimd *b)
{
    for (int r = 1; r <= formulas[b->st->level]->k; r++) {
        for (int i = 0; i < b->n; i++) {
            if (isfinite(b->F[r * b->ld + i])) continue;
            b->ivp->stats->undefined++;
            b->ivp->bad_component = i;
            return 1;
        }
    }
    return 0;
}

/* The right-hand sides where M is full: its products are added to what the kernel leaves out. */
static void add_mass_terms(bimd *b)
{
    const struct formula *m = formulas[b->st->level];
    int n = b->n, ld = b->ld;
    for (int r = 0; r < m->k; r++) {
        dae_zero(n, b->z1);
        for (int j = 0; j < m->k; j++) {
            for (int i = 0; i < n; i++) b->z1[i] += m->G[r][j] * (b->Y[(j + 1) * ld + i] - b->Y[i]);
        }
        for (int i = 0; i < n; i++) b->z2[i] = b->Y[(r + 1) * ld + i] - b->Y[i] - b->z1[i];
        times_mass(b, b->z1);
        times_mass(b, b->z2);
        dae_axpy(n, 1, b->z1, b->S + r * ld);
        dae_axpy(n, 1, b->z2, b->Z + r * ld);
    }
}

/* One iteration from Y, F; *norm: the size of the increment. */
static outcome one_iteration(bimd *b, double *norm)
{
    bimd_state *st = b->st;
    const struct formula *m = formulas[st->level];
    const bimd_kernels *kernel = b->kernel[st->level];
    int n = b->n, ld = b->ld;
    double q = b->ivp->direction * st->h * st->lambda;
    kernel->right_sides(n, ld, m, (const double(*)[K_MAX + 1]) b->B[st->level], q,
                        b->mass_full ? b->zero : b->lm, b->Y, b->F, b->Z, b->S);
    if (b->mass_full) add_mass_terms(b);
    for (int r = 0; r < m->k; r++) solve(b, b->Z + r * ld);
    if (b->mass_full) {
        for (int r = 0; r < m->k; r++) {
            times_mass(b, b->Z + r * ld);
            dae_axpy(n, 1, b->S + r * ld, b->Z + r * ld);
        }
    } else {
        kernel->second(n, ld, b->lm, b->S, b->Z);
    }
    for (int r = 0; r < m->k; r++) solve(b, b->Z + r * ld);
    b->ivp->stats->newton++;
    double square = kernel->update(n, ld, b->weight, b->Z, b->Y);
    *norm = sqrt(square / n);
    return square < INFINITY ? CONVERGED : DIVERGED;
}

/* [BIMD] Where the iteration may stop. */
static double stop_at(const bimd *b)
{
    const bimd_state *st = b->st;
    int smallest = -1;
    double stop = fmax(STOP, UNIT / b->rtol_min), all = 0, least = 0;
    for (int i = 0; i < b->n && !(b->dae && st->first); i++) {
        if (b->dae && b->ivp->index && b->ivp->index[i] > 1) continue;
        double f = !b->dae ? b->F[i] : b->past[b->ld + i] / st->h_past;
        f = fabs(f) * b->base[i] * b->ivp->atol[i];
        all = fmax(all, f);
        if (smallest >= 0 && fabs(b->y[i]) >= fabs(b->y[smallest])) continue;
        smallest = i;
        least = f;
    }
    if (smallest >= 0 && fabs(b->y[smallest]) < SMALL_Y && least < SMALL_F && all < SMALL_F_ALL)
        stop = STOP_SMALL;
    if (st->restricted) stop = fmin(stop, STOP_RESTRICT);
    return !b->classic && st->newton_row >= STUCK_NEWTON ? fmax(stop, STOP_STUCK) : stop;
}

/* Ours: neither the last contractivity nor the mean leads to the limit in what is left of the iterations. */
static int hopeless(double norm, double rho, double q, double stop, int left)
{
    return norm * pow(fmin(rho, q), left) > stop;
}

static outcome iterate(bimd *b)
{
    bimd_state *st = b->st;
    int fixed = b->ivp->opt->fixed_step > 0, most = fixed ? FIXED_ITERATIONS : most_iterations[st->level];
    int least = !b->dae ? 0 : st->relaxed ? 1 : b->index;
    double stop = stop_at(b), norm_old = 1, rho = 0, norm_least = INFINITY;
    int idle = 0; /* iterations since the smallest increment */
    for (int it = 1;; it++) {
        int bad = evaluate(b);
        if (bad) return bad < 0 ? STOPPED : UNDEFINED;
        double norm;
        st->it = it;
        if (one_iteration(b, &norm) == DIVERGED) {
            st->rho = INFINITY;
            return lost_values(b) ? UNDEFINED : DIVERGED;
        }
        double q = norm_old > 0 ? norm / norm_old : 0;
        rho = it > 2 ? sqrt(q * rho) : q;
        st->rho = rho;
        dae_log(b->ivp->opt, DAE_LOG_ITER, "it=%d norm=%.3g rho=%.3g", it, norm, rho);
        idle = norm < norm_least ? 0 : idle + 1;
        norm_least = fmin(norm_least, norm);
        int done =
            norm <= stop || (fixed && idle >= FIXED_PATIENCE && norm_least * b->rtol_min < FIXED_FLOOR);
        norm_old = norm;
        if (it < least) continue;
        if (done) break;
        if (it > most) return DIVERGED;
        if (fixed || it <= b->index + 1) continue;
        if (rho > RHO_BAD || (!b->classic && hopeless(norm, rho, q, stop, most + 1 - it))) return DIVERGED;
    }
    int bad = evaluate(b);
    return !bad ? CONVERGED : bad < 0 ? STOPPED : UNDEFINED;
}

/* ---- Errors --------------------------------------------------------------------------------------- */

static double *psi_of(const bimd *b, int back)
{
    return b->psi + (b->st->psi_at + back) % 3 * b->ld;
}

/* x := inv(theta) x = inv(lambda M - J) lambda x */
static void filter(bimd *b, double *x)
{
    for (int i = 0; i < b->n; i++) x[i] *= b->st->lambda;
    solve(b, x);
}

/* out := inv(theta) (c psi - M z) */
static void filter_rest(bimd *b, double c, const double *psi, const double *z, double *out)
{
    int n = b->n;
    double l = b->st->lambda * c;
    if (b->mass_full) {
        dae_copy(n, z, out);
        times_mass(b, out);
        for (int i = 0; i < n; i++) out[i] = l * psi[i] - out[i];
    } else {
        for (int i = 0; i < n; i++) out[i] = l * psi[i] - b->lm[i] * z[i];
    }
    solve(b, out);
}

/* |c_index x| */
static double norm_of(const bimd *b, double c1, double c2, double c3, const double *x)
{
    double sum = 0, c[4] = {c1, c1, c2, c3};
    const int *index = b->ivp->index;
    for (int i = 0; i < b->n; i++) {
        double v = x[i] * b->weight[i] * (index ? c[index[i]] : c1);
        sum += v * v;
    }
    return sum < INFINITY ? sqrt(sum / b->n) : INFINITY;
}

/* err = max(|E1|, |E2|), e2, Q */
static void estimate(bimd *b)
{
    bimd_state *st = b->st;
    const struct formula *m = formulas[st->level];
    double *psi = psi_of(b, 0), g = m->gamma, v2 = m->v2 * g, v3 = m->v3 * g * g;
    b->kernel[st->level]->difference(b->n, b->ld, m->w, b->ivp->direction * st->h, b->F, psi);
    dae_copy(b->n, psi, b->z1);
    filter(b, b->z1);
    if (st->level == 0) {
        filter_rest(b, 1, psi, b->z1, b->z2);
    } else {
        filter_rest(b, 2, psi, b->z1, b->x);
        filter_rest(b, 1, psi, b->x, b->z2);
    }
    double e1 = norm_of(b, m->v1, v2, v3, b->z1);
    st->e2 = norm_of(b, v2, v2, v3 / (st->level == 0 ? 2 : 3), b->z2);
    st->err = fmax(e1, st->e2);
    st->stiff = st->e2 >= st->err && st->err > 0;
}

/* The error of the next lower order, from its difference over the first points. */
static double estimate_down(bimd *b)
{
    const bimd_state *st = b->st;
    const struct formula *m = formulas[st->level], *low = formulas[st->level - 1];
    double g = m->gamma, v2 = low->v2 * g, v3 = low->v3 * g * g;
    b->kernel[st->level - 1]->difference(b->n, b->ld, low->w, b->ivp->direction * st->h, b->F, b->x);
    filter(b, b->x);
    return norm_of(b, st->stiff ? v2 : low->v1, v2, v3, b->x);
}

/* The error of the next higher order, from psi of two or three blocks. */
static double estimate_up(bimd *b)
{
    const bimd_state *st = b->st;
    const struct formula *m = formulas[st->level], *high = formulas[st->level + 1];
    const double *psi = psi_of(b, 0), *psi_0 = psi_of(b, 1), *psi_00 = psi_of(b, 2);
    double h = st->h, r0 = pow(h / st->h_0, m->k + 1), g = m->gamma, c, c0, c00 = 0;
    if (st->level == 0) {
        c = 2.0 / m->k * h / (h + st->h_0);
        c0 = -c * r0;
    } else {
        double a0 = st->h_0 + st->h_00, a2 = h + st->h_0, a1 = a0 + a2;
        double s = 8 * h * h / (m->k * m->k * a0 * a1 * a2);
        c = s * a0;
        c0 = -s * a1 * r0;
        c00 = s * a2 * pow(h / st->h_00, m->k + 1);
    }
    for (int i = 0; i < b->n; i++) b->x[i] = c * psi[i] + c0 * psi_0[i] + (c00 != 0 ? c00 * psi_00[i] : 0);
    filter(b, b->x);
    return norm_of(b, high->v2 * g, high->v2 * g, high->v3 * g * g, b->x);
}

/* ---- After an attempt ------------------------------------------------------------------------------ */

static void set_level(bimd *b, int level)
{
    bimd_state *st = b->st;
    if (level == st->level) return;
    st->level = level;
    st->changed = 1;
    st->blocks = 0;
    st->retried = st->retried_old = 0;
    st->rho_old = 0;
    st->error_row = 0;
}

static void retry(bimd *b, double h)
{
    bimd_state *st = b->st;
    st->h = h;
    st->success = 0;
    st->pending = st->pending + 1 > 2 ? st->pending + 1 : 2;
    fit(b);
}

static void diverged(bimd *b, outcome o)
{
    bimd_state *st = b->st;
    b->ivp->stats->newton_failures++;
    st->newton_row++;
    st->error_row = 0;
    int slow = o == DIVERGED && (st->it > most_iterations[st->level] || !b->classic) && st->rho < RHO_BAD;
    if (st->newton_row > 1 || !slow) st->constant = 1;
    st->relaxed = st->nonlinear = 1;
    set_level(b, st->level > b->level_min ? st->level - 1 : st->level);
    retry(b, 0.5 * st->h);
}

static void reject(bimd *b)
{
    bimd_state *st = b->st;
    const struct formula *m = formulas[st->level];
    double low = RATIO_LOW, ratio = pow(SAFE_REJECT / st->err, 1.0 / (m->k + 1));
    b->ivp->stats->rejected++;
    st->err_last = st->err;
    st->rejections++;
    st->newton_row = 0;
    int again = st->error_row++ > 0;
    st->retried = 1;
    if (again && st->level > b->level_min) {
        low *= 0.5;
        set_level(b, st->level - 1);
    }
    retry(b, st->h * fmax(low, ratio));
}

/* [BIMD] Cost of a block per unit of time, relative: new order over the present one. */
static double cost_ratio(const bimd *b, double h_opt, double h_up, double nu, double nu_up)
{
    const bimd_state *st = b->st;
    double n = b->n, C = 2 * n * n, D = 2 * n * n * n / 3, k = formulas[st->level]->k,
           k_up = formulas[st->level + 1]->k;
    const dae_pattern *p = &b->ivp->jacobian;
    if (p->storage == DAE_BANDED) {
        C = 2 * n * (p->lower + p->upper);
        D = 2 * n * p->lower * p->upper;
    }
    return h_opt / h_up * (k / k_up) * (C * (2 * k_up * nu_up + 3) + D) /
           (C * (2 * k * nu + (st->level ? 3 : 2)) + D);
}

/* Iterations at a contractivity rho q, from it at rho; at least the index; INFINITY: none would do. */
static double iterations_at(const bimd *b, double q)
{
    const bimd_state *st = b->st;
    double l = log(st->rho * q);
    return l < 0 ? fmax(b->index, st->it * log(st->rho) / l) : INFINITY;
}

static double step_for(const bimd *b, double safe, double err, int k)
{
    return b->st->h * pow(safe / fmax(err, DBL_MIN), 1.0 / (k + 1));
}

static int near(double x, double low, double high)
{
    return x > low && x < high;
}

/* [BIMD] Whether f depends on t so much that a steady contractivity does not mean much. One evaluation. */
static int depends_on_time(bimd *b)
{
    const double *Y = b->Y + formulas[b->st->level]->k * b->ld, *F = b->F + formulas[b->st->level]->k * b->ld;
    double t = block_time(b, formulas[b->st->level]->k), dt = 1e-5 * t, change = 0;
    if (!(fabs(dt) > 0) || b->ivp->direction * (b->ivp->t_stop - t - dt) < 0) return 0;
    if (dae_ivp_f(b->ivp, t + dt, Y, b->x)) return 0;
    for (int i = 0; i < b->n; i++) change = fmax(change, fabs(b->x[i] - F[i]));
    return b->st->norm_jac * dae_largest(b->n, F) < 2 * change / fabs(dt);
}

/* What a higher order would do: its h, and its cost per unit of time relative to the present one. */
typedef struct offer {
    double h, cost;
} offer;

/* [BIMD] Where f is a quadrature. */
static offer offer_quadrature(bimd *b, double h_opt)
{
    double h = step_for(b, SAFE_UP, estimate_up(b), formulas[b->st->level + 1]->k);
    return (offer){h, cost_ratio(b, h_opt, h, b->st->it, b->st->it)};
}

/* [BIMD] Where the slow components rule: E2 has the order of the error of the higher formula. */
static offer offer_slow(const bimd *b, double h_opt)
{
    const bimd_state *st = b->st;
    const struct formula *m = formulas[st->level], *up = formulas[st->level + 1];
    double h = step_for(b, SAFE_UP, st->e2, up->k);
    double nu = iterations_at(b, h_opt / st->h),
           nu_up = iterations_at(b, up->rho_tilde / m->rho_tilde * h / st->h);
    return (offer){h, cost_ratio(b, h_opt, h, nu, nu_up)};
}

/* [BIMD] Where stiff components rule, or order reduction makes E2 as large as E1. *h_opt becomes the h for
 * the error with the constant of the stiff components. cost = INFINITY: not now. */
static offer offer_stiff(bimd *b, double *h_opt)
{
    bimd_state *st = b->st;
    const struct formula *m = formulas[st->level], *up = formulas[st->level + 1];
    const offer none = {st->h, INFINITY};
    double x = *h_opt / st->h, v2 = m->v2 * m->gamma;
    int few = b->index > 1 && st->it <= b->index + 1 && st->it_old <= b->index + 1;
    if (!st->stiff && !(near(x, 0.95, 1.05) && (few || near(st->rho_old / st->rho, 0.95, 1.05)) &&
                        stiff_share[st->level] * st->e2 >= st->err))
        return none;
    if (!near(st->h / st->h_0, 0.8, 1.25) || (st->level && !near(st->h_0 / st->h_00, 0.8, 1.25))) return none;
    if (st->stiff && !(st->lu_here && st->jac_here)) {
        st->force_jac = st->force_lu = 1;
        return none;
    }
    if (!st->stiff && b->dae) {
        double e1 = norm_of(b, v2, v2, m->v3 * m->gamma * m->gamma, b->z1);
        *h_opt = step_for(b, SAFE, fmax(st->e2, e1), m->k);
    } else if (!st->stiff) {
        *h_opt *= pow(m->v1 / v2, 1.0 / (m->k + 1));
    }
    double h = step_for(b, SAFE_UP, estimate_up(b), up->k);
    double nu = iterations_at(b, 1 / x), nu_up = iterations_at(b, st->h / h * up->rho_inf / m->rho_inf);
    return (offer){h, cost_ratio(b, *h_opt, h, nu, nu_up)};
}

/* [BIMD] Whether the order rises; *h in: h_opt, out: of the next block. t: the end of this one. */
static int raise_order(bimd *b, double t, double *h)
{
    const bimd_state *st = b->st;
    double h_opt = *h, x = h_opt / st->h, room = fabs(b->ivp->t_stop - t);
    if (st->pending || st->level >= b->level_max || st->blocks < st->wait || !near(x, 0.8, 1.25) ||
        formulas[st->level]->k * h_opt >= room)
        return 0;
    offer o = {h_opt, INFINITY};
    if (st->e2 < 10 * UNIT && !st->stiff && st->it < 3 && st->rho < 10 * UNIT && !b->dae) {
        o = offer_quadrature(b, h_opt);
    } else {
        if (!st->stiff &&
            (st->rho < b->rho_up[st->level] || st->it <= b->index ||
             (!b->dae && fabs(x - 1) < 0.1 && fabs(st->rho_old / st->rho - 1) < 0.1 && depends_on_time(b))))
            o = offer_slow(b, h_opt);
        if (!(o.cost < 1)) o = offer_stiff(b, h);
    }
    if (!(o.cost < 1) || formulas[st->level + 1]->k * o.h >= room) return 0;
    *h = o.h;
    return 1;
}

/* Ours: whether the lower order costs less per unit of time. An evaluation of f is taken as a solve. */
static int cheaper_below(const bimd *b, double h_opt, double h_down)
{
    const bimd_state *st = b->st;
    const struct formula *m = formulas[st->level], *low = formulas[st->level - 1];
    double n = b->n, C = 2 * n * n, D = 2 * n * n * n / 3;
    double rho = st->stiff ? st->rho * low->rho_inf / m->rho_inf * st->h / h_down
                           : st->rho * low->rho_tilde / m->rho_tilde * h_down / st->h;
    rho = fmin(rho, low->rho_tilde / (2 * low->gamma)); /* the maximum on the imaginary axis */
    double nu = st->it, nu_low = rho > 0 ? fmax(b->index, nu * log(st->rho) / log(rho)) : nu;
    double now = C * (m->k * (3 * nu + 1) + 3) + D, below = C * (low->k * (3 * nu_low + 1) + 3) + D;
    return below * m->k * h_opt < now * low->k * h_down;
}

/* The order and h of the next block. */
static double plan(bimd *b, double t, int *level)
{
    bimd_state *st = b->st;
    const struct formula *m = formulas[st->level];
    double h_opt = step_for(b, SAFE, st->err, m->k);
    *level = st->level;
    if (st->retried && st->retried_old) {
        if (*level > b->level_min) --*level;
        st->force_jac = 1;
        return 0.5 * fmin(st->h, h_opt);
    }
    if (st->rho > b->rho_max[st->level] && st->level > b->level_min && st->it > b->index + 2) {
        double h_down = step_for(b, SAFE, estimate_down(b), formulas[st->level - 1]->k);
        int keep = st->stiff && b->index == 1 && h_down < h_opt;
        int dear = !b->classic && b->index == 1 && cheaper_below(b, h_opt, h_down);
        if (!keep || dear) {
            if (dear) st->wait = st->wait * 2 < WAIT_MAX ? st->wait * 2 : WAIT_MAX;
            --*level;
            return st->stiff ? h_down : fmin(h_down, h_opt);
        }
    }
    if (raise_order(b, t, &h_opt)) ++*level;
    return h_opt;
}

/* What the block moved, for the next start values. */
static void look_at_motion(bimd *b)
{
    bimd_state *st = b->st;
    const dae_ivp *ivp = b->ivp;
    const double *end = b->Y + formulas[st->level]->k * b->ld;
    int any = 0, index1 = 0;
    for (int i = 0; i < b->n; i++) {
        double y = fabs(b->Y[i]), limit = fmin(0.01, 100 * (y <= 0.1 ? ivp->atol[i] : ivp->digits[i]));
        if (fabs(end[i] - b->Y[i]) < limit * (1 + y)) continue;
        any = 1;
        if (!ivp->index || ivp->index[i] == 1) index1 = 1;
    }
    st->constant = !any;
    st->restricted = !index1;
}

/* Takes the block and plans the next one. */
static void accept(bimd *b)
{
    bimd_state *st = b->st;
    dae_ivp *ivp = b->ivp;
    int fixed = ivp->opt->fixed_step > 0, level = st->level, k = formulas[level]->k, ld = b->ld;
    double h = st->h, h_new = ivp->opt->fixed_step, t_new = block_time(b, k);
    if (st->it < 2) st->rho = RHO_ONE;
    st->blocks++;
    st->force_jac = st->force_lu = 0;
    if (!fixed) {
        h_new = plan(b, t_new, &level);
        if (st->pending > 1) h_new = fmin(h_new, h);
        h_new = fmax(RATIO_LOW * h, fmin(RATIO_HIGH * h, h_new));
    }
    look_at_motion(b);
    b->kernel[st->level]->differences(b->n, ld, b->Y, b->past);
    st->k_past = k;
    st->h_past = ivp->direction * h;
    if (!b->dae) dae_refine_begin(&b->refine, b->y);
    dae_copy(b->n, b->Y + k * ld, b->y);
    dae_copy(b->n, b->F + k * ld, b->F);
    ivp->t_old = ivp->t;
    ivp->t = t_new;
    ivp->order = formulas[st->level]->p;
    ivp->stats->accepted++;
    st->h_00 = st->h_0;
    st->h_0 = h;
    st->psi_at = (st->psi_at + 2) % 3;
    st->rho_old = st->rho;
    st->it_old = st->it;
    st->retried_old = st->retried;
    st->retried = 0;
    if (st->pending) st->pending--;
    st->newton_row = st->error_row = st->rejections = st->singular = st->first = st->relaxed = 0;
    st->jac_here = st->lu_here = 0;
    st->err_last = -1;
    st->success = 1;
    st->changed = 0;
    st->h = h_new;
    set_level(b, level);
    fit(b);
    ivp->h_next = ivp->direction * st->h * formulas[level]->k;
    set_base_weights(b);
}

/* ---- The step -------------------------------------------------------------------------------------- */

/* The first block with a Jacobian or with factors: its h and contractivity are what later ones compare to. */
static void remember(bimd *b)
{
    bimd_state *st = b->st;
    double rho = st->it < 2 ? 1 : st->rho;
    if (st->new_jac) {
        st->h_jac = st->h;
        st->rho_jac = rho;
        st->stiff_jac = st->stiff;
    }
    if (st->new_lu) {
        st->rho_lu = rho;
        st->stiff_lu = st->stiff;
    }
    st->new_jac = st->new_lu = 0;
}

/* [BIMD] 1 if an error above the limit does not fall with h: the values are off their constraints. */
static int off_constraints(bimd *b)
{
    bimd_state *st = b->st;
    return b->dae && st->rejections > STUCK && fabs(st->err - st->err_last) < STUCK_CHANGE;
}

static dae_status step(void *self)
{
    bimd *b = self;
    bimd_state *st = b->st;
    dae_ivp *ivp = b->ivp;
    int fixed = ivp->opt->fixed_step > 0;
    if (st->first) set_base_weights(b);
    for (;;) {
        double least = fmax(fmax(ivp->opt->h_min, 10 * DBL_EPSILON * fabs(ivp->t)), H_FLOOR * st->h_cap);
        if (st->h <= least && !(st->last && st->h > 0 && st->success)) {
            return dae_says_step_fell_in_a_row(ivp, st->h, least, st->pending);
        }
        dae_status r = renew_jacobian(b);
        if (r) return r;
        if (wants_factors(b)) {
            int bad = factor(b);
            if (bad < 0) return dae_says_no_memory_to_factor(ivp, ivp->t);
            if (bad > 0) {
                if (++st->singular > SINGULAR_MAX || fixed) {
                    return dae_ivp_fail(
                        ivp, DAE_ERR_SINGULAR,
                        "t = %.10g: the iteration matrix is singular (row %d of its "
                        "elimination), also with h = %.3g; the index may be above 3, equations "
                        "redundant, or a variable may not occur",
                        ivp->t, bad, st->h);
                }
                retry(b, 0.5 * st->h);
                continue;
            }
            st->lu_here = 1;
        } else {
            st->lu_here = 0;
        }
        ivp->stats->steps++;
        set_weights(b);
        predict(b);
        outcome o = iterate(b);
        if (o == STOPPED) return dae_says_stopped(ivp, ivp->t, "the right-hand side");
        if (o == CONVERGED) {
            if (fixed) {
                accept(b);
                return DAE_OK;
            }
            estimate(b);
            if (!(st->err < INFINITY)) o = lost_values(b) ? UNDEFINED : DIVERGED;
        }
        if (o != CONVERGED) {
            if (fixed) return dae_says_not_converging(ivp, ivp->t, st->h);
            diverged(b, o);
            continue;
        }
        st->newton_row = st->relaxed = 0;
        remember(b);
        dae_log(ivp->opt, DAE_LOG_ITER, "err=%.3g e2=%.3g h=%.6g p=%d it=%d rho=%.3g", st->err, st->e2, st->h,
                formulas[st->level]->p, st->it, st->rho);
        if (st->err >= 1 && off_constraints(b)) st->err = STUCK_ERR;
        if (st->err < 1) {
            accept(b);
            return DAE_OK;
        }
        reject(b);
    }
}

/* ---- Dense output: the polynomial of degree k through the points of the last block ------------------- */

/* The polynomial through the points of the block. */
static void block_polynomial(const bimd *b, double t, double *y, double *yp)
{
    const bimd_state *st = b->st;
    double sigma = (t - b->ivp->t) / st->h_past;
    dae_block_interpolate(b->n, b->ld, st->k_past, b->past, sigma, st->h_past, y, yp);
}

static void guess(void *self, double t, double *y)
{
    block_polynomial(self, t, y, NULL);
}

/* lambda inv(lambda - J) with the factors that the block left. */
static void smooth_out(void *self, double *x)
{
    bimd *b = self;
    solve(b, x);
    for (int i = 0; i < b->n; i++) x[i] *= b->st->lambda;
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    bimd *b = self;
    dae_refine_step s = {.k = b->ivp->order, .y1 = b->y, .guess = guess, .filter = smooth_out, .self = b};
    int fine = !b->dae && b->ivp->opt->fixed_step <= 0;
    if (!fine || !dae_refine_interpolate(&b->refine, &s, t, y, yp)) block_polynomial(b, t, y, yp);
}

/* ---- Checkpoint: the sparse factors ------------------------------------------------------------------ */

static size_t save(const void *self, void *buffer)
{
    return dae_shifted_save(((const bimd *)self)->solver, buffer);
}

static int load(void *self, const void *buffer, size_t size)
{
    return dae_shifted_load(((bimd *)self)->solver, buffer, size);
}

/* ---- Descriptor -------------------------------------------------------------------------------------- */

static const dae_option option_table[] = {
    {"order_min", DAE_OPTION_INT, offsetof(bimd_options, order_min), 4, NULL, 4, 12, NULL, "",
     "lowest order: 4, 6, 8, 10 or 12"},
    {"order_max", DAE_OPTION_INT, offsetof(bimd_options, order_max), 12, NULL, 4, 12, NULL, "",
     "highest order: 4, 6, 8, 10 or 12"},
    {"classic", DAE_OPTION_INT, offsetof(bimd_options, classic), 0, NULL, 0, 1, NULL, "",
     "1: as the published program, weaknesses included"},
    {.name = NULL},
};

const dae_method dae_method_bimd = {
    .info = {.name = "bimd",
             .title = "Blended implicit methods, orders 4, 6, 8, 10, 12",
             .literature =
                 "Brugnano, Magherini: Some linear algebra issues concerning the implementation of blended "
                 "implicit methods, 2005",
             .summary = "stiff ODEs and DAEs of index 1, 2, 3; L-stable up to order 12, one real "
                        "factorization per block",
             .order_min = 4,
             .order_max = 12,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE,
             .max_index = 3,
             .implicit = 1,
             .checkpoint = 1,
             .options = option_table},
    .option_size = sizeof(bimd_options),
    .block = 1,
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
