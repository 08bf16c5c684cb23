/* M(t,y) y' = f(t,y) (dae_dae.mass_fn) as a kind of system that the methods know.
 *
 *     F(t,y,y') = M(t,y) y' - f(t,y) = 0     for methods that take implicit equations, and for "auto"; M may be singular
 *     y' = M(t,y)^-1 f(t,y)                  for all others; M is factored in every evaluation and must be regular */
#ifndef DAE_METHOD_MOVING_MASS_H
#define DAE_METHOD_MOVING_MASS_H

#include <daedalus/method.h>
#include <daedalus/system.h>

typedef struct dae_moving_mass dae_moving_mass;

/* *seen: what a method (NULL: "auto") integrates instead of sys; it lives as long as the result. NULL: see *err. */
dae_moving_mass *dae_moving_mass_create(const dae_system *sys, const dae_method_info *method,
                                        dae_system *seen, dae_error *err);
void dae_moving_mass_destroy(dae_moving_mass *m); /* NULL allowed */
/* Whether M was singular at the last point that could not be evaluated. */
int dae_moving_mass_singular(const dae_moving_mass *m);

#endif
