/* Models made of parts: assemblies placed in the plane and in space move as bodies that are written out, with parameters, repetitions
 * and a body that carries them; includes; and mistakes with their place. */
#include "test.h"

#include <daedalus/daedalus.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static dae_problem *take(const char *text)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(text, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* The components of both at the end of the interval, by name; those of a have the prefix before them. */
static void same_motion(const char *made, const char *written, const char *const names[][2], int count)
{
    dae_problem *p[2] = {take(made), take(written)};
    dae_run_result *r[2];
    for (int k = 0; k < 2; k++) {
        dae_error err = {0};
        dae_run_options o = dae_run_options_default(p[k]);
        o.options.method = "dop853";
        o.options.formulation = "index1";
        o.options.rtol = o.options.atol = 1e-9;
        r[k] = dae_run(p[k], &o, &err);
        if (!r[k] || r[k]->status != DAE_OK) fail_msg("%s", r[k] ? r[k]->error.text : err.text);
        assert_int_equal(r[k]->n, r[0]->n);
    }
    for (int i = 0; i < count; i++) {
        double x[2] = {NAN, NAN};
        for (int k = 0; k < 2; k++) {
            for (int c = 0; c < r[k]->n; c++) {
                char buffer[24];
                if (!strcmp(dae_component_name(p[k], c, buffer, sizeof buffer), names[i][k]))
                    x[k] = r[k]->last.y[c];
            }
            if (isnan(x[k])) fail_msg("no component %s", names[i][k]);
        }
        if (!(fabs(x[0] - x[1]) < 1e-7)) fail_msg("%s: %.12g instead of %.12g", names[i][0], x[0], x[1]);
    }
    for (int k = 0; k < 2; k++) {
        dae_run_destroy(r[k]);
        dae_problem_destroy(p[k]);
    }
}

#define HEAD2 "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":2,\"gravity\":[0,-9.81],"
#define ROD                                                                                                 \
    "\"parameters\":{\"L\":\"1[m]\",\"m\":\"2[kg]\"},"                                                      \
    "\"bodies\":[{\"name\":\"rod\",\"mass\":\"m\",\"inertia\":\"m*L^2/12\",\"r\":[\"L/"                     \
    "2\",0],\"v\":[0,1],\"omega\":2}],"                                                                     \
    "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"A\",\"body\":\"rod\",\"r\":[" \
    "\"-L/2\",0]}],"                                                                                        \
    "\"joints\":[{\"name\":\"pin\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}],"                        \
    "\"variables\":{\"rate\":\"rod.omega\"},"                                                               \
    "\"forces\":[{\"name\":\"brake\",\"type\":\"torque\",\"body\":\"rod\",\"value\":\"-0.3*rate\"},"        \
    "{\"name\":\"wind\",\"type\":\"force\",\"b\":\"A\",\"value\":[\"0.5[N]\",1]}]"

/* Two pendulums from one definition: the second longer, at (3, 1), turned by 0.4, with its wind turned too. */
static void planar_assemblies_move_as_what_they_stand_for(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"one_rod.x", "a.x"},         {"one_rod.angle", "a.angle"},
                                           {"two_rod.x", "b.x"},         {"two_rod.y", "b.y"},
                                           {"two_rod.angle", "b.angle"}, {"two_rod.vx", "b.vx"},
                                           {"two_rod.omega", "b.omega"}};
    static char made[4000], written[4000];
    double c = cos(0.4), s = sin(0.4), L = 1.5;
    snprintf(made, sizeof made,
             HEAD2
             "\"parameters\":{\"far\":\"3[m]\"},\"definitions\":{\"pendulum\":{" ROD "}},"
             "\"assemblies\":[{\"name\":\"one\",\"of\":\"pendulum\"},{\"name\":\"two\",\"of\":\"pendulum\","
             "\"parameters\":{\"L\":\"far/2\"},\"r\":[\"far\",1],\"angle\":0.4}],\"simulation\":{\"t1\":1}}");
    snprintf(
        written, sizeof written,
        HEAD2
        "\"bodies\":[{\"name\":\"a\",\"mass\":2,\"inertia\":%.17g,\"r\":[0.5,0],\"v\":[0,1],\"omega\":2},"
        "{\"name\":\"b\",\"mass\":2,\"inertia\":%.17g,\"r\":[%.17g,%.17g],\"angle\":0.4,\"v\":[%.17g,%.17g],"
        "\"omega\":2}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"P\",\"body\":\"ground\","
        "\"r\":[3,1]},"
        "{\"name\":\"A\",\"body\":\"a\",\"r\":[-0.5,0]},{\"name\":\"B\",\"body\":\"b\",\"r\":[-0.75,0]}],"
        "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"},"
        "{\"name\":\"K\",\"type\":\"revolute\",\"a\":\"P\",\"b\":\"B\"}],"
        "\"forces\":[{\"name\":\"f\",\"type\":\"torque\",\"body\":\"a\",\"value\":\"-0.3*a.omega\"},"
        "{\"name\":\"g\",\"type\":\"torque\",\"body\":\"b\",\"value\":\"-0.3*b.omega\"},"
        "{\"name\":\"w\",\"type\":\"force\",\"b\":\"A\",\"value\":[0.5,1]},"
        "{\"name\":\"z\",\"type\":\"force\",\"b\":\"B\",\"value\":[%.17g,%.17g]}],\"simulation\":{\"t1\":1}}",
        2.0 / 12, 2 * L * L / 12, 3 + c * L / 2, 1 + s * L / 2, -s, c, 0.5 * c - s, 0.5 * s + c);
    same_motion(made, written, names, 7);
}

/* Three arms in space around a hub that spins: each carried by the hub, turned by 120 degrees about z by `repeat`. */
static void spatial_assemblies_are_carried(void **state)
{
    (void)state;
    static const char *const names[][2] = {{"arm1_bob.x", "bob1.x"}, {"arm2_bob.x", "bob2.x"},
                                           {"arm2_bob.y", "bob2.y"}, {"arm2_bob.z", "bob2.z"},
                                           {"arm3_bob.y", "bob3.y"}, {"hub.omega.z", "hub.omega.z"}};
    static char made[6000], written[12000];
#define HEAD3 "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"x\",\"dimension\":3,\"gravity\":[0,0,-9.81],"
#define HUB "{\"name\":\"hub\",\"mass\":3,\"inertia\":[1,1,1],\"r\":[0,0,0.5],\"omega\":[0,0,2]}"
#define AXLE \
    "{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0.5]},{\"name\":\"H\",\"body\":\"hub\",\"r\":[0,0,0]}"
#define SPIN "{\"name\":\"spin\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"H\",\"axis\":[0,0,1]}"
    snprintf(made, sizeof made,
             HEAD3
             "\"definitions\":{\"arm\":{\"parameters\":{\"L\":0.4},"
             "\"bodies\":[{\"name\":\"bob\",\"mass\":1,\"inertia\":[0.1,0.1,0.1],\"r\":[0.3,0,\"-L\"]}],"
             "\"points\":[{\"name\":\"A\",\"body\":\"ground\",\"r\":[0.3,0,0]},{\"name\":\"B\",\"body\":"
             "\"bob\",\"r\":[0,0,\"L\"]}],"
             "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"A\",\"b\":\"B\",\"axis\":[0,1,0]}]}},"
             "\"bodies\":[" HUB "],\"points\":[" AXLE "],\"joints\":[" SPIN "],"
             "\"assemblies\":[{\"repeat\":{\"i\":\"1..3\"},\"name\":\"arm{i}\",\"of\":\"arm\",\"on\":\"hub\","
             "\"q\":[\"cos(({i}-1)*pi/3)\",0,0,\"sin(({i}-1)*pi/3)\"]}],\"simulation\":{\"t1\":0.7}}");
    char bodies[3000] = "", points[3000] = "", joints[3000] = "";
    for (int i = 1; i <= 3; i++) {
        double a = (i - 1) * 2 * acos(-1.0) / 3, c = cos(a), s = sin(a);
        size_t n = strlen(bodies), m = strlen(points), k = strlen(joints);
        snprintf(bodies + n, sizeof bodies - n,
                 ",{\"name\":\"bob%d\",\"mass\":1,\"inertia\":[0.1,0.1,0.1],\"r\":[%.17g,%.17g,0.1],\"q\":[%."
                 "17g,0,0,%.17g]}",
                 i, 0.3 * c, 0.3 * s, cos(a / 2), sin(a / 2));
        snprintf(points + m, sizeof points - m,
                 ",{\"name\":\"A%d\",\"body\":\"hub\",\"r\":[%.17g,%.17g,0],\"q\":[%.17g,0,0,%.17g]},"
                 "{\"name\":\"B%d\",\"body\":\"bob%d\",\"r\":[0,0,0.4]}",
                 i, 0.3 * c, 0.3 * s, cos(a / 2), sin(a / 2), i, i);
        snprintf(joints + k, sizeof joints - k,
                 ",{\"name\":\"J%d\",\"type\":\"revolute\",\"a\":\"A%d\",\"b\":\"B%d\",\"axis\":[0,1,0]}", i,
                 i, i);
    }
    snprintf(written, sizeof written,
             HEAD3 "\"bodies\":[" HUB "%s],\"points\":[" AXLE "%s],\"joints\":[" SPIN
                   "%s],\"simulation\":{\"t1\":0.7}}",
             bodies, points, joints);
    same_motion(made, written, names, 6);
}

/* Files: a model of its own is included and used as a definition; parameters of assemblies can be set. */
static void files_are_included(void **state)
{
    (void)state;
    static const char part[] =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"p\",\"dimension\":2," ROD "}";
    static const char both[] = HEAD2
        "\"include\":[\"part.json\"],\"parameters\":{\"L\":\"0.5[m]\"},"
        "\"assemblies\":[{\"name\":\"far\",\"file\":\"part.json\",\"r\":[5,0]}],\"simulation\":{\"t1\":1}}";
    char folder[] = "/tmp/daedalus-structure-XXXXXX", path[100];
    const struct {
        const char *name, *text;
    } file[] = {{"part.json", part}, {"both.json", both}};
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, file[i].name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(file[i].text, f);
        fclose(f);
    }
    dae_setting longer = {"far_L", "2[m]"};
    dae_error err = {0};
    dae_problem *p = dae_problem_open(path, &longer, 1, &err);
    if (!p) fail_msg("%s", err.text);
    double y[2] = {NAN, NAN};
    for (int c = 0; c < dae_system_size(&p->system); c++) {
        char buffer[24];
        const char *name = dae_component_name(p, c, buffer, sizeof buffer);
        if (!strcmp(name, "rod.x")) y[0] = p->y0[c];
        if (!strcmp(name, "far_rod.x")) y[1] = p->y0[c];
    }
    assert_near(y[0], 0.25, 1e-15); /* the own parameter stands before that of the included file */
    assert_near(y[1], 6, 1e-15);
    dae_problem_destroy(p);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, file[i].name);
        remove(path);
    }
    rmdir(folder);
}

static void mistakes_have_their_place(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"rodd\"}]",
         "assemblies[0]: of: there is no definition \"rodd\"; did you mean \"rod\"?"},
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"text\"}]", "a file is taken by \"file\""},
        {"\"assemblies\":[{\"name\":\"a\"}]", "needs \"of\""},
        {"\"assemblies\":[{\"name\":\"1a\",\"of\":\"rod\"}]", "is no name"},
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"rod\",\"parameters\":{\"K\":1}}]", "rod has no \"K\""},
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"rod\",\"parameters\":{\"l\":1}}]",
         "rod has no \"l\"; did you mean \"L\"?"},
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"rod\",\"q\":[1,0,0,0]}]", "is turned by \"angle\""},
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"rod\",\"on\":\"cart\"}]", "on: there is no body \"cart\""},
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"rod\",\"r\":[1]}]", "r: expected 2 numbers"},
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"rod\",\"place\":[1]}]", "unknown key \"place\""},
        {"\"assemblies\":[{\"name\":\"a\",\"of\":\"rod\"},{\"name\":\"a\",\"of\":\"rod\"}]",
         "is also the name of"},
        {"\"include\":[\"/nowhere/x.json\"]", "include"},
        {"\"include\":\"x.json\"", "expected a list of files"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        static char json[4000];
        dae_error err = {0};
        snprintf(json, sizeof json,
                 HEAD2 "\"definitions\":{\"rod\":{" ROD
                       "},\"text\":\"rod.json\"},%s,\"simulation\":{\"t1\":1}}",
                 wrong[i][0]);
        dae_problem *p = dae_problem_open(json, NULL, 0, &err);
        if (p || !strstr(err.text, wrong[i][1]))
            fail_msg("%d: \"%s\" instead of \"%s\"", (int)i, err.text, wrong[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planar_assemblies_move_as_what_they_stand_for),
        cmocka_unit_test(spatial_assemblies_are_carried),
        cmocka_unit_test(files_are_included),
        cmocka_unit_test(mistakes_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
