/* rkn8, rkn12: conditions of the tables, observed orders with and without dense output, counts on the Pleiades. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include "method/rkn/rkn.h"

static const char *const name[] = {"rkn8", "rkn12"};
static const dae_rkn_table *const table[] = {&dae_rkn8_table, &dae_rkn12_table};

/* Quadrature: sum b_i c_i^k = 1/((k+1)(k+2)) to the order - 2, sum b'_i c_i^k = 1/(k+1) to the order - 1, the embedded weights
 * b - e two orders less; row sums c_i^2/2; [HNW] II.14. */
static void tables_meet_quadrature_conditions(void **state)
{
    (void)state;
    for (int t = 0; t < 2; t++) {
        const dae_rkn_table *tab = table[t];
        for (int i = 0; i < tab->stages; i++) {
            double sum = 0;
            for (int j = 0; j < i; j++) sum += tab->a[i][j];
            assert_near(sum, tab->c[i] * tab->c[i] / 2, 5e-14);
            for (int j = i; j < DAE_RKN_STAGES; j++) assert_true(tab->a[i][j] == 0);
        }
        for (int k = 0; k < tab->order; k++) {
            double b = 0, bp = 0, e = 0, ep = 0;
            for (int i = 0; i < tab->stages; i++) {
                double power = pow(tab->c[i], k);
                b += tab->b[i] * power;
                bp += tab->bp[i] * power;
                e += tab->e[i] * power;
                ep += tab->ep[i] * power;
            }
            if (k < tab->order - 1) assert_near(b, 1.0 / ((k + 1) * (k + 2)), 1e-13);
            assert_near(bp, 1.0 / (k + 1), 1e-13);
            if (k < tab->order - 3) assert_near(e, 0, 1e-13);
            if (k < tab->order - 2) assert_near(ep, 0, 1e-13);
        }
        if (tab->fsal) {
            for (int j = 0; j < tab->stages; j++) assert_near(tab->a[tab->stages - 1][j], tab->b[j], 1e-15);
        }
    }
}

/* Two bodies on an ellipse with a drive that keeps the solution known: y = (cos t, sin 2t) and y'' = -c(y) + forcing. */
static void exact(double t, double *y)
{
    y[0] = cos(t);
    y[1] = sin(2 * t);
    y[2] = -sin(t);
    y[3] = 2 * cos(2 * t);
}

static int forced(double t, const double *y, double *f, void *user)
{
    (void)user;
    double c = cos(t), s = sin(2 * t);
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -c + (y[0] * y[0] * y[1] - c * c * s) + 0.5 * sin(y[1] - s);
    f[3] = -4 * s + 2 * (y[0] * y[1] - c * s);
    return 0;
}

static dae_system forced_system(void)
{
    return (dae_system){.kind = DAE_KIND_ODE,
                        .ode = {.n = 4, .f = forced},
                        .structure = {.second_order = 2, .no_velocities = 1}};
}

/* The largest error over the steps of [0, 4]; theta > 0: inside them, of positions, velocities and accelerations. */
static void errors(const char *method, double h, double theta, double e[3])
{
    dae_system sys = forced_system();
    dae_options opt = dae_options_default();
    opt.method = method;
    opt.fixed_step = h;
    opt.rtol = opt.atol = 1; /* no more rounds than the order needs */
    dae_error err = {0};
    double y[4], yp[4], want[4], f[4];
    exact(0, y);
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    if (!it || dae_integrator_start(it, 0, 4, y, NULL, &err)) fail_msg("%s: %s", method, err.text);
    e[0] = e[1] = e[2] = 0;
    while (dae_integrator_time(it) < 4 - 1e-9) {
        if (dae_integrator_step(it, &err)) fail_msg("%s: %s", method, err.text);
        double t = dae_integrator_time(it), before = dae_integrator_previous_time(it);
        if (theta > 0) t = before + theta * (t - before);
        dae_integrator_interpolate(it, t, y, yp);
        exact(t, want);
        forced(t, want, f, NULL);
        for (int i = 0; i < 2; i++) {
            e[0] = fmax(e[0], fabs(y[i] - want[i]));
            e[1] = fmax(e[1], fabs(y[2 + i] - want[2 + i]));
            e[2] = fmax(e[2], fabs(yp[2 + i] - f[2 + i]));
            assert_near(yp[i], y[2 + i], 1e-12);
        }
    }
    dae_integrator_destroy(it);
}

static void observed_orders(void **state)
{
    static const double h[] = {0.4, 2.0}, order[] = {8, 12};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double coarse[3], fine[3];
        errors(name[k], h[k], 0, coarse);
        errors(name[k], h[k] / 2, 0, fine);
        for (int i = 0; i < 2; i++) assert_between(log2(coarse[i] / fine[i]), order[k] - 0.6, order[k] + 1.5);
    }
}

/* Positions inside a step: O(h^8) and O(h^12). */
static void observed_orders_of_dense_output(void **state)
{
    static const double h[] = {0.4, 1.0}, order[] = {8, 12};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double coarse[3], fine[3];
        errors(name[k], h[k], 0.4, coarse);
        errors(name[k], h[k] / 2, 0.4, fine);
        if (!(log2(coarse[0] / fine[0]) > order[k] - 0.9) || !(log2(coarse[1] / fine[1]) > order[k] - 1.9) ||
            !(log2(coarse[2] / fine[2]) > order[k] - 2.9))
            fail_msg("%s: %.2f %.2f %.2f", name[k], log2(coarse[0] / fine[0]), log2(coarse[1] / fine[1]),
                     log2(coarse[2] / fine[2]));
    }
}

/* Digits of a run on the Pleiades. */
static double run_pleiades(const char *method, const char *predict, double tol, dae_stats *stats)
{
    dae_error err = {0};
    dae_problem *p = dae_problem_create("plei", NULL, 0, &err);
    assert_non_null(p);
    double y[28], most = 0;
    for (int i = 0; i < 28; i++) y[i] = p->y0[i];
    dae_options opt = dae_options_default();
    opt.method = method;
    dae_setting setting = {"predict", predict};
    opt.setting = &setting;
    opt.nsetting = 1;
    opt.rtol = opt.atol = tol;
    opt.h0 = 0;
    assert_int_equal(dae_solve(&p->system, &opt, p->t0, p->t_end, y, stats, &err), DAE_OK);
    for (int i = 0; i < 28; i++)
        most = fmax(most, fabs(y[i] - p->reference[i]) / (1 + fabs(p->reference[i])));
    dae_problem_destroy(p);
    return -log10(most);
}

/* Steps, evaluations and digits of an implementation written by others from the same formulas, without prediction. */
static void counts_on_the_pleiades(void **state)
{
    static const struct {
        const char *method;
        double tol, steps, f, mescd;
    } run[] = {
        {"rkn8", 1e-5, 106, 849, 4.77},  {"rkn8", 1e-7, 193, 1545, 6.73},    {"rkn8", 1e-9, 335, 2681, 8.97},
        {"rkn12", 1e-7, 83, 1391, 6.73}, {"rkn12", 1e-10, 146, 2441, 10.17},
    };
    (void)state;
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        dae_stats stats;
        double digits = run_pleiades(run[k].method, "0", run[k].tol, &stats);
        if (!(fabs((double)stats.steps / run[k].steps - 1) < 0.03) ||
            !(fabs((double)stats.f / run[k].f - 1) < 0.03) || !(fabs(digits - run[k].mescd) < 0.6))
            fail_msg("%s at %g: %ld steps, f %ld, %.2f digits; expected %g, %g, %g", run[k].method,
                     run[k].tol, stats.steps, stats.f, digits, run[k].steps, run[k].f, run[k].mescd);
    }
}

/* With prediction: over half powers of ten fewer attempts are rejected, and digits per evaluation rise. */
static void prediction_saves_evaluations(void **state)
{
    static const struct {
        const char *method;
        double from, to;
    } run[] = {{"rkn8", 2.5, 8}, {"rkn12", 5, 10}};
    (void)state;
    for (size_t k = 0; k < sizeof run / sizeof *run; k++) {
        double digits[2] = {0}, f[2] = {0}, rejected[2] = {0}, steps[2] = {0};
        for (int predict = 0; predict < 2; predict++) {
            for (double e = run[k].from; e <= run[k].to; e += 0.25) {
                dae_stats stats;
                digits[predict] += run_pleiades(run[k].method, predict ? "1" : "0", pow(10, -e), &stats);
                f[predict] += (double)stats.f;
                rejected[predict] += (double)stats.rejected;
                steps[predict] += (double)stats.steps;
            }
        }
        if (!(rejected[1] / steps[1] < 0.8 * rejected[0] / steps[0]) || !(f[1] < f[0]) ||
            !(digits[1] > digits[0]))
            fail_msg("%s: rejected %g of %g, without %g of %g; f %g, %g; digits %g, %g", run[k].method,
                     rejected[1], steps[1], rejected[0], steps[0], f[1], f[0], digits[1], digits[0]);
    }
}

static void systems_that_do_not_say_so_are_refused(void **state)
{
    (void)state;
    dae_system sys = forced_system();
    dae_options opt = dae_options_default();
    opt.method = "rkn8";
    dae_error err = {0};
    sys.structure.no_velocities = 0;
    assert_null(dae_integrator_create(&sys, &opt, &err));
    assert_int_equal(err.status, DAE_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no_velocities"));
    sys.structure.no_velocities = 1;
    sys.structure.second_order = 1;
    assert_null(dae_integrator_create(&sys, &opt, &err));
    assert_int_equal(err.status, DAE_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_meet_quadrature_conditions),
        cmocka_unit_test(observed_orders),
        cmocka_unit_test(observed_orders_of_dense_output),
        cmocka_unit_test(counts_on_the_pleiades),
        cmocka_unit_test(prediction_saves_evaluations),
        cmocka_unit_test(systems_that_do_not_say_so_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
