#include "method/bdf_check.h"

#include "method/vode/coefficients.h"

/* ---- Coefficients --------------------------------------------------------------------------------- */

static const double unequal[DAE_VODE_TAU] = {0.12, 0.15, 0.1,  0.2, 0.05, 0.07, 0.11,
                                             0.13, 0.09, 0.08, 0.1, 0.12, 0.14};

/* The corrector with coefficients l is exact for polynomials of degree q: with z of x^q at t_n = 0 in units of h,
 * predicted and corrected, z at t_n + h must be that of x^q there, a being y(h) minus the predicted value. This
 * holds for a history of past values as BDF has it: p(x) = prod (x - x_i) over the past points of the formula is
 * what a unit correction adds, so that l must vanish there: sum l_j (x_i - h)^j/h^j = 0 for past points. */
static double value_of(const double *l, int q, double x)
{
    double s = l[q];
    for (int j = q - 1; j >= 0; j--) s = s * x + l[j];
    return s;
}

static double derivative_of(const double *l, int q, double x)
{
    double s = q * l[q];
    for (int j = q - 1; j >= 1; j--) s = s * x + j * l[j];
    return s;
}

/* A unit correction changes no past value that the formula uses (BDF; the last one is replaced by the fixed leading
 * coefficient), or no past derivative and not y_n (Adams). */
static void coefficients_leave_the_past_alone(void **state)
{
    (void)state;
    double h = 0.3;
    for (int q = 1; q <= 5; q++) {
        dae_vode_formula c = {0};
        dae_vode_bdf(q, h, unequal, 1, &c);
        double past = h, harmonic = 0;
        for (int i = 1; i <= q; i++) harmonic += 1.0 / i;
        for (int i = 1; i < q; i++) {
            assert_near(value_of(c.l, q, -past / h), 0, 1e-14);
            past += unequal[i - 1];
        }
        assert_near(c.l[0], 1, 0);
        assert_near(c.l[1], harmonic, 1e-14);
    }
    for (int q = 2; q <= 12; q++) {
        dae_vode_formula c = {0};
        dae_vode_adams(q, h, unequal, 1, &c);
        double past = h, scale = 0;
        for (int j = 0; j <= q; j++) scale += fabs(c.l[j]) * pow(6, j);
        assert_near(value_of(c.l, q, -1), 0, 1e-13);
        for (int i = 1; i < q; i++) {
            assert_near(derivative_of(c.l, q, -past / h), 0, 1e-13 * scale);
            past += unequal[i - 1];
        }
    }
}

/* Test constants of [DVODE], computed by an independent program: equal steps, and the unequal ones. */
static void coefficients_have_the_known_test_constants(void **state)
{
    (void)state;
    static const double bdf_equal[5][5] = {{0, 2, 4.5, 2, 0},
                                           {1, 4.5, 22.0 / 3, 6, 0},
                                           {0.75, 22.0 / 3, 125.0 / 12, 24, 0},
                                           {0.30555555555555555, 125.0 / 12, 13.7, 120, 0},
                                           {0.08680555555555554, 13.7, 17.15, 720, 0}};
    static const double bdf_unequal[5][5] = {
        {0, 2, 5.294117647058823, 2, 0},
        {1, 4.235294117647059, 9.403383793410507, 4.8, 0.5},
        {0.8823529411764706, 6.802760463045413, 15.1744460435008, 13.89, 0.08503401360544204},
        {0.48975957257346375, 9.63133658453214, 20.03229939564961, 44.080444444444446, -0.059123372340626104},
        {0.21849454346293454, 12.721535234619294, 28.556258945010804, 167.9600277777778,
         -0.06817910971651599}};
    static const int orders[6] = {1, 2, 4, 7, 10, 12};
    static const double adams_equal[6][5] = {{1, 2, 12, 1, 0},
                                             {1, 6, 12, 2, 1},
                                             {1, 14.210526315789464, 20, 36, 0.1111111111111111},
                                             {0.01390498261877172, 27.76290909090907, 33.72956734309189,
                                              11134.083333333341, 0.0006287001624142082},
                                             {3.491559155740992e-05, 42.29027271135876, 48.44238921001921,
                                              10413765.000000004, 9.602674921126026e-07},
                                             {3.5240645150490714e-07, 52.373802802983036, 58.63508999140988,
                                              1576483590.0000012, 7.611877520399683e-09}};
    static const double adams_unequal[6][5] = {
        {1, 2, 12, 1, 0},
        {1, 4.2, 14, 1.4, 1},
        {1.6666666666666679, 8.831043256997448, 24.246192538773204, 7.712444444444445, 0.28957528957528955},
        {0.14301707226573263, 15.916678441381734, 43.25090717634432, 300.0089681111109, 0.010999671179088942},
        {0.0037950320066624486, 24.1475189366545, 65.13454170043543, 23978.790768603125,
         0.00018349549159756568},
        {0.0002057833117993034, 29.275219981530295, 81.07196920257074, 619304.3857615289,
         8.073574343982307e-06}};
    static const double ones[DAE_VODE_TAU] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (int adams = 0; adams < 2; adams++) {
        for (int k = 0; k < 5 + adams; k++) {
            for (int variable = 0; variable < 2; variable++) {
                const double *want = adams ? (variable ? adams_unequal[k] : adams_equal[k])
                                           : (variable ? bdf_unequal[k] : bdf_equal[k]);
                int q = adams ? orders[k] : k + 1;
                dae_vode_formula c = {0};
                (adams ? dae_vode_adams : dae_vode_bdf)(q, variable ? 0.3 : 1, variable ? unequal : ones, 1,
                                                        &c);
                if (q > 1) assert_near(c.t1, want[0], 1e-11 * want[0]);
                assert_near(c.t2, want[1], 1e-11 * want[1]);
                assert_near(c.t3, want[2], 1e-11 * want[2]);
                assert_near(c.t5, want[3], 1e-11 * want[3]);
                if (want[4] != 0) assert_near(c.l[q], want[4], 1e-11 * fabs(want[4]));
            }
        }
    }
}

/* ---- Order ------------------------------------------------------------------------------------------ */

static void vode_orders_1_to_5_on_a_stiff_problem(void **state)
{
    (void)state;
    for (int q = 1; q <= 5; q++) bdf_check_order("vode", q, -1e4, 0.3);
}

static void vode_adams_orders_1_to_8_on_a_smooth_problem(void **state)
{
    (void)state;
    static const double steps[9] = {0, 2560, 640, 320, 320, 320, 320, 160, 160};
    for (int q = 1; q <= 8; q++) bdf_check_growth_order("vode-adams", q, steps[q], 0.3);
}

static void vode_adams_orders_3_to_12_are_exact_for_powers(void **state)
{
    (void)state;
    for (int q = 3; q <= 12; q++) bdf_check_exactness("vode-adams", q);
}

/* ---- Published numbers --------------------------------------------------------------------------------- */

/* The rows of the test set that do not hang on rounding. steps, accepted, f, Jac, LU. */
static void vode_classic_takes_the_published_steps(void **state)
{
    (void)state;
    static const struct row {
        const char *name;
        double rtol, mescd;
        long want[5];
    } rows[] = {
        {"hires", 1e-4, 3.59, {133, 131, 191, 10, 25}},
        {"plei", 1e-4, 0.40, {352, 325, 468, 6, 57}},
        {"plei", 1e-7, 2.76, {1081, 1043, 1232, 18, 94}},
        {"plei", 1e-10, 5.41, {3120, 3079, 3351, 51, 203}},
        {"vdpol-mu", 1e-4, 3.29, {545, 487, 779, 19, 117}},
        {"vdpol-mu", 1e-7, 5.20, {1614, 1502, 2145, 30, 223}},
        {"pollu", 1e-7, 6.61, {149, 149, 208, 4, 27}},
        {"pollu", 1e-10, 8.79, {393, 375, 528, 7, 61}},
        {"medakzo", 1e-4, 2.84, {364, 359, 506, 10, 62}},
        {"medakzo", 1e-7, 5.62, {1036, 1023, 1217, 19, 101}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        dae_setting classic = {"classic", "1"};
        bdf_run r = bdf_problem(rows[k].name, "vode", rows[k].rtol, rows[k].rtol, &classic, 1);
        assert_near(r.score.mescd, rows[k].mescd, 0.011);
        const long got[5] = {r.stats.steps, r.stats.accepted, r.stats.f, r.stats.jac, r.stats.lu};
        for (int i = 0; i < 5; i++) {
            double slack = fmax(0.03 * (double)rows[k].want[i], 0.5);
            if (fabs((double)(got[i] - rows[k].want[i])) > slack) {
                fail_msg("%s %g: count %d is %ld, published %ld", rows[k].name, rows[k].rtol, i, got[i],
                         rows[k].want[i]);
            }
        }
    }
}

/* The solution that the test set prints for its example run. */
static void vode_classic_reproduces_the_printed_solution(void **state)
{
    (void)state;
    static const double printed[8] = {0.0007405428802164954, 0.0001449232356407335, 5.951034500912568e-05,
                                      0.001182096389331148,  0.002483586047844519,  0.006494848234786107,
                                      0.00295427240508935,   0.002745727594910732};
    dae_setting classic = {"classic", "1"};
    bdf_run r = bdf_problem("hires", "vode", 1e-4, 1e-4, &classic, 1);
    for (int i = 0; i < 8; i++) assert_near(r.y[i], printed[i], 1e-6 * printed[i]);
}

/* Compiled DVODE, functional iteration, free run: 292/539/689 steps; with the right order reduction 292/570/728. */
static void vode_adams_takes_the_known_steps_on_pleiades(void **state)
{
    (void)state;
    static const double tol[3] = {1e-4, 1e-6, 1e-7};
    static const long want[2][3][3] = {{{292, 264, 442}, {570, 535, 840}, {728, 685, 1099}},
                                       {{292, 263, 445}, {539, 502, 820}, {689, 644, 1067}}};
    for (int classic = 0; classic < 2; classic++) {
        for (int k = 0; k < 3; k++) {
            dae_setting setting[2] = {{"classic", classic ? "1" : "0"}, {"stop_at_end", "0"}};
            bdf_run r = bdf_problem("plei", "vode-adams", tol[k], tol[k], setting, 2);
            assert_near((double)r.stats.steps, (double)want[classic][k][0],
                        0.03 * (double)want[classic][k][0]);
            assert_near((double)r.stats.accepted, (double)want[classic][k][1],
                        0.03 * (double)want[classic][k][1]);
            assert_near((double)r.stats.f, (double)want[classic][k][2], 0.03 * (double)want[classic][k][2]);
            assert_int_equal(r.stats.jac + r.stats.lu, 0);
        }
    }
    dae_setting newton = {"iteration", "newton"};
    bdf_run r = bdf_problem("plei", "vode-adams", 1e-7, 1e-7, &newton, 1);
    assert_between((double)r.stats.f, 750, 950);
    assert_between((double)r.stats.jac, 1, 100);
    assert_true(r.score.mescd > 3);
}

/* ---- Mends -------------------------------------------------------------------------------------------- */

/* All tolerances of the test set, the ones at which DVODE gives up among them; and cheaper than the original. */
static void vode_fails_nowhere_in_the_ranges_of_the_test_set(void **state)
{
    (void)state;
    static const struct range {
        const char *name;
        double atol, factor; /* atol = atol + factor rtol */
        int from, to;
        double steps; /* of the original in all runs, as measured with classic = 1 */
    } ranges[] = {{"hires", 0, 1, 20, 48, 21301},
                  {"orego", 0, 1, 16, 48, 180933},
                  {"rober", 0, 1e-4, 16, 48, 76390},
                  {"e5", 1.7e-24, 0, 16, 48, 105285},
                  {"vdpol-mu", 0, 1, 16, 48, 98131}};
    for (size_t k = 0; k < sizeof ranges / sizeof *ranges; k++) {
        double steps = 0;
        for (int m = ranges[k].from; m <= ranges[k].to; m++) {
            double rtol = pow(10, -0.25 * m);
            bdf_run r =
                bdf_problem(ranges[k].name, "vode", rtol, ranges[k].atol + ranges[k].factor * rtol, NULL, 0);
            assert_true(r.score.mescd > 0.25 * m - 3.5);
            steps += (double)r.stats.steps;
        }
        assert_between(steps, 0.7 * ranges[k].steps, 0.98 * ranges[k].steps);
    }
}

/* ---- The rest of the contract -------------------------------------------------------------------------- */

static void vode_dense_output_follows_the_solution(void **state)
{
    (void)state;
    bdf_check_dense("vode", 1e-6, 1e-4, 1e-3);
    bdf_check_dense("vode-adams", 1e-6, 1e-4, 1e-3);
}

static void vode_never_evaluates_beyond_the_wall(void **state)
{
    (void)state;
    bdf_check_wall("vode");
    bdf_check_wall("vode-adams");
}

static void vode_survives_undefined_evaluations(void **state)
{
    (void)state;
    bdf_check_undefined("vode");
    bdf_check_undefined("vode-adams");
}

static void vode_says_why_a_step_is_too_small(void **state)
{
    (void)state;
    bdf_check_too_small("vode");
    bdf_check_too_small("vode-adams");
}

static void vode_integrates_backward(void **state)
{
    (void)state;
    bdf_check_backward("vode", 1e-8, 2e-5);
    bdf_check_backward("vode-adams", 1e-8, 2e-5);
}

static void vode_honors_step_limits(void **state)
{
    (void)state;
    bdf_check_limits("vode");
    bdf_check_limits("vode-adams");
}

static void vode_takes_tolerances_by_component(void **state)
{
    (void)state;
    bdf_check_component_tolerances("vode");
}

static void vode_stops_when_asked(void **state)
{
    (void)state;
    bdf_check_stop("vode");
    bdf_check_stop("vode-adams");
}

static void vode_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    bdf_check_refusals("vode");
}

static void vode_step_allocates_nothing(void **state)
{
    (void)state;
    bdf_check_allocation("vode");
    bdf_check_allocation("vode-adams");
}

static void vode_checkpoint_continues_bit_for_bit(void **state)
{
    (void)state;
    bdf_check_checkpoint("vode", "hires", "dense");
    bdf_check_checkpoint("vode", "plei", "sparse");
    bdf_check_checkpoint("vode-adams", "plei", "dense");
}

static void vode_same_result_in_every_storage(void **state)
{
    (void)state;
    bdf_check_storage("vode");
}

/* q' = v, v' = -(1000)^2 q, and the same with 1000 q as unknown: what nothing damps counts more in both. They differ by what the
 * tolerance of q is worth: errors were 17, 9.3 and 3.2 times as large where |J| was omega^2. */
static int spring(double t, const double *y, double *f, void *user)
{
    const double *unit = user;
    (void)t;
    f[0] = 1000 / *unit * y[1];
    f[1] = -1000 * *unit * y[0];
    return 0;
}

static double error_on_a_spring(const char *method, double unit)
{
    dae_system sys = {
        .kind = DAE_KIND_ODE,
        .ode = {.n = 2, .f = spring, .user = &unit},
        .structure = {.second_order = unit == 1000},
    };
    dae_options opt = dae_options_default();
    dae_error err;
    double y[2] = {1 / unit, 0};
    opt.method = method;
    opt.rtol = opt.atol = 1e-9;
    assert_int_equal(dae_solve(&sys, &opt, 0, 0.1, y, NULL, &err), DAE_OK);
    return hypot(y[0] * unit - cos(100), y[1] + sin(100));
}

static void oscillations_are_undamped_in_every_unit(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double most;
    } c[] = {{"vode", 7}, {"cvode", 4}, {"dassl", 2.5}};
    for (int i = 0; i < 3; i++) {
        if (!dae_method_find(c[i].method)) continue;
        assert_between(error_on_a_spring(c[i].method, 1000) / error_on_a_spring(c[i].method, 1), 1,
                       c[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_leave_the_past_alone),
        cmocka_unit_test(coefficients_have_the_known_test_constants),
        cmocka_unit_test(vode_orders_1_to_5_on_a_stiff_problem),
        cmocka_unit_test(vode_adams_orders_1_to_8_on_a_smooth_problem),
        cmocka_unit_test(vode_adams_orders_3_to_12_are_exact_for_powers),
        cmocka_unit_test(vode_classic_takes_the_published_steps),
        cmocka_unit_test(vode_classic_reproduces_the_printed_solution),
        cmocka_unit_test(vode_adams_takes_the_known_steps_on_pleiades),
        cmocka_unit_test(vode_fails_nowhere_in_the_ranges_of_the_test_set),
        cmocka_unit_test(vode_dense_output_follows_the_solution),
        cmocka_unit_test(vode_never_evaluates_beyond_the_wall),
        cmocka_unit_test(vode_survives_undefined_evaluations),
        cmocka_unit_test(vode_says_why_a_step_is_too_small),
        cmocka_unit_test(vode_integrates_backward),
        cmocka_unit_test(vode_honors_step_limits),
        cmocka_unit_test(vode_takes_tolerances_by_component),
        cmocka_unit_test(vode_stops_when_asked),
        cmocka_unit_test(vode_refuses_what_it_cannot_do),
        cmocka_unit_test(vode_step_allocates_nothing),
        cmocka_unit_test(vode_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(vode_same_result_in_every_storage),
        cmocka_unit_test(oscillations_are_undamped_in_every_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
