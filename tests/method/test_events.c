/* Event location: what other tools get wrong, and the numbers that show it is right here. */
#include "test.h"

#include <daedalus/integrator.h>

static const char *const methods[] = {"dopri5", "dop853", "bs23", "radau5", "radau"};
enum { METHODS = sizeof methods / sizeof *methods };

/* ---- A ball that bounces ------------------------------------------------------------------------- */

static const double gravity = 9.81;
static double restitution = 0.9;

static int fall(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = y[1];
    f[1] = -gravity;
    return 0;
}

static int height(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)t;
    (void)yp;
    (void)user;
    phi[0] = y[0];
    return 0;
}

static int bounce(int i, double t, int rising, double *y, double *yp, void *user)
{
    (void)i;
    (void)t;
    (void)yp;
    (void)user;
    assert_int_equal(rising, 0);
    y[0] = 0;
    y[1] *= -restitution;
    return DAE_EVENT_RESTART;
}

static dae_integrator *ball_with(const char *method, double tolerance, double t_end, const dae_events *events)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = fall}};
    dae_options opt = dae_options_default();
    dae_error err;
    opt.method = method;
    opt.rtol = opt.atol = tolerance;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_non_null(it);
    assert_int_equal(dae_integrator_set_events(it, events, &err), DAE_OK);
    assert_int_equal(dae_integrator_start(it, 0, t_end, (double[]){1, 0}, NULL, &err), DAE_OK);
    return it;
}

static dae_integrator *ball(const char *method, double t_end, const dae_events *events)
{
    return ball_with(method, 1e-10, t_end, events);
}

static void ball_bounces_twenty_times_at_the_exact_times(void **state)
{
    (void)state;
    dae_event event = {.name = "ground", .direction = DAE_FALLING};
    dae_events events = {.count = 1, .event = &event, .phi = height, .action = bounce};
    double flight = sqrt(2 / gravity), speed = gravity * flight, when[20];
    when[0] = flight;
    for (int k = 1; k < 20; k++) {
        speed *= restitution;
        when[k] = when[k - 1] + 2 * speed / gravity;
    }
    for (int m = 0; m < METHODS; m++) {
        dae_integrator *it = ball(methods[m], when[19] + 0.01, &events);
        dae_error err;
        assert_int_equal(dae_integrator_advance(it, when[19] + 0.01, &err), DAE_OK);
        int count;
        const dae_event_record *record = dae_integrator_events(it, &count);
        assert_int_equal(count, 20);
        for (int k = 0; k < 20; k++) assert_near(record[k].t, when[k], 1e-9);
        assert_int_equal(dae_integrator_stats(it)->events, 20);
        assert_int_equal(dae_integrator_stats(it)->restarts, 20);
        dae_integrator_destroy(it);
    }
}

static void bounces_that_pile_up_give_a_message(void **state)
{
    (void)state;
    dae_event event = {.name = "ground", .direction = DAE_FALLING};
    dae_events events = {.count = 1, .event = &event, .phi = height, .action = bounce};
    double factor[] = {0.3, 0.5, 0.9, 0.97};
    for (int k = 0; k < 4 * METHODS; k++) {
        restitution = factor[k % 4];
        double flight = sqrt(2 / gravity), rest = flight + 2 * flight * restitution / (1 - restitution);
        dae_integrator *it = ball(methods[k / 4], 2 * rest, &events);
        dae_error err;
        assert_int_equal(dae_integrator_advance(it, 2 * rest, &err), DAE_ERR_EVENT);
        assert_near(err.t, rest, 1e-6);
        assert_non_null(strstr(err.text, "pile up"));
        dae_integrator_destroy(it);
    }
    restitution = 0.9;
}

static void terminal_event_stops_on_the_far_side_and_goes_on(void **state)
{
    (void)state;
    dae_event event = {.name = "ground", .direction = DAE_FALLING, .terminal = 1};
    dae_events events = {.count = 1, .event = &event, .phi = height};
    for (int m = 0; m < METHODS; m++) {
        dae_integrator *it = ball(methods[m], 1, &events);
        dae_error err;
        assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_EVENT);
        assert_near(dae_integrator_time(it), sqrt(2 / gravity), 1e-10);
        assert_true(dae_integrator_state(it)[0] <= 0);
        assert_near(dae_integrator_state(it)[0], 0, 1e-12);
        /* going on does not trigger again: the ball keeps falling */
        assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_OK);
        assert_near(dae_integrator_state(it)[0], 1 - gravity / 2, 1e-8);
        int count;
        dae_integrator_events(it, &count);
        assert_int_equal(count, 1);
        dae_integrator_destroy(it);
    }
}

/* ---- Roots of given functions of time -------------------------------------------------------------- */

typedef struct script {
    int count;
    double (*phi)(int i, double t);
} script;

static int still(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)y;
    (void)user;
    f[0] = 1;
    return 0;
}

static int scripted(double t, const double *y, const double *yp, double *phi, void *user)
{
    const script *s = user;
    (void)y;
    (void)yp;
    for (int i = 0; i < s->count; i++) phi[i] = s->phi(i, t);
    return 0;
}

/* Integrates y' = 1 over [t0,t1] in few steps and returns the events. */
static int find(const script *s, const dae_event *event, int check_points, double t0, double t1,
                dae_event_record *out, int most)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = still}};
    dae_options opt = dae_options_default();
    dae_events events = {.count = s->count,
                         .event = event,
                         .phi = scripted,
                         .check_points = check_points,
                         .user = (void *)(uintptr_t)s};
    dae_error err;
    opt.method = "dopri5";
    opt.h0 = fabs(t1 - t0);
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_int_equal(dae_integrator_set_events(it, &events, &err), DAE_OK);
    assert_int_equal(dae_integrator_start(it, t0, t1, (double[]){0}, NULL, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(it, t1, &err), DAE_OK);
    int count;
    const dae_event_record *record = dae_integrator_events(it, &count);
    for (int k = 0; k < count && k < most; k++) out[k] = record[k];
    assert_int_equal(dae_integrator_stats(it)->accepted, 1);
    dae_integrator_destroy(it);
    return count;
}

static double pair(int i, double t)
{
    (void)i;
    return (t - 0.41) * (t - 0.43);
}

static void two_roots_close_together_in_one_step_are_found(void **state)
{
    (void)state;
    dae_event_record r[4];
    assert_int_equal(find(&(script){1, pair}, &(dae_event){0}, 0, 0, 1, r, 4), 2);
    assert_near(r[0].t, 0.41, 1e-14);
    assert_near(r[1].t, 0.43, 1e-14);
    assert_int_equal(r[0].rising, 0);
    assert_int_equal(r[1].rising, 1);
    /* ends of the step only: nothing is seen, as asked */
    assert_int_equal(find(&(script){1, pair}, &(dae_event){0}, -1, 0, 1, r, 4), 0);
    /* direction */
    assert_int_equal(find(&(script){1, pair}, &(dae_event){.direction = DAE_RISING}, 0, 0, 1, r, 4), 1);
    assert_near(r[0].t, 0.43, 1e-14);
}

static double touch(int i, double t)
{
    (void)i;
    return (t - 0.37) * (t - 0.37);
}

static void double_root_in_one_step_is_found(void **state)
{
    (void)state;
    dae_event_record r[4];
    assert_int_equal(find(&(script){1, touch}, &(dae_event){0}, 8, 0, 1, r, 4), 1);
    assert_near(r[0].t, 0.37, 1e-7); /* a double root is flat: half of the digits */
}

static double many(int i, double t)
{
    return i == 0 ? sin(30 * t) : i == 1 ? t - 0.5 : 0;
}

static void many_functions_give_sorted_roots_and_zero_functions_none(void **state)
{
    (void)state;
    dae_event event[3] = {{0}};
    dae_event_record r[20];
    int count = find(&(script){3, many}, event, 20, 0, 1, r, 20);
    assert_int_equal(count, 10); /* pi/30 .. 9 pi/30, and 0.5; the root at t0 is where it starts */
    int k = 1;
    for (int j = 0; j < count; j++) {
        if (j) assert_true(r[j].t >= r[j - 1].t);
        if (r[j].index == 1) assert_near(r[j].t, 0.5, 1e-14);
        else assert_near(r[j].t, k++ * acos(-1.0) / 30, 1e-13);
    }
}

static double at_ends(int i, double t)
{
    return i == 0 ? t : 1 - t;
}

static void root_at_the_end_is_reported_and_at_the_start_is_not(void **state)
{
    (void)state;
    dae_event event[2] = {{0}};
    dae_event_record r[4];
    assert_int_equal(find(&(script){2, at_ends}, event, 0, 0, 1, r, 4), 1);
    assert_int_equal(r[0].index, 1);
    assert_near(r[0].t, 1, 0);
    /* backwards in time the roles change */
    assert_int_equal(find(&(script){2, at_ends}, event, 0, 1, 0, r, 4), 1);
    assert_int_equal(r[0].index, 0);
    assert_near(r[0].t, 0, 0);
}

static double start_then_return(int i, double t)
{
    (void)i;
    return t * (0.6 - t);
}

static void root_at_the_start_does_not_hide_the_next(void **state)
{
    (void)state;
    dae_event_record r[4];
    assert_int_equal(find(&(script){1, start_then_return}, &(dae_event){0}, -1, 0, 1, r, 4), 1);
    assert_near(r[0].t, 0.6, 1e-14);
}

static double small(int i, double t)
{
    (void)i;
    return 1e-7 * sin(40 * t);
}

static void values_below_the_residual_never_trigger(void **state)
{
    (void)state;
    dae_event_record r[4];
    assert_int_equal(find(&(script){1, small}, &(dae_event){.residual = 1e-6}, 10, 0, 1, r, 4), 0);
}

/* ---- The cubic of scipy issue 9228 ------------------------------------------------------------------ */

static int cubic_slope(double x, const double *y, double *f, void *user)
{
    (void)y;
    (void)user;
    f[0] = 3 * x * x + 12 * x - 4;
    return 0;
}

static void cubic_of_scipy_9228_has_three_roots(void **state)
{
    (void)state;
    dae_event event = {0};
    dae_events events = {.count = 1, .event = &event, .phi = height};
    for (int m = 0; m < METHODS; m++) {
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = cubic_slope}};
        dae_options opt = dae_options_default();
        dae_error err;
        opt.method = methods[m];
        opt.rtol = 1e-3; /* what scipy takes, so that the steps are long */
        opt.atol = 1e-6;
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        dae_integrator_set_events(it, &events, &err);
        assert_int_equal(dae_integrator_start(it, -8, 4, (double[]){-120}, NULL, &err), DAE_OK);
        assert_int_equal(dae_integrator_advance(it, 4, &err), DAE_OK);
        int count;
        const dae_event_record *r = dae_integrator_events(it, &count);
        assert_int_equal(count, 3);
        for (int k = 0; k < 3; k++) assert_near(r[k].t, -6 + 4 * k, 1e-3);
        dae_integrator_destroy(it);
    }
}

/* ---- Simultaneous events ----------------------------------------------------------------------------- */

static double same_time(int i, double t)
{
    return i == 0 ? t - 0.5 : 2 * (0.5 - t);
}

static void simultaneous_events_come_in_declared_order(void **state)
{
    (void)state;
    dae_event event[2] = {{0}};
    dae_event_record r[4];
    assert_int_equal(find(&(script){2, same_time}, event, 0, 0, 1, r, 4), 2);
    assert_int_equal(r[0].index, 0);
    assert_int_equal(r[1].index, 1);
}

static int do_nothing(int i, double t, int rising, double *y, double *yp, void *user)
{
    (void)i;
    (void)t;
    (void)rising;
    (void)y;
    (void)yp;
    ++*(int *)user;
    return DAE_EVENT_GO_ON;
}

static void event_without_effect_leaves_the_solution_bitwise(void **state)
{
    (void)state;
    int calls = 0;
    dae_event event = {0};
    dae_events events = {.count = 1, .event = &event, .phi = height, .action = do_nothing, .user = &calls};
    dae_integrator *with = ball("dop853", 2, &events), *without = ball("dop853", 2, NULL);
    dae_error err;
    assert_int_equal(dae_integrator_advance(with, 2, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(without, 2, &err), DAE_OK);
    assert_int_equal(calls, 1);
    assert_memory_equal(dae_integrator_state(with), dae_integrator_state(without), 2 * sizeof(double));
    dae_integrator_destroy(with);
    dae_integrator_destroy(without);
}

static void wrong_events_are_refused(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = still}};
    dae_error err;
    dae_integrator *it = dae_integrator_create(&sys, NULL, &err);
    assert_int_equal(dae_integrator_set_events(it, &(dae_events){.count = 1}, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "switching function"));
    dae_integrator_destroy(it);
}

/* ---- Functions that cannot be evaluated everywhere ---------------------------------------------------- */

static double blind_below;

/* The height, known only above blind_below. */
static int seen_height(double t, const double *y, const double *yp, double *phi, void *user)
{
    return y[0] < blind_below ? 1 : height(t, y, yp, phi, user);
}

static void root_before_a_blind_stretch_is_found(void **state)
{
    (void)state;
    dae_event event = {.name = "ground", .direction = DAE_FALLING, .terminal = 1};
    dae_events events = {.count = 1, .event = &event, .phi = seen_height};
    blind_below = -1e-6;
    for (int m = 0; m < METHODS; m++) {
        dae_integrator *it = ball(methods[m], 5, &events);
        assert_int_equal(dae_integrator_advance(it, 5, NULL), DAE_EVENT);
        assert_near(dae_integrator_time(it), sqrt(2 / gravity), 1e-9);
        dae_integrator_destroy(it);
    }
}

static void root_in_a_blind_stretch_is_not_lost_in_silence(void **state)
{
    (void)state;
    dae_event event = {.name = "ground", .direction = DAE_FALLING, .terminal = 1};
    dae_events events = {.count = 1, .event = &event, .phi = seen_height};
    blind_below = 0.1;
    for (int m = 0; m < METHODS; m++) {
        dae_integrator *it = ball(methods[m], 5, &events);
        dae_error err;
        assert_int_equal(dae_integrator_advance(it, 5, &err), DAE_ERR_EVENT);
        assert_near(err.t, sqrt(2 * 0.9 / gravity), 1e-9);
        assert_non_null(strstr(err.text, "cannot be evaluated"));
        dae_integrator_destroy(it);
    }
}

/* ---- Many balls ------------------------------------------------------------------------------------ */

enum { BALLS = 40 };

static int fall_all(double t, const double *y, double *f, void *user)
{
    for (int k = 0; k < BALLS; k++) fall(t, y + 2 * k, f + 2 * k, user);
    return 0;
}

static int heights(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)t, (void)yp;
    ++*(long *)user;
    for (int k = 0; k < BALLS; k++) phi[k] = y[2 * k];
    return 0;
}

static int bounce_one(int i, double t, int rising, double *y, double *yp, void *user)
{
    return bounce(0, t, rising, y + 2 * i, yp, user);
}

/* All fall in one step, each is the first once: only first ones are looked for, so that a bounce costs some evaluations of the
 * functions, however many balls there are (one that locates every root of every step needs more than 4000). */
static void of_many_balls_only_the_next_bounce_is_looked_for(void **state)
{
    (void)state;
    dae_event event[BALLS];
    long calls = 0;
    double y[2 * BALLS];
    dae_events events = {
        .count = BALLS, .event = event, .phi = heights, .action = bounce_one, .user = &calls};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2 * BALLS, .f = fall_all}};
    dae_options opt = dae_options_default();
    dae_error err;
    opt.method = "dop853";
    opt.rtol = opt.atol = 1e-10;
    for (int k = 0; k < BALLS; k++) {
        event[k] = (dae_event){.name = "ground", .direction = DAE_FALLING};
        y[2 * k] = 1 + 0.01 * (BALLS - k);
        y[2 * k + 1] = 0;
    }
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_int_equal(dae_integrator_set_events(it, &events, &err), DAE_OK);
    assert_int_equal(dae_integrator_start(it, 0, 0.6, y, NULL, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(it, 0.6, &err), DAE_OK);
    int count;
    const dae_event_record *record = dae_integrator_events(it, &count);
    assert_int_equal(count, BALLS);
    for (int k = 0; k < count; k++) {
        assert_int_equal(record[k].index, BALLS - 1 - k);
        assert_near(record[k].t, sqrt(2 * (1 + 0.01 * (k + 1)) / gravity), 1e-9);
    }
    assert_true(calls < 120 * BALLS);
    dae_integrator_destroy(it);
}

/* ---- The price of a root ---- */

static int exponential(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)yp;
    (void)y;
    ++*(int *)user;
    phi[0] = exp(5 * t) - 5;
    return 0;
}

/* Secants meet the root of a smooth function soon: bisections alone would take fifty to the last bit. */
static void a_smooth_root_costs_few_evaluations(void **state)
{
    (void)state;
    int calls = 0;
    dae_event event = {.name = "root"};
    dae_events events = {.count = 1, .event = &event, .phi = exponential, .user = &calls};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = fall}};
    dae_options opt = dae_options_default();
    dae_error err;
    opt.method = "dopri5";
    opt.fixed_step = 1;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_int_equal(dae_integrator_set_events(it, &events, &err), DAE_OK);
    assert_int_equal(dae_integrator_start(it, 0, 1, (double[]){1, 0}, NULL, &err), DAE_OK);
    assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_OK);
    int count;
    const dae_event_record *record = dae_integrator_events(it, &count);
    assert_int_equal(count, 1);
    assert_near(record->t, log(5) / 5, 1e-15);
    assert_true(calls < 50); /* 36; with bisections alone 65 */
    dae_integrator_destroy(it);
}

/* ---- A sampled controller ------------------------------------------------------------------------ */

enum { SAMPLES = 10 };
typedef struct sampled {
    double at[SAMPLES], u;
    int next;
} sampled;

static int plant(double t, const double *y, double *f, void *user)
{
    const sampled *s = user;
    (void)t;
    f[0] = s->u - y[0];
    return 0;
}

static int instant(double t, const double *y, const double *yp, double *phi, void *user)
{
    const sampled *s = user;
    (void)y, (void)yp;
    phi[0] = s->next < SAMPLES ? t - nextafter(s->at[s->next], INFINITY) : -1;
    return 0;
}

static int sample(int i, double t, int rising, double *y, double *yp, void *user)
{
    sampled *s = user;
    (void)i, (void)t, (void)rising, (void)yp;
    s->u = 3 * (1 - y[0]);
    s->next++;
    return DAE_EVENT_RESTART;
}

/* SAMPLES instants with method; the state at the end in *y. */
static dae_stats sampled_run(const char *method, int no_state, double *y)
{
    sampled s = {.u = 3};
    for (int k = 0; k < SAMPLES; k++) s.at[k] = 0.2 * (k + 1);
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = plant, .user = &s}};
    dae_event event = {.name = "sample", .direction = DAE_RISING};
    dae_events events = {
        .count = 1, .event = &event, .phi = instant, .action = sample, .user = &s, .no_state = no_state};
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = opt.atol = 1e-6;
    opt.discontinuity = s.at;
    opt.ndiscontinuity = SAMPLES;
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    assert_non_null(it);
    assert_int_equal(dae_integrator_set_events(it, &events, NULL), DAE_OK);
    assert_int_equal(dae_integrator_start(it, 0, 2.2, (double[]){0}, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_advance(it, 2.2, NULL), DAE_OK);
    assert_int_equal(s.next, SAMPLES);
    *y = dae_integrator_state(it)[0];
    dae_stats st = *dae_integrator_stats(it);
    dae_integrator_destroy(it);
    return st;
}

/* A ball in flight: the polynomial of the method solves its equations, and two evaluations in the step that ends at the bounce show it,
 * where five or eight and more made another polynomial of it. */
static void polynomial_that_solves_the_equations_is_not_refined(void **state)
{
    dae_event event = {.name = "ground", .direction = DAE_FALLING};
    dae_events events = {.count = 1, .event = &event, .phi = height, .action = bounce};
    (void)state;
    for (int m = 0; m < 2; m++) { /* dopri5, dop853 */
        dae_integrator *it = ball_with(methods[m], 1e-6, 0.5, &events);
        assert_int_equal(dae_integrator_advance(it, 0.5, NULL), DAE_OK);
        assert_int_equal(dae_integrator_stats(it)->events, 1);
        assert_int_equal(dae_integrator_stats(it)->f_dense, 2);
        dae_integrator_destroy(it);
    }
}

/* The instants are borders of the run, and the event is found right behind them: the next step is as long as others, it does not grow
 * from the distance of the two. */
static void event_right_behind_a_border_does_not_begin_with_tiny_steps(void **state)
{
    (void)state;
    double u = 3, exact = 0, y;
    for (int k = 0; k <= SAMPLES; k++) {
        exact = u + (exact - u) * exp(-0.2);
        u = 3 * (1 - exact);
    }
    for (int m = 0; m < METHODS; m++) {
        dae_stats st = sampled_run(methods[m], 0, &y);
        assert_near(y, exact, 3e-6);
        assert_true(st.h_smallest > 1e-9); /* was 1e-14 .. */
    }
}

/* A function of time alone needs no dense output: the same numbers, and no stage more than those of the steps. */
static void functions_of_time_ask_for_no_dense_output(void **state)
{
    (void)state;
    for (int m = 0; m < METHODS; m++) {
        double y[2];
        dae_stats with = sampled_run(methods[m], 0, &y[0]), without = sampled_run(methods[m], 1, &y[1]);
        assert_true(y[0] == y[1]);
        assert_true(with.steps == without.steps);
        assert_true(without.f <= with.f);
        if (!strcmp(
                methods[m],
                "dop853")) { /* 12 per step, and per restart at most 3 and where the state before it is asked for */
            assert_true(without.f <= 12 * without.steps + 3 * (without.restarts + 1));
            assert_true(with.f > 12 * with.steps + 3 * (with.restarts + 1));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_smooth_root_costs_few_evaluations),
        cmocka_unit_test(functions_of_time_ask_for_no_dense_output),
        cmocka_unit_test(polynomial_that_solves_the_equations_is_not_refined),
        cmocka_unit_test(event_right_behind_a_border_does_not_begin_with_tiny_steps),
        cmocka_unit_test(ball_bounces_twenty_times_at_the_exact_times),
        cmocka_unit_test(bounces_that_pile_up_give_a_message),
        cmocka_unit_test(terminal_event_stops_on_the_far_side_and_goes_on),
        cmocka_unit_test(two_roots_close_together_in_one_step_are_found),
        cmocka_unit_test(double_root_in_one_step_is_found),
        cmocka_unit_test(many_functions_give_sorted_roots_and_zero_functions_none),
        cmocka_unit_test(root_at_the_end_is_reported_and_at_the_start_is_not),
        cmocka_unit_test(root_at_the_start_does_not_hide_the_next),
        cmocka_unit_test(values_below_the_residual_never_trigger),
        cmocka_unit_test(cubic_of_scipy_9228_has_three_roots),
        cmocka_unit_test(simultaneous_events_come_in_declared_order),
        cmocka_unit_test(event_without_effect_leaves_the_solution_bitwise),
        cmocka_unit_test(root_before_a_blind_stretch_is_found),
        cmocka_unit_test(root_in_a_blind_stretch_is_not_lost_in_silence),
        cmocka_unit_test(wrong_events_are_refused),
        cmocka_unit_test(of_many_balls_only_the_next_bounce_is_looked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
