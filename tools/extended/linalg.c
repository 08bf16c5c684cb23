/* Linear algebra of the build in extended precision: what the library otherwise takes from LAPACK and KLU. Runs use
 * dense factors; sparse ones and the saddle-point solvers of mechanical systems are not there. */
#include "core/page.h"
#include "linalg/lapack.h"
#include "linalg/least_squares.h"
#include "linalg/saddle.h"
#include "linalg/sparse.h"

#include <daedalus/formulation.h>

const dae_page dae_problem_pages[] = {{NULL, NULL}};

/* ---- Dense factors, as LAPACK states them -------------------------------------------------------------- */

void dgetrf_(const int *m, const int *n, double *a, const int *lda, int *pivot, int *info)
{
    size_t ld = (size_t)*lda, size = (size_t)*n;
    (void)m;
    *info = 0;
    for (size_t k = 0; k < size; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < size; i++) {
            if (fabs(a[i + k * ld]) > fabs(a[p + k * ld])) p = i;
        }
        pivot[k] = (int)p + 1;
        if (a[p + k * ld] == 0) {
            if (!*info) *info = (int)k + 1;
            continue;
        }
        for (size_t j = 0; p != k && j < size; j++) {
            double swap = a[k + j * ld];
            a[k + j * ld] = a[p + j * ld];
            a[p + j * ld] = swap;
        }
        for (size_t i = k + 1; i < size; i++) a[i + k * ld] /= a[k + k * ld];
        for (size_t j = k + 1; j < size; j++) {
            double x = a[k + j * ld];
            for (size_t i = k + 1; x != 0 && i < size; i++) a[i + j * ld] -= a[i + k * ld] * x;
        }
    }
}

void dgetrs_(const char *trans, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length)
{
    size_t ld = (size_t)*lda, size = (size_t)*n;
    (void)trans, (void)length;
    *info = 0;
    for (int r = 0; r < *nrhs; r++, b += *ldb) {
        for (size_t k = 0; k < size; k++) {
            size_t p = (size_t)pivot[k] - 1;
            double x = b[p];
            b[p] = b[k];
            b[k] = x;
            for (size_t i = k + 1; i < size; i++) b[i] -= a[i + k * ld] * x;
        }
        for (size_t k = size; k-- > 0;) {
            b[k] /= a[k + k * ld];
            for (size_t i = 0; i < k; i++) b[i] -= a[i + k * ld] * b[k];
        }
    }
}

typedef struct pair {
    double re, im;
} pair;

static pair times(pair x, pair y)
{
    return (pair){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static pair over(pair x, pair y)
{
    double d = y.re * y.re + y.im * y.im;
    return (pair){(x.re * y.re + x.im * y.im) / d, (x.im * y.re - x.re * y.im) / d};
}

static pair minus(pair x, pair y)
{
    return (pair){x.re - y.re, x.im - y.im};
}

void zgetrf_(const int *m, const int *n, double *values, const int *lda, int *pivot, int *info)
{
    pair *a = (pair *)values;
    size_t ld = (size_t)*lda, size = (size_t)*n;
    (void)m;
    *info = 0;
    for (size_t k = 0; k < size; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < size; i++) {
            if (fabs(a[i + k * ld].re) + fabs(a[i + k * ld].im) >
                fabs(a[p + k * ld].re) + fabs(a[p + k * ld].im))
                p = i;
        }
        pivot[k] = (int)p + 1;
        if (a[p + k * ld].re == 0 && a[p + k * ld].im == 0) {
            if (!*info) *info = (int)k + 1;
            continue;
        }
        for (size_t j = 0; p != k && j < size; j++) {
            pair swap = a[k + j * ld];
            a[k + j * ld] = a[p + j * ld];
            a[p + j * ld] = swap;
        }
        for (size_t i = k + 1; i < size; i++) a[i + k * ld] = over(a[i + k * ld], a[k + k * ld]);
        for (size_t j = k + 1; j < size; j++) {
            pair x = a[k + j * ld];
            for (size_t i = k + 1; (x.re != 0 || x.im != 0) && i < size; i++)
                a[i + j * ld] = minus(a[i + j * ld], times(a[i + k * ld], x));
        }
    }
}

void zgetrs_(const char *trans, const int *n, const int *nrhs, const double *values, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length)
{
    const pair *a = (const pair *)values;
    size_t ld = (size_t)*lda, size = (size_t)*n;
    (void)trans, (void)length;
    *info = 0;
    for (int r = 0; r < *nrhs; r++) {
        pair *x = (pair *)b + (size_t)r * (size_t)*ldb;
        for (size_t k = 0; k < size; k++) {
            size_t p = (size_t)pivot[k] - 1;
            pair v = x[p];
            x[p] = x[k];
            x[k] = v;
            for (size_t i = k + 1; i < size; i++) x[i] = minus(x[i], times(a[i + k * ld], v));
        }
        for (size_t k = size; k-- > 0;) {
            x[k] = over(x[k], a[k + k * ld]);
            for (size_t i = 0; i < k; i++) x[i] = minus(x[i], times(a[i + k * ld], x[k]));
        }
    }
}

/* A solution (not of least norm) by elimination with complete pivots; m = n here. */
int dae_least_squares(int m, int n, double *a, double *b, double rcond)
{
    int rank = 0, *column = malloc((size_t)n * sizeof *column + 1);
    double first = 0, *x = malloc((size_t)n * sizeof *x + 1);
    if (!column || !x || m != n) {
        free(column);
        free(x);
        return -1;
    }
    for (int j = 0; j < n; j++) column[j] = j;
    for (; rank < n; rank++) {
        int p = rank, q = rank;
        for (int j = rank; j < n; j++) {
            for (int i = rank; i < n; i++) {
                if (fabs(a[i + j * n]) > fabs(a[p + q * n])) p = i, q = j;
            }
        }
        double pivot = fabs(a[p + q * n]);
        if (rank == 0) first = pivot;
        if (!(pivot > rcond * first)) break;
        for (int i = 0; i < n; i++) {
            double swap = a[i + rank * n];
            a[i + rank * n] = a[i + q * n];
            a[i + q * n] = swap;
        }
        for (int j = 0; j < n; j++) {
            double swap = a[rank + j * n];
            a[rank + j * n] = a[p + j * n];
            a[p + j * n] = swap;
        }
        double swap = b[rank];
        b[rank] = b[p];
        b[p] = swap;
        int k = column[rank];
        column[rank] = column[q];
        column[q] = k;
        for (int i = rank + 1; i < n; i++) {
            double factor = a[i + rank * n] / a[rank + rank * n];
            for (int j = rank; j < n; j++) a[i + j * n] -= factor * a[rank + j * n];
            b[i] -= factor * b[rank];
        }
    }
    for (int i = 0; i < n; i++) x[i] = 0;
    for (int i = rank; i-- > 0;) {
        double sum = b[i];
        for (int j = i + 1; j < rank; j++) sum -= a[i + j * n] * x[column[j]];
        x[column[i]] = sum / a[i + i * n];
    }
    memcpy(b, x, (size_t)n * sizeof *x);
    free(column);
    free(x);
    return rank;
}

/* ---- Not in this build --------------------------------------------------------------------------------- */

int dae_sparse_init(dae_sparse_lu *s, int n, const int *colptr, const int *rowind, int is_complex,
                    dae_arena *arena)
{
    (void)s, (void)n, (void)colptr, (void)rowind, (void)is_complex, (void)arena;
    return -1;
}

void dae_sparse_free(dae_sparse_lu *s)
{
    (void)s;
}

int dae_sparse_factor(dae_sparse_lu *s)
{
    (void)s;
    return -1;
}

void dae_sparse_solve(dae_sparse_lu *s, double *re, double *im)
{
    (void)s, (void)re, (void)im;
}

double dae_sparse_flops(int n, const int *colptr, const int *rowind)
{
    (void)n, (void)colptr, (void)rowind;
    return INFINITY; /* dense factors are the cheaper ones */
}

int dae_sparse_restore(dae_sparse_lu *s)
{
    (void)s;
    return -1;
}

dae_saddle *dae_saddle_create(const dae_saddle_spec *spec, dae_arena *arena, dae_error *err)
{
    (void)spec, (void)arena;
    if (err) *err = (dae_error){DAE_ERR_UNSUPPORTED, NAN, "mechanical systems are not in this build"};
    return NULL;
}

void dae_saddle_destroy(dae_saddle *s)
{
    (void)s;
}

const char *dae_saddle_describe(const dae_saddle *s)
{
    (void)s;
    return "";
}

int dae_saddle_anchor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    return dae_saddle_factor(s, M, G, U);
}

int dae_saddle_stale(const dae_saddle *s)
{
    (void)s;
    return 0;
}

int dae_saddle_factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    (void)s, (void)M, (void)G, (void)U;
    return -1;
}

int dae_saddle_factor_solve(dae_saddle *s, const double *M, const double *G, const double *U, double *w,
                            double *l)
{
    (void)w, (void)l;
    return dae_saddle_factor(s, M, G, U);
}

void dae_saddle_solve(dae_saddle *s, double *w, double *l)
{
    (void)s, (void)w, (void)l;
}

void dae_saddle_multiply_mass(int nv, const int *block, int nblock, const double *M, double sign,
                              const double *x, double *y)
{
    (void)nv, (void)block, (void)nblock, (void)M, (void)sign, (void)x, (void)y;
}

void dae_saddle_multiply(const dae_saddle_spec *spec, const double *G, double sign, const double *x,
                         double *y)
{
    (void)spec, (void)G, (void)sign, (void)x, (void)y;
}

/* ---- Forms of mechanical systems ----------------------------------------------------------------------- */

dae_formulation *dae_formulation_create(const dae_system *mech, const char *name, const dae_setting *setting,
                                        int nsetting, dae_error *err)
{
    (void)mech, (void)name, (void)setting, (void)nsetting;
    if (err) *err = (dae_error){DAE_ERR_UNSUPPORTED, NAN, "mechanical systems are not in this build"};
    return NULL;
}

void dae_formulation_destroy(dae_formulation *f)
{
    (void)f;
}

dae_status dae_formulation_lower(dae_formulation *f, double t, const double *y, double *pvu, double *a,
                                 double *lambda, dae_error *err)
{
    (void)f, (void)t, (void)y, (void)pvu, (void)a, (void)lambda, (void)err;
    return DAE_ERR_UNSUPPORTED;
}
