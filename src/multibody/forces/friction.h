#ifndef MBS_FORCES_FRICTION_H
#define MBS_FORCES_FRICTION_H

#include "multibody/mechanism.h"

/* Magnitude of the multipliers (of the system) that carry the normal force. */
double mbs_normal_force(const mbs_mechanism *m, const mbs_joint_data *j, const double *lambda);
/* Adds the friction of a joint with mu > 0. */
void mbs_apply_friction(const mbs_joint_data *j, mbs_context *x);

/* tanh(20) is 1 to the last digit: beyond so many times the speed of full friction it is constant. */
#define MBS_FULL_FRICTION 20

#endif
