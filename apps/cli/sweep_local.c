/* The runs of a sweep on the cores of this machine: worker processes that take the next run from a shared counter and
 * append it to logs of their own. The manager only watches: it starts workers, replaces those that die, and draws the
 * progress. A run whose worker died is tried once more and then recorded as lost. */
#include "sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_deaths = 100 };

/* In memory that all processes share. */
typedef struct shared {
    atomic_long next;         /* into pending */
    atomic_long done, failed; /* by the workers of this sweep */
    atomic_long in_flight[];  /* run of each worker, -1: none */
} shared;

typedef struct worker {
    pid_t pid; /* 0: none */
} worker;

typedef struct manager {
    sweep_job *s;
    shared *common;
    size_t size;
    worker *worker;
    int busy;
    long *lost; /* runs whose worker died */
    int nlost;
    cli_records log; /* of runs that are lost */
} manager;

static shared *share(size_t size)
{
    FILE *file = tmpfile();
    void *memory = MAP_FAILED;
    if (file && ftruncate(fileno(file), (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (file) fclose(file);
    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- A worker -------------------------------------------------------------------------------------- */

static int work(sweep_job *s, shared *common, int slot, long first, pid_t parent)
{
    cli_records log = {.fd = -1};
    cli_text line = {0};
    char name[64];
    int status;
    if (s->nshard > 1) snprintf(name, sizeof name, "s%ldof%ld.%d", s->shard + 1, s->nshard, slot);
    else snprintf(name, sizeof name, "%d", slot);
    status = cli_sweep_open_log(s, name, &log);
    while (!status && !cli_interrupted() && getppid() == parent) {
        long run = first;
        first = -1;
        if (run < 0) {
            long k = atomic_fetch_add(&common->next, 1);
            if (k >= s->npending) break;
            run = s->pending[k];
        }
        dae_status got;
        atomic_store(&common->in_flight[slot], run);
        line.length = 0;
        if (dae_sweep_run(s->sweep, run, cli_running, cli_write_text, &line, &got) < 0)
            status = cli_wrong(s->args, "out of memory");
        else if (got == DAE_ERR_MEMORY) /* that is of this moment, not of the run: it is not kept */
            status = cli_wrong(s->args, "run %ld: out of memory; what was finished is kept, --resume goes on",
                               run);
        if (status || got == DAE_CANCELLED) break;
        status = cli_sweep_append(s, &log, line.text, line.length);
        atomic_store(&common->in_flight[slot], -1);
        if (status) break;
        atomic_fetch_add(&common->done, 1);
        if (got < 0) atomic_fetch_add(&common->failed, 1);
    }
    if (log.fd >= 0 && !status) status = cli_records_close(s->args, &log);
    free(line.text);
    return status;
}

/* ---- The manager ----------------------------------------------------------------------------------- */

/* first: a run to begin with, -1: none. */
static int start(manager *m, int slot, long first)
{
    pid_t parent = getpid();
    fflush(NULL);
    atomic_store(&m->common->in_flight[slot], first);
    pid_t pid = fork();
    if (pid < 0) return cli_wrong(m->s->args, "fork: %s", strerror(errno));
    if (pid == 0) {
        m->s->args->json = 0;
        int status = work(m->s, m->common, slot, first, parent);
        _exit(status && cli_starved(0) ? EXIT_FAILED : status);
    }
    m->worker[slot].pid = pid;
    m->busy++;
    return 0;
}

static int record_lost(manager *m, long run, int signal_number)
{
    char reason[80];
    cli_text line = {0};
    snprintf(reason, sizeof reason, "two workers ended in this run, the last by signal %d", signal_number);
    int status = m->log.fd < 0 ? cli_sweep_open_log(m->s, "lost", &m->log) : 0;
    if (!status && dae_sweep_lost(m->s->sweep, run, reason, cli_write_text, &line) < 0)
        status = cli_wrong(m->s->args, "out of memory");
    if (!status) status = cli_sweep_append(m->s, &m->log, line.text, line.length);
    free(line.text);
    atomic_fetch_add(&m->common->done, 1);
    atomic_fetch_add(&m->common->failed, 1);
    return status;
}

/* A worker was killed or crashed: its run is tried again by its successor, once. */
static int replace(manager *m, int slot, int signal_number)
{
    long run = atomic_load(&m->common->in_flight[slot]);
    int before = 0, status = 0;
    for (int i = 0; i < m->nlost; i++) before += m->lost[i] == run;
    if (m->nlost == most_deaths)
        return cli_wrong(m->s->args,
                         "%d workers ended by signals (the last by %d); what was finished is kept", m->nlost,
                         signal_number);
    m->lost[m->nlost++] = run;
    if (run >= 0 && before > 0) {
        status = record_lost(m, run, signal_number);
        run = -1;
    }
    return status ? status : start(m, slot, run);
}

/* All that have ended. 0, or the status that ends the sweep. */
static int reap(manager *m)
{
    int status = 0, how;
    for (pid_t pid; (pid = waitpid(-1, &how, WNOHANG)) > 0;) {
        int slot = 0;
        while (slot < m->s->jobs && m->worker[slot].pid != pid) slot++;
        if (slot == m->s->jobs) continue;
        m->worker[slot].pid = 0;
        m->busy--;
        if (WIFEXITED(how) && WEXITSTATUS(how)) status = WEXITSTATUS(how); /* it has told why */
        else if (WIFSIGNALED(how) && !cli_interrupted() && !status) status = replace(m, slot, WTERMSIG(how));
    }
    return status;
}

static void stop_workers(const manager *m)
{
    for (int i = 0; i < m->s->jobs; i++) {
        if (m->worker[i].pid) kill(m->worker[i].pid, SIGTERM);
    }
}

static int watch(manager *m)
{
    double begin = cli_sweep_clock(), drawn = begin;
    int status = 0, stopped = 0;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    while (m->busy > 0) {
        sigtimedwait(&child, NULL, &(struct timespec){.tv_nsec = 100000000});
        int got = reap(m);
        if (got && !status) status = got;
        if ((status || cli_interrupted()) && !stopped) {
            stop_workers(m);
            stopped = 1;
        }
        double now = cli_sweep_clock();
        if (now - drawn > 0.2) {
            cli_sweep_progress(m->s, atomic_load(&m->common->done),
                               m->s->failed + atomic_load(&m->common->failed), now - begin, 0);
            drawn = now;
        }
    }
    cli_sweep_progress(m->s, 0, 0, 0, 1);
    return status ? status : cli_interrupted() ? EXIT_INTERRUPTED : 0;
}

int cli_sweep_local(sweep_job *s)
{
    manager m = {.s = s, .log = {.fd = -1}};
    sigset_t child, old;
    int status = 0;
    m.size = sizeof *m.common + (size_t)s->jobs * sizeof m.common->in_flight[0];
    m.common = share(m.size);
    m.worker = calloc((size_t)s->jobs, sizeof *m.worker);
    m.lost = calloc(most_deaths, sizeof *m.lost);
    if (!m.common || !m.worker || !m.lost) status = cli_wrong(s->args, "no memory for %d workers", s->jobs);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &old);
    for (int i = 0; !status && i < s->jobs && i < s->npending; i++) status = start(&m, i, -1);
    if (m.common && m.busy > 0) {
        if (status) stop_workers(&m);
        int watched = watch(&m);
        if (!status) status = watched;
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    if (m.log.fd >= 0 && cli_records_close(s->args, &m.log) && !status) status = EXIT_USAGE;
    if (m.common) munmap(m.common, m.size);
    free(m.worker);
    free(m.lost);
    return status;
}
