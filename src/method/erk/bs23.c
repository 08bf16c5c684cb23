/* bs23: the explicit Runge-Kutta pair of order 3(2) of Bogacki and Shampine.
 *
 * Four stages, three evaluations per step, because the last derivative is the first of the next step. The
 * solution of order 3 is carried on; its distance to the one of order 2 is the error estimate; dense output
 * is the cubic Hermite polynomial. Table: [BS89]. Steps, control and stiffness test: erk.c.
 * No stage but the last is at t + h, so the stiffness test evaluates f once more, at the solution of order 2
 * (ours; only when the test is due). */
#include "method/erk/erk.h"

#include "core/vector.h"

static const double c[4] = {0, 1.0 / 2, 3.0 / 4, 1};

static const double a[4][DAE_ERK_WIDTH] = {
    {0},
    {1.0 / 2},
    {0, 3.0 / 4},
    {2.0 / 9, 1.0 / 3, 4.0 / 9},
};

/* b of order 3 minus b of order 2. */
static const double e[1][DAE_ERK_WIDTH] = {{-5.0 / 72, 1.0 / 12, 1.0 / 9, -1.0 / 8}};

static void weighted_error(const dae_erk *m, double h, double *restrict w)
{
    const double *k1 = m->k[0], *k2 = m->k[1], *k3 = m->k[2], *k4 = m->k[3];
    const double *y0 = m->y0, *y1 = m->y1, *rtol = m->ivp->rtol, *atol = m->ivp->atol;
    for (int i = 0, n = m->n; i < n; i++) {
        double sum = e[0][0] * k1[i] + e[0][1] * k2[i] + e[0][2] * k3[i] + e[0][3] * k4[i];
        w[i] = h * sum / dae_erk_weight(atol[i], rtol[i], y0[i], y1[i]);
    }
}

static double error(dae_erk *m, double h)
{
    weighted_error(m, h, m->w);
    return sqrt(dae_squares(m->n, m->w) / m->n);
}

/* The derivative at the solution of order 2, into k[4]. */
static int other(dae_erk *m, double h)
{
    const double *k1 = m->k[0], *k2 = m->k[1], *k3 = m->k[2], *k4 = m->k[3];
    for (int i = 0, n = m->n; i < n; i++) {
        m->stage[i] = m->y1[i] - h * (e[0][0] * k1[i] + e[0][1] * k2[i] + e[0][2] * k3[i] + e[0][3] * k4[i]);
    }
    return dae_ivp_f(m->ivp, m->s->t, m->stage, m->k[4]);
}

const dae_erk_table dae_bs23_table = {
    .order = 3,
    .estimate = 3,
    .stages = 4,
    .fsal = 3,
    .total = 4,
    .spare = 1,
    .c = c,
    .a = a,
    .e = e,
    .errors = 1,
    .hidden = 14,
    .error = error,
    .compare = 4,
    .other = other,
    .stiff_bound = 2.4, /* ours; the region ends at -2.5127 */
};

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    return dae_erk_create(ivp, &dae_bs23_table, option, err);
}

/* safety: [SR97]; with 0.9 a platform on six legs ended 117 tolerances off at 1e-8, with 0.8 see test_every_mechanism */
static const dae_option options[] = {DAE_ERK_OPTIONS(0.8, 0.06, 0.2, 10)};

const dae_method dae_method_bs23 = {
    .info = {.name = "bs23",
             .title = "Bogacki-Shampine 3(2), explicit Runge-Kutta",
             .literature = "[BS89]",
             .summary = "nonstiff or mildly stiff ODEs at crude tolerances (1e-1 to 1e-4)",
             .order_min = 3,
             .order_max = 3,
             .kinds = 1u << DAE_KIND_ODE,
             .checkpoint = 1,
             .projects = 1,
             .options = options},
    .option_size = sizeof(dae_erk_option),
    .create = create,
    .reset = dae_erk_reset,
    .step = dae_erk_step,
    .interpolate = dae_erk_interpolate,
    .destroy = dae_erk_destroy,
};
