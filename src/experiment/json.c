/* A run as one JSON object. The keys are a contract with scripts: add to them, do not rename. */
#include "core/text.h"
#include "table/json_value.h"

#include <daedalus/experiment.h>

#include <math.h>
#include <string.h>

static json_t *text_or_null(const char *s)
{
    json_t *v = s ? json_string(s) : NULL;
    return v ? v : json_null();
}

static json_t *reals(const double *x, int n)
{
    return x ? dae_json_reals(x, n) : json_null();
}

static void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

/* The mechanical system of the run, or NULL: a DAE may have been integrated as the mechanism behind it. */
static const dae_system *mechanics(const dae_run_result *r)
{
    const dae_problem *p = r->problem;
    if (p->system.kind == DAE_KIND_MECH) return &p->system;
    return r->formulation ? p->mechanism : NULL;
}

static void put_mechanical(json_t *o, const dae_run_result *r, const dae_sample *s)
{
    const dae_system *sys = mechanics(r);
    if (!sys) return;
    put(o, "p", reals(s->p, sys->mech.np));
    put(o, "v", reals(s->v, sys->mech.nv));
    put(o, "a", reals(s->a, sys->mech.nv));
    put(o, "lambda", reals(s->lambda, sys->mech.nlambda));
}

static void put_counters(json_t *o, const dae_run_result *r)
{
    const dae_stats *s = &r->stats;
    put(o, "steps", json_integer(s->steps));
    put(o, "accepted", json_integer(s->accepted));
    put(o, "rejected", json_integer(s->rejected));
    put(o, "f", json_integer(s->f));
    put(o, "f_jac", json_integer(s->f_jac));
    put(o, "jac", json_integer(s->jac));
    put(o, "lu", json_integer(s->lu));
    put(o, "solves", json_integer(s->solves));
    if (s->krylov) put(o, "krylov", json_integer(s->krylov));
    if (s->nfcn) { /* half-explicit methods, as the MEXX report counts */
        put(o, "nstep", json_integer(s->accepted));
        put(o, "nfcn", json_integer(s->nfcn));
        put(o, "nsol", json_integer(s->nsol));
    }
    put(o, "newton", json_integer(s->newton));
    put(o, "newton_failures", json_integer(s->newton_failures));
    put(o, "restarts", json_integer(s->restarts));
    if (r->formulation && !strcmp(r->formulation, "statespace"))
        put(o, "coordinate_changes", json_integer(s->charts));
    put(o, "undefined", json_integer(s->undefined));
    put(o, "h_last", dae_json_real(s->h_last));
    put(o, "h_smallest", dae_json_real(s->h_smallest));
    put(o, "h_largest", dae_json_real(s->h_largest));
    put(o, "order_last", json_integer(s->order_last));
    put(o, "cpu_seconds", dae_json_real(r->cpu_seconds));
    put(o, "repeat", json_integer(r->repeat));
    int profiled = s->user_seconds > 0 || s->linalg_seconds > 0;
    put(o, "user_seconds", dae_json_real(profiled ? s->user_seconds : NAN));
    put(o, "linalg_seconds", dae_json_real(profiled ? s->linalg_seconds : NAN));
}

static json_t *events(const dae_run_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->nevent; i++) {
        json_t *e = json_object();
        put(e, "t", dae_json_real(r->event[i].t));
        put(e, "name", text_or_null(r->event_name ? r->event_name[r->event[i].index] : NULL));
        put(e, "index", json_integer(r->event[i].index));
        put(e, "rising", json_boolean(r->event[i].rising));
        json_t *by = r->event_s ? json_object() : NULL;
        for (int k = 0; k < r->nsensitivity && by; k++)
            put(by, r->sensitivity[k], dae_json_real(r->event_s[i * r->nsensitivity + k]));
        if (by) put(e, "sensitivity", by);
        json_array_append_new(list, e);
    }
    return list;
}

/* Values of n components by each name. */
static json_t *by_names(const dae_run_result *r, const double *values)
{
    json_t *d = json_object();
    for (int k = 0; k < r->nsensitivity; k++)
        put(d, r->sensitivity[k], reals(values + (size_t)k * (size_t)r->n, r->n));
    return d;
}

/* Those of the derived columns, each with its name. */
static json_t *of_derived(const dae_run_result *r)
{
    const dae_derived *d = &r->problem->derived;
    json_t *all = json_object();
    for (int k = 0; k < r->nsensitivity; k++) {
        json_t *by = json_object();
        for (int i = 0; i < d->ncolumn; i++)
            put(by, d->column[i], dae_json_real(r->derived_s_end[i + k * d->ncolumn]));
        put(all, r->sensitivity[k], by);
    }
    return all;
}

static void put_integrals(json_t *o, const dae_run_result *r)
{
    json_t *value = json_object(), *error = json_object(), *by = json_object();
    for (int k = 0; k < r->nintegral; k++) {
        put(value, r->integral[k], dae_json_real(r->integral_end[k]));
        put(error, r->integral[k], dae_json_real(r->integral_error[k]));
        json_t *d = json_object();
        for (int j = 0; j < r->nsensitivity && r->integral_s; j++)
            put(d, r->sensitivity[j], dae_json_real(r->integral_s[k + r->nintegral * j]));
        put(by, r->integral[k], d);
    }
    put(o, "integral", value);
    put(o, "integral_error", error);
    if (r->integral_s) put(o, "integral_sensitivity", by);
    else json_decref(by);
}

static json_t *samples(const dae_run_result *r)
{
    json_t *list = json_array();
    for (int i = 0; i < r->nat; i++) {
        json_t *s = json_object();
        put(s, "t", dae_json_real(r->at[i].t));
        put(s, "y", reals(r->at[i].y, r->n));
        put_mechanical(s, r, &r->at[i]);
        json_array_append_new(list, s);
    }
    return list;
}

static int hand_over(const char *buffer, size_t size, void *user)
{
    dae_text *x = user;
    return x->write(buffer, size, x->user);
}

const char *dae_run_status_word(dae_status s)
{
    switch (s) {
    case DAE_OK:
    case DAE_STIFF: return "ok";
    case DAE_EVENT: return "event";
    case DAE_CANCELLED: return "cancelled";
    case DAE_ERR_MAX_STEPS:
    case DAE_ERR_MAX_SECONDS: return "limit";
    case DAE_ERR_INCONSISTENT: return "inconsistent";
    case DAE_ERR_INPUT:
    case DAE_ERR_UNSUPPORTED:
    case DAE_ERR_FILE: return "input";
    default: return "failed";
    }
}

static json_t *energy(const dae_balance *b)
{
    if (!b) return json_null();
    json_t *o = json_object();
    put(o, "start", dae_json_real(b->start));
    put(o, "end", dae_json_real(b->end));
    put(o, "work", dae_json_real(b->work));
    put(o, "imbalance", dae_json_real(b->largest));
    put(o, "allowed", dae_json_real(b->allowed));
    if (b->element[0]) put(o, "element", json_string(b->element));
    return o;
}

/* What `check` says of a model, too: warnings, then what was guessed. */
static void put_notes(json_t *o, const dae_problem *p)
{
    json_t *list = json_array();
    for (int i = 0; p && p->warning && p->warning[i]; i++)
        json_array_append_new(list, json_string(p->warning[i]));
    for (int i = 0; p && p->note && p->note[i]; i++) json_array_append_new(list, json_string(p->note[i]));
    if (json_array_size(list)) put(o, "notes", list);
    else json_decref(list);
}

dae_status dae_run_json(const dae_run_result *r, dae_write_fn *write, void *user)
{
    json_t *o = json_object();
    put(o, "problem", text_or_null(r->name));
    put(o, "solver", text_or_null(r->solver));
    put(o, "formulation", text_or_null(r->formulation));
    put(o, "reason", text_or_null(r->reason && r->reason[0] ? r->reason : NULL));
    if (r->evidence && r->evidence[0]) put(o, "evidence", json_string(r->evidence));
    if (r->warnings && r->warnings[0]) put(o, "warnings", json_string(r->warnings));
    put_notes(o, r->problem);
    put(o, "formulation_text", text_or_null(r->form_text && r->form_text[0] ? r->form_text : NULL));
    put(o, "linear_algebra",
        text_or_null(r->linear_algebra && r->linear_algebra[0] ? r->linear_algebra : NULL));
    put(o, "rtol", dae_json_real(r->rtol));
    put(o, "atol", dae_json_real(r->atol));
    put(o, "h0", dae_json_real(r->h0 > 0 ? r->h0 : NAN));
    put(o, "status", text_or_null(dae_run_status_word(r->status)));
    put(o, "code", text_or_null(dae_status_name(r->status)));
    put(o, "message",
        text_or_null(r->error.text[0] && r->status != DAE_OK ? r->error.text : dae_status_text(r->status)));
    put(o, "t0", dae_json_real(r->t0));
    put(o, "t_end", dae_json_real(r->t_end));
    put(o, "t", dae_json_real(r->started ? r->last.t : NAN));
    put(o, "y", reals(r->started ? r->last.y : NULL, r->n));
    put_mechanical(o, r, &r->last);
    put(o, "scd", dae_json_real(r->scd));
    put(o, "mescd", dae_json_real(r->mescd));
    put_counters(o, r);
    if (r->sensitivity_end) {
        put(o, "sensitivity", by_names(r, r->sensitivity_end));
        if (r->sensitivity_total) put(o, "sensitivity_total", by_names(r, r->sensitivity_total));
        if (r->derived_s_end) put(o, "derived_sensitivity", of_derived(r));
        json_t *d = json_object();
        for (int k = 0; k < r->nsensitivity; k++)
            put(d, r->sensitivity[k], text_or_null(r->sensitivity_kind[k]));
        put(o, "derivatives", d);
    }
    if (r->integral_end) put_integrals(o, r);
    put(o, "events", events(r));
    put(o, "at", samples(r));
    if (mechanics(r)) {
        json_t *c = json_object();
        put(c, "position", dae_json_real(r->stats.position_residual));
        put(c, "velocity", dae_json_real(r->stats.velocity_residual));
        put(c, "acceleration", dae_json_real(r->stats.acceleration_residual));
        put(o, "constraint", c);
        put(o, "energy", energy(r->energy));
    }
    dae_text x = {.write = write, .user = user};
    int bad = json_dump_callback(o, hand_over, &x, JSON_REAL_PRECISION(17) | JSON_COMPACT) < 0;
    json_decref(o);
    if (!bad) bad = write("\n", 1, user) < 0;
    return bad ? DAE_ERR_FILE : DAE_OK;
}
