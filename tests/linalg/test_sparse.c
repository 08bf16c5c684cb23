#include "linalg/sparse.h"

#include "linalg/matrices.h"

/* A random pattern with the diagonal; the full matrices are filled alongside. */
typedef struct example {
    int n, colptr[64], rowind[2048];
    double *re, *im; /* full */
} example;

static example make_example(sequence *s, int n, double density)
{
    example e = {.n = n};
    int count = 0;
    e.re = reals((size_t)(n * n));
    e.im = reals((size_t)(n * n));
    for (int j = 0; j < n; j++) {
        e.colptr[j] = count;
        for (int i = 0; i < n; i++) {
            if (i != j && fabs(next(s)) > density) continue;
            e.rowind[count++] = i;
        }
    }
    e.colptr[n] = count;
    return e;
}

static void free_example(example *e)
{
    free(e->re);
    free(e->im);
}

/* New random values, in the full matrices and in the solver. */
static void fill(example *e, sequence *s, dae_sparse_lu *f)
{
    int pairs = f->is_complex;
    for (int j = 0; j < e->n; j++) {
        for (int k = e->colptr[j]; k < e->colptr[j + 1]; k++) {
            int at = e->rowind[k] + j * e->n;
            e->re[at] = next(s) + (e->rowind[k] == j ? 3 : 0);
            e->im[at] = next(s);
            f->value[k * (1 + pairs)] = e->re[at];
            if (pairs) f->value[2 * k + 1] = e->im[at];
        }
    }
}

static void check_solution(const example *e, sequence *s, dae_sparse_lu *f, double limit)
{
    size_t n = (size_t)e->n;
    double *b = random_reals(s, n), *c = random_reals(s, n), *x = reals(n), *y = reals(n);
    memcpy(x, b, n * sizeof *x);
    memcpy(y, c, n * sizeof *y);
    if (f->is_complex) {
        dae_sparse_solve(f, x, y);
        assert_between(backward_error(e->n, e->re, e->im, x, y, b, c), 0, limit);
    } else {
        dae_sparse_solve(f, x, NULL);
        assert_between(backward_error(e->n, e->re, NULL, x, NULL, b, NULL), 0, limit);
    }
    free(b);
    free(c);
    free(x);
    free(y);
}

/* Dense enough for one block, and so sparse that there are many; with the list of operations and with KLU
 * alone. */
static void sparse_solves_and_keeps_its_pivots(void **state)
{
    (void)state;
    const double density[] = {0.15, 0.02};
    for (int bits = 0; bits < 8; bits++) {
        int is_complex = bits & 1, klu_only = bits >> 1 & 1;
        for (int n = 1; n <= 40; n += 13) {
            sequence s = {7};
            example e = make_example(&s, n, density[bits >> 2]);
            dae_arena *arena = dae_arena_create();
            dae_sparse_lu f;
            assert_int_equal(dae_sparse_init(&f, n, e.colptr, e.rowind, is_complex, arena), 0);
            f.klu_only = klu_only;
            for (int turn = 0; turn < 4; turn++) {
                fill(&e, &s, &f);
                assert_int_equal(dae_sparse_factor(&f), 0);
                assert_int_equal(f.fixed == NULL, klu_only);
                check_solution(&e, &s, &f, n);
            }
            assert_int_equal(f.state->full, 1);
            assert_int_equal(f.state->refactors, 3);
            dae_sparse_free(&f);
            dae_arena_destroy(arena);
            free_example(&e);
        }
    }
}

/* Several right-hand sides, with many zeros among them, as one after the other; by the list and by KLU. */
static void sparse_solves_many_right_hand_sides(void **state)
{
    (void)state;
    sequence s = {7};
    for (int klu = 0; klu < 2; klu++) {
        for (int count = 1; count <= 14; count += count < 8 ? 1 : 6) {
            dae_arena *a = dae_arena_create();
            example e = make_example(&s, 31, 0.1);
            dae_sparse_lu f;
            assert_int_equal(dae_sparse_init(&f, e.n, e.colptr, e.rowind, 0, a), 0);
            f.klu_only = klu;
            fill(&e, &s, &f);
            assert_int_equal(dae_sparse_factor(&f), 0);
            double *x = random_reals(&s, (size_t)(e.n * count)), *y = reals((size_t)(e.n * count));
            for (int i = 0; i < e.n * count; i++) x[i] = i % 5 ? 0 : x[i];
            memcpy(y, x, (size_t)(e.n * count) * sizeof *y);
            dae_sparse_solve_many(&f, count, x);
            for (int k = 0; k < count; k++) dae_sparse_solve(&f, y + k * e.n, NULL);
            for (int i = 0; i < e.n * count; i++) assert_near(x[i], y[i], 1e-14);
            free(x);
            free(y);
            dae_sparse_free(&f);
            free_example(&e);
            dae_arena_destroy(a);
        }
    }
}

/* A random permutation matrix plus couplings: no pivot lies on the diagonal. Rows differ by 12 powers of ten.
 */
static void sparse_solves_badly_scaled_rows_without_a_diagonal(void **state)
{
    (void)state;
    enum { n = 40 };
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        sequence s = {3};
        example e = {.n = n, .re = reals(n * n), .im = reals(n * n)};
        dae_arena *arena = dae_arena_create();
        dae_sparse_lu f;
        int count = 0;
        for (int j = 0; j < n; j++) {
            int main_row = (7 * j + 3) % n;
            for (int i = 0; i < n; i++) {
                if (i != main_row && fabs(next(&s)) > 0.08) continue;
                double scale = pow(10, (i % 5) * 3 - 6);
                e.rowind[count++] = i;
                e.re[i + j * n] = ((i == main_row ? 4 : 0) + next(&s)) * scale;
                e.im[i + j * n] = next(&s) * scale;
            }
            e.colptr[j + 1] = count;
        }
        assert_int_equal(dae_sparse_init(&f, n, e.colptr, e.rowind, is_complex, arena), 0);
        for (int j = 0; j < n; j++) {
            for (int k = e.colptr[j]; k < e.colptr[j + 1]; k++) {
                f.value[k * (1 + is_complex)] = e.re[e.rowind[k] + j * n];
                if (is_complex) f.value[2 * k + 1] = e.im[e.rowind[k] + j * n];
            }
        }
        for (int turn = 0; turn < 2; turn++) {
            assert_int_equal(dae_sparse_factor(&f), 0);
            check_solution(&e, &s, &f, n);
        }
        assert_non_null(f.fixed);
        dae_sparse_free(&f);
        dae_arena_destroy(arena);
        free_example(&e);
    }
}

/* [a 1; 1 1]: a = 1e3 chooses the diagonal; with a = 1e-12 the same pivots would lose 12 digits; a = 0 stops
 * them. Both must end in new pivots and full accuracy. */
static void sparse_chooses_new_pivots_when_they_go_bad(void **state)
{
    (void)state;
    const int colptr[] = {0, 2, 4}, rowind[] = {0, 1, 0, 1};
    const double small[] = {1e-12, 0};
    for (int bits = 0; bits < 4; bits++) {
        int is_complex = bits & 1;
        for (int k = 0; k < 2; k++) {
            dae_arena *arena = dae_arena_create();
            dae_sparse_lu f;
            int step = 1 + is_complex;
            assert_int_equal(dae_sparse_init(&f, 2, colptr, rowind, is_complex, arena), 0);
            f.klu_only = bits >> 1;
            for (int i = 0; i < 4; i++) f.value[i * step] = 1;
            f.value[0] = 1e3;
            assert_int_equal(dae_sparse_factor(&f), 0);
            f.value[0] = small[k];
            assert_int_equal(dae_sparse_factor(&f), 0);
            assert_int_equal(f.state->full, 2);
            assert_int_equal(f.state->refactors, 0);
            double x[] = {1, 2}, y[] = {0, 0}; /* a x + y = 1, x + y = 2 */
            dae_sparse_solve(&f, x, is_complex ? y : NULL);
            assert_near(x[0], 1 / (1 - small[k]), 1e-15);
            assert_near(x[1], 1 - small[k] / (1 - small[k]), 1e-15);
            dae_sparse_free(&f);
            dae_arena_destroy(arena);
        }
    }
}

static void sparse_reports_singular_and_recovers(void **state)
{
    (void)state;
    const int colptr[] = {0, 2, 4}, rowind[] = {0, 1, 0, 1};
    for (int is_complex = 0; is_complex < 2; is_complex++) {
        dae_arena *arena = dae_arena_create();
        dae_sparse_lu f;
        int step = 1 + is_complex;
        assert_int_equal(dae_sparse_init(&f, 2, colptr, rowind, is_complex, arena), 0);
        for (int i = 0; i < 4; i++) f.value[i * step] = 1;
        assert_true(dae_sparse_factor(&f) > 0);
        f.value[0] = 2;
        assert_int_equal(dae_sparse_factor(&f), 0);
        f.value[0] = NAN;
        assert_true(dae_sparse_factor(&f) > 0);
        assert_int_equal(dae_sparse_restore(&f), 0);
        f.value[0] = 1;
        assert_true(dae_sparse_factor(&f) > 0);
        f.value[0] = 3;
        assert_int_equal(dae_sparse_factor(&f), 0);
        double x[] = {4, 2}, y[] = {0, 0};
        dae_sparse_solve(&f, x, is_complex ? y : NULL);
        assert_near(x[0], 1, 1e-15);
        assert_near(x[1], 1, 1e-15);
        dae_sparse_free(&f);
        dae_arena_destroy(arena);
    }
}

/* A column without entries. */
static void sparse_reports_structurally_singular(void **state)
{
    (void)state;
    const int colptr[] = {0, 2, 2, 3}, rowind[] = {0, 1, 2};
    dae_arena *arena = dae_arena_create();
    dae_sparse_lu f;
    assert_int_equal(dae_sparse_init(&f, 3, colptr, rowind, 0, arena), 0);
    for (int i = 0; i < 3; i++) f.value[i] = 1;
    assert_true(dae_sparse_factor(&f) > 0);
    dae_sparse_free(&f);
    dae_arena_destroy(arena);
}

/* [d I  Gt; G  0] of 60 blocks of 6 variables and 5 multipliers, each constraint on its block and the one before. */
static void sparse_orders_columns_where_many_diagonals_are_zero(void **state)
{
    (void)state;
    enum { BLOCKS = 60, PER = 6, ROWS = 5, NX = BLOCKS * PER, N = NX + BLOCKS * ROWS };
    sequence s = {7};
    unsigned char *mark = calloc((size_t)N * N, 1);
    int *colptr = calloc(N + 1, sizeof *colptr), *rowind = calloc((size_t)N * N, sizeof *rowind), count = 0;
    double *full = reals((size_t)N * N), *x = random_reals(&s, N), *b = reals(N), *y = reals(N);
    assert_true(mark && colptr && rowind);
    for (int i = 0; i < N; i++) mark[i * N + i] = 1;
    for (int r = NX; r < N; r++) {
        int block = (r - NX) / ROWS, first = block > 0 ? (block - 1) * PER : 0;
        for (int k = first; k < (block + 1) * PER; k++) mark[k * N + r] = mark[r * N + k] = 1;
    }
    for (int j = 0; j < N; j++) {
        colptr[j] = count;
        for (int i = 0; i < N; i++)
            if (mark[j * N + i]) rowind[count++] = i;
    }
    colptr[N] = count;
    dae_arena *arena = dae_arena_create();
    dae_sparse_lu f;
    assert_int_equal(dae_sparse_init(&f, N, colptr, rowind, 0, arena), 0);
    assert_true(dae_sparse_factor(&f) > 0); /* all zero: nothing is decided */
    assert_int_equal(f.state->ordered, 0);
    for (int j = 0; j < N; j++) {
        for (int k = colptr[j]; k < colptr[j + 1]; k++)
            full[j * N + rowind[k]] = f.value[k] = rowind[k] != j ? next(&s) : j < NX ? 1e-3 : 0;
    }
    memcpy(b, x, N * sizeof *b);
    for (int again = 0; again < 2; again++) {
        if (again) assert_int_equal(dae_sparse_restore(&f), 0);
        else assert_int_equal(dae_sparse_factor(&f), 0);
        assert_int_equal(f.state->by_columns, 1);
        memcpy(x, b, N * sizeof *x);
        dae_sparse_solve(&f, x, NULL);
        assert_between(backward_error(N, full, NULL, x, NULL, b, NULL), 0, N);
        if (again) assert_memory_equal(x, y, N * sizeof *x);
        memcpy(y, x, N * sizeof *y);
    }
    dae_sparse_free(&f);
    dae_arena_destroy(arena);
    free(mark), free(colptr), free(rowind);
    free(full), free(x), free(b), free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_solves_and_keeps_its_pivots),
        cmocka_unit_test(sparse_solves_many_right_hand_sides),
        cmocka_unit_test(sparse_solves_badly_scaled_rows_without_a_diagonal),
        cmocka_unit_test(sparse_chooses_new_pivots_when_they_go_bad),
        cmocka_unit_test(sparse_reports_singular_and_recovers),
        cmocka_unit_test(sparse_reports_structurally_singular),
        cmocka_unit_test(sparse_orders_columns_where_many_diagonals_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
