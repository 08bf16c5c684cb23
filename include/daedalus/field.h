/* Pictures of what a table has in many columns: u(x,t), shapes at given times, paths in the plane, points on a sphere. */
#ifndef DAEDALUS_FIELD_H
#define DAEDALUS_FIELD_H

#include <daedalus/table.h>

DAE_BEGIN_DECLS

/* The rows with from <= column x <= to, without their texts; the columns `angle` (nangle of them) are taken modulo 2 pi into
 * (-pi, pi], with a gap (an infinite value) where they jump. NULL: out of memory. */
DAE_API dae_table *dae_table_part(const dae_table *t, int x, double from, double to, const int *angle,
                                  int nangle);

typedef enum dae_field_picture {
    DAE_FIELD_MAP,     /* columns y over t: colors */
    DAE_FIELD_SURFACE, /* the same as a surface */
    DAE_FIELD_PATHS,   /* y[i] over x[i], one curve for each pair */
    DAE_FIELD_SHAPES,  /* the points (x[i], y[i]) joined, one curve for each time */
    DAE_FIELD_SPHERE   /* the points (x[i], y[i], z[i]) of the last row on the unit sphere */
} dae_field_picture;

typedef struct dae_field_options {
    dae_field_picture picture;
    int t;                /* column of the time */
    const int *x, *y, *z; /* columns, n of each; a map needs y only, shapes without x take 1 .. n */
    int n;
    const double *at; /* shapes: times, nat of them; 0: six of them */
    int nat;
    double width; /* maps: the last of the n points across lies there, the first at 0; 0: they are numbered */
    const char *title, *terminal;
} dae_field_options;

/* A gnuplot script with its data. DAE_ERR_INPUT: there is too little to draw. */
DAE_API dae_status dae_field_plot(const dae_table *t, const dae_field_options *opt, dae_write_fn *write,
                                  void *user);

DAE_END_DECLS

#endif
