#include "linalg/least_squares.h"

#include <lapacke.h>
#include <stdlib.h>

int dae_least_squares(int m, int n, double *a, double *b, double rcond)
{
    lapack_int rank = 0, *pivot = calloc((size_t)n, sizeof *pivot);
    if (!pivot) return -1;
    for (int i = m; i < n; i++) b[i] = 0; /* LAPACKE looks for NaN there too */
    lapack_int info = LAPACKE_dgelsy(LAPACK_COL_MAJOR, m, n, 1, a, m, b, m > n ? m : n, pivot, rcond, &rank);
    free(pivot);
    if (info == LAPACK_WORK_MEMORY_ERROR || info == LAPACK_TRANSPOSE_MEMORY_ERROR) return -1;
    return info ? -2 : (int)rank;
}
