/* Charge pump: two capacitors and an n-channel MOS transistor whose charges are functions of the voltages.
 *
 *     M y' = f(t,y),  y = (Y_T1, Y_S, Y_T2, Y_D, Y_T3, U1, U2, U3, I)
 *     f = (-I, 0, 0, V_in - U1, Y_T1 - Q_G, Y_S - C_S U2, Y_T2 - Q_S, Y_D - C_D U3, Y_T3 - Q_D)
 *
 * M has ones at (1,1), (2,2), (2,3), (3,4), (3,5). With a = U1 - min(U2,U3) and b = U1 - max(U2,U3) (source
 * and drain change roles), U_BS = a - U1, U_TE = U_T0 + gamma (sqrt(Phi - U_BS) - sqrt(Phi)), the gate
 * charge is
 *     U1 <= V_FB:  C_ox (U1 - V_FB)
 *     a <= U_TE:   C_ox gamma (sqrt((gamma/2)^2 + U1 - V_FB) - gamma/2)
 *     otherwise:   C_ox (2 W/3 + gamma sqrt(Phi - U_BS)),
 *                  W = S + T - S T/(S + T),  S = a - U_TE,  T = max(b - U_TE, 0)
 * and Q_S = Q_D = -C_ox W/3 in the last case, 0 in the others. I has index 2.
 *
 * Source: M. Guenther, G. Denk, U. Feldmann, How models for MOS transistors reflect charge distribution
 * effects, TH Darmstadt, report 1745, 1995; test set report, release 2.3, part II-15, corrected: the ramps
 * of V_in are 2 (tau - 50) and 2 (120 - tau), kinks at tau = 50, 60, 110, 120 ns, and source and drain are
 * exchanged. */
#include "testset/testset.h"

#include <math.h>

enum { N = 9, KINKS = 40 }; /* the last kink is the end */

typedef struct pump {
    double C_S, C_D, C_ox, U_T0, gam, Phi, V_in; /* in the order of the parameters */
    double sqrt_Phi, V_FB;                       /* V_FB = U_T0 - Phi - gam sqrt(Phi) */
} pump;

/* The last ulps before the end of a period are rounding of 1e9*t: the left limit there is 0. */
static double input(double t, double height)
{
    double tau = fmod(1e9 * t, 120);
    if (tau > 120 - 1e-12) return 0;
    if (tau < 50) return 0;
    if (tau < 60) return height / 10 * (tau - 50);
    if (tau < 110) return height;
    return height / 10 * (120 - tau);
}

/* The charges Q_G and Q_S = Q_D, and their derivatives by U1, U2, U3 (NULL: not wanted).
 * 1: undefined. */
static int charges(const pump *c, double U1, double U2, double U3, double *Q_G, double *Q_S, double *G1,
                   double *S1)
{
    double none[3], none_too[3], *dG = G1 ? G1 : none, *dS = S1 ? S1 : none_too;
    dG[1] = dG[2] = dS[0] = dS[1] = dS[2] = *Q_S = 0;
    if (U1 <= c->V_FB) {
        *Q_G = c->C_ox * (U1 - c->V_FB);
        dG[0] = c->C_ox;
        return 0;
    }
    int source = U2 <= U3 ? 1 : 2, drain = 3 - source; /* positions of U2 and U3 in the gradients */
    double low = fmin(U2, U3), high = fmax(U2, U3);
    if (c->Phi + low < 0) return 1; /* U_BS = -low */
    double root = sqrt(c->Phi + low), droot = 0.5 / root, U_TE = c->U_T0 + c->gam * (root - c->sqrt_Phi);
    double S = U1 - low - U_TE;
    if (S <= 0) {
        double r = sqrt(c->gam * c->gam / 4 + U1 - c->V_FB);
        *Q_G = c->C_ox * c->gam * (r - c->gam / 2);
        dG[0] = c->C_ox * c->gam * 0.5 / r;
        return 0;
    }
    double T = U1 - high - U_TE, sum, W_S, W_T;
    if (T > 0) {
        sum = S + T;
        W_S = 1 - T * T / (sum * sum);
        W_T = 1 - S * S / (sum * sum);
    } else {
        T = 0;
        sum = S;
        W_S = 1;
        W_T = 0;
    }
    double W = sum - S * T / sum, W_low = -W_S - (W_S + W_T) * c->gam * droot; /* dU_TE/dlow = c->gam droot */
    *Q_G = c->C_ox * (2 * W / 3 + c->gam * root);
    *Q_S = -c->C_ox * W / 3;
    dG[0] = c->C_ox * (2 * (W_S + W_T) / 3);
    dG[source] = c->C_ox * (2 * W_low / 3 + c->gam * droot);
    dG[drain] = c->C_ox * (-2 * W_T / 3);
    dS[0] = -c->C_ox * (W_S + W_T) / 3;
    dS[source] = -c->C_ox * W_low / 3;
    dS[drain] = c->C_ox * W_T / 3;
    return 0;
}

static int rhs(double t, const double *y, double *f, void *user)
{
    const pump *c = user;
    double Q_G, Q_S;
    if (charges(c, y[5], y[6], y[7], &Q_G, &Q_S, NULL, NULL)) return 1;
    f[0] = -y[8];
    f[1] = 0;
    f[2] = 0;
    f[3] = -y[5] + input(t, c->V_in);
    f[4] = y[0] - Q_G;
    f[5] = y[1] - c->C_S * y[6];
    f[6] = y[2] - Q_S;
    f[7] = y[3] - c->C_D * y[7];
    f[8] = y[4] - Q_S;
    return 0;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
#define J(i, j) jac[(i - 1) + (j - 1) * N]
    const pump *c = user;
    (void)t;
    double Q_G, Q_S, dG[3], dS[3];
    if (charges(c, y[5], y[6], y[7], &Q_G, &Q_S, dG, dS)) return 1;
    J(1, 9) = -1;
    J(4, 6) = -1;
    J(5, 1) = J(6, 2) = J(7, 3) = J(8, 4) = J(9, 5) = 1;
    J(6, 7) = -c->C_S;
    J(8, 8) = -c->C_D;
    for (int k = 0; k < 3; k++) {
        J(5, 6 + k) = -dG[k];
        J(7, 6 + k) = J(9, 6 + k) = -dS[k];
    }
    return 0;
#undef J
}

static const dae_parameter parameter[] = {
    {"C_S", 1.6e-12, 1e-18, 1, NULL, 0, "F", "capacitor at node 2"},
    {"C_D", 0.4e-12, 1e-18, 1, NULL, 0, "F", "capacitor at node 3"},
    {"C_ox", 4e-12, 1e-18, 1, NULL, 0, "F", "capacity of the gate oxide"},
    {"U_T0", 0.2, -10, 10, NULL, 0, "V", "threshold voltage"},
    {"gamma", 0.035, 0, 10, NULL, 0, "V^1/2", "influence of the bulk"},
    {"Phi", 1.01, 1e-3, 10, NULL, 0, "V", "surface potential"},
    {"V_in", 20, 1e-3, 1e3, NULL, 0, "V", "height of the input pulses"},
    {0},
};

/* M, banded (0,2): element (i,j) at (2 + i - j) + 3 j. */
static const double mass[3 * N] = {[2] = 1, [5] = 1, [7] = 1, [10] = 1, [12] = 1};
static const int variable_index[N] = {1, 1, 1, 1, 1, 1, 1, 1, 2};
static const double yp0[N];
/* Left limit at t_end in closed form: charges return to their initial values, I = -dQ_G/dt. */
static const double reference[N] = {1.2628004298767593e-13, 0, 0, 0, 0, 0, 0, 0, 1.5225661038485337e-4};
static const double published[N] = {1.2628004298767593e-13, 0, 0, 0, 0, 0, 0, 0, 1.5225568681557768e-4};
static const double atol_factor[N] = {1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1, 1, 1, 1};
static const unsigned char scored[N] = {1};
static const char *const name[N] = {"Y_T1", "Y_S", "Y_T2", "Y_D", "Y_T3", "U1", "U2", "U3", "I"};
static const int plot[] = {5, 6, 7, 8};

static dae_status setup(dae_problem *p, dae_error *err)
{
    (void)err;
    static const int kink[4] = {50, 60, 110, 120}; /* ns in each period of 120 ns */
    double *discontinuity = dae_problem_reals(p, KINKS), *y0 = dae_problem_reals(p, N);
    pump *c = dae_problem_take(p, 1, sizeof *c);
    if (!discontinuity || !y0 || !c) return DAE_ERR_MEMORY;
    int is_default = dae_problem_is_default(p);
    dae_problem_constants(p, 0, c, 7 * sizeof(double));
    c->sqrt_Phi = sqrt(c->Phi);
    c->V_FB = c->U_T0 - c->Phi - c->gam * c->sqrt_Phi;
    charges(c, 0, 0, 0, &y0[0], &y0[2], NULL, NULL);
    y0[4] = y0[2];
    for (int i = 0; i < KINKS; i++) discontinuity[i] = (120 * (i / 4) + kink[i % 4]) / 1e9;
    p->system =
        (dae_system){.kind = DAE_KIND_DAE,
                     .dae = {.n = N, .mass = dae_banded(N, 0, 2, mass), .f = rhs, .jac = jacobian, .user = c},
                     .structure = {.index = variable_index}};
    p->t_end = 1.2e-6;
    p->y0 = y0;
    p->yp0 = yp0;
    p->discontinuity = discontinuity;
    p->ndiscontinuity = KINKS;
    p->rtol = p->atol = 1e-5;
    p->h0 = 1e-11;
    p->atol_factor = atol_factor;
    p->reference = is_default ? reference : NULL;
    p->reference_digits = 15;
    p->reference_source = "closed form, left limit at the end";
    p->published = is_default ? published : NULL;
    p->scored = scored;
    p->component = name;
    dae_problem_units(p, 0, 5, "C");
    dae_problem_units(p, 5, 3, "V");
    dae_problem_units(p, 8, 1, "A");
    p->time_unit = "s";
    p->plot = plot;
    p->nplot = 4;
    return DAE_OK;
}

const dae_problem_entry dae_problem_pump = {
    .info = {.name = "pump",
             .title = "Charge pump",
             .kind = DAE_KIND_DAE,
             .n = N,
             .index = 2,
             .stiff = 1,
             .origin = "circuit with a MOS transistor in charge form (Guenther, Denk and Feldmann 1995)",
             .parameter = parameter},
    .setup = setup};
