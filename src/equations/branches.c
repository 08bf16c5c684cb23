/* Switches of equations, see branches.h. */
#include "equations/branches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    dae_model *m;
    dae_branches *b;
    int capacity, failed;
    int ncandidate, *candidate; /* nodes that switch, ascending */
} search;

static int compare(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int is_switch(int op)
{
    return op == OP_LT || op == OP_LE || op == OP_ABS || op == OP_SIGN || op == OP_STEP || op == OP_MIN ||
           op == OP_MAX || op == OP_FLOOR || op == OP_CEIL || op == OP_MOD || op == OP_CURVE;
}

/* ---- Rewriting ----------------------------------------------------------------------------------- */

/* A new side for a decision on `literal`, which is `frozen` with the sides of others; its leaf. */
static int add(search *x, dae_branch_kind kind, int literal, int frozen, int node, int curve)
{
    dae_branches *b = x->b;
    if (b->count == x->capacity) {
        x->capacity = 2 * x->capacity + 16;
        dae_branch *bigger = realloc(b->branch, (size_t)x->capacity * sizeof *bigger);
        if (!bigger) return x->failed = 1, 0;
        b->branch = bigger;
    }
    b->branch[b->count] =
        (dae_branch){.kind = kind, .literal = literal, .frozen = frozen, .node = node, .curve = curve};
    return dae_graph_discrete(x->m->graph, b->first + b->count++);
}

static int change(dae_graph *g, int node, const int *in, void *user)
{
    search *x = user;
    dae_node n = dae_graph_node(g, node);
    int side, smooth;
    if (n.op == OP_LITERAL) return node; /* with the operands it had */
    if (!is_switch(n.op) || !bsearch(&node, x->candidate, (size_t)x->ncandidate, sizeof node, compare))
        return -1;
    switch (n.op) {
    case OP_LT:
    case OP_LE:
        side = add(x, DAE_BRANCH_SIGN, dae_graph_subtract(g, n.b, n.a), dae_graph_subtract(g, in[1], in[0]),
                   node, 0);
        return dae_graph_apply(g, OP_LT, 0, side, 0);
    case OP_MIN:
    case OP_MAX:
        side = n.op == OP_MIN ? add(x, DAE_BRANCH_SIGN, dae_graph_subtract(g, n.b, n.a),
                                    dae_graph_subtract(g, in[1], in[0]), node, 0)
                              : add(x, DAE_BRANCH_SIGN, dae_graph_subtract(g, n.a, n.b),
                                    dae_graph_subtract(g, in[0], in[1]), node, 0);
        return dae_graph_if(g, dae_graph_apply(g, OP_LT, 0, side, 0), in[0], in[1]);
    case OP_ABS: return dae_graph_multiply(g, add(x, DAE_BRANCH_SIGN, n.a, in[0], node, 0), in[0]);
    case OP_SIGN: return add(x, DAE_BRANCH_SIGN, n.a, in[0], node, 0);
    case OP_STEP: return dae_graph_apply(g, OP_LT, 0, add(x, DAE_BRANCH_SIGN, n.a, in[0], node, 0), 0);
    case OP_FLOOR: return add(x, DAE_BRANCH_WHOLE, n.a, in[0], node, 0);
    case OP_CEIL: /* -floor(-a) */
        side = add(x, DAE_BRANCH_WHOLE, dae_graph_scale(g, -1, n.a), dae_graph_scale(g, -1, in[0]), node, 0);
        return dae_graph_scale(g, -1, side);
    case OP_MOD:
        side = add(x, DAE_BRANCH_WHOLE, dae_graph_divide(g, n.a, n.b), dae_graph_divide(g, in[0], in[1]),
                   node, 0);
        return dae_graph_subtract(g, in[0], dae_graph_multiply(g, in[1], side));
    default: /* a table */
        smooth = dae_graph_get_curve(g, n.b)->kind == DAE_CURVE_SPLINE;
        if (smooth) return -1;
        return dae_graph_piece(g, n.b, in[0], add(x, DAE_BRANCH_SEGMENT, n.a, in[0], node, n.b), n.c);
    }
}

/* ---- Candidates ---------------------------------------------------------------------------------- */

/* Nodes outside of noevent that switch and depend on variables or discrete values. */
static int find_candidates(search *x, int n, const int *root)
{
    const dae_graph *g = x->m->graph;
    int *all, *open, count = dae_graph_reach(g, n, root, &all),
                     nopen = dae_graph_reach_switches(g, n, root, &open), o;
    unsigned char *moves = count > 0 ? calloc((size_t)dae_graph_count(g), 1) : NULL;
    x->candidate = nopen > 0 ? malloc((size_t)nopen * sizeof *x->candidate) : NULL;
    for (int i = 0; moves && i < count; i++) {
        int op = dae_graph_node(g, all[i]).op;
        moves[all[i]] = op == OP_VARIABLE || op == OP_DISCRETE;
        for (int k = 0; !moves[all[i]] && (o = dae_graph_operand(g, all[i], k)) >= 0; k++)
            moves[all[i]] = moves[o];
    }
    for (int i = 0; moves && x->candidate && i < nopen; i++) {
        if (is_switch(dae_graph_node(g, open[i]).op) && moves[open[i]])
            x->candidate[x->ncandidate++] = open[i];
    }
    int good = count == 0 || (moves && x->candidate);
    free(moves);
    free(all);
    free(open);
    return good;
}

dae_branches *dae_branches_find(dae_model *m, int n, int *node)
{
    search x = {.m = m, .b = calloc(1, sizeof *x.b)};
    int good = x.b && find_candidates(&x, n, node);
    if (good) {
        x.b->first = m->ndiscrete;
        if (x.ncandidate) good = dae_graph_rewrite(m->graph, n, node, change, &x) && !x.failed;
        x.b->curve = calloc((size_t)x.b->count + 1, sizeof *x.b->curve);
        good = good && x.b->curve;
        for (int i = 0; good && i < x.b->count; i++) {
            if (x.b->branch[i].kind != DAE_BRANCH_SEGMENT) continue;
            x.b->curve[i] = dae_curve_copy(dae_graph_get_curve(m->graph, x.b->branch[i].curve));
            good = x.b->curve[i] != NULL;
        }
    }
    free(x.candidate);
    if (good) return x.b;
    dae_branches_destroy(x.b);
    return NULL;
}

void dae_branches_destroy(dae_branches *b)
{
    if (!b) return;
    for (int i = 0; b->curve && i < b->count; i++) dae_curve_destroy(b->curve[i]);
    free(b->curve);
    free(b->branch);
    free(b);
}

/* ---- Sides --------------------------------------------------------------------------------------- */

enum { largest_side = 1000000000 };

int dae_branch_side(const dae_branches *b, int i, double x)
{
    switch (b->branch[i].kind) {
    case DAE_BRANCH_SIGN: return x > 0 ? 1 : -1;
    case DAE_BRANCH_WHOLE: return fabs(x) < largest_side ? (int)floor(x) : 0;
    default: return dae_curve_segment(b->curve[i], x);
    }
}

double dae_branch_margin(const dae_branches *b, int i, int side, double x, int *next)
{
    double lo = side, hi = (double)side + 1;
    if (b->branch[i].kind == DAE_BRANCH_SIGN) {
        *next = -side;
        return side * x;
    }
    if (b->branch[i].kind == DAE_BRANCH_SEGMENT) dae_curve_ends(b->curve[i], side, &lo, &hi);
    *next = x - lo < hi - x ? side - 1 : side + 1;
    return fmin(x - lo, hi - x);
}
