/* genalpha, hht: order 2 in p, v and lambda at constant steps and under control; damping; rotations, nonholonomic and
 * moving constraints, external dynamics, checkpoints, the matrix without stiffness. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include "method/mechanisms.h"

/* ---- Runs ------------------------------------------------------------------------------------------ */

typedef struct run {
    const char *method, *name, *value;
    double tol, h; /* h > 0: constant step */
} run;

static dae_integrator *start(const dae_system *sys, run r, double t_end, const double *y0)
{
    dae_error err = {0};
    dae_setting setting = {r.name, r.value};
    dae_options opt = dae_options_default();
    opt.method = r.method;
    opt.rtol = opt.atol = r.tol > 0 ? r.tol : 1e-8;
    opt.fixed_step = r.h;
    opt.setting = &setting;
    opt.nsetting = r.name != NULL;
    dae_integrator *it = dae_integrator_create(sys, &opt, &err);
    if (!it || dae_integrator_start(it, 0, t_end, y0, NULL, &err)) fail_msg("%s", err.text);
    return it;
}

static void finish(dae_integrator *it, double t)
{
    dae_error err = {0};
    if (dae_integrator_advance(it, t, &err) < 0) fail_msg("%s", err.text);
}

static double largest(const double *a, const double *b, int n)
{
    double e = 0;
    for (int i = 0; i < n; i++) e = fmax(e, fabs(a[i] - b[i]));
    return e;
}

/* Errors of p, v, the carried acceleration (it holds the step's own multiplier) and the told multiplier at t = 2. */
static void pendulum_errors(run r, double error[4])
{
    double exact[4] = {1, 0, 0, 0}, y[4], yp[4], a[2], lambda;
    dae_options opt = dae_options_default();
    opt.method = "mexx";
    opt.rtol = opt.atol = 1e-13;
    assert_int_equal(dae_solve(&pendulum, &opt, 0, 2, exact, NULL, NULL), DAE_OK);
    double l = -3 * exact[1], exact_a[2] = {-l * exact[0], -1 - l * exact[1]};
    dae_integrator *it = start(&pendulum, r, 2, (double[]){1, 0, 0, 0});
    finish(it, 2);
    dae_integrator_interpolate(it, 2, y, yp);
    assert_int_equal(dae_integrator_multipliers(it, 2, a, &lambda), DAE_OK);
    error[0] = largest(y, exact, 2);
    error[1] = largest(y + 2, exact + 2, 2);
    error[2] = largest(yp + 2, exact_a, 2);
    error[3] = fabs(lambda - l);
    assert_near(y[0] * y[0] + y[1] * y[1], 1, 1e-9);
    assert_near(y[0] * y[2] + y[1] * y[3], 0, 1e-14);
    dae_integrator_destroy(it);
}

static const run kinds[] = {{.method = "genalpha"},
                            {"genalpha", "rho", "0", 0, 0},
                            {.method = "hht"},
                            {"hht", "alpha", "-0.3", 0, 0},
                            {"genalpha", "matrix", "mass", 0, 0}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void pendulum_shows_order_2_in_p_v_and_lambda(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        double error[2][4];
        for (int m = 0; m < 2; m++) {
            run r = kinds[k];
            r.h = m ? 1.0 / 400 : 1.0 / 200;
            pendulum_errors(r, error[m]);
        }
        for (int i = 0; i < 4; i++) assert_between(log2(error[0][i] / error[1][i]), 1.95, 2.07);
        assert_between(error[1][0], 3e-6, 3e-5);
    }
}

/* Seven bodies in descriptor form, 1500 and 3000 steps: positions, velocities, multipliers. */
static void seven_bodies_show_order_2(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
    static const char *const method[] = {"genalpha", "hht"};
    double y[14], l[6], a[7], yp[14], exact_l[6], exact_a[7];
    dae_integrator *it = start(&p->system, (run){.method = "mexx", .tol = 1e-12}, 0.03, p->y0);
    finish(it, 0.03);
    memcpy(y, dae_integrator_state(it), sizeof y);
    assert_int_equal(dae_integrator_multipliers(it, 0.03, exact_a, exact_l), DAE_OK);
    dae_integrator_destroy(it);
    for (int k = 0; k < 2; k++) {
        double error[2][4];
        for (int m = 0; m < 2; m++) {
            double z[14];
            it = start(&p->system, (run){.method = method[k], .tol = 1e-6, .h = 0.03 / (m ? 3000 : 1500)},
                       0.03, p->y0);
            finish(it, 0.03);
            dae_integrator_interpolate(it, 0.03, z, yp);
            assert_int_equal(dae_integrator_multipliers(it, 0.03, a, l), DAE_OK);
            error[m][0] = largest(z, y, 7);
            error[m][1] = largest(z + 7, y + 7, 7);
            error[m][2] = largest(l, exact_l, 6);
            error[m][3] = largest(yp + 7, exact_a, 7);
            dae_integrator_destroy(it);
        }
        for (int i = 0; i < 4; i++) assert_between(log2(error[0][i] / error[1][i]), 1.95, 2.2);
        assert_true(error[1][0] < 1e-4 && error[1][1] < 0.04 && error[1][2] < 0.01);
    }
    dae_problem_destroy(p);
}

/* Under control the error follows tol^(2/3), in the multipliers too, and few steps are refused. */
static void tolerance_controls_positions_and_multipliers(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        double error[2][4];
        for (int m = 0; m < 2; m++)
            pendulum_errors((run){.method = k ? "hht" : "genalpha", .tol = m ? 1e-8 : 1e-5}, error[m]);
        for (int i = 0; i < 4; i++) assert_between(error[0][i] / error[1][i], 60, 160); /* 100 */
        assert_true(error[0][0] < 2e-3 && error[0][2] < 6e-3);
    }
    dae_error err = {0};
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
    dae_integrator *it = start(&p->system, (run){.method = "hht", .tol = 1e-5}, 0.03, p->y0);
    finish(it, 0.03);
    const dae_stats *st = dae_integrator_stats(it);
    assert_between((double)st->accepted, 180, 250);
    assert_true(st->rejected <= 10 && st->jac < st->accepted / 2);
    assert_true(largest(dae_integrator_state(it), p->reference, 7) < 6e-3);
    dae_integrator_destroy(it);
    dae_problem_destroy(p);
}

/* ---- Other systems --------------------------------------------------------------------------------- */

static void skate_and_driven_mass_show_order_2(void **state)
{
    (void)state;
    double error[2][2];
    for (int m = 0; m < 2; m++) {
        run r = {.method = "genalpha", .h = m ? 1.0 / 400 : 1.0 / 200};
        dae_integrator *it = start(&skate, r, 2, (double[]){0, 0, 0, 0, 0, 1});
        finish(it, 2);
        const double *y = dae_integrator_state(it);
        error[m][0] = largest(y, (double[]){sin(2) * sin(2) / 2, 1 - sin(4) / 4, 2}, 3);
        dae_integrator_destroy(it);
        it = start(&driven, r, 2, (double[]){0, 0, 1, 0, 0});
        finish(it, 2);
        y = dae_integrator_state(it);
        assert_near(y[0], sin(2), 1e-13);
        assert_near(y[1], -2, 1e-12);
        error[m][1] = fabs(y[4] - 1 + cos(2));
        dae_integrator_destroy(it);
    }
    for (int i = 0; i < 2; i++) assert_between(log2(error[0][i] / error[1][i]), 1.95, 2.05);
    assert_true(error[1][0] < 4e-6 && error[1][1] < 1e-6);
}

/* Heavy top on Euler parameters: angular velocity at t = 1 against mexx. */
static void heavy_top_shows_order_2(void **state)
{
    (void)state;
    static const double y0[13] = {0, 1, 0, 1, 0, 0, 0, 0.461538, 0, 0, 0, 15, -0.461538};
    double error[2], exact[13];
    dae_options opt = dae_options_default();
    opt.method = "mexx";
    opt.rtol = opt.atol = 1e-11;
    memcpy(exact, y0, sizeof exact);
    assert_int_equal(dae_solve(&heavy_top, &opt, 0, 1, exact, NULL, NULL), DAE_OK);
    for (int m = 0; m < 2; m++) {
        dae_integrator *it =
            start(&heavy_top, (run){"genalpha", "rho", "0.9", 1e-7, m ? 1.0 / 800 : 1.0 / 400}, 1, y0);
        finish(it, 1);
        const double *y = dae_integrator_state(it);
        error[m] = largest(y + 10, exact + 10, 3);
        assert_near(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6], 1, 1e-14);
        assert_near(top_energy(y) / top_energy(y0), 1, 1e-3);
        dae_integrator_destroy(it);
    }
    assert_between(log2(error[0] / error[1]), 1.9, 2.1);
}

/* rho = 0 damps what is fast, rho = 0.99 hardly: a spring of 1e8 N/m along a line, h = 160 periods. */
static int stiff_spring(const dae_mech_point *x, double *f, void *user)
{
    (void)user;
    f[0] = -1e8 * x->p[0];
    return 0;
}

static void rho_sets_the_damping_of_fast_vibrations(void **state)
{
    (void)state;
    static const dae_system spring = {.kind = DAE_KIND_MECH,
                                      .mech = {.np = 1, .nv = 1, .force = stiff_spring}};
    static const char *const rho[] = {"0", "0.5", "0.9"};
    static const double bound[][2] = {{-1, 1e-20}, {1e-7, 1e-4}, {0.1, 2}}; /* rho^20, times a few */
    for (int k = 0; k < 3; k++) {
        dae_integrator *it =
            start(&spring, (run){"genalpha", "rho", rho[k], 1e-6, 0.1}, 3, (double[]){1e-3, 0});
        double before = 0, after = 0;
        finish(it, 1);
        before = fabs(dae_integrator_state(it)[0]);
        finish(it, 3);
        after = fabs(dae_integrator_state(it)[0]);
        assert_true(after / before > bound[k][0] && after / before < bound[k][1]);
        dae_integrator_destroy(it);
    }
}

/* 150 links, 750 unknowns, with hinges of 500 N m and 2 N m s: the matrix gets their stiffness by its pattern where the iteration without
 * fails. The same motion as with the dense one, and a checkpoint in between changes no bit. */
static void a_stiff_chain_of_150_links(void **state)
{
    (void)state;
    static const char model[] = "{ \"daedalus\": 1, \"kind\": \"mechanism\", \"name\": \"chain\", "
                                "\"dimension\": 2, \"gravity\": [0, -9.81],"
                                " \"parameters\": {\"L\": 0.02},"
                                " \"bodies\": [ { \"repeat\": {\"i\": \"1..150\"}, \"name\": \"b{i}\", "
                                "\"mass\": 0.02, \"inertia\": \"0.02*L^2/12\","
                                "   \"r\": [\"({i} - 0.5)*L\", 0] } ],"
                                " \"points\": [ { \"name\": \"e0\", \"body\": \"ground\", \"r\": [0, 0] },"
                                "   { \"repeat\": {\"i\": \"1..150\"}, \"name\": \"a{i}\", \"body\": "
                                "\"b{i}\", \"r\": [\"-L/2\", 0] },"
                                "   { \"repeat\": {\"i\": \"1..150\"}, \"name\": \"e{i}\", \"body\": "
                                "\"b{i}\", \"r\": [\"L/2\", 0] } ],"
                                " \"joints\": [ { \"repeat\": {\"i\": \"1..150\"}, \"name\": \"J{i}\", "
                                "\"type\": \"revolute\", \"a\": \"e{i-1}\","
                                "   \"b\": \"a{i}\" } ],"
                                " \"forces\": [ { \"repeat\": {\"i\": \"1..150\"}, \"name\": \"k{i}\", "
                                "\"type\": \"torsion\", \"joint\": \"J{i}\","
                                "   \"k\": 500, \"c\": 2 } ],"
                                " \"simulation\": { \"t1\": 0.2 } }";
    static const char *const method[] = {"genalpha", "hht"};
    dae_error err = {0};
    dae_problem *p = dae_problem_open_text(model, strlen(model), "chain.json", NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    for (int k = 0; k < 2; k++) {
        run by_itself = {.method = method[k], .tol = 1e-4}, dense = {method[k], "matrix", "full", 1e-4, 0};
        dae_integrator *it = start(&p->system, by_itself, 0.2, p->y0),
                       *other = start(&p->system, dense, 0.2, p->y0),
                       *later = start(&p->system, by_itself, 0.2, p->y0);
        finish(it, 0.1);
        size_t size = dae_integrator_save(it, NULL, 0);
        void *saved = malloc(size);
        assert_true(saved && dae_integrator_save(it, saved, size) == size);
        if (dae_integrator_load(later, saved, size, &err)) fail_msg("%s", err.text);
        finish(it, 0.2);
        finish(later, 0.2);
        finish(other, 0.2);
        assert_true(dae_integrator_stats(it)->accepted < 100);
        assert_true(dae_integrator_stats(it)->newton_failures < 5);
        assert_near(largest(dae_integrator_state(it), dae_integrator_state(later), 900), 0, 0);
        assert_near(largest(dae_integrator_state(it), dae_integrator_state(other), 450), 0, 1e-3);
        free(saved);
        dae_integrator_destroy(it);
        dae_integrator_destroy(other);
        dae_integrator_destroy(later);
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pendulum_shows_order_2_in_p_v_and_lambda),
        cmocka_unit_test(seven_bodies_show_order_2),
        cmocka_unit_test(tolerance_controls_positions_and_multipliers),
        cmocka_unit_test(skate_and_driven_mass_show_order_2),
        cmocka_unit_test(heavy_top_shows_order_2),
        cmocka_unit_test(rho_sets_the_damping_of_fast_vibrations),
        cmocka_unit_test(a_stiff_chain_of_150_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
