/* Many tasks in a few worker processes, so that a task that crashes or never ends is one failed task. Workers take the next task
 * from a counter in shared memory, are watched by the caller and replaced when they die. */
#ifndef DAEDALUS_WORKERS_H
#define DAEDALUS_WORKERS_H

#include <daedalus/status.h>

DAE_BEGIN_DECLS

typedef struct dae_workers {
    int jobs;             /* worker processes; less than 1: one */
    int here;             /* 1: no process is started, the caller does task after task (where none may be, or can) */
    int fresh;            /* 1: a new process for every task */
    double cpu_seconds;   /* CPU time after which a task's process is ended by the system; 0: no limit */
    int ended_by_signals; /* 1: SIGINT and SIGTERM end a worker at once, whatever the caller does at them */
    /* In a worker. begin: before its first task, 0 or the exit status that ends all. work: does a task; what it writes
     * reaches done; 0, or the exit status that ends all. end: after its last task. NULL: nothing, but for work. */
    int (*begin)(int worker, void *user);
    int (*work)(long task, int worker, dae_write_fn *write, void *to, void *user);
    int (*end)(int worker, void *user);
    /* In the caller. done: a task was done and wrote this; < 0 ends all. died: a signal ended the worker of a task (task < 0:
     * between two); 1: try it again, 0: it is dealt with, < 0: end all. look: about ten times a second; not 0 ends all. */
    int (*done)(long task, const void *result, size_t length, void *user);
    int (*died)(long task, int signal_number, void *user);
    int (*look)(void *user);
    void *user;
} dae_workers;

/* Tasks 0 .. count-1. DAE_OK; DAE_CANCELLED: a callback of the caller ended it; DAE_ERR_CALLBACK: a worker did, *status is its
 * exit status (NULL: not wanted); DAE_ERR_MEMORY and DAE_ERR_UNSUPPORTED (no process can be started): see *err. No worker is left
 * running. */
DAE_API dae_status dae_workers_run(const dae_workers *w, long count, int *status, dae_error *err);

DAE_END_DECLS

#endif
