/* Consistent initial values, stage by stage.
 *
 * With the offsets c, d the differentiated equations fall into stages k = -max d .. 0,
 *     E_k = { f_i^(k + c_i) : k + c_i >= 0 },   V_k = { x_j^(k + d_j) : k + d_j >= 0 },
 * and stage k depends on V_k and on lower stages only, with the system Jacobian as its matrix (Griewank's lemma). So each stage is
 * solved for its own unknowns but the bound ones, by steps of least norm in the weights max(|x|, 1e-3) (stage 0: max(|x|, 1)).
 *
 * Where an init equation couples stages, or a stage cannot be solved with its bound values, all stages are solved at once from what
 * was found; last, the bound values are moved from a point that is consistent without them to where they should be, in ten steps. */
#include "equations/initial.h"

#include "core/number.h"
#include "equations/newton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTINUATION = 10 };

/* ---- Stages ------------------------------------------------------------------------------------------------------ */

typedef struct stage {
    int *node, *row, *order; /* equations of the stage: node, number, how often differentiated */
    int nrow;
    int *index; /* unknowns */
    double *weight;
    int ncolumn;
} stage;

static int stage_create(const dae_initial_task *task, stage *s)
{
    const dae_analysis *a = task->analysis;
    size_t rows = (size_t)(a->first[a->n] + task->ninit) + 1, columns = (size_t)a->total + 1;
    *s = (stage){.node = calloc(rows, sizeof(int)),
                 .row = calloc(rows, sizeof(int)),
                 .order = calloc(rows, sizeof(int)),
                 .index = calloc(columns, sizeof(int)),
                 .weight = calloc(columns, sizeof(double))};
    return s->node && s->row && s->order && s->index && s->weight;
}

static void stage_destroy(stage *s)
{
    free(s->node);
    free(s->row);
    free(s->order);
    free(s->index);
    free(s->weight);
}

static void add_unknown(const dae_initial_task *task, stage *s, int x, const double *X, double least)
{
    if (task->bound[x]) return;
    s->index[s->ncolumn] = x;
    s->weight[s->ncolumn++] = fmax(fabs(X[x]), least) / (task->inertia ? task->inertia[x] : 1);
}

static void add_equation(const dae_analysis *a, stage *s, int i, int m)
{
    s->node[s->nrow] = a->value[a->first[i] + m];
    s->row[s->nrow] = i;
    s->order[s->nrow++] = m;
}

static void fill_stage(const dae_initial_task *task, int k, const double *X, stage *s)
{
    const dae_analysis *a = task->analysis;
    s->nrow = s->ncolumn = 0;
    for (int i = 0; i < a->n; i++) {
        if (k + a->sigma.c[i] >= 0) add_equation(a, s, i, k + a->sigma.c[i]);
        if (k + a->sigma.d[i] >= 0)
            add_unknown(task, s, a->place[i] + k + a->sigma.d[i], X, k == 0 ? 1 : 1e-3);
    }
}

static void fill_all(const dae_initial_task *task, const double *X, stage *s)
{
    const dae_analysis *a = task->analysis;
    s->nrow = s->ncolumn = 0;
    for (int i = 0; i < a->n; i++) {
        for (int m = 0; m <= a->sigma.c[i]; m++) add_equation(a, s, i, m);
        for (int m = 0; m <= a->sigma.d[i]; m++)
            add_unknown(task, s, a->place[i] + m, X, m == a->sigma.d[i] ? 1 : 1e-3);
    }
    for (int i = 0; i < task->ninit; i++) {
        s->node[s->nrow] = task->init[i];
        s->row[s->nrow] = a->n + i;
        s->order[s->nrow++] = 0;
    }
}

/* 0: no memory. */
static int solve_stage(const dae_initial_task *task, const stage *s, double *X, dae_initial_result *r)
{
    const dae_analysis *a = task->analysis;
    dae_newton_task newton = {a->model->graph, a->place, task->parameter, task->discrete, task->t,
                              s->nrow,         s->node,  s->ncolumn,      s->index,       s->weight};
    dae_newton_result result;
    if (!dae_newton_solve(&newton, X, &result)) return 0;
    r->converged = result.converged;
    if (s->nrow == 0) return 1;
    r->equation = s->row[result.worst];
    r->derivative = s->order[result.worst];
    r->missing = result.missing;
    r->flat = result.flat;
    return 1;
}

static int highest_order(const dae_analysis *a)
{
    int largest = 0;
    for (int j = 0; j < a->n; j++) largest = a->sigma.d[j] > largest ? a->sigma.d[j] : largest;
    return largest;
}

static int solve_stages(const dae_initial_task *task, stage *s, double *X, dae_initial_result *r)
{
    *r = (dae_initial_result){.converged = 1};
    for (int k = -highest_order(task->analysis); k <= 0 && r->converged; k++) {
        fill_stage(task, k, X, s);
        if (!solve_stage(task, s, X, r)) return 0;
    }
    return 1;
}

/* Moves the bound values from a consistent point without them to where they should be. */
static int continue_to(const dae_initial_task *task, stage *s, double *X, dae_initial_result *r)
{
    int total = task->analysis->total, good = 1;
    unsigned char *none = calloc((size_t)total + 1, 1);
    double *goal = malloc(((size_t)total + 1) * sizeof *goal),
           *from = malloc(((size_t)total + 1) * sizeof *from);
    dae_initial_task open = *task;
    open.bound = none;
    open.ninit = 0;
    good = none && goal && from;
    if (good) {
        memcpy(goal, X, (size_t)total * sizeof *goal);
        good = solve_stages(&open, s, X, r);
    }
    if (good && r->converged) memcpy(from, X, (size_t)total * sizeof *from);
    for (int k = 1; k <= CONTINUATION && good && r->converged; k++) {
        for (int i = 0; i < total; i++) {
            if (task->bound[i])
                X[i] = k == CONTINUATION ? goal[i] : from[i] + (goal[i] - from[i]) * k / CONTINUATION;
        }
        fill_all(task, X, s);
        good = solve_stage(task, s, X, r);
    }
    for (int i = 0; good && !r->converged && i < total; i++) X[i] = goal[i];
    free(none);
    free(goal);
    free(from);
    return good;
}

int dae_initial_solve(const dae_initial_task *task, double *X, dae_initial_result *r)
{
    stage s;
    int good = stage_create(task, &s) && solve_stages(task, &s, X, r);
    if (good && (!r->converged || task->ninit > 0)) {
        dae_initial_result stagewise = *r;
        fill_all(task, X, &s);
        good = solve_stage(task, &s, X, r);
        if (good && !r->converged) {
            dae_initial_result together = *r;
            good = continue_to(task, &s, X, r);
            if (good && !r->converged) *r = stagewise.converged ? together : stagewise;
        }
    }
    stage_destroy(&s);
    return good;
}

/* ---- The start of a model ------------------------------------------------------------------------------------------ */

/* "x = 1 and y = 0.1" of the bound values in an equation, or "x ~ 1" of the others; the last one is told as an example of a guess. */
static int values_in(const dae_analysis *a, const dae_initial_task *task, int node, int bound,
                     const double *X, char *text, size_t size, char *last, size_t last_size)
{
    int *list = NULL, count = dae_graph_reach(a->model->graph, 1, &node, &list), found = 0;
    size_t used = 0;
    text[0] = last[0] = 0;
    for (int k = 0; k < count; k++) {
        dae_node x = dae_graph_node(a->model->graph, list[k]);
        char name[80];
        if (x.op != OP_VARIABLE || task->bound[a->place[x.a] + x.b] != bound || used + 130 > size) continue;
        snprintf(name, sizeof name, "%.60s%.*s", a->variable[x.a], x.b < 8 ? x.b : 8, "''''''''");
        double value = X[a->place[x.a] + x.b];
        used += (size_t)dae_snprintf(text + used, size - used, "%s%s %c %.6g", found++ ? " and " : "", name,
                                     bound ? '=' : '~', value);
        dae_snprintf(last, last_size, "%s ~ %.6g", name, value);
    }
    free(list);
    return found;
}

static void complain(const dae_analysis *a, const dae_initial_task *task, const dae_initial_result *r,
                     const double *X, dae_messages *messages)
{
    static const char *const times[] = {"", ", differentiated once,", ", differentiated twice,"};
    char text[260], last[120];
    int init = r->equation >= a->n, i = init ? r->equation - a->n : r->equation,
        d = r->derivative < 2 ? r->derivative : 2;
    int node = init ? task->init[i] : a->value[a->first[i] + r->derivative];
    dae_place place = init ? a->model->init[i].place : a->place_of[i];
    const char *name = init ? "the init equation" : a->equation[i];
    char line[40] = "";
    if (!init && strncmp(name, "line ", 5)) snprintf(line, sizeof line, " (line %d)", place.line);
    int given = values_in(a, task, node, !r->flat, X, text, sizeof text, last, sizeof last);
    if (!isfinite(r->missing)) {
        dae_messages_error(
            messages, place,
            "%s%s%s is not a number at the start%s%s: a root or logarithm of a negative value, "
            "or a division by 0? (sqrt(max(x, 0)))",
            name, line, times[d], given ? ", with " : "", text);
    } else if (r->flat) {
        dae_messages_error(messages, place,
                           "no consistent initial values were found: %s%s%s is missed by %.3g and does not "
                           "change with %s: give another guess",
                           name, line, times[d], fabs(r->missing), text);
    } else if (given) {
        dae_messages_error(messages, place,
                           "%s contradict%s %s%s%s, which %s miss%s by %.3g: make %s a guess (%s)", text,
                           strstr(text, " and ") ? "" : "s", name, line, times[d],
                           strstr(text, " and ") ? "they" : "it", strstr(text, " and ") ? "" : "es",
                           fabs(r->missing), strstr(text, " and ") ? "one of them" : "it", last);
    } else {
        dae_messages_error(messages, place,
                           "no consistent initial values were found: %s%s%s is missed by %.3g; give better "
                           "guesses (x ~ ...) "
                           "for its variables",
                           name, line, times[d], fabs(r->missing));
    }
}

static const char *reason(const dae_analysis *a, int j, int k, int given, int bound, double moved,
                          double found)
{
    if (bound) return "given";
    if (k == a->sigma.d[j]) return "determined";
    if (k > 0 && !given && moved == 0) return "not given (init x' = ... sets a derivative)";
    return moved <= 1e-12 * fabs(found) ? "taken from a guess" : "moved by least change";
}

/* source: number of the start entry of each value of X, from 1; 0: nothing was given. */
static void write_lines(const dae_analysis *a, const unsigned char *bound, const int *source,
                        const double *before, dae_initial *out)
{
    out->needed = a->sigma.dof;
    for (int j = 0; j < a->model->nvariable; j++) {
        for (int k = 0; k <= a->sigma.d[j]; k++) {
            int x = a->place[j] + k;
            if (bound[x] && k < a->sigma.d[j]) out->given++;
            int free = a->sigma.index == 0 && k < a->sigma.d[j]; /* a state that nothing else determines */
            if (k > 0 && !source[x] && !free) continue;
            out->line[out->nline++] = (dae_initial_line){
                j,
                k,
                source[x] ? a->model->start[source[x] - 1].value : NAN,
                bound[x],
                out->X[x],
                reason(a, j, k, source[x], bound[x], fabs(out->X[x] - before[x]), out->X[x])};
        }
    }
}

dae_status dae_initial_find(const dae_analysis *a, const double *parameter, const double *discrete,
                            dae_arena *arena, dae_initial *out, dae_messages *messages)
{
    size_t total = (size_t)a->total + 1;
    unsigned char *bound = dae_arena_take(arena, total, 1);
    double *inertia = dae_arena_reals(arena, total), *before = dae_arena_reals(arena, total);
    int *init = dae_arena_ints(arena, (size_t)a->model->ninit + 1), *source = dae_arena_ints(arena, total);
    *out = (dae_initial){.X = dae_arena_reals(arena, total),
                         .line = dae_arena_take(arena, total, sizeof *out->line)};
    if (dae_arena_failed(arena)) goto memory;
    dae_analysis_start(a, out->X);
    memcpy(before, out->X, (size_t)a->total * sizeof *before);
    for (int k = 0; k < a->model->nstart; k++) {
        const dae_model_start *s = &a->model->start[k];
        if (s->order > a->sigma.d[s->variable]) continue;
        bound[a->place[s->variable] + s->order] = s->bound != 0;
        source[a->place[s->variable] + s->order] = k + 1;
    }
    for (int i = 0; i < a->total; i++)
        inertia[i] = i < a->place[a->model->nvariable] ? 1 : 1e-6; /* added variables follow the others */
    for (int i = 0; i < a->model->ninit; i++) init[i] = a->model->init[i].node;
    dae_initial_task task = {a, a->model->t0, parameter, discrete, bound, inertia, a->model->ninit, init};
    dae_initial_result r;
    if (!dae_initial_solve(&task, out->X, &r)) goto memory;
    if (!r.converged) {
        complain(a, &task, &r, r.flat ? before : out->X, messages); /* flat: it is the guess that is named */
        return DAE_ERR_INCONSISTENT;
    }
    write_lines(a, bound, source, before, out);
    return DAE_OK;
memory:
    dae_messages_starved(messages);
    return DAE_ERR_MEMORY;
}
