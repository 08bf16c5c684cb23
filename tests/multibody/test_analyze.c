/* Analyses of a model through the library: results against closed forms, texts, tables, messages. */
#include "test.h"

#include <daedalus/daedalus.h>

typedef struct memory {
    char text[65536];
    size_t length;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    assert_true(m->length + length < sizeof m->text);
    memcpy(m->text + m->length, text, length);
    m->length += length;
    m->text[m->length] = 0;
    return 0;
}

/* A point mass on a massless rod of length 2, started at an angle. */
static const char pendulum[] =
    "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"swing\",\"dimension\":2,\"gravity\":[0,-9.81],"
    "\"bodies\":[{\"name\":\"bob\",\"mass\":3,\"inertia\":1e-9,\"r\":[1.2,-1.6],\"angle\":-0."
    "92729521800161223}],"
    "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A\",\"body\":\"bob\",\"r\":[-2,"
    "0]}],"
    "\"joints\":[{\"name\":\"pin\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}],"
    "\"simulation\":{\"t1\":1}}";

static dae_problem *swing(void)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(pendulum, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static double cell(const dae_table *t, long row, const char *name)
{
    int k = dae_table_find(t, name);
    assert_true(k >= 0);
    return t->value[k * t->nrow + row];
}

/* It hangs down, the pin carries m g, and swings with sqrt(g/L). */
static void all_that_a_pendulum_allows(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = swing();
    mbs_analysis *a = mbs_analysis_create(p, NULL, &err);
    if (!a) fail_msg("%s", err.text);
    const char *kind, *name;
    int seen = 0;
    dae_table *t;
    for (int k = 0; (t = mbs_analysis_table(a, k, &kind, &name, &err)); k++) {
        if (!strcmp(name, "bodies")) {
            assert_near(cell(t, 0, "x"), 0, 1e-7);
            assert_near(cell(t, 0, "y"), -2, 1e-12);
            seen |= 1;
        } else if (!strcmp(name, "reactions")) {
            assert_near(fabs(cell(t, 0, "fy")), 3 * 9.81, 1e-6);
            seen |= 2;
        } else if (!strcmp(name, "eigenvalues")) {
            assert_string_equal(kind, "modes");
            assert_near(cell(t, 0, "im"), sqrt(9.81 / 2), 1e-6);
            assert_near(cell(t, 0, "frequency"), sqrt(9.81 / 2) / (2 * 3.14159265358979323846), 1e-6);
            seen |= 4;
        }
        dae_table_destroy(t);
    }
    assert_true(seen == 7 && err.status == DAE_OK);
    static memory out;
    out.length = 0;
    assert_int_equal(mbs_analysis_json(a, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "\"model\":\"swing\",\"freedom\":1"));
    assert_non_null(strstr(out.text, "the mechanism has no drivers")); /* of kinematics and inverse */
    out.length = 0;
    assert_int_equal(mbs_analysis_text(a, 0, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "Static equilibrium: bodies"));
    out.length = 0;
    assert_int_equal(mbs_analysis_text(a, 1, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "t,body,x,y,angle\n"));
    mbs_analysis_destroy(a);
    dae_problem_destroy(p);
}

/* A rod that spins about its end: what turns steadily is no static equilibrium, and is not called one. */
static void turning_equilibrium_is_called_relative(void **state)
{
    (void)state;
    static const char text[] =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"spinner\",\"dimension\":2,"
        "\"bodies\":[{\"name\":\"rod\",\"mass\":1,\"inertia\":1,\"r\":[1,0],\"v\":[0,8],\"omega\":8}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},"
        "{\"name\":\"A\",\"body\":\"rod\",\"r\":[-1,0]}],"
        "\"joints\":[{\"name\":\"pin\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}],"
        "\"simulation\":{\"t1\":1}}";
    static memory out;
    dae_error err = {0};
    dae_problem *p = dae_problem_open(text, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    mbs_analysis *a =
        mbs_analysis_create(p, &(mbs_analysis_options){.what = "equilibrium", .about_turning = 1}, &err);
    if (!a) fail_msg("%s", err.text);
    assert_int_equal(mbs_analysis_text(a, 0, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "Relative equilibrium: bodies"));
    assert_null(strstr(out.text, "Static"));
    out.length = 0;
    assert_int_equal(mbs_analysis_json(a, remember, &out), DAE_OK);
    assert_non_null(strstr(out.text, "\"about\":\"turning\""));
    mbs_analysis_destroy(a);
    dae_problem_destroy(p);
}

static void what_does_not_fit_is_said(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = swing();
    assert_null(mbs_analysis_create(p, &(mbs_analysis_options){.what = "kinematics"}, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "no drivers (1 degree of freedom)"));
    assert_null(mbs_analysis_create(p, &(mbs_analysis_options){.what = "mode"}, &err));
    assert_non_null(strstr(err.text, "did you mean modes?"));
    dae_problem_destroy(p);
    p = dae_problem_open("hires", NULL, 0, &err);
    assert_null(mbs_analysis_create(p, NULL, &err));
    assert_non_null(strstr(err.text, "no model of a mechanism"));
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_a_pendulum_allows),
        cmocka_unit_test(turning_equilibrium_is_called_relative),
        cmocka_unit_test(what_does_not_fit_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
