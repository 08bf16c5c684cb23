/* The matching of largest value: which equation determines which variable, at the highest orders that occur.
 *
 * With the cost -sigma_ij and potentials u, v such that w_ij = -sigma_ij - u_i - v_j >= 0, and = 0 on the matching, a row without
 * partner is matched along a shortest path of w (Dijkstra), and the potentials are moved so that the path's entries become 0: the
 * successive shortest paths of Jonker and Volgenant [JV87]. Start: u_i the least cost of row i, v = 0, rows matched greedily where
 * w = 0. For equations in which most rows hold one highest derivative of their own nothing is left to do after that.
 * A perfect matching uses entries inside the strong components of the pattern only, so others are never looked at. */
#include "equations/matching.h"

#include <limits.h>

typedef struct heap_item {
    int distance, column;
} heap_item;

typedef struct assignment {
    const dae_signature *s;
    dae_matching *m;
    const int *component; /* of each row */
    int *row_component; /* component of the row that a column is matched with at first: that of the column */
    int *u, *v;
    int *distance, *from; /* columns: length of the shortest path, the row before */
    unsigned char *done;
    int *touched, ntouched; /* columns that have a distance */
    heap_item *heap;
    int nheap;
} assignment;

static void heap_push(assignment *a, heap_item x)
{
    int k = a->nheap++;
    for (; k > 0 && a->heap[(k - 1) / 2].distance > x.distance; k = (k - 1) / 2)
        a->heap[k] = a->heap[(k - 1) / 2];
    a->heap[k] = x;
}

static heap_item heap_pop(assignment *a)
{
    heap_item top = a->heap[0], x = a->heap[--a->nheap];
    int k = 0;
    for (int c = 1; c < a->nheap; c = 2 * k + 1) {
        if (c + 1 < a->nheap && a->heap[c + 1].distance < a->heap[c].distance) c++;
        if (a->heap[c].distance >= x.distance) break;
        a->heap[k] = a->heap[c];
        k = c;
    }
    a->heap[k] = x;
    return top;
}

static int reduced(const assignment *a, int i, int k)
{
    return -a->s->order[k] - a->u[i] - a->v[a->s->column[k]];
}

/* Rows whose cheapest entry is still free take it. */
static void greedy(assignment *a)
{
    const dae_signature *s = a->s;
    for (int i = 0; i < s->rows; i++) a->m->of_row[i] = -1;
    for (int j = 0; j < s->columns; j++) a->m->of_column[j] = -1;
    for (int i = 0; i < s->rows; i++) {
        a->u[i] = INT_MAX;
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
            if (a->row_component[s->column[k]] == a->component[i] && -s->order[k] < a->u[i])
                a->u[i] = -s->order[k];
        }
        for (int k = s->start[i]; k < s->start[i + 1] && a->m->of_row[i] < 0; k++) {
            int j = s->column[k];
            if (a->row_component[j] != a->component[i] || a->m->of_column[j] >= 0 || reduced(a, i, k) != 0)
                continue;
            a->m->of_row[i] = j;
            a->m->of_column[j] = i;
        }
    }
}

static void look(assignment *a, int i, int base)
{
    const dae_signature *s = a->s;
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
        int j = s->column[k], d = base + reduced(a, i, k);
        if (a->row_component[j] != a->component[i] || a->done[j] || d >= a->distance[j]) continue;
        if (a->distance[j] == INT_MAX) a->touched[a->ntouched++] = j;
        a->distance[j] = d;
        a->from[j] = i;
        heap_push(a, (heap_item){d, j});
    }
}

/* Matches a row along a shortest path. There is always one: a perfect matching exists. */
static void match_row(assignment *a, int root)
{
    int end = -1, length = 0;
    a->ntouched = a->nheap = 0;
    look(a, root, 0);
    while (a->nheap > 0) {
        heap_item x = heap_pop(a);
        if (a->done[x.column] || x.distance > a->distance[x.column]) continue;
        length = x.distance;
        if (a->m->of_column[x.column] < 0) {
            end = x.column;
            break;
        }
        a->done[x.column] = 1;
        look(a, a->m->of_column[x.column], x.distance);
    }
    if (end < 0) return;
    a->u[root] += length;
    for (int k = 0; k < a->ntouched; k++) {
        int j = a->touched[k];
        if (a->done[j]) {
            a->v[j] -= length - a->distance[j];
            a->u[a->m->of_column[j]] += length - a->distance[j];
        }
        a->done[j] = 0;
        a->distance[j] = INT_MAX;
    }
    for (int j = end, i = -1; i != root;) {
        i = a->from[j];
        int before = a->m->of_row[i];
        a->m->of_row[i] = j;
        a->m->of_column[j] = i;
        j = before;
    }
}

/* Edges row -> row of the pattern: i needs the variable that the other row is matched with. */
static const int *row_graph(const dae_signature *s, const dae_matching *m, dae_arena *arena)
{
    int entries = s->start[s->rows], *to = dae_arena_ints(arena, (size_t)entries + 1);
    for (int k = 0; to && k < entries; k++) to[k] = m->of_column[s->column[k]];
    return to;
}

int dae_matching_heaviest(const dae_signature *s, dae_arena *arena, dae_matching *m)
{
    size_t rows = (size_t)s->rows + 1, columns = (size_t)s->columns + 1,
           entries = (size_t)s->start[s->rows] + 1;
    int *component = dae_arena_ints(arena, rows);
    const int *to = row_graph(s, m, arena);
    assignment a = {.s = s,
                    .m = m,
                    .component = component,
                    .row_component = dae_arena_ints(arena, columns),
                    .u = dae_arena_ints(arena, rows),
                    .v = dae_arena_ints(arena, columns),
                    .distance = dae_arena_ints(arena, columns),
                    .from = dae_arena_ints(arena, columns),
                    .done = dae_arena_take(arena, columns, 1),
                    .touched = dae_arena_ints(arena, columns),
                    .heap = dae_arena_take(arena, entries, sizeof *a.heap)};
    if (dae_arena_failed(arena) || dae_strong_components(s->rows, s->start, to, arena, component) < 0)
        return 0;
    for (int j = 0; j < s->columns; j++) {
        a.row_component[j] = component[m->of_column[j]];
        a.distance[j] = INT_MAX;
    }
    greedy(&a);
    for (int i = 0; i < s->rows; i++) {
        if (m->of_row[i] < 0) match_row(&a, i);
    }
    return 1;
}
