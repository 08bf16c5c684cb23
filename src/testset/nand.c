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

struct mosfet {
    double beta_plus, UT0, gamma, delta, Phi; /* in the order of the parameters */
    double beta_minus, sqrt_Phi;
};

struct gate {
    double VBB, VDD, C5, C10, CG, R, RB, C0, phiB, iS, UT; /* in the order of the parameters */
    double by_R, by_RB, by_phiB, by_UT;
    struct mosfet depletion, enhancement;
};

/* ---- Parts ----------------------------------------------------------------------------------- */

/* A pn-junction: capacitance and current, and their derivatives. */
struct junction {
    double c, i, dc, di;
};

static struct junction junction_values(const struct gate *c, double U)
{
    if (U > 0) return (struct junction){.c = c->C0 * (1 + 0.5 * c->by_phiB * U)};
    return (struct junction){.c = c->C0 / sqrt(1 - U * c->by_phiB), .i = -c->iS * (exp(U * c->by_UT) - 1)};
}

static struct junction junction_all(const struct gate *c, double U)
{
    if (U > 0)
        return (struct junction){.c = c->C0 * (1 + 0.5 * c->by_phiB * U), .dc = 0.5 * c->by_phiB * c->C0};
    double s = 1 - U * c->by_phiB, C = c->C0 / sqrt(s), x = exp(U * c->by_UT);
    return (struct junction){
        .c = C, .dc = 0.5 * c->by_phiB * C / s, .i = -c->iS * (x - 1), .di = -c->iS * c->by_UT * x};
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

/* Columns beside the solution: V1, V2. */
static int inputs(const dae_problem *p, int count, const double *t, const double *y, const double *a,
                  const double *lambda, double *value)
{
    (void)p, (void)y, (void)a, (void)lambda;
    for (int k = 0; k < count; k++) {
        value[2 * k] = input1(t[k]).V;
        value[2 * k + 1] = input2(t[k]).V;
    }
    return 0;
}

/* The three drain currents. */
static int drains(const struct gate *c, const double *y, double V1, double V2, struct drain i[3])
{
    if (drain_values(&c->depletion, y[1] - y[0], y[4] - y[0], y[2] - y[4], y[4] - y[1], y[3] - c->VDD, &i[0]))
        return 1;
    if (drain_values(&c->enhancement, y[6] - y[5], V1 - y[5], y[7] - y[9], V1 - y[6], y[8] - y[4], &i[1]))
        return 1;
    return drain_values(&c->enhancement, y[11] - y[10], V2 - y[10], y[12], V2 - y[11], y[13] - y[9], &i[2]);
}

/* ---- The equations --------------------------------------------------------------------------- */

static int residual(double t, const double *y, const double *yp, double *F, void *user)
{
    struct input V1 = input1(t), V2 = input2(t);
    struct drain i[3];
    const struct gate *c = user;
    if (drains(c, y, V1.V, V2.V, i)) return 1;
    struct junction b3 = junction_values(c, y[2] - y[4]), b4 = junction_values(c, y[3] - c->VDD),
                    b8 = junction_values(c, y[7] - y[9]), b9 = junction_values(c, y[8] - y[4]),
                    b13 = junction_values(c, y[12]), b14 = junction_values(c, y[13] - y[9]);
    double r1 = (y[0] - y[4]) * c->by_R, r6 = (y[5] - y[9]) * c->by_R, r7 = (y[6] - y[4]) * c->by_R,
           r12 = (y[11] - y[9]) * c->by_R;
    double q1 = c->CG * (yp[0] - yp[4]), q2 = c->CG * (yp[1] - yp[4]), q3 = b3.c * (yp[2] - yp[4]),
           q8 = b8.c * (yp[7] - yp[9]), q9 = b9.c * (yp[8] - yp[4]), q14 = b14.c * (yp[13] - yp[9]);
    F[0] = q1 + i[0].i + r1;
    F[1] = q2 - i[0].i + (y[1] - c->VDD) * c->by_R;
    F[2] = q3 - b3.i + (y[2] - c->VBB) * c->by_RB;
    F[3] = b4.c * yp[3] - b4.i + (y[3] - c->VBB) * c->by_RB;
    F[4] = c->C5 * yp[4] - q1 - q2 - q3 - q9 - r1 - r7 + b3.i + b9.i;
    F[5] = c->CG * (yp[5] - V1.slope) + i[1].i + r6;
    F[6] = c->CG * (yp[6] - V1.slope) - i[1].i + r7;
    F[7] = q8 - b8.i + (y[7] - c->VBB) * c->by_RB;
    F[8] = q9 - b9.i + (y[8] - c->VBB) * c->by_RB;
    F[9] = c->C10 * yp[9] - q8 - q14 - r6 - r12 + b8.i + b14.i;
    F[10] = c->CG * (yp[10] - V2.slope) + i[2].i + y[10] * c->by_R;
    F[11] = c->CG * (yp[11] - V2.slope) - i[2].i + r12;
    F[12] = b13.c * yp[12] - b13.i + (y[12] - c->VBB) * c->by_RB;
    F[13] = q14 - b14.i + (y[13] - c->VBB) * c->by_RB;
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
    const struct gate *c = user;
    if (drains(c, y, input1(t).V, input2(t).V, i)) return 1;
    struct junction b3 = junction_all(c, y[2] - y[4]), b4 = junction_all(c, y[3] - c->VDD),
                    b8 = junction_all(c, y[7] - y[9]), b9 = junction_all(c, y[8] - y[4]),
                    b13 = junction_all(c, y[12]), b14 = junction_all(c, y[13] - y[9]);
    put_drain(jac, 1, 5, 3, 5, 4, 0, &i[0]);
    put_drain(jac, 6, 0, 8, 10, 9, 5, &i[1]);
    put_drain(jac, 11, 0, 13, 0, 14, 10, &i[2]);
    put_junction(jac, 3, 5, b3.dc * (yp[2] - yp[4]) - b3.di);
    put_junction(jac, 4, 0, b4.dc * yp[3] - b4.di);
    put_junction(jac, 8, 10, b8.dc * (yp[7] - yp[9]) - b8.di);
    put_junction(jac, 9, 5, b9.dc * (yp[8] - yp[4]) - b9.di);
    put_junction(jac, 13, 0, b13.dc * yp[12] - b13.di);
    put_junction(jac, 14, 10, b14.dc * (yp[13] - yp[9]) - b14.di);
    put_junction(jac, 1, 5, c->by_R);
    put_junction(jac, 7, 5, c->by_R);
    put_junction(jac, 6, 10, c->by_R);
    put_junction(jac, 12, 10, c->by_R);
    J(2, 2) += c->by_R;
    J(11, 11) += c->by_R;
    static const int bulk[] = {3, 4, 8, 9, 13, 14};
    for (int k = 0; k < 6; k++) J(bulk[k], bulk[k]) += c->by_RB;
    return 0;
}

static int dfdyp(double t, const double *y, const double *yp, double *jac, void *user)
{
    (void)t;
    (void)yp;
    const struct gate *c = user;
    put_junction(jac, 1, 5, c->CG);
    put_junction(jac, 2, 5, c->CG);
    put_junction(jac, 3, 5, junction_values(c, y[2] - y[4]).c);
    put_junction(jac, 4, 0, junction_values(c, y[3] - c->VDD).c);
    put_junction(jac, 8, 10, junction_values(c, y[7] - y[9]).c);
    put_junction(jac, 9, 5, junction_values(c, y[8] - y[4]).c);
    put_junction(jac, 13, 0, junction_values(c, y[12]).c);
    put_junction(jac, 14, 10, junction_values(c, y[13] - y[9]).c);
    J(5, 5) += c->C5;
    J(10, 10) += c->C10;
    J(6, 6) = J(7, 7) = J(11, 11) = J(12, 12) = c->CG;
    return 0;
}

static const dae_parameter parameter[] = {
    {"V_BB", -2.5, -100, 100, NULL, 0, "V", "voltage of the bulk"},
    {"V_DD", 5, -100, 100, NULL, 0, "V", "operating voltage"},
    {"C5", 0.5e-4, 1e-9, 1, NULL, 0, "", "capacitance at node 5"},
    {"C10", 0.5e-4, 1e-9, 1, NULL, 0, "", "capacitance at node 10"},
    {"C_G", 0.6e-4, 1e-9, 1, NULL, 0, "", "capacitance of the gates"},
    {"R", 4, 1e-6, 1e12, NULL, 0, "", "resistance of sources and drains"},
    {"R_B", 10, 1e-6, 1e12, NULL, 0, "", "resistance of the bulk"},
    {"C0", 0.24e-4, 1e-9, 1, NULL, 0, "", "capacitance of the junctions at 0 V"},
    {"phi_B", 0.87, 1e-3, 10, NULL, 0, "V", "contact potential of the junctions"},
    {"i_S", 1e-14, 0, 1, NULL, 0, "", "saturation current of the junctions"},
    {"U_T", 25.85, 1e-3, 1e4, NULL, 0, "V", "voltage of their exponent"},
    {"beta_d", 5.35e-4, 0, 1, NULL, 0, "", "current factor of the depletion transistor"},
    {"U_T0_d", -2.43, -10, 10, NULL, 0, "V", "its threshold voltage"},
    {"gamma_d", 0.2, 0, 10, NULL, 0, "V^1/2", "its influence of the bulk"},
    {"delta_d", 0.02, 0, 10, NULL, 0, "1/V", "its channel modulation"},
    {"Phi_d", 1.28, 0.1, 10, NULL, 0, "V", "its surface potential"},
    {"beta_e", 1.748e-3, 0, 1, NULL, 0, "", "current factor of the enhancement transistors"},
    {"U_T0_e", 0.2, -10, 10, NULL, 0, "V", "its threshold voltage"},
    {"gamma_e", 0.035, 0, 10, NULL, 0, "V^1/2", "its influence of the bulk"},
    {"delta_e", 0.02, 0, 10, NULL, 0, "1/V", "its channel modulation"},
    {"Phi_e", 1.01, 0.1, 10, NULL, 0, "V", "its surface potential"},
    {"beta_r", 1.748e-4, 0, 1, NULL, 0, "", "current factor of the enhancement transistors for U_DS < 0"},
    {0},
};

/* The constants, and what the functions need of them. */
static void derive(const dae_problem *p, struct gate *c)
{
    dae_problem_constants(p, 0, c, 11 * sizeof(double));
    dae_problem_constants(p, 11, &c->depletion, 5 * sizeof(double));
    dae_problem_constants(p, 16, &c->enhancement, 5 * sizeof(double));
    c->depletion.beta_minus = c->depletion.beta_plus;
    c->enhancement.beta_minus = p->parameter[21];
    c->depletion.sqrt_Phi = sqrt(c->depletion.Phi);
    c->enhancement.sqrt_Phi = sqrt(c->enhancement.Phi);
    c->by_R = 1 / c->R;
    c->by_RB = 1 / c->RB;
    c->by_phiB = 1 / c->phiB;
    c->by_UT = 1 / c->UT;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
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
    static const char *const column[] = {"V1", "V2"}, *const unit[] = {"V", "V"};
    (void)err;
    struct gate *c = dae_problem_take(p, 1, sizeof *c);
    double *y0 = dae_problem_reals(p, N);
    if (!c || !y0) return DAE_ERR_MEMORY;
    derive(p, c);
    for (int i = 0; i < N; i++) y0[i] = c->VBB; /* the bulk nodes */
    y0[0] = y0[1] = y0[4] = y0[6] = c->VDD;
    y0[5] = y0[9] = y0[11] = 3.62385;
    y0[10] = 0;
    p->system = (dae_system){
        .kind = DAE_KIND_IDE,
        .ide =
            {.n = N, .residual = residual, .dfdy = dfdy, .dfdyp = dfdyp, .algebraic = algebraic, .user = c},
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
    p->reference = dae_problem_is_default(p) ? reference : NULL;
    p->reference_digits = 15;
    p->reference_source =
        "test set (PSIDE, extended precision, tolerances 1e-16); confirmed in extended precision";
    p->scored = scored;
    dae_problem_names(p, 0, N, "U%d");
    dae_problem_units(p, 0, N, "V");
    p->plot = plot;
    p->nplot = 2;
    p->derived = (dae_derived){.ncolumn = 2, .column = column, .unit = unit, .columns = inputs};
    return DAE_OK;
}

const dae_problem_entry dae_problem_nand = {
    .info = {.name = "nand",
             .title = "NAND gate",
             .kind = DAE_KIND_IDE,
             .n = N,
             .index = 1,
             .stiff = 1,
             .origin = "electrical circuit, three MOSFETs (M. Guenther, P. Rentrop 1996)",
             .parameter = parameter},
    .setup = setup,
};
