/* A graph of expressions: every value is a node, equal nodes are one node.
 *
 *   leaves      number, time t, parameter p, discrete value d, variable j with its k-th time derivative
 *   sums        linear normal form  c + f1 n1 + f2 n2 + ...  with numbers c, f and distinct nodes n in ascending
 *               order; numbers are multiplied into short sums, equal nodes collected, what cancels disappears
 *   products    of two nodes in ascending order; numbers (and a common factor of a sum) stand outside, in a sum
 *   functions   those of expressions (OP_SIN ...), comparisons, `if`, curves through points
 *
 * The operands of a node have smaller numbers than the node: ascending numbers are an order of evaluation. Nodes are
 * made by the functions below only and never change; whatever is constant is computed at once.
 *
 * A builder that fails (no memory, or more than DAE_GRAPH_MAX_NODES) returns node 0, the number 0, and the graph remembers:
 * build without checks, then ask dae_graph_failed once. A graph is used by one thread at a time. */
#ifndef DAE_LANGUAGE_GRAPH_H
#define DAE_LANGUAGE_GRAPH_H

#include "language/curve.h"
#include "language/expression_code.h"

#include <stddef.h>

enum { DAE_GRAPH_MAX_NODES = 5000000, DAE_GRAPH_SHORT_SUM = 16 };

/* Operations of nodes besides those of expressions. OP_SUB, OP_NEG, OP_GT, OP_GE, OP_TABLE, OP_SPLINE are not used: they have
 * normal forms. OP_ADD is the sum. */
enum {
    OP_NUMBER = 100, /* value */
    OP_TIME,
    OP_PARAMETER, /* a: its number */
    OP_DISCRETE,  /* a: its number */
    OP_VARIABLE,  /* a: its number, b: order of the time derivative */
    OP_CURVE,     /* a: node, b: number of the curve, c: order of the derivative */
    OP_PIECE,     /* a: node, b: node of the segment's number, c: 4*curve + order: that segment continued */
    OP_LITERAL /* a: node; the same value, but its conditions are taken literally: no switches inside (noevent) */
};

typedef struct dae_node {
    int op;
    int a, b, c;  /* nodes; OP_ADD: first term, number of terms; OP_POWI: a^c */
    double value; /* OP_NUMBER; OP_ADD: the constant */
} dae_node;

typedef struct dae_term {
    int node;
    double factor;
} dae_term;

typedef struct dae_graph dae_graph;

dae_graph *dae_graph_create(void); /* NULL: no memory */
void dae_graph_destroy(dae_graph *g);
/* Why a builder failed, 0: none did. */
enum { DAE_GRAPH_STARVED = 1, DAE_GRAPH_FULL };
int dae_graph_failed(const dae_graph *g);
void dae_graph_starve(dae_graph *g); /* somebody had no memory for work with it: as if a builder had failed */
int dae_graph_count(const dae_graph *g);               /* nodes are 0 .. count-1 */
dae_node dae_graph_node(const dae_graph *g, int node); /* a copy: building moves nodes */
const dae_term *dae_graph_terms(const dae_graph *g,
                                int node); /* of an OP_ADD; valid until the next building */
int dae_graph_is_number(const dae_graph *g, int node, double *value); /* value may be NULL */

/* Leaves. */
int dae_graph_number(dae_graph *g, double value);
int dae_graph_time(dae_graph *g);
int dae_graph_parameter(dae_graph *g, int p);
int dae_graph_discrete(dae_graph *g, int d);
int dae_graph_variable(dae_graph *g, int j, int order);

/* constant + sum of factor*node. Sums among the terms with at most DAE_GRAPH_SHORT_SUM terms are written out (longer ones
 * stay nodes: shared means would make n^2 terms); dae_graph_expand writes all of them out, to any depth. */
int dae_graph_sum(dae_graph *g, double constant, int n, const dae_term *term);
int dae_graph_expand(dae_graph *g, double constant, int n, const dae_term *term);
int dae_graph_add(dae_graph *g, int a, int b);
int dae_graph_subtract(dae_graph *g, int a, int b);
int dae_graph_scale(dae_graph *g, double factor, int a);
int dae_graph_multiply(dae_graph *g, int a, int b);
int dae_graph_divide(dae_graph *g, int a, int b);
int dae_graph_power(dae_graph *g, int a, int b);
/* op of expression_code.h with its operands (those that it does not take are ignored). */
int dae_graph_apply(dae_graph *g, int op, int a, int b, int c);
int dae_graph_if(dae_graph *g, int condition, int yes, int no);
int dae_graph_literal(dae_graph *g, int a);
/* The graph owns the curve from here on (also if it fails); its number. */
int dae_graph_add_curve(dae_graph *g, dae_curve *curve);
int dae_graph_curve(dae_graph *g, int curve, int a, int order);
int dae_graph_piece(dae_graph *g, int curve, int a, int segment, int order);
const dae_curve *dae_graph_get_curve(const dae_graph *g, int curve);

/* The operands of a node one by one: for (k = 0; (m = dae_graph_operand(g, node, k)) >= 0; k++). */
int dae_graph_operand(const dae_graph *g, int node, int k);

/* All nodes that the roots depend on, roots included, ascending. Returns their number, *list malloc'ed (free it); -1: no
 * memory. */
int dae_graph_reach(const dae_graph *g, int n, const int *root, int **list);
/* The same without what stands only inside OP_LITERAL: where switches may be. */
int dae_graph_reach_switches(const dae_graph *g, int n, const int *root, int **list);

/* The roots made anew, in place: `change` sees each node they depend on, operands first, with the new operands in[], and says
 * what it becomes; -1: itself with the new operands. 0: failed. */
typedef int dae_rewrite_fn(dae_graph *g, int node, const int *in, void *user);
int dae_graph_rewrite(dae_graph *g, int n, int *root, dae_rewrite_fn *change, void *user);
/* The node with leaf `from[i]` replaced by node to[i]. */
int dae_graph_substitute(dae_graph *g, int node, int n, const int *from, const int *to);

/* Its value with leaf values from `leaf` (called once per leaf of the node). For tests and constants; programs are faster. */
typedef double dae_leaf_fn(const dae_node *leaf, void *user);
double dae_graph_value(dae_graph *g, int node, dae_leaf_fn *leaf, void *user);

/* A text like "x^2 + y^2 - L^2" for messages; names from `name` (NULL: x1', p1, d1). Cut with "..." at size. */
typedef const char *dae_leaf_name_fn(const dae_node *leaf, void *user); /* without primes */
void dae_graph_text(const dae_graph *g, int node, dae_leaf_name_fn *name, void *user, char *out, size_t size);

/* ---- Derivatives (derivative.c) ------------------------------------------------------------------- */

/* d/dt along a solution: variable (j,k) -> (j,k+1), t -> 1, parameters and discrete values -> 0. Remembered per node. */
int dae_graph_derivative(dae_graph *g, int node);

/* All partial derivatives of a node by reverse differentiation: for each leaf that is a variable or t (ascending by leaf
 * node) its derivative node; those that are identically 0 are left out. Returns their number, *out malloc'ed (free it);
 * -1: no memory. */
typedef struct dae_partial {
    int leaf, derivative;
} dae_partial;
int dae_graph_gradient(dae_graph *g, int node, dae_partial **out);
/* The same for leaves of any kind that the caller marks: wanted[node] != 0, dae_graph_count() flags; NULL: variables and t. */
int dae_graph_gradient_by(dae_graph *g, int node, const unsigned char *wanted, int nwanted,
                          dae_partial **out);

#endif
