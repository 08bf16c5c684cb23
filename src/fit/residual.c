/* Residuals of a fit and their derivatives: each experiment is a run of the problem with the free parameters set, its solution
 * and their derivatives taken at the times of the data. */
#include "fit/fit.h"

#include "core/number.h"
#include "problem/problem.h"
#include "sensitivity/family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { number_length = 100 };

static dae_status no_memory(dae_error *err)
{
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* ---- The problem of one experiment --------------------------------------------------------------------- */

/* The start of a stretch, or free initial values: told to the problem, so that its relatives with other parameters have it too. */
static dae_status set_start(const dae_fitting *f, const double *x, const dae_stretch *at, dae_problem *v,
                            dae_error *err)
{
    size_t most = (size_t)(at->y ? f->n : f->np) + 1;
    dae_setting *list = calloc(most, sizeof *list);
    char *text = calloc(2 * most, number_length), buffer[40];
    int count = 0, total = at->y ? f->n : f->np;
    if (!list || !text) {
        free(list);
        free(text);
        return no_memory(err);
    }
    for (int k = 0; k < total; k++) {
        char *name = text + (size_t)(2 * k) * number_length, *value = name + number_length;
        if (!at->y && f->parameter[k] >= 0) continue;
        snprintf(name, number_length, "%.90s",
                 dae_component_name(v, at->y ? k : f->component[k], buffer, sizeof buffer));
        dae_snprintf(value, number_length, "%.17g", at->y ? at->y[k] : x[k]);
        list[count++] = (dae_setting){name, value};
    }
    dae_status s = count || !isnan(at->t)
                       ? dae_problem_start(v, isnan(at->t) ? v->t0 : at->t, list, count, err)
                       : DAE_OK;
    free(list);
    free(text);
    return s;
}

static dae_problem *open_instance(const dae_fitting *f, const double *x, const dae_stretch *at,
                                  dae_error *err)
{
    const dae_fit_experiment *e = f->experiment[at->experiment];
    int count = 0;
    dae_setting *list = calloc((size_t)(e->nsetting + f->np) + 1, sizeof *list);
    char *text = calloc((size_t)f->np + 1, number_length);
    dae_problem *v = NULL;
    dae_status s = list && text ? DAE_OK : no_memory(err);
    if (s >= 0) {
        for (int i = 0; i < e->nsetting; i++) list[count++] = e->setting[i];
        for (int j = 0; j < f->np; j++) {
            if (f->parameter[j] < 0) continue;
            char *value = text + (size_t)j * number_length;
            dae_parameter_text(f->p, f->parameter[j], x[j], value, number_length);
            list[count++] = (dae_setting){f->free[j].name, value};
        }
        v = dae_problem_variant(f->p, list, count, err);
        if (!v) s = err->status < 0 ? err->status : DAE_ERR_INTERNAL;
        else if (dae_system_size(&v->system) != f->n)
            s = dae_fail(err, DAE_ERR_INPUT, NAN, "%s: its settings change the number of components",
                         e->name);
    }
    free(list);
    free(text);
    if (s >= 0) s = set_start(f, x, at, v, err);
    if (s >= 0) return v;
    dae_problem_destroy(v);
    return NULL;
}

static dae_sensitivity_options options_for(const dae_fitting *f, const dae_problem *q,
                                           const dae_fit_experiment *e)
{
    const dae_sensitivity_options *given = &f->opt->sensitivity;
    dae_sensitivity_options o = dae_sensitivity_options_default(q);
    dae_options *a = &o.simulation.options;
    const dae_options *b = &given->simulation.options;
    a->method = b->method;
    a->formulation = b->formulation;
    a->rtol = b->rtol;
    a->atol = b->atol;
    a->max_steps = b->max_steps;
    a->max_seconds = b->max_seconds;
    a->stop = b->stop;
    a->stop_user = b->stop_user;
    o.mode = given->mode;
    o.step = given->step;
    o.uncontrolled = given->uncontrolled;
    double last = e->t[e->ntime - 1];
    if (last > q->t0) o.simulation.t_end = last;
    return o;
}

/* ---- Runs ------------------------------------------------------------------------------------------------ */

/* What a run is asked for: the solution alone, or with its derivatives. */
typedef struct run {
    dae_simulation *plain;
    dae_sensitivity *with;
    int ncolumn;     /* derived columns of the problem */
    double *derived; /* ncolumn, and their derivatives: ncolumn*count */
    int count;       /* of derivatives */
} run;

static dae_status run_to(run *u, double t, dae_error *err)
{
    double now = u->with ? dae_sensitivity_time(u->with) : dae_simulation_time(u->plain);
    if (t <= now) return DAE_OK;
    dae_status s =
        u->with ? dae_sensitivity_advance(u->with, t, err) : dae_simulation_advance(u->plain, t, err);
    if (s < 0 || s == DAE_CANCELLED) return s;
    now = u->with ? dae_sensitivity_time(u->with) : dae_simulation_time(u->plain);
    if (now < t)
        return dae_fail(err, DAE_ERR_EVENT, now,
                        "the run was ended by an event at t = %g, before t = %g of the data", now, t);
    return DAE_OK;
}

static const double *state(run *u)
{
    return u->with ? dae_sensitivity_state(u->with) : dae_simulation_state(u->plain);
}

static dae_status derived_columns(run *u, const dae_problem *q, dae_error *err)
{
    if (u->with) return dae_sensitivity_columns(u->with, u->derived, u->derived + u->ncolumn, err);
    return dae_problem_columns(q, dae_simulation_time(u->plain), state(u), u->derived, err);
}

/* The columns of an experiment at the present point; value and by (count per value) at distance ld. */
static dae_status sample(const dae_fitting *f, run *u, const dae_problem *q, const dae_stretch *at,
                         double *value, double *by, int row, dae_error *err)
{
    const dae_fit_experiment *e = f->experiment[at->experiment];
    int rows = at->last - at->first, needs = 0;
    for (int c = 0; c < e->ncolumn; c++) needs |= f->column[at->experiment][c] < 0;
    dae_status s = needs ? derived_columns(u, q, err) : DAE_OK;
    const double *d = u->with ? dae_sensitivity_values(u->with) : NULL;
    for (int c = 0; c < e->ncolumn && s >= 0; c++) {
        int k = f->column[at->experiment][c], to = c * rows + row;
        if (value) value[to] = k >= 0 ? state(u)[k] : u->derived[-1 - k];
        for (int j = 0; by && j < u->count; j++) {
            by[(size_t)to * (size_t)u->count + (size_t)j] =
                k >= 0 ? d[k + f->n * j] : u->derived[u->ncolumn * (1 + j) + (-1 - k)];
        }
    }
    return s;
}

/* Names of what is differentiated by: the free parameters, and with a start of its own all components of it. */
static const char **names(const dae_fitting *f, const dae_stretch *at, int *count, char **text)
{
    int own = at->y ? f->n : 0;
    char buffer[40];
    const char **list = calloc((size_t)(f->np + own) + 1, sizeof *list);
    *text = calloc((size_t)own + 1, 100);
    *count = 0;
    if (!list || !*text) {
        free(list);
        return NULL;
    }
    for (int j = 0; j < f->np; j++) {
        if (f->parameter[j] >= 0 || !at->y) list[(*count)++] = f->free[j].name;
    }
    for (int i = 0; i < own; i++) {
        char *to = *text + (size_t)i * 100;
        snprintf(to, 100, "%.90s(0)", dae_component_name(f->p, i, buffer, sizeof buffer));
        list[(*count)++] = to;
    }
    return list;
}

dae_status dae_fitting_stretch(const dae_fitting *f, const double *x, const dae_stretch *at, double *value,
                               double *by, double *end, double *end_by, dae_error *err)
{
    const dae_fit_experiment *e = f->experiment[at->experiment];
    run u = {0};
    char *text = NULL;
    const char **list = NULL;
    dae_problem *q = open_instance(f, x, at, err);
    dae_status s = q ? DAE_OK : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (s >= 0) {
        dae_sensitivity_options o = options_for(f, q, e);
        if (!isnan(at->t_next) && at->t_next > o.simulation.t_end) o.simulation.t_end = at->t_next;
        u.ncolumn = q->derived.ncolumn;
        if (by || end_by) {
            list = names(f, at, &u.count, &text);
            if (!list) s = no_memory(err);
            else u.with = dae_sensitivity_open(q, &o, list, u.count, err);
        } else {
            u.plain = dae_simulation_open(q, &o.simulation, err);
        }
        u.derived = malloc(((size_t)u.ncolumn * (size_t)(u.count + 1) + 1) * sizeof *u.derived);
        if (s >= 0 && !u.derived) s = no_memory(err);
        if (s >= 0 && !u.with && !u.plain) s = err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    }
    if (s >= 0) s = u.with ? dae_sensitivity_start(u.with, err) : dae_simulation_start(u.plain, err);
    if (s >= 0) s = DAE_OK;
    for (int i = at->first; i < at->last && s == DAE_OK; i++) {
        s = run_to(&u, e->t[i], err);
        if (s == DAE_OK) s = sample(f, &u, q, at, value, by, i - at->first, err);
    }
    if (s == DAE_OK && (end || end_by)) s = run_to(&u, at->t_next, err);
    if (s == DAE_OK && end) memcpy(end, state(&u), (size_t)f->n * sizeof *end);
    if (s == DAE_OK && end_by)
        memcpy(end_by, dae_sensitivity_values(u.with), (size_t)f->n * (size_t)u.count * sizeof *end_by);
    dae_sensitivity_close(u.with);
    dae_simulation_close(u.plain);
    free(u.derived);
    free(list);
    free(text);
    dae_problem_destroy(q);
    return s;
}

dae_status dae_fitting_evaluate(const dae_fitting *f, const double *x, double *r, double *J, double **model,
                                dae_error *err)
{
    dae_status s = DAE_OK;
    long row = 0;
    for (int k = 0; k < f->nexperiment && s == DAE_OK; k++) {
        const dae_fit_experiment *e = f->experiment[k];
        size_t cells = (size_t)e->ntime * (size_t)e->ncolumn;
        double *value = malloc((cells + 1) * sizeof *value),
               *by = J ? malloc((cells * (size_t)f->np + 1) * sizeof *by) : NULL;
        if (!value || (J && !by)) s = no_memory(err);
        dae_stretch all = {.experiment = k, .last = e->ntime, .t = NAN, .t_next = NAN};
        if (s >= 0) s = dae_fitting_stretch(f, x, &all, value, by, NULL, NULL, err);
        for (size_t i = 0; i < cells && s == DAE_OK; i++) {
            double w = f->weight[k][i];
            if (model) model[k][i] = value[i];
            if (w == 0) continue;
            r[row] = w * (value[i] - e->value[i]);
            for (int j = 0; J && j < f->np; j++) J[row + f->m * j] = w * by[i * (size_t)f->np + (size_t)j];
            row++;
        }
        free(value);
        free(by);
    }
    for (long i = 0; i < f->m && s == DAE_OK; i++) {
        if (!isfinite(r[i]))
            s = dae_fail(err, DAE_ERR_UNDEFINED, NAN, "the solution is not finite where data are");
    }
    return s;
}

double dae_fitting_cost(const dae_fitting *f, const double *r, double *factor)
{
    double sum = 0;
    for (long i = 0; i < f->m; i++) {
        double a = fabs(r[i]), inside = a <= f->huber;
        sum += inside > 0 ? 0.5 * a * a : f->huber * (a - 0.5 * f->huber);
        if (factor) factor[i] = inside > 0 ? 1 : sqrt(f->huber / a);
    }
    return sum;
}

/* ---- Life ---------------------------------------------------------------------------------------------------- */

static dae_status find_free(dae_fitting *f, int j, dae_error *err)
{
    const dae_fit_free *a = &f->free[j];
    const dae_parameter *q = f->p->info ? f->p->info->parameter : NULL;
    if (!dae_problem_variable(f->p, a->name, &f->parameter[j], &f->component[j]))
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "there is no parameter and no component \"%s\" that could be free", a->name);
    if (f->parameter[j] >= 0 && (q[f->parameter[j]].choices || q[f->parameter[j]].integer)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "parameter %s takes %s only; it cannot be fitted", a->name,
                        q[f->parameter[j]].choices ? "words" : "whole numbers");
    }
    double now = f->parameter[j] >= 0 ? f->p->parameter[f->parameter[j]] : f->p->y0[f->component[j]];
    f->start[j] = isnan(a->start) ? now : a->start;
    f->lower[j] = isnan(a->min) ? -INFINITY : a->min;
    f->upper[j] = isnan(a->max) ? INFINITY : a->max;
    const dae_parameter *own = f->parameter[j] >= 0 ? &q[f->parameter[j]] : NULL;
    if (own && own->min <= own->max) {
        f->lower[j] = fmax(f->lower[j], own->min);
        f->upper[j] = fmin(f->upper[j], own->max);
    }
    if (!(f->lower[j] < f->upper[j]))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: the lower bound %g is not below the upper one, %g",
                        a->name, f->lower[j], f->upper[j]);
    if (isnan(a->start)) f->start[j] = fmin(fmax(f->start[j], f->lower[j]), f->upper[j]);
    if (!(f->start[j] >= f->lower[j] && f->start[j] <= f->upper[j]))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: the start %g lies outside of its bounds %g .. %g",
                        a->name, f->start[j], f->lower[j], f->upper[j]);
    double width = f->upper[j] - f->lower[j];
    f->scale[j] = f->start[j] != 0 ? fabs(f->start[j]) : isfinite(width) ? width : 1;
    return DAE_OK;
}

/* Weights 1/sd; columns without any sd are weighed by their size, so that those of different units count alike. */
static dae_status find_weights(dae_fitting *f, int k, dae_error *err)
{
    const dae_fit_experiment *e = f->experiment[k];
    size_t rows = (size_t)e->ntime;
    if (e->ntime < 1 || e->ncolumn < 1)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: there are no data", e->name);
    f->weight[k] = calloc(rows * (size_t)e->ncolumn + 1, sizeof *f->weight[k]);
    f->column[k] = calloc((size_t)e->ncolumn + 1, sizeof *f->column[k]);
    if (!f->weight[k] || !f->column[k]) return no_memory(err);
    for (int c = 0; c < e->ncolumn; c++) {
        int at = dae_component_find(f->p, e->column[c]);
        for (int i = 0; at < 0 && i < f->p->derived.ncolumn; i++) {
            if (!strcmp(f->p->derived.column[i], e->column[c])) at = -2 - i; /* -1: none */
        }
        if (at == -1)
            return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: there is no component or sensor \"%s\"", e->name,
                            e->column[c]);
        f->column[k][c] = at >= 0 ? at : at + 1;
        double sum = 0;
        long n = 0;
        const double *value = e->value + (size_t)c * rows, *sd = e->sd ? e->sd + (size_t)c * rows : NULL;
        for (size_t i = 0; i < rows; i++) {
            if (!isnan(value[i])) sum += value[i] * value[i], n++;
        }
        double size = sum > 0 ? sqrt(sum / (double)n) : 1;
        for (size_t i = 0; i < rows; i++) {
            if (isnan(value[i])) continue;
            int known = sd && isfinite(sd[i]) && sd[i] > 0;
            f->weight[k][(size_t)c * rows + i] = 1 / (known ? sd[i] : size);
            f->all_sd_known = f->all_sd_known && known;
            f->m++;
        }
    }
    return DAE_OK;
}

dae_status dae_fitting_open(dae_fitting *f, const dae_problem *p, const dae_fit_free *free_list, int np,
                            const dae_fit_experiment *const *experiment, int nexperiment,
                            const dae_fit_options *opt, dae_error *err)
{
    size_t n = (size_t)np + 1, ne = (size_t)nexperiment + 1;
    *f = (dae_fitting){.p = p,
                       .free = free_list,
                       .np = np,
                       .n = dae_system_size(&p->system),
                       .experiment = experiment,
                       .nexperiment = nexperiment,
                       .opt = opt,
                       .all_sd_known = 1,
                       .huber = INFINITY};
    f->parameter = calloc(2 * n, sizeof *f->parameter);
    f->component = f->parameter ? f->parameter + n : NULL;
    f->lower = calloc(4 * n, sizeof *f->lower);
    f->column = calloc(ne, sizeof *f->column);
    f->weight = calloc(ne, sizeof *f->weight);
    if (!f->parameter || !f->lower || !f->column || !f->weight) return no_memory(err);
    f->upper = f->lower + n;
    f->start = f->upper + n;
    f->scale = f->start + n;
    dae_status s = DAE_OK;
    for (int j = 0; j < np && s >= 0; j++) s = find_free(f, j, err);
    for (int k = 0; k < nexperiment && s >= 0; k++) s = find_weights(f, k, err);
    if (s >= 0 && f->m < np)
        s = dae_fail(err, DAE_ERR_INPUT, NAN, "%ld measured values cannot determine %d parameters", f->m, np);
    return s;
}

void dae_fitting_close(dae_fitting *f)
{
    for (int k = 0; k < f->nexperiment; k++) {
        if (f->column) free(f->column[k]);
        if (f->weight) free(f->weight[k]);
    }
    free(f->parameter);
    free(f->lower);
    free(f->column);
    free(f->weight);
    *f = (dae_fitting){0};
}
