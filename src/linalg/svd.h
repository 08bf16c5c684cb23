/* Singular values and vectors of small matrices, for ranks and what depends on what. */
#ifndef DAE_LINALG_SVD_H
#define DAE_LINALG_SVD_H

/* A (m x n, column-major, m >= n) = U diag(s) V^T. A becomes U (columns of singular values that are 0 are 0); s (n) falls; V is
 * n x n, or NULL: not wanted. Returns 0, or 1 if the sweeps did not converge (never seen; the result is then near). */
int dae_svd(int m, int n, double *A, double *s, double *V);

#endif
