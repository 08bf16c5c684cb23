/* Equations that are first-order systems as they stand, see first_order.h.
 *
 * An equation is written  0 = sum_j m_ij x_j^(d_j) + r_i  with d_j the highest order of x_j, 1 or more. If each equation has
 * exactly one such derivative, each another, it is solved for it: x_j^(d_j) = -r_i/m_ij, where m_ij may depend on anything
 * but derivatives. Else, with constant m_ij, M y' = f. */
#include "equations/first_order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct found { /* the highest derivatives of one equation */
    int count, first;
} found;

typedef struct coefficient {
    int variable, node; /* m_ij */
    double value;       /* NAN: not constant */
    int of;             /* of M: node of the value */
} coefficient;

typedef struct search {
    dae_model *m;
    dae_first_order *s;
    int *d;     /* highest order of each variable */
    found *row; /* per equation */
    coefficient *list;
    int nlist, capacity;
} search;

static int depends_on(dae_graph *g, int node, int lowest_op, int min_order)
{
    int *list, count = dae_graph_reach(g, 1, &node, &list), yes = count < 0;
    if (yes) dae_graph_starve(g);
    for (int k = 0; k < count && !yes; k++) {
        dae_node n = dae_graph_node(g, list[k]);
        yes = n.op >= lowest_op && n.op <= OP_VARIABLE && n.op != OP_PARAMETER && n.op != OP_NUMBER &&
              (n.op != OP_VARIABLE || n.b >= min_order);
    }
    free(list);
    return yes;
}

/* ---- Orders and components ----------------------------------------------------------------------- */

static int find_orders(search *x)
{
    dae_model *m = x->m;
    int *root = malloc(((size_t)m->nequation + 1) * sizeof *root), *list = NULL;
    for (int i = 0; root && i < m->nequation; i++) root[i] = m->equation[i].node;
    int count = root ? dae_graph_reach(m->graph, m->nequation, root, &list) : -1;
    for (int k = 0; k < count; k++) {
        dae_node n = dae_graph_node(m->graph, list[k]);
        if (n.op == OP_VARIABLE && n.b > x->d[n.a]) x->d[n.a] = n.b;
    }
    free(root);
    free(list);
    return count >= 0;
}

static int make_components(search *x)
{
    dae_first_order *s = x->s;
    dae_model *m = x->m;
    size_t n = (size_t)m->ndiscrete;
    int highest = 1;
    for (int j = 0; j < m->nvariable; j++) {
        n += (size_t)(x->d[j] > 1 ? x->d[j] : 1);
        if (x->d[j] > highest) highest = x->d[j];
    }
    s->variable = malloc((n + 1) * sizeof *s->variable);
    s->order = malloc((n + 1) * sizeof *s->order);
    s->leaf = malloc((n + 1) * sizeof *s->leaf);
    s->rate = malloc((n + 1) * sizeof *s->rate);
    s->top = malloc(((size_t)m->nvariable + 1) * sizeof *s->top);
    if (!s->variable || !s->order || !s->leaf || !s->rate || !s->top) return 0;
    for (int k = 0; k < highest; k++) {
        for (int j = 0; j < m->nvariable; j++) {
            if (k > 0 && k >= x->d[j]) continue;
            s->variable[s->n] = j;
            s->order[s->n] = k;
            s->leaf[s->n] = dae_graph_variable(m->graph, j, k);
            s->rate[s->n] = k + 1 < x->d[j] ? dae_graph_variable(m->graph, j, k + 1) : -1;
            s->top[j] = s->n++;
        }
    }
    s->ncontinuous = s->n;
    for (int d = 0; d < m->ndiscrete; d++) {
        s->variable[s->n] = -1 - d;
        s->order[s->n] = 0;
        s->leaf[s->n] = dae_graph_discrete(m->graph, d);
        s->rate[s->n++] = 0;
    }
    return 1;
}

/* ---- Coefficients -------------------------------------------------------------------------------- */

static int refuse(search *x, int equation, const char *what)
{
    char name[100];
    dae_model_equation_name(x->m, equation, name, sizeof name);
    snprintf(x->s->why_not, sizeof x->s->why_not, "%s %s", name, what);
    return 0;
}

/* The coefficients of the highest derivatives in equation i. 1; 0: not linear in them; -1: no memory. */
static int find_row(search *x, int i)
{
    dae_graph *g = x->m->graph;
    dae_partial *p;
    int np = dae_graph_gradient(g, x->m->equation[i].node, &p), good = 1;
    if (np < 0) return -1;
    x->row[i].first = x->nlist;
    for (int k = 0; k < np && good == 1; k++) {
        dae_node n = dae_graph_node(g, p[k].leaf);
        if (n.op != OP_VARIABLE || n.b != x->d[n.a] || n.b == 0) continue;
        if (depends_on(g, p[k].derivative, OP_VARIABLE,
                       1)) { /* by derivatives that are no components, or any at all */
            int *list, count = dae_graph_reach(g, 1, &p[k].derivative, &list);
            for (int q = 0; q < count; q++) {
                dae_node v = dae_graph_node(g, list[q]);
                if (v.op == OP_VARIABLE && v.b > 0 && v.b == x->d[v.a]) good = 0;
            }
            free(list);
            if (count < 0) good = -1;
        }
        if (x->nlist == x->capacity) {
            x->capacity = 2 * x->capacity + 64;
            coefficient *bigger = realloc(x->list, (size_t)x->capacity * sizeof *bigger);
            if (!bigger) good = -1;
            else x->list = bigger;
        }
        if (good != 1) break;
        int constant = !depends_on(g, p[k].derivative, OP_TIME, 0);
        x->list[x->nlist++] =
            (coefficient){.variable = n.a,
                          .node = p[k].derivative,
                          .value = constant ? dae_model_constant(x->m, p[k].derivative) : NAN};
        x->row[i].count++;
    }
    free(p);
    return good == 0 ? refuse(x, i, "is not linear in its highest derivatives") : good;
}

/* r_i: the equation without its highest derivatives. */
static int remainder_of(search *x, int i)
{
    dae_graph *g = x->m->graph;
    int n = x->row[i].count, node = x->m->equation[i].node;
    for (int k = 0; k < n; k++) {
        const coefficient *c = &x->list[x->row[i].first + k];
        int leaf = dae_graph_variable(g, c->variable, x->d[c->variable]);
        node = dae_graph_substitute(g, node, 1, &leaf, (int[]){0});
    }
    return node;
}

/* ---- The two forms ------------------------------------------------------------------------------- */

static int make_explicit(search *x)
{
    dae_first_order *s = x->s;
    dae_model *m = x->m;
    if (m->nequation != m->nvariable) return 0;
    for (int i = 0; i < m->nequation; i++) {
        if (x->row[i].count != 1) return 0;
    }
    for (int i = 0; i < m->nequation; i++) {
        const coefficient *c = &x->list[x->row[i].first];
        int to = s->top[c->variable];
        if (s->rate[to] >= 0) {
            for (int k = 0; k < m->nvariable; k++) s->rate[s->top[k]] = -1;
            return 0;
        }
        s->rate[to] = dae_graph_scale(m->graph, -1, dae_graph_divide(m->graph, remainder_of(x, i), c->node));
    }
    s->dae = 0;
    return 1;
}

/* Rows: an equation takes the row of a derivative that only it has; the others fill what is left, those without
 * derivatives last. */
static int *choose_rows(search *x)
{
    dae_first_order *s = x->s;
    dae_model *m = x->m;
    int *row = malloc(((size_t)m->nequation + 1) * sizeof *row);
    unsigned char *taken = calloc((size_t)s->n + 1, 1);
    int next = 0;
    for (int i = 0; row && taken && i < m->nequation; i++) {
        row[i] = -1;
        for (int k = 0; k < x->row[i].count && row[i] < 0; k++) {
            int to = s->top[x->list[x->row[i].first + k].variable];
            if (!taken[to]) taken[to] = 1, row[i] = to;
        }
    }
    for (int pass = 0; row && taken && pass < 2; pass++) {
        for (int i = 0; i < m->nequation; i++) {
            if (row[i] >= 0 || (pass == 0) != (x->row[i].count > 0)) continue;
            int best = -1;
            for (int j = pass ? next : 0; j < m->nvariable && best < 0; j++) {
                if (!taken[s->top[j]]) best = s->top[j], next = j;
            }
            if (best >= 0) taken[best] = 1;
            row[i] = best;
        }
    }
    if (!taken) free(row), row = NULL;
    free(taken);
    return row;
}

static int by_place(const void *a, const void *b)
{
    const coefficient *x = a, *y = b;
    if (x->variable != y->variable) return x->variable < y->variable ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int make_mass(search *x)
{
    dae_first_order *s = x->s;
    dae_model *m = x->m;
    int count = 0;
    if (m->nequation != m->nvariable) {
        snprintf(s->why_not, sizeof s->why_not, "%d equations for %d variables", m->nequation, m->nvariable);
        return 0;
    }
    for (int i = 0; i < m->nequation; i++) {
        for (int k = 0; k < x->row[i].count; k++) {
            if (!isfinite(x->list[x->row[i].first + k].value))
                return refuse(x, i, "has a derivative with a factor that changes");
        }
    }
    int *row = choose_rows(x);
    coefficient *e = malloc(((size_t)x->nlist + (size_t)s->n + 1) * sizeof *e); /* here: column, row, value */
    if (!row || !e) {
        free(row);
        free(e);
        return -1;
    }
    for (int i = 0; i < m->nequation; i++) {
        s->rate[row[i]] = dae_graph_scale(m->graph, -1, remainder_of(x, i));
        for (int k = 0; k < x->row[i].count; k++) {
            const coefficient *c = &x->list[x->row[i].first + k];
            e[count++] = (coefficient){s->top[c->variable], row[i], c->value, c->node};
        }
    }
    for (int i = 0; i < s->n; i++) { /* y' = next order, and discrete values */
        int v = s->variable[i];
        if (v < 0 || s->top[v] != i) e[count++] = (coefficient){i, i, 1, -1};
    }
    qsort(e, (size_t)count, sizeof *e, by_place);
    s->colptr = calloc((size_t)s->n + 1, sizeof *s->colptr);
    s->rowind = malloc(((size_t)count + 1) * sizeof *s->rowind);
    s->mass = malloc(((size_t)count + 1) * sizeof *s->mass);
    s->mass_node = malloc(((size_t)count + 1) * sizeof *s->mass_node);
    int good = s->colptr && s->rowind && s->mass && s->mass_node;
    for (int k = 0; good && k < count; k++) {
        s->colptr[e[k].variable + 1]++;
        s->rowind[k] = e[k].node;
        s->mass[k] = e[k].value;
        s->mass_node[k] = e[k].of;
    }
    for (int i = 0; good && i < s->n; i++) s->colptr[i + 1] += s->colptr[i];
    free(row);
    free(e);
    s->dae = 1;
    return good ? 1 : -1;
}

dae_first_order *dae_first_order_find(dae_model *m)
{
    search x = {.m = m, .s = calloc(1, sizeof *x.s)};
    int good = -1;
    x.d = calloc((size_t)m->nvariable + 1, sizeof *x.d);
    x.row = calloc((size_t)m->nequation + 1, sizeof *x.row);
    if (x.s && x.d && x.row && find_orders(&x) && make_components(&x)) {
        good = 1;
        for (int i = 0; i < m->nequation && good == 1; i++) good = find_row(&x, i);
        if (good == 1 && !make_explicit(&x)) good = make_mass(&x);
    }
    free(x.d);
    free(x.row);
    free(x.list);
    if (good == 0) x.s->dae = -1;
    if (good >= 0 && !dae_graph_failed(m->graph)) return x.s;
    dae_first_order_destroy(x.s);
    return NULL;
}

void dae_first_order_destroy(dae_first_order *s)
{
    if (!s) return;
    free(s->variable);
    free(s->order);
    free(s->leaf);
    free(s->rate);
    free(s->top);
    free(s->colptr);
    free(s->rowind);
    free(s->mass);
    free(s->mass_node);
    free(s);
}
