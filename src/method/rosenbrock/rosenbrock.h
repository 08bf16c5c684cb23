/* What the Rosenbrock methods share: a table of coefficients, one step for all of them. */
#ifndef DAE_METHOD_ROSENBROCK_ROSENBROCK_H
#define DAE_METHOD_ROSENBROCK_ROSENBROCK_H

#include "method/method.h"

enum { DAE_ROSENBROCK_STAGES = 4 };

/* Coefficients after the transformation l = Gamma k, [RNY] and [HW] (IV.7.25); what is not given is zero. */
typedef struct dae_rosenbrock_table {
    int stages, order, embedded;
    int any_jacobian; /* 1: a W-method, which keeps its order with every J and f_t */
    int reuse;        /* stage (from 0) that has the argument of the one before it; 0: none */
    double gamma;
    double alpha_i[DAE_ROSENBROCK_STAGES], gamma_i[DAE_ROSENBROCK_STAGES];
    double a[DAE_ROSENBROCK_STAGES][DAE_ROSENBROCK_STAGES], c[DAE_ROSENBROCK_STAGES][DAE_ROSENBROCK_STAGES];
    double m[DAE_ROSENBROCK_STAGES], m_hat[DAE_ROSENBROCK_STAGES];
    double end[DAE_ROSENBROCK_STAGES]; /* stage for the derivative at the end of a step */
    double start[DAE_ROSENBROCK_STAGES],
        start_end; /* derivative at its start, from the stages and that at the end */
} dae_rosenbrock_table;

extern const dae_rosenbrock_table dae_rosnys4_table, dae_wnys2_table;

#endif
