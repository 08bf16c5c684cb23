#include "linalg/dense.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "linalg/lapack.h"
#include "linalg/scalar.h"
#include "linalg/small.h"

/* The factorization goes over panels of 4 columns. Inside a panel: column by column, with the search for
 * the largest element. Then every column to the right gets the interchanges, its 4 elements of U and one
 * update with all 4 columns of L; columns whose 4 elements of U are zero are left alone, for Jacobians have
 * many of them. The substitutions go over the same groups of 4 unknowns: first the triangle of the group,
 * then all rows that depend on it. */

#define SMALLEST (DBL_MIN / 4) /* the reciprocals of smaller numbers overflow */

/* ---- Real --------------------------------------------------------------------------------------- */

static inline double *column(double *a, int ld, int j)
{
    return a + (size_t)j * (size_t)ld;
}

static inline void swap(double *a, int i, int j)
{
    double t = a[i];
    a[i] = a[j];
    a[j] = t;
}

/* c -= l0 t0 + l1 t1 + l2 t2 + l3 t3 over rows from .. to-1, both multiples of 4 */
DAE_KERNEL_BODY void update4(int from, int to, const double *restrict l, int ld, double t0, double t1,
                             double t2, double t3, double *restrict c)
{
    const double *l0 = l, *l1 = l + ld, *l2 = l + 2 * ld, *l3 = l + 3 * ld;
    for (int i = from; i < to; i += 4) {
        for (int q = 0; q < 4; q++) {
            c[i + q] = c[i + q] - l0[i + q] * t0 - l1[i + q] * t1 - l2[i + q] * t2 - l3[i + q] * t3;
        }
    }
}

/* u -= c t over rows from .. to-1, both multiples of 4 */
DAE_KERNEL_BODY void update1(int from, int to, const double *restrict c, double t, double *restrict u)
{
    for (int i = from; i < to; i += 4) {
        for (int q = 0; q < 4; q++) u[i + q] -= c[i + q] * t;
    }
}

/* Step kk of the panel with nb columns that starts at k0, a its first column: pivot of column k0 + kk,
 * multipliers, update of the panel. kk and nb are constants after inlining. Rows of the group k0 are done one
 * by one, those below in whole groups. Returns the row taken, or -1 if there is none. */
DAE_KERNEL_BODY int step_real(int ld, int k0, int kk, int nb, double *restrict a, double *inverse)
{
    const int k = k0 + kk, below = k0 + 4;
    double *c = a + kk * ld, best[4] = {0, 0, 0, 0};
    for (int q = kk; q < nb; q++) best[q] = fabs(c[k0 + q]);
    for (int i = below; i < ld; i += 4) {
        for (int q = 0; q < 4; q++) {
            double v = fabs(c[i + q]);
            best[q] = v > best[q] ? v : best[q];
        }
    }
    double left = best[0] > best[1] ? best[0] : best[1], right = best[2] > best[3] ? best[2] : best[3];
    double largest = left > right ? left : right;
    if (!(largest >= SMALLEST) || !(largest <= DBL_MAX)) return -1;
    int p = k;
    while (fabs(c[p]) != largest) p++;
    if (p != k) {
        for (int q = 0; q < nb; q++) swap(a + q * ld, k, p);
    }
    double r = 1 / c[k];
    *inverse = r;
    for (int q = kk + 1; q < nb; q++) c[k0 + q] *= r;
    for (int i = below; i < ld; i += 4) {
        for (int q = 0; q < 4; q++) c[i + q] *= r;
    }
    for (int j = kk + 1; j < nb; j++) {
        double *u = a + j * ld, t = u[k];
        for (int q = kk + 1; q < nb; q++) u[k0 + q] -= c[k0 + q] * t;
        update1(below, ld, c, t, u);
    }
    return p;
}

/* All steps of a panel: pivot[k-k0] gets the row taken for column k. 0, or the number of the bad pivot. */
DAE_KERNEL_BODY int panel_real(dae_dense_lu *d, int k0, int nb, int pivot[4])
{
    double *a = column(d->re, d->ld, k0);
    double *r = d->ire + k0;
    /* written out, because the steps are fast only with kk known */
    if ((pivot[0] = step_real(d->ld, k0, 0, nb, a, r)) < 0) return k0 + 1;
    if (nb > 1 && (pivot[1] = step_real(d->ld, k0, 1, nb, a, r + 1)) < 0) return k0 + 2;
    if (nb > 2 && (pivot[2] = step_real(d->ld, k0, 2, nb, a, r + 2)) < 0) return k0 + 3;
    if (nb > 3 && (pivot[3] = step_real(d->ld, k0, 3, nb, a, r + 3)) < 0) return k0 + 4;
    return 0;
}

/* Divides the rows of U inside a group by their pivots, which keeps the divisions out of the chain of the
 * back substitution. */
static inline void scale_triangle(double *u, int ld, int nb, const double *r)
{
    for (int j = 1; j < nb; j++) {
        for (int i = 0; i < j; i++) u[i + j * ld] *= r[i];
    }
}

/* Copies by groups of 4 and sums up x - x on the way, which is 0 where all is finite and NaN elsewhere. */
DAE_KERNEL_BODY void load_body(dae_dense_lu *d, double sign, const double *restrict a, int stride)
{
    const int n = d->n, ld = d->ld, whole = n & ~3;
    double *restrict c = d->re, sum[4] = {0, 0, 0, 0};
    for (int j = 0; j < n; j++, a += stride, c += ld) {
        for (int i = 0; i < whole; i += 4) {
            for (int q = 0; q < 4; q++) {
                double v = sign * a[i + q];
                c[i + q] = v;
                sum[q] += v - v;
            }
        }
        if (whole < n) { /* the last group, filled up with zeros */
            double v[4] = {sign * a[whole], 0, 0, 0};
            if (n - whole > 1) v[1] = sign * a[whole + 1];
            if (n - whole > 2) v[2] = sign * a[whole + 2];
            for (int q = 0; q < 4; q++) {
                c[whole + q] = v[q];
                sum[q] += v[q] - v[q];
            }
        }
    }
    d->finite = sum[0] + sum[1] + sum[2] + sum[3] == 0;
    if (d->is_complex) dae_zero(n * ld, d->im);
}

DAE_KERNEL(void, load, (dae_dense_lu * d, double sign, const double *a, int stride),
           load_body(d, sign, a, stride))

/* 1 if the matrix is not finite. */
static inline int not_finite(dae_dense_lu *d)
{
    int finite = d->finite || (dae_all_finite(d->n * d->ld, d->re) &&
                               (!d->is_complex || dae_all_finite(d->n * d->ld, d->im)));
    d->finite = 0;
    return !finite;
}

DAE_KERNEL_BODY int factor_real_body(dae_dense_lu *d)
{
    const int n = d->n, ld = d->ld;
    double *a = d->re;
    int *perm = d->perm;
    if (not_finite(d)) return 1;
    for (int i = 0; i < n; i++) perm[i] = i;
    for (int k = 0; k < n; k += 4) {
        int nb = n - k < 4 ? n - k : 4, pivot[4], swaps = 0;
        int bad = nb == 4   ? panel_real(d, k, 4, pivot)
                  : nb == 3 ? panel_real(d, k, 3, pivot)
                  : nb == 2 ? panel_real(d, k, 2, pivot)
                            : panel_real(d, k, 1, pivot);
        if (bad) return bad;
        for (int q = 0; q < nb; q++) {
            int p = pivot[q], row = perm[p];
            perm[p] = perm[k + q];
            perm[k + q] = row;
            swaps |= p != k + q;
        }
        for (int j = 0; swaps && j < k; j++) {
            double *c = column(a, ld, j);
            for (int q = 0; q < nb; q++) swap(c, k + q, pivot[q]);
        }
        const double *l = column(a, ld, k);
        for (int j = k + 4; j < n; j++) {
            double *c = column(a, ld, j);
            for (int q = 0; swaps && q < 4; q++) swap(c, k + q, pivot[q]);
            double t0 = c[k], t1 = c[k + 1], t2 = c[k + 2], t3 = c[k + 3];
            if (t0 == 0 && t1 == 0 && t2 == 0 && t3 == 0) continue;
            t1 = t1 - l[k + 1] * t0;
            t2 = t2 - l[k + 2] * t0 - l[k + 2 + ld] * t1;
            t3 = t3 - l[k + 3] * t0 - l[k + 3 + ld] * t1 - l[k + 3 + 2 * ld] * t2;
            c[k + 1] = t1;
            c[k + 2] = t2;
            c[k + 3] = t3;
            update4(k + 4, ld, l, ld, t0, t1, t2, t3, c);
        }
        scale_triangle(column(a, ld, k) + k, ld, nb, d->ire + k);
    }
    return 0;
}

DAE_KERNEL_BODY void solve_real_body(const dae_dense_lu *d, double *x)
{
    const int n = d->n, ld = d->ld;
    const double *a = d->re, *r = d->ire;
    double *w = d->work;
    for (int i = 0; i < n; i++) w[i] = x[d->perm[i]];
    for (int i = n; i < ld; i++) w[i] = 0;
    for (int k = 0; k < ld; k += 4) {
        const double *l = a + (size_t)k * (size_t)ld;
        double t0 = w[k], t1 = w[k + 1], t2 = w[k + 2], t3 = w[k + 3];
        t1 = t1 - l[k + 1] * t0;
        t2 = t2 - l[k + 2] * t0 - l[k + 2 + ld] * t1;
        t3 = t3 - l[k + 3] * t0 - l[k + 3 + ld] * t1 - l[k + 3 + 2 * ld] * t2;
        w[k + 1] = t1;
        w[k + 2] = t2;
        w[k + 3] = t3;
        update4(k + 4, ld, l, ld, t0, t1, t2, t3, w);
    }
    for (int k = ld - 4; k >= 0; k -= 4) {
        const double *u = a + (size_t)k * (size_t)ld;
        double t3 = w[k + 3] * r[k + 3], t2 = w[k + 2] * r[k + 2], t1 = w[k + 1] * r[k + 1], t0 = w[k] * r[k];
        t2 = t2 - u[k + 2 + 3 * ld] * t3;
        t1 = t1 - u[k + 1 + 3 * ld] * t3 - u[k + 1 + 2 * ld] * t2;
        t0 = t0 - u[k + 3 * ld] * t3 - u[k + 2 * ld] * t2 - u[k + ld] * t1;
        w[k] = t0;
        w[k + 1] = t1;
        w[k + 2] = t2;
        w[k + 3] = t3;
        update4(0, k, u, ld, t0, t1, t2, t3, w);
    }
    for (int i = 0; i < n; i++) x[i] = w[i];
}

DAE_KERNEL(int, factor_real, (dae_dense_lu * d), return factor_real_body(d))
DAE_KERNEL(void, solve_real, (const dae_dense_lu *d, double *re, double *im), (void)im;
           solve_real_body(d, re))

/* ---- Complex ------------------------------------------------------------------------------------ */

DAE_KERNEL_BODY void update4_complex(int from, int to, const double *restrict lr, const double *restrict li,
                                     int ld, const dae_pair t[4], double *restrict cr, double *restrict ci)
{
    for (int i = from; i < to; i += 4) {
        double r[4], m[4];
        for (int q = 0; q < 4; q++) r[q] = cr[i + q];
        for (int q = 0; q < 4; q++) m[q] = ci[i + q];
        for (int s = 0; s < 4; s++) {
            const double *a = lr + s * ld + i, *b = li + s * ld + i;
            for (int q = 0; q < 4; q++) r[q] -= a[q] * t[s].re - b[q] * t[s].im;
            for (int q = 0; q < 4; q++) m[q] -= a[q] * t[s].im + b[q] * t[s].re;
        }
        for (int q = 0; q < 4; q++) cr[i + q] = r[q];
        for (int q = 0; q < 4; q++) ci[i + q] = m[q];
    }
}

DAE_KERNEL_BODY void update1_complex(int from, int to, const double *restrict cr, const double *restrict ci,
                                     double tr, double ti, double *restrict ur, double *restrict ui)
{
    for (int i = from; i < to; i += 4) {
        for (int q = 0; q < 4; q++) {
            ur[i + q] -= cr[i + q] * tr - ci[i + q] * ti;
            ui[i + q] -= cr[i + q] * ti + ci[i + q] * tr;
        }
    }
}

/* c *= r + i m */
DAE_KERNEL_BODY void scale_complex(int from, int to, double r, double m, double *restrict cr,
                                   double *restrict ci)
{
    for (int i = from; i < to; i += 4) {
        for (int q = 0; q < 4; q++) {
            double v = cr[i + q] * r - ci[i + q] * m;
            ci[i + q] = cr[i + q] * m + ci[i + q] * r;
            cr[i + q] = v;
        }
    }
}

/* As step_real; the size of a complex number is |re| + |im|. */
DAE_KERNEL_BODY int step_complex(int ld, int k0, int kk, int nb, double *restrict ar, double *restrict ai,
                                 double *ire, double *iim)
{
    const int k = k0 + kk, below = k0 + 4;
    double *cr = ar + kk * ld, *ci = ai + kk * ld, best[4] = {0, 0, 0, 0};
    for (int q = kk; q < nb; q++) best[q] = fabs(cr[k0 + q]) + fabs(ci[k0 + q]);
    for (int i = below; i < ld; i += 4) {
        for (int q = 0; q < 4; q++) {
            double v = fabs(cr[i + q]) + fabs(ci[i + q]);
            best[q] = v > best[q] ? v : best[q];
        }
    }
    double left = best[0] > best[1] ? best[0] : best[1], right = best[2] > best[3] ? best[2] : best[3];
    double largest = left > right ? left : right, r, m;
    if (!(largest > 0)) return -1;
    int p = k;
    while (fabs(cr[p]) + fabs(ci[p]) != largest) p++;
    if (!dae_pair_reciprocal(cr[p], ci[p], &r, &m)) return -1;
    if (p != k) {
        for (int q = 0; q < nb; q++) {
            swap(ar + q * ld, k, p);
            swap(ai + q * ld, k, p);
        }
    }
    *ire = r;
    *iim = m;
    for (int q = kk + 1; q < nb; q++) {
        double v = cr[k0 + q] * r - ci[k0 + q] * m;
        ci[k0 + q] = cr[k0 + q] * m + ci[k0 + q] * r;
        cr[k0 + q] = v;
    }
    scale_complex(below, ld, r, m, cr, ci);
    for (int j = kk + 1; j < nb; j++) {
        double *ur = ar + j * ld, *ui = ai + j * ld, tr = ur[k], ti = ui[k];
        for (int q = kk + 1; q < nb; q++) {
            ur[k0 + q] -= cr[k0 + q] * tr - ci[k0 + q] * ti;
            ui[k0 + q] -= cr[k0 + q] * ti + ci[k0 + q] * tr;
        }
        update1_complex(below, ld, cr, ci, tr, ti, ur, ui);
    }
    return p;
}

DAE_KERNEL_BODY int panel_complex(dae_dense_lu *d, int k0, int nb, int pivot[4])
{
    double *ar = column(d->re, d->ld, k0), *ai = column(d->im, d->ld, k0);
    double *r = d->ire + k0, *m = d->iim + k0;
    if ((pivot[0] = step_complex(d->ld, k0, 0, nb, ar, ai, r, m)) < 0) return k0 + 1;
    if (nb > 1 && (pivot[1] = step_complex(d->ld, k0, 1, nb, ar, ai, r + 1, m + 1)) < 0) return k0 + 2;
    if (nb > 2 && (pivot[2] = step_complex(d->ld, k0, 2, nb, ar, ai, r + 2, m + 2)) < 0) return k0 + 3;
    if (nb > 3 && (pivot[3] = step_complex(d->ld, k0, 3, nb, ar, ai, r + 3, m + 3)) < 0) return k0 + 4;
    return 0;
}

/* The 4 elements of column (cr, ci) from row k, through the unit lower triangle of group k. */
DAE_KERNEL_BODY void forward4(const double *lr, const double *li, int ld, int k, double *cr, double *ci,
                              dae_pair t[4])
{
    dae_pair t0 = {cr[k], ci[k]}, t1 = {cr[k + 1], ci[k + 1]}, t2 = {cr[k + 2], ci[k + 2]},
             t3 = {cr[k + 3], ci[k + 3]};
    lr += k;
    li += k;
    t1 = dae_pair_minus(t1, lr[1], li[1], t0);
    t2 = dae_pair_minus(t2, lr[2], li[2], t0);
    t3 = dae_pair_minus(t3, lr[3], li[3], t0);
    t2 = dae_pair_minus(t2, lr[2 + ld], li[2 + ld], t1);
    t3 = dae_pair_minus(t3, lr[3 + ld], li[3 + ld], t1);
    t3 = dae_pair_minus(t3, lr[3 + 2 * ld], li[3 + 2 * ld], t2);
    cr[k + 1] = t1.re;
    ci[k + 1] = t1.im;
    cr[k + 2] = t2.re;
    ci[k + 2] = t2.im;
    cr[k + 3] = t3.re;
    ci[k + 3] = t3.im;
    t[0] = t0;
    t[1] = t1;
    t[2] = t2;
    t[3] = t3;
}

/* The 4 unknowns of group k, through its upper triangle, whose rows are divided by their pivots. */
DAE_KERNEL_BODY void backward4(const double *ur, const double *ui, int ld, int k, const double *ire,
                               const double *iim, double *wr, double *wi, dae_pair t[4])
{
    dae_pair t0 = dae_pair_times((dae_pair){wr[k], wi[k]}, ire[k], iim[k]);
    dae_pair t1 = dae_pair_times((dae_pair){wr[k + 1], wi[k + 1]}, ire[k + 1], iim[k + 1]);
    dae_pair t2 = dae_pair_times((dae_pair){wr[k + 2], wi[k + 2]}, ire[k + 2], iim[k + 2]);
    dae_pair t3 = dae_pair_times((dae_pair){wr[k + 3], wi[k + 3]}, ire[k + 3], iim[k + 3]);
    ur += k;
    ui += k;
    t2 = dae_pair_minus(t2, ur[2 + 3 * ld], ui[2 + 3 * ld], t3);
    t1 = dae_pair_minus(t1, ur[1 + 3 * ld], ui[1 + 3 * ld], t3);
    t0 = dae_pair_minus(t0, ur[3 * ld], ui[3 * ld], t3);
    t1 = dae_pair_minus(t1, ur[1 + 2 * ld], ui[1 + 2 * ld], t2);
    t0 = dae_pair_minus(t0, ur[2 * ld], ui[2 * ld], t2);
    t0 = dae_pair_minus(t0, ur[ld], ui[ld], t1);
    wr[k] = t0.re;
    wi[k] = t0.im;
    wr[k + 1] = t1.re;
    wi[k + 1] = t1.im;
    wr[k + 2] = t2.re;
    wi[k + 2] = t2.im;
    wr[k + 3] = t3.re;
    wi[k + 3] = t3.im;
    t[0] = t0;
    t[1] = t1;
    t[2] = t2;
    t[3] = t3;
}

static inline void scale_triangle_complex(double *ur, double *ui, int ld, int nb, const double *r,
                                          const double *m)
{
    for (int j = 1; j < nb; j++) {
        for (int i = 0; i < j; i++) {
            dae_pair u = dae_pair_times((dae_pair){ur[i + j * ld], ui[i + j * ld]}, r[i], m[i]);
            ur[i + j * ld] = u.re;
            ui[i + j * ld] = u.im;
        }
    }
}

DAE_KERNEL_BODY int factor_complex_body(dae_dense_lu *d)
{
    const int n = d->n, ld = d->ld;
    int *perm = d->perm;
    if (not_finite(d)) return 1;
    for (int i = 0; i < n; i++) perm[i] = i;
    for (int k = 0; k < n; k += 4) {
        int nb = n - k < 4 ? n - k : 4, pivot[4], swaps = 0;
        int bad = nb == 4   ? panel_complex(d, k, 4, pivot)
                  : nb == 3 ? panel_complex(d, k, 3, pivot)
                  : nb == 2 ? panel_complex(d, k, 2, pivot)
                            : panel_complex(d, k, 1, pivot);
        if (bad) return bad;
        for (int q = 0; q < nb; q++) {
            int p = pivot[q], row = perm[p];
            perm[p] = perm[k + q];
            perm[k + q] = row;
            swaps |= p != k + q;
        }
        for (int j = 0; swaps && j < k; j++) {
            for (int q = 0; q < nb; q++) {
                swap(column(d->re, ld, j), k + q, pivot[q]);
                swap(column(d->im, ld, j), k + q, pivot[q]);
            }
        }
        const double *lr = column(d->re, ld, k), *li = column(d->im, ld, k);
        for (int j = k + 4; j < n; j++) {
            double *cr = column(d->re, ld, j), *ci = column(d->im, ld, j);
            for (int q = 0; swaps && q < 4; q++) {
                swap(cr, k + q, pivot[q]);
                swap(ci, k + q, pivot[q]);
            }
            int zero = 1;
            for (int q = 0; q < 4; q++) zero &= cr[k + q] == 0 && ci[k + q] == 0;
            if (zero) continue;
            dae_pair t[4];
            forward4(lr, li, ld, k, cr, ci, t);
            update4_complex(k + 4, ld, lr, li, ld, t, cr, ci);
        }
        scale_triangle_complex(column(d->re, ld, k) + k, column(d->im, ld, k) + k, ld, nb, d->ire + k,
                               d->iim + k);
    }
    return 0;
}

DAE_KERNEL_BODY void solve_complex_body(const dae_dense_lu *d, double *xr, double *xi)
{
    const int n = d->n, ld = d->ld;
    const double *ar = d->re, *ai = d->im;
    double *wr = d->work, *wi = d->work + ld;
    dae_pair t[4];
    for (int i = 0; i < n; i++) wr[i] = xr[d->perm[i]];
    for (int i = 0; i < n; i++) wi[i] = xi[d->perm[i]];
    for (int i = n; i < ld; i++) wr[i] = wi[i] = 0;
    for (int k = 0; k < ld; k += 4) {
        const double *lr = ar + (size_t)k * (size_t)ld, *li = ai + (size_t)k * (size_t)ld;
        forward4(lr, li, ld, k, wr, wi, t);
        update4_complex(k + 4, ld, lr, li, ld, t, wr, wi);
    }
    for (int k = ld - 4; k >= 0; k -= 4) {
        const double *ur = ar + (size_t)k * (size_t)ld, *ui = ai + (size_t)k * (size_t)ld;
        backward4(ur, ui, ld, k, d->ire, d->iim, wr, wi, t);
        update4_complex(0, k, ur, ui, ld, t, wr, wi);
    }
    for (int i = 0; i < n; i++) xr[i] = wr[i];
    for (int i = 0; i < n; i++) xi[i] = wi[i];
}

DAE_KERNEL(int, factor_complex, (dae_dense_lu * d), return factor_complex_body(d))
DAE_KERNEL(void, solve_complex, (const dae_dense_lu *d, double *re, double *im),
           solve_complex_body(d, re, im))

/* ---- Sizes with code of their own: the same operations without loops ------------------------------ */

/* radau5, microseconds of a run before and after: n = 2 vdpol-mu 141, 94; n = 3 orego 233, 171; n = 4 e5 129, 107; n = 6
 * chemakzo 81, 57. With n = 8 the kernels above are as fast (hires 55, 65). */

#define FIXED(n)                                                                                 \
    static int factor_real_##n(dae_dense_lu *d)                                                  \
    {                                                                                            \
        if (not_finite(d)) return 1;                                                             \
        return dae_small_factor(n, (n + 3) & ~3, d->re, d->ire, d->perm);                        \
    }                                                                                            \
    static void solve_real_##n(const dae_dense_lu *d, double *re, double *im)                    \
    {                                                                                            \
        (void)im;                                                                                \
        dae_small_solve(n, (n + 3) & ~3, d->re, d->ire, d->perm, re);                            \
    }                                                                                            \
    static int factor_complex_##n(dae_dense_lu *d)                                               \
    {                                                                                            \
        if (not_finite(d)) return 1;                                                             \
        return dae_small_factor_complex(n, (n + 3) & ~3, d->re, d->im, d->ire, d->iim, d->perm); \
    }                                                                                            \
    static void solve_complex_##n(const dae_dense_lu *d, double *re, double *im)                 \
    {                                                                                            \
        dae_small_solve_complex(n, (n + 3) & ~3, d->re, d->im, d->ire, d->iim, d->perm, re, im); \
    }

FIXED(2)
FIXED(3)
FIXED(4)
FIXED(6)

/* Takes the code made for this size, if there is any. */
static void take_fixed(dae_dense_lu *d)
{
#define CASE(n)                                                           \
    case n:                                                               \
        d->factor = d->is_complex ? factor_complex_##n : factor_real_##n; \
        d->solve = d->is_complex ? solve_complex_##n : solve_real_##n;    \
        break
    switch (d->n) {
        CASE(2);
        CASE(3);
        CASE(4);
        CASE(6);
    default: break;
    }
#undef CASE
}

/* ---- LAPACK; without it the own kernels serve every size ---------------------------------------- */

#ifdef DAE_PLAIN_LAPACK
#define HAVE_LAPACK 0
#define factor_lapack_real NULL
#define solve_lapack_real NULL
#define factor_lapack_complex NULL
#define solve_lapack_complex NULL
#else
#define HAVE_LAPACK 1

static int factor_lapack_real(dae_dense_lu *d)
{
    int info = 0;
    if (not_finite(d)) return 1;
    dgetrf_(&d->n, &d->n, d->re, &d->ld, d->perm, &info);
    return info;
}

static void solve_lapack_real(const dae_dense_lu *d, double *re, double *im)
{
    int one = 1, info = 0;
    (void)im;
    dgetrs_("N", &d->n, &one, d->re, &d->ld, d->perm, re, &d->n, &info, 1);
}

static int factor_lapack_complex(dae_dense_lu *d)
{
    int n = d->n, info = 0;
    if (not_finite(d)) return 1;
    double *z = d->pack;
    for (int j = 0; j < n; j++) {
        const double *cr = column(d->re, d->ld, j), *ci = column(d->im, d->ld, j);
        for (int i = 0; i < n; i++) {
            *z++ = cr[i];
            *z++ = ci[i];
        }
    }
    zgetrf_(&n, &n, d->pack, &n, d->perm, &info);
    return info;
}

static void solve_lapack_complex(const dae_dense_lu *d, double *re, double *im)
{
    int n = d->n, one = 1, info = 0;
    double *w = d->work;
    for (int i = 0; i < n; i++) {
        w[2 * i] = re[i];
        w[2 * i + 1] = im[i];
    }
    zgetrs_("N", &n, &one, d->pack, &n, d->perm, w, &n, &info, 1);
    for (int i = 0; i < n; i++) {
        re[i] = w[2 * i];
        im[i] = w[2 * i + 1];
    }
}

#endif

/* ---- Set-up ------------------------------------------------------------------------------------- */

void dae_dense_init_with(dae_dense_lu *d, int n, int is_complex, dae_dense_kernel kernel, dae_arena *arena)
{
    int lapack = HAVE_LAPACK && kernel == DAE_DENSE_LAPACK, portable = kernel == DAE_DENSE_PORTABLE;
    int ld = (n + 3) & ~3;
    size_t size = (size_t)ld * (size_t)ld, pairs = lapack && is_complex ? 2 * (size_t)n * (size_t)n : 0;
    *d = (dae_dense_lu){.n = n, .ld = ld, .is_complex = is_complex, .lapack = lapack};
    d->re = dae_arena_reals(arena, size);
    d->im = is_complex ? dae_arena_reals(arena, size) : NULL;
    d->ire = dae_arena_reals(arena, (size_t)ld);
    d->iim = is_complex ? dae_arena_reals(arena, (size_t)ld) : NULL;
    d->work = dae_arena_reals(arena, 2 * (size_t)ld);
    d->pack = pairs ? dae_arena_reals(arena, pairs) : NULL;
    d->perm = dae_arena_ints(arena, (size_t)ld);
    d->load = DAE_KERNEL_PICK(load, portable);
    if (lapack) {
        d->factor = is_complex ? factor_lapack_complex : factor_lapack_real;
        d->solve = is_complex ? solve_lapack_complex : solve_lapack_real;
    } else if (is_complex) {
        d->factor = DAE_KERNEL_PICK(factor_complex, portable);
        d->solve = DAE_KERNEL_PICK(solve_complex, portable);
    } else {
        d->factor = DAE_KERNEL_PICK(factor_real, portable);
        d->solve = DAE_KERNEL_PICK(solve_real, portable);
    }
    if (!lapack && !portable) take_fixed(d);
}

void dae_dense_init(dae_dense_lu *d, int n, int is_complex, dae_arena *arena)
{
    int own = is_complex ? DAE_DENSE_OWN_COMPLEX : DAE_DENSE_OWN_REAL;
    dae_dense_init_with(d, n, is_complex, n > own ? DAE_DENSE_LAPACK : DAE_DENSE_OWN, arena);
}
