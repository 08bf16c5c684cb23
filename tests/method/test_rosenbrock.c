/* rosnys4 and wnys2: order conditions, observed orders, wrong Jacobians, dense output, options. */
#include "test.h"

#include <daedalus/daedalus.h>

#include "method/rosenbrock/rosenbrock.h"

/* ---- The tables ------------------------------------------------------------------------------------------------ */

enum { S = DAE_ROSENBROCK_STAGES };

/* Gamma, alpha, b and b^ from the transformed coefficients: Gamma^-1 = I/gamma - c, alpha = a Gamma, b = m Gamma. */
typedef struct original {
    double Gamma[S][S], alpha[S][S], b[S], b_hat[S], beta[S], beta2[S], alpha_i[S];
} original;

static original transform(const dae_rosenbrock_table *t)
{
    original o = {0};
    int s = t->stages;
    for (int j = 0; j < s; j++) { /* column j of the inverse of a lower triangular matrix */
        for (int i = j; i < s; i++) {
            double sum = i == j;
            for (int k = j; k < i; k++) sum += t->c[i][k] * o.Gamma[k][j];
            o.Gamma[i][j] = sum * t->gamma;
        }
    }
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) {
            for (int k = 0; k < s; k++) o.alpha[i][j] += t->a[i][k] * o.Gamma[k][j];
            o.b[i] += t->m[j] * o.Gamma[j][i];
            o.b_hat[i] += t->m_hat[j] * o.Gamma[j][i];
        }
    }
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) {
            o.beta[i] += o.alpha[i][j] + o.Gamma[i][j];
            o.alpha_i[i] += o.alpha[i][j];
        }
    }
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) o.beta2[i] += (o.alpha[i][j] + o.Gamma[i][j]) * o.beta[j];
    }
    return o;
}

static double sum3(int s, const double *x, const double *y, const double *z)
{
    double sum = 0;
    for (int i = 0; i < s; i++) sum += x[i] * (y ? y[i] : 1) * (z ? z[i] : 1);
    return sum;
}

/* [HW] (IV.7.11), with beta including gamma on its diagonal. */
static void rosnys4_table_meets_order_conditions(void **state)
{
    const dae_rosenbrock_table *t = &dae_rosnys4_table;
    original o = transform(t);
    double deep[S] = {0}, cross[S] = {0}, a2[S];
    (void)state;
    for (int i = 0; i < 4; i++) {
        double g = 0;
        for (int j = 0; j < 4; j++) g += o.Gamma[i][j];
        assert_near(g, t->gamma_i[i], 1e-14);
        assert_near(o.alpha_i[i], t->alpha_i[i], 1e-14);
        a2[i] = o.alpha_i[i] * o.alpha_i[i];
        for (int j = 0; j < 4; j++) {
            deep[i] += (o.alpha[i][j] + o.Gamma[i][j]) * o.beta2[j];
            cross[i] += o.alpha_i[i] * o.alpha[i][j] * o.beta[j];
        }
    }
    double square[S] = {0};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            square[i] += (o.alpha[i][j] + o.Gamma[i][j]) * o.alpha_i[j] * o.alpha_i[j];
    }
    assert_near(sum3(4, o.b, NULL, NULL), 1, 1e-14);
    assert_near(sum3(4, o.b, o.beta, NULL), 1.0 / 2, 1e-14);
    assert_near(sum3(4, o.b, a2, NULL), 1.0 / 3, 1e-14);
    assert_near(sum3(4, o.b, o.beta2, NULL), 1.0 / 6, 1e-14);
    assert_near(sum3(4, o.b, a2, o.alpha_i), 1.0 / 4, 1e-14);
    assert_near(sum3(4, o.b, cross, NULL), 1.0 / 8, 1e-14);
    assert_near(sum3(4, o.b, square, NULL), 1.0 / 12, 1e-14);
    assert_near(sum3(4, o.b, deep, NULL), 1.0 / 24, 1e-14);
    assert_near(sum3(4, o.b_hat, NULL, NULL), 1, 1e-14);
    assert_near(sum3(4, o.b_hat, o.beta, NULL), 1.0 / 2, 1e-14);
    assert_near(sum3(4, o.b_hat, a2, NULL), 1.0 / 3, 1e-14);
    assert_near(sum3(4, o.b_hat, o.beta2, NULL), 1.0 / 6, 1e-14);
    assert_true(fabs(sum3(4, o.b_hat, deep, NULL) - 1.0 / 24) > 1e-3); /* and no more */
    /* [RNY] table 1, with the sign of gamma_21 corrected */
    assert_near(o.Gamma[1][0], -2.341993127112013949170547, 1e-14);
    assert_near(o.b[0], 0.324534707891734513474198, 1e-14);
    assert_near(o.b[2], 0, 1e-14);
    assert_near(o.b_hat[0], 0.520920789130629029328517, 1e-14);
    assert_near(o.alpha[2][1], 0.134294186842504800149231, 1e-14);
}

/* R(z) of y' = lambda y at z -> -infinity: 1 - b beta^-1 1. */
static double at_infinity(const original *o, int s, const double *b)
{
    double x[S] = {0}, sum = 1;
    for (int i = 0; i < s; i++) {
        double r = 1;
        for (int j = 0; j < i; j++) r -= (o->alpha[i][j] + o->Gamma[i][j]) * x[j];
        x[i] = r / (o->alpha[i][i] + o->Gamma[i][i]);
        sum -= b[i] * x[i];
    }
    return sum;
}

static void tables_damp_at_infinity(void **state)
{
    original four = transform(&dae_rosnys4_table), two = transform(&dae_wnys2_table);
    (void)state;
    assert_near(fabs(at_infinity(&four, 4, four.b)), 9.6e-9, 1e-10); /* gamma has 8 digits */
    assert_near(at_infinity(&four, 4, four.b_hat), -0.367, 1e-3);
    assert_near(at_infinity(&two, 2, two.b), 0, 1e-14);
}

/* Order 2 whatever J is: the terms with Gamma cancel. */
static void wnys2_table_meets_conditions_of_w_methods(void **state)
{
    const dae_rosenbrock_table *t = &dae_wnys2_table;
    original o = transform(t);
    (void)state;
    assert_near(sum3(2, o.b, NULL, NULL), 1, 1e-15);
    assert_near(sum3(2, o.b, o.alpha_i, NULL), 0.5, 1e-15);
    assert_near(sum3(2, o.b, t->gamma_i, NULL), 0, 1e-15);
    assert_near(sum3(2, o.b_hat, NULL, NULL), 1, 1e-15);
    assert_near(o.Gamma[1][0], -2 * t->gamma, 1e-14);
    assert_near(o.b_hat[0], 0, 1e-15);
}

/* ---- Observed orders ---------------------------------------------------------------------------------------------- */

/* A second-order system that depends on t: solution q = (sin t + cos 2t, exp(-t) ...) made by adding the residual. */
typedef struct wave {
    double j1, j2; /* what the Jacobian is multiplied by */
    int nothing;   /* 1: df/dt = 0 is told */
} wave;

static void wave_exact(double t, double *y)
{
    y[0] = sin(t) + 0.5 * cos(2 * t), y[1] = exp(-0.5 * t) + 0.2 * sin(3 * t);
    y[2] = cos(t) - sin(2 * t), y[3] = -0.5 * exp(-0.5 * t) + 0.6 * cos(3 * t);
}

static void wave_terms(const double *y, double *out)
{
    out[0] = -y[0] * y[1] - 0.3 * y[2] * y[2] - y[3];
    out[1] = -sin(y[0]) - y[1] * y[3] + 0.2 * y[2];
}

static int wave_rhs(double t, const double *y, double *f, void *user)
{
    double exact[4], at[2];
    (void)user;
    wave_exact(t, exact);
    wave_terms(exact, at);
    wave_terms(y, f + 2);
    f[0] = y[2];
    f[1] = y[3];
    f[2] += -sin(t) - 2 * cos(2 * t) - at[0];
    f[3] += 0.25 * exp(-0.5 * t) - 1.8 * sin(3 * t) - at[1];
    return 0;
}

static int wave_jac(double t, const double *y, double *J, void *user)
{
    const wave *w = user;
    (void)t;
    J[8] = J[13] = 1;
    J[2] = -w->j1 * y[1], J[6] = -w->j1 * y[0];
    J[3] = -w->j1 * cos(y[0]), J[7] = -w->j1 * y[3];
    J[10] = -w->j2 * 0.6 * y[2], J[14] = -w->j2;
    J[11] = w->j2 * 0.2, J[15] = -w->j2 * y[1];
    return 0;
}

/* A central difference of what depends on t alone; exact enough for these orders. */
static int wave_dfdt(double t, const double *y, double *f, void *user)
{
    const wave *w = user;
    double a[4], b[4];
    wave_rhs(t + 1e-5, y, a, user);
    wave_rhs(t - 1e-5, y, b, user);
    for (int i = 0; i < 4; i++) f[i] = w->nothing ? 0 : (a[i] - b[i]) / 2e-5;
    return 0;
}

/* Largest errors with a fixed step: at the end, and of the dense output in the middle of the steps. */
static void wave_errors(const char *method, wave *w, int second, double h, double *end, double *dense,
                        dae_stats *stats)
{
    dae_system sys = {.kind = DAE_KIND_ODE,
                      .ode = {.n = 4, .f = wave_rhs, .jac = wave_jac, .dfdt = wave_dfdt, .user = w}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y[4], want[4];
    sys.structure.second_order = second;
    opt.method = method;
    opt.fixed_step = h;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    if (!it) fail_msg("%s", err.text);
    wave_exact(0, y);
    assert_int_equal(dae_integrator_start(it, 0, 2, y, NULL, &err), DAE_OK);
    *end = *dense = 0;
    while (dae_integrator_time(it) < 2) {
        assert_int_equal(dae_integrator_step(it, &err), DAE_OK);
        double t = 0.5 * (dae_integrator_time(it) + dae_integrator_previous_time(it));
        dae_integrator_interpolate(it, t, y, NULL);
        wave_exact(t, want);
        for (int i = 0; i < 4; i++) *dense = fmax(*dense, fabs(y[i] - want[i]));
    }
    wave_exact(2, want);
    for (int i = 0; i < 4; i++) *end = fmax(*end, fabs(dae_integrator_state(it)[i] - want[i]));
    if (stats) *stats = *dae_integrator_stats(it);
    dae_integrator_destroy(it);
}

static double order_of(const char *method, wave w, int second, double h, double *dense)
{
    double coarse, fine, inside[2];
    wave_errors(method, &w, second, h, &coarse, &inside[0], NULL);
    wave_errors(method, &w, second, h / 2, &fine, &inside[1], NULL);
    if (dense) *dense = log2(inside[0] / inside[1]);
    return log2(coarse / fine);
}

static void rosnys4_order_4_on_nonautonomous_problem(void **state)
{
    double dense;
    (void)state;
    for (int second = 0; second <= 2; second += 2) {
        assert_between(order_of("rosnys4", (wave){1, 1, 0}, second, 0.02, &dense), 3.7, 4.6);
        assert_between(dense, 3.6, 4.8);
    }
    dae_stats st;
    double end, inside;
    wave_errors("rosnys4", &(wave){1, 1, 0}, 2, 0.02, &end, &inside, &st);
    assert_int_equal(st.accepted, 100);
    assert_int_equal(st.f, 1 + 3 * st.accepted); /* stage 4 has the argument of stage 3 */
    assert_int_equal(st.jac, 100);
    assert_between(inside, end / 10, end * 10);
}

/* The elimination of positions changes nothing but rounding. */
static void second_order_structure_gives_the_same_numbers(void **state)
{
    double a, b, inside;
    (void)state;
    wave_errors("rosnys4", &(wave){1, 1, 0}, 0, 0.1, &a, &inside, NULL);
    wave_errors("rosnys4", &(wave){1, 1, 0}, 2, 0.1, &b, &inside, NULL);
    assert_near(a, b, 1e-12);
}

static void wnys2_order_2_with_every_jacobian(void **state)
{
    double dense;
    (void)state;
    assert_between(order_of("wnys2", (wave){1, 1, 0}, 2, 0.01, &dense), 1.9, 2.2);
    assert_between(dense, 1.9, 2.3);
    assert_between(order_of("wnys2", (wave){0.3, 0, 1}, 2, 0.01, NULL), 1.85, 2.2);
    assert_between(order_of("wnys2", (wave){0, 0, 1}, 0, 0.01, NULL), 1.85, 2.2);
}

/* As the documentation says. */
static void rosnys4_loses_its_order_with_a_wrong_jacobian(void **state)
{
    (void)state;
    assert_between(order_of("rosnys4", (wave){0.9, 0.9, 0}, 2, 0.005, NULL), 0.7, 1.5);
}

/* ---- Options --------------------------------------------------------------------------------------------------------- */

/* Prothero-Robinson, lambda = -1e6. */
static int stiff_rhs(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -1e6 * (y[0] - cos(t)) - sin(t);
    return 0;
}

static int stiff_dfdt(double t, const double *y, double *f, void *user)
{
    (void)y;
    (void)user;
    f[0] = -1e6 * sin(t) - cos(t);
    return 0;
}

static dae_stats solve_stiff(const char *method, const dae_setting *setting, int nsetting, double tol,
                             double *error)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = stiff_rhs, .dfdt = stiff_dfdt}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    dae_stats st;
    double y = 1;
    opt.method = method;
    opt.rtol = opt.atol = tol;
    opt.setting = setting;
    opt.nsetting = nsetting;
    if (dae_solve(&sys, &opt, 0, 5, &y, &st, &err) < 0) fail_msg("%s: %s", method, err.text);
    *error = fabs(y - cos(5));
    return st;
}

static void stiff_problem_takes_few_steps(void **state)
{
    double error;
    (void)state;
    dae_stats plain = solve_stiff("rosnys4", NULL, 0, 1e-5, &error);
    assert_near(error, 0, 1e-4);
    assert_true(plain.accepted < 200); /* an explicit method: about 2e6 */
    plain = solve_stiff("wnys2", &(dae_setting){"hold", "0"}, 1, 1e-4, &error);
    assert_near(error, 0, 1e-4);
    dae_stats kept = solve_stiff("wnys2", &(dae_setting){"keep", "10"}, 1, 1e-4, &error);
    assert_near(error, 0, 1e-4);
    assert_true(10 * kept.jac <= plain.jac + 30);
}

/* Steps of one size share a Jacobian and its factors; there are no more of them for it. */
static void wnys2_holds_the_step_size(void **state)
{
    double error;
    (void)state;
    dae_stats plain = solve_stiff("wnys2", &(dae_setting){"hold", "0"}, 1, 1e-6, &error);
    assert_int_equal(plain.jac, plain.accepted);
    assert_int_equal(plain.lu, plain.steps);
    dae_stats held = solve_stiff("wnys2", NULL, 0, 1e-6, &error);
    assert_near(error, 0, 1e-6);
    assert_near((double)held.accepted, (double)plain.accepted, 0.05 * (double)plain.accepted);
    assert_true(3 * held.lu < plain.lu);
    assert_true(held.jac <= held.lu);
}

/* y = 2 + cos t draws others to it, by a Jacobian that changes with it. */
static int turning_rhs(double t, const double *y, double *f, void *user)
{
    (void)user;
    double g = 2 + cos(t);
    f[0] = -1e4 * (y[0] - g) * y[0] - sin(t);
    return 0;
}

static int turning_dfdt(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -1e4 * sin(t) * y[0] - cos(t);
    return 0;
}

static int turning_jac(double t, const double *y, double *J, void *user)
{
    (void)user;
    J[0] = -1e4 * (2 * y[0] - 2 - cos(t));
    return 0;
}

static void an_old_jacobian_spoils_nothing(void **state)
{
    dae_system sys = {.kind = DAE_KIND_ODE,
                      .ode = {.n = 1, .f = turning_rhs, .jac = turning_jac, .dfdt = turning_dfdt}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    dae_stats st[2];
    (void)state;
    opt.method = "wnys2";
    opt.rtol = opt.atol = 1e-5;
    opt.nsetting = 1;
    for (int k = 0; k < 2; k++) {
        double y = 3;
        opt.setting = &(dae_setting){"hold", k ? "0.05" : "0"};
        if (dae_solve(&sys, &opt, 0, 20, &y, &st[k], &err) < 0) fail_msg("%s", err.text);
        assert_near(y, 2 + cos(20), 1e-5 * (1 + y));
    }
    assert_true((double)st[1].steps < 1.15 * (double)st[0].steps);
    assert_true(st[1].jac < st[0].jac);
}

/* y' = -(y^2 + 1)^(1/2) ... where f ends: y' = -1/(2y), y = sqrt(1 - t) stops at t = 1. */
static int falling(double t, const double *y, double *f, void *user)
{
    (void)t;
    (void)user;
    if (!(y[0] > 0)) return 1;
    f[0] = -0.5 / y[0];
    return 0;
}

static void end_of_the_domain_is_told(void **state)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = falling}};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    double y = 1;
    (void)state;
    opt.method = "rosnys4";
    assert_true(dae_solve(&sys, &opt, 0, 2, &y, NULL, &err) < 0);
    assert_between(err.t, 0.99, 1.01);
    assert_true(err.text[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rosnys4_table_meets_order_conditions),
        cmocka_unit_test(tables_damp_at_infinity),
        cmocka_unit_test(wnys2_table_meets_conditions_of_w_methods),
        cmocka_unit_test(rosnys4_order_4_on_nonautonomous_problem),
        cmocka_unit_test(second_order_structure_gives_the_same_numbers),
        cmocka_unit_test(wnys2_order_2_with_every_jacobian),
        cmocka_unit_test(rosnys4_loses_its_order_with_a_wrong_jacobian),
        cmocka_unit_test(stiff_problem_takes_few_steps),
        cmocka_unit_test(wnys2_holds_the_step_size),
        cmocka_unit_test(an_old_jacobian_spoils_nothing),
        cmocka_unit_test(end_of_the_domain_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
