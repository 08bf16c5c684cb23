/* One small system whose pivots have to tell whether it is regular; who asks often keeps factors (dense.h). */
#ifndef DAE_LINALG_SQUARE_H
#define DAE_LINALG_SQUARE_H

/* x of a x = b (n*n, column-major) by elimination with partial pivoting, in b; room: n*n + n. 1: a pivot is below rcond times the largest, or
 * something is not finite, and b is what it was. */
int dae_square_solve(int n, const double *a, double *b, double *room, double rcond);

#endif
