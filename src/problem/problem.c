/* Instances of problems: their memory, names, events and scores. */
#include "problem/data.h"

#include "core/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCD_SKIP 1e-200   /* smaller reference values have no relative error, test set report II.4 */
#define ERROR_FLOOR 1e-16 /* stands for an error of exactly 0: 16 digits */

/* ---- Life ------------------------------------------------------------------------------------ */

dae_problem *dae_problem_new(const char *name, dae_error *err)
{
    dae_problem *p = calloc(1, sizeof *p);
    if (p) p->data = calloc(1, sizeof *p->data);
    if (p && p->data) p->data->arena = dae_arena_create();
    if (p && p->data && p->data->arena) return p;
    dae_fail(err, DAE_ERR_MEMORY, NAN, "problem %s: out of memory", name);
    dae_problem_destroy(p);
    return NULL;
}

int dae_problem_exhausted(const dae_problem *p)
{
    return dae_arena_failed(p->data->arena);
}

void dae_problem_destroy(dae_problem *p)
{
    if (!p) return;
    if (p->data) dae_switching_destroy(p->data->switching);
    if (p->data && p->data->object) p->data->destroy(p->data->object);
    if (p->data) dae_arena_destroy(p->data->arena);
    free(p->data);
    free(p);
}

void dae_problem_own(dae_problem *p, void *object, void (*destroy)(void *object))
{
    assert(!p->data->object);
    p->data->object = object;
    p->data->destroy = destroy;
}

void *dae_problem_object(const dae_problem *p, void (*destroy)(void *object))
{
    return p && p->data && p->data->destroy == destroy ? p->data->object : NULL;
}

void *dae_problem_take(dae_problem *p, size_t count, size_t size)
{
    return dae_arena_take(p->data->arena, count, size);
}

double *dae_problem_reals(dae_problem *p, int n)
{
    return dae_problem_take(p, (size_t)n, sizeof(double));
}

int *dae_problem_ints(dae_problem *p, int n)
{
    return dae_problem_take(p, (size_t)n, sizeof(int));
}

const char *dae_problem_copy(dae_problem *p, const char *text)
{
    return dae_arena_copy(p->data->arena, text, strlen(text) + 1, 1);
}

/* ---- Names ----------------------------------------------------------------------------------- */

const char *dae_component_name(const dae_problem *p, int i, char *buffer, size_t size)
{
    if (p->component && p->component[i]) return p->component[i];
    snprintf(buffer, size, "y%d", i + 1);
    return buffer;
}

const char *dae_component_unit(const dae_problem *p, int i)
{
    return p->unit && p->unit[i] ? p->unit[i] : "";
}

int dae_component_find(const dae_problem *p, const char *name)
{
    char buffer[24];
    int n = dae_system_size(&p->system);
    for (int i = 0; i < n; i++) {
        if (!strcmp(dae_component_name(p, i, buffer, sizeof buffer), name)) return i;
    }
    for (int i = 0; i < n && name[0] == 'y'; i++) {
        snprintf(buffer, sizeof buffer, "y%d", i + 1);
        if (!strcmp(buffer, name)) return i;
    }
    return -1;
}

int dae_problem_variable(const dae_problem *p, const char *name, int *parameter, int *component)
{
    char base[200];
    size_t n = strlen(name);
    if (n > 3 && !strcmp(name + n - 3, "(0)")) n -= 3;
    *component = -1;
    *parameter = p->info ? dae_parameter_find(p, name) : -1;
    if (*parameter >= 0) return 1;
    if (n >= sizeof base) return 0;
    memcpy(base, name, n);
    base[n] = 0;
    *component = dae_component_find(p, base);
    return *component >= 0;
}

/* The pattern with its first %d replaced by the number. */
static const char *numbered(dae_problem *p, const char *pattern, int number)
{
    const char *at = strstr(pattern, "%d");
    if (!at) return pattern;
    size_t size = strlen(pattern) + 12;
    char *name = dae_problem_take(p, size, 1);
    if (name) snprintf(name, size, "%.*s%d%s", (int)(at - pattern), pattern, number, at + 2);
    return name;
}

void dae_problem_names(dae_problem *p, int first, int count, const char *pattern)
{
    dae_problem_data *data = p->data;
    int n = dae_system_size(&p->system);
    assert(first >= 0 && first + count <= n);
    if (!data->component) {
        data->component = dae_problem_take(p, (size_t)n, sizeof *data->component);
        for (int i = 0; data->component && i < n; i++) data->component[i] = numbered(p, "y%d", i + 1);
    }
    for (int i = 0; data->component && i < count; i++) {
        data->component[first + i] = numbered(p, pattern, i + 1);
    }
    p->component = data->component;
}

void dae_problem_units(dae_problem *p, int first, int count, const char *unit)
{
    dae_problem_data *data = p->data;
    int n = dae_system_size(&p->system);
    assert(first >= 0 && first + count <= n);
    if (!data->unit) {
        data->unit = dae_problem_take(p, (size_t)n, sizeof *data->unit);
        for (int i = 0; data->unit && i < n; i++) data->unit[i] = "";
    }
    for (int i = 0; data->unit && i < count; i++) data->unit[first + i] = unit;
    p->unit = data->unit;
}

/* ---- Events ---------------------------------------------------------------------------------- */

dae_status dae_problem_columns(const dae_problem *p, double t, const double *y, double *column,
                               dae_error *err)
{
    int bad = p->derived.columns(p, 1, &t, y, NULL, NULL, column);
    if (bad == DAE_ERR_MEMORY)
        return dae_fail(err, DAE_ERR_MEMORY, t, "t = %.10g: no memory for the sensors", t);
    return bad < 0 ? dae_fail(err, DAE_ERR_UNDEFINED, t, "t = %.10g: the sensors cannot be evaluated", t)
                   : DAE_OK;
}

void dae_problem_watch(dae_problem *p, const char *const *text)
{
    p->data->watch = text;
}

dae_status dae_problem_watched(dae_problem *p, dae_error *err)
{
    int count = 0;
    while (p->data->watch && p->data->watch[count]) count++;
    if (!count) return DAE_OK;
    p->data->switching = dae_switching_create(p, p->atol, p->data->watch, count, NULL, err);
    if (!p->data->switching) return err && err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    p->events = dae_switching_events(p->data->switching);
    return DAE_OK;
}

int dae_problem_switches(const dae_problem *p)
{
    if (!p->events) return 0;
    for (int i = 0; i < p->events->count; i++) {
        if (p->events->event[i].terminal) return 1;
    }
    return p->events->action != NULL;
}

/* ---- Another start --------------------------------------------------------------------------- */

static dae_status set_component(const dae_problem *p, const dae_setting *x, double *y, dae_error *err)
{
    int i = dae_component_find(p, x->name);
    char *end;
    double value = dae_strtod(x->value, &end);
    if (i < 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "problem %s has no component \"%s\"", p->info->name,
                        x->name);
    if (end == x->value || *end || !isfinite(value))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "the initial value %s = \"%s\" is not a number", x->name,
                        x->value);
    y[i] = value;
    return DAE_OK;
}

dae_status dae_problem_start(dae_problem *p, double t0, const dae_setting *init, int ninit, dae_error *err)
{
    int n = dae_system_size(&p->system);
    if (!isfinite(t0)) return dae_fail(err, DAE_ERR_INPUT, NAN, "the start of the interval is not finite");
    double *y = dae_problem_reals(p, n);
    if (!y) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    memcpy(y, p->y0, (size_t)n * sizeof *y);
    for (int k = 0; k < ninit; k++) {
        dae_status s = set_component(p, &init[k], y, err);
        if (s < 0) return s;
    }
    if (t0 == p->t0 && !memcmp(y, p->y0, (size_t)n * sizeof *y))
        return DAE_OK; /* where it starts anyway: the reference holds */
    if (p->data && dae_problem_remember_start(p, t0, init, ninit) < 0)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (p->system.kind != DAE_KIND_IDE) p->yp0 = NULL;
    p->t0 = t0;
    p->y0 = y;
    p->reference = p->published = NULL;
    return DAE_OK;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static double digits(double error)
{
    return -log10(error == 0 ? ERROR_FLOOR : error);
}

static double tolerance_ratio(const dae_problem *p, const dae_options *opt, int i)
{
    if (!opt) {
        double atol = p->atol * (p->atol_factor ? p->atol_factor[i] : 1);
        return atol / (p->rtol * (p->rtol_factor ? p->rtol_factor[i] : 1));
    }
    double atol = opt->atol_vec ? opt->atol_vec[i] : opt->atol;
    return atol / (opt->rtol_vec ? opt->rtol_vec[i] : opt->rtol);
}

dae_score dae_problem_score(const dae_problem *p, const dae_options *opt, const double *reference,
                            const double *y)
{
    dae_score score = {NAN, NAN};
    const double *ref = reference ? reference : p->reference;
    if (!ref) return score;
    double relative = 0, mixed = 0;
    int n = dae_system_size(&p->system), counted = 0, known = 0, absolute = 0;
    for (int i = 0; i < n; i++) {
        double error = fabs(y[i] - ref[i]), size = fabs(ref[i]);
        if (isnan(ref[i])) continue; /* not known */
        if (!isfinite(error)) return score;
        known++;
        double ratio = tolerance_ratio(p, opt, i);
        absolute |= !isfinite(ratio); /* rtol = 0: a mixed error is not defined */
        mixed = fmax(mixed, error / (ratio + size));
        if (p->scored && !p->scored[i]) continue;
        if (!p->absolute_scd && size < SCD_SKIP) continue;
        relative = fmax(relative, p->absolute_scd ? error : error / size);
        counted++;
    }
    if (counted > 0 && !p->no_scd) score.scd = digits(relative);
    if (known > 0 && !absolute) score.mescd = digits(mixed);
    return score;
}
