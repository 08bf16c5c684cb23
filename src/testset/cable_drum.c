/* Cable drum with dry friction, [MEXX] section 5.1: a load hangs on a cable that unwinds from a drum, whose bearing
 * has friction proportional to the contact force. Mechanical system in descriptor form, p = (y1, x2, y2, alpha2):
 *
 *     M = diag(m1, m2, m2, I2)
 *     f = (-m1 g - c v1,  -mu lambda2,  -m2 g,  -mu r2 lambda2)
 *     0 = g(p) = (x2,  y2 - r2,  y1 - y2 - r1 alpha2)
 *
 * f depends on lambda. The forces are linear, so there is a closed solution: with D = I2 + m1 r1^2 - m1 r1 r2 mu
 *
 *     v1' = -A - B v1,   A = g (1 - (I2 + mu m2 r1 r2)/D),   B = (c/m1) (1 - I2/D)
 *
 * (a1 of (5.4) has the wrong sign of lambda3 in the report.) D = 0, mu = 1.1 with the standard data, cannot be
 * solved; beyond mu = 10/11 friction drives the load, which is a test of the method only. */
#include "testset/testset.h"

#include <math.h>

#define N 8

enum { MU, M1, M2, I2, R1, R2, GRAVITY, DAMPING, P0, V0 };

static int force(const dae_mech_point *x, double *f, void *user)
{
    const double *k = user;
    f[0] = -k[M1] * k[GRAVITY] - k[DAMPING] * x->v[0];
    f[1] = -k[MU] * x->lambda[1];
    f[2] = -k[M2] * k[GRAVITY];
    f[3] = -k[MU] * k[R2] * x->lambda[1];
    return 0;
}

static int friction(const dae_mech_point *x, double *F, void *user)
{
    const double *k = user;
    (void)x;
    F[1 + 4] = -k[MU];
    F[3 + 4] = -k[MU] * k[R2];
    return 0;
}

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    const double *k = user, *p = x->p;
    if (g) {
        g[0] = p[1];
        g[1] = p[2] - k[R2];
        g[2] = p[0] - p[2] - k[R1] * p[3];
    }
    if (G) { /* 3 x 4 */
        G[0 + 3] = 1;
        G[1 + 6] = 1;
        G[2] = 1;
        G[2 + 6] = -1;
        G[2 + 9] = -k[R1];
    }
    return 0;
}

static int gamma_term(const dae_mech_point *x, double *out, void *user)
{
    (void)x;
    (void)user;
    out[0] = out[1] = out[2] = 0;
    return 0;
}

/* y1 and v1 at t. */
static void solution(const double *k, double t, double *y1, double *v1)
{
    double D = k[I2] + k[M1] * k[R1] * k[R1] - k[M1] * k[R1] * k[R2] * k[MU];
    double A = k[GRAVITY] * (1 - (k[I2] + k[MU] * k[M2] * k[R1] * k[R2]) / D);
    double B = k[DAMPING] / k[M1] * (1 - k[I2] / D), s = B * t;
    /* phi1 = (1 - e^-s)/s, phi2 = (1 - phi1)/s */
    double phi1 = fabs(s) < 1e-9 ? 1 - s / 2 : -expm1(-s) / s;
    double phi2 = fabs(s) < 1e-4 ? 0.5 - s / 6 + s * s / 24 : (1 - phi1) / s;
    *v1 = k[V0] * exp(-s) - A * t * phi1;
    *y1 = k[P0] + k[V0] * t * phi1 - A * t * t * phi2;
}

static void state(const double *k, double y1, double v1, double *y)
{
    double value[N] = {y1, 0, k[R2], (y1 - k[R2]) / k[R1], v1, 0, 0, v1 / k[R1]};
    for (int i = 0; i < N; i++) y[i] = value[i];
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const char *const names[N] = {"y1", "x2", "y2", "alpha2", "vy1", "vx2", "vy2", "omega2"};
    static const char *const units[N] = {"m", "m", "m", "rad", "m/s", "m/s", "m/s", "rad/s"};
    static const int plot[] = {0, 4};
    const double *k = p->parameter;
    double *mass = dae_problem_reals(p, 4), *y0 = dae_problem_reals(p, N), *end = dae_problem_reals(p, N), y1,
           v1;
    if (!mass || !y0 || !end) return DAE_OK;
    double D = k[I2] + k[M1] * k[R1] * k[R1] - k[M1] * k[R1] * k[R2] * k[MU];
    if (fabs(D) < 1e-9 * (k[I2] + k[M1] * k[R1] * k[R1])) {
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "cable-drum: mu = %g makes I2 + m1 r1 (r1 - mu r2) zero: the contact force would be infinite",
            k[MU]);
    }
    mass[0] = k[M1];
    mass[1] = mass[2] = k[M2];
    mass[3] = k[I2];
    p->system = (dae_system){.kind = DAE_KIND_MECH,
                             .mech = {.np = 4,
                                      .nv = 4,
                                      .ng = 3,
                                      .nlambda = 3,
                                      .mass = dae_diagonal(4, mass),
                                      .force = force,
                                      .constraint = constraint,
                                      .gamma = gamma_term,
                                      .dfdlambda = friction,
                                      .user = p->parameter}};
    p->t_end = 4;
    state(k, k[P0], k[V0], y0);
    solution(k, p->t_end, &y1, &v1);
    state(k, y1, v1, end);
    p->y0 = y0;
    p->rtol = p->atol = 1e-5;
    p->h0 = 1e-3;
    p->reference = end;
    p->reference_digits = 14;
    p->reference_source = "closed solution";
    p->component = names;
    p->unit = units;
    p->time_unit = "s";
    p->plot = plot;
    p->nplot = 2;
    return DAE_OK;
}

static const dae_parameter parameters[] = {
    {"mu", 0.25, -10, 10, NULL, 0, "", "coefficient of friction"},
    {"m1", 10, 1e-6, 1e9, NULL, 0, "kg", "mass of the load"},
    {"m2", 1, 1e-6, 1e9, NULL, 0, "kg", "mass of the drum"},
    {"I2", 1, 1e-9, 1e9, NULL, 0, "kg m^2", "moment of inertia of the drum"},
    {"r1", 1, 1e-6, 1e6, NULL, 0, "m", "radius of the drum"},
    {"r2", 1, 1e-6, 1e6, NULL, 0, "m", "radius of the bearing"},
    {"g", 1, -1e6, 1e6, NULL, 0, "m/s^2", "gravity"},
    {"c", 1, 0, 1e9, NULL, 0, "N s/m", "damping of the load"},
    {"p0", 0, 1, 0, NULL, 0, "m", "y1 at the start"},
    {"v0", 0, 1, 0, NULL, 0, "m/s", "velocity of the load at the start"},
    {0}};

const dae_problem_entry dae_problem_cable_drum = {
    .info = {.name = "cable-drum",
             .title = "Cable drum with dry friction",
             .kind = DAE_KIND_MECH,
             .n = N,
             .index = 3,
             .origin = "mechanics, friction that depends on the constraint forces ([MEXX] section 5.1)",
             .parameter = parameters},
    .setup = setup,
};
