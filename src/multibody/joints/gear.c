/* Gear: couples the coordinates of two joints, q1 + ratio*q2 = constant (angles, or slides: rack and pinion). */
#include "multibody/field.h"
#include "multibody/mechanism.h"

#include <stdio.h>
#include <string.h>

typedef struct gear {
    const char *joints;
    double ratio;
} gear;

static const mbs_field fields[] = {
    {.name = "joints",
     .kind = MBS_FIELD_NAMES,
     .required = 1,
     .choice = "joint|joint",
     .doc = "the two joints that it couples",
     .offset = offsetof(gear, joints)},
    MBS_OPTIONAL(gear, ratio, NULL, 1, MBS_NOT_ZERO, "q1 + ratio q2 = constant"),
    {.name = NULL},
};

static const mbs_joint_data *partner(mbs_builder *b, const char *name, const char *field)
{
    int k = mbs_find_joint(b->m->model, name);
    if (k < 0 || k >= b->m->njoint) {
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
    const gear *own = j->own;
    char first[64];
    const char *second = own->joints ? strchr(own->joints, ' ') : NULL;
    if (!second) return mbs_wrong(b, "a gear needs the names of two joints in \"joints\"");
    snprintf(first, sizeof first, "%.*s", (int)(second - own->joints), own->joints);
    const mbs_joint_data *one = partner(b, first, "joints[0]");
    const mbs_joint_data *two = one ? partner(b, second + 1, "joints[1]") : NULL;
    if (!two) return DAE_ERR_INPUT;
    const mbs_coordinate *q1 = main_coordinate(one), *q2 = main_coordinate(two);
    int turns = q1->kind == MBS_ANGLE, both = turns == (q2->kind == MBS_ANGLE);
    char fault[200];
    dae_dimension d;
    if (mbs_field_unit(j->model->field, MBS_JOINT_FIELDS, "ratio", &d) &&
        mbs_unit_wrong(both    ? ""
                       : turns ? "1/m"
                               : "m",
                       &d, "ratio", fault, sizeof fault))
        return mbs_wrong(b, "ratio: %s", fault);
    double c = mbs_initial_value(b, q1) + own->ratio * mbs_initial_value(b, q2);
    return mbs_add_coupling(b, q1, 1, q2, own->ratio, c) ? DAE_OK : DAE_ERR_MEMORY;
}

const mbs_joint_type mbs_joint_gear = {
    .name = "gear",
    .doc = "`joints`: q1 + `ratio` q2 = constant; with a prismatic joint a rack",
    .planar_rows = 1,
    .spatial_rows = 1,
    .without_points = 1,
    .field = fields,
    .size = sizeof(gear),
    .build = build,
};
