/* Tables: names, units, columns, and what a table says about itself. Trajectories, sweeps, studies and analyses are tables;
 * they are read and written in every format by the same functions. Nothing here prints; dae_table_save alone opens a file. */
#ifndef DAEDALUS_TABLE_H
#define DAEDALUS_TABLE_H

#include <daedalus/status.h>

DAE_BEGIN_DECLS

/* ---- Tables ------------------------------------------------------------------------------------ */

/* What a file says about itself: a text, or a number where text is NULL. */
typedef struct dae_attribute {
    const char *name, *text;
    double value;
} dae_attribute;

/* Names, units, columns, and what the table says about itself. Zero means "not given". */
typedef struct dae_table {
    int ncol;
    long nrow;
    const char *const *name; /* ncol */
    const char *const *unit; /* ncol, "" where there is none */
    const double *value;     /* column after column; NAN where the text is no number */
    const char *const *text; /* column after column; NULL for the whole table or a cell: the number says it */
    const dae_attribute *attribute; /* what it says about itself */
    int nattribute;
    const unsigned char *words; /* ncol flags, 1: a column of words also where no cell shows it; NULL: none */
    int no_units;               /* 1: its CSV has no line of units */
    int failed;                 /* 1: memory ran out while it was filled: it is not written */
} dae_table;

/* A table to be filled: cells are NAN, names and units "". NULL: out of memory. Where memory runs out later, writing the
 * table says so. */
DAE_API dae_table *dae_table_create(int ncol, long nrow);
DAE_API void dae_table_destroy(dae_table *t); /* NULL allowed */
/* Copies what it gets. Only of tables that dae_table_create or dae_table_read gave. */
DAE_API void dae_table_column(dae_table *t, int k, const char *name, const char *unit);
DAE_API void dae_table_set(dae_table *t, long row, int k, double value);
DAE_API void dae_table_set_text(dae_table *t, long row, int k,
                                const char *text); /* and its column is words */
/* text NULL: the number. An attribute of that name is replaced. */
DAE_API void dae_table_note(dae_table *t, const char *name, const char *text, double value);
DAE_API void dae_table_mark_words(dae_table *t, const char *name); /* the column of that name is words */
DAE_API int dae_table_find(const dae_table *t, const char *name);  /* column, or -1 */
/* The first column and those of the list "a,b,c", in the order of the table. NULL: see *err. */
DAE_API dae_table *dae_table_choose(const dae_table *t, const char *list, dae_error *err);

/* ---- Files ------------------------------------------------------------------------------------- */

typedef enum dae_table_format {
    DAE_TABLE_UNKNOWN = 0,
    DAE_TABLE_CSV,
    DAE_TABLE_JSON,
    DAE_TABLE_HDF5,
    DAE_TABLE_GNUPLOT /* a script with its data that draws what dae_table_plot_choose takes over the first column */
} dae_table_format;

/* By the ending of a file's name: .csv, .json, .h5 or .hdf5, .gp or .gnuplot. */
DAE_API dae_table_format dae_table_format_of(const char *path);
/* The bytes of a CSV, JSON or HDF5 file as this library writes them: it sees by itself which. NULL: see *err, which names the
 * line. */
DAE_API dae_table *dae_table_read(const char *text, size_t length, dae_error *err);
DAE_API dae_status dae_table_write(const dae_table *t, dae_table_format format, dae_write_fn *write,
                                   void *user, dae_error *err);
/* The same to a file, in the format that its ending tells; an older one is replaced when the new one is whole. */
DAE_API dae_status dae_table_save(const dae_table *t, const char *path, dae_error *err);
/* A line of names, a line "# units", attributes as lines "# name: value", the values so that they read back exactly. */
DAE_API dae_status dae_table_csv(const dae_table *t, dae_write_fn *write, void *user);
/* {"attributes":{..},"columns":[{"name":..,"unit":..,"values":[..]},..]}; null where there is no number. */
DAE_API dae_status dae_table_json(const dae_table *t, dae_write_fn *write, void *user);
/* An HDF5 file (its bytes): one dataset per column with the attribute "unit", in the order of the attribute
 * "columns" of the root, which has those of the table too; columns NAME@TIME at the end of the table as rows of
 * /series/NAME, with /series/t. DAE_ERR_UNSUPPORTED: there is no HDF5 library, see *err. */
DAE_API dae_status dae_table_hdf5(const dae_table *t, dae_write_fn *write, void *user, dae_error *err);

/* Of the finite ones of n numbers. */
typedef struct dae_statistics {
    long count;
    double mean, sd, min, max;
    double percentile[5]; /* 5, 25, 50, 75, 95 */
} dae_statistics;
/* DAE_ERR_MEMORY, or DAE_OK; all NAN where there is no number. */
DAE_API dae_status dae_statistics_of(const double *x, long n, dae_statistics *out);

/* ---- Pictures of tables -------------------------------------------------------------------------- */

typedef struct dae_table_plot_options {
    int x;        /* column of the abscissa */
    const int *y; /* columns that are drawn, ny of them */
    int ny;
    int log_x, log_y; /* logarithmic axes */
    int lines;        /* 0: points where x goes back and forth */
    int apart;        /* 1: every column has a panel of its own */
    const char *title, *terminal;
} dae_table_plot_options;

/* What is worth drawing over column x: the first `most` others that are numbers and vary. Returns their number. */
DAE_API int dae_table_plot_choose(const dae_table *t, int x, int *y, int most);
/* A gnuplot script: columns of one unit and of like size share a panel, panels are stacked. DAE_ERR_INPUT: fewer than two
 * points. */
DAE_API dae_status dae_table_plot(const dae_table *t, const dae_table_plot_options *opt, dae_write_fn *write,
                                  void *user);

DAE_END_DECLS

#endif
