/* The equations as an ODE in chosen states: all else follows, stage by stage.
 *
 * The reduction is constant and can be shared by threads; what evaluations write is a dae_reduced, one per run. */
#ifndef DAE_EQUATIONS_REDUCED_H
#define DAE_EQUATIONS_REDUCED_H

#include "equations/states.h"

#include <pthread.h>

typedef struct dae_reduction dae_reduction;
typedef struct dae_reduced dae_reduced;

/* The analysis must live as long, and so the lock: runs add to the graph behind it. NULL: no memory. */
dae_reduction *dae_reduction_create(const dae_analysis *a, pthread_mutex_t *lock);
void dae_reduction_destroy(dae_reduction *r); /* NULL allowed */
/* 1: the system Jacobian depends on the point, so that the best states may change along a run. */
int dae_reduction_varies(const dae_reduction *r);

dae_reduced *dae_reduced_create(const dae_reduction *r, const double *parameter,
                                const double *discrete); /* NULL: no memory */
void dae_reduced_destroy(dae_reduced *d);                /* NULL allowed */

/* Discrete values changed: they are constants between events. */
void dae_reduced_set(dae_reduced *d, const double *parameter, const double *discrete);

/* 1: a change of states costs the method nearly nothing, so that they may change early. */
void dae_reduced_change_early(dae_reduced *d, int early);

/* Begins at a consistent point, with the best choice of states there. 0, > 0: J is singular there (*equation is one without pivot),
 * < 0: no memory. */
int dae_reduced_start(dae_reduced *d, double t, const double *X, int *equation);

/* After a start that failed: which equations depend on each other where J is singular, in words; equation: what start said. */
void dae_reduced_dependent(const dae_reduced *d, int equation, char *out, size_t size);

/* The states: dof places in X, ascending; valid until the choice changes. */
const int *dae_reduced_states(const dae_reduced *d);
/* X from the states y: 0, > 0: a stage does not converge. X (total) lives in d until the next call; where a
 * stage fails it has the states and what was found before. */
int dae_reduced_solve(dae_reduced *d, double t, const double *y, const double **X);
/* y' = f(t, y) */
int dae_reduced_rates(dae_reduced *d, double t, const double *y, double *f);
/* An accepted point: Newton starts from it from now on. Where another choice of states is much better, y becomes those: 1; else 0; < 0:
 * no memory, or the point cannot be solved for. */
int dae_reduced_accept(dae_reduced *d, double t, double *y);

/* The same with all of X known: 1 where the states are others now. */
int dae_reduced_review(dae_reduced *d, double t, const double *X);

/* The underlying ODE: all values below the highest derivatives are given, z[k] at X[at[k]]; the highest ones follow from stage 0. */
int dae_reduced_highest(dae_reduced *d, double t, int count, const int *at, const double *z,
                        const double **X);
int dae_reduced_projects(dae_reduced *d); /* takes memory for projections; < 0: there is none */
/* The nearest z that satisfies all stages below 0, in the norm of the weights (total; what counts as a change of size 1): 0, > 0: not
 * found. */
int dae_reduced_project(dae_reduced *d, double t, int count, const int *at, const double *weight, double *z);
/* X is where Newton starts from now on. */
void dae_reduced_take(dae_reduced *d, double t, const double *X);
/* The last solve is an accepted point: Newton starts from it from now on. */
void dae_reduced_note(dae_reduced *d, double t);

/* For checkpoints, as in dae_memory. */
size_t dae_reduced_save(const dae_reduced *d, void *buffer);
int dae_reduced_load(dae_reduced *d, const void *buffer, size_t size);

#endif
