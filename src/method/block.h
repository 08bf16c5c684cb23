/* The polynomial through the equidistant points of a block, by backward differences: the start of the next block, and
 * dense output. */
#ifndef DAE_METHOD_BLOCK_H
#define DAE_METHOD_BLOCK_H

#include "core/vector.h"

enum { DAE_BLOCK_MOST = 16 }; /* highest degree */

/* Weights of the backward differences at the last point plus sigma h: sigma (sigma+1) .. (sigma+j-1) / j!. */
static inline void dae_block_weights(double sigma, int degree, double *c)
{
    c[0] = 1;
    for (int j = 0; j < degree; j++) c[j + 1] = c[j] * (sigma + j) / (j + 1);
}

/* y and, unless NULL, y' there; difference j stands at differences + j ld. */
static inline void dae_block_interpolate(int n, int ld, int degree, const double *differences, double sigma,
                                         double h, double *y, double *yp)
{
    double c[DAE_BLOCK_MOST + 1], dc[DAE_BLOCK_MOST + 1] = {0};
    dae_block_weights(sigma, degree, c);
    for (int j = 0; j < degree; j++) dc[j + 1] = (dc[j] * (sigma + j) + c[j]) / (j + 1);
    dae_copy(n, differences, y);
    if (yp) dae_zero(n, yp);
    for (int j = 1; j <= degree; j++) {
        dae_axpy(n, c[j], differences + j * ld, y);
        if (yp) dae_axpy(n, dc[j] / h, differences + j * ld, yp);
    }
}

#endif
