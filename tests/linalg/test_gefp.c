/* Gaussian elimination with full pivoting: the worked examples of the lecture notes, in all their digits. */
#include <daedalus/gefp.h>

#include "test.h"

static void assert_order(const int *got, const int *want, int n) /* want counts from 1 */
{
    for (int i = 0; i < n; i++) assert_int_equal(got[i] + 1, want[i]);
}

static void gefp_solves_the_3x3_example(void **state)
{
    double A[9] = {4, 1, 2, 2, 3, 1, -2, 4, 5}, b[3] = {6, -1, 2}, pivot[3], x[3];
    int rows[3], cols[3];
    (void)state;
    assert_int_equal(dae_gefp(3, 3, A, b, 0, rows, cols, pivot), 3);
    assert_order(cols, (int[]){3, 1, 2}, 3);
    assert_order(rows, (int[]){3, 1, 2}, 3);
    const double pivots[3] = {5, 4.8, 2.5}, U[9] = {1, 0, 0, 0.4, 1, 0, 0.2, 0.5, 1},
                 right[3] = {0.4, 1.416667, -0.7};
    for (int i = 0; i < 3; i++) {
        assert_near(pivot[i], pivots[i], 1e-14);
        assert_near(b[i], right[i], 5e-7);
    }
    for (int i = 0; i < 9; i++) assert_near(A[i], U[i], 1e-15);
    dae_gefp_solve(3, 3, 3, A, b, cols, x);
    const double solution[3] = {1.766667, -0.7, -0.166667};
    for (int i = 0; i < 3; i++) assert_near(x[i], solution[i], 5e-7);
}

/* ---- The web cutter at 85.5 degrees ------------------------------------------------------------------------- */

static const double cutter[9][9] = {
    {1, 0, 1.9938, 0, 0, 0, 0, 0, 0},
    {0, 1, -0.1569, 0, 0, 0, 0, 0, 0},
    {-1, 0, 1.9938, 1, 0, 8.6477, 0, 0, 0},
    {0, -1, -0.1569, 0, 1, -6.4024, 0, 0, 0},
    {0, 0, 0, -1, 0, 4.3622, 1, 0, -7.8080},
    {0, 0, 0, 0, -1, 0.6374, 0, 1, -7.0912},
    {0, 0, 0, 0, 0, 0, 1, 0, 11.2196},
    {0, 0, 0, 0, 0, 0, 0, 1, 0.0400},
    {0, 0, 1, 0, 0, 0, 0, 0, 0} /* the driver */
};
static const double cutter_gamma[9] = {-6.1949, -78.7134, -13.4946, -88.5732, -1.7142,
                                       -2.2860, 0.0138,   -3.8620,  0};

/* The first m rows of the Jacobian, column-major. */
static void cutter_get(int m, double *A, double *b)
{
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < 9; j++) A[i + m * j] = cutter[i][j];
        b[i] = cutter_gamma[i];
    }
}

static const double cutter_pivots[9] = {11.2196,   8.6477,   1.9938,   1.695925, -1.402023,
                                        -1.163029, 1.001301, 0.951802, -0.397135};
static const struct {
    int row, col; /* from 1 */
    double value;
} cutter_U[] = {{1, 4, .089130},  {2, 3, .230558},  {2, 5, -.115638}, {2, 9, .115638},
                {3, 5, .501555},  {4, 5, .594879},  {4, 9, -.887088}, {5, 6, -.713255},
                {5, 8, .713255},  {5, 9, -.528064}, {6, 7, -.859824}, {6, 8, -.140176},
                {6, 9, -.314923}, {7, 8, -.001299}, {7, 9, -.001564}, {8, 9, .062311}};
static const double cutter_right[9] = {0.001230,   -1.560484, -3.107082,  1.166105,   67.377687,
                                       -11.112602, -3.978805, -87.925198, -147.836989};

/* Every element of U above the diagonal is listed or zero. */
static void assert_cutter_U(int m, const double *U, const double *b, const double *pivot)
{
    for (int j = 1; j <= 9; j++) {
        for (int i = 1; i <= m; i++) {
            double want = i == j;
            for (size_t k = 0; k < sizeof cutter_U / sizeof *cutter_U; k++) {
                if (cutter_U[k].row == i && cutter_U[k].col == j) want = cutter_U[k].value;
            }
            assert_near(U[i - 1 + m * (j - 1)], want, 6e-7);
        }
    }
    for (int i = 0; i < m; i++) {
        assert_near(b[i], cutter_right[i], 6e-7);
        assert_near(pivot[i], cutter_pivots[i], 6e-7);
    }
}

static void gefp_reproduces_the_kinematic_web_cutter(void **state)
{
    double A[81], b[9], pivot[9], x[9];
    int rows[9], cols[9];
    (void)state;
    cutter_get(9, A, b);
    assert_int_equal(dae_gefp(9, 9, A, b, 0, rows, cols, pivot), 9);
    assert_order(cols, (int[]){9, 6, 3, 7, 1, 5, 8, 2, 4}, 9);
    assert_order(rows, (int[]){7, 3, 1, 5, 4, 6, 8, 2, 9}, 9);
    assert_cutter_U(9, A, b, pivot);
    dae_gefp_solve(9, 9, 9, A, b, cols, x);
    const double want[9] = {-6.1949,   -78.7134,    0,         -147.836989, -72.411491,
                            14.818679, -126.293101, -4.312308, 11.257701};
    for (int i = 0; i < 9; i++) assert_near(x[i], want[i], 6e-7);
}

/* Singular values by one-sided Jacobi rotations: the condition of the columns of the cutter but one. */
static double condition_without(int left_out)
{
    double a[8][8], lo = INFINITY, hi = 0;
    for (int j = 0, c = 0; j < 9; j++) {
        if (j == left_out) continue;
        for (int i = 0; i < 8; i++) a[c][i] = cutter[i][j];
        c++;
    }
    for (int sweep = 0; sweep < 40; sweep++) {
        for (int p = 0; p < 8; p++) {
            for (int q = p + 1; q < 8; q++) {
                double pp = 0, qq = 0, pq = 0;
                for (int i = 0; i < 8; i++)
                    pp += a[p][i] * a[p][i], qq += a[q][i] * a[q][i], pq += a[p][i] * a[q][i];
                double angle = 0.5 * atan2(2 * pq, pp - qq), c = cos(angle), s = sin(angle);
                for (int i = 0; i < 8; i++) {
                    double x = c * a[p][i] + s * a[q][i];
                    a[q][i] = c * a[q][i] - s * a[p][i];
                    a[p][i] = x;
                }
            }
        }
    }
    for (int p = 0; p < 8; p++) {
        double norm = 0;
        for (int i = 0; i < 8; i++) norm += a[p][i] * a[p][i];
        lo = fmin(lo, sqrt(norm));
        hi = fmax(hi, sqrt(norm));
    }
    return hi / lo;
}

/* Without the driver coordinate 4 becomes the independent one. A routine that does not search the last row keeps the
 * column that stands there, coordinate 2 would become independent: its numbers follow from ours. */
static void gefp_searches_the_last_row_too(void **state)
{
    double A[72], b[8], pivot[8], x[9] = {0}, influence = 0;
    int rows[8], cols[9];
    (void)state;
    cutter_get(8, A, b);
    assert_int_equal(dae_gefp(8, 9, A, b, 0, rows, cols, pivot), 8);
    assert_order(cols, (int[]){9, 6, 3, 7, 1, 5, 8, 2, 4}, 9);
    assert_order(rows, (int[]){7, 3, 1, 5, 4, 6, 8, 2}, 8);
    assert_cutter_U(8, A, b, pivot);
    double last = A[7 + 8 * 8];
    assert_near(pivot[7] * last, 0.0593, 5e-5);
    assert_near(1 / last, 16.048657, 2e-6);
    assert_near(b[7] / last, -1411.081329, 1e-4);
    x[3] = 1;
    dae_gefp_solve(8, 8, 9, A, NULL, cols, x);
    for (int i = 0; i < 9; i++) influence = fmax(influence, i == 3 ? 0 : fabs(x[i]));
    assert_near(influence, 0.79, 5e-3);
    double other = 0;
    for (int i = 0; i < 9; i++) other = fmax(other, i == 1 ? 0 : fabs(x[i] / x[1]));
    assert_near(other, 16.0, 0.05);
    assert_near(condition_without(3), 34, 0.5);
    assert_near(condition_without(1), 380, 5);
    assert_near(condition_without(7), 15300, 50);
    for (int j = 0; j < 9; j++) assert_true(condition_without(j) >= condition_without(3));
}

/* The routine as the notes print it: the last row is only divided, so that coordinate 2 becomes the independent one. */
static void gefp_printed_gives_the_result_of_the_notes(void **state)
{
    double A[72], b[8], pivot[8];
    int rows[8], cols[9];
    (void)state;
    cutter_get(8, A, b);
    assert_int_equal(dae_gefp_printed(8, 9, A, b, 0, rows, cols, pivot), 8);
    assert_order(cols, (int[]){9, 6, 3, 7, 1, 5, 8, 4, 2}, 9);
    assert_near(pivot[7], 0.0593, 5e-5);
    assert_near(A[7 + 8 * 8], 16.048657, 2e-6);
    assert_near(b[7], -1411.081329, 1e-4);
}

/* ---- Rank, ties, bad values ------------------------------------------------------------------------------------ */

static void gefp_names_redundant_rows(void **state)
{
    /* row 3 = row 1 + row 2 */
    double A[12] = {1, 0, 1, 2, 1, 3, 0, 3, 3, 1, -1, 0}, b[3] = {1, 2, 3};
    double B[12], c[3] = {1, 2, 4};
    int rows[3], cols[4];
    (void)state;
    memcpy(B, A, sizeof A);
    assert_int_equal(dae_gefp(3, 4, A, b, 0, rows, cols, NULL), 2);
    assert_near(b[2], 0, 1e-15);
    assert_int_equal(dae_gefp(3, 4, B, c, 0, rows, cols, NULL), 2);
    assert_true(fabs(c[2]) > 0.3); /* contradicts the others */
    double x[4] = {0};
    x[cols[2]] = 0.5;
    x[cols[3]] = -2;
    dae_gefp_solve(2, 3, 4, A, b, cols, x);
    assert_near(x[0] + 2 * x[1] + x[3], 1, 1e-14);
    assert_near(x[1] + 3 * x[2] - x[3], 2, 1e-14);
}

static void gefp_breaks_ties_by_column_then_row(void **state)
{
    double A[6] = {-2, 2, 2, 1, 2, 2};
    int rows[2], cols[3];
    (void)state;
    assert_int_equal(dae_gefp(2, 3, A, NULL, 0, rows, cols, NULL), 2);
    assert_int_equal(cols[0], 0);
    assert_int_equal(rows[0], 0);
}

static void gefp_refuses_what_it_cannot_do(void **state)
{
    double A[6] = {1, NAN, 0, 1, 0, 0}, zero[4] = {0};
    int rows[3], cols[3];
    (void)state;
    assert_int_equal(dae_gefp(3, 2, A, NULL, 0, rows, cols, NULL), -1);
    assert_int_equal(dae_gefp(2, 3, A, NULL, 0, rows, cols, NULL), 0);
    assert_int_equal(dae_gefp(2, 2, zero, NULL, 0, rows, cols, NULL), 0);
    assert_int_equal(dae_gefp(0, 3, NULL, NULL, 0, NULL, cols, NULL), 0);
    assert_int_equal(cols[2], 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gefp_solves_the_3x3_example),
        cmocka_unit_test(gefp_reproduces_the_kinematic_web_cutter),
        cmocka_unit_test(gefp_searches_the_last_row_too),
        cmocka_unit_test(gefp_printed_gives_the_result_of_the_notes),
        cmocka_unit_test(gefp_names_redundant_rows),
        cmocka_unit_test(gefp_breaks_ties_by_column_then_row),
        cmocka_unit_test(gefp_refuses_what_it_cannot_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
