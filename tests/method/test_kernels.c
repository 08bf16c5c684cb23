/* Kernels of fixed size against the general ones: same steps, same bits, whatever the number of equations. */
#include "test.h"

#include <daedalus/daedalus.h>

/* A stiff chain of n reactions with feedback and a drive, so that pivots change places and every element of J is used. */
typedef struct chain {
    int n;
    double drive;
} chain;

static int chain_f(double t, const double *y, double *f, void *user)
{
    const chain *c = user;
    int n = c->n;
    double all = 0;
    for (int i = 0; i < n; i++) all += y[i] / (i + 1);
    for (int i = 0; i < n; i++) {
        double rate = pow(10, 4.0 * ((n - i) % 3) - 2),
               before = i > 0 ? y[i - 1] : c->drive * (1 + 0.5 * sin(t));
        f[i] = rate * (before - y[i] * (1 + 0.1 * y[i] * y[i])) - all - 0.5 * y[(i + n / 2) % n];
    }
    return 0;
}

/* The last of them as algebraic variables. Methods that do not make these consistent go on where rodas5p has been. */
static void run_chain(const char *method, int n, int algebraic, const char *kernels, dae_stats *stats,
                      double *y)
{
    chain c = {n, 1};
    double mass[12];
    for (int i = 0; i < n; i++) {
        mass[i] = i >= n - algebraic ? 0 : 1 + 0.1 * i;
        y[i] = 0.1 * (i + 1);
    }
    dae_system sys = {.kind = algebraic ? DAE_KIND_DAE : DAE_KIND_ODE};
    if (algebraic) sys.dae = (dae_dae){.n = n, .mass = dae_diagonal(n, mass), .f = chain_f, .user = &c};
    else sys.ode = (dae_ode){.n = n, .f = chain_f, .user = &c};
    dae_setting setting = {"kernels", kernels};
    dae_options opt = dae_options_default();
    dae_error err = {0};
    opt.rtol = opt.atol = 1e-6;
    opt.method = "rodas5p";
    if (algebraic) assert_int_equal(dae_solve(&sys, &opt, -10, 0, y, stats, &err), DAE_OK);
    opt.method = method;
    opt.setting = &setting;
    opt.nsetting = 1;
    dae_status s = dae_solve(&sys, &opt, 0, 10, y, stats, &err);
    if (s) fail_msg("%s, n = %d, %d algebraic, %s: %s", method, n, algebraic, kernels, err.text);
}

static void fixed_and_general_kernels_give_the_same_bits(void **state)
{
    static const char *const method[] = {"rodas4p2", "rodas5", "rodas5p", "radau5", "radau"};
    (void)state;
    for (int n = 1; n <= 12; n++) {
        for (int k = 0; k < 5; k++) {
            for (int algebraic = 0; algebraic < (n > 1 ? 2 : 1); algebraic++) {
                double a[12], b[12];
                dae_stats one, two;
                run_chain(method[k], n, algebraic, "auto", &one, a);
                run_chain(method[k], n, algebraic, "general", &two, b);
                assert_int_equal(one.steps, two.steps);
                assert_int_equal(one.accepted, two.accepted);
                assert_int_equal(one.f, two.f);
                assert_true(one.steps > 10);
                for (int i = 0; i < n; i++) {
                    if (a[i] != b[i])
                        fail_msg("%s, n = %d: y[%d] = %.17g and %.17g", method[k], n, i, a[i], b[i]);
                }
            }
        }
    }
}

/* A loop over sizes that missed one would compare the general kernels with themselves. */
static void sizes_2_to_6_and_8_have_kernels_of_their_own(void **state)
{
    static const char *const method[] = {"radau5", "radau"};
    (void)state;
    for (int n = 1; n <= 12; n++) {
        for (int k = 0; k < 2; k++) {
            chain c = {n, 1};
            double y[12] = {0};
            dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = n, .f = chain_f, .user = &c}};
            dae_options opt = dae_options_default();
            opt.method = method[k];
            dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
            assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, NULL), DAE_OK);
            int own = strstr(dae_integrator_linear_algebra(it), "kernel of this size") != NULL;
            dae_integrator_destroy(it);
            if (own != ((n >= 2 && n <= 6) || n == 8)) fail_msg("%s, n = %d: %d", method[k], n, own);
        }
    }
}

/* m masses in a row between springs, with friction: y = (x, v), x' = v. */
static int row_f(double t, const double *y, double *f, void *user)
{
    int m = *(const int *)user;
    (void)t;
    for (int i = 0; i < m; i++) {
        double left = i > 0 ? y[i - 1] : 0, right = i < m - 1 ? y[i + 1] : 0;
        f[i] = y[m + i];
        f[m + i] = -900 * (2 * y[i] - left - right) - 60 * y[m + i] - 10 * y[i] * y[i] * y[i];
    }
    return 0;
}

/* Without the rows of x' = v, which it need not have. */
static int row_jac(double t, const double *y, double *J, void *user)
{
    int m = *(const int *)user, n = 2 * m;
    (void)t;
    for (int i = 0; i < m; i++) {
        double *row = J + m + i;
        row[i * n] = -1800 - 30 * y[i] * y[i];
        if (i > 0) row[(i - 1) * n] = 900;
        if (i < m - 1) row[(i + 1) * n] = 900;
        row[(m + i) * n] = -60;
    }
    return 0;
}

/* Reduced to half of their unknowns from eight on, below that solved whole: the same steps, and the same solution but for rounding. */
static void small_systems_of_second_order_are_solved_whole(void **state)
{
    static const char *const method[] = {"radau5", "radau"};
    (void)state;
    for (int m = 1; m <= 4; m++) {
        for (int k = 0; k < 2; k++) {
            double y[2][8] = {{0}};
            dae_stats stats[2];
            for (int general = 0; general < 2; general++) {
                dae_system sys = {.kind = DAE_KIND_ODE,
                                  .ode = {.n = 2 * m, .f = row_f, .jac = row_jac, .user = &m},
                                  .structure = {.second_order = m}};
                dae_setting setting = {"kernels", general ? "general" : "auto"};
                dae_options opt = dae_options_default();
                opt.method = method[k];
                opt.rtol = opt.atol = 1e-7;
                opt.setting = &setting;
                opt.nsetting = 1;
                for (int i = 0; i < m; i++) y[general][i] = 1.0 / (i + 1);
                dae_integrator *it = dae_integrator_create(&sys, &opt, NULL);
                assert_int_equal(dae_integrator_start(it, 0, 0.5, y[general], NULL, NULL), DAE_OK);
                int own = strstr(dae_integrator_linear_algebra(it), "kernel of this size") != NULL;
                assert_int_equal(own, !general && m <= 3);
                assert_int_equal(dae_integrator_advance(it, 0.5, NULL), DAE_OK);
                memcpy(y[general], dae_integrator_state(it), 2 * (size_t)m * sizeof(double));
                stats[general] = *dae_integrator_stats(it);
                dae_integrator_destroy(it);
            }
            assert_int_equal(stats[0].steps, stats[1].steps);
            assert_int_equal(stats[0].f, stats[1].f);
            assert_true(stats[0].steps > 20);
            for (int i = 0; i < 2 * m; i++) assert_near(y[0][i], y[1][i], 1e-10);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fixed_and_general_kernels_give_the_same_bits),
                                       cmocka_unit_test(sizes_2_to_6_and_8_have_kernels_of_their_own),
                                       cmocka_unit_test(small_systems_of_second_order_are_solved_whole)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
