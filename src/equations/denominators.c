#include "equations/denominators.h"

#include <stdlib.h>

/* 1: the value of a node is never negative, -1: never positive, 0: who knows. sign: of the nodes before it. */
static int sign_of(const dae_model *m, int node, const signed char *sign)
{
    dae_node n = dae_graph_node(m->graph, node);
    const dae_term *term;
    double x = n.value;
    int all;
    switch (n.op) {
    case OP_NUMBER: return (x > 0) - (x < 0);
    case OP_PARAMETER: x = m->parameter[n.a].value; return (x > 0) - (x < 0);
    case OP_EXP:
    case OP_SQRT:
    case OP_ABS:
    case OP_COSH:
    case OP_POW: return 1;
    case OP_POWI: return n.c % 2 == 0 ? 1 : sign[n.a];
    case OP_MUL: return n.a == n.b ? 1 : sign[n.a] * sign[n.b];
    case OP_DIV: return sign[n.a] * sign[n.b];
    case OP_ADD:
        term = dae_graph_terms(m->graph, node);
        all = (x > 0) - (x < 0);
        for (int k = 0; k < n.b; k++) {
            int s = sign[term[k].node] * (term[k].factor > 0 ? 1 : -1);
            if (!s || s * all < 0) return 0;
            all = s;
        }
        return all;
    default: return 0;
    }
}

/* What a node divides by, -1: nothing. */
static int denominator(dae_node n)
{
    if (n.op == OP_DIV) return n.b;
    return n.op == OP_POWI && n.c < 0 && n.c % 2 ? n.a : -1;
}

static int by_number(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* What changes along a solution, and signs; list: ascending, operands before what is made of them. */
static void classify(const dae_model *m, int count, const int *list, unsigned char *changes,
                     signed char *sign)
{
    for (int k = 0; k < count; k++) {
        int node = list[k], op = dae_graph_node(m->graph, node).op, in;
        changes[node] = op == OP_TIME || op == OP_VARIABLE || op == OP_DISCRETE;
        for (int j = 0; (in = dae_graph_operand(m->graph, node, j)) >= 0; j++) changes[node] |= changes[in];
        sign[node] = (signed char)sign_of(m, node, sign);
    }
}

int dae_denominators_find(const dae_model *m, int n, const int *rate, int **list)
{
    int *reached, count = dae_graph_reach(m->graph, n, rate, &reached), found = 0;
    *list = NULL;
    if (count < 0) return -1;
    size_t nodes = (size_t)dae_graph_count(m->graph) + 1;
    unsigned char *changes = calloc(nodes, 1);
    signed char *sign = calloc(nodes, 1);
    int *out = malloc(((size_t)count + 1) * sizeof *out);
    if (changes && sign && out) {
        classify(m, count, reached, changes, sign);
        for (int k = 0; k < count; k++) {
            int node = denominator(dae_graph_node(m->graph, reached[k]));
            if (node >= 0 && changes[node] && !sign[node]) out[found++] = node;
        }
        if (found) qsort(out, (size_t)found, sizeof *out, by_number);
        int kept = 0;
        for (int k = 0; k < found; k++) {
            if (!kept || out[k] != out[kept - 1]) out[kept++] = out[k];
        }
        found = kept;
        *list = out;
        out = NULL;
    } else {
        found = -1;
    }
    free(changes);
    free(sign);
    free(out);
    free(reached);
    return found;
}
