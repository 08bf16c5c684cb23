/* The functions of the mechanical system. */
#ifndef MBS_CALLBACKS_H
#define MBS_CALLBACKS_H

#include "multibody/mechanism.h"

/* Sets the functions of m->system.mech that the mechanism has. */
void mbs_set_callbacks(mbs_mechanism *m);

#endif
