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

typedef struct constants {
    double k1, k2, k3, k4, K, klA, Ks, p, H; /* in the order of the parameters */
    double k2_K, solubility;                 /* k2/K, p/H */
} constants;

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t;
    const constants *c = user;
    if (y[1] < 0) return 1;
    double root = sqrt(y[1]), y1sq = y[0] * y[0];
    double r1 = c->k1 * y1sq * y1sq * root;
    double r2 = c->k2 * y[2] * y[3];
    double r3 = c->k2_K * y[0] * y[4];
    double r4 = c->k3 * y[0] * y[3] * y[3];
    double r5 = c->k4 * y[5] * y[5] * root;
    double Fin = c->klA * (c->solubility - y[1]);
    f[0] = -2 * r1 + r2 - r3 - r4;
    f[1] = -0.5 * r1 - r4 - 0.5 * r5 + Fin;
    f[2] = r1 - r2 + r3;
    f[3] = -r2 + r3 - 2 * r4;
    f[4] = r2 - r3 + r5;
    f[5] = c->Ks * y[0] * y[3] - y[5];
    return 0;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
#define J(i, j) jac[(i - 1) + (j - 1) * N]
    (void)t;
    const constants *c = user;
    if (y[1] < 0) return 1;
    double root = sqrt(y[1]), y1cube = y[0] * y[0] * y[0];
    double r1_1 = 4 * c->k1 * y1cube * root, r1_2 = 0.5 * c->k1 * y1cube * y[0] / root;
    double r2_3 = c->k2 * y[3], r2_4 = c->k2 * y[2];
    double r3_1 = c->k2_K * y[4], r3_5 = c->k2_K * y[0];
    double r4_1 = c->k3 * y[3] * y[3], r4_4 = 2 * c->k3 * y[0] * y[3];
    double r5_2 = 0.5 * c->k4 * y[5] * y[5] / root, r5_6 = 2 * c->k4 * y[5] * root;
    J(1, 1) = -2 * r1_1 - r3_1 - r4_1;
    J(1, 2) = -2 * r1_2;
    J(1, 3) = r2_3;
    J(1, 4) = r2_4 - r4_4;
    J(1, 5) = -r3_5;
    J(2, 1) = -0.5 * r1_1 - r4_1;
    J(2, 2) = -0.5 * r1_2 - 0.5 * r5_2 - c->klA;
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
    J(6, 1) = c->Ks * y[3];
    J(6, 4) = c->Ks * y[0];
    J(6, 6) = -1;
    return 0;
#undef J
}

static const dae_parameter parameter[] = {
    {"k1", 18.7, 0, 1e6, NULL, 0, "", "rate of the first reaction"},
    {"k2", 0.58, 0, 1e6, NULL, 0, "", "rate of the second reaction"},
    {"k3", 0.09, 0, 1e6, NULL, 0, "", "rate of the fourth reaction"},
    {"k4", 0.42, 0, 1e6, NULL, 0, "", "rate of the fifth reaction"},
    {"K", 34.4, 1e-6, 1e6, NULL, 0, "",
     "equilibrium of the second and third reactions: the third has the rate k2/K"},
    {"klA", 3.3, 0, 1e6, NULL, 0, "1/min", "mass transfer of carbon dioxide"},
    {"Ks", 115.83, 0, 1e6, NULL, 0, "l/mol", "equilibrium of FLB.ZHU"},
    {"p", 0.9, 0, 1e6, NULL, 0, "bar", "partial pressure of carbon dioxide"},
    {"H", 737, 1e-3, 1e6, NULL, 0, "bar l/mol", "Henry constant"},
    {0},
};

static const double mass[N] = {1, 1, 1, 1, 1, 0};
static const double y0_default[N] = {0.444, 0.00123, 0, 0.007, 0, 0.35999964}; /* y6 = K_s y1 y4 */
/* f(y0); the entry of y6' does not occur in the equations (its true value is -0.0415). */
static const double yp0_default[N] = {-0.050976817652165766, -0.013729322308134244, 0.025487429806082883,
                                      -3.91608e-06,          0.0019090002227229194, 0};
static const double reference[N] = {0.1150794920661702,    0.001203831471567715, 0.1611562887407974,
                                    0.0003656156421249283, 0.01708010885264404,  0.004873531310307455};
static const char *const name[N] = {"FLB", "CO2", "FLBT", "ZHU", "ZLA", "FLB.ZHU"};
static const int plot[] = {0, 1, 2, 3, 4, 5};

/* y6 = K_s y1 y4 and y' = f(y) for constants other than the published ones. */
static dae_status start(dae_problem *p, const constants *c)
{
    double *y = dae_problem_reals(p, N), *yp = dae_problem_reals(p, N);
    if (!y || !yp) return DAE_ERR_MEMORY;
    for (int i = 0; i < N; i++) y[i] = y0_default[i];
    y[5] = c->Ks * y[0] * y[3];
    p->y0 = y;
    p->yp0 = yp;
    rhs(0, y, yp, (void *)c);
    return DAE_OK;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    (void)err;
    constants *c = dae_problem_take(p, 1, sizeof *c);
    if (!c) return DAE_ERR_MEMORY;
    dae_problem_constants(p, 0, c, 9 * sizeof(double));
    c->k2_K = c->k2 / c->K;
    c->solubility = c->p / c->H;
    p->system =
        (dae_system){.kind = DAE_KIND_DAE,
                     .dae = {.n = N, .mass = dae_diagonal(N, mass), .f = rhs, .jac = jacobian, .user = c},
                     .structure = {.autonomous = 1}};
    p->t_end = 180;
    p->rtol = p->atol = p->h0 = 1e-10;
    p->reference_digits = 15;
    p->reference_source =
        "test set (PSIDE, extended precision, tolerances 1e-19); confirmed in extended precision";
    p->component = name;
    dae_problem_units(p, 0, N, "mol/l");
    p->time_unit = "min";
    p->plot = plot;
    p->nplot = N;
    if (!dae_problem_is_default(p)) return start(p, c);
    p->y0 = y0_default;
    p->yp0 = yp0_default;
    p->reference = reference;
    return DAE_OK;
}

const dae_problem_entry dae_problem_chemakzo = {
    .info = {.name = "chemakzo",
             .title = "Chemical Akzo Nobel problem",
             .kind = DAE_KIND_DAE,
             .n = N,
             .index = 1,
             .stiff = 1,
             .origin = "chemical process, Akzo Nobel Central Research (Stortelder 1998)",
             .parameter = parameter},
    .setup = setup};
