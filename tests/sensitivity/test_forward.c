/* Forward sensitivities against numbers from two independent computations each. */
#include <daedalus/daedalus.h>

#include "sensitivity/numbers.h"
#include "test.h"

static dae_problem *open_text(const char *text)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(text, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* Largest relative error of the nine derivatives up to t = 400 (up to 40 where `times` is 3). */
static double robertson_error(const char *text, const char *method, const char *mode, int times)
{
    static const char *const name[] = {"k1", "k2", "k3"};
    dae_error err = {0};
    dae_problem *p = open_text(text);
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    double y[12], s[36], worst = 0;
    o.simulation.options.method = method;
    o.mode = mode;
    dae_stats stats;
    if (dae_sensitivity_run(p, &o, name, 3, robertson_times, times, y, s, &stats, &err) < 0)
        fail_msg("%s: %s", method, err.text);
    for (int k = 0; k < times; k++) {
        for (int i = 0; i < 3; i++) assert_near(y[3 * k + i] / robertson_y[k][i], 1, 1e-5);
        for (int i = 0; i < 9; i++) worst = fmax(worst, fabs(s[9 * k + i] / robertson_s[k][i] - 1));
    }
    if (getenv("SHOW"))
        printf("%-10s %-8s %.2e  steps %ld f %ld lu %ld\n", method, mode, worst, stats.accepted, stats.f,
               stats.lu);
    dae_problem_destroy(p);
    return worst;
}

static int method_is_multistep(const char *name)
{
    const dae_method_info *m = dae_method_find(name);
    assert_non_null(m);
    return m->multistep;
}

static void robertson_abreast(void **state)
{
    static const char *const method[] = {"radau5", "radau", "rodas5p", "rodas4p2", "rodas5",
                                         "seulex", "vode",  "lsoda",   "dassl",    "mebdfdae",
                                         "gamd",   "bimd",  "pside",   "cvode",    "ida"};
    (void)state;
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        double allowed = method_is_multistep(method[k]) ? 5e-4 : 2e-5;
        assert_true(robertson_error(robertson_ode, method[k], "abreast", 4) < allowed);
    }
}

static const char point_pendulum[] =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"pendulum\", \"dimension\": 2,"
    " \"parameters\": { \"L\": \"1[m]\" }, \"gravity\": [0, \"-9.81[m/s^2]\"],"
    " \"bodies\": [ { \"name\": \"bob\", \"mass\": 1, \"inertia\": 0, \"r\": [\"L\", 0] } ],"
    " \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"A\", \"body\": "
    "\"bob\", \"r\": [\"-L\", 0] } ],"
    " \"joints\": [ { \"name\": \"pivot\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A\" } ],"
    " \"simulation\": { \"t1\": 2, \"rtol\": 1e-9, \"atol\": 1e-9 } }";

/* x, y, x', y' and lambda of a pendulum by L. */
static void pendulum_by(const char *method, const char *form, const char *mode, double tolerance)
{
    static const char *const name[] = {"L"};
    static const double times[] = {1, 2};
    dae_error err = {0};
    dae_problem *p = open_text(point_pendulum);
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    double y[2][6], s[2][6], worst = 0;
    static const int at[] = {0, 1, 3, 4};
    o.simulation.options.method = method;
    o.simulation.options.formulation = form;
    o.mode = mode;
    if (dae_sensitivity_run(p, &o, name, 1, times, 2, y[0], s[0], NULL, &err) < 0)
        fail_msg("%s/%s: %s", method, form, err.text);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++) assert_near(y[k][at[i]], pendulum_y[k][i], tolerance);
        for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(s[k][at[i]] - pendulum_s[k][i]));
    }
    if (getenv("SHOW")) printf("%-8s %-10s %-8s %.2e\n", method, form, mode, worst);
    assert_true(worst < tolerance);
    dae_problem_destroy(p);
}

static void pendulum_abreast(void **state)
{
    (void)state;
    pendulum_by("phem56", "descriptor", "abreast", 1e-6);
    pendulum_by("mexx", "descriptor", "abreast", 1e-6);
    pendulum_by("genalpha", "descriptor", "abreast", 1e-2);
    pendulum_by("dop853", "joint", "abreast", 1e-6);
    pendulum_by("dop853", "index1", "abreast", 1e-6);
    pendulum_by("radau5", "ggl", "abreast", 1e-6);
    pendulum_by("radau5", "index2", "abreast", 1e-6);
    pendulum_by("radau5", "index3", "abreast", 2e-4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(robertson_abreast),
                                       cmocka_unit_test(pendulum_abreast)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
