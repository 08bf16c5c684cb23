/* What methods say in the same words, and the wall ahead of multistep codes. A function that returns a status has written it to the
 * error of the run. */
#ifndef DAE_METHOD_FAILURE_H
#define DAE_METHOD_FAILURE_H

#include "method/method.h"

/* ---- Failures ---------------------------------------------------------------------------------------- */

/* "a user function", "the Jacobian", ... asked to stop. */
dae_status dae_says_stopped(dae_ivp *ivp, double t, const char *who);
/* An evaluation that no smaller step can mend: r < 0: who asked to stop; r > 0: it cannot be evaluated there. */
dae_status dae_says_not_evaluated(dae_ivp *ivp, int r, double t, const char *who, const char *where);
/* The iteration does not converge, and the step is fixed. */
dae_status dae_says_not_converging(dae_ivp *ivp, double t, double h);
dae_status dae_says_no_memory_to_factor(dae_ivp *ivp, double t);
/* The step fell to h, least is the smallest, after so many failures of: "the iteration", "the error test"; hint NULL: a singularity may
 * be near, ... */
dae_status dae_says_step_fell(dae_ivp *ivp, double t, double h, double least, int count, const char *of,
                              const char *hint);
/* The same at the present point, after so many failures in a row of whatever. */
dae_status dae_says_step_fell_in_a_row(dae_ivp *ivp, double h, double least, int count);

/* ---- Start of the multistep codes -------------------------------------------------------------------- */

/* 1, and *err: an rtol is below `least`, where rounding decides. */
int dae_rtol_too_small(const dae_ivp *ivp, const char *method, double least, dae_error *err);
/* Weights 1/(rtol |y| + atol) of all components exist, or the status of the one that has none. */
dae_status dae_check_weights(dae_ivp *ivp, double t, const double *y);

/* ---- The wall ahead of the multistep codes ----------------------------------------------------------- */

#define DAE_WALL_FIXED 1e-10 /* of a fixed step that may stand beyond the wall; ours */

/* 1: a step h from t goes beyond t_stop, by more than rounding where steps are fixed. slack: of h, for its own rounding. */
int dae_passes_wall(const dae_ivp *ivp, double t, double h, double slack, int fixed);
/* t, or t_stop where rounding alone is between, after a step h; [DDASSL], [DVODE]: 100 u (|t| + |h|). */
double dae_time_at_wall(const dae_ivp *ivp, double t, double h);

#endif
