/* Gradients: the discrete adjoint against numbers from independent computations and against forward sensitivities. */
#include <daedalus/daedalus.h>

#include "sensitivity/numbers.h"
#include "test.h"

#include <complex.h>

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

/* Forward and adjoint gradients of a weighted sum at the end, and of its integral; setting: of the form, or NULL. */
static void compare_with(const dae_setting *setting, int integral_too, const char *what, const char *method,
                         const char *form, double t_end, double rtol, double atol, const char *const *name,
                         int count, double tolerance)
{
    dae_problem *p = opened(what);
    weights w = {dae_system_size(&p->system)};
    dae_functional G = {.end = weighted, .running = integral_too ? weighted : NULL, .user = &w};
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
    compare_with(NULL, 0, what, method, form, t_end, rtol, atol, name, count, tolerance);
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

/* Parameters in M: those of expressions, those of a problem in C by differences, and one that no combination of rows follows. */
static void masses(void **state)
{
    static const char *const abk[] = {"a", "b", "k"}, *const C[] = {"C1", "C2", "R1"},
                             *const p[] = {"p", "k"};
    static const char coupled[] =
        "model masses\nparam a = 2, b = 0.5, k = 3\nvar x = 1, y = 0.5\na*x' + b*y' = -k*x\n"
        "b*x' + (a + k)*y' = -y + sin(t)\nsolve t = 0 .. 2\n",
                      turning[] =
                          "model turning\nparam p = 0.5, k = 3\nvar x = 1, y\nx' + p*y' = -k*x\nx + y^2 = 2\n"
                          "solve t = 0 .. 1\n";
    (void)state;
    compare_with(NULL, 1, coupled, "radau5", "mass", 0, 1e-11, 1e-12, abk, 3, 1e-8);
    compare_with(NULL, 1, coupled, "rodas5p", "mass", 0, 1e-11, 1e-12, abk, 3, 1e-8);
    compare("transamp", "radau5", NULL, 0.01, 1e-10, 1e-12, C, 3, 1e-8);
    compare("transamp", "rodas5p", NULL, 0.005, 1e-10, 1e-12, C, 3, 1e-8);
    dae_problem *q = opened(turning);
    weights w = {dae_system_size(&q->system)};
    dae_functional G = {.end = weighted, .user = &w};
    dae_gradient_options o = dae_gradient_options_default(q);
    dae_error err = {0};
    double value, gradient[2];
    o.mode = "adjoint";
    o.simulation.options.method = "radau5";
    o.simulation.options.formulation = "mass";
    assert_int_equal(dae_gradient(q, &o, &G, p, 2, &value, gradient, NULL, &err), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "parameter p changes which derivatives"));
    dae_problem_destroy(q);
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
    /* its loop bends much where it is closed in every step: differences of second order agreed to 5e-7 only */
    const dae_setting drifting = {"project", "0"};
    compare_with(&drifting, 0, "models/rssp.json", "dop853", "joint", 0.3, 1e-11, 1e-11, l, 2, 1e-8);
    compare("models/rssp.json", "dop853", "joint", 0.3, 1e-11, 1e-11, l, 2, 1e-8);
    /* stiff: both are the same in the limit only, 4e-8 at rtol 1e-10 */
    compare("models/stiff_double_pendulum.json", "dop853", "joint", 0.05, 1e-11, 1e-11, l, 1, 1e-8);
    compare("models/newtons_cradle.json", "dop853", "joint", 0.45, 1e-11, 1e-11, L, 1, 1e-8);
    compare_with(NULL, 1, "models/newtons_cradle.json", "dop853", "joint", 0.45, 1e-11, 1e-11, L, 1, 1e-8);
    compare_with(NULL, 1, "models/four_bar.json", "dop853", "joint", 0.3, 1e-11, 1e-11, a, 2, 1e-8);
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
/* A ball on a table that gives way, v+ = -e v- at y = 0: the integral of v^2 + y and y + 2 v at the end, in closed form by a complex
 * step; two bounces lie before the end. */
static double complex bounced(double complex H, double complex e, double complex g, double T, int end)
{
    double complex d = csqrt(2 * H / g), at = 0, u = 0, h = H, sum = 0;
    for (int flight = 0; flight < 3; flight++) {
        if (flight) d = flight == 2 ? T - at : 2 * u / g;
        double complex w = u - g * d, last = h + u * d - g * d * d / 2;
        sum += (u * u * u - w * w * w) / (3 * g) + h * d + u * d * d / 2 - g * d * d * d / 6;
        at += d;
        if (flight == 2) return end ? sum + last + 2 * w : sum;
        u = -e * w;
        h = 0;
    }
    return 0;
}

static int energy_like(double t, const double *y, double *value, double *dy, void *user)
{
    (void)t;
    (void)user;
    *value = y[1] * y[1] + y[0];
    dy[0] = 1;
    dy[1] = 2 * y[1];
    return 0;
}

static int at_the_end(double t, const double *y, double *value, double *dy, void *user)
{
    (void)t;
    (void)user;
    *value = y[0] + 2 * y[1];
    dy[0] = 1;
    dy[1] = 2;
    return 0;
}

static void integrals_through_events(void **state)
{
    static const char *const method[] = {"dop853", "dopri5", "rodas5p", "radau5", "radau", "vern8", "vern9"};
    static const char *const name[] = {"e", "g", "y(0)"};
    /* the second has an event that never comes */
    static const char *const text[] = {
        "model ball\nparam e = 0.8, g = 9.81\nvar y = 2, v = 0\ny' = v\nv' = -g\n"
        "when y < 0: v := -e*v\nsolve t = 0 .. 2, rtol = 1e-11, atol = 1e-12\n",
        "model ball\nparam e = 0.8, g = 9.81\nvar y = 2, v = 0\ny' = v\nv' = -g\n"
        "when y < 0: v := -e*v\nwhen y < -1: v := 0\nsolve t = 0 .. 2, rtol = 1e-11, atol = 1e-12\n"};
    (void)state;
    for (int k = 0; k < 48; k++) {
        int end = k & 1, back = k >> 1 & 1;
        const char *by = method[k / 4 % 6];
        double value, gradient[3], exact[3];
        dae_error err = {0};
        dae_problem *p = opened(text[k / 24]);
        dae_gradient_options o = dae_gradient_options_default(p);
        dae_functional G = {.running = energy_like, .end = end ? at_the_end : NULL};
        o.simulation.options.method = by;
        o.mode = back ? "adjoint" : "forward";
        if (dae_gradient(p, &o, &G, name, 3, &value, gradient, NULL, &err) < 0)
            fail_msg("%s %s: %s", by, o.mode, err.text);
        exact[0] = 1e30 * cimag(bounced(2, 0.8 + 1e-30 * I, 9.81, 2, end));
        exact[1] = 1e30 * cimag(bounced(2, 0.8, 9.81 + 1e-30 * I, 2, end));
        exact[2] = 1e30 * cimag(bounced(2 + 1e-30 * I, 0.8, 9.81, 2, end));
        double worst = fabs(value / creal(bounced(2, 0.8, 9.81, 2, end)) - 1);
        for (int j = 0; j < 3; j++) worst = fmax(worst, fabs(gradient[j] / exact[j] - 1));
        if (getenv("SHOW")) printf("bounced %-8s %-8s %d %.1e\n", by, o.mode, end, worst);
        assert_true(worst < (back ? 1e-8 : 1e-10)); /* rodas5p has df/dt of the integral by differences */
        dae_problem_destroy(p);
    }
}

/* What a fall brings at the end, which is where an event ends it: t* = sqrt(2 H/g), v = -sqrt(2 g H), and the integral of v^2 + y. */
static int fallen(double t, const double *y, double *value, double *dy, void *user)
{
    (void)user;
    *value = t * y[1] + y[0];
    dy[0] = 1;
    dy[1] = t;
    return 0;
}

static void ends_that_move(void **state)
{
    static const char *const name[] = {"g", "y(0)"};
    double value, gradient[2], H = 2, g = 9.81, t = sqrt(2 * H / g);
    dae_error err = {0};
    dae_problem *p =
        opened("model fall\nparam g = 9.81\nvar y = 2, v = 0\ny' = v\nv' = -g\nwhen y < 0: stop\n"
               "solve t = 0 .. 2, rtol = 1e-11, atol = 1e-12\n");
    dae_functional end = {.end = fallen}, whole = {.running = energy_like};
    (void)state;
    /* t v = -2 H */
    assert_int_equal(dae_gradient(p, NULL, &end, name, 2, &value, gradient, NULL, &err), DAE_OK);
    assert_near(value, -2 * H, 1e-10);
    assert_near(gradient[0], 0, 1e-10);
    assert_near(gradient[1], -2, 1e-9);
    /* g^2 t^3/3 + H t - g t^3/6 = H t (2 g/3 + 2/3) */
    assert_int_equal(dae_gradient(p, NULL, &whole, name, 2, &value, gradient, NULL, &err), DAE_OK);
    assert_near(value, H * t * (2 * g + 2) / 3, 1e-10);
    assert_near(gradient[0], H * t * (2.0 / 3 - (g + 1) / (3 * g)), 1e-9);
    assert_near(gradient[1], t * (g + 1), 1e-9); /* H t is H^(3/2) */
    double late = 1.5;
    dae_functional point = {.at = NULL, .times = &late, .ntimes = 1};
    assert_int_equal(dae_gradient(p, NULL, &point, name, 2, &value, gradient, NULL, &err), DAE_ERR_EVENT);
    assert_non_null(strstr(err.text, "before t = 1.5"));
    dae_problem_destroy(p);
}

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(integral),
                                       cmocka_unit_test(problems),
                                       cmocka_unit_test(masses),
                                       cmocka_unit_test(mechanisms),
                                       cmocka_unit_test(events),
                                       cmocka_unit_test(integrals_through_events),
                                       cmocka_unit_test(ends_that_move),
                                       cmocka_unit_test(memory),
                                       cmocka_unit_test(data)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
