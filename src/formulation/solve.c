/* All in one: create, start, advance, destroy; mechanical systems through the formulation that the options name. */
#include <daedalus/integrator.h>

#include "core/vector.h"
#include "formulation/formulation.h"

#include <math.h>
#include <stdlib.h>

static dae_status run(dae_integrator *it, double t0, double t1, double *y, int n, dae_stats *stats,
                      dae_error *err)
{
    dae_status s = dae_integrator_start(it, t0, t1, y, NULL, err);
    if (s >= 0) {
        s = dae_integrator_advance(it, t1, err);
        dae_copy(n, dae_integrator_state(it), y);
    }
    if (stats) *stats = *dae_integrator_stats(it);
    return s;
}

/* Largest residuals at the accepted points. */
static void note_residuals(dae_formulation *f, dae_integrator *it, double *pvu, dae_stats *stats)
{
    double t = dae_integrator_time(it), r[3];
    if (dae_formulation_lower(f, t, dae_integrator_state(it), pvu, NULL, NULL, NULL) < 0) return;
    if (dae_formulation_residuals(f, t, pvu, NULL, r, NULL) < 0) return;
    stats->position_residual = fmax(stats->position_residual, r[0]);
    stats->velocity_residual = fmax(stats->velocity_residual, r[1]);
}

static dae_status run_formulated(dae_formulation *f, dae_integrator *it, double t0, double t1, double *pvu,
                                 double *y, dae_stats *stats, dae_error *err)
{
    dae_stats seen = {0};
    double direction = t1 >= t0 ? 1 : -1;
    dae_status s = dae_formulation_lift(f, t0, pvu, y, err);
    if (s >= 0) s = dae_integrator_start(it, t0, t1, y, NULL, err);
    if (s < 0) return s;
    while (s == DAE_OK && direction * (t1 - dae_integrator_time(it)) > 0) {
        s = dae_integrator_step(it, err);
        if (stats && s >= 0) note_residuals(f, it, pvu, &seen);
    }
    dae_status last =
        dae_formulation_lower(f, dae_integrator_time(it), dae_integrator_state(it), pvu, NULL, NULL, err);
    if (stats) {
        *stats = *dae_integrator_stats(it);
        stats->position_residual = seen.position_residual;
        stats->velocity_residual = seen.velocity_residual;
    }
    return s < 0 || last >= 0 ? s : last;
}

static dae_status solve_mech(const dae_system *sys, const dae_options *opt, double t0, double t1, double *pvu,
                             dae_stats *stats, dae_error *err)
{
    dae_options inner;
    dae_status s = DAE_ERR_MEMORY;
    dae_integrator *it = NULL;
    double *y = NULL;
    dae_formulation *f = dae_formulation_open(sys, opt, &inner, err);
    if (!f) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    const dae_system *formed = dae_formulation_system(f);
    y = calloc((size_t)dae_system_size(formed), sizeof *y);
    if (!y) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a state");
        goto done;
    }
    it = dae_integrator_create(formed, &inner, err);
    s = it ? dae_formulation_attach(f, it, err) : err->status;
    if (s < 0) goto done;
    if (formed->kind == DAE_KIND_MECH) s = run(it, t0, t1, pvu, dae_system_size(sys), stats, err);
    else s = run_formulated(f, it, t0, t1, pvu, y, stats, err);
    dae_formulation_explain(f, err);
    if (f->text[0]) dae_log(opt, DAE_LOG_INFO, "formulation=%s text=\"%s\"", f->type->info.name, f->text);
done:
    dae_integrator_destroy(it);
    dae_formulation_destroy(f);
    free(y);
    return s;
}

dae_status dae_solve(const dae_system *sys, const dae_options *opt, double t0, double t1, double *y,
                     dae_stats *stats, dae_error *err)
{
    dae_error spare = {0};
    dae_options standard = dae_options_default();
    if (!err) err = &spare;
    if (!opt) opt = &standard;
    err->status = DAE_OK;
    if (dae_system_check(sys, err)) return err->status;
    if (sys->kind == DAE_KIND_MECH) return solve_mech(sys, opt, t0, t1, y, stats, err);
    dae_integrator *it = dae_integrator_create(sys, opt, err);
    if (!it) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    dae_status s = run(it, t0, t1, y, dae_system_size(sys), stats, err);
    dae_integrator_destroy(it);
    return s;
}
