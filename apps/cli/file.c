/* Files that are read as a whole, and files that take the place of old ones when they are whole: written beside them and
 * renamed, so that a full disk or a kill leaves the old one. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is no regular file may never end (/dev/zero). */
enum { most_of_a_device = 1 << 30 };

static int read_all(FILE *file, cli_text *x)
{
    struct stat what;
    int regular = fstat(fileno(file), &what) == 0 && S_ISREG(what.st_mode);
    char block[16384];
    size_t n;
    if (fstat(fileno(file), &what) == 0 && S_ISDIR(what.st_mode)) return EISDIR;
    while ((n = fread(block, 1, sizeof block, file)) > 0) {
        if (!regular && x->length + n > most_of_a_device) return EFBIG;
        if (cli_write_text(block, n, x) < 0) return ENOMEM;
    }
    if (ferror(file)) return errno ? errno : EIO;
    return !x->text && cli_write_text("", 0, x) < 0 ? ENOMEM : 0;
}

char *cli_read_open(FILE *file, size_t *length)
{
    cli_text x = {0};
    int bad = read_all(file, &x);
    if (bad) {
        free(x.text);
        errno = bad;
        return NULL;
    }
    if (x.length >= 3 && !memcmp(x.text, "\xEF\xBB\xBF", 3)) { /* a byte order mark says nothing in UTF-8 */
        x.length -= 3;
        memmove(x.text, x.text + 3, x.length + 1);
    }
    *length = x.length;
    return x.text;
}

char *cli_read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    char *text = cli_read_open(file, length);
    int why = errno;
    fclose(file);
    errno = why;
    return text;
}

/* ---- Drafts ------------------------------------------------------------------------------------------ */

static int begin(cli_draft *d, const char *path)
{
    struct stat old;
    int there = stat(path, &old) == 0;
    char *real = there ? realpath(path, NULL) : NULL; /* a link stays, what it points to is replaced */
    int n = snprintf(d->path, sizeof d->path, "%s", path),
        m = snprintf(d->target, sizeof d->target, "%s", real ? real : path);
    free(real);
    if (n < 0 || m < 0 || (size_t)n >= sizeof d->path || (size_t)m >= sizeof d->target) return ENAMETOOLONG;
    d->direct = there && !S_ISREG(old.st_mode);
    if (there && S_ISDIR(old.st_mode)) return EISDIR;
    if (there && access(path, W_OK) != 0) return errno; /* write-protected: renaming would not ask */
    if (d->direct) snprintf(d->part, sizeof d->part, "%s", d->target);
    else snprintf(d->part, sizeof d->part, "%s.%ld.part", d->target, (long)getpid());
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (d->direct ? 0 : O_TRUNC), fd = open(d->part, flags, 0666);
    if (fd >= 0 && there && !d->direct && fchmod(fd, old.st_mode & 07777) != 0)
        errno = 0; /* as the old one */
    d->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (d->file) return 0;
    int why = errno ? errno : EIO;
    if (fd >= 0) {
        close(fd);
        if (!d->direct) remove(d->part);
    }
    return why;
}

int cli_draft_begin(const cli_args *args, cli_draft *d, const char *option, const char *path)
{
    d->option = option;
    d->file = NULL;
    int bad = begin(d, path);
    if (bad)
        return cli_wrong(args, "%s%s%s: %s", option ? option : "", option ? " " : "", path, strerror(bad));
    errno = 0;
    return 0;
}

void cli_draft_drop(cli_draft *d)
{
    if (!d->file) return;
    fclose(d->file);
    d->file = NULL;
    if (!d->direct) remove(d->part);
}

int cli_draft_finish(cli_draft *d, int bad)
{
    if (!d->file) return 0;
    int why = bad || ferror(d->file) ? errno ? errno : EIO : 0;
    if (!why && fflush(d->file) != 0) why = errno ? errno : EIO;
    if (!why && !d->direct && fsync(fileno(d->file)) != 0 && errno != EINVAL && errno != ENOSYS) why = errno;
    if (fclose(d->file) != 0 && !why) why = errno ? errno : EIO;
    d->file = NULL;
    if (!why && !d->direct && rename(d->part, d->target) != 0) why = errno;
    if (why && !d->direct) remove(d->part);
    return why;
}

int cli_draft_end(const cli_args *args, cli_draft *d, int bad)
{
    int why = cli_draft_finish(d, bad);
    if (!why) return 0;
    return cli_wrong(args, "%s%s%s: could not be written: %s", d->option ? d->option : "",
                     d->option ? " " : "", d->path, strerror(why));
}

/* ---- Tables -------------------------------------------------------------------------------------------- */

/* The HDF5 library crashes on some damaged files, and others keep it busy for ever, so that a child reads first, for 5 seconds of CPU time
 * and one more for every megabyte. 1: it lived. */
static int survives(const char *text, size_t length)
{
    static const char mark[] = "\x89HDF";
    if (length < 8 || memcmp(text, mark, 4) != 0) return 1;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return 1;
    if (child == 0) {
        dae_error err = {0};
        rlim_t seconds = 5 + (rlim_t)(length >> 20);
        setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds + 1});
        dae_table_destroy(dae_table_read(text, length, &err));
        _exit(0);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return !WIFSIGNALED(status);
}

dae_table *cli_read_table(const char *text, size_t length, dae_error *err)
{
    if (survives(text, length)) return dae_table_read(text, length, err);
    err->status = DAE_ERR_INPUT;
    snprintf(err->text, sizeof err->text,
             "the file is damaged: the HDF5 library crashes on it, or does not end");
    return NULL;
}
