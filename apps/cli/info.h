/* daedalus info: the same facts as text (cmd_info.c) and as JSON (info_json.c). */
#ifndef DAEDALUS_CLI_INFO_H
#define DAEDALUS_CLI_INFO_H

#include "cli.h"

void info_problem_json(const dae_problem_info *info, const dae_problem *p);
void info_solver_json(const dae_method_info *m);
void info_formulation_json(const dae_formulation_info *f);

#endif
