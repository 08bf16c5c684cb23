/* A problem is opened by name, from a file or from text, and is then the same sort of thing. */
#include <daedalus/daedalus.h>

#include "test.h"

/* A pendulum of length 1 that swings down from the horizontal; seventeen parameters, more than any fixed array had. */
static const char pendulum[] =
    "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"swing\",\"doc\":\"a pendulum\",\"dimension\":2,\n"
    "\"parameters\":{\"L\":\"1[m]\",\"p1\":1,\"p2\":2,\"p3\":3,\"p4\":4,\"p5\":5,\"p6\":6,\"p7\":7,\"p8\":8,"
    "\"p9\":9,"
    "\"p10\":10,\"p11\":11,\"p12\":12,\"p13\":13,\"p14\":14,\"p15\":15,\"p16\":16},\n"
    "\"gravity\":[0,-9.81],\"bodies\":[{\"name\":\"rod\",\"mass\":1,\"inertia\":0.1,\"r\":[\"L\",0]}],\n"
    "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A\",\"body\":\"rod\",\"r\":[\"-"
    "L\",0]}],\n"
    "\"joints\":[{\"name\":\"pin\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}],\n"
    "\"sensors\":[{\"name\":\"height\",\"value\":\"rod.y\",\"unit\":\"m\"}],\n"
    "\"events\":[{\"name\":\"lowest\",\"when\":\"rod.x\",\"do\":[{\"stop\":true}]}],\n"
    "\"simulation\":{\"t1\":2,\"rtol\":1e-9,\"solver\":\"mexx\",\"output\":{\"every\":0.1}}}\n";

static void a_name_opens_a_problem_of_the_test_set(void **state)
{
    (void)state;
    dae_error err = {0};
    const dae_setting mu = {"mu", "10"};
    dae_problem *p = dae_problem_open("vdpol-mu", &mu, 1, &err);
    assert_non_null(p);
    assert_string_equal(p->source, "testset");
    assert_near(p->parameter[0], 10, 0);
    assert_true(p->hash == 0 && p->doc && !p->events);
    dae_problem_destroy(p);
    p = dae_problem_open("seven-body", NULL, 0, &err);
    assert_non_null(p);
    assert_true(p->events && p->events->count > 0 && !dae_problem_switches(p));
    dae_problem_destroy(p);
    assert_null(dae_problem_open("hirse", NULL, 0, &err));
    assert_non_null(strstr(err.text, "did you mean \"hires\""));
}

static void text_opens_a_model_with_all_it_says(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open(pendulum, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    assert_string_equal(p->source, "model");
    assert_string_equal(p->info->name, "swing");
    assert_string_equal(p->doc, "a pendulum");
    assert_string_equal(p->method, "mexx");
    assert_near(p->every, 0.1, 0);
    assert_near(p->parameter[16], 16, 0);
    assert_string_equal(p->info->parameter[16].name, "p16");
    assert_int_equal(p->derived.ncolumn, 1 + 3);
    assert_string_equal(p->derived.column[0], "height");
    assert_string_equal(p->derived.column[3], "pin.reaction.mz");
    assert_string_equal(p->derived.unit[3], "N m");
    assert_int_equal(dae_component_find(p, "rod.y"), 1);
    assert_int_equal(dae_component_find(p, "y2"), 1);
    assert_int_equal(dae_component_find(p, "rod.z"), -1);
    assert_non_null(mbs_problem_mechanism(p));
    assert_true(dae_problem_switches(p));
    dae_problem_destroy(p);
}

/* The default run has the event; the pin carries what the motion needs: at the bottom, w^2 = 2 m g L/(I + m L^2). */
static void a_default_run_of_a_model_has_its_events_and_energy(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open(pendulum, NULL, 0, &err);
    assert_non_null(p);
    dae_run_options o = dae_run_options_default(p);
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->status, DAE_EVENT);
    assert_string_equal(r->solver, "mexx");
    assert_near(r->last.y[0], 0, 1e-9);
    assert_non_null(r->energy);
    assert_near(r->energy->largest, 0, 1e-7);
    double value[4], square = 2 * 9.81 / 1.1;
    assert_int_equal(p->derived.columns(p, 1, &r->last.t, r->last.y, NULL, NULL, value), 0);
    assert_near(value[0], -1, 1e-9);
    assert_near(value[2], 9.81 + square, 1e-6);
    assert_int_equal(p->derived.columns(p, 1, &r->last.t, r->last.y, r->last.a, r->last.lambda, value), 0);
    assert_near(value[2], 9.81 + square, 1e-6);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void files_are_known_by_path_and_mistakes_name_them(void **state)
{
    (void)state;
    dae_error err = {0};
    assert_true(dae_problem_is_file("models/four_bar.json") && dae_problem_is_file("x.json"));
    assert_true(!dae_problem_is_file("hires") && !dae_problem_is_file(pendulum));
    dae_problem *p = dae_problem_open("models/four_bar.json", NULL, 0, &err);
    assert_non_null(p);
    unsigned long long hash = p->hash;
    dae_problem_destroy(p);
    const dae_setting set = {"no_such_parameter", "2"};
    assert_null(dae_problem_open("models/four_bar.json", &set, 1, &err));
    assert_non_null(strstr(err.text, "models/four_bar.json: "));
    assert_true(hash != 0);
    assert_null(dae_problem_open("./nowhere.json", NULL, 0, &err));
    assert_int_equal(err.status, DAE_ERR_FILE);
    assert_null(dae_problem_open_text("x' = ", 5, NULL, NULL, 0, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
}

static void settings_change_the_hash(void **state)
{
    (void)state;
    dae_error err = {0};
    const dae_setting length = {"L", "2[m]"};
    dae_problem *p = dae_problem_open(pendulum, NULL, 0, &err),
                *q = dae_problem_open(pendulum, &length, 1, &err);
    assert_true(p && q && p->hash != q->hash);
    assert_near(q->y0[0], 2, 1e-12);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_opens_a_problem_of_the_test_set),
        cmocka_unit_test(text_opens_a_model_with_all_it_says),
        cmocka_unit_test(a_default_run_of_a_model_has_its_events_and_energy),
        cmocka_unit_test(files_are_known_by_path_and_mistakes_name_them),
        cmocka_unit_test(settings_change_the_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
