/* Saddle-point systems of constrained mechanics, [MEXX] chapter 3:
 *
 *     [ M  U^T ] [ w ]   [ f ]
 *     [ G  0   ] [ l ] = [ g ],      U = G, or another matrix of the same shape (unsymmetric systems:
 *                                    friction, U = G - F^T; half-explicit Runge-Kutta, U = G elsewhere)
 *
 * M (nv x nv) is symmetric and positive definite on the kernel of G (nl x nv); where a mode asks for
 * more, its line in the table says so.
 *
 *   dense_lu              LU with partial pivoting of the whole matrix; takes U
 *   dense_ldlt            symmetric indefinite (Bunch-Kaufman)
 *   range_space           M = L L^T, L^-1 G^T = Q R, (3.2); M definite
 *   null_space            w = Y w_Y + Z w_Z from the QR decomposition of G^T
 *   block_elimination     G = (K J) with K invertible: w reduced to as many unknowns as there are
 *                         degrees of freedom, (3.3), (3.4)
 *   sparse_lu             KLU, pivots of the last anchor reused; takes U
 *   recursive_constraint  O(bodies) over the kinematic tree, (3.10); takes U
 *   recursive_joint       O(bodies), joint velocities eliminated, (3.17)
 *   pcg                   conjugate gradients on G M^-1 G^T, (3.18), (3.19); M definite
 *
 * The recursive modes treat rows that close loops by a small Schur complement.
 *
 * A run factors many neighboring matrices. dae_saddle_anchor tells a matrix on which the following
 * factorizations may build (pivot order, partition, preconditioner); between two anchors the result of
 * a factorization depends on its own matrix and on the anchor only, never on the order of the calls,
 * so that several solvers with the same anchor give the same bits in several threads. */
#ifndef DAE_LINALG_SADDLE_H
#define DAE_LINALG_SADDLE_H

#include <daedalus/status.h>

#include "core/arena.h"

typedef struct dae_saddle dae_saddle;

/* clang-format off */
#define DAE_SADDLE_MODES                                                                                   \
    "auto|dense_lu|dense_ldlt|range_space|null_space|block_elimination|sparse_lu|recursive_constraint|" \
    "recursive_joint|pcg"
/* clang-format on */

/* All arrays are borrowed while the solver lives. */
typedef struct dae_saddle_spec {
    const char *mode; /* one of DAE_SADDLE_MODES; NULL: auto */
    int nv, nl;
    const int *block; /* sizes of the diagonal blocks of M, nblock of them; NULL: one full block */
    int nblock;
    /* M, if it is constant: what is zero in it is no entry of the sparse matrix; NULL: it is not */
    const double *mass;
    const int *colptr, *rowind; /* pattern of G and U in compressed columns; NULL: dense, nl x nv */
    int unsymmetric;            /* 1: factor gets U */
    const int *parent;          /* kinematic tree over the blocks, -1: ground; NULL: none known */
    const int *row_joint; /* nl: block whose joint with its parent the row belongs to; -1: closes a loop */
} dae_saddle_spec;

dae_saddle *dae_saddle_create(const dae_saddle_spec *spec, dae_arena *arena, dae_error *err);
void dae_saddle_destroy(dae_saddle *s); /* NULL allowed */

/* M: its blocks, column-major, one after another. G, U: values in the layout of the pattern (dense:
 * column-major); U NULL: U = G. Both return 0: fine; k > 0: singular (at pivot, row or body k, from 1);
 * < 0: out of memory. Without an anchor the first matrix that is factored becomes it. */
int dae_saddle_anchor(dae_saddle *s, const double *M, const double *G, const double *U);
int dae_saddle_factor(dae_saddle *s, const double *M, const double *G, const double *U);
/* Solves in place with the last factors: w holds f, l holds g on entry. */
void dae_saddle_solve(dae_saddle *s, double *w, double *l);
/* Both at once, which small systems like; w and l are not touched where it fails. */
int dae_saddle_factor_solve(dae_saddle *s, const double *M, const double *G, const double *U, double *w,
                            double *l);

/* 1: the anchor no longer serves well (bad pivots); a new one should be set at the next occasion. */
int dae_saddle_stale(const dae_saddle *s);
/* Sets that mark (a mode that wants an anchor at every occasion stays stale) and returns the old one: for
 * several solvers that work for one run. */
int dae_saddle_mark(dae_saddle *s, int stale);

const char *dae_saddle_mode(const dae_saddle *s); /* the mode in use: what "auto" took */
/* In words: "sparse_lu 5129, 18474 nonzeros". */
const char *dae_saddle_describe(const dae_saddle *s);
long dae_saddle_analyses(const dae_saddle *s); /* full factorizations of sparse_lu, CG iterations of pcg */

/* Checkpoint of what is not in the arena: taken between factor and the next anchor, the loaded solver
 * gives the same bits. load is called after the arena was read back. */
size_t dae_saddle_save(const dae_saddle *s, void *buffer);
int dae_saddle_load(dae_saddle *s, const void *buffer, size_t size); /* 0: fine */

/* y += sign * M x for M in blocks (block NULL: one of size nv). */
void dae_saddle_multiply_mass(int nv, const int *block, int nblock, const double *M, double sign,
                              const double *x, double *y);
/* y += sign * G x and x += sign * G^T y, G in the layout of the pattern (colptr NULL: dense). */
void dae_saddle_multiply(const dae_saddle_spec *spec, const double *G, double sign, const double *x,
                         double *y);
void dae_saddle_multiply_transposed(const dae_saddle_spec *spec, const double *G, double sign,
                                    const double *y, double *x);

#endif
