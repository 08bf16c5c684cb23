/* What the tests of the explicit Runge-Kutta methods share: order conditions over all rooted trees, the
 * problems, and the cases that hold for every one of them. */
#ifndef DAE_TESTS_METHOD_ERK_CHECK_H
#define DAE_TESTS_METHOD_ERK_CHECK_H

#include "test.h"

#include <daedalus/daedalus.h>

#include "core/setting.h"
#include "method/erk/erk.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* ---- Order conditions -------------------------------------------------------------------------- */

/* Phi of the subtree at node p of a tree given by the levels of its nodes in preorder, for all stages, and
 * its gamma and order; [HNW] II.2. Returns the node after the subtree. */
static inline int erk_subtree(const dae_erk_table *tab, const int *level, int n, int p, double *phi,
                              double *gamma, int *order)
{
    int next = p + 1;
    *gamma = 1;
    *order = 1;
    for (int i = 0; i < tab->total; i++) phi[i] = 1;
    while (next < n && level[next] == level[p] + 1) {
        double child[DAE_ERK_WIDTH], g;
        int size;
        next = erk_subtree(tab, level, n, next, child, &g, &size);
        for (int i = 0; i < tab->total; i++) {
            double sum = 0;
            for (int j = 0; j < i; j++) sum += tab->a[i][j] * child[j];
            phi[i] *= sum;
        }
        *gamma *= g;
        *order += size;
    }
    *gamma *= *order;
    return next;
}

/* The next tree of n nodes in the order of Beyer and Hedetniemi (1980); 0: there is none. */
static inline int erk_next_tree(int *level, int n)
{
    int p = n - 1;
    while (p > 0 && level[p] == 2) p--;
    if (p <= 0) return 0;
    int q = p - 1;
    while (level[q] != level[p] - 1) q--;
    for (int i = p; i < n; i++) level[i] = level[i - (p - q)];
    return 1;
}

/* The largest | sum w_i Phi_i(tree) - theta^n / gamma(tree) | over all trees of n nodes. */
static inline double erk_defect(const dae_erk_table *tab, const double *w, int n, double theta, int *trees)
{
    int level[16];
    double worst = 0;
    *trees = 0;
    for (int i = 0; i < n; i++) level[i] = i + 1;
    do {
        double phi[DAE_ERK_WIDTH], gamma, sum = 0;
        int order;
        erk_subtree(tab, level, n, 0, phi, &gamma, &order);
        for (int i = 0; i < tab->total; i++) sum += w[i] * phi[i];
        worst = fmax(worst, fabs(sum - pow(theta, n) / gamma));
        ++*trees;
    } while (erk_next_tree(level, n));
    return worst;
}

/* The weights of dense output at theta: y(theta) = y0 + h sum w_i k_i. */
static inline void erk_dense_weights(const dae_erk_table *tab, double theta, double *w)
{
    double r[20][DAE_ERK_WIDTH] = {{0}};
    const double *b = tab->a[tab->fsal];
    for (int i = 0; i < tab->total; i++) {
        r[1][i] = b[i];
        r[2][i] = (i == 0) - b[i];
        r[3][i] = 2 * b[i] - (i == tab->fsal) - (i == 0);
        for (int j = 0; j < tab->dense; j++) r[4 + j][i] = tab->d[j][i];
        w[i] = 0;
        for (int j = 3 + tab->dense; j >= 1; j--) w[i] = (j % 2 ? 1 - theta : theta) * w[i] + r[j][i];
        w[i] *= theta;
    }
}

/* y' = 0 before and 1 behind theta h, inside of a step: the error of y1 over the estimate of it, largest over theta. Between two nodes
 * the estimate is the same and the error linear. */
static inline double erk_hidden(const dae_erk_table *tab)
{
    const double *b = tab->a[tab->fsal];
    double most = 0;
    for (int j = 0; j < 2 * tab->stages; j++) {
        double theta = tab->c[j / 2], y1 = 0, five = 0, three = 0;
        if (theta == 1 && j % 2) continue;
        for (int i = 0; i < tab->stages; i++) {
            if (j % 2 ? tab->c[i] <= theta : tab->c[i] < theta) continue;
            y1 += b[i];
            five += tab->e[0][i];
            if (tab->errors > 1) three += tab->e[1][i];
        }
        double estimate = five == 0 ? 0 : five * five / sqrt(five * five + 0.01 * three * three);
        if (tab->low) estimate = fabs(three);
        if (theta > 0 || j % 2) most = fmax(most, fabs(1 - theta - y1) / estimate);
    }
    return most;
}

/* Conditions of b, of the embedded weights (order embedded[row]) and of dense output, all trees. */
static inline void erk_check_table(const dae_erk_table *tab, const int *embedded, int dense_order, double tol)
{
    static const int number[10] = {0, 1, 1, 2, 4, 9, 20, 48, 115, 286}; /* of rooted trees */
    int trees;
    for (int i = 0; i < tab->total; i++) {
        double sum = 0;
        for (int j = 0; j < DAE_ERK_WIDTH; j++) {
            sum += tab->a[i][j];
            if (j >= i) assert_true(tab->a[i][j] == 0);
        }
        assert_near(sum, tab->c[i], tol);
    }
    assert_between(tab->hidden / erk_hidden(tab), 1 - 1e-9, 1.05);
    for (int n = 1; n <= tab->order; n++) {
        assert_near(erk_defect(tab, tab->a[tab->fsal], n, 1, &trees), 0, tol);
        assert_int_equal(trees, number[n]);
    }
    assert_true(erk_defect(tab, tab->a[tab->fsal], tab->order + 1, 1, &trees) > 1e-8);
    for (int row = 0; row < tab->errors; row++) {
        double w[DAE_ERK_WIDTH];
        for (int i = 0; i < DAE_ERK_WIDTH; i++) w[i] = tab->a[tab->fsal][i] - tab->e[row][i];
        for (int n = 1; n <= embedded[row]; n++) assert_near(erk_defect(tab, w, n, 1, &trees), 0, tol);
        assert_true(erk_defect(tab, w, embedded[row] + 1, 1, &trees) > 1e-5);
    }
    for (double theta = 0.1; theta < 1.05; theta += 0.1) {
        double w[DAE_ERK_WIDTH];
        erk_dense_weights(tab, theta, w);
        for (int n = 1; n <= dense_order; n++) {
            assert_near(erk_defect(tab, w, n, theta, &trees), 0, 20 * tol);
        }
    }
}

/* ---- Problems ---------------------------------------------------------------------------------- */

/* Kepler's problem with eccentricity 0.3, from the pericenter: smooth and nonlinear, period 2 pi. */
static inline int erk_kepler(double t, const double *y, double *f, void *user)
{
    double r2 = y[0] * y[0] + y[1] * y[1], r3 = r2 * sqrt(r2);
    (void)t;
    (void)user;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[0] / r3;
    f[3] = -y[1] / r3;
    return 0;
}

static inline void erk_kepler_exact(double t, double *y)
{
    const double e = 0.3, b = sqrt(1 - e * e);
    double E = t; /* E - e sin E = t */
    for (int i = 0; i < 20; i++) E -= (E - e * sin(E) - t) / (1 - e * cos(E));
    double rate = 1 / (1 - e * cos(E));
    y[0] = cos(E) - e;
    y[1] = b * sin(E);
    y[2] = -sin(E) * rate;
    y[3] = b * cos(E) * rate;
}

/* y = (exp(sin t^2), exp(5 sin t^2), sin t^2 + 1, cos t^2): not autonomous. */
static inline int erk_sines(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = 2 * t * pow(y[1], 0.2) * y[3];
    f[1] = 10 * t * exp(5 * (y[2] - 1)) * y[3];
    f[2] = 2 * t * y[3];
    f[3] = -2 * t * log(y[0]);
    return 0;
}

static inline void erk_sines_exact(double t, double *y)
{
    double s = sin(t * t);
    y[0] = exp(s);
    y[1] = exp(5 * s);
    y[2] = s + 1;
    y[3] = cos(t * t);
}

/* Four equations with a known solution. */
typedef struct erk_problem {
    dae_rhs *f;
    void (*exact)(double t, double *y);
    double t_end, t_inside; /* from 0; t_inside: where dense output is looked at */
} erk_problem;

static const erk_problem erk_orbit = {erk_kepler, erk_kepler_exact, 3, 0.7};
static const erk_problem erk_waves = {erk_sines, erk_sines_exact, 1.2, 0.7};

/* Restricted three-body problem, [HNW] II.0: a closed orbit. */
static inline int erk_arenstorf(double t, const double *y, double *f, void *user)
{
    const double mu = 0.012277471, mv = 1 - mu;
    double a = (y[0] + mu) * (y[0] + mu) + y[1] * y[1], b = (y[0] - mv) * (y[0] - mv) + y[1] * y[1];
    (void)t;
    (void)user;
    a *= sqrt(a);
    b *= sqrt(b);
    f[0] = y[2];
    f[1] = y[3];
    f[2] = y[0] + 2 * y[3] - mv * (y[0] + mu) / a - mu * (y[0] - mv) / b;
    f[3] = y[1] - 2 * y[2] - mv * y[1] / a - mu * y[1] / b;
    return 0;
}

static inline int erk_vdpol(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = y[1];
    f[1] = 1000 * (1 - y[0] * y[0]) * y[1] - y[0];
    return 0;
}

/* y' = -3 y; undefined for y below user[0]. */
static inline int erk_decay(double t, const double *y, double *f, void *user)
{
    (void)t;
    if (y[0] < *(const double *)user) return 1;
    f[0] = -3 * y[0];
    return 0;
}

static inline int erk_stopper(double t, const double *y, double *f, void *user)
{
    (void)y;
    (void)user;
    f[0] = 1;
    return t > 0.5 ? -1 : 0;
}

static inline dae_system erk_system(int n, dae_rhs *f, void *user)
{
    return (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = n, .f = f, .user = user}};
}

static inline dae_options erk_options(const char *method, double tol)
{
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.rtol = opt.atol = tol;
    return opt;
}

static inline double erk_distance(int n, const double *a, const double *b)
{
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

/* ---- Cases ------------------------------------------------------------------------------------- */

/* Error at the end with fixed steps h. */
static inline double erk_fixed_error(const char *method, const erk_problem *p, double h, long *evaluations)
{
    dae_system sys = erk_system(4, p->f, NULL);
    dae_options opt = erk_options(method, 1e-6);
    dae_stats stats;
    dae_error err = {0};
    double y[4], exact[4];
    opt.fixed_step = h;
    p->exact(0, y);
    p->exact(p->t_end, exact);
    assert_int_equal(dae_solve(&sys, &opt, 0, p->t_end, y, &stats, &err), DAE_OK);
    assert_int_equal(stats.accepted, lround(p->t_end / h));
    assert_int_equal(stats.rejected, 0);
    *evaluations = stats.f;
    return erk_distance(4, y, exact);
}

/* h and h/2, and that every step but for the first evaluation costs `cost` evaluations. */
static inline void erk_check_order(const char *method, const erk_problem *p, double order, int cost, double h)
{
    long f;
    double coarse = erk_fixed_error(method, p, h, &f), fine = erk_fixed_error(method, p, h / 2, &f);
    assert_near(log2(coarse / fine), order, 0.25);
    assert_int_equal(f, 1 + cost * lround(2 * p->t_end / h));
}

/* Largest error of dense output (derivative 0) or of its derivative (1) in one step of size h. */
static inline double erk_dense_error(const char *method, const erk_problem *p, double h, int derivative)
{
    dae_system sys = erk_system(4, p->f, NULL);
    dae_options opt = erk_options(method, 1e-6);
    double y[4], yp[4], exact[4], f[4], worst = 0, t0 = p->t_inside;
    opt.fixed_step = h;
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    p->exact(t0, y);
    assert_int_equal(dae_integrator_start(it, t0, t0 + h, y, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
    for (int i = 1; i < 10; i++) {
        double t = t0 + 0.1 * i * h;
        dae_integrator_interpolate(it, t, y, yp);
        p->exact(t, exact);
        p->f(t, exact, f, NULL);
        worst = fmax(worst, derivative ? erk_distance(4, yp, f) : erk_distance(4, y, exact));
    }
    dae_integrator_interpolate(it, t0 + h, y, NULL);
    assert_near(erk_distance(4, y, dae_integrator_state(it)), 0, 1e-14);
    dae_integrator_destroy(it);
    return worst;
}

/* Local error of dense output: order + 1; of its derivative: order. */
static inline void erk_check_dense(const char *method, const erk_problem *p, double order, double h)
{
    for (int d = 0; d < 2; d++) {
        double rate = log2(erk_dense_error(method, p, h, d) / erk_dense_error(method, p, h / 2, d));
        assert_near(rate, order + 1 - d, 0.25);
    }
}

/* One period of the orbit. */
static inline double erk_orbit_error(const char *method, double tol, dae_stats *stats)
{
    static const double start[4] = {0.994, 0, 0, -2.00158510637908252240537862224};
    dae_system sys = erk_system(4, erk_arenstorf, NULL);
    dae_options opt = erk_options(method, tol);
    dae_error err = {0};
    double y[4];
    memcpy(y, start, sizeof y);
    assert_int_equal(dae_solve(&sys, &opt, 0, 17.0652165601579625588917206249, y, stats, &err), DAE_OK);
    assert_int_equal(stats->steps, stats->accepted + stats->rejected);
    return erk_distance(4, y, start);
}

/* y' = -t y^2 in every component. */
static inline int erk_squares(double t, const double *y, double *f, void *user)
{
    for (int i = 0; i < *(const int *)user; i++) f[i] = -t * y[i] * y[i];
    return 0;
}

/* Sums over stages take as many components at once as there are: the same numbers at every size, in steps and between them. */
static inline void erk_check_sizes(const char *method)
{
    enum { MOST = 38 };
    double one[2] = {0, 0};
    for (int n = 1; n <= MOST; n++) {
        dae_system sys = erk_system(n, erk_squares, &n);
        dae_options opt = erk_options(method, 1e-6);
        double y[MOST];
        for (int i = 0; i < n; i++) y[i] = 1;
        opt.fixed_step = 0.125;
        dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
        assert_int_equal(dae_integrator_start(it, 0, 2, y, NULL, NULL), DAE_OK);
        for (int k = 0; k < 5; k++) assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        dae_integrator_interpolate(it, 0.53, y, NULL);
        for (int i = 0; i < n; i++) {
            double end = dae_integrator_state(it)[i];
            if (n == 1) one[0] = end, one[1] = y[0];
            assert_true(end == one[0] && y[i] == one[1]);
        }
        dae_integrator_destroy(it);
    }
    assert_near(one[0], 1 / (1 + 0.5 * 0.625 * 0.625), 1e-3);
}

/* Three revolutions with eccentricity 0.9 at ten tolerances: errors grow from step to step on the way to the pericenter. Steps that
 * are not predicted from that are often refused there. */
static inline void erk_check_refusals(const char *method, double percent)
{
    dae_system sys = erk_system(4, erk_kepler, NULL);
    long steps = 0, rejected = 0;
    for (double tol = 1e-3; tol > 0.9e-12; tol /= 10) {
        dae_options opt = erk_options(method, tol);
        dae_stats stats;
        double y[4] = {0.1, 0, 0, sqrt(19)};
        assert_int_equal(dae_solve(&sys, &opt, 0, 6 * 3.14159265358979323846, y, &stats, NULL), DAE_OK);
        steps += stats.steps;
        rejected += stats.rejected;
    }
    assert_between(100.0 * (double)rejected / (double)steps, 0, percent);
}

static inline void erk_check_backward(const char *method, double tol, double expected)
{
    dae_system sys = erk_system(4, erk_sines, NULL);
    dae_options opt = erk_options(method, tol);
    double y[4], exact[4];
    erk_sines_exact(1.2, y);
    erk_sines_exact(0.1, exact);
    assert_int_equal(dae_solve(&sys, &opt, 1.2, 0.1, y, NULL, NULL), DAE_OK);
    assert_near(erk_distance(4, y, exact), 0, expected);
}

/* Steps that try y < 0.04 are undone; the run goes on to y = exp(-3) = 0.0498. */
static inline void erk_check_undefined(const char *method)
{
    double wall = 0.04, y[1] = {1};
    dae_system sys = erk_system(1, erk_decay, &wall);
    dae_options opt = erk_options(method, 1e-5);
    dae_stats stats;
    dae_error err = {0};
    opt.h0 = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, &stats, &err), DAE_OK);
    assert_near(y[0], exp(-3), 1e-4);
    assert_true(stats.undefined > 0);
    assert_true(stats.rejected >= stats.undefined);
}

/* The solution ends where y reaches the wall: the step size runs out there, and the text says so. */
static inline void erk_check_wall(const char *method)
{
    double wall = 0.04, y[1] = {1};
    dae_system sys = erk_system(1, erk_decay, &wall);
    dae_options opt = erk_options(method, 1e-6);
    dae_error err = {0};
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, &err), DAE_ERR_UNDEFINED);
    assert_near(err.t, -log(wall) / 3, 1e-4);
    assert_non_null(strstr(err.text, "step fell to"));
    y[0] = 1;
    opt.h_min = 1e-3;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, &err), DAE_ERR_STEP_TOO_SMALL);
    assert_non_null(strstr(err.text, "h_min 0.001"));
    y[0] = 0.01;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, &err), DAE_ERR_UNDEFINED);
}

static inline void erk_check_stop(const char *method)
{
    double y[1] = {0};
    dae_system sys = erk_system(1, erk_stopper, NULL);
    dae_options opt = erk_options(method, 1e-6);
    dae_error err = {0};
    opt.h_max = 0.1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_CALLBACK);
    assert_between(err.t, 0.39, 0.51);
}

static inline void erk_count_stiff(dae_log_level level, const char *text, void *user)
{
    if (level == DAE_LOG_WARN && strstr(text, "stiff")) ++*(int *)user;
}

/* How often the driver hears of stiffness when every `every`-th step is tested. */
static inline int erk_stiff_reports(const char *method, const dae_system *sys, double t_end, const double *y0,
                                    double tol, const char *every, dae_stats *stats)
{
    dae_options opt = erk_options(method, tol);
    dae_setting setting = {"stiff_test", every};
    double y[4];
    int reports = 0;
    memcpy(y, y0, (size_t)dae_system_size(sys) * sizeof *y);
    opt.setting = &setting;
    opt.nsetting = 1;
    opt.log = erk_count_stiff;
    opt.log_level = DAE_LOG_WARN;
    opt.log_user = &reports;
    assert_int_equal(dae_solve(sys, &opt, 0, t_end, y, stats, NULL), DAE_OK);
    return reports;
}

/* Once on van der Pol's equation with mu = 1000, on its slow branch; never where it is not asked for, and
 * never on an orbit. */
static inline void erk_check_stiffness(const char *method)
{
    static const double slow[2] = {2, 0}, orbit[4] = {0.994, 0, 0, -2.00158510637908252240537862224};
    dae_system vdpol = erk_system(2, erk_vdpol, NULL), arenstorf = erk_system(4, erk_arenstorf, NULL);
    dae_stats stats;
    assert_int_equal(erk_stiff_reports(method, &vdpol, 20, slow, 1e-3, "1000", &stats), 1);
    assert_true(stats.accepted > 1000);
    assert_int_equal(erk_stiff_reports(method, &vdpol, 20, slow, 1e-3, "0", &stats), 0);
    assert_int_equal(erk_stiff_reports(method, &arenstorf, 17, orbit, 1e-6, "1", &stats), 0);
}

/* Steps and interpolation leave the heap as it is. */
static inline void erk_check_allocation(const char *method)
{
#if defined(__GLIBC__)
    dae_system sys = erk_system(4, erk_arenstorf, NULL);
    dae_options opt = erk_options(method, 1e-5);
    double y[4] = {0.994, 0, 0, -2.00158510637908252240537862224};
    dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
    assert_int_equal(dae_integrator_start(it, 0, 17, y, NULL, NULL), DAE_OK);
    struct mallinfo2 before = mallinfo2();
    for (int i = 0; i < 50; i++) {
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
static inline void erk_check_checkpoint(const char *method)
{
    dae_system sys = erk_system(4, erk_arenstorf, NULL);
    dae_options opt = erk_options(method, 1e-6);
    double y[4] = {0.994, 0, 0, -2.00158510637908252240537862224}, a[8], b[8];
    dae_integrator *one = dae_integrator_create(&sys, &opt, NULL);
    dae_integrator *two = dae_integrator_create(&sys, &opt, NULL);
    assert_int_equal(dae_integrator_start(one, 0, 17, y, NULL, NULL), DAE_OK);
    assert_int_equal(dae_integrator_start(two, 0, 17, y, NULL, NULL), DAE_OK);
    for (int i = 0; i < 40; i++) assert_int_equal(dae_integrator_step(one, NULL), DAE_OK);
    size_t size = dae_integrator_save(one, NULL, 0);
    assert_true(size > 0);
    void *buffer = malloc(size);
    assert_int_equal(dae_integrator_save(one, buffer, size), size);
    assert_int_equal(dae_integrator_load(two, buffer, size, NULL), DAE_OK);
    double t = dae_integrator_time(one), mid = 0.5 * (t + dae_integrator_previous_time(one));
    assert_true(t == dae_integrator_time(two));
    dae_integrator_interpolate(one, mid, a, a + 4);
    dae_integrator_interpolate(two, mid, b, b + 4);
    assert_memory_equal(a, b, sizeof a);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(dae_integrator_step(one, NULL), DAE_OK);
        assert_int_equal(dae_integrator_step(two, NULL), DAE_OK);
    }
    assert_true(dae_integrator_time(one) == dae_integrator_time(two));
    assert_memory_equal(dae_integrator_state(one), dae_integrator_state(two), 4 * sizeof(double));
    assert_int_equal(dae_integrator_stats(one)->f, dae_integrator_stats(two)->f);
    free(buffer);
    dae_integrator_destroy(one);
    dae_integrator_destroy(two);
}

/* A method with nothing but what it needs of a run: Kepler's problem with fixed steps. */
typedef struct erk_bare {
    dae_ivp ivp;
    dae_system sys;
    dae_options opt;
    dae_stats stats;
    dae_error err;
    dae_erk_option option;
    double tol[4];
    const dae_method *method;
    void *self;
} erk_bare;

static inline void erk_bare_start(erk_bare *b, const dae_method *method, double t, const double *y)
{
    memset(b, 0, sizeof *b);
    b->method = method;
    b->sys = erk_system(4, erk_kepler, NULL);
    b->opt = erk_options(method->info.name, 1e-6);
    b->opt.fixed_step = 0.125;
    for (int i = 0; i < 4; i++) b->tol[i] = 1e-6;
    dae_setting_defaults(method->info.options, &b->option);
    b->ivp = (dae_ivp){.sys = &b->sys,
                       .opt = &b->opt,
                       .n = 4,
                       .rtol = b->tol,
                       .atol = b->tol,
                       .arena = dae_arena_create(),
                       .stats = &b->stats,
                       .t_end = 1,
                       .t_stop = 1,
                       .direction = 1,
                       .left = NAN,
                       .right = NAN,
                       .err = &b->err,
                       .f = erk_kepler};
    b->self = method->create(&b->ivp, &b->option, &b->err);
    assert_non_null(b->self);
    assert_int_equal(method->reset(b->self, t, y, NULL, 0), DAE_OK);
}

static inline void erk_bare_end(erk_bare *b)
{
    b->method->destroy(b->self);
    dae_arena_destroy(b->ivp.arena);
}

/* Somebody (a projection) moves the state between two steps: the next step starts from there, with its own
 * derivative, and the last step can still be interpolated, up to the moved state. */
static inline void erk_check_changed_state(const dae_method *method)
{
    erk_bare one, two;
    double y[4], end[4];
    erk_kepler_exact(0, y);
    erk_bare_start(&one, method, 0, y);
    assert_int_equal(method->step(one.self), DAE_OK);
    long before = one.stats.f;
    erk_kepler_exact(0.125, y);
    y[0] += 1e-3;
    memcpy((double *)(uintptr_t)one.ivp.y, y, sizeof y);
    erk_bare_start(&two, method, 0.125, y);
    assert_int_equal(method->step(one.self), DAE_OK);
    assert_int_equal(method->step(two.self), DAE_OK);
    assert_memory_equal(one.ivp.y, two.ivp.y, sizeof y);
    assert_int_equal(one.stats.f - before, two.stats.f);
    y[1] += 1e-3;
    memcpy((double *)(uintptr_t)one.ivp.y, y, sizeof y);
    method->interpolate(one.self, 0.25, end, NULL);
    assert_near(erk_distance(4, y, end), 0, 1e-15);
    erk_bare_end(&one);
    erk_bare_end(&two);
}

#endif
