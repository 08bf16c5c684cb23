/* Experiments: one run of a problem with everything that is reported about it, and the forms in which it is
 * reported: JSON, the report for people, CSV, a gnuplot script. Nothing here prints or opens files: text goes
 * to a callback. */
#ifndef DAEDALUS_EXPERIMENT_H
#define DAEDALUS_EXPERIMENT_H

#include <daedalus/formulation.h>
#include <daedalus/problem.h>
#include <daedalus/simulation.h>

DAE_BEGIN_DECLS

/* Receives text in pieces (not ended by 0). Returns 0, or < 0 to stop (then DAE_ERR_FILE). */
typedef int dae_write_fn(const char *text, size_t length, void *user);

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

    dae_write_fn
        *solution; /* receives the continuous solution as it is computed (see below); NULL: not wanted */
    void *solution_user;

    const void *resume; /* a checkpoint to go on from, or NULL */
    size_t resume_size;
    const char
        *resume_changes; /* "rtol,atol": these may be other than in the checkpoint, NULL: nothing may */
    const char *
        fingerprint; /* lines "name value" that a checkpoint keeps and compares besides the problem and its parameters */
    int checkpoint; /* 1: keep a checkpoint of the last state in the result */
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
    const char *formulation;    /* mechanical systems, else NULL */
    const char *reason;         /* why "auto" took the method, or "" */
    const char *warnings;       /* what speaks against this method here, or "" */
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

    int worst_component; /* where a run failed: the component that moved most against its tolerance, -1: none
                          */
    int undefined;       /* 1: the system could not be evaluated at the last point */

    const void *checkpoint;
    size_t checkpoint_size;
    const dae_balance *energy; /* along the trajectory; NULL: there is none, or the problem knows no energy */
} dae_run_result;

DAE_API dae_run_options dae_run_options_default(const dae_problem *p);
/* Runs; a failed run is a result too (its status and error say so). NULL: out of memory, see *err. A plain
 * system is run as a problem {.system, .t0, .t_end, .y0, .rtol, .atol} without info. */
DAE_API dae_run_result *dae_run(const dae_problem *p, const dae_run_options *opt, dae_error *err);
DAE_API void dae_run_destroy(dae_run_result *r);

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
/* The trajectory with what the problem derives of it (sensors, reactions): names, a line "# " with units, values that read
 * back exactly. */
DAE_API dae_status dae_run_csv(const dae_run_result *r, dae_write_fn *write, void *user);
/* A gnuplot script with its data that draws the trajectory on standard output; terminal: "svg", "png", "pdf".
 */
DAE_API dae_status dae_run_plot(const dae_run_result *r, const char *terminal, dae_write_fn *write,
                                void *user);

/* ---- The continuous solution ----------------------------------------------------------------- */

/* What a run wrote through options.solution: a line "daedalus solution 1", a line with a JSON object (problem with its
 * parameters, solver, tolerances, components), and then for every piece of the solution the numbers
 * (little-endian doubles) from, to, degree, and the states at the points from + (to - from) (1 - cos(k pi/degree))/2,
 * k = 0 .. degree. The polynomial through them is the dense output of the method. A file that ends early (a run
 * that was interrupted) holds the pieces that are complete. */
typedef struct dae_solution dae_solution; /* opaque: such a file, read */

typedef struct dae_solution_info {
    const char *problem, *solver, *formulation; /* formulation: or NULL */
    double rtol, atol, t0, t_end;               /* from where to where it goes */
    int n;
    long pieces;
} dae_solution_info;

/* Copies what it keeps. NULL: see *err. */
DAE_API dae_solution *dae_solution_read(const void *data, size_t size, dae_error *err);
DAE_API void dae_solution_destroy(dae_solution *s);                         /* NULL allowed */
DAE_API const dae_solution_info *dae_solution_about(const dae_solution *s); /* lives as long as s */
/* y (n) at t, and its derivative (NULL: not wanted). At a jump: the value before it. */
DAE_API dae_status dae_solution_at(const dae_solution *s, double t, double *y, double *yp, dae_error *err);
/* The solution at these times: one JSON object (mechanical problems of the test set with a and lambda, which are
 * solved for there), or comma-separated values as of dae_run_csv. */
DAE_API dae_status dae_solution_json(const dae_solution *s, const double *t, int count, dae_write_fn *write,
                                     void *user, dae_error *err);
DAE_API dae_status dae_solution_csv(const dae_solution *s, const double *t, int count, dae_write_fn *write,
                                    void *user, dae_error *err);

/* ---- A look without a run --------------------------------------------------------------------- */

/* What is in a problem and what a run of it would do, as one JSON object: kind, name, solver, formulation, reason, warnings
 * [{text, where}], errors []; mechanisms also their topology. opt NULL: as the problem says. The problem is started but
 * not integrated. */
DAE_API dae_status dae_check_json(const dae_problem *p, const dae_simulation_options *opt,
                                  dae_write_fn *write, void *user, dae_error *err);

/* ---- Evaluation at a point ------------------------------------------------------------------- */

/* Reads {"t":..,"y":[..],"yprime":[..]} (mechanical: t, p, v, u, lambda) and writes one JSON object with f,
 * and with mass, G, g where there are such; with_jacobian: with jac too, by rows. The status word in it is
 * "ok" or "undefined" (DAE_ERR_UNDEFINED is not returned for that). DAE_ERR_INPUT names the line or key that
 * is wrong. */
DAE_API dae_status dae_eval_json(const dae_problem *p, const char *state, size_t length, int with_jacobian,
                                 dae_write_fn *write, void *user, dae_error *err);

/* ---- The test set's own figures -------------------------------------------------------------- */

/* A row of the run characteristics printed in the test set report. NAN, -1, NULL: not printed. */
typedef struct dae_published_row {
    const char *problem, *solver; /* solver as the report calls it, in lower case */
    const char *variant;          /* "structured": linear algebra for y'' = f(t, y) */
    double rtol, atol, h0, mescd, scd;
    long steps, accepted, f, jac, lu;
    double cpu_seconds; /* of a 667 MHz Alpha */
    int example;        /* 1: from the description of the solver, not from the problem's table */
} dae_published_row;
DAE_API int dae_published_count(void);
DAE_API const dae_published_row *dae_published_get(int i); /* NULL outside 0 .. count-1 */
/* 1: the report lists the run of this solver at tolerance number m of the range as failed (for ida and cvode: that
 * of DASSL and VODE). */
DAE_API int dae_published_failed(const char *problem, const char *solver, int m);

/* The tolerances of a problem's work-precision diagram: rtol = 10^-(a + m b), m = 0 .. last. */
typedef struct dae_tolerance_range {
    const char *problem;
    double a, b;
    int last;
    double atol, h0; /* multiples of rtol, or numbers where fixed is set */
    int atol_fixed, h0_fixed;
} dae_tolerance_range;
DAE_API const dae_tolerance_range *dae_tolerance_range_find(const char *problem); /* NULL: none */

/* NULL: the matrix of all solvers and problems has runs of this method on this problem; else why not, in words. */
DAE_API const char *dae_matrix_exclusion(const dae_problem_info *problem, const dae_method_info *method);
/* The matrix has no runs of this method on this problem at relative tolerances below this one, for their cost; 0: it has all.
 * Only wnys2 on ringmod has a limit, 1e-9: order 2 takes 1.5e8 steps there, 4.7e9 at 1e-12 (more than an hour of CPU time). */
DAE_API double dae_matrix_least_rtol(const dae_problem_info *problem, const dae_method_info *method);

/* ---- Tables of run characteristics ----------------------------------------------------------- */

/* What of a row is worse than the report's figure by more than the allowance. */
enum { DAE_MARK_FAILED = 1, DAE_MARK_MESCD = 2, DAE_MARK_SCD = 4, DAE_MARK_STEPS = 8, DAE_MARK_F = 16 };

/* One run, and the published row it stands beside. Fill problem to h0, then dae_table_run. */
typedef struct dae_table_row {
    const char *problem, *solver;       /* registry names */
    const dae_published_row *published; /* NULL: none */
    int m;                              /* number of the tolerance in the problem's range, -1: none */
    double rtol, atol, h0;              /* h0 0: the method chooses */
    dae_status status;
    char message[512]; /* of a failed run */
    double mescd, scd;
    long steps, accepted, f, jac, lu;
    double cpu_seconds;
} dae_table_row;

typedef enum dae_table_rows {
    DAE_TABLE_PUBLISHED = 0, /* the rows of the report, each with its counterparts here */
    DAE_TABLE_RANGE          /* the tolerances of the work-precision diagram */
} dae_table_rows;

/* The rows of one problem, for the named solvers (solver NULL: all that have counterparts, or for a range all
 * that take the problem). *row is allocated: free it. Their number, or < 0: out of memory. */
DAE_API int dae_table_plan(const char *problem, dae_table_rows what, const char *const *solver, int nsolver,
                           dae_table_row **row);
/* Runs a row. max_seconds 0: no limit; repeat as in dae_run_options. A failed run is a result too. */
DAE_API void dae_table_run(dae_table_row *row, double max_seconds, int repeat);
/* Marks: 0.7 digits below for radau5, radau, ida and cvode, 0.5 for others; 1.6 and 1.3 times the steps or f. */
DAE_API int dae_table_marks(const dae_table_row *row);
/* format: "md", "csv", "json", "latex", "html" (a table without a page around it). Rows of one problem stand together. */
DAE_API dae_status dae_table_write(const dae_table_row *row, int count, const char *format,
                                   dae_write_fn *write, void *user);
/* One row as one JSON object, without an end of line; version tells with what it was computed. */
DAE_API dae_status dae_table_row_json(const dae_table_row *row, dae_write_fn *write, void *user);
/* Takes the results over from such an object if it is of this row, which is planned; 1: it is. */
DAE_API int dae_table_row_take(dae_table_row *row, const char *line, size_t length);

/* ---- Reference solutions --------------------------------------------------------------------- */

/* The solution at the problem's end by two methods that have nothing in common, at tolerances tightened until they
 * agree. How far they agree, and how far each moved with its last tightening, says which digits can be trusted. */
typedef struct dae_reference {
    int n;
    double t;
    const double *y;      /* n, of the method that moved less */
    const double *digits; /* n: significant digits that can be trusted, 0 .. 16 */
    double least;         /* the fewest of them over the components that count for scd */
    int worst;            /* the component that has so few */
    char method[2][24];   /* that of y first */
    double rtol;          /* at which they agreed best */
    int levels;           /* tolerances that were tried */
    char stopped[256];    /* why not more of them, in words */
} dae_reference;

typedef struct dae_reference_options {
    double digits;                                   /* enough: stop when all have as many, default 11 */
    double max_seconds;                              /* CPU time of one run, default 60; 0: no limit */
    const char *method[2];                           /* NULL: chosen by the kind of the system */
    void (*running)(dae_integrator *it, void *user); /* as in dae_run_options, with user; NULL: nothing */
    /* Called after each tolerance with the fewest digits so far; 0 to go on. NULL: nothing. */
    int (*level)(double rtol, double least, void *user);
    void *user;
} dae_reference_options;
DAE_API dae_reference_options dae_reference_options_default(void);
/* NULL: fewer than two methods take the problem, or a method failed at the first tolerance; see *err. */
DAE_API dae_reference *dae_reference_compute(const dae_problem *p, const dae_reference_options *opt,
                                             dae_error *err);
DAE_API void dae_reference_destroy(dae_reference *r);

/* What a reference solution depends on, in words: problem, parameters, interval, version. */
DAE_API void dae_reference_key(const dae_problem *p, char *key, size_t size);
/* As one JSON object with the key; reading checks the key. NULL: it is another problem's, or damaged; see *err. */
DAE_API dae_status dae_reference_write(const dae_reference *r, const dae_problem *p, dae_write_fn *write,
                                       void *user);
DAE_API dae_reference *dae_reference_read(const dae_problem *p, const char *text, size_t length,
                                          dae_error *err);
/* Runs of the problem are scored against r, which must live as long. */
DAE_API void dae_reference_use(const dae_reference *r, dae_problem *p);

/* ---- Pages ----------------------------------------------------------------------------------- */

/* The documentation page (Markdown) of a method or formulation, or NULL. */
DAE_API const char *dae_method_doc(const char *name);
DAE_API const char *dae_formulation_doc(const char *name);

DAE_END_DECLS

#endif
