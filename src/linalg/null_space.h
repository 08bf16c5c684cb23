/* Directions that rows of a matrix do not see. */
#ifndef DAE_LINALG_NULL_SPACE_H
#define DAE_LINALG_NULL_SPACE_H

/* Orthonormal vectors (columns of N, n values each, room for n of them) that the first `rows` rows of G (leading dimension ld,
 * column-major) do not see; their number. basis: n*(n+1) for work. */
int dae_null_space(int n, int ld, int rows, const double *G, double *basis, double *N);

#endif
