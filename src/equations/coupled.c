/* Equations with a mechanism inside, see coupled.h.
 *
 * The equations are solved for their highest derivatives and for their algebraic variables, the inputs of the mechanism among them,
 * one after another in the order of their blocks:
 *
 *     x' = r(t, x, s),   a = h(t, x, s),   s signals of the mechanism,
 *
 * and become one flow over (states and discrete values, signals, inputs), whose "rates" are r, 0, 0 and h. It gives the mechanism rates,
 * inputs with exact gradients, and switches. */
#include "equations/coupled.h"

#include "core/error.h"
#include "equations/mechanism.h"
#include "equations/work.h"
#include "multibody/external.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct coupled {
    mbs_external base; /* first: what the mechanism sees */
    dae_problem *holder;
    dae_equation_object *o;
    int n;           /* components of the flow: nstate, nsignal, ninput */
    size_t jacobian; /* values */
    dae_work *work;  /* n components, then room for what the flow gives */
    int *input;
    double *start;
    const dae_events *inner, *own; /* events of the mechanism, of the equations; NULL: none */
    int (*columns)(const dae_problem *p, int count, const double *t, const double *y, const double *a,
                   const double *lambda, double *value); /* of the mechanism */
    int ncolumn;
} coupled;

/* ---- Evaluation ------------------------------------------------------------------------------------------- */

static double *load(const coupled *c, const double *state, const double *signal, int *slot)
{
    double *y = dae_work_borrow(c->work, slot);
    if (!y) return NULL;
    if (c->base.nstate) memcpy(y, state, (size_t)c->base.nstate * sizeof *y);
    if (c->base.nsignal) memcpy(y + c->base.nstate, signal, (size_t)c->base.nsignal * sizeof *y);
    memset(y + c->base.nstate + c->base.nsignal, 0, (size_t)c->base.ninput * sizeof *y);
    return y;
}

static int rates(const mbs_external *e, double t, const double *state, const double *signal, const int *side,
                 double *rate)
{
    const coupled *c = (const coupled *)e;
    int slot;
    double *y = load(c, state, signal, &slot);
    if (!y) return -1;
    int r = dae_flow_on(c->o->flow, DAE_FLOW_RATES, side, t, y, y + c->n);
    memcpy(rate, y + c->n, (size_t)e->nstate * sizeof *rate);
    dae_work_return(c->work, slot);
    return r;
}

/* Row `row` of the Jacobian: by signals, then by states. */
static void pick_row(const coupled *c, int row, const double *J, double *gradient)
{
    dae_pattern p = dae_flow_pattern(c->o->flow);
    for (int j = 0; j < c->base.nstate + c->base.nsignal; j++) {
        double x = 0;
        if (p.storage == DAE_DENSE) x = J[row + (long)j * c->n];
        for (int k = p.colptr ? p.colptr[j] : 0; p.colptr && k < p.colptr[j + 1]; k++) {
            if (p.rowind[k] == row) x = J[k];
        }
        gradient[j < c->base.nstate ? c->base.nsignal + j : j - c->base.nstate] = x;
    }
}

static int input_at(const mbs_external *e, int which, double t, const double *state, const double *signal,
                    const int *side, double *value, double *gradient)
{
    const coupled *c = (const coupled *)e;
    int slot, row = e->nstate + e->nsignal + which;
    double *y = load(c, state, signal, &slot), *out = y ? y + c->n : NULL;
    if (!y) return -1;
    int r = dae_flow_on(c->o->flow, DAE_FLOW_RATES, side, t, y, out);
    *value = out[row];
    if (gradient && !r) {
        r = dae_flow_on(c->o->flow, DAE_FLOW_TIME, side, t, y, out);
        gradient[e->nsignal + e->nstate] = out[row];
        memset(out, 0, c->jacobian * sizeof *out);
        if (!r) r = dae_flow_on(c->o->flow, DAE_FLOW_JACOBIAN, side, t, y, out);
        pick_row(c, row, out, gradient);
    }
    dae_work_return(c->work, slot);
    return r;
}

static int margins(const mbs_external *e, double t, const double *state, const double *signal,
                   const int *side, double *margin, int *next)
{
    const coupled *c = (const coupled *)e;
    int slot;
    double *y = load(c, state, signal, &slot);
    if (!y) return -1;
    int r = dae_flow_margins(c->o->flow, side, t, y, margin, next);
    dae_work_return(c->work, slot);
    return r;
}

static const char *switch_name(const mbs_external *e, int i)
{
    return dae_flow_look(((const coupled *)e)->o->flow).switch_name[i];
}

static void destroy(mbs_external *e)
{
    coupled *c = (coupled *)e;
    dae_work_destroy(c->work);
    dae_problem_destroy(c->holder);
    free(c->input);
    free(c->start);
    free(c);
}

/* ---- Solving the equations -------------------------------------------------------------------------------- */

typedef struct solving {
    dae_model *m;
    const dae_analysis *a;
    dae_messages *messages;
    int count, *leaf, *solved; /* n each: highest derivatives so far and what they are */
    int *value;                /* nvariable: the solved node of each variable */
} solving;

/* "line 7, rod": the equations of a block; the variables that it determines. */
static void block_words(const solving *x, int b, char *equations, char *variables, size_t size)
{
    const dae_sigma *g = &x->a->sigma;
    size_t e = 0, v = 0;
    equations[0] = variables[0] = 0;
    for (int k = g->block_start[b]; k < g->block_start[b + 1]; k++) {
        int i = g->block_row[k];
        if (e < size)
            e += (size_t)snprintf(equations + e, size - e, "%s%s", e ? ", " : "", x->a->equation[i]);
        if (v < size)
            v +=
                (size_t)snprintf(variables + v, size - v, "%s%s", v ? ", " : "", x->a->variable[g->match[i]]);
    }
}

/* 0 = coefficient*leaf + rest: -rest/coefficient; -1: not of this form. */
static int solve_for(dae_graph *g, int node, int leaf)
{
    dae_partial *p;
    int np = dae_graph_gradient(g, node, &p), coefficient = -1;
    for (int k = 0; k < np; k++) {
        if (p[k].leaf == leaf) coefficient = p[k].derivative;
    }
    if (np >= 0) free(p);
    else dae_graph_starve(g);
    if (coefficient < 0) return -1;
    int *list, count = dae_graph_reach(g, 1, &coefficient, &list), linear = count >= 0;
    for (int k = 0; k < count && linear; k++) linear = list[k] != leaf;
    if (count >= 0) free(list);
    else dae_graph_starve(g);
    if (!linear) return -1;
    int rest = dae_graph_substitute(g, node, 1, &leaf, (int[]){0});
    return dae_graph_scale(g, -1, dae_graph_divide(g, rest, coefficient));
}

static int solve_block(solving *x, int b)
{
    const dae_sigma *g = &x->a->sigma;
    int i = g->block_row[g->block_start[b]], j = g->match[i];
    char equations[160], variables[120];
    int leaf = dae_graph_variable(x->m->graph, j, g->d[j]), solved = -1;
    if (g->block_start[b + 1] - g->block_start[b] == 1) {
        int node = dae_graph_substitute(x->m->graph, x->a->node[i], x->count, x->leaf, x->solved);
        solved = solve_for(x->m->graph, node, leaf);
    }
    if (solved < 0 && dae_graph_failed(x->m->graph) == DAE_GRAPH_STARVED) {
        dae_messages_starved(x->messages);
        return 0;
    }
    if (solved < 0) {
        block_words(x, b, equations, variables, sizeof variables);
        dae_messages_error(
            x->messages, x->a->place_of[i],
            "beside a mechanism equations are solved one after another, each for one variable in which it is "
            "linear: not possible for %s (%s); write it solved",
            variables, equations);
        return 0;
    }
    x->leaf[x->count] = leaf;
    x->solved[x->count++] = x->value[j] = solved;
    return 1;
}

static int solve_all(solving *x)
{
    const dae_sigma *g = &x->a->sigma;
    for (int i = 0; i < x->a->n; i++) {
        if (x->a->n == x->m->nvariable && g->c[i] == 0 && x->a->combinations == 0) continue;
        dae_messages_error(x->messages, x->a->place_of[i],
                           "beside a mechanism no equation can be differentiated, but index %d needs "
                           "derivatives of %s: constraints "
                           "between bodies belong into the model",
                           g->index, x->a->equation[i]);
        return 0;
    }
    for (int b = 0; b < g->nblock; b++) {
        if (!solve_block(x, b)) return 0;
    }
    return 1;
}

/* What the lists of the model say, in components of the flow; algebraic variables become named expressions. */
static int rewrite_model(const solving *x)
{
    dae_model *m = x->m;
    dae_graph *g = m->graph;
    for (int k = 0; k < m->nlet; k++)
        m->let[k].node = dae_graph_substitute(g, m->let[k].node, x->count, x->leaf, x->solved);
    for (int k = 0; k < m->noutput; k++)
        m->output[k].node = dae_graph_substitute(g, m->output[k].node, x->count, x->leaf, x->solved);
    for (int i = 0; i < m->nevent; i++) {
        m->event[i].condition = dae_graph_substitute(g, m->event[i].condition, x->count, x->leaf, x->solved);
        for (int k = 0; k < m->event[i].naction; k++) {
            dae_model_action *a = (dae_model_action *)&m->event[i].action[k];
            a->value = dae_graph_substitute(g, a->value, x->count, x->leaf, x->solved);
        }
    }
    dae_model_let *let = realloc(m->let, ((size_t)m->nlet + (size_t)m->nvariable + 1) * sizeof *let);
    if (!let) return 0;
    m->let = let;
    m->let_capacity = m->nlet + m->nvariable + 1;
    for (int j = 0; j < m->nvariable; j++) {
        if (x->a->sigma.d[j] > 0) continue;
        m->let[m->nlet++] = (dae_model_let){.name = m->variable[j].name,
                                            .node = x->value[j],
                                            .dimension = m->variable[j].dimension,
                                            .place = m->variable[j].place};
    }
    return 1;
}

/* Components of the flow. */
static dae_first_order *make_components(const solving *x)
{
    const dae_model *m = x->m;
    const dae_model_mechanism *mechanism = m->mechanism;
    const int *d = x->a->sigma.d;
    size_t n = (size_t)(m->ndiscrete + mechanism->ninput);
    int highest = 0;
    for (int j = 0; j < m->nvariable; j++) {
        n += (size_t)d[j];
        highest = d[j] > highest ? d[j] : highest;
    }
    dae_first_order *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->variable = malloc((n + 1) * sizeof(int));
    s->order = malloc((n + 1) * sizeof(int));
    s->leaf = malloc((n + 1) * sizeof(int));
    s->rate = malloc((n + 1) * sizeof(int));
    s->top = calloc((size_t)m->nvariable + 1, sizeof(int));
    if (!s->variable || !s->order || !s->leaf || !s->rate || !s->top) {
        dae_first_order_destroy(s);
        return NULL;
    }
    for (int k = 0; k < highest; k++) {
        for (int j = 0; j < m->nvariable; j++) {
            if (k >= d[j]) continue;
            s->variable[s->n] = j;
            s->order[s->n] = k;
            s->leaf[s->n] = dae_graph_variable(m->graph, j, k);
            s->rate[s->n] = k + 1 < d[j] ? dae_graph_variable(m->graph, j, k + 1) : x->value[j];
            s->top[j] = s->n++;
        }
    }
    s->ncontinuous = s->n;
    for (int i = 0; i < m->ndiscrete + mechanism->ninput; i++) {
        int j = i < m->ndiscrete ? -1 - i : mechanism->input[i - m->ndiscrete].variable;
        s->variable[s->n] = j;
        s->order[s->n] = 0;
        s->leaf[s->n] = j < 0 ? dae_graph_discrete(m->graph, i) : dae_graph_variable(m->graph, j, 0);
        s->rate[s->n++] = j < 0 ? 0 : x->value[j];
    }
    return s;
}

static int solve(dae_equation_object *o, dae_messages *messages)
{
    dae_model *m = o->m;
    dae_first_order *written = dae_first_order_find(m);
    if (!written) return 0;
    o->system = dae_equation_system_create(m, written->n, written->ncontinuous, written->variable,
                                           written->order, messages);
    dae_first_order_destroy(written);
    if (!o->system) return 0;
    size_t n = (size_t)m->nvariable + 1;
    solving x = {.m = m, .a = &o->system->analysis, .messages = messages};
    x.leaf = malloc(3 * n * sizeof *x.leaf);
    if (!x.leaf) return 0;
    x.solved = x.leaf + n;
    x.value = x.solved + n;
    int good = solve_all(&x) && rewrite_model(&x) && (o->s = make_components(&x)) != NULL;
    free(x.leaf);
    return good;
}

/* ---- What the mechanism gets ------------------------------------------------------------------------------ */

static void nothing(double *array, void *user)
{
    (void)array, (void)user;
}

static coupled *make(dae_problem *holder, dae_equation_object *o, dae_messages *messages)
{
    const dae_model_mechanism *x = o->m->mechanism;
    coupled *c = calloc(1, sizeof *c);
    int missing, declared = x->nsignal ? x->first : o->m->ndiscrete;
    if (!c) {
        dae_problem_destroy(holder);
        return NULL;
    }
    c->base = (mbs_external){.rates = rates,
                             .input_at = input_at,
                             .margins = margins,
                             .switch_name = switch_name,
                             .destroy = destroy,
                             .nsignal = x->nsignal,
                             .ninput = x->ninput};
    c->holder = holder;
    c->o = o;
    if (!solve(o, messages)) goto fail;
    c->n = o->s->n;
    c->base.nstate = o->s->ncontinuous + declared;
    c->base.signal = x->signal;
    o->outputs = dae_outputs_create(o->m, o->s);
    if (!o->outputs) goto fail;
    if (o->m->nevent && !(o->actions = dae_actions_create(o->m, o->s->n, o->s->leaf, messages))) goto fail;
    o->flow = dae_flow_create(o->m, o->s->n, o->s->leaf, o->s->rate, &missing);
    if (!o->flow) goto fail;
    dae_pattern p = dae_flow_pattern(o->flow);
    c->jacobian = (size_t)dae_pattern_count(&p, c->n);
    c->base.nswitch = dae_flow_switches(o->flow).count;
    c->work = dae_work_create(2 * (size_t)c->n + c->jacobian + 1, nothing, NULL);
    c->input = malloc(((size_t)x->ninput + 1) * sizeof *c->input);
    c->start = calloc((size_t)c->n + 1, sizeof *c->start);
    if (!c->work || !c->input || !c->start) goto fail;
    for (int k = 0; k < x->ninput; k++) c->input[k] = x->input[k].parameter;
    const dae_analysis *a = &o->system->analysis;
    for (int i = 0; i < o->s->ncontinuous; i++)
        c->start[i] = o->system->initial.X[a->place[o->s->variable[i]] + o->s->order[i]];
    for (int i = 0; i < o->m->ndiscrete; i++) c->start[o->s->ncontinuous + i] = o->m->discrete[i].start;
    if (!dae_actions_begin(o->actions, o->m->t0, c->start)) goto fail;
    c->base.input = c->input;
    c->base.start = c->start;
    c->own = dae_actions_events(o->actions);
    return c;
fail:
    destroy(&c->base);
    return NULL;
}

/* ---- Events ----------------------------------------------------------------------------------------------- */

typedef struct both {
    coupled *c;
    const mbs_mechanism *m;
} both;

/* Components of the flow at a state of the mechanism; NULL: no memory. */
static double *components(const both *b, double t, const double *y, int *slot)
{
    const coupled *c = b->c;
    double *x = dae_work_borrow(c->work, slot);
    if (!x) return NULL;
    memset(x, 0, (size_t)c->n * sizeof *x);
    if (c->base.nstate)
        memcpy(x, y + b->m->np + b->m->nv + b->m->external_u, (size_t)c->base.nstate * sizeof *x);
    if (!mbs_signals_at(b->m, t, y, c->base.nsignal, c->base.signal, x + c->base.nstate)) return x;
    dae_work_return(c->work, *slot);
    return NULL;
}

static int phi(double t, const double *y, const double *yp, double *out, void *user)
{
    const both *b = user;
    const dae_events *inner = b->c->inner, *own = b->c->own;
    int slot, r = inner ? inner->phi(t, y, yp, out, inner->user) : 0;
    if (r || !own) return r;
    double *x = components(b, t, y, &slot);
    if (!x) return DAE_ERR_MEMORY;
    r = own->phi(t, x, NULL, out + (inner ? inner->count : 0), own->user);
    dae_work_return(b->c->work, slot);
    return r;
}

/* The stronger of two answers. */
static int stronger(int a, int b)
{
    return a < 0 || b == 0 ? a : b < 0 || a == 0 ? b : a == DAE_EVENT_STOP ? a : b;
}

/* First what happens to the mechanism, then the equations, which see it. */
static int instant(int *count, int room, int *index, int *rising, double t, double *y, double *yp, void *user,
                   dae_error *err)
{
    enum { most = 256 };
    const both *b = user;
    const dae_events *inner = b->c->inner, *own = b->c->own;
    int first = inner ? inner->count : 0, answer = DAE_EVENT_GO_ON, mine[most], up[most], n = 0, slot;
    for (int k = 0; k < *count && answer >= 0; k++) {
        if (index[k] >= first && n < most) mine[n] = index[k] - first, up[n++] = rising[k];
        else if (index[k] < first && inner->action)
            answer = stronger(answer, inner->action(index[k], t, rising[k], y, yp, inner->user));
    }
    if (answer < 0 || !n) return answer;
    double *x = components(b, t, y, &slot);
    if (!x) {
        dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
        return -1;
    }
    int given = n;
    answer = stronger(answer, own->instant(&n, most, mine, up, t, x, NULL, own->user, err));
    for (int k = given; k < n && *count < room; k++)
        index[*count] = mine[k] + first, rising[(*count)++] = up[k];
    memcpy(y + b->m->np + b->m->nv + b->m->external_u, x, (size_t)b->c->base.nstate * sizeof *x);
    dae_work_return(b->c->work, slot);
    return answer;
}

/* Events of the mechanism, called car.NAME, then those of the equations. */
static int set_events(dae_problem *p, coupled *c, const char *prefix)
{
    const dae_events *part[] = {p->events, c->own};
    int n = 0, total = (p->events ? p->events->count : 0) + (c->own ? c->own->count : 0);
    if (!total) return 1;
    dae_event *event = dae_problem_take(p, (size_t)total, sizeof *event);
    dae_events *events = dae_problem_take(p, 1, sizeof *events);
    both *user = dae_problem_take(p, 1, sizeof *user);
    if (!event || !events || !user) return 0;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; part[k] && i < part[k]->count; i++, n++) {
            char name[200];
            event[n] = part[k]->event[i];
            snprintf(name, sizeof name, "%s.%s", prefix, event[n].name);
            if (k == 0) event[n].name = dae_problem_copy(p, name);
        }
    }
    c->inner = p->events;
    *user = (both){c, mbs_problem_mechanism(p)};
    *events = (dae_events){.count = total,
                           .event = event,
                           .phi = phi,
                           .instant = instant,
                           .check_points = 3,
                           .plain = p->events ? p->events->plain : 0,
                           .user = user};
    p->events = events;
    return 1;
}

/* ---- Names and values ------------------------------------------------------------------------------------- */

static const char *prefixed(dae_problem *p, const char *prefix, const char *name)
{
    char text[400];
    snprintf(text, sizeof text, "%s.%s", prefix, name);
    return dae_problem_copy(p, text);
}

static int name_components(dae_problem *p, const coupled *c, const char *prefix)
{
    const mbs_mechanism *mechanism = mbs_problem_mechanism(p);
    const dae_first_order *s = c->o->s;
    const dae_model *m = c->o->m;
    int n = dae_system_size(&p->system), at = mechanism->np + mechanism->nv + mechanism->external_u;
    const char **name = dae_problem_take(p, (size_t)n + 1, sizeof *name),
               **unit = dae_problem_take(p, (size_t)n + 1, sizeof *unit);
    if (!name || !unit) return 0;
    for (int i = 0; i < n; i++) {
        if (i >= at && i < at + c->base.nstate) {
            int k = i - at, v = s->variable[k];
            char text[200];
            dae_model_leaf_name(m, s->leaf[k], text, sizeof text);
            name[i] = dae_problem_copy(p, text);
            dae_dimension d = v < 0 ? m->discrete[-1 - v].dimension : m->variable[v].dimension;
            for (int o = 0; o < s->order[k]; o++) d.power[2] = (signed char)(d.power[2] - 1);
            unit[i] = dae_equation_unit(p, &d);
        } else {
            name[i] = p->component[i] ? prefixed(p, prefix, p->component[i]) : NULL;
            unit[i] = p->unit[i];
        }
    }
    p->component = name;
    p->unit = unit;
    return 1;
}

/* Those of the equations, then car.NAME. */
static void name_parameters(dae_problem *p, const coupled *c, const char *prefix, dae_problem_info *info)
{
    const dae_parameter *own = info->parameter;
    const double *value = p->parameter;
    int n = 0, first = c->o->m->nparameter;
    while (own[n].name) n++;
    dae_equation_parameters(p, c->o->m, info, n);
    dae_parameter *list = (dae_parameter *)info->parameter;
    for (int k = 0; list && p->parameter && k < n; k++) {
        list[first + k] = own[k];
        list[first + k].name = prefixed(p, prefix, own[k].name);
        p->parameter[first + k] = value[k];
    }
}

static int columns(const dae_problem *p, int count, const double *t, const double *y, const double *a,
                   const double *lambda, double *value)
{
    const mbs_mechanism *m = mbs_problem_mechanism(p);
    coupled *c = (coupled *)m->external;
    both b = {c, m};
    size_t n = (size_t)dae_system_size(&p->system), width = (size_t)p->derived.ncolumn;
    int bad = c->columns ? c->columns(p, count, t, y, a, lambda, value) : 0;
    for (size_t k = 0; k < (size_t)count && !bad; k++) {
        int slot;
        double *x = components(&b, t[k], y + k * n, &slot);
        bad = x ? dae_outputs_values(c->o->outputs, t[k], x, value + k * width + c->ncolumn) : DAE_ERR_MEMORY;
        if (x) dae_work_return(c->work, slot);
    }
    return bad;
}

static int name_columns(dae_problem *p, coupled *c, const char *prefix)
{
    int more = dae_outputs_count(c->o->outputs), n = p->derived.ncolumn;
    const char **name = dae_problem_take(p, (size_t)(n + more) + 1, sizeof *name),
               **unit = dae_problem_take(p, (size_t)(n + more) + 1, sizeof *unit);
    if (!name || !unit) return 0;
    for (int i = 0; i < n; i++)
        name[i] = prefixed(p, prefix, p->derived.column[i]), unit[i] = p->derived.unit[i];
    for (int i = 0; i < more; i++) {
        dae_dimension d = dae_outputs_dimension(c->o->outputs, i);
        d.soft = 0;
        name[n + i] = dae_problem_copy(p, dae_outputs_name(c->o->outputs, i));
        unit[n + i] = dae_equation_unit(p, &d);
    }
    c->columns = p->derived.columns;
    c->ncolumn = n;
    p->derived.ncolumn = n + more;
    p->derived.column = name;
    p->derived.unit = unit;
    p->derived.columns = columns;
    return 1;
}

/* ---- Options, reference, plot ------------------------------------------------------------------------------- */

static double own_tolerance(const dae_model *m, const char *name, int relative)
{
    int j = name ? dae_model_find_variable(m, name) : -1;
    return j < 0 ? 0 : relative ? m->variable[j].rtol : m->variable[j].atol;
}

static const double *factors(dae_problem *p, const dae_model *m, int relative, double all, const double *old)
{
    int n = dae_system_size(&p->system), any = old != NULL;
    for (int i = 0; i < n; i++) any |= own_tolerance(m, p->component[i], relative) > 0;
    double *factor = any ? dae_problem_reals(p, n) : NULL;
    for (int i = 0; factor && i < n; i++) {
        double own = own_tolerance(m, p->component[i], relative);
        factor[i] = own > 0 ? own / all : old ? old[i] : 1;
    }
    return factor;
}

/* What the equations do not say is as the model says. */
static void set_options(dae_problem *p, const dae_model *m, dae_messages *messages)
{
    double rtol = 0, atol = 0;
    for (int k = 0; k < m->nsetting; k++) dae_equation_option(p, &m->setting[k], &rtol, &atol, messages);
    if (rtol > 0 || atol > 0) {
        p->rtol = rtol > 0 ? rtol : atol;
        p->atol = atol > 0 ? atol : rtol;
    }
    p->rtol_factor = factors(p, m, 1, p->rtol, p->rtol_factor);
    p->atol_factor = factors(p, m, 0, p->atol, p->atol_factor);
}

static void set_reference(dae_problem *p, const dae_model *m)
{
    int n = dae_system_size(&p->system), found = 0;
    if (!m->nreference || m->reference_t != m->t1) return;
    double *y = dae_problem_reals(p, n);
    unsigned char *scored = dae_problem_take(p, (size_t)n, 1);
    for (int i = 0; y && i < n; i++) y[i] = NAN;
    for (int k = 0; y && scored && k < m->nreference; k++) {
        int i = dae_component_find(p, m->reference[k].name);
        if (i < 0) continue;
        y[i] = m->reference[k].value;
        scored[i] = 1;
        found = 1;
    }
    if (!found) return;
    p->reference = y;
    p->scored = scored;
    p->reference_digits = m->reference_digits > 0 ? m->reference_digits : 12;
    p->reference_source =
        m->reference_source[0] ? dae_problem_copy(p, m->reference_source) : "given in the file";
}

static void set_plot(dae_problem *p, const dae_model *m)
{
    int *component = m->nplot ? dae_problem_ints(p, m->nplot) : NULL;
    for (int k = 0; component && k < m->nplot; k++) component[k] = dae_component_find(p, m->plot[k].name);
    if (component) dae_equation_plot(p, m, component);
}

dae_problem *dae_coupled_problem(dae_problem *holder, dae_equation_object *o, int changed,
                                 dae_messages *messages, dae_error *err)
{
    const dae_model *m = o->m;
    const dae_model_mechanism *x = m->mechanism;
    const char *prefix = x->name;
    coupled *c = make(holder, o, messages);
    dae_problem *p = c ? mbs_problem_create_with(x->model, &c->base, err) : NULL;
    dae_problem_info *info = p ? dae_problem_take(p, 1, sizeof *info) : NULL;
    if (!info) {
        dae_problem_destroy(p);
        return NULL;
    }
    *info = *p->info;
    info->name = dae_problem_copy(p, m->name);
    info->title = dae_problem_copy(p, m->title[0] ? m->title : m->name);
    info->origin = "equation file";
    p->info = info;
    p->source = "equations";
    name_parameters(p, c, prefix, info);
    int good = name_components(p, c, prefix) && name_columns(p, c, prefix) && set_events(p, c, prefix) &&
               dae_equation_instants(p, o, messages);
    if (good) {
        set_options(p, m, messages);
        if (!changed) set_reference(p, m);
        set_plot(p, m);
    }
    if (good && !dae_problem_exhausted(p) && !messages->count && !dae_graph_failed(m->graph)) return p;
    dae_problem_destroy(p);
    return NULL;
}
