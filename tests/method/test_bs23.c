#include "method/erk_check.h"

static void bs23_table_meets_order_conditions(void **state)
{
    static const int embedded[1] = {2};
    (void)state;
    erk_check_table(&dae_bs23_table, embedded, 3, 1e-15);
}

static void bs23_order_3_with_fixed_steps(void **state)
{
    (void)state;
    erk_check_order("bs23", &erk_orbit, 3, 3, 1.0 / 16);
    erk_check_order("bs23", &erk_waves, 3, 3, 0.0125);
}

static void bs23_dense_output_order_3(void **state)
{
    (void)state;
    erk_check_dense("bs23", &erk_orbit, 3, 1.0 / 8);
    erk_check_dense("bs23", &erk_waves, 3, 0.025);
}

/* The error follows the tolerance: a hundredth of it gives a hundredth of the error. */
static void bs23_error_follows_tolerance(void **state)
{
    (void)state;
    dae_stats stats;
    double coarse = erk_orbit_error("bs23", 1e-6, &stats), fine = erk_orbit_error("bs23", 1e-8, &stats);
    assert_between(coarse, 1e-3, 0.1);
    assert_between(coarse / fine, 30, 300);
    /* start, first step, three per step, one per test for stiffness */
    assert_int_equal(stats.f, 2 + 3 * stats.steps + stats.accepted / 1000);
}

static void bs23_takes_the_same_steps_at_every_size(void **state)
{
    (void)state;
    erk_check_sizes("bs23");
}

static void bs23_integrates_backward(void **state)
{
    (void)state;
    erk_check_backward("bs23", 1e-6, 1e-3);
}

static void bs23_survives_undefined_evaluations(void **state)
{
    (void)state;
    erk_check_undefined("bs23");
}

static void bs23_says_why_a_step_is_too_small(void **state)
{
    (void)state;
    erk_check_wall("bs23");
}

static void bs23_stops_when_asked(void **state)
{
    (void)state;
    erk_check_stop("bs23");
}

static void bs23_reports_stiffness_once(void **state)
{
    (void)state;
    erk_check_stiffness("bs23");
}

static void bs23_step_allocates_nothing(void **state)
{
    (void)state;
    erk_check_allocation("bs23");
}

static void bs23_checkpoint_continues_bit_for_bit(void **state)
{
    (void)state;
    erk_check_checkpoint("bs23");
}

static void bs23_takes_a_changed_state(void **state)
{
    (void)state;
    erk_check_changed_state(&dae_method_bs23);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bs23_table_meets_order_conditions),
        cmocka_unit_test(bs23_order_3_with_fixed_steps),
        cmocka_unit_test(bs23_dense_output_order_3),
        cmocka_unit_test(bs23_error_follows_tolerance),
        cmocka_unit_test(bs23_takes_the_same_steps_at_every_size),
        cmocka_unit_test(bs23_integrates_backward),
        cmocka_unit_test(bs23_survives_undefined_evaluations),
        cmocka_unit_test(bs23_says_why_a_step_is_too_small),
        cmocka_unit_test(bs23_stops_when_asked),
        cmocka_unit_test(bs23_reports_stiffness_once),
        cmocka_unit_test(bs23_step_allocates_nothing),
        cmocka_unit_test(bs23_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(bs23_takes_a_changed_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
