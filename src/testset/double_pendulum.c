/* Double pendulum with two rotational spring-dampers ([RNY] section 3.1): the second joint is very stiff.
 *
 *     T1 = -k1 (theta1 - 3 pi/2) - c1 theta1'           ground - body 1
 *     T2 = -k2 (theta2 - theta1) - c2 (theta2' - theta1')    body 1 - body 2
 *
 * Slender rods of length 2 L_i; joint 1 at the origin, joint 2 at 2 L1 on body 1. Moments of inertia, gravity and the
 * meaning of the angles are not printed in [RNY]; they were found from its tables.
 *
 *   planar    p = (x1, y1, theta1, x2, y2, theta2)
 *             g = (x1 - L1 c1, y1 - L1 s1, x1 + L1 c1 - x2 + L2 c2, y1 + L1 s1 - y2 + L2 s2)
 *   spatial   p = (r1, e1, r2, e2) with Euler parameters, v = (r1', omega1, r2', omega2) with angular velocities in the
 *             bodies; two revolute joints with the axes z', 10 constraints */
#include "testset/testset.h"

#include <math.h>

enum { MODEL, SPEED, K1, C1, K2, C2, GRAVITY };

static const double m1 = 3, m2 = 0.3, L1 = 1, L2 = 1.5, I1 = 1, I2 = 0.225; /* I = m (2 L)^2 / 12 */
static const double j1 = 0.01, j2 = 0.001; /* about the rods; without influence */
static const double pi = 3.14159265358979323846;

/* ---- Planar ------------------------------------------------------------------------------------------------ */

static int planar_force(const dae_mech_point *x, double *f, void *user)
{
    const double *k = user, *p = x->p, *v = x->v;
    double T1 = -k[K1] * (p[2] - 1.5 * pi) - k[C1] * v[2],
           T2 = -k[K2] * (p[5] - p[2]) - k[C2] * (v[5] - v[2]);
    f[0] = f[3] = 0;
    f[1] = -m1 * k[GRAVITY];
    f[2] = T1 - T2;
    f[4] = -m2 * k[GRAVITY];
    f[5] = T2;
    return 0;
}

/* d(T1 - T2, T2)/d(theta1, theta2), or with respect to the angular velocities. */
static void torques(double first, double second, double *J)
{
    J[2 + 6 * 2] = -first - second;
    J[2 + 6 * 5] = J[5 + 6 * 2] = second;
    J[5 + 6 * 5] = -second;
}

static int planar_dfdp(const dae_mech_point *x, double *J, void *user)
{
    (void)x;
    torques(((double *)user)[K1], ((double *)user)[K2], J);
    return 0;
}

static int planar_dfdv(const dae_mech_point *x, double *J, void *user)
{
    (void)x;
    torques(((double *)user)[C1], ((double *)user)[C2], J);
    return 0;
}

static int planar_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    const double *p = x->p;
    double c1 = L1 * cos(p[2]), s1 = L1 * sin(p[2]), c2 = L2 * cos(p[5]), s2 = L2 * sin(p[5]);
    (void)user;
    if (g) {
        g[0] = p[0] - c1;
        g[1] = p[1] - s1;
        g[2] = p[0] + c1 - p[3] + c2;
        g[3] = p[1] + s1 - p[4] + s2;
    }
    if (G) { /* 4 rows */
        G[0] = G[2] = G[4 + 1] = G[4 + 3] = 1;
        G[8] = s1, G[9] = -c1, G[10] = -s1, G[11] = c1;
        G[12 + 2] = G[16 + 3] = -1;
        G[20 + 2] = -s2, G[20 + 3] = c2;
    }
    return 0;
}

static int planar_gamma(const dae_mech_point *x, double *out, void *user)
{
    const double *p = x->p, *v = x->v;
    double a = L1 * v[2] * v[2], b = L2 * v[5] * v[5];
    (void)user;
    out[0] = a * cos(p[2]);
    out[1] = a * sin(p[2]);
    out[2] = -out[0] - b * cos(p[5]);
    out[3] = -out[1] - b * sin(p[5]);
    return 0;
}

static int planar_dGw(const dae_mech_point *x, const double *w, double *out, void *user)
{
    const double *p = x->p;
    double c1 = L1 * cos(p[2]) * w[2], s1 = L1 * sin(p[2]) * w[2];
    (void)user;
    out[8] = c1, out[9] = s1, out[10] = -c1, out[11] = -s1;
    out[22] = -L2 * cos(p[5]) * w[5], out[23] = -L2 * sin(p[5]) * w[5];
    return 0;
}

static int planar_dGtw(const dae_mech_point *x, const double *l, double *out, void *user)
{
    const double *p = x->p;
    (void)user;
    out[2 + 6 * 2] = L1 * (cos(p[2]) * (l[0] - l[2]) + sin(p[2]) * (l[1] - l[3]));
    out[5 + 6 * 5] = -L2 * (cos(p[5]) * l[2] + sin(p[5]) * l[3]);
    return 0;
}

static int planar_dgammadp(const dae_mech_point *x, double *out, void *user)
{
    const double *p = x->p, *v = x->v;
    double a = L1 * v[2] * v[2], b = L2 * v[5] * v[5];
    (void)user;
    out[8] = -a * sin(p[2]), out[9] = a * cos(p[2]), out[10] = -out[8], out[11] = -out[9];
    out[22] = b * sin(p[5]), out[23] = -b * cos(p[5]);
    return 0;
}

static int planar_dgammadv(const dae_mech_point *x, double *out, void *user)
{
    const double *p = x->p, *v = x->v;
    (void)user;
    out[8] = 2 * L1 * v[2] * cos(p[2]), out[9] = 2 * L1 * v[2] * sin(p[2]), out[10] = -out[8],
    out[11] = -out[9];
    out[22] = -2 * L2 * v[5] * cos(p[5]), out[23] = -2 * L2 * v[5] * sin(p[5]);
    return 0;
}

/* (p, v) of the two angles and their derivatives. */
static void planar_state(double a, double va, double b, double vb, double *y)
{
    y[0] = L1 * cos(a), y[1] = L1 * sin(a), y[2] = a;
    y[3] = 2 * y[0] + L2 * cos(b), y[4] = 2 * y[1] + L2 * sin(b), y[5] = b;
    y[6] = -va * y[1], y[7] = va * y[0], y[8] = va;
    y[9] = 2 * y[6] - vb * L2 * sin(b), y[10] = 2 * y[7] + vb * L2 * cos(b), y[11] = vb;
}

/* ---- Spatial ------------------------------------------------------------------------------------------------- */

/* Columns x, y, z of the rotation one after another. */
static void rotation(const double *e, double *R)
{
    double a = e[0], b = e[1], c = e[2], d = e[3];
    R[0] = a * a + b * b - c * c - d * d, R[1] = 2 * (b * c + a * d), R[2] = 2 * (b * d - a * c);
    R[3] = 2 * (b * c - a * d), R[4] = a * a - b * b + c * c - d * d, R[5] = 2 * (c * d + a * b);
    R[6] = 2 * (b * d + a * c), R[7] = 2 * (c * d - a * b), R[8] = a * a - b * b - c * c + d * d;
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The angle of a direction (cosine, sine) against a rest angle, in (-pi, pi]. */
static double deviation(double c, double s, double rest)
{
    return atan2(s * cos(rest) - c * sin(rest), c * cos(rest) + s * sin(rest));
}

static int spatial_force(const dae_mech_point *x, double *f, void *user)
{
    static const double J[2][3] = {{j1, I1, I1}, {j2, I2, I2}}, mass[2] = {m1, m2};
    const double *k = user;
    double R1[9], R2[9];
    rotation(x->p + 3, R1);
    rotation(x->p + 10, R2);
    for (int b = 0; b < 2; b++) { /* weight, -omega x (J omega) */
        const double *w = x->v + 6 * b + 3, *I = J[b];
        double *out = f + 6 * b;
        out[0] = out[2] = 0;
        out[1] = -mass[b] * k[GRAVITY];
        out[3] = (I[1] - I[2]) * w[1] * w[2];
        out[4] = (I[2] - I[0]) * w[2] * w[0];
        out[5] = (I[0] - I[1]) * w[0] * w[1];
    }
    double T1 = -k[K1] * deviation(R1[0], R1[1], 1.5 * pi) - k[C1] * x->v[5];
    double T2 = -k[K2] * deviation(dot(R2, R1), dot(R2, R1 + 3), 0) - k[C2] * (x->v[11] - x->v[5]);
    f[5] += T1 - T2;
    f[11] += T2;
    return 0;
}

static int spatial_kinematics(const dae_mech_point *x, double *pdot, void *user)
{
    (void)user;
    for (int b = 0; b < 2; b++) {
        const double *e = x->p + 7 * b + 3, *v = x->v + 6 * b, *w = v + 3;
        double *out = pdot + 7 * b;
        for (int i = 0; i < 3; i++) out[i] = v[i];
        out[3] = 0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]);
        out[4] = 0.5 * (e[0] * w[0] - e[3] * w[1] + e[2] * w[2]);
        out[5] = 0.5 * (e[3] * w[0] + e[0] * w[1] - e[1] * w[2]);
        out[6] = 0.5 * (-e[2] * w[0] + e[1] * w[1] + e[0] * w[2]);
    }
    return 0;
}

/* Rows: joint 1 (3), its axis (2), joint 2 (3), its axis (2). */
static int spatial_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    enum { ROWS = 10 };
    const double *r1 = x->p, *r2 = x->p + 7;
    double R1[9], R2[9];
    const double *x1 = R1, *y1 = R1 + 3, *z1 = R1 + 6, *x2 = R2, *y2 = R2 + 3, *z2 = R2 + 6;
    (void)user;
    rotation(x->p + 3, R1);
    rotation(x->p + 10, R2);
    for (int i = 0; i < 3; i++) {
        if (g) {
            g[i] = r1[i] - L1 * x1[i];
            g[5 + i] = r1[i] + L1 * x1[i] - r2[i] + L2 * x2[i];
        }
        if (G) { /* x' = w3 y - w2 z */
            G[i + ROWS * i] = G[5 + i + ROWS * i] = 1;
            G[i + ROWS * 4] = L1 * z1[i], G[i + ROWS * 5] = -L1 * y1[i];
            G[5 + i + ROWS * 4] = -L1 * z1[i], G[5 + i + ROWS * 5] = L1 * y1[i];
            G[5 + i + ROWS * (6 + i)] = -1;
            G[5 + i + ROWS * 10] = -L2 * z2[i], G[5 + i + ROWS * 11] = L2 * y2[i];
        }
    }
    if (g) g[3] = z1[0], g[4] = z1[1], g[8] = dot(z1, x2), g[9] = dot(z1, y2);
    if (!G) return 0;
    for (int i = 0; i < 2; i++) { /* z' = w2 x - w1 y */
        G[3 + i + ROWS * 3] = -y1[i];
        G[3 + i + ROWS * 4] = x1[i];
        const double *other = i ? y2 : x2;
        G[8 + i + ROWS * 3] = -dot(y1, other);
        G[8 + i + ROWS * 4] = dot(x1, other);
    }
    G[8 + ROWS * 10] = -dot(z1, z2), G[8 + ROWS * 11] = dot(z1, y2); /* x2' = w3 y2 - w2 z2 */
    G[9 + ROWS * 9] = dot(z1, z2), G[9 + ROWS * 11] = -dot(z1, x2);  /* y2' = w1 z2 - w3 x2 */
    return 0;
}

/* First and second derivative of column k of R at fixed omega: R (w x e_k), R (w x (w x e_k)). */
static void turning(const double *R, const double *w, int k, double *first, double *second)
{
    double e[3] = {k == 0, k == 1, k == 2};
    double a[3] = {w[1] * e[2] - w[2] * e[1], w[2] * e[0] - w[0] * e[2], w[0] * e[1] - w[1] * e[0]};
    double b[3] = {w[1] * a[2] - w[2] * a[1], w[2] * a[0] - w[0] * a[2], w[0] * a[1] - w[1] * a[0]};
    for (int i = 0; i < 3; i++) {
        first[i] = R[i] * a[0] + R[3 + i] * a[1] + R[6 + i] * a[2];
        second[i] = R[i] * b[0] + R[3 + i] * b[1] + R[6 + i] * b[2];
    }
}

static int spatial_gamma(const dae_mech_point *x, double *out, void *user)
{
    const double *w1 = x->v + 3, *w2 = x->v + 9;
    double R1[9], R2[9], x1t[3], x1tt[3], z1t[3], z1tt[3], x2t[3], x2tt[3], y2t[3], y2tt[3];
    (void)user;
    rotation(x->p + 3, R1);
    rotation(x->p + 10, R2);
    turning(R1, w1, 0, x1t, x1tt);
    turning(R1, w1, 2, z1t, z1tt);
    turning(R2, w2, 0, x2t, x2tt);
    turning(R2, w2, 1, y2t, y2tt);
    for (int i = 0; i < 3; i++) {
        out[i] = -L1 * x1tt[i];
        out[5 + i] = L1 * x1tt[i] + L2 * x2tt[i];
    }
    out[3] = z1tt[0];
    out[4] = z1tt[1];
    out[8] = dot(z1tt, R2) + 2 * dot(z1t, x2t) + dot(R1 + 6, x2tt);
    out[9] = dot(z1tt, R2 + 3) + 2 * dot(z1t, y2t) + dot(R1 + 6, y2tt);
    return 0;
}

static void spatial_state(double a, double va, double b, double vb, double *y)
{
    double flat[12];
    planar_state(a, va, b, vb, flat);
    for (int i = 0; i < 26; i++) y[i] = 0;
    for (int k = 0; k < 2; k++) {
        double angle = k ? b : a;
        double *p = y + 7 * k, *v = y + 14 + 6 * k;
        p[0] = flat[3 * k], p[1] = flat[3 * k + 1];
        p[3] = cos(0.5 * angle), p[6] = sin(0.5 * angle);
        v[0] = flat[6 + 3 * k], v[1] = flat[6 + 3 * k + 1];
        v[5] = k ? vb : va;
    }
}

/* ---- The problem ------------------------------------------------------------------------------------------------ */

static const dae_parameter parameters[] = {
    {.name = "model",
     .value = 0,
     .choices = "planar|spatial",
     .help = "angles, or Euler parameters in space"},
    {"theta2dot0", 10, -1e4, 1e4, NULL, 0, "rad/s",
     "angular velocity of body 2 at the start: 10 (case S), 0 (case T)"},
    {"k1", 400, 0, 1e12, NULL, 0, "N m/rad", "stiffness of the spring at joint 1"},
    {"c1", 15, 0, 1e12, NULL, 0, "N m s/rad", "damping at joint 1"},
    {"k2", 3e5, 0, 1e12, NULL, 0, "N m/rad", "stiffness of the spring at joint 2"},
    {"c2", 5e4, 0, 1e12, NULL, 0, "N m s/rad", "damping at joint 2"},
    {"g", 9.81, -1e6, 1e6, NULL, 0, "m/s^2", "gravity"},
    {0}};

/* Angles and angular velocities at t = 2, or NULL. */
static const double *known_end(const dae_problem *p)
{
    static const double S[4] = {4.6404781832213, -1.629892454084, 4.6404967016885, -1.63025271538};
    static const double T[4] = {4.6018805320814, -1.395156517411, 4.6018890395661, -1.395514592163};
    for (int i = K1; parameters[i].name; i++) {
        if (p->parameter[i] != parameters[i].value) return NULL;
    }
    return p->parameter[SPEED] == 10 ? S : p->parameter[SPEED] == 0 ? T : NULL;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const char *const names[12] = {"x1",  "y1",  "theta1", "x2",  "y2",  "theta2",
                                          "vx1", "vy1", "omega1", "vx2", "vy2", "omega2"};
    static const char *const units[12] = {"m",   "m",   "rad",   "m",   "m",   "rad",
                                          "m/s", "m/s", "rad/s", "m/s", "m/s", "rad/s"};
    static const char *const spatial_names[26] = {
        "x1",  "y1",  "z1",  "e10", "e11", "e12", "e13", "x2",  "y2",  "z2",  "e20", "e21", "e22",
        "e23", "vx1", "vy1", "vz1", "wx1", "wy1", "wz1", "vx2", "vy2", "vz2", "wx2", "wy2", "wz2"};
    static const unsigned char spatial_scored[26] = {1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0,
                                                     1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1};
    static const double planar_mass[6] = {m1, m1, I1, m2, m2, I2};
    static const double spatial_mass[12] = {m1, m1, m1, j1, I1, I1, m2, m2, m2, j2, I2, I2};
    static const int quaternion[2] = {3, 10}, planar_plot[] = {2, 5, 8}, spatial_plot[] = {0, 1, 19};
    int spatial = p->parameter[MODEL] == 1, n = spatial ? 26 : 12;
    void (*state)(double, double, double, double, double *) = spatial ? spatial_state : planar_state;
    double *y0 = dae_problem_reals(p, n), *end = dae_problem_reals(p, n);
    const double *known = known_end(p);
    (void)err;
    if (!y0 || !end) return DAE_OK;
    p->system.kind = DAE_KIND_MECH;
    p->system.structure.smooth = 1;
    if (spatial) {
        p->system.mech = (dae_mech){.np = 14,
                                    .nv = 12,
                                    .ng = 10,
                                    .nlambda = 10,
                                    .mass = dae_diagonal(12, spatial_mass),
                                    .force = spatial_force,
                                    .constraint = spatial_constraint,
                                    .gamma = spatial_gamma,
                                    .kinematics = spatial_kinematics,
                                    .quaternion = quaternion,
                                    .nquaternion = 2,
                                    .user = p->parameter};
    } else {
        p->system.mech = (dae_mech){.np = 6,
                                    .nv = 6,
                                    .ng = 4,
                                    .nlambda = 4,
                                    .mass = dae_diagonal(6, planar_mass),
                                    .force = planar_force,
                                    .constraint = planar_constraint,
                                    .gamma = planar_gamma,
                                    .dfdp = planar_dfdp,
                                    .dfdv = planar_dfdv,
                                    .dGw = planar_dGw,
                                    .dGtw = planar_dGtw,
                                    .dgammadp = planar_dgammadp,
                                    .dgammadv = planar_dgammadv,
                                    .user = p->parameter};
    }
    state(2 * pi, 0, 23 * pi / 12, p->parameter[SPEED], y0);
    if (known) state(known[0], known[1], known[2], known[3], end);
    p->t_end = 2;
    p->y0 = y0;
    p->rtol = p->atol = 1e-5;
    p->h0 = 1e-6;
    p->reference = known ? end : NULL;
    p->reference_digits = 12;
    p->reference_source =
        "extrapolation of the two-angle ODE and Radau IIA of order 9, 64-bit mantissa, agree to 1e-14";
    p->component = spatial ? spatial_names : names;
    if (spatial) p->scored = spatial_scored;
    else p->unit = units;
    p->time_unit = "s";
    p->plot = spatial ? spatial_plot : planar_plot;
    p->nplot = 3;
    if (!spatial)
        p->independent = "3,6"; /* the angles, in which the stiff forces are linear: as table 5 of [RNY] */
    return DAE_OK;
}

const dae_problem_entry dae_problem_double_pendulum = {
    .info = {.name = "double-pendulum",
             .title = "Double pendulum with stiff rotational spring-dampers",
             .kind = DAE_KIND_MECH,
             .n = 12,
             .index = 3,
             .stiff = 1,
             .origin = "mechanics, stiff forces ([RNY] section 3.1)",
             .parameter = parameters},
    .setup = setup,
};
