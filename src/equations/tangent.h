/* Directional derivatives of many nodes at once, exact:
 *
 *     d node_i = sum over the leaves k of  (d node_i / d leaf_k) * direction_k
 *
 * as one program of the values and the directions. Constant after it was made; threads share it, each with a borrowed array. */
#ifndef DAE_EQUATIONS_TANGENT_H
#define DAE_EQUATIONS_TANGENT_H

#include "language/graph.h"

typedef struct dae_tangent dae_tangent;

/* leaf: all leaves that the nodes need. Adds nodes to the graph, which is not needed afterwards. NULL: no memory. */
dae_tangent *dae_tangent_create(dae_graph *g, int nleaf, const int *leaf, int count, const int *node);
void dae_tangent_destroy(dae_tangent *t); /* NULL allowed */
/* An array for nleaf values and nleaf directions behind them, all to be filled. NULL: no memory. */
double *dae_tangent_borrow(const dae_tangent *t, int *slot);
/* out: one number per node; gives the array back. */
void dae_tangent_run(const dae_tangent *t, double *array, int slot, double *out);

#endif
