/* Evaluations of the system as methods see it: counted, timed on request, one-sided at discontinuities,
 * and checked (a value that is not finite means "cannot be evaluated here"). */
#include "method/matrix_free.h"
#include "method/method.h"

#include "core/matrix.h"
#include "core/number.h"
#include "core/vector.h"
#include "linalg/least_squares.h"
#include "linalg/sparse.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

unsigned long long dae_clock_ticks(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1000000000ull * (unsigned long long)now.tv_sec + (unsigned long long)now.tv_nsec;
}

/* Every evaluation ends here: r is what the user function returned. */
static int judge(dae_ivp *ivp, int r, int n, const double *out)
{
    if (r == 0 && dae_all_finite(n, out)) return 0;
    if (r < 0) {
        ivp->asked_to_stop = 1;
        return r;
    }
    ivp->bad_component = -1;
    for (int i = 0; r == 0 && i < n; i++) {
        if (!isfinite(out[i])) {
            ivp->bad_component = i;
            break;
        }
    }
    ivp->stats->undefined++;
    return 1;
}

#define TIMED(ivp, r, call)                            \
    do {                                               \
        if ((ivp)->opt->profile) {                     \
            unsigned long long begin_ = dae_ticks();   \
            r = call;                                  \
            (ivp)->user_ticks += dae_ticks() - begin_; \
            (ivp)->user_timed++;                       \
        } else {                                       \
            r = call;                                  \
        }                                              \
    } while (0)

/* How many values an evaluation fills. */
static int filled(const dae_ivp *ivp)
{
    return ivp->lead && ivp->lead->only ? ivp->lead->n : ivp->n;
}

int dae_ivp_f(dae_ivp *ivp, double t, const double *y, double *f)
{
    int r;
    ivp->stats->f++;
    if (!ivp->opt->profile && !ivp->lead) { /* mostly; without a call but that of f */
        r = ivp->f(dae_ivp_one_sided(ivp, t), y, f, ivp->user);
        return r == 0 && dae_all_finite(ivp->n, f) ? 0 : judge(ivp, r, ivp->n, f);
    }
    TIMED(ivp, r, ivp->f(dae_ivp_one_sided(ivp, t), y, f, ivp->user));
    return judge(ivp, r, filled(ivp), f);
}

/* The first failure ends it. */
static int evaluate_stages(dae_ivp *ivp, int s, int ld, const double *t, const double *y, double *f)
{
    int r = 0;
    for (int k = 0; k < s && !r; k++, y += ld, f += ld) {
        r = ivp->f(dae_ivp_one_sided(ivp, t[k]), y, f, ivp->user);
        ivp->stats->f++;
    }
    return r;
}

int dae_ivp_f_stages(dae_ivp *ivp, int s, int ld, const double *t, const double *y, double *f)
{
    int r;
    TIMED(ivp, r, evaluate_stages(ivp, s, ld, t, y, f));
    return r ? judge(ivp, r, 0, f) : 0;
}

int dae_ivp_refused(dae_ivp *ivp, int r)
{
    return judge(ivp, r, 0, NULL);
}

int dae_ivp_not_finite(dae_ivp *ivp, int n, const double *value)
{
    return judge(ivp, 0, n, value);
}

int dae_ivp_residual(dae_ivp *ivp, double t, const double *y, const double *yp, double *F)
{
    int r;
    ivp->stats->f++;
    TIMED(ivp, r, ivp->sys->ide.residual(dae_ivp_one_sided(ivp, t), y, yp, F, ivp->user));
    return judge(ivp, r, filled(ivp), F);
}

int dae_ivp_mech(dae_ivp *ivp, dae_mech_fn *fn, const dae_mech_point *x, int size, double *out)
{
    int r;
    dae_mech_point at = *x;
    at.t = dae_ivp_one_sided(ivp, x->t);
    TIMED(ivp, r, fn(&at, out, ivp->user));
    return judge(ivp, r, size, out);
}

int dae_ivp_project(dae_ivp *ivp, double t, double *y)
{
    int r;
    if (!ivp->project) return 0;
    TIMED(ivp, r, ivp->project(dae_ivp_one_sided(ivp, t), y, ivp->project_user));
    return judge(ivp, r, ivp->n, y);
}

dae_matrix dae_ivp_mass(const dae_ivp *ivp)
{
    return ivp->sys->kind == DAE_KIND_DAE ? ivp->sys->dae.mass : (dae_matrix){0};
}

/* ---- Jacobians -------------------------------------------------------------------------------- */

#define UNIT 1e-16      /* [RADAU] uround, for the increments */
#define MIN_SCALE 1e-5  /* [RADAU]: increment sqrt(u max(1e-5, |y|)) */
#define LEAST_RTOL 1e-6 /* ours: what atol / rtol tells about the size of y where rtol is 0 or nearly */
#define STEP_PART 1e-3  /* ours: the increment of t, of a step at most */
#define COARSE 1e3      /* ours: an increment above 1e-3 of its variable is coarse */
#define SHRINK_TRIES 4  /* ours: smaller increments where f cannot be evaluated */
#define MANY 5000       /* ours: equations from which "auto" may do without factors */
#define FILLS \
    5e3 /* ours: operations per equation and factorization above which it does; GMRES needs some thousand */
#define WORTH_PROBING 100 /* ours: equations from which a dense Jacobian is looked at for zeros */
#define MOSTLY_ZERO 12    /* ours: at most this part of them may be something else */
#define DENSE_LIMIT 16    /* ours: below this size a sparse pattern does not pay (bench_linalg) */

/* Columns that share no row are perturbed together (Curtis, Powell, Reid 1974). */
struct dae_difference {
    dae_pattern given; /* layout in which analytic Jacobians come */
    size_t count;      /* of its values */
    int same;          /* given and used layout are the same */
    dae_jac *plain;    /* ... and df/dy is analytic: its function, else NULL */
    double *values;    /* analytic values, as they come: a Jacobian that fails leaves the last one whole */
    int ngroup;
    int *first, *column; /* columns of group g: column[first[g]] .. column[first[g+1]-1] */
    double *y, *f, *g, *delta;
    double size; /* of the variables, as increments are chosen */
};

size_t dae_difference_size(void)
{
    return sizeof(struct dae_difference);
}

/* Rows [*lo, *hi) of column j in a dense or banded layout, and where the first of them is stored. */
static size_t column_range(const dae_pattern *p, int n, int j, int *lo, int *hi)
{
    if (p->storage == DAE_BANDED) {
        int ld = p->lower + 1 + p->upper;
        *lo = j > p->upper ? j - p->upper : 0;
        *hi = j + p->lower + 1 < n ? j + p->lower + 1 : n;
        return (size_t)j * (size_t)ld + (size_t)(p->upper + *lo - j);
    }
    *lo = 0;
    *hi = n;
    return (size_t)j * (size_t)n;
}

/* out (layout p) column j := values of the full-length vector v. */
static void put_column(const dae_pattern *p, int n, int j, const double *v, double factor, double *out)
{
    if (p->storage == DAE_SPARSE) {
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) out[k] = factor * v[p->rowind[k]];
        return;
    }
    int lo, hi;
    double *col = out + column_range(p, n, j, &lo, &hi);
    for (int i = lo; i < hi; i++) col[i - lo] = factor * v[i];
}

/* Values in layout `from` copied to layout `to` (entries outside `to` are lost). */
static void convert(const dae_pattern *from, const dae_pattern *to, int n, const double *in, double *v,
                    double *out)
{
    for (int j = 0; j < n; j++) {
        dae_zero(n, v);
        if (from->storage == DAE_SPARSE) {
            for (int k = from->colptr[j]; k < from->colptr[j + 1]; k++) v[from->rowind[k]] = in[k];
        } else {
            int lo, hi;
            const double *col = in + column_range(from, n, j, &lo, &hi);
            for (int i = lo; i < hi; i++) v[i] = col[i - lo];
        }
        put_column(to, n, j, v, 1, out);
    }
}

/* 1: a value outside of the pattern is more than a Jacobian by differences is wrong by, sqrt(eps): |J_ij| w_j > 1.5e-8 max_k |J_ik| w_k,
 * w_j the tolerance of y_j. Terms that cancel (axes that are parallel at first) leave 1e-20 here and there, and each would be a
 * restart. */
#define NEGLIGIBLE 1.5e-8

static int counts_outside(dae_ivp *ivp, const double *y, const double *dense)
{
    const dae_pattern *p = &ivp->jacobian;
    size_t n = (size_t)ivp->n;
    double *row = ivp->difference->g;
    memset(row, 0, n * sizeof *row);
    for (size_t k = 0; k < n * n; k++) {
        double w = ivp->atol[k / n] + ivp->rtol[k / n] * fabs(y[k / n]);
        row[k % n] = fmax(row[k % n], w * fabs(dense[k]));
    }
    for (size_t j = 0; j < n; j++) {
        double w = ivp->atol[j] + ivp->rtol[j] * fabs(y[j]);
        int k = p->colptr[j], end = p->colptr[j + 1];
        for (size_t i = 0; i < n; i++) {
            if (k < end && (size_t)p->rowind[k] == i) k++;
            else if (w * fabs(dense[j * n + i]) > NEGLIGIBLE * row[i]) return 1;
        }
    }
    return 0;
}

/* The values of a dense matrix in the pattern that was found; notes where there are others. */
static void pick_values(dae_ivp *ivp, const double *y, double *dense, double *out)
{
    const dae_pattern *p = &ivp->jacobian;
    size_t n = (size_t)ivp->n;
    double others = 0;
    for (size_t j = 0; j < n; j++) {
        double *column = dense + j * n;
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
            out[k] = column[p->rowind[k]];
            column[p->rowind[k]] = 0;
        }
        for (size_t i = 0; i < n; i++) others += fabs(column[i]);
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) column[p->rowind[k]] = out[k];
    }
    if (others != 0 && counts_outside(ivp, y, dense)) ivp->found_pattern = 2;
}

typedef enum which { WRT_Y, WRT_YP } which;

/* One analytic Jacobian in the given layout; zeroed first. */
static int analytic(dae_ivp *ivp, double t, const double *y, const double *yp, which what, double *out)
{
    int r;
    size_t count = ivp->difference->count;
    memset(out, 0, count * sizeof *out);
    t = dae_ivp_one_sided(ivp, t);
    if (ivp->sys->kind == DAE_KIND_ODE) {
        TIMED(ivp, r, ivp->sys->ode.jac(t, y, out, ivp->user));
    } else if (ivp->sys->kind == DAE_KIND_DAE) {
        TIMED(ivp, r, ivp->sys->dae.jac(t, y, out, ivp->user));
    } else if (what == WRT_Y) {
        TIMED(ivp, r, ivp->sys->ide.dfdy(t, y, yp, out, ivp->user));
    } else {
        TIMED(ivp, r, ivp->sys->ide.dfdyp(t, y, yp, out, ivp->user));
    }
    return judge(ivp, r, (int)count, out);
}

static int evaluate(dae_ivp *ivp, double t, const double *y, const double *yp, double *out)
{
    int r = yp ? dae_ivp_residual(ivp, t, y, yp, out) : dae_ivp_f(ivp, t, y, out);
    ivp->stats->f--;
    ivp->stats->f_jac++;
    return r;
}

/* For a variable of a system whose size is s: sqrt(u s max(1e-5 s, |x|)), the rule of [RADAU] in its unit. */
static double increment(double x, double s)
{
    double a = fabs(x) / s, d = sqrt(UNIT * (a > MIN_SCALE ? a : MIN_SCALE));
    double relative = sqrt(UNIT) * a; /* the rule above is too small for |x| > s */
    return s * (d > relative ? d : relative);
}

/* 1, unless all of y and what the tolerances tell about its size is smaller than the increment of a variable at 0 can stand: a system in
 * units in which it is 1e-20 has derivatives, too. */
static double size_of(const dae_ivp *ivp, const double *y)
{
    double s = DBL_MIN / sqrt(UNIT * MIN_SCALE); /* the smallest increment is a normal number */
    for (int i = 0; i < ivp->n; i++) {
        s = fmax(s, fmax(fabs(y[i]), ivp->atol[i] / fmax(ivp->rtol[i], LEAST_RTOL)));
        if (!(s < MIN_SCALE)) return 1;
    }
    return s;
}

/* d->f := f(x + delta) - f(x). Where a variable is small beside its increment and the method takes J for exact, the mean of
 * both sides instead, which is right for quadratic terms (ours: Robertson by rodas5p at 1e-6, where y2 is 1e-13 and the
 * increment 3e-11: 672 steps with one side, 214 with both or with exact derivatives). */
static void subtract_base(dae_ivp *ivp, double t, const double *y, const double *yp, which what,
                          const double *base, int begin, int end)
{
    struct dae_difference *d = ivp->difference;
    const double *x = what == WRT_Y ? y : yp;
    int n = ivp->n, coarse = 0;
    for (int k = begin; k < end && ivp->exact_jacobian; k++) {
        int j = d->column[k];
        coarse |= fabs(x[j]) < COARSE * fabs(d->delta[j]);
    }
    if (coarse) {
        for (int k = begin; k < end; k++) d->y[d->column[k]] = x[d->column[k]] - d->delta[d->column[k]];
        coarse = !(what == WRT_Y ? evaluate(ivp, t, d->y, yp, d->g) : evaluate(ivp, t, y, d->y, d->g));
    }
    for (int i = 0; i < n; i++) d->f[i] = coarse ? 0.5 * (d->f[i] - d->g[i]) : d->f[i] - base[i];
}

/* The columns column[begin] .. column[end-1], which share no row, from one evaluation. */
static int difference_columns(dae_ivp *ivp, double t, const double *y, const double *yp, which what,
                              const double *base, int begin, int end, double *out)
{
    struct dae_difference *d = ivp->difference;
    const double *x = what == WRT_Y ? y : yp;
    int n = ivp->n, r = 1;
    double scale = 1;
    for (int attempt = 0; attempt < SHRINK_TRIES && r > 0; attempt++) {
        for (int k = begin; k < end; k++) {
            int j = d->column[k];
            double dx = scale * increment(x[j], d->size);
            d->y[j] = x[j] + dx;
            d->delta[j] = d->y[j] - x[j];
        }
        r = what == WRT_Y ? evaluate(ivp, t, d->y, yp, d->f) : evaluate(ivp, t, y, d->y, d->f);
        scale = scale > 0 ? -scale : -scale / 10; /* the other side first, then nearer */
    }
    if (!r) subtract_base(ivp, t, y, yp, what, base, begin, end);
    for (int k = begin; k < end; k++) d->y[d->column[k]] = x[d->column[k]];
    if (r) return r;
    for (int k = begin; k < end; k++) {
        int j = d->column[k];
        put_column(&ivp->jacobian, n, j, d->f, 1 / d->delta[j], out);
    }
    return 0;
}

/* Differences of f (yp NULL) or F with respect to y or y'; base = value at the point. Where a group cannot
 * be evaluated (its variables stand at borders of the domain, on different sides) each column goes alone. */
static int differences(dae_ivp *ivp, double t, const double *y, const double *yp, which what,
                       const double *base, double *out)
{
    struct dae_difference *d = ivp->difference;
    dae_copy(ivp->n, what == WRT_Y ? y : yp, d->y);
    d->size = what == WRT_Y ? size_of(ivp, y) : 1;
    for (int g = 0; g < d->ngroup; g++) {
        int begin = d->first[g], end = d->first[g + 1];
        int r = difference_columns(ivp, t, y, yp, what, base, begin, end, out);
        if (r > 0 && end > begin + 1) {
            r = 0;
            for (int k = begin; k < end && !r; k++)
                r = difference_columns(ivp, t, y, yp, what, base, k, k + 1, out);
        }
        if (r) return r;
    }
    return 0;
}

static int jacobian(dae_ivp *ivp, double t, const double *y, const double *yp, which what, const double *base,
                    int has_analytic, double *out)
{
    struct dae_difference *d = ivp->difference;
    if (ivp->matrix_free && !dae_matrix_free_at(ivp, t, y, base)) return 0;
    if (!has_analytic) return differences(ivp, t, y, yp, what, base, out);
    int r = analytic(ivp, t, y, yp, what, d->values);
    if (r) return r;
    if (d->same) memcpy(out, d->values, d->count * sizeof *out);
    else if (ivp->found_pattern) pick_values(ivp, y, d->values, out);
    else convert(&d->given, &ivp->jacobian, ivp->n, d->values, d->f, out);
    return 0;
}

static int use_analytic(const dae_ivp *ivp, which what)
{
    const dae_system *s = ivp->sys;
    if (ivp->opt->jacobian && *ivp->opt->jacobian == 'd' && !strcmp(ivp->opt->jacobian, "difference") &&
        !s->structure.jacobian.columns)
        return 0;
    if (ivp->matrix_free && s->structure.jacobian.storage != ivp->jacobian.storage)
        return 0; /* a part of it */
    if (s->kind == DAE_KIND_ODE) return s->ode.jac != NULL;
    if (s->kind == DAE_KIND_DAE) return s->dae.jac != NULL;
    return what == WRT_Y ? s->ide.dfdy != NULL : s->ide.dfdyp != NULL;
}

int dae_ivp_jacobian(dae_ivp *ivp, double t, const double *y, const double *f, double *jac)
{
    struct dae_difference *d = ivp->difference;
    ivp->stats->jac++;
    if (!d->plain || ivp->opt->profile)
        return jacobian(ivp, t, y, NULL, WRT_Y, f, use_analytic(ivp, WRT_Y), jac);
    memset(d->values, 0, d->count * sizeof *jac);
    int r = d->plain(dae_ivp_one_sided(ivp, t), y, d->values, ivp->user);
    if (r || !dae_all_finite((int)d->count, d->values)) return judge(ivp, r, (int)d->count, d->values);
    memcpy(jac, d->values, d->count * sizeof *jac);
    return 0;
}

int dae_ivp_residual_jacobian(dae_ivp *ivp, double t, const double *y, const double *yp, const double *F,
                              double *dfdy, double *dfdyp)
{
    ivp->stats->jac++;
    int r = dfdy ? jacobian(ivp, t, y, yp, WRT_Y, F, use_analytic(ivp, WRT_Y), dfdy) : 0;
    if (!r && dfdyp) r = jacobian(ivp, t, y, yp, WRT_YP, F, use_analytic(ivp, WRT_YP), dfdyp);
    return r;
}

int dae_ivp_dfdt(dae_ivp *ivp, double t, const double *y, const double *f, double *dfdt)
{
    const dae_system *s = ivp->sys;
    dae_rhs *fn = s->kind == DAE_KIND_ODE ? s->ode.dfdt : s->kind == DAE_KIND_DAE ? s->dae.dfdt : NULL;
    int r;
    if (fn) {
        TIMED(ivp, r, fn(dae_ivp_one_sided(ivp, t), y, dfdt, ivp->user));
        return judge(ivp, r, ivp->n, dfdt);
    }
    /* t may be far from 0 beside the steps: at 1e10 the rule gives 100 */
    double dt = increment(t, 1), most = fmax(STEP_PART * fabs(ivp->h_next), 16 * DBL_EPSILON * fabs(t));
    dt = ivp->direction * (most > 0 && most < dt ? most : dt);
    if (ivp->direction * (ivp->t_stop - (t + dt)) < 0) dt = -dt;
    dt = (t + dt) - t;
    r = evaluate(ivp, t + dt, y, NULL, dfdt);
    if (r) return r;
    for (int i = 0; i < ivp->n; i++) dfdt[i] = (dfdt[i] - f[i]) / dt;
    return 0;
}

/* ---- Choosing the storage ----------------------------------------------------------------------- */

/* Greedy grouping of columns so that no two of a group share a row. */
static int group_columns(dae_ivp *ivp, struct dae_difference *d)
{
    int n = ivp->n;
    const dae_pattern *p = &ivp->jacobian;
    d->first = dae_arena_ints(ivp->arena, (size_t)n + 1);
    d->column = dae_arena_ints(ivp->arena, (size_t)n);
    if ((p->storage == DAE_DENSE || p->columns > 0) && d->first &&
        d->column) { /* every column fills its group */
        for (int j = 0; j < n; j++) d->first[j] = d->column[j] = j;
        d->first[n] = d->ngroup = n;
        return 0;
    }
    int *taken = calloc((size_t)n + 1, sizeof *taken), *group = calloc((size_t)n + 1, sizeof *group);
    if (!d->first || !d->column || !taken || !group) {
        free(taken);
        free(group);
        return -1;
    }
    int left = n, k = 0;
    for (d->ngroup = 0; left > 0; d->ngroup++) { /* taken[i] = g+1: row i is used in group g */
        int g = d->ngroup;
        d->first[g] = k;
        for (int j = 0; j < n; j++) {
            if (group[j]) continue;
            int lo = 0, hi = 0, count, fits = 1;
            if (p->storage == DAE_SPARSE) {
                lo = p->colptr[j];
                hi = p->colptr[j + 1];
            } else {
                column_range(p, n, j, &lo, &hi);
            }
            count = hi - lo;
            for (int c = 0; c < count && fits; c++)
                fits = taken[p->storage == DAE_SPARSE ? p->rowind[lo + c] : lo + c] != g + 1;
            if (!fits) continue;
            for (int c = 0; c < count; c++)
                taken[p->storage == DAE_SPARSE ? p->rowind[lo + c] : lo + c] = g + 1;
            group[j] = 1;
            d->column[k++] = j;
            left--;
        }
    }
    d->first[d->ngroup] = n;
    free(taken);
    free(group);
    return 0;
}

/* A sparse pattern from n*n marks. */
static int pattern_from_marks(dae_ivp *ivp, const unsigned char *mark)
{
    int n = ivp->n, count = 0;
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++) count += mark[k];
    int *colptr = dae_arena_ints(ivp->arena, (size_t)n + 1),
        *rowind = dae_arena_ints(ivp->arena, (size_t)count + 1);
    if (!colptr || !rowind) return -1;
    int k = 0;
    for (int j = 0; j < n; j++) {
        colptr[j] = k;
        for (int i = 0; i < n; i++) {
            if (mark[(size_t)j * (size_t)n + (size_t)i]) rowind[k++] = i;
        }
    }
    colptr[n] = k;
    ivp->jacobian = (dae_pattern){.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind};
    return 0;
}

/* A value in (0.5, 1) that differs from component to component and from round to round. */
static double jitter(int i, int round)
{
    double x = sin(12.9898 * (i + 1) + 78.233 * (round + 1)) * 43758.5453;
    return 0.5 + 0.5 * (x - floor(x));
}

/* Finds which entries of the Jacobian can be nonzero by moving one variable at a time from several
 * points near (t, y). An entry that happens to vanish at all of them is missed, so three rounds: at the
 * point, near it, and farther away, where a product of two variables that start at zero shows too. */
static int probe(dae_ivp *ivp, double t, const double *y, const double *yp, unsigned char *mark)
{
    enum { ROUNDS = 3 };
    static const double away[ROUNDS] = {0, 1e-4, 0.1}, move[ROUNDS] = {1e-3, 1e-3, 0.1};
    int n = ivp->n;
    double *x = calloc(4 * (size_t)n, sizeof *x);
    if (!x) return -1;
    double *xp = x + n, *f0 = x + 2 * n, *f1 = x + 3 * n;
    int found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < n; i++) {
            double d = away[round] * jitter(i, round);
            x[i] = y[i] + d * (fabs(y[i]) + 1e-3);
            xp[i] = yp ? yp[i] + d * (fabs(yp[i]) + 1e-3) : 0;
        }
        if (evaluate(ivp, t, x, yp ? xp : NULL, f0)) continue;
        for (int pass = 0; pass < (yp ? 2 : 1); pass++) {
            double *v = pass ? xp : x;
            for (int j = 0; j < n; j++) {
                double keep = v[j];
                v[j] = keep + move[round] * jitter(j, round + 7) * (fabs(keep) + 1e-3);
                int r = evaluate(ivp, t, x, yp ? xp : NULL, f1);
                if (r) {
                    v[j] = keep - 1e-5 * (fabs(keep) + 1e-3);
                    r = evaluate(ivp, t, x, yp ? xp : NULL, f1);
                }
                v[j] = keep;
                for (int i = 0; i < n; i++) {
                    if (r || f1[i] != f0[i]) mark[(size_t)j * (size_t)n + (size_t)i] = 1;
                }
            }
        }
        found++;
    }
    free(x);
    return found ? 0 : 1;
}

/* The values of a Jacobian at the points of probe and at one where no variable is small, since differences in it do not show what is;
 * > 0: it cannot be evaluated there. */
static int probe_values(dae_ivp *ivp, double t, const double *y, unsigned char *mark)
{
    enum { POINTS = 4 };
    static const double away[POINTS] = {0, 1e-4, 0.1, 0.1}, least[POINTS] = {1e-3, 1e-3, 1e-3, 1};
    size_t n = (size_t)ivp->n;
    double *J = malloc((n * n + n) * sizeof *J), *x = J ? J + n * n : NULL;
    int found = 0;
    if (!J) return -1;
    for (int round = 0; round < POINTS; round++) {
        for (size_t i = 0; i < n; i++)
            x[i] = y[i] + away[round] * jitter((int)i, round) * (fabs(y[i]) + least[round]);
        if (analytic(ivp, t, x, NULL, WRT_Y, J)) continue;
        for (size_t k = 0; k < n * n; k++) mark[k] |= J[k] != 0;
        found++;
    }
    free(J);
    return found ? 0 : 1;
}

/* "auto", and a Jacobian that comes dense: mostly zeros are not factored. 0: done (sparse or not), < 0: out of memory. A value outside
 * that shows later is noticed when it comes (pick_values). */
static int find_pattern(dae_ivp *ivp, double t, const double *y)
{
    size_t n = (size_t)ivp->n, count = 0;
    unsigned char *mark = calloc(n * n, 1);
    if (!mark) return -1;
    int r = probe_values(ivp, t, y, mark);
    for (size_t i = 0; i < n; i++) mark[i * n + i] = 1;
    for (size_t k = 0; k < n * n; k++) count += mark[k];
    if (!r && count * MOSTLY_ZERO <= n * n) {
        r = pattern_from_marks(ivp, mark);
        ivp->found_pattern = r == 0;
    }
    free(mark);
    return r < 0 ? r : 0;
}

dae_status dae_ivp_extend_pattern(dae_ivp *ivp, dae_error *err)
{
    const dae_pattern *p = &ivp->jacobian;
    size_t n = (size_t)ivp->n;
    const double *J = ivp->difference->values;
    unsigned char *mark = calloc(n * n, 1);
    if (!mark)
        return dae_fail(err, DAE_ERR_MEMORY, ivp->t, "no memory for the pattern of a Jacobian of size %d",
                        ivp->n);
    for (size_t j = 0; j < n; j++) {
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) mark[j * n + (size_t)p->rowind[k]] = 1;
    }
    for (size_t k = 0; k < n * n; k++) mark[k] |= J[k] != 0;
    int r = pattern_from_marks(ivp, mark);
    ivp->found_pattern = 1;
    free(mark);
    return r ? dae_fail(err, DAE_ERR_MEMORY, ivp->t, "no memory for the pattern of a Jacobian of size %d",
                        ivp->n)
             : DAE_OK;
}

/* Marks of a pattern that is given in another storage. */
static void mark_pattern(const dae_pattern *p, int n, unsigned char *mark)
{
    for (int j = 0; j < n; j++) {
        int lo, hi;
        column_range(p, n, j, &lo, &hi);
        for (int i = lo; i < hi; i++) mark[(size_t)j * (size_t)n + (size_t)i] = 1;
    }
}

/* The band that holds a sparse pattern. */
static dae_pattern band_of(const dae_pattern *p, int n)
{
    dae_pattern band = {.storage = DAE_BANDED};
    for (int j = 0; j < n; j++) {
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
            int below = p->rowind[k] - j;
            if (below > band.lower) band.lower = below;
            if (-below > band.upper) band.upper = -below;
        }
    }
    return band;
}

/* 1: "auto" takes GMRES: large ODEs whose factors would fill up, as those of grids in two and three dimensions do. Ours: the
 * Brusselator by vode at 1e-4 with 2048 unknowns 50 ms (factors) and 10 (GMRES), with 80000 19 s and 1.1. */
static int too_much_to_factor(const dae_ivp *ivp)
{
    const dae_pattern *given = &ivp->sys->structure.jacobian;
    if (ivp->sys->kind != DAE_KIND_ODE || ivp->n < MANY || given->columns > 0 || ivp->opt->linear_solver ||
        ivp->corners)
        return 0;
    if (given->storage == DAE_DENSE) return !use_analytic(ivp, WRT_Y);
    return given->storage == DAE_SPARSE &&
           dae_sparse_flops(ivp->n, given->colptr, given->rowind) > FILLS * ivp->n;
}

static dae_status choose_storage(dae_ivp *ivp, double t, const double *y, const double *yp, dae_error *err)
{
    const dae_pattern *given = &ivp->sys->structure.jacobian;
    const char *want = ivp->opt->linear_algebra ? ivp->opt->linear_algebra : "auto";
    int n = ivp->n;
    ivp->jacobian = *given;
    dae_matrix_free_destroy(ivp);
    ivp->found_pattern = 0;
    ivp->linear_solver = ivp->opt->linear_solver;
    if (!strcmp(want, "krylov") || (!strcmp(want, "auto") && too_much_to_factor(ivp)))
        return dae_matrix_free_create(ivp, err);
    if (given->columns > 0) { /* one block is factored in the storage that suits it */
        if (use_analytic(ivp, WRT_Y)) return DAE_OK;
        return dae_fail(err, DAE_ERR_INPUT, t,
                        "a Jacobian with columns must be given; it cannot be made of differences");
    }
    if (!strcmp(want, "auto")) {
        if (given->storage == DAE_DENSE && n >= WORTH_PROBING && !yp && use_analytic(ivp, WRT_Y) &&
            find_pattern(ivp, t, y) < 0)
            return dae_fail(err, DAE_ERR_MEMORY, t,
                            "no memory to look for the pattern of a Jacobian of size %d", n);
        if (given->storage == DAE_SPARSE && n <= DENSE_LIMIT) ivp->jacobian = (dae_pattern){0};
        return DAE_OK;
    }
    if (!strcmp(want, "dense")) {
        ivp->jacobian = (dae_pattern){0};
        return DAE_OK;
    }
    if (!strcmp(want, "banded")) {
        if (given->storage == DAE_BANDED) return DAE_OK;
        if (given->storage == DAE_SPARSE) {
            ivp->jacobian = band_of(given, n);
            return DAE_OK;
        }
        return dae_fail(
            err, DAE_ERR_INPUT, t,
            "linear_algebra = banded, but the system gives no bandwidths; use auto, dense or sparse");
    }
    if (given->storage == DAE_SPARSE) return DAE_OK;
    unsigned char *mark = calloc((size_t)n * (size_t)n, 1);
    if (!mark) return dae_fail(err, DAE_ERR_MEMORY, t, "no memory to probe a Jacobian of size %d", n);
    int r = 0;
    if (given->storage == DAE_BANDED) mark_pattern(given, n, mark);
    else r = probe(ivp, t, y, yp, mark);
    if (!r) r = pattern_from_marks(ivp, mark);
    free(mark);
    if (r < 0)
        return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for the pattern of a Jacobian of size %d", n);
    if (r > 0)
        return dae_fail(
            err, DAE_ERR_UNDEFINED, t,
            "the system cannot be evaluated near the initial values, so its pattern cannot be found");
    return DAE_OK;
}

dae_status dae_ivp_prepare(dae_ivp *ivp, double t, const double *y, const double *yp, dae_error *err)
{
    if (ivp->sys->kind == DAE_KIND_MECH) return DAE_OK;
    struct dae_difference *d = ivp->difference;
    const dae_pattern *a = &ivp->sys->structure.jacobian, *b = &ivp->jacobian;
    d->given = *a;
    d->count = (size_t)dae_pattern_count(a, ivp->n);
    dae_status s = choose_storage(ivp, t, y, yp, err);
    if (s) return s;
    d->same = a->storage == b->storage;
    d->plain = NULL;
    if (d->same && !ivp->matrix_free && use_analytic(ivp, WRT_Y)) {
        if (ivp->sys->kind == DAE_KIND_ODE) d->plain = ivp->sys->ode.jac;
        if (ivp->sys->kind == DAE_KIND_DAE) d->plain = ivp->sys->dae.jac;
    }
    if (use_analytic(ivp, WRT_Y) || (ivp->sys->kind == DAE_KIND_IDE && use_analytic(ivp, WRT_YP)))
        d->values = dae_arena_reals(ivp->arena, (size_t)dae_pattern_count(a, ivp->n));
    d->y = dae_arena_reals(ivp->arena, (size_t)ivp->n);
    d->f = dae_arena_reals(ivp->arena, (size_t)ivp->n);
    if (ivp->matrix_free && !dae_matrix_free_values(ivp))
        return dae_arena_failed(ivp->arena) ? DAE_ERR_MEMORY : DAE_OK;
    d->g = dae_arena_reals(ivp->arena, (size_t)ivp->n);
    d->delta = dae_arena_reals(ivp->arena, (size_t)ivp->n);
    if (group_columns(ivp, d) || dae_arena_failed(ivp->arena)) {
        return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for the Jacobian of a system of size %d", ivp->n);
    }
    return DAE_OK;
}

/* ---- Derivatives and first steps ----------------------------------------------------------------- */

/* The first of the block that i is in. */
static int first_of(int *block, int i)
{
    while (block[i] != i) i = block[i] = block[block[i]];
    return i;
}

static void join(int *block, int i, int j)
{
    int a = first_of(block, i), b = first_of(block, j);
    block[a > b ? a : b] = a < b ? a : b;
}

/* The blocks of M: i and j are in one where M_ij is not zero; block[i] is the least in it. */
static void find_blocks(const dae_matrix *M, int n, int *block)
{
    const dae_pattern *p = &M->pattern;
    int listed = p->storage == DAE_SPARSE && p->columns == 0;
    for (int i = 0; i < n; i++) block[i] = i;
    for (int j = 0; j < n; j++) {
        for (int k = listed ? p->colptr[j] : 0; k < (listed ? p->colptr[j + 1] : n); k++) {
            int i = listed ? p->rowind[k] : k;
            if (i != j && (listed ? M->a[k] : dae_matrix_get(M, i, j)) != 0) join(block, i, j);
        }
    }
    for (int i = 0; i < n; i++) block[i] = first_of(block, i);
}

/* The block that begins at `first`, of M y' = f in least squares; f is in yp; member: room for n. */
static int solve_block(const dae_matrix *M, int n, const int *block, int first, double *yp, int *member)
{
    int size = 0;
    for (int i = first; i < n; i++) {
        if (block[i] == first) member[size++] = i;
    }
    if (size == 1) {
        double a = dae_matrix_get(M, first, first);
        yp[first] = a != 0 ? yp[first] / a : 0;
        return 0;
    }
    double *a = calloc((size_t)(size + 1) * (size_t)size, sizeof *a),
           *x = a ? a + (size_t)size * (size_t)size : NULL;
    if (!a) return -1;
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++)
            a[(size_t)j * (size_t)size + (size_t)i] = dae_matrix_get(M, member[i], member[j]);
        x[j] = yp[member[j]];
    }
    int r = dae_least_squares(size, size, a, x, DBL_EPSILON * n);
    for (int i = 0; i < size && r >= 0; i++) yp[member[i]] = x[i];
    free(a);
    return r;
}

int dae_ivp_derivative(dae_ivp *ivp, double t, const double *y, double *yp)
{
    dae_matrix M = dae_ivp_mass(ivp);
    int n = ivp->n, r = dae_ivp_f(ivp, t, y, yp);
    if (r || M.n == 0) return r;
    if (M.pattern.storage == DAE_DIAGONAL) {
        for (int i = 0; i < n; i++) yp[i] = M.a[i] != 0 ? yp[i] / M.a[i] : 0;
        return 0;
    }
    int *block = malloc(2 * (size_t)n * sizeof *block);
    if (!block) return DAE_IVP_NO_MEMORY;
    find_blocks(&M, n, block);
    for (int k = 0; k < n && r >= 0; k++) {
        if (block[k] == k) r = solve_block(&M, n, block, k, yp, block + n);
    }
    free(block);
    return r < 0 ? DAE_IVP_NO_MEMORY : 0;
}

double dae_ivp_first_step(dae_ivp *ivp, double t0, const double *y0, const double *f0, int order)
{
    int n = ivp->n;
    struct dae_difference *d = ivp->difference;
    double dy = 0, df = 0, d2 = 0, room = fmin(fabs(ivp->t_end - t0), fabs(ivp->t_stop - t0));
    if (room == 0) return 0;
    for (int i = 0; i < n; i++) {
        double w = ivp->atol[i] + ivp->rtol[i] * fabs(y0[i]);
        if (!(w > 0)) w = DBL_MIN;
        dy += y0[i] / w * (y0[i] / w);
        df += f0[i] / w * (f0[i] / w);
    }
    dy = sqrt(dy / n);
    df = sqrt(df / n);
    double h = dy < 1e-5 || df < 1e-5 ? 1e-6 : 0.01 * dy / df;
    if (h > room) h = room;
    for (int i = 0; i < n; i++) d->y[i] = y0[i] + ivp->direction * h * f0[i];
    if (dae_ivp_f(ivp, t0 + ivp->direction * h, d->y, d->f)) return 1e-3 * h;
    for (int i = 0; i < n; i++) {
        double w = ivp->atol[i] + ivp->rtol[i] * fabs(y0[i]);
        if (!(w > 0)) w = DBL_MIN;
        d2 += (d->f[i] - f0[i]) / w * ((d->f[i] - f0[i]) / w);
    }
    d2 = sqrt(d2 / n) / h;
    double largest = df > d2 ? df : d2;
    double h1 = largest <= 1e-15 ? fmax(1e-6, 1e-3 * h) : pow(0.01 / largest, 1.0 / (order + 1));
    h = fmin(100 * h, h1);
    return fmin(h, room);
}

/* ---- Consistent values of an IDE ------------------------------------------------------------------ */

/* Room for Newton's method on F(t,y,y') = 0; all dense. */
typedef struct consistent {
    double *vy, *vp; /* dF/dy and dF/dy' in the layout of ivp->jacobian */
    double *a, *b;   /* the same, dense; a also the matrix of the linear system */
    double *F, *x, *keep;
    double *algebraic; /* 1: y_j is sought, 0: y'_j is */
} consistent;

/* The Jacobians at (t, y, yp), where F is known. */
static int linearize(dae_ivp *ivp, double t, const double *y, const double *yp, consistent *c)
{
    static const dae_pattern dense = {0};
    int r = dae_ivp_residual_jacobian(ivp, t, y, yp, c->F, c->vy, c->vp);
    ivp->stats->jac--; /* not one of the method's */
    if (r) return r;
    convert(&ivp->jacobian, &dense, ivp->n, c->vy, c->keep, c->a);
    convert(&ivp->jacobian, &dense, ivp->n, c->vp, c->keep, c->b);
    return 0;
}

/* The unknowns: y'_j, but y_j where y'_j does not occur. Their columns go to a. */
static void pick_unknowns(const dae_ivp *ivp, consistent *c)
{
    int n = ivp->n;
    const int *given = ivp->sys->ide.algebraic;
    for (int j = 0; j < n; j++) {
        const double *column = c->b + (size_t)j * (size_t)n;
        int algebraic = given ? given[j] : 1;
        for (int i = 0; !given && i < n && algebraic; i++) algebraic = column[i] == 0;
        c->algebraic[j] = algebraic;
        if (!algebraic) dae_copy(n, column, c->a + (size_t)j * (size_t)n);
    }
}

static double tolerance_of(const dae_ivp *ivp, int j, double y)
{
    return ivp->atol[j] + ivp->rtol[j] * fabs(y);
}

/* Adds the increment, halved while F cannot be evaluated there; *size: of the increment, in tolerances. */
static int take_increment(dae_ivp *ivp, double t, double *y, double *yp, consistent *c, double *size)
{
    enum { HALVINGS = 10 };
    int n = ivp->n, r = 1;
    for (int j = 0; j < n; j++) c->keep[j] = c->algebraic[j] != 0 ? y[j] : yp[j];
    double part = 1;
    for (int k = 0; k < HALVINGS && r > 0; k++, part /= 2) {
        *size = 0;
        for (int j = 0; j < n; j++) {
            double dx = part * c->x[j], w = tolerance_of(ivp, j, y[j]);
            if (c->algebraic[j] != 0) y[j] = c->keep[j] + dx;
            else yp[j] = c->keep[j] + dx;
            double unit = c->algebraic[j] != 0 ? w : 1e-10 * (fabs(yp[j]) + w);
            *size = fmax(*size, fabs(dx) / (unit + DBL_MIN));
        }
        r = dae_ivp_residual(ivp, t, y, yp, c->F);
    }
    return r;
}

/* What is left must be below what a change of y within its tolerance does. */
static dae_status check_residual(const dae_ivp *ivp, double t, const double *y, const double *yp,
                                 const consistent *c, dae_error *err)
{
    int n = ivp->n;
    for (int i = 0; i < n; i++) {
        double allowed = DBL_MIN;
        for (int j = 0; j < n; j++) {
            size_t ij = (size_t)j * (size_t)n + (size_t)i;
            allowed += fabs(c->a[ij]) * tolerance_of(ivp, j, y[j]) + fabs(c->b[ij]) * 1e-6 * fabs(yp[j]);
        }
        if (fabs(c->F[i]) > 10 * allowed) {
            return dae_fail(err, DAE_ERR_INCONSISTENT, t,
                            "t = %g: no consistent initial values: equation %d keeps the residual %.3g (a "
                            "change of y within the "
                            "tolerances explains %.3g); check that the algebraic equations hold at the start",
                            t, i + 1, c->F[i], allowed);
        }
    }
    return DAE_OK;
}

static dae_status consistent_failed(const dae_ivp *ivp, double t, int r, dae_error *err)
{
    if (r == DAE_IVP_NO_MEMORY)
        return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for consistent initial values of %d equations",
                        ivp->n);
    if (r < 0)
        return dae_fail(err, DAE_ERR_CALLBACK, t, "t = %g: the residual asked to stop at the initial values",
                        t);
    if (ivp->bad_component >= 0) {
        return dae_fail(
            err, DAE_ERR_UNDEFINED, t,
            "t = %g: component %d of the residual or its Jacobian is not finite at the initial values; "
            "check them and the domain of the equations",
            t, ivp->bad_component + 1);
    }
    return dae_fail(err, DAE_ERR_UNDEFINED, t,
                    "t = %g: the residual cannot be evaluated at the initial values", t);
}

/* y'_j of algebraic components, from d/dt F(t,y,y') = 0 with the differential y' as they are: y''_j (differential) and y'_j (algebraic) are the
 * unknowns, with the matrix of Newton's method, and F_t + F_y y' is a difference over delta. Behind a kink those of the other side would be
 * a first guess that lets the first steps fail. Higher indices would need more derivatives of F: they stay. */
static void algebraic_rates(dae_ivp *ivp, double t, const double *y, double *yp, double delta, consistent *c)
{
    int n = ivp->n, any = 0;
    for (int j = 0; ivp->index && j < n; j++) {
        if (ivp->index[j] > 1) return;
    }
    pick_unknowns(ivp, c);
    for (int j = 0; j < n; j++) {
        int algebraic = c->algebraic[j] != 0;
        any |= algebraic;
        c->keep[j] = algebraic ? y[j] : y[j] + delta * yp[j];
    }
    if (!any || delta == 0 || dae_ivp_residual(ivp, t + delta, c->keep, yp, c->x)) return;
    for (int i = 0; i < n; i++) c->x[i] = (c->F[i] - c->x[i]) / delta;
    if (dae_least_squares(n, n, c->a, c->x, 1e-12) < n) return; /* the rank */
    for (int j = 0; j < n; j++) {
        if (c->algebraic[j] != 0 && isfinite(c->x[j])) yp[j] = c->x[j];
    }
}

/* Newton's method in least squares for x_j = y'_j (differential) or y_j (algebraic). */
dae_status dae_ivp_consistent(dae_ivp *ivp, double t, double *y, double *yp, double delta, dae_error *err)
{
    enum { TRIES = 12 };
    int n = ivp->n;
    size_t size = (size_t)n, nn = size * size, stored = (size_t)dae_pattern_count(&ivp->jacobian, n);
    double *work = calloc(2 * stored + 2 * nn + 4 * size, sizeof *work);
    if (!work) return consistent_failed(ivp, t, DAE_IVP_NO_MEMORY, err);
    consistent c = {.vy = work, .vp = work + stored, .a = work + 2 * stored};
    c.b = c.a + nn;
    c.F = c.b + nn;
    c.x = c.F + n;
    c.keep = c.x + n;
    c.algebraic = c.keep + n;
    double change = INFINITY; /* of the last increment */
    int r = dae_ivp_residual(ivp, t, y, yp, c.F);
    if (!r) r = linearize(ivp, t, y, yp, &c);
    for (int k = 0; k < TRIES && !r && change >= 1e-3; k++) {
        pick_unknowns(ivp, &c);
        for (int i = 0; i < n; i++) c.x[i] = -c.F[i];
        if (dae_least_squares(n, n, c.a, c.x, 1e-12) < 0) r = DAE_IVP_NO_MEMORY;
        if (!r) r = take_increment(ivp, t, y, yp, &c, &change);
        if (!r) r = linearize(ivp, t, y, yp, &c);
    }
    dae_status s = r ? consistent_failed(ivp, t, r, err) : check_residual(ivp, t, y, yp, &c, err);
    if (s == DAE_OK && delta != 0) algebraic_rates(ivp, t, y, yp, delta, &c);
    free(work);
    return s;
}

/* ---- Failing ---------------------------------------------------------------------------------------- */

dae_status dae_ivp_fail(dae_ivp *ivp, dae_status s, const char *format, ...)
{
    if (ivp->err) {
        char text[sizeof ivp->err->text];
        va_list args;
        va_start(args, format);
        dae_vsnprintf(text, sizeof text, format, args);
        va_end(args);
        dae_fail(ivp->err, s, ivp->t, "%s", text);
    }
    return s;
}

/* By hand: formatting costs more than all else that a small system needs to start. */
void dae_ivp_solves_fixed(dae_ivp *ivp)
{
    char text[64] = "dense ", digit[16];
    size_t used = strlen(text), count = 0;
    for (int n = ivp->n; n > 0; n /= 10) digit[count++] = (char)('0' + n % 10);
    while (count) text[used++] = digit[--count];
    memcpy(text + used, " (kernel of this size)", sizeof " (kernel of this size)");
    dae_ivp_solves_with(ivp, text);
}

void dae_ivp_solves_with(dae_ivp *ivp, const char *what)
{
    size_t length = strlen(what), most = sizeof ivp->solves_with - 1;
    if (length > most) length = most;
    memcpy(ivp->solves_with, what, length);
    ivp->solves_with[length] = 0;
    dae_log(ivp->opt, DAE_LOG_INFO, "linear_algebra=\"%s\"", what);
}
