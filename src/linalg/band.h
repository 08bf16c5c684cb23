/* Banded LU factors with partial pivoting, real and complex.
 *
 * Storage as in LAPACK's gbtrf: element (i,j) at (lower + upper + i - j) + j*ld, ld = 2*lower + upper + 1;
 * the first `lower` rows of it are room for fill-in. Complex matrices are two real arrays. */
#ifndef DAE_LINALG_BAND_H
#define DAE_LINALG_BAND_H

#include "core/arena.h"

typedef struct dae_band_lu dae_band_lu;
struct dae_band_lu {
    int n, lower, upper, ld;
    int is_complex;    /* 1: im is used */
    double *re, *im;   /* ld*n each: the matrix, then its factors */
    double *ire, *iim; /* n each: reciprocals of the pivots */
    int *pivot;        /* n+1: row k was exchanged with row k + pivot[k]; last, the width of U */
    int (*factor)(dae_band_lu *b);
    void (*solve)(const dae_band_lu *b, double *re, double *im);
};

/* Takes its arrays from the arena (dae_arena_failed tells whether there was memory). */
void dae_band_init(dae_band_lu *b, int n, int lower, int upper, int is_complex, dae_arena *arena);
/* The kernels for any machine, whatever the processor can (tests). */
void dae_band_use_portable(dae_band_lu *b);

/* Factors the matrix in re (and im) in place; all storage outside the band must be zero on entry. 0: fine; k
 * > 0: pivot k is zero (or so small that its reciprocal overflows), or the matrix is not finite. */
static inline int dae_band_factor(dae_band_lu *b)
{
    return b->factor(b);
}
/* Solves in place; im is NULL for real factors. */
static inline void dae_band_solve(const dae_band_lu *b, double *re, double *im)
{
    b->solve(b, re, im);
}

#endif
