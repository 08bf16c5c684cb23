/* Mechanisms as a user builds them, by every method of order 3 and more that takes them, at 1e-8: within 1e-6 times the measured
 * conditioning of a reference on which two independent ways agree, joint coordinates by dop853 and the descriptor form by mexx,
 * both at 1e-12. */
#include "mechanics.h"

#include <math.h>

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

static void by_every_method(const char *text, int switches)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open_text(text, strlen(text), "model.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    int n = dae_system_size(&p->system);
    double right[64], other[64], y[64], moved[64], conditioning = 1;
    dae_stats stats = {0};
    assert_true(n <= 64);
    if (solve(p, "dop853", "joint", 1e-12, p->y0, right, &stats, &err) < 0) fail_msg("%s", err.text);
    assert_true(stats.switches >= switches);
    if (solve(p, "mexx", NULL, 1e-12, p->y0, other, NULL, &err) < 0) fail_msg("%s", err.text);
    /* Errors that enter on the way: all velocities faster by 1e-6, which the joints allow, at four times. */
    for (int k = 0; k < 4; k++) {
        dae_problem first = *p, rest = *p;
        first.t_end = rest.t0 = p->t0 + (p->t_end - p->t0) * (k + 0.5) / 5;
        if (solve(&first, "dop853", NULL, 1e-12, p->y0, moved, NULL, &err) < 0) fail_msg("%s", err.text);
        for (int i = 0; i < p->system.mech.nv; i++) moved[p->system.mech.np + i] *= 1 + 1e-6;
        if (solve(&rest, "dop853", NULL, 1e-12, moved, y, NULL, &err) < 0) fail_msg("%s", err.text);
        conditioning += distance(n, y, right) / 1e-6;
    }
    double apart = distance(n, other, right);
    if (!(apart < 1e-8 * conditioning))
        fail_msg("two ways are %.2e apart, conditioning %.3g", apart, conditioning);
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (m->order_max < 3 || !dae_formulation_choose(m->name)) continue;
        if (solve(p, m->name, NULL, 1e-8, p->y0, y, NULL, &err) < 0)
            fail_msg("%s: %s: %s", p->info->name, m->name, err.text);
        double e = distance(n, y, right);
        if (!(e < 1e-6 * conditioning))
            fail_msg("%s: %s is %.2e off, conditioning %.3g", p->info->name, m->name, e, conditioning);
    }
    dae_problem_destroy(p);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gyro_in_gimbals),
        cmocka_unit_test(cart_with_a_limited_force),
        cmocka_unit_test(governor_with_a_stop),
        cmocka_unit_test(leg_on_the_floor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
