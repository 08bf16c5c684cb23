/* Pryce's Sigma method [P01].
 *
 *     T: the perfect matching with the largest sum of sigma_ij                     (assignment.c)
 *     offsets: the least c, d >= 0 with d_j - c_i >= sigma_ij, and = on T:  c = 0; repeat d_j = max_i sigma_ij + c_i,
 *              c_i = d_T(i) - sigma_i,T(i)  until nothing changes
 *     J_ij = df_i / dx_j^(d_j - c_i) where sigma_ij = d_j - c_i, else 0
 *     structural index  max c_i + (1 if some d_j = 0),   degrees of freedom  sum d - sum c = value of T
 *
 * The iteration goes through the strong components of the pattern, so that a long chain costs its length once.
 *
 * Labels for radau5 and its like on the system as written:
 *     label_j = max(1, 1 + max{c_i : i in the block of j or in one that it depends on} - d_j);
 * they agree with the index vectors printed in [TESTSET] for andrews, fekete, water, pump, transamp, chemakzo, crank, wheel. */
#include "equations/sigma.h"

#include <string.h>

/* ---- Offsets -------------------------------------------------------------------------------------------- */

static int order_at(const dae_signature *s, int i, int j)
{
    for (int k = s->start[i]; k < s->start[i + 1]; k++) {
        if (s->column[k] == j) return s->order[k];
    }
    return 0;
}

/* row[first[b] .. first[b+1]-1] are the rows of group b, rising. */
static void group(int n, const int *of_row, int groups, int *first, int *row)
{
    for (int i = 0; i < n; i++) first[of_row[i] + 1]++;
    for (int b = 0; b < groups; b++) first[b + 1] += first[b];
    for (int i = n - 1; i >= 0; i--) row[--first[of_row[i] + 1]] = i;
    memmove(first, first + 1, (size_t)groups * sizeof(int));
    first[groups] = n;
}

/* Offsets pass from row i to the row that is matched with a variable of i, so components are taken from the last one, which no
 * other needs, down; only inside a component does a row come back into the queue. */
static int find_offsets(const dae_signature *s, const dae_matching *m, const int *component, int ncomponent,
                        dae_arena *arena, dae_sigma *g)
{
    int n = s->rows, *queue = dae_arena_ints(arena, (size_t)n + 1),
        *on_t = dae_arena_ints(arena, (size_t)n + 1);
    int *first = dae_arena_ints(arena, (size_t)ncomponent + 2), *row = dae_arena_ints(arena, (size_t)n + 1);
    unsigned char *waiting = dae_arena_take(arena, (size_t)n + 1, 1);
    if (dae_arena_failed(arena)) return 0;
    for (int i = 0; i < n; i++) g->d[m->of_row[i]] = on_t[i] = order_at(s, i, m->of_row[i]);
    group(n, component, ncomponent, first, row);
    for (int b = ncomponent - 1; b >= 0; b--) {
        int size = first[b + 1] - first[b], head = 0, count = size; /* the queue is a ring */
        for (int k = 0; k < size; k++) waiting[queue[k] = row[first[b] + k]] = 1;
        for (; count > 0; count--) {
            int i = queue[head];
            head = (head + 1) % size;
            waiting[i] = 0;
            for (int k = s->start[i]; k < s->start[i + 1]; k++) {
                int j = s->column[k], r = m->of_column[j];
                if (s->order[k] + g->c[i] <= g->d[j]) continue;
                g->d[j] = s->order[k] + g->c[i];
                g->c[r] = g->d[j] - on_t[r];
                if (component[r] != b || waiting[r]) continue;
                waiting[r] = 1;
                queue[(head + count - 1) % size] = r;
                count++;
            }
        }
    }
    return 1;
}

static void count_freedom(dae_sigma *g)
{
    int algebraic = 0, largest = 0;
    g->dof = 0;
    for (int i = 0; i < g->n; i++) {
        if (g->c[i] > largest) largest = g->c[i];
        if (g->d[i] == 0) algebraic = 1;
        g->dof += g->d[i] - g->c[i];
    }
    g->index = largest + algebraic;
}

/* ---- Blocks --------------------------------------------------------------------------------------------- */

/* Edges i -> row matched with j, for entries of J, or of the whole pattern where g is NULL. */
static int components(const dae_signature *s, const dae_matching *m, const dae_sigma *g, dae_arena *arena,
                      int *component)
{
    int n = s->rows, count = 0, *start = dae_arena_ints(arena, (size_t)n + 1);
    int *to = dae_arena_ints(arena, (size_t)s->start[n] + 1);
    if (dae_arena_failed(arena)) return -1;
    for (int i = 0; i < n; i++) {
        for (int k = s->start[i]; k < s->start[i + 1]; k++) {
            int j = s->column[k];
            if (!g || s->order[k] == g->d[j] - g->c[i]) to[count++] = m->of_column[j];
        }
        start[i + 1] = count;
    }
    return dae_strong_components(n, start, to, arena, component);
}

/* worst[b]: the largest c in block b and in all blocks that it depends on; those come before it. */
static void label_variables(const dae_signature *s, const dae_matching *m, dae_sigma *g, int *worst)
{
    for (int b = 0; b < g->nblock; b++) {
        for (int r = g->block_start[b]; r < g->block_start[b + 1]; r++) {
            int i = g->block_row[r];
            if (g->c[i] > worst[b]) worst[b] = g->c[i];
            for (int k = s->start[i]; k < s->start[i + 1]; k++) {
                int j = s->column[k], other = g->block[m->of_column[j]];
                if (s->order[k] == g->d[j] - g->c[i] && worst[other] > worst[b]) worst[b] = worst[other];
            }
        }
    }
    for (int i = 0; i < g->n; i++) {
        int j = g->match[i], label = 1 + worst[g->block[i]] - g->d[j];
        g->depth[j] = worst[g->block[i]];
        g->label[j] = label < 1 ? 1 : label;
    }
}

int dae_sigma_find(const dae_signature *s, dae_arena *arena, dae_matching *m, dae_sigma *out)
{
    size_t size = (size_t)s->rows + 2;
    int *coarse = dae_arena_ints(arena, size), *worst = dae_arena_ints(arena, size);
    *out = (dae_sigma){.n = s->rows,
                       .c = dae_arena_ints(arena, size),
                       .d = dae_arena_ints(arena, size),
                       .block = dae_arena_ints(arena, size),
                       .block_start = dae_arena_ints(arena, size),
                       .block_row = dae_arena_ints(arena, size),
                       .depth = dae_arena_ints(arena, size),
                       .label = dae_arena_ints(arena, size)};
    if (!dae_matching_largest(s, arena, m)) return -1;
    if (s->rows != s->columns || m->size < s->rows) return 0;
    if (!dae_matching_heaviest(s, arena, m)) return -1;
    out->match = m->of_row;
    out->ncoarse = components(s, m, NULL, arena, coarse);
    if (out->ncoarse < 0 || !find_offsets(s, m, coarse, out->ncoarse, arena, out)) return -1;
    count_freedom(out);
    out->nblock = components(s, m, out, arena, out->block);
    if (out->nblock < 0) return -1;
    group(out->n, out->block, out->nblock, out->block_start, out->block_row);
    label_variables(s, m, out, worst);
    return 1;
}
