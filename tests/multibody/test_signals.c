/* What expressions can name of forces and orientations: values in closed form, the sum of all powers, exact derivatives where a
 * force depends on another one or on an orientation. */
#include "mechanics.h"

static mbs_mechanism *parse(const char *json)
{
    dae_error err = {0};
    mbs_model *m = mbs_model_parse(json, strlen(json), NULL, 0, &err);
    if (!m) fail_msg("%s", err.text);
    return compile(m);
}

/* Bodies at rest or in known motion: every number by hand. */
static void forces_show_force_power_and_deflection(void **state)
{
    (void)state;
    mbs_mechanism *c = parse(
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":2,"
        "\"bodies\":[{\"name\":\"m\",\"mass\":2,\"inertia\":1,\"r\":[3,4],\"v\":[1,0],\"omega\":2},"
        "{\"name\":\"arm\",\"mass\":1,\"inertia\":1,\"r\":[0,0],\"angle\":0.5,\"omega\":3}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"P\",\"body\":\"m\",\"r\":["
        "0,0]},"
        "{\"name\":\"C\",\"body\":\"arm\",\"r\":[0,0]},{\"name\":\"F\",\"body\":\"ground\",\"r\":[0,3.8]},"
        "{\"name\":\"G\",\"body\":\"ground\",\"r\":[3.5,4]}],"
        "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"C\"}],"
        "\"forces\":[{\"name\":\"s\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"P\",\"k\":10,\"c\":2,\"l0\":4},"
        "{\"name\":\"tw\",\"type\":\"torsion\",\"joint\":\"J\",\"k\":8,\"c\":0.5,\"l0\":0.1},"
        "{\"name\":\"end\",\"type\":\"stop\",\"joint\":\"J\",\"max\":0.3,\"k\":100},"
        "{\"name\":\"floor\",\"type\":\"contact\",\"a\":\"F\",\"b\":\"P\",\"k\":1000,\"radius\":0.25},"
        "{\"name\":\"ball\",\"type\":\"sphere_contact\",\"a\":\"G\",\"b\":\"P\",\"k\":100,\"radius\":0.3,"
        "\"radius_a\":0.4},"
        "{\"name\":\"b\",\"type\":\"bushing\",\"a\":\"F\",\"b\":\"P\",\"k\":10},"
        "{\"name\":\"w\",\"type\":\"tire\",\"b\":\"P\",\"k\":50,\"radius\":0.5,\"value\":\"3.7\"},"
        "{\"name\":\"e\",\"type\":\"motor\",\"joint\":\"J\",\"inductance\":1,\"constant\":3,\"value\":\"0\"}]"
        ","
        "\"sensors\":[{\"name\":\"S1\",\"value\":\"s.force\"},{\"name\":\"S2\",\"value\":\"s.power\"},{"
        "\"name\":\"S3\",\"value\":\"s.deflection\"},"
        "{\"name\":\"S4\",\"value\":\"s.fx\"},{\"name\":\"S5\",\"value\":\"s.fy\"},"
        "{\"name\":\"S6\",\"value\":\"tw.force\"},{\"name\":\"S7\",\"value\":\"tw.power\"},{\"name\":\"S8\","
        "\"value\":\"tw.deflection\"},"
        "{\"name\":\"S9\",\"value\":\"end.force\"},{\"name\":\"S10\",\"value\":\"end.deflection\"},"
        "{\"name\":\"S11\",\"value\":\"floor.force\"},{\"name\":\"S12\",\"value\":\"floor.deflection\"},"
        "{\"name\":\"S13\",\"value\":\"ball.force\"},{\"name\":\"S14\",\"value\":\"ball.deflection\"},{"
        "\"name\":\"S15\",\"value\":\"ball.power\"},"
        "{\"name\":\"S16\",\"value\":\"b.force\"},{\"name\":\"S17\",\"value\":\"b.deflection\"},{\"name\":"
        "\"S18\",\"value\":\"b.power\"},"
        "{\"name\":\"S19\",\"value\":\"w.force\"},{\"name\":\"S20\",\"value\":\"w.deflection\"},"
        "{\"name\":\"S21\",\"value\":\"e.force\"},{\"name\":\"S22\",\"value\":\"e.deflection\"},{\"name\":"
        "\"S23\",\"value\":\"e.power\"}]}");
    double tension = 10 * (5 - 4) + 2 * 0.6, wide = sqrt(9 + 0.04); /* rate of length: v . d/|d| = 3/5 */
    const double expected[] = {tension,
                               -tension * 0.6,
                               1,
                               -tension * 0.6,
                               -tension * 0.8,
                               -8 * 0.4 - 0.5 * 3,
                               (-8 * 0.4 - 0.5 * 3) * 3,
                               0.4,
                               -100 * 0.2,
                               0.2,
                               1000 * 0.05,
                               0.05,
                               100 * 0.2,
                               0.2,
                               -100 * 0.2, /* pushed to the left, moves to the right */
                               10 * wide,
                               wide,
                               -10 * 3,
                               50 * 0.2,
                               0.2,
                               3 * 7,
                               0.5,
                               3 * 7 * 3};
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    double y[16], value[32];
    dae_error err = {0};
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    y[s->np + s->nv] = 7; /* the current */
    if (mbs_mechanism_sensors(c, 0, y, NULL, NULL, value, &err)) fail_msg("%s", err.text);
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) {
        if (fabs(value[k] - expected[k]) > 1e-12 * (1 + fabs(expected[k])))
            fail_msg("sensor %zu is %.15g, expected %.15g", k + 1, value[k], expected[k]);
    }
    mbs_mechanism_destroy(c);
}

/* The powers of all forces together are f . v, without that of gravity, for random states of two spatial bodies. */
static void powers_of_all_forces_are_the_work_done(void **state)
{
    (void)state;
    mbs_mechanism *c = parse(
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":3,"
        "\"bodies\":[{\"name\":\"m\",\"mass\":2,\"inertia\":[1,1,1]},{\"name\":\"n\",\"mass\":1,\"inertia\":["
        "1,1,1]}],"
        "\"points\":[{\"name\":\"P\",\"body\":\"m\",\"r\":[0.3,0.1,0]},{\"name\":\"Q\",\"body\":\"n\",\"r\":["
        "0,0.2,-0.4]},"
        "{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0]}],"
        "\"forces\":[{\"name\":\"s\",\"type\":\"spring\",\"a\":\"P\",\"b\":\"Q\",\"k\":10,\"c\":2,\"l0\":4},"
        "{\"name\":\"b\",\"type\":\"bushing\",\"a\":\"P\",\"b\":\"Q\",\"k\":10,\"c\":1,\"k_angular\":3,\"c_"
        "angular\":0.3},"
        "{\"name\":\"f\",\"type\":\"force\",\"b\":\"Q\",\"frame\":\"body\",\"value\":[1,2,\"3*P.x\"]},"
        "{\"name\":\"q\",\"type\":\"torque\",\"body\":\"n\",\"value\":[1,-2,3]},"
        "{\"name\":\"touch\",\"type\":\"contact\",\"a\":\"O\",\"b\":\"P\",\"k\":100,\"c\":1,\"mu\":0.3,"
        "\"radius\":3},"
        "{\"name\":\"u\",\"type\":\"sphere_contact\",\"a\":\"P\",\"b\":\"Q\",\"k\":100,\"radius\":2,\"radius_"
        "a\":2,\"mu\":0.3}],"
        "\"sensors\":[{\"name\":\"all\",\"value\":\"s.power + b.power + f.power + q.power + touch.power + "
        "u.power\"}]}");
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    for (int k = 0; k < 5; k++) {
        double y[26], f[12], work = 0, value;
        random_state(s, y);
        dae_mech_point x = {.p = y, .v = y + s->np};
        s->force(&x, f, s->user);
        for (int i = 0; i < s->nv; i++) work += f[i] * y[s->np + i];
        assert_int_equal(mbs_mechanism_sensors(c, 0, y, NULL, NULL, &value, NULL), DAE_OK);
        assert_near(value, work, 1e-11 * (1 + fabs(work)));
    }
    mbs_mechanism_destroy(c);
}

static void forces_may_use_forces_and_orientations_exactly(void **state)
{
    (void)state;
    static const char *const law[] = {"2*s.force + s.power",
                                      "s.deflection*s.fx",
                                      "u.force + 3*u.deflection",
                                      "m.rotation.x",
                                      "m.rotation.z^2",
                                      "m.cardan.x + 2*m.cardan.y",
                                      "m.cardan.z",
                                      "m.euler.phi",
                                      "m.euler.theta*m.euler.psi",
                                      "m.q.w*m.q.x + m.q.y",
                                      "b.fx + b.fy*b.fz + n.q.z"};
    for (size_t i = 0; i < sizeof law / sizeof *law; i++) {
        char json[2000];
        snprintf(json, sizeof json,
                 "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":3,"
                 "\"bodies\":[{\"name\":\"m\",\"mass\":2,\"inertia\":[1,1,1]},{\"name\":\"n\",\"mass\":1,"
                 "\"inertia\":[1,1,1]}],"
                 "\"points\":[{\"name\":\"P\",\"body\":\"m\",\"r\":[0.3,0.1,0]},{\"name\":\"Q\",\"body\":"
                 "\"n\",\"r\":[0,0.2,-0.4]},"
                 "{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0]}],"
                 "\"forces\":[{\"name\":\"s\",\"type\":\"spring\",\"a\":\"P\",\"b\":\"Q\",\"k\":1,\"c\":2,"
                 "\"l0\":4},"
                 "{\"name\":\"b\",\"type\":\"bushing\",\"a\":\"P\",\"b\":\"Q\",\"k\":1,\"c\":1},"
                 "{\"name\":\"u\",\"type\":\"sphere_contact\",\"a\":\"P\",\"b\":\"Q\",\"k\":3,\"radius\":2,"
                 "\"radius_a\":2,\"mu\":0.3,\"v_s\":2},"
                 "{\"name\":\"w\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"Q\",\"value\":\"%s\"},"
                 "{\"name\":\"z\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"P\",\"value\":\"0.3*w.force + "
                 "s.force\"}]}",
                 law[i]);
        mbs_mechanism *c = parse(json);
        double y[26];
        for (int k = 0; k < 4; k++) {
            random_state(&mbs_mechanism_system(c)->mech, y);
            y[3] += 2, y[10] += 2; /* away from half a turn */
            for (int b = 0; b < 2; b++) {
                double *e = y + 3 + 7 * b, n = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
                for (int j = 0; j < 4; j++) e[j] /= n;
            }
            check_forces(c, law[i], y, 1e-6);
        }
        mbs_mechanism_destroy(c);
    }
}

static void a_force_declared_later_is_refused(void **state)
{
    (void)state;
    const char *json =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":2,"
        "\"bodies\":[{\"name\":\"m\",\"mass\":2,\"inertia\":1}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[1,0]},{\"name\":\"P\",\"body\":\"m\",\"r\":["
        "0,0]}],"
        "\"forces\":[{\"name\":\"a\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"P\",\"value\":\"b.force\"},"
        "{\"name\":\"b\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"P\",\"value\":\"a.force\"}]}";
    dae_error err = {0};
    mbs_model *m = mbs_model_parse(json, strlen(json), NULL, 0, &err);
    assert_non_null(m);
    assert_null(mbs_mechanism_create(m, &err));
    assert_non_null(strstr(err.text, "declared before it"));
    mbs_model_destroy(m);
}

/* A rod falls from the horizontal; sqrt(0.2 + angle) ends at -0.2, whenever it is dropped. */
#define FALL(from, to)                                                                                     \
    "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":2,\"gravity\":[0,-9.81],"         \
    "\"bodies\":[{\"name\":\"rod\",\"mass\":1,\"inertia\":0.1,\"r\":[0.5,0]}],"                            \
    "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"P\",\"body\":\"rod\",\"r\":" \
    "[-0.5,0]}],"                                                                                          \
    "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"P\"}],"                         \
    "\"forces\":[{\"name\":\"good\",\"type\":\"torsion\",\"joint\":\"J\",\"k\":1},"                        \
    "{\"name\":\"culprit\",\"type\":\"torsion\",\"joint\":\"J\",\"value\":\"sqrt(0.2+J.value)\"}],"        \
    "\"simulation\":{\"t0\":" from ",\"t1\":" to "}}"

static void a_force_without_a_value_is_named(void **state)
{
    (void)state;
    static const char *const json[] = {FALL("0", "0.5"), FALL("-0.25", "0.25")};
    for (int k = 0; k < 2; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_open_text(json[k], strlen(json[k]), "x.json", NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        dae_run_options o = dae_run_options_default(p);
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        assert_int_equal(r->status, DAE_ERR_UNDEFINED);
        if (!strstr(r->error.text, "force \"culprit\" has no value")) fail_msg("%s", r->error.text);
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

static int keep(const char *piece, size_t length, void *user)
{
    char *text = user;
    if (strlen(text) + length >= 20000) return -1;
    strncat(text, piece, length);
    return 0;
}

/* The arrow of a spring is the force on the body of its point b: towards the origin, 10 (5 - 4) from (3, 4) and 7 * 13 from (3, 4, 12). */
static void arrows_of_a_scene_are_the_forces(void **state)
{
    static const struct {
        const char *bodies, *zero, *spring, *arrow;
        int n;
        double y[13];
    } row[] = {
        {"2,\"bodies\":[{\"name\":\"m\",\"mass\":2,\"inertia\":1,\"r\":[3,4]}]",
         "[0,0]",
         "10,\"l0\":4",
         "\"value\":[[-6,-8,0]]",
         6,
         {3, 4}},
        {"3,\"bodies\":[{\"name\":\"m\",\"mass\":2,\"inertia\":[1,1,1],\"r\":[3,4,12]}]",
         "[0,0,0]",
         "7",
         "\"value\":[[-21,-28,-84]]",
         13,
         {3, 4, 12, 1}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        char json[2000], scene[20000] = "";
        dae_error err = {0};
        snprintf(json, sizeof json,
                 "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":%s,"
                 "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":%s},{\"name\":\"P\",\"body\":\"m\","
                 "\"r\":%s}],"
                 "\"forces\":[{\"name\":\"s\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"P\",\"k\":%s}],"
                 "\"simulation\":{\"t1\":1}}",
                 row[k].bodies, row[k].zero, row[k].zero, row[k].spring);
        dae_problem *p = dae_problem_open_text(json, strlen(json), "x.json", NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        assert_int_equal(dae_system_size(&p->system), row[k].n);
        assert_int_equal(mbs_write_scene(p, 1, (double[]){0}, row[k].y, keep, scene), DAE_OK);
        const char *arrow = strstr(scene, "\"name\":\"s\",\"kind\":\"force\",\"body\":1");
        if (!arrow || !strstr(arrow, row[k].arrow)) fail_msg("%s", arrow ? arrow : scene);
        dae_problem_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_show_force_power_and_deflection),
        cmocka_unit_test(powers_of_all_forces_are_the_work_done),
        cmocka_unit_test(forces_may_use_forces_and_orientations_exactly),
        cmocka_unit_test(a_force_declared_later_is_refused),
        cmocka_unit_test(a_force_without_a_value_is_named),
        cmocka_unit_test(arrows_of_a_scene_are_the_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
