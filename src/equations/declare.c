/* Declarations: first all names, so that the order of lines is free, then numbers for variables in the order of the text
 * (components where they are used), then their initial values. */
#include "equations/reader.h"

#include <stdio.h>
#include <string.h>

enum { max_instances = 100000, max_instance_depth = 50 };

typedef void visit_fn(reader *r, const context *c, const statement *s);

/* ---- Names --------------------------------------------------------------------------------------- */

/* let u[0] = ...: one element of an array, besides those of its declaration. */
static int is_element(const item *i)
{
    return i->dims && !i->dims->name && !i->dims->b && i->value && i->value->kind != TREE_ARRAY;
}

static void declare_element(reader *r, const context *c, const item *i)
{
    symbol *s = dae_symbol_find(r, c->scope, i->name);
    extra *x = dae_reader_take(r, sizeof *x);
    if (!x) return;
    if (!s) { /* only elements: an array without a range */
        s = dae_symbol_declare(r, c, SYMBOL_LET, i->name, i->place);
        if (!s) return;
        s->shaped = 2;
    }
    *x = (extra){.node = NODE_UNKNOWN, .at = *c, .item = i};
    for (const tree *d = i->dims; d; d = d->next) x->index[x->n++] = dae_evaluate_whole(r, c, d->a);
    if (r->failed) return;
    x->next = s->extras;
    s->extras = x;
}

static void declare_item(reader *r, const context *c, const statement *s, const item *i)
{
    symbol_kind kind = s->kind == STATEMENT_VAR                                 ? SYMBOL_VAR
                       : s->kind == STATEMENT_DISCRETE                          ? SYMBOL_DISCRETE
                       : s->kind == STATEMENT_PARAM || s->kind == STATEMENT_INT ? SYMBOL_PARAM
                                                                                : SYMBOL_LET;
    symbol *x = dae_symbol_declare(r, c, kind, i->name, i->place);
    if (!x) return;
    x->item = i;
    x->is_const = s->kind == STATEMENT_CONST;
    x->is_int = s->kind == STATEMENT_INT;
    if (!i->value && kind != SYMBOL_VAR && kind != SYMBOL_DISCRETE)
        dae_reader_wrong(r, i->place, "\"%s\" needs a value: %s = ...", i->name, i->name);
}

static void declare_items(reader *r, const context *c, const statement *s)
{
    for (const item *i = s->items; i; i = i->next) {
        r->failed = 0;
        if (s->kind == STATEMENT_LET && is_element(i)) continue; /* when all arrays are known */
        declare_item(r, c, s, i);
    }
}

static void declare_choice(reader *r, const context *c, const statement *s)
{
    symbol *x = dae_symbol_declare(r, c, SYMBOL_CHOICE, s->name, s->place), *w;
    dae_model *m = r->m;
    size_t length = 0;
    double position = 0;
    if (!x || !dae_reader_grow(r, (void **)&m->parameter, &m->parameter_capacity, m->nparameter + 1,
                               sizeof *m->parameter))
        return;
    for (const item *i = s->items; i; i = i->next) length += strlen(i->name) + 1;
    char *words = dae_reader_take(r, length + 1);
    for (const item *i = s->items; i && words; i = i->next, position++) {
        strcat(strcat(words, i == s->items ? "" : "|"), i->name);
        w = dae_symbol_find(r, c->scope, i->name);
        if (w && w->kind == SYMBOL_WORD) { /* two choices may share a word if it stands at the same place */
            if (w->number != position)
                dae_reader_wrong(r, i->place, "the word \"%s\" has another place in an earlier choice",
                                 i->name);
            continue;
        }
        w = dae_symbol_declare(r, c, SYMBOL_WORD, i->name, i->place);
        if (w) w->number = position;
    }
    if (!words) return;
    x->first = m->nparameter++;
    m->parameter[x->first] = (dae_model_parameter){.name = x->name,
                                                   .help = s->text,
                                                   .place = s->place,
                                                   .min = 0,
                                                   .max = position - 1,
                                                   .integer = 1,
                                                   .choices = words};
    if (!dae_setting_number(r, x->name, &m->parameter[x->first], &x->number)) return;
    m->parameter[x->first].value = x->number;
}

static void declare_one(reader *r, const context *c, const statement *s)
{
    symbol *x;
    switch (s->kind) {
    case STATEMENT_PARAM:
    case STATEMENT_CONST:
    case STATEMENT_INT:
    case STATEMENT_VAR:
    case STATEMENT_DISCRETE:
    case STATEMENT_LET: declare_items(r, c, s); break;
    case STATEMENT_CHOICE: declare_choice(r, c, s); break;
    case STATEMENT_FN:
    case STATEMENT_TABLE:
    case STATEMENT_COMPONENT:
        x = dae_symbol_declare(r, c,
                               s->kind == STATEMENT_FN      ? SYMBOL_FN
                               : s->kind == STATEMENT_TABLE ? SYMBOL_TABLE
                                                            : SYMBOL_COMPONENT,
                               s->name, s->place);
        if (x) x->statement = s;
        break;
    default: break;
    }
}

static void declare_elements(reader *r, const context *c, const statement *s)
{
    for (const item *i = s->kind == STATEMENT_LET ? s->items : NULL; i; i = i->next) {
        r->failed = 0;
        if (!is_element(i)) continue;
        if (dae_symbol_is_unit(r, c, i)) declare_item(r, c, s, i); /* let P [W] = u*i */
        else declare_element(r, c, i);
    }
}

/* ---- Components ---------------------------------------------------------------------------------- */

/* The scope of `use name = component(...)`; the same one each time it is asked for. */
const scope *dae_use_scope(reader *r, const context *c, const statement *s)
{
    char prefix[400];
    symbol *x = dae_symbol_find(r, c->scope, s->left->name);
    if (!x || x->kind != SYMBOL_COMPONENT) {
        dae_reader_wrong(r, s->left->place, "there is no component \"%s\"", s->left->name);
        return NULL;
    }
    int depth = 0;
    for (const scope *k = c->scope; k; k = k->up, depth++) {
        if (k->component == x->statement) {
            dae_reader_wrong(r, s->left->place, "the component \"%s\" uses itself", x->name);
            return NULL;
        }
    }
    int n = snprintf(prefix, sizeof prefix, "%s%s.", c->scope->prefix, s->name);
    scope *made = dae_reader_take(r, sizeof *made);
    if (!made || n >= (int)sizeof prefix || depth > max_instance_depth) {
        dae_reader_wrong(r, s->place, "components are nested too deeply (limit %d)", max_instance_depth);
        return NULL;
    }
    *made = (scope){
        .prefix = dae_store_text(r->store, prefix, (size_t)n), .up = c->scope, .component = x->statement};
    return made;
}

/* Arguments of a component are names in its scope; values are looked at where it is used. */
static void declare_arguments(reader *r, const context *c, const statement *s, const scope *inner)
{
    context there = {inner, NULL};
    for (const item *i = inner->component->items; i; i = i->next) {
        const item *given = s->items;
        while (given && strcmp(given->name, i->name) != 0) given = given->next;
        if (!given && !i->value) {
            dae_reader_wrong(r, s->place, "the component \"%s\" needs a value for \"%s\"",
                             inner->component->name, i->name);
            return;
        }
        symbol *x = dae_symbol_declare(r, &there, SYMBOL_LET, i->name, i->place);
        if (!x) return;
        x->item = given ? given : i;
        x->at = given ? *c : (context){inner->up, NULL};
        x->is_const = 0;
        x->listed = 1;
    }
    for (const item *given = s->items; given; given = given->next) {
        const item *i = inner->component->items;
        while (i && strcmp(i->name, given->name) != 0) i = i->next;
        if (!i) {
            dae_reader_wrong(r, given->place, "the component \"%s\" has no argument \"%s\"",
                             inner->component->name, given->name);
            return;
        }
    }
}

/* ---- Walking ------------------------------------------------------------------------------------- */

static void declare_names(reader *r, const context *c, const statement *s);

static void declare_use(reader *r, const context *c, const statement *s)
{
    if (dae_use_is_mechanism(r, c, s)) {
        dae_mechanism_declare(r, c, s);
        return;
    }
    const scope *inner = dae_use_scope(r, c, s);
    if (!inner) return;
    if (++r->ninstance > max_instances) {
        dae_reader_wrong(r, s->place, "more than %d components", max_instances);
        r->fatal = 1;
        return;
    }
    declare_arguments(r, c, s, inner);
    if (!r->failed) declare_names(r, &(context){inner, NULL}, inner->component->body);
}

static void declare_names(reader *r, const context *c, const statement *first)
{
    for (const statement *s = first; s && !r->fatal; s = s->next) {
        r->failed = 0;
        if (!dae_reader_step(r, s->place)) return;
        declare_one(r, c, s);
    }
    for (const statement *s = first; s && !r->fatal; s = s->next) {
        r->failed = 0;
        const statement *chosen = NULL;
        if (s->kind == STATEMENT_IF) {
            dae_expand_choose(r, c, s, &chosen);
            declare_names(r, c, chosen);
        } else if (s->kind == STATEMENT_USE) {
            declare_use(r, c, s);
        } else if (s->kind == STATEMENT_FOR) {
            for (const statement *b = s->body; b; b = b->next) {
                if (b->kind <= STATEMENT_TABLE && b->kind != STATEMENT_MODEL)
                    dae_reader_wrong(r, b->place,
                                     "declarations stand outside of loops (write %s %s[%s in 1..n]%s)",
                                     b->kind == STATEMENT_LET ? "let" : "var",
                                     b->kind == STATEMENT_LET && b->items ? b->items->name : "x",
                                     b->kind == STATEMENT_LET && b->items ? s->name : "i",
                                     b->kind == STATEMENT_LET ? " = ..." : "");
            }
        }
    }
    for (const statement *s = first; s && !r->fatal; s = s->next) declare_elements(r, c, s);
}

/* ---- Numbers and initial values ------------------------------------------------------------------ */

static void give_start(reader *r, symbol *x, int offset, const value *v)
{
    dae_model *m = r->m;
    int j = x->first + offset;
    if (!dae_reader_grow(r, (void **)&m->start, &m->start_capacity, m->nstart + 1, sizeof *m->start)) return;
    m->variable[j].dimension = v->dimension;
    m->start[m->nstart++] = (dae_model_start){.variable = j,
                                              .bound = !x->item->guess,
                                              .node = v->node,
                                              .value = dae_model_constant(m, v->node),
                                              .place = x->item->value->place};
}

static void number_variable(reader *r, symbol *x)
{
    value whole = {0};
    if (!dae_symbol_number(r, x)) return;
    if (!x->item->value) return;
    for (int i = 0; i < x->count && !r->failed && dae_reader_step(r, x->place); i++) {
        value v = dae_symbol_initial(r, x, x->item->value, i, &whole);
        if (r->failed) return;
        if (dae_value_depends(r, v.node, OP_TIME, OP_TIME) ||
            dae_value_depends(r, v.node, OP_DISCRETE, OP_VARIABLE)) {
            dae_reader_wrong(r, x->item->value->place,
                             "the initial value of \"%s\" must not depend on variables or time (use init)",
                             x->name);
            return;
        }
        if (x->kind == SYMBOL_VAR) {
            give_start(r, x, i, &v);
        } else {
            r->m->discrete[x->first + i].start = dae_model_constant(r->m, v.node);
            r->m->discrete[x->first + i].node = v.node;
            r->m->discrete[x->first + i].dimension = v.dimension;
        }
    }
}

static void number_items(reader *r, const context *c, const statement *first)
{
    for (const statement *s = first; s && !r->fatal; s = s->next) {
        const statement *chosen = NULL;
        r->failed = 0;
        if (s->kind == STATEMENT_IF) {
            dae_expand_choose(r, c, s, &chosen);
            number_items(r, c, chosen);
            continue;
        }
        if (s->kind == STATEMENT_USE && dae_use_is_mechanism(r, c, s)) continue;
        if (s->kind == STATEMENT_USE) {
            const scope *inner = dae_use_scope(r, c, s);
            if (inner) number_items(r, &(context){inner, NULL}, inner->component->body);
            continue;
        }
        if (s->kind != STATEMENT_VAR && s->kind != STATEMENT_DISCRETE && s->kind != STATEMENT_PARAM &&
            s->kind != STATEMENT_INT)
            continue;
        for (const item *i = s->items; i; i = i->next) {
            r->failed = 0;
            symbol *x = dae_symbol_find(r, c->scope, i->name);
            if (!x || x->item != i) continue;
            if (x->kind == SYMBOL_VAR || x->kind == SYMBOL_DISCRETE) number_variable(r, x);
            else if (dae_symbol_number(r, x)) dae_symbol_value(r, x, x->place);
        }
    }
}

void dae_declare_all(reader *r, const statement *first)
{
    static const scope top = {.prefix = ""};
    context c = {&top, NULL};
    declare_names(r, &c, first);
    if (r->messages->count) return;
    number_items(r, &c, first);
}
