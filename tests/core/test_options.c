#include "test.h"

#include <daedalus/options.h>

static void defaults_are_those_of_the_table(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    assert_string_equal(o.method, "auto");
    assert_string_equal(o.formulation, "auto");
    assert_near(o.rtol, 1e-6, 0);
    assert_near(o.atol, 1e-9, 0);
    assert_int_equal(o.max_steps, 1000000);
    assert_string_equal(o.linear_algebra, "auto");
    assert_string_equal(o.jacobian, "auto");
    assert_int_equal(o.threads, 1);
    assert_null(o.log);
    assert_null(o.rtol_vec);
}

static void every_line_is_complete_and_takes_its_own_default(void **state)
{
    (void)state;
    int lines = 0;
    for (const dae_option *line = dae_options_table(); line->name; line++, lines++) {
        assert_true(line->help && strlen(line->help) > 5);
        assert_non_null(line->unit);
        assert_true(line->offset < sizeof(dae_options));
        char value[64];
        if (line->type == DAE_OPTION_NAME) snprintf(value, sizeof value, "%s", line->text);
        else snprintf(value, sizeof value, "%.17g", line->value);
        dae_options o = dae_options_default(), standard = o;
        dae_error err = {0};
        if (dae_options_set(&o, line->name, value, &err))
            fail_msg("%s = %s: %s", line->name, value, err.text);
        if (line->type != DAE_OPTION_NAME) assert_memory_equal(&o, &standard, sizeof o);
        for (const dae_option *other = dae_options_table(); other < line; other++) {
            assert_string_not_equal(other->name, line->name);
            assert_int_not_equal(other->offset, line->offset);
        }
    }
    assert_int_equal(lines, 18);
}

static void values_outside_their_range_are_refused(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"rtol", "-1e-3", "option rtol = -1e-3 is outside its range 0 .. 1e+10"},
        {"atol", "-1", "option atol = -1 is outside its range 0 .. 1e+10"},
        {"h_max", "-1e-3", "option h_max = -1e-3 is outside its range 0 .. 1e+300"},
        {"profile", "2", "option profile = 2 is outside its range 0 .. 1"},
        {"threads", "0", "option threads = 0 is outside its range 1 .. 1024"},
        {"max_steps", "12.5", "option max_steps = 12.5 must be a whole number"},
        {"linear_algebra", "full",
         "option linear_algebra = \"full\" is not one of auto|dense|banded|sparse|krylov"},
        {"rtoll", "1", "there is no option \"rtoll\"; did you mean \"rtol\"?"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_options o = dae_options_default(), before = o;
        dae_error err = {0};
        assert_int_equal(dae_options_set(&o, cases[k][0], cases[k][1], &err), DAE_ERR_INPUT);
        assert_string_equal(err.text, cases[k][2]);
        assert_memory_equal(&o, &before, sizeof o);
    }
}

static void values_inside_their_range_are_taken(void **state)
{
    (void)state;
    dae_options o = dae_options_default();
    assert_int_equal(dae_options_set(&o, "rtol", "1e-11", NULL), DAE_OK);
    assert_int_equal(dae_options_set(&o, "max_steps", "123456789012", NULL), DAE_OK);
    assert_int_equal(dae_options_set(&o, "stop_at_end", "1", NULL), DAE_OK);
    assert_int_equal(dae_options_set(&o, "jacobian", "difference", NULL), DAE_OK);
    assert_near(o.rtol, 1e-11, 0);
    assert_int_equal(o.max_steps, 123456789012L);
    assert_int_equal(o.stop_at_end, 1);
    assert_string_equal(o.jacobian, "difference");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(every_line_is_complete_and_takes_its_own_default),
        cmocka_unit_test(values_outside_their_range_are_refused),
        cmocka_unit_test(values_inside_their_range_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
