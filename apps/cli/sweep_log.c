/* Logs of a sweep. Every process that computes has a log of its own, to which it only appends, one write per finished
 * run: a kill at any time leaves whole lines and perhaps a part of one, which the checksum tells. */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* CRC-32 of ISO 3309, four bits at a time: the remainders of 0 .. 15. */
static uint32_t checksum(const char *text, size_t length)
{
    static const uint32_t part[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    uint32_t crc = UINT32_C(0xffffffff);
    for (size_t i = 0; i < length; i++) {
        crc ^= (unsigned char)text[i];
        crc = (crc >> 4) ^ part[crc & 15];
        crc = (crc >> 4) ^ part[crc & 15];
    }
    return ~crc;
}

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

int cli_sweep_append(sweep_job *s, cli_records *log, const char *line, size_t length)
{
    char *whole = malloc(length + 16);
    if (!whole) return cli_wrong(s->args, "out of memory");
    int head = sprintf(whole, "%08lx,", (unsigned long)checksum(line, length));
    memcpy(whole + head, line, length);
    int status = cli_records_append(s->args, log, whole, (size_t)head + length);
    free(whole);
    return status;
}

/* Takes over the good lines of a log. */
static void take_lines(sweep_job *s, char *text)
{
    for (char *c = text; *c;) {
        char *end = strchr(c, '\n'), *rest;
        if (!end) return; /* torn */
        unsigned long sum = strtoul(c, &rest, 16);
        if (rest == c + 8 && *rest == ',' && checksum(rest + 1, (size_t)(end - rest)) == sum) {
            long run = strtol(rest + 1, NULL, 10);
            if (run >= 0 && run < s->count && !s->line[run]) s->line[run] = rest + 1;
        }
        c = end + 1;
    }
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
    char **longer = realloc(s->text, ((size_t)s->ntext + 1) * sizeof *longer);
    if (!longer) return cli_wrong(s->args, "out of memory");
    s->text = longer;
    char *text = cli_read_file(path, &length);
    if (!text) return cli_wrong(s->args, "%s: %s", path, strerror(errno));
    s->text[s->ntext++] = text;
    take_lines(s, text);
    return 0;
}

int cli_sweep_has_failed(const sweep_job *s, const char *line)
{
    for (int k = 0; k <= dae_design_width(s->design); k++) { /* run and parameters */
        int quoted = 0;
        for (; *line && (quoted || *line != ','); line++) quoted ^= *line == '"';
        line += *line == ',';
    }
    return strncmp(line, "ok,", 3) != 0 && strncmp(line, "event,", 6) != 0;
}

int cli_sweep_read_logs(sweep_job *s)
{
    DIR *folder = opendir(s->folder);
    int status = 0;
    if (!folder) return cli_wrong(s->args, "--out %s: %s", s->folder, strerror(errno));
    for (int i = 0; i < s->ntext; i++) free(s->text[i]);
    s->ntext = 0;
    memset(s->line, 0, (size_t)s->count * sizeof *s->line);
    for (struct dirent *e; !status && (e = readdir(folder));) {
        if (!strncmp(e->d_name, "log.", 4)) status = read_log(s, e->d_name);
    }
    closedir(folder);
    s->npending = s->done = s->failed = 0;
    for (long k = s->shard; !status && k < s->count; k += s->nshard) {
        if (!s->line[k]) {
            s->pending[s->npending++] = k;
            continue;
        }
        s->done++;
        s->failed += cli_sweep_has_failed(s, s->line[k]);
    }
    return status;
}

void cli_sweep_progress(const sweep_job *s, long done, long failed, double seconds, int last)
{
    if (!last)
        cli_progress_runs(s->args, s->before + done, s->before + s->npending, failed, s->args->argument[0]);
    if (s->quiet || !isatty(STDERR_FILENO)) return;
    if (last) {
        fputs("\r\033[K", stderr);
        return;
    }
    long all = s->before + s->npending, now = s->before + done;
    char bar[21] = "....................";
    for (int i = 0; i < 20 && (i + 1) * all <= 20 * now; i++) bar[i] = '#';
    fprintf(stderr, "\r[%s] %ld of %ld runs  ok %ld  failed %ld  %.0f/s", bar, now, all, now - failed, failed,
            seconds > 0 ? (double)done / seconds : 0);
    if (done > 0) fprintf(stderr, "  ETA %.0f s", seconds * (double)(s->npending - done) / (double)done);
    fputs("\033[K", stderr);
    fflush(stderr);
}
