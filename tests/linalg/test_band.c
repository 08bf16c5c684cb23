#include "linalg/band.h"

#include "linalg/matrices.h"

/* Puts a full matrix into the band storage; what lies outside the band is set to zero in the full one. */
static void load(const dae_band_lu *b, double *a, double *to)
{
    for (int j = 0; j < b->n; j++) {
        for (int i = 0; i < b->n; i++) {
            if (i - j > b->lower || j - i > b->upper) a[i + j * b->n] = 0;
            else to[b->lower + b->upper + i - j + j * b->ld] = a[i + j * b->n];
        }
    }
}

/* diagonal: factor on the diagonal elements. */
static double scaled_error(int n, int lower, int upper, int is_complex, uint64_t seed, double diagonal)
{
    sequence s = {seed};
    dae_arena *arena = dae_arena_create();
    dae_band_lu f;
    dae_band_init(&f, n, lower, upper, is_complex, arena);
    size_t N = (size_t)n;
    double *re = random_reals(&s, N * N), *im = is_complex ? random_reals(&s, N * N) : NULL;
    for (size_t i = 0; i < N; i++) {
        re[i + i * N] *= diagonal;
        if (is_complex) im[i + i * N] *= diagonal;
    }
    double *b = random_reals(&s, N), *c = is_complex ? random_reals(&s, N) : NULL;
    double *x = reals(N), *y = is_complex ? reals(N) : NULL;
    memcpy(x, b, N * sizeof *x);
    if (is_complex) memcpy(y, c, N * sizeof *y);
    load(&f, re, f.re);
    if (is_complex) load(&f, im, f.im);
    assert_int_equal(dae_band_factor(&f), 0);
    dae_band_solve(&f, x, y);
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

static double solve_error(int n, int lower, int upper, int is_complex, uint64_t seed)
{
    return scaled_error(n, lower, upper, is_complex, seed, 1);
}

/* Diagonals of 1e-14 of their neighbors: a factorization that takes them as pivots loses all digits. */
static void band_pivots_where_the_diagonal_is_small(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        for (int n = 2; n <= 40; n += 2) {
            for (int width = 1; width < n && width <= 9; width++) {
                assert_between(scaled_error(n, width, width, is_complex, 11, 1e-14), 0, n);
                if (width > 1) assert_between(scaled_error(n, width, 1, is_complex, 12, 1e-14), 0, n);
            }
        }
    }
}

static void band_solves_every_shape(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        for (int n = 1; n <= 30; n += n < 4 ? 1 : 13) {
            for (int lower = 0; lower < n && lower <= 9; lower++) {
                for (int upper = 0; upper < n && upper <= 9; upper++) {
                    assert_between(solve_error(n, lower, upper, is_complex, 3), 0, n);
                }
            }
        }
    }
}

/* The kernels differ in the width of their vectors only. */
static void band_kernels_agree_to_the_bit(void **state)
{
    (void)state;
    enum { n = 30 };
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        for (int lower = 0; lower < 10; lower++) {
            dae_arena *arena = dae_arena_create();
            dae_band_lu f[2];
            double x[2][n], y[2][n];
            for (int k = 0; k < 2; k++) {
                sequence s = {(uint64_t)lower};
                dae_band_init(&f[k], n, lower, 3, is_complex, arena);
                if (k) dae_band_use_portable(&f[k]);
                double *re = random_reals(&s, n * n), *im = random_reals(&s, n * n);
                load(&f[k], re, f[k].re);
                if (is_complex) load(&f[k], im, f[k].im);
                for (int i = 0; i < n; i++) x[k][i] = y[k][i] = next(&s);
                assert_int_equal(dae_band_factor(&f[k]), 0);
                dae_band_solve(&f[k], x[k], is_complex ? y[k] : NULL);
                free(re);
                free(im);
            }
            assert_memory_equal(f[0].re, f[1].re, (size_t)(f[0].ld * n) * sizeof(double));
            assert_memory_equal(x[0], x[1], sizeof x[0]);
            assert_memory_equal(y[0], y[1], sizeof y[0]);
            dae_arena_destroy(arena);
        }
    }
}

/* -1 2 -1 with a right-hand side of ones: x_i = (i+1)(n-i)/2. */
static void band_real_solves_the_poisson_equation(void **state)
{
    (void)state;
    enum { n = 40 };
    dae_arena *arena = dae_arena_create();
    dae_band_lu b;
    dae_band_init(&b, n, 1, 1, 0, arena);
    double x[n];
    for (int j = 0; j < n; j++) {
        x[j] = 1;
        b.re[2 + j * b.ld] = 2;
        if (j > 0) b.re[1 + j * b.ld] = -1;
        if (j < n - 1) b.re[3 + j * b.ld] = -1;
    }
    assert_int_equal(dae_band_factor(&b), 0);
    dae_band_solve(&b, x, NULL);
    for (int i = 0; i < n; i++) assert_near(x[i], (i + 1) * (n - i) / 2.0, 1e-11);
    dae_arena_destroy(arena);
}

static void band_factor_names_the_zero_pivot(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        dae_arena *arena = dae_arena_create();
        dae_band_lu b;
        dae_band_init(&b, 6, 2, 1, is_complex, arena);
        for (int i = 0; i < 6; i++) b.re[3 + i * b.ld] = i == 3 ? 0 : 2;
        assert_int_equal(dae_band_factor(&b), 4);
        dae_arena_destroy(arena);
    }
}

static void band_factor_reports_what_is_not_finite(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY};
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        for (int k = 0; k < 2; k++) {
            for (int row = 2; row <= 4; row++) {
                dae_arena *arena = dae_arena_create();
                dae_band_lu b;
                dae_band_init(&b, 6, 1, 2, is_complex, arena);
                for (int i = 0; i < 6; i++) b.re[3 + i * b.ld] = 1;
                (is_complex ? b.im : b.re)[row + 3 * b.ld] = bad[k];
                assert_true(dae_band_factor(&b) > 0);
                dae_arena_destroy(arena);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(band_solves_every_shape),
        cmocka_unit_test(band_pivots_where_the_diagonal_is_small),
        cmocka_unit_test(band_kernels_agree_to_the_bit),
        cmocka_unit_test(band_real_solves_the_poisson_equation),
        cmocka_unit_test(band_factor_names_the_zero_pivot),
        cmocka_unit_test(band_factor_reports_what_is_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
