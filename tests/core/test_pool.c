/* The pool: every piece once, those of a task in their order, by any thread; it can be used again and again. */
#include "test.h"

#include "core/pool.h"

enum { TASKS = 100 };

typedef struct work {
    int done[TASKS], by[TASKS];         /* pieces done; by which thread the last one was */
    int out_of_order, threads, ends_at; /* ends_at: piece that ends its task, 0: none does */
    double busy[TASKS];
} work;

static int mark(void *object, int task, int piece, int thread)
{
    work *w = object;
    if (piece != w->done[task] || thread < 0 || thread >= w->threads) w->out_of_order = 1;
    w->done[task]++;
    w->by[task] = thread;
    for (int i = 0; i < 2000; i++) w->busy[task] += sqrt(i);
    return w->ends_at && piece == w->ends_at;
}

static void every_task_is_done_once(void **state)
{
    (void)state;
    dae_pool *p = dae_pool_create(3);
    assert_non_null(p);
    for (int repeat = 0; repeat < 50; repeat++) {
        work w = {.threads = dae_pool_threads(p)};
        int count = repeat * 2;
        dae_pool_run(p, count, mark, &w);
        for (int i = 0; i < TASKS; i++) assert_int_equal(w.done[i], i < count);
        assert_false(w.out_of_order);
    }
    dae_pool_destroy(p);
}

/* Tasks of many pieces, wanted in any order, some only later on. */
static void pieces_are_done_in_order(void **state)
{
    static const int pieces[8] = {2, 3, 4, 5, 6, 8, 10, 12};
    (void)state;
    for (int threads = 2; threads <= 4; threads++) {
        dae_pool *p = dae_pool_create(threads);
        assert_non_null(p);
        for (int repeat = 0; repeat < 50; repeat++) {
            work w = {.threads = threads};
            dae_pool_start(p, 6, 8, pieces, mark, &w);
            for (int k = 0; k < 4; k++) {
                dae_pool_wait(p, k);
                assert_int_equal(w.done[k], pieces[k]);
            }
            dae_pool_need(p, repeat % 2 ? 4 : 8);
            dae_pool_wait(p, 6);
            dae_pool_wait(p, 4);
            dae_pool_settle(p);
            for (int k = 0; k < 7; k++) {
                if (k != 5) assert_int_equal(w.done[k], pieces[k]);
            }
            assert_true(w.done[5] <= pieces[5] && w.done[7] <= pieces[7]);
            assert_false(w.out_of_order);
        }
        dae_pool_destroy(p);
    }
}

static void a_task_can_end_before_its_last_piece(void **state)
{
    static const int pieces[3] = {10, 2, 10};
    (void)state;
    dae_pool *p = dae_pool_create(2);
    assert_non_null(p);
    work w = {.threads = 2, .ends_at = 4};
    dae_pool_start(p, 3, 3, pieces, mark, &w);
    for (int k = 0; k < 3; k++) dae_pool_wait(p, k);
    assert_int_equal(w.done[0], 5);
    assert_int_equal(w.done[1], 2);
    assert_int_equal(w.done[2], 5);
    dae_pool_destroy(p);
}

/* A task that was not needed is done when it is waited for. */
static void tasks_ahead_of_need_can_be_wanted_or_dropped(void **state)
{
    (void)state;
    dae_pool *p = dae_pool_create(2);
    assert_non_null(p);
    for (int repeat = 0; repeat < 50; repeat++) {
        work w = {.threads = 2};
        dae_pool_start(p, 10, 14, NULL, mark, &w);
        for (int i = 9; i >= 0; i--) dae_pool_wait(p, i);
        for (int i = 0; i < 10; i++) assert_int_equal(w.done[i], 1);
        if (repeat % 2) dae_pool_wait(p, 11);
        dae_pool_settle(p);
        if (repeat % 2) assert_int_equal(w.done[11], 1);
        for (int i = 10; i < 14; i++) assert_in_range(w.done[i], 0, 1);
        for (int i = 14; i < TASKS; i++) assert_int_equal(w.done[i], 0);
    }
    dae_pool_destroy(p);
}

static void no_pool_is_a_plain_loop(void **state)
{
    (void)state;
    work w = {.threads = 1};
    assert_null(dae_pool_create(1));
    assert_int_equal(dae_pool_threads(NULL), 1);
    dae_pool_run(NULL, 7, mark, &w);
    for (int i = 0; i < TASKS; i++) assert_int_equal(w.done[i], i < 7);
    dae_pool_settle(NULL);
    dae_pool_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_task_is_done_once),
                                       cmocka_unit_test(pieces_are_done_in_order),
                                       cmocka_unit_test(a_task_can_end_before_its_last_piece),
                                       cmocka_unit_test(tasks_ahead_of_need_can_be_wanted_or_dropped),
                                       cmocka_unit_test(no_pool_is_a_plain_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
