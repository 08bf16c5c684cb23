/* A few threads that wait for pieces of work. A call has tasks 0 .. count-1. A task is a sequence of pieces of about the
 * same cost: they are done one after the other, each once, by whichever threads are free, so that a task may move from one thread to
 * another between two pieces. The caller takes its share while it waits for a task.
 *
 * Tasks must not depend on each other, and what a piece computes must not depend on the thread: then the results are those of
 * a plain loop.
 *
 * Tasks are begun in their order, the caller looks at the first ones first; but a task is preferred as soon as its pieces,
 * which cannot be done at the same time, would outlast the others. So all needed tasks end together, as if
 * their pieces could be spread evenly. */
#ifndef DAE_CORE_POOL_H
#define DAE_CORE_POOL_H

enum { DAE_POOL_TASKS = 128 }; /* at most */

typedef struct dae_pool dae_pool;
/* Does a piece, from 0. thread: 0 (the caller) .. threads-1. Not 0: the task is over. */
typedef int dae_pool_task(void *object, int task, int piece, int thread);

/* threads counts the caller. NULL: fewer than 2, or there is no memory or no thread to be had. */
dae_pool *dae_pool_create(int threads);
void dae_pool_destroy(dae_pool *p);      /* NULL allowed */
/* Threads look so often for more work before they sleep; 0 (default): not at all. For tasks of microseconds. */
void dae_pool_spin(dae_pool *p, int spins); /* NULL allowed */
int dae_pool_threads(const dae_pool *p); /* with the caller; NULL: 1 */
/* Begins and returns. Task k has pieces[k] of them (NULL: one). The caller will want the first `needed` tasks; those after them
 * are done when a thread would be idle. */
void dae_pool_start(dae_pool *p, int needed, int count, const int *pieces, dae_pool_task *task, void *object);
/* Another number of tasks will be wanted. */
void dae_pool_need(dae_pool *p, int needed);
/* Returns when the task is done. */
void dae_pool_wait(dae_pool *p, int task);
/* All tasks, of one piece each: start, and wait for each. NULL: a plain loop. */
void dae_pool_run(dae_pool *p, int count, dae_pool_task *task, void *object);
/* Waits for the pieces that run; those that have not begun are dropped. */
void dae_pool_settle(dae_pool *p); /* NULL allowed */

#endif
