#include "linalg/shifted.h"

#include "core/error.h"
#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/band.h"
#include "linalg/dense.h"
#include "linalg/scalar.h"
#include "linalg/sparse.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The reduction by second_order = m. With y = (q, r), q the first m unknowns, r = (v, rest) and v the first
 * m of r, the rows of the first block are lambda q - v = b_q. They give q = (b_q + v)/lambda, and the rest
 * becomes a system of order n - m for r:
 *
 *     (lambda M_rr - J_rr - [J_rq/lambda, 0]) r = b_r + J_rq b_q/lambda
 *
 * A is the matrix that is factored: lambda M - J, or the reduced one. Its elements have "slots", places in
 * the arrays of the factors; lists made at create say which value of J and of M goes to which slot. Dense J
 * into dense A, and banded J into banded A, go without a list. */

enum kind { DENSE, BANDED, SPARSE, OWN };

/* Where a sparse or banded J is factored otherwise; read off the tables of bench_linalg. */
#define SMALL 19 /* sparse systems up to this size: dense */
/* the same of real ones, which are solved four times and more for each factorization */
#define SMALL_REAL 24
#define NARROW 8 /* sparse systems with lower + upper up to this: banded */
#define FILLED 8 /* sparse systems that need more than 1/FILLED of the operations of a dense one: dense */

/* Values of a matrix with their places, in the order of storage. */
typedef struct entries {
    int count;
    int *source, *row, *col;
} entries;

/* In the arena: no pointers. */
typedef struct shifted_state {
    int factored;
    double re, im;   /* lambda */
    double ire, iim; /* 1/lambda where second_order > 0 */
} shifted_state;

struct dae_shifted {
    dae_shifted_spec spec;
    int nr; /* order of A */
    enum kind kind;
    int direct; /* J goes to A without a list */
    dae_dense_lu dense;
    dae_band_lu band;
    dae_sparse_lu sparse;
    int nj, *jsource, *jslot;               /* J -> A (where not direct) */
    int nm, *msource, *mslot;               /* M -> A */
    int nq, *qsource, *qslot, *qrow, *qcol; /* J_rq -> A (where not direct) */
    double *q;                              /* J_rq: nq values, or nr*m where direct */
    double *wre, *wim;                      /* n each */
    shifted_state *state;
    void *own;          /* OWN: the user's solver */
    double *given;      /* ... and what it is given, where that is not J itself */
    const double *last; /* ... what it got last, in: */
    dae_arena *arena;
    int columns;      /* k of the pattern: n of spec is that of one block */
    long block_count; /* values of one block */
    double *D; /* k*block_count: the blocks below the first, with the sign that they have on the right */
    char text[120];
};

/* ---- Entries and slots -------------------------------------------------------------------------- */

static void add_entry(entries *e, int source, int row, int col)
{
    if (e->source) {
        e->source[e->count] = source;
        e->row[e->count] = row;
        e->col[e->count] = col;
    }
    e->count++;
}

/* Adds the entries of a pattern to e; with e->source NULL only counts. values, where given, leaves out
 * zeros. */
static void add_entries(entries *e, const dae_pattern *p, int n, const double *values)
{
    if (p->storage == DAE_DIAGONAL) {
        for (int i = 0; i < n; i++) {
            if (!values || values[i] != 0) add_entry(e, i, i, i);
        }
    } else if (p->storage == DAE_SPARSE) {
        for (int j = 0; j < n; j++) {
            for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
                if (!values || values[k] != 0) add_entry(e, k, p->rowind[k], j);
            }
        }
    } else {
        int dense = p->storage == DAE_DENSE, up = dense ? n : p->upper, low = dense ? n : p->lower;
        int ld = dense ? n : low + 1 + up;
        for (int j = 0; j < n; j++) {
            for (int i = j > up ? j - up : 0; i < n && i - j <= low; i++) {
                int k = (dense ? i : up + i - j) + j * ld;
                if (!values || values[k] != 0) add_entry(e, k, i, j);
            }
        }
    }
}

static void free_entries(entries *e)
{
    free(e->source);
    free(e->row);
    free(e->col);
    *e = (entries){0};
}

/* 0: fine, < 0: out of memory */
static int make_entries(entries *e, const dae_pattern *p, int n, const double *values)
{
    *e = (entries){0};
    add_entries(e, p, n, values);
    size_t bytes = ((size_t)e->count + 1) * sizeof(int);
    e->source = malloc(bytes);
    e->row = malloc(bytes);
    e->col = malloc(bytes);
    if (!e->source || !e->row || !e->col) {
        free_entries(e);
        return -1;
    }
    e->count = 0;
    add_entries(e, p, n, values);
    return 0;
}

/* The place of element (i,j) of A in the arrays of its factors. */
static int slot(const dae_shifted *s, int i, int j)
{
    if (s->kind == DENSE) return i + j * s->dense.ld;
    if (s->kind == BANDED) return s->band.lower + s->band.upper + i - j + j * s->band.ld;
    int low = s->sparse.colptr[j], high = s->sparse.colptr[j + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (s->sparse.rowind[middle] < i) low = middle + 1;
        else high = middle;
    }
    return low;
}

/* ---- Create ------------------------------------------------------------------------------------- */

static dae_status check(const dae_shifted_spec *spec, const entries *mass, dae_error *err)
{
    int n = spec->n, m = spec->second_order;
    if (n < 1) return dae_fail(err, DAE_ERR_INPUT, NAN, "linear system: order %d must be at least 1", n);
    if (spec->mass.n != 0 && spec->mass.n != n) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "linear system: mass matrix of order %d, Jacobian of order %d", spec->mass.n, n);
    }
    if (m < 0 || 2 * (long)m > n) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "second_order = %d must be between 0 and half the number of unknowns, %d", m, n / 2);
    }
    if (spec->jacobian.storage == DAE_DIAGONAL) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "a Jacobian cannot be diagonal; give a band of 0, 0");
    }
    if ((double)n * n > INT_MAX / 2 && spec->jacobian.storage == DAE_DENSE) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "a dense system of %d unknowns is too large; give a banded or sparse structure", n);
    }
    if (!mass || m == 0 || spec->mass.n == 0) return DAE_OK;
    int ones = 0;
    for (int k = 0; k < mass->count; k++) {
        int i = mass->row[k], j = mass->col[k];
        if (i >= m && j >= m) continue;
        if (i != j || spec->mass.a[mass->source[k]] != 1) {
            return dae_fail(
                err, DAE_ERR_INPUT, NAN,
                "second_order = %d: the mass matrix must be the identity in its first %d rows and "
                "columns, but element (%d, %d) is %g",
                m, m, i + 1, j + 1, spec->mass.a[mass->source[k]]);
        }
        ones++;
    }
    if (ones != m) {
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "second_order = %d: the mass matrix must be the identity in its first %d rows and columns, "
            "but has zeros on the diagonal there",
            m, m);
    }
    return DAE_OK;
}

/* Row and column in A of entry k, or 0 if it is not part of it. In J the first m columns fall on those of
 * v. */
static int place(const dae_shifted *s, const entries *e, int k, int *i, int *j)
{
    int m = s->spec.second_order;
    *i = e->row[k] - m;
    *j = e->col[k] < m ? e->col[k] : e->col[k] - m;
    return *i >= 0;
}

static void widen(const dae_shifted *s, const entries *e, int *lower, int *upper)
{
    for (int k = 0, i, j; k < e->count; k++) {
        if (!place(s, e, k, &i, &j)) continue;
        if (i - j > *lower) *lower = i - j;
        if (j - i > *upper) *upper = j - i;
    }
}

static int by_value(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

/* The pattern of A: the union of both lists. */
static int make_sparse(dae_shifted *s, const entries *J, const entries *M, dae_arena *arena)
{
    int nr = s->nr, count = 0, result = -1;
    long *key = malloc(((size_t)J->count + (size_t)M->count + 1) * sizeof *key);
    int *colptr = calloc((size_t)nr + 1, sizeof *colptr);
    int *rowind = malloc(((size_t)J->count + (size_t)M->count + 1) * sizeof *rowind);
    if (key && colptr && rowind) {
        for (int list = 0; list < 2; list++) {
            const entries *e = list ? M : J;
            for (int k = 0, i, j; k < e->count; k++) {
                if (place(s, e, k, &i, &j)) key[count++] = (long)j * nr + i;
            }
        }
        qsort(key, (size_t)count, sizeof *key, by_value);
        int distinct = 0;
        for (int k = 0; k < count; k++) {
            if (k > 0 && key[k] == key[k - 1]) continue;
            rowind[distinct++] = (int)(key[k] % nr);
            colptr[key[k] / nr + 1] = distinct;
        }
        for (int j = 1; j <= nr; j++) {
            if (colptr[j] < colptr[j - 1]) colptr[j] = colptr[j - 1];
        }
        result = dae_sparse_init(&s->sparse, nr, colptr, rowind, s->spec.complex_shift, arena);
    }
    free(key);
    free(colptr);
    free(rowind);
    return result;
}

/* How A is stored. */
static enum kind choose(const dae_shifted *s, int lower, int upper)
{
    dae_storage storage = s->spec.jacobian.storage;
    int narrow = lower + upper <= NARROW || 2 * lower + upper < s->nr / 2;
    if (storage == DAE_DENSE) return DENSE;
    if (s->spec.keep_storage) return storage == DAE_BANDED ? BANDED : SPARSE;
    if (s->nr <= (s->spec.complex_shift ? SMALL : SMALL_REAL) && lower + upper > 3) return DENSE;
    if (storage == DAE_BANDED && narrow) return BANDED;
    if (storage == DAE_SPARSE && lower + upper <= NARROW) return BANDED;
    return storage == DAE_BANDED && s->spec.second_order == 0 ? DENSE : SPARSE;
}

/* The lists that say what of J and M goes where. */
static int make_lists(dae_shifted *s, const entries *J, const entries *M, dae_arena *arena)
{
    int m = s->spec.second_order;
    if (!s->direct) {
        s->jsource = dae_arena_ints(arena, (size_t)J->count + 1);
        s->jslot = dae_arena_ints(arena, (size_t)J->count + 1);
    }
    if (!s->direct && m > 0) {
        s->qsource = dae_arena_ints(arena, (size_t)J->count + 1);
        s->qslot = dae_arena_ints(arena, (size_t)J->count + 1);
        s->qrow = dae_arena_ints(arena, (size_t)J->count + 1);
        s->qcol = dae_arena_ints(arena, (size_t)J->count + 1);
    }
    s->msource = dae_arena_ints(arena, (size_t)M->count + 1);
    s->mslot = dae_arena_ints(arena, (size_t)M->count + 1);
    if (dae_arena_failed(arena)) return -1;
    for (int k = 0, i, j; !s->direct && k < J->count; k++) {
        if (!place(s, J, k, &i, &j)) continue;
        if (J->col[k] < m) {
            s->qsource[s->nq] = J->source[k];
            s->qslot[s->nq] = slot(s, i, j);
            s->qrow[s->nq] = i;
            s->qcol[s->nq++] = j;
        } else {
            s->jsource[s->nj] = J->source[k];
            s->jslot[s->nj++] = slot(s, i, j);
        }
    }
    for (int k = 0, i, j; k < M->count; k++) {
        if (!place(s, M, k, &i, &j)) continue;
        s->msource[s->nm] = M->source[k];
        s->mslot[s->nm++] = slot(s, i, j);
    }
    if (m > 0) s->q = dae_arena_reals(arena, s->direct ? (size_t)s->nr * (size_t)m : (size_t)s->nq + 1);
    return dae_arena_failed(arena) ? -1 : 0;
}

static void describe(dae_shifted *s)
{
    const char *number = s->spec.complex_shift ? ", complex" : "";
    const char *reduced = s->spec.second_order ? ", second order" : "";
    if (s->kind == DENSE) {
        snprintf(s->text, sizeof s->text, "dense %d%s%s (%s)", s->nr, number, reduced,
                 s->dense.lapack ? "LAPACK" : "own kernel");
    } else if (s->kind == BANDED) {
        snprintf(s->text, sizeof s->text, "banded %d, %d below and %d above%s%s (own kernel)", s->nr,
                 s->band.lower, s->band.upper, number, reduced);
    } else {
        snprintf(s->text, sizeof s->text, "sparse %d, %d nonzeros%s%s (KLU)", s->nr, s->sparse.count, number,
                 reduced);
    }
}

/* Fills s; the lists of entries are the caller's to free. */
static int build(dae_shifted *s, const entries *J, const entries *M, dae_arena *arena)
{
    const dae_shifted_spec *spec = &s->spec;
    int n = spec->n, m = spec->second_order, lower = 0, upper = 0;
    widen(s, J, &lower, &upper);
    widen(s, M, &lower, &upper);
    s->kind = choose(s, lower, upper);
    if (s->kind == DENSE && (double)s->nr * s->nr > INT_MAX / 2) s->kind = SPARSE;
    if (s->kind == BANDED && (double)s->nr * (2.0 * lower + upper + 1) > INT_MAX / 2) s->kind = SPARSE;
    if (s->kind == SPARSE && make_sparse(s, J, M, arena) < 0) return -1;
    if (s->kind == SPARSE && !spec->keep_storage && s->nr <= DAE_DENSE_OWN_REAL &&
        FILLED * s->sparse.flops > 2.0 / 3 * s->nr * s->nr * s->nr) {
        dae_sparse_free(&s->sparse);
        s->kind = DENSE;
    }
    if (s->kind == DENSE) dae_dense_init(&s->dense, s->nr, spec->complex_shift, arena);
    if (s->kind == BANDED) dae_band_init(&s->band, s->nr, lower, upper, spec->complex_shift, arena);
    s->direct = (s->kind == DENSE && spec->jacobian.storage == DAE_DENSE) ||
                (s->kind == BANDED && spec->jacobian.storage == DAE_BANDED && m == 0);
    s->wre = dae_arena_reals(arena, (size_t)n);
    s->wim = dae_arena_reals(arena, (size_t)n);
    s->state = dae_arena_take(arena, 1, sizeof *s->state);
    if (dae_arena_failed(arena)) return -1;
    if (make_lists(s, J, M, arena) < 0) return -1;
    describe(s);
    return 0;
}

/* ---- The user's solver ---------------------------------------------------------------------------- */

static int open_own(dae_shifted *s, dae_arena *arena)
{
    const dae_shifted_spec *spec = &s->spec;
    s->kind = OWN;
    s->arena = arena;
    s->state = dae_arena_take(arena, 1, sizeof *s->state);
    s->given = dae_arena_reals(arena, (size_t)dae_pattern_count(&spec->jacobian, spec->n));
    if (!s->state || !s->given) return -1;
    const char *name = spec->own->name ? spec->own->name : "user's solver";
    snprintf(s->text, sizeof s->text, "%s %d", name, spec->n);
    s->own =
        spec->own->create(spec->n, &s->spec.jacobian, &s->spec.mass, spec->complex_shift, spec->own->user);
    return s->own ? 0 : -1;
}

/* The rows that second_order says, which need not be in J. */
static const double *whole_jacobian(dae_shifted *s, const double *J)
{
    const dae_pattern *p = &s->spec.jacobian;
    int n = s->spec.n, m = s->spec.second_order;
    if (m == 0) return J;
    memcpy(s->given, J, (size_t)dae_pattern_count(p, n) * sizeof *J);
    for (int i = 0; i < m; i++) {
        int j = m + i, begin = 0, end = 0;
        if (p->storage == DAE_SPARSE) begin = p->colptr[j], end = p->colptr[j + 1];
        for (int k = begin; k < end; k++) {
            if (p->rowind[k] == i) s->given[k] = 1;
        }
        if (p->storage == DAE_DENSE) s->given[i + (long)j * n] = 1;
        if (p->storage == DAE_BANDED && m <= p->upper)
            s->given[p->upper - m + (long)j * (p->lower + 1 + p->upper)] = 1;
    }
    return s->given;
}

static int factor_own(dae_shifted *s, double re, double im, const double *J)
{
    int bad = s->spec.own->factor(s->own, re, im, J);
    s->last = J;
    s->state->factored = bad == 0;
    return bad;
}

static void solve_own(dae_shifted *s, double *re, double *im)
{
    if (s->state->factored && !s->spec.own->solve(s->own, re, im)) return;
    for (int i = 0; i < s->spec.n; i++) re[i] = NAN;
    for (int i = 0; im && i < s->spec.n; i++) im[i] = NAN;
}

/* ---- Columns ------------------------------------------------------------------------------------ */

/* The first block of M. 0: fine, < 0: out of memory */
static int mass_block(dae_shifted_spec *spec, int n, dae_arena *arena)
{
    if (spec->mass.n == 0) return 0;
    if (spec->mass.pattern.storage == DAE_DIAGONAL) {
        spec->mass.n = n;
        return 0;
    }
    double *a = dae_arena_reals(arena, (size_t)n * (size_t)n);
    if (!a) return -1;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) a[(size_t)j * (size_t)n + (size_t)i] = dae_matrix_get(&spec->mass, i, j);
    }
    spec->mass = dae_dense(n, a);
    return 0;
}

/* One block is factored; D has the others. */
static dae_shifted *create_columns(const dae_shifted_spec *spec, dae_arena *arena, dae_error *err)
{
    dae_shifted_spec block = *spec;
    int k = spec->jacobian.columns, n = spec->n / (1 + k);
    if (spec->second_order) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "linear system: second_order and columns exclude each other");
        return NULL;
    }
    block.n = n;
    block.jacobian = dae_pattern_block(&spec->jacobian);
    dae_shifted *s = mass_block(&block, n, arena) ? NULL : dae_shifted_create(&block, arena, err);
    if (!s) return NULL;
    s->columns = k;
    s->block_count = dae_pattern_count(&block.jacobian, n);
    s->D = dae_arena_reals(arena, (size_t)k * (size_t)s->block_count);
    size_t used = strlen(s->text);
    snprintf(s->text + used, sizeof s->text - used, " for %d columns", 1 + k);
    if (s->D) return s;
    dae_shifted_destroy(s);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a linear system of %d unknowns", spec->n);
    return NULL;
}

dae_shifted *dae_shifted_create(const dae_shifted_spec *spec, dae_arena *arena, dae_error *err)
{
    if (spec->jacobian.columns > 0) return create_columns(spec, arena, err);
    entries J = {0}, M = {0};
    dae_pattern identity = {.storage = DAE_DIAGONAL};
    dae_shifted *s = NULL;
    if (check(spec, NULL, err) != DAE_OK) return NULL;
    s = calloc(1, sizeof *s);
    if (!s) goto memory;
    s->spec = *spec;
    s->nr = spec->n - spec->second_order;
    if (spec->own) {
        if (open_own(s, arena) < 0) goto memory;
        return s;
    }
    if (make_entries(&M, spec->mass.n ? &spec->mass.pattern : &identity, spec->n,
                     spec->mass.n ? spec->mass.a : NULL) < 0) {
        goto memory;
    }
    if (check(spec, &M, err) != DAE_OK) goto fail;
    if (spec->jacobian.storage != DAE_DENSE && make_entries(&J, &spec->jacobian, spec->n, NULL) < 0)
        goto memory;
    if (build(s, &J, &M, arena) < 0) goto memory;
    free_entries(&J);
    free_entries(&M);
    return s;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a linear system of %d unknowns", spec->n);
fail:
    free_entries(&J);
    free_entries(&M);
    dae_shifted_destroy(s);
    return NULL;
}

void dae_shifted_destroy(dae_shifted *s)
{
    if (!s) return;
    if (s->kind == SPARSE) dae_sparse_free(&s->sparse);
    if (s->own) s->spec.own->destroy(s->own);
    free(s);
}

const char *dae_shifted_describe(const dae_shifted *s)
{
    return s->text;
}

/* ---- Forming A ---------------------------------------------------------------------------------- */

/* The arrays of A; values of complex sparse matrices are in pairs, so that slot k is at k*step. */
typedef struct target {
    double *re, *im;
    int step;
    size_t count;
} target;

static target matrix(dae_shifted *s)
{
    if (s->kind == DENSE) {
        return (target){s->dense.re, s->dense.im, 1, (size_t)s->nr * (size_t)s->dense.ld};
    }
    if (s->kind == BANDED) {
        return (target){s->band.re, s->band.im, 1, (size_t)s->nr * (size_t)s->band.ld};
    }
    int pairs = s->sparse.is_complex;
    return (target){s->sparse.value, pairs ? s->sparse.value + 1 : NULL, 1 + pairs, (size_t)s->sparse.count};
}

/* to = sign*from, n values */
static void copy_signed(int n, double sign, const double *restrict from, double *restrict to)
{
    for (int i = 0; i < n; i++) to[i] = sign * from[i];
}

/* A = sign J where J is dense or banded like A; with second_order also keeps J_rq and takes J_rq/lambda
 * off. */
static void form_direct(dae_shifted *s, double sign, const double *J, target A)
{
    int n = s->spec.n, m = s->spec.second_order, nr = s->nr;
    if (s->kind == BANDED) {
        int from = s->spec.jacobian.lower + 1 + s->spec.jacobian.upper;
        int offset = s->band.lower + s->band.upper - s->spec.jacobian.upper;
        dae_zero((int)A.count, A.re);
        for (int j = 0; j < n; j++) {
            /* the corners of J's storage that lie outside the matrix are not read */
            int first = j < s->spec.jacobian.upper ? s->spec.jacobian.upper - j : 0;
            int last = n - 1 - j < s->spec.jacobian.lower ? s->spec.jacobian.upper + n - 1 - j : from - 1;
            copy_signed(last - first + 1, sign, J + (size_t)j * (size_t)from + first,
                        A.re + (size_t)j * (size_t)s->band.ld + offset + first);
        }
        return;
    }
    dae_dense_load(&s->dense, sign, J + (size_t)m * (size_t)n + m, n);
    for (int j = 0; j < m; j++) {
        double *q = s->q + (size_t)j * (size_t)nr, *column = A.re + (size_t)j * (size_t)s->dense.ld;
        dae_copy(nr, J + (size_t)j * (size_t)n + m, q);
        dae_axpy(nr, -s->state->ire, q, column);
    }
}

static void form_list(dae_shifted *s, double sign, const double *J, target A)
{
    int step = A.step;
    if (step == 2) {
        dae_zero(2 * (int)A.count, A.re);
    } else {
        dae_zero((int)A.count, A.re);
    }
    for (int k = 0; k < s->nj; k++) A.re[s->jslot[k] * step] += sign * J[s->jsource[k]];
    for (int k = 0; k < s->nq; k++) {
        double q = J[s->qsource[k]];
        s->q[k] = q;
        A.re[s->qslot[k] * step] -= q * s->state->ire;
    }
}

/* The imaginary part of -J_rq/lambda. */
static void form_imaginary(dae_shifted *s, target A)
{
    int m = s->spec.second_order, nr = s->nr, dense = s->direct && s->kind == DENSE;
    if (A.step == 1 && !dense) dae_zero((int)A.count, A.im); /* done before in the other cases */
    for (int j = 0; dense && j < m; j++) {
        dae_axpy(nr, -s->state->iim, s->q + (size_t)j * (size_t)nr, A.im + (size_t)j * (size_t)s->dense.ld);
    }
    for (int k = 0; k < s->nq; k++) A.im[s->qslot[k] * A.step] -= s->q[k] * s->state->iim;
}

/* a += x M; 1 if all that is added is finite */
static int add_mass(const dae_shifted *s, double x, double *a, int step)
{
    const double *mass = s->spec.mass.n ? s->spec.mass.a : NULL;
    const int *slots = s->mslot, *source = s->msource;
    double sum = 0;
    if (!mass) {
        for (int k = 0; k < s->nm; k++) a[slots[k] * step] += x;
        return 1;
    }
    for (int k = 0; k < s->nm; k++) {
        double v = x * mass[source[k]];
        a[slots[k] * step] += v;
        sum += v - v;
    }
    return sum == 0;
}

/* A = lambda M - J, or reduced. */
static void form(dae_shifted *s, const double *J)
{
    target A = matrix(s);
    int finite;
    if (s->direct) {
        form_direct(s, -1, J, A);
    } else {
        form_list(s, -1, J, A);
    }
    finite = add_mass(s, s->state->re, A.re, A.step);
    if (A.im) {
        form_imaginary(s, A);
        finite &= add_mass(s, s->state->im, A.im, A.step);
    }
    if (!finite || s->spec.second_order > 0) s->dense.finite = 0; /* so that factor looks */
}

/* ---- Factor and solve --------------------------------------------------------------------------- */

static int factor(dae_shifted *s)
{
    int bad = s->kind == DENSE    ? dae_dense_factor(&s->dense)
              : s->kind == BANDED ? dae_band_factor(&s->band)
                                  : dae_sparse_factor(&s->sparse);
    s->state->factored = bad == 0;
    return bad;
}

/* The blocks below the first, as they stand on the right-hand side. */
static void keep_columns(dae_shifted *s, double sign, const double *J)
{
    if (s->columns) copy_signed((int)((long)s->columns * s->block_count), sign, J + s->block_count, s->D);
}

int dae_shifted_factor(dae_shifted *s, double re, double im, const double *J)
{
    keep_columns(s, 1, J);
    shifted_state *state = s->state;
    state->factored = 0;
    state->re = re;
    state->im = s->spec.complex_shift ? im : 0;
    if (!isfinite(re) || !isfinite(state->im)) return 1;
    if (s->own) return factor_own(s, re, state->im, whole_jacobian(s, J));
    if (s->spec.second_order > 0 && !dae_pair_reciprocal(re, state->im, &state->ire, &state->iim)) return 1;
    form(s, J);
    return factor(s);
}

int dae_shifted_factor_values(dae_shifted *s, const double *A)
{
    keep_columns(s, -1, A);
    s->state->factored = 0;
    if (s->spec.complex_shift || s->spec.second_order) return -1;
    if (s->own) {
        long count = dae_pattern_count(&s->spec.jacobian, s->spec.n);
        for (long k = 0; k < count; k++) s->given[k] = -A[k];
        return factor_own(s, 0, 0, s->given);
    }
    if (s->direct) {
        form_direct(s, 1, A, matrix(s));
    } else {
        form_list(s, 1, A, matrix(s));
    }
    return factor(s);
}

static void solve(dae_shifted *s, double *re, double *im)
{
    if (s->kind == DENSE) {
        dae_dense_solve(&s->dense, re, im);
    } else if (s->kind == BANDED) {
        dae_band_solve(&s->band, re, im);
    } else {
        dae_sparse_solve(&s->sparse, re, im);
    }
}

/* y += J_rq x */
static void add_product(const dae_shifted *s, const double *x, double *y)
{
    if (s->direct) {
        for (int j = 0; j < s->spec.second_order; j++) {
            dae_axpy(s->nr, x[j], s->q + (size_t)j * (size_t)s->nr, y);
        }
    } else {
        for (int k = 0; k < s->nq; k++) y[s->qrow[k]] += s->q[k] * x[s->qcol[k]];
    }
}

static void solve_real(dae_shifted *s, double *x)
{
    int m = s->spec.second_order;
    if (s->own) {
        solve_own(s, x, NULL);
        return;
    }
    if (!s->state->factored || s->spec.complex_shift) {
        for (int i = 0; i < s->spec.n; i++) x[i] = NAN;
        return;
    }
    if (m == 0) {
        solve(s, x, NULL);
        return;
    }
    double r = s->state->ire;
    for (int i = 0; i < m; i++) s->wre[i] = x[i] * r;
    add_product(s, s->wre, x + m);
    solve(s, x + m, NULL);
    for (int i = 0; i < m; i++) x[i] = (x[i] + x[m + i]) * r;
}

static void solve_pair(dae_shifted *s, double *re, double *im)
{
    int m = s->spec.second_order;
    if (s->own) {
        solve_own(s, re, im);
        return;
    }
    if (!s->state->factored || !s->spec.complex_shift) {
        for (int i = 0; i < s->spec.n; i++) re[i] = im[i] = NAN;
        return;
    }
    if (m == 0) {
        solve(s, re, im);
        return;
    }
    double r = s->state->ire, t = s->state->iim;
    for (int i = 0; i < m; i++) {
        s->wre[i] = re[i] * r - im[i] * t;
        s->wim[i] = re[i] * t + im[i] * r;
    }
    add_product(s, s->wre, re + m);
    add_product(s, s->wim, im + m);
    solve(s, re + m, im + m);
    for (int i = 0; i < m; i++) {
        dae_pair q = dae_pair_times((dae_pair){re[i] + re[m + i], im[i] + im[m + i]}, r, t);
        re[i] = q.re;
        im[i] = q.im;
    }
}

/* x_j += D_j x_0 */
static void add_column(const dae_shifted *s, int j, const double *x0, double *x)
{
    dae_matrix D = {.n = s->spec.n, .pattern = s->spec.jacobian, .a = s->D + (long)j * s->block_count};
    dae_matrix_multiply_add(&D, x0, x);
}

void dae_shifted_solve(dae_shifted *s, double *x)
{
    int n = s->spec.n;
    solve_real(s, x);
    for (int j = 0; j < s->columns; j++) {
        double *xj = x + (size_t)(1 + j) * (size_t)n;
        add_column(s, j, x, xj);
        solve_real(s, xj);
    }
}

void dae_shifted_solve_lead(dae_shifted *s, double *x)
{
    solve_real(s, x);
}

void dae_shifted_solve_rest(dae_shifted *s, double *x)
{
    for (int j = 0; j < s->columns; j++) solve_real(s, x + (size_t)(1 + j) * (size_t)s->spec.n);
}

void dae_shifted_solve_complex(dae_shifted *s, double *re, double *im)
{
    int n = s->spec.n;
    solve_pair(s, re, im);
    for (int j = 0; j < s->columns; j++) {
        size_t at = (size_t)(1 + j) * (size_t)n;
        add_column(s, j, re, re + at);
        add_column(s, j, im, im + at);
        solve_pair(s, re + at, im + at);
    }
}

/* ---- Checkpoint --------------------------------------------------------------------------------- */

/* What the buffer begins with: enough to see that it belongs to an equal solver; place: of what a solver of the user's got
 * last. What that one writes follows. */
typedef struct mark {
    int kind, nr;
    size_t count, place;
} mark;

static mark make_mark(const dae_shifted *s)
{
    return (mark){(int)s->kind, s->nr, s->kind == SPARSE ? (size_t)s->sparse.count : 0,
                  s->own ? dae_arena_place(s->arena, s->last) : 0};
}

size_t dae_shifted_save(const dae_shifted *s, void *buffer)
{
    mark mine = make_mark(s);
    unsigned char *out = buffer;
    if (out) memcpy(out, &mine, sizeof mine);
    size_t more = s->own && s->spec.own->save ? s->spec.own->save(s->own, out ? out + sizeof mine : NULL) : 0;
    return sizeof mine + more;
}

int dae_shifted_load(dae_shifted *s, const void *buffer, size_t size)
{
    mark mine = make_mark(s), saved;
    if (size != dae_shifted_save(s, NULL)) return -1;
    memcpy(&saved, buffer, sizeof saved);
    if (saved.kind != mine.kind || saved.nr != mine.nr || saved.count != mine.count) return -1;
    if (s->kind == SPARSE) return dae_sparse_restore(&s->sparse);
    if (!s->own || !s->spec.own->load) return 0;
    s->last = dae_arena_at(s->arena, saved.place);
    return s->spec.own->load(s->own, (const unsigned char *)buffer + sizeof saved, size - sizeof saved,
                             s->last);
}
