/* Steps that jump over a pole, see dae_poles of daedalus/system.h. */
#ifndef DAE_METHOD_POLES_H
#define DAE_METHOD_POLES_H

#include "method/driver.h"

dae_status dae_poles_create(dae_integrator *it, dae_error *err);
/* The state was given anew: what is known of it is forgotten. */
void dae_poles_forget(dae_integrator *it);
/* Whether the step from (now, y) to (t, y) of the method passes a pole: its number, -1: none. */
int dae_poles_passed(dae_integrator *it);
/* The step that passed pole i is to be repeated with *h; or why it cannot be. */
dae_status dae_poles_repeat(dae_integrator *it, int i, double *h, dae_error *err);

#endif
