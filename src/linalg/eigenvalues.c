#include "linalg/eigenvalues.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

int dae_eigenvalues(int n, double *a, double *re, double *im)
{
    double size = 0;
    if (n == 0) return 0;
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++) {
        if (isnan(a[k])) return -1;
    }
    /* with workspace of our own: LAPACKE prints when it has no memory for its */
    int layout = LAPACK_COL_MAJOR,
        info = (int)LAPACKE_dgeev_work(layout, 'N', 'N', n, a, n, re, im, NULL, 1, NULL, 1, &size, -1);
    if (info) return info;
    double *work = malloc(((size_t)size + 1) * sizeof *work);
    if (!work) return LAPACK_WORK_MEMORY_ERROR;
    info =
        (int)LAPACKE_dgeev_work(layout, 'N', 'N', n, a, n, re, im, NULL, 1, NULL, 1, work, (lapack_int)size);
    free(work);
    return info;
}
