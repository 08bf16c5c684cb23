/* What the files of a fit share. */
#ifndef DAE_FIT_FIT_H
#define DAE_FIT_FIT_H

#include <daedalus/fit.h>

#include "core/error.h"

/* A fit as the solver sees it: residuals and their derivatives as functions of the free parameters. Constant after
 * dae_fitting_open, so that several starts may use it at the same time. */
typedef struct dae_fitting {
    const dae_problem *p;
    const dae_fit_free *free;
    int np, n;
    const dae_fit_experiment *const *experiment;
    int nexperiment;
    const dae_fit_options *opt;
    int *parameter;  /* np: its number in the problem, or -1: the initial value of */
    int *component;  /* np: this component */
    int **column;    /* per experiment and column: component, or -1 - derived column */
    double **weight; /* per experiment: 1/sd, 0 where nothing was measured */
    long m;          /* residuals */
    int all_sd_known;
    double huber; /* |r| beyond which a residual counts linearly; INFINITY: squares */
    double *lower, *upper, *start, *scale; /* np */
} dae_fitting;

dae_status dae_fitting_open(dae_fitting *f, const dae_problem *p, const dae_fit_free *free, int np,
                            const dae_fit_experiment *const *experiment, int nexperiment,
                            const dae_fit_options *opt, dae_error *err);
void dae_fitting_close(dae_fitting *f);

/* DAE_OK, DAE_CANCELLED (the options stopped a run; nothing of the results is to be used) or an error: this, and dae_fitting_stretch.
 * r (m) at x (np) and, where J is not NULL, J (m*np, column-major); model (per experiment, NULL: not wanted). */
dae_status dae_fitting_evaluate(const dae_fitting *f, const double *x, double *r, double *J, double **model,
                                dae_error *err);

/* One stretch of one experiment: from (t, y) (y NULL: the start of the problem) over the times first .. last-1 to t_next.
 * value: (last-first)*ncolumn; by: derivatives of each by the np parameters and, with y, by the n components of y; end, end_by:
 * the state at t_next and its derivatives. Any of the results may be NULL. */
typedef struct dae_stretch {
    int experiment, first, last;
    double t, t_next; /* NAN: the start of the problem; not beyond the last time */
    const double *y;
} dae_stretch;
dae_status dae_fitting_stretch(const dae_fitting *f, const double *x, const dae_stretch *at, double *value,
                               double *by, double *end, double *end_by, dae_error *err);

/* 1/2 sum rho(r^2), and the factors sqrt(w) by which rows are weighed (NULL: not wanted). */
double dae_fitting_cost(const dae_fitting *f, const double *r, double *factor);

/* Least squares by Levenberg and Marquardt from x, which becomes the best point. fixed: np flags, NULL: none. One that is stopped ends with
 * DAE_OK, status DAE_CANCELLED, and x, cost, r and J of its last iteration (those it was called with before the first). */
typedef struct dae_descent {
    double cost, gradient, damping;
    int iterations, evaluations;
    dae_status status;
    char message[200];
    double *r, *J; /* at the end: m, m*np; to be freed; NULL: it was stopped before there were any */
} dae_descent;
dae_status dae_fitting_descend(const dae_fitting *f, double *x, const unsigned char *fixed, int start,
                               dae_descent *d, dae_error *err);
/* Before it: states at the ends of intervals are free as well. Stopped: as above, but r and J are never known. */
dae_status dae_fitting_shoot(const dae_fitting *f, double *x, int start, dae_descent *d, dae_error *err);

/* Standard deviations, intervals, correlations, rank. */
dae_status dae_fitting_certainty(const dae_fitting *f, const double *x, const dae_descent *d,
                                 dae_fit_result *out, dae_error *err);
/* DAE_CANCELLED: the profiles that are known then stand there. */
dae_status dae_fitting_profile(const dae_fitting *f, const double *x, double cost, dae_fit_result *out,
                               dae_error *err);
/* The unit of what a column is measured of: component or sensor; NULL: there is none of that name. */
const char *dae_fit_unit(const dae_problem *p, const char *name);
/* The quantile of Student's distribution: P(|T| <= t) = level. */
double dae_student(double level, double freedom);

#endif
