/* Radau IIA: coefficients, orders, published counts, DAEs of index 1 to 3, failures. */
#include "test.h"

#include <daedalus/experiment.h>

#include "method/radau/coefficients.h"

static const struct coefficients *const all[] = {&order5, &order9, &order13};

/* ---- Coefficients ------------------------------------------------------------------------------- */

/* A = T inv(Lambda) Tinv. */
static void butcher(const struct coefficients *m, double A[S_MAX][S_MAX])
{
    int s = m->s;
    double X[S_MAX][S_MAX];
    for (int j = 0; j < s; j++) {
        X[0][j] = m->Tinv[0][j] / m->gamma;
        for (int k = 0; k < s / 2; k++) { /* inverse of [al -be; be al] */
            double al = m->alpha[k], be = m->beta[k], d = al * al + be * be;
            X[2 * k + 1][j] = (al * m->Tinv[2 * k + 1][j] + be * m->Tinv[2 * k + 2][j]) / d;
            X[2 * k + 2][j] = (al * m->Tinv[2 * k + 2][j] - be * m->Tinv[2 * k + 1][j]) / d;
        }
    }
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) {
            A[i][j] = 0;
            for (int k = 0; k < s; k++) A[i][j] += m->T[i][k] * X[k][j];
        }
    }
}

static void coefficients_satisfy_their_order_conditions(void **state)
{
    (void)state;
    for (int level = 0; level < 3; level++) {
        const struct coefficients *m = all[level];
        double A[S_MAX][S_MAX];
        int s = m->s;
        butcher(m, A);
        for (int q = 1; q <= 2 * s - 1; q++) { /* B(2s-1): b is the last row */
            double sum = 0;
            for (int j = 0; j < s; j++) sum += A[s - 1][j] * pow(m->c[j], q - 1);
            assert_near(sum, 1.0 / q, 3e-14);
        }
        for (int q = 1; q <= s; q++) { /* C(s) */
            for (int i = 0; i < s; i++) {
                double sum = 0;
                for (int j = 0; j < s; j++) sum += A[i][j] * pow(m->c[j], q - 1);
                assert_near(sum, pow(m->c[i], q) / q, 3e-14);
            }
        }
        for (int q = 1; q <= s; q++) { /* error weights */
            double sum = 0;
            for (int j = 0; j < s; j++) sum += m->dd[j] * pow(m->c[j], q);
            assert_near(sum, q == 1 ? -1 : 0, 2e-13);
        }
        assert_near(m->dd[s - 1], -1.0 / s, 1e-15);
    }
}

/* ---- Orders --------------------------------------------------------------------------------------- */

/* y' = (y2, -y1) (1 + y1 y2/4): smooth, nonlinear, no closed form: compared with a fine run. */
static int swing(double t, const double *y, double *f, void *user)
{
    (void)user;
    double a = 1 + 0.25 * y[0] * y[1] + 0.1 * sin(t);
    f[0] = a * y[1];
    f[1] = -a * y[0];
    return 0;
}

static dae_integrator *fixed(const char *order, double h, double t_end)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = swing}};
    dae_options opt = dae_options_default();
    dae_setting setting[2] = {{"order_min", order}, {"order_max", order}};
    dae_error err;
    opt.method = "radau";
    opt.setting = setting;
    opt.nsetting = 2;
    opt.rtol = opt.atol = 1e-14;
    opt.fixed_step = h;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_non_null(it);
    assert_int_equal(dae_integrator_start(it, 0, t_end, (double[]){1, 0.5}, NULL, &err), DAE_OK);
    return it;
}

static void exact(double t, double *y)
{
    dae_integrator *it = fixed("13", t / 64, t);
    assert_int_equal(dae_integrator_advance(it, t, NULL), DAE_OK);
    memcpy(y, dae_integrator_state(it), 2 * sizeof *y);
    dae_integrator_destroy(it);
}

static double end_error(const char *order, double h)
{
    double ref[2];
    exact(4, ref);
    dae_integrator *it = fixed(order, h, 4);
    assert_int_equal(dae_integrator_advance(it, 4, NULL), DAE_OK);
    double e = hypot(dae_integrator_state(it)[0] - ref[0], dae_integrator_state(it)[1] - ref[1]);
    dae_integrator_destroy(it);
    return e;
}

static void observed_orders_are_5_9_13(void **state)
{
    (void)state;
    assert_near(log2(end_error("5", 0.1) / end_error("5", 0.05)), 5, 0.25);
    assert_near(log2(end_error("9", 0.5) / end_error("9", 0.25)), 9, 0.25);
    assert_near(log(end_error("13", 1) / end_error("13", 2.0 / 3)) / log(1.5), 13, 0.6);
}

/* Largest error of the dense output inside the first step: y (what = 0) or y'. */
static double dense_error(const char *order, double h, int what)
{
    double worst = 0;
    dae_integrator *it = fixed(order, h, 4 * h);
    dae_error err;
    assert_int_equal(dae_integrator_step(it, &err), DAE_OK);
    for (int k = 1; k < 8; k++) {
        double t = h * k / 8, y[2], yp[2], ref[2], f[2];
        exact(t, ref);
        swing(t, ref, f, NULL);
        assert_int_equal(dae_integrator_interpolate(it, t, y, yp), DAE_OK);
        worst = fmax(worst, what ? hypot(yp[0] - f[0], yp[1] - f[1]) : hypot(y[0] - ref[0], y[1] - ref[1]));
    }
    dae_integrator_destroy(it);
    return worst;
}

static void dense_output_has_local_order_s_plus_1(void **state)
{
    (void)state;
    assert_near(log2(dense_error("5", 0.1, 0) / dense_error("5", 0.05, 0)), 4, 0.25);
    assert_near(log2(dense_error("9", 0.3, 0) / dense_error("9", 0.15, 0)), 6, 0.25);
    assert_near(log2(dense_error("13", 0.3, 0) / dense_error("13", 0.15, 0)), 8, 0.4);
    assert_near(log2(dense_error("5", 0.1, 1) / dense_error("5", 0.05, 1)), 3, 0.25);
}

/* ---- The published counts --------------------------------------------------------------------------- */

typedef struct row {
    const char *problem, *method;
    double rtol, atol, h0;
    long steps, accepted, f, jac, lu; /* seed 001, methods/radau: printed or made by an independent program */
    double scd;                       /* printed; NAN: not compared */
    double within;                    /* relative */
    const char *jacobian;             /* "published": the test set's approximation; "difference" */
} row;

/* Counts of [TESTSET] for RADAU5 and RADAU. */
static const row rows[] = {
    {"hires", "radau5", 1e-4, 1e-4, 1e-4, 38, 31, 295, 20, 36, 0.75, 0, NULL},
    {"hires", "radau", 1e-4, 1e-4, 1e-4, 38, 31, 295, 20, 37, 0.75, 0, NULL},
    {"hires", "radau", 1e-7, 1e-7, 1e-9, 51, 40, 985, 22, 51, 4.91, 0, NULL},
    {"hires", "radau", 1e-10, 1e-10, 1e-12, 69, 58, 1511, 29, 68, 8.03, 0, NULL},
    {"vdpol-mu", "radau", 1e-4, 1e-4, 1e-6, 210, 172, 1822, 144, 208, 4.28, 0, NULL},
    {"vdpol-mu", "radau", 1e-7, 1e-7, 1e-9, 240, 222, 3508, 187, 238, 8.18, 0, NULL},
    {"vdpol-mu", "radau", 1e-10, 1e-10, 1e-12, 209, 176, 6240, 130, 207, 9.24, 0, NULL},
    {"vdpol-eps", "radau", 1e-4, 1e-4, 1e-6, 242, 207, 2214, 165, 231, 4.44, 0, NULL},
    {"vdpol-eps", "radau", 1e-7, 1e-7, 1e-9, 186, 149, 5212, 102, 173, NAN, 0.05, NULL},
    {"orego", "radau", 1e-4, 1e-4, 1e-6, 268, 222, 3416, 200, 267, 3.12, 0, NULL},
    {"orego", "radau", 1e-7, 1e-7, 1e-9, 267, 216, 6859, 192, 265, 7.48, 0, NULL},
    {"orego", "radau", 1e-10, 1e-10, 1e-12, 261, 202, 12917, 176, 257, 9.82, 0, NULL},
    {"rober", "radau", 1e-4, 1e-8, 1e-6, 114, 112, 811, 108, 113, NAN, 0.05, NULL},
    {"rober", "radau", 1e-7, 1e-11, 1e-9, 112, 110, 1852, 104, 112, 5.67, 0.05, NULL},
    {"rober", "radau", 1e-10, 1e-14, 1e-12, 108, 106, 3420, 92, 108, NAN, 0.05, NULL},
    {"andrews", "radau", 1e-4, 1e-4, 1e-4, 96, 56, 810, 54, 96, 1.36, 0.05, "published"},
    {"andrews", "radau", 1e-7, 1e-7, 1e-7, 114, 95, 1292, 90, 114, NAN, 0.05, "published"},
    {"transamp", "radau", 1e-7, 1e-7, 1e-9, 1775, 1551, 17582, 1541, 1775, NAN, 0.05, NULL},
    {"caraxis", "radau", 1e-4, 1e-4, 1e-4, 98, 97, 850, 95, 98, 0.19, 0.05, "difference"},
    {"caraxis", "radau", 1e-7, 1e-7, 1e-7, 289, 288, 2559, 282, 288, 2.51, 0.05, "difference"},
    {"caraxis", "radau", 1e-10, 1e-10, 1e-10, 179, 178, 4281, 169, 179, 4.22, 0.05, "difference"},
};

typedef struct result {
    dae_status status;
    dae_stats stats;
    dae_score score;
    dae_error err;
} result;

static result run(const row *r)
{
    result out = {0};
    int published = r->jacobian && !strcmp(r->jacobian, "published");
    dae_problem *p =
        dae_problem_create(r->problem, &(dae_setting){"jacobian", "published"}, published, &out.err);
    assert_non_null(p);
    dae_options opt = dae_options_default();
    opt.method = r->method;
    opt.rtol = r->rtol;
    opt.atol = r->atol;
    opt.h0 = r->h0;
    if (r->jacobian && !published) opt.jacobian = r->jacobian;
    double y[64];
    memcpy(y, p->y0, (size_t)dae_system_size(&p->system) * sizeof *y);
    out.status = dae_solve(&p->system, &opt, p->t0, p->t_end, y, &out.stats, &out.err);
    out.score = dae_problem_score(p, &opt, p->published, y);
    dae_problem_destroy(p);
    return out;
}

static void near_count(const row *r, const char *what, long found, long printed)
{
    if ((double)labs(found - printed) > r->within * (double)printed) {
        fail_msg("%s by %s at %g: %s = %ld, printed %ld", r->problem, r->method, r->rtol, what, found,
                 printed);
    }
}

static void counts_of_the_test_set_are_reproduced(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        result x = run(r);
        assert_int_equal(x.status, DAE_OK);
        near_count(r, "steps", x.stats.steps, r->steps);
        near_count(r, "accepted", x.stats.accepted, r->accepted);
        /* The original does not count f at the initial values. Ours iterates once more where a component far below its
         * atol moves by a part of itself: 2 % in hires, steps and all else as printed. */
        row looser = *r;
        looser.within = fmax(r->within, 0.03);
        near_count(&looser, "f", x.stats.f - 1, r->f);
        near_count(r, "jac", x.stats.jac, r->jac);
        near_count(r, "lu", x.stats.lu, r->lu);
        if (!isnan(r->scd)) assert_near(x.score.scd, r->scd, 0.1);
    }
}

static void andrews_by_radau5_keeps_its_digits(void **state)
{
    (void)state;
    double tol[] = {1e-4, 1e-7, 1e-10}, least[] = {1.3, 4.3, 6.5}, h0[] = {0, 1e-7, 1e-4};
    for (int k = 0; k < 9; k++) {
        result x = run(&(row){.problem = "andrews",
                              .method = "radau5",
                              .rtol = tol[k % 3],
                              .atol = tol[k % 3],
                              .h0 = h0[k / 3]});
        assert_int_equal(x.status, DAE_OK);
        assert_true(x.score.scd >= least[k % 3]);
    }
}

static void caraxis_needs_no_hint_for_its_first_step(void **state)
{
    (void)state;
    double least[] = {1.34, 2.1, 2.9, 3.73}; /* mescd; that of 1e-4 and 1e-7 is printed in [TESTSET] */
    for (int k = 4; k <= 7; k++) {
        for (double h0 = 0; h0<0.2; h0 = h0> 0 ? 10 * h0 : 1e-4) {
            result x = run(&(row){.problem = "caraxis",
                                  .method = "radau5",
                                  .rtol = pow(10, -k),
                                  .atol = pow(10, -k),
                                  .h0 = h0});
            assert_int_equal(x.status, DAE_OK);
            assert_true(x.score.mescd >= least[k - 4] - 0.1);
        }
    }
}

static void transamp_where_the_original_failed(void **state)
{
    (void)state; /* [TESTSET] lists these runs as failed: the program could not handle "not evaluable" */
    double least[] = {4.2, 4.2, 5.2};
    for (int k = 4; k <= 6; k++) {
        double tol = pow(10, -k);
        result x = run(
            &(row){.problem = "transamp", .method = "radau5", .rtol = tol, .atol = tol, .h0 = 1e-2 * tol});
        assert_int_equal(x.status, DAE_OK);
        assert_true(x.score.scd >= least[k - 4]);
        if (k == 4) assert_true(x.stats.undefined > 0);
    }
}

/* Tolerances of the test set's diagrams at which the iteration stalled before it could renew its Jacobian. */
static void pump_passes_the_kinks_of_its_charges(void **state)
{
    (void)state; /* [TESTSET] lists RADAU and RADAU5 as failed at all of them */
    for (int k = 0; k < 30; k++) {
        double rtol = pow(10, -(1 + 0.5 * (k % 15)));
        dae_error err = {0};
        dae_problem *p = dae_problem_create("pump", NULL, 0, &err);
        assert_non_null(p);
        dae_run_options o = dae_run_options_default(p);
        o.options.method = k < 15 ? "radau5" : "radau";
        o.options.rtol = o.options.atol = rtol;
        o.options.h0 = 1e-6 * rtol;
        o.options.max_steps = 5000;
        dae_run_result *r = dae_run(p, &o, &err);
        assert_non_null(r);
        if (r->status != DAE_OK) fail_msg("%s at rtol %g: %s", r->solver, rtol, r->error.text);
        if (rtol < 2e-3) assert_true(r->scd > 9);
        dae_run_destroy(r);
        dae_problem_destroy(p);
    }
}

static void tba_starts_with_the_lowest_order_after_each_jump(void **state)
{
    (void)state; /* order 9 from the last segment led to 80000 steps and no end at t = 290 */
    dae_error err = {0};
    dae_problem *p = dae_problem_create("tba", NULL, 0, &err);
    assert_non_null(p);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "radau";
    o.options.rtol = o.options.atol = pow(10, -5.25);
    o.options.h0 = 10 * o.options.rtol;
    o.options.max_steps = 5000;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->status, DAE_OK);
    assert_true(r->scd > 5.5);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void emep_goes_on_with_its_order_after_each_jump(void **state)
{
    (void)state; /* an ODE; from order 5 and the step given for the start: 857 steps */
    dae_error err = {0};
    dae_problem *p = dae_problem_create("emep", NULL, 0, &err);
    assert_non_null(p);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "radau";
    o.options.rtol = 1e-8;
    o.options.atol = 1;
    o.options.h0 = 1e-7;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->status, DAE_OK);
    assert_true(r->stats.steps < 600);
    assert_true(r->scd > 7.8);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

static void ringmod_without_capacitance_at_loose_tolerance(void **state)
{
    (void)state; /* index 2: where diodes block, the Jacobian of the last point is wrong by powers of ten */
    dae_error err = {0};
    dae_problem *p = dae_problem_create("ringmod", &(dae_setting){"Cs", "0"}, 1, &err);
    assert_non_null(p);
    dae_run_options o = dae_run_options_default(p);
    o.options.method = "radau5";
    o.options.rtol = pow(10, -4);
    o.options.atol = o.options.rtol * 1e-6;
    o.options.h0 = o.options.rtol * 1e-2;
    dae_run_result *r = dae_run(p, &o, &err);
    assert_non_null(r);
    assert_int_equal(r->status, DAE_OK);
    assert_near(r->last.y[0], -0.0233991, 1e-4);
    dae_run_destroy(r);
    dae_problem_destroy(p);
}

/* ---- Pendulum: orders on index 3 and 2 -------------------------------------------------------------- */

/* p' = v, v' = -lambda p - (0,1), |p|^2 = 1 (index 3) or p.v = 0 (index 2). */
static int pendulum(double t, const double *y, double *f, void *user)
{
    (void)t;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[4] * y[0];
    f[3] = -y[4] * y[1] - 1;
    f[4] = *(int *)user == 3 ? y[0] * y[0] + y[1] * y[1] - 1 : y[0] * y[2] + y[1] * y[3];
    return 0;
}

/* Errors at t = 2 of position, velocity, multiplier against a run of order 13 on index 2. */
static void pendulum_errors(int index, const char *order, double h, double *e)
{
    static const double mass[5] = {1, 1, 1, 1, 0};
    static const int index3[5] = {1, 1, 2, 2, 3}, index2[5] = {1, 1, 1, 1, 2};
    double y[2][5] = {{1, 0, 0, 0, 0}, {1, 0, 0, 0, 0}};
    for (int k = 0; k < 2; k++) {
        int form = k ? index : 2;
        dae_system sys = {.kind = DAE_KIND_DAE,
                          .dae = {.n = 5, .mass = dae_diagonal(5, mass), .f = pendulum, .user = &form},
                          .structure = {.index = form == 3 ? index3 : index2}};
        dae_setting setting[2] = {{"order_min", k ? order : "13"}, {"order_max", k ? order : "13"}};
        dae_options opt = dae_options_default();
        dae_error err;
        opt.method = "radau";
        opt.setting = setting;
        opt.nsetting = 2;
        opt.rtol = opt.atol = 1e-12;
        opt.fixed_step = k ? h : 0.02;
        assert_int_equal(dae_solve(&sys, &opt, 0, 2, y[k], NULL, &err), DAE_OK);
    }
    e[0] = hypot(y[1][0] - y[0][0], y[1][1] - y[0][1]);
    e[1] = hypot(y[1][2] - y[0][2], y[1][3] - y[0][3]);
    e[2] = fabs(y[1][4] - y[0][4]);
}

static void pendulum_orders_are_those_of_theory(void **state)
{
    (void)state; /* [HW96] table VII.4.1, VII.6: s = 3: index 2: 5, 5, 3; index 3: 5, 3, 2 */
    double a[3], b[3];
    pendulum_errors(2, "5", 0.1, a);
    pendulum_errors(2, "5", 0.05, b);
    assert_near(log2(a[0] / b[0]), 5, 0.3);
    assert_near(log2(a[1] / b[1]), 5, 0.3);
    assert_near(log2(a[2] / b[2]), 3, 0.3);
    pendulum_errors(3, "5", 0.1, a);
    pendulum_errors(3, "5", 0.05, b);
    assert_near(log2(a[0] / b[0]), 5, 0.5);
    assert_near(log2(a[1] / b[1]), 3, 0.3);
    assert_near(log2(a[2] / b[2]), 2, 0.3);
}

static int prothero(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -1e6 * (y[0] - cos(t)) - sin(t);
    return 0;
}

static void stiff_order_is_the_stage_order(void **state)
{
    (void)state; /* Prothero-Robinson, lambda = -1e6: order s = 3 */
    double e[2];
    for (int k = 0; k < 2; k++) {
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = prothero}};
        dae_options opt = dae_options_default();
        double y = 1;
        opt.method = "radau5";
        opt.rtol = opt.atol = 1e-14;
        opt.fixed_step = k ? 0.05 : 0.1;
        assert_int_equal(dae_solve(&sys, &opt, 0, 1, &y, NULL, NULL), DAE_OK);
        e[k] = fabs(y - cos(1.0));
    }
    assert_near(log2(e[0] / e[1]), 3, 0.25);
}

/* ---- Failures ------------------------------------------------------------------------------------- */

static int blows_up(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = y[0] * y[0]; /* y = 1/(1-t) */
    return 0;
}

static void singularity_gives_a_message_with_its_time(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = blows_up}};
    dae_options opt = dae_options_default();
    dae_error err;
    double y = 1;
    opt.method = "radau5";
    dae_status s = dae_solve(&sys, &opt, 0, 2, &y, NULL, &err);
    assert_true(s == DAE_ERR_STEP_TOO_SMALL || s == DAE_ERR_SINGULAR);
    assert_near(err.t, 1, 1e-3);
}

/* Stiff DETEST D4: y[2] is a millionth of the others and dies out in 1/3500. */
static int traces(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = -0.013 * y[0] - 1000 * y[0] * y[2];
    f[1] = -2500 * y[1] * y[2];
    f[2] = f[0] + f[1];
    return 0;
}

/* Stiff DETEST F3: all components are far below atol. */
static int enzymes(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    double a = 1e7 * y[1] * y[0], b = 10 * y[2], c = 1e7 * y[1] * y[3], d = 10 * y[4];
    f[0] = -a + b;
    f[1] = -a - c + b + d;
    f[2] = a - 1.001e4 * y[2] + 1e-3 * y[3];
    f[3] = 1e4 * y[2] - 1e-3 * y[3] - c + d;
    f[4] = c - d;
    return 0;
}

/* The polynomial of the last step, continued over one several times as long, led the iteration astray: without a start from y_n h
 * was halved until it converged and grew again at once, with 11 failures in D4 and as many in F3. */
static void radau_grows_its_steps_without_failures(void **state)
{
    (void)state;
    static const struct {
        dae_rhs *f;
        int n;
        double end, rtol, start[5], result[5];
        long steps, failures;
    } run[] = {
        {traces,
         3,
         50,
         1e-5,
         {1, 1},
         {5.976546980673215e-01, 1.402343408546138, -1.893386540441913e-06},
         10,
         1},
        {enzymes,
         5,
         100,
         1e-3,
         {4e-6, 1e-6},
         {3.235910070806680e-13, 2.360679774997897e-07, 7.639319089351045e-14, 7.639319461070194e-07,
          3.236067653908783e-06},
         5,
         1},
    };
    for (int k = 0; k < 4; k++) {
        int i = k / 2, n = run[i].n;
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = n, .f = run[i].f}};
        dae_options opt = dae_options_default();
        dae_stats stats;
        double y[5];
        memcpy(y, run[i].start, sizeof y);
        opt.method = k % 2 ? "radau" : "radau5";
        opt.rtol = opt.atol = run[i].rtol;
        assert_int_equal(dae_solve(&sys, &opt, 0, run[i].end, y, &stats, NULL), DAE_OK);
        assert_true(stats.steps <= run[i].steps);
        assert_true(stats.newton_failures <= run[i].failures);
        for (int j = 0; j < n; j++) assert_near(y[j], run[i].result[j], run[i].rtol);
    }
}

/* ---- Corners -------------------------------------------------------------------------------------- */

enum { CORNERS = 8 };

typedef struct wave {
    double at; /* of the first corner, the others 1 apart */
    int cusps;
} wave;

static int driven(double t, const double *y, double *f, void *user)
{
    const wave *w = user;
    double x = t - w->at, g = 0;
    if (!w->cusps) g = -fabs(sin(3.14159265358979323846 * fmax(x, 0)));
    for (int i = 0; w->cusps && i < CORNERS; i++) g += sqrt(fabs(x - i));
    f[0] = y[1];
    f[1] = -y[0] + 0.01 * y[1] * (1 - y[0] * y[0]) + g;
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A corner is met by chance, so that it is the 37th of the errors of 40 runs that counts, in tolerances. At a few places of a step
 * the estimate is zero for a corner, or as large as without it. The 37th were 2800, 305, 6400 and 29 000 before more signs of corners were known. */
static void corners_are_seen_wherever_they_fall(void **state)
{
    static const double bound[] = {30, 250, 150, 150};
    enum { RUNS = 40 };
    (void)state;
    for (int k = 0; k < 4; k++) {
        double error[RUNS];
        for (int i = 0; i < RUNS; i++) {
            wave w = {.at = 0.3 + fmod(i * 0.61803398875, 1), .cusps = k % 2};
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = driven, .user = &w}};
            dae_options o = dae_options_default();
            dae_error err;
            double y[] = {0.5, 0}, exact[] = {0.5, 0}, corner[CORNERS];
            for (int j = 0; j < CORNERS; j++) corner[j] = w.at + j;
            o.method = "dop853";
            o.rtol = 1e-13;
            o.atol = 1e-14;
            o.discontinuity = corner;
            while (o.ndiscontinuity < CORNERS && corner[o.ndiscontinuity] < 6.7) o.ndiscontinuity++;
            assert_int_equal(dae_solve(&sys, &o, 0, 6.7, exact, NULL, &err), DAE_OK);
            o = dae_options_default();
            o.method = k / 2 ? "radau" : "radau5";
            o.rtol = o.atol = 1e-9;
            assert_int_equal(dae_solve(&sys, &o, 0, 6.7, y, NULL, &err), DAE_OK);
            error[i] = 0;
            for (int j = 0; j < 2; j++)
                error[i] = fmax(error[i], fabs(y[j] - exact[j]) / (o.atol + o.rtol * fabs(exact[j])));
        }
        qsort(error, RUNS, sizeof *error, by_size);
        if (!(error[36] <= bound[k]))
            fail_msg("%s, %s: %g", k / 2 ? "radau" : "radau5", k % 2 ? "cusps" : "corners", error[36]);
    }
}

/* However large a jump is, steps do not shrink below what t can tell. */
static int jumps(double t, const double *y, double *f, void *user)
{
    (void)y, (void)user;
    f[0] = t < 1 ? 1 : 3e5;
    return 0;
}

static void large_jumps_are_passed(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = jumps}};
        dae_options o = dae_options_default();
        dae_error err;
        double y = 0;
        o.method = k ? "radau" : "radau5";
        o.rtol = o.atol = 1e-10;
        assert_int_equal(dae_solve(&sys, &o, 0, 2, &y, NULL, &err), DAE_OK);
        assert_near(y / 3e5, 1 + 1 / 3e5, 1e-9);
    }
}

static int redundant(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = -y[0] + y[1];
    f[1] = y[0] - 1; /* y[1] occurs in no algebraic equation in a solvable way */
    f[2] = 2 * (y[0] - 1);
    return 0;
}

static void redundant_equations_are_called_singular(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_DAE,
                      .dae = {.n = 3, .mass = dae_diagonal(3, (double[]){1, 0, 0}), .f = redundant}};
    dae_options opt = dae_options_default();
    dae_error err;
    double y[3] = {1, 1, 0};
    opt.method = "radau5";
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_SINGULAR);
    assert_non_null(strstr(err.text, "redundant"));
}

/* fekete: 160 equations, factored densely; the matrices on one, two and four threads. */
static void threads_give_the_same_bits(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("fekete", NULL, 0, NULL);
    dae_run_result *r[3];
    for (int k = 0; k < 3; k++) {
        dae_run_options o = dae_run_options_default(p);
        o.options.method = "radau";
        o.options.rtol = o.options.atol = 1e-6;
        o.options.threads = 1 << k;
        r[k] = dae_run(p, &o, NULL);
        assert_non_null(r[k]);
        assert_int_equal(r[k]->status, DAE_OK);
        assert_true(r[k]->stats.order_last > 5); /* several complex matrices */
        assert_int_equal(r[k]->stats.lu, r[0]->stats.lu);
        assert_memory_equal(r[k]->last.y, r[0]->last.y, (size_t)r[0]->n * sizeof(double));
    }
    for (int k = 0; k < 3; k++) dae_run_destroy(r[k]);
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_satisfy_their_order_conditions),
        cmocka_unit_test(observed_orders_are_5_9_13),
        cmocka_unit_test(dense_output_has_local_order_s_plus_1),
        cmocka_unit_test(counts_of_the_test_set_are_reproduced),
        cmocka_unit_test(andrews_by_radau5_keeps_its_digits),
        cmocka_unit_test(caraxis_needs_no_hint_for_its_first_step),
        cmocka_unit_test(transamp_where_the_original_failed),
        cmocka_unit_test(pump_passes_the_kinks_of_its_charges),
        cmocka_unit_test(tba_starts_with_the_lowest_order_after_each_jump),
        cmocka_unit_test(emep_goes_on_with_its_order_after_each_jump),
        cmocka_unit_test(ringmod_without_capacitance_at_loose_tolerance),
        cmocka_unit_test(pendulum_orders_are_those_of_theory),
        cmocka_unit_test(stiff_order_is_the_stage_order),
        cmocka_unit_test(singularity_gives_a_message_with_its_time),
        cmocka_unit_test(radau_grows_its_steps_without_failures),
        cmocka_unit_test(corners_are_seen_wherever_they_fall),
        cmocka_unit_test(large_jumps_are_passed),
        cmocka_unit_test(redundant_equations_are_called_singular),
        cmocka_unit_test(threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
