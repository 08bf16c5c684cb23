/* Daedalus: constrained mechanical systems and every other initial value problem.
 * One header for users; the parts can be included alone. */
#ifndef DAEDALUS_H
#define DAEDALUS_H

#include <daedalus/analysis.h>
#include <daedalus/equations.h>
#include <daedalus/experiment.h>
#include <daedalus/field.h>
#include <daedalus/fit.h>
#include <daedalus/formulation.h>
#include <daedalus/gefp.h>
#include <daedalus/integrator.h>
#include <daedalus/method.h>
#include <daedalus/multibody.h>
#include <daedalus/optimize.h>
#include <daedalus/options.h>
#include <daedalus/path.h>
#include <daedalus/plugin.h>
#include <daedalus/problem.h>
#include <daedalus/quadrature.h>
#include <daedalus/sensitivity.h>
#include <daedalus/simulation.h>
#include <daedalus/status.h>
#include <daedalus/steady.h>
#include <daedalus/study.h>
#include <daedalus/system.h>
#include <daedalus/version.h>

#endif
