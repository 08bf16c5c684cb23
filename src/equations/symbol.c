/* Names of an equation file: what they are, how large, and the nodes of their elements. Values are found when they are asked
 * for the first time, so that the order of lines is free; a value that asks for itself is an error. */
#include "equations/reader.h"

#include "core/number.h"

#include "language/dimension.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Errors, memory ------------------------------------------------------------------------------ */

value dae_reader_wrong(reader *r, dae_place place, const char *format, ...)
{
    value none = {.dimension.soft = 1};
    char text[sizeof((dae_message *)0)->text];
    if (r->failed || r->fatal) return none;
    r->failed = 1;
    va_list args;
    va_start(args, format);
    dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    int again = !strncmp(text, "unknown ", 8) && dae_messages_told(r->messages, text); /* once is enough */
    if (!again) dae_messages_error(r->messages, place, "%s", text);
    return none;
}

int dae_reader_step(reader *r, dae_place place)
{
    if (r->fatal) return 0;
    if (dae_graph_failed(r->g)) {
        dae_reader_wrong(r, place, "the equations are too large (limit %d operations)", DAE_GRAPH_MAX_NODES);
        r->failed = r->fatal = 1;
        return 0;
    }
    if (++r->steps <= DAE_MODEL_MAX_STEPS) return 1;
    dae_reader_wrong(r, place, "the text is too long when it is written out (limit %d operations)",
                     DAE_MODEL_MAX_STEPS);
    r->failed = r->fatal = 1;
    return 0;
}

int dae_reader_room(reader *r, dae_place place, int lo, int hi)
{
    if (r->fatal) return 0;
    if ((long long)hi - lo <= DAE_MODEL_MAX_STEPS - (long long)r->steps) return 1;
    r->steps = DAE_MODEL_MAX_STEPS; /* told at once, not after the work */
    return dae_reader_step(r, place);
}

value dae_reader_starved(reader *r)
{
    dae_messages_starved(r->messages);
    r->failed = r->fatal = 1;
    return (value){.dimension.soft = 1};
}

void *dae_reader_take(reader *r, size_t size)
{
    void *p = dae_store_take(r->store, size);
    if (!p) dae_reader_starved(r);
    return p;
}

int dae_reader_grow(reader *r, void **array, int *capacity, int needed, size_t size)
{
    if (needed <= *capacity) return 1;
    size_t next = *capacity ? 2 * (size_t)*capacity : 16;
    while (next < (size_t)needed) next *= 2;
    void *p = realloc(*array, next * size);
    if (!p) return dae_reader_starved(r), 0;
    memset((char *)p + (size_t)*capacity * size, 0, (next - (size_t)*capacity) * size);
    *array = p;
    *capacity = (int)next;
    return 1;
}

/* ---- Finding ------------------------------------------------------------------------------------- */

static unsigned hash_name(const char *prefix, const char *name)
{
    unsigned h = 5381;
    for (; *prefix; prefix++) h = h * 33 + (unsigned char)*prefix;
    for (; *name; name++) h = h * 33 + (unsigned char)*name;
    return h % SYMBOL_BUCKETS;
}

static symbol *find_here(const reader *r, const char *prefix, const char *name)
{
    size_t n = strlen(prefix);
    for (symbol *s = r->bucket[hash_name(prefix, name)]; s; s = s->chain) {
        if (!strncmp(s->name, prefix, n) && !strcmp(s->name + n, name)) return s;
    }
    return NULL;
}

symbol *dae_symbol_find(const reader *r, const scope *s, const char *name)
{
    for (; s; s = s->up) {
        symbol *found = find_here(r, s->prefix, name);
        if (found) return found;
    }
    return NULL;
}

symbol *dae_symbol_declare(reader *r, const context *c, symbol_kind kind, const char *name, dae_place place)
{
    symbol *old = find_here(r, c->scope->prefix, name);
    if (!strcmp(name, "t") || !strcmp(name, "time")) {
        dae_reader_wrong(r, place, "\"%s\" is the time and cannot be declared", name);
        return NULL;
    }
    if (old) {
        dae_reader_wrong(r, place, "\"%s\" is declared twice (first in line %d)", name, old->place.line);
        return NULL;
    }
    symbol *s = dae_reader_take(r, sizeof *s);
    size_t n = strlen(c->scope->prefix), m = strlen(name);
    char *full = s ? dae_reader_take(r, n + m + 1) : NULL;
    if (!full) return NULL;
    memcpy(full, c->scope->prefix, n);
    memcpy(full + n, name, m);
    *s = (symbol){.name = full, .kind = kind, .place = place, .at = *c, .first = -1};
    unsigned h = hash_name(c->scope->prefix, name);
    s->chain = r->bucket[h];
    r->bucket[h] = s;
    *r->last = s;
    r->last = &s->after;
    return s;
}

/* ---- Spelling ------------------------------------------------------------------------------------ */

static int smallest(int a, int b, int c)
{
    return a < b ? (a < c ? a : c) : b < c ? b : c;
}

/* Letters to change, add or leave out; long names count as far apart. */
static int distance(const char *a, const char *b)
{
    enum { longest = 32 };
    int row[longest + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > longest || m > longest || abs(n - m) > 2) return 99;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int above = row[j];
            row[j] = smallest(row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[m];
}

/* But for capitals? */
static int same_letters(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return !*a && !*b;
}

static const char *nearest(const reader *r, const scope *s, const char *name)
{
    const char *best = NULL;
    int least = strlen(name) <= 2 ? 1 : strlen(name) <= 4 ? 2 : 3; /* at most one letter less than this */
    for (const symbol *x = r->first; x; x = x->after) {
        for (const scope *k = s; k; k = k->up) {
            size_t n = strlen(k->prefix);
            if (strncmp(x->name, k->prefix, n) != 0) continue;
            int d = same_letters(name, x->name + n) ? 0 : distance(name, x->name + n);
            if (d < least) best = x->name + n, least = d;
        }
    }
    return best;
}

/* xdot, x_dot, dx, d_x of a variable x; d of d/dt. */
static int is_rate(const reader *r, const context *c, const char *name, char *variable, size_t size)
{
    static const char *const before[] = {"d_", "d", "D"}, *const after[] = {"_dot", "dot", "_prime", "_t"};
    size_t n = strlen(name);
    snprintf(variable, size, "x");
    if (!strcmp(name, "d")) return 1;
    for (size_t k = 0; k < 7; k++) {
        const char *part = k < 3 ? before[k] : after[k - 3];
        size_t m = strlen(part);
        if (n <= m || n - m >= size || memcmp(k < 3 ? name : name + n - m, part, m) != 0) continue;
        snprintf(variable, size, "%.*s", (int)(n - m), k < 3 ? name + m : name);
        const symbol *s = dae_symbol_find(r, c->scope, variable);
        if (s && s->kind == SYMBOL_VAR) return 1;
    }
    return 0;
}

void dae_symbol_unknown(reader *r, const context *c, const char *name, dae_place place)
{
    const char *near = nearest(r, c->scope, name), *here = dae_habit_name(name);
    char variable[80];
    if (is_rate(r, c, name, variable, sizeof variable))
        dae_reader_wrong(r, place, "unknown name \"%s\": the derivative is written %s' or der(%s)", name,
                         variable, variable);
    else if (here) dae_reader_wrong(r, place, "unknown name \"%s\": write %s", name, here);
    else if (near) dae_reader_wrong(r, place, "unknown name \"%s\"; did you mean \"%s\"?", name, near);
    else dae_reader_wrong(r, place, "unknown name \"%s\" (declare it with var, param or let)", name);
}

int dae_setting_known(const reader *r, const char *name, char *suggestion, size_t size)
{
    scope top = {.prefix = ""};
    const char *near = nearest(r, &top, name);
    snprintf(suggestion, size, "%s", near ? near : "");
    return near != NULL;
}

/* ---- Sizes --------------------------------------------------------------------------------------- */

/* Does an expression name something that sizes arrays: an int, or (without a blank before the bracket) any value that can be
 * known while reading? */
static int names_size(const reader *r, const context *c, const tree *t, int tight)
{
    if (!t) return 0;
    if (t->kind == TREE_NAME) {
        const symbol *s = dae_symbol_find(r, c->scope, t->name);
        if (!s) return 0;
        return (s->kind == SYMBOL_PARAM && s->is_int) ||
               (tight && (s->kind == SYMBOL_PARAM || (s->kind == SYMBOL_LET && (s->is_const || s->listed))));
    }
    return names_size(r, c, t->a, tight) || names_size(r, c, t->b, tight);
}

int dae_symbol_is_unit(const reader *r, const context *c, const item *i)
{
    return i->unit && (!i->unit_or_size || !names_size(r, c, i->dims->a, i->unit_or_size == 1));
}

static int find_shape(reader *r, symbol *s)
{
    long count = 1;
    int n = 0;
    const item *from = s->item;
    if (from && !(from->unit_or_size && dae_symbol_is_unit(r, &s->at, from))) s->dims = from->dims;
    /* let u[3] = x is one element, handled by declare.c; here all indices are ranges or sizes */
    for (const tree *d = s->dims; d; d = d->next, n++) {
        int lo = d->b ? dae_evaluate_whole(r, &s->at, d->a) : 1;
        int hi = dae_evaluate_whole(r, &s->at, d->b ? d->b : d->a);
        if (r->failed) return 0;
        if (hi < lo - 1) {
            dae_reader_wrong(r, d->place, "the range %d..%d of \"%s\" is empty", lo, hi, s->name);
            return 0;
        }
        s->lo[n] = lo;
        s->size[n] = hi - lo + 1;
        count *= s->size[n];
        if (count > 10L * DAE_MODEL_MAX_EQUATIONS) {
            dae_reader_wrong(r, s->place, "\"%s\" has more than %d elements", s->name,
                             10 * DAE_MODEL_MAX_EQUATIONS);
            return 0;
        }
    }
    s->ndim = n;
    s->count = (int)count;
    if (s->kind == SYMBOL_LET || s->kind == SYMBOL_PARAM) {
        s->node = dae_reader_take(r, ((size_t)count + 1) * sizeof *s->node);
        if (!s->node) return 0;
        for (int i = 0; i < s->count; i++) s->node[i] = NODE_UNKNOWN;
    }
    return 1;
}

int dae_symbol_shape(reader *r, symbol *s)
{
    if (s->shaped == 2) return 1;
    if (s->shaped == 1) {
        dae_reader_wrong(r, s->place, "the size of \"%s\" is defined by itself", s->name);
        return 0;
    }
    if (s->shaped == 3) return r->failed = 1, 0;
    s->shaped = 1;
    int good = find_shape(r, s);
    s->shaped = good ? 2 : 3;
    return good;
}

void dae_symbol_index_text(const symbol *s, int offset, char *out, size_t size)
{
    int index[MAX_INDICES];
    size_t used = 0;
    out[0] = 0;
    for (int k = s->ndim - 1; k >= 0; k--) {
        index[k] = s->lo[k] + offset % s->size[k];
        offset /= s->size[k];
    }
    for (int k = 0; k < s->ndim && used < size; k++)
        used += (size_t)snprintf(out + used, size - used, "%c%d", k ? ',' : '[', index[k]);
    if (s->ndim && used < size) snprintf(out + used, size - used, "]");
}

static const char *element_name(reader *r, const symbol *s, int offset)
{
    char index[64], text[160];
    dae_symbol_index_text(s, offset, index, sizeof index);
    int n = snprintf(text, sizeof text, "%s%s", s->name, index);
    return dae_store_text(r->store, text, (size_t)(n < (int)sizeof text ? n : (int)sizeof text - 1));
}

/* ---- Values of elements -------------------------------------------------------------------------- */

/* The unit of the declaration (var u [V]), NULL: none. Known with the sizes. */
static const item *declared_unit(const symbol *s)
{
    return s->item && s->item->unit && !(s->item->unit_or_size && s->dims) ? s->item : NULL;
}

/* A value in the declared unit: a number without unit counts in it. */
static value in_unit(reader *r, const symbol *s, const tree *t, value v)
{
    const item *i = declared_unit(s);
    if (!i || r->failed) return v;
    value unit = {.dimension = i->unit_dimension};
    if (!v.dimension.soft) {
        dae_check_agree(r, t->place, &unit, &v, "=");
    } else if (i->unit_factor != 1) {
        if (dae_graph_node(r->g, v.node).op != OP_NUMBER)
            return dae_reader_wrong(
                r, t->place, "the value of \"%s\" in [%s] has no unit of its own: give its parts units",
                s->name, i->unit);
        v.node = dae_graph_multiply(r->g, v.node, dae_graph_number(r->g, i->unit_factor));
    }
    v.dimension = i->unit_dimension;
    return v;
}

static value initial_value(reader *r, symbol *s, const tree *t, int offset, value *whole);

value dae_symbol_initial(reader *r, symbol *s, const tree *t, int offset, value *whole)
{
    return in_unit(r, s, t, initial_value(r, s, t, offset, whole));
}

/* The declared value of element `offset`: the tree with the indices bound, or the element of an array. */
static value initial_value(reader *r, symbol *s, const tree *t, int offset, value *whole)
{
    local index[MAX_INDICES];
    const local *up = s->at.locals;
    context c = s->at;
    int named = 0, rest = offset, k = s->ndim - 1;
    for (; k >= 0; k--) {
        index[k] = (local){.value = dae_value_number(r, s->lo[k] + rest % s->size[k])};
        rest /= s->size[k];
    }
    k = 0;
    for (const tree *d = s->dims; d && k < s->ndim; d = d->next, k++) {
        if (!d->name) continue;
        index[k].name = d->name;
        index[k].up = up;
        up = &index[k];
        named = 1;
    }
    c.locals = up;
    if (named || !s->ndim) return dae_evaluate_scalar(r, &c, t);
    if (!whole->ndim && !whole->node) { /* once for all elements */
        *whole = dae_evaluate(r, &c, t);
        if (r->failed) return *whole;
        if (whole->ndim && whole->count != s->count)
            return dae_reader_wrong(r, t->place, "%d values for the %d elements of \"%s\"", whole->count,
                                    s->count, s->name);
    }
    value v = *whole;
    if (whole->ndim) v.node = whole->list[offset];
    v.ndim = 0;
    return v;
}

static double parameter_value(reader *r, symbol *s, int offset, value *whole)
{
    dae_model_parameter *p = &r->m->parameter[s->first + offset];
    double x = 0;
    value v = {.dimension.soft = 1};
    if (s->item->value) {
        v = dae_symbol_initial(r, s, s->item->value, offset, whole);
        if (r->failed) return 0;
        if (dae_value_depends(r, v.node, OP_TIME, OP_TIME) ||
            dae_value_depends(r, v.node, OP_DISCRETE, OP_VARIABLE)) {
            dae_reader_wrong(r, s->item->value->place,
                             "the value of \"%s\" must not depend on variables or time", s->name);
            return 0;
        }
        x = dae_model_constant(r->m, v.node);
    }
    p = &r->m->parameter[s->first + offset]; /* the list may have moved */
    p->dimension = v.dimension;
    const item *in = declared_unit(s);
    p->needs_unit = in ? in->unit_factor != 1
                       : s->item->value && s->item->value->kind == TREE_NUMBER && !s->item->value->plain;
    if (!dae_setting_number(r, p->name, p, &x)) return 0;
    p = &r->m->parameter[s->first + offset];
    p->node = p->set || dae_graph_is_number(r->g, v.node, NULL) ? 0 : v.node;
    if (s->is_int && (x != floor(x) || fabs(x) > 1e9)) {
        dae_reader_wrong(r, s->place, "\"%s\" = %g is not a whole number", p->name, x);
        return 0;
    }
    if (!s->has_dimension) s->dimension = v.dimension, s->has_dimension = 1;
    return x;
}

static double end_of_range(reader *r, symbol *s, const tree *t)
{
    double x = dae_evaluate_known(r, &s->at, t);
    const item *in = declared_unit(s);
    return in && t->kind == TREE_NUMBER && t->dimension.soft ? x * in->unit_factor : x;
}

static int check_range(reader *r, symbol *s, int offset)
{
    double lo = s->item->min ? end_of_range(r, s, s->item->min) : 1;
    double hi = s->item->min ? end_of_range(r, s, s->item->max) : 0;
    dae_model_parameter *p = &r->m->parameter[s->first + offset];
    if (r->failed) return 0;
    p->min = lo;
    p->max = hi;
    if (!s->item->min || (p->value >= lo && p->value <= hi)) return 1;
    dae_reader_wrong(r, p->set ? (dae_place){0, 0} : s->place, "%s%s = %g lies outside its range %g..%g",
                     p->set ? "--set: " : "", p->name, p->value, lo, hi);
    return 0;
}

/* The node of element `offset` of a parameter: a symbol, but a number if it is 0, or int. */
static int parameter_node(reader *r, symbol *s, int offset)
{
    value whole = {0};
    if (s->node[offset] >= 0) return s->node[offset];
    if (s->node[offset] != NODE_UNKNOWN) {
        if (s->node[offset] == NODE_ACTIVE)
            dae_reader_wrong(r, s->place, "the value of \"%s\" is defined by itself", s->name);
        r->failed = 1;
        return 0;
    }
    int from = offset, to = offset + 1, named = 0;
    for (const tree *d = s->dims; d; d = d->next) named |= d->name != NULL;
    if (s->ndim && !named) from = 0, to = s->count; /* one array of values: all at once */
    for (int i = from; i < to; i++) s->node[i] = NODE_ACTIVE;
    for (int i = from; i < to; i++) {
        double x = r->failed ? 0 : parameter_value(r, s, i, &whole);
        if (!r->failed) {
            r->m->parameter[s->first + i].value = x;
            check_range(r, s, i);
        }
        if (r->failed) s->node[i] = NODE_FAILED;
        else
            s->node[i] =
                s->is_int || x == 0 ? dae_graph_number(r->g, x) : dae_graph_parameter(r->g, s->first + i);
    }
    return r->failed ? 0 : s->node[offset];
}

/* "a -> b -> a" of the definitions that are open. */
static void defined_by_itself(reader *r, symbol *s)
{
    char path[200];
    size_t used = (size_t)snprintf(path, sizeof path, "%s", s->name);
    for (const symbol *x = r->first; x && used < sizeof path - 80; x = x->after) {
        if (x == s || x->kind != SYMBOL_LET || x->shaped != 2) continue;
        for (int i = 0; i < x->count; i++) {
            if (x->node[i] != NODE_ACTIVE) continue;
            used += (size_t)snprintf(path + used, sizeof path - used, " -> %s", x->name);
            break;
        }
    }
    dae_reader_wrong(r, s->place,
                     "\"%s\" is defined by itself (%s -> %s); make it a variable (var) and write an equation",
                     s->name, path, s->name);
}

static int let_node(reader *r, symbol *s, int offset)
{
    value whole = {0};
    if (!s->node) /* let u[0] = ... alone */
        return dae_reader_wrong(r, s->place, "\"%s\" has no value as a whole, only elements: write %s[%d]",
                                s->name, s->name, s->extras ? s->extras->index[0] : 1),
               0;
    if (s->node[offset] >= 0) return s->node[offset];
    if (s->node[offset] == NODE_ACTIVE) defined_by_itself(r, s);
    if (s->node[offset] != NODE_UNKNOWN) return r->failed = 1, 0;
    if (!s->item->value)
        return dae_reader_wrong(r, s->place, "\"%s\" needs a value: let %s = ...", s->name, s->name), 0;
    int named = 0, from = offset, to = offset + 1;
    for (const tree *d = s->dims; d; d = d->next) named |= d->name != NULL;
    if (s->ndim && !named) from = 0, to = s->count;
    for (int i = from; i < to; i++) s->node[i] = NODE_ACTIVE;
    for (int i = from; i < to; i++) {
        value v = dae_symbol_initial(r, s, s->item->value, i, &whole);
        if (!r->failed && s->is_const &&
            (dae_value_depends(r, v.node, OP_TIME, OP_TIME) ||
             dae_value_depends(r, v.node, OP_DISCRETE, OP_VARIABLE)))
            dae_reader_wrong(r, s->place, "const \"%s\" depends on variables or time: use let", s->name);
        s->node[i] = r->failed ? NODE_FAILED : v.node;
        if (!r->failed && !s->has_dimension) s->dimension = v.dimension, s->has_dimension = 1;
    }
    return r->failed ? 0 : s->node[offset];
}

/* ---- Numbering ----------------------------------------------------------------------------------- */

static int check_room(reader *r, const symbol *s, int have)
{
    if (have + s->count <= 5 * DAE_MODEL_MAX_EQUATIONS) return 1;
    dae_reader_wrong(r, s->place, "more than %d variables or parameters", 5 * DAE_MODEL_MAX_EQUATIONS);
    r->fatal = 1;
    return 0;
}

int dae_symbol_number(reader *r, symbol *s)
{
    dae_model *m = r->m;
    if (s->first >= 0) return 1;
    if (!dae_symbol_shape(r, s)) return 0;
    int *n = s->kind == SYMBOL_VAR        ? &m->nvariable
             : s->kind == SYMBOL_DISCRETE ? &m->ndiscrete
                                          : &m->nparameter,
        first = *n;
    if (!check_room(r, s, first)) return 0;
    if (s->kind == SYMBOL_VAR && first + s->count > DAE_MODEL_MAX_EQUATIONS) {
        dae_reader_wrong(r, s->place, "more than %d variables", DAE_MODEL_MAX_EQUATIONS);
        r->fatal = 1;
        return 0;
    }
    int good = s->kind == SYMBOL_VAR ? dae_reader_grow(r, (void **)&m->variable, &m->variable_capacity,
                                                       first + s->count, sizeof *m->variable)
               : s->kind == SYMBOL_DISCRETE
                   ? dae_reader_grow(r, (void **)&m->discrete, &m->discrete_capacity, first + s->count,
                                     sizeof *m->discrete)
                   : dae_reader_grow(r, (void **)&m->parameter, &m->parameter_capacity, first + s->count,
                                     sizeof *m->parameter);
    if (!good) return 0;
    const item *in = declared_unit(s);
    dae_dimension dimension = in ? in->unit_dimension : (dae_dimension){.soft = 1};
    for (int i = 0; i < s->count; i++) {
        const char *name = element_name(r, s, i);
        if (s->kind == SYMBOL_VAR) {
            m->variable[first + i] =
                (dae_model_variable){.name = name, .place = s->place, .dimension = dimension};
        } else if (s->kind == SYMBOL_DISCRETE) {
            m->discrete[first + i] =
                (dae_model_discrete){.name = name, .place = s->place, .dimension = dimension};
        } else {
            m->parameter[first + i] = (dae_model_parameter){.name = name,
                                                            .help = s->item ? s->item->text : "",
                                                            .place = s->place,
                                                            .min = 1,
                                                            .max = 0,
                                                            .integer = s->is_int,
                                                            .element = s->ndim > 0};
        }
    }
    s->first = first;
    *n += s->count;
    return 1;
}

/* ---- References ---------------------------------------------------------------------------------- */

static int element_node(reader *r, symbol *s, int offset)
{
    if (s->kind == SYMBOL_LET) return let_node(r, s, offset);
    if (!dae_symbol_number(r, s)) return 0;
    if (s->kind == SYMBOL_VAR) return dae_graph_variable(r->g, s->first + offset, 0);
    if (s->kind == SYMBOL_DISCRETE) return dae_graph_discrete(r->g, s->first + offset);
    return parameter_node(r, s, offset);
}

static dae_dimension dimension_of(const reader *r, const symbol *s, int offset)
{
    dae_dimension soft = {.soft = 1};
    if (s->kind == SYMBOL_VAR && s->first >= 0) return r->m->variable[s->first + offset].dimension;
    if (s->kind == SYMBOL_DISCRETE && s->first >= 0) return r->m->discrete[s->first + offset].dimension;
    return s->has_dimension ? s->dimension : soft;
}

value dae_symbol_value(reader *r, symbol *s, dae_place place)
{
    value v = {.dimension.soft = 1};
    switch (s->kind) {
    case SYMBOL_FN:
    case SYMBOL_TABLE:
        return dae_reader_wrong(r, place, "\"%s\" is a function: write %s(...)", s->name, s->name);
    case SYMBOL_COMPONENT:
        return dae_reader_wrong(r, place, "\"%s\" is a component: write use name = %s(...)", s->name,
                                s->name);
    case SYMBOL_MECHANISM:
        return dae_reader_wrong(r, place,
                                "\"%s\" is a mechanism: name a signal or an input of it, as %s.JOINT.speed",
                                s->name, s->name);
    case SYMBOL_CHOICE:
    case SYMBOL_WORD: return dae_value_number(r, s->number);
    default: break;
    }
    if (!dae_symbol_shape(r, s)) return v;
    if (!s->ndim) {
        v.node = element_node(r, s, 0);
        v.dimension = dimension_of(r, s, 0);
        return v;
    }
    int *list = dae_reader_take(r, ((size_t)s->count + 1) * sizeof *list);
    v.ndim = s->ndim;
    v.count = s->count;
    memcpy(v.size, s->size, sizeof v.size);
    for (int i = 0; list && i < s->count && !r->failed && dae_reader_step(r, place); i++)
        list[i] = element_node(r, s, i);
    v.list = list;
    v.dimension = s->count ? dimension_of(r, s, 0) : v.dimension;
    return v;
}

static value extra_value(reader *r, extra *x)
{
    value v = {.dimension.soft = 1};
    if (x->node == NODE_ACTIVE)
        return dae_reader_wrong(r, x->item->place, "\"%s[%d]\" is defined by itself", x->item->name,
                                x->index[0]);
    if (x->node == NODE_FAILED) return r->failed = 1, v;
    if (x->node == NODE_UNKNOWN) {
        x->node = NODE_ACTIVE;
        v = dae_evaluate_scalar(r, &x->at, x->item->value);
        x->node = r->failed ? NODE_FAILED : v.node;
        x->dimension = v.dimension;
    }
    v.node = x->node < 0 ? 0 : x->node;
    v.dimension = x->dimension;
    return v;
}

static value outside(reader *r, const context *c, const symbol *s, const int *index, dae_place place)
{
    char at[80] = "", range[120] = "", loop[100] = "";
    size_t used = 0, room = 0;
    for (int k = 0; k < s->ndim && used < sizeof at && room < sizeof range; k++) {
        used += (size_t)snprintf(at + used, sizeof at - used, "%s%d", k ? "," : "", index[k]);
        room += (size_t)snprintf(range + room, sizeof range - room, "%s%d..%d", k ? "," : "", s->lo[k],
                                 s->lo[k] + s->size[k] - 1);
    }
    const local *l = c->locals;
    while (l && !l->line) l = l->up;
    if (l) {
        dae_snprintf(loop, sizeof loop, " (%.30s = %g in the loop of line %d)", l->name,
                     dae_model_constant(r->m, l->value.node), l->line);
    }
    return dae_reader_wrong(r, place, "%s[%s] is outside %s[%s]%s", s->name, at, s->name, range, loop);
}

value dae_symbol_element(reader *r, const context *c, symbol *s, int n, const int *index, dae_place place)
{
    value v = {.dimension.soft = 1};
    if (s->kind == SYMBOL_FN || s->kind == SYMBOL_TABLE || s->kind == SYMBOL_COMPONENT ||
        s->kind == SYMBOL_WORD)
        return dae_symbol_value(r, s, place);
    if (!dae_symbol_shape(r, s)) return v;
    for (extra *x = s->extras; x; x = x->next) {
        int same = x->n == n;
        for (int k = 0; k < n && same; k++) same = x->index[k] == index[k];
        if (same) return extra_value(r, x);
    }
    if (!s->ndim && !s->extras) {
        const item *in = declared_unit(s);
        if (in && in->unit_or_size)
            return dae_reader_wrong(
                r, place,
                "\"%s\" is not an array: its declaration (line %d) gives it the unit [%s]; a "
                "size is an int, or stands without a blank: %s[%s]",
                s->name, s->place.line, in->unit, s->name, in->unit);
        return dae_reader_wrong(r, place, "\"%s\" is not an array", s->name);
    }
    if (n != s->ndim)
        return dae_reader_wrong(r, place, "\"%s\" has %d ind%s, found %d", s->name, s->ndim,
                                s->ndim == 1 ? "ex" : "ices", n);
    int offset = 0;
    for (int k = 0; k < n; k++) {
        if (index[k] < s->lo[k] || index[k] >= s->lo[k] + s->size[k]) return outside(r, c, s, index, place);
        offset = offset * s->size[k] + index[k] - s->lo[k];
    }
    v.node = element_node(r, s, offset);
    v.dimension = dimension_of(r, s, offset);
    return v;
}
