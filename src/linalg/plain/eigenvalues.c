/* Eigenvalues of a real matrix without LAPACK: balanced by powers of 2 [PR69], reduced to Hessenberg form by
 * reflections, then the implicit QR iteration with double shifts, [GVL] 7.5. Real pairs stay real, complex
 * ones are exact conjugates, the one with the positive imaginary part first.
 * [PR69] Parlett, Reinsch, Numer. Math. 13 (1969) 293-304. [GVL] Golub, Van Loan, Matrix Computations. */
#include "linalg/eigenvalues.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#define H(i, j) h[(size_t)(i) + (size_t)(j) * (size_t)n]
#define ITERATIONS 60 /* for one eigenvalue; usual are 2 to 4 */

static void balance(int n, double *h)
{
    for (int again = 1; again;) {
        again = 0;
        for (int i = 0; i < n; i++) {
            double row = 0, column = 0, f = 1;
            for (int j = 0; j < n; j++) {
                if (j != i) row += fabs(H(i, j)), column += fabs(H(j, i));
            }
            if (!(row > 0) || !(column > 0) || row > DBL_MAX || column > DBL_MAX) continue;
            double sum = row + column;
            for (; column < row / 2; column *= 4) f *= 2;
            for (; column > row * 2; column /= 4) f /= 2;
            if ((row + column) / f >= 0.95 * sum) continue; /* [PR69] */
            again = 1;
            for (int j = 0; j < n; j++) H(i, j) /= f;
            for (int j = 0; j < n; j++) H(j, i) *= f;
        }
    }
}

/* v becomes the vector of the reflection I - tau v v' (v[0] = 1) that takes it to a multiple of e1. */
static double reflection(int m, double *v)
{
    double most = 0, sum = 0;
    for (int i = 0; i < m; i++) most = fmax(most, fabs(v[i]));
    double rest = 0;
    for (int i = 1; i < m; i++) rest = fmax(rest, fabs(v[i]));
    if (rest == 0) return 0;
    for (int i = 0; i < m; i++) sum += (v[i] / most) * (v[i] / most);
    double length = most * sqrt(sum), alpha = v[0] > 0 ? -length : length, head = v[0] - alpha;
    double tau = -head / alpha;
    v[0] = 1;
    for (int i = 1; i < m; i++) v[i] /= head;
    return tau;
}

/* Reflects rows (columns) k .. k+m-1 of h, in columns (rows) from .. to. */
static void reflect_rows(int n, double *h, int k, int m, const double *v, double tau, int from, int to)
{
    for (int j = from; j <= to; j++) {
        double x = 0;
        for (int i = 0; i < m; i++) x += v[i] * H(k + i, j);
        for (int i = 0; i < m; i++) H(k + i, j) -= tau * x * v[i];
    }
}

static void reflect_columns(int n, double *h, int k, int m, const double *v, double tau, int from, int to)
{
    for (int i = from; i <= to; i++) {
        double x = 0;
        for (int j = 0; j < m; j++) x += v[j] * H(i, k + j);
        for (int j = 0; j < m; j++) H(i, k + j) -= tau * x * v[j];
    }
}

static void reduce(int n, double *h, double *v)
{
    for (int k = 0; k < n - 2; k++) {
        int m = n - k - 1;
        for (int i = 0; i < m; i++) v[i] = H(k + 1 + i, k);
        double tau = reflection(m, v);
        reflect_rows(n, h, k + 1, m, v, tau, k, n - 1);
        reflect_columns(n, h, k + 1, m, v, tau, 0, n - 1);
        for (int i = k + 2; i < n; i++) H(i, k) = 0;
    }
}

/* One sweep of [GVL] 7.5.1 on rows and columns low .. high; sum and product of the two shifts. */
static void sweep(int n, double *h, int low, int high, double sum, double product)
{
    double v[3] = {H(low, low) * (H(low, low) - sum) + H(low, low + 1) * H(low + 1, low) + product,
                   H(low + 1, low) * (H(low, low) + H(low + 1, low + 1) - sum),
                   H(low + 1, low) * H(low + 2, low + 1)};
    for (int k = low; k < high; k++) {
        int m = k + 2 <= high ? 3 : 2;
        double tau = reflection(m, v);
        reflect_rows(n, h, k, m, v, tau, k > low ? k - 1 : low, high);
        reflect_columns(n, h, k, m, v, tau, low, k + 3 < high ? k + 3 : high);
        if (k > low) H(k + 1, k - 1) = 0;
        if (k > low && m == 3) H(k + 2, k - 1) = 0;
        for (int i = 0; i < 3; i++) v[i] = k + 1 + i <= high ? H(k + 1 + i, k) : 0;
    }
}

/* Eigenvalues of [a b; c d]. */
static void pair(double a, double b, double c, double d, double *re, double *im)
{
    double p = (a - d) / 2, q = p * p + b * c, root = sqrt(fabs(q));
    im[0] = im[1] = 0;
    if (q < 0) {
        re[0] = re[1] = d + p;
        im[0] = root;
        im[1] = -root;
        return;
    }
    double z = p < 0 ? p - root : p + root;
    re[0] = d + z;
    re[1] = z != 0 ? d - b * c / z : d;
}

/* The first row of the block that ends at high: what stands left of it is negligible. */
static int block_start(int n, double *h, int high, double norm)
{
    int low = high;
    for (; low > 0; low--) {
        double size = fabs(H(low - 1, low - 1)) + fabs(H(low, low));
        if (fabs(H(low, low - 1)) <= DBL_EPSILON * (size > 0 ? size : norm)) break;
    }
    if (low > 0) H(low, low - 1) = 0;
    return low;
}

static int iterate(int n, double *h, double *re, double *im)
{
    double norm = 0;
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++) norm = fmax(norm, fabs(h[i]));
    for (int high = n - 1, count = 0; high >= 0; count++) {
        int low = block_start(n, h, high, norm), order = high - low + 1;
        if (order == 1) re[high] = H(high, high), im[high] = 0;
        if (order == 2) {
            pair(H(low, low), H(low, high), H(high, low), H(high, high), re + low, im + low);
        }
        if (order <= 2) {
            high -= order;
            count = -1;
            continue;
        }
        if (count > ITERATIONS) return high + 1;
        double a = H(high - 1, high - 1), d = H(high, high);
        double sum = a + d, product = a * d - H(high, high - 1) * H(high - 1, high);
        if (count % 10 == 9) { /* shifts from outside, against cycles */
            double w = fabs(H(high, high - 1)) + fabs(H(high - 1, high - 2));
            sum = 1.5 * w;
            product = w * w;
        }
        sweep(n, h, low, high, sum, product);
    }
    return 0;
}

int dae_eigenvalues(int n, double *a, double *re, double *im)
{
    for (size_t i = 0; i < (size_t)n * (size_t)n; i++) {
        if (!isfinite(a[i])) return -1;
    }
    balance(n, a);
    reduce(n, a, re); /* re is work space until then */
    return iterate(n, a, re, im);
}
