/* rattle: order 2, constraints to rounding, energy of a double pendulum over 1 000 000 steps, what it refuses. */
#include "test.h"

#include <daedalus/daedalus.h>

#include "method/mechanisms.h"

static dae_status begin(const dae_system *sys, double h, double t_end, const double *y0, dae_integrator **it,
                        dae_error *err)
{
    dae_options opt = dae_options_default();
    opt.method = "rattle";
    opt.fixed_step = h;
    opt.rtol = opt.atol = 1e-6;
    opt.max_steps = 10000000;
    *it = dae_integrator_create(sys, &opt, err);
    return *it ? dae_integrator_start(*it, 0, t_end, y0, NULL, err) : err->status;
}

static dae_integrator *start(const dae_system *sys, double h, double t_end, const double *y0)
{
    dae_error err = {0};
    dae_integrator *it = NULL;
    if (begin(sys, h, t_end, y0, &it, &err)) fail_msg("%s", err.text);
    return it;
}

static void advance(dae_integrator *it, double t)
{
    dae_error err = {0};
    if (dae_integrator_advance(it, t, &err) < 0) fail_msg("%s", err.text);
}

/* ---- Order ----------------------------------------------------------------------------------------- */

/* Without a given step: sqrt(tol) times the smaller of |p| / |v| and sqrt(|p| / |a|). A mass of 1 on a spring: p'' = -4 p. */
static int spring(const dae_mech_point *x, double *f, void *user)
{
    (void)user;
    f[0] = -4 * x->p[0];
    f[1] = 0;
    return 0;
}

static int on_the_line(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = x->p[1];
    if (G) G[0] = 0, G[1] = 1;
    return 0;
}

static void own_step_follows_speed_and_acceleration(void **state)
{
    (void)state;
    static const dae_system sys = {
        .kind = DAE_KIND_MECH,
        .mech = {.np = 2, .nv = 2, .ng = 1, .nlambda = 1, .force = spring, .constraint = on_the_line}};
    static const struct {
        double y0[4];
        long steps;
    } known[] = {{{2, 0, 0, 0}, 200}, /* |a| = 8: 0.01 sqrt(2 / 8) */
                 {{2, 0, 8, 0}, 400}, /* 0.01 (2 / 8) */
                 {{2, 0, 1, 0}, 200}};
    for (int k = 0; k < 3; k++) {
        dae_options opt = dae_options_default();
        dae_error err = {0};
        dae_stats st;
        double y[4];
        memcpy(y, known[k].y0, sizeof y);
        opt.method = "rattle";
        opt.rtol = 1e-4;
        opt.atol = 1e-300;
        if (dae_solve(&sys, &opt, 0, 1, y, &st, &err) < 0) fail_msg("%s", err.text);
        assert_int_equal(st.accepted, known[k].steps);
        assert_near(y[0], 2 * cos(2) + known[k].y0[2] / 2 * sin(2), 1e-3);
    }
}

static void pendulum_shows_order_2(void **state)
{
    (void)state;
    double exact[4] = {1, 0, 0, 0}, error[2][4];
    dae_options opt = dae_options_default();
    opt.method = "mexx";
    opt.rtol = opt.atol = 1e-13;
    assert_int_equal(dae_solve(&pendulum, &opt, 0, 2, exact, NULL, NULL), DAE_OK);
    for (int m = 0; m < 2; m++) {
        double a[2], lambda, y[4], middle[4];
        dae_integrator *it = start(&pendulum, m ? 1.0 / 400 : 1.0 / 200, 2, (double[]){1, 0, 0, 0});
        advance(it, 2);
        dae_integrator_interpolate(it, 2, y, NULL);
        assert_int_equal(dae_integrator_multipliers(it, 2, a, &lambda), DAE_OK);
        dae_integrator_interpolate(it, 2 - 0.5 / 400, middle, NULL);
        error[m][0] = fmax(fabs(y[0] - exact[0]), fabs(y[1] - exact[1]));
        error[m][1] = fmax(fabs(y[2] - exact[2]), fabs(y[3] - exact[3]));
        error[m][2] = fabs(lambda + 3 * exact[1]);
        error[m][3] = fabs(
            middle[1] - (exact[1] - 0.5 / 400 * exact[3] - 0.5 / 160000 / 4 * (1 - 3 * exact[1] * exact[1])));
        assert_near(y[0] * y[0] + y[1] * y[1], 1, 4e-15);
        assert_near(y[0] * y[2] + y[1] * y[3], 0, 4e-15);
        dae_integrator_destroy(it);
    }
    for (int i = 0; i < 4; i++) assert_between(log2(error[0][i] / error[1][i]), 1.95, 2.05);
    assert_true(error[1][0] < 5e-6); /* half the error of genalpha */
}

/* ---- Energy ---------------------------------------------------------------------------------------- */

/* Two unit masses on rods of length 1, gravity 9.81. */
static int gravity(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = f[2] = 0;
    f[1] = f[3] = -9.81;
    return 0;
}

static int rods(const dae_mech_point *x, double *g, double *G, void *user)
{
    double dx = x->p[2] - x->p[0], dy = x->p[3] - x->p[1];
    (void)user;
    if (g) {
        g[0] = (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1) / 2;
        g[1] = (dx * dx + dy * dy - 1) / 2;
    }
    if (!G) return 0;
    G[0] = x->p[0];
    G[2] = x->p[1];
    G[1] = -dx;
    G[3] = -dy;
    G[5] = dx;
    G[7] = dy;
    return 0;
}

static double energy(const double *y)
{
    double e = 9.81 * (y[1] + y[3]);
    for (int i = 4; i < 8; i++) e += y[i] * y[i] / 2;
    return e;
}

/* 1e6 steps of 0.005: the band of the energy in the last tenth is that of the first. */
static void energy_of_a_double_pendulum_stays_bounded(void **state)
{
    static const dae_system pair = {
        .kind = DAE_KIND_MECH,
        .mech = {.np = 4, .nv = 4, .ng = 2, .nlambda = 2, .force = gravity, .constraint = rods}};
    static const double y0[8] = {1, 0, 2, 0};
    const long steps = sanitized_stride > 1 ? 100000 : 1000000;
    double h = 0.005, lowest[2] = {0, 0}, highest[2] = {0, 0};
    (void)state;
    dae_integrator *it = start(&pair, h, h * (double)steps, y0);
    for (long k = 1; k <= steps; k++) {
        dae_error err = {0};
        if (dae_integrator_step(it, &err) < 0) fail_msg("%s", err.text);
        double e = energy(dae_integrator_state(it)) - energy(y0);
        int part = k <= steps / 10 ? 0 : k > steps - steps / 10 ? 1 : -1;
        if (part < 0) continue;
        lowest[part] = fmin(lowest[part], e);
        highest[part] = fmax(highest[part], e);
    }
    assert_between(lowest[0], -0.04, -0.02); /* of 60 J that go up and down */
    assert_between(lowest[1] / lowest[0], 0.8, 1.25);
    assert_true(highest[0] < 1e-6 && highest[1] < 1e-6);
    assert_true(dae_integrator_stats(it)->position_residual < 1e-14);
    dae_integrator_destroy(it);
}

/* ---- Refusals -------------------------------------------------------------------------------------- */

static int damped(const dae_mech_point *x, double *f, void *user)
{
    (void)user;
    f[0] = -0.1 * x->v[0];
    f[1] = -1 - 0.1 * x->v[1];
    return 0;
}

static void refuses(const dae_system *sys, const double *y0, const char *word)
{
    dae_error err = {0};
    dae_integrator *it = NULL;
    assert_int_equal(begin(sys, 0.01, 1, y0, &it, &err), DAE_ERR_UNSUPPORTED);
    if (!strstr(err.text, word) || !strstr(err.text, "rattle") || !strstr(err.text, "genalpha"))
        fail_msg("%s", err.text);
    dae_integrator_destroy(it);
}

static void refuses_by_name_what_it_does_not_take(void **state)
{
    (void)state;
    dae_system damper = pendulum, heavy = pendulum;
    damper.mech.force = damped;
    heavy.mech.mass_fn = damped;
    refuses(&damper, (double[]){1, 0, 0, 0}, "depends on velocities");
    refuses(&heavy, (double[]){1, 0, 0, 0}, "mass matrix");
    refuses(&skate, (double[]){0, 0, 0, 0, 0, 1}, "nonholonomic");
    refuses(&driven, (double[]){0, 0, 1, 0, 0}, "dynamics u");
    refuses(&heavy_top, (double[13]){0, 1, 0, 1}, "T other than I");
}

int main(void)
{
    (void)top_energy;
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_step_follows_speed_and_acceleration),
                                       cmocka_unit_test(pendulum_shows_order_2),
                                       cmocka_unit_test(energy_of_a_double_pendulum_stays_bounded),
                                       cmocka_unit_test(refuses_by_name_what_it_does_not_take)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
