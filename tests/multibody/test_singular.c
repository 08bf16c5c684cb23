/* A slider-crank of equal lengths at 90 degrees: slider and pivot meet, and two motions cross there (the slider goes on, or it stays and
 * crank and rod turn together). Which one it is is decided by the velocity: crank angle a, rod angle -a, slider at 2 L cos(a), of which one
 * equation for a was derived by hand. Every method goes through, or says that it cannot: no other answer. */
#include "mechanics.h"

#include <daedalus/experiment.h>

static const double L = 0.2, m1 = 0.5, m2 = 0.4, m3 = 0.8, start = 1, torque = 0.3;

static double acceleration(double a, double w)
{
    double s = sin(a), c = cos(a), I = (m1 + m2) * L * L / 12;
    double M = I + L * L * (m1 / 4 + m2 * (2.25 * s * s + 0.25 * c * c) + 4 * m3 * s * s);
    double slope = L * L * s * c * (4 * m2 + 8 * m3);
    return (torque - (m1 + m2) * 9.81 * L / 2 * c - 0.5 * slope * w * w) / M;
}

/* Angle and speed at t by the classical method of order 4. */
static void reference(double a, double w, double t, double out[2])
{
    const int steps = 100000;
    double h = t / steps;
    for (int i = 0; i < steps; i++) {
        double k1 = acceleration(a, w), w2 = w + h / 2 * k1, k2 = acceleration(a + h / 2 * w, w2);
        double w3 = w + h / 2 * k2, k3 = acceleration(a + h / 2 * w2, w3);
        double w4 = w + h * k3, k4 = acceleration(a + h * w3, w4);
        a += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
        w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    out[0] = a;
    out[1] = w;
}

static mbs_mechanism *crank(double w)
{
    double x = L * cos(start), y = L * sin(start);
    mbs_model *m = mbs_model_create("equal", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    mbs_model_add_body(m, &(mbs_body){.name = "crank",
                                      .mass = m1,
                                      .inertia = {0, 0, m1 * L * L / 12},
                                      .center = {x / 2, y / 2},
                                      .angle = start,
                                      .v = {-y / 2 * w, x / 2 * w},
                                      .omega = {0, 0, w}});
    mbs_model_add_body(m, &(mbs_body){.name = "rod",
                                      .mass = m2,
                                      .inertia = {0, 0, m2 * L * L / 12},
                                      .center = {1.5 * x, y / 2},
                                      .angle = -start,
                                      .v = {-1.5 * y * w, x / 2 * w},
                                      .omega = {0, 0, -w}});
    mbs_model_add_body(
        m, &(mbs_body){
               .name = "slider", .mass = m3, .inertia = {0, 0, 1e-3}, .center = {2 * x}, .v = {-2 * y * w}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J1", .type = "revolute", .b = 1});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J2", .type = "revolute", .a = 1, .b = 2, .at = {x, y}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J3", .type = "revolute", .a = 2, .b = 3, .at = {2 * x}});
    mbs_model_add_point(m, &(mbs_point){.name = "O"});
    mbs_model_add_point(m, &(mbs_point){.name = "S", .body = 3});
    mbs_model_add_joint(
        m, &(mbs_joint){.name = "J4", .type = "prismatic", .point_a = "O", .point_b = "S", .axis = {1}});
    mbs_model_add_force(
        m, &(mbs_force){.name = "drive", .type = "torque", .joint = "J1", .value = {"0.3"}, .count = 1});
    return compile(m);
}

/* 1: right, 0: it said that it cannot. */
static int through(const mbs_mechanism *c, double t, const double *right, const char *method,
                   const char *form, double tol)
{
    double y[64];
    dae_error err = {0};
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.formulation = form;
    opt.rtol = opt.atol = tol;
    opt.max_steps = 20000;
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    if (dae_solve(mbs_mechanism_system(c), &opt, 0, t, y, NULL, &err) < 0) return 0;
    double off = fmax(fabs(y[2] - right[0]), fabs(y[9 + 2] - right[1]) / 10);
    if (!(off < 3e4 * tol)) fail_msg("%s, %s at %g: %.3g off", method, form ? form : "auto", tol, off);
    return 1;
}

static void no_other_answer_behind_a_singular_pose(void **state)
{
    (void)state;
    static const double speed[] = {10, 20, -15};
    static const char *const able[] = {"auto", "mexx", "phem56", "dopri5", "dop853", "bs23"};
    const double t = 0.4; /* two passages and more */
    for (int k = 0; k < 3; k += sanitized_stride) {
        double right[2];
        reference(start, speed[k], t, right);
        mbs_mechanism *c = crank(speed[k]);
        for (double tol = 1e-6; tol > 1e-10; tol /= 1e3) {
            for (int i = 0; i < dae_method_count(); i++) {
                const dae_method_info *m = dae_method_get(i);
                if (m->order_max < 3 || !dae_formulation_choose(m->name)) continue;
                through(c, t, right, m->name, NULL, tol);
                if (dae_formulation_check("joint", m->name, NULL) == DAE_OK)
                    through(c, t, right, m->name, "joint", tol);
            }
            for (size_t i = 0; i < sizeof able / sizeof *able; i++)
                if (!through(c, t, right, able[i], NULL, tol)) fail_msg("%s at %g stopped", able[i], tol);
        }
        mbs_mechanism_destroy(c);
    }
}

/* ---- A governor ------------------------------------------------------------------------------------------------
 *
 * Spindle, two arms and two links of length l, sleeve, all in one plane that turns with the spindle: six rows are redundant, and the direction
 * along which the last pin is turns with the plane. With the angle a of the arms (links: -a), the moment of inertia J(a) about the
 * spindle and H = J w kept,
 *     A(a) a'' = H^2 J'/(2 J^2) - A' a'^2/2 - g l (m_a + 3 m_l + 2 m_s) sin(a).
 * At a = 0 the two arms could part ways: a singular pose. */

static const double gl = 0.3, ga = 0.6, gk = 0.2, gs = 0.8, axial = 1e-3, hub = 0.015, g0 = 9.81;

static double governor_acceleration(double a, double w, double H)
{
    double s = sin(a), c = cos(a), l2 = gl * gl, across = (ga + gk) * l2 * (1.0 / 12 + 0.25);
    double J = hub + 2 * (across * s * s + 2 * axial * c * c), dJ = 4 * s * c * (across - 2 * axial);
    double A =
        2 * ((ga + gk) * l2 / 12 + ga * l2 / 4 + gk * l2 * (c * c / 4 + 2.25 * s * s)) + 4 * gs * l2 * s * s;
    double dA = 8 * gk * l2 * s * c + 8 * gs * l2 * s * c;
    return (H * H * dJ / (2 * J * J) - dA * w * w / 2 - g0 * gl * (ga + 3 * gk + 2 * gs) * s) / A;
}

static double governor_angle(double a, double w, double turn, double t)
{
    const int steps = 20000;
    double s = sin(a), c = cos(a), across = (ga + gk) * gl * gl * (1.0 / 12 + 0.25), h = t / steps;
    double H = turn * (hub + 2 * (across * s * s + 2 * axial * c * c));
    for (int i = 0; i < steps; i++) {
        double k1 = governor_acceleration(a, w, H), w2 = w + h / 2 * k1;
        double k2 = governor_acceleration(a + h / 2 * w, w2, H), w3 = w + h / 2 * k2;
        double k3 = governor_acceleration(a + h / 2 * w2, w3, H), w4 = w + h * k3;
        double k4 = governor_acceleration(a + h * w3, w4, H);
        a += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
        w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return a;
}

/* A rod with the direction (x, 0, z) from its begin to its end, which turns with `rate` about y and with the spindle. */
static void add_rod(mbs_model *m, const char *name, double mass, const double r[3], const double v[3],
                    double x, double z, double rate, double turn)
{
    double a = atan2(-z, x);
    mbs_model_add_body(m, &(mbs_body){.name = name,
                                      .mass = mass,
                                      .inertia = {axial, mass * gl * gl / 12, mass * gl * gl / 12},
                                      .center = {r[0], 0, r[2]},
                                      .q = {cos(a / 2), 0, sin(a / 2), 0},
                                      .v = {v[0], turn * r[0], v[2]},
                                      .omega = {-turn * sin(a), rate, turn * cos(a)}});
}

static mbs_mechanism *governor(double a, double w, double turn)
{
    double s = sin(a), c = cos(a);
    mbs_model *m = mbs_model_create("governor", MBS_SPATIAL);
    mbs_model_set_gravity(m, 0, 0, -g0);
    mbs_model_add_body(
        m, &(mbs_body){.name = "spindle", .mass = 1, .inertia = {0.02, 0.02, 0.01}, .omega = {0, 0, turn}});
    for (int k = 1; k >= -1; k -= 2) {
        add_rod(m, k > 0 ? "arm1" : "arm2", ga, (double[]){k * gl / 2 * s, 0, -gl / 2 * c},
                (double[]){k * gl / 2 * c * w, 0, gl / 2 * s * w}, k * s, -c, -k * w, turn);
        add_rod(m, k > 0 ? "link1" : "link2", gk, (double[]){k * gl / 2 * s, 0, -1.5 * gl * c},
                (double[]){k * gl / 2 * c * w, 0, 1.5 * gl * s * w}, -k * s, -c, k * w, turn);
    }
    mbs_model_add_body(m, &(mbs_body){.name = "sleeve",
                                      .mass = gs,
                                      .inertia = {0.01, 0.01, 0.005},
                                      .center = {0, 0, -2 * gl * c},
                                      .v = {0, 0, 2 * gl * s * w},
                                      .omega = {0, 0, turn}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "turn", .type = "revolute", .b = 1, .axis = {0, 0, 1}});
    for (int k = 0; k < 2; k++) {
        static const char *const name[] = {"A1", "B1", "C1", "A2", "B2", "C2"};
        double side = k ? -1 : 1, pin[3] = {side * gl * s, 0, -gl * c};
        mbs_model_add_joint(
            m,
            &(mbs_joint){.name = name[3 * k], .type = "revolute", .a = 1, .b = 2 + 2 * k, .axis = {0, 1, 0}});
        mbs_joint elbow = {.name = name[3 * k + 1],
                           .type = "revolute",
                           .a = 2 + 2 * k,
                           .b = 3 + 2 * k,
                           .at = {pin[0], 0, pin[2]},
                           .axis = {0, 1, 0}};
        mbs_model_add_joint(m, &elbow);
        mbs_model_add_joint(m, &(mbs_joint){.name = name[3 * k + 2],
                                            .type = "revolute",
                                            .a = 6,
                                            .b = 3 + 2 * k,
                                            .at = {0, 0, -2 * gl * c},
                                            .axis = {0, 1, 0}});
    }
    mbs_model_add_joint(
        m, &(mbs_joint){.name = "slide", .type = "prismatic", .a = 1, .b = 6, .axis = {0, 0, 1}});
    return compile(m);
}

/* 1: the height of the sleeve is right, 0: it said that it cannot. */
static int governor_runs(const mbs_mechanism *c, double t, double height, const char *method, double tol)
{
    double y[78];
    dae_error err = {0};
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = opt.atol = tol;
    opt.max_steps = 20000;
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    if (dae_solve(mbs_mechanism_system(c), &opt, 0, t, y, NULL, &err) < 0) return 0;
    if (!(fabs(y[37] - height) < 300 * tol))
        fail_msg("%s at %g: %.3g off", method, tol, fabs(y[37] - height));
    return 1;
}

/* Two thirds of a turn, by every method. */
static void redundant_directions_turn_with_the_mechanism(void **state)
{
    (void)state;
    const double a = 0.7, w = 3, turn = 18, t = 0.3;
    double height = -2 * gl * cos(governor_angle(a, w, turn, t));
    mbs_mechanism *c = governor(a, w, turn);
    assert_int_equal(mbs_mechanism_topology(c).redundant, 6);
    for (int i = 0; i < dae_method_count(); i += sanitized_stride) {
        const dae_method_info *m = dae_method_get(i);
        if (m->order_max < 3 || !dae_formulation_choose(m->name)) continue;
        if (!governor_runs(c, t, height, m->name, 1e-8)) fail_msg("%s stopped", m->name);
    }
    mbs_mechanism_destroy(c);
}

static void governor_passes_its_singular_pose(void **state)
{
    (void)state;
    static const double start_of[][4] = {{0.7, 0, 8, 0.5}, {0.5, -2, 10, 0.3}, {0.7, -4, 5, 0.3}};
    static const char *const able[] = {"auto", "mexx", "dop853", "phem56"};
    for (size_t k = 0; k < 3; k += sanitized_stride) {
        const double *s = start_of[k];
        double height = -2 * gl * cos(governor_angle(s[0], s[1], s[2], s[3]));
        mbs_mechanism *c = governor(s[0], s[1], s[2]);
        for (double tol = 1e-6; tol > 1e-10; tol /= 10) {
            for (size_t i = 0; i < sizeof able / sizeof *able; i++)
                if (!governor_runs(c, s[3], height, able[i], tol)) fail_msg("%s at %g stopped", able[i], tol);
        }
        for (int i = 0; i < dae_method_count(); i++) {
            const dae_method_info *m = dae_method_get(i);
            if (m->order_max < 3 || !dae_formulation_choose(m->name)) continue;
            governor_runs(c, s[3], height, m->name, 1e-6);
        }
        mbs_mechanism_destroy(c);
    }
}

/* ---- Forms that nothing holds on their branch ------------------------------------------------------------------
 *
 * A parallelogram: cranks of length L, d apart; where they lie on the line of the pivots it can go on as an antiparallelogram. */

static const double pivots = 0.5, coupler = 0.7;

static double parallel_angle(double a, double w, double t)
{
    const int steps = 20000;
    double h = t / steps, M = 2 * m1 * L * L / 3 + coupler * L * L;
#define ACCELERATION(a) ((torque - (m1 + coupler) * 9.81 * L * cos(a)) / M)
    for (int i = 0; i < steps; i++) {
        double k1 = ACCELERATION(a), k2 = ACCELERATION(a + h / 2 * w),
               k3 = ACCELERATION(a + h / 2 * (w + h / 2 * k1)), k4 = ACCELERATION(a + h * (w + h / 2 * k2));
        a += h * w + h * h / 6 * (k1 + k2 + k3);
        w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
#undef ACCELERATION
    return a;
}

static mbs_mechanism *parallelogram(double w)
{
    double x = L * cos(start), y = L * sin(start);
    mbs_model *m = mbs_model_create("parallelogram", MBS_PLANAR);
    mbs_model_set_gravity(m, 0, -9.81, 0);
    for (int k = 0; k < 2; k++)
        mbs_model_add_body(m, &(mbs_body){.name = k ? "rocker" : "crank",
                                          .mass = m1,
                                          .inertia = {0, 0, m1 * L * L / 12},
                                          .center = {k * pivots + x / 2, y / 2},
                                          .angle = start,
                                          .v = {-y / 2 * w, x / 2 * w},
                                          .omega = {0, 0, w}});
    mbs_model_add_body(m, &(mbs_body){.name = "coupler",
                                      .mass = coupler,
                                      .inertia = {0, 0, coupler * pivots * pivots / 12},
                                      .center = {x + pivots / 2, y},
                                      .v = {-y * w, x * w}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J1", .type = "revolute", .b = 1});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J2", .type = "revolute", .a = 1, .b = 3, .at = {x, y}});
    mbs_model_add_joint(
        m, &(mbs_joint){.name = "J3", .type = "revolute", .a = 3, .b = 2, .at = {x + pivots, y}});
    mbs_model_add_joint(m, &(mbs_joint){.name = "J4", .type = "revolute", .b = 2, .at = {pivots}});
    mbs_model_add_force(
        m, &(mbs_force){.name = "drive", .type = "torque", .joint = "J1", .value = {"0.3"}, .count = 1});
    return compile(m);
}

static const char *const astray[] = {"index1", "baumgarte", "index2", "index3", "statespace"};
enum { ASTRAY = sizeof astray / sizeof *astray };

typedef struct outcome {
    int ended, warned;
    double off; /* of component i */
} outcome;

static outcome watched(const mbs_mechanism *c, double t, const char *method, const char *form, double tol,
                       int i, double right)
{
    double y[100];
    dae_error err = {0};
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    dae_problem p = {.system = *mbs_mechanism_system(c), .t_end = t, .y0 = y};
    dae_simulation_options o = dae_simulation_options_default(&p);
    o.options.method = method;
    o.options.formulation = form;
    o.options.rtol = o.options.atol = tol;
    o.options.max_steps = 3000;
    dae_simulation *s = dae_simulation_open(&p, &o, &err);
    if (!s) fail_msg("%s, %s: %s", form, method, err.text);
    assert_string_equal(dae_simulation_warning(s), "");
    int status = dae_simulation_start(s, &err);
    if (status >= 0) status = dae_simulation_advance(s, t, &err);
    outcome out = {status >= 0, dae_simulation_warning(s)[0] != 0, fabs(dae_simulation_state(s)[i] - right)};
    if (out.warned && !strstr(dae_simulation_warning(s), "singular pose"))
        fail_msg("%s", dae_simulation_warning(s));
    dae_simulation_close(s);
    return out;
}

/* An angle that is off by a radian is no error of a method of order 3 and more. */
static void another_answer_is_told(void **state)
{
    (void)state;
    static const char *const method[] = {"dopri5", "dop853", "bs23",  "radau5", "rodas5p",
                                         "pside",  "mebdfi", "cvode", "dassl"};
    int told[ASTRAY] = {0};
    for (int mechanism = 0; mechanism < 2; mechanism++) {
        for (int turn = 0; turn < 2; turn++) {
            double w = turn ? -15 : 10, t = 0.4, right[2];
            if (mechanism) right[0] = parallel_angle(start, w, t);
            else reference(start, w, t, right);
            mbs_mechanism *c = mechanism ? parallelogram(w) : crank(w);
            int angle = mechanism ? 5 : 2; /* of the rocker; of the crank */
            for (int f = 0; f < ASTRAY; f++) {
                for (size_t i = (size_t)turn; i < sizeof method / sizeof *method; i += sanitized_stride) {
                    if (!dae_method_find(method[i]) || dae_formulation_check(astray[f], method[i], NULL))
                        continue;
                    for (double tol = 1e-4; tol > 1e-7; tol /= 100) {
                        outcome o = watched(c, t, method[i], astray[f], tol, angle, right[0]);
                        if (o.ended && o.off > 1 && !o.warned)
                            fail_msg("%s by %s, %s at %g: off by %g, and not a word",
                                     mechanism ? "parallelogram" : "crank", method[i], astray[f], tol, o.off);
                        told[f] += o.ended && o.off > 1;
                    }
                }
            }
            mbs_mechanism_destroy(c);
        }
    }
    for (int f = 0; f < 3 && sanitized_stride == 1; f++) /* else the test tests nothing */
        if (!told[f]) fail_msg("%s has found no other branch", astray[f]);
}

/* Nothing is said before the pose, nor of forms that stay on their branch. */
static void nothing_is_told_elsewhere(void **state)
{
    (void)state;
    static const char *const method[] = {"dopri5", "radau5", "mebdfi"};
    mbs_mechanism *c[] = {crank(10), parallelogram(-15), governor(0.7, 0, 8)};
    const double before[] = {0.05, 0.05, 0.2}, beyond[] = {0.1, 0.1, 0.3};
    for (int k = 0; k < 3; k++) {
        for (int f = 0; f < ASTRAY; f++) {
            for (int i = 0; i < 3; i += sanitized_stride) {
                if (dae_formulation_check(astray[f], method[i], NULL)) continue;
                for (double tol = 1e-4; tol > 1e-9; tol /= 100)
                    if (watched(c[k], before[k], method[i], astray[f], tol, 0, 0).warned)
                        fail_msg("mechanism %d by %s, %s at %g: warned before its pose", k, method[i],
                                 astray[f], tol);
            }
        }
        for (int i = 0; i < 3; i += sanitized_stride) {
            const char *form = i ? "ggl" : "joint";
            if (watched(c[k], beyond[k], method[i], form, 1e-6, 0, 0).warned)
                fail_msg("mechanism %d by %s, %s: warned", k, method[i], form);
        }
        mbs_mechanism_destroy(c[k]);
    }
}

/* A chain of point masses whips, and has no such pose: its rows are as independent as those of bars. */
static void chains_of_points_are_not_warned_of(void **state)
{
    (void)state;
    static const char chain[] =
        "{\"daedalus\":1,\"kind\":\"mechanism\",\"name\":\"whip\",\"dimension\":2,\"gravity\":[0,-9.81],"
        "\"bodies\":[{\"repeat\":{\"i\":\"1..3\"},\"name\":\"b{i}\",\"mass\":1,\"inertia\":1e-5,\"r\":[\"{i}"
        "\",0]}],"
        "\"points\":[{\"name\":\"O\",\"body\":\"ground\",\"r\":[0,0]},"
        "{\"repeat\":{\"i\":\"1..3\"},\"name\":\"s{i}\",\"body\":\"b{i}\",\"r\":[-1,0]},"
        "{\"repeat\":{\"i\":\"1..3\"},\"name\":\"e{i}\",\"body\":\"b{i}\",\"r\":[0,0]}],"
        "\"joints\":[{\"name\":\"J1\",\"type\":\"revolute\",\"a\":\"O\",\"b\":\"s1\"},"
        "{\"repeat\":{\"i\":\"2..3\"},\"name\":\"J{i}\",\"type\":\"revolute\",\"a\":\"e{i-1}\",\"b\":\"s{i}"
        "\"}],"
        "\"simulation\":{\"t1\":2}}";
    dae_error err = {0};
    dae_problem *p = dae_problem_open(chain, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    for (int f = 0; f < ASTRAY; f++) {
        static const char *const method[] = {"dop853", "radau5", "mebdfdae"};
        for (int i = 0; i < 3; i++) {
            if (dae_formulation_check(astray[f], method[i], NULL)) continue;
            dae_run_options o = dae_run_options_default(p);
            o.options.formulation = astray[f];
            o.options.method = method[i];
            o.options.rtol = o.options.atol = 1e-4;
            dae_run_result *r = dae_run(p, &o, &err);
            assert_non_null(r);
            if (strstr(r->warnings, "singular")) fail_msg("%s, %s: %s", method[i], astray[f], r->warnings);
            dae_run_destroy(r);
        }
    }
    dae_problem_destroy(p);
}

/* Not where mechanisms have no such pose (the cradle's balls hit each other). */
static void warning_names_time_and_joints(void **state)
{
    (void)state;
    static const char *const model[] = {"four_bar", "slider_crank", "peaucellier", "andrews",
                                        "newtons_cradle"};
    dae_error err = {0};
    char path[64];
    for (size_t k = 0; k < sizeof model / sizeof *model; k += sanitized_stride) {
        snprintf(path, sizeof path, "models/%s.json", model[k]);
        dae_problem *p = dae_problem_open(path, NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        for (int f = 0; f < 3; f++) {
            dae_run_options o = dae_run_options_default(p);
            o.options.formulation = astray[f];
            o.options.method = f < 2 ? "dopri5" : "radau5";
            dae_run_result *r = dae_run(p, &o, &err);
            assert_non_null(r);
            if (strstr(r->warnings, "singular")) fail_msg("%s, %s: %s", model[k], astray[f], r->warnings);
            dae_run_destroy(r);
        }
        dae_problem_destroy(p);
    }
    dae_problem *p = dae_problem_open("models/parallel_four_bar.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_run_options o = dae_run_options_default(p);
    o.options.formulation = "baumgarte";
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    double t = 0;
    int place = sscanf(r->warnings, "t = %lf", &t) == 1;
    /* cranks on the line of the pivots: at half a turn, and at a whole one */
    if (!place || fmin(fabs(t - 0.722), fabs(t - 1.245)) > 2e-3 || !strstr(r->warnings, "\"J3\"") ||
        !strstr(r->warnings, "singular pose"))
        fail_msg("\"%s\"", r->warnings);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* Steps that grow and turn no body over: the accelerations alone tell that something happened. */
static void a_pose_that_long_steps_pass_is_told(void **state)
{
    static const double factor[] = {0.8, 0.9, 0.97, 1, 1.1, 1.25};
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_open("models/parallel_four_bar.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    for (size_t k = 0; k < sizeof factor / sizeof *factor; k++) {
        dae_run_options o = dae_run_options_default(p);
        o.options.formulation = "baumgarte";
        o.options.method = "dopri5";
        o.options.rtol = o.options.atol = factor[k] * 1e-5;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        double t = 0;
        if (sscanf(r->warnings, "t = %lf", &t) != 1 || fabs(t - 0.722) > 6e-3)
            fail_msg("rtol = %g: \"%s\"", o.options.rtol, r->warnings);
        dae_run_destroy(r);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_answer_behind_a_singular_pose),
        cmocka_unit_test(redundant_directions_turn_with_the_mechanism),
        cmocka_unit_test(governor_passes_its_singular_pose),
        cmocka_unit_test(another_answer_is_told),
        cmocka_unit_test(nothing_is_told_elsewhere),
        cmocka_unit_test(chains_of_points_are_not_warned_of),
        cmocka_unit_test(warning_names_time_and_joints),
        cmocka_unit_test(a_pose_that_long_steps_pass_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
