/* Rows of tables and of the matrix, with a line of progress. */
#include "cli.h"

#include <math.h>
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
    const cli_jobs *jobs;
    progress p;
    dae_error err;
} batch;

static int on_done(const dae_result_row *row, void *user)
{
    const cli_jobs *j = ((batch *)user)->jobs;
    return j->done ? j->done(row, j->user) : 0;
}

static int look(int done, int failed, int count, void *user)
{
    progress *p = &((batch *)user)->p;
    p->done = done;
    p->failed = failed;
    p->count = count;
    show(p, 0);
    return cli_interrupted();
}

static dae_results_options begin(batch *b, const cli_jobs *jobs)
{
    *b = (batch){jobs, {jobs->label, 0, 0, 0, isatty(STDERR_FILENO), 0, now(), now()}, {0}};
    cli_catch_signals();
    return (dae_results_options){jobs->jobs, jobs->max_seconds, jobs->repeat, on_done, look, b};
}

static int end(const cli_args *args, batch *b, dae_status s)
{
    show(&b->p, 1);
    if (cli_interrupted()) return EXIT_INTERRUPTED;
    if (s == DAE_ERR_MEMORY || s == DAE_ERR_UNSUPPORTED) return cli_wrong(args, "%s", b->err.text);
    return s == DAE_OK ? 0 : EXIT_USAGE;
}

int cli_jobs_run(const cli_args *args, dae_result_row *row, const int *order, int count, const cli_jobs *jobs)
{
    batch b;
    dae_results_options o = begin(&b, jobs);
    return end(args, &b, dae_results_run(row, order, count, &o, &b.err));
}

int cli_jobs_matrix(const cli_args *args, dae_matrix_runs *runs, const cli_jobs *jobs)
{
    batch b;
    dae_results_options o = begin(&b, jobs);
    return end(args, &b, dae_matrix_run(runs, &o, &b.err));
}
