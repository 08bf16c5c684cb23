/* Two spheres that meet. Head-on: with k = 25, c = 6 and the reduced mass 1 (zeta 0.6) the rebound is
 * exp(-3 s), s = (pi - atan(24/7))/4, as that of a stop; off the center with friction: linear and angular momentum stay, energy does not
 * grow. Derivatives against differences. */
#include "mechanics.h"

static mbs_mechanism *pair(int space, double offset, double mu)
{
    mbs_model *m = mbs_model_create("pair", space);
    mbs_model_add_body(
        m,
        &(mbs_body){
            .name = "a", .mass = 2, .inertia = {0.3, 0.3, 0.3}, .v = {1}, .omega = {0, 0, mu > 0 ? 2 : 0}});
    mbs_model_add_body(
        m, &(mbs_body){.name = "b", .mass = 2, .inertia = {0.2, 0.2, 0.2}, .center = {1.5, offset}});
    mbs_model_add_point(m, &(mbs_point){.name = "A", .body = 1});
    mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 2});
    mbs_model_add_force(m, &(mbs_force){.name = "F",
                                        .type = "sphere_contact",
                                        .point_a = "A",
                                        .point_b = "B",
                                        .field = {{"k", .number = 25},
                                                  {"c", .number = 6},
                                                  {"mu", .number = mu},
                                                  {"radius_a", .number = 0.4},
                                                  {"radius", .number = 0.6}}});
    return compile(m);
}

static void integrate(const mbs_mechanism *c, double *y)
{
    dae_error err = {0};
    dae_options opt = dae_options_default();
    opt.method = "dop853";
    opt.rtol = opt.atol = 1e-10;
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    if (dae_solve(mbs_mechanism_system(c), &opt, 0, 3, y, NULL, &err) < 0) fail_msg("%s", err.text);
}

static void spheres_rebound_head_on(void **state)
{
    (void)state;
    double e = exp(-3 * (3.14159265358979323846 - atan(24.0 / 7)) / 4);
    for (int space = MBS_PLANAR; space <= MBS_SPATIAL; space++) {
        mbs_mechanism *c = pair(space, 0, 0);
        double y[26], *v = y + (space == 2 ? 6 : 14);
        int bv = space == 2 ? 3 : 6;
        integrate(c, y);
        assert_near(v[0], (1 - e) / 2, 1e-8);
        assert_near(v[bv], (1 + e) / 2, 1e-8);
        mbs_mechanism_destroy(c);
    }
}

/* In the plane: angular momentum about the origin, sum m (x vy - y vx) + J omega. */
static void spheres_with_friction_keep_momentum(void **state)
{
    (void)state;
    mbs_mechanism *c = pair(MBS_PLANAR, 0.5, 0.3);
    double y[12], *v = y + 6;
    integrate(c, y);
    double L = 2 * (y[0] * v[1] - y[1] * v[0]) + 2 * (y[3] * v[4] - y[4] * v[3]) + 0.3 * v[2] + 0.2 * v[5];
    double E = v[0] * v[0] + v[1] * v[1] + v[3] * v[3] + v[4] * v[4] + 0.15 * v[2] * v[2] + 0.1 * v[5] * v[5];
    assert_near(v[0] + v[3], 1, 1e-9);
    assert_near(v[1] + v[4], 0, 1e-9);
    assert_near(L, 0.3 * 2, 1e-8);
    assert_true(fabs(v[5]) > 0.05); /* friction turned the second one */
    assert_true(E < 1 + 0.15 * 4 - 0.01);
    mbs_mechanism_destroy(c);
}

static void derivatives_match_differences(void **state)
{
    (void)state;
    for (int space = MBS_PLANAR; space <= MBS_SPATIAL; space++) {
        mbs_mechanism *c = pair(space, 0.5, 0.3);
        double y[26];
        mbs_mechanism_described(c, y);
        y[space == 2 ? 3 : 7] = 0.6; /* they overlap */
        check_forces(c, "sphere_contact", y, 2e-4);
        mbs_mechanism_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(spheres_rebound_head_on),
                                       cmocka_unit_test(spheres_with_friction_keep_momentum),
                                       cmocka_unit_test(derivatives_match_differences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
