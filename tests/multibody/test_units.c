/* Units of model files: every number of every kind of object refuses what an expression makes of a wrong unit, and takes the one that it
 * wants; products with numbers keep units; signals, sensors, states and blocks know theirs. */
#include "mechanics.h"

#include "multibody/field.h"
#include "multibody/mechanism.h"

#include <jansson.h>
#include <stdio.h>

#define PARAMETERS \
    "\"parameters\":{\"L\":\"2[m]\",\"T\":\"2[K]\",\"hot\":\"T/4\",\"n\":2,\"turn\":\"30[deg]\"}"
#define HEAD(dimension) \
    "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":" dimension "," PARAMETERS

/* All numbers of both are replaced one after the other. */
static const char plane[] = HEAD(
    "2") ",\"gravity\":[0,-9.81],\"shapes\":[{\"kind\":\"plane\",\"size\":[1],\"r\":[0,-5],\"angle\":0}],"
         "\"bodies\":["
         "{\"name\":\"rod\",\"mass\":1,\"inertia\":0.1,\"r\":[0.5,0],\"angle\":0,\"v\":[0,0],\"omega\":0},"
         "{\"repeat\":{\"i\":\"2..2\"},\"name\":\"b{i}\",\"mass\":1,\"inertia\":0.1,\"r\":[2,0]},"
         "{\"name\":\"box\",\"r\":[9,9],\"shapes\":[{\"kind\":\"box\",\"size\":[1,1,1],\"r\":[0,0],\"angle\":"
         "0,\"density\":1},"
         "{\"kind\":\"rod\",\"size\":[1],\"density\":1},{\"kind\":\"plate\",\"size\":[1,1],\"density\":1},"
         "{\"kind\":\"sphere\",\"size\":[1],\"mass\":1},{\"kind\":\"cylinder\",\"size\":[1,1],\"mass\":1},"
         "{\"kind\":\"capsule\",\"size\":[1,1],\"mass\":1}]},"
         "{\"name\":\"disc\",\"mass\":2,\"r\":[9,0],\"shapes\":[{\"kind\":\"sphere\",\"size\":[1]}]}],"
         "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A\",\"body\":\"rod\","
         "\"r\":[-0.5,0],"
         "\"angle\":0},{\"name\":\"B\",\"body\":\"rod\",\"r\":[0.5,0]},{\"name\":\"C\",\"body\":\"b2\",\"r\":"
         "[0,0]}],"
         "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\",\"friction\":{\"mu\":0.1,"
         "\"mu_static\":0.2,"
         "\"radius\":0.1,\"v_s\":0.001,\"stick\":1000}},{\"name\":\"S\",\"type\":\"prismatic\",\"a\":\"O\","
         "\"b\":\"C\","
         "\"axis\":[1,0]}],"
         "\"forces\":[{\"name\":\"F\",\"type\":\"force\",\"b\":\"B\",\"value\":[1,2]},"
         "{\"name\":\"M\",\"type\":\"torque\",\"body\":\"rod\",\"value\":1},"
         "{\"name\":\"MJ\",\"type\":\"torque\",\"joint\":\"J\",\"value\":1},"
         "{\"name\":\"FS\",\"type\":\"force\",\"joint\":\"S\",\"value\":1},"
         "{\"name\":\"K\",\"type\":\"torsion\",\"joint\":\"J\",\"k\":1,\"c\":1,\"l0\":1},"
         "{\"name\":\"KS\",\"type\":\"torsion\",\"joint\":\"S\",\"k\":1,\"c\":1,\"l0\":1},"
         "{\"name\":\"E\",\"type\":\"stop\",\"joint\":\"J\",\"min\":-3,\"max\":3,\"k\":1,\"c\":1},"
         "{\"name\":\"ES\",\"type\":\"stop\",\"joint\":\"S\",\"min\":-3,\"max\":3,\"k\":1,\"c\":1},"
         "{\"name\":\"V\",\"type\":\"motor\",\"joint\":\"J\",\"resistance\":1,\"inductance\":1,\"constant\":"
         "1,\"value\":1}],"
         "\"drivers\":[{\"name\":\"D\",\"joint\":\"S\",\"value\":0}],"
         "\"events\":[{\"name\":\"hit\",\"when\":\"rod.angle + "
         "9\",\"do\":[{\"impact\":{\"joint\":\"J\",\"restitution\":0.5,"
         "\"rest_speed\":1e-4}}]},{\"name\":\"down\",\"when\":\"rod.y + "
         "9\",\"do\":[{\"impact\":{\"a\":\"O\",\"b\":\"B\","
         "\"axis\":[0,1],\"restitution\":0.5,\"rest_speed\":1e-4}}]}],"
         "\"initial\":{\"joints\":[{\"joint\":\"J\",\"speed\":0}]},"
         "\"simulation\":{\"t0\":0,\"t1\":1,\"rtol\":{\"all\":1e-6,\"rod.x\":1e-6},\"atol\":{\"all\":1e-6,"
         "\"rod.x\":1e-6,"
         "\"rod.angle\":1e-6,\"rod.vx\":1e-6,\"rod.omega\":1e-6},\"h0\":1e-3,\"hmax\":1,\"output\":{"
         "\"every\":0.1}}}";

static const char space[] =
    HEAD("3") ",\"gravity\":[0,0,-9.81],\"definitions\":{\"leg\":{\"parameters\":{\"l\":\"1[m]\"},\"bodies\":"
              "[{\"name\":\"b\","
              "\"mass\":1,\"inertia\":[1,1,1],\"r\":[1,0,0],\"q\":[1,0,0,0],\"v\":[0,0,0]}],\"points\":[{"
              "\"name\":\"P\","
              "\"body\":\"ground\",\"r\":[0,0,0]},{\"name\":\"Q\",\"body\":\"b\",\"r\":[\"-l\",0,0]}],"
              "\"joints\":[{\"name\":\"J\","
              "\"type\":\"spherical\",\"a\":\"P\",\"b\":\"Q\"}],\"forces\":[{\"name\":\"s\",\"type\":"
              "\"spring\",\"a\":\"P\","
              "\"b\":\"Q\",\"axis\":[1,0,0]}]}},"
              "\"assemblies\":[{\"name\":\"left\",\"of\":\"leg\",\"parameters\":{\"l\":1},\"r\":[0,1,0],"
              "\"q\":[1,0,0,0]}],"
              "\"bodies\":[{\"name\":\"top\",\"mass\":1,\"inertia\":[1,1,1,0,0,0],\"r\":[0,0,1],\"q\":[1,0,0,"
              "0],\"v\":[0,0,0],"
              "\"omega\":[0,0,0]},{\"name\":\"nut\",\"mass\":1,\"inertia\":[1,1,1],\"r\":[0,0,2]}],"
              "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0],\"q\":[1,0,0,0]},{\"name\":"
              "\"A\",\"body\":\"top\","
              "\"r\":[0,0,0]},{\"name\":\"N\",\"body\":\"nut\",\"r\":[0,0,0]}],"
              "\"joints\":[{\"name\":\"W\",\"type\":\"screw\",\"a\":\"O\",\"b\":\"N\",\"axis\":[0,0,1],"
              "\"pitch\":0.1}],"
              "\"forces\":[{\"name\":\"jet\",\"type\":\"thruster\",\"b\":\"A\",\"axis\":[0,0,1],\"value\":1},"
              "{\"name\":\"m\",\"type\":\"torque\",\"body\":\"top\",\"value\":[1,2,3]},"
              "{\"name\":\"wheel\",\"type\":\"tire\",\"b\":\"A\",\"k\":1,\"c\":1,\"radius\":1,\"value\":1}],"
              "\"initial\":{\"joint\":\"W\",\"speed\":0}}";

static dae_status read_with(const char *json, const dae_setting *setting, int count, dae_error *err)
{
    *err = (dae_error){0};
    mbs_model *m = mbs_model_parse(json, strlen(json), setting, count, err);
    if (!m) return err->status;
    mbs_mechanism *c = mbs_mechanism_create(m, err);
    mbs_model_destroy(m);
    dae_status s = c ? DAE_OK : err->status;
    mbs_mechanism_destroy(c);
    return s;
}

static dae_status read(const char *json, dae_error *err)
{
    return read_with(json, NULL, 0, err);
}

/* ---- Every number --------------------------------------------------------------------------------------- */

/* Puts an expression in the place of leaf number `which` (a number); the key that it stands under, NULL: there are not so many. */
static const char *replace(json_t *j, const char *key, int *which, json_t *by)
{
    const char *own, *found = NULL;
    json_t *value;
    void *next;
    for (size_t i = 0; json_is_array(j) && !found && i < json_array_size(j); i++) {
        value = json_array_get(j, i);
        if (json_is_number(value) && (*which)-- == 0) {
            json_array_set(j, i, by);
            return key;
        }
        found = replace(value, key, which, by);
    }
    if (!json_is_object(j)) return found;
    json_object_foreach_safe(j, next, own, value)
    {
        if (found || !strcmp(own, "daedalus") || !strcmp(own, "dimension") || !strcmp(own, "n")) continue;
        if (json_is_number(value) && (*which)-- == 0) {
            json_object_set(j, own, by);
            return own;
        }
        found = replace(value, own, which, by);
    }
    return found;
}

static dae_status with(const char *model, int which, const char *expression, const char **key, dae_error *err)
{
    json_t *j = json_loads(model, 0, NULL), *by = json_string(expression);
    assert_non_null(j);
    const char *found = replace(j, "", &which, by);
    static char name[64];
    snprintf(name, sizeof name, "%s", found ? found : "");
    *key = found ? name : NULL;
    char *text = json_dumps(j, 0);
    dae_status s = found ? read(text, err) : DAE_OK;
    free(text);
    json_decref(j);
    json_decref(by);
    return s;
}

/* The wrong ones all have [K], which nothing wants; what is wanted stands in the message. */
static int try_all(const char *model)
{
    static const char *const wrong[] = {"T/4", "hot", "2*T", "hot + n", "T*sin(n)", "(T^2/2)/T"};
    const char *key;
    dae_error err;
    if (read(model, &err) != DAE_OK) fail_msg("%s", err.text);
    int n = 0;
    for (;; n++) {
        char good[80] = "";
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            dae_status s = with(model, n, wrong[k], &key, &err);
            if (!key) return n;
            const char *expected = strstr(err.text, "has the unit [K], expected ");
            if (s != DAE_ERR_INPUT || !strstr(err.text, key) || !strstr(err.text, wrong[k]) || !expected)
                fail_msg("%s: \"%s\" gives %d \"%s\"", key, wrong[k], s, err.text);
            const char *unit = strchr(expected + 20, '[');
            if (unit) snprintf(good, sizeof good, "1%.*s", (int)strcspn(unit, "]") + 1, unit);
        }
        with(model, n, good[0] ? good : "L/L", &key, &err);
        if (strstr(err.text, "unit")) fail_msg("%s: \"%s\" gives \"%s\"", key, good, err.text);
    }
}

static void every_number_wants_its_unit(void **state)
{
    (void)state;
    assert_true(try_all(plane) >= 90);
    assert_true(try_all(space) >= 60);
}

/* ---- Fields of types ---------------------------------------------------------------------------------- */

static void check_fields(const char *section, const char *type, const char *places, const mbs_field *table)
{
    for (const mbs_field *f = table; f && f->name; f++) {
        char json[3000];
        dae_error err;
        if (f->kind != MBS_FIELD_NUMBER || !f->unit) continue;
        snprintf(json, sizeof json,
                 HEAD("3") ",\"bodies\":[{\"name\":\"b\",\"mass\":1,\"inertia\":[1,1,1]}],\"points\":[{"
                           "\"name\":\"O\","
                           "\"body\":\"ground\",\"r\":[0,0,0]},{\"name\":\"A\",\"body\":\"b\",\"r\":[0,0,0]}]"
                           ",\"joints\":["
                           "{\"name\":\"J0\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}%s{\"name\":\"x\","
                           "\"type\":\"%s\"%s,"
                           "\"%s\":\"T/4\"}]}",
                 section, type, places, f->name);
        /* fields that stand before it in the table may be missing: what is read first is told first */
        dae_status s = read(json, &err);
        if (s != DAE_ERR_INPUT || (!strstr(err.text, "has the unit [K]") && !strstr(err.text, "missing")))
            fail_msg("%s.%s gives %d \"%s\"", type, f->name, s, err.text);
        if (strstr(err.text, "missing")) assert_false(f->name == table->name);
    }
}

static void every_field_of_a_type_wants_its_unit(void **state)
{
    (void)state;
    const mbs_joint_type *j;
    const mbs_force_type *f;
    for (int i = 0; (j = mbs_joint_type_at(i)) != NULL; i++)
        check_fields(",", j->name, j->without_points ? "" : ",\"a\":\"O\",\"b\":\"A\"", j->field);
    for (int i = 0; (f = mbs_force_type_at(i)) != NULL; i++)
        check_fields(f->acts ? "],\"forces\":[" : "],\"blocks\":[", f->name,
                     !f->acts                                     ? ",\"value\":1"
                     : f->acts & MBS_ACTS_JOINT                   ? ",\"joint\":\"J0\""
                     : f->acts & (MBS_ACTS_BETWEEN | MBS_ACTS_AT) ? ",\"a\":\"O\",\"b\":\"A\""
                     : f->acts & MBS_ACTS_BODY                    ? ",\"body\":\"b\""
                                                                  : "",
                     f->field);
}

/* ---- Through parameters, assemblies, repetitions, laws ------------------------------------------------ */

#define BODIES "\"bodies\":[{\"name\":\"rod\",\"mass\":1,\"inertia\":0.1,\"r\":[0.5,0]}]"
#define BODY(fields) HEAD("2") ",\"bodies\":[{\"name\":\"rod\",\"inertia\":1," fields "}]}"
#define MASS(mass, inertia) \
    HEAD("2") ",\"bodies\":[{\"name\":\"rod\",\"mass\":" mass ",\"inertia\":\"" inertia "\"}]}"
#define POINTS                                                                                               \
    "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A\",\"body\":\"rod\",\"r\":[-" \
    "0.5,0]}]"
#define GOOD  \
    HEAD("2") \
    "," BODIES "," POINTS ",\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}]"
#define LAW(text) \
    GOOD ",\"forces\":[{\"name\":\"F\",\"type\":\"torque\",\"joint\":\"J\",\"value\":\"" text "\"}]}"
#define LEG(l, rest)                                                                                         \
    GOOD                                                                                                     \
        ",\"definitions\":{\"leg\":{\"parameters\":{\"l\":\"1[m]\"},\"bodies\":[{\"name\":\"b\",\"mass\":1," \
        "\"inertia\":1,\"r\":[\"l\",0]}]}},\"assemblies\":[{\"name\":\"left\",\"of\":\"leg\","               \
        "\"parameters\":{\"l\":\"" l "\"}" rest "}]}"

static void mistakes_say_field_and_units(void **state)
{
    (void)state;
    static const struct {
        const char *json, *place, *what;
    } list[] = {
        {BODY("\"mass\":\"L/4\""), "bodies[0].mass", "\"L/4\" has the unit [m], expected [kg]"},
        {BODY("\"mass\":\"2*3*L\""), "bodies[0].mass", "has the unit [m], expected [kg]"},
        {BODY("\"mass\":\"-L + 1\""), "bodies[0].mass", "has the unit [m], expected [kg]"},
        {BODY("\"mass\":\"max(L, 2)/4\""), "bodies[0].mass", "has the unit [m], expected [kg]"},
        {BODY("\"mass\":\"sqrt(L^2)/2\""), "bodies[0].mass", "has the unit [m], expected [kg]"},
        {BODY("\"mass\":\"pi*L*cos(2)\""), "bodies[0].mass", "has the unit [m], expected [kg]"},
        {BODY("\"mass\":\"L + 3[kg]\""), "bodies[0].mass", "units do not fit: [m] + [kg]"},
        {BODY("\"mass\":1,\"r\":[\"L^2\",0]"), "bodies[0].r[0]", "has the unit [m^2], expected [m]"},
        {BODY("\"mass\":\"sum(i in 1..3, i*L)\""), "bodies[0].mass", "has the unit [m], expected [kg]"},
        {BODY("\"mass\":1,\"r\":[\"2[kg]/2\",0]"), "bodies[0].r[0]", "has the unit [kg], expected [m]"},
        {BODY("\"repeat\":{\"i\":\"1..2\"},\"mass\":\"L*{i}\""), "bodies[0].mass", "expected [kg]"},
        {BODY("\"repeat\":{\"i\":\"1..L\"},\"mass\":1"), "bodies[0].repeat", "has the unit [m]"},
        {LEG("3[kg]", ""), "parameters.left_l", "has the unit [kg], expected [m]"},
        {LEG("3[m]", ",\"r\":[\"T/2\",0]"), "assemblies[0]: r", "has the unit [K], expected [m]"},
        {LEG("3[m]", ",\"angle\":\"L/2\""), "assemblies[0]: angle", "expected a number without unit"},
        {GOOD ",\"forces\":[{\"name\":\"F\",\"type\":\"torsion\",\"joint\":\"J\",\"k\":\"5[N/m]/2\"}]}",
         "forces[0].k", "expected [N m]"},
        {GOOD ",\"initial\":{\"joint\":\"J\",\"speed\":\"L/1[s]\"}}", "initial.speed", "expected [rad/s]"},
        {GOOD ",\"simulation\":{\"t1\":1,\"atol\":\"L/1e8\"}}", "simulation.atol",
         "expected a number without unit"},
        {GOOD ",\"simulation\":{\"t1\":1,\"atol\":{\"rod.omega\":\"L/1e8\"}}}", "simulation.atol.rod.omega",
         "expected [rad/s]"},
        {MASS("\"2[kg]\"", "2*L^2/12"), "bodies[0].inertia",
         "\"2*L^2/12\" has the unit [m^2], expected [kg m^2]"},
        {MASS("2", "L^2"), "bodies[0].inertia", "has the unit [m^2], expected [kg m^2]"},
        {MASS("2", "2*L/12"), "bodies[0].inertia", "has the unit [m], expected"},
        {LAW("3*5[N]"), "forces[0]: value", "expected [N m]"},
        {LAW("2*L"), "forces[0]: value", "has the unit [m], expected [N m]"},
        {GOOD ",\"joints\":[]}", "line 1", "duplicate"},
        {HEAD("2") "," BODIES "," POINTS
                   ",\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"},"
                   "{\"name\":\"S\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"A\"},{\"name\":\"G\",\"type\":"
                   "\"gear\","
                   "\"joints\":[\"S\",\"J\"],\"ratio\":\"2[kg]/3\"}]}",
         "joints[2]: ratio", "has the unit [kg], expected [m]"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        dae_error err;
        dae_status s = read(list[i].json, &err);
        if (s != DAE_ERR_INPUT || strncmp(err.text, list[i].place, strlen(list[i].place)) != 0 ||
            !strstr(err.text, list[i].what))
            fail_msg("%s\ngives %d \"%s\",\nexpected \"%s ... %s\"", list[i].json, s, err.text, list[i].place,
                     list[i].what);
    }
}

/* Coefficients of laws may have a unit that nobody wrote. */
static void laws_without_units_stay_free(void **state)
{
    (void)state;
    static const char *const list[] = {
        BODY("\"mass\":\"n/4\""),
        BODY("\"mass\":\"2*n*L\""),
        BODY("\"mass\":\"3/4\""),
        BODY("\"mass\":\"2[kg]/4 + 1\""),
        BODY("\"mass\":\"L/4*2[kg/m]\""),
        MASS("2", "2*L^2/12"), /* the 2 is a mass without unit, as there */
        MASS("1", "L^2/12 + 1[kg m^2]"),
        MASS("\"2[kg]\"", "2[kg]*L^2/12"),
        LAW("-20*rod.x - 3*rod.vx"),
        LAW("-20*(rod.x - L)"),
        LAW("400*(turn - J.value) - 12*J.speed"),
        LAW("400*turn - 400*J.value - 12*J.speed"),
        LAW("5[N m] - 2*J.speed"),
        LAW("2*3[N m]*sin(2*t)"),
        LAW("n*rod.x + 3[N m]"),
        LEG("3", ""),
        LEG("3*L", ",\"r\":[\"L/2\",0]"),
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        dae_error err;
        if (read(list[i], &err) != DAE_OK) fail_msg("%s\ngives \"%s\"", list[i], err.text);
    }
}

/* A setting in the place of a parameter has the unit of it. */
static void settings_keep_the_unit_of_a_parameter(void **state)
{
    (void)state;
    static const char json[] = BODY("\"mass\":\"3[kg/m]*L\"");
    dae_error err;
    assert_int_equal(read_with(json, &(dae_setting){"L", "30[cm]"}, 1, &err), DAE_OK);
    assert_int_equal(read_with(json, &(dae_setting){"L", "30"}, 1, &err), DAE_OK);
    assert_int_equal(read_with(json, &(dae_setting){"n", "3[s]"}, 1, &err), DAE_OK);
    assert_int_equal(read_with(json, &(dae_setting){"L", "3[s]"}, 1, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "parameters.L: \"3[s]\" has the unit [s], expected [m]"));
    static const char wrong[] = BODY("\"mass\":\"L/4\"");
    assert_int_equal(read_with(wrong, &(dae_setting){"L", "30"}, 1, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "bodies[0].mass"));
}

/* ---- Units of signals, sensors, blocks ------------------------------------------------------------------ */

#define BLOCKS(list) GOOD ",\"blocks\":[" list "]"
#define BLOCK(rest) BLOCKS("{\"name\":\"B\"," rest "}") "}"
#define SENSED(list, value)                                                                              \
    GOOD ",\"forces\":[{\"name\":\"K\",\"type\":\"torsion\",\"joint\":\"J\",\"k\":1},{\"name\":\"V\","   \
         "\"type\":"                                                                                     \
         "\"motor\",\"joint\":\"J\",\"resistance\":1,\"inductance\":1,\"constant\":1,\"value\":0}]" list \
         ",\"sensors\":[{\"name\":\"s\",\"value\":\"" value "\"}]}"

/* A unit is shown where it is known: by what was written, and by the signals, up to numbers in the text. */
static void units_of_sensors_are_derived(void **state)
{
    (void)state;
    static const struct {
        const char *json, *unit;
    } list[] = {
        {SENSED("", "rod.x"), "m"},
        {SENSED("", "rod.vx"), "m/s"},
        {SENSED("", "rod.ay"), "m/s^2"},
        {SENSED("", "rod.angle"), "rad"},
        {SENSED("", "rod.omega"), "rad/s"},
        {SENSED("", "rod.alpha"), "rad/s^2"},
        {SENSED("", "J.value"), "rad"},
        {SENSED("", "J.speed"), "rad/s"},
        {SENSED("", "J.reaction.x"), "N"},
        {SENSED("", "J.reaction.torque"), "N m"},
        {SENSED("", "energy.total"), "J"},
        {SENSED("", "K.force"), "N m"},
        {SENSED("", "K.power"), "W"},
        {SENSED("", "K.deflection"), "rad"},
        {SENSED("", "V.current"), "A"},
        {SENSED("", "t"), "s"},
        {SENSED("", "(rod.x + A.x)/2"), "m"},
        {SENSED("", "L/2"), "m"},
        {SENSED("", "rod.vx^2 + rod.vy^2"), "m^2/s^2"},
        {SENSED("", "sqrt(rod.vx^2 + rod.vy^2)"), "m/s"},
        {SENSED("", "0.5*3[kg]*rod.vx^2"), "N m"},
        {SENSED("", "rod.x/t/3[kg]"), "m/(kg s)"},
        {SENSED("", "1/t"), "1/s"},
        {SENSED("", "sin(t)"), ""},
        {SENSED("", "n*rod.x"), ""}, /* n may be anything */
        {SENSED("", "-2*rod.x - 3*rod.vx"), ""},
        {SENSED(",\"drivers\":[{\"name\":\"D\",\"joint\":\"J\",\"value\":\"t/1[s]\"}]", "D.force"), "N m"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"delay\",\"time\":1,\"value\":\"rod.x\"}]",
                "B.value"),
         "m"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"delay\",\"time\":1,\"value\":\"rod.x\"}]", "B.x3"),
         "m"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"sampled\",\"period\":1,\"value\":\"rod.x/t\"}]",
                "B.value"),
         "m/s"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"state\",\"value\":\"rod.x\"}]", "B.value"), "m s"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"state\",\"value\":\"n - "
                "B.value/3[s]\",\"initial\":\"2[V]\"}]",
                "B.value"),
         "V"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"state\",\"value\":\"C.value\"},{\"name\":\"C\","
                "\"type\":"
                "\"state\",\"value\":0,\"initial\":\"2[K]\"}]",
                "B.value"),
         "s K"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"pid\",\"kp\":\"2*3[V]\",\"ki\":\"1[V/"
                "s]\",\"value\":\"turn - "
                "J.value\"}]",
                "B.value"),
         "V"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"pid\",\"kp\":2,\"value\":\"rod.x\"}]", "B.value"),
         ""},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"pid\",\"kp\":2,\"value\":\"rod.x\"}]", "B.integral"),
         "m s"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"pid\",\"kp\":2,\"value\":\"rod.x\"}]", "B.smoothed"),
         "m"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"transfer\",\"a1\":0.1,\"value\":\"rod.x\"}]",
                "B.value"),
         "m"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"transfer\",\"b0\":\"2[N/"
                "m]\",\"a1\":\"0.1[s]\",\"value\":"
                "\"rod.x\"}]",
                "B.value"),
         "N"},
        {SENSED(",\"blocks\":[{\"name\":\"B\",\"type\":\"transfer\",\"a1\":\"0.1[s]\",\"value\":\"rod.x\"}]",
                "B.rate"),
         "m/s"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        dae_error err = {0};
        mbs_model *m = mbs_model_parse(list[i].json, strlen(list[i].json), NULL, 0, &err);
        if (!m) fail_msg("%s\n%s", list[i].json, err.text);
        mbs_mechanism *c = mbs_mechanism_create(m, &err);
        if (!c) fail_msg("%s\n%s", list[i].json, err.text);
        if (strcmp(mbs_mechanism_sensor_unit(c, 0), list[i].unit) != 0)
            fail_msg("%s\nshows [%s], not [%s]", list[i].json, mbs_mechanism_sensor_unit(c, 0), list[i].unit);
        mbs_mechanism_destroy(c);
        mbs_model_destroy(m);
    }
}

#define DECLARED(value, unit) \
    GOOD ",\"sensors\":[{\"name\":\"s\",\"value\":\"" value "\",\"unit\":\"" unit "\"}]}"

static void contradictions_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *json, *place, *what;
    } list[] = {
        {DECLARED("rod.x", "N"), "sensors[0]: unit", "\"rod.x\" has the unit [m], not [N]"},
        {DECLARED("2[N]*rod.x", "N"), "sensors[0]: unit", "not [N]"},
        {DECLARED("rod.x", "mm"), "sensors[0]: unit", "write \"(rod.x)/1[mm]\""},
        {DECLARED("rod.angle", "deg"), "sensors[0]: unit", "is in [rad], which is not [deg]"},
        {DECLARED("rod.omega", "m"), "sensors[0]: unit", "has the unit [rad/s], not [m]"},
        {DECLARED("J.reaction.mz", "Nm"), "sensors[0]: unit", "\"Nm\" is no unit (did you mean N m?)"},
        {BLOCK("\"type\":\"state\",\"value\":\"rod.x\",\"initial\":\"1[kg]\""), "",
         ""}, /* the rate may have a factor */
        {BLOCK("\"type\":\"state\",\"value\":\"2[m]*rod.x\",\"initial\":\"1[kg]\""), "blocks[0]: initial",
         "units do not fit: [kg] beside [m^2 s]"},
        {BLOCK("\"type\":\"state\",\"value\":\"-B.value/3[kg]\",\"initial\":\"1[V]\""), "blocks[0]: initial",
         "units do not fit"},
        {BLOCK("\"type\":\"delay\",\"time\":1,\"value\":\"rod.x\",\"initial\":\"1[kg]\""),
         "blocks[0]: initial", "[kg] beside [m]"},
        {BLOCK("\"type\":\"pid\",\"kp\":\"3[V]\",\"kd\":\"3[V]\",\"filter\":1,\"value\":\"J.value\""),
         "blocks[0]: kd", "units do not fit"},
        {BLOCK("\"type\":\"transfer\",\"a0\":\"1[s]\",\"a1\":\"1[s]\",\"value\":\"J.value\""),
         "blocks[0]: a1", "units do not fit: [1] beside [s]"},
        {BLOCK("\"type\":\"transfer\",\"b1\":\"1[N s]\",\"a1\":\"1[s]\",\"value\":\"J.value\""),
         "blocks[0]: b1", "units do not fit"},
        {BLOCKS(
             "{\"name\":\"B\",\"type\":\"sampled\",\"period\":1,\"value\":\"rod.x\"}") ",\"sensors\":[{"
                                                                                       "\"name\":\"s\","
                                                                                       "\"value\":\"B.value "
                                                                                       "+ 3[kg]\"}]}",
         "sensors[0]: value", "[m] + [kg]"},
        {BLOCKS(
             "{\"name\":\"B\",\"type\":\"pid\",\"kp\":\"2[V]\",\"value\":\"J.value\"}") ",\"forces\":[{"
                                                                                        "\"name\":\"F\","
                                                                                        "\"type\":\"torque\","
                                                                                        "\"joint\":\"J\","
                                                                                        "\"value\":\"B.value "
                                                                                        "+ 3[N m]\"}]}",
         "forces[0]: value", "[V] + [N m]"},
        {GOOD ",\"sensors\":[{\"name\":\"a\",\"value\":\"rod.x\"},{\"name\":\"b\",\"value\":\"a + 3[kg]\"}]}",
         "sensors[1]: value", "[m] + [kg]"},
        {GOOD
         ",\"drivers\":[{\"name\":\"D\",\"joint\":\"J\",\"value\":0}],\"sensors\":[{\"name\":\"b\",\"value\":"
         "\"D.force + 3[N]\"}]}",
         "sensors[0]: value", "+ [N]"},
        {GOOD ",\"forces\":[{\"name\":\"F\",\"type\":\"torsion\",\"joint\":\"J\",\"value\":\"2[N m]*(angle - "
              "3[m])\"}]}",
         "forces[0]: value", "[1] - [m]"},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        dae_error err;
        dae_status s = read(list[i].json, &err);
        if (!list[i].what[0] && s == DAE_OK) continue;
        if (s != DAE_ERR_INPUT || strncmp(err.text, list[i].place, strlen(list[i].place)) != 0 ||
            !strstr(err.text, list[i].what))
            fail_msg("%s\ngives %d \"%s\",\nexpected \"%s ... %s\"", list[i].json, s, err.text, list[i].place,
                     list[i].what);
    }
}

/* What is not known takes any unit, and a number is so many of any. */
static void declared_units_that_may_be_right_are_kept(void **state)
{
    (void)state;
    static const char *const list[] = {DECLARED("n*rod.x", "N"),
                                       DECLARED("rod.x/1[mm]", "mm"),
                                       DECLARED("1000*rod.x", "mm"),
                                       DECLARED("rod.angle/1[deg]", "deg"),
                                       DECLARED("rod.angle*57.3", "deg"),
                                       DECLARED("sin(t)", "V"),
                                       DECLARED("rod.x", ""),
                                       DECLARED("3[kg]*rod.vx^2", "J")};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        dae_error err;
        if (read(list[i], &err) != DAE_OK) fail_msg("%s\ngives \"%s\"", list[i], err.text);
    }
}

/* States of blocks have columns with their units; so have sensors in the table of a run. */
static void columns_have_units(void **state)
{
    (void)state;
    static const char json[] =
        BLOCKS("{\"name\":\"I\",\"type\":\"state\",\"value\":\"rod.x\"},{\"name\":\"S\",\"type\":\"sampled\","
               "\"period\":"
               "0.1,\"value\":\"rod.vx\"}") ",\"sensors\":[{\"name\":\"h\",\"value\":\"rod.y\"}]}";
    static const char *const wanted[][2] = {
        {"I.value", "m s"}, {"S.value", "m/s"}, {"S.next", "s"}, {"h", "m"}};
    dae_error err = {0};
    dae_problem *p = dae_problem_open(json, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(p);
    o.t_end = 0.2;
    o.trajectory = DAE_TRAJECTORY_STEPS;
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r || r->status < 0) fail_msg("%s", r ? r->error.text : err.text);
    dae_table *t = dae_run_table(r, &err);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        int k = dae_table_find(t, wanted[i][0]);
        assert_true(k >= 0);
        assert_string_equal(t->unit[k], wanted[i][1]);
    }
    dae_table_destroy(t);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_wants_its_unit),
        cmocka_unit_test(every_field_of_a_type_wants_its_unit),
        cmocka_unit_test(mistakes_say_field_and_units),
        cmocka_unit_test(laws_without_units_stay_free),
        cmocka_unit_test(settings_keep_the_unit_of_a_parameter),
        cmocka_unit_test(units_of_sensors_are_derived),
        cmocka_unit_test(contradictions_are_told),
        cmocka_unit_test(declared_units_that_may_be_right_are_kept),
        cmocka_unit_test(columns_have_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
