/* statespace: partition, dependent coordinates, change of coordinates, exact Jacobians. */
#include "formulation/mechanisms.h"

static dae_status try(const mechanism *m, const char *method, const dae_setting *setting, int nsetting,
                      double tol, double *y, dae_stats *stats, dae_error *err, dae_log_fn *log, void *user)
{
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.formulation = "statespace";
    opt.rtol = opt.atol = tol;
    opt.setting = setting;
    opt.nsetting = nsetting;
    opt.log = log;
    opt.log_level = DAE_LOG_INFO;
    opt.log_user = user;
    memcpy(y, m->y0, sizeof m->y0);
    return dae_solve(&m->sys, &opt, 0, m->t_end, y, stats, err);
}

/* Counts what the log tells about the coordinates. */
typedef struct tale {
    int chosen, changed;
    char last[400];
} tale;

static void listen(dae_log_level level, const char *text, void *user)
{
    tale *t = user;
    (void)level;
    if (strstr(text, "partition=chosen")) t->chosen++;
    if (strstr(text, "partition=changed")) {
        t->changed++;
        snprintf(t->last, sizeof t->last, "%s", text);
    }
}

static tale solve(const mechanism *m, const char *method, const char *partition, const char *coordinates,
                  double tol, double *y, dae_stats *stats)
{
    const dae_setting setting[] = {{"formulation.partition", partition},
                                   {"formulation.coordinates", coordinates}};
    dae_error err = {0};
    tale t = {0};
    if (try(m, method, setting, 2, tol, y, stats, &err, listen, &t) < 0) {
        fail_msg("%s, %s, %s, %s: %s", m->name, method, partition, coordinates, err.text);
    }
    return t;
}

static void reference(const mechanism *m, double *y)
{
    dae_options opt = dae_options_default();
    dae_error err = {0};
    opt.method = "dop853";
    opt.formulation = "index1";
    opt.rtol = opt.atol = 1e-12;
    opt.setting = (dae_setting[]){{"project", "1"}};
    opt.nsetting = 1;
    memcpy(y, m->y0, sizeof m->y0);
    if (dae_solve(&m->sys, &opt, 0, m->t_end, y, NULL, &err) < 0) fail_msg("%s: %s", m->name, err.text);
}

/* Every mechanism (Euler parameters, M(p), nonholonomic, friction, dynamics, rheonomic), both partitions, all kinds of
 * coordinates: the same motion as index1, the constraints to rounding. */
static void every_mechanism_moves_as_in_other_forms(void **state)
{
    static const char *const partition[] = {"simple", "full"}, *const coordinates[] = {
                                                                   "pivoting", "nullspace", "printed"};
    (void)state;
    for (int which = 0; which < MECHANISMS; which++) {
        mechanism m = mechanism_get(which);
        double want[20], y[20];
        dae_stats st;
        reference(&m, want);
        for (int k = 0; k < 6; k++) {
            solve(&m, "dop853", partition[k / 3], coordinates[k % 3], 1e-11, y, &st);
            for (int i = 0; i < dae_system_size(&m.sys); i++) {
                if (!(fabs(y[i] - want[i]) <= 1e-7 * fmax(1, fabs(want[i])))) {
                    fail_msg("%s, %s, %s: y[%d] = %.12g, expected %.12g", m.name, partition[k / 3],
                             coordinates[k % 3], i, y[i], want[i]);
                }
            }
            assert_near(st.position_residual, 0, 1e-13);
            assert_near(st.velocity_residual, 0, 2e-11);
        }
    }
}

/* ---- Pendulum with full rotations ----------------------------------------------------------------------------- */

static int no_force(const dae_mech_point *x, double *f, void *user)
{
    (void)x;
    (void)user;
    f[0] = 0;
    f[1] = -GRAVITY;
    return 0;
}

static mechanism turning_pendulum(double t_end)
{
    mechanism m = {.name = "turning pendulum", .t_end = t_end, .y0 = {1, 0, 0, 7}};
    m.sys.kind = DAE_KIND_MECH;
    m.sys.mech = (dae_mech){
        .np = 2, .nv = 2, .ng = 1, .nlambda = 1, .force = no_force, .constraint = pendulum_constraint};
    return m;
}

/* The angle of the same pendulum, phi'' = -g cos phi, integrated apart. */
static int angle_rhs(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = y[1];
    f[1] = -GRAVITY * cos(y[0]);
    return 0;
}

static void turned(double t_end, double *p, double *turns)
{
    dae_system s = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = angle_rhs}};
    dae_options opt = dae_options_default();
    double y[2] = {0, 7};
    opt.method = "dop853";
    opt.rtol = opt.atol = 1e-13;
    assert_int_equal(dae_solve(&s, &opt, 0, t_end, y, NULL, NULL), DAE_OK);
    p[0] = cos(y[0]), p[1] = sin(y[0]), p[2] = -y[1] * p[1], p[3] = y[1] * p[0];
    *turns = y[0] / 6.283185307179586;
}

/* Coordinates change four times in each turn, and every method goes through it. */
static void pendulum_turns_with_changing_coordinates(void **state)
{
    static const struct {
        const char *method;
        double tol, error;
    } run[] = {
        {"dopri5", 1e-9, 2e-5},      {"dop853", 1e-9, 2e-5},     {"radau5", 1e-9, 2e-5},
        {"vode", 1e-9, 2e-4},        {"vode-adams", 1e-9, 2e-4},
#ifdef DAE_HAVE_SUNDIALS
        {"cvode-adams", 1e-9, 2e-4},
#endif
    };
    mechanism m = turning_pendulum(5);
    double want[4], turns;
    (void)state;
    turned(5, want, &turns);
    assert_true(turns > 3);
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        for (int linear = 0; linear < 2; linear++) {
            double y[20];
            dae_stats st;
            tale t = solve(&m, run[k].method, "full", linear ? "nullspace" : "pivoting", run[k].tol, y, &st);
            for (int i = 0; i < 4; i++) {
                if (!(fabs(y[i] - want[i]) <= run[k].error))
                    fail_msg("%s: off by %.3g", run[k].method, y[i] - want[i]);
            }
            assert_true(t.chosen >= 1);
            assert_between(t.changed, 4 * turns - 4, 8 * turns);
            assert_non_null(strstr(t.last, "reason=\""));
            assert_near(st.position_residual, 0, 1e-13);
            assert_near(st.velocity_residual, 0, 1e-12);
        }
    }
}

/* Output inside the steps and across changes of coordinates is continuous. */
static void lowered_output_is_continuous_across_changes(void **state)
{
    mechanism m = turning_pendulum(3);
    dae_options opt = dae_options_default(), inner;
    dae_error err = {0};
    double y[4], pvu[4], before[4], at[2], worst = 0;
    (void)state;
    opt.method = "dopri5";
    opt.formulation = "statespace";
    opt.rtol = opt.atol = 1e-8;
    dae_formulation *f = dae_formulation_open(&m.sys, &opt, &inner, &err);
    assert_non_null(f);
    assert_int_equal(dae_system_size(dae_formulation_system(f)), 2);
    dae_integrator *it = dae_integrator_create(dae_formulation_system(f), &inner, &err);
    assert_int_equal(dae_formulation_attach(f, it, &err), DAE_OK);
    assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, &err), DAE_OK);
    assert_int_equal(dae_integrator_start(it, 0, 3, y, NULL, &err), DAE_OK);
    memcpy(before, m.y0, sizeof before);
    while (dae_integrator_time(it) < 3) {
        assert_int_equal(dae_integrator_step(it, &err), DAE_OK);
        double t0 = dae_integrator_previous_time(it), t1 = dae_integrator_time(it);
        assert_int_equal(dae_integrator_interpolate(it, t0, at, NULL), DAE_OK);
        assert_int_equal(dae_formulation_lower(f, t0, at, pvu, NULL, NULL, &err), DAE_OK);
        for (int i = 0; i < 4; i++) worst = fmax(worst, fabs(pvu[i] - before[i]));
        assert_int_equal(dae_integrator_interpolate(it, 0.5 * (t0 + t1), at, NULL), DAE_OK);
        assert_int_equal(dae_formulation_lower(f, 0.5 * (t0 + t1), at, pvu, NULL, NULL, &err), DAE_OK);
        assert_near(hypot(pvu[0], pvu[1]), 1, 1e-14);
        assert_int_equal(dae_formulation_lower(f, t1, dae_integrator_state(it), before, NULL, NULL, &err),
                         DAE_OK);
    }
    assert_near(worst, 0, 1e-13);
    dae_integrator_destroy(it);
    dae_formulation_destroy(f);
}

/* a and lambda by hand: lambda = |v|^2 + gravity . p. */
static void multipliers_are_recovered(void **state)
{
    mechanism m = turning_pendulum(1);
    double y[2], out[2], pvu[4], a[2], lambda[1], start[4] = {0.6, -0.8, 2.4, 1.8}, want = 9 + GRAVITY * 0.8;
    (void)state;
    for (int full = 0; full < 2; full++) {
        dae_formulation *f = dae_formulation_create(
            &m.sys, "statespace", &(dae_setting){"partition", full ? "full" : "simple"}, 1, NULL);
        const dae_system *s = dae_formulation_system(f);
        assert_int_equal(s->structure.second_order, 1);
        assert_int_equal(dae_formulation_lift(f, 0, start, y, NULL), DAE_OK);
        assert_near(y[0], 0.6, 0); /* the larger element of G = p is the dependent one */
        assert_near(y[1], 2.4, 0);
        assert_non_null(strstr(dae_formulation_describe(f), "independent coordinates 1"));
        assert_int_equal(s->ode.f(0, y, out, s->ode.user), 0);
        assert_near(out[0], 2.4, 0);
        assert_near(out[1], -want * 0.6, 1e-8);
        assert_int_equal(dae_formulation_lower(f, 0, y, pvu, a, lambda, NULL), DAE_OK);
        for (int i = 0; i < 4; i++) assert_near(pvu[i], start[i], 1e-15);
        assert_near(lambda[0], want, 1e-8);
        assert_near(a[1], -GRAVITY + want * 0.8, 1e-8);
        dae_formulation_destroy(f);
    }
}

/* ---- Andrews' mechanism ------------------------------------------------------------------------------------------- */

static mechanism seven_body(dae_problem *p)
{
    mechanism m = {.name = "seven-body", .sys = p->system, .t_end = p->t_end};
    memcpy(m.y0, p->y0, 14 * sizeof(double));
    return m;
}

/* The coordinates change in the turns of the crank, with the limits as they are and with the lowest. */
static void seven_body_meets_its_reference_through_changes(void **state)
{
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, NULL);
    mechanism m = seven_body(p);
    (void)state;
    static const char *const method[] = {"dop853", "dopri5", "radau5"};
    for (int k = 0; k < 6; k++) {
        const dae_setting setting[] = {
            {"formulation.eta", "1"}, {"formulation.growth", "1"}, {"formulation.hysteresis", "1"}};
        dae_error err = {0};
        tale t = {0};
        dae_stats st;
        double y[20];
        if (try(&m, method[k % 3], setting, k < 3 ? 0 : 3, 1e-10, y, &st, &err, listen, &t) < 0)
            fail_msg("%s: %s", method[k % 3], err.text);
        for (int i = 0; i < 14; i++) {
            double error = fabs(y[i] - p->reference[i]) / fmax(1, fabs(p->reference[i]));
            if (!(error <= 1e-6)) fail_msg("%s: component %d off by %.3g", method[k % 3], i + 1, error);
        }
        assert_true(t.changed >= 4);
        assert_int_equal(st.charts, t.changed);
        assert_non_null(strstr(t.last, "by influence"));
        assert_near(st.position_residual, 0, 1e-10);
        assert_near(st.velocity_residual, 0, 1e-10);
    }
    dae_problem_destroy(p);
}

/* ---- Jacobians --------------------------------------------------------------------------------------------------- */

/* df/dy and df/dt against central differences of the right-hand side. */
static void compare_jacobian(const dae_system *s, double t, const double *y, double tol, const char *name)
{
    int n = s->ode.n;
    double J[400] = {0}, x[20], plus[20], minus[20], ft[20], size = 0;
    assert_int_equal(s->ode.jac(t, y, J, s->ode.user), 0);
    assert_int_equal(s->ode.dfdt(t, y, ft, s->ode.user), 0);
    for (int i = 0; i < n * n; i++) size = fmax(size, fabs(J[i]));
    for (int j = 0; j <= n; j++) {
        double h = 1e-5 * fmax(1e-2, j < n ? fabs(y[j]) : 1);
        memcpy(x, y, sizeof x);
        if (j < n) x[j] += h;
        assert_int_equal(s->ode.f(j < n ? t : t + h, x, plus, s->ode.user), 0);
        memcpy(x, y, sizeof x);
        if (j < n) x[j] -= h;
        assert_int_equal(s->ode.f(j < n ? t : t - h, x, minus, s->ode.user), 0);
        for (int i = 0; i < n; i++) {
            double want = (plus[i] - minus[i]) / (2 * h), got = j < n ? J[i + j * n] : ft[i];
            if (!(fabs(got - want) <= tol * size))
                fail_msg("%s: (%d, %d) is %.10g, expected %.10g, size %.3g", name, i, j, got, want, size);
        }
    }
}

static void jacobian_matches_differences(void **state)
{
    static const int which[] = {STRING, TOP, FOURBAR};
    (void)state;
    for (int k = 0; k < 3; k++) {
        mechanism m = mechanism_get(which[k]);
        for (int linear = 0; linear < 2; linear++) {
            const dae_setting setting = {"coordinates", linear ? "nullspace" : "pivoting"};
            double y[20] = {0};
            dae_formulation *f = dae_formulation_create(&m.sys, "statespace", &setting, 1, NULL);
            assert_int_equal(dae_formulation_lift(f, 0.3, m.y0, y, NULL), DAE_OK);
            compare_jacobian(dae_formulation_system(f), 0.3, y, m.sys.mech.gamma ? 1e-8 : 5e-6,
                             m.name); /* gamma: differences */
            dae_formulation_destroy(f);
        }
    }
}

static void seven_body_jacobian_matches_differences(void **state)
{
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, NULL);
    mechanism m = seven_body(p);
    dae_formulation *f = dae_formulation_create(&m.sys, "statespace", NULL, 0, NULL);
    double y[20] = {0}, pvu[14];
    (void)state;
    for (int k = 0; k < 6; k++) { /* other places on the way of the motion */
        dae_options opt = dae_options_default();
        opt.method = "dop853";
        opt.rtol = opt.atol = 1e-8;
        memcpy(pvu, m.y0, sizeof pvu);
        if (k) assert_int_equal(dae_solve(&m.sys, &opt, 0, 0.004 * k, pvu, NULL, NULL), DAE_OK);
        assert_int_equal(dae_formulation_lift(f, 0.004 * k, pvu, y, NULL), DAE_OK);
        compare_jacobian(dae_formulation_system(f), 0.004 * k, y, 1e-6, "seven-body");
    }
    dae_formulation_destroy(f);
    dae_problem_destroy(p);
}

/* ---- What cannot be ------------------------------------------------------------------------------------------------ */

/* The second row is twice the first. */
static int twice(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) g[0] = 0.5 * (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1), g[1] = 2 * g[0];
    if (G) G[0] = x->p[0], G[1] = 2 * x->p[0], G[3] = 2 * x->p[1], G[2] = x->p[1];
    return 0;
}

static int no_force3(const dae_mech_point *x, double *f, void *user)
{
    (void)x;
    (void)user;
    f[0] = f[1] = f[2] = 0;
    return 0;
}

/* The pendulum at its lowest point: y does not move there to first order, x does. */
static void coordinates_that_cannot_be_independent_are_refused(void **state)
{
    mechanism m = turning_pendulum(1);
    double y[4], bottom[4] = {0, -1, 3, 0};
    (void)state;
    for (int which = 1; which <= 2; which++) {
        dae_error err = {0};
        dae_setting named = {"independent", which == 1 ? "1" : "2"};
        dae_formulation *f = dae_formulation_create(&m.sys, "statespace", &named, 1, &err);
        assert_int_equal(dae_formulation_lift(f, 0, bottom, y, &err), which == 1 ? DAE_OK : DAE_ERR_SINGULAR);
        if (which == 2) {
            assert_non_null(strstr(err.text, "independent = 2 cannot be"));
            assert_non_null(strstr(err.text, "p = (0, -1)"));
        }
        dae_formulation_destroy(f);
    }
}

static void redundant_constraints_are_named(void **state)
{
    mechanism m = {.y0 = {0.6, 0.8, 0}};
    dae_error err = {0};
    double y[4];
    (void)state;
    m.sys.kind = DAE_KIND_MECH;
    m.sys.mech = (dae_mech){.np = 3, .nv = 3, .ng = 2, .nlambda = 2, .force = no_force3, .constraint = twice};
    dae_formulation *f = dae_formulation_create(&m.sys, "statespace", NULL, 0, &err);
    assert_int_equal(dae_formulation_lift(f, 0, m.y0, y, &err), DAE_ERR_SINGULAR);
    assert_non_null(strstr(err.text, "constraints 1 depend on the others"));
    assert_non_null(strstr(err.text, "p = (0.6, 0.8, 0)"));
    dae_formulation_destroy(f);
    m.sys.mech = (dae_mech){.np = 2, .nv = 2, .ng = 2, .nlambda = 2, .force = no_force, .constraint = twice};
    assert_null(dae_formulation_create(&m.sys, "statespace", NULL, 0, &err));
    assert_non_null(strstr(err.text, "no degree of freedom"));
}

/* A point driven along x beyond the end of its wire: x = 0.5 + t, x^2 + y^2 = 1 has no solution after t = 0.5. */
static int driven(const dae_mech_point *x, double *g, double *G, void *user)
{
    (void)user;
    if (g) {
        g[0] = 0.5 * (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1);
        g[1] = x->p[0] - 0.5 - x->t;
    }
    if (G) G[0] = x->p[0], G[1] = 1, G[2] = x->p[1];
    return 0;
}

static int driven_speed(const dae_mech_point *x, double *gI, void *user)
{
    (void)x;
    (void)user;
    gI[0] = 0;
    gI[1] = -1;
    return 0;
}

static void singular_configuration_is_explained(void **state)
{
    mechanism m = {
        .name = "driven", .t_end = 1, .y0 = {0.5, 0.8660254037844386, 0, 1, -0.5773502691896258, 0.1}};
    dae_error err = {0};
    double y[20];
    (void)state;
    m.sys.kind = DAE_KIND_MECH;
    m.sys.mech = (dae_mech){.np = 3,
                            .nv = 3,
                            .ng = 2,
                            .nlambda = 2,
                            .force = no_force3,
                            .constraint = driven,
                            .velocity = driven_speed};
    static const char *const method[] = {"dopri5", "rosnys4", "radau5", "vode"};
    static const dae_setting partition[] = {{"partition", "simple"}, {"partition", "full"}};
    for (int k = 0; k < 8; k++) {
        assert_true(try(&m, method[k / 2], &partition[k % 2], 1, 1e-6, y, NULL, &err, NULL, NULL) < 0);
        assert_between(err.t, 0.49, 0.501);
        assert_non_null(strstr(err.text, "statespace, t = 0."));
        assert_non_null(strstr(err.text, "p = (")); /* x = 1: the wire at its end */
        assert_near(strtod(strstr(err.text, "p = (") + 5, NULL), 1, 1e-3);
        assert_non_null(strstr(err.text, "singular configuration: constraint "));
    }
}

/* What Newton's method for the dependent coordinates costs: a matrix is renewed where it pays. */
typedef struct counted {
    dae_mech mech;
    long residuals, matrices;
} counted;

static int count_constraint(const dae_mech_point *x, double *g, double *G, void *user)
{
    counted *c = user;
    c->residuals += g != NULL;
    c->matrices += G != NULL;
    return c->mech.constraint(x, g, G, c->mech.user);
}

/* Matrices per evaluation of f: renewed at every doubt it would be 7.7, 7.0, 6.9 and 6.2. */
static void matrices_are_renewed_where_it_pays(void **state)
{
    static const double tol[] = {1e-3, 1e-5, 1e-7, 1e-9}, most[] = {7.0, 6.3, 6.2, 5.5};
    (void)state;
    for (int k = 0; k < 4; k++) {
        mechanism m = turning_pendulum(5);
        counted c = {.mech = m.sys.mech};
        double y[20];
        dae_stats st;
        m.sys.mech.constraint = count_constraint;
        m.sys.mech.user = &c;
        solve(&m, "dopri5", "full", "pivoting", tol[k], y, &st);
        assert_between((double)c.matrices / (double)st.f, 4, most[k]);
        assert_between((double)c.residuals / (double)st.f, 4, 6.2); /* corrections */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mechanism_moves_as_in_other_forms),
        cmocka_unit_test(pendulum_turns_with_changing_coordinates),
        cmocka_unit_test(lowered_output_is_continuous_across_changes),
        cmocka_unit_test(multipliers_are_recovered),
        cmocka_unit_test(matrices_are_renewed_where_it_pays),
        cmocka_unit_test(seven_body_meets_its_reference_through_changes),
        cmocka_unit_test(jacobian_matches_differences),
        cmocka_unit_test(seven_body_jacobian_matches_differences),
        cmocka_unit_test(coordinates_that_cannot_be_independent_are_refused),
        cmocka_unit_test(redundant_constraints_are_named),
        cmocka_unit_test(singular_configuration_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
