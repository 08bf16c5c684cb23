/* A mechanical system recognized in typed equations, see mechanical.c. */
#ifndef DAE_EQUATIONS_MECHANICAL_H
#define DAE_EQUATIONS_MECHANICAL_H

typedef struct dae_mechanical dae_mechanical;
struct dae_equation_system;

/* regular: the system Jacobian is so at the start. NULL: the equations are something else (or no memory). Adds nodes to the graph. */
dae_mechanical *dae_mechanical_find(const struct dae_equation_system *s, int regular);
int dae_mechanical_friction(const dae_mechanical *m); /* 1: forces depend on the multipliers */
int dae_mechanical_explicit(
    const dae_mechanical *m); /* 1: accelerations have names, there are 4 coordinates or more */
int dae_mechanical_redundant(const dae_mechanical *m); /* constraints that follow from others */
void dae_mechanical_destroy(dae_mechanical *m);        /* NULL allowed */

#endif
