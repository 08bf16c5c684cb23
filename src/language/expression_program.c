/* Expressions as programs of a graph: equal parts are computed once, derivatives are symbolic, and code is written where the machine
 * allows it. Inputs of a program: the variables (for a curve also their first and second derivatives), then the sides of the switches. */
#include "language/graph.h"
#include "language/native.h"

#include <daedalus/system.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shorter ones (operations; for gradients: times variables) do not win back what making a program costs, 10 to 40 us, within a few hundred
 * evaluations; measured. */
enum { worth_value = 8, worth_gradient = 20, worth_curve = 4 };

typedef struct maker {
    const dae_expression *e;
    dae_graph *g;
    int *node; /* of each register */
} maker;

/* ---- The graph of an expression ------------------------------------------------------------------ */

static int curve_of(maker *m, const dae_instruction *i)
{
    const double *pair = m->e->table + 2 * i->b;
    double *x = malloc(2 * (size_t)i->c * sizeof *x), *y = x ? x + i->c : NULL;
    dae_curve *curve = NULL;
    for (int k = 0; x && k < i->c; k++) x[k] = pair[2 * k], y[k] = pair[2 * k + 1];
    if (x)
        curve = dae_curve_create(i->op == OP_TABLE ? DAE_CURVE_LINEAR : DAE_CURVE_SPLINE, DAE_CURVE_LINE,
                                 i->c, x, y);
    free(x);
    return dae_graph_add_curve(m->g, curve); /* NULL: the graph remembers */
}

static int positive(dae_graph *g, int side)
{
    return dae_graph_apply(g, OP_LT, dae_graph_number(g, 0), side, 0);
}

/* The operation on the side that input `side` tells, also beyond its border. */
static int on_side(maker *m, const dae_instruction *i, int side, int a, int b)
{
    dae_graph *g = m->g;
    switch (i->op) {
    case OP_ABS: return dae_graph_multiply(g, side, a);
    case OP_SIGN:
    case OP_FLOOR:
    case OP_CEIL: return side;
    case OP_MIN:
    case OP_MAX: return dae_graph_if(g, positive(g, side), a, b);
    case OP_MOD: return dae_graph_subtract(g, a, dae_graph_multiply(g, b, side));
    case OP_TABLE: return dae_graph_piece(g, curve_of(m, i), a, side, 0);
    default: return positive(g, side);
    }
}

static int node_of(maker *m, const dae_instruction *i)
{
    dae_graph *g = m->g;
    int a = m->node[i->a];
    switch (i->op) {
    case OP_POWI: return dae_graph_power(g, a, dae_graph_number(g, i->c));
    case OP_SPLINE: return dae_graph_curve(g, curve_of(m, i), a, 0);
    case OP_NEG:
    case OP_NOT: return dae_graph_apply(g, i->op, a, 0, 0);
    default: break;
    }
    int count = dae_expression_operands(i), b = count > 1 ? m->node[i->b] : 0,
        c = count > 2 ? m->node[i->c] : 0;
    if (i->s) return on_side(m, i, dae_graph_discrete(g, i->s - 1), a, b);
    return i->op == OP_TABLE ? dae_graph_curve(g, curve_of(m, i), a, 0) : dae_graph_apply(g, i->op, a, b, c);
}

static int root_of(maker *m)
{
    const dae_expression *e = m->e;
    int first = e->nvariable + e->nconstant;
    for (int k = 0; k < e->nvariable; k++) m->node[k] = dae_graph_variable(m->g, k, 0);
    for (int k = 0; k < e->nconstant; k++) m->node[e->nvariable + k] = dae_graph_number(m->g, e->constant[k]);
    for (int k = 0; k < e->ninstruction; k++) m->node[first + k] = node_of(m, &e->code[k]);
    return m->node[e->result];
}

/* ---- Programs ------------------------------------------------------------------------------------ */

/* Value; value and gradient; value and two derivatives along a curve. Their number, -1: no memory. */
static int outputs_of(maker *m, int root, int kind, int *out)
{
    int n = m->e->nvariable;
    dae_partial *p;
    out[0] = root;
    if (kind == DAE_EXPRESSION_CURVE) {
        out[1] = dae_graph_derivative(m->g, root);
        out[2] = dae_graph_derivative(m->g, out[1]);
        return 3;
    }
    if (kind == DAE_EXPRESSION_VALUE) return 1;
    int count = dae_graph_gradient(m->g, root, &p);
    if (count < 0) return -1;
    for (int k = 0; k < n; k++) out[1 + k] = 0;
    for (int k = 0; k < count; k++) out[1 + dae_graph_node(m->g, p[k].leaf).a] = p[k].derivative;
    free(p);
    return 1 + n;
}

static int make_program(maker *m, dae_expression *e, int root, int kind)
{
    int n = e->nvariable, orders = kind == DAE_EXPRESSION_CURVE ? 3 : 1, ninput = 0;
    int *input = malloc(((size_t)orders * (size_t)n + (size_t)e->nswitch + (size_t)n + 4) * sizeof *input),
        *output = input ? input + orders * n + e->nswitch : NULL;
    if (!input) return 0;
    for (int o = 0; o < orders; o++) {
        for (int k = 0; k < n; k++) input[ninput++] = dae_graph_variable(m->g, k, o);
    }
    for (int k = 0; k < e->nswitch; k++) input[ninput++] = dae_graph_discrete(m->g, k);
    int noutput = outputs_of(m, root, kind, output);
    if (noutput >= 0 && !dae_graph_failed(m->g))
        e->program[kind] = dae_program_create_split(m->g, ninput, input, -1, 0, orders == 1 ? n : 0, noutput,
                                                    output, NULL, NULL);
    free(input);
    return e->program[kind] != NULL;
}

static int pays(const dae_expression *e, int kind)
{
    if (kind == DAE_EXPRESSION_VALUE) return DAE_NATIVE_AT_ONCE && e->ninstruction >= worth_value;
    if (kind == DAE_EXPRESSION_CURVE) return e->ninstruction >= worth_curve;
    return e->ninstruction * e->nvariable >= worth_gradient;
}

int dae_expression_prepare(dae_expression *e, int kind)
{
    maker m = {.e = e};
    if (e->program[kind] || !e->nvariable || !pays(e, kind)) return 1;
    m.g = dae_graph_create();
    m.node = malloc((size_t)(e->nvariable + e->nconstant + e->ninstruction) * sizeof *m.node);
    int good = m.g && m.node;
    if (good) good = make_program(&m, e, root_of(&m), kind) || dae_graph_failed(m.g) == DAE_GRAPH_FULL;
    dae_graph_destroy(m.g);
    free(m.node);
    return good;
}

void dae_expression_forget_programs(dae_expression *e)
{
    for (int k = 0; k < DAE_EXPRESSION_KINDS; k++) dae_program_destroy(e->program[k]);
}

size_t dae_expression_program_work(const dae_expression *e)
{
    size_t most = 0;
    for (int k = 0; k < DAE_EXPRESSION_KINDS; k++) {
        size_t size = e->program[k] ? dae_program_work(e->program[k]) + (size_t)e->nvariable + 4 : 0;
        if (size > most) most = size;
    }
    return most;
}

int dae_expression_run(const dae_expression *e, int kind, const int *side, const double *const *x,
                       double *out, double *work)
{
    const dae_program *p = e->program[kind];
    int n = e->nvariable, orders = kind == DAE_EXPRESSION_CURVE ? 3 : 1,
        noutput = kind == DAE_EXPRESSION_CURVE      ? 3
                  : kind == DAE_EXPRESSION_GRADIENT ? 1 + n
                                                    : 1;
    if (!p || (e->nswitch && !side)) return 0;
    double *in = work + orders * n;
    for (int k = 0; k < e->nswitch; k++) {
        if (side[k] == DAE_SIDE_FREE) return 0;
        in[k] = side[k];
    }
    if (orders > 1) {
        for (int o = 0; o < orders; o++) memcpy(work + o * n, x[o], (size_t)n * sizeof *work);
    }
    if (!dae_program_evaluate(p, work, 0, x[0], out)) {
        dae_program_constants(p, work);
        if (orders == 1) memcpy(work, x[0], (size_t)n * sizeof *work);
        dae_program_run_levels(p, work, out);
    }
    for (int k = 0; k < noutput; k++) {
        if (!isfinite(out[k])) return 0;
    }
    return 1;
}
