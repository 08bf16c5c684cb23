#include "multibody/sparse_rows.h"

#include <stdlib.h>
#include <string.h>

int mbs_sparse_rows_create(const mbs_mechanism *m, int more, mbs_sparse_rows *s)
{
    size_t room = 2 * (size_t)more * (size_t)m->bv + 1;
    for (int k = 0; k < m->nrows; k++)
        room += (size_t)m->row[k].count * (size_t)m->row[k].nbody * (size_t)m->bv;
    s->rows = 0;
    s->room = (int)room;
    s->first = calloc((size_t)(m->nrow + more) + 1, sizeof *s->first);
    s->column = malloc(room * sizeof *s->column);
    s->value = malloc(room * sizeof *s->value);
    return s->first && s->column && s->value;
}

void mbs_sparse_rows_destroy(mbs_sparse_rows *s)
{
    free(s->first);
    free(s->column);
    free(s->value);
}

/* Adds to the entry of a column in the row that begins at `from`; the number of entries then. */
static int put(mbs_sparse_rows *s, int from, int end, int column, double value)
{
    int at = end;
    while (at > from && s->column[at - 1] > column) at--;
    if (at > from && s->column[at - 1] == column) {
        s->value[at - 1] += value;
        return end;
    }
    for (int k = end; k > at; k--) s->column[k] = s->column[k - 1], s->value[k] = s->value[k - 1];
    s->column[at] = column;
    s->value[at] = value;
    return end + 1;
}

/* A row behind the others: 6 velocities for each of its bodies. */
static void append(const mbs_mechanism *m, int nbody, const int *body, const double *part, mbs_sparse_rows *s)
{
    int from = s->first[s->rows], end = from, kept = from;
    for (int b = 0; b < nbody; b++) {
        for (int c = 0; c < 6; c++) {
            int slot = mbs_slot_of(m, body[b], c);
            if (slot >= 0) end = put(s, from, end, slot, part[6 * b + c]);
        }
    }
    for (int k = from; k < end; k++) {
        if (s->value[k] == 0) continue;
        s->column[kept] = s->column[k];
        s->value[kept++] = s->value[k];
    }
    s->first[++s->rows] = kept;
}

void mbs_sparse_rows_set(const mbs_context *x, mbs_sparse_rows *s)
{
    s->rows = 0;
    for (int k = 0; k < x->m->nrows; k++) {
        const mbs_row *r = &x->m->row[k];
        double rows[72] = {0};
        r->type->jacobian(r, x, rows);
        for (int i = 0; i < r->count; i++) append(x->m, r->nbody, r->body, rows + 24 * i, s);
    }
}

void mbs_sparse_rows_add(const mbs_context *x, const mbs_coordinate *q, mbs_sparse_rows *s)
{
    double row[12] = {0};
    mbs_coordinate_row(x, q, 1, row, row + 6);
    append(x->m, 2, (const int[]){q->i.body, q->j.body}, row, s);
}

double mbs_sparse_rows_subtract(const mbs_sparse_rows *s, int i, const double *v, double sum)
{
    for (int k = s->first[i]; k < s->first[i + 1]; k++) sum -= s->value[k] * v[s->column[k]];
    return sum;
}
