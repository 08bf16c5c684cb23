#include "formulation/split.h"

#include "core/vector.h"

#include <stddef.h>
#include <string.h>

void dae_functionals_apply(const functionals *s, const double *x, double *out)
{
    for (int k = 0; k < s->count; k++) {
        if (!s->Z) {
            out[k] = x[s->index[k]];
            continue;
        }
        const double *z = s->Z + (size_t)k * (size_t)s->n;
        double sum = 0;
        for (int i = 0; i < s->n; i++) sum += z[i] * x[i];
        out[k] = sum;
    }
}

void dae_split_init(split_matrix *K, split_kind kind, int m, int n, const split_pattern *pattern,
                    dae_arena *a)
{
    *K = (split_matrix){.kind = kind, .m = m, .n = n, .pattern = pattern};
    K->dep = dae_arena_ints(a, (size_t)n);
    K->ind = dae_arena_ints(a, (size_t)n);
    K->x = dae_arena_reals(a, (size_t)n);
    if (kind == SPLIT_SPARSE) return;
    int rows = kind == SPLIT_REDUCED ? m : n;
    K->A = dae_arena_reals(a, (size_t)rows * (size_t)n);
    if (rows > 0) dae_dense_init(&K->lu, rows, 0, a);
}

void dae_split_free(split_matrix *K)
{
    if (!K->own) return;
    dae_sparse_free(&K->sparse);
    dae_arena_destroy(K->own);
    K->own = NULL;
}

/* ---- Sparse ---------------------------------------------------------------------------------------------- */

/* The pattern of K for a selection. */
static int make_pattern(split_matrix *K, const functionals *s)
{
    const split_pattern *p = K->pattern;
    int m = K->m, n = K->n, nG = p->G_colptr[n], nT = p->T_colptr ? p->T_colptr[n] : n, used = 0;
    dae_split_free(K);
    K->own = dae_arena_create();
    if (!K->own) return -1;
    int *colptr = dae_arena_ints(K->own, (size_t)n + 1), *rowind = dae_arena_ints(K->own, (size_t)(nG + nT));
    int *row = dae_arena_ints(K->own, (size_t)p->np); /* of a position in K, from 1; 0: not selected */
    K->place_G = dae_arena_ints(K->own, (size_t)nG + 1);
    K->place_T = dae_arena_ints(K->own, (size_t)nT);
    if (dae_arena_failed(K->own)) return -1;
    for (int k = 0; k < s->count; k++) row[s->index[k]] = m + k + 1;
    for (int j = 0; j < n; j++) {
        colptr[j] = used;
        for (int e = p->G_colptr[j]; e < p->G_colptr[j + 1]; e++) {
            K->place_G[e] = used;
            rowind[used++] = p->G_rowind[e];
        }
        int first = p->T_colptr ? p->T_colptr[j] : j, last = p->T_colptr ? p->T_colptr[j + 1] : j + 1;
        for (int e = first; e < last; e++) {
            int r = row[p->T_colptr ? p->T_rowind[e] : j];
            K->place_T[e] = r ? used : -1;
            if (r) rowind[used++] = r - 1;
        }
    }
    colptr[n] = used;
    if (K->ind != s->index) memcpy(K->ind, s->index, (size_t)s->count * sizeof(int));
    return dae_sparse_init(&K->sparse, n, colptr, rowind, 0, K->own);
}

static int factor_sparse(split_matrix *K, const double *G, const functionals *s, const double *T)
{
    const split_pattern *p = K->pattern;
    int nG = p->G_colptr[K->n], nT = p->T_colptr ? p->T_colptr[K->n] : K->n;
    if (!K->own || memcmp(K->ind, s->index, (size_t)s->count * sizeof(int)) != 0) {
        int r = make_pattern(K, s);
        if (r) {
            dae_split_free(K);
            return r;
        }
    }
    double *value = K->sparse.value;
    for (int e = 0; e < nG; e++) value[K->place_G[e]] = G[e];
    for (int e = 0; e < nT; e++) {
        if (K->place_T[e] >= 0) value[K->place_T[e]] = p->T_colptr ? T[e] : 1;
    }
    return dae_sparse_factor(&K->sparse);
}

/* ---- All ------------------------------------------------------------------------------------------------- */

/* The columns of G are parted, the dependent ones factored. */
static int factor_reduced(split_matrix *K, const double *G, int ld, const functionals *s)
{
    int ni = 0, nd = 0, m = K->m;
    for (int j = 0; j < K->n; j++) {
        if (ni < s->count && s->index[ni] == j) K->ind[ni++] = j;
        else K->dep[nd++] = j;
        dae_copy(m, G + (size_t)j * (size_t)ld, K->A + (size_t)j * (size_t)m);
    }
    if (m == 0) return 0;
    for (int k = 0; k < m; k++) {
        dae_copy(m, K->A + (size_t)K->dep[k] * (size_t)m, K->lu.re + (size_t)k * (size_t)K->lu.ld);
    }
    K->lu.finite = 0;
    return dae_dense_factor(&K->lu);
}

int dae_split_factor(split_matrix *K, int m, const double *G, int ld, const functionals *s, const double *T)
{
    int n = K->n;
    if (K->kind == SPLIT_SPARSE) return factor_sparse(K, G, s, T);
    K->m = m;
    if (K->kind == SPLIT_REDUCED) return factor_reduced(K, G, ld, s);
    for (int j = 0; j < n; j++) {
        double *column = K->A + (size_t)j * (size_t)n;
        dae_copy(m, G + (size_t)j * (size_t)ld, column);
        if (T) {
            dae_functionals_apply(s, T + (size_t)j * (size_t)s->n, column + m);
        } else {
            for (int k = 0; k < s->count; k++)
                column[m + k] = s->Z ? s->Z[j + k * s->n] : (double)(s->index[k] == j);
        }
        dae_copy(n, column, K->lu.re + (size_t)j * (size_t)K->lu.ld);
    }
    K->lu.finite = 0;
    return dae_dense_factor(&K->lu);
}

void dae_split_null_space(split_matrix *K, double *N)
{
    int m = K->m, n = K->n, ni = n - m;
    dae_zero(n * ni, N);
    for (int k = 0; k < ni; k++) {
        double *column = N + (size_t)k * (size_t)n;
        if (K->kind != SPLIT_REDUCED) column[m + k] = 1;
        if (K->kind == SPLIT_DENSE) dae_dense_solve(&K->lu, column, NULL);
        if (K->kind != SPLIT_REDUCED) continue;
        double *r = K->x;
        for (int i = 0; i < m; i++) r[i] = -K->A[i + (ptrdiff_t)K->ind[k] * m];
        if (m > 0) dae_dense_solve(&K->lu, r, NULL);
        for (int i = 0; i < m; i++) column[K->dep[i]] = r[i];
        column[K->ind[k]] = 1;
    }
    if (K->kind == SPLIT_SPARSE) dae_sparse_solve_many(&K->sparse, ni, N);
}

void dae_split_solve(split_matrix *K, const double *b1, const double *b2, double *x)
{
    int m = K->m, n = K->n, ni = n - m;
    double *r = K->kind == SPLIT_SPARSE ? x : K->x;
    if (b1) dae_copy(m, b1, r);
    else dae_zero(m, r);
    if (K->kind != SPLIT_REDUCED) {
        if (b2) dae_copy(ni, b2, r + m);
        else dae_zero(ni, r + m);
        if (K->kind == SPLIT_SPARSE) {
            dae_sparse_solve(&K->sparse, r, NULL);
            return;
        }
        dae_dense_solve(&K->lu, r, NULL);
        dae_copy(n, r, x);
        return;
    }
    for (int k = 0; k < ni; k++) {
        double value = b2 ? b2[k] : 0;
        x[K->ind[k]] = value;
        if (value != 0) dae_axpy(m, -value, K->A + (size_t)K->ind[k] * (size_t)m, r);
    }
    if (m > 0) dae_dense_solve(&K->lu, r, NULL);
    for (int k = 0; k < m; k++) x[K->dep[k]] = r[k];
}

/* ---- Checkpoint ------------------------------------------------------------------------------------------ */

size_t dae_split_save(const split_matrix *K, void *buffer)
{
    if (!K->own) return 0;
    if (buffer) dae_arena_write(K->own, buffer);
    return dae_arena_bytes(K->own);
}

int dae_split_load(split_matrix *K, const void *buffer, size_t size)
{
    if (size == 0) {
        dae_split_free(K);
        return 0;
    }
    if (K->kind != SPLIT_SPARSE) return -1;
    functionals selection = {
        .n = K->pattern->np, .count = K->n - K->m, .index = K->ind}; /* read back already */
    for (int k = 0; k < selection.count; k++) {
        if (K->ind[k] < 0 || K->ind[k] >= K->pattern->np) return -1;
    }
    if (make_pattern(K, &selection) || dae_arena_bytes(K->own) != size) {
        dae_split_free(K);
        return -1;
    }
    dae_arena_read(K->own, buffer);
    return dae_sparse_restore(&K->sparse);
}
