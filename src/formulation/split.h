/* The matrix of the state-space form (statespace.h): the constraints and the functionals that are the state,
 *
 *     K = [ G   ]     m rows
 *         [ S T ]     n - m rows
 *
 * factored in one of three ways: dense; dense, reduced to the dependent columns of G (T = I and S a selection);
 * sparse, where the patterns of G and T are known and S is a selection. */
#ifndef DAE_FORMULATION_SPLIT_H
#define DAE_FORMULATION_SPLIT_H

#include "core/arena.h"
#include "linalg/dense.h"
#include "linalg/sparse.h"

/* Functionals of a vector: its components index[0 .. count-1], or its products with the columns of Z. */
typedef struct functionals {
    int n, count;
    int *index; /* count, ascending */
    double *Z;  /* n*count, or NULL: a selection */
} functionals;

/* out = S x */
void dae_functionals_apply(const functionals *s, const double *x, double *out);

/* Compressed columns of G and T; borrowed. */
typedef struct split_pattern {
    int np;                         /* rows of T */
    const int *G_colptr, *G_rowind; /* rows ascending */
    const int *T_colptr, *T_rowind; /* NULL: T = I */
} split_pattern;

typedef enum split_kind { SPLIT_DENSE, SPLIT_REDUCED, SPLIT_SPARSE } split_kind;

/* K at one point, factored. */
typedef struct split_matrix {
    split_kind kind;
    int m, n;       /* rows of G; unknowns */
    int *dep, *ind; /* reduced: m and n - m columns; sparse: ind is the selection of the pattern */
    double *A;      /* reduced: the first m rows of G (m x n); dense: K (n x n) */
    dae_dense_lu lu;
    double *x; /* n: work */

    const split_pattern *pattern; /* sparse */
    dae_arena *own;               /* of the pattern of K, which changes with the selection; NULL: none yet */
    dae_sparse_lu sparse;
    int *place_G, *place_T; /* where their values go in K; -1: nowhere */
} split_matrix;

/* pattern: for SPLIT_SPARSE. */
void dae_split_init(split_matrix *K, split_kind kind, int m, int n, const split_pattern *pattern,
                    dae_arena *a);
void dae_split_free(split_matrix *K); /* what is not in the arena */

/* Dense and reduced: G has ld rows, of which the first m count, T (NULL: the identity) is dense. Sparse: the values of the
 * patterns; m and ld are ignored. 0: fine; > 0: singular; < 0: out of memory. A new selection makes a new pattern. */
int dae_split_factor(split_matrix *K, int m, const double *G, int ld, const functionals *s, const double *T);
/* K x = (b1, b2); either may be NULL: zero. */
void dae_split_solve(split_matrix *K, const double *b1, const double *b2, double *x);
/* K N = (0, I): a basis of the null space of G, n x (n - m). */
void dae_split_null_space(split_matrix *K, double *N);

/* Checkpoint of what is not in the arena that init got (sparse: pattern and factors). load is called after that arena
 * was read back. save: bytes needed, written where buffer is not NULL; load: 0 fine. */
size_t dae_split_save(const split_matrix *K, void *buffer);
int dae_split_load(split_matrix *K, const void *buffer, size_t size);

#endif
