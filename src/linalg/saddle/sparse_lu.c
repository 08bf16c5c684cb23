/* sparse_lu: KLU on the whole matrix [M U^T; G 0]. The pattern holds the blocks of M and all structural
 * entries of G and U, so it never changes: it is analyzed once, factored with pivoting at the anchor, and
 * all other matrices are refactored with the anchor's pivots, along a list of operations (fixed.h). Small matrices have
 * pivots and a list of their own (program.h) in the place of KLU's. Where the pivots do not serve (a zero pivot, or
 * a reciprocal pivot growth below GROWTH) this one matrix is factored with pivots of its own, and the
 * solver asks for a new anchor. [MEXX] section 4.2 did the same with MA28; 1 to 3 anchors per run are
 * usual.
 *
 * KLU's objects are not in the arena. A checkpoint rebuilds them from the values of the anchor. */
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"

#include "linalg/klu_list.h"
#include "linalg/saddle/program.h"

#define GROWTH 1e-3 /* ours; the original's 1e-6 for MA28 cost five digits on the seven body mechanism */
/* of pivots relative to the largest entry of their column; ours, the original had 1e-2 */
#define TOLERANCE 0.1

typedef struct sparse_lu {
    int n, nz;
    int *colptr, *rowind;       /* pattern: n+1, nz */
    int mass, g;                /* values of M (without those that are always zero), G and U */
    int *mass_from;             /* which value of M each of them is; all in their order: NULL */
    int *mass_at, *G_at, *U_at; /* where the values of M, G, U go: one for each value */
    double *base, *a;           /* nz: values of the anchor; of a matrix for KLU */
    double *last;               /* nz: M, G and U of the last matrix, one after the other */
    int *place;                 /* nz: where these go in the elements of small; else scratch */
    double *x;                  /* n */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *anchored, *own; /* factors with the anchor's pivots, and with pivots of their own */
    klu_numeric *now;            /* the one that solve uses, NULL: */
    dae_fixed *list;             /* the anchor's pivots as a list of operations, NULL: it is too long */
    program *small;              /* for small matrices in the place of both, NULL: it is not */
} sparse_lu;

static void destroy(void *data)
{
    sparse_lu *d = data;
    dae_fixed_destroy(d->list);
    dae_lu_program_destroy(d->small);
    klu_free_numeric(&d->own, &d->common);
    klu_free_numeric(&d->anchored, &d->common);
    klu_free_symbolic(&d->symbolic, &d->common);
    free(d);
}

/* Entries of G in column j: k from begin to end with their rows; dense G has all of them. */
static int column_begin(const dae_saddle_spec *spec, int j)
{
    return spec->colptr ? spec->colptr[j] : j * spec->nl;
}

static int entry_row(const dae_saddle_spec *spec, int j, int k)
{
    return spec->colptr ? spec->rowind[k] : k - j * spec->nl;
}

/* The pattern column by column: M over G on the left, U^T on the right. */
static void build_pattern(dae_saddle *s, sparse_lu *d)
{
    const dae_saddle_spec *spec = &s->spec;
    int nz = 0, nv = spec->nv, mass = 0;
    for (int b = 0; b < spec->nblock; b++) {
        for (int j = 0; j < s->block[b]; j++) {
            int col = s->first[b] + j;
            d->colptr[col] = nz;
            for (int i = 0; i < s->block[b]; i++) {
                int from = s->offset[b] + i + j * s->block[b];
                if (spec->mass && spec->mass[from] == 0) continue;
                d->mass_from[mass] = from;
                d->mass_at[mass++] = nz;
                d->rowind[nz++] = s->first[b] + i;
            }
            for (int k = column_begin(spec, col); k < column_begin(spec, col + 1); k++) {
                d->G_at[k] = nz;
                d->rowind[nz++] = nv + entry_row(spec, col, k);
            }
        }
    }
    /* Column nv+i is row i of U: count its entries, then place them by ascending velocity. */
    int *next = d->colptr + nv + 1; /* while placing: next free place of column nv+i is next[i] */
    for (int j = 0; j < nv; j++) {
        for (int k = column_begin(spec, j); k < column_begin(spec, j + 1); k++) next[entry_row(spec, j, k)]++;
    }
    d->colptr[nv] = nz;
    for (int i = 0; i < spec->nl; i++) {
        int count = next[i];
        next[i] = nz;
        nz += count;
    }
    for (int j = 0; j < nv; j++) {
        for (int k = column_begin(spec, j); k < column_begin(spec, j + 1); k++) {
            int at = next[entry_row(spec, j, k)]++;
            d->U_at[k] = at;
            d->rowind[at] = j;
        }
    }
}

/* KLU permutes to block triangular form before it orders. That finds out whether the pattern can be regular at all, but
 * takes away its symmetry, with which the minimum degree is at its best: the cheaper one by its estimate. (Chain of insulators: half
 * as many operations, and pivot growth 0.67 in the place of 0.04, without the form.) */
static void analyze(sparse_lu *d)
{
    d->symbolic = klu_analyze(d->n, d->colptr, d->rowind, &d->common);
    if (!d->symbolic) return;
    d->common.btf = 0;
    klu_symbolic *plain = klu_analyze(d->n, d->colptr, d->rowind, &d->common);
    if (plain && plain->est_flops <= d->symbolic->est_flops) {
        klu_free_symbolic(&d->symbolic, &d->common);
        d->symbolic = plain;
    } else {
        klu_free_symbolic(&plain, &d->common);
        d->common.btf = 1;
    }
}

static dae_status create(dae_saddle *s, dae_error *err)
{
    const dae_saddle_spec *spec = &s->spec;
    sparse_lu *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "sparse_lu: out of memory");
    klu_defaults(&d->common);
    d->common.tol = TOLERANCE;
    for (int k = 0; k < s->offset[spec->nblock]; k++) d->mass += !spec->mass || spec->mass[k] != 0;
    int mass = d->mass, g = d->g = column_begin(spec, spec->nv);
    d->n = spec->nv + spec->nl;
    d->nz = mass + 2 * g;
    d->colptr = dae_arena_ints(s->arena, (size_t)d->n + 1);
    d->rowind = dae_arena_ints(s->arena, (size_t)d->nz);
    d->mass_from = dae_arena_ints(s->arena, (size_t)mass);
    d->mass_at = dae_arena_ints(s->arena, (size_t)mass);
    d->G_at = dae_arena_ints(s->arena, (size_t)g);
    d->U_at = dae_arena_ints(s->arena, (size_t)g);
    d->base = dae_arena_reals(s->arena, (size_t)d->nz);
    d->a = dae_arena_reals(s->arena, (size_t)d->nz);
    d->last = dae_arena_reals(s->arena, (size_t)d->nz);
    d->place = dae_arena_ints(s->arena, (size_t)d->nz);
    d->x = dae_arena_reals(s->arena, (size_t)d->n);
    if (saddle_memory(s, err)) return DAE_ERR_MEMORY;
    build_pattern(s, d);
    if (mass == s->offset[spec->nblock]) d->mass_from = NULL;
    snprintf(s->text, sizeof s->text, "sparse_lu %d, %d nonzeros (KLU)", d->n, d->nz);
    return DAE_OK;
}

/* Values that lie one after the other, as in last, in the order of the pattern. */
static void arrange(const dae_saddle *s, const double *from, double *a)
{
    const sparse_lu *d = s->data;
    for (int k = 0; k < d->mass; k++) a[d->mass_at[k]] = from[k];
    for (int k = 0; k < d->g; k++) a[d->G_at[k]] = from[d->mass + k];
    for (int k = 0; k < d->g; k++) a[d->U_at[k]] = from[d->mass + d->g + k];
}

/* The same for small, one by one: values that were just computed reach a copy by vectors late. */
static void put(int count, const double *value, const int *at, double *last, double *a)
{
    int k = 0;
    for (; k + 2 <= count; k += 2) {
        double first = value[k], second = value[k + 1];
        last[k] = first;
        last[k + 1] = second;
        a[at[k]] = first;
        a[at[k + 1]] = second;
    }
    if (k < count) a[at[k]] = last[k] = value[k];
}

static void place(dae_saddle *s, const double *M, const double *G, const double *U)
{
    sparse_lu *d = s->data;
    int mass = d->mass, g = d->g;
    double *a = dae_lu_program_clear(d->small);
    if (!d->mass_from) put(mass, M, d->place, d->last, a);
    for (int k = 0; d->mass_from && k < mass; k++) a[d->place[k]] = d->last[k] = M[d->mass_from[k]];
    put(g, G, d->place + mass, d->last + mass, a);
    put(g, U, d->place + mass + g, d->last + mass + g, a);
}

static void keep(dae_saddle *s, const double *M, const double *G, const double *U)
{
    sparse_lu *d = s->data;
    if (!d->mass_from) dae_copy(d->mass, M, d->last);
    for (int k = 0; d->mass_from && k < d->mass; k++) d->last[k] = M[d->mass_from[k]];
    dae_copy(d->g, G, d->last + d->mass);
    dae_copy(d->g, U, d->last + d->mass + d->g);
}

/* Full factorization with pivoting. The pattern is analyzed when KLU is first needed, which in joint coordinates and for small
 * matrices is never. */
static int pivot(sparse_lu *d, double *a, klu_numeric **numeric)
{
    klu_free_numeric(numeric, &d->common);
    if (!d->symbolic) analyze(d);
    if (!d->symbolic)
        return d->common.status == KLU_OUT_OF_MEMORY ? -1 : 1; /* else singular for all values */
    *numeric = klu_factor(d->colptr, d->rowind, a, d->symbolic, &d->common);
    /* Methods answer a failure by a smaller step, which is right for singular matrices; memory may be back at once. */
    if (!*numeric && d->common.status == KLU_OUT_OF_MEMORY)
        *numeric = klu_factor(d->colptr, d->rowind, a, d->symbolic, &d->common);
    d->now = *numeric;
    if (*numeric) return 0;
    return d->common.status == KLU_SINGULAR ? 1 + d->common.singular_col : -1;
}

static int make_anchor(dae_saddle *s)
{
    sparse_lu *d = s->data;
    dae_fixed_destroy(d->list);
    dae_lu_program_destroy(d->small);
    d->list = NULL;
    int without = -1; /* memory may be back at once, and KLU rounds otherwise: the same steps, or none */
    for (int attempt = 0; attempt < 2 && without < 0; attempt++)
        without = dae_lu_program_create(d->n, d->colptr, d->rowind, d->base, TOLERANCE, GROWTH, &d->small);
    if (without < 0) return -1;
    if (d->small) {
        const int *place = dae_lu_program_places(d->small), mass = d->mass, g = d->g;
        for (int k = 0; k < mass; k++) d->place[k] = place[d->mass_at[k]];
        for (int k = 0; k < g; k++) d->place[mass + k] = place[d->G_at[k]];
        for (int k = 0; k < g; k++) d->place[mass + g + k] = place[d->U_at[k]];
        return 0;
    }
    int bad = pivot(d, d->base, &d->anchored);
    if (!bad)
        d->list = dae_klu_list(d->anchored, d->symbolic, &d->common, d->n, d->colptr, d->rowind, d->base, 0);
    if (d->list) { /* takes the values as they lie in last */
        for (int k = 0; k < d->mass; k++) d->place[d->mass_at[k]] = k;
        for (int k = 0; k < d->g; k++) d->place[d->G_at[k]] = d->mass + k;
        for (int k = 0; k < d->g; k++) d->place[d->U_at[k]] = d->mass + d->g + k;
        dae_fixed_rearrange(d->list, d->place);
    }
    return bad;
}

static int anchor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    sparse_lu *d = s->data;
    keep(s, M, G, U);
    arrange(s, d->last, d->base);
    s->state->analyses++;
    return make_anchor(s);
}

/* With the pivots of the anchor; for small the values are in their places. */
static int refactor(dae_saddle *s)
{
    sparse_lu *d = s->data;
    d->now = d->list || d->small ? NULL : d->anchored;
    if (d->small) return dae_lu_program_factor(d->small, NULL);
    if (d->list) return dae_fixed_factor(d->list, d->last, GROWTH);
    arrange(s, d->last, d->a);
    if (!klu_refactor(d->colptr, d->rowind, d->a, d->symbolic, d->anchored, &d->common)) return 1;
    if (d->common.status != KLU_OK) return 1;
    klu_rgrowth(d->colptr, d->rowind, d->a, d->symbolic, d->anchored, &d->common);
    return !(d->common.rgrowth > GROWTH);
}

/* The last matrix with pivots of its own. */
static int factor_alone(dae_saddle *s)
{
    sparse_lu *d = s->data;
    arrange(s, d->last, d->a);
    return pivot(d, d->a, &d->own);
}

/* The same after those of the anchor failed. */
static int repivot(dae_saddle *s)
{
    sparse_lu *d = s->data;
    if (!dae_all_finite(d->nz, d->last)) return 1;
    s->state->stale = 1;
    s->state->analyses++;
    return factor_alone(s);
}

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    sparse_lu *d = s->data;
    if (d->small) place(s, M, G, U);
    else keep(s, M, G, U);
    return (d->anchored || d->small) && !refactor(s) ? 0 : repivot(s);
}

static void solve(dae_saddle *s, double *w, double *l)
{
    sparse_lu *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl, together = l == w + nv;
    double *x = together ? w : d->x;
    if (!together) {
        dae_copy(nv, w, x);
        dae_copy(nl, l, x + nv);
    }
    if (d->now) klu_solve(d->symbolic, d->now, d->n, 1, x, &d->common);
    else if (d->small) dae_lu_program_solve(d->small, x);
    else dae_fixed_solve(d->list, x, NULL);
    if (!together) {
        dae_copy(nv, x, w);
        dae_copy(nl, x + nv, l);
    }
}

static int factor_solve(dae_saddle *s, const double *M, const double *G, const double *U, double *w,
                        double *l)
{
    sparse_lu *d = s->data;
    int bad = 0;
    if (d->small && l == w + s->spec.nv) {
        place(s, M, G, U);
        d->now = NULL;
        if (!dae_lu_program_factor(d->small, w)) {
            dae_lu_program_finish(d->small, w);
            return 0;
        }
        bad = repivot(s);
    } else {
        bad = factor(s, M, G, U);
    }
    if (!bad) solve(s, w, l);
    return bad;
}

/* The arena has the values of the anchor and of the last matrix; nothing else is needed. */
static size_t save(const dae_saddle *s, void *buffer)
{
    (void)s;
    (void)buffer;
    return 0;
}

static int load(dae_saddle *s, const void *buffer, size_t size)
{
    sparse_lu *d = s->data;
    (void)buffer;
    if (size) return 1;
    if (!s->state->anchored) return 0;
    int bad = make_anchor(s);
    if (bad) return bad < 0 ? -1 : 1;
    if (d->small) {
        double *a = dae_lu_program_clear(d->small);
        for (int k = 0; k < d->nz; k++) a[d->place[k]] = d->last[k];
    }
    return refactor(s) && factor_alone(s) < 0 ? -1 : 0;
}

const mode dae_saddle_sparse_lu = {.name = "sparse_lu",
                                   .unsymmetric = 1,
                                   .create = create,
                                   .anchor = anchor,
                                   .factor = factor,
                                   .solve = solve,
                                   .factor_solve = factor_solve,
                                   .destroy = destroy,
                                   .save = save,
                                   .load = load};
