#include "method/erk_check.h"

/* All 486 trees of order up to 9, the embedded solution of order 8, dense output of order 9. */
static void vern9_table_meets_order_conditions(void **state)
{
    static const int embedded[1] = {8};
    (void)state;
    erk_check_table(&dae_vern9_table, embedded, 9, 5e-14);
}

static void vern9_order_9_with_fixed_steps(void **state)
{
    (void)state;
    erk_check_order("vern9", &erk_orbit, 9, 16, 0.25);
}

static void vern9_dense_output_order_9(void **state)
{
    (void)state;
    erk_check_dense("vern9", &erk_orbit, 9, 0.5);
}

static void vern9_reaches_tight_tolerances_on_arenstorf(void **state)
{
    (void)state;
    dae_stats stats;
    assert_between(erk_orbit_error("vern9", 1e-7, &stats), 1e-6, 1e-1);
    assert_near(erk_orbit_error("vern9", 1e-12, &stats), 0, 1e-8);
    assert_int_equal(stats.f, 2 + 15 * stats.steps + stats.accepted);
    assert_true(stats.f < 5000);
}

/* Nine more evaluations in a step in which something is interpolated, however often. */
static void vern9_evaluates_for_dense_output_once_and_only_then(void **state)
{
    dae_system sys = erk_system(4, erk_kepler, NULL);
    dae_options opt = erk_options("vern9", 1e-6);
    double y[4];
    (void)state;
    opt.fixed_step = 0.1;
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    erk_kepler_exact(0, y);
    assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 17);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 33);
    for (int i = 0; i < 5; i++) dae_integrator_interpolate(it, 0.1 + 0.02 * i, y, NULL);
    assert_int_equal(dae_integrator_stats(it)->f, 42);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 58);
    dae_integrator_destroy(it);
}

static void vern9_sees_errors_grow(void **state)
{
    (void)state;
    erk_check_refusals("vern9", 12);
}

static void vern9_takes_the_same_steps_at_every_size(void **state)
{
    (void)state;
    erk_check_sizes("vern9");
}

static void vern9_integrates_backward(void **state)
{
    (void)state;
    erk_check_backward("vern9", 1e-11, 1e-8);
}

static void vern9_survives_undefined_evaluations(void **state)
{
    (void)state;
    erk_check_undefined("vern9");
}

static void vern9_says_why_a_step_is_too_small(void **state)
{
    (void)state;
    erk_check_wall("vern9");
}

static void vern9_stops_when_asked(void **state)
{
    (void)state;
    erk_check_stop("vern9");
}

static void vern9_reports_stiffness_once(void **state)
{
    (void)state;
    erk_check_stiffness("vern9");
}

static void vern9_step_allocates_nothing(void **state)
{
    (void)state;
    erk_check_allocation("vern9");
}

static void vern9_checkpoint_continues_bit_for_bit(void **state)
{
    (void)state;
    erk_check_checkpoint("vern9");
}

static void vern9_takes_a_changed_state(void **state)
{
    (void)state;
    erk_check_changed_state(&dae_method_vern9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vern9_table_meets_order_conditions),
        cmocka_unit_test(vern9_order_9_with_fixed_steps),
        cmocka_unit_test(vern9_dense_output_order_9),
        cmocka_unit_test(vern9_reaches_tight_tolerances_on_arenstorf),
        cmocka_unit_test(vern9_evaluates_for_dense_output_once_and_only_then),
        cmocka_unit_test(vern9_sees_errors_grow),
        cmocka_unit_test(vern9_takes_the_same_steps_at_every_size),
        cmocka_unit_test(vern9_integrates_backward),
        cmocka_unit_test(vern9_survives_undefined_evaluations),
        cmocka_unit_test(vern9_says_why_a_step_is_too_small),
        cmocka_unit_test(vern9_stops_when_asked),
        cmocka_unit_test(vern9_reports_stiffness_once),
        cmocka_unit_test(vern9_step_allocates_nothing),
        cmocka_unit_test(vern9_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(vern9_takes_a_changed_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
