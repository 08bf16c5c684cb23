/* Curves through points, see curve.h. Splines: natural (no curvature at the ends). Monotone cubics: slopes by the weighted
 * harmonic mean of Fritsch and Butland (SIAM J. Sci. Stat. Comput. 5, 1984), ends by the three-point formula, limited. */
#include "language/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TURNS = 1000000 }; /* of a periodic curve: further ones are not told apart */

/* Slopes of the natural spline: h_k-1 .. tridiagonal in the slopes, solved from both ends. work: 2n. */
static void spline_slopes(int n, const double *x, const double *y, double *m, double *work)
{
    double *diagonal = work, *right = work + n;
    for (int k = 0; k < n;
         k++) { /* rows: (1/h0) m[k-1] + 2 (1/h0 + 1/h1) m[k] + (1/h1) m[k+1] = 3 (d0/h0 + d1/h1) */
        double i0 = k > 0 ? 1 / (x[k] - x[k - 1]) : 0, i1 = k < n - 1 ? 1 / (x[k + 1] - x[k]) : 0;
        double d0 = k > 0 ? (y[k] - y[k - 1]) * i0 * i0 : 0, d1 = k < n - 1 ? (y[k + 1] - y[k]) * i1 * i1 : 0;
        diagonal[k] = 2 * (i0 + i1);
        right[k] = 3 * (d0 + d1);
        if (k == 0) continue;
        double f = i0 / diagonal[k - 1];
        diagonal[k] -= f * i0;
        right[k] -= f * right[k - 1];
    }
    for (int k = n - 1; k >= 0; k--) {
        double i1 = k < n - 1 ? 1 / (x[k + 1] - x[k]) : 0;
        m[k] = (right[k] - (k < n - 1 ? i1 * m[k + 1] : 0)) / diagonal[k];
    }
}

static double end_slope(double h0, double h1, double d0, double d1)
{
    double m = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    if (m * d0 <= 0) return 0;
    return d0 * d1 <= 0 && fabs(m) > 3 * fabs(d0) ? 3 * d0 : m;
}

static void monotone_slopes(int n, const double *x, const double *y, double *m)
{
    for (int k = 0; k < n; k++) {
        int a = k == 0 ? 0 : k == n - 1 ? n - 2 : k - 1, b = k == 0 ? 1 : k == n - 1 ? n - 3 : k;
        if (n == 2) {
            m[k] = (y[1] - y[0]) / (x[1] - x[0]);
            continue;
        }
        double h0 = x[a + 1] - x[a], h1 = x[b + 1] - x[b], d0 = (y[a + 1] - y[a]) / h0,
               d1 = (y[b + 1] - y[b]) / h1;
        if (k == 0 || k == n - 1) m[k] = end_slope(h0, h1, d0, d1);
        else if (d0 * d1 <= 0) m[k] = 0;
        else m[k] = 3 * (h0 + h1) / ((2 * h1 + h0) / d0 + (h1 + 2 * h0) / d1);
    }
}

static void cubic(double h, double y0, double y1, double m0, double m1, double *c)
{
    double d = (y1 - y0) / h;
    c[0] = y0;
    c[1] = m0;
    c[2] = (3 * d - 2 * m0 - m1) / h;
    c[3] = (m0 + m1 - 2 * d) / (h * h);
}

dae_curve *dae_curve_create(dae_curve_kind kind, dae_curve_outside outside, int n, const double *x,
                            const double *y)
{
    dae_curve *c = calloc(1, sizeof *c);
    size_t size = (size_t)n;
    double *work = malloc(3 * size * sizeof *work), *m = work ? work + 2 * size : NULL;
    if (c) c->x = malloc(size * sizeof *c->x), c->c = calloc(4 * size, sizeof *c->c);
    if (!c || !work || !c->x || !c->c) {
        dae_curve_destroy(c);
        free(work);
        return NULL;
    }
    c->kind = kind, c->outside = outside, c->n = n;
    memcpy(c->x, x, size * sizeof *x);
    memset(m, 0, size * sizeof *m);
    if (kind == DAE_CURVE_SPLINE) spline_slopes(n, x, y, m, work);
    if (kind == DAE_CURVE_PCHIP) monotone_slopes(n, x, y, m);
    for (int k = 0; k < n - 1; k++) {
        double h = x[k + 1] - x[k], *p = c->c + 4 * k;
        p[0] = y[k];
        if (kind == DAE_CURVE_LINEAR) p[1] = (y[k + 1] - y[k]) / h;
        if (kind == DAE_CURVE_SPLINE || kind == DAE_CURVE_PCHIP) cubic(h, y[k], y[k + 1], m[k], m[k + 1], p);
    }
    c->c[4 * (n - 1)] = y[n - 1]; /* what holds beyond the last point */
    if (kind == DAE_CURVE_LINEAR && n > 1) c->left = c->c[1], c->right = c->c[4 * (n - 2) + 1];
    if (kind == DAE_CURVE_SPLINE || kind == DAE_CURVE_PCHIP) c->left = m[0], c->right = m[n - 1];
    free(work);
    return c;
}

dae_curve *dae_curve_copy(const dae_curve *c)
{
    dae_curve *out = malloc(sizeof *out);
    size_t n = (size_t)c->n;
    if (!out) return NULL;
    *out = *c;
    out->x = malloc(n * sizeof *out->x);
    out->c = malloc(4 * n * sizeof *out->c);
    if (out->x && out->c) {
        memcpy(out->x, c->x, n * sizeof *out->x);
        memcpy(out->c, c->c, 4 * n * sizeof *out->c);
        return out;
    }
    dae_curve_destroy(out);
    return NULL;
}

void dae_curve_destroy(dae_curve *c)
{
    if (!c) return;
    free(c->x);
    free(c->c);
    free(c);
}

/* Beyond an end: y is the value there, slope the tangent. */
static double beyond(const dae_curve *c, double y, double slope, double distance, int order)
{
    if (c->outside == DAE_CURVE_ERROR && distance != 0) return NAN;
    if (c->outside == DAE_CURVE_HOLD || c->kind == DAE_CURVE_STEP) slope = 0;
    return order == 0 ? y + slope * distance : order == 1 ? slope : 0;
}

static double cubic_value(const double *p, double s, int order)
{
    switch (order) {
    case 0: return p[0] + s * (p[1] + s * (p[2] + s * p[3]));
    case 1: return p[1] + s * (2 * p[2] + s * 3 * p[3]);
    case 2: return 2 * p[2] + 6 * s * p[3];
    case 3: return 6 * p[3];
    default: return 0;
    }
}

/* Full turns of a periodic curve before x. */
static double turns(const dae_curve *c, double x)
{
    if (c->outside != DAE_CURVE_PERIODIC || c->n < 2) return 0;
    double turn = floor((x - c->x[0]) / (c->x[c->n - 1] - c->x[0]));
    return turn > MAX_TURNS ? MAX_TURNS : turn < -MAX_TURNS ? -MAX_TURNS : turn;
}

int dae_curve_segment(const dae_curve *c, double x)
{
    double turn = turns(c, x);
    int a = -1, b = c->n; /* x[a] <= x < x[b] */
    if (turn != 0) x -= turn * (c->x[c->n - 1] - c->x[0]);
    while (b - a > 1) {
        int mid = a + (b - a) / 2;
        if (x >= c->x[mid]) a = mid;
        else b = mid;
    }
    return (int)turn * (c->n - 1) + a;
}

/* The turn that a segment belongs to; *k: its number in the first turn. */
static double turn_of(const dae_curve *c, int segment, int *k)
{
    int cells = c->n - 1, turn = 0;
    if (c->outside == DAE_CURVE_PERIODIC && cells > 0)
        turn = segment >= 0 ? segment / cells : -((cells - 1 - segment) / cells);
    *k = segment - turn * cells;
    return turn;
}

void dae_curve_ends(const dae_curve *c, int segment, double *lo, double *hi)
{
    int k;
    double shift = turn_of(c, segment, &k) * (c->x[c->n - 1] - c->x[0]);
    *lo = k < 0 ? -INFINITY : c->x[k < c->n ? k : c->n - 1] + shift;
    *hi = k + 1 >= c->n ? INFINITY : c->x[k + 1] + shift;
}

double dae_curve_piece(const dae_curve *c, int segment, double x, int order)
{
    int k, n = c->n;
    double shift = turn_of(c, segment, &k) * (c->x[n - 1] - c->x[0]);
    x -= shift;
    if (k < 0) return beyond(c, c->c[0], c->left, x - c->x[0], order);
    if (k >= n - 1) return beyond(c, c->c[4 * (n - 1)], c->right, x - c->x[n - 1], order);
    return cubic_value(c->c + 4 * k, x - c->x[k], order);
}

double dae_curve_value(const dae_curve *c, double x, int order)
{
    if (!(x == x)) return NAN;
    return dae_curve_piece(c, dae_curve_segment(c, x), x, order);
}
