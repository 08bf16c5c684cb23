/* dense_lu: LU with partial pivoting of the whole matrix [M U^T; G 0]. The only dense mode for
 * unsymmetric systems. */
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"

typedef struct dense_lu {
    int n;     /* nv + nl */
    double *a; /* n x n: the factors */
    int *piv;  /* n */
    double *x; /* n: right-hand side and solution */
} dense_lu;

static dae_status create(dae_saddle *s, dae_error *err)
{
    dense_lu *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "dense_lu: out of memory");
    d->n = s->spec.nv + s->spec.nl;
    size_t n = (size_t)d->n;
    d->a = dae_arena_reals(s->arena, n * n);
    d->piv = dae_arena_ints(s->arena, n);
    d->x = dae_arena_reals(s->arena, n);
    return DAE_OK;
}

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    dense_lu *d = s->data;
    int n = d->n, nv = s->spec.nv, info;
    memset(d->a, 0, (size_t)n * (size_t)n * sizeof *d->a);
    dae_saddle_expand_mass(s, M, d->a, n);
    dae_saddle_expand(s, G, d->a + nv, n, 0);
    dae_saddle_expand(s, U, d->a + (size_t)nv * (size_t)n, n, 1);
    if (n < LARGE) return kernel_lu(n, d->a, d->piv);
    dgetrf_(&n, &n, d->a, &n, d->piv, &info);
    return info;
}

static void solve(dae_saddle *s, double *w, double *l)
{
    dense_lu *d = s->data;
    int n = d->n, nv = s->spec.nv, nl = s->spec.nl, one = 1, info;
    dae_copy(nv, w, d->x);
    dae_copy(nl, l, d->x + nv);
    if (n < LARGE) kernel_lu_solve(n, d->a, d->piv, d->x);
    else dgetrs_("N", &n, &one, d->a, &n, d->piv, d->x, &n, &info, 1);
    dae_copy(nv, d->x, w);
    dae_copy(nl, d->x + nv, l);
}

const mode dae_saddle_dense_lu = {
    .name = "dense_lu", .unsymmetric = 1, .create = create, .factor = factor, .solve = solve};
