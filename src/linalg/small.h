/* LU factors of very small dense matrices, real and complex, inlined where n is a constant.
 *
 * Column-major with leading dimension ld. Pivots, order of operations and results are those of linalg/dense.c to the last
 * bit (groups of 4 unknowns in the back substitution, rows of U inside a group divided by their pivots), so that a
 * method may take either. Formulas: A = P^T L U, partial pivoting, |re| + |im| as the size of a complex number. */
#ifndef DAE_LINALG_SMALL_H
#define DAE_LINALG_SMALL_H

#include "core/matrix.h"
#include "linalg/kernel.h"
#include "linalg/scalar.h"

#include <float.h>
#include <math.h>

enum { DAE_SMALL_MAX = 8 };

#define DAE_SMALL_PIVOT (DBL_MIN / 4) /* as in linalg/dense.c: reciprocals of smaller numbers overflow */

#if defined(__GNUC__) && !defined(__clang__)
#define DAE_UNROLL _Pragma("GCC unroll 8")
#else
#define DAE_UNROLL
#endif

/* A number that was stored alone a moment ago, as user functions do: loaded alone too. A vector that is put together from
 * several such stores cannot be taken from the store buffer and waits for the cache. */
#define DAE_SMALL_ALONE(x) (*(const volatile double *)&(x))

/* Products with M, by its diagonals: element (i, i + d - lower) is at a[d*n + i], zero outside the matrix. */
typedef struct dae_small_band {
    int lower, upper;
    double a[(2 * DAE_SMALL_MAX - 1) * DAE_SMALL_MAX];
} dae_small_band;

/* x := M x; terms of a row in the order of the columns */
DAE_KERNEL_BODY void dae_small_multiply(const int n, const dae_small_band *m, double *restrict x)
{
    if (m->lower + m->upper == 0) {
        for (int i = 0; i < n; i++) x[i] *= m->a[i];
        return;
    }
    double room[3 * DAE_SMALL_MAX], s[DAE_SMALL_MAX] = {0};
    for (int i = 0; i < n; i++) {
        room[DAE_SMALL_MAX - 1 - i] = room[DAE_SMALL_MAX + n + i] = 0;
        room[DAE_SMALL_MAX + i] = x[i];
    }
    for (int d = 0; d <= m->lower + m->upper; d++) {
        const double *restrict a = m->a + d * n, *restrict v = room + DAE_SMALL_MAX + d - m->lower;
        for (int i = 0; i < n; i++) s[i] += a[i] * v[i];
    }
    for (int i = 0; i < n; i++) x[i] = s[i];
}

/* a += x M, a dense with n rows */
DAE_KERNEL_BODY void dae_small_add(const int n, const dae_small_band *m, double x, double *restrict a)
{
    for (int d = 0; d <= m->lower + m->upper; d++) {
        int shift = d - m->lower, first = shift < 0 ? -shift : 0, end = shift > 0 ? n - shift : n;
        for (int i = first; i < end; i++) a[i + (i + shift) * n] += x * m->a[d * n + i];
    }
}

/* 0, or the number of the pivot that is zero or not finite; inverse: reciprocals of the pivots; perm: as in dense.h. */
DAE_KERNEL_BODY int dae_small_factor(const int n, const int ld, double *restrict a, double *restrict inverse,
                                     int *restrict perm)
{
    for (int i = 0; i < n; i++) perm[i] = i;
    DAE_UNROLL
    for (int k = 0; k < n; k++) {
        double *restrict c = a + k * ld, largest = fabs(c[k]);
        int p = k;
        for (int i = k + 1; i < n; i++) {
            double v = fabs(c[i]);
            if (v > largest) {
                largest = v;
                p = i;
            }
        }
        if (!(largest >= DAE_SMALL_PIVOT) || !(largest <= DBL_MAX)) return k + 1;
        if (p != k) {
            int row = perm[p];
            perm[p] = perm[k];
            perm[k] = row;
            for (int j = 0; j < n; j++) {
                double t = a[k + j * ld];
                a[k + j * ld] = a[p + j * ld];
                a[p + j * ld] = t;
            }
        }
        double r = 1 / c[k];
        inverse[k] = r;
        DAE_UNROLL
        for (int i = k + 1; i < n; i++) c[i] *= r;
        DAE_UNROLL
        for (int j = k + 1; j < n; j++) {
            double *restrict u = a + j * ld, t = u[k];
            DAE_UNROLL
            for (int i = k + 1; i < n; i++) u[i] -= c[i] * t;
        }
    }
    for (int j = 1; j < n; j++) {
        DAE_UNROLL
        for (int i = j & ~3; i < j; i++) a[i + j * ld] *= inverse[i];
    }
    return 0;
}

/* w := P x. Up to `chosen` numbers, 2 or 3, are loaded all and chosen by comparisons, which the processor foresees: a load from a place that
 * it has to load first would wait for the stores before. */
DAE_KERNEL_BODY void dae_small_permute(const int n, const int chosen, const int *restrict perm,
                                       const double *restrict x, double *restrict w)
{
    if (n == 2) {
        double x0 = x[0], x1 = x[1];
        w[0] = perm[0] ? x1 : x0;
        w[1] = perm[0] ? x0 : x1;
    } else if (n == 3 && chosen == 3) {
        double x0 = x[0], x1 = x[1], x2 = x[2];
        for (int i = 0; i < 3; i++) w[i] = perm[i] == 0 ? x0 : perm[i] == 1 ? x1 : x2;
    } else {
        DAE_UNROLL
        for (int i = 0; i < n; i++) w[i] = x[perm[i]];
    }
}

/* x := A^-1 x */
DAE_KERNEL_BODY void dae_small_solve(const int n, const int ld, const double *restrict a,
                                     const double *restrict inverse, const int *restrict perm,
                                     double *restrict x)
{
    double w[DAE_SMALL_MAX];
    dae_small_permute(n, 3, perm, x, w); /* ours: rodas5p of three equations takes 0.9 of its time */
    DAE_UNROLL
    for (int k = 0; k < n - 1; k++) {
        DAE_UNROLL
        for (int i = k + 1; i < n; i++) w[i] -= a[i + k * ld] * w[k];
    }
    DAE_UNROLL
    for (int g = (n - 1) & ~3; g >= 0; g -= 4) {
        const int end = g + 4 < n ? g + 4 : n;
        DAE_UNROLL
        for (int k = g; k < end; k++) w[k] *= inverse[k];
        DAE_UNROLL
        for (int k = end - 1; k > g; k--) {
            DAE_UNROLL
            for (int i = g; i < k; i++) w[i] -= a[i + k * ld] * w[k];
        }
        DAE_UNROLL
        for (int k = g; k < end; k++) {
            DAE_UNROLL
            for (int i = 0; i < g; i++) w[i] -= a[i + k * ld] * w[k];
        }
    }
    DAE_UNROLL
    for (int i = 0; i < n; i++) x[i] = w[i];
}

/* The same for complex numbers in two arrays. */
DAE_KERNEL_BODY int dae_small_factor_complex(const int n, const int ld, double *restrict ar,
                                             double *restrict ai, double *restrict ire, double *restrict iim,
                                             int *restrict perm)
{
    for (int i = 0; i < n; i++) perm[i] = i;
    DAE_UNROLL
    for (int k = 0; k < n; k++) {
        double *restrict cr = ar + k * ld, *restrict ci = ai + k * ld, largest = fabs(cr[k]) + fabs(ci[k]), r,
                         m;
        int p = k;
        for (int i = k + 1; i < n; i++) {
            double v = fabs(cr[i]) + fabs(ci[i]);
            if (v > largest) {
                largest = v;
                p = i;
            }
        }
        if (!(largest > 0) || !dae_pair_reciprocal(cr[p], ci[p], &r, &m)) return k + 1;
        if (p != k) {
            int row = perm[p];
            perm[p] = perm[k];
            perm[k] = row;
            for (int j = 0; j < n; j++) {
                double t = ar[k + j * ld], s = ai[k + j * ld];
                ar[k + j * ld] = ar[p + j * ld];
                ai[k + j * ld] = ai[p + j * ld];
                ar[p + j * ld] = t;
                ai[p + j * ld] = s;
            }
        }
        ire[k] = r;
        iim[k] = m;
        DAE_UNROLL
        for (int i = k + 1; i < n; i++) {
            double v = cr[i] * r - ci[i] * m;
            ci[i] = cr[i] * m + ci[i] * r;
            cr[i] = v;
        }
        DAE_UNROLL
        for (int j = k + 1; j < n; j++) {
            double *restrict ur = ar + j * ld, *restrict ui = ai + j * ld, tr = ur[k], ti = ui[k];
            DAE_UNROLL
            for (int i = k + 1; i < n; i++) {
                ur[i] -= cr[i] * tr - ci[i] * ti;
                ui[i] -= cr[i] * ti + ci[i] * tr;
            }
        }
    }
    for (int j = 1; j < n; j++) {
        DAE_UNROLL
        for (int i = j & ~3; i < j; i++) {
            double v = ar[i + j * ld] * ire[i] - ai[i + j * ld] * iim[i];
            ai[i + j * ld] = ar[i + j * ld] * iim[i] + ai[i + j * ld] * ire[i];
            ar[i + j * ld] = v;
        }
    }
    return 0;
}

DAE_KERNEL_BODY void dae_small_solve_complex(const int n, const int ld, const double *restrict ar,
                                             const double *restrict ai, const double *restrict ire,
                                             const double *restrict iim, const int *restrict perm,
                                             double *restrict xr, double *restrict xi)
{
    double wr[DAE_SMALL_MAX], wi[DAE_SMALL_MAX];
    dae_small_permute(n, 2, perm, xr, wr); /* of three equations radau5 takes 1.05 of its time with 3 */
    dae_small_permute(n, 2, perm, xi, wi);
    DAE_UNROLL
    for (int k = 0; k < n - 1; k++) {
        DAE_UNROLL
        for (int i = k + 1; i < n; i++) {
            wr[i] -= ar[i + k * ld] * wr[k] - ai[i + k * ld] * wi[k];
            wi[i] -= ar[i + k * ld] * wi[k] + ai[i + k * ld] * wr[k];
        }
    }
    DAE_UNROLL
    for (int g = (n - 1) & ~3; g >= 0; g -= 4) {
        const int end = g + 4 < n ? g + 4 : n;
        DAE_UNROLL
        for (int k = g; k < end; k++) {
            double v = wr[k] * ire[k] - wi[k] * iim[k];
            wi[k] = wr[k] * iim[k] + wi[k] * ire[k];
            wr[k] = v;
        }
        DAE_UNROLL
        for (int k = end - 1; k > g; k--) {
            DAE_UNROLL
            for (int i = g; i < k; i++) {
                wr[i] -= ar[i + k * ld] * wr[k] - ai[i + k * ld] * wi[k];
                wi[i] -= ar[i + k * ld] * wi[k] + ai[i + k * ld] * wr[k];
            }
        }
        DAE_UNROLL
        for (int k = g; k < end; k++) {
            DAE_UNROLL
            for (int i = 0; i < g; i++) {
                wr[i] -= ar[i + k * ld] * wr[k] - ai[i + k * ld] * wi[k];
                wi[i] -= ar[i + k * ld] * wi[k] + ai[i + k * ld] * wr[k];
            }
        }
    }
    DAE_UNROLL
    for (int i = 0; i < n; i++) {
        xr[i] = wr[i];
        xi[i] = wi[i];
    }
}
/* The diagonals of M between the outermost that are not zero; n <= DAE_SMALL_MAX. */
static inline dae_small_band dae_small_band_of(const dae_matrix *M, int n)
{
    dae_small_band b = {0};
    for (int k = 0; k < n * n; k++) {
        int i = k % n, j = k / n;
        if (dae_matrix_get(M, i, j) == 0) continue;
        if (i - j > b.lower) b.lower = i - j;
        if (j - i > b.upper) b.upper = j - i;
    }
    for (int d = 0; d <= b.lower + b.upper; d++) {
        for (int i = 0; i < n; i++) {
            int j = i + d - b.lower;
            if (j >= 0 && j < n) b.a[d * n + i] = dae_matrix_get(M, i, j);
        }
    }
    return b;
}

#endif
