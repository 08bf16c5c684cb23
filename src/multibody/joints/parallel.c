/* The axes of both bodies stay parallel (in the plane: the relative angle is constant). */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (b->m->planar)
        return mbs_add_coordinate(b, &j->angle, mbs_initial_value(b, &j->angle)) ? DAE_OK : DAE_ERR_MEMORY;
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return DAE_OK;
}

const mbs_joint_type mbs_joint_parallel = {
    .name = "parallel",
    .doc = "axes stay parallel",
    .planar_rows = 1,
    .spatial_rows = 2,
    .build = build,
};
