/* Singular values: a known matrix, ranks, A = U S V^T. */
#include "linalg/svd.h"
#include "test.h"

enum { M = 7, N = 5 };

static void svd_gives_back_the_matrix(void **state)
{
    double a[M * N], u[M * N], v[N * N], s[N];
    (void)state;
    for (int i = 0; i < M * N; i++) u[i] = a[i] = sin(1 + 3.7 * i) * pow(10, -i % 4);
    assert_int_equal(dae_svd(M, N, u, s, v), 0);
    for (int j = 0; j < N; j++) {
        if (j > 0) assert_true(s[j] <= s[j - 1]);
        for (int k = 0; k < N; k++) {
            double uu = 0, vv = 0;
            for (int i = 0; i < M; i++) uu += u[j * M + i] * u[k * M + i];
            for (int i = 0; i < N; i++) vv += v[j * N + i] * v[k * N + i];
            assert_near(uu, j == k, 1e-14);
            assert_near(vv, j == k, 1e-14);
        }
        for (int i = 0; i < M; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++) sum += u[k * M + i] * s[k] * v[k * N + j];
            assert_near(sum, a[j * M + i], 1e-15);
        }
    }
}

/* Hilbert's matrix of order 6: its smallest singular value from 30-digit arithmetic. */
static void svd_of_hilberts_matrix(void **state)
{
    double a[36], s[6];
    (void)state;
    for (int i = 0; i < 36; i++) a[i] = 1.0 / (i / 6 + i % 6 + 1);
    dae_svd(6, 6, a, s, NULL);
    assert_near(s[0], 1.6188998589243391, 1e-15);
    assert_near(s[5], 1.0827994845655498e-7, 1e-17 * 10);
}

static void svd_of_a_rank_two_matrix(void **state)
{
    double a[] = {1, 2, 3, 2, 4, 6, 0, 1, 1}, s[3], v[9];
    (void)state;
    dae_svd(3, 3, a, s, v);
    assert_true(s[1] > 0.1);
    assert_true(s[2] < 1e-15);
    assert_near(fabs(v[6] / v[7]), 2, 1e-14); /* null vector (2, -1, 0) */
    assert_near(v[8], 0, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svd_gives_back_the_matrix),
        cmocka_unit_test(svd_of_hilberts_matrix),
        cmocka_unit_test(svd_of_a_rank_two_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
