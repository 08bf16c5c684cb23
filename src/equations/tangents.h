/* Exact derivatives of a problem made of equations (problem/tangents.h). */
#ifndef DAE_EQUATIONS_TANGENTS_H
#define DAE_EQUATIONS_TANGENTS_H

#include "problem/tangents.h"

extern const dae_tangents dae_equation_tangents;

struct dae_equation_object;
typedef struct dae_tangent_set dae_tangent_set;
dae_tangent_set *dae_tangent_set_create(void);    /* empty: made when they are asked for. NULL: no memory */
void dae_tangent_set_destroy(dae_tangent_set *s); /* NULL allowed */

#endif
