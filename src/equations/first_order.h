/* Equations that are first-order systems as they stand: y' = f(t, y), or M y' = f(t, y) with a constant M.
 *
 * The components of y are x_j^(k), k below the highest order of x_j (at least k = 0), those of order 0 first, then order 1 ...;
 * discrete values follow as components that never change between events. */
#ifndef DAE_EQUATIONS_FIRST_ORDER_H
#define DAE_EQUATIONS_FIRST_ORDER_H

#include "equations/model.h"

#include <daedalus/system.h>

typedef struct dae_first_order {
    int n, ncontinuous;    /* components; without discrete values */
    int *variable, *order; /* n: component i is x_variable^(order); discrete value d: variable -1-d */
    int *leaf, *rate;      /* n: nodes of component i and of f_i */
    int *top;              /* per variable: the component of its highest order */
    int dae;               /* 0: y' = f; 1: M y' = f */
    int *colptr, *rowind;  /* M by columns */
    double *mass;
    int *mass_node;    /* nodes of parameters that its values are, -1: a number */
    char why_not[200]; /* why it is no such system */
} dae_first_order;

/* NULL: no memory. dae < 0: the equations have not this form, see why_not. */
dae_first_order *dae_first_order_find(dae_model *m);
void dae_first_order_destroy(dae_first_order *s); /* NULL allowed */

#endif
