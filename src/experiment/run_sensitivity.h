/* The derivatives and integrals of a run that has ended. */
#ifndef DAE_EXPERIMENT_RUN_SENSITIVITY_H
#define DAE_EXPERIMENT_RUN_SENSITIVITY_H

#include <daedalus/run.h>

#include "core/arena.h"

/* Fills r->sensitivity... as o asks. */
dae_status dae_run_sensitivity(dae_run_result *r, const dae_run_options *o, dae_arena *arena, dae_error *err);
/* Fills r->integral... as o asks. */
dae_status dae_run_integrals(dae_run_result *r, const dae_run_options *o, dae_arena *arena, dae_error *err);

#endif
