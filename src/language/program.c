/* From a graph to a program, see program.h: nodes become operations (short powers are products, sums of two are plain
 * additions), each gets its level, and operations are sorted by level, kind and operands. */
#include "language/program_parts.h"

#include "language/graph_parts.h"
#include "language/native.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { max_product_power = 8, min_dense = 8 };

/* An operation before the registers are known. Values are numbered: inputs, constants, then operations as they come. */
typedef struct operation {
    int op, level, terms, first; /* operands: operand[first + k] */
    int extra;
    double constant; /* OP_LINEAR */
    int id;
} operation;

typedef struct maker {
    const dae_graph *g;
    dae_program *p;
    int failed;
    operation *code;
    int ncode, code_capacity;
    int *operand;
    double *factor;
    int noperand, operand_capacity, factor_capacity;
    int constant_capacity;
    int *value; /* value number of each reached node */
    int *level; /* of each value number: < 0 before operations */
} maker;

enum { constant_tag = 1 << 30 };

static int constant_value(maker *m, double x)
{
    dae_program *p = m->p;
    for (int i = 0; i < p->nconstant && i < 64;
         i++) { /* a short search: most constants are factors and not here */
        if (!memcmp(&p->constant[i], &x, sizeof x)) return constant_tag | i;
    }
    if (!dae_graph_grow((void **)&p->constant, &m->constant_capacity, p->nconstant + 1, sizeof x))
        return m->failed = 1, 0;
    p->constant[p->nconstant] = x;
    return constant_tag | p->nconstant++;
}

/* Values: input k is k, constants are tagged, operation k is ninput + k. */
static int level_of(const maker *m, int value)
{
    return value & constant_tag || value < m->p->ninput ? 0 : m->code[value - m->p->ninput].level;
}

static int emit(maker *m, int op, int terms, const int *in, const double *factor, double constant, int extra)
{
    int level = 0, capacity = m->operand_capacity;
    if (m->failed || !dae_graph_grow((void **)&m->code, &m->code_capacity, m->ncode + 1, sizeof *m->code) ||
        !dae_graph_grow((void **)&m->operand, &m->operand_capacity, m->noperand + terms,
                        sizeof *m->operand) ||
        !dae_graph_grow((void **)&m->factor, &capacity, m->noperand + terms, sizeof *m->factor))
        return m->failed = 1, 0;
    for (int k = 0; k < terms; k++) {
        if (level_of(m, in[k]) > level) level = level_of(m, in[k]);
        m->operand[m->noperand + k] = in[k];
        m->factor[m->noperand + k] = factor ? factor[k] : 1;
    }
    m->code[m->ncode] = (operation){.op = op,
                                    .level = level + 1,
                                    .terms = terms,
                                    .first = m->noperand,
                                    .extra = extra,
                                    .constant = constant,
                                    .id = m->ncode};
    m->noperand += terms;
    return m->p->ninput + m->ncode++;
}

static int emit2(maker *m, int op, int a, int b)
{
    return emit(m, op, 2, (int[]){a, b}, NULL, 0, 0);
}

/* x^n by products, x^-n as 1/x^n. */
static int emit_power(maker *m, int x, int n)
{
    int whole = n < 0 ? -n : n, result = -1, square = x;
    if (whole > max_product_power) return emit(m, OP_POWI, 1, &x, NULL, 0, n);
    for (int k = whole; k; k >>= 1) {
        if (k & 1) result = result < 0 ? square : emit2(m, OP_MUL, result, square);
        if (k > 1) square = emit2(m, OP_MUL, square, square);
    }
    return n < 0 ? emit2(m, OP_DIV, constant_value(m, 1), result) : result;
}

static int emit_sum(maker *m, const dae_node *n, const int *in)
{
    const dae_term *t = m->g->term + n->a;
    double *factor;
    if (n->b == 1 && n->value == 0) {
        if (t[0].factor == -1) return emit(m, OP_NEG, 1, in, NULL, 0, 0);
        return emit2(m, OP_MUL, constant_value(m, t[0].factor), in[0]);
    }
    if (n->b == 2 && n->value == 0) {
        if (t[0].factor == 1 && t[1].factor == 1) return emit2(m, OP_ADD, in[0], in[1]);
        if (t[0].factor == 1 && t[1].factor == -1) return emit2(m, OP_SUB, in[0], in[1]);
        if (t[0].factor == -1 && t[1].factor == 1) return emit2(m, OP_SUB, in[1], in[0]);
    }
    if (n->b == 1 && fabs(t[0].factor) == 1)
        return emit2(m, t[0].factor > 0 ? OP_ADD : OP_SUB, constant_value(m, n->value), in[0]);
    factor = malloc((size_t)n->b * sizeof *factor);
    if (!factor) return m->failed = 1, 0;
    for (int k = 0; k < n->b; k++) factor[k] = t[k].factor;
    int v = emit(m, OP_LINEAR, n->b, in, factor, n->value, 0);
    free(factor);
    return v;
}

static int emit_node(maker *m, int node, const int *in)
{
    const dae_node *n = &m->g->node[node];
    switch (n->op) {
    case OP_NUMBER: return constant_value(m, n->value);
    case OP_LITERAL: return in[0];
    case OP_ADD: return emit_sum(m, n, in);
    case OP_POWI: return emit_power(m, in[0], n->c);
    case OP_PIECE: return emit(m, OP_PIECE, 2, in, NULL, 0, n->c);
    case OP_CURVE: return emit(m, OP_CURVE, 1, in, NULL, 0, 4 * n->b + n->c);
    default: return emit(m, n->op, dae_graph_arity(n->op), in, NULL, 0, 0);
    }
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

/* Operations of all reached nodes in ascending order; -1, or the leaf that no input gives. */
static int emit_all(maker *m, int count, const int *list, int *value, int widest)
{
    int *in = malloc((size_t)(widest + 3) * sizeof *in), o, missing = -1;
    if (!in) m->failed = 1;
    for (int i = 0; i < count && !m->failed && missing < 0; i++) {
        const dae_node *n = &m->g->node[list[i]];
        if (value[i] >= 0) continue; /* an input */
        if (n->op > OP_NUMBER && n->op <= OP_VARIABLE) {
            missing = list[i];
            break;
        }
        for (int k = 0; (o = dae_graph_operand(m->g, list[i], k)) >= 0; k++)
            in[k] = value[find_place(count, list, o)];
        value[i] = emit_node(m, list[i], in);
    }
    free(in);
    return missing;
}

/* ---- Order --------------------------------------------------------------------------------------- */

typedef struct key {
    int level, op, terms, extra, first, second, id;
} key;

static int compare_keys(const void *a, const void *b)
{
    const int *x = (const int *)a, *y = (const int *)b;
    for (size_t k = 0; k < sizeof(key) / sizeof *x; k++) {
        if (x[k] != y[k]) return x[k] < y[k] ? -1 : 1;
    }
    return 0;
}

static int register_of(const maker *m, const int *position, int value)
{
    const dae_program *p = m->p;
    if (value & constant_tag) return p->ninput + (value & ~constant_tag);
    if (value < p->ninput) return value;
    return p->ninput + p->nconstant + position[value - p->ninput];
}

/* How the operands of an operation and of the one behind it (in the order of keys) follow each other, DAE_RUN_... */
static int follow(const maker *m, const int *position, const key *k)
{
    const operation *x = &m->code[k[0].id], *y = &m->code[k[1].id];
    int step[2] = {1, 1}; /* of two operands; of all for others */
    for (int i = 0; i < x->terms; i++) {
        int a = register_of(m, position, m->operand[x->first + i]),
            b = register_of(m, position, m->operand[y->first + i]);
        if (b == a && x->terms == 2 && x->op != OP_LINEAR) step[i] = 0;
        else if (b != a + 1) return DAE_RUN_ANY;
    }
    if (step[0] && step[1]) return DAE_RUN_DENSE;
    return step[1] ? DAE_RUN_ONE_BY_MANY : step[0] ? DAE_RUN_MANY_BY_ONE : DAE_RUN_ANY;
}

static int add_run(maker *m, const int *position, const key *k, int count, int to, int dense)
{
    dae_program *p = m->p;
    const operation *x = &m->code[k->id];
    int linear = x->op == OP_LINEAR, total = count * x->terms;
    if (!dae_graph_grow((void **)&p->run, &p->run_capacity, p->nrun + 1, sizeof *p->run) ||
        !dae_graph_grow((void **)&p->index, &p->index_capacity, p->nindex + total, sizeof *p->index) ||
        (linear && !dae_graph_grow((void **)&p->factor, &p->factor_capacity, p->nfactor + total + count,
                                   sizeof *p->factor)))
        return 0;
    p->run[p->nrun++] = (dae_run){.op = x->op,
                                  .count = count,
                                  .to = to,
                                  .terms = x->terms,
                                  .index = p->nindex,
                                  .factor = p->nfactor,
                                  .extra = x->extra,
                                  .dense = dense};
    for (int i = 0; i < count; i++) {
        const operation *o = &m->code[k[i].id];
        for (int t = 0; t < o->terms; t++) {
            p->index[p->nindex + t * count + i] = register_of(m, position, m->operand[o->first + t]);
            if (linear) p->factor[p->nfactor + t * count + i] = m->factor[o->first + t];
        }
        if (linear) p->factor[p->nfactor + total + i] = o->constant;
    }
    p->nindex += total;
    if (linear) p->nfactor += total + count;
    return 1;
}

/* One group of equal operations in pieces: in one way where at least min_dense follow each other. */
static int add_group(maker *m, const int *position, const key *k, int count, int to)
{
    int begin = 0;
    for (int i = 0; i < count;) {
        int n = 1, way = i + 1 < count ? follow(m, position, k + i) : DAE_RUN_ANY;
        while (way != DAE_RUN_ANY && i + n < count && follow(m, position, k + i + n - 1) == way) n++;
        if (n >= min_dense) {
            if (i > begin && !add_run(m, position, k + begin, i - begin, to + begin, DAE_RUN_ANY)) return 0;
            if (!add_run(m, position, k + i, n, to + i, way)) return 0;
            begin = i + n;
        }
        i += n;
    }
    return begin == count || add_run(m, position, k + begin, count - begin, to + begin, DAE_RUN_ANY);
}

static int lay_out(maker *m)
{
    dae_program *p = m->p;
    size_t n = (size_t)m->ncode;
    key *k = malloc((n + 1) * sizeof *k);
    int *position = malloc((n + 1) * sizeof *position), good = k && position, last = 0;
    for (int i = 0; good && i < m->ncode; i++) {
        const operation *o = &m->code[i];
        k[i] = (key){o->level, o->op, o->terms, o->extra, 0, 0, i};
        position[i] = 0;
        if (o->level > last) last = o->level;
    }
    if (good) qsort(k, n, sizeof *k, compare_keys);
    /* Level by level: the registers of lower levels are known when the operands are compared. */
    for (int i = 0; good && i < m->ncode;) {
        int begin = i, end = i;
        while (end < m->ncode && k[end].level == k[begin].level) end++;
        for (; i < end; i++) {
            const operation *o = &m->code[k[i].id];
            k[i].first = o->terms ? register_of(m, position, m->operand[o->first]) : 0;
            k[i].second = o->terms > 1 ? register_of(m, position, m->operand[o->first + 1]) : 0;
        }
        qsort(k + begin, (size_t)(end - begin), sizeof *k, compare_keys);
        for (int j = begin; j < end; j++) position[k[j].id] = j;
        for (int j = begin; good && j < end;) {
            int e = j;
            while (e < end && k[e].op == k[j].op && k[e].terms == k[j].terms && k[e].extra == k[j].extra) e++;
            good = add_group(m, position, k + j, e - j, p->ninput + p->nconstant + j);
            j = e;
        }
    }
    p->noperation = m->ncode;
    p->nregister = p->ninput + p->nconstant + m->ncode;
    for (int i = 0; good && i < p->noutput; i++) p->output[i] = register_of(m, position, p->output[i]);
    free(k);
    free(position);
    return good;
}

/* ---- One by one ---------------------------------------------------------------------------------- */

/* Operations in the order in which the outputs ask for them, operands first: position[] of each, -1: none needs it. Count, -1: no memory. */
static int order_steps(const maker *m, const int *output, int *position, int *order)
{
    const dae_program *p = m->p;
    int *stack = malloc(((size_t)m->ncode + 1) * sizeof *stack),
        *next = calloc((size_t)m->ncode + 1, sizeof *next);
    int count = stack && next ? 0 : -1;
    for (int i = 0; count >= 0 && i < m->ncode; i++) position[i] = -1;
    for (int i = 0; count >= 0 && i < p->noutput; i++) {
        int depth = 0, v = output[i];
        if (v & constant_tag || v < p->ninput || position[v - p->ninput] >= 0) continue;
        stack[depth++] = v - p->ninput;
        while (depth) {
            int at = stack[depth - 1];
            const operation *o = &m->code[at];
            int down = -1;
            while (next[at] < o->terms && down < 0) {
                int w = m->operand[o->first + next[at]++];
                if (!(w & constant_tag) && w >= p->ninput && position[w - p->ninput] < 0)
                    down = w - p->ninput;
            }
            if (down >= 0) {
                stack[depth++] = down;
            } else {
                position[at] = count;
                order[count++] = at;
                depth--;
            }
        }
    }
    free(stack);
    free(next);
    return count;
}

static int keep_list(maker *m)
{
    dae_program *p = m->p;
    dae_step_list *l = &p->list;
    size_t n = (size_t)m->ncode + 1;
    int *position = malloc(n * sizeof *position), *order = malloc(n * sizeof *order);
    l->step = malloc(n * sizeof *l->step);
    l->output = malloc(((size_t)p->noutput + 1) * sizeof *l->output);
    l->operand = malloc(((size_t)m->noperand + 1) * sizeof *l->operand);
    l->factor = malloc(((size_t)m->noperand + 1) * sizeof *l->factor);
    int room = position && order && l->step && l->output && l->operand && l->factor;
    int count = room ? order_steps(m, p->output, position, order) : -1;
    for (int i = 0; i < count; i++) {
        const operation *o = &m->code[order[i]];
        l->step[i] = (dae_step){o->op, o->terms, o->first, o->extra, o->constant};
    }
    for (int i = 0; count >= 0 && i < p->noutput; i++) l->output[i] = register_of(m, position, p->output[i]);
    for (int i = 0; count >= 0 && i < m->noperand; i++) {
        int v = m->operand[i];
        int used = v & constant_tag || v < p->ninput || position[v - p->ninput] >= 0;
        l->factor[i] = m->factor[i];
        l->operand[i] = used ? register_of(m, position, v) : 0; /* of operations that no output needs */
    }
    l->count = count;
    free(position);
    free(order);
    return count >= 0;
}

/* ---- Life ---------------------------------------------------------------------------------------- */

static int copy_curves(maker *m)
{
    dae_program *p = m->p;
    p->curve = calloc((size_t)m->g->ncurve + 1, sizeof *p->curve);
    if (!p->curve) return 0;
    for (int i = 0; i < m->g->ncurve; i++) {
        const dae_curve *c = m->g->curve[i];
        p->curve[i] = dae_curve_copy(c);
        p->ncurve = i + 1;
        if (!p->curve[i]) return 0;
    }
    return 1;
}

static int copy_places(dae_program *p, int noutput, const int *place)
{
    if (!place) return 1;
    p->place = malloc(((size_t)noutput + 1) * sizeof *p->place);
    if (p->place && noutput) memcpy(p->place, place, (size_t)noutput * sizeof *place);
    return p->place != NULL;
}

dae_program *dae_program_create(const dae_graph *g, int ninput, const int *input, int noutput,
                                const int *output, int *missing)
{
    return dae_program_create_split(g, ninput, input, -1, 0, 0, noutput, output, NULL, missing);
}

dae_program *dae_program_create_split(const dae_graph *g, int ninput, const int *input, int time, int first_y,
                                      int ny, int noutput, const int *output, const int *place, int *missing)
{
    dae_program *p = calloc(1, sizeof *p);
    maker m = {.g = g, .p = p};
    int *list = NULL, count = p ? dae_graph_reach(g, noutput, output, &list) : -1, widest = 0, lost = -1;
    int *value = count >= 0 ? malloc((size_t)(count + 1) * sizeof *value) : NULL;
    int good = p && value && (p->output = malloc((size_t)(noutput + 1) * sizeof *p->output)) &&
               copy_curves(&m) && copy_places(p, noutput, place);
    if (good) {
        p->ninput = ninput, p->noutput = noutput, p->time = time, p->first_y = first_y, p->ny = ny;
        for (int i = 0; i < count; i++) {
            value[i] = -1;
            if (g->node[list[i]].op == OP_ADD && g->node[list[i]].b > widest) widest = g->node[list[i]].b;
        }
        for (int i = 0; i < ninput; i++) {
            int k = count ? find_place(count, list, input[i]) : 0;
            if (count && list[k] == input[i]) value[k] = i;
        }
        lost = emit_all(&m, count, list, value, widest);
        good = !m.failed && lost < 0;
        for (int i = 0; good && i < noutput; i++) p->output[i] = value[find_place(count, list, output[i])];
        good = good && keep_list(&m) && lay_out(&m);
    }
    free(m.code);
    free(m.operand);
    free(m.factor);
    free(list);
    free(value);
    if (missing) *missing = lost;
    if (good) {
        p->native = dae_native_create(p);
        return p;
    }
    dae_program_destroy(p);
    return NULL;
}

void dae_program_destroy(dae_program *p)
{
    if (!p) return;
    dae_native_destroy(p->native);
    for (int i = 0; i < p->ncurve; i++) dae_curve_destroy(p->curve[i]);
    free(p->curve);
    free(p->constant);
    free(p->run);
    free(p->index);
    free(p->factor);
    free(p->output);
    free(p->place);
    free(p->list.step);
    free(p->list.operand);
    free(p->list.factor);
    free(p->list.output);
    free(p);
}

size_t dae_program_work(const dae_program *p)
{
    return (size_t)p->nregister + 1;
}

int dae_program_is_native(const dae_program *p)
{
    return dae_native_is_there(p->native);
}

int dae_program_is_polynomial(const dae_program *p)
{
    for (int i = 0; i < p->nrun; i++) {
        int op = p->run[i].op;
        if (op != OP_ADD && op != OP_SUB && op != OP_NEG && op != OP_MUL && op != OP_LINEAR) return 0;
    }
    return 1;
}

int dae_program_operations(const dae_program *p)
{
    return p->noperation;
}
