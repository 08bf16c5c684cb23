/* Errors along a trajectory: of a decay by fixed steps they are known in closed form. */
#include "test.h"

#include <daedalus/daedalus.h>

static int decay(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[0];
    f[1] = 0;
    return 0;
}

/* dopri5 at rtol 1e-3 against the path: the same numbers as against exp(-t). */
static void path_errors_are_those_of_the_exact_solution(void **state)
{
    (void)state;
    static const double y0[] = {1, 3};
    static const dae_problem_info info = {.name = "decay", .title = "decay", .n = 2};
    dae_problem p = {.info = &info,
                     .system = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = decay}},
                     .t_end = 4,
                     .y0 = y0,
                     .rtol = 1e-3,
                     .atol = 1e-3};
    dae_error err = {0};
    dae_path *x = dae_path_create(&p, 4, 201, &err);
    if (!x) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(&p);
    o.options.method = "dopri5";
    dae_path_ask(x, &o);
    dae_run_result *r = dae_run(&p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->npoint, 201);
    dae_path_error e[2];
    double scd, mescd, largest = 0, sum = 0, where = 0, mixed = 0;
    assert_int_equal(dae_path_compare(x, r, e, &scd, &mescd), DAE_OK);
    for (int i = 0; i < 201; i++) {
        double E = exp(-r->point_t[i]), d = fabs(r->point_y[2 * i] - E);
        if (d > largest) largest = d, where = r->point_t[i];
        sum += d * d;
        mixed = fmax(mixed, d / (1 + E));
    }
    assert_true(largest > 1e-7);
    assert_near(e[0].largest, largest, 1e-10);
    assert_near(e[0].t, where, 1e-12);
    assert_near(e[0].mean, sqrt(sum / 201), 1e-10);
    assert_near(e[0].relative, 100 * largest / exp(-where), 1e-6);
    assert_near(scd, -log10(largest), 1e-3);
    assert_near(mescd, -log10(mixed), 1e-3);
    assert_true(e[1].largest < 1e-12); /* a constant */
    o.points = 7;
    dae_run_result *other = dae_run(&p, &o, &err);
    assert_int_equal(dae_path_compare(x, other, e, NULL, NULL), DAE_ERR_INPUT); /* other times */
    dae_run_destroy(other);
    dae_run_destroy(r);
    dae_path_destroy(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(path_errors_are_those_of_the_exact_solution)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
