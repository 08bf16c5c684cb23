/* Rolling without slip of a disc or a sphere on body b, with the given radius, around the point on b.
 *
 * Planar: on the line through the point on a along the axis; the disc is on the left of it. Holonomic:
 *     distance from the line = R,  slide + R angle = constant.
 * Space: on the plane through the point on a whose normal is the axis; the axis of the disc is local x of the point on b.
 * One holonomic row (touching) and two nonholonomic ones (no slip). */
#include "multibody/field.h"
#include "multibody/mechanism.h"

typedef struct wheel {
    double radius;
} wheel;

static const mbs_field fields[] = {
    MBS_REQUIRED(wheel, radius, "m", MBS_POSITIVE, "of the disc or sphere"),
    {.name = NULL},
};

static double radius_of(const mbs_joint_data *j)
{
    return ((const wheel *)j->own)->radius;
}

static dae_status build_spatial(mbs_builder *b, mbs_joint_data *j, int sphere)
{
    mbs_row *r = mbs_add_row(b, &mbs_row_roll_normal, 1, &j->i, &j->j);
    for (int k = 0; k < 2; k++) {
        if (!r) return DAE_ERR_MEMORY;
        r->radius = radius_of(j);
        if (!sphere) mbs_set(r->b, j->axis_j);
        if (k == 0) r = mbs_add_row(b, &mbs_row_roll_slip, 2, &j->i, &j->j);
    }
    return DAE_OK;
}

static dae_status build_planar(mbs_builder *b, mbs_joint_data *j)
{
    double R = radius_of(j);
    double c = mbs_initial_value(b, &j->slide) + R * mbs_initial_value(b, &j->angle);
    if (mbs_add_dot2(b, &j->i, 0, &j->j, R)) return DAE_ERR_MEMORY;
    return mbs_add_coupling(b, &j->slide, 1, &j->angle, R, c) ? DAE_OK : DAE_ERR_MEMORY;
}

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    return b->m->planar ? build_planar(b, j) : build_spatial(b, j, 0);
}

static dae_status build_sphere(mbs_builder *b, mbs_joint_data *j)
{
    return build_spatial(b, j, 1);
}

const mbs_joint_type mbs_joint_rolling = {
    .name = "rolling",
    .doc = "disc of `radius` on the line of a (left of it) or on the plane with the axis as normal; spatial: "
           "axis of the "
           "disc is local x of b; nonholonomic",
    .planar_rows = 2,
    .spatial_rows = 3,
    .main = MBS_SLIDE,
    .field = fields,
    .size = sizeof(wheel),
    .build = build,
};

const mbs_joint_type mbs_joint_rolling_sphere = {
    .name = "rolling_sphere",
    .doc = "the same with a sphere",
    .spatial_rows = 3,
    .field = fields,
    .size = sizeof(wheel),
    .build = build_sphere,
};
