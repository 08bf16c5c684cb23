/* Small vector operations used everywhere; loops that the compiler vectorizes. */
#ifndef DAE_CORE_VECTOR_H
#define DAE_CORE_VECTOR_H

#include <math.h>
#include <string.h>

static inline void dae_copy(int n, const double *x, double *y)
{
    if (n > 0) memcpy(y, x, (size_t)n * sizeof *y);
}

static inline void dae_zero(int n, double *y)
{
    if (n > 0) memset(y, 0, (size_t)n * sizeof *y);
}

static inline double dae_dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* y += a x */
static inline void dae_axpy(int n, double a, const double *restrict x, double *restrict y)
{
    for (int i = 0; i < n; i++) y[i] += a * x[i];
}

/* Largest absolute value; values that are no numbers do not count. */
static inline double dae_largest(int n, const double *x)
{
    double m = 0;
    for (int i = 0; i < n; i++) m = fabs(x[i]) > m ? fabs(x[i]) : m;
    return m;
}

/* Sums in four parts: four times as fast as one after the other, and the same on every machine. */
static inline double dae_sum(int n, const double *x)
{
    double s[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += x[i + k];
    }
    for (; i < n; i++) s[0] += x[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* 1 if every value is finite: then x - x is 0, and NaN otherwise. The sum tells of all; where it overflows each is looked at. */
static inline int dae_all_finite(int n, const double *x)
{
    double sum = dae_sum(n, x), off = 0;
    if (sum - sum == 0) return 1;
    for (int i = 0; i < n; i++) off += x[i] - x[i];
    return off == 0;
}

/* sum (x_i w_i)^2 */
static inline double dae_sum_squares(int n, const double *restrict x, const double *restrict w)
{
    double s[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += x[i + k] * w[i + k] * (x[i + k] * w[i + k]);
    }
    for (; i < n; i++) s[0] += x[i] * w[i] * (x[i] * w[i]);
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* sum x_i^2 in four lanes. */
static inline double dae_squares(int n, const double *x)
{
    double s[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int l = 0; l < 4; l++) s[l] += x[i + l] * x[i + l];
    }
    for (; i < n; i++) s[0] += x[i] * x[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* sqrt(mean (x_i/w_i)^2) */
static inline double dae_wrms(int n, const double *restrict x, const double *restrict w)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        double r = x[i] / w[i];
        s += r * r;
    }
    return n > 0 ? sqrt(s / n) : 0;
}

#endif
