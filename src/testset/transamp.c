/* Transistor amplifier: eight node voltages, M y' = f(t,y) of index 1, M of rank 5.
 *
 *     f1 = (y1 - U_e(t))/R0                              f5 = -U_b/R6 + y5 (1/R5 + 1/R6) + (1 - alpha) g(y5 -
 * y6) f2 = -U_b/R2 + y2 (1/R1 + 1/R2) + (1 - alpha) g(y2 - y3) f3 = -g(y2 - y3) + y3/R3 f6 = -g(y5 - y6) +
 * y6/R7 f4 = (y4 - U_b)/R4 + alpha g(y2 - y3)              f7 = (y7 - U_b)/R8 + alpha g(y5 - y6) g(x) = beta
 * (exp(x/U_F) - 1)                       f8 = y8/R9
 *
 * with U_e(t) = 0.1 sin(200 pi t), R0 = 1000, R1 .. R9 = 9000, C_k = k 1e-6.
 * P. Rentrop, M. Roche, G. Steinebach 1989; Test Set for IVP Solvers, release 2.3, section II.14. */
#include "testset/testset.h"

#include <math.h>

#define N 8
#define LOWER 2 /* bandwidths of the Jacobian */
#define UPPER 1
#define BAND (LOWER + 1 + UPPER)

static const double Ub = 6, alpha = 0.99, one_minus_alpha = 0.01, beta = 1e-6;
static const double by_UF = 1 / 0.026, by_R0 = 1e-3, by_R = 1 / 9000.0, by_half_R = 1 / 4500.0;
static const double omega = 628.31853071795864769; /* 200 pi */
static const double exponent_max = 300;            /* beyond it the test set refuses to evaluate */

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)user;
    double x1 = (y[1] - y[2]) * by_UF, x2 = (y[4] - y[5]) * by_UF;
    if (!(x1 <= exponent_max && x2 <= exponent_max)) return 1;
    double g1 = beta * (exp(x1) - 1), g2 = beta * (exp(x2) - 1);
    f[0] = (y[0] - 0.1 * sin(omega * t)) * by_R0;
    f[1] = -Ub * by_R + y[1] * by_half_R + one_minus_alpha * g1;
    f[2] = -g1 + y[2] * by_R;
    f[3] = (y[3] - Ub) * by_R + alpha * g1;
    f[4] = -Ub * by_R + y[4] * by_half_R + one_minus_alpha * g2;
    f[5] = -g2 + y[5] * by_R;
    f[6] = (y[6] - Ub) * by_R + alpha * g2;
    f[7] = y[7] * by_R;
    return 0;
}

static int dfdt(double t, const double *y, double *f, void *user)
{
    (void)y;
    (void)user;
    f[0] = -0.1 * omega * cos(omega * t) * by_R0;
    for (int i = 1; i < N; i++) f[i] = 0;
    return 0;
}

#define J(i, j) jac[UPPER + (i) - (j) + ((j)-1) * BAND]

static int jacobian(double t, const double *y, double *jac, void *user)
{
    (void)t;
    (void)user;
    double x1 = (y[1] - y[2]) * by_UF, x2 = (y[4] - y[5]) * by_UF;
    if (!(x1 <= exponent_max && x2 <= exponent_max)) return 1;
    double d1 = beta * by_UF * exp(x1), d2 = beta * by_UF * exp(x2);
    J(1, 1) = by_R0;
    J(2, 2) = by_half_R + one_minus_alpha * d1;
    J(2, 3) = -one_minus_alpha * d1;
    J(3, 2) = -d1;
    J(3, 3) = d1 + by_R;
    J(4, 2) = alpha * d1;
    J(4, 3) = -alpha * d1;
    J(4, 4) = by_R;
    J(5, 5) = by_half_R + one_minus_alpha * d2;
    J(5, 6) = -one_minus_alpha * d2;
    J(6, 5) = -d2;
    J(6, 6) = d2 + by_R;
    J(7, 5) = alpha * d2;
    J(7, 6) = -alpha * d2;
    J(7, 7) = by_R;
    J(8, 8) = by_R;
    return 0;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    /* bandwidths (1,1): superdiagonal, diagonal, subdiagonal of each column */
    static const double mass[3 * N] = {0,    -1e-6, 1e-6, 1e-6, -1e-6, 0, 0, -2e-6, 0,    0,    -3e-6, 3e-6,
                                       3e-6, -3e-6, 0,    0,    -4e-6, 0, 0, -5e-6, 5e-6, 5e-6, -5e-6, 0};
    static const double y0[N] = {0, 3, 3, 6, 3, 3, 6, 0};
    static const double yp0[N] = {51.338775,   51.338775,           -166.66666666666669, -24.9757667,
                                  -24.9757667, -83.333333333333343, -10.00564453,        -10.00564453};
    static const double reference[N] = {-0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1,
                                        0.2926422536206241e1,   0.2704617865010554e1, 0.2761837778393145e1,
                                        0.4770927631616772e1,   0.1236995868091548e1};
    static const int plot[] = {0, 7};
    (void)err;
    p->system = (dae_system){
        .kind = DAE_KIND_DAE,
        .dae = {.n = N, .mass = dae_banded(N, 1, 1, mass), .f = rhs, .jac = jacobian, .dfdt = dfdt},
        .structure = {.jacobian = {.storage = DAE_BANDED, .lower = LOWER, .upper = UPPER}}};
    p->t_end = 0.2;
    p->time_unit = "s";
    p->y0 = y0;
    p->yp0 = yp0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-9;
    p->reference = reference;
    p->reference_digits = 11.1;
    p->reference_source =
        "test set (PSIDE, extended precision, tolerances 1e-14); 11.1 digits confirmed in extended precision";
    dae_problem_names(p, 0, N, "U%d");
    dae_problem_units(p, 0, N, "V");
    p->plot = plot;
    p->nplot = 2;
    return DAE_OK;
}

const dae_problem_entry dae_problem_transamp = {
    .info = {.name = "transamp",
             .title = "Transistor amplifier",
             .aliases = "transistor",
             .kind = DAE_KIND_DAE,
             .n = N,
             .index = 1,
             .stiff = 1,
             .origin = "electrical circuit (P. Rentrop, M. Roche, G. Steinebach 1989)"},
    .setup = setup,
};
