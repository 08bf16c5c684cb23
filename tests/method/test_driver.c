#include "method/runs.h"

#include "method/method.h"

#include <float.h>
#include <pthread.h>

#define EACH_ODE_METHOD(m)    \
    const dae_method_info *m; \
    for (int next_ = 0; (m = next_ode_method(&next_));)

static dae_integrator *oscillate(const dae_method_info *m, dae_options opt, long *calls, double t_end)
{
    dae_system sys = oscillator(calls);
    sys.structure.second_order = wants_second_order(m);
    sys.structure.no_velocities = m->no_velocities;
    opt.method = m->name;
    dae_integrator *it = create(&sys, &opt);
    start(it, 0, t_end, oscillator_y0);
    return it;
}

/* ---- Going on --------------------------------------------------------------------------------------- */

static void pieces_and_steps_give_the_same_end_bit_for_bit(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        double end[3][2];
        for (int way = 0; way < 3; way++) { /* at once, in pieces, step by step */
            dae_integrator *it = oscillate(m, with_method(NULL, 1e-6), NULL, 7);
            if (way == 1) {
                for (int k = 1; k <= 50; k++) advance(it, 7.0 * k / 51, DAE_OK);
            }
            long steps = 0;
            while (way == 2 && dae_integrator_time(it) < 7) {
                double before = dae_integrator_time(it);
                assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
                assert_int_equal(dae_integrator_stats(it)->accepted, ++steps);
                assert_true(dae_integrator_time(it) > before);
                assert_true(dae_integrator_previous_time(it) == before);
            }
            advance(it, 7, DAE_OK);
            assert_true(dae_integrator_time(it) == 7);
            memcpy(end[way], dae_integrator_state(it), sizeof end[way]);
            assert_int_equal(dae_integrator_step(it, NULL), DAE_OK); /* at the end: nothing is left to do */
            assert_memory_equal(dae_integrator_state(it), end[way], sizeof end[way]);
            dae_integrator_destroy(it);
        }
        assert_near(end[0][0], cos(7), 2e-3);
        if (memcmp(end[0], end[1], sizeof end[0])) fail_msg("%s: pieces change the end", m->name);
        if (memcmp(end[0], end[2], sizeof end[0])) fail_msg("%s: single steps change the end", m->name);
    }
}

static void dense_output_follows_the_solution_inside_the_last_step_only(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        dae_integrator *it = oscillate(m, with_method(NULL, 1e-7), NULL, 7);
        double y[2], yp[2];
        assert_int_equal(dae_integrator_interpolate(it, 0, y, yp), DAE_OK); /* before any step: the start */
        assert_near(y[0], 1, 0);
        assert_near(yp[1], -1, 1e-14);
        for (int k = 0; k < 25; k++) assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        double a = dae_integrator_previous_time(it), b = dae_integrator_time(it);
        for (int k = 0; k <= 16; k++) {
            double t = k == 16 ? b : a + (b - a) * k / 16;
            assert_int_equal(dae_integrator_interpolate(it, t, y, yp), DAE_OK);
            if (!(fabs(y[0] - cos(t)) < 1e-4 && fabs(y[1] + sin(t)) < 1e-4))
                fail_msg("%s: y at %g is off", m->name, t);
            if (!(fabs(yp[0] + sin(t)) < 1e-2 && fabs(yp[1] + cos(t)) < 1e-2))
                fail_msg("%s: y' at %g is off", m->name, t);
            assert_int_equal(dae_integrator_interpolate(it, t, y, NULL), DAE_OK);
        }
        assert_near(y[0], dae_integrator_state(it)[0], 1e-12); /* its end is the state */
        assert_int_equal(dae_integrator_interpolate(it, nextafter(a, -1), y, yp), DAE_ERR_INPUT);
        assert_int_equal(dae_integrator_interpolate(it, nextafter(b, 9), y, yp), DAE_ERR_INPUT);
        assert_int_equal(dae_integrator_interpolate(it, NAN, y, yp), DAE_ERR_INPUT);
        dae_integrator_destroy(it);
    }
}

static void targets_behind_and_beyond_are_refused(void **state)
{
    (void)state;
    dae_options opt = with_method(NULL, 1e-6);
    dae_error err = {0};
    dae_integrator *it = oscillate(dae_method_find("dopri5"), opt, NULL, 2);
    advance(it, 1, DAE_OK);
    advance(it, 1, DAE_OK);
    assert_int_equal(dae_integrator_advance(it, 0.5, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "t = 0.5 lies before the present time 1");
    assert_int_equal(dae_integrator_advance(it, 2.5, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "t = 2.5 lies beyond the end 2 that was given to start");
    assert_int_equal(dae_integrator_advance(it, NAN, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_advance(it, NAN, NULL), DAE_ERR_INPUT);
    advance(it, 2, DAE_OK);
    assert_near(dae_integrator_state(it)[0], cos(2), 1e-5);
    dae_integrator_destroy(it);
}

static void an_integrator_can_start_again(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        long calls = 0;
        dae_integrator *it = oscillate(m, with_method(NULL, 1e-6), &calls, 3);
        advance(it, 3, DAE_OK);
        double first[2];
        dae_stats stats = *dae_integrator_stats(it);
        memcpy(first, dae_integrator_state(it), sizeof first);
        start(it, 0, -1, oscillator_y0); /* elsewhere first */
        advance(it, -1, DAE_OK);
        assert_near(dae_integrator_state(it)[0], cos(1), 1e-3);
        calls = 0;
        start(it, 0, 3, oscillator_y0);
        advance(it, 3, DAE_OK);
        if (memcmp(first, dae_integrator_state(it), sizeof first))
            fail_msg("%s: the second run differs", m->name);
        assert_int_equal(dae_integrator_stats(it)->accepted, stats.accepted);
        assert_int_equal(dae_integrator_stats(it)->f, stats.f);
        assert_int_equal(stats.f + stats.f_jac, calls);
        dae_integrator_destroy(it);
    }
}

/* ---- Where a method may evaluate ------------------------------------------------------------------------ */

typedef struct watch {
    double largest, smallest; /* of the times seen */
} watch;

static int watched(double t, const double *y, double *f, void *user)
{
    watch *w = user;
    w->largest = fmax(w->largest, t);
    w->smallest = fmin(w->smallest, t);
    return oscillator_f(t, y, f, NULL);
}

static void nothing_is_evaluated_beyond_the_end_with_stop_at_end(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        for (int stop = 0; stop < 2; stop++) {
            watch w = {0};
            dae_system sys = {
                .kind = DAE_KIND_ODE,
                .ode = {.n = 2, .f = watched, .user = &w},
                .structure = {.second_order = wants_second_order(m), .no_velocities = m->no_velocities}};
            dae_options opt = with_method(m->name, 1e-6);
            opt.stop_at_end = stop;
            dae_integrator *it = create(&sys, &opt);
            start(it, 0, 3, oscillator_y0);
            advance(it, 3, DAE_OK);
            assert_true(dae_integrator_time(it) == 3);
            assert_near(dae_integrator_state(it)[0], cos(3), 1e-3);
            int soft = 0;
            for (int i = 0; i < dae_method_count(); i++)
                soft |= &dae_method_at(i)->info == m && dae_method_at(i)->soft_end;
            if ((stop || !soft) && w.largest > 3) fail_msg("%s: evaluated at %.17g", m->name, w.largest);
            if (!stop && soft)
                assert_true(w.largest > 3); /* the last step went beyond, and came back by interpolation */
            dae_integrator_destroy(it);
        }
    }
}

/* ---- Discontinuities ------------------------------------------------------------------------------------ */

/* y' = k + 1 in segment k between the jumps; z' = -z. Every call is checked against the segment. */
typedef struct jumps {
    const double *at;
    int count, now, wrong;
    double wrong_t;
} jumps;

static int jumping(double t, const double *y, double *f, void *user)
{
    jumps *j = user;
    int segment = 0;
    while (segment < j->count && t >= j->at[segment]) segment++;
    if (segment != j->now) j->wrong++, j->wrong_t = t;
    f[0] = segment + 1;
    f[1] = -y[1];
    return 0;
}

/* The log tells when a restart begins the next segment. */
static void follow_restarts(dae_log_level level, const char *text, void *user)
{
    jumps *j = user;
    if (level == DAE_LOG_INFO && strstr(text, "restart=discontinuity")) j->now++;
}

static void jumps_are_never_seen_from_the_wrong_side(void **state)
{
    (void)state;
    static const double at[] = {0.5, 1.25, 2, 2.75};
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        jumps j = {.at = at, .count = 4};
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = jumping, .user = &j}};
        dae_options opt = with_method(m->name, 1e-10);
        opt.discontinuity = at;
        opt.ndiscontinuity = 4;
        opt.log = follow_restarts;
        opt.log_level = DAE_LOG_INFO;
        opt.log_user = &j;
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 2.5, (double[]){0, 1});
        advance(it, 2.5, DAE_OK);
        if (j.wrong)
            fail_msg("%s: %d evaluations on the wrong side, the last at t = %.17g", m->name, j.wrong,
                     j.wrong_t);
        assert_int_equal(dae_integrator_stats(it)->restarts, 3);
        assert_near(dae_integrator_state(it)[0], 0.5 + 2 * 0.75 + 3 * 0.75 + 4 * 0.5, 1e-10);
        assert_near(dae_integrator_state(it)[1], exp(-2.5), 1e-7);
        dae_integrator_destroy(it);
    }
}

static int falling_back(double t, const double *y, double *f, void *user)
{
    jumps *j = user;
    int segment = 0;
    while (segment < j->count && t <= j->at[segment]) segment++;
    if (segment != j->now) j->wrong++, j->wrong_t = t;
    f[0] = segment + 1;
    f[1] = y[1];
    return 0;
}

static void jumps_work_backward_and_at_both_ends(void **state)
{
    (void)state;
    static const double at[] = {3, 2, 1};
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        jumps j = {.at = at, .count = 3, .now = 1};
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = falling_back, .user = &j}};
        dae_options opt = with_method(m->name, 1e-10);
        opt.discontinuity = at;
        opt.ndiscontinuity = 3;
        opt.log = follow_restarts;
        opt.log_level = DAE_LOG_INFO;
        opt.log_user = &j;
        dae_integrator *it = create(&sys, &opt);
        start(it, 3, 1, (double[]){0, 1}); /* jumps at the start and at the end */
        advance(it, 1, DAE_OK);
        if (j.wrong)
            fail_msg("%s: %d evaluations on the wrong side, the last at t = %.17g", m->name, j.wrong,
                     j.wrong_t);
        assert_int_equal(dae_integrator_stats(it)->restarts, 1);
        assert_near(dae_integrator_state(it)[0], -2 - 3, 1e-10);
        assert_near(dae_integrator_state(it)[1], exp(-2), 1e-7);
        dae_integrator_destroy(it);
    }
}

static int bent(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = fabs(t - floor(t) - 0.5) - 0.25 - 0.01 * y[0]; /* straight between halves */
    return 0;
}

/* Behind a border that changes little methods whose errors tell when a step is too long do not begin with a guess: twenty pieces, at most two
 * steps each. */
static void one_step_methods_begin_with_no_guess_behind_a_border(void **state)
{
    (void)state;
    static const char *const method[] = {"vern8", "vern9", "dopri5", "dop853", "rodas4p2", "rodas5p"};
    double at[19], exact = NAN;
    for (int k = 0; k < 19; k++) at[k] = 0.5 * (k + 1);
    for (int m = 0; m < 6; m++) {
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = bent}};
        dae_options opt = with_method(method[m], 1e-4);
        opt.discontinuity = at;
        opt.ndiscontinuity = 19;
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 10, (double[]){1});
        advance(it, 10, DAE_OK);
        long steps = dae_integrator_stats(it)->accepted; /* 45 and more with a guess behind each */
        if (steps < 20 || steps > 30) fail_msg("%s: %ld steps", method[m], steps);
        if (m) assert_near(dae_integrator_state(it)[0], exact, 1e-4);
        else exact = dae_integrator_state(it)[0];
        dae_integrator_destroy(it);
    }
}

static void automatic_choice_and_probing_stay_on_their_side(void **state)
{
    (void)state;
    static const double at[] = {0, 1};
    jumps j = {.at = at, .count = 2, .now = 1};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = jumping, .user = &j}};
    dae_options opt = with_method("auto", 1e-10);
    opt.discontinuity = at;
    opt.ndiscontinuity = 2;
    opt.log = follow_restarts;
    opt.log_level = DAE_LOG_INFO;
    opt.log_user = &j;
    for (int k = 0; k < 2; k++) {
        j.now = 1;
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 2, (double[]){0, 1});
        advance(it, 2, DAE_OK);
        assert_near(dae_integrator_state(it)[0], 2 + 3, 1e-10);
        dae_integrator_destroy(it);
        opt.method = "radau5";
        opt.linear_algebra = "sparse";
    }
    if (j.wrong) fail_msg("%d evaluations on the wrong side, the last at t = %.17g", j.wrong, j.wrong_t);
}

static void jump_behind_the_end_is_not_stepped_over(void **state)
{
    (void)state;
    static const double at[] = {2 + 1e-9};
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        jumps j = {.at = at, .count = 1};
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = jumping, .user = &j}};
        dae_options opt = with_method(m->name, 1e-8);
        opt.discontinuity = at;
        opt.ndiscontinuity = 1;
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 2, (double[]){0, 1});
        advance(it, 2, DAE_OK);
        if (j.wrong) fail_msg("%s: evaluated at %.17g, beyond the jump", m->name, j.wrong_t);
        assert_near(dae_integrator_state(it)[0], 2, 1e-10);
        dae_integrator_destroy(it);
    }
}

static void wrong_discontinuities_are_refused(void **state)
{
    (void)state;
    dae_system sys = oscillator(NULL);
    dae_options opt = with_method("dopri5", 1e-6);
    dae_error err = {0};
    const double falling[] = {2, 1}, bad[] = {NAN};
    opt.discontinuity = falling;
    opt.ndiscontinuity = 2;
    dae_integrator *it = create(&sys, &opt);
    assert_int_equal(dae_integrator_start(it, 0, 3, oscillator_y0, NULL, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "discontinuity times must be sorted in the direction of integration");
    assert_int_equal(dae_integrator_advance(it, 3, &err), DAE_ERR_INPUT); /* not started */
    assert_int_equal(dae_integrator_start(it, 3, 0, oscillator_y0, NULL, &err), DAE_OK);
    dae_integrator_destroy(it);
    opt.discontinuity = bad;
    opt.ndiscontinuity = 1;
    assert_null(dae_integrator_create(&sys, &opt, &err));
    assert_string_equal(err.text, "a discontinuity time is not finite");
    opt.discontinuity = NULL;
    assert_null(dae_integrator_create(&sys, &opt, &err));
    assert_string_equal(err.text, "ndiscontinuity = 1 without times");
}

/* A terminal event exactly where the right-hand side jumps: going on begins the next segment. */
static int at_one(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)y, (void)yp, (void)user;
    phi[0] = t - 1;
    return 0;
}

static void terminal_event_at_a_jump_can_be_passed(void **state)
{
    (void)state;
    static const double at[] = {1};
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        jumps j = {.at = at, .count = 1};
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = jumping, .user = &j}};
        dae_event event = {.name = "one", .terminal = 1};
        dae_events events = {.count = 1, .event = &event, .phi = at_one};
        dae_options opt = with_method(m->name, 1e-8);
        opt.discontinuity = at;
        opt.ndiscontinuity = 1;
        dae_integrator *it = create(&sys, &opt);
        assert_int_equal(dae_integrator_set_events(it, &events, NULL), DAE_OK);
        start(it, 0, 2, (double[]){0, 1});
        advance(it, 2, DAE_EVENT);
        assert_near(dae_integrator_time(it), 1, 1e-14);
        assert_int_equal(j.wrong, 0);
        j.now = 1;
        advance(it, 2, DAE_OK);
        if (j.wrong) fail_msg("%s: evaluated at %.17g in the wrong segment", m->name, j.wrong_t);
        assert_near(dae_integrator_state(it)[0], 1 + 2, 1e-9);
        dae_integrator_destroy(it);
    }
}

/* ---- Limits ---------------------------------------------------------------------------------------------- */

static void steps_are_limited(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        dae_options opt = with_method(NULL, 1e-8);
        dae_error err = {0};
        opt.max_steps = 20;
        dae_integrator *it = oscillate(m, opt, NULL, 1000);
        assert_int_equal(dae_integrator_advance(it, 1000, &err), DAE_ERR_MAX_STEPS);
        assert_between((double)dae_integrator_stats(it)->steps, 20,
                       40); /* the last step may have been tried often */
        assert_non_null(strstr(err.text, "raise max_steps"));
        assert_true(err.t == dae_integrator_time(it) && err.t > 0);
        dae_integrator_destroy(it);
    }
}

static void seconds_are_limited(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        dae_options opt = with_method(NULL, 1e-8);
        dae_error err = {0};
        opt.max_steps = 0;
        opt.max_seconds = 0.02;
        dae_integrator *it = oscillate(m, opt, NULL, 1e9);
        assert_int_equal(dae_integrator_advance(it, 1e9, &err), DAE_ERR_MAX_SECONDS);
        assert_non_null(
            strstr(err.text, "0.02 s of CPU time are used up before 1e+09 was reached; raise max_seconds"));
        assert_true(dae_integrator_stats(it)->cpu_seconds >= 0.02);
        dae_integrator_destroy(it);
    }
}

static double longest;

static int note_longest(const dae_integrator *it, double t, double t_end, void *user)
{
    (void)t_end, (void)user;
    longest = fmax(longest, fabs(t - dae_integrator_previous_time(it)));
    return 0;
}

static void no_step_is_longer_than_h_max(void **state)
{
    (void)state;
    static const double ends[] = {2, 2.0001, 2.0009}; /* a last step must not be stretched either */
    EACH_ODE_METHOD(m)
    {
        for (int k = 0; k < 3; k++) {
            dae_options opt = with_method(NULL, 1e-2);
            opt.h_max = 0.02;
            dae_integrator *it = oscillate(m, opt, NULL, ends[k]);
            longest = 0;
            dae_integrator_set_progress(it, note_longest, NULL);
            advance(it, ends[k], DAE_OK);
            const dae_stats *st = dae_integrator_stats(it);
            if (st->h_largest > 0.02 * (1 + 1e-12) || longest > 0.02 * (1 + 1e-12)) {
                fail_msg("%s, end %g: a step of %.15g", m->name, ends[k], st->h_largest);
            }
            if (!(st->accepted >= 100)) fail_msg("%s, end %g: %ld steps", m->name, ends[k], st->accepted);
            dae_integrator_destroy(it);
        }
    }
}

static int blows_up(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = 2 * y[0] * y[0] * y[0]; /* y = 1/(1 - t) */
    return 0;
}

static void no_step_is_shorter_than_h_min(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        dae_system sys = {
            .kind = DAE_KIND_ODE,
            .ode = {.n = 2, .f = blows_up},
            .structure = {.second_order = wants_second_order(m), .no_velocities = m->no_velocities}};
        dae_options opt = with_method(m->name, 1e-8);
        dae_error err = {0};
        opt.h_min = 1e-3;
        opt.h0 = 2e-3;
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 2, (double[]){1, 1});
        dae_status s = dae_integrator_advance(it, 2, &err);
        if (s >= 0 || s == DAE_ERR_INTERNAL || !err.text[0])
            fail_msg("%s: %s: %s", m->name, dae_status_name(s), err.text);
        const dae_stats *st = dae_integrator_stats(it);
        if (st->h_smallest < 1e-3 * (1 - 1e-9)) fail_msg("%s: a step of %g", m->name, st->h_smallest);
        dae_integrator_destroy(it);
    }
}

static int cancel_after(const dae_integrator *it, double t, double t_end, void *user)
{
    (void)it, (void)t, (void)t_end;
    return --*(int *)user == 0;
}

static void progress_can_cancel_and_the_run_goes_on(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        dae_error err = {0};
        dae_integrator *it = oscillate(m, with_method(NULL, 1e-6), NULL, 7),
                       *other = oscillate(m, with_method(NULL, 1e-6), NULL, 7);
        int left = 5;
        dae_integrator_set_progress(it, cancel_after, &left);
        assert_int_equal(dae_integrator_advance(it, 7, &err), DAE_CANCELLED);
        assert_int_equal(dae_integrator_stats(it)->accepted, 5);
        assert_memory_equal(err.text, "cancelled at t = ", 17);
        advance(it, 7, DAE_OK);
        advance(other, 7, DAE_OK);
        assert_memory_equal(dae_integrator_state(it), dae_integrator_state(other), 2 * sizeof(double));
        dae_integrator_destroy(it);
        dae_integrator_destroy(other);
    }
}

/* The thread cancels once the run has begun. */
typedef struct canceller {
    dae_integrator *it;
    pthread_mutex_t lock;
    pthread_cond_t begun;
    int running;
} canceller;

static void *cancel_it(void *user)
{
    canceller *c = user;
    pthread_mutex_lock(&c->lock);
    while (!c->running) pthread_cond_wait(&c->begun, &c->lock);
    pthread_mutex_unlock(&c->lock);
    dae_integrator_cancel(c->it);
    return NULL;
}

static int tell_running(const dae_integrator *it, double t, double t_end, void *user)
{
    canceller *c = user;
    (void)it, (void)t, (void)t_end;
    if (!c->running) {
        pthread_mutex_lock(&c->lock);
        c->running = 1;
        pthread_cond_signal(&c->begun);
        pthread_mutex_unlock(&c->lock);
    }
    return 0;
}

static void another_thread_can_cancel_and_the_run_goes_on(void **state)
{
    (void)state;
    dae_options opt = with_method(NULL, 1e-8);
    opt.max_steps = 0;
    EACH_ODE_METHOD(m)
    {
        canceller c = {.lock = PTHREAD_MUTEX_INITIALIZER, .begun = PTHREAD_COND_INITIALIZER};
        c.it = oscillate(m, opt, NULL, 1e9);
        dae_integrator_set_progress(c.it, tell_running, &c);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_it, &c), 0);
        advance(c.it, 1e9, DAE_CANCELLED);
        pthread_join(thread, NULL);
        double t = dae_integrator_time(c.it);
        assert_true(t > 0 && t < 1e9);
        advance(c.it, t + 3, DAE_OK); /* the request is used up */
        dae_integrator *other = oscillate(m, opt, NULL, 1e9);
        advance(other, t + 3, DAE_OK);
        assert_memory_equal(dae_integrator_state(c.it), dae_integrator_state(other), 2 * sizeof(double));
        assert_int_equal(dae_integrator_stats(c.it)->steps, dae_integrator_stats(other)->steps);
        dae_integrator_destroy(other);
        dae_integrator_destroy(c.it);
    }
}

/* ---- Counters -------------------------------------------------------------------------------------------- */

static int van_der_pol(double t, const double *y, double *f, void *user)
{
    (void)t;
    ++*(long *)user;
    f[0] = y[1];
    f[1] = 5 * (1 - y[0] * y[0]) * y[1] - y[0];
    return 0;
}

static int algebraic(double t, const double *y, double *f, void *user)
{
    van_der_pol(t, y, f, user);
    f[2] = y[2] - y[0] * y[1];
    return 0;
}

static int implicit(double t, const double *y, const double *yp, double *F, void *user)
{
    algebraic(t, y, F, user);
    F[0] -= yp[0];
    F[1] -= yp[1];
    return 0;
}

/* Factors matrices on a problem that is not stiff: all made for stiff ones but lsoda, which sees that it is not. */
static int always_factors(const dae_method_info *m)
{
    return m->implicit && strcmp(m->name, "lsoda") != 0;
}

static void every_evaluation_is_counted(void **state)
{
    (void)state;
    static const double mass[] = {1, 1, 0}, y0[] = {2, 0, 0}, at[] = {1, 2};
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (wants_second_order(m)) continue;
        for (int kind = DAE_KIND_ODE; kind <= DAE_KIND_IDE; kind++) {
            if (!(m->kinds & 1u << kind)) continue;
            for (int jump = 0; jump < 2; jump++) { /* without and with restarts */
                long calls = 0;
                dae_system sys = {.kind = (dae_kind)kind};
                if (kind == DAE_KIND_ODE) sys.ode = (dae_ode){.n = 2, .f = van_der_pol, .user = &calls};
                if (kind == DAE_KIND_DAE)
                    sys.dae =
                        (dae_dae){.n = 3, .f = algebraic, .mass = dae_diagonal(3, mass), .user = &calls};
                if (kind == DAE_KIND_IDE) sys.ide = (dae_ide){.n = 3, .residual = implicit, .user = &calls};
                dae_options opt = with_method(m->name, 1e-5);
                opt.discontinuity = at;
                opt.ndiscontinuity = 2 * jump;
                dae_integrator *it = create(&sys, &opt);
                start(it, 0, 3, y0);
                advance(it, 3, DAE_OK);
                const dae_stats *st = dae_integrator_stats(it);
                assert_int_equal(st->restarts, 2 * jump);
                if (st->f + st->f_jac != calls) {
                    fail_msg("%s, %s, %d restarts: f = %ld and f_jac = %ld, but %ld calls", m->name,
                             dae_kind_name((dae_kind)kind), 2 * jump, st->f, st->f_jac, calls);
                }
                assert_true(st->steps >= st->accepted && st->accepted > 0);
                assert_true(st->h_smallest > 0 && st->h_smallest <= st->h_largest);
                assert_between(st->order_last, m->order_min, m->order_max);
                if (always_factors(m))
                    assert_true(st->jac > 0 && st->lu > 0 && st->solves > 0 && st->f_jac > 0);
                dae_integrator_destroy(it);
            }
        }
    }
}

static void probing_is_counted_and_the_judgment_of_auto_is_not(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        long calls = 0, judgment = k ? 0 : 3; /* f at the start, and J by differences for the power method */
        dae_system sys = oscillator(&calls);
        dae_options opt = with_method(k ? "radau5" : "auto", 1e-6);
        opt.linear_algebra = "sparse";
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 3, oscillator_y0);
        advance(it, 3, DAE_OK);
        assert_int_equal(dae_integrator_stats(it)->f + dae_integrator_stats(it)->f_jac + judgment, calls);
        dae_integrator_destroy(it);
    }
}

enum { COPIES = 10 };

/* So many and so slow that the clock, whose own time is taken off, does not count beside functions and factors. */
static int slow_van_der_pols(double t, const double *y, double *f, void *user)
{
    for (int k = 0; k < 20 * COPIES; k++) van_der_pol(t, y + 2 * (k % COPIES), f + 2 * (k % COPIES), user);
    return 0;
}

static void timers_are_positive_and_below_the_whole(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        long calls = 0;
        double y0[2 * COPIES];
        for (int i = 0; i < 2 * COPIES; i++) y0[i] = i % 2 ? 0 : 2;
        dae_system sys = {.kind = DAE_KIND_ODE,
                          .ode = {.n = 2 * COPIES, .f = slow_van_der_pols, .user = &calls}};
        dae_options opt = with_method(m->name, 1e-7);
        opt.profile = 1;
        dae_integrator *it = create(&sys, &opt);
        start(it, 0, 30, y0);
        advance(it, 30, DAE_OK);
        const dae_stats *st = dae_integrator_stats(it);
        assert_true(st->user_seconds > 0 && st->cpu_seconds > 0);
        if (always_factors(m)) assert_true(st->linalg_seconds > 0);
        dae_integrator_destroy(it);
        opt.profile = 0;
        it = create(&sys, &opt);
        start(it, 0, 1, y0);
        advance(it, 1, DAE_OK);
        assert_true(dae_integrator_stats(it)->user_seconds == 0 &&
                    dae_integrator_stats(it)->linalg_seconds == 0);
        dae_integrator_destroy(it);
    }
}

/* ---- Wrong and extreme input ------------------------------------------------------------------------------- */

static void create_fails(const dae_system *sys, const dae_options *opt, dae_status expected, const char *text)
{
    dae_error err = {0};
    dae_integrator *it = dae_integrator_create(sys, opt, &err);
    assert_null(it);
    assert_int_equal(err.status, expected);
    if (!strstr(err.text, text)) fail_msg("\"%s\" does not say \"%s\"", err.text, text);
    assert_null(dae_integrator_create(sys, opt, NULL));
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const double bad[] = {1e-6, -1}, good[] = {1e-6, 1e-6};
    dae_system sys = oscillator(NULL);
    dae_options opt = with_method("radau5", 1e-6);
    dae_options o = opt;
    o.rtol = -1e-6;
    create_fails(&sys, &o, DAE_ERR_INPUT, "rtol = -1e-06 must not be negative");
    o = opt, o.rtol = NAN;
    create_fails(&sys, &o, DAE_ERR_INPUT, "rtol = nan must not be negative");
    o = opt, o.atol = -1;
    create_fails(&sys, &o, DAE_ERR_INPUT, "atol = -1 must not be negative");
    o = opt, o.rtol_vec = bad;
    create_fails(&sys, &o, DAE_ERR_INPUT, "rtol of component 2 is -1; it must not be negative");
    o = opt, o.rtol_vec = good, o.atol_vec = bad;
    create_fails(&sys, &o, DAE_ERR_INPUT, "atol of component 2 is -1; it must not be negative");
    o = opt, o.h_max = -1;
    create_fails(&sys, &o, DAE_ERR_INPUT,
                 "step sizes (h0 = 0, h_max = -1, h_min = 0, fixed_step = 0) must not be negative");
    o = opt, o.max_steps = -1;
    create_fails(&sys, &o, DAE_ERR_INPUT, "limits (max_steps = -1, max_seconds = 0) must not be negative");
    o = opt, o.linear_algebra = "sprase";
    create_fails(&sys, &o, DAE_ERR_INPUT,
                 "option linear_algebra = \"sprase\" is not one of auto|dense|banded|sparse");
    o = opt, o.jacobian = "analytic";
    create_fails(&sys, &o, DAE_ERR_INPUT, "option jacobian = \"analytic\" is not one of auto|difference");
    o = opt, o.method = "dorpi5";
    create_fails(&sys, &o, DAE_ERR_INPUT,
                 "there is no method \"dorpi5\"; did you mean \"dopri5\"?; for this system: auto, radau5");
    dae_setting setting = {"order_max", "9"};
    o = opt, o.method = "auto", o.setting = &setting, o.nsetting = 1;
    create_fails(&sys, &o, DAE_ERR_INPUT,
                 "option \"order_max\" belongs to a method, but the method is auto; name the method");
    o.method = "dopri5";
    create_fails(&sys, &o, DAE_ERR_INPUT, "there is no option of method dopri5 \"order_max\"; known: ");
    setting.name = "ordermax", o.method = "radau";
    create_fails(&sys, &o, DAE_ERR_INPUT,
                 "there is no option of method radau \"ordermax\"; did you mean \"order_max\"?");
}

static void methods_that_do_not_fit_name_those_that_do(void **state)
{
    (void)state;
    static const double mass[] = {1, 0};
    dae_system sys = {.kind = DAE_KIND_DAE,
                      .dae = {.n = 2, .f = oscillator_f, .mass = dae_diagonal(2, mass)}};
    dae_options opt = with_method("dopri5", 1e-6);
    create_fails(&sys, &opt, DAE_ERR_UNSUPPORTED,
                 "method dopri5 does not take systems of kind DAE; these do: radau5, radau");
    sys.structure.index = (int[]){1, 3};
    for (int i = 0; i < dae_method_count(); i++) { /* whoever takes DAEs, but of a low index only */
        const dae_method_info *m = dae_method_get(i);
        if (!(m->kinds & 1u << DAE_KIND_DAE) || m->max_index >= 3) continue;
        char text[128];
        snprintf(text, sizeof text,
                 "method %s takes index %d at most, the system has index 3; these do: radau5, radau", m->name,
                 m->max_index);
        opt.method = m->name;
        create_fails(&sys, &opt, DAE_ERR_UNSUPPORTED, text);
    }
}

static void wrong_initial_values_are_refused(void **state)
{
    (void)state;
    dae_system sys = oscillator(NULL);
    dae_options opt = with_method("radau5", 1e-6);
    dae_integrator *it = create(&sys, &opt);
    dae_error err = {0};
    assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "call dae_integrator_start first");
    assert_int_equal(dae_integrator_step(it, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_interpolate(it, 0, err.text[0] ? (double[2]){0} : NULL, NULL),
                     DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_start(it, 0, 1, (double[]){0, NAN}, NULL, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "initial value of component 2 is nan");
    assert_int_equal(dae_integrator_start(it, 0, 1, (double[]){INFINITY, 0}, NULL, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "initial value of component 1 is inf");
    assert_int_equal(dae_integrator_start(it, 0, 1, oscillator_y0, (double[]){0, NAN}, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "initial derivative of component 2 is nan");
    assert_int_equal(dae_integrator_start(it, 0, INFINITY, oscillator_y0, NULL, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "t0 = 0 and t_end = inf must be finite");
    start(it, 0, 1, oscillator_y0);
    advance(it, 0.5, DAE_OK);
    assert_int_equal(dae_integrator_start(it, 0, NAN, oscillator_y0, NULL, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_ERR_INPUT); /* the old run is over */
    dae_integrator_destroy(it);
}

static int needs_positive(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -1;
    f[1] = sqrt(y[0]);
    return 0;
}

static void start_that_fails_leaves_nothing_running(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = needs_positive}};
        dae_options opt = with_method(m->name, 1e-6);
        dae_integrator *it = create(&sys, &opt);
        dae_error err = {0};
        assert_int_equal(dae_integrator_start(it, 0.5, 1, (double[]){-1, 0}, NULL, &err), DAE_ERR_UNDEFINED);
        assert_string_equal(
            err.text,
            "t = 0.5: component 2 of the right-hand side is not finite at the initial values; check them "
            "and the domain of the equations");
        assert_near(err.t, 0.5, 0);
        assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_ERR_INPUT);
        assert_int_equal(dae_integrator_save(it, NULL, 0), 0);
        start(it, 0, 0.5, (double[]){1, 0});
        advance(it, 0.5, DAE_OK);
        assert_near(dae_integrator_state(it)[1], 2.0 / 3 * (1 - pow(0.5, 1.5)), 1e-4);
        dae_integrator_destroy(it);
    }
}

static void leaving_the_domain_ends_with_a_message(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = needs_positive}};
        dae_options opt = with_method(m->name, 1e-6);
        dae_integrator *it = create(&sys, &opt);
        dae_error err = {0};
        start(it, 0, 2, (double[]){1, 0});
        dae_status s = dae_integrator_advance(it, 2, &err);
        if (s != DAE_ERR_STEP_TOO_SMALL && s != DAE_ERR_UNDEFINED)
            fail_msg("%s: %s: %s", m->name, dae_status_name(s), err.text);
        assert_between(dae_integrator_time(it), 0.9, 1 + 1e-9);
        assert_near(err.t, 1, 0.1);
        assert_true(dae_integrator_stats(it)->undefined > 0);
        dae_integrator_destroy(it);
    }
}

static int decay(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[0];
    return 0;
}

static void one_equation_and_no_time_at_all(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = decay}};
        dae_options opt = with_method(m->name, 1e-8);
        double y = 1;
        assert_int_equal(dae_solve(&sys, &opt, 0, 1, &y, NULL, NULL), DAE_OK);
        assert_near(y, exp(-1), 1e-5);
        dae_stats stats;
        y = 3;
        assert_int_equal(dae_solve(&sys, &opt, 2, 2, &y, &stats, NULL), DAE_OK);
        assert_near(y, 3, 0);
        assert_int_equal(stats.steps, 0);
    }
}

static int linear(double t, const double *y, double *f, void *user)
{
    (void)y, (void)user;
    f[0] = t;
    return 0;
}

/* y = 0 with atol = 0 leaves nothing to measure errors by: a result or a message, but an end. */
static void zero_tolerance_at_zero_ends(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = linear}};
        dae_options opt = with_method(m->name, 1e-6);
        opt.atol = 0;
        opt.max_steps = 20000;
        double y = 0;
        dae_error err = {0};
        dae_status s = dae_solve(&sys, &opt, 0, 1, &y, NULL, &err);
        if (s == DAE_OK) assert_near(y, 0.5, 1e-3);
        else if (s >= 0 || s == DAE_ERR_INTERNAL || !err.text[0])
            fail_msg("%s: %s: %s", m->name, dae_status_name(s), err.text);
    }
}

static void solve_keeps_what_was_reached(void **state)
{
    (void)state;
    dae_system sys = oscillator(NULL);
    dae_options opt = with_method("dopri5", 1e-6);
    opt.max_steps = 10;
    double y[] = {1, 0};
    dae_error err = {0};
    dae_stats stats;
    assert_int_equal(dae_solve(&sys, &opt, 0, 100, y, &stats, &err), DAE_ERR_MAX_STEPS);
    assert_near(y[0], cos(err.t), 1e-4);
    assert_true(err.t > 0 && stats.steps >= 10);
    opt.method = "nothing";
    assert_int_equal(dae_solve(&sys, &opt, 0, 100, y, NULL, NULL), DAE_ERR_INPUT);
    assert_int_equal(dae_solve(NULL, &opt, 0, 100, y, NULL, NULL), DAE_ERR_INPUT);
}

/* A method may make the initial values consistent: the driver shows what it integrates. */
static int constraint_f(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[0];
    f[1] = y[0] + y[1] - 2;
    return 0;
}

static int first_point(double t, const double *y, int n, void *user)
{
    double *first = user;
    (void)n;
    if (t == 0) memcpy(first, y, 2 * sizeof *y);
    return 0;
}

static void corrected_initial_values_are_shown(void **state)
{
    (void)state;
    if (!dae_method_find("ida")) skip();
    static const double mass[] = {1, 0};
    dae_system sys = {.kind = DAE_KIND_DAE,
                      .dae = {.n = 2, .f = constraint_f, .mass = dae_diagonal(2, mass)}};
    dae_options opt = with_method("ida", 1e-6);
    double first[2] = {NAN, NAN};
    dae_integrator *it = create(&sys, &opt);
    dae_output o = {.mode = DAE_OUTPUT_EQUIDISTANT, .count = 2, .write = first_point, .user = first};
    assert_int_equal(dae_integrator_set_output(it, &o, NULL), DAE_OK);
    start(it, 0, 1, (double[]){0.5, 1}); /* consistent is 1.5 */
    assert_near(dae_integrator_state(it)[1], 1.5, 1e-6);
    assert_near(first[0], 0.5, 1e-12);
    assert_near(first[1], 1.5, 1e-6);
    dae_integrator_destroy(it);
}

/* ---- Threads ------------------------------------------------------------------------------------------------- */

typedef struct job {
    const dae_method_info *method;
    double y[2];
    dae_stats stats;
    dae_status status;
} job;

static void *run_job(void *user)
{
    job *j = user;
    long calls = 0;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = van_der_pol, .user = &calls}};
    dae_options opt = with_method(j->method->name, 1e-7);
    j->y[0] = 2;
    j->y[1] = 0;
    j->status = dae_solve(&sys, &opt, 0, 40, j->y, &j->stats, NULL);
    return NULL;
}

static void two_threads_give_what_one_gives(void **state)
{
    (void)state;
    EACH_ODE_METHOD(m)
    {
        if (wants_second_order(m)) continue;
        job alone = {.method = m}, pair[2] = {{.method = m}, {.method = m}};
        run_job(&alone);
        assert_int_equal(alone.status, DAE_OK);
        pthread_t thread[2];
        for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&thread[k], NULL, run_job, &pair[k]), 0);
        for (int k = 0; k < 2; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < 2; k++) {
            assert_memory_equal(pair[k].y, alone.y, sizeof alone.y);
            assert_int_equal(pair[k].stats.steps, alone.stats.steps);
            assert_int_equal(pair[k].stats.f, alone.stats.f);
        }
    }
}

static int relaxation(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -1e6 * (y[0] - 1);
    return 0;
}

static int strong_damper(const dae_mech_point *x, double *f, void *user)
{
    (void)user;
    f[0] = -1e6 * (x->v[0] - 1);
    return 0;
}

/* But rkc, which takes stiff systems, those for y'' = f(t,y), in which nothing decays, and rattle, which takes no damping. */
static void explicit_methods_out_of_steps_say_that_the_problem_is_stiff(void **state)
{
    static const double one[] = {1};
    int told = 0;
    (void)state;
    for (int k = 0; k < dae_method_count(); k++) {
        const dae_method_info *m = dae_method_get(k);
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = relaxation}};
        dae_options opt = with_method(m->name, 1e-4);
        double y[2] = {2, 0};
        dae_error err = {0};
        if (m->implicit || m->no_velocities) continue;
        if (!(m->kinds & 1u << DAE_KIND_ODE)) {
            sys = (dae_system){
                .kind = DAE_KIND_MECH,
                .mech = {.np = 1, .nv = 1, .mass = dae_diagonal(1, one), .force = strong_damper}};
        }
        opt.max_steps = 20000;
        dae_status s = dae_solve(&sys, &opt, 0, 100, y, NULL, &err);
        if (s == DAE_OK || s == DAE_ERR_UNSUPPORTED) continue;
        if (s != DAE_ERR_MAX_STEPS) fail_msg("%s: %s", m->name, err.text);
        told++;
        if (!strstr(err.text, "stiff") || strstr(err.text, "raise max_steps"))
            fail_msg("%s: %s", m->name, err.text);
    }
    assert_true(told >= 7); /* dopri5, dop853, vern9, bs23, vode-adams, mexx, phem56 */
}

static void methods_warn_above_the_index_that_they_control(void **state)
{
    (void)state;
    assert_non_null(strstr(dae_method_warning(dae_method_find("dassl"), 3), "index 3"));
    assert_null(dae_method_warning(dae_method_find("dassl"), 2));
    assert_null(dae_method_warning(dae_method_find("radau5"), 3));
    if (dae_method_find("ida"))
        assert_non_null(strstr(dae_method_warning(dae_method_find("ida"), 3), "radau5"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_and_steps_give_the_same_end_bit_for_bit),
        cmocka_unit_test(dense_output_follows_the_solution_inside_the_last_step_only),
        cmocka_unit_test(targets_behind_and_beyond_are_refused),
        cmocka_unit_test(an_integrator_can_start_again),
        cmocka_unit_test(nothing_is_evaluated_beyond_the_end_with_stop_at_end),
        cmocka_unit_test(jumps_are_never_seen_from_the_wrong_side),
        cmocka_unit_test(jumps_work_backward_and_at_both_ends),
        cmocka_unit_test(one_step_methods_begin_with_no_guess_behind_a_border),
        cmocka_unit_test(automatic_choice_and_probing_stay_on_their_side),
        cmocka_unit_test(jump_behind_the_end_is_not_stepped_over),
        cmocka_unit_test(wrong_discontinuities_are_refused),
        cmocka_unit_test(terminal_event_at_a_jump_can_be_passed),
        cmocka_unit_test(steps_are_limited),
        cmocka_unit_test(explicit_methods_out_of_steps_say_that_the_problem_is_stiff),
        cmocka_unit_test(methods_warn_above_the_index_that_they_control),
        cmocka_unit_test(seconds_are_limited),
        cmocka_unit_test(no_step_is_longer_than_h_max),
        cmocka_unit_test(no_step_is_shorter_than_h_min),
        cmocka_unit_test(progress_can_cancel_and_the_run_goes_on),
        cmocka_unit_test(another_thread_can_cancel_and_the_run_goes_on),
        cmocka_unit_test(every_evaluation_is_counted),
        cmocka_unit_test(probing_is_counted_and_the_judgment_of_auto_is_not),
        cmocka_unit_test(timers_are_positive_and_below_the_whole),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(methods_that_do_not_fit_name_those_that_do),
        cmocka_unit_test(wrong_initial_values_are_refused),
        cmocka_unit_test(start_that_fails_leaves_nothing_running),
        cmocka_unit_test(leaving_the_domain_ends_with_a_message),
        cmocka_unit_test(one_equation_and_no_time_at_all),
        cmocka_unit_test(zero_tolerance_at_zero_ends),
        cmocka_unit_test(solve_keeps_what_was_reached),
        cmocka_unit_test(corrected_initial_values_are_shown),
        cmocka_unit_test(two_threads_give_what_one_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
