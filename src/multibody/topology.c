/* Topology: spanning tree over the bodies, joints that close loops, redundant constraints. */
#include "linalg/svd.h"
#include "multibody/sparse_rows.h"

#include <stdlib.h>
#include <string.h>

enum { dense_limit = 1500 }; /* rows; above it redundancy is not looked for */
#define REDUNDANT 1e-8       /* part of a row outside the span of the others, relative; ours */
#define DISTURBANCE 1e-2     /* of the second state at which it is tested; ours */
#define SAME 1e-6            /* how far a direction may turn against a body that carries it; ours */
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

/* What rows span. Few rows: an orthonormal basis by Gram-Schmidt, twice. Many rows have few entries each: elimination, every row
 * with its largest entry that is left as pivot, so that rows of far bodies do not meet; what is left of a row is never less
 * than what Gram-Schmidt leaves. */
typedef struct span {
    int nv, n, many;
    const mbs_sparse_rows *G;
    double *basis; /* few: n rows of nv */
    double *x;     /* nv: the row that is looked at */
    /* many: entries of the row that is looked at (sorted once it is reduced), which they are, and the rows of the basis that are still to
     * be subtracted, the smallest number first (a heap) */
    int *entry, entries, *waiting, nwaiting;
    unsigned char *seen;
    int *first, *pivot,
        *owner; /* of the basis: entries of row i, its pivot; row whose pivot is column c, -1: none */
    int *column, room, starved; /* starved: no memory for entries */
    double *value;
} span;

static int by_number(const void *x, const void *y)
{
    return *(const int *)x - *(const int *)y;
}

static void wait_for(span *s, int row)
{
    int k = s->nwaiting++;
    for (; k > 0 && s->waiting[(k - 1) / 2] > row; k = (k - 1) / 2) s->waiting[k] = s->waiting[(k - 1) / 2];
    s->waiting[k] = row;
}

static int next_waiting(span *s)
{
    int first = s->waiting[0], last = s->waiting[--s->nwaiting], k = 0;
    for (int son; (son = 2 * k + 1) < s->nwaiting; k = son) {
        if (son + 1 < s->nwaiting && s->waiting[son + 1] < s->waiting[son]) son++;
        if (s->waiting[son] >= last) break;
        s->waiting[k] = s->waiting[son];
    }
    s->waiting[k] = last;
    return first;
}

/* x[c] may be there. */
static void see(span *s, int c)
{
    if (s->seen[c]) return;
    s->seen[c] = 1;
    s->entry[s->entries++] = c;
    if (s->owner[c] >= 0) wait_for(s, s->owner[c]);
}

/* x becomes zero. */
static void clear(span *s)
{
    if (!s->many) memset(s->x, 0, (size_t)s->nv * sizeof *s->x);
    for (int k = 0; k < s->entries; k++) s->x[s->entry[k]] = s->seen[s->entry[k]] = 0;
    s->entries = s->nwaiting = 0;
}

/* x becomes row `row` of G; its square. */
static double take_row(span *s, int row)
{
    double norm = 0;
    clear(s);
    for (int k = s->G->first[row]; k < s->G->first[row + 1]; k++) {
        double value = s->G->value[k];
        s->x[s->G->column[k]] = value;
        if (s->many) see(s, s->G->column[k]);
        norm += value * value;
    }
    return norm;
}

static void reduce_by_projection(span *s)
{
    size_t nv = (size_t)s->nv;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < s->n; i++) {
            const double *q = s->basis + (size_t)i * nv;
            double dot = 0;
            for (size_t c = 0; c < nv; c++) dot += q[c] * s->x[c];
            for (size_t c = 0; c < nv; c++) s->x[c] -= dot * q[c];
        }
    }
}

/* In the order of the basis: an earlier row has entries where later ones have their pivots. */
static void reduce_by_elimination(span *s)
{
    while (s->nwaiting) {
        int i = next_waiting(s);
        double factor = s->x[s->pivot[i]];
        if (factor == 0) continue;
        for (int k = s->first[i]; k < s->first[i + 1]; k++) {
            see(s, s->column[k]);
            s->x[s->column[k]] -= factor * s->value[k];
        }
        s->x[s->pivot[i]] = 0;
    }
    qsort(s->entry, (size_t)s->entries, sizeof *s->entry, by_number);
}

/* What is left of x outside of the span; its square. */
static double reduce(span *s)
{
    double left = 0;
    if (s->many) reduce_by_elimination(s);
    else reduce_by_projection(s);
    int count = s->many ? s->entries : s->nv;
    for (int k = 0; k < count; k++) {
        double x = s->x[s->many ? s->entry[k] : k];
        left += x * x;
    }
    return left;
}

/* Room for so many entries more. */
static int make_room(span *s, int more)
{
    int used = s->first[s->n], room = s->room;
    if (used + more <= room) return 1;
    room = used + more + room / 2;
    int *column = realloc(s->column, (size_t)room * sizeof *column);
    if (column) s->column = column;
    double *value = realloc(s->value, (size_t)room * sizeof *value);
    if (value) s->value = value;
    s->starved |= !column || !value;
    if (column && value) s->room = room;
    return column && value;
}

/* The reduced row becomes one of the basis; left: its square. */
static void extend(span *s, double left)
{
    if (!s->many) {
        double scale = 1 / sqrt(left), *q = s->basis + (size_t)s->n++ * (size_t)s->nv;
        for (int c = 0; c < s->nv; c++) q[c] = s->x[c] * scale;
        return;
    }
    if (!make_room(s, s->entries)) return;
    int best = s->entry[0], end = s->first[s->n];
    for (int k = 1; k < s->entries; k++) {
        if (fabs(s->x[s->entry[k]]) > fabs(s->x[best])) best = s->entry[k];
    }
    double scale = 1 / s->x[best];
    for (int k = 0; k < s->entries; k++) {
        int c = s->entry[k];
        if (s->x[c] == 0) continue;
        s->column[end] = c;
        s->value[end++] = s->x[c] * scale;
    }
    s->pivot[s->n] = best;
    s->owner[best] = s->n++;
    s->first[s->n] = end;
}

static void restart(span *s)
{
    s->n = 0;
    for (int c = 0; s->many && c < s->nv; c++) s->owner[c] = -1;
}

/* Marks rows (order gives their sequence, the first `upto` of it) that are combinations of earlier ones. */
static void dependent_rows(span *s, const int *order, int upto, unsigned char *mark)
{
    restart(s);
    for (int k = 0; k < upto; k++) {
        double norm = take_row(s, order[k]), left = reduce(s);
        mark[order[k]] = s->n == s->nv || left <= REDUNDANT * REDUNDANT * norm || norm == 0;
        if (!mark[order[k]]) extend(s, left);
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

static void rows_at(const mbs_mechanism *m, const double *y, mbs_sparse_rows *G)
{
    mbs_context x = mbs_begin(m, m->model->simulation.t0, y, NULL);
    mbs_sparse_rows_set(&x, G);
    mbs_end(&x);
}

/* ---- Directions that are redundant ------------------------------------------------------------------------
 *
 * Where some of the rows d = 0 of two points that meet follow from others, it is a direction along which they do, and that direction turns
 * with the mechanism: what is left out in global axes would be needed after a quarter of a turn (a governor with its
 * spindle, a third crank of a parallelogram with the crank). With the null directions of what is left of the rows outside of the span of those
 * before them,
 *     R = (1 - P) G_k,   R^T = U S V^T,   the last columns of V,
 * rows a_k . d are taken in axes V that are carried by the body in which these directions do not move from one pose to another. */

typedef struct directions {
    span s;
    mbs_sparse_rows G[2]; /* at two poses */
    double *y[2];
    int *order;           /* nrow */
    unsigned char *spare; /* nrow */
    double *R;            /* 3*nv */
} directions;

/* What is left of R outside of the span. */
static void reduce_vector(span *s, double *R)
{
    clear(s);
    for (int c = 0; c < s->nv; c++) {
        s->x[c] = R[c];
        if (s->many && R[c] != 0) see(s, c);
    }
    reduce(s);
    memcpy(R, s->x, (size_t)s->nv * sizeof *R);
}

/* R of a group at a pose, as columns: rows of the axes E (count columns of 3, global); *size: the square of all of them. */
static void left_of_group(directions *x, const mbs_mechanism *m, const mbs_row *r, int pose, const double *E,
                          double *size)
{
    int before = 0;
    size_t nv = (size_t)m->nv;
    while (x->order[before] != r->first) before++;
    x->s.G = &x->G[pose];
    dependent_rows(&x->s, x->order, before, x->spare);
    memset(x->R, 0, 3 * nv * sizeof *x->R);
    *size = 0;
    for (int i = 0; i < r->count; i++) {
        *size += take_row(&x->s, r->first + i);
        for (int k = 0; k < r->count; k++) {
            for (size_t c = 0; c < nv; c++) x->R[(size_t)k * nv + c] += E[3 * k + i] * x->s.x[c];
        }
    }
    for (int k = 0; k < r->count; k++) reduce_vector(&x->s, x->R + (size_t)k * nv);
}

/* 1: the last `null` of the axes E, which are carried by a body (0: by none), are redundant at the second pose too. */
static int carried(directions *x, const mbs_mechanism *m, const mbs_row *r, int body, int null,
                   const double *E)
{
    double local[9], now[9], size, left = 0;
    for (int pose = 0; pose < 2; pose++) {
        mbs_context c = mbs_begin(m, m->model->simulation.t0, x->y[pose], NULL);
        for (int k = 0; k < 3; k++) {
            if (pose) mbs_rotate(c.pose[body].A, local + 3 * k, now + 3 * k);
            else mbs_rotate_back(c.pose[body].A, E + 3 * k, local + 3 * k);
        }
        mbs_end(&c);
    }
    left_of_group(x, m, r, 1, now, &size);
    for (int k = r->count - null; k < r->count; k++) {
        for (int c = 0; c < m->nv; c++) left += x->R[k * m->nv + c] * x->R[k * m->nv + c];
    }
    return left <= SAME * SAME * size;
}

/* Group k in axes that move with its redundant directions; null: how many there are. */
static void carry(directions *x, mbs_mechanism *m, int k, int null)
{
    mbs_row *r = &m->row[k];
    double E[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, V[9], s[3], size;
    left_of_group(x, m, r, 0, E, &size);
    dae_svd(m->nv, r->count, x->R, s, V);
    for (int i = 0; i < r->count; i++) {
        for (int j = 0; j < r->count; j++) E[3 * j + i] = V[j * r->count + i];
    }
    if (carried(x, m, r, 0, null, E)) return; /* global axes will do */
    for (int side = 0; side < 2; side++) {
        mbs_frame *f = side ? &r->j : &r->i;
        if (!f->body || !carried(x, m, r, f->body, null, E)) continue;
        mbs_context c = mbs_begin(m, m->model->simulation.t0, x->y[0], NULL);
        for (int j = 0; j < 3; j++) {
            double a[3];
            mbs_rotate_back(c.pose[f->body].A, E + 3 * j, a);
            for (int i = 0; i < 3; i++) f->C[3 * i + j] = a[i];
        }
        mbs_end(&c);
        r->type = &mbs_row_carried;
        r->carrier = side;
        return;
    }
}

/* ---- All of it ------------------------------------------------------------------------------------------ */

/* Rows that follow from others at both poses are marked; those that do at the first only are a singular pose. */
static void mark_rows(mbs_mechanism *m, directions *x, unsigned char *mark)
{
    size_t nrow = (size_t)m->nrow;
    for (int pose = 0; pose < 2; pose++) {
        x->s.G = &x->G[pose];
        dependent_rows(&x->s, x->order, m->nrow, mark + (size_t)pose * nrow);
    }
    m->singular = -1;
    for (size_t i = 0; i < nrow; i++) {
        if (mark[i] && !mark[nrow + i] && m->singular < 0) m->singular = (int)i;
        mark[i] = mark[i] && mark[nrow + i];
    }
}

static int create(const mbs_mechanism *m, directions *x)
{
    size_t nrow = (size_t)m->nrow, nv = (size_t)m->nv, n = (size_t)(m->np + m->nv + m->nu);
    span *s = &x->s;
    s->nv = m->nv;
    s->many = nrow > MANY_ROWS;
    x->y[0] = calloc(2 * n + 4 * nv + (s->many ? 0 : nrow * nv), sizeof **x->y);
    x->order = malloc((nrow + 5 * nv + 1) * sizeof *x->order);
    x->spare = calloc(nrow + nv, 1);
    if (!mbs_sparse_rows_create(m, 0, &x->G[0]) || !mbs_sparse_rows_create(m, 0, &x->G[1])) return 0;
    if (!x->y[0] || !x->order || !x->spare) return 0;
    x->y[1] = x->y[0] + n;
    x->R = x->y[1] + n;
    s->x = x->R + 3 * nv;
    s->basis = s->x + nv;
    s->seen = x->spare + nrow;
    s->entry = x->order + nrow;
    s->waiting = s->entry + nv;
    s->pivot = s->waiting + nv;
    s->owner = s->pivot + nv;
    s->first = s->owner + nv;
    s->first[0] = 0;
    return 1;
}

static void destroy(directions *x)
{
    mbs_sparse_rows_destroy(&x->G[0]);
    mbs_sparse_rows_destroy(&x->G[1]);
    free(x->y[0]);
    free(x->order);
    free(x->spare);
    free(x->s.column);
    free(x->s.value);
}

/* Marks all of them, from the assembled state y[0] on. */
static dae_status find(mbs_mechanism *m, directions *x, unsigned char *mark)
{
    size_t n = (size_t)(m->np + m->nv + m->nu);
    rows_at(m, x->y[0], &x->G[0]);
    memcpy(x->y[1], x->y[0], n * sizeof **x->y);
    disturb(m, x->y[1]); /* a rank that drops at the start only is a singular pose, no redundancy */
    dae_status s = mbs_assemble(m, m->model->simulation.t0, x->y[1], NULL, NULL);
    if (s != DAE_OK) memcpy(x->y[1], x->y[0], n * sizeof **x->y);
    rows_at(m, x->y[1], &x->G[1]);
    mark_rows(m, x, mark);
    int changed = 0;
    for (int k = 0; k < m->nrows && s == DAE_OK; k++) {
        int null = 0;
        for (int i = 0; i < m->row[k].count; i++) null += mark[m->row[k].first + i];
        if (m->row[k].type != &mbs_row_coincide || !null || null == m->row[k].count) continue;
        carry(x, m, k, null);
        changed |= m->row[k].type == &mbs_row_carried;
    }
    for (int pose = 0; pose < 2 && changed; pose++) rows_at(m, x->y[pose], &x->G[pose]);
    if (changed) mark_rows(m, x, mark);
    return s;
}

dae_status mbs_find_redundant(mbs_builder *b, const double *y0)
{
    mbs_mechanism *m = b->m;
    size_t nrow = (size_t)m->nrow;
    if (!nrow || nrow > dense_limit || plain_tree(m)) return DAE_OK;
    directions x = {.y = {NULL}};
    unsigned char *mark = calloc(2 * nrow, 1);
    m->redundant = dae_arena_ints(m->arena, nrow);
    int ok = create(m, &x) && mark && m->redundant;
    if (ok) {
        sequence(m, x.order);
        memcpy(x.y[0], y0, (size_t)(m->np + m->nv + m->nu) * sizeof *y0);
        dae_status s = mbs_assemble(m, m->model->simulation.t0, x.y[0], NULL, NULL);
        int assembled = s == DAE_OK;
        if (assembled) s = find(m, &x, mark);
        for (int i = 0; assembled && i < m->nrow; i++) {
            if (mark[i]) m->redundant[m->nredundant++] = i;
        }
        ok = s != DAE_ERR_MEMORY && !x.s.starved;
    }
    destroy(&x);
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
