/* Does the matrix that a mechanical system gives belong to its constraints? Rows 1 .. ng of G (or position_jacobian,
 * where it is given) have to be dg/dp T: every projection onto g = 0 solves with them. */
#ifndef DAE_CORE_GEOMETRY_H
#define DAE_CORE_GEOMETRY_H

#include <daedalus/system.h>

/* Compares them with differences of g along two directions at (t, p): one evaluation of the matrix and four of g. What cannot
 * be evaluated there, or for want of memory, is left to the method. DAE_ERR_INPUT: the first row that differs; _CALLBACK: asked to stop. */
dae_status dae_geometry_check(const dae_mech *m, double t, const double *p, dae_error *err);

#endif
