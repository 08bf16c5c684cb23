#include "linalg/least_squares.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

int dae_square_solve(int n, const double *a, double *b, double *room, double rcond)
{
    size_t ld = (size_t)n;
    double *x = room + ld * ld, least = INFINITY, largest = 0;
    memcpy(room, a, ld * ld * sizeof *room);
    memcpy(x, b, ld * sizeof *x);
    for (size_t k = 0; k < ld; k++) {
        double *c = room + k * ld;
        size_t pivot = k;
        for (size_t i = k + 1; i < ld; i++) pivot = fabs(c[i]) > fabs(c[pivot]) ? i : pivot;
        double size = fabs(c[pivot]);
        least = fmin(least, size);
        largest = fmax(largest, size);
        if (!(least > rcond * largest) || !isfinite(size)) return 1;
        for (size_t j = k; pivot != k && j < ld; j++) {
            double swap = room[j * ld + k];
            room[j * ld + k] = room[j * ld + pivot];
            room[j * ld + pivot] = swap;
        }
        double swap = x[k];
        x[k] = x[pivot];
        x[pivot] = swap;
        for (size_t i = k + 1; i < ld; i++) c[i] /= c[k];
        for (size_t j = k + 1; j < ld; j++) {
            double *to = room + j * ld, f = to[k];
            for (size_t i = k + 1; f != 0 && i < ld; i++) to[i] -= c[i] * f;
        }
        for (size_t i = k + 1; i < ld; i++) x[i] -= c[i] * x[k];
    }
    for (size_t k = ld; k-- > 0;) {
        x[k] /= room[k * ld + k];
        for (size_t i = 0; i < k; i++) x[i] -= room[k * ld + i] * x[k];
    }
    for (size_t i = 0; i < ld; i++)
        if (!isfinite(x[i])) return 1;
    memcpy(b, x, ld * sizeof *b);
    return 0;
}
