/* The vector loops of bimd, one set for each length of a block. */
#ifndef DAE_METHOD_BIMD_KERNELS_H
#define DAE_METHOD_BIMD_KERNELS_H

#include "method/bimd/coefficients.h"

/* Y, F, b: k+1 vectors at distance ld; Z, S: k of them. n components each. */
typedef struct bimd_kernels {
    /* Both halves of the right-hand sides of an iteration, lm = lambda diag(M), q = h lambda, D = Y - y_0:
     *     Z := lm (D - G D) - q (B F - c),   S := lm G D - q c,   c_i = b2_i f_0 + gamma f_i */
    void (*right_sides)(int n, int ld, const struct formula *m, const double (*B)[K_MAX + 1], double q,
                        const double *lm, const double *Y, const double *F, double *Z, double *S);
    /* Z := lm Z + S */
    void (*second)(int n, int ld, const double *lm, const double *S, double *Z);
    /* Y_i -= Z_i; the largest over i of sum (Z_i weight)^2, INFINITY where one is not finite. */
    double (*update)(int n, int ld, const double *weight, const double *Z, double *Y);
    /* psi := h sum_j w_j f_j */
    void (*difference)(int n, int ld, const double *w, double h, const double *F, double *psi);
    /* b_j := nabla^j y_k of the block values */
    void (*differences)(int n, int ld, const double *Y, double *b);
} bimd_kernels;

const bimd_kernels *dae_bimd_kernels(int level); /* k = 3, 4, 6, 8, 10 */

#endif
