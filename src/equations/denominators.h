/* What expressions are divided by and could become zero. */
#ifndef DAE_EQUATIONS_DENOMINATORS_H
#define DAE_EQUATIONS_DENOMINATORS_H

#include "equations/model.h"

/* The nodes that change with t or the solution and may change their sign, ascending, malloc'ed: *list (free it). Their number; -1: no memory. */
int dae_denominators_find(const dae_model *m, int n, const int *rate, int **list);

#endif
