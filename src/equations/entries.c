#include "equations/entries.h"

#include <stdlib.h>

static int push(dae_entries *x, int row, int column, int node)
{
    if (x->count == x->capacity) {
        int more = 2 * x->capacity + 64, **array[] = {&x->row, &x->column, &x->node};
        for (int k = 0; k < 3; k++) {
            int *a = realloc(*array[k], (size_t)more * sizeof *a);
            if (!a) return 0;
            *array[k] = a;
        }
        x->capacity = more;
    }
    x->row[x->count] = row;
    x->column[x->count] = column;
    x->node[x->count++] = node;
    return 1;
}

int dae_entries_find(const dae_analysis *a, dae_entries *out)
{
    int good = 1;
    for (int e = 0; e < a->first[a->n] && good; e++) {
        dae_partial *p = NULL;
        int np = dae_graph_gradient(a->model->graph, a->value[e], &p);
        good = np >= 0;
        for (int q = 0; q < np && good; q++) {
            dae_node leaf = dae_graph_node(a->model->graph, p[q].leaf);
            if (leaf.op == OP_VARIABLE) good = push(out, e, a->place[leaf.a] + leaf.b, p[q].derivative);
        }
        free(p);
    }
    return good;
}

void dae_entries_free(dae_entries *e)
{
    free(e->row);
    free(e->column);
    free(e->node);
    *e = (dae_entries){0};
}
