#include "linalg/band.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "linalg/scalar.h"

/* Right-looking elimination, column by column. In step k the `lower` rows below the diagonal take part (below
 * the last row of the matrix the storage holds zeros), and the columns up to the last one that any of the
 * rows used so far reaches. The multipliers stay where they were made (earlier columns are not interchanged),
 * so that a solve applies the interchanges one by one on its way down. The rows of U are divided by their
 * pivots, which keeps the divisions out of the chain of the back substitution. Walking along a row of the
 * band is a stride of ld - 1.
 *
 * For narrow bands the loops over a column have constant length (NARROW_LOWER, NARROW_UPPER), and a solve
 * keeps the unknowns under the column in registers. */

#define NARROW_LOWER 3 /* ours: medakzo has 2, the method of lines on a line 1 to 3 */
#define NARROW_UPPER 6 /* of U: lower + upper, or upper where no rows were interchanged */

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

/* ml = b->lower, as a constant where it is small. */
DAE_KERNEL_BODY int factor_real_body(dae_band_lu *b, int ml)
{
    const int n = b->n, mu = b->upper, ld = b->ld, diagonal = ml + mu;
    if (!dae_all_finite(n * ld, b->re)) return 1;
    int reach = 0, width = 0; /* last column that the rows so far reach; width of U */
    for (int k = 0; k < n; k++) {
        double *restrict c = b->re + (size_t)k * (size_t)ld + diagonal;
        int p = 0;
        double largest = fabs(c[0]);
        for (int i = 1; i <= ml; i++) {
            double v = fabs(c[i]);
            if (v > largest) {
                largest = v;
                p = i;
            }
        }
        double inverse = 1 / c[p];
        if (!(fabs(inverse) <= DBL_MAX) || !(largest <= DBL_MAX)) return k + 1;
        b->ire[k] = inverse;
        b->pivot[k] = p;
        if (k + mu + p > reach) reach = least(k + mu + p, n - 1);
        if (reach - k > width) width = reach - k;
        if (p) swap_rows(c, p, reach - k + 1, ld - 1);
        for (int i = 1; i <= ml; i++) c[i] *= inverse;
        double *u = c;
        for (int j = k + 1; j <= reach; j++) {
            u += ld - 1; /* element (k,j) */
            double t = u[0], *restrict v = u;
            if (t == 0) continue;
            v[0] = t * inverse;
            for (int i = 1; i <= ml; i++) v[i] -= c[i] * t;
        }
    }
    b->pivot[n] = width;
    return 0;
}

/* Forward substitution from row k on. */
DAE_KERNEL_BODY void forward_real(const dae_band_lu *b, int k, double *x)
{
    const int n = b->n, ml = b->lower, ld = b->ld, diagonal = ml + b->upper;
    for (; k < n; k++) {
        const double *c = b->re + (size_t)k * (size_t)ld + diagonal;
        int rows = least(ml, n - 1 - k), p = k + b->pivot[k];
        double t = x[p];
        x[p] = x[k];
        x[k] = t;
        double *restrict v = x + k;
        for (int i = 1; i <= rows; i++) v[i] -= c[i] * t;
    }
}

/* The same with ml = b->lower constant. */
DAE_KERNEL_BODY void forward_narrow_real(const dae_band_lu *b, int ml, double *x)
{
    const int ld = b->ld, end = b->n - 1 - ml;
    const double *c = b->re + ml + b->upper;
    double v[NARROW_LOWER + 1];
    if (end < 0) {
        forward_real(b, 0, x);
        return;
    }
    for (int i = 0; i <= ml; i++) v[i] = x[i];
    for (int k = 0; k < end; k++, c += ld) {
        int p = b->pivot[k];
        double t = v[0];
        for (int i = 1; i <= ml; i++) {
            if (p != i) continue;
            t = v[i];
            v[i] = v[0];
        }
        x[k] = t;
        for (int i = 1; i <= ml; i++) v[i - 1] = v[i] - c[i] * t;
        v[ml] = x[k + 1 + ml];
    }
    for (int i = 0; i <= ml; i++) x[end + i] = v[i];
    forward_real(b, end, x);
}

/* Back substitution from row k on upwards; x is already divided by the pivots. */
DAE_KERNEL_BODY void backward_real(const dae_band_lu *b, int k, double *x)
{
    const int ld = b->ld, diagonal = b->lower + b->upper, width = b->pivot[b->n];
    for (; k > 0; k--) {
        int rows = least(width, k);
        const double *c = b->re + (size_t)k * (size_t)ld + diagonal - rows;
        double t = x[k], *restrict v = x + k - rows;
        for (int i = 0; i < rows; i++) v[i] -= c[i] * t;
    }
}

/* The same with width = b->pivot[n] constant. */
DAE_KERNEL_BODY void backward_narrow_real(const dae_band_lu *b, int width, double *x)
{
    const int n = b->n, ld = b->ld;
    const double *c = b->re + (size_t)(n - 1) * (size_t)ld + b->lower + b->upper;
    double v[NARROW_UPPER + 1];
    int k = n - 1;
    if (k >= width) {
        for (int i = 0; i <= width; i++) v[i] = x[k - i];
        for (; k > width; k--, c -= ld) {
            double t = v[0];
            x[k] = t;
            for (int i = 1; i <= width; i++) v[i - 1] = v[i] - c[-i] * t;
            v[width] = x[k - 1 - width];
        }
        for (int i = 0; i <= width; i++) x[k - i] = v[i];
    }
    backward_real(b, k, x);
}

static inline void multiply(int n, const double *restrict r, double *restrict x)
{
    for (int i = 0; i < n; i++) x[i] *= r[i];
}

DAE_KERNEL_BODY void solve_real_body(const dae_band_lu *b, double *x)
{
    switch (b->lower) {
    case 0: break;
    case 1: forward_narrow_real(b, 1, x); break;
    case 2: forward_narrow_real(b, 2, x); break;
    case 3: forward_narrow_real(b, 3, x); break;
    default: forward_real(b, 0, x); break;
    }
    multiply(b->n, b->ire, x);
    switch (b->pivot[b->n]) {
    case 0: break;
    case 1: backward_narrow_real(b, 1, x); break;
    case 2: backward_narrow_real(b, 2, x); break;
    case 3: backward_narrow_real(b, 3, x); break;
    case 4: backward_narrow_real(b, 4, x); break;
    case 5: backward_narrow_real(b, 5, x); break;
    case 6: backward_narrow_real(b, 6, x); break;
    default: backward_real(b, b->n - 1, x); break;
    }
}

DAE_KERNEL_BODY int factor_real_any(dae_band_lu *b)
{
    switch (b->lower) {
    case 1: return factor_real_body(b, 1);
    case 2: return factor_real_body(b, 2);
    case 3: return factor_real_body(b, 3);
    default: return factor_real_body(b, b->lower);
    }
}

DAE_KERNEL(int, factor_real, (dae_band_lu * b), return factor_real_any(b))
DAE_KERNEL(void, solve_real, (const dae_band_lu *b, double *re, double *im), (void)im; solve_real_body(b, re))

/* ---- Complex ------------------------------------------------------------------------------------ */

DAE_KERNEL_BODY int factor_complex_body(dae_band_lu *b, int ml)
{
    const int n = b->n, mu = b->upper, ld = b->ld, diagonal = ml + mu;
    if (!dae_all_finite(n * ld, b->re) || !dae_all_finite(n * ld, b->im)) return 1;
    int reach = 0, width = 0;
    for (int k = 0; k < n; k++) {
        size_t at = (size_t)k * (size_t)ld + (size_t)diagonal;
        double *restrict cr = b->re + at, *restrict ci = b->im + at;
        int p = 0;
        double largest = fabs(cr[0]) + fabs(ci[0]);
        for (int i = 1; i <= ml; i++) {
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
        b->pivot[k] = p;
        if (k + mu + p > reach) reach = least(k + mu + p, n - 1);
        if (reach - k > width) width = reach - k;
        if (p) swap_rows(cr, p, reach - k + 1, ld - 1);
        if (p) swap_rows(ci, p, reach - k + 1, ld - 1);
        for (int i = 1; i <= ml; i++) {
            double v = cr[i] * r - ci[i] * m;
            ci[i] = cr[i] * m + ci[i] * r;
            cr[i] = v;
        }
        for (int j = k + 1; j <= reach; j++) {
            size_t step = (size_t)(j - k) * (size_t)(ld - 1);
            double *restrict vr = b->re + at + step, *restrict vi = b->im + at + step;
            double tr = vr[0], ti = vi[0];
            if (tr == 0 && ti == 0) continue;
            vr[0] = tr * r - ti * m;
            vi[0] = tr * m + ti * r;
            for (int i = 1; i <= ml; i++) {
                vr[i] -= cr[i] * tr - ci[i] * ti;
                vi[i] -= cr[i] * ti + ci[i] * tr;
            }
        }
    }
    b->pivot[n] = width;
    return 0;
}

DAE_KERNEL_BODY void forward_complex(const dae_band_lu *b, int k, double *xr, double *xi)
{
    const int n = b->n, ml = b->lower, ld = b->ld, diagonal = ml + b->upper;
    for (; k < n; k++) {
        size_t at = (size_t)k * (size_t)ld + (size_t)diagonal;
        const double *cr = b->re + at, *ci = b->im + at;
        int rows = least(ml, n - 1 - k), p = k + b->pivot[k];
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
}

DAE_KERNEL_BODY void forward_narrow_complex(const dae_band_lu *b, int ml, double *xr, double *xi)
{
    const int ld = b->ld, end = b->n - 1 - ml;
    const double *cr = b->re + ml + b->upper, *ci = b->im + ml + b->upper;
    dae_pair v[NARROW_LOWER + 1];
    if (end < 0) {
        forward_complex(b, 0, xr, xi);
        return;
    }
    for (int i = 0; i <= ml; i++) v[i] = (dae_pair){xr[i], xi[i]};
    for (int k = 0; k < end; k++, cr += ld, ci += ld) {
        int p = b->pivot[k];
        dae_pair t = v[0];
        for (int i = 1; i <= ml; i++) {
            if (p != i) continue;
            t = v[i];
            v[i] = v[0];
        }
        xr[k] = t.re;
        xi[k] = t.im;
        for (int i = 1; i <= ml; i++) v[i - 1] = dae_pair_minus(v[i], cr[i], ci[i], t);
        v[ml] = (dae_pair){xr[k + 1 + ml], xi[k + 1 + ml]};
    }
    for (int i = 0; i <= ml; i++) {
        xr[end + i] = v[i].re;
        xi[end + i] = v[i].im;
    }
    forward_complex(b, end, xr, xi);
}

DAE_KERNEL_BODY void backward_complex(const dae_band_lu *b, int k, double *xr, double *xi)
{
    const int ld = b->ld, diagonal = b->lower + b->upper, width = b->pivot[b->n];
    for (; k > 0; k--) {
        int rows = least(width, k);
        size_t at = (size_t)k * (size_t)ld + (size_t)(diagonal - rows);
        const double *cr = b->re + at, *ci = b->im + at;
        double tr = xr[k], ti = xi[k], *restrict vr = xr + k - rows, *restrict vi = xi + k - rows;
        for (int i = 0; i < rows; i++) {
            vr[i] -= cr[i] * tr - ci[i] * ti;
            vi[i] -= cr[i] * ti + ci[i] * tr;
        }
    }
}

DAE_KERNEL_BODY void backward_narrow_complex(const dae_band_lu *b, int width, double *xr, double *xi)
{
    const int n = b->n, ld = b->ld;
    size_t at = (size_t)(n - 1) * (size_t)ld + (size_t)(b->lower + b->upper);
    const double *cr = b->re + at, *ci = b->im + at;
    dae_pair v[NARROW_UPPER + 1];
    int k = n - 1;
    if (k >= width) {
        for (int i = 0; i <= width; i++) v[i] = (dae_pair){xr[k - i], xi[k - i]};
        for (; k > width; k--, cr -= ld, ci -= ld) {
            dae_pair t = v[0];
            xr[k] = t.re;
            xi[k] = t.im;
            for (int i = 1; i <= width; i++) v[i - 1] = dae_pair_minus(v[i], cr[-i], ci[-i], t);
            v[width] = (dae_pair){xr[k - 1 - width], xi[k - 1 - width]};
        }
        for (int i = 0; i <= width; i++) {
            xr[k - i] = v[i].re;
            xi[k - i] = v[i].im;
        }
    }
    backward_complex(b, k, xr, xi);
}

static inline void multiply_complex(int n, const double *restrict r, const double *restrict m,
                                    double *restrict xr, double *restrict xi)
{
    for (int i = 0; i < n; i++) {
        double v = xr[i] * r[i] - xi[i] * m[i];
        xi[i] = xr[i] * m[i] + xi[i] * r[i];
        xr[i] = v;
    }
}

DAE_KERNEL_BODY void solve_complex_body(const dae_band_lu *b, double *xr, double *xi)
{
    switch (b->lower) {
    case 0: break;
    case 1: forward_narrow_complex(b, 1, xr, xi); break;
    case 2: forward_narrow_complex(b, 2, xr, xi); break;
    case 3: forward_narrow_complex(b, 3, xr, xi); break;
    default: forward_complex(b, 0, xr, xi); break;
    }
    multiply_complex(b->n, b->ire, b->iim, xr, xi);
    switch (b->pivot[b->n]) {
    case 0: break;
    case 1: backward_narrow_complex(b, 1, xr, xi); break;
    case 2: backward_narrow_complex(b, 2, xr, xi); break;
    case 3: backward_narrow_complex(b, 3, xr, xi); break;
    case 4: backward_narrow_complex(b, 4, xr, xi); break;
    case 5: backward_narrow_complex(b, 5, xr, xi); break;
    case 6: backward_narrow_complex(b, 6, xr, xi); break;
    default: backward_complex(b, b->n - 1, xr, xi); break;
    }
}

DAE_KERNEL_BODY int factor_complex_any(dae_band_lu *b)
{
    switch (b->lower) {
    case 1: return factor_complex_body(b, 1);
    case 2: return factor_complex_body(b, 2);
    case 3: return factor_complex_body(b, 3);
    default: return factor_complex_body(b, b->lower);
    }
}

DAE_KERNEL(int, factor_complex, (dae_band_lu * b), return factor_complex_any(b))
DAE_KERNEL(void, solve_complex, (const dae_band_lu *b, double *re, double *im), solve_complex_body(b, re, im))

/* ---- Set-up ------------------------------------------------------------------------------------- */

static void use(dae_band_lu *b, int portable)
{
    b->factor =
        b->is_complex ? DAE_KERNEL_PICK(factor_complex, portable) : DAE_KERNEL_PICK(factor_real, portable);
    b->solve =
        b->is_complex ? DAE_KERNEL_PICK(solve_complex, portable) : DAE_KERNEL_PICK(solve_real, portable);
}

void dae_band_init(dae_band_lu *b, int n, int lower, int upper, int is_complex, dae_arena *arena)
{
    int ld = 2 * lower + upper + 1;
    size_t size = (size_t)ld * (size_t)n;
    *b = (dae_band_lu){.n = n, .lower = lower, .upper = upper, .ld = ld, .is_complex = is_complex};
    b->re = dae_arena_reals(arena, size);
    b->im = is_complex ? dae_arena_reals(arena, size) : NULL;
    b->ire = dae_arena_reals(arena, (size_t)n);
    b->iim = is_complex ? dae_arena_reals(arena, (size_t)n) : NULL;
    b->pivot = dae_arena_ints(arena, (size_t)n + 1);
    use(b, 0);
}

void dae_band_use_portable(dae_band_lu *b)
{
    use(b, 1);
}
