#include "method/radau/kernels.h"

#include "linalg/kernel.h"

#include <float.h>
#include <math.h>

/* The loops over components carry nothing from one to the next. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

DAE_KERNEL_BODY void right_sides(const int s, int n, int ld, const struct coefficients *m, double q,
                                 const double *restrict mw, double *restrict g)
{
    double gamma = m->gamma * q, alpha[S_MAX / 2], beta[S_MAX / 2];
    for (int k = 0; k < s / 2; k++) {
        alpha[k] = m->alpha[k] * q;
        beta[k] = m->beta[k] * q;
    }
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v[S_MAX];
        for (int k = 0; k < s; k++) {
            double x = 0;
            for (int j = 0; j < s; j++) x += m->Tinv[k][j] * g[j * ld + i];
            v[k] = x;
        }
        g[i] = v[0] - gamma * mw[i];
        for (int k = 0; k < s / 2; k++) {
            double a = mw[(2 * k + 1) * ld + i], b = mw[(2 * k + 2) * ld + i];
            g[(2 * k + 1) * ld + i] = v[2 * k + 1] - (alpha[k] * a - beta[k] * b);
            g[(2 * k + 2) * ld + i] = v[2 * k + 2] - (beta[k] * a + alpha[k] * b);
        }
    }
}

DAE_KERNEL_BODY void update(const int s, int n, int ld, const struct coefficients *m,
                            const double *restrict g, const double *restrict weight, const double *restrict y,
                            double *restrict w, double *restrict z, double *restrict stage,
                            double *restrict square)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v[S_MAX], sum = 0;
        for (int k = 0; k < s; k++) {
            double dw = g[k * ld + i], x = dw * weight[i];
            sum += x * x;
            v[k] = w[k * ld + i] + dw;
            w[k * ld + i] = v[k];
        }
        square[i] = sum;
        for (int k = 0; k < s; k++) {
            double x = 0;
            for (int j = 0; j < s; j++) x += m->T[k][j] * v[j];
            z[k * ld + i] = x;
            stage[k * ld + i] = y[i] + x;
        }
    }
}

DAE_KERNEL_BODY void predict(const int s, int n, int ld, const struct coefficients *m,
                             const double *restrict sigma, const double *restrict shift,
                             const double *restrict cont, const double *restrict y, double *restrict z,
                             double *restrict w, double *restrict stage)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v[S_MAX];
        for (int k = 0; k < s; k++) {
            double p = cont[s * ld + i];
            for (int j = s - 1; j >= 1; j--) p = cont[j * ld + i] + (sigma[k] - shift[j]) * p;
            v[k] = sigma[k] * p;
            z[k * ld + i] = v[k];
            stage[k * ld + i] = y[i] + v[k];
        }
        for (int k = 0; k < s; k++) {
            double x = 0;
            for (int j = 0; j < s; j++) x += m->Tinv[k][j] * v[j];
            w[k * ld + i] = x;
        }
    }
}

DAE_KERNEL_BODY void differences(const int s, int n, int ld, const double (*inverse)[S_MAX + 1],
                                 const double *restrict z, double *restrict cont)
{
    for (int k = 0; k <= s; k++) {
        for (int i = 0; i < n; i++) cont[k * ld + i] = k < s ? z[(s - 1 - k) * ld + i] : 0;
    }
    for (int k = 1; k <= s; k++) {
        for (int j = s; j >= k; j--) {
            double *restrict a = cont + j * ld;
            const double *restrict b = cont + (j - 1) * ld;
            double factor = inverse[k][j];
            for (int i = 0; i < n; i++) a[i] = (a[i] - b[i]) * factor;
        }
    }
}

DAE_KERNEL_BODY void defect(const int s, int n, int ld, const struct coefficients *m, double q,
                            const double *restrict z, double *restrict out)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v = 0;
        for (int k = 0; k < s; k++) v += m->dd[k] * z[k * ld + i];
        out[i] = v * q;
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

DAE_KERNEL(void, weights, (int n, const double *atol, const double *rtol, const double *y, double *out),
           weights(n, atol, rtol, y, out))

#define KERNELS(s)                                                                                     \
    DAE_KERNEL(void, right_sides##s,                                                                   \
               (int n, int ld, const struct coefficients *m, double q, const double *mw, double *g),   \
               right_sides(s, n, ld, m, q, mw, g))                                                     \
    DAE_KERNEL(void, update##s,                                                                        \
               (int n, int ld, const struct coefficients *m, const double *g, const double *weight,    \
                const double *y, double *w, double *z, double *stage, double *square),                 \
               update(s, n, ld, m, g, weight, y, w, z, stage, square))                                 \
    DAE_KERNEL(void, predict##s,                                                                       \
               (int n, int ld, const struct coefficients *m, const double *sigma, const double *shift, \
                const double *cont, const double *y, double *z, double *w, double *stage),             \
               predict(s, n, ld, m, sigma, shift, cont, y, z, w, stage))                               \
    DAE_KERNEL(void, differences##s,                                                                   \
               (int n, int ld, const double(*inverse)[S_MAX + 1], const double *z, double *cont),      \
               differences(s, n, ld, inverse, z, cont))                                                \
    DAE_KERNEL(void, defect##s,                                                                        \
               (int n, int ld, const struct coefficients *m, double q, const double *z, double *out),  \
               defect(s, n, ld, m, q, z, out))

KERNELS(3)
KERNELS(5)
KERNELS(7)

#define SET(s, version)                                                                            \
    {                                                                                              \
        right_sides##s##version, update##s##version, predict##s##version, differences##s##version, \
            weights##version, defect##s##version                                                   \
    }

static const radau_kernels base[3] = {SET(3, _base), SET(5, _base), SET(7, _base)};
#ifdef DAE_KERNEL_WIDE
static const radau_kernels wide[3] = {SET(3, _avx2), SET(5, _avx2), SET(7, _avx2)};
#endif

const radau_kernels *dae_radau_kernels(int s)
{
#ifdef DAE_KERNEL_WIDE
    if (__builtin_cpu_supports("avx2")) return &wide[(s - 3) / 2];
#endif
    return &base[(s - 3) / 2];
}
