/* Cylindrical joint: the axes stay on one line. Leaves an angle and a slide. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    if (mbs_add_dot2(b, &j->i, 0, &j->j, 0) || mbs_add_dot2(b, &j->i, 1, &j->j, 0)) return DAE_ERR_MEMORY;
    return DAE_OK;
}

const mbs_joint_type mbs_joint_cylindrical = {"cylindrical", 0, 1, 0, 4, MBS_SLIDE, build};
