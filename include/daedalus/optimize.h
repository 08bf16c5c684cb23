/* Design: the parameters for which something of a run is least.
 *
 *     dae_fit_free free[] = {{"k", NAN, 100, 1e5}, {"c", NAN, 0, 5e3}};
 *     dae_optimize_options o = dae_optimize_options_default(p);
 *     const char *subject[] = {"maximum(travel) <= 0.1"};
 *     o.subject = subject, o.nsubject = 1;
 *     dae_optimize_result *r = dae_optimize(p, free, 2, "rms(body_acceleration)", &o, &err);
 *
 * What is minimized, and what must hold, are expressions of
 *     final(E), integral(E), mean(E), rms(E), maximum(E), minimum(E)   of an expression E in components, sensors, t and parameters
 *     x                                                              a component or sensor alone: at the end
 *     k                                                              a parameter
 * Gradients are those of the solution (daedalus/sensitivity.h). The search is NLopt's. */
#ifndef DAEDALUS_OPTIMIZE_H
#define DAEDALUS_OPTIMIZE_H

#include <daedalus/fit.h>

DAE_BEGIN_DECLS

typedef struct dae_optimize_progress {
    int evaluation;
    double objective, violation; /* violation: by how much a condition is broken; 0: all hold */
    const double *value;
    int count;
} dae_optimize_progress;
typedef int dae_optimize_fn(const dae_optimize_progress *at, void *user); /* not 0: stop */

typedef struct dae_optimize_options {
    dae_sensitivity_options
        sensitivity;            /* method, tolerances; options.stop ends a run and with it the search */
    const char *const *subject; /* "EXPR <= EXPR" or "EXPR >= EXPR" */
    int nsubject;
    int global; /* 1: a search all over the bounds first; for rough problems */
    unsigned long seed;
    int points;          /* at which extremes look at the run (401) */
    int max_evaluations; /* 200; of a global search 20 times as many */
    double tolerance;    /* relative change of the parameters at which it ends */
    dae_optimize_fn *progress;
    void *user;
} dae_optimize_options;
DAE_API dae_optimize_options dae_optimize_options_default(const dae_problem *p);

typedef struct dae_optimize_result {
    dae_status
        status; /* DAE_OK, DAE_CANCELLED, DAE_ERR_MAX_STEPS (evaluations ran out), DAE_ERR_CONVERGENCE */
    int count;
    double *value, *start;             /* of the free parameters, at the end and at the start */
    double objective, objective_start; /* NAN: stopped before there was one */
    double violation;                  /* of the worst condition; 0: all hold */
    double *gradient;                  /* of the objective at the end; NAN: stopped before it was known */
    int evaluations;
    char message[200];
} dae_optimize_result;

/* NULL: see *err. DAE_ERR_UNSUPPORTED: there is no NLopt library. */
DAE_API dae_optimize_result *dae_optimize(const dae_problem *p, const dae_fit_free *free, int count,
                                          const char *minimize, const dae_optimize_options *opt,
                                          dae_error *err);
DAE_API void dae_optimize_destroy(dae_optimize_result *r); /* NULL allowed */
/* One JSON object; list, minimize: as they were given. */
DAE_API dae_status dae_optimize_json(const dae_optimize_result *r, const dae_fit_free *list,
                                     const dae_problem *p, const char *minimize, dae_write_fn *write,
                                     void *user);

DAE_END_DECLS

#endif
