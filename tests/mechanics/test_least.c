/* Projections without a saddle-point solver, where M is constant and diagonal: the same as with it.
 * Two points of the masses (2, 2, 5, 5) in a plane; the first on the moving ellipse x^2 + 4 y^2 = (1 + t)^2, the second at
 * the distance 1 from it:
 *     G = (2 x1, 8 y1, 0, 0; 2 dx, 2 dy, -2 dx, -2 dy),  gI = (-2 (1 + t), 0),   d = 1 - 2. */
#include "test.h"

#include "mechanics/descriptor.h"

#include <daedalus/daedalus.h>

static const double mass[] = {2, 2, 5, 5};
static int evaluations;

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    const double *p = x->p;
    double dx = p[0] - p[2], dy = p[1] - p[3];
    int twice = user != NULL; /* the ellipse as the second row too */
    evaluations++;
    if (g) {
        g[0] = p[0] * p[0] + 4 * p[1] * p[1] - (1 + x->t) * (1 + x->t);
        g[1] = twice ? g[0] : dx * dx + dy * dy - 1;
    }
    if (G) {
        G[0] = 2 * p[0], G[2] = 8 * p[1];
        if (twice) G[1] = G[0], G[3] = G[2];
        else G[1] = 2 * dx, G[3] = 2 * dy, G[5] = -2 * dx, G[7] = -2 * dy;
    }
    return 0;
}

static int drift(const dae_mech_point *x, double *gI, void *user)
{
    gI[0] = -2 * (1 + x->t);
    gI[1] = user ? gI[0] : 0;
    return 0;
}

static int force(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    for (int i = 0; i < 4; i++) f[i] = 0;
    return 0;
}

static int moving_mass(const dae_mech_point *x, double *M, void *user)
{
    (void)x, (void)user;
    for (int i = 0; i < 4; i++) M[5 * i] = mass[i];
    return 0;
}

/* Projects (p, v) at t = 0.25. */
static int project(int constant, int twice, double *p, double *v, dae_residuals *left)
{
    static int yes;
    dae_mech m = {.np = 4,
                  .nv = 4,
                  .ng = 2,
                  .nlambda = 2,
                  .force = force,
                  .constraint = constraint,
                  .velocity = drift,
                  .user = twice ? &yes : NULL};
    if (constant) m.mass = dae_diagonal(4, mass);
    else m.mass_fn = moving_mass;
    dae_arena *a = dae_arena_create();
    dae_descriptor d;
    assert_int_equal(dae_descriptor_init(&d, &m, "auto", a, NULL), DAE_OK);
    assert_int_equal(d.least != NULL, constant);
    evaluations = 0;
    int r = dae_descriptor_project(&d, 0.25, p, v), needed = evaluations;
    if (!r) assert_int_equal(dae_descriptor_residuals(&d, 0.25, p, v, NULL, left), 0);
    evaluations = needed;
    dae_descriptor_free(&d);
    dae_arena_destroy(a);
    return r;
}

static void corrections_are_those_of_the_saddle_point_system(void **state)
{
    (void)state;
    for (int k = 0; k < 12; k++) { /* off by 1e-1 .. 1e-12 */
        double off = pow(10, -1 - k), p[2][4], v[2][4];
        dae_residuals left;
        for (int c = 0; c < 2; c++) {
            /* (0.75, 0.5) is on the ellipse, (1.35, 1.3) one away from it; the velocities fit for off = 0 */
            double p0[] = {0.75 + off, 0.5 - 2 * off, 1.35 - off, 1.3 + off};
            double v0[] = {1, 0.25 + off, 1 - 2 * off, 0.25 + off};
            memcpy(p[c], p0, sizeof p0);
            memcpy(v[c], v0, sizeof v0);
            assert_int_equal(project(c, 0, p[c], v[c], &left), 0);
            assert_true(left.position < 2e-15);
            assert_true(left.velocity < 4e-15);
            if (c) assert_true(evaluations <= (off > 3e-3 ? 6 : off > 3e-5 ? 4 : 3));
        }
        for (int i = 0; i < 4; i++) {
            assert_near(p[1][i], p[0][i], off * off + 1e-15); /* of all least corrections to second order */
            assert_near(v[1][i], v[0][i], 2 * off * off + 4e-15);
        }
    }
}

/* G W G^T is singular: what the solver says, whichever it is, and never a number that is not finite. */
static void constraints_that_depend_on_each_other(void **state)
{
    (void)state;
    double p[] = {0.76, 0.5, 1.35, 1.3}, v[] = {1, 0.25, 1, 0.25};
    dae_residuals left;
    int r = project(1, 1, p, v, &left), same = project(0, 1, p, v, &left);
    assert_int_equal(r, same);
    for (int i = 0; i < 4; i++) assert_true(isfinite(p[i]) && isfinite(v[i]));
}

/* A chain of four points, one rod of length 1 behind the other: more rows than those that are solved by hand. */
enum { LINKS = 4 };
static const double chain_mass[] = {2, 3, 0.5, 1, 4, 2.5, 1, 6};

static int chain(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    evaluations++;
    for (int k = 0; k < LINKS; k++) {
        const double *to = x->p + 2 * k;
        double d[2];
        for (int c = 0; c < 2; c++) {
            d[c] = to[c] - (k ? to[c - 2] : 0);
            if (!G) continue;
            G[k + (2 * k + c) * LINKS] = d[c];
            if (k) G[k + (2 * k - 2 + c) * LINKS] = -d[c];
        }
        if (g) g[k] = (d[0] * d[0] + d[1] * d[1] - 1) / 2;
    }
    return 0;
}

static int no_force(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    memset(f, 0, 2 * LINKS * sizeof *f);
    return 0;
}

static int chain_masses(const dae_mech_point *x, double *M, void *user)
{
    (void)x, (void)user;
    for (int i = 0; i < 2 * LINKS; i++) M[(2 * LINKS + 1) * i] = chain_mass[i];
    return 0;
}

static void chains_are_corrected_as_by_the_saddle_point_system(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        double off = 0.03 * pow(10, -k), p[2][2 * LINKS], v[2][2 * LINKS];
        int needed[2];
        for (int c = 0; c < 2; c++) {
            dae_mech m = {.np = 2 * LINKS,
                          .nv = 2 * LINKS,
                          .ng = LINKS,
                          .nlambda = LINKS,
                          .force = no_force,
                          .constraint = chain};
            if (c) m.mass = dae_diagonal(2 * LINKS, chain_mass);
            else m.mass_fn = chain_masses;
            for (int i = 0; i < LINKS;
                 i++) { /* 3-4-5 to the right and down; it turns about its end at first */
                double x = 0.8 * (i + 1), y = -0.6 * (i + 1);
                p[c][2 * i] = x + off * (i % 2 ? 1 : -0.5), p[c][2 * i + 1] = y + off;
                v[c][2 * i] = -y + off, v[c][2 * i + 1] = x - 2 * off * i;
            }
            dae_arena *a = dae_arena_create();
            dae_descriptor d;
            dae_residuals left;
            assert_int_equal(dae_descriptor_init(&d, &m, "auto", a, NULL), DAE_OK);
            assert_int_equal(d.least != NULL, c);
            evaluations = 0;
            assert_int_equal(dae_descriptor_project(&d, 0, p[c], v[c]), 0);
            needed[c] = evaluations;
            assert_int_equal(dae_descriptor_residuals(&d, 0, p[c], v[c], NULL, &left), 0);
            assert_near(left.position, 0, 1e-13); /* roundings, and what the last correction leaves */
            assert_near(left.velocity, 0, 1e-13);
            dae_descriptor_free(&d);
            dae_arena_destroy(a);
        }
        for (int i = 0; i < 2 * LINKS; i++) { /* of all least corrections to second order */
            assert_near(p[1][i], p[0][i], 10 * off * off + 4e-15);
            assert_near(v[1][i], v[0][i], 50 * off * off + 2e-14);
        }
        assert_true(needed[1] <= (off > 0.01 ? 5 : off > 1e-4 ? 4 : 3)); /* quadratic */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_are_corrected_as_by_the_saddle_point_system),
        cmocka_unit_test(corrections_are_those_of_the_saddle_point_system),
        cmocka_unit_test(constraints_that_depend_on_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
