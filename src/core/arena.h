/* An arena: memory taken while something is created, given back at once when it is destroyed.
 *
 * All that must survive in a checkpoint (arrays and plain structs without pointers) is taken from the
 * arena of the integrator; saving a run writes the arena, loading it reads it back. Every piece is
 * zeroed and aligned to 64 bytes. */
#ifndef DAE_CORE_ARENA_H
#define DAE_CORE_ARENA_H

#include <stddef.h>

typedef struct dae_arena dae_arena;

dae_arena *dae_arena_create(void);                             /* NULL: out of memory */
void dae_arena_destroy(dae_arena *a);                          /* NULL allowed */
void *dae_arena_take(dae_arena *a, size_t count, size_t size); /* NULL: out of memory (remembered) */
int dae_arena_failed(const dae_arena *a);                      /* 1 if any take failed */

static inline double *dae_arena_reals(dae_arena *a, size_t n)
{
    return dae_arena_take(a, n, sizeof(double));
}
static inline int *dae_arena_ints(dae_arena *a, size_t n)
{
    return dae_arena_take(a, n, sizeof(int));
}
/* A copy of n items, or NULL for NULL. */
void *dae_arena_copy(dae_arena *a, const void *from, size_t count, size_t size);

/* Checkpoint: all bytes taken, in the order in which they were taken. */
size_t dae_arena_bytes(const dae_arena *a);
void dae_arena_write(const dae_arena *a, void *to);
void dae_arena_read(dae_arena *a, const void *from);

#endif
