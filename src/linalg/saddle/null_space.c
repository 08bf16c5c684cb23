/* null_space: with G^T = [Y Z] [R; 0] (Householder) and B = [Y Z]^T M [Y Z],
 *
 *     w_Y = R^-T g,   B_ZZ w_Z = Z^T f - B_ZY w_Y  (Cholesky),   w = Y w_Y + Z w_Z,
 *     lambda = R^-1 (Y^T f - B_YY w_Y - B_YZ w_Z).
 *
 * M needs to be definite on the kernel of G only, so massless bodies are allowed. Good for few degrees
 * of freedom. */
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"

typedef struct null_space {
    double *Q;    /* nv x nl: reflections and R */
    double *tau;  /* nl */
    double *B;    /* nv x nv: Q^T M Q */
    double *A;    /* (nv-nl)^2: B_ZZ, factored */
    double *x;    /* nv */
    double *work; /* lwork */
    int lwork;
} null_space;

static dae_status create(dae_saddle *s, dae_error *err)
{
    null_space *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "null_space: out of memory");
    if (s->spec.nl > s->spec.nv) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "null_space: %d constraints on %d velocities", s->spec.nl,
                        s->spec.nv);
    }
    size_t nv = (size_t)s->spec.nv, nl = (size_t)s->spec.nl;
    d->Q = dae_arena_reals(s->arena, nv * nl);
    d->tau = dae_arena_reals(s->arena, nl);
    d->B = dae_arena_reals(s->arena, nv * nv);
    d->A = dae_arena_reals(s->arena, (nv - nl) * (nv - nl));
    d->x = dae_arena_reals(s->arena, nv);
    d->lwork = 64 * s->spec.nv + 64 * 65; /* dgeqrf and dormqr with block size 64 */
    d->work = dae_arena_reals(s->arena, (size_t)d->lwork);
    return DAE_OK;
}

/* Reflections from the left on all columns, from the right on all rows. */
static void transform_small(int nv, int nl, const double *Q, const double *tau, double *B, double *row)
{
    for (int j = 0; j < nv; j++) kernel_qt(nv, nl, Q, tau, B + (size_t)j * (size_t)nv);
    for (int i = 0; i < nv; i++) {
        for (int j = 0; j < nv; j++) row[j] = B[AT(i, j, nv)];
        kernel_qt(nv, nl, Q, tau, row);
        for (int j = 0; j < nv; j++) B[AT(i, j, nv)] = row[j];
    }
}

static int decompose(null_space *d, int nv, int nl)
{
    int info;
    if (nv < LARGE) {
        info = kernel_qr(nv, nl, d->Q, d->tau);
        if (!info) transform_small(nv, nl, d->Q, d->tau, d->B, d->x);
        return info;
    }
    dgeqrf_(&nv, &nl, d->Q, &nv, d->tau, d->work, &d->lwork, &info);
    for (int j = 0; j < nl; j++) {
        if (!(fabs(d->Q[AT(j, j, nv)]) > 0)) return j + 1;
    }
    dormqr_("L", "T", &nv, &nv, &nl, d->Q, &nv, d->tau, d->B, &nv, d->work, &d->lwork, &info, 1, 1);
    dormqr_("R", "N", &nv, &nv, &nl, d->Q, &nv, d->tau, d->B, &nv, d->work, &d->lwork, &info, 1, 1);
    return info;
}

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    null_space *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl, nz = nv - nl, info;
    (void)U;
    memset(d->Q, 0, (size_t)nv * (size_t)nl * sizeof *d->Q);
    memset(d->B, 0, (size_t)nv * (size_t)nv * sizeof *d->B);
    dae_saddle_expand(s, G, d->Q, nv, 1);
    dae_saddle_expand_mass(s, M, d->B, nv);
    info = decompose(d, nv, nl);
    if (info || !nz) return info;
    for (int j = 0; j < nz; j++)
        dae_copy(nz, d->B + nl + (size_t)(nl + j) * (size_t)nv, d->A + (size_t)j * (size_t)nz);
    if (nz < LARGE) info = kernel_cholesky(nz, d->A);
    else dpotrf_("L", &nz, d->A, &nz, &info, 1);
    return info ? nl + info : 0;
}

static void solve(dae_saddle *s, double *w, double *l)
{
    null_space *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl, nz = nv - nl;
    double *x = d->x;                   /* Q^T w */
    kernel_qt(nv, nl, d->Q, d->tau, w); /* Q^T f */
    kernel_upper_t(nl, d->Q, nv, l);    /* w_Y */
    dae_copy(nl, l, x);
    for (int j = 0; j < nl; j++) dae_axpy(nv, -x[j], d->B + (size_t)j * (size_t)nv, w);
    dae_copy(nz, w + nl, x + nl);
    kernel_lower(nz, d->A, nz, x + nl);
    kernel_lower_t(nz, d->A, nz, x + nl); /* w_Z */
    for (int j = nl; j < nv; j++) dae_axpy(nl, -x[j], d->B + (size_t)j * (size_t)nv, w);
    dae_copy(nl, w, l);
    kernel_upper(nl, d->Q, nv, l);
    dae_copy(nv, x, w);
    kernel_q(nv, nl, d->Q, d->tau, w);
}

const mode dae_saddle_null_space = {.name = "null_space", .create = create, .factor = factor, .solve = solve};
