/* What is made of a run: expressions of functionals, with their gradients by the free parameters. */
#ifndef DAE_FIT_GOAL_H
#define DAE_FIT_GOAL_H

#include <daedalus/fit.h>

#include "core/error.h"

typedef struct dae_goals dae_goals;

/* text: count of them. NULL: *err says what is wrong and in which column. points: of the grid, odd. */
dae_goals *dae_goals_open(const dae_problem *p, const dae_fit_free *free, int np, const char *const *text,
                          int count, int points, const dae_sensitivity_options *opt, dae_error *err);
void dae_goals_close(dae_goals *g); /* NULL allowed */
/* DAE_CANCELLED: the options stopped its run. Values (count) and, where gradient is not NULL, derivatives (np per goal) with the free parameters at x. */
dae_status dae_goals_evaluate(dae_goals *g, const double *x, double *value, double *gradient, dae_error *err);

#endif
