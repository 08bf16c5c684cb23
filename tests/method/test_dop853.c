#include "method/erk_check.h"

/* All 200 trees of order up to 8, the embedded solutions of orders 5 and 3, dense output of order 7. */
static void dop853_table_meets_order_conditions(void **state)
{
    static const int embedded[2] = {5, 3};
    (void)state;
    erk_check_table(&dae_dop853_table, embedded, 7, 1e-14);
}

/* sum_j a_ij c_j^(q-1) = c_i^q / q: q = 2 from stage 3 on, q = 3 from stage 6 on (counted from 1), as the
 * construction in [HNW] II.5 demands; b is zero for the stages before. */
static void dop853_table_meets_simplifying_assumptions(void **state)
{
    const dae_erk_table *tab = &dae_dop853_table;
    (void)state;
    for (int i = 2; i < tab->total; i++) {
        for (int q = 2; q <= (i >= 5 ? 3 : 2); q++) {
            double sum = 0;
            for (int j = 0; j < i; j++) sum += tab->a[i][j] * pow(tab->c[j], q - 1);
            assert_near(sum, pow(tab->c[i], q) / q, 1e-14);
        }
    }
    for (int j = 1; j < 5; j++) assert_true(tab->a[12][j] == 0);
}

static void dop853_order_8_with_fixed_steps(void **state)
{
    (void)state;
    erk_check_order("dop853", &erk_waves, 8, 12, 0.1);
}

static void dop853_dense_output_order_7(void **state)
{
    (void)state;
    erk_check_dense("dop853", &erk_waves, 7, 0.05);
}

static void dop853_reaches_tight_tolerances_on_arenstorf(void **state)
{
    (void)state;
    dae_stats stats;
    assert_between(erk_orbit_error("dop853", 1e-7, &stats), 1e-5, 1e-2);
    assert_near(erk_orbit_error("dop853", 1e-12, &stats), 0, 1e-8);
    assert_int_equal(stats.f, 2 + 11 * stats.steps + stats.accepted);
    assert_true(stats.f < 5000);
}

/* Three more evaluations in a step in which something is interpolated, however often. */
static void dop853_evaluates_for_dense_output_once_and_only_then(void **state)
{
    dae_system sys = erk_system(4, erk_kepler, NULL);
    dae_options opt = erk_options("dop853", 1e-6);
    double y[4];
    (void)state;
    opt.fixed_step = 0.1;
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    erk_kepler_exact(0, y);
    assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 13);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 25);
    for (int i = 0; i < 5; i++) dae_integrator_interpolate(it, 0.1 + 0.02 * i, y, NULL);
    assert_int_equal(dae_integrator_stats(it)->f, 28);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_int_equal(dae_integrator_stats(it)->f, 40);
    dae_integrator_destroy(it);
}

static void dop853_sees_errors_grow(void **state)
{
    (void)state;
    erk_check_refusals("dop853", 12);
}

static void dop853_takes_the_same_steps_at_every_size(void **state)
{
    (void)state;
    erk_check_sizes("dop853");
}

static void dop853_integrates_backward(void **state)
{
    (void)state;
    erk_check_backward("dop853", 1e-11, 1e-8);
}

static void dop853_survives_undefined_evaluations(void **state)
{
    (void)state;
    erk_check_undefined("dop853");
}

static void dop853_says_why_a_step_is_too_small(void **state)
{
    (void)state;
    erk_check_wall("dop853");
}

static void dop853_stops_when_asked(void **state)
{
    (void)state;
    erk_check_stop("dop853");
}

static void dop853_reports_stiffness_once(void **state)
{
    (void)state;
    erk_check_stiffness("dop853");
}

static void dop853_step_allocates_nothing(void **state)
{
    (void)state;
    erk_check_allocation("dop853");
}

static void dop853_checkpoint_continues_bit_for_bit(void **state)
{
    (void)state;
    erk_check_checkpoint("dop853");
}

static void dop853_takes_a_changed_state(void **state)
{
    (void)state;
    erk_check_changed_state(&dae_method_dop853);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dop853_table_meets_order_conditions),
        cmocka_unit_test(dop853_table_meets_simplifying_assumptions),
        cmocka_unit_test(dop853_order_8_with_fixed_steps),
        cmocka_unit_test(dop853_dense_output_order_7),
        cmocka_unit_test(dop853_reaches_tight_tolerances_on_arenstorf),
        cmocka_unit_test(dop853_evaluates_for_dense_output_once_and_only_then),
        cmocka_unit_test(dop853_sees_errors_grow),
        cmocka_unit_test(dop853_takes_the_same_steps_at_every_size),
        cmocka_unit_test(dop853_integrates_backward),
        cmocka_unit_test(dop853_survives_undefined_evaluations),
        cmocka_unit_test(dop853_says_why_a_step_is_too_small),
        cmocka_unit_test(dop853_stops_when_asked),
        cmocka_unit_test(dop853_reports_stiffness_once),
        cmocka_unit_test(dop853_step_allocates_nothing),
        cmocka_unit_test(dop853_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(dop853_takes_a_changed_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
