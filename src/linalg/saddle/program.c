#include "linalg/saddle/program.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements are kept by columns (elimination order), within a column by rows: above the pivot U, then the pivot, then
 * L. L has ones on its diagonal. */
struct program {
    int n, size;           /* elements */
    int *place;            /* of the values of the matrix */
    int *start, *pivot;    /* n+1, n: column k is start[k] .. start[k+1]-1 */
    int *row;              /* of every element */
    int *first;            /* n+1: updates of pivot k are first[k] .. first[k+1]-1 */
    int *update;           /* three each: target, multiplier in L, element of U */
    int *row_of, *column_of; /* P, Q */
    double *a;             /* elements */
    double *inverse, *kept; /* n: of the pivots; pivots of the anchor */
    double *x;             /* n */
    int *ints;             /* the block that holds all lists */
    double *reals;
};

void dae_program_destroy(program *p)
{
    if (!p) return;
    free(p->ints);
    free(p->reals);
    free(p);
}

typedef unsigned char filled[PROGRAM_LARGEST][PROGRAM_LARGEST]; /* [row][column] in the order of elimination */

/* Elimination on the pattern. Returns the number of updates. */
static int eliminate(int n, filled b, int *elements)
{
    int updates = 0;
    *elements = 0;
    for (int k = 0; k < n; k++) {
        b[k][k] = 1;
        for (int i = k + 1; i < n; i++) {
            for (int j = k + 1; b[i][k] && j < n; j++) {
                if (!b[k][j]) continue;
                b[i][j] = 1;
                updates++;
            }
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) *elements += b[i][j];
    }
    return updates;
}

static void make_lists(program *p, filled b, int at[][PROGRAM_LARGEST])
{
    int n = p->n, e = 0, u = 0;
    for (int j = 0; j < n; j++) {
        p->start[j] = e;
        for (int i = 0; i < n; i++) {
            if (!b[i][j]) continue;
            if (i == j) p->pivot[j] = e;
            p->row[e] = i;
            at[i][j] = e++;
        }
    }
    p->start[n] = e;
    for (int k = 0; k < n; k++) {
        p->first[k] = u;
        for (int j = k + 1; j < n; j++) {
            for (int i = k + 1; b[k][j] && i < n; i++) {
                if (!b[i][k]) continue;
                int *op = p->update + 3 * u++;
                op[0] = at[i][j];
                op[1] = at[i][k];
                op[2] = at[k][j];
            }
        }
    }
    p->first[n] = u;
}

program *dae_program_create(int n, const int *colptr, const int *rowind, const int *P, const int *Q)
{
    filled b;
    int at[PROGRAM_LARGEST][PROGRAM_LARGEST], order[PROGRAM_LARGEST], elements;
    if (n > PROGRAM_LARGEST) return NULL;
    memset(b, 0, sizeof b);
    for (int k = 0; k < n; k++) order[P[k]] = k;
    for (int j = 0; j < n; j++) {
        for (int k = colptr[Q[j]]; k < colptr[Q[j] + 1]; k++) b[order[rowind[k]]][j] = 1;
    }
    int updates = eliminate(n, b, &elements), values = colptr[n];
    if (updates > PROGRAM_LONGEST) return NULL;
    program *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->n = n;
    p->size = elements;
    p->ints = calloc((size_t)(5 * n + 2 + values + elements + 3 * updates), sizeof(int));
    p->reals = calloc((size_t)(elements + 3 * n), sizeof(double));
    if (!p->ints || !p->reals) {
        dae_program_destroy(p);
        return NULL;
    }
    p->start = p->ints;
    p->first = p->start + n + 1;
    p->pivot = p->first + n + 1;
    p->row_of = p->pivot + n;
    p->column_of = p->row_of + n;
    p->place = p->column_of + n;
    p->row = p->place + values;
    p->update = p->row + elements;
    p->a = p->reals;
    p->inverse = p->a + elements;
    p->kept = p->inverse + n;
    p->x = p->kept + n;
    memcpy(p->row_of, P, (size_t)n * sizeof(int));
    memcpy(p->column_of, Q, (size_t)n * sizeof(int));
    make_lists(p, b, at);
    for (int j = 0; j < n; j++) {
        for (int k = colptr[Q[j]]; k < colptr[Q[j] + 1]; k++) p->place[k] = at[order[rowind[k]]][j];
    }
    return p;
}

const int *dae_program_places(const program *p)
{
    return p->place;
}

double *dae_program_clear(program *p)
{
    memset(p->a, 0, (size_t)p->size * sizeof *p->a);
    return p->a;
}

int dae_program_factor(program *p, double limit)
{
    double *a = p->a;
    const int *update = p->update;
    for (int k = 0; k < p->n; k++) {
        double d = a[p->pivot[k]], r = 1 / d;
        if (!(fabs(d) >= limit * p->kept[k]) || !(fabs(r) <= DBL_MAX)) return k + 1;
        p->inverse[k] = r;
        for (int e = p->pivot[k] + 1; e < p->start[k + 1]; e++) a[e] *= r;
        for (const int *end = p->update + 3 * p->first[k + 1]; update < end; update += 3) a[update[0]] -= a[update[1]] * a[update[2]];
    }
    return 0;
}

void dae_program_keep(program *p)
{
    for (int k = 0; k < p->n; k++) p->kept[k] = fabs(p->a[p->pivot[k]]);
}

void dae_program_solve(program *p, double *x)
{
    const double *a = p->a;
    const int *row = p->row;
    double *w = p->x;
    int n = p->n;
    for (int k = 0; k < n; k++) w[k] = x[p->row_of[k]];
    for (int k = 0; k < n; k++) {
        double t = w[k];
        for (int e = p->pivot[k] + 1; e < p->start[k + 1]; e++) w[row[e]] -= a[e] * t;
    }
    for (int k = n - 1; k >= 0; k--) {
        double t = w[k] * p->inverse[k];
        x[p->column_of[k]] = t;
        for (int e = p->start[k]; e < p->pivot[k]; e++) w[row[e]] -= a[e] * t;
    }
}
