/* Incomplete factors of a sparse matrix, A ~ L U with no entries outside the pattern of A: ILU(0), row by row. What would have
 * filled other places of a row is added to its diagonal, a part RELAX of it (modified factors, [Gus78]): on diffusion
 * the number of iterations then grows as the fourth root of the condition instead of the square root.
 *
 * The values of complex matrices are two real arrays. */
#ifndef DAE_LINALG_ILU_H
#define DAE_LINALG_ILU_H

#include <daedalus/system.h>

typedef struct dae_ilu {
    int n, is_complex;
    int *rowptr, *colind; /* of A with its whole diagonal, by rows; columns ascending */
    int *source;          /* where in J the value is, -1: it is not in J */
    int *diagonal;        /* n: where (i,i) is */
    double *re, *im; /* rowptr[n] each: A, then L and U, its diagonal as reciprocals; im NULL where real */
    int *place;      /* n: of column j in the present row + 1, 0: none */
} dae_ilu;

/* The pattern of J and the diagonal. 0: fine, < 0: out of memory. */
int dae_ilu_create(dae_ilu *f, const dae_pattern *J, int n, int is_complex);
void dae_ilu_destroy(dae_ilu *f);
/* lambda M - J, as far as M lies in the pattern (n = 0: identity). */
void dae_ilu_form(dae_ilu *f, double re, double im, const double *J, const dae_matrix *mass);
/* 0: fine; k > 0: row k has no values but zeros, or some that are not finite. */
int dae_ilu_factor(dae_ilu *f);
void dae_ilu_solve(const dae_ilu *f, double *re, double *im); /* in place; im NULL where real */

#endif
