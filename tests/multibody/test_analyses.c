/* Equilibrium, kinematics, small motions and motors against formulas of mechanics. */
#include "mechanics.h"

#include "multibody/analyses.h"
#include "multibody/rest.h"

#define GRAVITY 9.81

/* ---- Help -------------------------------------------------------------------------------------------- */

static mbs_mechanism *parse(const char *json)
{
    dae_error err = {0};
    mbs_model *m = mbs_model_parse(json, strlen(json), NULL, 0, &err);
    if (!m) fail_msg("%s", err.text);
    return compile(m);
}

static double *described(const mbs_mechanism *c)
{
    double *y = calloc((size_t)dae_system_size(mbs_mechanism_system(c)), sizeof *y);
    mbs_mechanism_described(c, y);
    return y;
}

typedef struct spectrum {
    int n;
    double re[40], im[40];
} spectrum;

static spectrum spectrum_at(const mbs_mechanism *c, const double *y)
{
    spectrum s = {0};
    dae_error err = {0};
    const dae_mech *m = &mbs_mechanism_system(c)->mech;
    assert_true(2 * m->nv + m->nu <= 40);
    if (mbs_mechanism_eigenvalues(c, 0, y, s.re, s.im, &s.n, &err) < 0) fail_msg("%s", err.text);
    return s;
}

/* How many eigenvalues are within tol of re + i im. */
static int count_at(const spectrum *s, double re, double im, double tol)
{
    int count = 0;
    for (int k = 0; k < s->n; k++) count += hypot(s->re[k] - re, s->im[k] - im) < tol;
    return count;
}

/* Rods of mass 1 and length 1 that hang from the origin, one below the other. */
static mbs_model *hanging_rods(int n)
{
    static const char *const rod[] = {"rod1", "rod2"}, *const pin[] = {"pin1", "pin2"};
    mbs_model *m = mbs_model_create("rods", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -GRAVITY, 0);
    for (int k = 0; k < n; k++) {
        mbs_model_add_body(
            m, &(mbs_body){.name = rod[k], .mass = 1, .inertia = {0, 0, 1 / 12.0}, .center = {0, -0.5 - k}});
        mbs_model_add_joint(
            m, &(mbs_joint){.name = pin[k], .type = "revolute", .a = k, .b = k + 1, .at = {0, -k}});
    }
    return m;
}

/* ---- Equilibrium ------------------------------------------------------------------------------------- */

static void pendulum_comes_to_rest_below_its_pivot(void **state)
{
    (void)state;
    mbs_mechanism *c = compile(hanging_rods(1));
    double y[6] = {0.5 * sin(1.0), -0.5 * cos(1.0), 1, 3, 2, 1};
    dae_error err = {0};
    if (mbs_mechanism_equilibrium(c, 0, y, &err) < 0) fail_msg("%s", err.text);
    assert_near(y[0], 0, 1e-9);
    assert_near(y[1], -0.5, 1e-9);
    assert_near(y[2], 0, 1e-9);
    for (int i = 3; i < 6; i++) assert_near(y[i], 0, 0);
    mbs_mechanism_destroy(c);
}

/* From the horizontal, where the stiffness is zero, and from near the top, where it is negative. */
static void equilibrium_is_searched_downhill(void **state)
{
    (void)state;
    static const double angle[] = {1.57079632679489662, 3.0, -3.1};
    mbs_mechanism *c = compile(hanging_rods(2));
    for (int k = 0; k < 3; k++) {
        double q = angle[k], lambda[4], force[3], torque[3];
        double y[12] = {0.5 * sin(q), -0.5 * cos(q), q, 1.5 * sin(q), -1.5 * cos(q), q};
        dae_error err = {0};
        if (mbs_mechanism_equilibrium(c, 0, y, &err) < 0) fail_msg("%s", err.text);
        assert_near(y[1], -0.5, 1e-9);
        assert_near(y[4], -1.5, 1e-9);
        if (mbs_mechanism_static_multipliers(c, 0, y, lambda, &err) < 0) fail_msg("%s", err.text);
        assert_int_equal(mbs_mechanism_reaction(c, 0, 0, y, lambda, force, torque), DAE_OK);
        assert_near(force[1], 2 * GRAVITY, 1e-7);
    }
    double tilted[12] = {0.5 * sin(1.0), -0.5 * cos(1.0), 1, 1.5 * sin(1.0), -1.5 * cos(1.0), 1}, lambda[4];
    dae_error err = {0};
    assert_int_equal(mbs_mechanism_static_multipliers(c, 0, tilted, lambda, &err), DAE_ERR_INPUT);
    mbs_mechanism_destroy(c);
}

static void spring_carries_the_weight(void **state)
{
    (void)state;
    mbs_mechanism *c = parse(
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2,\"gravity\":[0,-9.81],"
        "\"bodies\":[{\"name\":\"b\",\"mass\":2,\"inertia\":1,\"r\":[0,-1]}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},"
        "{\"name\":\"B\",\"body\":\"b\",\"r\":[0,0]}],"
        "\"joints\":[{\"name\":\"guide\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"B\",\"axis\":[0,1]}],"
        "\"forces\":[{\"name\":\"s\",\"type\":\"spring\",\"a\":\"O\",\"b\":\"B\",\"k\":500,\"l0\":0.8}]}");
    double *y = described(c);
    dae_error err = {0};
    if (mbs_mechanism_equilibrium(c, 0, y, &err) < 0) fail_msg("%s", err.text);
    assert_near(y[1], -0.8 - 2 * GRAVITY / 500, 1e-9);
    spectrum s = spectrum_at(c, y);
    assert_int_equal(s.n, 2);
    assert_int_equal(count_at(&s, 0, sqrt(500 / 2.0), 1e-5), 1);
    free(y);
    mbs_mechanism_destroy(c);
}

/* Four rods of weight W between supports at the same height: the vertical force in the middle of the rods is -1.5 W,
 * -0.5 W, 0.5 W, 1.5 W and the horizontal one is the same everywhere, so tan(angle 4) = 3 tan(angle 3); the span of 3
 * gives cos(angle 3) + cos(angle 4) = 3/2. */
static void hanging_chain_takes_its_shape(void **state)
{
    (void)state;
    static const char *const rod[] = {"R1", "R2", "R3", "R4"}, *const pin[] = {"P1", "P2", "P3", "P4", "P5"};
    static const double x[5][2] = {{0, 0}, {0.6, -0.8}, {1.5, -1.2}, {2.4, -0.8}, {3, 0}};
    static const char *const left[] = {"L1", "L2", "L3", "L4"}, *const right[] = {"E1", "E2", "E3", "E4"};
    mbs_model *m = mbs_model_create("chain", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -GRAVITY, 0);
    mbs_model_add_point(m, &(mbs_point){.name = "O"});
    mbs_model_add_point(m, &(mbs_point){.name = "Q", .r = {3, 0, 0}});
    for (int k = 0; k < 4; k++) {
        mbs_model_add_body(m,
                           &(mbs_body){.name = rod[k],
                                       .mass = 1,
                                       .inertia = {0, 0, 1 / 12.0},
                                       .center = {(x[k][0] + x[k + 1][0]) / 2, (x[k][1] + x[k + 1][1]) / 2},
                                       .angle = atan2(x[k + 1][1] - x[k][1], x[k + 1][0] - x[k][0])});
        mbs_model_add_point(m, &(mbs_point){.name = left[k], .body = k + 1, .r = {-0.5, 0, 0}});
        mbs_model_add_point(m, &(mbs_point){.name = right[k], .body = k + 1, .r = {0.5, 0, 0}});
    }
    for (int k = 0; k < 5; k++)
        mbs_model_add_joint(m, &(mbs_joint){.name = pin[k],
                                            .type = "revolute",
                                            .point_a = k ? right[k - 1] : "O",
                                            .point_b = k < 4 ? left[k] : "Q"});
    mbs_mechanism *c = compile(m);
    double *y = described(c), lambda[10], force[3], torque[3];
    dae_error err = {0};
    if (mbs_mechanism_equilibrium(c, 0, y, &err) < 0) fail_msg("%s", err.text);
    const double inner = y[8], outer = y[11];
    assert_near(tan(outer), 3 * tan(inner), 1e-8);
    assert_near(cos(outer) + cos(inner), 1.5, 1e-10);
    assert_true(inner > 0);
    assert_near(y[2], -outer, 1e-8);
    assert_near(y[5], -inner, 1e-8);
    assert_int_equal(mbs_mechanism_acceleration(c, 0, y, NULL, lambda, &err), DAE_OK);
    assert_int_equal(mbs_mechanism_reaction(c, 0, 0, y, lambda, force, torque), DAE_OK);
    assert_near(force[0], -0.5 * GRAVITY / tan(inner), 1e-7);
    assert_near(force[1], 2 * GRAVITY, 1e-7);
    free(y);
    mbs_mechanism_destroy(c);
}

static mbs_mechanism *from_file(const char *path)
{
    dae_error err = {0};
    mbs_model *m = mbs_model_load(path, &err);
    mbs_mechanism *c = m ? mbs_mechanism_create(m, &err) : NULL;
    if (!c) fail_msg("%s", err.text);
    mbs_model_destroy(m);
    return c;
}

/* Downhill it falls over: the upright disc is what balances. It falls with the rate sqrt(g R / (5/4 R^2)). */
static void leaning_disc_balances_upright(void **state)
{
    (void)state;
    mbs_mechanism *c = from_file("models/rolling_disc.json");
    double *y = described(c), rate = sqrt(GRAVITY / (1.25 * 0.5));
    dae_error err = {0};
    if (mbs_mechanism_equilibrium(c, 0, y, &err) < 0) fail_msg("%s", err.text);
    assert_near(y[2], 0.5, 1e-9);
    assert_near(y[5], 0, 1e-9);
    spectrum s = spectrum_at(c, y);
    assert_int_equal(count_at(&s, rate, 0, 1e-5), 1);
    assert_int_equal(count_at(&s, -rate, 0, 1e-5), 1);
    free(y);
    mbs_mechanism_destroy(c);
}

/* Its motors hold the arm with the currents that their controllers bring about; the motion ends there too. */
static void arm_rests_on_the_currents_of_its_motors(void **state)
{
    (void)state;
    mbs_mechanism *c = from_file("models/robot.json");
    double *y = described(c), *end = described(c);
    dae_options opt = dae_options_default();
    dae_error err = {0};
    if (mbs_mechanism_equilibrium(c, 0, y, &err) < 0) fail_msg("%s", err.text);
    opt.method = "radau5";
    opt.rtol = opt.atol = 1e-9;
    if (dae_solve(mbs_mechanism_system(c), &opt, 0, 10, end, NULL, &err) < 0) fail_msg("%s", err.text);
    for (int i = 0; i < dae_system_size(mbs_mechanism_system(c)); i++) assert_near(y[i], end[i], 1e-6);
    assert_true(fabs(y[21 + 18 + 1]) > 10); /* A: the second motor carries the boom */
    free(y);
    free(end);
    mbs_mechanism_destroy(c);
}

/* The steps of a search as they are told, one after another. */
typedef struct progress {
    int steps;
    double off;
} progress;

static void look_on(int k, double off, void *user)
{
    progress *p = user;
    assert_int_equal(k, p->steps + 1);
    p->steps = k;
    p->off = off;
}

/* 20 rods that stand nearly upright fall down: the way is downhill, and not to the balance nearby. From 89.9 degrees that one is within
 * a step: only that K is not definite tells. */
static void chain_falls_from(double degrees)
{
    enum { RODS = 20 };
    double lift = degrees * 3.14159265358979323846 / 180, y[6 * RODS];
    dae_error err = {0};
    mbs_model *m = mbs_model_create("upright", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int k = 0; k < RODS; k++) {
        char name[2][16];
        snprintf(name[0], sizeof name[0], "rod%d", k);
        snprintf(name[1], sizeof name[1], "pin%d", k);
        mbs_model_add_body(m, &(mbs_body){.name = name[0],
                                          .mass = 1,
                                          .inertia = {0, 0, 1.0 / 12},
                                          .center = {(k + 0.5) * cos(lift), (k + 0.5) * sin(lift)},
                                          .angle = lift});
        mbs_model_add_joint(m, &(mbs_joint){.name = name[1],
                                            .type = "revolute",
                                            .a = k,
                                            .b = k + 1,
                                            .at = {k * cos(lift), k * sin(lift)}});
    }
    mbs_mechanism *c = compile(m);
    progress told = {0};
    mbs_watch watch = {look_on, &told};
    for (int sparse = 0; sparse < 2;
         sparse++) { /* the second without the dense way, which would do it, too */
        double off = 0;
        assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
        if (!sparse) assert_int_equal(mbs_mechanism_equilibrium(c, 0, y, &err), DAE_OK);
        else assert_int_equal(mbs_rest_downhill(c, 0, 1e-10, &watch, y, &off), DAE_OK);
        assert_true(off <= 1e-7);
        if (sparse) assert_true(told.steps > 1 && told.off <= 1);
        for (int k = 0; k < RODS; k++) assert_near(y[3 * k + 1], -(k + 0.5), 1e-6);
    }
    mbs_mechanism_destroy(c);
}

static void upright_chain_falls(void **state)
{
    (void)state;
    chain_falls_from(80);
    chain_falls_from(89.9);
}

/* A chain of 200 links (m = 0.05 kg, l = 0.05 m) above a floor of k = 1e4 N/m, whose links end in contacts. */
#define LINKS 200
#define LENGTH 0.05
#define SINK (0.05 * GRAVITY / 1e4) /* of a point that carries one link */

static double *chain_at_rest(const char *start, const char *end, double depth)
{
    static char text[4096];
    dae_error err = {0};
    snprintf(
        text, sizeof text,
        "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"chain\", \"dimension\": 2, \"gravity\": [0, "
        "-9.81], \"parameters\": { \"L\": 0.05 }, \"bodies\": [ { \"repeat\": {\"i\": \"1..%d\"}, \"name\": "
        "\"b{i}\", \"mass\": 0.05, \"inertia\": \"0.05*L^2/12\", %s } ],"
        " \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] },"
        " { \"name\": \"E\", \"body\": \"ground\", \"r\": [\"0.8*%d*L\", 0] },"
        " { \"name\": \"F\", \"body\": \"ground\", \"r\": [0, %.17g] },"
        " { \"repeat\": {\"i\": \"1..%d\"}, \"name\": \"p{i}\", \"body\": \"b{i}\", \"r\": [\"-L/2\", 0] },"
        " { \"repeat\": {\"i\": \"1..%d\"}, \"name\": \"q{i}\", \"body\": \"b{i}\", \"r\": [\"L/2\", 0] } ],"
        " \"joints\": [ { \"name\": \"j1\", \"type\": \"revolute\", \"a\": \"O\", \"b\": \"p1\" }, %s"
        " { \"repeat\": {\"i\": \"2..%d\"}, \"name\": \"j{i}\", \"type\": \"revolute\", \"a\": \"q{i-1}\", "
        "\"b\": \"p{i}\" } ],"
        " \"forces\": [ { \"repeat\": {\"i\": \"1..%d\"}, \"name\": \"c{i}\", \"type\": \"contact\", \"a\": "
        "\"F\", \"b\": \"q{i}\", \"k\": 1e4, \"c\": 20 } ] }",
        LINKS, start, LINKS, -depth, LINKS, LINKS, end, LINKS, LINKS);
    mbs_mechanism *c = parse(text);
    double *y = calloc((size_t)dae_system_size(mbs_mechanism_system(c)), sizeof *y);
    if (mbs_mechanism_initial(c, y, &err) < 0 || mbs_mechanism_equilibrium(c, 0, y, &err) < 0)
        fail_msg("%s", err.text);
    mbs_mechanism_destroy(c);
    return y;
}

static void long_chain_comes_to_rest_on_the_floor(void **state)
{
    (void)state;
    /* From the horizontal, held at one end 4 m above: 80 links hang, the others lie. */
    double *y = chain_at_rest("\"r\": [\"({i}-0.5)*L\", 0]", "", 4);
    for (int i = 0; i < LINKS; i++) {
        double high = y[3 * i + 1], angle = y[3 * i + 2];
        if (i < 80) {
            assert_near(y[3 * i], 0, 1e-9);
            assert_near(high, -(i + 0.5) * LENGTH, 1e-9);
        } else if (i > 80 && i < LINKS - 1) {
            assert_near(high, -4 - SINK, 1e-9);
            assert_near(angle, 0, 1e-8);
        }
    }
    assert_near(y[3 * 80 + 1], -4 - SINK / 2, 1e-9);        /* from above the floor into it */
    assert_near(y[3 * LINKS - 2], -4 - SINK * 3 / 4, 1e-9); /* its free end carries half a link */
    free(y);

    /* From a V between two ends, above a floor that it reaches: tan(angle) grows by m g/H from link to link. */
    y = chain_at_rest("\"r\": [\"0.8*({i}-0.5)*L\", \"-0.6*L*(100-abs({i}-100.5))\"], \"angle\": "
                      "\"if({i} <= 100, -1, 1)*acos(0.8)\"",
                      "{ \"name\": \"end\", \"type\": \"revolute\", \"a\": \"q200\", \"b\": \"E\" },", 1.5);
    double step = tan(y[5]) - tan(y[2]);
    int lie = 0, hang = 0;
    assert_true(step > 0);
    for (int i = 0; i < LINKS; i++) {
        double high = y[3 * i + 1], angle = y[3 * i + 2], end = high + LENGTH / 2 * sin(angle);
        assert_near(high, y[3 * (LINKS - 1 - i) + 1], 1e-8); /* both sides are alike */
        if (i && i < LINKS / 2 && end > -1.5) {
            assert_near(tan(angle) - tan(y[3 * i - 1]), step, 1e-7 * step);
            hang++;
        }
        if (fabs(high + 1.5 + SINK) < 1e-6 && fabs(angle) < 1e-5) lie++;
    }
    assert_true(hang > 30 && lie > 60);
    free(y);
}

static void body_that_falls_has_no_equilibrium(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("free", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -GRAVITY, 0);
    mbs_model_add_body(m, &(mbs_body){.name = "stone", .mass = 1, .inertia = {0, 0, 1}});
    mbs_mechanism *c = compile(m);
    double y[6] = {0};
    dae_error err = {0};
    assert_int_equal(mbs_mechanism_equilibrium(c, 0, y, &err), DAE_ERR_CONVERGENCE);
    assert_non_null(strstr(err.text, "no equilibrium was found"));
    assert_non_null(strstr(err.text, "body stone is pushed with 9.81"));
    mbs_mechanism_destroy(c);
}

/* ---- Kinematics and inverse dynamics ------------------------------------------------------------------ */

/* Crank of length 1, rod of length 3: x = cos(q) + sqrt(9 - sin(q)^2). */
static void driven_slider_crank_follows_the_formula(void **state)
{
    (void)state;
    mbs_mechanism *c = parse(
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2,\"bodies\":["
        "{\"name\":\"crank\",\"mass\":1,\"inertia\":0.1,\"r\":[0.5,0]},"
        "{\"name\":\"rod\",\"mass\":1,\"inertia\":1,\"r\":[2.5,0]},"
        "{\"name\":\"slider\",\"mass\":1,\"inertia\":1,\"r\":[4,0]}],\"points\":["
        "{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},"
        "{\"name\":\"A0\",\"body\":\"crank\",\"r\":[-0.5,0]},"
        "{\"name\":\"A1\",\"body\":\"crank\",\"r\":[0.5,0]},{\"name\":\"B0\",\"body\":\"rod\",\"r\":[-1.5,0]}"
        ","
        "{\"name\":\"B1\",\"body\":\"rod\",\"r\":[1.5,0]},{\"name\":\"S\",\"body\":\"slider\",\"r\":[0,0]}],"
        "\"joints\":[{\"name\":\"J1\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A0\"},"
        "{\"name\":\"J2\",\"type\":\"revolute\",\"a\":\"A1\",\"b\":\"B0\"},"
        "{\"name\":\"J3\",\"type\":\"revolute\",\"a\":\"B1\",\"b\":\"S\"},"
        "{\"name\":\"J4\",\"type\":\"prismatic\",\"a\":\"O\",\"b\":\"S\",\"axis\":[1,0]}],"
        "\"drivers\":[{\"name\":\"motor\",\"joint\":\"J1\",\"value\":\"0.3 + 2*t + t^2\"}]}");
    double *y = described(c), a[9];
    dae_error err = {0};
    for (int k = 0; k <= 20; k++) { /* each pose is the guess of the next */
        double t = 0.1 * k, q = 0.3 + 2 * t + t * t, w = 2 + 2 * t, root = sqrt(9 - sin(q) * sin(q));
        if (mbs_mechanism_kinematics(c, t, y, &err) < 0) fail_msg("t = %g: %s", t, err.text);
        double slope = -sin(q) - sin(q) * cos(q) / root;
        double curve = -cos(q) - cos(2 * q) / root - pow(sin(q) * cos(q), 2) / pow(root, 3);
        assert_near(y[2], q, 1e-10);
        assert_near(y[6], cos(q) + root, 1e-10);
        assert_near(y[9 + 6], slope * w, 1e-9);
        assert_int_equal(mbs_mechanism_acceleration(c, t, y, a, NULL, &err), DAE_OK);
        assert_near(a[6], curve * w * w + slope * 2, 1e-8);
    }
    free(y);
    mbs_mechanism_destroy(c);
}

/* Torque that turns a rod about its end with the angle t^2/2: m L^2/3 + m g L/2 cos(t^2/2). */
static void inverse_dynamics_gives_the_torque_of_a_driver(void **state)
{
    (void)state;
    mbs_mechanism *c =
        parse("{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2,\"gravity\":[0,-9.81],"
              "\"bodies\":[{\"name\":\"rod\",\"mass\":3,\"inertia\":0.25,\"r\":[0.5,0]}],"
              "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},"
              "{\"name\":\"A\",\"body\":\"rod\",\"r\":[-0.5,0]}],"
              "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}],"
              "\"drivers\":[{\"name\":\"motor\",\"joint\":\"J\",\"value\":\"t^2/2\"}],"
              "\"sensors\":[{\"name\":\"torque\",\"value\":\"motor.force\"}]}");
    double *y = described(c), torque;
    dae_error err = {0};
    for (int k = 0; k <= 5; k++) {
        double t = 0.4 * k;
        if (mbs_mechanism_kinematics(c, t, y, &err) < 0) fail_msg("%s", err.text);
        assert_int_equal(mbs_mechanism_sensors(c, t, y, NULL, NULL, &torque, &err), DAE_OK);
        assert_near(torque, 1 + 1.5 * GRAVITY * cos(t * t / 2), 1e-9);
        double lambda[3], same;
        assert_int_equal(mbs_mechanism_acceleration(c, t, y, NULL, lambda, &err), DAE_OK);
        assert_int_equal(mbs_mechanism_driver_forces(c, t, y, lambda, &same), DAE_OK);
        assert_near(same, torque, 1e-12);
        assert_int_equal(mbs_mechanism_equilibrium(c, t, y, &err),
                         DAE_OK); /* at rest without the part of inertia */
        assert_int_equal(mbs_mechanism_static_multipliers(c, t, y, lambda, &err), DAE_OK);
        assert_int_equal(mbs_mechanism_driver_forces(c, t, y, lambda, &same), DAE_OK);
        assert_near(same, 1.5 * GRAVITY * cos(t * t / 2), 1e-9);
    }
    assert_int_equal(mbs_mechanism_driver_count(c), 1);
    assert_string_equal(mbs_mechanism_driver_name(c, 0), "motor");
    assert_null(mbs_mechanism_driver_name(c, 1));
    free(y);
    mbs_mechanism_destroy(c);
}

static void kinematics_wants_every_freedom_driven(void **state)
{
    (void)state;
    mbs_mechanism *c = compile(hanging_rods(2));
    double *y = described(c);
    dae_error err = {0};
    assert_int_equal(mbs_mechanism_kinematics(c, 0, y, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "2 degrees of freedom"));
    free(y);
    mbs_mechanism_destroy(c);
}

/* ---- Small motions ------------------------------------------------------------------------------------- */

/* Two rods: omega^2 = g/L (3 +- 6/sqrt(7)). */
static void double_pendulum_has_its_two_frequencies(void **state)
{
    (void)state;
    mbs_mechanism *c = compile(hanging_rods(2));
    double *y = described(c);
    spectrum s = spectrum_at(c, y);
    assert_int_equal(s.n, 4);
    for (int side = -1; side <= 1; side += 2) {
        double omega = sqrt(GRAVITY * (3 + side * 6 / sqrt(7.0)));
        assert_int_equal(count_at(&s, 0, omega, 1e-6), 1);
        assert_int_equal(count_at(&s, 0, -omega, 1e-6), 1);
    }
    free(y);
    mbs_mechanism_destroy(c);
}

/* J x^2 + c x + m g L/2 = 0 with J = 1/3; upside down m g L/2 has the other sign. */
static void damped_and_inverted_pendulum_have_their_roots(void **state)
{
    (void)state;
    mbs_model *m = hanging_rods(1);
    mbs_model_add_force(
        m, &(mbs_force){.name = "oil", .type = "torsion", .joint = "pin1", .field = {{"c", .number = 0.4}}});
    mbs_mechanism *c = compile(m);
    double *y = described(c), half = 0.4 * 3 / 2, square = 1.5 * GRAVITY;
    spectrum s = spectrum_at(c, y);
    assert_int_equal(s.n, 2);
    assert_int_equal(count_at(&s, -half, sqrt(square - half * half), 1e-6), 1);
    assert_int_equal(count_at(&s, -half, -sqrt(square - half * half), 1e-6), 1);
    y[1] = 0.5;
    y[2] = 3.14159265358979323846;
    s = spectrum_at(c, y);
    assert_int_equal(count_at(&s, -half + sqrt(square + half * half), 0, 1e-6), 1);
    assert_int_equal(count_at(&s, -half - sqrt(square + half * half), 0, 1e-6), 1);
    free(y);
    mbs_mechanism_destroy(c);
}

/* A body on a ball joint swings alike in all directions and turns freely about the vertical (a double zero). */
static void spatial_pendulum_has_a_double_frequency(void **state)
{
    (void)state;
    mbs_model *m = mbs_model_create("bob", MBS_SPATIAL);
    mbs_model_set_gravity(m, 0, 0, -GRAVITY);
    mbs_model_add_body(
        m, &(mbs_body){.name = "bob", .mass = 2, .inertia = {0.1, 0.1, 0.05}, .center = {0, 0, -0.5}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "ball", .type = "spherical", .a = MBS_GROUND, .b = 1});
    mbs_mechanism *c = compile(m);
    double *y = described(c), omega = sqrt(2 * GRAVITY * 0.5 / (0.1 + 2 * 0.25));
    spectrum s = spectrum_at(c, y);
    assert_int_equal(s.n, 6);
    assert_int_equal(count_at(&s, 0, omega, 1e-5), 2);
    assert_int_equal(count_at(&s, 0, -omega, 1e-5), 2);
    assert_int_equal(count_at(&s, 0, 0, 1e-3), 2);
    free(y);
    mbs_mechanism_destroy(c);
}

/* ---- Motors ---------------------------------------------------------------------------------------------- */

/* L i' = U - R i - k w, J w' = k i with R/L = 20, k^2/(J L) = 50: exponents s = -10 +- sqrt(50). */
static void motor_current_follows_its_circuit(void **state)
{
    (void)state;
    mbs_mechanism *c =
        parse("{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"m\",\"dimension\":2,"
              "\"bodies\":[{\"name\":\"rotor\",\"mass\":1,\"inertia\":0.05,\"r\":[0,0]}],"
              "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},"
              "{\"name\":\"A\",\"body\":\"rotor\",\"r\":[0,0]}],"
              "\"joints\":[{\"name\":\"J\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"A\"}],"
              "\"forces\":[{\"name\":\"M\",\"type\":\"motor\",\"joint\":\"J\",\"value\":12,\"resistance\":2,"
              "\"inductance\":0.1,\"constant\":0.5}],"
              "\"sensors\":[{\"name\":\"i\",\"value\":\"M.current\"}]}");
    double *y = described(c), current;
    dae_error err = {0};
    spectrum s = spectrum_at(c, y);
    const double t = 0.3, s1 = -10 + sqrt(50), s2 = -10 - sqrt(50), scale = 12 / 0.1 / (s1 - s2);
    assert_int_equal(s.n, 3);
    assert_int_equal(count_at(&s, 0, 0, 1e-6), 1);
    assert_int_equal(count_at(&s, s1, 0, 1e-5), 1);
    assert_int_equal(count_at(&s, s2, 0, 1e-5), 1);
    dae_options o = dae_options_default();
    o.method = "mexx";
    o.rtol = o.atol = 1e-10;
    if (dae_solve(mbs_mechanism_system(c), &o, 0, t, y, NULL, &err) < 0) fail_msg("%s", err.text);
    assert_near(y[6], scale * (exp(s1 * t) - exp(s2 * t)), 1e-8);
    assert_near(y[5], 0.5 / 0.05 * scale * ((exp(s1 * t) - 1) / s1 - (exp(s2 * t) - 1) / s2), 1e-8);
    assert_int_equal(mbs_mechanism_sensors(c, t, y, NULL, NULL, &current, &err), DAE_OK);
    assert_near(current, y[6], 0);
    free(y);
    mbs_mechanism_destroy(c);
}

/* A symmetric rotor on springs that act along fixed directions: dphi = phi_x + i phi_y follows
 *     It dphi'' - i Ip W dphi' + 2 k L^2 dphi = 0,
 * two whirls that depend on the speed, and the translation, which does not. */
static void rotor_whirls_as_theory_says(void **state)
{
    (void)state;
    const double It = 0.1, Ip = 0.1667, k = 16600, L = 0.3, W = 200, m = 2;
    mbs_model *model = mbs_model_create("rotor", MBS_SPATIAL);
    mbs_model_add_body(model,
                       &(mbs_body){.name = "rotor", .mass = m, .inertia = {It, It, Ip}, .omega = {0, 0, W}});
    static const char *const end[] = {"front", "back"}, *const ground[] = {"g_front", "g_back"};
    static const char *const name[] = {"x1", "y1", "z1", "x2", "y2", "z2"};
    for (int e = 0; e < 2; e++) {
        double z = e ? -L : L;
        mbs_model_add_point(model, &(mbs_point){.name = end[e], .body = 1, .r = {0, 0, z}});
        mbs_model_add_point(model, &(mbs_point){.name = ground[e], .r = {0, 0, z}});
        for (int c = 0; c < 3; c++) {
            mbs_model_add_force(model, &(mbs_force){.name = name[3 * e + c],
                                                    .type = "spring",
                                                    .point_a = ground[e],
                                                    .point_b = end[e],
                                                    .field = {{"k", .number = k},
                                                              {"axis", .vector = {c == 0, c == 1, c == 2}}}});
        }
    }
    mbs_mechanism *c = compile(model);
    double *y = described(c);
    spectrum s = spectrum_at(c, y);
    double b = Ip * W / (2 * It), root = sqrt(b * b + 2 * k * L * L / It);
    assert_int_equal(s.n, 12);
    for (int sign = -1; sign <= 1; sign += 2) {
        assert_int_equal(count_at(&s, 0, sign * (root + b), 1e-6 * root), 1);
        assert_int_equal(count_at(&s, 0, sign * (root - b), 1e-6 * root), 1);
        assert_int_equal(count_at(&s, 0, sign * sqrt(2 * k / m), 1e-6 * root), 3);
    }
    free(y);
    mbs_mechanism_destroy(c);
}

/* Two masses on a spring that turn about each other: seen from the frame that turns with them the distance swings with
 * k/mu + 3 W^2, which the state of the moment seen from outside does not show. */
static void turning_pair_swings_in_its_own_frame(void **state)
{
    (void)state;
    const double k = 100, l0 = 1, W = 3, mu = 0.5, r = k * l0 / (k - mu * W * W);
    mbs_model *model = mbs_model_create("pair", MBS_PLANAR);
    static const char *const name[] = {"A", "B"}, *const point[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        double x = i ? r / 2 : -r / 2;
        mbs_model_add_body(model, &(mbs_body){.name = name[i],
                                              .mass = 1,
                                              .inertia = {0, 0, 1},
                                              .center = {x},
                                              .v = {0, W * x},
                                              .omega = {0, 0, W}});
        mbs_model_add_point(model, &(mbs_point){.name = point[i], .body = i + 1});
    }
    mbs_model_add_force(model, &(mbs_force){.name = "spring",
                                            .type = "spring",
                                            .point_a = "a",
                                            .point_b = "b",
                                            .field = {{"k", .number = k}, {"l0", .number = l0}}});
    mbs_mechanism *c = compile(model);
    double *y = described(c);
    spectrum s = spectrum_at(c, y);
    assert_int_equal(count_at(&s, 0, sqrt(k / mu + 3 * W * W), 1e-6), 1);
    free(y);
    mbs_mechanism_destroy(c);
}

/* The pose in which everything turns together as at the start, and the small motions about it. */
static spectrum turning_rest(const mbs_mechanism *c, double **y)
{
    dae_error err = {0};
    mbs_turning turning;
    *y = calloc((size_t)dae_system_size(mbs_mechanism_system(c)), sizeof **y);
    if (mbs_mechanism_initial(c, *y, &err) < 0 || mbs_turning_of(c, 0, *y, &turning, &err) < 0 ||
        mbs_find_equilibrium(c, &turning, NULL, 0, *y, &err) < 0)
        fail_msg("%s", err.text);
    return spectrum_at(c, *y);
}

/* An arm on a hub that is driven with w: D w^2 cos(a) = m g L and small motions with D w^2 sin^2(a)/(I_y + m L^2),
 * D = I_x - I_z + m L^2. */
static void driven_arm_rises_to_its_angle(void **state)
{
    (void)state;
    mbs_mechanism *c = parse(
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"arm\",\"dimension\":3,\"gravity\":[0,0,-9.81],"
        "\"bodies\":[{\"name\":\"hub\",\"mass\":1,\"inertia\":[0.1,0.1,0.1],\"r\":[0,0,0]},"
        "{\"name\":\"arm\",\"mass\":2,\"inertia\":[0.002,0.03,0.04],\"r\":[\"0.5*sin(0.3)\",0,\"-0.5*cos(0.3)"
        "\"],"
        "\"q\":[\"cos(0.15)\",0,\"-sin(0.15)\",0]}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0,0]},{\"name\":\"H\",\"body\":\"hub\","
        "\"r\":[0,0,"
        "0]},{\"name\":\"A\",\"body\":\"arm\",\"r\":[0,0,0.5]}],"
        "\"joints\":[{\"name\":\"turn\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"H\",\"axis\":[0,0,1]},"
        "{\"name\":\"pin\",\"type\":\"revolute\",\"a\":\"H\",\"b\":\"A\",\"axis\":[0,1,0]}],"
        "\"drivers\":[{\"name\":\"motor\",\"joint\":\"turn\",\"value\":\"8*t\"}],\"simulation\":{\"t1\":1}}");
    double *y, w = 8, m = 2, L = 0.5, D = 0.002 - 0.04 + m * L * L, a = acos(m * GRAVITY * L / (D * w * w));
    spectrum s = turning_rest(c, &y);
    assert_near(y[7], L * sin(a), 1e-9);
    assert_near(y[9], -L * cos(a), 1e-9);
    assert_int_equal(count_at(&s, 0, sqrt(D / (0.03 + m * L * L)) * w * sin(a), 1e-6), 1);
    double lambda[12];
    mbs_turning turning = {{0, 0, w}, {0, 0, 0}};
    dae_error err = {0};
    double force[3], torque[3];
    assert_int_equal(mbs_find_multipliers(c, &turning, 0, y, lambda, &err), DAE_OK);
    assert_int_equal(mbs_mechanism_reaction(c, 1, 0, y, lambda, force, torque), DAE_OK);
    assert_near(force[0], -m * w * w * L * sin(a), 1e-7);
    assert_near(force[2], m * GRAVITY, 1e-7);
    free(y);
    mbs_mechanism_destroy(c);
}

/* A slider on a turning bar, held by a spring: r = k l0/(k - m w^2), small motions with k/m - w^2. */
static void slider_moves_out_on_a_turning_bar(void **state)
{
    (void)state;
    mbs_mechanism *c = parse(
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"bar\",\"dimension\":2,"
        "\"bodies\":[{\"name\":\"bar\",\"mass\":1,\"inertia\":0.1,\"r\":[1,2]},"
        "{\"name\":\"slider\",\"mass\":0.5,\"inertia\":0.01,\"r\":[1.4,2]}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[1,2]},{\"name\":\"B\",\"body\":\"bar\",\"r\":"
        "[0,0]},"
        "{\"name\":\"S\",\"body\":\"slider\",\"r\":[0,0]}],"
        "\"joints\":[{\"name\":\"turn\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"B\"},"
        "{\"name\":\"slot\",\"type\":\"prismatic\",\"a\":\"B\",\"b\":\"S\",\"axis\":[1,0]}],"
        "\"forces\":[{\"name\":\"spring\",\"type\":\"spring\",\"a\":\"B\",\"b\":\"S\",\"k\":100,\"l0\":0.4}],"
        "\"drivers\":[{\"name\":\"motor\",\"joint\":\"turn\",\"value\":\"6*t\"}],\"simulation\":{\"t1\":1}}");
    double *y, w = 6, m = 0.5, k = 100;
    spectrum s = turning_rest(c, &y);
    assert_near(y[3] - 1, k * 0.4 / (k - m * w * w), 1e-9);
    assert_near(y[4], 2, 1e-12);
    assert_int_equal(count_at(&s, 0, sqrt(k / m - w * w), 1e-6), 1);
    free(y);
    mbs_mechanism_destroy(c);
}

static void nothing_turns_without_a_speed(void **state)
{
    (void)state;
    dae_error err = {0};
    mbs_turning turning;
    mbs_mechanism *c = compile(hanging_rods(1));
    double *y = described(c);
    assert_int_equal(mbs_turning_of(c, 0, y, &turning, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "nothing turns at the start"));
    free(y);
    mbs_mechanism_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rotor_whirls_as_theory_says),
        cmocka_unit_test(turning_pair_swings_in_its_own_frame),
        cmocka_unit_test(driven_arm_rises_to_its_angle),
        cmocka_unit_test(slider_moves_out_on_a_turning_bar),
        cmocka_unit_test(nothing_turns_without_a_speed),
        cmocka_unit_test(pendulum_comes_to_rest_below_its_pivot),
        cmocka_unit_test(equilibrium_is_searched_downhill),
        cmocka_unit_test(spring_carries_the_weight),
        cmocka_unit_test(hanging_chain_takes_its_shape),
        cmocka_unit_test(upright_chain_falls),
        cmocka_unit_test(leaning_disc_balances_upright),
        cmocka_unit_test(arm_rests_on_the_currents_of_its_motors),
        cmocka_unit_test(long_chain_comes_to_rest_on_the_floor),
        cmocka_unit_test(body_that_falls_has_no_equilibrium),
        cmocka_unit_test(driven_slider_crank_follows_the_formula),
        cmocka_unit_test(inverse_dynamics_gives_the_torque_of_a_driver),
        cmocka_unit_test(kinematics_wants_every_freedom_driven),
        cmocka_unit_test(double_pendulum_has_its_two_frequencies),
        cmocka_unit_test(damped_and_inverted_pendulum_have_their_roots),
        cmocka_unit_test(spatial_pendulum_has_a_double_frequency),
        cmocka_unit_test(motor_current_follows_its_circuit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
