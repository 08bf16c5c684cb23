/* A look at a problem without a run: what is in it, and what a run would do. */
#include <daedalus/experiment.h>
#include <daedalus/multibody.h>

#include "core/error.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

typedef struct out {
    dae_write_fn *write;
    void *user;
} out;

static int forward(const char *text, size_t length, void *user)
{
    out *o = user;
    return o->write(text, length, o->user);
}

/* Writes and frees it. */
static dae_status put(json_t *object, dae_write_fn *write, void *user)
{
    out o = {write, user};
    int bad = !object || json_dump_callback(object, forward, &o, JSON_REAL_PRECISION(17)) ||
              write("\n", 1, user) < 0;
    json_decref(object);
    return bad ? DAE_ERR_FILE : DAE_OK;
}

/* How far assembly moved a coordinate at most, and which. */
static double largest_move(const dae_problem *p, const mbs_mechanism *c, int *which)
{
    double worst = 0, *described = calloc((size_t)dae_system_size(&p->system), sizeof *described);
    *which = 0;
    if (!described) return 0;
    mbs_mechanism_described(c, described);
    for (int i = 0; i < p->system.mech.np; i++) {
        double moved = fabs(p->y0[i] - described[i]);
        if (!(moved > worst)) continue;
        worst = moved;
        *which = i;
    }
    free(described);
    return worst;
}

static void add_mechanism(json_t *o, const dae_problem *p, const mbs_mechanism *c)
{
    mbs_topology top = mbs_mechanism_topology(c);
    json_t *redundant = json_array();
    char buffer[24];
    int which;
    double moved = largest_move(p, c, &which);
    for (int i = 0, row; i < top.redundant; i++) {
        const char *name = mbs_mechanism_redundant(c, i, &row);
        json_array_append_new(redundant, json_pack("{s:s,s:i}", "joint", name, "row", row));
    }
    json_object_set_new(o, "model", json_string(p->info->name));
    json_object_set_new(o, "bodies", json_integer(top.bodies));
    json_object_set_new(o, "joints", json_integer(top.joints));
    json_object_set_new(o, "loops", json_integer(top.loops));
    json_object_set_new(o, "coordinates", json_integer(top.coordinates));
    json_object_set_new(o, "constraints", json_integer(top.constraints));
    json_object_set_new(o, "independent", json_integer(top.independent));
    json_object_set_new(o, "freedom", json_integer(top.freedom));
    json_object_set_new(o, "dof", json_integer(top.freedom));
    json_object_set_new(o, "redundant", redundant);
    json_object_set_new(o, "moved", json_real(moved));
    json_object_set_new(o, "moved_most",
                        moved > 0 ? json_string(dae_component_name(p, which, buffer, sizeof buffer))
                                  : json_null());
}

dae_status dae_check_json(const dae_problem *p, const dae_simulation_options *opt, dae_write_fn *write,
                          void *user, dae_error *err)
{
    dae_simulation_options standard = dae_simulation_options_default(p);
    dae_error own = {0};
    if (!err) err = &own;
    dae_simulation *s = dae_simulation_open(p, opt ? opt : &standard, err);
    dae_status status = s ? dae_simulation_start(s, err) : err->status;
    if (status < 0) {
        dae_simulation_close(s);
        return status;
    }
    dae_choice c = dae_simulation_choice(s);
    json_t *warnings = json_array();
    for (int i = 0; p->warning && p->warning[i]; i++)
        json_array_append_new(warnings, json_pack("{s:s,s:n}", "text", p->warning[i], "where"));
    json_t *notes = json_array();
    for (int i = 0; p->note && p->note[i]; i++) json_array_append_new(notes, json_string(p->note[i]));
    json_t *o = json_pack("{s:s,s:s,s:s,s:s,s:i,s:i,s:s,s:s?,s:s,s:o,s:o,s:[]}", "status", "ok", "kind",
                          dae_kind_name(p->system.kind), "source", p->source ? p->source : "system", "name",
                          p->info ? p->info->name : "system", "n", dae_system_size(&p->system), "index",
                          dae_system_index(&p->system), "solver", c.method, "formulation",
                          c.formulation[0] ? c.formulation : NULL, "reason", c.reason, "warnings", warnings,
                          "notes", notes, "errors");
    const mbs_mechanism *mechanism = mbs_problem_mechanism(p);
    if (o && mechanism) add_mechanism(o, p, mechanism);
    dae_simulation_close(s);
    return put(o, write, user);
}
