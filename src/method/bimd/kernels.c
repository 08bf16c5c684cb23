#include "method/bimd/kernels.h"

#include "linalg/kernel.h"

#include <math.h>

/* The loops over components carry nothing from one to the next. */
#if defined(__GNUC__) && !defined(__clang__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

DAE_KERNEL_BODY void right_sides(const int k, int n, int ld, const struct formula *m,
                                 const double (*B)[K_MAX + 1], double q, const double *restrict lm,
                                 const double *restrict Y, const double *restrict F, double *restrict Z,
                                 double *restrict S)
{
    double gamma = m->gamma;
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double d[K_MAX], f[K_MAX + 1];
        f[0] = F[i];
        for (int j = 0; j < k; j++) {
            d[j] = Y[(j + 1) * ld + i] - Y[i];
            f[j + 1] = F[(j + 1) * ld + i];
        }
        for (int r = 0; r < k; r++) {
            double gd = 0, bf = B[r][0] * f[0], c = m->b2[r] * f[0] + gamma * f[r + 1];
            for (int j = 0; j < k; j++) {
                gd += m->G[r][j] * d[j];
                bf += B[r][j + 1] * f[j + 1];
            }
            Z[r * ld + i] = lm[i] * (d[r] - gd) - q * (bf - c);
            S[r * ld + i] = lm[i] * gd - q * c;
        }
    }
}

DAE_KERNEL_BODY void second(const int k, int n, int ld, const double *restrict lm, const double *restrict S,
                            double *restrict Z)
{
    for (int r = 0; r < k; r++) {
        const double *restrict s = S + r * ld;
        double *restrict z = Z + r * ld;
        for (int i = 0; i < n; i++) z[i] = lm[i] * z[i] + s[i];
    }
}

DAE_KERNEL_BODY double update(const int k, int n, int ld, const double *restrict weight,
                              const double *restrict Z, double *restrict Y)
{
    double largest = 0;
    for (int r = 0; r < k; r++) {
        const double *restrict z = Z + r * ld;
        double *restrict y = Y + (r + 1) * ld;
        double part[4] = {0}; /* four sums, so that the loop can be vectorized */
        int i = 0;
        for (; i + 4 <= n; i += 4) {
            for (int l = 0; l < 4; l++) {
                double v = z[i + l] * weight[i + l];
                part[l] += v * v;
                y[i + l] -= z[i + l];
            }
        }
        for (; i < n; i++) {
            double v = z[i] * weight[i];
            part[0] += v * v;
            y[i] -= z[i];
        }
        double sum = (part[0] + part[1]) + (part[2] + part[3]);
        if (!(sum < INFINITY)) return INFINITY;
        if (sum > largest) largest = sum;
    }
    return largest;
}

DAE_KERNEL_BODY void difference(const int k, int n, int ld, const double *w, double h,
                                const double *restrict F, double *restrict psi)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v = 0;
        for (int j = 0; j <= k; j++) v += w[j] * F[j * ld + i];
        psi[i] = h * v;
    }
}

DAE_KERNEL_BODY void differences(const int k, int n, int ld, const double *restrict Y, double *restrict b)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v[K_MAX + 1];
        for (int j = 0; j <= k; j++) v[j] = Y[j * ld + i];
        for (int j = 0; j <= k; j++) {
            b[j * ld + i] = v[k];
            for (int l = k; l > j; l--) v[l] -= v[l - 1];
        }
    }
}

#define KERNELS(k)                                                                                   \
    DAE_KERNEL(void, right_sides##k,                                                                 \
               (int n, int ld, const struct formula *m, const double(*B)[K_MAX + 1], double q,       \
                const double *lm, const double *Y, const double *F, double *Z, double *S),           \
               right_sides(k, n, ld, m, B, q, lm, Y, F, Z, S))                                       \
    DAE_KERNEL(void, second##k, (int n, int ld, const double *lm, const double *S, double *Z),       \
               second(k, n, ld, lm, S, Z))                                                           \
    DAE_KERNEL(double, update##k, (int n, int ld, const double *weight, const double *Z, double *Y), \
               return update(k, n, ld, weight, Z, Y))                                                \
    DAE_KERNEL(void, difference##k,                                                                  \
               (int n, int ld, const double *w, double h, const double *F, double *psi),             \
               difference(k, n, ld, w, h, F, psi))                                                   \
    DAE_KERNEL(void, differences##k, (int n, int ld, const double *Y, double *b), differences(k, n, ld, Y, b))

KERNELS(3)
KERNELS(4)
KERNELS(6)
KERNELS(8)
KERNELS(10)

#define SET(k, version)                                                                          \
    {                                                                                            \
        right_sides##k##version, second##k##version, update##k##version, difference##k##version, \
            differences##k##version                                                              \
    }

static const bimd_kernels base[5] = {SET(3, _base), SET(4, _base), SET(6, _base), SET(8, _base),
                                     SET(10, _base)};
#ifdef DAE_KERNEL_WIDE
static const bimd_kernels wide[5] = {SET(3, _avx2), SET(4, _avx2), SET(6, _avx2), SET(8, _avx2),
                                     SET(10, _avx2)};
#endif

const bimd_kernels *dae_bimd_kernels(int level)
{
#ifdef DAE_KERNEL_WIDE
    if (__builtin_cpu_supports("avx2")) return &wide[level];
#endif
    return &base[level];
}
