/* Knife edge: the point on b does not move along the local axis (planar: local y, space: local x of the point on b),
 * measured against body a. Nonholonomic. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    mbs_row *r = mbs_add_row(b, &mbs_row_knife, 1, &j->i, &j->j);
    if (!r) return DAE_ERR_MEMORY;
    mbs_set(r->b, j->axis_j);
    if (b->m->planar) {
        r->b[0] = -j->axis_j[1];
        r->b[1] = j->axis_j[0];
    }
    return DAE_OK;
}

const mbs_joint_type mbs_joint_knife_edge = {
    .name = "knife_edge",
    .doc = "b does not move sideways (planar: local y, spatial: local x of b); nonholonomic",
    .planar_rows = 1,
    .spatial_rows = 1,
    .build = build,
};
