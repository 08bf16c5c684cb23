/* seulex: orders of the rows with fixed steps, dense output, accuracy that follows the tolerance on stiff ODEs and DAEs. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

static void exact(double t, double *y)
{
    y[0] = exp(sin(t));
    y[1] = cos(2 * t);
    y[2] = y[0] * y[1];
}

static int index1(double t, const double *y, double *f, void *user)
{
    (void)user;
    double e = exp(sin(t)), c = cos(2 * t);
    f[0] = cos(t) * y[0] + (y[2] - e * c);
    f[1] = -2 * sin(2 * t) - (y[1] * y[1] - c * c) + 0.5 * (y[0] - e);
    f[2] = y[2] - y[0] * y[1];
    return 0;
}

static int ode(double t, const double *y, double *f, void *user)
{
    double full[3] = {y[0], y[1], y[0] * y[1]}, out[3];
    index1(t, full, out, user);
    f[0] = out[0];
    f[1] = out[1];
    return 0;
}

static const double mass[] = {1, 1, 0};

static dae_system system_of(int dae)
{
    if (dae)
        return (dae_system){.kind = DAE_KIND_DAE,
                            .dae = {.n = 3, .mass = dae_diagonal(3, mass), .f = index1}};
    return (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = ode}};
}

/* The largest error over the steps of [0, 1] with step h; rtol sets the number of rows, theta > 0: inside the steps. */
static double error_with_step(int dae, double h, double rtol, double theta, int derivative)
{
    dae_system sys = system_of(dae);
    int n = dae_system_size(&sys);
    double y[3], yp[3], want[3], most = 0;
    exact(0, y);
    dae_options opt = dae_options_default();
    opt.method = "seulex";
    opt.fixed_step = h;
    opt.rtol = rtol;
    dae_error err = {0};
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    if (!it || dae_integrator_start(it, 0, 1, y, NULL, &err)) fail_msg("%s", err.text);
    while (dae_integrator_time(it) < 1 - 1e-9) {
        if (dae_integrator_step(it, &err)) fail_msg("%s", err.text);
        double t = dae_integrator_time(it), before = dae_integrator_previous_time(it);
        if (theta > 0) t = before + theta * (t - before);
        dae_integrator_interpolate(it, t, y, yp);
        exact(t, want);
        if (derivative) {
            want[0] *= cos(t);
            want[1] = -2 * sin(2 * t);
        }
        for (int i = 0; i < (derivative ? 2 : n); i++)
            most = fmax(most, fabs((derivative ? yp : y)[i] - want[i]));
    }
    dae_integrator_destroy(it);
    return most;
}

/* SEULEX begins with row -0.6 log10(rtol) + 1.5: rtol 1e-3 is row 3, 1e-5 row 4. Row j is of order j. */
static void observed_orders_are_those_of_the_rows(void **state)
{
    static const double rtol[] = {1e-3, 1e-5, 1e-6}, order[] = {3, 4, 5};
    (void)state;
    for (int dae = 0; dae < 2; dae++) {
        for (int k = 0; k < 3; k++) {
            double seen = log2(error_with_step(dae, 1.0 / 16, rtol[k], 0, 0) /
                               error_with_step(dae, 1.0 / 32, rtol[k], 0, 0));
            if (!(seen > order[k] - 0.4 && seen < order[k] + 1))
                fail_msg("%s, row %g: order %.2f", dae ? "DAE" : "ODE", order[k], seen);
        }
    }
}

/* The polynomial of a step with j rows has degree j: error O(h^(j+1)) in a step, O(h^j) over an interval. */
static void observed_orders_of_dense_output(void **state)
{
    static const double rtol[] = {1e-3, 1e-5, 1e-6}, order[] = {3, 4, 5};
    (void)state;
    for (int dae = 0; dae < 2; dae++) {
        for (int k = 0; k < 3; k++) {
            double seen = log2(error_with_step(dae, 1.0 / 16, rtol[k], 0.4, 0) /
                               error_with_step(dae, 1.0 / 32, rtol[k], 0.4, 0));
            double slope = log2(error_with_step(dae, 1.0 / 16, rtol[k], 0.4, 1) /
                                error_with_step(dae, 1.0 / 32, rtol[k], 0.4, 1));
            if (!(seen > order[k] - 0.5) || !(slope > order[k] - 1.5))
                fail_msg("%s, row %g: order %.2f, of the derivative %.2f", dae ? "DAE" : "ODE", order[k],
                         seen, slope);
        }
    }
}

static void digits_follow_the_tolerance(void **state)
{
    static const struct {
        const char *problem;
        double least[3]; /* digits at 1e-4, 1e-7, 1e-10 */
    } want[] = {{"rober", {4, 7, 9.5}},        {"orego", {3.3, 6, 8.3}},   {"vdpol-mu", {3, 5.8, 8.5}},
                {"chemakzo", {3.8, 6.5, 9.5}}, {"pollu", {3.5, 6.5, 9.3}}, {"hires", {1.5, 5.8, 9}}};
    (void)state;
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        for (int i = 0; i < 3; i++) {
            dae_error err = {0};
            dae_problem *p = dae_problem_create(want[k].problem, NULL, 0, &err);
            assert_non_null(p);
            double y[32], most = 0;
            int n = dae_system_size(&p->system);
            for (int c = 0; c < n; c++) y[c] = p->y0[c];
            dae_options opt = dae_options_default();
            opt.method = "seulex";
            opt.rtol = opt.atol = i == 0 ? 1e-4 : i == 1 ? 1e-7 : 1e-10;
            if (!strcmp(want[k].problem, "rober")) opt.atol *= 1e-4;
            dae_stats stats;
            dae_status s = dae_solve(&p->system, &opt, p->t0, p->t_end, y, &stats, &err);
            if (s) fail_msg("%s: %s", want[k].problem, err.text);
            for (int c = 0; c < n; c++)
                most = fmax(most, fabs(y[c] - p->reference[c]) / (1 + fabs(p->reference[c])));
            if (!(-log10(most) > want[k].least[i]))
                fail_msg("%s at %g: %.2f digits", want[k].problem, opt.rtol, -log10(most));
            assert_true(stats.lu >= 2 * stats.steps);
            dae_problem_destroy(p);
        }
    }
}

/* Twelve rows magnify rounding by some 10^5, above tolerances near 1e-12: the step fell and fell with all of them, until it was
 * refused. orego at 41 tolerances; 8.9 digits at least were measured. */
static void rounding_in_the_last_rows_stops_nothing(void **state)
{
    (void)state;
    for (int k = 0; k <= 40; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_create("orego", NULL, 0, &err);
        assert_non_null(p);
        double y[3];
        for (int i = 0; i < 3; i++) y[i] = p->y0[i];
        dae_options o = dae_options_default();
        o.method = "seulex";
        o.rtol = o.atol = 5e-13 * pow(4, k / 40.0);
        dae_status s = dae_solve(&p->system, &o, p->t0, p->t_end, y, NULL, &err);
        if (s < 0) fail_msg("rtol %g: %s", o.rtol, err.text);
        for (int i = 0; i < 3; i++) {
            if (!(fabs(y[i] - p->reference[i]) <= 1e-8 * fabs(p->reference[i])))
                fail_msg("rtol %g: y[%d] = %.12g", o.rtol, i, y[i]);
        }
        dae_problem_destroy(p);
    }
}

static void storages_agree(void **state)
{
    static const char *const storage[] = {"dense", "banded", "sparse"};
    double end[3];
    (void)state;
    for (int s = 0; s < 3; s++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_create("medakzo", NULL, 0, &err);
        assert_non_null(p);
        double y[400];
        for (int i = 0; i < 400; i++) y[i] = p->y0[i];
        dae_options opt = dae_options_default();
        opt.method = "seulex";
        opt.linear_algebra = storage[s];
        opt.rtol = opt.atol = 1e-4;
        assert_int_equal(dae_solve(&p->system, &opt, 0, 0.2, y, NULL, &err), DAE_OK);
        end[s] = y[78];
        dae_problem_destroy(p);
    }
    assert_near(end[0], end[1], 1e-9);
    assert_near(end[0], end[2], 1e-9);
}

/* The first step: at most a hundredth of the interval, at most half the time in which y moves by its tolerance. */
static int slow(double t, const double *y, double *f, void *user)
{
    (void)t, (void)y;
    f[0] = *(double *)user;
    return 0;
}

static void first_step_is_bounded_by_interval_and_speed(void **state)
{
    (void)state;
    static const struct {
        double speed, t_end, h;
    } known[] = {{1e-9, 100, 1}, {1e-9, 0.5, 0.005}, {1e-2, 100, 0.05}};
    for (int k = 0; k < 3; k++) {
        double speed = known[k].speed;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = slow, .user = &speed}};
        dae_options opt = dae_options_default();
        dae_error err = {0};
        opt.method = "seulex";
        opt.rtol = 1e-300;
        opt.atol = 1e-3;
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        assert_int_equal(dae_integrator_start(it, 0, known[k].t_end, (double[]){1}, NULL, &err), DAE_OK);
        assert_true(dae_integrator_step(it, &err) >= 0);
        assert_near(dae_integrator_time(it), known[k].h, 1e-9);
        dae_integrator_destroy(it);
    }
}

/* No row of a step evaluates f at its start: where f is 0 first and the step that follows begins before the jump, all rows see 1. */
static int late(double t, const double *y, double *f, void *user)
{
    (void)y, (void)user;
    f[0] = t < 0.5 ? 0 : 1;
    return 0;
}

/* [DETEST] F2: y' = 55 - 1.5 y or 55 - 0.5 y, in turns */
static int in_turns(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = 55 - ((long)floor(t) % 2 == 0 ? 1.5 : 0.5) * y[0];
    return 0;
}

static void jumps_before_the_first_inner_point_are_seen(void **state)
{
    double turns = 110;
    (void)state;
    for (int k = 0; k < 20; k++) {
        double a = k % 2 ? 0.5 : 1.5;
        turns = 55 / a + (turns - 55 / a) * exp(-a);
    }
    for (double tol = 1e-3; tol > 1e-10; tol /= 100) {
        dae_options o = dae_options_default();
        dae_system a = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = late}}, b = a;
        double y = 0, z = 110;
        dae_error err;
        b.ode.f = in_turns;
        o.method = "seulex";
        o.rtol = o.atol = tol;
        assert_int_equal(dae_solve(&a, &o, 0, 1, &y, NULL, &err), DAE_OK);
        assert_near(y, 0.5, 1000 * tol); /* 2e8 tolerances before */
        assert_int_equal(dae_solve(&b, &o, 0, 20, &z, NULL, &err), DAE_OK);
        assert_near(z / turns, 1, 1000 * tol); /* 5e6 before */
    }
}

/* y'' + 2 d w y' + w^2 y = s(t); s jumps from 0 to 1 at c[0], d = c[1] is 0 or 1 */
static int swing(double t, const double *y, double *f, void *user)
{
    const double *c = user, s = t < c[0] ? 0 : 1, w = 3;
    f[0] = y[1];
    f[1] = s - w * w * y[0] - 2 * w * c[1] * y[1];
    return 0;
}

static void swing_exactly(double t, const double *c, double *y)
{
    double w = 3, x = t - c[0];
    double e = c[1] > 0 ? exp(-w * x) * (1 + w * x) : cos(w * x);
    double v = c[1] > 0 ? exp(-w * x) * x : sin(w * x) / w;
    double free = c[1] > 0 ? exp(-w * t) * (1 + w * t) : cos(w * t);
    double speed = c[1] > 0 ? -w * w * t * exp(-w * t) : -w * sin(w * t);
    y[0] = free + (x > 0 ? (1 - e) / (w * w) : 0);
    y[1] = speed + (x > 0 ? v : 0);
}

/* Where a jump falls between the points of the rows must not matter. Behind the last inner point of all rows the tableau does not see it:
 * 1e6 tolerances ([DETEST] F1). */
static void jumps_are_seen_wherever_they_fall(void **state)
{
    static const double tol[] = {1e-3, 1e-5, 1e-7, 1e-8};
    (void)state;
    for (int k = 0; k < 4 * 2 * 100; k++) {
        double c[] = {2 + (k / 8) / 97.0, k / 4 % 2}, y[] = {1, 0}, exact[2];
        dae_system a = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = swing, .user = c}};
        dae_options o = dae_options_default();
        dae_error err;
        o.method = "seulex";
        o.rtol = o.atol = tol[k % 4];
        assert_int_equal(dae_solve(&a, &o, 0, 3.5, y, NULL, &err), DAE_OK);
        swing_exactly(3.5, c, exact);
        for (int i = 0; i < 2; i++) {
            double e = fabs(y[i] - exact[i]) / (o.atol + o.rtol * fabs(exact[i]));
            if (!(e <= 100)) fail_msg("jump at %.3f, tolerance %g: %g tolerances", c[0], o.rtol, e);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_step_is_bounded_by_interval_and_speed),
        cmocka_unit_test(jumps_before_the_first_inner_point_are_seen),
        cmocka_unit_test(jumps_are_seen_wherever_they_fall),
        cmocka_unit_test(observed_orders_are_those_of_the_rows),
        cmocka_unit_test(observed_orders_of_dense_output),
        cmocka_unit_test(digits_follow_the_tolerance),
        cmocka_unit_test(rounding_in_the_last_rows_stops_nothing),
        cmocka_unit_test(storages_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
