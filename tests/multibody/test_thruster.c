/* A body that a constant thrust F at the lever d turns and drives, from rest: with a = F d/J
 *     omega = a t,   angle = a t^2/2,   v = F/m int (-sin, cos)(a s^2/2) ds,
 * Fresnel's integrals, here by their series. Plane, and about z in space with the thruster turned in its point. */
#include "mechanics.h"

/* int_0^t cos(a s^2/2) ds, or of the sine. */
static double fresnel(double a, double t, int sine)
{
    double sum = 0, term = t, z = a * t * t / 2; /* term: t z^n / n! */
    for (int n = 0; n < 60; n++, term *= z / n) {
        if (n % 2 == sine) sum += (n / 2 % 2 ? -1 : 1) * term / (2 * n + 1);
    }
    return sum;
}

static void thruster_off_the_center_gives_fresnel(void **state)
{
    (void)state;
    const double F = 3, m = 2, J = 0.5, d = 0.4, t = 1.6, h = sqrt(0.5);
    for (int space = MBS_PLANAR; space <= MBS_SPATIAL; space++) {
        mbs_model *model = mbs_model_create("probe", space);
        mbs_model_add_body(model, &(mbs_body){.name = "probe", .mass = m, .inertia = {0.6, 0.7, J}});
        mbs_model_add_point(model, &(mbs_point){.name = "P", /* x of the point is y of the body */
                                                .body = 1,
                                                .r = {d},
                                                .angle = 3.14159265358979323846 / 2,
                                                .q = {h, 0, 0, h}});
        mbs_model_add_force(
            model, &(mbs_force){.name = "T", .type = "thruster", .point_b = "P", .value = {"3"}, .count = 1});
        mbs_mechanism *c = compile(model);
        double y[13], a = F * d / J, angle = a * t * t / 2;
        dae_error err = {0};
        assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
        dae_options opt = dae_options_default();
        opt.method = "phem56";
        opt.rtol = opt.atol = 1e-11;
        if (dae_solve(mbs_mechanism_system(c), &opt, 0, t, y, NULL, &err)) fail_msg("%s", err.text);
        const double *v = y + (space == 2 ? 3 : 7);
        assert_near(v[0], -F / m * fresnel(a, t, 1), 1e-8);
        assert_near(v[1], F / m * fresnel(a, t, 0), 1e-8);
        assert_near(v[space == 2 ? 2 : 5], a * t, 1e-9);
        if (space == 2) assert_near(y[2], angle, 1e-9);
        else assert_near(2 * atan2(y[6], y[3]), angle, 1e-9);
        mbs_mechanism_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thruster_off_the_center_gives_fresnel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
