/* Events in words, on problems of all sorts and in every form of a mechanism. */
#include "test.h"

#include <daedalus/experiment.h>

static dae_problem *open_problem(const char *name)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(name, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* A run with the functions in text (count of them, NULL: those of the problem). */
static dae_run_result *watch(const dae_problem *p, const char *method, const char *form, double tol,
                             double t_end, const char *const *text, int count, dae_switching **s)
{
    dae_error err = {0};
    dae_run_options o = dae_run_options_default(p);
    o.options.method = method;
    o.options.formulation = form;
    o.options.rtol = o.options.atol = tol;
    if (t_end > 0) o.t_end = t_end;
    *s = text ? dae_switching_create(p, tol, text, count, NULL, &err) : NULL; /* NULL: those of the problem */
    if (text && !*s) fail_msg("%s", err.text);
    if (*s) o.events = dae_switching_events(*s);
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    return r;
}

/* [MEXX] section 5.2, more digits: two independent integrations in extended precision. */
static const double roots[] = {0.0112407644596771, 0.0160170373655476, 0.0214661437540631, 0.0246237740038185,
                               0.0299782844533724};

static void seven_body_tells_the_five_roots_in_every_form(void **state)
{
    static const char *const way[][2] = {
        {"mexx", NULL}, {"phem56", NULL}, {"dop853", "index1"}, {"dopri5", "statespace"}, {"radau5", "ggl"}};
    (void)state;
    dae_problem *p = open_problem("seven-body");
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        dae_switching *s;
        dae_run_result *r = watch(p, way[k][0], way[k][1], 1e-5, 0, NULL, 0, &s);
        assert_int_equal(r->status, DAE_OK);
        assert_int_equal(r->nevent, 5);
        for (int i = 0; i < 5; i++) {
            assert_near(r->event[i].t, roots[i], 1e-4 * roots[i]);
            assert_int_equal(r->event[i].rising, i % 2);
        }
        assert_string_equal(r->event_name[0], "vbeta'");
        dae_run_destroy(r);
        dae_switching_destroy(s);
    }
    dae_problem_destroy(p);
}

/* The same mechanism as a DAE: w1 is a variable of it, whatever is integrated. */
static void andrews_tells_the_five_roots_in_every_form(void **state)
{
    static const char *const way[][2] = {{"auto", NULL},
                                         {"mexx", "descriptor"},
                                         {"dop853", NULL},
                                         {"dopri5", "statespace"},
                                         {"radau5", "index2"}};
    (void)state;
    dae_problem *p = open_problem("andrews");
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        dae_switching *s;
        dae_run_result *r = watch(p, way[k][0], way[k][1], 1e-7, 0, (const char *[]){"w1"}, 1, &s);
        assert_int_equal(r->status, DAE_OK);
        assert_int_equal(r->nevent, 5);
        for (int i = 0; i < 5; i++) assert_near(r->event[i].t, roots[i], 1e-5 * roots[i]);
        dae_run_destroy(r);
        dae_switching_destroy(s);
    }
    dae_problem_destroy(p);
}

static void chain_tells_the_root_of_the_top_insulator(void **state)
{
    (void)state;
    dae_switching *s;
    dae_problem *p = open_problem("insulator-chain");
    dae_run_result *r = watch(p, "mexx", NULL, 1e-5, 0.14, NULL, 0, &s);
    assert_int_equal(r->nevent, 1);
    assert_near(r->event[0].t, 0.128295766704175, 1e-6);
    assert_string_equal(r->event_name[0], "vphi33");
    dae_run_destroy(r);
    dae_switching_destroy(s);
    dae_problem_destroy(p);
}

/* The run ends on the constraints there, also where the method itself is none for mechanisms. */
static void stop_ends_at_the_value_on_the_constraints(void **state)
{
    static const char *const way[][2] = {
        {"mexx", NULL}, {"phem56", NULL}, {"dopri5", NULL}, {"dopri5", "statespace"}};
    static const char *const text[] = {"gamma=0.3:falling", "beta=3:stop"};
    (void)state;
    dae_problem *p = open_problem("seven-body");
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        dae_switching *s;
        dae_run_result *r = watch(p, way[k][0], way[k][1], 1e-5, 0, text, 2, &s);
        assert_int_equal(r->status, DAE_EVENT);
        assert_int_equal(r->nevent, 2);
        assert_int_equal(r->event[0].index, 0);
        assert_int_equal(r->event[0].rising, 0);
        assert_near(r->last.t, 0.01100868, 1e-7);
        assert_near(r->last.y[0], 3, 1e-4); /* the tolerance of the dense output: projection moves beta too */
        assert_true(r->stats.position_residual < 1e-12);
        assert_true(r->stats.velocity_residual < 1e-10);
        dae_run_destroy(r);
        dae_switching_destroy(s);
    }
    dae_problem_destroy(p);
}

static int count_up(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)y;
    (void)yp;
    (void)user;
    phi[0] = t - 0.01;
    return 0;
}

static int stop_there(int i, double t, int rising, double *y, double *yp, void *user)
{
    (void)t;
    (void)rising;
    (void)y;
    (void)yp;
    (void)user;
    return i == 0 ? DAE_EVENT_STOP : DAE_EVENT_GO_ON;
}

static void functions_come_after_those_that_are_given(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = open_problem("seven-body");
    dae_event own = {.name = "clock"};
    dae_events given = {.count = 1, .event = &own, .phi = count_up, .action = stop_there};
    dae_switching *s = dae_switching_create(p, 1e-5, (const char *[]){"p1=1"}, 1, &given, &err);
    assert_non_null(s);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "mexx";
    o.events = dae_switching_events(s);
    dae_run_result *r = dae_run(p, &o, &err);
    assert_int_equal(r->status, DAE_EVENT);
    assert_near(r->last.t, 0.01, 1e-15);
    assert_int_equal(r->nevent, 2);
    assert_string_equal(r->event_name[r->event[0].index], "p1=1");
    assert_string_equal(r->event_name[r->event[1].index], "clock");
    dae_run_destroy(r);
    dae_switching_destroy(s);
    dae_problem_destroy(p);
}

static void plain_problems_are_watched_by_number_and_name(void **state)
{
    (void)state;
    dae_switching *s;
    dae_problem *p = open_problem("hires");
    dae_run_result *r = watch(p, "radau5", NULL, 1e-8, 0, (const char *[]){"y1=0.5:stop"}, 1, &s);
    assert_int_equal(r->status, DAE_EVENT);
    assert_near(r->last.y[0], 0.5, 1e-9);
    dae_run_destroy(r);
    dae_switching_destroy(s);
    dae_problem_destroy(p);
}

/* x = 1 + cos(t)/2 on a spring of 1 N/m: its force is cos(t)/2, the reaction of the rail 2 N. */
static void sensors_and_reactions_are_watched_in_every_form(void **state)
{
    static const char model[] =
        "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"mass\", \"dimension\": 2, \"gravity\": [0, "
        "-2],"
        " \"bodies\": [ { \"name\": \"m\", \"mass\": 1, \"inertia\": 1, \"r\": [1.5, 0] } ],"
        " \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"P\", "
        "\"body\": \"m\", "
        "\"r\": [0, 0] } ],"
        " \"joints\": [ { \"name\": \"rail\", \"type\": \"prismatic\", \"a\": \"O\", \"b\": \"P\", \"axis\": "
        "[1, 0] } ],"
        " \"forces\": [ { \"name\": \"s\", \"type\": \"spring\", \"a\": \"O\", \"b\": \"P\", \"k\": 1, "
        "\"l0\": 1 } ],"
        " \"sensors\": [ { \"name\": \"pull\", \"value\": \"s.force\" }, { \"name\": \"load\", \"value\": "
        "\"rail.reaction.y + t - 1\" } ],"
        " \"simulation\": { \"t1\": 2 } }";
    static const char *const way[][2] = {
        {"mexx", NULL}, {"dop853", "joint"}, {"dop853", "index1"}, {"radau5", "ggl"}, {"genalpha", NULL}};
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open_text(model, strlen(model), "model.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    for (size_t k = 0; k < sizeof way / sizeof *way; k++) {
        dae_switching *s;
        double tol = strcmp(way[k][0], "genalpha") ? 1e-10 : 1e-6;
        dae_run_result *r = watch(p, way[k][0], way[k][1], tol, 0,
                                  (const char *[]){"pull=0.25:falling", "load=2.2", "pull:stop"}, 3, &s);
        assert_int_equal(r->status, DAE_EVENT);
        assert_int_equal(r->nevent, 3);
        assert_near(r->event[0].t, acos(0.5), 1000 * tol);
        assert_near(r->event[1].t, 1.2, 1000 * tol);
        assert_near(r->last.t, acos(0), 1000 * tol);
        dae_run_destroy(r);
        dae_switching_destroy(s);
    }
    dae_problem_destroy(p);
}

static void wrong_words_are_told(void **state)
{
    static const char *const bad[] = {"foo", "beta=x", "beta:halt", "",      "=3",
                                      "a9",  "a1'",    "p0",        "beta=", "vbeta''"};
    (void)state;
    dae_problem *p = open_problem("seven-body");
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        dae_error err = {0};
        assert_null(dae_switching_create(p, 1e-5, &bad[k], 1, NULL, &err));
        assert_int_equal(err.status, DAE_ERR_INPUT);
        assert_non_null(strstr(err.text, bad[k]));
    }
    dae_switching_destroy(NULL);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seven_body_tells_the_five_roots_in_every_form),
        cmocka_unit_test(andrews_tells_the_five_roots_in_every_form),
        cmocka_unit_test(chain_tells_the_root_of_the_top_insulator),
        cmocka_unit_test(stop_ends_at_the_value_on_the_constraints),
        cmocka_unit_test(functions_come_after_those_that_are_given),
        cmocka_unit_test(plain_problems_are_watched_by_number_and_name),
        cmocka_unit_test(sensors_and_reactions_are_watched_in_every_form),
        cmocka_unit_test(wrong_words_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
