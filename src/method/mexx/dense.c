/* The continuous representation of a step, [MEXX] (2.13) to (2.15), and where that does not reach, a finer one.
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
 * interpolated; it gives the next coefficient and with it an estimate of the interpolation error.
 *
 * Many rows resolve a motion that changes quickly inside the step, but what is known at its ends does not. The
 * rows with even n_j have a point in the middle: y, z and the differences there, extrapolated over these rows, are
 * data for two polynomials, one for each half. Their error is that of y in the middle, from the last two columns of its
 * tableau, and the interpolation error as above. Where the estimate of the whole is not well below the tolerance and that
 * of the halves is smaller, the halves are taken (ours; seven bodies, 1e-9: error of v inside the steps 2e5 -> 15 times the
 * tolerance). Where both are not, rows are added to the tableau for the dense output only. */
#include "method/mexx/mexx.h"

#include "core/vector.h"
#include "linalg/kernel.h"

#include <float.h>
#include <math.h>

/* estimated error, in the weights below, up to which the polynomial is good enough, */
#define FINE 0.3  /* ours: the next coefficient alone tells too little, up to 10 times */
#define ROUGH 3.0 /* and above which points are moved onto the constraints; ours */
/* the halves are taken even if their estimate is larger by this: that of the whole is the less sure one */
#define TRUST 10.0

enum { Y, Z };
enum {
    LEFT,
    RIGHT,
    MIDDLE,
    MOST_MIDDLE = MEXX_DIFFERENCES,
    MOST_NODES = 11,
    CHUNK = 16
}; /* CHUNK: components at a time */

/* Row `row` of the data at one place, ns each. LEFT, RIGHT: D_m in row m; MIDDLE: too, s(1/2) in row 0 and y(1/2) in the last row,
 * before it the change of that in its last column. */
static double *data(const mexx *s, int place, int row)
{
    return s->scratch + ((size_t)place * (MEXX_ROWS + 1) + (size_t)row) * (size_t)s->ns;
}

/* The tables that the first dense output needs. */
static void fill_tables(mexx *s)
{
    int even[MEXX_ROWS], count = 0;
    for (int j = 0; j < MEXX_ROWS; j++) {
        if (mexx_steps[j] % 2 == 0) even[count++] = mexx_steps[j];
    }
    for (int a = 0; a < MEXX_ROWS; a++) {
        for (int b = a + 1; b <= MEXX_ROWS; b++) {
            for (int j = a; j < b; j++) {
                double all = 1, some = 1;
                for (int k = a; k < b; k++) {
                    if (k == j) continue;
                    all *= mexx_steps[j] / (double)(mexx_steps[j] - mexx_steps[k]);
                    if (b <= count) some *= even[j] / (double)(even[j] - even[k]);
                }
                s->from_all[a][b][j] = all;
                s->from_even[a][b][j] = some;
            }
        }
    }
    for (int m = 0; m <= MEXX_DIFFERENCES; m++) {
        double c = m % 2 ? -1 : 1;
        for (int k = 2; k <= m; k++) c /= k;
        for (int k = 0; k <= m; k++) {
            s->binomial[m][k] = c;
            c *= -(double)(m - k) / (k + 1);
        }
    }
}

/* out += sum over k <= m of c a_k times sample k. */
DAE_KERNEL_BODY void sum_samples(int n, int m, double c, const double *a, const double *restrict sample,
                                 double *restrict out)
{
    int k = 0;
    for (; k + 1 <= m; k += 2, sample += 2 * n) { /* two at a time, one after the other */
        double a0 = c * a[k], a1 = c * a[k + 1];
        for (int i = 0; i < n; i++) out[i] = out[i] + a0 * sample[i] + a1 * sample[n + i];
    }
    if (k <= m) dae_axpy(n, c * a[k], sample, out);
}

DAE_KERNEL(void, add_samples, (int n, int m, double c, const double *a, const double *sample, double *out),
           sum_samples(n, m, c, a, sample, out))

/* out += c n^m/m! times the m-th difference of the samples of a row from the given one on. */
static void add_difference(const mexx *s, double c, int n, int m, const double *sample, double *out)
{
    for (int k = 0; k < m; k++) c *= n;
    DAE_KERNEL_PICK(add_samples, 0)(s->ns, m, c, s->binomial[m], sample, out);
}

/* D_m at the left or right end from the rows m .. kappa. */
static void end_derivative(const mexx *s, int kappa, int m, int place)
{
    const double *w = s->from_all[m - 1][kappa];
    double *out = data(s, place, m);
    dae_zero(s->ns, out);
    for (int j = m - 1; j < kappa; j++) { /* rows from 0 */
        int n = mexx_steps[j], first = place == RIGHT ? n - 1 - m : 0;
        add_difference(s, w[j], n, m, s->sample + dae_mexx_sample_at(s, j) + (size_t)first * (size_t)s->ns,
                       out);
    }
}

/* Values and derivatives in the middle from the rows of even n; orders of (y', z) up to the given one. */
static void middle_data(const mexx *s, const int *row, int rows, int order)
{
    int ns = s->ns, n[MEXX_ROWS];
    const double *w = s->from_even[0][rows], *less = s->from_even[1][rows];
    double *y = data(s, MIDDLE, MEXX_ROWS), *change = data(s, MIDDLE, MEXX_ROWS - 1);
    for (int k = 0; k < rows; k++) n[k] = mexx_steps[row[k]];
    for (int m = 0; m <= order; m++) {
        double *out = data(s, MIDDLE, m);
        int from = 0;
        while (n[from] <= m) from++;
        const double *we = s->from_even[from][rows];
        dae_zero(ns, out);
        for (int k = from; k < rows; k++) {
            int half = n[k] / 2,
                first = half - (m + 1) / 2 < n[k] - 1 - m ? half - (m + 1) / 2 : n[k] - 1 - m;
            const double *sample = s->sample + dae_mexx_sample_at(s, row[k]);
            if (m > 0) {
                add_difference(s, we[k], n[k], m, sample + (size_t)first * (size_t)ns, out);
            } else { /* z_i is in sample i - 1, p'_i in sample i */
                dae_axpy(s->np, we[k], sample + (size_t)half * (size_t)ns, out);
                dae_axpy(ns - s->np, we[k], sample + (size_t)(half - 1) * (size_t)ns + s->np, out + s->np);
            }
        }
    }
    /* y, and what its last column changes: the rows but the first give the other value. */
    dae_copy(s->ny, s->x0, y);
    dae_zero(s->ny, change);
    for (int k = 0; k < rows; k++) {
        const double *sample = s->sample + dae_mexx_sample_at(s, row[k]);
        double *sum = s->tableau, h = s->s->H_taken / n[k];
        dae_zero(s->ny, sum);
        for (int i = 0; i < n[k] / 2; i++) dae_axpy(s->ny, 1, sample + (size_t)i * (size_t)ns, sum);
        dae_axpy(s->ny, h * w[k], sum, y);
        dae_axpy(s->ny, h * (k ? w[k] - less[k] : w[k]), sum, change);
    }
}

/* A block of components of x = (p, v, u, a, lambda): where it begins in x and in the samples (a is y' of v). */
typedef struct block {
    int first, count, from, is_y;
} block;

/* Taylor coefficients in theta of n <= CHUNK components of a block at a place, count of them; the steps of theta are
 * unit H. */
static void taylor(const mexx *s, int place, const block *b, int at, int n, int count, double unit,
                   double c[][CHUNK])
{
    double H = s->s->H_taken, scale = 1;
    int i = b->first + at, from = b->from + at, first = 1;
    const double *value = place == MIDDLE
                              ? b->is_y ? data(s, MIDDLE, MEXX_ROWS) + i : data(s, MIDDLE, 0) + from
                              : (place == LEFT ? s->x0 : s->x1) + i;
    if (count < 1) return;
    dae_copy(n, value, c[0]);
    if (b->is_y && count > 1) {
        const double *x = place == LEFT ? s->x0 : s->x1, *slope = data(s, MIDDLE, 0) + from;
        if (place != MIDDLE && i < s->np) slope = (place == LEFT ? s->pdot0 : s->pdot1) + i;
        else if (place != MIDDLE && i < s->np + s->nv) slope = x + s->ny + i - s->np;
        else if (place != MIDDLE) slope = s->u0 + (place == LEFT ? 0 : s->nu) + i - s->np - s->nv;
        for (int k = 0; k < n; k++) c[1][k] = H * unit * slope[k];
        scale = unit;
        first = 2;
    }
    for (int m = first; m < count; m++) {
        const double *D = data(s, place, b->is_y ? m - 1 : m) + from;
        scale *= unit;
        double factor = b->is_y ? scale * H / m : scale;
        for (int k = 0; k < n; k++) c[m][k] = factor * D[k];
    }
}

/* What |theta|^n0 |1 - theta|^n1 is at most. */
static double most(int n0, int n1)
{
    double theta = (double)n0 / (n0 + n1), product = 1;
    for (int k = 0; k < n0; k++) product *= theta;
    for (int k = 0; k < n1; k++) product *= 1 - theta;
    return product;
}

/* The weights of errors inside the step: rtol times the largest entry of p, v or u, whichever it belongs to, plus atol. */
static void set_sizes(mexx *s)
{
    int first[4] = {0, s->np, s->np + s->nv, s->ny};
    for (int b = 0; b < 3; b++) {
        double size = 0;
        for (int i = first[b]; i < first[b + 1]; i++) {
            double x = fabs(s->x0[i]), y = fabs(s->x1[i]);
            size = x > size ? x : size;
            size = y > size ? y : size;
        }
        s->size[b] = size;
    }
}

static double weighted(const mexx *s, int i, double error)
{
    const dae_ivp *ivp = s->ivp;
    double size = s->size[i < s->np ? 0 : i < s->np + s->nv ? 1 : 2];
    return fabs(error) / (ivp->rtol[i] * size + ivp->atol[i] + DBL_MIN);
}

/* Newton coefficients of n components from the table D of divided differences, D[i][k]: i nodes at 0, k at 1, whose borders
 * are their Taylor coefficients at both ends; along the nodes 0, 1, 0, 1, ..., then the rest. */
static void newton(int n, int n0, int n1, double D[][MOST_NODES][CHUNK], double *out, size_t stride)
{
    for (int k = 0, i = 0, j = 0; k < n0 + n1; k++, out += stride) {
        if (j >= n1 || (i < n0 && i <= j)) i++;
        else j++;
        dae_copy(n, D[i][j], out);
    }
}

/* Polynomial k between two places, with n0 and n1 values of y there; returns its estimated error, for which there is one more Taylor
 * coefficient of y at the place `spare`. part: y, or a and lambda. */
static double piece(mexx *s, int k, int left, int right, int n0, int n1, int spare, int part)
{
    const block blocks[5] = {{0, s->np, 0, 1},
                             {s->np, s->nv, s->np, 1},
                             {s->np + s->nv, s->nu, s->np + s->nv, 1},
                             {s->ny, s->nv, s->np, 0},
                             {s->ny + s->nv, s->nl, s->ny, 0}};
    double D[MOST_NODES][MOST_NODES][CHUNK], border[MOST_NODES][CHUNK];
    double worst = 0, unit = left == LEFT && right == RIGHT ? 1 : 0.5, shape = most(n0, n1);
    double *out = s->coefficient + (size_t)k * MEXX_COEFFICIENTS * (size_t)s->nx;
    int nz0 = left == MIDDLE ? n0 : n0 - 1; /* of z one is known less at the left end */
    for (const block *b = blocks + (part == Z ? 3 : 0); b < blocks + (part == Z ? 5 : 3); b++) {
        for (int at = 0; at < b->count; at += CHUNK) {
            int n = b->count - at < CHUNK ? b->count - at : CHUNK, a0 = b->is_y ? n0 : nz0;
            int m0 = a0 + (b->is_y && spare == left), m1 = n1 + (b->is_y && spare == right);
            taylor(s, left, b, at, n, m0, unit, border);
            for (int i = 1; i <= m0; i++) dae_copy(n, border[i - 1], D[i][0]);
            taylor(s, right, b, at, n, m1, unit, D[0] + 1);
            for (int i = 1; i <= m0; i++) {
                for (int j = 1; j <= m1; j++) {
                    for (int c = 0; c < n; c++) D[i][j][c] = D[i - 1][j][c] - D[i][j - 1][c];
                }
            }
            newton(n, a0, n1, D, out + b->first + at, (size_t)s->nx);
            for (int c = 0; b->is_y && c < n; c++) {
                double e = weighted(s, b->first + at + c, D[m0][m1][c] * shape);
                worst = e > worst ? e : worst;
            }
        }
    }
    s->s->n0[k] = n0;
    s->s->n1[k] = n1;
    s->s->nz0[k] = nz0;
    return worst;
}

static double whole(mexx *s, int rows)
{
    int nL = (rows - 1) / 2, nR = rows / 2;
    for (int m = 1; m <= nL - 1; m++) end_derivative(s, rows, m, LEFT);
    for (int m = 1; m <= nR; m++) end_derivative(s, rows, m, RIGHT);
    return piece(s, 0, LEFT, RIGHT, nL + 1, nR + 1, RIGHT, Y);
}

/* After whole. INFINITY: there are not enough rows. */
static double halves(mexx *s, int rows)
{
    int even[MEXX_ROWS], count = 0, nL = (rows - 1) / 2, nR = rows / 2;
    for (int j = 0; j < rows; j++) {
        if (mexx_steps[j] % 2 == 0) even[count++] = j;
    }
    if (count < 3) return INFINITY;
    int nM = count - 2 < MOST_MIDDLE ? count - 2 : MOST_MIDDLE;
    middle_data(s, even, count, nM);
    double error = piece(s, 1, LEFT, MIDDLE, nL + 1, nM + 1, MIDDLE, Y);
    error = fmax(error, piece(s, 2, MIDDLE, RIGHT, nM + 1, nR + 1, MIDDLE, Y));
    for (int i = 0; i < s->ny; i++) error = fmax(error, weighted(s, i, data(s, MIDDLE, MEXX_ROWS - 1)[i]));
    return error;
}

int dae_mexx_dense_build(mexx *s, int rows)
{
    mexx_state *st = s->s;
    int cap = s->opt.dense_max_degree, plain = s->ivp->opt->fixed_step > 0 || (cap && cap < st->kappa);
    if (cap && cap < rows) rows = cap;
    if (s->binomial[0][0] == 0) fill_tables(s);
    set_sizes(s);
    st->dense_error = whole(s, rows);
    st->halves = 0;
    if (st->dense_error > FINE && !plain) {
        double error = halves(s, rows);
        st->halves = error < TRUST * st->dense_error;
        if (st->halves) st->dense_error = error;
    }
    st->degree = st->n0[0] + st->n1[0] - 1;
    if (st->halves) st->degree = (st->n0[1] > st->n1[2] ? st->n0[1] : st->n1[2]) + st->n1[1] - 1;
    st->dense_z = 0;
    st->dense = 1;
    st->rough = st->dense_error > ROUGH && !plain;
    return st->dense_error > FINE && !plain;
}

/* Node n of the Newton form with n0 nodes at 0 and n1 at 1. */
static double node(int n, int n0, int n1)
{
    int pairs = n0 < n1 ? n0 : n1;
    if (n < 2 * pairs) return n % 2;
    return n0 > n1 ? 0 : 1;
}

static void horner(const mexx *s, int k, int first, int count, int n0, double theta, double *value,
                   double *slope)
{
    int n1 = s->s->n1[k], n = n0 + n1;
    size_t nx = (size_t)s->nx;
    const double *c = s->coefficient + (size_t)k * MEXX_COEFFICIENTS * nx + first;
    dae_copy(count, c + (size_t)(n - 1) * nx, value);
    if (slope) dae_zero(count, slope);
    for (int j = n - 2; j >= 0; j--) {
        double x = theta - node(j, n0, n1);
        const double *cj = c + (size_t)j * nx;
        for (int i = 0; slope && i < count; i++) slope[i] = slope[i] * x + value[i];
        for (int i = 0; i < count; i++) value[i] = value[i] * x + cj[i];
    }
}

/* The polynomials of a and lambda, which points of y do not need. */
static void build_z(mexx *s)
{
    mexx_state *st = s->s;
    if (st->halves) {
        piece(s, 1, LEFT, MIDDLE, st->n0[1], st->n1[1], MIDDLE, Z);
        piece(s, 2, MIDDLE, RIGHT, st->n0[2], st->n1[2], MIDDLE, Z);
    } else {
        piece(s, 0, LEFT, RIGHT, st->n0[0], st->n1[0], RIGHT, Z);
    }
    st->dense_z = 1;
}

void dae_mexx_dense_at(mexx *s, double theta, double *y, double *yp, double *lambda)
{
    const mexx_state *st = s->s;
    int k = st->halves ? theta < 0.5 ? 1 : 2 : 0;
    double H = k ? st->H_taken / 2 : st->H_taken;
    if (k) theta = 2 * theta - (k - 1);
    if ((yp || lambda) && !st->dense_z) build_z(s);
    if (y) horner(s, k, 0, s->ny, st->n0[k], theta, y, yp);
    for (int i = 0; yp && i < s->ny; i++) yp[i] /= H;
    if (yp) horner(s, k, s->ny, s->nv, st->nz0[k], theta, yp + s->np, NULL);
    if (lambda && s->nl) horner(s, k, s->ny + s->nv, s->nl, st->nz0[k], theta, lambda, NULL);
}
