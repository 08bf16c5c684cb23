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

#endif
