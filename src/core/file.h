/* Files that are read whole. */
#ifndef DAE_CORE_FILE_H
#define DAE_CORE_FILE_H

#include <daedalus/status.h>

#include <stddef.h>

/* The whole file, to be freed; NULL: *err names the file. */
char *dae_read_file(const char *path, size_t *length, dae_error *err);

/* Lines of what the system tells about itself (/proc/...), without memory of the heap: a run that has none left tells the same. Begin
 * with descriptor = open(path, O_RDONLY); a line has no end of line, and of a long one only the beginning. NULL: no more. */
typedef struct dae_lines {
    int descriptor; /* < 0: nothing to read */
    size_t at, filled;
    char buffer[4096], line[1024];
} dae_lines;
const char *dae_lines_next(dae_lines *x);

#endif
