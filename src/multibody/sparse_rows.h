/* Rows over the velocities of a mechanism, with the few entries that they have: G of all rows as described, and rows beside them. */
#ifndef MBS_SPARSE_ROWS_H
#define MBS_SPARSE_ROWS_H

#include "multibody/mechanism.h"

typedef struct mbs_sparse_rows {
    int rows, room; /* entries that there is room for */
    int *first;     /* rows+1 */
    int *column;    /* ascending in every row */
    double *value;  /* none is 0 */
} mbs_sparse_rows;

/* Room for all rows of m and `more` of a coordinate each; 0: out of memory. */
int mbs_sparse_rows_create(const mbs_mechanism *m, int more, mbs_sparse_rows *s);
void mbs_sparse_rows_destroy(mbs_sparse_rows *s);

/* s becomes all rows as described. */
void mbs_sparse_rows_set(const mbs_context *x, mbs_sparse_rows *s);
/* One more: that of q'. */
void mbs_sparse_rows_add(const mbs_context *x, const mbs_coordinate *q, mbs_sparse_rows *s);

/* sum - (row i) . v, entry by entry */
double mbs_sparse_rows_subtract(const mbs_sparse_rows *s, int i, const double *v, double sum);

#endif
