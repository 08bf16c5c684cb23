/* The Pleiades: seven stars in the plane, masses m_i = i unless they are set, gravitational constant 1, nonstiff.
 *
 *     p_i'' = sum over j != i of m_j (p_j - p_i)/|p_j - p_i|^3
 *
 * State: x (7), y (7), x' (7), y' (7). Stars nearly collide at t = 1.23, 1.46, 1.63, 1.68, 1.94, 2.14.
 * Hairer, Norsett, Wanner, Solving ODEs I; Test Set for IVP Solvers, release 2.3, section II.6. */
#include "testset/testset.h"

#include <math.h>

#define STARS 7
#define HALF (2 * STARS)
#define N (4 * STARS)

static int rhs(double t, const double *z, double *f, void *user)
{
    (void)t;
    const double *m = user; /* the masses */
    const double *x = z, *y = z + STARS;
    double ax[STARS] = {0}, ay[STARS] = {0};
    for (int i = 0; i < STARS; i++) {
        for (int j = i + 1; j < STARS; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], r2 = dx * dx + dy * dy;
            double w = 1 / (r2 * sqrt(r2));
            dx *= w;
            dy *= w;
            ax[i] += m[j] * dx;
            ay[i] += m[j] * dy;
            ax[j] -= m[i] * dx;
            ay[j] -= m[i] * dy;
        }
    }
    for (int i = 0; i < HALF; i++) f[i] = z[HALF + i];
    for (int i = 0; i < STARS; i++) {
        f[HALF + i] = ax[i];
        f[HALF + STARS + i] = ay[i];
    }
    return 0;
}

/* Adds m (dp_i''/dp_j without its mass) for the force of star j on star i. */
static void add_pair(double *jac, int i, int j, double m, const double h[3])
{
    int fx = HALF + i, fy = fx + STARS, xi = i, yi = STARS + i, xj = j, yj = STARS + j;
    jac[fx + N * xj] += m * h[0];
    jac[fx + N * yj] += m * h[1];
    jac[fy + N * xj] += m * h[1];
    jac[fy + N * yj] += m * h[2];
    jac[fx + N * xi] -= m * h[0];
    jac[fx + N * yi] -= m * h[1];
    jac[fy + N * xi] -= m * h[1];
    jac[fy + N * yi] -= m * h[2];
}

/* d/dp_j of (p_j - p_i)/r^3 = I/r^3 - 3 d d^T/r^5 */
static int jacobian(double t, const double *z, double *jac, void *user)
{
    (void)t;
    const double *m = user; /* the masses */
    const double *x = z, *y = z + STARS;
    for (int i = 0; i < HALF; i++) jac[i + N * (HALF + i)] = 1;
    for (int i = 0; i < STARS; i++) {
        for (int j = i + 1; j < STARS; j++) {
            double dx = x[j] - x[i], dy = y[j] - y[i], r2 = dx * dx + dy * dy;
            double w = 1 / (r2 * sqrt(r2)), w5 = 3 * w / r2;
            double h[3] = {w - w5 * dx * dx, -w5 * dx * dy, w - w5 * dy * dy};
            add_pair(jac, i, j, m[j], h);
            add_pair(jac, j, i, m[i], h);
        }
    }
    return 0;
}

static const dae_parameter parameter[] = {
    {"m1", 1, 0, 1e6, NULL, 0, "", "mass of star 1"}, {"m2", 2, 0, 1e6, NULL, 0, "", "mass of star 2"},
    {"m3", 3, 0, 1e6, NULL, 0, "", "mass of star 3"}, {"m4", 4, 0, 1e6, NULL, 0, "", "mass of star 4"},
    {"m5", 5, 0, 1e6, NULL, 0, "", "mass of star 5"}, {"m6", 6, 0, 1e6, NULL, 0, "", "mass of star 6"},
    {"m7", 7, 0, 1e6, NULL, 0, "", "mass of star 7"}, {0},
};

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const double y0[N] = {3, 3, -1, -3, 2, -2,   2,    3, -3, 2, 0,     0, -4, 4,
                                 0, 0, 0,  0,  0, 1.75, -1.5, 0, 0,  0, -1.25, 1, 0,  0};
    static const double reference[N] = {
        0.3706139143970502,    0.3237284092057233e1,  -0.3222559032418324e1, 0.6597091455775310,
        0.3425581707156584,    0.1562172101400631e1,  -0.7003092922212495,   -0.3943437585517392e1,
        -0.3271380973972550e1, 0.5225081843456543e1,  -0.2590612434977470e1, 0.1198213693392275e1,
        -0.2429682344935824,   0.1091449240428980e1,  0.3417003806314313e1,  0.1354584501625501e1,
        -0.2590065597810775e1, 0.2025053734714242e1,  -0.1155815100160448e1, -0.8072988170223021,
        0.5952396354208710,    -0.3741244961234010e1, 0.3773459685750630,    0.9386858869551073,
        0.3667922227200571,    -0.3474046353808490,   0.2344915448180937e1,  -0.1947020434263292e1};
    static const unsigned char scored[N] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int plot[] = {0, 7};
    (void)err;
    p->system = (dae_system){.kind = DAE_KIND_ODE,
                             .ode = {.n = N, .f = rhs, .jac = jacobian, .user = p->parameter},
                             .structure = {.second_order = HALF, .no_velocities = 1, .autonomous = 1}};
    p->t_end = 3;
    p->y0 = y0;
    p->rtol = 1e-7;
    p->atol = 1e-7;
    p->h0 = 1e-9;
    p->reference = dae_problem_is_default(p) ? reference : NULL;
    p->reference_digits = 14.2;
    p->reference_source =
        "test set (PSIDE, extended precision, tolerances 1e-16); confirmed in extended precision";
    p->scored = scored;
    dae_problem_names(p, 0, STARS, "x%d");
    dae_problem_names(p, STARS, STARS, "y%d");
    dae_problem_names(p, 2 * STARS, STARS, "vx%d");
    dae_problem_names(p, 3 * STARS, STARS, "vy%d");
    p->plot = plot;
    p->nplot = 2;
    return DAE_OK;
}

const dae_problem_entry dae_problem_plei = {
    .info = {.name = "plei",
             .no_velocities = 1,
             .title = "Pleiades",
             .aliases = "pleiades",
             .kind = DAE_KIND_ODE,
             .n = N,
             .origin = "celestial mechanics, seven stars (Hairer, Norsett, Wanner)",
             .parameter = parameter},
    .setup = setup,
};
