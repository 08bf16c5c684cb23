/* Fitting: parameters and initial values of a problem from measured data.
 *
 *     minimize  1/2 sum rho(r_k^2),   r_k = (what the problem says - what was measured) / sd
 *
 * by Gauss-Newton steps in the trust region of Levenberg and Marquardt, within bounds, with exact derivatives of the solution
 * (daedalus/sensitivity.h). It says how certain the result is, and what the data cannot tell.
 *
 *     dae_fit_experiment *e = dae_fit_read(p, csv, length, "data.csv", NULL, 0, &err);
 *     dae_fit_free free[] = {{"k1", 0.1, 0, 5}, {"k2", NAN, 0, INFINITY}};
 *     dae_fit_options o = dae_fit_options_default(p);
 *     dae_fit_result *r = dae_fit(p, free, 2, &e, 1, &o, &err); */
#ifndef DAEDALUS_FIT_H
#define DAEDALUS_FIT_H

#include <daedalus/sensitivity.h>
#include <daedalus/table.h>

DAE_BEGIN_DECLS

/* What may vary: a parameter ("k1") or an initial value ("x(0)"). */
typedef struct dae_fit_free {
    const char *name;
    double start;    /* NAN: the value of the problem */
    double min, max; /* -INFINITY, INFINITY: no bound */
} dae_fit_free;

/* One experiment: measured columns over time; NAN where nothing was measured. Read by dae_fit_read, or filled by hand. */
typedef struct dae_fit_experiment {
    const char *name;           /* for messages: the file */
    const dae_setting *setting; /* parameters of the problem in this experiment */
    int nsetting;
    int ntime, ncolumn;
    const double *t;           /* ntime, not falling */
    const char *const *column; /* ncolumn: components or sensors of the problem */
    const double *value;       /* ntime * ncolumn, column after column */
    const double *sd;          /* the same: standard deviations, NAN: not known; NULL: none is known */
} dae_fit_experiment;

/* A table (CSV or HDF5) with a column t and columns named as the problem names components and sensors; "sd(x)" holds
 * standard deviations of x. Units are converted. NULL: *err names file and line. */
DAE_API dae_fit_experiment *dae_fit_read(const dae_problem *p, const char *text, size_t length,
                                         const char *file, const dae_setting *setting, int nsetting,
                                         dae_error *err);
DAE_API void dae_fit_experiment_destroy(dae_fit_experiment *e); /* of dae_fit_read; NULL allowed */

/* Where a fit is. */
typedef struct dae_fit_progress {
    int start, starts; /* which of the starting points */
    int iteration;
    double cost, gradient; /* largest component of the scaled gradient, relative to the cost */
    double damping;
    const double *value; /* of the free parameters */
    int count;
} dae_fit_progress;
typedef int dae_fit_fn(const dae_fit_progress *at,
                       void *user); /* not 0: stop; may be called from several threads */

/* A point from which a start goes on: as dae_fit_progress told it. */
typedef struct dae_fit_point {
    int start, iteration;
    double damping;
    const double *value;
} dae_fit_point;

typedef struct dae_fit_options {
    /* method, tolerances; options.stop ends a run and with it the fit, which keeps the best so far */
    dae_sensitivity_options sensitivity;
    const char *loss;   /* "square", or "huber": outliers count linearly beyond 1.345 sd */
    int starts;         /* 1: from the given values; more: also from points within the bounds */
    unsigned long seed; /* of those points */
    int threads;        /* for starts */
    int max_iterations;
    double tolerance; /* relative change of the parameters at which it ends */
    int intervals; /* 1: single shooting; more: the time of each experiment is cut, the states there are free too */
    int profile;  /* 1: intervals of confidence also from profiles of the likelihood */
    double level; /* of confidence: 0.95 */
    dae_fit_fn *progress;
    void *user;
    const dae_fit_point *resume; /* NULL, or nresume points */
    int nresume;
} dae_fit_options;
DAE_API dae_fit_options dae_fit_options_default(const dae_problem *p);

/* What is known of one free parameter. */
typedef struct dae_fit_estimate {
    double value, sd;    /* sd INFINITY: the data do not tell it; NAN: it is at a bound */
    double lower, upper; /* interval of confidence */
    double profile[2];   /* the same from the profile, NAN: not asked for, +-INFINITY: open on that side */
    int at_bound;        /* -1 lower, 1 upper, 0 inside */
} dae_fit_estimate;

typedef struct dae_fit_result {
    dae_status status; /* DAE_OK; DAE_CANCELLED; DAE_ERR_MAX_STEPS: iterations ran out */
    int count;         /* of free parameters */
    dae_fit_estimate *estimate;
    double *correlation; /* count * count */
    double *singular;    /* count: singular values of the scaled Jacobian, falling */
    /* count * count: their right vectors in relative changes of the parameters, one per column */
    double *direction;
    int rank;         /* how many of them the data determine */
    double cost, rms; /* 1/2 sum rho; sqrt of the mean of r^2 */
    double noise;     /* standard deviation of r; 1 expected where all sd are known */
    long nresidual;
    int nexperiment;
    double **model;    /* per experiment: ntime * ncolumn, what the problem says */
    double **residual; /* the same: r, NAN where nothing was measured */
    /* The curves between the data, for pictures: ncurve times of each experiment and ncurve * ncolumn values; 0: none. */
    int ncurve;
    double **curve_t, **curve;
    int iterations, start, evaluations; /* of the best start; runs of the problem in all */
    int starts_ended;
    double *start_cost; /* starts_ended of them */
    int nstart_cost;
    char *message;        /* how it ended, in words */
    char *unidentifiable; /* "" or which combinations can vary, in words */
} dae_fit_result;

/* NULL: see *err. */
DAE_API dae_fit_result *dae_fit(const dae_problem *p, const dae_fit_free *free, int count,
                                const dae_fit_experiment *const *experiment, int nexperiment,
                                const dae_fit_options *opt, dae_error *err);
DAE_API void dae_fit_destroy(dae_fit_result *r); /* NULL allowed */

/* ---- Records: a fit that was ended goes on ------------------------------------------------------ */

/* What a record belongs to: the arguments of dae_fit. */
typedef struct dae_fit_record {
    const dae_problem *p;
    const dae_fit_free *free;
    int count;
    const dae_fit_experiment *const *experiment;
    int nexperiment;
    const dae_fit_options *opt;
} dae_fit_record;
/* The first line of a record, and one for each call of progress. */
DAE_API dae_status dae_fit_record_head(const dae_fit_record *r, dae_write_fn *write, void *user);
DAE_API dae_status dae_fit_record_line(const dae_fit_progress *at, dae_write_fn *write, void *user);
/* The points of such a text, for options.resume; free() *point. DAE_ERR_INPUT: it is the record of another fit. */
DAE_API dae_status dae_fit_record_read(const dae_fit_record *r, const char *text, dae_fit_point **point,
                                       int *count, dae_error *err);

/* ---- What comes out ------------------------------------------------------------------------------ */

/* All of it as text for people, as one JSON object, and as a gnuplot script of data, curves and residuals. */
DAE_API dae_status dae_fit_text(const dae_fit_result *r, const dae_fit_free *free, const dae_problem *p,
                                dae_write_fn *write, void *user);
DAE_API char *dae_fit_json(const dae_fit_result *r, const dae_fit_free *free, const dae_problem *p,
                           const dae_fit_experiment *const *experiment); /* free() it */
/* One row per measured value: experiment, column, t, data, model, residual. NULL: out of memory. */
DAE_API dae_table *dae_fit_table(const dae_fit_result *r, const dae_problem *p,
                                 const dae_fit_experiment *const *experiment);
DAE_API dae_status dae_fit_plot(const dae_fit_result *r, const dae_problem *p,
                                const dae_fit_experiment *const *experiment, const char *terminal,
                                dae_write_fn *write, void *user);

DAE_END_DECLS

#endif
