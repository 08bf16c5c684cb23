#include "linalg/saddle/program.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Updates that a pivot may cost more for depending on one pivot less. Ours: 1 is some 4 % faster on seven bodies, but at
 * tolerance 1e-11, where rounding decides, mexx then takes 34 steps, and with 2 the 36 of the report. */
#define WAIT 2

/* The matrix is L D U, D the pivots and L D, D U kept as they come out of the elimination: on such small matrices the
 * way of a value from one operation to the next is what takes the time, so reciprocals meet the products as late as
 * possible. For the same reason operations stand in the order in which what they need is ready. */
struct program {
    int n, fills, runs;
    int *place;              /* of the values of the matrix in the elements */
    int *fill;               /* elements that are not in the matrix */
    int *row_of, *column_of; /* n: pivot k in the matrix */
    int *run;                /* two for each run: where its pivots and updates end */
    int *pivot;              /* two each: number, element */
    int *update;             /* four each: target, element of its row, element of its column, pivot */
    int *down, *up;          /* three each, for right sides: target, element, source */
    int *end;                /* of up */
    double *a;               /* elements */
    double *inverse, *least; /* n: of the pivots; sizes below which they are too small */
    double *x;               /* n */
    int *ints;               /* the block that holds all lists */
    double *reals;
};

void dae_program_destroy(program *p)
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

/* The anchor while it is eliminated, rows and columns in their own order. */
typedef struct anchored {
    int n;
    unsigned char filled[PROGRAM_LARGEST][PROGRAM_LARGEST];   /* [row][column]: 1 of the matrix, 2 filled in */
    double a[PROGRAM_LARGEST][PROGRAM_LARGEST];
    double scale[PROGRAM_LARGEST];                            /* largest entry of every row */
    int in_row[PROGRAM_LARGEST], in_column[PROGRAM_LARGEST];  /* entries that are left */
    int row_level[PROGRAM_LARGEST], column_level[PROGRAM_LARGEST]; /* pivots before it that depend on one another */
    unsigned char row_done[PROGRAM_LARGEST], column_done[PROGRAM_LARGEST];
    candidate pivot[PROGRAM_LARGEST];
    int updates, elements;                                    /* of the pivots so far */
} anchored;

/* 0: fine; m is zero on entry. */
static int spread(anchored *m, int n, const int *colptr, const int *rowind, const double *value)
{
    m->n = n;
    m->elements = colptr[n];
    for (int j = 0; j < n; j++) {
        for (int k = colptr[j]; k < colptr[j + 1]; k++) {
            int i = rowind[k];
            m->filled[i][j] = 1;
            m->a[i][j] = value[k];
            m->in_row[i]++;
            m->in_column[j]++;
            m->scale[i] = fmax(m->scale[i], fabs(value[k]));
        }
    }
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
    for (int j = 0; j < m->n; j++) {
        double largest = 0;
        if (m->column_done[j]) continue;
        for (int i = 0; i < m->n; i++) {
            size[i] = m->row_done[i] || !m->filled[i][j] ? 0 : fabs(m->a[i][j]) / m->scale[i];
            largest = fmax(largest, size[i]);
        }
        for (int i = 0; i < m->n; i++) {
            int level = larger(m->row_level[i], m->column_level[j]);
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
    m->row_done[c->row] = m->column_done[c->column] = 1;
    m->updates += right * below;
    for (int j = 0; j < m->n; j++) {
        if (m->column_done[j] || !m->filled[c->row][j]) continue;
        m->in_column[j]--;
        if (below) m->column_level[j] = larger(m->column_level[j], next);
    }
    for (int i = 0; i < m->n; i++) {
        if (m->row_done[i] || !m->filled[i][c->column]) continue;
        double l = m->a[i][c->column] / c->value;
        m->in_row[i]--;
        if (right) m->row_level[i] = larger(m->row_level[i], next);
        for (int j = 0; j < m->n; j++) {
            if (m->column_done[j] || !m->filled[c->row][j]) continue;
            m->a[i][j] -= l * m->a[c->row][j];
            if (m->filled[i][j]) continue;
            m->filled[i][j] = 2;
            m->in_row[i]++;
            m->in_column[j]++;
            m->elements++;
        }
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

/* Cycles of a usual processor; ours, only the order that follows counts. */
enum { WAY = 8, MULTIPLY = 3, ADD = 3, DIVIDE = 13 };

typedef struct operation {
    int time;      /* at which it can begin */
    int number;    /* order in which it was found */
    int word[4];   /* word[3] < 0: a pivot */
} operation;

/* What the lists are made of; rows and columns in the order of elimination. */
typedef struct draft {
    int n, count;
    int at[PROGRAM_LARGEST][PROGRAM_LARGEST];   /* numbers of the elements, -1: none */
    int ready[PROGRAM_LARGEST][PROGRAM_LARGEST]; /* when they have their value */
    int when[PROGRAM_LARGEST];                  /* the same for reciprocals and for components of a right side */
    operation op[];
} draft;

static void append(draft *d, int time, int a, int b, int c, int e)
{
    d->op[d->count] = (operation){time, d->count, {a, b, c, e}};
    d->count++;
}

static void draft_factors(draft *d)
{
    for (int k = 0; k < d->n; k++) {
        append(d, d->ready[k][k], k, d->at[k][k], 0, -1);
        d->when[k] = d->ready[k][k] + WAY + DIVIDE;
        for (int i = k + 1; i < d->n; i++) {
            for (int j = k + 1; d->at[i][k] >= 0 && j < d->n; j++) {
                if (d->at[k][j] < 0) continue;
                int begin = larger(d->when[k], larger(d->ready[i][k], d->ready[k][j]));
                append(d, begin, d->at[i][j], d->at[i][k], d->at[k][j], k);
                d->ready[i][j] = larger(d->ready[i][j], begin + MULTIPLY) + WAY + ADD;
            }
        }
    }
}

/* A right side: first down, then up. */
static void draft_side(draft *d, int down)
{
    memset(d->when, 0, sizeof d->when);
    for (int l = 0; l < d->n; l++) {
        int k = down ? l : d->n - 1 - l; /* source */
        for (int i = down ? k + 1 : 0; i < (down ? d->n : k); i++) {
            if (d->at[i][k] < 0) continue;
            append(d, d->when[k], i, d->at[i][k], k, 0);
            d->when[i] = larger(d->when[i], d->when[k] + MULTIPLY) + WAY + ADD;
        }
    }
}

static int by_time(const void *a, const void *b)
{
    const operation *x = a, *y = b;
    return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : x->number - y->number;
}

static void sort(draft *d)
{
    qsort(d->op, (size_t)d->count, sizeof *d->op, by_time);
}

static int *put(int *to, const operation *op, int words)
{
    memcpy(to, op->word, (size_t)words * sizeof *to);
    return to + words;
}

/* Runs of pivots and updates. */
static void finish_factors(program *p, draft *d)
{
    int *pivot = p->pivot, *update = p->update;
    sort(d);
    for (int k = 0; k < d->count; k++) {
        int is_pivot = d->op[k].word[3] < 0;
        if (is_pivot && k > 0 && d->op[k - 1].word[3] >= 0) p->runs++;
        if (is_pivot) pivot = put(pivot, &d->op[k], 2);
        else update = put(update, &d->op[k], 4);
        p->run[2 * p->runs] = (int)(pivot - p->pivot);
        p->run[2 * p->runs + 1] = (int)(update - p->update);
    }
    p->runs += d->n > 0;
    p->down = update;
    d->count = 0;
}

static int *finish_side(draft *d, int *to)
{
    sort(d);
    for (int k = 0; k < d->count; k++) to = put(to, &d->op[k], 3);
    d->count = 0;
    return to;
}

/* Numbers the elements. */
static void number(draft *d, program *p, const anchored *m)
{
    int e = 0;
    d->n = m->n;
    for (int k = 0; k < m->n; k++) {
        p->row_of[k] = m->pivot[k].row;
        p->column_of[k] = m->pivot[k].column;
    }
    for (int j = 0; j < m->n; j++) {
        for (int i = 0; i < m->n; i++) {
            int filled = m->filled[p->row_of[i]][p->column_of[j]];
            if (filled == 2) p->fill[p->fills++] = e;
            d->at[i][j] = filled ? e++ : -1;
        }
    }
}

static program *allocate(const anchored *m, int values)
{
    int n = m->n;
    program *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->n = n;
    p->ints = calloc((size_t)(4 * m->elements + 6 * n + 4 * m->updates), sizeof(int));
    p->reals = calloc((size_t)(m->elements + 3 * n), sizeof(double));
    if (!p->ints || !p->reals) {
        dae_program_destroy(p);
        return NULL;
    }
    p->place = p->ints;
    p->fill = p->place + values; /* both together: one for each element */
    p->row_of = p->place + m->elements;
    p->column_of = p->row_of + n;
    p->run = p->column_of + n;
    p->pivot = p->run + 2 * n;
    p->update = p->pivot + 2 * n;
    p->a = p->reals;
    p->inverse = p->a + m->elements;
    p->least = p->inverse + n;
    p->x = p->least + n;
    return p;
}

static void make_lists(program *p, draft *d, const anchored *m, const int *colptr, const int *rowind)
{
    int rank[PROGRAM_LARGEST];
    number(d, p, m);
    draft_factors(d);
    finish_factors(p, d);
    draft_side(d, 1);
    p->up = finish_side(d, p->down);
    draft_side(d, 0);
    p->end = finish_side(d, p->up);
    for (int k = 0; k < m->n; k++) rank[p->row_of[k]] = k;
    for (int l = 0; l < m->n; l++) {
        int j = p->column_of[l];
        for (int k = colptr[j]; k < colptr[j + 1]; k++) p->place[k] = d->at[rank[rowind[k]]][l];
    }
}

program *dae_program_create(int n, const int *colptr, const int *rowind, const double *anchor, double tolerance,
                            double limit)
{
    program *p = NULL;
    draft *d = NULL;
    if (n > PROGRAM_LARGEST) return NULL;
    anchored *m = calloc(1, sizeof *m);
    if (!m || spread(m, n, colptr, rowind, anchor) || find_pivots(m, tolerance)) goto done;
    p = allocate(m, colptr[n]);
    d = calloc(1, sizeof *d + (size_t)(n + m->updates + m->elements) * sizeof *d->op);
    if (!p || !d) {
        dae_program_destroy(p);
        p = NULL;
        goto done;
    }
    make_lists(p, d, m, colptr, rowind);
    for (int k = 0; k < n; k++) p->least[k] = fmax(limit * fabs(m->pivot[k].value), DBL_MIN);
done:
    free(m);
    free(d);
    return p;
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

const int *dae_program_places(const program *p)
{
    return p->place;
}

double *dae_program_clear(program *p)
{
    for (int k = 0; k < p->fills; k++) p->a[p->fill[k]] = 0;
    return p->a;
}

int dae_program_factor(program *p)
{
    double *a = p->a, *inverse = p->inverse;
    const int *pivot = p->pivot, *update = p->update;
    for (int r = 0; r < p->runs; r++) {
        for (const int *end = p->pivot + p->run[2 * r]; pivot < end; pivot += 2) {
            double d = a[pivot[1]];
            if (!(fabs(d) >= p->least[pivot[0]])) return pivot[0] + 1;
            inverse[pivot[0]] = 1 / d;
        }
        for (const int *end = p->update + p->run[2 * r + 1]; update < end; update += 4) {
            a[update[0]] -= a[update[1]] * inverse[update[3]] * a[update[2]];
        }
    }
    return 0;
}

void dae_program_solve(program *p, double *x)
{
    const double *a = p->a, *inverse = p->inverse;
    double *w = p->x;
    int n = p->n;
    for (int k = 0; k < n; k++) w[k] = x[p->row_of[k]];
    for (const int *op = p->down; op < p->up; op += 3) w[op[0]] -= a[op[1]] * inverse[op[2]] * w[op[2]];
    for (int k = 0; k < n; k++) w[k] *= inverse[k];
    for (const int *op = p->up; op < p->end; op += 3) w[op[0]] -= a[op[1]] * inverse[op[0]] * w[op[2]];
    for (int k = 0; k < n; k++) x[p->column_of[k]] = w[k];
}
