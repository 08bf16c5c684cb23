/* Events of an equation file in a run, see action.h. A condition becomes a function that is positive while it holds (and: the
 * smaller one, or: the larger one); a clock one that changes its sign at each stroke. */
#include "equations/action.h"

#include "core/error.h"
#include "equations/work.h"
#include "language/program.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    max_strokes = 1000000,
    max_conditions = 200, /* nested and, or */
    max_rounds = 20       /* of events that set off others at the same time */
};

typedef struct assignment {
    int component, event, line;
} assignment;

struct dae_actions {
    int n, nparameter, count;
    double *parameter;
    int *phi_node, *value_node; /* switching functions; new values of all assignments */
    dae_program *phi, *value;
    dae_work *phi_work, *value_work;
    int nassign, *stop, *first; /* per event: stops; its first assignment (count+1) */
    assignment *assign;
    unsigned char *begins; /* per event: 1 if it is a clock or a list of instants that strikes at t0 */
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

/* Events of one instant: flags, what they assign, signs of the conditions before it. One block per round and thread. */
typedef struct instant {
    unsigned char *fires, *changed; /* count; n */
    int *by;                        /* n: the assignment that a component gets its value from, -1: none */
    double *before, *after;         /* count each: switching functions */
} instant;

static int instant_take(const dae_actions *a, instant *x)
{
    size_t m = (size_t)a->count + 1, n = (size_t)a->n + 1;
    *x = (instant){
        .before = malloc(2 * m * sizeof(double)), .by = malloc(n * sizeof(int)), .fires = calloc(m + n, 1)};
    if (!x->before || !x->by || !x->fires) return 0;
    x->after = x->before + m;
    x->changed = x->fires + m;
    return 1;
}

static void instant_free(instant *x)
{
    free(x->before);
    free(x->by);
    free(x->fires);
}

static int twice(const dae_actions *a, int first, int second, double t, dae_error *err)
{
    const assignment *x = &a->assign[first], *y = &a->assign[second];
    dae_fail(err, DAE_ERR_EVENT, t,
             "t = %.10g: \"%s\" (line %d) and \"%s\" (line %d) assign one variable at the same time: say "
             "which one counts, for "
             "instance by \"and not\" in one of the conditions",
             t, a->event[x->event].name, x->line, a->event[y->event].name, y->line);
    return -1;
}

/* One round: all right sides see the values before it, then all assignments are made, then the others follow. */
static int act_once(const dae_actions *a, instant *x, double t, double *y, dae_error *err)
{
    int slot, assigned = 0, stop = 0;
    double *work = a->nassign ? load(a, a->value_work, t, y, &slot) : NULL;
    if (a->nassign && !work) return -1;
    memset(x->changed, 0, (size_t)a->n);
    for (int i = 0; i < a->n; i++) x->by[i] = -1;
    double *out = work ? work + dae_program_work(a->value) : NULL;
    if (work) dae_program_run(a->value, work, out);
    for (int i = 0; i < a->count; i++) {
        if (!x->fires[i]) continue;
        stop |= a->stop[i];
        for (int k = a->first[i]; k < a->first[i + 1]; k++, assigned = 1) {
            int to = a->assign[k].component;
            if (x->by[to] >= 0 && a->assign[x->by[to]].event != i) {
                dae_work_return(a->value_work, slot);
                return twice(a, x->by[to], k, t, err);
            }
            x->by[to] = k;
            x->changed[to] = 1;
            y[to] = out[k];
        }
    }
    if (work) dae_work_return(a->value_work, slot);
    if (a->settle && assigned && a->settle(t, y, x->changed, a->settle_user)) {
        dae_fail(err, DAE_ERR_EVENT, t,
                 "t = %.10g: the values that an event assigned contradict the equations", t);
        return -1;
    }
    return stop ? DAE_EVENT_STOP : assigned ? DAE_EVENT_RESTART : DAE_EVENT_GO_ON;
}

/* Conditions that became true by what was assigned: they fire in the next round. Those that fired just now count as true. */
static int find_next(const dae_actions *a, instant *x)
{
    int found = 0;
    for (int i = 0; i < a->count; i++) {
        double before = x->fires[i] && a->event[i].direction == DAE_RISING ? 1 : x->before[i];
        int rises = before <= 0 && x->after[i] > 0, falls = before > 0 && x->after[i] < 0;
        x->fires[i] = rises || (a->event[i].direction == DAE_BOTH && falls && !x->fires[i]);
        found += x->fires[i];
    }
    memcpy(x->before, x->after, (size_t)a->count * sizeof(double));
    return found;
}

/* All events of an instant, and those that follow from them there and then, round by round. */
static int on_instant(int *count, int room, int *index, int *rising, double t, double *y, double *yp,
                      void *user, dae_error *err)
{
    const dae_actions *a = user;
    instant x;
    int answer = 0, round = 0;
    if (!instant_take(a, &x)) {
        dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
        answer = -1;
    } else if (switching(t, y, yp, x.before, user)) answer = -1;
    for (int k = 0; k < *count && answer >= 0; k++) x.fires[index[k]] = 1;
    while (answer >= 0) {
        int r = act_once(a, &x, t, y, err);
        answer = r < 0 ? r : answer == DAE_EVENT_STOP ? answer : r > 0 ? r : answer;
        if (r != DAE_EVENT_RESTART || switching(t, y, yp, x.after, user))
            break; /* nothing new, or nothing to be seen */
        if (!find_next(a, &x)) break;
        for (int i = 0; i < a->count && *count < room; i++) {
            if (x.fires[i]) index[*count] = i, rising[(*count)++] = x.after[i] > 0;
        }
        if (++round < max_rounds) continue;
        int one = 0;
        while (!x.fires[one]) one++;
        dae_fail(err, DAE_ERR_EVENT, t,
                 "t = %.10g: events set off each other %d times without end, \"%s\" among them: their "
                 "assignments make conditions true "
                 "again",
                 t, round, a->event[one].name);
        answer = -1;
    }
    instant_free(&x);
    return answer;
}

static int on_event(int i, double t, int rising, double *y, double *yp, void *user)
{
    enum { room = 64 };
    int index[room] = {i}, up[room] = {rising}, count = 1;
    return on_instant(&count, room, index, up, t, y, yp, user, NULL);
}

int dae_actions_begin(const dae_actions *a, double t0, double *y)
{
    enum { room = 256 };
    int index[room], up[room], count = 0;
    dae_error err = {0};
    for (int i = 0; a && i < a->count && count < room; i++) {
        if (a->begins[i]) index[count] = i, up[count++] = 1;
    }
    if (count) on_instant(&count, room, index, up, t0, y, NULL, (void *)a, &err);
    return err.status != DAE_ERR_MEMORY;
}

const dae_events *dae_actions_events(const dae_actions *a)
{
    return a && a->count ? &a->events : NULL;
}

dae_actions_parts dae_actions_look(const dae_actions *a)
{
    return (dae_actions_parts){.phi = a->phi,
                               .value = a->value,
                               .count = a->count,
                               .stop = a->stop,
                               .first = a->first,
                               .phi_node = a->phi_node,
                               .value_node = a->value_node,
                               .settles = a->settle != NULL,
                               .begins = a->count && memchr(a->begins, 1, (size_t)a->count) != NULL};
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
        a->begins[i] = e->kind == DAE_CLOCK_EVERY && e->from == m->t0;
        for (int k = 0; k < e->nat; k++) a->begins[i] |= e->at[k] == m->t0;
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
            a->assign[a->nassign++] = (assignment){to, i, x->place.line};
        }
    }
    a->first[m->nevent] = a->nassign;
    return 1;
}

static const char *event_name(const dae_model *m, int i, char *buffer, size_t size)
{
    const dae_model_event *e = &m->event[i];
    if (e->title[0]) return e->title;
    for (int k = 0; k < e->naction; k++) { /* when c: stop "why" */
        if (e->action[k].kind == DAE_ACTION_STOP && e->action[k].text[0]) return e->action[k].text;
    }
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

/* 1: no switching function depends on more than time and parameters; -1: no memory. */
static int of_time_only(const dae_graph *g, int count, const int *phi)
{
    int *list = NULL, n = dae_graph_reach(g, count, phi, &list), only = n < 0 ? -1 : 1;
    for (int i = 0; i < n; i++) {
        int op = dae_graph_node(g, list[i]).op;
        if (op == OP_VARIABLE || op == OP_DISCRETE) only = 0;
    }
    free(list);
    return only;
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
        a->begins = calloc(count, sizeof *a->begins);
        a->event = calloc(count, sizeof *a->event);
        good = a->parameter && a->stop && a->first && a->assign && a->begins && a->event;
    }
    good = good && collect(a, m, leaf, phi, value, messages);
    for (int i = 0; good && i < m->nevent; i++) a->event[i].name = NULL;
    if (good) a->count = m->nevent;
    good = good && copy_names(a, m);
    int clocks = good ? of_time_only(m->graph, m->nevent, phi) : -1;
    if (good && clocks < 0) {
        dae_messages_starved(messages);
        good = 0;
    }
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
    if (a) a->phi_node = phi, a->value_node = value;
    else free(phi), free(value);
    free(input);
    if (good) {
        a->events = (dae_events){.count = a->count,
                                 .event = a->event,
                                 .phi = switching,
                                 .action = on_event,
                                 .instant = on_instant,
                                 .no_slope = 1,
                                 .no_state = clocks,
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
    free(a->phi_node);
    free(a->value_node);
    free(a->parameter);
    free(a->stop);
    free(a->first);
    free(a->assign);
    free(a->begins);
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
