#include "linalg/eigenvalues.h"

#include <lapacke.h>

int dae_eigenvalues(int n, double *a, double *re, double *im)
{
    if (n == 0) return 0;
    return (int)LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', n, a, n, re, im, NULL, 1, NULL, 1);
}
