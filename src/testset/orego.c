/* OREGO: the Oregonator, a model of the oscillating Belousov-Zhabotinskii reaction.
 *
 *     y1' = s (y2 - y1 y2 + y1 - q y1^2)
 *     y2' = (y3 - (1 + y1) y2)/s
 *     y3' = w (y1 - y3)
 *
 * R. Field, E. Koros, R. Noyes 1972; Test Set for IVP Solvers, release 2.3, section II.9. */
#include "testset/testset.h"

struct orego {
    double s, q, w, one_by_s;
};

static int rhs(double t, const double *y, double *f, void *user)
{
    const struct orego *c = user;
    (void)t;
    f[0] = c->s * (y[1] + y[0] * (1 - c->q * y[0] - y[1]));
    f[1] = (y[2] - (1 + y[0]) * y[1]) * c->one_by_s;
    f[2] = c->w * (y[0] - y[2]);
    return 0;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    const struct orego *c = user;
    (void)t;
    jac[0] = c->s * (1 - 2 * c->q * y[0] - y[1]);
    jac[1] = -y[1] * c->one_by_s;
    jac[2] = c->w;
    jac[3] = c->s * (1 - y[0]);
    jac[4] = -(1 + y[0]) * c->one_by_s;
    jac[7] = c->one_by_s;
    jac[8] = -c->w;
    return 0;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[3] = {1, 2, 3};
    static const double published[3] = {0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3};
    static const double recomputed[3] = {1.0008148703185227, 1228.178521549888, 132.05549428465082};
    static const char *const names[3] = {"HBrO2", "Br", "Ce4"};
    static const int plot[] = {0, 1, 2};
    struct orego *c = dae_problem_take(p, 1, sizeof *c);
    (void)err;
    if (!c) return DAE_ERR_MEMORY;
    c->s = dae_problem_parameter(p, "s");
    c->q = dae_problem_parameter(p, "q");
    c->w = dae_problem_parameter(p, "w");
    c->one_by_s = 1 / c->s;
    p->system = (dae_system){.kind = DAE_KIND_ODE,
                             .ode = {.n = 3, .f = rhs, .jac = jacobian, .user = c},
                             .structure = {.autonomous = 1}};
    p->t_end = 360;
    p->y0 = y0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-9;
    if (dae_problem_is_default(p)) {
        p->reference = recomputed;
        p->published = published;
    }
    p->reference_digits = 15;
    p->reference_source =
        "recomputed (Radau IIA with 5 and 7 stages, extended precision); the test set's is off "
        "by 1.5e-13";
    p->component = names;
    p->plot = plot;
    p->nplot = 3;
    return DAE_OK;
}

static const dae_parameter parameter[] = {
    {"s", 77.27, 1e-6, 1e9, NULL, 0, "", "ratio of rates, makes the problem stiff"},
    {"q", 8.375e-6, 0, 1, NULL, 0, "", "ratio of rates of HBrO2 decay"},
    {"w", 0.161, 0, 1e6, NULL, 0, "", "rate of the reduction of Ce(IV)"},
    {NULL, 0, 0, 0, NULL, 0, NULL, NULL},
};

const dae_problem_entry dae_problem_orego = {
    .info = {.name = "orego",
             .title = "Oregonator",
             .aliases = "oregonator",
             .kind = DAE_KIND_ODE,
             .n = 3,
             .stiff = 1,
             .origin = "oscillating chemical reaction (R. Field, E. Koros, R. Noyes 1972)",
             .parameter = parameter},
    .setup = setup,
};
