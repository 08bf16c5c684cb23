/* Pollution: 25 reactions of 20 species, the chemistry of an air pollution model (RIVM).
 *
 *     y' = f(y),  f_i = sum over reactions of (produced - consumed) r_j,  r_j = k_j y_a or k_j y_a y_b
 *
 * Source: J.G. Verwer, Gauss-Seidel iteration for stiff ODEs from chemical kinetics, SIAM J. Sci. Comput. 15
 * (1994) 1243-1259; test set report, release 2.3, part II-2. Concentrations in ppm, time in minutes. */
#include "core/vector.h"
#include "testset/testset.h"

enum { N = 20 };

typedef struct rates { /* in the order of the parameters */
    double k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11, k12, k13, k14, k15, k16, k17, k18, k19, k20, k21,
        k22, k23, k24, k25;
} rates;

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t;
    const rates *c = user;
    double r1 = c->k1 * y[0];           /* NO2 -> NO + O3P */
    double r2 = c->k2 * y[1] * y[3];    /* NO + O3 -> NO2 */
    double r3 = c->k3 * y[4] * y[1];    /* HO2 + NO -> NO2 + OH */
    double r4 = c->k4 * y[6];           /* HCHO -> 2 HO2 + CO */
    double r5 = c->k5 * y[6];           /* HCHO -> CO */
    double r6 = c->k6 * y[6] * y[5];    /* HCHO + OH -> HO2 + CO */
    double r7 = c->k7 * y[8];           /* ALD -> MEO2 + HO2 + CO */
    double r8 = c->k8 * y[8] * y[5];    /* ALD + OH -> C2O3 */
    double r9 = c->k9 * y[10] * y[1];   /* C2O3 + NO -> NO2 + MEO2 + CO2 */
    double r10 = c->k10 * y[10] * y[0]; /* C2O3 + NO2 -> PAN */
    double r11 = c->k11 * y[12];        /* PAN -> C2O3 + NO2 */
    double r12 = c->k12 * y[9] * y[1];  /* MEO2 + NO -> CH3O + NO2 */
    double r13 = c->k13 * y[13];        /* CH3O -> HCHO + HO2 */
    double r14 = c->k14 * y[0] * y[5];  /* NO2 + OH -> HNO3 */
    double r15 = c->k15 * y[2];         /* O3P -> O3 */
    double r16 = c->k16 * y[3];         /* O3 -> O1D */
    double r17 = c->k17 * y[3];         /* O3 -> O3P */
    double r18 = c->k18 * y[15];        /* O1D -> 2 OH */
    double r19 = c->k19 * y[15];        /* O1D -> O3P */
    double r20 = c->k20 * y[16] * y[5]; /* SO2 + OH -> SO4 + HO2 */
    double r21 = c->k21 * y[18];        /* NO3 -> NO */
    double r22 = c->k22 * y[18];        /* NO3 -> NO2 + O3P */
    double r23 = c->k23 * y[0] * y[3];  /* NO2 + O3 -> NO3 */
    double r24 = c->k24 * y[18] * y[0]; /* NO3 + NO2 -> N2O5 */
    double r25 = c->k25 * y[19];        /* N2O5 -> NO3 + NO2 */

    f[0] = -r1 - r10 - r14 - r23 - r24 + r2 + r3 + r9 + r11 + r12 + r22 + r25;
    f[1] = -r2 - r3 - r9 - r12 + r1 + r21;
    f[2] = -r15 + r1 + r17 + r19 + r22;
    f[3] = -r2 - r16 - r17 - r23 + r15;
    f[4] = -r3 + 2 * r4 + r6 + r7 + r13 + r20;
    f[5] = -r6 - r8 - r14 - r20 + r3 + 2 * r18;
    f[6] = -r4 - r5 - r6 + r13;
    f[7] = r4 + r5 + r6 + r7;
    f[8] = -r7 - r8;
    f[9] = -r12 + r7 + r9;
    f[10] = -r9 - r10 + r8 + r11;
    f[11] = r9;
    f[12] = -r11 + r10;
    f[13] = -r13 + r12;
    f[14] = r14;
    f[15] = -r18 - r19 + r16;
    f[16] = -r20;
    f[17] = r20;
    f[18] = -r21 - r22 - r24 + r23 + r25;
    f[19] = -r25 + r24;
    return 0;
}

/* The 82 nonzeros of df/dy by columns; CO, CO2, HNO3 and SO4 react with nothing. */
static const int colptr[N + 1] = {0,  10, 19, 21, 27, 31, 41, 45, 45, 51, 55,
                                  61, 61, 64, 67, 67, 70, 74, 74, 79, 82};
static const int rowind[82] = {
    0, 1,  2,  3,  5,  10, 12, 14, 18, 19, /* NO2 */
    0, 1,  3,  4,  5,  9,  10, 11, 13,     /* NO */
    2, 3,                                  /* O3P */
    0, 1,  2,  3,  15, 18,                 /* O3 */
    0, 1,  4,  5,                          /* HO2 */
    0, 4,  5,  6,  7,  8,  10, 14, 16, 17, /* OH */
    4, 5,  6,  7,                          /* HCHO */
    4, 5,  7,  8,  9,  10,                 /* ALD */
    0, 1,  9,  13,                         /* MEO2 */
    0, 1,  9,  10, 11, 12,                 /* C2O3 */
    0, 10, 12,                             /* PAN */
    4, 6,  13,                             /* CH3O */
    2, 5,  15,                             /* O1D */
    4, 5,  16, 17,                         /* SO2 */
    0, 1,  2,  18, 19,                     /* NO3 */
    0, 18, 19,                             /* N2O5 */
};

static int jacobian(double t, const double *y, double *jac, void *user)
{
    (void)t;
    const rates *c = user;
    /* rj_c: derivative of rate j by component c, counted from 1 */
    double r2_2 = c->k2 * y[3], r2_4 = c->k2 * y[1];
    double r3_5 = c->k3 * y[1], r3_2 = c->k3 * y[4];
    double r6_7 = c->k6 * y[5], r6_6 = c->k6 * y[6];
    double r8_9 = c->k8 * y[5], r8_6 = c->k8 * y[8];
    double r9_11 = c->k9 * y[1], r9_2 = c->k9 * y[10];
    double r10_11 = c->k10 * y[0], r10_1 = c->k10 * y[10];
    double r12_10 = c->k12 * y[1], r12_2 = c->k12 * y[9];
    double r14_1 = c->k14 * y[5], r14_6 = c->k14 * y[0];
    double r20_17 = c->k20 * y[5], r20_6 = c->k20 * y[16];
    double r23_1 = c->k23 * y[3], r23_4 = c->k23 * y[0];
    double r24_19 = c->k24 * y[0], r24_1 = c->k24 * y[18];
    const double value[82] = {
        -c->k1 - r10_1 - r14_1 - r23_1 - r24_1,
        c->k1,
        c->k1,
        -r23_1,
        -r14_1,
        -r10_1,
        r10_1,
        r14_1,
        r23_1 - r24_1,
        r24_1,
        r2_2 + r3_2 + r9_2 + r12_2,
        -r2_2 - r3_2 - r9_2 - r12_2,
        -r2_2,
        -r3_2,
        r3_2,
        r9_2 - r12_2,
        -r9_2,
        r9_2,
        r12_2,
        -c->k15,
        c->k15,
        r2_4 - r23_4,
        -r2_4,
        c->k17,
        -r2_4 - c->k16 - c->k17 - r23_4,
        c->k16,
        r23_4,
        r3_5,
        -r3_5,
        -r3_5,
        r3_5,
        -r14_6,
        r6_6 + r20_6,
        -r6_6 - r8_6 - r14_6 - r20_6,
        -r6_6,
        r6_6,
        -r8_6,
        r8_6,
        r14_6,
        -r20_6,
        r20_6,
        2 * c->k4 + r6_7,
        -r6_7,
        -c->k4 - c->k5 - r6_7,
        c->k4 + c->k5 + r6_7,
        c->k7,
        -r8_9,
        c->k7,
        -c->k7 - r8_9,
        c->k7,
        r8_9,
        r12_10,
        -r12_10,
        -r12_10,
        r12_10,
        r9_11 - r10_11,
        -r9_11,
        r9_11,
        -r9_11 - r10_11,
        r9_11,
        r10_11,
        c->k11,
        c->k11,
        -c->k11,
        c->k13,
        c->k13,
        -c->k13,
        c->k19,
        2 * c->k18,
        -c->k18 - c->k19,
        r20_17,
        -r20_17,
        -r20_17,
        r20_17,
        c->k22 - r24_19,
        c->k21,
        c->k22,
        -c->k21 - c->k22 - r24_19,
        r24_19,
        c->k25,
        c->k25,
        -c->k25,
    };
    dae_copy(82, value, jac);
    return 0;
}

static const char *const name[N] = {"NO2",  "NO",  "O3P",  "O3",   "HO2", "OH",  "HCHO",
                                    "CO",   "ALD", "MEO2", "C2O3", "CO2", "PAN", "CH3O",
                                    "HNO3", "O1D", "SO2",  "SO4",  "NO3", "N2O5"};
static const double y0[N] = {0, 0.2, 0, 0.04, 0, 0, 0.1, 0.3, 0.01, 0, 0, 0, 0, 0, 0, 0, 0.007, 0, 0, 0};
static const double reference[N] = {
    0.05646255480022769,   0.1342484130422339,    4.139734331099427e-09, 0.005523140207484359,
    2.018977262302196e-07, 1.464541863493966e-07, 0.07784249118997964,   0.3245075353396018,
    0.007494013383880406,  1.622293157301561e-08, 1.135863833257075e-08, 0.002230505975721359,
    0.000208716288279863,  1.396921016840158e-05, 0.008964884856898295,  4.352846369330103e-18,
    0.006899219696263405,  0.0001007803037365946, 1.772146513969984e-06, 5.682943292316392e-05};
static const int plot[] = {0, 1, 3, 6, 8, 12};

static const dae_parameter parameter[] = {
    {"k1", 0.35, 0, 1e15, NULL, 0, "1/min", "rate of NO2 -> NO + O3P"},
    {"k2", 26.6, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of NO + O3 -> NO2"},
    {"k3", 1.23e4, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of HO2 + NO -> NO2 + OH"},
    {"k4", 8.6e-4, 0, 1e15, NULL, 0, "1/min", "rate of HCHO -> 2 HO2 + CO"},
    {"k5", 8.2e-4, 0, 1e15, NULL, 0, "1/min", "rate of HCHO -> CO"},
    {"k6", 1.5e4, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of HCHO + OH -> HO2 + CO"},
    {"k7", 1.3e-4, 0, 1e15, NULL, 0, "1/min", "rate of ALD -> MEO2 + HO2 + CO"},
    {"k8", 2.4e4, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of ALD + OH -> C2O3"},
    {"k9", 1.65e4, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of C2O3 + NO -> NO2 + MEO2 + CO2"},
    {"k10", 9e3, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of C2O3 + NO2 -> PAN"},
    {"k11", 0.022, 0, 1e15, NULL, 0, "1/min", "rate of PAN -> C2O3 + NO2"},
    {"k12", 1.2e4, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of MEO2 + NO -> CH3O + NO2"},
    {"k13", 1.88, 0, 1e15, NULL, 0, "1/min", "rate of CH3O -> HCHO + HO2"},
    {"k14", 1.63e4, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of NO2 + OH -> HNO3"},
    {"k15", 4.8e6, 0, 1e15, NULL, 0, "1/min", "rate of O3P -> O3"},
    {"k16", 3.5e-4, 0, 1e15, NULL, 0, "1/min", "rate of O3 -> O1D"},
    {"k17", 0.0175, 0, 1e15, NULL, 0, "1/min", "rate of O3 -> O3P"},
    {"k18", 1e8, 0, 1e15, NULL, 0, "1/min", "rate of O1D -> 2 OH"},
    {"k19", 4.44e11, 0, 1e15, NULL, 0, "1/min", "rate of O1D -> O3P"},
    {"k20", 1240, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of SO2 + OH -> SO4 + HO2"},
    {"k21", 2.1, 0, 1e15, NULL, 0, "1/min", "rate of NO3 -> NO"},
    {"k22", 5.78, 0, 1e15, NULL, 0, "1/min", "rate of NO3 -> NO2 + O3P"},
    {"k23", 0.0474, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of NO2 + O3 -> NO3"},
    {"k24", 1780, 0, 1e15, NULL, 0, "1/(ppm min)", "rate of NO3 + NO2 -> N2O5"},
    {"k25", 3.12, 0, 1e15, NULL, 0, "1/min", "rate of N2O5 -> NO3 + NO2"},
    {0},
};

static dae_status setup(dae_problem *p, dae_error *err)
{
    (void)err;
    rates *c = dae_problem_take(p, 1, sizeof *c);
    if (!c) return DAE_ERR_MEMORY;
    dae_problem_constants(p, 0, c, sizeof *c);
    p->system =
        (dae_system){.kind = DAE_KIND_ODE,
                     .ode = {.n = N, .f = rhs, .jac = jacobian, .user = c},
                     .structure = {.jacobian = {.storage = DAE_SPARSE, .colptr = colptr, .rowind = rowind},
                                   .autonomous = 1}};
    p->t_end = 60;
    p->y0 = y0;
    p->rtol = p->atol = p->h0 = 1e-7;
    p->reference = dae_problem_is_default(p) ? reference : NULL;
    p->reference_digits = 13.9;
    p->reference_source =
        "test set (RADAU5, extended precision, tolerances 1.1e-18); confirmed in extended precision";
    p->component = name;
    dae_problem_units(p, 0, N, "ppm");
    p->time_unit = "min";
    p->plot = plot;
    p->nplot = 6;
    return DAE_OK;
}

const dae_problem_entry dae_problem_pollu = {
    .info = {.name = "pollu",
             .title = "Pollution problem",
             .aliases = "pollution",
             .kind = DAE_KIND_ODE,
             .n = N,
             .stiff = 1,
             .origin = "atmospheric chemistry, RIVM air pollution model (Verwer 1994)",
             .parameter = parameter},
    .setup = setup};
