/* Mass matrices that depend on parameters. M z' = f(t, z, p) with M(p) has the sensitivity equations
 *
 *     M s_j' = (df/dz) s_j + df/dp_j - (dM/dp_j) z'
 *
 * Where every row of dM/dp_j is a combination of rows of M, dM/dp_j = B M and (dM/dp_j) z' = B f: no z' is needed, and the same
 * holds for every linear method with its own differences in place of z'. */
#ifndef DAE_SENSITIVITY_MASSES_H
#define DAE_SENSITIVITY_MASSES_H

#include "sensitivity/family.h"

/* B of all directions whose relatives are open or that are exact; count < 0: there is none. < 0: no memory. */
dae_status dae_masses_find(dae_family *f, dae_error *err);
/* out -= B x */
void dae_masses_apply(const dae_mass_factor *B, const double *x, double *out);
/* q^T B x */
double dae_masses_product(const dae_mass_factor *B, const double *q, const double *x);
/* out -= B J, both in the pattern, which has room for it. */
void dae_masses_jacobian(const dae_mass_factor *B, const dae_pattern *p, int n, const double *J, double *out);
/* 1: B J has the pattern of J. */
int dae_masses_fits(const dae_mass_factor *B, const dae_pattern *p);

#endif
