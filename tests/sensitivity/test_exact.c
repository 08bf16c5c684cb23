/* Derivatives of equation files are exact: against closed forms and derivatives in 50 digits (mpmath), far below the 1e-10 that
 * differences reach. */
#include <daedalus/daedalus.h>

#include "sensitivity/numbers.h"
#include "test.h"

#include <stdio.h>

static dae_problem *open_it(const char *what)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(what, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* dy/dp at the end, and the derived columns' derivatives in c (NULL: not wanted). */
static void derivatives(const dae_problem *p, const char *method, double rtol, double t,
                        const char *const *name, int count, double *s, double *c)
{
    dae_error err = {0};
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    int n = dae_system_size(&p->system);
    o.simulation.options.method = method;
    if (p->system.kind == DAE_KIND_MECH) o.simulation.options.formulation = "joint";
    if (rtol > 0) o.simulation.options.rtol = rtol, o.simulation.options.atol = rtol * p->atol / p->rtol;
    o.simulation.t_end = t;
    dae_sensitivity *x = dae_sensitivity_open(p, &o, name, count, &err);
    if (!x || dae_sensitivity_start(x, &err) < 0 || dae_sensitivity_advance(x, t, &err) < 0)
        fail_msg("%s: %s", method, err.text);
    memcpy(s, dae_sensitivity_values(x), (size_t)(n * count) * sizeof *s);
    if (c) assert_true(dae_sensitivity_columns(x, NULL, c, &err) >= 0);
    dae_sensitivity_close(x);
}

/* y' = g(k): dy/dk at t = 1 is g'(k), whatever the method. */
static void every_function_to_the_last_digits(void **state)
{
    static const struct {
        const char *g;
        double derivative; /* at k = 1.7 */
    } list[] = {{"exp(-k/2)*k^2.5", 1.563172897784992250009958},
                {"sin(k)/(1 + k^2)", -0.255937076701051692314866},
                {"log(k + sqrt(k))*tanh(k/3)", 0.5064099409179582894968755},
                {"atan2(k, 2)^3 + 1/k^4", 0.1504834220476739169124164},
                {"k^k", 3.772531643400378239817148},
                {"(k^2 + 1)^(1/3)*cos(3*k)", 4.541316822067054774624967},
                {"if k > 1 then exp(sin(k^2)) else 0", -4.223791331469451273448731},
                {"hypot(k, 3*k)/asin(k/2)", -1.830727090536213561857697}};
    static const char *const name[] = {"k"}, *const method[] = {"dop853", "radau5", "rodas5p", "vode"};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "model g\nparam k = 1.7\nvar y = 0\ny' = %s\nsolve t = 0 .. 1, rtol = 1e-6\n", list[i].g);
        dae_problem *p = open_it(text);
        for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
            double s;
            derivatives(p, method[k], 0, 1, name, 1, &s, NULL);
            assert_near(s / list[i].derivative, 1, 1e-13);
        }
        dae_problem_destroy(p);
    }
}

/* Parameters in f, in initial values, in parameters made of them, in outputs. */
static void parameters_everywhere(void **state)
{
    static const char *const name[] = {"k", "a", "w"}, *const method[] = {"dop853", "radau", "rodas5p"};
    dae_problem *p = open_it("model decay\n"
                             "param k = 0.7, a = 2, b = 3*a, w = 1.3\n"
                             "var y = a, z = sin(b)\n"
                             "let q = y^2*k + w*z\n"
                             "y' = -k*y\n"
                             "z' = w*cos(w*t)*exp(-k)\n"
                             "solve t = 0 .. 3, rtol = 1e-13, atol = 1e-13\n");
    double k = 0.7, a = 2, w = 1.3, t = 3, y = a * exp(-k * t), z = sin(6) + exp(-k) * sin(w * t);
    double exact[] = {-t * y, -exp(-k) * sin(w * t), exp(-k * t), 3 * cos(6), 0, exp(-k) * t * cos(w * t)};
    double output[] = {y * y + 2 * k * y * exact[0] + w * exact[1], 2 * k * y * exact[2] + w * exact[3],
                       z + w * exact[5]};
    (void)state;
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        double s[6], c[3];
        derivatives(p, method[i], 0, t, name, 3, s, c);
        for (int j = 0; j < 6; j++) assert_near(s[j], exact[j], 2e-13);
        for (int j = 0; j < 3; j++) assert_near(c[j], output[j], 1e-12);
    }
    dae_problem_destroy(p);
}

/* Two bounces: derivatives by the height and the restitution, through the times of the events. */
static void through_events(void **state)
{
    static const char *const name[] = {"H", "e"}, *const method[] = {"dopri5", "dop853", "radau5"};
    dae_problem *p = open_it("model ball\n"
                             "param g = 9.81, e = 0.8, H = 2\n"
                             "var h = H, v = 0\n"
                             "h' = v\n"
                             "v' = -g\n"
                             "when h < 0 \"bounce\"\n"
                             "    v := -e*v\n"
                             "end\n"
                             "solve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n");
    (void)state;
    for (size_t i = 0; i < sizeof method / sizeof *method; i++) {
        double s[4];
        derivatives(p, method[i], 0, 2, name, 2, s, NULL);
        for (int j = 0; j < 2; j++) {
            assert_near(s[j] / ball_H[j], 1, 1e-12);
            assert_near(s[2 + j] / ball_e[j], 1, 1e-12);
        }
    }
    dae_problem_destroy(p);
}

/* y' = 1 up to y = b, then r: y(T) = b + r (T - b), dy/db = 1 - r, dy/dr = T - b. */
static void through_switches(void **state)
{
    static const char *const name[] = {"b", "r"};
    dae_problem *p = open_it("model bend\n"
                             "param b = 0.6, r = 0.25\n"
                             "var y = 0\n"
                             "y' = if y < b then 1 else r\n"
                             "solve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n");
    double s[2];
    (void)state;
    derivatives(p, "dop853", 0, 2, name, 2, s, NULL);
    assert_near(s[0], 0.75, 1e-13);
    assert_near(s[1], 1.4, 1e-12);
    dae_problem_destroy(p);
}

/* What is no symbol of the equations is differentiated by differences: a value 0, a point of a table. */
static void numbers_by_differences(void **state)
{
    static const char *const name[] = {"c", "h"};
    dae_problem *p = open_it("model drift\n"
                             "param c = 0, h = 2\n"
                             "var y = 1\n"
                             "table ramp = [(0, 0), (1, h), (3, h)] linear\n"
                             "y' = c*y + ramp(t)\n"
                             "solve t = 0 .. 3, rtol = 1e-10, atol = 1e-10\n");
    double s[2];
    (void)state;
    derivatives(p, "dop853", 0, 3, name, 2, s, NULL);
    /* y = 1 + h (t^2/2 up to 1, then t - 1/2): dy/dc at c = 0 is the integral of y */
    assert_near(s[0], 3 + 2 * (1.0 / 6 + 0.5 * 2 + 2), 1e-8);
    assert_near(s[1], 2.5, 1e-9);
    dae_problem_destroy(p);
}

/* The same in M: (m + d) v' by d = 0, which no expression knows, is what it is by m, which one does. The mass is in a row of its own, and in
 * one that follows from others. */
static void masses_by_differences(void **state)
{
    static const char *const name[] = {"m", "d"};
    dae_problem *p = open_it("param m = 2, d = 0\n"
                             "var x = 1, v = 0, q = 0.5\n"
                             "x' = v\n"
                             "(m + d)*v' + 0.5*q' = -x\n"
                             "0.5*v' + q' = (m + d)*v - q\n"
                             "solve t = 0 .. 1, rtol = 1e-6, atol = 1e-6\n");
    double s[6];
    (void)state;
    derivatives(p, "radau5", 0, 1, name, 2, s, NULL);
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(s[i]) > 0.01);
        assert_near(s[3 + i], s[i], 1e-6);
    }
    dae_problem_destroy(p);
}

/* Models have no expressions of f: differences of fourth order. m x'' + c x' + k x = 0 in closed form, 40 digits. */
static void models_by_wide_differences(void **state)
{
    static const char *const name[] = {"m", "k", "c"};
    static const double x[] = {-0.053906692887401277331, 0.00038766160604901672128, 0.0075702661412498026015},
                        v[] = {-0.74188608184248065494, 0.008496994676172832096, -0.053906692887401277331};
    dae_problem *p = open_it("models/spring_mass_damper.json");
    double s[18];
    (void)state;
    derivatives(p, "dop853", 1e-12, 1, name, 3, s, NULL);
    for (int j = 0; j < 3; j++) {
        if (getenv("SHOW")) printf("%s %.1e %.1e\n", name[j], s[6 * j] / x[j] - 1, s[6 * j + 3] / v[j] - 1);
        assert_near(s[6 * j] / x[j], 1, 2e-10);
        assert_near(s[6 * j + 3] / v[j], 1, 2e-10);
    }
    dae_problem_destroy(p);
}

/* The files of problems/ are differentiated as the same problems in C are. */
static void files_as_problems(void **state)
{
    static const struct {
        const char *file, *problem;
        double t;
        int count;
        const char *name[10], *other[10];
    } list[] = {{"problems/rober.deq", "rober", 40, 3, {"k1", "k2", "k3"}, {"k1", "k3", "k2"}},
                {"problems/hires.deq",
                 "hires",
                 5,
                 10,
                 {"k1", "k2", "k3", "k4", "k5", "k6", "kplus", "kminus", "kstar", "oks"},
                 {"k1", "k2", "k3", "k4", "k5", "k6", "kplus", "kminus", "kstar", "oks"}},
                {"problems/chemakzo.deq",
                 "chemakzo",
                 20,
                 9,
                 {"k1", "k2", "k3", "k4", "K", "klA", "Ks", "pCO2", "H"},
                 {"k1", "k2", "k3", "k4", "K", "klA", "Ks", "p", "H"}}};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        dae_problem *a = open_it(list[i].file), *b = open_it(list[i].problem);
        double s[80], r[80];
        int n = dae_system_size(&a->system);
        derivatives(a, "radau5", 1e-11, list[i].t, list[i].name, list[i].count, s, NULL);
        derivatives(b, "radau5", 1e-11, list[i].t, list[i].other, list[i].count, r, NULL);
        for (int j = 0; j < list[i].count; j++) {
            double size = 0, off = 0;
            for (int k = 0; k < n; k++) {
                size = fmax(size, fabs(r[k + j * n]));
                off = fmax(off, fabs(s[k + j * n] - r[k + j * n]));
            }
            if (getenv("SHOW")) printf("%s %s %.1e\n", list[i].problem, list[i].name[j], off / size);
            assert_true(off < 1e-7 * size); /* the C problems by differences */
        }
        dae_problem_destroy(a);
        dae_problem_destroy(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_to_the_last_digits),
        cmocka_unit_test(parameters_everywhere),
        cmocka_unit_test(through_events),
        cmocka_unit_test(through_switches),
        cmocka_unit_test(numbers_by_differences),
        cmocka_unit_test(masses_by_differences),
        cmocka_unit_test(files_as_problems),
        cmocka_unit_test(models_by_wide_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
