/* All in one: a bare system from t0 to t1, by a simulation, or by its integrator alone where that is all there is to it. */
#include "simulation/simulation.h"

#include "core/vector.h"
#include "method/driver.h"

#include <string.h>

/* No form, and times that stand as an integrator wants them. */
static int is_plain(const dae_system *sys, const dae_options *o)
{
    return sys->kind != DAE_KIND_MECH && (!o->formulation || !strcmp(o->formulation, "auto")) &&
           o->ndiscontinuity < 2;
}

static dae_status solve_plain(const dae_system *sys, const dae_options *o, const dae_events *events,
                              double t0, double t1, double *y, dae_stats *stats, dae_error *err)
{
    dae_integrator *it = dae_integrator_create(sys, o, err);
    if (!it) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (!stats) dae_driver_untimed(it);
    dae_status status = events && events->count > 0 ? dae_integrator_set_events(it, events, err) : DAE_OK;
    if (status >= 0) status = dae_integrator_start(it, t0, t1, y, NULL, err);
    if (status >= 0) {
        status = dae_integrator_advance(it, t1, err);
        dae_copy(dae_system_size(sys), dae_integrator_state(it), y);
    }
    if (stats) *stats = *dae_integrator_stats(it);
    dae_integrator_destroy(it);
    return status;
}

dae_status dae_solve_events(const dae_system *sys, const dae_options *opt, const dae_events *events,
                            double t0, double t1, double *y, dae_stats *stats, dae_error *err)
{
    dae_error spare = {0};
    if (!err) err = &spare;
    err->status = DAE_OK;
    if (dae_system_check(sys, err) || dae_need(y, "y", err)) return err->status;
    dae_options standard;
    if (!opt) {
        standard = dae_options_default();
        opt = &standard;
    }
    if (is_plain(sys, opt)) return solve_plain(sys, opt, events, t0, t1, y, stats, err);
    dae_problem p = {.system = *sys, .t0 = t0, .t_end = t1, .y0 = y};
    dae_simulation_options o = {.options = *opt, .t_end = t1, .events = events};
    dae_simulation *s = dae_simulation_open(&p, &o, err);
    if (!s) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    s->quiet = !stats;
    dae_status status = dae_simulation_start(s, err);
    if (status >= 0) {
        status = dae_simulation_advance(s, t1, err);
        dae_copy(s->n, dae_simulation_state(s), y);
    }
    if (stats) *stats = dae_simulation_stats(s);
    dae_choice c = dae_simulation_choice(s);
    if (c.coordinates[0])
        dae_log(&o.options, DAE_LOG_INFO, "formulation=%s text=\"%s\"", c.formulation, c.coordinates);
    dae_simulation_close(s);
    return status;
}

dae_status dae_solve(const dae_system *sys, const dae_options *opt, double t0, double t1, double *y,
                     dae_stats *stats, dae_error *err)
{
    return dae_solve_events(sys, opt, NULL, t0, t1, y, stats, err);
}
