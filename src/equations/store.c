/* Memory for trees and texts: taken in pieces, given back at once. */
#include "equations/tree.h"

#include <stdlib.h>
#include <string.h>

enum { block_size = 1 << 16 };

typedef struct block {
    struct block *next;
    size_t used, size;
    max_align_t data[];
} block;

struct dae_store {
    block *last;
    int failed;
};

dae_store *dae_store_create(void)
{
    return calloc(1, sizeof(dae_store));
}

void dae_store_destroy(dae_store *p)
{
    for (block *b = p ? p->last : NULL, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(p);
}

void *dae_store_take(dae_store *p, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (!p->last || p->last->used + size > p->last->size) {
        size_t room = size > block_size ? size : block_size;
        block *b = malloc(sizeof *b + room);
        if (!b) return p->failed = 1, NULL;
        *b = (block){.next = p->last, .size = room};
        p->last = b;
    }
    void *out = (char *)p->last->data + p->last->used;
    p->last->used += size;
    return memset(out, 0, size);
}

int dae_store_failed(const dae_store *p)
{
    return p->failed;
}

const char *dae_store_text(dae_store *p, const char *text, size_t length)
{
    char *copy = dae_store_take(p, length + 1);
    if (!copy) return "";
    memcpy(copy, text, length);
    return copy;
}
