#include "method/matrix_free.h"

#include "core/vector.h"
#include "linalg/krylov.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RELATIVE \
    0.05 /* [DASPK] sec. 3, EPLIN: part of the right-hand side that may be left over; the iteration mends it */
#define ABSOLUTE 1e-3 /* ours: of a tolerance */
#define SHARP 1e-5    /* ours: of a tolerance, for methods that do not iterate: extrapolation multiplies it */
#define CYCLES 5      /* ours: times that the space is built up anew */
#define NARROW 4      /* ours: diagonals on each side that a band preconditioner has by itself */
#define TRIES 4       /* ours: increments where f cannot be evaluated */

/* In the arena: what a checkpoint holds besides the arrays. */
typedef struct point {
    int seen;       /* there is one */
    double t, size; /* of it: time, and |y| */
    double relative, absolute;
} point;

struct dae_matrix_free {
    dae_ivp *ivp;
    dae_krylov krylov;
    dae_linear_solver solver;
    int values; /* J has values, which the preconditioner needs */
    point *at;
    double *y, *f, *x, *w; /* n each: the point, a point near it, tolerances (1 where there is none yet) */
};

/* ---- Products --------------------------------------------------------------------------------------- */

static int product(void *self, const double *v, double *Jv)
{
    struct dae_matrix_free *m = self;
    dae_ivp *ivp = m->ivp;
    int n = ivp->n, r = 1;
    double norm = dae_wrms(n, v, m->w);
    if (!m->at->seen || norm == 0) {
        dae_zero(n, Jv);
        return 0;
    }
    if (!isfinite(norm)) return 1;
    double s = fmax(1, sqrt(DBL_EPSILON) * m->at->size) / norm;
    for (int k = 0; k < TRIES && r > 0; k++) {
        if (k) s = s > 0 ? -s : -s / 10; /* the other side first, then nearer */
        for (int i = 0; i < n; i++) m->x[i] = m->y[i] + s * v[i];
        r = dae_ivp_f(ivp, m->at->t, m->x, Jv);
        ivp->stats->f--;
        ivp->stats->f_jac++;
    }
    if (r) return r;
    for (int i = 0; i < n; i++) Jv[i] = (Jv[i] - m->f[i]) / s;
    return 0;
}

static void weigh(struct dae_matrix_free *m, const double *y)
{
    const dae_ivp *ivp = m->ivp;
    for (int i = 0; i < ivp->n; i++) m->w[i] = ivp->atol[i] + ivp->rtol[i] * fabs(y[i]) + DBL_MIN;
}

int dae_matrix_free_at(dae_ivp *ivp, double t, const double *y, const double *f)
{
    struct dae_matrix_free *m = ivp->matrix_free;
    m->krylov.relative = m->at->relative = ivp->no_iteration ? 0 : RELATIVE;
    m->krylov.absolute = m->at->absolute = ivp->no_iteration ? SHARP : ABSOLUTE;
    weigh(m, y);
    if (!m->krylov.product) return 1;
    m->at->seen = 1;
    m->at->t = t;
    dae_copy(ivp->n, y, m->y);
    dae_copy(ivp->n, f, m->f);
    m->at->size = dae_wrms(ivp->n, y, m->w);
    return m->values;
}

int dae_matrix_free_values(const dae_ivp *ivp)
{
    return ivp->matrix_free->values;
}

/* ---- Create ------------------------------------------------------------------------------------------- */

static dae_status choose(dae_ivp *ivp, dae_krylov *k, int *values, dae_error *err)
{
    const dae_options *o = ivp->opt;
    const dae_pattern *given = &ivp->sys->structure.jacobian;
    const char *want = o->preconditioner ? o->preconditioner : "auto";
    int band = o->preconditioner_band, given_band = given->storage == DAE_BANDED;
    k->preconditioner = DAE_NO_PRECONDITIONER;
    ivp->jacobian = (dae_pattern){.storage = DAE_BANDED};
    if (o->linear_solver) {
        k->preconditioner = DAE_USER;
        k->user = o->linear_solver;
        if (given->storage != DAE_DENSE) ivp->jacobian = *given;
        *values = given->storage != DAE_DENSE;
        return DAE_OK;
    }
    if (!strcmp(want, "ilu") || (!strcmp(want, "auto") && given->storage == DAE_SPARSE)) {
        if (given->storage != DAE_SPARSE)
            return dae_fail(
                err, DAE_ERR_INPUT, NAN,
                "preconditioner = ilu needs the sparse pattern of the Jacobian, and the system gives "
                "none; use band or none, or give structure.jacobian");
        k->preconditioner = DAE_ILU;
        k->product = NULL;
        ivp->jacobian = *given;
        *values = 1;
        return DAE_OK;
    }
    if (!strcmp(want, "none") || (!strcmp(want, "auto") && !given_band)) return DAE_OK;
    k->preconditioner = DAE_BAND;
    ivp->jacobian.lower = band ? band : given_band && given->lower < NARROW ? given->lower : NARROW;
    ivp->jacobian.upper = band ? band : given_band && given->upper < NARROW ? given->upper : NARROW;
    if (ivp->jacobian.lower >= ivp->n) ivp->jacobian.lower = ivp->n - 1;
    if (ivp->jacobian.upper >= ivp->n) ivp->jacobian.upper = ivp->n - 1;
    *values = 1;
    return DAE_OK;
}

dae_status dae_matrix_free_create(dae_ivp *ivp, dae_error *err)
{
    size_t n = (size_t)ivp->n;
    struct dae_matrix_free *m = calloc(1, sizeof *m);
    ivp->matrix_free = m;
    if (!m) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for GMRES with %d equations", ivp->n);
    m->ivp = ivp;
    dae_krylov *k = &m->krylov;
    k->vectors = ivp->opt->krylov_vectors > 0 ? ivp->opt->krylov_vectors : 10;
    k->most = CYCLES * k->vectors;
    k->relative = RELATIVE;
    k->absolute = ABSOLUTE;
    k->product = product;
    k->self = m;
    k->second_order = ivp->sys->structure.second_order;
    k->iterations = &ivp->stats->krylov;
    dae_status s = choose(ivp, k, &m->values, err);
    if (s) return s;
    if (ivp->sys->kind == DAE_KIND_IDE && k->product)
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, NAN,
            "linear_algebra = krylov takes F(t,y,y') = 0 only with preconditioner = ilu and the sparse "
            "pattern of its Jacobians (structure.jacobian)");
    if (ivp->sys->structure.jacobian.columns > 0)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "linear_algebra = krylov does not take Jacobians with columns; use sparse");
    m->at = dae_arena_take(ivp->arena, 1, sizeof *m->at);
    m->w = dae_arena_reals(ivp->arena, n);
    if (k->product) {
        m->y = dae_arena_reals(ivp->arena, n);
        m->f = dae_arena_reals(ivp->arena, n);
        m->x = dae_arena_reals(ivp->arena, n);
    }
    if (dae_arena_failed(ivp->arena))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for GMRES with %d equations", ivp->n);
    for (size_t i = 0; i < n; i++) m->w[i] = 1;
    k->tolerance = m->w;
    m->solver = dae_krylov_solver(k);
    *m->at = (point){.relative = RELATIVE, .absolute = ABSOLUTE};
    ivp->linear_solver = &m->solver;
    return DAE_OK;
}

void dae_matrix_free_loaded(dae_ivp *ivp)
{
    struct dae_matrix_free *m = ivp->matrix_free;
    if (!m) return;
    m->krylov.relative = m->at->relative;
    m->krylov.absolute = m->at->absolute;
}

void dae_matrix_free_destroy(dae_ivp *ivp)
{
    free(ivp->matrix_free);
    ivp->matrix_free = NULL;
}
