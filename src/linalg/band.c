#include "linalg/band.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "linalg/scalar.h"

/* Right-looking elimination, column by column. In step k at most `lower` rows below the diagonal take part,
 * and the columns up to the last one that any of the rows used so far reaches. The multipliers stay where
 * they were made (earlier columns are not interchanged), so that a solve applies the interchanges one by one
 * on its way down. Walking along a row of the band is a stride of ld - 1. */

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

static inline void swap_rows(double *a, int shift, int count, int stride)
{
    for (int j = 0; j < count; j++, a += stride) {
        double t = a[0];
        a[0] = a[shift];
        a[shift] = t;
    }
}

/* ---- Real --------------------------------------------------------------------------------------- */

DAE_KERNEL_BODY int factor_real_body(dae_band_lu *b)
{
    const int n = b->n, ml = b->lower, mu = b->upper, ld = b->ld, diagonal = ml + mu;
    if (!dae_all_finite(n * ld, b->re)) return 1;
    int reach = 0; /* last column that the rows so far reach */
    for (int k = 0; k < n; k++) {
        double *restrict c = b->re + (size_t)k * (size_t)ld + diagonal;
        int rows = least(ml, n - 1 - k), p = 0;
        double largest = fabs(c[0]);
        for (int i = 1; i <= rows; i++) {
            double v = fabs(c[i]);
            if (v > largest) {
                largest = v;
                p = i;
            }
        }
        double inverse = 1 / c[p];
        if (!(fabs(inverse) <= DBL_MAX) || !(largest <= DBL_MAX)) return k + 1;
        b->ire[k] = inverse;
        b->pivot[k] = k + p;
        if (k + mu + p > reach) reach = least(k + mu + p, n - 1);
        if (p) swap_rows(c, p, reach - k + 1, ld - 1);
        for (int i = 1; i <= rows; i++) c[i] *= inverse;
        double *u = c;
        for (int j = k + 1; j <= reach; j++) {
            u += ld - 1; /* element (k,j) */
            double t = u[0];
            if (t == 0) continue;
            double *restrict v = u;
            for (int i = 1; i <= rows; i++) v[i] -= c[i] * t;
        }
    }
    return 0;
}

DAE_KERNEL_BODY void solve_real_body(const dae_band_lu *b, double *x)
{
    const int n = b->n, ml = b->lower, ld = b->ld, diagonal = ml + b->upper;
    for (int k = 0; k < n && ml > 0; k++) {
        const double *c = b->re + (size_t)k * (size_t)ld + diagonal;
        int rows = least(ml, n - 1 - k), p = b->pivot[k];
        double t = x[p];
        x[p] = x[k];
        x[k] = t;
        double *restrict v = x + k;
        for (int i = 1; i <= rows; i++) v[i] -= c[i] * t;
    }
    for (int k = n - 1; k >= 0; k--) {
        int rows = least(diagonal, k);
        const double *c = b->re + (size_t)k * (size_t)ld + diagonal - rows;
        double t = x[k] * b->ire[k];
        x[k] = t;
        double *restrict v = x + k - rows;
        for (int i = 0; i < rows; i++) v[i] -= c[i] * t;
    }
}

DAE_KERNEL(int, factor_real, (dae_band_lu * b), return factor_real_body(b))
DAE_KERNEL(void, solve_real, (const dae_band_lu *b, double *re, double *im), (void)im; solve_real_body(b, re))

/* ---- Complex ------------------------------------------------------------------------------------ */

DAE_KERNEL_BODY int factor_complex_body(dae_band_lu *b)
{
    const int n = b->n, ml = b->lower, mu = b->upper, ld = b->ld, diagonal = ml + mu;
    if (!dae_all_finite(n * ld, b->re) || !dae_all_finite(n * ld, b->im)) return 1;
    int reach = 0;
    for (int k = 0; k < n; k++) {
        size_t at = (size_t)k * (size_t)ld + (size_t)diagonal;
        double *restrict cr = b->re + at, *restrict ci = b->im + at;
        int rows = least(ml, n - 1 - k), p = 0;
        double largest = fabs(cr[0]) + fabs(ci[0]);
        for (int i = 1; i <= rows; i++) {
            double v = fabs(cr[i]) + fabs(ci[i]);
            if (v > largest) {
                largest = v;
                p = i;
            }
        }
        double r, m;
        if (!(largest > 0) || !dae_pair_reciprocal(cr[p], ci[p], &r, &m)) return k + 1;
        b->ire[k] = r;
        b->iim[k] = m;
        b->pivot[k] = k + p;
        if (k + mu + p > reach) reach = least(k + mu + p, n - 1);
        if (p) swap_rows(cr, p, reach - k + 1, ld - 1);
        if (p) swap_rows(ci, p, reach - k + 1, ld - 1);
        for (int i = 1; i <= rows; i++) {
            double v = cr[i] * r - ci[i] * m;
            ci[i] = cr[i] * m + ci[i] * r;
            cr[i] = v;
        }
        for (int j = k + 1; j <= reach; j++) {
            size_t step = (size_t)(j - k) * (size_t)(ld - 1);
            double *restrict vr = b->re + at + step, *restrict vi = b->im + at + step;
            double tr = vr[0], ti = vi[0];
            if (tr == 0 && ti == 0) continue;
            for (int i = 1; i <= rows; i++) {
                vr[i] -= cr[i] * tr - ci[i] * ti;
                vi[i] -= cr[i] * ti + ci[i] * tr;
            }
        }
    }
    return 0;
}

DAE_KERNEL_BODY void solve_complex_body(const dae_band_lu *b, double *xr, double *xi)
{
    const int n = b->n, ml = b->lower, ld = b->ld, diagonal = ml + b->upper;
    for (int k = 0; k < n && ml > 0; k++) {
        size_t at = (size_t)k * (size_t)ld + (size_t)diagonal;
        const double *cr = b->re + at, *ci = b->im + at;
        int rows = least(ml, n - 1 - k), p = b->pivot[k];
        double tr = xr[p], ti = xi[p];
        xr[p] = xr[k];
        xi[p] = xi[k];
        xr[k] = tr;
        xi[k] = ti;
        double *restrict vr = xr + k, *restrict vi = xi + k;
        for (int i = 1; i <= rows; i++) {
            vr[i] -= cr[i] * tr - ci[i] * ti;
            vi[i] -= cr[i] * ti + ci[i] * tr;
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        int rows = least(diagonal, k);
        size_t at = (size_t)k * (size_t)ld + (size_t)(diagonal - rows);
        const double *cr = b->re + at, *ci = b->im + at;
        dae_pair t = dae_pair_times((dae_pair){xr[k], xi[k]}, b->ire[k], b->iim[k]);
        xr[k] = t.re;
        xi[k] = t.im;
        double *restrict vr = xr + k - rows, *restrict vi = xi + k - rows;
        for (int i = 0; i < rows; i++) {
            vr[i] -= cr[i] * t.re - ci[i] * t.im;
            vi[i] -= cr[i] * t.im + ci[i] * t.re;
        }
    }
}

DAE_KERNEL(int, factor_complex, (dae_band_lu * b), return factor_complex_body(b))
DAE_KERNEL(void, solve_complex, (const dae_band_lu *b, double *re, double *im), solve_complex_body(b, re, im))

/* ---- Set-up ------------------------------------------------------------------------------------- */

void dae_band_init(dae_band_lu *b, int n, int lower, int upper, int is_complex, dae_arena *arena)
{
    int ld = 2 * lower + upper + 1;
    size_t size = (size_t)ld * (size_t)n;
    *b = (dae_band_lu){.n = n, .lower = lower, .upper = upper, .ld = ld, .is_complex = is_complex};
    b->re = dae_arena_reals(arena, size);
    b->im = is_complex ? dae_arena_reals(arena, size) : NULL;
    b->ire = dae_arena_reals(arena, (size_t)n);
    b->iim = is_complex ? dae_arena_reals(arena, (size_t)n) : NULL;
    b->pivot = dae_arena_ints(arena, (size_t)n);
    b->factor = is_complex ? DAE_KERNEL_PICK(factor_complex) : DAE_KERNEL_PICK(factor_real);
    b->solve = is_complex ? DAE_KERNEL_PICK(solve_complex) : DAE_KERNEL_PICK(solve_real);
}
