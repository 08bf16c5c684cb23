/* The van der Pol oscillator z'' = mu (1 - z^2) z' - z in two scalings:
 *
 *     vdpol-mu:   y1' = y2,  y2' = mu (1 - y1^2) y2 - y1             mu  = 1000, 0 <= t <= 2 mu
 *     vdpol-eps:  y1' = y2,  y2' = ((1 - y1^2) y2 - y1)/eps          eps = 1e-6, 0 <= t <= 2
 *
 * With eps = 1/mu^2 the second is the first in t/mu, with mu y2 for y2.
 * B. van der Pol 1926; Test Set for IVP Solvers, release 2.3, section II.8. */
#include "testset/testset.h"

/* Both are y2' = a (1 - y1^2) y2 - b y1. */
struct vdpol {
    double a, b;
};

static int rhs(double t, const double *y, double *f, void *user)
{
    const struct vdpol *c = user;
    (void)t;
    f[0] = y[1];
    f[1] = c->a * ((1 - y[0] * y[0]) * y[1]) - c->b * y[0];
    return 0;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    const struct vdpol *c = user;
    (void)t;
    jac[1] = -2 * c->a * y[0] * y[1] - c->b;
    jac[2] = 1;
    jac[3] = c->a * (1 - y[0] * y[0]);
    return 0;
}

static dae_status setup(dae_problem *p, double a, double b)
{
    static const double y0[2] = {2, 0};
    static const int plot[] = {0};
    struct vdpol *c = dae_problem_take(p, 1, sizeof *c);
    if (!c) return DAE_ERR_MEMORY;
    c->a = a;
    c->b = b;
    p->system = (dae_system){.kind = DAE_KIND_ODE,
                             .ode = {.n = 2, .f = rhs, .jac = jacobian, .user = c},
                             .structure = {.autonomous = 1}};
    p->y0 = y0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-9;
    p->reference_source = "test set (RADAU, extended precision, tolerances 1.1e-18); recomputed";
    p->plot = plot;
    p->nplot = 1;
    return DAE_OK;
}

static dae_status setup_mu(dae_problem *p, dae_error *err)
{
    static const double reference[2] = {0.1706167732170469e1, -0.8928097010248125e-3};
    double mu = dae_problem_parameter(p, "mu");
    (void)err;
    p->t_end = 2 * mu;
    p->reference = dae_problem_is_default(p) ? reference : NULL;
    p->reference_digits = 14;
    return setup(p, mu, 1);
}

static dae_status setup_eps(dae_problem *p, dae_error *err)
{
    static const double reference[2] = {0.1706167732170483e1, -0.8928097010247975};
    double eps = dae_problem_parameter(p, "eps");
    (void)err;
    p->t_end = 2;
    p->reference = dae_problem_is_default(p) ? reference : NULL;
    p->reference_digits = 13;
    return setup(p, 1 / eps, 1 / eps);
}

static const dae_parameter parameter_mu[] = {
    {"mu", 1000, 1e-3, 1e6, NULL, 0, "", "damping; the interval is 0 .. 2 mu"},
    {NULL, 0, 0, 0, NULL, 0, NULL, NULL},
};
static const dae_parameter parameter_eps[] = {
    {"eps", 1e-6, 1e-12, 1e3, NULL, 0, "", "singular perturbation parameter, 1/mu^2"},
    {NULL, 0, 0, 0, NULL, 0, NULL, NULL},
};

const dae_problem_entry dae_problem_vdpol_mu = {
    .info = {.name = "vdpol-mu",
             .title = "Van der Pol oscillator, mu = 1000",
             .aliases = "vdpol vdpolm",
             .kind = DAE_KIND_ODE,
             .n = 2,
             .stiff = 1,
             .origin = "vacuum tube circuit (B. van der Pol 1926)",
             .parameter = parameter_mu},
    .setup = setup_mu,
};

const dae_problem_entry dae_problem_vdpol_eps = {
    .info = {.name = "vdpol-eps",
             .title = "Van der Pol oscillator, eps = 1e-6",
             .kind = DAE_KIND_ODE,
             .n = 2,
             .stiff = 1,
             .origin = "vacuum tube circuit (B. van der Pol 1926), scaled time",
             .parameter = parameter_eps},
    .setup = setup_eps,
};
