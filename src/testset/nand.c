/* NAND gate: three MOSFETs, 14 node voltages, C(y) y' = f(t,y) as an IDE of index 1, time in ns.
 *
 * F = C(y) y' - f(t,y) with positive diagonal of C. Nodes 1-4 are inside the depletion transistor (load),
 * 5 is the output, 6-9 and 11-14 are inside the two enhancement transistors, 10 lies between them. Each
 * transistor has a source resistor and a drain resistor (R), two bulk resistors (RB), two gate
 * capacitances (C_G), two pn-junctions (diode current i_B, capacitance c) and a drain current i_DS:
 *
 *     c(U)   = C0/sqrt(1 - U/phi_B) for U <= 0,  C0 (1 + U/(2 phi_B)) for U > 0
 *     i_B(U) = -i_S (exp(U/U_T) - 1) for U <= 0,  0 for U > 0
 *     i_DS   = -h(U_DS, U_GS - U_TE(U_BS)) for U_DS > 0,  h(-U_DS, U_GD - U_TE(U_BD)) for U_DS < 0
 *     h(U,x) = 0 (x <= 0),  beta (1 + delta U) x^2 (x <= U),  beta U (1 + delta U) (2x - U) (x > U)
 *     U_TE(U) = U_T0 + gamma (sqrt(Phi - U) - sqrt(Phi)),  which needs U <= Phi
 *
 * M. Guenther, P. Rentrop 1996; Test Set for IVP Solvers, release 2.3, section II.21. beta of the
 * enhancement transistors for U_DS < 0 is 1.748e-4, as in the code that the reference belongs to. */
#include "testset/testset.h"

#include <math.h>

#define N 14
#define WIDTH 4 /* lower and upper bandwidth of dF/dy and dF/dy' */
#define BAND (2 * WIDTH + 1)

static const double VBB = -2.5, VDD = 5, C5 = 0.5e-4, C10 = 0.5e-4, CG = 0.6e-4, by_R = 1 / 4.0,
                    by_RB = 1 / 10.0;
static const double C0 = 0.24e-4, by_phiB = 1 / 0.87, iS = 1e-14, by_UT = 1 / 25.85;

struct mosfet {
    double beta_plus, beta_minus, UT0, gamma, delta, Phi, sqrt_Phi;
};
static const struct mosfet depletion = {5.35e-4, 5.35e-4, -2.43, 0.2, 0.02, 1.28, 1.1313708498984760390};
static const struct mosfet enhancement = {1.748e-3, 1.748e-4, 0.2, 0.035, 0.02, 1.01, 1.0049875621120890270};

/* ---- Parts ----------------------------------------------------------------------------------- */

/* A pn-junction: capacitance and current, and their derivatives. */
struct junction {
    double c, i, dc, di;
};

static struct junction junction_values(double U)
{
    if (U > 0) return (struct junction){.c = C0 * (1 + 0.5 * by_phiB * U)};
    return (struct junction){.c = C0 / sqrt(1 - U * by_phiB), .i = -iS * (exp(U * by_UT) - 1)};
}

static struct junction junction_all(double U)
{
    if (U > 0) return (struct junction){.c = C0 * (1 + 0.5 * by_phiB * U), .dc = 0.5 * by_phiB * C0};
    double s = 1 - U * by_phiB, c = C0 / sqrt(s), x = exp(U * by_UT);
    return (struct junction){.c = c, .dc = 0.5 * by_phiB * c / s, .i = -iS * (x - 1), .di = -iS * by_UT * x};
}

/* The drain current of a transistor and its derivatives by the five voltages. Returns 1 where U_TE is
 * not defined. */
struct drain {
    double i, DS, GS, BS, GD, BD;
};

static int drain_values(const struct mosfet *m, double DS, double GS, double BS, double GD, double BD,
                        struct drain *out)
{
    *out = (struct drain){0};
    int plus = DS >= 0; /* at 0 the current is 0, with the derivative of this side */
    double U = fabs(DS), B = m->Phi - (plus ? BS : BD), beta = plus ? m->beta_plus : m->beta_minus;
    if (!(B >= 0)) return DS != 0;
    double root = sqrt(B), x = (plus ? GS : GD) - m->UT0 - m->gamma * (root - m->sqrt_Phi);
    if (x <= 0) return 0;
    double k = beta * (1 + m->delta * U), h, hU, hx;
    if (x <= U) {
        h = k * x * x;
        hU = beta * m->delta * x * x;
        hx = 2 * k * x;
    } else {
        h = k * U * (2 * x - U);
        hU = beta * (1 + 2 * m->delta * U) * (2 * x - U) - k * U;
        hx = 2 * k * U;
    }
    double xB = 0.5 * m->gamma / root; /* dx/dU_B */
    out->DS = -hU;
    if (plus) {
        out->i = -h;
        out->GS = -hx;
        out->BS = -hx * xB;
    } else {
        out->i = h;
        out->GD = hx;
        out->BD = hx * xB;
    }
    return 0;
}

/* t modulo the period, in 0 .. period, exact near its ends. */
static double phase(double t, double period)
{
    double tm = t - period * floor(t / period);
    return tm < 0 ? tm + period : tm;
}

/* The input voltages and their slopes; at a corner the values of the left side. */
struct input {
    double V, slope;
};

static struct input input1(double t)
{
    double tm = phase(t, 20);
    if (tm <= 5) return (struct input){0, 0};
    if (tm <= 10) return (struct input){tm - 5, 1};
    if (tm <= 15) return (struct input){5, 0};
    return (struct input){20 - tm, -1};
}

static struct input input2(double t)
{
    double tm = phase(t, 40);
    if (tm <= 15) return (struct input){0, 0};
    if (tm <= 20) return (struct input){tm - 15, 1};
    if (tm <= 35) return (struct input){5, 0};
    return (struct input){40 - tm, -1};
}

/* The three drain currents. */
static int drains(const double *y, double V1, double V2, struct drain i[3])
{
    if (drain_values(&depletion, y[1] - y[0], y[4] - y[0], y[2] - y[4], y[4] - y[1], y[3] - VDD, &i[0]))
        return 1;
    if (drain_values(&enhancement, y[6] - y[5], V1 - y[5], y[7] - y[9], V1 - y[6], y[8] - y[4], &i[1]))
        return 1;
    return drain_values(&enhancement, y[11] - y[10], V2 - y[10], y[12], V2 - y[11], y[13] - y[9], &i[2]);
}

/* ---- The equations --------------------------------------------------------------------------- */

static int residual(double t, const double *y, const double *yp, double *F, void *user)
{
    struct input V1 = input1(t), V2 = input2(t);
    struct drain i[3];
    (void)user;
    if (drains(y, V1.V, V2.V, i)) return 1;
    struct junction b3 = junction_values(y[2] - y[4]), b4 = junction_values(y[3] - VDD),
                    b8 = junction_values(y[7] - y[9]), b9 = junction_values(y[8] - y[4]),
                    b13 = junction_values(y[12]), b14 = junction_values(y[13] - y[9]);
    double r1 = (y[0] - y[4]) * by_R, r6 = (y[5] - y[9]) * by_R, r7 = (y[6] - y[4]) * by_R,
           r12 = (y[11] - y[9]) * by_R;
    double q1 = CG * (yp[0] - yp[4]), q2 = CG * (yp[1] - yp[4]), q3 = b3.c * (yp[2] - yp[4]),
           q8 = b8.c * (yp[7] - yp[9]), q9 = b9.c * (yp[8] - yp[4]), q14 = b14.c * (yp[13] - yp[9]);
    F[0] = q1 + i[0].i + r1;
    F[1] = q2 - i[0].i + (y[1] - VDD) * by_R;
    F[2] = q3 - b3.i + (y[2] - VBB) * by_RB;
    F[3] = b4.c * yp[3] - b4.i + (y[3] - VBB) * by_RB;
    F[4] = C5 * yp[4] - q1 - q2 - q3 - q9 - r1 - r7 + b3.i + b9.i;
    F[5] = CG * (yp[5] - V1.slope) + i[1].i + r6;
    F[6] = CG * (yp[6] - V1.slope) - i[1].i + r7;
    F[7] = q8 - b8.i + (y[7] - VBB) * by_RB;
    F[8] = q9 - b9.i + (y[8] - VBB) * by_RB;
    F[9] = C10 * yp[9] - q8 - q14 - r6 - r12 + b8.i + b14.i;
    F[10] = CG * (yp[10] - V2.slope) + i[2].i + y[10] * by_R;
    F[11] = CG * (yp[11] - V2.slope) - i[2].i + r12;
    F[12] = b13.c * yp[12] - b13.i + (y[12] - VBB) * by_RB;
    F[13] = q14 - b14.i + (y[13] - VBB) * by_RB;
    return 0;
}

#define J(i, j) jac[WIDTH + (i) - (j) + ((j)-1) * BAND] /* from 1 */

/* A junction between nodes b and n (bulk, 0: to a fixed voltage): F_b += q - i, F_n -= q - i. */
static void put_junction(double *jac, int b, int n, double k)
{
    J(b, b) += k;
    if (!n) return;
    J(b, n) -= k;
    J(n, b) -= k;
    J(n, n) += k;
}

/* A current i into row s and out of row s + 1, with source s, drain s + 1 and bulk nodes bs (against
 * ns), bd (against nd), gate g (0: an input); nodes 0 are fixed voltages. */
static void put_drain(double *jac, int s, int g, int bs, int ns, int bd, int nd, const struct drain *i)
{
    for (int row = s; row <= s + 1; row++) {
        double k = row == s ? 1 : -1;
        J(row, s) -= k * (i->DS + i->GS);
        J(row, s + 1) += k * (i->DS - i->GD);
        J(row, bs) += k * i->BS;
        J(row, bd) += k * i->BD;
        if (g) J(row, g) += k * (i->GS + i->GD);
        if (ns) J(row, ns) -= k * i->BS;
        if (nd) J(row, nd) -= k * i->BD;
    }
}

static int dfdy(double t, const double *y, const double *yp, double *jac, void *user)
{
    struct drain i[3];
    (void)user;
    if (drains(y, input1(t).V, input2(t).V, i)) return 1;
    struct junction b3 = junction_all(y[2] - y[4]), b4 = junction_all(y[3] - VDD),
                    b8 = junction_all(y[7] - y[9]), b9 = junction_all(y[8] - y[4]), b13 = junction_all(y[12]),
                    b14 = junction_all(y[13] - y[9]);
    put_drain(jac, 1, 5, 3, 5, 4, 0, &i[0]);
    put_drain(jac, 6, 0, 8, 10, 9, 5, &i[1]);
    put_drain(jac, 11, 0, 13, 0, 14, 10, &i[2]);
    put_junction(jac, 3, 5, b3.dc * (yp[2] - yp[4]) - b3.di);
    put_junction(jac, 4, 0, b4.dc * yp[3] - b4.di);
    put_junction(jac, 8, 10, b8.dc * (yp[7] - yp[9]) - b8.di);
    put_junction(jac, 9, 5, b9.dc * (yp[8] - yp[4]) - b9.di);
    put_junction(jac, 13, 0, b13.dc * yp[12] - b13.di);
    put_junction(jac, 14, 10, b14.dc * (yp[13] - yp[9]) - b14.di);
    put_junction(jac, 1, 5, by_R);
    put_junction(jac, 7, 5, by_R);
    put_junction(jac, 6, 10, by_R);
    put_junction(jac, 12, 10, by_R);
    J(2, 2) += by_R;
    J(11, 11) += by_R;
    static const int bulk[] = {3, 4, 8, 9, 13, 14};
    for (int k = 0; k < 6; k++) J(bulk[k], bulk[k]) += by_RB;
    return 0;
}

static int dfdyp(double t, const double *y, const double *yp, double *jac, void *user)
{
    (void)t;
    (void)yp;
    (void)user;
    put_junction(jac, 1, 5, CG);
    put_junction(jac, 2, 5, CG);
    put_junction(jac, 3, 5, junction_values(y[2] - y[4]).c);
    put_junction(jac, 4, 0, junction_values(y[3] - VDD).c);
    put_junction(jac, 8, 10, junction_values(y[7] - y[9]).c);
    put_junction(jac, 9, 5, junction_values(y[8] - y[4]).c);
    put_junction(jac, 13, 0, junction_values(y[12]).c);
    put_junction(jac, 14, 10, junction_values(y[13] - y[9]).c);
    J(5, 5) += C5;
    J(10, 10) += C10;
    J(6, 6) = J(7, 7) = J(11, 11) = J(12, 12) = CG;
    return 0;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[N] = {5,    5,    -2.5,    -2.5, 5,       3.62385, 5,
                                 -2.5, -2.5, 3.62385, 0,    3.62385, -2.5,    -2.5};
    static const double yp0[N] = {0};
    static const int algebraic[N] = {0}; /* C is positive definite */
    /* The last one is the end: a step beyond it, or a stage at it, would see the inputs of the next period. */
    static const double corners[] = {5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80};
    static const double reference[N] = {0.4971088699385777e1,  0.4999752103929311e1,   -0.2499998781491227e1,
                                        -0.2499999999999975e1, 0.4970837023296724e1,   -0.2091214032073855,
                                        0.4970593243278363e1,  -0.2500077409198803e1,  -0.2499998781491227e1,
                                        -0.2090289583878100,   -0.2399999999966269e-3, -0.2091214032073855,
                                        -0.2499999999999991e1, -0.2500077409198803e1};
    static const unsigned char scored[N] = {0, 0, 0, 0, 1};
    static const int plot[] = {4, 9};
    (void)err;
    p->system = (dae_system){
        .kind = DAE_KIND_IDE,
        .ide = {.n = N, .residual = residual, .dfdy = dfdy, .dfdyp = dfdyp, .algebraic = algebraic},
        .structure = {.jacobian = {.storage = DAE_BANDED, .lower = WIDTH, .upper = WIDTH}}};
    p->t_end = 80;
    p->time_unit = "ns";
    p->y0 = y0;
    p->yp0 = yp0;
    p->discontinuity = corners;
    p->ndiscontinuity = (int)(sizeof corners / sizeof corners[0]);
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-7;
    p->reference = reference;
    p->reference_digits = 15;
    p->reference_source =
        "test set (PSIDE, extended precision, tolerances 1e-16); confirmed in extended precision";
    p->scored = scored;
    dae_problem_names(p, 0, N, "U%d");
    dae_problem_units(p, 0, N, "V");
    p->plot = plot;
    p->nplot = 2;
    return DAE_OK;
}

const dae_problem_entry dae_problem_nand = {
    .info = {.name = "nand",
             .title = "NAND gate",
             .kind = DAE_KIND_IDE,
             .n = N,
             .index = 1,
             .stiff = 1,
             .origin = "electrical circuit, three MOSFETs (M. Guenther, P. Rentrop 1996)"},
    .setup = setup,
};
