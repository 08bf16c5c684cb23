/* Worker processes. What a worker writes comes back through a pipe of its own, as messages: task, length, bytes. The end of the
 * pipe tells that it is gone; which task it was at is known from the shared memory. */
#include <daedalus/workers.h>

#include "core/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most = 1024, look_ms = 100, patience_ms = 600 }; /* patience: after SIGTERM before SIGKILL; ours */

typedef struct shared {
    atomic_long next;   /* the first task that nobody has taken */
    atomic_long task[]; /* of each worker, -1: none */
} shared;

typedef struct head {
    long task;
    size_t length;
} head;

enum { no_memory = 117 }; /* exit status of a worker; ours, beside those of callers */

typedef struct worker {
    pid_t pid; /* 0: none */
    int pipe;
    dae_bytes got; /* what came and is no whole message yet */
} worker;

typedef struct pool {
    const dae_workers *w;
    long count;
    shared *common;
    size_t size;
    worker *worker;
    int jobs, busy;
    int stop;    /* 1: a callback of the caller, 2: the exit status of a worker */
    int status;  /* of that worker */
    int trouble; /* errno of what could not be done, or 0 */
} pool;

static shared *share(size_t size)
{
    FILE *file = tmpfile();
    void *memory = MAP_FAILED;
    if (file && ftruncate(fileno(file), (off_t)size) == 0)
        memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    if (file) fclose(file);
    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- In a worker -------------------------------------------------------------------------------------- */

/* From now on so much more CPU time; the system's signal ends who takes more. */
static void limit(double seconds)
{
    struct timespec used;
    struct rlimit r;
    if (!(seconds > 0) || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0 ||
        getrlimit(RLIMIT_CPU, &r) != 0)
        return;
    rlim_t soft = (rlim_t)((double)used.tv_sec + seconds + 2);
    r.rlim_cur = r.rlim_max == RLIM_INFINITY || soft < r.rlim_max ? soft : r.rlim_max;
    setrlimit(RLIMIT_CPU, &r);
}

static int send_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t n = write(fd, data, length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        data += n;
        length -= (size_t)n;
    }
    return 0;
}

/* Does tasks until there are none. first: one to begin with, -1: none. */
static int serve(const pool *p, int slot, long first, int fd, pid_t parent)
{
    const dae_workers *w = p->w;
    dae_bytes message = {0};
    int status = w->begin ? w->begin(slot, w->user) : 0;
    while (!status && getppid() == parent) {
        long task = first >= 0 ? first : atomic_fetch_add(&p->common->next, 1);
        if (task >= p->count) break;
        first = -1;
        atomic_store(&p->common->task[slot], task);
        limit(w->cpu_seconds);
        head h = {.task = task};
        message.length = 0;
        if (dae_bytes_write((const char *)&h, sizeof h, &message) < 0) status = 1;
        if (!status) status = w->work(task, slot, dae_bytes_write, &message, w->user);
        if (message.starved) status = no_memory;
        if (status) break;
        h.length = message.length - sizeof h;
        memcpy(message.text, &h, sizeof h);
        if (send_all(fd, message.text, message.length) < 0) break; /* nobody listens */
        atomic_store(&p->common->task[slot], -1);
        if (w->fresh) break;
    }
    int ended = w->end ? w->end(slot, w->user) : 0;
    free(message.text);
    return status ? status : ended;
}

/* ---- In the caller ------------------------------------------------------------------------------------- */

static int start(pool *p, int slot, long first)
{
    worker *x = &p->worker[slot];
    pid_t parent = getpid();
    int end[2];
    if (pipe(end) != 0) return errno;
    fcntl(end[0], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    atomic_store(&p->common->task[slot], first);
    pid_t pid = fork();
    if (pid < 0) {
        int why = errno;
        close(end[0]);
        close(end[1]);
        return why;
    }
    if (pid == 0) {
        if (p->w->ended_by_signals) {
            signal(SIGINT, SIG_DFL);
            signal(SIGTERM, SIG_DFL);
        }
        signal(SIGPIPE, SIG_IGN);
        close(end[0]);
        for (int i = 0; i < p->jobs; i++) { /* others' ends: theirs to see close */
            if (p->worker[i].pid) close(p->worker[i].pipe);
        }
        int status = serve(p, slot, first, end[1], parent);
        fflush(NULL);
        _exit(status);
    }
    close(end[1]);
    fcntl(end[0], F_SETFL, O_NONBLOCK);
    x->pid = pid;
    x->pipe = end[0];
    x->got.length = 0;
    p->busy++;
    return 0;
}

/* Whole messages that have come. */
static void deliver(pool *p, worker *x)
{
    size_t at = 0;
    head h;
    while (x->got.length - at >= sizeof h) {
        memcpy(&h, x->got.text + at, sizeof h);
        if (x->got.length - at < sizeof h + h.length) break;
        if (p->w->done && p->w->done(h.task, x->got.text + at + sizeof h, h.length, p->w->user) < 0 &&
            !p->stop)
            p->stop = 1;
        at += sizeof h + h.length;
    }
    if (at) memmove(x->got.text, x->got.text + at, x->got.length -= at);
}

/* 1: the pipe is at its end. */
static int receive(pool *p, worker *x)
{
    char block[8192];
    for (;;) {
        ssize_t n = read(x->pipe, block, sizeof block);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno != EAGAIN && errno != EWOULDBLOCK;
        if (n == 0) return 1;
        if (dae_bytes_write(block, (size_t)n, &x->got) < 0) {
            p->trouble = ENOMEM;
            return 1;
        }
        deliver(p, x);
    }
}

/* A worker is gone: what becomes of its task, and who takes its place. */
static void bury(pool *p, int slot)
{
    worker *x = &p->worker[slot];
    int how = 0;
    long task = -1;
    close(x->pipe);
    while (waitpid(x->pid, &how, 0) < 0 && errno == EINTR) continue;
    x->pid = 0;
    p->busy--;
    if (p->stop || p->trouble) return;
    if (WIFSIGNALED(how)) {
        long at = atomic_load(&p->common->task[slot]);
        int verdict = p->w->died ? p->w->died(at, WTERMSIG(how), p->w->user) : 0;
        if (verdict < 0) p->stop = 1;
        else if (verdict > 0) task = at;
    } else if (WEXITSTATUS(how) == no_memory) {
        p->trouble = ENOMEM;
    } else if (WEXITSTATUS(how)) {
        p->stop = 2;
        p->status = WEXITSTATUS(how);
    }
    if (!p->stop && !p->trouble && (task >= 0 || atomic_load(&p->common->next) < p->count))
        p->trouble = start(p, slot, task);
}

static void tell_all(const pool *p, int number)
{
    for (int i = 0; i < p->jobs; i++) {
        if (p->worker[i].pid) kill(p->worker[i].pid, number);
    }
}

static void watch(pool *p)
{
    struct pollfd *fd = calloc((size_t)p->jobs, sizeof *fd);
    int waited = -1;
    if (!fd) p->trouble = ENOMEM;
    while (p->busy > 0) {
        nfds_t n = 0;
        for (int i = 0; fd && i < p->jobs; i++) {
            if (p->worker[i].pid) fd[n++] = (struct pollfd){.fd = p->worker[i].pipe, .events = POLLIN};
        }
        poll(fd, n, look_ms);
        for (int i = 0; i < p->jobs; i++) {
            if (p->worker[i].pid && receive(p, &p->worker[i])) bury(p, i);
        }
        if (p->w->look && p->w->look(p->w->user) && !p->stop) p->stop = 1;
        if (!p->stop && !p->trouble) continue;
        if (waited < 0) tell_all(p, SIGTERM);
        else if (waited > patience_ms) tell_all(p, SIGKILL);
        waited += look_ms;
    }
    free(fd);
}

/* One worker after another, each with slot 0, in the process of the caller. */
static dae_status run_here(const dae_workers *w, long count, int *status)
{
    dae_bytes message = {0};
    int bad = 0, stop = 0;
    for (long task = 0; task < count && !bad && !stop;) {
        bad = w->begin ? w->begin(0, w->user) : 0;
        for (int first = 1; task < count && !bad && !stop && (first || !w->fresh); first = 0, task++) {
            message.length = 0;
            bad = w->work(task, 0, dae_bytes_write, &message, w->user);
            stop = !bad && w->done && w->done(task, message.text, message.length, w->user) < 0;
            stop = stop || (w->look && w->look(w->user));
        }
        int ended = w->end ? w->end(0, w->user) : 0;
        bad = bad ? bad : ended;
    }
    free(message.text);
    if (status) *status = bad;
    return bad ? DAE_ERR_CALLBACK : stop ? DAE_CANCELLED : DAE_OK;
}

dae_status dae_workers_run(const dae_workers *w, long count, int *status, dae_error *err)
{
    pool p = {.w = w, .count = count, .jobs = w->jobs < 1 ? 1 : w->jobs > most ? most : w->jobs};
    if (p.jobs > count) p.jobs = (int)count;
    if (status) *status = 0;
    if (count < 1) return DAE_OK;
    if (w->here) return run_here(w, count, status);
    p.size = sizeof *p.common + (size_t)p.jobs * sizeof p.common->task[0];
    p.common = share(p.size);
    p.worker = calloc((size_t)p.jobs, sizeof *p.worker);
    if (!p.common || !p.worker) {
        p.trouble = ENOMEM;
    } else {
        for (int i = 0; i < p.jobs && !p.trouble; i++) p.trouble = start(&p, i, -1);
        if (p.busy > 0 && p.trouble != ENOMEM) p.trouble = 0; /* fewer of them will do */
        watch(&p);
    }
    for (int i = 0; p.worker && i < p.jobs; i++) free(p.worker[i].got.text);
    free(p.worker);
    if (p.common) munmap(p.common, p.size);
    if (p.trouble == ENOMEM) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d workers", p.jobs);
    if (p.trouble)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "no process can be started: %s", strerror(p.trouble));
    if (status) *status = p.status;
    return p.stop == 2 ? DAE_ERR_CALLBACK : p.stop ? DAE_CANCELLED : DAE_OK;
}
