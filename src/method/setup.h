/* What methods do alike before their first step. */
#ifndef DAE_METHOD_SETUP_H
#define DAE_METHOD_SETUP_H

#include "linalg/shifted.h"
#include "method/method.h"

/* Factors of lambda M - J with real lambda in the storage of the run, which its report names; mass NULL: identity. second_order: as in
 * dae_structure. NULL: see *err. */
dae_shifted *dae_setup_solver(dae_ivp *ivp, const dae_matrix *mass, int second_order, dae_error *err);

/* h in the direction of the run, at most h_max. */
double dae_setup_limited(const dae_ivp *ivp, double h);
/* The smallest relative tolerance (1e-3: three digits) of all components. */
double dae_setup_digits(const dae_ivp *ivp);
/* |y'| in the weights of the error test, over the variables that have a derivative. */
double dae_setup_speed(const dae_ivp *ivp, const double *y, const double *yp);
/* f at the start: yp, which an ODE comes with, or evaluated. */
dae_status dae_setup_rates(dae_ivp *ivp, double t, const double *y, const double *yp, double *f);

#endif
