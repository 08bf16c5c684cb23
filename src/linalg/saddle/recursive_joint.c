/* recursive_joint: elimination over the kinematic tree in joint velocities, O(bodies), [MEXX] (3.17).
 *
 * The joint equation G_k w_k + C_k w_j = g_k of body k with father j is solved for the body:
 *
 *     w_k = h_k - H_k w_j - J_k z_k,     G_k^T = [Y Z] [R; 0],  J_k = -Z,  H_k = Y R^-T C_k,  h_k = Y R^-T g_k
 *
 * where z_k are as many joint velocities as the joint leaves free. (A system with joint velocities among
 * its unknowns is of this form too: they are massless velocities of the body's block.) Sons first:
 *
 *     A = J^T M J, B = H^T M J, C = H^T M H (M = updated M_k);  A = L L^T;  J^T <- L^-1 J^T;  B^T <- L^-1 B^T
 *     M_j += C - B B^T
 *     f_k -= M_k h_k;  q_k = J_k^T f_k;  f_j += -H_k^T f_k + B_k q_k
 *
 * and then fathers first:
 *
 *     q_k += B_k^T w_j;  w_k = J_k q_k - H_k w_j;  lambda_k = R^-1 Y^T (f_k - M_k w_k);  w_k += h_k
 *
 * M_k needs to be definite only on the motions that its joint leaves free. */
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"
#include "linalg/saddle/tree.h"

typedef struct recursive {
    tree t;
    double *M;               /* blocks of M, updated */
    double *Q, *tau;         /* at G_at: n x m, reflections and R of G_k^T; at row_at: m */
    double *J;               /* at J_at: n x z, z = n - m */
    double *H;               /* at H_at: n x n_j */
    double *B;               /* at B_at: n_j x z */
    int *J_at, *H_at, *B_at; /* bodies+1 */
    double *q, *h;           /* joint part of each body, at z_at; nv */
    int *z_at;               /* bodies+1 */
    double *A, *W, *x;       /* work of one body: z x z, n x n_max, n_max + m_max */
    double *copy;            /* G of the last factorization, where there are loops */
    int ncopy;
} recursive;

static dae_status create(dae_saddle *s, dae_error *err)
{
    recursive *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "recursive_joint: out of memory");
    tree *t = &d->t;
    dae_status status = dae_tree_create(s, t, err);
    if (status) return status;
    dae_arena *a = s->arena;
    size_t nb = (size_t)t->bodies, most = (size_t)t->n_max;
    d->J_at = dae_arena_ints(a, nb + 1);
    d->H_at = dae_arena_ints(a, nb + 1);
    d->B_at = dae_arena_ints(a, nb + 1);
    d->z_at = dae_arena_ints(a, nb + 1);
    if (saddle_memory(s, err)) return DAE_ERR_MEMORY;
    for (int k = 0; k < t->bodies; k++) {
        int z = t->n[k] - t->m[k], up = t->father[k] >= 0 ? t->n[t->father[k]] : 0;
        if (z < 0) {
            return dae_fail(
                err, DAE_ERR_INPUT, NAN,
                "kinematic tree: the joint of body %d has %d rows for %d velocities; give the surplus rows "
                "to no joint (-1), as loop rows",
                k, t->m[k], t->n[k]);
        }
        d->z_at[k + 1] = d->z_at[k] + z;
        d->J_at[k + 1] = d->J_at[k] + t->n[k] * z;
        d->H_at[k + 1] = d->H_at[k] + t->n[k] * up;
        d->B_at[k + 1] = d->B_at[k] + up * z;
    }
    d->M = dae_arena_reals(a, (size_t)s->offset[nb]);
    d->Q = dae_arena_reals(a, (size_t)t->G_at[nb]);
    d->tau = dae_arena_reals(a, (size_t)t->row_at[nb]);
    d->J = dae_arena_reals(a, (size_t)d->J_at[nb]);
    d->H = dae_arena_reals(a, (size_t)d->H_at[nb]);
    d->B = dae_arena_reals(a, (size_t)d->B_at[nb]);
    d->q = dae_arena_reals(a, (size_t)d->z_at[nb]);
    d->h = dae_arena_reals(a, (size_t)s->spec.nv);
    d->A = dae_arena_reals(a, most * most);
    d->W = dae_arena_reals(a, most * most);
    d->x = dae_arena_reals(a, most + (size_t)t->m_max);
    d->ncopy = t->nloop ? (s->spec.colptr ? s->spec.colptr[s->spec.nv] : s->spec.nl * s->spec.nv) : 0;
    d->copy = dae_arena_reals(a, (size_t)d->ncopy);
    return DAE_OK;
}

static int anchor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    recursive *d = s->data;
    (void)M;
    (void)U;
    return dae_tree_check(s, &d->t, G);
}

/* C = A^T B, A: n x p, B: n x q. */
static void product_t(int n, int p, int q, const double *A, const double *B, double *C)
{
    for (int c = 0; c < q; c++) {
        for (int r = 0; r < p; r++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += A[i + r * n] * B[i + c * n];
            C[r + c * p] = sum;
        }
    }
}

/* W = M A, A: n x q. */
static void product(int n, int q, const double *M, const double *A, double *W)
{
    dae_zero(n * q, W);
    for (int c = 0; c < q; c++) {
        for (int i = 0; i < n; i++) dae_axpy(n, A[i + c * n], M + i * n, W + c * n);
    }
}

/* J_k and H_k from the QR decomposition of G_k^T. */
static int solve_joint(dae_saddle *s, recursive *d, int k, const double *G)
{
    tree *t = &d->t;
    int n = t->n[k], m = t->m[k], z = n - m, nj = t->father[k] >= 0 ? t->n[t->father[k]] : 0;
    double *Q = d->Q + t->G_at[k], *tau = d->tau + t->row_at[k], *J = d->J + d->J_at[k],
           *H = d->H + d->H_at[k];
    const int *map = t->G_map + t->G_at[k];
    (void)s;
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < m; i++, map++) Q[c + i * n] = *map >= 0 ? G[*map] : 0;
    }
    int info = kernel_qr(n, m, Q, tau);
    if (info) return info;
    dae_zero(n * z, J);
    for (int c = 0; c < z; c++) {
        J[m + c + c * n] = -1;
        kernel_q(n, m, Q, tau, J + c * n);
    }
    map = t->C_map + t->C_at[k];
    dae_zero(n * nj, H);
    for (int c = 0; c < nj; c++) {
        for (int i = 0; i < m; i++, map++) H[i + c * n] = *map >= 0 ? G[*map] : 0;
        kernel_upper_t(m, Q, n, H + c * n);
        kernel_q(n, m, Q, tau, H + c * n);
    }
    return 0;
}

static int eliminate(dae_saddle *s, recursive *d, int k)
{
    tree *t = &d->t;
    int n = t->n[k], z = n - t->m[k], j = t->father[k], nj = j >= 0 ? t->n[j] : 0;
    double *M = d->M + s->offset[k], *J = d->J + d->J_at[k], *H = d->H + d->H_at[k], *B = d->B + d->B_at[k];
    product(n, z, M, J, d->W);
    product_t(n, z, z, J, d->W, d->A);
    product_t(n, nj, z, H, d->W, B);
    int info = kernel_cholesky(z, d->A);
    if (info) return info;
    for (int i = 0; i < n; i++) { /* rows of J and B: J^T <- L^-1 J^T */
        for (int c = 0; c < z; c++) d->x[c] = J[i + c * n];
        kernel_lower(z, d->A, z, d->x);
        for (int c = 0; c < z; c++) J[i + c * n] = d->x[c];
    }
    for (int i = 0; i < nj; i++) {
        for (int c = 0; c < z; c++) d->x[c] = B[i + c * nj];
        kernel_lower(z, d->A, z, d->x);
        for (int c = 0; c < z; c++) B[i + c * nj] = d->x[c];
    }
    if (j < 0) return 0;
    double *Mj = d->M + s->offset[j];
    for (int c = 0; c < nj; c++) { /* column c of C = H^T M H, then - B B^T */
        product(n, 1, M, H + c * n, d->W);
        for (int r = 0; r < nj; r++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += H[i + r * n] * d->W[i];
            for (int i = 0; i < z; i++) sum -= B[r + i * nj] * B[c + i * nj];
            Mj[r + c * nj] += sum;
        }
    }
    return 0;
}

static void solve_tree(dae_saddle *s, double *w, double *l);

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    recursive *d = s->data;
    tree *t = &d->t;
    dae_copy(s->offset[t->bodies], M, d->M);
    for (int o = 0; o < t->bodies; o++) {
        int k = t->order[o];
        if (solve_joint(s, d, k, G) || eliminate(s, d, k)) return k + 1;
    }
    dae_copy(d->ncopy, G, d->copy);
    return dae_tree_close_loops(s, t, solve_tree, G, U);
}

static void forward(dae_saddle *s, recursive *d, int k, double *w, const double *l)
{
    const tree *t = &d->t;
    int n = t->n[k], m = t->m[k], z = n - m, j = t->father[k];
    const int *row = t->rows + t->row_at[k];
    const double *M = d->M + s->offset[k], *J = d->J + d->J_at[k], *H = d->H + d->H_at[k],
                 *B = d->B + d->B_at[k];
    double *f = w + s->first[k], *h = d->h + s->first[k], *q = d->q + d->z_at[k];
    for (int i = 0; i < m; i++) h[i] = l[row[i]];
    for (int i = m; i < n; i++) h[i] = 0;
    kernel_upper_t(m, d->Q + t->G_at[k], n, h);
    kernel_q(n, m, d->Q + t->G_at[k], d->tau + t->row_at[k], h);
    for (int i = 0; i < n; i++) dae_axpy(n, -h[i], M + i * n, f);
    for (int c = 0; c < z; c++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += J[i + c * n] * f[i];
        q[c] = sum;
    }
    for (int c = 0; j >= 0 && c < t->n[j]; c++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum -= H[i + c * n] * f[i];
        for (int i = 0; i < z; i++) sum += B[c + i * t->n[j]] * q[i];
        w[s->first[j] + c] += sum;
    }
}

static void backward(dae_saddle *s, recursive *d, int k, double *w, double *l)
{
    const tree *t = &d->t;
    int n = t->n[k], m = t->m[k], z = n - m, j = t->father[k], nj = j >= 0 ? t->n[j] : 0;
    const int *row = t->rows + t->row_at[k];
    const double *M = d->M + s->offset[k], *J = d->J + d->J_at[k], *H = d->H + d->H_at[k],
                 *B = d->B + d->B_at[k];
    const double *wj = j >= 0 ? w + s->first[j] : NULL;
    double *f = w + s->first[k], *q = d->q + d->z_at[k], *y = d->x;
    dae_zero(n, y);
    for (int c = 0; c < z; c++) {
        for (int i = 0; i < nj; i++) q[c] += B[i + c * nj] * wj[i];
        dae_axpy(n, q[c], J + c * n, y);
    }
    for (int c = 0; c < nj; c++) dae_axpy(n, -wj[c], H + c * n, y);
    for (int i = 0; i < n; i++) dae_axpy(n, -y[i], M + i * n, f);
    kernel_qt(n, m, d->Q + t->G_at[k], d->tau + t->row_at[k], f);
    kernel_upper(m, d->Q + t->G_at[k], n, f);
    for (int i = 0; i < m; i++) l[row[i]] = f[i];
    for (int i = 0; i < n; i++) f[i] = y[i] + d->h[s->first[k] + i];
}

static void solve_tree(dae_saddle *s, double *w, double *l)
{
    recursive *d = s->data;
    for (int o = 0; o < d->t.bodies; o++) forward(s, d, d->t.order[o], w, l);
    for (int o = d->t.bodies - 1; o >= 0; o--) backward(s, d, d->t.order[o], w, l);
}

static void solve(dae_saddle *s, double *w, double *l)
{
    recursive *d = s->data;
    dae_tree_solve(s, &d->t, solve_tree, d->copy, w, l);
}

const mode dae_saddle_recursive_joint = {
    .name = "recursive_joint", .create = create, .anchor = anchor, .factor = factor, .solve = solve};
