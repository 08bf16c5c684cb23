/* F(t, y, y') of equations: x_j^(k) is a component of y below the highest order s_j of x_j, and x_j^(s_j) the derivative of the last
 * one. Rows of components below the last:  0 = y_i' - y_next;  the rows of the last ones hold the equations, in their order. */
#include "equations/residual.h"

#include "core/error.h"
#include "equations/branches.h"
#include "equations/evaluator.h"
#include "equations/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dae_implicit {
    int n, ncontinuous, nvariable;
    int *variable, *order, *top, *next; /* n; next: the component of the next order, -1: none */
    int *algebraic;                     /* n: 1 where the derivative does not occur */
    int *place;                         /* nvariable+1: x_j^(k) in X, k = 0 .. highest order */
    double *parameter;
    dae_evaluator *e;
    dae_work *work; /* registers of the program, X, results, discrete values */
    size_t registers;
    int total, ndiscrete;
    dae_branches *branches;  /* count 0: smooth, or what decides is a derivative that is no component */
    dae_evaluator *decision; /* literal, then frozen */
    size_t decision_registers;
    dae_work *decision_work; /* registers, X, results, discrete values */
    int *side;
    char **name;
    int copy; /* 1: of a run; only the sides are its own */
};

static void prepare(double *array, void *user)
{
    const dae_implicit *f = user;
    dae_evaluator_start(f->e, array, f->parameter, array + f->registers + f->total + f->nvariable);
}

void dae_implicit_destroy(dae_implicit *f)
{
    if (!f) return;
    if (f->copy) {
        free(f->side);
        free(f);
        return;
    }
    dae_work_destroy(f->decision_work);
    dae_evaluator_destroy(f->decision);
    for (int i = 0; f->name && i < f->branches->count; i++) free(f->name[i]);
    free(f->name);
    dae_branches_destroy(f->branches);
    free(f->side);
    dae_work_destroy(f->work);
    dae_evaluator_destroy(f->e);
    free(f->variable);
    free(f->order);
    free(f->top);
    free(f->next);
    free(f->algebraic);
    free(f->place);
    free(f->parameter);
    free(f);
}

static int *copied(const int *from, int n)
{
    int *to = malloc(((size_t)n + 1) * sizeof *to);
    if (to) memcpy(to, from, (size_t)n * sizeof *to);
    return to;
}

/* Highest orders: one more than that of the last component, or 0 where no derivative occurs. */
static void find_places(const dae_model *m, dae_implicit *f)
{
    int *list = NULL, *node = malloc(((size_t)m->nequation + 1) * sizeof *node);
    for (int i = 0; node && i < m->nequation; i++) node[i] = m->equation[i].node;
    int count = node ? dae_graph_reach(m->graph, m->nequation, node, &list) : 0;
    for (int k = 0; k < count; k++) {
        dae_node x = dae_graph_node(m->graph, list[k]);
        if (x.op == OP_VARIABLE && x.b > f->place[x.a + 1]) f->place[x.a + 1] = x.b;
    }
    for (int j = 0; j < f->nvariable; j++) f->place[j + 1] += f->place[j] + 1;
    for (int i = 0; i < f->ncontinuous; i++) {
        int j = f->variable[i];
        f->algebraic[i] = f->top[j] == i && f->place[j] + f->order[i] + 1 >= f->place[j + 1];
        f->next[i] = -1;
        for (int q = i + 1; q < f->ncontinuous && f->top[f->variable[i]] != i; q++) {
            if (f->variable[q] != f->variable[i] || f->order[q] != f->order[i] + 1) continue;
            f->next[i] = q;
            break;
        }
    }
    free(list);
    free(node);
}

/* 1: a decision depends on x_j^(s_j), the derivative of a component; -1: no memory. */
static int decides_by_rates(const dae_model *m, const dae_implicit *f)
{
    int found = 0;
    for (int i = 0; i < f->branches->count && !found; i++) {
        int *list, count = dae_graph_reach(m->graph, 1, &f->branches->branch[i].literal, &list);
        if (count < 0) return -1;
        for (int k = 0; k < count && !found; k++) {
            dae_node x = dae_graph_node(m->graph, list[k]);
            found = x.op == OP_VARIABLE && x.b > f->order[f->top[x.a]];
        }
        free(list);
    }
    return found;
}

static void prepare_decision(double *array, void *user)
{
    const dae_implicit *f = user;
    dae_evaluator_start(f->decision, array, f->parameter,
                        array + f->decision_registers + f->total + 2 * f->branches->count);
}

/* Decisions become leaves of the equations in node[]. 0: no memory. */
static int find_switches(dae_implicit *f, const dae_model *m, int *node)
{
    f->branches = dae_branches_find((dae_model *)m, m->nequation, node);
    int by_rates = f->branches ? decides_by_rates(m, f) : -1;
    if (by_rates < 0) return 0;
    if (by_rates) {
        for (int i = 0; i < m->nequation; i++) node[i] = m->equation[i].node;
        dae_branches_destroy(f->branches);
        f->branches = dae_branches_find((dae_model *)m, 0, NULL);
        if (!f->branches) return 0;
    }
    size_t count = (size_t)f->branches->count;
    int *list = malloc((2 * count + 1) * sizeof *list);
    f->side = malloc((count + 1) * sizeof *f->side);
    f->name = calloc(count + 1, sizeof *f->name);
    if (!list || !f->side || !f->name) {
        free(list);
        return 0;
    }
    int good = 1;
    for (size_t i = 0; i < count && good; i++) {
        char text[80];
        list[i] = f->branches->branch[i].literal;
        list[count + i] = f->branches->branch[i].frozen;
        f->side[i] = DAE_SIDE_FREE;
        dae_model_node_text(m, f->branches->branch[i].node, text, sizeof text);
        f->name[i] = malloc(strlen(text) + 1);
        good = f->name[i] != NULL;
        if (good) strcpy(f->name[i], text);
    }
    if (good && count) {
        f->decision = dae_evaluator_create(m->graph, f->place, 2 * (int)count, list);
        f->decision_registers = f->decision ? dae_evaluator_work(f->decision) + 1 : 0;
        if (f->decision)
            f->decision_work = dae_work_create(f->decision_registers + (size_t)f->total + 3 * count +
                                                   (size_t)m->ndiscrete + 1,
                                               prepare_decision, f);
    }
    free(list);
    return good && (!count || f->decision_work);
}

dae_implicit *dae_implicit_create(const dae_model *m, const dae_first_order *s)
{
    dae_implicit *f = calloc(1, sizeof *f);
    int *node = malloc(((size_t)m->nequation + 1) * sizeof *node);
    if (!f || !node) goto fail;
    f->n = s->n;
    f->ncontinuous = s->ncontinuous;
    f->nvariable = m->nvariable;
    f->variable = copied(s->variable, s->n);
    f->order = copied(s->order, s->n);
    f->top = copied(s->top, m->nvariable);
    f->next = calloc((size_t)s->n + 1, sizeof *f->next);
    f->algebraic = calloc((size_t)s->n + 1, sizeof *f->algebraic);
    f->place = calloc((size_t)m->nvariable + 1, sizeof *f->place);
    f->parameter = calloc((size_t)m->nparameter + 1, sizeof *f->parameter);
    if (!f->variable || !f->order || !f->top || !f->next || !f->algebraic || !f->place || !f->parameter)
        goto fail;
    for (int i = 0; i < m->nparameter; i++) f->parameter[i] = m->parameter[i].value;
    for (int i = 0; i < m->nequation; i++) node[i] = m->equation[i].node;
    find_places(m, f);
    f->total = f->place[m->nvariable];
    f->ndiscrete = m->ndiscrete;
    if (!find_switches(f, m, node)) goto fail;
    f->e = dae_evaluator_create(m->graph, f->place, m->nequation, node);
    if (!f->e) goto fail;
    f->registers = dae_evaluator_work(f->e) + 1;
    f->work = dae_work_create(
        f->registers + (size_t)(f->total + f->nvariable + m->ndiscrete + f->branches->count) + 1, prepare, f);
    if (!f->work) goto fail;
    free(node);
    return f;
fail:
    free(node);
    dae_implicit_destroy(f);
    return NULL;
}

const int *dae_implicit_algebraic(const dae_implicit *f)
{
    return f->algebraic;
}

/* X of components, without their derivatives. */
static void fill_X(const dae_implicit *f, const double *y, double *X)
{
    for (int i = 0; i < f->ncontinuous; i++) X[f->place[f->variable[i]] + f->order[i]] = y[i];
}

/* Literal and frozen decisions at (t, y), with the sides in `with` behind the discrete values; NULL: no memory. */
static double *decide(const dae_implicit *f, double t, const double *y, const double *with, int *slot)
{
    int count = f->branches->count;
    double *work = dae_work_borrow(f->decision_work, slot);
    if (!work) return NULL;
    double *X = work + f->decision_registers, *out = X + f->total, *discrete = out + 2 * count;
    memcpy(discrete, with, (size_t)(f->ndiscrete + count) * sizeof *with);
    dae_evaluator_start(f->decision, work, f->parameter, discrete);
    fill_X(f, y, X);
    dae_evaluator_run(f->decision, work, t, X, out);
    return out;
}

/* Discrete values and sides; those that no run has frozen are what the state says. 0: no memory. */
static int present(const dae_implicit *f, double t, const double *y, double *with)
{
    int count = f->branches->count, n = f->ndiscrete, any = 0, slot;
    if (n) memcpy(with, y + f->ncontinuous, (size_t)n * sizeof *with);
    for (int i = 0; i < count; i++) {
        any |= f->side[i] == DAE_SIDE_FREE;
        with[n + i] = f->side[i] == DAE_SIDE_FREE ? 1 : f->side[i];
    }
    if (!any) return 1;
    const double *out = decide(f, t, y, with, &slot);
    for (int i = 0; out && i < count; i++) {
        if (f->side[i] == DAE_SIDE_FREE) with[n + i] = dae_branch_side(f->branches, i, out[i]);
    }
    if (out) dae_work_return(f->decision_work, slot);
    return out != NULL;
}

int dae_implicit_residual(double t, const double *y, const double *yp, double *F, void *implicit)
{
    dae_implicit *f = implicit;
    enum { few = 64 };
    double own[few], *with = own;
    int slot, all = f->ndiscrete + f->branches->count;
    double *work = dae_work_borrow(f->work, &slot);
    if (!work) return -1;
    double *X = work + f->registers, *out = X + f->total, *discrete = out + f->nvariable;
    if (all > few) with = malloc((size_t)all * sizeof *with);
    int good = with && present(f, t, y, with);
    if (good && all && memcmp(discrete, with, (size_t)all * sizeof *with) != 0) {
        memcpy(discrete, with, (size_t)all * sizeof *with);
        dae_evaluator_start(f->e, work, f->parameter, discrete);
    }
    if (with != own) free(with);
    if (!good) {
        dae_work_return(f->work, slot);
        return -1;
    }
    for (int i = 0; i < f->ncontinuous; i++) {
        int j = f->variable[i], x = f->place[j] + f->order[i];
        X[x] = y[i];
        if (f->top[j] == i && x + 1 < f->place[j + 1]) X[x + 1] = yp[i];
        if (f->next[i] >= 0) F[i] = yp[i] - y[f->next[i]];
    }
    dae_evaluator_run(f->e, work, t, X, out);
    for (int j = 0; j < f->nvariable; j++) F[f->top[j]] = out[j];
    for (int i = f->ncontinuous; i < f->n; i++) F[i] = yp[i];
    dae_work_return(f->work, slot);
    return 0;
}

/* ---- Switches -------------------------------------------------------------------------------------------- */

static int switch_values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    const dae_implicit *f = user;
    int count = f->branches->count, slot;
    double *with = malloc((size_t)(f->ndiscrete + count) * sizeof *with);
    const double *out = with && present(f, t, y, with) ? decide(f, t, y, with, &slot) : NULL;
    for (int i = 0; out && i < count; i++) {
        if (side[i] == DAE_SIDE_FREE) next[i] = dae_branch_side(f->branches, i, out[i]), margin[i] = 0;
        else margin[i] = dae_branch_margin(f->branches, i, side[i], out[count + i], &next[i]);
    }
    if (out) dae_work_return(f->decision_work, slot);
    free(with);
    return out ? 0 : -1;
}

static const char *switch_name(int i, void *user)
{
    return ((const dae_implicit *)user)->name[i];
}

static void release(dae_system *own)
{
    dae_implicit_destroy(own->switches.user);
}

/* A copy for one run: everything is shared but the sides. */
static dae_status bind(const dae_system *sys, dae_system *own, dae_error *err)
{
    const dae_implicit *f = sys->switches.user;
    dae_implicit *copy = malloc(sizeof *copy);
    int *side = malloc(((size_t)f->branches->count + 1) * sizeof *side);
    if (!copy || !side) {
        free(copy);
        free(side);
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    *copy = *f;
    copy->copy = 1;
    copy->side = side;
    for (int i = 0; i < f->branches->count; i++) side[i] = DAE_SIDE_FREE;
    *own = *sys;
    own->ide.user = copy;
    own->switches = dae_implicit_switches(copy);
    return DAE_OK;
}

dae_switches dae_implicit_switches(dae_implicit *f)
{
    return (dae_switches){.count = f->branches->count,
                          .values = switch_values,
                          .side = f->side,
                          .name = switch_name,
                          .bind = bind,
                          .release = release,
                          .user = f};
}

void dae_implicit_rates(const dae_implicit *f, const int *place, const int *d, const double *X, double *yp)
{
    for (int i = 0; i < f->ncontinuous; i++) {
        int j = f->variable[i];
        yp[i] = f->order[i] < d[j] ? X[place[j] + f->order[i] + 1] : 0;
    }
    for (int i = f->ncontinuous; i < f->n; i++) yp[i] = 0;
}
