/* statespace: what a checkpoint holds. */
#include "formulation/statespace.h"

#include <string.h>

/* Plain numbers of the run, and the sizes of what follows: the arena, the sparse factors. */
typedef struct kept {
    size_t arena, factors[3];
    int first_index; /* 1: position holds the index lists that were taken first */
    int role[3];     /* which of the three matrices are anchor, here and spare */
    int rows[3];     /* of G in each */
    int slow, iterations;
    long points, newton, changes, by_newton, jacobian_points;
    double anchor_t, eta, eta_start, jacobian_t;
    char text[sizeof((dae_formulation *)0)->text];
} kept;

size_t dae_statespace_save(const dae_formulation *f, void *buffer)
{
    const statespace *s = f->self;
    unsigned char *out = buffer;
    kept k;
    memset(&k, 0, sizeof k); /* the bytes between the numbers too */
    k.arena = dae_arena_bytes(s->keep);
    k.first_index = s->position.index == s->first_index;
    k.role[0] = (int)(s->anchor - s->store), k.role[1] = (int)(s->here - s->store),
    k.role[2] = (int)(s->spare - s->store);
    k.slow = s->slow, k.iterations = s->iterations;
    k.points = s->points, k.newton = s->newton, k.changes = s->changes, k.by_newton = s->by_newton,
    k.jacobian_points = s->jacobian_points;
    k.anchor_t = s->anchor_t, k.eta = s->eta, k.eta_start = s->eta_start, k.jacobian_t = s->jacobian_t;
    memcpy(k.text, f->text, sizeof k.text);
    size_t size = sizeof k + k.arena;
    if (out) dae_arena_write(s->keep, out + sizeof k);
    for (int i = 0; i < 3; i++) {
        k.factors[i] = dae_split_save(&s->store[i], out ? out + size : NULL);
        k.rows[i] = s->store[i].m;
        size += k.factors[i];
    }
    if (out) memcpy(out, &k, sizeof k);
    return size;
}

int dae_statespace_load(dae_formulation *f, const void *buffer, size_t size)
{
    statespace *s = f->self;
    const unsigned char *in = buffer;
    kept k;
    if (size < sizeof k) return -1;
    memcpy(&k, in, sizeof k);
    size_t at = sizeof k;
    if (k.arena != dae_arena_bytes(s->keep) || k.arena > size - at) return -1;
    for (int i = 0; i < 3; i++) {
        int bad = k.role[i] < 0 || k.role[i] > 2 || k.role[i] == k.role[(i + 1) % 3] || k.rows[i] < 0 ||
                  k.rows[i] > f->d.nl;
        if (bad) return -1;
        s->store[i].m = k.rows[i];
    }
    dae_arena_read(s->keep, in + at);
    at += k.arena;
    for (int i = 0; i < 3; i++) {
        if (k.factors[i] > size - at || dae_split_load(&s->store[i], in + at, k.factors[i])) return -1;
        at += k.factors[i];
    }
    if (k.first_index != (s->position.index == s->first_index)) {
        functionals swap = s->position;
        s->position = s->other;
        s->other = swap;
    }
    s->anchor = &s->store[k.role[0]], s->here = &s->store[k.role[1]], s->spare = &s->store[k.role[2]];
    s->slow = k.slow, s->iterations = k.iterations;
    s->points = k.points, s->newton = k.newton, s->changes = k.changes, s->by_newton = k.by_newton,
    s->jacobian_points = k.jacobian_points;
    s->anchor_t = k.anchor_t, s->eta = k.eta, s->eta_start = k.eta_start, s->jacobian_t = k.jacobian_t;
    memcpy(f->text, k.text, sizeof f->text);
    f->text[sizeof f->text - 1] = 0;
    f->trouble[0] = 0;
    return at != size;
}

void dae_statespace_forget(dae_formulation *f)
{
    ((statespace *)f->self)->jacobian_points = -1;
}
