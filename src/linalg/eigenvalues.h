/* Eigenvalues of a small dense matrix. */
#ifndef DAE_LINALG_EIGENVALUES_H
#define DAE_LINALG_EIGENVALUES_H

enum { DAE_EIGENVALUES_NO_MEMORY = -1010 }; /* LAPACK_WORK_MEMORY_ERROR */
/* a: n*n column-major, destroyed. 0: fine; DAE_EIGENVALUES_NO_MEMORY or less: out of memory. */
int dae_eigenvalues(int n, double *a, double *re, double *im);

#endif
