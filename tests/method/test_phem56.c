/* phem56: order conditions, observed orders, published counts on the seven body mechanism, dense output, events,
 * external dynamics, nonholonomic constraints, quaternions, faults, checkpoints. */
#include "test.h"

#include <daedalus/daedalus.h>

#include "method/mechanisms.h"
#include "method/phem56/coefficients.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* ---- Coefficients --------------------------------------------------------------------------------- */

static void coefficients_satisfy_their_conditions(void **state)
{
    (void)state;
    double sums[3] = {0, 0, 0};
    for (int i = 1; i <= STAGES; i++) {
        double sum[3] = {0, 0, 0}, cb = phem56_cbar[i];
        for (int j = 0; j <= i; j++) {
            double c = j == END ? 1 : phem56_c[j];
            sum[0] += phem56_abar[i][j];
            sum[1] += phem56_abar[i][j] * c;
            sum[2] += phem56_abar[i][j] * c * c;
        }
        assert_near(sum[0], cb, 4e-15);
        assert_near(sum[1], cb * cb / 2, 4e-15);
        assert_near(sum[2], cb * cb * cb / 3, 4e-15);
    }
    for (int i = 1; i < STAGES; i++) {
        double sum = 0;
        for (int j = 0; j < i; j++) sum += phem56_a[i][j];
        assert_near(sum, phem56_c[i], 1e-14);
    }
    for (int j = 0; j <= END; j++) {
        sums[0] += phem56_embedded[j];
        sums[1] += phem56_middle[j];
    }
    assert_near(sums[0], 1, 1e-15);
    assert_near(sums[1], PHEM56_MIDDLE, 1e-15);
    for (int k = 0; k < 5; k++) { /* b integrates t^k exactly, k < 5 */
        double sum = 0;
        for (int j = 0; j < STAGES; j++) sum += phem56_abar[STAGES - 1][j] * pow(phem56_c[j], k);
        assert_near(sum, 1.0 / (k + 1), 1e-15);
    }
}

/* ---- Runs ------------------------------------------------------------------------------------------ */

static dae_integrator *start(const dae_system *sys, dae_options opt, double t0, double t_end,
                             const double *y0, const char *name, const char *value)
{
    dae_error err = {0};
    dae_setting setting = {name, value};
    opt.method = "phem56";
    opt.setting = &setting;
    opt.nsetting = name != NULL;
    dae_integrator *it = dae_integrator_create(sys, &opt, &err);
    if (!it || dae_integrator_start(it, t0, t_end, y0, NULL, &err)) fail_msg("%s", err.text);
    return it;
}

static dae_options tolerance(double tol)
{
    dae_options opt = dae_options_default();
    opt.rtol = opt.atol = tol;
    return opt;
}

static void finish(dae_integrator *it, double t)
{
    dae_error err = {0};
    if (dae_integrator_advance(it, t, &err) < 0) fail_msg("%s", err.text);
}

static void exact_pendulum(double t, double *y)
{
    dae_options opt = tolerance(1e-13);
    opt.method = "mexx";
    memcpy(y, (double[]){1, 0, 0, 0}, 4 * sizeof *y);
    if (t > 0) assert_int_equal(dae_solve(&pendulum, &opt, 0, t, y, NULL, NULL), DAE_OK);
}

static double largest(const double *a, const double *b, int n)
{
    double e = 0;
    for (int i = 0; i < n; i++) e = fmax(e, fabs(a[i] - b[i]));
    return e;
}

/* T = 2 in steps of h and h/2: order 5 in q and v; a and lambda of order 5 (solved) or 4 (stage), the latter as
 * the derivative of the dense output at the end, which is what the method carries. */
static void pendulum_shows_order_5(void **state)
{
    static const char *const how[] = {"solved", "stage"};
    (void)state;
    double exact[4];
    exact_pendulum(2, exact);
    for (int k = 0; k < 2; k++) {
        double error[2][3];
        for (int m = 0; m < 2; m++) {
            dae_options opt = tolerance(1e-6);
            opt.fixed_step = m ? 1.0 / 40 : 1.0 / 20;
            dae_integrator *it = start(&pendulum, opt, 0, 2, (double[]){1, 0, 0, 0}, "acceleration", how[k]);
            finish(it, 2);
            double y[4], yp[4], lambda = -3 * exact[1], a[2] = {-lambda * exact[0], -1 - lambda * exact[1]};
            dae_integrator_interpolate(it, 2, y, yp);
            error[m][0] = largest(y, exact, 2);
            error[m][1] = largest(y + 2, exact + 2, 2);
            error[m][2] = largest(yp + 2, a, 2);
            assert_near(y[0] * y[2] + y[1] * y[3], 0, 1e-15);
            dae_integrator_destroy(it);
        }
        assert_between(log2(error[0][0] / error[1][0]), 4.7, 5.4);
        assert_between(log2(error[0][1] / error[1][1]), 4.7, 5.4);
        assert_between(log2(error[0][2] / error[1][2]), k ? 3.7 : 4.7, k ? 4.5 : 5.4);
    }
}

static void seven_bodies_show_order_5(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
    double error[2];
    for (int m = 0; m < 2; m++) {
        dae_options opt = tolerance(1e-6);
        opt.fixed_step = 0.03 / (m ? 1600 : 800);
        dae_integrator *it = start(&p->system, opt, 0, 0.03, p->y0, NULL, NULL);
        finish(it, 0.03);
        error[m] = largest(dae_integrator_state(it), p->reference, 7);
        dae_integrator_destroy(it);
    }
    assert_between(log2(error[0] / error[1]), 4.6, 5.4);
    dae_problem_destroy(p);
}

/* Factorizations (6 per attempted step) and largest relative error of q(0.03), as published for the method. */
static void seven_body_counts_are_the_published_ones(void **state)
{
    static const struct {
        double tol, count, error;
    } row[] = {{1e-5, 402, 3.6e-5}, {1e-7, 942, 2.7e-7}, {1e-9, 1992, 2.3e-9}, {1e-11, 4932, 2.1e-11}};
    static const char *const mode[] = {"auto", "dense_lu", "sparse_lu", "recursive_constraint"};
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
    for (int m = 0; m < 4; m++) {
        for (int k = 0; k < 4; k++) {
            dae_options opt = tolerance(row[k].tol);
            opt.h0 = 1e-3;
            dae_integrator *it = start(&p->system, opt, 0, 0.03, p->y0, "linear_algebra", mode[m]);
            finish(it, 0.03);
            const dae_stats *st = dae_integrator_stats(it);
            const double *y = dae_integrator_state(it);
            double error = 0;
            for (int i = 0; i < 7; i++) error = fmax(error, fabs(y[i] / p->reference[i] - 1));
            /* (M, G, gI) are evaluated with each force and once to project the end of each step and the start */
            assert_int_equal(st->nfcn, st->f + st->accepted + 1);
            assert_between((double)(6 * st->steps), 0.9 * row[k].count, 1.1 * row[k].count);
            assert_between(error, row[k].error / 2, row[k].error * 2);
            assert_between(st->position_residual, 0, 30 * row[k].tol * row[k].tol + 1e-15);
            assert_between(st->velocity_residual, 0, 30 * row[k].tol * row[k].tol + 1e-12);
            assert_between(st->acceleration_residual, 0, 1e-7); /* of numbers of size 1e5 */
            dae_integrator_destroy(it);
        }
    }
    dae_problem_destroy(p);
}

static void projection_removes_drift_and_error(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
    static const char *const every[] = {"1", "3", "0"};
    double drift[3], error[3];
    for (int k = 0; k < 3; k++) {
        dae_options opt = tolerance(1e-7);
        opt.h0 = 1e-3;
        dae_integrator *it = start(&p->system, opt, 0, 0.03, p->y0, "project", every[k]);
        finish(it, 0.03);
        double g[6];
        const double *y = dae_integrator_state(it);
        p->system.mech.constraint(&(dae_mech_point){.t = 0.03, .p = y}, g, NULL, p->system.mech.user);
        drift[k] = largest(g, (double[6]){0}, 6);
        error[k] = largest(y, p->reference, 7);
        dae_integrator_destroy(it);
    }
    assert_true(drift[0] < 1e-15 && drift[2] > 1e-10);
    assert_true(error[2] > 1.4 * error[0]);
    dae_problem_destroy(p);
}

/* Errors of y within 30 rtol of its size, of a and lambda within 60. */
static void experiments_meet_their_references(void **state)
{
    static const double lambda[6] = {199.17534810453863, -29.755309974971763, 23.066543611622151,
                                     31.452725275771137, 22.642494786394379,  11.617392352611256};
    static const char *const name[] = {"seven-body", "insulator-chain"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_create(name[k], &(dae_setting){"N", "16"}, k, &err);
        int n = dae_system_size(&p->system), np = p->system.mech.np;
        for (double tol = 1e-5; tol > 5e-10; tol /= 100) {
            double a[60], l[60], size[2] = {1, 1};
            dae_options opt = tolerance(tol);
            opt.h0 = 1e-3;
            dae_integrator *it = start(&p->system, opt, 0, p->t_end, p->y0, NULL, NULL);
            finish(it, p->t_end);
            const double *y = dae_integrator_state(it);
            for (int i = 0; i < n; i++) size[i >= np] = fmax(size[i >= np], fabs(p->reference[i]));
            for (int i = 0; i < n; i++) assert_near(y[i], p->reference[i], 30 * tol * size[i >= np]);
            assert_int_equal(dae_integrator_multipliers(it, p->t_end, a, l), DAE_OK);
            for (int i = 0; k == 0 && i < 6; i++) assert_near(l[i], lambda[i], 60 * tol * 200);
            dae_integrator_destroy(it);
        }
        dae_problem_destroy(p);
    }
}

static void friction_is_left_to_mexx(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("cable-drum", NULL, 0, &err);
    dae_options opt = tolerance(1e-5);
    opt.method = "phem56";
    dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
    assert_int_equal(dae_integrator_start(it, 0, 1, p->y0, NULL, &err), DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "mexx"));
    dae_integrator_destroy(it);
    dae_problem_destroy(p);
}

/* ---- Dense output and events ----------------------------------------------------------------------- */

/* The derivative that is given is that of what is given. */
static double slope_error(dae_integrator *it, double t, const double *yp)
{
    double e = 1e-5, left[4], right[4];
    dae_integrator_interpolate(it, t - e, left, NULL);
    dae_integrator_interpolate(it, t + e, right, NULL);
    for (int i = 0; i < 4; i++) left[i] = (right[i] - left[i]) / (2 * e);
    return largest(left, yp, 4);
}

/* One step of the pendulum: error O(h^6) inside it, O(h^5) where the acceleration is a stage; y' one order less; continuous with its
 * derivative. */
static void dense_output_is_of_order_5_and_4(void **state)
{
    static const char *const how[] = {"solved", "stage"};
    (void)state;
    for (int stage = 0; stage < 2; stage++) {
        double error[2][2] = {{0}};
        for (int k = 0; k < 2; k++) {
            double t0 = 0.7, h = k ? 0.1 : 0.2, y0[4], y[4], yp[4], exact[4];
            exact_pendulum(t0, y0);
            dae_options opt = tolerance(1e-6);
            opt.fixed_step = h;
            dae_integrator *it = start(&pendulum, opt, t0, t0 + 1, y0, "acceleration", how[stage]);
            assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
            for (int i = 0; i <= 8; i++) {
                double t = i == 8 ? t0 + h : t0 + i * h / 8, slope[4];
                exact_pendulum(t, exact);
                dae_integrator_interpolate(it, t, y, yp);
                slope[0] = exact[2];
                slope[1] = exact[3];
                slope[2] = 3 * exact[1] * exact[0];
                slope[3] = -1 + 3 * exact[1] * exact[1];
                error[k][0] = fmax(error[k][0], largest(y, exact, 4));
                error[k][1] = fmax(error[k][1], largest(yp, slope, 4));
                if (i == 0) assert_near(largest(y, y0, 4), 0, 1e-15);
                if (i % 8) assert_near(slope_error(it, t, yp), 0, 1e-8);
            }
            dae_integrator_destroy(it);
        }
        assert_between(log2(error[0][0] / error[1][0]), stage ? 4.5 : 5.5, stage ? 6.5 : 7.5);
        assert_between(log2(error[0][1] / error[1][1]), stage ? 3.6 : 4.6, stage ? 5.5 : 6.5);
    }
}

static int beta_acceleration(double t, const double *y, const double *yp, double *phi, void *user)
{
    (void)t, (void)y, (void)user;
    phi[0] = yp[7];
    return 0;
}

static void seven_body_has_five_roots(void **state)
{
    static const double exact[5] = {0.0112407644596771, 0.0160170373655476, 0.0214661437540631,
                                    0.0246237740038185, 0.0299782844533724};
    (void)state;
    for (int k = 0; k < 2; k++) {
        dae_error err = {0};
        double tol = k ? 1e-9 : 1e-5;
        dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
        dae_options opt = tolerance(tol);
        opt.method = "phem56";
        dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
        dae_event event = {.name = "root", .residual = 1e-6};
        dae_events events = {.count = 1, .event = &event, .phi = beta_acceleration};
        assert_int_equal(dae_integrator_set_events(it, &events, &err), DAE_OK);
        assert_int_equal(dae_integrator_start(it, 0, 0.03, p->y0, NULL, &err), DAE_OK);
        finish(it, 0.03);
        int count = 0;
        const dae_event_record *record = dae_integrator_events(it, &count);
        assert_int_equal(count, 5);
        for (int i = 0; i < 5; i++) assert_near(record[i].t, exact[i], (k ? 1e-7 : 2e-4) * exact[i]);
        dae_integrator_destroy(it);
        dae_problem_destroy(p);
    }
}

/* ---- Small systems --------------------------------------------------------------------------------- */

static void nonholonomic_skate_follows_its_cycloid(void **state)
{
    (void)state;
    double omega = 1.3, t = 4, y[6] = {0, 0, 0, 0, 0, 1.3}, c = 1 / (2 * omega * omega);
    dae_options opt = tolerance(1e-9);
    opt.method = "phem56";
    assert_int_equal(dae_solve(&skate, &opt, 0, t, y, NULL, NULL), DAE_OK);
    assert_near(y[0], c * sin(omega * t) * sin(omega * t), 3e-8);
    assert_near(y[1], c * (omega * t - sin(2 * omega * t) / 2), 3e-8);
    assert_near(y[2], omega * t, 1e-10);
}

/* A wheel of radius 1 and inertia 1 that a point of mass 1 on the unit circle turns without slipping: a constraint on positions and one
 * on velocities only. x = cos phi, y = sin phi, angle phi, 2 phi'' = -cos phi. */
static int fall(const dae_mech_point *x, double *f, void *user)
{
    (void)x, (void)user;
    f[0] = f[2] = 0;
    f[1] = -1;
    return 0;
}

static int circle_and_wheel(const dae_mech_point *x, double *g, double *G, void *user)
{
    double row[2][3] = {{x->p[0], x->p[1], 0}, {x->p[1], -x->p[0], 1}};
    (void)user;
    if (g) g[0] = (x->p[0] * x->p[0] + x->p[1] * x->p[1] - 1) / 2;
    for (int k = 0; G && k < 6; k++) G[k] = row[k % 2][k / 2];
    return 0;
}

static int turning(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -cos(y[0]) / 2;
    return 0;
}

static void constraints_on_positions_and_on_velocities_go_together(void **state)
{
    static const dae_system wheel = {
        .kind = DAE_KIND_MECH,
        .mech = {.np = 3, .nv = 3, .ng = 1, .nlambda = 2, .force = fall, .constraint = circle_and_wheel}};
    static const dae_system phi = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = turning}};
    (void)state;
    double y[6] = {1, 0, 0, 0, 0, 0}, exact[2] = {0, 0};
    dae_options opt = tolerance(1e-12);
    opt.method = "dop853";
    assert_int_equal(dae_solve(&phi, &opt, 0, 5, exact, NULL, NULL), DAE_OK);
    opt = tolerance(1e-8);
    opt.method = "phem56";
    assert_int_equal(dae_solve(&wheel, &opt, 0, 5, y, NULL, NULL), DAE_OK);
    double is[6] = {
        cos(exact[0]), sin(exact[0]), exact[0], -sin(exact[0]) * exact[1], cos(exact[0]) * exact[1],
        exact[1]};
    assert_near(largest(y, is, 6), 0, 1e-6);
    assert_near(y[0] * y[0] + y[1] * y[1], 1, 1e-10);
}

static void moving_constraint_and_external_dynamics(void **state)
{
    (void)state;
    double a[2], lambda[1], y[5];
    dae_options opt = tolerance(1e-9);
    dae_integrator *it = start(&driven, opt, 0, 3, (double[]){0, 0, 1, 0, 0}, NULL, NULL);
    double t = 0;
    while (dae_integrator_time(it) < 3) {
        assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        for (; t <= dae_integrator_time(it); t += 0.1) {
            dae_integrator_interpolate(it, t, y, NULL);
            assert_int_equal(dae_integrator_multipliers(it, t, a, lambda), DAE_OK);
            assert_near(y[0], sin(t), 1e-6);
            assert_near(y[1], -t * t / 2, 1e-6);
            assert_near(y[4], 1 - cos(t), 1e-6);
            assert_near(lambda[0], sin(t), 1e-8);
            assert_near(a[1], -1, 1e-9);
        }
    }
    y[4] = dae_integrator_state(it)[4];
    assert_near(y[4], 1 - cos(3), 1e-8);
    dae_integrator_destroy(it);
}

static void heavy_top_with_euler_parameters(void **state)
{
    (void)state;
    double y[13] = {0, 1, 0, 1, 0, 0, 0, 4.61538, 0, 0, 0, 150, -4.61538}, other[13], energy = top_energy(y),
           A[9];
    memcpy(other, y, sizeof y);
    dae_options opt = tolerance(1e-9);
    opt.method = "phem56";
    dae_stats stats;
    dae_error err = {0};
    if (dae_solve(&heavy_top, &opt, 0, 0.5, y, &stats, &err)) fail_msg("%s", err.text);
    assert_near(y[3] * y[3] + y[4] * y[4] + y[5] * y[5] + y[6] * y[6], 1, 1e-14);
    rotation(y + 3, A);
    for (int i = 0; i < 3; i++) assert_near(y[i], A[i + 3], 1e-13);
    assert_near(top_energy(y) / energy, 1, 1e-8);
    opt.method = "mexx";
    if (dae_solve(&heavy_top, &opt, 0, 0.5, other, NULL, &err)) fail_msg("%s", err.text);
    for (int i = 0; i < 7; i++) assert_near(y[i], other[i], 1e-6);
}

static void backward_integration_returns_to_the_start(void **state)
{
    (void)state;
    double y[4] = {1, 0, 0, 0};
    dae_options opt = tolerance(1e-10);
    opt.method = "phem56";
    assert_int_equal(dae_solve(&pendulum, &opt, 0, 2, y, NULL, NULL), DAE_OK);
    assert_true(fabs(y[0] - 1) > 0.1);
    assert_int_equal(dae_solve(&pendulum, &opt, 2, 0, y, NULL, NULL), DAE_OK);
    assert_near(y[0], 1, 1e-8);
    assert_near(y[2], 0, 1e-8);
}

static void inconsistent_start_is_projected_or_refused(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_options opt = tolerance(1e-8);
    dae_integrator *it = start(&pendulum, opt, 0, 1, (double[]){1.001, 0, 0.01, -0.5}, NULL, NULL);
    const double *y = dae_integrator_state(it);
    assert_near(y[0], 1, 1e-14); /* what is handed out at the start lies on the constraints */
    assert_near(y[2], 0, 1e-14);
    finish(it, 1);
    y = dae_integrator_state(it);
    assert_near(y[0] * y[0] + y[1] * y[1], 1, 1e-14);
    assert_near((y[2] * y[2] + y[3] * y[3]) / 2 + y[1], 0.125, 1e-6);
    dae_integrator_destroy(it);
    opt.method = "phem56";
    it = dae_integrator_create(&pendulum, &opt, &err);
    assert_int_equal(dae_integrator_start(it, 0, 1, (double[]){1e-9, 0, 0, 0}, NULL, &err),
                     DAE_ERR_INCONSISTENT);
    assert_non_null(strstr(err.text, "constraint 1"));
    dae_integrator_destroy(it);
}

/* ---- Faults, memory, checkpoints ------------------------------------------------------------------- */

typedef struct fault {
    int calls, at, answer;
} fault;

static int faulty(const dae_mech_point *x, double *f, void *user)
{
    fault *k = user;
    if (++k->calls == k->at) {
        if (k->answer) return k->answer;
        f[0] = NAN;
        f[1] = 0;
        return 0;
    }
    return weight(x, f, NULL);
}

static void a_failing_callback_shrinks_the_step_or_stops(void **state)
{
    (void)state;
    double exact[4];
    exact_pendulum(1, exact);
    for (int answer = -1; answer <= 1; answer++) {
        for (int at = 4; at < 30; at++) {
            fault k = {.at = at, .answer = answer};
            dae_system sys = pendulum;
            sys.mech.force = faulty;
            sys.mech.user = &k;
            double y[4] = {1, 0, 0, 0};
            dae_options opt = tolerance(1e-8);
            opt.method = "phem56";
            dae_stats stats;
            dae_status s = dae_solve(&sys, &opt, 0, 1, y, &stats, NULL);
            if (answer < 0) {
                assert_int_equal(s, DAE_ERR_CALLBACK);
                continue;
            }
            assert_int_equal(s, DAE_OK);
            assert_int_equal(stats.undefined, 1);
            assert_true(stats.rejected >= 1);
            assert_near(y[0], exact[0], 1e-7);
        }
    }
}

static void steps_allocate_nothing(void **state)
{
    (void)state;
#if defined(__GLIBC__)
    static const char *const mode[] = {"dense_lu", "recursive_constraint"};
    dae_error err = {0};
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
    for (int k = 0; k < 2; k++) {
        double y[14], a[7], lambda[6];
        dae_integrator *it = start(&p->system, tolerance(1e-6), 0, 0.03, p->y0, "linear_algebra", mode[k]);
        struct mallinfo2 before = mallinfo2();
        for (int i = 0; i < 30; i++) {
            assert_int_equal(dae_integrator_step(it, &err), DAE_OK);
            double t = dae_integrator_previous_time(it);
            dae_integrator_interpolate(it, t, y, NULL);
            dae_integrator_multipliers(it, t, a, lambda);
        }
        struct mallinfo2 after = mallinfo2();
        assert_true(before.uordblks == after.uordblks && before.hblkhd == after.hblkhd);
        dae_integrator_destroy(it);
    }
    dae_problem_destroy(p);
#endif
}

static void a_checkpoint_continues_with_the_same_bits(void **state)
{
    static const char *const mode[] = {"dense_lu", "sparse_lu", "recursive_constraint"};
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
    for (int k = 0; k < 3; k++) {
        dae_integrator *a = start(&p->system, tolerance(1e-7), 0, 0.03, p->y0, "linear_algebra", mode[k]);
        dae_integrator *b = start(&p->system, tolerance(1e-7), 0, 0.03, p->y0, "linear_algebra", mode[k]);
        for (int i = 0; i < 40; i++) assert_int_equal(dae_integrator_step(a, &err), DAE_OK);
        size_t size = dae_integrator_save(a, NULL, 0);
        void *buffer = malloc(size);
        assert_int_equal(dae_integrator_save(a, buffer, size), size);
        assert_int_equal(dae_integrator_load(b, buffer, size, &err), DAE_OK);
        double ya[14], yb[14], mid = (dae_integrator_time(a) + dae_integrator_previous_time(a)) / 2;
        dae_integrator_interpolate(a, mid, ya, NULL);
        dae_integrator_interpolate(b, mid, yb, NULL);
        assert_memory_equal(ya, yb, sizeof ya);
        finish(a, 0.03);
        finish(b, 0.03);
        assert_memory_equal(dae_integrator_state(a), dae_integrator_state(b), 14 * sizeof(double));
        assert_int_equal(dae_integrator_stats(a)->nfcn, dae_integrator_stats(b)->nfcn);
        free(buffer);
        dae_integrator_destroy(a);
        dae_integrator_destroy(b);
    }
    dae_problem_destroy(p);
}

/* a is 34 times as sensitive as q, and largest at the end. */
static void seven_body_meets_every_reference_value(void **state)
{
    static const char *const method[] = {"phem56", "auto"};
    static const double a_end[7] = {-24631.763122874634, 51850.319636464232, 324102.60070757861,
                                    566749.42200099533,  16743.635418345445, -566749.42200099533,
                                    9826.5078015441627};
    static const double lambda_end[6] = {199.17534810453863, -29.755309974971763, 23.066543611622151,
                                         31.452725275771137, 22.642494786394379,  11.617392352611256};
    static const double size[4] = {15.81, 1425, 569127, 199.4}; /* of p, v, a, lambda along the solution */
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("seven-body", NULL, 0, &err);
    for (int m = 0; m < 2; m++) {
        for (double tol = 1e-5; tol > 5e-10; tol /= 10) {
            double a[7], lambda[6];
            dae_options opt = tolerance(tol);
            opt.method = method[m];
            opt.h0 = p->h0;
            dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
            if (!it || dae_integrator_start(it, 0, 0.03, p->y0, NULL, &err)) fail_msg("%s", err.text);
            finish(it, 0.03);
            assert_int_equal(dae_integrator_multipliers(it, 0.03, a, lambda), DAE_OK);
            const double *y = dae_integrator_state(it);
            for (int i = 0; i < 14; i++) assert_near(y[i], p->reference[i], 30 * tol * size[i / 7]);
            for (int i = 0; i < 7; i++) assert_near(a[i], a_end[i], 30 * tol * size[2]);
            for (int i = 0; i < 6; i++) assert_near(lambda[i], lambda_end[i], 30 * tol * size[3]);
            dae_integrator_destroy(it);
        }
    }
    dae_problem_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seven_body_meets_every_reference_value),
        cmocka_unit_test(coefficients_satisfy_their_conditions),
        cmocka_unit_test(pendulum_shows_order_5),
        cmocka_unit_test(seven_bodies_show_order_5),
        cmocka_unit_test(seven_body_counts_are_the_published_ones),
        cmocka_unit_test(projection_removes_drift_and_error),
        cmocka_unit_test(experiments_meet_their_references),
        cmocka_unit_test(friction_is_left_to_mexx),
        cmocka_unit_test(dense_output_is_of_order_5_and_4),
        cmocka_unit_test(seven_body_has_five_roots),
        cmocka_unit_test(nonholonomic_skate_follows_its_cycloid),
        cmocka_unit_test(constraints_on_positions_and_on_velocities_go_together),
        cmocka_unit_test(moving_constraint_and_external_dynamics),
        cmocka_unit_test(heavy_top_with_euler_parameters),
        cmocka_unit_test(backward_integration_returns_to_the_start),
        cmocka_unit_test(inconsistent_start_is_projected_or_refused),
        cmocka_unit_test(a_failing_callback_shrinks_the_step_or_stops),
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(a_checkpoint_continues_with_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
