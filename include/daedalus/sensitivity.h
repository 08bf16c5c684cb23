/* Derivatives of solutions: how the solution of a problem changes with its parameters and initial values.
 *
 *     const char *name[] = {"k1", "y1(0)"};                         parameters, or components at the start
 *     dae_sensitivity *s = dae_sensitivity_open(p, NULL, name, 2, &err);
 *     dae_sensitivity_start(s, &err);
 *     dae_sensitivity_advance(s, 40, &err);
 *     const double *y = dae_sensitivity_state(s);                   n values
 *     const double *d = dae_sensitivity_values(s);                  d[i + n*j] = d y_i / d p_j
 *     dae_sensitivity_close(s);
 *
 * Events with their jumps, switches and discontinuities are differentiated too. */
#ifndef DAEDALUS_SENSITIVITY_H
#define DAEDALUS_SENSITIVITY_H

#include <daedalus/simulation.h>

DAE_BEGIN_DECLS

typedef struct dae_sensitivity dae_sensitivity; /* opaque; one per thread */

/* Functions for systems that are given by functions: p_j is the j-th name. */
typedef struct dae_parameter_products {
    /* df/dp_j (IDE: dF/dp_j) at fixed y: n values. yp NULL but for IDEs. */
    int (*dfdp)(double t, const double *y, const double *yp, int j, double *out, void *user);
    /* dy0/dp_j: n values; NULL: 0. */
    int (*dy0dp)(int j, double *out, void *user);
    /* d(df/dp_j)/dy in the layout of the Jacobian, zero on entry; NULL: differences of dfdp. */
    int (*djdp)(double t, const double *y, const double *yp, int j, double *out, void *user);
    const double *value; /* of the parameters: what atol is scaled by; NULL: 1 */
    void *user;
} dae_parameter_products;

typedef struct dae_sensitivity_options {
    dae_simulation_options simulation; /* method, tolerances, end, events */
    /* "auto"; "columns": M s' = (df/dy) s + df/dp beside the system, with the same steps and the same factors; "abreast": runs with
     * p + d and p - d that take every step, order and iteration of the run with p, and their difference (internal numerical
     * differentiation): for every method and every system. */
    const char *mode;
    double step;      /* relative increment of differences by a parameter, 0: chosen */
    int uncontrolled; /* 1: the steps follow y alone; 0: "columns" controls the errors of s too */
    const dae_parameter_products *products; /* NULL: the names are those of the problem */
} dae_sensitivity_options;
DAE_API dae_sensitivity_options dae_sensitivity_options_default(const dae_problem *p);

/* ---- Life -------------------------------------------------------------------------------------- */

/* name: parameters of the problem ("k1"), or components whose initial value is meant ("x(0)"; "x" where no parameter has that
 * name). opt NULL: the default. The problem and what the options point to must live as long. NULL: see *err. */
DAE_API dae_sensitivity *dae_sensitivity_open(const dae_problem *p, const dae_sensitivity_options *opt,
                                              const char *const *name, int count, dae_error *err);
DAE_API void dae_sensitivity_close(dae_sensitivity *s); /* NULL allowed */
DAE_API dae_status dae_sensitivity_start(dae_sensitivity *s, dae_error *err);

/* ---- Going on ------------------------------------------------------------------------------------ */

/* To t, or one accepted step: as dae_simulation_advance and _step. */
DAE_API dae_status dae_sensitivity_advance(dae_sensitivity *s, double t, dae_error *err);
DAE_API dae_status dae_sensitivity_step(dae_sensitivity *s, dae_error *err);

/* ---- Where it is --------------------------------------------------------------------------------- */

DAE_API double dae_sensitivity_time(const dae_sensitivity *s);
DAE_API const double *dae_sensitivity_state(dae_sensitivity *s); /* n; lives until the next call */
DAE_API const double *dae_sensitivity_values(
    dae_sensitivity *s); /* n*count, one column per name; NAN: not known */
/* At t inside the last step; either may be NULL. */
DAE_API dae_status dae_sensitivity_interpolate(dae_sensitivity *s, double t, double *y, double *values,
                                               dae_error *err);
/* Mechanisms: d a / d p (nv*count) and d lambda / d p (nlambda*count) at the present point; either may be NULL. */
DAE_API dae_status dae_sensitivity_multipliers(dae_sensitivity *s, double *a, double *lambda, dae_error *err);
/* The derived columns of the problem (sensors, reactions) at the present point: their values (ncolumn; NULL: not wanted) and
 * derivatives (ncolumn*count). */
DAE_API dae_status dae_sensitivity_columns(dae_sensitivity *s, double *value, double *derivative,
                                           dae_error *err);
/* The events found so far, and d t / d p of each (count values per event). */
DAE_API const dae_event_record *dae_sensitivity_events(const dae_sensitivity *s, const double **derivative,
                                                       int *count);
DAE_API dae_stats dae_sensitivity_stats(const dae_sensitivity *s);
/* Method and form as chosen; mode in *mode (NULL: not wanted). */
DAE_API dae_choice dae_sensitivity_choice(const dae_sensitivity *s, const char **mode);
/* How derivatives by name j are made: "exact" (expressions that are differentiated, or functions of the caller), or "differences". */
DAE_API const char *dae_sensitivity_kind(const dae_sensitivity *s, int j);
/* The value that parameter or initial value j has. */
DAE_API double dae_sensitivity_parameter(const dae_sensitivity *s, int j);

/* ---- All in one ---------------------------------------------------------------------------------- */

/* y (n*ntimes) and its derivatives (n*count*ntimes) at the given times, in the direction of the run; stats may be NULL. */
DAE_API dae_status dae_sensitivity_run(const dae_problem *p, const dae_sensitivity_options *opt,
                                       const char *const *name, int count, const double *times, int ntimes,
                                       double *y, double *values, dae_stats *stats, dae_error *err);

/* ---- Gradients ----------------------------------------------------------------------------------- */

/* What is differentiated: G = end(T, y(T)) + sum over k of at(k, t_k, y(t_k)) + integral of running(t, y) dt. Each gives its value and
 * adds nothing to dy: it fills the n values of its derivative by y. NULL: there is none. They return 0, or else the gradient fails. */
typedef struct dae_functional {
    int (*end)(double t, const double *y, double *value, double *dy, void *user);
    int (*at)(int k, double t, const double *y, double *value, double *dy, void *user);
    const double *times; /* t_k, ascending in the direction of the run, inside the interval; ntimes of them */
    int ntimes;
    int (*running)(double t, const double *y, double *value, double *dy, void *user);
    void *user;
} dae_functional;

typedef struct dae_gradient_options {
    dae_simulation_options simulation; /* method, tolerances, end, events */
    /* "adjoint": one run backwards, whatever the number of names: dopri5, dop853, bs23, vern8, vern9, rodas4p2, rodas5, rodas5p, radau5, radau.
     * "forward": dae_sensitivity. "auto": what costs less. */
    const char *mode;
    size_t memory; /* bytes for the states of the run; above it parts of the run are repeated. 0: 1 GB */
} dae_gradient_options;
DAE_API dae_gradient_options dae_gradient_options_default(const dae_problem *p);

typedef struct dae_gradient_stats {
    const char *mode;                     /* that was taken */
    long steps, back;                     /* steps of the run, and backwards */
    int repeated;                         /* 1: parts of the run were repeated to save memory */
    size_t memory;                        /* bytes that states took at most */
    double forward_seconds, back_seconds; /* CPU time */
} dae_gradient_stats;

/* G and its derivatives by the parameters and initial values (count values). stats may be NULL. DAE_CANCELLED: simulation.options.stop
 * ended a run; neither is known then. */
DAE_API dae_status dae_gradient(const dae_problem *p, const dae_gradient_options *opt,
                                const dae_functional *G, const char *const *name, int count, double *value,
                                double *gradient, dae_gradient_stats *stats, dae_error *err);

DAE_END_DECLS

#endif
