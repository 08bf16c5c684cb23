/* Sides of analyzed equations, see sides.h. */
#include "equations/sides.h"

#include "equations/branches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is constant ------------------------------------------------------------------------------------ */

void dae_smooth_destroy(dae_smooth *s)
{
    if (!s) return;
    dae_evaluator_destroy(s->literal);
    dae_evaluator_destroy(s->frozen);
    dae_branches_destroy(s->branches);
    free(s);
}

int dae_smooth_count(const dae_smooth *s)
{
    return s->branches->count;
}

static int name_all(dae_smooth *s, dae_arena *arena)
{
    int count = s->branches->count;
    s->name = dae_arena_take(arena, (size_t)count + 1, sizeof *s->name);
    for (int i = 0; s->name && i < count; i++) {
        char text[80];
        dae_model_node_text(s->analysis.model, s->branches->branch[i].node, text, sizeof text);
        s->name[i] = dae_arena_copy(arena, text, strlen(text) + 1, 1);
    }
    return !dae_arena_failed(arena);
}

static dae_evaluator *decisions(const dae_smooth *s, int frozen)
{
    int count = s->branches->count, *node = malloc(((size_t)count + 1) * sizeof *node);
    if (!node) return NULL;
    for (int i = 0; i < count; i++)
        node[i] = frozen ? s->branches->branch[i].frozen : s->branches->branch[i].literal;
    dae_evaluator *e = dae_evaluator_create(s->analysis.model->graph, s->analysis.place, count, node);
    free(node);
    return e;
}

/* Sides that hold at a point. */
static int sides_at(const dae_smooth *s, double t, const double *X, double *with)
{
    int count = s->branches->count;
    double *work = calloc(dae_evaluator_work(s->literal) + (size_t)count + 2, sizeof *work);
    if (!work) return 0;
    double *out = work + dae_evaluator_work(s->literal) + 1;
    dae_evaluator_start(s->literal, work, s->parameter, with);
    dae_evaluator_run(s->literal, work, t, X, out);
    for (int i = 0; i < count; i++)
        with[s->analysis.model->ndiscrete + i] = dae_branch_side(s->branches, i, out[i]);
    free(work);
    return 1;
}

dae_smooth *dae_smooth_create(const dae_analysis *a, dae_arena *arena, double t, const double *X,
                              const double *parameter, const double *discrete, double **with)
{
    dae_smooth *s = calloc(1, sizeof *s);
    size_t n = (size_t)a->model->ndiscrete;
    int *node = s ? malloc(((size_t)a->n + 1) * sizeof *node) : NULL;
    if (!node) goto fail;
    memcpy(node, a->node, (size_t)a->n * sizeof *node);
    s->parameter = parameter;
    s->branches = dae_branches_find((dae_model *)a->model, a->n, node);
    if (!s->branches) goto fail;
    s->analysis = *a;
    *with = dae_arena_reals(arena, n + (size_t)s->branches->count + 1);
    if (!*with) goto fail;
    memcpy(*with, discrete, n * sizeof **with);
    if (s->branches->count) {
        if (!dae_analysis_of(a, node, arena, &s->analysis) || !name_all(s, arena)) goto fail;
        s->literal = decisions(s, 0);
        s->frozen = decisions(s, 1);
        if (!s->literal || !s->frozen || !sides_at(s, t, X, *with)) goto fail;
    }
    free(node);
    return s;
fail:
    free(node);
    dae_smooth_destroy(s);
    return NULL;
}

int dae_smooth_decides_by(const dae_smooth *s, int (*yes)(const dae_node *leaf, const void *user),
                          const void *user)
{
    const dae_graph *g = s->analysis.model->graph;
    int found = 0;
    for (int i = 0; i < s->branches->count && !found; i++) {
        int *list, count = dae_graph_reach(g, 1, &s->branches->branch[i].literal, &list);
        if (count < 0) return -1;
        for (int k = 0; k < count && !found; k++) {
            dae_node leaf = dae_graph_node(g, list[k]);
            found = leaf.op == OP_VARIABLE && yes(&leaf, user);
        }
        free(list);
    }
    return found;
}

/* ---- What a run has ---------------------------------------------------------------------------------------- */

/* A kink that is continuous (abs, min, max, tables but steps) may sit in its border, moved by rounding only: a flow that is zero. Where
 * kinks change their sides again and again the side does not matter: they are let go, and every evaluation takes the side that its point
 * stands on. A jump that does so is an error of the driver. */
#define CORNER 1e-12   /* a margin that is zero */
#define PATIENCE 10    /* changes ... */
#define TOGETHER 1e-10 /* ... within this part of the interval; the driver's own limit is 100; ours */

typedef struct kink {
    int continuous, loose, last;
    int changed; /* among the present changes */
} kink;

struct dae_sides {
    const dae_smooth *s;
    int *side;
    double *discrete, *literal_work, *frozen_work, *out;
    kink *kink;
    int nloose, changes;
    double since; /* the first of the present changes */
};

void dae_sides_destroy(dae_sides *x)
{
    if (!x) return;
    free(x->side);
    free(x->discrete);
    free(x->literal_work);
    free(x->frozen_work);
    free(x->out);
    free(x->kink);
    free(x);
}

static int is_continuous(const dae_smooth *s, int i)
{
    const dae_graph *g = s->analysis.model->graph;
    dae_node n = dae_graph_node(g, s->branches->branch[i].node);
    return n.op == OP_ABS || n.op == OP_MIN || n.op == OP_MAX ||
           (n.op == OP_CURVE && n.c == 0 && dae_graph_get_curve(g, n.b)->kind != DAE_CURVE_STEP);
}

dae_sides *dae_sides_create(const dae_smooth *s, const double *with)
{
    dae_sides *x = calloc(1, sizeof *x);
    size_t count = (size_t)s->branches->count, all = (size_t)s->analysis.model->ndiscrete + count;
    if (!x) return NULL;
    x->s = s;
    x->side = malloc((count + 1) * sizeof *x->side);
    x->discrete = malloc((all + 1) * sizeof *x->discrete);
    x->out = calloc(count + 1, sizeof *x->out);
    x->kink = calloc(count + 1, sizeof *x->kink);
    if (count) {
        x->literal_work = calloc(dae_evaluator_work(s->literal) + 1, sizeof(double));
        x->frozen_work = calloc(dae_evaluator_work(s->frozen) + 1, sizeof(double));
    }
    if (!x->side || !x->discrete || !x->out || !x->kink || (count && (!x->literal_work || !x->frozen_work))) {
        dae_sides_destroy(x);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        x->side[i] = DAE_SIDE_FREE;
        x->kink[i].continuous = is_continuous(s, (int)i);
    }
    memcpy(x->discrete, with, all * sizeof *with);
    return x;
}

int dae_sides_take(dae_sides *x, const double *discrete)
{
    int n = x->s->analysis.model->ndiscrete, count = x->s->branches->count, changed = 0;
    for (int i = 0; i < n; i++) {
        changed |= memcmp(&x->discrete[i], &discrete[i], sizeof *discrete) != 0;
        x->discrete[i] = discrete[i];
    }
    for (int i = 0; i < count; i++) {
        if (x->side[i] == DAE_SIDE_FREE || x->kink[i].loose || x->discrete[n + i] == x->side[i]) continue;
        x->discrete[n + i] = x->side[i];
        changed = 1;
    }
    return changed;
}

const double *dae_sides_discrete(const dae_sides *x)
{
    return x->discrete;
}

int dae_sides_all(const dae_sides *x)
{
    return x->s->analysis.model->ndiscrete + x->s->branches->count;
}

void dae_sides_restore(dae_sides *x, const double *all)
{
    memcpy(x->discrete, all, (size_t)dae_sides_all(x) * sizeof *all);
}

static void let_go(dae_sides *x, int i)
{
    x->nloose += x->kink[i].continuous && !x->kink[i].loose;
    x->kink[i].loose = x->kink[i].continuous;
}

/* 1: the branch decides by states (flags of places in X) and t alone; -1: no memory. */
static int decides_by_states(const dae_smooth *s, int i, const unsigned char *state)
{
    const dae_graph *g = s->analysis.model->graph;
    int *list, only = 1, count = dae_graph_reach(g, 1, &s->branches->branch[i].literal, &list);
    if (count < 0) return -1;
    for (int k = 0; k < count && only; k++) {
        dae_node x = dae_graph_node(g, list[k]);
        only = x.op != OP_VARIABLE || state[s->analysis.place[x.a] + x.b];
    }
    free(list);
    return only;
}

int dae_sides_let_go(dae_sides *x, double t, const double *X, int nstate, const int *state)
{
    const dae_smooth *s = x->s;
    int good = 1;
    if (!s->branches->count) return 1;
    unsigned char *is_state = calloc((size_t)s->analysis.total + 1, 1);
    if (!is_state) return 0;
    for (int k = 0; k < nstate; k++) is_state[state[k]] = 1;
    dae_evaluator_start(s->literal, x->literal_work, s->parameter, x->discrete);
    dae_evaluator_run(s->literal, x->literal_work, t, X, x->out);
    for (int i = 0; i < s->branches->count && good; i++) {
        int next, side = dae_branch_side(s->branches, i, x->out[i]),
                  by_states = decides_by_states(s, i, is_state);
        double margin = dae_branch_margin(s->branches, i, side, x->out[i], &next);
        good = by_states >= 0;
        if (by_states == 0 || fabs(margin) <= CORNER) let_go(x, i);
    }
    free(is_state);
    return good;
}

/* Those that were let go, or all. */
static int follow(dae_sides *x, int all, double t, const double *X)
{
    const dae_smooth *s = x->s;
    int n = s->analysis.model->ndiscrete, changed = 0;
    dae_evaluator_start(s->literal, x->literal_work, s->parameter, x->discrete);
    dae_evaluator_run(s->literal, x->literal_work, t, X, x->out);
    for (int i = 0; i < s->branches->count; i++) {
        int holds = dae_branch_side(s->branches, i, x->out[i]);
        if ((!all && !x->kink[i].loose) || x->discrete[n + i] == holds) continue;
        x->discrete[n + i] = holds;
        changed = 1;
    }
    return changed;
}

int dae_sides_follow(dae_sides *x, double t, const double *X)
{
    return x->nloose && follow(x, 0, t, X);
}

int dae_sides_literal(dae_sides *x, double t, const double *X)
{
    return x->s->branches->count && follow(x, 1, t, X);
}

/* Notes which kinks changed their sides; where that happens too often they are let go. */
static void watch(dae_sides *x, double t, const int *side)
{
    const dae_model *m = x->s->analysis.model;
    for (int i = 0; i < x->s->branches->count; i++) {
        kink *k = &x->kink[i];
        if (!k->continuous || k->loose || side[i] == DAE_SIDE_FREE || side[i] == k->last) continue;
        int first = k->last == 0; /* not a change */
        k->last = side[i];
        if (first) continue;
        if (!x->changes || fabs(t - x->since) > TOGETHER * fabs(m->t1 - m->t0)) {
            x->since = t;
            x->changes = 0;
            for (int q = 0; q < x->s->branches->count; q++) x->kink[q].changed = 0;
        }
        k->changed = 1;
        x->changes++;
    }
    if (x->changes <= PATIENCE) return;
    for (int i = 0; i < x->s->branches->count; i++) {
        if (x->kink[i].changed) let_go(x, i);
    }
    x->changes = 0;
}

void dae_sides_values(dae_sides *x, double t, const double *X, const int *side, double *margin, int *next)
{
    const dae_smooth *s = x->s;
    int count = s->branches->count, literal = 0;
    watch(x, t, side);
    dae_evaluator_start(s->frozen, x->frozen_work, s->parameter, x->discrete);
    dae_evaluator_run(s->frozen, x->frozen_work, t, X, x->out);
    for (int i = 0; i < count; i++) {
        int frozen = side[i] != DAE_SIDE_FREE && !x->kink[i].loose;
        literal |= side[i] == DAE_SIDE_FREE;
        margin[i] = 1;
        next[i] = side[i];
        if (frozen) margin[i] = dae_branch_margin(s->branches, i, side[i], x->out[i], &next[i]);
    }
    if (!literal) return;
    dae_evaluator_start(s->literal, x->literal_work, s->parameter, x->discrete);
    dae_evaluator_run(s->literal, x->literal_work, t, X, x->out);
    for (int i = 0; i < count; i++) {
        if (side[i] == DAE_SIDE_FREE) next[i] = dae_branch_side(s->branches, i, x->out[i]);
    }
}

const char *dae_sides_name(const dae_sides *x, int i)
{
    return x->s->name[i];
}

dae_switches dae_sides_switches(dae_sides *x, dae_switch_fn *values, void *user,
                                const char *(*name)(int i, void *user))
{
    return (dae_switches){
        .count = x->s->branches->count, .values = values, .side = x->side, .name = name, .user = user};
}
