/* A linear system J x = f whose entries are nodes of a graph, solved once for all: x as nodes.
 *
 * What is constant, zero or cancels goes at once (x' = v costs nothing), the rest is a program without loops or pivots. The order of the
 * pivots is found with values of J at one point and holds as long as the pivots stay away from zero; who evaluates the program looks
 * at them. */
#ifndef DAE_EQUATIONS_ELIMINATION_H
#define DAE_EQUATIONS_ELIMINATION_H

#include "language/graph.h"

typedef struct dae_linear_nodes {
    int m, nentry;
    const int *row, *column; /* nentry; column -1: not of this system */
    const int *entry;        /* nentry: nodes */
    const int *f;            /* m: nodes */
} dae_linear_nodes;

/* Pivot k stands in row[k] and column[k], its size is pivot[k]: few new entries [Markowitz 1957] among those of at least a tenth of
 * their column. A[m*m] is scratch. 0: J is singular there. */
int dae_elimination_order(const dae_linear_nodes *s, const double *value, double *A, int *row, int *column,
                          double *pivot);

/* x[m], by columns, with pivots in that order; watch[k]: the node of pivot k, -1 where it is a number. 1: done; 0: no memory, a pivot is
 * 0, or more than `most` nodes were needed. */
int dae_elimination_solve(dae_graph *g, const dae_linear_nodes *s, const int *row, const int *column,
                          int most, int *x, int *watch);

#endif
