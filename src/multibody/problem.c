/* A model as a problem: initial values, interval, tolerances, names, events. */
#include "multibody/acceleration.h"
#include "multibody/analyses.h"
#include "multibody/external.h"
#include "multibody/forces/contact.h"

#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A rebound slower than this (m/s, rad/s) ends in rest, if the event says nothing; ours. */
#define REST_SPEED 1e-4
/* Without rest (nothing pushes the bodies together) such rebounds end the run if they are slower than this; ours. */
#define SLOWEST_REBOUND 1e-6

static void destroy_mechanism(void *object)
{
    mbs_mechanism_destroy(object);
}

const mbs_mechanism *mbs_problem_mechanism(const dae_problem *p)
{
    return dae_problem_object(p, destroy_mechanism);
}

#define MOST_DRAWN 6 /* sensors and coordinates in a picture of a run, sensors first; ours */

/* ---- Names ------------------------------------------------------------------------------------------- */

static const char *joined(dae_problem *p, const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 2;
    char *s = dae_problem_take(p, n, 1);
    if (s) snprintf(s, n, "%s.%s", a, b);
    return s;
}

/* Names of four states of stick, slip or rest. */
static void name_switch(dae_problem *p, const mbs_mechanism *m, const char *object, int u,
                        const char *const part[4], const char **name, const char **unit)
{
    static const char *const units[] = {"", "", "", ""};
    if (u < 0) return;
    for (int i = 0; i < 4; i++) {
        name[m->np + m->nv + u + i] = joined(p, object, part[i]);
        unit[m->np + m->nv + u + i] = units[i];
    }
}

static dae_status set_names(dae_problem *p, const mbs_mechanism *m)
{
    static const char *const grip[] = {"mode", "anchor", "k", "c"}, *const touch[] = {"mode", "zx", "zy",
                                                                                      "zz"};
    static const char *const planar[] = {"x", "y", "angle", "vx", "vy", "omega"};
    static const char *const planar_unit[] = {"m", "m", "rad", "m/s", "m/s", "rad/s"};
    static const char *const spatial[] = {"x",  "y",  "z",  "q.w",     "q.x",     "q.y",    "q.z",
                                          "vx", "vy", "vz", "omega.x", "omega.y", "omega.z"};
    static const char *const spatial_unit[] = {"m",   "m",   "m",   "",      "",      "",     "",
                                               "m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"};
    size_t n = (size_t)(m->np + m->nv + m->nu);
    const char **name = dae_problem_take(p, n, sizeof *name), **unit = dae_problem_take(p, n, sizeof *unit);
    int *plot = dae_problem_ints(p, m->nbody * 3);
    if (!name || !unit || !plot) return DAE_ERR_MEMORY;
    for (int k = 0; k < m->nbody; k++) {
        for (int i = 0; i < m->bp + m->bv; i++) {
            int at = i < m->bp ? k * m->bp + i : m->np + k * m->bv + i - m->bp;
            name[at] = joined(p, m->model->body[k].name, m->planar ? planar[i] : spatial[i]);
            unit[at] = m->planar ? planar_unit[i] : spatial_unit[i];
        }
        for (int i = 0; i < 3 && k < 4; i++) plot[p->nplot++] = k * m->bp + i;
    }
    for (int k = 0; k < m->nforce; k++) {
        if (m->force[k].u < 0) continue;
        const char *word = m->force[k].type->state_names;
        for (int i = 0; i < m->force[k].type->states; i++) {
            char state[32], of[64];
            int length = (int)strcspn(word, " "), at = m->np + m->nv + m->force[k].u + i;
            snprintf(state, sizeof state, "%.*s", length, word);
            name[at] = joined(p, m->force[k].model->name, state);
            mbs_state_unit(&m->force[k], i, of, sizeof of);
            char *kept = dae_problem_take(p, strlen(of) + 1, 1);
            if (!kept) return DAE_ERR_MEMORY;
            unit[at] = memcpy(kept, of, strlen(of) + 1);
            word += length + (word[length] == ' ');
        }
    }
    for (int k = 0; k < m->njoint; k++)
        name_switch(p, m, m->joint[k].model->name, m->joint[k].grip, grip, name, unit);
    for (int k = 0; k < m->nforce; k++)
        name_switch(p, m, m->force[k].model->name, m->force[k].grip, touch, name, unit);
    for (int k = 0; k < m->model->nevent; k++)
        name_switch(p, m, m->model->event[k].name, m->rest[k], grip, name, unit);
    const char **constraint = dae_problem_take(p, (size_t)m->nlambda + 1, sizeof *constraint);
    for (int k = 0; constraint && k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        for (int i = 0; i < r->count; i++) {
            if (r->system[i] >= 0) constraint[r->system[i]] = mbs_row_name(m, r->first + i, NULL);
        }
    }
    p->constraint = constraint;
    p->component = name;
    p->unit = unit;
    p->time_unit = "s";
    p->plot = plot;
    int *drawn = m->model->nsensor ? dae_problem_ints(p, m->model->nsensor + p->nplot) : NULL;
    if (!drawn) return dae_problem_exhausted(p) ? DAE_ERR_MEMORY : DAE_OK;
    for (int k = 0; k < m->model->nsensor; k++) drawn[p->ndrawn++] = (int)n + k; /* the first columns */
    for (int k = 0; k < p->nplot && p->ndrawn < MOST_DRAWN; k++) drawn[p->ndrawn++] = plot[k];
    p->drawn = drawn;
    return dae_problem_exhausted(p) ? DAE_ERR_MEMORY : DAE_OK;
}

/* ---- Events ------------------------------------------------------------------------------------------ */

/* Accelerations, reactions and sensors that belong to the state, for events of them; 0: fine. The memory is the caller's to free. */
static int put_reactions(const mbs_mechanism *m, mbs_context *x, const double *y, double **memory)
{
    double *a = calloc((size_t)(m->nv + m->nlambda + m->nrow + m->model->nsensor) + 1, sizeof *a),
           *lambda = a ? a + m->nv : NULL, *all = a ? lambda + m->nlambda : NULL,
           *sensor = a ? all + m->nrow : NULL;
    *memory = a;
    int s = a ? mbs_mechanism_acceleration(m, x->t, y, a, lambda, NULL) : DAE_ERR_MEMORY;
    if (!s)
        s = mbs_all_multipliers(x, lambda, all) ? 1
                                                : mbs_mechanism_sensors(m, x->t, y, a, lambda, sensor, NULL);
    if (s) return s == DAE_ERR_MEMORY ? s : 1;
    x->a = a;
    x->lambda = lambda;
    x->reaction = all;
    x->sensor = sensor;
    return 0;
}

/* The events of the model, then those of stick, slip and rest. The impact of a contact that rests is switched off. */
static int switching(double t, const double *y, const double *yp, double *phi, void *user)
{
    const mbs_mechanism *m = user;
    double *memory = NULL;
    (void)yp;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    int bad = m->event_reactions ? put_reactions(m, &x, y, &memory) : 0;
    if (bad) {
        mbs_end(&x);
        free(memory);
        return bad;
    }
    for (int k = 0; k < m->model->nevent; k++)
        phi[k] = m->rest[k] >= 0 && mbs_mode(x.u + m->rest[k]) ? 0 : mbs_expression_at(&x, m->event[k]);
    mbs_end(&x);
    free(memory);
    return mbs_switch_values(m, t, y, phi + m->model->nevent);
}

static int on_impact(const mbs_mechanism *m, int i, double t, double *y)
{
    const mbs_event *e = &m->model->event[i];
    double rebound, slow = e->rest_speed > 0 ? e->rest_speed : REST_SPEED;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    double approach = mbs_coordinate_rate(&x, &m->impact[i]);
    mbs_end(&x);
    int rests = m->rest[i] >= 0 && e->restitution * fabs(approach) < slow;
    dae_status s = mbs_impact(m, t, y, &m->impact[i], rests ? 0 : e->restitution, &rebound);
    if (s < 0) return s;
    int held = rests ? mbs_switch_rest(m, i, t, y, approach > 0 ? -1 : 1) : 0;
    if (held) return held < 0 ? held : DAE_EVENT_RESTART;
    return !rests && rebound < SLOWEST_REBOUND && e->restitution > 0 ? DAE_EVENT_STOP : DAE_EVENT_RESTART;
}

static int on_event(int i, double t, int rising, double *y, double *yp, void *user)
{
    const mbs_mechanism *m = user;
    (void)rising;
    (void)yp;
    if (i >= m->model->nevent) {
        int starved = mbs_switch_act(m, i - m->model->nevent, t, y);
        return starved ? starved : DAE_EVENT_RESTART;
    }
    if (m->impact[i].kind == MBS_NO_COORDINATE) return DAE_EVENT_GO_ON;
    return on_impact(m, i, t, y);
}

static dae_status set_events(dae_problem *p, mbs_mechanism *m)
{
    const mbs_model *model = m->model;
    int more = mbs_switch_count(m), count = model->nevent + more;
    if (!count) return DAE_OK;
    dae_event *event = dae_problem_take(p, (size_t)count, sizeof *event);
    dae_events *events = dae_problem_take(p, 1, sizeof *events);
    if (!event || !events) return DAE_ERR_MEMORY;
    for (int k = 0; k < model->nevent; k++) {
        const mbs_event *e = &model->event[k];
        event[k] = (dae_event){.name = e->name, .direction = e->direction, .terminal = e->stop && !e->impact};
    }
    for (int k = 0; k < more; k++) {
        const char *object, *what;
        dae_event *e = &event[model->nevent + k];
        mbs_switch_describe(m, k, &object, &what, &e->direction);
        e->name = joined(p, object, what);
        if (!e->name) return DAE_ERR_MEMORY;
    }
    *events = (dae_events){.count = count,
                           .event = event,
                           .phi = switching,
                           .action = on_event,
                           .check_points = 3,
                           .user = m,
                           .no_slope = 1};
    p->events = events;
    return DAE_OK;
}

static dae_status list_parameters(dae_problem *p, const mbs_model *m, dae_problem_info *info)
{
    dae_parameter *list = dae_problem_take(p, (size_t)m->nparameter + 1, sizeof *list);
    double *value = dae_problem_reals(p, m->nparameter + 1);
    for (int k = 0; list && value && k < m->nparameter; k++) {
        char unit[64] = "";
        dae_dimension_text(&m->parameter[k].dimension, unit, sizeof unit);
        if (!strcmp(unit, "1")) unit[0] = 0;
        value[k] = m->parameter[k].value;
        list[k] = (dae_parameter){.name = m->parameter[k].name, .value = value[k], .min = 1, .max = 0};
        list[k].unit = dae_problem_copy(p, unit);
    }
    info->parameter = list;
    p->parameter = value;
    return dae_problem_exhausted(p) ? DAE_ERR_MEMORY : DAE_OK;
}

/* Those of the mechanism, and every given velocity that assembly had to change. */
static dae_status list_warnings(dae_problem *p, const mbs_mechanism *m, const double *y0)
{
    size_t count = 0, changed = 0, i = 0;
    char text[256];
    while (mbs_mechanism_warning(m, (int)count)) count++;
    for (int k = 0; (k = mbs_mechanism_changed_velocity(m, y0, k, text, sizeof text)) > 0;) changed++;
    const char **list = dae_problem_take(p, count + changed + 1, sizeof *list);
    for (; list && i < count; i++) list[i] = mbs_mechanism_warning(m, (int)i);
    for (int k = 0; list && (k = mbs_mechanism_changed_velocity(m, y0, k, text, sizeof text)) > 0;)
        list[i++] = dae_problem_copy(p, text);
    p->warning = list;
    return list && !dae_problem_exhausted(p) ? DAE_OK : DAE_ERR_MEMORY;
}

/* ---- Stiffness ----------------------------------------------------------------------------------------- */

/* The fastest motion that a contact can bring to the lightest body: |lambda| of m x'' + c x' + k x = 0, if it decays by e^-10 in
 * the interval; else every method has to follow the rebounds. At the start a contact that is open cannot be felt. */
static double fastest_contact(const mbs_mechanism *m, double interval)
{
    double mass = INFINITY, rate = 0;
    for (int k = 0; k < m->nbody; k++) {
        if (m->mass[k] > 0) mass = fmin(mass, m->mass[k]);
    }
    for (int k = 0; k < m->nforce; k++) {
        if (strcmp(m->force[k].type->name, "contact") != 0) continue;
        const mbs_contact *f = m->force[k].own;
        if (!(f->c / (2 * mass) * interval > 10)) continue;
        rate = fmax(rate, fmax(sqrt(f->k / mass), f->c / mass));
    }
    return rate;
}

/* ---- Life -------------------------------------------------------------------------------------------- */

static dae_status tolerate(dae_problem *p, const mbs_simulation *s, dae_error *err)
{
    dae_error own = {0};
    dae_status status = dae_problem_set_tolerances(p, s->tolerance, s->ntolerance, &own);
    return status < 0 ? dae_fail(err, status, NAN, "simulation: %s", own.text) : DAE_OK;
}

static dae_status fill(dae_problem *p, mbs_mechanism *m, dae_error *err)
{
    const mbs_simulation *s = &m->model->simulation;
    int n = dae_system_size(&m->system);
    double *y0 = dae_problem_reals(p, n);
    dae_problem_info *info = dae_problem_take(p, 1, sizeof *info);
    if (!y0 || !info || set_names(p, m) || set_events(p, m) || list_parameters(p, m->model, info) ||
        mbs_problem_derive(p, m))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    double t_end = s->t1 > s->t0 ? s->t1 : s->t0 + 1;
    dae_status status = mbs_mechanism_initial(m, y0, err);
    if (status >= 0) status = mbs_check_motions(m, s->t0, t_end, err);
    if (status < 0) return status;
    const char *bad = mbs_undefined_force(m, s->t0, y0, 0);
    if (bad)
        return dae_fail(err, DAE_ERR_UNDEFINED, s->t0,
                        "t = %g: force \"%s\" has no value at the start (not a number, or infinite)", s->t0,
                        bad);
    if (list_warnings(p, m, y0)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    info->name = m->model->name;
    info->title = m->model->doc ? m->model->doc : m->model->name;
    info->kind = DAE_KIND_MECH;
    info->n = n;
    info->index = m->nlambda ? 3 : 0;
    p->info = info;
    p->source = "model";
    p->doc = m->model->doc;
    p->system = m->system;
    p->t0 = s->t0;
    p->t_end = t_end;
    p->y0 = y0;
    p->rtol = s->rtol > 0 ? s->rtol : 1e-6;
    p->atol = s->atol > 0 ? s->atol : s->rtol > 0 ? s->rtol : 1e-6;
    p->h0 = s->h0;
    p->h_max = s->h_max;
    p->fastest = fastest_contact(m, p->t_end - p->t0);
    p->every = s->every;
    p->method = s->solver;
    p->formulation = s->formulation;
    return s->ntolerance ? tolerate(p, s, err) : DAE_OK;
}

dae_problem *mbs_problem_create(const mbs_model *model, dae_error *err)
{
    return mbs_problem_create_with(model, NULL, err);
}

dae_problem *mbs_problem_create_with(const mbs_model *model, mbs_external *external, dae_error *err)
{
    mbs_mechanism *m = mbs_mechanism_create_with(model, external, err);
    dae_problem *p = m ? dae_problem_new("of a model", err) : NULL;
    if (p) dae_problem_own(p, m, destroy_mechanism);
    else mbs_mechanism_destroy(m);
    if (p && fill(p, m, err) >= 0) return p;
    dae_problem_destroy(p);
    return NULL;
}

dae_problem *mbs_problem_parse(const char *json, size_t length, const char *file, const dae_setting *setting,
                               int nsetting, dae_error *err)
{
    dae_error own = {0};
    mbs_model *m = mbs_model_parse_file(json, length, file, setting, nsetting, &own);
    dae_problem *p = m ? mbs_problem_create(m, &own) : NULL;
    if (p) p->hash = m->files;
    mbs_model_destroy(m);
    if (!p) dae_fail(err, own.status, own.t, "%s%s%s", file ? file : "", file ? ": " : "", own.text);
    return p;
}
