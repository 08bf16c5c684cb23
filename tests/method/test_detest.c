/* A short part of the DETEST collections: a run that says it is done is right. `make detest` runs all of them. */
#include "../../bench/detest.h"

#include "test.h"

/* Definitions against the published end values; these have 8 digits where they are poorest (stiff E5). */
static void detest_definitions_give_the_published_end_values(void **state)
{
    (void)state;
    for (int k = 0; k < DETEST_COUNT; k++) {
        const detest_problem *p = &detest_problems[k];
        detest_run r = {.problem = p,
                        .declared = 1,
                        .method = p->stiff ? "bimd" : "dop853",
                        .rtol = 1e-12,
                        .atol = 1e-13,
                        .max_steps = 100000};
        detest_solve(&r);
        assert_int_equal(r.status, DAE_OK);
        for (int i = 0; i < p->n; i++) {
            double e = fabs(r.z[i] - p->published[i]) / (1 + fabs(p->published[i]));
            if (!(e <= 2e-10))
                fail_msg("%s%s: component %d is off by %g", p->stiff ? "stiff " : "", p->name, i + 1, e);
        }
    }
}

/* Whether a run is left out: wnys2 has order 2 and is not meant for tight tolerances. */
static int exempt(const dae_method_info *m, double tol)
{
    return !strcmp(m->name, "wnys2") && tol < 0.99e-6;
}

/* Runs of all methods on problem p, scaled or not, at one tolerance. */
static void check_all(const detest_problem *p, int scaled, double tol, double most)
{
    double reference[DETEST_SIZE], apart = detest_reference(p, scaled, reference);
    if (!(apart <= 1e-9)) fail_msg("%s: references are apart by %g", p->name, apart);
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!detest_takes(m, p) || exempt(m, tol)) continue;
        detest_run r = {
            .problem = p, .scaled = scaled, .method = m->name, .rtol = tol, .atol = tol, .max_steps = 20000};
        detest_solve(&r);
        double ratio = detest_error(&r, reference);
        if (r.status == DAE_OK && !(ratio <= most))
            fail_msg("%s on %s%s at %g says OK with an error of %g tolerances", m->name,
                     p->stiff ? "stiff " : "", p->name, tol, ratio);
    }
}

static void runs_that_say_ok_are_right(void **state)
{
    static const double tol[] = {1e-3, 1e-6, 1e-8};
    (void)state;
    for (int k = 0; k < DETEST_COUNT; k++) {
        const detest_problem *p = &detest_problems[k];
        if (!p->stiff && (p->name[0] == 'D' || p->name[0] == 'F')) continue;
        for (int j = 0; j < 2 + (k % 3 == 0); j++) check_all(p, p->stiff, tol[j], 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(detest_definitions_give_the_published_end_values),
        cmocka_unit_test(runs_that_say_ok_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
