/* The vector loops of radau, one set for each number of stages. */
#ifndef DAE_METHOD_RADAU_KERNELS_H
#define DAE_METHOD_RADAU_KERNELS_H

#include "method/radau/coefficients.h"

/* z, w, g, mw, stage: s vectors at distance ld; cont: s+1 of them. n components each. */
typedef struct radau_kernels {
    /* g := Tinv g - Lambda/h mw: the right-hand sides of an iteration; q = 1/h. */
    void (*right_sides)(int n, int ld, const struct coefficients *m, double q, const double *mw, double *g);
    /* w += g, z := T w, stage := y + z; square_i := sum over the stages of (g weight_i)^2. */
    void (*update)(int n, int ld, const struct coefficients *m, const double *g, const double *weight,
                   const double *y, double *w, double *z, double *stage, double *square);
    /* z_k := value at sigma_k of the polynomial with divided differences cont on nodes shift; w := Tinv z,
     * stage := y + z. */
    void (*predict)(int n, int ld, const struct coefficients *m, const double *sigma, const double *shift,
                    const double *cont, const double *y, double *z, double *w, double *stage);
    /* cont := divided differences of (Z_s, .., Z_1, 0); inverse: 1/(x_i - x_(i-k)). */
    void (*differences)(int n, int ld, const double (*inverse)[S_MAX + 1], const double *z, double *cont);
    /* out := 1/(atol + rtol |y|) */
    void (*weights)(int n, const double *atol, const double *rtol, const double *y, double *out);
    /* out := q sum dd_k z_k */
    void (*defect)(int n, int ld, const struct coefficients *m, double q, const double *z, double *out);
} radau_kernels;

const radau_kernels *dae_radau_kernels(int s); /* s = 3, 5, 7 */

#endif
