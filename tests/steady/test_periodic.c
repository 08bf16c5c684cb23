/* Cycles, their periods and Floquet multipliers. */
#include "steady/models.h"

static void is(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance)) fail_msg("%.15g is not %.15g", got, expected);
}

static dae_periodic_result *found(const dae_problem *p, const dae_periodic_options *o)
{
    dae_error err = {0};
    dae_periodic_result *r = dae_periodic(p, o, &err);
    if (!r) fail_msg("%s", err.text);
    if (getenv("SHOW")) {
        printf("T = %.12g, %d iterations, off %.1e:", r->period, r->iterations, r->residual);
        for (int i = 0; i < r->nmultiplier; i++) printf(" (%.10g, %.10g)", r->re[i], r->im[i]);
        printf("\n");
    }
    return r;
}

static const char vdpol[] =
    "model vdpol\nparam mu = 1\nvar x = 2, v = 0\nx' = v\nv' = mu*(1 - x^2)*v - x\nsolve t = 0 .. 30\n";

/* The product of the multipliers is exp of the integral of the divergence (Liouville). */
static void periodic_van_der_pol(void **state)
{
    (void)state;
    static const char *const method[] = {"auto", "dop853", "radau5", "rodas5p", "vode", "mexx"};
    static const char *const g[] = {"mu*(1 - x^2)"};
    dae_problem *p = opened(vdpol);
    for (int m = 0; m < 5; m++) {
        dae_periodic_options o = dae_periodic_options_default(p);
        dae_error err = {0};
        double divergence;
        o.sensitivity.simulation.options.method = method[m];
        dae_periodic_result *r = found(p, &o);
        is(r->period, 6.6632868593231301896, m == 4 ? 1e-6 : 2e-8); /* [HNW] I.16 and 30 digits elsewhere */
        assert_int_equal(r->nmultiplier, 2);
        is(r->re[0], 1, 1e-6);
        dae_problem moved = *p;
        moved.y0 = r->y;
        dae_quadrature_options q = dae_quadrature_options_default(&moved);
        q.simulation.options.method = "dop853";
        q.simulation.options.rtol = 1e-12;
        q.simulation.options.atol = 1e-13;
        q.simulation.t_end = r->period;
        assert_int_equal(dae_quadrature(&moved, &q, g, 1, NULL, 0, &divergence, NULL, NULL, &err), DAE_OK);
        is(r->re[1], exp(divergence), 2e-8);
        assert_int_equal(r->unstable, 0);
        dae_periodic_destroy(r);
    }
    dae_problem_destroy(p);
}

/* r' = r (r^2 - 1): the unit circle, unstable, period 2 pi/w, multiplier exp(2 T). */
static void periodic_unstable(void **state)
{
    (void)state;
    dae_problem *p = opened(
        "model repel\nvar x = 1.0005, y = 0.02\nx' = -2*y + x*(x^2 + y^2 - 1)\ny' = 2*x + y*(x^2 + y^2 - 1)\n"
        "solve t = 0 .. 3.5\n");
    dae_periodic_options o = dae_periodic_options_default(p);
    o.settle = -1;
    o.period = 3;
    dae_periodic_result *r = found(p, &o);
    is(r->period, acos(-1.0), 1e-7);
    is(hypot(r->y[0], r->y[1]), 1, 1e-7);
    is(r->re[0] / exp(2 * r->period), 1, 1e-5);
    is(r->re[1], 1, 1e-5);
    assert_int_equal(r->unstable, 1);
    dae_periodic_destroy(r);
    dae_problem_destroy(p);
}

/* x'' + 2 d x' + x = cos(w t): amplitude 1/sqrt((1-w^2)^2 + 4 d^2 w^2), multipliers exp((-d +- i sqrt(1-d^2)) T). */
static void periodic_forced(void **state)
{
    (void)state;
    double d = 0.1, w = 0.7, T = 2 * acos(-1.0) / w;
    dae_problem *p = opened("model forced\nparam d = 0.1, w = 0.7\nvar x = 0, v = 0\nx' = v\nv' = -2*d*v - x "
                            "+ cos(w*t)\nsolve t = 0 .. 10\n");
    dae_periodic_options o = dae_periodic_options_default(p);
    o.forced = 1;
    o.period = T;
    dae_periodic_result *r = found(p, &o);
    double a = 1 - w * w, b = 2 * d * w;
    is(r->y[0], a / (a * a + b * b), 1e-7);
    is(r->y[1], w * b / (a * a + b * b), 1e-7);
    is(hypot(r->re[0], r->im[0]), exp(-d * T), 1e-7);
    is(r->re[0], exp(-d * T) * cos(sqrt(1 - d * d) * T), 1e-7);
    assert_int_equal(r->unstable, 0);
    dae_periodic_destroy(r);
    dae_problem_destroy(p);
}

/* A ball that is pushed at every bounce, v+ = -e v + c: u = c/(1 - e), T = 2 u/g, multipliers 1 and e. */
static void periodic_with_events(void **state)
{
    (void)state;
    dae_problem *p = opened("model juggled\nparam e = 0.6, c = 2\nvar h = 1, v = 0\nh' = v\nv' = -9.81\nwhen "
                            "h < 0: v := -e*v + c\n"
                            "solve t = 0 .. 30, rtol = 1e-9\n");
    dae_periodic_result *r = found(p, NULL);
    is(r->period, 2 * 5 / 9.81, 1e-7);
    is(r->y[0] * 9.81 + r->y[1] * r->y[1] / 2, 12.5, 1e-5);
    is(r->re[0], 1, 1e-5);
    is(r->re[1], 0.6, 1e-5);
    dae_periodic_destroy(r);
    dae_problem_destroy(p);
}

/* A mechanism with one freedom in three coordinates, driven by a force of its own period: m x'' + c x' + k x = F cos(w t). */
static void periodic_mechanism(void **state)
{
    (void)state;
    static const char *const form[][2] = {{"auto", NULL}, {"dop853", "statespace"}, {"phem56", NULL}};
    double m = 2, k = 200, c = 4, F = 10, w = 8, T = 2 * acos(-1.0) / w, a = k - m * w * w, b = c * w;
    dae_problem *p = opened("{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"shaker\", "
                            "\"dimension\": 2, \"bodies\": [ { \"name\": \"mass\", "
                            "\"mass\": 2, \"inertia\": 0.01, \"r\": [0.5, 0] } ],\n\"points\": [ { \"name\": "
                            "\"wall\", \"body\": \"ground\", \"r\": [0, 0] "
                            "}, { \"name\": \"center\", \"body\": \"mass\", \"r\": [0, 0] } ],\n\"joints\": "
                            "[ { \"name\": \"guide\", \"type\": "
                            "\"prismatic\", \"a\": \"wall\", \"b\": \"center\", \"axis\": [1, 0] } "
                            "],\n\"forces\": [ { \"name\": \"spring\", \"type\": "
                            "\"spring\", \"a\": \"wall\", \"b\": \"center\", \"k\": 200, \"c\": 4, \"l0\": "
                            "0.5 }, { \"name\": \"push\", \"type\": "
                            "\"force\", \"joint\": \"guide\", \"value\": \"10*cos(8*t)\" } ], "
                            "\"simulation\": { \"t1\": 2, \"rtol\": 1e-9, \"atol\": 1e-11 } }\n");
    for (int i = 0; i < 3; i++) {
        dae_periodic_options o = dae_periodic_options_default(p);
        o.forced = 1;
        o.period = T;
        o.sensitivity.simulation.options.method = form[i][0];
        o.sensitivity.simulation.options.formulation = form[i][1];
        dae_periodic_result *r = found(p, &o);
        is(r->y[0], 0.5 + F * a / (a * a + b * b), 1e-6);
        is(r->y[3], w * F * b / (a * a + b * b), 1e-5);
        assert_int_equal(r->nmultiplier, 2);
        is(hypot(r->re[0], r->im[0]), exp(-c / (2 * m) * T), 1e-6);
        dae_periodic_destroy(r);
    }
    dae_problem_destroy(p);
}

static void periodic_messages(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = opened("model decay\nvar x = 1, y = 0\nx' = -x\ny' = -y + x\nsolve t = 0 .. 5\n");
    assert_null(dae_periodic(p, NULL, &err));
    assert_int_equal(err.status, DAE_ERR_CONVERGENCE);
    dae_periodic_options o = dae_periodic_options_default(p);
    o.forced = 1;
    assert_null(dae_periodic(p, &o, &err));
    assert_non_null(strstr(err.text, "needs its period"));
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periodic_van_der_pol), cmocka_unit_test(periodic_unstable),
        cmocka_unit_test(periodic_forced),      cmocka_unit_test(periodic_with_events),
        cmocka_unit_test(periodic_mechanism),   cmocka_unit_test(periodic_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
