#include "bdf_check.h"

#include "method/dassl/coefficients.h"

/* ---- Coefficients ---------------------------------------------------------------------------------- */

static const double unequal[6] = {0.12, 0.15, 0.1, 0.2, 0.05, 0.07}; /* past steps, newest first */

/* psi of the last step from the past steps */
static void distances(const double *past, double *psi)
{
    double s = 0;
    for (int i = 0; i < 6; i++) psi[i] = s += past[i];
}

/* Prediction and slope of t^m are exact for m <= k when the differences of t^m are formed from their definition. */
static void coefficients_predict_polynomials(void **state)
{
    (void)state;
    const double h = 0.3;
    double psi[6];
    distances(unequal, psi);
    for (int k = 1; k <= 5; k++) {
        for (int m = 0; m <= k + 1; m++) {
            double t[7], table[7], phi[7], scale = 1, y = 0, yp = 0;
            t[0] = 0.4; /* t_n, t_(n-1), ... */
            for (int i = 1; i < 7; i++) t[i] = t[i - 1] - unequal[i - 1];
            for (int i = 0; i < 7; i++) table[i] = pow(t[i], m);
            for (int j = 0; j <= k; j++) { /* table[0] is the j-th divided difference */
                phi[j] = scale * table[0];
                scale *= psi[j];
                for (int i = 0; i < 6 - j; i++) table[i] = (table[i] - table[i + 1]) / (t[i] - t[i + j + 1]);
            }
            dae_dassl_formula c = {0};
            dae_dassl_coefficients(k, 1, h, psi, &c);
            for (int j = 0; j <= k; j++) {
                y += c.beta[j] * phi[j];
                yp += c.slope[j] * phi[j];
            }
            double off = fabs(y - pow(0.7, m)), off_p = fabs(yp - (m ? m * pow(0.7, m - 1) : 0));
            if (m <= k) {
                assert_near(off, 0, 1e-14);
                assert_near(off_p, 0, 1e-13);
            } else {
                assert_true(off > 1e-4);
            }
        }
    }
}

static void coefficients_have_the_known_values(void **state)
{
    (void)state;
    static const double cj_equal[5] = {1, 1.5, 11.0 / 6, 25.0 / 12, 137.0 / 60};
    static const double ck_unequal[5] = {0.7142857142857143, 0.7406015037593985, 0.8550293644559159, NAN,
                                         NAN};
    static const double sigma_unequal[6] = {
        1, 0.7142857142857143, 0.7518796992481203, 1.0099876557064302, 1.3930864216640417, NAN};
    static const double beta_unequal[5] = {1, 2.5, 3.888888888888889, 5.990990990990991, 7.042042042042042};
    static const double ones[6] = {1, 1, 1, 1, 1, 1};
    double psi[6], psi1[6];
    distances(unequal, psi);
    distances(ones, psi1);
    for (int k = 1; k <= 5; k++) {
        dae_dassl_formula a = {0}, b = {0}, same = {0};
        dae_dassl_coefficients(k, 1, 1, psi1, &a);
        assert_near(a.cj, cj_equal[k - 1], 1e-15);
        assert_near(a.ck, 1.0 / (k + 1), 1e-15);
        for (int i = 0; i <= k; i++) {
            assert_near(a.beta[i], 1, 1e-15);
            assert_near(a.sigma[i], 1.0 / (i + 1), 1e-15);
        }
        same = a; /* after k+1 equal steps nothing changes any more */
        dae_dassl_coefficients(k, k + 2, 1, psi1, &same);
        assert_memory_equal(&a, &same, sizeof a);
        dae_dassl_coefficients(k, 1, 0.3, psi, &b);
        assert_near(b.cj, cj_equal[k - 1] / 0.3, 1e-14);
        if (k < 4) assert_near(b.ck, ck_unequal[k - 1], 1e-14);
        for (int i = 0; i <= k && i < 5; i++) {
            assert_near(b.beta[i], beta_unequal[i], 1e-13);
            assert_near(b.sigma[i], sigma_unequal[i], 1e-13);
        }
    }
}

/* ---- Order ------------------------------------------------------------------------------------------ */

static void dassl_orders_1_to_5_on_a_stiff_problem(void **state)
{
    (void)state;
    for (int k = 1; k <= 5; k++) bdf_check_order("dassl", k, -1e4, 0.3);
}

/* The same equations as F = 0 with a third, algebraic variable z = y1 y2, and as M y' = f with a full singular M. */
static int prothero_residual(double t, const double *y, const double *yp, double *F, void *user)
{
    double f[2];
    bdf_prothero(t, y, f, user);
    F[0] = yp[0] - f[0];
    F[1] = yp[1] - f[1];
    F[2] = y[2] - y[0] * y[1];
    return 0;
}

static int prothero_mixed(double t, const double *y, double *f, void *user)
{
    double g[2];
    bdf_prothero(t, y, g, user);
    f[0] = g[0] + g[1];
    f[1] = g[1] + (y[2] - y[0] * y[1]);
    f[2] = g[1] - (y[2] - y[0] * y[1]);
    return 0;
}

static void dassl_orders_1_to_5_on_dae_and_ide(void **state)
{
    (void)state;
    static const double mass[9] = {1, 0, 0, 1, 1, 1, 0, 0, 0};
    double lambda = -1e4, y0[3] = {0, 1, 0}, exact[3] = {sin(3), cos(3), sin(3) * cos(3)};
    for (int ide = 0; ide < 2; ide++) {
        dae_system sys = {.kind = DAE_KIND_DAE,
                          .dae = {.n = 3, .mass = dae_dense(3, mass), .f = prothero_mixed, .user = &lambda}};
        if (ide)
            sys = (dae_system){.kind = DAE_KIND_IDE,
                               .ide = {.n = 3, .residual = prothero_residual, .user = &lambda}};
        for (int k = 1; k <= 5; k++) {
            double steps = k < 4 ? 96 : 64;
            double coarse = bdf_fixed_error("dassl", k, &sys, 3, y0, exact, steps);
            double fine = bdf_fixed_error("dassl", k, &sys, 3, y0, exact, 2 * steps);
            assert_near(log2(coarse / fine), k, 0.3);
        }
    }
}

/* A pendulum of length 1 in Cartesian coordinates, y = (x, y, u, v, lambda), index 2 or 3 (*user). */
static int pendulum(double t, const double *y, double *f, void *user)
{
    (void)t;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[4] * y[0];
    f[3] = -y[4] * y[1] - 9.81;
    f[4] = *(const int *)user == 3 ? y[0] * y[0] + y[1] * y[1] - 1 : y[0] * y[2] + y[1] * y[3];
    return 0;
}

/* The angle from the vertical by classical Runge-Kutta, and the five variables. */
static void pendulum_exact(double t, double *y)
{
    double a = acos(-1) / 2, w = 0;
    int steps = 20000;
    double h = t / steps;
    for (int i = 0; i < steps; i++) {
        double k1 = -9.81 * sin(a), a2 = a + h / 2 * w, w2 = w + h / 2 * k1, k2 = -9.81 * sin(a2),
               a3 = a + h / 2 * w2, w3 = w + h / 2 * k2, k3 = -9.81 * sin(a3), a4 = a + h * w3,
               w4 = w + h * k3, k4 = -9.81 * sin(a4);
        a += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
        w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    y[0] = sin(a);
    y[1] = -cos(a);
    y[2] = w * cos(a);
    y[3] = w * sin(a);
    y[4] = w * w + 9.81 * cos(a);
}

static void dassl_integrates_the_pendulum_of_index_2_and_3(void **state)
{
    (void)state;
    static const double mass[5] = {1, 1, 1, 1, 0};
    static const int index[2][5] = {{1, 1, 1, 1, 2}, {1, 1, 2, 2, 3}};
    static const char *const control[2] = {"scaled", "excluded"};
    double exact[5];
    pendulum_exact(2, exact);
    for (int which = 0; which < 2; which++) {
        int number = which + 2;
        dae_system sys = {.kind = DAE_KIND_DAE,
                          .dae = {.n = 5, .mass = dae_diagonal(5, mass), .f = pendulum, .user = &number},
                          .structure = {.index = index[which]}};
        for (int c = 0; c < 2; c++) {
            double tolerance[3] = {1e-4, 1e-6, 1e-8}, worst = 0;
            for (int k = 0; k < 3; k++) {
                dae_setting setting = {"higher_index", control[c]};
                dae_options opt = bdf_options("dassl", tolerance[k]);
                dae_error err = {0};
                opt.setting = &setting;
                opt.nsetting = 1;
                double y[5] = {1, 0, 0, 0, 0};
                if (dae_solve(&sys, &opt, 0, 2, y, NULL, &err))
                    fail_msg("index %d, %g: %s", number, tolerance[k], err.text);
                double error = bdf_distance(2, y, exact), multiplier = fabs(y[4] - exact[4]);
                worst = fmax(worst, error / tolerance[k]);
                if (number == 2) assert_true(multiplier < 2000 * tolerance[k]);
                else if (k == 2) assert_true(multiplier < 0.02);
            }
            assert_true(worst < (number == 2 ? 20
                                 : c == 0    ? 500
                                             : 5000)); /* index 3: weights make the difference */
        }
    }
}

/* ---- Published numbers --------------------------------------------------------------------------------- */

/* The rows of the test set that do not hang on rounding. steps, accepted, f, Jac. */
static void dassl_classic_takes_the_published_steps(void **state)
{
    (void)state;
    static const struct row {
        const char *name;
        double rtol, atol, mescd;
        long want[4];
    } rows[] = {
        {"hires", 1e-4, 1e-4, 3.23, {108, 99, 173, 31}},
        {"hires", 1e-7, 1e-7, 6.02, {380, 369, 591, 32}},
        {"pollu", 1e-7, 1e-7, 5.94, {135, 135, 188, 23}},
        {"pollu", 1e-10, 1e-10, 9.04, {536, 532, 669, 38}},
        {"medakzo", 1e-4, 1e-4, 3.41, {381, 373, 550, 46}},
        {"medakzo", 1e-7, 1e-7, 5.69, {1378, 1369, 1700, 62}},
        {"plei", 1e-4, 1e-4, 0.80, {428, 390, 589, 49}},
        {"plei", 1e-7, 1e-7, 3.43, {1237, 1224, 1674, 59}},
        {"vdpol-mu", 1e-4, 1e-4, 2.88, {549, 507, 940, 122}},
        {"vdpol-mu", 1e-7, 1e-7, 5.57, {1342, 1296, 1980, 129}},
        {"vdpol-eps", 1e-4, 1e-4, 2.89, {796, 776, 1260, 127}},
        {"rober", 1e-4, 1e-8, 4.51, {473, 453, 682, 62}},
        {"rober", 1e-7, 1e-11, 7.15, {1278, 1252, 1549, 108}},
        {"chemakzo", 1e-10, 1e-10, 10.04, {522, 515, 649, 38}},
        {"pump", 1e-1, 1e-1, 0.93, {447, 438, 604, 369}},
        {"pump", 1e-3, 1e-3, 5.42, {983, 833, 1659, 853}},
        {"pump", 1e-5, 1e-5, 6.71, {1737, 1487, 2903, 1309}},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        dae_setting classic = {"classic", "1"};
        bdf_run r = bdf_problem(rows[k].name, "dassl", rows[k].rtol, rows[k].atol, &classic, 1);
        assert_near(r.score.mescd, rows[k].mescd, 0.011);
        /* the evaluation for y' at the start of each piece is not counted in the published runs */
        const long got[4] = {r.stats.steps, r.stats.accepted, r.stats.f - r.stats.restarts - 1, r.stats.jac};
        for (int i = 0; i < 4; i++) {
            double slack = 0.03 * (double)rows[k].want[i];
            if (fabs((double)(got[i] - rows[k].want[i])) > slack) {
                fail_msg("%s %g: count %d is %ld, published %ld", rows[k].name, rows[k].rtol, i, got[i],
                         rows[k].want[i]);
            }
        }
    }
}

/* The solution that the test set prints for its example run. */
static void dassl_classic_reproduces_the_printed_solution(void **state)
{
    (void)state;
    static const double printed[8] = {0.0007437259735671353, 0.0001455514426118115, 6.009984916041035e-05,
                                      0.001188134706173305,  0.002577046600086416,  0.006824947575510993,
                                      0.002989385921555588,  0.002710614078444423};
    dae_setting classic = {"classic", "1"};
    bdf_run r = bdf_problem("hires", "dassl", 1e-4, 1e-4, &classic, 1);
    for (int i = 0; i < 8; i++) assert_near(r.y[i], printed[i], 1e-10 * printed[i]);
}

/* The IDEs of the test set: the corners of the NAND gate's inputs are evaluated from the inner side here, the Jacobian of the
 * wheelset is exact; 3 and 6 % fewer steps than published. */
static void dassl_classic_takes_the_published_steps_on_ides(void **state)
{
    (void)state;
    dae_setting classic = {"classic", "1"}, both[2] = {classic, {"jump_at_end", "0"}};
    bdf_run r = bdf_problem("nand", "dassl", 1e-4, 1e-4, both, 2);
    assert_near((double)r.stats.steps, 1037, 0.03 * 1037);
    assert_near((double)r.stats.f - 6 * (double)(r.stats.restarts + 1), 1639,
                0.03 * 1639); /* 6: consistent y' */
    assert_near(r.score.mescd, 3.69, 0.011);
    assert_near(r.score.scd, 5.25, 0.011);
    r = bdf_problem("wheel", "dassl", 1e-5, 1e-5, &classic, 1);
    assert_near((double)r.stats.steps, 9888, 0.06 * 9888);
    assert_true(r.score.mescd > 2.78 - 0.1);
}

/* ---- Mends -------------------------------------------------------------------------------------------- */

/* Every published row: as many digits but half a one, at most 1.3 times the steps and evaluations. */
static void dassl_is_as_good_as_the_published_runs(void **state)
{
    (void)state;
    static const struct row {
        const char *name;
        double rtol, atol, mescd, scd;
        long steps, f;
    } rows[] = {
        {"hires", 1e-4, 1e-4, 3.23, 1.03, 108, 173},
        {"hires", 1e-7, 1e-7, 6.02, 3.81, 380, 591},
        {"hires", 1e-10, 1e-10, 8.99, 6.78, 1160, 1557},
        {"pollu", 1e-7, 1e-7, 5.94, 4.13, 135, 188},
        {"pollu", 1e-10, 1e-10, 9.04, 5.91, 536, 669},
        {"medakzo", 1e-4, 1e-4, 3.41, 3.35, 381, 550},
        {"medakzo", 1e-7, 1e-7, 5.69, 5.69, 1378, 1700},
        {"emep", 1e-2, 1, 1.57, 1.82, 741, 1340},
        {"emep", 1e-4, 1, 3.48, 3.48, 1938, 3322},
        {"emep", 1e-6, 1, 5.35, 5.35, 3964, 6221},
        {"plei", 1e-4, 1e-4, 0.80, 0.23, 428, 589},
        {"plei", 1e-7, 1e-7, 3.43, 3.24, 1237, 1674},
        {"plei", 1e-10, 1e-10, 5.88, 5.72, 3778, 4709},
        {"beam", 1e-4, 1e-4, 1.83, 2.29, 29120, 30700},
        {"vdpol-mu", 1e-4, 1e-4, 2.88, 2.37, 549, 940},
        {"vdpol-mu", 1e-7, 1e-7, 5.57, 5.06, 1342, 1980},
        {"vdpol-mu", 1e-10, 1e-10, 8.25, 7.73, 4484, 5943},
        {"vdpol-eps", 1e-4, 1e-4, 2.89, 2.56, 796, 1260},
        {"vdpol-eps", 1e-7, 1e-7, 5.89, 5.57, 1943, 2796},
        {"vdpol-eps", 1e-10, 1e-10, 8.96, 8.64, 6166, 7973},
        {"orego", 1e-4, 1e-4, 2.62, 2.62, 889, 1505},
        {"orego", 1e-7, 1e-7, 5.58, 5.57, 2725, 4210},
        {"orego", 1e-10, 1e-10, 8.66, 8.66, 8192, 11119},
        {"rober", 1e-4, 1e-8, 4.51, 0.83, 473, 682},
        {"rober", 1e-7, 1e-11, 7.15, 3.47, 1278, 1549},
        {"e5", 1e-7, 1.7e-24, 7.55, NAN, 2516, 3443},
        {"chemakzo", 1e-10, 1e-10, 10.04, 8.33, 522, 649},
        {"transamp", 1e-4, 1e-4, 4.60, 3.08, 9759, 18381},
        {"transamp", 1e-7, 1e-7, 7.24, 5.49, 40810, 77402},
        {"pump", 1e-1, 1e-1, 0.93, 0.14, 447, 604},
        {"pump", 1e-3, 1e-3, 5.42, 3.43, 983, 1659}, /* published scd 16: an error that happens to be 0 */
        {"pump", 1e-5, 1e-5, 6.71, 3.43, 1737, 2903},
        {"pump", 1e-7, 1e-7, 6.09, 3.32, 3059, 4945},
        {"tba", 1e-2, 1e-2, 1.55, 2.40, 1892, 3674},
        {"nand", 1e-4, 1e-4, 3.69, 5.25, 1037, 1639},
        {"nand", 1e-7, 1e-7, 6.22, 8.0, 3825, 5207}, /* published scd 8.81: scatters from 7.5 to 9.1 with rounding */
        {"wheel", 1e-4, 1e-4, 1.35, 0.15, 5949, 10304},
        {"wheel", 1e-5, 1e-5, 2.78, 1.40, 9888, 16150},
        {"wheel", 1e-6, 1e-6, 3.67, 2.32, 16010, 25256},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        bdf_run r = bdf_problem(rows[k].name, "dassl", rows[k].rtol, rows[k].atol, NULL, 0);
        if (!(r.score.mescd >= rows[k].mescd - 0.5) || r.score.scd < rows[k].scd - 0.5 ||
            (double)r.stats.steps > 1.3 * (double)rows[k].steps ||
            (double)r.stats.f > 1.3 * (double)rows[k].f) {
            fail_msg("%s %g: mescd %.2f scd %.2f steps %ld f %ld", rows[k].name, rows[k].rtol, r.score.mescd,
                     r.score.scd, r.stats.steps, r.stats.f);
        }
    }
}

/* The tolerances at which DASSL gives up on Robertson's problem, E5 and the charge pump among them. */
static void dassl_fails_nowhere_in_the_ranges_of_the_test_set(void **state)
{
    (void)state;
    for (int m = 0; m <= 32; m++) {
        double tol = pow(10, -4 - 0.25 * m);
        assert_true(bdf_problem("rober", "dassl", tol, 1e-4 * tol, NULL, 0).score.mescd > 4 + 0.25 * m - 1);
        assert_true(bdf_problem("e5", "dassl", tol, 1.7e-24, NULL, 0).score.mescd > 4 + 0.25 * m - 1);
    }
    for (int m = 0; m <= 14; m++) {
        double tol = pow(10, -1 - 0.5 * m);
        assert_true(bdf_problem("pump", "dassl", tol, tol, NULL, 0).score.mescd > (m < 3 ? 0.9 : 5));
    }
}

static void dassl_filter_ends_the_alternation_on_transamp(void **state)
{
    (void)state;
    dae_setting off = {"filter", "off"}, classic = {"classic", "1"};
    double steps[3] = {0};
    for (int m = 0; m <= 8; m += 2) {
        double tol = pow(10, -4 - 0.5 * m);
        bdf_run r[3] = {bdf_problem("transamp", "dassl", tol, tol, NULL, 0),
                        bdf_problem("transamp", "dassl", tol, tol, &off, 1),
                        bdf_problem("transamp", "dassl", tol, tol, &classic, 1)};
        for (int i = 0; i < 3; i++) steps[i] += (double)r[i].stats.steps;
        assert_true(r[0].score.mescd > 4 + 0.5 * m - 0.2);
    }
    assert_true(steps[0] < 0.6 * steps[1]);
    assert_true(steps[0] < 0.3 * steps[2]);
}

/* M y' = f whose algebraic variable jumps with f at t = 1: y1' = -z, z = (1 or 3) y1. */
static int jumping(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -y[1];
    f[1] = y[1] - (t <= 1 ? 1 : 3) * y[0];
    return 0;
}

static void dassl_makes_algebraic_variables_consistent(void **state)
{
    (void)state;
    static const double mass[2] = {1, 0};
    double jump = 1, exact = exp(-1 - 3.0);
    dae_system sys = {.kind = DAE_KIND_DAE, .dae = {.n = 2, .mass = dae_diagonal(2, mass), .f = jumping}};
    dae_options opt = bdf_options("dassl", 1e-7);
    opt.discontinuity = &jump;
    opt.ndiscontinuity = 1;
    double y[2] = {1, 1};
    dae_stats stats;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, &stats, NULL), DAE_OK);
    assert_near(y[0], exact, 1e-6);
    assert_near(y[1], 3 * exact, 3e-6);
    assert_int_equal(stats.newton_failures + stats.rejected, 0);
    y[0] = 1; /* and wrong initial values */
    y[1] = 17;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, y, NULL, NULL), DAE_OK);
    assert_near(y[0], exact, 1e-6);
}

/* ---- The rest of the contract -------------------------------------------------------------------------- */

static void dassl_is_chosen_for_implicit_equations(void **state)
{
    (void)state;
    double lambda = -100, y[3] = {0, 1, 0};
    dae_system sys = {.kind = DAE_KIND_IDE, .ide = {.n = 3, .residual = prothero_residual, .user = &lambda}};
    dae_integrator *it = dae_integrator_create(&sys, NULL, NULL);
    assert_int_equal(dae_integrator_start(it, 0, 1, y, NULL, NULL), DAE_OK);
    assert_string_equal(dae_integrator_method(it)->name, "dassl");
    assert_int_equal(dae_integrator_advance(it, 1, NULL), DAE_OK);
    assert_near(dae_integrator_state(it)[2], sin(1) * cos(1), 1e-4);
    dae_integrator_destroy(it);
}

static void dassl_dense_output_follows_the_solution(void **state)
{
    (void)state;
    bdf_check_dense("dassl", 1e-6, 1e-4, 1e-3);
}

static void dassl_never_evaluates_beyond_the_wall(void **state)
{
    (void)state;
    bdf_check_wall("dassl");
}

static void dassl_survives_undefined_evaluations(void **state)
{
    (void)state;
    bdf_check_undefined("dassl");
}

static void dassl_says_why_a_step_is_too_small(void **state)
{
    (void)state;
    bdf_check_too_small("dassl");
}

static void dassl_integrates_backward(void **state)
{
    (void)state;
    bdf_check_backward("dassl", 1e-8, 2e-5);
}

static void dassl_honors_step_limits(void **state)
{
    (void)state;
    bdf_check_limits("dassl");
}

static void dassl_takes_tolerances_by_component(void **state)
{
    (void)state;
    bdf_check_component_tolerances("dassl");
}

static void dassl_stops_when_asked(void **state)
{
    (void)state;
    bdf_check_stop("dassl");
}

static void dassl_refuses_what_it_cannot_do(void **state)
{
    (void)state;
    bdf_check_refusals("dassl");
}

static void dassl_step_allocates_nothing(void **state)
{
    (void)state;
    bdf_check_allocation("dassl");
}

static void dassl_checkpoint_continues_bit_for_bit(void **state)
{
    (void)state;
    bdf_check_checkpoint("dassl", "hires", "dense");
    bdf_check_checkpoint("dassl", "plei", "sparse");
    bdf_check_checkpoint("dassl", "transamp", "banded");
    bdf_check_checkpoint("dassl", "nand", "sparse");
    bdf_check_checkpoint("dassl", "wheel", "auto");
}

static void dassl_same_result_in_every_storage(void **state)
{
    (void)state;
    bdf_check_storage("dassl");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_predict_polynomials),
        cmocka_unit_test(coefficients_have_the_known_values),
        cmocka_unit_test(dassl_orders_1_to_5_on_a_stiff_problem),
        cmocka_unit_test(dassl_orders_1_to_5_on_dae_and_ide),
        cmocka_unit_test(dassl_integrates_the_pendulum_of_index_2_and_3),
        cmocka_unit_test(dassl_classic_takes_the_published_steps),
        cmocka_unit_test(dassl_classic_reproduces_the_printed_solution),
        cmocka_unit_test(dassl_classic_takes_the_published_steps_on_ides),
        cmocka_unit_test(dassl_is_as_good_as_the_published_runs),
        cmocka_unit_test(dassl_fails_nowhere_in_the_ranges_of_the_test_set),
        cmocka_unit_test(dassl_filter_ends_the_alternation_on_transamp),
        cmocka_unit_test(dassl_makes_algebraic_variables_consistent),
        cmocka_unit_test(dassl_is_chosen_for_implicit_equations),
        cmocka_unit_test(dassl_dense_output_follows_the_solution),
        cmocka_unit_test(dassl_never_evaluates_beyond_the_wall),
        cmocka_unit_test(dassl_survives_undefined_evaluations),
        cmocka_unit_test(dassl_says_why_a_step_is_too_small),
        cmocka_unit_test(dassl_integrates_backward),
        cmocka_unit_test(dassl_honors_step_limits),
        cmocka_unit_test(dassl_takes_tolerances_by_component),
        cmocka_unit_test(dassl_stops_when_asked),
        cmocka_unit_test(dassl_refuses_what_it_cannot_do),
        cmocka_unit_test(dassl_step_allocates_nothing),
        cmocka_unit_test(dassl_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(dassl_same_result_in_every_storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
