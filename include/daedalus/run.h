/* One run of a problem with everything that is reported about it, and the forms in which it is reported: JSON, the
 * report for people, CSV, a gnuplot script. Nothing here prints or opens files: text goes to a callback. */
#ifndef DAEDALUS_RUN_H
#define DAEDALUS_RUN_H

#include <daedalus/problem.h>
#include <daedalus/simulation.h>
#include <daedalus/table.h>

DAE_BEGIN_DECLS

/* ---- One run --------------------------------------------------------------------------------- */

typedef enum dae_trajectory {
    DAE_TRAJECTORY_NONE = 0,
    DAE_TRAJECTORY_STEPS,       /* every step end and points - 1 points inside each step */
    DAE_TRAJECTORY_EQUIDISTANT, /* points times from t0 to t_end, both included */
    DAE_TRAJECTORY_MAX_INTERVAL /* every step end, and points between so that no gap is above interval */
} dae_trajectory;

/* Start from dae_run_options_default(problem). */
typedef struct dae_run_options {
    dae_options options; /* method, tolerances, limits; vectors are made from the problem's factors if NULL */
    double t_end;        /* another end than the problem's means: no score */
    const double *at;    /* times at which the solution is wanted, any order; nat of them */
    int nat;
    dae_trajectory trajectory;
    int points;
    double interval;
    size_t max_values; /* trajectories above this many numbers are thinned to every 2nd, 4th, ... point */
    int repeat; /* > 1: CPU time is measured this often without output: extremes dropped, median of the rest */
    double repeat_seconds; /* no further measurement after this much CPU time; 0: no limit */

    const dae_events *events;  /* NULL: none; default: those of the problem */
    dae_progress_fn *progress; /* NULL: none */
    void *progress_user;
    /* Called with the integrator when it is ready and with NULL before it is destroyed; for
     * dae_integrator_cancel. */
    void (*running)(dae_integrator *it, void *user);
    void *running_user;

    /* receives the continuous solution as it is computed (see below); NULL: not wanted */
    dae_write_fn *solution;
    void *solution_user;

    const void *resume; /* a checkpoint to go on from, or NULL */
    size_t resume_size;
    /* "rtol,atol": these may be other than in the checkpoint, NULL: nothing may */
    const char *resume_changes;
    /* lines "name value" that a checkpoint keeps and compares besides the problem and its parameters */
    const char *fingerprint;
    int checkpoint; /* 1: keep a checkpoint of the last state in the result */

    /* Parameters and initial values by whose names the solution is differentiated (daedalus/sensitivity.h). */
    const char *const *sensitivity;
    int nsensitivity;
    /* Expressions that are integrated along the run (daedalus/quadrature.h). */
    const char *const *integral;
    int nintegral;
} dae_run_options;

/* y and, for mechanical systems, its parts; a and lambda are NULL where they are not known. */
typedef struct dae_sample {
    double t;
    const double *y; /* of the system as the problem states it */
    const double *p, *v, *a, *lambda;
} dae_sample;

/* What came out. Lives until dae_run_destroy; borrows the problem, which must live as long. */
typedef struct dae_run_result {
    const dae_problem *problem;
    const char *name;           /* of the problem, or "system" */
    const char *solver;         /* the method that ran, or the one that was asked for if it did not start */
    const char *solver_title;   /* what it is in words; NULL: it did not start */
    const char *formulation;    /* mechanical systems, else NULL */
    const char *reason;         /* why "auto" took the method, or "" */
    const char *evidence;       /* what that was made of, in lines (dae_simulation_explain), or "" */
    const char *warnings;       /* what speaks against this method or these tolerances here, or "" */
    const char *form_text;      /* what the formulation decided (coordinates, alpha and beta), or "" */
    const char *linear_algebra; /* what the method solves its linear systems with, or "" */
    double rtol, atol;          /* as given */
    double h0;                  /* as given, 0: the method chose */
    double t0, t_end;

    dae_status status;
    dae_error error; /* text "" if status is DAE_OK */
    int started;     /* 1: last holds a state of the run; 0: it failed before its first point */
    int n;
    dae_sample last;
    dae_stats stats;
    double cpu_seconds;                /* of the run, or the median of the measurements */
    int repeat;                        /* how many there were */
    double scd, mescd;                 /* NAN: no reference, another end or no end reached */
    const double *atol_vec, *rtol_vec; /* n each */

    const dae_event_record *event;
    int nevent;
    const char *const *event_name; /* by dae_event_record.index */
    const dae_sample *at;          /* those of the wanted times that the run reached, in the order of time */
    int nat;
    int npoint; /* trajectory */
    const double *point_t;
    const double *point_y; /* n per point */
    long thinned;          /* every thinned-th point was kept, 1: all */

    /* where a run failed: the component that moved most against its tolerance, -1: none */
    int worst_component;
    int undefined; /* 1: the system could not be evaluated at the last point */

    const void *checkpoint;
    size_t checkpoint_size;
    /* Where derivatives were asked for: their names, n*nsensitivity values at the last point and per point of the trajectory
     * (column j: dy/dp_j); NULL: none. */
    const char *const *sensitivity;
    int nsensitivity;
    const double *sensitivity_end, *point_s;
    /* The same of the derived columns (sensors, reactions), ncolumn*nsensitivity values; NAN: not known there; NULL: none. */
    const double *derived_s_end, *point_derived_s;
    const char *const *sensitivity_kind; /* of each name: "exact" or "differences" (dae_sensitivity_kind) */
    /* dt/dp of each event (nsensitivity values per event; NAN: not known). All derivatives above hold t: where an event ended the run,
     * sensitivity_total has those of the state at it, dy/dp + y' dt/dp, which the event takes along (NULL: none did). */
    const double *event_s, *sensitivity_total;
    /* Where integrals were asked for: their texts, nintegral values at the last point and per point of the trajectory, estimates of
     * their errors, and nintegral*nsensitivity derivatives at the last point (NULL: none were asked for); NULL: none. */
    const char *const *integral;
    int nintegral;
    const double *integral_end, *integral_error, *integral_s, *point_q;
    const dae_balance *energy; /* along the trajectory; NULL: there is none, or the problem knows no energy */
} dae_run_result;

DAE_API dae_run_options dae_run_options_default(const dae_problem *p);
/* Runs; a failed run is a result too (its status and error say so). NULL: out of memory, or no problem, see *err. opt NULL: the default. A plain
 * system is run as a problem {.system, .t0, .t_end, .y0, .rtol, .atol} without info. */
DAE_API dae_run_result *dae_run(const dae_problem *p, const dae_run_options *opt, dae_error *err);
DAE_API void dae_run_destroy(dae_run_result *r);

/* "dy1/dk1": the name of the derivative of component i (n + i: of derived column i) by parameter j, in the buffer. */
DAE_API const char *dae_run_sensitivity_name(const dae_run_result *r, int j, int i, char *buffer,
                                             size_t size);

/* ---- What is said about it ------------------------------------------------------------------- */

/* "ok", "event", "cancelled", "limit", "inconsistent", "input" or "failed". */
DAE_API const char *dae_run_status_word(dae_status s);
/* One JSON object; numbers read back exactly. */
DAE_API dae_status dae_run_json(const dae_run_result *r, dae_write_fn *write, void *user);
/* The report in the layout of the test set's example runs; at most max_components lines of the solution
 * (those with the fewest digits first choice), 0: all. */
DAE_API dae_status dae_run_report(const dae_run_result *r, int max_components, dae_write_fn *write,
                                  void *user);
/* The text of a failure: what, where, why, try, and what was kept ("" if nothing). */
DAE_API dae_status dae_run_failure(const dae_run_result *r, const char *kept, dae_write_fn *write,
                                   void *user);
/* The trajectory with what the problem derives of it (sensors, reactions) and what the run says about itself as attributes.
 * NULL: see *err. */
DAE_API dae_table *dae_run_table(const dae_run_result *r, dae_error *err);
/* The same and behind it, where the problem knows them, at every point: energy.kinetic, energy.potential, energy.total, and the
 * largest residuals of the constraints drift.position, drift.velocity. */
DAE_API dae_table *dae_run_table_drift(const dae_run_result *r, dae_error *err);
/* Only the columns of a list ("A,B"; the time comes first; NULL: all), with those of dae_run_table_drift if drift is 1. What is not in it is not
 * evaluated. */
DAE_API dae_table *dae_run_table_of(const dae_run_result *r, const char *list, int drift, dae_error *err);
/* That table as comma-separated values without the attributes: names, a line "# " with units, values that read back exactly. */
DAE_API dae_status dae_run_csv(const dae_run_result *r, dae_write_fn *write, void *user);
/* A gnuplot script with its data that draws the trajectory on standard output; terminal: "svg", "png",
 * "pdf". */
DAE_API dae_status dae_run_plot(const dae_run_result *r, const char *terminal, dae_write_fn *write,
                                void *user);

DAE_END_DECLS

#endif
