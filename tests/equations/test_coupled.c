/* A mechanism inside equations (use car = mechanism("cart.json")): against the same system typed completely, against a model with the
 * same law inside, and what it says when something is wrong. */
#include "files.h"

#include <daedalus/daedalus.h>

#include <unistd.h>

#define FOLDER "tests/equations/models/"

static dae_problem *open_with(const char *text, const dae_setting *setting, int nsetting)
{
    dae_error err = {0};
    dae_problem *p = dae_equations_problem(text, strlen(text), FOLDER "here.deq", setting, nsetting, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static dae_problem *open_text(const char *text)
{
    return open_with(text, NULL, 0);
}

static double component(const dae_problem *p, const double *y, const char *name)
{
    int i = dae_component_find(p, name);
    if (i < 0) fail_msg("there is no %s", name);
    return y[i];
}

static double column(const dae_problem *p, double t, const double *y, const char *name)
{
    double value[64];
    assert_true(p->derived.ncolumn <= 64);
    assert_int_equal(p->derived.columns(p, 1, &t, y, NULL, NULL, value), 0);
    for (int k = 0; k < p->derived.ncolumn; k++) {
        if (!strcmp(p->derived.column[k], name)) return value[k];
    }
    fail_msg("there is no %s", name);
    return NAN;
}

/* The state at the end; how often the method started afresh. */
static double *end_of(const dae_problem *p, const char *method, const char *formulation, double tol,
                      long *restarts)
{
    dae_run_options o = dae_run_options_default(p);
    if (method) o.options.method = method;
    if (formulation) o.options.formulation = formulation;
    o.options.rtol = o.options.atol = tol;
    dae_run_result *r = dae_run(p, &o, NULL);
    if (!r || r->status < 0)
        fail_msg("%s %s: %s", method ? method : "auto", formulation ? formulation : "",
                 r ? r->error.text : "");
    size_t n = (size_t)dae_system_size(&p->system);
    double *y = malloc(n * sizeof *y);
    memcpy(y, r->last.y, n * sizeof *y);
    if (restarts) *restarts = r->stats.restarts;
    dae_run_destroy(r);
    return y;
}

/* The mechanism of cart.json by Lagrange's equations, solved for the accelerations; F is what the cart is pushed with. */
#define TYPED                                           \
    "model typed\n"                                     \
    "const M = 1, m = 0.1, L = 1, g = 9.81, J = 0.01\n" \
    "var z = 0, x = 0, th = 0.2, v = 0, w = 0\n"        \
    "let a = M + m, b = m*L*cos(th), c = m*L^2 + J\n"   \
    "let P = F - 0.5*x + m*L*sin(th)*w^2\n"             \
    "let Q = m*g*L*sin(th) - 0.01*w\n"                  \
    "x' = v\n"                                          \
    "th' = w\n"                                         \
    "v' = (c*P - b*Q)/(a*c - b^2)\n"                    \
    "w' = (a*Q - b*P)/(a*c - b^2)\n"

static void compare(const dae_problem *p, const double *y, const dae_problem *q, const double *z,
                    double tolerance)
{
    assert_near(component(p, y, "car.cart.x"), component(q, z, "x"), tolerance);
    assert_near(component(p, y, "car.cart.vx"), component(q, z, "v"), tolerance);
    assert_near(component(p, y, "car.pole.angle"), -component(q, z, "th"), tolerance);
    assert_near(component(p, y, "car.pole.omega"), -component(q, z, "w"), tolerance);
    assert_near(component(p, y, "z"), component(q, z, "z"), tolerance);
}

static void a_controller_equals_the_system_typed_completely(void **state)
{
    (void)state;
    static const struct {
        const char *method, *formulation;
        double tol, agree;
    } run[] = {{NULL, NULL, 1e-11, 1e-8},
               {"vern9", "joint", 1e-11, 1e-8},
               {"dop853", "statespace", 1e-11, 1e-8},
               {"radau5", "statespace", 1e-10, 1e-8},
               {"rodas5p", "joint", 1e-9, 1e-7},
               {"radau", "index3", 1e-9, 1e-6},
               {"phem56", "descriptor", 1e-10, 1e-8},
               {"mexx", "descriptor", 1e-9, 1e-7},
               {"radau5", "ggl", 1e-10, 1e-7},
               {"dassl", "index1", 1e-9, 1e-6}};
    size_t length;
    char *text = read_text(FOLDER "pole.deq", &length);
    dae_error err = {0};
    dae_problem *p = dae_equations_problem(text, length, FOLDER "pole.deq", NULL, 0, &err),
                *q = open_text(TYPED "let F = 100*th + 20*w + 30*z + 2*x + 4*v\n"
                                     "z' = th\n"
                                     "solve t = 0 .. 4, rtol = 1e-12, atol = 1e-12\n");
    if (!p) fail_msg("%s", err.text);
    free(text);
    double *z = end_of(q, "vern9", NULL, 1e-13, NULL);
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        double *y = end_of(p, run[k].method, run[k].formulation, run[k].tol, NULL);
        compare(p, y, q, z, run[k].agree);
        if (k == 0) assert_near(column(p, 4, y, "F"), column(q, 4, z, "F"), 1e-6);
        if (k == 0) assert_near(column(p, 4, y, "car.push"), column(p, 4, y, "car.pull"), 1e-12);
        free(y);
    }
    free(z);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

/* A force that saturates, a kink in a sensor and a condition on a signal: located, so that nothing is lost. */
static void switches_of_both_sides_are_located(void **state)
{
    (void)state;
    long restarts, typed;
    dae_problem *p = open_text("use car = mechanism(\"cart.json\")\n"
                               "var z = 0\n"
                               "z' = car.slope + max(car.rail.speed, 0)\n"
                               "car.push = min(max(100*(car.lean - 0.02*sin(4*t)) - 10*car.pole.omega, -6), "
                               "6) + (if car.cart.x > 0.2 then -1 "
                               "else 0)\n"
                               "solve t = 0 .. 3\n"),
                *q = open_text(
                    TYPED
                    "let F = min(max(100*(th - 0.02*sin(4*t)) + 10*w, -6), 6) + (if x > 0.2 then -1 else 0)\n"
                    "z' = abs(th) + max(v, 0)\n"
                    "solve t = 0 .. 3\n");
    double *z = end_of(q, "vern9", NULL, 1e-13, &typed), *y = end_of(p, NULL, NULL, 1e-11, &restarts);
    compare(p, y, q, z, 1e-8);
    if (restarts < 5 || restarts != typed) fail_msg("%ld restarts, typed %ld", restarts, typed);
    free(y);
    y = end_of(p, "radau5", "statespace", 1e-10, NULL);
    compare(p, y, q, z, 1e-7);
    free(y);
    free(z);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

/* Sampled control, a kick that depends on the mechanism, and the event that the model has itself. */
static void events_of_both_sides_act(void **state)
{
    (void)state;
    dae_problem *p = open_text("use car = mechanism(\"cart.json\")\n"
                               "discrete F = 0, kicks = 0\n"
                               "var z = 0\n"
                               "z' = car.lean\n"
                               "car.push = F\n"
                               "every 0.02 \"sample\": F := 100*car.lean - 20*car.pole.omega\n"
                               "when car.lean < 0.05 \"over\"\n"
                               "    z := z + 1\n"
                               "    kicks := kicks + 1\n"
                               "end\n"
                               "solve t = 0 .. 1.5\n"),
                *q = open_text(TYPED "discrete F = 0, kicks = 0\n"
                                     "z' = th\n"
                                     "every 0.02: F := 100*th + 20*w\n"
                                     "when th < 0.05\n"
                                     "    z := z + 1\n"
                                     "    kicks := kicks + 1\n"
                                     "end\n"
                                     "solve t = 0 .. 1.5\n");
    double *z = end_of(q, "vern9", NULL, 1e-12, NULL), *y = end_of(p, NULL, NULL, 1e-11, NULL);
    compare(p, y, q, z, 1e-8);
    assert_true(component(p, y, "kicks") >= 1);
    assert_near(component(p, y, "kicks"), component(q, z, "kicks"), 0);
    assert_int_equal(p->events->count, 3);
    assert_string_equal(p->events->event[0].name, "car.upright");
    assert_string_equal(p->events->event[1].name, "sample");
    free(y);
    free(z);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

/* A motor of the model, and the same motor as a circuit in equations. */
static const char *const crank =
    "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"crank\", \"dimension\": 2,\n"
    "  \"parameters\": { \"a\": \"0.1[m]\", \"b\": \"0.3[m]\", \"turn\": \"0[N m]\" }, %s\n"
    "  \"gravity\": [0, \"-9.81[m/s^2]\"],\n"
    "  \"bodies\": [ { \"name\": \"crank\", \"mass\": 1, \"inertia\": 0.01, \"r\": [\"a/2\", 0] },\n"
    "    { \"name\": \"rod\", \"mass\": 0.5, \"inertia\": 0.004, \"r\": [\"a + b/2\", 0] },\n"
    "    { \"name\": \"slider\", \"mass\": 2, \"inertia\": 0.01, \"r\": [\"a + b\", 0] } ],\n"
    "  \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] },\n"
    "    { \"name\": \"O1\", \"body\": \"crank\", \"r\": [\"-a/2\", 0] }, { \"name\": \"A1\", \"body\": "
    "\"crank\", \"r\": [\"a/2\", 0] },\n"
    "    { \"name\": \"A2\", \"body\": \"rod\", \"r\": [\"-b/2\", 0] }, { \"name\": \"B2\", \"body\": "
    "\"rod\", \"r\": [\"b/2\", 0] },\n"
    "    { \"name\": \"B3\", \"body\": \"slider\", \"r\": [0, 0] }, { \"name\": \"way\", \"body\": "
    "\"ground\", \"r\": [0, 0] } ],\n"
    "  \"joints\": [ { \"name\": \"shaft\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"O1\" },\n"
    "    { \"name\": \"pin\", \"type\": \"revolute\", \"a\": \"A1\", \"b\": \"A2\" },\n"
    "    { \"name\": \"bolt\", \"type\": \"revolute\", \"a\": \"B2\", \"b\": \"B3\" },\n"
    "    { \"name\": \"guide\", \"type\": \"prismatic\", \"a\": \"way\", \"b\": \"B3\", \"axis\": [1, 0] } "
    "],\n"
    "  \"forces\": [ %s ],\n"
    "  \"simulation\": { \"t1\": 2 } }\n";

static void a_motor_circuit_equals_the_motor_of_the_model(void **state)
{
    (void)state;
    char json[4000], path[] = "/tmp/daedalus-crank-XXXXXX", text[600];
    dae_error err = {0};
    snprintf(json, sizeof json, crank, "",
             "{ \"name\": \"m\", \"type\": \"motor\", \"joint\": \"shaft\", \"value\": \"12[V]\", "
             "\"resistance\": 2, "
             "\"inductance\": 0.01, \"constant\": 0.4 }");
    dae_problem *q = mbs_problem_parse(json, strlen(json), NULL, NULL, 0, &err);
    if (!q) fail_msg("%s", err.text);
    snprintf(json, sizeof json, crank, "\"inputs\": [\"turn\"],",
             "{ \"name\": \"m\", \"type\": \"torque\", \"joint\": \"shaft\", \"value\": \"turn\" }");
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, json, strlen(json)), (long)strlen(json));
    close(file);
    snprintf(text, sizeof text,
             "use engine = mechanism(\"%s\")\n"
             "param R = 2 [Ohm], L = 10 [mH], K = 0.4 [N m/A], U = 12 [V]\n"
             "var i = 0 [A]\n"
             "L*i' + R*i + K*engine.shaft.speed = U\n"
             "engine.turn = K*i\n"
             "solve t = 0 .. 2 [s]\n",
             path);
    dae_problem *p = open_text(text);
    unlink(path);
    static const char *const form[] = {"statespace", "joint", "descriptor"};
    static const char *const method[] = {"dop853", "vern9", "phem56"};
    double *z = end_of(q, "vern9", "joint", 1e-12, NULL);
    for (int k = 0; k < 3; k++) {
        double *y = end_of(p, method[k], form[k], 1e-10, NULL);
        assert_near(component(p, y, "engine.slider.x"), component(q, z, "slider.x"), 1e-8);
        assert_near(component(p, y, "engine.crank.omega"), component(q, z, "crank.omega"), 1e-6);
        assert_near(component(p, y, "i"), component(q, z, "m.current"), 1e-7);
        free(y);
    }
    free(z);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

/* df/dp, df/dv, df/dt through signals and inputs. */
static void jacobians_match_differences(void **state)
{
    (void)state;
    dae_problem *p = open_text(
        "use car = mechanism(\"cart.json\")\n"
        "var z = 0.3, q = 0.1\n"
        "z' = car.lean*z - q\n"
        "q' = sin(z)\n"
        "car.push = z*car.lean^2 - 3*car.pole.omega*q + sin(2*t)*car.cart.x + car.energy.kinetic/1[m]\n"
        "car.twist = 0.1*car.rail.speed*car.slope*1[kg m/s] + 1[N m]*tanh(car.foot.vy/1[m/s])\n"
        "solve t = 0 .. 1\n");
    const dae_mech *m = &p->system.mech;
    int n = dae_system_size(&p->system);
    double y[40], f[12], g[12], A[200] = {0}, B[200] = {0}, C[12] = {0};
    assert_true(n <= 40 && m->nv == 6 && m->np == 6);
    memcpy(y, p->y0, (size_t)n * sizeof *y);
    for (int i = 0; i < n; i++) y[i] += 0.03 * (i + 1);
    dae_mech_point x = {.t = 0.7, .p = y, .v = y + 6, .u = y + 12};
    assert_int_equal(m->dfdp(&x, A, m->user), 0);
    assert_int_equal(m->dfdv(&x, B, m->user), 0);
    assert_int_equal(m->dfdt(&x, C, m->user), 0);
    double h = 1e-6, largest = 0;
    for (int j = 0; j <= 12; j++) {
        double *at = j < 12 ? &y[j] : &x.t, keep = *at;
        *at = keep + h, m->force(&x, f, m->user);
        *at = keep - h, m->force(&x, g, m->user);
        *at = keep;
        for (int i = 0; i < 6; i++) {
            double d = (f[i] - g[i]) / (2 * h), exact = j < 6    ? A[i + 6 * j]
                                                        : j < 12 ? B[i + 6 * (j - 6)]
                                                                 : C[i];
            assert_near(exact, d, 1e-7 * (1 + fabs(d)));
            if (j == 12) largest = fmax(largest, fabs(d));
        }
    }
    assert_true(largest > 1e-3);
    dae_problem_destroy(p);
}

static void parameters_of_the_mechanism_can_be_set(void **state)
{
    (void)state;
    static const char text[] = "use car = mechanism(\"cart.json\", lean0 = 0.1)\n"
                               "param F = 3\n"
                               "car.push = F\n"
                               "solve t = 0 .. 1\n";
    dae_problem *p = open_text(text);
    assert_near(component(p, p->y0, "car.pole.angle"), -0.1, 1e-12);
    int k = dae_parameter_find(p, "car.M");
    assert_true(k > 0);
    assert_near(p->parameter[k], 1, 0);
    assert_string_equal(p->info->parameter[k].unit, "kg");
    dae_problem_destroy(p);
    p = open_with(text, (dae_setting[]){{"car.lean0", "0.3"}, {"F", "4"}}, 2);
    assert_near(component(p, p->y0, "car.pole.angle"), -0.3, 1e-12);
    assert_near(column(p, 0, p->y0, "car.push"), 4, 1e-12);
    dae_problem_destroy(p);
    /* An input that no equation sets keeps the value of the file. */
    p = open_with("use car = mechanism(\"cart.json\")\nsolve t = 0 .. 1\n",
                  (dae_setting[]){{"car.push", "2[N]"}}, 1);
    assert_near(column(p, 0, p->y0, "car.pull"), 2, 1e-12);
    dae_problem_destroy(p);
}

static dae_problem *open_file(const char *path)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_open(path, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

/* The experiments that are models: the truck reaches the reference of the hand-written problem, the HMMWV runs as its model does. */
static void experiments_run_as_equation_files(void **state)
{
    (void)state;
    dae_problem *p = open_file("problems/truck.deq"), *q = open_file("truck");
    double *y = end_of(p, NULL, NULL, 1e-9, NULL);
    dae_score score = dae_problem_score(p, NULL, NULL, y);
    assert_true(score.mescd > 7 && score.scd > 6);
    assert_near(component(p, y, "truck.seat.y"), q->reference[8], 1e-8); /* p9 */
    assert_near(component(p, y, "truck.load.omega"), q->reference[21], 1e-6);
    free(y);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
    p = open_file("problems/hmmwv.deq"), q = open_file("models/hmmwv.json");
    int n = dae_system_size(&p->system);
    assert_int_equal(n, dae_system_size(&q->system));
    double *a = malloc((size_t)n * sizeof *a), *b = malloc((size_t)n * sizeof *b);
    dae_problem *both[] = {p, q};
    for (int k = 0; k < 2; k++) {
        dae_run_options o = dae_run_options_default(both[k]);
        o.options.rtol = o.options.atol = 1e-4;
        o.t_end = 0.5;
        dae_run_result *r = dae_run(both[k], &o, NULL);
        assert_true(r && r->status >= 0);
        memcpy(k ? b : a, r->last.y, (size_t)n * sizeof *a);
        dae_run_destroy(r);
    }
    for (int i = 0; i < n; i++) assert_near(a[i], b[i], 1e-12 * (1 + fabs(b[i])));
    free(a);
    free(b);
    dae_problem_destroy(p);
    dae_problem_destroy(q);
}

static void messages_name_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int line, column;
        const char *message;
    } wrong[] = {
        {"use car = mechanism(\"cart.json\")\nvar x = 0\nx' = car.leen\n", 3, 6,
         "the mechanism \"car\" has no signal or input \"leen\"; did you mean \"car.lean\"?"},
        {"use car = mechanism(\"cart.json\")\ncar.pusch = 1\n", 2, 1,
         "the mechanism \"car\" has no signal or input \"pusch\"; did you mean \"car.push\"?"},
        {"use car = mechanism(\"cart.json\")\ncar.M = 1\n", 2, 1,
         "\"M\" is a parameter of the mechanism \"car\"; to set it from equations list it under \"inputs\" "
         "in its file"},
        {"use car = mechanism(\"cart.json\")\ncar.push = -car.shake\n", 2, 13,
         "\"car.shake\" depends on accelerations or reactions: equations that set inputs can read positions, "
         "velocities and states only"},
        {"use car = mechanism(\"cart.json\")\ncar.push = car.pull + 1\n", 2, 12,
         "\"car.pull\" depends on an input: equations that set inputs can read positions, velocities and "
         "states only"},
        {"use car = mechanism(\"cart.json\")\nvar x = 0\nx = car.lean'\n", 3, 13,
         "\"car.lean\" comes from the mechanism and has no derivative here: read a rate instead "
         "(JOINT.speed, "
         "BODY.vx, BODY.omega)"},
        {"use car = mechanism(\"card.json\")\n", 1, 11, FOLDER "card.json: No such file"},
        {"use car = mechanism(\"cart.json\", LL = 2)\n", 1, 11,
         "cart.json: parameters.LL: the model has no such parameter; did you mean \"L\"?"},
        {"use car = mechanism\n", 1, 11, "expected the file of a model: use car = mechanism(\"file.json\")"},
        {"use car = mechanism(\"cart.json\")\nuse bus = mechanism(\"cart.json\")\n", 2, 1,
         "there is a mechanism already (\"car\", line 1): put both into one model"},
        {"use car = mechanism(\"cart.json\")\nvar x = 0\nx' = car\n", 3, 6,
         "\"car\" is a mechanism: name a signal or an input of it, as car.JOINT.speed"},
        {"use car = mechanism(\"cart.json\")\nwhen car.lean > 1: car.lean := 0\n", 2, 20,
         "\"car.lean\" belongs to the mechanism: an event here cannot assign it"},
        {"use car = mechanism(\"cart.json\")\nvar a\na^3 + a = car.lean\ncar.push = a\n", 3, 9,
         "beside a mechanism equations are solved one after another, each for one variable in which it is "
         "linear: not "
         "possible for a (line 3); write it solved"},
        {"use car = mechanism(\"cart.json\")\nvar x, y\nx' = y\nx = sin(t/1[s])\ncar.push = y\n", 4, 3,
         "beside a mechanism no equation can be differentiated, but index 2 needs derivatives of line 4: "
         "constraints "
         "between bodies belong into the model"},
        {"use car = mechanism(\"cart.json\")\nvar x [m] = 0\nx' = car.push\n", 3, 4, "units do not fit"},
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        char text[400], start[80];
        dae_error err = {0};
        snprintf(text, sizeof text, "%ssolve t = 0 .. 1 [s]\n", wrong[k].text);
        dae_problem *p = dae_equations_problem(text, strlen(text), FOLDER "here.deq", NULL, 0, &err);
        snprintf(start, sizeof start, FOLDER "here.deq:%d:%d: ", wrong[k].line, wrong[k].column);
        if (p || strncmp(err.text, start, strlen(start)) != 0 ||
            strncmp(err.text + strlen(start), wrong[k].message, strlen(wrong[k].message)) != 0)
            fail_msg("%s\ngave %s\nexpected %s%s", text, p ? "nothing" : err.text, start, wrong[k].message);
    }
}

/* Not the coordinates of the mechanism, which its own pictures show. */
static void pictures_show_what_plot_names(void **state)
{
    (void)state;
    dae_problem *p =
        open_text("use car = mechanism(\"cart.json\")\ncar.push = -car.cart.x*1[N/m]\nsolve t = 0 .. 1 [s]\n"
                  "plot car.cart.vx, car.cart.x\n");
    assert_int_equal(p->ndrawn, 2);
    assert_int_equal(p->drawn[0], dae_component_find(p, "car.cart.vx"));
    assert_int_equal(p->drawn[1], dae_component_find(p, "car.cart.x"));
    assert_int_equal(p->nplot, 2);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pictures_show_what_plot_names),
                                       cmocka_unit_test(a_controller_equals_the_system_typed_completely),
                                       cmocka_unit_test(switches_of_both_sides_are_located),
                                       cmocka_unit_test(events_of_both_sides_act),
                                       cmocka_unit_test(a_motor_circuit_equals_the_motor_of_the_model),
                                       cmocka_unit_test(jacobians_match_differences),
                                       cmocka_unit_test(parameters_of_the_mechanism_can_be_set),
                                       cmocka_unit_test(experiments_run_as_equation_files),
                                       cmocka_unit_test(messages_name_line_and_column)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
