/* A problem that is compiled code: a shared object with a dae_problem of its own (what `daedalus export --to c` writes), or with
 * the routines of the test set report (report_problem.h). */
#ifndef DAE_CATALOG_CODE_PROBLEM_H
#define DAE_CATALOG_CODE_PROBLEM_H

#include <daedalus/problem.h>

/* NULL: *err says what is missing. Settings are refused: such a problem has no parameters. */
dae_problem *dae_code_problem(const char *path, const dae_setting *setting, int nsetting, dae_error *err);

#endif
