/* Gear: couples the coordinates of two joints, q1 + ratio*q2 = constant (angles, or slides: rack and pinion). */
#include "multibody/mechanism.h"

#include <string.h>

static const mbs_joint_data *partner(mbs_builder *b, const char *name, const char *field)
{
    int k = name ? mbs_find_joint(b->m->model, name) : -1;
    if (!name) {
        mbs_wrong(b, "a gear needs the names of two joints in \"joints\"");
    } else if (k < 0 || k >= b->m->njoint) {
        mbs_wrong(b, "%s: there is no joint \"%s\" before this one", field, name);
    } else if (b->m->joint[k].main == MBS_NO_COORDINATE) {
        mbs_wrong(b, "%s: joint \"%s\" (%s) has no coordinate that a gear could couple", field, name,
                  b->m->joint[k].type->name);
    } else {
        return &b->m->joint[k];
    }
    return NULL;
}

static const mbs_coordinate *main_coordinate(const mbs_joint_data *j)
{
    return j->main == MBS_ANGLE ? &j->angle : j->main == MBS_SLIDE ? &j->slide : &j->length;
}

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    const mbs_joint_data *one = partner(b, j->model->joint_1, "joints[0]");
    const mbs_joint_data *two = one ? partner(b, j->model->joint_2, "joints[1]") : NULL;
    if (!two) return DAE_ERR_INPUT;
    if (j->model->ratio == 0) return mbs_wrong(b, "ratio must not be 0");
    const mbs_coordinate *q1 = main_coordinate(one), *q2 = main_coordinate(two);
    double c = mbs_initial_value(b, q1) + j->model->ratio * mbs_initial_value(b, q2);
    return mbs_add_coupling(b, q1, 1, q2, j->model->ratio, c) ? DAE_OK : DAE_ERR_MEMORY;
}

const mbs_joint_type mbs_joint_gear = {"gear", 1, 1, 1, 1, MBS_NO_COORDINATE, build};
