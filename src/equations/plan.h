/* The solution of the stages for one choice of states, as programs: each stage is eliminated in the graph (elimination.h).
 *
 * Stages that follow each other and are linear become one program, which writes their unknowns into X; for each other stage there is one
 * of Newton's correction. A plan is constant after it was made; threads share it, each with a work array. */
#ifndef DAE_EQUATIONS_PLAN_H
#define DAE_EQUATIONS_PLAN_H

#include "equations/elimination.h"

typedef struct dae_plan dae_plan;

typedef struct dae_plan_stage {
    dae_linear_nodes nodes;
    const int *unknown;        /* m: places in X */
    const int *row, *pivot_at; /* m each: rows and columns of the pivots in their order */
    int linear;
} dae_plan_stage;

/* n variables with place[n+1] in X. NULL: no memory, or it would be too long. */
dae_plan *dae_plan_create(dae_graph *g, int n, const int *place, int nstage, const dae_plan_stage *stage);
void dae_plan_destroy(dae_plan *p); /* NULL allowed */
size_t dae_plan_work(const dae_plan *p);
void dae_plan_start(const dae_plan *p, double *work, const double *parameter, const double *discrete);
/* How many stages from s on are solved at once; 0: stage s takes corrections. */
int dae_plan_direct(const dae_plan *p, int s);
/* These stages, or a correction of stage s, at (t, X): the unknowns go to X; a correction (J^-1 f, or the sum of two of them) to out[m],
 * the last one that is in it to out + dae_plan_last. Both arrays have room for the pivots behind (X: of all stages). pivot: their sizes when the order was chosen. 0: done; 1: one is small by now, or something is not
 * finite. */
int dae_plan_last(const dae_plan *p, int s);
int dae_plan_run(const dae_plan *p, int s, double *work, double t, const double *X, const double *pivot,
                 double *out);

#endif
