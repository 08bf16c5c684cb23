/* Least d with A d = b where A has many rows and few entries in each, as all rows of a mechanism have:
 *
 *     [ I  A^T ] [ d ]   [ 0 ]
 *     [ A  0   ] [ l ] = [ b ]      by sparse factors. */
#ifndef MBS_SPARSE_LEAST_H
#define MBS_SPARSE_LEAST_H

/* A: rows x n, in compressed columns, rows ascending; not changed. b (rows) -> d (n) where it is done. 0: done; 1: too small for it to pay, or the rows
 * depend on each other, or there is no memory: the dense way has to tell. */
int mbs_sparse_least(int rows, int n, const int *colptr, const int *rowind, const double *A, double *b);

#endif
