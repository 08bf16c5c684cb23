/* Gaussian elimination with full pivoting of rectangular matrices.
 *
 * The routine of the lecture notes on constrained mechanics, completed: there the last row is divided by whatever
 * element stands on the diagonal. With fewer rows than columns that can select a poor set of independent
 * unknowns, so here the last row is searched too. */
#include <daedalus/gefp.h>

#include <math.h>
#include <stddef.h>

#define DEFAULT_TOL 1e-10

static void swap_reals(double *a, double *b)
{
    double x = *a;
    *a = *b;
    *b = x;
}

static void swap_ints(int *a, int *b)
{
    int x = *a;
    *a = *b;
    *b = x;
}

/* The largest element of rows and columns k and above; its absolute value. A NaN wins. */
static double search(int m, int n, const double *A, int k, int *row, int *col)
{
    double largest = -1;
    *row = *col = k;
    for (int j = k; j < n; j++) {
        for (int i = k; i < m; i++) {
            double a = fabs(A[i + (ptrdiff_t)j * m]);
            if (a <= largest) continue;
            largest = a;
            *row = i;
            *col = j;
            if (isnan(a)) return a;
        }
    }
    return largest;
}

static void exchange(int m, int n, double *A, double *b, int k, int row, int col, int *rows, int *cols)
{
    if (col != k) {
        for (int i = 0; i < m; i++) swap_reals(&A[i + (ptrdiff_t)k * m], &A[i + (ptrdiff_t)col * m]);
        swap_ints(&cols[k], &cols[col]);
    }
    if (row != k) {
        for (int j = k; j < n; j++) swap_reals(&A[k + (ptrdiff_t)j * m], &A[row + (ptrdiff_t)j * m]);
        if (b) swap_reals(&b[k], &b[row]);
        swap_ints(&rows[k], &rows[row]);
    }
}

/* Divides row k by its pivot and clears the column below it. */
static void eliminate(int m, int n, double *A, double *b, int k)
{
    double pivot = A[k + (ptrdiff_t)k * m];
    double *column = A + (ptrdiff_t)k * m;
    for (int j = k + 1; j < n; j++) {
        double *a = A + (ptrdiff_t)j * m, u = a[k] / pivot;
        a[k] = u;
        if (u == 0) continue;
        for (int i = k + 1; i < m; i++) a[i] -= column[i] * u;
    }
    if (b) {
        b[k] /= pivot;
        for (int i = k + 1; i < m; i++) b[i] -= column[i] * b[k];
    }
    column[k] = 1;
    for (int i = k + 1; i < m; i++) column[i] = 0;
}

/* printed: the last row is not searched. */
static int run(int printed, int m, int n, double *A, double *b, double tol, int *rows, int *cols, double *pivot)
{
    double first = 0;
    if (m < 0 || n < m || (m && (!A || !rows)) || (n && !cols)) return -1;
    if (!(tol > 0)) tol = DEFAULT_TOL;
    for (int i = 0; i < m; i++) rows[i] = i;
    for (int j = 0; j < n; j++) cols[j] = j;
    for (int i = 0; pivot && i < m; i++) pivot[i] = 0;
    for (int k = 0; k < m; k++) {
        int row, col;
        double largest = search(m, n, A, k, &row, &col);
        if (printed && k == m - 1) {
            row = col = k;
            largest = fabs(A[k + (ptrdiff_t)k * m]);
        }
        if (k == 0) first = largest;
        if (!(largest > tol * first) || !isfinite(largest)) return k;
        exchange(m, n, A, b, k, row, col, rows, cols);
        if (pivot) pivot[k] = A[k + (ptrdiff_t)k * m];
        eliminate(m, n, A, b, k);
    }
    return m;
}

int dae_gefp(int m, int n, double *A, double *b, double tol, int *rows, int *cols, double *pivot)
{
    return run(0, m, n, A, b, tol, rows, cols, pivot);
}

int dae_gefp_printed(int m, int n, double *A, double *b, double tol, int *rows, int *cols, double *pivot)
{
    return run(1, m, n, A, b, tol, rows, cols, pivot);
}

void dae_gefp_solve(int r, int m, int n, const double *U, const double *b, const int *cols, double *x)
{
    for (int i = r - 1; i >= 0; i--) {
        double sum = b ? b[i] : 0;
        for (int j = i + 1; j < n; j++) sum -= U[i + (ptrdiff_t)j * m] * x[cols[j]];
        x[cols[i]] = sum;
    }
}
