/* Model files: what is read, and that every mistake is told with its place. */
#include "mechanics.h"

#include <dirent.h>

#define HEAD "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2"
#define BODY "{\"name\":\"rod\",\"mass\":1,\"inertia\":0.1,\"r\":[0.5,0]}"
#define POINTS                                                                                               \
    "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A\",\"body\":\"rod\",\"r\":[-" \
    "0.5,0]}]"
#define JOINTS "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}]"
#define GOOD HEAD ",\"bodies\":[" BODY "]," POINTS "," JOINTS
#define WITH(section) GOOD "," section "}"
#define JOINT(fields) HEAD ",\"bodies\":[" BODY "]," POINTS ",\"joints\":[{" fields "}]}"
#define FIRST_BODY(fields) HEAD ",\"bodies\":[{" fields "}]}"
#define FORCE(fields) WITH("\"forces\":[{" fields "}]")
#define SPACE                                                                                            \
    "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":3,\"bodies\":[{\"name\":\"b\"," \
    "\"mass\":1,"

static dae_status read(const char *json, dae_error *err)
{
    *err = (dae_error){0};
    mbs_model *m = mbs_model_parse(json, strlen(json), NULL, 0, err);
    if (!m) return err->status;
    dae_problem *p = mbs_problem_create(m, err);
    mbs_model_destroy(m);
    dae_status s = p ? DAE_OK : err->status;
    dae_problem_destroy(p);
    return s;
}

static void mistakes_are_told_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *json, *place, *what;
    } list[] = {
        {"", "line 1", "no JSON"},
        {"{\"daedalus\":1,}", "line 1, column", "no JSON"},
        {"[1,2]", "file", "expected an object"},
        {FORCE("\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"5[N]\""), "forces[0]: value",
         "expected [N m]"},
        {FORCE("\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"rod.x + 3[kg]\""),
         "forces[0]: value", "[m] + [kg]"},
        {FORCE("\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"3[N s]*J.speed\""),
         "forces[0]: value", "expected [N m]"},
        {FORCE("\"name\":\"F\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"A\",\"k\":\"5[N]\""), "forces[0].k",
         "expected [N/m]"},
        {FORCE("\"name\":\"F\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"A\",\"mu\":1"), "forces[0].mu",
         "unknown key"},
        {WITH("\"drivers\":[{\"name\":\"D\",\"joint\":\"J\",\"value\":\"2[m]*t\"}]"), "drivers[0]: value",
         "a number without unit"},
        {WITH("\"sensors\":[{\"repeat\":{\"i\":\"1..K\"},\"name\":\"s{i}\",\"value\":\"t\"}]"),
         "sensors[0].repeat", "K"},
        {WITH("\"sensors\":[{\"repeat\":{\"i\":3},\"name\":\"s{i}\",\"value\":\"t\"}]"), "sensors[0].repeat",
         "expected {"},
        {WITH("\"sensors\":[{\"repeat\":{\"i\":\"1..2\"},\"name\":\"s{i/2}\",\"value\":\"t\"}]"),
         "sensors[0].repeat", "whole number"},
        {WITH(
             "\"sensors\":[{\"repeat\":{\"i\":\"1..200\",\"j\":\"1..200\"},\"name\":\"s\",\"value\":\"t\"}]"),
         "sensors[0].repeat", "more than"},
        {"{\"daedalus\":1,\"daedalus\":1}", "line 1", "duplicate"},
        {"{}", "kind", "missing"},
        {"{\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2}", "daedalus", "missing"},
        {"{\"daedalus\":2,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2}", "daedalus", "expected 1"},
        {"{\"daedalus\":1,\"kind\":\"robot\",\"name\":\"m\",\"dimension\":2}", "kind",
         "expected \"mechanism\""},
        {"{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\"}", "dimension", "missing"},
        {"{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":4}", "dimension", "2 or 3"},
        {"{\"daedalus\":1,\"kind\":\"mechanism\",\"dimension\":2}", "name", "missing"},
        {HEAD "}", "bodies", "at least one body"},
        {HEAD ",\"bodys\":[]}", "bodys", "did you mean \"bodies\"?"},
        {HEAD ",\"bodies\":{}}", "bodies", "expected a list, found an object"},
        {HEAD ",\"bodies\":[1]}", "bodies[0]", "expected an object"},
        {HEAD ",\"gravity\":[0,0,-9.81],\"bodies\":[" BODY "]}", "gravity", "expected 2 numbers, found 3"},
        {HEAD ",\"gravity\":[0,\"-9.81[m]\"],\"bodies\":[" BODY "]}", "gravity[1]", "expected [m/s^2]"},
        {FIRST_BODY("\"mass\":1,\"inertia\":1"), "bodies[0].name", "missing"},
        {FIRST_BODY("\"name\":\"b\",\"inertia\":1"), "bodies[0].mass", "missing"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":-1,\"inertia\":1"), "bodies[0]", "must not be negative"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":1"), "bodies[0].inertia", "missing"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":1,\"inertia\":-2"), "bodies[0]", "inertia"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":\"2[m]\",\"inertia\":1"), "bodies[0].mass",
         "has the unit [m], expected [kg]"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":\"2*L\",\"inertia\":1"), "bodies[0].mass", "unknown name \"L\""},
        {FIRST_BODY("\"name\":\"b\",\"mass\":\"1+\",\"inertia\":1"), "bodies[0].mass", "column 3"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":\"1/0\",\"inertia\":1"), "bodies[0].mass", "finite"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":1,\"inertia\":1,\"q\":[1,0,0,0]"), "bodies[0].q", "angle"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":1,\"inertia\":1,\"r\":[1]"), "bodies[0].r",
         "expected 2 numbers"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":1,\"inertia\":1,\"masss\":1"), "bodies[0].masss",
         "did you mean \"mass\"?"},
        {FIRST_BODY("\"name\":\"1b\",\"mass\":1,\"inertia\":1"), "bodies[0].name", "is no name"},
        {FIRST_BODY("\"name\":\"ground\",\"mass\":1,\"inertia\":1"), "bodies[0].name",
         "meaning of its own, as all of ground, t, pi and energy"},
        {FIRST_BODY("\"name\":\"b\",\"mass\":1,\"inertia\":1,\"fix\":[\"phi\"]"), "bodies[0].fix",
         "cannot be fixed"},
        {HEAD ",\"bodies\":[" BODY "," BODY "]}", "bodies[1].name", "also the name of bodies[0]"},
        {SPACE "\"inertia\":[1,1]}]}", "bodies[0].inertia", "3 or 6"},
        {SPACE "\"inertia\":[1,1,5]}]}", "bodies[0]", "larger than the sum"},
        {SPACE "\"inertia\":[1,1,1,5,0,0]}]}", "bodies[0]", "not positive definite"},
        {SPACE "\"inertia\":[1,1,1],\"q\":[0,0,0,0]}]}", "bodies[0].q", "must not be zero"},
        {HEAD ",\"bodies\":[" BODY "],\"points\":[{\"name\":\"A\",\"body\":\"rot\",\"r\":[0,0]}]}",
         "points[0].body", "did you mean \"rod\"?"},
        {HEAD ",\"bodies\":[" BODY "],\"points\":[{\"name\":\"A\",\"body\":\"rod\"}]}", "points[0].r",
         "missing"},
        {JOINT("\"name\":\"J\",\"type\":\"revolut\",\"a\":\"O\",\"b\":\"A\""), "joints[0]",
         "did you mean \"revolute\"?"},
        {JOINT("\"name\":\"J\",\"type\":\"cylindrical\",\"a\":\"O\",\"b\":\"A\""), "joints[0]",
         "spatial models only"},
        {JOINT("\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"B\""), "joints[0]",
         "there is no point \"B\""},
        {JOINT("\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\""), "joints[0].b", "missing"},
        {JOINT("\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"O\""), "joints[0]", "same body"},
        {JOINT("\"name\":\"J\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"A\",\"axis\":[0,0]"),
         "joints[0].axis", "must not be zero"},
        {JOINT("\"name\":\"J\",\"type\":\"distance\",\"a\":\"O\",\"b\":\"A\",\"length\":-1"),
         "joints[0].length", "positive"},
        {JOINT("\"name\":\"J\",\"type\":\"gear\",\"joints\":[\"K\",\"L\"]"), "joints[0]",
         "there is no joint \"K\""},
        {JOINT("\"name\":\"J\",\"type\":\"rolling\",\"a\":\"O\",\"b\":\"A\""), "joints[0]", "radius"},
        {JOINT("\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\",\"friction\":{\"mu\":0.1}"),
         "joints[0]", "radius of its bearing"},
        {JOINT("\"name\":\"rod\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\""), "joints[0].name",
         "name of a body"},
        {FORCE("\"name\":\"F\",\"type\":\"sprong\",\"a\":\"O\",\"b\":\"A\""), "forces[0]",
         "did you mean \"spring\"?"},
        {FORCE("\"name\":\"F\",\"type\":\"spring\",\"a\":\"O\""), "forces[0]", "points a and b"},
        {GOOD ",\"forces\":[{\"name\":\"pull\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"A\",\"k\":1}],"
              "\"sensors\":[{\"name\":\"s\",\"value\":\"pull.forse\"}]}",
         "sensors[0]", "did you mean \"pull.force\"?"},
        {FORCE("\"name\":\"F\",\"type\":\"torsion\",\"joint\":\"J\",\"k\":\"5[N/m]\""), "forces[0].k",
         "expected [N m]"},
        {FORCE("\"name\":\"F\",\"type\":\"stop\",\"joint\":\"J\",\"k\":1,\"max\":\"1[m]\""), "forces[0].max",
         "expected a number without unit"},
        {FORCE("\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"2*rod\""), "forces[0]",
         "\"rod\" is a body: take its x, y, angle, vx, vy or omega, as in rod.x"},
        {FORCE("\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"J\""), "forces[0]",
         "\"J\" is a joint: take its value, speed or reaction.x, as in J.value"},
        {FORCE("\"name\":\"F\",\"type\":\"torque\",\"joint\":\"K\",\"value\":1"), "forces[0]",
         "there is no joint \"K\""},
        {FORCE("\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"sin(tt)\""), "forces[0]",
         "unknown name \"tt\"; did you mean \"t\"?"},
        {FORCE("\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"J.reaction.x\""), "forces[0]",
         "may not depend on accelerations"},
        {FORCE("\"name\":\"F\",\"type\":\"force\",\"b\":\"A\",\"value\":[1]"), "forces[0]", "list of 2"},
        {FORCE("\"name\":\"F\",\"type\":\"force\",\"b\":\"A\",\"value\":true"), "forces[0].value",
         "true or false"},
        {WITH("\"drivers\":[{\"name\":\"D\",\"joint\":\"J\",\"value\":\"rod.x\"}]"), "drivers[0]",
         "depend on t only"},
        {WITH("\"drivers\":[{\"name\":\"D\",\"joint\":\"J\",\"value\":\"t\"},{\"name\":\"E\",\"joint\":\"J\","
              "\"value\":"
              "\"2*t\"}]"),
         "drivers[1]", "driven by \"D\" already"},
        {WITH("\"drivers\":[{\"name\":\"D\",\"joint\":\"K\",\"value\":\"t\"}]"), "drivers[0]",
         "there is no joint"},
        {WITH("\"sensors\":[{\"name\":\"s\",\"value\":\"rod.z\"}]"), "sensors[0]", "unknown name \"rod.z\""},
        {WITH("\"events\":[{\"name\":\"e\",\"when\":\"rod.angle\",\"direction\":\"up\"}]"),
         "events[0].direction", "expected \"rising\""},
        {WITH("\"events\":[{\"name\":\"e\",\"when\":\"rod.angle\",\"do\":[{\"jump\":1}]}]"),
         "events[0].do[0].jump", "unknown key"},
        {WITH("\"simulation\":{\"t1\":-1}"), "simulation.t1", "after t0"},
        {WITH("\"simulation\":{\"t1\":1,\"rtol\":-1}"), "simulation.rtol", "positive"},
        {WITH("\"simulation\":{\"t1\":\"1[m]\"}"), "simulation.t1", "expected [s]"},
        {WITH("\"initial\":{\"fix\":[\"angle\"]}"), "initial.fix[0]", "body.quantity"},
        {JOINT("\"name\":\"J\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"A\",\"friction\":{\"mu\":0.3,\"mu_"
               "static\":0.2}"),
         "joints[0]", "must not be below mu"},
        {JOINT("\"name\":\"J\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"A\",\"friction\":{\"mu\":0.3,"
               "\"stick\":-1}"),
         "joints[0].friction.stick", "must be positive"},
        {FORCE("\"name\":\"F\",\"type\":\"contact\",\"a\":\"O\",\"b\":\"A\",\"k\":1,\"stick\":1"),
         "forces[0].stick", "expected true or false"},
        {WITH("\"events\":[{\"name\":\"e\",\"when\":\"rod.angle\",\"do\":[{\"impact\":{\"joint\":\"J\","
              "\"rest_speed\":0}}]}]"),
         "events[0].do[0].rest_speed", "must be positive"},
        {WITH("\"parameters\":{\"t\":1}"), "parameters.t", "meaning of its own"},
        {WITH("\"parameters\":{\"a\":\"b\"}"), "parameters.a", "unknown name"},
    };
    int count = (int)(sizeof list / sizeof *list);
    assert_true(count >= 40);
    for (int i = 0; i < count; i++) {
        dae_error err;
        dae_status s = read(list[i].json, &err);
        if (s != DAE_ERR_INPUT || strncmp(err.text, list[i].place, strlen(list[i].place)) != 0 ||
            !strstr(err.text, list[i].what))
            fail_msg("%s\ngives %d \"%s\",\nexpected \"%s ... %s\"", list[i].json, s, err.text, list[i].place,
                     list[i].what);
    }
}

static void good_files_are_read(void **state)
{
    (void)state;
    dae_error err;
    assert_int_equal(read(GOOD "}", &err), DAE_OK);
    assert_int_equal(
        read(WITH("\"forces\":[{\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"2*t\"}]"),
             &err),
        DAE_OK);
}

static void settings_replace_parameters(void **state)
{
    (void)state;
    static const char json[] = "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2,"
                               "\"parameters\":{\"m0\":\"2[kg]\"},"
                               "\"bodies\":[{\"name\":\"b\",\"mass\":\"m0\",\"inertia\":1}]}";
    dae_error err = {0};
    dae_setting good = {"m0", "5[kg]"}, bad = {"m1", "5"};
    mbs_model *m = mbs_model_parse(json, strlen(json), &good, 1, &err);
    assert_non_null(m);
    mbs_mechanism *c = compile(m);
    assert_near(mbs_mechanism_system(c)->mech.mass.a[0], 5, 0);
    mbs_mechanism_destroy(c);
    assert_null(mbs_model_parse(json, strlen(json), &bad, 1, &err));
    assert_non_null(strstr(err.text, "no such parameter; did you mean \"m0\"?"));
}

/* b.x=?: a sensor of that name, once; what is no signal is told. */
static void settings_show_signals(void **state)
{
    (void)state;
    static const char json[] = "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2,"
                               "\"bodies\":[{\"name\":\"b\",\"mass\":2,\"inertia\":1}]}";
    dae_error err = {0};
    dae_setting good[] = {{"b.ax", "?"}, {"b.ax", "?"}, {"energy.total", "?"}}, bad = {"b", "?"},
                none = {"c.x", "?"};
    mbs_model *m = mbs_model_parse(json, strlen(json), good, 3, &err);
    assert_non_null(m);
    mbs_mechanism *c = compile(m);
    assert_int_equal(mbs_mechanism_sensor_count(c), 2);
    assert_string_equal(mbs_mechanism_sensor_name(c, 0), "b.ax");
    mbs_mechanism_destroy(c);
    assert_null(mbs_model_parse(json, strlen(json), &bad, 1, &err));
    assert_non_null(strstr(err.text, "is no signal"));
    m = mbs_model_parse(json, strlen(json), &none, 1, &err);
    assert_null(mbs_mechanism_create(m, &err));
    assert_non_null(strstr(err.text, "unknown name \"c.x\""));
    mbs_model_destroy(m);
}

/* Every model of the library assembles, and moves for a short time. */
static void models_of_the_library_run(void **state)
{
    (void)state;
    DIR *folder = opendir("models");
    assert_non_null(folder);
    int count = 0;
    for (struct dirent *e; (e = readdir(folder));) {
        char path[300];
        dae_error err = {0};
        if (!strstr(e->d_name, ".json")) continue;
        snprintf(path, sizeof path, "models/%s", e->d_name);
        mbs_model *m = mbs_model_load(path, &err);
        if (!m) fail_msg("%s: %s", path, err.text);
        dae_problem *p = mbs_problem_create(m, &err);
        if (!p) fail_msg("%s: %s", path, err.text);
        mbs_model_destroy(m);
        const dae_problem *q = p;
        dae_run_options o = dae_run_options_default(q);
        o.t_end = q->t0 + fmin(0.05, q->t_end - q->t0);
        o.trajectory = DAE_TRAJECTORY_STEPS;
        dae_run_result *r = dae_run(q, &o, &err);
        assert_non_null(r);
        if (r->status < 0) fail_msg("%s: %s", path, r->error.text);
        assert_non_null(r->energy);
        dae_run_destroy(r);
        dae_problem_destroy(p);
        count++;
    }
    closedir(folder);
    assert_true(count >= 7);
}

/* A chain written once and written out: the same bodies, joints, start. */
static void repeated_items_are_those_written_out(void **state)
{
    (void)state;
    const char *text[2] = {
        HEAD ",\"parameters\":{\"N\":3},\"bodies\":[{\"repeat\":{\"i\":\"1..N\"},\"name\":\"b{i}\",\"mass\":"
             "\"0.5*{i}\","
             "\"inertia\":0.1,\"r\":[\"{i}-0.5\",0]}],\"points\":[{\"name\":\"P0\",\"body\":\"ground\",\"r\":"
             "[0,0]},"
             "{\"repeat\":{\"i\":\"1..N\"},\"name\":\"A{i}\",\"body\":\"b{i}\",\"r\":[-0.5,0]},{\"repeat\":{"
             "\"i\":\"1..N\"},"
             "\"name\":\"P{i}\",\"body\":\"b{i}\",\"r\":[0.5,0]}],\"joints\":[{\"repeat\":{\"i\":\"1..N\"},"
             "\"name\":\"J{i}\","
             "\"type\":\"revolute\",\"a\":\"P{i-1}\",\"b\":\"A{i}\"}]}",
        HEAD
        ",\"bodies\":[{\"name\":\"b1\",\"mass\":0.5,\"inertia\":0.1,\"r\":[0.5,0]},{\"name\":\"b2\",\"mass\":"
        "1,"
        "\"inertia\":0.1,\"r\":[1.5,0]},{\"name\":\"b3\",\"mass\":1.5,\"inertia\":0.1,\"r\":[2.5,0]}],"
        "\"points\":["
        "{\"name\":\"P0\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A1\",\"body\":\"b1\",\"r\":[-0.5,0]},"
        "{\"name\":\"A2\",\"body\":\"b2\",\"r\":[-0.5,0]},{\"name\":\"A3\",\"body\":\"b3\",\"r\":[-0.5,0]},"
        "{\"name\":\"P1\",\"body\":\"b1\",\"r\":[0.5,0]},{\"name\":\"P2\",\"body\":\"b2\",\"r\":[0.5,0]},"
        "{\"name\":\"P3\",\"body\":\"b3\",\"r\":[0.5,0]}],\"joints\":[{\"name\":\"J1\",\"type\":\"revolute\","
        "\"a\":\"P0\",\"b\":\"A1\"},{\"name\":\"J2\",\"type\":\"revolute\",\"a\":\"P1\",\"b\":\"A2\"},"
        "{\"name\":\"J3\",\"type\":\"revolute\",\"a\":\"P2\",\"b\":\"A3\"}]}"};
    double y[2][18], a[2][9];
    for (int k = 0; k < 2; k++) {
        dae_error err = {0};
        mbs_model *m = mbs_model_parse(text[k], strlen(text[k]), NULL, 0, &err);
        if (!m) fail_msg("%s", err.text);
        mbs_model_set_gravity(m, 1, -9.81, 0);
        mbs_mechanism *c = compile(m);
        assert_string_equal(mbs_mechanism_joint_name(c, 2), "J3");
        assert_int_equal(mbs_mechanism_initial(c, y[k], &err), DAE_OK);
        assert_int_equal(mbs_mechanism_acceleration(c, 0, y[k], a[k], NULL, &err), DAE_OK);
        mbs_mechanism_destroy(c);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_memory_equal(a[0], a[1], sizeof a[0]);
}

/* A contact with the lightest body, of mass 1/2, in 2 s: m x'' + c x' + k x = 0 decays by e^(-c/(2 m) 2), and where that is below e^-10
 * its fastest motion is the larger of sqrt(k/m) and c/m. */
static void fast_contacts_are_known_at_the_start(void **state)
{
    static const double contact[][3] = {{800, 4, 0}, {800, 10, 40}, {200, 30, 60}, {200, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof contact / sizeof *contact; i++) {
        char text[1000];
        dae_error err = {0};
        snprintf(text, sizeof text,
                 "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"m\", \"dimension\": 2, "
                 "\"gravity\": [0, -10],"
                 " \"bodies\": [ { \"name\": \"heavy\", \"mass\": 2, \"inertia\": 1, \"r\": [0, 3] },"
                 " { \"name\": \"light\", \"mass\": 0.5, \"inertia\": 1, \"r\": [1, 3] } ],"
                 " \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] },"
                 " { \"name\": \"P\", \"body\": \"light\", \"r\": [0, 0] } ],"
                 " \"forces\": [ { \"name\": \"F\", \"type\": \"contact\", \"a\": \"O\", \"b\": \"P\", "
                 "\"k\": %g, \"c\": %g } ],"
                 " \"simulation\": { \"t1\": 2 } }",
                 contact[i][0], contact[i][1]);
        dae_problem *p = dae_problem_open(text, NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        assert_near(p->fastest, contact[i][2], 1e-13);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_contacts_are_known_at_the_start),
        cmocka_unit_test(mistakes_are_told_with_their_place),
        cmocka_unit_test(good_files_are_read),
        cmocka_unit_test(repeated_items_are_those_written_out),
        cmocka_unit_test(settings_replace_parameters),
        cmocka_unit_test(settings_show_signals),
        cmocka_unit_test(models_of_the_library_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
