/* The axis on a and local x of the point on b stay perpendicular. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    mbs_row *r = mbs_add_row(b, &mbs_row_dot1, 1, &j->i, &j->j);
    if (!r) return DAE_ERR_MEMORY;
    mbs_column(j->i.C, 2, r->a);
    mbs_set(r->b, j->axis_j);
    return DAE_OK;
}

const mbs_joint_type mbs_joint_perpendicular = {
    .name = "perpendicular",
    .doc = "the axis and local x of b stay perpendicular",
    .spatial_rows = 1,
    .build = build,
};
