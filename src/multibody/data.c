/* What an evaluation writes: a data object for as long as it lasts. A mechanism is constant and shared by threads; beside it lies
 * a shelf of idle data objects. An evaluation takes one from there or, where none is idle, makes one, and puts it back
 * when it ends: nobody waits for anybody, however many threads there are. (Without any memory left the evaluation waits for
 * one that another thread puts back: the first of each kind is made with the mechanism.) */
#include "multibody/acceleration.h"
#include "multibody/build.h"

#include <stdlib.h>
#include <string.h>

enum { derivative_limit = 600, dual_room = 800 }; /* velocities; duals alive in one force */

int mbs_has_derivatives(const mbs_mechanism *m)
{
    return m->nv <= derivative_limit;
}

static mbs_data *create(const mbs_mechanism *m, int derivatives)
{
    size_t nv = (size_t)m->nv, nz = (size_t)m->nz;
    size_t size[] = {((size_t)m->nbody + 1) * sizeof(mbs_pose) / sizeof(double),
                     mbs_work(m),
                     nv,
                     dual_room * (size_t)(1 + m->nested) * nz,
                     nv * nz,
                     1 + (size_t)(m->np + m->nv + m->nu + m->nrow)};
    size_t count = derivatives && mbs_has_derivatives(m) ? 6 : 2, all = 0;
    for (size_t k = 0; k < count; k++) all += size[k];
    mbs_data *d = calloc(1, sizeof *d);
    double *next = d ? calloc(all, sizeof *next) : NULL;
    if (!next) {
        free(d);
        return NULL;
    }
    double **at[] = {&d->room, &d->work, &d->f, &d->heap, &d->J, &d->key};
    for (size_t k = 0; k < count; next += size[k++]) *at[k] = next;
    d->pose = (mbs_pose *)d->room;
    memcpy(d->pose[0].A, mbs_identity, sizeof mbs_identity);
    d->derivatives = derivatives;
    return d;
}

static void destroy(mbs_data *d)
{
    if (!d) return;
    mbs_acceleration_destroy(d->solver);
    free(d->tree_work);
    free(d->room);
    free(d);
}

int mbs_shelf_create(mbs_mechanism *m)
{
    m->nz = 2 * m->nv + m->nu + m->nrow + 1;
    m->shelf = calloc(1, sizeof *m->shelf);
    for (int k = 0; m->shelf && k < 4; k++) { /* three plain ones: some evaluations ask for others inside */
        mbs_data *d = create(m, k == 3);
        if (!d) return 1;
        mbs_give(m, d);
    }
    return m->shelf == NULL;
}

void mbs_shelf_destroy(mbs_shelf *s)
{
    for (int k = 0; s && k < 2 * MBS_IDLE; k++) destroy(atomic_load(&s->idle[k]));
    free(s);
}

mbs_data *mbs_take(const mbs_mechanism *m, int derivatives)
{
    _Atomic(mbs_data *) *idle = m->shelf->idle + (derivatives ? MBS_IDLE : 0);
    for (;;) {
        for (int k = 0; k < MBS_IDLE; k++) {
            if (!atomic_load_explicit(&idle[k], memory_order_relaxed)) continue;
            mbs_data *d = atomic_exchange_explicit(&idle[k], NULL, memory_order_acquire);
            if (d) return d;
        }
        mbs_data *d = create(m, derivatives);
        if (d) return d;
    }
}

void mbs_give(const mbs_mechanism *m, mbs_data *d)
{
    _Atomic(mbs_data *) *idle = m->shelf->idle + (d->derivatives ? MBS_IDLE : 0);
    for (int k = 0; k < MBS_IDLE; k++) {
        mbs_data *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&idle[k], &none, d, memory_order_release,
                                                    memory_order_relaxed))
            return;
    }
    destroy(d);
}
