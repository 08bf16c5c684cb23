/* Accelerations and multipliers at many states of one mechanism: what does not change between them is kept. */
#ifndef MBS_ACCELERATION_H
#define MBS_ACCELERATION_H

#include "multibody/mechanism.h"

typedef struct mbs_acceleration_solver mbs_acceleration_solver;

mbs_acceleration_solver *mbs_acceleration_create(const mbs_mechanism *m, dae_error *err);
void mbs_acceleration_destroy(mbs_acceleration_solver *c); /* NULL allowed */
/* a (nv) and lambda (nlambda), either may be NULL; the least ones where they are not unique. The result depends on
 * the state only, not on those before. */
dae_status mbs_acceleration_at(mbs_acceleration_solver *c, double t, const double *y, double *a,
                               double *lambda, dae_error *err);
/* 1: they are unique at the state; 0: constraints lose rank there, or a body without mass can move. */
int mbs_acceleration_unique(const mbs_mechanism *m, double t, const double *y);

/* energy.c: as mbs_mechanism_energy. */
dae_status mbs_energy_at(const mbs_mechanism *m, mbs_acceleration_solver *c, double t, const double *y,
                         dae_energy *out);

/* output.c: sensors, reactions and energy of the mechanism become those of the problem that owns it. */
dae_status mbs_problem_derive(dae_problem *p, const mbs_mechanism *m);

#endif
