/* All about many runs, in one header. */
#ifndef DAEDALUS_STUDY_H
#define DAEDALUS_STUDY_H

#include <daedalus/about.h>
#include <daedalus/compare.h>
#include <daedalus/experiment.h>
#include <daedalus/matrix.h>
#include <daedalus/report.h>
#include <daedalus/scale.h>
#include <daedalus/solver.h>
#include <daedalus/store.h>
#include <daedalus/sweep.h>
#include <daedalus/table.h>
#include <daedalus/workers.h>
#include <daedalus/workprec.h>

#endif
