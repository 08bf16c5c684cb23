/* Ways to integrate a mechanism, side by side. */
#include "test.h"

#include <daedalus/study.h>

typedef struct memory {
    char text[1 << 17];
    size_t length;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    assert_true(m->length + length < sizeof m->text);
    memcpy(m->text + m->length, text, length);
    m->length += length;
    m->text[m->length] = 0;
    return 0;
}

/* Andrews' mechanism at 1e-7. */
static dae_compared compared(const dae_problem *p, const char *method, const char *form, int project)
{
    static const dae_setting projected = {"formulation.project", "1"};
    dae_run_options o = dae_run_options_default(p);
    dae_error err = {0};
    dae_compared c;
    char label[64];
    o.options.method = method;
    o.options.formulation = form;
    o.options.rtol = o.options.atol = 1e-7;
    if (project) o.options.setting = &projected, o.options.nsetting = 1;
    snprintf(label, sizeof label, "%s/%s%s", method, form, project ? "+project" : "");
    assert_int_equal(dae_compare_run(p, &o, label, &c, &err), DAE_OK);
    assert_int_equal(c.run.status, DAE_OK);
    return c;
}

static int setup(void **state)
{
    *state = dae_problem_create("andrews", NULL, 0, NULL);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    dae_problem_destroy(*state);
    return 0;
}

static void mechanism_of_a_dae_keeps_reference_and_scores(void **state)
{
    dae_problem view;
    assert_int_equal(dae_compare_mechanism(*state, &view), 1);
    assert_int_equal(view.system.kind, DAE_KIND_MECH);
    dae_compared c = compared(&view, "dop853", "index1", 1);
    assert_true(c.run.scd > 5 && c.run.scd < 12);
    dae_compared_free(&c);
}

static void ordinary_problem_is_no_mechanism(void **state)
{
    (void)state;
    dae_problem view, *p = dae_problem_create("rober", NULL, 0, NULL);
    dae_run_options o = dae_run_options_default(p);
    dae_compared c;
    assert_int_equal(dae_compare_mechanism(p, &view), 0);
    o.options.method = "radau5";
    assert_int_equal(dae_compare_run(p, &o, "radau5", &c, NULL), DAE_OK);
    assert_int_equal(c.run.status, DAE_OK);
    assert_int_equal(c.npoint, 0);
    assert_true(isnan(c.position_max) && isnan(c.energy) && c.run.scd > 3);
    dae_compared_free(&c);
    dae_problem_destroy(p);
}

/* The acceptance of the forms: partitioned and GGL stay on the constraints, direct integration drifts away. */
static void drift_is_that_of_the_form(void **state)
{
    dae_problem view;
    dae_compare_mechanism(*state, &view);
    dae_compared direct = compared(&view, "dopri5", "index1", 0),
                 projected = compared(&view, "dopri5", "index1", 1),
                 split = compared(&view, "dopri5", "statespace", 0),
                 ggl = compared(&view, "radau5", "ggl", 0), held = compared(&view, "dopri5", "baumgarte", 0);
    assert_true(split.position_max < 1e-13 && split.velocity_max < 1e-12);
    assert_true(projected.position_max < 1e-12 && projected.velocity_max < 1e-10);
    assert_true(ggl.position_max < 1e-10);
    assert_true(direct.position_max > 1e-9 && direct.position_max < 1e-6);
    assert_true(held.position_max < 0.3 * direct.position_max);
    /* it grows: the second half is worse than the first */
    double half[2] = {0, 0};
    for (int i = 0; i < direct.npoint; i++) {
        int later = direct.t[i] > 0.015;
        half[later] = fmax(half[later], direct.position[i]);
    }
    assert_true(half[1] > 3 * half[0]);
    dae_compared_free(&direct);
    dae_compared_free(&projected);
    dae_compared_free(&split);
    dae_compared_free(&ggl);
    dae_compared_free(&held);
}

static void tables_and_picture_hold_the_numbers(void **state)
{
    dae_problem view;
    dae_compare_mechanism(*state, &view);
    dae_compared c[2] = {compared(&view, "dopri5", "index1", 0), compared(&view, "dopri5", "index1", 1)};
    static memory m;
    char expected[64];
    m.length = 0;
    assert_int_equal(dae_compare_write(c, 2, "csv", remember, &m), DAE_OK);
    assert_non_null(strstr(m.text, "dopri5/index1+project,ok,"));
    snprintf(expected, sizeof expected, "%.17g", c[0].position_max);
    assert_non_null(strstr(m.text, expected));
    m.length = 0;
    assert_int_equal(dae_compare_write(c, 2, "md", remember, &m), DAE_OK);
    assert_non_null(strstr(m.text, "| dopri5/index1         |"));
    m.length = 0;
    assert_int_equal(dae_compare_write(c, 2, "json", remember, &m), DAE_OK);
    assert_non_null(strstr(m.text, "\"position_residual\""));
    m.length = 0;
    assert_int_equal(dae_compare_plot(c, 2, "a title", "svg", remember, &m), DAE_OK);
    assert_non_null(strstr(m.text, "$l1 using 1:3"));
    assert_int_equal(dae_compare_write(c, 2, "tex", remember, &m), DAE_ERR_INPUT);
    dae_compared none = {.run.solver = "none"};
    assert_int_equal(dae_compare_plot(&none, 1, "a title", "svg", remember, &m), DAE_ERR_INPUT);
    dae_compared_free(&c[0]);
    dae_compared_free(&c[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mechanism_of_a_dae_keeps_reference_and_scores, setup, teardown),
        cmocka_unit_test(ordinary_problem_is_no_mechanism),
        cmocka_unit_test_setup_teardown(drift_is_that_of_the_form, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_and_picture_hold_the_numbers, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
