/* Features of the driver in pairs, with every method: an event at a discontinuity, a checkpoint between two
 * discontinuities, a cancel from inside a callback. */
#include "method/runs.h"

/* p' = v, v' = 1, 2, 3 in the segments that 1 and 2 divide, from p = v = 0. */
static const double border[] = {1, 2};

typedef struct cart {
    dae_integrator *it; /* to be cancelled ... */
    double cancel_at;   /* ... at the first evaluation behind this time */
    long accepted;      /* steps that were accepted then; -1: not yet */
} cart;

static double acceleration(double t)
{
    return t < 1 ? 1 : t < 2 ? 2 : 3;
}

static void watch(cart *c, double t)
{
    if (!c || !c->it || c->accepted >= 0 || !(t > c->cancel_at)) return;
    c->accepted = dae_integrator_stats(c->it)->accepted;
    dae_integrator_cancel(c->it);
}

static int ode(double t, const double *y, double *f, void *user)
{
    watch(user, t);
    f[0] = y[1];
    f[1] = acceleration(t);
    return 0;
}

static int residual(double t, const double *y, const double *yp, double *F, void *user)
{
    watch(user, t);
    F[0] = yp[0] - y[1];
    F[1] = yp[1] - acceleration(t);
    return 0;
}

static int force(const dae_mech_point *x, double *f, void *user)
{
    watch(user, x->t);
    f[0] = acceleration(x->t);
    return 0;
}

static dae_system system_for(const dae_method_info *m, cart *c)
{
    static const double one[] = {1};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = ode, .user = c}};
    if (m->kinds & 1u << DAE_KIND_ODE) {
        sys.structure.second_order = wants_second_order(m);
        sys.structure.no_velocities = m->no_velocities;
    } else if (m->kinds & 1u << DAE_KIND_IDE) {
        sys = (dae_system){.kind = DAE_KIND_IDE, .ide = {.n = 2, .residual = residual, .user = c}};
    } else {
        sys =
            (dae_system){.kind = DAE_KIND_MECH,
                         .mech = {.np = 1, .nv = 1, .mass = dae_diagonal(1, one), .force = force, .user = c}};
    }
    return sys;
}

static dae_options options_for(const dae_method_info *m)
{
    dae_options opt = with_method(m->name, 1e-8);
    opt.discontinuity = border;
    opt.ndiscontinuity = 2;
    return opt;
}

/* v(3) = 1 + 2 + 3, p(3) = 1/2 + (1 + 1) + (3 + 3/2). */
static void check_end(const dae_method_info *m, dae_integrator *it, const char *what)
{
    const double *y = dae_integrator_state(it);
    if (dae_integrator_time(it) != 3)
        fail_msg("%s, %s: ends at t = %g", m->name, what, dae_integrator_time(it));
    if (!(fabs(y[0] - 7) < 1e-5 && fabs(y[1] - 6) < 1e-5))
        fail_msg("%s, %s: y(3) = (%.10g, %.10g) instead of (7, 6)", m->name, what, y[0], y[1]);
}

static int at_one(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)y, (void)yp, (void)user;
    phi[0] = t - 1;
    return 0;
}

static int restart_there(int i, double t, int rising, double *y, double *yp, void *user)
{
    (void)i, (void)y, (void)yp;
    assert_int_equal(rising, 1);
    assert_near(t, 1, 1e-14);
    ++*(int *)user;
    return DAE_EVENT_RESTART;
}

static void every_method_passes_an_event_at_a_discontinuity(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        int found = 0;
        dae_system sys = system_for(m, NULL);
        dae_options opt = options_for(m);
        dae_event event = {.name = "one"};
        dae_events events = {
            .count = 1, .event = &event, .phi = at_one, .action = restart_there, .user = &found};
        dae_integrator *it = create(&sys, &opt);
        assert_int_equal(dae_integrator_set_events(it, &events, NULL), DAE_OK);
        start(it, 0, 3, (double[]){0, 0});
        advance(it, 3, DAE_OK);
        check_end(m, it, "event at a discontinuity");
        assert_int_equal(found, 1);
        dae_integrator_destroy(it);
    }
}

static void every_method_resumes_between_two_discontinuities(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!m->checkpoint) continue;
        dae_system sys = system_for(m, NULL);
        dae_options opt = options_for(m);
        dae_integrator *first = create(&sys, &opt), *second = create(&sys, &opt);
        start(first, 0, 3, (double[]){0, 0});
        start(second, 0, 3, (double[]){0, 0});
        advance(first, 1.5, DAE_OK);
        size_t size = dae_integrator_save(first, NULL, 0);
        void *buffer = malloc(size);
        assert_true(size > 0 && buffer);
        assert_int_equal(dae_integrator_save(first, buffer, size), size);
        assert_int_equal(dae_integrator_load(second, buffer, size, NULL), DAE_OK);
        free(buffer);
        advance(first, 3, DAE_OK);
        advance(second, 3, DAE_OK);
        check_end(m, second, "resumed between discontinuities");
        assert_memory_equal(dae_integrator_state(first), dae_integrator_state(second), 2 * sizeof(double));
        dae_integrator_destroy(first);
        dae_integrator_destroy(second);
    }
}

static void every_method_stops_after_the_step_that_cancels(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        cart c = {.cancel_at = 0.05, .accepted = -1};
        dae_system sys = system_for(m, &c);
        dae_options opt = options_for(m);
        opt.h_max = 0.01; /* so that there are many steps to come */
        c.it = create(&sys, &opt);
        start(c.it, 0, 3, (double[]){0, 0});
        advance(c.it, 3, DAE_CANCELLED);
        long more = dae_integrator_stats(c.it)->accepted - c.accepted;
        assert_true(c.accepted >= 0);
        if (more > 1) fail_msg("%s: %ld steps after the cancel", m->name, more);
        advance(c.it, 3, DAE_OK);
        check_end(m, c.it, "cancelled and resumed");
        dae_integrator_destroy(c.it);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_passes_an_event_at_a_discontinuity),
        cmocka_unit_test(every_method_resumes_between_two_discontinuities),
        cmocka_unit_test(every_method_stops_after_the_step_that_cancels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
