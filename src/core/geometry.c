#include "core/geometry.h"

#include "core/arena.h"
#include "core/error.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>

#define DIRECTIONS 2
/* ours: differences are good to 1e-5 or better; a wrong term is seldom smaller than this */
#define DIFFERS 1e-3
/* Rows that vanish where the mechanism is singular: below this, relative to the largest, they are rounding. */
#define VANISHES 1e-6
#define ROUNDING 64 /* ours: roundings in g, whose terms are taken to be of size 1 where it is smaller */

typedef struct geometry {
    const dae_mech *m;
    double t;
    double *p, *q, *pdot;   /* np: p with quaternions of length 1, the place of a difference, T w */
    double *w;              /* nv: the direction */
    double *C;              /* the matrix, dense or in the pattern of G */
    double *along, *size;   /* nlambda: C w, and the sum of |C_ij w_j| */
    double *g, *fore, *aft; /* ng */
    double noise;           /* of the differences, by rounding */
    void *cache;
} geometry;

static int take(geometry *x, const double *p, dae_arena *a)
{
    const dae_mech *m = x->m;
    size_t np = (size_t)m->np, nl = (size_t)m->nlambda, ng = (size_t)m->ng;
    size_t n = m->G_colptr ? (size_t)m->G_colptr[m->nv] : nl * (size_t)m->nv;
    x->p = dae_arena_copy(a, p, np, sizeof *p);
    x->q = dae_arena_reals(a, np);
    x->pdot = dae_arena_reals(a, np);
    x->w = dae_arena_reals(a, (size_t)m->nv);
    x->C = dae_arena_reals(a, n);
    x->along = dae_arena_reals(a, nl);
    x->size = dae_arena_reals(a, nl);
    x->g = dae_arena_reals(a, ng);
    x->fore = dae_arena_reals(a, ng);
    x->aft = dae_arena_reals(a, ng);
    if (m->cache_size) x->cache = dae_arena_take(a, 1, m->cache_size);
    return dae_arena_failed(a);
}

static int evaluate(geometry *x, const double *p, double *g, double *G)
{
    const dae_mech *m = x->m;
    dae_mech_point at = {.t = x->t, .p = p, .cache = x->cache};
    int separate = G && m->position_jacobian, r = 0;
    if (separate) r = m->position_jacobian(&at, G, m->user);
    if (separate) G = NULL;
    if (!r) r = m->G_colptr ? m->constraint_sparse(&at, g, G, m->user) : m->constraint(&at, g, G, m->user);
    return r ? r : !dae_all_finite(m->ng, g);
}

/* Values between 1/2 and 3/2 of both signs, so that no entry of a row is overlooked and rows seldom cancel. */
static void direction(geometry *x, unsigned k)
{
    unsigned random = 2463534242u + k;
    for (int j = 0; j < x->m->nv; j++) {
        random ^= random << 13, random ^= random >> 17, random ^= random << 5;
        double size = 0.5 + (random >> 8) / 16777216.0;
        x->w[j] = random & 1 ? size : -size;
    }
}

static void multiply(geometry *x)
{
    const dae_mech *m = x->m;
    int rows = m->position_jacobian ? m->ng : m->nlambda;
    dae_zero(m->nlambda, x->along);
    dae_zero(m->nlambda, x->size);
    for (int j = 0; j < m->nv; j++) {
        int begin = m->G_colptr ? m->G_colptr[j] : j * rows;
        int end = m->G_colptr ? m->G_colptr[j + 1] : begin + rows;
        for (int k = begin; k < end; k++) {
            int i = m->G_colptr ? m->G_rowind[k] : k - begin;
            x->along[i] += x->C[k] * x->w[j];
            x->size[i] += fabs(x->C[k] * x->w[j]);
        }
    }
}

/* fore and aft: the one-sided differences of g along T w. */
static int differences(geometry *x)
{
    const dae_mech *m = x->m;
    dae_mech_point at = {.t = x->t, .p = x->p, .v = x->w, .cache = x->cache};
    int r = 0;
    if (m->kinematics) r = m->kinematics(&at, x->pdot, m->user);
    else dae_copy(m->np, x->w, x->pdot);
    double speed = dae_largest(m->np, x->pdot), s = fmax(dae_largest(m->np, x->p), 1e-2);
    if (r || !(speed > 0)) return r ? r : 1;
    s *= cbrt(DBL_EPSILON) / speed;
    x->noise = ROUNDING * DBL_EPSILON * fmax(dae_largest(m->ng, x->g), 1) / s;
    for (int side = 0; side < 2 && !r; side++) {
        double step = side ? -s : s, *g = side ? x->aft : x->fore;
        for (int i = 0; i < m->np; i++) x->q[i] = x->p[i] + step * x->pdot[i];
        r = evaluate(x, x->q, g, NULL);
        for (int i = 0; i < m->ng && !r; i++) g[i] = (g[i] - x->g[i]) / step;
    }
    return r;
}

/* A row is wrong where it agrees with no difference: at a corner of g one side does. */
static dae_status compare(const geometry *x, dae_error *err)
{
    const dae_mech *m = x->m;
    double largest = VANISHES * dae_largest(m->ng, x->size);
    for (int i = 0; i < m->ng; i++) {
        double centre = (x->fore[i] + x->aft[i]) / 2, given = x->along[i];
        double off = fmin(fmin(fabs(x->fore[i] - given), fabs(x->aft[i] - given)), fabs(centre - given));
        if (!(off > x->noise + DIFFERS * fmax(x->size[i], fmax(fabs(centre), largest)))) continue;
        const char *name = m->position_jacobian ? "position_jacobian" : "G";
        return dae_fail(
            err, DAE_ERR_INPUT, x->t,
            "t = %.10g: row %d of %s is not dg/dp T: along a test velocity it gives %.6g, differences of g "
            "give %.6g; %s",
            x->t, i + 1, name, given, centre,
            m->position_jacobian ? "correct it, or g"
                                 : "correct it, or give dg/dp T as position_jacobian beside G");
    }
    return DAE_OK;
}

dae_status dae_geometry_check(const dae_mech *m, double t, const double *p, dae_error *err)
{
    if (!m->ng) return DAE_OK;
    dae_arena *a = dae_arena_create();
    geometry x = {.m = m, .t = t};
    dae_status status = DAE_OK;
    int r = 0;
    if (!a || take(&x, p, a)) goto done; /* nothing depends on it; what does will say so */
    for (int k = 0; k < m->nquaternion; k++) {
        double *e = x.p + m->quaternion[k];
        double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
        for (int i = 0; length > 0 && i < 4; i++) e[i] /= length;
    }
    r = evaluate(&x, x.p, x.g, x.C);
    for (unsigned k = 0; !r && !status && k < DIRECTIONS; k++) {
        direction(&x, k);
        multiply(&x);
        r = differences(&x);
        if (!r) status = compare(&x, err);
    }
    if (r < 0)
        status = dae_fail(err, DAE_ERR_CALLBACK, t,
                          "t = %.10g: a function of the mechanical system asked to stop", t);
done:
    dae_arena_destroy(a);
    return status;
}
