/* Tolerances in words, and another start: in C, in model files, in equation files, in variants. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/study.h>

static const char rod[] =
    "{\"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"rod\", \"dimension\": 2, \"gravity\": [0, -9.81],"
    " \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": 0.1, \"r\": [0.5, 0]}],"
    " \"points\": [{\"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0]},"
    " {\"name\": \"A\", \"body\": \"rod\", \"r\": [-0.5, 0]}],"
    " \"joints\": [{\"name\": \"pivot\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"A\"}],"
    " \"simulation\": {\"t0\": 1, \"t1\": 2, \"rtol\": 1e-6, \"atol\": {\"all\": 1e-8, \"rod.angle\": "
    "1e-11}}}";

static double atol_of(const dae_problem *p, const char *name)
{
    int i = dae_component_find(p, name);
    assert_true(i >= 0);
    return p->atol * (p->atol_factor ? p->atol_factor[i] : 1);
}

static double rtol_of(const dae_problem *p, const char *name)
{
    int i = dae_component_find(p, name);
    assert_true(i >= 0);
    return p->rtol * (p->rtol_factor ? p->rtol_factor[i] : 1);
}

static void tolerate_takes_numbers_lists_and_names(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open("rober", NULL, 0, &err);
    double ratio = p->atol / p->rtol;
    assert_int_equal(dae_problem_tolerate(p, &(dae_setting){"rtol", "1e-9"}, 1, &err), DAE_OK);
    assert_near(p->rtol, 1e-9, 0);
    assert_near(p->atol / (1e-9 * ratio), 1, 1e-14);
    assert_null(p->atol_factor);
    const dae_setting some[] = {{"atol", "1e-8,1e-12,1e-7"}, {"atol", "y1=1e-5"}, {"rtol", "y2=1e-3"}};
    assert_int_equal(dae_problem_tolerate(p, some, 3, &err), DAE_OK);
    assert_near(atol_of(p, "y1") / 1e-5, 1, 1e-14);
    assert_near(atol_of(p, "y2") / 1e-12, 1, 1e-14);
    assert_near(atol_of(p, "y3") / 1e-7, 1, 1e-14);
    assert_near(rtol_of(p, "y1") / 1e-9, 1, 1e-14);
    assert_near(rtol_of(p, "y2") / 1e-3, 1, 1e-14);
    assert_int_equal(dae_problem_tolerate(p, &(dae_setting){"atol", "1,2"}, 1, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "2 numbers, but the problem has 3 components"));
    assert_int_equal(dae_problem_tolerate(p, &(dae_setting){"atol", "y4=1"}, 1, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_problem_tolerate(p, &(dae_setting){"atol", "y3=-1"}, 1, &err), DAE_ERR_INPUT);
    assert_int_equal(dae_problem_tolerate(p, &(dae_setting){"tol", "1"}, 1, &err), DAE_ERR_INPUT);
    assert_near(atol_of(p, "y3") / 1e-7, 1, 1e-14);
    dae_problem_destroy(p);
}

/* The same steps as with the vectors of dae_options. */
static void tolerated_runs_are_those_of_vectors(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open("rober", NULL, 0, &err), *q = dae_problem_open("rober", NULL, 0, &err);
    double atol[] = {p->atol, 1e-14, p->atol};
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "radau5";
    o.options.atol_vec = atol;
    dae_run_result *one = dae_run(p, &o, &err);
    assert_int_equal(dae_problem_tolerate(q, &(dae_setting){"atol", "y2=1e-14"}, 1, &err), DAE_OK);
    o = dae_run_options_default(q);
    o.options.method = "radau5";
    dae_run_result *two = dae_run(q, &o, &err);
    assert_int_equal(one->stats.steps, two->stats.steps);
    for (int i = 0; i < 3; i++) assert_near(one->last.y[i], two->last.y[i], 1e-9 * fabs(one->last.y[i]));
    dae_run_destroy(one);
    dae_run_destroy(two);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

static void variants_keep_start_and_tolerances(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open("vdpol-mu", NULL, 0, &err);
    assert_int_equal(dae_problem_start(p, 3, &(dae_setting){"y1", "0.25"}, 1, &err), DAE_OK);
    assert_int_equal(dae_problem_tolerate(p, &(dae_setting){"atol", "y2=1e-13"}, 1, &err), DAE_OK);
    dae_problem *v = dae_problem_variant(p, &(dae_setting){"mu", "7"}, 1, &err);
    assert_non_null(v);
    assert_near(v->t0, 3, 0);
    assert_near(v->y0[0], 0.25, 0);
    assert_near(atol_of(v, "y2") / 1e-13, 1, 1e-14);
    char a[2048], b[2048];
    dae_problem *w = dae_problem_variant(p, &(dae_setting){"mu", "7"}, 1, &err);
    dae_reference_key(v, a, sizeof a);
    dae_reference_key(w, b, sizeof b);
    assert_string_equal(a, b);
    assert_int_equal(dae_problem_start(w, 3, &(dae_setting){"y1", "0.5"}, 1, &err), DAE_OK);
    dae_reference_key(w, b, sizeof b);
    assert_string_not_equal(a, b);
    dae_problem_destroy(p);
    dae_problem_destroy(v);
    dae_problem_destroy(w);
}

static void model_files_have_tolerances_of_components(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open(rod, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    assert_near(p->rtol, 1e-6, 0);
    assert_near(atol_of(p, "rod.angle") / 1e-11, 1, 1e-14);
    assert_near(atol_of(p, "rod.x") / 1e-8, 1, 1e-14);
    assert_near(p->t0, 1, 0);
    dae_problem_destroy(p);
    p = dae_problem_open(rod, &(dae_setting){"t", "=1.5"}, 1, &err);
    assert_near(p->t0, 1.5, 0);
    dae_problem_destroy(p);
    assert_null(dae_problem_open(rod, &(dae_setting){"t", "=3"}, 1, &err));
    char wrong[sizeof rod + 10];
    snprintf(wrong, sizeof wrong, "%s", rod);
    memcpy(strstr(wrong, "rod.angle\": 1e"), "rod.angl3", 9);
    assert_null(dae_problem_open(wrong, NULL, 0, &err));
    assert_non_null(strstr(err.text, "no component \"rod.angl3\""));
}

static void equation_files_have_tolerances_of_variables(void **state)
{
    (void)state;
    dae_error err = {0};
    const char text[] = "var x = 1\nvar y = 0\nx' = t*y\ny' = -x\n"
                        "solve t = 0 .. 1, rtol = 1e-6, atol = 1e-8, rtol(x) = 1e-4, atol(y) = 1e-12\n";
    dae_problem *p = dae_problem_open(text, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    assert_near(rtol_of(p, "x") / 1e-4, 1, 1e-14);
    assert_near(rtol_of(p, "y") / 1e-6, 1, 1e-14);
    assert_near(atol_of(p, "x") / 1e-8, 1, 1e-14);
    assert_near(atol_of(p, "y") / 1e-12, 1, 1e-14);
    dae_problem_destroy(p);
    p = dae_problem_open(text, &(dae_setting){"t", "=0.5"}, 1, &err);
    assert_near(p->t0, 0.5, 0);
    dae_problem_destroy(p);
    assert_null(dae_problem_open(text, &(dae_setting){"t", "=1"}, 1, &err));
}

/* 0 is not "none was given": the run is controlled by the other one alone, or says why it cannot be. */
static void nothing_as_a_tolerance_is_taken_at_its_word(void **state)
{
    static const struct {
        const char *rtol, *atol, *says;
    } given[] = {{"0", "1e-8", NULL}, {"1e-6", "0", "its atol too"}, {"0", "0", "both 0"}};
    (void)state;
    for (int k = 0; k < 6; k++) {
        const dae_setting tolerance[] = {{"rtol", given[k % 3].rtol}, {"atol", given[k % 3].atol}};
        dae_error err = {0};
        dae_problem *p = dae_problem_open("hires", NULL, 0, &err);
        assert_non_null(p);
        assert_int_equal(dae_problem_tolerate(p, tolerance, 2, &err), DAE_OK);
        if (k >= 3) { /* a variant, too */
            dae_problem *q = dae_problem_variant(p, &(dae_setting){"k1", "1.71"}, 1, &err);
            dae_problem_destroy(p);
            assert_non_null(p = q);
        }
        dae_run_options opt = dae_run_options_default(p);
        assert_near(opt.options.rtol, atof(given[k % 3].rtol), 0);
        assert_near(opt.options.atol, atof(given[k % 3].atol), 0);
        dae_run_result *r = dae_run(p, &opt, &err);
        if (given[k % 3].says) {
            const char *told = r ? r->error.text : err.text;
            if (!strstr(told, given[k % 3].says)) fail_msg("%s", told);
        } else {
            assert_int_equal(r->status, DAE_OK);
            assert_between(r->scd, 4, 9);
            assert_true(isnan(r->mescd)); /* errors relative to atol/rtol + |y| */
        }
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

static void the_same_start_keeps_the_reference(void **state)
{
    dae_error err = {0};
    (void)state;
    dae_problem *p = dae_problem_open("orego", NULL, 0, &err);
    assert_non_null(p);
    assert_int_equal(dae_problem_start(p, p->t0, NULL, 0, &err), DAE_OK);
    assert_non_null(p->reference);
    assert_int_equal(dae_problem_start(p, p->t0, &(dae_setting){"y1", "2"}, 1, &err), DAE_OK);
    assert_null(p->reference);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_as_a_tolerance_is_taken_at_its_word),
        cmocka_unit_test(the_same_start_keeps_the_reference),
        cmocka_unit_test(tolerate_takes_numbers_lists_and_names),
        cmocka_unit_test(tolerated_runs_are_those_of_vectors),
        cmocka_unit_test(variants_keep_start_and_tolerances),
        cmocka_unit_test(model_files_have_tolerances_of_components),
        cmocka_unit_test(equation_files_have_tolerances_of_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
