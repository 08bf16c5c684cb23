/* From trees to nodes: names looked up, loops written out, units followed. */
#include "equations/reader.h"

#include "language/dimension.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

value dae_value_number(reader *r, double x)
{
    return (value){.node = dae_graph_number(r->g, x), .dimension.soft = 1};
}

/* Does the node depend on a leaf with op_first <= op <= op_last? */
int dae_value_depends(const reader *r, int node, int op_first, int op_last)
{
    int *list, count, found = 0, op = dae_graph_node(r->g, node).op;
    if (op >= OP_NUMBER && op <= OP_VARIABLE) return op >= op_first && op <= op_last;
    count = dae_graph_reach(r->g, 1, &node, &list);
    for (int i = 0; i < count && !found; i++) {
        op = dae_graph_node(r->g, list[i]).op;
        found = op >= op_first && op <= op_last;
    }
    free(list);
    return found;
}

/* ---- Arithmetic ---------------------------------------------------------------------------------- */

void dae_check_agree(reader *r, dae_place place, const value *a, const value *b, const char *sign)
{
    dae_dimension d;
    char ta[48], tb[48];
    if (dae_dimension_agree(&a->dimension, &b->dimension, &d)) return;
    dae_dimension_text(&a->dimension, ta, sizeof ta);
    dae_dimension_text(&b->dimension, tb, sizeof tb);
    dae_reader_wrong(r, place, "units do not fit: [%s] %s [%s]", ta, sign, tb);
}

static dae_dimension power_dimension(const reader *r, const value *a, const value *b)
{
    static const dae_dimension one;
    double n;
    if (dae_graph_is_number(r->g, b->node, &n) && n == floor(n) && fabs(n) <= 64)
        return dae_dimension_times(&one, &a->dimension, (int)n);
    dae_dimension d = a->dimension;
    d.soft = d.soft || !dae_dimension_same(&d, &one);
    return d;
}

static dae_dimension binary_dimension(reader *r, const tree *t, const value *a, const value *b)
{
    static const dae_dimension none;
    static const char *const sign[] = {[OP_ADD] = "+", [OP_SUB] = "-", [OP_LT] = "<",  [OP_LE] = "<=",
                                       [OP_GT] = ">",  [OP_GE] = ">=", [OP_EQ] = "==", [OP_NE] = "!="};
    dae_dimension d;
    switch (t->op) {
    case OP_MUL: return dae_dimension_times(&a->dimension, &b->dimension, 1);
    case OP_DIV: return dae_dimension_times(&a->dimension, &b->dimension, -1);
    case OP_POW: return power_dimension(r, a, b);
    case OP_AND:
    case OP_OR: return none;
    default:
        dae_check_agree(r, t->place, a, b, sign[t->op]);
        dae_dimension_agree(&a->dimension, &b->dimension, &d);
        return t->op == OP_ADD || t->op == OP_SUB ? d : none;
    }
}

static value needs_index(reader *r, const tree *t)
{
    while (t->kind == TREE_PRIME || t->kind == TREE_MINUS) t = t->a;
    if (t->name && t->kind == TREE_NAME)
        return dae_reader_wrong(r, t->place,
                                "\"%s\" is an array: write %s[i], or make both sides arrays of the same size",
                                t->name, t->name);
    return dae_reader_wrong(r, t->place, "this is an array where a number is expected");
}

static value binary(reader *r, const tree *t, const value *a, const value *b)
{
    value v = {.dimension = binary_dimension(r, t, a, b)};
    if (r->failed) return v;
    if (!a->ndim && !b->ndim) {
        v.node = dae_graph_apply(r->g, t->op, a->node, b->node, 0);
        return v;
    }
    const value *shape = a->ndim ? a : b;
    if (a->ndim && b->ndim) {
        if (t->op != OP_ADD && t->op != OP_SUB)
            return dae_reader_wrong(r, t->place, "a product of two arrays: write sum(...) or a for");
        if (a->count != b->count || a->ndim != b->ndim ||
            memcmp(a->size, b->size, (size_t)a->ndim * sizeof *a->size) != 0)
            return dae_reader_wrong(r, t->place, "arrays of different size: %d and %d elements", a->count,
                                    b->count);
    } else if (t->op == OP_POW || (t->op == OP_DIV && b->ndim) ||
               (t->op != OP_MUL && t->op != OP_DIV && t->op != OP_ADD && t->op != OP_SUB)) {
        return needs_index(r, a->ndim ? t->a : t->b);
    }
    int *list = dae_reader_take(r, ((size_t)shape->count + 1) * sizeof *list);
    for (int i = 0; list && i < shape->count && dae_reader_step(r, t->place); i++)
        list[i] =
            dae_graph_apply(r->g, t->op, a->ndim ? a->list[i] : a->node, b->ndim ? b->list[i] : b->node, 0);
    value out = *shape;
    out.list = list;
    out.dimension = v.dimension;
    return out;
}

/* The left operands of t, t->a, t->a->a ... first: a long sum is deep in its tree, but needs no deep calls. Terms of sums are
 * collected, so that n terms cost n. */
static value spine(reader *r, const context *c, const tree *t)
{
    const tree *few[16], **node = few;
    dae_term *term = NULL;
    int n = 0, capacity = 0;
    for (const tree *s = t; s->kind == TREE_BINARY; s = s->a) n++;
    if (n > 16) node = malloc((size_t)n * sizeof *node);
    if (!node) return dae_reader_starved(r);
    const tree *s = t;
    for (int i = n - 1; i >= 0; i--, s = s->a) node[i] = s;
    value v = dae_evaluate(r, c, s);
    for (int i = 0; i < n && !r->failed; i++) {
        value b = dae_evaluate(r, c, node[i]->b);
        int more = 0;
        if (r->failed) break;
        if (!v.ndim && !b.ndim && i + 1 < n && (node[i]->op == OP_ADD || node[i]->op == OP_SUB)) {
            /* a run of + and -: collect */
            if (!dae_reader_grow(r, (void **)&term, &capacity, n - i + 1, sizeof *term)) break;
            term[more++] = (dae_term){v.node, 1};
            for (;; i++) {
                v.dimension = binary_dimension(r, node[i], &v, &b);
                term[more++] = (dae_term){b.node, node[i]->op == OP_ADD ? 1 : -1};
                if (r->failed || i + 1 >= n || (node[i + 1]->op != OP_ADD && node[i + 1]->op != OP_SUB))
                    break;
                b = dae_evaluate(r, c, node[i + 1]->b);
                if (r->failed) break;
                if (b.ndim) needs_index(r, node[i + 1]->b);
                if (r->failed) break;
            }
            v.node = dae_graph_sum(r->g, 0, more, term);
            continue;
        }
        v = binary(r, node[i], &v, &b);
    }
    free(term);
    if (node != few) free((void *)node);
    return v;
}

static value negate(reader *r, const tree *t, value v)
{
    if (!v.ndim) {
        v.node = dae_graph_scale(r->g, -1, v.node);
        return v;
    }
    int *list = dae_reader_take(r, ((size_t)v.count + 1) * sizeof *list);
    for (int i = 0; list && i < v.count && dae_reader_step(r, t->place); i++)
        list[i] = dae_graph_scale(r->g, -1, v.list[i]);
    v.list = list;
    return v;
}

static value differentiate(reader *r, dae_place place, value v, int order)
{
    int *list = v.ndim ? dae_reader_take(r, ((size_t)v.count + 1) * sizeof *list) : NULL;
    for (int i = 0; i < (v.ndim ? v.count : 1) && !r->failed && dae_reader_step(r, place); i++) {
        int node = v.ndim ? v.list[i] : v.node;
        const char *signal;
        if (dae_mechanism_in(r, node, &signal))
            return dae_reader_wrong(
                r, place,
                "\"%s\" comes from the mechanism and has no derivative here: read a rate instead "
                "(JOINT.speed, BODY.vx, BODY.omega)",
                signal);
        for (int k = 0; k < order; k++) node = dae_graph_derivative(r->g, node);
        if (v.ndim && list) list[i] = node;
        else v.node = node;
    }
    if (v.ndim) v.list = list;
    for (int k = 0; k < order; k++) v.dimension = dae_dimension_times(&v.dimension, &r->m->time, -1);
    return v;
}

/* ---- Sums, arrays -------------------------------------------------------------------------------- */

static value sum_over(reader *r, const context *c, const tree *t)
{
    int lo = dae_evaluate_whole(r, c, t->a), hi = dae_evaluate_whole(r, c, t->b), n = 0, capacity = 0;
    dae_term *term = NULL;
    value total = {.dimension.soft = 1}, one;
    total.node = dae_graph_number(r->g, t->kind == TREE_PROD);
    if (!r->failed && !dae_reader_room(r, t->place, lo, hi)) return total;
    for (int i = lo; i <= hi && !r->failed && dae_reader_step(r, t->place); i++) {
        local l = {.name = t->name, .value = dae_value_number(r, i), .line = t->place.line, .up = c->locals};
        context inner = {c->scope, &l};
        if (t->c && dae_evaluate_known(r, &inner, t->c) == 0) continue;
        one = dae_evaluate_scalar(r, &inner, t->d);
        if (r->failed) break;
        if (t->kind == TREE_PROD) {
            total.node = dae_graph_multiply(r->g, total.node, one.node);
            total.dimension = n++ ? dae_dimension_times(&total.dimension, &one.dimension, 1) : one.dimension;
            continue;
        }
        if (n) dae_check_agree(r, t->place, &total, &one, "+");
        if (total.dimension.soft) total.dimension = one.dimension;
        if (!dae_reader_grow(r, (void **)&term, &capacity, n + 1, sizeof *term)) break;
        term[n++] = (dae_term){one.node, 1};
    }
    if (t->kind == TREE_SUM && !r->failed) total.node = dae_graph_sum(r->g, 0, n, term);
    free(term);
    return total;
}

/* [a, b, c] and [[a, b], [c, d]] */
static value array_of(reader *r, const context *c, const tree *t)
{
    value out = {.dimension.soft = 1}, first = {0};
    int n = 0, *list = NULL, filled = 0;
    for (const tree *e = t->list; e; e = e->next) n++;
    for (const tree *e = t->list; e && !r->failed; e = e->next) {
        value v = dae_evaluate(r, c, e);
        if (r->failed) return out;
        int count = v.ndim ? v.count : 1;
        if (!list) {
            first = v;
            if (v.ndim >= MAX_INDICES)
                return dae_reader_wrong(r, t->place, "an array has at most %d indices", MAX_INDICES);
            list = dae_reader_take(r, ((size_t)n * (size_t)count + 1) * sizeof *list);
            if (!list) return out;
        }
        if (v.ndim != first.ndim || count != (first.ndim ? first.count : 1))
            return dae_reader_wrong(r, e->place, "the rows of an array must be equally long");
        if (e != t->list) dae_check_agree(r, e->place, &out, &v, ",");
        if (out.dimension.soft) out.dimension = v.dimension;
        for (int i = 0; i < count; i++) list[filled++] = v.ndim ? v.list[i] : v.node;
    }
    out.ndim = first.ndim + 1;
    out.size[0] = n;
    memcpy(out.size + 1, first.size, (size_t)first.ndim * sizeof *out.size);
    out.count = filled;
    out.list = list;
    return out;
}

/* ---- Calls --------------------------------------------------------------------------------------- */

static int count_list(const tree *t)
{
    int n = 0;
    for (; t; t = t->next) n++;
    return n;
}

static int check_count(reader *r, const tree *t, int want)
{
    int found = count_list(t->list);
    if (found == want) return 1;
    dae_reader_wrong(r, t->place, "%s takes %d argument%s, found %d", t->name, want, want == 1 ? "" : "s",
                     found);
    return 0;
}

/* Arguments, then what stands after "where", each seeing those before it. */
static value call_fn(reader *r, const context *c, symbol *s, const tree *t)
{
    const item *argument = s->statement->items,
               *where = s->statement->body ? s->statement->body->items : NULL;
    const tree *a = t->list;
    int n = 0, extra_names = 0, k = 0;
    value out = {.dimension.soft = 1};
    for (const item *i = argument; i; i = i->next) n++;
    for (const item *i = where; i; i = i->next) extra_names++;
    if (!check_count(r, t, n)) return out;
    if (s->active)
        return dae_reader_wrong(r, t->place, "the function \"%s\" calls itself; recursion is not possible",
                                s->name);
    local *l = malloc(((size_t)n + (size_t)extra_names + 1) * sizeof *l);
    if (!l) return dae_reader_starved(r);
    for (const item *i = argument; i && !r->failed; i = i->next, a = a->next, k++)
        l[k] = (local){.name = i->name, .value = dae_evaluate(r, c, a), .up = k ? &l[k - 1] : NULL};
    s->active = 1;
    for (const item *i = where; i && !r->failed; i = i->next, k++) {
        if (!i->value) {
            dae_reader_wrong(r, i->place, "expected \"=\" after \"%s\" in where", i->name);
            break;
        }
        context inner = {s->at.scope, k ? &l[k - 1] : NULL};
        l[k] = (local){.name = i->name, .value = dae_evaluate(r, &inner, i->value), .up = inner.locals};
    }
    if (!r->failed) out = dae_evaluate(r, &(context){s->at.scope, k ? &l[k - 1] : NULL}, s->statement->left);
    s->active = 0;
    free(l);
    return out;
}

static value call_table(reader *r, const context *c, symbol *s, const tree *t)
{
    if (!check_count(r, t, 1)) return (value){0};
    value x = dae_evaluate_scalar(r, c, t->list);
    if (r->failed || !dae_curve_read(r, &s->at, s)) return (value){0};
    value xs = {.dimension = s->x_dimension};
    dae_check_agree(r, t->place, &x, &xs, "and the x of the table");
    return (value){.node = dae_graph_curve(r->g, s->curve - 1, x.node, 0), .dimension = s->dimension};
}

/* table(x, x1,y1, x2,y2, ...) and spline(...), as in expressions of mechanisms. */
static value inline_table(reader *r, const context *c, const tree *t, dae_curve_kind kind)
{
    int n = (count_list(t->list) - 1) / 2, k = 0;
    if (count_list(t->list) < 5 || count_list(t->list) % 2 == 0)
        return dae_reader_wrong(r, t->place, "%s needs x and then two or more pairs x1,y1, x2,y2, ...",
                                t->name);
    value x = dae_evaluate_scalar(r, c, t->list);
    double *p = dae_reader_take(r, 2 * (size_t)n * sizeof *p);
    if (!p) return x;
    for (const tree *a = t->list->next; a && !r->failed; a = a->next, k++) {
        p[k % 2 * n + k / 2] = dae_evaluate_known(r, c, a);
        if (k % 2 == 0 && k && !r->failed && !(p[k / 2] > p[k / 2 - 1]))
            dae_reader_wrong(r, a->place, "the x values of a table must increase (%g after %g)", p[k / 2],
                             p[k / 2 - 1]);
    }
    if (r->failed) return x;
    int curve = dae_graph_add_curve(r->g, dae_curve_create(kind, DAE_CURVE_LINE, n, p, p + n));
    return (value){.node = dae_graph_curve(r->g, curve, x.node, 0), .dimension.soft = 1};
}

static const struct {
    const char *name;
    int op, count;
} functions[] = {
#define X(name, id, count) {name, OP_##id, count},
    DAE_EXPRESSION_FUNCTIONS(X)
#undef X
};

static int is_function(const char *name)
{
    static const char *const more[] = {"der", "noevent", "pre", "table", "spline"};
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        if (!strcmp(functions[k].name, name)) return 1;
    }
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        if (!strcmp(more[k], name)) return 1;
    }
    return 0;
}

static value call_builtin(reader *r, const context *c, const tree *t, size_t k)
{
    value in[3] = {{0}};
    dae_dimension d[3] = {{{0}, 0}};
    int n = 0, fault[2];
    if (!check_count(r, t, functions[k].count)) return in[0];
    for (const tree *a = t->list; a; a = a->next, n++) {
        in[n] = dae_evaluate_scalar(r, c, a);
        if (r->failed) return in[0];
        d[n] = in[n].dimension;
    }
    value out = {.dimension = dae_dimension_call(functions[k].op, d, fault)};
    if (fault[0] >= 0 && fault[1] >= 0) dae_check_agree(r, t->place, &in[fault[0]], &in[fault[1]], "and");
    if (fault[0] >= 0 && fault[1] < 0) {
        char text[48];
        dae_dimension_text(&d[fault[0]], text, sizeof text);
        dae_reader_wrong(r, t->place, "%s takes a number without unit, not [%s]", t->name, text);
    }
    out.node = dae_graph_apply(r->g, functions[k].op, in[0].node, in[1].node, in[2].node);
    if (functions[k].op == OP_POW) out.dimension = power_dimension(r, &in[0], &in[1]);
    if (out.dimension.soft == DAE_PLAIN) out.dimension.soft = 1; /* all numbers are the same here */
    return out;
}

static value call_der(reader *r, const context *c, const tree *t)
{
    int n = count_list(t->list), order = 1;
    if (n < 1 || n > 2) return dae_reader_wrong(r, t->place, "der takes 1 or 2 arguments, found %d", n);
    if (n == 2) order = dae_evaluate_whole(r, c, t->list->next);
    if (!r->failed && (order < 0 || order > 10))
        return dae_reader_wrong(r, t->list->next->place, "a derivative of order %d (0 to 10)", order);
    value v = dae_evaluate(r, c, t->list);
    return r->failed ? v : differentiate(r, t->place, v, order);
}

static value call(reader *r, const context *c, const tree *t)
{
    symbol *s = dae_symbol_find(r, c->scope, t->name);
    if (s && s->kind == SYMBOL_FN) return call_fn(r, c, s, t);
    if (s && s->kind == SYMBOL_TABLE) return call_table(r, c, s, t);
    if (s && s->kind == SYMBOL_COMPONENT) return dae_symbol_value(r, s, t->place);
    if (s && s->item && s->item->dims && dae_symbol_shape(r, s) && s->ndim)
        return dae_reader_wrong(r, t->place,
                                "\"%s\" is an array, not a function: indices stand in brackets, %s[i]",
                                t->name, t->name);
    if (!strcmp(t->name, "der")) return call_der(r, c, t);
    if (!strcmp(t->name, "table")) return inline_table(r, c, t, DAE_CURVE_LINEAR);
    if (!strcmp(t->name, "spline")) return inline_table(r, c, t, DAE_CURVE_SPLINE);
    if (!strcmp(t->name, "noevent") || !strcmp(t->name, "pre")) {
        if (!check_count(r, t, 1)) return (value){0};
        value v = dae_evaluate_scalar(r, c, t->list);
        if (t->name[0] == 'n') v.node = dae_graph_literal(r->g, v.node);
        return v;
    }
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
        if (!strcmp(functions[k].name, t->name)) return call_builtin(r, c, t, k);
    }
    if (s && s->kind == SYMBOL_VAR && t->list && t->list->kind == TREE_NAME && !t->list->next &&
        (!strcmp(t->list->name, "t") || !strcmp(t->list->name, "time")))
        return dae_reader_wrong(r, t->place, "variables stand without their argument: %s", t->name);
    if (s && s->kind == SYMBOL_VAR && t->list && t->list->kind == TREE_NUMBER && !t->list->next)
        return dae_reader_wrong(r, t->place,
                                "\"%s\" is not a function (an initial value is written var %s = 1 or init %s "
                                "= 1, a product %s*(...))",
                                t->name, t->name, t->name, t->name);
    if (s)
        return dae_reader_wrong(r, t->place, "\"%s\" is not a function (write %s*(...) for a product)",
                                t->name, t->name);
    const char *here = dae_habit_function(t->name), *plain = dae_habit_module(t->name);
    if (here) return dae_reader_wrong(r, t->place, "unknown function \"%s\": %s", t->name, here);
    if (plain)
        return dae_reader_wrong(r, t->place, "unknown function \"%s\" (write %s(...))", t->name, plain);
    return dae_reader_wrong(r, t->place, "unknown function \"%s\" (define it: fn %s(x) = ...)", t->name,
                            t->name);
}

/* ---- Names --------------------------------------------------------------------------------------- */

static value name_of(reader *r, const context *c, const tree *t)
{
    value v = {.dimension.soft = 1};
    for (const local *l = c->locals; l; l = l->up) {
        if (!strcmp(l->name, t->name)) return l->value;
    }
    symbol *s = dae_symbol_find(r, c->scope, t->name);
    if (s) return dae_symbol_value(r, s, t->place);
    if (!strcmp(t->name, "t") || !strcmp(t->name, "time")) {
        v.node = dae_graph_time(r->g);
        v.dimension = r->m->time;
        return v;
    }
    if (!strcmp(t->name, "pi")) return dae_value_number(r, 3.14159265358979323846);
    if (!strcmp(t->name, "e")) return dae_value_number(r, 2.71828182845904523536);
    if (dae_mechanism_value(r, c, t->name, t->place, &v)) return v;
    if (is_function(t->name))
        return dae_reader_wrong(r, t->place, "\"%s\" is a function: write %s(...)", t->name, t->name);
    dae_symbol_unknown(r, c, t->name, t->place);
    return v;
}

static value element_of(reader *r, const context *c, const tree *t)
{
    int index[MAX_INDICES] = {0}, n = 0;
    symbol *s = dae_symbol_find(r, c->scope, t->name);
    if (!s) {
        dae_symbol_unknown(r, c, t->name, t->place);
        return (value){0};
    }
    for (const tree *a = t->list; a; a = a->next) {
        if (n == MAX_INDICES)
            return dae_reader_wrong(r, t->place, "an array has at most %d indices", MAX_INDICES);
        index[n++] = dae_evaluate_whole(r, c, a);
        if (r->failed) return (value){0};
    }
    return dae_symbol_element(r, c, s, n, index, t->place);
}

static value if_of(reader *r, const context *c, const tree *t)
{
    double known;
    value v = dae_evaluate_scalar(r, c, t->a);
    if (r->failed) return v;
    if (dae_graph_is_number(r->g, v.node, &known)) return dae_evaluate(r, c, known != 0 ? t->b : t->c);
    value yes = dae_evaluate_scalar(r, c, t->b), no = dae_evaluate_scalar(r, c, t->c), out = {0};
    if (r->failed) return yes;
    dae_check_agree(r, t->place, &yes, &no, "and");
    dae_dimension_agree(&yes.dimension, &no.dimension, &out.dimension);
    out.node = dae_graph_if(r->g, v.node, yes.node, no.node);
    return out;
}

/* dx/dt with names that nobody declared. */
static int is_dx_dt(const reader *r, const context *c, const tree *t)
{
    return t->op == OP_DIV && t->a->kind == TREE_NAME && t->b->kind == TREE_NAME && t->a->name[0] == 'd' &&
           t->a->name[1] && !strcmp(t->b->name, "dt") && !dae_symbol_find(r, c->scope, "dt") &&
           !dae_symbol_find(r, c->scope, t->a->name);
}

value dae_evaluate(reader *r, const context *c, const tree *t)
{
    value v = {.dimension.soft = 1};
    if (r->failed || !dae_reader_step(r, t->place)) return v;
    if (++r->depth > MAX_NESTED) {
        r->depth--;
        return dae_reader_wrong(r, t->place, "definitions are nested too deeply (limit %d)", MAX_NESTED);
    }
    switch (t->kind) {
    case TREE_NUMBER:
        v.node = dae_graph_number(r->g, t->number);
        v.dimension = t->dimension;
        break;
    case TREE_NAME: v = name_of(r, c, t); break;
    case TREE_INDEX: v = element_of(r, c, t); break;
    case TREE_CALL: v = call(r, c, t); break;
    case TREE_PRIME:
        v = dae_evaluate(r, c, t->a);
        if (!r->failed) v = differentiate(r, t->place, v, t->op);
        break;
    case TREE_BINARY:
        if (is_dx_dt(r, c, t))
            v = dae_reader_wrong(r, t->a->place, "write der(%s) or %s'", t->a->name + 1, t->a->name + 1);
        else v = spine(r, c, t);
        break;
    case TREE_NOT:
        v.node = dae_graph_apply(r->g, OP_NOT, dae_evaluate_scalar(r, c, t->a).node, 0, 0);
        memset(&v.dimension, 0, sizeof v.dimension);
        break;
    case TREE_MINUS: v = negate(r, t, dae_evaluate(r, c, t->a)); break;
    case TREE_IF: v = if_of(r, c, t); break;
    case TREE_ARRAY: v = array_of(r, c, t); break;
    case TREE_SUM:
    case TREE_PROD: v = sum_over(r, c, t); break;
    }
    r->depth--;
    return v;
}

value dae_evaluate_scalar(reader *r, const context *c, const tree *t)
{
    value v = dae_evaluate(r, c, t);
    return !r->failed && v.ndim ? needs_index(r, t) : v;
}

/* Their values are needed as numbers: what is made of them no longer knows the symbols. */
static void freeze_parameters(reader *r, int node)
{
    int *list = NULL, count = dae_graph_reach(r->g, 1, &node, &list);
    if (count < 0) dae_graph_starve(r->g);
    for (int k = 0; k < count; k++) {
        dae_node n = dae_graph_node(r->g, list[k]);
        if (n.op == OP_PARAMETER) r->m->parameter[n.a].frozen = 1;
    }
    free(list);
}

double dae_evaluate_known(reader *r, const context *c, const tree *t)
{
    double x = 0;
    value v = dae_evaluate_scalar(r, c, t);
    if (r->failed || dae_graph_is_number(r->g, v.node, &x)) return x;
    if (dae_value_depends(r, v.node, OP_TIME, OP_TIME) ||
        dae_value_depends(r, v.node, OP_DISCRETE, OP_VARIABLE)) {
        dae_reader_wrong(r, t->place,
                         "this must be known when the text is read: it may not depend on variables or time%s",
                         t->kind == TREE_BINARY && t->op >= OP_LT && t->op <= OP_NE
                             ? " (a choice between values is written x' = if c then a else b)"
                             : "");
        return 0;
    }
    freeze_parameters(r, v.node);
    return dae_model_constant(r->m, v.node);
}

int dae_evaluate_whole(reader *r, const context *c, const tree *t)
{
    double x = dae_evaluate_known(r, c, t);
    if (r->failed) return 0;
    if (x == floor(x) && fabs(x) <= 1e9) return (int)x;
    dae_reader_wrong(r, t->place, "expected a whole number, found %g", x);
    return 0;
}
