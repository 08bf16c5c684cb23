#include "mechanics/least.h"

#include <float.h>
#include <math.h>

#define DEPENDENT 1e-12 /* ours: of the diagonal of G W G^T, whose condition is the square of that of G */

int dae_least_init(dae_least *x, int nv, int nl, const double *mass)
{
    x->nv = nv;
    x->nl = nl;
    for (int i = 0; i < nv; i++) {
        if (!(mass[i] > 0)) return 0;
        x->W[i] = 1 / mass[i];
    }
    return 1;
}

/* Inlined with the number of rows a constant where they are few: the same operations in the same order. */
#define INLINE static inline __attribute__((always_inline))

/* S of one or two rows is inverted as it stands: fewer numbers wait for each other. */
INLINE int invert(int n, double *S)
{
    if (n == 1) {
        if (!(S[0] > 0)) return 1;
        S[0] = 1 / S[0];
        return 0;
    }
    double whole = S[0] * S[3], det = whole - S[1] * S[1];
    if (!(det > DEPENDENT * whole)) return 1;
    double q = 1 / det, first = S[0];
    S[0] = q * S[3];
    S[1] = -q * S[1];
    S[3] = q * first;
    return 0;
}

INLINE int factor(int n, int nv, const double *W, const double *G, double *S)
{
    for (int i = 0; i < n * n; i++) S[i] = 0;
    for (int c = 0; c < nv; c++) {
        const double *g = G + c * n;
        for (int j = 0; j < n; j++) {
            double a = W[c] * g[j];
            for (int i = j; i < n; i++) S[i + j * n] += a * g[i];
        }
    }
    if (n <= 2) return invert(n, S);
    for (int k = 0; k < n; k++) {
        double whole = S[k + k * n];
        for (int j = 0; j < k; j++) S[k + k * n] -= S[k + j * n] * S[k + j * n];
        if (!(S[k + k * n] > DEPENDENT * whole)) return 1;
        double pivot = 1 / sqrt(S[k + k * n]);
        S[k + k * n] = pivot;
        for (int i = k + 1; i < n; i++) {
            double sum = S[i + k * n];
            for (int j = 0; j < k; j++) sum -= S[i + j * n] * S[k + j * n];
            S[i + k * n] = sum * pivot;
        }
    }
    return 0;
}

/* The lower triangle, by columns; its diagonal holds the reciprocals of the pivots. Of one or two rows: of the inverse. */
int dae_least_factor(dae_least *x, const double *G)
{
    switch (x->nl) {
    case 1: return factor(1, x->nv, x->W, G, x->S);
    case 2: return factor(2, x->nv, x->W, G, x->S);
    case 3: return factor(3, x->nv, x->W, G, x->S);
    default: return factor(x->nl, x->nv, x->W, G, x->S);
    }
}

/* r <- (G W G^T)^-1 r */
INLINE void solve(int n, const double *S, double *r)
{
    if (n == 1) {
        r[0] *= S[0];
    } else if (n == 2) {
        double first = r[0];
        r[0] = S[0] * first + S[1] * r[1];
        r[1] = S[1] * first + S[3] * r[1];
    }
    for (int k = 0; n > 2 && k < n; k++) {
        for (int j = 0; j < k; j++) r[k] -= S[k + j * n] * r[j];
        r[k] *= S[k + k * n];
    }
    for (int k = n - 1; n > 2 && k >= 0; k--) {
        for (int i = k + 1; i < n; i++) r[k] -= S[i + k * n] * r[i];
        r[k] *= S[k + k * n];
    }
}

/* rate: low + G value is corrected, else low. */
INLINE double correct(int n, int rate, const dae_least *x, const double *G, const double *low, double least,
                      double most, double *value)
{
    double r[DAE_LEAST_ROWS], w[DAE_LEAST_COLUMNS], largest = 0, off = 0;
    int nv = x->nv;
    for (int i = 0; i < n; i++) r[i] = low[i];
    for (int c = 0; rate && c < nv; c++) {
        for (int i = 0; i < n; i++) r[i] += value[c] * G[i + c * n];
    }
    solve(n, x->S, r);
    for (int c = 0; c < nv; c++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += G[i + c * n] * r[i];
        w[c] = -x->W[c] * sum;
        off += w[c] - w[c];
        largest = fabs(w[c]) > largest ? fabs(w[c]) : largest;
    }
    if (!(largest + off > least && largest <= most)) return largest + off;
    for (int c = 0; c < nv; c++) value[c] += w[c];
    return largest;
}

double dae_least_correct(const dae_least *x, const double *G, const double *r, double least, double most,
                         double *value)
{
    switch (x->nl) {
    case 1: return correct(1, 0, x, G, r, least, most, value);
    case 2: return correct(2, 0, x, G, r, least, most, value);
    case 3: return correct(3, 0, x, G, r, least, most, value);
    default: return correct(x->nl, 0, x, G, r, least, most, value);
    }
}

double dae_least_correct_rate(const dae_least *x, const double *G, const double *low, double *value)
{
    switch (x->nl) {
    case 1: return correct(1, 1, x, G, low, -1, DBL_MAX, value);
    case 2: return correct(2, 1, x, G, low, -1, DBL_MAX, value);
    case 3: return correct(3, 1, x, G, low, -1, DBL_MAX, value);
    default: return correct(x->nl, 1, x, G, low, -1, DBL_MAX, value);
    }
}
