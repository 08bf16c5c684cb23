/* The registry: names, what goes with which method, "auto", settings, messages, the integrator-level calls. */
#include "formulation/mechanisms.h"

static void registry_lists_every_form_with_a_page(void **state)
{
    static const char *const known[] = {"descriptor", "index3",    "index2",    "ggl",
                                        "index1",     "baumgarte", "statespace"};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_non_null(dae_formulation_find(known[i]));
    for (int i = 0; i < dae_formulation_count(); i++) {
        const dae_formulation_info *f = dae_formulation_get(i);
        assert_ptr_equal(dae_formulation_find(f->name), f);
        assert_non_null(dae_formulation_doc(f->name));
        assert_true(f->title && f->summary);
    }
    assert_null(dae_formulation_get(-1));
    assert_null(dae_formulation_get(dae_formulation_count()));
    assert_null(dae_formulation_find("index4"));
}

static void check_is_a_table_of_method_and_formulation(void **state)
{
    dae_error err = {0};
    (void)state;
    assert_int_equal(dae_formulation_check("index1", "dopri5", &err), DAE_OK);
    assert_int_equal(dae_formulation_check("baumgarte", "dop853", &err), DAE_OK);
    assert_int_equal(dae_formulation_check("index3", "radau5", &err), DAE_OK);
    assert_int_equal(dae_formulation_check("statespace", "dop853", &err), DAE_OK);
    assert_int_equal(dae_formulation_check("statespace", "vode", &err), DAE_OK);
    assert_int_equal(dae_formulation_check("auto", "radau5", &err), DAE_OK);
    assert_int_equal(dae_formulation_check("ggl", "auto", &err), DAE_OK);
    assert_int_equal(dae_formulation_check("ggl", "dopri5", &err), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "dopri5 goes with index1, baumgarte"));
    assert_non_null(strstr(err.text, "ggl is taken by"));
    assert_non_null(strstr(err.text, "radau5"));
    assert_int_equal(dae_formulation_check("descriptor", "radau5", &err), DAE_ERR_UNSUPPORTED);
    assert_int_equal(dae_formulation_check("ggk", "radau5", &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "did you mean \"ggl\""));
    assert_int_equal(dae_formulation_check("ggl", "radau6", &err), DAE_ERR_INPUT);
}

static void auto_takes_a_form_that_the_method_can_have(void **state)
{
    (void)state;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        const dae_formulation_info *f = dae_formulation_choose(m->name);
        if (f) assert_int_equal(dae_formulation_check(f->name, m->name, NULL), DAE_OK);
        else assert_true(!(m->kinds & (1u << DAE_KIND_ODE | 1u << DAE_KIND_MECH)) || m->no_velocities);
    }
    assert_string_equal(dae_formulation_choose("radau5")->name, "ggl");
    assert_string_equal(dae_formulation_choose("dopri5")->name, "index1");
    assert_non_null(dae_formulation_choose(NULL));
}

/* With everything open the constraints are kept and the result is right. */
static void solve_with_auto_keeps_the_constraints(void **state)
{
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        dae_options opt = dae_options_default();
        dae_error err = {0};
        dae_stats st;
        double want[20], y[20];
        opt.method = "dop853";
        opt.rtol = opt.atol = 1e-12;
        memcpy(want, m.y0, sizeof want);
        assert_int_equal(dae_solve(&m.sys, &opt, 0, m.t_end, want, NULL, &err), DAE_OK);
        opt = dae_options_default();
        opt.rtol = opt.atol = 1e-7;
        memcpy(y, m.y0, sizeof y);
        if (dae_solve(&m.sys, &opt, 0, m.t_end, y, &st, &err) < 0) fail_msg("%s: %s", m.name, err.text);
        assert_near(st.position_residual, 0, 1e-9);
        for (int i = 0; i < dae_system_size(&m.sys); i++)
            assert_near(y[i], want[i], 1e-4 * fmax(1, fabs(want[i])));
    }
}

/* beta is known to both: the bare name is the method's, formulation.beta the formulation's. */
static void settings_find_their_owner(void **state)
{
    (void)state;
    mechanism m = mechanism_get(BEAD);
    dae_setting s[] = {{"alpha", "2"}, {"beta", "0.04"}, {"formulation.beta", "3"}, {"safety", "0.8"}};
    dae_options opt = dae_options_default(), inner;
    dae_error err = {0};
    double y[20];
    opt.method = "dopri5";
    opt.formulation = "baumgarte";
    opt.setting = s;
    opt.nsetting = 4;
    dae_formulation *f = dae_formulation_open(&m.sys, &opt, &inner, &err);
    assert_non_null(f);
    assert_int_equal(inner.nsetting, 2);
    assert_string_equal(inner.setting[0].name, "beta");
    assert_string_equal(inner.setting[1].name, "safety");
    assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, &err), DAE_OK);
    assert_string_equal(dae_formulation_describe(f), "alpha = 2, beta = 3");
    assert_string_equal(dae_formulation_type_of(f)->name, "baumgarte");
    dae_formulation_destroy(f);
    s[2].name = "formulation.gamma";
    assert_null(dae_formulation_open(&m.sys, &opt, &inner, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "baumgarte"));
}

/* Tolerances given for (p, v, u): accelerations get those of the velocities, multipliers the scalar ones. */
static void tolerances_reach_the_variables(void **state)
{
    (void)state;
    mechanism m = mechanism_get(STRING);
    double rtol[4] = {1e-3, 1e-4, 1e-5, 1e-6}, atol[4] = {1e-7, 1e-8, 1e-9, 1e-10};
    dae_options opt = dae_options_default(), inner;
    opt.method = "radau5";
    opt.formulation = "ggl";
    opt.rtol_vec = rtol;
    opt.atol_vec = atol;
    opt.rtol = 0.5;
    dae_formulation *f = dae_formulation_open(&m.sys, &opt, &inner, NULL);
    assert_non_null(f);
    static const double want[8] = {1e-3, 1e-4, 1e-5, 1e-6, 1e-5, 1e-6, 0.5, 0.5};
    for (int i = 0; i < 8; i++) assert_true(inner.rtol_vec[i] == want[i]);
    assert_true(inner.atol_vec[4] == 1e-9 && inner.atol_vec[7] == opt.atol);
    dae_formulation_destroy(f);
}

static void wrong_use_is_told(void **state)
{
    (void)state;
    mechanism m = mechanism_get(BEAD);
    dae_error err = {0};
    dae_options opt = dae_options_default();
    dae_setting project = {"project", "1"};
    double y[20];
    memcpy(y, m.y0, sizeof y);
    opt.method = "dopri5";
    opt.formulation = "ggl";
    assert_int_equal(dae_solve(&m.sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_UNSUPPORTED);
    dae_system ode = {.kind = DAE_KIND_ODE, .ode = {.n = 1}};
    assert_null(dae_formulation_create(&ode, "index1", NULL, 0, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
    assert_null(dae_formulation_create(&m.sys, "nonsense", NULL, 0, &err));
    m.sys.mech.force = NULL;
    assert_null(dae_formulation_create(&m.sys, "index1", NULL, 0, &err));
    assert_non_null(strstr(err.text, "force"));
    m = mechanism_get(BEAD);
    assert_null(dae_formulation_create(&m.sys, "index1", &(dae_setting){"saddle", "magic"}, 1, &err));
    assert_null(dae_formulation_create(&m.sys, "index1", &(dae_setting){"saddle", "range_space"}, 1, &err));
    assert_int_equal(err.status, DAE_ERR_UNSUPPORTED); /* friction makes it unsymmetric */
    opt.method = "dopri";
    assert_int_equal(dae_solve(&m.sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_string_equal(err.text, "there is no method \"dopri\"; did you mean \"dopri5\"?");
    opt.method = "gamd";
    opt.formulation = "index1";
    opt.setting = &project;
    opt.nsetting = 1;
    assert_int_equal(dae_solve(&m.sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "dopri5"));
}

/* Redundant constraints: a message with the time, not a number. */
static int twice(const dae_mech_point *x, double *g, double *G, void *user)
{
    double one[2];
    pendulum_constraint(x, g, G ? one : NULL, user);
    if (g) g[1] = g[0];
    for (int j = 0; G && j < 2; j++) G[2 * j] = G[2 * j + 1] = one[j];
    return 0;
}

static void singular_systems_are_told(void **state)
{
    (void)state;
    mechanism m = mechanism_get(PENDULUM);
    dae_error err = {0};
    double y[20];
    m.sys.mech.constraint = twice;
    m.sys.mech.ng = m.sys.mech.nlambda = 2;
    dae_formulation *f = dae_formulation_create(&m.sys, "index1", NULL, 0, &err);
    assert_non_null(f);
    dae_status s = dae_formulation_lift(f, 0.25, m.y0, y, &err);
    assert_int_equal(s, DAE_ERR_SINGULAR);
    assert_true(err.t == 0.25);
    assert_non_null(strstr(err.text, "redundant"));
    dae_formulation_destroy(f);
}

/* No constraints at all: every form is the plain equations of motion. */
static void free_motion_works_in_every_form(void **state)
{
    (void)state;
    mechanism m = mechanism_get(SKATE);
    m.sys.mech.nlambda = 0;
    m.sys.mech.constraint = NULL;
    for (int i = 1; i < dae_formulation_count(); i++) {
        dae_options opt = dae_options_default();
        dae_error err = {0};
        double y[20];
        opt.method = "radau5";
        opt.formulation = dae_formulation_get(i)->name;
        if (!strcmp(opt.formulation, "joint"))
            continue; /* for systems that know their tree: test_joint_coordinates */
        memcpy(y, m.y0, sizeof y);
        if (dae_solve(&m.sys, &opt, 0, 2, y, NULL, &err) < 0) fail_msg("%s: %s", opt.formulation, err.text);
        assert_near(y[0], 0.5 * skate_pull * 4, 1e-6);
        assert_near(y[2], 2 * skate_spin, 1e-6);
    }
}

/* From a state that is off: onto both constraints by the least correction (radial for a circle). */
static void project_moves_onto_the_constraints(void **state)
{
    (void)state;
    mechanism m = mechanism_get(BEAD);
    double y[4] = {0.66, -0.88, 1, 2}, r[3];
    dae_formulation *f = dae_formulation_create(&m.sys, "descriptor", NULL, 0, NULL);
    assert_int_equal(dae_formulation_project(f, 0, y, NULL), DAE_OK);
    assert_near(y[0], 0.6, 1e-15);
    assert_near(y[1], -0.8, 1e-15);
    assert_near(y[2], 1 + 1 * 0.6, 1e-15); /* v - p (p . v) */
    assert_near(y[3], 2 - 1 * 0.8, 1e-15);
    assert_int_equal(dae_formulation_residuals(f, 0, y, NULL, r, NULL), DAE_OK);
    assert_near(r[0], 0, 2e-16);
    y[0] = y[1] = 0;
    dae_error err = {0};
    assert_int_equal(dae_formulation_project(f, 0, y, &err), DAE_ERR_INCONSISTENT);
    assert_non_null(strstr(err.text, "position constraint 1"));
    dae_formulation_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry_lists_every_form_with_a_page),
        cmocka_unit_test(check_is_a_table_of_method_and_formulation),
        cmocka_unit_test(auto_takes_a_form_that_the_method_can_have),
        cmocka_unit_test(solve_with_auto_keeps_the_constraints),
        cmocka_unit_test(settings_find_their_owner),
        cmocka_unit_test(tolerances_reach_the_variables),
        cmocka_unit_test(wrong_use_is_told),
        cmocka_unit_test(singular_systems_are_told),
        cmocka_unit_test(free_motion_works_in_every_form),
        cmocka_unit_test(project_moves_onto_the_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
