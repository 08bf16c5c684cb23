#include "test.h"

#include "core/matrix.h"

/*     [ 1 4 0 0 ]
 * A = [ 2 5 7 0 ]   in every storage
 *     [ 0 6 8 9 ]
 *     [ 0 0 3 1 ] */
static const double dense[] = {1, 2, 0, 0, 4, 5, 6, 0, 0, 7, 8, 3, 0, 0, 9, 1};
static const double band[] = {-99, 1, 2, 4, 5, 6, 7, 8, 3, 9, 1, -99}; /* -99: outside the matrix, not read */
static const int colptr[] = {0, 2, 5, 8, 10}, rowind[] = {0, 1, 0, 1, 2, 1, 2, 3, 2, 3};
static const double sparse[] = {1, 2, 4, 5, 6, 7, 8, 3, 9, 1};

static dae_matrix in_storage(dae_storage s)
{
    if (s == DAE_DENSE) return dae_dense(4, dense);
    if (s == DAE_BANDED) return dae_banded(4, 1, 1, band);
    if (s == DAE_SPARSE) return dae_sparse(4, colptr, rowind, sparse);
    static const double d[] = {1, 5, 8, 1};
    return dae_diagonal(4, d);
}

static void elements_and_products_agree_in_every_storage(void **state)
{
    (void)state;
    static const double x[] = {1, -2, 3, 5}, Ax[] = {-7, 13, 57, 14}, Dx[] = {1, -10, 24, 5};
    for (int s = DAE_DENSE; s <= DAE_DIAGONAL; s++) {
        dae_matrix A = in_storage((dae_storage)s);
        double y[4] = {NAN, NAN, NAN, NAN};
        dae_matrix_multiply(&A, 4, x, y);
        for (int i = 0; i < 4; i++) assert_near(y[i], s == DAE_DIAGONAL ? Dx[i] : Ax[i], 0);
        for (int i = 0; i < 4; i++) {
            for (int j = 0; j < 4; j++) {
                double expected = s == DAE_DIAGONAL && i != j ? 0 : dense[j * 4 + i];
                assert_near(dae_matrix_get(&A, i, j), expected, 0);
            }
        }
    }
}

static void no_matrix_is_the_identity(void **state)
{
    (void)state;
    dae_matrix I = {0};
    const double x[] = {3, 4, 5};
    double y[3];
    dae_matrix_multiply(&I, 3, x, y);
    assert_memory_equal(x, y, sizeof x);
    assert_near(dae_matrix_get(&I, 2, 2), 1, 0);
    assert_near(dae_matrix_get(&I, 2, 1), 0, 0);
}

static void bands_of_unequal_width_multiply_right(void **state)
{
    (void)state;
    enum { n = 9 };
    for (int lower = 0; lower < 4; lower++) {
        for (int upper = 0; upper < 4; upper++) {
            double a[n * 7], x[n], y[n];
            for (int k = 0; k < (lower + 1 + upper) * n; k++) a[k] = 1 + k % 11;
            for (int i = 0; i < n; i++) x[i] = i - 3.5;
            dae_matrix A = dae_banded(n, lower, upper, a);
            assert_int_equal(dae_pattern_count(&A.pattern, n), (lower + 1 + upper) * n);
            dae_matrix_multiply(&A, n, x, y);
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int j = 0; j < n; j++) sum += dae_matrix_get(&A, i, j) * x[j];
                assert_near(y[i], sum, 1e-12);
            }
        }
    }
}

static void counts_of_stored_values(void **state)
{
    (void)state;
    static const long count[] = {16, 12, 10, 4};
    for (int s = DAE_DENSE; s <= DAE_DIAGONAL; s++) {
        dae_matrix A = in_storage((dae_storage)s);
        assert_int_equal(dae_pattern_count(&A.pattern, 4), count[s]);
    }
    dae_pattern large = {0};
    assert_true(dae_pattern_count(&large, 100000) == 10000000000L);
}

static void copies_are_deep(void **state)
{
    (void)state;
    dae_arena *a = dae_arena_create();
    int cp[] = {0, 1, 2}, ri[] = {1, 0}, ok = 1;
    double v[] = {3, 4};
    dae_matrix M = dae_sparse(2, cp, ri, v), C = dae_matrix_copy(&M, a, &ok);
    v[0] = ri[0] = cp[1] = 0;
    assert_true(ok);
    assert_near(dae_matrix_get(&C, 1, 0), 3, 0);
    assert_near(dae_matrix_get(&C, 0, 1), 4, 0);
    dae_matrix none = {0};
    assert_int_equal(dae_matrix_copy(&none, a, &ok).n, 0);
    dae_arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_and_products_agree_in_every_storage),
        cmocka_unit_test(no_matrix_is_the_identity),
        cmocka_unit_test(bands_of_unequal_width_multiply_right),
        cmocka_unit_test(counts_of_stored_values),
        cmocka_unit_test(copies_are_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
