/* Exact derivatives of a problem made of equations (problem/tangents.h). */
#ifndef DAE_EQUATIONS_TANGENTS_H
#define DAE_EQUATIONS_TANGENTS_H

#include "problem/tangents.h"

extern const dae_tangents dae_equation_tangents;

struct dae_equation_object;
typedef struct dae_tangent_set dae_tangent_set;
dae_tangent_set *dae_tangent_set_create(void);    /* empty: made when they are asked for. NULL: no memory */
void dae_tangent_set_destroy(dae_tangent_set *s); /* NULL allowed */
/* What changes with parameter k (nparameter values), after prepare. */
void dae_equation_direction(const struct dae_equation_object *o, int k, double *direction);
/* *out: derivative of a node of parameters along it. 0: no memory. Behind the lock of the graph. */
int dae_equation_by_parameters(const struct dae_equation_object *o, int node, const double *direction,
                               double *out);

/* form_tangent.c */
dae_form_tangents *dae_inside_open(const dae_problem *p, dae_form *f, dae_arena *arena, int *starved);
void dae_inside_close(dae_form_tangents *x);
int dae_inside_count(const dae_form_tangents *x);
int dae_inside_values(dae_form_tangents *x, double t, const double *z, const double *dz, int k, double *out);
int dae_inside_start(dae_form_tangents *x, int k, double *out);
int dae_inside_jacobian(dae_form_tangents *x, double t, const double *z, const double *dz, int k,
                        double *out);
int dae_inside_project(dae_form_tangents *x, double t, const double *before, const double *after, int k,
                       double *dz);
void dae_inside_pick(const dae_form_tangents *x, const double *values, double *dz, double *rate, double *dy);

#endif
