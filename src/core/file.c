#include "core/file.h"

#include "core/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { max_file = 16 << 20 };

char *dae_read_file(const char *path, size_t *length, dae_error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        dae_fail(err, DAE_ERR_FILE, NAN, "%s: %s", path, strerror(errno));
        return NULL;
    }
    size_t capacity = 65536, used = 0;
    char *data = malloc(capacity);
    for (int full = 1; data && full;) {
        used += fread(data + used, 1, capacity - used, file);
        full = used == capacity;
        if (!full || capacity >= max_file) break;
        char *longer = realloc(data, capacity *= 2);
        if (!longer) free(data);
        data = longer;
    }
    dae_status s = !data ? DAE_ERR_MEMORY : used >= max_file || ferror(file) ? DAE_ERR_FILE : DAE_OK;
    int why = errno;
    fclose(file);
    if (s < 0) {
        free(data);
        if (s == DAE_ERR_MEMORY) dae_fail(err, s, NAN, "%s: out of memory", path);
        else if (used >= max_file)
            dae_fail(err, s, NAN, "%s: it is larger than %d MB, which no model is", path, max_file >> 20);
        else dae_fail(err, s, NAN, "%s: cannot be read: %s", path, strerror(why));
        return NULL;
    }
    *length = used;
    return data;
}

const char *dae_lines_next(dae_lines *x)
{
    size_t length = 0;
    for (;;) {
        if (x->at == x->filled) {
            ssize_t got = x->descriptor < 0 ? 0 : read(x->descriptor, x->buffer, sizeof x->buffer);
            x->at = 0;
            x->filled = got > 0 ? (size_t)got : 0;
            if (got <= 0 && length == 0) return NULL;
            if (got <= 0) break;
        }
        char letter = x->buffer[x->at++];
        if (letter == '\n') break;
        if (length < sizeof x->line - 1) x->line[length++] = letter;
    }
    x->line[length] = 0;
    return x->line;
}
