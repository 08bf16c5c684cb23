/* What given forces and torques have in common: a value of expressions, in the axes of the world or of a body. */
#ifndef MBS_FORCES_GIVEN_H
#define MBS_FORCES_GIVEN_H

#include "multibody/dual.h"
#include "multibody/field.h"

typedef struct mbs_given {
    int frame; /* 1: axes of the body */
} mbs_given;

extern const mbs_field mbs_given_fields[];

int mbs_given_in_body(const mbs_force_data *f);
mbs_dual3 mbs_given_value(const mbs_force_data *f, mbs_context *x); /* 0 where there is no expression */
/* 1: it is along the coordinate of a joint, and was applied. */
int mbs_given_along_joint(const mbs_force_data *f, mbs_context *x);

#endif
