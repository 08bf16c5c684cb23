/* Tables: names, units, columns, and what a table says about itself. Trajectories, sweeps, studies and analyses are tables;
 * they are read and written in every format by the same functions. Nothing here prints or opens files. */
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

/* Comma-separated values with a line of names and perhaps one of "# units", or an HDF5 file, as this library writes
 * them. */
typedef struct dae_table {
    int ncol;
    long nrow;
    const char *const *name;        /* ncol */
    const char *const *unit;        /* ncol, "" where there is none */
    const double *value;            /* column after column; NAN where the text is no number */
    const char *const *text;        /* column after column */
    const dae_attribute *attribute; /* of an HDF5 file */
    int nattribute;
} dae_table;

/* The bytes of a CSV or HDF5 file: it sees by itself which. NULL: see *err, which names the line. */
DAE_API dae_table *dae_table_read(const char *text, size_t length, dae_error *err);
DAE_API void dae_table_destroy(dae_table *t);                     /* NULL allowed */
DAE_API int dae_table_find(const dae_table *t, const char *name); /* column, or -1 */

typedef struct dae_hdf5_options {
    const dae_attribute *attribute; /* of the file: command, version, settings */
    int nattribute;
    const char *words; /* "status,reason": columns of words also where no cell shows it */
} dae_hdf5_options;
/* As an HDF5 file (its bytes): one dataset per column with the attribute "unit", in the order of the attribute
 * "columns" of the root; columns NAME@TIME at the end of the table as rows of /series/NAME, with /series/t.
 * opt NULL: no attributes. DAE_ERR_UNSUPPORTED: there is no HDF5 library, see *err. */
DAE_API dae_status dae_table_hdf5(const dae_table *t, const dae_hdf5_options *opt, dae_write_fn *write,
                                  void *user, dae_error *err);

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
