#include "linalg/shifted.h"

#include "core/matrix.h"
#include "linalg/matrices.h"

/* A matrix in some storage with its full copy. */
typedef struct stored {
    dae_matrix view; /* n = 0: identity */
    double *full, *value;
    int *colptr, *rowind;
} stored;

static void free_stored(stored *m)
{
    free(m->full);
    free(m->value);
    free(m->colptr);
    free(m->rowind);
}

/* Takes full over and stores its nonzeros (for a band: lower and upper as given, the rest becomes zero). */
static stored store(int n, double *full, dae_storage storage, int lower, int upper)
{
    stored m = {.full = full};
    int ld = lower + 1 + upper, count = 0;
    m.view = (dae_matrix){.n = n, .pattern = {.storage = storage}};
    m.value = reals((size_t)n * (size_t)(n > ld ? n : ld));
    m.view.a = m.value;
    if (storage == DAE_SPARSE) {
        m.colptr = calloc((size_t)n + 1, sizeof(int));
        m.rowind = calloc((size_t)n * (size_t)n, sizeof(int));
        assert_true(m.colptr && m.rowind);
        m.view.pattern.colptr = m.colptr;
        m.view.pattern.rowind = m.rowind;
    }
    if (storage == DAE_BANDED) {
        m.view.pattern.lower = lower;
        m.view.pattern.upper = upper;
        for (int k = 0; k < n * ld; k++) m.value[k] = NAN; /* the corners must not be read */
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double *a = full + i + j * n;
            if (storage == DAE_DENSE) {
                m.value[i + j * n] = *a;
            } else if (storage == DAE_DIAGONAL) {
                if (i == j) m.value[i] = *a;
                else *a = 0;
            } else if (storage == DAE_BANDED) {
                if (i - j <= lower && j - i <= upper) m.value[upper + i - j + j * ld] = *a;
                else *a = 0;
            } else if (*a != 0) {
                m.rowind[count] = i;
                m.value[count++] = *a;
                m.colptr[j + 1] = count;
            }
        }
        if (m.colptr && m.colptr[j + 1] < m.colptr[j]) m.colptr[j + 1] = m.colptr[j];
    }
    return m;
}

static double *random_full(sequence *s, int n, double density)
{
    double *a = random_reals(s, (size_t)n * (size_t)n);
    for (int k = 0; k < n * n; k++) {
        if (k % (n + 1) != 0 && fabs(next(s)) > density) a[k] = 0;
    }
    return a;
}

static stored random_stored(sequence *s, int n, dae_storage storage, int lower, int upper)
{
    return store(n, random_full(s, n, storage == DAE_SPARSE ? 0.1 : 1), storage, lower, upper);
}

static stored identity(int n)
{
    stored m = {.full = reals((size_t)n * (size_t)n)};
    for (int i = 0; i < n; i++) m.full[i + i * n] = 1;
    return m;
}

/* Solves (re + i im) M - J with the solver and returns the backward error against the full matrices. */
static double solve_error(dae_shifted *f, int n, const stored *J, const stored *M, double re, double im,
                          int is_complex, sequence *s)
{
    size_t N = (size_t)n;
    double *ar = reals(N * N), *ai = reals(N * N);
    double *b = random_reals(s, N), *c = random_reals(s, N), *x = reals(N), *y = reals(N), e;
    for (size_t k = 0; k < N * N; k++) {
        ar[k] = re * M->full[k] - J->full[k];
        ai[k] = im * M->full[k];
    }
    memcpy(x, b, N * sizeof *x);
    memcpy(y, c, N * sizeof *y);
    assert_int_equal(dae_shifted_factor(f, re, im, J->value), 0);
    if (is_complex) {
        dae_shifted_solve_complex(f, x, y);
        e = backward_error(n, ar, ai, x, y, b, c);
    } else {
        dae_shifted_solve(f, x);
        e = backward_error(n, ar, NULL, x, NULL, b, NULL);
    }
    free(ar);
    free(ai);
    free(b);
    free(c);
    free(x);
    free(y);
    return e;
}

/* Every storage of J with every storage of M, real and complex, kept and chosen storage, two factorizations
 * each. */
static void shifted_solves_every_combination(void **state)
{
    (void)state;
    const dae_storage storage[] = {DAE_DENSE, DAE_BANDED, DAE_SPARSE, DAE_DIAGONAL};
    const int size[] = {7, 31};
    for (int bits = 0; bits < 8; bits++) {
        int is_complex = bits & 1, keep = bits >> 1 & 1, n = size[bits >> 2 & 1];
        for (int j = 0; j < 3; j++) {
            for (int m = 0; m < 5; m++) {
                sequence s = {(uint64_t)(100 * bits + 10 * j + m)};
                stored J = random_stored(&s, n, storage[j], 2, 1);
                stored M = m == 4 ? identity(n) : random_stored(&s, n, storage[m], 3, 2);
                dae_arena *arena = dae_arena_create();
                dae_shifted_spec spec = {.n = n,
                                         .jacobian = J.view.pattern,
                                         .mass = M.view,
                                         .complex_shift = is_complex,
                                         .keep_storage = keep};
                dae_error err;
                dae_shifted *f = dae_shifted_create(&spec, arena, &err);
                assert_non_null(f);
                for (int turn = 1; turn <= 2; turn++) {
                    double e = solve_error(f, n, &J, &M, 3.0 * turn, 2.0, is_complex, &s);
                    /* sparse pivots are kept from the first turn: their growth may cost some digits */
                    assert_between(e, 0, storage[j] == DAE_SPARSE ? 1000 : n);
                }
                dae_shifted_destroy(f);
                dae_arena_destroy(arena);
                free_stored(&J);
                free_stored(&M);
            }
        }
    }
}

/* The system of y' = (v, ...) solved reduced and unreduced. */
static void compare_second_order(int n, int m, dae_storage storage, dae_storage mass, int is_complex,
                                 int keep)
{
    sequence s = {(uint64_t)(n + m)};
    size_t N = (size_t)n;
    double *a = random_full(&s, n, storage == DAE_SPARSE ? 0.2 : 1);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++) a[i + j * n] = j == m + i;
    }
    stored J = store(n, a, storage, n - 1, n - 1), M = identity(n);
    if (mass != DAE_DENSE || is_complex) { /* else the identity */
        for (int i = m; i < n; i++) {
            for (int j = m; j < n; j++)
                M.full[i + j * n] = (i == j) * 2 + 0.1 * next(&s) * (mass != DAE_DIAGONAL);
        }
        double *full = M.full;
        M = store(n, full, mass, 2, 2);
    }
    double *b = random_reals(&s, N), *c = random_reals(&s, N), *x[2], *y[2];
    for (int k = 0; k < 2; k++) {
        x[k] = reals(N);
        y[k] = reals(N);
        memcpy(x[k], b, N * sizeof *b);
        memcpy(y[k], c, N * sizeof *c);
        dae_arena *arena = dae_arena_create();
        dae_shifted_spec spec = {.n = n,
                                 .jacobian = J.view.pattern,
                                 .mass = M.view,
                                 .complex_shift = is_complex,
                                 .second_order = k ? m : 0,
                                 .keep_storage = keep};
        dae_error err;
        dae_shifted *f = dae_shifted_create(&spec, arena, &err);
        assert_non_null(f);
        assert_int_equal(dae_shifted_factor(f, 40, 30, J.value), 0);
        if (is_complex) dae_shifted_solve_complex(f, x[k], y[k]);
        else dae_shifted_solve(f, x[k]);
        dae_shifted_destroy(f);
        dae_arena_destroy(arena);
    }
    assert_near(largest_difference(N, x[0], x[1]), 0, 1e-13 * largest(N, x[0]));
    if (is_complex) assert_near(largest_difference(N, y[0], y[1]), 0, 1e-13 * largest(N, x[0]));
    for (int k = 0; k < 2; k++) {
        free(x[k]);
        free(y[k]);
    }
    free(b);
    free(c);
    free_stored(&J);
    free_stored(&M);
}

static void shifted_second_order_agrees_with_the_full_system(void **state)
{
    (void)state;
    const dae_storage storage[] = {DAE_DENSE, DAE_BANDED, DAE_SPARSE, DAE_DIAGONAL};
    for (int bits = 0; bits < 4; bits++) {
        int is_complex = bits & 1, keep = bits >> 1;
        for (int j = 0; j < 3; j++) {
            for (int m = 0; m < 4; m++) {
                compare_second_order(8, 4, storage[j], storage[m], is_complex, keep);
                compare_second_order(11, 3, storage[j], storage[m], is_complex, keep);
                compare_second_order(60, 24, storage[j], storage[m], is_complex, keep);
            }
        }
    }
}

static void shifted_create_rejects_a_mass_that_is_not_identity_on_q(void **state)
{
    (void)state;
    const double diagonal[] = {1, 2, 1, 1}, zero[] = {1, 0, 1, 1};
    double full[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    full[3] = 0.5; /* row 4, column 1 */
    const dae_matrix mass[] = {dae_diagonal(4, diagonal), dae_diagonal(4, zero), dae_dense(4, full)};
    const char *text[] = {"element (2, 2) is 2", "zeros on the diagonal", "element (4, 1) is 0.5"};
    for (int k = 0; k < 3; k++) {
        dae_arena *arena = dae_arena_create();
        dae_error err = {0};
        dae_shifted_spec spec = {.n = 4, .mass = mass[k], .second_order = 2};
        assert_null(dae_shifted_create(&spec, arena, &err));
        assert_int_equal(err.status, DAE_ERR_INPUT);
        assert_non_null(strstr(err.text, text[k]));
        dae_arena_destroy(arena);
    }
}

static void shifted_create_rejects_bad_sizes(void **state)
{
    (void)state;
    const double d[] = {1, 1, 1};
    const dae_shifted_spec bad[] = {{.n = 0},
                                    {.n = 4, .mass = dae_diagonal(3, d)},
                                    {.n = 5, .second_order = 3},
                                    {.n = 3, .jacobian = {.storage = DAE_DIAGONAL}}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        dae_arena *arena = dae_arena_create();
        dae_error err = {0};
        assert_null(dae_shifted_create(&bad[k], arena, &err));
        assert_int_equal(err.status, DAE_ERR_INPUT);
        dae_arena_destroy(arena);
    }
}

static void shifted_factor_values_solves_the_matrix_itself(void **state)
{
    (void)state;
    const dae_storage storage[] = {DAE_DENSE, DAE_BANDED, DAE_SPARSE};
    for (int bits = 0; bits < 6; bits++) {
        enum { n = 31 };
        sequence s = {(uint64_t)bits};
        stored A = random_stored(&s, n, storage[bits / 2], 3, 3);
        dae_arena *arena = dae_arena_create();
        dae_error err;
        dae_shifted_spec spec = {.n = n, .jacobian = A.view.pattern, .keep_storage = bits & 1};
        dae_shifted *f = dae_shifted_create(&spec, arena, &err);
        assert_non_null(f);
        double *b = random_reals(&s, n), x[n];
        memcpy(x, b, sizeof x);
        assert_int_equal(dae_shifted_factor_values(f, A.value), 0);
        dae_shifted_solve(f, x);
        assert_between(backward_error(n, A.full, NULL, x, NULL, b, NULL), 0, n);
        dae_shifted_destroy(f);
        dae_arena_destroy(arena);
        free(b);
        free_stored(&A);
    }
}

static void shifted_reports_singular_and_not_finite(void **state)
{
    (void)state;
    const dae_storage storage[] = {DAE_DENSE, DAE_BANDED, DAE_SPARSE};
    for (int bits = 0; bits < 6; bits++) {
        enum { n = 25 };
        int is_complex = bits & 1;
        double *a = reals(n * n);
        for (int i = 0; i < n; i++) a[i + i * n] = i == 4 ? 2 : -1;
        stored J = store(n, a, storage[bits / 2], 1, 1);
        dae_arena *arena = dae_arena_create();
        dae_error err;
        dae_shifted_spec spec = {
            .n = n, .jacobian = J.view.pattern, .complex_shift = is_complex, .keep_storage = 1};
        dae_shifted *f = dae_shifted_create(&spec, arena, &err);
        assert_non_null(f);
        assert_true(dae_shifted_factor(f, 2, 0, J.value) > 0); /* 2 is an eigenvalue */
        double x[n] = {1}, y[n] = {0};
        if (is_complex) dae_shifted_solve_complex(f, x, y);
        else dae_shifted_solve(f, x);
        assert_true(isnan(x[0])); /* no factors, no solution */
        assert_int_equal(dae_shifted_factor(f, 3, 0, J.value), 0);
        assert_true(dae_shifted_factor(f, NAN, 0, J.value) > 0);
        assert_int_equal(dae_shifted_factor(f, 3, 0, J.value), 0);
        J.value[storage[bits / 2] == DAE_SPARSE  ? 3
                : storage[bits / 2] == DAE_DENSE ? 3 * n + 3
                                                 : 10] = INFINITY;
        assert_true(dae_shifted_factor(f, 3, 0, J.value) > 0);
        dae_shifted_destroy(f);
        dae_arena_destroy(arena);
        free_stored(&J);
    }
}

static void shifted_picks_the_storage_that_pays(void **state)
{
    (void)state;
    sequence s = {1};
    stored tri = store(200, reals(200 * 200), DAE_SPARSE, 0, 0),
           small = random_stored(&s, 12, DAE_SPARSE, 0, 0), large = random_stored(&s, 200, DAE_SPARSE, 0, 0);
    double *loops = reals(200 * 200); /* every unknown meets the next, some the one half way round */
    for (int i = 0; i < 200; i++) loops[i + 200 * i] = loops[i + 200 * ((i + 1) % 200)] = 1;
    for (int i = 0; i < 200; i += 20) loops[i + 200 * ((i + 100) % 200)] = 1;
    stored sparse = store(200, loops, DAE_SPARSE, 0, 0);
    const struct {
        dae_shifted_spec spec;
        const char *text;
    } cases[] = {
        {{.n = 8}, "dense 8 (own kernel)"},
        {{.n = 8, .second_order = 4, .complex_shift = 1}, "dense 4, complex, second order (own kernel)"},
        {{.n = 1000}, "dense 1000 (LAPACK)"},
        {{.n = 400, .jacobian = {.storage = DAE_BANDED, .lower = 2, .upper = 2}},
         "banded 400, 2 below and 2 above (own kernel)"},
        {{.n = 200, .jacobian = tri.view.pattern}, "banded 200, 0 below and 0 above (own kernel)"},
        {{.n = 12, .jacobian = small.view.pattern}, "dense 12 (own kernel)"},
        {{.n = 200, .jacobian = sparse.view.pattern}, "sparse 200, 410 nonzeros (KLU)"},
        {{.n = 200, .jacobian = large.view.pattern}, "dense 200 (own kernel)"},
        {{.n = 12, .jacobian = small.view.pattern, .keep_storage = 1}, "sparse 12, "},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dae_arena *arena = dae_arena_create();
        dae_error err;
        dae_shifted *f = dae_shifted_create(&cases[k].spec, arena, &err);
        assert_non_null(f);
        assert_memory_equal(dae_shifted_describe(f), cases[k].text, strlen(cases[k].text));
        dae_shifted_destroy(f);
        dae_arena_destroy(arena);
    }
    free_stored(&tri);
    free_stored(&small);
    free_stored(&large);
    free_stored(&sparse);
}

/* Two factorizations, then save; load into a new solver; both go on with a solve, a third factorization and a
 * solve, and all numbers are the same bits. */
static void check_checkpoint(dae_storage storage, int is_complex, int second_order)
{
    enum { n = 64 };
    sequence s = {11};
    stored J = random_stored(&s, n, storage, 3, 2);
    dae_shifted_spec spec = {.n = n,
                             .jacobian = J.view.pattern,
                             .complex_shift = is_complex,
                             .keep_storage = 1,
                             .second_order = second_order};
    dae_arena *arena[2] = {dae_arena_create(), dae_arena_create()};
    dae_shifted *f[2];
    dae_error err;
    double x[2][3 * n], y[2][3 * n];
    for (int k = 0; k < 2; k++) {
        f[k] = dae_shifted_create(&spec, arena[k], &err);
        assert_non_null(f[k]);
        for (int i = 0; i < 3 * n; i++) {
            x[k][i] = sin(i + 1.0);
            y[k][i] = cos(i + 2.0);
        }
    }
    assert_int_equal(dae_shifted_factor(f[0], 0.3, 0.1, J.value), 0); /* pivots far from the later diagonal */
    assert_int_equal(dae_shifted_factor(f[0], 1.5, 0.7, J.value), 0);

    size_t size = dae_shifted_save(f[0], NULL);
    void *buffer = malloc(size), *image = malloc(dae_arena_bytes(arena[0]));
    assert_true(buffer && image);
    assert_int_equal(dae_shifted_save(f[0], buffer), size);
    dae_arena_write(arena[0], image);
    assert_int_equal(dae_arena_bytes(arena[0]), dae_arena_bytes(arena[1]));
    dae_arena_read(arena[1], image);
    assert_int_equal(dae_shifted_load(f[1], buffer, size), 0);

    for (int turn = 0; turn < 3; turn++) {
        for (int k = 0; k < 2; k++) {
            if (turn > 0) assert_int_equal(dae_shifted_factor(f[k], 2.5 * turn, 0.9, J.value), 0);
            if (is_complex) dae_shifted_solve_complex(f[k], x[k] + turn * n, y[k] + turn * n);
            else dae_shifted_solve(f[k], x[k] + turn * n);
        }
    }
    assert_true(isfinite(x[0][0]));
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(y[0], y[1], sizeof y[0]);
    assert_int_not_equal(dae_shifted_load(f[1], buffer, size - 1), 0);
    for (int k = 0; k < 2; k++) {
        dae_shifted_destroy(f[k]);
        dae_arena_destroy(arena[k]);
    }
    free(buffer);
    free(image);
    free_stored(&J);
}

static void shifted_continues_bit_identical_after_load(void **state)
{
    (void)state;
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        check_checkpoint(DAE_DENSE, is_complex, 0);
        check_checkpoint(DAE_BANDED, is_complex, 0);
        check_checkpoint(DAE_SPARSE, is_complex, 0);
        check_checkpoint(DAE_DENSE, is_complex, 32);
        check_checkpoint(DAE_SPARSE, is_complex, 20);
    }
}

static void shifted_load_refuses_another_solver(void **state)
{
    (void)state;
    dae_arena *arena = dae_arena_create();
    dae_error err;
    dae_shifted *a = dae_shifted_create(&(dae_shifted_spec){.n = 8}, arena, &err);
    dae_shifted *b = dae_shifted_create(&(dae_shifted_spec){.n = 9}, arena, &err);
    assert_true(a && b);
    unsigned char buffer[64];
    size_t size = dae_shifted_save(a, buffer);
    assert_true(size <= sizeof buffer);
    assert_int_equal(dae_shifted_load(a, buffer, size), 0);
    assert_int_not_equal(dae_shifted_load(b, buffer, size), 0);
    dae_shifted_destroy(a);
    dae_shifted_destroy(b);
    dae_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifted_solves_every_combination),
        cmocka_unit_test(shifted_second_order_agrees_with_the_full_system),
        cmocka_unit_test(shifted_create_rejects_a_mass_that_is_not_identity_on_q),
        cmocka_unit_test(shifted_create_rejects_bad_sizes),
        cmocka_unit_test(shifted_factor_values_solves_the_matrix_itself),
        cmocka_unit_test(shifted_reports_singular_and_not_finite),
        cmocka_unit_test(shifted_picks_the_storage_that_pays),
        cmocka_unit_test(shifted_continues_bit_identical_after_load),
        cmocka_unit_test(shifted_load_refuses_another_solver),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
