/* recursive_constraint: elimination over the kinematic tree in O(bodies), [MEXX] (3.10). For body k with
 * father j, sons first:
 *
 *     M_k = L_k L_k^T,  X_k = L_k^-1 G_k^T = Q [R_k; 0],  C_k <- R_k^-T C_k,  M_j += C_k^T C_k
 *     f_k <- L_k^-1 f_k,  g_k <- R_k^-T (X_k^T f_k - g_k),  f_j -= C_k^T g_k
 *
 * and then fathers first:  g_k += C_k w_j,  lambda_k = R_k^-1 g_k,  w_k = L_k^-T (f_k - X_k lambda_k).
 *
 * A body whose mass matrix is not definite (a massless point held by its joint), and every body of an
 * unsymmetric system, is eliminated by LU of its own saddle-point matrix K_k = [M_k U_k^T; G_k 0]
 * instead, which only needs K_k to be invertible (D_k is C_k taken from U):
 *
 *     E_k = K_k^-1 [0; C_k],  M_j -= D_k^T E_k,lambda
 *     (f_k, g_k) <- K_k^-1 (f_k, g_k),  f_j -= D_k^T g_k;      (w_k, lambda_k) = (f_k, g_k) - E_k w_j */
#include "linalg/kernel.h"
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"
#include "linalg/saddle/tree.h"

/* ---- Triangles whose diagonals hold reciprocals: chains of bodies wait for divisions otherwise -------- */

static inline void invert_diagonal(int n, double *T, int ld)
{
    for (int k = 0; k < n; k++) T[AT(k, k, ld)] = 1 / T[AT(k, k, ld)];
}

/* x = L^-1 x, x = L^-T x, x = R^-1 x, x = R^-T x */
static inline void solve_lower(int n, const double *L, int ld, double *x)
{
    for (int k = 0; k < n; k++) {
        const double *col = L + AT(0, k, ld);
        double y = x[k] *= col[k];
        for (int i = k + 1; i < n; i++) x[i] -= y * col[i];
    }
}

static inline void solve_lower_t(int n, const double *L, int ld, double *x)
{
    for (int k = n - 1; k >= 0; k--) {
        const double *col = L + AT(0, k, ld);
        double y = x[k];
        for (int i = k + 1; i < n; i++) y -= col[i] * x[i];
        x[k] = y * col[k];
    }
}

static inline void solve_upper(int n, const double *R, int ld, double *x)
{
    for (int k = n - 1; k >= 0; k--) {
        const double *col = R + AT(0, k, ld);
        double y = x[k] *= col[k];
        for (int i = 0; i < k; i++) x[i] -= y * col[i];
    }
}

static inline void solve_upper_t(int n, const double *R, int ld, double *x)
{
    for (int k = 0; k < n; k++) {
        const double *col = R + AT(0, k, ld);
        double y = x[k];
        for (int i = 0; i < k; i++) y -= col[i] * x[i];
        x[k] = y * col[k];
    }
}

/* ---- The mode ------------------------------------------------------------------------------------ */

typedef struct recursive {
    tree t;
    double *L;        /* blocks of M: updated, then factored; reciprocal diagonals */
    double *X;        /* at G_at: n x m */
    double *R;        /* at G_at: n x m, QR of X; reciprocal diagonals */
    double *C;        /* at C_at: m x n_j */
    double *D;        /* at C_at, LU bodies only */
    double *K;        /* at K_at: LU bodies, (n+m)^2 */
    double *E;        /* at E_at: LU bodies, (n+m) x n_j */
    int *K_at, *E_at; /* bodies+1 */
    int *piv;         /* at K_at rows: sum of n+m */
    int *piv_at;
    int *lu;         /* bodies: 1 if eliminated by LU */
    double *G, *U;   /* gathered G_k, U_k: m x n, work of one body */
    double *tau, *x; /* m_max; n_max + m_max */
    double *copy;    /* G of the last factorization, where there are loops */
    int ncopy;
} recursive;

static dae_status create(dae_saddle *s, dae_error *err)
{
    recursive *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "recursive_constraint: out of memory");
    tree *t = &d->t;
    dae_status status = dae_tree_create(s, t, err);
    if (status) return status;
    dae_arena *a = s->arena;
    size_t nb = (size_t)t->bodies;
    d->K_at = dae_arena_ints(a, nb + 1);
    d->E_at = dae_arena_ints(a, nb + 1);
    d->piv_at = dae_arena_ints(a, nb + 1);
    d->lu = dae_arena_ints(a, nb);
    if (saddle_memory(s, err)) return DAE_ERR_MEMORY;
    for (int k = 0; k < t->bodies; k++) {
        int size = t->n[k] + t->m[k], up = t->father[k] >= 0 ? t->n[t->father[k]] : 0;
        if (t->m[k] > t->n[k]) {
            return dae_fail(
                err, DAE_ERR_INPUT, NAN,
                "kinematic tree: the joint of body %d has %d rows for %d velocities; give the surplus rows "
                "to no joint (-1), as loop rows",
                k, t->m[k], t->n[k]);
        }
        d->K_at[k + 1] = d->K_at[k] + size * size;
        d->E_at[k + 1] = d->E_at[k] + size * up;
        d->piv_at[k + 1] = d->piv_at[k] + size;
    }
    d->L = dae_arena_reals(a, (size_t)s->offset[nb]);
    d->X = dae_arena_reals(a, (size_t)t->G_at[nb]);
    d->R = dae_arena_reals(a, (size_t)t->G_at[nb]);
    d->C = dae_arena_reals(a, (size_t)t->C_at[nb]);
    d->D = dae_arena_reals(a, (size_t)t->C_at[nb]);
    d->K = dae_arena_reals(a, (size_t)d->K_at[nb]);
    d->E = dae_arena_reals(a, (size_t)d->E_at[nb]);
    d->piv = dae_arena_ints(a, (size_t)d->piv_at[nb]);
    size_t most = (size_t)t->n_max + (size_t)t->m_max;
    d->G = dae_arena_reals(a, most * most);
    d->U = dae_arena_reals(a, most * most);
    d->tau = dae_arena_reals(a, most);
    d->x = dae_arena_reals(a, most);
    d->ncopy = t->nloop ? (s->spec.colptr ? s->spec.colptr[s->spec.nv] : s->spec.nl * s->spec.nv) : 0;
    d->copy = dae_arena_reals(a, (size_t)d->ncopy);
    return DAE_OK;
}

static int anchor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    recursive *d = s->data;
    (void)M;
    int bad = dae_tree_check(s, &d->t, G);
    return bad || U == G ? bad : dae_tree_check(s, &d->t, U);
}

/* ---- Decomposition ------------------------------------------------------------------------------- */

/* The functions ..._body are compiled for the sizes of a revolute joint, planar (3 velocities, 2 rows) and spatial (6, 5),
 * where the compiler unrolls the loops, and once for all others. */

/* The regular way; returns 0 if M_k turned out not to be definite. In: d->G = G_k, C = C_k. n, m: sizes of body k,
 * nj: of its father. */
DAE_KERNEL_BODY int cholesky_body(dae_saddle *s, recursive *d, int k, int *info, int n, int m, int nj)
{
    const tree *t = &d->t;
    int j = t->father[k];
    double *L = d->L + s->offset[k], *X = d->X + t->G_at[k], *R = d->R + t->G_at[k], *C = d->C + t->C_at[k];
    double *keep = d->U; /* M_k, in case it is not definite */
    dae_copy(n * n, L, keep);
    if (kernel_cholesky(n, L)) {
        dae_copy(n * n, keep, L);
        return 0;
    }
    invert_diagonal(n, L, n);
    for (int i = 0; i < m; i++) {
        for (int c = 0; c < n; c++) X[c + i * n] = d->G[i + c * m];
        solve_lower(n, L, n, X + i * n);
    }
    dae_copy(n * m, X, R);
    *info = kernel_qr(n, m, R, d->tau);
    if (*info) return 1;
    invert_diagonal(m, R, n);
    if (j < 0) return 1;
    double *Mj = d->L + s->offset[j];
    for (int c = 0; c < nj; c++) solve_upper_t(m, R, n, C + c * m);
    for (int c = 0; c < nj; c++) {
        for (int r = 0; r < nj; r++) {
            double sum = 0;
            for (int i = 0; i < m; i++) sum += C[i + r * m] * C[i + c * m];
            Mj[r + c * nj] += sum;
        }
    }
    return 1;
}

static int eliminate_by_cholesky(dae_saddle *s, recursive *d, int k, int *info)
{
    const tree *t = &d->t;
    int n = t->n[k], m = t->m[k], nj = t->father[k] >= 0 ? t->n[t->father[k]] : n;
    if (n == 3 && m == 2 && nj == 3) return cholesky_body(s, d, k, info, 3, 2, 3);
    if (n == 6 && m == 5 && nj == 6) return cholesky_body(s, d, k, info, 6, 5, 6);
    return cholesky_body(s, d, k, info, n, m, nj);
}

static int eliminate_by_lu(dae_saddle *s, recursive *d, int k)
{
    const tree *t = &d->t;
    int n = t->n[k], m = t->m[k], j = t->father[k], size = n + m;
    const double *M = d->L + s->offset[k], *C = d->C + t->C_at[k], *D = d->D + t->C_at[k];
    double *K = d->K + d->K_at[k], *E = d->E + d->E_at[k];
    dae_zero(size * size, K);
    for (int c = 0; c < n; c++) {
        dae_copy(n, M + c * n, K + c * size);
        dae_copy(m, d->G + c * m, K + n + c * size);
        for (int i = 0; i < m; i++) K[c + (n + i) * size] = d->U[i + c * m];
    }
    int info = kernel_lu(size, K, d->piv + d->piv_at[k]);
    if (info || j < 0) return info;
    int nj = t->n[j];
    double *Mj = d->L + s->offset[j];
    for (int c = 0; c < nj; c++) {
        double *e = E + c * size;
        dae_zero(n, e);
        dae_copy(m, C + c * m, e + n);
        kernel_lu_solve(size, K, d->piv + d->piv_at[k], e);
        for (int r = 0; r < nj; r++) {
            double sum = 0;
            for (int i = 0; i < m; i++) sum += D[i + r * m] * e[n + i];
            Mj[r + c * nj] -= sum;
        }
    }
    return 0;
}

static void solve_tree(dae_saddle *s, double *w, double *l);

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    recursive *d = s->data;
    tree *t = &d->t;
    int info = 0;
    dae_copy(s->offset[t->bodies], M, d->L);
    for (int o = 0; o < t->bodies; o++) {
        int k = t->order[o], entries = t->n[k] * t->m[k], up = t->C_at[k + 1] - t->C_at[k];
        dae_tree_gather(t->G_map + t->G_at[k], entries, G, d->G);
        dae_tree_gather(t->C_map + t->C_at[k], up, G, d->C + t->C_at[k]);
        d->lu[k] = s->spec.unsymmetric || !eliminate_by_cholesky(s, d, k, &info);
        if (d->lu[k]) {
            dae_tree_gather(t->G_map + t->G_at[k], entries, U, d->U);
            dae_tree_gather(t->C_map + t->C_at[k], up, U, d->D + t->C_at[k]);
            info = eliminate_by_lu(s, d, k);
        }
        if (info) return k + 1;
    }
    dae_copy(d->ncopy, G, d->copy);
    return dae_tree_close_loops(s, t, solve_tree, G, U);
}

/* ---- Solution ------------------------------------------------------------------------------------ */

DAE_KERNEL_BODY void forward_body(dae_saddle *s, const recursive *d, int k, double *w, double *l, int n,
                                  int m, int nj)
{
    const tree *t = &d->t;
    int j = t->father[k];
    const int *row = t->rows + t->row_at[k];
    const double *C = (d->lu[k] ? d->D : d->C) + t->C_at[k];
    double *f = w + s->first[k], *x = d->x;
    if (d->lu[k]) {
        dae_copy(n, f, x);
        for (int i = 0; i < m; i++) x[n + i] = l[row[i]];
        kernel_lu_solve(n + m, d->K + d->K_at[k], d->piv + d->piv_at[k], x);
        dae_copy(n, x, f);
        x += n;
    } else {
        const double *X = d->X + t->G_at[k];
        solve_lower(n, d->L + s->offset[k], n, f);
        for (int i = 0; i < m; i++) {
            double sum = -l[row[i]];
            for (int c = 0; c < n; c++) sum += X[c + i * n] * f[c];
            x[i] = sum;
        }
        solve_upper_t(m, d->R + t->G_at[k], n, x);
    }
    for (int i = 0; i < m; i++) l[row[i]] = x[i];
    if (j < 0) return;
    double *fj = w + s->first[j];
    for (int c = 0; c < nj; c++) {
        double sum = 0;
        for (int i = 0; i < m; i++) sum += C[i + c * m] * x[i];
        fj[c] -= sum;
    }
}

DAE_KERNEL_BODY void backward_body(dae_saddle *s, const recursive *d, int k, double *w, double *l, int n,
                                   int m, int nj)
{
    const tree *t = &d->t;
    int j = t->father[k];
    const int *row = t->rows + t->row_at[k];
    double *wk = w + s->first[k], *x = d->x;
    if (d->lu[k]) {
        int size = n + m;
        for (int c = 0; j >= 0 && c < nj; c++) {
            const double *e = d->E + d->E_at[k] + c * size;
            double y = w[s->first[j] + c];
            for (int i = 0; i < n; i++) wk[i] -= y * e[i];
            for (int i = 0; i < m; i++) l[row[i]] -= y * e[n + i];
        }
        return;
    }
    const double *C = d->C + t->C_at[k], *X = d->X + t->G_at[k];
    for (int i = 0; i < m; i++) x[i] = l[row[i]];
    for (int c = 0; j >= 0 && c < nj; c++) dae_axpy(m, w[s->first[j] + c], C + c * m, x);
    solve_upper(m, d->R + t->G_at[k], n, x);
    for (int i = 0; i < m; i++) {
        dae_axpy(n, -x[i], X + i * n, wk);
        l[row[i]] = x[i];
    }
    solve_lower_t(n, d->L + s->offset[k], n, wk);
}

static void forward(dae_saddle *s, const recursive *d, int k, double *w, double *l)
{
    const tree *t = &d->t;
    int n = t->n[k], m = t->m[k], nj = t->father[k] >= 0 ? t->n[t->father[k]] : n;
    if (n == 3 && m == 2 && nj == 3) forward_body(s, d, k, w, l, 3, 2, 3);
    else if (n == 6 && m == 5 && nj == 6) forward_body(s, d, k, w, l, 6, 5, 6);
    else forward_body(s, d, k, w, l, n, m, nj);
}

static void backward(dae_saddle *s, const recursive *d, int k, double *w, double *l)
{
    const tree *t = &d->t;
    int n = t->n[k], m = t->m[k], nj = t->father[k] >= 0 ? t->n[t->father[k]] : n;
    if (n == 3 && m == 2 && nj == 3) backward_body(s, d, k, w, l, 3, 2, 3);
    else if (n == 6 && m == 5 && nj == 6) backward_body(s, d, k, w, l, 6, 5, 6);
    else backward_body(s, d, k, w, l, n, m, nj);
}

static void solve_tree(dae_saddle *s, double *w, double *l)
{
    const recursive *d = s->data;
    for (int o = 0; o < d->t.bodies; o++) forward(s, d, d->t.order[o], w, l);
    for (int o = d->t.bodies - 1; o >= 0; o--) backward(s, d, d->t.order[o], w, l);
}

static void solve(dae_saddle *s, double *w, double *l)
{
    recursive *d = s->data;
    dae_tree_solve(s, &d->t, solve_tree, d->copy, w, l);
}

const mode dae_saddle_recursive_constraint = {.name = "recursive_constraint",
                                              .unsymmetric = 1,
                                              .create = create,
                                              .anchor = anchor,
                                              .factor = factor,
                                              .solve = solve};
