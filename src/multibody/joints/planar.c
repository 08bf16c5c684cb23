/* Planar joint: a plane on a, with the axis as its normal, and a plane on b stay on each other. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return mbs_add_dot2(b, &j->i, 2, &j->j, 0) ? DAE_ERR_MEMORY : DAE_OK;
}

const mbs_joint_type mbs_joint_planar = {"planar", 0, 1, 0, 3, MBS_NO_COORDINATE, build};
