/* Files of the logs of a sweep. Every process that computes has a log of its own, to which it only appends, one write per finished
 * run. */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

double cli_sweep_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A worker of a manager that was killed may still be in its last run; it has the lock of its log. */
static int wait_for_lock(sweep_job *s, const char *path, int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    double begin = cli_sweep_clock();
    while (fcntl(fd, F_SETLK, &lock) != 0) {
        if (errno != EACCES && errno != EAGAIN && errno != EINTR) return 0; /* no locks here */
        if (cli_sweep_clock() - begin > 20)
            return cli_wrong(s->args, "%s is in use: another sweep runs in this folder", path);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return 0;
}

int cli_sweep_open_log(sweep_job *s, const char *name, cli_records *log)
{
    char *path = malloc(strlen(s->folder) + strlen(name) + 8);
    if (!path) return cli_wrong(s->args, "out of memory");
    sprintf(path, "%s/log.%s", s->folder, name);
    int status = cli_records_open(s->args, path, log);
    if (!status) status = wait_for_lock(s, path, log->fd);
    log->path = s->folder; /* what messages name */
    free(path);
    return status;
}

typedef struct target {
    sweep_job *s;
    cli_records *log;
} target;

static int put(const char *text, size_t length, void *user)
{
    const target *t = user;
    return cli_records_append(t->s->args, t->log, text, length) ? -1 : 0;
}

int cli_sweep_append(sweep_job *s, cli_records *log, const char *line, size_t length)
{
    target t = {s, log};
    dae_status got = dae_sweep_log_line(line, length, put, &t);
    return got == DAE_ERR_MEMORY ? cli_wrong(s->args, "out of memory") : got < 0 ? EXIT_USAGE : 0;
}

static int read_log(sweep_job *s, const char *name)
{
    char path[1024];
    size_t length;
    snprintf(path, sizeof path, "%s/%s", s->folder, name);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd >= 0) {
        int busy = wait_for_lock(s, path, fd);
        close(fd);
        if (busy) return busy;
    }
    char *text = cli_read_file(path, &length);
    if (!text) return cli_wrong(s->args, "%s: %s", path, strerror(errno));
    return dae_sweep_logs_take(s->logs, text) < 0 ? cli_wrong(s->args, "out of memory") : 0;
}

int cli_sweep_read_logs(sweep_job *s)
{
    DIR *folder = opendir(s->folder);
    int status = 0;
    if (!folder) return cli_wrong(s->args, "--out %s: %s", s->folder, strerror(errno));
    dae_sweep_logs_clear(s->logs);
    for (struct dirent *e; !status && (e = readdir(folder));) {
        if (!strncmp(e->d_name, "log.", 4)) status = read_log(s, e->d_name);
    }
    closedir(folder);
    dae_sweep_logs_count(s->logs, s->design);
    return status;
}

void cli_sweep_progress(const sweep_job *s, long done, long failed, double seconds, int last)
{
    if (!last)
        cli_progress_runs(s->args, s->before + done, s->before + s->logs->npending, failed,
                          s->args->argument[0]);
    if (s->quiet || !isatty(STDERR_FILENO)) return;
    if (last) {
        fputs("\r\033[K", stderr);
        return;
    }
    long all = s->before + s->logs->npending, now = s->before + done;
    char bar[21] = "....................";
    for (int i = 0; i < 20 && (i + 1) * all <= 20 * now; i++) bar[i] = '#';
    fprintf(stderr, "\r[%s] %ld of %ld runs  ok %ld  failed %ld  %.0f/s", bar, now, all, now - failed, failed,
            seconds > 0 ? (double)done / seconds : 0);
    if (done > 0)
        fprintf(stderr, "  ETA %.0f s", seconds * (double)(s->logs->npending - done) / (double)done);
    fputs("\033[K", stderr);
    fflush(stderr);
}
