/* Statements written out: equations, initial equations, events, options, lists. */
#include "equations/reader.h"

#include "core/number.h"

#include "language/dimension.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expand(reader *r, const context *c, const statement *first);

void dae_expand_choose(reader *r, const context *c, const statement *s, const statement **chosen)
{
    *chosen = NULL;
    for (; s; s = s->other) {
        if (s->kind != STATEMENT_IF || !s->condition) { /* the else part */
            *chosen = s;
            return;
        }
        double yes = dae_evaluate_known(r, c, s->condition);
        if (r->failed) return;
        if (yes != 0) {
            *chosen = s->body;
            return;
        }
    }
}

/* ---- Equations ----------------------------------------------------------------------------------- */

/* The values of the loops around, from outside, and of element k of an array: up to `most`; how many there are. */
static int loops_of(const reader *r, const context *c, const value *shape, int k, int most, double *out)
{
    const local *loops[8];
    int depth = 0, n = 0;
    for (const local *l = c->locals; l && depth < 8; l = l->up) loops[depth++] = l;
    while (depth-- > 0) {
        if (n < most) out[n] = dae_model_constant(r->m, loops[depth]->value.node);
        n++;
    }
    if (shape->ndim) {
        if (n < most) out[n] = k + 1;
        n++;
    }
    return n;
}

/* "rod", in loops "contact[2]". */
static const char *label_of(reader *r, const context *c, const char *name, const value *shape, int k)
{
    enum { most = 9 };
    char text[200];
    double index[most];
    if (!name) return NULL;
    size_t n = (size_t)snprintf(text, sizeof text, "%s%s", c->scope->prefix, name);
    int depth = loops_of(r, c, shape, k, most, index);
    for (int i = 0; i < depth && i < most && n < sizeof text - 16; i++)
        n += (size_t)dae_snprintf(text + n, sizeof text - n, "%c%g", i ? ',' : '[', index[i]);
    if (depth && n < sizeof text - 1) n += (size_t)snprintf(text + n, sizeof text - n, "]");
    return dae_store_text(r->store, text, n < sizeof text ? n : sizeof text - 1);
}

static int is_whole_array(const reader *r, const context *c, const tree *t)
{
    while (t->kind == TREE_PRIME || t->kind == TREE_MINUS) t = t->a;
    (void)r, (void)c;
    return t->kind == TREE_NAME;
}

static void add_equation(reader *r, const context *c, const statement *s)
{
    dae_model *m = r->m;
    value a = dae_evaluate(r, c, s->left), b = dae_evaluate(r, c, s->right);
    if (r->failed) return;
    if (!a.ndim && b.ndim) { /* the other way round it holds for every element: u' = 0 */
        const tree *t = s->right;
        while (t->kind == TREE_PRIME || t->kind == TREE_MINUS) t = t->a;
        if (is_whole_array(r, c, t))
            dae_reader_wrong(r, t->place,
                             "\"%s\" is an array: write %s[i], or make both sides arrays of the same size",
                             t->name, t->name);
        else dae_reader_wrong(r, s->place, "one side is an array, the other a number");
        return;
    }
    if (b.ndim && (a.ndim != b.ndim || memcmp(a.size, b.size, (size_t)a.ndim * sizeof *a.size) != 0)) {
        dae_reader_wrong(r, s->place, "arrays of different size: %d and %d elements", a.count, b.count);
        return;
    }
    dae_check_agree(r, s->place, &a, &b, "=");
    int count = a.ndim ? a.count : 1;
    if (r->failed) return;
    if (m->nequation + count > DAE_MODEL_MAX_EQUATIONS) {
        dae_reader_wrong(r, s->place, "more than %d equations", DAE_MODEL_MAX_EQUATIONS);
        r->fatal = 1;
        return;
    }
    if (!dae_reader_grow(r, (void **)&m->equation, &m->equation_capacity, m->nequation + count,
                         sizeof *m->equation))
        return;
    for (int k = 0; k < count; k++) {
        dae_term term[2] = {{a.ndim ? a.list[k] : a.node, 1}, {b.ndim ? b.list[k] : b.node, -1}};
        int node = dae_graph_expand(r->g, 0, 2, term);
        double left;
        if (dae_graph_is_number(r->g, node, &left)) {
            dae_reader_wrong(r, s->place,
                             left == 0 ? "both sides of the equation are the same"
                                       : "the equation contains no variable and cannot hold");
            return;
        }
        dae_model_equation *q = &m->equation[m->nequation++];
        double index[2] = {0, 0};
        *q = (dae_model_equation){.node = node, .label = label_of(r, c, s->name, &a, k), .place = s->place};
        q->nloop = loops_of(r, c, &a, k, 2, index);
        for (int i = 0; i < 2; i++) q->loop[i] = (int)index[i];
    }
}

static void bind_start(reader *r, int leaf, int node, dae_place place)
{
    dae_model *m = r->m;
    dae_node x = dae_graph_node(r->g, leaf);
    dae_model_start *s = NULL;
    for (int k = 0; k < m->nstart && !s; k++) {
        if (m->start[k].variable == x.a && m->start[k].order == x.b) s = &m->start[k];
    }
    double v = dae_model_constant(m, node);
    if (s && s->bound && s->value != v) {
        char name[160];
        dae_model_leaf_name(m, leaf, name, sizeof name);
        dae_reader_wrong(r, place,
                         "%s has two initial values: %g here and %g in line %d (make that a guess: ~)", name,
                         v, s->value, s->place.line);
        return;
    }
    if (!s) {
        if (!dae_reader_grow(r, (void **)&m->start, &m->start_capacity, m->nstart + 1, sizeof *m->start))
            return;
        s = &m->start[m->nstart++];
    }
    *s = (dae_model_start){
        .variable = x.a, .order = x.b, .bound = 1, .node = node, .value = v, .place = place};
}

static void add_init(reader *r, const context *c, const item *i)
{
    dae_model *m = r->m;
    value a = dae_evaluate(r, c, i->ref), b = dae_evaluate(r, c, i->value);
    if (r->failed) return;
    if (a.ndim && b.ndim && a.count != b.count) {
        dae_reader_wrong(r, i->place, "arrays of different size: %d and %d elements", a.count, b.count);
        return;
    }
    if (b.ndim && !a.ndim) {
        dae_reader_wrong(r, i->place, "one side is an array, the other a number");
        return;
    }
    dae_check_agree(r, i->place, &a, &b, "=");
    for (int k = 0; k < (a.ndim ? a.count : 1) && !r->failed && dae_reader_step(r, i->place); k++) {
        int left = a.ndim ? a.list[k] : a.node, right = b.ndim ? b.list[k] : b.node;
        int plain = dae_graph_node(r->g, left).op == OP_VARIABLE &&
                    !dae_value_depends(r, right, OP_TIME, OP_TIME) &&
                    !dae_value_depends(r, right, OP_DISCRETE, OP_VARIABLE);
        if (plain) {
            bind_start(r, left, right, i->place);
            continue;
        }
        if (!dae_reader_grow(r, (void **)&m->init, &m->init_capacity, m->ninit + 1, sizeof *m->init)) return;
        m->init[m->ninit++] =
            (dae_model_equation){.node = dae_graph_subtract(r->g, left, right), .place = i->place};
    }
}

/* ---- Events -------------------------------------------------------------------------------------- */

static int add_action(reader *r, const context *c, const statement *s, dae_model_action *out)
{
    *out = (dae_model_action){.place = s->place, .text = s->text};
    if (s->kind == STATEMENT_STOP || s->kind == STATEMENT_RECORD) {
        out->kind = s->kind == STATEMENT_STOP ? DAE_ACTION_STOP : DAE_ACTION_RECORD;
        return 1;
    }
    value a = dae_evaluate_scalar(r, c, s->left), b = dae_evaluate_scalar(r, c, s->right);
    if (r->failed) return 0;
    int op = dae_graph_node(r->g, a.node).op;
    if (op != OP_VARIABLE && op != OP_DISCRETE) {
        dae_reader_wrong(r, s->left->place, "only variables and discrete values can be assigned");
        return 0;
    }
    const char *signal;
    if (dae_mechanism_in(r, a.node, &signal)) {
        dae_reader_wrong(r, s->left->place, "\"%s\" belongs to the mechanism: an event here cannot assign it",
                         signal);
        return 0;
    }
    dae_check_agree(r, s->place, &a, &b, ":=");
    out->kind = DAE_ACTION_ASSIGN;
    out->target = a.node;
    out->value = b.node;
    return !r->failed;
}

static void add_event(reader *r, const context *c, const statement *s)
{
    dae_model *m = r->m;
    dae_model_event e = {.title = s->text, .place = s->place};
    if (s->kind == STATEMENT_WHEN) {
        e.kind = DAE_CLOCK_WHEN;
        e.condition = dae_evaluate_scalar(r, c, s->condition).node;
        if (!r->failed && dae_graph_is_number(r->g, e.condition, NULL))
            dae_messages_note(r->messages, s->place, "the condition never changes");
    } else if (s->kind == STATEMENT_EVERY) {
        e.kind = DAE_CLOCK_EVERY;
        e.period = dae_evaluate_known(r, c, s->condition);
        e.from = s->left ? dae_evaluate_known(r, c, s->left) : m->t0;
        if (!r->failed && !(e.period > 0))
            dae_reader_wrong(r, s->condition->place, "the period %g must be positive", e.period);
    } else {
        e.kind = DAE_CLOCK_AT;
        int n = 0;
        for (const tree *t = s->condition; t; t = t->next) n++;
        double *at = dae_reader_take(r, (size_t)n * sizeof *at);
        for (const tree *t = s->condition; t && at && !r->failed; t = t->next)
            at[e.nat++] = dae_evaluate_known(r, c, t);
        e.at = at;
    }
    int n = 0;
    for (const statement *b = s->body; b; b = b->next) n++;
    dae_model_action *action = dae_reader_take(r, ((size_t)n + 1) * sizeof *action);
    for (const statement *b = s->body; b && action && !r->failed; b = b->next) {
        if (add_action(r, c, b, &action[e.naction])) e.naction++;
    }
    e.action = action;
    if (r->failed ||
        !dae_reader_grow(r, (void **)&m->event, &m->event_capacity, m->nevent + 1, sizeof *m->event))
        return;
    m->event[m->nevent++] = e;
}

/* ---- Options and lists --------------------------------------------------------------------------- */

static void add_entry(reader *r, int *n, int *capacity, dae_model_entry **list, const char *name, int node,
                      double x, dae_place place)
{
    if (!dae_reader_grow(r, (void **)list, capacity, *n + 1, sizeof **list)) return;
    (*list)[(*n)++] = (dae_model_entry){.name = name, .node = node, .value = x, .place = place};
}

static const char *node_name(reader *r, int node, const tree *t)
{
    char text[160];
    int op = dae_graph_node(r->g, node).op;
    if (op >= OP_TIME && op <= OP_VARIABLE) dae_model_leaf_name(r->m, node, text, sizeof text);
    else snprintf(text, sizeof text, "%s", t->name ? t->name : "value");
    return dae_store_text(r->store, text, strlen(text));
}

/* output, plot, score: each element of arrays. */
static void add_list(reader *r, const context *c, const statement *s)
{
    dae_model *m = r->m;
    for (const item *i = s->items; i && !r->failed; i = i->next) {
        int errors = r->messages->count;
        value v = dae_evaluate(r, c, i->value ? i->value : i->ref);
        if (r->failed && !r->fatal && s->kind == STATEMENT_PLOT && i->ref->kind == TREE_INDEX) {
            r->messages->count =
                errors; /* only a hint, and the array may have another size than when it was written */
            r->failed = 0;
            dae_messages_note(r->messages, i->place, "%s[...] does not exist and is not plotted",
                              i->ref->name);
            continue;
        }
        for (int k = 0; !r->failed && k < (v.ndim ? v.count : 1) && dae_reader_step(r, i->place); k++) {
            int node = v.ndim ? v.list[k] : v.node, op = dae_graph_node(r->g, node).op;
            char text[160];
            const tree *t = i->ref;
            while (t->kind == TREE_PRIME) t = t->a;
            if (i->value || op < OP_TIME || op > OP_VARIABLE) {
                if (v.ndim) snprintf(text, sizeof text, "%s[%d]", t->name, k + 1);
                else if (t->kind == TREE_INDEX)
                    snprintf(text, sizeof text, "%s[%d]", t->name, dae_evaluate_whole(r, c, t->list));
                else snprintf(text, sizeof text, "%s", t->name);
            } else {
                dae_model_leaf_name(m, node, text, sizeof text);
            }
            const char *name = dae_store_text(r->store, text, strlen(text));
            if (s->kind == STATEMENT_PREFER || s->kind == STATEMENT_AVOID) {
                if (op == OP_VARIABLE)
                    m->variable[dae_graph_node(r->g, node).a].preference =
                        s->kind == STATEMENT_PREFER ? 1 : -1;
                else dae_reader_wrong(r, i->place, "\"%s\" is not a variable", name);
            } else if (s->kind == STATEMENT_OUTPUT) {
                add_entry(r, &m->noutput, &m->output_capacity, &m->output, name, node, 0, i->place);
            } else if (s->kind == STATEMENT_SCORE) {
                add_entry(r, &m->nscore, &m->score_capacity, &m->score, name, node, 0, i->place);
            } else {
                add_entry(r, &m->nplot, &m->plot_capacity, &m->plot, name, node, 0, i->place);
            }
        }
    }
    if (s->kind == STATEMENT_PLOT && s->flag == 1) m->plot_log_t = 1;
    if (s->kind == STATEMENT_PLOT && s->flag == 2) m->plot_against = 1;
}

static void add_setting(reader *r, const char *name, const char *text, dae_place place)
{
    dae_model *m = r->m;
    if (!dae_reader_grow(r, (void **)&m->setting, &m->setting_capacity, m->nsetting + 1, sizeof *m->setting))
        return;
    m->setting[m->nsetting++] = (dae_model_setting){.name = name, .value = text, .place = place};
}

static void add_tolerance(reader *r, const context *c, const item *i)
{
    value v = dae_evaluate(r, c, i->ref);
    double x = dae_evaluate_known(r, c, i->value);
    if (r->failed) return;
    int relative = !strcmp(i->name, "rtol");
    if ((!relative && strcmp(i->name, "atol") != 0) || !(x > 0)) {
        dae_reader_wrong(r, i->place, "only rtol(x) and atol(x) = ... > 0 can be set for a variable");
        return;
    }
    for (int k = 0; k < (v.ndim ? v.count : 1); k++) {
        dae_node n = dae_graph_node(r->g, v.ndim ? v.list[k] : v.node);
        if (n.op != OP_VARIABLE) {
            dae_reader_wrong(r, i->place, "%s(...) names a variable", i->name);
            return;
        }
        if (relative) r->m->variable[n.a].rtol = x;
        else r->m->variable[n.a].atol = x;
    }
}

static void add_solve(reader *r, const context *c, const statement *s)
{
    char text[40];
    for (const item *i = s->items; i && !r->failed; i = i->next) {
        if (i->ref) {
            if (!i->value) dae_reader_wrong(r, i->place, "expected a number after %s(...) =", i->name);
            else add_tolerance(r, c, i);
            continue;
        }
        if (i->value) {
            dae_snprintf(text, sizeof text, "%.17g", dae_evaluate_known(r, c, i->value));
            if (!r->failed) add_setting(r, i->name, dae_store_text(r->store, text, strlen(text)), i->place);
        } else {
            add_setting(r, i->name, i->text, i->place);
        }
    }
}

void dae_expand_interval(reader *r, const statement *first)
{
    static const scope top = {.prefix = ""};
    context c = {&top, NULL};
    int line = 0;
    r->m->time.soft = 1;
    r->m->t1 = 1;
    for (const statement *s = first; s; s = s->next) {
        if (s->kind != STATEMENT_SOLVE || !s->left) continue;
        r->failed = 0;
        if (line) dae_reader_wrong(r, s->place, "the interval is given twice (first in line %d)", line);
        line = s->place.line;
        value a = dae_evaluate_scalar(r, &c, s->left), b = dae_evaluate_scalar(r, &c, s->right);
        if (r->failed) continue;
        dae_check_agree(r, s->place, &a, &b, "..");
        r->m->t0 = dae_evaluate_known(r, &c, s->left);
        r->m->t1 = dae_evaluate_known(r, &c, s->right);
        dae_dimension_agree(&a.dimension, &b.dimension, &r->m->time);
        r->m->has_interval = 1;
        if (!r->failed && !(r->m->t1 != r->m->t0 && isfinite(r->m->t0) && isfinite(r->m->t1)))
            dae_reader_wrong(r, s->place, "the interval %g .. %g is empty", r->m->t0, r->m->t1);
    }
}

static void add_reference(reader *r, const context *c, const statement *s)
{
    dae_model *m = r->m;
    if (s->right) m->reference_digits = dae_evaluate_known(r, c, s->right);
    if (s->flag) {
        dae_reference_file(r, s);
        return;
    }
    m->reference_t = dae_evaluate_known(r, c, s->left);
    m->reference_source = s->text;
    for (const item *i = s->items; i && !r->failed; i = i->next) {
        value a = dae_evaluate(r, c, i->ref), b = dae_evaluate(r, c, i->value);
        if (r->failed) return;
        dae_check_agree(r, i->place, &a, &b, "=");
        if (b.ndim && (!a.ndim || a.count != b.count)) {
            dae_reader_wrong(r, i->place, "arrays of different size");
            return;
        }
        for (int k = 0; k < (a.ndim ? a.count : 1) && !r->failed; k++) {
            int node = a.ndim ? a.list[k] : a.node;
            int known = b.ndim ? b.list[k] : b.node;
            if (dae_value_depends(r, known, OP_TIME, OP_TIME) ||
                dae_value_depends(r, known, OP_DISCRETE, OP_VARIABLE)) {
                dae_reader_wrong(r, i->place, "a reference is a number");
                return;
            }
            add_entry(r, &m->nreference, &m->reference_capacity, &m->reference, node_name(r, node, i->ref),
                      node, dae_model_constant(m, known), i->place);
        }
    }
}

/* ---- Lets ---------------------------------------------------------------------------------------- */

/* All named expressions, used or not: they are outputs, and what is wrong in them should be said. In the order of the text,
 * so that chains of definitions need no deep calls. */
static void list_lets(reader *r)
{
    dae_model *m = r->m;
    for (symbol *s = r->first; s && !r->fatal; s = s->after) {
        r->failed = 0;
        if (s->kind != SYMBOL_LET || s->is_const || s->listed || !s->item) continue;
        value v = dae_symbol_value(r, s, s->place);
        if (r->failed) continue;
        for (int k = 0; k < (s->ndim ? s->count : 1); k++) {
            char index[64], text[200];
            dae_symbol_index_text(s, k, index, sizeof index);
            snprintf(text, sizeof text, "%s%s", s->name, index);
            if (!dae_reader_grow(r, (void **)&m->let, &m->let_capacity, m->nlet + 1, sizeof *m->let)) return;
            m->let[m->nlet++] = (dae_model_let){.name = dae_store_text(r->store, text, strlen(text)),
                                                .node = v.ndim ? v.list[k] : v.node,
                                                .dimension = v.dimension,
                                                .place = s->place};
        }
    }
}

/* ---- All ----------------------------------------------------------------------------------------- */

static void expand_for(reader *r, const context *c, const statement *s)
{
    int lo = dae_evaluate_whole(r, c, s->left), hi = dae_evaluate_whole(r, c, s->right),
        errors = r->messages->count;
    if (r->failed) return;
    if (!dae_reader_room(r, s->place, lo, hi)) return;
    for (int i = lo; i <= hi && !r->fatal && dae_reader_step(r, s->place); i++) {
        local l = {.name = s->name, .value = dae_value_number(r, i), .line = s->place.line, .up = c->locals};
        expand(r, &(context){c->scope, &l}, s->body);
        if (r->messages->count > errors) return; /* the same error for every i helps nobody */
    }
}

static void expand_one(reader *r, const context *c, const statement *s)
{
    const statement *chosen = NULL;
    switch (s->kind) {
    case STATEMENT_EQUATION: add_equation(r, c, s); break;
    case STATEMENT_INIT:
        for (const item *i = s->items; i && !r->failed; i = i->next) add_init(r, c, i);
        break;
    case STATEMENT_FOR: expand_for(r, c, s); break;
    case STATEMENT_IF:
        dae_expand_choose(r, c, s, &chosen);
        expand(r, c, chosen);
        break;
    case STATEMENT_WHEN:
    case STATEMENT_EVERY:
    case STATEMENT_AT: add_event(r, c, s); break;
    case STATEMENT_SOLVE: add_solve(r, c, s); break;
    case STATEMENT_OUTPUT:
    case STATEMENT_PLOT:
    case STATEMENT_SCORE:
    case STATEMENT_PREFER:
    case STATEMENT_AVOID: add_list(r, c, s); break;
    case STATEMENT_REFERENCE: add_reference(r, c, s); break;
    case STATEMENT_USE: {
        if (dae_use_is_mechanism(r, c, s)) break;
        const scope *inner = dae_use_scope(r, c, s);
        if (inner) expand(r, &(context){inner, NULL}, inner->component->body);
        break;
    }
    default: break;
    }
}

static void expand(reader *r, const context *c, const statement *first)
{
    for (const statement *s = first; s && !r->fatal && r->messages->count < DAE_MODEL_MAX_ERRORS;
         s = s->next) {
        r->failed = 0;
        if (!dae_reader_step(r, s->place)) return;
        expand_one(r, c, s);
    }
}

void dae_expand_all(reader *r, const statement *first)
{
    static const scope top = {.prefix = ""};
    list_lets(r);
    expand(r, &(context){&top, NULL}, first);
}
