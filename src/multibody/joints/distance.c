/* Distance rod: |P_b - P_a| is constant. The multiplier is the force in the rod, positive in tension. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    double length = j->model->length > 0 ? j->model->length : mbs_initial_value(b, &j->length);
    if (!(length > 0))
        return mbs_wrong(b, "the length of a rod must be positive (points that coincide: use spherical)");
    return mbs_add_coordinate(b, &j->length, length) ? DAE_OK : DAE_ERR_MEMORY;
}

const mbs_joint_type mbs_joint_distance = {"distance", 1, 1, 1, 1, MBS_LENGTH, build};
