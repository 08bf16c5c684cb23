#include "linalg/dense.h"

#include "linalg/matrices.h"

/* A random matrix; density < 1 leaves elements out (the diagonal stays). */
static double *random_matrix(sequence *s, int n, double density)
{
    double *a = random_reals(s, (size_t)n * (size_t)n);
    for (int k = 0; k < n * n; k++) {
        if (k % (n + 1) != 0 && fabs(next(s)) > density) a[k] = 0;
    }
    return a;
}

static void load(const dae_dense_lu *d, const double *a, double *to)
{
    for (int j = 0; j < d->n; j++) memcpy(to + j * d->ld, a + j * d->n, (size_t)d->n * sizeof *a);
}

/* Solves with a matrix given full and returns the backward error. */
static double scaled_error(int n, int is_complex, dae_dense_kernel kernel, double density, uint64_t seed,
                           double diagonal)
{
    sequence s = {seed};
    dae_arena *arena = dae_arena_create();
    dae_dense_lu d;
    dae_dense_init_with(&d, n, is_complex, kernel, arena);
    double *re = random_matrix(&s, n, density), *im = is_complex ? random_matrix(&s, n, density) : NULL;
    for (int i = 0; i < n; i++) {
        re[i + i * n] *= diagonal;
        if (is_complex) im[i + i * n] *= diagonal;
    }
    double *b = random_reals(&s, (size_t)n), *c = is_complex ? random_reals(&s, (size_t)n) : NULL;
    double *x = reals((size_t)n), *y = is_complex ? reals((size_t)n) : NULL;
    memcpy(x, b, (size_t)n * sizeof *x);
    if (is_complex) memcpy(y, c, (size_t)n * sizeof *y);
    load(&d, re, d.re);
    if (is_complex) load(&d, im, d.im);
    assert_int_equal(dae_dense_factor(&d), 0);
    dae_dense_solve(&d, x, y);
    double e = backward_error(n, re, im, x, y, b, c);
    free(re);
    free(im);
    free(b);
    free(c);
    free(x);
    free(y);
    dae_arena_destroy(arena);
    return e;
}

static double solve_error(int n, int is_complex, dae_dense_kernel kernel, double density, uint64_t seed)
{
    return scaled_error(n, is_complex, kernel, density, seed, 1);
}

/* Diagonals of 1e-14 of their neighbors: a factorization that takes them as pivots loses all digits. */
static void dense_pivots_where_the_diagonal_is_small(void **state)
{
    (void)state;
    for (int n = 2; n <= 40; n++) {
        for (int is_complex = 0; is_complex < 2; is_complex++) {
            assert_between(scaled_error(n, is_complex, DAE_DENSE_OWN, 1, 17, 1e-14), 0, n);
            assert_between(scaled_error(n, is_complex, DAE_DENSE_LAPACK, 1, 17, 1e-14), 0, n);
        }
    }
}

static void dense_real_solves_every_size(void **state)
{
    (void)state;
    for (int n = 1; n <= 70; n++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            assert_between(solve_error(n, 0, DAE_DENSE_OWN, 1, seed), 0, n);
            assert_between(solve_error(n, 0, DAE_DENSE_OWN, 0.3, seed), 0, n);
        }
    }
}

static void dense_complex_solves_every_size(void **state)
{
    (void)state;
    for (int n = 1; n <= 70; n++) {
        for (uint64_t seed = 1; seed <= 3; seed++) {
            assert_between(solve_error(n, 1, DAE_DENSE_OWN, 1, seed), 0, n);
            assert_between(solve_error(n, 1, DAE_DENSE_OWN, 0.3, seed), 0, n);
        }
    }
}

static void dense_lapack_solves(void **state)
{
    (void)state;
    for (int n = 1; n <= 40; n += 3) {
        assert_between(solve_error(n, 0, DAE_DENSE_LAPACK, 1, 5), 0, n);
        assert_between(solve_error(n, 1, DAE_DENSE_LAPACK, 1, 5), 0, n);
    }
}

static void assert_same(int n, const double *a, const double *b)
{
    for (int i = 0; i < n; i++) assert_true(a[i] == b[i]);
}

/* The kernels differ in the width of their vectors only, those of fixed size also in the sign of zeros. */
static void dense_kernels_agree_to_the_bit(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        for (int n = 1; n <= 40; n++) {
            dae_arena *arena = dae_arena_create();
            dae_dense_lu d[2];
            double x[2][40], y[2][40];
            for (int k = 0; k < 2; k++) {
                sequence s = {(uint64_t)n};
                dae_dense_init_with(&d[k], n, is_complex, k ? DAE_DENSE_PORTABLE : DAE_DENSE_OWN, arena);
                double *re = random_matrix(&s, n, 0.7), *im = random_matrix(&s, n, 0.7);
                load(&d[k], re, d[k].re);
                if (is_complex) load(&d[k], im, d[k].im);
                for (int i = 0; i < 40; i++) x[k][i] = y[k][i] = next(&s);
                assert_int_equal(dae_dense_factor(&d[k]), 0);
                dae_dense_solve(&d[k], x[k], is_complex ? y[k] : NULL);
                free(re);
                free(im);
            }
            assert_same(d[0].ld * n, d[0].re, d[1].re);
            if (is_complex) assert_same(d[0].ld * n, d[0].im, d[1].im);
            assert_same(n, x[0], x[1]);
            assert_same(n, y[0], y[1]);
            dae_arena_destroy(arena);
        }
    }
}

static void dense_init_takes_lapack_above_the_cross_over(void **state)
{
    (void)state;
    dae_arena *arena = dae_arena_create();
    dae_dense_lu d;
    dae_dense_init(&d, DAE_DENSE_OWN_REAL, 0, arena);
    assert_int_equal(d.lapack, 0);
    dae_dense_init(&d, DAE_DENSE_OWN_REAL + 1, 0, arena);
    assert_int_equal(d.lapack, 1);
    dae_dense_init(&d, DAE_DENSE_OWN_COMPLEX + 1, 1, arena);
    assert_int_equal(d.lapack, 1);
    dae_arena_destroy(arena);
}

/* 2x2 with a zero first pivot, by hand: [0 2; 4 6] x = (2, 14) -> (2, 1). */
static void dense_real_interchanges_rows(void **state)
{
    (void)state;
    dae_arena *arena = dae_arena_create();
    dae_dense_lu d;
    dae_dense_init(&d, 2, 0, arena);
    load(&d, (double[]){0, 4, 2, 6}, d.re);
    double x[] = {2, 14};
    assert_int_equal(dae_dense_factor(&d), 0);
    dae_dense_solve(&d, x, NULL);
    assert_near(x[0], 2, 1e-15);
    assert_near(x[1], 1, 1e-15);
    dae_arena_destroy(arena);
}

/* (1+i) x = 2 -> 1 - i; and elements near the ends of the range. */
static void dense_complex_divides_without_overflow(void **state)
{
    (void)state;
    const double scale[] = {1, 1e-200, 1e200};
    for (int k = 0; k < 3; k++) {
        dae_arena *arena = dae_arena_create();
        dae_dense_lu d;
        dae_dense_init(&d, 1, 1, arena);
        d.re[0] = d.im[0] = scale[k];
        double x = 2 * scale[k], y = 0;
        assert_int_equal(dae_dense_factor(&d), 0);
        dae_dense_solve(&d, &x, &y);
        assert_near(x, 1, 1e-15);
        assert_near(y, -1, 1e-15);
        dae_arena_destroy(arena);
    }
}

/* Rank n-1 exactly: the last row is zero, or two columns are equal. */
static void dense_factor_names_the_zero_pivot(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        for (int lapack = 0; lapack < 2; lapack++) {
            dae_arena *arena = dae_arena_create();
            dae_dense_lu d;
            dae_dense_init_with(&d, 6, is_complex, lapack ? DAE_DENSE_LAPACK : DAE_DENSE_OWN, arena);
            for (int i = 0; i < 6; i++) d.re[i + i * d.ld] = i == 3 ? 0 : 2;
            assert_int_equal(dae_dense_factor(&d), 4);
            for (int k = 0; k < d.ld * d.ld; k++) d.re[k] = 0;
            assert_int_equal(dae_dense_factor(&d), 1);
            dae_arena_destroy(arena);
        }
    }
}

static void dense_factor_reports_what_is_not_finite(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        for (int at = 0; at < 25; at++) {
            for (int k = 0; k < 3; k++) {
                for (int part = 0; part <= is_complex; part++) {
                    dae_arena *arena = dae_arena_create();
                    dae_dense_lu d;
                    dae_dense_init(&d, 5, is_complex, arena);
                    for (int i = 0; i < 5; i++) d.re[i + i * d.ld] = 1;
                    (part ? d.im : d.re)[at % 5 + at / 5 * d.ld] = bad[k];
                    assert_true(dae_dense_factor(&d) > 0);
                    dae_arena_destroy(arena);
                }
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_pivots_where_the_diagonal_is_small),
        cmocka_unit_test(dense_real_solves_every_size),
        cmocka_unit_test(dense_complex_solves_every_size),
        cmocka_unit_test(dense_lapack_solves),
        cmocka_unit_test(dense_kernels_agree_to_the_bit),
        cmocka_unit_test(dense_init_takes_lapack_above_the_cross_over),
        cmocka_unit_test(dense_real_interchanges_rows),
        cmocka_unit_test(dense_complex_divides_without_overflow),
        cmocka_unit_test(dense_factor_names_the_zero_pivot),
        cmocka_unit_test(dense_factor_reports_what_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
