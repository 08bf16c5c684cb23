/* Components that must not become negative (dae_options.nonnegative), after Shampine, Thompson, Kierzenka, Byrne: Non-negative
 * solutions of ODEs, Appl. Math. Comput. 170 (2005) 556-569.
 *
 *   - Outside the equations are others: f_i <- max(f_i, -100 y_i/T) where y_i <= 0, T the length of the interval, so that nothing
 *     runs away, and what is outside by an error comes back (theirs: max(f_i, 0)).
 *   - One-step methods move every accepted point back, y_i <- max(y_i, 0); a point that is further out than its tolerance
 *     makes the step shorter. Multistep methods keep their history.
 *   - What is handed out (states, dense output, events) is max(y_i, 0), which is never farther from the solution. */
#ifndef DAE_METHOD_NONNEGATIVE_H
#define DAE_METHOD_NONNEGATIVE_H

#include "method/driver.h"

dae_status dae_nonnegative_create(dae_integrator *it, const dae_options *opt, dae_error *err);
/* DAE_ERR_INPUT with the first component of y that is negative. */
dae_status dae_nonnegative_check(const dae_integrator *it, double t, const double *y, dae_error *err);
/* The method is known: its accepted points are moved back, where it can. */
void dae_nonnegative_project(dae_integrator *it);
/* y_i <- max(y_i, 0); y' too where it points outside (yp may be NULL). */
void dae_nonnegative_clip(const dae_integrator *it, double *y, double *yp);

#endif
