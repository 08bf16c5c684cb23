/* Gradients: the discrete adjoint against numbers from independent computations and against forward sensitivities. */
#include <daedalus/daedalus.h>

#include "sensitivity/numbers.h"
#include "test.h"

static dae_problem *opened(const char *what)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(what, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* y3 */
static int third(double t, const double *y, double *value, double *dy, void *user)
{
    (void)t;
    (void)user;
    *value = y[2];
    dy[0] = dy[1] = 0;
    dy[2] = 1;
    return 0;
}

/* The integral of y3 of Robertson's reaction, by every family. */
static void integral(void **state)
{
    static const char *const method[] = {"rodas5p", "rodas4p2", "rodas5", "radau5", "radau"};
    static const char *const name[] = {"k1", "k2", "k3"};
    (void)state;
    dae_problem *p = opened(robertson_ode);
    for (size_t m = 0; m < 5; m++) {
        for (int k = 0; k < 3; k++) {
            dae_error err = {0};
            dae_gradient_options o = dae_gradient_options_default(p);
            dae_functional G = {.running = third};
            double value, gradient[3], worst;
            o.simulation.options.method = method[m];
            o.simulation.options.rtol = 1e-9;
            o.simulation.options.atol = 1e-14;
            o.simulation.t_end = robertson_times[k];
            o.mode = "adjoint";
            if (dae_gradient(p, &o, &G, name, 3, &value, gradient, NULL, &err) < 0)
                fail_msg("%s: %s", method[m], err.text);
            worst = fabs(value / robertson_G[k][0] - 1);
            for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(gradient[j] / robertson_G[k][1 + j] - 1));
            if (getenv("SHOW")) printf("integral %-9s t = %g: %.2e\n", method[m], robertson_times[k], worst);
            assert_true(worst < 1e-6);
        }
    }
    dae_problem_destroy(p);
}

/* sum of w_i y_i, w_i = 1 + 1/(i+1) over the size of y_i at the start or 1 */
typedef struct weights {
    int n;
} weights;

static int weighted(double t, const double *y, double *value, double *dy, void *user)
{
    const weights *w = user;
    (void)t;
    *value = 0;
    for (int i = 0; i < w->n; i++) {
        dy[i] = 1 + 1.0 / (i + 1);
        *value += dy[i] * y[i];
    }
    return 0;
}

/* Forward and adjoint gradients of a weighted sum at the end; setting: of the form, or NULL. */
static void compare_with(const dae_setting *setting, const char *what, const char *method, const char *form,
                         double t_end, double rtol, double atol, const char *const *name, int count,
                         double tolerance)
{
    dae_problem *p = opened(what);
    weights w = {dae_system_size(&p->system)};
    dae_functional G = {.end = weighted, .user = &w};
    dae_gradient_options o = dae_gradient_options_default(p);
    double value[2], gradient[2][16], largest = 0, worst = 0;
    o.simulation.options.method = method;
    if (form) o.simulation.options.formulation = form;
    o.simulation.options.setting = setting;
    o.simulation.options.nsetting = setting != NULL;
    o.simulation.options.rtol = rtol;
    o.simulation.options.atol = atol;
    if (t_end > 0) o.simulation.t_end = t_end;
    for (int k = 0; k < 2; k++) {
        dae_error err = {0};
        o.mode = k ? "adjoint" : "forward";
        if (dae_gradient(p, &o, &G, name, count, &value[k], gradient[k], NULL, &err) < 0)
            fail_msg("%s %s %s: %s", what, method, o.mode, err.text);
    }
    for (int j = 0; j < count; j++) largest = fmax(largest, fabs(gradient[0][j]));
    for (int j = 0; j < count; j++)
        worst =
            fmax(worst, fabs(gradient[1][j] - gradient[0][j]) / fmax(fabs(gradient[0][j]), 1e-6 * largest));
    if (getenv("SHOW"))
        printf("%-32.32s %-8s %.2e  %.6g %.6g\n", what, method, worst, gradient[0][0], gradient[1][0]);
    if (!getenv("SHOW")) assert_true(worst < tolerance);
    dae_problem_destroy(p);
}

static void compare(const char *what, const char *method, const char *form, double t_end, double rtol,
                    double atol, const char *const *name, int count, double tolerance)
{
    compare_with(NULL, what, method, form, t_end, rtol, atol, name, count, tolerance);
}

static void problems(void **state)
{
    static const char *const k[] = {"k1", "k2", "k3"}, *const first[] = {"y1(0)", "y2(0)"},
                             *const mu[] = {"mu"};
    (void)state;
    compare("rober", "rodas5p", NULL, 40, 1e-10, 1e-15, k, 3, 1e-8);
    compare("rober", "radau5", NULL, 40, 1e-10, 1e-15, k, 3, 1e-8);
    compare("hires", "rodas5p", NULL, 10, 1e-10, 1e-13, first, 2, 1e-8);
    compare("vdpol-mu", "rodas5p", NULL, 0.5, 1e-10, 1e-12, mu, 1, 1e-8);
    compare("vdpol-mu", "radau5", NULL, 0.5, 1e-10, 1e-12, mu, 1, 1e-8);
    compare("orego", "rodas5p", NULL, 5, 1e-10, 1e-12, first, 2, 1e-8);
    compare("plei", "dop853", NULL, 1, 1e-11, 1e-12, first, 2, 1e-8);
    compare("pollu", "rodas5p", NULL, 10, 1e-10, 1e-13, first, 2, 1e-8);
    compare("e5", "rodas5p", NULL, 10, 1e-10, 1e-20, first, 1, 1e-8);
    compare("chemakzo", "radau5", NULL, 20, 1e-10, 1e-13, first, 2, 1e-8);
    compare("transamp", "radau5", NULL, 0.01, 1e-10, 1e-12, first, 1, 1e-8);
    compare("vdpol-eps", "rodas5p", NULL, 0.2, 1e-10, 1e-12, first, 2, 1e-8);
    compare(robertson_dae, "rodas5p", NULL, 40, 1e-10, 1e-15, k, 3, 1e-8);
    compare(robertson_dae, "radau5", NULL, 40, 1e-10, 1e-15, k, 3, 1e-8);
}

/* Mechanisms in joint coordinates, closed loops (four_bar, rssp, peaucellier) too, and in chosen states. */
static void mechanisms(void **state)
{
    static const char *const L[] = {"L"}, *const a[] = {"a", "b"}, *const l[] = {"L1", "L2"},
                             *const m[] = {"m", "k", "c"}, *const peaucellier[] = {"c", "L"};
    (void)state;
    compare("models/pendulum.json", "dop853", "joint", 1, 1e-11, 1e-11, L, 1, 1e-8);
    compare("models/pendulum.json", "dop853", "statespace", 1, 1e-11, 1e-11, L, 1, 1e-8);
    compare("models/spring_mass_damper.json", "dop853", "joint", 1, 1e-11, 1e-11, m, 3, 1e-8);
    compare("models/four_bar.json", "dop853", "joint", 0.3, 1e-11, 1e-11, a, 2, 1e-8);
    compare("models/peaucellier.json", "dop853", "joint", 0.2, 1e-11, 1e-11, peaucellier, 2, 1e-8);
    /* its loop is closed to 1e-13 in every step: derivatives of that by differences agree to 5e-7 only */
    const dae_setting drifting = {"project", "0"};
    compare_with(&drifting, "models/rssp.json", "dop853", "joint", 0.3, 1e-11, 1e-11, l, 2, 1e-8);
    compare("models/rssp.json", "dop853", "joint", 0.3, 1e-11, 1e-11, l, 2, 2e-6);
    /* stiff: both are the same in the limit only, 4e-8 at rtol 1e-10 */
    compare("models/stiff_double_pendulum.json", "dop853", "joint", 0.05, 1e-11, 1e-11, l, 1, 1e-8);
    compare("models/newtons_cradle.json", "dop853", "joint", 0.45, 1e-11, 1e-11, L, 1, 1e-8);
}

static void events(void **state)
{
    static const char *const e[] = {"e", "h(0)"}, *const c[] = {"c", "x(0)"}, *const stop[] = {"b", "r", "k"};
    (void)state;
    compare("models/ball.deq", "dop853", NULL, 1.2, 1e-11, 1e-11, e, 2, 1e-8);
    compare("models/ball.deq", "rodas5p", NULL, 1.2, 1e-11, 1e-11, e, 2, 1e-8);
    compare("models/ball.deq", "radau5", NULL, 1.2, 1e-11, 1e-11, e, 2, 1e-8);
    compare("model relay\nparam c = 1.3\nvar x = 1, n = 0\nx' = c*cos(t) - 0.1*x\nn' = x^2\n"
            "when x > 1.5 \"top\"\n    x := x/(1 + c)\nend\nsolve t = 0 .. 9, rtol = 1e-10, atol = 1e-10\n",
            "dop853", NULL, 9, 1e-11, 1e-11, c, 2, 1e-8);
    compare("model wall\nparam b = 0.4, r = 0.7, k = 30\nvar x = 0, v = 3\nx' = v\nv' = -k*x - 0.2*v\n"
            "when x > b \"stop\"\n    v := -r*v\nend\nsolve t = 0 .. 3, rtol = 1e-10, atol = 1e-10\n",
            "dop853", NULL, 3, 1e-11, 1e-11, stop, 3, 1e-8);
}

/* Little memory: stretches of the run are repeated, and the gradient is the same to the last bit. */
static void memory(void **state)
{
    static const char *const method[] = {"rodas5p", "radau5", "dopri5"}, *const name[] = {"y1(0)", "y2(0)",
                                                                                          "y3(0)"};
    (void)state;
    dae_problem *p = opened("plei");
    weights w = {dae_system_size(&p->system)};
    dae_functional G = {.end = weighted, .user = &w};
    for (int m = 0; m < 3; m++) {
        dae_gradient_options o = dae_gradient_options_default(p);
        dae_gradient_stats stats[2];
        double value[2], gradient[2][3];
        o.simulation.options.method = method[m];
        o.simulation.options.rtol = o.simulation.options.atol = 1e-10;
        o.mode = "adjoint";
        for (int k = 0; k < 2; k++) {
            dae_error err = {0};
            if (dae_gradient(p, &o, &G, name, 3, &value[k], gradient[k], &stats[k], &err) < 0)
                fail_msg("%s: %s", method[m], err.text);
            o.memory = stats[0].memory / 10 * 7;
        }
        if (getenv("SHOW"))
            printf("%-8s %zu %zu bytes, repeated %d\n", method[m], stats[0].memory, stats[1].memory,
                   stats[1].repeated);
        assert_int_equal(stats[0].repeated, 0);
        assert_int_equal(stats[1].repeated, 1);
        assert_true(stats[1].memory < stats[0].memory);
        assert_true(value[0] == value[1]);
        for (int j = 0; j < 3; j++) assert_true(gradient[0][j] == gradient[1][j]);
    }
    dae_error err = {0};
    dae_gradient_options o = dae_gradient_options_default(p);
    double value, gradient[3];
    o.simulation.options.method = "dop853";
    o.mode = "adjoint";
    o.memory = 1000;
    assert_int_equal(dae_gradient(p, &o, &G, name, 3, &value, gradient, NULL, &err), DAE_ERR_MEMORY);
    assert_non_null(strstr(err.text, "are allowed"));
    o.simulation.options.method = "vode";
    assert_int_equal(dae_gradient(p, &o, &G, name, 3, &value, gradient, NULL, &err), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "has no adjoint here"));
    dae_problem_destroy(p);
}

/* Values at times, as a fit has them: forward and adjoint. */
static int square(int k, double t, const double *y, double *value, double *dy, void *user)
{
    (void)t;
    (void)user;
    double r = y[0] - 0.1 * k;
    *value = r * r;
    dy[0] = 2 * r;
    dy[1] = dy[2] = 0;
    return 0;
}

static void data(void **state)
{
    static const char *const name[] = {"k1", "k2", "k3"};
    (void)state;
    dae_problem *p = opened(robertson_ode);
    dae_functional G = {.at = square, .times = robertson_times, .ntimes = 4};
    dae_gradient_options o = dae_gradient_options_default(p);
    double value[2], gradient[2][3];
    o.simulation.options.method = "rodas5p";
    o.simulation.options.rtol = 1e-9;
    o.simulation.options.atol = 1e-14;
    for (int k = 0; k < 2; k++) {
        dae_error err = {0};
        o.mode = k ? "adjoint" : "forward";
        if (dae_gradient(p, &o, &G, name, 3, &value[k], gradient[k], NULL, &err) < 0)
            fail_msg("%s", err.text);
    }
    for (int j = 0; j < 3; j++) { /* exactly: sum of 2 r dy1/dk */
        double exact = 0;
        for (int k = 0; k < 4; k++) exact += 2 * (robertson_y[k][0] - 0.1 * k) * robertson_s[k][3 * j];
        assert_near(gradient[0][j] / exact, 1, 1e-7);
        assert_near(gradient[1][j] / exact, 1, 1e-6);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(integral),   cmocka_unit_test(problems),
                                       cmocka_unit_test(mechanisms), cmocka_unit_test(events),
                                       cmocka_unit_test(memory),     cmocka_unit_test(data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
