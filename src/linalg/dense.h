/* Dense LU factors with partial pivoting, real and complex, made for n from 2 to some hundreds.
 *
 * The order is padded with zeros to a multiple of 4 (ld), so that the kernels work on whole groups of 4.
 * Complex matrices are two real arrays. Up to DAE_DENSE_OWN_... unknowns own kernels run, above it LAPACK,
 * whose threads (if it has any) are the user's to limit, for instance with OPENBLAS_NUM_THREADS=1. */
#ifndef DAE_LINALG_DENSE_H
#define DAE_LINALG_DENSE_H

#include "core/arena.h"

#define DAE_DENSE_OWN_REAL 200    /* measured with bench_linalg: factors cost the same there, solves half */
#define DAE_DENSE_OWN_COMPLEX 200 /* the same */

typedef struct dae_dense_lu dae_dense_lu;
struct dae_dense_lu {
    int n, ld;         /* order; distance of columns, n rounded up to a multiple of 4 */
    int is_complex;    /* 1: im is used */
    int lapack;        /* 1: factored by LAPACK */
    int finite;        /* 1: the matrix was seen to be finite, 0: factor has to look; 0 again after factor */
    double *re, *im;   /* ld*ld each: the matrix, then its factors; rows and columns n .. ld-1 stay zero */
    double *ire, *iim; /* ld each: reciprocals of the pivots */
    double *work;      /* 2*ld */
    double *pack;      /* LAPACK complex: 2*n*n, values in pairs */
    int *perm;         /* n: row perm[i] of the matrix is row i of the factors; LAPACK: its pivots */
    void (*load)(dae_dense_lu *d, double sign, const double *a, int stride);
    int (*factor)(dae_dense_lu *d);
    void (*solve)(const dae_dense_lu *d, double *re, double *im);
};

/* Takes its arrays from the arena (dae_arena_failed tells whether there was memory). */
void dae_dense_init(dae_dense_lu *d, int n, int is_complex, dae_arena *arena);
/* The same with a given kernel whatever n is (tests and measurements). */
typedef enum dae_dense_kernel { DAE_DENSE_OWN, DAE_DENSE_PORTABLE, DAE_DENSE_LAPACK } dae_dense_kernel;
void dae_dense_init_with(dae_dense_lu *d, int n, int is_complex, dae_dense_kernel kernel, dae_arena *arena);

/* re = sign a, im = 0; column j of a is at j*stride. Sets d->finite. */
static inline void dae_dense_load(dae_dense_lu *d, double sign, const double *a, int stride)
{
    d->load(d, sign, a, stride);
}
/* Factors the matrix in re (and im) in place. 0: fine; k > 0: pivot k is zero (or so small that its
 * reciprocal overflows), or the matrix is not finite. */
static inline int dae_dense_factor(dae_dense_lu *d)
{
    return d->factor(d);
}
/* Solves in place; im is NULL for real factors. */
static inline void dae_dense_solve(const dae_dense_lu *d, double *re, double *im)
{
    d->solve(d, re, im);
}

#endif
