/* Many rows at a time, each in a process of its own: a run that crashes or never ends is one failed run. */
#include <daedalus/results.h>
#include <daedalus/workers.h>

#include "core/error.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

typedef struct batch {
    dae_result_row *row;
    const int *order;
    const dae_results_options *opt;
    int count, done, failed, starved;
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
    dae_result_run(&result, b->opt->max_seconds, b->opt->repeat);
    return write((const char *)&result, sizeof result, to) < 0 ? 1 : 0;
}

static int finish(batch *b, const dae_result_row *row)
{
    if (row->run.status == DAE_ERR_MEMORY) { /* that is of this moment, not of the run: it is not kept */
        b->starved = 1;
        return 0;
    }
    b->done++;
    b->failed += row->run.status != DAE_OK;
    return b->opt->done && b->opt->done(row, b->opt->user) ? -1 : 0;
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
    dae_measurement *m = &row_of(b, task)->run;
    m->mescd = m->scd = m->cpu_seconds = NAN;
    if (number == SIGXCPU || number == SIGKILL) {
        m->status = DAE_ERR_MAX_SECONDS;
        strcpy(m->message, "the run did not end at its limit of CPU time and was killed");
    } else {
        m->status = DAE_ERR_INTERNAL;
        snprintf(m->message, sizeof m->message, "the run crashed (signal %d)", number);
    }
    return finish(b, row_of(b, task));
}

static int look(void *user)
{
    const batch *b = user;
    return b->opt->look ? b->opt->look(b->done, b->failed, b->count, b->opt->user) : 0;
}

dae_status dae_results_run(dae_result_row *row, const int *order, int count, const dae_results_options *opt,
                           dae_error *err)
{
    const dae_results_options standard = {0};
    if (!opt) opt = &standard;
    batch b = {row, order, opt, count, 0, 0, 0};
    double seconds = opt->max_seconds * (opt->repeat > 1 ? opt->repeat + 1 : 1);
    dae_workers w = {.jobs = opt->jobs,
                     .fresh = 1,
                     .cpu_seconds =
                         seconds > 0 ? 2 * seconds + 8 : 0, /* the limit of the run comes before it */
                     .ended_by_signals = 1,
                     .work = work,
                     .done = on_done,
                     .died = on_died,
                     .look = look,
                     .user = &b};
    dae_status s = dae_workers_run(&w, count, NULL, err);
    look(&b);
    return s >= 0 && b.starved ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory") : s;
}
