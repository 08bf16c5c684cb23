/* rkn8, rkn12: explicit Runge-Kutta-Nystrom pairs for y'' = f(t,y), whose right side does not depend on y'.
 *
 *     Y_i = y + c_i h v + h^2 sum_j a_ij k_j,   k_i = f(t + c_i h, Y_i)
 *     y_new = y + h v + h^2 sum b_i k_i,   v_new = v + h sum b'_i k_i
 *
 * with error estimates h^2 sum e_i k_i and h sum e'_i k_i, [DEP87]; [HNW] II.14. The system is the ODE (y, v)' = (v, f) that says
 * second_order = n/2 and no_velocities; its first half is not used. A step of rkn8 (order 8(6)) costs 8 evaluations, one of
 * rkn12 (order 12(10)) 17.
 *
 * Error: root mean square over positions and velocities, e/(atol + rtol max(|y|, |y_new|)); with q the order of the
 * estimate h_new = h/clip(err^(1/q)/0.9, 1/6, 5), no growth right after a rejection. Ours: not more than the predictive controller
 * of [HW96] IV.8 allows, with (h_old/h) (err^2/err_old)^(1/q) for err^(1/q): orbits come near each other and part again over
 * several steps, and every fourth step of Pleiades at 1e-4 was rejected, now every sixth.
 *
 * Dense output (ours): the polynomial of degree 5 that has y, v, f of both ends is right to O(h^6). f at interior points of
 * it is right to O(h^6) too, and since it enters by h^2 the polynomial of degree 7 through two such points has error O(h^8),
 * one of degree 9 through four points of that O(h^10), and so on: the table says how many levels, and more rounds follow
 * where the tolerance asks for them. Evaluations are made only
 * in steps in which something is interpolated. */
#include "method/rkn/rkn.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "method/failure.h"
#include "method/refine.h"
#include "method/setup.h"
#include "method/terms.h"

#include <float.h>
#include <stdlib.h>

#define LAST_STRETCH 1.01 /* ours, as in erk.c: take the rest if it is at most this many steps */
#define SHRINK 5.0        /* RODAS and RADAU5: h_new >= h/5 */
#define GROW (1.0 / 6)    /* h_new <= 6 h */
/* ours: a step turns no oscillation farther than this, so that the rounds of dense output contract by 0.54 */
#define TURN 2.5
#define ERR_MIN 0.01 /* RADAU5: errors of accepted steps count at least so much */
#define SWEEPS 30    /* ours: more rounds of dense output, at most, */
#define ENOUGH 0.05  /* until its error is below this part of the tolerance */

enum {
    S = DAE_RKN_STAGES,
    POINTS = 6,
    DEGREE = POINTS + 4
}; /* interior points, free coefficients of dense output */

typedef struct options {
    double safety;
    int predict;
} options;

/* A row of the table without its zeros, with the forces that it multiplies. */
typedef struct row {
    int count;
    double a[S];
    const double *k[S];
} row;

/* Survives in a checkpoint. */
typedef struct state {
    double t_old, t, h, h_next;
    double h_acc, err_acc; /* of the last accepted step, 0: none */
    int dense;             /* interior points of the polynomial in `poly`; -1: there is none */
} state;

typedef struct rkn {
    dae_ivp *ivp;
    const dae_rkn_table *table;
    const options *option;
    state *s;
    int n, m;        /* equations, positions */
    double *y, *y0;  /* n: at t, at t_old */
    double *y1;      /* n: attempted, and then the state at t before anybody changed it */
    double *k[S];    /* n each: f of the stages; its second half counts */
    double *f0, *f1; /* n: f at t_old and at t */
    double *x, *w;   /* n: argument of a stage; weighted errors */
    double *inner;   /* POINTS n: f at interior points */
    double *poly;    /* DEGREE m: coefficients of theta^2, theta^3, ... */
    double angle;    /* h sqrt|df/dy| of the last attempt: how far an oscillation turns */
    row a[S], b, bp, e, ep;
    dae_refine refine;
    /* fitted[k] = 1: there is the inverse of fit for 2 k points; it depends on nothing else */
    int fitted[POINTS / 2 + 1];
    long double inverse[POINTS / 2 + 1][DEGREE][DEGREE];
} rkn;

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void pack(const rkn *r, const double *a, row *out)
{
    for (int j = 0; j < r->table->stages; j++) {
        if (a[j] == 0) continue;
        out->k[out->count] = r->k[j] + r->m;
        out->a[out->count++] = a[j];
    }
}

static void *create(dae_ivp *ivp, const dae_rkn_table *table, const void *option, dae_error *err)
{
    rkn *r = calloc(1, sizeof *r);
    if (!r) goto memory;
    size_t n = (size_t)ivp->n;
    r->ivp = ivp;
    r->table = table;
    r->option = option;
    r->n = ivp->n;
    r->m = ivp->n / 2;
    dae_arena *a = ivp->arena;
    r->s = dae_arena_take(a, 1, sizeof *r->s);
    double **vector[] = {&r->y, &r->y0, &r->y1, &r->f0, &r->f1, &r->x, &r->w};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) *vector[i] = dae_arena_reals(a, n);
    r->k[0] = r->f0;
    for (int i = 1; i < table->stages; i++) r->k[i] = dae_arena_reals(a, n);
    r->inner = dae_arena_reals(a, n * (size_t)(2 * table->levels));
    r->poly = dae_arena_reals(a, n / 2 * DEGREE);
    dae_refine_create(&r->refine, ivp, table->order < DAE_REFINE_MAX ? table->order : DAE_REFINE_MAX);
    if (dae_arena_failed(a)) goto memory;
    for (int i = 1; i < table->stages; i++) pack(r, table->a[i], &r->a[i]);
    pack(r, table->b, &r->b);
    pack(r, table->bp, &r->bp);
    pack(r, table->e, &r->e);
    pack(r, table->ep, &r->ep);
    ivp->y = r->y;
    ivp->order = table->order;
    return r;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a Nystrom method on %d equations", ivp->n);
    free(r);
    return NULL;
}

static void *create_rkn8(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, &dae_rkn8_table, option, err);
}

static void *create_rkn12(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, &dae_rkn12_table, option, err);
}

static dae_status evaluation_failed(rkn *r, int bad, const char *where)
{
    return dae_says_not_evaluated(r->ivp, bad, r->s->t, "the right-hand side", where);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    rkn *r = self;
    dae_ivp *ivp = r->ivp;
    state *s = r->s;
    if (y != r->y) dae_copy(r->n, y, r->y);
    dae_copy(r->n, r->y, r->y1);
    *s = (state){.t_old = t, .t = t, .dense = -1};
    ivp->t_old = ivp->t = t;
    if (yp) { /* f(t,y), not counted yet */
        dae_copy(r->n, yp, r->f1);
        ivp->stats->f++;
    } else {
        int bad = dae_ivp_f(ivp, t, r->y, r->f1);
        if (bad) return evaluation_failed(r, bad, "at the start");
    }
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    else if (h == 0) h = dae_ivp_first_step(ivp, t, r->y, r->f1, r->table->estimate - 1);
    s->h_next = ivp->opt->fixed_step > 0 ? ivp->direction * h : dae_setup_limited(ivp, h);
    ivp->h_next = s->h_next;
    return DAE_OK;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------- */

#define T(j) a[j] * k[j][i]
#define POSITIONS(terms) \
    for (int i = 0; i < m; i++) out[i] = base[i] + (cv * v[i] + scale * (terms))
#define VELOCITIES(terms) \
    for (int i = 0; i < m; i++) out[i] = base[i] + scale * (terms)
#define ERRORS(terms) \
    for (int i = 0; i < m; i++) out[i] = scale * (terms)

/* out = base + cv v + scale sum a_j k_j over m components. */
DAE_KERNEL_BODY void positions_body(int m, const double *restrict base, double cv, const double *restrict v,
                                    double scale, const row *r, double *restrict out)
{
    const double *a = r->a, *const *k = r->k;
    DAE_TERMS(r->count, POSITIONS, T)
}

/* out = base + scale sum a_j k_j, base NULL: without it. */
DAE_KERNEL_BODY void velocities_body(int m, const double *restrict base, double scale, const row *r,
                                     double *restrict out)
{
    const double *a = r->a, *const *k = r->k;
    if (base) DAE_TERMS(r->count, VELOCITIES, T)
    else DAE_TERMS(r->count, ERRORS, T)
}

DAE_KERNEL(void, positions,
           (int m, const double *base, double cv, const double *v, double scale, const row *r, double *out),
           positions_body(m, base, cv, v, scale, r, out))
DAE_KERNEL(void, velocities, (int m, const double *base, double scale, const row *r, double *out),
           velocities_body(m, base, scale, r, out))

/* f of a stage, whose second half counts. */
static int force(rkn *r, double t, const double *y, double *k)
{
    int bad = dae_ivp_f_unchecked(r->ivp, t, y, k);
    if (bad || dae_all_finite(r->m, k + r->m)) return bad;
    return dae_ivp_not_finite(r->ivp, r->n, k);
}

/* k[1] .. and y1; 0: fine, > 0: cannot be evaluated. */
static int stages(rkn *r, double h, double t1)
{
    const dae_rkn_table *tab = r->table;
    const double *y = r->y0, *v = r->y0 + r->m;
    int m = r->m, last = tab->stages - 1;
    dae_copy(m, v, r->x + m); /* nothing depends on it */
    for (int i = 1; i < tab->stages; i++) {
        double *Y = r->x;
        if (i == last) dae_copy(m, Y, r->w);
        DAE_KERNEL_PICK(positions, 0)(m, y, tab->c[i] * h, v, h * h, &r->a[i], Y);
        int bad = force(r, tab->c[i] == 1 ? t1 : r->s->t + tab->c[i] * h, Y, r->k[i]);
        if (bad) return bad;
    }
    double dk = 0, dY = 0;
    for (int i = 0; i < m; i++) {
        double a = r->k[last][m + i] - r->k[last - 1][m + i], b = r->x[i] - r->w[i];
        dk += a * a;
        dY += b * b;
    }
    r->angle = dY > 0 ? fabs(h) * sqrt(sqrt(dk / dY)) : 0;
    if (tab->fsal) dae_copy(m, r->x, r->y1);
    else DAE_KERNEL_PICK(positions, 0)(m, y, h, v, h * h, &r->b, r->y1);
    DAE_KERNEL_PICK(velocities, 0)(m, v, h, &r->bp, r->y1 + m);
    if (tab->fsal) dae_copy(r->n, r->k[last], r->f1);
    return 0;
}

/* out_i = e_i/(atol + rtol max(|y0_i|, |y1_i|)) */
DAE_KERNEL_BODY void weighted_body(int n, const double *restrict atol, const double *restrict rtol,
                                   const double *restrict y0, const double *restrict y1, double *restrict e)
{
    for (int i = 0; i < n; i++) {
        double a = fabs(y0[i]), b = fabs(y1[i]);
        e[i] /= atol[i] + rtol[i] * (a > b ? a : b) + DBL_MIN;
    }
}

DAE_KERNEL(void, weighted,
           (int n, const double *atol, const double *rtol, const double *y0, const double *y1, double *e),
           weighted_body(n, atol, rtol, y0, y1, e))

static double error(rkn *r, double h)
{
    const dae_ivp *ivp = r->ivp;
    DAE_KERNEL_PICK(velocities, 0)(r->m, NULL, h * h, &r->e, r->w);
    DAE_KERNEL_PICK(velocities, 0)(r->m, NULL, h, &r->ep, r->w + r->m);
    DAE_KERNEL_PICK(weighted, 0)(r->n, ivp->atol, ivp->rtol, r->y0, r->y1, r->w);
    return sqrt(dae_squares(r->n, r->w) / r->n);
}

/* ---- The step -------------------------------------------------------------------------------------------------------- */

/* f0 = f(t, y): known, unless the positions were changed since. */
static int begin(rkn *r)
{
    int bad = 0;
    if (memcmp(r->y, r->y1, (size_t)r->m * sizeof *r->y) == 0) dae_copy(r->n, r->f1, r->f0);
    else bad = dae_ivp_f(r->ivp, r->s->t, r->y, r->f0);
    dae_copy(r->n, r->y, r->y0);
    r->s->dense = -1;
    return bad;
}

/* One attempt. 0: *err is the norm of its error; > 0: cannot be evaluated; < 0: stop. */
static int attempt(rkn *r, double h, double t1, double *err)
{
    dae_ivp *ivp = r->ivp;
    ivp->stats->steps++;
    int bad = stages(r, h, t1);
    if (bad) return bad;
    *err = error(r, h);
    if (!isfinite(*err)) return 1;
    if (ivp->opt->fixed_step > 0) *err = 0;
    if (!(*err <= 1)) return 0;
    if (r->angle > TURN && ivp->opt->fixed_step <= 0) { /* so that the next attempt keeps to it */
        *err = pow(fmin(2, r->angle / TURN), r->table->estimate);
        if (*err > 1.05) return 0;
        *err = 1;
    }
    bad = dae_ivp_project(ivp, t1, r->y1);
    if (bad || (r->table->fsal && !ivp->project)) return bad;
    return dae_ivp_f(ivp, t1, r->y1, r->f1);
}

static void accept(rkn *r, double h, double t1, double h_next)
{
    dae_ivp *ivp = r->ivp;
    state *s = r->s;
    dae_copy(r->n, r->y1, r->y);
    dae_refine_begin(&r->refine, r->y0);
    s->t_old = s->t;
    s->t = t1;
    s->h = h;
    s->h_next = h_next;
    ivp->stats->accepted++;
    ivp->t_old = s->t_old;
    ivp->t = t1;
    ivp->h_next = h_next;
}

static dae_status too_small(rkn *r, double h, long rejected)
{
    return dae_ivp_fail(
        r->ivp, DAE_ERR_STEP_TOO_SMALL,
        "t = %.10g: step fell to %.3g (h_min %.3g) after %ld rejections; singularity or jump in the "
        "right-hand side? stiff? try radau5",
        r->s->t, fabs(h), r->ivp->opt->h_min, rejected);
}

/* h_new/h; slower: the factor by which the step was shorter than the one before. */
static double ratio(const rkn *r, double err, double slower)
{
    double x = slower * pow(err > 1e-30 ? err : 1e-30, 1.0 / r->table->estimate) / r->option->safety;
    return 1 / fmin(SHRINK, fmax(GROW, x));
}

/* After an accepted step; the error constant changes as it did from the step before to this one. */
static double next_ratio(rkn *r, double h, double err)
{
    state *s = r->s;
    double grow = ratio(r, err, 1);
    if (r->option->predict && s->h_acc > 0)
        grow = fmin(grow, ratio(r, err * err / s->err_acc, s->h_acc / fabs(h)));
    s->h_acc = fabs(h);
    s->err_acc = fmax(err, ERR_MIN);
    return r->angle > 0 ? fmin(grow, TURN / r->angle) : grow;
}

static dae_status step(void *self)
{
    rkn *r = self;
    dae_ivp *ivp = r->ivp;
    state *s = r->s;
    int fixed = ivp->opt->fixed_step > 0;
    double goal = dae_ivp_piece_end(ivp), rest = goal - s->t, err = 0;
    if (ivp->direction * rest <= 0) return DAE_OK;
    int bad = begin(r);
    if (bad) return evaluation_failed(r, bad, "at the state that was set after the last step");
    double h = s->h_next, stretch = ivp->opt->h_max > 0 && fabs(rest) > ivp->opt->h_max ? 1 : LAST_STRETCH;
    for (long rejected = 0;; rejected++) {
        int last = stretch * fabs(h) >= fabs(rest), at_once = last && !rejected;
        if (!at_once && (0.1 * fabs(h) <= DBL_EPSILON * fabs(s->t) || (fabs(h) < ivp->opt->h_min && !fixed)))
            return too_small(r, h, rejected);
        double wanted = h, t1 = last ? goal : s->t + h;
        if (last) h = rest;
        bad = attempt(r, h, t1, &err);
        if (bad < 0) return evaluation_failed(r, bad, "in a step");
        if (bad > 0 && fixed) return evaluation_failed(r, bad, "in a step of fixed size");
        if (bad == 0 && err <= 1) {
            double next = h * next_ratio(r, h, err);
            if (rejected && fabs(next) > fabs(h)) next = h;
            if (fixed || (last && !rejected && fabs(next) < fabs(wanted))) next = wanted;
            accept(r, h, t1, fixed ? next : dae_setup_limited(ivp, next));
            return DAE_OK;
        }
        dae_log(ivp->opt, DAE_LOG_STEP, "t=%.10g h=%.4g err=%.3g rejected=%s", s->t, h, bad ? NAN : err,
                bad ? "undefined" : "error");
        ivp->stats->rejected++;
        h *= bad ? 0.5 : ratio(r, err, 1);
    }
}

/* ---- Dense output ------------------------------------------------------------------------------------------------------ */

/* Interior points of level l: 2 l of them, the zeros of a Chebyshev polynomial in (0.1, 0.9). There the rounds of dense output
 * contract by 0.032, 0.042, 0.086 times h^2 |df/dy| for 2, 4, 6 points; in (0, 1) by 0.021, 0.16, 0.35. */
static double point(int count, int j)
{
    return 0.5 - 0.4 * cos(3.14159265358979323846 * (2 * j + 1) / (2 * count));
}

/* b := a^-1 by elimination with row interchanges; a is lost. In long double, since the matrices are of Vandermonde's kind. */
static void invert(int size, long double a[DEGREE][DEGREE], long double b[DEGREE][DEGREE])
{
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) b[i][j] = i == j;
    }
    for (int k = 0; k < size; k++) {
        int p = k;
        for (int i = k + 1; i < size; i++) p = fabsl(a[i][k]) > fabsl(a[p][k]) ? i : p;
        for (int j = 0; j < size; j++) {
            long double x = a[k][j], y = b[k][j];
            a[k][j] = a[p][j];
            a[p][j] = x;
            b[k][j] = b[p][j];
            b[p][j] = y;
        }
        for (int i = 0; i < size; i++) {
            long double f = i == k ? 0 : a[i][k] / a[k][k];
            for (int j = 0; j < size && f != 0; j++) {
                a[i][j] -= f * a[k][j];
                b[i][j] -= f * b[k][j];
            }
        }
    }
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) b[i][j] /= a[i][i];
    }
}

/* The matrix from the data of fit, divided by powers of h, to the coefficients; made once for a number of points. */
static long double (*inverse_for(rkn *r, int count))[DEGREE]
{
    int size = count + 4;
    long double A[DEGREE][DEGREE];
    if (r->fitted[count / 2]) return r->inverse[count / 2];
    for (int j = 0; j < size; j++) {
        A[0][j] = 1;
        A[1][j] = j + 2;
        A[2][j] = j == 0 ? 2 : 0;
        A[3][j] = (j + 2) * (j + 1);
        for (int i = 0; i < count; i++) A[4 + i][j] = (j + 2) * (j + 1) * powl(point(count, i), j);
    }
    invert(size, A, r->inverse[count / 2]);
    r->fitted[count / 2] = 1;
    return r->inverse[count / 2];
}

/* poly: the coefficients c of y + theta h v + theta^2 sum_j c_j theta^j from y, v at both ends and f at them and at `count`
 * interior points. */
static void fit(rkn *r, int count)
{
    int m = r->m, size = count + 4;
    long double(*inverse)[DEGREE] = inverse_for(r, count);
    double h = r->s->h;
    const double *y0 = r->y0, *y1 = r->y1, *v0 = y0 + m, *v1 = y1 + m;
    for (int i = 0; i < m; i++) {
        double data[DEGREE];
        data[0] = y1[i] - y0[i] - h * v0[i];
        data[1] = h * (v1[i] - v0[i]);
        data[2] = h * h * r->f0[m + i];
        data[3] = h * h * r->f1[m + i];
        for (int p = 0; p < count; p++) data[4 + p] = h * h * r->inner[p * r->n + m + i];
        for (int j = 0; j < size; j++) {
            long double c = 0;
            for (int k = 0; k < size; k++) c += inverse[j][k] * data[k];
            r->poly[j * m + i] = (double)c;
        }
    }
    r->s->dense = count;
}

static void evaluate(const rkn *r, double theta, double *y, double *v, double *a)
{
    int m = r->m, size = r->s->dense + 4;
    double h = r->s->h;
    for (int i = 0; i < m; i++) {
        double p = 0, dp = 0, ddp = 0; /* theta^2 sum c_j theta^j = theta^2 p */
        for (int j = size - 1; j >= 0; j--) {
            ddp = 2 * dp + theta * ddp;
            dp = p + theta * dp;
            p = r->poly[j * m + i] + theta * p;
        }
        if (y) y[i] = r->y0[i] + theta * (h * r->y0[m + i] + theta * p);
        if (v) v[i] = r->y0[m + i] + theta * (2 * p + theta * dp) / h;
        if (a) a[i] = (2 * p + theta * (4 * dp + theta * ddp)) / (h * h);
    }
}

/* f at `count` interior points of the present polynomial, and the largest h^2 (f - y'')/8 there in units of the tolerance:
 * about the error of y. < 0: cannot be evaluated. */
static double look_inside(rkn *r, int count)
{
    int m = r->m;
    double h = r->s->h, most = 0;
    for (int p = 0; p < count; p++) {
        double theta = point(count, p), *f = r->inner + p * r->n;
        evaluate(r, theta, r->x, r->x + m, r->w);
        if (dae_ivp_f(r->ivp, r->s->t_old + theta * h, r->x, f)) return -1;
        for (int i = 0; i < m; i++) {
            double weight = r->ivp->atol[i] + r->ivp->rtol[i] * fabs(r->x[i]) + DBL_MIN;
            most = fmax(most, h * h * fabs(f[m + i] - r->w[i]) / (8 * weight));
        }
    }
    return most;
}

/* The polynomial of the last step; where f cannot be evaluated at an interior point the one before remains. Long steps need
 * more rounds with the last number of points: collocation, which contracts. */
static void prepare(rkn *r)
{
    int levels = r->table->levels;
    double off = INFINITY;
    fit(r, 0);
    for (int round = 1; round <= levels + SWEEPS; round++) {
        int count = 2 * (round < levels ? round : levels);
        if (round > levels && off < ENOUGH) return;
        double before = off;
        off = look_inside(r, count);
        if (off < 0 || (round > levels + 1 && off > 0.9 * before)) return;
        fit(r, count);
    }
}

static void guess(void *self, double t, double *y)
{
    rkn *r = self;
    if (r->s->dense < 0) prepare(r);
    evaluate(r, (t - r->s->t_old) / r->s->h, y, y + r->m, NULL);
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    rkn *r = self;
    int m = r->m;
    if (r->s->h == 0) { /* no step yet */
        if (y) dae_copy(r->n, r->y, y);
        if (yp) dae_copy(r->n, r->f1, yp);
        return;
    }
    dae_refine_step s = {.k = r->refine.k, .y1 = r->y1, .guess = guess, .self = r};
    if (y && r->ivp->opt->fixed_step <= 0 && dae_refine_interpolate(&r->refine, &s, t, y, yp)) return;
    if (r->s->dense < 0) prepare(r);
    evaluate(r, (t - r->s->t_old) / r->s->h, y, y ? y + m : NULL, NULL);
    if (yp) evaluate(r, (t - r->s->t_old) / r->s->h, NULL, yp, yp + m);
}

/* ---- Descriptors --------------------------------------------------------------------------------------------------------- */

static const dae_option option_table[] = {
    {"safety", DAE_OPTION_REAL, offsetof(options, safety), 0.9, NULL, 0.1, 1, NULL, "",
     "factor on every new step size"},
    {"predict", DAE_OPTION_INT, offsetof(options, predict), 1, NULL, 0, 1, NULL, "",
     "1: a step size is also the one that the last two accepted steps predict; 0: that of the last one"},
    {.name = NULL}};

#define METHOD(key, title_, summary_, order_)          \
    const dae_method dae_method_##key = {              \
        .info = {.name = #key,                         \
                 .title = title_,                      \
                 .literature = "[DEP87], [HNW] II.14", \
                 .summary = summary_,                  \
                 .order_min = order_,                  \
                 .order_max = order_,                  \
                 .kinds = 1u << DAE_KIND_ODE,          \
                 .no_velocities = 1,                   \
                 .checkpoint = 1,                      \
                 .projects = 1,                        \
                 .options = option_table},             \
        .option_size = sizeof(options),                \
        .create = create_##key,                        \
        .reset = reset,                                \
        .step = step,                                  \
        .interpolate = interpolate,                    \
        .destroy = free,                               \
    }

METHOD(rkn8, "Runge-Kutta-Nystrom 8(6), explicit",
       "y'' = f(t,y), orbits and other forces without velocities, 3 to 8 digits", 8);
METHOD(rkn12, "Runge-Kutta-Nystrom 12(10), explicit",
       "y'' = f(t,y), as rkn8 at tight tolerances, from 7 digits on", 12);
