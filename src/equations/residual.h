/* Equations as they are written, F(t, y, y') = 0, for methods that take implicit systems. */
#ifndef DAE_EQUATIONS_RESIDUAL_H
#define DAE_EQUATIONS_RESIDUAL_H

#include "equations/first_order.h"

typedef struct dae_implicit dae_implicit;

/* The components are those of s (only its lists of components are read). Threads may share it. NULL: no memory. */
dae_implicit *dae_implicit_create(const dae_model *m, const dae_first_order *s);
void dae_implicit_destroy(dae_implicit *f); /* NULL allowed */
const int *dae_implicit_algebraic(
    const dae_implicit *f); /* n flags: the derivative of the component does not occur */
int dae_implicit_residual(double t, const double *y, const double *yp, double *F, void *implicit);
/* Where it is not smooth, unless the derivative of a component decides; count 0: nowhere. Each run gets a copy with sides of its own. */
dae_switches dae_implicit_switches(dae_implicit *f);
/* y' from values of all derivatives: X as of the analysis, with its places. */
void dae_implicit_rates(const dae_implicit *f, const int *place, const int *d, const double *X, double *yp);

#endif
