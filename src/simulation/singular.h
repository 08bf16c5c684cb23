/* Singular poses that a run goes through, in the forms that nothing holds on their branch there.
 *
 * Where the rows of G become dependent two motions of a mechanism cross. The motion goes on along the branch of its momentum; one that is off
 * the constraints by g, relative to the size of the mechanism, is bent into the other where the rows are dependent but for
 * less than about sqrt(g), and a long step may find the solution of the other branch. Both are seen in the accelerations: over some step a
 * body changes its velocity many times faster than it did before. Only then, which costs nothing elsewhere, the rows are looked at. */
#ifndef DAE_SIMULATION_SINGULAR_H
#define DAE_SIMULATION_SINGULAR_H

#include "formulation/formulation.h"

typedef struct dae_singular dae_singular;

/* For runs in this form, which must live as long; NULL with *err fine: the form needs none. */
dae_singular *dae_singular_create(const dae_formulation *f, dae_error *err);
void dae_singular_destroy(dae_singular *w); /* NULL allowed */
/* A run begins, or goes on elsewhere. */
void dae_singular_forget(dae_singular *w);

/* The state (p, v, u) at a time inside the last step; 0: fine. */
typedef int dae_singular_fn(double t, double *pvu, void *user);
/* After the accepted step from `from` to t, at whose end the state is pvu. 1: the run went through a singular pose, just now and for the first
 * time; DAE_ERR_MEMORY: it could not be told. */
int dae_singular_look(dae_singular *w, double from, double t, const double *pvu, dae_singular_fn *inside,
                      void *user);
/* When it was; and how much of the rows (nlambda, in the order of the multipliers) is in the combination that vanishes. */
double dae_singular_time(const dae_singular *w);
const double *dae_singular_rows(const dae_singular *w, int *count);

#endif
