/* The form with coordinates of bodies and joints, [MEXX] 1.3, against that of the bodies. */
#include "mechanics.h"

static mbs_mechanism *load(const char *name)
{
    char path[200];
    dae_error err = {0};
    snprintf(path, sizeof path, "models/%s.json", name);
    mbs_model *m = mbs_model_load(path, &err);
    if (!m) fail_msg("%s", err.text);
    return compile(m);
}

static double *reals(int n)
{
    return calloc((size_t)n + 1, sizeof(double));
}

/* dg/dt = G v + gI at the start, moved a little. */
static void check_rates(const char *name)
{
    dae_error err = {0};
    mbs_mechanism *c = load(name);
    const dae_system *sys = mbs_mechanism_mixed_system(c);
    assert_non_null(sys);
    const dae_mech *s = &sys->mech;
    double *y = reals(dae_system_size(mbs_mechanism_system(c))), *z = reals(dae_system_size(sys)), h = 1e-5;
    double *p = reals(s->np), *up = reals(s->nlambda), *down = reals(s->nlambda), *rate = reals(s->nlambda);
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    assert_int_equal(mbs_mechanism_mixed_state(c, 0, y, z, &err), DAE_OK);
    dae_mech_point x = {.p = z};
    s->constraint(&x, up, NULL, s->user);
    for (int i = 0; i < s->ng; i++) assert_near(up[i], 0, 1e-11);
    for (int i = 0; i < s->nv; i++) z[s->np + i] += random_number();
    velocity_rows(s, 0, z, z + s->np, rate);
    x.p = p;
    x.t = h;
    flow(s, 0, z, z + s->np, h, p);
    s->constraint(&x, up, NULL, s->user);
    x.t = -h;
    flow(s, 0, z, z + s->np, -h, p);
    s->constraint(&x, down, NULL, s->user);
    for (int i = 0; i < s->ng; i++) {
        double d = (up[i] - down[i]) / (2 * h);
        if (fabs(d - rate[i]) > 1e-6 * (1 + fabs(d)))
            fail_msg("%s row %d: G v + gI = %.10g, differences %.10g", name, i, rate[i], d);
    }
    free(y), free(z), free(p), free(up), free(down), free(rate);
    mbs_mechanism_destroy(c);
}

static void mixed_form_has_exact_rates(void **state)
{
    static const char *const name[] = {
        "double_pendulum", "four_bar", "robot", "spherical_pendulum", "rssp", "andrews", "rolling_disc"};
    (void)state;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) check_rates(name[k]);
}

/* The same motion of the bodies. */
static void check_motion(const char *name, const char *method, const char *form, double t, double tol)
{
    dae_error err = {0};
    mbs_mechanism *c = load(name);
    const dae_system *sys = mbs_mechanism_system(c), *mixed = mbs_mechanism_mixed_system(c);
    assert_non_null(mixed);
    double *y = reals(dae_system_size(sys)), *z = reals(dae_system_size(mixed));
    dae_options o = dae_options_default();
    o.rtol = o.atol = 1e-10;
    assert_int_equal(mbs_mechanism_initial(c, y, &err), DAE_OK);
    assert_int_equal(mbs_mechanism_mixed_state(c, 0, y, z, &err), DAE_OK);
    o.method = method;
    o.formulation = form;
    if (dae_solve(mixed, &o, 0, t, z, NULL, &err) < 0) fail_msg("%s: %s", name, err.text);
    o.method = "mexx";
    o.formulation = "descriptor";
    if (dae_solve(sys, &o, 0, t, y, NULL, &err) < 0) fail_msg("%s: %s", name, err.text);
    const dae_mech *a = &sys->mech, *b = &mixed->mech;
    for (int i = 0; i < a->np + a->nv; i++) {
        double have = i < a->np ? z[i] : z[b->np + i - a->np];
        if (fabs(have - y[i]) > tol * (1 + fabs(y[i])))
            fail_msg("%s, %s: y[%d] = %.12g, in the mixed form %.12g", name, method, i, y[i], have);
    }
    free(y), free(z);
    mbs_mechanism_destroy(c);
}

static void mixed_form_gives_the_motion_of_the_bodies(void **state)
{
    (void)state;
    check_motion("double_pendulum", "mexx", "descriptor", 1, 1e-8);
    check_motion("double_pendulum", "radau5", "ggl", 0.3, 1e-8);
    check_motion("four_bar", "mexx", "descriptor", 1, 1e-8);
    check_motion("spherical_pendulum", "mexx", "descriptor", 1, 1e-8);
    check_motion("spinning_top", "mexx", "descriptor", 0.2,
                 1e-7); /* 150 rad/s: longer ways for the same error */
    check_motion("robot", "mexx", "descriptor", 0.05, 1e-8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_form_has_exact_rates),
        cmocka_unit_test(mixed_form_gives_the_motion_of_the_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
