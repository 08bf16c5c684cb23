/* Every registered method, on a small system of every kind that it takes: rotation on the unit circle, whose
 * solution is (cos t, sin t). `make valgrind` runs this program too. */
#include "test.h"

#include <daedalus/daedalus.h>

static int ode(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -y[0];
    return 0;
}

static int dae(double t, const double *y, double *f, void *user)
{
    (void)ode(t, y, f, user);
    f[2] = y[2] - y[0] * y[1];
    return 0;
}

static int ide(double t, const double *y, const double *yp, double *F, void *user)
{
    (void)dae(t, y, F, user);
    F[0] = yp[0] - F[0];
    F[1] = yp[1] - F[1];
    return 0;
}

static int no_force(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = f[1] = 0;
    return 0;
}

static int circle(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1) / 2;
    for (int i = 0; G && i < 2; i++) G[i] = x->p[i];
    return 0;
}

/* Two seconds from t0 on: the largest error of (cos (t - t0), -sin (t - t0)) on the way and at the end, INFINITY where the run failed. */
static double error_from(const dae_method_info *method, dae_kind kind, double t0, int wall, dae_stats *stats)
{
    static const double unit[] = {1, 1}, singular[] = {1, 1, 0}, y0[] = {1, 0, 0}, yp0[] = {0, -1, -1};
    static const double mech_y0[] = {1, 0, 0, -1};
    dae_system sys = {.kind = kind};
    if (kind == DAE_KIND_ODE) {
        sys.ode = (dae_ode){.n = 2, .f = ode};
        sys.structure.second_order = sys.structure.no_velocities = 1;
    } else if (kind == DAE_KIND_DAE) {
        sys.dae = (dae_dae){.n = 3, .mass = dae_diagonal(3, singular), .f = dae};
    } else if (kind == DAE_KIND_IDE) {
        sys.ide = (dae_ide){.n = 3, .residual = ide};
    } else {
        sys.mech = (dae_mech){.np = 2,
                              .nv = 2,
                              .ng = 1,
                              .nlambda = 1,
                              .mass = dae_diagonal(2, unit),
                              .force = no_force,
                              .constraint = circle};
    }
    dae_options opt = dae_options_default();
    opt.method = method->name;
    opt.rtol = opt.atol = 1e-6;
    opt.stop_at_end = wall;
    dae_error err = {0};
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    dae_status s = it ? dae_integrator_start(it, t0, t0 + 2, kind == DAE_KIND_MECH ? mech_y0 : y0,
                                             kind == DAE_KIND_MECH ? NULL : yp0, &err)
                      : err.status;
    double error = 0;
    for (int k = 1; k < 6 && s >= 0; k++) { /* inside of steps, but for the last */
        double t = k < 5 ? 0.41 * k : 2;
        s = dae_integrator_advance(it, t0 + t, &err);
        const double *y = dae_integrator_state(it);
        error = fmax(error, fmax(fabs(y[0] - cos(t)), fabs(y[1] + sin(t))));
    }
    if (s >= 0) {
        *stats = *dae_integrator_stats(it);
    } else {
        error = INFINITY;
        print_error("%s, %s: %s: %s\n", method->name, dae_kind_name(kind), dae_status_name(s), err.text);
    }
    dae_integrator_destroy(it);
    return error;
}

static void every_method_integrates_a_rotation(void **state)
{
    (void)state;
    int bad = 0, runs = 0;
    dae_stats stats;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *method = dae_method_get(i);
        for (int kind = DAE_KIND_ODE; kind <= DAE_KIND_MECH; kind++) {
            if (!(method->kinds & 1u << kind)) continue;
            double error = error_from(method, (dae_kind)kind, 0, 0, &stats);
            runs++;
            if (!(error < 5e-3)) { /* order 1 at this tolerance: 2e-3 */
                print_error("%s, %s: error %.2e\n", method->name, dae_kind_name((dae_kind)kind), error);
                bad++;
            }
        }
    }
    assert_true(runs >= dae_method_count());
    if (bad) fail_msg("%d of %d runs went wrong", bad, runs);
}

/* Nothing here depends on t: the steps from -1 and -2 on are those from 0 on. Nearly: the first step of the family of vode is a mean with
 * the resolution of t (errors differ by 7 % at most), and a last step may be split or not by rounding (pside). */
static void every_method_steps_alike_at_all_times(void **state)
{
    (void)state;
    static const double begin[] = {0, -1, -2};
    int bad = 0;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *method = dae_method_get(i);
        for (int kind = DAE_KIND_ODE; kind <= DAE_KIND_MECH; kind++) {
            if (!(method->kinds & 1u << kind)) continue;
            for (int wall = 0; wall < 2; wall++) {
                dae_stats s[3];
                double error[3] = {0};
                for (int k = 0; k < 3; k++)
                    error[k] = error_from(method, (dae_kind)kind, begin[k], wall, &s[k]);
                for (int k = 1; k < 3; k++) {
                    if (labs(s[k].accepted - s[0].accepted) <= 1 &&
                        fabs(error[k] - error[0]) <= 0.3 * error[0] + 1e-9)
                        continue;
                    print_error(
                        "%s, %s, from %g (wall %d): %ld steps and an error of %.10e, not %ld and %.10e\n",
                        method->name, dae_kind_name((dae_kind)kind), begin[k], wall, s[k].accepted, error[k],
                        s[0].accepted, error[0]);
                    bad++;
                }
            }
        }
    }
    if (bad) fail_msg("%d runs depend on where time begins", bad);
}

/* ---- A bouncing ball, so that every step after a restart begins at a root --------------------------- */

static int fall(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -9.81;
    return 0;
}

static int height(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)t, (void)yp, (void)user;
    phi[0] = y[0];
    return 0;
}

static int bounce(int i, double t, int rising, double *y, double *yp, void *user)
{
    int *count = user;
    (void)i, (void)t, (void)rising, (void)yp;
    y[0] = 0;
    y[1] *= -0.9;
    return ++*count == 20 ? DAE_EVENT_STOP : DAE_EVENT_RESTART;
}

static void every_method_for_odes_finds_20_bounces(void **state)
{
    (void)state;
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *method = dae_method_get(k);
        if (!(method->kinds & 1u << DAE_KIND_ODE)) continue;
        int count = 0, found = 0;
        dae_system sys = {.kind = DAE_KIND_ODE,
                          .ode = {.n = 2, .f = fall},
                          .structure = {.second_order = 1, .no_velocities = 1}};
        dae_event event = {.name = "bounce", .direction = DAE_FALLING};
        dae_events events = {.count = 1, .event = &event, .phi = height, .action = bounce, .user = &count};
        dae_options opt = dae_options_default();
        opt.method = method->name;
        opt.rtol = opt.atol = 1e-8;
        dae_error err = {0};
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        dae_status s = it ? dae_integrator_set_events(it, &events, &err) : err.status;
        if (s >= 0) s = dae_integrator_start(it, 0, 20, (double[]){1, 0}, NULL, &err);
        if (s >= 0) s = dae_integrator_advance(it, 20, &err);
        if (s != DAE_EVENT) fail_msg("%s: %s: %s", method->name, dae_status_name(s), err.text);
        const dae_event_record *record = dae_integrator_events(it, &found);
        assert_int_equal(found, 20);
        double t = sqrt(2 / 9.81), v = 0.9 * sqrt(2 * 9.81);
        for (int i = 0; i < found; i++) {
            if (!(fabs(record[i].t - t) < 1e-5))
                fail_msg("%s: bounce %d at %.9f, not %.9f", method->name, i + 1, record[i].t, t);
            t += 2 * v / 9.81;
            v *= 0.9;
        }
        dae_integrator_destroy(it);
    }
}

/* ---- Jumps at both ends of the interval: only the inner sides count --------------------------------- */

static int outside_is_wild(double t, const double *y, double *f, void *user)
{
    int *outside = user, inside = t > 0 && t < 1;
    if (!inside) ++*outside;
    f[0] = inside ? y[1] : 1e3;
    f[1] = 0;
    return 0;
}

static void every_method_for_odes_stays_between_jumps_at_the_ends(void **state)
{
    (void)state;
    static const double jump[] = {0, 1};
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *method = dae_method_get(k);
        if (!(method->kinds & 1u << DAE_KIND_ODE)) continue;
        int outside = 0;
        dae_system sys = {.kind = DAE_KIND_ODE,
                          .ode = {.n = 2, .f = outside_is_wild, .user = &outside},
                          .structure = {.second_order = 1, .no_velocities = 1}};
        dae_options opt = dae_options_default();
        opt.method = method->name;
        opt.rtol = opt.atol = 1e-6;
        opt.discontinuity = jump;
        opt.ndiscontinuity = 2;
        dae_error err = {0};
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        dae_status s = it ? dae_integrator_start(it, 0, 1, (double[]){0, 1}, NULL, &err) : err.status;
        if (s >= 0) s = dae_integrator_advance(it, 1, &err);
        if (s < 0) fail_msg("%s: %s: %s", method->name, dae_status_name(s), err.text);
        if (outside) fail_msg("%s: evaluated %d times outside the interval", method->name, outside);
        assert_near(dae_integrator_state(it)[0], 1, 1e-6);
        dae_integrator_destroy(it);
    }
}

/* ---- First steps and tolerances that a user may ask for ----------------------------------------------- */

/* y = 2 pi t - sin(2 pi t), as a second-order equation: f = 0 at t = 0 and, for a step from there, at t = 1. */
static int wave(double t, const double *y, double *f, void *user)
{
    static const double pi = 3.14159265358979323846;
    (void)user;
    f[0] = y[1];
    f[1] = 4 * pi * pi * sin(2 * pi * t);
    return 0;
}

static dae_status solve_ode(const dae_method_info *method, dae_rhs *f, const dae_options *with, double t0,
                            double t_end, double *y, dae_error *err)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = f}};
    sys.structure.second_order = sys.structure.no_velocities = 1;
    dae_options opt = *with;
    opt.method = method->name;
    return dae_solve(&sys, &opt, t0, t_end, y, NULL, err);
}

/* A step over a whole period sees nothing; methods that may pass the end once took it. */
static void every_method_for_odes_keeps_its_first_step_inside_the_interval(void **state)
{
    (void)state;
    dae_options opt = dae_options_default();
    opt.rtol = opt.atol = 1e-5;
    opt.h0 = 1;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *method = dae_method_get(i);
        if (!(method->kinds & 1u << DAE_KIND_ODE)) continue;
        double y[] = {0, 0};
        dae_error err = {0};
        dae_status s = solve_ode(method, wave, &opt, 0, 0.3, y, &err);
        if (s || !(fabs(y[0] - 0.93389907591) < 1e-3))
            fail_msg("%s: %s: y = %g: %s", method->name, dae_status_name(s), y[0], err.text);
    }
}

static void every_method_for_odes_lengthens_a_first_step_that_is_lost_in_t(void **state)
{
    (void)state;
    dae_options opt = dae_options_default();
    opt.rtol = opt.atol = 1e-5;
    opt.h0 = 1e-20;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *method = dae_method_get(i);
        if (!(method->kinds & 1u << DAE_KIND_ODE)) continue;
        double y[] = {1, 0};
        dae_error err = {0};
        dae_status s = solve_ode(method, ode, &opt, 1e6, 1e6 + 1, y, &err);
        if (s || !(fabs(y[0] - cos(1)) < 1e-2))
            fail_msg("%s: %s: y = %g: %s", method->name, dae_status_name(s), y[0], err.text);
    }
}

/* At rest every step is as long as it may be, the first one, too; the last one is none that takes a little rest along. */
static void every_method_for_odes_keeps_h_max(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *method = dae_method_get(i);
        if (!(method->kinds & 1u << DAE_KIND_ODE)) continue;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = ode}};
        sys.structure.second_order = sys.structure.no_velocities = 1;
        dae_options opt = dae_options_default();
        opt.method = method->name;
        opt.h_max = 0.25;
        dae_error err = {0};
        dae_stats stats;
        double y[] = {0, 0};
        if (dae_solve(&sys, &opt, 0, 50.001, y, &stats, &err) < 0) fail_msg("%s: %s", method->name, err.text);
        if (!(fabs(stats.h_largest) <= 0.25 * (1 + 1e-12) && stats.accepted >= 200))
            fail_msg("%s: %ld steps, of %g at most", method->name, stats.accepted, stats.h_largest);
    }
}

static void implicit_methods_name_the_component_without_a_tolerance(void **state)
{
    (void)state;
    dae_options opt = dae_options_default();
    opt.atol = 0;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *method = dae_method_get(i);
        if (!(method->kinds & 1u << DAE_KIND_ODE) || !method->implicit) continue;
        double y[] = {1, 0};
        dae_error err = {0};
        assert_int_equal(solve_ode(method, ode, &opt, 0, 1, y, &err), DAE_ERR_INPUT);
        assert_non_null(strstr(err.text, "component 2 is zero and its atol too"));
    }
}

static void every_method_is_described(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!m->name || !m->title || !m->literature || !m->summary || !m->kinds || m->order_min < 1 ||
            m->order_max < m->order_min) {
            fail_msg("method %d (%s): an entry of its description is missing", i, m->name ? m->name : "?");
        }
        assert_ptr_equal(dae_method_find(m->name), m);
    }
    assert_null(dae_method_get(dae_method_count()));
    assert_null(dae_method_find("no such method"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_is_described),
        cmocka_unit_test(every_method_integrates_a_rotation),
        cmocka_unit_test(every_method_steps_alike_at_all_times),
        cmocka_unit_test(every_method_for_odes_finds_20_bounces),
        cmocka_unit_test(every_method_for_odes_stays_between_jumps_at_the_ends),
        cmocka_unit_test(every_method_for_odes_keeps_its_first_step_inside_the_interval),
        cmocka_unit_test(every_method_for_odes_lengthens_a_first_step_that_is_lost_in_t),
        cmocka_unit_test(every_method_for_odes_keeps_h_max),
        cmocka_unit_test(implicit_methods_name_the_component_without_a_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
