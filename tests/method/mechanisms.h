/* Small mechanisms for the tests of mechanical methods. */
#ifndef DAE_TESTS_METHOD_MECHANISMS_H
#define DAE_TESTS_METHOD_MECHANISMS_H

#include <daedalus/system.h>

#include <math.h>

/* A unit mass on the unit circle. */
static int weight(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = 0;
    f[1] = -1;
    return 0;
}

static int circle(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1) / 2;
    for (int i = 0; G && i < 2; i++) G[i] = x->p[i];
    return 0;
}

static int circle_gamma(const dae_mech_point *x, double *gamma, void *user)
{
    (void)user;
    gamma[0] = x->v[0] * x->v[0] + x->v[1] * x->v[1];
    return 0;
}

static const dae_system pendulum = {.kind = DAE_KIND_MECH,
                                    .mech = {.np = 2,
                                             .nv = 2,
                                             .ng = 1,
                                             .nlambda = 1,
                                             .force = weight,
                                             .constraint = circle,
                                             .gamma = circle_gamma}};

/* A skate on an inclined plane, nonholonomic: x' sin phi - y' cos phi = 0, phi = omega t. */
static int incline(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = 1;
    f[1] = f[2] = 0;
    return 0;
}

static int blade(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)g, (void)user;
    if (G) {
        G[0] = sin(x->p[2]);
        G[1] = -cos(x->p[2]);
    }
    return 0;
}

static const dae_system skate = {
    .kind = DAE_KIND_MECH,
    .mech = {.np = 3, .nv = 3, .ng = 0, .nlambda = 1, .force = incline, .constraint = blade}};

/* x = sin t prescribed, y falls, u' = lambda: lambda = sin t, u = 1 - cos t. */
static int track(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = x->p[0] - sin(x->t);
    if (G) G[0] = 1;
    return 0;
}

static int track_velocity(const dae_mech_point *x, double *gI, void *user)
{
    (void)user;
    gI[0] = -cos(x->t);
    return 0;
}

static int memory(const dae_mech_point *x, double *d, void *user)
{
    (void)user;
    d[0] = x->lambda[0];
    return 0;
}

static const dae_system driven = {.kind = DAE_KIND_MECH,
                                  .mech = {.np = 2,
                                           .nv = 2,
                                           .nu = 1,
                                           .ng = 1,
                                           .nlambda = 1,
                                           .force = weight,
                                           .constraint = track,
                                           .velocity = track_velocity,
                                           .dynamics = memory}};

/* Heavy top in absolute coordinates with Euler parameters: p = (r, e), v = (r', omega'), r = A(e) X. */
static const double top_J[3] = {0.234375, 0.46875, 0.234375}, top_m = 15;

static void rotation(const double *e, double A[9]) /* column-major */
{
    double a = e[0], b = e[1], c = e[2], d = e[3];
    A[0] = a * a + b * b - c * c - d * d;
    A[1] = 2 * (b * c + a * d);
    A[2] = 2 * (b * d - a * c);
    A[3] = 2 * (b * c - a * d);
    A[4] = a * a - b * b + c * c - d * d;
    A[5] = 2 * (c * d + a * b);
    A[6] = 2 * (b * d + a * c);
    A[7] = 2 * (c * d - a * b);
    A[8] = a * a - b * b - c * c + d * d;
}

static int top_kinematics(const dae_mech_point *x, double *pdot, void *user)
{
    const double *e = x->p + 3, *w = x->v + 3;
    (void)user;
    for (int i = 0; i < 3; i++) pdot[i] = x->v[i];
    pdot[3] = -(e[1] * w[0] + e[2] * w[1] + e[3] * w[2]) / 2;
    pdot[4] = (e[0] * w[0] + e[2] * w[2] - e[3] * w[1]) / 2;
    pdot[5] = (e[0] * w[1] + e[3] * w[0] - e[1] * w[2]) / 2;
    pdot[6] = (e[0] * w[2] + e[1] * w[1] - e[2] * w[0]) / 2;
    return 0;
}

static int top_force(const dae_mech_point *x, double *f, void *user)
{
    const double *w = x->v + 3, *J = top_J;
    (void)user;
    f[0] = f[1] = 0;
    f[2] = -9.81 * top_m;
    f[3] = -(J[2] - J[1]) * w[1] * w[2];
    f[4] = -(J[0] - J[2]) * w[2] * w[0];
    f[5] = -(J[1] - J[0]) * w[0] * w[1];
    return 0;
}

static int top_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    double A[9];
    (void)user;
    rotation(x->p + 3, A);
    for (int i = 0; i < 3; i++) {
        if (g) g[i] = x->p[i] - A[i + 3];
        if (!G) continue;
        G[i + 3 * i] = 1;
        G[i + 9] = -A[i + 6]; /* -A (omega x e_y): omega_x turns e_y to e_z, omega_z to -e_x */
        G[i + 15] = A[i];
    }
    return 0;
}

static inline double top_energy(const double *y)
{
    double e = top_m * 9.81 * y[2];
    for (int i = 0; i < 3; i++) e += top_m / 2 * y[7 + i] * y[7 + i] + top_J[i] / 2 * y[10 + i] * y[10 + i];
    return e;
}

static const double top_mass[6] = {15, 15, 15, 0.234375, 0.46875, 0.234375};
static const int top_quaternion[1] = {3};
static const dae_system heavy_top = {
    .kind = DAE_KIND_MECH,
    .mech = {.np = 7,
             .nv = 6,
             .ng = 3,
             .nlambda = 3,
             .mass = {.n = 6, .pattern = {.storage = DAE_DIAGONAL}, .a = top_mass},
             .force = top_force,
             .constraint = top_constraint,
             .kinematics = top_kinematics,
             .quaternion = top_quaternion,
             .nquaternion = 1}};

#endif
