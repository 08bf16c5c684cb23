/* A look at a problem without a run. */
#ifndef DAEDALUS_CHECK_H
#define DAEDALUS_CHECK_H

#include <daedalus/problem.h>
#include <daedalus/simulation.h>

DAE_BEGIN_DECLS

/* ---- A look without a run --------------------------------------------------------------------- */

/* What is in a problem and what a run of it would do, as one JSON object: kind, name, solver, formulation, reason, warnings
 * [{text, where}], errors []; mechanisms also their topology. opt NULL: as the problem says. The problem is started but
 * not integrated. */
DAE_API dae_status dae_check_json(const dae_problem *p, const dae_simulation_options *opt,
                                  dae_write_fn *write, void *user, dae_error *err);

/* ---- Evaluation at a point ------------------------------------------------------------------- */

/* Reads {"t":..,"y":[..],"yprime":[..]} (mechanical: t, p, v, u, lambda) and writes one JSON object with f,
 * and with mass, G, g where there are such; with_jacobian: with jac too, by rows. The status word in it is
 * "ok" or "undefined" (DAE_ERR_UNDEFINED is not returned for that). DAE_ERR_INPUT names the line or key that
 * is wrong. */
DAE_API dae_status dae_eval_json(const dae_problem *p, const char *state, size_t length, int with_jacobian,
                                 dae_write_fn *write, void *user, dae_error *err);

DAE_END_DECLS

#endif
