/* Events and switches of runs with sensitivities. */
#ifndef DAE_SENSITIVITY_JUMP_H
#define DAE_SENSITIVITY_JUMP_H

#include "sensitivity/engine.h"

typedef struct dae_jumps {
    dae_engine *e;
    dae_integrator *it;
    double *event; /* grows: count values of dt/dp per event */
    int nevent, room;
    double *phi;                                  /* one row of switching functions */
    double *margin;                               /* and of margins */
    int *next, *old, *fresh;                      /* sides */
    double *z0, *zp0, *z, *zp, *f, *rate, *state; /* nz each */
    double *before, *shift;                       /* the state of all; count */
    double *a, *lambda;                           /* mechanisms */
} dae_jumps;

dae_status dae_jumps_create(dae_jumps *j, dae_engine *e, dae_error *err);
void dae_jumps_destroy(dae_jumps *j);
/* The events of the run, in the state of all; count 0: none. */
dae_events dae_jumps_events(dae_jumps *j);
/* The switches of the system, whose borders move with the parameters: to be set before the integrator is created. */
void dae_jumps_switches(dae_jumps *j);
/* What becomes of z, in place, a member's state near that of z0 before event i at t: from its own event on, back to t. For adjoints.
 * *shift: how much later its event is. 0: fine */
int dae_jumps_map(dae_jumps *j, dae_simulation *m, int i, double t, int rising, const double *z0, double *z,
                  double *shift);
/* What event i at t, which made `after` of `before` (NULL: nothing), makes of a derivative s = dz/dp of direction d (NULL: of none), exact;
 * *shift: dt/dp. > 0: not known. */
int dae_jumps_exact(dae_jumps *j, const dae_direction_of *d, int i, double t, const double *before,
                    const double *after, const double *s, double *out, double *shift);
/* z' at (t, z); variables whose derivative does not occur keep what `rate` holds on entry. 0: fine. */
int dae_jumps_rate(dae_jumps *j, double t, const double *z, double *rate);
/* After a terminal event: dt/dp of it. */
void dae_jumps_stopped(dae_jumps *j);

#endif
