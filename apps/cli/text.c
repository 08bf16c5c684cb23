/* Text in memory, whole files, folders. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int cli_write_text(const char *text, size_t length, void *user)
{
    cli_text *x = user;
    if (x->length + length + 1 > x->capacity) {
        size_t capacity = 2 * (x->length + length + 1);
        char *longer = realloc(x->text, capacity);
        if (!longer) return -1;
        x->text = longer;
        x->capacity = capacity;
    }
    memcpy(x->text + x->length, text, length);
    x->length += length;
    x->text[x->length] = 0;
    return 0;
}

char *cli_read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    cli_text x = {0};
    char block[16384];
    size_t n;
    int bad = 0;
    if (!file) return NULL;
    while (!bad && (n = fread(block, 1, sizeof block, file)) > 0) {
        if (cli_write_text(block, n, &x) < 0) bad = ENOMEM;
    }
    if (!bad && ferror(file)) bad = errno ? errno : EIO;
    if (!bad && !x.text && cli_write_text("", 0, &x) < 0) bad = ENOMEM;
    fclose(file);
    if (bad) {
        free(x.text);
        errno = bad;
        return NULL;
    }
    *length = x.length;
    return x.text;
}

int cli_make_folder(const char *path)
{
    char part[1024];
    size_t n = strlen(path);
    if (n >= sizeof part) return ENAMETOOLONG;
    for (size_t i = 1; i <= n; i++) {
        if (path[i] != '/' && path[i]) continue;
        memcpy(part, path, i);
        part[i] = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST) return errno;
    }
    struct stat what;
    if (stat(path, &what) != 0) return errno;
    return S_ISDIR(what.st_mode) ? 0 : ENOTDIR;
}
