/* One-sided Jacobi rotations (Hestenes 1958; [DV92]): columns of A are rotated in pairs until all are orthogonal,
 *     A V = U diag(s).
 * Small singular values come out with high relative accuracy where the columns are well scaled, which is what a rank needs, and
 * there is nothing to link. O(m n^2) per sweep, about six sweeps: for some hundreds of columns at most. */
#include "linalg/svd.h"

#include <float.h>
#include <math.h>

enum { MAX_SWEEPS = 60 };

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void rotate(int n, double *a, double *b, double c, double s)
{
    for (int i = 0; i < n; i++) {
        double x = a[i], y = b[i];
        a[i] = c * x - s * y;
        b[i] = s * x + c * y;
    }
}

/* Makes columns p and q orthogonal; 1 if they were not. */
static int orthogonal(int m, int n, double *A, double *V, int p, int q)
{
    double *a = A + (long)p * m, *b = A + (long)q * m, alpha = dot(m, a, a), beta = dot(m, b, b),
           gamma = dot(m, a, b);
    if (fabs(gamma) <= 4 * DBL_EPSILON * sqrt(alpha) * sqrt(beta)) return 0;
    double zeta = (beta - alpha) / (2 * gamma), t = (zeta > 0 ? 1 : -1) / (fabs(zeta) + hypot(1, zeta)),
           c = 1 / hypot(1, t);
    rotate(m, a, b, c, c * t);
    if (V) rotate(n, V + (long)p * n, V + (long)q * n, c, c * t);
    return 1;
}

static void exchange(int n, double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        double x = a[i];
        a[i] = b[i];
        b[i] = x;
    }
}

int dae_svd(int m, int n, double *A, double *s, double *V)
{
    int turned = 1;
    for (int i = 0; V && i < n * n; i++) V[i] = i % (n + 1) == 0;
    for (int sweep = 0; turned && sweep < MAX_SWEEPS; sweep++) {
        turned = 0;
        for (int p = 0; p < n; p++) {
            for (int q = p + 1; q < n; q++) turned |= orthogonal(m, n, A, V, p, q);
        }
    }
    for (int j = 0; j < n; j++) s[j] = sqrt(dot(m, A + (long)j * m, A + (long)j * m));
    for (int j = 0; j < n; j++) {
        int largest = j;
        for (int k = j + 1; k < n; k++) largest = s[k] > s[largest] ? k : largest;
        if (largest != j) {
            exchange(m, A + (long)j * m, A + (long)largest * m);
            if (V) exchange(n, V + (long)j * n, V + (long)largest * n);
            exchange(1, s + j, s + largest);
        }
        for (int i = 0; i < m && s[j] > 0; i++) A[(long)j * m + i] /= s[j];
    }
    return turned;
}
