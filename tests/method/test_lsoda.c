#include "bdf_check.h"

#include "method/lsoda/coefficients.h"

/* ---- Coefficients ---------------------------------------------------------------------------------- */

static void coefficients_are_the_known_ones(void **state)
{
    (void)state;
    static const double bdf[5][9] = {{1, 1, 0, 0, 0, 0, 1, 2, 3},
                                     {2.0 / 3, 1, 1.0 / 3, 0, 0, 0, 1, 4.5, 6},
                                     {6.0 / 11, 1, 6.0 / 11, 1.0 / 11, 0, 0, 0.5, 22.0 / 3, 55.0 / 6},
                                     {0.48, 1, 0.7, 0.2, 0.02, 0, 1.0 / 6, 125.0 / 12, 12.5},
                                     {60.0 / 137, 1, 0.8211678832116789, 0.3102189781021898,
                                      0.05474452554744526, 1.0 / 274, 1.0 / 24, 13.7, 15.983333333333333}};
    for (int q = 1; q <= 5; q++) {
        dae_lsoda_formula c;
        dae_lsoda_bdf(q, &c);
        for (int j = 0; j <= q; j++) assert_near(c.l[j], bdf[q - 1][j], 1e-15);
        assert_near(c.t1, bdf[q - 1][6], 1e-15);
        assert_near(c.t2, bdf[q - 1][7], 1e-14);
        assert_near(c.t3, bdf[q - 1][8], 1e-14);
    }
    static const double l0[12] = {1,
                                  0.5,
                                  5.0 / 12,
                                  0.375,
                                  251.0 / 720,
                                  95.0 / 288,
                                  0.31559193121693124,
                                  0.30422453703703706,
                                  0.2948680004409171,
                                  0.2869754464285714,
                                  0.2801895964439367,
                                  0.2742655400315991};
    static const double t2[12] = {2,
                                  12,
                                  24,
                                  37.89473684210526,
                                  53.333333333333336,
                                  70.0811123986095,
                                  87.97090909090909,
                                  106.87715371248491,
                                  126.70169864352927,
                                  147.36547407683838,
                                  168.80325412117318,
                                  190.96020155120064};
    static const double t1[12] = {0,
                                  1,
                                  2,
                                  1,
                                  0.3157894736842105,
                                  0.07407407407407407,
                                  0.013904982618771726,
                                  0.002181818181818182,
                                  0.00029452478426059554,
                                  3.4915591557409964e-05,
                                  3.691815828844957e-06,
                                  3.524064515049077e-07};
    for (int q = 1; q <= 12; q++) {
        dae_lsoda_formula c;
        dae_lsoda_adams(q, &c);
        assert_near(c.l[0], l0[q - 1], 1e-14);
        assert_near(c.l[1], 1, 0);
        assert_near(c.t2, t2[q - 1], 1e-10 * t2[q - 1]);
        assert_near(c.t1, t1[q - 1], 1e-10 * t1[q - 1]);
        if (q < 12) assert_near(c.t3, t2[q], 1e-10 * t2[q]);
        if (q == 4) assert_near(c.l[2], 11.0 / 12, 1e-15);
        if (q == 4) assert_near(c.l[4], 1.0 / 24, 1e-15);
    }
}

/* ---- Order ------------------------------------------------------------------------------------------ */

static void lsoda_bdf_orders_1_to_5_on_a_stiff_problem(void **state)
{
    (void)state;
    for (int q = 1; q <= 5; q++) bdf_check_order("lsoda", q, -1e4, 0.3);
}

static double adams_error(int q, double steps)
{
    char text[8];
    snprintf(text, sizeof text, "%d", q);
    dae_setting setting[2] = {{"family", "adams"}, {"order_max", text}};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = bdf_growth}};
    dae_options opt = bdf_options("lsoda", 1e-14);
    dae_error err = {0};
    double y[1] = {1};
    opt.fixed_step = 20 / steps;
    opt.setting = setting;
    opt.nsetting = 2;
    if (dae_solve(&sys, &opt, 0, 20, y, NULL, &err)) fail_msg("order %d: %s", q, err.text);
    return fabs(y[0] - exp(20));
}

static void lsoda_adams_orders_1_to_8_on_a_smooth_problem(void **state)
{
    (void)state;
    static const double steps[9] = {0, 2560, 640, 320, 320, 320, 320, 160, 160};
    for (int q = 1; q <= 8; q++) {
        double order = log2(adams_error(q, steps[q]) / adams_error(q, 2 * steps[q]));
        if (fabs(order - q) > 0.3) fail_msg("order %.2f observed, not %d", order, q);
    }
}

/* ---- Known numbers ----------------------------------------------------------------------------------- */

/* Compiled LSODA, free run: accepted, f, Jac; the runs that do not hang on rounding. */
static void lsoda_classic_takes_the_steps_of_the_original(void **state)
{
    (void)state;
    static const struct row {
        const char *name;
        double rtol, atol, mescd;
        long want[3];
    } rows[] = {
        {"hires", 1e-4, 1e-4, 3.47, {110, 197, 21}},       {"vdpol-mu", 1e-4, 1e-4, 2.63, {502, 990, 80}},
        {"vdpol-mu", 1e-7, 1e-7, 5.35, {1142, 1917, 123}}, {"vdpol-eps", 1e-4, 1e-4, 3.21, {707, 1379, 88}},
        {"orego", 1e-4, 1e-4, 2.54, {904, 1632, 155}},     {"rober", 1e-4, 1e-8, 5.0, {374, 474, 73}},
        {"plei", 1e-4, 1e-4, 1.18, {328, 767, 0}},         {"plei", 1e-7, 1e-7, 3.90, {677, 1485, 0}},
        {"plei", 1e-10, 1e-10, 6.83, {1257, 2649, 0}},     {"e5", 1e-4, 1.7e-24, 4.07, {859, 1201, 153}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        dae_setting setting[2] = {{"classic", "1"}, {"stop_at_end", "0"}};
        bdf_run r = bdf_problem(rows[k].name, "lsoda", rows[k].rtol, rows[k].atol, setting, 2);
        assert_near(r.score.mescd, rows[k].mescd, 0.2);
        const long got[3] = {r.stats.accepted, r.stats.f, r.stats.jac};
        for (int i = 0; i < 3; i++) {
            if (fabs((double)(got[i] - rows[k].want[i])) > 0.03 * (double)rows[k].want[i]) {
                fail_msg("%s %g: count %d is %ld, known %ld", rows[k].name, rows[k].rtol, i, got[i],
                         rows[k].want[i]);
            }
        }
        assert_int_equal(r.stats.jac, r.stats.lu);
    }
}

/* ---- Mends -------------------------------------------------------------------------------------------- */

/* The original gives up in the first step of the pollution problem: functional iteration diverges ten times. */
static void lsoda_starts_on_the_pollution_problem(void **state)
{
    (void)state;
    static const double tol[3] = {1e-4, 1e-5, 1e-7}, mescd[3] = {3.94, 5.03, 6.52};
    static const long accepted[3] = {42, 66, 148};
    dae_error err = {0};
    dae_problem *p = dae_problem_create("pollu", NULL, 0, &err);
    for (int k = 0; k < 3; k++) {
        bdf_run r = bdf_problem("pollu", "lsoda", tol[k], tol[k], NULL, 0);
        assert_true(r.score.mescd > mescd[k] - 0.5);
        assert_true(r.stats.accepted < accepted[k] + 10);
        dae_setting setting = {"classic", "1"};
        dae_options opt = bdf_options("lsoda", tol[k]);
        opt.setting = &setting;
        opt.nsetting = 1;
        double y[20];
        memcpy(y, p->y0, sizeof y);
        assert_int_equal(dae_solve(&p->system, &opt, p->t0, p->t_end, y, NULL, &err), DAE_ERR_STEP_TOO_SMALL);
    }
    dae_problem_destroy(p);
}

static void lsoda_fails_nowhere_in_the_ranges_of_the_test_set(void **state)
{
    (void)state;
    static const struct range {
        const char *name;
        double atol, factor; /* atol = atol + factor rtol */
        int from, to;
        double steps; /* of the original in all runs, as measured with classic = 1 */
    } ranges[] = {{"hires", 0, 1, 16, 40, 10792},
                  {"orego", 0, 1, 16, 40, 96935},
                  {"rober", 0, 1e-4, 16, 40, 36457},
                  {"e5", 1.7e-24, 0, 16, 40, 53306},
                  {"vdpol-mu", 0, 1, 16, 40, 37421}};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        double steps = 0;
        for (int m = ranges[k].from; m <= ranges[k].to; m++) {
            double rtol = pow(10, -0.25 * m);
            bdf_run r =
                bdf_problem(ranges[k].name, "lsoda", rtol, ranges[k].atol + ranges[k].factor * rtol, NULL, 0);
            assert_true(r.score.mescd > 0.25 * m - 3);
            steps += (double)r.stats.steps;
        }
        assert_between(steps, 0.7 * ranges[k].steps, ranges[k].steps);
    }
}

/* ---- The two families ----------------------------------------------------------------------------------- */

typedef struct family_log {
    int bdf, adams;
} family_log;

static void count_families(dae_log_level level, const char *text, void *user)
{
    family_log *log = user;
    (void)level;
    log->bdf += strstr(text, "family=bdf") != NULL;
    log->adams += strstr(text, "family=adams") != NULL;
}

/* y' = -k(t) (y - cos t) - sin t, stiff for 1 < t < 2 only */
static int stiff_between(double t, const double *y, double *f, void *user)
{
    (void)user;
    double s = sin(3.14159265358979323846 * (t - 1)), k = t > 1 && t < 2 ? 1 + 2e4 * s * s : 1;
    f[0] = -k * (y[0] - cos(t)) - sin(t);
    return 0;
}

static void lsoda_goes_to_bdf_where_it_is_stiff_and_back(void **state)
{
    (void)state;
    family_log log = {0};
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = stiff_between}};
    dae_options opt = bdf_options("lsoda", 1e-6);
    dae_stats stats;
    double y[1] = {1};
    opt.log = count_families;
    opt.log_level = DAE_LOG_INFO;
    opt.log_user = &log;
    opt.h_max = 0.05;
    assert_int_equal(dae_solve(&sys, &opt, 0, 12, y, &stats, NULL), DAE_OK);
    assert_near(y[0], cos(12), 1e-5);
    assert_true(log.bdf >= 1 && log.adams >= 1);
    assert_true(stats.steps < 1500);
    dae_setting adams = {"family", "adams"}, bdf = {"family", "bdf"};
    opt.nsetting = 1;
    opt.setting = &bdf;
    log = (family_log){0};
    y[0] = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 12, y, &stats, NULL), DAE_OK);
    assert_int_equal(log.bdf + log.adams, 0);
    assert_near(y[0], cos(12), 1e-5);
    opt.setting = &adams;
    y[0] = 1;
    assert_int_equal(dae_solve(&sys, &opt, 0, 12, y, &stats, NULL), DAE_OK);
    assert_int_equal(stats.jac + stats.lu, 0);
    assert_near(y[0], cos(12), 1e-5);
    assert_true(stats.steps > 5000);
}

/* ---- The rest of the contract -------------------------------------------------------------------------- */

static void lsoda_dense_output_follows_the_solution(void **state)
{
    (void)state;
    bdf_check_dense("lsoda", 1e-6, 1e-4, 3e-3); /* y' of a first step of order 1 */
}

static void lsoda_never_evaluates_beyond_the_wall(void **state)
{
    (void)state;
    bdf_check_wall("lsoda");
}

static void lsoda_survives_undefined_evaluations(void **state)
{
    (void)state;
    bdf_check_undefined("lsoda");
}

static void lsoda_says_why_a_step_is_too_small(void **state)
{
    (void)state;
    bdf_check_too_small("lsoda");
}

static void lsoda_integrates_backward(void **state)
{
    (void)state;
    bdf_check_backward("lsoda", 1e-8, 2e-5);
}

static void lsoda_honors_step_limits(void **state)
{
    (void)state;
    bdf_check_limits("lsoda");
}

static void lsoda_takes_tolerances_by_component(void **state)
{
    (void)state;
    bdf_check_component_tolerances("lsoda");
}

static void lsoda_stops_when_asked(void **state)
{
    (void)state;
    bdf_check_stop("lsoda");
}

static void lsoda_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    bdf_check_refusals("lsoda");
}

static void lsoda_step_allocates_nothing(void **state)
{
    (void)state;
    bdf_check_allocation("lsoda");
}

static void lsoda_checkpoint_continues_bit_for_bit(void **state)
{
    (void)state;
    bdf_check_checkpoint("lsoda", "vdpol-mu", "dense");
    bdf_check_checkpoint("lsoda", "plei", "dense");
    bdf_check_checkpoint("lsoda", "emep", "sparse");
}

static void lsoda_same_result_in_every_storage(void **state)
{
    (void)state;
    bdf_check_storage("lsoda");
}

/* Where f hardly depends on y, stability never bounds the step: it stays with Adams, and no Jacobian is formed. */
static int forced(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = cos(t) + 1e-9 * y[0];
    return 0;
}

static void lsoda_stays_with_adams_where_nothing_is_stiff(void **state)
{
    (void)state;
    for (double tol = 1e-3; tol > 1e-10; tol /= 10) {
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = forced}};
        dae_options opt = dae_options_default();
        dae_stats st = {0};
        dae_error err = {0};
        double y = 0;
        opt.method = "lsoda";
        opt.rtol = opt.atol = tol;
        if (dae_solve(&sys, &opt, 0, 30, &y, &st, &err) < 0) fail_msg("%s", err.text);
        assert_near(y, sin(30), 100 * tol);
        assert_int_equal(st.jac, 0);
        assert_int_equal(st.lu, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lsoda_stays_with_adams_where_nothing_is_stiff),
        cmocka_unit_test(coefficients_are_the_known_ones),
        cmocka_unit_test(lsoda_bdf_orders_1_to_5_on_a_stiff_problem),
        cmocka_unit_test(lsoda_adams_orders_1_to_8_on_a_smooth_problem),
        cmocka_unit_test(lsoda_classic_takes_the_steps_of_the_original),
        cmocka_unit_test(lsoda_starts_on_the_pollution_problem),
        cmocka_unit_test(lsoda_fails_nowhere_in_the_ranges_of_the_test_set),
        cmocka_unit_test(lsoda_goes_to_bdf_where_it_is_stiff_and_back),
        cmocka_unit_test(lsoda_dense_output_follows_the_solution),
        cmocka_unit_test(lsoda_never_evaluates_beyond_the_wall),
        cmocka_unit_test(lsoda_survives_undefined_evaluations),
        cmocka_unit_test(lsoda_says_why_a_step_is_too_small),
        cmocka_unit_test(lsoda_integrates_backward),
        cmocka_unit_test(lsoda_honors_step_limits),
        cmocka_unit_test(lsoda_takes_tolerances_by_component),
        cmocka_unit_test(lsoda_stops_when_asked),
        cmocka_unit_test(lsoda_refuses_what_it_cannot_do),
        cmocka_unit_test(lsoda_step_allocates_nothing),
        cmocka_unit_test(lsoda_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(lsoda_same_result_in_every_storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
