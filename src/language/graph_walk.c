/* Walks over a graph: what a node depends on, its value, its text, substitution of leaves. No recursion over the depth of
 * the graph where texts of users decide on it. */
#include "language/graph_parts.h"

#include "core/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* open: nodes inside OP_LITERAL are left out. */
static int reach(const dae_graph *g, int n, const int *root, int open, int **list)
{
    int count = 0, capacity = 0, *found = NULL, *set = NULL, slots = 0, used = 0;
    *list = NULL;
    /* An open table of the nodes seen: small reaches must not cost the size of the graph. */
    for (int done = -1; done < count; done++) {
        if (open && done >= 0 && g->node[found[done]].op == OP_LITERAL) continue;
        for (int k = 0;; k++) {
            int m = done < 0 ? (k < n ? root[k] : -1) : dae_graph_operand(g, found[done], k);
            if (m < 0) break;
            if (2 * (used + 1) > slots) {
                int next = slots ? 2 * slots : 64, *bigger = malloc((size_t)next * sizeof *bigger);
                if (!bigger) goto fail;
                memset(bigger, -1, (size_t)next * sizeof *bigger);
                for (int i = 0; i < count; i++) {
                    unsigned h = (unsigned)found[i] * 0x9e3779b1u & (unsigned)(next - 1);
                    while (bigger[h] >= 0) h = (h + 1) & (unsigned)(next - 1);
                    bigger[h] = found[i];
                }
                free(set);
                set = bigger;
                slots = next;
            }
            unsigned h = (unsigned)m * 0x9e3779b1u & (unsigned)(slots - 1);
            while (set[h] >= 0 && set[h] != m) h = (h + 1) & (unsigned)(slots - 1);
            if (set[h] == m) continue;
            if (!dae_graph_grow((void **)&found, &capacity, count + 1, sizeof *found)) goto fail;
            set[h] = found[count++] = m;
            used = count;
        }
    }
    free(set);
    if (count) qsort(found, (size_t)count, sizeof *found, ascending);
    *list = found;
    return count;
fail:
    free(set);
    free(found);
    return -1;
}

int dae_graph_reach(const dae_graph *g, int n, const int *root, int **list)
{
    return reach(g, n, root, 0, list);
}

int dae_graph_reach_switches(const dae_graph *g, int n, const int *root, int **list)
{
    return reach(g, n, root, 1, list);
}

/* Where `node` stands in the ascending list. */
static int place(int n, const int *list, int node)
{
    int lo = 0, hi = n - 1;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (list[mid] < node) lo = mid + 1;
        else hi = mid;
    }
    return lo;
}

/* The node again with operands in[]. */
static int rebuild(dae_graph *g, int node, const int *in)
{
    dae_node x = g->node[node];
    if (x.op == OP_POWI) return dae_graph_power(g, in[0], dae_graph_number(g, x.c));
    if (x.op == OP_CURVE) return dae_graph_curve(g, x.b, in[0], x.c);
    if (x.op == OP_PIECE) return dae_graph_piece(g, x.c / 4, in[0], in[1], x.c % 4);
    if (x.op != OP_ADD) return dae_graph_apply(g, x.op, in[0], in[1], in[2]);
    dae_term *t = malloc((size_t)x.b * sizeof *t);
    if (!t) return g->failed = DAE_GRAPH_STARVED, 0;
    for (int i = 0; i < x.b; i++) t[i] = (dae_term){in[i], g->term[x.a + i].factor};
    int sum = dae_graph_sum(g, x.value, x.b, t);
    free(t);
    return sum;
}

int dae_graph_rewrite(dae_graph *g, int n, int *root, dae_rewrite_fn *change, void *user)
{
    int *list, count = dae_graph_reach(g, n, root, &list), *map, *in, widest = 3;
    if (count < 0) return g->failed = DAE_GRAPH_STARVED, 0;
    for (int i = 0; i < count; i++) {
        if (g->node[list[i]].op == OP_ADD && g->node[list[i]].b > widest) widest = g->node[list[i]].b;
    }
    map = malloc(((size_t)count + (size_t)widest) * sizeof *map);
    if (!map) {
        free(list);
        return g->failed = DAE_GRAPH_STARVED, 0;
    }
    in = map + count;
    for (int i = 0; i < count && !g->failed; i++) {
        int changed = 0, m;
        memset(in, 0, 3 * sizeof *in);
        for (int k = 0; (m = dae_graph_operand(g, list[i], k)) >= 0; k++) {
            in[k] = map[place(count, list, m)];
            changed |= in[k] != m;
        }
        map[i] = change(g, list[i], in, user);
        if (map[i] < 0) map[i] = changed ? rebuild(g, list[i], in) : list[i];
    }
    for (int i = 0; i < n && !g->failed; i++) root[i] = map[place(count, list, root[i])];
    free(map);
    free(list);
    return !g->failed;
}

typedef struct exchange {
    int n;
    const int *from, *to;
} exchange;

static int exchange_leaf(dae_graph *g, int node, const int *in, void *user)
{
    const exchange *x = user;
    (void)g, (void)in;
    for (int k = 0; k < x->n; k++) {
        if (x->from[k] == node) return x->to[k];
    }
    return -1;
}

int dae_graph_substitute(dae_graph *g, int node, int n, const int *from, const int *to)
{
    exchange x = {n, from, to};
    return dae_graph_rewrite(g, 1, &node, exchange_leaf, &x) ? node : 0;
}

double dae_graph_value(dae_graph *g, int node, dae_leaf_fn *leaf, void *user)
{
    int *list, count = dae_graph_reach(g, 1, &node, &list);
    double *v = count > 0 ? malloc((size_t)count * sizeof *v) : NULL, result = NAN;
    for (int i = 0; v && i < count; i++) {
        const dae_node *x = &g->node[list[i]];
        if (x->op == OP_NUMBER) v[i] = x->value;
        else if (x->op > OP_NUMBER && x->op <= OP_VARIABLE) v[i] = leaf ? leaf(x, user) : NAN;
        else if (x->op == OP_ADD) {
            v[i] = x->value;
            for (int k = 0; k < x->b; k++)
                v[i] += g->term[x->a + k].factor * v[place(count, list, g->term[x->a + k].node)];
        } else {
            double in[3] = {0, 0, 0};
            for (int k = 0; k < dae_graph_arity(x->op); k++)
                in[k] = v[place(count, list, dae_graph_operand(g, list[i], k))];
            if (x->op == OP_LITERAL) v[i] = in[0];
            else if (x->op == OP_PIECE)
                v[i] = dae_curve_piece(g->curve[x->c / 4], (int)in[1], in[0], x->c % 4);
            else if (x->op == OP_CURVE) v[i] = dae_curve_value(g->curve[x->b], in[0], x->c);
            else
                v[i] = dae_expression_apply(&(dae_instruction){.op = x->op, .c = x->c}, NULL, in[0], in[1],
                                            in[2]);
        }
        result = v[i];
    }
    if (!v) g->failed = DAE_GRAPH_STARVED;
    free(v);
    free(list);
    return result;
}

/* ---- Text ---------------------------------------------------------------------------------------- */

typedef struct writer {
    const dae_graph *g;
    dae_leaf_name_fn *name;
    void *user;
    char *out;
    size_t size, used;
    int full;
} writer;

static void put(writer *w, const char *text)
{
    size_t n = strlen(text);
    if (w->full || w->used + n + 4 >= w->size) {
        if (!w->full) strcpy(w->out + w->used, "...");
        w->full = 1;
        return;
    }
    memcpy(w->out + w->used, text, n + 1);
    w->used += n;
}

static void put_number(writer *w, double x)
{
    char text[32];
    dae_snprintf(text, sizeof text, "%.10g", x);
    put(w, text);
}

static void put_leaf(writer *w, const dae_node *n)
{
    char text[24];
    const char *name = w->name && n->op != OP_TIME ? w->name(n, w->user) : NULL;
    snprintf(text, sizeof text, "%c%d",
             n->op == OP_PARAMETER  ? 'p'
             : n->op == OP_DISCRETE ? 'd'
                                    : 'x',
             n->a + 1);
    put(w, n->op == OP_TIME ? "t" : name ? name : text);
    for (int i = 0; n->op == OP_VARIABLE && i < n->b; i++) put(w, "'");
}

static const char *function_name(int op)
{
    switch (op) {
#define X(text, id, n) \
    case OP_##id: return text;
        DAE_EXPRESSION_FUNCTIONS(X)
#undef X
    default: return op == OP_NOT ? "not" : op == OP_CURVE || op == OP_PIECE ? "table" : "noevent";
    }
}

static const char *sign_of_operation(int op)
{
    static const char *const sign[] = {
        [OP_MUL] = "*",   [OP_DIV] = "/",   [OP_LT] = " < ",    [OP_LE] = " <= ",
        [OP_EQ] = " == ", [OP_NE] = " != ", [OP_AND] = " and ", [OP_OR] = " or "};
    return op < (int)(sizeof sign / sizeof *sign) ? sign[op] : NULL;
}

/* tight: 0 nothing around it, 1 a factor, 2 the base of a power. */
static void put_node(writer *w, int node, int tight)
{
    dae_node n = w->g->node[node];
    const char *sign = sign_of_operation(n.op);
    if (w->full) return;
    if (n.op == OP_NUMBER) {
        put_number(w, n.value);
    } else if (n.op > OP_NUMBER && n.op <= OP_VARIABLE) {
        put_leaf(w, &n);
    } else if (n.op == OP_ADD) {
        if (tight) put(w, "(");
        for (int i = 0; i < n.b && !w->full; i++) {
            dae_term t = w->g->term[n.a + i];
            double f = fabs(t.factor);
            put(w, i == 0 ? (t.factor < 0 ? "-" : "") : t.factor < 0 ? " - " : " + ");
            if (f != 1) put_number(w, f), put(w, "*");
            put_node(w, t.node, 1);
        }
        if (n.value != 0) put(w, n.value < 0 ? " - " : " + "), put_number(w, fabs(n.value));
        if (tight) put(w, ")");
    } else if (sign) {
        int brackets = tight == 2 || (tight && n.op > OP_DIV);
        if (brackets) put(w, "(");
        put_node(w, n.a, 1);
        put(w, sign);
        put_node(w, n.b, n.op == OP_DIV ? 2 : 1);
        if (brackets) put(w, ")");
    } else if (n.op == OP_POWI) {
        put_node(w, n.a, 2);
        put(w, "^");
        put_number(w, n.c);
    } else {
        put(w, function_name(n.op));
        put(w, "(");
        for (int k = 0; k < dae_graph_arity(n.op); k++) {
            if (k) put(w, ", ");
            put_node(w, k == 0 ? n.a : k == 1 ? n.b : n.c, 0);
        }
        put(w, ")");
    }
}

void dae_graph_text(const dae_graph *g, int node, dae_leaf_name_fn *name, void *user, char *out, size_t size)
{
    writer w = {.g = g, .name = name, .user = user, .out = out, .size = size};
    if (size < 8) return;
    out[0] = 0;
    put_node(&w, node, 0); /* ends when the text is full: no deeper than size */
}
