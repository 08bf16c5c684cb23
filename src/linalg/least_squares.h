/* Least squares of least norm, for consistent initial values and other rare small tasks. */
#ifndef DAE_LINALG_LEAST_SQUARES_H
#define DAE_LINALG_LEAST_SQUARES_H

/* Minimizes |a x - b| (m*n, column-major), of least |x| where the rank is below n; a is
 * destroyed, b (m values, room for n) becomes x. rcond: relative size of pivots that count as zero.
 * Returns the rank, -1: out of memory, -2: there are numbers in it that are not finite. */
int dae_least_squares(int m, int n, double *a, double *b, double rcond);

#endif
