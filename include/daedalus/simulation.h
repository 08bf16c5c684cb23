/* Simulations: a problem on its way. An integrator, the form in which it integrates a mechanism and the events of the
 * problem, all in the coordinates in which the problem is stated.
 *
 *     dae_simulation_options o = dae_simulation_options_default(p);
 *     dae_simulation *s = dae_simulation_open(p, &o, &err);
 *     dae_simulation_start(s, &err);
 *     while (dae_simulation_step(s, &err) == DAE_OK && dae_simulation_time(s) < p->t_end) {
 *         dae_simulation_interpolate(s, t, y, yp, &err);      anywhere inside the last step
 *     }
 *     dae_simulation_close(s); */
#ifndef DAEDALUS_SIMULATION_H
#define DAEDALUS_SIMULATION_H

#include <daedalus/problem.h>

DAE_BEGIN_DECLS

typedef struct dae_simulation dae_simulation; /* opaque; one per thread */

typedef struct dae_simulation_options {
    dae_options options;      /* vectors of tolerances are made from the problem's factors if NULL */
    double t_end;             /* default: the problem's */
    const dae_events *events; /* NULL: none; default: those of the problem */
    /* lines "name value" that a checkpoint keeps besides problem and parameters, or NULL */
    const char *fingerprint;
} dae_simulation_options;
DAE_API dae_simulation_options dae_simulation_options_default(const dae_problem *p);

/* ---- Life -------------------------------------------------------------------------------------- */

/* Chooses what is left open and builds it all; opt NULL: the defaults. The problem and what the options point to must live as long. NULL: see
 * *err. */
DAE_API dae_simulation *dae_simulation_open(const dae_problem *p, const dae_simulation_options *opt,
                                            dae_error *err);
DAE_API void dae_simulation_close(dae_simulation *s); /* NULL allowed */
/* At the initial values of the problem; also again. */
DAE_API dae_status dae_simulation_start(dae_simulation *s, dae_error *err);

/* ---- Going on ------------------------------------------------------------------------------------ */

/* To t, or one accepted step towards the end. DAE_OK; DAE_EVENT: stopped by an event; DAE_CANCELLED; or an error. */
DAE_API dae_status dae_simulation_advance(dae_simulation *s, double t, dae_error *err);
DAE_API dae_status dae_simulation_step(dae_simulation *s, dae_error *err);
/* Asks a running simulation to stop after the present step; safe in signal handlers and from threads. */
DAE_API void dae_simulation_cancel(dae_simulation *s);
/* Called after accepted steps; other values than 0 cancel. NULL: nothing. */
typedef int dae_simulation_fn(dae_simulation *s, void *user);
DAE_API void dae_simulation_set_progress(dae_simulation *s, dae_simulation_fn *progress, void *user);

/* ---- Where it is --------------------------------------------------------------------------------- */

DAE_API double dae_simulation_time(const dae_simulation *s);
DAE_API double dae_simulation_previous_time(const dae_simulation *s); /* where the last step began */
DAE_API const double *dae_simulation_state(dae_simulation *s);        /* lives until the next call */
/* At t inside the last step: y (n) and its derivative (n; NULL: not wanted). */
DAE_API dae_status dae_simulation_interpolate(dae_simulation *s, double t, double *y, double *yp,
                                              dae_error *err);
/* Mechanisms: accelerations (nv) and multipliers (nlambda) at t inside the last step, those of the method where it knows
 * them; either may be NULL. */
DAE_API dae_status dae_simulation_multipliers(dae_simulation *s, double t, double *a, double *lambda,
                                              dae_error *err);
/* Mechanisms: largest residuals of the position, velocity and acceleration constraints at the present point. */
DAE_API dae_status dae_simulation_residuals(dae_simulation *s, double residual[3], dae_error *err);
/* Problems that know an energy: at the present point. */
DAE_API dae_status dae_simulation_energy(dae_simulation *s, dae_energy *out, dae_error *err);
/* Found so far, in order of time; names are those of the events. */
DAE_API const dae_event_record *dae_simulation_events(const dae_simulation *s, int *count);
/* With the largest residuals of the constraints at the accepted points. */
DAE_API dae_stats dae_simulation_stats(const dae_simulation *s);

/* What happened on the way that may make the result another one, "" if nothing did: a form without projection went through a singular
 * pose, where two motions of the mechanism cross. Lives as long as the simulation. */
DAE_API const char *dae_simulation_warning(const dae_simulation *s);

/* What was chosen, and why. Texts live as long as the simulation; "" where there is nothing to say. */
typedef struct dae_choice {
    const char *method;
    const char *formulation;    /* mechanisms, else "" */
    const char *reason;         /* why these, where they were left open */
    const char *coordinates;    /* what the formulation decided */
    const char *linear_algebra; /* known after start */
} dae_choice;
DAE_API dae_choice dae_simulation_choice(const dae_simulation *s);
/* The evidence behind a choice of "auto", in lines: what was measured, the rule that held, and why the others of its kind do not; ""
 * where nothing was left open. Known after start. Returns the bytes needed without the 0 at the end. */
DAE_API size_t dae_simulation_explain(const dae_simulation *s, char *out, size_t size);

/* ---- Checkpoint ---------------------------------------------------------------------------------- */

/* As dae_integrator_save and _load_changed: into a simulation that was opened with the same and started; changes: names of
 * options that may differ ("rtol,atol"), or NULL. */
DAE_API size_t dae_simulation_save(const dae_simulation *s, void *buffer, size_t size);
DAE_API const char *dae_simulation_why_not_saved(const dae_simulation *s);
DAE_API dae_status dae_simulation_load(dae_simulation *s, const void *buffer, size_t size,
                                       const char *changes, dae_error *err);

DAE_END_DECLS

#endif
