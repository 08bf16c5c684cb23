/* The structure of n equations in n variables, by Pryce's Sigma method: offsets, index, degrees of freedom, blocks, labels. */
#ifndef DAE_EQUATIONS_SIGMA_H
#define DAE_EQUATIONS_SIGMA_H

#include "equations/matching.h"

typedef struct dae_sigma {
    int n;
    int *match;     /* n: the variable of the transversal that equation i has */
    int *c, *d;     /* n each: how often equation i is differentiated, the highest order of variable j then */
    int index, dof; /* structural index; degrees of freedom, sum d - sum c */
    int nblock; /* fine blocks: strong components of J's pattern, in the order in which they can be solved */
    int *block; /* n: of each equation; its variable is match[i]'s */
    int *block_start, *block_row; /* nblock + 1, n: the equations of each block */
    int ncoarse;                  /* strong components of the whole pattern */
    int *depth;                   /* n: the largest c of the equations that variable j hangs on */
    int *label; /* n: index of variable j for methods that take the first-order system as it is written */
} dae_sigma;

/* s has as many rows as columns. 1: done; 0: no perfect matching (*m tells where); -1: out of memory. */
int dae_sigma_find(const dae_signature *s, dae_arena *arena, dae_matching *m, dae_sigma *out);

#endif
