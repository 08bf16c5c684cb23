/* Largest matchings, parts that are over- and underdetermined, strong components.
 *
 * Hopcroft and Karp [HK73]: in rounds, a search in breadth from all free rows gives every row its distance, searches in depth
 * along rising distances augment by disjoint shortest paths; O(sqrt(n)) rounds. The searches keep their own stacks: a chain of
 * 1e5 equations must not end in a stack overflow. */
#include "equations/matching.h"

#include <limits.h>

enum { FREE = -1 };

/* ---- Largest matching --------------------------------------------------------------------------------- */

typedef struct search {
    const dae_signature *s;
    dae_matching *m;
    int *distance, *queue,
        *next; /* rows each: distance from a free row; queue and stack; the next entry to try */
} search;

/* Distances of rows from the free ones over alternating paths. Returns 1 if a free column is reached. */
static int spread(search *h)
{
    int head = 0, tail = 0, found = 0;
    for (int i = 0; i < h->s->rows; i++) {
        h->distance[i] = h->m->of_row[i] == FREE ? 0 : INT_MAX;
        h->next[i] = h->s->start[i];
        if (h->distance[i] == 0) h->queue[tail++] = i;
    }
    while (head < tail) {
        int i = h->queue[head++];
        for (int k = h->s->start[i]; k < h->s->start[i + 1]; k++) {
            int r = h->m->of_column[h->s->column[k]];
            if (r == FREE) {
                found = 1;
            } else if (h->distance[r] == INT_MAX) {
                h->distance[r] = h->distance[i] + 1;
                h->queue[tail++] = r;
            }
        }
    }
    return found;
}

/* Augments along one path from a free row; the rows of the path are on the stack, next[] points behind the entry taken. */
static int augment(search *h, int root)
{
    int *stack = h->queue, depth = 0;
    stack[0] = root;
    while (depth >= 0) {
        int i = stack[depth], forward = 0;
        while (h->next[i] < h->s->start[i + 1] && !forward) {
            int r = h->m->of_column[h->s->column[h->next[i]++]];
            if (r == FREE) {
                for (; depth >= 0; depth--) {
                    int row = stack[depth], column = h->s->column[h->next[row] - 1];
                    h->m->of_row[row] = column;
                    h->m->of_column[column] = row;
                }
                return 1;
            }
            if (h->distance[r] == h->distance[i] + 1) {
                stack[++depth] = r;
                forward = 1;
            }
        }
        if (!forward) {
            h->distance[i] = INT_MAX;
            depth--;
        }
    }
    return 0;
}

int dae_matching_largest(const dae_signature *s, dae_arena *arena, dae_matching *m)
{
    size_t rows = (size_t)s->rows;
    search h = {s, m, dae_arena_ints(arena, rows + 1), dae_arena_ints(arena, rows + 1),
                dae_arena_ints(arena, rows + 1)};
    *m = (dae_matching){0, dae_arena_ints(arena, rows + 1), dae_arena_ints(arena, (size_t)s->columns + 1)};
    if (dae_arena_failed(arena)) return 0;
    for (int i = 0; i < s->rows; i++) m->of_row[i] = FREE;
    for (int j = 0; j < s->columns; j++) m->of_column[j] = FREE;
    while (spread(&h)) {
        for (int i = 0; i < s->rows; i++) {
            if (m->of_row[i] == FREE) m->size += augment(&h, i);
        }
    }
    return 1;
}

/* ---- Over- and underdetermined parts ------------------------------------------------------------------- */

/* From free rows: row -> its columns -> their rows. */
static void reach_from_rows(const dae_signature *s, const dae_matching *m, int *stack, unsigned char *row,
                            unsigned char *column)
{
    int depth = 0;
    for (int i = 0; i < s->rows; i++) {
        if (m->of_row[i] != FREE) continue;
        row[i] = 1;
        stack[depth++] = i;
    }
    while (depth > 0) {
        int i = stack[--depth];
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
            int j = s->column[k], r = m->of_column[j];
            column[j] = 1;
            if (r != FREE && !row[r]) {
                row[r] = 1;
                stack[depth++] = r;
            }
        }
    }
}

/* From free columns: column -> rows that have it -> their columns. The rows of a column are found by sweeps over all entries
 * until nothing changes; this is the way to an error message, so time matters little. */
static void reach_from_columns(const dae_signature *s, const dae_matching *m, unsigned char *row,
                               unsigned char *column)
{
    for (int j = 0; j < s->columns; j++) column[j] = m->of_column[j] == FREE;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int i = 0; i < s->rows; i++) {
            for (int k = s->start[i]; k < s->start[i + 1] && !row[i]; k++) {
                if (!column[s->column[k]]) continue;
                row[i] = 1;
                changed = 1;
                if (m->of_row[i] != FREE) column[m->of_row[i]] = 1;
            }
        }
    }
}

int dae_matching_part(const dae_signature *s, const dae_matching *m, int over, dae_arena *arena,
                      unsigned char *row, unsigned char *column)
{
    int *stack = dae_arena_ints(arena, (size_t)s->rows + 1);
    if (!stack) return 0;
    for (int i = 0; i < s->rows; i++) row[i] = 0;
    for (int j = 0; j < s->columns; j++) column[j] = 0;
    if (over) reach_from_rows(s, m, stack, row, column);
    else reach_from_columns(s, m, row, column);
    return 1;
}

/* ---- Strong components --------------------------------------------------------------------------------- */

/* Tarjan 1972: low[i] is the least number of a node on the stack that i's subtree reaches. */
int dae_strong_components(int n, const int *start, const int *to, dae_arena *arena, int *component)
{
    size_t size = (size_t)n + 1;
    int *number = dae_arena_ints(arena, size), *low = dae_arena_ints(arena, size),
        *next = dae_arena_ints(arena, size);
    int *path = dae_arena_ints(arena, size), *stack = dae_arena_ints(arena, size), count = 0, seen = 0,
        top = 0;
    if (dae_arena_failed(arena)) return -1;
    for (int i = 0; i < n; i++) component[i] = -1;
    for (int root = 0; root < n; root++) {
        int depth = 0;
        if (number[root]) continue;
        path[0] = root;
        while (depth >= 0) {
            int i = path[depth];
            if (!number[i]) {
                number[i] = low[i] = ++seen;
                next[i] = start[i];
                stack[top++] = i;
            }
            for (; next[i] < start[i + 1]; next[i]++) {
                int k = to[next[i]];
                if (!number[k]) break;
                if (component[k] < 0 && low[k] < low[i]) low[i] = low[k];
            }
            if (next[i] < start[i + 1]) {
                path[++depth] = to[next[i]];
                continue;
            }
            if (low[i] == number[i]) {
                int k;
                do component[k = stack[--top]] = count;
                while (k != i);
                count++;
            }
            depth--;
        }
    }
    return count;
}
