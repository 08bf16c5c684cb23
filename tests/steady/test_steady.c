/* Steady states and their eigenvalues against closed forms. */
#include "steady/models.h"

static void is(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance)) fail_msg("%.15g is not %.15g", got, expected);
}

static dae_steady_result *found(const dae_problem *p, const dae_steady_options *o)
{
    dae_error err = {0};
    dae_steady_result *r = dae_steady(p, o, &err);
    if (!r) fail_msg("%s", err.text);
    return r;
}

static void steady_brusselator(void **state)
{
    (void)state;
    dae_problem *p = opened(brusselator);
    dae_steady_result *r = found(p, NULL);
    double A = 1.2, B = 2, trace = B - 1 - A * A, det = A * A;
    is(r->y[0], A, 1e-9);
    is(r->y[1], B / A, 1e-9);
    assert_int_equal(r->neigenvalue, 2);
    is(r->re[0], trace / 2, 1e-9);
    is(fabs(r->im[0]), sqrt(det - trace * trace / 4), 1e-9);
    assert_int_equal(r->unstable, 0);
    assert_int_equal(r->conserved, 0);
    dae_steady_destroy(r);
    dae_problem_destroy(p);
}

/* A <-> B <-> C: what is in it stays, and one of its eigenvalues is 0 for that. */
static void steady_keeps_what_is_conserved(void **state)
{
    (void)state;
    dae_problem *p =
        opened("model chain\nparam k1 = 3, k2 = 1e-3, k3 = 2e4, k4 = 5e3\nvar a = 0.7, b = 0.2, c = 0\n"
               "a' = -k1*a + k2*b\nb' = k1*a - k2*b - k3*b^2 + k4*c\nc' = k3*b^2 - k4*c\nsolve t = 0 .. 1\n");
    dae_steady_result *r = found(p, NULL);
    /* a = k2/k1 b, c = k3/k4 b^2, a + b + c = 0.9 */
    double q = 4, l = 1 + 1e-3 / 3, b = (-l + sqrt(l * l + 4 * q * 0.9)) / (2 * q);
    assert_int_equal(r->conserved, 1);
    assert_int_equal(r->neigenvalue, 2);
    is(r->y[1], b, 1e-9);
    is(r->y[0], b * 1e-3 / 3, 1e-12);
    is(r->y[0] + r->y[1] + r->y[2], 0.9, 1e-12);
    assert_int_equal(r->unstable, 0);
    dae_steady_destroy(r);
    dae_problem_destroy(p);
}

static void steady_says_that_there_is_none(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = opened("model grow\nvar y = 1, x = 0\ny' = 3\nx' = 1 - x\nsolve t = 0 .. 1\n");
    assert_null(dae_steady(p, NULL, &err));
    assert_int_equal(err.status, DAE_ERR_CONVERGENCE);
    assert_non_null(strstr(err.text, "constant rate"));
    dae_problem_destroy(p);
    p = opened("model none\nvar y = 1\ny' = 1 + y^2\nsolve t = 0 .. 0.5\n");
    assert_null(dae_steady(p, NULL, &err));
    assert_int_equal(err.status, DAE_ERR_CONVERGENCE);
    dae_problem_destroy(p);
}

/* x' = -2 x + z + u, 0 = z^3 + z - x: eigenvalue -2 + 1/(1 + 3 z^2). */
static void steady_of_index_1(void **state)
{
    (void)state;
    dae_problem *p = opened(
        "model one\nparam u = 3\nvar x = 1, z ~ 0.5\nx' = -2*x + z + u\n0 = z^3 + z - x\nsolve t = 0 .. 5\n");
    dae_steady_result *r = found(p, NULL);
    double z = r->y[1];
    is(-2 * (z * z * z + z) + z + 3, 0, 1e-9);
    assert_int_equal(r->neigenvalue, 1);
    is(r->re[0], -2 + 1 / (1 + 3 * z * z), 1e-8);
    dae_steady_destroy(r);
    dae_problem_destroy(p);
}

/* The pendulum in x, y, lambda (index 3) hangs: w^2 = g/L; and stands on its head. */
static void steady_of_index_3(void **state)
{
    (void)state;
    dae_problem *p = opened("models/pendulum.deq");
    int n = dae_system_size(&p->system);
    double *guess = calloc((size_t)n, sizeof *guess);
    for (int up = 0; up < 2; up++) {
        dae_steady_options o = dae_steady_options_default(p);
        for (int i = 0; i < n; i++) guess[i] = p->y0[i];
        guess[dae_component_find(p, "x")] = 0.2;
        guess[dae_component_find(p, "y")] = up ? 0.95 : -0.95;
        guess[dae_component_find(p, "lam")] = up ? -8 : 8;
        o.guess = guess;
        dae_steady_result *r = found(p, &o);
        is(r->y[dae_component_find(p, "y")], up ? 1 : -1, 1e-9);
        is(r->y[dae_component_find(p, "lam")], up ? -9.81 : 9.81, 1e-8);
        assert_int_equal(r->neigenvalue, 2);
        is(r->re[0], up ? sqrt(9.81) : 0, 1e-6);
        is(fabs(r->im[0]), up ? 0 : sqrt(9.81), 1e-6);
        assert_int_equal(r->unstable, up);
        dae_steady_destroy(r);
    }
    free(guess);
    dae_problem_destroy(p);
}

/* A uniform rod: w^2 = 3 g/(2 L). */
static void steady_of_a_mechanism(void **state)
{
    (void)state;
    dae_problem *p = opened("models/pendulum.json");
    dae_steady_options o = dae_steady_options_default(p);
    double guess[6] = {0.2, -0.4, -1.2, 0.3, 0, 1};
    for (int up = 0; up < 2; up++) {
        if (up) guess[1] = 0.4, guess[2] = 1.2;
        o.guess = guess;
        dae_steady_result *r = found(p, &o);
        is(r->y[1], up ? 0.5 : -0.5, 1e-8);
        is(r->y[3], 0, 0);
        assert_int_equal(r->neigenvalue, 2);
        is(up ? r->re[0] : fabs(r->im[0]), sqrt(1.5 * 9.81), 1e-6);
        assert_int_equal(r->unstable, up);
        dae_steady_destroy(r);
    }
    dae_problem_destroy(p);
    p = opened(truss);
    dae_steady_result *r = found(p, NULL);
    double y = r->y[1], l = sqrt(1 + y * y), k = 2000, l0 = sqrt(1.09);
    is(k * (l0 - l) * y / l, 9.81, 1e-6);
    /* m y'' = -K y - c (y/l)^2 y' */
    double K = -k * (l0 / (l * l * l) - 1), c = 20 * y * y / (l * l);
    is(r->re[0], -c / 2, 1e-5);
    is(fabs(r->im[0]), sqrt(K - c * c / 4), 1e-4);
    dae_steady_destroy(r);
    dae_problem_destroy(p);
}

/* A run first: from far away, where Newton's method alone does not come. */
static void steady_settles(void **state)
{
    (void)state;
    dae_problem *p = opened("model bend\nvar y = 8\ny' = -atan(y)\nsolve t = 0 .. 20\n");
    dae_steady_options o = dae_steady_options_default(p);
    o.settle = 20;
    dae_steady_result *r = found(p, &o);
    is(r->y[0], 0, 1e-9);
    is(r->re[0], -1, 1e-9);
    assert_int_equal(r->settled, 1);
    dae_steady_destroy(r);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steady_brusselator),
        cmocka_unit_test(steady_keeps_what_is_conserved),
        cmocka_unit_test(steady_says_that_there_is_none),
        cmocka_unit_test(steady_of_index_1),
        cmocka_unit_test(steady_of_index_3),
        cmocka_unit_test(steady_of_a_mechanism),
        cmocka_unit_test(steady_settles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
