/* Sensors, and events with their impacts. */
#include "multibody/build.h"

#include "language/dimension.h"

#include <stdio.h>
#include <string.h>

/* The coordinate along which an event has its impact. */
static dae_status event_impact(mbs_builder *b, const mbs_event *e, mbs_coordinate *q)
{
    mbs_mechanism *m = b->m;
    if (e->joint) {
        int k = mbs_find_joint(m->model, e->joint);
        if (k < 0) {
            char hint[64];
            mbs_nearest_name(e->joint, m->model->joint, m->model->njoint, sizeof(mbs_joint), hint,
                             sizeof hint);
            return mbs_wrong(b, "impact.joint: there is no joint \"%s\"%s%s%s", e->joint,
                             DAE_DID_YOU_MEAN(hint));
        }
        const mbs_joint_data *j = &m->joint[k];
        if (j->main == MBS_NO_COORDINATE)
            return mbs_wrong(b, "impact.joint: \"%s\" (%s) has no coordinate", e->joint, j->type->name);
        *q = j->main == MBS_ANGLE ? j->angle : j->main == MBS_SLIDE ? j->slide : j->length;
        return DAE_OK;
    }
    if (!e->point_a || !e->point_b) return mbs_wrong(b, "impact: needs a joint, or the points a and b");
    dae_status s = mbs_point_frame(b, "impact.a", e->point_a, &q->i, NULL);
    if (!s) s = mbs_point_frame(b, "impact.b", e->point_b, &q->j, NULL);
    if (s) return s;
    if (q->i.body == q->j.body) return mbs_wrong(b, "impact: a and b are on the same body");
    q->kind = mbs_norm(e->axis) > 0 ? MBS_SLIDE : MBS_LENGTH;
    return q->kind == MBS_SLIDE ? mbs_set_axis(b, &q->i, e->axis) : DAE_OK;
}

/* The unit that a sensor is shown with: the declared one, which has to be what the value has, else that of the value. */
static dae_status sensor_unit(mbs_builder *b, int k)
{
    mbs_mechanism *m = b->m;
    const mbs_sensor *s = &m->model->sensor[k];
    dae_dimension d = dae_expression_dimension(m->expression[m->sensor[k]]), declared;
    static const dae_dimension none;
    char own[64], wanted[64], what[160];
    double factor = 1;
    mbs_expression_unit(m, m->sensor[k], own, sizeof own);
    if (!s->unit) {
        m->sensor_unit[k] = dae_arena_copy(m->arena, own, strlen(own) + 1, 1);
        return m->sensor_unit[k] ? DAE_OK : mbs_no_memory(b);
    }
    m->sensor_unit[k] = s->unit;
    if (!s->unit[0]) return DAE_OK;
    int bad = dae_unit_read(s->unit, strlen(s->unit), &factor, &declared);
    if (bad) {
        dae_unit_wrong(s->unit, strlen(s->unit), bad, what, sizeof what);
        return mbs_wrong(b, "unit: %s", what);
    }
    int known = !d.soft || d.soft == DAE_IMPLIED, angle = known && !strncmp(own, "rad", 3);
    if (!known || (!angle && dae_dimension_same(&d, &none)))
        return DAE_OK; /* a number: so many of the unit */
    dae_dimension_name(&d, wanted, sizeof wanted);
    if (!dae_dimension_same(&d, &declared))
        return mbs_wrong(b, "unit: \"%.60s\" has the unit [%s], not [%.40s]", s->value, angle ? own : wanted,
                         s->unit);
    if (factor == 1) return DAE_OK;
    return mbs_wrong(b, "unit: \"%.60s\" is in [%s], which is not [%.40s]; write \"(%.60s)/1[%.40s]\"",
                     s->value, angle ? own : wanted, s->unit, s->value, s->unit);
}

dae_status mbs_build_sensors(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    const mbs_model *model = m->model;
    for (int k = 0; k < model->nsensor; k++) m->sensor[k] = -1;
    for (int k = 0; k < model->nsensor; k++) {
        snprintf(b->path, sizeof b->path, "sensors[%d]", k);
        if (!model->sensor[k].value) return mbs_wrong(b, "value: missing");
        m->sensor[k] = mbs_add_expression(b, "value", model->sensor[k].value, MBS_FOR_SENSOR);
        if (m->sensor[k] < 0) return b->err ? b->err->status : DAE_ERR_INPUT;
        dae_status s = sensor_unit(b, k);
        if (s) return s;
    }
    for (int k = 0; k < model->nevent; k++) {
        snprintf(b->path, sizeof b->path, "events[%d]", k);
        if (!model->event[k].when) return mbs_wrong(b, "when: missing");
        m->event[k] = mbs_add_expression(b, "when", model->event[k].when, MBS_FOR_EVENT);
        if (m->event[k] < 0) return b->err ? b->err->status : DAE_ERR_INPUT;
        dae_status s = model->event[k].impact ? event_impact(b, &model->event[k], &m->impact[k]) : DAE_OK;
        if (s) return s;
    }
    return DAE_OK;
}
