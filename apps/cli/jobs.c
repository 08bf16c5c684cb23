/* Many runs at a time: one process each, results through a pipe. A run that crashes or never ends is one failed
 * run, and the CPU time of a run is its own. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_jobs = 256 };
static const double line_interval = 0.2,
                    log_interval = 2; /* seconds between lines on a terminal, elsewhere; ours */

typedef struct worker {
    pid_t pid; /* 0: idle */
    int pipe;
    int row;
} worker;

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    cli_note_signal(number);
    stop = 1;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- The process of a run --------------------------------------------------------------------------- */

/* Signal numbers that end a process at its CPU limit are the system's; the limit of the run comes before it. */
static void limit_process(double seconds)
{
    if (!(seconds > 0)) return;
    rlim_t hard = (rlim_t)(2 * seconds + 10);
    setrlimit(RLIMIT_CPU, &(struct rlimit){hard, hard});
}

static int start(worker *w, dae_result_row *row, int index, const cli_jobs *jobs)
{
    int end[2];
    if (pipe(end) != 0) return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        close(end[0]);
        close(end[1]);
        return -1;
    }
    if (pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        close(end[0]);
        limit_process(jobs->max_seconds * (jobs->repeat > 1 ? jobs->repeat + 1 : 1));
        dae_result_row result = *row;
        dae_result_run(&result, jobs->max_seconds, jobs->repeat);
        ssize_t n = write(end[1], &result, sizeof result); /* below PIPE_BUF: all or nothing */
        _exit(n == (ssize_t)sizeof result ? 0 : 1);
    }
    close(end[1]);
    *w = (worker){pid, end[0], index};
    return 0;
}

/* Takes the result over; 1: there is one, 0: the run was ended by a signal to this program. */
static int collect(worker *w, dae_result_row *row)
{
    dae_result_row result;
    int status = 0;
    ssize_t n;
    do n = read(w->pipe, &result, sizeof result);
    while (n < 0 && errno == EINTR);
    close(w->pipe);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
    w->pid = 0;
    if (n == (ssize_t)sizeof result) {
        *row = result;
        return 1;
    }
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (stop || number == SIGINT || number == SIGTERM) return 0;
    row->mescd = row->scd = row->cpu_seconds = NAN;
    if (number == SIGXCPU || number == SIGKILL) {
        row->status = DAE_ERR_MAX_SECONDS;
        strcpy(row->message, "the run did not end at its limit of CPU time and was killed");
    } else {
        row->status = DAE_ERR_INTERNAL;
        snprintf(row->message, sizeof row->message, "the run crashed (signal %d)", number);
    }
    return 1;
}

/* ---- Progress ----------------------------------------------------------------------------------------- */

typedef struct progress {
    const char *label;
    int count, done, failed, terminal, part;
    double begin, last;
} progress;

static void show(progress *p, int end)
{
    double time = now(), elapsed = time - p->begin;
    int part = p->count ? 20 * p->done / p->count : 20;
    int quiet =
        p->terminal ? time - p->last < line_interval : part == p->part || time - p->last < log_interval;
    if (!p->label || (!end && quiet) || (end && elapsed < log_interval)) return;
    p->last = time;
    p->part = part;
    double eta = p->done ? elapsed * (p->count - p->done) / p->done : NAN;
    fprintf(stderr, "%s%s: %d/%d runs, %d failed, %.0f s", p->terminal ? "\r" : "", p->label, p->done,
            p->count, p->failed, elapsed);
    if (!end && isfinite(eta)) fprintf(stderr, ", ETA %.0f s", eta);
    fputs(p->terminal && !end ? "\033[K" : p->terminal ? "\033[K\n" : "\n", stderr);
    fflush(stderr);
}

/* ---- All of them -------------------------------------------------------------------------------------- */

static void wait_for_one(const worker *w, int n)
{
    struct pollfd fd[most_jobs];
    nfds_t k = 0;
    for (int i = 0; i < n; i++) {
        if (w[i].pid) fd[k++] = (struct pollfd){.fd = w[i].pipe, .events = POLLIN};
    }
    if (k) poll(fd, k, 200);
}

static int is_ready(const worker *w)
{
    struct pollfd fd = {.fd = w->pipe, .events = POLLIN};
    return w->pid && poll(&fd, 1, 0) > 0;
}

int cli_jobs_run(const cli_args *args, dae_result_row *row, const int *order, int count, const cli_jobs *jobs)
{
    worker w[most_jobs] = {{0}};
    int n = jobs->jobs < 1           ? 1
            : jobs->jobs > most_jobs ? most_jobs
                                     : jobs->jobs,
        next = 0, running = 0, status = 0;
    progress p = {jobs->label, count, 0, 0, isatty(STDERR_FILENO), 0, now(), now()};
    struct sigaction action = {.sa_handler = on_signal}, old[2];
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old[0]);
    sigaction(SIGTERM, &action, &old[1]);
    stop = 0;
    while ((next < count && !stop && !status) || running > 0) {
        for (int i = 0; i < n && next < count && !stop && !status; i++) {
            if (w[i].pid) continue;
            int index = order ? order[next] : next;
            if (start(&w[i], &row[index], index, jobs) < 0) {
                if (running == 0) status = cli_wrong(args, "no process can be started: %s", strerror(errno));
                break;
            }
            next++;
            running++;
        }
        if (stop || status) {
            for (int i = 0; i < n; i++) {
                if (w[i].pid) kill(w[i].pid, SIGKILL);
            }
        }
        wait_for_one(w, n);
        for (int i = 0; i < n; i++) {
            if (!is_ready(&w[i])) continue;
            int k = w[i].row;
            running--;
            if (!collect(&w[i], &row[k])) continue;
            p.done++;
            p.failed += row[k].status != DAE_OK;
            if (jobs->done && !status && jobs->done(&row[k], jobs->user) < 0) status = EXIT_USAGE;
        }
        show(&p, 0);
    }
    show(&p, 1);
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    return stop ? EXIT_INTERRUPTED : status;
}
