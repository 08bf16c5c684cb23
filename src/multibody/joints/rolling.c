/* Rolling without slip of a disc or a sphere on body b, with the given radius, around the point on b.
 *
 * Planar: on the line through the point on a along the axis; the disc is on the left of it. Holonomic:
 *     distance from the line = R,  slide + R angle = constant.
 * Space: on the plane through the point on a whose normal is the axis; the axis of the disc is local x of the point on b.
 * One holonomic row (touching) and two nonholonomic ones (no slip). */
#include "multibody/mechanism.h"

static dae_status build_spatial(mbs_builder *b, mbs_joint_data *j, int sphere)
{
    mbs_row *r = mbs_add_row(b, &mbs_row_roll_normal, 1, &j->i, &j->j);
    for (int k = 0; k < 2; k++) {
        if (!r) return DAE_ERR_MEMORY;
        r->radius = j->model->radius;
        if (!sphere) mbs_set(r->b, j->axis_j);
        if (k == 0) r = mbs_add_row(b, &mbs_row_roll_slip, 2, &j->i, &j->j);
    }
    return DAE_OK;
}

static dae_status build_planar(mbs_builder *b, mbs_joint_data *j)
{
    double R = j->model->radius;
    double c = mbs_initial_value(b, &j->slide) + R * mbs_initial_value(b, &j->angle);
    if (mbs_add_dot2(b, &j->i, 0, &j->j, R)) return DAE_ERR_MEMORY;
    return mbs_add_coupling(b, &j->slide, 1, &j->angle, R, c) ? DAE_OK : DAE_ERR_MEMORY;
}

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (!(j->model->radius > 0)) return mbs_wrong(b, "radius must be positive");
    return b->m->planar ? build_planar(b, j) : build_spatial(b, j, 0);
}

static dae_status build_sphere(mbs_builder *b, mbs_joint_data *j)
{
    if (!(j->model->radius > 0)) return mbs_wrong(b, "radius must be positive");
    return build_spatial(b, j, 1);
}

const mbs_joint_type mbs_joint_rolling = {"rolling", 1, 1, 2, 3, MBS_SLIDE, build};
const mbs_joint_type mbs_joint_rolling_sphere = {"rolling_sphere",  0,           1, 0, 3,
                                                 MBS_NO_COORDINATE, build_sphere};
