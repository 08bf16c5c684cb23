/* Named expressions (let, output) along a solution. */
#ifndef DAE_EQUATIONS_OUTPUTS_H
#define DAE_EQUATIONS_OUTPUTS_H

#include "equations/first_order.h"

typedef struct dae_outputs dae_outputs;

/* Those of `output`; without such a line all of `let` (the first hundred). What needs derivatives that are no components is left out,
 * unless the system says what they are (y' = f). NULL: no memory. */
dae_outputs *dae_outputs_create(dae_model *m, const dae_first_order *s);
void dae_outputs_destroy(dae_outputs *o); /* NULL allowed */
int dae_outputs_count(const dae_outputs *o);
const char *dae_outputs_name(const dae_outputs *o, int i);
dae_dimension dae_outputs_dimension(const dae_outputs *o, int i);
/* All values at one point; 0, or DAE_ERR_MEMORY. */
int dae_outputs_values(const dae_outputs *o, double t, const double *y, double *value);

/* Their nodes, in components, t and parameters. */
const int *dae_outputs_nodes(const dae_outputs *o);

#endif
