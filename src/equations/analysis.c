/* From equations to their structure. The signature comes from the leaves of each equation; J and the differentiated equations from
 * the graph: D (total derivative) and gradients, so that everything is exact. */
#include "equations/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROUNDS = 200 }; /* repairs; each lowers the value of the transversal, so this is never reached */

/* ---- Signature ------------------------------------------------------------------------------------------ */

typedef struct entries {
    int count, capacity, *column, *order;
} entries;

static int push(entries *e, int column, int order)
{
    if (e->count + 1 >= e->capacity) { /* one place more than entries: the list is copied with its end */
        int capacity = 2 * e->capacity + 64;
        int *c = realloc(e->column, (size_t)capacity * sizeof *c);
        if (c) e->column = c;
        int *o = c ? realloc(e->order, (size_t)capacity * sizeof *o) : NULL;
        if (!o) return 0;
        e->order = o;
        e->capacity = capacity;
    }
    e->column[e->count] = column;
    e->order[e->count++] = order;
    return 1;
}

/* The variables of one equation, each with its highest order; at[j] is the place of variable j's entry, if it is in this row. */
static int row_of(const dae_graph *g, int node, int first, entries *e, int *at)
{
    int *list = NULL, count = dae_graph_reach(g, 1, &node, &list), good = count >= 0;
    for (int k = 0; k < count && good; k++) {
        dae_node x = dae_graph_node(g, list[k]);
        if (x.op != OP_VARIABLE) continue;
        int p = at[x.a];
        if (p >= first && p < e->count && e->column[p] == x.a) {
            if (x.b > e->order[p]) e->order[p] = x.b;
        } else {
            at[x.a] = e->count;
            good = push(e, x.a, x.b);
        }
    }
    free(list);
    return good;
}

static int find_signature(const dae_graph *g, int n, int nvar, const int *node, dae_arena *arena,
                          dae_signature *s)
{
    int *start = dae_arena_ints(arena, (size_t)n + 1), *at = dae_arena_ints(arena, (size_t)nvar + 1),
        good = start && at;
    entries e = {0};
    for (int i = 0; i < n && good; i++) {
        good = row_of(g, node[i], start[i], &e, at);
        start[i + 1] = e.count;
    }
    *s = (dae_signature){n, nvar, start, NULL, NULL};
    if (good) {
        s->column = dae_arena_copy(arena, e.column ? e.column : at, (size_t)e.count + 1, sizeof(int));
        s->order = dae_arena_copy(arena, e.order ? e.order : at, (size_t)e.count + 1, sizeof(int));
    }
    free(e.column);
    free(e.order);
    return good && s->column && s->order;
}

/* ---- J, places, derivatives ----------------------------------------------------------------------------- */

/* The derivative of a node by x_j^(order) among its partial derivatives; -1: it is identically 0. */
static int partial_by(const dae_graph *g, const dae_partial *p, int count, int j, int order)
{
    for (int k = 0; k < count; k++) {
        dae_node x = dae_graph_node(g, p[k].leaf);
        if (x.op == OP_VARIABLE && x.a == j && x.b == order) return p[k].derivative;
    }
    return -1;
}

static int find_jacobian(dae_graph *g, const dae_signature *s, dae_arena *arena, dae_analysis *a)
{
    int n = s->rows, count = 0;
    size_t most = (size_t)s->start[n] + 1;
    a->row_start = dae_arena_ints(arena, (size_t)n + 1);
    a->column = dae_arena_ints(arena, most);
    a->entry = dae_arena_ints(arena, most);
    if (dae_arena_failed(arena)) return 0;
    for (int i = 0; i < n; i++) {
        dae_partial *p = NULL;
        int np = dae_graph_gradient(g, a->node[i], &p);
        if (np < 0) return 0;
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
            int j = s->column[k], order = a->sigma.d[j] - a->sigma.c[i];
            int node = s->order[k] == order ? partial_by(g, p, np, j, order) : -1;
            if (node < 0) continue;
            a->column[count] = j;
            a->entry[count++] = node;
        }
        a->row_start[i + 1] = count;
        free(p);
    }
    return !dae_graph_failed(g);
}

static int differentiate(dae_graph *g, dae_arena *arena, dae_analysis *a)
{
    int n = a->n;
    a->place = dae_arena_ints(arena, (size_t)n + 1);
    a->first = dae_arena_ints(arena, (size_t)n + 1);
    if (dae_arena_failed(arena)) return 0;
    for (int i = 0; i < n; i++) {
        a->place[i + 1] = a->place[i] + a->sigma.d[i] + 1;
        a->first[i + 1] = a->first[i] + a->sigma.c[i] + 1;
    }
    a->total = a->place[n];
    a->value = dae_arena_ints(arena, (size_t)a->first[n] + 1);
    if (!a->value) return 0;
    for (int i = 0; i < n; i++) {
        int node = a->node[i];
        for (int m = 0; m <= a->sigma.c[i]; m++) {
            a->value[a->first[i] + m] = node;
            if (m < a->sigma.c[i]) node = dae_graph_derivative(g, node);
        }
    }
    return !dae_graph_failed(g);
}

int dae_analysis_of(const dae_analysis *a, const int *node, dae_arena *arena, dae_analysis *out)
{
    dae_graph *g = a->model->graph;
    *out = *a;
    out->node = dae_arena_copy(arena, node, (size_t)a->n + 1, sizeof *node);
    out->entry = dae_arena_ints(arena, (size_t)a->row_start[a->n] + 1);
    if (dae_arena_failed(arena)) return 0;
    for (int i = 0; i < a->n; i++) {
        dae_partial *p = NULL;
        int np = dae_graph_gradient(g, node[i], &p);
        if (np < 0) return 0;
        for (int e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
            int j = a->column[e], by = partial_by(g, p, np, j, a->sigma.d[j] - a->sigma.c[i]);
            out->entry[e] = by < 0 ? 0 : by;
        }
        free(p);
    }
    return differentiate(g, arena, out);
}

/* One pass without repair: 1: done; 0: no perfect matching; -1: no memory. */
static int analyze_once(dae_graph *g, dae_arena *arena, dae_analysis *a, dae_matching *m, dae_signature *s)
{
    if (!find_signature(g, a->n, a->n, a->node, arena, s)) return -1;
    int found = dae_sigma_find(s, arena, m, &a->sigma);
    if (found != 1) return found;
    return find_jacobian(g, s, arena, a) ? 1 : -1;
}

/* ---- Parts that do not fit ------------------------------------------------------------------------------ */

/* "a, b, c" of the flagged names; what does not fit becomes "...". */
static int list_names(const char *const *name, const unsigned char *flag, int n, char *text, size_t size)
{
    int count = 0, cut = 0;
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < n; i++) {
        if (!flag[i]) continue;
        count++;
        if (cut) continue;
        cut = used + strlen(name[i]) + 8 > size;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", cut ? "..." : name[i]);
    }
    return count;
}

/* Message 18 of the language page, and 17 without a culprit. */
static void blame(const dae_analysis *a, const dae_signature *s, const dae_matching *m, dae_arena *arena,
                  dae_messages *messages)
{
    unsigned char *row = dae_arena_take(arena, (size_t)s->rows + 1, 1),
                  *column = dae_arena_take(arena, (size_t)s->columns + 1, 1);
    char over_row[120], over_column[100], under_row[120], under_column[100], count[80] = "";
    dae_place none = {0, 0};
    if (!row || !column || !dae_matching_part(s, m, 1, arena, row, column)) {
        dae_messages_starved(messages);
        return;
    }
    int rows = list_names(a->equation, row, s->rows, over_row, sizeof over_row), first = 0;
    list_names(a->variable, column, s->columns, over_column, sizeof over_column);
    while (rows && !row[first]) first++;
    dae_place place = rows ? a->place_of[first] : none;
    int extra = rows ? dae_analysis_redundant(a->model, row) : -1;
    if (!dae_matching_part(s, m, 0, arena, row, column)) return;
    int left = list_names(a->equation, row, s->rows, under_row, sizeof under_row);
    int loose = list_names(a->variable, column, s->columns, under_column, sizeof under_column), open = 0;
    while (loose && !column[open]) open++;
    if (s->rows != s->columns)
        snprintf(count, sizeof count, "%d equation%s for %d variable%s: ", s->rows, s->rows == 1 ? "" : "s",
                 s->columns, s->columns == 1 ? "" : "s");
    if (extra >= 0) {
        char line[40] = "";
        if (a->model->equation[extra].label)
            snprintf(line, sizeof line, " (line %d)", a->place_of[extra].line);
        dae_messages_error(messages, a->place_of[extra], "%s%s%s follows from the others and can be removed",
                           count, a->equation[extra], line);
    } else if (rows && under_column[0]) {
        dae_messages_error(messages, place, "%s%s are determined by %d equations (%s); %s have only %d (%s)",
                           count, over_column, rows, over_row, under_column, left, under_row);
    } else if (rows) {
        dae_messages_error(messages, place, "%s%s are determined by %d equations (%s): %d too many", count,
                           over_column, rows, over_row, s->rows - m->size);
    } else {
        const char *it = loose == 1 ? "it" : "them";
        if (loose && open < a->model->nvariable) place = a->model->variable[open].place;
        if (left)
            dae_messages_error(messages, place, "%s%s have only %d equation%s (%s): write what determines %s",
                               count, under_column, left, left == 1 ? "" : "s", under_row, it);
        else
            dae_messages_error(messages, place, "%s%s stand%s in no equation: write what determines %s",
                               count, under_column, loose == 1 ? "s" : "", it);
    }
}

/* ---- All of it -------------------------------------------------------------------------------------------- */

/* The name of equation i in the arena. */
static const char *equation_name(const dae_model *m, int i, dae_arena *arena)
{
    char text[100];
    dae_model_equation_name(m, i, text, sizeof text);
    return dae_arena_copy(arena, text, strlen(text) + 1, 1);
}

static int copy_model(const dae_model *model, dae_arena *arena, dae_analysis *a)
{
    size_t n = (size_t)model->nequation + 1, nvar = (size_t)model->nvariable + 1;
    dae_place *place = dae_arena_take(arena, n, sizeof *place);
    *a = (dae_analysis){.model = model, .n = model->nequation, .as_written = -1, .place_of = place};
    a->node = dae_arena_ints(arena, n);
    a->equation = dae_arena_take(arena, n, sizeof *a->equation);
    a->variable = dae_arena_take(arena, nvar, sizeof *a->variable);
    if (dae_arena_failed(arena)) return 0;
    for (int j = 0; j < model->nvariable; j++) a->variable[j] = model->variable[j].name;
    for (int i = 0; i < a->n; i++) {
        a->node[i] = model->equation[i].node;
        place[i] = model->equation[i].place;
        a->equation[i] = equation_name(model, i, arena);
    }
    return !dae_arena_failed(arena);
}

/* The structure of fewer or more equations than variables is wrong for certain; this says where. */
static void blame_count(const dae_analysis *a, dae_arena *arena, dae_messages *messages)
{
    dae_matching m;
    dae_signature s;
    if (find_signature(a->model->graph, a->n, a->model->nvariable, a->node, arena, &s) &&
        dae_matching_largest(&s, arena, &m))
        blame(a, &s, &m, arena, messages);
}

dae_status dae_analyze(dae_model *model, dae_arena *arena, dae_analysis *a, dae_messages *messages)
{
    dae_matching m;
    dae_signature s;
    if (!copy_model(model, arena, a)) goto memory;
    if (a->n != model->nvariable) {
        blame_count(a, arena, messages);
        return DAE_ERR_INPUT;
    }
    for (int round = 0; round < MAX_ROUNDS; round++) {
        int found = analyze_once(model->graph, arena, a, &m, &s);
        if (found < 0) goto memory;
        if (found == 0) {
            blame(a, &s, &m, arena, messages);
            return DAE_ERR_INPUT;
        }
        if (a->as_written < 0) a->as_written = a->sigma.index;
        if (!differentiate(model->graph, arena, a)) goto memory;
        int repaired = dae_analysis_repair(a, arena, messages);
        if (repaired <= 0) return repaired < 0 ? DAE_ERR_INPUT : DAE_OK;
    }
    dae_messages_error(messages, (dae_place){0, 0}, "the structure does not settle after %d repairs",
                       MAX_ROUNDS);
    return DAE_ERR_INPUT;
memory:
    dae_messages_starved(messages);
    return DAE_ERR_MEMORY;
}

void dae_analysis_start(const dae_analysis *a, double *X)
{
    memset(X, 0, (size_t)a->total * sizeof *X);
    for (int k = 0; k < a->model->nstart; k++) {
        const dae_model_start *s = &a->model->start[k];
        if (s->order <= a->sigma.d[s->variable]) X[a->place[s->variable] + s->order] = s->value;
    }
    for (int j = a->model->nvariable; j < a->n; j++) X[a->place[j]] = a->augmented_start[j];
}
