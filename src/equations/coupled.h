/* Equations with a mechanism inside (use car = mechanism("car.json")) as one mechanical system. */
#ifndef DAE_EQUATIONS_COUPLED_H
#define DAE_EQUATIONS_COUPLED_H

#include "equations/problem.h"

/* The problem of the mechanism with the equations beside it (multibody/external.h). holder owns o; both belong to the problem, and are
 * destroyed if it fails. NULL: messages or *err tell; neither: no memory. */
dae_problem *dae_coupled_problem(dae_problem *holder, dae_equation_object *o, int changed,
                                 dae_messages *messages, dae_error *err);

#endif
