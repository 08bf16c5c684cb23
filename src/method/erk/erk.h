/* What the explicit Runge-Kutta methods share: a table in, a method out.
 *
 * One step from (t, y0) of size h:
 *     Y_i = y0 + h sum_j a[i][j] k_j,   k_i = f(t + c_i h, Y_i),   y1 = y0 + h sum_j b_j k_j
 * and the last derivative, f(t + h, y1), is the first of the next step. Dense output with
 * theta = (t - t_old)/h is, for all of them, [HNW] II.6 and the programs of II.5,
 *     r1 + theta (r2 + (1-theta) (r3 + theta (r4 + (1-theta) (r5 + theta (r6 + ...)))))
 * r1 = y0, r2 = y1 - y0, r3 = h f(y0) - r2, r4 = r2 - h f(y1) - r3: the cubic Hermite polynomial, and
 * r_(5+j) = h sum_i d[j][i] k_i. */
#ifndef DAE_METHOD_ERK_ERK_H
#define DAE_METHOD_ERK_ERK_H

#include "method/refine.h"

#include <float.h>
#include <math.h>

enum { DAE_ERK_WIDTH = 26 }; /* columns of every table */

typedef struct dae_erk dae_erk;

typedef struct dae_erk_table {
    int order;       /* of y1 */
    int estimate;    /* the error estimate behaves like h^estimate */
    int stages;      /* evaluations before the error test: k[0] .. k[stages-1] */
    int fsal;        /* k[fsal] = f(t+h, y1): stages - 1, or stages (evaluated after the error test) */
    int total;       /* stages in all; those after fsal are evaluated for dense output only */
    int spare;       /* derivatives to keep besides */
    const double *c; /* total */
    const double (*a)[DAE_ERK_WIDTH]; /* total rows; row fsal holds b */
    const double (*d)[DAE_ERK_WIDTH]; /* dense rows */
    int dense;                        /* rows of d */
    int refine;                       /* points of refined dense output, 0: none */
    const double (*e)[DAE_ERK_WIDTH]; /* b minus an embedded b, for error */
    int errors;                       /* rows of e */
    double hidden; /* a jump of f inside of a step: at most so many times the estimate, by where it falls */
    int low; /* 0: that estimate; else one of order h^low, of the last row of e: where the first is hardly seen to jump */
    /* The norm of the local error, accepted up to 1. Computes y1 too where fsal == stages. */
    double (*error)(dae_erk *m, double h);
    /* Stiffness: h rho is about h |k[fsal] - k[compare]| / |y1 - Y|, Y the argument of k[compare]; rho
     * near the border of the stability region on the negative real axis, stiff_bound, means stiff. */
    int compare;
    double stiff_bound;
    /* Where no stage besides the last has c = 1: computes Y and k[compare]. NULL: both are there. */
    int (*other)(dae_erk *m, double h);
} dae_erk_table;

typedef struct dae_erk_option {
    double safety, beta, factor_min, factor_max;
    int stiff_test;
} dae_erk_option;

/* The part of the state that is not an array; in the arena, without pointers. */
typedef struct dae_erk_state {
    double t_old, t; /* the last step */
    double h;        /* its size */
    double h_next;
    double seen;    /* its estimate by which jumps are seen */
    double log_err; /* log(max(1e-4, err)) of the last accepted step, for the PI controller */
    long accepted;  /* since creation */
    int dense;      /* the coefficients r of the last step are there */
    int hits, calm; /* stiffness test: steps for and against in the present suspicion */
    int reported;   /* DAE_STIFF has been returned */
} dae_erk_state;

/* A row of the table without its zeros, with the derivatives it multiplies. */
typedef struct dae_erk_term {
    double a;
    const double *k;
} dae_erk_term;

typedef struct dae_erk_row {
    int count;
    dae_erk_term term[DAE_ERK_WIDTH];
} dae_erk_row;

/* out = y + h sum a_j k_j; 1: all of it is finite. */
typedef int dae_erk_sum(int n, const double *y, double h, const dae_erk_row *row, double *out);

struct dae_erk {
    dae_ivp *ivp;
    const dae_erk_table *table;
    const dae_erk_option *option;
    dae_erk_state *s;
    int n;
    int dense_rows; /* those for dense output are filled */
    double low;     /* with table->low: that estimate of the present step, left by error */
    double *y;      /* n: the solution at t, ivp->y; may be changed between two steps (projection) */
    double *y0;     /* n: where the last step began */
    double *y1;     /* n: where it ended, before any change of y */
    double *stage;  /* n: argument of a stage */
    double *w;      /* 2 n: weighted errors */
    double *zero;   /* n */
    double *k[DAE_ERK_WIDTH + 1]; /* n each: derivatives */
    double *r[4 + DAE_ERK_WIDTH]; /* n each: dense output */
    dae_erk_row *row;             /* total: of a, dense: of d; those of the stages are filled */
    dae_erk_sum *sum;             /* for this n */
    dae_refine refine;
};

/* For the descriptors; create takes the table besides. */
void *dae_erk_create(dae_ivp *ivp, const dae_erk_table *table, const void *option, dae_error *err);
dae_status dae_erk_reset(void *self, double t, const double *y, const double *yp, double h);
dae_status dae_erk_step(void *self);
void dae_erk_interpolate(void *self, double t, double *y, double *yp);
void dae_erk_destroy(void *self);

/* The weight of an error: atol + rtol max(|a|, |b|), never 0, so that a component that stays 0 passes. */
static inline double dae_erk_weight(double atol, double rtol, double a, double b)
{
    double p = fabs(a), q = fabs(b);
    return atol + rtol * (p > q ? p : q) + DBL_MIN;
}

/* The lines of an options table; the defaults differ between the methods. */
/* clang-format off */
#define DAE_ERK_OPTIONS(safety_, beta_, min_, max_)                                                          \
    {"safety", DAE_OPTION_REAL, offsetof(dae_erk_option, safety), safety_, NULL, 0.1, 1, NULL, "",           \
     "factor on every new step size"},                                                                       \
    {"beta", DAE_OPTION_REAL, offsetof(dae_erk_option, beta), beta_, NULL, 0, 0.2, NULL, "",                 \
     "weight of the previous error in the new step size (PI control); 0: none"},                             \
    {"factor_min", DAE_OPTION_REAL, offsetof(dae_erk_option, factor_min), min_, NULL, 0.01, 0.9, NULL, "",   \
     "smallest ratio of two steps"},                                                                         \
    {"factor_max", DAE_OPTION_REAL, offsetof(dae_erk_option, factor_max), max_, NULL, 1.1, 100, NULL, "",    \
     "largest ratio of two steps"},                                                                          \
    {"stiff_test", DAE_OPTION_INT, offsetof(dae_erk_option, stiff_test), 1000, NULL, 0, 1e9, NULL, "steps",  \
     "accepted steps between two tests for stiffness; 0: never"},                                            \
    {0}
/* clang-format on */

extern const dae_erk_table dae_dopri5_table, dae_dop853_table, dae_bs23_table, dae_vern8_table,
    dae_vern9_table;
extern const dae_method dae_method_dopri5, dae_method_dop853, dae_method_bs23, dae_method_vern8,
    dae_method_vern9;

#endif
