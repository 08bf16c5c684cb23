/* rodas4p2, rodas5, rodas5p: order conditions, observed orders (ODE, index 1, stiff, wrong Jacobian, dense output), counts
 * against those of an independent implementation. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include "method/rodas/rodas.h"

enum { S = DAE_RODAS_STAGES };

static const char *const name[] = {"rodas4p2", "rodas5", "rodas5p"};
static const dae_rodas_table *const table[] = {&dae_rodas4p2_table, &dae_rodas5_table, &dae_rodas5p_table};

/* ---- The tables --------------------------------------------------------------------------------------------------- */

/* Gamma, alpha, beta = alpha + Gamma, b from the transformed coefficients: Gamma^-1 = I/gamma - c, alpha = a Gamma,
 * b = m Gamma, where rows of a behind `sum` repeat it and go on with ones, and so does m. */
typedef struct original {
    double Gamma[S][S], alpha[S][S], beta[S][S], b[S], b_hat[S];
} original;

static double a_of(const dae_rodas_table *t, int i, int j)
{
    if (i <= t->sum) return t->a[i][j];
    return j < t->sum ? t->a[t->sum][j] : j < i ? 1 : 0;
}

static original transform(const dae_rodas_table *t)
{
    original o = {0};
    int s = t->stages;
    for (int j = 0; j < s; j++) {
        for (int i = j; i < s; i++) {
            double sum = i == j;
            for (int k = j; k < i; k++) sum += t->c[i][k] * o.Gamma[k][j];
            o.Gamma[i][j] = sum * t->gamma;
        }
    }
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) {
            for (int k = 0; k < s; k++) o.alpha[i][j] += a_of(t, i, k) * o.Gamma[k][j];
            o.beta[i][j] = o.alpha[i][j] + o.Gamma[i][j];
            o.b[i] += a_of(t, s, j) * o.Gamma[j][i];
            o.b_hat[i] += a_of(t, s - 1, j) * o.Gamma[j][i];
        }
    }
    return o;
}

/* Elementary weights of the tree in which vertex v > 0 hangs on parent[v] < v: a vertex with one child takes beta, one
 * with several alpha, [HW] (IV.7.10'). Returns sum b phi minus 1/density. */
static double residual(const original *o, const double *b, int s, int order, const int *parent)
{
    double phi[8][S], density = 1;
    int children[8] = {0}, size[8];
    for (int v = 1; v < order; v++) children[parent[v]]++;
    for (int v = 0; v < order; v++) {
        size[v] = 1;
        for (int i = 0; i < s; i++) phi[v][i] = 1;
    }
    for (int v = order - 1; v > 0; v--) {
        int p = parent[v];
        for (int i = 0; i < s; i++) {
            double sum = 0;
            for (int j = 0; j < s; j++) sum += (children[p] == 1 ? o->beta : o->alpha)[i][j] * phi[v][j];
            phi[p][i] *= sum;
        }
        size[p] += size[v];
    }
    for (int v = 0; v < order; v++) density *= size[v];
    double sum = 0;
    for (int i = 0; i < s; i++) sum += b[i] * phi[0][i];
    return sum - 1 / density;
}

/* The largest residual over all trees with `order` vertices. */
static double worst(const original *o, const double *b, int s, int order)
{
    int parent[8] = {0};
    double most = 0;
    for (;;) {
        most = fmax(most, fabs(residual(o, b, s, order, parent)));
        int v = order - 1;
        while (v > 1 && parent[v] == v - 1) parent[v--] = 0;
        if (v <= 1) return most;
        parent[v]++;
    }
}

static void tables_meet_their_order_conditions(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const dae_rodas_table *t = table[k];
        original o = transform(t);
        for (int i = 0; i < t->stages; i++) {
            double alpha = 0, gamma = 0;
            for (int j = 0; j < t->stages; j++) {
                alpha += o.alpha[i][j];
                gamma += o.Gamma[i][j];
            }
            assert_near(alpha, t->alpha[i], 2e-13);
            assert_near(gamma, t->gamma_i[i], 2e-13);
        }
        for (int order = 1; order <= t->order; order++)
            assert_near(worst(&o, o.b, t->stages, order), 0, 5e-13);
        for (int order = 1; order < t->order; order++)
            assert_near(worst(&o, o.b_hat, t->stages, order), 0, 5e-13);
        assert_true(worst(&o, o.b_hat, t->stages, t->order) > 1e-4); /* the estimate sees the error */
        assert_true(worst(&o, o.b, t->stages, t->order + 1) > 1e-4);
    }
}

/* ---- Systems with known solutions ------------------------------------------------------------------------------------ */

/* y1 = exp(sin t), y2 = cos(2t): nonlinear, depends on t. */
static void exact(double t, double *y)
{
    y[0] = exp(sin(t));
    y[1] = cos(2 * t);
    y[2] = y[0] * y[1];
}

static int smooth(double t, const double *y, double *f, void *user)
{
    (void)user;
    double e = exp(sin(t)), c = cos(2 * t);
    f[0] = cos(t) * y[0] + (y[0] * y[1] - e * c);
    f[1] = -2 * sin(2 * t) - (y[1] * y[1] - c * c) + 0.5 * (y[0] - e);
    return 0;
}

static int smooth_jac(double t, const double *y, double *J, void *user)
{
    (void)user;
    J[0] = cos(t) + y[1];
    J[2] = y[0];
    J[1] = 0.5;
    J[3] = -2 * y[1];
    return 0;
}

/* With z = y1 y2 as an algebraic variable. */
static int index1(double t, const double *y, double *f, void *user)
{
    (void)user;
    double e = exp(sin(t)), c = cos(2 * t);
    f[0] = cos(t) * y[0] + (y[2] - e * c);
    f[1] = -2 * sin(2 * t) - (y[1] * y[1] - c * c) + 0.5 * (y[0] - e);
    f[2] = y[2] * (1 + 0.1 * y[2]) - y[0] * y[1] * (1 + 0.1 * y[0] * y[1]);
    return 0;
}

/* Prothero and Robinson, lambda = -1e4. */
static int driven(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -1e4 * (y[0] - exp(sin(t))) + cos(t) * exp(sin(t));
    return 0;
}

static int driven_jac(double t, const double *y, double *J, void *user)
{
    (void)t, (void)y, (void)user;
    J[0] = -1e4;
    return 0;
}

static int driven_dfdt(double t, const double *y, double *ft, void *user)
{
    (void)y, (void)user;
    double e = exp(sin(t)), d = cos(t) * e;
    ft[0] = 1e4 * d + cos(t) * d - sin(t) * e;
    return 0;
}

static int wrong_jac(double t, const double *y, double *J, void *user)
{
    smooth_jac(t, y, J, user);
    for (int k = 0; k < 4; k++) J[k] = 0.7 * J[k] + 0.2;
    return 0;
}

static int no_dfdt(double t, const double *y, double *ft, void *user)
{
    (void)t, (void)y, (void)user;
    ft[0] = ft[1] = 0;
    return 0;
}

static dae_system ode_system(void)
{
    return (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .jac = smooth_jac}};
}

static const double unit_mass[] = {1, 1, 0};

static dae_system dae_system_of_index_1(void)
{
    return (dae_system){.kind = DAE_KIND_DAE,
                        .dae = {.n = 3, .mass = dae_diagonal(3, unit_mass), .f = index1}};
}

/* The largest error over the steps of a run over [0, 1] with step size h; with theta > 0 that of the dense output inside
 * them. */
static double error_with_step(const char *method, const dae_system *sys, double h, double theta)
{
    int n = dae_system_size(sys);
    double y0[3], y[3], want[3], worst_error = 0;
    exact(0, y0);
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.fixed_step = h;
    dae_error err = {0};
    dae_integrator *it = dae_integrator_create(sys, &opt, &err);
    if (!it || dae_integrator_start(it, 0, 1, y0, NULL, &err)) fail_msg("%s: %s", method, err.text);
    while (dae_integrator_time(it) < 1 - 1e-9) {
        if (dae_integrator_step(it, &err)) fail_msg("%s: %s", method, err.text);
        double t = dae_integrator_time(it), before = dae_integrator_previous_time(it);
        if (theta > 0) t = before + theta * (t - before);
        dae_integrator_interpolate(it, t, y, NULL);
        exact(t, want);
        for (int i = 0; i < n; i++) worst_error = fmax(worst_error, fabs(y[i] - want[i]));
    }
    dae_integrator_destroy(it);
    return worst_error;
}

static double order_of(const char *method, const dae_system *sys, double h, double theta)
{
    return log2(error_with_step(method, sys, h, theta) / error_with_step(method, sys, h / 2, theta));
}

static void observed_orders_on_an_ode(void **state)
{
    static const double order[] = {4, 5, 5};
    (void)state;
    dae_system sys = ode_system();
    for (int k = 0; k < 3; k++)
        assert_between(order_of(name[k], &sys, 1.0 / 16, 0), order[k] - 0.4, order[k] + 1);
}

static void observed_orders_on_index_1(void **state)
{
    static const double order[] = {4, 5, 5};
    (void)state;
    dae_system sys = dae_system_of_index_1();
    for (int k = 0; k < 3; k++)
        assert_between(order_of(name[k], &sys, 1.0 / 12, 0), order[k] - 0.3, order[k] + 1);
}

/* Dense output is of the order of the method on ODEs, one less on DAEs. */
static void observed_orders_of_dense_output(void **state)
{
    static const double order[] = {4, 5, 5};
    (void)state;
    dae_system sys[] = {ode_system(), dae_system_of_index_1()};
    for (int k = 0; k < 3; k++) {
        for (int kind = 0; kind < 2; kind++) {
            double seen = order_of(name[k], &sys[kind], kind ? 1.0 / 32 : 1.0 / 16, 0.3);
            if (!(seen > order[k] - kind - 0.4)) fail_msg("%s, kind %d: order %.2f", name[k], kind, seen);
        }
    }
}

static void derivative_of_dense_output_is_that_of_the_solution(void **state)
{
    (void)state;
    dae_system sys = ode_system();
    for (int k = 0; k < 3; k++) {
        dae_options opt = dae_options_default();
        opt.method = name[k];
        opt.rtol = opt.atol = 1e-9;
        dae_error err = {0};
        double y[3], yp[3], f[2];
        exact(0, y);
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        assert_non_null(it);
        assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, &err), DAE_OK);
        assert_int_equal(dae_integrator_advance(it, 0.777, &err), DAE_OK);
        assert_int_equal(dae_integrator_interpolate(it, 0.777, y, yp), DAE_OK);
        smooth(0.777, y, f, NULL);
        assert_near(yp[0], f[0], 1e-6); /* the derivative has an order less */
        assert_near(yp[1], f[1], 1e-6);
        dae_integrator_destroy(it);
    }
}

/* [STE20], [STE23]: order 3 for h lambda -> infinity, and about 1 for rodas5. */
static void observed_orders_on_prothero_robinson(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE,
                      .ode = {.n = 1, .f = driven, .jac = driven_jac, .dfdt = driven_dfdt}};
    assert_between(order_of("rodas4p2", &sys, 1.0 / 16, 0), 2.7, 3.6);
    assert_between(order_of("rodas5p", &sys, 1.0 / 16, 0), 2.7, 3.9);
    assert_between(order_of("rodas5", &sys, 1.0 / 16, 0), 0.5, 1.5);
}

/* W-methods of order 2: for every J and f_t. */
static void order_2_with_a_wrong_jacobian(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = smooth, .jac = wrong_jac, .dfdt = no_dfdt}};
    assert_between(order_of("rodas4p2", &sys, 1.0 / 64, 0), 1.8, 2.3);
    assert_between(order_of("rodas5p", &sys, 1.0 / 64, 0), 1.8, 2.3);
    assert_between(order_of("rodas5", &sys, 1.0 / 64, 0), 0.8, 1.3);
}

/* ---- Counts --------------------------------------------------------------------------------------------------------------- */

/* Steps, accepted ones and digits of an implementation written by others from the same formulas, with exact Jacobians. */
static void counts_are_those_of_an_independent_implementation(void **state)
{
    static const struct {
        const char *problem, *method;
        double rtol, atol, h0;
        int steps, accepted;
        double mescd;
    } run[] = {
        {"hires", "rodas4p2", 1e-6, 1e-6, 1e-8, 77, 75, 6.60},
        {"hires", "rodas5p", 1e-6, 1e-6, 1e-8, 58, 56, 6.24},
        {"hires", "rodas5p", 1e-8, 1e-8, 1e-10, 142, 141, 8.38},
        {"pollu", "rodas4p2", 1e-6, 1e-6, 1e-6, 26, 25, 7.13},
        {"pollu", "rodas5p", 1e-6, 1e-6, 1e-6, 23, 23, 7.64},
        {"orego", "rodas4p2", 1e-6, 1e-6, 1e-8, 1093, 1085, 5.35},
        {"orego", "rodas5p", 1e-6, 1e-6, 1e-8, 774, 766, 6.25},
        {"rober", "rodas4p2", 1e-6, 1e-10, 1e-8, 305, 303, 6.63},
        {"rober", "rodas5p", 1e-6, 1e-10, 1e-8, 214, 212, 8.30},
        {"rober", "rodas5p", 1e-8, 1e-12, 1e-10, 495, 490, 9.28},
        {"chemakzo", "rodas4p2", 1e-8, 1e-8, 1e-10, 105, 104, 8.48},
        {"chemakzo", "rodas5p", 1e-10, 1e-10, 1e-12, 199, 198, 10.51},
        {"transamp", "rodas4p2", 1e-6, 1e-6, 1e-8, 3550, 3477, 6.84},
    };
    (void)state;
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        dae_error err = {0};
        dae_problem *p = dae_problem_create(run[k].problem, NULL, 0, &err);
        assert_non_null(p);
        int n = dae_system_size(&p->system);
        double y[32], most = 0;
        for (int i = 0; i < n; i++) y[i] = p->y0[i];
        dae_options opt = dae_options_default();
        opt.method = run[k].method;
        opt.rtol = run[k].rtol;
        opt.atol = run[k].atol;
        opt.h0 = run[k].h0;
        dae_stats stats;
        assert_int_equal(dae_solve(&p->system, &opt, p->t0, p->t_end, y, &stats, &err), DAE_OK);
        for (int i = 0; i < n; i++) {
            double weight = run[k].atol / run[k].rtol + fabs(p->reference[i]);
            most = fmax(most, fabs(y[i] - p->reference[i]) / weight);
        }
        double steps = (double)stats.steps / run[k].steps,
               accepted = (double)stats.accepted / run[k].accepted;
        if (!(fabs(steps - 1) < 0.03) || !(fabs(accepted - 1) < 0.03))
            fail_msg("%s, %s, %g: %ld steps, %ld accepted; expected %d, %d", run[k].problem, run[k].method,
                     run[k].rtol, stats.steps, stats.accepted, run[k].steps, run[k].accepted);
        int own = run[k].method[5] == '4'
                      ? 5
                      : 7; /* evaluations of an attempt, besides that of an accepted point */
        assert_true(stats.f <= own * stats.steps + stats.accepted + 3);
        assert_int_equal(stats.lu, stats.steps);
        assert_int_equal(stats.jac, stats.accepted);
        if (strcmp(run[k].problem, "rober") && fabs(-log10(most) - run[k].mescd) > 0.3)
            fail_msg("%s, %s, %g: %.2f digits, expected %.2f", run[k].problem, run[k].method, run[k].rtol,
                     -log10(most), run[k].mescd);
        dae_problem_destroy(p);
    }
}

/* Differences of the usual size ruin Robertson's problem: 669 steps and 4.7 digits. */
static void difference_jacobians_follow_small_variables(void **state)
{
    (void)state;
    dae_error err = {0};
    dae_problem *p = dae_problem_create("rober", NULL, 0, &err);
    assert_non_null(p);
    dae_options opt = dae_options_default();
    opt.method = "rodas5p";
    opt.jacobian = "difference";
    opt.rtol = 1e-6;
    opt.atol = 1e-10;
    opt.h0 = 1e-8;
    double y[3] = {1, 0, 0};
    dae_stats stats;
    assert_int_equal(dae_solve(&p->system, &opt, p->t0, p->t_end, y, &stats, &err), DAE_OK);
    assert_between((double)stats.steps, 205, 235);
    assert_near(y[0], p->reference[0], 1e-11);
    dae_problem_destroy(p);
}

/* ---- Kernels ---------------------------------------------------------------------------------------------------------------- */

static int has_kernel(int n)
{
    return dae_rodas_fixed(n, &dae_rodas5p_table) != NULL;
}

static void kernels_of_fixed_size_exist(void **state)
{
    (void)state;
    for (int n = 1; n <= 12; n++) assert_int_equal(has_kernel(n), (n >= 2 && n <= 6) || n == 8);
}

/* ---- Storage, starts ------------------------------------------------------------------------------------------------------------ */

static void storages_agree(void **state)
{
    static const char *const storage[] = {"dense", "banded", "sparse"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        double end[3];
        for (int s = 0; s < 3; s++) {
            dae_error err = {0};
            dae_problem *p = dae_problem_create("medakzo", NULL, 0, &err);
            assert_non_null(p);
            double y[400];
            for (int i = 0; i < 400; i++) y[i] = p->y0[i];
            dae_options opt = dae_options_default();
            opt.method = name[k];
            opt.linear_algebra = storage[s];
            opt.rtol = opt.atol = 1e-4;
            opt.discontinuity = p->discontinuity;
            opt.ndiscontinuity = p->ndiscontinuity;
            assert_int_equal(dae_solve(&p->system, &opt, 0, 0.5, y, NULL, &err), DAE_OK);
            end[s] = y[78];
            dae_problem_destroy(p);
        }
        assert_near(end[0], end[1], 1e-10);
        assert_near(end[0], end[2], 1e-10);
    }
}

static void inconsistent_values_are_moved_onto_the_equations(void **state)
{
    (void)state;
    dae_system sys = dae_system_of_index_1();
    for (int k = 0; k < 3; k++) {
        double y[3], want[3];
        exact(0, y);
        y[2] += 0.3;
        dae_options opt = dae_options_default();
        opt.method = name[k];
        opt.rtol = opt.atol = 1e-7;
        dae_error err = {0};
        dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
        assert_non_null(it);
        assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, &err), DAE_OK);
        assert_near(dae_integrator_state(it)[2], 1, 1e-8);
        assert_near(dae_integrator_state(it)[0], 1, 1e-12);
        assert_int_equal(dae_integrator_advance(it, 1, &err), DAE_OK);
        exact(1, want);
        for (int i = 0; i < 3; i++) assert_near(dae_integrator_state(it)[i], want[i], 1e-5);
        dae_integrator_destroy(it);
    }
}

/* A system whose second-order rows of J are not filled: kernels of fixed size put them in. */
static int pendulum(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[1];
    f[1] = -1000 * y[0] - 100 * y[1];
    return 0;
}

static int pendulum_jac(double t, const double *y, double *J, void *user)
{
    (void)t, (void)y, (void)user;
    J[1] = -1000;
    J[3] = -100;
    return 0;
}

static void second_order_systems_need_no_jacobian_of_positions(void **state)
{
    static const char *const kernels[] = {"auto", "general"};
    (void)state;
    double root = 2.5e3 - 1000, a = -50 + sqrt(root), b = -50 - sqrt(root);
    double want = (b * exp(a * 0.3) - a * exp(b * 0.3)) / (b - a);
    for (int k = 0; k < 3; k++) {
        for (int g = 0; g < 2; g++) {
            dae_system sys = {.kind = DAE_KIND_ODE,
                              .ode = {.n = 2, .f = pendulum, .jac = pendulum_jac},
                              .structure = {.second_order = 1, .autonomous = 1}};
            dae_setting setting = {"kernels", kernels[g]};
            dae_options opt = dae_options_default();
            opt.method = name[k];
            opt.rtol = opt.atol = 1e-8;
            opt.setting = &setting;
            opt.nsetting = 1;
            double y[] = {1, 0};
            dae_error err = {0};
            assert_int_equal(dae_solve(&sys, &opt, 0, 0.3, y, NULL, &err), DAE_OK);
            assert_near(y[0], want, 1e-7);
        }
    }
}

/* y' = 1/(1 + 25 (t - 5)^2), z' = -z + (t < 4 ? 0 : 1) */
static int by_time(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = 1 / (1 + 25 * (t - 5) * (t - 5));
    f[1] = (t < 4 ? 0 : 1) - y[1];
    return 0;
}

/* The estimate u_s of rodas5 is zero for what depends on t alone: y was 2000 tolerances off at 1e-4. */
static void components_that_are_driven_by_time_are_controlled(void **state)
{
    static const char *const method[] = {"rodas4p2", "rodas5", "rodas5p"};
    (void)state;
    for (int k = 0; k < 3 * 5; k++) {
        double tol = pow(10, -2 - 2 * (k / 3)), y[] = {0, 1};
        double exact[] = {2 * atan(25) / 5, exp(-10) + 1 - exp(-6)};
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = by_time}};
        dae_options opt = dae_options_default();
        dae_error err;
        opt.method = method[k % 3];
        opt.rtol = opt.atol = tol;
        assert_int_equal(dae_solve(&sys, &opt, 0, 10, y, NULL, &err), DAE_OK);
        for (int i = 0; i < 2; i++) {
            double e = fabs(y[i] - exact[i]) / tol;
            if (!(e <= 100))
                fail_msg("%s at %g: component %d is off by %g tolerances", opt.method, tol, i + 1, e);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_meet_their_order_conditions),
        cmocka_unit_test(observed_orders_on_an_ode),
        cmocka_unit_test(observed_orders_on_index_1),
        cmocka_unit_test(observed_orders_of_dense_output),
        cmocka_unit_test(derivative_of_dense_output_is_that_of_the_solution),
        cmocka_unit_test(observed_orders_on_prothero_robinson),
        cmocka_unit_test(order_2_with_a_wrong_jacobian),
        cmocka_unit_test(counts_are_those_of_an_independent_implementation),
        cmocka_unit_test(difference_jacobians_follow_small_variables),
        cmocka_unit_test(kernels_of_fixed_size_exist),
        cmocka_unit_test(storages_agree),
        cmocka_unit_test(inconsistent_values_are_moved_onto_the_equations),
        cmocka_unit_test(second_order_systems_need_no_jacobian_of_positions),
        cmocka_unit_test(components_that_are_driven_by_time_are_controlled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
