/* Experiments: one run of a problem with everything that is reported about it. */
#ifndef DAEDALUS_EXPERIMENT_H
#define DAEDALUS_EXPERIMENT_H

#include <daedalus/formulation.h>
#include <daedalus/problem.h>

DAE_BEGIN_DECLS

DAE_END_DECLS

#endif
