/* Ways to integrate a mechanism, beside each other. */
#ifndef DAEDALUS_COMPARE_H
#define DAEDALUS_COMPARE_H

#include <daedalus/measurement.h>

DAE_BEGIN_DECLS

/* One solver on one formulation. NAN: not known. */
typedef struct dae_compared {
    dae_measurement run;               /* run.solver: its label */
    double position_max, velocity_max; /* largest residuals of the constraints at the accepted points */
    double energy;                     /* models: largest |energy - energy at the start - work| */
    int npoint;                        /* residuals over time */
    double *t, *position, *velocity;
} dae_compared;

/* *out: the problem as a mechanical one (it borrows all of p). 0: it is none, *out is a copy. */
DAE_API int dae_compare_mechanism(const dae_problem *p, dae_problem *out);
/* The list of solvers (daedalus/solver.h) that is compared unless another is asked for: direct integration, stabilization, projection,
 * partitioned coordinates, and the methods for the descriptor form; "all" where it is no mechanism. */
DAE_API const char *dae_compare_solvers(int mechanism);
/* Runs it. A failed run is a result too. Free with dae_compared_free. */
DAE_API dae_status dae_compare_run(const dae_problem *p, const dae_run_options *opt, const char *label,
                                   dae_compared *c, dae_error *err);
DAE_API void dae_compared_free(dae_compared *c);
/* The same as a table. NULL: see *err. */
DAE_API dae_table *dae_compare_table(const dae_compared *c, int count, dae_error *err);
/* format: "text", "md", "csv", "json". */
DAE_API dae_status dae_compare_write(const dae_compared *c, int count, const char *format,
                                     dae_write_fn *write, void *user);
/* A gnuplot script: residuals over time. DAE_ERR_INPUT: there are none. */
DAE_API dae_status dae_compare_plot(const dae_compared *c, int count, const char *title, const char *terminal,
                                    dae_write_fn *write, void *user);

DAE_END_DECLS

#endif
