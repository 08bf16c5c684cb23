/* The policy: what a look at a problem tells is what a run does, for every problem and model; stiff mechanisms get an implicit
 * method without being told. */
#include <daedalus/daedalus.h>

#include "test.h"

#include <dirent.h>
#include <jansson.h>

typedef struct text {
    char data[2000000]; /* the check of a large equation file lists its variables */
    size_t length;
} text;

static int keep(const char *piece, size_t length, void *user)
{
    text *t = user;
    if (t->length + length >= sizeof t->data) return -1;
    memcpy(t->data + t->length, piece, length);
    t->length += length;
    return 0;
}

/* What `check FILE.deq --json` writes. */
static dae_status look_at_equations(const char *path, text *json, dae_error *err)
{
    static char equations[1000000];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(equations, 1, sizeof equations, file);
    fclose(file);
    assert_true(n < sizeof equations);
    return dae_equations_check(equations, n, path, NULL, 0, 1, keep, json, err);
}

static void look_and_run_agree(const char *what)
{
    dae_error err = {0};
    static text json;
    json_error_t where;
    json.length = 0;
    dae_problem *p = dae_problem_open(what, NULL, 0, &err);
    if (!p) fail_msg("%s: %s", what, err.text);
    dae_status s = strstr(what, ".deq") ? look_at_equations(what, &json, &err)
                                        : dae_check_json(p, NULL, keep, &json, &err);
    if (s < 0) fail_msg("%s: %s", what, err.text);
    json_t *o = json_loadb(json.data, json.length, 0, &where);
    assert_non_null(o);
    dae_run_options run = dae_run_options_default(p);
    run.options.max_steps = 2;
    dae_run_result *r = dae_run(p, &run, &err);
    assert_non_null(r);
    const char *solver = json_string_value(json_object_get(o, "solver")),
               *form = json_string_value(json_object_get(o, "formulation"));
    if (form && !strcmp(form, "explicit")) form = NULL; /* an ODE as it was typed has no form */
    if (strcmp(solver, r->solver) != 0 || strcmp(form ? form : "", r->formulation ? r->formulation : "") != 0)
        fail_msg("%s: %s/%s is told, %s/%s runs", what, solver, form, r->solver, r->formulation);
    assert_string_equal(json_string_value(json_object_get(o, "reason")), r->reason);
    dae_run_destroy(r);
    json_decref(o);
    dae_problem_destroy(p);
}

static void check_and_run_agree_on_all_problems(void **state)
{
    (void)state;
    for (int i = 0; i < dae_problem_count(); i++) look_and_run_agree(dae_problem_get(i)->name);
}

/* All files of a folder that end so; their number. */
static int agree_in(const char *folder_name, const char *ending)
{
    int count = 0;
    DIR *folder = opendir(folder_name);
    assert_non_null(folder);
    for (struct dirent *e; (e = readdir(folder));) {
        char path[300];
        if (!strstr(e->d_name, ending)) continue;
        snprintf(path, sizeof path, "%s/%s", folder_name, e->d_name);
        look_and_run_agree(path);
        count++;
    }
    closedir(folder);
    return count;
}

static void check_and_run_agree_on_all_models(void **state)
{
    (void)state;
    assert_true(agree_in("models", ".json") > 10);
    assert_true(agree_in("models", ".deq") >= 5);
}

static void check_and_run_agree_on_all_problems_as_text(void **state)
{
    (void)state;
    assert_true(agree_in("problems", ".deq") >= 22);
}

static dae_choice choice_of(const char *what, double rtol, dae_simulation **s, dae_problem **p)
{
    dae_error err = {0};
    *p = dae_problem_open(what, NULL, 0, &err);
    if (!*p) fail_msg("%s: %s", what, err.text);
    dae_simulation_options o = dae_simulation_options_default(*p);
    o.options.method = o.options.formulation = "auto";
    if (rtol > 0) o.options.rtol = rtol;
    *s = dae_simulation_open(*p, &o, &err);
    if (!*s || dae_simulation_start(*s, &err) < 0) fail_msg("%s: %s", what, err.text);
    return dae_simulation_choice(*s);
}

static void expect(const char *what, double rtol, int implicit, const char *form)
{
    dae_simulation *s;
    dae_problem *p;
    dae_choice c = choice_of(what, rtol, &s, &p);
    if (dae_method_find(c.method)->implicit != implicit || (form && strcmp(form, c.formulation) != 0))
        fail_msg("%s: %s/%s: %s", what, c.method, c.formulation, c.reason);
    assert_true(c.reason[0] != 0);
    dae_simulation_close(s);
    dae_problem_destroy(p);
}

static void stiff_mechanisms_get_an_implicit_method(void **state)
{
    (void)state;
    expect("models/stiff_double_pendulum.json", 0, 1, "joint");
    expect("models/hmmwv.json", 0, 1, "statespace");
    expect("bench/stiff_floor.json", 0, 1, "joint");  /* a contact that is open at the start */
    expect("bench/stiff_wishbone.json", 0, 1, "ggl"); /* loops, bushings, eleven degrees of freedom */
    expect("hmmwv", 0, 1, "statespace");
    expect("double-pendulum", 0, 1, "statespace");
}

/* Oscillations have to be followed by every method: they are not stiff, however fast. */
static void others_do_not(void **state)
{
    (void)state;
    expect("models/pendulum.json", 0, 0, "joint");
    expect("models/four_bar.json", 0, 0, "index1");
    expect("andrews", 0, 0, "index1");
    expect("models/slider_crank.json", 0, 0, "descriptor");
    expect("{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"bell\",\"dimension\":2,"
           "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"inertia\":1,\"r\":[1.1,0]}],"
           "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},{\"name\":\"B\",\"body\":\"b\","
           "\"r\":[0,0]}],"
           "\"forces\":[{\"name\":\"s\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"B\",\"k\":1e8,\"l0\":1}],"
           "\"simulation\":{\"t1\":1}}",
           0, 0, "joint");
}

/* What the reason says of the fast time constants. */
static double constants_of(const char *what)
{
    dae_simulation *s;
    dae_problem *p;
    dae_choice c = choice_of(what, 0, &s, &p);
    const char *at = strstr(c.reason, "about ");
    double found = at ? strtod(at + 6, NULL) : NAN;
    dae_simulation_close(s);
    dae_problem_destroy(p);
    return found;
}

/* A body of unequal moments that tumbles: gyroscopic terms are no damping, so that nothing is measured. With a damper at its hinge
 * the rate is d/J at once: 40/0.5 in 2 s. */
static void what_is_even_in_the_velocities_is_no_damping(void **state)
{
    (void)state;
    assert_near(constants_of("{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"stone\",\"dimension\":3,"
                             "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"inertia\":[1,2,2.5],\"r\":[0,0,0],"
                             "\"omega\":[3,40,-20]}],\"simulation\":{\"t1\":2}}"),
                0, 0);
    assert_near(constants_of("{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"wheel\",\"dimension\":2,"
                             "\"bodies\":[{\"name\":\"b\",\"mass\":1,\"inertia\":0.5,\"r\":[0,0]}],"
                             "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},"
                             "{\"name\":\"B\",\"body\":\"b\",\"r\":[0,0]}],"
                             "\"joints\":[{\"name\":\"j\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"B\"}],"
                             "\"forces\":[{\"name\":\"d\",\"type\":\"torsion\",\"joint\":\"j\",\"c\":40}],"
                             "\"simulation\":{\"t1\":2}}"),
                160, 5);
}

/* Few stages for two digits, order 9 for more than nine. */
static void tolerances_choose_the_pair(void **state)
{
    (void)state;
    static const struct {
        const char *what, *method;
        double rtol;
    } row[] = {
        {"models/double_pendulum.json", "dopri5", 2e-2}, {"models/double_pendulum.json", "dop853", 1e-3},
        {"models/double_pendulum.json", "vern8", 1e-4},  {"models/double_pendulum.json", "vern8", 1e-9},
        {"models/double_pendulum.json", "vern9", 3e-10}, {"models/four_bar.json", "dop853", 1e-2},
        {"models/four_bar.json", "vern8", 1e-3},         {"models/four_bar.json", "vern8", 1e-9},
        {"models/four_bar.json", "vern9", 1e-10}};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        dae_simulation *s;
        dae_problem *p;
        dae_choice c = choice_of(row[k].what, row[k].rtol, &s, &p);
        assert_string_equal(c.method, row[k].method);
        dae_simulation_close(s);
        dae_problem_destroy(p);
    }
}

/* vern8 steps over what nobody tells: only where the system says that it tells, which a mechanism written in C need not. */
static void what_may_not_be_smooth_gets_another_pair(void **state)
{
    (void)state;
    static const char *const what[] = {"models/four_bar.json", "caraxis"};
    for (size_t k = 0; k < 2; k++) {
        for (int smooth = 0; smooth < 2; smooth++) {
            dae_error err = {0};
            dae_problem *p = dae_problem_open(what[k], NULL, 0, &err);
            if (!p) fail_msg("%s", err.text);
            dae_system own = p->mechanism ? *p->mechanism : p->system;
            assert_int_equal(own.structure.smooth, 1);
            own.structure.smooth = smooth;
            if (p->mechanism) p->mechanism = &own;
            else p->system = own;
            dae_simulation_options o = dae_simulation_options_default(p);
            o.options.method = "auto";
            o.options.rtol = o.options.atol = 1e-5;
            dae_simulation *s = dae_simulation_open(p, &o, &err);
            if (!s) fail_msg("%s", err.text);
            assert_string_equal(dae_simulation_choice(s).method, smooth ? "vern8" : "vern9");
            dae_simulation_close(s);
            dae_problem_destroy(p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(check_and_run_agree_on_all_problems),
        cmocka_unit_test(check_and_run_agree_on_all_models),
        cmocka_unit_test(check_and_run_agree_on_all_problems_as_text),
        cmocka_unit_test(stiff_mechanisms_get_an_implicit_method),
        cmocka_unit_test(others_do_not),
        cmocka_unit_test(what_is_even_in_the_velocities_is_no_damping),
        cmocka_unit_test(what_may_not_be_smooth_gets_another_pair),
        cmocka_unit_test(tolerances_choose_the_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
