/* Constant-velocity joint: two shafts in bearings, 40 degrees apart, under a constant torque T on the first. Both turn
 * alike, so that the angle of either is exactly T t^2 / (2 (J1 + J2)); behind a universal joint they would not:
 * tan(out) = tan(in) / cos(40 deg) or tan(in) cos(40 deg). */
#include "mechanics.h"

#define PI 3.14159265358979323846

static mbs_mechanism *shafts(const char *type)
{
    double tilt = 40 * PI / 180, q[4] = {cos(tilt / 2), sin(tilt / 2), 0, 0};
    mbs_model *m = mbs_model_create("shafts", MBS_SPATIAL);
    mbs_model_add_body(m, &(mbs_body){.name = "in", .mass = 1, .inertia = {0.3, 0.3, 0.2}});
    mbs_model_add_body(
        m, &(mbs_body){.name = "out", .mass = 1, .inertia = {0.4, 0.4, 0.5}, .q = {q[0], q[1], q[2], q[3]}});
    mbs_model_add_point(m, &(mbs_point){.name = "O", .body = 0});
    mbs_model_add_point(m, &(mbs_point){.name = "T", .body = 0, .q = {q[0], q[1], q[2], q[3]}});
    mbs_model_add_point(m, &(mbs_point){.name = "A", .body = 1, .q = {1, 0, 0, 0}});
    mbs_model_add_point(m, &(mbs_point){.name = "B", .body = 2, .q = {1, 0, 0, 0}});
    mbs_model_add_joint(
        m, &(mbs_joint){.name = "J1", .type = "revolute", .point_a = "O", .point_b = "A", .axis = {0, 0, 1}});
    mbs_model_add_joint(
        m, &(mbs_joint){.name = "J2", .type = "revolute", .point_a = "T", .point_b = "B", .axis = {0, 0, 1}});
    mbs_model_add_joint(
        m, &(mbs_joint){.name = "CV", .type = type, .point_a = "A", .point_b = "B", .axis = {0, 0, 1}});
    mbs_model_add_force(
        m, &(mbs_force){.name = "drive", .type = "torque", .joint = "J1", .value = {"2.1"}, .count = 1});
    mbs_model_add_sensor(m, &(mbs_sensor){.name = "first", .value = "J1.value"});
    mbs_model_add_sensor(m, &(mbs_sensor){.name = "second", .value = "J2.value"});
    return compile(m);
}

static void constant_velocity_shafts_turn_alike(void **state)
{
    (void)state;
    mbs_mechanism *c = shafts("constant_velocity");
    double y[26], angle[2];
    dae_error err = {0};
    assert_int_equal(mbs_mechanism_topology(c).freedom, 1);
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    dae_options opt = dae_options_default();
    opt.method = "phem56";
    opt.rtol = opt.atol = 1e-10;
    for (int k = 1; k <= 3; k++) { /* up to more than a right angle */
        double t = 0.4 * k, exact = 2.1 * t * t / (2 * 0.7);
        if (dae_solve(mbs_mechanism_system(c), &opt, 0.4 * (k - 1), t, y, NULL, &err))
            fail_msg("%s", err.text);
        assert_int_equal(mbs_mechanism_sensors(c, t, y, NULL, NULL, angle, &err), DAE_OK);
        assert_near(angle[0], exact, 1e-8);
        assert_near(angle[1], exact, 1e-8);
    }
    mbs_mechanism_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(constant_velocity_shafts_turn_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
