/* Point on line: the point on b stays on the line through the point on a along the axis. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_dot2(b, &j->i, 0, &j->j, 0)) return DAE_ERR_MEMORY;
    if (b->m->planar) return DAE_OK;
    return mbs_add_dot2(b, &j->i, 1, &j->j, 0) ? DAE_ERR_MEMORY : DAE_OK;
}

const mbs_joint_type mbs_joint_point_on_line = {
    .name = "point_on_line",
    .doc = "b stays on the line along the axis",
    .planar_rows = 1,
    .spatial_rows = 2,
    .main = MBS_SLIDE,
    .build = build,
};
