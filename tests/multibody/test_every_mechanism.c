/* Mechanisms as a user builds them, by every method of order 3 and more that takes them, at 1e-8: within 1e-6 times the measured
 * conditioning of a reference on which two independent ways agree, joint coordinates by dop853 and the descriptor form by mexx,
 * both at 1e-12. */
#include "mechanics.h"

#include <math.h>

static int everything; /* 1: all methods on the large ones too, each with its figure */

/* A heavy wheel in two gimbals, given a push: precession with nutation. */
static const char gyro[] =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"gyro\", \"dimension\": 3, \"gravity\": [0, 0, "
    "-9.81],"
    "  \"bodies\": [ { \"name\": \"outer\", \"mass\": 1, \"inertia\": [0.02, 0.02, 0.03], \"r\": [0, 0, 0] },"
    "    { \"name\": \"inner\", \"mass\": 0.6, \"inertia\": [0.01, 0.015, 0.01], \"r\": [0, 0, 0] },"
    "    { \"name\": \"wheel\", \"mass\": 2, \"inertia\": [0.012, 0.02, 0.012], \"r\": [0, 0.05, 0] } ],"
    "  \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0, 0] }, { \"name\": \"A\", "
    "\"body\": \"outer\", \"r\": [0, 0, 0] },"
    "    { \"name\": \"B\", \"body\": \"inner\", \"r\": [0, 0, 0] }, { \"name\": \"C\", \"body\": \"wheel\", "
    "\"r\": [0, -0.05, 0] } ],"
    "  \"joints\": [ { \"name\": \"J1\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A\", \"axis\": [0, "
    "0, 1] },"
    "    { \"name\": \"J2\", \"type\": \"revolute\", \"a\": \"A\", \"b\": \"B\", \"axis\": [1, 0, 0] },"
    "    { \"name\": \"J3\", \"type\": \"revolute\", \"a\": \"B\", \"b\": \"C\", \"axis\": [0, 1, 0] } ],"
    "  \"initial\": { \"joints\": [ { \"joint\": \"J3\", \"speed\": 60 }, { \"joint\": \"J1\", \"speed\": "
    "0.5 } ] },"
    "  \"simulation\": { \"t1\": 1 } }";

/* A cart that balances a pendulum with a force that is limited: a controller that saturates switches. */
static const char cart[] =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"cart\", \"dimension\": 2, \"gravity\": [0, "
    "-9.81],"
    "  \"bodies\": [ { \"name\": \"cart\", \"mass\": 2, \"inertia\": 1, \"r\": [0, 0] },"
    "    { \"name\": \"pole\", \"mass\": 0.5, \"inertia\": 0.02, \"r\": [0.12, 0.485], \"angle\": -0.2425 } "
    "],"
    "  \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"C\", \"body\": "
    "\"cart\", \"r\": [0, 0] },"
    "    { \"name\": \"P\", \"body\": \"pole\", \"r\": [0, -0.5] } ],"
    "  \"joints\": [ { \"name\": \"rail\", \"type\": \"prismatic\", \"a\": \"O\", \"b\": \"C\", \"axis\": "
    "[1, 0] },"
    "    { \"name\": \"pin\", \"type\": \"revolute\", \"a\": \"C\", \"b\": \"P\" } ],"
    "  \"forces\": [ { \"name\": \"drive\", \"type\": \"force\", \"joint\": \"rail\","
    "    \"value\": \"min(max(-60*pole.angle - 12*pole.omega + 4*cart.x + 8*cart.vx, -8), 8)\" } ],"
    "  \"simulation\": { \"t1\": 1.5 } }";

/* Centrifugal governor, one arm: the sleeve is lifted against a spring until it meets its stop. */
static const char governor[] =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"governor\", \"dimension\": 2, \"gravity\": [0, "
    "-9.81],"
    "  \"bodies\": [ { \"name\": \"arm\", \"mass\": 1, \"inertia\": 0.01, \"r\": [0.15, -0.2], \"angle\": "
    "\"atan2(-0.2, 0.15)\" },"
    "    { \"name\": \"link\", \"mass\": 0.2, \"inertia\": 0.003, \"r\": [0.15, -0.6], \"angle\": "
    "\"atan2(-0.4, -0.3)\" },"
    "    { \"name\": \"sleeve\", \"mass\": 0.8, \"inertia\": 0.01, \"r\": [0, -0.8] } ],"
    "  \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"A0\", \"body\": "
    "\"arm\", \"r\": [-0.25, 0] },"
    "    { \"name\": \"A1\", \"body\": \"arm\", \"r\": [0.25, 0] }, { \"name\": \"L0\", \"body\": \"link\", "
    "\"r\": [-0.25, 0] },"
    "    { \"name\": \"L1\", \"body\": \"link\", \"r\": [0.25, 0] }, { \"name\": \"S\", \"body\": "
    "\"sleeve\", \"r\": [0, 0] } ],"
    "  \"joints\": [ { \"name\": \"J1\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A0\" }, { \"name\": "
    "\"J2\", \"type\": \"revolute\", \"a\": \"A1\", \"b\": \"L0\" },"
    "    { \"name\": \"J3\", \"type\": \"revolute\", \"a\": \"L1\", \"b\": \"S\" },"
    "    { \"name\": \"J4\", \"type\": \"prismatic\", \"a\": \"O\", \"b\": \"S\", \"axis\": [0, 1] } ],"
    "  \"forces\": [ { \"name\": \"fling\", \"type\": \"force\", \"b\": \"A1\", \"value\": [\"100*min(t, "
    "1)*(arm.x + 0.15)\", 0] },"
    "    { \"name\": \"top\", \"type\": \"stop\", \"joint\": \"J4\", \"min\": -2, \"max\": -0.7, \"k\": 2e4, "
    "\"c\": 40 } ],"
    "  \"simulation\": { \"t1\": 1.2 } }";

/* A leg that drops on its foot: contact with friction on the floor, a knee with a spring, a law with a table. */
static const char leg[] =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"leg\", \"dimension\": 2, \"gravity\": [0, "
    "-9.81],"
    "  \"bodies\": [ { \"name\": \"thigh\", \"mass\": 3, \"inertia\": 0.05, \"r\": [0.1, 0.8], \"angle\": "
    "\"atan2(-0.2, 0.2)\" },"
    "    { \"name\": \"shank\", \"mass\": 1, \"inertia\": 0.02, \"r\": [0.1, 0.5], \"angle\": \"atan2(-0.4, "
    "-0.2)\" } ],"
    "  \"points\": [ { \"name\": \"floor\", \"body\": \"ground\", \"r\": [0, 0] },"
    "    { \"name\": \"K0\", \"body\": \"thigh\", \"r\": [\"hypot(0.1, 0.1)\", 0] }, { \"name\": \"K1\", "
    "\"body\": \"shank\", \"r\": [\"-hypot(0.1, 0.2)\", 0] },"
    "    { \"name\": \"foot\", \"body\": \"shank\", \"r\": [\"hypot(0.1, 0.2)\", 0] } ],"
    "  \"joints\": [ { \"name\": \"knee\", \"type\": \"revolute\", \"a\": \"K0\", \"b\": \"K1\" } ],"
    "  \"forces\": [ { \"name\": \"sole\", \"type\": \"contact\", \"a\": \"floor\", \"b\": \"foot\", \"k\": "
    "2e4, \"c\": 80, \"mu\": 0.6, \"v_s\": 0.01, \"radius\": 0.03 },"
    "    { \"name\": \"muscle\", \"type\": \"torsion\", \"joint\": \"knee\", \"c\": 1, \"value\": "
    "\"table(angle, -1,-30, -0.2,-20, 0.3,25, 1,60)\" } ],"
    "  \"simulation\": { \"t1\": 0.5 } }";

static dae_status solve(const dae_problem *p, const char *method, const char *form, double tol,
                        const double *y0, double *y, dae_stats *stats, dae_error *err)
{
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.formulation = form;
    opt.rtol = opt.atol = tol;
    memcpy(y, y0, (size_t)dae_system_size(&p->system) * sizeof *y);
    return dae_solve(&p->system, &opt, p->t0, p->t_end, y, stats, err);
}

static double distance(int n, const double *a, const double *b)
{
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]) / fmax(1, fabs(b[i])));
    return worst;
}

/* What an independent answer says at the end: value of component i. */
typedef struct known {
    int i;
    double value;
} known;

#define ALLOWED 100 /* in units of rtol x conditioning */

/* The methods that are asked; NULL: all. */
static void by_methods(dae_problem *p, int switches, const char *const *only, const known *answer,
                       int nanswer)
{
    dae_error err = {0};
    int n = dae_system_size(&p->system), tree = p->system.mech.joint != NULL;
    size_t bytes = (size_t)n * sizeof(double);
    double *right = malloc(bytes), *other = malloc(bytes), *y = malloc(bytes), *moved = malloc(bytes);
    double conditioning = 1;
    dae_stats stats = {0};
    const char *form = tree ? "joint" : "statespace";
    assert_true(right && other && y && moved);
    if (solve(p, "dop853", form, 1e-12, p->y0, right, &stats, &err) < 0) fail_msg("%s", err.text);
    assert_true(stats.switches >= switches);
    if (solve(p, "mexx", NULL, 1e-12, p->y0, other, NULL, &err) < 0) fail_msg("%s", err.text);
    /* Errors that enter on the way: velocities changed by 1e-6 of the largest, or by 1e-6 where all are below 1, along themselves, which the
     * joints allow; at four times. */
    for (int k = 0; k < 4; k++) {
        dae_problem first = *p, rest = *p;
        first.t_end = rest.t0 = p->t0 + (p->t_end - p->t0) * (k + 0.5) / 5;
        if (solve(&first, "dop853", NULL, 1e-12, p->y0, moved, NULL, &err) < 0) fail_msg("%s", err.text);
        double fastest = 0, *v = moved + p->system.mech.np;
        for (int i = 0; i < p->system.mech.nv; i++) fastest = fmax(fastest, fabs(v[i]));
        for (int i = 0; i < p->system.mech.nv; i++) v[i] *= 1 + 1e-6 / fmin(1, fmax(fastest, 1e-3));
        if (solve(&rest, "dop853", NULL, 1e-12, moved, y, NULL, &err) < 0) fail_msg("%s", err.text);
        conditioning += distance(n, y, right) / 1e-6;
    }
    double apart = distance(n, other, right);
    if (!(apart < 1e-8 * conditioning))
        fail_msg("%s: two ways are %.2e apart, conditioning %.3g", p->info->name, apart, conditioning);
    for (int k = 0; k < nanswer; k++) {
        double off = fabs(right[answer[k].i] - answer[k].value);
        if (!(off < 1e-8 * conditioning))
            fail_msg("%s: component %d is %.12g, the answer %.12g", p->info->name, answer[k].i,
                     right[answer[k].i], answer[k].value);
    }
    int beyond = 0;
    for (int i = 0; i < dae_method_count(); i += sanitized_stride) {
        const dae_method_info *m = dae_method_get(i);
        int wanted = !only;
        for (int k = 0; only && only[k]; k++) wanted |= !strcmp(only[k], m->name);
        if (!wanted || m->order_max < 3 || !dae_formulation_choose(m->name)) continue;
        if (solve(p, m->name, NULL, 1e-8, p->y0, y, NULL, &err) < 0)
            fail_msg("%s: %s: %s", p->info->name, m->name, err.text);
        double e = distance(n, y, right);
        if (everything)
            printf("%-16s %-12s %8.2f, conditioning %.3g\n", p->info->name, m->name,
                   e / (1e-8 * conditioning), conditioning);
        fflush(stdout);
        if (e < ALLOWED * 1e-8 * conditioning) continue;
        print_error("%s: %s is %.2e off, conditioning %.3g\n", p->info->name, m->name, e, conditioning);
        beyond++;
    }
    assert_int_equal(beyond, 0);
    free(right);
    free(other);
    free(y);
    free(moved);
    dae_problem_destroy(p);
}

static void by_every_method(const char *text, int switches)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open_text(text, strlen(text), "model.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    by_methods(p, switches, NULL, NULL, 0);
}

static dae_problem *from_file(const char *name)
{
    char path[100];
    dae_error err = {0};
    snprintf(path, sizeof path, "tests/multibody/mechanisms/%s.json", name);
    dae_problem *p = dae_problem_open(path, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* theta'' = factor cos(theta) by the classical method of order 4, 1e5 steps. */
static double swing(double theta, double factor, double t, double *speed)
{
    const int steps = 100000;
    double h = t / steps, v = 0;
    for (int k = 0; k < steps; k++) {
        double k1 = factor * cos(theta), v2 = v + h / 2 * k1, k2 = factor * cos(theta + h / 2 * v);
        double v3 = v + h / 2 * k2, k3 = factor * cos(theta + h / 2 * v2);
        double v4 = v + h * k3, k4 = factor * cos(theta + h * v3);
        theta += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
        v += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    *speed = v;
    return theta;
}

/* With the ring fixed the carrier turns by q, the sun by (1 + R/r_s) q, the planets by (1 - R/r_p) q; torque tau sin(3 t) on the sun:
 *     q = k tau/I (t/3 - sin(3 t)/9),   k = 1 + R/r_s,   I = I_s k^2 + I_c + 3 (m a^2 + I_p (1 - R/r_p)^2). */
static void planetary_gear_turns_as_the_teeth_say(void **state)
{
    (void)state;
    double rs = 0.02, rp = 0.03, R = rs + 2 * rp, a = rs + rp, k = 1 + R / rs, l = 1 - R / rp, t = 2;
    double I = 0.0004 * k * k + 0.002 + 3 * (0.2 * a * a + 0.0001 * l * l);
    double q = k * 0.05 / I * (t / 3 - sin(3 * t) / 9);
    const known answer[] = {{2, q}, {5, k * q}, {8, l * q}, {14, l * q}};
    by_methods(from_file("planetary_gear"), 0, NULL, answer, 4);
}

/* A pendulum of the plate M at L and four legs m: angle phi of the legs from the vertical,
 *     (M + 4 m/3) L phi'' = -(M + 2 m) g sin(phi);   theta = phi - pi/2. */
static void hanging_table_is_a_pendulum(void **state)
{
    (void)state;
    double M = 5, m = 0.9, L = 0.7, pi = 3.14159265358979323846, speed;
    double theta = swing(0.5 - pi / 2, -(M + 2 * m) * 9.81 / ((M + 4 * m / 3) * L), 1.5, &speed),
           phi = theta + pi / 2;
    const known answer[] = {{0, 0.6 + L * sin(phi)}, {2, -L * cos(phi)}, {35, L * cos(phi) * speed}};
    by_methods(from_file("hanging_table"), 0, NULL, answer, 3);
}

static void robot_arm_with_controllers(void **state)
{
    (void)state;
    by_methods(from_file("robot_arm"), 0, NULL, NULL, 0);
}

static void double_wishbone_on_the_road(void **state)
{
    (void)state;
    by_methods(from_file("double_wishbone"), 0, NULL, NULL, 0);
}

static void stewart_platform(void **state)
{
    (void)state;
    by_methods(from_file("stewart"), 0, NULL, NULL, 0);
}

static void quadruped_on_the_ground(void **state)
{
    (void)state;
    by_methods(from_file("quadruped"), 4, NULL, NULL, 0);
}

/* Large ones: the methods that are not for hundreds of unknowns without their sparse algebra are left to the long study. */
static const char *const quick[] = {"dopri5", "dop853", "vern8",  "vern9",    "bs23",       "mexx",  "phem56",
                                    "rkn8",   "rkn12",  "radau5", "rodas4p2", "vode-adams", "dassl", NULL};

/* (41/3 + 40) theta'' = -(41/2 + 40) g cos(theta) */
static void window_of_forty_is_one_four_bar(void **state)
{
    (void)state;
    double speed, pi = 3.14159265358979323846,
                  theta = swing(100 * pi / 180, -(20.5 + 40) * 9.81 / (41.0 / 3 + 40), 0.5, &speed);
    const known answer[] = {{2, theta}, {3 * 40, 40 + 0.5 * cos(theta)}, {3 * 81 + 2, speed}};
    by_methods(from_file("four_bar_window"), 0, everything ? NULL : quick, answer, 3);
}

static void chain_of_two_hundred(void **state)
{
    (void)state;
    static const char *const few[] = {"dopri5", "dop853", "vern8", "vern9", "mexx", NULL};
    by_methods(from_file("chain"), 0, everything ? NULL : few, NULL, 0);
}

static void gyro_in_gimbals(void **state)
{
    (void)state;
    by_every_method(gyro, 0);
}

static void cart_with_a_limited_force(void **state)
{
    (void)state;
    by_every_method(cart, 1);
}

static void governor_with_a_stop(void **state)
{
    (void)state;
    by_every_method(governor, 2);
}

static void leg_on_the_floor(void **state)
{
    (void)state;
    by_every_method(leg, 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gyro_in_gimbals),
        cmocka_unit_test(cart_with_a_limited_force),
        cmocka_unit_test(governor_with_a_stop),
        cmocka_unit_test(leg_on_the_floor),
        cmocka_unit_test(planetary_gear_turns_as_the_teeth_say),
        cmocka_unit_test(hanging_table_is_a_pendulum),
        cmocka_unit_test(robot_arm_with_controllers),
        cmocka_unit_test(double_wishbone_on_the_road),
        cmocka_unit_test(stewart_platform),
        cmocka_unit_test(quadruped_on_the_ground),
        cmocka_unit_test(window_of_forty_is_one_four_bar),
        cmocka_unit_test(chain_of_two_hundred),
    };
    everything = argc > 1; /* "all", and a name of the tests above for that one alone */
    if (argc > 2) cmocka_set_test_filter(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
