#include "equations/denominators.h"

#include <stdlib.h>

/* 1: the value of a node is never negative, -1: never positive, 0: who knows. */
static int sign_of(const dae_model *m, int node)
{
    dae_node n = dae_graph_node(m->graph, node);
    const dae_term *term;
    double x = n.value;
    int sign;
    switch (n.op) {
    case OP_NUMBER: return (x > 0) - (x < 0);
    case OP_PARAMETER: x = m->parameter[n.a].value; return (x > 0) - (x < 0);
    case OP_EXP:
    case OP_SQRT:
    case OP_ABS:
    case OP_COSH:
    case OP_POW: return 1;
    case OP_POWI: return n.c % 2 == 0 ? 1 : sign_of(m, n.a);
    case OP_MUL: return n.a == n.b ? 1 : sign_of(m, n.a) * sign_of(m, n.b);
    case OP_DIV: return sign_of(m, n.a) * sign_of(m, n.b);
    case OP_ADD:
        term = dae_graph_terms(m->graph, node);
        sign = (x > 0) - (x < 0);
        for (int k = 0; k < n.b; k++) {
            int s = sign_of(m, term[k].node) * (term[k].factor > 0 ? 1 : -1);
            if (!s || s * sign < 0) return 0;
            sign = s;
        }
        return sign;
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

/* Marks what changes along a solution; list: ascending. */
static void mark_changing(const dae_graph *g, int count, const int *list, unsigned char *changes)
{
    for (int k = 0; k < count; k++) {
        int op = dae_graph_node(g, list[k]).op, in;
        changes[list[k]] = op == OP_TIME || op == OP_VARIABLE || op == OP_DISCRETE;
        for (int j = 0; (in = dae_graph_operand(g, list[k], j)) >= 0; j++) changes[list[k]] |= changes[in];
    }
}

int dae_denominators_find(const dae_model *m, int n, const int *rate, int **list)
{
    int *reached, count = dae_graph_reach(m->graph, n, rate, &reached), found = 0;
    *list = NULL;
    if (count < 0) return -1;
    unsigned char *changes = calloc((size_t)dae_graph_count(m->graph) + 1, 1);
    int *out = malloc(((size_t)count + 1) * sizeof *out);
    if (changes && out) {
        mark_changing(m->graph, count, reached, changes);
        for (int k = 0; k < count; k++) {
            int node = denominator(dae_graph_node(m->graph, reached[k]));
            if (node >= 0 && changes[node] && !sign_of(m, node)) out[found++] = node;
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
    free(out);
    free(reached);
    return found;
}
