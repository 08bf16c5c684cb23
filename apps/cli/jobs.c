/* Many runs at a time, each in a process of its own: a run that crashes or never ends is one failed run. */
#include "cli.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double line_interval = 0.2,
                    log_interval = 2; /* seconds between lines on a terminal, elsewhere; ours */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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

typedef struct batch {
    dae_result_row *row;
    const int *order;
    const cli_jobs *jobs;
    progress p;
} batch;

static dae_result_row *row_of(const batch *b, long task)
{
    return &b->row[b->order ? b->order[task] : task];
}

static int work(long task, int worker, dae_write_fn *write, void *to, void *user)
{
    const batch *b = user;
    dae_result_row result = *row_of(b, task);
    (void)worker;
    dae_result_run(&result, b->jobs->max_seconds, b->jobs->repeat);
    return write((const char *)&result, sizeof result, to) < 0 ? EXIT_FAILED : 0;
}

static int finish(batch *b, const dae_result_row *row)
{
    b->p.done++;
    b->p.failed += row->run.status != DAE_OK;
    return b->jobs->done ? b->jobs->done(row, b->jobs->user) : 0;
}

static int on_done(long task, const void *result, size_t length, void *user)
{
    batch *b = user;
    dae_result_row *row = row_of(b, task);
    if (length != sizeof *row) return -1;
    memcpy(row, result, sizeof *row);
    return finish(b, row);
}

static int on_died(long task, int number, void *user)
{
    batch *b = user;
    if (task < 0) return 0;
    dae_result_row *row = row_of(b, task);
    row->run.mescd = row->run.scd = row->run.cpu_seconds = NAN;
    if (number == SIGXCPU || number == SIGKILL) {
        row->run.status = DAE_ERR_MAX_SECONDS;
        strcpy(row->run.message, "the run did not end at its limit of CPU time and was killed");
    } else {
        row->run.status = DAE_ERR_INTERNAL;
        snprintf(row->run.message, sizeof row->run.message, "the run crashed (signal %d)", number);
    }
    return finish(b, row);
}

static int look(void *user)
{
    show(&((batch *)user)->p, 0);
    return cli_interrupted();
}

int cli_jobs_run(const cli_args *args, dae_result_row *row, const int *order, int count, const cli_jobs *jobs)
{
    batch b = {row, order, jobs, {jobs->label, count, 0, 0, isatty(STDERR_FILENO), 0, now(), now()}};
    double seconds = jobs->max_seconds * (jobs->repeat > 1 ? jobs->repeat + 1 : 1);
    dae_workers w = {.jobs = jobs->jobs,
                     .fresh = 1,
                     .cpu_seconds =
                         seconds > 0 ? 2 * seconds + 8 : 0, /* the limit of the run comes before it */
                     .ended_by_signals = 1,
                     .work = work,
                     .done = on_done,
                     .died = on_died,
                     .look = look,
                     .user = &b};
    dae_error err = {0};
    cli_catch_signals();
    dae_status s = dae_workers_run(&w, count, NULL, &err);
    show(&b.p, 1);
    if (cli_interrupted()) return EXIT_INTERRUPTED;
    if (s == DAE_ERR_MEMORY || s == DAE_ERR_UNSUPPORTED) return cli_wrong(args, "%s", err.text);
    return s == DAE_OK ? 0 : EXIT_USAGE;
}
