/* What the files of the method mexx share: mexx.c (step, order and step size control), row.c (one row of
 * the tableau), dense.c (continuous representation). */
#ifndef DAE_METHOD_MEXX_MEXX_H
#define DAE_METHOD_MEXX_MEXX_H

#include "core/pool.h"
#include "method/mechanics.h"

#include <stdatomic.h>

enum {
    MEXX_ROWS = 12,
    MEXX_COEFFICIENTS = 16, /* of one polynomial of the dense output, at most */
    MEXX_DIFFERENCES = 8,   /* order of the highest difference in it */
};

/* The step number sequence that produced the tables of the report; what its section 2.2 prints is
 * another one. n_1 >= 2 is needed by the dense output. */
static const int mexx_steps[MEXX_ROWS] = {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30};

typedef struct mexx_options {
    int max_rows;
    int rows;
    int dense_max_degree;
    const char *friction_jacobian;
    const char *dense_projection;
    const char *linear_algebra;
} mexx_options;

/* What one thread needs to compute a row. */
typedef struct mexx_worker {
    dae_mechanics x;
    dae_saddle *saddle;    /* systems (2.1b) or (2.2a) */
    double *M, *G, *U;     /* values */
    double *gI, *f, *pdot; /* nl, nv, np */
    double *rhs;           /* nv + nl */
} mexx_worker;

/* What became of a row. */
typedef struct mexx_row {
    int outcome;
    int stale;                /* the solver asks for an anchor */
    dae_mechanics_counters n; /* counted when the row is used, so that rows ahead of need do not show */
} mexx_row;

/* Plain numbers that a checkpoint carries. */
typedef struct mexx_state {
    double t, H;            /* step size, > 0, for the next attempt */
    double t_first;         /* where the method was started */
    int K;                  /* rows aimed at */
    int first, rejected;    /* no step attempted yet; the last attempt failed */
    int kappa;              /* rows of the last accepted step */
    double H_taken;         /* its size */
    int known_z0, known_z1; /* a and lambda at the left and right end are known */
    int dense, dense_z;     /* 1: the coefficients belong to the last step; those of a and lambda too */
    int degree;             /* of the continuous representation */
    int halves, rough;      /* it has two pieces; its points are to be projected */
    int n0[3], n1[3],
        nz0[3];         /* values at the ends of the whole step and of both halves; nz0: of a and lambda */
    double dense_error; /* its estimated error, relative to rtol times the size of p, v or u, plus atol */
} mexx_state;

typedef struct mexx {
    dae_ivp *ivp;
    mexx_options opt;
    int friction;                   /* (2.2) */
    int np, nv, nu, nl, ny, nx, ns; /* y = (p,v,u), x = (y,a,lambda), s = (y', lambda) */
    mexx_worker *w;                 /* one for each thread; w[0] is the caller's */
    int threads;
    dae_pool *pool;                  /* NULL: one thread */
    dae_saddle *position, *velocity; /* projections; may be the solver of w[0] */
    dae_saddle *exact;               /* accelerations where f depends on lambda but the steps ignore it */

    mexx_state *s;
    double *x0;              /* nx: at the left end of the step */
    double *x1;              /* nx: at its right end; ivp->y */
    double *f0, *pdot0, *u0; /* at x0: f (nv), T v (np), d (nu, dense output only) */
    double *F;               /* nv x nl: df/dlambda at the start of the step, friction only */
    double *pdot1, *f1, *F1; /* at x1 */
    mexx_row result[MEXX_ROWS];
    int near_rounding; /* tolerances that rounding does not let every component meet */
    double t0, H;      /* where it begins, its signed size */
    atomic_int failed; /* first row that failed: those after it need not go on; several threads only */
    double *row;       /* rows x nx: T_j1, as the rows come */
    double *tableau;   /* rows x nx: T_jk of the present row j */
    double *sample;    /* sum of n_j x ns: differences and multipliers of all substeps */
    double *weight;    /* ny */
    double *weight0;   /* ny: at the start of the step, for the check of the first rows */
    double e[MEXX_ROWS + 1], Hj[MEXX_ROWS + 1], W[MEXX_ROWS + 1], A[MEXX_ROWS + 2]; /* from 1 */
    double *coefficient; /* 3 x 16 x nx: Newton coefficients of Y, and of Z for a and lambda */
    double *scratch;     /* 3 x (rows+1) x ns */
    double size[3];      /* of p, v, u in the last step */
    /* Tables, filled when first needed. [a][b][j]: weight of row j when values of the rows a .. b-1 (or of those with even n) are extrapolated to h = 0:
     * the product of n_j/(n_j - n_k) over k != j, which is what the tableau of section 2.2 amounts to. */
    double from_all[MEXX_ROWS][MEXX_ROWS + 1][MEXX_ROWS], from_even[MEXX_ROWS][MEXX_ROWS + 1][MEXX_ROWS];
    double binomial[MEXX_DIFFERENCES + 1][MEXX_DIFFERENCES + 1]; /* [m][k]: (-1)^(m-k)/m! times m over k */
    double *point;                                               /* nx: interpolated point of multipliers */
    double t_projected; /* point is the solution at this time, projected; NAN: it is not */
    dae_mechanics aux;  /* evaluations outside of the rows */
} mexx;

enum { ROW_FINE = 0, ROW_UNSTABLE = 1, ROW_STOP = -1 };

/* Step i of row j (both from 0), which has n_j half-explicit Euler steps of size h = H/n_j, [MEXX] (2.1) or (2.2). The state is
 * in row + j nx, T_j1 at the end; any worker can do any step. Writes the samples too. signed H. */
int dae_mexx_substep(const mexx *s, mexx_worker *w, int j, int i, double H);
/* All steps of row j. */
int dae_mexx_row(const mexx *s, mexx_worker *w, int j, double H);
/* Where the samples of row j begin. */
size_t dae_mexx_sample_at(const mexx *s, int j);

/* The continuous representation of the last step from its first rows, [MEXX] (2.13) to (2.15). 1: its error is so far
 * beyond the tolerance that another row is worth its cost. */
int dae_mexx_dense_build(mexx *s, int rows);
/* y (ny or NULL), y' (ny or NULL, then y too; its part v' is a) and lambda (nl or NULL) at theta in [0,1]. */
void dae_mexx_dense_at(mexx *s, double theta, double *y, double *yp, double *lambda);

#endif
