/* PSIDE: coefficients, orders, published counts, failed runs of the test set, IDEs, threads, checkpoints. */
#include "test.h"

#include <daedalus/daedalus.h>
#include <daedalus/problem.h>

#include "method/pside/coefficients.h"

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/* ---- Coefficients ----------------------------------------------------------------------------- */

static void coefficients_satisfy_their_order_conditions(void **state)
{
    (void)state;
    for (int q = 1; q <= 7; q++) { /* B(7) */
        double sum = 0;
        for (int j = 0; j < S; j++) sum += pside_A[S - 1][j] * pow(pside_c[j], q - 1);
        assert_near(sum, 1.0 / q, 1e-15);
    }
    for (int q = 1; q <= S;
         q++) { /* C(4), the error weights, and the values of a polynomial from its coefficients */
        double error = 0;
        for (int i = 0; i < S; i++) {
            double sum = 0, power = 0;
            for (int j = 0; j < S; j++) sum += pside_A[i][j] * pow(pside_c[j], q - 1);
            assert_near(sum, pow(pside_c[i], q) / q, 1e-15);
            error += pside_v[i] * pow(pside_c[i], q - 1);
            for (int k = 0; k < S; k++) power += pow(pside_c[q - 1] - 1, k) * pside_Uinv[k][i];
            assert_near(power, i == q - 1, 1e-13);
        }
        assert_near(error, pside_d[S - 1] + (q == 1 ? pside_b0 : 0), 1e-15);
    }
}

static void transformation_splits_the_matrix(void **state)
{
    (void)state; /* A Q = Q D (I - B), Q inv(Q) = I, B B = 0 */
    double B[S][S] = {{0}};
    for (int k = 0; k < 2; k++) {
        const double *b = pside_B[k];
        B[2 * k][2 * k] = b[0];
        B[2 * k][2 * k + 1] = b[1];
        B[2 * k + 1][2 * k] = b[2];
        B[2 * k + 1][2 * k + 1] = -b[0];
        assert_near(b[0] * b[0] + b[1] * b[2], 0, 1e-13);
    }
    for (int i = 0; i < S; i++) {
        for (int j = 0; j < S; j++) {
            double left = 0, right = pside_Q[i][j] * pside_d[j], unit = 0;
            for (int k = 0; k < S; k++) {
                left += pside_A[i][k] * pside_Q[k][j];
                right -= pside_Q[i][k] * pside_d[k] * B[k][j];
                unit += pside_Q[i][k] * pside_Qinv[k][j];
            }
            assert_near(left, right, 1e-13);
            assert_near(unit, i == j, 1e-13);
        }
    }
}

/* ---- Orders ----------------------------------------------------------------------------------- */

static int swing(double t, const double *y, double *f, void *user)
{
    (void)user;
    double a = 1 + 0.25 * y[0] * y[1] + 0.1 * sin(t);
    f[0] = a * y[1];
    f[1] = -a * y[0];
    return 0;
}

static dae_integrator *fixed(const char *method, double h, double t_end)
{
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = swing}};
    dae_options opt = dae_options_default();
    dae_error err;
    opt.method = method;
    opt.rtol = opt.atol = 1e-14;
    opt.fixed_step = h;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_non_null(it);
    assert_int_equal(dae_integrator_start(it, 0, t_end, (double[]){1, 0.5}, NULL, &err), DAE_OK);
    return it;
}

static void at(const char *method, double h, double t, double *y)
{
    dae_integrator *it = fixed(method, h, t);
    assert_int_equal(dae_integrator_advance(it, t, NULL), DAE_OK);
    memcpy(y, dae_integrator_state(it), 2 * sizeof *y);
    dae_integrator_destroy(it);
}

static void observed_order_is_7(void **state)
{
    (void)state;
    double ref[2], a[2], b[2];
    at("dop853", 0.005, 4, ref);
    at("pside", 0.25, 4, a);
    at("pside", 0.125, 4, b);
    assert_near(log2(hypot(a[0] - ref[0], a[1] - ref[1]) / hypot(b[0] - ref[0], b[1] - ref[1])), 7, 0.3);
}

static double dense_error(double h, int what)
{
    double worst = 0;
    dae_integrator *it = fixed("pside", h, 4 * h);
    dae_error err;
    assert_int_equal(dae_integrator_step(it, &err), DAE_OK);
    for (int k = 1; k < 8; k++) {
        double t = h * k / 8, y[2], yp[2], ref[2], f[2];
        at("dop853", t / 16, t, ref);
        swing(t, ref, f, NULL);
        assert_int_equal(dae_integrator_interpolate(it, t, y, yp), DAE_OK);
        worst = fmax(worst, what ? hypot(yp[0] - f[0], yp[1] - f[1]) : hypot(y[0] - ref[0], y[1] - ref[1]));
    }
    dae_integrator_destroy(it);
    return worst;
}

static void dense_output_has_local_order_5_and_4(void **state)
{
    (void)state;
    assert_near(log2(dense_error(0.1, 0) / dense_error(0.05, 0)), 5, 0.3);
    assert_near(log2(dense_error(0.1, 1) / dense_error(0.05, 1)), 4, 0.3);
}

static int prothero(double t, const double *y, double *f, void *user)
{
    (void)user;
    f[0] = -1e6 * (y[0] - cos(t)) - sin(t);
    return 0;
}

static void stiff_order_is_the_stage_order_4(void **state)
{
    (void)state;
    double e[2];
    for (int k = 0; k < 2; k++) {
        dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = prothero}};
        dae_options opt = dae_options_default();
        double y = 1;
        opt.method = "pside";
        opt.rtol = opt.atol = 1e-14;
        opt.fixed_step = k ? 0.1 : 0.2;
        assert_int_equal(dae_solve(&sys, &opt, 0, 1, &y, NULL, NULL), DAE_OK);
        e[k] = fabs(y - cos(1.0));
    }
    assert_near(log2(e[0] / e[1]), 4, 0.3);
}

/* p' = v, v' = -lambda p - (0,1), |p|^2 = 1 (index 3) or p.v = 0 (index 2). */
static int pendulum(double t, const double *y, double *f, void *user)
{
    (void)t;
    f[0] = y[2];
    f[1] = y[3];
    f[2] = -y[4] * y[0];
    f[3] = -y[4] * y[1] - 1;
    f[4] = *(int *)user == 3 ? y[0] * y[0] + y[1] * y[1] - 1 : y[0] * y[2] + y[1] * y[3];
    return 0;
}

/* The same as F(t,y,y') = 0, with the equations scaled and mixed. */
static int implicit_pendulum(double t, const double *y, const double *yp, double *F, void *user)
{
    double f[5];
    pendulum(t, y, f, user);
    F[0] = 2 * (yp[0] - f[0]);
    F[1] = yp[1] - f[1] + 0.5 * (yp[0] - f[0]);
    F[2] = yp[2] - f[2];
    F[3] = 3 * (yp[3] - f[3]) - (yp[2] - f[2]);
    F[4] = -f[4];
    return 0;
}

static void pendulum_at_2(int index, dae_kind kind, const char *method, double h, double *y)
{
    static const double mass[5] = {1, 1, 1, 1, 0}, yp[5] = {0, 0, 0, -1, -3};
    static const int index3[5] = {1, 1, 2, 2, 3}, index2[5] = {1, 1, 1, 1, 2};
    dae_system sys = {.kind = kind, .structure = {.index = index == 3 ? index3 : index2}};
    if (kind == DAE_KIND_IDE) sys.ide = (dae_ide){.n = 5, .residual = implicit_pendulum, .user = &index};
    else sys.dae = (dae_dae){.n = 5, .mass = dae_diagonal(5, mass), .f = pendulum, .user = &index};
    dae_options opt = dae_options_default();
    dae_error err;
    opt.method = method;
    opt.rtol = opt.atol = 1e-12;
    opt.fixed_step = h;
    dae_integrator *it = dae_integrator_create(&sys, &opt, &err);
    assert_non_null(it);
    assert_int_equal(dae_integrator_start(it, 0, 2, (double[]){1, 0, 0, 0, 0}, yp, &err), DAE_OK);
    dae_status s = dae_integrator_advance(it, 2, &err);
    if (s) fail_msg("%s, h = %g, index %d: %s", method, h, index, err.text);
    memcpy(y, dae_integrator_state(it), 5 * sizeof *y);
    dae_integrator_destroy(it);
}

/* Observed between h and h/2: what = 0 position, 1 velocity, 2 multiplier. */
static double pendulum_order(int index, dae_kind kind, double h, int what)
{
    double ref[5], y[5], e[2];
    pendulum_at_2(2, DAE_KIND_DAE, "radau", 0.01, ref);
    for (int k = 0; k < 2; k++) {
        pendulum_at_2(index, kind, "pside", k ? h / 2 : h, y);
        e[k] = what == 2 ? fabs(y[4] - ref[4])
                         : hypot(y[2 * what] - ref[2 * what], y[2 * what + 1] - ref[2 * what + 1]);
    }
    return log2(e[0] / e[1]);
}

static void pendulum_orders_are_those_of_theory(void **state)
{
    (void)state; /* index 2: 7, 7, 4; index 3: 7, 4, 3, the last two from smaller steps on */
    for (dae_kind kind = DAE_KIND_DAE; kind <= DAE_KIND_IDE; kind++) {
        assert_near(pendulum_order(2, kind, 0.2, 0), 7, 0.3);
        assert_near(pendulum_order(2, kind, 0.2, 1), 7, 0.3);
        assert_near(pendulum_order(2, kind, 0.2, 2), 4, 0.3);
        assert_near(pendulum_order(3, kind, 0.2, 0), 7, 0.3);
        assert_near(pendulum_order(3, kind, 0.05, 1), 4, 0.3);
        assert_near(pendulum_order(3, kind, 0.05, 2), 3, 0.3);
    }
}

/* ---- The published runs ----------------------------------------------------------------------- */

enum { EXACT = 1, DEVIATES = 2 };

typedef struct row {
    const char *problem;
    double rtol, atol, mescd, scd;
    long steps, accepted, f, jac, lu;
    int what; /* EXACT: classic gives these counts; DEVIATES: less accurate than printed, see below */
} row;

/* [TESTSET], run characteristics of PSIDE-1. */
static const row rows[] = {
    {"andrews", 1e-4, 1e-4, 0.22, 2.95, 92, 75, 1675, 52, 368, EXACT},
    {"andrews", 1e-7, 1e-7, 2.1, 4.98, 113, 93, 2637, 63, 428, EXACT},
    {"beam", 1e-4, 1e-4, 2.52, 2.14, 42, 36, 1096, 29, 168, 0},
    {"beam", 1e-7, 1e-7, 4.28, 5.44, 241, 208, 8006, 192, 964, EXACT},
    {"caraxis", 1e-4, 1e-4, 0.83, -0.28, 55, 54, 1403, 42, 220, EXACT},
    {"caraxis", 1e-7, 1e-7, 4.41, 2.27, 179, 172, 4103, 83, 464, 0},
    {"caraxis", 1e-10, 1e-10, 7.25, 4.86, 625, 612, 13751, 115, 964, 0},
    {"chemakzo", 1e-10, 1e-10, 11.41, 9.91, 87, 85, 1671, 15, 204, 0},
    {"crank", 1e-4, 1e-4, -0.05, 0.93, 45, 41, 858, 29, 180, EXACT},
    {"crank", 1e-6, 1e-6, 0.16, 2.43, 259, 235, 5020, 147, 888, EXACT},
    {"crank", 1e-8, 1e-8, 1.66, 4.66, 1639, 1445, 31526, 54, 2324, 0},
    {"e5", 1e-4, 1.7e-24, 3.94, 1.65, 137, 112, 3160, 69, 544, 0},
    {"e5", 1e-7, 1.7e-24, 7.99, 2.71, 255, 243, 5181, 173, 944, EXACT},
    {"e5", 1e-10, 1.7e-24, 11.46, 3.18, 707, 704, 13278, 286, 1512, 0},
    {"emep", 1e-4, 1, 2.29, 2.29, 509, 447, 9241, 213, 1980, 0},
    {"emep", 1e-2, 1, 1.58, 2.39, 490, 438, 6954, 175, 1908, 0},
    {"emep", 1e-6, 1, 3.97, 3.95, 769, 650, 15861, 335, 2716, 0},
    {"fekete", 1e-4, 1e-4, 5.32, 4.12, 114, 75, 967, 9, 448, EXACT},
    {"fekete", 1e-3, 1e-3, 4.4, 3.19, 88, 59, 779, 11, 344, EXACT},
    {"fekete", 1e-2, 1e-2, 3.66, 2.2, 73, 53, 693, 16, 288, EXACT},
    {"hires", 1e-4, 1e-4, 5.24, 3.03, 43, 37, 665, 20, 168, EXACT},
    {"hires", 1e-7, 1e-7, 7.24, 4.88, 68, 60, 1208, 25, 252, EXACT},
    {"hires", 1e-10, 1e-10, 11.06, 8.85, 152, 151, 2528, 35, 344, EXACT},
    {"medakzo", 1e-4, 1e-4, 5.16, 5.0, 118, 83, 1263, 34, 456, 0},
    {"medakzo", 1e-7, 1e-7, 7.18, 7.12, 159, 145, 2838, 109, 624, 0},
    {"nand", 1e-4, 1e-4, 2.39, 3.33, 464, 411, 6574, 109, 1796, 0},
    {"nand", 1e-7, 1e-7, 5.28, 8.48, 773, 643, 13134, 222, 2760, DEVIATES},
    {"orego", 1e-4, 1e-4, 4.74, 4.73, 221, 178, 4696, 128, 836, EXACT},
    {"orego", 1e-7, 1e-7, 7.06, 7.06, 441, 407, 9235, 148, 1164, 0},
    {"orego", 1e-10, 1e-10, 10.77, 10.47, 1450, 1412, 26255, 219, 1788, 0},
    {"plei", 1e-4, 1e-4, 2.23, 1.82, 102, 76, 1710, 27, 364, EXACT},
    {"plei", 1e-7, 1e-7, 5.26, 4.7, 248, 223, 3187, 1, 592, EXACT},
    {"plei", 1e-10, 1e-10, 8.12, 7.55, 807, 807, 9095, 1, 604, EXACT},
    {"pollu", 1e-7, 1e-7, 7.51, 4.84, 31, 29, 465, 9, 124, EXACT},
    {"pollu", 1e-10, 1e-10, 10.64, 8.04, 63, 62, 970, 12, 188, EXACT},
    {"pump", 0.1, 0.1, 1.17, 0.37, 938, 839, 9843, 140, 3752, 0},
    {"pump", 1e-5, 1e-5, 2.64, 4.47, 1366, 1068, 13424, 160, 5424, 0},
    {"pump", 1e-7, 1e-7, 9.05, 16.0, 2425, 1555, 24331, 300, 9616, 0},
    {"ringmod", 1e-4, 1e-4, 1.29, 0.6, 9791, 8241, 267721, 6834, 38184, 0},
    {"ringmod", 1e-7, 1e-7, 5.21, 4.53, 55345, 45636, 886724, 3984, 111508, 0},
    {"rober", 1e-4, 1e-8, 5.75, 2.07, 56, 55, 1295, 36, 224, EXACT},
    {"rober", 1e-7, 1e-11, 9.03, 5.35, 158, 154, 3128, 39, 496, EXACT},
    {"rober", 1e-10, 1e-14, 11.29, 7.61, 570, 563, 9772, 50, 744, 0},
    {"transamp", 1e-4, 1e-4, 5.02, 4.76, 516, 362, 9742, 253, 2008, EXACT},
    {"transamp", 1e-7, 1e-7, 7.5, 7.23, 835, 653, 21914, 419, 2724, 0},
    {"vdpol-eps", 1e-4, 1e-4, 5.7, 5.38, 235, 166, 4402, 73, 780, EXACT | DEVIATES},
    {"vdpol-eps", 1e-7, 1e-7, 8.72, 8.39, 414, 386, 7896, 75, 908, 0},
    {"vdpol-eps", 1e-10, 1e-10, 11.4, 11.07, 1388, 1365, 23066, 131, 1360, 0},
    {"vdpol-mu", 1e-4, 1e-4, 6.42, 3.43, 181, 149, 2811, 57, 648, EXACT | DEVIATES},
    {"vdpol-mu", 1e-7, 1e-7, 7.2, 6.32, 310, 293, 6141, 52, 756, EXACT},
    {"vdpol-mu", 1e-10, 1e-10, 9.99, 9.14, 1000, 990, 15536, 109, 1156, 0},
    {"water", 1e-4, 1e-4, 4.37, 2.45, 64, 50, 799, 16, 244, 0},
    {"water", 1e-7, 1e-7, 5.8, 3.09, 134, 104, 2320, 40, 468, 0},
    {"water", 1e-10, 1e-10, 7.86, 5.45, 827, 719, 14105, 39, 1292, 0},
    {"wheel", 1e-4, 1e-4, 1.53, 0.42, 1276, 945, 22090, 547, 4920, 0},
    {"wheel", 1e-5, 1e-5, 2.81, 1.67, 2335, 1507, 39204, 608, 8752, 0},
    {"wheel", 1e-6, 1e-6, 4.52, 3.34, 3070, 2068, 54074, 571, 10736, 0},
};

typedef struct result {
    dae_status status;
    dae_stats stats;
    dae_score score;
    dae_error err;
    int no_scd;
} result;

static result run(const row *r, const char *classic)
{
    result out = {0};
    dae_setting published = {"jacobian", "published"}, setting = {"classic", classic};
    dae_problem *p = dae_problem_create(r->problem, &published, !strcmp(r->problem, "andrews"), &out.err);
    assert_non_null(p);
    int n = dae_system_size(&p->system);
    double *rtol = malloc((size_t)n * sizeof *rtol), *atol = malloc((size_t)n * sizeof *atol);
    for (int i = 0; i < n; i++) {
        rtol[i] = r->rtol * (p->rtol_factor ? p->rtol_factor[i] : 1);
        atol[i] = r->atol * (p->atol_factor ? p->atol_factor[i] : 1);
    }
    dae_options opt = dae_options_default();
    opt.method = "pside";
    opt.rtol = r->rtol;
    opt.atol = r->atol;
    opt.rtol_vec = rtol;
    opt.atol_vec = atol;
    opt.setting = &setting;
    opt.nsetting = 1;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    opt.max_steps = 100000;
    if (!strcmp(r->problem, "caraxis")) opt.jacobian = "difference";
    dae_integrator *it = dae_integrator_create(&p->system, &opt, &out.err);
    assert_non_null(it);
    out.status = dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, &out.err);
    if (out.status >= 0) out.status = dae_integrator_advance(it, p->t_end, &out.err);
    if (out.status < 0) print_error("%s at %g: %s\n", r->problem, r->rtol, out.err.text);
    out.stats = *dae_integrator_stats(it);
    out.score = dae_problem_score(p, &opt, p->published, dae_integrator_state(it));
    out.no_scd = p->no_scd;
    dae_integrator_destroy(it);
    dae_problem_destroy(p);
    free(rtol);
    free(atol);
    return out;
}

static void near_count(const row *r, const char *what, long found, long printed)
{
    if ((double)labs(found - printed) > 0.03 * (double)printed) {
        fail_msg("%s at %g: %s = %ld, printed %ld", r->problem, r->rtol, what, found, printed);
    }
}

static void counts_of_the_test_set_are_reproduced(void **state)
{
    (void)state;
    int exact = 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        if (!(r->what & EXACT)) continue;
        result x = run(r, "1");
        assert_int_equal(x.status, DAE_OK);
        near_count(r, "steps", x.stats.steps, r->steps);
        near_count(r, "accepted", x.stats.accepted, r->accepted);
        near_count(r, "f", x.stats.f, r->f);
        near_count(r, "jac", x.stats.jac, r->jac);
        near_count(r, "lu", x.stats.lu, r->lu);
        if (strcmp(r->problem, "e5")) assert_near(x.score.mescd, r->mescd, 0.05);
        exact++;
    }
    assert_int_equal(exact, 25);
}

/* By default every run is as accurate as printed (but for half a digit) and needs at most 1.3 times the steps
 * and evaluations. Three single runs fall short of an accuracy that was luck: vdpol-mu (mescd 5.6, printed
 * 6.4) and vdpol-eps (5.1, printed 5.7) at 1e-4, and nand at 1e-7 (4.5, printed 5.3; 0.8 and 1.2 times this
 * tolerance give 5.3). */
static void runs_of_the_test_set_are_as_good_as_printed(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        const row *r = &rows[k];
        if (!strcmp(r->problem, "ringmod") && r->rtol < 1e-5) continue; /* 55000 steps: same as printed */
        result x = run(r, "0");
        double slack = r->what & DEVIATES ? 2 : 0.5;
        assert_int_equal(x.status, DAE_OK);
        if (!x.no_scd && !(x.score.scd >= r->scd - slack))
            fail_msg("%s at %g: scd %.2f", r->problem, r->rtol, x.score.scd);
        if (!(x.score.mescd >= r->mescd - slack))
            fail_msg("%s at %g: mescd %.2f", r->problem, r->rtol, x.score.mescd);
        if ((double)x.stats.steps > 1.3 * (double)r->steps)
            fail_msg("%s at %g: %ld steps", r->problem, r->rtol, x.stats.steps);
        if ((double)x.stats.f > 1.3 * (double)r->f)
            fail_msg("%s at %g: f = %ld", r->problem, r->rtol, x.stats.f);
    }
}

/* [TESTSET] lists these tolerances 10^-(a + m b) as failed runs of PSIDE-1. */
/* Digits of one run are a sample; of 41 between 0.7 and 1.4 times 1e-4, whether the first step is that of the problem or pside's own,
 * each has one: errors of the iteration that velocities keep left none in 7 of 82 (scd -0.29 the worst), and 1.5 as the median. */
static void no_run_of_andrews_is_without_a_digit(void **state)
{
    (void)state;
    dae_problem *p = dae_problem_create("andrews", NULL, 0, NULL);
    int good = 0;
    for (int i = 0; i < 82; i++) {
        dae_options opt = dae_options_default();
        dae_error err;
        opt.method = "pside";
        opt.rtol = opt.atol = 0.7e-4 * exp2((i % 41) / 40.0);
        opt.h0 = i < 41 ? 0 : p->h0;
        dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
        assert_non_null(it);
        assert_int_equal(dae_integrator_start(it, p->t0, p->t_end, p->y0, p->yp0, &err), DAE_OK);
        assert_int_equal(dae_integrator_advance(it, p->t_end, &err), DAE_OK);
        double scd = dae_problem_score(p, &opt, p->reference, dae_integrator_state(it)).scd;
        if (!(scd > 1)) fail_msg("rtol %g, h0 %g: scd %.2f", opt.rtol, opt.h0, scd);
        good += scd > 2;
        dae_integrator_destroy(it);
    }
    assert_true(good > 41);
    dae_problem_destroy(p);
}

static void failed_runs_of_the_test_set_end_well(void **state)
{
    (void)state;
    static const struct {
        const char *problem;
        double a, b;
        int first, last, every;
        double least; /* mescd */
    } list[] = {{"chemakzo", 8, 0.25, 14, 20, 1, 12.4},
                {"pump", 1, 0.5, 0, 14, 1, 1.1},
                {"crank", 4, 0.25, 17, 24, 4, 1.9},
                {"tba", 2, 0.125, 0, 24, 6, 2.5}};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        for (int m = list[k].first; m <= list[k].last; m += list[k].every) {
            double tol = pow(10, -(list[k].a + m * list[k].b));
            result x = run(&(row){.problem = list[k].problem, .rtol = tol, .atol = tol}, "0");
            assert_int_equal(x.status, DAE_OK);
            if (!(x.score.mescd > list[k].least))
                fail_msg("%s, m = %d: mescd %.2f", list[k].problem, m, x.score.mescd);
        }
    }
}

/* The cause of "stepsize too small": errors at rounding level mislead the predictive controller. */
static void classic_control_stalls_where_the_default_does_not(void **state)
{
    (void)state;
    row r = {.problem = "chemakzo", .rtol = 1e-12, .atol = 1e-12};
    result classic = run(&r, "1"), mended = run(&r, "0");
    assert_int_equal(mended.status, DAE_OK);
    assert_true(mended.stats.steps < 220);
    assert_true(classic.status == DAE_ERR_STEP_TOO_SMALL || classic.stats.steps > mended.stats.steps);
}

/* ---- Threads and checkpoints ------------------------------------------------------------------ */

typedef struct finish {
    double y[400];
    dae_stats stats;
} finish;

static dae_integrator *begin(const dae_problem *p, const char *method, double tol, int threads,
                             const char *parallel_f, double t_end)
{
    dae_setting setting[] = {{"parallel_min", "1"}, {"parallel_f", parallel_f}};
    dae_options opt = dae_options_default();
    dae_error err;
    opt.method = method;
    opt.rtol = opt.atol = tol;
    opt.threads = threads;
    opt.setting = setting;
    opt.nsetting = 2;
    opt.discontinuity = p->discontinuity;
    opt.ndiscontinuity = p->ndiscontinuity;
    dae_integrator *it = dae_integrator_create(&p->system, &opt, &err);
    assert_non_null(it);
    assert_int_equal(dae_integrator_start(it, p->t0, t_end, p->y0, p->yp0, &err), DAE_OK);
    return it;
}

static finish end(const dae_problem *p, dae_integrator *it, double t_end)
{
    finish out = {.y = {0}};
    dae_error err;
    dae_status s = dae_integrator_advance(it, t_end, &err);
    if (s) fail_msg("%s", err.text);
    assert_true(dae_integrator_time(it) == t_end);
    memcpy(out.y, dae_integrator_state(it), (size_t)dae_system_size(&p->system) * sizeof *out.y);
    out.stats = *dae_integrator_stats(it);
    out.stats.cpu_seconds = 0;
    dae_integrator_destroy(it);
    return out;
}

static void assert_same(const finish *a, const finish *b)
{
    assert_memory_equal(a->y, b->y, sizeof a->y);
    assert_int_equal(a->stats.steps, b->stats.steps);
    assert_int_equal(a->stats.f, b->stats.f);
    assert_int_equal(a->stats.undefined, b->stats.undefined);
    assert_int_equal(a->stats.jac, b->stats.jac);
    assert_int_equal(a->stats.lu, b->stats.lu);
    assert_int_equal(a->stats.solves, b->stats.solves);
}

static const struct {
    const char *problem;
    double tol, part; /* of the interval */
} cases[] = {{"fekete", 1e-3, 1},
             {"tba", 1e-4, 0.1},
             {"medakzo", 1e-4, 1},
             {"transamp", 1e-4, 0.2},
             {"nand", 1e-4, 0.2}};

static void threads_change_no_bit(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_problem *p = dae_problem_create(cases[k].problem, NULL, 0, NULL);
        assert_non_null(p);
        double t_end = p->t0 + cases[k].part * (p->t_end - p->t0);
        finish serial = end(p, begin(p, "pside", cases[k].tol, 1, "0", t_end), t_end);
        for (int threads = 2; threads <= 4; threads++) {
            finish parallel =
                end(p, begin(p, "pside", cases[k].tol, threads, threads == 3 ? "0" : "1", t_end), t_end);
            assert_same(&serial, &parallel);
        }
        dae_problem_destroy(p);
    }
}

static void checkpoint_goes_on_bit_for_bit(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_problem *p = dae_problem_create(cases[k].problem, NULL, 0, NULL);
        assert_non_null(p);
        double t_end = p->t0 + cases[k].part * (p->t_end - p->t0);
        dae_integrator *it = begin(p, "pside", cases[k].tol, 1, "0", t_end);
        dae_error err;
        for (int i = 0; i < 17; i++) assert_int_equal(dae_integrator_step(it, &err), DAE_OK);
        size_t size = dae_integrator_save(it, NULL, 0);
        assert_true(size > 0);
        void *bytes = malloc(size);
        assert_int_equal(dae_integrator_save(it, bytes, size), size);
        finish one = end(p, it, t_end);
        it = begin(p, "pside", cases[k].tol, 1, "0", t_end);
        assert_int_equal(dae_integrator_load(it, bytes, size, &err), DAE_OK);
        finish two = end(p, it, t_end);
        assert_same(&one, &two);
        free(bytes);
        dae_problem_destroy(p);
    }
}

static void step_allocates_nothing(void **state)
{
    (void)state;
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    dae_problem *p = dae_problem_create("medakzo", NULL, 0, NULL);
    for (int threads = 1; threads <= 2; threads++) {
        dae_integrator *it = begin(p, "pside", 1e-4, threads, "1", p->t_end);
        struct mallinfo2 before = mallinfo2();
        for (int i = 0; i < 40; i++) assert_int_equal(dae_integrator_step(it, NULL), DAE_OK);
        struct mallinfo2 after = mallinfo2();
        assert_int_equal(before.uordblks, after.uordblks);
        dae_integrator_destroy(it);
    }
    dae_problem_destroy(p);
#endif
}

/* ---- Ends, limits, failures ------------------------------------------------------------------- */

static int decay(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    for (int i = 0; i < 2; i++) f[i] = -y[i];
    return 0;
}

static void steps_respect_h_max_and_the_end_and_go_backward(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = decay}};
    dae_options opt = dae_options_default();
    dae_stats stats;
    dae_error err;
    double y[2] = {1, 2};
    opt.method = "pside";
    opt.rtol = opt.atol = 1e-8;
    opt.h0 = 0.01;
    opt.h_max = 0.05;
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, &stats, &err), DAE_OK);
    assert_near(y[0], exp(-1), 1e-8);
    assert_true(stats.h_largest <= 0.05 * (1 + 1e-12));
    assert_true(stats.steps >= 20);
    opt.h_max = 0;
    assert_int_equal(dae_solve(&sys, &opt, 1, 0, y, &stats, &err), DAE_OK);
    assert_near(y[0], 1, 3e-8);
    assert_near(y[1], 2, 6e-8);
}

static void tolerances_count_per_component(void **state)
{
    (void)state; /* a loose second component does not hold back the first, nor a tight one be lost */
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = swing}};
    dae_options opt = dae_options_default();
    dae_stats loose, tight;
    double y[2] = {1, 0.5}, z[2] = {1, 0.5}, ref[2];
    at("dop853", 0.005, 4, ref);
    opt.method = "pside";
    opt.rtol_vec = (double[]){1e-3, 1e-3};
    opt.atol_vec = (double[]){1e-3, 1e-3};
    assert_int_equal(dae_solve(&sys, &opt, 0, 4, y, &loose, NULL), DAE_OK);
    opt.rtol_vec = (double[]){1e-3, 1e-10};
    opt.atol_vec = (double[]){1e-3, 1e-10};
    assert_int_equal(dae_solve(&sys, &opt, 0, 4, z, &tight, NULL), DAE_OK);
    assert_true(tight.accepted > 2 * loose.accepted);
    assert_near(z[1], ref[1], 1e-8);
}

/* Cannot be evaluated for y > 1 although the solution never goes there; asks to stop on call 40. */
static int fenced(double t, const double *y, double *f, void *user)
{
    int *count = user;
    (void)t;
    if (*count >= 0 && ++*count > 40) return -1;
    if (!(y[0] <= 1)) return 1;
    f[0] = 50 * sqrt(1 - y[0]);
    return 0;
}

static void function_that_fails_cuts_the_step_or_stops(void **state)
{
    (void)state;
    int count = -1;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = fenced, .user = &count}};
    dae_options opt = dae_options_default();
    dae_stats stats;
    dae_error err;
    double y = 0;
    opt.method = "pside";
    opt.h0 = 0.036; /* the solution 1 - (1 - 25 t)^2 touches 1 at t = 0.04, the prediction 50 t passes it */
    assert_int_equal(dae_solve(&sys, &opt, 0, 0.038, &y, &stats, &err), DAE_OK);
    assert_near(y, 1 - 0.05 * 0.05, 1e-4);
    assert_true(stats.undefined > 0);
    count = 0;
    y = 0;
    assert_int_equal(dae_solve(&sys, &opt, 0, 0.038, &y, &stats, &err), DAE_ERR_CALLBACK);
}

static int blows_up(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = y[0] * y[0]; /* y = 1/(1-t) */
    return 0;
}

static void singularity_gives_a_message_with_its_time(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_ODE, .ode = {.n = 1, .f = blows_up}};
    dae_options opt = dae_options_default();
    dae_error err;
    double y = 1;
    opt.method = "pside";
    dae_status s = dae_solve(&sys, &opt, 0, 2, &y, NULL, &err);
    assert_true(s == DAE_ERR_STEP_TOO_SMALL || s == DAE_ERR_SINGULAR);
    assert_near(err.t, 1, 1e-3);
    y = 1;
    opt.h_min = 1e-4;
    assert_int_equal(dae_solve(&sys, &opt, 0, 2, &y, NULL, &err), DAE_ERR_STEP_TOO_SMALL);
    assert_non_null(strstr(err.text, "smallest 0.0001"));
}

static int redundant(double t, const double *y, double *f, void *user)
{
    (void)t, (void)user;
    f[0] = -y[0] + y[1];
    f[1] = y[0] - 1;
    f[2] = 2 * (y[0] - 1);
    return 0;
}

static void redundant_equations_are_called_singular(void **state)
{
    (void)state;
    dae_system sys = {.kind = DAE_KIND_DAE,
                      .dae = {.n = 3, .mass = dae_diagonal(3, (double[]){1, 0, 0}), .f = redundant}};
    dae_options opt = dae_options_default();
    dae_error err;
    double y[3] = {1, 1, 0};
    opt.method = "pside";
    assert_int_equal(dae_solve(&sys, &opt, 0, 1, y, NULL, &err), DAE_ERR_SINGULAR);
    assert_non_null(strstr(err.text, "redundant"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_satisfy_their_order_conditions),
        cmocka_unit_test(transformation_splits_the_matrix),
        cmocka_unit_test(observed_order_is_7),
        cmocka_unit_test(dense_output_has_local_order_5_and_4),
        cmocka_unit_test(stiff_order_is_the_stage_order_4),
        cmocka_unit_test(pendulum_orders_are_those_of_theory),
        cmocka_unit_test(counts_of_the_test_set_are_reproduced),
        cmocka_unit_test(runs_of_the_test_set_are_as_good_as_printed),
        cmocka_unit_test(no_run_of_andrews_is_without_a_digit),
        cmocka_unit_test(failed_runs_of_the_test_set_end_well),
        cmocka_unit_test(classic_control_stalls_where_the_default_does_not),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(checkpoint_goes_on_bit_for_bit),
        cmocka_unit_test(step_allocates_nothing),
        cmocka_unit_test(steps_respect_h_max_and_the_end_and_go_backward),
        cmocka_unit_test(tolerances_count_per_component),
        cmocka_unit_test(function_that_fails_cuts_the_step_or_stops),
        cmocka_unit_test(singularity_gives_a_message_with_its_time),
        cmocka_unit_test(redundant_equations_are_called_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
