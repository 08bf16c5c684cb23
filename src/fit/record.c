/* The record of a fit, lines of JSON: a head that says what it belongs to, then one line per iteration. The newest line of each start is
 * where it goes on. */
#include <daedalus/fit.h>

#include "core/error.h"
#include "table/json_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *free_of(const dae_fit_free *list, int count)
{
    json_t *names = json_array();
    for (int j = 0; j < count; j++) {
        const dae_fit_free *f = &list[j];
        json_array_append_new(names, json_pack("[s,f,f,f]", f->name, isnan(f->start) ? 0 : f->start,
                                               fmax(f->min, -1e308), fmin(f->max, 1e308)));
    }
    return names;
}

/* Name, number of cells, and a sum that tells other values and another order. */
static json_t *data_of(const dae_fit_experiment *e)
{
    double sum = 0;
    int cells = e->ntime * e->ncolumn;
    for (int i = 0; i < cells; i++) sum += isnan(e->value[i]) ? 0 : e->value[i] * (1 + i % 97);
    return json_pack("[s,i,f]", e->name, cells, sum);
}

static json_t *head_of(const dae_fit_record *r)
{
    json_t *o = json_object(), *data = json_array();
    for (int k = 0; k < r->nexperiment; k++) json_array_append_new(data, data_of(r->experiment[k]));
    json_object_set_new(o, "fit", json_string(r->p->info ? r->p->info->name : ""));
    json_object_set_new(o, "hash", json_integer((json_int_t)(r->p->hash >> 1)));
    json_object_set_new(o, "free", free_of(r->free, r->count));
    json_object_set_new(o, "data", data);
    json_object_set_new(o, "loss", json_string(r->opt->loss));
    json_object_set_new(o, "starts", json_integer(r->opt->starts));
    json_object_set_new(o, "seed", json_integer((json_int_t)r->opt->seed));
    return o;
}

dae_status dae_fit_record_head(const dae_fit_record *r, dae_write_fn *write, void *user)
{
    return dae_json_line(head_of(r), write, user);
}

dae_status dae_fit_record_line(const dae_fit_progress *at, dae_write_fn *write, void *user)
{
    json_t *o = json_pack("{s:i,s:i,s:f,s:f,s:o}", "start", at->start, "iteration", at->iteration, "cost",
                          isfinite(at->cost) ? at->cost : 1e308, "damping", at->damping, "value",
                          dae_json_reals(at->value, at->count));
    return dae_json_line(o, write, user);
}

/* Takes a line into the points, which have the values behind them. */
static void take(const dae_fit_record *r, json_t *o, dae_fit_point *point, double *value, int *count)
{
    const json_t *v = json_object_get(o, "value");
    int start = (int)json_integer_value(json_object_get(o, "start")), k = 0;
    if (!json_is_array(v) || (int)json_array_size(v) != r->count || start < 0 || start >= r->opt->starts)
        return;
    while (k < *count && point[k].start != start) k++;
    if (k == *count) ++*count;
    double *to = value + (size_t)k * (size_t)r->count;
    for (int j = 0; j < r->count; j++) to[j] = json_number_value(json_array_get(v, (size_t)j));
    point[k] = (dae_fit_point){start, (int)json_integer_value(json_object_get(o, "iteration")),
                               json_number_value(json_object_get(o, "damping")), to};
}

dae_status dae_fit_record_read(const dae_fit_record *r, const char *text, dae_fit_point **point, int *count,
                               dae_error *err)
{
    size_t starts = (size_t)r->opt->starts, n = (size_t)r->count;
    json_t *own = head_of(r), *head = json_loadb(text, strcspn(text, "\n"), 0, NULL);
    int same = own && head && json_equal(own, head);
    json_decref(own);
    json_decref(head);
    *count = 0;
    *point = NULL;
    if (!own) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (!same)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "the record of another fit (problem, data, free parameters or loss differ)");
    *point = calloc(1, (starts + 1) * sizeof **point + (starts * n + 1) * sizeof(double));
    if (!*point) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    double *value = (double *)(*point + starts + 1);
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        const char *end = strchr(line + 1, '\n');
        json_t *o = end ? json_loadb(line + 1, (size_t)(end - line - 1), 0, NULL) : NULL;
        take(r, o, *point, value, count);
        json_decref(o);
    }
    return DAE_OK;
}
