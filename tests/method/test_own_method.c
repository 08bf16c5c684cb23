/* Own methods: Euler's of examples/own-solver handed over in the options, alone, under a form of a mechanism, saved and resumed;
 * and descriptors that are refused. */
#include "test.h"

#include <daedalus/daedalus.h>

#include "../../examples/own-solver/euler.c"

#include <string.h>

static int decay(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[0];
    return 0;
}

static const dae_system decaying = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = decay}};

static dae_options with_euler(void)
{
    dae_options opt = dae_options_default();
    opt.own = dae_plugin_methods(DAE_METHOD_INTERFACE);
    opt.method = "euler";
    return opt;
}

static double error_with_step(double h)
{
    dae_options opt = with_euler();
    dae_error err = {0};
    double y = 1;
    opt.fixed_step = h;
    assert_int_equal(dae_solve(&decaying, &opt, 0, 1, &y, NULL, &err), DAE_OK);
    return fabs(y - exp(-1));
}

static void own_method_has_its_order(void **state)
{
    (void)state;
    assert_between(log2(error_with_step(1.0 / 64) / error_with_step(1.0 / 128)), 0.97, 1.03);
    assert_near(error_with_step(1.0 / 64), exp(-1) - pow(63.0 / 64, 64), 1e-14);
}

typedef struct study {
    dae_measurement m[8];
    int count;
} study;

static int keep(const dae_measurement *m, void *user)
{
    study *s = user;
    assert_true(s->count < 8);
    s->m[s->count++] = *m;
    return 0;
}

static void own_method_goes_with_problems_and_studies(void **state)
{
    (void)state;
    static const char *const solver[] = {"euler", "dopri5"};
    dae_error err = {0};
    dae_problem *p = dae_problem_create("andrews", NULL, 0, &err);
    assert_non_null(p);
    dae_run_options o = dae_run_options_default(p);
    o.options.own = dae_plugin_methods(DAE_METHOD_INTERFACE);
    o.options.method = "euler";
    o.options.rtol = o.options.atol = 1e-4;
    dae_run_result *r = dae_run(p, &o, &err); /* an ODE method: the mechanism as index 1 */
    assert_non_null(r);
    assert_int_equal(r->status, DAE_OK);
    assert_string_equal(r->solver, "euler");
    assert_string_equal(r->solver_title, "explicit Euler");
    assert_string_equal(r->formulation, "index1");
    dae_run_destroy(r);
    dae_problem_destroy(p);
    p = dae_problem_create("vdpol-mu", (dae_setting[]){{"mu", "1"}}, 1, &err);
    assert_non_null(p);
    dae_ladder ladder = {4, 6, 1, 1, 0, 0, 0};
    study runs = {0};
    dae_workprec_options w = {.ladder = &ladder, .done = keep, .user = &runs, .own = o.options.own};
    assert_int_equal(dae_workprec_run(p, solver, 2, &w, &err), DAE_OK);
    assert_int_equal(runs.count, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(runs.m[i].status, DAE_OK);
    /* order 1: the steps grow as 1/sqrt(tol), 10 times over two rungs */
    assert_string_equal(runs.m[2].solver, "euler");
    assert_between((double)runs.m[2].steps / (double)runs.m[0].steps, 7, 13);
    dae_problem_destroy(p);
}

static void own_method_resumes_bit_for_bit(void **state)
{
    (void)state;
    dae_options opt = with_euler();
    dae_error err = {0};
    double y = 1, whole;
    dae_integrator *a = dae_integrator_create(&decaying, &opt, &err),
                   *b = dae_integrator_create(&decaying, &opt, &err);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(dae_integrator_start(a, 0, 1, &y, NULL, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(a, 0.5, &err), DAE_OK);
    size_t size = dae_integrator_save(a, NULL, 0);
    void *bytes = malloc(size);
    assert_int_equal(dae_integrator_save(a, bytes, size), size);
    assert_int_equal(dae_integrator_advance(a, 1, &err), DAE_OK);
    whole = dae_integrator_state(a)[0];
    assert_int_equal(dae_integrator_start(b, 0, 1, &y, NULL, &err), DAE_OK);
    assert_int_equal(dae_integrator_load(b, bytes, size, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(b, 1, &err), DAE_OK);
    assert_true(dae_integrator_state(b)[0] == whole);
    free(bytes);
    dae_integrator_destroy(a);
    dae_integrator_destroy(b);
}

static void refused(dae_method wrong, const char *words)
{
    const dae_method *const own[] = {&wrong, NULL};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    opt.own = own;
    opt.method = wrong.info.name;
    assert_int_equal(dae_method_check(&wrong, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, words));
    if (wrong.info.name && !dae_method_find(wrong.info.name))
        assert_null(dae_integrator_create(&decaying, &opt, &err));
}

static void own_methods_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_method m = method;
    assert_int_equal(dae_method_check(&m, &err), DAE_OK);
    m.interface = 0;
    refused(m, "version 0 of the interface");
    m.interface = DAE_METHOD_INTERFACE + 1;
    refused(m, "headers of this library");
    m = method;
    m.info.name = "radau5";
    refused(m, "the library has one of this name");
    m.info.name = "a,b";
    refused(m, "a name has at most 32 letters");
    m = method;
    m.step = NULL;
    refused(m, "no step");
    m = method;
    m.info.kinds = 0;
    refused(m, "kinds is 0");
    assert_null(dae_plugin_open("/nonexistent/own.so", &err));
    assert_int_equal(err.status, DAE_ERR_FILE);
}

static void own_methods_do_not_take_what_they_cannot(void **state)
{
    (void)state;
    dae_options opt = with_euler();
    dae_error err = {0};
    double mass[1] = {1};
    dae_system sys = {.kind = DAE_KIND_DAE, .dae = {.n = 1, .f = decay, .mass = {.n = 1, .a = mass}}};
    assert_null(dae_integrator_create(&sys, &opt, &err));
    assert_int_equal(err.status, DAE_ERR_UNSUPPORTED);
    opt.own = NULL; /* nothing was registered */
    assert_null(dae_integrator_create(&decaying, &opt, &err));
    assert_non_null(strstr(err.text, "there is no method \"euler\""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_method_has_its_order),
        cmocka_unit_test(own_method_goes_with_problems_and_studies),
        cmocka_unit_test(own_method_resumes_bit_for_bit),
        cmocka_unit_test(own_methods_that_do_not_fit_are_refused),
        cmocka_unit_test(own_methods_do_not_take_what_they_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
