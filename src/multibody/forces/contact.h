#ifndef MBS_FORCES_CONTACT_H
#define MBS_FORCES_CONTACT_H

#include "multibody/mechanism.h"

/* Its fields. */
typedef struct mbs_contact {
    double k, c, mu, radius, v_s;
    int stick;
} mbs_contact;

/* Tangential speed of a contact (infinite: they do not touch), its normal force and the magnitude of friction. */
double mbs_contact_slip(const mbs_force_data *f, mbs_context *x, double *N, double *force);
/* States u (mode, z) with which it sticks from here on; mode 0 if they do not touch. */
void mbs_contact_stick(const mbs_force_data *f, mbs_context *x, double *u);

#endif
