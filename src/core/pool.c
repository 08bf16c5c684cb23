#include "core/pool.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct member {
    dae_pool *pool;
    pthread_t thread;
    int number; /* 0 .. threads-1, 0: the caller, who has no thread here */
    int task;   /* that it does now, -1: none */
} member;

struct dae_pool {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake, done;
    int stop;
    int next, needed, count; /* tasks not handed out yet: next .. count-1 */
    int running;             /* tasks handed out and not finished */
    dae_pool_task *task;
    void *object;
    int threads; /* with the caller */
    member member[]; /* threads */
};

/* Does the next task. Called and left with the lock held. */
static void take_task(dae_pool *p, member *m)
{
    m->task = p->next++;
    p->running++;
    pthread_mutex_unlock(&p->lock);
    p->task(p->object, m->task, m->number);
    pthread_mutex_lock(&p->lock);
    p->running--;
    m->task = -1;
    if (m->number) pthread_cond_signal(&p->done);
}

static void *serve(void *argument)
{
    member *m = argument;
    dae_pool *p = m->pool;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        if (p->next < p->count) take_task(p, m);
        else pthread_cond_wait(&p->wake, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

dae_pool *dae_pool_create(int threads)
{
    if (threads < 2) return NULL;
    dae_pool *p = calloc(1, sizeof *p + (size_t)threads * sizeof(member));
    if (!p) return NULL;
    if (pthread_mutex_init(&p->lock, NULL)) goto no_lock;
    if (pthread_cond_init(&p->wake, NULL)) goto no_wake;
    if (pthread_cond_init(&p->done, NULL)) goto no_done;
    p->member[0].task = -1;
    for (p->threads = 1; p->threads < threads; p->threads++) {
        member *m = &p->member[p->threads];
        m->pool = p;
        m->number = p->threads;
        m->task = -1;
        if (pthread_create(&m->thread, NULL, serve, m)) break;
    }
    if (p->threads > 1) return p;
    pthread_cond_destroy(&p->done);
no_done:
    pthread_cond_destroy(&p->wake);
no_wake:
    pthread_mutex_destroy(&p->lock);
no_lock:
    free(p);
    return NULL;
}

void dae_pool_destroy(dae_pool *p)
{
    if (!p) return;
    dae_pool_settle(p);
    pthread_mutex_lock(&p->lock);
    p->stop = 1;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
    for (int k = 1; k < p->threads; k++) pthread_join(p->member[k].thread, NULL);
    pthread_cond_destroy(&p->done);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

int dae_pool_threads(const dae_pool *p)
{
    return p ? p->threads : 1;
}

void dae_pool_start(dae_pool *p, int needed, int count, dae_pool_task *task, void *object)
{
    dae_pool_settle(p);
    pthread_mutex_lock(&p->lock);
    p->task = task;
    p->object = object;
    p->next = 0;
    p->needed = needed;
    p->count = count;
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

/* With the lock held: somebody does this task now. */
static int is_running(const dae_pool *p, int task)
{
    for (int k = 0; k < p->threads; k++) {
        if (p->member[k].task == task) return 1;
    }
    return 0;
}

int dae_pool_wait(dae_pool *p, int task)
{
    pthread_mutex_lock(&p->lock);
    while (task >= p->next || is_running(p, task)) {
        if (p->next < p->needed) take_task(p, &p->member[0]);
        else if (task < p->next) pthread_cond_wait(&p->done, &p->lock);
        else break;
    }
    int done = task < p->next;
    if (!done) p->next = p->count;
    pthread_mutex_unlock(&p->lock);
    return done;
}

void dae_pool_run(dae_pool *p, int count, dae_pool_task *task, void *object)
{
    if (p) dae_pool_start(p, count, count, task, object);
    for (int k = 0; k < count; k++) {
        if (p) dae_pool_wait(p, k);
        else task(object, k, 0);
    }
}

void dae_pool_settle(dae_pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->next = p->count;
    while (p->running > 0) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
