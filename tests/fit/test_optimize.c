/* Designs whose best is known in closed form. */
#include <daedalus/optimize.h>

#include "test.h"

#include <string.h>

/* x'' + c x' + x = 0, x(0) = 1: the integral of x^2 over all times is (1 + c^2) / (2 c), least for c = 1. */
static const char oscillator[] = "model oscillator\nparam c = 3, k = 1\nvar x = 1, v = 0\nx' = v\nv' = -c*v "
                                 "- k*x\nsolve t = 0 .. 60, rtol = 1e-9\n";

static dae_optimize_result *best(const char *model, const dae_fit_free *list, int count, const char *minimize,
                                 const char *const *subject, int nsubject, int global, dae_error *err)
{
    dae_problem *p = dae_problem_open(model, NULL, 0, err);
    if (!p) fail_msg("%s", err->text);
    dae_optimize_options o = dae_optimize_options_default(p);
    o.subject = subject;
    o.nsubject = nsubject;
    o.global = global;
    o.points = 2001;
    o.tolerance = 1e-8;
    dae_optimize_result *r = dae_optimize(p, list, count, minimize, &o, err);
    dae_problem_destroy(p);
    return r;
}

/* Builds without NLopt have no designs. */
static int missing(const dae_error *err)
{
    return err->status == DAE_ERR_UNSUPPORTED;
}

static void least_integral(void **state)
{
    const dae_fit_free list[] = {{"c", NAN, 0.05, 5}};
    dae_error err = {0};
    (void)state;
    for (int global = 0; global < 2; global++) {
        dae_optimize_result *r = best(oscillator, list, 1, "integral(x^2)", NULL, 0, global, &err);
        if (!r && missing(&err)) skip();
        if (!r) fail_msg("%s", err.text);
        assert_near(r->value[0], 1, 1e-4);
        assert_near(r->objective, 1, 1e-6);
        assert_near(r->objective_start, 10.0 / 6, 1e-6);
        assert_near(r->gradient[0], 0, 1e-4);
        dae_optimize_destroy(r);
    }
}

/* y' = a y (1 - y): the integral of y (1 - y) is (y(T) - y(0))/a, though it is a peak 4/a wide: a grid of 401 points sees one value of it
 * or none. */
static void narrow_peaks_are_seen(void **state)
{
    static const char pulse[] = "model pulse\nparam a = 6000\nvar y = 1e-12\ny' = a*y*(1 - y)\n"
                                "solve t = 0 .. 1, rtol = 1e-9, atol = 1e-15\n";
    const dae_fit_free list[] = {{"a", NAN, 5000, 30000}};
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open(pulse, NULL, 0, &err);
    dae_optimize_options o = dae_optimize_options_default(p);
    o.tolerance = 1e-10;
    dae_optimize_result *r = dae_optimize(p, list, 1, "(1e4*integral(y*(1 - y)) - 1)^2", &o, &err);
    dae_problem_destroy(p);
    if (!r && missing(&err)) skip();
    if (!r) fail_msg("%s", err.text);
    assert_near(r->objective_start, 4.0 / 9, 1e-6); /* 1e4/6000 - 1 = 2/3 */
    assert_near(r->value[0] / 1e4, 1, 1e-4);
    dae_optimize_destroy(r);
}

static void conditions_hold(void **state)
{
    const dae_fit_free list[] = {{"c", NAN, 0.05, 5}};
    const char *const at_least[] = {"c >= 1.5"}, *const no_overshoot[] = {"minimum(x) >= -0.1"};
    dae_error err = {0};
    (void)state;
    dae_optimize_result *r = best(oscillator, list, 1, "integral(x^2)", at_least, 1, 0, &err);
    if (!r && missing(&err)) skip();
    if (!r) fail_msg("%s", err.text);
    assert_near(r->value[0], 1.5, 1e-6);
    assert_near(r->objective, 3.25 / 3, 1e-6);
    dae_optimize_destroy(r);
    /* The first overshoot is exp(-pi z / sqrt(1 - z^2)) with z = c/2: 0.1 for c = 1.1823099. */
    r = best(oscillator, list, 1, "integral(x^2)", no_overshoot, 1, 0, &err);
    if (!r) fail_msg("%s", err.text);
    assert_near(r->value[0], 1.1823099, 2e-4);
    dae_optimize_destroy(r);
}

/* Mean and root of the mean square of a decaying exponential over [0, 60]: 1/(60 k), sqrt(1/(120 k)); weighed against k. */
static void functionals(void **state)
{
    static const char decay[] =
        "model decay\nparam k = 0.3\nvar x = 1\nx' = -k*x\nsolve t = 0 .. 60, rtol = 1e-9\n";
    const dae_fit_free list[] = {{"k", NAN, 0.2, 5}};
    dae_error err = {0};
    (void)state;
    dae_optimize_result *r = best(decay, list, 1, "60*mean(x) + k", NULL, 0, 0, &err); /* 1/k + k */
    if (!r && missing(&err)) skip();
    if (!r) fail_msg("%s", err.text);
    assert_near(r->value[0], 1, 1e-3);
    assert_near(r->objective, 2, 1e-5);
    dae_optimize_destroy(r);
    r = best(decay, list, 1, "120*rms(x)^2 + k", NULL, 0, 0, &err);
    if (!r) fail_msg("%s", err.text);
    assert_near(r->objective, 2, 1e-4);
    dae_optimize_destroy(r);
    r = best(decay, list, 1, "(final(t) - 60)^2 + (maximum(k*x) - 0.5)^2", NULL, 0, 0, &err); /* at t = 0 */
    if (!r) fail_msg("%s", err.text);
    assert_near(r->value[0], 0.5, 1e-4);
    dae_optimize_destroy(r);
}

static void mistakes_are_told(void **state)
{
    static const struct {
        const char *minimize, *subject, *text;
    } wrong[] = {{"integral(y)", NULL, "column 10"},
                 {"integral(x", NULL, "integral( is not closed"},
                 {"x +", NULL, "column"},
                 {"x", "x = 3", "one <= or >="},
                 {"zz", NULL, "zz"}};
    const dae_fit_free list[] = {{"c", NAN, 0.05, 5}}, none[] = {{"q", NAN, 0, 1}};
    dae_error err = {0};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(best(oscillator, list, 1, wrong[i].minimize, &wrong[i].subject, wrong[i].subject != NULL,
                         0, &err));
        if (missing(&err)) skip();
        if (!strstr(err.text, wrong[i].text))
            fail_msg("expected \"%s\", got \"%s\"", wrong[i].text, err.text);
    }
    assert_null(best(oscillator, none, 1, "x", NULL, 0, 0, &err));
    assert_non_null(strstr(err.text, "\"q\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(least_integral),
                                       cmocka_unit_test(narrow_peaks_are_seen),
                                       cmocka_unit_test(conditions_hold), cmocka_unit_test(functionals),
                                       cmocka_unit_test(mistakes_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
