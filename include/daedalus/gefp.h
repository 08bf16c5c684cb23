/* Gaussian elimination with full pivoting of rectangular matrices: which unknowns of an underdetermined system
 * depend on which, and how well conditioned that choice is. */
#ifndef DAEDALUS_GEFP_H
#define DAEDALUS_GEFP_H

#include <daedalus/export.h>

DAE_BEGIN_DECLS

/* Brings A (m x n, m <= n, column-major) into unit upper trapezoidal form with exchanges of rows and columns. In every
 * step, the last too, the pivot is the largest element that is left (ties: smallest column, then smallest row).
 *
 * In:  A; b (m), the right-hand side, or NULL; tol: pivots at most tol times the first count as zero, 0: 1e-10.
 * Out: A is U, column j of which belongs to unknown cols[j]; b is transformed alike; rows (m) and cols (n) are the
 *      permutations, from 0; pivot (m), or NULL: the pivots before rows were divided by them.
 * Returns the rank r. cols[0 .. r-1] are the dependent unknowns, cols[r .. n-1] the independent ones; where r < m the
 * equations rows[r .. m-1] are redundant (and consistent if the last m - r values of b vanish). < 0: bad arguments. */
DAE_API int dae_gefp(int m, int n, double *A, double *b, double tol, int *rows, int *cols, double *pivot);

/* As the routine is printed in the notes: the last row is not searched, only divided by what stands on its diagonal. For comparing
 * with the notes' results; with fewer rows than columns it can choose a poor set of independent unknowns. */
DAE_API int dae_gefp_printed(int m, int n, double *A, double *b, double tol, int *rows, int *cols, double *pivot);

/* The dependent unknowns from the independent ones, in x (n): back substitution with U, b (NULL: zero) and cols as
 * dae_gefp of rank r left them; A has m rows. */
DAE_API void dae_gefp_solve(int r, int m, int n, const double *U, const double *b, const int *cols,
                            double *x);

DAE_END_DECLS

#endif
