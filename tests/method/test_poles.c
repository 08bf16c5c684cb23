#include "test.h"

#include <daedalus/daedalus.h>

/* A chemostat with Monod's law: at rest at S = 0.2, X = 2.4, with a pole at S = -0.2. */
static int chemostat(double t, const double *y, double *f, void *user)
{
    double growth = 0.8 * y[0] / (0.2 + y[0]);
    (void)t, (void)user;
    f[0] = 0.4 * (5 - y[0]) - 2 * growth * y[1];
    f[1] = (growth - 0.4) * y[1];
    return 0;
}

static int monod(double t, const double *y, double *q, void *user)
{
    (void)t, (void)user;
    q[0] = 0.2 + y[0];
    return 0;
}

static const char *name(int i, void *user)
{
    (void)i, (void)user;
    return "0.2 + S";
}

/* Explicit methods took steps of half a day, ended at S = -1.7e7 and said OK: dopri5 and rodas4p2 at 3e-2, vern9 at 1e-2; dop853 at 3e-2 at 2.3e7. */
static void steps_do_not_jump_over_a_pole(void **state)
{
    static const char *const methods[] = {"dop853",   "dopri5", "vern8", "vern9", "bs23",
                                          "rodas4p2", "rkc",    "auto",  "vode",  "radau5"};
    long rejected = 0;
    (void)state;
    for (int k = 0; k < 10 * 5; k++) {
        dae_system sys = {.kind = DAE_KIND_ODE,
                          .ode = {.n = 2, .f = chemostat},
                          .poles = {.count = 1, .values = monod, .name = name}};
        dae_options o = dae_options_default();
        dae_error err;
        dae_stats stats;
        double y[] = {5, 0.1};
        o.method = methods[k / 5];
        o.rtol = o.atol = pow(10, -1.5 - 0.5 * (k % 5));
        assert_int_equal(dae_solve(&sys, &o, 0, 48, y, &stats, &err), DAE_OK);
        if (!(fabs(y[0] - 0.2) <= 0.3 && fabs(y[1] - 2.4) <= 0.3))
            fail_msg("%s at %g: %g %g", o.method, o.rtol, y[0], y[1]);
        rejected += stats.undefined;
    }
    assert_true(rejected > 0);
}

static int wave(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = 1;
    f[1] = y[0] == 0 ? 1 : sin(y[0]) / y[0];
    f[2] = y[0] == 0 ? -1.0 / 6 : (sin(y[0]) - y[0]) / (y[0] * y[0] * y[0]);
    return 0;
}

static int first(double t, const double *y, double *q, void *user)
{
    (void)t, (void)user;
    q[0] = y[0];
    q[1] = y[0] * y[0] * y[0];
    return 0;
}

/* sin(x)/x and (sin(x) - x)/x^3 are bounded: the same steps as when nobody knows what they are divided by. */
static void bounded_quotients_are_no_poles(void **state)
{
    static const char *const methods[] = {"dopri5",  "dop853", "vern8", "vern9", "bs23",
                                          "rodas5p", "radau",  "vode",  "seulex"};
    (void)state;
    for (int k = 0; k < 9 * 3; k++) {
        double end[2][3];
        long steps[2];
        for (int with = 0; with < 2; with++) {
            dae_system sys = {.kind = DAE_KIND_ODE,
                              .ode = {.n = 3, .f = wave},
                              .poles = {.count = with ? 2 : 0, .values = first}};
            dae_options o = dae_options_default();
            dae_stats stats;
            double y[] = {-3.1, 0, 0};
            o.method = methods[k / 3];
            o.rtol = o.atol = pow(10, -3 - 3 * (k % 3));
            assert_int_equal(dae_solve(&sys, &o, 0, 7, y, &stats, NULL), DAE_OK);
            memcpy(end[with], y, sizeof y);
            steps[with] = stats.steps;
        }
        assert_int_equal(steps[0], steps[1]);
        assert_memory_equal(end[0], end[1], sizeof end[0]);
    }
}

static int at_one(double t, const double *y, double *f, void *user)
{
    (void)y, (void)user;
    f[0] = 1 / (t - 1);
    return 0;
}

static int before_one(double t, const double *y, double *q, void *user)
{
    (void)y, (void)user;
    q[0] = t - 1;
    return 0;
}

/* A pole that the solution does reach: the run ends there, with variable and with fixed steps. */
static void runs_end_at_a_pole(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!(m->kinds & 1u << DAE_KIND_ODE)) continue;
        dae_system sys = {
            .kind = DAE_KIND_ODE, .ode = {.n = 1, .f = at_one}, .poles = {.count = 1, .values = before_one}};
        dae_options o = dae_options_default();
        dae_error err;
        double y = 0;
        o.method = m->name;
        o.rtol = o.atol = 1e-3;
        dae_status s = dae_solve(&sys, &o, 0, 2, &y, NULL, &err);
        if (s == DAE_ERR_UNSUPPORTED) continue; /* y'' = f(t, y) is wanted */
        if (s >= 0 || !(fabs(err.t - 1) < 1e-2)) fail_msg("%s: status %d at %g", m->name, (int)s, err.t);
    }
    for (int k = 0; k < 2; k++) {
        dae_system sys = {.kind = DAE_KIND_ODE,
                          .ode = {.n = 1, .f = at_one},
                          .poles = {.count = 1, .values = before_one, .name = k ? name : NULL}};
        dae_options o = dae_options_default();
        dae_error err;
        double y = 0;
        o.method = "radau5";
        o.fixed_step = 0.3;
        assert_int_equal(dae_solve(&sys, &o, 0, 2, &y, NULL, &err), DAE_ERR_UNDEFINED);
        assert_non_null(strstr(err.text, k ? "0.2 + S" : "denominator 1"));
    }
}

static void poles_without_a_function_are_refused(void **state)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = at_one}, .poles = {.count = 1}};
    dae_error err;
    (void)state;
    assert_int_equal(dae_system_check(&sys, &err), DAE_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_do_not_jump_over_a_pole),
        cmocka_unit_test(bounded_quotients_are_no_poles),
        cmocka_unit_test(runs_end_at_a_pole),
        cmocka_unit_test(poles_without_a_function_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
