/* P A P' = L D L' of a symmetric indefinite matrix (lower triangle), D with blocks of order 1 and 2, by the
 * diagonal pivoting of Bunch and Kaufman, Math. Comp. 31 (1977) 163-179; the interface of LAPACK's dsytrf.
 * pivot[k] = p > 0: block of order 1, row p (from 1) came to row k; both entries of a block of order 2 hold
 * -p: row p came to its second row. */
#include "linalg/lapack.h"
#include "linalg/saddle/kernel.h"

#define ALPHA 0.64038820320220757 /* (1 + sqrt(17))/8: least growth of the elements */

static void swap(double *x, double *y)
{
    double z = *x;
    *x = *y;
    *y = z;
}

/* The largest |element| of row r of the symmetric matrix that begins at k, its diagonal left out. */
static double largest_in_row(int n, const double *a, int k, int r)
{
    double most = 0;
    for (int j = k; j < r; j++) most = fmax(most, fabs(a[AT(r, j, n)]));
    for (int i = r + 1; i < n; i++) most = fmax(most, fabs(a[AT(i, r, n)]));
    return most;
}

/* Chooses the pivot at k: its row, and whether the block has order 2. */
static int choose(int n, const double *a, int k, int *order, int *singular)
{
    int r = k;
    double own = fabs(a[AT(k, k, n)]), column = 0;
    for (int i = k + 1; i < n; i++) {
        if (fabs(a[AT(i, k, n)]) > column) column = fabs(a[AT(i, k, n)]), r = i;
    }
    *order = 1;
    *singular = !(fmax(own, column) > 0);
    if (*singular || own >= ALPHA * column) return k;
    double row = largest_in_row(n, a, k, r);
    if (own * row >= ALPHA * column * column) return k;
    if (fabs(a[AT(r, r, n)]) < ALPHA * row) *order = 2;
    return r;
}

/* Exchanges rows and columns k and p > k of the part that is left (it begins at first). */
static void exchange(int n, double *a, int first, int k, int p)
{
    for (int i = p + 1; i < n; i++) swap(&a[AT(i, k, n)], &a[AT(i, p, n)]);
    for (int i = k + 1; i < p; i++) swap(&a[AT(i, k, n)], &a[AT(p, i, n)]);
    swap(&a[AT(k, k, n)], &a[AT(p, p, n)]);
    if (first < k) swap(&a[AT(k, first, n)], &a[AT(p, first, n)]);
}

static void eliminate_one(int n, double *a, int k)
{
    double *l = a + AT(0, k, n), r = 1 / l[k];
    for (int j = k + 1; j < n; j++) {
        double *c = a + AT(0, j, n), x = l[j] * r;
        for (int i = j; i < n; i++) c[i] -= x * l[i];
    }
    for (int i = k + 1; i < n; i++) l[i] *= r;
}

static void eliminate_two(int n, double *a, int k)
{
    double *l = a + AT(0, k, n), *m = l + n;
    double off = l[k + 1], d2 = m[k + 1] / off, d1 = l[k] / off, r = 1 / (d1 * d2 - 1) / off;
    for (int j = k + 2; j < n; j++) {
        double *c = a + AT(0, j, n), x = r * (d2 * l[j] - m[j]), y = r * (d1 * m[j] - l[j]);
        for (int i = j; i < n; i++) c[i] -= x * l[i] + y * m[i];
        l[j] = x;
        m[j] = y;
    }
}

void dsytrf_(const char *uplo, const int *n_, double *a, const int *lda, int *pivot, double *work,
             const int *lwork, int *info, size_t length)
{
    int n = *n_, order, singular;
    (void)uplo, (void)lda, (void)work, (void)lwork, (void)length;
    *info = 0;
    for (int k = 0; k < n; k += order) {
        int p = choose(n, a, k, &order, &singular), to = k + order - 1;
        if (singular && !*info) *info = k + 1;
        if (p != to) exchange(n, a, k, to, p);
        if (order == 1 && !singular) eliminate_one(n, a, k);
        if (order == 2) eliminate_two(n, a, k);
        pivot[k] = pivot[to] = order == 1 ? p + 1 : -p - 1;
    }
}

/* x = D^-1 L^-1 P x, then x = P' L^-T x. */
static void forward(int n, const double *a, const int *pivot, double *x)
{
    for (int k = 0; k < n;) {
        const double *l = a + AT(0, k, n), *m = l + n;
        if (pivot[k] > 0) {
            swap(&x[k], &x[pivot[k] - 1]);
            for (int i = k + 1; i < n; i++) x[i] -= l[i] * x[k];
            x[k] /= l[k];
            k++;
            continue;
        }
        swap(&x[k + 1], &x[-pivot[k] - 1]);
        for (int i = k + 2; i < n; i++) x[i] -= l[i] * x[k] + m[i] * x[k + 1];
        double off = l[k + 1], d1 = l[k] / off, d2 = m[k + 1] / off, r = d1 * d2 - 1;
        double y = x[k] / off, z = x[k + 1] / off;
        x[k] = (d2 * y - z) / r;
        x[k + 1] = (d1 * z - y) / r;
        k += 2;
    }
}

static void backward(int n, const double *a, const int *pivot, double *x)
{
    for (int k = n - 1; k >= 0;) {
        int order = pivot[k] > 0 ? 1 : 2, p = order == 1 ? pivot[k] - 1 : -pivot[k] - 1;
        for (int c = k; c > k - order; c--) {
            const double *l = a + AT(0, c, n);
            for (int i = k + 1; i < n; i++) x[c] -= l[i] * x[i];
        }
        swap(&x[k], &x[p]);
        k -= order;
    }
}

void dsytrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *lda,
             const int *pivot, double *b, const int *ldb, int *info, size_t length)
{
    (void)uplo, (void)lda, (void)length;
    for (int j = 0; j < *nrhs; j++) {
        forward(*n, a, pivot, b + AT(0, j, *ldb));
        backward(*n, a, pivot, b + AT(0, j, *ldb));
    }
    *info = 0;
}
