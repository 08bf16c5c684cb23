/* The vector loops of pside. */
#ifndef DAE_METHOD_PSIDE_KERNELS_H
#define DAE_METHOD_PSIDE_KERNELS_H

#include "method/pside/coefficients.h"

/* Capital letters: four vectors of n components at distance ld. */
typedef struct pside_kernels {
    /* D_i := P_4 + sum_j W_ij (P_j - P_4), Y_i := y + sum_j hA_ij D_j */
    void (*predict)(int n, int ld, const double (*W)[S], const double (*hA)[S], const double *P,
                    const double *y, double *D, double *Y);
    /* X_i := scale_i sum_j Qinv_ij (F_j - K_j), the right-hand sides of an iteration; K NULL: 0 */
    void (*transform)(int n, int ld, const double *scale, const double *F, const double *K, double *X);
    /* R := B X */
    void (*couple)(int n, int ld, const double *X, double *R);
    /* D += Q X, Y += hA Q X; square_i := sum over the stages of the squares of (hA Q X)_i weight_i */
    void (*update)(int n, int ld, const double (*hA)[S], const double *X, const double *weight, double *D,
                   double *Y, double *square);
    /* yp := sum_j v_j D_j + w p */
    void (*combine)(int n, int ld, const double *v, const double *D, double w, const double *p, double *yp);
    /* out := 1/(atol + rtol |y|) */
    void (*weights)(int n, const double *atol, const double *rtol, const double *y, double *out);
    /* how many |x_i| are not <= limit_i */
    int (*exceeding)(int n, const double *x, const double *limit);
} pside_kernels;

const pside_kernels *dae_pside_kernels(void);

#endif
