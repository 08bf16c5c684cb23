/* 0 = nodes, solved for some of the values in X by damped Gauss-Newton steps of least weighted norm. */
#ifndef DAE_EQUATIONS_NEWTON_H
#define DAE_EQUATIONS_NEWTON_H

#include "language/graph.h"

typedef struct dae_newton_task {
    dae_graph *graph;
    const int *place;                   /* x_j^(k) at X[place[j] + k] */
    const double *parameter, *discrete; /* values */
    double t;
    int nrow;
    const int *node; /* nrow equations 0 = node */
    int ncolumn;
    const int *index;     /* ncolumn: places in X that may change, ascending */
    const double *weight; /* ncolumn: what counts as a change of size 1 */
} dae_newton_task;

typedef struct dae_newton_result {
    int converged; /* 1: all equations hold to rounding */
    int iterations;
    int worst;      /* the equation that fits least */
    double missing; /* by how much, as the equation is written */
    int flat;       /* 1: and no unknown changes it there, so that no direction is known */
} dae_newton_result;

/* 1: *r tells how it went (X holds the best point); 0: no memory. */
int dae_newton_solve(const dae_newton_task *task, double *X, dae_newton_result *r);

#endif
