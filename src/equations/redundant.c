/* One equation too many: which one follows from the others?
 *
 * For each candidate: the others alone must have a sound structure; at four consistent points of theirs, found from random guesses, the
 * candidate's residual must vanish. Equations without derivatives and with labels are tried first: removing x' = vx "works" too where a
 * consequence of it is given, but it is not what the writer meant. */
#include "equations/initial.h"

#include "equations/evaluator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VANISHES 1e-8
enum { POINTS = 4, MOST_EQUATIONS = 300 };

static int has_derivative(const dae_graph *g, int node)
{
    int *list = NULL, count = dae_graph_reach(g, 1, &node, &list), found = 0;
    for (int k = 0; k < count && !found; k++) {
        dae_node x = dae_graph_node(g, list[k]);
        found = x.op == OP_VARIABLE && x.b > 0;
    }
    free(list);
    return found;
}

/* 1 if X of the analysis has all values that the node needs. */
static int is_covered(const dae_analysis *a, int node)
{
    int *list = NULL, count = dae_graph_reach(a->model->graph, 1, &node, &list), covered = count >= 0;
    for (int k = 0; k < count && covered; k++) {
        dae_node x = dae_graph_node(a->model->graph, list[k]);
        covered = x.op != OP_VARIABLE || x.b <= a->sigma.d[x.a];
    }
    free(list);
    return covered;
}

/* The residual of the node at consistent points; 1 if it vanishes at all of them. */
static int follows(const dae_analysis *a, int node, dae_arena *arena)
{
    const dae_model *m = a->model;
    size_t total = (size_t)a->total + 1;
    unsigned char *bound = dae_arena_take(arena, total, 1);
    double *X = dae_arena_reals(arena, total),
           *given = dae_arena_reals(arena, (size_t)(m->nparameter + m->ndiscrete) + 1);
    dae_evaluator *e = is_covered(a, node) ? dae_evaluator_create(m->graph, a->place, 1, &node) : NULL;
    double *work = e ? dae_arena_reals(arena, dae_evaluator_work(e) + 1) : NULL;
    unsigned seed = 12345;
    int good = work && !dae_arena_failed(arena), solved = 0;
    for (int i = 0; good && i < m->nparameter; i++) given[i] = m->parameter[i].value;
    for (int i = 0; good && i < m->ndiscrete; i++) given[m->nparameter + i] = m->discrete[i].start;
    if (good) dae_evaluator_start(e, work, given, given + m->nparameter);
    for (int p = 0; p < 3 * POINTS && good && solved < POINTS; p++) {
        dae_initial_task task = {
            .analysis = a, .t = m->t0, .parameter = given, .discrete = given + m->nparameter, .bound = bound};
        dae_initial_result r;
        double residual;
        dae_analysis_start(a, X);
        for (int i = 0; i < a->total; i++) {
            seed = seed * 1664525u + 1013904223u;
            X[i] += (0.5 + fabs(X[i])) * ((double)(seed >> 8) / 8388608.0 - 1);
        }
        if (!dae_initial_solve(&task, X, &r)) good = 0;
        if (!good || !r.converged) continue;
        solved++;
        dae_evaluator_run(e, work, m->t0, X, &residual);
        good = fabs(residual) < VANISHES;
    }
    dae_evaluator_destroy(e);
    return good && solved == POINTS;
}

/* Whether equation i follows from the others. */
static int is_redundant(const dae_model *m, int i)
{
    dae_model rest = *m;
    dae_messages quiet = {0};
    dae_analysis a;
    dae_arena *arena = dae_arena_create();
    int found = 0;
    rest.nequation--;
    rest.equation = malloc((size_t)m->nequation * sizeof *rest.equation);
    if (arena && rest.equation) {
        memcpy(rest.equation, m->equation, (size_t)i * sizeof *rest.equation);
        memcpy(rest.equation + i, m->equation + i + 1, (size_t)(rest.nequation - i) * sizeof *rest.equation);
        found = dae_analyze(&rest, arena, &a, &quiet) == DAE_OK && follows(&a, m->equation[i].node, arena);
    }
    free(rest.equation);
    dae_arena_destroy(arena);
    return found;
}

int dae_analysis_redundant(const dae_model *m, const unsigned char *candidate)
{
    if (m->nequation != m->nvariable + 1 || m->nequation > MOST_EQUATIONS) return -1;
    for (int rank = 0; rank < 4;
         rank++) { /* 0: label, no derivative; 1: no derivative; 2: label; 3: the rest */
        for (int i = 0; i < m->nequation; i++) {
            int mine = 2 * has_derivative(m->graph, m->equation[i].node) + !m->equation[i].label;
            if (candidate[i] && mine == rank && is_redundant(m, i)) return i;
        }
    }
    return -1;
}
