/* Sines and cosines in bunches against libm. */
#include "test.h"

#include "core/trig.h"

static void sincos_agrees_with_libm(void **state)
{
    (void)state;
    enum { N = 1000 };
    static double x[N], s[N], c[N];
    static const double range[] = {1e-9, 1, 3.2, 100, 9.9e4, 1e7};
    for (size_t k = 0; k < sizeof range / sizeof *range; k++) {
        for (int i = 0; i < N; i++) x[i] = range[k] * (2 * fmod(i * 0.6180339887498949, 1) - 1);
        dae_sincos(N, x, s, c);
        for (int i = 0; i < N; i++) {
            assert_near(s[i], sin(x[i]), 2.3e-16);
            assert_near(c[i], cos(x[i]), 2.3e-16);
        }
    }
}

static void sincos_at_special_arguments(void **state)
{
    (void)state;
    double x[7] = {0,   1.5707963267948966, 3.141592653589793, -1.5707963267948966,
                   NAN, INFINITY,           -6.283185307179586},
           s[7], c[7];
    dae_sincos(4, x, s, c);
    for (int i = 0; i < 4; i++) {
        assert_near(s[i], sin(x[i]), 1e-16);
        assert_near(c[i], cos(x[i]), 1e-16);
    }
    dae_sincos(7, x, s, c);
    assert_true(isnan(s[4]) && isnan(c[4]) && isnan(s[5]) && isnan(c[5]));
    dae_sincos(1, x + 4, s, c); /* NaN alone */
    assert_true(isnan(s[0]) && isnan(c[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sincos_agrees_with_libm),
                                       cmocka_unit_test(sincos_at_special_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
