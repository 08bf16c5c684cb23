/* Radau IIA: implicit Runge-Kutta methods of order 5, 9 and 13 for M y' = f(t,y), index up to 3.
 *
 * With s stages, y_n the last value and Z_i = Y_i - y_n:
 *
 *     M Z_i = h sum_j a_ij f(t_n + c_j h, y_n + Z_j),   i = 1 .. s,      y_(n+1) = y_n + Z_s
 *
 * Simplified Newton in the variables W with Z = T W, which block-diagonalizes inv(A): one real and
 * (s-1)/2 complex systems of size n per iteration. Radau5 keeps s = 3; radau raises and lowers s
 * between 3, 5 and 7 by the contractivity of the iteration.
 *
 * Sources: [HW96] sections IV.8 and IV.10, [HW99] (order control). Where we differ: "cannot be
 * evaluated" cuts the step; the weights of index-2 and index-3 variables are formed anew in every
 * attempt; with vector tolerances the iteration stops by the smallest; the first step is chosen here
 * when none is given; an increment of exactly zero ends the iteration; where the iteration fails again and
 * again on a DAE it becomes a damped Newton method (newton_careful). */
#include "method/method.h"

#include "core/matrix.h"
#include "core/pool.h"
#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/failure.h"
#include "method/radau/kernels.h"
#include "method/refine.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef UROUND
#define UROUND 1e-16 /* [RADAU5]; smaller in the build of extended precision */
#endif
#define SAFETY 0.9     /* [RADAU5] safe */
#define SHRINK_MAX 5.0 /* [RADAU5] facl = 5: h_new >= h/5 */
#define GROW_MAX 0.125 /* [RADAU5] facr = 1/8: h_new <= 8 h */
#define KEEP_LOW 1.0   /* [RADAU5] quot1 */
#define KEEP_HIGH 1.2  /* [RADAU5] quot2 */
#define THETA_JAC 1e-3 /* [RADAU5] thet: below it the Jacobian is kept */
#define ORDER_UP 0.002 /* [RADAU] vitu */
#define ORDER_DOWN 0.8 /* [RADAU] vitd */
#define RATIO_LOW 0.8  /* [RADAU] hhou: h ratios between which the order may rise */
#define RATIO_HIGH 1.2 /* [RADAU] hhod */
#define ORDER_WAIT 10  /* [RADAU] steps before the order may rise again */
/* ours: least first step of an ODE behind a discontinuity, in units of the last one; the order stays
 * (emep, radau at 1e-8: 857 -> 422 steps). Algebraic variables jump: DAEs start as given */
#define RESTART 0.01
#define LEAST 1e-100   /* ours: smallest step at t = 0, where rounding sets no limit */
#define SINGULAR_MAX 5 /* [RADAU5] */
#define STUCK 4        /* ours: so many rejections in a row that do not lower the error of a DAE ... */
/* ... of at most this size come from y_n, off its constraints: the step mends that */
#define STUCK_ERR 1e3
/* ours: after so many failures in a row a DAE iterates with the Jacobian of the iterate */
#define CAREFUL 4
#define CAREFUL_MAX 25  /* ... so often at most */
#define LAMBDA_MIN 1e-4 /* ... and moves by at least this part of the increment */
/* ours: a tiny last step spoils index-3 variables (rounding/h^2); halve the rest instead */
#define TINY_LAST 0.1
/* ours: where the polynomial through the stages is off by more than so many tolerances between the ends of the step it is
 * refined: the error estimate is that of a formula of order s, as is the polynomial */
#define REFINE 0.5
/* ours: growth of h beyond which the polynomial of the last step is to blame where the iteration fails; of the evaluations of
 * stiff DETEST F3, D4 and F1 2 leaves 0.53, 0.71 and 1.03, 3 leaves 0.57, 0.71 and 1.03, 4 leaves 0.66, 0.73 and 1 */
#define GROWN 3
#define CLEARLY (1 + 1e-9) /* ours: above all rounding of a power */
#define FAR_OFF 100        /* ours: in tolerances, a first increment of a DAE that is not its last */
#define SMALL 0.01         /* ours: a component that is so far below its atol is small */
#define MOVED 0.1 /* ours: part of itself by which a first increment may move a component and be the last */
/* Ours: corners that nobody declared, jumps of f or of one of its derivatives. Three signs of them in an error:
 * it is so many times larger than that of the step before lets expect (s = 3, 5, 7; ringmod by radau5 takes 1.3 times the steps with
 * 100, plei, vdpol, orego and emep by radau up to 1.2); */
static const double rough[] = {3000, 300, 3000};
/* when the step is repeated with a smaller h it falls by so many times more than h^(s+1), since the corner is in what was left out
 * (spikes of plei have 36 with s = 7, cusps 7 with s = 3); */
static const double fall[] = {3, 15, 80};
/* a second estimate is SECOND times larger and SECOND_PAST times what the step before lets expect of its terms, or PAST times that
 * (spikes of vdpol have 203), and SECOND_TOL times what may be at a corner. It is asked for where an error of 1 is SECOND_FULL times
 * what may be there and the first estimate SECOND_WORTH of it. */
#define SECOND 7
#define SECOND_PAST 5
#define PAST 250
#define SECOND_TOL 10
#define SECOND_FULL 12
#define SECOND_WORTH 0.1
#define NOT_STIFF 2 /* ours: inv(gamma/h M - J) may leave 1/2 of the error of a corner, no less */
#define FAR 1.5 /* ours: a corner is looked for in so many times the step that showed it; cusps show ahead */
#define ROUGH_TOL 2 /* ours: at a corner the estimate may have so many of the user's tolerances */
#define CORNER_WIDTH (100 * UROUND) /* ours: corners are passed to this part of t */
/* ours: systems y'' = f of up to so many unknowns are solved whole by the kernels of their size, above reduced to half; oscillators with friction,
 * same steps, whole over reduced: n = 2 0.4 to 0.6, 4 0.7 to 0.8, 6 0.8 to 0.9, 8 1.3 to 1.6 */
#define WHOLE_MOST 6
#define PARALLEL_MIN 64 /* ours: smaller systems are factored before another thread has woken up */
/* ours: with index-3 variables and fixed order the iteration error dominates at tight tolerances; below
 * this rtol_s the iteration stops later (Andrews, radau5, rtol 1e-10: scd 6.3 -> 6.7 for 5 % more
 * evaluations) */
#define INDEX3_SHARP 1e-6

enum { LEVELS = 3 }; /* s = 3, 5, 7 */
static const struct coefficients *const levels[LEVELS] = {&order5, &order9, &order13};
static const int newton_max[LEVELS] = {7, 12, 17}; /* [RADAU] nit */

typedef struct radau_options {
    int order_min, order_max;
    const char *kernels; /* "auto" or "general" */
    int second_order;    /* 0: y'[i] = y[m+i] is not made use of */
} radau_options;

/* What survives a checkpoint; in the arena. */
typedef struct radau_state {
    double h, h_old;       /* present and last step */
    double h_acc, err_acc; /* of the last accepted step, for the predictive controller */
    double theta, theta_t; /* contractivity, and its running maximum */
    double eta;            /* theta/(1 - theta) of the last iteration */
    double h_cont;         /* step of the polynomial in cont */
    double dense_error;    /* of that polynomial between the ends of the step, in tolerances */
    int s_cont;            /* its stages, 0: none */
    int level;             /* s = levels[level]->s */
    int first, last, rejected;
    int jac_here; /* the Jacobian belongs to the present point */
    int need_jac, need_lu, have_jac;
    int kept;          /* h and the factors of the last step are kept */
    int changed_order; /* in this attempt, not in those that repeat it */
    int steps_since_change, newton, unexpected, slow;
    int singular, failures; /* failures in a row */
    int stuck;              /* rejections in a row that did not lower the error */
    double err_last;        /* error of the last rejection ... */
    double h_last;          /* ... and its step; 0: none in this step */
    double err_true;        /* error of the last accepted step, as it was */
    int afresh;             /* the stages start from y_n, not from the polynomial of the last step */
    int doubt;              /* the last long step was nearer to y_n than to the polynomial */
    double delta;           /* first increment of this attempt, ... */
    double delta_before;    /* ... and of the one from the polynomial */
    double corner, far;     /* a corner lies before t = corner, or else before t = far */
    double corner_h;        /* the step that ended at corner, 0: none is known; ... */
    double corner_err;      /* ... its error */
    long accepted;
} radau_state;

typedef struct radau {
    dae_ivp *ivp;
    radau_state *st;
    int n, ld; /* size, and distance of the vectors in z, w, g, cont */
    int level_min, level_max;
    dae_matrix mass;
    double *y, *f;         /* last accepted point and its right-hand side */
    double *z, *w, *g;     /* s vectors each: stages, transformed stages, derivatives/right-hand sides */
    double *stage;         /* s vectors: y + z */
    double *dw;            /* DAEs only: s vectors: an increment of w */
    double *mw;            /* M w where M is not the identity, else w */
    double *cont;          /* s+1 vectors: divided differences of the last step */
    double *J, *e, *x;     /* Jacobian, error vector, room */
    double *base, *weight; /* 1/(atol_s + rtol_s |y|), and times h^(index-1) */
    double *rtol[LEVELS], *atol[LEVELS]; /* scaled tolerances for each number of stages */
    double kappa[LEVELS];                /* Newton stops at eta |dW| <= kappa */
    double inverse_kappa[LEVELS];
    double inverse_size[LEVELS];                  /* 1/(n s) */
    double inverse[LEVELS][S_MAX + 1][S_MAX + 1]; /* of node differences, for cont */
    double shift[LEVELS][S_MAX];                  /* nodes - 1 */
    double lead[LEVELS][S_MAX];                   /* the highest divided difference is sum lead_k Z_k ... */
    double unit[LEVELS];                          /* ... and in the error estimate this much */
    double full[LEVELS];                          /* an error of 1 in parts of what may be at a corner */
    double t[S_MAX], q;                           /* of an attempt: times of the stages, 1/h */
    dae_shifted *real, *complex[S_MAX / 2]; /* NULL where the systems are those of kernels of fixed size: */
    radau_small *small, room;               /* NULL: they are not */
    dae_pool *pool;                         /* threads that factor them, or NULL */
    int singular[1 + S_MAX / 2];            /* what each factorization returned: real first */
    const radau_kernels *kernels[LEVELS];
    dae_refine refine; /* ODEs only */
} radau;

/* ---- Life ---------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    radau *r = self;
    if (!r) return;
    dae_pool_destroy(r->pool);
    dae_shifted_destroy(r->real);
    for (int k = 0; k < S_MAX / 2; k++) dae_shifted_destroy(r->complex[k]);
    free(r);
}

/* rtol_s = 0.1 rtol^((s+1)/(2s)), atol_s = rtol_s atol/rtol, [RADAU]; absolute control: with atol for rtol in the power. */
static void scale_tolerances(radau *r, int level)
{
    const dae_ivp *ivp = r->ivp;
    double s = levels[level]->s, exponent = (s + 1) / (2 * s), smallest = INFINITY, scaled = 0;
    for (int i = 0; i < r->n; i++) {
        int same = i > 0 && ivp->digits[i] == ivp->digits[i - 1];
        if (!same) scaled = 0.1 * pow(ivp->digits[i], exponent);
        r->rtol[level][i] = scaled * (ivp->rtol[i] / ivp->digits[i]);
        r->atol[level][i] = scaled * (ivp->atol[i] / ivp->digits[i]);
        smallest = fmin(smallest, scaled);
    }
    int sharp = 0;
    for (int i = 0; ivp->index && r->level_min == r->level_max && i < r->n; i++) sharp |= ivp->index[i] == 3;
    r->kappa[level] = (sharp ? fmin(1, pow(smallest / INDEX3_SHARP, 0.25)) : 1) *
                      fmax(10 * UROUND / smallest, fmin(0.03, pow(smallest, (s - 1) / (s + 1))));
    r->inverse_kappa[level] = 1 / r->kappa[level];
    r->full[level] = r->rtol[level][0] / (ROUGH_TOL * ivp->rtol[0]);
}

/* Nodes of the divided differences: 1, c_(s-1), ..., c_1, 0. */
static double node(const struct coefficients *m, int i)
{
    return i < m->s ? m->c[m->s - 1 - i] : 0;
}

static void invert_nodes(radau *r, int level)
{
    const struct coefficients *m = levels[level];
    for (int k = 1; k <= m->s; k++) {
        for (int i = k; i <= m->s; i++) r->inverse[level][k][i] = 1 / (node(m, i) - node(m, i - k));
        r->shift[level][k - 1] = node(m, k - 1) - 1;
    }
    for (int k = 0; k < m->s; k++) {
        double p = m->c[k];
        for (int j = 0; j < m->s; j++) p *= j == k ? 1 : m->c[k] - m->c[j];
        r->lead[level][k] = 1 / p;
    }
    r->unit[level] = 1 / (m->gamma * sqrt(r->n));
    for (int k = 0; k < m->s; k++) r->unit[level] *= m->c[k];
}

/* Refined dense output: ODEs; of a DAE the sweeps do not contract where there is no derivative. */
static int refines(const radau *r)
{
    return r->ivp->sys->kind == DAE_KIND_ODE;
}

/* Room of the kernels of fixed size, and M as they want it. */
static radau_small *take_small(radau *r, dae_arena *a, int s)
{
    size_t n = (size_t)r->n, square = n * n, count = 1 + (size_t)s / 2;
    radau_small *small = &r->room;
    int dense = r->ivp->jacobian.storage == DAE_DENSE;
    double *block = dae_arena_reals(a, (dense ? 0 : square) + count * 2 * (square + n));
    int *perm = dae_arena_ints(a, count * n);
    if (dae_arena_failed(a)) return NULL;
    small->J = dense ? r->J : block;
    if (!dense) block += square;
    small->has_mass = r->mass.n > 0;
    if (small->has_mass) small->band = dae_small_band_of(&r->mass, r->n);
    for (size_t k = 0; k < count; k++, block += 2 * (square + n)) {
        small->re[k] = block;
        small->im[k] = block + square;
        small->ire[k] = block + 2 * square;
        small->iim[k] = small->ire[k] + n;
        small->perm[k] = perm + k * n;
    }
    return small;
}

static void *create_levels(dae_ivp *ivp, int level_min, int level_max, const radau_options *o, dae_error *err)
{
    radau *r = calloc(1, sizeof *r);
    if (!r) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for radau");
        return NULL;
    }
    int n = ivp->n, s = levels[level_max]->s;
    r->ivp = ivp;
    r->n = n;
    r->ld = (n + 7) / 8 * 8;
    r->level_min = level_min;
    r->level_max = level_max;
    r->mass = dae_ivp_mass(ivp);
    size_t ld = (size_t)r->ld;
    dae_arena *a = ivp->arena;
    r->st = dae_arena_take(a, 1, sizeof *r->st);
    double *block = dae_arena_reals(a, ld * (size_t)(4 * s + s + 1 + 6));
    if (r->mass.n) {
        r->mw = dae_arena_reals(a, ld * (size_t)s);
        r->dw = dae_arena_reals(a, ld * (size_t)s);
    }
    if (refines(r)) dae_refine_create(&r->refine, ivp, 2 * s - 1);
    r->J = dae_arena_reals(a, (size_t)dae_pattern_count(&ivp->jacobian, n));
    double *tolerances = dae_arena_reals(a, ld * (size_t)(2 * LEVELS));
    if (dae_arena_failed(a)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for radau with %d equations", n);
        destroy(r);
        return NULL;
    }
    double **vector[] = {&r->y, &r->f, &r->e, &r->x, &r->base, &r->weight};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++, block += ld) *vector[k] = block;
    r->z = block;
    r->w = r->z + ld * (size_t)s;
    r->g = r->w + ld * (size_t)s;
    r->stage = r->g + ld * (size_t)s;
    r->cont = r->stage + ld * (size_t)s;
    if (!r->mass.n) r->mw = r->w;
    if (!ivp->index) r->weight = r->base;
    int second_order = o->second_order ? ivp->sys->structure.second_order : 0;
    int special = strcmp(o->kernels, "general") != 0 && (!second_order || n <= WHOLE_MOST);
    int fixed = special && !ivp->linear_solver && !ivp->jacobian.columns ? n : 0;
    for (int level = level_min; level <= level_max; level++) {
        r->rtol[level] = tolerances + ld * (size_t)(2 * level);
        r->atol[level] = r->rtol[level] + ld;
        r->kernels[level] = dae_radau_kernels(levels[level]->s, fixed);
        if (!r->kernels[level]) r->kernels[level] = dae_radau_kernels(levels[level]->s, 0);
        scale_tolerances(r, level);
        invert_nodes(r, level);
        r->inverse_size[level] = 1 / ((double)n * levels[level]->s);
    }
    ivp->y = r->y;
    if (r->kernels[level_min]->iterate) {
        r->small = take_small(r, a, s);
        if (!r->small) {
            dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for radau with %d equations", n);
            destroy(r);
            return NULL;
        }
        dae_ivp_solves_fixed(ivp);
        return r;
    }
    dae_shifted_spec spec = {.n = n,
                             .jacobian = ivp->jacobian,
                             .mass = r->mass,
                             .second_order = second_order,
                             .own = ivp->linear_solver};
    r->real = dae_shifted_create(&spec, a, err);
    spec.complex_shift = 1;
    for (int k = 0; r->real && k < s / 2; k++) {
        r->complex[k] = dae_shifted_create(&spec, a, err);
        if (!r->complex[k]) {
            destroy(r);
            return NULL;
        }
    }
    if (!r->real) {
        destroy(r);
        return NULL;
    }
    if (n >= PARALLEL_MIN && !ivp->matrix_free)
        r->pool = dae_pool_create(ivp->opt->threads <= 1 + s / 2 ? ivp->opt->threads : 1 + s / 2);
    dae_ivp_solves_with(ivp, dae_shifted_describe(r->real));
    dae_log(ivp->opt, DAE_LOG_INFO, "threads=%d", dae_pool_threads(r->pool));
    return r;
}

static void *create_radau5(dae_ivp *ivp, const void *option, dae_error *err)
{
    const radau_options *o = option;
    return create_levels(ivp, 0, 0, o, err);
}

static void *create_radau(dae_ivp *ivp, const void *option, dae_error *err)
{
    const radau_options *o = option;
    int lo = (o->order_min - 5) / 4, hi = (o->order_max - 5) / 4;
    if (4 * lo + 5 != o->order_min || 4 * hi + 5 != o->order_max || lo > hi) {
        dae_fail(err, DAE_ERR_INPUT, NAN,
                 "radau: order_min = %d and order_max = %d must be 5, 9 or 13, the first not the larger",
                 o->order_min, o->order_max);
        return NULL;
    }
    return create_levels(ivp, lo, hi, o, err);
}

/* |y'| in the weights of the error test, over the variables that have a derivative. */
static double speed(const radau *r, const double *yp)
{
    double s = 0;
    for (int i = 0; i < r->n; i++) {
        double v = yp[i] / (r->ivp->atol[i] + r->ivp->rtol[i] * fabs(r->y[i]) + DBL_MIN);
        if (!r->ivp->index || r->ivp->index[i] == 1) s += v * v;
    }
    return sqrt(s / r->n);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    radau *r = self;
    dae_ivp *ivp = r->ivp;
    radau_state *st = r->st;
    double room = fabs(ivp->t_stop - t);
    int level = r->level_min;
    if (ivp->sys->kind == DAE_KIND_ODE && ivp->stats->accepted > 0) { /* behind a discontinuity */
        level = st->level > level ? st->level : level;
        h = fmax(h, RESTART * fabs(ivp->stats->h_last));
    }
    if (refines(r)) dae_refine_begin(&r->refine, NULL);
    *st = (radau_state){.level = level, .first = 1, .need_jac = 1, .need_lu = 1, .eta = 1};
    dae_copy(r->n, y, r->y);
    int bad = 0;
    if (ivp->sys->kind == DAE_KIND_ODE) {
        dae_copy(r->n, yp, r->f);
    } else {
        bad = dae_ivp_f(ivp, t, r->y, r->f);
    }
    if (bad)
        return dae_ivp_fail(ivp, bad < 0 ? DAE_ERR_CALLBACK : DAE_ERR_UNDEFINED,
                            "t = %.10g: the right-hand side cannot be evaluated at the start", t);
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    if (!(h > 0)) { /* ours: a first step that changes y by half its tolerance, 1 % of the interval at most */
        double v = speed(r, yp);
        h = fmin(0.01 * room, v > 0 ? 0.5 / v : 0.01 * room);
        if (!(h > 0)) h = 1e-6 * room;
        h = fmax(h, 20 * UROUND * fabs(t)); /* step() gives up at half of it */
    }
    if (ivp->opt->h_max > 0) h = fmin(h, ivp->opt->h_max);
    h = fmin(h, room);
    if (h * (h == ivp->opt->h_max ? 1 : 1.0001) >= room && ivp->opt->fixed_step <= 0) {
        h = room;
        st->last = 1;
    }
    st->h = st->h_old = ivp->direction * h;
    ivp->h_next = st->h;
    ivp->order = 2 * levels[st->level]->s - 1;
    return DAE_OK;
}

/* ---- Matrices ------------------------------------------------------------------------------------ */

/* J as the kernels of fixed size want it. */
static void spread(radau *r)
{
    int n = r->n, m = r->ivp->sys->structure.second_order;
    if (!r->small) return;
    if (r->small->J != r->J) dae_pattern_to_dense(&r->ivp->jacobian, n, r->J, r->small->J);
    for (int i = 0; i < m; i++) { /* rows that need not be in J */
        for (int j = 0; j < n; j++) r->small->J[i + j * n] = j == m + i;
    }
}

static dae_status jacobian(radau *r)
{
    radau_state *st = r->st;
    int bad = dae_ivp_jacobian(r->ivp, r->ivp->t, r->y, r->f, r->J);
    if (bad < 0) return dae_says_stopped(r->ivp, r->ivp->t, "the Jacobian");
    if (bad > 0 && !st->have_jac) {
        return dae_ivp_fail(r->ivp, DAE_ERR_UNDEFINED, "t = %.10g: the Jacobian cannot be evaluated",
                            r->ivp->t);
    }
    spread(r);
    st->need_jac = 0;
    st->have_jac = st->jac_here = 1;
    return DAE_OK;
}

/* Tasks 0 .. s/2-1: a complex matrix each; the last one: the real matrix, the cheapest. */
static int factor_one(void *self, int task, int piece, int thread)
{
    radau *r = self;
    const struct coefficients *m = levels[r->st->level];
    double q = 1 / r->st->h;
    (void)piece, (void)thread;
    if (task < m->s / 2)
        r->singular[1 + task] =
            dae_shifted_factor(r->complex[task], m->alpha[task] * q, m->beta[task] * q, r->J);
    else r->singular[0] = dae_shifted_factor(r->real, m->gamma * q, 0, r->J);
    return 0;
}

/* Factors gamma/h M - J and the complex ones; > 0: singular. */
DAE_KERNEL_BODY int factor(radau *r)
{
    int level = r->st->level, count = 1 + levels[level]->s / 2, bad = 0;
    if (r->small) {
        DAE_LINALG(r->ivp, bad = r->kernels[level]->factor(r->small, levels[level], 1 / r->st->h));
        if (!bad) r->ivp->stats->lu++;
        return bad;
    }
    DAE_LINALG(r->ivp, dae_pool_run(r->pool, count, factor_one, r));
    for (int k = 0; k < count && !bad; k++) bad = r->singular[k];
    if (!bad) r->ivp->stats->lu++;
    return bad;
}

/* [RADAU]: more stages while the iteration converges fast at a steady step, fewer when it struggles. */
static void control_order(radau *r)
{
    radau_state *st = r->st;
    if (r->level_min == r->level_max) return;
    st->changed_order = 0;
    st->steps_since_change++;
    st->theta_t = fmin(10, fmax(st->theta, 0.5 * st->theta_t));
    double ratio = st->h / st->h_old;
    int level = st->level;
    if (st->newton > 1 && st->theta_t <= ORDER_UP && ratio < RATIO_HIGH && ratio > RATIO_LOW &&
        st->steps_since_change > ORDER_WAIT && level < r->level_max) {
        level++;
    }
    if ((st->theta_t >= ORDER_DOWN || st->unexpected || st->slow) && st->level > r->level_min)
        level = st->level - 1;
    st->unexpected = st->slow = 0;
    if (level == st->level) return;
    st->level = level;
    st->steps_since_change = 1;
    st->changed_order = 1;
    dae_log(r->ivp->opt, DAE_LOG_INFO, "t=%.10g order=%d", r->ivp->t, 2 * levels[level]->s - 1);
}

/* ---- One attempt ---------------------------------------------------------------------------------- */

static void set_base_weights(radau *r)
{
    int level = r->st->level;
    r->kernels[level]->weights(r->n, r->atol[level], r->rtol[level], r->y, r->base);
}

/* The error of index-2 variables counts times h, of index-3 variables times h^2. */
static void set_weights(radau *r)
{
    double h = fabs(r->st->h);
    const int *index = r->ivp->index;
    if (!index) return; /* weight is base */
    double power[4] = {1, 1, h, h * h};
    for (int i = 0; i < r->n; i++) r->weight[i] = r->base[i] * power[index[i]];
}

/* Where the right-hand side of a DAE has a kink, the Jacobian of y_n can be wrong for every step, however small:
 * the algebraic equations do not feel h. Then each iteration takes that of its own last stage. */
static int careful(const radau *r)
{
    return r->mass.n && r->st->failures >= CAREFUL && r->ivp->opt->fixed_step <= 0;
}

static int grown(const radau *r)
{
    return fabs(r->st->h) > GROWN * fabs(r->st->h_cont);
}

/* 1: the stages start from the polynomial of the last step, else from y_n. [RADAU]: an attempt that changes the order starts from
 * y_n; one that repeats it with the lower order starts from the first s differences, taken as those of s stages. After a higher
 * order there are no s differences. */
DAE_KERNEL_BODY int extrapolates(const radau *r)
{
    const radau_state *st = r->st;
    return !st->first && st->s_cont >= levels[st->level]->s && !st->changed_order && !careful(r) &&
           !st->afresh && !(st->doubt && grown(r));
}

/* Stage values from the polynomial of the last step, or zero. */
static void predict(radau *r)
{
    radau_state *st = r->st;
    const struct coefficients *m = levels[st->level];
    int n = r->n, ld = r->ld, s = m->s;
    if (!extrapolates(r)) {
        dae_zero(s * ld, r->z);
        dae_zero(s * ld, r->w);
        for (int k = 0; k < s; k++) dae_copy(n, r->y, r->stage + k * ld);
        return;
    }
    r->kernels[st->level]->predict(n, ld, m, st->h / st->h_cont, r->shift[st->level], r->cont, r->y, r->z,
                                   r->w, r->stage);
}

/* What the iterations of an attempt share. */
static void begin_attempt(radau *r)
{
    const struct coefficients *m = levels[r->st->level];
    double h = r->st->h;
    for (int j = 0; j < m->s - 1; j++) r->t[j] = dae_ivp_one_sided(r->ivp, r->ivp->t + m->c[j] * h);
    r->t[m->s - 1] = dae_ivp_one_sided(r->ivp, r->st->last ? r->ivp->t_stop : r->ivp->t + h);
    r->q = 1 / h;
}

/* g_j = f(t_n + c_j h, y_n + Z_j). Values that are not finite show in |dW|. */
DAE_KERNEL_BODY int stages(radau *r)
{
    return dae_ivp_f_placed(r->ivp, levels[r->st->level]->s, r->ld, r->t, r->stage, r->g);
}

/* x := inv(gamma/h M - J) x */
static void solve_real(const radau *r, double *x)
{
    if (r->small) r->kernels[r->st->level]->solve(r->small, x);
    else dae_shifted_solve(r->real, x);
}

/* g = dW, the increment of an iteration, from the stage derivatives in g. */
static inline void increment(radau *r)
{
    const struct coefficients *m = levels[r->st->level];
    int n = r->n, ld = r->ld, s = m->s;
    r->ivp->stats->solves += 1 + s / 2;
    if (r->small) {
        r->kernels[r->st->level]->increment(r->small, m, r->q, r->w, r->g);
        return;
    }
    if (r->mass.n) {
        for (int k = 0; k < s; k++) dae_matrix_multiply(&r->mass, n, r->w + k * ld, r->mw + k * ld);
    }
    r->kernels[r->st->level]->right_sides(n, ld, m, r->q, r->mw, r->g);
    dae_shifted_solve(r->real, r->g);
    for (int k = 0; k < s / 2; k++)
        dae_shifted_solve_complex(r->complex[k], r->g + (2 * k + 1) * ld, r->g + (2 * k + 2) * ld);
}

/* W and Z with the increment in g added; its squares in x. */
static inline void update(radau *r)
{
    r->kernels[r->st->level]->update(r->n, r->ld, levels[r->st->level], r->g, r->weight, r->y, r->w, r->z,
                                     r->stage, r->x);
}

/* One iteration: |dW|, new W and Z. */
static double iterate(radau *r)
{
    if (r->small) {
        const struct coefficients *m = levels[r->st->level];
        double sum;
        DAE_LINALG(r->ivp, sum = r->kernels[r->st->level]->iterate(r->small, m, r->q, r->g, r->weight, r->y,
                                                                   r->w, r->z, r->stage));
        return sqrt(sum * r->inverse_size[r->st->level]);
    }
    DAE_LINALG(r->ivp, {
        increment(r);
        update(r);
    });
    return sqrt(dae_sum(r->n, r->x) * r->inverse_size[r->st->level]);
}

static double power(double x, int k) /* x^k, k >= 0 */
{
    double p = 1;
    for (; k > 0; k--) p *= x;
    return p;
}

typedef enum outcome { CONVERGED, SLOW, UNEXPECTED, STOP } outcome;

static double norm_of_increment(const radau *r)
{
    double sum = 0;
    for (int k = 0; k < levels[r->st->level]->s; k++) {
        const double *dw = r->g + k * r->ld;
        for (int i = 0; i < r->n; i++) sum += dw[i] * r->weight[i] * (dw[i] * r->weight[i]);
    }
    return sqrt(sum * r->inverse_size[r->st->level]);
}

/* W and Z moved by c dW. */
static void move(radau *r, double c)
{
    int size = levels[r->st->level]->s * r->ld;
    for (int i = 0; i < size; i++) r->g[i] = c * r->dw[i];
    update(r);
}

/* The Jacobian of the last stage, factored, and with it the increment in g. */
static outcome renew(radau *r)
{
    radau_state *st = r->st;
    int last = (levels[st->level]->s - 1) * r->ld;
    double t = st->last ? r->ivp->t_stop : r->ivp->t + st->h;
    int bad = stages(r);
    if (!bad) bad = dae_ivp_jacobian(r->ivp, t, r->stage + last, r->g + last, r->J);
    if (bad) return bad < 0 ? STOP : UNEXPECTED;
    spread(r);
    if (factor(r)) return UNEXPECTED;
    DAE_LINALG(r->ivp, increment(r));
    return CONVERGED;
}

/* Newton's method with the Jacobian of the last stage, renewed in every iteration, and damped: a part lambda of dW
 * is taken such that the increment that would follow with the same Jacobian is smaller (natural monotonicity,
 * Deuflhard: Newton Methods for Nonlinear Problems, 2004, section 3.3). */
static outcome newton_careful(radau *r)
{
    radau_state *st = r->st;
    double kappa = r->kappa[st->level], lambda = 1;
    int size = levels[st->level]->s * r->ld;
    st->jac_here = 0;
    for (st->newton = 0; st->newton < CAREFUL_MAX;) {
        outcome o = renew(r);
        if (o != CONVERGED) return o;
        double delta = norm_of_increment(r), follow = 0, taken = 0;
        if (!isfinite(delta)) return UNEXPECTED;
        dae_copy(size, r->g, r->dw);
        for (lambda = fmin(1, 4 * lambda);; lambda *= 0.5) {
            if (lambda < LAMBDA_MIN) return UNEXPECTED;
            move(r, lambda - taken);
            taken = lambda;
            int bad = stages(r);
            if (bad < 0) return STOP;
            if (bad) continue;
            DAE_LINALG(r->ivp, increment(r));
            follow = norm_of_increment(r);
            if (follow <= (1 - 0.25 * lambda) * delta) break;
        }
        st->newton++;
        r->ivp->stats->newton++;
        st->theta = delta > 0 ? follow / delta : 0;
        dae_log(r->ivp->opt, DAE_LOG_ITER, "careful=%d delta=%.3g lambda=%.3g theta=%.3g", st->newton, delta,
                lambda, st->theta);
        if (lambda < 1) continue;
        update(r);
        st->eta = st->theta / (1 - st->theta);
        if (st->eta * follow <= kappa) return CONVERGED;
    }
    return UNEXPECTED;
}

/* Ours: whether the first increment, which is small in the norm, moves a small component by a part of itself. Such ones are
 * below their atol, but what they multiply need not be (DETEST stiff E5 and F3 at 1e-2 .. 1e-4: they turned negative and
 * ran away). */
static int moves_small_components(const radau *r)
{
    const struct coefficients *m = levels[r->st->level];
    const double *y = r->stage + (m->s - 1) * r->ld;
    if (r->ivp->sys->kind != DAE_KIND_ODE) return 0;
    for (int i = 0; i < r->n; i++) {
        double d = 0;
        for (int k = 0; k < m->s; k++) d += m->T[m->s - 1][k] * r->g[k * r->ld + i];
        if (fabs(y[i]) < SMALL * r->ivp->atol[i] && fabs(d) > MOVED * fabs(y[i])) return 1;
    }
    return 0;
}

/* eta of the step before counts as its power of 0.8. */
static void age(radau_state *st, int *old)
{
    if (*old) st->eta = exp2(0.8 * log2(st->eta > UROUND ? st->eta : UROUND));
    *old = 0;
}

/* Small systems of s stages, times not measured: what iterations need, read once. Functions of the user could change anything,
 * for all the compiler knows. */
typedef struct plain {
    dae_ivp *ivp;
    dae_rhs *f;
    void *user;
    double (*iterate)(const radau_small *a, const struct coefficients *m, double q, double *g,
                      const double *weight, const double *y, double *w, double *z, double *stage);
    const radau_small *small;
    const struct coefficients *m;
    double *t, *stage, *g, *weight, *y, *w, *z, q, inverse_size;
} plain;

DAE_KERNEL_BODY plain plain_of(radau *r)
{
    int level = r->st->level;
    return (plain){.ivp = r->ivp,
                   .f = r->ivp->f,
                   .user = r->ivp->user,
                   .iterate = r->kernels[level]->iterate,
                   .small = r->small,
                   .m = levels[level],
                   .t = r->t,
                   .stage = r->stage,
                   .g = r->g,
                   .weight = r->weight,
                   .y = r->y,
                   .w = r->w,
                   .z = r->z,
                   .q = r->q,
                   .inverse_size = r->inverse_size[level]};
}

DAE_KERNEL_BODY int plain_stages(const plain *a, const int s)
{
    a->ivp->stats->f += s;
    DAE_UNROLL
    for (int k = 0; k < s; k++) {
        int bad = a->f(a->t[k], a->stage + k * RADAU_SMALL_LD, a->g + k * RADAU_SMALL_LD, a->user);
        if (bad) {
            a->ivp->stats->f -= s - 1 - k;
            return dae_ivp_refused(a->ivp, bad);
        }
    }
    return 0;
}

DAE_KERNEL_BODY double plain_iterate(const plain *a)
{
    double sum = a->iterate(a->small, a->m, a->q, a->g, a->weight, a->y, a->w, a->z, a->stage);
    return sqrt(sum * a->inverse_size);
}

/* [HW96] IV.8: simplified Newton. s > 0: of a small system; *old: eta is still that of the step before; most steps renew it before it is asked for. */
DAE_KERNEL_BODY outcome iterations(radau *r, int *old, const int s)
{
    radau_state *st = r->st;
    int nit = newton_max[st->level], fixed = r->ivp->opt->fixed_step > 0; /* no smaller step to hope for */
    double kappa = r->kappa[st->level], inverse_kappa = r->inverse_kappa[st->level];
    double delta_old = 0, q_old = 0, eta_one = 0;
    plain a = s ? plain_of(r) : (plain){0};
    st->theta = THETA_JAC;
    st->delta = INFINITY;
    for (st->newton = 0;;) {
        if (st->newton >= nit) return fixed && delta_old < 1 ? CONVERGED : UNEXPECTED;
        int bad = s ? plain_stages(&a, s) : stages(r);
        if (bad) return bad < 0 ? STOP : UNEXPECTED;
        double delta = s ? plain_iterate(&a) : iterate(r);
        int m = ++st->newton;
        r->ivp->stats->newton++;
        if (!isfinite(delta)) {
            r->ivp->stats->undefined++;
            return UNEXPECTED;
        }
        if (m > 1 && m < nit) {
            double q = delta / delta_old;
            st->theta = m == 2 ? q : sqrt(q * q_old);
            q_old = q;
            if (!(st->theta < 0.99)) return fixed && delta < 1 ? CONVERGED : UNEXPECTED;
            st->eta = st->theta / (1 - st->theta);
            *old = 0;
            double rest = st->eta * delta, predicted = rest * inverse_kappa;
            if (predicted >= 1) predicted = rest * power(st->theta, nit - 1 - m) * inverse_kappa;
            if (predicted >= 1 && !fixed) {
                double factor = 0.8 * pow(fmin(20, fmax(1e-4, predicted)), -1.0 / (4 + nit - 1 - m));
                st->h *= factor;
                st->slow = factor <= 0.5;
                return SLOW;
            }
        }
        if (m == 1) st->delta = delta;
        delta_old = delta > UROUND ? delta : UROUND;
        dae_log(r->ivp->opt, DAE_LOG_ITER, "newton=%d delta=%.3g theta=%.3g", m, delta, st->theta);
        /* Ours: eta of an earlier step does not vouch for a first increment where constraints hang on it and it is
         * large, or an attempt has just failed; nor for algebraic variables that are far off. */
        if (m == 1 && (delta > 1 || st->failures > 0) && r->ivp->index) continue;
        if (m == 1 && delta > FAR_OFF && r->mass.n) continue;
        /* ... nor where f has corners. */
        if (m == 1 && delta > kappa && r->ivp->corners) continue;
        if (delta == 0) return CONVERGED;
        if (*old && st->eta <= 1 && st->eta * delta > CLEARLY * kappa) continue; /* its power is larger */
        age(st, old);
        if (st->eta * delta > kappa) continue;
        if (m == 1 && moves_small_components(r)) {
            eta_one = st->eta;
            continue;
        }
        if (m == 2 && eta_one > 0) { /* order and Jacobian are chosen as if the first had been the last */
            st->eta = eta_one;
            st->theta = THETA_JAC;
            st->newton = 1;
        }
        return CONVERGED;
    }
}

static outcome newton(radau *r)
{
    int old = 1;
    dae_stats *stats = r->ivp->stats;
    long before = stats->newton;
    int s = r->small && !r->ivp->opt->profile ? levels[r->st->level]->s : 0;
    outcome o = s == 3 ? iterations(r, &old, 3) : s ? iterations(r, &old, s) : iterations(r, &old, 0);
    if (r->small) stats->solves += (stats->newton - before) * (1 + levels[r->st->level]->s / 2);
    age(r->st, &old);
    return o;
}

static double size_of(double mean)
{
    double e = sqrt(mean);
    return e > 1e-20 ? e : 1e-20;
}

static double error_norm(const radau *r)
{
    return size_of(dae_sum_squares(r->n, r->e, r->weight) / r->n);
}

/* e = inv(gamma/h M - J) (f_n + M sum dd_i Z_i / h), twice filtered where the first is large. */
static double estimate(radau *r)
{
    radau_state *st = r->st;
    const struct coefficients *m = levels[st->level];
    int n = r->n, ld = r->ld;
    double *md = r->g, err; /* M sum dd_i Z_i / h */
    r->ivp->stats->solves++;
    if (r->small) {
        double mean;
        DAE_LINALG(r->ivp, mean = r->kernels[st->level]->estimate(r->small, m, r->q, r->z, r->f, r->weight,
                                                                  md, r->e));
        err = size_of(mean);
    } else {
        r->kernels[st->level]->defect(n, ld, m, r->q, r->z, r->mass.n ? r->x : md);
        if (r->mass.n) dae_matrix_multiply(&r->mass, n, r->x, md);
        for (int i = 0; i < n; i++) r->e[i] = md[i] + r->f[i];
        DAE_LINALG(r->ivp, solve_real(r, r->e));
        err = error_norm(r);
    }
    if (err < 1 || !(st->first || st->rejected)) return err;
    for (int i = 0; i < n; i++) r->x[i] = r->y[i] + r->e[i];
    if (dae_ivp_f(r->ivp, r->ivp->t, r->x, r->e)) return err; /* cannot be evaluated: the first one stands */
    for (int i = 0; i < n; i++) r->e[i] += md[i];
    DAE_LINALG(r->ivp, solve_real(r, r->e));
    r->ivp->stats->solves++;
    return error_norm(r);
}

/* The polynomial of this step, through 0, Z_1, .., Z_s. */
static void keep_polynomial(radau *r)
{
    radau_state *st = r->st;
    r->kernels[st->level]->differences(r->n, r->ld, (const double(*)[S_MAX + 1]) r->inverse[st->level], r->z,
                                       r->cont);
    st->s_cont = levels[st->level]->s;
    st->h_cont = st->h;
}

static double root_of(double x, int k) /* x^(1/k), k = 4, 6, 8 */
{
    if (k == 4) return sqrt(sqrt(x));
    if (k == 8) return sqrt(sqrt(sqrt(x)));
    return sqrt(cbrt(x));
}

static double clip(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* ---- Corners ---------------------------------------------------------------------------------------- */

/* Whether t lies ahead. */
static int ahead(const dae_ivp *ivp, double t)
{
    return ivp->direction * (t - ivp->t) > CORNER_WIDTH * fabs(ivp->t);
}

static int corner_ahead(const radau *r)
{
    return r->st->corner_h != 0 && ahead(r->ivp, r->st->far);
}

/* A step of size h with this error has a corner in it. */
static void note_corner(radau *r, double err, double h)
{
    radau_state *st = r->st;
    if (!corner_ahead(r) || r->ivp->direction * (r->ivp->t + h - st->far) > 0) st->far = r->ivp->t + FAR * h;
    st->corner = r->ivp->t + h;
    st->corner_h = h;
    st->corner_err = err;
}

/* Ahead of a corner: half of the way to where it lies at most, or all of it if what it does there may be. */
static double toward_corner(const radau *r, double h)
{
    const radau_state *st = r->st;
    if (!corner_ahead(r) || !ahead(r->ivp, st->corner)) return h;
    double way = st->corner - r->ivp->t;
    if (st->corner_err * r->full[st->level] * (way / st->corner_h) > 1) way *= 0.5;
    return fabs(way) < fabs(h) ? way : h;
}

/* A second estimate of the error. With a_n the highest divided difference of the stages, h^s y^(s)/s! somewhere in the step,
 * q = h/h_old, and c = s/(2s-1) the mean of the nodes
 *
 *     a_n - q^s a_(n-1)  =  (c + (1-c)/q) h^(s+1) y^(s+1)/s!,       e  =  -prod c_i/gamma h^(s+1) y^(s+1)/s!
 *
 * At some places of a step a corner makes no e; it does make a_n. *unit: the error that a difference of 1 stands for. 0: there is no step
 * before this one. */
static double second_estimate(const radau *r, double h, double *unit)
{
    const radau_state *st = r->st;
    const struct coefficients *m = levels[st->level];
    int s = m->s, n = r->n;
    if (st->s_cont != s || st->first) return 0;
    double q = h / st->h_cont, mean = s / (2.0 * s - 1);
    *unit = r->unit[st->level] / (mean + (1 - mean) / q);
    return *unit * sqrt(r->kernels[st->level]->bend(n, r->ld, r->lead[st->level], q, r->z,
                                                    r->cont + s * r->ld, r->weight, r->x));
}

/* Whether inv(gamma/h M - J) takes much of the error away: what is left says little of what it comes from. */
static int damped(const radau *r, double h)
{
    double sum = 0, c = h / levels[r->st->level]->gamma;
    for (int i = 0; i < r->n; i++) {
        double e = c * (r->g[i] + r->f[i]) * r->weight[i];
        sum += e * e;
    }
    return size_of(sum / r->n) > NOT_STIFF * error_norm(r);
}

/* Whether the second estimate shows a corner where the first does not, in this step, not the last one. */
static int second_thought(const radau *r, double err, double h, double *second)
{
    const radau_state *st = r->st;
    const struct coefficients *m = levels[st->level];
    double full = r->full[st->level], unit;
    if (full < SECOND_FULL || err * full <= SECOND_WORTH) return 0;
    *second = second_estimate(r, h, &unit);
    if (*second * full <= SECOND_TOL) return 0;
    double past =
        unit * power(h / st->h_cont, m->s) * sqrt(dae_sum_squares(r->n, r->cont + m->s * r->ld, r->weight));
    return *second > PAST * past || (*second > SECOND * err && *second > SECOND_PAST * past);
}

/* How far an error estimate below 1 is above what may be believed; at most 1: it may. The estimate is that of a formula of
 * order s with a tolerance larger than the user's; where the solution is smooth, y_(n+1) is more accurate by as much. At a
 * corner it is not: there the error falls with h only when a rejected step is repeated, not with h^(s+1), and the user's own
 * tolerance counts until the corner is passed. So it does in the first step and in the first of a higher order: nothing is known
 * there. */
static double excess(radau *r, double err, double h)
{
    radau_state *st = r->st;
    if (r->ivp->sys->kind != DAE_KIND_ODE || fabs(h) <= CORNER_WIDTH * fabs(r->ivp->t)) return 0;
    int p = levels[st->level]->s + 1;
    double full = r->full[st->level], second, unit;
    int known = corner_ahead(r), near = known && ahead(r->ivp, st->corner), here = 0;
    if (near) {
        if (err * full < 1) err = fmax(err, second_estimate(r, h, &unit));
        if (err * full > 1 && err > st->corner_err * sqrt(power(h / st->corner_h, p))) note_corner(r, err, h);
        return err * full;
    }
    if (st->h_last != 0 && !(err * (known ? full : 1) < 1)) {
        here = err > st->err_last * sqrt(power(h / st->h_last, p));
    } else if (st->h_last != 0 && st->err_last * full > 1 &&
               err * fall[st->level] < st->err_last * power(h / st->h_last, p)) {
        note_corner(r, st->err_last, st->h_last); /* beyond this step */
    } else if (st->failures == 0 && st->accepted >= 1 && !st->changed_order) {
        here = err > rough[st->level] * st->err_true * power(h / st->h_acc, p) &&
               err * full > 1; /* rare first */
    }
    if (!here && err < 1 && second_thought(r, err, h, &second)) {
        here = 1;
        err = fmax(err, second);
    }
    here = here && !damped(r, h);
    if (here) note_corner(r, err, h);
    return known || here || st->s_cont < p - 1 ? err * full : 0; /* 0 stages before the first step */
}

/* ---- Steps ------------------------------------------------------------------------------------------ */

/* The step that follows an accepted one, and whether Jacobian and factors are kept. */
static void plan_next(radau *r, double h_new)
{
    radau_state *st = r->st;
    dae_ivp *ivp = r->ivp;
    double d = ivp->direction;
    if (ivp->opt->h_max > 0 && fabs(h_new) > ivp->opt->h_max) h_new = d * ivp->opt->h_max;
    if (st->rejected && d * (h_new - st->h) > 0) h_new = st->h;
    st->rejected = 0;
    h_new = toward_corner(r, h_new);
    ivp->h_next = h_new;
    st->h_old = st->h;
    double room = ivp->t_stop - ivp->t;
    int tiny = ivp->index && d * (room - h_new) < TINY_LAST * fabs(h_new);
    if (d * (h_new - room) >= 0) {
        st->h = room;
        st->last = 1;
    } else if (tiny) {
        st->h = 0.5 * room;
    } else {
        double q = h_new / st->h;
        if (st->theta <= THETA_JAC && q >= KEEP_LOW && q <= KEEP_HIGH) {
            st->kept = 1;
            return;
        }
        st->h = h_new;
    }
    st->need_lu = 1;
    st->need_jac = st->theta > THETA_JAC;
}

static void plan_fixed(radau *r)
{
    radau_state *st = r->st;
    double h = r->ivp->direction * r->ivp->opt->fixed_step, room = r->ivp->t_stop - r->ivp->t;
    st->last = fabs(room) <= fabs(h) * (1 + 1e-10);
    st->h_old = st->h;
    st->h = st->last ? room : h;
    r->ivp->h_next = st->h;
    st->need_lu = st->need_jac = 1;
}

/* After a failed iteration or a rejected step: a new attempt with a smaller h. */
static void prepare_retry(radau *r)
{
    radau_state *st = r->st;
    st->rejected = 1;
    st->last = 0;
    st->kept = 0;
    st->need_lu = 1;
    st->need_jac = !st->jac_here;
    st->failures++;
}

/* Ours: the polynomial of the last step says nothing of a much longer one of an ODE where fast components have died out in it; what
 * the iteration cannot do from there it may do from y_n, with the same h. */
static int may_start_afresh(const radau *r)
{
    return r->ivp->sys->kind == DAE_KIND_ODE && grown(r) && extrapolates(r);
}

/* What an accepted step says of where the stages should start. How far the increments fall from a bad start says little of how they will from
 * the next, which is better. */
static void judge_start(radau_state *st, int long_step)
{
    int better = st->afresh && st->delta < st->delta_before;
    st->doubt = long_step && (st->doubt || better);
    if (st->afresh && !better) st->eta = 1;
    st->afresh = 0;
}

/* One attempt. 1: accepted, 0: try again, < 0: failed. */
static int attempt(radau *r)
{
    radau_state *st = r->st;
    dae_ivp *ivp = r->ivp;
    int fixed = ivp->opt->fixed_step > 0, s = levels[st->level]->s;
    set_weights(r);
    begin_attempt(r);
    predict(r);
    outcome o = careful(r) ? newton_careful(r) : newton(r);
    if (o == STOP) return (int)dae_says_stopped(ivp, ivp->t, "the right-hand side");
    if (o != CONVERGED) {
        ivp->stats->newton_failures++;
        if (fixed) return (int)dae_says_not_converging(ivp, ivp->t, st->h);
        if (o == UNEXPECTED && may_start_afresh(r)) {
            st->afresh = 1;
            st->delta_before = st->delta;
            st->need_jac = st->need_lu = !st->jac_here;
            return 0;
        }
        if (o == UNEXPECTED || st->afresh) {
            st->h *= 0.5;
            st->unexpected = 1;
            st->afresh = 0;
        }
        prepare_retry(r);
        return 0;
    }
    int nit = newton_max[st->level], reject = 0;
    double err = fixed ? 0 : estimate(r), h = st->h, h_new = h;
    if (!fixed) {
        double fac = st->newton > 1 ? SAFETY * (1 + 2 * nit) / (st->newton + 2 * nit) : SAFETY;
        double quot = clip(root_of(err, s + 1) / fac, GROW_MAX, SHRINK_MAX);
        h_new = h / quot;
        double above = excess(r, err, h);
        reject = !(err < 1) || above > 1;
        if (above > 1) /* the error falls with h only */
            h_new = h * clip(0.5 / above, 0.3, 0.5);
        if (reject && !st->first && r->mass.n && st->stuck >= STUCK && err < STUCK_ERR) {
            dae_log(ivp->opt, DAE_LOG_WARN,
                    "t=%.10g warning=\"the error %.3g does not fall with h: taken as a correction of y\"",
                    ivp->t, err);
            reject = 0;
        }
        if (!reject && !st->changed_order) { /* predictive controller, Gustafsson 1994 */
            if (st->accepted >= 1) {
                double gus = clip(st->h_acc / h * root_of(err * err / st->err_acc, s + 1) / SAFETY, GROW_MAX,
                                  SHRINK_MAX);
                if (gus > quot) h_new = h / gus;
            }
            st->h_acc = h;
            st->err_acc = err > 0.01 ? err : 0.01;
            st->err_true = err;
        } else if (!reject) {
            st->err_true = INFINITY; /* nothing to compare with */
        }
    }
    double t_new = st->last ? ivp->t_stop : ivp->t + h;
    double *y_new = r->stage + (s - 1) * r->ld;
    if (!reject) { /* f at the new point, before it is taken */
        int bad = ivp->project ? dae_ivp_project(ivp, t_new, y_new) : 0;
        if (!bad) bad = dae_ivp_f_placed(ivp, 1, 0, &r->t[s - 1], y_new, r->e);
        if (!bad && !dae_all_finite(r->n, r->e)) bad = dae_ivp_not_finite(ivp, r->n, r->e);
        if (bad < 0) return (int)dae_says_stopped(ivp, t_new, "the right-hand side");
        if (bad) {
            st->h *= 0.5;
            st->unexpected = 1;
            ivp->stats->newton_failures++;
            prepare_retry(r);
            return 0;
        }
    }
    dae_log(ivp->opt, DAE_LOG_ITER, "err=%.3g h=%.6g h_new=%.6g newton=%d", err, h, h_new, st->newton);
    if (reject) {
        if (st->accepted || ivp->stats->accepted) ivp->stats->rejected++;
        st->stuck = st->failures > 0 && err > 0.9 * st->err_last ? st->stuck + 1 : 0;
        st->err_last = err;
        st->h_last = h;
        st->h = st->first && !(err < 1) ? 0.1 * h : h_new;
        prepare_retry(r);
        return 0;
    }
    judge_start(st, grown(r));
    keep_polynomial(r);
    if (refines(r)) {
        dae_refine_begin(&r->refine, r->y);
        st->dense_error = err * r->rtol[st->level][0] / ivp->rtol[0];
    }
    r->kernels[st->level]->advance(r->n, y_new, r->e, r->atol[st->level], r->rtol[st->level], r->y, r->f,
                                   r->base);
    ivp->t_old = ivp->t;
    ivp->t = t_new;
    ivp->order = 2 * s - 1;
    ivp->stats->accepted++;
    st->accepted++;
    st->first = st->failures = st->stuck = st->singular = st->changed_order = st->jac_here = 0;
    st->h_last = 0;
    if (fixed) plan_fixed(r);
    else plan_next(r, h_new);
    return 1;
}

/* ---- The step ------------------------------------------------------------------------------------- */

static dae_status step(void *self)
{
    radau *r = self;
    radau_state *st = r->st;
    dae_ivp *ivp = r->ivp;
    for (int level = r->level_min; level <= r->level_max && ivp->varies; level++) scale_tolerances(r, level);
    if (st->first || ivp->varies) set_base_weights(r);
    for (;;) {
        if (st->kept) { /* [RADAU]: the order may rise although h and the factors could be kept */
            st->kept = 0;
            st->steps_since_change++;
            if (st->steps_since_change >= ORDER_WAIT && st->level < r->level_max) st->need_lu = 1;
        }
        if (st->need_jac) {
            dae_status s = jacobian(r);
            if (s) return s;
        }
        if (st->need_lu) {
            control_order(r);
            if (st->changed_order) set_base_weights(r);
            int bad = factor(r);
            if (bad < 0) return dae_says_no_memory_to_factor(ivp, ivp->t);
            if (bad > 0) {
                if (++st->singular >= SINGULAR_MAX) {
                    return dae_ivp_fail(ivp, DAE_ERR_SINGULAR,
                                        "t = %.10g: the iteration matrix is singular (row %d of its "
                                        "elimination), also with h = %.3g; the index "
                                        "may be above 3, equations redundant, or a variable may not occur",
                                        ivp->t, bad, st->h);
                }
                st->h *= 0.5;
                st->unexpected = 1;
                prepare_retry(r);
                continue;
            }
            st->need_lu = 0;
        }
        ivp->stats->steps++;
        double least = 10 * UROUND * fabs(ivp->t);
        if (least < LEAST) least = LEAST;
        if (least < ivp->opt->h_min) least = ivp->opt->h_min;
        if (fabs(st->h) <= least && !st->last) {
            return dae_says_step_fell_in_a_row(ivp, st->h, least, st->failures);
        }
        int done = attempt(r);
        if (done < 0) return (dae_status)done;
        if (done) return DAE_OK;
    }
}

/* ---- Dense output ---------------------------------------------------------------------------------- */

/* The polynomial through the stages. */
static void collocation(const radau *r, double t, double *y, double *yp)
{
    const radau_state *st = r->st;
    int s = st->s_cont, n = r->n, ld = r->ld;
    const struct coefficients *m = levels[(s - 3) / 2];
    double sigma = (t - r->ivp->t) / st->h_cont;
    for (int i = 0; i < n; i++) {
        double p = r->cont[s * ld + i], dp = 0;
        for (int j = s - 1; j >= 1; j--) {
            dp = p + (sigma - (node(m, j) - 1)) * dp;
            p = r->cont[j * ld + i] + (sigma - (node(m, j) - 1)) * p;
        }
        y[i] = r->y[i] + sigma * p;
        if (yp) yp[i] = (p + sigma * dp) / st->h_cont;
    }
}

static void guess(void *self, double t, double *y)
{
    collocation(self, t, y, NULL);
}

/* gamma/h inv(gamma/h - J) with the factors of the step. */
static void filter(void *self, double *x)
{
    radau *r = self;
    double c = levels[(r->st->s_cont - 3) / 2]->gamma / r->st->h_cont;
    DAE_LINALG(r->ivp, solve_real(r, x));
    r->ivp->stats->solves++;
    for (int i = 0; i < r->n; i++) x[i] *= c;
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    radau *r = self;
    const radau_state *st = r->st;
    dae_refine_step s = {.k = 2 * st->s_cont - 1, .y1 = r->y, .guess = guess, .filter = filter, .self = r};
    if (!(st->dense_error > REFINE) || !dae_refine_interpolate(&r->refine, &s, t, y, yp))
        collocation(r, t, y, yp);
}

/* ---- Checkpoint: the sparse factors ------------------------------------------------------------------ */

static size_t save(const void *self, void *buffer)
{
    const radau *r = self;
    unsigned char *out = buffer;
    size_t used = 0;
    for (int k = -1; k < S_MAX / 2; k++) {
        const dae_shifted *s = k < 0 ? r->real : r->complex[k];
        if (s) used += dae_shifted_save(s, out ? out + used : NULL);
    }
    return used;
}

static int load(void *self, const void *buffer, size_t size)
{
    radau *r = self;
    const unsigned char *in = buffer;
    size_t used = 0;
    for (int k = -1; k < S_MAX / 2; k++) {
        dae_shifted *s = k < 0 ? r->real : r->complex[k];
        if (!s) continue;
        size_t need = dae_shifted_save(s, NULL);
        if (used + need > size || dae_shifted_load(s, in + used, need)) return 1;
        used += need;
    }
    return 0;
}

/* ---- Descriptors ------------------------------------------------------------------------------------ */

#define ORDER_OPTION(field, standard, text)                                                           \
    {                                                                                                 \
#field, DAE_OPTION_INT, offsetof(radau_options, field), standard, NULL, 5, 13, NULL, "", text \
    }

#define KERNELS_OPTION                                                                                     \
    {                                                                                                      \
        "kernels", DAE_OPTION_NAME, offsetof(radau_options, kernels), 0, "auto", 0, 0, "auto|general", "", \
            "auto: systems of 2 to 6 or 8 equations run in code made for their size; general: they do "    \
            "not"                                                                                          \
    }

#define SECOND_ORDER_OPTION                                                                                 \
    {                                                                                                       \
        "second_order", DAE_OPTION_INT, offsetof(radau_options, second_order), 1, NULL, 0, 1, NULL, "",     \
            "0: the linear systems are not reduced where y'[i] = y[m+i], as in the report's first rows of " \
            "beam and plei"                                                                                 \
    }

static const dae_option radau5_option_table[] = {KERNELS_OPTION, SECOND_ORDER_OPTION, {.name = NULL}};
static const dae_option radau_option_table[] = {
    ORDER_OPTION(order_min, 5, "lowest order: 5, 9 or 13"),
    ORDER_OPTION(order_max, 13, "highest order: 5, 9 or 13"),
    KERNELS_OPTION,
    SECOND_ORDER_OPTION,
    {.name = NULL},
};

const dae_method dae_method_radau5 = {
    .info = {.name = "radau5",
             .title = "Radau IIA of order 5",
             .literature = "Hairer, Wanner: Solving Ordinary Differential Equations II, 1996, section IV.8",
             .summary = "stiff ODEs and DAEs of index 1, 2, 3; the safe choice at moderate tolerances",
             .order_min = 5,
             .order_max = 5,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE,
             .max_index = 3,
             .implicit = 1,
             .projects = 1,
             .checkpoint = 1,
             .options = radau5_option_table},
    .option_size = sizeof(radau_options),
    .create = create_radau5,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};

const dae_method dae_method_radau = {
    .info = {.name = "radau",
             .title = "Radau IIA of orders 5, 9, 13 with order control",
             .literature = "Hairer, Wanner: Stiff differential equations solved by Radau methods, 1999",
             .summary = "as radau5, and better from about seven digits on",
             .order_min = 5,
             .order_max = 13,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE,
             .max_index = 3,
             .implicit = 1,
             .projects = 1,
             .checkpoint = 1,
             .options = radau_option_table},
    .option_size = sizeof(radau_options),
    .create = create_radau,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
