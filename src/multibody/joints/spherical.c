/* Spherical joint: two points coincide. In the plane it is the revolute joint. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    return mbs_add_coincide(b, &j->i, &j->j) ? DAE_ERR_MEMORY : DAE_OK;
}

const mbs_joint_type mbs_joint_spherical = {"spherical", 1, 1, 2, 3, MBS_NO_COORDINATE, build};
