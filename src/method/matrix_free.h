/* linear_algebra = krylov: the linear systems of implicit methods by GMRES (src/linalg/krylov.h), J as differences of f along a
 * vector at the point of the last Jacobian,
 *
 *     J v = (f(t, y + s v) - f(t, y)) / s,    s |v| = max(1, sqrt(u) |y|) in tolerances,
 *
 * or as the values of a sparse Jacobian where a preconditioner needs them anyhow. */
#ifndef DAE_METHOD_MATRIX_FREE_H
#define DAE_METHOD_MATRIX_FREE_H

#include "method/method.h"

/* Called by dae_ivp_prepare: sets ivp->jacobian to what the preconditioner needs, ivp->linear_solver and
 * ivp->matrix_free. */
dae_status dae_matrix_free_create(dae_ivp *ivp, dae_error *err);
/* A Jacobian is wanted at (t, y), where f is known. 1: its values are wanted, 0: it is done. */
int dae_matrix_free_at(dae_ivp *ivp, double t, const double *y, const double *f);
int dae_matrix_free_values(const dae_ivp *ivp); /* 1: values of J are needed */
void dae_matrix_free_loaded(dae_ivp *ivp);      /* after the arena of a checkpoint was read */
void dae_matrix_free_destroy(dae_ivp *ivp);     /* after the method is gone */

#endif
