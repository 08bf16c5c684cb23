/* What the analyses use of other files. */
#ifndef MBS_ANALYSES_H
#define MBS_ANALYSES_H

#include "multibody/mechanism.h"

/* p moved by factor times small translations and rotations d (body axes). */
void mbs_move(const mbs_mechanism *m, const double *d, double factor, double *p);
/* d(f - G^T lambda) by small motions: nv rows of nv. */
void mbs_force_stiffness(const mbs_mechanism *m, double t, const double *y, const double *lambda, double *K);

/* signal.c: the name of a force that has no value at the state or within span behind it, along the present velocity; NULL: none. */
const char *mbs_undefined_force(const mbs_mechanism *m, double t, const double *y, double span);

#endif
