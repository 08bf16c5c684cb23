/* A model as a problem: initial values, interval, tolerances, names, events. */
#include "multibody/mechanism.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rebound slower than this (m/s, rad/s) ends in rest, if the event says nothing; ours. */
#define REST_SPEED 1e-4
/* Without rest (nothing pushes the bodies together) such rebounds end the run if they are slower than this; ours. */
#define SLOWEST_REBOUND 1e-6

struct mbs_problem {
    dae_problem problem;
    dae_problem_info info;
    dae_arena *arena;
    mbs_mechanism *c;
    double *y0;
    dae_events events;
    dae_event *event;
    dae_parameter *parameter;
};

/* ---- Names ------------------------------------------------------------------------------------------- */

static const char *joined(mbs_problem *p, const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 2;
    char *s = dae_arena_take(p->arena, n, 1);
    if (s) snprintf(s, n, "%s.%s", a, b);
    return s;
}

/* Names of four states of stick, slip or rest. */
static void name_switch(mbs_problem *p, const char *object, int u, const char *const part[4],
                        const char **name, const char **unit)
{
    static const char *const units[] = {"", "", "", ""};
    if (u < 0) return;
    for (int i = 0; i < 4; i++) {
        name[p->c->np + p->c->nv + u + i] = joined(p, object, part[i]);
        unit[p->c->np + p->c->nv + u + i] = units[i];
    }
}

static dae_status set_names(mbs_problem *p)
{
    static const char *const grip[] = {"mode", "anchor", "k", "c"}, *const touch[] = {"mode", "zx", "zy",
                                                                                      "zz"};
    static const char *const planar[] = {"x", "y", "angle", "vx", "vy", "omega"};
    static const char *const planar_unit[] = {"m", "m", "rad", "m/s", "m/s", "rad/s"};
    static const char *const spatial[] = {"x",  "y",  "z",  "q.w",     "q.x",     "q.y",    "q.z",
                                          "vx", "vy", "vz", "omega.x", "omega.y", "omega.z"};
    static const char *const spatial_unit[] = {"m",   "m",   "m",   "",      "",      "",     "",
                                               "m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"};
    const mbs_mechanism *m = p->c;
    size_t n = (size_t)(m->np + m->nv + m->nu);
    const char **name = dae_arena_take(p->arena, n, sizeof *name),
               **unit = dae_arena_take(p->arena, n, sizeof *unit);
    int *plot = dae_arena_ints(p->arena, (size_t)m->nbody * 3);
    if (!name || !unit || !plot) return DAE_ERR_MEMORY;
    for (int k = 0; k < m->nbody; k++) {
        for (int i = 0; i < m->bp + m->bv; i++) {
            int at = i < m->bp ? k * m->bp + i : m->np + k * m->bv + i - m->bp;
            name[at] = joined(p, m->model->body[k].name, m->planar ? planar[i] : spatial[i]);
            unit[at] = m->planar ? planar_unit[i] : spatial_unit[i];
        }
        for (int i = 0; i < 3 && k < 4; i++) plot[p->problem.nplot++] = k * m->bp + i;
    }
    for (int k = 0; k < m->nforce; k++) {
        if (m->force[k].u < 0) continue;
        name[m->np + m->nv + m->force[k].u] = joined(p, m->force[k].model->name, "current");
        unit[m->np + m->nv + m->force[k].u] = "A";
    }
    for (int k = 0; k < m->njoint; k++)
        name_switch(p, m->joint[k].model->name, m->joint[k].grip, grip, name, unit);
    for (int k = 0; k < m->nforce; k++)
        name_switch(p, m->force[k].model->name, m->force[k].grip, touch, name, unit);
    for (int k = 0; k < m->model->nevent; k++)
        name_switch(p, m->model->event[k].name, m->rest[k], grip, name, unit);
    p->problem.component = name;
    p->problem.unit = unit;
    p->problem.time_unit = "s";
    p->problem.plot = plot;
    return dae_arena_failed(p->arena) ? DAE_ERR_MEMORY : DAE_OK;
}

/* ---- Events ------------------------------------------------------------------------------------------ */

/* The events of the model, then those of stick, slip and rest. The impact of a contact that rests is switched off. */
static int switching(double t, const double *y, const double *yp, double *phi, void *user)
{
    const mbs_mechanism *m = ((const mbs_problem *)user)->c;
    (void)yp;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    for (int k = 0; k < m->model->nevent; k++)
        phi[k] = m->rest[k] >= 0 && mbs_mode(x.u + m->rest[k]) ? 0 : mbs_expression_at(&x, m->event[k]);
    mbs_end(&x);
    mbs_switch_values(m, t, y, phi + m->model->nevent);
    return 0;
}

static int on_impact(const mbs_mechanism *m, int i, double t, double *y)
{
    const mbs_event *e = &m->model->event[i];
    double rebound, slow = e->rest_speed > 0 ? e->rest_speed : REST_SPEED;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    double approach = mbs_coordinate_rate(&x, &m->impact[i]);
    mbs_end(&x);
    int rests = m->rest[i] >= 0 && e->restitution * fabs(approach) < slow;
    if (mbs_impact(m, t, y, &m->impact[i], rests ? 0 : e->restitution, &rebound) < 0) return -1;
    if (rests && mbs_switch_rest(m, i, t, y, approach > 0 ? -1 : 1)) return DAE_EVENT_RESTART;
    return !rests && rebound < SLOWEST_REBOUND && e->restitution > 0 ? DAE_EVENT_STOP : DAE_EVENT_RESTART;
}

static int on_event(int i, double t, int rising, double *y, double *yp, void *user)
{
    const mbs_mechanism *m = ((const mbs_problem *)user)->c;
    (void)rising;
    (void)yp;
    if (i >= m->model->nevent) {
        mbs_switch_act(m, i - m->model->nevent, t, y);
        return DAE_EVENT_RESTART;
    }
    if (m->impact[i].kind == MBS_NO_COORDINATE) return DAE_EVENT_GO_ON;
    return on_impact(m, i, t, y);
}

static dae_status set_events(mbs_problem *p)
{
    const mbs_model *model = p->c->model;
    int more = mbs_switch_count(p->c), count = model->nevent + more;
    if (!count) return DAE_OK;
    p->event = dae_arena_take(p->arena, (size_t)count, sizeof *p->event);
    if (!p->event) return DAE_ERR_MEMORY;
    for (int k = 0; k < model->nevent; k++) {
        const mbs_event *e = &model->event[k];
        p->event[k] =
            (dae_event){.name = e->name, .direction = e->direction, .terminal = e->stop && !e->impact};
    }
    for (int k = 0; k < more; k++) {
        const char *object, *what;
        dae_event *e = &p->event[model->nevent + k];
        mbs_switch_describe(p->c, k, &object, &what, &e->direction);
        e->name = joined(p, object, what);
        if (!e->name) return DAE_ERR_MEMORY;
    }
    p->events = (dae_events){.count = count,
                             .event = p->event,
                             .phi = switching,
                             .action = on_event,
                             .check_points = 3,
                             .user = p};
    return DAE_OK;
}

static dae_status list_parameters(mbs_problem *p)
{
    const mbs_model *m = p->c->model;
    p->parameter = dae_arena_take(p->arena, (size_t)m->nparameter + 1, sizeof *p->parameter);
    for (int k = 0; p->parameter && k < m->nparameter; k++) {
        char unit[64] = "";
        dae_dimension_text(&m->parameter[k].dimension, unit, sizeof unit);
        if (!strcmp(unit, "1")) unit[0] = 0;
        p->parameter[k] =
            (dae_parameter){.name = m->parameter[k].name, .value = m->parameter[k].value, .min = 1, .max = 0};
        p->parameter[k].unit = dae_arena_copy(p->arena, unit, strlen(unit) + 1, 1);
    }
    return dae_arena_failed(p->arena) ? DAE_ERR_MEMORY : DAE_OK;
}

/* ---- Life -------------------------------------------------------------------------------------------- */

mbs_problem *mbs_problem_create(const mbs_model *model, dae_error *err)
{
    mbs_problem *p = calloc(1, sizeof *p);
    if (p) p->arena = dae_arena_create();
    if (!p || !p->arena) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        goto fail;
    }
    p->c = mbs_mechanism_create(model, err);
    if (!p->c) goto fail;
    const mbs_mechanism *m = p->c;
    const mbs_simulation *s = &m->model->simulation;
    p->y0 = dae_arena_reals(p->arena, (size_t)dae_system_size(&m->system));
    if (!p->y0 || set_names(p) || set_events(p) || list_parameters(p)) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        goto fail;
    }
    if (mbs_mechanism_initial(m, p->y0, err) < 0) goto fail;
    p->info = (dae_problem_info){.name = m->model->name,
                                 .title = m->model->doc ? m->model->doc : m->model->name,
                                 .kind = DAE_KIND_MECH,
                                 .n = dae_system_size(&m->system),
                                 .index = m->nlambda ? 3 : 0};
    p->problem.info = &p->info;
    p->problem.system = m->system;
    p->problem.t0 = s->t0;
    p->problem.t_end = s->t1 > s->t0 ? s->t1 : s->t0 + 1;
    p->problem.y0 = p->y0;
    p->problem.rtol = s->rtol > 0 ? s->rtol : 1e-6;
    p->problem.atol = s->atol > 0 ? s->atol : s->rtol > 0 ? s->rtol : 1e-6;
    p->problem.h0 = s->h0;
    return p;
fail:
    mbs_problem_destroy(p);
    return NULL;
}

void mbs_problem_destroy(mbs_problem *p)
{
    if (!p) return;
    mbs_mechanism_destroy(p->c);
    dae_arena_destroy(p->arena);
    free(p);
}

const dae_problem *mbs_problem_get(const mbs_problem *p)
{
    return p ? &p->problem : NULL;
}

const dae_parameter *mbs_problem_parameters(const mbs_problem *p)
{
    return p ? p->parameter : NULL;
}

const mbs_mechanism *mbs_problem_mechanism(const mbs_problem *p)
{
    return p ? p->c : NULL;
}

const dae_events *mbs_problem_events(const mbs_problem *p)
{
    return p && p->events.count ? &p->events : NULL;
}

const char *mbs_problem_solver(const mbs_problem *p)
{
    return p->c->model->simulation.solver;
}

const char *mbs_problem_formulation(const mbs_problem *p)
{
    return p->c->model->simulation.formulation;
}

double mbs_problem_every(const mbs_problem *p)
{
    return p->c->model->simulation.every;
}

double mbs_problem_h_max(const mbs_problem *p)
{
    return p->c->model->simulation.h_max;
}
