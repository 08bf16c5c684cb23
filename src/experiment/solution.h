/* Writing the continuous solution of a run; the format is in daedalus/experiment.h. */
#ifndef DAE_EXPERIMENT_SOLUTION_H
#define DAE_EXPERIMENT_SOLUTION_H

#include <daedalus/experiment.h>

typedef struct dae_solution_writer {
    dae_write_fn *write;
    void *user;
    int n, failed;
} dae_solution_writer;

/* method NULL: "auto", which is not decided yet. */
dae_status dae_solution_head(dae_solution_writer *w, const dae_run_result *r, const dae_method_info *method,
                             dae_error *err);
/* 0 or -1: begins a piece, of which degree + 1 states follow at its nodes. */
int dae_solution_begin(dae_solution_writer *w, double from, double to, int degree);
int dae_solution_state(dae_solution_writer *w, const double *y);
double dae_solution_node(double from, double to, int degree, int k);

#endif
