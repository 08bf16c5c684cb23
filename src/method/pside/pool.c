#include "method/pside/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS_MAX = 4 };
/* ours: some 20 to 100 microseconds, the time between two solves; then a thread sleeps */
#define SPINS 2000

/* The ticket holds the number of the call, the number of its tasks and the next task that nobody has taken,
 * so that a thread that comes late cannot take a task of a later call by mistake. */
#define TICKET(call, count) (((unsigned long long)(call) << 16) | (unsigned long long)(count) << 8)
#define TASKS(ticket) ((int)((ticket) >> 8 & 255))
#define NEXT(ticket) ((int)((ticket)&255))

struct pside_pool {
    int workers;
    pthread_t worker[THREADS_MAX];
    pthread_mutex_t lock;
    pthread_cond_t wake, finished;
    atomic_ullong ticket;
    atomic_int sleeping; /* workers that wait for `wake` */
    atomic_int done;     /* tasks of this call that are done */
    atomic_int waiting;  /* the caller waits for `finished` */
    atomic_int stop;
    unsigned long long calls;
    pside_task *task; /* these two are read only by who has a task of this call */
    void *object;
};

static void pause_briefly(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Takes a task: its number, or -1 if none is left. */
static int take(pside_pool *pool)
{
    unsigned long long ticket = atomic_load(&pool->ticket);
    while (NEXT(ticket) < TASKS(ticket)) {
        if (atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket + 1)) return NEXT(ticket);
    }
    return -1;
}

static int idle(pside_pool *pool)
{
    unsigned long long ticket = atomic_load(&pool->ticket);
    return NEXT(ticket) >= TASKS(ticket) && !atomic_load(&pool->stop);
}

static void wait_for_work(pside_pool *pool)
{
    for (int k = 0; k < SPINS && idle(pool); k++) pause_briefly();
    if (!idle(pool)) return;
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while (idle(pool)) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
}

static void wake_sleepers(pside_pool *pool)
{
    if (!atomic_load(&pool->sleeping)) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument)
{
    pside_pool *pool = argument;
    while (!atomic_load(&pool->stop)) {
        int k = take(pool);
        if (k < 0) {
            wait_for_work(pool);
            continue;
        }
        pool->task(pool->object, k);
        atomic_fetch_add(&pool->done, 1);
        if (atomic_load(&pool->waiting)) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->finished);
            pthread_mutex_unlock(&pool->lock);
        }
    }
    return NULL;
}

pside_pool *dae_pside_pool_create(int threads)
{
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    if (threads < 2) return NULL;
    pside_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    if (pthread_mutex_init(&pool->lock, NULL)) goto no_lock;
    if (pthread_cond_init(&pool->wake, NULL)) goto no_wake;
    if (pthread_cond_init(&pool->finished, NULL)) goto no_finished;
    while (pool->workers < threads - 1 && !pthread_create(&pool->worker[pool->workers], NULL, work, pool))
        pool->workers++;
    if (pool->workers > 0) return pool;
    pthread_cond_destroy(&pool->finished);
no_finished:
    pthread_cond_destroy(&pool->wake);
no_wake:
    pthread_mutex_destroy(&pool->lock);
no_lock:
    free(pool);
    return NULL;
}

void dae_pside_pool_destroy(pside_pool *pool)
{
    if (!pool) return;
    atomic_store(&pool->stop, 1);
    wake_sleepers(pool);
    for (int k = 0; k < pool->workers; k++) pthread_join(pool->worker[k], NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void dae_pside_pool_run(pside_pool *pool, int count, pside_task *task, void *object)
{
    if (!pool) {
        for (int k = 0; k < count; k++) task(object, k);
        return;
    }
    pool->task = task;
    pool->object = object;
    atomic_store(&pool->done, 0);
    atomic_store(&pool->ticket, TICKET(++pool->calls, count));
    wake_sleepers(pool);
    for (int k; (k = take(pool)) >= 0; atomic_fetch_add(&pool->done, 1)) task(object, k);
    for (int k = 0; k < SPINS && atomic_load(&pool->done) < count; k++) pause_briefly();
    if (atomic_load(&pool->done) == count) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, 1);
    while (atomic_load(&pool->done) < count) pthread_cond_wait(&pool->finished, &pool->lock);
    atomic_store(&pool->waiting, 0);
    pthread_mutex_unlock(&pool->lock);
}
