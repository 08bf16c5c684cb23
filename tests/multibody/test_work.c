/* The balance of energy belongs to the motion and not to its output; it is off where a contact was stepped over. */
#include "mechanics.h"

#include <math.h>

/* A ball of 1 kg on a ramp of springs: falls 0.2 m onto a stop of 1e6 N/m, again and again. */
static dae_problem *ball(void)
{
    static const char text[] =
        "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"ball\", \"dimension\": 2, \"gravity\": [0, "
        "-9.81],"
        "  \"bodies\": [ { \"name\": \"ball\", \"mass\": 1, \"inertia\": 1, \"r\": [0, 0.2] } ],"
        "  \"points\": [ { \"name\": \"O\", \"body\": \"ground\", \"r\": [0, 0] }, { \"name\": \"B\", "
        "\"body\": \"ball\", \"r\": [0, 0] } ],"
        "  \"joints\": [ { \"name\": \"J\", \"type\": \"prismatic\", \"a\": \"O\", \"b\": \"B\", \"axis\": "
        "[0, 1] } ],"
        "  \"forces\": [ { \"name\": \"floor\", \"type\": \"stop\", \"joint\": \"J\", \"k\": 1e6, \"c\": 50, "
        "\"min\": 0, \"max\": 10 }, { \"name\": \"wind\", \"type\": \"force\", \"joint\": \"J\", \"value\": "
        "\"-sin(t)\" } ],"
        "  \"simulation\": { \"t1\": 2, \"rtol\": 1e-7, \"atol\": 1e-7 } }";
    dae_error err = {0};
    dae_problem *p = dae_problem_open_text(text, sizeof text - 1, "ball.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    return p;
}

static dae_balance balance_of(const dae_problem *p, const char *method, dae_trajectory how, int points,
                              long *steps)
{
    dae_error err = {0};
    dae_run_options o = dae_run_options_default(p);
    o.options.method = method;
    o.trajectory = how;
    o.points = points;
    dae_run_result *r = dae_run(p, &o, &err);
    if (!r || r->status < 0 || !r->energy) fail_msg("%s: %s", method, r ? r->error.text : err.text);
    dae_balance b = *r->energy;
    if (steps) *steps = r->stats.switches;
    dae_run_destroy(r);
    return b;
}

static void balance_does_not_depend_on_the_output(void **state)
{
    (void)state;
    static const char *const method[] = {"dop853", "radau5", "mexx", "gamd", "dassl"};
    dae_problem *p = ball();
    for (int k = 0; k < 5; k++) {
        long switches;
        dae_balance few = balance_of(p, method[k], DAE_TRAJECTORY_EQUIDISTANT, 20, &switches);
        dae_balance many = balance_of(p, method[k], DAE_TRAJECTORY_EQUIDISTANT, 2000, NULL);
        assert_true(switches >= 10);
        assert_true(few.work == many.work && few.largest == many.largest);
        assert_near(few.start, 9.81 * 0.2, 1e-12);
        assert_near(few.end - few.start - few.work, 0, few.largest * (1 + 1e-9));
        if (!(few.largest < few.allowed))
            fail_msg("%s: off by %g of %g", method[k], few.largest, few.allowed);
        assert_true(few.work < -0.5); /* the damper takes most of it */
    }
    dae_problem_destroy(p);
}

/* Without switches some methods pass the stop within one step, which only the energy shows. */
static void contact_that_was_stepped_over_raises_the_alarm(void **state)
{
    (void)state;
    dae_problem *p = ball();
    p->system.switches = (dae_switches){0};
    dae_balance b = balance_of(p, "mexx", DAE_TRAJECTORY_EQUIDISTANT, 20, NULL);
    if (!(b.largest > b.allowed)) fail_msg("off by %g, allowed %g", b.largest, b.allowed);
    assert_true(b.t > 0.2 && b.t < 2); /* the first contact is at 0.202 */
    assert_string_equal(b.element, "floor");
    dae_problem_destroy(p);
}

/* A force that is not the one of the model. */
static dae_mech_fn *right_force;
static int wrong_force(const dae_mech_point *x, double *f, void *user)
{
    int r = right_force(x, f, user);
    f[1] += 1e-2;
    return r;
}

static void wrong_force_raises_the_alarm(void **state)
{
    (void)state;
    dae_problem *p = ball();
    p->t_end = 0.15; /* before it touches */
    right_force = p->system.mech.force;
    p->system.mech.force = wrong_force;
    p->system.switches =
        (dae_switches){0}; /* sides, joint form and one-pass accelerations have the right force */
    p->system.mech.joint = NULL;
    p->system.mech.accelerations = NULL;
    dae_balance b = balance_of(p, "phem56", DAE_TRAJECTORY_EQUIDISTANT, 20, NULL);
    if (!(b.largest > b.allowed)) fail_msg("off by %g, allowed %g", b.largest, b.allowed);
    assert_string_equal(b.element, "wind"); /* the only one that works */
    dae_problem_destroy(p);
}

/* A Jacobian of the constraints that is not that of g: reactions do work. */
static int (*right_jacobian)(const dae_mech_point *x, double *g, double *G, void *user);
static double wrong_from;
static int wrong_jacobian(const dae_mech_point *x, double *g, double *G, void *user)
{
    int r = right_jacobian(x, g, G, user);
    if (G && x->t >= wrong_from) G[1] += 0.01;
    return r;
}

/* It is the right one up to t = 0.3; where it is wrong from the start the run is refused. */
static void wrong_jacobian_raises_the_alarm(void **state)
{
    (void)state;
    static const char *const method[] = {"phem56", "dop853", "rodas5p"};
    for (int k = 0; k < 4; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_open("models/pendulum.json", NULL, 0, &err);
        if (!p) fail_msg("%s", err.text);
        dae_mech *m = &p->system.mech;
        right_jacobian = m->constraint;
        wrong_from = k < 3 ? 0.3 : 0;
        m->constraint = wrong_jacobian;
        m->G_colptr = m->G_rowind = m->parent = m->row_joint = NULL; /* these have the right one */
        m->constraint_sparse = NULL;
        m->joint = NULL;
        m->accelerations = NULL;
        if (k < 3) {
            dae_balance b = balance_of(p, method[k], DAE_TRAJECTORY_EQUIDISTANT, 20, NULL);
            if (!(b.largest > b.allowed))
                fail_msg("%s: off by %g, allowed %g", method[k], b.largest, b.allowed);
            assert_true(b.t > 0.3);
            assert_string_equal(b.element, "pivot");
        } else {
            dae_run_options o = dae_run_options_default(p);
            dae_run_result *r = dae_run(p, &o, &err);
            assert_int_equal(r ? r->status : err.status, DAE_ERR_INPUT);
            assert_non_null(strstr(r ? r->error.text : err.text, "row 2 of G"));
            dae_run_destroy(r);
        }
        dae_problem_destroy(p);
    }
}

/* The models that are shipped, each with what auto takes for it. */
static void shipped_models_are_silent(void **state)
{
    (void)state;
    static const char *const model[] = {"andrews",
                                        "bricard",
                                        "carousel",
                                        "cart_control",
                                        "double_pendulum",
                                        "drag_sled",
                                        "four_bar",
                                        "hmmwv",
                                        "newtons_cradle",
                                        "peaucellier",
                                        "pendulum",
                                        "parallel_four_bar",
                                        "robot",
                                        "rolling_disc",
                                        "rope",
                                        "rssp",
                                        "slider_crank",
                                        "spherical_pendulum",
                                        "spinning_top",
                                        "truck",
                                        "web_cutter",
                                        "spring_mass_damper",
                                        "stiff_double_pendulum",
                                        "web_cutter_free"};
    for (size_t k = 0; k < sizeof model / sizeof *model; k++) {
        char path[64];
        dae_error err = {0};
        snprintf(path, sizeof path, "models/%s.json", model[k]);
        dae_problem *p = dae_problem_open(path, NULL, 0, &err);
        if (!p) fail_msg("%s: %s", path, err.text);
        dae_balance b = balance_of(p, "auto", DAE_TRAJECTORY_EQUIDISTANT, 10, NULL);
        if (!(b.largest <= b.allowed)) fail_msg("%s: off by %g, allowed %g", path, b.largest, b.allowed);
        dae_problem_destroy(p);
    }
}

/* Dampers of 2e6 N s/m: velocities that are off by the tolerance at the ends of a step are no worse between them. The balance of the motion
 * itself (1e-7) is 2e-4 J; slopes of the ends in the dense output made 542 J of it by hht in this time. */
static void stiff_dampers_do_no_work_between_steps(void **state)
{
    (void)state;
    static const char *const method[] = {"hht", "genalpha"};
    dae_error err = {0};
    dae_problem *p = dae_problem_open("models/hmmwv.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    for (int k = 0; k < 2; k++) {
        dae_run_options o = dae_run_options_default(p);
        o.options.method = method[k];
        o.options.formulation = NULL;
        o.trajectory = DAE_TRAJECTORY_STEPS;
        o.t_end = 0.7;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        assert_int_equal(r->status, DAE_OK);
        assert_non_null(r->energy);
        if (!(r->energy->largest < 40)) fail_msg("%s: %g J", method[k], r->energy->largest);
        dae_run_destroy(r);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balance_does_not_depend_on_the_output),
        cmocka_unit_test(contact_that_was_stepped_over_raises_the_alarm),
        cmocka_unit_test(wrong_force_raises_the_alarm),
        cmocka_unit_test(wrong_jacobian_raises_the_alarm),
        cmocka_unit_test(shipped_models_are_silent),
        cmocka_unit_test(stiff_dampers_do_no_work_between_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
