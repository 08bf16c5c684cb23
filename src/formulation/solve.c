/* All in one: create, start, advance, destroy. */
#include <daedalus/integrator.h>

#include "core/error.h"
#include "core/vector.h"

dae_status dae_solve(const dae_system *sys, const dae_options *opt, double t0, double t1, double *y,
                     dae_stats *stats, dae_error *err)
{
    dae_error spare = {0};
    if (!err) err = &spare;
    err->status = DAE_OK;
    dae_integrator *it = dae_integrator_create(sys, opt, err);
    if (!it) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    dae_status s = dae_integrator_start(it, t0, t1, y, NULL, err);
    if (s >= 0) {
        s = dae_integrator_advance(it, t1, err);
        dae_copy(dae_system_size(sys), dae_integrator_state(it), y);
    }
    if (stats) *stats = *dae_integrator_stats(it);
    dae_integrator_destroy(it);
    return s;
}
