/* E5: chemical pyrolysis, rates from 1e-9 to 1e9.
 *
 *     y1' = -A y1 - B y1 y3                       A = 7.89e-10
 *     y2' =  A y1 - M C y2 y3                     B = 1.1e7
 *     y3' =  y2' - y4'                            C = 1.13e3
 *     y4' =  B y1 y3 - C y4                       M = 1e6
 *
 * y2 - y3 - y4 = 0 is kept; y3' is formed from it, which avoids cancellation.
 * Datta 1967, named by W. Enright, T. Hull, B. Lindberg 1975; Test Set for IVP Solvers, release 2.3,
 * section II.11. */
#include "testset/testset.h"

typedef struct pyrolysis {
    double A, B, C, M; /* in the order of the parameters */
    double MC;
} pyrolysis;

static int rhs(double t, const double *y, double *f, void *user)
{
    (void)t;
    const pyrolysis *c = user;
    double a = c->A * y[0], b = c->B * y[0] * y[2];
    f[0] = -a - b;
    f[1] = a - c->MC * y[1] * y[2];
    f[3] = b - c->C * y[3];
    f[2] = f[1] - f[3];
    return 0;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    (void)t;
    const pyrolysis *c = user;
    double b1 = c->B * y[2], b3 = c->B * y[0], m2 = c->MC * y[2], m3 = c->MC * y[1];
    jac[0] = -c->A - b1;
    jac[1] = c->A;
    jac[2] = c->A - b1;
    jac[3] = b1;
    jac[5] = -m2;
    jac[6] = -m2;
    jac[8] = -b3;
    jac[9] = -m3;
    jac[10] = -m3 - b3;
    jac[11] = b3;
    jac[14] = c->C;
    jac[15] = -c->C;
    return 0;
}

static const dae_parameter parameter[] = {
    {"A", 7.89e-10, 0, 1e20, NULL, 0, "", "rate of the decay of A1"},
    {"B", 1.1e7, 0, 1e20, NULL, 0, "", "rate of A1 + A3 -> A4"},
    {"C", 1.13e3, 0, 1e20, NULL, 0, "", "rate of the decay of A4"},
    {"M", 1e6, 0, 1e20, NULL, 0, "", "the rate of A2 + A3 is M C"},
    {0},
};

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[4] = {1.76e-3, 0, 0, 0};
    static const double published[4] = {0.1152903278711829e-290, 0.8867655517642120e-22,
                                        0.8854814626268838e-22, 0};
    static const double recomputed[4] = {0, 8.861233521289e-23, 8.861233521289e-23, 0};
    static const char *const names[4] = {"A1", "A2", "A3", "A4"};
    static const int plot[] = {0, 1, 2, 3};
    (void)err;
    pyrolysis *c = dae_problem_take(p, 1, sizeof *c);
    if (!c) return DAE_ERR_MEMORY;
    dae_problem_constants(p, 0, c, 4 * sizeof(double));
    c->MC = c->M * c->C;
    p->system = (dae_system){.kind = DAE_KIND_ODE,
                             .ode = {.n = 4, .f = rhs, .jac = jacobian, .user = c},
                             .structure = {.autonomous = 1}};
    p->t_end = 1e13;
    p->y0 = y0;
    p->rtol = 1e-7;
    p->atol = 1.7e-24;
    p->h0 = 1e-9;
    int is_default = dae_problem_is_default(p);
    p->reference = is_default ? recomputed : NULL;
    p->published = is_default ? published : NULL;
    p->reference_digits = 11;
    p->reference_source =
        "recomputed with y3 = y2 - y4; the test set's y2, y3 are off by 7e-4, its y1 is noise";
    p->no_scd = 1;
    p->component = names;
    p->plot = plot;
    p->nplot = 4;
    p->plot_log_t = 1;
    return DAE_OK;
}

const dae_problem_entry dae_problem_e5 = {
    .info = {.name = "e5",
             .title = "Chemical pyrolysis E5",
             .kind = DAE_KIND_ODE,
             .n = 4,
             .stiff = 1,
             .origin = "chemical pyrolysis (Datta 1967)",
             .parameter = parameter},
    .setup = setup,
};
