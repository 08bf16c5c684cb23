/* A design as one JSON object in one line. The keys are a contract with scripts. */
#include <daedalus/optimize.h>

#include "table/json_value.h"

/* Values by the names of what is free. */
static json_t *named(const dae_fit_free *list, const double *value, int count)
{
    json_t *o = json_object();
    for (int j = 0; j < count; j++) json_object_set_new(o, list[j].name, dae_json_real(value[j]));
    return o;
}

dae_status dae_optimize_json(const dae_optimize_result *r, const dae_fit_free *list, const dae_problem *p,
                             const char *minimize, dae_write_fn *write, void *user)
{
    json_t *o = json_object();
    json_object_set_new(o, "problem", json_string(p->info ? p->info->name : ""));
    json_object_set_new(o, "minimize", json_string(minimize));
    json_object_set_new(o, "status", json_string(dae_status_name(r->status)));
    json_object_set_new(o, "message", json_string(r->message));
    json_object_set_new(o, "objective", dae_json_real(r->objective));
    json_object_set_new(o, "objective_start", dae_json_real(r->objective_start));
    json_object_set_new(o, "violation", dae_json_real(r->violation));
    json_object_set_new(o, "evaluations", json_integer(r->evaluations));
    json_object_set_new(o, "parameters", named(list, r->value, r->count));
    json_object_set_new(o, "start", named(list, r->start, r->count));
    json_object_set_new(o, "gradient", named(list, r->gradient, r->count));
    return dae_json_line(o, write, user);
}
