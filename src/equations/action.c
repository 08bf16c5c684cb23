/* Events of an equation file in a run, see action.h. A condition becomes a function that is positive while it holds (and: the
 * smaller one, or: the larger one); a clock one that changes its sign at each stroke. */
#include "equations/action.h"

#include "equations/work.h"
#include "language/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { max_strokes = 1000000, max_conditions = 200 /* nested and, or */ };

typedef struct assignment {
    int component, event;
} assignment;

struct dae_actions {
    int n, nparameter, count;
    double *parameter;
    dae_program *phi, *value; /* switching functions; new values of all assignments */
    dae_work *phi_work, *value_work;
    int nassign, *stop, *first; /* per event: stops; its first assignment (count+1) */
    assignment *assign;
    double *period, *from; /* clocks; period 0: none */
    dae_event *event;
    dae_events events;
    dae_settle_fn *settle; /* NULL: nothing has to be made consistent */
    void *settle_user;
};

/* ---- Switching functions ------------------------------------------------------------------------- */

/* Positive while the condition holds. */
static int margin(dae_graph *g, int condition, int depth)
{
    dae_node n = dae_graph_node(g, condition);
    switch (depth < max_conditions ? n.op : OP_NUMBER) {
    case OP_LT:
    case OP_LE: return dae_graph_subtract(g, n.b, n.a);
    case OP_EQ:
    case OP_NE: return dae_graph_subtract(g, n.a, n.b); /* crossings either way */
    case OP_AND: return dae_graph_apply(g, OP_MIN, margin(g, n.a, depth + 1), margin(g, n.b, depth + 1), 0);
    case OP_OR: return dae_graph_apply(g, OP_MAX, margin(g, n.a, depth + 1), margin(g, n.b, depth + 1), 0);
    case OP_NOT: return dae_graph_scale(g, -1, margin(g, n.a, depth + 1));
    case OP_LITERAL: return margin(g, n.a, depth + 1);
    default: return dae_graph_sum(g, -0.5, 1, (dae_term[]){{condition, 1}}); /* a value that is 0 or 1 */
    }
}

/* sin(pi (t - from)/period): changes its sign at each stroke. */
static int clock_node(dae_graph *g, double period, double from)
{
    const double pi = 3.14159265358979323846;
    int angle = dae_graph_sum(g, -pi * from / period, 1, (dae_term[]){{dae_graph_time(g), pi / period}});
    return dae_graph_apply(g, OP_SIN, angle, 0, 0);
}

/* The product of t - at_k, scaled: changes its sign at each instant. */
static int list_node(dae_graph *g, const dae_model_event *e, double span)
{
    int product = dae_graph_number(g, 1);
    for (int k = 0; k < e->nat; k++) {
        int factor = dae_graph_sum(g, -e->at[k] / span, 1, (dae_term[]){{dae_graph_time(g), 1 / span}});
        product = dae_graph_multiply(g, product, factor);
    }
    return product;
}

/* ---- Running ------------------------------------------------------------------------------------- */

static double *load(const dae_actions *a, dae_work *w, double t, const double *y, int *slot)
{
    double *work = dae_work_borrow(w, slot);
    if (!work) return NULL;
    work[0] = t;
    memcpy(work + 1 + a->nparameter, y, (size_t)a->n * sizeof *y);
    return work;
}

static int switching(double t, const double *y, const double *yp, double *phi, void *user)
{
    const dae_actions *a = user;
    int slot;
    double *work = load(a, a->phi_work, t, y, &slot);
    (void)yp;
    if (!work) return -1;
    dae_program_run(a->phi, work, phi);
    dae_work_return(a->phi_work, slot);
    return 0;
}

void dae_actions_settle(dae_actions *a, dae_settle_fn *settle, void *user)
{
    a->settle = settle;
    a->settle_user = user;
}

static int settle(const dae_actions *a, int i, double t, double *y)
{
    unsigned char *changed = calloc((size_t)a->n + 1, 1);
    if (!changed) return -1;
    for (int k = a->first[i]; k < a->first[i + 1]; k++) changed[a->assign[k].component] = 1;
    int r = a->settle(t, y, changed, a->settle_user);
    free(changed);
    return r;
}

/* All right sides see the values before the event. */
static int act(const dae_actions *a, int i, double t, double *y)
{
    int slot;
    double *work = a->nassign ? load(a, a->value_work, t, y, &slot) : NULL, *out;
    if (a->nassign && !work) return -1;
    if (work) {
        out = work + dae_program_work(a->value);
        dae_program_run(a->value, work, out);
        for (int k = a->first[i]; k < a->first[i + 1]; k++) y[a->assign[k].component] = out[k];
        dae_work_return(a->value_work, slot);
    }
    if (a->settle && a->first[i + 1] > a->first[i] && settle(a, i, t, y)) return -1;
    if (a->stop[i]) return DAE_EVENT_STOP;
    return a->first[i + 1] > a->first[i] ? DAE_EVENT_RESTART : DAE_EVENT_GO_ON;
}

static int on_event(int i, double t, int rising, double *y, double *yp, void *user)
{
    (void)rising, (void)yp;
    return act(user, i, t, y);
}

void dae_actions_begin(const dae_actions *a, double t0, double *y)
{
    for (int i = 0; a && i < a->count; i++) {
        if (a->period[i] > 0 && a->from[i] == t0) act(a, i, t0, y);
    }
}

const dae_events *dae_actions_events(const dae_actions *a)
{
    return a && a->count ? &a->events : NULL;
}

dae_actions_parts dae_actions_look(const dae_actions *a)
{
    return (dae_actions_parts){a->phi, a->value, a->count, a->stop, a->first};
}

int dae_actions_target(const dae_actions *a, int k)
{
    return a->assign[k].component;
}

/* ---- Making -------------------------------------------------------------------------------------- */

static void prepare_phi(double *array, void *user)
{
    const dae_actions *a = user;
    dae_program_start(a->phi, array);
    memcpy(array + 1, a->parameter, (size_t)a->nparameter * sizeof *array);
}

static void prepare_value(double *array, void *user)
{
    const dae_actions *a = user;
    dae_program_start(a->value, array);
    memcpy(array + 1, a->parameter, (size_t)a->nparameter * sizeof *array);
}

static int find_component(int n, const int *leaf, int node)
{
    for (int i = 0; i < n; i++) {
        if (leaf[i] == node) return i;
    }
    return -1;
}

static int collect(dae_actions *a, dae_model *m, const int *leaf, int *phi, int *value,
                   dae_messages *messages)
{
    char name[160];
    double span = fabs(m->t1 - m->t0);
    for (int i = 0; i < m->nevent; i++) {
        const dae_model_event *e = &m->event[i];
        dae_node c = dae_graph_node(m->graph, e->condition);
        int both = e->kind != DAE_CLOCK_WHEN || c.op == OP_EQ || c.op == OP_NE;
        phi[i] = e->kind == DAE_CLOCK_WHEN    ? margin(m->graph, e->condition, 0)
                 : e->kind == DAE_CLOCK_EVERY ? clock_node(m->graph, e->period, e->from)
                                              : list_node(m->graph, e, span);
        if (e->kind == DAE_CLOCK_EVERY) a->period[i] = e->period, a->from[i] = e->from;
        a->event[i] = (dae_event){.name = e->title, .direction = both ? DAE_BOTH : DAE_RISING};
        a->first[i] = a->nassign;
        for (int k = 0; k < e->naction; k++) {
            const dae_model_action *x = &e->action[k];
            if (x->kind == DAE_ACTION_STOP) a->stop[i] = 1;
            if (x->kind != DAE_ACTION_ASSIGN) continue;
            int to = find_component(a->n, leaf, x->target);
            if (to < 0) {
                dae_model_leaf_name(m, x->target, name, sizeof name);
                dae_messages_error(messages, x->place, "%s follows from the equations and cannot be assigned",
                                   name);
                return 0;
            }
            value[a->nassign] = x->value;
            a->assign[a->nassign++] = (assignment){to, i};
        }
    }
    a->first[m->nevent] = a->nassign;
    return 1;
}

static const char *event_name(const dae_model *m, int i, char *buffer, size_t size)
{
    const dae_model_event *e = &m->event[i];
    if (e->title[0]) return e->title;
    snprintf(buffer, size, "line %d", e->place.line);
    return buffer;
}

static int copy_names(dae_actions *a, const dae_model *m)
{
    char buffer[32];
    for (int i = 0; i < a->count; i++) {
        const char *text = event_name(m, i, buffer, sizeof buffer);
        char *copy = malloc(strlen(text) + 1);
        a->event[i].name = copy;
        if (!copy) return 0;
        strcpy(copy, text);
    }
    return 1;
}

dae_actions *dae_actions_create(dae_model *m, int n, const int *leaf, dae_messages *messages)
{
    dae_actions *a = calloc(1, sizeof *a);
    size_t count = (size_t)m->nevent + 1, total = 1, inputs = (size_t)(1 + m->nparameter + n);
    for (int i = 0; i < m->nevent; i++) total += (size_t)m->event[i].naction;
    int *phi = malloc(count * sizeof *phi), *value = malloc(total * sizeof *value),
        *input = malloc(inputs * sizeof *input);
    int good = a && phi && value && input;
    if (good) {
        a->n = n, a->nparameter = m->nparameter, a->count = 0;
        a->parameter = malloc(((size_t)m->nparameter + 1) * sizeof *a->parameter);
        a->stop = calloc(count, sizeof *a->stop);
        a->first = calloc(count, sizeof *a->first);
        a->assign = calloc(total, sizeof *a->assign);
        a->period = calloc(count, sizeof *a->period);
        a->from = calloc(count, sizeof *a->from);
        a->event = calloc(count, sizeof *a->event);
        good = a->parameter && a->stop && a->first && a->assign && a->period && a->from && a->event;
    }
    good = good && collect(a, m, leaf, phi, value, messages);
    for (int i = 0; good && i < m->nevent; i++) a->event[i].name = NULL;
    if (good) a->count = m->nevent;
    good = good && copy_names(a, m);
    if (good) {
        input[0] = dae_graph_time(m->graph);
        for (int k = 0; k < m->nparameter; k++) {
            input[1 + k] = dae_graph_parameter(m->graph, k);
            a->parameter[k] = m->parameter[k].value;
        }
        memcpy(input + 1 + m->nparameter, leaf, (size_t)n * sizeof *leaf);
        int lost[2] = {-1, -1};
        a->phi = dae_program_create(m->graph, (int)inputs, input, m->nevent, phi, &lost[0]);
        a->value = dae_program_create(m->graph, (int)inputs, input, a->nassign, value, &lost[1]);
        if (a->phi && a->value) {
            a->phi_work = dae_work_create(dae_program_work(a->phi), prepare_phi, a);
            a->value_work = dae_work_create(dae_program_work(a->value) + total, prepare_value, a);
        }
        good = a->phi_work && a->value_work;
        if (!good && lost[0] < 0 && lost[1] < 0) dae_messages_starved(messages);
        else if (!good)
            dae_messages_error(messages, (dae_place){0, 0},
                               "an event needs a derivative that is no component of the system");
    }
    free(phi);
    free(value);
    free(input);
    if (good) {
        a->events = (dae_events){.count = a->count,
                                 .event = a->event,
                                 .phi = switching,
                                 .action = on_event,
                                 .check_points = 3,
                                 .user = a};
        return a;
    }
    dae_actions_destroy(a);
    return NULL;
}

void dae_actions_destroy(dae_actions *a)
{
    if (!a) return;
    for (int i = 0; a->event && i < a->count; i++) free((char *)a->event[i].name);
    dae_work_destroy(a->phi_work);
    dae_work_destroy(a->value_work);
    dae_program_destroy(a->phi);
    dae_program_destroy(a->value);
    free(a->parameter);
    free(a->stop);
    free(a->first);
    free(a->assign);
    free(a->period);
    free(a->from);
    free(a->event);
    free(a);
}

int dae_actions_instants(const dae_model *m, double **out)
{
    size_t n = 0, capacity = 16;
    double lo = fmin(m->t0, m->t1), hi = fmax(m->t0, m->t1);
    for (int i = 0; i < m->nevent; i++) {
        const dae_model_event *e = &m->event[i];
        capacity += (size_t)e->nat;
        if (e->kind == DAE_CLOCK_EVERY && (hi - lo) / e->period < max_strokes)
            capacity += (size_t)((hi - lo) / e->period) + 2;
    }
    *out = malloc(capacity * sizeof **out);
    if (!*out) return -1;
    for (int i = 0; i < m->nevent; i++) {
        const dae_model_event *e = &m->event[i];
        for (int k = 0; k < e->nat; k++) {
            if (e->at[k] > lo && e->at[k] < hi) (*out)[n++] = e->at[k];
        }
        if (e->kind != DAE_CLOCK_EVERY || (hi - lo) / e->period >= max_strokes) continue;
        for (double k = ceil((lo - e->from) / e->period); e->from + k * e->period < hi && n < capacity; k++) {
            if (k >= 0 && e->from + k * e->period > lo) (*out)[n++] = e->from + k * e->period;
        }
    }
    return (int)n;
}
