/* Integrals along a run, under error control, for every method:
 *
 *     q(t) = integral of g(t, y(t)) from t0 to t
 *
 *     const char *g[] = {"y3", "F*v"};                      of components, sensors, t and parameters
 *     double q[2], error[2];
 *     dae_quadrature(p, NULL, g, 2, NULL, 0, q, error, NULL, &err);      up to the end of the run
 *
 * Each step is integrated on its dense output by Gauss-Kronrod formulas that are halved until the tolerance is met, up to
 * events and from their new states on. */
#ifndef DAEDALUS_QUADRATURE_H
#define DAEDALUS_QUADRATURE_H

#include <daedalus/sensitivity.h>

DAE_BEGIN_DECLS

typedef struct dae_quadrature_options {
    dae_simulation_options simulation; /* method, tolerances, end, events */
    /* of the integrals, of rtol * (integral of |g|) + atol; both 0: a tenth of the run's rtol */
    double rtol, atol;
    /* Parameters and initial values by which the integrals are differentiated, nby of them; NULL: none. */
    const char *const *by;
    int nby;
    const char *mode; /* of the derivatives, as in dae_gradient_options: "auto", "forward", "adjoint" */
    /* Functions instead of texts: count values of g, and (NULL: no derivatives) count*n of dg/dy, column-major. They return 0,
     * or else the run fails. */
    int (*g)(double t, const double *y, double *g, void *user);
    int (*dgdy)(double t, const double *y, double *dg, void *user);
    void *user;
} dae_quadrature_options;
DAE_API dae_quadrature_options dae_quadrature_options_default(const dae_problem *p);

/* At the given times, in the direction of the run (ntimes 0: at its end, which counts as one time), for each:
 *     value       count integrals
 *     error       count estimates of the error of the formulas, not of the run; NULL: not wanted
 *     derivative  count*nby, d value_k / d by_j at k + count*j; NULL where nby is 0. "adjoint": at the end only
 * opt NULL: the default. text: NULL where opt gives functions. DAE_EVENT: an event ended the run, times behind it have NAN. */
DAE_API dae_status dae_quadrature(const dae_problem *p, const dae_quadrature_options *opt,
                                  const char *const *text, int count, const double *times, int ntimes,
                                  double *value, double *error, double *derivative, dae_error *err);

DAE_END_DECLS

#endif
