#include "linalg/square.h"

#include <math.h>
#include <string.h>

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
