/* A file of lines that only grows. Every line is one write at the end of the file; a part of a line that a kill or a
 * full disk left is cut off when the file is opened again. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int cli_records_open(const cli_args *args, const char *path, cli_records *r)
{
    *r = (cli_records){.fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666), .path = path};
    if (r->fd < 0) return cli_wrong(args, "--out %s: %s", path, strerror(errno));
    struct stat what;
    int regular =
        fstat(r->fd, &what) == 0 && S_ISREG(what.st_mode); /* a device or a pipe is only written to */
    r->text = regular ? cli_read_file(path, &r->length) : calloc(1, 1);
    if (!r->text) {
        int why = errno;
        close(r->fd);
        r->fd = -1;
        return cli_wrong(args, "--out %s: %s", path, strerror(why));
    }
    size_t whole = r->length;
    while (whole > 0 && r->text[whole - 1] != '\n') whole--;
    if (whole < r->length && ftruncate(r->fd, (off_t)whole) != 0) {
        return cli_wrong(args, "--out %s: the broken last line could not be cut off: %s", path,
                         strerror(errno));
    }
    r->text[whole] = 0;
    r->length = whole;
    r->size = (long long)whole;
    return 0;
}

int cli_records_append(const cli_args *args, cli_records *r, const char *line, size_t length)
{
    size_t done = 0;
    while (done < length) {
        ssize_t n = write(r->fd, line + done, length - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            int why = errno;
            if (done > 0 && ftruncate(r->fd, (off_t)r->size) != 0)
                done = 0; /* cut off when it is opened again */
            return cli_wrong(args, "--out %s: %s; what was written before is kept", r->path, strerror(why));
        }
        done += (size_t)n;
    }
    r->size += (long long)length;
    return 0;
}

int cli_records_close(const cli_args *args, cli_records *r)
{
    int bad = r->fd >= 0 && close(r->fd) != 0 ? errno : 0;
    r->fd = -1;
    free(r->text);
    r->text = NULL;
    return bad ? cli_wrong(args, "--out %s: %s", r->path, strerror(bad)) : 0;
}
