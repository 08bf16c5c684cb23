/* Events of one instant: right sides see the values before it, all assignments are made together, what becomes true by them fires
 * there and then. Expected values are those of the rules, by hand. */
#include "files.h"

#include <daedalus/daedalus.h>

static dae_run_result *run_text(const char *text, const char *form, dae_problem **p)
{
    dae_error err = {0};
    *p = dae_equations_problem(text, strlen(text), NULL, NULL, 0, &err);
    if (!*p) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(*p);
    o.options.formulation = form;
    dae_run_result *r = dae_run(*p, &o, &err);
    if (!r) fail_msg("%s", err.text);
    return r;
}

typedef struct wanted {
    const char *name;
    double value;
} wanted;

static void ends_with(const char *text, const char *form, int events, const wanted *x)
{
    dae_problem *p;
    dae_run_result *r = run_text(text, form, &p);
    if (r->status < 0) fail_msg("%s\n%s", text, r->error.text);
    for (; x->name; x++) {
        double got = r->last.y[dae_component_find(p, x->name)];
        if (!(fabs(got - x->value) < 1e-7))
            fail_msg("%s\n%s = %.12g, expected %.12g", text, x->name, got, x->value);
    }
    if (events >= 0) assert_int_equal(r->nevent, events);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void fails_with(const char *text, const char *message)
{
    dae_problem *p;
    dae_run_result *r = run_text(text, NULL, &p);
    if (r->status >= 0) fail_msg("no error in\n%s", text);
    assert_int_equal(r->status, DAE_ERR_EVENT);
    if (!strstr(r->error.text, message)) fail_msg("%s\nexpected: %s", r->error.text, message);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void right_sides_see_the_values_before(void **state)
{
    (void)state;
    ends_with("var x = 1, y = 2\nx' = 0*t\ny' = 0*t\nat 1: x := y\nat 1: y := x\nsolve t = 0 .. 2\n", NULL, 2,
              (wanted[]){{"x", 2}, {"y", 1}, {NULL, 0}});
    /* strokes at 0: a = 1, b = 0; 0.5: a = 2; 1: b = 2, a = 3; 1.5: a = 4 */
    ends_with("discrete a = 0, b = 0\nvar x = 0\nx' = 1\nevery 0.5: a := a + 1\nevery 1: b := a\nsolve t = 0 "
              ".. 1.75\n",
              NULL, -1, (wanted[]){{"a", 4}, {"b", 2}, {"x", 1.75}, {NULL, 0}});
    /* a condition and a clock that meet: x reaches 1 when the clock strikes */
    ends_with(
        "discrete n = 1, m = 0\nvar x = 0\nx' = 1\nwhen x > 1: n := 5\nat 1: m := n\nsolve t = 0 .. 1.5\n",
        NULL, 2, (wanted[]){{"n", 5}, {"m", 1}, {NULL, 0}});
}

static void what_becomes_true_fires_at_once(void **state)
{
    (void)state;
    /* x passes 1: mode, then count, then x := 0, all at t = 1 */
    static const char chain[] =
        "discrete mode = 0, count = 0\nvar x = 0\nx' = 1\nwhen count > 0.5: x := 0\n"
        "when mode > 0.5: count := count + 1\nwhen x > 1: mode := 1\nsolve t = 0 .. 1.5\n";
    ends_with(chain, NULL, 3, (wanted[]){{"x", 0.5}, {"mode", 1}, {"count", 1}, {NULL, 0}});
    dae_problem *p;
    dae_run_result *r = run_text(chain, NULL, &p);
    static const int order[] = {2, 1, 0};
    for (int k = 0; k < 3; k++) {
        assert_int_equal(r->event[k].index, order[k]);
        assert_near(r->event[k].t, 1, 1e-12);
    }
    dae_run_destroy(r);
    dae_problem_destroy(p);
    /* algebraic variables have followed before conditions are tested again: z = 4 */
    ends_with("discrete n = 0\nvar x = 1, z\nx' = -x\nz = x^2\nwhen x < 0.5: x := 2\nwhen z > 3: n := n + "
              "1\nsolve t = 0 .. 1, rtol = 1e-10\n",
              NULL, 2, (wanted[]){{"n", 1}, {"x", 4 * exp(-1)}, {NULL, 0}});
    /* a condition that was true before does not fire again */
    ends_with("discrete n = 0, m = 0\nvar x = 0\nx' = 1\nwhen x > 0.5: n := n + 1\nat 1: m := 1\nsolve t = 0 "
              ".. 1.5\n",
              NULL, 2, (wanted[]){{"n", 1}, {"m", 1}, {NULL, 0}});
    /* a stop that follows from an assignment ends the run there */
    ends_with("discrete n = 0\nvar x = 0\nx' = 1\nat 0.25, 0.5, 0.75: n := n + 1\nwhen n > 1.5: stop\nsolve "
              "t = 0 .. 2\n",
              NULL, 3, (wanted[]){{"x", 0.5}, {NULL, 0}});
}

/* The pendulum of index 3 in its states: the clock sees the speed before the blow that falls at the same time. */
static void forms_with_other_variables_too(void **state)
{
    (void)state;
    static const char text[] =
        "discrete seen = 9\nvar x = 1, y ~ 0, vx = 0, vy = 0, lam\nx' = vx\ny' = vy\nvx' = -lam*x\nvy' = "
        "-lam*y\n"
        "rod: x^2 + y^2 = 1\nat 0.5: vy := 1\nat 0.5: seen := vy\nsolve t = 0 .. 0.5000001, rtol = 1e-10\n";
    static const char *const form[] = {"statespace", "index1", "projected", "labels"};
    for (int k = 0; k < 4; k++) {
        dae_problem *p;
        dae_run_result *r = run_text(text, form[k], &p);
        if (r->status < 0) fail_msg("%s: %s", form[k], r->error.text);
        assert_near(r->last.y[dae_component_find(p, "seen")], 0, 1e-12);
        assert_near(r->last.y[dae_component_find(p, "vy")], 1, 1e-6);
        assert_int_equal(r->nevent, 2);
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

/* An instant at t0 acts there, as a clock that begins there does: in an ODE, and where an algebraic variable follows. */
static void instants_at_the_start(void **state)
{
    (void)state;
    ends_with("discrete a = 1\nvar x = 0\nx' = a\nat 0, 1: a := 2*a\nsolve t = 0 .. 2\n", NULL, 1,
              (wanted[]){{"a", 4}, {"x", 6}, {NULL, 0}});
    ends_with("discrete a = 1\nvar x = 0, z\nx' = z\nz = 3*a\nat 0: a := 2\nsolve t = 0 .. 1\n", NULL, 0,
              (wanted[]){{"a", 2}, {"z", 6}, {"x", 6}, {NULL, 0}});
}

static void contradictions_are_named(void **state)
{
    (void)state;
    fails_with("var x = 0\nx' = 1\nat 1 \"up\": x := 1\nat 1 \"down\": x := 2\nsolve t = 0 .. 2\n",
               "\"up\" (line 3) and \"down\" (line 4) assign one variable at the same time");
    fails_with(
        "discrete a = -1, b = -1\nvar x = 0\nx' = 1\nwhen x > 1: b := 1\nwhen a > 0\na := -1\nb := 1\nend\n"
        "when b > 0\nb := -1\na := 1\nend\nsolve t = 0 .. 2\n",
        "events set off each other 20 times without end");
}

/* Conditions on t alone: up to the last time before an instant the rate is the old one, from the instant on the new one, whichever way the
 * condition is written and rounded. */
static void instants_belong_to_the_new_side(void **state)
{
    static const char *const condition[] = {"t >= 20*3600",
                                            "t > 20*3600",
                                            "t < 20*3600",
                                            "t <= 20*3600",
                                            "t/3600 - 24*floor(t/86400) >= 20",
                                            "20 <= t/3600 - 24*floor(t/86400)",
                                            "t/0.1 > 3e5",
                                            "3*(t - 0.1)/7 >= 12345.678",
                                            "floor(t/700.7) == 50",
                                            "ceil(t/700.7) == 50",
                                            "mod(t, 1000.1) < 300.3"};
    (void)state;
    for (size_t k = 0; k < sizeof condition / sizeof *condition; k++) {
        char text[200];
        dae_error err = {0};
        snprintf(text, sizeof text, "var x = 0\nx' = if %s then 1 else 2\nsolve t = 14400 .. 80000\n",
                 condition[k]);
        dae_problem *p = dae_equations_problem(text, strlen(text), NULL, NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        assert_true(p->ndiscontinuity > 0);
        for (int i = 0; i < p->ndiscontinuity; i++) {
            double t = p->discontinuity[i], y = 0, far[2], near[2];
            p->system.ode.f(t - 1e-3, &y, &far[0], p->system.ode.user);
            p->system.ode.f(nextafter(t, 0), &y, &near[0], p->system.ode.user);
            p->system.ode.f(t, &y, &near[1], p->system.ode.user);
            p->system.ode.f(t + 1e-3, &y, &far[1], p->system.ode.user);
            if (near[0] != far[0] || near[1] != far[1])
                fail_msg("%s: instant %.17g lies beside the change", condition[k], t);
        }
        dae_problem_destroy(p);
    }
}

/* Clocks, lists of instants and the parameters in them ask for no state; everything else does. */
static void clocks_read_time_only(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int no_state;
    } is[] = {
        {"param T = 0.3\nvar x = 1\nx' = -x\nevery T: x := x + 1\nat 0.5, 0.7: x := 0\nsolve t = 0 .. 1\n",
         1},
        {"var x = 1\nx' = -x\nwhen t > 0.5: x := 1\nsolve t = 0 .. 1\n", 1},
        {"var x = 1\nx' = -x\nevery 0.3: x := x + 1\nwhen x < 0.5: x := 1\nsolve t = 0 .. 1\n", 0},
        {"discrete k = 0\nvar x = 1\nx' = -x\nwhen t > k + 0.5: k := k + 1\nsolve t = 0 .. 1\n", 0}};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        dae_error err = {0};
        dae_problem *p = dae_equations_problem(is[i].text, strlen(is[i].text), NULL, NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        assert_int_equal(p->events->no_state, is[i].no_state);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(instants_belong_to_the_new_side),
                                       cmocka_unit_test(clocks_read_time_only),
                                       cmocka_unit_test(right_sides_see_the_values_before),
                                       cmocka_unit_test(what_becomes_true_fires_at_once),
                                       cmocka_unit_test(forms_with_other_variables_too),
                                       cmocka_unit_test(instants_at_the_start),
                                       cmocka_unit_test(contradictions_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
