/* Errors along a trajectory, not only at its end: at equidistant times between t0 and the end, against a tight run. */
#ifndef DAEDALUS_PATH_H
#define DAEDALUS_PATH_H

#include <daedalus/run.h>

DAE_BEGIN_DECLS

typedef struct dae_path dae_path; /* the solution at equidistant times */

/* By what "auto" takes at rtol 1e-12 (or the tightest tolerance down to 1e-9 at which it ends), atol in the problem's ratio. points 0: 1000.
 * NULL: see *err. */
DAE_API dae_path *dae_path_create(const dae_problem *p, double t_end, int points, dae_error *err);
DAE_API void dae_path_destroy(dae_path *x);             /* NULL allowed */
DAE_API const char *dae_path_source(const dae_path *x); /* "radau, rtol 1e-12" */
/* What a run that is compared needs: the trajectory at the same times. */
DAE_API void dae_path_ask(const dae_path *x, dae_run_options *opt);

/* Of one component, [RNY] section 3.1: with E the path and D_i the error at time t_i */
typedef struct dae_path_error {
    double largest;  /* Delta = max |D_i| */
    double t;        /* where: t* */
    double relative; /* RelErr = 100 Delta/|E(t*)|, percent; NAN where E(t*) = 0 */
    double mean;     /* sqrt(mean D_i^2) */
} dae_path_error;

/* Of all n components of the problem, at the times that the run reached. scd: -log10 of the largest Delta relative to the largest |E| of
 * its component; mescd: of the largest |D_i|/(atol/rtol + |E_i|); of the components that count; both may be NULL. DAE_ERR_INPUT: the
 * run has no such trajectory. */
DAE_API dae_status dae_path_compare(const dae_path *x, const dae_run_result *r, dae_path_error *error,
                                    double *scd, double *mescd);

DAE_END_DECLS

#endif
