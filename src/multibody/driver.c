/* Drivers: a coordinate of a joint as a function of time. */
#include "multibody/build.h"

#include <stdio.h>
#include <string.h>

dae_status mbs_build_driver(mbs_builder *b, int k)
{
    mbs_mechanism *m = b->m;
    const mbs_driver *d = &m->model->driver[k];
    snprintf(b->path, sizeof b->path, "drivers[%d]", k);
    int i = d->joint ? mbs_find_joint(m->model, d->joint) : -1;
    if (i < 0) {
        char hint[64];
        mbs_nearest_name(d->joint ? d->joint : "", m->model->joint, m->model->njoint, sizeof(mbs_joint), hint,
                         sizeof hint);
        return mbs_wrong(b, "joint: there is no joint \"%s\"%s%s%s", d->joint ? d->joint : "",
                         DAE_DID_YOU_MEAN(hint));
    }
    const mbs_joint_data *j = &m->joint[i];
    const mbs_coordinate *q = j->main == MBS_ANGLE   ? &j->angle
                              : j->main == MBS_SLIDE ? &j->slide
                                                     : &j->length;
    const char *what = d->quantity ? d->quantity : "position";
    if (!strcmp(what, "angle")) q = &j->angle;
    else if (!strcmp(what, "slide")) q = &j->slide;
    else if (strcmp(what, "position") != 0)
        return mbs_wrong(b, "quantity: expected position, angle or slide, not \"%s\"", what);
    else if (j->main == MBS_NO_COORDINATE)
        return mbs_wrong(b, "joint: \"%s\" (%s) has no coordinate to drive", d->joint, j->type->name);
    for (int o = 0; o < m->nrows; o++) {
        const mbs_row *r = &m->row[o];
        if (r->driver >= 0 && m->model->driver[r->driver].joint &&
            !strcmp(m->model->driver[r->driver].joint, d->joint) && r->q[0].kind == q->kind)
            return mbs_wrong(b, "joint: \"%s\" is driven by \"%s\" already; add their motions in one driver",
                             d->joint, m->model->driver[r->driver].name);
    }
    if (!d->value) return mbs_wrong(b, "value: missing");
    int e = mbs_add_expression(b, "value", d->value, MBS_FOR_MOTION);
    if (e < 0) return b->err ? b->err->status : DAE_ERR_INPUT;
    dae_status s = mbs_check_unit(b, "value", d->value, e, q->kind == MBS_ANGLE ? "" : "m");
    if (s) return s;
    mbs_row *r = mbs_add_coordinate(b, q, 0);
    if (!r) return DAE_ERR_MEMORY;
    const int *variable;
    if (dae_expression_variables(m->expression[e], &variable)) r->motion = e;
    else dae_expression_constant(m->expression[e], &r->value);
    r->driver = k;
    return DAE_OK;
}
