/* The vector loops of radau, one set for each number of stages; small systems have sets of their own, with the number of
 * equations as a constant and the linear systems in them. */
#ifndef DAE_METHOD_RADAU_KERNELS_H
#define DAE_METHOD_RADAU_KERNELS_H

#include "linalg/small.h"
#include "method/radau/coefficients.h"

enum { RADAU_SMALL_LD = 8 }; /* ld of small systems */

/* The linear systems of small ones: J, M and the factors of gamma/h M - J (first) and of
 * (alpha_k + i beta_k)/h M - J. n*n each, reciprocals of the pivots n. */
typedef struct radau_small {
    double *J;
    dae_small_band band; /* M, where */
    int has_mass;        /* ... it is not the identity */
    double *re[1 + S_MAX / 2], *im[1 + S_MAX / 2], *ire[1 + S_MAX / 2], *iim[1 + S_MAX / 2];
    int *perm[1 + S_MAX / 2];
} radau_small;

/* z, w, g, mw, stage: s vectors at distance ld; cont: s+1 of them. n components each. */
typedef struct radau_kernels {
    /* g := Tinv g - Lambda/h mw: the right-hand sides of an iteration; q = 1/h. */
    void (*right_sides)(int n, int ld, const struct coefficients *m, double q, const double *mw, double *g);
    /* w += g, z := T w, stage := y + z; square_i := sum over the stages of (g weight_i)^2. */
    void (*update)(int n, int ld, const struct coefficients *m, const double *g, const double *weight,
                   const double *y, double *w, double *z, double *stage, double *square);
    /* z_k := value at c_k q of the polynomial with divided differences cont on nodes shift; w := Tinv z,
     * stage := y + z. */
    void (*predict)(int n, int ld, const struct coefficients *m, double q, const double *shift,
                    const double *cont, const double *y, double *z, double *w, double *stage);
    /* cont := divided differences of (Z_s, .., Z_1, 0); inverse: 1/(x_i - x_(i-k)). */
    void (*differences)(int n, int ld, const double (*inverse)[S_MAX + 1], const double *z, double *cont);
    /* out := 1/(atol + rtol |y|) */
    void (*weights)(int n, const double *atol, const double *rtol, const double *y, double *out);
    /* y := y_new, f := f_new, weight as above */
    void (*advance)(int n, const double *y_new, const double *f_new, const double *atol, const double *rtol,
                    double *y, double *f, double *weight);
    /* out := q sum dd_k z_k */
    void (*defect)(int n, int ld, const struct coefficients *m, double q, const double *z, double *out);
    /* x := sum lead_k z_k - q^s last; returns sum (x_i weight_i)^2. */
    double (*bend)(int n, int ld, const double *lead, double q, const double *z, const double *last,
                   const double *weight, double *x);

    /* Small systems, else NULL. 0, or k > 0: pivot k is zero */
    int (*factor)(radau_small *a, const struct coefficients *m, double q);
    /* x := inv(gamma/h M - J) x */
    void (*solve)(const radau_small *a, double *x);
    /* g := dW, the increment of an iteration, from stage derivatives in g */
    void (*increment)(const radau_small *a, const struct coefficients *m, double q, const double *w,
                      double *g);
    /* md := q M sum dd_k z_k, e := inv(gamma/h M - J) (md + f); returns the mean of (e_i weight_i)^2. */
    double (*estimate)(const radau_small *a, const struct coefficients *m, double q, const double *z,
                       const double *f, const double *weight, double *md, double *e);
    /* increment and update in one; returns the sum over square. */
    double (*iterate)(const radau_small *a, const struct coefficients *m, double q, double *g,
                      const double *weight, const double *y, double *w, double *z, double *stage);
} radau_kernels;

/* s = 3, 5, 7. n = 0: for every size; else those of this size, NULL where there are none. */
const radau_kernels *dae_radau_kernels(int s, int n);

#endif
