#include "core/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct member {
    dae_pool *pool;
    pthread_t thread;
    int number; /* 0 .. threads-1, 0: the caller, who has no thread here */
} member;

typedef struct sequence {
    int next, pieces; /* pieces that have not begun: next .. pieces-1 */
    int running;      /* one is being done */
} sequence;

struct dae_pool {
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t wake, done;
    int stop;
    int needed, count;
    int running; /* pieces that are being done */
    int idle;    /* members that wait for work */
    int wanted;  /* the caller sleeps until this task is done; -1: it does not */
    sequence task[DAE_POOL_TASKS];
    dae_pool_task *function;
    void *object;
    int spins;        /* looks before a thread sleeps */
    atomic_uint news; /* grows when a call begins and when a piece ends */
    int threads;     /* with the caller */
    member member[]; /* threads */
};

static int left(const sequence *s)
{
    return s->pieces - s->next;
}

static int finished(const sequence *s)
{
    return !left(s) && !s->running;
}

/* The task of which the next piece should be done, -1: there is none. With the lock held. */
static int choose(const dae_pool *p)
{
    int first = -1, longest = -1, total = 0;
    for (int k = 0; k < p->needed; k++) {
        const sequence *s = &p->task[k];
        total += left(s);
        if (s->running || !left(s)) continue;
        if (first < 0) first = k;
        if (longest < 0 || left(s) >= left(&p->task[longest])) longest = k;
    }
    if (longest >= 0) return left(&p->task[longest]) * p->threads >= total ? longest : first;
    for (int k = p->needed; k < p->count; k++) { /* ahead of need */
        if (!p->task[k].running && left(&p->task[k])) return k;
    }
    return -1;
}

/* Does the next piece of a task. Called and left with the lock held. */
static void do_piece(dae_pool *p, int task, int thread)
{
    sequence *s = &p->task[task];
    int piece = s->next++;
    s->running = 1;
    p->running++;
    pthread_mutex_unlock(&p->lock);
    int over = p->function(p->object, task, piece, thread);
    pthread_mutex_lock(&p->lock);
    p->running--;
    s->running = 0;
    if (over) s->next = s->pieces;
    atomic_fetch_add(&p->news, 1);
    if (thread && ((p->wanted == task && finished(s)) || !p->running)) pthread_cond_signal(&p->done);
}

static void pause_briefly(void)
{
#if defined(__GNUC__) && defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Looks for news for a while: a thread that sleeps is slow to wake. Called and left with the lock held. */
static void linger(dae_pool *p)
{
    unsigned seen = atomic_load(&p->news);
    pthread_mutex_unlock(&p->lock);
    for (int k = 0; k < p->spins && atomic_load(&p->news) == seen; k++) pause_briefly();
    pthread_mutex_lock(&p->lock);
}

static void *serve(void *argument)
{
    member *m = argument;
    dae_pool *p = m->pool;
    int lingered = 0;
    pthread_mutex_lock(&p->lock);
    while (!p->stop) {
        int task = choose(p);
        if (p->wanted >= 0 && p->wanted != task && !p->task[p->wanted].running) pthread_cond_signal(&p->done);
        if (task >= 0) {
            do_piece(p, task, m->number);
            lingered = 0;
            continue;
        }
        if (p->spins > 0 && !lingered) {
            linger(p);
            lingered = 1;
            continue;
        }
        p->idle++;
        pthread_cond_wait(&p->wake, &p->lock);
        p->idle--;
        lingered = 0;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

dae_pool *dae_pool_create(int threads)
{
    if (threads < 2) return NULL;
    dae_pool *p = calloc(1, sizeof *p + (size_t)threads * sizeof(member));
    if (!p) return NULL;
    p->wanted = -1;
    if (pthread_mutex_init(&p->lock, NULL)) goto no_lock;
    if (pthread_cond_init(&p->wake, NULL)) goto no_wake;
    if (pthread_cond_init(&p->done, NULL)) goto no_done;
    pthread_mutex_lock(&p->lock); /* threads is of interest to those that begin */
    for (p->threads = 1; p->threads < threads; p->threads++) {
        member *m = &p->member[p->threads];
        m->pool = p;
        m->number = p->threads;
        if (pthread_create(&m->thread, NULL, serve, m)) break;
    }
    pthread_mutex_unlock(&p->lock);
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

void dae_pool_spin(dae_pool *p, int spins)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->spins = spins;
    pthread_mutex_unlock(&p->lock);
}

int dae_pool_threads(const dae_pool *p)
{
    return p ? p->threads : 1;
}

void dae_pool_start(dae_pool *p, int needed, int count, const int *pieces, dae_pool_task *task, void *object)
{
    dae_pool_settle(p);
    pthread_mutex_lock(&p->lock);
    p->function = task;
    p->object = object;
    p->needed = needed;
    p->count = count;
    for (int k = 0; k < count; k++) p->task[k] = (sequence){.pieces = pieces ? pieces[k] : 1};
    atomic_fetch_add(&p->news, 1);
    if (p->idle) pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
}

void dae_pool_need(dae_pool *p, int needed)
{
    pthread_mutex_lock(&p->lock);
    p->needed = needed < p->count ? needed : p->count;
    pthread_mutex_unlock(&p->lock);
}

/* The caller waits for a task that another thread is at. It does a piece of another one meanwhile, unless that would probably end after
 * the task. */
static int meanwhile(const dae_pool *p, int wanted)
{
    int task = choose(p);
    return task < p->needed || left(&p->task[wanted]) > 0 ? task : -1;
}

void dae_pool_wait(dae_pool *p, int task)
{
    sequence *s = &p->task[task];
    int lingered = 0;
    pthread_mutex_lock(&p->lock);
    if (p->needed <= task) p->needed = task + 1;
    while (!finished(s)) {
        int k = meanwhile(p, task);
        if (k >= 0) {
            do_piece(p, k, 0);
            continue;
        }
        if (p->spins > 0 && !lingered) {
            linger(p);
            lingered = 1;
            continue;
        }
        p->wanted = task;
        pthread_cond_wait(&p->done, &p->lock);
        p->wanted = -1;
    }
    if (p->idle && choose(p) >= 0) pthread_cond_signal(&p->wake); /* what the caller leaves */
    pthread_mutex_unlock(&p->lock);
}

void dae_pool_run(dae_pool *p, int count, dae_pool_task *task, void *object)
{
    if (p) dae_pool_start(p, count, count, NULL, task, object);
    for (int k = 0; k < count; k++) {
        if (p) dae_pool_wait(p, k);
        else task(object, k, 0, 0);
    }
}

void dae_pool_settle(dae_pool *p)
{
    if (!p) return;
    pthread_mutex_lock(&p->lock);
    p->needed = p->count = 0;
    while (p->running > 0) pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}
