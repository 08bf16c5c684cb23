/* Steady states, branches and cycles as one JSON object in one line. The keys are a contract with scripts. */
#include <daedalus/steady.h>

#include "table/json_value.h"

static json_t *begin(const dae_problem *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "problem", json_string(p->info ? p->info->name : ""));
    return o;
}

/* The components of a point by their names. */
static json_t *state(const dae_problem *p, const double *y, int n)
{
    char buffer[24];
    json_t *o = json_object();
    for (int i = 0; i < n; i++)
        json_object_set_new(o, dae_component_name(p, i, buffer, sizeof buffer), dae_json_real(y[i]));
    return o;
}

static json_t *pairs(const double *re, const double *im, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_pack("[o,o]", dae_json_real(re[i]), dae_json_real(im[i])));
    return list;
}

dae_status dae_steady_json(const dae_steady_result *r, const dae_problem *p, double t, dae_write_fn *write,
                           void *user)
{
    json_t *o = begin(p);
    json_object_set_new(o, "t", dae_json_real(t));
    json_object_set_new(o, "y", state(p, r->y, r->n));
    json_object_set_new(o, "eigenvalues", pairs(r->re, r->im, r->neigenvalue));
    json_object_set_new(o, "unstable", json_integer(r->unstable));
    json_object_set_new(o, "conserved", json_integer(r->conserved));
    json_object_set_new(o, "settled", json_boolean(r->settled));
    json_object_set_new(o, "iterations", json_integer(r->iterations));
    json_object_set_new(o, "residual", dae_json_real(r->residual));
    return dae_json_line(o, write, user);
}

dae_status dae_periodic_json(const dae_periodic_result *r, const dae_problem *p, dae_write_fn *write,
                             void *user)
{
    json_t *o = begin(p);
    json_object_set_new(o, "period", dae_json_real(r->period));
    json_object_set_new(o, "forced", json_boolean(r->forced));
    json_object_set_new(o, "t", dae_json_real(r->t));
    json_object_set_new(o, "y", state(p, r->y, r->n));
    json_object_set_new(o, "multipliers", pairs(r->re, r->im, r->nmultiplier));
    json_object_set_new(o, "unstable", json_integer(r->unstable));
    json_object_set_new(o, "iterations", json_integer(r->iterations));
    json_object_set_new(o, "residual", dae_json_real(r->residual));
    return dae_json_line(o, write, user);
}

/* A fold, a Hopf point, a crossing or an end. */
static json_t *special(const dae_branch *b, const dae_problem *p, int j)
{
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_string(dae_branch_kind_name(b->kind[j])));
    json_object_set_new(o, "point", json_integer(j));
    json_object_set_new(o, "value", dae_json_real(b->value[j]));
    if (b->kind[j] == DAE_BRANCH_HOPF) json_object_set_new(o, "frequency", dae_json_real(b->frequency[j]));
    json_object_set_new(o, "y", state(p, b->y + (size_t)j * (size_t)b->n, b->n));
    return o;
}

dae_status dae_branch_json(const dae_branch *b, const dae_problem *p, dae_write_fn *write, void *user)
{
    json_t *o = begin(p), *y = json_object(), *unstable = json_array(), *points = json_array();
    char buffer[24];
    json_object_set_new(o, "parameter", json_string(b->parameter));
    json_object_set_new(o, "status", json_string(dae_status_name(b->status)));
    json_object_set_new(o, "message", json_string(b->message));
    json_object_set_new(o, "closed", json_boolean(b->closed));
    for (int j = 0; j < b->count; j++) {
        json_array_append_new(unstable, json_integer(b->unstable[j]));
        if (b->kind[j]) json_array_append_new(points, special(b, p, j));
    }
    for (int i = 0; i < b->n; i++) {
        json_t *one = json_array();
        for (int j = 0; j < b->count; j++)
            json_array_append_new(one, dae_json_real(b->y[(size_t)j * (size_t)b->n + (size_t)i]));
        json_object_set_new(y, dae_component_name(p, i, buffer, sizeof buffer), one);
    }
    json_object_set_new(o, "value", dae_json_reals(b->value, b->count));
    json_object_set_new(o, "y", y);
    json_object_set_new(o, "unstable", unstable);
    json_object_set_new(o, "special", points);
    return dae_json_line(o, write, user);
}
