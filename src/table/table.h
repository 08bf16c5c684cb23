/* What the readers and writers of tables share. */
#ifndef DAE_TABLE_TABLE_H
#define DAE_TABLE_TABLE_H

#include "core/arena.h"
#include "core/error.h"

#include <daedalus/table.h>

typedef struct dae_table_memory {
    dae_table t; /* first: this is handed out as its table */
    char *text;  /* names, units and cells of a text that was read, each ended by 0 */
    const char **cell, **name, **unit;
    double *value;
    long *line; /* of every row in the text, or NULL */
    unsigned char *words;
    dae_attribute *attribute;
    int room;         /* for attributes */
    dae_arena *arena; /* of strings, where text is not used */
} dae_table_memory;

/* The line of a row in the text that the table was read from; 0: it has none. */
long dae_table_line(const dae_table *t, long row);
/* 1: the bytes begin as an HDF5 file does. */
int dae_is_hdf5(const void *data, size_t size);
dae_table *dae_table_read_hdf5(const void *data, size_t size, dae_error *err);
dae_table *dae_table_read_csv(const char *text, size_t length, dae_error *err);
dae_table *dae_table_read_json(const char *text, size_t length, dae_error *err);

#endif
