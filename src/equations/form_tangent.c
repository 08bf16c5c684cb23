/* Exact derivatives inside of the forms of equations: of all values X that z determines,
 *
 *     F(t, X, p) = 0,  X at given places = z:      F_X dX = -F_p dp - F_d dd,   dX at the given places = dz
 *
 * with d the discrete values and F all equations and their derivatives (statespace: states are given), those that the highest
 * derivatives follow from (projected: all below is given), or none (index1: all is given, and F itself is the right-hand side).
 * One factorization serves all directions at a point. */
#include "equations/entries.h"
#include "equations/evaluator.h"
#include "equations/problem.h"
#include "equations/tangent.h"

#include "linalg/dense.h"
#include "linalg/least_squares.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 120 }; /* ours: length of X up to which the matrix is dense; larger ones are not done */

struct dae_form_tangents {
    const dae_problem *p;
    const dae_equation_object *o;
    dae_form *f;
    dae_equation_system *s;
    const dae_analysis *a;
    const dae_form_inside *form;
    int total, dof, nequation, ndiscrete, nside; /* nside: discrete values with sides */
    int ngiven, nsolve;                          /* values of X that are given, and that follow */
    dae_tangent *equation, *slope; /* leaves: t, parameters, X, discrete values with sides; slope: of F_X */
    dae_entries entry;
    dae_evaluator *jacobian;
    double *jacobian_work, *out, *matrix, *rhs, *direction;
    int *row, *column; /* nequation, total: of the matrix; -1: not in it */
    dae_dense_lu lu;
    /* where the factors are from */
    double t, *z;
    double *X, *discrete;
    int *given, known, n;
    /* projections: stages 1 .. nstage, the factors of J W^2 J' of each; weights, changes (total each), mu and its change (nequation) */
    int nstage;
    dae_dense_lu *normal;
    double *weight, *moved, *bent, *dX, *dJ, *mu, *dmu;
};

void dae_inside_close(dae_form_tangents *x)
{
    if (!x) return;
    dae_tangent_destroy(x->equation);
    dae_tangent_destroy(x->slope);
    dae_evaluator_destroy(x->jacobian);
    dae_entries_free(&x->entry);
}

/* dX, then those of the discrete values, then dF. */
int dae_inside_count(const dae_form_tangents *x)
{
    return x->total + x->ndiscrete + x->nequation;
}

/* ---- Making ------------------------------------------------------------------------------------------------- */

static int make_equations(dae_form_tangents *x)
{
    const dae_model *m = x->o->m;
    dae_graph *g = m->graph;
    int count = 1 + m->nparameter + x->total + x->nside, k = 0;
    int *leaf = malloc((size_t)count * sizeof *leaf);
    if (!leaf) return 0;
    leaf[k++] = dae_graph_time(g);
    for (int i = 0; i < m->nparameter; i++) leaf[k++] = dae_graph_parameter(g, i);
    for (int j = 0; j < x->a->n; j++) {
        for (int q = x->a->place[j]; q < x->a->place[j + 1]; q++)
            leaf[k++] = dae_graph_variable(g, j, q - x->a->place[j]);
    }
    for (int i = 0; i < x->nside; i++) leaf[k++] = dae_graph_discrete(g, i);
    x->equation = dae_tangent_create(g, count, leaf, x->nequation, x->a->value);
    int good = x->equation && dae_entries_find(x->a, &x->entry), slopes = x->form->entries || x->nstage;
    if (good && slopes) x->slope = dae_tangent_create(g, count, leaf, x->entry.count, x->entry.node);
    free(leaf);
    if (!good || (slopes && !x->slope)) return 0;
    x->jacobian = dae_evaluator_create(g, x->a->place, x->entry.count, x->entry.node);
    return x->jacobian != NULL;
}

/* The equations that something follows from, and what: places in the matrix. */
static void arrange(dae_form_tangents *x)
{
    int next = 0, every = x->form == &dae_statespace_inside;
    for (int i = 0; i < x->a->n; i++) {
        for (int e = x->a->first[i]; e < x->a->first[i + 1]; e++)
            x->row[e] = x->nsolve && (every || e == x->a->first[i + 1] - 1) ? next++ : -1;
    }
    for (int k = 0; k < x->total; k++) x->column[k] = 0;
    for (int i = 0; i < x->ngiven; i++) x->column[x->given[i]] = -1;
    next = 0;
    for (int k = 0; k < x->total; k++) x->column[k] = x->column[k] < 0 ? -1 : next++;
}

static void take_arrays(dae_form_tangents *x, dae_arena *arena)
{
    size_t total = (size_t)x->total, rows = (size_t)x->nequation, most = rows;
    double **vector[] = {&x->out, &x->matrix, &x->rhs, &x->direction, &x->z, &x->X, &x->discrete};
    if (x->form == &dae_index1_inside) most = 0;
    size_t size[] = {
        (size_t)x->entry.count, most * most, rows, (size_t)x->o->m->nparameter, (size_t)x->n, total,
        (size_t)x->nside};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        *vector[k] = dae_arena_reals(arena, size[k] + 1);
    x->row = dae_arena_ints(arena, rows + 1);
    x->column = dae_arena_ints(arena, total + 1);
    x->given = dae_arena_ints(arena, total + 1);
    dae_dense_init(&x->lu, x->nsolve ? x->nsolve : 1, 0, arena);
    if (!x->slope) return;
    double **more[] = {&x->weight, &x->moved, &x->bent, &x->dX};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        *more[k] = dae_arena_reals(arena, total + (size_t)x->ndiscrete + 1);
    x->dJ = dae_arena_reals(arena, (size_t)x->entry.count + 1);
    x->mu = dae_arena_reals(arena, rows + 1);
    x->dmu = dae_arena_reals(arena, rows + 1);
    x->normal = dae_arena_take(arena, (size_t)x->nstage + 1, sizeof *x->normal);
    for (int p = 1; p <= x->nstage && x->normal; p++) {
        int m = 0;
        for (int i = 0; i < x->a->n; i++) m += x->a->sigma.c[i] >= p;
        dae_dense_init(&x->normal[p], m, 0, arena);
    }
}

static const dae_form_inside *inside_of(const dae_form *f)
{
    if (f->type == &dae_form_statespace) return &dae_statespace_inside;
    if (f->type == &dae_form_index1) return &dae_index1_inside;
    return f->type == &dae_form_projected ? &dae_projected_inside : NULL;
}

dae_form_tangents *dae_inside_open(const dae_problem *p, dae_form *f, dae_arena *arena, int *starved)
{
    const dae_equation_object *o = dae_problem_object(p, dae_equation_object_destroy);
    const dae_form_inside *form = inside_of(f);
    *starved = 0;
    if (!form || !o->system) return NULL;
    dae_equation_system *s = o->system;
    const dae_analysis *a = &s->smooth->analysis;
    if ((a->total > LARGEST && form != &dae_index1_inside) || a->sigma.dof + s->model->ndiscrete < 1 ||
        a->total != a->sigma.dof + a->first[a->n])
        return NULL;
    dae_form_tangents *x = dae_arena_take(arena, 1, sizeof *x);
    *starved = !x;
    if (!x) return NULL;
    *x = (dae_form_tangents){.p = p,
                             .o = o,
                             .f = f,
                             .s = s,
                             .a = a,
                             .form = form,
                             .total = a->total,
                             .dof = a->sigma.dof,
                             .nequation = a->first[a->n],
                             .ndiscrete = s->model->ndiscrete};
    (void)form->given(f, &x->ngiven);
    x->nsolve = x->total - x->ngiven;
    x->nside = x->ndiscrete + dae_smooth_count(s->smooth);
    x->n = x->ngiven + x->ndiscrete;
    for (int i = 0; form == &dae_projected_inside && i < a->n; i++)
        x->nstage = a->sigma.c[i] > x->nstage ? a->sigma.c[i] : x->nstage;
    pthread_mutex_lock(&s->lock);
    int good = make_equations(x), full = dae_graph_failed(s->model->graph) == DAE_GRAPH_FULL;
    pthread_mutex_unlock(&s->lock);
    x->jacobian_work = good ? dae_arena_reals(arena, dae_evaluator_work(x->jacobian) + 1) : NULL;
    if (good) take_arrays(x, arena);
    if (good && !dae_arena_failed(arena)) return x;
    *starved = !full;
    dae_inside_close(x);
    return NULL;
}

/* ---- At a point ------------------------------------------------------------------------------------------------ */

/* out = F_p dp + F_X dX + F_d dd at (t, X, discrete), or (slope) that of F_X; dX, dd NULL: 0. */
static int along(dae_form_tangents *x, dae_tangent *of, double t, const double *X, const double *discrete,
                 const double *direction, const double *dX, const double *dd, double *out)
{
    const dae_model *m = x->o->m;
    int slot, np = m->nparameter, count = 1 + np + x->total + x->nside;
    double *v = dae_tangent_borrow(of, &slot), *d = v ? v + count : NULL;
    if (!v) return -1;
    memset(d, 0, (size_t)count * sizeof *d);
    v[0] = t;
    for (int i = 0; i < np; i++) v[1 + i] = m->parameter[i].value;
    if (direction) memcpy(d + 1, direction, (size_t)np * sizeof *d);
    memcpy(v + 1 + np, X, (size_t)x->total * sizeof *v);
    if (dX) memcpy(d + 1 + np, dX, (size_t)x->total * sizeof *d);
    memcpy(v + 1 + np + x->total, discrete, (size_t)x->nside * sizeof *v);
    if (dd) memcpy(d + 1 + np + x->total, dd, (size_t)x->ndiscrete * sizeof *d);
    dae_tangent_run(of, v, slot, out);
    return 0;
}

/* X, what is given and factors at (t, z), where they are not known yet. */
static int take_point(dae_form_tangents *x, double t, const double *z)
{
    const double *X, *discrete;
    int r = x->form->point(x->f, t, z, &X, &discrete);
    if (r) return r;
    const int *given = x->form->given(x->f, &x->ngiven);
    size_t n = (size_t)x->n * sizeof *z, places = (size_t)x->ngiven * sizeof *given,
           sides = (size_t)x->nside * sizeof *discrete;
    if (x->known && t == x->t && !memcmp(z, x->z, n) && !memcmp(given, x->given, places) &&
        !memcmp(discrete, x->discrete, sides))
        return 0;
    x->t = t;
    x->known = 0;
    memcpy(x->z, z, n);
    memcpy(x->given, given, places);
    memcpy(x->discrete, discrete, sides);
    memcpy(x->X, X, (size_t)x->total * sizeof *X);
    arrange(x);
    if (x->nsolve) {
        memset(x->matrix, 0, (size_t)(x->nsolve * x->nsolve) * sizeof *x->matrix);
        dae_evaluator_start(x->jacobian, x->jacobian_work, x->s->parameter, x->discrete);
        dae_evaluator_run(x->jacobian, x->jacobian_work, t, x->X, x->out);
        for (int e = 0; e < x->entry.count; e++) {
            int i = x->row[x->entry.row[e]], c = x->column[x->entry.column[e]];
            if (i >= 0 && c >= 0) x->matrix[i + c * x->nsolve] += x->out[e];
        }
        dae_dense_load(&x->lu, 1, x->matrix, x->nsolve);
        if (dae_dense_factor(&x->lu)) return 1;
    }
    x->known = 1;
    return 0;
}

/* dX (0 where it follows) and dd of dz. */
static void spread(const dae_form_tangents *x, const double *dz, double *dX, double *dd)
{
    memset(dX, 0, (size_t)x->total * sizeof *dX);
    memset(dd, 0, (size_t)x->ndiscrete * sizeof *dd);
    for (int i = 0; dz && i < x->ngiven; i++) dX[x->given[i]] = dz[i];
    for (int i = 0; dz && i < x->ndiscrete; i++) dd[i] = dz[x->ngiven + i];
}

int dae_inside_values(dae_form_tangents *x, double t, const double *z, const double *dz, int k, double *out)
{
    int r = take_point(x, t, z);
    if (r) return r;
    double *dd = out + x->total, *dF = dd + x->ndiscrete;
    spread(x, dz, out, dd);
    dae_equation_direction(x->o, k, x->direction);
    r = along(x, x->equation, t, x->X, x->discrete, x->direction, out, dd, dF);
    if (r || !x->nsolve) return r;
    for (int e = 0; e < x->nequation; e++) {
        if (x->row[e] >= 0) x->rhs[x->row[e]] = dF[e];
    }
    dae_dense_solve(&x->lu, x->rhs, NULL);
    for (int i = 0; i < x->total; i++) {
        if (x->column[i] >= 0) out[i] = -x->rhs[x->column[i]];
    }
    return 0;
}

int dae_inside_jacobian(dae_form_tangents *x, double t, const double *z, const double *dz, int k, double *out)
{
    if (!x->form->entries) return 1;
    int r = take_point(x, t, z);
    if (r) return r;
    const int *to = x->form->entries(x->f);
    const dae_pattern *p = &x->f->system.structure.jacobian;
    double *dX = x->moved, *dd = dX + x->total;
    memset(out, 0, (size_t)dae_pattern_count(p, x->n) * sizeof *out);
    spread(x, dz, dX, dd);
    dae_equation_direction(x->o, k, x->direction);
    r = along(x, x->slope, t, x->X, x->discrete, x->direction, dX, dd, x->out);
    for (int e = 0; e < x->entry.count && !r; e++) out[to[e]] = x->out[e];
    return r;
}

void dae_inside_pick(const dae_form_tangents *x, const double *values, double *dz, double *rate, double *dy)
{
    int count, states = x->form == &dae_index1_inside ? x->dof : x->ngiven;
    const int *now = x->form->given(x->f, &count); /* others after a change of variables */
    for (int i = 0; dz && i < count; i++) dz[i] = values[now[i]];
    for (int i = 0; rate && i < states; i++) rate[i] = values[x->given[i] + 1];
    for (int i = states; rate && i < count; i++) rate[i] = values[x->total + x->ndiscrete + i - states];
    for (int i = 0; i < x->ndiscrete; i++) {
        if (dz) dz[count + i] = values[x->total + i];
        if (rate) rate[count + i] = 0;
        if (dy) dy[x->s->ncontinuous + i] = values[x->total + i];
    }
    if (dy) dae_equation_system_components(x->s, values, dy);
}

/* ---- Projections -------------------------------------------------------------------------------------------------- */

/* Place in X of the unknown of variable j in stage p, and number of the equation of row i; -1: none. */
static int unknown(const dae_form_tangents *x, int j, int p)
{
    return x->a->sigma.d[j] >= p ? x->a->place[j] + x->a->sigma.d[j] - p : -1;
}

static int equation(const dae_form_tangents *x, int i, int p)
{
    return x->a->sigma.c[i] >= p ? x->a->first[i] + x->a->sigma.c[i] - p : -1;
}

/* What stage p solves for what: row and column (0 .. or -1) of all equations and places. The number of rows. */
static int arrange_stage(dae_form_tangents *x, int p)
{
    int m = 0;
    for (int e = 0; e < x->nequation; e++) x->row[e] = -1;
    for (int k = 0; k < x->total; k++) x->column[k] = -1;
    for (int i = 0; i < x->a->n; i++) {
        if (equation(x, i, p) >= 0) x->row[equation(x, i, p)] = m++;
        if (unknown(x, i, p) >= 0) x->column[unknown(x, i, p)] = 1;
    }
    return m;
}

/* 1: entry e belongs to the stage. */
static int in_stage(const dae_form_tangents *x, int e)
{
    return x->row[x->entry.row[e]] >= 0 && x->column[x->entry.column[e]] >= 0;
}

/* The projection of a stage moves x0 to x = x0 - W^2 J' mu with F(x) = 0, J = F_x at x, W the weights. Along dx0, dp:
 *
 *     dx = dx0 - v - W^2 J' dmu,   v = (dW^2 J' + W^2 dJ') mu,   (J W^2 J') dmu = F_x dx0 + F_p - J v
 *
 * mu is as small as the error of a step; dJ is along dx, so that two rounds suffice. dX: that of the stages before, and dx0. */
static int project_stage(dae_form_tangents *x, int p, double t, const double *before, const double *dz,
                         double *dX, const double *dd)
{
    enum { ROUNDS = 2 };
    int m = arrange_stage(x, p), n = x->entry.count, r;
    const double *J = x->out;
    double *A = x->matrix, *v = x->bent, *dx0 = x->moved;
    memset(A, 0, (size_t)(m * m) * sizeof *A);
    memset(x->mu, 0, (size_t)m * sizeof *x->mu);
    for (int i = 0; i < x->ngiven; i++) v[x->given[i]] = before[i] - x->X[x->given[i]];
    for (int e = 0; e < n; e++) {
        if (!in_stage(x, e)) continue;
        int c = x->entry.column[e], i = x->row[x->entry.row[e]];
        x->mu[i] += J[e] * v[c];
        for (int q = 0; q < n; q++) {
            if (x->entry.column[q] == c && x->row[x->entry.row[q]] >= 0)
                A[i + x->row[x->entry.row[q]] * m] += J[e] * J[q] * x->weight[c] * x->weight[c];
        }
    }
    dae_dense_load(&x->normal[p], 1, A, m);
    if (dae_dense_factor(&x->normal[p])) return 1;
    dae_dense_solve(&x->normal[p], x->mu, NULL);
    r = along(x, x->equation, t, x->X, x->discrete, x->direction, dX, dd, x->rhs);
    memcpy(dx0, dX, (size_t)x->total * sizeof *dx0);
    memset(v, 0, (size_t)x->total * sizeof *v);
    for (int round = 0; round <= ROUNDS && !r; round++) {
        if (round) {
            r = along(x, x->slope, t, x->X, x->discrete, x->direction, dX, dd, x->dJ);
            memset(v, 0, (size_t)x->total * sizeof *v);
            for (int e = 0; e < n && !r; e++) {
                int c = x->entry.column[e];
                double w = x->weight[c];
                if (in_stage(x, e)) v[c] += w * w * x->dJ[e] * x->mu[x->row[x->entry.row[e]]];
            }
            for (int k = 0; k < x->ngiven; k++) { /* W = |z| where that is above 1 */
                int c = x->given[k];
                if (x->column[c] < 0 || fabs(before[k]) <= 1) continue;
                v[c] += 2 * dz[k] / before[k] * (before[k] - x->X[c]);
            }
        }
        for (int q = 0; q < x->nequation; q++) {
            if (x->row[q] >= 0) x->dmu[x->row[q]] = x->rhs[q];
        }
        for (int e = 0; e < n; e++) {
            if (in_stage(x, e)) x->dmu[x->row[x->entry.row[e]]] -= J[e] * v[x->entry.column[e]];
        }
        dae_dense_solve(&x->normal[p], x->dmu, NULL);
        for (int k = 0; k < x->total; k++) {
            if (x->column[k] >= 0) dX[k] = dx0[k] - v[k];
        }
        for (int e = 0; e < n; e++) {
            int c = x->entry.column[e];
            if (in_stage(x, e)) dX[c] -= x->weight[c] * x->weight[c] * J[e] * x->dmu[x->row[x->entry.row[e]]];
        }
    }
    return r;
}

int dae_inside_project(dae_form_tangents *x, double t, const double *before, const double *after, int k,
                       double *dz)
{
    double *dd = x->dX + x->total;
    int r = x->nstage ? take_point(x, t, after) : 1;
    if (r) return r;
    x->known = 0; /* rows and columns become those of stages */
    spread(x, dz, x->dX, dd);
    dae_equation_direction(x->o, k, x->direction);
    for (int i = 0; i < x->ngiven; i++) x->weight[x->given[i]] = fmax(fabs(before[i]), 1);
    dae_evaluator_run(x->jacobian, x->jacobian_work, t, x->X, x->out);
    for (int p = x->nstage; p >= 1 && !r; p--) r = project_stage(x, p, t, before, dz, x->dX, dd);
    for (int i = 0; i < x->ngiven && !r; i++) dz[i] = x->dX[x->given[i]];
    return r;
}

/* ---- The start -------------------------------------------------------------------------------------------------- */

/* F_X dX = -F_p dp - F_d dd and dX = d(given value) where one is bound; what else is free must follow from that. a: column by column. */
int dae_inside_start(dae_form_tangents *x, int k, double *out)
{
    const dae_model *m = x->o->m;
    dae_equation_system *s = x->s;
    int total = x->total, rows = x->nequation, bound = 0, good = 1;
    for (int q = 0; q < m->nstart; q++) bound += m->start[q].bound != 0;
    if (m->ninit || dae_problem_restarted(x->p) || total > LARGEST) return 1;
    int all = rows + bound, most = all > total ? all : total;
    double *a = calloc((size_t)all * (size_t)total + (size_t)most + 1, sizeof *a),
           *b = a ? a + (size_t)all * (size_t)total : NULL, *dd = out + total;
    if (!a) return -1;
    dae_equation_direction(x->o, k, x->direction);
    pthread_mutex_lock(&s->lock);
    for (int i = 0; i < x->ndiscrete && good; i++)
        good = dae_equation_by_parameters(x->o, m->discrete[i].node, x->direction, &dd[i]);
    for (int q = 0, row = rows; q < m->nstart && good; q++) {
        const dae_model_start *v = &m->start[q];
        if (!v->bound) continue;
        a[(size_t)row + (size_t)(x->a->place[v->variable] + v->order) * (size_t)all] = 1;
        good = dae_equation_by_parameters(x->o, v->node, x->direction, &b[row++]);
    }
    pthread_mutex_unlock(&s->lock);
    int r = good ? along(x, x->equation, m->t0, s->initial.X, s->discrete, x->direction, NULL, dd, b) : -1;
    for (int i = 0; i < rows && !r; i++) b[i] = -b[i];
    dae_evaluator_start(x->jacobian, x->jacobian_work, s->parameter, s->discrete);
    dae_evaluator_run(x->jacobian, x->jacobian_work, m->t0, s->initial.X, x->out);
    for (int e = 0; e < x->entry.count; e++)
        a[(size_t)x->entry.row[e] + (size_t)x->entry.column[e] * (size_t)all] += x->out[e];
    if (!r) r = dae_least_squares(all, total, a, b, 1e-10) < total;
    if (!r) memcpy(out, b, (size_t)total * sizeof *out);
    free(a);
    return r;
}
