/* GAMD: coefficients, the published counts in classic mode, quality in default mode, orders, and the cases
 * that hold for every block method. */
#include "method/block_check.h"

#include "method/gamd/coefficients.h"

static const struct formula *const formulas[] = {&order3, &order5, &order7, &order9};

/* ---- Coefficients -------------------------------------------------------------------------------------- */

static double power(double x, int q)
{
    double r = 1;
    while (q-- > 0) r *= x;
    return r;
}

/* Integral of x^q over [i, i+1]. */
static double moment(int i, int q)
{
    return (power(i + 1, q + 1) - power(i, q + 1)) / (q + 1);
}

/* Row i integrates x^q exactly for q < p, and its error at q = p is p! C. */
static void gamd_rows_meet_order_conditions(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const struct formula *m = formulas[k];
        for (int i = 0; i < m->s; i++) {
            double factorial = 1;
            for (int q = 0; q <= m->p; q++) {
                double sum = 0, scale = power(m->s, q);
                for (int j = 0; j < m->p; j++)
                    sum += m->B[i][j] / m->B_denominator * power(m->window[i] + j, q);
                if (q) factorial *= q;
                double error = q < m->p ? 0 : factorial * m->C[i] / m->C_denominator;
                assert_near((moment(i, q) - sum - error) / scale, 0, 2e-15);
            }
        }
    }
}

/* B - D is the formula of order p+2 (p = 9: 10) on all points of the block. */
static void gamd_error_rows_lead_to_the_higher_order(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const struct formula *m = formulas[k];
        for (int i = 0; i < m->s; i++) {
            for (int q = 0; q <= m->s; q++) {
                double sum = 0, scale = power(m->s, q);
                for (int j = 0; j < m->p; j++)
                    sum += m->B[i][j] / m->B_denominator * power(m->window[i] + j, q);
                for (int j = 0; j <= m->s; j++) sum -= m->D[i][j] / m->D_denominator * power(j, q);
                assert_near((moment(i, q) - sum) / scale, 0, 2e-15);
            }
        }
        for (int i = 0; i < m->s && k < 3; i++) { /* up: error constants of order p+2 on this block */
            int p = m->p + 2;
            double sum = 0, factorial = 1;
            for (int j = 2; j <= p; j++) factorial *= j;
            for (int j = 0; j < m->p; j++) sum += m->B[i][j] / m->B_denominator * power(m->window[i] + j, p);
            for (int j = 0; j <= m->s; j++) sum -= m->D[i][j] / m->D_denominator * power(j, p);
            assert_near((moment(i, p) - sum) / factorial, m->up[i] / m->up_denominator, 1e-10);
            assert_between(m->center[i], 1, m->s - 2);
        }
        for (int i = 0; i < m->s && k > 0;
             i++) { /* down: a row of the lower order that fits into the block */
            const struct formula *low = formulas[k - 1];
            assert_between(m->row[i], 0, low->s - 1);
            assert_between(m->shift[i], 0, m->s - low->s);
        }
    }
}

/* N = inv(L) B - I (B without its first column) is nilpotent but for small errors of L: N^s is below 1e-3 and
 * N^(2s) below 1e-12, so that infinitely stiff components are gone after two rounds of s sweeps. */
static void gamd_splitting_damps_stiff_components(void **state)
{
    (void)state;
    for (int k = 0; k < 4; k++) {
        const struct formula *m = formulas[k];
        int s = m->s;
        double N[S_MAX][S_MAX] = {{0}}, P[S_MAX][S_MAX], Q[S_MAX][S_MAX];
        for (int i = 0; i < s; i++) {
            for (int j = 0; j < m->p; j++) {
                if (m->window[i] + j > 0) N[i][m->window[i] + j - 1] = m->B[i][j] / m->B_denominator;
            }
        }
        for (int i = 0; i < s; i++) { /* forward substitution with L */
            for (int j = 0; j < s; j++) {
                for (int l = 0; l < i; l++) N[i][j] -= m->L[i][l] * N[l][j];
                N[i][j] /= m->ell;
            }
        }
        for (int i = 0; i < s; i++) N[i][i] -= 1;
        memcpy(P, N, sizeof P);
        for (int times = 2; times <= 2 * s; times++) {
            double largest = 0;
            for (int i = 0; i < s; i++) {
                for (int j = 0; j < s; j++) {
                    Q[i][j] = 0;
                    for (int l = 0; l < s; l++) Q[i][j] += P[i][l] * N[l][j];
                    largest = fmax(largest, fabs(Q[i][j]));
                }
            }
            memcpy(P, Q, sizeof P);
            if (times == s) assert_between(largest, 0, 1e-3);
            if (times == 2 * s) assert_between(largest, 0, 1e-12);
        }
    }
}

/* ---- The published runs, [TESTSET] --------------------------------------------------------------- */

static const block_row same_counts[] = {
    {"hires", 1e-07, 1e-07, 1e-09, 8.51, 6.0, 38, 34, 2167, 33, 38},
    {"pollu", 1e-07, 1e-07, 1e-07, 8.16, 6.31, 23, 23, 625, 23, 23},
    {"pollu", 1e-10, 1e-10, 1e-10, 11.35, 5.36, 36, 36, 1401, 36, 36},
    {"medakzo", 0.0001, 0.0001, 1e-09, 5.03, 5.01, 66, 66, 2116, 66, 66},
    {"plei", 0.0001, 0.0001, 1e-06, 1.54, 0.97, 85, 69, 2751, 69, 85},
    {"plei", 1e-07, 1e-07, 1e-09, 4.81, 4.57, 122, 104, 5163, 104, 122},
    {"plei", 1e-10, 1e-10, 1e-12, 7.65, 7.3, 183, 177, 7927, 173, 183},
    {"beam", 0.0001, 0.0001, 0.0001, 3.58, 3.59, 49, 49, 1715, 49, 49},
    {"vdpol-mu", 0.0001, 0.0001, 1e-06, 4.86, 4.3, 129, 90, 5133, 91, 129},
    {"vdpol-mu", 1e-07, 1e-07, 1e-09, 7.55, 6.71, 173, 137, 9422, 141, 173},
    {"vdpol-eps", 1e-07, 1e-07, 1e-09, 6.52, 6.19, 163, 133, 12727, 131, 163},
    {"orego", 0.0001, 0.0001, 1e-06, 3.61, 3.61, 219, 162, 8510, 163, 219},
    {"orego", 1e-07, 1e-07, 1e-09, 6.9, 6.89, 251, 205, 16050, 208, 251},
    {"rober", 0.0001, 1e-08, 1e-06, 6.27, 2.59, 62, 62, 2165, 62, 62},
    {"rober", 1e-07, 1e-11, 1e-09, 9.94, 6.05, 93, 91, 4883, 89, 92},
    {"rober", 1e-10, 1e-14, 1e-12, 12.41, 8.73, 169, 169, 9427, 166, 169},
    {"e5", 0.0001, 1.7e-24, 1e-06, 5.52, NAN, 103, 101, 4977, 99, 103},
    {"e5", 1e-07, 1.7e-24, 1e-09, 8.19, NAN, 125, 125, 9167, 122, 125},
    {"e5", 1e-10, 1.7e-24, 1e-12, 11.13, NAN, 154, 154, 13497, 154, 154},
    {"andrews", 0.0001, 0.0001, 0.0001, 0.35, 2.82, 82, 58, 2281, 58, 82},
    {"caraxis", 0.0001, 0.0001, 0.0001, 1.98, 0.39, 39, 39, 2169, 39, 39},
    {"caraxis", 1e-07, 1e-07, 1e-07, 4.82, 2.64, 98, 98, 7167, 98, 98},
    {"fekete", 0.01, 0.01, 0.01, 4.16, 2.99, 26, 24, 526, 24, 26},
    {"fekete", 0.001, 0.001, 0.001, 4.79, 3.78, 26, 26, 947, 26, 26},
    {"fekete", 0.0001, 0.0001, 0.0001, 5.76, 4.45, 38, 38, 1319, 38, 38},
    {"crank", 0.0001, 0.0001, 1e-06, 0.23, 2.28, 60, 60, 1983, 60, 60},
    {"crank", 1e-06, 1e-06, 1e-08, -0.16, 2.83, 534, 527, 25206, 527, 534},
    {"crank", 1e-08, 1e-08, 1e-10, 1.7, 4.69, 650, 650, 46109, 650, 650},
    {"water", 0.0001, 0.0001, 0.0001, 3.51, 1.18, 18, 16, 340, 16, 18},
};

static const block_row published[] = {
    {"hires", 1e-07, 1e-07, 1e-09, 8.51, 6.0, 38, 34, 2167, 33, 38},
    {"hires", 1e-10, 1e-10, 1e-12, 10.26, 7.82, 55, 50, 4164, 51, 55},
    {"pollu", 1e-07, 1e-07, 1e-07, 8.16, 6.31, 23, 23, 625, 23, 23},
    {"pollu", 1e-10, 1e-10, 1e-10, 11.35, 5.36, 36, 36, 1401, 36, 36},
    {"medakzo", 0.0001, 0.0001, 1e-09, 5.03, 5.01, 66, 66, 2116, 66, 66},
    {"medakzo", 1e-07, 1e-07, 1e-12, 7.79, 7.78, 104, 104, 4760, 104, 104},
    {"plei", 0.0001, 0.0001, 1e-06, 1.54, 0.97, 85, 69, 2751, 69, 85},
    {"plei", 1e-07, 1e-07, 1e-09, 4.81, 4.57, 122, 104, 5163, 104, 122},
    {"plei", 1e-10, 1e-10, 1e-12, 7.65, 7.3, 183, 177, 7927, 173, 183},
    {"beam", 0.0001, 0.0001, 0.0001, 3.58, 3.59, 49, 49, 1715, 49, 49},
    {"beam", 1e-07, 1e-07, 1e-07, 5.49, 6.28, 459, 458, 21156, 458, 459},
    {"vdpol-mu", 0.0001, 0.0001, 1e-06, 4.86, 4.3, 129, 90, 5133, 91, 129},
    {"vdpol-mu", 1e-07, 1e-07, 1e-09, 7.55, 6.71, 173, 137, 9422, 141, 173},
    {"vdpol-mu", 1e-10, 1e-10, 1e-12, 9.53, 9.17, 235, 197, 16067, 201, 235},
    {"vdpol-eps", 0.0001, 0.0001, 1e-06, 5.4, 5.08, 148, 105, 6999, 105, 148},
    {"vdpol-eps", 1e-07, 1e-07, 1e-09, 6.52, 6.19, 163, 133, 12727, 131, 163},
    {"vdpol-eps", 1e-10, 1e-10, 1e-12, 10.16, 9.84, 244, 216, 18095, 215, 244},
    {"orego", 0.0001, 0.0001, 1e-06, 3.61, 3.61, 219, 162, 8510, 163, 219},
    {"orego", 1e-07, 1e-07, 1e-09, 6.9, 6.89, 251, 205, 16050, 208, 251},
    {"orego", 1e-10, 1e-10, 1e-12, 9.5, 9.5, 291, 268, 22034, 270, 291},
    {"rober", 0.0001, 1e-08, 1e-06, 6.27, 2.59, 62, 62, 2165, 62, 62},
    {"rober", 1e-07, 1e-11, 1e-09, 9.94, 6.05, 93, 91, 4883, 89, 92},
    {"rober", 1e-10, 1e-14, 1e-12, 12.41, 8.73, 169, 169, 9427, 166, 169},
    {"e5", 0.0001, 1.7e-24, 1e-06, 5.52, NAN, 103, 101, 4977, 99, 103},
    {"e5", 1e-07, 1.7e-24, 1e-09, 8.19, NAN, 125, 125, 9167, 122, 125},
    {"e5", 1e-10, 1.7e-24, 1e-12, 11.13, NAN, 154, 154, 13497, 154, 154},
    {"chemakzo", 1e-10, 1e-10, 1e-10, 11.89, 9.82, 35, 35, 1737, 35, 35},
    {"andrews", 0.0001, 0.0001, 0.0001, 0.35, 2.82, 82, 58, 2281, 58, 82},
    {"andrews", 1e-07, 1e-07, 1e-07, 1.53, 4.54, 128, 116, 5176, 116, 128},
    {"transamp", 0.0001, 0.0001, 1e-06, 6.3, 5.83, 373, 276, 17204, 276, 373},
    {"transamp", 1e-07, 1e-07, 1e-09, 8.58, 7.37, 374, 325, 34320, 326, 374},
    {"pump", 0.1, 0.1, 1e-07, 2.11, 1.51, 320, 200, 3735, 200, 320},
    {"pump", 0.001, 0.001, 1e-09, 2.85, 2.69, 350, 220, 4786, 220, 350},
    {"pump", 1e-05, 1e-05, 1e-11, 4.78, 5.12, 620, 370, 14890, 320, 570},
    {"pump", 1e-07, 1e-07, 1e-13, 4.94, 4.75, 870, 510, 22340, 410, 770},
    {"caraxis", 0.0001, 0.0001, 0.0001, 1.98, 0.39, 39, 39, 2169, 39, 39},
    {"caraxis", 1e-07, 1e-07, 1e-07, 4.82, 2.64, 98, 98, 7167, 98, 98},
    {"caraxis", 1e-10, 1e-10, 1e-10, 6.5, 3.84, 179, 179, 18771, 179, 179},
    {"fekete", 0.01, 0.01, 0.01, 4.16, 2.99, 26, 24, 526, 24, 26},
    {"fekete", 0.001, 0.001, 0.001, 4.79, 3.78, 26, 26, 947, 26, 26},
    {"fekete", 0.0001, 0.0001, 0.0001, 5.76, 4.45, 38, 38, 1319, 38, 38},
    {"crank", 0.0001, 0.0001, 1e-06, 0.23, 2.28, 60, 60, 1983, 60, 60},
    {"crank", 1e-06, 1e-06, 1e-08, -0.16, 2.83, 534, 527, 25206, 527, 534},
    {"crank", 1e-08, 1e-08, 1e-10, 1.7, 4.69, 650, 650, 46109, 650, 650},
    {"water", 0.0001, 0.0001, 0.0001, 3.51, 1.18, 18, 16, 340, 16, 18},
    {"water", 1e-07, 1e-07, 1e-07, 5.94, 3.4, 233, 202, 8038, 204, 233},
    {"water", 1e-10, 1e-10, 1e-10, 9.32, 7.18, 554, 458, 22918, 448, 536},
};

static void gamd_classic_takes_the_published_counts(void **state)
{
    (void)state;
    block_check_counts("gamd", same_counts, sizeof same_counts / sizeof *same_counts);
}

static void gamd_is_as_good_as_published(void **state)
{
    (void)state;
    block_check_quality("gamd", published, sizeof published / sizeof *published);
}

/* Tolerances from 1e-4 to 1e-10 in index-3 form: no run fails or goes astray. The published strategy does, at
 * 5e-5 with the Jacobian of the test set. */
static void gamd_andrews_keeps_its_constraints_at_all_tolerances(void **state)
{
    (void)state;
    for (int k = 0; k <= 24; k++) {
        block_row row = {.problem = "andrews"};
        dae_stats stats;
        dae_score score;
        row.rtol = row.atol = row.h0 = pow(10, -4 - 0.25 * k);
        if (!block_run("gamd", &row, 0, &stats, &score)) return;
        assert_between(score.scd, -log10(row.rtol) - 4, 16);
        assert_true(stats.steps < 400);
    }
}

/* ---- Orders -------------------------------------------------------------------------------------- */

static const int sub_steps[] = {4, 6, 8, 9};

/* At order 9 the observed order is 10. */
static void gamd_orders_on_a_stiff_problem(void **state)
{
    (void)state;
    block_problem p = block_stiff();
    assert_near(block_order("gamd", &p, 3, 4, 32, 64, 0, 2), 3, 0.3);
    assert_near(block_order("gamd", &p, 5, 6, 32, 64, 0, 2), 5, 0.3);
    assert_near(block_order("gamd", &p, 7, 8, 24, 48, 0, 2), 7, 0.3);
    assert_near(block_order("gamd", &p, 9, 9, 6, 12, 0, 2), 10, 0.3);
}

/* Positions, velocities, multiplier: p, p, p for index 2; p, p, p-1 for index 3. */
static void gamd_orders_on_the_pendulum_of_index_2(void **state)
{
    (void)state;
    block_problem p = block_constrained(2);
    assert_near(block_order("gamd", &p, 3, 4, 32, 64, 0, 2), 3, 0.3);
    assert_near(block_order("gamd", &p, 3, 4, 32, 64, 2, 4), 3, 0.3);
    assert_near(block_order("gamd", &p, 3, 4, 32, 64, 4, 5), 3, 0.3);
    assert_near(block_order("gamd", &p, 5, 6, 16, 32, 0, 2), 5, 0.3);
    assert_near(block_order("gamd", &p, 5, 6, 32, 64, 2, 4), 5, 0.3);
    assert_near(block_order("gamd", &p, 5, 6, 16, 32, 4, 5), 5, 0.3);
    assert_near(block_order("gamd", &p, 7, 8, 8, 16, 2, 4), 7, 0.3);
    assert_between(block_error("gamd", &p, 9, 9, 32, 0, 4), 0, 1e-14);
}

static void gamd_orders_on_the_pendulum_of_index_3(void **state)
{
    (void)state;
    block_problem p = block_constrained(3);
    assert_near(block_order("gamd", &p, 3, 4, 128, 256, 0, 2), 3, 0.3);
    assert_near(block_order("gamd", &p, 3, 4, 32, 64, 2, 4), 3, 0.3);
    assert_near(block_order("gamd", &p, 3, 4, 32, 64, 4, 5), 2, 0.3);
    assert_near(block_order("gamd", &p, 5, 6, 16, 32, 0, 2), 5, 0.3);
    assert_near(block_order("gamd", &p, 5, 6, 16, 32, 2, 4), 5, 0.3);
    assert_near(block_order("gamd", &p, 5, 6, 16, 32, 4, 5), 4, 0.3);
    assert_near(block_order("gamd", &p, 7, 8, 8, 16, 0, 2), 7, 0.3);
}

/* The polynomial through the block: local order p+1, its derivative p. */
static void gamd_dense_output_has_local_order_above_p(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        int p = 2 * k + 3;
        double h = 0.25 / sub_steps[k];
        double rate = log2(block_dense_error("gamd", p, h, 0) / block_dense_error("gamd", p, h / 2, 0));
        assert_between(rate, p + 0.6, p + 2.5);
        rate = log2(block_dense_error("gamd", p, h, 1) / block_dense_error("gamd", p, h / 2, 1));
        assert_between(rate, p - 0.4, p + 1.5);
    }
}

#define CASE(name, call)                  \
    static void gamd_##name(void **state) \
    {                                     \
        (void)state;                      \
        call;                             \
    }
CASE(integrates_backward, block_check_backward("gamd"))
CASE(survives_undefined_evaluations, block_check_undefined("gamd"))
CASE(stops_when_asked, block_check_stop("gamd"))
CASE(keeps_to_h_max_and_meets_the_end, block_check_limits("gamd"))
CASE(takes_tolerances_per_component, block_check_vector_tolerances("gamd"))
CASE(step_allocates_nothing, block_check_allocation("gamd"))
CASE(checkpoint_continues_bit_for_bit, block_check_checkpoint("gamd"))
CASE(mends_inconsistent_initial_values, block_check_inconsistent("gamd"))
CASE(names_a_wrong_order, block_check_orders_option("gamd", "6"))

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gamd_rows_meet_order_conditions),
        cmocka_unit_test(gamd_error_rows_lead_to_the_higher_order),
        cmocka_unit_test(gamd_splitting_damps_stiff_components),
        cmocka_unit_test(gamd_classic_takes_the_published_counts),
        cmocka_unit_test(gamd_is_as_good_as_published),
        cmocka_unit_test(gamd_andrews_keeps_its_constraints_at_all_tolerances),
        cmocka_unit_test(gamd_orders_on_a_stiff_problem),
        cmocka_unit_test(gamd_orders_on_the_pendulum_of_index_2),
        cmocka_unit_test(gamd_orders_on_the_pendulum_of_index_3),
        cmocka_unit_test(gamd_dense_output_has_local_order_above_p),
        cmocka_unit_test(gamd_integrates_backward),
        cmocka_unit_test(gamd_survives_undefined_evaluations),
        cmocka_unit_test(gamd_stops_when_asked),
        cmocka_unit_test(gamd_keeps_to_h_max_and_meets_the_end),
        cmocka_unit_test(gamd_takes_tolerances_per_component),
        cmocka_unit_test(gamd_step_allocates_nothing),
        cmocka_unit_test(gamd_checkpoint_continues_bit_for_bit),
        cmocka_unit_test(gamd_mends_inconsistent_initial_values),
        cmocka_unit_test(gamd_names_a_wrong_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
