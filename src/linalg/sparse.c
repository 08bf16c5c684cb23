#include "linalg/sparse.h"

#include "core/vector.h"
#include "linalg/klu_list.h"

#include <math.h>

/* How much smaller than the largest in its column a pivot on the diagonal may be. Ours: KLU's 0.001 was
 * measured to lose 4 digits on a matrix with rows of very different size. */
#define PIVOT 0.1

/* The symmetric ordering promises factors for pivots on the diagonal. Where multipliers have zeros there, the pivots beside it can make
 * them a hundred times as many; the ordering by columns bounds what any pivots fill, and comes near to the promise. Ours. */
#define SPOILED 4 /* times the promise is too many */
#define MANY 500  /* from here on not even tried: zeros on the diagonal, and by columns it is below GOOD */
#define GOOD 2
enum { BY_SYMMETRY, BY_COLUMNS }; /* KLU's numbers of AMD and COLAMD */

struct dae_klu {
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
    double promise; /* values in L, by the symmetric ordering with its pivots */
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
    s->klu->promise = s->klu->symbolic->lnz;
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

/* KLU's factors by the present ordering. */
static void factor_ordered(dae_sparse_lu *s, double *value)
{
    struct dae_klu *k = s->klu;
    k->numeric = s->is_complex ? klu_z_factor(s->colptr, s->rowind, value, k->symbolic, &k->common)
                               : klu_factor(s->colptr, s->rowind, value, k->symbolic, &k->common);
}

/* Another ordering; 0: fine, else the old one stays. */
static int order_by(dae_sparse_lu *s, int ordering)
{
    struct dae_klu *k = s->klu;
    int old = k->common.ordering;
    if (old == ordering) return 0;
    k->common.ordering = ordering;
    klu_symbolic *other = klu_analyze(s->n, s->colptr, s->rowind, &k->common);
    if (!other) {
        k->common.ordering = old;
        return -1;
    }
    klu_free_symbolic(&k->symbolic, &k->common);
    k->symbolic = other;
    return 0;
}

/* Values in the factors over those that the symmetric ordering promised. */
static double filled(const struct dae_klu *k)
{
    return k->numeric ? ((double)k->numeric->lnz + k->numeric->unz) / (2 * k->promise) : INFINITY;
}

static int has_zeros_on_diagonal(const dae_sparse_lu *s, const double *value)
{
    int step = s->is_complex ? 2 : 1, found = 0;
    for (int j = 0; j < s->n; j++) {
        for (int k = s->colptr[j]; k < s->colptr[j + 1]; k++)
            found += s->rowind[k] == j && (value[k * step] != 0 || (step == 2 && value[2 * k + 1] != 0));
    }
    return found < s->n;
}

static int factor_by(dae_sparse_lu *s, double *value, int ordering)
{
    forget(s);
    if (order_by(s, ordering)) return -1;
    factor_ordered(s, value);
    return 0;
}

/* Factors, and decides on the ordering where that of symmetry is spoiled: the one that fills less is kept from then on. */
static int factor_and_choose(dae_sparse_lu *s, double *value)
{
    struct dae_klu *k = s->klu;
    double now = INFINITY;
    int by_columns = s->n >= MANY && has_zeros_on_diagonal(s, value);
    if (!by_columns) {
        if (factor_by(s, value, BY_SYMMETRY)) return -1;
        now = filled(k);
        if (!k->numeric || now <= SPOILED) return 0;
    }
    if (factor_by(s, value, BY_COLUMNS)) return -1;
    double other = filled(k);
    if (by_columns && !k->numeric) return 0; /* singular: nothing is known */
    s->state->ordered = 1;
    s->state->by_columns = other < (by_columns ? GOOD : now);
    if (s->state->by_columns) return 0;
    if (factor_by(s, value, BY_SYMMETRY)) return -1;
    if (!by_columns || filled(k) <= other) return 0;
    s->state->by_columns = 1;
    return factor_by(s, value, BY_COLUMNS);
}

/* Chooses pivots for these values. */
static int factor(dae_sparse_lu *s, double *value)
{
    struct dae_klu *k = s->klu;
    dae_sparse_state *state = s->state;
    if (state->ordered ? factor_by(s, value, state->by_columns ? BY_COLUMNS : BY_SYMMETRY)
                       : factor_and_choose(s, value))
        return -1;
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
