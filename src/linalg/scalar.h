/* Complex scalars for the kernels: plain pairs, because C's own complex products check for NaN. */
#ifndef DAE_LINALG_SCALAR_H
#define DAE_LINALG_SCALAR_H

#include <float.h>
#include <math.h>

typedef struct dae_pair {
    double re, im;
} dae_pair;

/* x t */
static inline dae_pair dae_pair_times(dae_pair x, double tr, double ti)
{
    return (dae_pair){x.re * tr - x.im * ti, x.re * ti + x.im * tr};
}

/* x - l t */
static inline dae_pair dae_pair_minus(dae_pair x, double lr, double li, dae_pair t)
{
    return (dae_pair){x.re - (lr * t.re - li * t.im), x.im - (lr * t.im + li * t.re)};
}

/* 1/(a + ib); returns 0 if a + ib is zero, not finite, or too small for a finite reciprocal. The usual
 * formula, with scaling where it would over- or underflow. */
static inline int dae_pair_reciprocal(double a, double b, double *re, double *im)
{
    double s = a * a + b * b;
    if (s > 0x1p-960 && s < 0x1p960) {
        double f = 1 / s;
        *re = a * f;
        *im = -b * f;
        return 1;
    }
    double big = fmax(fabs(a), fabs(b));
    if (!(1 / big <= DBL_MAX) || !(big <= DBL_MAX) || a != a || b != b) return 0;
    a /= big;
    b /= big;
    s = a * a + b * b;
    *re = a / s / big;
    *im = -b / s / big;
    return 1;
}

#endif
