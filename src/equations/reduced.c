/* The reduced right-hand side.
 *
 * Put the states into X; for p = K, ..., 1 solve stage -p,  f_i^(c_i - p) = 0 (c_i >= p), for x_j^(d_j - p), j of level >= p; then stage 0
 * for all highest derivatives. The rate of the state x_j^(k) is x_j^(k+1). Every stage has the system Jacobian J as its matrix; a stage
 * whose entries do not depend on its own unknowns is linear and takes one solve.
 *
 * Newton starts from the last accepted point, for stages below 0 continued by its own derivatives (Taylor), and never from a rejected
 * trial: the same t and y give the same rates, bit for bit.
 *
 * Choice of states: at every accepted point the smallest pivot q of the present choice is compared with that of a fresh one; where
 * q < 0.2 q_new and q < 0.1 the variables change; with methods that lose one evaluation by it at 0.5 and 0.5 (ours; steps of dop853 at
 * 1e-8, pendulum: 222 and 158, double pendulum 141 and 112; at 0.9 a crank takes 2280 for 2135).
 *
 * Stages up to PLANNED unknowns are solved by programs (plan.h) with pivots in the order of the point where the choice was made, and where
 * one of them has become small by factors with pivots of their own. */
#include "equations/reduced.h"

#include "core/arena.h"
#include "equations/evaluator.h"
#include "equations/plan.h"
#include "linalg/dense.h"
#include "linalg/sparse.h"
#include "linalg/svd.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLED 3e-8     /* a relative Newton correction after which the next is below rounding */
#define SMALL 1e-3       /* of the largest size seen: below this a value counts as this size */
#define SAME_BRANCH 0.5  /* contraction of Newton's corrections that one branch of the solution allows */
#define NEAR 1e-4        /* relative corrections that cannot reach another one */
#define RANK_LIMIT 1e-11 /* singular values of J, relative */
#define SIZELESS \
    1e-9            /* of the largest value of a stage: below this a value that never was more is rounding */
#define ROUNDING 16 /* units in the last place of the terms of a residual */
#define TAKES_PART 1e-6 /* entries of a vector of norm 1 */
enum {
    MAX_NEWTON = 12,
    DENSE = 24,         /* unknowns of a stage up to which its matrix is a full one, */
    PLANNED = 40,       /* and up to which its elimination is a program */
    LARGEST_RANK = 300, /* equations up to which those that depend on each other are looked for */
    MAX_PLANS = 64      /* choices of states that have programs */
};

/* ---- What is constant --------------------------------------------------------------------------------------------- */

typedef struct stage {
    int p;     /* stage -p */
    int m;     /* equations */
    int first; /* of the entries of J in its values */
    int nentry;
    int *row, *column;     /* entries: row among the m, variable */
    int *node;             /* m residuals, then the entries */
    dae_evaluator *values; /* m residuals, then the entries */
    size_t work, work_at;  /* numbers; where they begin */
    int pivot_at;          /* where its pivots begin in those of all stages */
    int linear;
} stage;

/* The elimination of a choice of states. */
typedef struct planned {
    struct planned *next;
    int *key;       /* the first stage, levels, the orders of the pivots */
    dae_plan *plan; /* NULL: it is too long, or there was no memory */
} planned;

struct dae_reduction {
    const dae_analysis *a;
    pthread_mutex_t *lock; /* of the graph and of the plans */
    planned *plans;
    int nplan, norder; /* norder: numbers in the orders of all stages; 0: no plans */
    int nstage;
    stage *stage; /* from the lowest to stage 0 */
    dae_evaluator *jacobian;
    int constant;     /* 1: J is constant, the choice of states never changes */
    size_t work, out; /* numbers */
};

void dae_reduction_destroy(dae_reduction *r)
{
    if (!r) return;
    for (int s = 0; s < r->nstage; s++) {
        dae_evaluator_destroy(r->stage[s].values);
        free(r->stage[s].row);
        free(r->stage[s].column);
        free(r->stage[s].node);
    }
    for (planned *p = r->plans, *next; p; p = next) {
        next = p->next;
        dae_plan_destroy(p->plan);
        free(p->key);
        free(p);
    }
    dae_evaluator_destroy(r->jacobian);
    free(r->stage);
    free(r);
}

int dae_reduction_varies(const dae_reduction *r)
{
    return !r->constant;
}

/* 1 if an entry of the stage depends on one of its unknowns x_j^(d_j - p). */
static int is_nonlinear(const dae_analysis *a, int p, const int *entry, int count)
{
    int *list = NULL, nodes = dae_graph_reach(a->model->graph, count, entry, &list), found = nodes < 0;
    for (int k = 0; k < nodes && !found; k++) {
        dae_node x = dae_graph_node(a->model->graph, list[k]);
        found = x.op == OP_VARIABLE && x.b == a->sigma.d[x.a] - p;
    }
    free(list);
    return found;
}

static int stage_create(const dae_analysis *a, int p, stage *s)
{
    size_t entries = (size_t)a->row_start[a->n] + 1;
    int *output = malloc(((size_t)a->n + entries) * sizeof *output), count = 0, good = 0;
    *s = (stage){.p = p, .row = malloc(entries * sizeof(int)), .column = malloc(entries * sizeof(int))};
    if (!output || !s->row || !s->column) goto done;
    for (int i = 0; i < a->n; i++) {
        if (a->sigma.c[i] >= p) output[s->m++] = a->value[a->first[i] + a->sigma.c[i] - p];
    }
    for (int i = 0; i < a->n; i++) {
        if (a->sigma.c[i] < p) continue;
        for (int e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
            s->row[s->nentry] = count;
            s->column[s->nentry] = a->column[e];
            output[s->m + s->nentry++] = a->entry[e];
        }
        count++;
    }
    s->linear = !is_nonlinear(a, p, output + s->m, s->nentry);
    s->values = dae_evaluator_create(a->model->graph, a->place, s->m + s->nentry, output);
    good = s->values != NULL;
done:
    s->node = output;
    return good;
}

dae_reduction *dae_reduction_create(const dae_analysis *a, pthread_mutex_t *lock)
{
    dae_reduction *r = calloc(1, sizeof *r);
    int levels = 0, largest = 0;
    for (int i = 0; i < a->n; i++) levels = a->sigma.c[i] > levels ? a->sigma.c[i] : levels;
    if (!r || !(r->stage = calloc((size_t)levels + 1, sizeof *r->stage))) goto fail;
    r->a = a;
    r->lock = lock;
    r->constant = 1;
    for (int e = 0; e < a->row_start[a->n]; e++) {
        if (!dae_graph_is_number(a->model->graph, a->entry[e], NULL)) r->constant = 0;
    }
    for (int p = levels; p >= 0; p--) {
        stage *s = &r->stage[r->nstage];
        int made = stage_create(a, p, s);
        r->nstage++;
        if (!made) goto fail;
        size_t out = (size_t)(s->m + s->nentry);
        s->work = dae_evaluator_work(s->values) + 1;
        s->work_at = r->work;
        s->pivot_at = r->norder / 2;
        r->work += s->work;
        r->out = out > r->out ? out : r->out;
        r->norder += 2 * s->m;
        largest = s->m > largest ? s->m : largest;
    }
    if (largest > PLANNED) r->norder = 0;
    for (int s = 0; s < r->nstage && !r->norder; s++) r->stage[s].pivot_at = 0;
    r->jacobian = dae_evaluator_create(a->model->graph, a->place, a->row_start[a->n], a->entry);
    if (!r->jacobian) goto fail;
    return r;
fail:
    dae_reduction_destroy(r);
    return NULL;
}

/* ---- What a run writes ------------------------------------------------------------------------------------------------ */

/* The matrix of a stage for the present choice. */
typedef struct factors {
    dae_arena *arena;
    dae_dense_lu dense;
    dae_sparse_lu sparse;
    double *matrix; /* dense: m*m */
    int *to;        /* nentry: place of the entry in the matrix, -1: its column is a state */
    int *column;    /* nentry: unknown of the entry, -1: a state */
    int *unknown;   /* m: places in X */
} factors;

struct dae_reduced {
    const dae_reduction *r;
    double *X;          /* total: the last solve; pivots of a plan behind */
    double *accepted;   /* total: the last accepted point */
    double *size;       /* total: largest |X| at accepted points */
    double t;           /* of the accepted point */
    int *level, *fresh; /* n */
    dae_state_space *space;
    double poor, worse; /* when the choice changes */
    int *state;         /* dof */
    double *work, *jacobian_work, *out, *J, *correction;
    double *reach;    /* the largest sizes that the unknowns of a stage had while it is solved */
    factors *factors; /* nstage */
    const double *parameter, *discrete; /* as set last: the plan of another choice starts with them */
    /* The elimination of the present choice. */
    int has_order; /* 1: order and pivot hold */
    int asked;     /* 1: plan is what there is, NULL: none */
    int *order;    /* norder */
    double *pivot; /* norder/2: sizes of the pivots of all stages where the order was chosen */
    const dae_plan *plan;
    double *plan_work, *plan_out;
    size_t plan_room;
    /* of projections, where they were asked for */
    dae_arena *normal_arena;
    struct normal *normal; /* nstage */
    double *delta;         /* n */
};

void dae_reduced_destroy(dae_reduced *d)
{
    if (!d) return;
    for (int s = 0; d->factors && s < d->r->nstage; s++) {
        dae_sparse_free(&d->factors[s].sparse);
        dae_arena_destroy(d->factors[s].arena);
    }
    dae_arena_destroy(d->normal_arena);
    dae_state_space_destroy(d->space);
    void *all[] = {d->X,       d->accepted,      d->size,  d->level,     d->fresh,      d->state,
                   d->work,    d->jacobian_work, d->out,   d->J,         d->correction, d->reach,
                   d->factors, d->order,         d->pivot, d->plan_work, d->plan_out};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
    free(d);
}

dae_reduced *dae_reduced_create(const dae_reduction *r, const double *parameter, const double *discrete)
{
    const dae_analysis *a = r->a;
    size_t total = (size_t)a->total + 1, n = (size_t)a->n + 1;
    dae_reduced *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->r = r;
    double **real[] = {&d->X, &d->accepted, &d->size, &d->plan_out};
    for (int k = 0; k < 4; k++) *real[k] = calloc(total + 2 * (size_t)r->norder, sizeof(double));
    d->level = calloc(n, sizeof(int));
    d->fresh = calloc(n, sizeof(int));
    d->state = calloc(total, sizeof(int));
    d->work = calloc(r->work + 1, sizeof(double));
    d->jacobian_work = calloc(dae_evaluator_work(r->jacobian) + 1, sizeof(double));
    d->out = calloc(r->out + 1, sizeof(double));
    d->J = calloc((size_t)a->row_start[a->n] + 1, sizeof(double));
    d->correction = calloc(n, sizeof(double));
    d->reach = calloc(n, sizeof(double));
    d->factors = calloc((size_t)r->nstage + 1, sizeof *d->factors);
    d->space = dae_state_space_create(a->n);
    dae_reduced_change_early(d, 0);
    d->order = calloc((size_t)r->norder + (size_t)a->n + 1, sizeof(int));
    d->pivot = calloc((size_t)r->norder + 1, sizeof(double));
    if (!d->space || !d->order || !d->pivot || !d->plan_out || !d->X || !d->accepted || !d->size ||
        !d->level || !d->fresh || !d->state || !d->work || !d->jacobian_work || !d->out || !d->J ||
        !d->correction || !d->reach || !d->factors) {
        dae_reduced_destroy(d);
        return NULL;
    }
    dae_reduced_set(d, parameter, discrete);
    return d;
}

void dae_reduced_change_early(dae_reduced *d, int early)
{
    d->poor = early ? 0.5 : 0.1;
    d->worse = early ? 0.5 : 0.2;
}

void dae_reduced_set(dae_reduced *d, const double *parameter, const double *discrete)
{
    double *work = d->work;
    d->parameter = parameter;
    d->discrete = discrete;
    if (d->plan) dae_plan_start(d->plan, d->plan_work, parameter, discrete);
    for (int s = 0; s < d->r->nstage; s++) {
        dae_evaluator_start(d->r->stage[s].values, work, parameter, discrete);
        work += d->r->stage[s].work;
    }
    dae_evaluator_start(d->r->jacobian, d->jacobian_work, parameter, discrete);
}

/* ---- The choice of states --------------------------------------------------------------------------------------------- */

/* Compressed columns of the entries whose columns are unknowns; to[] becomes the place of each entry. 0: no memory. */
static int sparse_pattern(const stage *s, const int *at, factors *f)
{
    int *colptr = dae_arena_ints(f->arena, (size_t)s->m + 2),
        *rowind = dae_arena_ints(f->arena, (size_t)s->nentry + 1);
    if (!colptr || !rowind) return 0;
    for (int e = 0; e < s->nentry; e++) {
        if (at[s->column[e]] >= 0) colptr[at[s->column[e]] + 2]++;
    }
    for (int j = 0; j < s->m; j++) colptr[j + 2] += colptr[j + 1];
    for (int e = 0; e < s->nentry; e++) { /* entries come by rising rows */
        int j = at[s->column[e]];
        f->to[e] = j >= 0 ? colptr[j + 1]++ : -1;
        if (j >= 0) rowind[f->to[e]] = s->row[e];
    }
    return dae_sparse_init(&f->sparse, s->m, colptr, rowind, 0, f->arena) == 0;
}

/* Unknowns and matrix of a stage for the levels chosen. */
static int arrange(dae_reduced *d, int which, int *at)
{
    const dae_analysis *a = d->r->a;
    const stage *s = &d->r->stage[which];
    factors *f = &d->factors[which];
    int count = 0;
    dae_sparse_free(&f->sparse);
    dae_arena_destroy(f->arena);
    *f = (factors){.arena = dae_arena_create()};
    if (!f->arena) return 0;
    f->to = dae_arena_ints(f->arena, (size_t)s->nentry + 1);
    f->unknown = dae_arena_ints(f->arena, (size_t)s->m + 1);
    f->column = dae_arena_ints(f->arena, (size_t)s->nentry + 1);
    if (dae_arena_failed(f->arena)) return 0;
    for (int j = 0; j < a->n; j++) {
        int in = a->sigma.d[j] >= s->p && d->level[j] >= s->p;
        at[j] = in ? count : -1;
        if (in && count < s->m) f->unknown[count] = a->place[j] + a->sigma.d[j] - s->p;
        count += in;
    }
    if (count != s->m) return 0;
    for (int e = 0; e < s->nentry; e++) f->column[e] = at[s->column[e]];
    if (s->m > DENSE) return sparse_pattern(s, at, f);
    f->matrix = dae_arena_reals(f->arena, (size_t)s->m * (size_t)s->m + 1);
    dae_dense_init(&f->dense, s->m, 0, f->arena);
    for (int e = 0; e < s->nentry; e++)
        f->to[e] = at[s->column[e]] >= 0 ? s->row[e] + at[s->column[e]] * s->m : -1;
    return !dae_arena_failed(f->arena);
}

/* The states and all factors of the levels in d->level. 0: no memory. */
static int arrange_all(dae_reduced *d)
{
    const dae_analysis *a = d->r->a;
    int count = 0, *at = calloc((size_t)a->n + 1, sizeof *at), good = at != NULL;
    for (int j = 0; j < a->n; j++) {
        for (int k = 0; k < a->sigma.d[j] - d->level[j]; k++) d->state[count++] = a->place[j] + k;
    }
    for (int s = 0; s < d->r->nstage && good; s++) good = arrange(d, s, at);
    free(at);
    d->has_order = d->asked = 0;
    d->plan = NULL;
    return good;
}

/* ---- Its elimination ------------------------------------------------------------------------------------------------ */

/* Where values below the highest derivatives are projected, only stage 0 is solved. */
static int first_stage(const dae_reduced *d)
{
    return d->normal ? d->r->nstage - 1 : 0;
}

static dae_linear_nodes nodes_of(const stage *s, const factors *f)
{
    return (dae_linear_nodes){s->m, s->nentry, s->row, f->column, s->node + s->m, s->node};
}

/* The order of the pivots with J as it is in d->J. */
static void choose_order(dae_reduced *d)
{
    const dae_reduction *r = d->r;
    const dae_analysis *a = r->a;
    int largest = r->stage[r->nstage - 1].m, good = r->norder > 0, *order = d->order;
    double *A = good ? malloc(((size_t)largest * (size_t)largest + 1) * sizeof *A) : NULL, *pivot = d->pivot;
    good = A != NULL;
    for (int s = 0; s < r->nstage && good; s++) {
        const stage *now = &r->stage[s];
        dae_linear_nodes nodes = nodes_of(now, &d->factors[s]);
        for (int i = 0, e = 0; i < a->n; i++) { /* the entries of the rows of this stage */
            for (int q = a->row_start[i]; a->sigma.c[i] >= now->p && q < a->row_start[i + 1]; q++)
                d->out[e++] = d->J[q];
        }
        good = dae_elimination_order(&nodes, d->out, A, order, order + now->m, pivot);
        order += 2 * now->m;
        pivot += now->m;
    }
    free(A);
    d->has_order = good;
    d->asked = 0;
    d->plan = NULL;
}

/* The stages from `first` on for the present choice, into list. */
static void describe_stages(const dae_reduced *d, int first, dae_plan_stage *list)
{
    const int *order = d->order;
    for (int s = 0; s < d->r->nstage; s++) {
        const stage *now = &d->r->stage[s];
        const factors *f = &d->factors[s];
        if (s >= first)
            list[s - first] =
                (dae_plan_stage){nodes_of(now, f), f->unknown, order, order + now->m, now->linear};
        order += 2 * now->m;
    }
}

/* The plan of the levels and the order of d, made where there is none; NULL: none. */
static const dae_plan *find_plan(dae_reduced *d)
{
    dae_reduction *r = (dae_reduction *)d->r; /* behind its lock */
    const dae_analysis *a = r->a;
    size_t n = (size_t)a->n, size = 1 + n + (size_t)r->norder;
    int *key = malloc(size * sizeof *key), first = first_stage(d);
    dae_plan_stage *list = malloc(((size_t)r->nstage + 1) * sizeof *list);
    planned *p = NULL;
    if (!key || !list) goto done;
    key[0] = first;
    memcpy(key + 1, d->level, n * sizeof *key);
    memcpy(key + 1 + n, d->order, (size_t)r->norder * sizeof *key);
    pthread_mutex_lock(r->lock);
    for (p = r->plans; p && memcmp(p->key, key, size * sizeof *key) != 0;) p = p->next;
    if (!p && r->nplan < MAX_PLANS && (p = malloc(sizeof *p))) {
        describe_stages(d, first, list);
        *p = (planned){r->plans, key,
                       dae_plan_create(a->model->graph, a->n, a->place, r->nstage - first, list)};
        r->plans = p;
        r->nplan++;
        key = NULL;
    }
    pthread_mutex_unlock(r->lock);
done:
    free(key);
    free(list);
    return p ? p->plan : NULL;
}

static int make_room(double **array, size_t *room, size_t size)
{
    if (size <= *room) return 1;
    double *a = realloc(*array, size * sizeof *a);
    if (!a) return 0;
    *array = a;
    *room = size;
    return 1;
}

/* Before the first evaluation with a choice of states. */
static void ask_plan(dae_reduced *d)
{
    d->asked = 1;
    d->plan = d->has_order ? find_plan(d) : NULL;
    if (!d->plan) return;
    if (!make_room(&d->plan_work, &d->plan_room, dae_plan_work(d->plan) + 1)) d->plan = NULL;
    else dae_plan_start(d->plan, d->plan_work, d->parameter, d->discrete);
}

static void note_accepted(dae_reduced *d, double t, const double *X)
{
    int total = d->r->a->total;
    d->t = t;
    for (int i = 0; i < total; i++) {
        d->accepted[i] = X[i];
        d->size[i] = fmax(d->size[i], fabs(X[i]));
    }
}

int dae_reduced_start(dae_reduced *d, double t, const double *X, int *equation)
{
    dae_state_choice choice = {d->level, 0};
    memset(d->size, 0, (size_t)d->r->a->total * sizeof *d->size);
    note_accepted(d, t, X);
    dae_evaluator_run(d->r->jacobian, d->jacobian_work, t, X, d->J);
    int found = dae_states_choose(d->space, d->r->a, d->J, X, &choice, equation);
    if (found <= 0) return found < 0 ? -1 : 1;
    if (!arrange_all(d)) return -1;
    choose_order(d);
    return 0;
}

/* u with u^T J = 0: the last right singular vector of J^T, rows of J scaled to 1. */
void dae_reduced_dependent(const dae_reduced *d, int equation, char *out, size_t size)
{
    const dae_analysis *a = d->r->a;
    size_t n = (size_t)a->n;
    double *A = n <= LARGEST_RANK ? calloc(2 * n * n + n + 1, sizeof *A) : NULL;
    double *V = A ? A + n * n : NULL, *s = V ? V + n * n : NULL;
    int rank = 0, named = 0;
    snprintf(out, size, "%s depends on other equations (the system Jacobian is singular)",
             a->equation[equation]);
    for (int i = 0; A && i < a->n; i++) {
        double largest = 0;
        for (int e = a->row_start[i]; e < a->row_start[i + 1]; e++) largest = fmax(largest, fabs(d->J[e]));
        for (int e = a->row_start[i]; e < a->row_start[i + 1] && largest > 0; e++)
            A[(size_t)a->column[e] + (size_t)i * n] = d->J[e] / largest;
    }
    if (A) dae_svd(a->n, a->n, A, s, V);
    for (size_t k = 0; A && k < n; k++) rank += s[k] > RANK_LIMIT * s[0];
    size_t used = 0;
    for (size_t i = 0; A && rank < a->n && i < n && used + 100 < size; i++) {
        if (!(fabs(V[i + (n - 1) * n]) > TAKES_PART)) continue;
        used += (size_t)snprintf(out + used, size - used, "%s%.60s", named++ ? ", " : "", a->equation[i]);
    }
    if (named)
        snprintf(out + used, size - used, " depend%s on each other (the system Jacobian has rank %d of %d)",
                 named == 1 ? "s" : "", rank, a->n);
    free(A);
}

const int *dae_reduced_states(const dae_reduced *d)
{
    return d->state;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------------ */

/* Unknowns of a stage, continued from the accepted point by their own derivatives. */
static void predict(dae_reduced *d, const stage *s, const factors *f, double t)
{
    double h = t - d->t;
    for (int k = 0; k < s->m; k++) {
        int x = f->unknown[k];
        double value = d->accepted[x], factor = 1;
        for (int q = 1; q <= s->p; q++) {
            factor *= h / q;
            value += factor * d->accepted[x + q];
        }
        d->X[x] = value;
        d->reach[k] = fabs(value);
    }
}

/* Factors the matrix of the stage with the entries in d->out. 0: fine. */
static int factor(dae_reduced *d, const stage *s, factors *f)
{
    const double *value = d->out + s->m;
    if (s->m > DENSE) {
        for (int e = 0; e < s->nentry; e++) {
            if (f->to[e] >= 0) f->sparse.value[f->to[e]] = value[e];
        }
        return dae_sparse_factor(&f->sparse);
    }
    memset(f->matrix, 0, (size_t)s->m * (size_t)s->m * sizeof(double));
    for (int e = 0; e < s->nentry; e++) {
        if (f->to[e] >= 0) f->matrix[f->to[e]] = value[e];
    }
    dae_dense_load(&f->dense, 1, f->matrix, s->m);
    return dae_dense_factor(&f->dense);
}

static int all_finite(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * 0;
    return sum == 0;
}

static double larger(double a, double b) /* both are finite */
{
    return a > b ? a : b;
}

/* x -= correction; the largest of the last ones in it against the size of its x. */
static double move(dae_reduced *d, int m, const int *unknown, const double *correction, const double *last)
{
    double largest = 0;
    for (int q = 0; q < m; q++) {
        int x = unknown[q];
        d->X[x] -= correction[q];
        double size = larger(fabs(d->X[x]), larger(SMALL * larger(d->size[x], d->reach[q]), DBL_MIN));
        largest = larger(largest, fabs(last[q]) / size);
        d->reach[q] = larger(d->reach[q], fabs(d->X[x]));
    }
    return largest;
}

static int is_solved(const stage *s, double largest, double before)
{
    return s->linear || largest <= SETTLED || (largest < 1e-6 && largest >= before);
}

/* J^-1 f by factors with pivots of their own; in d->correction. 0: there it is. */
static int correct(dae_reduced *d, const stage *s, factors *f, double *work, double t)
{
    dae_evaluator_run(s->values, work, t, d->X, d->out);
    if (!all_finite(d->out, s->m + s->nentry) || factor(d, s, f)) return 1;
    memcpy(d->correction, d->out, (size_t)s->m * sizeof(double));
    if (s->m > DENSE) dae_sparse_solve(&f->sparse, d->correction, NULL);
    else dae_dense_solve(&f->dense, d->correction, NULL);
    return !all_finite(d->correction, s->m);
}

/* The largest of by - less (NULL: 0) against the largest size that its x ever had, on the way too: one that was 0 so far (a velocity at
 * rest) may come back to it. */
static double moved(const dae_reduced *d, int m, const int *unknown, const double *by, const double *less)
{
    double largest = 0, least = DBL_MIN;
    for (int q = 0; q < m; q++) least = larger(least, SIZELESS * larger(d->reach[q], d->size[unknown[q]]));
    for (int q = 0; q < m; q++) {
        double size = larger(larger(d->reach[q], d->size[unknown[q]]), least);
        largest = larger(largest, fabs(by[q] - (less ? less[q] : 0)) / size);
    }
    return largest;
}

/* 1: the residuals of the stage are rounding errors of their terms, and Newton can do no better. Asked where corrections do not become small
 * against their x: one that is 0 and always was has no size. */
static int at_rounding(dae_reduced *d, const stage *s, double t)
{
    const dae_analysis *a = d->r->a;
    double *size = d->correction;
    dae_evaluator_run(s->values, d->work + s->work_at, t, d->X, d->out);
    memset(size, 0, (size_t)s->m * sizeof *size);
    for (int e = 0; e < s->nentry; e++) {
        int j = s->column[e];
        size[s->row[e]] += fabs(d->out[s->m + e] * d->X[a->place[j] + a->sigma.d[j] - s->p]);
    }
    for (int i = 0; i < s->m; i++) {
        if (!(fabs(d->out[i]) <= ROUNDING * DBL_EPSILON * size[i])) return 0;
    }
    return 1;
}

/* Newton on one stage, by the program of the plan for it (-1: without). 0: solved. A correction of more than SAME_BRANCH of the one before
 * comes from another branch of the solution (the elbow of an arm on its other side), or may: the step was too long for what follows from
 * the states. */
static int solve_stage(dae_reduced *d, int which, int program, double t)
{
    const stage *s = &d->r->stage[which];
    factors *f = &d->factors[which];
    double before = INFINITY, far = 0;
    const double *pivot = d->pivot + s->pivot_at;
    predict(d, s, f, t);
    for (int k = 0; k < MAX_NEWTON; k++) {
        const double *correction = d->plan_out, *last = correction;
        if (program < 0 || dae_plan_run(d->plan, program, d->plan_work, t, d->X, pivot, d->plan_out)) {
            if (correct(d, s, f, d->work + s->work_at, t)) return 1;
            correction = last = d->correction;
        } else last += dae_plan_last(d->plan, program);
        double largest = move(d, s->m, f->unknown, correction, last);
        if (is_solved(s, largest, before)) return 0;
        if (largest > NEAR) {
            double now = moved(d, s->m, f->unknown, last, NULL);
            if (now <= SETTLED) return 0;
            if (last != correction) far = moved(d, s->m, f->unknown, correction, last);
            if ((k || last != correction) && now > SAME_BRANCH * far && now > NEAR)
                return !at_rounding(d, s, t);
            far = now;
        } else far = NEAR;
        before = largest;
    }
    return !at_rounding(d, s, t);
}

/* The stages from `first` on; everything below stands in X. */
static int solve_stages(dae_reduced *d, int first, double t)
{
    const stage *list = d->r->stage;
    int nstage = d->r->nstage;
    if (!d->asked) ask_plan(d);
    for (int s = first; s < nstage;) {
        int direct = d->plan ? dae_plan_direct(d->plan, s - first) : 0, until = s + (direct ? direct : 1);
        if (direct &&
            !dae_plan_run(d->plan, s - first, d->plan_work, t, d->X, d->pivot + list[s].pivot_at, d->X)) {
            s = until;
            continue;
        }
        for (; s < until; s++) {
            if (solve_stage(d, s, d->plan && !direct ? s - first : -1, t)) return 1;
        }
    }
    return 0;
}

int dae_reduced_solve(dae_reduced *d, double t, const double *y, const double **X)
{
    if (X) *X = d->X;
    for (int k = 0; k < d->r->a->sigma.dof; k++) d->X[d->state[k]] = y[k];
    if (solve_stages(d, 0, t)) return 1;
    return 0;
}

int dae_reduced_rates(dae_reduced *d, double t, const double *y, double *f)
{
    int failed = dae_reduced_solve(d, t, y, NULL);
    if (failed) return failed;
    for (int k = 0; k < d->r->a->sigma.dof; k++) f[k] = d->X[d->state[k] + 1];
    return 0;
}

/* ---- All values below the highest ------------------------------------------------------------------------------------- */

int dae_reduced_highest(dae_reduced *d, double t, int count, const int *at, const double *z, const double **X)
{
    for (int k = 0; k < count; k++) d->X[at[k]] = z[k];
    *X = d->X;
    return solve_stages(d, d->r->nstage - 1, t);
}

struct normal { /* of one stage: J W^2 J' of the step of least change */
    dae_dense_lu lu;
    double *matrix, *mu; /* m*m, m */
    int *same;           /* nentry: the next entry in the same column, -1: none */
    int *head;           /* n: the first one */
};

int dae_reduced_projects(dae_reduced *d)
{
    const dae_reduction *r = d->r;
    int n = r->a->n;
    if (d->normal) return 0;
    d->normal_arena = dae_arena_create();
    if (!d->normal_arena) return -1;
    struct normal *list = dae_arena_take(d->normal_arena, (size_t)r->nstage + 1, sizeof *list);
    d->delta = dae_arena_reals(d->normal_arena, (size_t)n + 1);
    for (int k = 0; list && k + 1 < r->nstage; k++) {
        const stage *s = &r->stage[k];
        struct normal *now = &list[k];
        dae_dense_init(&now->lu, s->m, 0, d->normal_arena);
        now->matrix = dae_arena_reals(d->normal_arena, (size_t)s->m * (size_t)s->m + 1);
        now->mu = dae_arena_reals(d->normal_arena, (size_t)s->m + 4);
        now->same = dae_arena_ints(d->normal_arena, (size_t)s->nentry + 1);
        now->head = dae_arena_ints(d->normal_arena, (size_t)n + 1);
        if (dae_arena_failed(d->normal_arena)) break;
        for (int j = 0; j < n; j++) now->head[j] = -1;
        for (int e = s->nentry - 1; e >= 0; e--) {
            now->same[e] = now->head[s->column[e]];
            now->head[s->column[e]] = e;
        }
    }
    if (!list || dae_arena_failed(d->normal_arena)) return -1;
    d->normal = list;
    return 0;
}

/* One step of least weighted change for a stage: with r residuals and J entries in d->out, W the weights,
 *     (J W^2 J') mu = r,   x -= W^2 J' mu
 * The largest change against its weight; < 0: J has not full rank. */
static double least_change(dae_reduced *d, const stage *s, struct normal *now, const double *weight)
{
    const dae_analysis *a = d->r->a;
    const double *J = d->out + s->m;
    double largest = 0;
    memset(now->matrix, 0, (size_t)s->m * (size_t)s->m * sizeof(double));
    for (int e = 0; e < s->nentry; e++) {
        double w = weight[a->place[s->column[e]] + a->sigma.d[s->column[e]] - s->p];
        for (int q = now->head[s->column[e]]; q >= 0; q = now->same[q])
            now->matrix[s->row[e] + s->row[q] * s->m] += J[e] * J[q] * w * w;
    }
    memcpy(now->mu, d->out, (size_t)s->m * sizeof(double));
    dae_dense_load(&now->lu, 1, now->matrix, s->m);
    if (dae_dense_factor(&now->lu)) return -1;
    dae_dense_solve(&now->lu, now->mu, NULL);
    memset(d->delta, 0, (size_t)a->n * sizeof(double));
    for (int e = 0; e < s->nentry; e++) d->delta[s->column[e]] += J[e] * now->mu[s->row[e]];
    for (int j = 0; j < a->n; j++) {
        if (d->delta[j] == 0) continue;
        int x = a->place[j] + a->sigma.d[j] - s->p;
        double change = weight[x] * weight[x] * d->delta[j];
        d->X[x] -= change;
        largest = fmax(largest, fabs(change) / weight[x]);
    }
    return largest;
}

int dae_reduced_project(dae_reduced *d, double t, int count, const int *at, const double *weight, double *z)
{
    const dae_reduction *r = d->r;
    double *work = d->work;
    for (int k = 0; k < count; k++) d->X[at[k]] = z[k];
    for (int s = 0; s + 1 < r->nstage; s++) {
        const stage *now = &r->stage[s];
        double before = INFINITY;
        int done = 0;
        for (int k = 0; k < MAX_NEWTON && !done; k++) {
            dae_evaluator_run(now->values, work, t, d->X, d->out);
            if (!all_finite(d->out, now->m + now->nentry)) return 1;
            double change = least_change(d, now, &d->normal[s], weight);
            if (!(change >= 0)) return 1;
            done = now->linear || change <= SETTLED || (change < 1e-6 && change >= before);
            before = change;
        }
        if (!done) return 1;
        work += now->work;
    }
    for (int k = 0; k < count; k++) z[k] = d->X[at[k]];
    return 0;
}

void dae_reduced_take(dae_reduced *d, double t, const double *X)
{
    note_accepted(d, t, X);
}

void dae_reduced_note(dae_reduced *d, double t)
{
    note_accepted(d, t, d->X);
}

/* ---- Accepted points ------------------------------------------------------------------------------------------------------ */

int dae_reduced_review(dae_reduced *d, double t, const double *X)
{
    const dae_analysis *a = d->r->a;
    dae_state_choice choice = {d->fresh, 0};
    note_accepted(d, t, X);
    if (d->r->constant || d->r->nstage == 1) return 0;
    dae_evaluator_run(d->r->jacobian, d->jacobian_work, t, X, d->J);
    double q = dae_states_quality(d->space, a, d->J, X, d->level);
    if (q < 0) return -1;
    if (q >= d->poor) return 0;
    int found = dae_states_choose(d->space, a, d->J, X, &choice, NULL);
    if (found < 0) return -1;
    if (found == 0 || q >= d->worse * choice.quality ||
        !memcmp(d->level, d->fresh, (size_t)a->n * sizeof(int)))
        return 0;
    memcpy(d->level, d->fresh, (size_t)a->n * sizeof(int));
    if (!arrange_all(d)) return -1;
    choose_order(d);
    return 1;
}

int dae_reduced_accept(dae_reduced *d, double t, double *y)
{
    if (dae_reduced_solve(d, t, y, NULL)) return 0; /* the next step tells */
    int r = dae_reduced_review(d, t, d->X);
    for (int k = 0; r > 0 && k < d->r->a->sigma.dof; k++) y[k] = d->X[d->state[k]];
    return r;
}

/* ---- Checkpoints ------------------------------------------------------------------------------------------------------------- */

/* Arrays that are saved: all of them where places is not NULL, their bytes. */
enum { SAVED = 7 };
static size_t saved(const dae_reduced *d, void **place, size_t *bytes)
{
    const dae_reduction *r = d->r;
    size_t n = (size_t)r->a->n * sizeof(int), total = (size_t)r->a->total * sizeof(double), sum = 0;
    size_t order = (size_t)r->norder * sizeof(int), pivot = (size_t)r->norder / 2 * sizeof(double);
    const void *array[SAVED] = {&d->t, d->accepted, d->size, d->level, d->order, d->pivot, &d->has_order};
    const size_t size[SAVED] = {sizeof d->t, total, total, n, order, pivot, sizeof d->has_order};
    for (int k = 0; k < SAVED; k++) {
        place[k] = (void *)array[k];
        bytes[k] = size[k];
        sum += size[k];
    }
    return sum;
}

size_t dae_reduced_save(const dae_reduced *d, void *buffer)
{
    void *place[SAVED];
    size_t bytes[SAVED], all = saved(d, place, bytes);
    unsigned char *out = buffer;
    for (int k = 0; out && k < SAVED; k++) {
        memcpy(out, place[k], bytes[k]);
        out += bytes[k];
    }
    return all;
}

/* 1: rows and columns of each stage are permutations, as a file that was changed need not have them. */
static int is_order(const dae_reduced *d)
{
    const int *order = d->order;
    int good = 1;
    for (int s = 0; s < d->r->nstage && d->r->norder; s++) {
        int m = d->r->stage[s].m;
        for (int part = 0; part < 2; part++, order += m) {
            unsigned long long seen = 0; /* m <= PLANNED bits */
            for (int k = 0; k < m && good; k++) {
                good = order[k] >= 0 && order[k] < m && !(seen >> order[k] & 1);
                if (good) seen |= 1ULL << order[k];
            }
        }
    }
    return good;
}

int dae_reduced_load(dae_reduced *d, const void *buffer, size_t size)
{
    void *place[SAVED];
    size_t bytes[SAVED];
    const unsigned char *in = buffer;
    if (size != saved(d, place, bytes)) return -1;
    for (int k = 0; k < SAVED; k++) {
        memcpy(place[k], in, bytes[k]);
        in += bytes[k];
    }
    int has_order = d->has_order;
    if (has_order && !is_order(d)) return -1;
    if (!arrange_all(d)) return -1;
    d->has_order = has_order;
    return 0;
}
