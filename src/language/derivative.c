/* Derivatives in the graph: by time along a solution, and by leaves (reverse differentiation). Both take the partial
 * derivatives of one operation as nodes, so that everything equal is shared with the values. */
#include "language/graph_parts.h"

#include <stdlib.h>
#include <string.h>

#define LN10_INVERSE 0.43429448190325182765 /* 1/log(10) */

static int number(dae_graph *g, double x)
{
    return dae_graph_number(g, x);
}

/* 1 - a^2 and the like: c + f a^2 */
static int square(dae_graph *g, double c, double f, int a)
{
    return dae_graph_sum(g, c, 1, (dae_term[]){{dae_graph_multiply(g, a, a), f}});
}

static int reciprocal(dae_graph *g, double factor, int a)
{
    return dae_graph_scale(g, factor, dae_graph_divide(g, number(g, 1), a));
}

/* d atan2(a,b): b/(a^2+b^2), -a/(a^2+b^2) */
static int angle(dae_graph *g, int a, int b, int k)
{
    int q = dae_graph_add(g, dae_graph_multiply(g, a, a), dae_graph_multiply(g, b, b));
    return k == 0 ? dae_graph_divide(g, b, q) : dae_graph_scale(g, -1, dae_graph_divide(g, a, q));
}

/* The derivative of smoothstep(x,a,b), s = (x-a)/(b-a):  6 s (1-s)/(b-a) times 1, -(1-s), -s between a and b. */
static int smooth(dae_graph *g, dae_node n, int k)
{
    int w = dae_graph_subtract(g, n.c, n.b), s = dae_graph_divide(g, dae_graph_subtract(g, n.a, n.b), w);
    int r = dae_graph_sum(g, 1, 1, (dae_term[]){{s, -1}}), p = dae_graph_multiply(g, s, r);
    int slope = dae_graph_scale(g, 6, dae_graph_divide(g, p, w));
    if (k > 0) slope = dae_graph_scale(g, -1, dae_graph_multiply(g, slope, k == 1 ? r : s));
    int inside = dae_graph_apply(g, OP_LT, 0, p, 0); /* node 0 is the number 0 */
    return dae_graph_literal(g, dae_graph_if(g, inside, slope, 0));
}

static int power(dae_graph *g, int node, dae_node n, int k)
{
    if (k == 1) return dae_graph_multiply(g, node, dae_graph_apply(g, OP_LOG, n.a, 0, 0));
    int lower = dae_graph_power(g, n.a, dae_graph_sum(g, -1, 1, (dae_term[]){{n.b, 1}}));
    return dae_graph_multiply(g, n.b, lower);
}

/* The partial derivative of a node by its k-th operand (not of sums). Kinks are taken literally: the value's own node is
 * what is switched. */
static int partial(dae_graph *g, int node, int k)
{
    dae_node n = g->node[node];
    int condition;
    switch (n.op) {
    case OP_MUL: return k == 0 ? n.b : n.a;
    case OP_DIV:
        return k == 0 ? reciprocal(g, 1, n.b) : dae_graph_scale(g, -1, dae_graph_divide(g, node, n.b));
    case OP_POWI: return dae_graph_scale(g, n.c, dae_graph_power(g, n.a, number(g, n.c - 1)));
    case OP_PIECE: return k == 0 ? dae_graph_piece(g, n.c / 4, n.a, n.b, n.c % 4 + 1) : 0;
    case OP_CURVE: return dae_graph_curve(g, n.b, n.a, n.c + 1);
    case OP_LITERAL: return number(g, 1);
    case OP_SIN: return dae_graph_apply(g, OP_COS, n.a, 0, 0);
    case OP_COS: return dae_graph_scale(g, -1, dae_graph_apply(g, OP_SIN, n.a, 0, 0));
    case OP_TAN: return square(g, 1, 1, node);
    case OP_ASIN: return reciprocal(g, 1, dae_graph_apply(g, OP_SQRT, square(g, 1, -1, n.a), 0, 0));
    case OP_ACOS: return reciprocal(g, -1, dae_graph_apply(g, OP_SQRT, square(g, 1, -1, n.a), 0, 0));
    case OP_ATAN: return reciprocal(g, 1, square(g, 1, 1, n.a));
    case OP_ATAN2: return angle(g, n.a, n.b, k);
    case OP_SINH: return dae_graph_apply(g, OP_COSH, n.a, 0, 0);
    case OP_COSH: return dae_graph_apply(g, OP_SINH, n.a, 0, 0);
    case OP_TANH: return square(g, 1, -1, node);
    case OP_EXP: return node;
    case OP_LOG: return reciprocal(g, 1, n.a);
    case OP_LOG10: return reciprocal(g, LN10_INVERSE, n.a);
    case OP_SQRT: return reciprocal(g, 0.5, node);
    case OP_CBRT: return reciprocal(g, 1.0 / 3, dae_graph_multiply(g, node, node));
    case OP_ABS: return dae_graph_literal(g, dae_graph_apply(g, OP_SIGN, n.a, 0, 0));
    case OP_MIN:
    case OP_MAX:
        condition =
            n.op == OP_MIN ? dae_graph_apply(g, OP_LT, n.a, n.b, 0) : dae_graph_apply(g, OP_LT, n.b, n.a, 0);
        return dae_graph_literal(g, dae_graph_if(g, condition, number(g, k == 0), number(g, k == 1)));
    case OP_POW: return power(g, node, n, k);
    case OP_MOD:
        if (k == 0) return number(g, 1);
        return dae_graph_literal(
            g, dae_graph_scale(g, -1, dae_graph_apply(g, OP_FLOOR, dae_graph_divide(g, n.a, n.b), 0, 0)));
    case OP_HYPOT: return dae_graph_divide(g, k == 0 ? n.a : n.b, node);
    case OP_SMOOTH: return smooth(g, n, k);
    case OP_IF:
        return k == 0 ? 0 : dae_graph_literal(g, dae_graph_if(g, n.a, number(g, k == 1), number(g, k == 2)));
    default: return 0; /* comparisons, floor, sign, step: zero */
    }
}

/* ---- By time ------------------------------------------------------------------------------------- */

/* D of a node whose operands have theirs. An `if` keeps its two branches apart: if c then a' else b'. */
static int rate_of(dae_graph *g, int node, dae_term **room, int *capacity)
{
    dae_node n = g->node[node];
    if (n.op == OP_TIME) return number(g, 1);
    if (n.op == OP_VARIABLE) return dae_graph_variable(g, n.a, n.b + 1);
    if (n.op >= OP_NUMBER && n.op < OP_VARIABLE) return 0;
    int rb = n.op == OP_IF ? g->rate[n.b] - 1 : 0, rc = n.op == OP_IF ? g->rate[n.c] - 1 : 0, count = 0, m;
    if (n.op == OP_IF) return dae_graph_if(g, n.a, rb, rc);
    for (int k = 0; (m = dae_graph_operand(g, node, k)) >= 0; k++) {
        int r = g->rate[m] - 1;
        if (r == 0) continue;
        if (!dae_graph_grow((void **)room, capacity, count + 1, sizeof **room))
            return g->failed = DAE_GRAPH_STARVED, 0;
        double f = n.op == OP_ADD ? g->term[n.a + k].factor : 1;
        if (n.op != OP_ADD) r = dae_graph_multiply(g, partial(g, node, k), r);
        (*room)[count++] = (dae_term){r, f};
    }
    int sum = dae_graph_sum(g, 0, count, *room);
    return n.op == OP_LITERAL ? dae_graph_literal(g, sum) : sum;
}

int dae_graph_derivative(dae_graph *g, int node)
{
    int *list, count, capacity = 0;
    dae_term *room = NULL;
    if (g->failed) return 0;
    if (node < g->nrate && g->rate[node]) return g->rate[node] - 1;
    count = dae_graph_reach(g, 1, &node, &list);
    if (count < 0) return g->failed = DAE_GRAPH_STARVED, 0;
    if (node >= g->nrate) {
        int have = g->nrate;
        if (!dae_graph_grow((void **)&g->rate, &have, node + 1, sizeof *g->rate)) {
            free(list);
            return g->failed = DAE_GRAPH_STARVED, 0;
        }
        memset(g->rate + g->nrate, 0, (size_t)(have - g->nrate) * sizeof *g->rate);
        g->nrate = have;
    }
    for (int i = 0; i < count && !g->failed; i++) {
        if (!g->rate[list[i]]) g->rate[list[i]] = rate_of(g, list[i], &room, &capacity) + 1;
    }
    free(room);
    free(list);
    return g->failed ? 0 : g->rate[node] - 1;
}

/* ---- By leaves ----------------------------------------------------------------------------------- */

/* Contributions to the adjoint of each node of the list: a linked list of terms. */
typedef struct adjoint {
    int count, capacity;
    struct {
        dae_term term;
        int next;
    } * link;
    int *head; /* per node of the list, -1: none */
    dae_term *room;
    int room_capacity;
} adjoint;

static int contribute(dae_graph *g, adjoint *a, int place, int node, double factor)
{
    if (node == 0 || factor == 0) return 1;
    if (!dae_graph_grow((void **)&a->link, &a->capacity, a->count + 1, sizeof *a->link))
        return g->failed = DAE_GRAPH_STARVED, 0;
    a->link[a->count].term = (dae_term){node, factor};
    a->link[a->count].next = a->head[place];
    a->head[place] = a->count++;
    return 1;
}

static int adjoint_of(dae_graph *g, adjoint *a, int place)
{
    int n = 0;
    for (int k = a->head[place]; k >= 0; k = a->link[k].next) {
        if (!dae_graph_grow((void **)&a->room, &a->room_capacity, n + 1, sizeof *a->room))
            return g->failed = DAE_GRAPH_STARVED, 0;
        a->room[n++] = a->link[k].term;
    }
    return dae_graph_sum(g, 0, n, a->room);
}

static int find_place(int n, const int *list, int node)
{
    int lo = 0, hi = n - 1;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (list[mid] < node) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

static int is_wanted(const dae_graph *g, int node, const unsigned char *wanted, int nwanted)
{
    int op = g->node[node].op;
    if (wanted) return node < nwanted && wanted[node];
    return op == OP_VARIABLE || op == OP_TIME;
}

enum { max_branch_depth = 100 }; /* of conditions inside conditions that are kept apart */

/* Gradients of branches that were found already. */
typedef struct branch_gradient {
    int node, count;
    dae_partial *partial;
} branch_gradient;

typedef struct gradients {
    const unsigned char *wanted;
    int nwanted;
    int count, capacity, depth;
    branch_gradient *branch;
} gradients;

static int gradient_of(dae_graph *g, int node, gradients *all, dae_partial **out);

/* Can a derivative inside be infinite or undefined where the other branch holds? 0 times that would not be 0. */
static int has_poles(const dae_graph *g, int node)
{
    int *list, count = dae_graph_reach(g, 1, &node, &list), yes = 0;
    for (int i = 0; i < count && !yes; i++) {
        switch (g->node[list[i]].op) {
        case OP_DIV:
        case OP_SQRT:
        case OP_LOG:
        case OP_LOG10:
        case OP_POW:
        case OP_POWI:
        case OP_ASIN:
        case OP_ACOS:
        case OP_CBRT:
        case OP_ATAN2:
        case OP_HYPOT:
        case OP_EXP:
        case OP_CURVE: yes = 1; break;
        default: break;
        }
    }
    free(list);
    return yes || count < 0;
}

/* The number of the remembered gradient of a branch, -1: no memory. */
static int remembered(dae_graph *g, int node, gradients *all)
{
    dae_partial *p;
    for (int k = 0; k < all->count; k++) {
        if (all->branch[k].node == node) return k;
    }
    all->depth++;
    int n = gradient_of(g, node, all, &p);
    all->depth--;
    if (n < 0) return -1;
    if (!dae_graph_grow((void **)&all->branch, &all->capacity, all->count + 1, sizeof *all->branch)) {
        free(p);
        return g->failed = DAE_GRAPH_STARVED, -1;
    }
    all->branch[all->count] = (branch_gradient){node, n, p};
    return all->count++;
}

/* The adjoint of an `if` goes to the leaves at once: if c then da/dx else db/dx. */
static void spread_if(dae_graph *g, adjoint *a, int count, const int *list, dae_node n, int bar,
                      gradients *all)
{
    int yes = remembered(g, n.b, all), no = yes < 0 ? -1 : remembered(g, n.c, all);
    if (no < 0) return;
    for (int i = 0, j = 0; !g->failed && (i < all->branch[yes].count || j < all->branch[no].count);) {
        const branch_gradient *u = &all->branch[yes], *v = &all->branch[no];
        int left = i < u->count ? u->partial[i].leaf : v->partial[j].leaf,
            right = j < v->count ? v->partial[j].leaf : left, leaf = left < right ? left : right;
        int du = i < u->count && u->partial[i].leaf == leaf ? u->partial[i++].derivative : 0;
        int dv = j < v->count && v->partial[j].leaf == leaf ? v->partial[j++].derivative : 0;
        int d = dae_graph_literal(g, dae_graph_if(g, n.a, du, dv));
        contribute(g, a, find_place(count, list, leaf), dae_graph_multiply(g, bar, d), 1);
    }
}

static void spread(dae_graph *g, adjoint *a, int count, const int *list, int i, const unsigned char *active,
                   gradients *all)
{
    int node = list[i], bar = adjoint_of(g, a, i), m;
    dae_node n = g->node[node];
    if (bar == 0) return;
    if (n.op == OP_IF && all->depth < max_branch_depth && (has_poles(g, n.b) || has_poles(g, n.c))) {
        spread_if(g, a, count, list, n, bar, all);
        return;
    }
    for (int k = 0; !g->failed && (m = dae_graph_operand(g, node, k)) >= 0; k++) {
        int place = find_place(count, list, m);
        if (!active[place]) continue;
        if (n.op == OP_ADD) contribute(g, a, place, bar, g->term[n.a + k].factor);
        else contribute(g, a, place, dae_graph_multiply(g, bar, partial(g, node, k)), 1);
    }
}

static int gradient_of(dae_graph *g, int node, gradients *all, dae_partial **out)
{
    adjoint a = {0};
    int *list = NULL, count = dae_graph_reach(g, 1, &node, &list), found = 0, m;
    unsigned char *active = count > 0 ? calloc((size_t)count, 1) : NULL;
    *out = NULL;
    a.head = count > 0 ? malloc((size_t)count * sizeof *a.head) : NULL;
    if (active && a.head) {
        for (int i = 0; i < count; i++) { /* active: depends on a wanted leaf */
            a.head[i] = -1;
            active[i] = (unsigned char)is_wanted(g, list[i], all->wanted, all->nwanted);
            for (int k = 0; !active[i] && (m = dae_graph_operand(g, list[i], k)) >= 0; k++)
                active[i] = active[find_place(count, list, m)];
        }
        *out = malloc((size_t)count * sizeof **out);
        contribute(g, &a, count - 1, number(g, 1), 1);
        for (int i = count - 1; *out && i >= 0 && !g->failed; i--) {
            if (active[i] && !is_wanted(g, list[i], all->wanted, all->nwanted))
                spread(g, &a, count, list, i, active, all);
        }
        for (int i = 0; *out && i < count && !g->failed; i++) {
            if (!is_wanted(g, list[i], all->wanted, all->nwanted)) continue;
            int d = adjoint_of(g, &a, i);
            if (d != 0) (*out)[found++] = (dae_partial){list[i], d};
        }
    }
    int good = active && a.head && *out && !g->failed;
    free(active);
    free(a.head);
    free(a.link);
    free(a.room);
    free(list);
    if (good) return found;
    g->failed = DAE_GRAPH_STARVED;
    free(*out);
    *out = NULL;
    return -1;
}

int dae_graph_gradient_by(dae_graph *g, int node, const unsigned char *wanted, int nwanted, dae_partial **out)
{
    gradients all = {.wanted = wanted, .nwanted = nwanted};
    int found = gradient_of(g, node, &all, out);
    for (int k = 0; k < all.count; k++) free(all.branch[k].partial);
    free(all.branch);
    return found;
}

int dae_graph_gradient(dae_graph *g, int node, dae_partial **out)
{
    return dae_graph_gradient_by(g, node, NULL, 0, out);
}
