/* block_elimination: [MEXX] (3.3), (3.4). The velocities are split into w = (y, z) such that
 * G = (K J) with K square and invertible. With Jb = K^-1 J and hb = K^-1 g
 *
 *     y = hb - Jb z,     A z = r,    A = [-Jb; I]^T M [-Jb; I],   r = [-Jb; I]^T (f - M (hb, 0)),
 *     K^T lambda = f_y - (M w)_y.
 *
 * In the report z are joint velocities, which have no mass, and A = Jb^T M Jb is the mass matrix of the
 * minimal form. Here the split is found at the anchor, by elimination with complete pivoting; among equal
 * pivots a velocity with mass goes into y. So the mode serves every system. A matrix for which that
 * K is nearly singular gets a split of its own. The report's program returned no lambda in this mode. */
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"

/* ours: the anchor is stale if the smallest pivot of K falls below this part of its own there, */
#define WORSE 1e-2
#define WORST 1e-3 /* and does not serve below this one */

typedef struct block_elimination {
    int *order;    /* nv: velocities, first those of y (nl), then those of z */
    int *place;    /* nv: where each velocity is in order */
    int *anchor;   /* nv: order of the anchor */
    double *size;  /* smallest pivot of K at the anchor; 1 if the present order is not the anchor's */
    double *K;     /* nl x nl, factored */
    int *piv;      /* nl */
    double *J;     /* nl x nz: K^-1 J */
    double *M;     /* nv x nv in the new order */
    double *P;     /* nl x nz: M_yy Jb - M_yz */
    double *A;     /* nz x nz, factored */
    double *G;     /* nl x nv work */
    double *x, *c; /* nv each */
} block_elimination;

static dae_status create(dae_saddle *s, dae_error *err)
{
    block_elimination *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "block_elimination: out of memory");
    if (s->spec.nl > s->spec.nv) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "block_elimination: %d constraints on %d velocities",
                        s->spec.nl, s->spec.nv);
    }
    size_t nv = (size_t)s->spec.nv, nl = (size_t)s->spec.nl, nz = nv - nl;
    d->order = dae_arena_ints(s->arena, nv);
    d->place = dae_arena_ints(s->arena, nv);
    d->anchor = dae_arena_ints(s->arena, nv);
    d->size = dae_arena_reals(s->arena, 2);
    d->piv = dae_arena_ints(s->arena, nl);
    d->K = dae_arena_reals(s->arena, nl * nl);
    d->J = dae_arena_reals(s->arena, nl * nz);
    d->M = dae_arena_reals(s->arena, nv * nv);
    d->P = dae_arena_reals(s->arena, nl * nz);
    d->A = dae_arena_reals(s->arena, nz * nz);
    d->G = dae_arena_reals(s->arena, nl * nv);
    d->x = dae_arena_reals(s->arena, nv);
    d->c = dae_arena_reals(s->arena, nv);
    return DAE_OK;
}

/* The largest remaining entry of G, of a velocity with mass if there are several. */
static void largest(const block_elimination *d, int nl, int nv, int step, int *row, int *col)
{
    double best = 0;
    int with_mass = 0;
    *row = *col = -1;
    for (int j = step; j < nv; j++) {
        for (int i = step; i < nl; i++) {
            double x = fabs(d->G[AT(i, j, nl)]);
            int mass = d->c[j] != 0;
            if (!(x > best || (x == best && x > 0 && mass > with_mass))) continue;
            best = x;
            with_mass = mass;
            *row = i;
            *col = j;
        }
    }
}

static void swap_columns(block_elimination *d, int nl, int j, int k)
{
    if (j == k) return;
    int o = d->order[j];
    d->order[j] = d->order[k];
    d->order[k] = o;
    double x = d->c[j];
    d->c[j] = d->c[k];
    d->c[k] = x;
    for (int i = 0; i < nl; i++) {
        double *a = d->G + i + (size_t)j * (size_t)nl, *b = d->G + i + (size_t)k * (size_t)nl;
        x = *a;
        *a = *b;
        *b = x;
    }
}

/* Finds the split of this matrix. */
static int split(dae_saddle *s, const double *M, const double *G)
{
    block_elimination *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl;
    memset(d->G, 0, (size_t)nl * (size_t)nv * sizeof *d->G);
    dae_saddle_expand(s, G, d->G, nl, 0);
    for (int k = 0; k < s->spec.nblock; k++) { /* c: mass of each velocity, 0 where its row of M is zero */
        int n = s->block[k];
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int i = 0; i < n; i++) sum += fabs(M[s->offset[k] + i + j * n]);
            d->c[s->first[k] + j] = sum;
        }
    }
    for (int j = 0; j < nv; j++) d->order[j] = j;
    for (int k = 0; k < nl; k++) {
        int row, col;
        largest(d, nl, nv, k, &row, &col);
        if (row < 0) return k + 1;
        swap_columns(d, nl, k, col);
        for (int j = k; j < nv; j++) {
            double *c = d->G + (size_t)j * (size_t)nl, x = c[k];
            c[k] = c[row];
            c[row] = x;
        }
        for (int i = k + 1; i < nl; i++) {
            double factor = d->G[AT(i, k, nl)] / d->G[AT(k, k, nl)];
            if (factor == 0) continue;
            for (int j = k; j < nv; j++) d->G[AT(i, j, nl)] -= factor * d->G[AT(k, j, nl)];
        }
    }
    for (int j = 0; j < nv; j++) d->place[d->order[j]] = j;
    return 0;
}

static void use_order(block_elimination *d, int nv)
{
    for (int j = 0; j < nv; j++) d->order[j] = d->anchor[j];
    for (int j = 0; j < nv; j++) d->place[d->order[j]] = j;
}

/* K and J of the present order; K factored, J = K^-1 J. */
static int factor_K(dae_saddle *s, const double *G)
{
    block_elimination *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl, nz = nv - nl, info;
    memset(d->G, 0, (size_t)nl * (size_t)nv * sizeof *d->G);
    dae_saddle_expand(s, G, d->G, nl, 0);
    for (int j = 0; j < nl; j++) dae_copy(nl, d->G + AT(0, d->order[j], nl), d->K + AT(0, j, nl));
    for (int j = 0; j < nz; j++) dae_copy(nl, d->G + AT(0, d->order[nl + j], nl), d->J + AT(0, j, nl));
    if (nl < LARGE) info = kernel_lu(nl, d->K, d->piv);
    else dgetrf_(&nl, &nl, d->K, &nl, d->piv, &info);
    return info;
}

static double smallest_pivot(const block_elimination *d, int nl)
{
    double size = INFINITY;
    for (int k = 0; k < nl; k++) size = fmin(size, fabs(d->K[AT(k, k, nl)]));
    return size;
}

static int anchor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    block_elimination *d = s->data;
    int nv = s->spec.nv;
    (void)U;
    int info = split(s, M, G);
    if (!info) info = factor_K(s, G);
    if (info) return info;
    for (int j = 0; j < nv; j++) d->anchor[j] = d->order[j];
    d->size[0] = smallest_pivot(d, s->spec.nl);
    d->size[1] = 0; /* 1: the present order is not the anchor's */
    return 0;
}

static void permuted_mass(dae_saddle *s, const double *M)
{
    block_elimination *d = s->data;
    size_t nv = (size_t)s->spec.nv;
    memset(d->M, 0, nv * nv * sizeof *d->M);
    for (int k = 0; k < s->spec.nblock; k++) {
        int n = s->block[k], first = s->first[k];
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) {
                d->M[(size_t)d->place[first + i] + (size_t)d->place[first + j] * nv] =
                    M[s->offset[k] + i + j * n];
            }
        }
    }
}

/* A = M_zz - P^T-like products: with P = M_yy Jb - M_yz,  A = M_zz + Jb^T P - M_zy Jb. */
static int reduce(dae_saddle *s)
{
    block_elimination *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl, nz = nv - nl, info;
    const double *M = d->M;
    size_t ld = (size_t)nv;
    for (int k = 0; k < nz; k++) {
        const double *J = d->J + (size_t)k * (size_t)nl;
        double *P = d->P + (size_t)k * (size_t)nl, *A = d->A + (size_t)k * (size_t)nz;
        for (int i = 0; i < nl; i++) P[i] = -M[(size_t)i + (size_t)(nl + k) * ld];
        dae_copy(nz, M + nl + (size_t)(nl + k) * ld, A);
        for (int j = 0; j < nl; j++) {
            if (J[j] == 0) continue;
            dae_axpy(nl, J[j], M + (size_t)j * ld, P);
            dae_axpy(nz, -J[j], M + nl + (size_t)j * ld, A);
        }
        for (int i = 0; i < nz; i++) {
            const double *Ji = d->J + (size_t)i * (size_t)nl;
            double sum = 0;
            for (int j = 0; j < nl; j++) sum += Ji[j] * P[j];
            A[i] += sum;
        }
    }
    if (nz < LARGE) info = kernel_cholesky(nz, d->A);
    else dpotrf_("L", &nz, d->A, &nz, &info, 1);
    return info ? nl + info : 0;
}

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    block_elimination *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl, nz = nv - nl, info;
    (void)U;
    if (d->size[1] != 0) use_order(d, nv);
    d->size[1] = 0;
    info = factor_K(s, G);
    double size = info ? 0 : smallest_pivot(d, nl);
    if (nl && !(size > WORSE * d->size[0])) s->state->stale = 1;
    if (nl && !(size > WORST * d->size[0])) {
        info = split(s, M, G);
        if (!info) info = factor_K(s, G);
        d->size[1] = 1;
    }
    if (info) return info;
    if (nl < LARGE) {
        for (int j = 0; j < nz; j++) kernel_lu_solve(nl, d->K, d->piv, d->J + AT(0, j, nl));
    } else if (nz) {
        dgetrs_("N", &nl, &nz, d->K, &nl, d->piv, d->J, &nl, &info, 1);
    }
    permuted_mass(s, M);
    return nz ? reduce(s) : 0;
}

/* x = K^-T x from the factors P K = L U. */
static void solve_transposed(const block_elimination *d, int nl, double *x)
{
    int one = 1, info;
    if (nl >= LARGE) {
        dgetrs_("T", &nl, &one, d->K, &nl, d->piv, x, &nl, &info, 1);
        return;
    }
    kernel_lu_solve_t(nl, d->K, d->piv, x);
}

static void solve(dae_saddle *s, double *w, double *l)
{
    block_elimination *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl, nz = nv - nl, one = 1, info;
    double *x = d->x, *z = d->x + nl, *f = d->c;
    for (int j = 0; j < nv; j++) f[j] = w[d->order[j]];
    if (nl < LARGE) kernel_lu_solve(nl, d->K, d->piv, l);
    else dgetrs_("N", &nl, &one, d->K, &nl, d->piv, l, &nl, &info, 1);
    dae_copy(nl, l, x);                                                                 /* hb */
    for (int j = 0; j < nl; j++) dae_axpy(nv, -x[j], d->M + (size_t)j * (size_t)nv, f); /* f - M (hb, 0) */
    for (int k = 0; k < nz; k++) {
        const double *J = d->J + (size_t)k * (size_t)nl;
        double sum = f[nl + k];
        for (int i = 0; i < nl; i++) sum -= J[i] * f[i];
        z[k] = sum;
    }
    kernel_lower(nz, d->A, nz, z);
    kernel_lower_t(nz, d->A, nz, z);
    dae_copy(nl, f, l);
    for (int k = 0; k < nz; k++) {
        dae_axpy(nl, -z[k], d->J + (size_t)k * (size_t)nl, x);
        dae_axpy(nl, z[k], d->P + (size_t)k * (size_t)nl, l);
    }
    solve_transposed(d, nl, l);
    for (int j = 0; j < nv; j++) w[d->order[j]] = x[j];
}

const mode dae_saddle_block_elimination = {
    .name = "block_elimination", .create = create, .anchor = anchor, .factor = factor, .solve = solve};
