#include "equations/elimination.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD 0.1 /* a pivot against the largest of its column [Duff, Erisman, Reid, ch. 7] */
#define ROUNDING 1e-13

/* ---- The order ---------------------------------------------------------------------------------------- */

/* The cheapest pivot of what is left: (entries of its row - 1)(entries of its column - 1), the first of equal ones. count: 2m scratch. */
static int cheapest(int m, const double *A, const unsigned char *row_gone, const unsigned char *column_gone,
                    int *count, int *r, int *c)
{
    int *in_row = count, *in_column = count + m;
    long best = -1;
    memset(count, 0, 2 * (size_t)m * sizeof *count);
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < m && !column_gone[j]; i++) {
            int in = !row_gone[i] && A[i + (long)j * m] != 0;
            in_row[i] += in;
            in_column[j] += in;
        }
    }
    for (int j = 0; j < m; j++) {
        double largest = 0;
        for (int i = 0; i < m && in_column[j]; i++) {
            double a = row_gone[i] ? 0 : fabs(A[i + (long)j * m]);
            if (a > largest) largest = a;
        }
        for (int i = 0; i < m && in_column[j]; i++) {
            double a = row_gone[i] ? 0 : fabs(A[i + (long)j * m]);
            long cost = (long)(in_row[i] - 1) * (in_column[j] - 1);
            if (a == 0 || a < THRESHOLD * largest || (best >= 0 && cost >= best)) continue;
            best = cost;
            *r = i;
            *c = j;
        }
    }
    return best >= 0;
}

int dae_elimination_order(const dae_linear_nodes *s, const double *value, double *A, int *row, int *column,
                          double *pivot)
{
    int m = s->m, good = 1;
    unsigned char *gone = calloc(2 * (size_t)m + 1, 1), *column_gone = gone + m;
    int *count = malloc((2 * (size_t)m + 1) * sizeof *count);
    if (!gone || !count) {
        free(gone);
        free(count);
        return 0;
    }
    memset(A, 0, (size_t)m * (size_t)m * sizeof *A);
    for (int e = 0; e < s->nentry; e++) {
        if (s->column[e] >= 0) A[s->row[e] + (long)s->column[e] * m] = value[e];
    }
    for (int k = 0; k < m && good; k++) {
        int r = 0, c = 0;
        good = cheapest(m, A, gone, column_gone, count, &r, &c);
        if (!good) break;
        row[k] = r;
        column[k] = c;
        pivot[k] = fabs(A[r + (long)c * m]);
        good = isfinite(pivot[k]);
        gone[r] = column_gone[c] = 1;
        for (int i = 0; i < m; i++) {
            double factor = A[i + (long)c * m] / A[r + (long)c * m];
            if (gone[i] || factor == 0) continue;
            for (int j = 0; j < m; j++) {
                if (column_gone[j] || A[r + (long)j * m] == 0) continue;
                double *a = &A[i + (long)j * m], drop = factor * A[r + (long)j * m];
                double size = fmax(fabs(*a), fabs(drop));
                *a -= drop;
                if (fabs(*a) <= ROUNDING * size) *a = 0; /* what cancels does so as nodes too */
            }
        }
    }
    free(gone);
    free(count);
    return good;
}

/* ---- The solution ------------------------------------------------------------------------------------- */

/* a - b c */
static int less_product(dae_graph *g, int a, int b, int c)
{
    return dae_graph_subtract(g, a, dae_graph_multiply(g, b, c));
}

static int is_zero(const dae_graph *g, int node)
{
    double value;
    return dae_graph_is_number(g, node, &value) && value == 0;
}

/* Column column[k] below pivot k becomes 0; *inverse is 1/pivot. */
static int eliminate(dae_graph *g, int m, int k, const int *row, const int *column, int *A, int *b,
                     int *inverse, int most)
{
    int r = row[k], c = column[k], zero = dae_graph_number(g, 0);
    if (is_zero(g, A[r + (long)c * m])) return 0;
    *inverse = dae_graph_divide(g, dae_graph_number(g, 1), A[r + (long)c * m]);
    for (int q = k + 1; q < m; q++) {
        int i = row[q];
        if (is_zero(g, A[i + (long)c * m])) continue;
        int factor = dae_graph_multiply(g, A[i + (long)c * m], *inverse);
        A[i + (long)c * m] = zero;
        for (int p = k + 1; p < m; p++) {
            long j = (long)column[p] * m;
            if (!is_zero(g, A[r + j])) A[i + j] = less_product(g, A[i + j], factor, A[r + j]);
        }
        b[i] = less_product(g, b[i], factor, b[r]);
        if (dae_graph_count(g) > most || dae_graph_failed(g)) return 0;
    }
    return 1;
}

int dae_elimination_solve(dae_graph *g, const dae_linear_nodes *s, const int *row, const int *column,
                          int most, int *x, int *watch)
{
    int m = s->m, good = 1, limit = dae_graph_count(g) + most, zero = dae_graph_number(g, 0);
    size_t size = (size_t)m * (size_t)m;
    int *A = malloc((size + 2 * (size_t)m + 1) * sizeof *A), *b = A ? A + size : NULL,
        *inverse = b ? b + m : NULL;
    if (!A) return 0;
    for (size_t q = 0; q < size; q++) A[q] = zero;
    for (int e = 0; e < s->nentry; e++) {
        if (s->column[e] >= 0) A[s->row[e] + (long)s->column[e] * m] = s->entry[e];
    }
    memcpy(b, s->f, (size_t)m * sizeof *b);
    for (int k = 0; k < m && good; k++) {
        int pivot = A[row[k] + (long)column[k] * m];
        watch[k] = dae_graph_is_number(g, pivot, NULL) ? -1 : pivot;
        good = eliminate(g, m, k, row, column, A, b, &inverse[k], limit);
    }
    for (int k = m - 1; k >= 0 && good; k--) {
        int sum = b[row[k]];
        for (int q = k + 1; q < m; q++) {
            int a = A[row[k] + (long)column[q] * m];
            if (!is_zero(g, a)) sum = less_product(g, sum, a, x[column[q]]);
        }
        x[column[k]] = dae_graph_multiply(g, sum, inverse[k]);
        good = dae_graph_count(g) <= limit && !dae_graph_failed(g);
    }
    free(A);
    return good;
}
