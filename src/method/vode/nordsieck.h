/* The Nordsieck array z_j = h^j y^(j)/j!, j = 0 .. q, and what every step does with it.
 *
 * Row j of z begins at z + j*ld; ld is n rounded up to a multiple of 4 and the padding stays zero, so that the
 * loops have no tail. The orders are constants inside the loops: the compiler unrolls and vectorizes them. */
#ifndef DAE_METHOD_VODE_NORDSIECK_H
#define DAE_METHOD_VODE_NORDSIECK_H

#include "linalg/kernel.h"

#include <math.h>

#define DAE_NORDSIECK_ORDER_MAX 12

#define DAE_NORDSIECK_CASE(k, call) \
    case k: {                       \
        const int Q = k;            \
        call;                       \
        break;                      \
    }
/* call with Q = q, a constant */
/* clang-format off */
#define DAE_NORDSIECK_BY_ORDER(q, call)                                                              \
    switch (q) {                                                                                     \
        DAE_NORDSIECK_CASE(1, call)                                                                  \
        DAE_NORDSIECK_CASE(2, call) DAE_NORDSIECK_CASE(3, call) DAE_NORDSIECK_CASE(4, call)          \
            DAE_NORDSIECK_CASE(5, call) DAE_NORDSIECK_CASE(6, call) DAE_NORDSIECK_CASE(7, call)      \
                DAE_NORDSIECK_CASE(8, call) DAE_NORDSIECK_CASE(9, call) DAE_NORDSIECK_CASE(10, call) \
                    DAE_NORDSIECK_CASE(11, call) DAE_NORDSIECK_CASE(12, call) default : break;       \
    }
/* clang-format on */

static inline int dae_nordsieck_ld(int n)
{
    return (n + 3) & ~3;
}

/* y = z_0 + .. + z_q and r = scale (z_1 + 2 z_2 + .. + q z_q): the predicted z_0 and z_1 */
DAE_KERNEL_BODY void dae_nordsieck_predict(const int q, int ld, const double *restrict z, double scale,
                                           double *restrict y, double *restrict r)
{
    for (int b = 0; b < ld; b += 4) {
        for (int i = b; i < b + 4; i++) {
            double s = z[q * ld + i], d = s;
            for (int j = q - 1; j > 0; j--) {
                s += z[j * ld + i];
                d += s;
            }
            y[i] = z[i] + s;
            r[i] = d * scale;
        }
    }
}

/* An accepted step: z = (Pascal's triangle) z + l a, but z_0 = y; and the weights of the next step,
 * w = 1/(rtol |y| + atol). */
DAE_KERNEL_BODY void dae_nordsieck_advance(const int q, int ld, double *restrict z, const double *restrict l,
                                           const double *restrict a, const double *restrict y,
                                           const double *restrict rtol, const double *restrict atol,
                                           double *restrict w)
{
    for (int b = 0; b < ld; b += 4) {
        double v[DAE_NORDSIECK_ORDER_MAX + 1][4];
        for (int j = 1; j <= q; j++) {
            for (int i = 0; i < 4; i++) v[j][i] = z[j * ld + b + i];
        }
        for (int k = 0; k < q; k++) {
            for (int j = q - 1; j >= (k > 0 ? k : 1); j--) {
                for (int i = 0; i < 4; i++) v[j][i] += v[j + 1][i];
            }
        }
        for (int i = 0; i < 4; i++) z[b + i] = y[b + i];
        for (int j = 1; j <= q; j++) {
            for (int i = 0; i < 4; i++) z[j * ld + b + i] = v[j][i] + l[j] * a[b + i];
        }
        for (int i = 0; i < 4; i++) w[b + i] = 1 / (rtol[b + i] * fabs(y[b + i]) + atol[b + i]);
    }
}

/* The newest point was moved to y, by a projection. In BDF z is the polynomial through past values, which stay: all of it changes,
 * by l_j/l_0 for each 1 of z_0 [Eic93]. In Adams' formulas it has past slopes, and only z_0 changes (l NULL). */
static inline void dae_nordsieck_moved(int q, int n, int ld, double *z, const double *l, const double *y)
{
    for (int j = 1; l && j <= q; j++) {
        double c = l[j] / l[0];
        for (int i = 0; i < n; i++) z[j * ld + i] += c * (y[i] - z[i]);
    }
    for (int i = 0; i < n; i++) z[i] = y[i];
}

/* sum (v_i w_i)^2 */
DAE_KERNEL_BODY double dae_nordsieck_square(int ld, const double *restrict v, const double *restrict w)
{
    double s[4] = {0, 0, 0, 0};
    for (int b = 0; b < ld; b += 4) {
        for (int i = 0; i < 4; i++) s[i] += v[b + i] * w[b + i] * (v[b + i] * w[b + i]);
    }
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* z_j *= eta^j */
static inline void dae_nordsieck_rescale(int q, int ld, double *z, double eta)
{
    double r = 1;
    for (int j = 1; j <= q; j++) {
        r *= eta;
        for (int i = 0; i < ld; i++) z[j * ld + i] *= r;
    }
}

/* y(t_n + s h), and h y' where yp is wanted, -1 <= s <= 0 */
static inline void dae_nordsieck_at(int q, int n, int ld, const double *z, double s, double h, double *y,
                                    double *yp)
{
    for (int i = 0; i < n; i++) {
        double p = z[q * ld + i], d = 0;
        for (int j = q - 1; j >= 0; j--) {
            d = d * s + p;
            p = p * s + z[j * ld + i];
        }
        if (y) y[i] = p;
        if (yp) yp[i] = d / h;
    }
}

#endif
