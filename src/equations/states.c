/* Dummy derivatives [MS93]. Level p = 1, 2, ...: rows R_p = {i : c_i >= p}; among the columns of level p - 1 (at first all) with
 * d_j >= p, |R_p| columns C_p with J[R_p, C_p] regular are chosen by elimination with full pivoting, and x_j^(d_j - p), j in C_p, is no
 * state. Columns are scaled by the size of their variable, and by 1e-3 or 1e3 for `prefer` and `avoid`; rows by their largest entry over
 * all candidate columns: scaled by their own columns, a row that vanishes there would look perfect.
 *
 * Rows and columns that are not connected are eliminated apart, so that many small mechanisms cost the sum of theirs. */
#include "equations/states.h"

#include <daedalus/gefp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PREFER 1e-3 /* columns of variables that should be states look small */
#define SINGULAR 1e-12

typedef struct level_task {
    const dae_analysis *a;
    const double *J, *X;
    int p;
    const int *level; /* levels found so far */
    int fixed;        /* 1: the columns are those of level >= p; 0: all candidates */
    int *component;   /* 2n: of rows, then of columns; -1: not in this level */
    double *scale;    /* n: of each row */
} level_task;

static int is_candidate(const level_task *k, int j)
{
    return k->a->sigma.d[j] >= k->p && k->level[j] >= k->p - 1;
}

static double column_scale(const level_task *k, int j)
{
    const dae_analysis *a = k->a;
    int preference = j < a->model->nvariable ? a->model->variable[j].preference : 0;
    double x = k->X[a->place[j] + a->sigma.d[j] - k->p];
    return (1 + fabs(x)) * (preference > 0 ? PREFER : preference < 0 ? 1 / PREFER : 1);
}

static int root_of(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Connected parts of the rows of the level and their candidate columns; scales of the rows. Returns the number of parts. */
static int connect(level_task *k, int *parent, int *number)
{
    const dae_analysis *a = k->a;
    int n = a->n, count = 0;
    for (int i = 0; i < 2 * n; i++) {
        parent[i] = i;
        number[i] = 0;
        k->component[i] = -1;
    }
    for (int i = 0; i < n; i++) {
        k->scale[i] = 0;
        for (int e = a->row_start[i]; e < a->row_start[i + 1] && a->sigma.c[i] >= k->p; e++) {
            int j = a->column[e];
            if (!is_candidate(k, j)) continue;
            parent[root_of(parent, i)] = root_of(parent, n + j);
            k->scale[i] = fmax(k->scale[i], fabs(k->J[e]) * column_scale(k, j));
        }
    }
    for (int i = 0; i < 2 * n; i++) {
        int in =
            i < n ? a->sigma.c[i] >= k->p : is_candidate(k, i - n) && (!k->fixed || k->level[i - n] >= k->p);
        int root = root_of(parent, i);
        if (!in) continue;
        if (!number[root]) number[root] = ++count;
        k->component[i] = number[root] - 1;
    }
    return count;
}

/* Rows and columns of a part. */
static void members(const level_task *k, int part, int *row, int *m, int *column, int *ncolumn, int *at)
{
    *m = *ncolumn = 0;
    for (int i = 0; i < k->a->n; i++) {
        if (k->component[i] == part) row[(*m)++] = i;
        if (k->component[k->a->n + i] != part) continue;
        at[i] = *ncolumn;
        column[(*ncolumn)++] = i;
    }
}

/* Eliminates one part; the chosen columns come first in `column`. Returns the smallest pivot (0: singular, *bad is a row), -1: no memory. */
static double eliminate(const level_task *k, int m, const int *row, int n, int *column, const int *at,
                        int *bad)
{
    const dae_analysis *a = k->a;
    if (m == 0) return 1;
    *bad = row[0];
    if (n < m) return 0;
    size_t size = (size_t)m * (size_t)n;
    double *A = calloc(size + (size_t)m, sizeof *A), *pivot = A + size, smallest = 1;
    int *order = calloc((size_t)m + 2 * (size_t)n, sizeof *order), *cols = order + m, *chosen = cols + n;
    if (!A || !order) {
        free(A);
        free(order);
        return -1;
    }
    for (int r = 0; r < m; r++) {
        int i = row[r];
        for (int e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
            int j = a->column[e];
            if (k->component[a->n + j] >= 0 && k->scale[i] > 0)
                A[r + (long)at[j] * m] = k->J[e] * column_scale(k, j) / k->scale[i];
        }
    }
    int rank = dae_gefp(m, n, A, NULL, SINGULAR, order, cols, pivot);
    if (rank < m) {
        smallest = 0;
        *bad = row[order[rank < 0 ? 0 : rank]];
    } else {
        for (int r = 0; r < m; r++) smallest = fmin(smallest, fabs(pivot[r]));
        for (int c = 0; c < m; c++) chosen[c] = column[cols[c]];
        memcpy(column, chosen, (size_t)m * sizeof *column);
    }
    free(A);
    free(order);
    return smallest;
}

/* All parts of a level. Raises level[] of the chosen columns where `choose` is not NULL. Returns the smallest pivot, -1: no memory. */
static double do_level(level_task *k, int *choose, int *space, int *bad)
{
    int n = k->a->n, *row = space, *column = space + n, *at = space + 2 * n, *scratch = space + 3 * n;
    int parts = connect(k, scratch, scratch + 2 * n);
    double smallest = 1;
    for (int c = 0; c < parts; c++) {
        int m, width;
        members(k, c, row, &m, column, &width, at);
        double q = eliminate(k, m, row, width, column, at, bad);
        if (q <= 0) return q;
        smallest = fmin(smallest, q);
        for (int r = 0; choose && r < m; r++) choose[column[r]] = k->p;
    }
    return smallest;
}

static int levels_of(const dae_analysis *a)
{
    int largest = 0;
    for (int i = 0; i < a->n; i++) largest = a->sigma.c[i] > largest ? a->sigma.c[i] : largest;
    return largest;
}

static double all_levels(const dae_analysis *a, const double *J, const double *X, int *level, int fixed,
                         int *bad)
{
    size_t n = (size_t)a->n;
    int *space = calloc(9 * n + 1, sizeof *space), *now = fixed ? level : calloc(n + 1, sizeof *now);
    double *scale = calloc(n + 1, sizeof *scale), smallest = 1;
    if (!space || !now || !scale) smallest = -1;
    for (int p = 1; p <= levels_of(a) && smallest > 0; p++) {
        level_task k = {a, J, X, p, now, fixed, space + 7 * n, scale};
        double q = do_level(&k, fixed ? NULL : now, space, bad);
        smallest = q < smallest ? q : smallest;
    }
    if (!fixed && smallest > 0) memcpy(level, now, n * sizeof *level);
    free(space);
    free(scale);
    if (!fixed) free(now);
    return smallest;
}

int dae_states_choose(const dae_analysis *a, const double *J, const double *X, dae_state_choice *out,
                      int *equation)
{
    int bad = 0;
    out->quality = all_levels(a, J, X, out->level, 0, &bad);
    if (equation) *equation = bad;
    return out->quality > 0 ? 1 : out->quality < 0 ? -1 : 0;
}

double dae_states_quality(const dae_analysis *a, const double *J, const double *X, const int *level)
{
    int bad = 0;
    return all_levels(a, J, X, (int *)level, 1, &bad);
}
