#include "method/runs.h"

enum { MOST = 20000 };

typedef struct points {
    int count, n, stop_at; /* stop_at: the number of the point that asks to stop, 0: none */
    double t[MOST], y[MOST][4];
} points;

static points seen;

static int keep(double t, const double *y, int n, void *user)
{
    points *p = user;
    assert_true(p->count < MOST && n <= 4);
    p->n = n;
    p->t[p->count] = t;
    memcpy(p->y[p->count], y, (size_t)n * sizeof *y);
    return ++p->count == p->stop_at ? -1 : 0;
}

static dae_integrator *with_output(const dae_system *sys, const dae_options *opt, dae_output o)
{
    o.write = keep;
    o.user = &seen;
    seen.count = seen.stop_at = 0;
    dae_integrator *it = create(sys, opt);
    assert_int_equal(dae_integrator_set_output(it, &o, NULL), DAE_OK);
    return it;
}

static void follow_the_solution(const char *name, double tol)
{
    for (int k = 0; k < seen.count; k++) {
        double e = fmax(fabs(seen.y[k][0] - cos(seen.t[k])), fabs(seen.y[k][1] + sin(seen.t[k])));
        if (!(e < tol)) fail_msg("%s: point %d at t = %.17g is off by %.2e", name, k, seen.t[k], e);
    }
}

static void increase_strictly(const char *name, double direction)
{
    for (int k = 1; k < seen.count; k++) {
        if (!(direction * (seen.t[k] - seen.t[k - 1]) > 0)) {
            fail_msg("%s: point %d at %.17g follows one at %.17g", name, k, seen.t[k], seen.t[k - 1]);
        }
    }
}

/* ---- The four modes -------------------------------------------------------------------------------- */

static void equidistant_points_hold_both_ends_in_both_directions(void **state)
{
    (void)state;
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        for (int backward = 0; backward < 2; backward++) {
            double t0 = backward ? 3 : 0, t_end = 3 - t0, y0[] = {cos(t0), -sin(t0)};
            dae_system sys = oscillator(NULL);
            sys.structure.second_order = wants_second_order(m);
            sys.structure.no_velocities = m->no_velocities;
            dae_options opt = with_method(m->name, 1e-8);
            dae_integrator *it =
                with_output(&sys, &opt, (dae_output){.mode = DAE_OUTPUT_EQUIDISTANT, .count = 31});
            start(it, t0, t_end, y0);
            assert_int_equal(seen.count, 1);
            advance(it, t_end, DAE_OK);
            assert_int_equal(seen.count, 31);
            for (int k = 0; k < 31; k++) assert_near(seen.t[k], t0 + (t_end - t0) * k / 30, 1e-15);
            assert_true(seen.t[0] == t0 && seen.t[30] == t_end);
            assert_memory_equal(seen.y[0], y0, sizeof y0);
            assert_memory_equal(seen.y[30], dae_integrator_state(it), sizeof y0);
            follow_the_solution(m->name, 5e-5);
            dae_integrator_destroy(it);
        }
    }
}

static void points_per_step_are_count_times_the_steps(void **state)
{
    (void)state;
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        for (int count = 0; count < 4; count += 3) {
            dae_system sys = oscillator(NULL);
            sys.structure.second_order = wants_second_order(m);
            sys.structure.no_velocities = m->no_velocities;
            dae_options opt = with_method(m->name, 1e-6);
            dae_integrator *it =
                with_output(&sys, &opt, (dae_output){.mode = DAE_OUTPUT_STEPS, .count = count});
            start(it, 0, 2, oscillator_y0);
            advance(it, 2, DAE_OK);
            long expected = 1 + (count ? count : 1) * dae_integrator_stats(it)->accepted;
            if (seen.count != expected) fail_msg("%s: %d points, not %ld", m->name, seen.count, expected);
            assert_true(seen.t[seen.count - 1] == 2);
            increase_strictly(m->name, 1);
            for (int k = 3; count && k < seen.count; k += 3) { /* equal parts of a step */
                assert_near(seen.t[k] - seen.t[k - 1], seen.t[k - 1] - seen.t[k - 2], 1e-14);
            }
            follow_the_solution(m->name, 5e-3);
            dae_integrator_destroy(it);
        }
    }
}

static double step_end[MOST];
static int step_ends;

static int note_step_end(const dae_integrator *it, double t, double t_end, void *user)
{
    (void)it, (void)t_end, (void)user;
    step_end[step_ends++] = t;
    return 0;
}

static void largest_interval_bounds_the_gaps_and_keeps_the_step_ends(void **state)
{
    (void)state;
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        dae_system sys = oscillator(NULL);
        sys.structure.second_order = wants_second_order(m);
        sys.structure.no_velocities = m->no_velocities;
        dae_options opt = with_method(m->name, 1e-6);
        dae_integrator *it =
            with_output(&sys, &opt, (dae_output){.mode = DAE_OUTPUT_MAX_INTERVAL, .interval = 0.03});
        step_ends = 0;
        dae_integrator_set_progress(it, note_step_end, NULL);
        start(it, 0, 2, oscillator_y0);
        advance(it, 2, DAE_OK);
        increase_strictly(m->name, 1);
        for (int k = 1; k < seen.count; k++) assert_true(seen.t[k] - seen.t[k - 1] <= 0.03 * (1 + 1e-10));
        int found = 0;
        for (int k = 0; k < seen.count; k++) found += found < step_ends && seen.t[k] == step_end[found];
        assert_int_equal(found, step_ends);
        assert_true(seen.t[0] == 0 && seen.t[seen.count - 1] == 2);
        follow_the_solution(m->name, 5e-3);
        dae_integrator_destroy(it);
    }
}

static void given_times_are_met_exactly(void **state)
{
    (void)state;
    static const double times[] = {0, 0, 0.1, 0.1, 1.9999999, 2};
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        for (int backward = 0; backward < 2; backward++) {
            double list[6];
            for (int k = 0; k < 6; k++) list[k] = backward ? -times[k] : times[k];
            dae_system sys = oscillator(NULL);
            sys.structure.second_order = wants_second_order(m);
            sys.structure.no_velocities = m->no_velocities;
            dae_options opt = with_method(m->name, 1e-8);
            dae_integrator *it =
                with_output(&sys, &opt, (dae_output){.mode = DAE_OUTPUT_TIMES, .times = list, .ntimes = 6});
            double end = list[5];
            memset(list, 0, sizeof list); /* the integrator has its own copy */
            start(it, 0, end, oscillator_y0);
            assert_int_equal(seen.count, 2);
            advance(it, end, DAE_OK);
            assert_int_equal(seen.count, 6);
            for (int k = 0; k < 6; k++) assert_true(seen.t[k] == (backward ? -times[k] : times[k]));
            follow_the_solution(m->name, 5e-5);
            dae_integrator_destroy(it);
        }
    }
}

static void times_that_leave_out_the_ends_write_only_themselves(void **state)
{
    (void)state;
    static const double times[] = {0.5, 0.75};
    dae_system sys = oscillator(NULL);
    dae_options opt = with_method("dopri5", 1e-8);
    dae_integrator *it =
        with_output(&sys, &opt, (dae_output){.mode = DAE_OUTPUT_TIMES, .times = times, .ntimes = 2});
    start(it, 0, 1, oscillator_y0);
    advance(it, 1, DAE_OK);
    assert_int_equal(seen.count, 2);
    dae_integrator_destroy(it);
}

static void components_are_selected_in_the_given_order(void **state)
{
    (void)state;
    int list[] = {1, 0, 1};
    dae_system sys = oscillator(NULL);
    dae_options opt = with_method("radau5", 1e-8);
    dae_integrator *it = with_output(
        &sys, &opt,
        (dae_output){.mode = DAE_OUTPUT_EQUIDISTANT, .count = 3, .component = list, .ncomponent = 3});
    list[0] = 0;
    start(it, 0, 1, oscillator_y0);
    advance(it, 1, DAE_OK);
    assert_int_equal(seen.n, 3);
    for (int k = 0; k < 3; k++) {
        assert_near(seen.y[k][0], -sin(seen.t[k]), 1e-6);
        assert_near(seen.y[k][1], cos(seen.t[k]), 1e-6);
        assert_true(seen.y[k][2] == seen.y[k][0]);
    }
    dae_integrator_destroy(it);
}

/* ---- Going on in pieces, and stopping ----------------------------------------------------------------- */

static void grid_points_do_not_depend_on_the_pieces(void **state)
{
    (void)state;
    const dae_method_info *m;
    static points whole;
    for (int i = 0; (m = next_ode_method(&i));) {
        dae_system sys = oscillator(NULL);
        sys.structure.second_order = wants_second_order(m);
        sys.structure.no_velocities = m->no_velocities;
        dae_options opt = with_method(m->name, 1e-6);
        for (int pieces = 1; pieces <= 7; pieces += 6) {
            dae_integrator *it =
                with_output(&sys, &opt, (dae_output){.mode = DAE_OUTPUT_EQUIDISTANT, .count = 41});
            start(it, 0, 4, oscillator_y0);
            for (int k = 1; k <= pieces; k++) advance(it, k == pieces ? 4 : 4.0 * k / pieces, DAE_OK);
            assert_int_equal(seen.count, 41);
            if (pieces == 1) whole = seen;
            else assert_memory_equal(seen.y, whole.y, 41 * sizeof seen.y[0]);
            dae_integrator_destroy(it);
        }
    }
}

static void write_function_can_stop_the_run(void **state)
{
    (void)state;
    dae_system sys = oscillator(NULL);
    dae_options opt = with_method("dop853", 1e-8);
    dae_error err = {0};
    dae_integrator *it = with_output(&sys, &opt, (dae_output){.mode = DAE_OUTPUT_EQUIDISTANT, .count = 11});
    seen.stop_at = 4;
    start(it, 0, 1, oscillator_y0);
    assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_ERR_CALLBACK);
    assert_string_equal(err.text, "the output function asked to stop at t = 0.3");
    assert_near(err.t, 0.3, 1e-15);
    assert_int_equal(seen.count, 4);
    dae_integrator_destroy(it);

    it = with_output(&sys, &opt, (dae_output){.mode = DAE_OUTPUT_STEPS});
    seen.stop_at = 1;
    assert_int_equal(dae_integrator_start(it, 0, 1, oscillator_y0, NULL, &err), DAE_ERR_CALLBACK);
    assert_string_equal(err.text, "the output function asked to stop at t = 0");
    assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "call dae_integrator_start first");
    dae_integrator_destroy(it);
}

static void wrong_output_is_refused(void **state)
{
    (void)state;
    static const double unsorted[] = {0.5, 0.25}, outside[] = {0.5, 1.5}, before[] = {-0.5, 0.5},
                        not_a_time[] = {0.5, NAN, 0.75};
    static const int two[] = {0, 2};
    const struct {
        dae_output output;
        const char *text;
        int at_start;
    } cases[] = {
        {{.mode = DAE_OUTPUT_EQUIDISTANT, .count = 1},
         "equidistant output needs at least 2 points, not 1",
         0},
        {{.mode = DAE_OUTPUT_MAX_INTERVAL, .interval = -1}, "output interval -1 must be positive", 0},
        {{.mode = DAE_OUTPUT_MAX_INTERVAL, .interval = NAN}, "output interval nan must be positive", 0},
        {{.mode = DAE_OUTPUT_TIMES}, "output at given times, but no times were given", 0},
        {{.mode = (dae_output_mode)9}, "there is no output mode 9", 0},
        {{.mode = DAE_OUTPUT_STEPS, .component = two, .ncomponent = 2},
         "output component 2 does not exist (0 .. 1)",
         0},
        {{.mode = DAE_OUTPUT_STEPS, .component = two, .ncomponent = -1},
         "output of -1 components; NULL selects all",
         0},
        {{.mode = DAE_OUTPUT_TIMES, .times = unsorted, .ntimes = 2},
         "output time 0.25 (number 2) is outside 0 .. 1 or not in order",
         1},
        {{.mode = DAE_OUTPUT_TIMES, .times = outside, .ntimes = 2},
         "output time 1.5 (number 2) is outside 0 .. 1 or not in order",
         1},
        {{.mode = DAE_OUTPUT_TIMES, .times = before, .ntimes = 2},
         "output time -0.5 (number 1) is outside 0 .. 1 or not in order",
         1},
        {{.mode = DAE_OUTPUT_TIMES, .times = not_a_time, .ntimes = 3},
         "output time nan (number 2) is outside 0 .. 1 or not in order",
         1},
    };
    dae_system sys = oscillator(NULL);
    dae_options opt = with_method("dopri5", 1e-6);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_integrator *it = create(&sys, &opt);
        dae_output o = cases[k].output;
        dae_error err = {0};
        o.write = keep;
        o.user = &seen;
        seen.count = 0;
        dae_status s = dae_integrator_set_output(it, &o, &err);
        if (cases[k].at_start) {
            assert_int_equal(s, DAE_OK);
            s = dae_integrator_start(it, 0, 1, oscillator_y0, NULL, &err);
        }
        assert_int_equal(s, DAE_ERR_INPUT);
        assert_string_equal(err.text, cases[k].text);
        dae_integrator_destroy(it);
    }
    dae_integrator *it = create(&sys, &opt);
    dae_error err = {0};
    assert_int_equal(dae_integrator_set_output(it, &(dae_output){.mode = DAE_OUTPUT_STEPS}, &err),
                     DAE_ERR_INPUT);
    assert_string_equal(err.text, "output without a write function");
    start(it, 0, 1, oscillator_y0);
    assert_int_equal(dae_integrator_set_output(it, NULL, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "set the output before starting");
    dae_integrator_destroy(it);
}

/* ---- With events: a ball that loses nothing when it bounces, h = 1 - t^2/2 from t = 0 ------------------- */

static int fall(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -1;
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
    (void)i, (void)t, (void)rising, (void)yp, (void)user;
    y[0] = 0;
    y[1] = -y[1];
    return DAE_EVENT_RESTART;
}

/* Height at t: parabolas of period 2 sqrt(2). */
static double bouncing(double t)
{
    double period = 2 * sqrt(2), x = fmod(t + period / 2, period) - period / 2;
    return 1 - x * x / 2;
}

static dae_integrator *ball(const dae_method_info *m, dae_output o, int terminal)
{
    dae_system sys = {
        .kind = DAE_KIND_ODE,
        .ode = {.n = 2, .f = fall},
        .structure = {.second_order = wants_second_order(m), .no_velocities = m->no_velocities}};
    dae_event event = {.name = "ground", .direction = DAE_FALLING, .terminal = terminal};
    dae_events events = {.count = 1, .event = &event, .phi = height, .action = terminal ? NULL : bounce};
    dae_options opt =
        with_method(m->name, m->order_max > 2 ? 1e-9 : 1e-6); /* order 2 would take too many steps */
    dae_integrator *it = with_output(&sys, &opt, o);
    assert_int_equal(dae_integrator_set_events(it, &events, NULL), DAE_OK);
    start(it, 0, 10, oscillator_y0);
    return it;
}

static void restarts_neither_lose_nor_double_points(void **state)
{
    (void)state;
    static const dae_output modes[] = {{.mode = DAE_OUTPUT_EQUIDISTANT, .count = 201},
                                       {.mode = DAE_OUTPUT_STEPS, .count = 2},
                                       {.mode = DAE_OUTPUT_MAX_INTERVAL, .interval = 0.05}};
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
            dae_integrator *it = ball(m, modes[k], 0);
            advance(it, 10, DAE_OK);
            assert_int_equal(dae_integrator_stats(it)->events, 4); /* at sqrt(2) (1, 3, 5, 7) */
            assert_int_equal(dae_integrator_stats(it)->restarts, 4);
            increase_strictly(m->name, 1);
            assert_true(seen.t[0] == 0 && seen.t[seen.count - 1] == 10);
            if (k == 0) assert_int_equal(seen.count, 201);
            for (int p = 0; p < seen.count; p++) {
                double e = fabs(seen.y[p][0] - bouncing(seen.t[p]));
                if (!(e < 1e-4))
                    fail_msg("%s, mode %zu: point %d at %.10g is off by %.2e", m->name, k, p, seen.t[p], e);
                if (k == 2 && p) assert_true(seen.t[p] - seen.t[p - 1] <= 0.05 * (1 + 1e-10));
            }
            dae_integrator_destroy(it);
        }
    }
}

static void terminal_event_ends_the_points_and_going_on_writes_the_rest(void **state)
{
    (void)state;
    const dae_method_info *m;
    for (int i = 0; (m = next_ode_method(&i));) {
        dae_integrator *it = ball(m, (dae_output){.mode = DAE_OUTPUT_EQUIDISTANT, .count = 101}, 1);
        advance(it, 10, DAE_EVENT);
        assert_near(dae_integrator_time(it), sqrt(2), 1e-6);
        assert_int_equal(seen.count, 15); /* 0, 0.1, ..., 1.4 */
        advance(it, 10, DAE_OK);
        assert_int_equal(seen.count, 101);
        increase_strictly(m->name, 1);
        for (int p = 0; p < 101; p++) assert_near(seen.y[p][0], 1 - seen.t[p] * seen.t[p] / 2, 1e-4);
        dae_integrator_destroy(it);

        it = ball(m, (dae_output){.mode = DAE_OUTPUT_STEPS}, 1);
        advance(it, 10, DAE_EVENT);
        assert_true(seen.t[seen.count - 1] == dae_integrator_time(it)); /* the event is a point */
        assert_memory_equal(seen.y[seen.count - 1], dae_integrator_state(it), 2 * sizeof(double));
        int before = seen.count;
        advance(it, 10, DAE_OK);
        assert_true(seen.count > before);
        increase_strictly(m->name, 1);
        dae_integrator_destroy(it);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equidistant_points_hold_both_ends_in_both_directions),
        cmocka_unit_test(points_per_step_are_count_times_the_steps),
        cmocka_unit_test(largest_interval_bounds_the_gaps_and_keeps_the_step_ends),
        cmocka_unit_test(given_times_are_met_exactly),
        cmocka_unit_test(times_that_leave_out_the_ends_write_only_themselves),
        cmocka_unit_test(components_are_selected_in_the_given_order),
        cmocka_unit_test(grid_points_do_not_depend_on_the_pieces),
        cmocka_unit_test(write_function_can_stop_the_run),
        cmocka_unit_test(wrong_output_is_refused),
        cmocka_unit_test(restarts_neither_lose_nor_double_points),
        cmocka_unit_test(terminal_event_ends_the_points_and_going_on_writes_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
