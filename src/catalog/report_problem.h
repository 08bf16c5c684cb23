/* A problem compiled from code in the format of the test set report ([TESTSET] IV.3): a shared object with the routines PROB, INIT,
 * SETTOLERANCES, SETOUTPUT, FEVAL, JEVAL, MEVAL and SOLUT, in Fortran or C. */
#ifndef DAE_CATALOG_REPORT_PROBLEM_H
#define DAE_CATALOG_REPORT_PROBLEM_H

#include <daedalus/problem.h>

/* NULL: *err says which routine is missing or what it said. Settings are refused: such a problem has no parameters. */
dae_problem *dae_report_problem(const char *path, const dae_setting *setting, int nsetting, dae_error *err);

#endif
