/* What the runs of a sweep say together. */
#include "study/json.h"

#include <daedalus/sweep.h>

#include <string.h>

static json_t *statistics_object(const dae_statistics *x)
{
    static const char *const names[] = {"mean", "sd", "min", "p5", "p25", "median", "p75", "p95", "max"};
    const double v[] = {x->mean,
                        x->sd,
                        x->min,
                        x->percentile[0],
                        x->percentile[1],
                        x->percentile[2],
                        x->percentile[3],
                        x->percentile[4],
                        x->max};
    json_t *o = json_object();
    json_object_set_new(o, "count", json_integer(x->count));
    for (int i = 0; i < 9; i++) json_object_set_new(o, names[i], dae_json_real(v[i]));
    return o;
}

/* {"quantity": {"parameter": {"first": .., "total": .., "local": ..}}} */
static json_t *indices_object(const dae_table *t)
{
    json_t *all = json_object();
    for (long i = 0; t->text && i < t->nrow; i++) {
        const char *quantity = t->text[i], *parameter = t->text[t->nrow + i];
        if (!quantity || !parameter) continue;
        json_t *of = json_object_get(all, quantity), *o = json_object();
        if (!of) json_object_set_new(all, quantity, of = json_object());
        for (int k = 2; k < t->ncol; k++)
            json_object_set_new(o, t->name[k], dae_json_real(t->value[(long)k * t->nrow + i]));
        json_object_set_new(of, parameter, o);
    }
    return all;
}

dae_status dae_sweep_summary_json(const dae_table *t, int width, const dae_table *indices,
                                  dae_write_fn *write, void *user)
{
    int from = dae_table_find(t, "t"), status = dae_table_find(t, "status");
    json_t *summary = json_object(), *columns = json_object(), *counts = json_object();
    json_object_set_new(summary, "runs", json_integer(t->nrow));
    for (long i = 0; status >= 0 && t->text && i < t->nrow; i++) {
        const char *word = t->text[(long)status * t->nrow + i];
        if (!word) continue;
        json_object_set_new(counts, word,
                            json_integer(json_integer_value(json_object_get(counts, word)) + 1));
    }
    json_object_set_new(summary, "status", counts);
    for (int k = 1; k < t->ncol; k++) {
        dae_statistics x;
        if (strchr(t->name[k], '@') || (k > width && k < from)) continue;
        if (dae_statistics_of(t->value + (long)k * t->nrow, t->nrow, &x) < 0) continue;
        json_object_set_new(columns, t->name[k], statistics_object(&x));
    }
    json_object_set_new(summary, "columns", columns);
    if (indices) json_object_set_new(summary, "indices", indices_object(indices));
    json_object_set_new(summary, "provenance", dae_provenance_object());
    return dae_json_write(summary, write, user);
}
