/* Car axis: a bar on two springs over a bumpy road, index 3.
 *
 *     p' = q,   K q' = f(t,p,lambda),   0 = phi(t,p),      p = (xl, yl, xr, yr),  K = eps^2 M/2
 *
 *     f = (xl (L0/Ll - 1) + lambda1 xb + 2 lambda2 (xl - xr),
 *          yl (L0/Ll - 1) + lambda1 yb + 2 lambda2 (yl - yr) - K,
 *          (xr - xb) (L0/Lr - 1) - 2 lambda2 (xl - xr),
 *          (yr - yb) (L0/Lr - 1) - 2 lambda2 (yl - yr) - K)
 *     phi = (xl xb + yl yb,  (xl - xr)^2 + (yl - yr)^2 - L^2)
 *
 * Ll, Lr are the lengths of the springs, yb = h sin(omega t), xb = sqrt(L^2 - yb^2).
 * State: p (4), q (4), lambda (2). As a mechanism its constraints are g = -phi, so that the multipliers are the same. S. Schneider 1994; Test Set for IVP Solvers, release 2.3, section
 * II.17, with the constants of its code. */
#include "testset/testset.h"

#include <math.h>

#define N 10

typedef struct axis {
    double L, L0, eps, M, h, omega; /* in the order of the parameters */
    double L2, K;                   /* L^2, eps^2 M/2 */
} axis;

static int rhs(double t, const double *y, double *f, void *user)
{
    const axis *c = user;
    double yb = c->h * sin(c->omega * t), xb = sqrt(c->L2 - yb * yb);
    double xl = y[0], yl = y[1], xr = y[2], yr = y[3], dx = xl - xr, dy = yl - yr, sx = xr - xb, sy = yr - yb;
    double left = c->L0 / sqrt(xl * xl + yl * yl) - 1, right = c->L0 / sqrt(sx * sx + sy * sy) - 1;
    double l1 = y[8], l2 = 2 * y[9];
    for (int i = 0; i < 4; i++) f[i] = y[4 + i];
    f[4] = left * xl + l1 * xb + l2 * dx;
    f[5] = left * yl + l1 * yb + l2 * dy - c->K;
    f[6] = right * sx - l2 * dx;
    f[7] = right * sy - l2 * dy - c->K;
    f[8] = xl * xb + yl * yb;
    f[9] = dx * dx + dy * dy - c->L2;
    return 0;
}

/* d/d(x,y) of the spring force (x,y) (L0/r - 1): a = xx, b = xy, c = yy */
struct spring {
    double a, b, c;
};

static struct spring stiffness(double L0, double x, double y)
{
    double r2 = x * x + y * y, s = L0 / sqrt(r2), d = s / r2;
    return (struct spring){s - 1 - d * x * x, -d * x * y, s - 1 - d * y * y};
}

#define J(i, j) jac[(i)-1 + ((j)-1) * N]

static int jacobian(double t, const double *y, double *jac, void *user)
{
    const axis *c = user;
    double yb = c->h * sin(c->omega * t), xb = sqrt(c->L2 - yb * yb);
    double dx = y[0] - y[2], dy = y[1] - y[3], l2 = 2 * y[9];
    struct spring l = stiffness(c->L0, y[0], y[1]), r = stiffness(c->L0, y[2] - xb, y[3] - yb);
    for (int i = 1; i <= 4; i++) J(i, i + 4) = 1;
    J(5, 1) = l.a + l2;
    J(5, 2) = J(6, 1) = l.b;
    J(6, 2) = l.c + l2;
    J(7, 3) = r.a + l2;
    J(7, 4) = J(8, 3) = r.b;
    J(8, 4) = r.c + l2;
    J(5, 3) = J(6, 4) = J(7, 1) = J(8, 2) = -l2;
    J(5, 9) = J(9, 1) = xb;
    J(6, 9) = J(9, 2) = yb;
    J(5, 10) = J(10, 1) = 2 * dx;
    J(6, 10) = J(10, 2) = 2 * dy;
    J(7, 10) = J(10, 3) = -2 * dx;
    J(8, 10) = J(10, 4) = -2 * dy;
    return 0;
}

static int dfdt(double t, const double *y, double *f, void *user)
{
    const axis *c = user;
    double yb = c->h * sin(c->omega * t), xb = sqrt(c->L2 - yb * yb);
    double vy = c->h * c->omega * cos(c->omega * t), vx = -yb * vy / xb;
    struct spring r = stiffness(c->L0, y[2] - xb, y[3] - yb);
    for (int i = 0; i < N; i++) f[i] = 0;
    f[4] = y[8] * vx;
    f[5] = y[8] * vy;
    f[6] = -r.a * vx - r.b * vy;
    f[7] = -r.b * vx - r.c * vy;
    f[8] = y[0] * vx + y[1] * vy;
    return 0;
}

/* ---- The mechanism ------------------------------------------------------------------------------ */

/* The right end of the road and its derivatives by t. Kept in the cache for the functions of the same t. */
typedef struct road {
    double x, y, vx, vy, ax, ay, t;
    int valid;
} road;

static road road_at(const axis *c, double t)
{
    road r = {.t = t, .valid = 1};
    r.y = c->h * sin(c->omega * t);
    r.vy = c->h * c->omega * cos(c->omega * t);
    r.ay = -c->omega * c->omega * r.y;
    r.x = sqrt(c->L2 - r.y * r.y);
    r.vx = -r.y * r.vy / r.x;
    r.ax = -(r.vy * r.vy + r.y * r.ay + r.vx * r.vx) / r.x;
    return r;
}

static const road *find_road(const axis *c, const dae_mech_point *at, road *spare)
{
    road *r = at->cache ? at->cache : spare;
    if (!(at->cache && r->valid && r->t == at->t)) *r = road_at(c, at->t);
    return r;
}

static int mech_force(const dae_mech_point *at, double *f, void *user)
{
    const axis *c = user;
    const double *p = at->p;
    road spare;
    const road *b = find_road(c, at, &spare);
    double sx = p[2] - b->x, sy = p[3] - b->y;
    double left = c->L0 / sqrt(p[0] * p[0] + p[1] * p[1]) - 1, right = c->L0 / sqrt(sx * sx + sy * sy) - 1;
    f[0] = left * p[0];
    f[1] = left * p[1] - c->K;
    f[2] = right * sx;
    f[3] = right * sy - c->K;
    return 0;
}

static int mech_constraint(const dae_mech_point *at, double *g, double *G, void *user)
{
    const axis *c = user;
    const double *p = at->p;
    road spare;
    const road *b = find_road(c, at, &spare);
    double dx = p[0] - p[2], dy = p[1] - p[3];
    if (g) {
        g[0] = -(p[0] * b->x + p[1] * b->y);
        g[1] = -(dx * dx + dy * dy - c->L2);
    }
    if (G) { /* 2 x 4 */
        G[0] = -b->x;
        G[2] = -b->y;
        G[1] = -2 * dx;
        G[3] = -2 * dy;
        G[5] = 2 * dx;
        G[7] = 2 * dy;
    }
    return 0;
}

static int mech_velocity(const dae_mech_point *at, double *out, void *user)
{
    road spare;
    const road *b = find_road(user, at, &spare);
    out[0] = -(at->p[0] * b->vx + at->p[1] * b->vy);
    out[1] = 0;
    return 0;
}

static int mech_gamma(const dae_mech_point *at, double *out, void *user)
{
    const double *p = at->p, *v = at->v;
    road spare;
    const road *b = find_road(user, at, &spare);
    double dx = v[0] - v[2], dy = v[1] - v[3];
    out[0] = -(p[0] * b->ax + p[1] * b->ay + 2 * (v[0] * b->vx + v[1] * b->vy));
    out[1] = -2 * (dx * dx + dy * dy);
    return 0;
}

/* With G G^T and G f by hand, as M = K I: (G G^T) lambda = G f + K gamma, K v' = f - G^T lambda. */
static int mech_accelerations(const dae_mech_point *at, double *out, void *user)
{
    const axis *c = user;
    const double *p = at->p, *v = at->v;
    road spare;
    const road *b = find_road(c, at, &spare);
    double sx = p[2] - b->x, sy = p[3] - b->y, dx = p[0] - p[2], dy = p[1] - p[3];
    double left = c->L0 / sqrt(p[0] * p[0] + p[1] * p[1]) - 1, right = c->L0 / sqrt(sx * sx + sy * sy) - 1;
    double f[4] = {left * p[0], left * p[1] - c->K, right * sx, right * sy - c->K};
    double ux = v[0] - v[2], uy = v[1] - v[3];
    double a11 = c->L2, a12 = 2 * (b->x * dx + b->y * dy), a22 = 8 * (dx * dx + dy * dy);
    double g1 = -(b->x * f[0] + b->y * f[1]) -
                c->K * (p[0] * b->ax + p[1] * b->ay + 2 * (v[0] * b->vx + v[1] * b->vy));
    double g2 = -2 * (dx * (f[0] - f[2]) + dy * (f[1] - f[3])) - 2 * c->K * (ux * ux + uy * uy);
    double q = 1 / (a11 * a22 - a12 * a12), l1 = q * (a22 * g1 - a12 * g2), l2 = q * (a11 * g2 - a12 * g1);
    double k = 1 / c->K;
    out[0] = k * (f[0] + b->x * l1 + 2 * dx * l2);
    out[1] = k * (f[1] + b->y * l1 + 2 * dy * l2);
    out[2] = k * (f[2] - 2 * dx * l2);
    out[3] = k * (f[3] - 2 * dy * l2);
    out[4] = l1;
    out[5] = l2;
    return 0;
}

static int mech_dfdp(const dae_mech_point *at, double *out, void *user)
{
    const axis *c = user;
    road spare;
    const road *b = find_road(c, at, &spare);
    struct spring l = stiffness(c->L0, at->p[0], at->p[1]),
                  r = stiffness(c->L0, at->p[2] - b->x, at->p[3] - b->y);
    for (int i = 0; i < 16; i++) out[i] = 0;
    out[0] = l.a;
    out[1] = out[4] = l.b;
    out[5] = l.c;
    out[10] = r.a;
    out[11] = out[14] = r.b;
    out[15] = r.c;
    return 0;
}

static int mech_dfdv(const dae_mech_point *at, double *out, void *user)
{
    (void)at, (void)user;
    for (int i = 0; i < 16; i++) out[i] = 0;
    return 0;
}

static int mech_dfdt(const dae_mech_point *at, double *out, void *user)
{
    const axis *c = user;
    road spare;
    const road *b = find_road(c, at, &spare);
    struct spring r = stiffness(c->L0, at->p[2] - b->x, at->p[3] - b->y);
    out[0] = out[1] = 0;
    out[2] = -r.a * b->vx - r.b * b->vy;
    out[3] = -r.b * b->vx - r.c * b->vy;
    return 0;
}

static dae_system mechanism_of(axis *c, const double *mass)
{
    return (dae_system){.kind = DAE_KIND_MECH,
                        .structure = {.smooth = 1},
                        .mech = {.np = 4,
                                 .nv = 4,
                                 .ng = 2,
                                 .nlambda = 2,
                                 .mass = dae_diagonal(4, mass),
                                 .force = mech_force,
                                 .constraint = mech_constraint,
                                 .velocity = mech_velocity,
                                 .gamma = mech_gamma,
                                 .dfdp = mech_dfdp,
                                 .dfdv = mech_dfdv,
                                 .dfdt = mech_dfdt,
                                 .accelerations = mech_accelerations,
                                 .cache_size = sizeof(road),
                                 .user = c}};
}

static const dae_parameter parameter[] = {
    {"L", 1, 1e-3, 1e3, NULL, 0, "m", "length of the bar and distance of the springs"},
    {"L0", 0.5, 1e-3, 1e3, NULL, 0, "m", "length of the springs at rest"},
    {"eps", 0.01, 1e-6, 10, NULL, 0, "", "the springs have the stiffness 1/eps^2"},
    {"M", 10, 1e-6, 1e6, NULL, 0, "kg", "mass of the bar"},
    {"h", 0.1, 0, 0.99, NULL, 0, "m", "height of the bumps; less than L"},
    {"omega", 10, 0, 1e4, NULL, 0, "1/s", "frequency of the bumps"},
    {0},
};

/* The springs at rest, the bar level; the road lifts the right end, so that the bar swings to the left. */
static void start(axis *c, double *mass, double *y0, double *yp0)
{
    c->L2 = c->L * c->L;
    c->K = c->eps * c->eps * c->M / 2;
    for (int i = 0; i < 4; i++) {
        mass[i] = 1;
        mass[4 + i] = c->K;
    }
    y0[2] = c->L;
    y0[1] = y0[3] = c->L0;
    y0[4] = y0[6] = yp0[0] = yp0[2] = -c->L0 * c->h * c->omega / c->L;
    yp0[5] = yp0[7] = -1;
}

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const int index[N] = {1, 1, 1, 1, 2, 2, 2, 2, 3, 3};
    static const double published[N] = {0.493455784275402809122e-1,  0.496989460230171153861,
                                        0.104174252488542151681e1,   0.373911027265361256927,
                                        -0.770583684040972357970e-1, 0.744686658723778553466e-2,
                                        0.175568157537232222276e-1,  0.770341043779251976443,
                                        -0.473688659084893324729e-2, -0.110468033125734368808e-2};
    static const double recomputed[N] = {0.049345578427524094,  0.4969894602300081,   1.0417425248854262,
                                         0.37391102726536585,   -0.07705836840359208, 0.007446866592068417,
                                         0.017556815753541736,  0.7703410437796011,   -0.004736886590853326,
                                         -0.0011046803312595658};
    static const char *const names[N] = {"xl",  "yl",  "xr",  "yr",      "vxl",
                                         "vyl", "vxr", "vyr", "lambda1", "lambda2"};
    static const int plot[] = {1, 3};
    axis *c = dae_problem_take(p, 1, sizeof *c);
    double *mass = dae_problem_reals(p, N), *y0 = dae_problem_reals(p, N), *yp0 = dae_problem_reals(p, N);
    if (!c || !mass || !y0 || !yp0) return DAE_ERR_MEMORY;
    dae_problem_constants(p, 0, c, 6 * sizeof(double));
    if (c->h >= c->L) {
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "problem caraxis: the height h = %g of the bumps must be less than the length L = %g of the bar",
            c->h, c->L);
    }
    start(c, mass, y0, yp0);
    p->system = (dae_system){
        .kind = DAE_KIND_DAE,
        .dae = {.n = N, .mass = dae_diagonal(N, mass), .f = rhs, .jac = jacobian, .dfdt = dfdt, .user = c},
        .structure = {.index = index}};
    dae_system *mechanism = dae_problem_take(p, 1, sizeof *mechanism);
    if (!mechanism) return DAE_ERR_MEMORY;
    *mechanism = mechanism_of(c, mass + 4);
    p->mechanism = mechanism;
    p->multiplier_at = 8;
    p->t_end = 3;
    p->time_unit = "s";
    p->y0 = y0;
    p->yp0 = yp0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-7;
    int is_default = dae_problem_is_default(p);
    p->reference = is_default ? recomputed : NULL;
    p->published = is_default ? published : NULL;
    p->reference_digits = 14;
    p->reference_source = "recomputed twice in extended precision; the test set's is off by up to 6.5e-10";
    p->component = names;
    dae_problem_units(p, 0, 4, "m");
    dae_problem_units(p, 4, 4, "m/s");
    p->plot = plot;
    p->nplot = 2;
    return DAE_OK;
}

const dae_problem_entry dae_problem_caraxis = {
    .info = {.name = "caraxis",
             .title = "Car axis",
             .kind = DAE_KIND_DAE,
             .n = N,
             .index = 3,
             .stiff = 1,
             .origin = "vehicle dynamics, bar on two springs (S. Schneider 1994)",
             .parameter = parameter},
    .setup = setup,
};
