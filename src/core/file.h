/* Files that are read whole. */
#ifndef DAE_CORE_FILE_H
#define DAE_CORE_FILE_H

#include <daedalus/status.h>

#include <stddef.h>

/* The whole file, to be freed; NULL: *err names the file. */
char *dae_read_file(const char *path, size_t *length, dae_error *err);

#endif
