/* Eigenvalues of a small dense matrix. */
#ifndef DAE_LINALG_EIGENVALUES_H
#define DAE_LINALG_EIGENVALUES_H

/* a: n*n column-major, destroyed. 0: fine. */
int dae_eigenvalues(int n, double *a, double *re, double *im);

#endif
