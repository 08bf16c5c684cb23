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
    if (p->columns > 0) {
        dae_pattern block = dae_pattern_block(p);
        return dae_pattern_count(&block, n / (1 + p->columns)) * (1 + p->columns);
    }
    switch (p->storage) {
    case DAE_BANDED: return (long)(p->lower + 1 + p->upper) * n;
    case DAE_SPARSE: return p->colptr[n];
    case DAE_DIAGONAL: return n;
    case DAE_DENSE: break;
    }
    return (long)n * n;
}

dae_pattern dae_pattern_block(const dae_pattern *p)
{
    dae_pattern block = *p;
    block.columns = 0;
    return block;
}

/* y_0 = J x_0,  y_j = J x_j + D_j x_0; the last is added to what J gives through a second pass over the columns. */
static void multiply_columns(const dae_matrix *M, const double *x, double *y)
{
    int k = M->pattern.columns, n = M->n / (1 + k);
    dae_matrix block = {.n = n, .pattern = dae_pattern_block(&M->pattern), .a = M->a};
    long count = dae_pattern_count(&block.pattern, n);
    for (int j = 0; j <= k; j++)
        dae_matrix_multiply(&block, n, x + (size_t)j * (size_t)n, y + (size_t)j * (size_t)n);
    for (int j = 1; j <= k; j++) {
        block.a = M->a + (long)j * count;
        dae_matrix_multiply_add(&block, x, y + (size_t)j * (size_t)n);
    }
}

void dae_matrix_multiply(const dae_matrix *M, int size, const double *x, double *y)
{
    int n = M->n;
    if (M->pattern.columns > 0) {
        multiply_columns(M, x, y);
        return;
    }
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
    dae_matrix_multiply_add(M, x, y);
}

void dae_matrix_multiply_add(const dae_matrix *M, const double *x, double *y)
{
    int n = M->n;
    const double *a = M->a;
    if (M->pattern.storage == DAE_DIAGONAL) {
        for (int i = 0; i < n; i++) y[i] += a[i] * x[i];
        return;
    }
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
    if (p->columns > 0) {
        int n = M->n / (1 + p->columns), row = i / n, column = j / n;
        dae_matrix block = {.n = n, .pattern = dae_pattern_block(p), .a = M->a};
        if (row != column && column > 0) return 0;
        if (row != column) block.a += row * dae_pattern_count(&block.pattern, n);
        return dae_matrix_get(&block, i % n, j % n);
    }
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
    if (p->columns > 0) n /= 1 + p->columns;
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
