/* Runs with derivatives, and their pictures: y' = -k y, y(0) = 2 has dy/dk = -2 t exp(-k t), dy/dy(0) = exp(-k t). */
#include <daedalus/daedalus.h>

#include "test.h"

typedef struct text {
    char *at;
    size_t used, room;
} text;

static int add(const char *from, size_t length, void *user)
{
    text *x = user;
    if (x->used + length >= x->room) return -1;
    memcpy(x->at + x->used, from, length);
    x->at[x->used += length] = 0;
    return 0;
}

static void bands_are_the_derivatives_times_five_per_cent(void **state)
{
    (void)state;
    static const char *const by[] = {"k", "y(0)"};
    dae_error err = {0};
    dae_problem *p = dae_problem_open(
        "model decay\nparam k = 0.7\nvar y = 2\ny' = -k*y\nsolve t = 0 .. 3, rtol = 1e-9\n", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_EQUIDISTANT;
    o.points = 31;
    o.sensitivity = by;
    o.nsensitivity = 2;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->status, DAE_OK);
    text x = {malloc(100000), 0, 100000};
    assert_int_equal(dae_run_plot(r, "svg", add, &x), DAE_OK);
    assert_non_null(strstr(x.at, "using 1:3:4 with filledcurves"));
    assert_non_null(strstr(x.at, "using 1:2 with lines"));
    assert_non_null(strstr(x.at, "parameters of --sens off by 5 % each"));
    const char *line = strstr(x.at, "$data << EOD\n");
    assert_non_null(line);
    int rows = 0;
    for (line = strchr(line, '\n') + 1; strncmp(line, "EOD", 3) != 0; line = strchr(line, '\n') + 1, rows++) {
        double t, y, low, high;
        assert_int_equal(sscanf(line, "%lf %lf %lf %lf", &t, &y, &low, &high), 4);
        double e = exp(-0.7 * t), half = 0.05 * hypot(0.7 * 2 * t * e, 2 * e);
        assert_near(y, 2 * e, 1e-6);
        assert_near(low, 2 * e - half, 1e-6);
        assert_near(high, 2 * e + half, 1e-6);
    }
    assert_int_equal(rows, 31);
    free(x.at);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* A ball that falls from 1 m: at the bounce v = -w becomes e w, w = sqrt(2 g). The point before it has dv/de = 0, that after it w, and
 * h falls by dt1/dh0 = 1/w the later the higher it began: dh/dh0 = 1 before, -e after. */
static void derivatives_stand_on_their_side_of_an_event(void **state)
{
    static const char *const by[] = {"e", "h(0)"};
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open(
        "model ball\nparam e = 0.8\nvar h = 1, v = 0\nh' = v\nv' = -9.81\nwhen h < 0 \"bounce\"\n"
        "    v := -e*v\n    record\nend\nsolve t = 0 .. 1, rtol = 1e-9\n",
        NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_STEPS;
    o.t_end = 0.6;
    o.sensitivity = by;
    o.nsensitivity = 2;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->status, DAE_OK);
    int k = 0, found = 0;
    double w = sqrt(2 * 9.81);
    for (k = 0; k + 1 < r->npoint && !found; k += !found) found = r->point_t[k] == r->point_t[k + 1];
    assert_true(found);
    const double *before = r->point_s + 4 * k, *after = before + 4; /* h, v by e; h, v by h(0) */
    assert_near(r->point_t[k], sqrt(2 / 9.81), 1e-8);
    assert_near(before[0], 0, 1e-6);
    assert_near(before[1], 0, 1e-6);
    assert_near(after[0], 0, 1e-6);
    assert_near(after[1], w, 1e-6);
    assert_near(before[2], 1, 1e-6);
    assert_near(before[3], 0, 1e-6);
    assert_near(after[2], -0.8, 1e-6);
    assert_near(after[3], 0.8 * 9.81 / w + 9.81 / w,
                1e-6); /* e g/w of the speed, and g/w for what it has flown less */
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* sqrt(k) has no derivative at k = 0: the run is fine, that with derivatives fails and has none. */
static void derivatives_that_do_not_exist_fail_the_run(void **state)
{
    static const char *const by[] = {"k"};
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open(
        "model root\nparam k = 0\nvar y = 1\ny' = -y + sqrt(k)\nsolve t = 0 .. 1\n", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    for (int n = 0; n < 2; n++) {
        dae_run_options o = dae_run_options_default(p);
        o.sensitivity = by;
        o.nsensitivity = n;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        assert_int_equal(r->status, n ? DAE_ERR_UNDEFINED : DAE_OK);
        assert_null(r->sensitivity_end);
        if (n) assert_non_null(strstr(r->error.text, "not finite"));
        dae_run_destroy(r);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_the_derivatives_times_five_per_cent),
        cmocka_unit_test(derivatives_stand_on_their_side_of_an_event),
        cmocka_unit_test(derivatives_that_do_not_exist_fail_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
