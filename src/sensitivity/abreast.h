/* The parts of abreast.c and abreast_mechanism.c. */
#ifndef DAE_SENSITIVITY_ABREAST_H
#define DAE_SENSITIVITY_ABREAST_H

#include "sensitivity/engine.h"

typedef struct dae_abreast {
    int copies;
    const dae_system **sys; /* copies: of each, bound to it */
    double *value;          /* values of one Jacobian */
    long count;             /* how many */
    int *place;             /* count*copies: where they stand in that of all */
    double *z, *zp, *f;     /* nz each */
    /* mechanical systems */
    dae_layout rows;   /* of the multipliers: holonomic constraints of all copies first */
    double *g, *block; /* nlambda; the largest of nlambda*nv, nv*nv, nv*np */
    long G_count;      /* values of G of one copy */
    long block_count;  /* values of the blocks of M of one copy */
} dae_abreast;

void dae_abreast_same_sides(const dae_engine *e);
void dae_abreast_mechanism(dae_engine *e); /* fills e->sys.mech; memory: see the arena */

#endif
