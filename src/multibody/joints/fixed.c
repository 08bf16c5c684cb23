/* Fixed joint: no relative motion. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_coincide(b, &j->i, &j->j)) return DAE_ERR_MEMORY;
    if (b->m->planar)
        return mbs_add_coordinate(b, &j->angle, mbs_initial_value(b, &j->angle)) ? DAE_OK : DAE_ERR_MEMORY;
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return mbs_add_dot1(b, &j->i, 0, &j->j, 1) ? DAE_ERR_MEMORY : DAE_OK;
}

const mbs_joint_type mbs_joint_fixed = {"fixed", 1, 1, 3, 6, MBS_NO_COORDINATE, build};
