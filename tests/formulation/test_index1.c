/* index1, baumgarte: accelerations inside the right-hand side, drift, projection, stabilization. */
#include "formulation/mechanisms.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

static dae_status solve(const mechanism *m, const char *method, const char *form, const dae_setting *setting,
                        int nsetting, double tol, double *y, dae_stats *stats)
{
    dae_options opt = dae_options_default();
    dae_error err = {0};
    opt.method = method;
    opt.formulation = form;
    opt.rtol = opt.atol = tol;
    opt.setting = setting;
    opt.nsetting = nsetting;
    memcpy(y, m->y0, sizeof m->y0);
    dae_status s = dae_solve(&m->sys, &opt, 0, m->t_end, y, stats, &err);
    if (s < 0) fail_msg("%s, %s, %s: %s", m->name, method, form, err.text);
    return s;
}

static const dae_setting project[] = {{"project", "1"}};

/* A pendulum of length 1 and period about 2 without damping, as the sheet's figures are for. */
static int weight(const dae_mech_point *x, double *f, void *user)
{
    (void)x;
    (void)user;
    f[0] = 0;
    f[1] = -GRAVITY;
    return 0;
}

static mechanism plain_pendulum(double t_end)
{
    mechanism m = {.name = "plain pendulum", .t_end = t_end, .y0 = {1, 0, 0, 0}};
    m.sys.kind = DAE_KIND_MECH;
    m.sys.mech = (dae_mech){
        .np = 2, .nv = 2, .ng = 1, .nlambda = 1, .force = weight, .constraint = pendulum_constraint};
    return m;
}

/* a and lambda of a pendulum by hand: lambda = |v|^2 + g . p, a = -g e_y - lambda p. */
static void right_hand_side_has_accelerations(void **state)
{
    (void)state;
    mechanism m = plain_pendulum(1);
    double y[4] = {0.6, -0.8, 2.4, 1.8}, out[4], z[4], a[2], lambda[1];
    double want = 9 - GRAVITY * -0.8;
    dae_formulation *f = dae_formulation_create(&m.sys, "index1", NULL, 0, NULL);
    const dae_system *s = dae_formulation_system(f);
    assert_int_equal(s->kind, DAE_KIND_ODE);
    assert_int_equal(s->structure.second_order, 2);
    assert_int_equal(dae_formulation_lift(f, 0, y, z, NULL), DAE_OK);
    assert_int_equal(s->ode.f(0, z, out, s->ode.user), 0);
    assert_true(out[0] == 2.4 && out[1] == 1.8);
    assert_near(out[2], -want * 0.6, 1e-9); /* gamma comes from differences */
    assert_near(out[3], -GRAVITY + want * 0.8, 1e-9);
    assert_int_equal(dae_formulation_lower(f, 0, z, y, a, lambda, NULL), DAE_OK);
    assert_near(lambda[0], want, 1e-9);
    assert_near(a[0], out[2], 1e-14);
    dae_formulation_destroy(f);
}

/* Friction: Newton for lambda; the bead's by hand: lambda (1 + 0) = |v|^2 + f_0 . p since friction is tangential. */
static void multipliers_in_the_force_are_solved_for(void **state)
{
    (void)state;
    mechanism m = mechanism_get(BEAD);
    double pvu[4], a[2], lambda[1], y[4];
    dae_formulation *f = dae_formulation_create(&m.sys, "index1", NULL, 0, NULL);
    assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, NULL), DAE_OK);
    assert_int_equal(dae_formulation_lower(f, 0, y, pvu, a, lambda, NULL), DAE_OK);
    double want = 25 + 0.8;
    assert_near(lambda[0], want, 1e-8);
    assert_near(a[0], -want * 0.6 + bead_friction * want * -0.8, 1e-8);
    assert_near(a[1], -1 + want * 0.8 - bead_friction * want * 0.6, 1e-8);
    dae_formulation_destroy(f);
}

/* Every saddle-point mode that takes the system gives the same right-hand side. */
static void saddle_modes_agree(void **state)
{
    static const char *const mode[] = {"auto",       "dense_lu",          "dense_ldlt", "range_space",
                                       "null_space", "block_elimination", "sparse_lu"};
    (void)state;
    mechanism m = mechanism_get(FOURBAR);
    double want[6], out[6], y[6];
    for (size_t k = 0; k < sizeof mode / sizeof *mode; k++) {
        dae_setting s = {"saddle", mode[k]};
        dae_formulation *f = dae_formulation_create(&m.sys, "index1", &s, 1, NULL);
        assert_non_null(f);
        assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, NULL), DAE_OK);
        assert_int_equal(dae_formulation_system(f)->ode.f(0, y, k ? out : want, f), 0);
        for (int i = 0; k && i < 6; i++) assert_near(out[i], want[i], 1e-10 * fmax(1, fabs(want[i])));
        dae_formulation_destroy(f);
    }
}

/* Position drift grows faster than velocity drift and shrinks with the tolerance; projection removes both. */
static void direct_integration_drifts_and_projection_does_not(void **state)
{
    static const char *const method[] = {"dopri5", "dop853", "bs23", "radau5", "pside", "rosnys4"};
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        double want[20], y[20];
        int n = dae_system_size(&m.sys);
        if (which == SKATE) continue; /* no positions to drift */
        m.t_end *= 2;
        solve(&m, "dop853", "index1", project, 1, 1e-12, want, NULL);
        for (size_t k = 0; k < sizeof method / sizeof *method; k++) {
            dae_stats st;
            double tol = k == 2 ? 1e-5 : 1e-7, off = 0;
            solve(&m, method[k], "index1", project, 1, tol, y, &st);
            assert_near(st.position_residual, 0, 1e-13);
            assert_near(st.velocity_residual, 0, 1e-12);
            for (int i = 0; i < n; i++) off = fmax(off, fabs(y[i] - want[i]) / fmax(1, fabs(want[i])));
            if (!(off < 5e3 * tol)) fail_msg("%s, %s: off by %.3g", m.name, method[k], off);
            solve(&m, method[k], "index1", NULL, 0, tol, y, &st);
            if (which != STRING)
                assert_true(st.position_residual > 1e-11); /* linear constraints do not drift */
        }
    }
}

static void drift_grows_with_time(void **state)
{
    double drift[3], y[20];
    (void)state;
    for (int k = 0; k < 3; k++) {
        mechanism m = plain_pendulum(12.5 * (1 << k));
        dae_stats st;
        solve(&m, "dopri5", "index1", NULL, 0, 1e-6, y, &st);
        drift[k] = st.position_residual;
    }
    assert_true(drift[1] > 2.5 * drift[0] && drift[2] > 2.5 * drift[1]);
    assert_between(drift[2], 1e-5, 1e-1); /* RK45, 50 s, rtol 1e-6: 8e-3 */
}

/* Euler parameters stay normalized, and the energy of the top is kept. */
static void quaternions_stay_normalized(void **state)
{
    (void)state;
    mechanism m = mechanism_get(TOP);
    double y[20];
    m.t_end = 5;
    solve(&m, "dop853", "index1", project, 1, 1e-10, y, NULL);
    assert_near(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6], 1, 4e-16);
    assert_near(top_energy(y), top_energy(m.y0), 1e-7 * top_energy(m.y0));
}

static void nonholonomic_motion_is_exact(void **state)
{
    (void)state;
    mechanism m = mechanism_get(SKATE);
    double y[20], p[3];
    dae_stats st;
    skate_exact(m.t_end, p);
    solve(&m, "dopri5", "index1", NULL, 0, 1e-9, y, &st);
    for (int i = 0; i < 3; i++) assert_near(y[i], p[i], 1e-7);
    solve(&m, "dop853", "index1", project, 1, 1e-9, y, &st);
    for (int i = 0; i < 3; i++) assert_near(y[i], p[i], 1e-7);
    assert_near(st.velocity_residual, 0, 1e-14);
}

/* Orders survive the projection. */
static void projection_keeps_the_order(void **state)
{
    static const struct {
        const char *method;
        double h, order;
    } of[] = {{"bs23", 0.01, 3}, {"dopri5", 0.04, 5}, {"dop853", 0.1, 8}};
    (void)state;
    mechanism m = plain_pendulum(1);
    double want[20], y[20];
    solve(&m, "dop853", "index1", project, 1, 1e-13, want, NULL);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        double err[2];
        for (int j = 0; j < 2; j++) {
            dae_options opt = dae_options_default();
            opt.method = of[k].method;
            opt.formulation = "index1";
            opt.fixed_step = of[k].h / (1 << j);
            opt.setting = project;
            opt.nsetting = 1;
            memcpy(y, m.y0, sizeof y);
            assert_int_equal(dae_solve(&m.sys, &opt, 0, 1, y, NULL, NULL), DAE_OK);
            err[j] = hypot(hypot(y[0] - want[0], y[1] - want[1]), hypot(y[2] - want[2], y[3] - want[3]));
        }
        assert_between(log2(err[0] / err[1]), of[k].order - 0.5, of[k].order + 1.5);
    }
}

/* alpha = beta = 0, 1, 5, 100 on the pendulum for 50 s at 1e-6: 8e-3, 4.5e-6, 1.5e-6, 2e-8 (sheet, with RK45); more
 * evaluations from 20 on. */
static void baumgarte_bounds_the_drift(void **state)
{
    static const char *const alpha[] = {"0", "1", "5", "100"};
    double drift[4], y[20];
    long f[4];
    (void)state;
    mechanism m = plain_pendulum(50);
    for (int k = 0; k < 4; k++) {
        dae_setting s = {"alpha", alpha[k]};
        dae_stats st;
        solve(&m, "dopri5", "baumgarte", &s, 1, 1e-6, y, &st);
        drift[k] = st.position_residual;
        f[k] = st.f;
    }
    assert_true(drift[0] > 100 * drift[1]);
    assert_between(drift[1], 1e-8, 5e-5);
    assert_true(drift[2] < drift[1] && drift[3] < drift[2]);
    assert_true(f[3] > 3 * f[2]);
}

/* The pendulum's rate is between sqrt(g) and 3 sqrt(g/l): alpha between 2 and 8 (the sheet: 1 to 5 is useful). */
static void baumgarte_chooses_and_says_so(void **state)
{
    (void)state;
    mechanism m = plain_pendulum(1);
    double y[4], alpha = 0;
    dae_formulation *f = dae_formulation_create(&m.sys, "baumgarte", NULL, 0, NULL);
    assert_string_equal(dae_formulation_describe(f), "");
    assert_int_equal(dae_formulation_lift(f, 0, (double[]){0.6, -0.8, 0, 0}, y, NULL), DAE_OK);
    const char *text = dae_formulation_describe(f);
    assert_int_equal(sscanf(text, "alpha = beta = %lf", &alpha), 1);
    assert_between(alpha, 1, 8);
    dae_formulation_destroy(f);
    dae_stats st;
    double z[20];
    m.t_end = 50;
    solve(&m, "dopri5", "baumgarte", NULL, 0, 1e-6, z, &st);
    assert_between(st.position_residual, 1e-9, 5e-5);
}

/* Given numbers are used as they are: G a = -gamma - 2 alpha (G v + gI) - beta^2 g. */
static void baumgarte_uses_the_numbers_given(void **state)
{
    (void)state;
    mechanism m = plain_pendulum(1);
    double y[4] = {0.7, -0.8, 2.4, 1.9}, out[4], z[4];
    static const dae_setting s[] = {{"alpha", "3"}, {"beta", "7"}};
    dae_formulation *f = dae_formulation_create(&m.sys, "baumgarte", s, 2, NULL);
    assert_int_equal(dae_formulation_lift(f, 0, y, z, NULL), DAE_OK);
    assert_int_equal(dae_formulation_system(f)->ode.f(0, z, out, f), 0);
    double g = 0.5 * (0.49 + 0.64 - 1), gv = 0.7 * 2.4 - 0.8 * 1.9, gamma = 2.4 * 2.4 + 1.9 * 1.9;
    assert_near(y[0] * out[2] + y[1] * out[3], -gamma - 6 * gv - 49 * g, 1e-8);
    dae_formulation_destroy(f);
}

static void stepping_allocates_nothing(void **state)
{
    (void)state;
#if defined(__GLIBC__)
    static const char *const pair[][2] = {{"dop853", "index1"},
                                          {"radau5", "ggl"},
                                          {"radau5", "index3"},
                                          {"dopri5", "baumgarte"},
                                          {"radau5", "index2"}};
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) {
        mechanism m = mechanism_get(TOP);
        dae_options opt = dae_options_default(), inner;
        double y[40];
        opt.method = pair[k][0];
        opt.formulation = pair[k][1];
        opt.setting = project;
        opt.nsetting = k != 2;
        dae_formulation *f = dae_formulation_open(&m.sys, &opt, &inner, NULL);
        dae_integrator *it = dae_integrator_create(dae_formulation_system(f), &inner, NULL);
        assert_int_equal(dae_formulation_attach(f, it, NULL), DAE_OK);
        assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, NULL), DAE_OK);
        assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, NULL), DAE_OK);
        struct mallinfo2 before = mallinfo2();
        for (int i = 0; i < 20; i++) assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        struct mallinfo2 after = mallinfo2();
        assert_true(before.uordblks == after.uordblks && before.hblkhd == after.hblkhd);
        dae_integrator_destroy(it);
        dae_formulation_destroy(f);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_hand_side_has_accelerations),
        cmocka_unit_test(multipliers_in_the_force_are_solved_for),
        cmocka_unit_test(saddle_modes_agree),
        cmocka_unit_test(direct_integration_drifts_and_projection_does_not),
        cmocka_unit_test(drift_grows_with_time),
        cmocka_unit_test(quaternions_stay_normalized),
        cmocka_unit_test(nonholonomic_motion_is_exact),
        cmocka_unit_test(projection_keeps_the_order),
        cmocka_unit_test(baumgarte_bounds_the_drift),
        cmocka_unit_test(baumgarte_chooses_and_says_so),
        cmocka_unit_test(baumgarte_uses_the_numbers_given),
        cmocka_unit_test(stepping_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
