/* The runs of a sweep that are still to do, on the cores of this machine: worker processes append them to logs of their own; nothing but
 * their number passes the caller. A run whose worker died is tried once more and then recorded as lost. */
#include "core/error.h"
#include "core/text.h"

#include <daedalus/study.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_deaths = 100 };

typedef struct manager {
    const dae_sweep *sweep;
    const dae_sweep_logs *logs;
    const dae_sweep_work *w;
    dae_bytes line;
    long done, failed;
    long lost[most_deaths]; /* runs whose worker died */
    int nlost, open;        /* open: the log of this process */
    dae_status status;      /* of what ended it in the caller */
    dae_error *err;
} manager;

static int collect(const char *text, size_t length, void *user)
{
    return dae_bytes_write(text, length, &((manager *)user)->line);
}

static int append(const char *text, size_t length, void *user)
{
    const manager *m = user;
    return m->w->append(text, length, m->w->user) ? -1 : 0;
}

/* ---- In a worker -------------------------------------------------------------------------------------- */

static int begin(int slot, void *user)
{
    const manager *m = user;
    char name[64];
    if (m->logs->nshard > 1)
        snprintf(name, sizeof name, "s%ldof%ld.%d", m->logs->shard + 1, m->logs->nshard, slot);
    else snprintf(name, sizeof name, "%d", slot);
    return m->w->open(name, m->w->user);
}

static void running(dae_integrator *it, void *user)
{
    const manager *m = user;
    if (m->w->running) m->w->running(it, m->w->user);
}

static int work(long task, int slot, dae_write_fn *write, void *to, void *user)
{
    manager *m = user;
    long run = m->logs->pending[task];
    dae_status got;
    char text[120], failed;
    (void)slot;
    m->line.length = 0;
    if (dae_sweep_run(m->sweep, run, running, collect, m, &got) < 0)
        return m->w->trouble("out of memory", m->w->user);
    if (got == DAE_ERR_MEMORY) { /* that is of this moment, not of the run: it is not kept */
        snprintf(text, sizeof text, "run %ld: out of memory; what was finished is kept, --resume goes on",
                 run);
        return m->w->trouble(text, m->w->user);
    }
    if (got == DAE_CANCELLED) return m->w->trouble(NULL, m->w->user);
    dae_status s = dae_sweep_log_line(m->line.text, m->line.length, append, m);
    if (s < 0) return m->w->trouble(s == DAE_ERR_MEMORY ? "out of memory" : "", m->w->user);
    failed = got < 0;
    return write(&failed, 1, to) < 0 ? m->w->trouble("", m->w->user) : 0;
}

static int end(int slot, void *user)
{
    manager *m = user;
    (void)slot;
    free(m->line.text);
    m->line = (dae_bytes){0};
    return m->w->close(m->w->user);
}

/* ---- In the caller ----------------------------------------------------------------------------------- */

static int on_done(long task, const void *result, size_t length, void *user)
{
    manager *m = user;
    (void)task;
    m->done++;
    m->failed += length > 0 && *(const char *)result;
    return 0;
}

static dae_status record_lost(manager *m, long run, int number)
{
    char reason[80];
    snprintf(reason, sizeof reason, "two workers ended in this run, the last by signal %d", number);
    m->line.length = 0;
    if (!m->open && m->w->open("lost", m->w->user)) return DAE_ERR_FILE;
    m->open = 1;
    dae_status s = dae_sweep_lost(m->sweep, run, reason, collect, m);
    if (s >= 0) s = dae_sweep_log_line(m->line.text, m->line.length, append, m);
    m->done++;
    m->failed++;
    return s;
}

/* A worker was killed or crashed: its run is tried again, once. */
static int on_died(long task, int number, void *user)
{
    manager *m = user;
    long run = task < 0 ? -1 : m->logs->pending[task];
    int before = 0;
    for (int i = 0; i < m->nlost; i++) before += m->lost[i] == run;
    if (m->nlost == most_deaths) {
        m->status = dae_fail(m->err, DAE_ERR_INTERNAL, NAN,
                             "%d workers ended by signals (the last by %d); what was finished is kept",
                             m->nlost, number);
        return -1;
    }
    m->lost[m->nlost++] = run;
    if (run < 0) return 0;
    if (!before) return 1;
    m->status = record_lost(m, run, number);
    if (m->status == DAE_ERR_MEMORY) dae_fail(m->err, DAE_ERR_MEMORY, NAN, "out of memory");
    return m->status < 0 ? -1 : 0;
}

static int look(void *user)
{
    const manager *m = user;
    return m->w->look ? m->w->look(m->done, m->failed, m->w->user) : 0;
}

dae_status dae_sweep_do(const dae_sweep *s, const dae_sweep_logs *logs, const dae_sweep_work *w, int *status,
                        dae_error *err)
{
    dae_error own = {0};
    manager *m = calloc(1, sizeof *m);
    if (!err) err = &own;
    if (!m) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    *m = (manager){.sweep = s, .logs = logs, .w = w, .err = err};
    dae_workers all = {.jobs = w->jobs,
                       .here = w->jobs == 0,
                       .begin = begin,
                       .work = work,
                       .end = end,
                       .done = on_done,
                       .died = on_died,
                       .look = look,
                       .user = m};
    dae_status got = dae_workers_run(&all, logs->npending, status, err);
    if (m->status < 0) got = m->status;
    if (w->look) w->look(m->done, m->failed, w->user);
    if (m->open && w->close(w->user) && got >= 0) got = DAE_ERR_FILE;
    free(m->line.text);
    free(m);
    return got;
}
