/* Arithmetic of dimensions: what +, *, functions do with units. */
#ifndef DAE_LANGUAGE_DIMENSION_H
#define DAE_LANGUAGE_DIMENSION_H

#include "language/expression.h"

int dae_dimension_same(const dae_dimension *a, const dae_dimension *b);
/* a * b^power */
dae_dimension dae_dimension_times(const dae_dimension *a, const dae_dimension *b, int power);
/* Operands of +, -, <, min: 0 if both are certain and differ; *out is the certain one, or that of a. */
int dae_dimension_agree(const dae_dimension *a, const dae_dimension *b, dae_dimension *out);
/* The dimension of a function of expression_code.h. fault[0] < 0: fine; fault[1] < 0: in[fault[0]] must be a number without
 * unit; else in[fault[0]] and in[fault[1]] must agree. */
dae_dimension dae_dimension_call(int op, const dae_dimension *in, int fault[2]);

#endif
