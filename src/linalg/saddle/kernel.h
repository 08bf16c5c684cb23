/* Dense kernels for the small blocks of saddle-point systems; column-major, no pivot too small for them
 * is repaired: they return its number (from 1). Above LARGE the callers use LAPACK. */
#ifndef DAE_LINALG_SADDLE_KERNEL_H
#define DAE_LINALG_SADDLE_KERNEL_H

#include <math.h>

#include "core/vector.h"
#include "linalg/lapack.h"

#define AT(i, j, ld) ((size_t)(i) + (size_t)(j) * (size_t)(ld)) /* element (i,j) of a matrix */
#define LARGE 64 /* ours: above it OpenBLAS is faster than these loops (AVX2 machine, sizes 16 .. 128) */

/* ---- LU with partial pivoting ------------------------------------------------------------------ */

static inline int kernel_lu(int n, double *a, int *piv)
{
    for (int k = 0; k < n; k++) {
        double *col = a + (size_t)k * (size_t)n;
        int p = k;
        double best = fabs(col[k]);
        for (int i = k + 1; i < n; i++) {
            double x = fabs(col[i]);
            if (x > best) {
                best = x;
                p = i;
            }
        }
        piv[k] = p;
        if (!(best > 0) || best - best != 0) return k + 1;
        if (p != k) {
            for (double *c = a; c < a + (size_t)n * (size_t)n; c += n) {
                double x = c[k];
                c[k] = c[p];
                c[p] = x;
            }
        }
        double r = 1 / col[k];
        for (int i = k + 1; i < n; i++) col[i] *= r;
        for (double *c = col + n; c < a + (size_t)n * (size_t)n; c += n) {
            double x = c[k];
            if (x == 0) continue;
            for (int i = k + 1; i < n; i++) c[i] -= x * col[i];
        }
    }
    return 0;
}

static inline void kernel_lu_solve(int n, const double *a, const int *piv, double *x)
{
    for (int k = 0; k < n; k++) {
        double y = x[piv[k]];
        x[piv[k]] = x[k];
        x[k] = y;
    }
    for (int k = 0; k < n; k++) {
        const double *col = a + (size_t)k * (size_t)n;
        double y = x[k];
        if (y == 0) continue;
        for (int i = k + 1; i < n; i++) x[i] -= y * col[i];
    }
    for (int k = n - 1; k >= 0; k--) {
        const double *col = a + (size_t)k * (size_t)n;
        double y = x[k] /= col[k];
        for (int i = 0; i < k; i++) x[i] -= y * col[i];
    }
}

/* ---- Cholesky: the lower triangle of a becomes L ------------------------------------------------ */

static inline int kernel_cholesky(int n, double *a)
{
    double scale = 0; /* a pivot at rounding level of the largest diagonal entry counts as zero */
    for (int k = 0; k < n; k++) scale = fmax(scale, a[AT(k, k, n)]);
    for (int k = 0; k < n; k++) {
        double *col = a + (size_t)k * (size_t)n, d = col[k];
        if (!(d > 1e-15 * scale) || d - d != 0) return k + 1;
        double l = sqrt(d), r = 1 / l;
        col[k] = l;
        for (int i = k + 1; i < n; i++) col[i] *= r;
        for (int j = k + 1; j < n; j++) {
            double *c = a + (size_t)j * (size_t)n, x = col[j];
            for (int i = j; i < n; i++) c[i] -= x * col[i];
        }
    }
    return 0;
}

/* x = L^-1 x, x = L^-T x; L has leading dimension ld. */
static inline void kernel_lower(int n, const double *L, int ld, double *x)
{
    for (int k = 0; k < n; k++) {
        const double *col = L + (size_t)k * (size_t)ld;
        double y = x[k] /= col[k];
        for (int i = k + 1; i < n; i++) x[i] -= y * col[i];
    }
}

static inline void kernel_lower_t(int n, const double *L, int ld, double *x)
{
    for (int k = n - 1; k >= 0; k--) {
        const double *col = L + (size_t)k * (size_t)ld;
        double y = x[k];
        for (int i = k + 1; i < n; i++) y -= col[i] * x[i];
        x[k] = y / col[k];
    }
}

/* x = R^-1 x, x = R^-T x for the upper triangle R with leading dimension ld. */
static inline void kernel_upper(int n, const double *R, int ld, double *x)
{
    for (int k = n - 1; k >= 0; k--) {
        const double *col = R + (size_t)k * (size_t)ld;
        double y = x[k] /= col[k];
        for (int i = 0; i < k; i++) x[i] -= y * col[i];
    }
}

static inline void kernel_upper_t(int n, const double *R, int ld, double *x)
{
    for (int k = 0; k < n; k++) {
        const double *col = R + (size_t)k * (size_t)ld;
        double y = x[k];
        for (int i = 0; i < k; i++) y -= col[i] * x[i];
        x[k] = y / col[k];
    }
}

/* x = A^-T x from the factors P A = L U of kernel_lu. */
static inline void kernel_lu_solve_t(int n, const double *a, const int *piv, double *x)
{
    kernel_upper_t(n, a, n, x);
    for (int k = n - 1; k >= 0; k--) {
        const double *col = a + (size_t)k * (size_t)n;
        for (int i = k + 1; i < n; i++) x[k] -= col[i] * x[i];
    }
    for (int k = n - 1; k >= 0; k--) {
        double y = x[k];
        x[k] = x[piv[k]];
        x[piv[k]] = y;
    }
}

/* ---- Householder QR of a (m x n, m >= n) --------------------------------------------------------- */

/* Upper triangle: R; below it the vectors v (v_k = 1 not stored) of H_k = I - tau v v^T. A column that
 * is at rounding level of its original length means dependent columns. */
static inline int kernel_qr(int m, int n, double *a, double *tau)
{
    for (int k = 0; k < n; k++) {
        double *col = a + (size_t)k * (size_t)m, below = 0, above = 0;
        for (int i = k; i < m; i++) below += col[i] * col[i];
        for (int i = 0; i < k; i++) above += col[i] * col[i];
        double length = sqrt(below);
        if (!(below > 1e-30 * above) || !(length > 0) || length - length != 0) return k + 1;
        double alpha = col[k] > 0 ? -length : length, r = 1 / (col[k] - alpha);
        tau[k] = (alpha - col[k]) / alpha;
        for (int i = k + 1; i < m; i++) col[i] *= r;
        col[k] = alpha;
        for (int j = k + 1; j < n; j++) {
            double *c = a + (size_t)j * (size_t)m, x = c[k];
            for (int i = k + 1; i < m; i++) x += col[i] * c[i];
            x *= tau[k];
            c[k] -= x;
            for (int i = k + 1; i < m; i++) c[i] -= x * col[i];
        }
    }
    return 0;
}

static inline void kernel_reflect(int m, int k, const double *a, const double *tau, double *x)
{
    const double *v = a + (size_t)k * (size_t)m;
    double y = x[k];
    for (int i = k + 1; i < m; i++) y += v[i] * x[i];
    y *= tau[k];
    x[k] -= y;
    for (int i = k + 1; i < m; i++) x[i] -= y * v[i];
}

/* x = Q^T x, x = Q x for the n reflections in a. */
static inline void kernel_qt(int m, int n, const double *a, const double *tau, double *x)
{
    for (int k = 0; k < n; k++) kernel_reflect(m, k, a, tau, x);
}

static inline void kernel_q(int m, int n, const double *a, const double *tau, double *x)
{
    for (int k = n - 1; k >= 0; k--) kernel_reflect(m, k, a, tau, x);
}

#endif
