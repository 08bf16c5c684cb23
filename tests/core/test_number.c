#include "core/number.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void same_as_printf(double x)
{
    char mine[DAE_REAL_TEXT], theirs[64];
    size_t length = dae_real_text(x, mine);
    snprintf(theirs, sizeof theirs, "%.17g", x);
    if (strcmp(mine, theirs) != 0 || length != strlen(theirs)) fail_msg("%s, expected %s", mine, theirs);
}

static uint64_t next(uint64_t *state) /* xorshift */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* All bit patterns, quotients of small whole numbers (exact ties among them), and short decimals. */
static void real_text_is_that_of_printf(void **state)
{
    uint64_t seed = 88172645463325252u;
    (void)state;
    for (int k = 0; k < 200000; k++) {
        uint64_t r = next(&seed);
        double x;
        memcpy(&x, &r, sizeof x);
        if (isfinite(x)) same_as_printf(x);
        same_as_printf((double)(int64_t)(r >> r % 60) / (double)((uint64_t)1 << r % 50));
        same_as_printf((double)(r % 100000) / 1000 * pow(10, (double)((r >> 40) % 20) - 10));
        same_as_printf((double)(r % 4096 * 2 + 1) *
                       ldexp(1, -(int)(r % 61))); /* up to 18 digits that end in 5 */
    }
}

static void real_text_at_powers_of_ten_and_borders(void **state)
{
    (void)state;
    for (int p = -323; p <= 308; p++) {
        double x = pow(10, p), up = nextafter(x, INFINITY), down = nextafter(x, 0);
        same_as_printf(x);
        same_as_printf(-up);
        same_as_printf(down);
    }
    double other[] = {0,
                      -0.0,
                      1,
                      -1,
                      0.1,
                      99999999999999984.0,
                      1e16,
                      1e17,
                      1.2345678901234568e17,
                      1e-4,
                      9.9999999999999995e-05,
                      5e-324,
                      2.2250738585072014e-308,
                      1.7976931348623157e308,
                      INFINITY,
                      -INFINITY};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) same_as_printf(other[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_text_is_that_of_printf),
        cmocka_unit_test(real_text_at_powers_of_ten_and_borders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
