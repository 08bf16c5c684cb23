/* All in one: a simulation of a bare system from t0 to t1. */
#include "simulation/simulation.h"

#include "core/vector.h"

dae_status dae_solve_events(const dae_system *sys, const dae_options *opt, const dae_events *events,
                            double t0, double t1, double *y, dae_stats *stats, dae_error *err)
{
    dae_error spare = {0};
    if (!err) err = &spare;
    err->status = DAE_OK;
    if (dae_system_check(sys, err) || dae_need(y, "y", err)) return err->status;
    dae_problem p = {.system = *sys, .t0 = t0, .t_end = t1, .y0 = y};
    dae_simulation_options o = {.options = opt ? *opt : dae_options_default(), .t_end = t1, .events = events};
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
