#include "method/pside/kernels.h"

#include "linalg/kernel.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* The loops over components carry nothing from one to the next. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

DAE_KERNEL_BODY void predict(int n, int ld, const double (*W)[S], const double (*hA)[S],
                             const double *restrict P, const double *restrict y, double *restrict D,
                             double *restrict Y)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double last = P[3 * ld + i], p[3], d[S];
        for (int j = 0; j < 3; j++) p[j] = P[j * ld + i] - last;
        for (int k = 0; k < S; k++) {
            d[k] = last + (W[k][0] * p[0] + W[k][1] * p[1] + W[k][2] * p[2]);
            D[k * ld + i] = d[k];
        }
        for (int k = 0; k < S; k++) {
            Y[k * ld + i] = y[i] + (hA[k][0] * d[0] + hA[k][1] * d[1] + hA[k][2] * d[2] + hA[k][3] * d[3]);
        }
    }
}

DAE_KERNEL_BODY void transform_difference(int n, int ld, const double *restrict scale,
                                          const double *restrict F, const double *restrict K,
                                          double *restrict X)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double r[S];
        for (int j = 0; j < S; j++) r[j] = F[j * ld + i] - K[j * ld + i];
        for (int k = 0; k < S; k++) {
            const double *q = pside_Qinv[k];
            X[k * ld + i] = scale[k] * (q[0] * r[0] + q[1] * r[1] + q[2] * r[2] + q[3] * r[3]);
        }
    }
}

DAE_KERNEL_BODY void transform_only(int n, int ld, const double *restrict scale, const double *restrict F,
                                    double *restrict X)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double r[S];
        for (int j = 0; j < S; j++) r[j] = F[j * ld + i];
        for (int k = 0; k < S; k++) {
            const double *q = pside_Qinv[k];
            X[k * ld + i] = scale[k] * (q[0] * r[0] + q[1] * r[1] + q[2] * r[2] + q[3] * r[3]);
        }
    }
}

DAE_KERNEL_BODY void transform(int n, int ld, const double *scale, const double *F, const double *K,
                               double *X)
{
    if (K) {
        transform_difference(n, ld, scale, F, K, X);
    } else {
        transform_only(n, ld, scale, F, X);
    }
}

DAE_KERNEL_BODY void couple(int n, int ld, const double *restrict X, double *restrict R)
{
    for (int k = 0; k < 2; k++) {
        const double *b = pside_B[k], *u = X + 2 * k * ld, *v = u + ld;
        double *p = R + 2 * k * ld, *q = p + ld;
        INDEPENDENT
        for (int i = 0; i < n; i++) {
            p[i] = b[0] * u[i] + b[1] * v[i];
            q[i] = b[2] * u[i] - b[0] * v[i];
        }
    }
}

DAE_KERNEL_BODY void update(int n, int ld, const double (*hA)[S], const double *restrict X,
                            const double *restrict weight, double *restrict D, double *restrict Y,
                            double *restrict square)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double x[S], d[S], sum = 0;
        for (int j = 0; j < S; j++) x[j] = X[j * ld + i];
        for (int k = 0; k < S; k++) {
            const double *q = pside_Q[k];
            d[k] = q[0] * x[0] + q[1] * x[1] + q[2] * x[2] + q[3] * x[3];
            D[k * ld + i] += d[k];
        }
        for (int k = 0; k < S; k++) {
            double dy = hA[k][0] * d[0] + hA[k][1] * d[1] + hA[k][2] * d[2] + hA[k][3] * d[3],
                   e = dy * weight[i];
            Y[k * ld + i] += dy;
            sum += e * e;
        }
        square[i] = sum;
    }
}

DAE_KERNEL_BODY void combine(int n, int ld, const double *restrict v, const double *restrict D, double w,
                             const double *restrict p, double *restrict yp)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        yp[i] = v[0] * D[i] + v[1] * D[ld + i] + v[2] * D[2 * ld + i] + v[3] * D[3 * ld + i] + w * p[i];
    }
}

DAE_KERNEL_BODY void weights(int n, const double *restrict atol, const double *restrict rtol,
                             const double *restrict y, double *restrict out)
{
    for (int i = 0; i < n; i++) {
        double w = atol[i] + rtol[i] * fabs(y[i]);
        out[i] = 1 / (w > DBL_MIN ? w : DBL_MIN);
    }
}

DAE_KERNEL_BODY int exceeding(int n, const double *restrict x, const double *restrict limit)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += !(fabs(x[i]) <= limit[i]);
    return count;
}

DAE_KERNEL(void, predict,
           (int n, int ld, const double (*W)[S], const double (*hA)[S], const double *P, const double *y,
            double *D, double *Y),
           predict(n, ld, W, hA, P, y, D, Y))
DAE_KERNEL(void, transform, (int n, int ld, const double *scale, const double *F, const double *K, double *X),
           transform(n, ld, scale, F, K, X))
DAE_KERNEL(void, couple, (int n, int ld, const double *X, double *R), couple(n, ld, X, R))
DAE_KERNEL(void, update,
           (int n, int ld, const double (*hA)[S], const double *X, const double *weight, double *D, double *Y,
            double *square),
           update(n, ld, hA, X, weight, D, Y, square))
DAE_KERNEL(void, combine,
           (int n, int ld, const double *v, const double *D, double w, const double *p, double *yp),
           combine(n, ld, v, D, w, p, yp))
DAE_KERNEL(void, weights, (int n, const double *atol, const double *rtol, const double *y, double *out),
           weights(n, atol, rtol, y, out))
DAE_KERNEL(int, exceeding, (int n, const double *x, const double *limit), return exceeding(n, x, limit))

#define SET(v)                                                                               \
    {                                                                                        \
        predict##v, transform##v, couple##v, update##v, combine##v, weights##v, exceeding##v \
    }

static const pside_kernels base = SET(_base);
#ifdef DAE_KERNEL_WIDE
static const pside_kernels wide = SET(_avx2);
#endif

const pside_kernels *dae_pside_kernels(void)
{
#ifdef DAE_KERNEL_WIDE
    if (__builtin_cpu_supports("avx2")) return &wide;
#endif
    return &base;
}
