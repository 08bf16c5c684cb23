/* The start of a mechanism: velocities that change are told, speeds of joints hold, contradictions have names; drivers
 * that jump are refused. */
#include "mechanics.h"

static const char *const two_rods =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"rods\", \"dimension\": 2, \"gravity\": [0, 0],"
    "  \"bodies\": [ { \"name\": \"one\", \"mass\": 1, \"inertia\": 1, \"r\": [1, 0], \"omega\": %g },"
    "               { \"name\": \"two\", \"mass\": 1, \"inertia\": 1, \"r\": [3, 0] } ],"
    "  \"joints\": [ { \"name\": \"J1\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A\" },"
    "               { \"name\": \"J2\", \"type\": \"revolute\", \"a\": \"B\", \"b\": \"C\" } ],"
    "  \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"A\", \"body\": "
    "\"one\", \"r\": [-1, 0] },"
    "               { \"name\": \"B\", \"body\": \"one\", \"r\": [1, 0] }, { \"name\": \"C\", \"body\": "
    "\"two\", \"r\": [-1, 0] } ],"
    "  %s \"simulation\": { \"t1\": 1 } }";

static dae_problem *open_rods(double omega, const char *more, dae_error *err)
{
    char text[2000];
    snprintf(text, sizeof text, two_rods, omega, more);
    return dae_problem_open_text(text, strlen(text), "rods.json", NULL, 0, err);
}

/* A bar that turns about its end: v = omega x r fits, and nothing is told. */
static void velocities_that_fit_are_not_told(void **state)
{
    static const char text[] =
        "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"bar\", \"dimension\": 2, \"gravity\": [0, "
        "0],"
        "  \"bodies\": [ { \"name\": \"bar\", \"mass\": 1, \"inertia\": 1, \"r\": [0.5, 0], \"v\": [0, 2], "
        "\"omega\": 4 } ],"
        "  \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"A\", "
        "\"body\": "
        "\"bar\", \"r\": [-0.5, 0] } ],"
        "  \"joints\": [ { \"name\": \"J\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A\" } ],"
        "  \"simulation\": { \"t1\": 1 } }";
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open_text(text, strlen(text), "bar.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    assert_near(p->y0[3 + 1], 2, 1e-12);
    assert_near(p->y0[3 + 2], 4, 1e-12);
    assert_true(!p->warning || !p->warning[0]);
    dae_problem_destroy(p);
}

static void changed_velocity_is_told_with_both_values(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = open_rods(12, "", &err);
    if (!p) fail_msg("%s", err.text);
    double now = p->y0[6 + 2];
    assert_true(fabs(now - 12) > 1);
    assert_non_null(p->warning[0]);
    char expected[64];
    snprintf(expected, sizeof expected, "one.omega = 12 ");
    assert_non_null(strstr(p->warning[0], expected));
    snprintf(expected, sizeof expected, "starts with %.10g", now);
    assert_non_null(strstr(p->warning[0], expected));
    assert_null(p->warning[1]);
    dae_problem_destroy(p);
}

static void speeds_of_joints_hold(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = open_rods(0,
                               "\"initial\": { \"joints\": [ { \"joint\": \"J1\", \"speed\": 3 }, { "
                               "\"joint\": \"J2\", \"speed\": -1 } ] },",
                               &err);
    if (!p) fail_msg("%s", err.text);
    const double *v = p->y0 + 6; /* rods along x: one turns with 3, two with 2 */
    const double expected[] = {0, 3, 3, 0, 8, 2};
    for (int i = 0; i < 6; i++) assert_near(v[i], expected[i], 1e-10);
    dae_problem_destroy(p);
    p = open_rods(0, "\"initial\": { \"joint\": \"J1\", \"speed\": \"5[rad/s]\" },", &err);
    if (!p) fail_msg("%s", err.text);
    assert_near(p->y0[6 + 2], 5, 1e-10);
    dae_problem_destroy(p);
    assert_null(open_rods(0, "\"initial\": { \"joint\": \"J7\", \"speed\": 1 },", &err));
    assert_non_null(strstr(err.text, "J7"));
}

static void contradiction_is_named(void **state)
{
    (void)state;
    dae_error err = {0};
    assert_null(
        open_rods(2, "\"initial\": { \"fix\": [\"one.omega\"], \"joint\": \"J1\", \"speed\": 3 },", &err));
    assert_int_equal(err.status, DAE_ERR_INCONSISTENT);
    assert_non_null(strstr(err.text, "one.omega is fixed at 2"));
    assert_non_null(strstr(err.text, "want 3"));
    const char *twice = "\"initial\": { \"joint\": \"J1\", \"speed\": 5, "
                        "\"joints\": [ { \"joint\": \"J1\", \"speed\": 7 } ] },";
    assert_null(open_rods(0, twice, &err));
    assert_non_null(strstr(err.text, "initial.joints[0].speed: joint \"J1\" has two speeds, 5 and 7"));
}

static void driver_that_jumps_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *motion, *expected;
    } jump[] = {{"if(t < 0.3, 0, 0.25)", "jumps in position by 0.25 at t = 0.3"},
                {"2*max(0, t - 0.5)", "jumps in speed by 2 at t = 0.5"},
                {"floor(2*t)", "jumps in position by 1 at t = 0.5"},
                {"abs(sin(7*t))", "jumps in speed by 14 at t = 0.4487989505"}};
    static const char *const smooth[] = {"if(t < 0.5, 0, (t-0.5)^3)", "smoothstep(t, 0.2, 0.6)",
                                         "max(0, t-0.5)^2",
                                         "abs(t)"}; /* what was before t = 0 does not count */
    char more[200];
    dae_error err = {0};
    for (int k = 0; k < 4; k++) {
        snprintf(more, sizeof more,
                 "\"drivers\": [ { \"name\": \"D\", \"joint\": \"J1\", \"value\": \"%s\" } ],",
                 jump[k].motion);
        assert_null(open_rods(0, more, &err));
        assert_non_null(strstr(err.text, "\"D\""));
        if (!strstr(err.text, jump[k].expected)) fail_msg("%s", err.text);
        snprintf(more, sizeof more,
                 "\"drivers\": [ { \"name\": \"D\", \"joint\": \"J1\", \"value\": \"%s\" } ],", smooth[k]);
        dae_problem *p = open_rods(0, more, &err);
        if (!p) fail_msg("%s", err.text);
        dae_problem_destroy(p);
    }
}

static void force_without_a_value_is_named(void **state)
{
    (void)state;
    dae_error err = {0};
    assert_null(open_rods(0,
                          "\"forces\": [ { \"name\": \"F\", \"type\": \"torque\", \"joint\": \"J1\", "
                          "\"value\": \"log(t - 1)\" } ],",
                          &err));
    assert_int_equal(err.status, DAE_ERR_UNDEFINED);
    assert_non_null(strstr(err.text, "force \"F\" has no value at the start"));
}

/* --init body.quantity: what is given holds, the other body moves; a guess may move. The angle of the first rod places its
 * centre at (cos, sin) and the second rod goes along. */
static void starts_from_outside_hold(void **state)
{
    (void)state;
    char text[2000];
    dae_error err = {0};
    snprintf(text, sizeof text, two_rods, 0.0, "");
    const dae_setting both[] = {{"one.angle", "=90[deg]"}, {"one.omega", "=12"}, {"two.omega", "=-3"}};
    dae_problem *p = dae_problem_open_text(text, strlen(text), "rods.json", both, 3, &err);
    if (!p) fail_msg("%s", err.text);
    assert_near(p->y0[2], acos(0.0), 1e-12);
    assert_near(p->y0[0], 0, 1e-10);
    assert_near(p->y0[1], 1, 1e-10);
    assert_near(p->y0[6 + 2], 12, 1e-12);
    assert_near(p->y0[6 + 0], -12, 1e-9);
    assert_near(p->y0[9 + 2], -3, 1e-12);
    dae_problem_destroy(p);
    const dae_setting guess = {"one.omega", "~12"};
    p = dae_problem_open_text(text, strlen(text), "rods.json", &guess, 1, &err);
    if (!p) fail_msg("%s", err.text);
    assert_true(fabs(p->y0[6 + 2] - 12) > 1);
    assert_non_null(p->warning[0]);
    dae_problem_destroy(p);
    static const struct {
        dae_setting s;
        const char *expected;
    } bad[] = {{{"on.omega", "=1"}, "did you mean the body \"one\"?"},
               {{"one.q.w", "=1"}, "expected x, y, angle, vx, vy or omega"},
               {{"one.omega", "=1[kg]"}, "has the unit [kg]"},
               {{"omega", "=1"}, "--init omega: expected body.quantity, as one.omega"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        assert_null(dae_problem_open_text(text, strlen(text), "rods.json", &bad[k].s, 1, &err));
        if (!strstr(err.text, bad[k].expected)) fail_msg("%s", err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(velocities_that_fit_are_not_told),
        cmocka_unit_test(changed_velocity_is_told_with_both_values),
        cmocka_unit_test(speeds_of_joints_hold),
        cmocka_unit_test(contradiction_is_named),
        cmocka_unit_test(driver_that_jumps_is_refused),
        cmocka_unit_test(force_without_a_value_is_named),
        cmocka_unit_test(starts_from_outside_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
