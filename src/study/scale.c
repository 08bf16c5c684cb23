/* What a study of growth says: JSON and table. */
#include "core/error.h"
#include "study/json.h"

#include <daedalus/scale.h>

#include <math.h>

static json_t *line_object(const dae_scale_line *l)
{
    json_t *o = json_object(), *size = json_array(), *n = json_array(), *steps = json_array(),
           *cost = json_array();
    for (int k = 0; k < l->count; k++) {
        json_array_append_new(size, dae_json_real(l->size[k]));
        json_array_append_new(n, json_integer(l->n[k]));
        json_array_append_new(steps, json_integer(l->steps[k]));
        json_array_append_new(cost, dae_json_real(l->cost[k]));
    }
    json_object_set_new(o, "solver", json_string(l->solver));
    json_object_set_new(o, "linear_algebra", json_string(l->linear_algebra));
    json_object_set_new(o, "size", size);
    json_object_set_new(o, "n", n);
    json_object_set_new(o, "steps", steps);
    json_object_set_new(o, "cpu_seconds", cost);
    json_object_set_new(o, "exponent", dae_json_real(l->fit.exponent));
    json_object_set_new(o, "exponent_error", dae_json_real(l->fit.error));
    json_object_set_new(o, "exponent_last", dae_json_real(l->fit.last));
    json_object_set_new(o, "exponent_per_step", dae_json_real(l->step.exponent));
    json_object_set_new(o, "factor", dae_json_real(l->fit.factor));
    return o;
}

dae_status dae_scale_json(const char *problem, const char *parameter, const dae_scale_line *line, int count,
                          dae_write_fn *write, void *user)
{
    json_t *lines = json_array();
    for (int j = 0; j < count; j++) json_array_append_new(lines, line_object(&line[j]));
    dae_status s =
        dae_json_write(json_pack("{s:s,s:s,s:s,s:o,s:o}", "status", "ok", "problem", problem, "parameter",
                                 parameter, "lines", lines, "provenance", dae_provenance_object()),
                       write, user);
    return s < 0 ? s : write("\n", 1, user) < 0 ? DAE_ERR_FILE : DAE_OK;
}

dae_table *dae_scale_table(const char *parameter, const dae_scale_line *line, int count, dae_error *err)
{
    const char *const names[] = {parameter, "solver", "linear_algebra", "equations", "steps", "cpu_seconds"};
    enum { n = sizeof names / sizeof *names };
    long rows = 0, i = 0;
    for (int j = 0; j < count; j++) rows += line[j].count;
    dae_table *t = dae_table_create(n, rows);
    for (int k = 0; t && k < n; k++) dae_table_column(t, k, names[k], k == n - 1 ? "s" : "");
    for (int j = 0; t && j < count; j++) {
        for (int k = 0; k < line[j].count; k++, i++) {
            dae_table_set(t, i, 0, line[j].size[k]);
            dae_table_set_text(t, i, 1, line[j].solver);
            dae_table_set_text(t, i, 2, line[j].linear_algebra);
            dae_table_set(t, i, 3, (double)line[j].n[k]);
            dae_table_set(t, i, 4, (double)line[j].steps[k]);
            if (isfinite(line[j].cost[k])) dae_table_set(t, i, 5, line[j].cost[k]);
            else dae_table_set_text(t, i, 5, "");
        }
    }
    if (t) t->no_units = 1;
    if (t && !t->failed) return t;
    dae_table_destroy(t);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}
