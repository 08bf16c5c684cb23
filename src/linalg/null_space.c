/* Gram and Schmidt, each vector twice: first the rows, then unit vectors. */
#include "linalg/null_space.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define ROW 1e-18 /* ours: squares of what is left of a row that depends on others, ... */
#define UNIT 1e-8 /* ... and of a unit vector */

int dae_null_space(int n, int ld, int rows, const double *G, double *basis, double *N)
{
    int used = 0, count = 0;
    for (int k = 0; k < rows + n; k++) {
        double *x = basis + (size_t)used * (size_t)n, norm = 0, left = 0;
        for (int c = 0; c < n; c++) {
            x[c] = k < rows ? G[(size_t)c * (size_t)ld + (size_t)k] : k - rows == c;
            norm += x[c] * x[c];
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < used; i++) {
                double dot = 0;
                for (int c = 0; c < n; c++) dot += basis[i * n + c] * x[c];
                for (int c = 0; c < n; c++) x[c] -= dot * basis[i * n + c];
            }
        }
        for (int c = 0; c < n; c++) left += x[c] * x[c];
        if (used == n || !(left > (k < rows ? ROW : UNIT) * norm)) continue;
        left = 1 / sqrt(left);
        for (int c = 0; c < n; c++) x[c] *= left;
        if (k >= rows) memcpy(N + (size_t)count++ * (size_t)n, x, (size_t)n * sizeof *x);
        used++;
    }
    return count;
}
