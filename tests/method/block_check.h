/* What the tests of the block methods share: problems with known solutions for order studies, rows of the
 * test set's tables, and the cases that hold for all of them. */
#ifndef DAE_TESTS_METHOD_BLOCK_CHECK_H
#define DAE_TESTS_METHOD_BLOCK_CHECK_H

#include "test.h"

#include <daedalus/daedalus.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* ---- Systems ------------------------------------------------------------------------------------- */

typedef struct block_problem {
    dae_system sys;
    void (*exact)(double t, double *y);
    double t_end; /* from 0 */
} block_problem;

/* y = (sin 5t, cos 5t) as a smooth solution of a stiff, nonlinear, nonautonomous system. */
static inline int block_waves(double t, const double *y, double *f, void *user)
{
    double d = y[0] - sin(5 * t);
    (void)user;
    f[0] = -1e4 * (d + d * d * d) + 5 * y[1];
    f[1] = -5 * y[0] + y[1] * (1 - y[0] * y[0] - y[1] * y[1]);
    return 0;
}

static inline void block_waves_exact(double t, double *y)
{
    y[0] = sin(5 * t);
    y[1] = cos(5 * t);
}

/* A unit mass on the unit circle, driven so that the angle is sin t: p = (sin a, -cos a), multiplier l.
 *     p' = v, v' = F(t) - 2 p l,   0 = |p|^2 - 1 (index 3) or 0 = p.v (index 2)
 * with F chosen tangential: F = a'' (cos a, sin a), so 2 l = |v|^2 = a'^2. */
static inline int block_pendulum(double t, const double *y, double *f, int index)
{
    double a2 = -sin(t), a = sin(t);
    f[0] = y[2];
    f[1] = y[3];
    f[2] = a2 * cos(a) - 2 * y[0] * y[4];
    f[3] = a2 * sin(a) - 2 * y[1] * y[4];
    f[4] = index == 3 ? y[0] * y[0] + y[1] * y[1] - 1 : y[0] * y[2] + y[1] * y[3];
    return 0;
}

static inline int block_pendulum2(double t, const double *y, double *f, void *user)
{
    (void)user;
    return block_pendulum(t, y, f, 2);
}

static inline int block_pendulum3(double t, const double *y, double *f, void *user)
{
    (void)user;
    return block_pendulum(t, y, f, 3);
}

static inline void block_pendulum_exact(double t, double *y)
{
    double a = sin(t), a1 = cos(t);
    y[0] = sin(a);
    y[1] = -cos(a);
    y[2] = a1 * cos(a);
    y[3] = a1 * sin(a);
    y[4] = a1 * a1 / 2;
}

static const double block_mass[5] = {1, 1, 1, 1, 0};
static const int block_index2[5] = {1, 1, 1, 1, 2}, block_index3[5] = {1, 1, 2, 2, 3};

static inline block_problem block_stiff(void)
{
    return (block_problem){.sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = block_waves}},
                           .exact = block_waves_exact,
                           .t_end = 3};
}

static inline block_problem block_constrained(int index)
{
    return (block_problem){.sys = {.kind = DAE_KIND_DAE,
                                   .dae = {.n = 5,
                                           .mass = dae_diagonal(5, block_mass),
                                           .f = index == 3 ? block_pendulum3 : block_pendulum2},
                                   .structure = {.index = index == 3 ? block_index3 : block_index2}},
                           .exact = block_pendulum_exact,
                           .t_end = 2};
}

/* ---- Orders -------------------------------------------------------------------------------------- */

/* Largest error of components [from, to) over the second half of `blocks` blocks of s sub-steps. */
static inline double block_error(const char *method, const block_problem *p, int order, int s, int blocks,
                                 int from, int to)
{
    char text[8];
    snprintf(text, sizeof text, "%d", order);
    dae_setting setting[] = {{"order_min", text}, {"order_max", text}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y[8], exact[8], worst = 0;
    opt.method = method;
    opt.rtol = opt.atol = 1e-12;
    opt.fixed_step = p->t_end / (blocks * s);
    opt.setting = setting;
    opt.nsetting = 2;
    p->exact(0, y);
    dae_integrator *it = dae_integrator_create(&p->sys, &opt, &err);
    assert_non_null(it);
    assert_int_equal(dae_integrator_start(it, 0, p->t_end, y, NULL, &err), DAE_OK);
    for (int k = 0; k < blocks; k++) {
        if (dae_integrator_step(it, &err) != DAE_OK) {
            print_error("%s order %d, %d blocks: %s\n", method, order, blocks, err.text);
            worst = INFINITY;
            break;
        }
        p->exact(dae_integrator_time(it), exact);
        for (int i = from; i < to && 2 * k >= blocks; i++)
            worst = fmax(worst, fabs(dae_integrator_state(it)[i] - exact[i]));
    }
    if (isfinite(worst)) assert_true(dae_integrator_time(it) == p->t_end);
    dae_integrator_destroy(it);
    return worst;
}

/* Observed order between `blocks` and `finer` blocks. */
static inline double block_order(const char *method, const block_problem *p, int order, int s, int blocks,
                                 int finer, int from, int to)
{
    double coarse = block_error(method, p, order, s, blocks, from, to),
           fine = block_error(method, p, order, s, finer, from, to);
    return log(coarse / fine) / log((double)finer / blocks);
}

/* ---- Rows of the test set's tables -------------------------------------------------------------------- */

typedef struct block_row {
    const char *problem;
    double rtol, atol, h0, mescd, scd; /* NAN: not printed */
    long steps, accepted, f, jac, lu;
} block_row;

/* 0: the problem is not there. */
static inline int block_run(const char *method, const block_row *row, int classic, dae_stats *stats,
                            dae_score *score)
{
    dae_error err = {0};
    dae_setting published = {"jacobian", "published"}, setting = {"classic", classic ? "1" : "0"};
    if (!dae_problem_find(row->problem)) return 0;
    int andrews = classic && !strcmp(row->problem, "andrews");
    dae_problem *p = dae_problem_create(row->problem, &published, andrews, &err);
    assert_non_null(p);
    dae_options opt = dae_options_default();
    int n = dae_system_size(&p->system);
    double *atol = calloc((size_t)n, sizeof *atol), *rtol = calloc((size_t)n, sizeof *rtol);
    for (int i = 0; i < n; i++) {
        atol[i] = row->atol * (p->atol_factor ? p->atol_factor[i] : 1);
        rtol[i] = row->rtol * (p->rtol_factor ? p->rtol_factor[i] : 1);
    }
    opt.method = method;
    opt.rtol = row->rtol;
    opt.atol = row->atol;
    opt.rtol_vec = rtol;
    opt.atol_vec = atol;
    opt.h0 = row->h0;
    opt.setting = &setting;
    opt.nsetting = 1;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
    assert_non_null(it);
    dae_status s = dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, &err);
    if (s >= 0) s = dae_integrator_advance(it, p->t_end, &err);
    if (s < 0) fail_msg("%s, %s, rtol %g: %s", method, row->problem, row->rtol, err.text);
    *stats = *dae_integrator_stats(it);
    *score = dae_problem_score(p, &opt, p->published, dae_integrator_state(it));
    dae_integrator_destroy(it);
    dae_problem_destroy(p);
    free(atol);
    free(rtol);
    return 1;
}

/* The classic strategy takes the published counts, within 3 %. */
static inline void block_check_counts(const char *method, const block_row *row, int count)
{
    int bad = 0;
    for (int i = 0; i < count; i++) {
        dae_stats s;
        dae_score score;
        if (!block_run(method, &row[i], 1, &s, &score)) continue;
        long ours[] = {s.steps, s.accepted, s.f, s.jac, s.lu},
             seed[] = {row[i].steps, row[i].accepted, row[i].f, row[i].jac, row[i].lu};
        static const char *const name[] = {"steps", "accepted", "f", "jac", "lu"};
        for (int k = 0; k < 5; k++) {
            if (fabs((double)(ours[k] - seed[k])) <= 0.03 * (double)seed[k]) continue;
            print_error("%s, %s, rtol %g: %s = %ld, published %ld\n", method, row[i].problem, row[i].rtol,
                        name[k], ours[k], seed[k]);
            bad++;
        }
    }
    if (bad) fail_msg("%d counts differ by more than 3 %%", bad);
}

/* The default strategy: accuracy at least the published one less 0.5, steps and f at most 1.3 times. */
static inline void block_check_quality(const char *method, const block_row *row, int count)
{
    int bad = 0;
    for (int i = 0; i < count; i++) {
        dae_stats s;
        dae_score score;
        if (!block_run(method, &row[i], 0, &s, &score)) continue;
        if (!(score.mescd < row[i].mescd - 0.5) && !(score.scd < row[i].scd - 0.5) &&
            (double)s.steps <= 1.3 * (double)row[i].steps && (double)s.f <= 1.3 * (double)row[i].f) {
            continue;
        }
        print_error("%s, %s, rtol %g: mescd %.2f (%.2f) scd %.2f (%.2f) steps %ld (%ld) f %ld (%ld)\n",
                    method, row[i].problem, row[i].rtol, score.mescd, row[i].mescd, score.scd, row[i].scd,
                    s.steps, row[i].steps, s.f, row[i].f);
        bad++;
    }
    if (bad) fail_msg("%d rows are worse than published", bad);
}

/* ---- Cases ------------------------------------------------------------------------------------------- */

static inline dae_options block_options(const char *method, double tol)
{
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = opt.atol = tol;
    return opt;
}

/* Largest error of dense output (derivative 0) or of its derivative (1) over the first block. */
static inline double block_dense_error(const char *method, int order, double h, int derivative)
{
    char text[8];
    snprintf(text, sizeof text, "%d", order);
    dae_setting setting[] = {{"order_min", text}, {"order_max", text}};
    block_problem p = block_stiff();
    dae_options opt = block_options(method, 1e-13);
    double y[2], yp[2], exact[2], f[2], worst = 0;
    opt.fixed_step = h;
    opt.setting = setting;
    opt.nsetting = 2;
    dae_integrator *it = dae_integrator_create(&p.sys, &opt, NULL);
    p.exact(0, y);
    assert_int_equal(dae_integrator_start(it, 0, 3, y, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    double t_end = dae_integrator_time(it);
    for (int i = 0; i <= 20; i++) {
        double t = i < 20 ? 0.05 * i * t_end : t_end;
        assert_int_equal(dae_integrator_interpolate(it, t, y, yp), DAE_OK);
        p.exact(t, exact);
        f[0] = 5 * exact[1];
        f[1] = -5 * exact[0];
        for (int k = 0; k < 2; k++)
            worst = fmax(worst, derivative ? fabs(yp[k] - f[k]) : fabs(y[k] - exact[k]));
    }
    dae_integrator_destroy(it);
    return worst;
}

static inline void block_check_backward(const char *method)
{
    block_problem p = block_constrained(2);
    dae_options opt = block_options(method, 1e-8);
    dae_error err = {0};
    double y[5], exact[5];
    p.exact(2, y);
    p.exact(0.5, exact);
    assert_int_equal(dae_solve(&p.sys, &opt, 2, 0.5, y, NULL, &err), DAE_OK);
    for (int i = 0; i < 4; i++) assert_near(y[i], exact[i], 1e-6);
}

static inline int block_decay(double t, const double *y, double *f, void *user)
{
    (void)t;
    if (y[0] < *(const double *)user) return 1;
    f[0] = -3 * y[0];
    return 0;
}

/* Blocks that try y < 0.04 are undone; the run goes on to y = exp(-3) = 0.0498. Beyond it h runs out. */
static inline void block_check_undefined(const char *method)
{
    double wall = 0.04, y[1] = {1};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = block_decay, .user = &wall}};
    dae_options opt = block_options(method, 1e-6);
    dae_stats stats;
    dae_error err = {0};
    opt.h0 = 0.3;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, &stats, &err), DAE_OK);
    assert_near(y[0], exp(-3), 1e-5);
    y[0] = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, &stats, &err), DAE_ERR_UNDEFINED);
    assert_true(stats.undefined > 0);
    assert_near(err.t, -log(wall) / 3, 1e-3);
    assert_non_null(strstr(err.text, "the step fell to"));
    y[0] = 1;
    opt.h_min = 1e-3;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, &err), DAE_ERR_STEP_TOO_SMALL);
    assert_non_null(strstr(err.text, "smallest 0.001"));
}

static inline int block_stopper(double t, const double *y, double *f, void *user)
{
    (void)y, (void)user;
    f[0] = 1;
    return t > 0.5 ? -1 : 0;
}

static inline void block_check_stop(const char *method)
{
    double y[1] = {0};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = block_stopper}};
    dae_options opt = block_options(method, 1e-6);
    dae_error err = {0};
    opt.h_max = 0.1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_CALLBACK);
    assert_between(err.t, 0.39, 0.51);
}

/* No step is longer than h_max; the end is met exactly. */
static inline void block_check_limits(const char *method)
{
    block_problem p = block_constrained(3);
    dae_options opt = block_options(method, 1e-5);
    double y[5];
    opt.h_max = 0.11;
    dae_integrator *it = dae_integrator_create(&p.sys, &opt, NULL);
    p.exact(0, y);
    assert_int_equal(dae_integrator_start(it, 0, 1.3, y, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_advance(it, 1.3, NULL), DAE_OK);
    assert_true(dae_integrator_time(it) == 1.3);
    assert_between(dae_integrator_stats(it)->h_largest, 0.05, 0.11 * (1 + 1e-12));
    dae_integrator_destroy(it);
}

/* One variable has a hundredth of the tolerance of the other: it is more accurate, and costs more steps. */
static inline void block_check_vector_tolerances(const char *method)
{
    block_problem p = block_stiff();
    dae_options opt = block_options(method, 1e-4);
    double y[2], exact[2], error[2][2], atol[2] = {1e-4, 1e-8}, rtol[2] = {1e-4, 1e-8};
    long steps[2];
    dae_stats stats;
    for (int k = 0; k < 2; k++) {
        if (k) opt.rtol_vec = rtol, opt.atol_vec = atol;
        p.exact(0, y);
        p.exact(3, exact);
        assert_int_equal(dae_solve(&p.sys, &opt, 0, 3, y, &stats, NULL), DAE_OK);
        steps[k] = stats.f;
        for (int i = 0; i < 2; i++) error[k][i] = fabs(y[i] - exact[i]);
    }
    assert_true(error[1][1] < 0.01 * error[0][1]);
    assert_true(steps[1] > steps[0]);
}

/* Steps and interpolation leave the heap as it is. */
static inline void block_check_allocation(const char *method)
{
#if defined(__GLIBC__)
    block_problem p = block_constrained(3);
    dae_options opt = block_options(method, 1e-7);
    double y[5];
    dae_integrator *it = dae_integrator_create(&p.sys, &opt, NULL);
    p.exact(0, y);
    assert_int_equal(dae_integrator_start(it, 0, 50, y, NULL, NULL), DAE_OK);
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < 20; i++) {
        assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        dae_integrator_interpolate(it, 0.5 * (dae_integrator_previous_time(it) + dae_integrator_time(it)), y,
                                   NULL);
    }
    struct mallinfo2 after = mallinfo2();
    assert_true(before.uordblks == after.uordblks);
    dae_integrator_destroy(it);
#else
    (void)method;
#endif
}

/* Saved in the middle, loaded into another integrator: the rest is the same bit for bit. */
static inline void block_check_checkpoint(const char *method)
{
    static const char *const algebra[] = {"auto", "sparse"};
    for (int k = 0; k < 2; k++) {
        block_problem p = block_constrained(3);
        dae_options opt = block_options(method, 1e-6);
        double y[5];
        opt.linear_algebra = algebra[k];
        dae_integrator *one = dae_integrator_create(&p.sys, &opt, NULL),
                       *two = dae_integrator_create(&p.sys, &opt, NULL);
        p.exact(0, y);
        assert_int_equal(dae_integrator_start(one, 0, 8, y, NULL, NULL), DAE_OK);
        assert_int_equal(dae_integrator_start(two, 0, 8, y, NULL, NULL), DAE_OK);
        assert_int_equal(dae_integrator_advance(one, 3, NULL), DAE_OK);
        size_t size = dae_integrator_save(one, NULL, 0);
        assert_true(size > 0);
        void *buffer = malloc(size);
        assert_int_equal(dae_integrator_save(one, buffer, size), size);
        assert_int_equal(dae_integrator_load(two, buffer, size, NULL), DAE_OK);
        free(buffer);
        assert_int_equal(dae_integrator_advance(one, 8, NULL), DAE_OK);
        assert_int_equal(dae_integrator_advance(two, 8, NULL), DAE_OK);
        assert_memory_equal(dae_integrator_state(one), dae_integrator_state(two), 5 * sizeof *y);
        assert_int_equal(dae_integrator_stats(one)->f, dae_integrator_stats(two)->f);
        dae_integrator_destroy(one);
        dae_integrator_destroy(two);
    }
}

static inline int block_algebraic(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[1];
    f[1] = y[1] - y[0];
    return 0;
}

/* An algebraic variable starts off its equation by a thousand tolerances: the run mends it. */
static inline void block_check_inconsistent(const char *method)
{
    static const double mass[2] = {1, 0};
    dae_system sys = {.kind = DAE_KIND_DAE,
                      .dae = {.n = 2, .mass = dae_diagonal(2, mass), .f = block_algebraic}};
    dae_options opt = block_options(method, 1e-6);
    dae_error err = {0};
    double y[2] = {1, 1.001};
    dae_status s = dae_solve(&sys, &opt, 0, 5, y, NULL, &err);
    if (s) fail_msg("%s: %s", method, err.text);
    assert_near(y[0], exp(-5), 1e-3);
    assert_near(y[1], y[0], 1e-5);
}

static inline void block_check_orders_option(const char *method, const char *wrong)
{
    block_problem p = block_stiff();
    dae_options opt = block_options(method, 1e-6);
    dae_setting setting = {"order_max", wrong};
    dae_error err = {0};
    double y[2];
    opt.setting = &setting;
    opt.nsetting = 1;
    p.exact(0, y);
    assert_int_equal(dae_solve(&p.sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "order_max"));
}

#endif
