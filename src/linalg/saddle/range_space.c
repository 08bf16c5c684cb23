/* range_space: [MEXX] (3.2). With M = L L^T (block by block), X = L^-1 G^T and X = Q [R; 0],
 *
 *     b = L^-1 f,   R^T R lambda = X^T b - g,   w = L^-T (b - X lambda).
 *
 * M must be definite. Good for many velocities and few constraints. */
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"

typedef struct range_space {
    double *L;    /* the blocks of M, factored */
    double *X;    /* nv x nl */
    double *R;    /* nv x nl: its QR decomposition, of which only R is used */
    double *tau;  /* nl */
    double *work; /* lwork */
    int lwork;
} range_space;

static dae_status create(dae_saddle *s, dae_error *err)
{
    range_space *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "range_space: out of memory");
    if (s->spec.nl > s->spec.nv) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "range_space: %d constraints on %d velocities", s->spec.nl,
                        s->spec.nv);
    }
    size_t nv = (size_t)s->spec.nv, nl = (size_t)s->spec.nl;
    d->L = dae_arena_reals(s->arena, (size_t)s->offset[s->spec.nblock]);
    d->X = dae_arena_reals(s->arena, nv * nl);
    d->R = dae_arena_reals(s->arena, nv * nl);
    d->tau = dae_arena_reals(s->arena, nl);
    d->lwork = 64 * s->spec.nl + 1;
    d->work = dae_arena_reals(s->arena, (size_t)d->lwork);
    return DAE_OK;
}

static int factor_mass(dae_saddle *s, const double *M)
{
    range_space *d = s->data;
    dae_copy(s->offset[s->spec.nblock], M, d->L);
    for (int k = 0; k < s->spec.nblock; k++) {
        int n = s->block[k], info;
        double *L = d->L + s->offset[k];
        if (n < LARGE) info = kernel_cholesky(n, L);
        else dpotrf_("L", &n, L, &n, &info, 1);
        if (info) return s->first[k] + info;
    }
    return 0;
}

/* x = L^-1 x, all blocks; then its transpose. */
static void lower(const dae_saddle *s, const double *L, double *x)
{
    for (int k = 0; k < s->spec.nblock; k++)
        kernel_lower(s->block[k], L + s->offset[k], s->block[k], x + s->first[k]);
}

static void lower_t(const dae_saddle *s, const double *L, double *x)
{
    for (int k = 0; k < s->spec.nblock; k++)
        kernel_lower_t(s->block[k], L + s->offset[k], s->block[k], x + s->first[k]);
}

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    range_space *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl, info = factor_mass(s, M);
    (void)U;
    if (info) return info;
    memset(d->X, 0, (size_t)nv * (size_t)nl * sizeof *d->X);
    dae_saddle_expand(s, G, d->X, nv, 1);
    for (int j = 0; j < nl; j++) lower(s, d->L, d->X + (size_t)j * (size_t)nv);
    memcpy(d->R, d->X, (size_t)nv * (size_t)nl * sizeof *d->X);
    if (nv < LARGE) return kernel_qr(nv, nl, d->R, d->tau);
    dgeqrf_(&nv, &nl, d->R, &nv, d->tau, d->work, &d->lwork, &info);
    for (int j = 0; j < nl; j++) {
        if (!(fabs(d->R[AT(j, j, nv)]) > 0)) return j + 1;
    }
    return info;
}

static void solve(dae_saddle *s, double *w, double *l)
{
    range_space *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl;
    lower(s, d->L, w);
    for (int j = 0; j < nl; j++) {
        const double *col = d->X + (size_t)j * (size_t)nv;
        double sum = -l[j];
        for (int i = 0; i < nv; i++) sum += col[i] * w[i];
        l[j] = sum;
    }
    kernel_upper_t(nl, d->R, nv, l);
    kernel_upper(nl, d->R, nv, l);
    for (int j = 0; j < nl; j++) dae_axpy(nv, -l[j], d->X + (size_t)j * (size_t)nv, w);
    lower_t(s, d->L, w);
}

const mode dae_saddle_range_space = {
    .name = "range_space", .create = create, .factor = factor, .solve = solve};
