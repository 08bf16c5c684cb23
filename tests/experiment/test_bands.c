/* Pictures of runs with derivatives: y' = -k y, y(0) = 2 has dy/dk = -2 t exp(-k t), dy/dy(0) = exp(-k t). */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bands_are_the_derivatives_times_five_per_cent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
