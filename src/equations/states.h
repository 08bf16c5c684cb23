/* Which variables are states: dummy derivatives, chosen by elimination of the system Jacobian. */
#ifndef DAE_EQUATIONS_STATES_H
#define DAE_EQUATIONS_STATES_H

#include "equations/analysis.h"

/* The choice: level[j] = p: x_j^(d_j - 1), ..., x_j^(d_j - p) are no states but follow from the equations; they are the unknowns of
 * stages -1 .. -p. */
typedef struct dae_state_choice {
    int *level; /* n */
    /* smallest pivot over all levels, rows scaled by their largest entry: 1 is best, 0 singular */
    double quality;
} dae_state_choice;

/* What both work with, for n variables; one per thread. */
typedef struct dae_state_space dae_state_space;
dae_state_space *dae_state_space_create(int n);   /* NULL: no memory */
void dae_state_space_destroy(dae_state_space *w); /* NULL allowed */

/* The best choice at a point. J: values of the entries of the analysis; X: the point, for the sizes of variables. 1: done; 0: there is
 * none, *equation is one that cannot be solved for anything; -1: no memory. */
int dae_states_choose(dae_state_space *w, const dae_analysis *a, const double *J, const double *X,
                      dae_state_choice *out, int *equation);
/* The quality of a choice at another point; < 0: no memory. */
double dae_states_quality(dae_state_space *w, const dae_analysis *a, const double *J, const double *X,
                          const int *level);

#endif
