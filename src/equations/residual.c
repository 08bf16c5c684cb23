/* F(t, y, y') of equations: x_j^(k) is a component of y below the highest order s_j of x_j, and x_j^(s_j) the derivative of the last
 * one. Rows of components below the last:  0 = y_i' - y_next;  the rows of the last ones hold the equations, in their order. */
#include "equations/residual.h"

#include "equations/evaluator.h"
#include "equations/work.h"

#include <stdlib.h>
#include <string.h>

struct dae_implicit {
    int n, ncontinuous, nvariable;
    int *variable, *order, *top, *next; /* n; next: the component of the next order, -1: none */
    int *place;                         /* nvariable+1: x_j^(k) in X, k = 0 .. highest order */
    double *parameter;
    dae_evaluator *e;
    dae_work *work; /* registers of the program, X, results, discrete values */
    size_t registers;
    int total;
};

static void prepare(double *array, void *user)
{
    const dae_implicit *f = user;
    dae_evaluator_start(f->e, array, f->parameter, array + f->registers + f->total + f->nvariable);
}

void dae_implicit_destroy(dae_implicit *f)
{
    if (!f) return;
    dae_work_destroy(f->work);
    dae_evaluator_destroy(f->e);
    free(f->variable);
    free(f->order);
    free(f->top);
    free(f->next);
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
    f->place = calloc((size_t)m->nvariable + 1, sizeof *f->place);
    f->parameter = calloc((size_t)m->nparameter + 1, sizeof *f->parameter);
    if (!f->variable || !f->order || !f->top || !f->next || !f->place || !f->parameter) goto fail;
    for (int i = 0; i < m->nparameter; i++) f->parameter[i] = m->parameter[i].value;
    for (int i = 0; i < m->nequation; i++) node[i] = m->equation[i].node;
    find_places(m, f);
    f->total = f->place[m->nvariable];
    f->e = dae_evaluator_create(m->graph, f->place, m->nequation, node);
    if (!f->e) goto fail;
    f->registers = dae_evaluator_work(f->e) + 1;
    f->work =
        dae_work_create(f->registers + (size_t)(f->total + f->nvariable + m->ndiscrete) + 1, prepare, f);
    if (!f->work) goto fail;
    free(node);
    return f;
fail:
    free(node);
    dae_implicit_destroy(f);
    return NULL;
}

int dae_implicit_residual(double t, const double *y, const double *yp, double *F, void *implicit)
{
    dae_implicit *f = implicit;
    int slot;
    double *work = dae_work_borrow(f->work, &slot);
    if (!work) return -1;
    double *X = work + f->registers, *out = X + f->total, *discrete = out + f->nvariable;
    if (f->n > f->ncontinuous &&
        memcmp(discrete, y + f->ncontinuous, (size_t)(f->n - f->ncontinuous) * sizeof *y) != 0) {
        memcpy(discrete, y + f->ncontinuous, (size_t)(f->n - f->ncontinuous) * sizeof *y);
        dae_evaluator_start(f->e, work, f->parameter, discrete);
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

void dae_implicit_rates(const dae_implicit *f, const int *place, const int *d, const double *X, double *yp)
{
    for (int i = 0; i < f->ncontinuous; i++) {
        int j = f->variable[i];
        yp[i] = f->order[i] < d[j] ? X[place[j] + f->order[i] + 1] : 0;
    }
    for (int i = f->ncontinuous; i < f->n; i++) yp[i] = 0;
}
