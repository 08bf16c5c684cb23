/* Many nodes of a graph evaluated at a point of a system of equations.
 *
 * A point is t and X: x_j^(k) stands at X[place[j] + k]. Parameters and discrete values are given once, by start. The evaluator is
 * constant and can be shared by threads; what an evaluation writes is a work array of the caller. */
#ifndef DAE_EQUATIONS_EVALUATOR_H
#define DAE_EQUATIONS_EVALUATOR_H

#include "language/program.h"

typedef struct dae_evaluator dae_evaluator;

/* place: of each variable in X. NULL: out of memory. */
dae_evaluator *dae_evaluator_create(const dae_graph *g, const int *place, int noutput, const int *output);
void dae_evaluator_destroy(dae_evaluator *e);      /* NULL allowed */
size_t dae_evaluator_work(const dae_evaluator *e); /* numbers */
void dae_evaluator_start(const dae_evaluator *e, double *work, const double *parameter,
                         const double *discrete);
void dae_evaluator_run(const dae_evaluator *e, double *work, double t, const double *X, double *out);

#endif
