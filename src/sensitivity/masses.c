#include "sensitivity/masses.h"

#include "linalg/least_squares.h"
#include "method/driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGEST = 200
}; /* ours: n up to which rows may be combined; beyond, a row must be a multiple of its own row of M */
#define EXACT 1e-12 /* parts of dM that B M may leave over, ours: of expressions, */
#define NEARLY 1e-7 /* and of differences */

/* Row of stored value k; < 0 or >= n: it is none. */
static int row_of(const dae_pattern *p, int n, long k)
{
    int ld = p->lower + 1 + p->upper;
    switch (p->storage) {
    case DAE_DENSE: return (int)(k % n);
    case DAE_BANDED: return (int)(k % ld) - p->upper + (int)(k / ld);
    case DAE_DIAGONAL: return (int)k;
    case DAE_SPARSE: break;
    }
    return p->rowind[k];
}

static int column_of(const dae_pattern *p, int n, long k)
{
    switch (p->storage) {
    case DAE_DENSE: return (int)(k / n);
    case DAE_BANDED: return (int)(k / (p->lower + 1 + p->upper));
    case DAE_DIAGONAL: return (int)k;
    case DAE_SPARSE: break;
    }
    int low = 0, high = n; /* colptr[low] <= k < colptr[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (p->colptr[middle] <= k) low = middle;
        else high = middle;
    }
    return low;
}

/* ---- Finding B ------------------------------------------------------------------------------------------------ */

/* dM/dp_j in the layout of M; 0, or > 0: not known, < 0: no memory. */
static int rate_of_mass(const dae_family *f, int j, const dae_matrix *M, long count, double *out)
{
    const dae_direction_of *d = &f->direction[j];
    memset(out, 0, (size_t)count * sizeof *out);
    if (d->component >= 0) return 0;
    if (f->tangents && d->exact) return f->tangents->mass(f->p, d->parameter, out);
    int wide = d->width > 0;
    for (int k = 0; k < (wide ? DAE_WIDE : 2); k++) {
        const dae_matrix *N = &(wide ? d->wide[k].sim : dae_family_side(f, j, k))->it->sys.dae.mass;
        double weight = wide ? dae_family_weight[k] / d->width : (k ? 1 : -1) / dae_family_width(f, j);
        if (N->n != M->n || dae_pattern_count(&N->pattern, N->n) != count) return 1;
        for (long q = 0; q < count; q++) out[q] += N->a[q] != M->a[q] ? weight * (N->a[q] - M->a[q]) : 0;
    }
    return 0;
}

static int push(dae_mass_factor *B, int row, int column, double value)
{
    B->row[B->count] = row;
    B->column[B->count] = column;
    B->value[B->count++] = value;
    return 1;
}

/* Row i of dM as a combination of all rows of M: M^T b = (row i of dM)^T. 1, 0: it is none, < 0: no memory. work: n*n + 2 n. */
static int combine(const dae_matrix *M, const double *dM, int i, double tolerance, double *work,
                   dae_mass_factor *B)
{
    int n = M->n;
    long count = dae_pattern_count(&M->pattern, n);
    double *a = work, *b = a + (size_t)n * (size_t)n, *row = b + n, left = 0, size = 0;
    memset(work, 0, ((size_t)n * (size_t)n + 2 * (size_t)n) * sizeof *work);
    for (long k = 0; k < count; k++) {
        int r = row_of(&M->pattern, n, k), c = column_of(&M->pattern, n, k);
        if (r < 0 || r >= n) continue;
        a[(size_t)c + (size_t)r * (size_t)n] = M->a[k];
        if (r == i) b[c] = row[c] = dM[k];
    }
    if (dae_least_squares(n, n, a, b, 1e-13) < 0) return -1;
    for (int c = 0; c < n; c++) a[c] = -row[c]; /* becomes b^T M - row */
    for (long k = 0; k < count; k++) {
        int r = row_of(&M->pattern, n, k);
        if (r >= 0 && r < n) a[column_of(&M->pattern, n, k)] += b[r] * M->a[k];
    }
    for (int c = 0; c < n; c++) {
        size = fmax(size, fabs(row[c]));
        left = fmax(left, fabs(a[c]));
    }
    if (!(left <= tolerance * size)) return 0;
    for (int c = 0; c < n; c++) {
        if (b[c] != 0) push(B, i, c, b[c]);
    }
    return 1;
}

/* 1: B is found; 0: there is none; < 0: no memory. work: count for dM, 4 n, and n*n + 2 n for combinations where n is small. */
static int find(const dae_matrix *M, const double *dM, double tolerance, double *work, dae_mass_factor *B)
{
    int n = M->n;
    long count = dae_pattern_count(&M->pattern, n);
    double *along = work, *own = along + n, *size = own + n, *left = size + n;
    memset(work, 0, 4 * (size_t)n * sizeof *work);
    for (long k = 0; k < count; k++) {
        int i = row_of(&M->pattern, n, k);
        if (i < 0 || i >= n) continue;
        along[i] += dM[k] * M->a[k];
        own[i] += M->a[k] * M->a[k];
        size[i] = fmax(size[i], fabs(dM[k]));
    }
    for (long k = 0; k < count; k++) {
        int i = row_of(&M->pattern, n, k);
        if (i < 0 || i >= n || size[i] == 0) continue;
        left[i] = fmax(left[i], fabs(dM[k] - (own[i] > 0 ? along[i] / own[i] : 0) * M->a[k]));
    }
    for (int i = 0; i < n; i++) {
        int found = size[i] == 0;
        if (!found && own[i] > 0 && left[i] <= tolerance * size[i]) found = push(B, i, i, along[i] / own[i]);
        if (!found && n <= LARGEST) found = combine(M, dM, i, tolerance, work + 4 * n, B);
        if (found <= 0) return found;
    }
    return 1;
}

dae_status dae_masses_find(dae_family *f, dae_error *err)
{
    const dae_system *s = &f->sim->it->sys;
    const dae_matrix *M = &s->dae.mass;
    if (s->kind != DAE_KIND_DAE || M->n == 0) return DAE_OK;
    size_t n = (size_t)M->n, small = n <= LARGEST, most = n + small * n * n,
           count = (size_t)dae_pattern_count(&M->pattern, M->n);
    double *dM = malloc((count + 4 * n + small * (n * n + 2 * n) + 1) * sizeof *dM);
    dae_mass_factor B = {.row = malloc(most * sizeof *B.row),
                         .column = malloc(most * sizeof *B.column),
                         .value = malloc(most * sizeof *B.value)};
    int good = dM && B.row && B.column && B.value;
    for (int j = 0; j < f->count && good; j++) {
        dae_mass_factor *to = &f->direction[j].mass;
        int exact = f->tangents && f->direction[j].exact;
        B.count = 0;
        int unknown = rate_of_mass(f, j, M, (long)count, dM), found = unknown < 0 ? -1 : 0;
        if (!unknown) found = find(M, dM, exact ? EXACT : NEARLY, dM + count, &B);
        good = found >= 0;
        *to = (dae_mass_factor){.count = found > 0 ? B.count : -1};
        if (found <= 0 || !B.count) continue;
        to->row = dae_arena_copy(f->arena, B.row, (size_t)B.count, sizeof *B.row);
        to->column = dae_arena_copy(f->arena, B.column, (size_t)B.count, sizeof *B.column);
        to->value = dae_arena_copy(f->arena, B.value, (size_t)B.count, sizeof *B.value);
        good = !dae_arena_failed(f->arena);
    }
    free(dM);
    free(B.row);
    free(B.column);
    free(B.value);
    return good ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* ---- Products ---------------------------------------------------------------------------------------------------- */

void dae_masses_apply(const dae_mass_factor *B, const double *x, double *out)
{
    for (int k = 0; k < B->count; k++) out[B->row[k]] -= B->value[k] * x[B->column[k]];
}

double dae_masses_product(const dae_mass_factor *B, const double *q, const double *x)
{
    double sum = 0;
    for (int k = 0; k < B->count; k++) sum += q[B->row[k]] * B->value[k] * x[B->column[k]];
    return sum;
}

int dae_masses_fits(const dae_mass_factor *B, const dae_pattern *p)
{
    int fits = 1;
    for (int k = 0; k < B->count && p->storage != DAE_DENSE; k++) fits &= B->row[k] == B->column[k];
    return fits;
}

void dae_masses_jacobian(const dae_mass_factor *B, const dae_pattern *p, int n, const double *J, double *out)
{
    if (B->count <= 0) return;
    if (p->storage == DAE_DENSE) {
        for (int k = 0; k < B->count; k++) {
            for (int c = 0; c < n; c++)
                out[(size_t)B->row[k] + (size_t)c * (size_t)n] -=
                    B->value[k] * J[(size_t)B->column[k] + (size_t)c * (size_t)n];
        }
        return;
    }
    long count = dae_pattern_count(p, n);
    for (long k = 0; k < count; k++) { /* rows of B ascend */
        int i = row_of(p, n, k), low = 0, high = B->count;
        while (high - low > 1) {
            int middle = (low + high) / 2;
            if (B->row[middle] <= i) low = middle;
            else high = middle;
        }
        if (B->row[low] == i) out[k] -= B->value[low] * J[k];
    }
}
