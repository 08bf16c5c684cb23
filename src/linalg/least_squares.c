#include "linalg/least_squares.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>

int dae_least_squares(int m, int n, double *a, double *b, double rcond)
{
    lapack_int rank = 0, *pivot = calloc((size_t)n, sizeof *pivot);
    double size = 0;
    if (!pivot) return -1;
    int ld = m > n ? m : n, layout = LAPACK_COL_MAJOR;
    for (int i = m; i < n; i++) b[i] = 0;
    int wrong = 0;
    for (size_t k = 0; k < (size_t)m * (size_t)n; k++) wrong |= isnan(a[k]);
    for (int i = 0; i < m; i++) wrong |= isnan(b[i]);
    if (wrong) {
        free(pivot);
        return -2;
    }
    /* with workspace of our own: LAPACKE prints when it has no memory for its */
    lapack_int info = LAPACKE_dgelsy_work(layout, m, n, 1, a, m, b, ld, pivot, rcond, &rank, &size, -1);
    double *work = info ? NULL : malloc(((size_t)size + 1) * sizeof *work);
    int starved = !info && !work;
    if (work)
        info = LAPACKE_dgelsy_work(layout, m, n, 1, a, m, b, ld, pivot, rcond, &rank, work, (lapack_int)size);
    free(work);
    free(pivot);
    return starved ? -1 : info ? -2 : (int)rank;
}
