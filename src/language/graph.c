/* The graph of expressions, see graph.h: nodes in one array, found again by a hash table with open addressing. */
#include "language/graph_parts.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Life ---------------------------------------------------------------------------------------- */

dae_graph *dae_graph_create(void)
{
    dae_graph *g = calloc(1, sizeof *g);
    if (!g) return NULL;
    dae_graph_number(g, 0); /* node 0, also what a failed builder returns */
    if (!g->failed) return g;
    dae_graph_destroy(g);
    return NULL;
}

void dae_graph_destroy(dae_graph *g)
{
    if (!g) return;
    for (int i = 0; i < g->ncurve; i++) dae_curve_destroy(g->curve[i]);
    free(g->curve);
    free(g->node);
    free(g->term);
    free(g->hash);
    free(g->table);
    free(g->rate);
    free(g->scratch);
    free(g);
}

int dae_graph_failed(const dae_graph *g)
{
    return g->failed;
}

void dae_graph_starve(dae_graph *g)
{
    g->failed = DAE_GRAPH_STARVED;
}

int dae_graph_count(const dae_graph *g)
{
    return g->nnode;
}

dae_node dae_graph_node(const dae_graph *g, int node)
{
    return g->node[node];
}

const dae_term *dae_graph_terms(const dae_graph *g, int node)
{
    return g->term + g->node[node].a;
}

int dae_graph_is_number(const dae_graph *g, int node, double *value)
{
    if (g->node[node].op != OP_NUMBER) return 0;
    if (value) *value = g->node[node].value;
    return 1;
}

int dae_graph_arity(int op)
{
    switch (op) {
    case OP_MUL:
    case OP_DIV:
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_NE:
    case OP_AND:
    case OP_OR:
    case OP_PIECE: return 2;
    case OP_POWI:
    case OP_NOT:
    case OP_CURVE:
    case OP_LITERAL: return 1;
#define X(name, id, n) \
    case OP_##id: return n;
        DAE_EXPRESSION_FUNCTIONS(X)
#undef X
    default: return 0;
    }
}

int dae_graph_operand(const dae_graph *g, int node, int k)
{
    const dae_node *n = &g->node[node];
    if (n->op == OP_ADD) return k < n->b ? g->term[n->a + k].node : -1;
    if (k >= dae_graph_arity(n->op)) return -1;
    return k == 0 ? n->a : k == 1 ? n->b : n->c;
}

/* ---- The table ----------------------------------------------------------------------------------- */

static unsigned mix(unsigned h, unsigned x)
{
    h = (h ^ x) * 0x9e3779b1u;
    return h ^ (h >> 15);
}

static unsigned mix_real(unsigned h, double x)
{
    unsigned part[2];
    memcpy(part, &x, sizeof part);
    return mix(mix(h, part[0]), part[1]);
}

static unsigned hash(const dae_node *n, const dae_term *term)
{
    unsigned h = mix_real(mix(17, (unsigned)n->op), n->value);
    if (n->op != OP_ADD) return mix(mix(mix(h, (unsigned)n->a), (unsigned)n->b), (unsigned)n->c);
    for (int i = 0; i < n->b; i++) h = mix_real(mix(h, (unsigned)term[i].node), term[i].factor);
    return h;
}

static int same_real(double a, double b)
{
    return !memcmp(&a, &b, sizeof a); /* NaN is itself */
}

static int same_node(const dae_graph *g, const dae_node *m, const dae_node *n, const dae_term *term)
{
    if (m->op != n->op || m->b != n->b || !same_real(m->value, n->value)) return 0;
    if (n->op != OP_ADD) return m->a == n->a && m->c == n->c;
    for (int i = 0; i < n->b; i++) {
        const dae_term *t = &g->term[m->a + i];
        if (t->node != term[i].node || !same_real(t->factor, term[i].factor)) return 0;
    }
    return 1;
}

int dae_graph_grow(void **array, int *capacity, int needed, size_t size)
{
    if (needed <= *capacity) return 1;
    size_t next = (size_t)(*capacity ? *capacity : 64);
    while (next < (size_t)needed) next *= 2;
    void *p = realloc(*array, next * size);
    if (!p) return 0;
    *array = p;
    *capacity = (int)next;
    return 1;
}

static int rehash(dae_graph *g)
{
    unsigned size = g->mask ? 2 * (g->mask + 1) : 256;
    int *table = malloc(size * sizeof *table);
    if (!table) return 0;
    memset(table, -1, size * sizeof *table);
    for (int i = 0; i < g->nnode; i++) {
        unsigned k = g->hash[i] & (size - 1);
        while (table[k] >= 0) k = (k + 1) & (size - 1);
        table[k] = i;
    }
    free(g->table);
    g->table = table;
    g->mask = size - 1;
    return 1;
}

/* The node equal to *n, made if there is none. Terms of a sum are in term[]. */
static int intern(dae_graph *g, dae_node n, const dae_term *term)
{
    if (g->failed) return 0;
    if (n.value == 0) n.value = 0; /* no -0 */
    if (2 * (unsigned)g->nnode >= g->mask && !rehash(g)) return g->failed = DAE_GRAPH_STARVED, 0;
    unsigned h = hash(&n, term), k = h & g->mask;
    for (; g->table[k] >= 0; k = (k + 1) & g->mask) {
        int i = g->table[k];
        if (g->hash[i] == h && same_node(g, &g->node[i], &n, term)) return i;
    }
    int terms = n.op == OP_ADD ? n.b : 0, room = g->node_capacity;
    if (g->nnode >= DAE_GRAPH_MAX_NODES || g->nterm > 3 * DAE_GRAPH_MAX_NODES - terms)
        return g->failed = DAE_GRAPH_FULL, 0;
    if (!dae_graph_grow((void **)&g->node, &g->node_capacity, g->nnode + 1, sizeof *g->node) ||
        !dae_graph_grow((void **)&g->hash, &room, g->nnode + 1, sizeof *g->hash) ||
        !dae_graph_grow((void **)&g->term, &g->term_capacity, g->nterm + terms, sizeof *g->term))
        return g->failed = DAE_GRAPH_STARVED, 0;
    if (n.op == OP_ADD) {
        memcpy(g->term + g->nterm, term, (size_t)terms * sizeof *term);
        n.a = g->nterm;
        g->nterm += terms;
    }
    g->node[g->nnode] = n;
    g->hash[g->nnode] = h;
    return g->table[k] = g->nnode++;
}

/* ---- Leaves -------------------------------------------------------------------------------------- */

int dae_graph_number(dae_graph *g, double value)
{
    return intern(g, (dae_node){.op = OP_NUMBER, .value = value}, NULL);
}

int dae_graph_time(dae_graph *g)
{
    return intern(g, (dae_node){.op = OP_TIME}, NULL);
}

int dae_graph_parameter(dae_graph *g, int p)
{
    return intern(g, (dae_node){.op = OP_PARAMETER, .a = p}, NULL);
}

int dae_graph_discrete(dae_graph *g, int d)
{
    return intern(g, (dae_node){.op = OP_DISCRETE, .a = d}, NULL);
}

int dae_graph_variable(dae_graph *g, int j, int order)
{
    return intern(g, (dae_node){.op = OP_VARIABLE, .a = j, .b = order}, NULL);
}

/* ---- Sums ---------------------------------------------------------------------------------------- */

static int by_node(const void *a, const void *b)
{
    int x = ((const dae_term *)a)->node, y = ((const dae_term *)b)->node;
    return (x > y) - (x < y);
}

static void sort_terms(int n, dae_term *t)
{
    if (n > 24) {
        qsort(t, (size_t)n, sizeof *t, by_node);
        return;
    }
    for (int i = 1; i < n; i++) {
        dae_term x = t[i];
        int k = i;
        for (; k > 0 && t[k - 1].node > x.node; k--) t[k] = t[k - 1];
        t[k] = x;
    }
}

enum { max_nested = 1000, max_written_out = 100000 }; /* sums in sums; terms of one sum */

/* Numbers are taken together only as long as that can neither overflow nor underflow where the values themselves do not:
 * (x/1e-12)^30 is not 1e360 x^30. */
static int moderate(double factor)
{
    return fabs(factor) > 1e-150 && fabs(factor) < 1e150;
}

static int may_scale(const dae_graph *g, dae_node sum, double factor)
{
    if (fabs(factor) == 1) return 1;
    if (sum.value != 0 && !moderate(factor * sum.value)) return 0;
    for (int i = 0; i < sum.b; i++) {
        double f = g->term[sum.a + i].factor;
        if (fabs(f) != 1 && !moderate(factor * f)) return 0;
    }
    return 1;
}

/* Appends factor*node to the scratch terms, sums up to `limit` terms written out. */
static void append(dae_graph *g, int *n, double *constant, int node, double factor, int limit, int depth)
{
    dae_node x = g->node[node];
    if (factor == 0) return;
    if (x.op == OP_NUMBER) {
        *constant += factor * x.value;
    } else if (x.op == OP_ADD && x.b <= limit && depth < max_nested && *n < max_written_out &&
               may_scale(g, x, factor)) {
        *constant += factor * x.value;
        for (int i = 0; i < x.b; i++) {
            dae_term t = g->term[x.a + i];
            append(g, n, constant, t.node, factor * t.factor, limit, depth + 1);
        }
    } else if (dae_graph_grow((void **)&g->scratch, &g->scratch_capacity, *n + 1, sizeof *g->scratch)) {
        g->scratch[(*n)++] = (dae_term){node, factor};
    } else {
        g->failed = DAE_GRAPH_STARVED;
    }
}

/* Equal nodes collected; what is left of a cancellation after rounding is dropped. */
static int collect(int n, dae_term *t)
{
    int out = 0;
    for (int i = 0; i < n;) {
        double sum = 0, largest = 0;
        int node = t[i].node;
        for (; i < n && t[i].node == node; i++) {
            sum += t[i].factor;
            if (fabs(t[i].factor) > largest) largest = fabs(t[i].factor);
        }
        if (fabs(sum) > 8 * DBL_EPSILON * largest || !isfinite(sum)) t[out++] = (dae_term){node, sum};
    }
    return out;
}

static int make_sum(dae_graph *g, double constant, int n, const dae_term *term, int limit)
{
    int m = 0;
    for (int i = 0; i < n && !g->failed; i++)
        append(g, &m, &constant, term[i].node, term[i].factor, limit, 0);
    if (g->failed) return 0;
    if (m > 1) sort_terms(m, g->scratch);
    m = collect(m, g->scratch);
    if (m == 0) return dae_graph_number(g, constant);
    if (m == 1 && constant == 0 && g->scratch[0].factor == 1) return g->scratch[0].node;
    return intern(g, (dae_node){.op = OP_ADD, .b = m, .value = constant}, g->scratch);
}

int dae_graph_sum(dae_graph *g, double constant, int n, const dae_term *term)
{
    return make_sum(g, constant, n, term, DAE_GRAPH_SHORT_SUM);
}

int dae_graph_expand(dae_graph *g, double constant, int n, const dae_term *term)
{
    return make_sum(g, constant, n, term, DAE_GRAPH_MAX_NODES);
}

int dae_graph_add(dae_graph *g, int a, int b)
{
    return dae_graph_sum(g, 0, 2, (dae_term[]){{a, 1}, {b, 1}});
}

int dae_graph_subtract(dae_graph *g, int a, int b)
{
    return dae_graph_sum(g, 0, 2, (dae_term[]){{a, 1}, {b, -1}});
}

int dae_graph_scale(dae_graph *g, double factor, int a)
{
    return dae_graph_sum(g, 0, 1, (dae_term[]){{a, factor}});
}

/* ---- Products ------------------------------------------------------------------------------------ */

/* node = factor * (what is returned). A sum gives its first factor where that is exact, so that 2a - 2b and b - a are the
 * same up to a number. */
static int take_factor(dae_graph *g, int node, double *factor)
{
    dae_node n = g->node[node];
    *factor = 1;
    if (n.op != OP_ADD) return node;
    double lead = g->term[n.a].factor;
    if (lead == 1) return node;
    if (n.b == 1 && n.value == 0) {
        *factor = lead;
        return g->term[n.a].node;
    }
    int exact = isfinite(lead) && n.value / lead * lead == n.value;
    for (int i = 0; i < n.b && exact; i++) {
        double f = g->term[n.a + i].factor;
        exact = f / lead * lead == f;
    }
    if (!exact && lead > 0) return node;
    if (!exact) lead = -1;
    *factor = lead;
    if (!dae_graph_grow((void **)&g->scratch, &g->scratch_capacity, n.b, sizeof *g->scratch)) {
        g->failed = DAE_GRAPH_STARVED;
        return 0;
    }
    for (int i = 0; i < n.b; i++)
        g->scratch[i] = (dae_term){g->term[n.a + i].node, g->term[n.a + i].factor / lead};
    return intern(g, (dae_node){.op = OP_ADD, .b = n.b, .value = n.value / lead}, g->scratch);
}

static int whole_power(dae_graph *g, int a, int n)
{
    double factor, value;
    if (n == 0) return dae_graph_number(g, 1);
    if (n == 1) return a;
    if (dae_graph_is_number(g, a, &value)) return dae_graph_number(g, pow(value, n));
    dae_node x = g->node[a];
    if (x.op == OP_ADD && x.b == 1 && x.value == 0) { /* (c x)^n = c^n x^n */
        int base = take_factor(g, a, &factor);
        if (!moderate(pow(factor, n))) return intern(g, (dae_node){.op = OP_POWI, .a = a, .c = n}, NULL);
        return dae_graph_scale(g, pow(factor, n), whole_power(g, base, n));
    }
    if (x.op == OP_POWI && (long)x.c * n > -1000 && (long)x.c * n < 1000) return whole_power(g, x.a, x.c * n);
    return intern(g, (dae_node){.op = OP_POWI, .a = a, .c = n}, NULL);
}

/* a = fa*(what it becomes), b = fb*(what it becomes), unless the numbers together leave the range: then as they are. */
static double take_factors(dae_graph *g, int *a, int *b, int divide)
{
    double fa, fb;
    int base_a = take_factor(g, *a, &fa), base_b = take_factor(g, *b, &fb);
    double factor = divide ? fa / fb : fa * fb;
    if (fabs(fa) != 1 && fabs(fb) != 1 && !moderate(factor)) return 1;
    *a = base_a;
    *b = base_b;
    return factor;
}

/* a = base^n */
static int base_of(const dae_graph *g, int a, int *n)
{
    *n = g->node[a].op == OP_POWI ? g->node[a].c : 1;
    return *n == 1 ? a : g->node[a].a;
}

int dae_graph_multiply(dae_graph *g, int a, int b)
{
    double x, y;
    int na, nb, product;
    if (g->failed) return 0;
    if (dae_graph_is_number(g, a, &x)) return dae_graph_scale(g, x, b);
    if (dae_graph_is_number(g, b, &y)) return dae_graph_scale(g, y, a);
    double factor = take_factors(g, &a, &b, 0);
    if (base_of(g, a, &na) == base_of(g, b, &nb) && (na > 0) == (nb > 0)) {
        product = whole_power(g, base_of(g, a, &na), na + nb);
    } else {
        product = intern(g, (dae_node){.op = OP_MUL, .a = a < b ? a : b, .b = a < b ? b : a}, NULL);
    }
    return factor == 1 ? product : dae_graph_scale(g, factor, product);
}

int dae_graph_divide(dae_graph *g, int a, int b)
{
    double x, fb, factor;
    if (g->failed) return 0;
    if (dae_graph_is_number(g, b, &x)) {
        double y;
        if (dae_graph_is_number(g, a, &y)) return dae_graph_number(g, y / x);
        return dae_graph_scale(g, 1 / x, a);
    }
    if (dae_graph_is_number(g, a, &x) && x == 0) return a;
    if (dae_graph_is_number(g, a, &x)) {
        int base = take_factor(g, b, &fb), one = dae_graph_number(g, 1);
        factor = x;
        if (fabs(x) == 1 || moderate(x / fb)) b = base, factor = x / fb;
        return dae_graph_scale(g, factor, intern(g, (dae_node){.op = OP_DIV, .a = one, .b = b}, NULL));
    }
    factor = take_factors(g, &a, &b, 1);
    if (a == b) return dae_graph_number(g, factor);
    int quotient = intern(g, (dae_node){.op = OP_DIV, .a = a, .b = b}, NULL);
    return factor == 1 ? quotient : dae_graph_scale(g, factor, quotient);
}

int dae_graph_power(dae_graph *g, int a, int b)
{
    double x, y;
    if (!dae_graph_is_number(g, b, &y)) return intern(g, (dae_node){.op = OP_POW, .a = a, .b = b}, NULL);
    if (dae_graph_is_number(g, a, &x)) return dae_graph_number(g, pow(x, y));
    if (y == floor(y) && fabs(y) <= 1000) return whole_power(g, a, (int)y);
    if (2 * y == floor(2 * y) && fabs(y) < 100) { /* x^(n + 1/2) = x^n sqrt(x): roots are cheap */
        int root = intern(g, (dae_node){.op = OP_SQRT, .a = a}, NULL), n = (int)floor(y);
        if (n >= 0) return n ? dae_graph_multiply(g, whole_power(g, a, n), root) : root;
        return dae_graph_divide(g, root, whole_power(g, a, -n));
    }
    return intern(g, (dae_node){.op = OP_POW, .a = a, .b = b}, NULL);
}

/* ---- Functions ----------------------------------------------------------------------------------- */

int dae_graph_if(dae_graph *g, int condition, int yes, int no)
{
    double c;
    if (dae_graph_is_number(g, condition, &c)) return c != 0 ? yes : no;
    if (yes == no) return yes;
    return intern(g, (dae_node){.op = OP_IF, .a = condition, .b = yes, .c = no}, NULL);
}

int dae_graph_literal(dae_graph *g, int a)
{
    int op = g->node[a].op;
    if (op >= OP_NUMBER && op <= OP_VARIABLE) return a;
    return op == OP_LITERAL ? a : intern(g, (dae_node){.op = OP_LITERAL, .a = a}, NULL);
}

/* Conditions with one side known. */
static int logic(dae_graph *g, int op, int a, int b)
{
    double x;
    if (!dae_graph_is_number(g, a, &x)) {
        int swap = a;
        a = b;
        b = swap;
    }
    if (dae_graph_is_number(g, a, &x)) {
        if (op == OP_AND) return x != 0 ? b : dae_graph_number(g, 0);
        return x != 0 ? dae_graph_number(g, 1) : b;
    }
    return a == b ? a : intern(g, (dae_node){.op = op, .a = a < b ? a : b, .b = a < b ? b : a}, NULL);
}

static int apply_known(dae_graph *g, int op, int n, const int *in)
{
    double x[3] = {0, 0, 0};
    for (int k = 0; k < n; k++) {
        if (!dae_graph_is_number(g, in[k], &x[k])) return -1;
    }
    return dae_graph_number(g, dae_expression_apply(&(dae_instruction){.op = op}, NULL, x[0], x[1], x[2]));
}

int dae_graph_apply(dae_graph *g, int op, int a, int b, int c)
{
    int n = dae_graph_arity(op), in[3] = {a, n > 1 ? b : 0, n > 2 ? c : 0};
    if (g->failed) return 0;
    switch (op) {
    case OP_ADD: return dae_graph_add(g, a, b);
    case OP_SUB: return dae_graph_subtract(g, a, b);
    case OP_NEG: return dae_graph_scale(g, -1, a);
    case OP_MUL: return dae_graph_multiply(g, a, b);
    case OP_DIV: return dae_graph_divide(g, a, b);
    case OP_POW: return dae_graph_power(g, a, b);
    case OP_IF: return dae_graph_if(g, a, b, c);
    case OP_GT: return dae_graph_apply(g, OP_LT, b, a, 0);
    case OP_GE: return dae_graph_apply(g, OP_LE, b, a, 0);
    case OP_LITERAL: return dae_graph_literal(g, a);
    default: break;
    }
    int known = apply_known(g, op, n, in);
    if (known >= 0) return known;
    if (op == OP_AND || op == OP_OR) return logic(g, op, a, b);
    if ((op == OP_MIN || op == OP_MAX) && a == b) return a;
    return intern(g, (dae_node){.op = op, .a = in[0], .b = in[1], .c = in[2]}, NULL);
}

/* ---- Curves -------------------------------------------------------------------------------------- */

int dae_graph_add_curve(dae_graph *g, dae_curve *curve)
{
    if (!curve || g->failed ||
        !dae_graph_grow((void **)&g->curve, &g->curve_capacity, g->ncurve + 1, sizeof *g->curve)) {
        dae_curve_destroy(curve);
        g->failed = DAE_GRAPH_STARVED;
        return 0;
    }
    g->curve[g->ncurve] = curve;
    return g->ncurve++;
}

int dae_graph_curve(dae_graph *g, int curve, int a, int order)
{
    double x;
    if (g->failed) return 0;
    int degree = g->curve[curve]->kind == DAE_CURVE_STEP     ? 0
                 : g->curve[curve]->kind == DAE_CURVE_LINEAR ? 1
                                                             : 3;
    if (order > degree) return 0;
    if (dae_graph_is_number(g, a, &x)) return dae_graph_number(g, dae_curve_value(g->curve[curve], x, order));
    return intern(g, (dae_node){.op = OP_CURVE, .a = a, .b = curve, .c = order}, NULL);
}

int dae_graph_piece(dae_graph *g, int curve, int a, int segment, int order)
{
    if (g->failed || order > 3) return 0;
    return intern(g, (dae_node){.op = OP_PIECE, .a = a, .b = segment, .c = 4 * curve + order}, NULL);
}

const dae_curve *dae_graph_get_curve(const dae_graph *g, int curve)
{
    return g->curve[curve];
}
