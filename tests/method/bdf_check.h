/* What the tests of the multistep methods share. */
#ifndef DAE_TESTS_METHOD_BDF_CHECK_H
#define DAE_TESTS_METHOD_BDF_CHECK_H

#include "test.h"

#include <daedalus/daedalus.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

enum { BDF_N_MAX = 400 };

/* ---- Test-set problems ----------------------------------------------------------------------------- */

typedef struct bdf_run {
    dae_stats stats;
    dae_score score;
    double y[BDF_N_MAX];
} bdf_run;

/* A run to the end of a test-set problem; it must succeed. Two settings are taken out: "stop_at_end" is 1 unless given, as
 * the runs of the test set have it; "jump_at_end" = 0 ignores a discontinuity at the end, as they do. */
static inline bdf_run bdf_problem(const char *name, const char *method, double rtol, double atol,
                                  const dae_setting *setting, int nsetting)
{
    bdf_run r = {0};
    dae_error err = {0};
    dae_setting own[8];
    dae_problem *p = dae_problem_create(name, NULL, 0, &err);
    if (!p) fail_msg("%s", err.text);
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = rtol;
    opt.atol = atol;
    opt.stop_at_end = 1;
    opt.setting = own;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    for (int i = 0; i < nsetting; i++) {
        if (!strcmp(setting[i].name, "stop_at_end")) opt.stop_at_end = atoi(setting[i].value);
        else if (!strcmp(setting[i].name, "jump_at_end") &&
                 p->discontinuity[p->ndiscontinuity - 1] == p->t_end)
            opt.ndiscontinuity -= !atoi(setting[i].value);
        else own[opt.nsetting++] = setting[i];
    }
    int n = dae_system_size(&p->system);
    double atols[BDF_N_MAX], rtols[BDF_N_MAX];
    assert_true(n <= BDF_N_MAX);
    for (int i = 0; i < n; i++) {
        atols[i] = atol * (p->atol_factor ? p->atol_factor[i] : 1);
        rtols[i] = rtol * (p->rtol_factor ? p->rtol_factor[i] : 1);
    }
    if (p->atol_factor) opt.atol_vec = atols;
    if (p->rtol_factor) opt.rtol_vec = rtols;
    dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
    if (!it) fail_msg("%s", err.text);
    dae_status s = dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, &err);
    if (!s) s = dae_integrator_advance(it, p->t_end, &err);
    if (s) fail_msg("%s, %s, rtol %g: %s", name, method, rtol, err.text);
    r.stats = *dae_integrator_stats(it);
    memcpy(r.y, dae_integrator_state(it), (size_t)n * sizeof *r.y);
    r.score = dae_problem_score(p, &opt, p->published ? p->published : p->reference, r.y);
    dae_integrator_destroy(it);
    dae_problem_destroy(p);
    return r;
}

/* ---- Small problems --------------------------------------------------------------------------------- */

/* Prothero and Robinson, twice, coupled: y1' = lambda (y1 - sin t) + cos t, y2' = y1 - sin t - y2 + cos t - ... with
 * the solution (sin t, cos t); user points to lambda. */
static inline int bdf_prothero(double t, const double *y, double *f, void *user)
{
    double lambda = *(const double *)user;
    f[0] = lambda * (y[0] - sin(t)) + cos(t);
    f[1] = y[0] * y[0] - (1 - y[1] * y[1]) - 2 * (y[1] - cos(t)) - sin(t);
    return 0;
}

static inline int bdf_prothero_jac(double t, const double *y, double *jac, void *user)
{
    (void)t;
    jac[0] = *(const double *)user;
    jac[1] = 2 * y[0];
    jac[3] = 2 * y[1] - 2;
    return 0;
}

/* Kepler's problem, eccentricity 0.3, from the pericenter. */
static inline int bdf_kepler(double t, const double *y, double *f, void *user)
{
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
    (void)t, (void)user;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[0] / r3;
    f[3] = -y[1] / r3;
    return 0;
}

static inline void bdf_kepler_exact(double t, double *y)
{
    const double e = 0.3, b = sqrt(1 - e * e);
    double E = t;
    for (int i = 0; i < 20; i++) E -= (E - e * sin(E) - t) / (1 - e * cos(E));
    double rate = 1 / (1 - e * cos(E));
    y[0] = cos(E) - e;
    y[1] = b * sin(E);
    y[2] = -sin(E) * rate;
    y[3] = b * cos(E) * rate;
}

static inline dae_options bdf_options(const char *method, double tol)
{
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = opt.atol = tol;
    return opt;
}

static inline double bdf_distance(int n, const double *a, const double *b)
{
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

/* ---- Order ------------------------------------------------------------------------------------------- */

static inline double bdf_fixed_error(const char *method, int order, const dae_system *sys, double t_end,
                                     const double *y0, const double *exact, double steps)
{
    char text[16];
    snprintf(text, sizeof text, "%d", order);
    dae_setting setting = {"order_max", text};
    dae_options opt = bdf_options(method, 1e-14);
    dae_error err = {0};
    double y[4];
    int n = dae_system_size(sys);
    memcpy(y, y0, (size_t)n * sizeof *y);
    opt.fixed_step = t_end / steps;
    opt.setting = &setting;
    opt.nsetting = 1;
    dae_status s = dae_solve(sys, &opt, 0, t_end, y, NULL, &err);
    if (s) fail_msg("%s, order %d: %s", method, order, err.text);
    return bdf_distance(n, y, exact);
}

/* The global error of Prothero and Robinson's problem under halving of a fixed step. */
static inline void bdf_check_order(const char *method, int order, double lambda, double slack)
{
    dae_system sys = {.kind = DAE_KIND_ODE,
                      .ode = {.n = 2, .f = bdf_prothero, .jac = bdf_prothero_jac, .user = &lambda}};
    double y0[2] = {0, 1}, exact[2] = {sin(3), cos(3)}, steps = order < 4 ? 96 : 64;
    double coarse = bdf_fixed_error(method, order, &sys, 3, y0, exact, steps);
    double fine = bdf_fixed_error(method, order, &sys, 3, y0, exact, 2 * steps);
    assert_near(log2(coarse / fine), order, slack);
}

/* y' = y */
static inline int bdf_growth(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[0];
    return 0;
}

/* The same for y' = y over 20 time constants: an error of one sign, so that high orders show too. */
static inline void bdf_check_growth_order(const char *method, int order, double steps, double slack)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = bdf_growth}};
    double y0[1] = {1}, exact[1] = {exp(20)};
    double coarse = bdf_fixed_error(method, order, &sys, 20, y0, exact, steps);
    double fine = bdf_fixed_error(method, order, &sys, 20, y0, exact, 2 * steps);
    if (fabs(log2(coarse / fine) - order) > slack) {
        fail_msg("%s: order %.2f observed, not %d (errors %.3g, %.3g)", method, log2(coarse / fine), order,
                 coarse, fine);
    }
}

/* y' = m t^(m-1), m = *user */
static inline int bdf_power(double t, const double *y, double *f, void *user)
{
    int m = *(const int *)user;
    (void)y;
    f[0] = m * pow(t, m - 1);
    return 0;
}

/* A formula of order q is exact for t^q and not for t^(q+1). */
static inline void bdf_check_exactness(const char *method, int order)
{
    int m = order;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = bdf_power, .user = &m}};
    double y0[1] = {0}, exact[1] = {pow(2, m)};
    assert_near(bdf_fixed_error(method, order, &sys, 2, y0, exact, 20), 0, 1e-12 * exact[0]);
    m++;
    exact[0] *= 2;
    assert_true(bdf_fixed_error(method, order, &sys, 2, y0, exact, 20) > 1e-11 * exact[0]);
}

/* ---- Cases --------------------------------------------------------------------------------------------- */

/* Inside every step y and y' stay near the solution; at the end of the step dense output is the state itself. */
static inline void bdf_check_dense(const char *method, double tol, double y_error, double yp_error)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 4, .f = bdf_kepler}};
    dae_options opt = bdf_options(method, tol);
    double y[4], yp[4], exact[4], f[4], worst = 0, worst_p = 0;
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    bdf_kepler_exact(0, y);
    assert_int_equal(dae_integrator_start(it, 0, 3, y, NULL, NULL), DAE_OK);
    while (dae_integrator_time(it) < 3) {
        assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        double a = dae_integrator_previous_time(it), b = dae_integrator_time(it);
        for (int i = 0; i <= 8; i++) {
            double t = i == 8 ? b : a + (b - a) * i / 8;
            assert_int_equal(dae_integrator_interpolate(it, t, y, yp), DAE_OK);
            bdf_kepler_exact(t, exact);
            bdf_kepler(t, exact, f, NULL);
            worst = fmax(worst, bdf_distance(4, y, exact));
            worst_p = fmax(worst_p, bdf_distance(4, yp, f));
        }
        assert_near(bdf_distance(4, y, dae_integrator_state(it)), 0, 1e-14);
    }
    assert_true(dae_integrator_time(it) == 3);
    assert_near(worst, 0, y_error);
    assert_near(worst_p, 0, yp_error);
    dae_integrator_destroy(it);
}

typedef struct bdf_watch {
    double latest;
} bdf_watch;

static inline int bdf_watched(double t, const double *y, double *f, void *user)
{
    bdf_watch *w = user;
    w->latest = fmax(w->latest, t);
    f[0] = -y[0] + sin(t);
    return 0;
}

/* With stop_at_end nothing is evaluated beyond t_end and the run ends there exactly; without, the method goes on and
 * dense output gives the same value. */
static inline void bdf_check_wall(const char *method)
{
    bdf_watch watch = {0};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = bdf_watched, .user = &watch}};
    dae_options opt = bdf_options(method, 1e-7);
    double y[2] = {1, 1};
    opt.stop_at_end = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, &y[0], NULL, NULL), DAE_OK);
    assert_true(watch.latest <= 2);
    opt.stop_at_end = 0;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, &y[1], NULL, NULL), DAE_OK);
    assert_true(watch.latest > 2);
    double exact = 1.5 * exp(-2) + 0.5 * (sin(2) - cos(2));
    assert_near(y[0], exact, 3e-6);
    assert_near(y[1], exact, 3e-6);
    double wall = 1;
    watch.latest = 0;
    y[0] = 1;
    opt.discontinuity = &wall;
    opt.ndiscontinuity = 1;
    dae_stats stats;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, &y[0], &stats, NULL), DAE_OK);
    assert_int_equal(stats.restarts, 1);
    assert_near(y[0], exact, 3e-6);
}

/* y' = -3 y; undefined for y below user[0]. */
static inline int bdf_decay(double t, const double *y, double *f, void *user)
{
    (void)t;
    if (y[0] < *(const double *)user) return 1;
    f[0] = -3 * y[0];
    return 0;
}

static inline void bdf_check_undefined(const char *method)
{
    double wall = 0.04, y[1] = {1};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = bdf_decay, .user = &wall}};
    dae_options opt = bdf_options(method, 1e-5);
    dae_stats stats;
    dae_error err = {0};
    opt.h0 = 1;
    opt.stop_at_end = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, &stats, &err), DAE_OK);
    assert_near(y[0], exp(-3), 2e-4);
    assert_true(stats.undefined > 0);
    assert_true(stats.newton_failures > 0);
}

/* y' = y^2 from 1: there is no solution beyond t = 1. And h_min is named where it ends the run. */
static inline int bdf_blow_up(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[0] * y[0];
    return 0;
}

static inline void bdf_check_too_small(const char *method)
{
    double wall = 0.04, y[1] = {1};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = bdf_decay, .user = &wall}};
    dae_options opt = bdf_options(method, 1e-6);
    dae_error err = {0};
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, &err), DAE_ERR_UNDEFINED);
    assert_near(err.t, -log(wall) / 3, 1e-3);
    assert_non_null(strstr(err.text, "step fell to"));
    y[0] = 1;
    opt.h_min = 1e-3;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, &err), DAE_ERR_STEP_TOO_SMALL);
    assert_non_null(strstr(err.text, "smallest 0.001"));
    sys.ode.f = bdf_blow_up;
    opt.h_min = 0;
    y[0] = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, &err), DAE_ERR_STEP_TOO_SMALL);
    assert_near(err.t, 1, 1e-2);
}

static inline void bdf_check_backward(const char *method, double tol, double expected)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 4, .f = bdf_kepler}};
    dae_options opt = bdf_options(method, tol);
    double y[4], exact[4];
    bdf_kepler_exact(3, y);
    bdf_kepler_exact(0.5, exact);
    assert_int_equal(dae_solve(&sys, &opt, 3, 0.5, y, NULL, NULL), DAE_OK);
    assert_near(bdf_distance(4, y, exact), 0, expected);
}

static inline void bdf_check_limits(const char *method)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 4, .f = bdf_kepler}};
    dae_options opt = bdf_options(method, 1e-4);
    dae_stats stats;
    double y[4];
    bdf_kepler_exact(0, y);
    opt.h_max = 0.01;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, &stats, NULL), DAE_OK);
    assert_true(stats.h_largest <= 0.01 * (1 + 1e-12));
    assert_true(stats.accepted >= 100);
    bdf_kepler_exact(0, y);
    opt.h_max = 0;
    opt.h0 = 1e-5;
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    assert_near(dae_integrator_time(it), 1e-5, 1e-18);
    dae_integrator_destroy(it);
}

static inline int bdf_two_scales(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = cos(t);
    f[1] = 1e-6 * cos(7 * t) * 7;
    f[2] = -1e3 * (y[2] - y[0]);
    return 0;
}

/* A small component is followed only if its own atol asks for it. */
static inline void bdf_check_component_tolerances(const char *method)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 3, .f = bdf_two_scales}};
    dae_options opt = bdf_options(method, 1e-3);
    double atol[3] = {1e-3, 1e-12, 1e-3}, rtol[3] = {1e-3, 1e-6, 1e-3}, y[3] = {0, 0, 0};
    dae_stats loose, tight;
    assert_int_equal(dae_solve(&sys, &opt, 0, 5, y, &loose, NULL), DAE_OK);
    opt.atol_vec = atol;
    opt.rtol_vec = rtol;
    memset(y, 0, sizeof y);
    assert_int_equal(dae_solve(&sys, &opt, 0, 5, y, &tight, NULL), DAE_OK);
    assert_true(tight.steps > 2 * loose.steps);
    assert_near(y[1], 1e-6 * sin(35), 3e-10);
    assert_near(y[0], sin(5), 1e-2);
}

static inline int bdf_stopper(double t, const double *y, double *f, void *user)
{
    (void)y, (void)user;
    f[0] = 1;
    return t > 0.5 ? -1 : 0;
}

static inline void bdf_check_stop(const char *method)
{
    double y[1] = {0};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = bdf_stopper}};
    dae_options opt = bdf_options(method, 1e-6);
    dae_error err = {0};
    opt.h_max = 0.1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_CALLBACK);
    assert_between(err.t, 0.39, 0.51);
}

static inline void bdf_check_refusals(const char *method)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 4, .f = bdf_kepler}};
    dae_options opt = bdf_options(method, 1e-6);
    dae_error err = {0};
    double y[4];
    bdf_kepler_exact(0, y);
    opt.rtol = 1e-18;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "rtol"));
    opt.rtol = 1e-6;
    opt.atol = 0;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "component 2 is zero"));
    dae_setting setting = {"order_max", "13"};
    opt.setting = &setting;
    opt.nsetting = 1;
    opt.atol = 1e-6;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "order_max"));
}

static inline void bdf_check_allocation(const char *method)
{
#if defined(__GLIBC__)
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 4, .f = bdf_kepler}};
    dae_options opt = bdf_options(method, 1e-7);
    double y[4];
    bdf_kepler_exact(0, y);
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    assert_int_equal(dae_integrator_start(it, 0, 20, y, NULL, NULL), DAE_OK);
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < 200; i++) {
        assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        dae_integrator_interpolate(it, dae_integrator_time(it), y, NULL);
    }
    struct mallinfo2 after = mallinfo2();
    assert_true(before.uordblks == after.uordblks && before.hblkhd == after.hblkhd);
    dae_integrator_destroy(it);
#else
    (void)method;
#endif
}

/* A run continued from a checkpoint gives the same bits, inside a step too. */
static inline void bdf_check_checkpoint(const char *method, const char *problem, const char *storage)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create(problem, NULL, 0, &err);
    dae_options opt = bdf_options(method, 1e-6);
    opt.linear_algebra = storage;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    int n = dae_system_size(&p->system);
    double a[2 * BDF_N_MAX], b[2 * BDF_N_MAX];
    dae_integrator *one = dae_integrator_create(&p->system, &opt, &err),
                   *two = dae_integrator_create(&p->system, &opt, &err);
    assert_int_equal(dae_integrator_start(one, p->t0, p->t_end, p->y0, p->yp0, &err), DAE_OK);
    assert_int_equal(dae_integrator_start(two, p->t0, p->t_end, p->y0, p->yp0, &err), DAE_OK);
    for (int at = 0; at < 3; at++) {
        for (int i = 0; i < 37; i++) assert_int_equal(dae_integrator_step(one, &err), DAE_OK);
        size_t size = dae_integrator_save(one, NULL, 0);
        assert_true(size > 0);
        void *buffer = malloc(size);
        assert_int_equal(dae_integrator_save(one, buffer, size), size);
        assert_int_equal(dae_integrator_load(two, buffer, size, &err), DAE_OK);
        free(buffer);
        double t = dae_integrator_time(one), mid = 0.5 * (t + dae_integrator_previous_time(one));
        assert_true(t == dae_integrator_time(two));
        dae_integrator_interpolate(one, mid, a, a + n);
        dae_integrator_interpolate(two, mid, b, b + n);
        assert_memory_equal(a, b, 2 * (size_t)n * sizeof *a);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(dae_integrator_step(one, &err), DAE_OK);
            assert_int_equal(dae_integrator_step(two, &err), DAE_OK);
        }
        assert_true(dae_integrator_time(one) == dae_integrator_time(two));
        assert_memory_equal(dae_integrator_state(one), dae_integrator_state(two), (size_t)n * sizeof(double));
        assert_int_equal(dae_integrator_stats(one)->f, dae_integrator_stats(two)->f);
        assert_int_equal(dae_integrator_stats(one)->lu, dae_integrator_stats(two)->lu);
    }
    dae_integrator_destroy(one);
    dae_integrator_destroy(two);
    dae_problem_destroy(p);
}

/* A chain of n coupled decays: dense, banded, sparse, and with difference Jacobians. */
enum { BDF_CHAIN = 24 };
static inline int bdf_chain(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < BDF_CHAIN; i++) {
        double left = i ? y[i - 1] : 1, right = i + 1 < BDF_CHAIN ? y[i + 1] : 0;
        f[i] = 500 * (left - 2 * y[i] + right) - y[i] * y[i];
    }
    return 0;
}

static inline void bdf_check_storage(const char *method)
{
    static const char *const storage[3] = {"dense", "banded", "sparse"};
    double y[4][BDF_CHAIN];
    for (int k = 0; k < 3; k++) {
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = BDF_CHAIN, .f = bdf_chain}};
        if (k == 1) sys.structure.jacobian = (dae_pattern){.storage = DAE_BANDED, .lower = 1, .upper = 1};
        dae_options opt = bdf_options(method, 1e-8);
        dae_error err = {0};
        opt.linear_algebra = storage[k];
        memset(y[k], 0, sizeof y[k]);
        dae_status s = dae_solve(&sys, &opt, 0, 0.5, y[k], NULL, &err);
        if (s) fail_msg("%s, %s: %s", method, storage[k], err.text);
    }
    assert_true(y[0][0] > 0.9 && y[0][0] < 1);
    assert_near(bdf_distance(BDF_CHAIN, y[0], y[1]), 0, 1e-7);
    assert_near(bdf_distance(BDF_CHAIN, y[0], y[2]), 0, 1e-7);
}

#endif
