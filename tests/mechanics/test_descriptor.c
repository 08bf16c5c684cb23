/* Consistent accelerations of a point of masses 2 and 3 (in x and y) that is off the moving ellipse x^2 + 4 y^2 = (1 + t)^2:
 *     G = (2x, 8y),  gI = -2 (1 + t),  d/dt (G v + gI) at fixed v = 2 vx^2 + 8 vy^2 - 2. */
#include "test.h"

#include "mechanics/descriptor.h"

#include <daedalus/daedalus.h>

static int constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
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

static int force(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = 5, f[1] = -7;
    return 0;
}

/* M a = f - G^T lambda and G a + gamma + 2 alpha (G v + gI) + beta^2 g = 0, with one of the two and both. */
static void accelerations_lead_back(void **state)
{
    static const double mass[] = {2, 3}, p[] = {0.6, 0.4}, v[] = {-1.5, 2};
    (void)state;
    dae_mech m = {.np = 2,
                  .nv = 2,
                  .ng = 1,
                  .nlambda = 1,
                  .mass = dae_diagonal(2, mass),
                  .force = force,
                  .constraint = constraint,
                  .velocity = drift};
    dae_arena *arena = dae_arena_create();
    dae_descriptor d;
    assert_int_equal(dae_descriptor_init(&d, &m, "auto", arena, NULL), DAE_OK);
    double t = 0.25, g = 0.36 + 0.64 - 1.5625, Gv = 1.2 * -1.5 + 3.2 * 2 - 2.5, gamma = 2 * 2.25 + 8 * 4 - 2;
    for (int k = 0; k < 4; k++) {
        double alpha = k & 1 ? 3 : 0, beta = k & 2 ? 5 : 0, a[2], lambda[1];
        assert_int_equal(dae_descriptor_accelerations(&d, t, p, v, NULL, alpha, beta, a, lambda), 0);
        assert_near(2 * a[0], 5 - 1.2 * lambda[0], 1e-12);
        assert_near(3 * a[1], -7 - 3.2 * lambda[0], 1e-12);
        /* gamma comes from differences */
        assert_near(1.2 * a[0] + 3.2 * a[1] + gamma + 2 * alpha * Gv + beta * beta * g, 0, 1e-7);
    }
    dae_descriptor_free(&d);
    dae_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(accelerations_lead_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
