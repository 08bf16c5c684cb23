/* LU of a small sparse matrix with known pivots as a program: for each pivot the multiplications and the updates
 * as plain lists of places, no searching, no scaling, no loops that are shorter than they must be. For matrices of
 * up to PROGRAM_LARGEST rows, the size of most mechanisms, where even the loops of fixed.h cost more than the
 * arithmetic. */
#ifndef DAE_LINALG_SADDLE_PROGRAM_H
#define DAE_LINALG_SADDLE_PROGRAM_H

#define PROGRAM_LARGEST 64
#define PROGRAM_LONGEST 4096 /* updates; ours: beyond it fixed.h is as fast */

typedef struct program program;

/* The matrix in compressed columns; row P[k] and column Q[k] are eliminated k-th. NULL: too large, or no memory. */
program *dae_program_create(int n, const int *colptr, const int *rowind, const int *P, const int *Q);
void dae_program_destroy(program *p); /* NULL allowed */

/* Where value k of the matrix has to be put before factoring: the other places must be zero, dae_program_clear. */
const int *dae_program_places(const program *p);
double *dae_program_clear(program *p);
/* 0: fine; k > 0: pivot k is not finite, or below `limit` times what it was when the anchor was kept. */
int dae_program_factor(program *p, double limit);
void dae_program_keep(program *p); /* the pivots of the last factorization are those of the anchor */
void dae_program_solve(program *p, double *x);

#endif
