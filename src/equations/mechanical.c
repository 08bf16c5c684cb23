/* The form `descriptor` of equations: mechanical systems that are recognized in what was typed.
 *
 *     p' = v,   M(t,p) v' = f(t,p,v,mu) - G^T mu,   0 = g(t,p)
 *
 * Positions are variables with a second derivative, or those of an equation x' = v whose v is differentiated; accelerations may have names too,
 * by v' = w. Equations that are
 * differentiated twice and hold only positions are the constraints; as many variables without derivatives are their multipliers; all other
 * equations are the motion, linear in accelerations and multipliers. The coefficient of multiplier k in the motion must be a multiple of the
 * gradient of constraint k:  w_i A_ik = G_ki D_k  with constant scales w of equations and D of multipliers (mu = D lambda), and M symmetric
 * with these scales: looked at in three points around the start. Friction in joints makes f depend on mu: what A has at rest beyond
 * G^T (where constraint k does not reach coordinate i), and what it gets in motion, belongs to f. Whatever does not fit: no such form,
 * and others serve.
 *
 * Constraints that follow from the others wherever these hold (a platform on three parallel rods) are left out; of the multipliers that
 * leave the same forces, lambda of least norm are told. No other form can take such a system, since nothing determines them. */
#include "equations/forms.h"

#include "core/error.h"
#include "equations/evaluator.h"
#include "equations/mechanical.h"
#include "equations/work.h"
#include "linalg/dense.h"
#include "linalg/least_squares.h"
#include "linalg/null_space.h"

#include <daedalus/gefp.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS = 3,
    MAX_ITERATIONS = 20,
    FEW_COORDINATES = 4
}; /* few: below, half-explicit methods are as good (method/choose.c) */
#define FITS 1e-9
#define DEPENDS 1e-9  /* pivots of G, rows scaled to 1 */
#define NEARBY 0.1    /* how far from the start a constraint must follow from others: ours */
#define SETTLED 1e-13 /* relative change of multipliers after which another step is rounding */

struct dae_mechanical {
    const dae_equation_system *s;
    const dae_analysis *a; /* that its nodes are of: with sides as leaves, if switches is 1 */
    int switches;
    dae_arena *arena;
    int np, ng, all;              /* all - ng constraints follow from the others; they stand behind them */
    int *position, *velocity;     /* np: variable; variable of the velocity, or -1: its own derivative */
    int *acceleration;            /* np: variable of the acceleration, or -1: a derivative */
    int *multiplier, *constraint; /* all: variables, equations */
    int *motion;                  /* np: the equation of coordinate i */
    double *scale, *factor;       /* np: w; all: D */
    int constant;                 /* M is constant */
    int friction;                 /* f depends on mu */
    dae_evaluator *mass, *force, *gap, *gradient, *gap_rate, *gamma;
    dae_evaluator *slip;   /* A, of friction only */
    dae_evaluator *spread; /* all of G, where some of it is left out */
};
enum { EVALUATORS = 8 };

/* ---- Recognition --------------------------------------------------------------------------------------------------------- */

/* Highest order of each variable in the model as it is written. */
static int *orders(const dae_analysis *a, dae_arena *arena)
{
    int *order = dae_arena_ints(arena, (size_t)a->n + 1), *list = NULL;
    int count = order ? dae_graph_reach(a->model->graph, a->n, a->node, &list) : -1;
    for (int k = 0; k < count; k++) {
        dae_node x = dae_graph_node(a->model->graph, list[k]);
        if (x.op == OP_VARIABLE && x.b > order[x.a]) order[x.a] = x.b;
    }
    free(list);
    if (count < 0) dae_graph_starve(a->model->graph);
    return count < 0 ? NULL : order;
}

/* An equation a x' - a v = 0: its two variables. */
static int is_kinematic(const dae_graph *g, int node, int *x, int *v)
{
    dae_node sum = dae_graph_node(g, node);
    if (sum.op != OP_ADD || sum.b != 2 || sum.value != 0) return 0;
    const dae_term *t = dae_graph_terms(g, node);
    dae_node a = dae_graph_node(g, t[0].node), b = dae_graph_node(g, t[1].node);
    if (a.op != OP_VARIABLE || b.op != OP_VARIABLE || t[0].factor != -t[1].factor || a.b + b.b != 1) return 0;
    *x = a.b == 1 ? a.a : b.a;
    *v = a.b == 1 ? b.a : a.a;
    return *x != *v;
}

/* 1 if the node has only leaves that `allowed` (by variable: highest order, -1 none) lets through. */
static int holds_only(dae_graph *g, int node, const int *allowed)
{
    int *list = NULL, count = dae_graph_reach(g, 1, &node, &list), good = count >= 0;
    if (!good) dae_graph_starve(g);
    for (int k = 0; k < count && good; k++) {
        dae_node x = dae_graph_node(g, list[k]);
        good = x.op != OP_DISCRETE && (x.op != OP_VARIABLE || x.b <= allowed[x.a]);
    }
    free(list);
    return good;
}

/* Sorts variables and equations; 0: the system has another shape. */
static int sort(dae_mechanical *m, const int *order, int *motion, int *nmotion)
{
    const dae_analysis *a = m->a;
    dae_graph *g = a->model->graph;
    int n = a->n, *role = dae_arena_ints(m->arena, (size_t)n + 1),
        *used = dae_arena_ints(m->arena, (size_t)n + 1);
    int *allowed = dae_arena_ints(m->arena, (size_t)n + 1);
    if (dae_arena_failed(m->arena)) return 0;
    for (int i = 0; i < n; i++) { /* x' = v with v' somewhere */
        int x, v;
        if (!is_kinematic(g, a->node[i], &x, &v) || order[x] != 1 || order[v] != 1 || role[x] || role[v])
            continue;
        role[x] = 1;
        role[v] = 2;
        used[i] = 1;
        m->position[m->np] = x;
        m->acceleration[m->np] = -1;
        m->velocity[m->np++] = v;
    }
    for (int i = 0; i < n; i++) { /* v' = w */
        int v, w, p = 0;
        if (used[i] || !is_kinematic(g, a->node[i], &v, &w) || role[v] != 2 || role[w] || order[w] != 0)
            continue;
        while (m->velocity[p] != v) p++;
        if (m->acceleration[p] >= 0) return 0;
        role[w] = 3;
        used[i] = 1;
        m->acceleration[p] = w;
    }
    for (int j = 0; j < n; j++) {
        if (role[j]) continue;
        if (order[j] == 2) {
            role[j] = 1;
            m->position[m->np] = j;
            m->acceleration[m->np] = -1;
            m->velocity[m->np++] = -1;
        } else if (order[j] == 0) {
            m->multiplier[m->ng++] = j;
        } else {
            return 0;
        }
    }
    for (int j = 0; j < n; j++) allowed[j] = role[j] == 1 ? 0 : -1;
    int constraints = 0;
    for (int i = 0; i < n; i++) {
        if (used[i]) continue;
        if (a->sigma.c[i] == 2 && holds_only(g, a->node[i], allowed)) {
            if (constraints < m->ng) m->constraint[constraints] = i;
            constraints++;
        } else if (a->sigma.c[i] == 0) {
            motion[(*nmotion)++] = i;
        } else {
            return 0;
        }
    }
    return m->np > 0 && m->ng > 0 && constraints == m->ng && *nmotion == m->np;
}

static int acceleration_leaf(const dae_mechanical *m, dae_graph *g, int i)
{
    if (m->acceleration[i] >= 0) return dae_graph_variable(g, m->acceleration[i], 0);
    return m->velocity[i] >= 0 ? dae_graph_variable(g, m->velocity[i], 1)
                               : dae_graph_variable(g, m->position[i], 2);
}

/* The derivative of a node by a leaf; the number 0 if there is none. -1: no memory. */
static int derivative_by(dae_graph *g, int node, int leaf)
{
    dae_partial *p = NULL;
    int count = dae_graph_gradient(g, node, &p), found = dae_graph_number(g, 0);
    for (int k = 0; k < count; k++) found = p[k].leaf == leaf ? p[k].derivative : found;
    free(p);
    return count < 0 ? -1 : found;
}

/* Nodes of M (np*np by columns, rows are motion equations), A (np*ng), G (ng*np). 0: not linear, or no memory. */
static int find_nodes(dae_mechanical *m, const int *motion, int *M, int *A, int *G)
{
    const dae_analysis *a = m->a;
    dae_graph *g = a->model->graph;
    int *allowed = dae_arena_ints(m->arena, (size_t)a->n + 1),
        *moving = dae_arena_ints(m->arena, (size_t)a->n + 1);
    if (!allowed || !moving) return 0;
    for (int j = 0; j < a->n; j++) allowed[j] = -1; /* moving: 0, multipliers too */
    for (int i = 0; i < m->np; i++) {
        allowed[m->position[i]] = 0;
        moving[m->position[i]] = 1;
    }
    for (int i = 0; i < m->np; i++) {
        for (int j = 0; j < m->np; j++) {
            int x = M[i + j * m->np] = derivative_by(g, a->node[motion[i]], acceleration_leaf(m, g, j));
            if (x < 0 || !holds_only(g, x, allowed)) return 0;
            if (m->acceleration[j] >= 0 && /* its derivative has a name, and that alone is used */
                derivative_by(g, a->node[motion[i]], dae_graph_variable(g, m->velocity[j], 1)) !=
                    dae_graph_number(g, 0))
                return 0;
        }
        for (int k = 0; k < m->ng; k++) {
            int x = A[i + k * m->np] =
                derivative_by(g, a->node[motion[i]], dae_graph_variable(g, m->multiplier[k], 0));
            if (x < 0 || !holds_only(g, x, moving)) return 0;
            m->friction |= !holds_only(g, x, allowed);
        }
    }
    for (int k = 0; k < m->ng; k++) {
        for (int j = 0; j < m->np; j++) {
            int x = G[k + j * m->ng] =
                derivative_by(g, a->node[m->constraint[k]], dae_graph_variable(g, m->position[j], 0));
            if (x < 0) return 0;
        }
    }
    return !dae_graph_failed(g);
}

/* Everything that moves stands still: velocities and accelerations 0. */
static void set_still(const dae_mechanical *m, double *X)
{
    const int *place = m->s->analysis.place;
    for (int i = 0; i < m->np; i++) {
        int j = m->position[i], v = m->velocity[i];
        for (int k = place[j] + 1; k < place[j + 1]; k++) X[k] = 0;
        for (int k = v < 0 ? 0 : place[v]; v >= 0 && k < place[v + 1]; k++) X[k] = 0;
        if (m->acceleration[i] >= 0) X[place[m->acceleration[i]]] = 0;
    }
}

/* Values of nodes at three points around the start, at rest. */
static int values_at(const dae_mechanical *m, int count, const int *node, double *value[POINTS])
{
    const dae_equation_system *s = m->s;
    unsigned seed = 99991;
    dae_evaluator *e = dae_evaluator_create(s->model->graph, s->analysis.place, count, node);
    double *work = e ? dae_arena_reals(m->arena, dae_evaluator_work(e) + 1) : NULL,
           *X = dae_arena_reals(m->arena, (size_t)s->analysis.total + 1);
    int good = work && X;
    if (!e) dae_graph_starve(s->model->graph);
    if (good) dae_evaluator_start(e, work, s->parameter, s->discrete);
    for (int p = 0; p < POINTS && good; p++) {
        for (int k = 0; k < s->analysis.total; k++) {
            seed = seed * 1664525u + 1013904223u;
            X[k] =
                s->initial.X[k] + (0.1 + 0.1 * fabs(s->initial.X[k])) * ((double)(seed >> 8) / 8388608.0 - 1);
        }
        set_still(m, X);
        value[p] = dae_arena_reals(m->arena, (size_t)count + 1);
        good = value[p] != NULL;
        if (good) dae_evaluator_run(e, work, s->model->t0, X, value[p]);
        for (int k = 0; k < count && good; k++) good = isfinite(value[p][k]);
    }
    dae_evaluator_destroy(e);
    return good;
}

/* The motion equation of each coordinate: the one with the largest coefficient of its acceleration that is still free. */
static int assign_rows(dae_mechanical *m, const int *motion, double *M, int *row)
{
    int np = m->np, *taken = dae_arena_ints(m->arena, (size_t)np + 1);
    if (!taken) return 0;
    for (int j = 0; j < np; j++) {
        int best = -1;
        for (int i = 0; i < np; i++) {
            if (!taken[i] && (best < 0 || fabs(M[i + j * np]) > fabs(M[best + j * np]))) best = i;
        }
        if (best < 0 || M[best + j * np] == 0) return 0;
        taken[best] = 1;
        row[j] = best;
        m->motion[j] = motion[best];
    }
    return 1;
}

/* w and D from w_i A_ik = G_ki D_k, starting with D_0 = 1 in each connected part; then looked at everywhere. */
static int find_scales(dae_mechanical *m, const int *row, double *A[POINTS], double *G[POINTS])
{
    int np = m->np, ng = m->ng;
    for (int start = 0; start < ng; start++) {
        if (m->factor[start] != 0) continue;
        m->factor[start] = 1;
        for (int changed = 1; changed;) {
            changed = 0;
            for (int i = 0; i < np; i++) {
                for (int k = 0; k < ng; k++) {
                    double x = A[0][row[i] + k * np], y = G[0][k + i * ng];
                    if (x == 0 || y == 0 || (m->scale[i] == 0) == (m->factor[k] == 0)) continue;
                    if (m->scale[i] == 0) m->scale[i] = y * m->factor[k] / x;
                    else m->factor[k] = m->scale[i] * x / y;
                    changed = 1;
                }
            }
        }
    }
    for (int i = 0; i < np; i++) m->scale[i] = m->scale[i] == 0 ? 1 : m->scale[i];
    for (int p = 0; p < POINTS; p++) {
        for (int i = 0; i < np; i++) {
            for (int k = 0; k < ng; k++) {
                double x = m->scale[i] * A[p][row[i] + k * np], y = G[p][k + i * ng] * m->factor[k];
                if (fabs(x - y) <= FITS * (fabs(x) + fabs(y) + 1e-6)) continue;
                if (y != 0) return 0;
                m->friction = 1; /* where the constraint does not reach */
            }
        }
    }
    return 1;
}

/* M with its scales must be symmetric, with a positive diagonal; a common sign of w and D is free in each part, so that all signs turn
 * where the first diagonal element is negative. */
static int is_mass(dae_mechanical *m, const int *row, double *M[POINTS])
{
    int np = m->np, sign = m->scale[0] * M[0][row[0]] < 0 ? -1 : 1;
    for (int i = 0; i < np; i++) m->scale[i] *= sign;
    for (int k = 0; k < m->ng; k++) m->factor[k] *= sign;
    for (int p = 0; p < POINTS; p++) {
        for (int i = 0; i < np; i++) {
            if (!(m->scale[i] * M[p][row[i] + i * np] > 0)) return 0;
            for (int j = 0; j < i; j++) {
                double x = m->scale[i] * M[p][row[i] + j * np], y = m->scale[j] * M[p][row[j] + i * np];
                if (fabs(x - y) > FITS * (fabs(x) + fabs(y) + 1e-9)) return 0;
            }
        }
    }
    return 1;
}

/* Do scales and mass fit with this equation for each coordinate? */
static int fits(dae_mechanical *m, const int *motion, const int *row, double *M[POINTS], double *A[POINTS],
                double *G[POINTS])
{
    int friction = m->friction;
    memset(m->scale, 0, (size_t)m->np * sizeof *m->scale);
    memset(m->factor, 0, (size_t)m->ng * sizeof *m->factor);
    for (int j = 0; j < m->np; j++) m->motion[j] = motion[row[j]];
    if (find_scales(m, row, A, G) && is_mass(m, row, M)) return 1;
    m->friction = friction;
    return 0;
}

/* The equations of motion in the order of the coordinates, as one writes them, or else by their largest coefficients. */
static int find_rows(dae_mechanical *m, const int *motion, int *row, double *M[POINTS], double *A[POINTS],
                     double *G[POINTS])
{
    for (int j = 0; j < m->np; j++) row[j] = j;
    if (fits(m, motion, row, M, A, G)) return 1;
    return assign_rows(m, motion, M[0], row) && fits(m, motion, row, M, A, G);
}

/* ---- Constraints that follow from others ------------------------------------------------------------------------------------ */

/* Values of nodes at X. */
static int values_here(const dae_mechanical *m, int count, const int *node, const double *X, double *out)
{
    const dae_equation_system *s = m->s;
    dae_evaluator *e = dae_evaluator_create(s->model->graph, s->analysis.place, count, node);
    double *work = e ? dae_arena_reals(m->arena, dae_evaluator_work(e) + 1) : NULL;
    if (!work) dae_graph_starve(s->model->graph);
    else
        dae_evaluator_start(e, work, s->parameter, s->discrete),
            dae_evaluator_run(e, work, s->model->t0, X, out);
    dae_evaluator_destroy(e);
    return work != NULL;
}

/* 1: at points near the start where the first `kept` constraints hold, the others hold too. */
static int others_follow(const dae_mechanical *m, int kept, const int *G)
{
    const dae_equation_system *s = m->s;
    const int *place = s->analysis.place;
    size_t np = (size_t)m->np, ng = (size_t)m->ng;
    int *gap = dae_arena_ints(m->arena, ng + 1), good;
    double *X = dae_arena_reals(m->arena, (size_t)s->analysis.total + 1),
           *value = dae_arena_reals(m->arena, ng + 1), *matrix = dae_arena_reals(m->arena, ng * np + 1),
           *step = dae_arena_reals(m->arena, ng + np + 1), *all = dae_arena_reals(m->arena, ng * np + 1);
    unsigned seed = 4711;
    good = !dae_arena_failed(m->arena);
    for (int k = 0; k < m->ng && good; k++) gap[k] = m->a->node[m->constraint[k]];
    for (int p = 0; p < POINTS && good; p++) {
        memcpy(X, s->initial.X, (size_t)s->analysis.total * sizeof *X);
        for (int i = 0; i < m->np; i++) {
            double *x = &X[place[m->position[i]]];
            seed = seed * 1664525u + 1013904223u;
            *x += NEARBY * (0.1 + fabs(*x)) * ((double)(seed >> 8) / 8388608.0 - 1);
        }
        for (int iteration = 0; iteration < MAX_ITERATIONS && good; iteration++) { /* Gauss and Newton */
            good = values_here(m, m->ng, gap, X, value) && values_here(m, m->ng * m->np, G, X, all);
            for (int k = 0; k < kept; k++) {
                for (int i = 0; i < m->np; i++) matrix[k + i * kept] = all[k + i * m->ng];
                step[k] = -value[k];
            }
            good = good && dae_least_squares(kept, m->np, matrix, step, DEPENDS) >= 0;
            for (int i = 0; i < m->np && good; i++) X[place[m->position[i]]] += step[i];
        }
        for (int k = 0; k < m->ng && good; k++) good = fabs(value[k]) <= FITS;
    }
    return good;
}

/* Constraints that depend on others at the start go behind them. 0: there are some that hold there only, or with friction. */
static int part_constraints(dae_mechanical *m, int *A, int *G)
{
    int np = m->np, ng = m->ng;
    size_t size = (size_t)np * (size_t)ng + 1;
    double *value = dae_arena_reals(m->arena, size), *D = dae_arena_reals(m->arena, (size_t)ng + 1);
    int *order = dae_arena_ints(m->arena, (size_t)ng + 1), *column = dae_arena_ints(m->arena, (size_t)np + 1),
        *old = dae_arena_ints(m->arena, 2 * size + 2 * (size_t)ng);
    m->all = ng;
    if (dae_arena_failed(m->arena) || !values_here(m, np * ng, G, m->s->initial.X, value)) return 0;
    for (int k = 0; k < ng; k++) {
        double largest = 0;
        for (int i = 0; i < np; i++) largest = fmax(largest, fabs(value[k + i * ng]));
        for (int i = 0; i < np && largest > 0; i++) value[k + i * ng] /= largest;
    }
    int rank = dae_gefp(ng, np, value, NULL, DEPENDS, order, column, NULL);
    if (rank == ng) return 1;
    if (rank <= 0 || m->friction) return 0;
    int *oldA = old, *oldG = old + size, *multiplier = oldG + size, *constraint = multiplier + ng;
    memcpy(oldA, A, (size - 1) * sizeof *A);
    memcpy(oldG, G, (size - 1) * sizeof *G);
    memcpy(multiplier, m->multiplier, (size_t)ng * sizeof *multiplier);
    memcpy(constraint, m->constraint, (size_t)ng * sizeof *constraint);
    memcpy(D, m->factor, (size_t)ng * sizeof *D);
    for (int k = 0; k < ng; k++) {
        m->multiplier[k] = multiplier[order[k]];
        m->constraint[k] = constraint[order[k]];
        m->factor[k] = D[order[k]];
        for (int i = 0; i < np; i++) {
            A[i + k * np] = oldA[i + order[k] * np];
            G[k + i * ng] = oldG[order[k] + i * ng];
        }
    }
    if (!others_follow(m, rank, G)) return 0;
    m->spread = dae_evaluator_create(m->a->model->graph, m->a->place, ng * np, G);
    if (!m->spread) return dae_graph_starve(m->a->model->graph), 0;
    for (int k = 0; k < rank; k++) {
        for (int i = 0; i < np; i++) old[k + i * rank] = G[k + i * ng];
    }
    memcpy(G, old, (size_t)rank * (size_t)np * sizeof *G);
    m->ng = rank;
    return 1;
}

/* ---- Evaluators -------------------------------------------------------------------------------------------------------------- */

/* 1 if a node depends on time or variables. */
static int varies(dae_graph *g, int node)
{
    int *list = NULL, count = dae_graph_reach(g, 1, &node, &list), found = count < 0;
    if (found) dae_graph_starve(g);
    for (int k = 0; k < count; k++) {
        int op = dae_graph_node(g, list[k]).op;
        found |= op == OP_VARIABLE || op == OP_TIME;
    }
    free(list);
    return found;
}

static int make_evaluators(dae_mechanical *m, const int *row, const int *M, const int *A, const int *G)
{
    const dae_analysis *a = m->a;
    dae_graph *g = a->model->graph;
    int np = m->np, ng = m->ng,
        *node = malloc(((size_t)np * (size_t)np + (size_t)ng * (size_t)np + 1) * sizeof *node);
    if (!node) return dae_graph_starve(g), 0;
    m->constant = 1;
    for (int j = 0; j < np; j++) {
        for (int i = 0; i < np; i++) {
            node[i + j * np] = M[row[i] + j * np];
            if (varies(g, node[i + j * np])) m->constant = 0;
        }
    }
    m->mass = dae_evaluator_create(g, a->place, np * np, node);
    for (int i = 0; i < np; i++) node[i] = a->node[m->motion[i]];
    m->force = dae_evaluator_create(g, a->place, np, node);
    for (int k = 0; k < ng; k++) node[k] = a->node[m->constraint[k]];
    m->gap = dae_evaluator_create(g, a->place, ng, node);
    for (int k = 0; k < ng; k++) node[k] = a->value[a->first[m->constraint[k]] + 1];
    m->gap_rate = dae_evaluator_create(g, a->place, ng, node);
    for (int k = 0; k < ng; k++) node[k] = a->value[a->first[m->constraint[k]] + 2];
    m->gamma = dae_evaluator_create(g, a->place, ng, node);
    m->gradient = dae_evaluator_create(g, a->place, ng * np, G);
    for (int k = 0; k < ng; k++) {
        for (int i = 0; i < np; i++) node[i + k * np] = A[row[i] + k * np];
    }
    if (m->friction) m->slip = dae_evaluator_create(g, a->place, np * ng, node);
    free(node);
    int good =
        m->mass && m->force && m->gap && m->gap_rate && m->gamma && m->gradient && (m->slip || !m->friction);
    if (!good) dae_graph_starve(g);
    return good;
}

int dae_mechanical_friction(const dae_mechanical *m)
{
    return m->friction;
}

int dae_mechanical_explicit(const dae_mechanical *m)
{
    int named = m->np >= FEW_COORDINATES && m->ng == m->all && !m->friction;
    for (int i = 0; i < m->np; i++) named &= m->acceleration[i] >= 0;
    return named;
}

int dae_mechanical_redundant(const dae_mechanical *m)
{
    return m->all - m->ng;
}

void dae_mechanical_destroy(dae_mechanical *m)
{
    if (!m) return;
    dae_evaluator *all[EVALUATORS] = {m->mass,     m->force, m->gap,  m->gradient,
                                      m->gap_rate, m->gamma, m->slip, m->spread};
    for (int k = 0; k < EVALUATORS; k++) dae_evaluator_destroy(all[k]);
    dae_arena_destroy(m->arena);
    free(m);
}

/* An acceleration or multiplier. */
static int is_highest(const dae_node *leaf, const void *analysis)
{
    return leaf->b >= ((const dae_analysis *)analysis)->sigma.d[leaf->a];
}

/* Switches by positions and velocities are frozen; those by accelerations or multipliers stay as they are written. */
dae_mechanical *dae_mechanical_find(const dae_equation_system *s, int regular)
{
    dae_mechanical *m = calloc(1, sizeof *m);
    int by_highest = dae_smooth_decides_by(s->smooth, is_highest, &s->analysis);
    const dae_analysis *a = by_highest ? &s->analysis : &s->smooth->analysis;
    size_t n = (size_t)a->n + 1;
    if (!m || by_highest < 0 || !(m->arena = dae_arena_create())) {
        dae_graph_starve(a->model->graph);
        free(m);
        return NULL;
    }
    m->s = s;
    m->a = a;
    m->switches = !by_highest && dae_smooth_count(s->smooth) > 0;
    int **ints[] = {&m->position, &m->velocity, &m->acceleration, &m->multiplier, &m->constraint, &m->motion},
        nmotion = 0;
    for (int k = 0; k < 6; k++) *ints[k] = dae_arena_ints(m->arena, n);
    int *motion = dae_arena_ints(m->arena, n), *row = dae_arena_ints(m->arena, n),
        *order = orders(a, m->arena);
    m->scale = dae_arena_reals(m->arena, n);
    m->factor = dae_arena_reals(m->arena, n);
    int good = s->model->ndiscrete == 0 && a->combinations == 0 && a->augmented == 0 && order &&
               !dae_arena_failed(m->arena) && sort(m, order, motion, &nmotion);
    size_t np = (size_t)m->np, ng = (size_t)m->ng;
    int *M = dae_arena_ints(m->arena, np * np + 1), *A = dae_arena_ints(m->arena, np * ng + 1),
        *G = dae_arena_ints(m->arena, np * ng + 1);
    double *Mv[POINTS], *Av[POINTS], *Gv[POINTS];
    good = good && !dae_arena_failed(m->arena) && find_nodes(m, motion, M, A, G) &&
           values_at(m, m->np * m->np, M, Mv) && values_at(m, m->np * m->ng, A, Av) &&
           values_at(m, m->np * m->ng, G, Gv) && find_rows(m, motion, row, Mv, Av, Gv) &&
           part_constraints(m, A, G) && (regular || m->ng < m->all) && make_evaluators(m, row, M, A, G);
    if (good) return m;
    if (dae_arena_failed(m->arena)) dae_graph_starve(a->model->graph);
    dae_mechanical_destroy(m);
    return NULL;
}

/* ---- The form ------------------------------------------------------------------------------------------------------------------ */

typedef struct descriptor {
    dae_equation_system *s;
    const dae_mechanical *m;
    dae_arena *arena;
    dae_work *work; /* registers of the largest evaluator, X */
    size_t registers;
    dae_work *gradients; /* ng*np, for friction */
    double *mass;        /* np*np */
    double *X, *y;       /* the last lifted point; n */
    dae_sides *sides;
    double *at; /* X of switches */
    unsigned char *changed;
    int started;
    dae_dense_lu lu; /* of [M G^T; G 0], for multipliers */
    double *matrix, *rhs, *G, *F, *mu, *mu_start;
    double *spread,
        *unseen; /* of multipliers where constraints are left out: D G and its transposed, what no force shows */
} descriptor;

/* X with positions, velocities and multipliers (NULL: 0), accelerations 0. */
static void fill_X(const dae_mechanical *m, const double *p, const double *v, const double *mu, double *X)
{
    const int *place = m->s->analysis.place;
    memset(X, 0, (size_t)m->s->analysis.total * sizeof *X);
    for (int i = 0; i < m->np; i++) {
        int at = place[m->position[i]];
        X[at] = p[i];
        X[at + 1] = v ? v[i] : 0;
        if (m->velocity[i] >= 0 && v) X[place[m->velocity[i]]] = v[i];
    }
    for (int k = 0; mu && k < m->ng; k++) X[place[m->multiplier[k]]] = mu[k] / m->factor[k];
}

/* Evaluates at a point of the mechanical system; threads borrow work arrays. */
static int evaluate(descriptor *x, const dae_evaluator *e, double t, const double *p, const double *v,
                    const double *mu, double *out)
{
    int slot;
    double *work = dae_work_borrow(x->work, &slot);
    if (!work) return -1;
    double *X = work + x->registers;
    fill_X(x->m, p, v, mu, X);
    dae_sides_take(x->sides, x->s->discrete);
    dae_evaluator_start(e, work, x->s->parameter, dae_sides_discrete(x->sides));
    dae_evaluator_run(e, work, t, X, out);
    dae_work_return(x->work, slot);
    return 0;
}

static int switch_values(double t, const double *z, const int *side, double *margin, int *next, void *user)
{
    descriptor *x = user;
    fill_X(x->m, z, z + x->m->np, NULL, x->at);
    dae_sides_take(x->sides, x->s->discrete);
    dae_sides_values(x->sides, t, x->at, side, margin, next);
    return 0;
}

static const char *switch_name(int i, void *user)
{
    return dae_sides_name(((const descriptor *)user)->sides, i);
}

static int mass_fn(const dae_mech_point *at, double *out, void *user)
{
    descriptor *x = user;
    int np = x->m->np, r = evaluate(x, x->m->mass, at->t, at->p, NULL, NULL, out);
    for (int i = 0; i < np; i++) {
        for (int j = 0; j < np; j++) out[i + j * np] *= x->m->scale[i];
    }
    return r;
}

static int force(const dae_mech_point *at, double *out, void *user)
{
    descriptor *x = user;
    int r = evaluate(x, x->m->force, at->t, at->p, at->v, NULL, out);
    for (int i = 0; i < x->m->np; i++) out[i] *= -x->m->scale[i];
    return r;
}

/* The motion holds G^T mu and friction together: f = G^T mu - w (motion at a = 0). */
static int force_with_friction(const dae_mech_point *at, double *out, void *user)
{
    descriptor *x = user;
    const dae_mechanical *m = x->m;
    int slot, r = evaluate(x, m->force, at->t, at->p, at->v, at->lambda, out);
    double *G = r ? NULL : dae_work_borrow(x->gradients, &slot);
    if (!G) return -1;
    r = evaluate(x, m->gradient, at->t, at->p, NULL, NULL, G);
    for (int i = 0; i < m->np; i++) {
        out[i] *= -m->scale[i];
        for (int k = 0; k < m->ng && at->lambda; k++) out[i] += G[k + i * m->ng] * at->lambda[k];
    }
    dae_work_return(x->gradients, slot);
    return r;
}

/* df/dmu = G^T - w A D^-1, np x ng */
static int friction(const dae_mech_point *at, double *out, void *user)
{
    descriptor *x = user;
    const dae_mechanical *m = x->m;
    int slot,
        known = 0; /* |force| has no derivative at 0, where methods begin their search: as at the start */
    for (int k = 0; k < m->ng && at->lambda; k++) known |= at->lambda[k] != 0;
    int r = evaluate(x, m->slip, at->t, at->p, at->v, known ? at->lambda : x->mu_start, out);
    double *G = r ? NULL : dae_work_borrow(x->gradients, &slot);
    if (!G) return -1;
    r = evaluate(x, m->gradient, at->t, at->p, NULL, NULL, G);
    for (int k = 0; k < m->ng; k++) {
        for (int i = 0; i < m->np; i++) {
            double slip = m->scale[i] * out[i + k * m->np] / m->factor[k], bound = G[k + i * m->ng];
            out[i + k * m->np] = fabs(bound - slip) <= 1e-14 * fabs(bound) ? 0 : bound - slip;
        }
    }
    dae_work_return(x->gradients, slot);
    return r;
}

static int constraint(const dae_mech_point *at, double *g, double *G, void *user)
{
    descriptor *x = user;
    int r = g ? evaluate(x, x->m->gap, at->t, at->p, NULL, NULL, g) : 0;
    return r || !G ? r : evaluate(x, x->m->gradient, at->t, at->p, NULL, NULL, G);
}

static int velocity(const dae_mech_point *at, double *out, void *user)
{
    descriptor *x = user;
    return evaluate(x, x->m->gap_rate, at->t, at->p, NULL, NULL, out);
}

static int gamma_fn(const dae_mech_point *at, double *out, void *user)
{
    descriptor *x = user;
    return evaluate(x, x->m->gamma, at->t, at->p, at->v, NULL, out);
}

static void destroy(dae_form *f)
{
    descriptor *x = f->self;
    if (!x) return;
    dae_work_destroy(x->work);
    dae_work_destroy(x->gradients);
    dae_sides_destroy(x->sides);
    dae_arena_destroy(x->arena);
    free(x);
}

static void prepare(double *array, void *user)
{
    (void)array, (void)user;
}

static dae_status create(dae_form *f, dae_error *err)
{
    dae_equation_system *s = (dae_equation_system *)f->model;
    const dae_mechanical *m = s->mechanical;
    descriptor *x = f->self = calloc(1, sizeof *x);
    if (!m)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "these equations are no mechanical system M v' = f - G^T lambda, 0 = g(p); take "
                        "statespace or index1");
    if (!x || !(x->arena = dae_arena_create()))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the descriptor form");
    const dae_evaluator *all[EVALUATORS] = {m->mass,     m->force, m->gap,  m->gradient,
                                            m->gap_rate, m->gamma, m->slip, m->spread};
    size_t np = (size_t)m->np, ng = (size_t)m->ng, every = (size_t)m->all;
    x->s = s;
    x->m = m;
    for (int k = 0; k < EVALUATORS; k++) {
        size_t size = all[k] ? dae_evaluator_work(all[k]) + 1 : 0;
        x->registers = size > x->registers ? size : x->registers;
    }
    if (m->spread) {
        x->spread = dae_arena_reals(x->arena, 2 * every * np + 1);
        x->unseen = dae_arena_reals(x->arena, 2 * every * (every + 1) + 1);
    }
    x->gradients = dae_work_create(np * ng + 1, prepare, NULL);
    x->F = dae_arena_reals(x->arena, np * ng + 1);
    x->mu = dae_arena_reals(x->arena, ng + 1);
    x->mu_start = dae_arena_reals(x->arena, ng + 1);
    for (int k = 0; k < m->ng && x->mu_start; k++)
        x->mu_start[k] = s->initial.X[s->analysis.place[m->multiplier[k]]] * m->factor[k];
    x->work = dae_work_create(x->registers + (size_t)s->analysis.total + 1, prepare, NULL);
    x->mass = dae_arena_reals(x->arena, np * np + 1);
    x->X = dae_arena_reals(x->arena, (size_t)s->analysis.total + 1);
    x->y = dae_arena_reals(x->arena, (size_t)s->n + 1);
    x->at = dae_arena_reals(x->arena, (size_t)s->analysis.total + 1);
    x->sides = dae_sides_create(s->smooth, s->discrete);
    x->changed = dae_arena_take(x->arena, (size_t)s->n + 1, 1);
    x->matrix = dae_arena_reals(x->arena, (np + ng) * (np + ng) + 1);
    x->rhs = dae_arena_reals(x->arena, np + ng + 1);
    x->G = dae_arena_reals(x->arena, np * ng + 1);
    dae_dense_init(&x->lu, m->np + m->ng, 0, x->arena);
    if (!x->work || !x->gradients || !x->sides || dae_arena_failed(x->arena))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the descriptor form");
    dae_mech mech = {.np = m->np,
                     .nv = m->np,
                     .ng = m->ng,
                     .nlambda = m->ng,
                     .force = m->friction ? force_with_friction : force,
                     .dfdlambda = m->friction ? friction : NULL,
                     .constraint = constraint,
                     .velocity = velocity,
                     .gamma = gamma_fn,
                     .user = x};
    if (m->constant) {
        dae_mech_point start = {.t = s->model->t0, .p = x->X};
        if (mass_fn(&start, x->mass, x))
            return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the descriptor form");
        mech.mass = dae_dense(m->np, x->mass);
    } else {
        mech.mass_fn = mass_fn;
    }
    f->system = (dae_system){.kind = DAE_KIND_MECH, .mech = mech};
    if (m->switches) f->system.switches = dae_sides_switches(x->sides, switch_values, x, switch_name);
    int used =
        snprintf(f->text, sizeof f->text, "mechanical form found: %d coordinates, %d constraint%s%s", m->np,
                 m->ng, m->ng == 1 ? "" : "s", m->friction ? ", friction by the forces of constraint" : "");
    if (m->spread)
        snprintf(f->text + used, sizeof f->text - (size_t)used,
                 ", %d more that follow%s; multipliers of least norm", m->all - m->ng,
                 m->all - m->ng == 1 ? "s" : "");
    return DAE_OK;
}

static dae_status lift(dae_form *f, double t, const double *y, double *z, dae_error *err)
{
    descriptor *x = f->self;
    dae_equation_system *s = x->s;
    const int *place = s->analysis.place;
    int different = 0;
    if (!x->started) memcpy(x->X, s->initial.X, (size_t)s->analysis.total * sizeof *x->X);
    dae_equation_system_components(s, x->X, x->y);
    for (int i = 0; i < s->ncontinuous; i++) {
        x->changed[i] = y[i] != x->y[i];
        different |= x->changed[i];
    }
    int r = different ? dae_equation_system_restart(s, t, y, x->changed, s->discrete, x->X, x->X) : 0;
    if (r) return dae_equation_system_restarted(r, t, err);
    x->started = 1;
    for (int i = 0; i < x->m->np; i++) {
        int at = place[x->m->position[i]];
        z[i] = x->X[at];
        z[x->m->np + i] = x->m->velocity[i] >= 0 ? x->X[place[x->m->velocity[i]]] : x->X[at + 1];
    }
    return DAE_OK;
}

/* Accelerations and multipliers: [M G^T-F; G 0] (a, mu) = (f - F mu0, -gamma), into rhs, F = df/dmu at mu0 (NULL: no friction). */
static int solve_motion(descriptor *x, const dae_mech_point *at)
{
    const dae_mechanical *m = x->m;
    int np = m->np, ng = m->ng, n = np + ng;
    dae_mech_fn *f = m->friction ? force_with_friction : force;
    memset(x->matrix, 0, (size_t)n * (size_t)n * sizeof *x->matrix);
    if (mass_fn(at, x->mass, x) || constraint(at, NULL, x->G, x) || f(at, x->rhs, x) ||
        gamma_fn(at, x->rhs + np, x) || (m->friction && friction(at, x->F, x)))
        return 1;
    for (int j = 0; j < np; j++) {
        for (int i = 0; i < np; i++) x->matrix[i + j * n] = x->mass[i + j * np];
        for (int k = 0; k < ng; k++) {
            double F = m->friction ? x->F[j + k * np] : 0;
            x->matrix[np + k + j * n] = x->G[k + j * ng];
            x->matrix[j + (np + k) * n] = x->G[k + j * ng] - F;
            if (F != 0) x->rhs[j] -= F * at->lambda[k];
        }
    }
    for (int k = 0; k < ng; k++) x->rhs[np + k] = -x->rhs[np + k];
    dae_dense_load(&x->lu, 1, x->matrix, n);
    if (dae_dense_factor(&x->lu)) return 1;
    dae_dense_solve(&x->lu, x->rhs, NULL);
    return 0;
}

/* Multipliers of all constraints, of least norm: what G^T D does not see is taken away. */
static int spread_multipliers(descriptor *x, double t, const double *z)
{
    const dae_mechanical *m = x->m;
    const int *place = x->s->analysis.place;
    int np = m->np, all = m->all;
    double *turned = x->spread + (size_t)all * (size_t)np, *N = x->unseen + (size_t)all * (size_t)(all + 1);
    if (evaluate(x, m->spread, t, z, NULL, NULL, x->spread)) return 1;
    for (int k = 0; k < all; k++) {
        for (int i = 0; i < np; i++) turned[i + k * np] = m->factor[k] * x->spread[k + i * all];
    }
    int count = dae_null_space(all, np, np, turned, x->unseen, N);
    for (int c = 0; c < count; c++) {
        const double *v = N + (size_t)c * (size_t)all;
        double part = 0;
        for (int k = 0; k < all; k++) part += v[k] * x->X[place[m->multiplier[k]]];
        for (int k = 0; k < all; k++) x->X[place[m->multiplier[k]]] -= part * v[k];
    }
    return 0;
}

/* All of X from positions and velocities; friction that is not linear in mu takes iterations (Newton). */
static int complete(descriptor *x, double t, const double *z)
{
    const dae_mechanical *m = x->m;
    const int *place = x->s->analysis.place;
    int np = m->np, ng = m->ng, done = 0;
    dae_mech_point at = {.t = t, .p = z, .v = z + np, .lambda = m->friction ? x->mu : NULL};
    for (int k = 0; k < ng; k++) x->mu[k] = x->X[place[m->multiplier[k]]] * m->factor[k];
    for (int iteration = 0; iteration < MAX_ITERATIONS && !done; iteration++) {
        double change = 0, size = 0;
        if (solve_motion(x, &at)) return 1;
        for (int k = 0; k < ng; k++) {
            change = fmax(change, fabs(x->rhs[np + k] - x->mu[k]));
            size = fmax(size, fabs(x->rhs[np + k]));
            x->mu[k] = x->rhs[np + k];
        }
        done = !m->friction || change <= SETTLED * size;
    }
    if (!done) return 1;
    fill_X(m, z, z + np, x->mu, x->X);
    for (int i = 0; i < np; i++) {
        x->X[place[m->position[i]] + 2] = x->rhs[i];
        if (m->velocity[i] >= 0) x->X[place[m->velocity[i]] + 1] = x->rhs[i];
        if (m->acceleration[i] >= 0) x->X[place[m->acceleration[i]]] = x->rhs[i];
    }
    return m->spread ? spread_multipliers(x, t, z) : 0;
}

static int lower(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp)
{
    descriptor *x = f->self;
    const dae_equation_system *s = x->s;
    (void)zp;
    if (complete(x, t, z)) return 1;
    dae_equation_system_components(s, x->X, y);
    if (yp) dae_equation_system_rates(s, x->X, yp);
    return 0;
}

static void tolerance(const dae_form *f, const double *given, double *out)
{
    const descriptor *x = f->self;
    const dae_equation_system *s = x->s;
    for (int i = 0; i < x->m->np; i++) {
        for (int c = 0; c < s->ncontinuous; c++) {
            if (s->variable[c] == x->m->position[i] && s->order[c] == 0) out[i] = given[c];
            int own = x->m->velocity[i] < 0 && s->variable[c] == x->m->position[i] && s->order[c] == 1;
            if (own || (x->m->velocity[i] >= 0 && s->variable[c] == x->m->velocity[i] && s->order[c] == 0))
                out[x->m->np + i] = given[c];
        }
    }
}

const dae_form_type dae_form_descriptor = {
    .info = {.name = "descriptor",
             .title = "mechanical system",
             .summary = "p' = v, M v' = f - G^T mu, 0 = g(p): for phem56 and mexx",
             .kind = DAE_KIND_MECH},
    .create = create,
    .destroy = destroy,
    .lift = lift,
    .lower = lower,
    .tolerance = tolerance,
};
