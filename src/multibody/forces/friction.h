#ifndef MBS_FORCES_FRICTION_H
#define MBS_FORCES_FRICTION_H

#include "multibody/dual.h"

/* Magnitude of the multipliers (of the system) that carry the normal force. */
double mbs_normal_force(const mbs_mechanism *m, const mbs_joint_data *j, const double *lambda);
/* Adds the friction of a joint with mu > 0. */
void mbs_apply_friction(const mbs_joint_data *j, mbs_context *x);

/* v tanh(|v|/s)/|v|, smooth at 0; side: the switch at which it is full, counted by the caller. */
mbs_dual3 mbs_slip_direction(mbs_context *x, int side, mbs_dual3 v, double s);

/* tanh(20) is 1 to the last digit: beyond so many times the speed of full friction it is constant. */
#define MBS_FULL_FRICTION 20

#endif
