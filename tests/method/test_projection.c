/* Projection of accepted points, and charts: what the driver and the methods do with them. */
#include <daedalus/daedalus.h>

#include "test.h"

/* The harmonic oscillator; |y| = 1 is its invariant. */
static int oscillator(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = y[1];
    f[1] = -y[0];
    return 0;
}

typedef struct onto_circle {
    long calls;
    double h_limit, t_last; /* fails for steps above h_limit, where it is > 0 */
    int stop;
} onto_circle;

static int project(double t, double *y, void *user)
{
    onto_circle *c = user;
    double length = hypot(y[0], y[1]), h = t - c->t_last;
    c->calls++;
    if (c->stop) return -1;
    if (c->h_limit > 0 && h > c->h_limit) return 1;
    c->t_last = t;
    y[0] /= length;
    y[1] /= length;
    return 0;
}

static dae_integrator *start(const char *method, double rtol, onto_circle *c, double t_end)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = oscillator}};
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = opt.atol = rtol;
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    assert_non_null(it);
    if (c) assert_int_equal(dae_integrator_set_projection(it, project, c, NULL), DAE_OK);
    assert_int_equal(dae_integrator_start(it, 0, t_end, (double[]){1, 0}, NULL, NULL), DAE_OK);
    return it;
}

static const char *const able[] = {"bs23",  "dopri5",     "dop853",     "radau5",
                                   "radau", "vode",       "vode-adams", "lsoda",
#ifdef DAE_HAVE_SUNDIALS
                                   "cvode", "cvode-adams"
#endif
};

/* Every accepted point is on the circle, the dense output ends there, and the phase is no worse. */
static void projection_holds_at_every_accepted_point(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof able / sizeof *able; k++) {
        onto_circle c = {0};
        dae_integrator *it = start(able[k], 1e-5, &c, 20), *plain = start(able[k], 1e-5, NULL, 20);
        double off = 0, y[2];
        while (dae_integrator_time(it) < 20) {
            assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
            const double *z = dae_integrator_state(it);
            off = fmax(off, fabs(hypot(z[0], z[1]) - 1));
            dae_integrator_interpolate(it, dae_integrator_time(it), y, NULL);
            assert_near(y[0], z[0], 1e-14);
            assert_near(y[1], z[1], 1e-14);
        }
        assert_int_equal(dae_integrator_advance(plain, 20, NULL), DAE_OK);
        const double *z = dae_integrator_state(plain);
        if (!(off < 1e-15)) fail_msg("%s: %.2e off the circle", able[k], off);
        assert_true(fabs(hypot(z[0], z[1]) - 1) > 1e-9);
        assert_near(dae_integrator_state(it)[0], cos(20), 5e-3);
        assert_true(c.calls >= dae_integrator_stats(it)->accepted);
        dae_integrator_destroy(it);
        dae_integrator_destroy(plain);
    }
}

/* f is evaluated at the projected point: one more evaluation per step where the last stage was at the
 * unprojected one, none where it came after the error test. */
static void projection_costs_no_more_evaluations_than_it_must(void **state)
{
    (void)state;
    onto_circle c = {0};
    dae_integrator *it = start("dop853", 1e-8, &c, 20);
    assert_int_equal(dae_integrator_advance(it, 20, NULL), DAE_OK);
    const dae_stats *st = dae_integrator_stats(it);
    assert_int_equal(st->f, 2 + 11 * st->steps + st->accepted);
    dae_integrator_destroy(it);
    it = start("dopri5", 1e-8, &c, 20);
    assert_int_equal(dae_integrator_advance(it, 20, NULL), DAE_OK);
    st = dae_integrator_stats(it);
    assert_int_equal(st->f, 2 + 6 * st->steps + st->accepted);
    dae_integrator_destroy(it);
}

static void projection_failure_shortens_the_step(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof able / sizeof *able; k++) {
        onto_circle c = {.h_limit = 0.05};
        dae_integrator *it = start(able[k], 1e-2, &c, 2);
        assert_int_equal(dae_integrator_advance(it, 2, NULL), DAE_OK);
        assert_true(dae_integrator_stats(it)->h_largest <= 0.05 * (1 + 1e-12));
        dae_integrator_destroy(it);
    }
}

static void projection_can_stop_the_run(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof able / sizeof *able; k++) {
        onto_circle c = {.stop = 1};
        dae_integrator *it = start(able[k], 1e-4, &c, 2);
        assert_int_equal(dae_integrator_advance(it, 2, NULL), DAE_ERR_CALLBACK);
        dae_integrator_destroy(it);
    }
}

static void projection_is_refused_by_methods_that_cannot(void **state)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = oscillator}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    (void)state;
    opt.method = "gamd";
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    assert_int_equal(dae_integrator_set_projection(it, project, NULL, &err), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "dop853"));
    dae_integrator_destroy(it);
}

/* A chart: the state is +-y, and the sign changes after every tenth step. */
typedef struct turning {
    int steps, turned;
    double sign;
} turning;

static int turn(double t, double *y, void *user)
{
    turning *c = user;
    (void)t;
    if (++c->steps % 10) return 0;
    c->sign = -c->sign;
    c->turned++;
    y[0] = -y[0];
    y[1] = -y[1];
    return 1;
}

static void chart_restarts_the_method_in_other_variables(void **state)
{
    static const char *const method[] = {
        "dopri5",
        "radau5",
#ifdef DAE_HAVE_SUNDIALS
        "cvode-adams",
#endif
    };
    (void)state;
    for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
        turning c = {.sign = 1};
        dae_integrator *it = start(method[k], 1e-9, NULL, 3);
        dae_integrator_set_chart(it, turn, &c);
        while (dae_integrator_time(it) < 3) {
            assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
            double t = dae_integrator_time(it), from = dae_integrator_previous_time(it), y[2];
            assert_near(c.sign * dae_integrator_state(it)[0], cos(t), 1e-5);
            for (double x = 0; x < 1;
                 x += 0.25) { /* the whole step is in the variables that it was made with */
                double at = from + x * (t - from);
                if (dae_integrator_interpolate(it, at, y, NULL) == DAE_OK)
                    assert_near(c.sign * y[0], cos(at), 1e-5);
            }
        }
        assert_true(c.turned >= 2);
        assert_true(dae_integrator_stats(it)->restarts == 0);
        dae_integrator_destroy(it);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_holds_at_every_accepted_point),
        cmocka_unit_test(projection_costs_no_more_evaluations_than_it_must),
        cmocka_unit_test(projection_failure_shortens_the_step),
        cmocka_unit_test(projection_can_stop_the_run),
        cmocka_unit_test(projection_is_refused_by_methods_that_cannot),
        cmocka_unit_test(chart_restarts_the_method_in_other_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
