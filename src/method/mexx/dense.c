/* The continuous representation of a step, [MEXX] (2.13) to (2.15).
 *
 * The differences s_i = (y_(i+1) - y_i)/h and the z = (a, lambda) of all substeps of all rows are kept. The m-th
 * differences of them at either end of row j, times n_j^m/m!, are H^m/m! times the m-th derivative of
 * (y', z) with an expansion in h: extrapolated over the rows m .. kappa they give D_m. With
 * nL = (kappa-1)/2, nR = kappa/2 (whole numbers) the polynomials are
 *
 *     Y: left  y, H y', orders 2 .. nL;     right  y, H y', orders 2 .. nR       degree kappa
 *     Z: left  z, orders 1 .. nL-1;         right  z, orders 1 .. nR             degree kappa - 1
 *
 * (the degrees that section 2.4 of the report prints do not match its own list), in Newton's form with
 * the nodes 0, 1, 0, 1, ... of theta = (t - t_n)/H. The right derivative of order nR + 1 is not
 * interpolated; it gives the next coefficient and with it an estimate of the interpolation error. */
#include "method/mexx/mexx.h"

#include "core/vector.h"

/* D_m at the left or right end, all ns components: m-th differences of row j, scaled, extrapolated. */
static void derivative(const mexx *s, int kappa, int m, int right, double *work, double *out)
{
    int ns = s->ns;
    double binomial[MEXX_ROWS + 1] = {1}, factorial = 1;
    for (int k = 1; k <= m; k++) {
        binomial[k] = binomial[k - 1] * (m - k + 1) / k;
        factorial *= k;
    }
    for (int j = m - 1; j < kappa; j++) { /* rows from 0 */
        int n = mexx_steps[j], first = right ? n - 1 - m : 0;
        const double *sample = s->sample + dae_mexx_sample_at(s, j) + (size_t)first * (size_t)ns;
        double scale = 1 / factorial, *row = work + (size_t)(j - m + 1) * (size_t)ns;
        for (int k = 0; k < m; k++) scale *= n;
        dae_zero(ns, row);
        for (int k = 0; k <= m; k++) {
            double c = scale * binomial[k] * ((m - k) % 2 ? -1 : 1);
            dae_axpy(ns, c, sample + (size_t)k * (size_t)ns, row);
        }
    }
    /* Aitken-Neville in place: column by column, from the last row up. */
    int rows = kappa - m + 1;
    for (int k = 1; k < rows; k++) {
        for (int j = rows - 1; j >= k; j--) {
            double ratio = (double)mexx_steps[m - 1 + j] / mexx_steps[m - 1 + j - k], c = 1 / (ratio - 1);
            double *a = work + (size_t)j * (size_t)ns;
            const double *b = a - ns;
            for (int i = 0; i < ns; i++) a[i] += c * (a[i] - b[i]);
        }
    }
    dae_copy(ns, work + (size_t)(rows - 1) * (size_t)ns, out);
}

/* Newton coefficients of one component from its Taylor coefficients at both ends (left: nl of them, right: nr,
 * both zero-based), along the nodes 0, 1, 0, 1, ..., then the rest. */
static void newton(int nl, int nr, const double *left, const double *right, double *c)
{
    double D[MEXX_ROWS + 2][MEXX_ROWS + 2]; /* D[i][k]: i nodes at 0, k nodes at 1 */
    for (int i = 1; i <= nl; i++) D[i][0] = left[i - 1];
    for (int k = 1; k <= nr; k++) D[0][k] = right[k - 1];
    for (int i = 1; i <= nl; i++) {
        for (int k = 1; k <= nr; k++) D[i][k] = D[i - 1][k] - D[i][k - 1];
    }
    for (int n = 0, i = 0, k = 0; n < nl + nr; n++) {
        int take_left = k >= nr || (i < nl && i <= k);
        if (take_left) i++;
        else k++;
        c[n] = D[i][k];
    }
}

/* H^m-scaled derivatives at both ends: place[side][m] in scratch, m = 1 .. */
static double *order(const mexx *s, int side, int m)
{
    return s->scratch + ((size_t)side * (MEXX_ROWS + 1) + (size_t)m) * (size_t)s->ns;
}

/* Taylor coefficients at both ends of component i of y, on the right one more than is interpolated. */
static void taylor_y(const mexx *s, int i, int nL, int nR, double *left, double *right)
{
    int v = s->np, u = s->np + s->nv;
    double H = s->s->H_taken;
    const double *a0 = s->x0 + s->ny, *a1 = s->x1 + s->ny;
    left[0] = s->x0[i];
    left[1] = H * (i < v ? s->pdot0[i] : i < u ? a0[i - v] : s->u0[i - u]);
    right[0] = s->x1[i];
    right[1] = H * (i < v ? s->pdot1[i] : i < u ? a1[i - v] : s->u0[s->nu + i - u]);
    for (int m = 1; m <= nL - 1; m++) left[m + 1] = order(s, 0, m)[i] * H / (m + 1);
    for (int m = 1; m <= nR; m++) right[m + 1] = order(s, 1, m)[i] * H / (m + 1);
}

/* The same of component i of z = (a, lambda): a is y' of v. */
static void taylor_z(const mexx *s, int i, int nL, int nR, double *left, double *right)
{
    int from = i < s->nv ? s->np + i : s->ny + i - s->nv; /* place in the samples */
    left[0] = s->x0[s->ny + i];
    right[0] = s->x1[s->ny + i];
    for (int m = 1; m <= nL - 1; m++) left[m] = order(s, 0, m)[from];
    for (int m = 1; m <= nR; m++) right[m] = order(s, 1, m)[from];
}

void dae_mexx_dense_build(mexx *s)
{
    mexx_state *st = s->s;
    int kappa = st->kappa;
    if (s->opt.dense_max_degree && kappa > s->opt.dense_max_degree) kappa = s->opt.dense_max_degree;
    int nL = (kappa - 1) / 2, nR = kappa / 2;
    for (int m = 1; m <= nL - 1; m++) derivative(s, kappa, m, 0, s->tableau, order(s, 0, m));
    for (int m = 1; m <= nR; m++) derivative(s, kappa, m, 1, s->tableau, order(s, 1, m));
    double worst = 0, theta = (nL + 1.0) / (nL + nR + 3.0), shape = pow(theta, nL + 1) * pow(1 - theta, nR + 1);
    for (int i = 0; i < s->nx; i++) {
        double left[MEXX_ROWS + 2], right[MEXX_ROWS + 2], c[MEXX_ROWS + 3];
        int is_y = i < s->ny, n0 = is_y ? nL + 1 : nL, n1 = nR + 1;
        if (is_y) taylor_y(s, i, nL, nR, left, right);
        else taylor_z(s, i - s->ny, nL, nR, left, right);
        newton(n0, n1, left, right, c);
        for (int k = 0; k < n0 + n1; k++) s->coefficient[(size_t)k * (size_t)s->nx + (size_t)i] = c[k];
        if (!is_y) continue;
        newton(n0, n1 + 1, left, right, c);
        worst = fmax(worst, fabs(c[n0 + n1]) * shape / s->weight[i]);
    }
    st->dense_error = worst;
    st->degree = kappa;
    st->nL = nL;
    st->nR = nR;
    st->dense = 1;
}

/* Node n of the Newton form with n0 nodes at 0 and n1 at 1. */
static double node(int n, int n0, int n1)
{
    int pairs = n0 < n1 ? n0 : n1;
    if (n < 2 * pairs) return n % 2;
    return n0 > n1 ? 0 : 1;
}

static void horner(const mexx *s, int first, int count, int n0, int n1, double theta, double *value, double *slope)
{
    const double *c = s->coefficient + first;
    int n = n0 + n1;
    size_t nx = (size_t)s->nx;
    dae_copy(count, c + (size_t)(n - 1) * nx, value);
    if (slope) dae_zero(count, slope);
    for (int k = n - 2; k >= 0; k--) {
        double x = theta - node(k, n0, n1);
        const double *ck = c + (size_t)k * nx;
        for (int i = 0; slope && i < count; i++) slope[i] = slope[i] * x + value[i];
        for (int i = 0; i < count; i++) value[i] = value[i] * x + ck[i];
    }
}

void dae_mexx_dense_at(const mexx *s, double theta, double *y, double *yp, double *lambda)
{
    const mexx_state *st = s->s;
    if (y) horner(s, 0, s->ny, st->nL + 1, st->nR + 1, theta, y, yp);
    for (int i = 0; yp && i < s->ny; i++) yp[i] /= st->H_taken;
    if (yp) horner(s, s->ny, s->nv, st->nL, st->nR + 1, theta, yp + s->np, NULL);
    if (lambda && s->nl) horner(s, s->ny + s->nv, s->nl, st->nL, st->nR + 1, theta, lambda, NULL);
}
