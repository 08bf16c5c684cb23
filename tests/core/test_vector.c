/* Small vector operations. */
#include "test.h"

#include "core/vector.h"

#include <float.h>

enum { MOST = 21 };

static void values_that_are_not_finite_are_seen_at_every_place(void **state)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY};
    (void)state;
    for (int n = 0; n <= MOST; n++) {
        double x[MOST];
        for (int i = 0; i < n; i++) x[i] = sin(1.0 + i) * pow(10, i % 5);
        assert_true(dae_all_finite(n, x));
        for (int i = 0; i < n; i++) {
            double kept = x[i];
            for (int k = 0; k < 3; k++) {
                x[i] = wrong[k];
                assert_false(dae_all_finite(n, x));
                if (i > 0) {
                    double before = x[i - 1];
                    x[i - 1] = -wrong[k]; /* both infinities */
                    assert_false(dae_all_finite(n, x));
                    x[i - 1] = before;
                }
            }
            x[i] = kept;
        }
    }
}

static void large_values_are_finite_though_their_sum_is_not(void **state)
{
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        double x[MOST];
        for (int i = 0; i < n; i++) x[i] = DBL_MAX;
        assert_true(dae_all_finite(n, x));
        x[n / 2] = -INFINITY;
        assert_false(dae_all_finite(n, x));
        for (int i = 0; i < n; i++) x[i] = i % 2 ? -DBL_MAX : DBL_MAX;
        assert_true(dae_all_finite(n, x));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_not_finite_are_seen_at_every_place),
        cmocka_unit_test(large_values_are_finite_though_their_sum_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
