/* The runs of a sweep on the cores of this machine: files of the workers' logs, progress, signals. */
#include "sweep.h"

#include <string.h>

typedef struct manager {
    sweep_job *s;
    cli_records log; /* in a worker: its own; in this process: of runs that are lost */
    long done, failed;
    double begin, drawn;
} manager;

static int open_log(const char *name, void *user)
{
    manager *m = user;
    m->s->args->json = 0; /* workers tell nothing there */
    return cli_with_memory(cli_sweep_open_log(m->s, name, &m->log));
}

static int append(const char *line, size_t length, void *user)
{
    manager *m = user;
    return cli_with_memory(cli_records_append(m->s->args, &m->log, line, length));
}

static int close_log(void *user)
{
    manager *m = user;
    return m->log.fd >= 0 ? cli_with_memory(cli_records_close(m->s->args, &m->log)) : 0;
}

static int trouble(const char *text, void *user)
{
    const manager *m = user;
    if (!text) return EXIT_INTERRUPTED;
    if (text[0]) cli_wrong(m->s->args, "%s", text);
    return strstr(text, "memory") ? EXIT_FAILED : cli_with_memory(EXIT_USAGE);
}

static void running(dae_integrator *it, void *user)
{
    (void)user;
    cli_running(it, NULL);
}

static int look(long done, long failed, void *user)
{
    manager *m = user;
    double now = cli_sweep_clock();
    if (now - m->drawn > 0.2) {
        cli_sweep_progress(m->s, done, m->s->logs->failed + failed, now - m->begin, 0);
        m->drawn = now;
    }
    m->done = done;
    m->failed = failed;
    return cli_interrupted();
}

int cli_sweep_local(sweep_job *s)
{
    manager m = {.s = s, .log = {.fd = -1}};
    int status = 0, told = 0, json = s->args->json;
    dae_error err = {0};
    dae_sweep_work w = {.jobs = s->jobs,
                        .open = open_log,
                        .append = append,
                        .close = close_log,
                        .trouble = trouble,
                        .running = running,
                        .look = look,
                        .user = &m};
    m.begin = m.drawn = cli_sweep_clock();
    dae_status got = dae_sweep_do(s->sweep, s->logs, &w, &told, &err);
    s->args->json = json;
    cli_progress_runs(s->args, s->before + m.done, s->before + s->logs->npending, s->logs->failed + m.failed,
                      s->args->argument[0]);
    cli_sweep_progress(s, 0, 0, 0, 1);
    if (got == DAE_ERR_CALLBACK) status = told; /* the worker has told why */
    else if (got == DAE_ERR_FILE) status = EXIT_USAGE;
    else if (got < 0) status = cli_wrong(s->args, "%s", err.text);
    return status ? status : cli_interrupted() ? EXIT_INTERRUPTED : 0;
}
