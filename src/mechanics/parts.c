#include "mechanics/parts.h"

#include "core/matrix.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>

/* ---- Layout --------------------------------------------------------------------------------------- */

/* Blocks of M: as given; a diagonal M has blocks of size 1; else one full block. */
static void shape_mass(dae_parts *x, int constant, dae_arena *a)
{
    const dae_mech *m = x->m;
    x->spec.block = m->mass_block;
    x->spec.nblock = m->nblock;
    if (!m->mass_block && constant && (m->mass.n == 0 || m->mass.pattern.storage == DAE_DIAGONAL)) {
        int *ones = dae_arena_ints(a, (size_t)x->nv);
        for (int i = 0; ones && i < x->nv; i++) ones[i] = 1;
        x->spec.block = ones;
        x->spec.nblock = x->nv;
    }
    for (int k = 0; x->spec.block && k < x->spec.nblock; k++) x->nM += x->spec.block[k] * x->spec.block[k];
    if (!x->spec.block) x->nM = x->nv * x->nv;
}

static void fill_constant(dae_parts *x)
{
    double *to = x->constant;
    for (int k = 0, first = 0; to && first < x->nv; k++) {
        int n = x->spec.block ? x->spec.block[k] : x->nv;
        for (int j = 0; j < n; j++) {
            for (int i = 0; i < n; i++) {
                *to++ = x->m->mass.n ? dae_matrix_get(&x->m->mass, first + i, first + j) : (double)(i == j);
            }
        }
        first += n;
    }
    x->spec.mass = x->constant;
}

void dae_parts_init(dae_parts *x, const dae_mech *m, dae_arena *a)
{
    int constant = !m->mass_fn && (!m->mass_blocks || m->mass.n), sparse = m->G_colptr && !m->dfdlambda;
    *x = (dae_parts){.m = m, .np = m->np, .nv = m->nv, .nu = m->nu, .ng = m->ng, .nl = m->nlambda};
    x->spec = (dae_saddle_spec){.nv = x->nv, .nl = x->nl};
    shape_mass(x, constant, a);
    if (m->mass_block) { /* the kinematic tree is one over the blocks */
        x->spec.parent = m->parent;
        x->spec.row_joint = m->row_joint;
    }
    if (sparse) {
        x->spec.colptr = m->G_colptr;
        x->spec.rowind = m->G_rowind;
    }
    x->nG = sparse ? m->G_colptr[x->nv] : x->nl * x->nv;
    if (constant) {
        x->constant = dae_arena_reals(a, (size_t)x->nM);
        fill_constant(x);
    } else if (m->mass_fn && !m->mass_blocks && x->spec.block) {
        x->dense = dae_arena_reals(a, (size_t)x->nv * (size_t)x->nv);
    }
    if (!m->gamma) x->work = dae_arena_reals(a, (size_t)(2 * x->np + x->nl + x->nG));
    if (m->cache_size) x->cache = dae_arena_take(a, 1, m->cache_size);
}

/* ---- Evaluations ------------------------------------------------------------------------------------ */

int dae_parts_judge(int r, int n, const double *out)
{
    if (r) return r;
    return dae_all_finite(n, out) ? 0 : 1;
}

/* The diagonal blocks of a dense matrix, one after another. */
static void gather_blocks(const dae_parts *x, double *M)
{
    for (int k = 0, first = 0; k < x->spec.nblock; k++) {
        int n = x->spec.block[k];
        for (int j = 0; j < n; j++, M += n)
            dae_copy(n, x->dense + first + (size_t)(first + j) * (size_t)x->nv, M);
        first += n;
    }
}

int dae_parts_mass(const dae_parts *x, double t, const double *p, double *M)
{
    if (x->constant) {
        dae_copy(x->nM, x->constant, M);
        return 0;
    }
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p};
    if (x->m->mass_blocks) {
        dae_zero(x->nM, M);
        return x->m->mass_blocks(&at, M, x->m->user);
    }
    double *to = x->dense ? x->dense : M;
    dae_zero(x->nv * x->nv, to);
    int r = x->m->mass_fn(&at, to, x->m->user);
    if (x->dense && !r) gather_blocks(x, M);
    return r;
}

int dae_parts_constraint(const dae_parts *x, double t, const double *p, double *g, double *G)
{
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p};
    if (!x->nl) return 0;
    if (G) dae_zero(x->nG, G);
    return x->spec.colptr ? x->m->constraint_sparse(&at, g, G, x->m->user)
                          : x->m->constraint(&at, g, G, x->m->user);
}

int dae_parts_position_jacobian(const dae_parts *x, double t, const double *p, double *C)
{
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p};
    dae_zero(x->ng * x->nv, C);
    return x->m->position_jacobian(&at, C, x->m->user);
}

int dae_parts_drift(const dae_parts *x, double t, const double *p, double *gI)
{
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p};
    if (x->m->velocity) return x->m->velocity(&at, gI, x->m->user);
    dae_zero(x->nl, gI);
    return 0;
}

int dae_parts_kinematics(const dae_parts *x, double t, const double *p, const double *v, double *pdot)
{
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p, .v = v};
    if (x->m->kinematics) return x->m->kinematics(&at, pdot, x->m->user);
    dae_copy(x->nv, v, pdot);
    return 0;
}

int dae_parts_force(const dae_parts *x, double t, const double *p, const double *v, const double *u,
                    const double *lambda, double *f)
{
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p, .v = v, .u = u, .lambda = lambda};
    return x->m->force(&at, f, x->m->user);
}

int dae_parts_accelerations(const dae_parts *x, double t, const double *p, const double *v, const double *u,
                            double *out)
{
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p, .v = v, .u = u};
    return x->m->accelerations(&at, out, x->m->user);
}

int dae_parts_dynamics(const dae_parts *x, double t, const double *p, const double *v, const double *u,
                       const double *lambda, double *du)
{
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p, .v = v, .u = u, .lambda = lambda};
    return x->nu ? x->m->dynamics(&at, du, x->m->user) : 0;
}

int dae_parts_friction(const dae_parts *x, double t, const double *p, const double *v, const double *u,
                       const double *lambda, double *F)
{
    dae_mech_point at = {.t = t, .cache = x->cache, .p = p, .v = v, .u = u, .lambda = lambda};
    dae_zero(x->nv * x->nl, F);
    return x->m->dfdlambda(&at, F, x->m->user);
}

/* Adds factor (G v + gI) at (t + s, p + s pdot) to gamma. */
static int add_residual(const dae_parts *x, double t, double s, double factor, const double *p,
                        const double *v, double *gamma)
{
    double *pdot = x->work, *q = pdot + x->np, *row = q + x->np, *G = row + x->nl;
    for (int i = 0; i < x->np; i++) q[i] = p[i] + s * pdot[i];
    int r = dae_parts_constraint(x, t + s, q, NULL, G);
    if (!r) r = dae_parts_drift(x, t + s, q, row);
    if (r) return r;
    dae_saddle_multiply(&x->spec, G, 1, v, row);
    dae_axpy(x->nl, factor, row, gamma);
    return 0;
}

int dae_parts_gamma(const dae_parts *x, double t, double t_first, double t_last, const double *p,
                    const double *v, double *gamma)
{
    if (!x->nl) return 0;
    if (x->m->gamma) {
        dae_mech_point at = {.t = t, .cache = x->cache, .p = p, .v = v};
        return x->m->gamma(&at, gamma, x->m->user);
    }
    double *pdot = x->work, lo = fmin(t_first, t_last), hi = fmax(t_first, t_last);
    int r = dae_parts_kinematics(x, t, p, v, pdot);
    /* in h no position moves by more than a cube root of the rounding unit */
    double rate = 1 / fmax(1, fabs(t));
    for (int i = 0; i < x->np; i++) rate = fmax(rate, fabs(pdot[i]) / fmax(1, fabs(p[i])));
    double h = cbrt(DBL_EPSILON) / rate, s = t + 2 * h <= hi ? h : -h;
    double central[3][2] = {{-h, -0.5 / h}, {h, 0.5 / h}, {0, 0}};
    double one_sided[3][2] = {{0, -1.5 / s}, {s, 2 / s}, {2 * s, -0.5 / s}};
    int room = t - h >= lo && t + h <= hi;
    dae_zero(x->nl, gamma);
    for (int k = 0; k < (room ? 2 : 3) && !r; k++) {
        const double *term = room ? central[k] : one_sided[k];
        r = add_residual(x, t, term[0], term[1], p, v, gamma);
    }
    return r;
}

void dae_parts_upper(const dae_parts *x, const double *G, const double *F, double *U)
{
    for (int j = 0; j < x->nv; j++) {
        for (int i = 0; i < x->nl; i++) U[i + j * x->nl] = G[i + j * x->nl] - F[j + i * x->nv];
    }
}

void dae_parts_normalize(const dae_parts *x, double *p)
{
    for (int k = 0; k < x->m->nquaternion; k++) {
        double *e = p + x->m->quaternion[k];
        double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
        for (int i = 0; length > 0 && i < 4; i++) e[i] /= length;
    }
}
