/* An arena: memory taken while something is created, given back at once when it is destroyed. What methods use of it is
 * <daedalus/arena.h>. */
#ifndef DAE_CORE_ARENA_H
#define DAE_CORE_ARENA_H

#include <daedalus/arena.h>

dae_arena *dae_arena_create(void);    /* NULL: out of memory */
void dae_arena_destroy(dae_arena *a); /* NULL allowed */
/* A copy of n items, or NULL for NULL. */
void *dae_arena_copy(dae_arena *a, const void *from, size_t count, size_t size);

/* Checkpoint: all bytes taken, in the order in which they were taken. */
size_t dae_arena_bytes(const dae_arena *a);
void dae_arena_write(const dae_arena *a, void *to);
void dae_arena_read(dae_arena *a, const void *from);
/* Which of these bytes p is, from 1 on, 0: none of them; and the other way round. */
size_t dae_arena_place(const dae_arena *a, const void *p);
void *dae_arena_at(const dae_arena *a, size_t place);

#endif
