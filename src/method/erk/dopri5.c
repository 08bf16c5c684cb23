/* dopri5: the explicit Runge-Kutta pair of order 5(4) of Dormand and Prince with continuous extension.
 *
 * Seven stages, six evaluations per step, because the last derivative is the first of the next step. The
 * solution of order 5 is carried on; its distance to the one of order 4 is the error estimate. Table:
 * [DP80], also [HNW] table II.5.2; dense output of order 4: the program DOPRI5 of [HNW]. Steps, control
 * and stiffness test: erk.c. */
#include "method/erk/erk.h"

#include "core/vector.h"

static const double c[7] = {0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1, 1};

static const double a[7][DAE_ERK_WIDTH] = {
    {0},
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};

/* The fifth coefficient of dense output, [HNW], DOPRI5. */
static const double d[1][DAE_ERK_WIDTH] = {{
    -12715105075.0 / 11282082432,
    0,
    87487479700.0 / 32700410799,
    -10690763975.0 / 1880347072,
    701980252875.0 / 199316789632,
    -1453857185.0 / 822651844,
    69997945.0 / 29380423,
}};

/* b of order 5 minus b of order 4. */
static const double e[1][DAE_ERK_WIDTH] = {
    {71.0 / 57600, 0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40},
};

static void weighted_error(const dae_erk *m, double h, double *restrict w)
{
    const double *k1 = m->k[0], *k3 = m->k[2], *k4 = m->k[3], *k5 = m->k[4], *k6 = m->k[5], *k7 = m->k[6];
    const double *y0 = m->y0, *y1 = m->y1, *rtol = m->ivp->rtol, *atol = m->ivp->atol;
    for (int i = 0, n = m->n; i < n; i++) {
        double sum = e[0][0] * k1[i] + e[0][2] * k3[i] + e[0][3] * k4[i] + e[0][4] * k5[i] + e[0][5] * k6[i] +
                     e[0][6] * k7[i];
        w[i] = h * sum / dae_erk_weight(atol[i], rtol[i], y0[i], y1[i]);
    }
}

static double error(dae_erk *m, double h)
{
    weighted_error(m, h, m->w);
    return sqrt(dae_squares(m->n, m->w) / m->n);
}

const dae_erk_table dae_dopri5_table = {
    .order = 5,
    .estimate = 5,
    .stages = 7,
    .fsal = 6,
    .total = 7,
    .c = c,
    .a = a,
    .d = d,
    .dense = 1,
    .refine = 5,
    .e = e,
    .errors = 1,
    .hidden = 170,
    .error = error,
    .compare = 5,
    .stiff_bound = 3.25, /* DOPRI5; the region ends at -3.3066 */
};

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    return dae_erk_create(ivp, &dae_dopri5_table, option, err);
}

static const dae_option options[] = {DAE_ERK_OPTIONS(0.9, 0.04, 0.2, 10)};

const dae_method dae_method_dopri5 = {
    .info = {.name = "dopri5",
             .title = "Dormand-Prince 5(4), explicit Runge-Kutta",
             .literature = "[DP80], [HNW] II.5",
             .summary = "nonstiff ODEs at moderate tolerances (1e-3 to 1e-7); dense output of order 4",
             .order_min = 5,
             .order_max = 5,
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
