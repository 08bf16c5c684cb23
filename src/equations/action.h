/* Events of an equation file in a run: when, every, at. */
#ifndef DAE_EQUATIONS_ACTION_H
#define DAE_EQUATIONS_ACTION_H

#include "equations/model.h"

#include <daedalus/integrator.h>

typedef struct dae_actions dae_actions;

/* leaf[i]: the node of component i of y. NULL: no memory, or messages has an error. */
dae_actions *dae_actions_create(dae_model *m, int n, const int *leaf, dae_messages *messages);
void dae_actions_destroy(dae_actions *a); /* NULL allowed */
/* NULL: there are none. Lives as long as a. */
const dae_events *dae_actions_events(const dae_actions *a);
/* Instants of clocks inside (t0, t1), malloc'ed; their number, -1: no memory. */
int dae_actions_instants(const dae_model *m, double **out);
/* What makes y consistent after an event that assigned the components with changed[i] = 1; 0, or > 0: it cannot be. Not set: y stays
 * as assigned. */
typedef int dae_settle_fn(double t, double *y, const unsigned char *changed, void *user);
void dae_actions_settle(dae_actions *a, dae_settle_fn *settle, void *user);
/* What it consists of, for those who write it down. Inputs of both programs: t, parameters, y. */
typedef struct dae_actions_parts {
    const struct dae_program *phi, *value;
    int count;
    const int *stop, *first; /* of each event; its first assignment, count+1 */
    const int *phi_node, *value_node;
    int settles; /* 1: other variables follow what was assigned */
    int begins;  /* 1: a clock strikes at t0 */
} dae_actions_parts;
dae_actions_parts dae_actions_look(const dae_actions *a);
int dae_actions_target(const dae_actions *a, int k); /* the component */
/* Clocks that strike at t0 act on the initial values. */
int dae_actions_begin(const dae_actions *a, double t0, double *y); /* 0: no memory */

#endif
