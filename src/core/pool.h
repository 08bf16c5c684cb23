/* A few threads that wait for pieces of work. A call has tasks 0 .. count-1, handed out in this order, each done once by
 * whichever thread is free; the caller takes its share while it waits for one of them. Tasks must not depend on each other, and what they compute
 * must not depend on the thread: then the results are those of a plain loop. */
#ifndef DAE_CORE_POOL_H
#define DAE_CORE_POOL_H

typedef struct dae_pool dae_pool;
typedef void dae_pool_task(void *object, int task, int thread); /* thread: 0 (the caller) .. threads-1 */

/* threads counts the caller. NULL: fewer than 2, or there is no memory or no thread to be had. */
dae_pool *dae_pool_create(int threads);
void dae_pool_destroy(dae_pool *p);         /* NULL allowed */
int dae_pool_threads(const dae_pool *p);    /* with the caller; NULL: 1 */
/* Begins and returns. The caller will want the first `needed` tasks; the others are ahead of need, and left to the other threads. */
void dae_pool_start(dae_pool *p, int needed, int count, dae_pool_task *task, void *object);
/* Returns 1 when the task is done; until then the caller does needed tasks itself. 0: it is not needed and nobody has
 * begun with it; then no further task begins. */
int dae_pool_wait(dae_pool *p, int task);
/* All tasks: start, and wait for each. NULL: a plain loop. */
void dae_pool_run(dae_pool *p, int count, dae_pool_task *task, void *object);
/* Waits for the tasks that run; those that have not begun are dropped. */
void dae_pool_settle(dae_pool *p); /* NULL allowed */

#endif
