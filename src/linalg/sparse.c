#include "linalg/sparse.h"

#include "core/vector.h"
#include "linalg/klu_list.h"

/* How much smaller than the largest in its column a pivot on the diagonal may be. Ours: KLU's 0.001 was
 * measured to lose 4 digits on a matrix with rows of very different size. */
#define PIVOT 0.1

struct dae_klu {
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
};

int dae_sparse_init(dae_sparse_lu *s, int n, const int *colptr, const int *rowind, int is_complex,
                    dae_arena *arena)
{
    int count = colptr[n];
    size_t values = (size_t)count * (is_complex ? 2 : 1);
    *s = (dae_sparse_lu){.n = n, .count = count, .is_complex = is_complex};
    s->colptr = dae_arena_copy(arena, colptr, (size_t)n + 1, sizeof(int));
    s->rowind = dae_arena_copy(arena, rowind, (size_t)count, sizeof(int));
    s->value = dae_arena_reals(arena, values);
    s->chosen = dae_arena_reals(arena, values);
    s->work = dae_arena_reals(arena, 2 * (size_t)n);
    s->state = dae_arena_take(arena, 1, sizeof *s->state);
    s->klu = calloc(1, sizeof *s->klu);
    if (!s->klu || dae_arena_failed(arena)) return -1;
    klu_defaults(&s->klu->common);
    s->klu->common.tol = PIVOT;
    s->klu->symbolic = klu_analyze(n, s->colptr, s->rowind, &s->klu->common);
    if (!s->klu->symbolic) return -1;
    s->flops = s->klu->symbolic->est_flops;
    return 0;
}

double dae_sparse_flops(int n, const int *colptr, const int *rowind)
{
    klu_common common;
    klu_defaults(&common);
    klu_symbolic *symbolic = klu_analyze(n, (int *)colptr, (int *)rowind, &common);
    double flops = symbolic ? symbolic->est_flops : -1;
    klu_free_symbolic(&symbolic, &common);
    return flops;
}

static void forget(dae_sparse_lu *s)
{
    struct dae_klu *k = s->klu;
    dae_fixed_destroy(s->fixed);
    s->fixed = NULL;
    if (s->is_complex) {
        klu_z_free_numeric(&k->numeric, &k->common);
    } else {
        klu_free_numeric(&k->numeric, &k->common);
    }
}

void dae_sparse_free(dae_sparse_lu *s)
{
    if (!s->klu) return;
    forget(s);
    klu_free_symbolic(&s->klu->symbolic, &s->klu->common);
    free(s->klu);
    s->klu = NULL;
}

/* The list of operations for KLU's pivots; without memory for it, or where it is too long, KLU's factors
 * serve. */
static void make_list(dae_sparse_lu *s, const double *value)
{
    struct dae_klu *k = s->klu;
    s->fixed =
        dae_klu_list(k->numeric, k->symbolic, &k->common, s->n, s->colptr, s->rowind, value, s->is_complex);
}

/* Chooses pivots for these values. */
static int factor(dae_sparse_lu *s, double *value)
{
    struct dae_klu *k = s->klu;
    forget(s);
    k->numeric = s->is_complex ? klu_z_factor(s->colptr, s->rowind, value, k->symbolic, &k->common)
                               : klu_factor(s->colptr, s->rowind, value, k->symbolic, &k->common);
    if (!k->numeric && k->common.status != KLU_SINGULAR) return -1;
    if (!k->numeric) return k->common.numerical_rank >= 0 ? k->common.numerical_rank + 1 : 1;
    if (!s->klu_only) make_list(s, value);
    if (s->fixed && dae_fixed_factor(s->fixed, value, DAE_SPARSE_GROWTH) != 0) {
        dae_fixed_destroy(s->fixed); /* hard on any pivots: leave it to KLU */
        s->fixed = NULL;
    }
    return 0;
}

/* Keeps the pivots. 0: fine; other values: they are bad for these values. */
static int refactor(dae_sparse_lu *s)
{
    struct dae_klu *k = s->klu;
    klu_common *c = &k->common;
    int *p = s->colptr, *i = s->rowind;
    if (s->fixed) return dae_fixed_factor(s->fixed, s->value, DAE_SPARSE_GROWTH);
    if (s->is_complex) {
        if (!klu_z_refactor(p, i, s->value, k->symbolic, k->numeric, c) || c->status != KLU_OK) return 1;
        if (!klu_z_rgrowth(p, i, s->value, k->symbolic, k->numeric, c)) return 1;
    } else {
        if (!klu_refactor(p, i, s->value, k->symbolic, k->numeric, c) || c->status != KLU_OK) return 1;
        if (!klu_rgrowth(p, i, s->value, k->symbolic, k->numeric, c)) return 1;
    }
    return !(c->rgrowth >= DAE_SPARSE_GROWTH);
}

int dae_sparse_factor(dae_sparse_lu *s)
{
    int values = s->count * (s->is_complex ? 2 : 1);
    dae_sparse_state *state = s->state;
    if (!dae_all_finite(values, s->value)) {
        state->refactored = 0; /* the pivots stay, there are no factors to make again */
        return 1;
    }
    if (state->factored && refactor(s) == 0) {
        state->refactored = 1;
        state->refactors++;
        return 0;
    }
    int bad = factor(s, s->value);
    state->factored = !bad;
    state->refactored = 0;
    state->full++;
    if (!bad) dae_copy(values, s->value, s->chosen);
    return bad;
}

void dae_sparse_solve(dae_sparse_lu *s, double *re, double *im)
{
    struct dae_klu *k = s->klu;
    int n = s->n;
    if (s->fixed) {
        dae_fixed_solve(s->fixed, re, im);
        return;
    }
    if (!s->is_complex) {
        klu_solve(k->symbolic, k->numeric, n, 1, re, &k->common);
        return;
    }
    double *w = s->work;
    for (int i = 0; i < n; i++) {
        w[2 * i] = re[i];
        w[2 * i + 1] = im[i];
    }
    klu_z_solve(k->symbolic, k->numeric, n, 1, w, &k->common);
    for (int i = 0; i < n; i++) {
        re[i] = w[2 * i];
        im[i] = w[2 * i + 1];
    }
}

void dae_sparse_solve_many(dae_sparse_lu *s, int count, double *x)
{
    if (s->fixed) {
        dae_fixed_solve_many(s->fixed, count, x, s->n);
        return;
    }
    klu_solve(s->klu->symbolic, s->klu->numeric, s->n, count, x, &s->klu->common);
}

int dae_sparse_restore(dae_sparse_lu *s)
{
    if (!s->state->factored) {
        forget(s);
        return 0;
    }
    int bad = factor(s, s->chosen);
    if (!bad && s->state->refactored) bad = refactor(s);
    return bad;
}
