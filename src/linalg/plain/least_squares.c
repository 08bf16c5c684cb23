/* Least squares of least norm without LAPACK: A P = Q [R S; 0 0] by reflections with exchanges of columns,
 * [R S] = [T 0] Z by reflections from the right, x = P Z' [T^-1 c; 0] with c the head of Q' b; [GVL] 5.5.
 * [GVL] Golub, Van Loan, Matrix Computations. */
#include "linalg/least_squares.h"
#include "linalg/saddle/kernel.h"

#include <stdlib.h>

/* Brings the longest remaining column to k and reflects; the vectors are applied to b at once. */
static void eliminate_column(int m, int n, double *a, double *b, int k, int *order)
{
    int p = k;
    double longest = -1;
    for (int j = k; j < n; j++) {
        double s = 0;
        for (int i = k; i < m; i++) s += a[AT(i, j, m)] * a[AT(i, j, m)];
        if (s > longest) longest = s, p = j;
    }
    for (int i = 0; i < m && p != k; i++) {
        double x = a[AT(i, k, m)];
        a[AT(i, k, m)] = a[AT(i, p, m)];
        a[AT(i, p, m)] = x;
    }
    int was = order[k];
    order[k] = order[p];
    order[p] = was;
    double *v = a + AT(0, k, m), length = sqrt(longest);
    if (!(length > 0)) return;
    double alpha = v[k] > 0 ? -length : length, head = v[k] - alpha, tau = -head / alpha;
    for (int i = k + 1; i < m; i++) v[i] /= head;
    v[k] = alpha;
    for (int j = k + 1; j <= n; j++) {
        double *c = j < n ? a + AT(0, j, m) : b, x = c[k];
        for (int i = k + 1; i < m; i++) x += v[i] * c[i];
        c[k] -= tau * x;
        for (int i = k + 1; i < m; i++) c[i] -= tau * x * v[i];
    }
}

/* [R S] = [T 0] Z: row k keeps the vector of its reflection in place of S; tau[k]. */
static void eliminate_right(int m, int n, int rank, double *a, double *tau)
{
    for (int k = rank - 1; k >= 0; k--) {
        double sum = a[AT(k, k, m)] * a[AT(k, k, m)];
        for (int j = rank; j < n; j++) sum += a[AT(k, j, m)] * a[AT(k, j, m)];
        double length = sqrt(sum), d = a[AT(k, k, m)], alpha = d > 0 ? -length : length, head = d - alpha;
        tau[k] = -head / alpha;
        a[AT(k, k, m)] = alpha;
        for (int j = rank; j < n; j++) a[AT(k, j, m)] /= head;
        for (int i = 0; i < k; i++) {
            double x = a[AT(i, k, m)];
            for (int j = rank; j < n; j++) x += a[AT(i, j, m)] * a[AT(k, j, m)];
            a[AT(i, k, m)] -= tau[k] * x;
            for (int j = rank; j < n; j++) a[AT(i, j, m)] -= tau[k] * x * a[AT(k, j, m)];
        }
    }
}

static void apply_right(int m, int n, int rank, const double *a, const double *tau, double *x)
{
    for (int k = 0; k < rank; k++) {
        double y = x[k];
        for (int j = rank; j < n; j++) y += a[AT(k, j, m)] * x[j];
        x[k] -= tau[k] * y;
        for (int j = rank; j < n; j++) x[j] -= tau[k] * y * a[AT(k, j, m)];
    }
}

int dae_least_squares(int m, int n, double *a, double *b, double rcond)
{
    int rank = 0, most = m < n ? m : n, *order = calloc((size_t)n + 1, sizeof *order);
    double *x = calloc(2 * (size_t)n + 1, sizeof *x), *tau = x ? x + n : NULL;
    for (int j = 0; order && j < n; j++) order[j] = j;
    for (int k = 0; order && x && k < most; k++) eliminate_column(m, n, a, b, k, order);
    if (order && x) {
        while (rank < most && fabs(a[AT(rank, rank, m)]) > rcond * fabs(a[0])) rank++;
        if (rank < n) eliminate_right(m, n, rank, a, tau);
        for (int k = 0; k < rank; k++) x[k] = b[k];
        for (int k = rank - 1; k >= 0; k--) {
            x[k] /= a[AT(k, k, m)];
            for (int i = 0; i < k; i++) x[i] -= x[k] * a[AT(i, k, m)];
        }
        if (rank < n) apply_right(m, n, rank, a, tau, x);
        for (int j = 0; j < n; j++) b[order[j]] = x[j];
    }
    int done = order && x;
    free(order);
    free(x);
    return done ? rank : -1;
}
