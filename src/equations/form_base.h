/* What the forms of analyzed equations have in common: the point X that they stand at with its discrete values and sides, what an event changes
 * in it, tolerances, checkpoints. */
#ifndef DAE_EQUATIONS_FORM_BASE_H
#define DAE_EQUATIONS_FORM_BASE_H

#include "equations/forms.h"

typedef struct dae_form_base {
    dae_equation_system *s;
    dae_reduced *d;
    dae_sides *sides; /* and discrete values */
    double *X;        /* total: the last point that was lifted or lowered; at first the start */
    double *y;        /* n of the problem */
    unsigned char *changed;
    void (*renew)(void *user); /* sides or discrete values are others; NULL: d is told */
    void *user;
} dae_form_base;

int dae_form_base_open(dae_form_base *b,
                       dae_equation_system *s); /* 0: no memory; what there is can be closed */
void dae_form_base_close(dae_form_base *b);

/* Discrete values of the problem and the present sides: 1 if they are others than before. */
int dae_form_base_take(dae_form_base *b, const double *discrete);
void dae_form_base_renew(dae_form_base *b);
/* X by `solve`, with these discrete values and the sides of kinks that were let go. */
typedef int dae_form_solve(void *user, double t, const double *z, const double **X);
int dae_form_base_solve(dae_form_base *b, double t, const double *z, const double *discrete,
                        dae_form_solve *solve, void *user, const double **X);

/* X from the values of the problem: those that differ from the last ones were assigned and stay, the others follow; where none does, not a bit
 * changes. */
dae_status dae_form_base_lift(dae_form_base *b, double t, const double *y, dae_error *err);
/* The states at X; where there are none, *err names the equations that depend on each other. */
dae_status dae_form_base_choose(dae_form_base *b, double t, dae_error *err);
/* The values of the problem and their rates (NULL: not wanted; NAN: not known) at X, which becomes the last one. */
void dae_form_base_lower(dae_form_base *b, const double *X, const double *discrete, double *y, double *yp);
/* Values X[at[k]], ascending, get the tolerance of the component that they are, or of the highest below; discrete values follow. */
void dae_form_base_tolerance(const dae_form_base *b, int count, const int *at, const double *given,
                             double *out);

/* Memory of a checkpoint: discrete values with sides, the last point, the choice of states and where Newton starts. */
size_t dae_form_base_save(const dae_form_base *b, void *buffer);
int dae_form_base_load(dae_form_base *b, const void *buffer, size_t size);

#endif
