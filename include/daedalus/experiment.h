/* All about one run of a problem, in one header. */
#ifndef DAEDALUS_EXPERIMENT_H
#define DAEDALUS_EXPERIMENT_H

#include <daedalus/check.h>
#include <daedalus/formulation.h>
#include <daedalus/page.h>
#include <daedalus/provenance.h>
#include <daedalus/published.h>
#include <daedalus/reference.h>
#include <daedalus/results.h>
#include <daedalus/run.h>
#include <daedalus/solution.h>

#endif
