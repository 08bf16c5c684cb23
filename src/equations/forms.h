/* The forms of a system of equations (problem/form.h), and what they are made of. */
#ifndef DAE_EQUATIONS_FORMS_H
#define DAE_EQUATIONS_FORMS_H

#include "equations/initial.h"
#include "equations/mechanical.h"
#include "equations/reduced.h"
#include "equations/sides.h"
#include "problem/form.h"

#include <pthread.h>

/* An analyzed model with its consistent start; constant after it was made, shared by all runs but for the graph, to which restarts
 * add derivatives: behind the lock. */
typedef struct dae_equation_system {
    dae_model *model;
    dae_arena *arena;
    dae_analysis analysis;
    dae_initial initial;
    dae_smooth *smooth; /* what the forms are made of */
    dae_reduction *reduction;
    dae_mechanical *mechanical; /* NULL: the equations are no mechanical system */
    pthread_mutex_t lock;
    double *parameter, *discrete; /* discrete: with the sides at the start behind */
    int n, ncontinuous;          /* components of the problem; those behind ncontinuous are discrete values */
    const int *variable, *order; /* n: component i is x_variable^(order) */
} dae_equation_system;

/* Analyzes the model (borrowed) whose components are given, and finds its start. NULL: messages tell. */
dae_equation_system *dae_equation_system_create(dae_model *m, int n, int ncontinuous, const int *variable,
                                                const int *order, dae_messages *messages);
void dae_equation_system_destroy(dae_equation_system *s); /* NULL allowed */

/* Components of the problem from X. */
void dae_equation_system_components(const dae_equation_system *s, const double *X, double *y);
/* Their rates; NAN: those of an algebraic variable are not known. Discrete values are left out. */
void dae_equation_system_rates(const dae_equation_system *s, const double *X, double *yp);
/* Index of component i for methods that take the system as written. */
int dae_equation_system_label(const dae_equation_system *s, int i);

/* What X becomes after values of the problem were changed by an event: values in `changed` (n flags) stay, states move as little as
 * possible. before: X until then, NULL: there is none. 0: fine; > 0: there are no consistent values. */
int dae_equation_system_restart(dae_equation_system *s, double t, const double *y,
                                const unsigned char *changed, const double *discrete, const double *before,
                                double *X);
/* What a restart returned, as a status. */
dae_status dae_equation_system_restarted(int r, double t, dae_error *err);

extern const dae_form_type dae_form_statespace, dae_form_index1, dae_form_descriptor, dae_form_projected,
    dae_form_residual;

/* What derivatives inside of a form need of it (form_tangent.c). */
typedef struct dae_form_inside {
    /* X at z, and the discrete values with the sides behind them. 0: fine. */
    int (*point)(dae_form *f, double t, const double *z, const double **X, const double **discrete);
    /* Places in X of z[0], z[1], ...: states, or more; the discrete values follow. */
    const int *(*given)(const dae_form *f, int *count);
    /* Where the derivatives of all equations (entries.h) stand in its Jacobian; NULL: it has none. */
    const int *(*entries)(const dae_form *f);
} dae_form_inside;
extern const dae_form_inside dae_statespace_inside, dae_index1_inside, dae_projected_inside;

/* The forms of a system; as_written is the name of the problem's own. */
dae_forms *dae_equation_forms_create(dae_equation_system *s, const char *as_written);

#endif
