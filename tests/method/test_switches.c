/* Switches: systems that are smooth between borders keep the order of every method across them. */
#include "runs.h"

#include <math.h>

typedef struct run {
    int side[2];
    double g, stiffness, level;
} run;

/* The branch of switch i that is taken where a is the quantity that passes zero. */
static int branch(const run *r, int i, double a)
{
    return r->side[i] == DAE_SIDE_FREE ? (a > 0 ? 1 : -1) : r->side[i];
}

static void border(const int *side, int i, double a, double *margin, int *next)
{
    next[i] = side[i] == DAE_SIDE_FREE ? (a > 0 ? 1 : -1) : -side[i];
    margin[i] = side[i] * a;
}

static dae_system with_switches(int n, dae_rhs *f, dae_switch_fn *values, int count, run *r)
{
    for (int i = 0; i < count; i++) r->side[i] = DAE_SIDE_FREE;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = n, .f = f, .user = r}};
    sys.switches = (dae_switches){.count = count, .values = values, .side = r->side, .user = r};
    return sys;
}

/* ---- A ball on a spring -------------------------------------------------------------------------------- */

static int ball_f(double t, const double *y, double *f, void *user)
{
    const run *r = user;
    (void)t;
    f[0] = y[1];
    f[1] = -r->g - (branch(r, 0, -y[0]) > 0 ? r->stiffness * y[0] : 0);
    return 0;
}

static int ball_values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    (void)t, (void)user;
    border(side, 0, -y[0], margin, next);
    return 0;
}

/* Dropped from height 1: flights of 2 v0/g, contacts of 2 (pi - atan(w v0/g))/w, after which the speed is v0 again. */
static void ball_at(const run *r, double t, double *y)
{
    double v0 = sqrt(2 * r->g), w = sqrt(r->stiffness), fall = v0 / r->g;
    double touch = 2 * (3.14159265358979323846 - atan(w * v0 / r->g)) / w;
    t += fall; /* as if thrown up at v0 */
    t = fmod(t, 2 * fall + touch);
    if (t < 2 * fall) {
        y[0] = v0 * t - r->g / 2 * t * t;
        y[1] = v0 - r->g * t;
        return;
    }
    t -= 2 * fall;
    y[0] = -r->g / (w * w) * (1 - cos(w * t)) - v0 / w * sin(w * t);
    y[1] = -r->g / w * sin(w * t) - v0 * cos(w * t);
}

static void ball_bounces_as_its_formula_says_with_every_method(void **state)
{
    (void)state;
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        if (m->order_max < 3) continue;
        for (double tol = 1e-6; tol > 1e-10; tol /= 1e3) {
            run r = {.g = 9.81, .stiffness = 1e5};
            dae_system sys = with_switches(2, ball_f, ball_values, 1, &r);
            dae_options opt = with_method(m->name, tol);
            sys.structure.second_order = sys.structure.no_velocities = 1;
            double y[2] = {1, 0}, exact[2];
            dae_error err = {0};
            dae_stats stats;
            if (dae_solve(&sys, &opt, 0, 3, y, &stats, &err) < 0) fail_msg("%s: %s", m->name, err.text);
            ball_at(&r, 3, exact);
            /* An error dv in the speed of an impact moves the next by 2 dv/g, so the speed by 2 dv: three bounces.
             * Observed at most: lsoda at 1e-9, 842 and 2040 times the tolerance, radau5 75. */
            double bound = 1000 * tol;
            if (fabs(y[0] - exact[0]) > bound || fabs(y[1] - exact[1]) > 3 * bound)
                fail_msg("%s %g: x off by %.2e, v by %.2e (%ld steps)", m->name, tol, y[0] - exact[0],
                         y[1] - exact[1], stats.accepted);
            assert_int_equal(stats.switches, 6);
        }
    }
}

/* ---- Short touches ------------------------------------------------------------------------------------- */

static int arc_f(double t, const double *y, double *f, void *user)
{
    const run *r = user;
    (void)t;
    f[0] = y[1];
    f[1] = -y[0];
    f[2] = branch(r, 0, y[0] - r->level) > 0;
    return 0;
}

static int arc_values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    (void)t;
    border(side, 0, y[0] - ((const run *)user)->level, margin, next);
    return 0;
}

/* The time that cos t spends above a level close to 1: 1.4e-3 of steps that are a thousand times as long. */
static void short_touch_inside_a_long_step_is_found(void **state)
{
    (void)state;
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        if ((m->order_max < 3) || wants_second_order(m) || !strncmp(m->name, "rkn", 3)) continue;
        run r = {.level = 1 - 1e-6};
        dae_system sys = with_switches(3, arc_f, arc_values, 1, &r);
        dae_options opt = with_method(m->name, 1e-9);
        dae_error err = {0};
        dae_stats stats;
        double y[3] = {0, 1, 0}, half = acos(r.level); /* sin t: above it about pi/2 and 5 pi/2 */
        if (dae_solve(&sys, &opt, 0, 9, y, &stats, &err) < 0) fail_msg("%s: %s", m->name, err.text);
        if (stats.switches != 4) fail_msg("%s: %ld switches", m->name, stats.switches);
        /* d(time above)/d(height) = 1/sin = 707 */
        if (fabs(y[2] - 4 * half) > 707 * 4 * 300e-9) fail_msg("%s: %.9g for %.9g", m->name, y[2], 4 * half);
    }
}

/* ---- Chatter ------------------------------------------------------------------------------------------- */

static int sign_f(double t, const double *y, double *f, void *user)
{
    (void)t;
    f[0] = -branch(user, 0, y[0]);
    return 0;
}

static int sign_values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    (void)t, (void)user;
    border(side, 0, y[0], margin, next);
    return 0;
}

static void chatter_is_told(void **state)
{
    (void)state;
    run r = {0};
    dae_system sys = with_switches(1, sign_f, sign_values, 1, &r);
    dae_options opt = with_method("dopri5", 1e-6);
    dae_error err = {0};
    double y[1] = {1};
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, &err), DAE_ERR_EVENT);
    assert_near(err.t, 1, 1e-9);
    assert_non_null(strstr(err.text, "switched 100 times within"));
    assert_int_equal(r.side[0], DAE_SIDE_FREE); /* as before the run */
}

/* ---- Segments ------------------------------------------------------------------------------------------ */

/* z' = y' floor(y), y = 4.5 sin t: the integral of floor over y, and a start exactly on a border. */
static int floor_f(double t, const double *y, double *f, void *user)
{
    const run *r = user;
    int k = r->side[0] == DAE_SIDE_FREE ? (int)floor(y[0]) : r->side[0];
    (void)t;
    f[0] = 5 * y[1];
    f[1] = -y[0] / 5;
    f[2] = k * 5 * y[1];
    return 0;
}

static int floor_values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    (void)t, (void)user;
    int k = side[0] == DAE_SIDE_FREE ? (int)floor(y[0]) : side[0];
    margin[0] = fmin(y[0] - k, k + 1 - y[0]);
    next[0] = side[0] == DAE_SIDE_FREE ? k : y[0] - k < k + 1 - y[0] ? k - 1 : k + 1;
    return 0;
}

static void segments_are_passed_in_order(void **state)
{
    (void)state;
    const char *method[] = {"dop853", "radau5", "dopri5", "lsoda"};
    for (int k = 0; k < 4; k++) {
        run r = {0};
        dae_system sys = with_switches(3, floor_f, floor_values, 1, &r);
        dae_options opt = with_method(method[k], 1e-9);
        dae_error err = {0};
        dae_stats stats;
        double y[3] = {0, 0.9, 0}, t = 7; /* y = 4.5 sin t */
        if (dae_solve(&sys, &opt, 0, t, y, &stats, &err) < 0) fail_msg("%s: %s", method[k], err.text);
        double x = 4.5 * sin(t), n = floor(x); /* integral of floor from 0 to x */
        assert_near(y[2], n * (n - 1) / 2 + n * (x - n), 1e-6);
        /* up through 1..4, down through 4 .. -4, up through -4 .. 0 and 1, 2 */
        assert_int_equal(stats.switches, 4 + 9 + 5 + 2);
    }
}

/* ---- With output, events, checkpoints --------------------------------------------------------------------- */

static void run_goes_on_from_a_checkpoint_between_switches(void **state)
{
    (void)state;
    run r = {.g = 9.81, .stiffness = 1e5}, again = r;
    dae_system sys = with_switches(2, ball_f, ball_values, 1, &r);
    dae_system other = with_switches(2, ball_f, ball_values, 1, &again);
    dae_options opt = with_method("dopri5", 1e-8);
    dae_error err = {0};
    double y0[2] = {1, 0};
    dae_integrator *it = create(&sys, &opt), *copy = create(&other, &opt);
    start(it, 0, 2, y0);
    start(copy, 0, 2, y0);
    double inside = sqrt(2 / 9.81) + 1e-3; /* in contact */
    assert_int_equal(dae_integrator_advance(it, inside, &err), DAE_OK);
    assert_int_equal(r.side[0], 1);
    size_t size = dae_integrator_save(it, NULL, 0);
    void *buffer = malloc(size);
    dae_integrator_save(it, buffer, size);
    assert_int_equal(dae_integrator_load(copy, buffer, size, &err), DAE_OK);
    assert_int_equal(again.side[0], 1);
    assert_int_equal(dae_integrator_advance(it, 2, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(copy, 2, &err), DAE_OK);
    assert_true(dae_integrator_state(it)[0] == dae_integrator_state(copy)[0]);
    assert_true(dae_integrator_state(it)[1] == dae_integrator_state(copy)[1]);
    free(buffer);
    dae_integrator_destroy(it);
    dae_integrator_destroy(copy);
}

/* ---- At rest on a border ------------------------------------------------------------------------------- */

/* Two bodies that hang on one swinging point each by a spring, the same with other roundings: one rests on the stop of the other without
 * any force, y = (a, a', b, b', point, point'), a - b + (c/k) (a' - b') are rounding errors only. */
static int rest_f(double t, const double *y, double *f, void *user)
{
    const run *r = user;
    (void)t;
    double s = y[0] - y[2], v = y[1] - y[3],
           F = branch(r, 0, s + 0.01 * v) > 0 ? r->stiffness * s + 0.01 * r->stiffness * v : 0;
    f[0] = y[1];
    f[1] = -30 * (y[0] - y[4]) - F;
    f[2] = y[3];
    f[3] = -10 * (y[2] - y[4]) - 20 * (y[2] - y[4]) + F;
    f[4] = y[5];
    f[5] = -7 * y[4];
    return 0;
}

static int rest_values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    (void)t, (void)user;
    border(side, 0, y[0] - y[2] + 0.01 * (y[1] - y[3]), margin, next);
    return 0;
}

static void what_rests_on_a_border_does_not_chatter(void **state)
{
    (void)state;
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        if (m->order_max < 3 || wants_second_order(m) || !strncmp(m->name, "rkn", 3)) continue;
        run r = {.stiffness = 1e4};
        dae_system sys = with_switches(6, rest_f, rest_values, 1, &r);
        dae_options opt = with_method(m->name, 1e-8);
        double y[6] = {1. / 3, 0, 1. / 3, 0, 0.1, 0.7};
        dae_error err = {0};
        dae_stats stats;
        if (dae_solve(&sys, &opt, 0, 3, y, &stats, &err) < 0) fail_msg("%s: %s", m->name, err.text);
        if (stats.switches > 2) fail_msg("%s: %ld switches", m->name, stats.switches);
        assert_near(y[0], y[2], 1e-10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rests_on_a_border_does_not_chatter),
        cmocka_unit_test(ball_bounces_as_its_formula_says_with_every_method),
        cmocka_unit_test(short_touch_inside_a_long_step_is_found),
        cmocka_unit_test(chatter_is_told),
        cmocka_unit_test(segments_are_passed_in_order),
        cmocka_unit_test(run_goes_on_from_a_checkpoint_between_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
