/* Stiff methods where nothing damps: a tighter tolerance.
 *
 * The local errors of N steps add up to N tolerances where h |J| is small, and N grows as the tolerance falls: DETEST B1, two
 * periods of a limit cycle, ended 6000 tolerances off at 1e-11. So below the tolerance `from` the errors of steps with
 * h |J| < 0.3 are weighed by
 *
 *     c = (from/tol)^power,
 *
 * which has N c^(-5/6) fall with power 1/4 in backward differentiation formulas up to order 5, and with 1/2 in methods of order
 * 2; by a power of c up to h |J| = 3. A run that reaches 3 damps its errors, there
 * and whenever it comes back; it is left alone from then on (van der Pol's transitions are steps that damp nothing, and what
 * they leave is gone on the slow manifold). |J| is the largest sum of a column in the weights of the error test; where
 * q' = v, v' = f(q, v), the root of |J|^2 = |df/dv| |J| + |df/dq|, the least that q in other units leaves of it: an oscillation has
 * |J| = omega and not omega^2, with which a chain of 200 links was taken for damped from the first step. Only y' = f(t,y) is looked at. Constants ours. */
#ifndef DAE_METHOD_UNDAMPED_H
#define DAE_METHOD_UNDAMPED_H

#include "method/method.h"

typedef struct dae_undamped {
    double most; /* c; 1: nothing to do */
    double size; /* |J|; 0: not known */
    int damped;  /* h |J| was large */
} dae_undamped;

/* The first start of a run (*u zero), or a later one. */
void dae_undamped_begin(dae_undamped *u, const dae_ivp *ivp, double from, double power);
/* J, in the layout of ivp->jacobian, was made; w: reciprocal weights. */
void dae_undamped_see(dae_undamped *u, const dae_ivp *ivp, const double *J, const double *w);
/* What the weights of a step of size h are multiplied by. */
double dae_undamped_factor(dae_undamped *u, double h);

#endif
