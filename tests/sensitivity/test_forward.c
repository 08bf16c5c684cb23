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

/* Largest relative error of the nine derivatives up to t = 400 (up to 40 where `times` is 3), rtol 1e-8. In columns y2, which is 3e-6 there, has an
 * atol of its own: with 1e-12 its relative tolerance would be 3e-7. */
static double robertson_error(const char *text, const char *method, const char *mode, int times)
{
    static const char *const name[] = {"k1", "k2", "k3"};
    dae_error err = {0};
    dae_problem *p = open_text(text);
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    static const double atol[] = {1e-12, 1e-14, 1e-12};
    double y[12], s[36], worst = 0;
    o.simulation.options.method = method;
    if (!strcmp(mode, "columns")) o.simulation.options.atol_vec = atol;
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
    dae_stats stats;
    double y[2][6], s[2][6], worst = 0;
    static const int at[] = {0, 1, 3, 4};
    o.simulation.options.method = method;
    o.simulation.options.formulation = form;
    o.mode = mode;
    if (dae_sensitivity_run(p, &o, name, 1, times, 2, y[0], s[0], &stats, &err) < 0)
        fail_msg("%s/%s: %s", method, form, err.text);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++) assert_near(y[k][at[i]], pendulum_y[k][i], tolerance);
        for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(s[k][at[i]] - pendulum_s[k][i]));
    }
    if (getenv("SHOW")) printf("%-8s %-10s %-8s %.2e  %ld charts\n", method, form, mode, worst, stats.charts);
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

static void ball_by(const char *method, const char *mode)
{
    static const char *const name[] = {"h(0)", "e"};
    dae_error err = {0};
    dae_problem *p = open_text("model ball\n"
                               "param g = 9.81, e = 0.8\n"
                               "var h = 2, v = 0\n"
                               "h' = v\n"
                               "v' = -g\n"
                               "when h < 0 \"bounce\"\n"
                               "    v := -e*v\n"
                               "end\n"
                               "solve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n");
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    double t = 2, y[2], s[4], worst = 0;
    o.simulation.options.method = method;
    o.mode = mode;
    if (dae_sensitivity_run(p, &o, name, 2, &t, 1, y, s, NULL, &err) < 0)
        fail_msg("%s: %s", method, err.text);
    for (int i = 0; i < 2; i++) {
        assert_near(y[i], ball_y[i], 1e-8);
        worst = fmax(worst, fmax(fabs(s[i] / ball_H[i] - 1), fabs(s[2 + i] / ball_e[i] - 1)));
    }
    if (getenv("SHOW")) printf("ball %-8s %-8s %.2e\n", method, mode, worst);
    assert_true(worst < (method_is_multistep(method) ? 5e-8 : strcmp(mode, "columns") ? 2e-8 : 2e-9));
    dae_problem_destroy(p);
}

/* x = w t meets a, a + 1, a + 2, ...: event k is at (a + k)/w, d/dw = -(a + k)/w^2, d/da = 1/w. There are more than the first rooms for
 * them hold. */
static void every_event_has_its_derivative(void **state)
{
    static const char *const name[] = {"w", "a"}, *const mode[] = {"abreast", "columns"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        dae_error err = {0};
        dae_problem *p = open_text("param w = 2, a = 0.5\nvar x = 0\ndiscrete n = 0\nx' = w\n"
                                   "when x > a + n: n := n + 1\nsolve t = 0 .. 20.5\n");
        dae_sensitivity_options o = dae_sensitivity_options_default(p);
        int count = 0;
        const double *dt;
        o.simulation.options.method = "dopri5";
        o.mode = mode[m];
        dae_sensitivity *s = dae_sensitivity_open(p, &o, name, 2, &err);
        if (!s || dae_sensitivity_start(s, &err) < 0 || dae_sensitivity_advance(s, 20.5, &err) < 0)
            fail_msg("%s: %s", mode[m], err.text);
        const dae_event_record *event = dae_sensitivity_events(s, &dt, &count);
        assert_int_equal(count, 41);
        for (int k = 0; k < count; k++) {
            assert_near(event[k].t, (0.5 + k) / 2, 1e-12);
            assert_near(dt[2 * k], -(0.5 + k) / 4, 1e-7); /* differences of two neighbors: 1e-9 */
            assert_near(dt[2 * k + 1], 0.5, 1e-7);
        }
        dae_sensitivity_close(s);
        dae_problem_destroy(p);
    }
}

static void ball_abreast(void **state)
{
    static const char *const method[] = {"dopri5", "dop853", "radau5", "rodas5p", "vode",
                                         "lsoda",  "dassl",  "gamd",   "cvode"};
    (void)state;
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) ball_by(method[k], "abreast");
}

static void robertson_columns(void **state)
{
    static const char *const method[] = {"radau5", "radau", "rodas5p",  "rodas4p2", "rodas5",
                                         "lsoda",  "dassl", "mebdfdae", "gamd",     "bimd",
                                         "pside",  "vode",  "seulex",   "rosnys4"};
    (void)state;
    for (size_t k = 0; k < sizeof method / sizeof *method; k++)
        assert_true(robertson_error(robertson_ode, method[k], "columns", 4) < 1e-6);
    assert_true(robertson_error(robertson_dae, "radau5", "columns", 4) < 1e-6);
    assert_true(robertson_error(robertson_dae, "rodas5p", "columns", 4) < 1e-6);
    assert_true(robertson_error(robertson_dae, "dassl", "columns", 4) < 1e-6);
}

/* The correctors of the multistep methods: sensitivities together with y, or after it. Both meet the numbers; without tolerances of their own s
 * is met by the staggered one, which is what vode takes then. Staggered needs as many steps, and evaluates y alone in between. */
static void correctors(void **state)
{
    static const struct {
        const char *text, *method;
    } run[] = {{robertson_ode, "vode"}, {robertson_ode, "dassl"}, {robertson_dae, "dassl"}};
    static const char *const word[] = {"simultaneous", "staggered", "auto"}, *const name[] = {"k1", "k2",
                                                                                              "k3"};
    static const double atol[] = {1e-12, 1e-14, 1e-12};
    (void)state;
    for (size_t k = 0; k < 2 * sizeof run / sizeof *run; k++) {
        const char *method = run[k / 2].method;
        dae_stats stats[3];
        int loose = k % 2;
        for (int c = 0; c < 3; c++) {
            dae_error err = {0};
            dae_problem *p = open_text(run[k / 2].text);
            dae_sensitivity_options o = dae_sensitivity_options_default(p);
            dae_setting setting = {"corrector", word[c]};
            double y[12], s[36], worst = 0;
            o.simulation.options.method = method;
            o.simulation.options.atol_vec = atol;
            o.simulation.options.setting = &setting;
            o.simulation.options.nsetting = 1;
            o.mode = "columns";
            o.uncontrolled = loose;
            if (dae_sensitivity_run(p, &o, name, 3, robertson_times, 4, y, s, &stats[c], &err) < 0)
                fail_msg("%s, %s: %s", method, word[c], err.text);
            for (int i = 0; i < 36; i++) worst = fmax(worst, fabs(s[i] / robertson_s[i / 9][i % 9] - 1));
            if (getenv("SHOW"))
                printf("%-6s %-12s uncontrolled %d %.2e steps %ld f %ld newton %ld lu %ld\n", method, word[c],
                       loose, worst, stats[c].accepted, stats[c].f, stats[c].newton, stats[c].lu);
            if (c || !loose) assert_true(worst < (loose ? 2e-6 : 1e-6));
            dae_problem_destroy(p);
        }
        assert_true(stats[1].f > stats[0].f);
        assert_true((double)stats[1].accepted < 1.2 * (double)stats[0].accepted);
        assert_int_equal(stats[2].f, stats[loose && !strcmp(method, "vode")].f);
    }
}

/* One parameter of three equations makes six, one of the sizes that have kernels of their own; those know nothing of blocks, and
 * radau5 took 900 000 steps with them. */
static void columns_of_small_systems_take_few_steps(void **state)
{
    static const char *const method[] = {"radau5", "radau", "rodas5p", "rodas4p2", "rodas5", "seulex",
                                         "vode",   "lsoda", "dassl",   "mebdfdae", "gamd",   "bimd"};
    (void)state;
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        static const char *const name[] = {"k1"};
        dae_error err = {0};
        dae_stats stats;
        dae_problem *p = open_text(robertson_ode);
        dae_sensitivity_options o = dae_sensitivity_options_default(p);
        double y[12], s[12];
        o.simulation.options.method = method[k];
        o.mode = "columns";
        assert_int_equal(dae_sensitivity_run(p, &o, name, 1, robertson_times, 4, y, s, &stats, &err), DAE_OK);
        for (int i = 0; i < 12; i++) assert_near(s[i] / robertson_s[i / 3][i % 3], 1, 1e-6);
        assert_true(stats.steps < 2000);
        dae_problem_destroy(p);
    }
}

/* Robertson's start does not look stiff up to t = 4: auto takes an explicit method, and must not keep it. */
static void auto_goes_on_with_an_implicit_method(void **state)
{
    static const char *const name[] = {"k1", "k2", "k3"};
    dae_error err = {0};
    (void)state;
    for (int count = 1; count <= 3; count += 2) {
        dae_problem *p = dae_problem_open("rober", NULL, 0, &err);
        assert_non_null(p);
        dae_sensitivity_options o = dae_sensitivity_options_default(p);
        o.simulation.t_end = 4;
        dae_sensitivity *s = dae_sensitivity_open(p, &o, name, count, &err);
        assert_non_null(s);
        assert_int_equal(dae_sensitivity_start(s, &err), DAE_OK);
        assert_int_equal(dae_sensitivity_advance(s, 4, &err), DAE_OK);
        assert_true(dae_sensitivity_stats(s).steps < 5000);
        assert_string_equal(dae_sensitivity_choice(s, NULL).method, "radau5");
        assert_near(dae_sensitivity_values(s)[0] / robertson_s[1][0], 1,
                    1e-5); /* dy1/dk1; k1 is the first in both */
        dae_sensitivity_close(s);
        dae_problem_destroy(p);
    }
}

static void ball_columns(void **state)
{
    static const char *const method[] = {"dopri5",  "dop853", "vern8",      "vern9", "bs23",  "radau5",
                                         "rodas5p", "vode",   "vode-adams", "lsoda", "dassl", "gamd"};
    (void)state;
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) ball_by(method[k], "columns");
}

static void pendulum_columns(void **state)
{
    (void)state;
    pendulum_by("dop853", "joint", "columns", 1e-6);
    pendulum_by("dop853", "index1", "columns", 1e-6);
    pendulum_by("radau5", "ggl", "auto", 1e-6);
    /* at the start x, y and the angle are as good as each other: a length a little larger would choose another one */
    pendulum_by("dop853", "statespace", "columns", 1e-7);
    pendulum_by("radau5", "statespace", "columns", 1e-6);
    pendulum_by("dop853", "statespace", "abreast", 1e-6);
}

/* The pendulum typed as equations, with its multiplier, in states that change along the way, and with all derivatives. */
static void typed_pendulum_by(const char *method, const char *form, const char *mode, double tolerance)
{
    static const char *const name[] = {"L"};
    static const double times[] = {1, 2};
    dae_error err = {0};
    dae_stats stats;
    dae_problem *p = open_text("model pendulum\n"
                               "param g = 9.81, L = 1, m = 1\n"
                               "var x = L, y ~ 0, vx = 0, vy = 0, lam\n"
                               "x' = vx\n"
                               "y' = vy\n"
                               "m*vx' = -lam*x\n"
                               "m*vy' = -lam*y - m*g\n"
                               "rod: x^2 + y^2 = L^2\n"
                               "solve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n");
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    double y[2][5], s[2][5], worst = 0;
    o.simulation.options.method = method;
    o.simulation.options.formulation = form;
    o.mode = mode;
    if (dae_sensitivity_run(p, &o, name, 1, times, 2, y[0], s[0], &stats, &err) < 0)
        fail_msg("%s/%s: %s", method, form, err.text);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 5; i++) assert_near(y[k][i], pendulum_y[k][i], tolerance);
        for (int i = 0; i < 5; i++)
            worst = fmax(worst, fabs(s[k][i] - pendulum_s[k][i]) / fabs(pendulum_s[k][i]));
    }
    if (getenv("SHOW"))
        printf("typed %-8s %-10s %-8s %.2e  %ld charts\n", method, form, mode, worst, stats.charts);
    assert_true(worst < tolerance);
    dae_problem_destroy(p);
}

static void typed_pendulum(void **state)
{
    (void)state;
    typed_pendulum_by("dop853", "statespace", "columns", 5e-6);
    typed_pendulum_by("dop853", "statespace", "abreast", 5e-6);
    typed_pendulum_by("radau5", "index1", "auto", 1e-7);
    typed_pendulum_by("phem56", "auto", "auto", 1e-7);
}

/* A rod on a pivot in states that are chosen along the way, against the descriptor form by another method. */
static void check_rod(const char *rod)
{
    static const char *const how[][3] = {{"phem56", "descriptor", "abreast"},
                                         {"dop853", "statespace", "columns"},
                                         {"dop853", "statespace", "abreast"},
                                         {"radau5", "statespace", "columns"},
                                         {"dop853", "joint", "columns"}};
    static const char *const name[] = {"L", "w"};
    double t = 2, y[6], first[12], s[12];
    long charts = 0;
    dae_problem *p = open_text(rod);
    for (int k = 0; k < 5; k++) {
        dae_error err = {0};
        dae_stats stats;
        dae_sensitivity_options o = dae_sensitivity_options_default(p);
        o.simulation.options.method = how[k][0];
        o.simulation.options.formulation = how[k][1];
        o.mode = how[k][2];
        if (dae_sensitivity_run(p, &o, name, 2, &t, 1, y, k ? s : first, &stats, &err) < 0)
            fail_msg("%s", err.text);
        charts += stats.charts;
        for (int i = 0; k && i < 12; i++) assert_near(s[i], first[i], 1e-6 * (1 + fabs(first[i])));
    }
    if (getenv("SHOW")) printf("%ld charts\n", charts);
    dae_problem_destroy(p);
}

#define ROD(arm)                                                                                          \
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"rod\", \"dimension\": 2,"                    \
    " \"parameters\": { \"L\": \"1[m]\", \"w\": 9, \"h\": " arm " }, \"gravity\": [0, \"-9.81[m/s^2]\"]," \
    " \"bodies\": [ { \"name\": \"rod\", \"mass\": 1, \"inertia\": \"L^2/12\", \"r\": [\"h*L\", 0], "     \
    "\"v\": [0, \"w*h*L\"], \"omega\": \"w\" } ],"                                                        \
    " \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"A\", "        \
    "\"body\": "                                                                                          \
    "\"rod\", \"r\": [\"-h*L\", 0] } ],"                                                                  \
    " \"joints\": [ { \"name\": \"pivot\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A\" } ],"       \
    " \"simulation\": { \"t1\": 2, \"rtol\": 1e-10, \"atol\": 1e-10 } }"

/* With the center at the end of the rod y and the angle are as good as each other at the start: a rod that is a little longer begins in
 * another state, whose rate is another one. */
static void rod_in_states(void **state)
{
    (void)state;
    check_rod(ROD("0.5"));
    check_rod(ROD("1"));
}

/* y'' = f(t,y) by Runge-Kutta-Nystroem: positions and velocities of all stand together. x = cos(w t), w = sqrt(k). */
static void oscillator_by_nystroem(void **state)
{
    static const char *const name[] = {"k", "x(0)"};
    dae_error err = {0};
    dae_problem *p = open_text("model osc\nparam k = 4\nvar x = 1, v = 0\nx' = v\nv' = -k*x\n"
                               "solve t = 0 .. 2, rtol = 1e-10, atol = 1e-10\n");
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    double t = 2, w = 2, y[2], s[4];
    (void)state;
    o.simulation.options.method = "rkn8";
    o.mode = "columns";
    if (dae_sensitivity_run(p, &o, name, 2, &t, 1, y, s, NULL, &err) < 0) fail_msg("%s", err.text);
    assert_near(s[0], -t * sin(w * t) / (2 * w), 1e-9);
    assert_near(s[1], -sin(w * t) / (2 * w) - t * cos(w * t) / 2, 1e-9);
    assert_near(s[2], cos(w * t), 1e-9);
    assert_near(s[3], -w * sin(w * t), 1e-9);
    dae_problem_destroy(p);
}

/* Equations with a Jacobian are integrated beside their columns, of whatever kind they are: chemakzo is M y' = f with a singular M. By
 * differences the parameter moves the end as it must. */
static void daes_with_a_jacobian_take_columns(void **state)
{
    static const char *const name[] = {"k1"};
    dae_error err = {0};
    dae_problem *p = dae_problem_create("chemakzo", NULL, 0, &err);
    (void)state;
    assert_non_null(p);
    assert_int_equal(p->system.kind, DAE_KIND_DAE);
    dae_sensitivity_options o = dae_sensitivity_options_default(p);
    o.simulation.options.method = "radau5";
    o.simulation.options.rtol = o.simulation.options.atol = 1e-9;
    const char *mode = "";
    dae_sensitivity *s = dae_sensitivity_open(p, &o, name, 1, &err);
    if (!s) fail_msg("%s", err.text);
    dae_sensitivity_choice(s, &mode);
    assert_string_equal(mode, "columns");
    dae_sensitivity_close(s);
    double y[6], column[6], beside[2][6], t = p->t_end, k1 = p->parameter[dae_parameter_find(p, "k1")];
    o.mode = "columns";
    if (dae_sensitivity_run(p, &o, name, 1, &t, 1, y, column, NULL, &err) < 0) fail_msg("%s", err.text);
    for (int side = 0; side < 2; side++) {
        char value[40];
        snprintf(value, sizeof value, "%.17g", k1 * (side ? 1 + 1e-4 : 1 - 1e-4));
        dae_problem *q = dae_problem_variant(p, &(dae_setting){"k1", value}, 1, &err);
        dae_run_options run = dae_run_options_default(q);
        run.options = o.simulation.options;
        dae_run_result *r = dae_run(q, &run, &err);
        assert_non_null(r);
        assert_int_equal(r->status, DAE_OK);
        memcpy(beside[side], r->last.y, sizeof beside[side]);
        dae_run_destroy(r);
        dae_problem_destroy(q);
    }
    for (int i = 0; i < 6; i++) {
        double difference = (beside[1][i] - beside[0][i]) / (2e-4 * k1);
        assert_near(column[i], difference, 1e-4 * fabs(difference) + 1e-8);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(robertson_abreast),
                                       cmocka_unit_test(pendulum_abreast),
                                       cmocka_unit_test(every_event_has_its_derivative),
                                       cmocka_unit_test(ball_abreast),
                                       cmocka_unit_test(columns_of_small_systems_take_few_steps),
                                       cmocka_unit_test(auto_goes_on_with_an_implicit_method),
                                       cmocka_unit_test(robertson_columns),
                                       cmocka_unit_test(correctors),
                                       cmocka_unit_test(ball_columns),
                                       cmocka_unit_test(pendulum_columns),
                                       cmocka_unit_test(typed_pendulum),
                                       cmocka_unit_test(rod_in_states),
                                       cmocka_unit_test(oscillator_by_nystroem),
                                       cmocka_unit_test(daes_with_a_jacobian_take_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
