#include "core/matrix.h"

#include "core/vector.h"

dae_matrix dae_diagonal(int n, const double *d)
{
    return (dae_matrix){.n = n, .pattern = {.storage = DAE_DIAGONAL}, .a = d};
}

dae_matrix dae_dense(int n, const double *a)
{
    return (dae_matrix){.n = n, .pattern = {.storage = DAE_DENSE}, .a = a};
}

dae_matrix dae_banded(int n, int lower, int upper, const double *a)
{
    return (dae_matrix){.n = n, .pattern = {.storage = DAE_BANDED, .lower = lower, .upper = upper}, .a = a};
}

dae_matrix dae_sparse(int n, const int *colptr, const int *rowind, const double *a)
{
    return (dae_matrix){
        .n = n, .pattern = {.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind}, .a = a};
}

long dae_pattern_count(const dae_pattern *p, int n)
{
    switch (p->storage) {
    case DAE_BANDED: return (long)(p->lower + 1 + p->upper) * n;
    case DAE_SPARSE: return p->colptr[n];
    case DAE_DIAGONAL: return n;
    case DAE_DENSE: break;
    }
    return (long)n * n;
}

void dae_matrix_multiply(const dae_matrix *M, int size, const double *x, double *y)
{
    int n = M->n;
    if (n == 0) {
        dae_copy(size, x, y);
        return;
    }
    const double *a = M->a;
    if (M->pattern.storage == DAE_DIAGONAL) {
        for (int i = 0; i < n; i++) y[i] = a[i] * x[i];
        return;
    }
    dae_zero(n, y);
    if (M->pattern.storage == DAE_DENSE) {
        for (int j = 0; j < n; j++) dae_axpy(n, x[j], a + (size_t)j * (size_t)n, y);
    } else if (M->pattern.storage == DAE_BANDED) {
        int ml = M->pattern.lower, mu = M->pattern.upper, ld = ml + 1 + mu;
        for (int j = 0; j < n; j++) {
            int first = j > mu ? j - mu : 0, last = j + ml < n - 1 ? j + ml : n - 1;
            const double *col = a + (size_t)j * (size_t)ld + (mu - j + first);
            dae_axpy(last - first + 1, x[j], col, y + first);
        }
    } else {
        const int *cp = M->pattern.colptr, *ri = M->pattern.rowind;
        for (int j = 0; j < n; j++) {
            for (int k = cp[j]; k < cp[j + 1]; k++) y[ri[k]] += a[k] * x[j];
        }
    }
}

double dae_matrix_get(const dae_matrix *M, int i, int j)
{
    const dae_pattern *p = &M->pattern;
    if (M->n == 0) return i == j;
    switch (p->storage) {
    case DAE_DIAGONAL: return i == j ? M->a[i] : 0;
    case DAE_DENSE: return M->a[(size_t)j * (size_t)M->n + (size_t)i];
    case DAE_BANDED:
        if (i - j > p->lower || j - i > p->upper) return 0;
        return M->a[(size_t)j * (size_t)(p->lower + 1 + p->upper) + (size_t)(p->upper + i - j)];
    case DAE_SPARSE:
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
            if (p->rowind[k] == i) return M->a[k];
        }
        return 0;
    }
    return 0;
}

dae_pattern dae_pattern_copy(const dae_pattern *p, int n, dae_arena *a, int *ok)
{
    dae_pattern q = *p;
    if (p->storage == DAE_SPARSE) {
        q.colptr = dae_arena_copy(a, p->colptr, (size_t)n + 1, sizeof(int));
        q.rowind = dae_arena_copy(a, p->rowind, (size_t)p->colptr[n], sizeof(int));
        if (!q.colptr || !q.rowind) *ok = 0;
    } else {
        q.colptr = q.rowind = NULL;
    }
    return q;
}

dae_matrix dae_matrix_copy(const dae_matrix *M, dae_arena *a, int *ok)
{
    dae_matrix C = *M;
    if (M->n == 0) return (dae_matrix){0};
    C.pattern = dae_pattern_copy(&M->pattern, M->n, a, ok);
    C.a = dae_arena_copy(a, M->a, (size_t)dae_pattern_count(&M->pattern, M->n), sizeof(double));
    if (!C.a) *ok = 0;
    return C;
}

void dae_pattern_to_dense(const dae_pattern *p, int n, const double *value, double *a)
{
    if (p->storage == DAE_SPARSE) {
        for (int j = 0; j < n; j++) {
            for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) a[p->rowind[k] + j * n] = value[k];
        }
        return;
    }
    int ld = p->lower + 1 + p->upper;
    for (int j = 0; j < n; j++) {
        int lo = j > p->upper ? j - p->upper : 0, hi = j + p->lower < n - 1 ? j + p->lower : n - 1;
        for (int i = lo; i <= hi; i++) a[i + j * n] = value[p->upper + i - j + j * ld];
    }
}
