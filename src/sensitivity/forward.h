/* What the other parts of the library use of a run with sensitivities. */
#ifndef DAE_SENSITIVITY_FORWARD_H
#define DAE_SENSITIVITY_FORWARD_H

#include <daedalus/sensitivity.h>

dae_integrator *dae_sensitivity_integrator(dae_sensitivity *s);
/* At t inside the last step: y (n), dy/dp (n*count), the derived columns (ncolumn) and their derivatives (ncolumn*count); each may
 * be NULL. */
dae_status dae_sensitivity_at(dae_sensitivity *s, double t, double *y, double *values, double *column,
                              double *derivative, dae_error *err);
/* y' (n) at the present point. 0: fine. */
int dae_sensitivity_rate(dae_sensitivity *s, double *yp);

#endif
