/* HIRES: the high irradiance response of plants, eight reactants, stiff.
 *
 *     y1' = -1.71 y1 + 0.43 y2 + 8.32 y3 + 0.0007        y5' = -1.745 y5 + 0.43 (y6 + y7)
 *     y2' =  1.71 y1 - 8.75 y2                           y6' = -280 y6 y8 + 0.69 (y4 + y7) + 1.71 y5 - 0.43 y6
 *     y3' = -10.03 y3 + 0.43 y4 + 0.035 y5               y7' =  280 y6 y8 - 1.81 y7
 *     y4' =  8.32 y2 + 1.71 y3 - 1.12 y4                 y8' = -y7'
 *
 * E. Schaefer 1975; Test Set for IVP Solvers, release 2.3, section II.1. The Jacobian has bandwidths
 * (2,2) but is declared full, as in the test set. */
#include "testset/testset.h"

#define N 8

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    double binding = 280 * y[5] * y[7];
    f[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
    f[1] = 1.71 * y[0] - 8.75 * y[1];
    f[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
    f[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
    f[4] = -1.745 * y[4] + 0.43 * (y[5] + y[6]);
    f[5] = -binding + 0.69 * (y[3] + y[6]) + 1.71 * y[4] - 0.43 * y[5];
    f[6] = binding - 1.81 * y[6];
    f[7] = -f[6];
    return 0;
}

#define J(i, j) jac[(i)-1 + ((j)-1) * N]

static int jacobian(double t, const double *y, double *jac, void *user)
{
    (void)t;
    (void)user;
    double d6 = 280 * y[7], d8 = 280 * y[5]; /* of the binding rate */
    J(1, 1) = -1.71;
    J(1, 2) = 0.43;
    J(1, 3) = 8.32;
    J(2, 1) = 1.71;
    J(2, 2) = -8.75;
    J(3, 3) = -10.03;
    J(3, 4) = 0.43;
    J(3, 5) = 0.035;
    J(4, 2) = 8.32;
    J(4, 3) = 1.71;
    J(4, 4) = -1.12;
    J(5, 5) = -1.745;
    J(5, 6) = 0.43;
    J(5, 7) = 0.43;
    J(6, 4) = 0.69;
    J(6, 5) = 1.71;
    J(6, 6) = -d6 - 0.43;
    J(6, 7) = 0.69;
    J(6, 8) = -d8;
    J(7, 6) = d6;
    J(7, 7) = -1.81;
    J(7, 8) = d8;
    J(8, 6) = -d6;
    J(8, 7) = 1.81;
    J(8, 8) = -d8;
    return 0;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[N] = {1, 0, 0, 0, 0, 0, 0, 0.0057};
    static const double reference[N] = {0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4,
                                        0.1175651343283149e-2, 0.2386356198831331e-2, 0.6238968252742796e-2,
                                        0.2849998395185769e-2, 0.2850001604814231e-2};
    static const char *const names[N] = {"Pr", "Pfr", "PrX", "PfrX", "PrX2", "PfrX2", "PfrX2E", "E"};
    static const int plot[] = {0, 5, 7};
    (void)err;
    p->system = (dae_system){
        .kind = DAE_KIND_ODE, .ode = {.n = N, .f = rhs, .jac = jacobian}, .structure = {.autonomous = 1}};
    p->t_end = 321.8122;
    p->y0 = y0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-9;
    p->reference = reference;
    p->reference_digits = 15;
    p->reference_source =
        "test set (RADAU5, extended precision, tolerances 1.1e-18); confirmed in extended precision";
    p->component = names;
    p->plot = plot;
    p->nplot = 3;
    return DAE_OK;
}

const dae_problem_entry dae_problem_hires = {
    .info = {.name = "hires",
             .title = "High irradiance response",
             .kind = DAE_KIND_ODE,
             .n = N,
             .stiff = 1,
             .origin = "plant physiology, 8 reactants (E. Schaefer 1975)"},
    .setup = setup,
};
