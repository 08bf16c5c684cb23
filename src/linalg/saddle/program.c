#include "linalg/saddle/program.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Updates that a pivot may cost more for depending on one pivot less. Ours: seven bodies are some 3 % faster than with 2,
 * and slower with 0. */
#define WAIT 1

/* The matrix is L U with units on the diagonal of L, rows and columns in the order of the pivots. A right side is one
 * column more, so that the elimination can take it along. The elements lie as that needs them: the rows of L from
 * the first to the last, then those of U from the last to the first, each with its right side at the end. Every
 * row begins at the diagonal, for U with the pivot. */
struct program {
    int n, fills;
    int *place;              /* of the values of the matrix in the elements */
    int *fill;               /* elements that are not in the matrix */
    int *row_of, *column_of; /* n: pivot k in the matrix */
    int *factor;    /* for each pivot: its element, the number of those right of it, the length of this
                                list; for each element below: itself, and what is updated with each one right */
    int *down, *up; /* for each row of L, of U: the number of its elements, row or column in the matrix;
                                for L its right side; the sources */
    int *side;      /* n: right sides in the elements */
    int upper;      /* the first element of U */
    double *a;      /* elements */
    double *inverse, *least; /* n: of the pivots; sizes below which they are too small */
    int *ints;               /* the block that holds all lists */
    double *reals;
};

void dae_lu_program_destroy(program *p)
{
    if (!p) return;
    free(p->ints);
    free(p->reals);
    free(p);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* ---- Pivots --------------------------------------------------------------------------------------- */

typedef struct candidate {
    int row, column;
    double value;
} candidate;

/* A set of rows or of columns, one bit each. */
typedef uint64_t set;
_Static_assert(PROGRAM_LARGEST <= 64, "a set has a bit for each row");

static set bit(int i)
{
    return (set)1 << i;
}

/* Takes the least of a set that is not empty. */
static int take(set *rest)
{
    int i = 0;
#ifdef __GNUC__
    i = __builtin_ctzll(*rest);
#else
    while (!(*rest >> i & 1)) i++;
#endif
    *rest &= *rest - 1;
    return i;
}

/* The anchor while it is eliminated, rows and columns in their own order. */
typedef struct anchored {
    int n;
    set given[PROGRAM_LARGEST];                              /* by rows: the entries of the matrix */
    set row[PROGRAM_LARGEST], column[PROGRAM_LARGEST];       /* these and those filled in */
    set rows_left, columns_left;                             /* without the pivots so far */
    double scale[PROGRAM_LARGEST];                           /* largest entry of every row */
    int in_row[PROGRAM_LARGEST], in_column[PROGRAM_LARGEST]; /* entries that are left */
    int row_level[PROGRAM_LARGEST],
        column_level[PROGRAM_LARGEST]; /* pivots before it that depend on one another */
    candidate pivot[PROGRAM_LARGEST];
    int updates, elements;                      /* of the pivots so far */
    double a[PROGRAM_LARGEST][PROGRAM_LARGEST]; /* [row][column]; the n x n of them are filled */
} anchored;

/* 0: fine. */
static int spread(anchored *m, int n, const int *colptr, const int *rowind, const double *value)
{
    memset(m, 0, offsetof(anchored, a));
    for (int i = 0; i < n; i++) memset(m->a[i], 0, (size_t)n * sizeof m->a[i][0]);
    m->n = n;
    m->elements = colptr[n];
    for (int j = 0; j < n; j++) {
        m->rows_left |= bit(j);
        m->columns_left |= bit(j);
        for (int k = colptr[j]; k < colptr[j + 1]; k++) {
            int i = rowind[k];
            m->row[i] |= bit(j);
            m->column[j] |= bit(i);
            m->a[i][j] = value[k];
            m->in_row[i]++;
            m->in_column[j]++;
            m->scale[i] = fmax(m->scale[i], fabs(value[k]));
        }
    }
    memcpy(m->given, m->row, sizeof m->row);
    for (int i = 0; i < n; i++) {
        if (!(m->scale[i] > 0)) return 1;
    }
    return 0;
}

/* The cheapest entry that is large enough; of equals the largest. 0: found. */
static int choose(const anchored *m, double tolerance, candidate *best)
{
    int least = INT_MAX;
    double size[PROGRAM_LARGEST], most = 0;
    for (set columns = m->columns_left; columns;) {
        int j = take(&columns);
        double largest = 0;
        for (set rows = m->column[j] & m->rows_left; rows;) {
            int i = take(&rows);
            size[i] = fabs(m->a[i][j]) / m->scale[i];
            largest = size[i] > largest ? size[i] : largest;
        }
        for (set rows = m->column[j] & m->rows_left; rows;) {
            int i = take(&rows), level = larger(m->row_level[i], m->column_level[j]);
            int cost = (m->in_row[i] - 1) * (m->in_column[j] - 1) + WAIT * level;
            if (!(size[i] > 0) || size[i] < tolerance * largest) continue;
            if (cost > least || (cost == least && size[i] <= most)) continue;
            least = cost;
            most = size[i];
            *best = (candidate){i, j, m->a[i][j]};
        }
    }
    return !(most > 0 && isfinite(most));
}

static void eliminate(anchored *m, const candidate *c)
{
    int right = m->in_row[c->row] - 1, below = m->in_column[c->column] - 1;
    int next = larger(m->row_level[c->row], m->column_level[c->column]) + 1;
    m->rows_left &= ~bit(c->row);
    m->columns_left &= ~bit(c->column);
    m->updates += right * below;
    set pivots = m->row[c->row] & m->columns_left;
    for (set columns = pivots; columns;) {
        int j = take(&columns);
        m->in_column[j]--;
        if (below) m->column_level[j] = larger(m->column_level[j], next);
    }
    for (set rows = m->column[c->column] & m->rows_left; rows;) {
        int i = take(&rows);
        double l = m->a[i][c->column] / c->value;
        m->in_row[i]--;
        if (right) m->row_level[i] = larger(m->row_level[i], next);
        for (set columns = pivots; columns;) {
            int j = take(&columns);
            m->a[i][j] -= l * m->a[c->row][j];
        }
        for (set fill = pivots & ~m->row[i]; fill;) {
            int j = take(&fill);
            m->column[j] |= bit(i);
            m->in_row[i]++;
            m->in_column[j]++;
            m->elements++;
        }
        m->row[i] |= pivots;
    }
}

/* 0: fine. */
static int find_pivots(anchored *m, double tolerance)
{
    for (int k = 0; k < m->n; k++) {
        candidate c = {0, 0, 0};
        if (choose(m, tolerance, &c)) return 1;
        eliminate(m, &c);
        m->pivot[k] = c;
        if (m->updates > PROGRAM_LONGEST) return 1;
    }
    return 0;
}

/* ---- Lists ---------------------------------------------------------------------------------------- */

/* Numbers of the elements, -1: none; rows and columns in the order of elimination. */
typedef struct numbering {
    int n;
    int at[PROGRAM_LARGEST][PROGRAM_LARGEST];
} numbering;

static void number(numbering *d, program *p, const anchored *m)
{
    int e = 0;
    d->n = m->n;
    for (int k = 0; k < m->n; k++) {
        p->row_of[k] = m->pivot[k].row;
        p->column_of[k] = m->pivot[k].column;
    }
    for (int l = 0; l < 2 * m->n; l++) {
        int lower = l < m->n, i = lower ? l : 2 * m->n - 1 - l, count = lower ? i : m->n - i;
        if (l == m->n) p->upper = e;
        for (int k = 0; k < count; k++) {
            int j = lower ? i - 1 - k : i + k;
            set entry = bit(p->column_of[j]) & m->row[p->row_of[i]];
            if (entry & ~m->given[p->row_of[i]]) p->fill[p->fills++] = e;
            d->at[i][j] = entry ? e++ : -1;
        }
        if (!lower) p->side[i] = e++;
    }
}

/* Pivots with what they update. */
static int *list_factors(const numbering *d, const int *side, int *to)
{
    for (int k = 0; k < d->n; k++) {
        int *head = to;
        to += 3;
        head[0] = d->at[k][k];
        head[1] = 1;
        for (int j = k + 1; j < d->n; j++) head[1] += d->at[k][j] >= 0;
        for (int i = k + 1; i < d->n; i++) {
            if (d->at[i][k] < 0) continue;
            *to++ = d->at[i][k];
            for (int j = k + 1; j < d->n; j++) {
                if (d->at[k][j] >= 0) *to++ = d->at[i][j];
            }
            *to++ = side[i];
        }
        head[2] = (int)(to - head);
    }
    return to;
}

/* The sources of one row, from the diagonal on by `step`. */
static int *list_sources(const numbering *d, int row, int step, const int *source, int *to)
{
    for (int j = row + step; j >= 0 && j < d->n; j += step) {
        if (d->at[row][j] >= 0) *to++ = source[j];
    }
    return to;
}

static int *list_lower(const numbering *d, int row, const program *p, int *to)
{
    int *end = list_sources(d, row, -1, p->side, to + 3);
    to[0] = (int)(end - to) - 3;
    to[1] = p->row_of[row];
    to[2] = p->side[row];
    return end;
}

static int *list_upper(const numbering *d, int row, const program *p, int *to)
{
    int *end = list_sources(d, row, 1, p->column_of, to + 2);
    to[0] = (int)(end - to) - 2;
    to[1] = p->column_of[row];
    return end;
}

static program *allocate(const anchored *m, int values)
{
    int n = m->n;
    program *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->n = n;
    p->ints = calloc((size_t)(4 * m->elements + 11 * n + m->updates), sizeof(int));
    p->reals = calloc((size_t)(m->elements + 3 * n), sizeof(double));
    if (!p->ints || !p->reals) {
        dae_lu_program_destroy(p);
        return NULL;
    }
    p->place = p->ints;
    p->fill = p->place + values; /* both together: one for each element */
    p->row_of = p->place + m->elements;
    p->column_of = p->row_of + n;
    p->side = p->column_of + n;
    p->factor = p->side + n;
    p->a = p->reals;
    p->inverse = p->a + m->elements + n;
    p->least = p->inverse + n;
    return p;
}

static void make_lists(program *p, const anchored *m, const int *colptr, const int *rowind)
{
    numbering d;
    int rank[PROGRAM_LARGEST], n = m->n, *to;
    number(&d, p, m);
    p->down = to = list_factors(&d, p->side, p->factor);
    for (int k = 0; k < n; k++) to = list_lower(&d, k, p, to);
    p->up = to;
    for (int k = n - 1; k >= 0; k--) to = list_upper(&d, k, p, to);
    for (int k = 0; k < n; k++) rank[p->row_of[k]] = k;
    for (int l = 0; l < n; l++) {
        int j = p->column_of[l];
        for (int k = colptr[j]; k < colptr[j + 1]; k++) p->place[k] = d.at[rank[rowind[k]]][l];
    }
}

int dae_lu_program_create(int n, const int *colptr, const int *rowind, const double *anchor, double tolerance,
                          double limit, program **made)
{
    program *p = NULL;
    *made = NULL;
    if (n > PROGRAM_LARGEST) return 1;
    anchored *m = malloc(sizeof *m);
    int bad = !m ? -1 : spread(m, n, colptr, rowind, anchor) || find_pivots(m, tolerance);
    if (bad) goto done;
    p = allocate(m, colptr[n]);
    bad = p ? 0 : -1;
    if (bad) goto done;
    make_lists(p, m, colptr, rowind);
    for (int k = 0; k < n; k++) p->least[k] = fmax(limit * fabs(m->pivot[k].value), DBL_MIN);
done:
    free(m);
    *made = p;
    return bad;
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

const int *dae_lu_program_places(const program *p)
{
    return p->place;
}

double *dae_lu_program_clear(program *p)
{
    for (int k = 0; k < p->fills; k++) p->a[p->fill[k]] = 0;
    return p->a;
}

#define BELOW(count, updates)             \
    for (; to < end; to += (count) + 1) { \
        double l = a[to[0]] * reciprocal; \
        a[to[0]] = l;                     \
        updates;                          \
    }                                     \
    break
#define UPDATE(j) a[to[j]] -= l * u[j]

int dae_lu_program_factor(program *p, const double *x)
{
    double *a = p->a, *inverse = p->inverse;
    const double *least = p->least;
    const int *to = p->factor;
    for (int k = 0, n = p->n; k < n; k++) a[p->side[k]] = x ? x[p->row_of[k]] : 0;
    for (int k = 0, n = p->n; k < n; k++) {
        const double *u = a + to[0];
        const int right = to[1], *end = to + to[2];
        double pivot = *u, reciprocal = 1 / pivot;
        if (!(fabs(pivot) >= least[k])) return k + 1;
        inverse[k] = reciprocal;
        to += 3;
        switch (right) { /* most rows are short */
        case 1: BELOW(1, UPDATE(1));
        case 2: BELOW(2, UPDATE(1); UPDATE(2));
        case 3: BELOW(3, UPDATE(1); UPDATE(2); UPDATE(3));
        case 4: BELOW(4, UPDATE(1); UPDATE(2); UPDATE(3); UPDATE(4));
        case 5: BELOW(5, UPDATE(1); UPDATE(2); UPDATE(3); UPDATE(4); UPDATE(5));
        default: BELOW(right, for (int j = 1; j <= right; j++) UPDATE(j));
        }
    }
    return 0;
}

#define TERM(j) sum -= e[j] * from[to[j]]
/* sum less the products of the elements e[0] .. e[count - 1] with the components of `from` that to[] names. The
 * component that is ready last comes last. */
/* clang-format off */
#define SUBTRACT                               \
    switch (count) {                           \
    default:                                   \
        for (int j = 8; j < count; j++) TERM(j); \
    /* fall through */                         \
    case 8: TERM(7); /* fall through */        \
    case 7: TERM(6); /* fall through */        \
    case 6: TERM(5); /* fall through */        \
    case 5: TERM(4); /* fall through */        \
    case 4: TERM(3); /* fall through */        \
    case 3: TERM(2); /* fall through */        \
    case 2: TERM(1); /* fall through */        \
    case 1: TERM(0); /* fall through */        \
    case 0: break;                             \
    }
/* clang-format on */

void dae_lu_program_finish(program *p, double *x)
{
    const double *e = p->a + p->upper, *inverse = p->inverse, *from = x;
    const int *to = p->up;
    for (int k = p->n - 1; k >= 0; k--) {
        int count = to[0], own = to[1];
        e++; /* the pivot */
        double sum = e[count];
        to += 2;
        SUBTRACT
        x[own] = sum * inverse[k];
        e += count + 1;
        to += count;
    }
}

void dae_lu_program_solve(program *p, double *x)
{
    double *a = p->a;
    const double *e = a, *from = a;
    const int *to = p->down;
    for (int k = 0, n = p->n; k < n; k++) {
        int count = to[0], own = to[2];
        double sum = x[to[1]];
        to += 3;
        SUBTRACT
        a[own] = sum;
        e += count;
        to += count;
    }
    dae_lu_program_finish(p, x);
}
