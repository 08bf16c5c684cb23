/* Exact derivatives of a problem made of equations. The programs are made when somebody asks for the first derivative.
 *
 * A parameter that others are made of (b = 2*a) takes them along: the direction of parameter k is a vector over all of them. Parameters
 * whose value reading needed as a number (a period, a point of a table), or that are 0 and therefore no symbol of the equations,
 * are not known. */
#include "equations/tangents.h"

#include "equations/branches.h"
#include "equations/problem.h"
#include "equations/tangent.h"
#include "equations/work.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct link { /* parameter `to` is made of parameter `from` */
    int from, to;
    double factor;
} link;

struct dae_tangent_set {
    pthread_mutex_t lock;
    int made; /* 1: done, -1: no memory */
    dae_tangent *rate, *entry, *border, *event, *value,
        *column; /* leaves: t, parameters, y, sides of switches */
    int nlink, capacity;
    link *link;
    dae_work *
        room; /* for all values of one of them, of which some are wanted, and n numbers besides: no evaluation takes memory */
};

dae_tangent_set *dae_tangent_set_create(void)
{
    dae_tangent_set *s = calloc(1, sizeof *s);
    if (s) pthread_mutex_init(&s->lock, NULL);
    return s;
}

void dae_tangent_set_destroy(dae_tangent_set *s)
{
    if (!s) return;
    dae_tangent *all[] = {s->rate, s->entry, s->border, s->event, s->value, s->column};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) dae_tangent_destroy(all[k]);
    pthread_mutex_destroy(&s->lock);
    dae_work_destroy(s->room);
    free(s->link);
    free(s);
}

static const dae_equation_object *object_of(const dae_problem *p)
{
    return dae_problem_object(p, dae_equation_object_destroy);
}

/* ---- Parameters made of parameters ------------------------------------------------------------------------- */

/* Derivatives of a node of parameters: for each parameter leaf, by `note`. 0: no memory. */
typedef void note_fn(int parameter, double derivative, void *user);

static int by_parameters(dae_model *m, int node, note_fn *note, void *user)
{
    int count = dae_graph_count(m->graph), np;
    if (dae_graph_is_number(m->graph, node, NULL)) return 1;
    unsigned char *wanted = calloc((size_t)count, 1);
    dae_partial *p = NULL;
    if (!wanted) return 0;
    for (int i = 0; i < count; i++) wanted[i] = dae_graph_node(m->graph, i).op == OP_PARAMETER;
    np = dae_graph_gradient_by(m->graph, node, wanted, count, &p);
    for (int k = 0; k < np; k++)
        note(dae_graph_node(m->graph, p[k].leaf).a, dae_model_constant(m, p[k].derivative), user);
    free(p);
    free(wanted);
    return np >= 0;
}

typedef struct linking {
    dae_tangent_set *s;
    int to, starved;
} linking;

static void add_link(int from, double factor, void *user)
{
    linking *x = user;
    dae_tangent_set *s = x->s;
    if (s->nlink == s->capacity) {
        int more = 2 * s->capacity + 8;
        link *bigger = realloc(s->link, (size_t)more * sizeof *bigger);
        if (!bigger) {
            x->starved = 1;
            return;
        }
        s->link = bigger;
        s->capacity = more;
    }
    s->link[s->nlink++] = (link){from, x->to, factor};
}

static int find_links(dae_tangent_set *s, dae_model *m)
{
    linking x = {.s = s};
    for (int k = 0; k < m->nparameter; k++) {
        if (!m->parameter[k].node) continue;
        x.to = k;
        if (!by_parameters(m, m->parameter[k].node, add_link, &x) || x.starved) return 0;
    }
    return 1;
}

/* What changes with parameter k (nparameter values). Definitions have no circles, so that it ends. */
static void direction_of(const dae_tangent_set *s, const dae_model *m, int k, double *direction)
{
    memset(direction, 0, (size_t)m->nparameter * sizeof *direction);
    if (k < 0) return;
    direction[k] = 1;
    for (int round = 0, changed = 1; changed && round <= m->nparameter; round++) {
        changed = 0;
        for (int i = 0; i < s->nlink;) {
            int to = s->link[i].to;
            double sum = 0;
            for (; i < s->nlink && s->link[i].to == to; i++)
                sum += s->link[i].factor * direction[s->link[i].from];
            if (to == k || sum == direction[to]) continue;
            direction[to] = sum;
            changed = 1;
        }
    }
}

/* ---- Making ------------------------------------------------------------------------------------------------- */

static int count_sides(const dae_equation_object *o)
{
    return dae_flow_look(o->flow).branches->count;
}

static void leave_as_it_is(double *array, void *user)
{
    (void)array, (void)user;
}

static int make_all(dae_tangent_set *s, const dae_equation_object *o)
{
    dae_model *m = o->m;
    dae_graph *g = m->graph;
    const dae_flow_parts flow = dae_flow_look(o->flow);
    const dae_branches *b = flow.branches;
    int n = o->s->n, count = 1 + m->nparameter + n + b->count, k = 0, good;
    int most = flow.entries > b->count ? flow.entries : b->count;
    int *leaf = malloc((size_t)count * sizeof *leaf),
        *border = malloc(((size_t)b->count + 1) * sizeof *border);
    if (!leaf || !border) {
        free(leaf);
        free(border);
        return 0;
    }
    leaf[k++] = dae_graph_time(g);
    for (int i = 0; i < m->nparameter; i++) leaf[k++] = dae_graph_parameter(g, i);
    for (int i = 0; i < n; i++) leaf[k++] = o->s->leaf[i];
    for (int i = 0; i < b->count; i++) {
        leaf[k++] = dae_graph_discrete(g, b->first + i);
        border[i] = b->branch[i].frozen;
    }
    s->rate = dae_tangent_create(g, count, leaf, n, o->s->rate);
    s->entry = dae_tangent_create(g, count, leaf, flow.entries, flow.entry);
    s->border = dae_tangent_create(g, count, leaf, b->count, border);
    s->column =
        dae_tangent_create(g, count, leaf, dae_outputs_count(o->outputs), dae_outputs_nodes(o->outputs));
    good = s->rate && s->entry && s->border && s->column;
    if (good && o->actions) {
        dae_actions_parts a = dae_actions_look(o->actions);
        s->event = dae_tangent_create(g, count, leaf, a.count, a.phi_node);
        s->value = dae_tangent_create(g, count, leaf, a.first[a.count], a.value_node);
        good = s->event && s->value;
        if (most < a.count) most = a.count;
        if (most < a.first[a.count]) most = a.first[a.count];
    }
    free(leaf);
    free(border);
    s->room = dae_work_create((size_t)most + (size_t)n + 1, leave_as_it_is, NULL);
    return good && s->room && find_links(s, m);
}

static int prepare(const dae_problem *p)
{
    const dae_equation_object *o = object_of(p);
    dae_tangent_set *s = o->tangents;
    pthread_mutex_lock(&s->lock);
    if (!s->made) { /* restarts add to the graph too */
        if (o->system) pthread_mutex_lock(&o->system->lock);
        s->made = make_all(s, o) ? 1 : -1;
        if (o->system) pthread_mutex_unlock(&o->system->lock);
    }
    int good = s->made > 0;
    pthread_mutex_unlock(&s->lock);
    return good;
}

/* Nothing that changes with the parameter may have become a number. */
static int knows(const dae_problem *p, int k)
{
    const dae_equation_object *o = object_of(p);
    const dae_model *m = o->m;
    if (k < 0) return 1;
    double *direction = malloc(((size_t)m->nparameter + 1) * sizeof *direction);
    int known = 1;
    if (!direction) return -1;
    direction_of(o->tangents, m, k, direction);
    for (int i = 0; i < m->nparameter && known; i++) {
        const dae_model_parameter *x = &m->parameter[i];
        known = direction[i] == 0 || (!x->frozen && !x->integer && !x->choices && x->value != 0);
    }
    free(direction);
    return known;
}

/* ---- Evaluation ----------------------------------------------------------------------------------------------- */

/* run NULL: sides do not occur. */
static int evaluate(const dae_problem *p, const dae_tangent *t, const dae_system *run, double time,
                    const double *y, double dt, const double *dy, int k, double *out)
{
    const dae_equation_object *o = object_of(p);
    const dae_model *m = o->m;
    int slot, n = o->s->n, sides = count_sides(o), count = 1 + m->nparameter + n + sides;
    double *a = dae_tangent_borrow(t, &slot), *d = a ? a + count : NULL;
    if (!a) return -1;
    memset(d, 0, (size_t)count * sizeof *d);
    a[0] = time;
    d[0] = dt;
    for (int i = 0; i < m->nparameter; i++) a[1 + i] = m->parameter[i].value;
    direction_of(o->tangents, m, k, d + 1);
    memcpy(a + 1 + m->nparameter, y, (size_t)n * sizeof *y);
    if (dy) memcpy(d + 1 + m->nparameter, dy, (size_t)n * sizeof *dy);
    const dae_flow *flow = run ? (run->kind == DAE_KIND_ODE ? run->ode.user : run->dae.user) : NULL;
    int r = flow && sides ? dae_flow_sides(flow, time, y, a + 1 + m->nparameter + n) : 0;
    dae_tangent_run(t, a, slot, out);
    return r;
}

static int rate(const dae_problem *p, const dae_system *run, double t, const double *y, double dt,
                const double *dy, int k, double *out)
{
    return evaluate(p, object_of(p)->tangents->rate, run, t, y, dt, dy, k, out);
}

static int jacobian(const dae_problem *p, const dae_system *run, double t, const double *y, double dt,
                    const double *dy, int k, double *out)
{
    const dae_equation_object *o = object_of(p);
    const dae_flow_parts flow = dae_flow_look(o->flow);
    int slot;
    double *entry = dae_work_borrow(o->tangents->room, &slot);
    if (!entry) return -1;
    int r = evaluate(p, o->tangents->entry, run, t, y, dt, dy, k, entry);
    memset(out, 0, (size_t)flow.values * sizeof *out);
    for (int e = 0; e < flow.entries && !r; e++) out[flow.place[e]] = entry[e];
    dae_work_return(o->tangents->room, slot);
    return r;
}

/* One number of many: the others are thrown away. */
static int single(const dae_problem *p, const dae_tangent *t, const dae_system *run, int i, double time,
                  const double *y, double dt, const double *dy, int k, double *out)
{
    dae_work *room = object_of(p)->tangents->room;
    int slot;
    double *all = dae_work_borrow(room, &slot);
    if (!all) return -1;
    int r = evaluate(p, t, run, time, y, dt, dy, k, all);
    if (!r) *out = all[i];
    dae_work_return(room, slot);
    return r;
}

static int border(const dae_problem *p, const dae_system *run, int i, double t, const double *y, double dt,
                  const double *dy, int k, double *out)
{
    const dae_equation_object *o = object_of(p);
    return single(p, o->tangents->border, run, i, t, y, dt, dy, k, out);
}

static int event(const dae_problem *p, int i, double t, const double *y, double dt, const double *dy, int k,
                 double *out)
{
    const dae_equation_object *o = object_of(p);
    return single(p, o->tangents->event, NULL, i, t, y, dt, dy, k, out);
}

static int jump(const dae_problem *p, int i, double t, const double *y, const double *after, double dt,
                const double *dy, int k, double *out)
{
    const dae_equation_object *o = object_of(p);
    dae_actions_parts a = dae_actions_look(o->actions);
    int n = o->s->n, slot;
    if (a.settles) return 1;
    double *value = dae_work_borrow(o->tangents->room, &slot), *assigned;
    if (!value) return -1;
    assigned = value + a.first[a.count];
    memset(assigned, 0, (size_t)n * sizeof *assigned);
    int r = evaluate(p, o->tangents->value, NULL, t, y, dt, dy, k, value);
    if (!r) memcpy(out, dy, (size_t)n * sizeof *out);
    for (int q = a.first[i]; !r && q < a.first[i + 1]; q++) {
        out[dae_actions_target(o->actions, q)] = value[q];
        assigned[dae_actions_target(o->actions, q)] = 1;
    }
    for (int c = 0; c < n && !r; c++) r = assigned[c] == 0 && after[c] != y[c]; /* other events followed */
    dae_work_return(o->tangents->room, slot);
    return r;
}

static int columns(const dae_problem *p, double t, const double *y, double dt, const double *dy, int k,
                   double *out)
{
    return evaluate(p, object_of(p)->tangents->column, NULL, t, y, dt, dy, k, out);
}

/* ---- Start ------------------------------------------------------------------------------------------------------ */

typedef struct summing {
    const double *direction;
    double sum;
} summing;

static void add_part(int parameter, double derivative, void *user)
{
    summing *x = user;
    x->sum += derivative * x->direction[parameter];
}

void dae_equation_direction(const dae_equation_object *o, int k, double *direction)
{
    direction_of(o->tangents, o->m, k, direction);
}

int dae_equation_by_parameters(const dae_equation_object *o, int node, const double *direction, double *out)
{
    summing x = {.direction = direction};
    int good = by_parameters(o->m, node, add_part, &x);
    *out = x.sum;
    return good;
}

static int mass(const dae_problem *p, int k, double *out)
{
    const dae_equation_object *o = object_of(p);
    const dae_first_order *s = o->s;
    double *direction = malloc(((size_t)o->m->nparameter + 1) * sizeof *direction);
    int good = direction != NULL;
    if (good) direction_of(o->tangents, o->m, k, direction);
    pthread_mutex_lock(&o->tangents->lock);
    if (o->system) pthread_mutex_lock(&o->system->lock);
    for (int e = 0; s->dae && e < s->colptr[s->n] && good; e++) {
        out[e] = 0;
        if (s->mass_node[e] >= 0) good = dae_equation_by_parameters(o, s->mass_node[e], direction, &out[e]);
    }
    if (o->system) pthread_mutex_unlock(&o->system->lock);
    pthread_mutex_unlock(&o->tangents->lock);
    free(direction);
    return good ? 0 : -1;
}

static int start(const dae_problem *p, int k, double *out)
{
    const dae_equation_object *o = object_of(p);
    const dae_first_order *s = o->s;
    dae_model *m = o->m;
    double *direction = malloc(((size_t)m->nparameter + 1) * sizeof *direction);
    summing x = {.direction = direction};
    int good = direction != NULL,
        told = dae_problem_restarted(p) || (o->actions && dae_actions_look(o->actions).begins);
    if (good) direction_of(o->tangents, m, k, direction);
    for (int i = 0; i < s->n; i++) out[i] = told || (o->system && i < s->ncontinuous) ? NAN : 0;
    pthread_mutex_lock(&o->tangents->lock);
    if (o->system) pthread_mutex_lock(&o->system->lock);
    for (int q = 0; q < m->nstart && good && !told; q++) {
        const dae_model_start *v = &m->start[q];
        int i = v->order ? m->nvariable : v->variable; /* as in problem.c */
        while (i < s->ncontinuous && (s->variable[i] != v->variable || s->order[i] != v->order)) i++;
        if (i == s->ncontinuous || (o->system && !v->bound)) continue;
        x.sum = 0;
        good = by_parameters(m, v->node, add_part, &x);
        out[i] = x.sum;
    }
    for (int i = s->ncontinuous; i < s->n && good && !told; i++) {
        x.sum = 0;
        good = by_parameters(m, m->discrete[-1 - s->variable[i]].node, add_part, &x);
        out[i] = x.sum;
    }
    if (o->system) pthread_mutex_unlock(&o->system->lock);
    pthread_mutex_unlock(&o->tangents->lock);
    free(direction);
    return good ? 0 : -1;
}

const dae_tangents dae_equation_tangents = {.prepare = prepare,
                                            .knows = knows,
                                            .rate = rate,
                                            .jacobian = jacobian,
                                            .mass = mass,
                                            .start = start,
                                            .border = border,
                                            .event = event,
                                            .jump = jump,
                                            .columns = columns,
                                            .inside = dae_inside_open,
                                            .leave = dae_inside_close,
                                            .inside_count = dae_inside_count,
                                            .inside_values = dae_inside_values,
                                            .inside_start = dae_inside_start,
                                            .inside_jacobian = dae_inside_jacobian,
                                            .inside_project = dae_inside_project,
                                            .inside_pick = dae_inside_pick};
