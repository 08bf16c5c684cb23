#include "core/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 64
#define BLOCK ((size_t)1 << 14) /* ours: one block holds a small system, so that its data stay together */

/* Lies at the beginning of what it holds. */
typedef struct block {
    struct block *next;
    size_t size, used;
    unsigned char *data;
} block;

struct dae_arena {
    block *first, *last;
    int failed;
};

dae_arena *dae_arena_create(void)
{
    return calloc(1, sizeof(dae_arena));
}

void dae_arena_destroy(dae_arena *a)
{
    if (!a) return;
    for (block *b = a->first, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(a);
}

static block *grow(dae_arena *a, size_t need)
{
    size_t size = need > BLOCK ? need : BLOCK, all = sizeof(block) + size + ALIGN;
    /* what is taken from a block is zeroed then; a large one comes so from the system, page by page when it is used */
    block *b = need > BLOCK ? calloc(1, all) : malloc(all);
    if (!b) return NULL;
    size_t off = (size_t)((uintptr_t)(b + 1) % ALIGN);
    *b = (block){.size = size, .data = (unsigned char *)(b + 1) + (off ? ALIGN - off : 0)};
    if (a->last) a->last->next = b;
    else a->first = b;
    a->last = b;
    return b;
}

void *dae_arena_take(dae_arena *a, size_t count, size_t size)
{
    if (size &&
        count > ((size_t)-1 - 2 * ALIGN - sizeof(block)) / size) { /* room for rounding up here and in grow */
        a->failed = 1;
        return NULL;
    }
    size_t need = (count * size + ALIGN - 1) / ALIGN * ALIGN;
    if (!need) need = ALIGN;
    block *b = a->last;
    if (!b || b->size - b->used < need) b = grow(a, need);
    if (!b) {
        a->failed = 1;
        return NULL;
    }
    void *p = b->data + b->used;
    b->used += need;
    return b->size > BLOCK ? p : memset(p, 0, need);
}

int dae_arena_failed(const dae_arena *a)
{
    return a->failed;
}

void *dae_arena_copy(dae_arena *a, const void *from, size_t count, size_t size)
{
    if (!from) return NULL;
    void *p = dae_arena_take(a, count, size);
    if (p && count) memcpy(p, from, count * size);
    return p;
}

size_t dae_arena_bytes(const dae_arena *a)
{
    size_t n = 0;
    for (const block *b = a->first; b; b = b->next) n += b->used;
    return n;
}

void dae_arena_write(const dae_arena *a, void *to)
{
    unsigned char *out = to;
    for (const block *b = a->first; b; b = b->next) {
        memcpy(out, b->data, b->used);
        out += b->used;
    }
}

void dae_arena_read(dae_arena *a, const void *from)
{
    const unsigned char *in = from;
    for (block *b = a->first; b; b = b->next) {
        memcpy(b->data, in, b->used);
        in += b->used;
    }
}

size_t dae_arena_place(const dae_arena *a, const void *p)
{
    size_t before = 1;
    for (const block *b = a->first; b; b = b->next) {
        uintptr_t at = (uintptr_t)p, begin = (uintptr_t)b->data;
        if (p && at >= begin && at < begin + b->used) return before + (size_t)(at - begin);
        before += b->used;
    }
    return 0;
}

void *dae_arena_at(const dae_arena *a, size_t place)
{
    for (const block *b = a->first; b && place; b = b->next) {
        if (place <= b->used) return b->data + place - 1;
        place -= b->used;
    }
    return NULL;
}
