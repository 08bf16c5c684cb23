/* ROBER: Robertson's autocatalytic reaction A -> B, 2B -> B + C, B + C -> A + C.
 *
 *     y1' = -k1 y1 + k3 y2 y3
 *     y2' =  k1 y1 - k3 y2 y3 - k2 y2^2
 *     y3' =  k2 y2^2
 *
 * H. Robertson 1966; Test Set for IVP Solvers, release 2.3, section II.10 (names of the rates as there). */
#include "testset/testset.h"

struct rober {
    double k1, k2, k3;
};

static int rhs(double t, const double *y, double *f, void *user)
{
    const struct rober *c = user;
    (void)t;
    f[0] = -c->k1 * y[0] + c->k3 * y[1] * y[2];
    f[2] = c->k2 * y[1] * y[1];
    f[1] = -f[0] - f[2];
    return 0;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    const struct rober *c = user;
    (void)t;
    jac[0] = -c->k1;
    jac[1] = c->k1;
    jac[3] = c->k3 * y[2];
    jac[5] = 2 * c->k2 * y[1];
    jac[4] = -jac[3] - jac[5];
    jac[6] = c->k3 * y[1];
    jac[7] = -jac[6];
    return 0;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[3] = {1, 0, 0};
    static const double published[3] = {0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050};
    static const double recomputed[3] = {0.2083340149701255e-7, 0.8333360770334713e-13, 0.99999997916651517};
    static const char *const names[3] = {"A", "B", "C"};
    static const int plot[] = {0, 1, 2};
    struct rober *c = dae_problem_take(p, 1, sizeof *c);
    (void)err;
    if (!c) return DAE_ERR_MEMORY;
    c->k1 = dae_problem_parameter(p, "k1");
    c->k2 = dae_problem_parameter(p, "k2");
    c->k3 = dae_problem_parameter(p, "k3");
    p->system = (dae_system){.kind = DAE_KIND_ODE,
                             .ode = {.n = 3, .f = rhs, .jac = jacobian, .user = c},
                             .structure = {.autonomous = 1}};
    p->t_end = 1e11;
    p->y0 = y0;
    p->rtol = 1e-7;
    p->atol = 1e-11;
    p->h0 = 1e-9;
    if (dae_problem_is_default(p)) {
        p->reference = recomputed;
        p->published = published;
    }
    p->reference_digits = 12.5;
    p->reference_source =
        "test set (RADAU, extended precision); y3 from y1 + y2 + y3 = 1, the printed one is off "
        "by 1e-14";
    p->component = names;
    p->plot = plot;
    p->nplot = 3;
    p->plot_log_t = 1;
    return DAE_OK;
}

static const dae_parameter parameter[] = {
    {"k1", 0.04, 0, 1e12, NULL, 0, "1/s", "rate of A -> B"},
    {"k2", 3e7, 0, 1e12, NULL, 0, "1/s", "rate of B + B -> B + C"},
    {"k3", 1e4, 0, 1e12, NULL, 0, "1/s", "rate of B + C -> A + C"},
    {NULL, 0, 0, 0, NULL, 0, NULL, NULL},
};

const dae_problem_entry dae_problem_rober = {
    .info = {.name = "rober",
             .title = "Robertson's reaction",
             .aliases = "robertson",
             .kind = DAE_KIND_ODE,
             .n = 3,
             .stiff = 1,
             .origin = "chemical kinetics (H. Robertson 1966)",
             .parameter = parameter},
    .setup = setup,
};
