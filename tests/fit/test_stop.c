/* options.stop ends what runs a problem many times inside of a run, and what was known then is kept. */
#include <daedalus/daedalus.h>
#include <daedalus/optimize.h>
#include <daedalus/quadrature.h>
#include <daedalus/steady.h>

#include "test.h"

/* Says stop from call number `at` on. */
typedef struct until {
    long asked, at;
} until;

static int stop(void *user)
{
    until *c = user;
    return c->asked++ >= c->at;
}

static dae_problem *open_problem(const char *text)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(text, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* ---- Fits ------------------------------------------------------------------------------------------------------------ */

static const char decay[] = "model decay\nparam k = 2, a = 0.3\nvar x = 1, y = 0\nx' = -k*x\ny' = k*x - a*y\n"
                            "solve t = 0 .. 2, rtol = 1e-10\n";
enum { times = 12 };
#define K 0.8

static double exact_x(double k, double t)
{
    return exp(-k * t);
}

/* y of the model above. */
static double exact_y(double k, double a, double t)
{
    return k / (a - k) * (exp(-k * t) - exp(-a * t));
}

typedef struct example {
    dae_problem *p;
    double t[times], value[2 * times];
    dae_fit_experiment e;
    dae_fit_options o;
} example;

static void begin(example *c, until *clock)
{
    static const char *const column[] = {"x", "y"};
    c->p = open_problem(decay);
    for (int i = 0; i < times; i++) {
        double noise = 0.01 * sin(17.0 * i); /* so that the residuals do not vanish */
        c->t[i] = 0.15 * (i + 1);
        c->value[i] = exact_x(K, c->t[i]) + noise;
        c->value[times + i] = exact_y(K, 0.4, c->t[i]) - noise;
    }
    c->e = (dae_fit_experiment){
        .name = "decay", .ntime = times, .ncolumn = 2, .t = c->t, .column = column, .value = c->value};
    c->o = dae_fit_options_default(c->p);
    c->o.sensitivity.simulation.options.stop = stop;
    c->o.sensitivity.simulation.options.stop_user = clock;
}

static dae_fit_result *fit(example *c)
{
    const dae_fit_free list[] = {{"k", NAN, 0.01, 10}, {"a", NAN, 0.01, 10}};
    const dae_fit_experiment *e = &c->e;
    dae_error err = {0};
    dae_fit_result *r = dae_fit(c->p, list, 2, &e, 1, &c->o, &err);
    if (!r) fail_msg("%s", err.text);
    return r;
}

/* What stands in the result belongs together: model and residuals are those of the values, the cost is that of the residuals. */
static void consistent(const example *c, const dae_fit_result *r)
{
    double k = r->estimate[0].value, a = r->estimate[1].value, sum = 0;
    for (int i = 0; i < times; i++) {
        assert_near(r->model[0][i], exact_x(k, c->t[i]), 1e-6);
        assert_near(r->model[0][times + i], exact_y(k, a, c->t[i]), 1e-6);
    }
    for (int i = 0; i < 2 * times; i++) sum += 0.5 * r->residual[0][i] * r->residual[0][i];
    assert_near(r->cost, sum, 1e-6 * sum);
    assert_between(r->estimate[0].sd, 1e-6, 1);
}

/* Wherever it is stopped: it is heard at once (once per layer that could go on), and the best so far is told, never worse with more time. */
static void a_fit_keeps_its_best(void **state)
{
    until clock = {0, 1l << 40};
    example c;
    (void)state;
    begin(&c, &clock);
    dae_fit_result *whole = fit(&c);
    long all = clock.asked;
    assert_int_equal(whole->status, DAE_OK);
    consistent(&c, whole);
    double last = INFINITY;
    int early = 0, later = 0;
    for (long at = 0; at < all; at += 1 + all / 60) {
        clock = (until){0, at};
        dae_fit_result *r = fit(&c);
        assert_int_equal(r->status, DAE_CANCELLED);
        if (clock.asked > at + 3) fail_msg("asked %ld times after it had said stop", clock.asked - at);
        if (isnan(r->cost)) {
            assert_near(r->estimate[0].value, 2, 0); /* the start */
            early++;
        } else {
            consistent(&c, r);
            assert_true(r->cost <= last);
            assert_true(r->cost >= whole->cost * (1 - 1e-9));
            last = r->cost;
            later++;
        }
        dae_fit_destroy(r);
    }
    assert_true(early > 0 && later > 20);
    dae_fit_destroy(whole);
    dae_problem_destroy(c.p);
}

static void profiles_end_too(void **state)
{
    until clock = {0, 1l << 40};
    example c;
    (void)state;
    begin(&c, &clock);
    dae_fit_result *r = fit(&c);
    clock = (until){0, clock.asked + 200}; /* some way into the profiles */
    double value = r->estimate[0].value, sd = r->estimate[0].sd;
    dae_fit_destroy(r);
    c.o.profile = 1;
    r = fit(&c);
    assert_int_equal(r->status, DAE_CANCELLED);
    assert_true(clock.asked <= clock.at + 3);
    assert_near(r->estimate[0].value, value, 0);
    assert_near(r->estimate[0].sd, sd, 0);
    assert_true(isnan(r->estimate[1].profile[1]));
    dae_fit_destroy(r);
    dae_problem_destroy(c.p);
}

static void starts_that_did_not_begin_do_not(void **state)
{
    until clock = {0, 1l << 40};
    example c;
    (void)state;
    begin(&c, &clock);
    c.o.starts = 6;
    dae_fit_result *r = fit(&c);
    long half = clock.asked / 2;
    assert_int_equal(r->starts_ended, 6);
    double best = r->cost;
    dae_fit_destroy(r);
    clock = (until){0, half};
    r = fit(&c);
    assert_int_equal(r->status, DAE_CANCELLED);
    assert_true(clock.asked <= half + 10);
    assert_between(r->starts_ended, 1, 5);
    consistent(&c, r);
    assert_near(r->cost, best, 1e-6 * best); /* all of them lead to the same, and the first had ended */
    dae_fit_destroy(r);
    dae_problem_destroy(c.p);
}

static void shooting_ends_too(void **state)
{
    until clock = {0, 0};
    example c;
    (void)state;
    begin(&c, &clock);
    c.o.intervals = 3;
    for (long at = 0; at < 3000; at = 3 * at + 1) {
        clock = (until){0, at};
        dae_fit_result *r = fit(&c);
        if (r->status == DAE_CANCELLED) {
            assert_true(clock.asked <= at + 3);
            assert_between(r->estimate[0].value, 0.01, 10);
        }
        dae_fit_destroy(r);
    }
    dae_problem_destroy(c.p);
}

/* ---- Designs ---------------------------------------------------------------------------------------------------------------- */

/* x'' + c x' + x = 0, x(0) = 1: the integral of x^2 over all times is (1 + c^2) / (2 c). */
static void a_design_keeps_its_best(void **state)
{
    dae_problem *p = open_problem("model oscillator\nparam c = 3\nvar x = 1, v = 0\nx' = v\nv' = -c*v - x\n"
                                  "solve t = 0 .. 60, rtol = 1e-9\n");
    const dae_fit_free list[] = {{"c", NAN, 0.05, 5}};
    dae_optimize_options o = dae_optimize_options_default(p);
    until clock = {0, 1l << 40};
    dae_error err = {0};
    (void)state;
    o.points = 2001;
    o.sensitivity.simulation.options.stop = stop;
    o.sensitivity.simulation.options.stop_user = &clock;
    dae_optimize_result *r = dae_optimize(p, list, 1, "integral(x^2)", &o, &err);
    if (!r && err.status == DAE_ERR_UNSUPPORTED) skip(); /* no NLopt */
    if (!r) fail_msg("%s", err.text);
    long all = clock.asked;
    assert_int_equal(r->status, DAE_OK);
    dae_optimize_destroy(r);
    double last = INFINITY;
    int later = 0, known = 0;
    for (int global = 0; global < 2; global++) {
        o.global = global;
        for (long at = 0; at < all; at += all / 14) {
            clock = (until){0, at};
            r = dae_optimize(p, list, 1, "integral(x^2)", &o, &err);
            if (!r) fail_msg("%s", err.text);
            assert_int_equal(r->status, DAE_CANCELLED);
            assert_true(clock.asked <= at + 3);
            if (isnan(r->objective)) {
                assert_near(r->value[0], 3, 0);
            } else {
                double c = r->value[0];
                assert_near(r->objective, (1 + c * c) / (2 * c), 1e-6);
                if (!isnan(r->gradient[0])) {
                    assert_near(r->gradient[0], 0.5 - 0.5 / (c * c), 1e-5);
                    known++;
                }
                if (!global) assert_true(r->objective <= last);
                last = r->objective;
                later++;
            }
            dae_optimize_destroy(r);
        }
    }
    assert_true(later > 5 && known > 2);
    dae_problem_destroy(p);
}

/* ---- Everything else that integrates ---------------------------------------------------------------------------------------- */

static int end_value(double t, const double *y, double *value, double *dy, void *user)
{
    (void)t, (void)user;
    *value = y[0];
    dy[0] = 1;
    dy[1] = 0;
    return 0;
}

static void others(void **state)
{
    static const char brusselator[] =
        "model b\nparam A = 1, B = 3\nvar x = 1, y = 1\nx' = A - (B + 1)*x + x^2*y\n"
        "y' = B*x - x^2*y\nsolve t = 0 .. 50, rtol = 1e-8\n";
    dae_problem *p = open_problem(brusselator);
    until clock = {0, 40};
    dae_error err = {0};
    (void)state;

    dae_simulation_options s = dae_simulation_options_default(p);
    s.options.stop = stop;
    s.options.stop_user = &clock;
    dae_simulation *sim = dae_simulation_open(p, &s, &err);
    assert_int_equal(dae_simulation_start(sim, &err), DAE_OK);
    assert_int_equal(dae_simulation_advance(sim, 50, &err), DAE_CANCELLED);
    assert_int_equal(clock.asked, 41);
    assert_between(dae_simulation_time(sim), 1e-3, 49);
    clock.at = 1l << 40; /* and it goes on */
    assert_int_equal(dae_simulation_advance(sim, 50, &err), DAE_OK);
    dae_simulation_close(sim);

    dae_functional G = {.end = end_value};
    const char *const name[] = {"A", "B"}, *const mode[] = {"forward", "adjoint"};
    for (int k = 0; k < 3; k++) {
        dae_gradient_options o = {.simulation = s, .mode = mode[k > 0], .memory = k == 2 ? 20000 : 0};
        double value, gradient[2];
        for (long at = 10; at < 200; at *= 3) { /* with little memory: in the second run, too */
            o.simulation.options.method = "dopri5";
            clock = (until){0, at};
            assert_int_equal(dae_gradient(p, &o, &G, name, 2, &value, gradient, NULL, &err), DAE_CANCELLED);
            assert_true(clock.asked <= at + 2);
        }
    }
    const char *const integrand[] = {"x"};
    dae_quadrature_options q = dae_quadrature_options_default(p);
    double value, error;
    q.simulation = s;
    clock = (until){0, 20};
    assert_int_equal(dae_quadrature(p, &q, integrand, 1, NULL, 0, &value, &error, NULL, &err), DAE_CANCELLED);

    dae_periodic_options c = dae_periodic_options_default(p);
    c.sensitivity.simulation.options.stop = stop;
    c.sensitivity.simulation.options.stop_user = &clock;
    clock = (until){0, 1l << 40};
    dae_periodic_result *cycle = dae_periodic(p, &c, &err);
    assert_non_null(cycle);
    dae_periodic_destroy(cycle);
    long all = clock.asked;
    for (long at = 1; at < all - 1; at += all / 9) { /* settling, looking for the period, shooting */
        clock = (until){0, at};
        assert_null(dae_periodic(p, &c, &err));
        assert_int_equal(err.status, DAE_CANCELLED);
        assert_true(clock.asked <= at + 2);
    }
    dae_steady_options y = dae_steady_options_default(p);
    y.settle = 20;
    y.simulation = s;
    clock = (until){0, 20};
    assert_null(dae_steady(p, &y, &err));
    assert_int_equal(err.status, DAE_CANCELLED);
    dae_branch_options b = dae_branch_options_default(p);
    b.steady = y;
    clock = (until){0, 20};
    dae_branch *branch = dae_continue(p, "B", &b, &err);
    assert_non_null(branch);
    assert_int_equal(branch->status, DAE_CANCELLED);
    assert_int_equal(branch->count, 0);
    dae_branch_destroy(branch);

    dae_run_options o = dae_run_options_default(p);
    o.sensitivity = name;
    o.nsensitivity = 2;
    o.options = s.options;
    clock = (until){0, 1l << 40};
    dae_run_result *r = dae_run(p, &o, &err);
    assert_int_equal(r->status, DAE_OK);
    long both = clock.asked;
    dae_run_destroy(r);
    clock = (until){0, both - 5}; /* in the second run: the first is kept */
    r = dae_run(p, &o, &err);
    assert_int_equal(r->status, DAE_CANCELLED);
    assert_near(r->last.t, 50, 0);
    assert_int_equal(r->nsensitivity, 0);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_keeps_its_best),
        cmocka_unit_test(profiles_end_too),
        cmocka_unit_test(starts_that_did_not_begin_do_not),
        cmocka_unit_test(shooting_ends_too),
        cmocka_unit_test(a_design_keeps_its_best),
        cmocka_unit_test(others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
