/* Slots that are taken by an atomic exchange: two uncontended ones per evaluation. */
#include "equations/work.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { slots = 256 };

struct dae_work {
    size_t size;
    void (*prepare)(double *array, void *user);
    void *user;
    atomic_int taken[slots];
    double *array[slots]; /* made by the first who takes the slot, read only by who has it */
};

dae_work *dae_work_create(size_t size, void (*prepare)(double *array, void *user), void *user)
{
    dae_work *w = calloc(1, sizeof *w);
    int slot;
    if (!w) return NULL;
    w->size = size;
    w->prepare = prepare;
    w->user = user;
    if (dae_work_borrow(w, &slot)) {
        dae_work_return(w, slot);
        return w;
    }
    dae_work_destroy(w);
    return NULL;
}

void dae_work_destroy(dae_work *w)
{
    if (!w) return;
    for (int k = 0; k < slots; k++) free(w->array[k]);
    free(w);
}

double *dae_work_borrow(dae_work *w, int *slot)
{
    for (int k = 0; k < slots; k++) {
        if (atomic_exchange_explicit(&w->taken[k], 1, memory_order_acquire)) continue;
        *slot = k;
        if (w->array[k]) return w->array[k];
        w->array[k] = calloc(w->size + 1, sizeof *w->array[k]);
        if (w->array[k]) {
            w->prepare(w->array[k], w->user);
            return w->array[k];
        }
        dae_work_return(w, k);
        return NULL;
    }
    return NULL;
}

void dae_work_return(dae_work *w, int slot)
{
    atomic_store_explicit(&w->taken[slot], 0, memory_order_release);
}
