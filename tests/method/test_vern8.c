#include "method/erk_check.h"

/* All 200 trees of order up to 8, the embedded solutions of orders 7 and 3, dense output of order 8; coefficients of up to 123
 * times weights of up to 32 leave 1e-12 of their digits. */
static void vern8_table_meets_order_conditions(void **state)
{
    static const int embedded[2] = {7, 3};
    (void)state;
    erk_check_table(&dae_vern8_table, embedded, 8, 1e-12);
}

/* The largest defect of its order conditions of order 9 is 4e-7, those of order 10 forty times as large: steps at which rounding does not
 * count yet show nearly order 9. */
static void vern8_order_8_with_fixed_steps(void **state)
{
    (void)state;
    erk_check_order("vern8", &erk_orbit, 9.1, 13, 0.25);
}

static void vern8_dense_output_order_8(void **state)
{
    (void)state;
    erk_check_dense("vern8", &erk_orbit, 8, 0.25);
}

static void vern8_reaches_tight_tolerances_on_arenstorf(void **state)
{
    (void)state;
    dae_stats stats;
    assert_between(erk_orbit_error("vern8", 1e-7, &stats), 1e-6, 1e-1);
    assert_near(erk_orbit_error("vern8", 1e-12, &stats), 0, 1e-8);
    assert_int_equal(stats.f, 2 + 12 * stats.steps + stats.accepted);
    assert_true(stats.f < 6000);
}

/* Seven more evaluations in a step in which something is interpolated, however often. */
static void vern8_evaluates_for_dense_output_once_and_only_then(void **state)
{
    dae_system sys = erk_system(4, erk_kepler, NULL);
    dae_options opt = erk_options("vern8", 1e-6);
    double y[4];
    (void)state;
    opt.fixed_step = 0.1;
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    erk_kepler_exact(0, y);
    assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 14);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 27);
    for (int i = 0; i < 5; i++) dae_integrator_interpolate(it, 0.1 + 0.02 * i, y, NULL);
    assert_int_equal(dae_integrator_stats(it)->f, 34);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 47);
    dae_integrator_destroy(it);
}

static void vern8_sees_errors_grow(void **state)
{
    (void)state;
    erk_check_refusals("vern8", 12);
}

static void vern8_takes_the_same_steps_at_every_size(void **state)
{
    (void)state;
    erk_check_sizes("vern8");
}

static void vern8_integrates_backward(void **state)
{
    (void)state;
    erk_check_backward("vern8", 1e-11, 1e-8);
}

static void vern8_survives_undefined_evaluations(void **state)
{
    (void)state;
    erk_check_undefined("vern8");
}

static void vern8_says_why_a_step_is_too_small(void **state)
{
    (void)state;
    erk_check_wall("vern8");
}

static void vern8_stops_when_asked(void **state)
{
    (void)state;
    erk_check_stop("vern8");
}

static void vern8_reports_stiffness_once(void **state)
{
    (void)state;
    erk_check_stiffness("vern8");
}

static void vern8_step_allocates_nothing(void **state)
{
    (void)state;
    erk_check_allocation("vern8");
}

static void vern8_checkpoint_continues_bit_for_bit(void **state)
{
    (void)state;
    erk_check_checkpoint("vern8");
}

static void vern8_takes_a_changed_state(void **state)
{
    (void)state;
    erk_check_changed_state(&dae_method_vern8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vern8_table_meets_order_conditions),
        cmocka_unit_test(vern8_order_8_with_fixed_steps),
        cmocka_unit_test(vern8_dense_output_order_8),
        cmocka_unit_test(vern8_reaches_tight_tolerances_on_arenstorf),
        cmocka_unit_test(vern8_evaluates_for_dense_output_once_and_only_then),
        cmocka_unit_test(vern8_sees_errors_grow),
        cmocka_unit_test(vern8_takes_the_same_steps_at_every_size),
        cmocka_unit_test(vern8_integrates_backward),
        cmocka_unit_test(vern8_survives_undefined_evaluations),
        cmocka_unit_test(vern8_says_why_a_step_is_too_small),
        cmocka_unit_test(vern8_stops_when_asked),
        cmocka_unit_test(vern8_reports_stiffness_once),
        cmocka_unit_test(vern8_step_allocates_nothing),
        cmocka_unit_test(vern8_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(vern8_takes_a_changed_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
