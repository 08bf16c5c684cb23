#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include "method/driver.h"
#include "method/mebdf/coefficients.h"
#include "method/mebdf/mebdf.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* ---- Runs of the test set -------------------------------------------------------------------------- */

typedef struct row {
    const char *problem, *method;
    double rtol, atol, h0, scd, mescd; /* of Test Set for IVP Solvers, release 2.3 */
    long steps, accepted, f, jac, lu;
} row;

typedef struct result {
    dae_stats stats;
    dae_score score;
} result;

static const dae_setting classic[] = {{"classic", "1"}};

/* Runs a row; 0: the problem is not there. */
static int run(const row *r, const dae_setting *setting, int nsetting, const char *jacobian, result *out)
{
    static const dae_setting published = {"jacobian", "published"};
    dae_error err = {0};
    if (!dae_problem_find(r->problem)) return 0;
    int andrews = !strcmp(r->problem, "andrews") && nsetting;
    dae_problem *p = dae_problem_create(r->problem, &published, andrews, &err);
    if (!p) fail_msg("%s: %s", r->problem, err.text);
    dae_options o = dae_options_default();
    o.method = r->method;
    o.rtol = r->rtol;
    o.atol = r->atol;
    o.h0 = r->h0;
    o.setting = setting;
    o.nsetting = nsetting;
    o.jacobian = jacobian;
    int n = dae_system_size(&p->system);
    double *atol = calloc((size_t)n, sizeof *atol);
    for (int i = 0; p->atol_factor && i < n; i++) atol[i] = r->atol * p->atol_factor[i];
    if (p->atol_factor) o.atol_vec = atol;
    o.discontinuity = p->discontinuity;
    o.ndiscontinuity = p->ndiscontinuity;
    dae_integrator *it = dae_integrator_create(&p->system, &o, &err);
    if (!it || dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, &err) ||
        dae_integrator_advance(it, p->t_end, &err)) {
        fail_msg("%s %s %g: %s", r->problem, r->method, r->rtol, err.text);
    }
    out->stats = *dae_integrator_stats(it);
    out->score = dae_problem_score(p, &o, NULL, dae_integrator_state(it));
    dae_integrator_destroy(it);
    dae_problem_destroy(p);
    free(atol);
    return 1;
}

static void assert_count(const row *r, const char *what, long got, long expected)
{
    if (fabs((double)(got - expected)) > 0.03 * (double)expected) {
        fail_msg("%s %s %g: %ld %s, the test set has %ld", r->problem, r->method, r->rtol, got, what,
                 expected);
    }
}

/* The runs of the test set that the original programs' strategy reproduces. Car axis: its Jacobian was made
 * by differences, n + 1 residuals each, which the program counts. */
static void mebdf_classic_takes_the_published_steps(void **state)
{
    static const row rows[] = {
        {"hires", "mebdfdae", 1e-4, 1e-4, 1e-4, 1.12, 3.32, 97, 94, 168, 21, 21},
        {"hires", "mebdfi", 1e-7, 1e-7, 1e-9, 4.24, 6.45, 218, 214, 767, 29, 29},
        {"hires", "mebdfi", 1e-10, 1e-10, 1e-12, 7.30, 9.51, 420, 416, 1492, 46, 46},
        {"vdpol-mu", "mebdfi", 1e-7, 1e-7, 1e-9, 5.60, 6.11, 1134, 1083, 3818, 118, 118},
        {"orego", "mebdfi", 1e-4, 1e-4, 1e-6, 3.33, 3.34, 733, 687, 2707, 103, 103},
        {"orego", "mebdfi", 1e-7, 1e-7, 1e-9, 6.39, 6.39, 1586, 1529, 5399, 174, 174},
        {"chemakzo", "mebdfi", 1e-10, 1e-10, 1e-10, 9.76, 11.42, 274, 273, 916, 32, 32},
        {"andrews", "mebdfi", 1e-4, 1e-4, 1e-4, 0.37, -1.11, 118, 108, 466, 23, 23},
        {"caraxis", "mebdfi", 1e-4, 1e-4, 1e-4, -0.23, 0.88, 280, 278, 1246, 27, 27},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        result g;
        int difference = !strcmp(r->problem, "caraxis");
        if (!run(r, classic, 1, difference ? "difference" : "auto", &g)) continue;
        assert_count(r, "steps", g.stats.steps, r->steps);
        assert_count(r, "accepted steps", g.stats.accepted, r->accepted);
        assert_count(r, "evaluations", g.stats.f + g.stats.f_jac, r->f);
        assert_count(r, "Jacobians", g.stats.jac, r->jac);
        assert_count(r, "factorizations", g.stats.lu, r->lu);
        assert_near(g.score.scd, r->scd, 0.05);
        assert_near(g.score.mescd, r->mescd, 0.05);
    }
}

/* With our corrections: digits at least those of the test set less a half, at most 1.3 times its work. */
static void mebdf_keeps_the_published_accuracy_and_work(void **state)
{
    static const row rows[] = {
        {"hires", "mebdfi", 1e-7, 1e-7, 1e-9, 4.24, 6.45, 218, 214, 767, 29, 29},
        {"hires", "mebdfdae", 1e-4, 1e-4, 1e-4, 1.12, 3.32, 97, 94, 168, 21, 21},
        {"plei", "mebdfi", 1e-7, 1e-7, 1e-9, 3.62, 3.84, 835, 816, 2764, 86, 86},
        {"vdpol-mu", "mebdfi", 1e-10, 1e-10, 1e-12, 8.55, 9.06, 2135, 2098, 7215, 208, 208},
        {"vdpol-eps", "mebdfi", 1e-4, 1e-4, 1e-6, 3.53, 3.86, 638, 591, 2179, 92, 92},
        {"orego", "mebdfi", 1e-10, 1e-10, 1e-12, 9.59, 9.59, 3248, 3232, 10754, 345, 345},
        {"rober", "mebdfi", 1e-7, 1e-11, 1e-9, 5.27, 8.95, 804, 802, 2611, 98, 98},
        {"transamp", "mebdfi", 1e-7, 1e-7, 1e-9, 6.99, 7.25, 3628, 3513, 13324, 419, 419},
        {"caraxis", "mebdfi", 1e-10, 1e-10, 1e-10, 2.08, 4.21, 1393, 1391, 5624, 85, 85},
        {"andrews", "mebdfi", 1e-7, 1e-7, 1e-7, 3.5, 1.25, 300, 287, 1222, 38, 38},
        {"nand", "mebdfi", 1e-7, 1e-7, 1e-7, 7.5, 6.24, 3786, 3429, 24487, 755, 755},
        {"beam", "mebdfi", 1e-4, 1e-4, 1e-4, 1.92, 2.56, 578, 559, 6447, 55, 55},
        {"crank", "mebdfi", 1e-6, 1e-6, 1e-8, 3.03, 0.03, 3328, 3324, 15099, 170, 170},
        {"water", "mebdfi", 1e-7, 1e-7, 1e-7, 3.3, 6.32, 1267, 1171, 13926, 192, 192},
        {"wheel", "mebdfi", 1e-4, 1e-4, 1e-4, 0.12, 1.32, 5758, 5188, 42694, 1185, 1185},
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        result g;
        if (!run(r, NULL, 0, "auto", &g)) continue;
        if (g.score.scd < r->scd - 0.5 || g.score.mescd < r->mescd - 0.5 ||
            (double)g.stats.steps > 1.3 * (double)r->steps || (double)g.stats.f > 1.3 * (double)r->f ||
            (double)g.stats.jac > 1.3 * (double)r->jac || (double)g.stats.lu > 1.3 * (double)r->lu) {
            fail_msg("%s %s %g: scd %.2f mescd %.2f steps %ld f %ld jac %ld lu %ld", r->problem, r->method,
                     r->rtol, g.score.scd, g.score.mescd, g.stats.steps, g.stats.f, g.stats.jac, g.stats.lu);
        }
    }
}

/* Twelve restarts: with the first step that is given for the start at each of them 907 steps. */
static void mebdf_restarts_with_a_part_of_the_last_step(void **state)
{
    static const row r = {"emep", "mebdfi", 1e-2, 1, 1e-7, 1.17, 1.17, 649, 597, 2537, 130, 130};
    result g;
    (void)state;
    assert_true(run(&r, NULL, 0, "auto", &g));
    assert_true(g.stats.steps < 875);
    assert_true(g.score.scd > 1.17);
}

/* Runs that failed with the original programs: the charge pump always, the adder and the slider crank; and one
 * whose algebraic variables jump. */
static void mebdf_finishes_what_the_originals_could_not(void **state)
{
    static const row rows[] = {
        {"pump", "mebdfi", 1e-1, 1e-1, 1e-7, 0, 0, 0, 0, 0, 0, 0},
        {"pump", "mebdfi", 1e-5, 1e-5, 1e-11, 3, 3, 0, 0, 0, 0, 0},
        {"pump", "mebdfi", 1e-8, 1e-8, 1e-14, 5, 3, 0, 0, 0, 0, 0},
        {"pump", "mebdfdae", 1e-6, 1e-6, 1e-12, 4, 3, 0, 0, 0, 0, 0},
        {"crank", "mebdfi", 1e-10, 1e-10, 1e-12, 5, 2, 0, 0, 0, 0, 0},
        {"transamp", "mebdfdae", 1e-7, 1e-7, 1e-9, 6, 6, 0, 0, 0, 0, 0},
        {"tba", "mebdfdae", 1e-2, 1e-2, 1e-1, 1, 0.5, 0, 0, 0, 0, 0},
        {"water", "mebdfi", 1.7782794e-8, 1.7782794e-8, 1.7782794e-8, 2.5, 5, 0, 0, 0, 0,
         0}, /* jumps of lambda */
    };
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        result g;
        if (!run(r, NULL, 0, "auto", &g)) continue;
        if (g.score.scd < r->scd || g.score.mescd < r->mescd) {
            fail_msg("%s %s %g: scd %.2f mescd %.2f", r->problem, r->method, r->rtol, g.score.scd,
                     g.score.mescd);
        }
    }
}

/* ---- Coefficients ------------------------------------------------------------------------------------ */

/* The formulas are exact for t^p on the grid t_n = 0, h = 1: nabla^j of it is sum_i (-1)^i C(j,i) (-i)^p. */
static void mebdf_coefficients_meet_order_conditions(void **state)
{
    (void)state;
    for (int k = 1; k <= K_MAX; k++) {
        const struct formula *c = &formulas[k];
        for (int p = 0; p <= k + 2; p++) {
            double bdf = p ? c->beta * p : 0, mebdf = p ? c->b1 * p + c->b2 * p * pow(2, p - 1) : 0;
            for (int j = 0; j < k; j++) {
                double nabla = 0, binomial = 1;
                for (int i = 0; i <= j; i++) {
                    nabla += (i % 2 ? -1 : 1) * binomial * (p || i ? pow(-i, p) : 1);
                    binomial = binomial * (j - i) / (i + 1);
                }
                bdf += c->e[j] * nabla;
                mebdf += c->m[j] * nabla;
            }
            if (p <= k) assert_near(bdf, 1, 1e-9);
            if (p <= k + 1) assert_near(mebdf, 1, 1e-9);
            if (p == k + 1) assert_true(fabs(bdf - 1) > 0.1);
            if (p == k + 2) assert_true(fabs(mebdf - 1) > 0.1);
        }
    }
}

/* ---- Orders with fixed steps --------------------------------------------------------------------------- */

/* y' = lambda (y - s) + s', s = (sin t, cos 2t) coupled: smooth, stiff for large -lambda. */
static int smooth(double t, const double *y, double *f, void *user)
{
    double l = *(const double *)user, a = y[0] - sin(t), b = y[1] - cos(2 * t);
    f[0] = l * (a + 0.5 * b + 0.1 * a * b) + cos(t);
    f[1] = l * (b - 0.5 * a) - 2 * sin(2 * t);
    return 0;
}

static void smooth_exact(double t, double *y)
{
    y[0] = sin(t);
    y[1] = cos(2 * t);
}

/* A pendulum of length and mass 1, gravity 1: p, v, lambda; index 3 or 2. */
static int pendulum(double t, const double *y, double *f, void *user)
{
    (void)t;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[4] * y[0];
    f[3] = -y[4] * y[1] - 1;
    f[4] = *(const int *)user == 3 ? y[0] * y[0] + y[1] * y[1] - 1 : y[0] * y[2] + y[1] * y[3];
    return 0;
}

/* phi'' = -sin phi from phi = 1, phi' = 0 by many small steps of the classical method. */
static void pendulum_exact(double t, double *y)
{
    double phi = 1, w = 0;
    int n = 1 + (int)ceil(fabs(t) / 5e-4);
    double h = t / n;
    for (int i = 0; i < n; i++) {
        double a1 = w, b1 = -sin(phi), a2 = w + h / 2 * b1, b2 = -sin(phi + h / 2 * a1);
        double a3 = w + h / 2 * b2, b3 = -sin(phi + h / 2 * a2), a4 = w + h * b3, b4 = -sin(phi + h * a3);
        phi += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
        w += h / 6 * (b1 + 2 * b2 + 2 * b3 + b4);
    }
    y[0] = sin(phi);
    y[1] = -cos(phi);
    y[2] = w * cos(phi);
    y[3] = w * sin(phi);
    y[4] = w * w + cos(phi);
}

/* Errors per component at t = 2 with n fixed steps of the formula k from exact starting values. */
static void fixed_error(const dae_system *sys, const char *method, void (*exact)(double, double *), int k,
                        int n, double *error)
{
    int size = dae_system_size(sys);
    char order[16];
    snprintf(order, sizeof order, "%d", k + 1);
    dae_setting setting = {"order", order};
    dae_options o = dae_options_default();
    dae_error err = {0};
    double h = 2.0 / n, past[8 * (K_MAX + 1)], y[8];
    o.method = method;
    o.rtol = o.atol = 1e-12;
    o.fixed_step = h;
    o.setting = &setting;
    o.nsetting = 1;
    for (int j = 0; j <= k; j++) exact(-j * h, past + j * size);
    dae_integrator *it = dae_integrator_create(sys, &o, &err);
    if (!it || dae_integrator_start(it, 0, 2, past, NULL, &err)) fail_msg("%s", err.text);
    dae_mebdf_set_history(it->self, k, h, past);
    if (dae_integrator_advance(it, 2, &err)) fail_msg("%s k = %d: %s", method, k, err.text);
    exact(2, y);
    for (int i = 0; i < size; i++) error[i] = fabs(dae_integrator_state(it)[i] - y[i]);
    assert_int_equal(dae_integrator_stats(it)->accepted, n);
    dae_integrator_destroy(it);
}

static double largest(const double *x, int from, int to)
{
    double m = 0;
    for (int i = from; i < to; i++) m = fmax(m, x[i]);
    return m;
}

static void mebdf_order_k_plus_1_on_smooth_problem(void **state)
{
    static const int steps[K_MAX + 1] = {0, 200, 200, 100, 100, 60, 50, 32};
    double lambda = -0.5, e1[8], e2[8];
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .user = &lambda}};
    (void)state;
    for (int k = 1; k <= K_MAX; k++) {
        for (int m = 0; m < 2; m++) {
            fixed_error(&sys, m ? "mebdfdae" : "mebdfi", smooth_exact, k, steps[k], e1);
            fixed_error(&sys, m ? "mebdfdae" : "mebdfi", smooth_exact, k, 2 * steps[k], e2);
            double order = log2(largest(e1, 0, 2) / largest(e2, 0, 2));
            if (fabs(order - (k + 1)) > 0.3)
                fail_msg("k = %d: order %.2f (%.2e %.2e)", k, order, largest(e1, 0, 2), largest(e2, 0, 2));
        }
    }
}

/* Far in the stiff range the order is that of the stages, k; of the first formula 2. */
static void mebdf_order_k_on_stiff_problem(void **state)
{
    static const int steps[6] = {0, 100, 100, 80, 60, 40};
    double lambda = -1e6, e1[8], e2[8];
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .user = &lambda}};
    (void)state;
    for (int k = 1; k <= 5; k++) {
        fixed_error(&sys, "mebdfi", smooth_exact, k, steps[k], e1);
        fixed_error(&sys, "mebdfi", smooth_exact, k, 2 * steps[k], e2);
        double order = log2(largest(e1, 0, 2) / largest(e2, 0, 2)), expected = k == 1 ? 2 : k;
        if (fabs(order - expected) > 0.3) fail_msg("k = %d: order %.2f", k, order);
    }
}

/* Observed orders of (p, v) and of lambda. */
static void check_pendulum(int index, const double state_order[K_MAX + 1],
                           const double multiplier_order[K_MAX + 1])
{
    static const double mass[5] = {1, 1, 1, 1, 0};
    static const int three[5] = {1, 1, 2, 2, 3}, two[5] = {1, 1, 1, 1, 2};
    static const int steps[K_MAX + 1] = {0, 100, 200, 100, 100, 80, 60, 48};
    dae_system sys = {.kind = DAE_KIND_DAE,
                      .dae = {.n = 5, .f = pendulum, .mass = dae_diagonal(5, mass), .user = &index},
                      .structure = {.index = index == 3 ? three : two}};
    for (int k = 1; k <= K_MAX; k++) {
        double e1[8], e2[8];
        fixed_error(&sys, "mebdfi", pendulum_exact, k, steps[k], e1);
        fixed_error(&sys, "mebdfi", pendulum_exact, k, 2 * steps[k], e2);
        double pv = log2(largest(e1, 0, 4) / largest(e2, 0, 4)), lambda = log2(e1[4] / e2[4]);
        if (fabs(pv - state_order[k]) > 0.3 || fabs(lambda - multiplier_order[k]) > 0.3) {
            fail_msg("index %d, k = %d: orders %.2f and %.2f, expected %.2f and %.2f", index, k, pv, lambda,
                     state_order[k], multiplier_order[k]);
        }
    }
}

static void mebdf_orders_on_index_2_pendulum(void **state)
{
    static const double pv[K_MAX + 1] = {0, 2, 3, 4, 5, 6, 7, 8},
                                   lambda[K_MAX + 1] = {0, 2, 2, 3, 4, 5, 6.1, 7};
    (void)state;
    check_pendulum(2, pv, lambda);
}

static void mebdf_orders_on_index_3_pendulum(void **state)
{
    static const double pv[K_MAX + 1] = {0, 2, 2, 3, 4, 5, 6, 7},
                                   lambda[K_MAX + 1] = {0, 0, 1, 2, 3, 4, 5, 6.5};
    (void)state;
    check_pendulum(3, pv, lambda);
}

/* Fixed steps without a given history: the start is taken from a run with error control. */
static void mebdf_fixed_steps_start_themselves(void **state)
{
    double lambda = -1, e[2], y[2], exact[2];
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .user = &lambda}};
    dae_setting setting = {"order", "5"};
    dae_error err = {0};
    (void)state;
    for (int j = 0; j < 2; j++) {
        dae_options o = dae_options_default();
        o.method = "mebdfi";
        o.rtol = o.atol = 1e-12;
        o.fixed_step = j ? 0.01 : 0.02;
        o.setting = &setting;
        o.nsetting = 1;
        smooth_exact(0, y);
        assert_int_equal(dae_solve(&sys, &o, 0, 2, y, NULL, &err), DAE_OK);
        smooth_exact(2, exact);
        e[j] = fmax(fabs(y[0] - exact[0]), fabs(y[1] - exact[1]));
    }
    assert_near(log2(e[0] / e[1]), 5, 0.3);
    dae_options o = dae_options_default();
    o.method = "mebdfi";
    o.fixed_step = 0.6;
    o.stop_at_end = 1;
    o.setting = &setting;
    o.nsetting = 1;
    assert_int_equal(dae_solve(&sys, &o, 0, 2, y, NULL, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "do not fit"));
}

/* ---- The contract with the driver ------------------------------------------------------------------------ */

static dae_options options(const char *method, double tol)
{
    dae_options o = dae_options_default();
    o.method = method;
    o.rtol = o.atol = tol;
    return o;
}

static const char *const both[2] = {"mebdfdae", "mebdfi"};

/* Inside every step y and y' have about the accuracy of the tolerance. */
static void mebdf_dense_output_is_as_accurate_as_the_steps(void **state)
{
    double lambda = -1, y[2], yp[2], exact[2];
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .user = &lambda}};
    (void)state;
    for (int m = 0; m < 2; m++) {
        dae_options o = options(both[m], 1e-8);
        double worst = 0, worst_p = 0;
        dae_integrator *it = dae_integrator_create(&sys, &o, NULL);
        smooth_exact(0, y);
        assert_int_equal(dae_integrator_start(it, 0, 10, y, NULL, NULL), DAE_OK);
        while (dae_integrator_time(it) < 10) {
            assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
            double a = dae_integrator_previous_time(it), b = dae_integrator_time(it);
            for (int i = 0; i <= 4; i++) {
                double t = a + (b - a) * i / 4;
                assert_int_equal(dae_integrator_interpolate(it, t, y, yp), DAE_OK);
                smooth_exact(t, exact);
                worst = fmax(worst, fmax(fabs(y[0] - exact[0]), fabs(y[1] - exact[1])));
                worst_p = fmax(worst_p, fmax(fabs(yp[0] - cos(t)), fabs(yp[1] + 2 * sin(2 * t))));
            }
        }
        dae_integrator_destroy(it);
        assert_between(worst, 1e-12, 3e-7);
        assert_between(worst_p, 1e-11, 2e-4); /* first steps, order 1 */
    }
}

struct guard {
    double limit, latest; /* beyond limit the function cannot be evaluated; latest time asked for */
    long calls;
};

/* y' = -y + [t > 1], known solution; watches where it is evaluated. */
static int jumping(double t, const double *y, double *f, void *user)
{
    struct guard *g = user;
    g->calls++;
    g->latest = fmax(g->latest, t);
    if (t > g->limit) return 1;
    f[0] = -y[0] + (t > 1);
    return 0;
}

static double jumping_exact(double t)
{
    return t <= 1 ? exp(-t) : 1 + (exp(-1) - 1) * exp(1 - t);
}

/* No evaluation beyond the end with stop_at_end, nor where the system cannot be evaluated there; a jump is met
 * from both sides. */
static void mebdf_respects_walls(void **state)
{
    (void)state;
    for (int m = 0; m < 4; m++) {
        for (double tol = 1e-3; tol > 1e-11; tol /= 100) {
            struct guard g = {.limit = m < 2 ? INFINITY : 2};
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = jumping, .user = &g}};
            dae_options o = options(both[m % 2], tol);
            double y[1] = {1}, jump = 1;
            dae_stats stats;
            o.stop_at_end = m < 2;
            o.discontinuity = &jump;
            o.ndiscontinuity = 1;
            assert_int_equal(dae_solve(&sys, &o, 0, 2, y, &stats, NULL), DAE_OK);
            assert_near(y[0], jumping_exact(2), 5 * tol);
            assert_int_equal(stats.restarts, 1);
            if (m < 2) assert_true(g.latest <= 2);
            else assert_true(stats.undefined < 20);
        }
    }
}

/* y' = -3 y, undefined below user[0]. */
static int decay(double t, const double *y, double *f, void *user)
{
    (void)t;
    if (y[0] < *(const double *)user) return 1;
    f[0] = -3 * y[0];
    return 0;
}

static void mebdf_survives_undefined_evaluations(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        double wall = 0.04, y[1] = {1};
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = decay, .user = &wall}};
        dae_options o = options(both[m], 1e-5);
        dae_stats stats;
        dae_error err = {0};
        o.h0 = 1;
        assert_int_equal(dae_solve(&sys, &o, 0, 1, y, &stats, &err), DAE_OK);
        assert_near(y[0], exp(-3), 1e-4);
        assert_true(stats.undefined > 0);
        o.h0 = 0;
        y[0] = 1;
        assert_int_equal(dae_solve(&sys, &o, 0, 2, y, NULL, &err), DAE_ERR_UNDEFINED);
        assert_near(err.t, -log(wall) / 3, 1e-3);
        assert_non_null(strstr(err.text, "step fell to"));
        y[0] = 1;
        o.h_min = 1e-3;
        assert_int_equal(dae_solve(&sys, &o, 0, 2, y, NULL, &err), DAE_ERR_STEP_TOO_SMALL);
        assert_non_null(strstr(err.text, "smallest 0.001"));
    }
}

static void mebdf_integrates_backward(void **state)
{
    (void)state;
    for (int m = 0; m < 2; m++) {
        double lambda = 2, y[2], exact[2]; /* stable backward */
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .user = &lambda}};
        dae_options o = options(both[m], 1e-9);
        smooth_exact(3, y);
        assert_int_equal(dae_solve(&sys, &o, 3, 0, y, NULL, NULL), DAE_OK);
        smooth_exact(0, exact);
        assert_near(y[0], exact[0], 1e-8);
        assert_near(y[1], exact[1], 1e-8);
    }
}

static void mebdf_keeps_h_max_and_order_max(void **state)
{
    double lambda = -1, y[2];
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .user = &lambda}};
    dae_setting setting[] = {{"order_max", "4"}};
    dae_options o = options("mebdfi", 1e-9);
    dae_stats stats;
    dae_error err = {0};
    (void)state;
    o.h_max = 0.01;
    o.setting = setting;
    o.nsetting = 1;
    smooth_exact(0, y);
    assert_int_equal(dae_solve(&sys, &o, 0, 3, y, &stats, NULL), DAE_OK);
    assert_true(stats.h_largest <= 0.01 * (1 + 1e-12));
    assert_true(stats.order_last <= 4);
    setting[0] = (dae_setting){"order", "1"};
    assert_int_equal(dae_solve(&sys, &o, 0, 3, y, &stats, &err), DAE_ERR_INPUT);
    assert_non_null(strstr(err.text, "order = 1"));
}

/* One component with a loose tolerance does not spoil the others, and saves work. */
static void mebdf_takes_tolerances_per_component(void **state)
{
    double lambda = -1, y[2], exact[2], tight[2] = {1e-9, 1e-9}, mixed[2] = {1e-9, 1e-2};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .user = &lambda}};
    long f[2];
    (void)state;
    for (int j = 0; j < 2; j++) {
        dae_options o = options("mebdfi", 1e-9);
        dae_stats stats;
        o.rtol_vec = o.atol_vec = j ? mixed : tight;
        smooth_exact(0, y);
        assert_int_equal(dae_solve(&sys, &o, 0, 5, y, &stats, NULL), DAE_OK);
        f[j] = stats.f;
    }
    smooth_exact(5, exact);
    assert_true(f[1] < f[0]);
    assert_near(y[1], exact[1], 1e-2);
}

/* The same equations as ODE, as DAE with M = 2 I and as IDE. */
static int twice(double t, const double *y, double *f, void *user)
{
    smooth(t, y, f, user);
    f[0] *= 2;
    f[1] *= 2;
    return 0;
}

static int implicit(double t, const double *y, const double *yp, double *F, void *user)
{
    double f[2];
    smooth(t, y, f, user);
    F[0] = yp[0] - f[0];
    F[1] = yp[1] - f[1];
    return 0;
}

static void mebdfi_gives_the_same_for_ode_dae_and_ide(void **state)
{
    static const double two[2] = {2, 2}, full[4] = {2, 0, 0, 2};
    double lambda = -50, y[4][2];
    dae_system sys[4] = {
        {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .user = &lambda}},
        {.kind = DAE_KIND_DAE, .dae = {.n = 2, .f = twice, .mass = dae_diagonal(2, two), .user = &lambda}},
        {.kind = DAE_KIND_DAE, .dae = {.n = 2, .f = twice, .mass = dae_dense(2, full), .user = &lambda}},
        {.kind = DAE_KIND_IDE, .ide = {.n = 2, .residual = implicit, .user = &lambda}},
    };
    dae_stats stats[4];
    (void)state;
    for (int j = 0; j < 4; j++) {
        dae_options o = options("mebdfi", 1e-7);
        dae_error err = {0};
        o.h0 = 1e-4;
        smooth_exact(0, y[j]);
        if (dae_solve(&sys[j], &o, 0, 5, y[j], &stats[j], &err)) fail_msg("%d: %s", j, err.text);
        for (int i = 0; i < 2; i++) assert_near(y[j][i], y[0][i], 1e-9);
        assert_int_equal(stats[j].accepted, stats[0].accepted);
    }
}

/* Index-2 and index-3 pendulum with error control; and without the multiplier in the error test. */
static void mebdf_integrates_pendulums(void **state)
{
    static const double mass[5] = {1, 1, 1, 1, 0};
    static const int index3[5] = {1, 1, 2, 2, 3}, index2[5] = {1, 1, 1, 1, 2};
    static const dae_setting without = {"error_index", "2"};
    double y[5], exact[5];
    long steps[2] = {0, 0};
    (void)state;
    for (int m = 0; m < 6; m++) {
        int index = m % 2 ? 2 : 3;
        dae_system sys = {.kind = DAE_KIND_DAE,
                          .dae = {.n = 5, .f = pendulum, .mass = dae_diagonal(5, mass), .user = &index},
                          .structure = {.index = index == 3 ? index3 : index2}};
        dae_options o = options(both[m / 2 % 2], 1e-7);
        dae_stats stats;
        dae_error err = {0};
        if (m >= 4) {
            o.setting = &without;
            o.nsetting = 1;
        }
        pendulum_exact(0, y);
        if (dae_solve(&sys, &o, 0, 5, y, &stats, &err)) fail_msg("%d: %s", m, err.text);
        pendulum_exact(5, exact);
        for (int i = 0; i < 4; i++) assert_near(y[i], exact[i], 2e-5);
        assert_near(y[4], exact[4], 5e-3);
        if (m == 0 || m == 4) steps[m == 4] = stats.steps;
    }
    assert_true(steps[1] <= steps[0]);
}

/* A run that is saved and loaded goes on bit for bit; dense and sparse factors. */
static void mebdf_resumes_bit_for_bit(void **state)
{
    static const char *const problem[2] = {"hires", "nand"}, *const algebra[2] = {"auto", "sparse"};
    (void)state;
    for (int j = 0; j < 4; j++) {
        if (j == 3) continue; /* mebdfdae does not take the IDE */
        dae_problem *p = dae_problem_create(problem[j / 2], NULL, 0, NULL);
        assert_non_null(p);
        dae_options o = options(both[1 - j % 2], 1e-5);
        o.linear_algebra = algebra[j / 2];
        int n = dae_system_size(&p->system);
        double middle = p->t0 + 0.37 * (p->t_end - p->t0);
        dae_integrator *a = dae_integrator_create(&p->system, &o, NULL),
                       *b = dae_integrator_create(&p->system, &o, NULL);
        assert_int_equal(dae_integrator_start(a, p->t0, p->t_end, p->y0, p->yp0, NULL), DAE_OK);
        assert_int_equal(dae_integrator_start(b, p->t0, p->t_end, p->y0, p->yp0, NULL), DAE_OK);
        assert_int_equal(dae_integrator_advance(a, middle, NULL), DAE_OK);
        size_t size = dae_integrator_save(a, NULL, 0);
        void *buffer = malloc(size);
        assert_int_equal(dae_integrator_save(a, buffer, size), size);
        assert_int_equal(dae_integrator_load(b, buffer, size, NULL), DAE_OK);
        assert_int_equal(dae_integrator_advance(a, p->t_end, NULL), DAE_OK);
        assert_int_equal(dae_integrator_advance(b, p->t_end, NULL), DAE_OK);
        assert_memory_equal(dae_integrator_state(a), dae_integrator_state(b), (size_t)n * sizeof(double));
        assert_int_equal(dae_integrator_stats(a)->f, dae_integrator_stats(b)->f);
        free(buffer);
        dae_integrator_destroy(a);
        dae_integrator_destroy(b);
        dae_problem_destroy(p);
    }
}

static void mebdf_step_allocates_nothing(void **state)
{
    (void)state;
#if defined(__GLIBC__)
    for (int m = 0; m < 2; m++) {
        dae_problem *p = dae_problem_create("vdpol-mu", NULL, 0, NULL);
        dae_options o = options(both[m], 1e-6);
        dae_integrator *it = dae_integrator_create(&p->system, &o, NULL);
        assert_int_equal(dae_integrator_start(it, p->t0, p->t_end, p->y0, NULL, NULL), DAE_OK);
        struct mallinfo2 before = mallinfo2();
        for (int i = 0; i < 400; i++) assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        struct mallinfo2 after = mallinfo2();
        assert_int_equal(before.uordblks, after.uordblks);
        dae_integrator_destroy(it);
        dae_problem_destroy(p);
    }
#endif
}

static int stopper(double t, const double *y, double *f, void *user)
{
    (void)y;
    (void)user;
    f[0] = 1;
    return t > 0.5 ? -1 : 0;
}

static int useless(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    f[0] = y[0];
    f[1] = 0; /* the second variable does not occur */
    return 0;
}

static int robertson(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -0.04 * y[0] + 1e4 * y[1] * y[2];
    f[1] = -f[0] - 3e7 * y[1] * y[1];
    f[2] = y[0] + y[1] + y[2] - 1;
    return 0;
}

/* y3(0) = 0.5 is off the third equation by 5e5 tolerances; the first step mends it, as in the other codes. The values at 40 are
 * those of radau at 1e-13. */
static void mebdf_recovers_from_an_inconsistent_start(void **state)
{
    (void)state;
    static const double d[] = {1, 1, 0},
                        end[] = {7.158270687193941e-1, 9.185534764557763e-6, 2.841637457458299e-1};
    static const char *const method[] = {"mebdfdae", "mebdfi"};
    for (int k = 0; k < 2; k++) {
        dae_system sys = {.kind = DAE_KIND_DAE, .dae = {.n = 3, .mass = dae_diagonal(3, d), .f = robertson}};
        dae_options o = dae_options_default();
        dae_error err = {0};
        double y[] = {1, 0, 0.5};
        o.method = method[k];
        o.rtol = 1e-8;
        o.atol = 1e-12;
        if (dae_solve(&sys, &o, 0, 40, y, NULL, &err) < 0) fail_msg("%s: %s", method[k], err.text);
        for (int i = 0; i < 3; i++) assert_near(y[i], end[i], 1e-7 * end[i]);
    }
}

static void mebdf_says_why_it_fails(void **state)
{
    static const double mass[2] = {1, 0};
    (void)state;
    for (int m = 0; m < 2; m++) {
        double y[2] = {0, 0};
        dae_options o = options(both[m], 1e-6);
        dae_error err = {0};
        dae_system stops = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = stopper}};
        assert_int_equal(dae_solve(&stops, &o, 0, 1, y, NULL, &err), DAE_ERR_CALLBACK);
        assert_non_null(strstr(err.text, "asked to stop"));
        dae_system singular = {.kind = DAE_KIND_DAE,
                               .dae = {.n = 2, .f = useless, .mass = dae_diagonal(2, mass)}};
        y[0] = 1;
        assert_int_equal(dae_solve(&singular, &o, 0, 1, y, NULL, &err), DAE_ERR_SINGULAR);
        assert_non_null(strstr(err.text, "singular"));
    }
}

static int at_rest(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[0];
    return 0;
}

/* Where nothing moves the first step is a share of the interval, whatever its length. */
static void mebdf_rests_in_as_many_steps_over_any_interval(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        long steps[3] = {0};
        for (int i = 0; i < 3; i++) {
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = at_rest}};
            dae_options opt = dae_options_default();
            opt.method = k ? "mebdfi" : "mebdfdae";
            dae_stats stats;
            dae_error err = {0};
            double y = 0;
            if (dae_solve(&sys, &opt, 0, ldexp(1, 10 * i - 10), &y, &stats, &err) < 0)
                fail_msg("%s", err.text);
            assert_near(y, 0, 0);
            steps[i] = stats.accepted;
        }
        assert_int_equal(steps[0], steps[1]);
        assert_int_equal(steps[2], steps[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mebdf_classic_takes_the_published_steps),
        cmocka_unit_test(mebdf_keeps_the_published_accuracy_and_work),
        cmocka_unit_test(mebdf_restarts_with_a_part_of_the_last_step),
        cmocka_unit_test(mebdf_finishes_what_the_originals_could_not),
        cmocka_unit_test(mebdf_coefficients_meet_order_conditions),
        cmocka_unit_test(mebdf_order_k_plus_1_on_smooth_problem),
        cmocka_unit_test(mebdf_order_k_on_stiff_problem),
        cmocka_unit_test(mebdf_orders_on_index_2_pendulum),
        cmocka_unit_test(mebdf_orders_on_index_3_pendulum),
        cmocka_unit_test(mebdf_fixed_steps_start_themselves),
        cmocka_unit_test(mebdf_dense_output_is_as_accurate_as_the_steps),
        cmocka_unit_test(mebdf_respects_walls),
        cmocka_unit_test(mebdf_survives_undefined_evaluations),
        cmocka_unit_test(mebdf_integrates_backward),
        cmocka_unit_test(mebdf_keeps_h_max_and_order_max),
        cmocka_unit_test(mebdf_takes_tolerances_per_component),
        cmocka_unit_test(mebdfi_gives_the_same_for_ode_dae_and_ide),
        cmocka_unit_test(mebdf_integrates_pendulums),
        cmocka_unit_test(mebdf_resumes_bit_for_bit),
        cmocka_unit_test(mebdf_step_allocates_nothing),
        cmocka_unit_test(mebdf_recovers_from_an_inconsistent_start),
        cmocka_unit_test(mebdf_says_why_it_fails),
        cmocka_unit_test(mebdf_rests_in_as_many_steps_over_any_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
