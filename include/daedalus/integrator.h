/* The driver: one integrator for every method, with dense output, output grids, events, restart at
 * discontinuities, limits, progress, cancelling, statistics, checkpoint and resume. */
#ifndef DAEDALUS_INTEGRATOR_H
#define DAEDALUS_INTEGRATOR_H

#include <daedalus/method.h>

DAE_BEGIN_DECLS

typedef struct dae_integrator dae_integrator; /* opaque; one per thread */

typedef struct dae_stats {
    long steps;    /* step attempts */
    long accepted; /* accepted steps */
    long rejected; /* by the error test */
    long newton_failures;
    long f;     /* right-hand sides or residuals, without those for difference Jacobians */
    long f_jac; /* those for difference Jacobians */
    long jac, lu, solves;
    long newton; /* Newton iterations */
    long events, restarts;
    long undefined;               /* evaluations that reported "cannot be evaluated here" */
    double h_last;                /* last step taken */
    double h_smallest, h_largest; /* over the accepted steps */
    int order_last;
    double cpu_seconds;     /* the whole run */
    double user_seconds;    /* in user functions (only with options.profile) */
    double linalg_seconds;  /* in factorizations and solves (only with options.profile) */
    double profile_seconds; /* spent on measuring that */
    /* mechanical systems: largest constraint residuals at the accepted points */
    double position_residual, velocity_residual, acceleration_residual;
    /* Half-explicit methods, as [MEXX] counts them (nstep = accepted): evaluations of (M, G, gI), and
     * linear solves of steps and projections. */
    long nfcn, nsol;
    long switches; /* sides that were changed (dae_switches) */
    long charts;   /* changes of the variables between steps: other coordinates of a mechanism */
    long krylov;   /* iterations of GMRES (linear_algebra = krylov), each a product with the Jacobian */
    long f_dense;  /* right-hand sides for refined dense output; not in f, which belongs to the steps */
} dae_stats;

/* ---- Life ------------------------------------------------------------------------------------ */

/* Copies what it keeps of sys and opt (only the user pointers are borrowed). NULL: see *err. */
DAE_API dae_integrator *dae_integrator_create(const dae_system *sys, const dae_options *opt, dae_error *err);
DAE_API void dae_integrator_destroy(dae_integrator *it); /* NULL allowed */

/* Initial values. yp may be NULL: it is computed where a method needs it. t_end gives the direction
 * and the scale, and for "auto" the interval that the choice is made for. */
DAE_API dae_status dae_integrator_start(dae_integrator *it, double t0, double t_end, const double *y0,
                                        const double *yp0, dae_error *err);

/* ---- Going on -------------------------------------------------------------------------------- */

/* Integrates to t (not beyond t_end of start), calling output and events on the way. DAE_OK: there;
 * DAE_EVENT: stopped by a terminal event before it; DAE_CANCELLED; or an error. */
DAE_API dae_status dae_integrator_advance(dae_integrator *it, double t, dae_error *err);
/* One accepted step towards t_end. */
DAE_API dae_status dae_integrator_step(dae_integrator *it, dae_error *err);
/* The solution at any t inside the last step; yp may be NULL. */
DAE_API dae_status dae_integrator_interpolate(dae_integrator *it, double t, double *y, double *yp);

/* Mechanical systems: consistent accelerations (nv) and multipliers (nlambda) at t inside the last step;
 * either may be NULL. DAE_ERR_UNSUPPORTED: the method has none (a formulation can tell them). */
DAE_API dae_status dae_integrator_multipliers(dae_integrator *it, double t, double *a, double *lambda);

DAE_API double dae_integrator_time(const dae_integrator *it);
DAE_API double dae_integrator_previous_time(const dae_integrator *it); /* where the last step began */
DAE_API const double *dae_integrator_state(const dae_integrator *it);  /* lives until the next call */
DAE_API const dae_stats *dae_integrator_stats(const dae_integrator *it);
DAE_API const dae_method_info *dae_integrator_method(const dae_integrator *it);
DAE_API const char *dae_integrator_reason(const dae_integrator *it); /* why "auto" took it, or "" */
/* What the method solves its linear systems with, in words; "" where it solves none. Known after start. */
DAE_API const char *dae_integrator_linear_algebra(const dae_integrator *it);

/* Asks a running integrator to stop after the present step; safe in signal handlers and from threads. */
DAE_API void dae_integrator_cancel(dae_integrator *it);

/* ---- Output ---------------------------------------------------------------------------------- */

typedef enum dae_output_mode { /* [MEXX] table 4.2 */
                               DAE_OUTPUT_NONE = 0,
                               DAE_OUTPUT_EQUIDISTANT, /* count points from t0 to t_end, both included */
                               DAE_OUTPUT_STEPS, /* every step end and count - 1 points inside each step */
                               DAE_OUTPUT_MAX_INTERVAL, /* every step end, and points between so that no gap is above interval */
                               DAE_OUTPUT_TIMES /* the given times */
} dae_output_mode;

/* y holds the selected components only. Returns 0 to go on, < 0 to stop (DAE_ERR_CALLBACK). */
typedef int dae_output_fn(double t, const double *y, int n, void *user);

typedef struct dae_output {
    dae_output_mode mode;
    int count;
    double interval;
    const double *times; /* sorted in the direction of integration; ntimes of them */
    int ntimes;
    const int *component; /* indices, ncomponent of them; NULL: all */
    int ncomponent;
    dae_output_fn *write;
    void *user;
} dae_output;

/* Receives every piece [from, to] of the solution while dae_integrator_interpolate is valid on it, before the method
 * goes on or restarts. The dense output there is a polynomial of this degree at most. Returns 0, or < 0 to stop. */
typedef int dae_piece_fn(dae_integrator *it, double from, double to, int degree, void *user);
DAE_API void dae_integrator_set_pieces(dae_integrator *it, dae_piece_fn *piece, void *user);

/* Call before start. */
DAE_API dae_status dae_integrator_set_output(dae_integrator *it, const dae_output *output, dae_error *err);

/* ---- Events ---------------------------------------------------------------------------------- */

typedef enum dae_direction { DAE_BOTH = 0, DAE_RISING = 1, DAE_FALLING = -1 } dae_direction;
enum { DAE_EVENT_GO_ON = 0, DAE_EVENT_STOP = 1, DAE_EVENT_RESTART = 2 };

typedef struct dae_event {
    const char *name;
    dae_direction direction;
    int terminal;    /* stop at it (before any action: DAE_EVENT is returned) */
    double residual; /* phi_res: |values| at most this count as zero, default 0 */
} dae_event;

/* All switching functions at once: phi[i] of event i. yp is given as dense output has it. */
typedef int dae_switching_fn(double t, const double *y, const double *yp, double *phi, void *user);
/* At event i, located at t. y (and yp) may be changed: then return DAE_EVENT_RESTART.
 * rising: the function goes from minus to plus. Return DAE_EVENT_GO_ON, _STOP or _RESTART, or < 0, which ends the run: DAE_ERR_MEMORY, DAE_ERR_SINGULAR
 * (what would be changed cannot move), or another number. */
typedef int dae_event_fn(int i, double t, int rising, double *y, double *yp, void *user);

/* All events of one instant at once, in their order: index[0 .. *count-1], rising likewise. Events that follow from what was changed there
 * and then are appended for the record (room: places of both lists). Returns as the function above. */
typedef int dae_instant_fn(int *count, int room, int *index, int *rising, double t, double *y, double *yp,
                           void *user, dae_error *err);

typedef struct dae_events {
    int count;
    const dae_event *event;
    dae_switching_fn *phi;
    dae_event_fn *action; /* NULL: record only */
    int check_points;     /* extra points inside each step, default 0 */
    double tolerance;     /* of an event time, 0: rounding level */
    void *user;
    int plain; /* 1: where a DAE is integrated as the mechanism behind it, phi needs no accelerations and multipliers in y */
    dae_instant_fn *instant; /* instead of action, where it is not NULL */
    int no_slope;            /* 1: phi does not read y', and gets NULL for it */
    int no_state;            /* 1: phi reads t only, and gets the y of another time: no dense output for it */
} dae_events;

typedef struct dae_event_record {
    double t;
    int index;
    int rising;
} dae_event_record;

/* Call before start. */
DAE_API dae_status dae_integrator_set_events(dae_integrator *it, const dae_events *events, dae_error *err);
/* The events found so far, in order of time. */
DAE_API const dae_event_record *dae_integrator_events(const dae_integrator *it, int *count);

/* ---- Projection ------------------------------------------------------------------------------ */

/* Moves y at time t onto what it has to satisfy (constraints, invariants), in place. Returns 0, > 0 if it
 * did not succeed (a smaller step is tried), < 0 to stop. */
typedef int dae_project_fn(double t, double *y, void *user);
/* Every accepted step ends at the projected point. For one-step methods that say they can
 * (dae_method_info.projects); NULL: no projection. Call before start. */
DAE_API dae_status dae_integrator_set_projection(dae_integrator *it, dae_project_fn *project, void *user,
                                                 dae_error *err);

/* Called between two steps, when all of the last one has been processed. Where the variables should be others
 * (another chart of the manifold on which the solution lies) it rewrites y and returns 1: the method starts
 * afresh there. Returns 0 where nothing changes, < 0 to stop (DAE_ERR_MEMORY: for want of memory). Dense output, events
 * and output of a step always see the variables with which it was made. Such runs can be saved if their memory is
 * known (dae_integrator_set_memory). */
typedef int dae_chart_fn(double t, double *y, void *user);
DAE_API void dae_integrator_set_chart(dae_integrator *it, dae_chart_fn *chart, void *user);

/* ---- Progress -------------------------------------------------------------------------------- */

/* Called after accepted steps. Returns 0 to go on, other values to cancel. */
typedef int dae_progress_fn(const dae_integrator *it, double t, double t_end, void *user);
DAE_API void dae_integrator_set_progress(dae_integrator *it, dae_progress_fn *progress, void *user);

/* ---- Checkpoint ------------------------------------------------------------------------------ */

/* The whole state of the run: write it, create an equal integrator later (same system, options, events and output), start it
 * with the same initial values, load it, and go on: every further number is the same, bit for bit.
 *
 * A checkpoint carries a fingerprint: kind and size of the system, mass matrix, interval, initial values, the derivatives there,
 * method with its options, tolerances, step limits, linear algebra, discontinuities, events, and what
 * dae_integrator_set_fingerprint adds. Where something differs load fails with a text that says what (DAE_ERR_INPUT), and
 * nothing is changed. Free are h0, max_steps, max_seconds, threads, profile and logging. */
DAE_API size_t dae_integrator_save(const dae_integrator *it, void *buffer,
                                   size_t size); /* bytes needed; 0: cannot */
/* Why dae_integrator_save gives 0, in words; "" where the run can be saved. */
DAE_API const char *dae_integrator_why_not_saved(const dae_integrator *it);
DAE_API dae_status dae_integrator_load(dae_integrator *it, const void *buffer, size_t size, dae_error *err);
/* The same, but what `changes` names ("rtol,atol", also h_max, h_min, discontinuities) may be other than in the checkpoint: the
 * values of this integrator hold then, and the method starts afresh at the time of the checkpoint. */
DAE_API dae_status dae_integrator_load_changed(dae_integrator *it, const void *buffer, size_t size,
                                               const char *changes, dae_error *err);
/* Lines "name value" for the fingerprint: what the equations are made of and the library cannot see, as the name of a problem, its
 * parameters, the hash of a model file. Copied; NULL: nothing. Call before start. */
DAE_API dae_status dae_integrator_set_fingerprint(dae_integrator *it, const char *text, dae_error *err);

/* What the system keeps between evaluations besides its state (coordinates that change, kept factors), so that
 * checkpoints hold it too. save: bytes needed, written where buffer is not NULL; load: 0 fine, other values:
 * these bytes are of another system. */
typedef struct dae_memory {
    size_t (*save)(const void *user, void *buffer);
    int (*load)(void *user, const void *buffer, size_t size);
    void *user;
} dae_memory;
DAE_API void dae_integrator_set_memory(dae_integrator *it, const dae_memory *memory); /* copied; NULL: none */

/* ---- All in one ------------------------------------------------------------------------------ */

/* Create, start, advance to t1, destroy. y: in the initial, out the final values. stats may be NULL. */
DAE_API dae_status dae_solve(const dae_system *sys, const dae_options *opt, double t0, double t1, double *y,
                             dae_stats *stats, dae_error *err);
/* The same with events, which see mechanical systems as y = (p, v, u) in whatever form they are integrated. */
DAE_API dae_status dae_solve_events(const dae_system *sys, const dae_options *opt, const dae_events *events,
                                    double t0, double t1, double *y, dae_stats *stats, dae_error *err);

DAE_END_DECLS

#endif
