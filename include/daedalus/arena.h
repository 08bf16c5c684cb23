/* Memory of a run, as methods take it: in create, zeroed, aligned to 64 bytes, given back with the integrator.
 *
 * All that must survive in a checkpoint (arrays and plain structs without pointers) is taken from the arena of the
 * integrator; saving a run writes the arena, loading it reads it back. */
#ifndef DAEDALUS_ARENA_H
#define DAEDALUS_ARENA_H

#include <daedalus/export.h>
#include <stddef.h>

DAE_BEGIN_DECLS

typedef struct dae_arena dae_arena;

DAE_API void *dae_arena_take(dae_arena *a, size_t count, size_t size); /* NULL: out of memory (remembered) */
DAE_API int dae_arena_failed(const dae_arena *a);                      /* 1 if any take failed */

static inline double *dae_arena_reals(dae_arena *a, size_t n)
{
    return (double *)dae_arena_take(a, n, sizeof(double));
}
static inline int *dae_arena_ints(dae_arena *a, size_t n)
{
    return (int *)dae_arena_take(a, n, sizeof(int));
}

DAE_END_DECLS

#endif
