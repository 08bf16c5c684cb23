/* Topology: spanning tree over the bodies, joints that close loops, redundant constraints. */
#include "multibody/mechanism.h"

#include <stdlib.h>
#include <string.h>

enum { dense_limit = 1500 }; /* rows; above it redundancy is not looked for */
#define REDUNDANT 1e-8       /* part of a row outside the span of the others, relative; ours */
#define DISTURBANCE 1e-2     /* of the second state at which it is tested; ours */
#define MANY_ROWS 60         /* ours: from here on they are taken as sparse */

/* ---- Tree -------------------------------------------------------------------------------------------- */

typedef struct edge {
    int a, b, rows, joint;
} edge;

static int by_rows(const void *x, const void *y)
{
    const edge *a = x, *b = y;
    return a->rows != b->rows ? (b->rows > a->rows) - (b->rows < a->rows)
                              : (a->joint > b->joint) - (a->joint < b->joint);
}

static int root_of(int *set, int k)
{
    while (set[k] != k) k = set[k] = set[set[k]];
    return k;
}

/* Joints as edges; the heaviest first, so that the joints that close loops have few rows. */
static int collect_edges(const mbs_mechanism *m, edge *e)
{
    int n = 0;
    for (int k = 0; k < m->njoint; k++) {
        const mbs_joint_data *j = &m->joint[k];
        int rows = 0;
        for (int r = j->first; r < j->first + j->count; r++)
            rows += m->row[r].nbody == 2 || j->i.body != j->j.body ? m->row[r].count : 0;
        if (rows && j->i.body != j->j.body) e[n++] = (edge){j->i.body, j->j.body, rows, k};
    }
    qsort(e, (size_t)n, sizeof *e, by_rows);
    return n;
}

/* Parents by walking the tree from the ground; bodies in no joint hang on the ground freely. */
static void set_parents(mbs_mechanism *m, const edge *e, int n, const unsigned char *in_tree, int *first,
                        int *next, int *queue)
{
    int nb = m->nbody, head = 0, tail = 0;
    for (int k = 0; k <= nb; k++) first[k] = -1;
    for (int k = 0; k < n; k++) {
        if (!in_tree[k]) continue;
        next[2 * k] = first[e[k].a];
        first[e[k].a] = 2 * k;
        next[2 * k + 1] = first[e[k].b];
        first[e[k].b] = 2 * k + 1;
    }
    for (int k = 0; k < nb; k++) m->parent[k] = -2; /* not reached yet */
    for (int start = 0; start <= nb; start++) {
        if (start > 0 && m->parent[start - 1] != -2) continue;
        if (start > 0) m->parent[start - 1] = -1;
        queue[tail++] = start;
        while (head < tail) {
            int body = queue[head++];
            for (int i = first[body]; i >= 0; i = next[i]) {
                int other = i % 2 ? e[i / 2].a : e[i / 2].b;
                if (other == 0 || m->parent[other - 1] != -2) continue;
                m->parent[other - 1] = body - 1;
                queue[tail++] = other;
            }
        }
    }
}

/* The body whose joint with its parent a group of rows belongs to, or -1. */
static int joint_of(const mbs_mechanism *m, const mbs_row *r)
{
    int pair[2] = {0, 0}, n = 0;
    for (int k = 0; k < r->nbody; k++) {
        int body = r->body[k];
        if (body == 0 || (n > 0 && pair[0] == body) || (n > 1 && pair[1] == body)) continue;
        if (n == 2) return -1;
        pair[n++] = body;
    }
    if (n == 1) return m->parent[pair[0] - 1] == -1 ? pair[0] - 1 : -1;
    if (n == 0) return -1;
    for (int k = 0; k < r->nbody; k++) {
        if (r->nbody > 2 && r->body[k] == 0) return -1; /* also the ground takes part */
    }
    if (m->parent[pair[0] - 1] == pair[1] - 1) return pair[0] - 1;
    return m->parent[pair[1] - 1] == pair[0] - 1 ? pair[1] - 1 : -1;
}

dae_status mbs_build_tree(mbs_builder *b)
{
    mbs_mechanism *m = b->m;
    size_t nb = (size_t)m->nbody, nj = (size_t)m->njoint;
    edge *e = calloc(nj + 1, sizeof *e);
    int *work = calloc(3 * nb + 2 * nj + 8, sizeof *work);
    unsigned char *in_tree = calloc(nj + 1, 1);
    m->parent = dae_arena_ints(m->arena, nb);
    m->row_joint = dae_arena_ints(m->arena, (size_t)m->nrows + 1);
    int ok = e && work && in_tree && m->parent && m->row_joint;
    if (ok) {
        int *set = work, *queue = work + nb + 1, *first = queue + nb + 1, *next = first + nb + 1;
        int n = collect_edges(m, e);
        for (int k = 0; k <= m->nbody; k++) set[k] = k;
        m->loops = 0;
        for (int k = 0; k < n; k++) {
            int x = root_of(set, e[k].a), y = root_of(set, e[k].b);
            in_tree[k] = x != y;
            m->loops += x == y;
            set[x] = y;
        }
        set_parents(m, e, n, in_tree, first, next, queue);
        for (int k = 0; k < m->nrows; k++) m->row_joint[k] = joint_of(m, &m->row[k]);
    }
    free(e);
    free(work);
    free(in_tree);
    return ok ? DAE_OK : dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* ---- Redundancy -------------------------------------------------------------------------------------- */

/* Marks rows (order gives their sequence) that are combinations of earlier ones: Gram-Schmidt, twice. Rows already
 * marked are left out. */
static void dependent_rows(int nrow, int nv, const double *G, const int *order, double *basis,
                           unsigned char *mark)
{
    int n = 0;
    for (int k = 0; k < nrow; k++) {
        int row = order[k];
        double *x = basis + (size_t)n * (size_t)nv, norm = 0, left = 0;
        mark[row] = 0;
        for (int c = 0; c < nv; c++) {
            x[c] = G[(size_t)c * (size_t)nrow + (size_t)row];
            norm += x[c] * x[c];
        }
        for (int pass = 0; pass < 2; pass++) {
            for (int i = 0; i < n; i++) {
                const double *q = basis + (size_t)i * (size_t)nv;
                double dot = 0;
                for (int c = 0; c < nv; c++) dot += q[c] * x[c];
                for (int c = 0; c < nv; c++) x[c] -= dot * q[c];
            }
        }
        for (int c = 0; c < nv; c++) left += x[c] * x[c];
        if (n == nv || left <= REDUNDANT * REDUNDANT * norm || norm == 0) {
            mark[row] = 1;
            continue;
        }
        left = 1 / sqrt(left);
        for (int c = 0; c < nv; c++) x[c] *= left;
        n++;
    }
}

/* The same for many rows, which have few entries each: elimination, every row with its largest entry that is left as pivot,
 * so that rows of far bodies do not meet. What is left of a row is never less than what Gram-Schmidt leaves.
 * list: nv*(nv+1) + 2 nv numbers for work. */
static void dependent_sparse_rows(int nrow, int nv, const double *G, const int *order, double *basis,
                                  int *list, unsigned char *mark)
{
    int n = 0, *pivot = list + (size_t)nv * (size_t)(nv + 1), *count = pivot + nv;
    for (int k = 0; k < nrow; k++) {
        int row = order[k], best = 0;
        double *x = basis + (size_t)n * (size_t)nv, norm = 0, left = 0;
        for (int c = 0; c < nv; c++) {
            x[c] = G[(size_t)c * (size_t)nrow + (size_t)row];
            norm += x[c] * x[c];
        }
        for (int i = 0; i < n;
             i++) { /* in their order: an earlier row has entries where later ones have their pivots */
            const double *q = basis + (size_t)i * (size_t)nv;
            const int *at = list + (size_t)i * (size_t)nv;
            double factor = x[pivot[i]];
            if (factor == 0) continue;
            for (int j = 0; j < count[i]; j++) x[at[j]] -= factor * q[at[j]];
            x[pivot[i]] = 0;
        }
        for (int c = 0; c < nv; c++) {
            left += x[c] * x[c];
            if (fabs(x[c]) > fabs(x[best])) best = c;
        }
        mark[row] = n == nv || left <= REDUNDANT * REDUNDANT * norm || norm == 0;
        if (mark[row]) continue;
        double scale = 1 / x[best];
        int *at = list + (size_t)n * (size_t)nv;
        count[n] = 0;
        for (int c = 0; c < nv; c++) {
            if (x[c] == 0) continue;
            x[c] *= scale;
            at[count[n]++] = c;
        }
        pivot[n++] = best;
    }
}

/* Rows of the tree first, then those that close loops, then drivers: the later ones are called redundant. */
static void sequence(const mbs_mechanism *m, int *order)
{
    int n = 0;
    for (int pass = 0; pass < 3; pass++) {
        for (int k = 0; k < m->nrows; k++) {
            const mbs_row *r = &m->row[k];
            int rank = r->driver >= 0 ? 2 : m->row_joint[k] < 0;
            for (int i = 0; rank == pass && i < r->count; i++) order[n++] = r->first + i;
        }
    }
}

/* A tree with one joint per pair of bodies cannot be redundant. */
static int plain_tree(const mbs_mechanism *m)
{
    unsigned char *seen = calloc((size_t)m->nbody + 1, 1);
    int plain = seen != NULL;
    for (int k = 0; plain && k < m->nrows; k++) {
        int j = m->row_joint[k];
        if (j < 0 || m->row[k].joint < 0) plain = 0;
        else if (k == 0 || m->row[k].joint != m->row[k - 1].joint) plain = !seen[j]++;
    }
    free(seen);
    return plain;
}

static void disturb(const mbs_mechanism *m, double *p)
{
    unsigned long long seed = 99;
    for (int k = 0; k < m->np; k++) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        p[k] += DISTURBANCE * ((double)(seed >> 40) / (double)(1 << 24) - 0.5);
    }
}

static void rows_at(const mbs_mechanism *m, const double *y, double *G)
{
    mbs_context x = mbs_begin(m, m->model->simulation.t0, y, NULL);
    memset(G, 0, (size_t)m->nrow * (size_t)m->nv * sizeof *G);
    mbs_all_rows(&x, NULL, G, NULL, NULL);
    mbs_end(&x);
}

dae_status mbs_find_redundant(mbs_builder *b, const double *y0)
{
    mbs_mechanism *m = b->m;
    size_t nrow = (size_t)m->nrow, nv = (size_t)m->nv, n = (size_t)(m->np + m->nv + m->nu);
    if (!nrow || nrow > dense_limit || plain_tree(m)) return DAE_OK;
    double *G = malloc(nrow * nv * sizeof *G), *basis = malloc((nv + 1) * nv * sizeof *basis),
           *y = malloc(n * sizeof *y);
    int *order = malloc(nrow * sizeof *order);
    unsigned char *mark = calloc(2 * nrow, 1);
    int many = nrow > MANY_ROWS, *list = many ? malloc((nv * (nv + 1) + 2 * nv) * sizeof *list) : NULL;
    m->redundant = dae_arena_ints(m->arena, nrow);
    int ok = G && basis && y && order && mark && m->redundant && (list || !many);
    if (ok) {
        sequence(m, order);
        memcpy(y, y0, n * sizeof *y);
        dae_status s = mbs_assemble(m, m->model->simulation.t0, y, NULL, NULL);
        if (s == DAE_OK) {
            rows_at(m, y, G);
            if (many) dependent_sparse_rows(m->nrow, m->nv, G, order, basis, list, mark);
            else dependent_rows(m->nrow, m->nv, G, order, basis, mark);
            disturb(m, y); /* a rank that drops at the start only is a singular pose, no redundancy */
            s = mbs_assemble(m, m->model->simulation.t0, y, NULL, NULL);
            if (s == DAE_OK) {
                rows_at(m, y, G);
                if (many) dependent_sparse_rows(m->nrow, m->nv, G, order, basis, list, mark + nrow);
                else dependent_rows(m->nrow, m->nv, G, order, basis, mark + nrow);
                for (size_t i = 0; i < nrow; i++) {
                    if (mark[i] && !mark[nrow + i] && m->singular < 0) m->singular = (int)i;
                    mark[i] = mark[i] && mark[nrow + i];
                }
            }
            for (int i = 0; i < m->nrow; i++) {
                if (mark[i]) m->redundant[m->nredundant++] = i;
            }
        }
        ok = s != DAE_ERR_MEMORY;
    }
    free(list);
    free(G);
    free(basis);
    free(y);
    free(order);
    free(mark);
    return ok ? DAE_OK : dae_fail(b->err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* ---- What is told ------------------------------------------------------------------------------------ */

mbs_topology mbs_mechanism_topology(const mbs_mechanism *m)
{
    return (mbs_topology){.bodies = m->nbody,
                          .joints = m->njoint,
                          .loops = m->loops,
                          .coordinates = m->nv,
                          .constraints = m->nrow,
                          .independent = m->nlambda,
                          .freedom = m->nv - m->nlambda,
                          .redundant = m->nredundant};
}

const char *mbs_row_name(const mbs_mechanism *m, int scalar, int *row)
{
    for (int k = 0; k < m->nrows; k++) {
        const mbs_row *r = &m->row[k];
        int within = scalar - r->first;
        if (within < 0 || within >= r->count) continue;
        if (r->joint < 0) {
            if (row) *row = 0;
            return m->model->driver[r->driver].name;
        }
        int before = 0;
        for (int j = m->joint[r->joint].first; j < k; j++) before += m->row[j].count;
        if (row) *row = before + within;
        return m->joint[r->joint].model->name;
    }
    return NULL;
}

const char *mbs_mechanism_redundant(const mbs_mechanism *m, int i, int *row)
{
    return i < 0 || i >= m->nredundant ? NULL : mbs_row_name(m, m->redundant[i], row);
}
