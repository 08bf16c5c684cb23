/* Least squares of least norm, for consistent initial values and other rare small tasks. */
#ifndef DAE_LINALG_LEAST_SQUARES_H
#define DAE_LINALG_LEAST_SQUARES_H

/* Minimizes |a x - b| (m*n, column-major), of least |x| where the rank is below n; a is
 * destroyed, b (m values, room for n) becomes x. rcond: relative size of pivots that count as zero.
 * Returns the rank, -1: out of memory, -2: there are numbers in it that are not finite. */
int dae_least_squares(int m, int n, double *a, double *b, double rcond);

/* x of a x = b (n*n, column-major) by elimination with partial pivoting, in b; room: n*n + n. 1: a pivot is below rcond times the largest, or
 * something is not finite, and b is what it was. */
int dae_square_solve(int n, const double *a, double *b, double *room, double rcond);

#endif
