/* Screw joint: cylindrical, and the slide is the pitch (travel per radian) times the angle. */
#include "multibody/mechanism.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (j->model->pitch == 0) return mbs_wrong(b, "a screw needs a pitch (travel per radian) other than 0");
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    if (mbs_add_dot2(b, &j->i, 0, &j->j, 0) || mbs_add_dot2(b, &j->i, 1, &j->j, 0)) return DAE_ERR_MEMORY;
    double c = mbs_initial_value(b, &j->slide) - j->model->pitch * mbs_initial_value(b, &j->angle);
    return mbs_add_coupling(b, &j->slide, 1, &j->angle, -j->model->pitch, c) ? DAE_OK : DAE_ERR_MEMORY;
}

const mbs_joint_type mbs_joint_screw = {"screw", 0, 1, 0, 5, MBS_SLIDE, build};
