/* Damped Gauss-Newton, the solver of consistent initial values and of re-initialisation at events.
 *
 *     r = F(X);  A_ij = dF_i/dx_j w_j / s_i,  s_i = max_j |dF_i/dx_j| w_j
 *     z of least norm with A z = -r/s;   x += lambda w z,   lambda = 1, 1/2, ... until |r/s| falls (Armijo, 1e-4)
 *
 * Derivatives are exact, from the graph. Unknowns that share no equation are solved apart: components of at most DENSE unknowns by
 * orthogonal factors (least norm where the rank is low), larger square ones by sparse LU. */
#include "equations/newton.h"

#include "core/arena.h"
#include "equations/evaluator.h"
#include "linalg/least_squares.h"
#include "linalg/sparse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARMIJO 1e-4
#define LEAST_LAMBDA 1e-9
#define RANK 1e-11  /* relative size of pivots that count as zero */
#define DONE 1e-13  /* a step this small against the weights ends the iteration */
#define HOLDS 1e-10 /* and residuals below this, in units of their row, count as fulfilled */
enum { MAX_ITERATIONS = 60, DENSE = 300 };

typedef struct newton {
    const dae_newton_task *task;
    dae_arena *arena;
    dae_evaluator *residual, *all; /* F; F and then the entries of the Jacobian */
    double *work_residual, *work_all, *out;
    int nentry, *row, *column, *node; /* entries; column counts in the task's unknowns */
    double *r, *scale, *step, *trial;
    int ncomponent, *row_component, *column_component;
    int *rows_of, *columns_of; /* rows and columns sorted by component */
    int *row_start, *column_start;
} newton;

/* ---- Set-up ---------------------------------------------------------------------------------------------------- */

static int find_index(const dae_newton_task *k, int x)
{
    int low = 0, high = k->ncolumn - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (k->index[middle] == x) return middle;
        if (k->index[middle] < x) low = middle + 1;
        else high = middle - 1;
    }
    return -1;
}

static int push_entry(newton *s, int *capacity, int row, int column, int node)
{
    if (s->nentry == *capacity) {
        int more = 2 * *capacity + 64;
        int **array[] = {&s->row, &s->column, &s->node};
        for (int i = 0; i < 3; i++) {
            int *a = realloc(*array[i], (size_t)more * sizeof *a);
            if (!a) return 0;
            *array[i] = a;
        }
        *capacity = more;
    }
    s->row[s->nentry] = row;
    s->column[s->nentry] = column;
    s->node[s->nentry++] = node;
    return 1;
}

static int find_entries(newton *s)
{
    const dae_newton_task *k = s->task;
    int capacity = 0, good = 1;
    for (int i = 0; i < k->nrow && good; i++) {
        dae_partial *p = NULL;
        int np = dae_graph_gradient(k->graph, k->node[i], &p);
        good = np >= 0;
        for (int q = 0; q < np && good; q++) {
            dae_node leaf = dae_graph_node(k->graph, p[q].leaf);
            int column = leaf.op == OP_VARIABLE ? find_index(k, k->place[leaf.a] + leaf.b) : -1;
            if (column >= 0) good = push_entry(s, &capacity, i, column, p[q].derivative);
        }
        free(p);
    }
    return good && !dae_graph_failed(k->graph);
}

static int root_of(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* order: items sorted by component; start: where each begins. */
static void sort_by(int n, const int *component, int ncomponent, int *start, int *order)
{
    for (int i = 0; i < n; i++) start[component[i] + 1]++;
    for (int c = 0; c < ncomponent; c++) start[c + 1] += start[c];
    for (int i = n - 1; i >= 0; i--) order[--start[component[i] + 1]] = i;
    memmove(start, start + 1, (size_t)ncomponent * sizeof(int));
    start[ncomponent] = n;
}

/* Rows and columns that an entry joins belong together. */
static int find_components(newton *s)
{
    int rows = s->task->nrow, columns = s->task->ncolumn, all = rows + columns, count = 0;
    size_t size = (size_t)all + 2;
    int *parent = dae_arena_ints(s->arena, size), *number = dae_arena_ints(s->arena, size);
    s->row_component = dae_arena_ints(s->arena, size);
    s->column_component = dae_arena_ints(s->arena, size);
    s->rows_of = dae_arena_ints(s->arena, size);
    s->columns_of = dae_arena_ints(s->arena, size);
    s->row_start = dae_arena_ints(s->arena, size);
    s->column_start = dae_arena_ints(s->arena, size);
    if (dae_arena_failed(s->arena)) return 0;
    for (int i = 0; i < all; i++) parent[i] = i;
    for (int e = 0; e < s->nentry; e++)
        parent[root_of(parent, s->row[e])] = root_of(parent, rows + s->column[e]);
    for (int i = 0; i < all; i++) {
        int root = root_of(parent, i);
        if (!number[root]) number[root] = ++count;
        if (i < rows) s->row_component[i] = number[root] - 1;
        else s->column_component[i - rows] = number[root] - 1;
    }
    s->ncomponent = count;
    sort_by(rows, s->row_component, count, s->row_start, s->rows_of);
    sort_by(columns, s->column_component, count, s->column_start, s->columns_of);
    return 1;
}

static int prepare(newton *s)
{
    const dae_newton_task *k = s->task;
    size_t nout = (size_t)k->nrow + (size_t)s->nentry + 1;
    int *output = malloc(nout * sizeof *output);
    if (!output) return 0;
    memcpy(output, k->node, (size_t)k->nrow * sizeof *output);
    if (s->nentry) memcpy(output + k->nrow, s->node, (size_t)s->nentry * sizeof *output);
    s->residual = dae_evaluator_create(k->graph, k->place, k->nrow, output);
    s->all = dae_evaluator_create(k->graph, k->place, k->nrow + s->nentry, output);
    free(output);
    if (!s->residual || !s->all) return 0;
    s->work_residual = dae_arena_reals(s->arena, dae_evaluator_work(s->residual) + 1);
    s->work_all = dae_arena_reals(s->arena, dae_evaluator_work(s->all) + 1);
    s->out = dae_arena_reals(s->arena, nout);
    s->r = dae_arena_reals(s->arena, (size_t)k->nrow + 1);
    s->scale = dae_arena_reals(s->arena, (size_t)k->nrow + 1);
    s->step = dae_arena_reals(s->arena, (size_t)k->ncolumn + 1);
    s->trial = dae_arena_reals(s->arena, (size_t)k->ncolumn + 1);
    if (dae_arena_failed(s->arena)) return 0;
    dae_evaluator_start(s->residual, s->work_residual, k->parameter, k->discrete);
    dae_evaluator_start(s->all, s->work_all, k->parameter, k->discrete);
    return find_components(s);
}

/* ---- One step ---------------------------------------------------------------------------------------------------- */

/* Scales of the rows; the part of the Jacobian in entries is s->out + nrow. */
static void scale_rows(newton *s)
{
    const dae_newton_task *k = s->task;
    const double *value = s->out + k->nrow;
    memset(s->scale, 0, (size_t)k->nrow * sizeof *s->scale);
    for (int e = 0; e < s->nentry; e++)
        s->scale[s->row[e]] = fmax(s->scale[s->row[e]], fabs(value[e]) * k->weight[s->column[e]]);
    for (int i = 0; i < k->nrow; i++) {
        if (!(s->scale[i] > 0) || !isfinite(s->scale[i])) s->scale[i] = 1;
    }
}

/* Places of rows and columns inside their component. */
static void locate(const newton *s, int *row_at, int *column_at)
{
    for (int c = 0; c < s->ncomponent; c++) {
        for (int k = s->row_start[c]; k < s->row_start[c + 1]; k++)
            row_at[s->rows_of[k]] = k - s->row_start[c];
        for (int k = s->column_start[c]; k < s->column_start[c + 1]; k++)
            column_at[s->columns_of[k]] = k - s->column_start[c];
    }
}

/* Entries sorted by component: first[c] .. first[c+1]-1 of order. */
static int dense_step(newton *s, int c, const int *entry, int count, const int *row_at, const int *column_at)
{
    int m = s->row_start[c + 1] - s->row_start[c], n = s->column_start[c + 1] - s->column_start[c],
        rows = m > n ? m : n;
    const double *value = s->out + s->task->nrow;
    double *A = calloc((size_t)rows * (size_t)n + (size_t)rows, sizeof *A), *b = A + (long)rows * n;
    if (!A) return 0;
    for (int q = 0; q < count; q++) {
        int e = entry[q], i = s->row[e], j = s->column[e];
        A[row_at[i] + (long)column_at[j] * rows] = value[e] * s->task->weight[j] / s->scale[i];
    }
    for (int q = 0; q < m; q++)
        b[q] = -s->r[s->rows_of[s->row_start[c] + q]] / s->scale[s->rows_of[s->row_start[c] + q]];
    int starved = dae_least_squares(rows, n, A, b, RANK) == -1;
    for (int q = 0; q < n && !starved; q++) {
        int j = s->columns_of[s->column_start[c] + q];
        s->step[j] = b[q] * s->task->weight[j];
    }
    free(A);
    return !starved;
}

/* Compressed columns of a square component. 0: no memory. */
static int sparse_step(newton *s, int c, const int *entry, int count, const int *row_at, const int *column_at)
{
    int n = s->row_start[c + 1] - s->row_start[c], good = 0;
    const double *value = s->out + s->task->nrow;
    dae_arena *arena = dae_arena_create();
    dae_sparse_lu lu = {0};
    int *colptr = arena ? dae_arena_ints(arena, (size_t)n + 2) : NULL,
        *rowind = arena ? dae_arena_ints(arena, (size_t)count + 1) : NULL;
    int *from = arena ? dae_arena_ints(arena, (size_t)count + 1) : NULL;
    double *b = arena ? dae_arena_reals(arena, (size_t)n + 1) : NULL;
    if (!b || !from || !rowind || !colptr) goto done;
    for (int q = 0; q < count; q++) colptr[column_at[s->column[entry[q]]] + 1]++;
    for (int j = 0; j < n; j++) colptr[j + 1] += colptr[j];
    for (int q = count - 1; q >= 0; q--) from[--colptr[column_at[s->column[entry[q]]] + 1]] = entry[q];
    memmove(colptr, colptr + 1, (size_t)n * sizeof(int));
    colptr[n] = count;
    for (int q = 0; q < count; q++) rowind[q] = row_at[s->row[from[q]]]; /* entries come by rising rows */
    if (dae_sparse_init(&lu, n, colptr, rowind, 0, arena)) goto done;
    for (int q = 0; q < count; q++)
        lu.value[q] = value[from[q]] * s->task->weight[s->column[from[q]]] / s->scale[s->row[from[q]]];
    for (int q = 0; q < n; q++)
        b[q] = -s->r[s->rows_of[s->row_start[c] + q]] / s->scale[s->rows_of[s->row_start[c] + q]];
    if (dae_sparse_factor(&lu) == 0) dae_sparse_solve(&lu, b, NULL);
    else
        memset(b, 0,
               (size_t)n * sizeof *b); /* singular: this part stays where it is, and the residual tells */
    for (int q = 0; q < n; q++) {
        int j = s->columns_of[s->column_start[c] + q];
        s->step[j] = b[q] * s->task->weight[j];
    }
    good = 1;
done:
    dae_sparse_free(&lu);
    dae_arena_destroy(arena);
    return good;
}

static int find_step(newton *s)
{
    int good = 1, rows = s->task->nrow, columns = s->task->ncolumn;
    int *first = calloc((size_t)s->ncomponent + 2, sizeof *first),
        *order = calloc((size_t)s->nentry + 1, sizeof *order);
    int *component = calloc((size_t)s->nentry + 1, sizeof *component),
        *row_at = calloc((size_t)rows + 1, sizeof *row_at);
    int *column_at = calloc((size_t)columns + 1, sizeof *column_at);
    if (!first || !order || !component || !row_at || !column_at) {
        good = 0;
        goto done;
    }
    for (int e = 0; e < s->nentry; e++) component[e] = s->row_component[s->row[e]];
    sort_by(s->nentry, component, s->ncomponent, first, order);
    locate(s, row_at, column_at);
    memset(s->step, 0, (size_t)columns * sizeof *s->step);
    for (int c = 0; c < s->ncomponent && good; c++) {
        int m = s->row_start[c + 1] - s->row_start[c], n = s->column_start[c + 1] - s->column_start[c];
        if (m == 0 || n == 0) continue;
        int sparse = m == n && n > DENSE;
        good = (sparse ? sparse_step : dense_step)(s, c, order + first[c], first[c + 1] - first[c], row_at,
                                                   column_at);
    }
done:
    free(first);
    free(order);
    free(component);
    free(row_at);
    free(column_at);
    return good;
}

/* Norm of the residuals in units of their rows; not finite where they cannot be evaluated. */
static double norm(const newton *s, const double *r)
{
    double sum = 0;
    for (int i = 0; i < s->task->nrow; i++) sum += r[i] / s->scale[i] * (r[i] / s->scale[i]);
    return sqrt(sum);
}

/* The largest lambda with which the residuals fall; 0: none. X moves. */
static double move(newton *s, double *X)
{
    const dae_newton_task *k = s->task;
    double before = norm(s, s->r), lambda = 1;
    for (int j = 0; j < k->ncolumn; j++) s->trial[j] = X[k->index[j]];
    for (; lambda > LEAST_LAMBDA; lambda /= 2) {
        for (int j = 0; j < k->ncolumn; j++) X[k->index[j]] = s->trial[j] + lambda * s->step[j];
        dae_evaluator_run(s->residual, s->work_residual, k->t, X, s->r);
        double after = norm(s, s->r);
        if (isfinite(after) && (after <= (1 - ARMIJO * lambda) * before || after <= DBL_EPSILON))
            return lambda;
    }
    for (int j = 0; j < k->ncolumn; j++) X[k->index[j]] = s->trial[j];
    dae_evaluator_run(s->residual, s->work_residual, k->t, X, s->r);
    return 0;
}

static void judge(const newton *s, dae_newton_result *r)
{
    double worst = -1;
    for (int i = 0; i < s->task->nrow; i++) {
        double x = fabs(s->r[i]) / s->scale[i];
        if (!isfinite(x)) x = INFINITY;
        if (x <= worst) continue;
        worst = x;
        r->worst = i;
        r->missing = s->r[i];
    }
    r->converged = worst <= HOLDS;
    double steepest = NAN; /* where the equation has an unknown at all */
    for (int e = 0; e < s->nentry; e++) {
        if (s->row[e] != r->worst) continue;
        steepest = fmax(steepest, fabs(s->out[s->task->nrow + e]) * s->task->weight[s->column[e]]);
    }
    r->flat = steepest < RANK * fabs(r->missing);
}

static int iterate(newton *s, double *X, dae_newton_result *r)
{
    const dae_newton_task *k = s->task;
    for (r->iterations = 0; r->iterations < MAX_ITERATIONS; r->iterations++) {
        dae_evaluator_run(s->all, s->work_all, k->t, X, s->out);
        memcpy(s->r, s->out, (size_t)k->nrow * sizeof *s->r);
        scale_rows(s);
        double before = norm(s, s->r), largest = 0;
        if (before == 0 || !isfinite(before)) break;
        if (!find_step(s)) return 0;
        double lambda = move(s, X);
        for (int j = 0; j < k->ncolumn; j++) largest = fmax(largest, fabs(s->step[j]) / k->weight[j]);
        if (lambda == 0 || (lambda == 1 && largest <= DONE)) break;
    }
    judge(s, r);
    return 1;
}

int dae_newton_solve(const dae_newton_task *task, double *X, dae_newton_result *r)
{
    newton s = {.task = task, .arena = dae_arena_create()};
    *r = (dae_newton_result){.converged = 1};
    int good = s.arena && (task->nrow == 0 || (find_entries(&s) && prepare(&s) && iterate(&s, X, r)));
    dae_evaluator_destroy(s.residual);
    dae_evaluator_destroy(s.all);
    free(s.row);
    free(s.column);
    free(s.node);
    dae_arena_destroy(s.arena);
    return good;
}
