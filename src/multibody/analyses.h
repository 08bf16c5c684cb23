/* What the analyses use of other files. */
#ifndef MBS_ANALYSES_H
#define MBS_ANALYSES_H

#include <daedalus/analysis.h>

#include "multibody/mechanism.h"

/* p moved by factor times small translations and rotations d (body axes). */
void mbs_move(const mbs_mechanism *m, const double *d, double factor, double *p);
/* d(f - G^T lambda) by small motions: nv rows of nv. */
void mbs_force_stiffness(const mbs_mechanism *m, double t, const double *y, const double *lambda, double *K);

/* All bodies turn together with W about an axis through center: what rests in a frame that turns so. */
typedef struct mbs_turning {
    double W[3], center[3];
} mbs_turning;
/* That of the body that turns fastest in y. */
dae_status mbs_turning_of(const mbs_mechanism *m, double t, const double *y, mbs_turning *turning,
                          dae_error *err);
/* Equilibrium, downhill from the pose in y, and its multipliers; turning NULL: at rest; watch: NULL allowed. */
dae_status mbs_find_equilibrium(const mbs_mechanism *m, const mbs_turning *turning, const mbs_watch *watch,
                                double t, double *y, dae_error *err);
dae_status mbs_find_multipliers(const mbs_mechanism *m, const mbs_turning *turning, double t, const double *y,
                                double *lambda, dae_error *err);

/* signal.c: the name of a force that has no value at the state or within span behind it, along the present velocity; NULL: none. */
const char *mbs_undefined_force(const mbs_mechanism *m, double t, const double *y, double span);

#endif
