/* Evaluation at a point given as JSON: values, messages, and no crash on any bytes. */
#include "test.h"

#include <daedalus/experiment.h>

#include <jansson.h>

typedef struct memory {
    char text[65536];
    size_t length;
} memory;

static int remember(const char *text, size_t length, void *user)
{
    memory *m = user;
    if (m->length + length >= sizeof m->text) return -1;
    memcpy(m->text + m->length, text, length);
    m->length += length;
    m->text[m->length] = 0;
    return 0;
}

static json_t *evaluate(const dae_problem *p, const char *state, int with_jacobian)
{
    memory m = {.length = 0};
    dae_error err = {0};
    dae_status s = dae_eval_json(p, state, strlen(state), with_jacobian, remember, &m, &err);
    if (s != DAE_OK) fail_msg("%s: %s", state, err.text);
    json_t *o = json_loads(m.text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(o);
    return o;
}

static double at(const json_t *list, size_t i)
{
    return json_number_value(json_array_get(list, i));
}

/* Values in 60 digit arithmetic, rounded. */
static void eval_of_ode_gives_right_hand_side(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("rober", NULL, 0, NULL);
    json_t *o = evaluate(p, "{\"t\":81672.8,\"y\":[0.796716,3.36172e-05,0.265942]}", 1),
           *f = json_object_get(o, "f");
    assert_string_equal(json_string_value(json_object_get(o, "status")), "ok");
    assert_near(at(f, 0), 0.05753361402400001, 6.3e-14);
    assert_near(at(f, 1), -0.0914370980992, 9.8e-14);
    assert_near(at(f, 2), 0.033903484075200004, 3.6e-14);
    json_t *row = json_array_get(json_object_get(o, "jac"), 1);
    assert_near(at(row, 0), 0.04, 1e-16); /* d/dA of 0.04 A - ... */
    assert_int_equal(json_array_size(row), 3);
    json_decref(o);
    dae_problem_destroy(p);
}

static void eval_of_dae_has_mass_by_rows(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("transamp", NULL, 0, NULL);
    json_t *o = evaluate(
        p, "{\"t\":0.0916908,\"y\":[-0.0656237,3.13986,2.96695,4.92681,3.00782,3.06566,5.11944,0.92457]}", 0);
    assert_near(at(json_object_get(o, "f"), 7), 0.00010273, 1.1e-16);
    json_t *mass = json_object_get(o, "mass");
    assert_int_equal(json_array_size(mass), 8);
    assert_near(at(json_array_get(mass, 0), 0), -1e-6, 1e-20);
    assert_near(at(json_array_get(mass, 0), 1), 1e-6, 1e-20);
    assert_near(at(json_array_get(mass, 5), 5), -4e-6, 1e-20);
    assert_null(json_object_get(o, "jac"));
    json_decref(o);
    dae_problem_destroy(p);
}

static void eval_of_ide_gives_residual(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("nand", NULL, 0, NULL);
    json_t *o = evaluate(
        p,
        "{\"t\":67.8935,\"y\":[1.3101,4.74653,-2.31978,-2.12556,1.33662,0.106594,0.743277,-2.74196,-2.60675,"
        "0.206634,0.352431,0.190782,-2.69469,-2.87805],\"yprime\":[0.108197,0.348786,0.561894,-0.0640369,"
        "0.242124,0.953208,0.909989,-0.0225962,0.984859,0.625046,0.898066,0.604251,-0.90429,-0.633487]}",
        0);
    assert_near(at(json_object_get(o, "f"), 0), -0.009502937708426737, 2.1e-14);
    assert_near(at(json_object_get(o, "f"), 4), 0.15496854906468976, 1.8e-13);
    json_decref(o);
    dae_problem_destroy(p);
}

/* A unit mass on the unit circle under gravity 9.81, with one dynamic variable u' = -u. */
static int weight(const dae_mech_point *x, double *f, void *user)
{
    (void)x;
    (void)user;
    f[0] = 0;
    f[1] = -9.81;
    return 0;
}
static int circle(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1) / 2;
    for (int i = 0; G && i < 2; i++) G[i] = x->p[i];
    return 0;
}
static int fading(const dae_mech_point *x, double *d, void *user)
{
    (void)user;
    d[0] = -x->u[0];
    return 0;
}

static void eval_of_mechanical_system_has_constraints(void **state)
{
    (void)state;
    dae_problem p = {.t_end = 1};
    p.system.kind = DAE_KIND_MECH;
    p.system.mech = (dae_mech){.np = 2,
                               .nv = 2,
                               .nu = 1,
                               .ng = 1,
                               .nlambda = 1,
                               .force = weight,
                               .constraint = circle,
                               .dynamics = fading};
    p.system.mech.mass = dae_diagonal(2, (double[]){2, 3});
    json_t *o = evaluate(&p, "{\"p\":[3,4],\"v\":[0,0],\"u\":[5],\"lambda\":[1]}", 0);
    assert_near(at(json_object_get(o, "f"), 1), -9.81, 0);
    assert_near(at(json_object_get(o, "g"), 0), 12, 0);
    assert_near(at(json_array_get(json_object_get(o, "G"), 0), 1), 4, 0);
    assert_near(at(json_array_get(json_object_get(o, "mass"), 1), 1), 3, 0);
    assert_near(at(json_object_get(o, "udot"), 0), -5, 0);
    json_decref(o);
}

static int sometimes(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = log(y[0]);
    return y[0] < -1 ? 1 : y[0] < -0.5 ? -7 : 0;
}

static void eval_tells_undefined_from_stop(void **state)
{
    (void)state;
    dae_problem p = {.t_end = 1};
    p.system.kind = DAE_KIND_ODE;
    p.system.ode.n = 1;
    p.system.ode.f = sometimes;
    static const char *const undefined[] = {"{\"y\":[-2]}", "{\"y\":[0]}", "{\"y\":[-0.1]}"};
    for (int i = 0; i < 3; i++) {
        json_t *o = evaluate(&p, undefined[i], 0);
        assert_string_equal(json_string_value(json_object_get(o, "status")), "undefined");
        assert_null(json_object_get(o, "f"));
        json_decref(o);
    }
    memory m = {.length = 0};
    dae_error err = {0};
    assert_int_equal(dae_eval_json(&p, "{\"y\":[-0.7]}", 12, 0, remember, &m, &err), DAE_ERR_CALLBACK);
    assert_int_equal(m.length, 0);
}

static void eval_names_what_is_wrong(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("rober", NULL, 0, NULL);
    static const char *const wrong[][2] = {
        {"{\"t\":0,\n\"y\":[1,}", "line 2"},
        {"{\"y\":[1,2]}", "\"y\" has 2 numbers, expected 3"},
        {"{\"y\":[1,2,\"x\"]}", "element 3 of \"y\""},
        {"{\"t\":0}", "\"y\" is missing"},
        {"{\"y\":7}", "\"y\" must be a list"},
        {"{\"t\":\"a\",\"y\":[1,2,3]}", "\"t\" is not a number"},
        {"{\"y\":[1,2,3],\"z\":1}", "unknown key \"z\""},
        {"[1,2]", "one JSON object"},
        {"", "line 1"},
        {"{\"y\":[1,2,3],\"y\":[1,2,3]}", "duplicate"},
        {"{\"y\":[1,2,1e999]}", "line 1"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memory m = {.length = 0};
        dae_error err = {0};
        assert_int_equal(dae_eval_json(p, wrong[i][0], strlen(wrong[i][0]), 0, remember, &m, &err),
                         DAE_ERR_INPUT);
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("%s: \"%s\" does not say \"%s\"", wrong[i][0], err.text, wrong[i][1]);
        assert_int_equal(m.length, 0);
    }
    dae_problem_destroy(p);
}

static unsigned next(unsigned long long *seed)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(*seed >> 33);
}

/* Random bytes, and damaged copies of a good state: an answer or DAE_ERR_INPUT, never anything else. */
static void eval_survives_any_bytes(void **state)
{
    (void)state;
    static const char good[] = "{\"t\":81672.8,\"y\":[0.796716,3.36172e-05,0.265942],\"yprime\":[0,0,0]}";
    static const char letters[] = "{}[]\",:0123456789.eE+-ty \n\\untruefalse\xff\x80";
    dae_problem *p = dae_problem_create("rober", NULL, 0, NULL);
    unsigned long long seed = 1;
    int answered = 0;
    for (int round = 0; round < 20000; round++) {
        char text[128];
        size_t length;
        if (round % 2) {
            length = sizeof good - 1;
            memcpy(text, good, length);
            for (unsigned k = next(&seed) % 3; k < 3; k++)
                text[next(&seed) % length] = letters[next(&seed) % (sizeof letters - 1)];
        } else {
            length = next(&seed) % sizeof text;
            for (size_t i = 0; i < length; i++)
                text[i] = round % 4 ? letters[next(&seed) % (sizeof letters - 1)] : (char)next(&seed);
        }
        memory m = {.length = 0};
        dae_error err = {0};
        dae_status s = dae_eval_json(p, text, length, round % 3 == 0, remember, &m, &err);
        if (s == DAE_OK) {
            json_t *o = json_loadb(m.text, m.length, 0, NULL);
            assert_non_null(o);
            json_decref(o);
            answered++;
        } else {
            assert_int_equal(s, DAE_ERR_INPUT);
            assert_true(err.text[0] != 0);
        }
    }
    assert_true(answered > 100); /* the fuzzing reaches the evaluation */
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eval_of_ode_gives_right_hand_side),
        cmocka_unit_test(eval_of_dae_has_mass_by_rows),
        cmocka_unit_test(eval_of_ide_gives_residual),
        cmocka_unit_test(eval_of_mechanical_system_has_constraints),
        cmocka_unit_test(eval_tells_undefined_from_stop),
        cmocka_unit_test(eval_names_what_is_wrong),
        cmocka_unit_test(eval_survives_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
