/* Text into memory and into files, folders. */
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
        if (!longer) {
            if (!cli_starved(0)) cli_starved(2);
            return -1;
        }
        x->text = longer;
        x->capacity = capacity;
    }
    memcpy(x->text + x->length, text, length);
    x->length += length;
    x->text[x->length] = 0;
    return 0;
}

int cli_write_file(const char *text, size_t length, void *user)
{
    return fwrite(text, 1, length, user) == length ? 0 : -1;
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
