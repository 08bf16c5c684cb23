/* The replacements for LAPACK (src/linalg/plain) against LAPACK itself and by backward errors. */
#define DAE_PLAIN_LAPACK
#include "linalg/eigenvalues.h"
#include "linalg/lapack.h"
#include "linalg/least_squares.h"
#include "linalg/matrices.h"

#include "linalg/plain/lapack.c"
#include "linalg/plain/symmetric.c"

#define dae_eigenvalues plain_eigenvalues
#define dae_least_squares plain_least_squares
static int plain_eigenvalues(int n, double *a, double *re, double *im);
static int plain_least_squares(int m, int n, double *a, double *b, double rcond);
#define balance plain_balance
#include "linalg/plain/eigenvalues.c"
#include "linalg/plain/least_squares.c"
#undef dae_eigenvalues
#undef dae_least_squares

static double *copy(size_t n, const double *x)
{
    double *y = reals(n);
    memcpy(y, x, n * sizeof *x);
    return y;
}

static void transpose(int n, const double *a, double *b)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) b[j + i * n] = a[i + j * n];
    }
}

static void plain_lu_solves_with_the_matrix_and_its_transpose(void **state)
{
    (void)state;
    sequence s = {7};
    for (int n = 1; n <= 90; n += 11) {
        size_t size = (size_t)n * (size_t)n;
        double *a = random_reals(&s, size), *lu = copy(size, a), *t = reals(size);
        double *b = random_reals(&s, (size_t)n), *x = copy((size_t)n, b);
        int *pivot = calloc((size_t)n, sizeof *pivot), one = 1, info;
        transpose(n, a, t);
        dgetrf_(&n, &n, lu, &n, pivot, &info);
        assert_int_equal(info, 0);
        dgetrs_("N", &n, &one, lu, &n, pivot, x, &n, &info, 1);
        assert_between(backward_error(n, a, NULL, x, NULL, b, NULL), 0, n);
        memcpy(x, b, (size_t)n * sizeof *x);
        dgetrs_("T", &n, &one, lu, &n, pivot, x, &n, &info, 1);
        assert_between(backward_error(n, t, NULL, x, NULL, b, NULL), 0, n);
        free(a), free(lu), free(t), free(b), free(x), free(pivot);
    }
}

/* Zero diagonals force blocks of order 2; a saddle-point matrix has them too. */
static void plain_ldlt_solves_indefinite_matrices(void **state)
{
    (void)state;
    sequence s = {11};
    for (int round = 0; round < 60; round++) {
        int n = 1 + round, zeros = round % 3, one = 1, info;
        size_t size = (size_t)n * (size_t)n;
        double *a = random_reals(&s, size), *t = reals(size), *b = random_reals(&s, (size_t)n);
        transpose(n, a, t);
        for (size_t k = 0; k < size; k++) a[k] += t[k];
        for (int i = 0; n > 1 && i < n; i++) {
            if (zeros == 1 || (zeros == 2 && 2 * i > n)) a[i + i * n] = 0;
        }
        double *f = copy(size, a), *x = copy((size_t)n, b);
        int *pivot = calloc((size_t)n, sizeof *pivot), two = 0;
        dsytrf_("L", &n, f, &n, pivot, NULL, &one, &info, 1);
        assert_int_equal(info, 0);
        for (int i = 0; i < n; i++) two += pivot[i] < 0;
        if (zeros == 1 && n > 1) assert_true(two >= 2);
        dsytrs_("L", &n, &one, f, &n, pivot, x, &n, &info, 1);
        assert_between(backward_error(n, a, NULL, x, NULL, b, NULL), 0, 4 * n);
        free(a), free(t), free(b), free(f), free(x), free(pivot);
    }
    int n = 2, one = 1, info, pivot[2];
    dsytrf_("L", &n, (double[]){0, 0, 0, 0}, &n, pivot, NULL, &one, &info, 1);
    assert_int_equal(info, 1);
}

static void plain_qr_reproduces_the_matrix(void **state)
{
    (void)state;
    sequence s = {13};
    int m = 70, n = 33, info, lwork = 70;
    size_t size = (size_t)m * (size_t)n;
    double *a = random_reals(&s, size), *q = copy(size, a), *tau = reals((size_t)n), *work = reals(70);
    double *c = copy(size, a), *row = reals(size);
    dgeqrf_(&m, &n, q, &m, tau, work, &lwork, &info);
    assert_int_equal(info, 0);
    dormqr_("L", "T", &m, &n, &n, q, &m, tau, c, &m, work, &lwork, &info, 1, 1); /* Q' A = R */
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) assert_near(c[i + j * m], i <= j ? q[i + j * m] : 0, 1e-13);
        for (int i = 0; i < m; i++) row[j + i * n] = a[i + j * m];
    }
    dormqr_("R", "N", &n, &m, &n, q, &m, tau, row, &n, work, &lwork, &info, 1, 1); /* A' Q = R' */
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++) assert_near(row[j + i * n], i <= j ? q[i + j * m] : 0, 1e-13);
    }
    free(a), free(q), free(tau), free(work), free(c), free(row);
}

static void plain_cholesky_refuses_what_is_not_definite(void **state)
{
    (void)state;
    int n = 2, info;
    double a[] = {4, 2, 2, 5}, b[] = {1, 2, 2, 1};
    dpotrf_("L", &n, a, &n, &info, 1);
    assert_int_equal(info, 0);
    assert_near(a[0], 2, 1e-15);
    assert_near(a[1], 1, 1e-15);
    assert_near(a[3], 2, 1e-15);
    dpotrf_("L", &n, b, &n, &info, 1);
    assert_int_equal(info, 2);
}

/* The nearest eigenvalue of the other list, for each; conjugates stand together in both. */
static double spread(int n, const double *re, const double *im, const double *x, const double *y)
{
    double worst = 0;
    for (int i = 0; i < n; i++) {
        double best = INFINITY;
        for (int k = 0; k < n; k++) best = fmin(best, hypot(re[i] - x[k], im[i] - y[k]));
        worst = fmax(worst, best);
    }
    return worst;
}

static void plain_eigenvalues_equal_those_of_lapack(void **state)
{
    (void)state;
    sequence s = {17};
    for (int n = 1; n <= 60; n += n < 8 ? 1 : 13) {
        for (int kind = 0; kind < 3; kind++) {
            size_t size = (size_t)n * (size_t)n;
            double *a = random_reals(&s, size);
            for (int j = 0; j < n; j++) {
                for (int i = 0; i < n; i++) {
                    if (kind == 1) a[i + j * n] *= ldexp(1, i - j);   /* D A D^-1, badly scaled */
                    if (kind == 2) a[i + j * n] = (i == (j + 1) % n); /* roots of unity: needs odd shifts */
                }
            }
            double *b = copy(size, a), *w = reals(4 * (size_t)n);
            assert_int_equal(dae_eigenvalues(n, a, w, w + n), 0);
            assert_int_equal(plain_eigenvalues(n, b, w + 2 * n, w + 3 * n), 0);
            assert_between(spread(n, w, w + n, w + 2 * n, w + 3 * n), 0, 1e-12 * n);
            assert_between(spread(n, w + 2 * n, w + 3 * n, w, w + n), 0, 1e-12 * n);
            for (int i = 0; i < n; i++) { /* exact pairs, the positive one first */
                if (w[3 * n + i] > 0)
                    assert_true(w[3 * n + i + 1] == -w[3 * n + i] && w[2 * n + i] == w[2 * n + i + 1]);
            }
            free(a), free(b), free(w);
        }
    }
    double nan = NAN, re, im;
    assert_int_not_equal(plain_eigenvalues(1, &nan, &re, &im), 0);
}

/* What lies in b behind its m values is no part of the task. */
static void least_squares_of_fewer_rows_than_unknowns(void **state)
{
    (void)state;
    double a[] = {1, 2}, b[] = {5, NAN}, c[] = {1, 2}, d[] = {5, NAN};
    assert_int_equal(dae_least_squares(1, 2, a, b, 1e-10), 1);
    assert_int_equal(plain_least_squares(1, 2, c, d, 1e-10), 1);
    for (int i = 0; i < 2; i++) {
        assert_between(b[i], i + 1 - 1e-14, i + 1 + 1e-14);
        assert_between(d[i], i + 1 - 1e-14, i + 1 + 1e-14);
    }
}

static void plain_least_squares_equal_those_of_lapack(void **state)
{
    (void)state;
    sequence s = {19};
    for (int round = 0; round < 40; round++) {
        int n = 1 + round % 9, m = n + round % 5, rank = round % 4 == 3 && n > 2 ? n - 2 : n;
        size_t size = (size_t)m * (size_t)n;
        double *a = random_reals(&s, size), *b = random_reals(&s, (size_t)m);
        for (int j = rank; j < n; j++) { /* the last columns are sums of the first ones */
            for (int i = 0; i < m; i++) a[i + j * m] = a[i] + (j - rank) * a[i + (rank - 1) * m];
        }
        double *c = copy(size, a), *d = copy((size_t)m, b);
        assert_int_equal(dae_least_squares(m, n, a, b, 1e-10), rank);
        assert_int_equal(plain_least_squares(m, n, c, d, 1e-10), rank);
        assert_between(largest_difference((size_t)n, b, d), 0, 1e-11 * (1 + largest((size_t)n, b)));
        free(a), free(b), free(c), free(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_lu_solves_with_the_matrix_and_its_transpose),
        cmocka_unit_test(plain_ldlt_solves_indefinite_matrices),
        cmocka_unit_test(plain_qr_reproduces_the_matrix),
        cmocka_unit_test(plain_cholesky_refuses_what_is_not_definite),
        cmocka_unit_test(plain_eigenvalues_equal_those_of_lapack),
        cmocka_unit_test(least_squares_of_fewer_rows_than_unknowns),
        cmocka_unit_test(plain_least_squares_equal_those_of_lapack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
