/* Generalized Adams methods in block form, orders 3, 5, 7, 9, for M y' = f(t,y), index up to 3.
 *
 * One step advances a block of s = 4, 6, 8, 9 equal sub-steps h:
 *
 *     M (y_i - y_(i-1)) = h sum_j B_ij f_j,   i = 1 .. s,   f_j = f(t_0 + j h, y_j)
 *
 * It is solved by a triangular splitting: Newton's matrix A (x) M - h B (x) J, A = bidiag(-1,1), becomes
 * A (x) M - h L (x) J with L lower triangular of constant diagonal ell. One sweep is, for i = 1 .. s in turn,
 *
 *     r_i = M (y_i - y_(i-1)) - h [ sum_j B_ij f_j + sum_(k<i) L_ik (f_k new - f_k) ]
 *     (M - h ell J) d_i = r_i,   y_i -= d_i,   f_i new = f(t_i, y_i)
 *
 * with one real factorization of size n per block. All is divided by h ell here, so that the matrix is
 * lambda M - J, lambda = 1/(h ell). The error is estimated by deferred correction with the formula of order
 * p + 2 on the same points, and in the same way for the orders p + 2 and p - 2, which steers the order.
 *
 * Sources: [IM98] (methods, splitting, error estimates) and the program GAMD of [TESTSET] (constants and
 * strategy, marked [GAMD]). Where we differ, unless `classic` is set:
 *   - "cannot be evaluated" cuts the step everywhere;
 *   - a run of failures keeps h from rising for one block only;
 *   - after the first failure of the iteration the polynomial of the last block predicts once more;
 *   - with index 3 the increments may grow in the first 2 s sweeps; with index 2 and 3 the rest of the
 *     interval is halved rather than ended by a tiny block;
 *   - where the iteration diverges twice at order 7 or 9 the order falls;
 *   - values that are off their constraints, with an error that does not fall with h, are mended;
 *   - after a discontinuity h goes on from the last one, and in DAEs of index 1 order 3 damps what it excites before
 *     higher orders begin (method/damping.h).
 * h0, h_min and fixed_step mean the sub-step h, h_max the block. */
#include "method/method.h"

#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/block.h"
#include "method/damping.h"
#include "method/failure.h"
#include "method/gamd/coefficients.h"
#include "method/setup.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { LEVELS = 4 }; /* p = 3, 5, 7, 9 */
static const struct formula *const formulas[LEVELS] = {&order3, &order5, &order7, &order9};

/* [GAMD] for each order. */
static const int sweeps_max[LEVELS] = {12, 18, 26, 36};
static const double stop_ode[LEVELS] = {1e-3, 5e-2, 1e-1, 1e-1}, stop_dae[LEVELS] = {5e-3, 5e-2, 5e-2, 5e-2};
static const double growth_ode[LEVELS] = {0.9, 0.9, 0.9, 0.9}, growth_dae[LEVELS] = {0.9, 1.5, 20, 20};
static const double growth_index[LEVELS] = {5, 5, 20, 20}; /* ours, index 3: docs/methods/gamd.md */
static const double cost[LEVELS] = {1, 2.4, 4, 7.2};       /* of a block */
static const double index_scale[LEVELS] = {1, 0.1, 0.01, 0.001};

#define STOP_SMALL 1e-2  /* [GAMD] stop of the iteration where the smallest |y_k| ... */
#define SMALL_Y 0.1      /* ... is below this ... */
#define SMALL_F 1e-5     /* ... and its |f_k| below this */
#define THETA_JAC 0.005  /* [GAMD] below it the Jacobian is kept */
#define THETA_START 0.45 /* [GAMD] contractivity of an iteration of one or two sweeps */
#define RATIO_MIN 0.12   /* [GAMD] limits of h/h_new */
#define RATIO_MAX 10.0
#define SAFE_SAME 18.0 /* [GAMD] factors on the errors */
#define SAFE_UP 40.0
#define SAFE_DOWN 20.0
#define SAFE_REJECT 15.0
#define SAFE_DAMPING 2.0 /* ours: behind a jump, for all of them */
#define ACCEPT 0.8       /* [GAMD] err accepted */
#define KEEP_LOW 0.9     /* [GAMD] h ratios between which h is kept with its factors */
#define KEEP_HIGH 1.1
#define SINGULAR_MAX 5      /* [GAMD] */
#define ERROR_FLOOR 1e-15   /* [GAMD] */
#define PREDICT_DROP 2      /* [GAMD] divided differences left out, */
#define PREDICT_DROP_MORE 4 /* and where the new block has fewer points */
#define STUCK 5             /* [GAMD] more rejections of a block than this, ... */
#define STUCK_CHANGE 1e-4   /* ... with errors that differ by less (ours: relatively): accepted */
#define GROWTH_LATE 1.0     /* ours: growth after 2 s sweeps; before, the nilpotent part may have it grow */
/* ours: the error of values off their constraints has to fall at least so much per block */
#define MEND_FALL 0.9
#define TINY_LAST 1.9    /* ours: a rest of less than 1.9 blocks is halved */
#define FIXED_SWEEPS 200 /* ours: with a fixed step the iteration is to converge if it can, ... */
/* ... at least down to relative increments of this size that do not fall any more */
#define FIXED_FLOOR 1e-6

typedef struct gamd_options {
    int order_min, order_max, classic;
} gamd_options;

typedef enum source { FROM_START, FROM_LAST, FROM_REJECTED } source;

/* What survives a checkpoint; in the arena. */
typedef struct gamd_state {
    double h;        /* sub-step, > 0 */
    double h_acc;    /* of the last accepted block */
    double theta;    /* contractivity of the iteration */
    double err_last; /* error of the last rejection, < 0: none */
    double h_first;  /* sub-step of the first rejection of this block */
    double mend;     /* > 0: y is off its constraints by this error, which falls from block to block */
    double h_past, h_failed; /* sub-steps of the polynomials, with sign */
    double lambda;           /* of the factors */
    int s_past, s_failed;    /* their degrees */
    int level;               /* p = formulas[level]->p */
    source predictor;
    int first, last;
    int jac_here, have_jac, need_jac, need_lu;
    int newton_pending, error_pending; /* failures not yet worked off */
    int newton_row, error_row;         /* failures in a row, and */
    int rejections;                    /* rejections, in this block */
    int singular;
    dae_damping damping; /* behind a jump, of sub-steps */
} gamd_state;

typedef struct gamd {
    dae_ivp *ivp;
    gamd_state *st;
    int n, ld; /* size, and distance of the vectors in the arrays below */
    int level_min, level_max, classic;
    int dae, index; /* M is given; highest index of a variable */
    dae_matrix mass;
    const double *mass_diagonal; /* NULL: identity, or not diagonal */
    int mass_full;               /* M is neither the identity nor diagonal */
    double rtol_min;
    double *y, *Y, *F; /* last accepted point; s+1 vectors each: block values and right-hand sides */
    double *G, *dF;    /* s vectors each: sums of B F (error estimates: of D F), changes of F in a sweep */
    double *past,
        *failed; /* s+1 vectors each: backward differences of the last accepted and rejected block */
    double *J, *x, *d, *fx; /* Jacobian, right-hand side and solution, the last solution, room */
    double *lm;             /* lambda diag(M) */
    double *base, *weight;  /* 1/(atol + rtol |y|), and with the powers of h for index 2 and 3 */
    dae_shifted *solver;
    /* All divided by ell. */
    double B[LEVELS][S_MAX][P_MAX], L[LEVELS][S_MAX][S_MAX], D[LEVELS][S_MAX][S_MAX + 1],
        up[LEVELS][S_MAX][3], down[LEVELS][S_MAX][S_MAX + 1];
} gamd;

/* ---- Life ---------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    gamd *g = self;
    if (!g) return;
    dae_shifted_destroy(g->solver);
    free(g);
}

static void scale_coefficients(gamd *g)
{
    for (int level = 0; level < LEVELS; level++) {
        const struct formula *m = formulas[level];
        for (int i = 0; i < m->s; i++) {
            for (int k = 0; k < m->p; k++) g->B[level][i][k] = m->B[i][k] / m->B_denominator / m->ell;
            for (int k = 0; k < i; k++) g->L[level][i][k] = m->L[i][k] / m->ell;
            for (int k = 0; k <= m->s; k++) g->D[level][i][k] = m->D[i][k] / m->D_denominator / m->ell;
            if (level + 1 < LEVELS) { /* up_i times the second difference of E/C about the center */
                double c = m->up[i] / m->up_denominator * m->C_denominator;
                for (int k = 0; k < 3; k++)
                    g->up[level][i][k] = (k == 1 ? 2 : -1) * c / m->C[m->center[i] - 1 + k];
            }
            if (level > 0) {
                const struct formula *low = formulas[level - 1];
                /* The published program turns the sign of the last five rows at order 9. */
                double sign = g->classic && m->p == 9 && i >= 4 ? -1 : 1;
                for (int k = 0; k <= low->s; k++) {
                    g->down[level][i][m->shift[i] + k] =
                        sign * low->D[m->row[i]][k] / low->D_denominator / m->ell;
                }
            }
        }
    }
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    const gamd_options *o = option;
    if (o->order_min % 2 == 0 || o->order_max % 2 == 0 || o->order_min > o->order_max) {
        dae_fail(err, DAE_ERR_INPUT, NAN,
                 "gamd: order_min = %d and order_max = %d must be 3, 5, 7 or 9, the first not the larger",
                 o->order_min, o->order_max);
        return NULL;
    }
    gamd *g = calloc(1, sizeof *g);
    if (!g) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for gamd");
        return NULL;
    }
    int n = ivp->n;
    g->ivp = ivp;
    g->n = n;
    g->ld = (n + 7) / 8 * 8;
    g->level_min = (o->order_min - 3) / 2;
    g->level_max = (o->order_max - 3) / 2;
    g->classic = o->classic;
    g->mass = dae_ivp_mass(ivp);
    g->dae = g->mass.n > 0;
    for (int i = 0; ivp->index && i < n; i++) g->index = ivp->index[i] > g->index ? ivp->index[i] : g->index;
    if (g->mass.n && g->mass.pattern.storage == DAE_DIAGONAL) g->mass_diagonal = g->mass.a;
    g->mass_full = g->mass.n && !g->mass_diagonal;
    g->rtol_min = dae_setup_digits(ivp);
    scale_coefficients(g);
    size_t ld = (size_t)g->ld, s = (size_t)formulas[g->level_max]->s;
    dae_arena *a = ivp->arena;
    g->st = dae_arena_take(a, 1, sizeof *g->st);
    double *block = dae_arena_reals(a, ld * (4 * (s + 1) + 2 * s + 7));
    g->J = dae_arena_reals(a, (size_t)dae_pattern_count(&ivp->jacobian, n));
    if (dae_arena_failed(a)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for gamd with %d equations", n);
        destroy(g);
        return NULL;
    }
    double **vector[] = {&g->y, &g->x, &g->d, &g->fx, &g->lm, &g->base, &g->weight};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++, block += ld) *vector[k] = block;
    double **rows[] = {&g->Y, &g->F, &g->past, &g->failed};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++, block += ld * (s + 1)) *rows[k] = block;
    g->G = block;
    g->dF = block + ld * s;
    g->solver = dae_setup_solver(ivp, &g->mass, ivp->sys->structure.second_order, err);
    if (!g->solver) {
        destroy(g);
        return NULL;
    }
    ivp->y = g->y;
    return g;
}

/* h for the present order, limited by h_max and by the wall ahead; marks the last block. */
static void fit(gamd *g)
{
    gamd_state *st = g->st;
    const dae_options *opt = g->ivp->opt;
    double room = fabs(g->ivp->t_stop - g->ivp->t);
    int s = formulas[st->level]->s;
    if (opt->h_max > 0 && opt->fixed_step <= 0) st->h = fmin(st->h, opt->h_max / s);
    st->last = st->h * s >= room * (1 - 1e-10);
    if (st->last) st->h = room / s;
    /* Ours: a tiny last block would lose the index-3 variables (errors over h^2). */
    else if (!g->classic && g->index > 1 && opt->fixed_step <= 0 && st->h * s * TINY_LAST > room)
        st->h = room / (2 * s);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    gamd *g = self;
    dae_ivp *ivp = g->ivp;
    gamd_state *st = g->st;
    double room = fabs(ivp->t_stop - t);
    int s_old = formulas[st->level]->s;
    double h_old = ivp->stats->accepted > 0 ? st->h_acc : 0; /* a restart: the last sub-step */
    *st = (gamd_state){.level = g->level_min,
                       .first = 1,
                       .need_jac = 1,
                       .need_lu = 1,
                       .err_last = -1,
                       .damping = st->damping};
    dae_damping_begin(&st->damping,
                      h_old > 0 && g->dae && g->index < 2 && !g->classic && !(ivp->opt->fixed_step > 0));
    dae_copy(g->n, y, g->y);
    dae_status got = dae_setup_rates(ivp, t, g->y, yp, g->F);
    if (got) return got;
    if (h > 0 && h != ivp->opt->h0) h /= s_old; /* the driver goes on with the length of the last block */
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    if (!(h >
          0)) { /* ours: a first sub-step that changes y by half its tolerance, 1 % of the interval at most */
        double v = dae_setup_speed(ivp, g->y, yp);
        h = fmin(0.01 * room, v > 0 ? 0.5 / v : 0.01 * room);
        if (!(h > 0)) h = 1e-6 * room;
    }
    /* Ours: a tiny first step would follow fast unstable modes that a long one does not see (tba). */
    if (!g->classic && h_old > 0 && ivp->opt->fixed_step <= 0) h = fmax(h, h_old);
    st->h = fmax(h, 20 * DBL_EPSILON * fabs(t));
    ivp->t = t;
    fit(g);
    st->h_acc = st->h;
    ivp->h_next = ivp->direction * st->h * formulas[st->level]->s;
    ivp->order = formulas[st->level]->p;
    return DAE_OK;
}

/* ---- Start values --------------------------------------------------------------------------------- */

/* Backward differences of the block values: b_k = nabla^k y_s. */
static inline void differences(const gamd *g, const int s, double *b)
{
    int n = g->n, ld = g->ld;
    for (int i = 0; i < n; i++) {
        double v[S_MAX + 1];
        for (int k = 0; k <= s; k++) v[k] = g->Y[k * ld + i];
        for (int k = 0; k <= s; k++) {
            b[k * ld + i] = v[s];
            for (int j = s; j > k; j--) v[j] -= v[j - 1];
        }
    }
}

static void keep_differences(gamd *g, double *b)
{
    switch (formulas[g->st->level]->s) {
    case 4: differences(g, 4, b); break;
    case 6: differences(g, 6, b); break;
    case 8: differences(g, 8, b); break;
    default: differences(g, 9, b); break;
    }
}

static double block_time(const gamd *g, int i)
{
    const gamd_state *st = g->st;
    if (st->last && i == formulas[st->level]->s) return g->ivp->t_stop;
    return g->ivp->t + g->ivp->direction * st->h * i;
}

/* Y_i and F_i, i = 1 .. s: the start of the iteration. > 0: cannot be evaluated, < 0: stop. */
static int predict(gamd *g)
{
    gamd_state *st = g->st;
    int n = g->n, ld = g->ld, s = formulas[st->level]->s;
    source from = st->predictor;
    const double *b = from == FROM_LAST ? g->past : g->failed;
    int s_old = from == FROM_LAST ? st->s_past : st->s_failed;
    double ratio =
        from == FROM_START ? 0 : g->ivp->direction * st->h / (from == FROM_LAST ? st->h_past : st->h_failed);
    int degree = s_old - (s < s_old ? PREDICT_DROP_MORE : PREDICT_DROP);
    dae_copy(n, g->y, g->Y);
    for (int i = 1; i <= s; i++) {
        double *yi = g->Y + i * ld;
        if (from == FROM_START) {
            dae_copy(n, g->y, yi);
        } else {
            double c[S_MAX + 1];
            dae_block_weights(from == FROM_LAST ? i * ratio : i * ratio - s_old, degree, c);
            for (int j = 0; j < n; j++) yi[j] = b[j];
            for (int k = 1; k <= degree; k++) dae_axpy(n, c[k], b + k * ld, yi);
        }
        int bad = dae_ivp_f(g->ivp, block_time(g, i), yi, g->F + i * ld);
        if (bad) return bad;
    }
    return 0;
}

/* ---- Matrices ------------------------------------------------------------------------------------- */

static dae_status jacobian(gamd *g)
{
    gamd_state *st = g->st;
    int bad = dae_ivp_jacobian(g->ivp, g->ivp->t, g->y, g->F, g->J);
    if (bad < 0) return dae_says_stopped(g->ivp, g->ivp->t, "the Jacobian");
    if (bad > 0 && !st->have_jac) {
        return dae_ivp_fail(g->ivp, DAE_ERR_UNDEFINED, "t = %.10g: the Jacobian cannot be evaluated",
                            g->ivp->t);
    }
    st->need_jac = 0;
    st->have_jac = st->jac_here = st->need_lu = 1;
    return DAE_OK;
}

/* Factors lambda M - J; > 0: singular. */
static int factor(gamd *g)
{
    gamd_state *st = g->st;
    int bad;
    st->lambda = 1 / (g->ivp->direction * st->h * formulas[st->level]->ell);
    DAE_LINALG(g->ivp, bad = dae_shifted_factor(g->solver, st->lambda, 0, g->J));
    if (bad) return bad;
    g->ivp->stats->lu++;
    for (int i = 0; i < g->n; i++)
        g->lm[i] = g->mass_diagonal ? st->lambda * g->mass_diagonal[i] : st->lambda;
    st->need_lu = 0;
    return 0;
}

static void set_base_weights(gamd *g)
{
    for (int i = 0; i < g->n; i++) {
        double w = g->ivp->atol[i] + g->ivp->rtol[i] * fabs(g->y[i]);
        g->base[i] = 1 / (w > 0 ? w : DBL_MIN);
    }
}

/* The error of index-2 variables counts times h c_p, of index-3 variables times (h c_p)^2. */
static void set_weights(gamd *g)
{
    const int *index = g->ivp->index;
    if (g->index < 2 || g->ivp->opt->fixed_step > 0) { /* order studies want all variables converged */
        dae_copy(g->n, g->base, g->weight);
        return;
    }
    double q = fmin(1, g->st->h * index_scale[g->st->level]), power[4] = {1, 1, q, q * q};
    for (int i = 0; i < g->n; i++) g->weight[i] = g->base[i] * power[index[i]];
}

/* ---- The iteration -------------------------------------------------------------------------------- */

/* x := lambda M (a - b) - r */
static inline void residual(gamd *g, const double *restrict a, const double *restrict b,
                            const double *restrict r, double *restrict x)
{
    int n = g->n;
    if (!g->mass_full) {
        for (int i = 0; i < n; i++) x[i] = g->lm[i] * (a[i] - b[i]) - r[i];
        return;
    }
    for (int i = 0; i < n; i++) g->fx[i] = g->st->lambda * (a[i] - b[i]);
    dae_matrix_multiply(&g->mass, n, g->fx, x);
    for (int i = 0; i < n; i++) x[i] -= r[i];
}

static void solve(gamd *g, double *x)
{
    DAE_LINALG(g->ivp, dae_shifted_solve(g->solver, x));
    g->ivp->stats->solves++;
}

typedef enum outcome { CONVERGED, DIVERGED, UNDEFINED, STOP } outcome;

/* G_i = sum_k B_ik f_(window_i + k) */
static inline void combine(gamd *g, const int s, const int p)
{
    const struct formula *m = formulas[g->st->level];
    const double(*B)[P_MAX] = (const double(*)[P_MAX])g->B[g->st->level];
    int n = g->n, ld = g->ld;
    for (int i = 0; i < s; i++) {
        const double *restrict f = g->F + m->window[i] * ld;
        double *restrict out = g->G + i * ld;
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < p; k++) sum += B[i][k] * f[k * ld + j];
            out[j] = sum;
        }
    }
}

/* One sweep; *eps: the largest |d_i|. Ends early where it is above limit. */
static inline outcome sweep(gamd *g, const int s, const int p, double limit, double *eps)
{
    const double(*L)[S_MAX] = (const double(*)[S_MAX])g->L[g->st->level];
    int n = g->n, ld = g->ld;
    double largest = 0;
    combine(g, s, p);
    g->ivp->stats->newton++;
    for (int i = 1; i <= s; i++) {
        double *yi = g->Y + i * ld, *restrict r = g->G + (i - 1) * ld;
        for (int k = 0; k < i - 1; k++) {
            const double *restrict dk = g->dF + k * ld;
            double l = L[i - 1][k];
            for (int j = 0; j < n; j++) r[j] += l * dk[j];
        }
        residual(g, yi, yi - ld, r, g->x);
        solve(g, g->x);
        double sum = 0;
        for (int j = 0; j < n; j++) {
            double v = g->x[j] * g->weight[j];
            sum += v * v;
            yi[j] -= g->x[j];
        }
        if (!(sum < INFINITY)) return DIVERGED;
        largest = fmax(largest, sqrt(sum / n));
        *eps = largest;
        if (largest > limit) return DIVERGED;
        int bad = dae_ivp_f(g->ivp, block_time(g, i), yi, g->fx);
        if (bad) return bad < 0 ? STOP : UNDEFINED;
        double *restrict fi = g->F + i * ld, *restrict di = g->dF + (i - 1) * ld;
        for (int j = 0; j < n; j++) {
            di[j] = g->fx[j] - fi[j];
            fi[j] = g->fx[j];
        }
    }
    return CONVERGED;
}

static outcome one_sweep(gamd *g, double limit, double *eps)
{
    switch (formulas[g->st->level]->p) {
    case 3: return sweep(g, 4, 3, limit, eps);
    case 5: return sweep(g, 6, 5, limit, eps);
    case 7: return sweep(g, 8, 7, limit, eps);
    default: return sweep(g, 9, 9, limit, eps);
    }
}

/* Where the iteration may stop. */
static double stop_at(const gamd *g)
{
    int level = g->st->level, smallest = 0;
    double stop = fmax((g->dae ? stop_dae : stop_ode)[level], DBL_EPSILON / g->rtol_min);
    for (int i = 1; i < g->n; i++) {
        if (fabs(g->y[i]) < fabs(g->y[smallest])) smallest = i;
    }
    if (fabs(g->y[smallest]) < SMALL_Y && fabs(g->F[smallest]) < SMALL_F) stop = fmin(stop, STOP_SMALL);
    return stop;
}

/* How much larger an increment may be than the one before it. */
static double growth_of(const gamd *g)
{
    if (g->index == 3 && !g->classic) return growth_index[g->st->level];
    return (g->dae ? growth_dae : growth_ode)[g->st->level];
}

static outcome iterate(gamd *g)
{
    gamd_state *st = g->st;
    int fixed = g->ivp->opt->fixed_step > 0, s = formulas[st->level]->s,
        most = fixed ? FIXED_SWEEPS : sweeps_max[st->level];
    double growth = growth_of(g), stop = stop_at(g);
    double eps = INFINITY, q_old = 0;
    st->theta = THETA_START;
    for (int it = 1;; it++) {
        double eps_old = eps, late = it > 2 * s && !g->classic ? fmin(growth, GROWTH_LATE) : growth;
        outcome o = one_sweep(g, fixed || it == 1 ? INFINITY : late * eps_old, &eps);
        if (o != CONVERGED) {
            st->theta = eps / eps_old;
            return o;
        }
        if (it > 2) {
            double q = eps / eps_old;
            st->theta = it == 3 ? q : sqrt(q * q_old);
            q_old = q;
        }
        dae_log(g->ivp->opt, DAE_LOG_ITER, "sweep=%d eps=%.3g theta=%.3g", it, eps, st->theta);
        if (eps <= stop || (fixed && it > 2 * s && eps >= eps_old && eps * g->rtol_min < FIXED_FLOOR))
            return CONVERGED;
        if (it > most || (it > 2 && !(st->theta < growth) && !fixed)) return DIVERGED;
    }
}

/* ---- Errors --------------------------------------------------------------------------------------- */

/* d_1 = -inv(lambda M - J) E_1, d_i = inv(lambda M - J) (lambda M d_(i-1) - E_i); the largest |d_i|. */
static double filtered(gamd *g, const double *E, int s)
{
    int n = g->n, ld = g->ld;
    double largest = 0, *d = g->d, *x = g->x;
    for (int i = 0; i < s; i++) {
        const double *e = E + i * ld;
        if (i == 0) {
            for (int j = 0; j < n; j++) x[j] = -e[j];
        } else if (!g->mass_full) {
            for (int j = 0; j < n; j++) x[j] = g->lm[j] * d[j] - e[j];
        } else {
            for (int j = 0; j < n; j++) g->fx[j] = g->st->lambda * d[j];
            dae_matrix_multiply(&g->mass, n, g->fx, x);
            for (int j = 0; j < n; j++) x[j] -= e[j];
        }
        solve(g, x);
        double sum = 0;
        for (int j = 0; j < n; j++) {
            double v = x[j] * g->weight[j];
            sum += v * v;
        }
        if (!(sum < INFINITY)) return INFINITY;
        largest = fmax(largest, sum);
        double *swap = d;
        d = x;
        x = swap;
    }
    return fmax(sqrt(largest / n), ERROR_FLOOR);
}

/* out_i = sum_k D_ik f_k */
static inline void difference_rows(gamd *g, const double (*D)[S_MAX + 1], const int s, double *out)
{
    int n = g->n, ld = g->ld;
    for (int i = 0; i < s; i++) {
        const double *restrict f = g->F;
        double *restrict o = out + i * ld;
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k <= s; k++) sum += D[i][k] * f[k * ld + j];
            o[j] = sum;
        }
    }
}

static void error_rows(gamd *g, const double (*D)[S_MAX + 1], double *out)
{
    switch (formulas[g->st->level]->s) {
    case 4: difference_rows(g, D, 4, out); break;
    case 6: difference_rows(g, D, 6, out); break;
    case 8: difference_rows(g, D, 8, out); break;
    default: difference_rows(g, D, 9, out); break;
    }
}

static double estimate(gamd *g)
{
    int level = g->st->level;
    error_rows(g, (const double(*)[S_MAX + 1]) g->D[level], g->G);
    return filtered(g, g->G, formulas[level]->s);
}

/* After estimate: the error of order p + 2 from second differences of the scaled derivatives E/C. */
static double estimate_up(gamd *g)
{
    const struct formula *m = formulas[g->st->level];
    int n = g->n, ld = g->ld;
    for (int i = 0; i < m->s; i++) {
        const double *c = g->up[g->st->level][i], *e = g->G + (m->center[i] - 1) * ld;
        double *restrict out = g->dF + i * ld;
        for (int j = 0; j < n; j++) out[j] = c[0] * e[j] + c[1] * e[ld + j] + c[2] * e[2 * ld + j];
    }
    return filtered(g, g->dF, m->s);
}

static double estimate_down(gamd *g)
{
    error_rows(g, (const double(*)[S_MAX + 1]) g->down[g->st->level], g->dF);
    return filtered(g, g->dF, formulas[g->st->level]->s);
}

/* h/h_new for an error that goes with h^nu. */
static double ratio_of(double err, double safe, int nu)
{
    double x = safe * err, r = nu == 3 ? cbrt(x) : pow(x, 1.0 / nu);
    return r < RATIO_MIN ? RATIO_MIN : r > RATIO_MAX ? RATIO_MAX : r;
}

/* ---- After an attempt ------------------------------------------------------------------------------ */

/* A smaller h, and whether the Jacobian is to be renewed. */
static void retry(gamd *g, double h, int renew)
{
    gamd_state *st = g->st;
    st->h = h;
    st->last = 0;
    st->need_lu = 1;
    if (renew && !st->jac_here) st->need_jac = 1;
    if (g->classic) st->jac_here = 0; /* [GAMD] takes it as old from the next attempt on */
}

static void cut(gamd *g, int renew)
{
    retry(g, fmin(g->st->h_acc, 0.5 * g->st->h), renew);
}

static void diverged(gamd *g)
{
    gamd_state *st = g->st;
    g->ivp->stats->newton_failures++;
    int first = st->newton_row++ == 0;
    if (g->classic || !first) st->predictor = FROM_START; /* ours: once more from the polynomial */
    st->newton_pending = g->classic ? st->newton_pending + 1 : 1;
    st->error_row = 0;
    /* Ours: the splitting itself diverges for oscillating stiff modes at the higher orders. */
    if (!g->classic && !first && st->level > 1 && st->level > g->level_min && st->theta > 1) st->level--;
    cut(g, first);
}

static void reject(gamd *g, double err)
{
    gamd_state *st = g->st;
    g->ivp->stats->rejected++;
    keep_differences(g, g->failed);
    st->s_failed = formulas[st->level]->s;
    st->h_failed = g->ivp->direction * st->h;
    st->predictor = FROM_REJECTED;
    st->error_pending = g->classic ? st->error_pending + 1 : 1;
    int first = st->error_row++ == 0;
    if (st->rejections++ == 0) st->h_first = st->h;
    st->newton_row = 0;
    double safe = st->damping.on ? SAFE_DAMPING : SAFE_REJECT;
    retry(g, st->h / ratio_of(err, safe, formulas[st->level]->p), first && st->theta > THETA_JAC);
}

/* The order with the largest merit s/(cost r), and its h. */
static double choose(gamd *g, double err, int *level)
{
    const gamd_state *st = g->st;
    int now = st->level, p = formulas[now]->p;
    double r = ratio_of(err, SAFE_SAME, p), best = formulas[now]->s / (cost[now] * r);
    *level = now;
    if (st->damping.on) return st->h / ratio_of(err, SAFE_DAMPING, p);
    if (now < g->level_max) {
        double r_up = ratio_of(estimate_up(g), SAFE_UP, p + 2),
               merit = formulas[now + 1]->s / (cost[now + 1] * r_up);
        if (merit > best) {
            best = merit;
            r = fmax(r_up, 1); /* h does not rise with the order */
            *level = now + 1;
        }
    }
    if (now > g->level_min) {
        double r_down = ratio_of(estimate_down(g), SAFE_DOWN, p - 2),
               merit = formulas[now - 1]->s / (cost[now - 1] * r_down);
        if (merit > best) {
            r = r_down;
            *level = now - 1;
        }
    }
    return st->h / r;
}

/* Ours: 1 if an error above the limit comes from values that are off their constraints, so that it does not
 * fall with h: the block is taken, and the next ones, each of which makes it smaller by |R(inf)|. */
static int off_constraints(gamd *g, double err)
{
    gamd_state *st = g->st;
    int stuck = st->rejections > STUCK && fabs(err - st->err_last) < STUCK_CHANGE * fmax(1, err);
    int falls = st->mend > 0 && err < MEND_FALL * st->mend;
    st->err_last = err;
    if (g->classic || !g->dae || !(stuck || falls)) return 0;
    dae_log(g->ivp->opt, DAE_LOG_WARN, "t=%.10g warning=\"the error %.3g does not fall with h: accepted\"",
            g->ivp->t, err);
    st->mend = err;
    return 1;
}

/* Takes the block and plans the next one; mending: at the lowest order, with h from before the rejections. */
static void accept(gamd *g, double err, int mending)
{
    gamd_state *st = g->st;
    dae_ivp *ivp = g->ivp;
    int fixed = ivp->opt->fixed_step > 0, level = st->level, s = formulas[level]->s, ld = g->ld;
    double h = st->h, h_new;
    dae_damping_accept(&st->damping, h);
    if (fixed) h_new = ivp->opt->fixed_step;
    else if (!mending) h_new = choose(g, err, &level);
    else h_new = st->rejections ? st->h_first : h, level = g->level_min;
    double t_new = block_time(g, s);
    keep_differences(g, g->past);
    st->s_past = s;
    st->h_past = ivp->direction * h;
    st->predictor = FROM_LAST;
    dae_copy(g->n, g->Y + s * ld, g->y);
    dae_copy(g->n, g->F + s * ld, g->F);
    ivp->t_old = ivp->t;
    ivp->t = t_new;
    ivp->order = formulas[st->level]->p;
    ivp->stats->accepted++;
    if (st->newton_pending + st->error_pending > 0 && !mending) h_new = fmin(h_new, h);
    if (!mending) st->mend = 0;
    st->newton_pending = st->first || !st->newton_pending ? 0 : st->newton_pending - 1;
    st->error_pending = st->first || !st->error_pending ? 0 : st->error_pending - 1;
    st->newton_row = st->error_row = st->rejections = st->singular = st->first = st->jac_here = 0;
    st->err_last = -1;
    st->h_acc = h;
    st->need_jac = st->theta > THETA_JAC || fixed;
    if (!st->need_jac && h_new >= KEEP_LOW * h && h_new <= KEEP_HIGH * h) h_new = h;
    int changed = level != st->level;
    st->level = level;
    st->h = h_new;
    fit(g);
    st->need_lu = changed || st->h != h;
    ivp->h_next = ivp->direction * st->h * formulas[level]->s;
    set_base_weights(g);
}

/* ---- The step -------------------------------------------------------------------------------------- */

static dae_status step(void *self)
{
    gamd *g = self;
    gamd_state *st = g->st;
    dae_ivp *ivp = g->ivp;
    int fixed = ivp->opt->fixed_step > 0;
    if (st->first) set_base_weights(g);
    for (;;) {
        double least = fmax(ivp->opt->h_min, 10 * DBL_EPSILON * fabs(ivp->t));
        if (st->h <= least && !(st->last && st->h > 0 && !st->newton_row && !st->error_row)) {
            return dae_says_step_fell_in_a_row(ivp, st->h, least, st->newton_pending + st->error_pending);
        }
        int bad = predict(g);
        if (bad < 0) return dae_says_stopped(ivp, ivp->t, "the right-hand side");
        if (bad > 0) {
            if (fixed)
                return dae_ivp_fail(ivp, DAE_ERR_UNDEFINED,
                                    "t = %.10g: the right-hand side cannot be evaluated in a step of %g",
                                    ivp->t, st->h);
            cut(g, 0);
            continue;
        }
        if (st->need_jac) {
            dae_status r = jacobian(g);
            if (r) return r;
        }
        if (st->need_lu) {
            bad = factor(g);
            if (bad < 0) return dae_says_no_memory_to_factor(ivp, ivp->t);
            if (bad > 0) {
                if (++st->singular > SINGULAR_MAX || fixed) {
                    return dae_ivp_fail(ivp, DAE_ERR_SINGULAR,
                                        "t = %.10g: the iteration matrix is singular (row %d of its "
                                        "elimination), also with h = %.3g; the index "
                                        "may be above 3, equations redundant, or a variable may not occur",
                                        ivp->t, bad, st->h);
                }
                cut(g, 0);
                continue;
            }
        }
        ivp->stats->steps++;
        set_weights(g);
        outcome o = iterate(g);
        if (o == STOP) return dae_says_stopped(ivp, ivp->t, "the right-hand side");
        if (o != CONVERGED) {
            if (fixed) return dae_says_not_converging(ivp, ivp->t, st->h);
            diverged(g);
            continue;
        }
        double err = fixed ? 0 : estimate(g);
        dae_log(ivp->opt, DAE_LOG_ITER, "err=%.3g h=%.6g theta=%.3g", err, st->h, st->theta);
        int good = err <= ACCEPT;
        if (good || off_constraints(g, err)) {
            accept(g, err, !good);
            return DAE_OK;
        }
        reject(g, err);
    }
}

/* ---- Dense output: the polynomial of degree s through the points of the last block ------------------- */

static void interpolate(void *self, double t, double *y, double *yp)
{
    const gamd *g = self;
    const gamd_state *st = g->st;
    double sigma = (t - g->ivp->t) / st->h_past;
    dae_block_interpolate(g->n, g->ld, st->s_past, g->past, sigma, st->h_past, y, yp);
}

/* ---- Checkpoint: the sparse factors ------------------------------------------------------------------ */

static size_t save(const void *self, void *buffer)
{
    return dae_shifted_save(((const gamd *)self)->solver, buffer);
}

static int load(void *self, const void *buffer, size_t size)
{
    return dae_shifted_load(((gamd *)self)->solver, buffer, size);
}

/* ---- Descriptor -------------------------------------------------------------------------------------- */

static const dae_option option_table[] = {
    {"order_min", DAE_OPTION_INT, offsetof(gamd_options, order_min), 3, NULL, 3, 9, NULL, "",
     "lowest order: 3, 5, 7 or 9"},
    {"order_max", DAE_OPTION_INT, offsetof(gamd_options, order_max), 9, NULL, 3, 9, NULL, "",
     "highest order: 3, 5, 7 or 9"},
    {"classic", DAE_OPTION_INT, offsetof(gamd_options, classic), 0, NULL, 0, 1, NULL, "",
     "1: as the published program, weaknesses included"},
    {.name = NULL},
};

const dae_method dae_method_gamd = {
    .info =
        {.name = "gamd",
         .title = "Generalized Adams methods in block form, orders 3, 5, 7, 9",
         .literature =
             "Iavernaro, Mazzia: Solving ordinary differential equations by generalized Adams methods, 1998",
         .summary = "stiff ODEs and DAEs of index 1, 2, 3; few factorizations, tight tolerances",
         .order_min = 3,
         .order_max = 9,
         .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE,
         .max_index = 3,
         .implicit = 1,
         .checkpoint = 1,
         .options = option_table},
    .option_size = sizeof(gamd_options),
    .block = 1,
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
