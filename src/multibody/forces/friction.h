#ifndef MBS_FORCES_FRICTION_H
#define MBS_FORCES_FRICTION_H

#include "multibody/mechanism.h"

/* Adds the friction of a joint with mu > 0. */
void mbs_apply_friction(const mbs_joint_data *j, mbs_context *x);

#endif
