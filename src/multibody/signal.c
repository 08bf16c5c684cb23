/* Signals: what expressions of a model can name, their values and derivatives.
 *
 *   t, parameters, inputs
 *   body.x .y .z .angle .vx .vy .vz .omega (space: .omega.x ...), .q.w .q.x .q.y .q.z, .rotation.x .cardan.x .euler.phi (... .theta .psi)
 *   point.x .y .z .vx .vy .vz
 *   joint.value .speed .angle .slide .length .angle_rate .slide_rate .length_rate
 *   force.force .power .deflection .fx .fy .fz (on b); motor.current; block.value and its states; local names of a force (length, rate, ...)
 *   sensors and events: body.ax .ay .az .alpha, point.ax ..., joint.reaction.x ..., .force, .torque, driver.force,
 *                 energy.kinetic .potential .total, sensors declared before */
#include "core/number.h"
#include "language/dimension.h"
#include "multibody/analyses.h"
#include "multibody/build.h"
#include "multibody/dual.h"
#include "multibody/external.h"
#include "multibody/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const dae_dimension ampere = {{0, 0, 0, 1}, DAE_IMPLIED};

/* ---- Names ------------------------------------------------------------------------------------------- */

typedef struct lookup {
    mbs_builder *b;
    int purpose;
    int refused; /* 1: a signal that this purpose may not use was named */
    int derived; /* 1: one that needs accelerations or reactions was */
    int later;   /* 1: a force that is declared after the present one was */
    int starved; /* memory ran out */
} lookup;

static int axis_of(const char *s)
{
    return s[0] && !s[1] && s[0] >= 'x' && s[0] <= 'z' ? s[0] - 'x' : -1;
}

/* Orientation of a spatial body: .rotation.x, .cardan.x, .euler.phi, ... */
static int orientation_signal(const char *field, mbs_signal *s)
{
    static const char *const euler[] = {"euler.phi", "euler.theta", "euler.psi"};
    for (int k = 0; k < 3; k++) {
        if (strcmp(field, euler[k]) != 0) continue;
        s->kind = MBS_BODY_EULER, s->component = k;
        return 1;
    }
    int turn = !strncmp(field, "rotation.", 9), cardan = !strncmp(field, "cardan.", 7);
    s->kind = turn ? MBS_BODY_ROTATION : MBS_BODY_CARDAN;
    s->component = turn || cardan ? axis_of(field + (turn ? 9 : 7)) : -1;
    return s->component >= 0;
}

static int body_signal(const mbs_mechanism *m, const char *field, mbs_signal *s)
{
    int k = axis_of(field);
    if (k >= 0 && (k < 2 || !m->planar)) {
        s->kind = MBS_BODY_POSITION;
    } else if (field[0] == 'v' && (k = axis_of(field + 1)) >= 0 && (k < 2 || !m->planar)) {
        s->kind = MBS_BODY_VELOCITY;
    } else if (field[0] == 'a' && (k = axis_of(field + 1)) >= 0 && (k < 2 || !m->planar)) {
        s->kind = MBS_BODY_ACCELERATION;
    } else if (!strcmp(field, "angle") && m->planar) {
        s->kind = MBS_BODY_ANGLE, k = 0;
    } else if (!strcmp(field, "omega") && m->planar) {
        s->kind = MBS_BODY_OMEGA, k = 2;
    } else if (!strcmp(field, "alpha") && m->planar) {
        s->kind = MBS_BODY_ALPHA, k = 2;
    } else if (!strncmp(field, "omega.", 6) && !m->planar && (k = axis_of(field + 6)) >= 0) {
        s->kind = MBS_BODY_OMEGA;
    } else if (!strncmp(field, "alpha.", 6) && !m->planar && (k = axis_of(field + 6)) >= 0) {
        s->kind = MBS_BODY_ALPHA;
    } else if (!strncmp(field, "q.", 2) && !m->planar) {
        k = !strcmp(field, "q.w") ? 0 : axis_of(field + 2) + 1;
        s->kind = MBS_BODY_QUATERNION;
        if (k == 0 && strcmp(field, "q.w") != 0) return 0;
    } else {
        return !m->planar && orientation_signal(field, s);
    }
    s->component = k;
    return 1;
}

static int point_signal(const mbs_mechanism *m, const char *field, mbs_signal *s)
{
    int moves = field[0] == 'v' ? 1 : field[0] == 'a' ? 2 : 0;
    s->component = axis_of(field + (moves > 0));
    s->kind = moves == 0 ? MBS_POINT_POSITION : moves == 1 ? MBS_POINT_VELOCITY : MBS_POINT_ACCELERATION;
    return s->component >= 0 && (s->component < 2 || !m->planar);
}

static int joint_signal(const mbs_mechanism *m, const mbs_joint_data *j, const char *field, mbs_signal *s)
{
    static const struct {
        const char *name;
        mbs_signal_kind kind;
        int component;
    } list[] = {{"angle", MBS_JOINT_COORDINATE, MBS_ANGLE},   {"slide", MBS_JOINT_COORDINATE, MBS_SLIDE},
                {"length", MBS_JOINT_COORDINATE, MBS_LENGTH}, {"angle_rate", MBS_JOINT_RATE, MBS_ANGLE},
                {"slide_rate", MBS_JOINT_RATE, MBS_SLIDE},    {"length_rate", MBS_JOINT_RATE, MBS_LENGTH},
                {"reaction.x", MBS_JOINT_REACTION, 0},        {"reaction.y", MBS_JOINT_REACTION, 1},
                {"reaction.z", MBS_JOINT_REACTION, 2},        {"reaction.mx", MBS_JOINT_REACTION, 3},
                {"reaction.my", MBS_JOINT_REACTION, 4},       {"reaction.mz", MBS_JOINT_REACTION, 5},
                {"reaction.force", MBS_JOINT_REACTION, 6},    {"reaction.torque", MBS_JOINT_REACTION, 7}};
    (void)m;
    if (!strcmp(field, "value") || !strcmp(field, "speed")) {
        if (j->main == MBS_NO_COORDINATE) return 0;
        s->kind = field[0] == 'v' ? MBS_JOINT_COORDINATE : MBS_JOINT_RATE;
        s->component = (int)j->main;
        return 1;
    }
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (strcmp(list[i].name, field) != 0) continue;
        s->kind = list[i].kind;
        s->component = list[i].component;
        return 1;
    }
    return 0;
}

static int local_number(const char *names, const char *name)
{
    int k = 0;
    for (const char *w = names; w && *w; k++) {
        size_t n = strcspn(w, " ");
        if (strlen(name) == n && !memcmp(w, name, n)) return k;
        w += n + (w[n] == ' ');
    }
    return -1;
}

static int force_signal(const mbs_mechanism *m, int k, const char *field, mbs_signal *s)
{
    static const char *const list[] = {"force", "power", "deflection", "fx", "fy", "fz"};
    const mbs_force_data *f = &m->force[k];
    int state = f->u >= 0 ? local_number(f->type->state_names, field) : -1;
    if (state >= 0) {
        *s = (mbs_signal){MBS_STATE, f->u + state, strcmp(field, "current") != 0};
        return 1;
    }
    if (f->type->output) {
        *s = (mbs_signal){MBS_FORCE_SIGNAL, k, MBS_FORCE_OUTPUT};
        return !strcmp(field, "value");
    }
    for (int i = 0; i < (m->planar ? 5 : 6); i++) {
        if (strcmp(list[i], field) != 0) continue;
        *s = (mbs_signal){MBS_FORCE_SIGNAL, k, i};
        return i != MBS_FORCE_DEFLECTION || f->type->measure;
    }
    return 0;
}

static int named_signal(const lookup *l, const char *name, mbs_signal *s)
{
    const mbs_mechanism *m = l->b->m;
    const char *dot = strchr(name, '.');
    char head[64];
    if (!strcmp(name, "t")) {
        s->kind = MBS_TIME;
        return 1;
    }
    int k = local_number(l->b->locals, name);
    if (k >= 0) {
        *s = (mbs_signal){MBS_LOCAL, k, 0};
        return 1;
    }
    if (!dot) {
        for (k = 0; l->purpose >= MBS_FOR_SENSOR && k < m->model->nsensor && m->sensor && m->sensor[k] >= 0;
             k++) {
            if (strcmp(m->model->sensor[k].name, name) != 0) continue;
            *s = (mbs_signal){MBS_SENSOR, k, 0};
            return 1;
        }
        return 0;
    }
    snprintf(head, sizeof head, "%.*s", (int)(dot - name), name);
    if ((s->object = mbs_find_body(m->model, head)) > 0) return body_signal(m, dot + 1, s);
    s->object = mbs_find_joint(m->model, head);
    if (s->object >= 0 && s->object < m->njoint) return joint_signal(m, &m->joint[s->object], dot + 1, s);
    if ((s->object = mbs_find_point(m->model, head)) >= 0) return point_signal(m, dot + 1, s);
    for (k = 0; k < m->nforce; k++) {
        if (!strcmp(m->force[k].model->name, head)) return force_signal(m, k, dot + 1, s);
    }
    for (k = 0; k < m->model->ndriver; k++) {
        if (strcmp(m->model->driver[k].name, head) != 0 || strcmp(dot, ".force") != 0) continue;
        *s = (mbs_signal){MBS_DRIVER_FORCE, k, 0};
        return 1;
    }
    if (!strcmp(head, "energy")) {
        static const char *const part[] = {".kinetic", ".potential", ".total"};
        for (k = 0; k < 3; k++) {
            if (strcmp(part[k], dot) != 0) continue;
            *s = (mbs_signal){MBS_ENERGY, 0, k};
            return 1;
        }
    }
    return 0;
}

/* The number of a signal in the table of the mechanism, -1: out of memory. */
static int signal_number(mbs_mechanism *m, const mbs_signal *s)
{
    for (int k = 0; k < m->nsignal; k++) {
        const mbs_signal *o = &m->signal[k];
        if (o->kind == s->kind && o->object == s->object && o->component == s->component) return k;
    }
    if (m->nsignal == m->signal_capacity) {
        int capacity = m->signal_capacity ? 2 * m->signal_capacity : 16;
        mbs_signal *longer = realloc(m->signal, (size_t)capacity * sizeof *longer);
        if (!longer) return -1;
        m->signal = longer;
        m->signal_capacity = capacity;
    }
    m->signal[m->nsignal] = *s;
    return m->nsignal++;
}

/* A signal is as good as implied: numbers stand beside it. */
static dae_dimension as_signal(dae_dimension d)
{
    if (!d.soft) d.soft = DAE_IMPLIED;
    return d;
}

/* Of a state in u: the current of a motor, the states of a block. */
static dae_dimension of_state(const mbs_mechanism *m, int u)
{
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force_data *f = &m->force[k];
        int i = f->u >= 0 ? u - f->u : -1;
        if (i >= 0 && i < f->type->states) return f->type->units ? as_signal(f->units.state[i]) : ampere;
    }
    return (dae_dimension){.soft = 1};
}

/* Of a sensor: its expression's; where that is not known, the declared one. */
static dae_dimension of_sensor(const mbs_mechanism *m, int k)
{
    dae_dimension d = dae_expression_dimension(m->expression[m->sensor[k]]), declared;
    const char *unit = m->model->sensor[k].unit;
    double factor;
    if (d.soft != 1 || !unit || !unit[0] || dae_unit_read(unit, strlen(unit), &factor, &declared) ||
        factor != 1)
        return as_signal(d);
    declared.soft = DAE_SCALED;
    return declared;
}

/* Turns about the coordinate that a driver moves. */
static int driver_turns(const mbs_mechanism *m, int driver)
{
    for (int k = 0; k < m->nrows; k++) {
        if (m->row[k].driver == driver) return m->row[k].q[0].kind == MBS_ANGLE;
    }
    return 0;
}

/* 1: the force acts on an angle. */
static int turns(const mbs_force_data *f)
{
    return f->joint >= 0 ? f->q.kind == MBS_ANGLE : (f->type->acts & MBS_ACTS_BODY) != 0;
}

/* Of a signal: implied, so that numbers stand beside it as before, but no other unit. */
static dae_dimension dimension_of(const mbs_builder *b, const mbs_signal *s)
{
    static const signed char length[DAE_BASE_UNITS] = {1}, force[DAE_BASE_UNITS] = {1, 1, -2},
                             torque[DAE_BASE_UNITS] = {2, 1, -2};
    dae_dimension d = {.soft = DAE_IMPLIED};
    const signed char *base = NULL;
    int per_time = 0;
    switch (s->kind) {
    case MBS_TIME: per_time = -1; break;
    case MBS_POINT_POSITION:
    case MBS_BODY_POSITION: base = length; break;
    case MBS_BODY_ANGLE:
    case MBS_BODY_ROTATION:
    case MBS_BODY_CARDAN:
    case MBS_BODY_EULER:
    case MBS_BODY_QUATERNION: break;
    case MBS_POINT_VELOCITY:
    case MBS_BODY_VELOCITY: base = length, per_time = 1; break;
    case MBS_BODY_OMEGA: per_time = 1; break;
    case MBS_POINT_ACCELERATION:
    case MBS_BODY_ACCELERATION: base = length, per_time = 2; break;
    case MBS_BODY_ALPHA: per_time = 2; break;
    case MBS_JOINT_RATE:
    case MBS_JOINT_COORDINATE:
        per_time = s->kind == MBS_JOINT_RATE;
        if (s->component != MBS_ANGLE) base = length;
        break;
    case MBS_STATE: return of_state(b->m, s->object);
    case MBS_SENSOR: return of_sensor(b->m, s->object);
    case MBS_DRIVER_FORCE: base = driver_turns(b->m, s->object) ? torque : force; break;
    case MBS_JOINT_REACTION: base = s->component < 3 || s->component == 6 ? force : torque; break;
    case MBS_ENERGY: base = torque; break;
    case MBS_FORCE_SIGNAL: {
        const mbs_force_data *f = &b->m->force[s->object];
        if (s->component == MBS_FORCE_OUTPUT) return as_signal(f->units.output);
        base =
            s->component == MBS_FORCE_POWER || (turns(f) && s->component == MBS_FORCE_SIZE) ? torque : force;
        if (s->component == MBS_FORCE_DEFLECTION) base = turns(f) ? NULL : length;
        per_time = s->component == MBS_FORCE_POWER;
        break;
    }
    case MBS_LOCAL: /* length, angle, x: a coordinate, and then its rate */
        if (b->force < 0) d.soft = 1;
        else if (!turns(&b->m->force[b->force])) base = length;
        per_time = s->object;
        break;
    default: d.soft = 1;
    }
    if (base) memcpy(d.power, base, sizeof d.power);
    d.power[2] = (signed char)(d.power[2] - per_time);
    return d;
}

static int look_up(const char *name, dae_symbol *out, void *user)
{
    lookup *l = user;
    mbs_signal s = {MBS_TIME, 0, 0};
    int k = mbs_find_parameter(l->b->m->model, name);
    *out = (dae_symbol){.variable = -1};
    if (k >= 0) {
        mbs_parameter *p = &((mbs_model *)l->b->m->model)->parameter[k];
        p->used = 1;
        out->value = p->value;
        out->dimension = p->dimension;
        if (!p->input) return 1;
        s = (mbs_signal){MBS_INPUT, k, 0};
    } else if (!named_signal(l, name, &s)) {
        return 0;
    }
    if ((l->purpose == MBS_FOR_MOTION && s.kind != MBS_TIME) ||
        (l->purpose == MBS_FOR_FORCE && s.kind >= MBS_BODY_ACCELERATION)) {
        l->refused = 1;
        return 0;
    }
    if (l->purpose == MBS_FOR_FORCE && s.kind == MBS_FORCE_SIGNAL && l->b->force >= 0) {
        mbs_force_data *own = &l->b->m->force[l->b->force], *other = &l->b->m->force[s.object];
        if (other->type->acts & MBS_ACTS_ALL) {
            l->refused = 1;
            return 0;
        }
        if (s.object >= l->b->force) {
            l->later = 1;
            return 0;
        }
        if (own->nested < other->nested + 1) own->nested = other->nested + 1;
        if (l->b->m->nested < own->nested) l->b->m->nested = own->nested;
    }
    l->derived |= s.kind >= MBS_BODY_ACCELERATION;
    if (s.kind != MBS_INPUT) out->dimension = dimension_of(l->b, &s);
    out->variable = signal_number(l->b->m, &s);
    l->starved |= out->variable < 0;
    return out->variable >= 0;
}

/* ---- Spelling hints ---------------------------------------------------------------------------------- */

/* Names that could have been meant, separated by '|'. */
static void candidates(const mbs_builder *b, char *list, size_t size)
{
    const mbs_model *m = b->m->model;
    size_t used =
        (size_t)snprintf(list, size, "t|pi|sin|cos|tan|exp|log|sqrt|abs|min|max|atan2|table|if|sum");
    for (int i = 0; i < m->nparameter && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "|%s", m->parameter[i].name);
    for (int i = 0; i < m->nvariable && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "|%s", m->variable[i].name);
    static const char *const fields[] = {"x", "y", "angle", "vx", "vy", "omega", "z", "vz"};
    for (int i = 0; i < m->nbody; i++) {
        for (int k = 0; k < (m->space == MBS_PLANAR ? 6 : 8) && used < size; k++)
            used += (size_t)snprintf(list + used, size - used, "|%s.%s", m->body[i].name, fields[k]);
    }
    for (int i = 0; i < m->njoint && used < size; i++) {
        used += (size_t)snprintf(list + used, size - used, "|%s.value|%s.speed|%s.reaction.x",
                                 m->joint[i].name, m->joint[i].name, m->joint[i].name);
    }
    for (int i = 0; i < m->nforce && used < size; i++) {
        used += (size_t)snprintf(list + used, size - used, "|%s.force|%s.power|%s.deflection",
                                 m->force[i].name, m->force[i].name, m->force[i].name);
    }
    if (used >= size) list[size - 1] = 0;
}

void mbs_nearest_signal(const mbs_mechanism *m, const char *name, char *out, size_t size)
{
    char list[4096];
    mbs_builder b = {.m = (mbs_mechanism *)m, .force = -1};
    candidates(&b, list, sizeof list);
    size_t used = strlen(list);
    for (int i = 0; i < m->model->nsensor && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "|%s", m->model->sensor[i].name);
    list[sizeof list - 1] = 0;
    dae_nearest_word(name, list, out, size);
}

int mbs_find_signal(const mbs_mechanism *m, const char *name, mbs_signal *s, dae_dimension *d)
{
    mbs_builder b = {.m = (mbs_mechanism *)m, .force = -1};
    lookup l = {.b = &b, .purpose = MBS_FOR_SENSOR};
    *s = (mbs_signal){MBS_TIME, 0, 0};
    if (!named_signal(&l, name, s)) return 0;
    *d = dimension_of(&b, s);
    return 1;
}

/* The name of a thing alone, where one of its quantities is meant: which there are; "" for other names. */
static const char *quantities(const mbs_builder *b, const char *name)
{
    const mbs_model *m = b->m->model;
    if (mbs_find_body(m, name) > 0)
        return m->space == MBS_PLANAR ? "a body: take its x, y, angle, vx, vy or omega"
                                      : "a body: take its x, y, z, vx, vy, vz, omega.x, omega.y or omega.z";
    if (mbs_find_joint(m, name) >= 0) return "a joint: take its value, speed or reaction.x";
    for (int i = 0; i < m->nforce; i++)
        if (!strcmp(m->force[i].name, name)) return "a force: take its force, power or deflection";
    return "";
}

static int add_text(mbs_builder *b, const char *field, const char *text, int purpose)
{
    mbs_mechanism *m = b->m;
    lookup l = {.b = b, .purpose = purpose};
    dae_expression_error err;
    if (m->nexpression == m->expression_capacity) {
        int capacity = m->expression_capacity ? 2 * m->expression_capacity : 16;
        dae_expression **longer = realloc(m->expression, (size_t)capacity * sizeof *longer);
        if (longer) m->expression = longer;
        int *sides = longer ? realloc(m->expression_side, (size_t)capacity * sizeof *sides) : NULL;
        if (!sides) {
            dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
            return -1;
        }
        m->expression_side = sides;
        m->expression_capacity = capacity;
    }
    dae_expression *e = dae_expression_create(text, look_up, &l, &err);
    if (!e) {
        char hint[64] = "", list[4096];
        if (l.starved) {
            dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
            return -1;
        }
        if (l.later) {
            mbs_wrong(b, "%s: \"%s\" at column %d: a force may use forces that are declared before it only",
                      field, text, err.column + 1);
            return -1;
        }
        if (l.refused) {
            mbs_wrong(b, "%s: \"%s\" at column %d: %s", field, text, err.column + 1,
                      purpose == MBS_FOR_MOTION
                          ? "a motion may depend on t only"
                          : "a force may not depend on accelerations, reactions and collisions");
            return -1;
        }
        const char *of = err.name[0] ? quantities(b, err.name) : "";
        if (of[0]) {
            mbs_wrong(b, "%s: \"%.80s\" at column %d: \"%s\" is %s, as in %s.%s", field, text, err.column + 1,
                      err.name, of, err.name,
                      of[2] == 'b'   ? "x"
                      : of[2] == 'j' ? "value"
                                     : "force");
            return -1;
        }
        if (err.name[0]) {
            candidates(b, list, sizeof list);
            dae_nearest_word(err.name, list, hint, sizeof hint);
        }
        mbs_wrong(b, "%s: \"%.80s\" at column %d: %s%s%s%s", field, text, err.column + 1, err.text,
                  DAE_DID_YOU_MEAN(hint));
        return -1;
    }
    if (!dae_expression_prepare(e, purpose == MBS_FOR_MOTION ? DAE_EXPRESSION_CURVE : DAE_EXPRESSION_VALUE) ||
        (purpose == MBS_FOR_FORCE && !dae_expression_prepare(e, DAE_EXPRESSION_GRADIENT))) {
        dae_expression_destroy(e);
        dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
        return -1;
    }
    if (dae_expression_work(e) + 300 > m->work_size) m->work_size = dae_expression_work(e) + 300;
    m->expression[m->nexpression] = e;
    int event = purpose == MBS_FOR_EVENT &&
                l.derived; /* its corners are no switches: nothing that moves depends on them */
    m->event_reactions |= event;
    m->expression_side[m->nexpression] = purpose == MBS_FOR_SENSOR || event ? -1 : 0; /* numbered later */
    return m->nexpression++;
}

dae_status mbs_law_unit(mbs_builder *b, const char *text, dae_dimension *d)
{
    lookup l = {.b = b, .purpose = MBS_FOR_FORCE};
    dae_expression_error err = {0};
    char wrong[100];
    char *whole = mbs_expand_variables(b->m->model, text, wrong, sizeof wrong);
    *d = (dae_dimension){.soft = 1};
    if (!whole) return wrong[0] ? DAE_OK : DAE_ERR_MEMORY;
    dae_expression *e = dae_expression_create(whole, look_up, &l, &err);
    free(whole);
    if (e) *d = dae_expression_dimension(e);
    dae_expression_destroy(e);
    return !e && (l.starved || dae_message_status(err.text) == DAE_ERR_MEMORY) ? DAE_ERR_MEMORY : DAE_OK;
}

int mbs_add_expression(mbs_builder *b, const char *field, const char *text, int purpose)
{
    char wrong[100];
    if (!b->m->model->nvariable) return add_text(b, field, text, purpose);
    char *whole = mbs_expand_variables(b->m->model, text, wrong, sizeof wrong);
    if (!whole && wrong[0]) mbs_wrong(b, "%s: %s", field, wrong);
    else if (!whole) dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
    int k = whole ? add_text(b, field, whole, purpose) : -1;
    free(whole);
    return k;
}

/* ---- Units that are shown ------------------------------------------------------------------------------ */

/* 1: an angle, its rate or acceleration: the name of its unit has rad in it. */
static int is_angular(const mbs_mechanism *m, const mbs_signal *s)
{
    switch (s->kind) {
    case MBS_BODY_ANGLE:
    case MBS_BODY_ROTATION:
    case MBS_BODY_CARDAN:
    case MBS_BODY_EULER:
    case MBS_BODY_OMEGA:
    case MBS_BODY_ALPHA: return 1;
    case MBS_JOINT_COORDINATE:
    case MBS_JOINT_RATE: return s->component == MBS_ANGLE;
    case MBS_FORCE_SIGNAL: return s->component == MBS_FORCE_DEFLECTION && turns(&m->force[s->object]);
    default: return 0;
    }
}

static void dimension_words(const dae_dimension *d, int angular, char *out, size_t size)
{
    static const char *const rates[] = {"rad", "rad/s", "rad/s^2"};
    static const dae_dimension none;
    out[0] = 0;
    if (d->soft == 1) return;
    if (angular) dae_snprintf(out, size, "%s", rates[-d->power[2]]);
    else if (!dae_dimension_same(d, &none)) dae_dimension_name(d, out, size);
}

void mbs_state_unit(const mbs_force_data *f, int i, char *out, size_t size)
{
    dimension_words(f->type->units ? &f->units.state[i] : &ampere, 0, out, size);
}

void mbs_expression_unit(const mbs_mechanism *m, int expression, char *out, size_t size)
{
    const dae_expression *e = m->expression[expression];
    dae_dimension d = dae_expression_dimension(e);
    const int *variable;
    int one = dae_expression_variables(e, &variable) == 1 && !dae_expression_operations(e);
    const mbs_signal *s = one ? &m->signal[variable[0]] : NULL;
    if (s && s->kind == MBS_ENERGY) dae_snprintf(out, size, "J");
    else if (s && s->kind == MBS_SENSOR) dae_snprintf(out, size, "%s", m->sensor_unit[s->object]);
    else dimension_words(&d, s && is_angular(m, s), out, size);
}

/* ---- Values ------------------------------------------------------------------------------------------ */

static const mbs_coordinate *joint_coordinate(const mbs_context *x, const mbs_signal *s)
{
    const mbs_joint_data *j = &x->m->joint[s->object];
    return s->component == MBS_ANGLE ? &j->angle : s->component == MBS_SLIDE ? &j->slide : &j->length;
}

static mbs_frame point_of(const mbs_mechanism *m, int k)
{
    const mbs_point *p = &m->model->point[k];
    mbs_frame f = {.body = p->body, .s = {p->r[0], p->r[1], m->planar ? 0 : p->r[2]}};
    return f;
}

/* a = r'' + A (alpha x s) + A (omega x (omega x s)) */
static double point_acceleration(const mbs_context *x, const mbs_signal *s)
{
    mbs_frame f = point_of(x->m, s->object);
    double alpha[3] = {0, 0, 0}, c[3], a[3], bias[3];
    if (f.body == 0) return 0;
    if (!x->a) return NAN;
    for (int k = 0; k < 3; k++) {
        int at = mbs_slot_of(x->m, f.body, 3 + k);
        if (at >= 0) alpha[k] = x->a[at];
    }
    mbs_cross(alpha, f.s, c);
    mbs_rotate(x->pose[f.body].A, c, a);
    mbs_point_bias(x, &f, bias);
    return x->a[mbs_slot_of(x->m, f.body, s->component)] + a[s->component] + bias[s->component];
}

/* The same with derivatives, from elements of A = [c0 c1 c2]. */
static mbs_dual orientation_dual(mbs_context *x, const mbs_signal *s)
{
    static const double zero[3];
    mbs_frame ground = {.body = 0}, own = {.body = s->object};
    mbs_dual3 c[3];
    int k = s->component;
    memcpy(ground.C, mbs_identity, sizeof mbs_identity);
    memcpy(own.C, mbs_identity, sizeof mbs_identity);
    mbs_set(ground.s, zero);
    mbs_set(own.s, zero);
    if (s->kind == MBS_BODY_ROTATION) return mbs_rotation_vector3(x, &ground, &own).c[k];
    for (int i = 0; i < 3; i++) {
        double e[3] = {i == 0, i == 1, i == 2};
        c[i] = mbs_axis3(x, s->object, e);
    }
    mbs_dual a = k == 2 ? c[1].c[0] : c[2].c[1], b = c[2].c[2]; /* Cardan: 0 and 2 */
    if (s->kind == MBS_BODY_CARDAN && k != 1)
        return mbs_atan2(x, mbs_sum(x, -1, a, 0, a), k == 0 ? b : c[0].c[0]);
    if (s->kind == MBS_BODY_EULER && k != 1) {
        a = c[2].c[1];
        return k == 0 ? mbs_atan2(x, c[2].c[0], mbs_sum(x, -1, a, 0, a)) : mbs_atan2(x, c[0].c[2], c[1].c[2]);
    }
    a = s->kind == MBS_BODY_CARDAN ? c[2].c[0] : c[2].c[2];
    double value = fmax(-1, fmin(1, a.x)), slope = 1 / sqrt(fmax(1 - value * value, 1e-300));
    return s->kind == MBS_BODY_CARDAN ? mbs_chain(x, a, asin(value), slope)
                                      : mbs_chain(x, a, acos(value), -slope);
}

static double orientation(const mbs_pose *b, const mbs_signal *s)
{
    const double *A = b->A, *e = b->e;
    int k = s->component;
    if (s->kind == MBS_BODY_CARDAN)
        return k == 0 ? atan2(-A[5], A[8]) : k == 1 ? asin(fmax(-1, fmin(1, A[2]))) : atan2(-A[1], A[0]);
    if (s->kind == MBS_BODY_EULER)
        return k == 0 ? atan2(A[2], -A[5]) : k == 1 ? acos(fmax(-1, fmin(1, A[8]))) : atan2(A[6], A[7]);
    double n = mbs_norm(e + 1), turn = 2 * atan2(n, fabs(e[0])); /* |turn| <= pi */
    return (e[0] < 0 ? -1 : 1) * (n > 1e-150 ? turn / n : 2) * e[1 + k];
}

mbs_dual mbs_force_dual(mbs_context *x, int force, mbs_force_component component)
{
    static const double zero[3];
    const mbs_force_data *f = &x->m->force[force];
    if (component == MBS_FORCE_OUTPUT) {
        x->work += x->m->work_size;
        mbs_dual y = f->type->output(f, x);
        x->work -= x->m->work_size;
        return y;
    }
    mbs_probe probe = {.body = f->type->acts & MBS_ACTS_BODY && f->joint < 0 ? f->body : f->j.body};
    probe.force = probe.torque = mbs_constant3(zero);
    probe.power = probe.along = mbs_constant(0);
    mbs_measure own = {mbs_constant(0), mbs_constant3(zero), 0};
    struct mbs_probe *outer = x->probe;
    x->work += x->m->work_size; /* the variables of the expression that asks stay */
    if (f->type->measure) f->type->measure(f, x, &own);
    x->probe = &probe;
    if (component != MBS_FORCE_DEFLECTION) f->type->apply(f, x);
    x->probe = outer;
    x->work -= x->m->work_size;
    if (component == MBS_FORCE_DEFLECTION) return own.deflection;
    if (component == MBS_FORCE_POWER) return probe.power;
    if (component >= MBS_FORCE_X) return probe.force.c[component - MBS_FORCE_X];
    if (own.directed) return mbs_dot3(x, own.direction, probe.force);
    if (probe.coordinate || f->joint >= 0) return probe.along;
    return mbs_norm3(x, f->type->acts & MBS_ACTS_BODY ? probe.torque : probe.force);
}

double mbs_signal_value(mbs_context *x, const mbs_signal *s)
{
    const mbs_mechanism *m = x->m;
    const mbs_pose *b = &x->pose[s->kind <= MBS_BODY_OMEGA ? s->object : 0];
    double out[6], kinetic, potential;
    mbs_frame f;
    switch (s->kind) {
    case MBS_TIME: return x->t;
    case MBS_BODY_POSITION: return b->r[s->component];
    case MBS_BODY_ANGLE: return b->angle;
    case MBS_BODY_QUATERNION: /* of the orientation: what is integrated has length 1 but for errors */
        return b->e[s->component] /
               sqrt(b->e[0] * b->e[0] + b->e[1] * b->e[1] + b->e[2] * b->e[2] + b->e[3] * b->e[3]);
    case MBS_BODY_VELOCITY: return b->v[s->component];
    case MBS_BODY_OMEGA: return b->w[s->component];
    case MBS_JOINT_COORDINATE: return mbs_coordinate_value(x, joint_coordinate(x, s));
    case MBS_JOINT_RATE: return mbs_coordinate_rate(x, joint_coordinate(x, s));
    case MBS_STATE: return x->u ? x->u[s->object] : 0;
    case MBS_POINT_POSITION:
    case MBS_POINT_VELOCITY:
        f = point_of(m, s->object);
        (s->kind == MBS_POINT_POSITION ? mbs_point_position : mbs_point_velocity)(x, &f, out);
        return out[s->component];
    case MBS_FORCE_SIGNAL: {
        if (!x->nz && !x->J) return mbs_force_dual(x, s->object, (mbs_force_component)s->component).x;
        mbs_context plain = *x;
        plain.nz = 0;
        plain.J = NULL;
        return mbs_force_dual(&plain, s->object, (mbs_force_component)s->component).x;
    }
    case MBS_INPUT: return mbs_input_value(x, s->object);
    case MBS_POINT_ACCELERATION: return point_acceleration(x, s);
    case MBS_BODY_ROTATION:
    case MBS_BODY_CARDAN:
    case MBS_BODY_EULER: return orientation(&x->pose[s->object], s);
    case MBS_BODY_ACCELERATION: return x->a ? x->a[mbs_slot_of(m, s->object, s->component)] : NAN;
    case MBS_BODY_ALPHA: return x->a ? x->a[mbs_slot_of(m, s->object, 3 + s->component)] : NAN;
    case MBS_JOINT_REACTION:
        if (!x->reaction) return NAN;
        mbs_joint_reaction(x, &m->joint[s->object], out);
        if (s->component < 6) return out[s->component];
        return mbs_norm(out + (s->component == 6 ? 0 : 3));
    case MBS_ENERGY:
        mbs_energies(x, &kinetic, &potential);
        return s->component == 0 ? kinetic : s->component == 1 ? potential : kinetic + potential;
    case MBS_DRIVER_FORCE: return x->reaction ? mbs_driver_force(x, s->object) : NAN;
    case MBS_SENSOR:
        if (x->sensor) return x->sensor[s->object];
        if (!m->external) return NAN;
        {
            mbs_context plain = *x;
            plain.nz = 0;
            plain.J = NULL;
            return mbs_sensor_dual(&plain, s->object).x;
        }
    default: return NAN;
    }
}

/* The values of the variables of an expression, without derivatives, at the end of the work array. */
static const double *plain_values(mbs_context *x, int n, const int *variable, const mbs_dual *local)
{
    double *values = x->work + (x->m->work_size - 300);
    for (int k = 0; k < n; k++) {
        const mbs_signal *s = &x->m->signal[variable[k]];
        values[k] = s->kind == MBS_LOCAL ? local[s->object].x : mbs_signal_value(x, s);
    }
    return values;
}

double mbs_expression_at(mbs_context *x, int expression)
{
    const dae_expression *e = x->m->expression[expression];
    const int *variable;
    int n = dae_expression_variables(e, &variable);
    const double *values = plain_values(x, n, variable, NULL);
    if (x->note) mbs_note_expression(x, expression, values);
    return dae_expression_value_on(e, mbs_expression_sides(x, expression), values, x->work);
}

/* ---- With derivatives -------------------------------------------------------------------------------- */

mbs_dual mbs_signal_dual(mbs_context *x, const mbs_signal *s, const mbs_dual *local)
{
    static const double origin[3];
    mbs_frame f = {.body = s->object};
    mbs_dual value, rate;
    mbs_set(f.s, origin);
    switch (s->kind) {
    case MBS_BODY_POSITION: return mbs_position3(x, &f).c[s->component];
    case MBS_BODY_VELOCITY: return mbs_velocity3(x, &f).c[s->component];
    case MBS_POINT_POSITION:
    case MBS_POINT_VELOCITY:
        f = point_of(x->m, s->object);
        return (s->kind == MBS_POINT_POSITION ? mbs_position3 : mbs_velocity3)(x, &f).c[s->component];
    case MBS_BODY_ANGLE: {
        mbs_coordinate q = {.kind = MBS_ANGLE, .j = f};
        mbs_coordinate_dual(x, &q, &value, &rate);
        return value;
    }
    case MBS_BODY_OMEGA: return mbs_to_body3(x, s->object, mbs_omega3(x, s->object)).c[s->component];
    case MBS_JOINT_COORDINATE:
    case MBS_JOINT_RATE:
        mbs_coordinate_dual(x, joint_coordinate(x, s), &value, &rate);
        return s->kind == MBS_JOINT_RATE ? rate : value;
    case MBS_STATE: return mbs_state_dual(x, s->object);
    case MBS_INPUT: return mbs_input_dual(x, s->object);
    case MBS_BODY_QUATERNION: return mbs_quaternion_dual(x, s->object, s->component);
    case MBS_BODY_ROTATION:
    case MBS_BODY_CARDAN:
    case MBS_BODY_EULER: return orientation_dual(x, s);
    case MBS_FORCE_SIGNAL: return mbs_force_dual(x, s->object, (mbs_force_component)s->component);
    case MBS_TIME:
        value = mbs_fresh(x, x->t);
        mbs_seed_time(x, &value, 1);
        return value;
    case MBS_LOCAL: return local[s->object];
    case MBS_ENERGY: return mbs_energy_dual(x, s);
    case MBS_SENSOR:
        if (!x->sensor && x->m->external) return mbs_sensor_dual(x, s->object);
        return mbs_constant(mbs_signal_value(x, s));
    default: return mbs_constant(mbs_signal_value(x, s));
    }
}

mbs_dual mbs_expression_dual(mbs_context *x, int expression, const mbs_dual *local)
{
    const dae_expression *e = x->m->expression[expression];
    const int *variable, *side = mbs_expression_sides(x, expression);
    int n = dae_expression_variables(e, &variable);
    double gradient[256];
    mbs_dual out = mbs_fresh(x, 0);
    const double *values = plain_values(x, n, variable, local);
    if (x->note) mbs_note_expression(x, expression, values);
    if (!x->nz) {
        out.x = dae_expression_value_on(e, side, values, x->work);
        return out;
    }
    out.x = dae_expression_gradient_on(e, side, values, gradient, x->work);
    for (int k = 0; k < n; k++) {
        size_t mark = x->used;
        mbs_dual v = mbs_signal_dual(x, &x->m->signal[variable[k]], local);
        mbs_accumulate(x, gradient[k], v, &out);
        x->used = mark;
    }
    return out;
}

/* Along e_b the curve gives the first and second derivative by variable b; a mixed one from the directions e_b + e_k and
 * e_k: (d2(e_b + e_k) - d2(e_b) - d2(e_k))/2. */
mbs_dual mbs_expression_partial(mbs_context *x, int expression, const mbs_dual *local, mbs_signal_kind by)
{
    const dae_expression *e = x->m->expression[expression];
    const int *variable;
    int n = dae_expression_variables(e, &variable), b = 0;
    double direction[256] = {0}, still[256] = {0}, own[2], both[2], other[2];
    mbs_dual out = mbs_fresh(x, 0);
    while (b < n && (x->m->signal[variable[b]].kind != by || x->m->signal[variable[b]].object != 0)) b++;
    if (b == n) return out;
    const double *values = plain_values(x, n, variable, local);
    const int *side = mbs_expression_sides(x, expression);
    direction[b] = 1;
    dae_expression_curve_on(e, side, values, direction, still, own, x->work);
    out.x = own[0];
    for (int k = 0; x->nz && k < n; k++) {
        double mixed = own[1];
        if (k != b) {
            direction[k] = 1;
            dae_expression_curve_on(e, side, values, direction, still, both, x->work);
            direction[b] = 0;
            dae_expression_curve_on(e, side, values, direction, still, other, x->work);
            direction[b] = 1;
            direction[k] = 0;
            mixed = (both[1] - own[1] - other[1]) / 2;
        }
        size_t mark = x->used;
        mbs_dual v = mbs_signal_dual(x, &x->m->signal[variable[k]], local);
        mbs_accumulate(x, mixed, v, &out);
        x->used = mark;
    }
    return out;
}

/* ---- Forces without a value ------------------------------------------------------------------------------- */

/* The first force that is not finite at (t, y), or NULL. */
static const char *undefined_at(const mbs_mechanism *m, double t, const double *y)
{
    const char *name = NULL;
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    for (int k = 0; k < m->nforce && !name; k++) {
        mbs_signal s = {MBS_FORCE_SIGNAL, k, MBS_FORCE_SIZE};
        double size = mbs_signal_value(&x, &s);
        s.component = MBS_FORCE_POWER;
        if (!isfinite(size) || !isfinite(mbs_signal_value(&x, &s))) name = m->force[k].model->name;
    }
    mbs_end(&x);
    return name;
}

const char *mbs_undefined_force(const mbs_mechanism *m, double t, const double *y, double span)
{
    int n = dae_system_size(&m->system);
    const dae_mech *s = &m->system.mech;
    double *ahead = calloc((size_t)(n + m->np), sizeof *ahead), *rate = ahead ? ahead + n : NULL;
    const char *name = NULL;
    if (!ahead) return NULL;
    dae_mech_point at = {.t = t, .p = y, .v = y + m->np};
    if (s->kinematics) s->kinematics(&at, rate, s->user);
    else memcpy(rate, y + m->np, (size_t)m->np * sizeof *rate);
    for (int k = 40; k >= 0 && !name; k -= 4) { /* the nearest place first */
        double h = ldexp(span, -k);
        memcpy(ahead, y, (size_t)n * sizeof *ahead);
        for (int i = 0; i < m->np; i++) ahead[i] += h * rate[i];
        name = undefined_at(m, t + h, ahead);
    }
    free(ahead);
    return name;
}

/* ---- Sensors and reactions ----------------------------------------------------------------------------- */

int mbs_mechanism_sensor_count(const mbs_mechanism *m)
{
    return m->model->nsensor;
}

const char *mbs_mechanism_sensor_name(const mbs_mechanism *m, int i)
{
    return i >= 0 && i < m->model->nsensor ? m->model->sensor[i].name : NULL;
}

const char *mbs_mechanism_sensor_unit(const mbs_mechanism *m, int i)
{
    return i >= 0 && i < m->model->nsensor ? m->sensor_unit[i] : "";
}

dae_status mbs_mechanism_sensors(const mbs_mechanism *m, double t, const double *y, const double *a,
                                 const double *lambda, double *value, dae_error *err)
{
    double *own = calloc((size_t)(m->nv + m->nlambda + m->nrow) + 1, sizeof *own);
    if (!own) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    double *all = own + m->nv + m->nlambda;
    dae_status s = DAE_OK;
    if (!a || !lambda) {
        s = mbs_mechanism_acceleration(m, t, y, own, own + m->nv, err);
        a = own;
        lambda = own + m->nv;
    }
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    dae_status r = s ? s : mbs_all_multipliers(&x, lambda, all);
    if (!s && r)
        s = dae_fail(err, r, t, r == DAE_ERR_MEMORY ? "out of memory" : "reactions cannot be computed");
    x.u = y + m->np + m->nv;
    x.a = a;
    x.lambda = lambda;
    x.reaction = all;
    x.sensor = value;
    for (int k = 0; !s && k < m->model->nsensor; k++) value[k] = mbs_expression_at(&x, m->sensor[k]);
    mbs_end(&x);
    free(own);
    return s;
}

int mbs_mechanism_joint_count(const mbs_mechanism *m)
{
    return m->njoint;
}

const char *mbs_mechanism_joint_name(const mbs_mechanism *m, int i)
{
    return i >= 0 && i < m->njoint ? m->joint[i].model->name : NULL;
}

int mbs_mechanism_body_count(const mbs_mechanism *m)
{
    return m->nbody;
}

const char *mbs_mechanism_body_name(const mbs_mechanism *m, int i)
{
    if (i == 0) return "ground";
    return i > 0 && i <= m->nbody ? m->model->body[i - 1].name : NULL;
}

int mbs_mechanism_driver_count(const mbs_mechanism *m)
{
    return m->model->ndriver;
}

const char *mbs_mechanism_driver_name(const mbs_mechanism *m, int i)
{
    return i >= 0 && i < m->model->ndriver ? m->model->driver[i].name : NULL;
}
