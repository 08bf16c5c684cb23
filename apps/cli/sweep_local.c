/* The runs of a sweep on the cores of this machine: worker processes append them to logs of their own; nothing but their number
 * passes this process. A run whose worker died is tried once more and then recorded as lost. */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

enum { most_deaths = 100 };

typedef struct manager {
    sweep_job *s;
    cli_records log; /* in a worker: its own; in the manager: of runs that are lost */
    cli_text line;
    long done, failed;
    long lost[most_deaths]; /* runs whose worker died */
    int nlost, status;
    double begin, drawn;
} manager;

/* ---- A worker -------------------------------------------------------------------------------------- */

static int begin(int slot, void *user)
{
    manager *m = user;
    sweep_job *s = m->s;
    char name[64];
    s->args->json = 0;
    if (s->nshard > 1) snprintf(name, sizeof name, "s%ldof%ld.%d", s->shard + 1, s->nshard, slot);
    else snprintf(name, sizeof name, "%d", slot);
    return cli_with_memory(cli_sweep_open_log(s, name, &m->log));
}

static int work(long task, int slot, dae_write_fn *write, void *to, void *user)
{
    manager *m = user;
    sweep_job *s = m->s;
    long run = s->pending[task];
    dae_status got;
    (void)slot;
    m->line.length = 0;
    if (cli_interrupted()) return EXIT_INTERRUPTED;
    if (dae_sweep_run(s->sweep, run, cli_running, cli_write_text, &m->line, &got) < 0)
        return cli_wrong(s->args, "out of memory"), EXIT_FAILED;
    if (got == DAE_ERR_MEMORY) { /* that is of this moment, not of the run: it is not kept */
        cli_wrong(s->args, "run %ld: out of memory; what was finished is kept, --resume goes on", run);
        return EXIT_FAILED;
    }
    if (got == DAE_CANCELLED) return EXIT_INTERRUPTED;
    int status = cli_sweep_append(s, &m->log, m->line.text, m->line.length);
    if (status) return cli_with_memory(status);
    char failed = got < 0;
    return write(&failed, 1, to) < 0 ? EXIT_FAILED : 0;
}

static int end(int slot, void *user)
{
    manager *m = user;
    (void)slot;
    free(m->line.text);
    return m->log.fd >= 0 ? cli_with_memory(cli_records_close(m->s->args, &m->log)) : 0;
}

/* ---- The manager ----------------------------------------------------------------------------------- */

static int on_done(long task, const void *result, size_t length, void *user)
{
    manager *m = user;
    (void)task;
    m->done++;
    m->failed += length > 0 && *(const char *)result;
    return 0;
}

static int record_lost(manager *m, long run, int number)
{
    char reason[80];
    cli_text line = {0};
    snprintf(reason, sizeof reason, "two workers ended in this run, the last by signal %d", number);
    int status = m->log.fd < 0 ? cli_sweep_open_log(m->s, "lost", &m->log) : 0;
    if (!status && dae_sweep_lost(m->s->sweep, run, reason, cli_write_text, &line) < 0)
        status = cli_wrong(m->s->args, "out of memory");
    if (!status) status = cli_sweep_append(m->s, &m->log, line.text, line.length);
    free(line.text);
    m->done++;
    m->failed++;
    return status;
}

/* A worker was killed or crashed: its run is tried again, once. */
static int on_died(long task, int number, void *user)
{
    manager *m = user;
    long run = task < 0 ? -1 : m->s->pending[task];
    int before = 0;
    for (int i = 0; i < m->nlost; i++) before += m->lost[i] == run;
    if (m->nlost == most_deaths) {
        m->status =
            cli_wrong(m->s->args, "%d workers ended by signals (the last by %d); what was finished is kept",
                      m->nlost, number);
        return -1;
    }
    m->lost[m->nlost++] = run;
    if (run < 0) return 0;
    if (!before) return 1;
    m->status = record_lost(m, run, number);
    return m->status ? -1 : 0;
}

static int look(void *user)
{
    manager *m = user;
    double now = cli_sweep_clock();
    if (now - m->drawn > 0.2) {
        cli_sweep_progress(m->s, m->done, m->s->failed + m->failed, now - m->begin, 0);
        m->drawn = now;
    }
    return cli_interrupted();
}

int cli_sweep_local(sweep_job *s)
{
    manager *m = calloc(1, sizeof *m);
    int status = 0, told = 0;
    dae_error err = {0};
    if (!m) return cli_wrong(s->args, "out of memory");
    m->s = s;
    m->log.fd = -1;
    m->begin = m->drawn = cli_sweep_clock();
    int json = s->args->json;
    dae_workers w = {.jobs = s->jobs,
                     .here = s->jobs == 0,
                     .begin = begin,
                     .work = work,
                     .end = end,
                     .done = on_done,
                     .died = on_died,
                     .look = look,
                     .user = m};
    dae_status got = dae_workers_run(&w, s->npending, &told, &err);
    s->args->json = json; /* workers tell nothing there */
    cli_progress_runs(s->args, s->before + m->done, s->before + s->npending, s->failed + m->failed,
                      s->args->argument[0]);
    cli_sweep_progress(s, 0, 0, 0, 1);
    if (got == DAE_ERR_MEMORY || got == DAE_ERR_UNSUPPORTED) status = cli_wrong(s->args, "%s", err.text);
    else if (m->status) status = m->status;
    else if (got == DAE_ERR_CALLBACK) status = told; /* the worker has told why */
    if (m->log.fd >= 0 && cli_records_close(s->args, &m->log) && !status) status = EXIT_USAGE;
    free(m);
    return status ? status : cli_interrupted() ? EXIT_INTERRUPTED : 0;
}
