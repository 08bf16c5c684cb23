/* Integrals along runs against closed forms and numbers from independent computations. */
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

/* y' = 0 takes long steps; the formulas are exact for powers of t up to 22. */
static void quadrature_is_exact_for_polynomials(void **state)
{
    (void)state;
    dae_problem *p = opened("model still\nvar y = 1\ny' = 0\nsolve t = 0 .. 1\n");
    for (int k = 0; k <= 22; k++) {
        char text[24];
        const char *g[] = {text};
        double q;
        dae_error err = {0};
        dae_quadrature_options o = dae_quadrature_options_default(p);
        snprintf(text, sizeof text, "(2*t-1)^%d", k);
        o.rtol = 1e300;
        assert_int_equal(dae_quadrature(p, &o, g, 1, NULL, 0, &q, NULL, NULL, &err), DAE_OK);
        assert_true(fabs(q - (k % 2 ? 0 : 1.0 / (k + 1))) < 4e-16);
    }
    dae_problem_destroy(p);
}

/* A peak of t that the steps do not see: 1/(1 + (a (t - c))^2). */
static void quadrature_resolves_what_steps_do_not_see(void **state)
{
    (void)state;
    const char *g[] = {"1/(1 + (1e4*(t - 0.37))^2)", "1"};
    double q[2], error[2], exact = (atan(1e4 * 0.63) + atan(1e4 * 0.37)) / 1e4;
    dae_error err = {0};
    dae_problem *p = opened("model still\nvar y = 1\ny' = 0\nsolve t = 0 .. 1\n");
    dae_quadrature_options o = dae_quadrature_options_default(p);
    o.rtol = 1e-10;
    assert_int_equal(dae_quadrature(p, &o, g, 2, NULL, 0, q, error, NULL, &err), DAE_OK);
    assert_true(fabs(q[0] / exact - 1) < 1e-9);
    assert_true(fabs(q[1] - 1) < 1e-14);
    assert_true(error[0] < 1e-9 * exact);
    dae_problem_destroy(p);
}

/* Integrals of x^2 and t x of x'' = -x, by every method that takes ODEs, also backwards. */
static void quadrature_by_every_method(void **state)
{
    (void)state;
    const char *g[] = {"x^2", "t*x"};
    int tried = 0;
    dae_problem *p = opened("model swing\nvar x = 1, v = 0\nx' = v\nv' = -x\nsolve t = 0 .. 5, rtol = 1e-8, "
                            "atol = 1e-10\n");
    for (int m = 0; m < dae_method_count(); m++) {
        const dae_method_info *info = dae_method_get(m);
        for (int back = 0; back < 2; back++) {
            double times[] = {back ? -1.3 : 1.3, back ? -5 : 5}, q[4];
            dae_error err = {0};
            dae_quadrature_options o = dae_quadrature_options_default(p);
            o.simulation.options.method = info->name;
            o.simulation.t_end = times[1];
            if (!strcmp(info->name, "rkc")) o.simulation.options.rtol = 1e-9;
            dae_status s = dae_quadrature(p, &o, g, 2, times, 2, q, NULL, NULL, &err);
            if (s == DAE_ERR_UNSUPPORTED || s == DAE_ERR_INPUT) continue; /* not for this kind */
            if (s != DAE_OK) fail_msg("%s: %s", info->name, err.text);
            double worst = 0;
            for (int i = 0; i < 2; i++) {
                double T = times[i], a = T / 2 + sin(2 * T) / 4, b = T * sin(T) + cos(T) - 1;
                worst = fmax(worst, fmax(fabs(q[2 * i] - a), fabs(q[2 * i + 1] - b)));
            }
            if (getenv("SHOW")) printf("%-10s %2d %.1e\n", info->name, back, worst);
            if (worst > 5e-6) fail_msg("%s: %g", info->name, worst);
            tried++;
        }
    }
    assert_true(tried >= 30);
    dae_problem_destroy(p);
}

/* The integral of y3 of Robertson's reaction with its derivatives. */
static void quadrature_robertson(void **state)
{
    (void)state;
    static const char *const method[] = {"rodas5p", "radau5", "radau", "vode", "bimd", "gamd", "cvode"};
    static const char *const by[] = {"k1", "k2", "k3"};
    const char *g[] = {"y3", "k1*y1 - k1*y1 + y3"};
    for (size_t m = 0; m < sizeof method / sizeof *method; m++) {
        dae_problem *p = opened(robertson_ode);
        for (int forward = 0; forward < 2; forward++) {
            double q[6], d[18], worst = 0;
            dae_error err = {0};
            dae_quadrature_options o = dae_quadrature_options_default(p);
            o.simulation.options.method = method[m];
            o.simulation.options.rtol = 1e-9;
            o.simulation.options.atol = 1e-14;
            o.simulation.t_end = 40;
            o.by = by;
            o.nby = 3;
            o.mode = forward ? "forward" : "adjoint";
            if (!forward && m > 2) continue;
            dae_status s = dae_quadrature(p, &o, g, 2, robertson_times, forward ? 3 : 0, q, NULL, d, &err);
            if (s != DAE_OK) fail_msg("%s: %s", method[m], err.text);
            for (int k = 0; k < (forward ? 3 : 1); k++) {
                const double *exact = robertson_G[forward ? k : 2];
                for (int i = 0; i < 2; i++) {
                    worst = fmax(worst, fabs(q[2 * k + i] / exact[0] - 1));
                    for (int j = 0; j < 3; j++)
                        worst = fmax(worst, fabs(d[6 * k + 2 * j + i] / exact[1 + j] - 1));
                }
            }
            if (getenv("SHOW")) printf("robertson %-8s %s %.1e\n", method[m], o.mode, worst);
            if (!(worst < 1e-6)) fail_msg("%s %s: %g", method[m], o.mode, worst);
        }
        dae_problem_destroy(p);
    }
}

static const char ball[] = "model ball\nparam e = 0.8\nvar y = 2, v = 0\ny' = v\nv' = -9.81\n"
                           "when y < 0: v := -e*v\nsolve t = 0 .. 2, rtol = 1e-10, atol = 1e-12\n";

/* Integrals of v^2 and of y + t v over two bounces, [0, T]. */
static void ball_integrals(double complex H, double complex e, double T, double complex out[2])
{
    double complex g = 9.81, t = csqrt(2 * H / g), at = 0, u = 0, h = H;
    out[0] = out[1] = 0;
    for (int flight = 0; flight < 3; flight++) {
        double complex d = flight == 2 ? T - at : flight ? 2 * u / g : t;
        double complex w = u - g * d;
        out[0] += (u * u * u - w * w * w) / (3 * g);
        /* t v integrated by parts: [t y] - integral of y, so that y + t v leaves t y at the ends */
        out[1] += (at + d) * (h + u * d - g * d * d / 2) - at * h;
        at += d;
        u = -e * (u - g * d);
        h = 0;
    }
}

static void quadrature_through_jumps(void **state)
{
    (void)state;
    static const char *const by[] = {"y(0)", "e"};
    const char *g[] = {"v^2", "y + t*v"};
    double complex exact[2], moved[2][2];
    ball_integrals(2, 0.8, 2, exact);
    ball_integrals(2 + 1e-30 * I, 0.8, 2, moved[0]);
    ball_integrals(2, 0.8 + 1e-30 * I, 2, moved[1]);
    dae_problem *p = opened(ball);
    static const char *const method[] = {"dop853", "radau5", "rodas5p", "vode"};
    for (size_t m = 0; m < 4; m++) {
        for (int forward = 0; forward < 2; forward++) {
            double q[2], d[4], worst = 0;
            dae_error err = {0};
            dae_quadrature_options o = dae_quadrature_options_default(p);
            o.simulation.options.method = method[m];
            o.by = by;
            o.nby = 2;
            o.mode = forward ? "forward" : "adjoint";
            dae_status s = dae_quadrature(p, &o, g, 2, NULL, 0, q, NULL, d, &err);
            if (!forward && !strcmp(method[m], "vode")) { /* it says so, and "auto" goes forward */
                assert_int_equal(s, DAE_ERR_UNSUPPORTED);
                continue;
            }
            if (s != DAE_OK) fail_msg("%s: %s", method[m], err.text);
            for (int k = 0; k < 2; k++) {
                worst = fmax(worst, fabs(q[k] - creal(exact[k])));
                for (int j = 0; j < 2; j++)
                    worst = fmax(worst, fabs(d[k + 2 * j] - 1e30 * cimag(moved[j][k])));
            }
            if (getenv("SHOW")) printf("ball %-8s %s %.1e\n", method[m], o.mode, worst);
            if (!(worst < 1e-6)) fail_msg("%s %s: %g", method[m], o.mode, worst);
        }
    }
    dae_problem_destroy(p);
}

/* A run that an event ends: the end moves. Free fall from H: y = 0 at t* = sqrt(2 H/g), integral of v^2 is g^2 t*^3/3. */
static void quadrature_to_a_terminal_event(void **state)
{
    (void)state;
    static const char *const by[] = {"y(0)"};
    const char *g[] = {"v^2"};
    double q[2], d[2], times[] = {0.1, 2}, t = sqrt(4 / 9.81);
    dae_error err = {0};
    dae_problem *p =
        opened("model fall\nvar y = 2, v = 0\ny' = v\nv' = -9.81\nwhen y < 0: stop\nsolve t = 0 .. "
               "2, rtol = 1e-10, atol = 1e-12\n");
    dae_quadrature_options o = dae_quadrature_options_default(p);
    o.by = by;
    o.nby = 1;
    assert_int_equal(dae_quadrature(p, &o, g, 1, NULL, 0, q, NULL, d, &err), DAE_EVENT);
    assert_true(fabs(q[0] - 9.81 * 9.81 * t * t * t / 3) < 1e-8);
    assert_true(fabs(d[0] - 9.81 * 9.81 * t * t * t / 4) < 1e-7); /* dt/dH = t/(2 H) */
    assert_int_equal(dae_quadrature(p, &o, g, 1, times, 2, q, NULL, d, &err), DAE_EVENT);
    assert_true(fabs(q[0] - 9.81 * 9.81 * 0.001 / 3) < 1e-10);
    assert_true(isnan(q[1]));
    dae_problem_destroy(p);
}

/* The impulse of a bearing is the change of momentum and what the weight gives, in every form; and its derivative by the length. */
static void quadrature_of_reactions(void **state)
{
    (void)state;
    static const char *const run[][2] = {{"dop853", "joint"}, {"radau5", "index2"}, {"dop853", "statespace"},
                                         {"mexx", NULL},      {"phem56", NULL},     {"rodas5p", "index1"},
                                         {"alpha", NULL}};
    const char *g[] = {"pivot.reaction.fy", "pivot.reaction.fx", "rod.omega"};
    static const char *const by[] = {"L"};
    dae_problem *p = opened("models/pendulum.json");
    for (size_t m = 0; m < sizeof run / sizeof *run; m++) {
        double q[3], d[3], y[6], s[6], end = 1.1;
        dae_error err = {0};
        dae_quadrature_options o = dae_quadrature_options_default(p);
        o.simulation.options.method = run[m][0];
        o.simulation.options.formulation = run[m][1];
        o.simulation.t_end = end;
        o.by = by;
        o.nby = 1;
        dae_sensitivity_options so = {.simulation = o.simulation, .mode = "auto"};
        if (!dae_method_find(run[m][0])) continue;
        if (dae_quadrature(p, &o, g, 3, NULL, 0, q, NULL, d, &err) != DAE_OK)
            fail_msg("%s: %s", run[m][0], err.text);
        if (dae_sensitivity_run(p, &so, by, 1, &end, 1, y, s, NULL, &err) < 0) fail_msg("%s", err.text);
        double off = fmax(fabs(q[0] - y[4] - 9.81 * end), fabs(q[1] - y[3])),
               dff = fmax(fabs(d[0] - s[4]), fabs(d[1] - s[3]));
        off = fmax(off, fabs(q[2] - y[2]));
        dff = fmax(dff, fabs(d[2] - s[2]));
        if (getenv("SHOW")) printf("reaction %-8s %-10s %.1e %.1e\n", run[m][0], run[m][1], off, dff);
        if (!(off < 2e-5 && dff < 2e-4)) fail_msg("%s: %g %g", run[m][0], off, dff);
    }
    dae_problem_destroy(p);
}

static int square(double t, const double *y, double *g, void *user)
{
    (void)t;
    g[0] = *(double *)user * y[0] * y[0];
    return 0;
}
static int twice(double t, const double *y, double *dg, void *user)
{
    (void)t;
    dg[0] = *(double *)user * 2 * y[0];
    return 0;
}

static void quadrature_of_functions(void **state)
{
    (void)state;
    static const char *const by[] = {"k"};
    double q, d, factor = 3, k = 0.7, T = 2;
    dae_error err = {0};
    dae_problem *p = opened(
        "model decay\nparam k = 0.7\nvar y = 1\ny' = -k*y\nsolve t = 0 .. 2, rtol = 1e-9, atol = 1e-12\n");
    dae_quadrature_options o = dae_quadrature_options_default(p);
    o.g = square;
    o.dgdy = twice;
    o.user = &factor;
    o.by = by;
    o.nby = 1;
    double exact = factor * (1 - exp(-2 * k * T)) / (2 * k),
           slope = factor * (T * exp(-2 * k * T) / k - (1 - exp(-2 * k * T)) / (2 * k * k));
    for (int m = 0; m < 2; m++) {
        o.mode = m ? "forward" : "adjoint";
        o.simulation.options.method = "dop853";
        if (dae_quadrature(p, &o, NULL, 1, NULL, 0, &q, NULL, &d, &err) != DAE_OK) fail_msg("%s", err.text);
        assert_true(fabs(q - exact) < 1e-8);
        assert_true(fabs(d - slope) < 1e-7);
    }
    o.dgdy = NULL;
    assert_int_equal(dae_quadrature(p, &o, NULL, 1, NULL, 0, &q, NULL, &d, &err), DAE_ERR_INPUT);
    o = dae_quadrature_options_default(p);
    assert_int_equal(dae_quadrature(p, &o, (const char *[]){"y*z"}, 1, NULL, 0, &q, NULL, NULL, &err),
                     DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "\"y*z\", column 3"));
    assert_int_equal(dae_quadrature(p, &o, (const char *[]){"log(-y)"}, 1, NULL, 0, &q, NULL, NULL, &err),
                     DAE_ERR_UNDEFINED);
    assert_non_null(strstr(err.text, "integrand 1 is not finite"));
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quadrature_is_exact_for_polynomials),
        cmocka_unit_test(quadrature_resolves_what_steps_do_not_see),
        cmocka_unit_test(quadrature_by_every_method),
        cmocka_unit_test(quadrature_robertson),
        cmocka_unit_test(quadrature_through_jumps),
        cmocka_unit_test(quadrature_to_a_terminal_event),
        cmocka_unit_test(quadrature_of_reactions),
        cmocka_unit_test(quadrature_of_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
