/* Dummy derivatives [MS93]. Level p = 1, 2, ...: rows R_p = {i : c_i >= p}; among the columns of level p - 1 (at first all) with
 * d_j >= p, |R_p| columns C_p with J[R_p, C_p] regular are chosen by elimination with full pivoting, and x_j^(d_j - p), j in C_p, is no
 * state. Columns are scaled by the size of their variable, and by 1e-3 or 1e3 for `prefer` and `avoid`; rows by their largest entry over
 * all candidate columns: scaled by their own columns, a row that vanishes there would look perfect.
 *
 * Rows and columns that are not connected are eliminated apart, so that many small mechanisms cost the sum of theirs. */
#include "equations/states.h"

#include <daedalus/gefp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PREFER 1e-3 /* columns of variables that should be states look small */
#define SINGULAR 1e-12

/* Kept from call to call: it grows and is used again. */
struct dae_state_space {
    int n;
    int *number;   /* 10 n */
    double *scale; /* n */
    size_t room, order_room;
    double *A;  /* room */
    int *order; /* order_room */
    /* The parts of all levels of the choice that was judged last: part k is of level p[k], its rows and columns (as many) begin at first[k]. */
    int nparts, judged; /* judged: 1 if there is one */
    int *level;         /* n: that choice */
    int *p, *first, *row, *column;
    size_t parts_room;
};

dae_state_space *dae_state_space_create(int n)
{
    dae_state_space *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->n = n;
    w->number = calloc(10 * (size_t)n + 1, sizeof *w->number);
    w->scale = calloc((size_t)n + 1, sizeof *w->scale);
    w->level = calloc((size_t)n + 1, sizeof *w->level);
    if (w->number && w->scale && w->level) return w;
    dae_state_space_destroy(w);
    return NULL;
}

void dae_state_space_destroy(dae_state_space *w)
{
    if (!w) return;
    free(w->number);
    free(w->scale);
    free(w->A);
    free(w->order);
    free(w->level);
    free(w->p);
    free(w->first);
    free(w->row);
    free(w->column);
    free(w);
}

/* Room for the elimination of m rows and n columns. 0: no memory. */
static int make_room(dae_state_space *w, size_t m, size_t n)
{
    size_t size = m * n + m, order = m + 2 * n;
    if (size > w->room) {
        double *A = realloc(w->A, size * sizeof *A);
        if (!A) return 0;
        w->A = A;
        w->room = size;
    }
    if (order > w->order_room) {
        int *list = realloc(w->order, order * sizeof *list);
        if (!list) return 0;
        w->order = list;
        w->order_room = order;
    }
    return 1;
}

typedef struct level_task {
    const dae_analysis *a;
    dae_state_space *space;
    const double *J, *X;
    int p;
    const int *level; /* levels found so far */
    int fixed;        /* 1: the columns are those of level >= p; 0: all candidates */
    int *component;   /* 2n: of rows, then of columns; -1: not in this level */
    double *scale;    /* n: of each row */
} level_task;

static int is_candidate(const level_task *k, int j)
{
    return k->a->sigma.d[j] >= k->p && k->level[j] >= k->p - 1;
}

static double column_scale(const level_task *k, int j)
{
    const dae_analysis *a = k->a;
    int preference = j < a->model->nvariable ? a->model->variable[j].preference : 0;
    double x = k->X[a->place[j] + a->sigma.d[j] - k->p];
    return (1 + fabs(x)) * (preference > 0 ? PREFER : preference < 0 ? 1 / PREFER : 1);
}

static int root_of(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Connected parts of the rows of the level and their candidate columns; scales of the rows. Returns the number of parts. */
static int connect(level_task *k, int *parent, int *number)
{
    const dae_analysis *a = k->a;
    int n = a->n, count = 0;
    for (int i = 0; i < 2 * n; i++) {
        parent[i] = i;
        number[i] = 0;
        k->component[i] = -1;
    }
    for (int i = 0; i < n; i++) {
        k->scale[i] = 0;
        for (int e = a->row_start[i]; e < a->row_start[i + 1] && a->sigma.c[i] >= k->p; e++) {
            int j = a->column[e];
            if (!is_candidate(k, j)) continue;
            parent[root_of(parent, i)] = root_of(parent, n + j);
            k->scale[i] = fmax(k->scale[i], fabs(k->J[e]) * column_scale(k, j));
        }
    }
    for (int i = 0; i < 2 * n; i++) {
        int in =
            i < n ? a->sigma.c[i] >= k->p : is_candidate(k, i - n) && (!k->fixed || k->level[i - n] >= k->p);
        int root = root_of(parent, i);
        if (!in) continue;
        if (!number[root]) number[root] = ++count;
        k->component[i] = number[root] - 1;
    }
    return count;
}

/* Rows and columns of a part; at[j]: number of column j in it, -1: it has others. */
static void members(const level_task *k, int part, int *row, int *m, int *column, int *ncolumn, int *at)
{
    *m = *ncolumn = 0;
    for (int i = 0; i < k->a->n; i++) {
        if (k->component[i] == part) row[(*m)++] = i;
        at[i] = -1;
        if (k->component[k->a->n + i] != part) continue;
        at[i] = *ncolumn;
        column[(*ncolumn)++] = i;
    }
}

/* Eliminates one part; the chosen columns come first in `column`. Returns the smallest pivot (0: singular, *bad is a row), -1: no memory. */
static double eliminate(const level_task *k, int m, const int *row, int n, int *column, const int *at,
                        int *bad)
{
    const dae_analysis *a = k->a;
    if (m == 0) return 1;
    *bad = row[0];
    if (n < m) return 0;
    size_t size = (size_t)m * (size_t)n;
    if (!make_room(k->space, (size_t)m, (size_t)n)) return -1;
    double *A = k->space->A, *pivot = A + size, smallest = 1;
    int *order = k->space->order, *cols = order + m, *chosen = cols + n;
    memset(A, 0, size * sizeof *A);
    for (int r = 0; r < m; r++) {
        int i = row[r];
        for (int e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
            int j = a->column[e];
            if (at[j] >= 0 && k->scale[i] > 0)
                A[r + (long)at[j] * m] = k->J[e] * column_scale(k, j) / k->scale[i];
        }
    }
    int rank = dae_gefp(m, n, A, NULL, SINGULAR, order, cols, pivot);
    if (rank < m) {
        smallest = 0;
        *bad = row[order[rank < 0 ? 0 : rank]];
    } else {
        for (int r = 0; r < m; r++) smallest = fmin(smallest, fabs(pivot[r]));
        for (int c = 0; c < m; c++) chosen[c] = column[cols[c]];
        memcpy(column, chosen, (size_t)m * sizeof *column);
    }
    return smallest;
}

/* All parts of a level. Raises choose[] of the chosen columns. Returns the smallest pivot, -1: no memory. */
static double do_level(level_task *k, int *choose, int *space, int *bad)
{
    int n = k->a->n, *row = space, *column = space + n, *at = space + 2 * n, *scratch = space + 3 * n;
    int parts = connect(k, scratch, scratch + 2 * n);
    double smallest = 1;
    for (int c = 0; c < parts; c++) {
        int m, width;
        members(k, c, row, &m, column, &width, at);
        double q = eliminate(k, m, row, width, column, at, bad);
        if (q <= 0) return q;
        smallest = fmin(smallest, q);
        for (int r = 0; r < m; r++) choose[column[r]] = k->p;
    }
    return smallest;
}

static int levels_of(const dae_analysis *a)
{
    int largest = 0;
    for (int i = 0; i < a->n; i++) largest = a->sigma.c[i] > largest ? a->sigma.c[i] : largest;
    return largest;
}

static int *grown(int **array, size_t size)
{
    int *a = realloc(*array, size * sizeof *a);
    if (a) *array = a;
    return a;
}

/* Notes the parts of all levels of a choice. 0: no memory. */
static int note_parts(dae_state_space *w, const dae_analysis *a, const double *J, const double *X,
                      const int *level)
{
    int n = a->n, *row = w->number, *column = row + n, *at = column + n, *scratch = at + n, used = 0;
    w->judged = w->nparts = 0;
    for (int p = 1, levels = levels_of(a); p <= levels; p++) {
        level_task k = {a, w, J, X, p, level, 1, w->number + 7 * (size_t)n, w->scale};
        int parts = connect(&k, scratch, scratch + 2 * n);
        size_t size = (size_t)used + (size_t)w->nparts + (size_t)parts + (size_t)n + 2;
        if (size > w->parts_room) {
            size *= 2;
            if (!grown(&w->p, size) || !grown(&w->first, size) || !grown(&w->row, size) ||
                !grown(&w->column, size))
                return 0;
            w->parts_room = size;
        }
        for (int c = 0; c < parts; c++) {
            int m, width;
            members(&k, c, row, &m, column, &width, at);
            if (m == 0 && width == 0) continue;
            if (m != width) return -1; /* no choice of states */
            memcpy(w->row + used, row, (size_t)m * sizeof *row);
            memcpy(w->column + used, column, (size_t)m * sizeof *column);
            w->p[w->nparts] = p;
            w->first[w->nparts++] = used;
            used += m;
        }
    }
    if (w->nparts) w->first[w->nparts] = used;
    memcpy(w->level, level, (size_t)n * sizeof *level);
    w->judged = 1;
    return 1;
}

/* Scales of the rows of a part: their largest entries over all candidates. */
static void scale_rows(const level_task *k, int m, const int *row)
{
    const dae_analysis *a = k->a;
    for (int r = 0; r < m; r++) {
        int i = row[r];
        k->scale[i] = 0;
        for (int e = a->row_start[i]; e < a->row_start[i + 1]; e++) {
            int j = a->column[e];
            if (!is_candidate(k, j)) continue;
            double size = fabs(k->J[e]) * column_scale(k, j);
            if (size > k->scale[i]) k->scale[i] = size;
        }
    }
}

int dae_states_choose(dae_state_space *w, const dae_analysis *a, const double *J, const double *X,
                      dae_state_choice *out, int *equation)
{
    size_t n = (size_t)a->n;
    int *now = w->number + 9 * n, bad = 0;
    out->quality = 1;
    memset(now, 0, n * sizeof *now);
    for (int p = 1, levels = levels_of(a); p <= levels && out->quality > 0; p++) {
        level_task k = {a, w, J, X, p, now, 0, w->number + 7 * n, w->scale};
        double q = do_level(&k, now, w->number, &bad);
        out->quality = q < out->quality ? q : out->quality;
    }
    if (out->quality > 0) memcpy(out->level, now, n * sizeof *now);
    if (equation) *equation = bad;
    return out->quality > 0 ? 1 : out->quality < 0 ? -1 : 0;
}

double dae_states_quality(dae_state_space *w, const dae_analysis *a, const double *J, const double *X,
                          const int *level)
{
    int n = a->n, bad = 0, *at = w->number + 2 * (size_t)n;
    double smallest = 1;
    if (!w->judged || memcmp(level, w->level, (size_t)n * sizeof *level) != 0) {
        int r = note_parts(w, a, J, X, level);
        if (r <= 0) return r < 0 ? 0 : -1;
    }
    for (int j = 0; j < n; j++) at[j] = -1;
    for (int c = 0; c < w->nparts && smallest > 0; c++) {
        level_task k = {a, w, J, X, w->p[c], level, 1, NULL, w->scale};
        int first = w->first[c], m = w->first[c + 1] - first, *row = w->row + first,
            *column = w->column + first;
        scale_rows(&k, m, row);
        for (int q = 0; q < m; q++) at[column[q]] = q;
        double q = eliminate(&k, m, row, m, column, at, &bad);
        for (int r = 0; r < m; r++) at[column[r]] = -1;
        smallest = q < smallest ? q : smallest;
    }
    return smallest;
}
