/* What the modes of the saddle-point solver share. */
#ifndef DAE_LINALG_SADDLE_INTERNAL_H
#define DAE_LINALG_SADDLE_INTERNAL_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "linalg/saddle.h"

typedef struct mode {
    const char *name;
    int unsymmetric; /* takes U */
    int renew;       /* wants an anchor at every occasion */
    /* Fills s->data (freed by destroy) with arrays from s->arena. DAE_OK or an error. */
    dae_status (*create)(dae_saddle *s, dae_error *err);
    int (*anchor)(dae_saddle *s, const double *M, const double *G, const double *U); /* NULL: nothing to do */
    int (*factor)(dae_saddle *s, const double *M, const double *G, const double *U);
    void (*solve)(dae_saddle *s, double *w, double *l);
    /* Both at once; NULL: one after the other. */
    int (*factor_solve)(dae_saddle *s, const double *M, const double *G, const double *U, double *w,
                        double *l);
    void (*destroy)(void *data); /* NULL: free */
    size_t (*save)(const dae_saddle *s, void *buffer);
    int (*load)(dae_saddle *s, const void *buffer, size_t size);
} mode;

extern const mode dae_saddle_dense_lu, dae_saddle_dense_ldlt, dae_saddle_range_space, dae_saddle_null_space,
    dae_saddle_block_elimination, dae_saddle_sparse_lu, dae_saddle_recursive_constraint,
    dae_saddle_recursive_joint, dae_saddle_pcg;

/* What a checkpoint carries with the arena. */
typedef struct saddle_state {
    int anchored, stale;
    long analyses;
} saddle_state;

struct dae_saddle {
    dae_saddle_spec spec;
    int *block;  /* sizes, nblock of them */
    int *first;  /* first velocity of each block, and nv: nblock+1 */
    int *offset; /* of the values of each block in M: nblock+1 */
    const mode *mode;
    dae_arena *arena;
    void *data;
    saddle_state *state; /* in the arena */
    char text[96];
};

/* M and G as dense matrices: a (leading dimension ld) gets them at the given place; what is not stored
 * is not touched. transposed: G^T. */
void dae_saddle_expand_mass(const dae_saddle *s, const double *M, double *a, int ld);
void dae_saddle_expand(const dae_saddle *s, const double *G, double *a, int ld, int transposed);

static inline dae_status saddle_memory(dae_saddle *s, dae_error *err)
{
    if (!dae_arena_failed(s->arena)) return DAE_OK;
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "saddle-point solver %s of size %d: out of memory",
                    s->mode->name, s->spec.nv + s->spec.nl);
}

/* data of a mode: zeroed, freed with the solver. */
static inline void *saddle_data(dae_saddle *s, size_t size)
{
    s->data = calloc(1, size);
    return s->data;
}

#endif
