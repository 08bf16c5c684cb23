#include "linalg/dense.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "linalg/lapack.h"
#include "linalg/scalar.h"

/* The factorization goes over panels of 4 columns. Inside a panel: column by column, with the search for
 * the largest element. Then every column to the right gets the interchanges, its 4 elements of U and one
 * update with all 4 columns of L; columns whose 4 elements of U are zero are left alone, for Jacobians have
 * many of them. The substitutions go over the same groups of 4 unknowns: first the triangle of the group,
 * then all rows that depend on it. */

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

/* Panel k0 .. k0+nb-1: pivot[k-k0] gets the row taken for column k. 0, or the number of the bad pivot. */
DAE_KERNEL_BODY int panel_real(dae_dense_lu *d, int k0, int nb, int pivot[4])
{
    const int n = d->n, ld = d->ld, end = k0 + nb;
    double *a = d->re;
    for (int k = k0; k < end; k++) {
        double *restrict c = column(a, ld, k);
        int p = k;
        double largest = fabs(c[k]);
        for (int i = k + 1; i < n; i++) {
            double v = fabs(c[i]);
            if (v > largest) {
                largest = v;
                p = i;
            }
        }
        pivot[k - k0] = p;
        double inverse = 1 / c[p];
        if (!(fabs(inverse) <= DBL_MAX) || !(largest <= DBL_MAX)) return k + 1;
        d->ire[k] = inverse;
        if (p != k) {
            for (int j = k0; j < end; j++) swap(column(a, ld, j), k, p);
        }
        for (int i = k + 1; i < n; i++) c[i] *= inverse;
        for (int j = k + 1; j < end; j++) {
            double *restrict u = column(a, ld, j);
            double t = u[k];
            for (int i = k + 1; i < n; i++) u[i] -= c[i] * t;
        }
    }
    return 0;
}

DAE_KERNEL_BODY int factor_real_body(dae_dense_lu *d)
{
    const int n = d->n, ld = d->ld;
    double *a = d->re;
    int *perm = d->perm;
    if (!dae_all_finite(n * ld, a)) return 1;
    for (int i = 0; i < n; i++) perm[i] = i;
    for (int k = 0; k < n; k += 4) {
        int nb = n - k < 4 ? n - k : 4, pivot[4], swaps = 0;
        int bad = panel_real(d, k, nb, pivot);
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
        double t3 = w[k + 3] * r[k + 3];
        double t2 = (w[k + 2] - u[k + 2 + 3 * ld] * t3) * r[k + 2];
        double t1 = (w[k + 1] - u[k + 1 + 3 * ld] * t3 - u[k + 1 + 2 * ld] * t2) * r[k + 1];
        double t0 = (w[k] - u[k + 3 * ld] * t3 - u[k + 2 * ld] * t2 - u[k + ld] * t1) * r[k];
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

DAE_KERNEL_BODY int panel_complex(dae_dense_lu *d, int k0, int nb, int pivot[4])
{
    const int n = d->n, ld = d->ld, end = k0 + nb;
    for (int k = k0; k < end; k++) {
        double *restrict cr = column(d->re, ld, k), *restrict ci = column(d->im, ld, k);
        int p = k;
        double largest = fabs(cr[k]) + fabs(ci[k]);
        for (int i = k + 1; i < n; i++) {
            double v = fabs(cr[i]) + fabs(ci[i]);
            if (v > largest) {
                largest = v;
                p = i;
            }
        }
        pivot[k - k0] = p;
        double r, m;
        if (!(largest > 0) || !dae_pair_reciprocal(cr[p], ci[p], &r, &m)) return k + 1;
        d->ire[k] = r;
        d->iim[k] = m;
        if (p != k) {
            for (int j = k0; j < end; j++) {
                swap(column(d->re, ld, j), k, p);
                swap(column(d->im, ld, j), k, p);
            }
        }
        for (int i = k + 1; i < n; i++) {
            double v = cr[i] * r - ci[i] * m;
            ci[i] = cr[i] * m + ci[i] * r;
            cr[i] = v;
        }
        for (int j = k + 1; j < end; j++) {
            double *restrict ur = column(d->re, ld, j), *restrict ui = column(d->im, ld, j);
            double tr = ur[k], ti = ui[k];
            for (int i = k + 1; i < n; i++) {
                ur[i] -= cr[i] * tr - ci[i] * ti;
                ui[i] -= cr[i] * ti + ci[i] * tr;
            }
        }
    }
    return 0;
}

/* The 4 elements of column (cr, ci) from row k, through the unit lower triangle of group k. */
DAE_KERNEL_BODY void forward4(const double *lr, const double *li, int ld, int k, double *cr, double *ci,
                              dae_pair t[4])
{
    for (int q = 0; q < 4; q++) t[q] = (dae_pair){cr[k + q], ci[k + q]};
    for (int q = 0; q < 3; q++) {
        for (int s = q + 1; s < 4; s++)
            t[s] = dae_pair_minus(t[s], lr[k + s + q * ld], li[k + s + q * ld], t[q]);
    }
    for (int q = 0; q < 4; q++) {
        cr[k + q] = t[q].re;
        ci[k + q] = t[q].im;
    }
}

DAE_KERNEL_BODY int factor_complex_body(dae_dense_lu *d)
{
    const int n = d->n, ld = d->ld;
    int *perm = d->perm;
    if (!dae_all_finite(n * ld, d->re) || !dae_all_finite(n * ld, d->im)) return 1;
    for (int i = 0; i < n; i++) perm[i] = i;
    for (int k = 0; k < n; k += 4) {
        int nb = n - k < 4 ? n - k : 4, pivot[4], swaps = 0;
        int bad = panel_complex(d, k, nb, pivot);
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
        for (int q = 0; q < 4; q++) t[q] = (dae_pair){wr[k + q], wi[k + q]};
        for (int q = 3; q >= 0; q--) {
            t[q] = dae_pair_times(t[q], d->ire[k + q], d->iim[k + q]);
            for (int s = 0; s < q; s++)
                t[s] = dae_pair_minus(t[s], ur[k + s + q * ld], ui[k + s + q * ld], t[q]);
        }
        for (int q = 0; q < 4; q++) {
            wr[k + q] = t[q].re;
            wi[k + q] = t[q].im;
        }
        update4_complex(0, k, ur, ui, ld, t, wr, wi);
    }
    for (int i = 0; i < n; i++) xr[i] = wr[i];
    for (int i = 0; i < n; i++) xi[i] = wi[i];
}

DAE_KERNEL(int, factor_complex, (dae_dense_lu * d), return factor_complex_body(d))
DAE_KERNEL(void, solve_complex, (const dae_dense_lu *d, double *re, double *im),
           solve_complex_body(d, re, im))

/* ---- LAPACK ------------------------------------------------------------------------------------- */

static int factor_lapack_real(dae_dense_lu *d)
{
    int info = 0;
    if (!dae_all_finite(d->n * d->ld, d->re)) return 1;
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
    if (!dae_all_finite(n * d->ld, d->re) || !dae_all_finite(n * d->ld, d->im)) return 1;
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

/* ---- Set-up ------------------------------------------------------------------------------------- */

void dae_dense_init_with(dae_dense_lu *d, int n, int is_complex, int lapack, dae_arena *arena)
{
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
    if (lapack) {
        d->factor = is_complex ? factor_lapack_complex : factor_lapack_real;
        d->solve = is_complex ? solve_lapack_complex : solve_lapack_real;
    } else if (is_complex) {
        d->factor = DAE_KERNEL_PICK(factor_complex);
        d->solve = DAE_KERNEL_PICK(solve_complex);
    } else {
        d->factor = DAE_KERNEL_PICK(factor_real);
        d->solve = DAE_KERNEL_PICK(solve_real);
    }
}

void dae_dense_init(dae_dense_lu *d, int n, int is_complex, dae_arena *arena)
{
    int own = is_complex ? DAE_DENSE_OWN_COMPLEX : DAE_DENSE_OWN_REAL;
    dae_dense_init_with(d, n, is_complex, n > own, arena);
}
