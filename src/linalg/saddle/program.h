/* LU of a small sparse matrix with fixed pivots as a program: for each pivot the multiplications and the updates
 * as plain lists of places, no searching, no scaling, no loops that are shorter than they must be. For matrices of
 * up to PROGRAM_LARGEST rows, the size of most mechanisms, where even the loops of fixed.h cost more than the
 * arithmetic.
 *
 * The pivots come from one matrix, the anchor, by Markowitz' rule: of the entries that are large enough in their
 * column the one that makes the fewest updates [Markowitz 1957; Duff, Erisman, Reid, Direct Methods for Sparse
 * Matrices, section 7.2]. For a saddle-point matrix these are entries of G where it is possible, so that the program
 * is an elimination of dependent coordinates. */
#ifndef DAE_LINALG_SADDLE_PROGRAM_H
#define DAE_LINALG_SADDLE_PROGRAM_H

#define PROGRAM_LARGEST 64
#define PROGRAM_LONGEST 4096 /* updates; ours: beyond it fixed.h is as fast */

typedef struct program program;

/* The anchor in compressed columns, rows in any order. A pivot is at least `tolerance` times the largest entry that is
 * left in its column, rows scaled to largest entry 1, and stays at least `limit` times what it is in the anchor.
 * 0: *made is the program; 1: too large or singular, < 0: out of memory, and *made is NULL. */
int dae_lu_program_create(int n, const int *colptr, const int *rowind, const double *anchor, double tolerance,
                          double limit, program **made);
void dae_lu_program_destroy(program *p); /* NULL allowed */

/* Where value k of the matrix goes in the elements; others that fill in must be zero: dae_lu_program_clear does that. */
const int *dae_lu_program_places(const program *p);
double *dae_lu_program_clear(program *p);
/* 0: fine; k > 0: pivot k became too small, or is not a number. x: a right side that dae_lu_program_finish will solve for
 * (it gets the solution), which is cheaper than dae_lu_program_solve afterwards; or NULL. */
int dae_lu_program_factor(program *p, const double *x);
void dae_lu_program_finish(program *p, double *x);
void dae_lu_program_solve(program *p, double *x);

#endif
