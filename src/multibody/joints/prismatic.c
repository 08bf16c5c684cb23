/* Prismatic joint: sliding along an axis without rotation. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (b->m->planar) {
        if (mbs_add_dot2(b, &j->i, 0, &j->j, 0)) return DAE_ERR_MEMORY;
        return mbs_add_coordinate(b, &j->angle, mbs_initial_value(b, &j->angle)) ? DAE_OK : DAE_ERR_MEMORY;
    }
    if (mbs_add_dot2(b, &j->i, 0, &j->j, 0) || mbs_add_dot2(b, &j->i, 1, &j->j, 0)) return DAE_ERR_MEMORY;
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return mbs_add_dot1(b, &j->i, 0, &j->j, 1) ? DAE_ERR_MEMORY : DAE_OK;
}

const mbs_joint_type mbs_joint_prismatic = {"prismatic", 1, 1, 2, 5, MBS_SLIDE, build};
