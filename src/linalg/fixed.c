#include "linalg/fixed.h"

#include "linalg/scalar.h"

#include <stddef.h>
#include <stdlib.h>

enum { WIDTH = 6 }; /* right-hand sides at once; ours */

/* The factors of column k lie together: its elements of U above the pivot (rows ascending), the pivot, its
 * elements of L. Elements above the blocks on the diagonal (KLU's F) are values of the matrix, not factored.
 * Complex numbers are two arrays. */
struct dae_fixed {
    int n, is_complex, nblocks;
    int *row_of, *column_of; /* P and Q */
    int *block;              /* nblocks+1 */
    int *start, *pivot,
        *row; /* column k is start[k] .. start[k+1]-1, its pivot at pivot[k]; rows of all elements */
    int *from, *source,
        *place;    /* values of column k are from[k] .. from[k+1]-1: value source goes to place */
    double *scale; /* of these values: that of their row */
    int *off, *off_source, *off_row; /* F: column k is off[k] .. off[k+1]-1 */
    double *off_scale;
    double *row_scale;               /* n: 1/(largest of the row) when the pivots were chosen */
    int *target;                     /* of all operations, in their order */
    double *re, *im;                 /* factors */
    double *off_re, *off_im;         /* F */
    double *inverse_re, *inverse_im; /* n, of the pivots */
    double *work_re, *work_im;       /* n */
    double *work_wide;               /* WIDTH n, real factors */
};

/* ---- Making the lists --------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

void dae_fixed_destroy(dae_fixed *f)
{
    if (!f) return;
    int *ints[] = {f->row_of, f->column_of, f->block, f->start,      f->pivot,   f->row,   f->from,
                   f->source, f->place,     f->off,   f->off_source, f->off_row, f->target};
    double *doubles[] = {f->scale,  f->off_scale,  f->row_scale,  f->re,      f->im,      f->off_re,
                         f->off_im, f->inverse_re, f->inverse_im, f->work_re, f->work_im, f->work_wide};
    for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) free(ints[k]);
    for (size_t k = 0; k < sizeof doubles / sizeof *doubles; k++) free(doubles[k]);
    free(f);
}

static int *new_ints(size_t n, int *ok)
{
    int *p = calloc(n + 1, sizeof *p);
    if (!p) *ok = 0;
    return p;
}

static double *new_reals(size_t n, int *ok)
{
    double *p = calloc(n + 1, sizeof *p);
    if (!p) *ok = 0;
    return p;
}

static int allocate(dae_fixed *f, int values, int factors)
{
    size_t n = (size_t)f->n, nv = (size_t)values, nf = (size_t)factors;
    int ok = 1;
    f->row_of = new_ints(n, &ok);
    f->column_of = new_ints(n, &ok);
    f->block = new_ints((size_t)f->nblocks, &ok);
    f->start = new_ints(n, &ok);
    f->pivot = new_ints(n, &ok);
    f->row = new_ints(nf, &ok);
    f->from = new_ints(n, &ok);
    f->source = new_ints(nv, &ok);
    f->place = new_ints(nv, &ok);
    f->scale = new_reals(nv, &ok);
    f->off = new_ints(n, &ok);
    f->off_source = new_ints(nv, &ok);
    f->off_row = new_ints(nv, &ok);
    f->off_scale = new_reals(nv, &ok);
    f->row_scale = new_reals(n, &ok);
    f->re = new_reals(nf, &ok);
    f->off_re = new_reals(nv, &ok);
    f->inverse_re = new_reals(n, &ok);
    f->work_wide = new_reals(f->is_complex ? 0 : n * WIDTH, &ok);
    f->work_re = new_reals(n, &ok);
    if (!f->is_complex) return ok;
    f->im = new_reals(nf, &ok);
    f->off_im = new_reals(nv, &ok);
    f->inverse_im = new_reals(n, &ok);
    f->work_im = new_reals(n, &ok);
    return ok;
}

/* Columns of L and U side by side. Both lists of KLU carry the diagonal. */
static void place_factors(dae_fixed *f, const dae_fixed_order *o)
{
    int at = 0;
    for (int k = 0; k < f->n; k++) {
        f->start[k] = at;
        for (int p = o->Up[k]; p < o->Up[k + 1]; p++) {
            if (o->Ui[p] != k) f->row[at++] = o->Ui[p];
        }
        qsort(f->row + f->start[k], (size_t)(at - f->start[k]), sizeof(int), ascending);
        f->pivot[k] = at;
        f->row[at++] = k;
        for (int p = o->Lp[k]; p < o->Lp[k + 1]; p++) {
            if (o->Li[p] != k) f->row[at++] = o->Li[p];
        }
        qsort(f->row + f->pivot[k] + 1, (size_t)(at - f->pivot[k] - 1), sizeof(int), ascending);
    }
    f->start[f->n] = at;
}

/* Where the values of the matrix go. where: the place in column k of every row, given by the caller as
 * scratch, -1 for rows that the column does not hold. */
static int place_values(dae_fixed *f, const int *colptr, const int *rowind, const int *inverse_row,
                        int *where)
{
    int at = 0, off = 0, block = 0;
    for (int k = 0; k < f->n; k++) {
        int j = f->column_of[k];
        if (k >= f->block[block + 1]) block++;
        for (int p = f->start[k]; p < f->start[k + 1]; p++) where[f->row[p]] = p;
        f->from[k] = at;
        f->off[k] = off;
        for (int p = colptr[j]; p < colptr[j + 1]; p++) {
            int i = inverse_row[rowind[p]];
            if (i < f->block[block]) {
                f->off_source[off] = p;
                f->off_row[off] = i;
                f->off_scale[off++] = f->row_scale[rowind[p]];
            } else {
                f->source[at] = p;
                f->place[at] = where[i];
                f->scale[at++] = f->row_scale[rowind[p]];
                if (where[i] < 0) return -1;
            }
        }
        for (int p = f->start[k]; p < f->start[k + 1]; p++) where[f->row[p]] = -1;
    }
    f->from[f->n] = at;
    f->off[f->n] = off;
    return 0;
}

/* The targets of all operations; with target NULL only counts them. < 0: one is missing in the pattern. */
static long list_targets(const dae_fixed *f, int *target, int *where)
{
    long count = 0;
    for (int k = 0; k < f->n; k++) {
        for (int p = f->start[k]; p < f->start[k + 1]; p++) where[f->row[p]] = p;
        for (int p = f->start[k]; p < f->pivot[k]; p++) {
            int i = f->row[p], first = f->pivot[i] + 1, length = f->start[i + 1] - first;
            for (int q = 0; target && q < length; q++) {
                target[count + q] = where[f->row[first + q]];
                if (where[f->row[first + q]] < 0) return -1;
            }
            count += length;
        }
        for (int p = f->start[k]; p < f->start[k + 1]; p++) where[f->row[p]] = -1;
    }
    return count;
}

static void scale_rows(dae_fixed *f, const int *colptr, const int *rowind, const double *value)
{
    for (int p = 0; p < colptr[f->n]; p++) {
        double v = f->is_complex ? fabs(value[2 * p]) + fabs(value[2 * p + 1]) : fabs(value[p]);
        if (v > f->row_scale[rowind[p]]) f->row_scale[rowind[p]] = v;
    }
    for (int i = 0; i < f->n; i++) {
        double r = 1 / f->row_scale[i];
        f->row_scale[i] = r <= DBL_MAX ? r : 1;
    }
}

dae_fixed *dae_fixed_create(int n, const int *colptr, const int *rowind, const double *value, int is_complex,
                            const dae_fixed_order *o)
{
    int ok = 1, *inverse_row = NULL, *where = NULL;
    dae_fixed *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->n = n;
    f->is_complex = is_complex;
    f->nblocks = o->nblocks;
    inverse_row = new_ints((size_t)n, &ok);
    where = new_ints((size_t)n, &ok);
    if (!allocate(f, colptr[n], o->Lp[n] + o->Up[n]) || !ok) goto fail;
    for (int k = 0; k < n; k++) {
        f->row_of[k] = o->P[k];
        f->column_of[k] = o->Q[k];
        inverse_row[o->P[k]] = k;
        where[k] = -1;
    }
    for (int k = 0; k <= o->nblocks; k++) f->block[k] = o->R[k];
    scale_rows(f, colptr, rowind, value);
    place_factors(f, o);
    if (place_values(f, colptr, rowind, inverse_row, where) < 0) goto fail;
    long count = list_targets(f, NULL, where);
    if (count > DAE_FIXED_LONGEST) goto fail;
    f->target = new_ints((size_t)count, &ok);
    if (!ok || list_targets(f, f->target, where) < 0) goto fail;
    free(inverse_row);
    free(where);
    return f;
fail:
    free(inverse_row);
    free(where);
    dae_fixed_destroy(f);
    return NULL;
}

void dae_fixed_rearrange(dae_fixed *f, const int *to)
{
    for (int p = 0; p < f->from[f->n]; p++) f->source[p] = to[f->source[p]];
    for (int p = 0; p < f->off[f->n]; p++) f->off_source[p] = to[f->off_source[p]];
}

/* ---- Factoring ---------------------------------------------------------------------------------- */

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static int factor_real(dae_fixed *f, const double *value, double limit)
{
    double *restrict lu = f->re;
    const int *target = f->target, *start = f->start, *pivot = f->pivot;
    for (int k = 0; k < f->n; k++) {
        double a_max = 0, u_max = 0;
        for (int p = start[k]; p < start[k + 1]; p++) lu[p] = 0;
        for (int p = f->from[k]; p < f->from[k + 1]; p++) {
            double v = value[f->source[p]] * f->scale[p];
            lu[f->place[p]] = v;
            a_max = larger(fabs(v), a_max);
        }
        for (int p = start[k]; p < pivot[k]; p++) {
            int i = f->row[p], first = pivot[i] + 1, length = start[i + 1] - first;
            double u = lu[p];
            u_max = larger(fabs(u), u_max);
            for (int q = 0; q < length; q++) lu[target[q]] -= lu[first + q] * u;
            target += length;
        }
        double d = lu[pivot[k]], r = 1 / d;
        u_max = larger(fabs(d), u_max);
        if (!(fabs(r) <= DBL_MAX) || !(a_max >= limit * u_max)) return k + 1;
        f->inverse_re[k] = r;
        for (int p = pivot[k] + 1; p < start[k + 1]; p++) lu[p] *= r;
    }
    for (int p = 0; p < f->off[f->n]; p++) f->off_re[p] = value[f->off_source[p]] * f->off_scale[p];
    return 0;
}

static int factor_complex(dae_fixed *f, const double *value, double limit)
{
    double *restrict re = f->re, *restrict im = f->im;
    const int *target = f->target, *start = f->start, *pivot = f->pivot;
    for (int k = 0; k < f->n; k++) {
        double a_max = 0, u_max = 0;
        for (int p = start[k]; p < start[k + 1]; p++) re[p] = im[p] = 0;
        for (int p = f->from[k]; p < f->from[k + 1]; p++) {
            const double *v = value + 2 * f->source[p];
            double vr = v[0] * f->scale[p], vi = v[1] * f->scale[p];
            re[f->place[p]] = vr;
            im[f->place[p]] = vi;
            a_max = larger(fabs(vr) + fabs(vi), a_max);
        }
        for (int p = start[k]; p < pivot[k]; p++) {
            int i = f->row[p], first = pivot[i] + 1, length = start[i + 1] - first;
            double ur = re[p], ui = im[p];
            u_max = larger(fabs(ur) + fabs(ui), u_max);
            for (int q = 0; q < length; q++) {
                double lr = re[first + q], li = im[first + q];
                re[target[q]] -= lr * ur - li * ui;
                im[target[q]] -= lr * ui + li * ur;
            }
            target += length;
        }
        double dr = re[pivot[k]], di = im[pivot[k]], size = fabs(dr) + fabs(di), r, m;
        u_max = larger(size, u_max);
        if (!(size > 0) || !dae_pair_reciprocal(dr, di, &r, &m) || !(a_max >= limit * u_max)) return k + 1;
        f->inverse_re[k] = r;
        f->inverse_im[k] = m;
        for (int p = pivot[k] + 1; p < start[k + 1]; p++) {
            double lr = re[p], li = im[p];
            re[p] = lr * r - li * m;
            im[p] = lr * m + li * r;
        }
    }
    for (int p = 0; p < f->off[f->n]; p++) {
        f->off_re[p] = value[2 * f->off_source[p]] * f->off_scale[p];
        f->off_im[p] = value[2 * f->off_source[p] + 1] * f->off_scale[p];
    }
    return 0;
}

int dae_fixed_factor(dae_fixed *f, const double *value, double limit)
{
    return f->is_complex ? factor_complex(f, value, limit) : factor_real(f, value, limit);
}

/* ---- Solving ------------------------------------------------------------------------------------ */

/* Blocks from the last to the first: L, U, then what the block contributes to the rows above it. */
static void solve_real(dae_fixed *f, double *x)
{
    const double *restrict lu = f->re;
    double *restrict w = f->work_re;
    const int *row = f->row, *start = f->start, *pivot = f->pivot;
    for (int k = 0; k < f->n; k++) w[k] = x[f->row_of[k]] * f->row_scale[f->row_of[k]];
    for (int b = f->nblocks - 1; b >= 0; b--) {
        int first = f->block[b], end = f->block[b + 1];
        for (int k = first; k < end; k++) {
            double t = w[k];
            if (t == 0) continue; /* right-hand sides are often unit vectors */
            for (int p = pivot[k] + 1; p < start[k + 1]; p++) w[row[p]] -= lu[p] * t;
        }
        for (int k = end - 1; k >= first; k--) {
            double t = w[k] * f->inverse_re[k];
            if (t == 0) continue;
            w[k] = t;
            for (int p = start[k]; p < pivot[k]; p++) w[row[p]] -= lu[p] * t;
        }
        for (int k = first; k < end; k++) {
            for (int p = f->off[k]; p < f->off[k + 1]; p++) w[f->off_row[p]] -= f->off_re[p] * w[k];
        }
    }
    for (int k = 0; k < f->n; k++) x[f->column_of[k]] = w[k];
}

/* w -= a t for the elements from .. end-1 of a column */
static inline void subtract(int from, int end, const int *restrict row, const double *restrict are,
                            const double *restrict aim, dae_pair t, double *restrict re, double *restrict im)
{
    for (int p = from; p < end; p++) {
        re[row[p]] -= are[p] * t.re - aim[p] * t.im;
        im[row[p]] -= are[p] * t.im + aim[p] * t.re;
    }
}

static void solve_complex(dae_fixed *f, double *xre, double *xim)
{
    double *re = f->work_re, *im = f->work_im;
    const int *row = f->row, *start = f->start, *pivot = f->pivot;
    for (int k = 0; k < f->n; k++) {
        re[k] = xre[f->row_of[k]] * f->row_scale[f->row_of[k]];
        im[k] = xim[f->row_of[k]] * f->row_scale[f->row_of[k]];
    }
    for (int b = f->nblocks - 1; b >= 0; b--) {
        int first = f->block[b], end = f->block[b + 1];
        for (int k = first; k < end; k++) {
            subtract(pivot[k] + 1, start[k + 1], row, f->re, f->im, (dae_pair){re[k], im[k]}, re, im);
        }
        for (int k = end - 1; k >= first; k--) {
            dae_pair t = dae_pair_times((dae_pair){re[k], im[k]}, f->inverse_re[k], f->inverse_im[k]);
            re[k] = t.re;
            im[k] = t.im;
            subtract(start[k], pivot[k], row, f->re, f->im, t, re, im);
        }
        for (int k = first; k < end; k++) {
            subtract(f->off[k], f->off[k + 1], f->off_row, f->off_re, f->off_im, (dae_pair){re[k], im[k]}, re,
                     im);
        }
    }
    for (int k = 0; k < f->n; k++) {
        xre[f->column_of[k]] = re[k];
        xim[f->column_of[k]] = im[k];
    }
}

/* rows of w -= element times t, for the elements from .. end-1 of a column */
static inline void subtract_wide(int from, int end, const int *restrict row, const double *restrict a,
                                 const double *restrict t, double *restrict w)
{
    for (int p = from; p < end; p++) {
        double *to = w + (size_t)row[p] * WIDTH, x = a[p];
        for (int i = 0; i < WIDTH; i++) to[i] -= x * t[i];
    }
}

static inline int all_zero(const double *t)
{
    for (int i = 0; i < WIDTH; i++) {
        if (t[i] != 0) return 0;
    }
    return 1;
}

/* As solve_real; row k of all right-hand sides lies together in w. */
static void solve_wide(dae_fixed *f, int count, double *x, int ld)
{
    double *w = f->work_wide, t[WIDTH];
    for (int k = 0; k < f->n; k++) {
        int from = f->row_of[k];
        double scale = f->row_scale[from];
        for (int i = 0; i < WIDTH; i++) w[k * WIDTH + i] = i < count ? scale * x[from + i * ld] : 0;
    }
    for (int b = f->nblocks - 1; b >= 0; b--) {
        int first = f->block[b], end = f->block[b + 1];
        for (int k = first; k < end; k++) {
            for (int i = 0; i < WIDTH; i++) t[i] = w[k * WIDTH + i];
            if (!all_zero(t)) subtract_wide(f->pivot[k] + 1, f->start[k + 1], f->row, f->re, t, w);
        }
        for (int k = end - 1; k >= first; k--) {
            for (int i = 0; i < WIDTH; i++) w[k * WIDTH + i] = t[i] = w[k * WIDTH + i] * f->inverse_re[k];
            if (!all_zero(t)) subtract_wide(f->start[k], f->pivot[k], f->row, f->re, t, w);
        }
        for (int k = first; k < end; k++) {
            for (int i = 0; i < WIDTH; i++) t[i] = w[k * WIDTH + i];
            if (!all_zero(t)) subtract_wide(f->off[k], f->off[k + 1], f->off_row, f->off_re, t, w);
        }
    }
    for (int k = 0; k < f->n; k++) {
        for (int i = 0; i < count; i++) x[f->column_of[k] + i * ld] = w[k * WIDTH + i];
    }
}

void dae_fixed_solve_many(dae_fixed *f, int count, double *x, int ld)
{
    for (; count > 1; count -= WIDTH, x += (ptrdiff_t)WIDTH * ld)
        solve_wide(f, count < WIDTH ? count : WIDTH, x, ld);
    if (count == 1) solve_real(f, x);
}

void dae_fixed_solve(dae_fixed *f, double *re, double *im)
{
    if (f->is_complex) {
        solve_complex(f, re, im);
    } else {
        solve_real(f, re);
    }
}
