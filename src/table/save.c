/* A table in a file. */
#include "core/error.h"

#include <daedalus/table.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int to_file(const char *text, size_t length, void *file)
{
    return fwrite(text, 1, length, file) == length ? 0 : -1;
}

dae_status dae_table_save(const dae_table *t, const char *path, dae_error *err)
{
    dae_table_format format = dae_table_format_of(path);
    size_t room = strlen(path) + 6;
    char *part = malloc(room);
    if (!format)
        return free(part), dae_fail(err, DAE_ERR_INPUT, NAN,
                                    "%s: expected a name that ends in .csv, .json, .h5 or .gp", path);
    if (!part) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    snprintf(part, room, "%s.part", path);
    FILE *file = fopen(part, "wb");
    dae_status s = DAE_OK;
    if (!file) s = dae_fail(err, DAE_ERR_FILE, NAN, "%s: %s", path, strerror(errno));
    else {
        errno = 0;
        s = dae_table_write(t, format, to_file, file, err);
        int why = errno, bad = fclose(file) != 0;
        if (bad && s >= 0) why = errno;
        if (s == DAE_ERR_FILE || (s >= 0 && bad))
            s = dae_fail(err, DAE_ERR_FILE, NAN, "%s: %s", path,
                         why ? strerror(why) : "it cannot be written");
        else if (s >= 0 && rename(part, path) != 0)
            s = dae_fail(err, DAE_ERR_FILE, NAN, "%s: %s", path, strerror(errno));
        if (s < 0) remove(part);
    }
    free(part);
    return s;
}
