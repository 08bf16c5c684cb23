/* What expressions of users about a run may name, as numbers: components, then derived columns (sensors, reactions), then t, then
 * parameters of the problem. */
#ifndef DAE_SENSITIVITY_QUANTITY_H
#define DAE_SENSITIVITY_QUANTITY_H

#include <daedalus/problem.h>

#include "language/expression.h"

int dae_quantity_count(const dae_problem *p);
int dae_quantity_find(const dae_problem *p, const char *name); /* -1: there is none of that name */
/* Numbers of t and of the first parameter. */
int dae_quantity_time(const dae_problem *p);
int dae_quantity_parameters(const dae_problem *p);
/* For dae_expression_create; user: the problem. */
int dae_quantity_lookup(const char *name, dae_symbol *out, void *user);
/* The expression, or NULL: *err quotes the text and says the column. */
dae_expression *dae_quantity_read(const dae_problem *p, const char *text, dae_error *err);
/* 1: a column occurs in it. */
int dae_quantity_has_columns(const dae_problem *p, const dae_expression *e);

#endif
