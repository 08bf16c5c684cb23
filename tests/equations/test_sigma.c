/* The Sigma method: assignment against all permutations, offsets and labels of the pendulum and of pump, parts of a wrong system,
 * a chain of 1e5 equations. */
#include "equations/sigma.h"
#include "test.h"

enum { ABSENT = -1, LARGEST = 64 };

/* A signature from a dense matrix; ABSENT entries are left out. */
typedef struct dense_signature {
    int start[LARGEST + 1], column[LARGEST * LARGEST], order[LARGEST * LARGEST];
    dae_signature s;
} dense_signature;

static const dae_signature *from_dense(dense_signature *x, int rows, int columns, const int *sigma)
{
    int count = 0;
    x->start[0] = 0;
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            if (sigma[i * columns + j] == ABSENT) continue;
            x->column[count] = j;
            x->order[count++] = sigma[i * columns + j];
        }
        x->start[i + 1] = count;
    }
    x->s = (dae_signature){rows, columns, x->start, x->column, x->order};
    return &x->s;
}

static void assert_ints(const int *a, const int *b, int n)
{
    for (int i = 0; i < n; i++) {
        if (a[i] != b[i]) fail_msg("entry %d is %d, expected %d", i, a[i], b[i]);
    }
}

/* Largest sum over all permutations, -1: there is none. */
static int best_value(int n, const int *sigma, int i, unsigned used)
{
    int best = -1;
    if (i == n) return 0;
    for (int j = 0; j < n; j++) {
        if (used & (1u << j) || sigma[i * n + j] == ABSENT) continue;
        int rest = best_value(n, sigma, i + 1, used | (1u << j));
        if (rest >= 0 && rest + sigma[i * n + j] > best) best = rest + sigma[i * n + j];
    }
    return best;
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void assignment_has_the_value_of_the_best_permutation(void **state)
{
    unsigned seed = 7;
    int solvable = 0;
    (void)state;
    for (int k = 0; k < 3000; k++) {
        int n = 1 + (int)(next_random(&seed) % 6), sigma[36];
        unsigned filled = 2 + next_random(&seed) % 5;
        for (int e = 0; e < n * n; e++) {
            sigma[e] = next_random(&seed) % 7 < filled ? (int)(next_random(&seed) % 4) : ABSENT;
        }
        dense_signature x;
        dae_matching m;
        dae_sigma g;
        dae_arena *arena = dae_arena_create();
        int best = best_value(n, sigma, 0, 0),
            found = dae_sigma_find(from_dense(&x, n, n, sigma), arena, &m, &g);
        assert_int_equal(found, best >= 0);
        if (found) {
            solvable++;
            assert_int_equal(g.dof, best);
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++)
                    assert_true(sigma[i * n + j] == ABSENT || g.d[j] - g.c[i] >= sigma[i * n + j]);
                assert_int_equal(g.d[g.match[i]] - g.c[i], sigma[i * n + g.match[i]]);
            }
        }
        dae_arena_destroy(arena);
    }
    assert_true(solvable > 1000);
}

/* x' = vx, y' = vy, vx' = -lam x, vy' = -lam y - g, x^2 + y^2 = 1 in x, y, vx, vy, lam. */
static void structure_of_the_pendulum(void **state)
{
    static const int sigma[] = {1,  -1, 0,  -1, -1, -1, 1, -1, 0, -1, 0,  -1, 1,
                                -1, 0,  -1, 0,  -1, 1,  0, 0,  0, -1, -1, -1};
    static const int c[] = {1, 1, 0, 0, 2}, d[] = {2, 2, 1, 1, 0}, label[] = {1, 1, 2, 2, 3};
    dense_signature x;
    dae_matching m;
    dae_sigma g;
    dae_arena *arena = dae_arena_create();
    (void)state;
    assert_int_equal(dae_sigma_find(from_dense(&x, 5, 5, sigma), arena, &m, &g), 1);
    assert_ints(g.c, c, 5);
    assert_ints(g.d, d, 5);
    assert_ints(g.label, label, 5);
    assert_int_equal(g.index, 3);
    assert_int_equal(g.dof, 2);
    assert_int_equal(g.nblock, 1);
    assert_int_equal(g.ncoarse, 1);
    dae_arena_destroy(arena);
}

/* y1' = f(y1,y2,y3), y2' = f(..), 0 = y1 + y2 + y3 - 1: three blocks of one, the algebraic variable first in nothing. */
static void blocks_come_after_what_they_need(void **state)
{
    static const int sigma[] = {1, 0, 0, 0, 1, 0, 0, 0, 0};
    dense_signature x;
    dae_matching m;
    dae_sigma g;
    dae_arena *arena = dae_arena_create();
    (void)state;
    assert_int_equal(dae_sigma_find(from_dense(&x, 3, 3, sigma), arena, &m, &g), 1);
    assert_int_equal(g.index, 1);
    assert_int_equal(g.dof, 2);
    assert_int_equal(g.nblock, 3);
    assert_int_equal(g.ncoarse, 1);
    assert_int_equal(g.block[2], 0); /* y3 from row 3 first: both derivatives need it */
    assert_int_equal(g.block_row[g.block_start[0]], 2);
    dae_arena_destroy(arena);
}

/* x, y in three equations; z, u in one: rows 0, 1, 2 are too many, columns z, u too few. */
static void parts_of_a_wrong_system_are_found(void **state)
{
    static const int sigma[] = {0, 0, -1, -1, 0, 0, -1, -1, 0, -1, -1, -1, -1, 0, 0, 0};
    static const unsigned char over_row[] = {1, 1, 1, 0}, over_column[] = {1, 1, 0, 0},
                               under_column[] = {0, 0, 1, 1};
    dense_signature x;
    dae_matching m;
    dae_sigma g;
    unsigned char row[4], column[4];
    dae_arena *arena = dae_arena_create();
    (void)state;
    const dae_signature *s = from_dense(&x, 4, 4, sigma);
    assert_int_equal(dae_sigma_find(s, arena, &m, &g), 0);
    assert_int_equal(m.size, 3);
    assert_true(dae_matching_part(s, &m, 1, arena, row, column));
    assert_memory_equal(row, over_row, 4);
    assert_memory_equal(column, over_column, 4);
    assert_true(dae_matching_part(s, &m, 0, arena, row, column));
    assert_memory_equal(column, under_column, 4);
    assert_int_equal(row[3], 1);
    assert_int_equal(row[0] + row[1] + row[2], 0);
    dae_arena_destroy(arena);
}

/* f_i: x_i = x_(i-1)', f_1: x_1 = s(t): offsets n-1 .. 0, index n, no freedom. No recursion, no squares of n. */
static void chain_of_differentiators(void **state)
{
    enum { N = 100000 };
    int *start = calloc(N + 1, sizeof *start), *column = calloc(2 * N, sizeof *column),
        *order = calloc(2 * N, sizeof *order);
    int count = 0;
    dae_matching m;
    dae_sigma g;
    dae_arena *arena = dae_arena_create();
    (void)state;
    for (int i = 0; i < N; i++) {
        if (i > 0) {
            column[count] = i - 1;
            order[count++] = 1;
        }
        column[count] = i;
        order[count++] = 0;
        start[i + 1] = count;
    }
    dae_signature s = {N, N, start, column, order};
    assert_int_equal(dae_sigma_find(&s, arena, &m, &g), 1);
    assert_int_equal(g.index, N);
    assert_int_equal(g.dof, 0);
    assert_int_equal(g.c[0], N - 1);
    assert_int_equal(g.nblock, N);
    dae_arena_destroy(arena);
    free(start);
    free(column);
    free(order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assignment_has_the_value_of_the_best_permutation),
        cmocka_unit_test(structure_of_the_pendulum),
        cmocka_unit_test(blocks_come_after_what_they_need),
        cmocka_unit_test(parts_of_a_wrong_system_are_found),
        cmocka_unit_test(chain_of_differentiators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
