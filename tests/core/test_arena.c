#include "test.h"

#include "core/arena.h"

static void pieces_are_zero_and_aligned(void **state)
{
    (void)state;
    dae_arena *a = dae_arena_create();
    for (size_t n = 0; n < 300; n += 7) {
        unsigned char *p = dae_arena_take(a, n, 3);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t k = 0; k < 3 * n; k++) assert_int_equal(p[k], 0);
        memset(p, 0xff, 3 * n);
    }
    dae_arena_destroy(a);
    dae_arena_destroy(NULL);
}

static void large_pieces_get_blocks_of_their_own(void **state)
{
    (void)state;
    dae_arena *a = dae_arena_create();
    double *small = dae_arena_reals(a, 4), *large = dae_arena_reals(a, 100000),
           *after = dae_arena_reals(a, 4);
    for (int i = 0; i < 100000; i++) large[i] = i;
    small[3] = after[3] = -1;
    assert_near(large[99999], 99999, 0);
    assert_int_equal(dae_arena_bytes(a), 64 + 800000 + 64);
    dae_arena_destroy(a);
}

static void sizes_that_overflow_are_refused_and_remembered(void **state)
{
    (void)state;
    const size_t sizes[][2] = {{SIZE_MAX, 1},       {SIZE_MAX - 63, 1}, {SIZE_MAX - 64, 1},
                               {SIZE_MAX - 127, 1}, {SIZE_MAX / 8, 16}, {SIZE_MAX / 2, 3}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        dae_arena *a = dae_arena_create();
        assert_false(dae_arena_failed(a));
        if (dae_arena_take(a, sizes[k][0], sizes[k][1]))
            fail_msg("%zu times %zu bytes were given", sizes[k][0], sizes[k][1]);
        assert_true(dae_arena_failed(a));
        assert_non_null(dae_arena_take(a, 1, 1));
        assert_true(dae_arena_failed(a));
        dae_arena_destroy(a);
    }
}

static void copies_hold_the_same_and_null_stays_null(void **state)
{
    (void)state;
    dae_arena *a = dae_arena_create();
    int from[] = {3, 1, 4, 1, 5};
    int *to = dae_arena_copy(a, from, 5, sizeof *from);
    from[0] = 0;
    assert_int_equal(to[0], 3);
    assert_int_equal(to[4], 5);
    assert_null(dae_arena_copy(a, NULL, 5, sizeof *from));
    assert_false(dae_arena_failed(a));
    dae_arena_destroy(a);
}

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    dae_arena *one = dae_arena_create(), *two = dae_arena_create();
    double *x[2][3];
    for (size_t k = 0; k < 3; k++) {
        size_t n = k == 1 ? 5000 : 17; /* the middle one needs a block of its own */
        x[0][k] = dae_arena_reals(one, n);
        x[1][k] = dae_arena_reals(two, n);
        for (size_t i = 0; i < n; i++) x[0][k][i] = (double)(100 * k + i);
    }
    assert_int_equal(dae_arena_bytes(one), dae_arena_bytes(two));
    void *buffer = malloc(dae_arena_bytes(one));
    dae_arena_write(one, buffer);
    dae_arena_read(two, buffer);
    for (size_t k = 0; k < 3; k++)
        assert_memory_equal(x[0][k], x[1][k], (k == 1 ? 5000 : 17) * sizeof(double));
    free(buffer);
    dae_arena_destroy(one);
    dae_arena_destroy(two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_zero_and_aligned),
        cmocka_unit_test(large_pieces_get_blocks_of_their_own),
        cmocka_unit_test(sizes_that_overflow_are_refused_and_remembered),
        cmocka_unit_test(copies_hold_the_same_and_null_stays_null),
        cmocka_unit_test(what_is_written_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
