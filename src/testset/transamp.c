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

static const double exponent_max = 300; /* beyond it the test set refuses to evaluate */
static const double pi = 3.14159265358979323846;

typedef struct amplifier {
    double Ub, UF, alpha, beta, R[10], C[5], Ue, frequency; /* in the order of the parameters */
    double one_minus_alpha, by_UF, omega, Ub_R2, Ub_R6;     /* 2 pi f_e, U_b/R2, U_b/R6 */
    double G[12];                                           /* 1/R0 .. 1/R9, 1/R1 + 1/R2, 1/R5 + 1/R6 */
} amplifier;

static int rhs(double t, const double *y, double *f, void *user)
{
    const amplifier *c = user;
    const double *G = c->G;
    double x1 = (y[1] - y[2]) * c->by_UF, x2 = (y[4] - y[5]) * c->by_UF;
    if (!(x1 <= exponent_max && x2 <= exponent_max)) return 1;
    double g1 = c->beta * (exp(x1) - 1), g2 = c->beta * (exp(x2) - 1);
    f[0] = (y[0] - c->Ue * sin(c->omega * t)) * G[0];
    f[1] = -c->Ub_R2 + y[1] * G[10] + c->one_minus_alpha * g1;
    f[2] = -g1 + y[2] * G[3];
    f[3] = (y[3] - c->Ub) * G[4] + c->alpha * g1;
    f[4] = -c->Ub_R6 + y[4] * G[11] + c->one_minus_alpha * g2;
    f[5] = -g2 + y[5] * G[7];
    f[6] = (y[6] - c->Ub) * G[8] + c->alpha * g2;
    f[7] = y[7] * G[9];
    return 0;
}

static int dfdt(double t, const double *y, double *f, void *user)
{
    (void)y;
    const amplifier *c = user;
    const double *G = c->G;
    f[0] = -c->Ue * c->omega * cos(c->omega * t) * G[0];
    for (int i = 1; i < N; i++) f[i] = 0;
    return 0;
}

#define J(i, j) jac[UPPER + (i) - (j) + ((j)-1) * BAND]

static int jacobian(double t, const double *y, double *jac, void *user)
{
    (void)t;
    const amplifier *c = user;
    const double *G = c->G;
    double x1 = (y[1] - y[2]) * c->by_UF, x2 = (y[4] - y[5]) * c->by_UF;
    if (!(x1 <= exponent_max && x2 <= exponent_max)) return 1;
    double d1 = c->beta * c->by_UF * exp(x1), d2 = c->beta * c->by_UF * exp(x2);
    J(1, 1) = G[0];
    J(2, 2) = G[10] + c->one_minus_alpha * d1;
    J(2, 3) = -c->one_minus_alpha * d1;
    J(3, 2) = -d1;
    J(3, 3) = d1 + G[3];
    J(4, 2) = c->alpha * d1;
    J(4, 3) = -c->alpha * d1;
    J(4, 4) = G[4];
    J(5, 5) = G[11] + c->one_minus_alpha * d2;
    J(5, 6) = -c->one_minus_alpha * d2;
    J(6, 5) = -d2;
    J(6, 6) = d2 + G[7];
    J(7, 5) = c->alpha * d2;
    J(7, 6) = -c->alpha * d2;
    J(7, 7) = G[8];
    J(8, 8) = G[9];
    return 0;
}

static const dae_parameter parameter[] = {
    {"U_b", 6, -1e3, 1e3, NULL, 0, "V", "operating voltage"},
    {"U_F", 0.026, 1e-4, 1e3, NULL, 0, "V", "thermal voltage of the transistors"},
    {"alpha", 0.99, 0, 1, NULL, 0, "", "current gain"},
    {"beta", 1e-6, 0, 1, NULL, 0, "A", "saturation current"},
    {"R0", 1000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 0, of the input"},
    {"R1", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 1"},
    {"R2", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 2"},
    {"R3", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 3"},
    {"R4", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 4"},
    {"R5", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 5"},
    {"R6", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 6"},
    {"R7", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 7"},
    {"R8", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 8"},
    {"R9", 9000, 1e-3, 1e12, NULL, 0, "Ohm", "resistor 9"},
    {"C1", 1e-6, 1e-15, 1, NULL, 0, "F", "capacitor 1"},
    {"C2", 2e-6, 1e-15, 1, NULL, 0, "F", "capacitor 2"},
    {"C3", 3e-6, 1e-15, 1, NULL, 0, "F", "capacitor 3"},
    {"C4", 4e-6, 1e-15, 1, NULL, 0, "F", "capacitor 4"},
    {"C5", 5e-6, 1e-15, 1, NULL, 0, "F", "capacitor 5"},
    {"U_e", 0.1, -1e3, 1e3, NULL, 0, "V", "amplitude of the input"},
    {"f_e", 100, 0, 1e9, NULL, 0, "Hz", "frequency of the input"},
    {0},
};

static void derive(amplifier *c)
{
    c->one_minus_alpha = dae_problem_decimal(1 - c->alpha);
    c->by_UF = 1 / c->UF;
    c->omega = 2 * pi * c->frequency;
    for (int i = 0; i < 10; i++) c->G[i] = 1 / c->R[i];
    c->G[10] = c->G[1] + c->G[2];
    c->G[11] = c->G[5] + c->G[6];
    c->Ub_R2 = c->Ub * c->G[2];
    c->Ub_R6 = c->Ub * c->G[6];
}

/* M, bandwidths (1,1): superdiagonal, diagonal, subdiagonal of each column. The capacitors 1, 3, 5 lie between two
 * nodes, 2 and 4 between a node and ground. */
static void capacitances(const double *C, double *mass)
{
    static const int node[5] = {0, 2, 3, 5, 6};
    for (int k = 0; k < 5; k++) {
        double *column = mass + 3 * node[k];
        column[1] = -C[k];
        if (k % 2) continue;
        column[2] = column[3] = C[k];
        column[4] = -C[k];
    }
}

/* Rest: no current flows through the transistors. y' from M y' = f and from the derivatives of the sums of rows 1 and 2,
 * 4 and 5, 7 and 8, in which no y' occurs. */
static void rest(const amplifier *c, double *y, double *yp)
{
    const double *R = c->R, *G = c->G;
    double gain = c->alpha * c->beta * c->by_UF, base = c->one_minus_alpha * c->beta * c->by_UF;
    y[1] = y[2] = c->Ub * R[1] / (R[1] + R[2]);
    y[4] = y[5] = c->Ub * R[5] / (R[5] + R[6]);
    y[3] = y[6] = c->Ub;
    yp[2] = -y[2] * G[3] / c->C[1];
    yp[5] = -y[5] * G[7] / c->C[3];
    yp[0] = yp[1] = (c->Ue * c->omega * G[0] + base * yp[2]) / (G[0] + G[10] + base);
    yp[3] = yp[4] = (base * yp[5] - gain * (yp[1] - yp[2])) / (G[4] + G[11] + base);
    yp[6] = yp[7] = -gain * (yp[4] - yp[5]) / (G[8] + G[9]);
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double published_slope[N] = {51.338775,    51.338775,   -166.66666666666669,
                                              -24.9757667,  -24.9757667, -83.333333333333343,
                                              -10.00564453, -10.00564453};
    static const double reference[N] = {-0.5562145012262709e-2, 0.3006522471903042e1, 0.2849958788608128e1,
                                        0.2926422536206241e1,   0.2704617865010554e1, 0.2761837778393145e1,
                                        0.4770927631616772e1,   0.1236995868091548e1};
    static const int plot[] = {0, 7};
    (void)err;
    amplifier *c = dae_problem_take(p, 1, sizeof *c);
    double *mass = dae_problem_reals(p, 3 * N), *y0 = dae_problem_reals(p, N), *yp0 = dae_problem_reals(p, N);
    if (!c || !mass || !y0 || !yp0) return DAE_ERR_MEMORY;
    int is_default = dae_problem_is_default(p);
    dae_problem_constants(p, 0, c, 21 * sizeof(double));
    derive(c);
    capacitances(c->C, mass);
    rest(c, y0, yp0);
    p->system = (dae_system){
        .kind = DAE_KIND_DAE,
        .dae =
            {.n = N, .mass = dae_banded(N, 1, 1, mass), .f = rhs, .jac = jacobian, .dfdt = dfdt, .user = c},
        .structure = {.jacobian = {.storage = DAE_BANDED, .lower = LOWER, .upper = UPPER}}};
    p->t_end = 0.2;
    p->time_unit = "s";
    p->y0 = y0;
    p->yp0 = is_default ? published_slope : yp0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-9;
    p->reference = is_default ? reference : NULL;
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
             .origin = "electrical circuit (P. Rentrop, M. Roche, G. Steinebach 1989)",
             .parameter = parameter},
    .setup = setup,
};
