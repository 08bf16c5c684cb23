/* M y' = f(t, y) evaluated: f, its exact sparse Jacobian and df/dt as programs made of nodes of a graph.
 *
 * The callbacks have the form that dae_ode and dae_dae want; their user is the flow. Threads may share a flow: each evaluation
 * borrows one of its work arrays. */
#ifndef DAE_EQUATIONS_FLOW_H
#define DAE_EQUATIONS_FLOW_H

#include "equations/model.h"

#include <daedalus/system.h>

typedef struct dae_flow dae_flow;

/* leaf[i]: node of component i of y (a variable or a discrete value), rate[i]: node of f_i, rewritten where it is not smooth.
 * Adds nodes to the graph of the model, which is not needed afterwards. NULL: no memory, or a rate needs a leaf that is no component (*missing is its
 * node, else -1). */
dae_flow *dae_flow_create(dae_model *m, int n, const int *leaf, int *rate, int *missing);
void dae_flow_destroy(dae_flow *f); /* NULL allowed */

int dae_flow_rhs(double t, const double *y, double *out, void *flow);
int dae_flow_jacobian(double t, const double *y, double *out, void *flow);
int dae_flow_time(double t, const double *y, double *out, void *flow);
/* The same with given sides (NULL: those of the flow), for those who keep sides themselves; margins as dae_switch_fn. */
typedef enum dae_flow_part { DAE_FLOW_RATES, DAE_FLOW_JACOBIAN, DAE_FLOW_TIME } dae_flow_part;
int dae_flow_on(const dae_flow *f, dae_flow_part what, const int *side, double t, const double *y,
                double *out);
int dae_flow_margins(const dae_flow *f, const int *side, double t, const double *y, double *margin,
                     int *next);
/* Of the Jacobian; lives as long as the flow. */
dae_pattern dae_flow_pattern(const dae_flow *f);
/* Where f is not smooth; count 0: nowhere. Gives each run a copy of the flow with sides of its own. */
dae_switches dae_flow_switches(dae_flow *f);
/* What f is divided by. */
dae_poles dae_flow_poles(dae_flow *f);
/* What it consists of, for those who write it down. Inputs of all programs: t, parameters, y, sides of switches. */
typedef struct dae_flow_parts {
    const struct dae_program *f, *jacobian, *time, *literal, *frozen;
    const struct dae_branches *branches;
    const char *const *switch_name;
    int nparameter, entries, values; /* entries of the Jacobian; values in its layout */
    const int *entry, *place;        /* nodes of the entries; where they stand */
    const double *parameter;
} dae_flow_parts;
dae_flow_parts dae_flow_look(const dae_flow *f);
/* The sides that an evaluation of this run takes (branches->count numbers). 0, or < 0: no memory. */
int dae_flow_sides(const dae_flow *f, double t, const double *y, double *side);
long dae_flow_operations(const dae_flow *f, int jacobian);

#endif
