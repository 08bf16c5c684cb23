/* A fit from start to end: starting points, descents, what is known of the best one. */
#include "fit/fit.h"

#include "core/pool.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CURVE = 301 }; /* points of a curve in a picture */

#define HUBER 1.345 /* efficiency of 95 % for normal errors, [Huber 1981] */

dae_fit_options dae_fit_options_default(const dae_problem *p)
{
    dae_fit_options o = {.loss = "square",
                         .starts = 1,
                         .seed = 1,
                         .threads = 1,
                         .max_iterations = 100,
                         .tolerance = 1e-8,
                         .intervals = 1,
                         .level = 0.95};
    o.sensitivity = dae_sensitivity_options_default(p);
    dae_options *a = &o.sensitivity.simulation.options;
    double rtol =
        fmin(p->rtol > 0 ? p->rtol : 1e-6, 1e-7); /* errors of the solution stay below those of the data */
    a->atol = p->atol > 0 && p->rtol > 0 ? p->atol * rtol / p->rtol : rtol;
    a->rtol = rtol;
    o.sensitivity.uncontrolled = 1;
    return o;
}

/* ---- Starting points ------------------------------------------------------------------------------------------ */

/* A number in (0, 1) that depends on the three alone [splitmix64, Steele, Lea, Flood 2014]. */
static double hash(unsigned long seed, int start, int j)
{
    uint64_t z = seed * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)start * UINT64_C(0xD1B54A32D192ED03) +
                 (uint64_t)j + 1;
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

/* Start 0 is the given one. Others: even between finite bounds (in the logarithm where they are far apart and positive), a
 * factor between 1/10 and 10 where there is a bound missing. */
static void starting_point(const dae_fitting *f, int start, double *x)
{
    for (int j = 0; j < f->np; j++) {
        double a = f->lower[j], b = f->upper[j], u = hash(f->opt->seed, start, j);
        if (start == 0) x[j] = f->start[j];
        else if (isfinite(a) && isfinite(b))
            x[j] = a > 0 && b / a > 100 ? a * pow(b / a, u) : a + u * (b - a);
        else
            x[j] = fmin(
                fmax(f->start[j] != 0 ? f->start[j] * pow(10, 2 * u - 1) : f->scale[j] * (2 * u - 1), a), b);
    }
}

/* ---- One start -------------------------------------------------------------------------------------------------- */

typedef struct attempt {
    double *x;
    dae_descent d;
    dae_status status;
    dae_error err;
    double huber; /* the limit of its loss */
    int done;
} attempt;

typedef struct many {
    dae_fitting *f;
    attempt *list;
    atomic_int stopped; /* what has not begun does not begin */
} many;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* 1.4826 times the median of |r|: the standard deviation of normal errors, whatever a few outliers do. */
static double robust_scale(const double *r, long m)
{
    double *a = malloc(((size_t)m + 1) * sizeof *a);
    if (!a) return NAN;
    for (long i = 0; i < m; i++) a[i] = fabs(r[i]);
    qsort(a, (size_t)m, sizeof *a, by_size);
    double median = m % 2 ? a[m / 2] : 0.5 * (a[m / 2 - 1] + a[m / 2]);
    free(a);
    return 1.4826 * median;
}

static dae_status descend(const dae_fitting *f, attempt *a, int start)
{
    dae_fitting own = *f; /* the limit of Huber's loss is that of this start */
    dae_status s = DAE_OK;
    int robust = !strcmp(f->opt->loss, "huber");
    if (f->opt->intervals > 1) s = dae_fitting_shoot(f, a->x, start, &a->d, &a->err);
    if (robust && f->all_sd_known) own.huber = HUBER;
    if (s >= 0 && a->d.status != DAE_CANCELLED)
        s = dae_fitting_descend(&own, a->x, NULL, start, &a->d, &a->err);
    for (int k = 0; k < 10 && robust && !f->all_sd_known && s >= 0 && a->d.status != DAE_CANCELLED; k++) {
        double limit = HUBER * robust_scale(a->d.r, f->m);
        if (!(limit > 0) || fabs(limit - own.huber) < 1e-3 * limit) break;
        own.huber = limit;
        a->d.damping = 0;
        s = dae_fitting_descend(&own, a->x, NULL, start, &a->d, &a->err);
    }
    a->huber = own.huber;
    return s;
}

static int attempt_task(void *object, int task, int piece, int thread)
{
    many *m = object;
    attempt *a = &m->list[task];
    const dae_fit_options *o = m->f->opt;
    const dae_options *run = &o->sensitivity.simulation.options;
    (void)piece, (void)thread;
    starting_point(m->f, task, a->x);
    for (int k = 0; k < o->nresume; k++) {
        if (o->resume[k].start != task) continue;
        memcpy(a->x, o->resume[k].value, (size_t)m->f->np * sizeof *a->x);
        a->d.damping = o->resume[k].damping;
        a->d.iterations = o->resume[k].iteration;
    }
    if (atomic_load(&m->stopped) || (run->stop && run->stop(run->stop_user))) {
        a->d.status = DAE_CANCELLED;
        return 1;
    }
    a->status = descend(m->f, a, task);
    if (a->d.status == DAE_CANCELLED) atomic_store(&m->stopped, 1);
    a->done = 1;
    return 1;
}

static int best_of(const attempt *list, int n)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (list[i].d.r && list[i].status >= 0 && (best < 0 || list[i].d.cost < list[best].d.cost)) best = i;
    }
    return best;
}

/* ---- The result ---------------------------------------------------------------------------------------------------- */

void dae_fit_destroy(dae_fit_result *r)
{
    if (!r) return;
    for (int k = 0; k < r->nexperiment; k++) {
        if (r->model) free(r->model[k]);
        if (r->curve_t) free(r->curve_t[k]);
        if (r->residual) free(r->residual[k]);
    }
    free(r->model);
    free(r->curve_t);
    free(r->curve);
    free(r->residual);
    free(r->estimate);
    free(r->correlation);
    free(r->singular);
    free(r->direction);
    free(r->start_cost);
    free(r->message);
    free(r->unidentifiable);
    free(r);
}

static dae_fit_result *new_result(const dae_fitting *f)
{
    size_t np = (size_t)f->np;
    dae_fit_result *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->count = f->np;
    r->nexperiment = f->nexperiment;
    r->nresidual = f->m;
    r->estimate = calloc(np + 1, sizeof *r->estimate);
    r->correlation = calloc(np * np + 1, sizeof *r->correlation);
    r->singular = calloc(np + 1, sizeof *r->singular);
    r->direction = calloc(np * np + 1, sizeof *r->direction);
    r->start_cost = calloc((size_t)f->opt->starts + 1, sizeof *r->start_cost);
    r->message = calloc(1, 256);
    r->unidentifiable = calloc(1, 1);
    r->model = calloc((size_t)f->nexperiment + 1, sizeof *r->model);
    r->residual = calloc((size_t)f->nexperiment + 1, sizeof *r->residual);
    int bad = !r->estimate || !r->correlation || !r->singular || !r->direction || !r->start_cost ||
              !r->message || !r->unidentifiable || !r->model || !r->residual;
    for (int k = 0; k < f->nexperiment && !bad; k++) {
        size_t cells = (size_t)f->experiment[k]->ntime * (size_t)f->experiment[k]->ncolumn + 1;
        r->model[k] = malloc(cells * sizeof **r->model);
        r->residual[k] = malloc(cells * sizeof **r->residual);
        bad = !r->model[k] || !r->residual[k];
    }
    if (!bad) return r;
    dae_fit_destroy(r);
    return NULL;
}

/* The solution at CURVE times of each experiment, from the start of the problem or the first time to the last, and at the data's. Where
 * that fails there are no curves. DAE_OK, or DAE_CANCELLED. */
static dae_status draw(const dae_fitting *f, const double *x, dae_fit_result *r)
{
    int count = CURVE;
    r->curve_t = calloc((size_t)f->nexperiment + 1, sizeof *r->curve_t);
    r->curve = calloc((size_t)f->nexperiment + 1, sizeof *r->curve);
    dae_fit_experiment *dense = calloc((size_t)f->nexperiment + 1, sizeof *dense);
    const dae_fit_experiment **list = calloc((size_t)f->nexperiment + 1, sizeof *list);
    dae_fitting g = *f;
    int bad = !r->curve_t || !r->curve || !dense || !list;
    for (int k = 0; k < f->nexperiment && !bad; k++) {
        const dae_fit_experiment *e = f->experiment[k];
        double first = fmin(e->t[0], f->p->t0), last = e->t[e->ntime - 1];
        r->curve_t[k] = malloc((size_t)count * (size_t)(1 + e->ncolumn) * sizeof **r->curve_t);
        if ((bad = !r->curve_t[k])) break;
        r->curve[k] = r->curve_t[k] + count;
        for (int i = 0; i < count; i++) r->curve_t[k][i] = first + (last - first) * i / (count - 1);
        dense[k] = *e;
        dense[k].t = r->curve_t[k];
        dense[k].ntime = count;
        list[k] = &dense[k];
    }
    g.experiment = list;
    dae_status s = DAE_OK;
    for (int k = 0; k < f->nexperiment && !bad; k++) {
        dae_error ignored = {0};
        dae_stretch all = {.experiment = k, .last = count, .t = NAN, .t_next = NAN};
        s = dae_fitting_stretch(&g, x, &all, r->curve[k], NULL, NULL, NULL, &ignored);
        bad = s != DAE_OK;
    }
    free(dense);
    free(list);
    if (!bad) r->ncurve = count;
    return s == DAE_CANCELLED ? s : DAE_OK;
}

/* Model and residuals where something was measured, from the residuals d->r of the descent (NULL: not known): no run is needed. */
static void model_of(const dae_fitting *f, const double *d, dae_fit_result *r)
{
    for (int k = 0; k < f->nexperiment; k++) {
        const dae_fit_experiment *e = f->experiment[k];
        for (int i = 0; i < e->ntime * e->ncolumn; i++) {
            double w = f->weight[k][i];
            r->residual[k][i] = w > 0 && d ? *d++ : NAN;
            r->model[k][i] = e->value[i] + r->residual[k][i] / w;
        }
    }
}

/* The same from a run, for all times, and the curves between them. DAE_CANCELLED: it was stopped. */
static dae_status run_model(const dae_fitting *f, const double *x, dae_fit_result *r, dae_error *err)
{
    double *again = malloc(((size_t)f->m + 1) * sizeof *again);
    if (!again) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_status s = dae_fitting_evaluate(f, x, again, NULL, r->model, err);
    free(again);
    if (s != DAE_OK) return s;
    for (int k = 0; k < f->nexperiment; k++) {
        const dae_fit_experiment *e = f->experiment[k];
        for (int i = 0; i < e->ntime * e->ncolumn; i++) {
            double w = f->weight[k][i];
            r->residual[k][i] = w > 0 ? w * (r->model[k][i] - e->value[i]) : NAN;
        }
    }
    return draw(f, x, r);
}

static void stopped(dae_fit_result *r, const char *message)
{
    r->status = DAE_CANCELLED;
    snprintf(r->message, 256, "%s", message);
}

/* All that is known of the best start; one that was stopped gets no further run. */
static dae_status conclude(dae_fitting *f, const attempt *list, int best, dae_fit_result *r, dae_error *err)
{
    const attempt *a = &list[best];
    f->huber = a->huber;
    r->status = a->d.status;
    r->cost = a->d.cost;
    r->iterations = a->d.iterations;
    r->start = best;
    snprintf(r->message, 256, "%s", a->d.message);
    for (int i = 0; i < f->opt->starts; i++) {
        r->evaluations += list[i].d.evaluations;
        if (list[i].d.r && list[i].status >= 0) r->start_cost[r->nstart_cost++] = list[i].d.cost;
        r->starts_ended += list[i].done;
        if (list[i].d.status == DAE_CANCELLED && a->d.status != DAE_CANCELLED)
            stopped(r, "stopped; the best so far");
    }
    dae_status s = r->status == DAE_CANCELLED ? DAE_CANCELLED : run_model(f, a->x, r, err);
    if (s < 0) return s;
    if (s == DAE_CANCELLED) {
        if (r->status != DAE_CANCELLED) stopped(r, "stopped; curves are missing");
        model_of(f, a->d.r, r);
    }
    s = dae_fitting_certainty(f, a->x, &a->d, r, err);
    if (s >= 0 && f->opt->profile && r->status != DAE_CANCELLED) {
        s = dae_fitting_profile(f, a->x, a->d.cost, r, err);
        if (s == DAE_CANCELLED) stopped(r, "stopped; profiles are missing");
    }
    return s;
}

/* Stopped before the residuals were known once: where it was. */
static void conclude_early(const dae_fitting *f, const attempt *a, dae_fit_result *r)
{
    r->cost = r->rms = r->noise = NAN;
    r->iterations = a->d.iterations;
    r->evaluations = a->d.evaluations;
    for (int j = 0; j < f->np; j++) {
        r->estimate[j] = (dae_fit_estimate){
            .value = a->x[j], .sd = NAN, .lower = NAN, .upper = NAN, .profile = {NAN, NAN}};
        r->singular[j] = NAN;
        for (int k = 0; k < f->np; k++) r->correlation[j + f->np * k] = j == k ? 1 : NAN;
    }
    model_of(f, NULL, r);
    stopped(r, "stopped before the first residuals were known");
}

static dae_status check(const dae_fit_free *free_list, int count, int nexperiment, const dae_fit_options *o,
                        dae_error *err)
{
    if (count < 1) return dae_fail(err, DAE_ERR_INPUT, NAN, "nothing is free: name parameters to be fitted");
    if (nexperiment < 1) return dae_fail(err, DAE_ERR_INPUT, NAN, "there are no data");
    if (strcmp(o->loss, "square") != 0 && strcmp(o->loss, "huber") != 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no loss \"%.40s\"; expected square or huber",
                        o->loss);
    if (o->starts < 1 || o->starts > DAE_POOL_TASKS)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "starts = %d: expected 1 .. %d", o->starts, DAE_POOL_TASKS);
    for (int j = 0; j < count; j++) {
        for (int k = 0; k < j; k++) {
            if (!strcmp(free_list[j].name, free_list[k].name))
                return dae_fail(err, DAE_ERR_INPUT, NAN, "%s is named twice", free_list[j].name);
        }
    }
    return DAE_OK;
}

dae_fit_result *dae_fit(const dae_problem *p, const dae_fit_free *free_list, int count,
                        const dae_fit_experiment *const *experiment, int nexperiment,
                        const dae_fit_options *opt, dae_error *err)
{
    dae_fit_options o = opt ? *opt : dae_fit_options_default(p);
    dae_fitting f = {0};
    dae_fit_result *r = NULL;
    dae_status s = check(free_list, count, nexperiment, &o, err);
    if (s < 0) return NULL;
    s = dae_fitting_open(&f, p, free_list, count, experiment, nexperiment, &o, err);
    attempt *list = calloc((size_t)o.starts + 1, sizeof *list);
    double *x = calloc((size_t)o.starts * (size_t)count + 1, sizeof *x);
    if (s >= 0 && (!list || !x || !(r = new_result(&f))))
        s = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (s >= 0) {
        many m = {.f = &f, .list = list};
        atomic_init(&m.stopped, 0);
        dae_pool *pool = o.starts > 1 ? dae_pool_create(o.threads) : NULL;
        for (int i = 0; i < o.starts; i++) list[i].x = x + (size_t)i * (size_t)count;
        dae_pool_run(pool, o.starts, attempt_task, &m);
        dae_pool_destroy(pool);
        int best = best_of(list, o.starts);
        if (best >= 0) s = conclude(&f, list, best, r, err);
        else if (list[0].d.status == DAE_CANCELLED) conclude_early(&f, &list[0], r);
        else {
            *err = list[0].err;
            s = err->status < 0 ? err->status
                                : dae_fail(err, DAE_ERR_CONVERGENCE, NAN, "no start led anywhere");
        }
    }
    for (int i = 0; list && i < o.starts; i++) {
        free(list[i].d.r);
        free(list[i].d.J);
    }
    free(list);
    free(x);
    dae_fitting_close(&f);
    if (s >= 0) return r;
    dae_fit_destroy(r);
    return NULL;
}
