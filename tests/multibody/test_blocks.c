/* Blocks: states, controllers, transfer functions and delays against closed forms and against the same equations integrated here;
 * by explicit and implicit methods, whose Jacobians see the blocks; and their mistakes. */
#include "test.h"

#include <daedalus/daedalus.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define HEAD "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":2,"
#define CART                                                                                                 \
    "\"bodies\":[{\"name\":\"c\",\"mass\":2,\"inertia\":1,\"r\":[0,0]}],"                                    \
    "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"C\",\"body\":\"c\",\"r\":"     \
    "[0,0]}],\"joints\":[{\"name\":\"rail\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"C\",\"axis\":[1,0]}]" \
    ","

/* The value of a sensor at the end of a run. */
static double end_of(const char *json, const char *method, const char *form, double t, const char *column)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(json, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = method;
    o.options.formulation = form;
    o.options.rtol = o.options.atol = 1e-10;
    o.t_end = t;
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r) fail_msg("%s", err.text);
    if (r->status != DAE_OK) fail_msg("%s: %s", method, r->error.text);
    dae_table *table = dae_run_table(r, &err);
    int k = dae_table_find(table, column);
    if (k < 0) fail_msg("no column %s", column);
    double x = table->value[(long)k * table->nrow + table->nrow - 1];
    dae_table_destroy(table);
    dae_run_destroy(r);
    dae_problem_destroy(p);
    return x;
}

static const char *const methods[][2] = {
    {"dop853", "index1"}, {"dop853", "joint"}, {"radau5", "ggl"}, {"radau5", "index1"}, {"phem56", NULL}};
enum { nmethod = sizeof methods / sizeof *methods };

/* x' = -2 x + 3 sin 4t, and a chain of two. */
static void states_obey_their_equation(void **state)
{
    (void)state;
    static const char json[] = HEAD CART
        "\"blocks\":[{\"name\":\"a\",\"type\":\"state\",\"initial\":5,\"value\":\"-2*a.value + 3*sin(4*t)\"},"
        "{\"name\":\"b\",\"type\":\"state\",\"value\":\"a.value\"}],"
        "\"sensors\":[{\"name\":\"A\",\"value\":\"a.value\"},{\"name\":\"B\",\"value\":\"b.value\"}],"
        "\"simulation\":{\"t1\":2}}";
    double t = 2, c = 5 + 12.0 / 20, e = exp(-2 * t);
    double a = c * e + (6 * sin(4 * t) - 12 * cos(4 * t)) / 20;
    double b = c * (1 - e) / 2 + (6 * (1 - cos(4 * t)) / 4 - 12 * sin(4 * t) / 4) / 20;
    for (int i = 0; i < nmethod; i++) {
        assert_near(end_of(json, methods[i][0], methods[i][1], t, "A"), a, 1e-8);
        assert_near(end_of(json, methods[i][0], methods[i][1], t, "B"), b, 1e-8);
    }
    assert_near(end_of(json, "dop853", NULL, t, "a.value"), a, 1e-8); /* a component of the state too */
}

/* Step of 1 at t = 0. Second order: 1 - e^(-d t) (cos w t + d/w sin w t), d = 1.5, w^2 = 25 - d^2; lead: 1 + 4 e^(-5t); with s^2
 * above: x of the lag, y = x + 0.5 x' + 0.25 x''. */
static void transfer_functions_answer_a_step(void **state)
{
    (void)state;
    static const char json[] = HEAD CART
        "\"blocks\":["
        "{\"name\":\"lag\",\"type\":\"transfer\",\"value\":\"1\",\"b0\":25,\"a0\":25,\"a1\":3,\"a2\":1},"
        "{\"name\":\"lead\",\"type\":\"transfer\",\"value\":\"1\",\"b1\":1,\"a1\":0.2},"
        "{\"name\":\"both\",\"type\":\"transfer\",\"value\":\"25\",\"b1\":0.5,\"b2\":0.25,\"a0\":25,\"a1\":3,"
        "\"a2\":1}],"
        "\"sensors\":[{\"name\":\"A\",\"value\":\"lag.value\"},{\"name\":\"B\",\"value\":\"lead.value\"},"
        "{\"name\":\"C\",\"value\":\"both.value\"}],\"simulation\":{\"t1\":0.7}}";
    double t = 0.7, d = 1.5, w = sqrt(25 - d * d), e = exp(-d * t);
    double x = 1 - e * (cos(w * t) + d / w * sin(w * t)), v = e * 25 / w * sin(w * t),
           a = 25 - 25 * x - 3 * v;
    for (int i = 0; i < nmethod; i++) {
        assert_near(end_of(json, methods[i][0], methods[i][1], t, "A"), x, 1e-8);
        assert_near(end_of(json, methods[i][0], methods[i][1], t, "B"), 1 + 4 * exp(-5 * t), 1e-8);
        assert_near(end_of(json, methods[i][0], methods[i][1], t, "C"), x + 0.5 * v + 0.25 * a, 1e-7);
    }
}

/* sin 2t through a delay of 0.3: its own motions have died out by t = 6. */
static void delays_delay(void **state)
{
    (void)state;
    static const char json[] = HEAD CART
        "\"blocks\":[{\"name\":\"d\",\"type\":\"delay\",\"time\":\"300[ms]\",\"value\":\"sin(2*t)\"}],"
        "\"sensors\":[{\"name\":\"A\",\"value\":\"d.value\"}],\"simulation\":{\"t1\":6}}";
    for (int i = 0; i < nmethod; i++)
        assert_near(end_of(json, methods[i][0], methods[i][1], 6, "A"), sin(2 * 5.7), 1e-8);
}

/* The cart under a filtered PID controller: 2 x'' = kp e + ki I + kd (e - D)/T, e = 1 - x. */
static void rate(const double *z, double *dz)
{
    double e = 1 - z[0];
    dz[0] = z[1];
    dz[1] = (30 * e + 20 * z[2] + 8 * (e - z[3]) / 0.05) / 2;
    dz[2] = e;
    dz[3] = (e - z[3]) / 0.05;
}

static void a_controller_closes_its_loop(void **state)
{
    (void)state;
    static const char json[] = HEAD CART
        "\"blocks\":[{\"name\":\"K\",\"type\":\"pid\",\"value\":\"1 - "
        "c.x/1[m]\",\"kp\":30,\"ki\":20,\"kd\":8,"
        "\"filter\":\"50[ms]\"}],"
        "\"forces\":[{\"name\":\"F\",\"type\":\"force\",\"joint\":\"rail\",\"value\":\"K.value*1[N]\"}],"
        "\"sensors\":[{\"name\":\"I\",\"value\":\"K.integral\"},{\"name\":\"U\",\"value\":\"K.value\"}],"
        "\"simulation\":{\"t1\":1.5}}";
    double z[4] = {0}, h = 1e-4;
    for (int n = 0; n < 15000; n++) { /* the classical Runge-Kutta method */
        double k[4][4], y[4];
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < 4; i++)
                y[i] = z[i] + (s == 0 ? 0 : s == 3 ? h : h / 2) * (s ? k[s - 1][i] : 0);
            rate(y, k[s]);
        }
        for (int i = 0; i < 4; i++) z[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
    double e = 1 - z[0], u = 30 * e + 20 * z[2] + 8 * (e - z[3]) / 0.05;
    for (int i = 0; i < nmethod; i++) {
        assert_near(end_of(json, methods[i][0], methods[i][1], 1.5, "c.x"), z[0], 1e-7);
        assert_near(end_of(json, methods[i][0], methods[i][1], 1.5, "I"), z[2], 1e-7);
        assert_near(end_of(json, methods[i][0], methods[i][1], 1.5, "U"), u, 1e-5);
    }
}

/* A digital controller: 2 x'' = u, u = -6 x(kT) - 5 v(kT) with T = 0.1 from x = 1; between samples the force is constant, so that
 * x and v are exact polynomials. The hold of t itself is T floor(t/T). */
static void samples_are_held(void **state)
{
    (void)state;
    static const char json[] =
        HEAD "\"bodies\":[{\"name\":\"c\",\"mass\":2,\"inertia\":1,\"r\":[1,0]}],"
             "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"C\",\"body\":\"c\","
             "\"r\":[0,0]}],"
             "\"joints\":[{\"name\":\"rail\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"C\",\"axis\":[1,0]}],"
             "\"blocks\":[{\"name\":\"u\",\"type\":\"sampled\",\"period\":0.1,\"value\":\"-6*c.x - 5*c.vx\"},"
             "{\"name\":\"w\",\"type\":\"sampled\",\"period\":\"300[ms]\",\"value\":\"t\"}],"
             "\"forces\":[{\"name\":\"F\",\"type\":\"force\",\"joint\":\"rail\",\"value\":\"u.value\"}],"
             "\"sensors\":[{\"name\":\"U\",\"value\":\"u.value\"},{\"name\":\"W\",\"value\":\"w.value\"}],"
             "\"simulation\":{\"t1\":1.05}}";
    double x = 1, v = 0, a = 0;
    for (int k = 0; k <= 10; k++) {
        double h = k < 10 ? 0.1 : 0.05;
        a = (-6 * x - 5 * v) / 2;
        x += h * v + h * h * a / 2;
        v += h * a;
    }
    for (int i = 0; i < nmethod; i++) {
        assert_near(end_of(json, methods[i][0], methods[i][1], 1.05, "c.x"), x, 1e-8);
        assert_near(end_of(json, methods[i][0], methods[i][1], 1.05, "U"), 2 * a, 1e-7);
        assert_near(end_of(json, methods[i][0], methods[i][1], 1.05, "W"), 0.9, 1e-9);
    }
}

/* A variable stands for its text: m = 2t beside the unit m, n uses it twice; signals and functions of such names are others. */
static void variables_stand_for_their_text(void **state)
{
    (void)state;
    static const char json[] = HEAD CART
        "\"variables\":{\"m\":\"2*t\",\"n\":\"m + m\",\"x\":3,\"sin\":7},"
        "\"blocks\":[{\"name\":\"a\",\"type\":\"state\",\"value\":\"n\"}],"
        "\"sensors\":[{\"name\":\"A\",\"value\":\"2*n - m*x + 1[m]/1[m] + c.x/1[m] + sin(x) + 1e1\"}],"
        "\"simulation\":{\"t1\":1.5}}";
    assert_near(end_of(json, "dop853", NULL, 1.5, "A"), 12.0 - 9 + 1 + sin(3) + 10, 1e-12);
    assert_near(end_of(json, "dop853", NULL, 1.5, "a.value"), 2 * 1.5 * 1.5, 1e-9);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"\"blocks\":[{\"name\":\"C\",\"type\":\"pid\",\"value\":\"c.x\",\"kd\":1}]",
         "blocks[0]: filter: missing"},
        {"\"blocks\":[{\"name\":\"C\",\"type\":\"transfer\",\"value\":\"c.x\"}]", "blocks[0]: a1: missing"},
        {"\"blocks\":[{\"name\":\"C\",\"type\":\"transfer\",\"value\":\"c.x\",\"a1\":1,\"b2\":1}]",
         "blocks[0]: b2: the numerator has a higher order"},
        {"\"blocks\":[{\"name\":\"C\",\"type\":\"delay\",\"value\":\"c.x\",\"time\":0}]",
         "time: must be positive"},
        {"\"variables\":{\"a\":\"a + 1\"},\"sensors\":[{\"name\":\"S\",\"value\":\"a\"}]",
         "unknown name \"a\""},
        {"\"variables\":{\"O\":\"1\",\"bad name\":\"2\"}", "is no name"},
        {"\"parameters\":{\"k\":1},\"variables\":{\"k\":\"1\"}", "is also the name of a parameter"},
        {"\"variables\":{\"e\":\"1\"}", "variables.e: this name has a meaning"},
        {"\"blocks\":[{\"name\":\"C\",\"type\":\"state\"}]", "value: expected one expression"},
        {"\"blocks\":[{\"name\":\"C\",\"type\":\"state\",\"value\":\"c.vxx\"}]", "did you mean \"c.vx\""},
        {"\"blocks\":[{\"name\":\"C\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"C\"}]",
         "it stands in \"forces\""},
        {"\"forces\":[{\"name\":\"F\",\"type\":\"state\",\"value\":\"1\"}]", "it stands in \"blocks\""},
        {"\"blocks\":[{\"name\":\"A\",\"type\":\"pid\",\"value\":\"B.value\",\"kp\":1},{\"name\":\"B\","
         "\"type\":"
         "\"pid\",\"value\":\"c.x\",\"kp\":1}]",
         "declared before"},
        {"\"blocks\":[{\"name\":\"A\",\"type\":\"state\",\"value\":\"1\"}],\"forces\":[{\"name\":\"F\","
         "\"type\":"
         "\"force\",\"joint\":\"rail\",\"value\":\"A.force\"}]",
         "forces[0]"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char json[2000];
        dae_error err = {0};
        snprintf(json, sizeof json, HEAD CART "%s,\"simulation\":{\"t1\":1}}", wrong[i][0]);
        dae_problem *p = dae_problem_open(json, NULL, 0, &err);
        if (p || !strstr(err.text, wrong[i][1]))
            fail_msg("%d: \"%s\" instead of \"%s\"", (int)i, err.text, wrong[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_obey_their_equation),
        cmocka_unit_test(transfer_functions_answer_a_step),
        cmocka_unit_test(delays_delay),
        cmocka_unit_test(a_controller_closes_its_loop),
        cmocka_unit_test(samples_are_held),
        cmocka_unit_test(variables_stand_for_their_text),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
