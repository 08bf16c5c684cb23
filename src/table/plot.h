/* Curves over one abscissa, however they are kept: what trajectories and tables draw with. */
#ifndef DAE_TABLE_PLOT_H
#define DAE_TABLE_PLOT_H

#include <daedalus/table.h>

typedef struct dae_curves {
    int n, npoint;
    const double *x, *y; /* npoint; n per point */
    const double *band;  /* n per point: half widths of bands around the curves; NULL: none */
    const char *const *name, *const *unit; /* n */
    const char *x_name, *x_unit;           /* x_unit "": none */
    const int *chosen;                     /* those that are drawn, nchosen of them; NULL: the first ones */
    int nchosen;
    int first;                /* first point drawn */
    int log_x, log_y, points; /* log_y: every panel; points: instead of lines */
    int winds;                /* x goes to and fro, as in phase plots */
    int apart;                /* a panel for every curve */
    int backwards;            /* 1: the axis goes from large to small */
    const char *title;
} dae_curves;

/* A gnuplot script with its data. DAE_ERR_INPUT: fewer than two points. */
dae_status dae_curves_plot(const dae_curves *c, const char *terminal, dae_write_fn *write, void *user);

#endif
