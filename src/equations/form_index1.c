/* The form `index1` of equations: all equations and their derivatives with all variables and theirs, an index-1 DAE for stiff systems.
 *
 *     z = (states, the rest of X, discrete values),  X = x_j^(k), k <= d_j
 *     rows of states: z_i' = the derivative of that state, an entry of z;   the other rows: 0 = f_i^(m), m <= c_i
 *
 * M = diag(1 at states and discrete values, 0). The Jacobian is exact. Small systems have dense ones and change their states where the
 * pose wants others (charts); large ones have sparse ones and keep the choice made at the start, since patterns are fixed.
 *
 * Jumps are located, and so are kinks by which states decide. Other continuous kinks are not: in networks many stand on their corners (flows that
 * are zero), and all that a stiff method loses there is a step that its error test shortens (water at 1e-4: 19 steps, 9363 with all of
 * them located; with those of states 78, and no digit more). Nor are those of large systems, which are such networks. */
#include "equations/form_base.h"

#include "core/error.h"
#include "equations/entries.h"
#include "equations/evaluator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DENSE = 60 }; /* length of X up to which the Jacobian is dense */

typedef struct index1 {
    dae_form_base base; /* d chooses the states */
    dae_arena *arena;
    int n, total, dof; /* of z; of X; states */
    int nequation;     /* with their derivatives */
    int *at;           /* total: the place in z of each value of X */
    int *given;        /* total: and the place in X of each value of z */
    dae_entries entry; /* derivatives of the equations */
    int sparse;
    int *colptr, *rowind; /* sparse pattern */
    /* entry.count + dof: where each entry stands in the Jacobian's values, then those of the state rows */
    int *to;
    double *mass; /* n */
    dae_evaluator *residual, *jacobian;
    double *residual_work, *jacobian_work, *out;
} index1;

/* ---- Evaluation ------------------------------------------------------------------------------------------------------------- */

static void start_evaluators(void *user)
{
    index1 *x = user;
    dae_evaluator_start(x->residual, x->residual_work, x->base.s->parameter,
                        dae_sides_discrete(x->base.sides));
    dae_evaluator_start(x->jacobian, x->jacobian_work, x->base.s->parameter,
                        dae_sides_discrete(x->base.sides));
}

static void to_X(const index1 *x, const double *z, double *X)
{
    for (int k = 0; k < x->total; k++) X[k] = z[x->at[k]];
}

/* The point z with its discrete values and sides. */
static void take_point(index1 *x, double t, const double *z)
{
    dae_form_base_take(&x->base, z + x->total);
    to_X(x, z, x->base.X);
    if (dae_sides_follow(x->base.sides, t, x->base.X)) start_evaluators(x);
}

static int rhs(double t, const double *z, double *f, void *user)
{
    index1 *x = user;
    const int *state = dae_reduced_states(x->base.d);
    take_point(x, t, z);
    dae_evaluator_run(x->residual, x->residual_work, t, x->base.X, x->out);
    for (int k = 0; k < x->dof; k++) f[k] = x->base.X[state[k] + 1];
    memcpy(f + x->dof, x->out, (size_t)x->nequation * sizeof *f);
    for (int k = x->total; k < x->n; k++) f[k] = 0;
    return 0;
}

static int jac(double t, const double *z, double *values, void *user)
{
    index1 *x = user;
    take_point(x, t, z);
    dae_evaluator_run(x->jacobian, x->jacobian_work, t, x->base.X, x->out);
    for (int e = 0; e < x->entry.count; e++) values[x->to[e]] = x->out[e];
    for (int k = 0; k < x->dof; k++) values[x->to[x->entry.count + k]] = 1;
    return 0;
}

static int point(dae_form *f, double t, const double *z, const double **X, const double **discrete)
{
    index1 *x = f->self;
    take_point(x, t, z);
    *X = x->base.X;
    *discrete = dae_sides_discrete(x->base.sides);
    return 0;
}

static const int *given(const dae_form *f, int *count)
{
    const index1 *x = f->self;
    *count = x->total;
    return x->given;
}

static const int *entries(const dae_form *f)
{
    return ((const index1 *)f->self)->to;
}

const dae_form_inside dae_index1_inside = {.point = point, .given = given, .entries = entries};

static int switch_values(double t, const double *z, const int *side, double *margin, int *next, void *user)
{
    index1 *x = user;
    take_point(x, t, z);
    dae_sides_values(x->base.sides, t, x->base.X, side, margin, next);
    return 0;
}

static const char *switch_name(int i, void *user)
{
    return dae_sides_name(((const index1 *)user)->base.sides, i);
}

/* After a switch: states stay, all else follows on the new side. */
static int adapt(double t, double *z, void *user)
{
    index1 *x = user;
    const double *X;
    take_point(x, t, z);
    dae_reduced_set(x->base.d, x->base.s->parameter, dae_sides_discrete(x->base.sides));
    dae_reduced_take(x->base.d, t, x->base.X);
    int r = dae_reduced_solve(x->base.d, t, z, &X);
    for (int k = 0; !r && k < x->total; k++) z[x->at[k]] = X[k];
    return r;
}

/* ---- Order of the variables --------------------------------------------------------------------------------------------------- */

/* States first, then the rest of X; where the Jacobian's entries stand (dense). */
static void arrange(index1 *x)
{
    const int *state = dae_reduced_states(x->base.d);
    int next = x->dof, s = 0;
    for (int k = 0; k < x->total; k++) {
        if (s < x->dof && state[s] == k) x->at[k] = s++;
        else x->at[k] = next++;
        x->given[x->at[k]] = k;
    }
    if (x->sparse) return;
    for (int e = 0; e < x->entry.count; e++)
        x->to[e] = x->dof + x->entry.row[e] + x->at[x->entry.column[e]] * x->n;
    for (int k = 0; k < x->dof; k++) x->to[x->entry.count + k] = k + x->at[state[k] + 1] * x->n;
}

typedef struct position {
    int row, column, entry;
} position;

static int by_column(const void *a, const void *b)
{
    const position *x = a, *y = b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Compressed columns for the order of variables at the start. */
static int sparse_pattern(index1 *x)
{
    const int *state = dae_reduced_states(x->base.d);
    int count = x->entry.count + x->dof;
    position *p = malloc(((size_t)count + 1) * sizeof *p);
    x->colptr = dae_arena_ints(x->arena, (size_t)x->n + 1);
    x->rowind = dae_arena_ints(x->arena, (size_t)count + 1);
    if (!p || dae_arena_failed(x->arena)) {
        free(p);
        return 0;
    }
    for (int e = 0; e < x->entry.count; e++)
        p[e] = (position){x->dof + x->entry.row[e], x->at[x->entry.column[e]], e};
    for (int k = 0; k < x->dof; k++)
        p[x->entry.count + k] = (position){k, x->at[state[k] + 1], x->entry.count + k};
    qsort(p, (size_t)count, sizeof *p, by_column);
    for (int q = 0; q < count; q++) {
        x->to[p[q].entry] = q;
        x->rowind[q] = p[q].row;
        x->colptr[p[q].column + 1]++;
    }
    for (int j = 0; j < x->n; j++) x->colptr[j + 1] += x->colptr[j];
    free(p);
    return 1;
}

/* ---- Life ---------------------------------------------------------------------------------------------------------------------- */

static void destroy(dae_form *f)
{
    index1 *x = f->self;
    if (!x) return;
    dae_form_base_close(&x->base);
    dae_evaluator_destroy(x->residual);
    dae_evaluator_destroy(x->jacobian);
    dae_entries_free(&x->entry);
    dae_arena_destroy(x->arena);
    free(x);
}

static int take_arrays(index1 *x)
{
    size_t n = (size_t)x->n + 1;
    x->at = dae_arena_ints(x->arena, n);
    x->given = dae_arena_ints(x->arena, n);
    x->to = dae_arena_ints(x->arena, (size_t)(x->entry.count + x->dof) + 1);
    x->mass = dae_arena_reals(x->arena, n);
    x->out = dae_arena_reals(x->arena, (size_t)(x->nequation + x->entry.count) + 1);
    x->residual_work = dae_arena_reals(x->arena, dae_evaluator_work(x->residual) + 1);
    x->jacobian_work = dae_arena_reals(x->arena, dae_evaluator_work(x->jacobian) + 1);
    return !dae_arena_failed(x->arena);
}

/* 0, > 0: no states can be chosen at the start, < 0: no memory. */
static int build(index1 *x, dae_equation_system *s)
{
    const dae_analysis *a = &s->smooth->analysis;
    int bad = 0;
    x->total = a->total;
    x->n = a->total + s->model->ndiscrete;
    x->dof = a->sigma.dof;
    x->nequation = a->first[a->n];
    x->sparse = x->total > DENSE;
    if (!dae_form_base_open(&x->base, s)) return -1;
    x->base.renew = start_evaluators;
    x->base.user = x;
    int r = dae_reduced_start(x->base.d, s->model->t0, s->initial.X, &bad);
    if (r) return r;
    if (!dae_entries_find(a, &x->entry)) return -1;
    x->residual = dae_evaluator_create(a->model->graph, a->place, x->nequation, a->value);
    x->jacobian = dae_evaluator_create(a->model->graph, a->place, x->entry.count, x->entry.node);
    if (!x->residual || !x->jacobian || !take_arrays(x)) return -1;
    if (!dae_sides_let_go(x->base.sides, s->model->t0, s->initial.X, x->sparse ? 0 : x->dof,
                          dae_reduced_states(x->base.d)))
        return -1;
    start_evaluators(x);
    for (int k = 0; k < x->n; k++) x->mass[k] = k < x->dof || k >= x->total;
    arrange(x);
    return !x->sparse || sparse_pattern(x) ? 0 : -1;
}

static dae_status create(dae_form *f, dae_error *err)
{
    index1 *x = f->self = calloc(1, sizeof *x);
    if (x) x->arena = dae_arena_create();
    if (!x || !x->arena) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the index-1 form");
    dae_equation_system *s = (dae_equation_system *)f->model;
    pthread_mutex_lock(&s->lock); /* derivatives are added to the graph */
    int bad = build(x, s);
    pthread_mutex_unlock(&s->lock);
    if (bad < 0) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the index-1 form");
    if (bad) return dae_form_base_choose(&x->base, s->model->t0, err);
    f->system = (dae_system){
        .kind = DAE_KIND_DAE,
        .dae = {.n = x->n, .mass = dae_diagonal(x->n, x->mass), .f = rhs, .jac = jac, .user = x}};
    f->system.switches = dae_sides_switches(x->base.sides, switch_values, x, switch_name);
    f->system.switches.adapt = adapt;
    if (x->sparse)
        f->system.structure.jacobian =
            (dae_pattern){.storage = DAE_SPARSE, .colptr = x->colptr, .rowind = x->rowind};
    snprintf(f->text, sizeof f->text, "%d equations, derivatives included", x->nequation);
    return DAE_OK;
}

/* ---- Coordinates ----------------------------------------------------------------------------------------------------------------- */

static void from_X(const index1 *x, double *z)
{
    for (int k = 0; k < x->total; k++) z[x->at[k]] = x->base.X[k];
}

static dae_status lift(dae_form *f, double t, const double *y, double *z, dae_error *err)
{
    index1 *x = f->self;
    const dae_equation_system *s = x->base.s;
    dae_status status = dae_form_base_lift(&x->base, t, y, err);
    if (status != DAE_OK) return status;
    if (!x->sparse) {
        dae_reduced_set(x->base.d, s->parameter, dae_sides_discrete(x->base.sides));
        status = dae_form_base_choose(&x->base, t, err);
        if (status != DAE_OK) return status;
        arrange(x);
    }
    from_X(x, z);
    memcpy(z + x->total, y + s->ncontinuous, (size_t)s->model->ndiscrete * sizeof *z);
    return DAE_OK;
}

static int lower(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp)
{
    index1 *x = f->self;
    const dae_equation_system *s = x->base.s;
    (void)t;
    to_X(x, z, x->base.X);
    dae_form_base_lower(&x->base, x->base.X, z + x->total, y, yp);
    for (int i = 0; yp && zp && i < s->ncontinuous; i++) { /* the method knows those of algebraic variables */
        int j = s->variable[i];
        if (s->order[i] == s->analysis.sigma.d[j]) yp[i] = zp[x->at[s->analysis.place[j] + s->order[i]]];
    }
    return 0;
}

static void tolerance(const dae_form *f, const double *given, double *out)
{
    const index1 *x = f->self;
    const dae_equation_system *s = x->base.s;
    double loosest = 0;
    for (int i = 0; i < s->n; i++) loosest = fmax(loosest, given[i]);
    for (int k = 0; k < x->total; k++) out[k] = loosest;
    for (int i = 0; i < s->ncontinuous; i++)
        out[x->at[s->analysis.place[s->variable[i]] + s->order[i]]] = given[i];
    for (int i = 0; i < s->model->ndiscrete; i++) out[x->total + i] = given[s->ncontinuous + i];
}

/* ---- Along the run ----------------------------------------------------------------------------------------------------------------- */

static int chart(double t, double *z, void *user)
{
    index1 *x = user;
    to_X(x, z, x->base.X);
    int r = dae_reduced_review(x->base.d, t, x->base.X);
    if (r <= 0) return r < 0 ? DAE_ERR_MEMORY : 0;
    arrange(x);
    from_X(x, z);
    return 1;
}

static size_t save(const void *user, void *buffer)
{
    return dae_form_base_save(&((const index1 *)user)->base, buffer);
}

static int load(void *user, const void *buffer, size_t size)
{
    index1 *x = user;
    if (dae_form_base_load(&x->base, buffer, size)) return -1;
    arrange(x);
    return 0;
}

static dae_status attach(dae_form *f, dae_integrator *it, dae_error *err)
{
    index1 *x = f->self;
    (void)err;
    if (!x->sparse) dae_integrator_set_chart(it, chart, x);
    dae_integrator_set_memory(it, &(dae_memory){save, load, x});
    return DAE_OK;
}

const dae_form_type dae_form_index1 = {
    .info = {.name = "index1",
             .title = "index 1",
             .summary = "all equations and their derivatives, with dummy derivatives; for stiff systems",
             .kind = DAE_KIND_DAE,
             .index = 1},
    .create = create,
    .destroy = destroy,
    .lift = lift,
    .lower = lower,
    .tolerance = tolerance,
    .attach = attach,
};
