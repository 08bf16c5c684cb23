/* Small mechanisms that between them use every part of the descriptor form. */
#ifndef DAE_TESTS_MECHANISMS_H
#define DAE_TESTS_MECHANISMS_H

#include <daedalus/daedalus.h>

#include "test.h"

#define GRAVITY 9.81

typedef struct mechanism {
    const char *name;
    dae_system sys;
    double y0[20]; /* consistent (p, v, u) at t = 0 */
    double t_end;
} mechanism;

/* ---- Pendulum: p = (x, y), unit length; u' = lambda/10 - u acts back on the mass; no derivatives given --- */

static int pendulum_force(const dae_mech_point *x, double *f, void *user)
{
    (void)user;
    f[0] = 0.1 * x->u[0] - 0.02 * x->v[0];
    f[1] = -GRAVITY * 1.5 - 0.02 * x->v[1];
    return 0;
}

static int pendulum_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = 0.5 * (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1);
    if (G) G[0] = x->p[0], G[1] = x->p[1];
    return 0;
}

static int pendulum_dynamics(const dae_mech_point *x, double *d, void *user)
{
    (void)user;
    d[0] = 0.1 * x->lambda[0] - x->u[0] + 0.05 * x->p[0] * x->v[1];
    return 0;
}

/* ---- A mass on a string that is pulled in and out, polar: p = (r, phi), M = diag(m, m r^2), r = R(t) ------- */

#define R_OF(t) (1 + 0.1 * sin(t))

static int string_mass(const dae_mech_point *x, double *M, void *user)
{
    (void)user;
    M[0] = 2;
    M[3] = 2 * x->p[0] * x->p[0];
    return 0;
}

static int string_force(const dae_mech_point *x, double *f, void *user)
{
    double r = x->p[0], phi = x->p[1], w = x->v[1];
    (void)user;
    f[0] = 2 * (r * w * w + GRAVITY * cos(phi));
    f[1] = -2 * (2 * r * x->v[0] * w + GRAVITY * r * sin(phi));
    return 0;
}

static int string_dfdp(const dae_mech_point *x, double *J, void *user)
{
    double r = x->p[0], phi = x->p[1], w = x->v[1];
    (void)user;
    J[0] = 2 * w * w;
    J[1] = -2 * (2 * x->v[0] * w + GRAVITY * sin(phi));
    J[2] = -2 * GRAVITY * sin(phi);
    J[3] = -2 * GRAVITY * r * cos(phi);
    return 0;
}

static int string_dfdv(const dae_mech_point *x, double *J, void *user)
{
    double r = x->p[0], w = x->v[1];
    (void)user;
    J[1] = -4 * r * w;
    J[2] = 4 * r * w;
    J[3] = -4 * r * x->v[0];
    return 0;
}

static int string_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = x->p[0] - R_OF(x->t);
    if (G) G[0] = 1;
    return 0;
}

static int string_velocity(const dae_mech_point *x, double *gI, void *user)
{
    (void)user;
    gI[0] = -0.1 * cos(x->t);
    return 0;
}

static int string_gamma(const dae_mech_point *x, double *gamma, void *user)
{
    (void)user;
    gamma[0] = 0.1 * sin(x->t);
    return 0;
}

/* ---- Heavy top with Euler parameters: p = (x, e), v = (x', omega in the body) ------------------------------- */

static const double top_mass = 0.5, top_inertia[3] = {0.02, 0.02, 0.03}, top_arm = 0.3;

static int top_force(const dae_mech_point *x, double *f, void *user)
{
    const double *w = x->v + 3, *I = top_inertia;
    (void)user;
    f[0] = f[1] = 0;
    f[2] = -top_mass * GRAVITY;
    f[3] = (I[1] - I[2]) * w[1] * w[2];
    f[4] = (I[2] - I[0]) * w[2] * w[0];
    f[5] = (I[0] - I[1]) * w[0] * w[1];
    return 0;
}

/* The third column of the rotation, where the arm points, times its length; and R. */
static void top_rotation(const double *e, double R[9])
{
    double a = e[0], b = e[1], c = e[2], d = e[3]; /* columns one after another */
    R[0] = a * a + b * b - c * c - d * d, R[1] = 2 * (b * c + a * d), R[2] = 2 * (b * d - a * c);
    R[3] = 2 * (b * c - a * d), R[4] = a * a - b * b + c * c - d * d, R[5] = 2 * (c * d + a * b);
    R[6] = 2 * (b * d + a * c), R[7] = 2 * (c * d - a * b), R[8] = a * a - b * b - c * c + d * d;
}

/* x = R (0, 0, l): G = (I, R l [e3]x), for x' - R (omega x l e3) = 0 with omega x e3 = (w2, -w1, 0). */
static int top_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    double R[9];
    (void)user;
    top_rotation(x->p + 3, R);
    for (int i = 0; i < 3; i++) {
        if (g) g[i] = x->p[i] - top_arm * R[6 + i];
        if (!G) continue;
        G[i + 3 * i] = 1;
        G[i + 3 * 3] = top_arm * R[3 + i];
        G[i + 3 * 4] = -top_arm * R[i];
    }
    return 0;
}

static int top_kinematics(const dae_mech_point *x, double *pdot, void *user)
{
    const double *e = x->p + 3, *w = x->v + 3;
    (void)user;
    for (int i = 0; i < 3; i++) pdot[i] = x->v[i];
    pdot[3] = 0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]);
    pdot[4] = 0.5 * (e[0] * w[0] - e[3] * w[1] + e[2] * w[2]);
    pdot[5] = 0.5 * (e[3] * w[0] + e[0] * w[1] - e[1] * w[2]);
    pdot[6] = 0.5 * (-e[2] * w[0] + e[1] * w[1] + e[0] * w[2]);
    return 0;
}

static inline double top_energy(const double *y)
{
    double E = top_mass * GRAVITY * y[2];
    for (int i = 0; i < 3; i++)
        E += 0.5 * top_mass * y[7 + i] * y[7 + i] + 0.5 * top_inertia[i] * y[10 + i] * y[10 + i];
    return E;
}

/* ---- Knife edge on an inclined plane, nonholonomic: p = (x, y, phi), x' sin phi = y' cos phi ---------------- */

static const double skate_pull = 3.0, skate_spin = 2.0; /* g sin(slope), phi' */

static int skate_force(const dae_mech_point *x, double *f, void *user)
{
    (void)x;
    (void)user;
    f[0] = skate_pull;
    f[1] = f[2] = 0;
    return 0;
}

static int skate_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    (void)g;
    if (G) G[0] = sin(x->p[2]), G[1] = -cos(x->p[2]);
    return 0;
}

/* From rest at the origin with phi = w t: x = c sin^2 wt, y = c (wt - sin(2wt)/2), c = pull/(2 w^2). */
static inline void skate_exact(double t, double *p)
{
    double w = skate_spin, c = skate_pull / (2 * w * w);
    p[0] = c * sin(w * t) * sin(w * t);
    p[1] = c * (w * t - 0.5 * sin(2 * w * t));
    p[2] = w * t;
}

/* ---- A bead on a circular wire with friction proportional to the normal force: f depends on lambda ----------- */

static const double bead_friction = 0.15;

/* Against the motion (the bead moves with phi' > 0 in the test): tangent (-y, x), normal force lambda p. */
static int bead_force(const dae_mech_point *x, double *f, void *user)
{
    (void)user;
    f[0] = bead_friction * x->lambda[0] * x->p[1];
    f[1] = -1 - bead_friction * x->lambda[0] * x->p[0];
    return 0;
}

static int bead_dfdlambda(const dae_mech_point *x, double *F, void *user)
{
    (void)user;
    F[0] = bead_friction * x->p[1];
    F[1] = -bead_friction * x->p[0];
    return 0;
}

/* ---- Four-bar linkage in absolute angles: p = (a, b, c), M(p) full, G sparse pattern --------------------------- */

static const double bar1 = 0.5, bar2 = 1.6, bar3 = 1.2, base = 1.5;

static int fourbar_mass(const dae_mech_point *x, double *M, void *user)
{
    double m1 = 1, m2 = 2, m3 = 1.5, l1 = bar1, l2 = bar2, l3 = bar3,
           c = 0.5 * m2 * l1 * l2 * cos(x->p[0] - x->p[1]);
    (void)user;
    M[0] = m1 * l1 * l1 / 3 + m2 * l1 * l1;
    M[1] = M[3] = c;
    M[4] = m2 * l2 * l2 / 3;
    M[8] = m3 * l3 * l3 / 3;
    return 0;
}

static int fourbar_force(const dae_mech_point *x, double *f, void *user)
{
    double m1 = 1, m2 = 2, m3 = 1.5, s = 0.5 * m2 * bar1 * bar2 * sin(x->p[0] - x->p[1]);
    (void)user;
    f[0] = -s * x->v[1] * x->v[1] - GRAVITY * (0.5 * m1 + m2) * bar1 * cos(x->p[0]);
    f[1] = s * x->v[0] * x->v[0] - GRAVITY * 0.5 * m2 * bar2 * cos(x->p[1]);
    f[2] = -GRAVITY * 0.5 * m3 * bar3 * cos(x->p[2]);
    return 0;
}

static inline double fourbar_energy(const double *y)
{
    double M[9] = {0}, E = GRAVITY * (2.5 * bar1 * sin(y[0]) + bar2 * sin(y[1]) + 0.75 * bar3 * sin(y[2]));
    fourbar_mass(&(dae_mech_point){.p = y}, M, NULL);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) E += 0.5 * y[3 + i] * M[i + 3 * j] * y[3 + j];
    }
    return E;
}

static const int fourbar_colptr[4] = {0, 2, 4, 6}, fourbar_rowind[6] = {0, 1, 0, 1, 0, 1};

static int fourbar_sparse(const dae_mech_point *x, double *g, double *G, void *user)
{
    double ca = bar1 * cos(x->p[0]), sa = bar1 * sin(x->p[0]), cb = bar2 * cos(x->p[1]),
           sb = bar2 * sin(x->p[1]);
    double cc = bar3 * cos(x->p[2]), sc = bar3 * sin(x->p[2]);
    (void)user;
    if (g) {
        g[0] = ca + cb - cc - base;
        g[1] = sa + sb - sc;
    }
    if (G) {
        G[0] = -sa, G[1] = ca;
        G[2] = -sb, G[3] = cb;
        G[4] = sc, G[5] = -cc;
    }
    return 0;
}

static int fourbar_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    return fourbar_sparse(x, g, G, user);
}

/* ---- All of them ---------------------------------------------------------------------------------------------- */

enum { PENDULUM, STRING, TOP, SKATE, BEAD, FOURBAR, MECHANISMS };

static inline mechanism mechanism_get(int which)
{
    static const double pendulum_M[2] = {1.5, 1.5};
    static double top_M[6];
    static const int top_quaternion[1] = {3};
    static const int string_blocks[2] = {1, 1};
    mechanism m = {.t_end = 2};
    m.sys.kind = DAE_KIND_MECH;
    dae_mech *d = &m.sys.mech;
    double *y = m.y0;
    switch (which) {
    case PENDULUM:
        m.name = "pendulum";
        *d = (dae_mech){.np = 2,
                        .nv = 2,
                        .nu = 1,
                        .ng = 1,
                        .nlambda = 1,
                        .mass = dae_diagonal(2, pendulum_M),
                        .force = pendulum_force,
                        .constraint = pendulum_constraint,
                        .dynamics = pendulum_dynamics};
        y[0] = 0.6, y[1] = -0.8, y[2] = 2.4, y[3] = 1.8, y[4] = 0.5;
        break;
    case STRING:
        m.name = "string";
        *d = (dae_mech){.np = 2,
                        .nv = 2,
                        .ng = 1,
                        .nlambda = 1,
                        .mass_fn = string_mass,
                        .force = string_force,
                        .constraint = string_constraint,
                        .velocity = string_velocity,
                        .gamma = string_gamma,
                        .dfdp = string_dfdp,
                        .dfdv = string_dfdv,
                        .mass_block = string_blocks,
                        .nblock = 2};
        y[0] = 1, y[1] = 1, y[2] = 0.1, y[3] = 0.5;
        break;
    case TOP:
        m.name = "top";
        for (int i = 0; i < 3; i++) top_M[i] = top_mass, top_M[3 + i] = top_inertia[i];
        *d = (dae_mech){.np = 7,
                        .nv = 6,
                        .ng = 3,
                        .nlambda = 3,
                        .mass = dae_diagonal(6, top_M),
                        .force = top_force,
                        .constraint = top_constraint,
                        .kinematics = top_kinematics,
                        .quaternion = top_quaternion,
                        .nquaternion = 1};
        y[3] = cos(0.4), y[4] = sin(0.4); /* tilted by 0.8 about x */
        y[10] = 0.5, y[11] = 1, y[12] = 60;
        {
            double R[9];
            top_rotation(y + 3, R);
            for (int i = 0; i < 3; i++) {
                y[i] = top_arm * R[6 + i];
                y[7 + i] = top_arm * (R[i] * y[11] - R[3 + i] * y[10]);
            }
        }
        m.t_end = 1;
        break;
    case SKATE:
        m.name = "skate";
        *d = (dae_mech){
            .np = 3, .nv = 3, .ng = 0, .nlambda = 1, .force = skate_force, .constraint = skate_constraint};
        y[5] = skate_spin;
        break;
    case BEAD:
        m.name = "bead";
        *d = (dae_mech){.np = 2,
                        .nv = 2,
                        .ng = 1,
                        .nlambda = 1,
                        .force = bead_force,
                        .constraint = pendulum_constraint,
                        .dfdlambda = bead_dfdlambda};
        y[0] = 0.6, y[1] = -0.8, y[2] = 0.8 * 5, y[3] = 0.6 * 5;
        break;
    default:
        m.name = "four-bar";
        *d = (dae_mech){.np = 3,
                        .nv = 3,
                        .ng = 2,
                        .nlambda = 2,
                        .mass_fn = fourbar_mass,
                        .force = fourbar_force,
                        .constraint = fourbar_constraint,
                        .constraint_sparse = fourbar_sparse,
                        .G_colptr = fourbar_colptr,
                        .G_rowind = fourbar_rowind};
        { /* crank at 90 degrees with a speed of 8, the rest from the geometry */
            double a = 1.5707963267948966, dx = base, dy = -bar1, l = hypot(dx, dy);
            double at = atan2(dy, dx), inner = acos((l * l + bar2 * bar2 - bar3 * bar3) / (2 * l * bar2));
            double b = at + inner,
                   c = atan2(bar1 * sin(a) + bar2 * sin(b), bar1 * cos(a) + bar2 * cos(b) - base);
            double det = bar2 * bar3 * sin(b - c),
                   w = 8; /* -bar2 sin b b' + bar3 sin c c' = bar1 sin a w, ... */
            double rx = bar1 * sin(a) * w, ry = -bar1 * cos(a) * w;
            y[0] = a, y[1] = b, y[2] = c, y[3] = w;
            y[4] = (rx * -bar3 * cos(c) - ry * bar3 * sin(c)) / det;
            y[5] = (-bar2 * sin(b) * ry - bar2 * cos(b) * rx) / det;
        }
        break;
    }
    return m;
}

#endif
