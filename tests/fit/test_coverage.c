/* The promise of an interval of confidence: 500 sets of data made from known parameters with seeded noise; the intervals of 95 %
 * must contain the truth in 92 to 98 % of them (a binomial of 500 with p = 0.95 has a standard deviation of 1 %). */
#include <daedalus/daedalus.h>

#include "test.h"

#include <stdint.h>

enum { repetitions = 500, times = 21 };

static const char model[] =
    "model enzyme\nparam V = 0.8, K = 2.5\nvar S = 10\nS' = -V*S/(K + S)\nsolve t = 0 .. 20, rtol = 1e-9\n";

/* Normal numbers by Box and Muller from a linear congruential generator [Knuth, MMIX]. */
static double normal(uint64_t *state)
{
    double u[2];
    for (int k = 0; k < 2; k++) {
        *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        u[k] = ((double)(*state >> 11) + 0.5) * 0x1p-53;
    }
    return sqrt(-2 * log(u[0])) * cos(6.283185307179586 * u[1]);
}

static void intervals_contain_the_truth(void **state)
{
    static const double truth[] = {0.8, 2.5};
    const dae_fit_free list[] = {{"V", 0.5, 0, INFINITY}, {"K", 1, 0, INFINITY}};
    const char *const column[] = {"S"}, *const name[] = {"V"};
    dae_error err = {0};
    dae_problem *p = dae_problem_open(model, NULL, 0, &err);
    double t[times], y[times], s[times], value[times];
    int inside[2][2] = {{0}};
    uint64_t seed = 20261117;
    (void)state;
    if (!p) fail_msg("%s", err.text);
    for (int i = 0; i < times; i++) t[i] = i;
    if (dae_sensitivity_run(p, NULL, name, 1, t, times, y, s, NULL, &err) < 0) fail_msg("%s", err.text);
    for (int k = 0; k < 2 * repetitions; k++) { /* first the noise must be estimated, then it is known */
        int known = k >= repetitions;
        double sd[times];
        for (int i = 0; i < times; i++) value[i] = y[i] + 0.1 * normal(&seed), sd[i] = 0.1;
        dae_fit_experiment e = {.name = "made here",
                                .ntime = times,
                                .ncolumn = 1,
                                .t = t,
                                .column = column,
                                .value = value,
                                .sd = known ? sd : NULL};
        const dae_fit_experiment *data[] = {&e};
        dae_fit_result *r = dae_fit(p, list, 2, data, 1, NULL, &err);
        if (!r) fail_msg("%s", err.text);
        for (int j = 0; j < 2; j++)
            inside[known][j] += r->estimate[j].lower <= truth[j] && truth[j] <= r->estimate[j].upper;
        dae_fit_destroy(r);
    }
    for (int known = 0; known < 2; known++) {
        for (int j = 0; j < 2; j++) {
            double share = inside[known][j] / (double)repetitions;
            printf("noise %s, %s: %.1f %%\n", known ? "known" : "estimated", list[j].name, 100 * share);
            assert_true(share >= 0.92 && share <= 0.98);
        }
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_contain_the_truth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
