/* Instants at which a system is not smooth because of time alone: `if t < 5`, mod(t, T), corners of tables over t. */
#ifndef DAE_EQUATIONS_INSTANTS_H
#define DAE_EQUATIONS_INSTANTS_H

#include "equations/model.h"

/* All instants inside (t0, t1) at which one of the nodes switches through time only, ascending. Their number, *out malloc'ed
 * (free it); -1: no memory; -2: more than a hundred thousand. */
int dae_instants_find(dae_model *m, int nroot, const int *root, double **out);

#endif
