/* Worker processes: every task once, what they write comes back, crashes and limits are one task's, the caller can end it. */
#include "test.h"

#include <daedalus/workers.h>

#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct record {
    int done[200], died[200], again;
    long count;
    int stop_after; /* done tasks */
    int total;
} record;

static int twice(long task, int worker, dae_write_fn *write, void *to, void *user)
{
    const record *r = user;
    long value = 2 * task;
    (void)worker;
    if (task == 7 && r->again == 0) raise(SIGKILL); /* always: the caller's record does not change here */
    if (task == 11 && r->count == 12) return 5;
    for (int i = 0; i < 3; i++) {
        if (write((const char *)&value, sizeof value, to) < 0) return 1;
    }
    return 0;
}

static int on_done(long task, const void *result, size_t length, void *user)
{
    record *r = user;
    long value[3];
    assert_int_equal(length, sizeof value);
    memcpy(value, result, sizeof value);
    assert_true(value[0] == 2 * task && value[2] == 2 * task);
    r->done[task]++;
    return r->stop_after && ++r->total >= r->stop_after ? -1 : 0;
}

static int on_died(long task, int number, void *user)
{
    record *r = user;
    assert_int_equal(task, 7);
    assert_int_equal(number, SIGKILL);
    return ++r->died[task] < 2; /* once more */
}

static void every_task_once_and_a_crash_is_one_task(void **state)
{
    (void)state;
    for (int fresh = 0; fresh < 2; fresh++) {
        record r = {.count = 200};
        dae_workers w = {
            .jobs = 3, .fresh = fresh, .work = twice, .done = on_done, .died = on_died, .user = &r};
        assert_int_equal(dae_workers_run(&w, 200, NULL, NULL), DAE_OK);
        for (int k = 0; k < 200; k++) assert_int_equal(r.done[k], k != 7);
        assert_int_equal(r.died[7], 2);
    }
}

/* No process: the tasks come in their order, the exit status of one and the word of the caller end all. */
static int in_order(long task, const void *result, size_t length, void *user)
{
    record *r = user;
    assert_int_equal(task, r->total);
    return r->total++, on_done(task, result, length, &(record){0}), r->stop_after == r->total ? -1 : 0;
}

static int count_begin(int worker, void *user)
{
    assert_int_equal(worker, 0);
    ((record *)user)->died[0]++;
    return 0;
}

static void the_caller_does_them_itself(void **state)
{
    (void)state;
    int status = 0;
    for (int fresh = 0; fresh < 2; fresh++) {
        record r = {.count = 12, .again = 1};
        dae_workers w = {
            .here = 1, .fresh = fresh, .begin = count_begin, .work = twice, .done = in_order, .user = &r};
        assert_int_equal(dae_workers_run(&w, 11, &status, NULL), DAE_OK);
        assert_int_equal(r.total, 11);
        assert_int_equal(r.died[0], fresh ? 11 : 1);
        r.total = 0;
        assert_int_equal(dae_workers_run(&w, 12, &status, NULL), DAE_ERR_CALLBACK);
        assert_int_equal(status, 5);
        r = (record){.count = 12, .again = 1, .stop_after = 4};
        assert_int_equal(dae_workers_run(&w, 12, NULL, NULL), DAE_CANCELLED);
        assert_int_equal(r.total, 4);
    }
}

static void a_worker_can_end_all(void **state)
{
    (void)state;
    record r = {.count = 12, .again = 1};
    int status = 0;
    dae_workers w = {.jobs = 2, .work = twice, .done = on_done, .died = on_died, .user = &r};
    assert_int_equal(dae_workers_run(&w, 12, &status, NULL), DAE_ERR_CALLBACK);
    assert_int_equal(status, 5);
    assert_int_equal(r.done[0], 1);
    assert_int_equal(r.done[11], 0);
}

static void the_caller_can_end_all(void **state)
{
    (void)state;
    record r = {.count = 200, .again = 1, .stop_after = 20};
    dae_workers w = {.jobs = 2, .work = twice, .done = on_done, .died = on_died, .user = &r};
    assert_int_equal(dae_workers_run(&w, 200, NULL, NULL), DAE_CANCELLED);
    assert_true(r.total >= 20);
    assert_int_equal(dae_workers_run(&w, 0, NULL, NULL), DAE_OK);
}

static int sleepy(long task, int worker, dae_write_fn *write, void *to, void *user)
{
    (void)task, (void)worker, (void)write, (void)to, (void)user;
    while (pause() < 0) continue;
    return 0;
}

static int at_once(void *user)
{
    (void)user;
    return 1;
}

static void workers_that_do_not_end_are_ended(void **state)
{
    (void)state;
    dae_workers w = {.jobs = 2, .work = sleepy, .look = at_once};
    signal(SIGTERM, SIG_IGN); /* and they do not even listen */
    assert_int_equal(dae_workers_run(&w, 2, NULL, NULL), DAE_CANCELLED);
    signal(SIGTERM, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_once_and_a_crash_is_one_task),
        cmocka_unit_test(the_caller_does_them_itself), cmocka_unit_test(a_worker_can_end_all),
        cmocka_unit_test(the_caller_can_end_all), cmocka_unit_test(workers_that_do_not_end_are_ended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
