/* The form `index1` of equations: all equations and their derivatives with all variables and theirs, an index-1 DAE for stiff systems.
 *
 *     z = (X, discrete values), X = x_j^(k), k <= d_j;   rows of states: z_k' = z_(k+1);   the other rows: 0 = f_i^(m), m <= c_i
 *
 * M = diag(1 at states, 0). The states are chosen once, at the start. The Jacobian is exact and sparse. */
#include "equations/forms.h"

#include "core/error.h"
#include "equations/evaluator.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct index1 {
    dae_equation_system *s;
    dae_arena *arena;
    int n;                                              /* total + discrete values */
    int nequation;                                      /* of differentiated equations */
    int *row;                                           /* nequation: the row of each */
    unsigned char *state;                               /* n: z_k' = z_(k+1) */
    double *mass;                                       /* n */
    int nentry, *entry_row, *entry_column, *entry_node; /* derivatives of the equations by X */
    int *colptr, *rowind;                               /* pattern of the Jacobian */
    int *at;                                            /* nentry: place of each entry in it */
    int *chain;                                         /* n: place of d(z_k')/dz_(k+1), -1: none */
    dae_evaluator *residual, *jacobian;
    double *residual_work, *jacobian_work, *out, *discrete, *X, *y;
    unsigned char *changed;
    int started;
} index1;

static void take_discrete(index1 *x, const double *values)
{
    size_t size = (size_t)x->s->model->ndiscrete * sizeof(double);
    if (size == 0 || !memcmp(x->discrete, values, size)) return;
    memcpy(x->discrete, values, size);
    dae_evaluator_start(x->residual, x->residual_work, x->s->parameter, x->discrete);
    dae_evaluator_start(x->jacobian, x->jacobian_work, x->s->parameter, x->discrete);
}

static int rhs(double t, const double *z, double *f, void *user)
{
    index1 *x = user;
    int total = x->s->analysis.total;
    take_discrete(x, z + total);
    dae_evaluator_run(x->residual, x->residual_work, t, z, x->out);
    for (int k = 0; k < total; k++) {
        if (x->state[k]) f[k] = z[k + 1];
    }
    for (int e = 0; e < x->nequation; e++) f[x->row[e]] = x->out[e];
    for (int k = total; k < x->n; k++) f[k] = 0;
    return 0;
}

static int jac(double t, const double *z, double *values, void *user)
{
    index1 *x = user;
    take_discrete(x, z + x->s->analysis.total);
    dae_evaluator_run(x->jacobian, x->jacobian_work, t, z, x->out);
    for (int e = 0; e < x->nentry; e++) values[x->at[e]] = x->out[e];
    for (int k = 0; k < x->n; k++) {
        if (x->chain[k] >= 0) values[x->chain[k]] = 1;
    }
    return 0;
}

static void destroy(dae_form *f)
{
    index1 *x = f->self;
    if (!x) return;
    dae_evaluator_destroy(x->residual);
    dae_evaluator_destroy(x->jacobian);
    free(x->entry_row);
    free(x->entry_column);
    free(x->entry_node);
    dae_arena_destroy(x->arena);
    free(x);
}

/* Which of X are states at the start: rows of z_k' = z_(k+1); the equations get the rows that are left. 0: no memory or no choice. */
static int choose_rows(index1 *x)
{
    const dae_analysis *a = &x->s->analysis;
    int bad = 0, count = 0;
    dae_reduced *d = dae_reduced_create(x->s->reduction, x->s->parameter, x->s->discrete);
    int r = d ? dae_reduced_start(d, x->s->model->t0, x->s->initial.X, &bad) : -1;
    for (int k = 0; r == 0 && k < a->sigma.dof; k++) x->state[dae_reduced_states(d)[k]] = 1;
    dae_reduced_destroy(d);
    if (r) return 0;
    for (int k = 0; k < a->total; k++) {
        x->mass[k] = x->state[k];
        if (!x->state[k]) x->row[count++] = k;
    }
    for (int k = a->total; k < x->n; k++) x->mass[k] = 1;
    return count == x->nequation;
}

static int push(index1 *x, int *capacity, int row, int column, int node)
{
    if (x->nentry == *capacity) {
        int more = 2 * *capacity + 64, **array[] = {&x->entry_row, &x->entry_column, &x->entry_node};
        for (int k = 0; k < 3; k++) {
            int *a = realloc(*array[k], (size_t)more * sizeof *a);
            if (!a) return 0;
            *array[k] = a;
        }
        *capacity = more;
    }
    x->entry_row[x->nentry] = row;
    x->entry_column[x->nentry] = column;
    x->entry_node[x->nentry++] = node;
    return 1;
}

static int find_entries(index1 *x)
{
    const dae_analysis *a = &x->s->analysis;
    int capacity = 0, good = 1;
    for (int e = 0; e < x->nequation && good; e++) {
        dae_partial *p = NULL;
        int np = dae_graph_gradient(a->model->graph, a->value[e], &p);
        good = np >= 0;
        for (int q = 0; q < np && good; q++) {
            dae_node leaf = dae_graph_node(a->model->graph, p[q].leaf);
            if (leaf.op == OP_VARIABLE)
                good = push(x, &capacity, x->row[e], a->place[leaf.a] + leaf.b, p[q].derivative);
        }
        free(p);
    }
    return good;
}

/* Compressed columns of equations and chains, rows ascending. */
static int find_pattern(index1 *x)
{
    int n = x->n, total = x->s->analysis.total, count = 0;
    int *head = dae_arena_ints(x->arena, (size_t)n + 2),
        *link = dae_arena_ints(x->arena, (size_t)x->nentry + (size_t)n + 1);
    int *row = dae_arena_ints(x->arena, (size_t)x->nentry + (size_t)n + 1);
    x->colptr = dae_arena_ints(x->arena, (size_t)n + 1);
    x->rowind = dae_arena_ints(x->arena, (size_t)x->nentry + (size_t)n + 1);
    x->at = dae_arena_ints(x->arena, (size_t)x->nentry + 1);
    x->chain = dae_arena_ints(x->arena, (size_t)n + 1);
    if (dae_arena_failed(x->arena)) return 0;
    /* Lists by column, in descending rows of what comes last: sorted by insertion, since columns are short. */
    for (int j = 0; j < n; j++) head[j] = -1;
    for (int e = 0; e < x->nentry + total; e++) {
        int chain = e >= x->nentry, k = e - x->nentry;
        int r = chain ? k : x->entry_row[e], c = chain ? k + 1 : x->entry_column[e];
        if (chain && !x->state[k]) continue;
        int *at = &head[c];
        row[e] = r;
        while (*at >= 0 && row[*at] < r) at = &link[*at];
        link[e] = *at;
        *at = e;
    }
    for (int j = 0; j < n; j++) {
        x->chain[j] = -1;
        for (int e = head[j]; e >= 0; e = link[e]) {
            if (e < x->nentry) x->at[e] = count;
            else x->chain[j] = count;
            x->rowind[count++] = row[e];
        }
        x->colptr[j + 1] = count;
    }
    return 1;
}

static int build(index1 *x)
{
    dae_equation_system *s = x->s;
    const dae_analysis *a = &s->analysis;
    x->n = a->total + s->model->ndiscrete;
    x->nequation = a->first[a->n];
    size_t n = (size_t)x->n + 1;
    x->row = dae_arena_ints(x->arena, n);
    x->state = dae_arena_take(x->arena, n, 1);
    x->mass = dae_arena_reals(x->arena, n);
    x->X = dae_arena_reals(x->arena, n);
    x->y = dae_arena_reals(x->arena, (size_t)s->n + 1);
    x->changed = dae_arena_take(x->arena, (size_t)s->n + 1, 1);
    x->discrete = dae_arena_copy(x->arena, s->discrete, (size_t)s->model->ndiscrete + 1, sizeof(double));
    if (dae_arena_failed(x->arena) || !choose_rows(x) || !find_entries(x) || !find_pattern(x)) return 0;
    x->residual = dae_evaluator_create(a->model->graph, a->place, x->nequation, a->value);
    x->jacobian = dae_evaluator_create(a->model->graph, a->place, x->nentry, x->entry_node);
    if (!x->residual || !x->jacobian) return 0;
    x->residual_work = dae_arena_reals(x->arena, dae_evaluator_work(x->residual) + 1);
    x->jacobian_work = dae_arena_reals(x->arena, dae_evaluator_work(x->jacobian) + 1);
    x->out = dae_arena_reals(x->arena, (size_t)(x->nequation + x->nentry) + 1);
    if (dae_arena_failed(x->arena)) return 0;
    dae_evaluator_start(x->residual, x->residual_work, s->parameter, x->discrete);
    dae_evaluator_start(x->jacobian, x->jacobian_work, s->parameter, x->discrete);
    return 1;
}

static dae_status create(dae_form *f, dae_error *err)
{
    index1 *x = f->self = calloc(1, sizeof *x);
    if (x) x->arena = dae_arena_create();
    if (!x || !x->arena) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the index-1 form");
    x->s = (dae_equation_system *)f->model;
    pthread_mutex_t *lock = &x->s->lock; /* derivatives are added to the graph */
    pthread_mutex_lock(lock);
    int built = build(x);
    pthread_mutex_unlock(lock);
    if (!built)
        return dae_fail(err, DAE_ERR_SINGULAR, NAN,
                        "no index-1 form: no states can be chosen at the start, or no memory");
    f->system = (dae_system){
        .kind = DAE_KIND_DAE,
        .dae = {.n = x->n, .mass = dae_diagonal(x->n, x->mass), .f = rhs, .jac = jac, .user = x}};
    f->system.structure.jacobian =
        (dae_pattern){.storage = DAE_SPARSE, .colptr = x->colptr, .rowind = x->rowind};
    snprintf(f->text, sizeof f->text, "%d equations and derivatives of them", x->nequation);
    return DAE_OK;
}

static dae_status lift(dae_form *f, double t, const double *y, double *z, dae_error *err)
{
    index1 *x = f->self;
    dae_equation_system *s = x->s;
    size_t total = (size_t)s->analysis.total * sizeof(double);
    int different = 0;
    if (!x->started) memcpy(x->X, s->initial.X, total);
    dae_equation_system_components(s, x->X, x->y);
    for (int i = 0; i < s->ncontinuous; i++) {
        x->changed[i] = y[i] != x->y[i];
        different |= x->changed[i];
    }
    different |= s->model->ndiscrete > 0 &&
                 memcmp(x->discrete, y + s->ncontinuous, (size_t)s->model->ndiscrete * sizeof(double)) != 0;
    take_discrete(x, y + s->ncontinuous);
    if (different) {
        int r = dae_equation_system_restart(s, t, y, x->changed, x->discrete, x->X, x->X);
        if (r < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for consistent values");
        if (r > 0)
            return dae_fail(err, DAE_ERR_INCONSISTENT, t, "t = %.10g: the values contradict the equations",
                            t);
    }
    x->started = 1;
    memcpy(z, x->X, total);
    memcpy(z + s->analysis.total, y + s->ncontinuous, (size_t)s->model->ndiscrete * sizeof *z);
    return DAE_OK;
}

static int lower(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp)
{
    index1 *x = f->self;
    dae_equation_system *s = x->s;
    (void)t;
    memcpy(x->X, z, (size_t)s->analysis.total * sizeof(double));
    dae_equation_system_components(s, z, y);
    memcpy(y + s->ncontinuous, z + s->analysis.total, (size_t)s->model->ndiscrete * sizeof *y);
    for (int i = 0; yp && i < s->ncontinuous; i++) {
        int at = s->analysis.place[s->variable[i]] + s->order[i];
        yp[i] = s->order[i] < s->analysis.sigma.d[s->variable[i]] ? z[at + 1] : zp ? zp[at] : NAN;
    }
    for (int i = s->ncontinuous; yp && i < s->n; i++) yp[i] = 0;
    return 0;
}

static void tolerance(const dae_form *f, const double *given, double *out)
{
    const index1 *x = f->self;
    dae_equation_system *s = x->s;
    const dae_analysis *a = &s->analysis;
    double loosest = 0;
    for (int i = 0; i < s->n; i++) loosest = fmax(loosest, given[i]);
    for (int k = 0; k < a->total; k++) out[k] = loosest;
    for (int i = 0; i < s->ncontinuous; i++) out[a->place[s->variable[i]] + s->order[i]] = given[i];
    for (int i = 0; i < s->model->ndiscrete; i++) out[a->total + i] = given[s->ncontinuous + i];
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
};
