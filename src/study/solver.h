/* Methods that a study can name. */
#ifndef DAE_STUDY_SOLVER_H
#define DAE_STUDY_SOLVER_H

#include <daedalus/solver.h>

/* Those of the registry, then those of the caller (NULL: none); NULL past the end. */
const dae_method_info *dae_solver_method_at(const struct dae_method *const *own, int k);

#endif
