/* Parts of a mechanical system: layouts of M, and gamma by differences against its formula.
 * A point of mass 2 and 3 (in x and y) on the moving ellipse x^2 + 4 y^2 = (1 + t)^2:
 *     G = (2x, 8y),  gI = -2 (1 + t),  d/dt (G v + gI) at fixed v = 2 vx^2 + 8 vy^2 - 2. */
#include "test.h"

#include "mechanics/parts.h"

#include <daedalus/daedalus.h>

static double earliest, latest; /* times at which the constraint was asked for */

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    earliest = fmin(earliest, x->t);
    latest = fmax(latest, x->t);
    if (g) g[0] = x->p[0] * x->p[0] + 4 * x->p[1] * x->p[1] - (1 + x->t) * (1 + x->t);
    if (G) G[0] = 2 * x->p[0], G[1] = 8 * x->p[1];
    return 0;
}

static int drift(const dae_mech_point *x, double *gI, void *user)
{
    (void)user;
    gI[0] = -2 * (1 + x->t);
    return 0;
}

static int dense_mass(const dae_mech_point *x, double *M, void *user)
{
    (void)x, (void)user;
    M[0] = 2, M[3] = 3;
    return 0;
}

static void gamma_by_differences_central_and_at_both_ends(void **state)
{
    (void)state;
    dae_mech m = {.np = 2, .nv = 2, .ng = 1, .nlambda = 1, .constraint = constraint, .velocity = drift};
    double p[] = {0.6, 0.4}, v[] = {-1.5, 2}, exact = 2 * 2.25 + 8 * 4 - 2, gamma;
    double end[3][2] = {{-INFINITY, INFINITY}, {0.25, INFINITY}, {-1, 0.25}};
    dae_arena *a = dae_arena_create();
    dae_parts x;
    dae_parts_init(&x, &m, a);
    for (int k = 0; k < 3; k++) {
        earliest = INFINITY, latest = -INFINITY;
        assert_int_equal(dae_parts_gamma(&x, 0.25, end[k][0], end[k][1], p, v, &gamma), 0);
        assert_near(gamma, exact,
                    1e-9 * exact); /* G v + gI is linear along the motion: rounding / h is left */
        assert_true(earliest >= end[k][0] && latest <= end[k][1]);
        assert_true(latest > earliest);
    }
    dae_arena_destroy(a);
}

static void mass_dense_in_blocks_constant_or_not(void **state)
{
    (void)state;
    int ones[] = {1, 1};
    double diagonal[] = {2, 3}, M[4], p[2] = {0};
    dae_mech whole = {.np = 2, .nv = 2, .mass_fn = dense_mass}, blocks = whole, constant = {.np = 2, .nv = 2};
    blocks.mass_block = ones;
    blocks.nblock = 2;
    constant.mass = dae_diagonal(2, diagonal);
    dae_arena *a = dae_arena_create();
    dae_parts x;
    dae_parts_init(&x, &whole, a);
    assert_int_equal(x.nM, 4);
    assert_int_equal(dae_parts_mass(&x, 0, p, M), 0);
    assert_true(M[0] == 2 && M[1] == 0 && M[2] == 0 && M[3] == 3);
    dae_parts_init(&x, &blocks, a);
    assert_int_equal(x.nM, 2);
    assert_int_equal(dae_parts_mass(&x, 0, p, M), 0);
    assert_true(M[0] == 2 && M[1] == 3);
    dae_parts_init(&x, &constant, a);
    assert_int_equal(x.nM, 2);
    assert_true(x.constant && x.constant[0] == 2 && x.constant[1] == 3);
    dae_arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gamma_by_differences_central_and_at_both_ends),
                                       cmocka_unit_test(mass_dense_in_blocks_constant_or_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
