/* The linear systems of implicit methods:
 *
 *     (lambda M - J) x = b,      lambda real or complex,
 *
 * with J dense, banded or sparse and M the identity, diagonal, dense, banded or sparse; and general
 * real systems A x = b whose values are filled in by the caller (dae_shifted_factor_values).
 *
 * Dense: own kernels below the measured cross-over, LAPACK above. Banded: own kernels. Sparse: KLU
 * analyzes once and chooses the pivots, an own list of operations factors again with the same pivots, and
 * KLU chooses new ones when they go bad. Sparse systems that are small, fill up or have a narrow band are
 * factored dense or banded, which is faster.
 *
 * second_order = m > 0 uses y'[i] = y[m+i], i < m: rows 0 .. m-1 of J are not read, and only a system
 * of size n - m is factored ([RADAU] IWORK(9)). M must be the identity in its first m rows and columns.
 *
 * A pattern with columns (system.h) is solved block by block with the factors of its first: x_0 first, then
 * (lambda M - J) x_j = b_j + D_j x_0. The mass matrix is block diagonal then, and its first block is read.
 *
 * Complex vectors are passed as two real arrays. All arrays come from the arena, but the sparse
 * factors: save and load carry them through a checkpoint. */
#ifndef DAE_LINALG_SHIFTED_H
#define DAE_LINALG_SHIFTED_H

#include <daedalus/options.h>
#include <daedalus/system.h>

#include "core/arena.h"

typedef struct dae_shifted dae_shifted;

typedef struct dae_shifted_spec {
    int n;
    dae_pattern jacobian;         /* layout of J as the caller fills it; borrowed while the solver lives */
    dae_matrix mass;              /* n = 0: identity; borrowed; what is zero at create must stay zero */
    int second_order;             /* m, 0: none */
    int complex_shift;            /* 1: lambda complex */
    int keep_storage;             /* 1: factor in the storage of J; 0: in the one that is fastest */
    const dae_linear_solver *own; /* NULL, or who factors and solves in our place; borrowed */
} dae_shifted_spec;

dae_shifted *dae_shifted_create(const dae_shifted_spec *spec, dae_arena *arena, dae_error *err);
void dae_shifted_destroy(dae_shifted *s); /* NULL allowed */

/* Forms and factors lambda M - J. 0: fine; k > 0: singular at pivot k, or not finite; < 0: out of memory.
 * A real solver takes re only. */
int dae_shifted_factor(dae_shifted *s, double re, double im, const double *J);
/* Factors the matrix with these values (layout of spec.jacobian; real solvers without second_order). */
int dae_shifted_factor_values(dae_shifted *s, const double *A);
/* Solves in place with the last factors; NAN where the last factorization failed. */
void dae_shifted_solve(dae_shifted *s, double *x); /* real */
/* Jacobians with columns: the first block alone; the others alone, as if the first had the solution 0. */
void dae_shifted_solve_lead(dae_shifted *s, double *x);
void dae_shifted_solve_rest(dae_shifted *s, double *x);
void dae_shifted_solve_complex(dae_shifted *s, double *re, double *im); /* complex */

/* What it uses, in words: "dense 8 (own kernel)", "sparse 350, 1342 nonzeros (KLU)". */
const char *dae_shifted_describe(const dae_shifted *s);

/* Checkpoint of what is not in the arena. save: bytes needed, written where buffer is not NULL. load: call
 * it after the arena has been read back; it makes the sparse factors again. */
size_t dae_shifted_save(const dae_shifted *s, void *buffer);
int dae_shifted_load(dae_shifted *s, const void *buffer, size_t size); /* 0: fine */

#endif
