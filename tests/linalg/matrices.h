/* Random matrices and residuals for the tests of linear algebra. Full matrices are n*n column-major. */
#ifndef DAE_TESTS_LINALG_MATRICES_H
#define DAE_TESTS_LINALG_MATRICES_H

#include "test.h"

#include <float.h>

/* A fixed sequence of numbers in (-1, 1); the same on every machine. */
typedef struct sequence {
    uint64_t state;
} sequence;

static inline double next(sequence *s)
{
    s->state = s->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(s->state >> 11) / (double)(1ll << 52) - 1;
}

static inline double *reals(size_t n)
{
    double *x = calloc(n ? n : 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline double *random_reals(sequence *s, size_t n)
{
    double *x = reals(n);
    for (size_t i = 0; i < n; i++) x[i] = next(s);
    return x;
}

/* ||A x - b|| / (||A|| ||x|| + ||b||) in largest norms and in units of eps: the backward error of a solution,
 * of the order of n for partial pivoting. im parts may be NULL. */
static inline double backward_error(int n, const double *Ar, const double *Ai, const double *xr,
                                    const double *xi, const double *br, const double *bi)
{
    double residual = 0, a_norm = 0, x_norm = 0, b_norm = 0;
    for (int i = 0; i < n; i++) {
        double r = -br[i], m = bi ? -bi[i] : 0, row = 0;
        b_norm = fmax(b_norm, fabs(br[i]) + fabs(m));
        x_norm = fmax(x_norm, fabs(xr[i]) + (xi ? fabs(xi[i]) : 0));
        for (int j = 0; j < n; j++) {
            double a = Ar[i + j * n], b = Ai ? Ai[i + j * n] : 0, x = xr[j], y = xi ? xi[j] : 0;
            r += a * x - b * y;
            m += a * y + b * x;
            row += fabs(a) + fabs(b);
        }
        a_norm = fmax(a_norm, row);
        double e = fabs(r) + fabs(m);
        if (!(e <= residual)) residual = e;
    }
    return residual / (a_norm * x_norm + b_norm) / DBL_EPSILON;
}

static inline double largest_difference(size_t n, const double *x, const double *y)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double e = fabs(x[i] - y[i]);
        if (!(e <= worst)) worst = e;
    }
    return worst;
}

static inline double largest(size_t n, const double *x)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(x[i]));
    return worst;
}

#endif
