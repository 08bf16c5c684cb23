/* dense_ldlt: the symmetric indefinite factorization of Bunch and Kaufman of the whole matrix (LAPACK). */
#include "linalg/saddle/internal.h"
#include "linalg/saddle/kernel.h"

typedef struct dense_ldlt {
    int n;        /* nv + nl */
    double *a;    /* n x n: the factors, lower triangle */
    int *piv;     /* n */
    double *x;    /* n: right-hand side and solution */
    double *work; /* lwork */
    int lwork;
} dense_ldlt;

static dae_status create(dae_saddle *s, dae_error *err)
{
    dense_ldlt *d = saddle_data(s, sizeof *d);
    if (!d) return dae_fail(err, DAE_ERR_MEMORY, NAN, "dense_ldlt: out of memory");
    d->n = s->spec.nv + s->spec.nl;
    size_t n = (size_t)d->n;
    d->a = dae_arena_reals(s->arena, n * n);
    d->piv = dae_arena_ints(s->arena, n);
    d->x = dae_arena_reals(s->arena, n);
    d->lwork = d->n < LARGE ? d->n : 64 * d->n; /* 64: LAPACK's block size */
    d->work = dae_arena_reals(s->arena, (size_t)d->lwork);
    return DAE_OK;
}

static int factor(dae_saddle *s, const double *M, const double *G, const double *U)
{
    dense_ldlt *d = s->data;
    int n = d->n, info;
    (void)U;
    memset(d->a, 0, (size_t)n * (size_t)n * sizeof *d->a);
    dae_saddle_expand_mass(s, M, d->a, n);
    dae_saddle_expand(s, G, d->a + s->spec.nv, n, 0);
    dsytrf_("L", &n, d->a, &n, d->piv, d->work, &d->lwork, &info, 1);
    return info;
}

static void solve(dae_saddle *s, double *w, double *l)
{
    dense_ldlt *d = s->data;
    int n = d->n, nv = s->spec.nv, nl = s->spec.nl, one = 1, info;
    dae_copy(nv, w, d->x);
    dae_copy(nl, l, d->x + nv);
    dsytrs_("L", &n, &one, d->a, &n, d->piv, d->x, &n, &info, 1);
    dae_copy(nv, d->x, w);
    dae_copy(nl, d->x + nv, l);
}

const mode dae_saddle_dense_ldlt = {.name = "dense_ldlt", .create = create, .factor = factor, .solve = solve};
