/* Sparse LU factors, real and complex: KLU chooses the pivots, own lists factor again.
 *
 * The pattern is analyzed once (KLU). The first factorization chooses the pivots; later ones keep them as
 * long as they are good, as a list of operations (fixed.h), or by klu_refactor where that list would be too
 * long; and choose anew where they went bad: reciprocal pivot growth below DAE_SPARSE_GROWTH, or a pivot that
 * became zero.
 *
 * The factors live outside the arena. What is needed to make the same factors again lives in it: the values
 * that chose the pivots and the last values. */
#ifndef DAE_LINALG_SPARSE_H
#define DAE_LINALG_SPARSE_H

#include "core/arena.h"

#define DAE_SPARSE_GROWTH 1e-6 /* ours: leaves ten of the sixteen digits to the refactored matrix */

/* In the arena: no pointers. */
typedef struct dae_sparse_state {
    int factored;         /* there are factors */
    int refactored;       /* the last factors kept the pivots of an earlier matrix */
    int ordered;          /* the ordering is decided: */
    int by_columns;       /* 1: of the columns, whatever the pivots; 0: of the pattern made symmetric */
    long full, refactors; /* counts of both kinds */
} dae_sparse_state;

typedef struct dae_sparse_lu {
    int n, count;         /* order, stored values */
    int is_complex;       /* 1: values in pairs (re, im) */
    int *colptr, *rowind; /* compressed columns, rows ascending */
    double *value;        /* count (pairs): filled by the caller, not changed */
    double *chosen;       /* count (pairs): the values that chose the pivots */
    double *work;         /* n pairs */
    dae_sparse_state *state;
    double flops;            /* of a factorization, estimated by the analysis; < 0: unknown */
    int klu_only;            /* 1: never make the list (tests and measurements) */
    struct dae_klu *klu;     /* KLU's own objects */
    struct dae_fixed *fixed; /* the list, or NULL: KLU's factors are used */
} dae_sparse_lu;

/* Copies the pattern and analyzes it. 0: fine; < 0: out of memory. */
int dae_sparse_init(dae_sparse_lu *s, int n, const int *colptr, const int *rowind, int is_complex,
                    dae_arena *arena);
void dae_sparse_free(dae_sparse_lu *s);
/* Operations of a factorization of this pattern, estimated by the analysis alone; < 0: unknown, or out of memory. */
double dae_sparse_flops(int n, const int *colptr, const int *rowind);

/* Factors the matrix in value. 0: fine; k > 0: singular at pivot k, or not finite; < 0: out of memory. */
int dae_sparse_factor(dae_sparse_lu *s);
/* Solves in place; im is NULL for real factors. */
void dae_sparse_solve(dae_sparse_lu *s, double *re, double *im);
/* Real factors, several right-hand sides: the columns of x, n values each. */
void dae_sparse_solve_many(dae_sparse_lu *s, int count, double *x);
/* Makes the factors again that the arena tells of. 0: fine. */
int dae_sparse_restore(dae_sparse_lu *s);

#endif
