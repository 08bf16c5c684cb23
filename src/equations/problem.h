/* What a problem made of equations keeps. */
#ifndef DAE_EQUATIONS_PROBLEM_H
#define DAE_EQUATIONS_PROBLEM_H

#include "equations/action.h"
#include "equations/first_order.h"
#include "equations/flow.h"
#include "equations/forms.h"
#include "equations/outputs.h"
#include "equations/residual.h"
#include "equations/tangents.h"
#include "problem/problem.h"

/* What the problem's functions need; destroyed with it. */
typedef struct dae_equation_object {
    dae_model *m;
    dae_first_order *s;
    dae_flow *flow;              /* y' = f or M y' = f; NULL: */
    dae_implicit *implicit;      /* F(t, y, y') = 0 */
    dae_equation_system *system; /* analyzed, unless the equations are an ODE as they stand */
    dae_actions *actions;
    dae_outputs *outputs;
    double *instant;
    dae_tangent_set *tangents;
} dae_equation_object;

void dae_equation_object_destroy(void *p);

/* Parts of filling a problem. */
const char *dae_equation_unit(dae_problem *p, const dae_dimension *d); /* "" if there is none */
void dae_equation_plot(dae_problem *p, const dae_model *m, const int *component);
/* An option of solve; rtol and atol are kept apart. */
int dae_equation_option(dae_problem *p, const dae_model_setting *x, double *rtol, double *atol,
                        dae_messages *messages);
/* Parameters of the model, with room for more behind them. */
void dae_equation_parameters(dae_problem *p, const dae_model *m, dae_problem_info *info, int more);
/* Instants of switches in time and of clocks. 0: no memory. */
int dae_equation_instants(dae_problem *p, dae_equation_object *o, dae_messages *messages);

#endif
