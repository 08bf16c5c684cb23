/* The inside of a graph, for the files that make it up: graph.c, graph_walk.c, derivative.c. */
#ifndef DAE_LANGUAGE_GRAPH_PARTS_H
#define DAE_LANGUAGE_GRAPH_PARTS_H

#include "language/graph.h"

struct dae_graph {
    int failed;
    dae_node *node;
    unsigned *hash; /* of each node */
    int nnode, node_capacity;
    dae_term *term; /* of all sums */
    int nterm, term_capacity;
    int *table; /* mask+1 places: a node or -1 */
    unsigned mask;
    int *rate; /* time derivative + 1 of the first nrate nodes, 0: not known yet */
    int nrate;
    dae_term *scratch; /* terms of the sum that is being built */
    int scratch_capacity;
    dae_curve **curve;
    int ncurve, curve_capacity;
};

int dae_graph_arity(int op); /* number of operands; sums: 0 */
/* Room for `needed` elements of `size` bytes: 1, or 0: no memory. */
int dae_graph_grow(void **array, int *capacity, int needed, size_t size);

#endif
