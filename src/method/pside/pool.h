/* A few threads that wait for small pieces of work: tasks 0 .. count-1 of a call, each done once, by the
 * caller or by whoever is free. Tasks must not depend on each other; the results are then those of a plain
 * loop. A thread that the system does not let run delays nobody: the caller takes what is left. */
#ifndef DAE_METHOD_PSIDE_POOL_H
#define DAE_METHOD_PSIDE_POOL_H

typedef struct pside_pool pside_pool;
typedef void pside_task(void *object, int task);

/* `threads` counts the caller. NULL: fewer than 2, or no memory or threads to be had. */
pside_pool *dae_pside_pool_create(int threads);
void dae_pside_pool_destroy(pside_pool *pool); /* NULL allowed */
/* Returns when all tasks (at most 255) are done; pool NULL: a plain loop. */
void dae_pside_pool_run(pside_pool *pool, int count, pside_task *task, void *object);

#endif
