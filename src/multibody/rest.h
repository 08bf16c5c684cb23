/* Equilibrium of large mechanisms: sparse Newton steps with a trust region that see contacts before they are there. */
#ifndef MBS_REST_H
#define MBS_REST_H

#include <daedalus/analysis.h>

#include "multibody/mechanism.h"

/* 1: mbs_rest_downhill takes it. */
int mbs_rest_takes(const mbs_mechanism *m);
/* Downhill from the pose in y (velocities 0); *off: what forces are out of balance, relative to their size. DAE_OK, whether a
 * balance was found or not, or DAE_ERR_MEMORY. watch: NULL allowed. */
dae_status mbs_rest_downhill(const mbs_mechanism *m, double t, double balanced, const mbs_watch *watch,
                             double *y, double *off);

#endif
