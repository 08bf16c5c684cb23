#include "method/refine.h"

#include "core/vector.h"

#include <float.h>
#include <string.h>

#define SWEEPS 10    /* ours: at most */
#define ENOUGH 0.05  /* ours: a change of so many tolerances ends them */
#define CONTRACT 0.9 /* ours: slower than this it is given up */
/* ours: without a filter changes may grow at first, as (h L)^k/k! does, and then fall */
#define GRACE 14
#define MORE_SWEEPS 40
/* ours: by so many times the first change. Stiff steps of rodas4p2 and rodas5p that grew by more never came back to the solution, those of
 * dop853 on beam that did grew by 16 at most */
#define WILD 20

/* ours: part of y that rounding makes of a polynomial whose coefficients are sums with weights of some hundred, and what it may be of a
 * tolerance where nothing is refined */
#define ROUNDING 1e-12
#define NOTHING 1e-3
#define LAST_CHANGE 1e-10 /* Newton's method: what the next one would change is below rounding */

/* p[i] = P_k(x[i]) and before[i] = P_(k-1)(x[i]), Legendre, 0 <= i < m. */
static void legendre(int k, int m, const double *x, double *p, double *before)
{
    for (int i = 0; i < m; i++) p[i] = 1, before[i] = 0;
    for (int j = 1; j <= k; j++) {
        double a = (2 * j - 1) / (double)j, b = (j - 1) / (double)j;
        for (int i = 0; i < m; i++) {
            double next = a * x[i] * p[i] - b * before[i];
            before[i] = p[i];
            p[i] = next;
        }
    }
}

/* Radau points c_1 < .. < c_k = 1 of [0,1] and their weights: 1 - 2c are the roots of P_(k-1) + P_k, by Newton's method
 * (Gautschi: Orthogonal Polynomials, 2004, section 3.1.1.2), all at once; -1, the first, is known. */
static void radau_points(int k, double *c, double *b)
{
    const double pi = 3.14159265358979323846;
    double x[DAE_REFINE_MAX], p[DAE_REFINE_MAX], q[DAE_REFINE_MAX], change = 1;
    for (int i = 0; i < k; i++) x[i] = -cos(2 * pi * i / (2 * k - 1));
    for (int iteration = 0; change > LAST_CHANGE && iteration < 20; iteration++) {
        change = 0;
        legendre(k, k, x, p, q);
        for (int i = 1; i < k; i++) {
            double d = (1 - x[i]) / k * (q[i] + p[i]) / (q[i] - p[i]);
            x[i] -= d;
            change = fmax(change, fabs(d));
        }
    }
    legendre(k, k, x, p, q);
    for (int i = 0; i < k; i++) {
        c[k - 1 - i] = (1 - x[i]) / 2;
        b[k - 1 - i] = i == 0 ? 1.0 / (k * k) : (1 - x[i]) / (2 * (k * q[i]) * (k * q[i]));
    }
}

/* The basis polynomials of degree k, zero at 0 and at all points but c_j: l_j(x) = w_j x prod_(i != j) (x - c_i), and unless NULL their
 * derivatives. Products from the left, then from the right: no division. */
static void basis(const dae_refine *r, double x, double *l, double *dl)
{
    int k = r->points;
    double p = x, dp = 1;
    for (int j = 0; j < k; j++) {
        double d = x - r->c[j];
        l[j] = p * r->w[j];
        if (dl) dl[j] = dp * r->w[j];
        dp = dp * d + p;
        p *= d;
    }
    p = 1;
    dp = 0;
    for (int j = k - 1; j >= 0; j--) {
        double d = x - r->c[j];
        if (dl) dl[j] = dl[j] * p + l[j] * dp;
        l[j] *= p;
        dp = dp * d + p;
        p *= d;
    }
}

/* a_ij is the integral of c_j l_j(x)/x, which has degree k-1, from 0 to c_i; the formula of the points is exact for it. */
static void set_points(dae_refine *r, int k)
{
    double b[DAE_REFINE_MAX], l[DAE_REFINE_MAX];
    if (r->points == k) return;
    r->points = k;
    radau_points(k, r->c, b);
    for (int j = 0; j < k; j++) {
        double w = r->c[j];
        for (int i = 0; i < k; i++) w *= i == j ? 1 : r->c[j] - r->c[i];
        r->w[j] = 1 / w;
    }
    for (int i = 0; i < k; i++) {
        for (int j = 0; j < k; j++) r->a[i][j] = 0;
        for (int q = 0; q < k; q++) {
            basis(r, r->c[i] * r->c[q], l, NULL);
            for (int j = 0; j < k; j++) r->a[i][j] += b[q] / r->c[q] * r->c[j] * l[j];
        }
    }
}

void dae_refine_create(dae_refine *r, dae_ivp *ivp, int k)
{
    size_t n = (size_t)ivp->n;
    *r = (dae_refine){.ivp = ivp, .k = k};
    r->st = dae_arena_take(ivp->arena, 1, sizeof *r->st);
    r->U = dae_arena_reals(ivp->arena, n * (size_t)(2 * k + 2));
    if (!r->U) return;
    r->f = r->U + n * (size_t)k;
    r->y = r->f + n * (size_t)k;
    r->y0 = r->y + n;
}

/* |x| in tolerances. */
static double size_of(const dae_ivp *ivp, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < ivp->n; i++) {
        double v = x[i] / (ivp->atol[i] + ivp->rtol[i] * fabs(y[i]) + DBL_MIN);
        sum += v * v;
    }
    return sqrt(sum / ivp->n);
}

/* The derivatives at all points; > 0: cannot be evaluated there. */
static int derivatives(dae_refine *r, const dae_refine_step *s, int first)
{
    int n = r->ivp->n, bad = 0;
    for (int i = 0; i < s->k - !first && !bad; i++) {
        const double *u = r->U + i * n;
        for (int l = 0; l < n; l++) r->y[l] = r->y0[l] + u[l];
        bad = dae_ivp_f(r->ivp, r->st->t + r->c[i] * r->st->h, r->y, r->f + i * n);
    }
    return bad;
}

/* One sweep; the largest change, or INFINITY. */
static double sweep(dae_refine *r, const dae_refine_step *s, int first)
{
    int n = r->ivp->n, k = s->k;
    double largest = 0;
    if (derivatives(r, s, first)) return INFINITY;
    for (int i = 0; i < k - 1; i++) {
        double *u = r->U + i * n, *d = r->y;
        for (int l = 0; l < n; l++) d[l] = -u[l];
        for (int j = 0; j < k; j++) {
            double c = r->st->h * r->a[i][j];
            const double *f = r->f + j * n;
            for (int l = 0; l < n; l++) d[l] += c * f[l];
        }
        if (s->filter) s->filter(s->self, d);
        double size = size_of(r->ivp, d, s->y1);
        if (!(size <= largest)) largest = size;
        for (int l = 0; l < n; l++) u[l] += d[l];
    }
    return isfinite(largest) ? largest : INFINITY;
}

/* The statistics of before; evaluations since then are those of dense output. */
static void count_apart(dae_refine *r, const dae_stats *before)
{
    dae_stats *now = r->ivp->stats;
    long more = now->f - before->f + before->f_dense;
    *now = *before;
    now->f_dense = more;
}

/* 1: what the defect y' - f(t,y) of the method's own polynomial would make of it over the whole step is below what the sweeps leave.
 * Two places: where a hump that is level at both ends of the step is steepest, and where one that changes its sign between them is. */
static int own_will_do(dae_refine *r, const dae_refine_step *s)
{
    static const double place[] = {0.276, 0.5};
    int n = r->ivp->n;
    double *y = r->U, *yp = y + n, *f = r->f;
    for (int i = 0; i < n; i++) f[i] = ROUNDING * s->y1[i];
    if (!(size_of(r->ivp, f, s->y1) <= NOTHING)) return 0;
    for (int k = 0; k < 2; k++) {
        double t = r->st->t + place[k] * r->st->h;
        s->slope(s->self, t, y, yp);
        if (dae_ivp_f(r->ivp, t, y, f)) return 0;
        for (int i = 0; i < n; i++) f[i] = r->st->h * (f[i] - yp[i]);
        if (!(size_of(r->ivp, f, s->y1) <= ENOUGH)) return 0;
    }
    return 1;
}

/* 1: the polynomial is there. */
static int make(dae_refine *r, const dae_refine_step *s)
{
    dae_refine_state *st = r->st;
    int n = r->ivp->n;
    if (st->done > 0) set_points(r, s->k); /* a checkpoint does not hold them */
    if (st->done || r->ivp->coarse) return st->done > 0;
    st->t = r->ivp->t_old;
    st->h = r->ivp->t - st->t;
    dae_stats counted = *r->ivp->stats; /* figures of the steps do not depend on what is written */
    if (s->slope && own_will_do(r, s)) {
        count_apart(r, &counted);
        st->done = -1;
        return 0;
    }
    set_points(r, s->k);
    for (int i = 0; i < s->k; i++) {
        double *u = r->U + i * n;
        if (i < s->k - 1) s->guess(s->self, st->t + r->c[i] * st->h, u);
        else dae_copy(n, s->y1, u);
        for (int l = 0; l < n; l++) u[l] -= r->y0[l];
    }
    double before = INFINITY, change = 0, first = 0;
    int k = 0, grace;
    do {
        if (k > 0) before = change;
        change = sweep(r, s, k == 0);
        if (k == 0) first = change;
        grace = k < (s->filter ? 1 : GRACE);
    } while (change > ENOUGH && (change <= CONTRACT * before || (grace && change <= WILD * first)) &&
             ++k < (s->filter ? SWEEPS : MORE_SWEEPS));
    count_apart(r, &counted);
    st->done = change <= fmax(CONTRACT * before, ENOUGH) && change <= WILD * first ? 1 : -1;
    return st->done > 0;
}

/* y = sum_j l_j U_j, two terms in each pass. */
static void combine(const dae_refine *r, const double *l, double *restrict y)
{
    int n = r->ivp->n, j = 0;
    dae_zero(n, y);
    for (; j + 1 < r->points; j += 2) {
        const double *restrict u = r->U + (size_t)j * (size_t)n, *restrict v = u + n;
        double a = l[j], b = l[j + 1];
        for (int i = 0; i < n; i++) y[i] = (y[i] + a * u[i]) + b * v[i];
    }
    if (j < r->points) dae_axpy(n, l[j], r->U + (size_t)j * (size_t)n, y);
}

int dae_refine_interpolate(dae_refine *r, const dae_refine_step *step, double t, double *y, double *yp)
{
    if (!make(r, step)) return 0;
    double l[DAE_REFINE_MAX] = {0}, dl[DAE_REFINE_MAX] = {0};
    int n = r->ivp->n;
    basis(r, (t - r->st->t) / r->st->h, l, yp ? dl : NULL);
    combine(r, l, y);
    for (int i = 0; i < n; i++) y[i] = r->y0[i] + y[i];
    if (!yp) return 1;
    combine(r, dl, yp);
    for (int i = 0; i < n; i++) yp[i] /= r->st->h;
    return 1;
}
