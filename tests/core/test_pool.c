/* The pool: every task once, by any thread; it can be used again and again. */
#include "test.h"

#include "core/pool.h"

enum { TASKS = 100 };

typedef struct work {
    int done[TASKS], by[TASKS];
    double busy[TASKS];
} work;

static void mark(void *object, int task, int thread)
{
    work *w = object;
    w->done[task]++;
    w->by[task] = thread;
    for (int i = 0; i < 2000; i++) w->busy[task] += sqrt(i);
}

static void every_task_is_done_once(void **state)
{
    (void)state;
    dae_pool *p = dae_pool_create(3);
    assert_non_null(p);
    int threads = dae_pool_threads(p);
    for (int repeat = 0; repeat < 50; repeat++) {
        work w = {0};
        int count = repeat * 2;
        dae_pool_run(p, count, mark, &w);
        for (int i = 0; i < TASKS; i++) assert_int_equal(w.done[i], i < count);
        for (int i = 0; i < count; i++) assert_in_range(w.by[i], 0, threads - 1);
    }
    dae_pool_destroy(p);
}

/* Tasks ahead of need are done once or not at all, never by the caller. */
static void tasks_ahead_of_need_are_left_to_others(void **state)
{
    (void)state;
    dae_pool *p = dae_pool_create(2);
    assert_non_null(p);
    for (int repeat = 0; repeat < 50; repeat++) {
        work w = {0};
        dae_pool_start(p, 10, 14, mark, &w);
        for (int i = 9; i >= 0; i--) assert_int_equal(dae_pool_wait(p, i), 1);
        for (int i = 0; i < 10; i++) assert_int_equal(w.done[i], 1);
        int begun = dae_pool_wait(p, 13);
        assert_int_equal(begun, w.done[13]);
        dae_pool_settle(p);
        for (int i = 10; i < 14; i++) assert_true(w.done[i] == 0 || (w.done[i] == 1 && w.by[i] == 1));
        for (int i = 14; i < TASKS; i++) assert_int_equal(w.done[i], 0);
    }
    dae_pool_destroy(p);
}

static void no_pool_is_a_plain_loop(void **state)
{
    (void)state;
    work w = {0};
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
                                       cmocka_unit_test(tasks_ahead_of_need_are_left_to_others),
                                       cmocka_unit_test(no_pool_is_a_plain_loop)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
