/* Integrals along a run. The driver hands over every piece of the solution while its dense output is valid; on each the integrands are
 * integrated by the 15 points of Kronrod with the 7 of Gauss inside [PDUK83, QK15], and halves of it where the tolerance is not met.
 * So the integrals need nothing of the method, and cost no steps.
 *
 * Derivatives: of g along the derivatives s of the solution,
 *
 *     dq/dp = integral of (g_y s + g_p) dt + sum over events of (g(t*-) - g(t*+)) dt* /dp,
 *
 * or by the adjoint of the integrals at the end, with the integral of g_p from the run itself. */
#include <daedalus/quadrature.h>

#include "core/arena.h"
#include "core/error.h"
#include "problem/problem.h"
#include "sensitivity/forward.h"
#include "sensitivity/quantity.h"
#include "simulation/simulation.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 15, GAUSS = 7, DEEPEST = 24, FEW = 8 };
#define PART 0.1  /* ours: of the rtol of the run, where nothing is said */
#define SAME 1e-7 /* ours: of the interval: the same time, where an event ended the run */
#define NOISE 50  /* rounding units of the integral of |g|, as in [PDUK83] */

/* Kronrod's points of [-1, 1] from the outermost in, their weights, and Gauss' weights for every second of them; to 33 digits in
 * [PDUK83]. tests/sensitivity/test_quadrature.c checks that they are exact for polynomials. */
static const double point[8] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                                0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                                0.586087235467691130294144691693941, 0.405845151377397166906606412076961,
                                0.207784955007898467600689403773245, 0};
static const double kronrod[8] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                                  0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                                  0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                                  0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
static const double gauss[4] = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                                0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

typedef struct quadrature {
    const dae_problem *p;
    const dae_quadrature_options *opt;
    int n, ncolumn, count, nby, total; /* total = count*(1+nby): integrals, then their derivatives */
    dae_arena *arena;
    dae_expression **e; /* count, or NULL: functions */
    int *parameter;     /* nby: the number of the quantity; -1: an initial value */
    int columns;        /* 1: columns occur */
    dae_simulation *sim;
    dae_sensitivity *s;
    dae_integrator *it;
    double *y, *values, *column, *dcolumn, *variable, *x, *dx, *work;
    double *row;                    /* POINTS*total: at the points of one formula */
    double *sum, *absolute, *error; /* total each, so far */
    double *last, *here;            /* count: g at the end of the last piece, at the beginning of this one */
    int seen, begun;                /* events; 1: last is known */
    double rtol, atol, length;
    dae_status status;
    dae_error *err;
} quadrature;

dae_quadrature_options dae_quadrature_options_default(const dae_problem *p)
{
    return (dae_quadrature_options){.simulation = dae_simulation_options_default(p), .mode = "auto"};
}

/* ---- The integrands ------------------------------------------------------------------------------------------ */

static dae_status look(quadrature *q, double t)
{
    if (q->s)
        return dae_sensitivity_at(q->s, t, q->y, q->values, q->columns ? q->column : NULL,
                                  q->columns ? q->dcolumn : NULL, q->err);
    if (dae_integrator_interpolate(q->it, t, q->sim->z, NULL) < 0)
        return dae_fail(q->err, DAE_ERR_INTERNAL, t, "t = %.10g is not inside the last step", t);
    dae_simulation_lower(q->sim, t, q->sim->z, q->y, NULL, NULL);
    return q->columns ? dae_problem_columns(q->p, t, q->y, q->column, q->err) : DAE_OK;
}

/* d(integrand k)/dp_j from its derivatives dx by the variables that occur. */
static double derivative_of(const quadrature *q, const int *variable, int nv, int j)
{
    double d = 0;
    for (int i = 0; i < nv; i++) {
        int v = variable[i];
        if (v < q->n) d += q->s ? q->dx[i] * q->values[v + q->n * j] : 0;
        else if (v < q->n + q->ncolumn) d += q->s ? q->dx[i] * q->dcolumn[v - q->n + q->ncolumn * j] : 0;
        else if (v == q->parameter[j]) d += q->dx[i];
    }
    return d;
}

static dae_status functions(quadrature *q, double t, double *out)
{
    const dae_quadrature_options *o = q->opt;
    int r = o->g(t, q->y, out, o->user);
    if (!r && q->s) r = o->dgdy(t, q->y, q->dx, o->user);
    for (int j = 0; j < q->nby && !r; j++) {
        for (int k = 0; k < q->count; k++) {
            double d = 0;
            for (int i = 0; i < q->n && q->s; i++) d += q->dx[k + q->count * i] * q->values[i + q->n * j];
            out[q->count * (1 + j) + k] = d;
        }
    }
    return r ? dae_fail(q->err, DAE_ERR_CALLBACK, t, "t = %.10g: the integrand cannot be evaluated", t)
             : DAE_OK;
}

/* All integrands (total) at t inside the present piece. */
static dae_status evaluate(quadrature *q, double t, double *out)
{
    dae_status r = look(q, t);
    if (r < 0) return r;
    if (!q->e) return functions(q, t, out);
    memcpy(q->variable, q->y, (size_t)q->n * sizeof *q->y);
    if (q->columns) memcpy(q->variable + q->n, q->column, (size_t)q->ncolumn * sizeof *q->column);
    q->variable[q->n + q->ncolumn] = t;
    for (int k = 0; k < q->count; k++) {
        const int *v;
        int nv = dae_expression_variables(q->e[k], &v);
        for (int i = 0; i < nv; i++) q->x[i] = q->variable[v[i]];
        out[k] = q->nby ? dae_expression_gradient(q->e[k], q->x, q->dx, q->work)
                        : dae_expression_value(q->e[k], q->x, q->work);
        if (!isfinite(out[k]))
            return dae_fail(q->err, DAE_ERR_UNDEFINED, t, "t = %.10g: integrand %d is not finite", t, k + 1);
        for (int j = 0; j < q->nby; j++) out[q->count * (1 + j) + k] = derivative_of(q, v, nv, j);
    }
    return DAE_OK;
}

/* ---- One piece ------------------------------------------------------------------------------------------------ */

/* Kronrod's formula for component i over half a length h; *size: of |g|. Returns the estimate of its error, [PDUK83] QK15. */
static double formula(const quadrature *q, int i, double h, double *value, double *size)
{
    double k = 0, g = 0, absolute = 0, spread = 0;
    for (int m = 0; m < POINTS; m++) {
        int at = m < 8 ? m : POINTS - 1 - m;
        double f = q->row[m * q->total + i];
        k += kronrod[at] * f;
        absolute += kronrod[at] * fabs(f);
        if (m % 2) g += gauss[at / 2] * f;
    }
    for (int m = 0; m < POINTS; m++)
        spread += kronrod[m < 8 ? m : POINTS - 1 - m] * fabs(q->row[m * q->total + i] - k / 2);
    double off = fabs(k - g) * h;
    *value = k * h;
    *size = absolute * h;
    spread *= h;
    if (off > 0 && spread > 0) off = spread * fmin(1, pow(200 * off / spread, 1.5));
    return off;
}

/* [a, b], at this depth of halving. */
static dae_status integrate(quadrature *q, double a, double b, int depth)
{
    double middle = (a + b) / 2, half = (b - a) / 2, value, size;
    dae_status r = DAE_OK;
    for (int m = 0; m < POINTS && r >= 0; m++) {
        double x = m < 8 ? -point[m] : point[POINTS - 1 - m];
        r = evaluate(q, middle + half * x, q->row + m * q->total);
    }
    if (r < 0) return r;
    int fine = 1;
    for (int i = 0; i < q->count && fine && depth < DEEPEST; i++) {
        double off = formula(q, i, fabs(half), &value, &size), part = fabs(b - a) / q->length;
        fine = off <= q->rtol * fmax(size, q->absolute[i] * part) + q->atol * part ||
               off <= NOISE * DBL_EPSILON * (size + q->absolute[i] * part);
    }
    if (!fine && middle != a && middle != b) {
        r = integrate(q, a, middle, depth + 1);
        return r < 0 ? r : integrate(q, middle, b, depth + 1);
    }
    for (int i = 0; i < q->total; i++) {
        q->error[i] += formula(q, i, fabs(half), &value, &size);
        q->sum[i] += half < 0 ? -value : value;
        q->absolute[i] += size;
    }
    return DAE_OK;
}

/* The end of a piece has moved with event m by dt* /dp. */
static void move_end(quadrature *q, int m, const double *g)
{
    const double *dt;
    int count;
    dae_sensitivity_events(q->s, &dt, &count);
    for (int j = 0; j < q->nby && m < count; j++) {
        for (int k = 0; k < q->count; k++) q->sum[q->count * (1 + j) + k] += g[k] * dt[q->nby * m + j];
    }
}

static dae_status cross_events(quadrature *q, double t)
{
    int count = 0;
    dae_sensitivity_events(q->s, NULL, &count);
    if (count == q->seen || !q->begun) return DAE_OK;
    dae_status r = evaluate(q, t, q->row);
    if (r < 0) return r;
    for (int k = 0; k < q->count; k++) q->here[k] = q->last[k] - q->row[k];
    for (; q->seen < count - 1; q->seen++) continue; /* of events at one time the last is taken */
    move_end(q, q->seen++, q->here);
    return DAE_OK;
}

static int piece(dae_integrator *it, double from, double to, int degree, void *user)
{
    quadrature *q = user;
    (void)it;
    (void)degree;
    q->status = q->s ? cross_events(q, from) : DAE_OK;
    if (q->status >= 0) q->status = integrate(q, from, to, 0);
    if (q->status >= 0 && q->s) {
        q->status = evaluate(q, to, q->row);
        memcpy(q->last, q->row, (size_t)q->count * sizeof *q->last);
        q->begun = 1;
    }
    return q->status < 0 ? -1 : 0;
}

/* ---- A run ------------------------------------------------------------------------------------------------------ */

static dae_status take_memory(quadrature *q, dae_error *err)
{
    dae_arena *a = q->arena;
    size_t n = (size_t)q->n, nby = (size_t)q->nby, count = (size_t)q->count, total = (size_t)q->total,
           all = (size_t)dae_quantity_count(q->p);
    double **vector[] = {&q->y,   &q->values, &q->column,   &q->dcolumn, &q->variable, &q->x,
                         &q->row, &q->sum,    &q->absolute, &q->error,   &q->last,     &q->here};
    size_t size[] = {n,
                     n * nby,
                     (size_t)q->ncolumn,
                     (size_t)q->ncolumn * nby,
                     all,
                     all,
                     POINTS * total,
                     total,
                     total,
                     total,
                     count,
                     count};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) *vector[k] = dae_arena_reals(a, size[k] + 1);
    q->dx = dae_arena_reals(a, all > count * n ? all : count * n);
    q->parameter = dae_arena_ints(a, nby + 1);
    if (dae_arena_failed(a)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    const dae_parameter *list = q->p->info ? q->p->info->parameter : NULL;
    for (int i = 0; list && list[i].name; i++)
        q->variable[dae_quantity_parameters(q->p) + i] = q->p->parameter[i];
    for (int j = 0; j < q->nby; j++) {
        int k = list ? dae_parameter_find(q->p, q->opt->by[j]) : -1;
        q->parameter[j] = k < 0 ? -1 : dae_quantity_parameters(q->p) + k;
    }
    return DAE_OK;
}

static dae_status read_texts(quadrature *q, const char *const *text, dae_error *err)
{
    size_t work = 0;
    q->e = dae_arena_take(q->arena, (size_t)q->count, sizeof(dae_expression *));
    if (!q->e) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int k = 0; k < q->count; k++) {
        q->e[k] = dae_quantity_read(q->p, text[k], err);
        if (!q->e[k]) return err->status;
        q->columns |= dae_quantity_has_columns(q->p, q->e[k]);
        size_t one = dae_expression_work(q->e[k]);
        work = one > work ? one : work;
    }
    q->work = dae_arena_reals(q->arena, work + 1);
    return q->work ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* With derivatives beside the solution, or without: then the derivatives of the integrals are those at fixed y. */
static dae_status open_run(quadrature *q, int forward, dae_error *err)
{
    const dae_quadrature_options *o = q->opt;
    if (forward) {
        dae_sensitivity_options s = {.simulation = o->simulation, .mode = "auto"};
        q->s = dae_sensitivity_open(q->p, &s, o->by, q->nby, err);
        if (q->s) q->it = dae_sensitivity_integrator(q->s);
    } else {
        q->sim = dae_simulation_open(q->p, &o->simulation, err);
        if (q->sim) q->it = q->sim->it;
    }
    if (!q->it) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    q->err = err;
    q->length = fabs(o->simulation.t_end - q->p->t0);
    dae_integrator_set_pieces(q->it, piece, q);
    return q->s ? dae_sensitivity_start(q->s, err) : dae_simulation_start(q->sim, err);
}

static void close_run(quadrature *q)
{
    dae_simulation_close(q->sim);
    dae_sensitivity_close(q->s);
    q->sim = NULL;
    q->s = NULL;
    q->it = NULL;
}

static dae_status advance(quadrature *q, double t, dae_error *err)
{
    dae_status r = q->s ? dae_sensitivity_advance(q->s, t, err) : dae_simulation_advance(q->sim, t, err);
    if (q->status < 0) return q->status; /* err says what the integrand said */
    if (r == DAE_EVENT && q->s) {
        int count = 0;
        dae_sensitivity_events(q->s, NULL, &count);
        move_end(q, count - 1, q->last);
    }
    return r;
}

static dae_status run(quadrature *q, int forward, const double *times, int ntimes, double *value,
                      double *error, double *derivative, dae_error *err)
{
    size_t count = (size_t)q->count, more = count * (size_t)q->nby;
    double end = q->opt->simulation.t_end;
    dae_error inner = {0};
    dae_status r = open_run(q, forward, err);
    if (r < 0) return r;
    q->err = &inner;
    for (int i = 0; i < (ntimes ? ntimes : 1); i++) {
        if (r == DAE_OK) r = advance(q, ntimes ? times[i] : end, err);
        if (q->status < 0) *err = inner;
        if (r < 0 || r == DAE_CANCELLED) return r;
        /* the times of a run with derivatives beside it may differ by what its steps do */
        double beyond = ntimes ? (times[i] - dae_integrator_time(q->it)) / (end - q->p->t0) : 0;
        int there = r == DAE_OK || beyond <= SAME;
        for (size_t k = 0; k < count; k++) {
            value[(size_t)i * count + k] = there ? q->sum[k] : NAN;
            if (error) error[(size_t)i * count + k] = there ? q->error[k] : NAN;
        }
        for (size_t k = 0; k < more && derivative; k++)
            derivative[(size_t)i * more + k] = there ? q->sum[count + k] : NAN;
    }
    return r;
}

/* ---- The adjoint ------------------------------------------------------------------------------------------------- */

typedef struct one_integrand {
    quadrature *q;
    int k;
} one_integrand;

static int running(double t, const double *y, double *value, double *dy, void *user)
{
    const one_integrand *one = user;
    quadrature *q = one->q;
    if (!q->e) {
        int r = q->opt->g(t, y, q->row, q->opt->user);
        if (!r) r = q->opt->dgdy(t, y, q->dx, q->opt->user);
        *value = q->row[one->k];
        for (int i = 0; i < q->n; i++) dy[i] = q->dx[one->k + q->count * i];
        return r;
    }
    const int *v;
    int nv = dae_expression_variables(q->e[one->k], &v);
    memcpy(q->variable, y, (size_t)q->n * sizeof *y);
    q->variable[q->n + q->ncolumn] = t;
    for (int i = 0; i < nv; i++) q->x[i] = q->variable[v[i]];
    *value = dae_expression_gradient(q->e[one->k], q->x, q->dx, q->work);
    memset(dy, 0, (size_t)q->n * sizeof *dy);
    for (int i = 0; i < nv; i++) {
        if (v[i] < q->n) dy[v[i]] = q->dx[i];
    }
    return isfinite(*value) ? 0 : 1;
}

/* Adds what the solution contributes to the derivatives, which hold the part of the integrands themselves. */
static dae_status add_adjoint(quadrature *q, double *derivative, dae_error *err)
{
    dae_gradient_options o = {.simulation = q->opt->simulation, .mode = "adjoint"};
    double *gradient = dae_arena_reals(q->arena, (size_t)q->nby), value;
    if (!gradient) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int k = 0; k < q->count; k++) {
        one_integrand one = {q, k};
        dae_functional G = {.running = running, .user = &one};
        dae_status r = dae_gradient(q->p, &o, &G, q->opt->by, q->nby, &value, gradient, NULL, err);
        if (r < 0 || r == DAE_CANCELLED) return r;
        for (int j = 0; j < q->nby; j++) derivative[k + q->count * j] += gradient[j];
    }
    return DAE_OK;
}

/* Why the adjoint cannot be taken; NULL: it can. */
static const char *refuse_adjoint(const quadrature *q, int ntimes)
{
    if (ntimes) return "the adjoint gives derivatives at the end of the run only";
    if (q->columns) return "the adjoint does not go through sensors and reactions";
    return NULL;
}

static dae_status with_derivatives(quadrature *q, const double *times, int ntimes, double *value,
                                   double *error, double *derivative, dae_error *err)
{
    const char *mode = q->opt->mode ? q->opt->mode : "auto", *why = refuse_adjoint(q, ntimes);
    int automatic = !strcmp(mode, "auto"), adjoint = !strcmp(mode, "adjoint");
    if (!automatic && !adjoint && strcmp(mode, "forward") != 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "mode \"%s\" is not one of auto, adjoint, forward", mode);
    if (adjoint && why) return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "%s; take \"forward\"", why);
    if (adjoint || (automatic && !why && q->nby >= FEW)) {
        dae_status r = run(q, 0, times, ntimes, value, error, derivative, err);
        close_run(q);
        if (r >= 0 && r != DAE_CANCELLED) r = add_adjoint(q, derivative, err);
        if (adjoint || r != DAE_ERR_UNSUPPORTED) return r;
        memset(q->sum, 0, (size_t)q->total * sizeof *q->sum);
        memset(q->absolute, 0, (size_t)q->total * sizeof *q->absolute);
        memset(q->error, 0, (size_t)q->total * sizeof *q->error);
    }
    return run(q, 1, times, ntimes, value, error, derivative, err);
}

/* ---- All ------------------------------------------------------------------------------------------------------------ */

static dae_status check(const dae_problem *p, const dae_quadrature_options *opt, const char *const *text,
                        int count, const double *times, int ntimes, const double *value,
                        const double *derivative, dae_error *err)
{
    if (dae_need(p, "the problem", err) || dae_need(p->y0, "y0", err) || dae_need(value, "the value", err))
        return DAE_ERR_INPUT;
    if (count < 1) return dae_fail(err, DAE_ERR_INPUT, NAN, "no integrand is given");
    if (!opt->g && dae_need(text, "the texts of the integrands", err)) return DAE_ERR_INPUT;
    for (int k = 0; !opt->g && k < count; k++) {
        if (dae_need(text[k], "the text of an integrand", err)) return DAE_ERR_INPUT;
    }
    if (ntimes > 0 && dae_need(times, "the times", err)) return DAE_ERR_INPUT;
    if (!(opt->rtol >= 0) || !(opt->atol >= 0))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "rtol = %g and atol = %g must not be negative", opt->rtol,
                        opt->atol);
    if (opt->nby > 0 && (dae_need(opt->by, "the names", err) || dae_need(derivative, "the derivative", err)))
        return DAE_ERR_INPUT;
    if (opt->nby > 0 && opt->g && !opt->dgdy)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "derivatives of a function need dgdy");
    return DAE_OK;
}

dae_status dae_quadrature(const dae_problem *p, const dae_quadrature_options *opt, const char *const *text,
                          int count, const double *times, int ntimes, double *value, double *error,
                          double *derivative, dae_error *err)
{
    dae_error own = {0};
    if (!err) err = &own;
    *err = (dae_error){0};
    dae_quadrature_options standard;
    if (!opt && p) {
        standard = dae_quadrature_options_default(p);
        opt = &standard;
    }
    dae_status r = check(p, opt, text, count, times, ntimes, value, derivative, err);
    if (r < 0) return r;
    int nby = opt->nby > 0 ? opt->nby : 0;
    quadrature q = {.p = p,
                    .opt = opt,
                    .n = dae_system_size(&p->system),
                    .ncolumn = p->derived.ncolumn,
                    .count = count,
                    .nby = nby,
                    .total = count * (1 + nby),
                    .rtol = opt->rtol,
                    .atol = opt->atol,
                    .arena = dae_arena_create()};
    if (!q.arena) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (q.rtol == 0 && q.atol == 0) {
        const dae_options *o = &opt->simulation.options;
        q.rtol = PART * (o->rtol_vec ? o->rtol_vec[0] : o->rtol);
    }
    r = take_memory(&q, err);
    if (r >= 0 && !opt->g) r = read_texts(&q, text, err);
    if (r >= 0)
        r = nby ? with_derivatives(&q, times, ntimes, value, error, derivative, err)
                : run(&q, 0, times, ntimes, value, error, NULL, err);
    close_run(&q);
    for (int k = 0; q.e && k < count; k++) dae_expression_destroy(q.e[k]);
    dae_arena_destroy(q.arena);
    return r;
}
