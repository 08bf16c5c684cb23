/* Chemical Akzo Nobel: two species are mixed while carbon dioxide flows in; an equilibrium is the sixth
 * equation.
 *
 *     diag(1,1,1,1,1,0) y' = f(y),   y = ([FLB], [CO2], [FLBT], [ZHU], [ZLA], [FLB.ZHU])
 *     r1 = k1 y1^4 y2^(1/2),  r2 = k2 y3 y4,  r3 = k2/K y1 y5,  r4 = k3 y1 y4^2,  r5 = k4 y6^2 y2^(1/2)
 *     F_in = klA (p(CO2)/H - y2),   0 = K_s y1 y4 - y6
 * in mol/liter, t in minutes.
 *
 * f is undefined for y2 < 0. Source: W.J.H. Stortelder, Parameter estimation in nonlinear dynamical systems,
 * PhD thesis, Amsterdam 1998; test set report, release 2.3, part II-12. */
#include "testset/testset.h"

#include <math.h>

enum { N = 6 };

static const double k1 = 18.7, k2 = 0.58, k3 = 0.09, k4 = 0.42, K = 34.4, klA = 3.3, Ks = 115.83, pCO2 = 0.9,
                    H = 737;

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    if (y[1] < 0) return 1;
    double root = sqrt(y[1]), y1sq = y[0] * y[0];
    double r1 = k1 * y1sq * y1sq * root;
    double r2 = k2 * y[2] * y[3];
    double r3 = k2 / K * y[0] * y[4];
    double r4 = k3 * y[0] * y[3] * y[3];
    double r5 = k4 * y[5] * y[5] * root;
    double Fin = klA * (pCO2 / H - y[1]);
    f[0] = -2 * r1 + r2 - r3 - r4;
    f[1] = -0.5 * r1 - r4 - 0.5 * r5 + Fin;
    f[2] = r1 - r2 + r3;
    f[3] = -r2 + r3 - 2 * r4;
    f[4] = r2 - r3 + r5;
    f[5] = Ks * y[0] * y[3] - y[5];
    return 0;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
#define J(i, j) jac[(i - 1) + (j - 1) * N]
    (void)t, (void)user;
    if (y[1] < 0) return 1;
    double root = sqrt(y[1]), y1cube = y[0] * y[0] * y[0];
    double r1_1 = 4 * k1 * y1cube * root, r1_2 = 0.5 * k1 * y1cube * y[0] / root;
    double r2_3 = k2 * y[3], r2_4 = k2 * y[2];
    double r3_1 = k2 / K * y[4], r3_5 = k2 / K * y[0];
    double r4_1 = k3 * y[3] * y[3], r4_4 = 2 * k3 * y[0] * y[3];
    double r5_2 = 0.5 * k4 * y[5] * y[5] / root, r5_6 = 2 * k4 * y[5] * root;
    J(1, 1) = -2 * r1_1 - r3_1 - r4_1;
    J(1, 2) = -2 * r1_2;
    J(1, 3) = r2_3;
    J(1, 4) = r2_4 - r4_4;
    J(1, 5) = -r3_5;
    J(2, 1) = -0.5 * r1_1 - r4_1;
    J(2, 2) = -0.5 * r1_2 - 0.5 * r5_2 - klA;
    J(2, 4) = -r4_4;
    J(2, 6) = -0.5 * r5_6;
    J(3, 1) = r1_1 + r3_1;
    J(3, 2) = r1_2;
    J(3, 3) = -r2_3;
    J(3, 4) = -r2_4;
    J(3, 5) = r3_5;
    J(4, 1) = r3_1 - 2 * r4_1;
    J(4, 3) = -r2_3;
    J(4, 4) = -r2_4 - 2 * r4_4;
    J(4, 5) = r3_5;
    J(5, 1) = -r3_1;
    J(5, 2) = r5_2;
    J(5, 3) = r2_3;
    J(5, 4) = r2_4;
    J(5, 5) = -r3_5;
    J(5, 6) = r5_6;
    J(6, 1) = Ks * y[3];
    J(6, 4) = Ks * y[0];
    J(6, 6) = -1;
    return 0;
#undef J
}

static const double mass[N] = {1, 1, 1, 1, 1, 0};
static const double y0[N] = {0.444, 0.00123, 0, 0.007, 0, 0.35999964}; /* y6 = K_s y1 y4 */
/* f(y0); the entry of y6' does not occur in the equations (its true value is -0.0415). */
static const double yp0[N] = {-0.050976817652165766, -0.013729322308134244, 0.025487429806082883,
                              -3.91608e-06,          0.0019090002227229194, 0};
static const double reference[N] = {0.1150794920661702,    0.001203831471567715, 0.1611562887407974,
                                    0.0003656156421249283, 0.01708010885264404,  0.004873531310307455};
static const char *const name[N] = {"FLB", "CO2", "FLBT", "ZHU", "ZLA", "FLB.ZHU"};
static const int plot[] = {0, 1, 2, 3, 4, 5};

static dae_status setup(dae_problem *p, dae_error *err)
{
    (void)err;
    p->system = (dae_system){.kind = DAE_KIND_DAE,
                             .dae = {.n = N, .mass = dae_diagonal(N, mass), .f = rhs, .jac = jacobian},
                             .structure = {.autonomous = 1}};
    p->t_end = 180;
    p->y0 = y0;
    p->yp0 = yp0;
    p->rtol = p->atol = p->h0 = 1e-10;
    p->reference = reference;
    p->reference_digits = 15;
    p->reference_source =
        "test set (PSIDE, extended precision, tolerances 1e-19); confirmed in extended precision";
    p->component = name;
    dae_problem_units(p, 0, N, "mol/l");
    p->time_unit = "min";
    p->plot = plot;
    p->nplot = N;
    return DAE_OK;
}

const dae_problem_entry dae_problem_chemakzo = {
    .info = {.name = "chemakzo",
             .title = "Chemical Akzo Nobel problem",
             .kind = DAE_KIND_DAE,
             .n = N,
             .index = 1,
             .stiff = 1,
             .origin = "chemical process, Akzo Nobel Central Research (Stortelder 1998)"},
    .setup = setup};
