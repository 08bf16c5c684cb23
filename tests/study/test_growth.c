#include "test.h"

#include <daedalus/study.h>

#include <string.h>

static char script[65536];

static int remember(const char *text, size_t length, void *user)
{
    (void)user;
    if (strlen(script) + length >= sizeof script) return -1;
    strncat(script, text, length);
    return 0;
}

static void growth_fit_finds_known_exponent(void **state)
{
    double size[] = {8, 16, 32, 64, 128}, cost[5];
    dae_growth fit;
    (void)state;
    for (int i = 0; i < 5; i++) cost[i] = 3e-6 * pow(size[i], 2.5);
    assert_int_equal(dae_growth_fit(size, cost, 5, &fit), DAE_OK);
    assert_int_equal(fit.count, 5);
    assert_near(fit.exponent, 2.5, 1e-12);
    assert_near(fit.factor, 3e-6, 1e-17);
    assert_near(fit.last, 2.5, 1e-12);
    assert_near(fit.error, 0, 1e-12);
}

/* Residuals e, -e, -e, e over sizes 1, 2, 4, 8 leave the slope as it is; standard error sqrt(4 e^2/2 / sxx). */
static void growth_fit_tells_its_error(void **state)
{
    double size[] = {1, 2, 4, 8}, cost[4], e = 0.1, sign[] = {1, -1, -1, 1}, step = log(2);
    dae_growth fit;
    (void)state;
    for (int i = 0; i < 4; i++) cost[i] = exp(1.5 * log(size[i]) + e * sign[i]);
    assert_int_equal(dae_growth_fit(size, cost, 4, &fit), DAE_OK);
    assert_near(fit.exponent, 1.5, 1e-12);
    assert_near(fit.error, sqrt(2 * e * e / (5 * step * step)), 1e-12);
    assert_near(fit.last, 1.5 + 2 * e / step, 1e-12);
}

static void growth_fit_leaves_failed_runs_out(void **state)
{
    double size[] = {10, 20, 40, 80}, cost[] = {1, 2, NAN, 8};
    dae_growth fit;
    (void)state;
    assert_int_equal(dae_growth_fit(size, cost, 4, &fit), DAE_OK);
    assert_int_equal(fit.count, 3);
    assert_near(fit.exponent, 1, 1e-12);
    assert_near(fit.last, 1, 1e-12);
    assert_int_equal(dae_growth_fit(size, cost, 1, &fit), DAE_ERR_INPUT);
    assert_true(isnan(fit.exponent));
    double same[] = {5, 5};
    assert_int_equal(dae_growth_fit(same, cost, 2, &fit), DAE_ERR_INPUT);
}

static void growth_plot_has_exponents_in_its_key(void **state)
{
    double size[] = {8, 16, 32}, a[] = {1, 2, 4}, b[] = {1, 8, NAN};
    dae_growth_line line[] = {{"radau5, sparse", size, a, 3}, {"radau5, dense", size, b, 3}};
    (void)state;
    script[0] = 0;
    assert_int_equal(dae_growth_plot(line, 2, "a \"title\"", "N", "svg", remember, NULL), DAE_OK);
    assert_non_null(strstr(script, "radau5, sparse: N^1.00"));
    assert_non_null(strstr(script, "radau5, dense: N^3.00"));
    assert_non_null(strstr(script, "a \\\"title\\\""));
    assert_non_null(strstr(script, "set logscale xy"));
    b[0] = b[1] = a[0] = a[1] = a[2] = NAN;
    assert_int_equal(dae_growth_plot(line, 2, "t", "N", "svg", remember, NULL), DAE_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(growth_fit_finds_known_exponent),
        cmocka_unit_test(growth_fit_tells_its_error),
        cmocka_unit_test(growth_fit_leaves_failed_runs_out),
        cmocka_unit_test(growth_plot_has_exponents_in_its_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
