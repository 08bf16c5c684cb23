/* Sparse LU with pivots that are known: the factorization as a list of operations.
 *
 * KLU chooses the pivots; what follows from them (the pattern of the factors, where every value of the matrix
 * goes, which elements every multiplier meets) is worked out once and written into index lists, so that
 * factoring again is a walk along the lists without any searching. This pays for the small and very sparse
 * matrices of circuits, mechanisms and reactions, where KLU spends most of its time around the arithmetic. */
#ifndef DAE_LINALG_FIXED_H
#define DAE_LINALG_FIXED_H

#define DAE_FIXED_LONGEST 2000000 /* operations at most; ours: 8 MB of list */

typedef struct dae_fixed dae_fixed;

/* What KLU found: rows P and columns Q in the order of elimination, blocks (upper block triangular, block b
 * from R[b] to R[b+1]-1), and in that order the patterns of L and U within the blocks, columns compressed. */
typedef struct dae_fixed_order {
    const int *P, *Q, *R;
    int nblocks;
    const int *Lp, *Li, *Up, *Ui;
} dae_fixed_order;

/* The matrix (compressed columns; complex values in pairs) gives the pattern and the row scales. NULL: no
 * memory, or the list would be too long. */
dae_fixed *dae_fixed_create(int n, const int *colptr, const int *rowind, const double *value, int is_complex,
                            const dae_fixed_order *order);
/* The values will come in another order: at what was place k is now place to[k]. */
void dae_fixed_rearrange(dae_fixed *f, const int *to);
void dae_fixed_destroy(dae_fixed *f); /* NULL allowed */

/* Factors these values. 0: fine; k > 0: pivot k is zero, or the reciprocal growth max|A_k|/max|U_k| in column
 * k is below the limit. */
int dae_fixed_factor(dae_fixed *f, const double *value, double limit);
/* Solves in place; im is NULL for real factors. */
void dae_fixed_solve(dae_fixed *f, double *re, double *im);
/* Real factors, several right-hand sides: columns of x, which are ld apart. */
void dae_fixed_solve_many(dae_fixed *f, int count, double *x, int ld);

#endif
