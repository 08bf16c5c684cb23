/* Revolute joint: two points coincide, and in space two axes stay parallel. Leaves one angle. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_coincide(b, &j->i, &j->j)) return DAE_ERR_MEMORY;
    if (b->m->planar) return DAE_OK;
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return DAE_OK;
}

const mbs_joint_type mbs_joint_revolute = {"revolute", 1, 1, 2, 5, MBS_ANGLE, build};
