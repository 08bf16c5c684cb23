/* HIRES: the high irradiance response of plants, eight reactants, stiff.
 *
 *     y1' = -k1 y1 + k2 y2 + k6 y3 + oks             y5' = -(k1 + k5) y5 + k2 (y6 + y7)
 *     y2' =  k1 y1 - (k2 + k3) y2                    y6' = -kplus y6 y8 + k4 y4 + kminus y7 + k1 y5 - k2 y6
 *     y3' = -(k1 + k6) y3 + k2 y4 + k5 y5            y7' =  kplus y6 y8 - (k2 + kminus + kstar) y7
 *     y4' =  k3 y2 + k1 y3 - (k2 + k4) y4            y8' = -y7'
 *
 * E. Schaefer 1975; Test Set for IVP Solvers, release 2.3, section II.1. The Jacobian has bandwidths
 * (2,2) but is declared full, as in the test set. */
#include "testset/testset.h"

#define N 8

typedef struct rates {
    double k1, k2, k3, k4, k5, k6, kplus, kminus, kstar, oks; /* in the order of the parameters */
    double k23, k16, k24, k15;                                /* k2 + k3, ... */
    double loss, ratio;                                       /* k2 + kminus + kstar, kminus/k4 */
} rates;

static int rhs(double t, const double *y, double *f, void *user)
{
    const rates *c = user;
    (void)t;
    double binding = c->kplus * y[5] * y[7];
    f[0] = -c->k1 * y[0] + c->k2 * y[1] + c->k6 * y[2] + c->oks;
    f[1] = c->k1 * y[0] - c->k23 * y[1];
    f[2] = -c->k16 * y[2] + c->k2 * y[3] + c->k5 * y[4];
    f[3] = c->k3 * y[1] + c->k1 * y[2] - c->k24 * y[3];
    f[4] = -c->k15 * y[4] + c->k2 * (y[5] + y[6]);
    f[5] = -binding + c->k4 * (y[3] + c->ratio * y[6]) + c->k1 * y[4] - c->k2 * y[5];
    f[6] = binding - c->loss * y[6];
    f[7] = -f[6];
    return 0;
}

#define J(i, j) jac[(i)-1 + ((j)-1) * N]

static int jacobian(double t, const double *y, double *jac, void *user)
{
    const rates *c = user;
    (void)t;
    double d6 = c->kplus * y[7], d8 = c->kplus * y[5]; /* of the binding rate */
    J(1, 1) = -c->k1;
    J(1, 2) = c->k2;
    J(1, 3) = c->k6;
    J(2, 1) = c->k1;
    J(2, 2) = -c->k23;
    J(3, 3) = -c->k16;
    J(3, 4) = c->k2;
    J(3, 5) = c->k5;
    J(4, 2) = c->k3;
    J(4, 3) = c->k1;
    J(4, 4) = -c->k24;
    J(5, 5) = -c->k15;
    J(5, 6) = c->k2;
    J(5, 7) = c->k2;
    J(6, 4) = c->k4;
    J(6, 5) = c->k1;
    J(6, 6) = -d6 - c->k2;
    J(6, 7) = c->kminus;
    J(6, 8) = -d8;
    J(7, 6) = d6;
    J(7, 7) = -c->loss;
    J(7, 8) = d8;
    J(8, 6) = -d6;
    J(8, 7) = c->loss;
    J(8, 8) = -d8;
    return 0;
}

static const dae_parameter parameter[] = {
    {"k1", 1.71, 0, 1e6, NULL, 0, "", "rate of the P_r forms to the P_fr forms"},
    {"k2", 0.43, 0, 1e6, NULL, 0, "", "rate of the P_fr forms back to the P_r forms"},
    {"k3", 8.32, 0, 1e6, NULL, 0, "", "rate of binding of P_fr to X"},
    {"k4", 0.69, 1e-9, 1e6, NULL, 0, "", "rate of P_fr X -> P_fr X2"},
    {"k5", 0.035, 0, 1e6, NULL, 0, "", "rate of P_r X2 -> P_r X"},
    {"k6", 8.32, 0, 1e6, NULL, 0, "", "rate of P_r X -> P_r"},
    {"kplus", 280, 0, 1e9, NULL, 0, "", "rate of binding of the enzyme E"},
    {"kminus", 0.69, 0, 1e6, NULL, 0, "", "rate of its release with P_fr X2"},
    {"kstar", 0.69, 0, 1e6, NULL, 0, "", "rate of its release with decay of P_fr X2"},
    {"oks", 0.0007, 0, 1e6, NULL, 0, "", "rate at which P_r is made"},
    {0},
};

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[N] = {1, 0, 0, 0, 0, 0, 0, 0.0057};
    static const double reference[N] = {0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4,
                                        0.1175651343283149e-2, 0.2386356198831331e-2, 0.6238968252742796e-2,
                                        0.2849998395185769e-2, 0.2850001604814231e-2};
    static const char *const names[N] = {"Pr", "Pfr", "PrX", "PfrX", "PrX2", "PfrX2", "PfrX2E", "E"};
    static const int plot[] = {0, 5, 7};
    (void)err;
    rates *c = dae_problem_take(p, 1, sizeof *c);
    if (!c) return DAE_ERR_MEMORY;
    dae_problem_constants(p, 0, c, 10 * sizeof(double));
    c->k23 = dae_problem_decimal(c->k2 + c->k3);
    c->k16 = dae_problem_decimal(c->k1 + c->k6);
    c->k24 = dae_problem_decimal(c->k2 + c->k4);
    c->k15 = dae_problem_decimal(c->k1 + c->k5);
    c->loss = dae_problem_decimal(c->k2 + c->kminus + c->kstar);
    c->ratio = c->kminus / c->k4;
    p->system = (dae_system){.kind = DAE_KIND_ODE,
                             .ode = {.n = N, .f = rhs, .jac = jacobian, .user = c},
                             .structure = {.autonomous = 1}};
    p->t_end = 321.8122;
    p->y0 = y0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-9;
    p->reference = dae_problem_is_default(p) ? reference : NULL;
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
             .origin = "plant physiology, 8 reactants (E. Schaefer 1975)",
             .parameter = parameter},
    .setup = setup,
};
