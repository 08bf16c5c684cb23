#include "method/pside/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { THREADS_MAX = 4 };
#define SPINS 4000 /* ours: some 20 to 50 microseconds, the time between two solves; then the thread sleeps */

typedef struct worker {
    struct pside_pool *pool;
    pthread_t thread;
    int number; /* 1 .. threads-1 */
} worker;

struct pside_pool {
    int threads; /* with the caller */
    worker worker[THREADS_MAX];
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    atomic_uint call;    /* counts the calls of run */
    atomic_int sleeping; /* workers that wait for `wake` */
    atomic_int busy;     /* workers that have not finished this call */
    atomic_int waiting;  /* the caller waits for `done` */
    int stop;
    int count;
    pside_task *task;
    void *object;
};

static void pause_briefly(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits until the call counter leaves `seen`. */
static unsigned next_call(pside_pool *pool, unsigned seen)
{
    unsigned call = seen;
    for (int k = 0; k < SPINS && call == seen; k++) {
        pause_briefly();
        call = atomic_load(&pool->call);
    }
    if (call != seen) return call;
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while ((call = atomic_load(&pool->call)) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
    return call;
}

static void *work(void *argument)
{
    worker *w = argument;
    pside_pool *pool = w->pool;
    for (unsigned seen = 0;;) {
        seen = next_call(pool, seen);
        if (pool->stop) return NULL;
        for (int k = w->number; k < pool->count; k += pool->threads) pool->task(pool->object, k);
        if (atomic_fetch_sub(&pool->busy, 1) == 1 && atomic_load(&pool->waiting)) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

static void begin_call(pside_pool *pool)
{
    atomic_store(&pool->busy, pool->threads - 1);
    atomic_fetch_add(&pool->call, 1);
    if (atomic_load(&pool->sleeping)) {
        pthread_mutex_lock(&pool->lock);
        pthread_cond_broadcast(&pool->wake);
        pthread_mutex_unlock(&pool->lock);
    }
}

pside_pool *dae_pside_pool_create(int threads)
{
    if (threads > THREADS_MAX) threads = THREADS_MAX;
    if (threads < 2) return NULL;
    pside_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    if (pthread_mutex_init(&pool->lock, NULL)) goto no_lock;
    if (pthread_cond_init(&pool->wake, NULL)) goto no_wake;
    if (pthread_cond_init(&pool->done, NULL)) goto no_done;
    /* The workers read `threads` only after the first call, when it is final. */
    for (pool->threads = 1; pool->threads < threads; pool->threads++) {
        worker *w = &pool->worker[pool->threads];
        w->pool = pool;
        w->number = pool->threads;
        if (pthread_create(&w->thread, NULL, work, w)) break;
    }
    if (pool->threads > 1) return pool;
    pthread_cond_destroy(&pool->done);
no_done:
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
    pool->stop = 1;
    begin_call(pool);
    for (int k = 1; k < pool->threads; k++) pthread_join(pool->worker[k].thread, NULL);
    pthread_cond_destroy(&pool->done);
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
    pool->count = count;
    pool->task = task;
    pool->object = object;
    begin_call(pool);
    for (int k = 0; k < count; k += pool->threads) task(object, k);
    for (int k = 0; k < SPINS && atomic_load(&pool->busy); k++) pause_briefly();
    if (!atomic_load(&pool->busy)) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->waiting, 1);
    while (atomic_load(&pool->busy)) pthread_cond_wait(&pool->done, &pool->lock);
    atomic_store(&pool->waiting, 0);
    pthread_mutex_unlock(&pool->lock);
}
