/* pcg: preconditioned conjugate gradients, [MEXX] (3.18), (3.19):
 *
 *     (G M^-1 G^T) lambda = G M^-1 f - g,      w = M^-1 (f - G^T lambda),
 *
 * preconditioned by the anchor's matrix: z from [M0 G0^T; G0 0] (., z) = (0, -r) is
 * (G0 M0^-1 G0^T)^-1 r. (The report prints w = M^-1 f - G^T lambda and swaps G0 and its transpose.)
 * M must be definite. The residual is reduced to rounding level: an error of the iteration that varies between
 * the rows of an extrapolation tableau would destroy its expansion in h. Pays for many constraints. */
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"

#define STOP 1e-8 /* ours: relative residual of a pass in the norm of the preconditioner */
#define PASSES 2  /* ours: two passes come down to rounding level */
#define MOST 200  /* ours: iterations */

typedef struct pcg {
    dae_saddle *direct; /* the preconditioner: what "auto" takes */
    double *L;          /* blocks of M, factored */
    double *G;          /* values */
    int nG;
    double *b, *r, *z, *p, *q, *dl; /* nl each */
    double *x;                      /* nv */
} pcg;

static void destroy(void *data)
{
    pcg *d = data;
    dae_saddle_destroy(d->direct);
    free(d);
}

static dae_status create(dae_saddle *s, dae_error *err)
{
    pcg *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "pcg: out of memory");
    dae_saddle_spec spec = s->spec;
    spec.mode = "auto";
    spec.block = s->block;
    d->direct = dae_saddle_create(&spec, s->arena, err);
    if (!d->direct) return err ? err->status : DAE_ERR_MEMORY;
    size_t nl = (size_t)spec.nl;
    d->nG = spec.colptr ? spec.colptr[spec.nv] : spec.nl * spec.nv;
    d->L = dae_arena_reals(s->arena, (size_t)s->offset[spec.nblock]);
    d->G = dae_arena_reals(s->arena, (size_t)d->nG);
    d->b = dae_arena_reals(s->arena, nl);
    d->r = dae_arena_reals(s->arena, nl);
    d->z = dae_arena_reals(s->arena, nl);
    d->p = dae_arena_reals(s->arena, nl);
    d->q = dae_arena_reals(s->arena, nl);
    d->dl = dae_arena_reals(s->arena, nl);
    d->x = dae_arena_reals(s->arena, (size_t)spec.nv);
    snprintf(s->text, sizeof s->text, "pcg %d, preconditioned by %s", spec.nv + spec.nl,
             dae_saddle_mode(d->direct));
    return DAE_OK;
}

static int anchor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    pcg *d = s->data;
    (void)U;
    int bad = dae_saddle_stale(d->direct) ? dae_saddle_anchor(d->direct, M, G, NULL) : 0;
    return bad ? bad : dae_saddle_factor(d->direct, M, G, NULL);
}

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    pcg *d = s->data;
    (void)U;
    dae_copy(d->nG, G, d->G);
    dae_copy(s->offset[s->spec.nblock], M, d->L);
    for (int k = 0; k < s->spec.nblock; k++) {
        int info = kernel_cholesky(s->block[k], d->L + s->offset[k]);
        if (info) return s->first[k] + info;
    }
    return 0;
}

static void mass_solve(const dae_saddle *s, double *x)
{
    const pcg *d = s->data;
    for (int k = 0; k < s->spec.nblock; k++) {
        kernel_lower(s->block[k], d->L + s->offset[k], s->block[k], x + s->first[k]);
        kernel_lower_t(s->block[k], d->L + s->offset[k], s->block[k], x + s->first[k]);
    }
}

/* q = G M^-1 G^T p */
static void apply(const dae_saddle *s, const double *p, double *q)
{
    const pcg *d = s->data;
    dae_zero(s->spec.nv, d->x);
    dae_saddle_multiply_transposed(&s->spec, d->G, 1, p, d->x);
    mass_solve(s, d->x);
    dae_zero(s->spec.nl, q);
    dae_saddle_multiply(&s->spec, d->G, 1, d->x, q);
}

static void precondition(const dae_saddle *s, const double *r, double *z)
{
    const pcg *d = s->data;
    dae_zero(s->spec.nv, d->x);
    for (int i = 0; i < s->spec.nl; i++) z[i] = -r[i];
    dae_saddle_solve(d->direct, d->x, z);
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Conjugate gradients for S dl = r, added to l; r is destroyed. */
static void iterate(dae_saddle *s, double *l)
{
    pcg *d = s->data;
    int nl = s->spec.nl;
    precondition(s, d->r, d->z);
    dae_copy(nl, d->z, d->p);
    double rz = dot(nl, d->r, d->z), stop = STOP * STOP * rz;
    for (int k = 0; k < MOST && rz > stop; k++) {
        apply(s, d->p, d->q);
        double alpha = rz / dot(nl, d->p, d->q);
        dae_axpy(nl, alpha, d->p, l);
        dae_axpy(nl, -alpha, d->q, d->r);
        precondition(s, d->r, d->z);
        double next = dot(nl, d->r, d->z), beta = next / rz;
        for (int i = 0; i < nl; i++) d->p[i] = d->z[i] + beta * d->p[i];
        rz = next;
        s->state->analyses++;
    }
}

/* Every pass reduces the residual G w - g by STOP; the second one starts from it, not from a difference
 * of large numbers. */
static void solve(dae_saddle *s, double *w, double *l)
{
    pcg *d = s->data;
    int nv = s->spec.nv, nl = s->spec.nl;
    dae_copy(nl, l, d->b);
    dae_zero(nl, l);
    mass_solve(s, w);
    for (int pass = 0; pass < PASSES; pass++) {
        for (int i = 0; i < nl; i++) d->r[i] = -d->b[i];
        dae_saddle_multiply(&s->spec, d->G, 1, w, d->r);
        dae_zero(nl, d->dl);
        iterate(s, d->dl);
        dae_zero(nv, d->x);
        dae_saddle_multiply_transposed(&s->spec, d->G, 1, d->dl, d->x);
        mass_solve(s, d->x);
        dae_axpy(nv, -1, d->x, w);
        dae_axpy(nl, 1, d->dl, l);
    }
}

static int load(dae_saddle *s, const void *buffer, size_t size)
{
    pcg *d = s->data;
    return dae_saddle_load(d->direct, buffer, size);
}

static size_t save(const dae_saddle *s, void *buffer)
{
    const pcg *d = s->data;
    return dae_saddle_save(d->direct, buffer);
}

const mode dae_saddle_pcg = {.name = "pcg",
                             .renew = 1,
                             .create = create,
                             .anchor = anchor,
                             .factor = factor,
                             .solve = solve,
                             .destroy = destroy,
                             .save = save,
                             .load = load};
