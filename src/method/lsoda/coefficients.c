#include "method/lsoda/coefficients.h"

#include <string.h>

static double factorial(int n)
{
    double f = 1;
    for (int i = 2; i <= n; i++) f *= i;
    return f;
}

/* p = (x+1)(x+2) .. (x+n), p[i] the coefficient of x^i */
static void product(int n, double *p)
{
    memset(p, 0, DAE_LSODA_WIDTH * sizeof *p);
    p[0] = 1;
    for (int k = 1; k <= n; k++) {
        for (int i = k; i > 0; i--) p[i] = k * p[i] + p[i - 1];
        p[0] *= k;
    }
}

void dae_lsoda_bdf(int q, dae_lsoda_formula *out)
{
    double p[DAE_LSODA_WIDTH];
    *out = (dae_lsoda_formula){.l = {0}};
    product(q, p);
    for (int j = 0; j <= q; j++) out->l[j] = p[j] / p[1];
    out->t1 = 1 / factorial(q - 1);
    out->t2 = (q + 1) / out->l[0];
    out->t3 = (q + 2) / out->l[0];
}

/* p = (x+1) .. (x+q-1); the sum of (-1)^i p_i/(i+k): -+ the integral of x^(k-1) p(x) from -1 to 0 */
static double integral(int q, const double *p, int k)
{
    double s = 0;
    for (int i = 0; i < q; i++) s += (i % 2 ? -1 : 1) * p[i] / (i + k);
    return s;
}

static double adams_t2(int q)
{
    double p[DAE_LSODA_WIDTH];
    product(q - 1, p);
    return factorial(q) / integral(q, p, 2);
}

void dae_lsoda_adams(int q, dae_lsoda_formula *out)
{
    double p[DAE_LSODA_WIDTH], scale = 1 / factorial(q - 1);
    *out = (dae_lsoda_formula){.l = {0}};
    product(q - 1, p);
    out->l[0] = scale * integral(q, p, 1);
    out->l[1] = 1;
    for (int i = 1; i < q; i++) out->l[i + 1] = scale * p[i] / (i + 1);
    out->t2 = adams_t2(q);
    if (q < DAE_LSODA_ADAMS_MAX) out->t3 = adams_t2(q + 1);
    if (q > 1) out->t1 = q == 2 ? 1 : adams_t2(q - 1) / (q * factorial(q - 1));
}
