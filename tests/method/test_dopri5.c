#include "method/erk_check.h"

/* All 17 trees of order up to 5, the embedded solution of order 4, dense output of order 4. */
static void dopri5_table_meets_order_conditions(void **state)
{
    static const int embedded[1] = {4};
    (void)state;
    erk_check_table(&dae_dopri5_table, embedded, 4, 1e-15);
}

static void dopri5_order_5_with_fixed_steps(void **state)
{
    (void)state;
    erk_check_order("dopri5", &erk_orbit, 5, 6, 1.0 / 32);
}

static void dopri5_dense_output_order_4(void **state)
{
    (void)state;
    erk_check_dense("dopri5", &erk_orbit, 4, 1.0 / 16);
    erk_check_dense("dopri5", &erk_waves, 4, 0.00625);
}

/* The program DOPRI5 of [HNW] reports 1442 evaluations, 240 steps, 216 accepted for the orbit at 1e-7. The
 * number of steps may change by a few with the rounding of the library functions. */
static void dopri5_takes_the_published_steps_on_arenstorf(void **state)
{
    (void)state;
    dae_stats stats;
    double error = erk_orbit_error("dopri5", 1e-7, &stats);
    assert_between(error, 1e-4, 1e-2);
    assert_near((double)stats.accepted, 216, 2);
    assert_near((double)stats.steps, 240, 4);
    assert_int_equal(stats.f, 2 + 6 * stats.steps); /* start, first step, six per step */
    assert_near(erk_orbit_error("dopri5", 1e-11, &stats), 0, 1e-6);
}

static void dopri5_takes_the_same_steps_at_every_size(void **state)
{
    (void)state;
    erk_check_sizes("dopri5");
}

static void dopri5_integrates_backward(void **state)
{
    (void)state;
    erk_check_backward("dopri5", 1e-8, 1e-5);
}

static void dopri5_survives_undefined_evaluations(void **state)
{
    (void)state;
    erk_check_undefined("dopri5");
}

static void dopri5_says_why_a_step_is_too_small(void **state)
{
    (void)state;
    erk_check_wall("dopri5");
}

static void dopri5_stops_when_asked(void **state)
{
    (void)state;
    erk_check_stop("dopri5");
}

static void dopri5_reports_stiffness_once(void **state)
{
    (void)state;
    erk_check_stiffness("dopri5");
}

static void dopri5_step_allocates_nothing(void **state)
{
    (void)state;
    erk_check_allocation("dopri5");
}

static void dopri5_checkpoint_continues_bit_for_bit(void **state)
{
    (void)state;
    erk_check_checkpoint("dopri5");
}

static void dopri5_takes_a_changed_state(void **state)
{
    (void)state;
    erk_check_changed_state(&dae_method_dopri5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dopri5_table_meets_order_conditions),
        cmocka_unit_test(dopri5_order_5_with_fixed_steps),
        cmocka_unit_test(dopri5_dense_output_order_4),
        cmocka_unit_test(dopri5_takes_the_published_steps_on_arenstorf),
        cmocka_unit_test(dopri5_takes_the_same_steps_at_every_size),
        cmocka_unit_test(dopri5_integrates_backward),
        cmocka_unit_test(dopri5_survives_undefined_evaluations),
        cmocka_unit_test(dopri5_says_why_a_step_is_too_small),
        cmocka_unit_test(dopri5_stops_when_asked),
        cmocka_unit_test(dopri5_reports_stiffness_once),
        cmocka_unit_test(dopri5_step_allocates_nothing),
        cmocka_unit_test(dopri5_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(dopri5_takes_a_changed_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
