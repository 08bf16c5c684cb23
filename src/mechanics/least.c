#include "mechanics/least.h"

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

/* The lower triangle, by columns; its diagonal holds the reciprocals of the pivots. */
int dae_least_factor(dae_least *x, const double *G)
{
    int n = x->nl;
    double *S = x->S;
    for (int i = 0; i < n * n; i++) S[i] = 0;
    for (int c = 0; c < x->nv; c++) {
        const double *g = G + c * n;
        for (int j = 0; j < n; j++) {
            double a = x->W[c] * g[j];
            if (a == 0) continue;
            for (int i = j; i < n; i++) S[i + j * n] += a * g[i];
        }
    }
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

void dae_least_correction(const dae_least *x, const double *G, double *r, double *w)
{
    int n = x->nl;
    const double *S = x->S;
    for (int k = 0; k < n; k++) {
        for (int j = 0; j < k; j++) r[k] -= S[k + j * n] * r[j];
        r[k] *= S[k + k * n];
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int i = k + 1; i < n; i++) r[k] -= S[i + k * n] * r[i];
        r[k] *= S[k + k * n];
    }
    for (int c = 0; c < x->nv; c++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += G[i + c * n] * r[i];
        w[c] = -x->W[c] * sum;
    }
}
