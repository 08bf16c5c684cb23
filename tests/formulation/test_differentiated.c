/* index3, index2, ggl: equations, Jacobians, indices, and solutions that agree with those of other forms. */
#include "formulation/mechanisms.h"

static const char *const forms[] = {"index3", "index2", "ggl"};

static dae_formulation *make(const mechanism *m, const char *form)
{
    dae_error err = {0};
    dae_formulation *f = dae_formulation_create(&m->sys, form, NULL, 0, &err);
    if (!f) fail_msg("%s, %s: %s", m->name, form, err.text);
    return f;
}

static void forms_have_the_documented_layout(void **state)
{
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        const dae_mech *d = &m.sys.mech;
        int constant = !d->mass_fn, state_size = d->np + d->nv + d->nu;
        for (int k = 0; k < 3; k++) {
            dae_formulation *f = make(&m, forms[k]);
            const dae_system *s = dae_formulation_system(f);
            int n = state_size + (constant ? 0 : d->nv) + d->nlambda + (k == 2 ? d->ng : 0);
            assert_int_equal(s->dae.n, n);
            assert_int_equal(dae_system_check(s, NULL), DAE_OK);
            assert_int_equal(dae_system_index(s), k == 0 && d->ng ? 3 : 2);
            assert_int_equal(s->structure.index[0], 1);
            assert_int_equal(s->structure.index[d->np], k == 0 && d->ng ? 2 : 1);
            assert_int_equal(s->structure.index[n - 1], k == 0 && d->ng ? 3 : 2);
            for (int i = 0; i < d->nu && k == 0; i++) /* u' may depend on lambda */
                assert_int_equal(s->structure.index[d->np + d->nv + i], 2);
            dae_formulation_destroy(f);
        }
    }
}

/* At a lifted consistent state all algebraic equations hold, and the differential ones give p' and M a. */
static void lift_satisfies_the_algebraic_equations(void **state)
{
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        const dae_mech *d = &m.sys.mech;
        for (int k = 0; k < 3; k++) {
            dae_formulation *f = make(&m, forms[k]);
            const dae_system *s = dae_formulation_system(f);
            double y[40], out[40], pvu[20], a[10], lambda[10], r[3];
            assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, NULL), DAE_OK);
            assert_int_equal(s->dae.f(0, y, out, s->dae.user), 0);
            int size = d->np + d->nv + d->nu;
            for (int i = size; i < s->dae.n; i++) assert_near(out[i], 0, 1e-12);
            assert_int_equal(dae_formulation_lower(f, 0, y, pvu, a, lambda, NULL), DAE_OK);
            assert_memory_equal(pvu, m.y0, (size_t)size * sizeof *pvu);
            assert_int_equal(dae_formulation_residuals(f, 0, pvu, a, r, NULL), DAE_OK);
            assert_near(r[0], 0, 1e-14);
            assert_near(r[1], 0, 1e-13);
            assert_near(r[2], 0, d->gamma ? 1e-13 : 1e-7); /* gamma by differences */
            for (int i = 0; !d->mass_fn && i < d->nv; i++) {
                double mass = d->mass.n ? d->mass.a[i] : 1;
                assert_near(out[d->np + i], mass * a[i], d->gamma ? 1e-12 : 1e-6);
            }
            dae_formulation_destroy(f);
        }
    }
}

/* The Jacobian against central differences, at a state that is not consistent. */
static void jacobian_matches_differences(void **state)
{
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        for (int k = 0; k < 3; k++) {
            dae_formulation *f = make(&m, forms[k]);
            const dae_system *s = dae_formulation_system(f);
            int n = s->dae.n;
            double y[40], plus[40], minus[40], *J = calloc((size_t)(n * n), sizeof *J);
            assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, NULL), DAE_OK);
            for (int i = 0; i < n; i++) y[i] += 0.1 * sin(3.0 * i + 1);
            assert_int_equal(s->dae.jac(0.3, y, J, s->dae.user), 0);
            for (int j = 0; j < n; j++) {
                double h = 1e-6 * fmax(1, fabs(y[j])), x = y[j];
                y[j] = x + h;
                s->dae.f(0.3, y, plus, s->dae.user);
                y[j] = x - h;
                s->dae.f(0.3, y, minus, s->dae.user);
                y[j] = x;
                for (int i = 0; i < n; i++) {
                    double want = (plus[i] - minus[i]) / (2 * h), got = J[i + j * n];
                    if (!(fabs(got - want) <= 2e-6 * fmax(1, fabs(want)))) {
                        fail_msg("%s, %s: J(%d,%d) = %.12g, differences %.12g", m.name, forms[k], i, j, got,
                                 want);
                    }
                }
            }
            free(J);
            dae_formulation_destroy(f);
        }
    }
}

/* What the model gives is used: df/dp and df/dv of the string are exact to rounding. */
static void jacobian_uses_given_derivatives(void **state)
{
    (void)state;
    mechanism m = mechanism_get(STRING);
    dae_formulation *f = make(&m, "index3");
    const dae_system *s = dae_formulation_system(f);
    double y[7], J[49] = {0}, want[4] = {0};
    assert_int_equal(s->dae.n, 7);
    assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, NULL), DAE_OK);
    assert_int_equal(s->dae.jac(0, y, J, s->dae.user), 0);
    string_dfdv(&(dae_mech_point){.t = 0, .p = y, .v = y + 2}, want, NULL);
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 2; i++) assert_true(J[4 + i + 7 * (2 + j)] == want[i + 2 * j]);
    }
    want[1] = want[3] = want[0] = 0;
    string_dfdp(&(dae_mech_point){.t = 0, .p = y, .v = y + 2}, want, NULL);
    assert_true(J[5 + 7 * 1] == want[3]); /* M does not depend on phi */
    assert_true(J[6 + 7 * 0] == 1);       /* dg/dr */
    dae_formulation_destroy(f);
}

static double worst(int n, const double *a, const double *b)
{
    double w = 0;
    for (int i = 0; i < n; i++) w = fmax(w, fabs(a[i] - b[i]) / fmax(1, fabs(b[i])));
    return w;
}

static dae_status solve(const mechanism *m, const char *method, const char *form, double tol, double *y,
                        dae_stats *stats)
{
    dae_options opt = dae_options_default();
    dae_error err = {0};
    opt.method = method;
    opt.formulation = form;
    opt.rtol = opt.atol = tol;
    memcpy(y, m->y0, sizeof m->y0);
    dae_status s = dae_solve(&m->sys, &opt, 0, m->t_end, y, stats, &err);
    if (s < 0) fail_msg("%s, %s, %s: %s", m->name, method, form, err.text);
    return s;
}

/* radau5 on all three forms against dop853 on the acceleration level at 1e-12. */
static void forms_agree_on_every_mechanism(void **state)
{
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        double want[20], y[20];
        int n = dae_system_size(&m.sys);
        solve(&m, "dop853", "index1", 1e-12, want, NULL);
        for (int k = 0; k < 3; k++) {
            dae_stats st;
            solve(&m, "radau5", forms[k], 1e-8, y, &st);
            double off = worst(n, y, want);
            if (!(off < (k == 0 ? 1e-3 : 1e-6))) fail_msg("%s, %s: off by %.3g", m.name, forms[k], off);
            /* positions in index3 and ggl, velocities in index2 and ggl */
            if (k != 1) assert_near(st.position_residual, 0, 1e-8);
            if (k != 0) assert_near(st.velocity_residual, 0, 1e-7);
        }
    }
}

/* ggl keeps both constraints at the level of the Newton iteration over a long run, index2 drifts in the positions. */
static void ggl_does_not_drift(void **state)
{
    (void)state;
    mechanism m = mechanism_get(FOURBAR);
    double y[20];
    dae_stats st;
    m.t_end = 20;
    double before = fourbar_energy(m.y0);
    solve(&m, "radau5", "ggl", 1e-8, y, &st);
    assert_near(st.position_residual, 0, 1e-9);
    assert_near(st.velocity_residual, 0, 1e-7);
    assert_near(fourbar_energy(y), before, 1e-4 * fabs(before));
    solve(&m, "radau5", "index2", 1e-8, y, &st);
    assert_true(st.position_residual > 1e-9);
    assert_near(st.velocity_residual, 0, 1e-6);
}

static void nonholonomic_motion_is_exact(void **state)
{
    (void)state;
    mechanism m = mechanism_get(SKATE);
    for (int k = 0; k < 3; k++) {
        double y[20], p[3];
        solve(&m, "radau5", forms[k], 1e-9, y, NULL);
        skate_exact(m.t_end, p);
        for (int i = 0; i < 3; i++) assert_near(y[i], p[i], 1e-7);
    }
}

/* With projection both constraints are at rounding level. */
static void forms_of_index_2_take_projection(void **state)
{
    (void)state;
    mechanism m = mechanism_get(FOURBAR);
    dae_options opt = dae_options_default();
    dae_setting project = {"project", "1"};
    dae_stats st;
    dae_error err = {0};
    double y[20], want[20];
    opt.method = "radau5";
    opt.rtol = opt.atol = 1e-7;
    opt.setting = &project;
    opt.nsetting = 1;
    m.t_end = 5;
    solve(&m, "dop853", "index1", 1e-12, want, NULL);
    for (int k = 1; k < 3; k++) {
        opt.formulation = forms[k];
        memcpy(y, m.y0, sizeof y);
        assert_int_equal(dae_solve(&m.sys, &opt, 0, m.t_end, y, &st, &err), DAE_OK);
        assert_near(st.position_residual, 0, 1e-14);
        assert_near(st.velocity_residual, 0, 1e-12);
        assert_true(worst(6, y, want) < 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_have_the_documented_layout),
        cmocka_unit_test(lift_satisfies_the_algebraic_equations),
        cmocka_unit_test(jacobian_matches_differences),
        cmocka_unit_test(jacobian_uses_given_derivatives),
        cmocka_unit_test(forms_agree_on_every_mechanism),
        cmocka_unit_test(ggl_does_not_drift),
        cmocka_unit_test(nonholonomic_motion_is_exact),
        cmocka_unit_test(forms_of_index_2_take_projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
