/* Point on plane: the point on b stays in the plane through the point on a, normal to the axis. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    return mbs_add_dot2(b, &j->i, 2, &j->j, 0) ? DAE_ERR_MEMORY : DAE_OK;
}

const mbs_joint_type mbs_joint_point_on_plane = {
    .name = "point_on_plane",
    .doc = "b stays in the plane normal to the axis",
    .spatial_rows = 1,
    .build = build,
};
