/* Steady states, branches of them over a parameter, and periodic solutions.
 *
 *     dae_steady_result *r = dae_steady(p, NULL, &err);              a steady state near the start, with its eigenvalues
 *
 *     dae_branch_options o = dae_branch_options_default(p);
 *     o.min = 0, o.max = 5;
 *     dae_branch *b = dae_continue(p, "B", &o, &err);                all of them along B, through folds, with Hopf points
 *
 *     dae_periodic_result *q = dae_periodic(p, NULL, &err);          a cycle near the end of a run, with its Floquet multipliers
 *
 * Mechanisms come to rest (v = 0); systems that depend on time are taken as they are at one time. */
#ifndef DAEDALUS_STEADY_H
#define DAEDALUS_STEADY_H

#include <daedalus/sensitivity.h>
#include <daedalus/table.h>

DAE_BEGIN_DECLS

/* ---- Steady states --------------------------------------------------------------------------------- */

typedef struct dae_steady_options {
    double t;            /* at which the system is taken; default: the start */
    const double *guess; /* n values; NULL: the initial values of the problem */
    /* > 0: the problem is integrated this long first; 0: only where Newton's method alone fails, up to the end of the problem;
     * < 0: never */
    double settle;
    dae_simulation_options simulation; /* of that run */
    double tolerance;                  /* of the last correction, relative (1e-10) */
    int max_iterations;                /* 100 */
} dae_steady_options;
DAE_API dae_steady_options dae_steady_options_default(const dae_problem *p);

typedef struct dae_steady_result {
    int n;
    double *y; /* n; what a linear invariant of the system says (sums that stay) is as in the guess */
    int neigenvalue;
    double *re, *im; /* of the linearized system, re falling; neigenvalue 0: they are not known */
    int unstable;    /* how many have re > 0 */
    int conserved;   /* linear invariants; their eigenvalues, which are 0, are left out */
    int settled;     /* 1: a run was needed */
    int iterations;
    double residual; /* largest of the equations, in their own units */
} dae_steady_result;

/* NULL: see *err. DAE_ERR_CONVERGENCE: none was found; DAE_CANCELLED: simulation.options.stop ended the run before it. */
DAE_API dae_steady_result *dae_steady(const dae_problem *p, const dae_steady_options *opt, dae_error *err);
DAE_API void dae_steady_destroy(dae_steady_result *r); /* NULL allowed */
/* One JSON object; t: as in the options. */
DAE_API dae_status dae_steady_json(const dae_steady_result *r, const dae_problem *p, double t,
                                   dae_write_fn *write, void *user);

/* ---- Branches over a parameter ---------------------------------------------------------------------- */

typedef enum dae_branch_kind {
    DAE_BRANCH_REGULAR = 0,
    DAE_BRANCH_FOLD,  /* two steady states meet: the parameter turns back */
    DAE_BRANCH_HOPF,  /* a pair of eigenvalues crosses the imaginary axis: cycles begin */
    DAE_BRANCH_CROSS, /* a real eigenvalue crosses 0 without a fold: another branch crosses */
    DAE_BRANCH_END    /* a bound of the parameter */
} dae_branch_kind;
DAE_API const char *dae_branch_kind_name(dae_branch_kind k); /* "", "fold", "hopf", "cross", "end" */

typedef struct dae_branch_options {
    dae_steady_options steady; /* of the first point; a stop before it leaves a branch without points */
    double min, max; /* of the parameter; default: a tenth to ten times its value, or -1 .. 1 where it is 0 */
    double step,
        step_max; /* along the branch, first and largest: parts of (max - min) and of the size of y (0.01, 0.05) */
    int max_points; /* in each direction (1000) */
    int one_way;    /* 0: both ways; 1: to larger values, -1: to smaller values of the parameter first */
    int (*progress)(int points, double parameter, void *user); /* not 0: stop; NULL: none */
    void *user;
} dae_branch_options;
DAE_API dae_branch_options dae_branch_options_default(const dae_problem *p);

typedef struct dae_branch {
    dae_status
        status; /* DAE_OK: it came to bounds or back to its start; DAE_CANCELLED; DAE_ERR_MAX_STEPS: to max_points;
                          DAE_ERR_CONVERGENCE: it could not be followed further */
    const char *parameter;
    int n, count;    /* points in their order along the branch */
    int start;       /* the first that was found */
    double *value;   /* count: of the parameter */
    double *y;       /* n per point */
    double *re, *im; /* count: of the eigenvalue with the largest real part; NAN: not known */
    int *unstable;   /* count: eigenvalues with re > 0; -1: not known */
    dae_branch_kind *kind;
    double *frequency; /* count: at Hopf points |im| in rad per unit of time, else 0 */
    int closed;        /* 1: the last point is the first again */
    char message[200];
} dae_branch;

/* Steady states along a parameter by pseudo-arclength steps. NULL: see *err. */
DAE_API dae_branch *dae_continue(const dae_problem *p, const char *parameter, const dae_branch_options *opt,
                                 dae_error *err);
DAE_API void dae_branch_destroy(dae_branch *b); /* NULL allowed */
/* One JSON object. */
DAE_API dae_status dae_branch_json(const dae_branch *b, const dae_problem *p, dae_write_fn *write,
                                   void *user);
/* Columns: the parameter, the components, re, im, unstable, kind, frequency. NULL: out of memory. */
DAE_API dae_table *dae_branch_table(const dae_branch *b, const dae_problem *p);
/* A gnuplot script that draws component i over the parameter: stable parts as lines, unstable ones dashed, points by kind. */
DAE_API dae_status dae_branch_plot(const dae_branch *b, const dae_problem *p, int i, const char *terminal,
                                   dae_write_fn *write, void *user);

/* ---- Periodic solutions ------------------------------------------------------------------------------- */

typedef struct dae_periodic_options {
    dae_sensitivity_options sensitivity; /* method, tolerances (1e-9 unless the problem has smaller ones) */
    double period;                       /* guess, or, forced, the period itself; 0: found on a run */
    int forced;                          /* 1: the system depends on time with this period */
    double settle; /* > 0: the problem is integrated this long first; 0: up to its end; < 0: not at all */
    const double *guess; /* n values of a point of the cycle; NULL: the initial values of the problem */
    double tolerance;    /* of the last correction, relative (1e-8) */
    int max_iterations;  /* 30 */
} dae_periodic_options;
DAE_API dae_periodic_options dae_periodic_options_default(const dae_problem *p);

typedef struct dae_periodic_result {
    int n;
    double *y; /* n: a point of the cycle */
    double t, period;
    int nmultiplier;
    double *re, *im; /* Floquet multipliers, |.| falling; one is 1 unless the system is forced */
    int unstable;    /* how many have a modulus above 1, the one that is 1 left out */
    int forced, iterations;
    double residual; /* |y(T) - y(0)|, relative */
} dae_periodic_result;

/* By single shooting. NULL: see *err. */
DAE_API dae_periodic_result *dae_periodic(const dae_problem *p, const dae_periodic_options *opt,
                                          dae_error *err);
DAE_API void dae_periodic_destroy(dae_periodic_result *r); /* NULL allowed */
/* One JSON object. */
DAE_API dae_status dae_periodic_json(const dae_periodic_result *r, const dae_problem *p, dae_write_fn *write,
                                     void *user);

DAE_END_DECLS

#endif
