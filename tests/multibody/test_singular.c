/* A slider-crank of equal lengths at 90 degrees: slider and pivot meet, and two motions cross there (the slider goes on, or it stays and
 * crank and rod turn together). Which one it is is decided by the velocity: crank angle a, rod angle -a, slider at 2 L cos(a), of which one
 * equation for a was derived by hand. Every method goes through, or says that it cannot: no other answer. */
#include "mechanics.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_answer_behind_a_singular_pose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
