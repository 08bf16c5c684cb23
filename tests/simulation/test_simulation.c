/* Simulations: every form of a mechanism with events, stepping by hand, checkpoints, cancelling, what was chosen. */
#include <daedalus/daedalus.h>

#include "test.h"

static dae_problem *cradle(void)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open("models/newtons_cradle.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static dae_simulation *opened(const dae_problem *p, const char *method, const char *form)
{
    dae_error err = {0};
    dae_simulation_options o = dae_simulation_options_default(p);
    o.options.method = method;
    o.options.formulation = form;
    dae_simulation *s = dae_simulation_open(p, &o, &err);
    if (!s) fail_msg("%s/%s: %s", method, form, err.text);
    if (dae_simulation_start(s, &err) < 0) fail_msg("%s/%s: %s", method, form, err.text);
    return s;
}

/* Elastic hits of equal balls: each form has to see them, and all end at the same place. */
static void events_are_the_same_in_every_form(void **state)
{
    static const char *const how[][2] = {{"phem56", "descriptor"},
                                         {"dop853", "index1"},
                                         {"radau5", "ggl"},
                                         {"radau5", "statespace"},
                                         {"dop853", "baumgarte"}};
    (void)state;
    dae_problem *p = cradle();
    int n = dae_system_size(&p->system), hits = 0;
    double *first = calloc((size_t)n, sizeof *first), *y = calloc((size_t)n, sizeof *y);
    for (int k = 0; k < 5; k++) {
        dae_error err = {0};
        int count;
        dae_simulation *s = opened(p, how[k][0], how[k][1]);
        assert_int_equal(dae_simulation_advance(s, p->t_end, &err), DAE_OK);
        dae_simulation_events(s, &count);
        memcpy(k ? y : first, dae_simulation_state(s), (size_t)n * sizeof *y);
        if (!k) hits = count;
        assert_int_equal(count, hits);
        for (int i = 0; k && i < n; i++) assert_near(y[i], first[i], 2e-6);
        dae_simulation_close(s);

        dae_options o = dae_options_default(); /* and without a simulation */
        o.method = how[k][0];
        o.formulation = how[k][1];
        o.rtol = p->rtol;
        o.atol = p->atol;
        memcpy(y, p->y0, (size_t)n * sizeof *y);
        assert_int_equal(dae_solve_events(&p->system, &o, p->events, p->t0, p->t_end, y, NULL, &err), DAE_OK);
        for (int i = 0; i < n; i++) assert_near(y[i], first[i], 2e-6);
    }
    assert_true(hits >= 2);
    free(first);
    free(y);
    dae_problem_destroy(p);
}

/* Along the steps: dense output and its derivative fit the motion, constraints and energy are kept. */
static void steps_by_hand_have_dense_output(void **state)
{
    static const char *const how[][2] = {
        {"phem56", "descriptor"}, {"dop853", "index1"}, {"radau5", "statespace"}};
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open("models/four_bar.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    const dae_mech *m = &p->system.mech;
    int n = dae_system_size(&p->system);
    double *work = calloc(5 * (size_t)n + (size_t)m->nlambda, sizeof *work);
    double *y = work, *yp = y + n, *left = yp + n, *right = left + n, *a = right + n, *lambda = a + n;
    for (int k = 0; k < 3; k++) {
        dae_simulation *s = opened(p, how[k][0], how[k][1]);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(dae_simulation_step(s, &err), DAE_OK);
            double t0 = dae_simulation_previous_time(s), t1 = dae_simulation_time(s), h = 1e-3 * (t1 - t0),
                   t = t0 + 0.4 * (t1 - t0), r[3];
            assert_int_equal(dae_simulation_interpolate(s, t, y, yp, &err), DAE_OK);
            assert_int_equal(dae_simulation_interpolate(s, t - h, left, NULL, &err), DAE_OK);
            assert_int_equal(dae_simulation_interpolate(s, t + h, right, NULL, &err), DAE_OK);
            for (int j = 0; j < n; j++)
                assert_near(yp[j], (right[j] - left[j]) / (2 * h), 1e-3 * (1 + fabs(yp[j])));
            assert_int_equal(dae_simulation_residuals(s, r, &err), DAE_OK);
            assert_true(r[0] < 1e-6 && r[1] < 1e-5);
        }
        assert_int_equal(dae_simulation_multipliers(s, dae_simulation_time(s), a, lambda, &err), DAE_OK);
        for (int j = 0; j < m->nlambda; j++) assert_true(isfinite(lambda[j]));
        dae_choice c = dae_simulation_choice(s);
        assert_string_equal(c.method, how[k][0]);
        assert_string_equal(c.formulation, how[k][1]);
        assert_true(dae_simulation_interpolate(s, p->t_end + 1, y, NULL, &err) < 0);
        assert_non_null(strstr(err.text, "inside the last step"));
        dae_simulation_close(s);
    }
    free(work);
    dae_problem_destroy(p);
}

static void a_saved_simulation_goes_on_bit_for_bit(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = cradle();
    int n = dae_system_size(&p->system);
    dae_simulation *s = opened(p, "radau5", "statespace"), *again = opened(p, "radau5", "statespace");
    assert_int_equal(dae_simulation_advance(s, 0.4 * p->t_end, &err), DAE_OK);
    size_t size = dae_simulation_save(s, NULL, 0);
    void *bytes = malloc(size);
    assert_int_equal(dae_simulation_save(s, bytes, size), size);
    assert_int_equal(dae_simulation_load(again, bytes, size, NULL, &err), DAE_OK);
    assert_int_equal(dae_simulation_advance(s, p->t_end, &err), DAE_OK);
    assert_int_equal(dae_simulation_advance(again, p->t_end, &err), DAE_OK);
    assert_memory_equal(dae_simulation_state(s), dae_simulation_state(again), (size_t)n * sizeof(double));
    free(bytes);
    dae_simulation_close(s);
    dae_simulation_close(again);
    dae_problem_destroy(p);
}

static int third_step(dae_simulation *s, void *user)
{
    if (++*(int *)user == 3) dae_simulation_cancel(s);
    return 0;
}

static void cancelling_ends_after_the_step_and_start_begins_again(void **state)
{
    (void)state;
    dae_error err = {0};
    int steps = 0;
    dae_problem *p = dae_problem_open("hires", NULL, 0, &err);
    dae_simulation_options o = dae_simulation_options_default(p);
    dae_simulation *s = dae_simulation_open(p, &o, &err);
    assert_non_null(s);
    dae_simulation_set_progress(s, third_step, &steps);
    assert_int_equal(dae_simulation_start(s, &err), DAE_OK);
    assert_int_equal(dae_simulation_advance(s, p->t_end, &err), DAE_CANCELLED);
    assert_int_equal(dae_simulation_stats(s).accepted, 3);
    assert_int_equal(dae_simulation_start(s, &err), DAE_OK);
    assert_int_equal(dae_simulation_advance(s, p->t_end, &err), DAE_OK);
    assert_true(dae_problem_score(p, &o.options, NULL, dae_simulation_state(s)).mescd > 6.5);
    dae_choice c = dae_simulation_choice(s);
    assert_true(dae_method_find(c.method)->implicit);
    assert_non_null(strstr(c.reason, "stiff"));
    assert_non_null(strstr(c.linear_algebra, "dense 8"));
    double r[3];
    assert_int_equal(dae_simulation_residuals(s, r, &err), DAE_ERR_UNSUPPORTED);
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

/* Elastic hits keep it. */
static void energy_is_that_of_the_problem(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = cradle();
    dae_simulation *s = opened(p, "dop853", "index1");
    dae_energy e0, e1;
    assert_int_equal(dae_simulation_energy(s, &e0, &err), DAE_OK);
    assert_int_equal(dae_simulation_advance(s, p->t_end, &err), DAE_OK);
    assert_int_equal(dae_simulation_energy(s, &e1, &err), DAE_OK);
    assert_near(e0.kinetic, 0, 1e-12);
    assert_near(e1.kinetic + e1.potential, e0.potential, 1e-6 * fabs(e0.potential) + 1e-9);
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

/* A rod without mass on a pin: the start names it. */
static void singular_start_names_the_body(void **state)
{
    static const char text[] =
        "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"light\", \"dimension\": 2, "
        "\"bodies\": [ { \"name\": \"feather\", \"mass\": 0, \"inertia\": 0, \"r\": [1, 0] } ], "
        "\"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, "
        "{ \"name\": \"A\", \"body\": \"feather\", \"r\": [-1, 0] } ], "
        "\"joints\": [ { \"name\": \"J\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A\" } ], "
        "\"simulation\": { \"t1\": 1 } }";
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open_text(text, strlen(text), "light.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    assert_null(dae_simulation_open(p, NULL, &err));
    assert_int_equal(err.status, DAE_ERR_SINGULAR);
    if (!strstr(err.text, "body \"feather\" has no mass")) fail_msg("%s", err.text);
    dae_problem_destroy(p);
}

/* y' = -2000 (y - cos t) is stiff: "auto" would go on with an implicit method, dopri5 that was named stays to the end. */
static void a_named_method_is_never_replaced(void **state)
{
    static const char text[] =
        "model stiff\nvar y = 1\ny' = -2000*(y - cos(t))\nsolve t = 0 .. 10, rtol = 1e-6\n";
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open_text(text, strlen(text), "stiff.deq", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_simulation *s = opened(p, "dopri5", NULL);
    assert_int_equal(dae_simulation_advance(s, 10, &err), DAE_OK);
    assert_string_equal(dae_simulation_choice(s).method, "dopri5");
    assert_int_equal(dae_simulation_stats(s).lu, 0);
    assert_true(dae_simulation_stats(s).accepted > 2000 * 10 / 4); /* bound to its stability, h <= 3.3/2000 */
    assert_near(dae_simulation_state(s)[0], (4e6 * cos(10) + 2000 * sin(10)) / (4e6 + 1), 1e-5);
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_the_same_in_every_form),
        cmocka_unit_test(steps_by_hand_have_dense_output),
        cmocka_unit_test(a_saved_simulation_goes_on_bit_for_bit),
        cmocka_unit_test(cancelling_ends_after_the_step_and_start_begins_again),
        cmocka_unit_test(energy_is_that_of_the_problem),
        cmocka_unit_test(singular_start_names_the_body),
        cmocka_unit_test(a_named_method_is_never_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
