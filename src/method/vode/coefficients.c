#include "method/vode/coefficients.h"

#include <math.h>

/* 1 + 1/2 + .. + 1/q */
static const double harmonic[DAE_VODE_BDF_MAX + 2] = {0, 1, 1.5, 11.0 / 6, 25.0 / 12, 137.0 / 60, 49.0 / 20};

/* p, of degree k-1, times (1 + r x) */
static void times_root(double *p, int k, double r)
{
    p[k] = 0;
    for (int j = k; j >= 1; j--) p[j] += r * p[j - 1];
}

/* sum_j l_j x^j = (1 + x/xi*) prod_(i<q) (1 + x/xi_i) with 1/xi* such that l_1 = harmonic[q]. */
void dae_vode_bdf(int q, double h, const double *tau, int all, dae_vode_formula *out)
{
    double sum = h, s = 0, p = 1, *l = out->l; /* s, p: sum and product of 1/xi_i, i < q */
    l[0] = 1;
    for (int i = 1; i < q; i++) {
        double r = h / sum;
        times_root(l, i, r);
        s += r;
        p *= r;
        sum += tau[i - 1];
    }
    times_root(l, q, harmonic[q] - s);
    double r = h / sum, a = -harmonic[q], b = -s - r, s1 = 1 - b + a, s2 = 1 + q * s1;
    out->t2 = fabs(a * s2 / s1);
    out->t5 = fabs(s2 / (r * p));
    if (!all) return;
    double down = a + 1.0 / q, up = a - 1.0 / (q + 1), next = h / (sum + tau[q - 1]);
    out->t1 = fabs(down / (1 - (b + r) + down) * p);
    out->t3 = fabs(s2 / (1 - (b - next) + up) * (q + 2) * up * next);
}

/* - int_(-1)^0 x^(shift-1) p, with the sign that makes it positive: sum (-1)^i e_i/(i + shift). */
static double integral(const double *e, int degree, int shift)
{
    double s = 0;
    for (int i = degree; i >= 0; i--) s = e[i] / (i + shift) - s;
    return s;
}

void dae_vode_adams(int q, double h, const double *tau, int all, dae_vode_formula *out)
{
    if (q == 1) {
        *out = (dae_vode_formula){.l = {1, 1}, .t1 = 1, .t2 = 2, .t3 = 12, .t5 = 1};
        return;
    }
    double e[DAE_VODE_WIDTH] = {1}, sum = h, *l = out->l; /* e: prod_(i<q) (1 + x/xi_i) */
    for (int i = 1; i < q; i++) {
        if (all && i == q - 1) out->t1 = e[q - 2] / (q * integral(e, q - 2, 2));
        times_root(e, i, h / sum);
        sum += tau[i - 1];
    }
    double i0 = 0, i1 = 0, sign = 1;
    for (int i = 0; i < q; i++, sign = -sign) {
        i0 += sign * e[i] / (i + 1);
        i1 += sign * e[i] / (i + 2);
    }
    l[0] = 1;
    for (int i = 0; i < q; i++) l[i + 1] = e[i] / ((i + 1) * i0);
    double xi = sum / h;
    out->t2 = xi * i0 / i1;
    out->t5 = xi / l[q];
    if (!all) return;
    times_root(e, q, 1 / xi);
    out->t3 = (q + 1) * i0 / integral(e, q, 2);
}

/* p, whose highest power is x^k, times (x + r) */
static void times_linear(double *p, int k, double r)
{
    p[k + 1] = 0;
    for (int j = k + 1; j >= 1; j--) p[j] = p[j - 1] + r * p[j];
    p[0] *= r;
}

/* x^2 prod_(i=1)^(q-2) (x + xi_i), here xi_i = (tau[0] + .. + tau[i-1])/h */
void dae_vode_bdf_lower(int q, double h, const double *tau, double *d)
{
    double sum = 0;
    d[0] = d[1] = 0;
    d[2] = 1;
    for (int i = 1; i <= q - 2; i++) {
        sum += tau[i - 1];
        times_linear(d, i + 1, sum / h);
    }
}

/* q times the integral of x prod_(i=1)^(q-2) (x + xi_i) */
void dae_vode_adams_lower(int q, double h, const double *tau, int slip, double *d)
{
    double c[DAE_VODE_WIDTH] = {0, 1}, sum = 0;
    for (int i = 1; i <= q - 2; i++) {
        sum += tau[i - 1];
        times_linear(c, i, sum / h);
    }
    for (int j = 2; j <= q; j++) d[j] = q * (slip && j > 2 ? d[j - 1] : c[j - 1]) / j;
}

double dae_vode_bdf_raise(int q, double h, const double *tau, double *d)
{
    double sum = h, s = 0, p = 1;
    d[0] = d[1] = 0;
    d[2] = 1;
    for (int i = 1; i <= q; i++) {
        if (i > 1) sum += tau[i - 1];
        double xi = sum / h;
        s += 1 / xi;
        p *= xi;
        if (i < q) times_linear(d, i + 1, xi);
    }
    return (harmonic[q] - s) / p;
}
