#include "mechanics/descriptor.h"

#include "core/error.h"
#include "core/matrix.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>

#define ITERATIONS 20     /* ours: of a projection; two or three are usual */
#define FRICTION_TRIES 20 /* ours: Newton steps for multipliers on which f depends */
#define NEAR 1e-2         /* ours: factors of a point this near (relative) start a projection */
/* a first correction below this leaves one below 1e-17: convergence is quadratic at first */
#define FIRST_ENOUGH 1e-9
/* with factors of the point itself: a change of the velocities below this leaves what rounding leaves */
#define LEAST_ENOUGH 1e-6
/* factors of a point this near: the next correction leaves 1e-18 */
#define KEEP 1e-6
#define LEFT 0.02 /* ours: of the rounding unit */
#define SLOW 0.05 /* ours: factors that contract less are made anew */
#define MIXED 1e-2
enum { INVERSE_STEPS = 3 }; /* ours: where one combination is much shorter than the others, two find it */

/* ---- Life ---------------------------------------------------------------------------------------- */

static dae_status copy_mech(dae_descriptor *d, const dae_mech *m, dae_arena *a, dae_error *err)
{
    int ok = 1;
    size_t block = (size_t)m->nblock, nl = (size_t)m->nlambda;
    d->m = *m;
    d->m.mass = dae_matrix_copy(&m->mass, a, &ok);
    d->m.mass_block = dae_arena_copy(a, m->mass_block, block, sizeof(int));
    d->m.parent = dae_arena_copy(a, m->parent, block, sizeof(int));
    d->m.row_joint = dae_arena_copy(a, m->row_joint, nl, sizeof(int));
    d->m.G_colptr = dae_arena_copy(a, m->G_colptr, (size_t)m->nv + 1, sizeof(int));
    d->m.G_rowind = dae_arena_copy(a, m->G_rowind, m->G_colptr ? (size_t)m->G_colptr[m->nv] : 0, sizeof(int));
    d->m.quaternion = dae_arena_copy(a, m->quaternion, (size_t)m->nquaternion, sizeof(int));
    if (ok && !dae_arena_failed(a)) return DAE_OK;
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a mechanical system with %d velocities", m->nv);
}

/* Where the least corrections are found without it: a constant diagonal M, few constraints, p' = v. */
static void init_least(dae_descriptor *d, dae_arena *arena)
{
    const dae_mech *m = &d->m;
    int diagonal = d->constant && d->nM == d->nv, plain = !m->kinematics && !m->position_jacobian;
    if (!diagonal || !plain || d->spec.colptr || !d->nl || d->nl > DAE_LEAST_ROWS ||
        d->nv > DAE_LEAST_COLUMNS)
        return;
    d->least = dae_arena_take(arena, 1, sizeof *d->least);
    if (d->least && !dae_least_init(d->least, d->nv, d->nl, d->parts.constant)) d->least = NULL;
}

dae_status dae_descriptor_init(dae_descriptor *d, const dae_mech *mech, const char *mode, dae_arena *arena,
                               dae_error *err)
{
    *d =
        (dae_descriptor){.np = mech->np, .nv = mech->nv, .nu = mech->nu, .ng = mech->ng, .nl = mech->nlambda};
    dae_status s = copy_mech(d, mech, arena, err);
    if (s) return s;
    size_t np = (size_t)d->np, nv = (size_t)d->nv, nl = (size_t)d->nl;
    dae_parts_init(&d->parts, &d->m, arena);
    d->spec = d->parts.spec;
    d->nM = d->parts.nM;
    d->nG = d->parts.nG;
    d->constant = d->parts.constant != NULL;
    d->friction = mech->dfdlambda != NULL && d->nl > 0;
    d->keep = dae_arena_create();
    if (!d->keep)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a mechanical system with %d velocities",
                        d->nv);
    d->M = dae_arena_reals(d->keep, (size_t)d->nM);
    d->G = dae_arena_reals(d->keep, (size_t)d->nG);
    d->scratch_G = dae_arena_reals(arena, (size_t)d->nG);
    d->F = d->friction ? dae_arena_reals(d->keep, nv * nl) : NULL;
    d->U = d->friction ? dae_arena_reals(d->keep, (size_t)d->nG) : NULL;
    d->C = mech->position_jacobian ? dae_arena_reals(arena, (size_t)d->ng * nv) : NULL;
    d->at_p = dae_arena_reals(d->keep, np);
    d->lambda = dae_arena_reals(d->keep, nl);
    d->g = dae_arena_reals(arena, (size_t)d->ng);
    d->gI = dae_arena_reals(arena, nl);
    d->low = dae_arena_reals(arena, nl);
    d->up = dae_arena_reals(arena, nv);
    d->pdot = dae_arena_reals(arena, np);
    d->va = dae_arena_reals(arena, nv);
    d->vb = dae_arena_reals(arena, nv);
    d->side = dae_arena_reals(arena, nv + nl);
    d->own = mech->accelerations ? dae_arena_reals(arena, nv + nl) : NULL;
    d->nothing = dae_arena_reals(arena, nl + (size_t)d->nu);
    init_least(d, arena);
    if (dae_arena_failed(arena) || dae_arena_failed(d->keep)) {
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a mechanical system with %d velocities",
                        d->nv);
    }
    d->at_t = NAN;
    if (d->constant) dae_copy(d->nM, d->parts.constant, d->M);
    d->spec.mode = mode;
    d->spec.unsymmetric = d->friction;
    d->saddle = dae_saddle_create(&d->spec, d->keep, err);
    return d->saddle ? DAE_OK : err && err->status < 0 ? err->status : DAE_ERR_MEMORY;
}

void dae_descriptor_free(dae_descriptor *d)
{
    dae_saddle_destroy(d->saddle);
    dae_arena_destroy(d->keep);
    d->saddle = NULL;
    d->keep = NULL;
}

/* ---- Checkpoint ---------------------------------------------------------------------------------- */

typedef struct kept {
    size_t arena, factors;
    double at_t;
} kept;

size_t dae_descriptor_save(const dae_descriptor *d, void *buffer)
{
    kept k = {dae_arena_bytes(d->keep), dae_saddle_save(d->saddle, NULL), d->at_t};
    unsigned char *out = buffer;
    if (out) {
        memcpy(out, &k, sizeof k);
        dae_arena_write(d->keep, out + sizeof k);
        dae_saddle_save(d->saddle, out + sizeof k + k.arena);
    }
    return sizeof k + k.arena + k.factors;
}

int dae_descriptor_load(dae_descriptor *d, const void *buffer, size_t size)
{
    kept k;
    const unsigned char *in = buffer;
    if (size < sizeof k) return -1;
    memcpy(&k, in, sizeof k);
    if (k.arena != dae_arena_bytes(d->keep) || k.factors > size || k.arena != size - k.factors - sizeof k)
        return -1;
    dae_arena_read(d->keep, in + sizeof k);
    d->at_t = k.at_t;
    return dae_saddle_load(d->saddle, in + sizeof k + k.arena, k.factors);
}

void dae_descriptor_forget(dae_descriptor *d)
{
    if (d->constant) dae_copy(d->nM, d->parts.constant, d->M);
    d->at_t = NAN;
}

/* ---- The parts ----------------------------------------------------------------------------------- */

int dae_descriptor_mass(dae_descriptor *d, double t, const double *p, double *M)
{
    return dae_parts_judge(dae_parts_mass(&d->parts, t, p, M), d->nM, M);
}

/* Into d->M, without the test for numbers that are not finite. */
static int evaluate_mass(dae_descriptor *d, double t, const double *p)
{
    return d->constant ? 0 : dae_parts_mass(&d->parts, t, p, d->M);
}

int dae_descriptor_constraint(dae_descriptor *d, double t, const double *p, double *g, double *G)
{
    int r = dae_parts_constraint(&d->parts, t, p, g, G);
    r = dae_parts_judge(r, g && d->nl ? d->ng : 0, g);
    return dae_parts_judge(r, G && d->nl ? d->nG : 0, G);
}

int dae_descriptor_drift(dae_descriptor *d, double t, const double *p, double *gI)
{
    return dae_parts_judge(dae_parts_drift(&d->parts, t, p, gI), d->m.velocity ? d->nl : 0, gI);
}

int dae_descriptor_kinematics(dae_descriptor *d, double t, const double *p, const double *v, double *pdot)
{
    int r = dae_parts_kinematics(&d->parts, t, p, v, pdot);
    return dae_parts_judge(r, d->m.kinematics ? d->np : 0, pdot);
}

int dae_descriptor_force(dae_descriptor *d, double t, const double *p, const double *v, const double *u,
                         const double *lambda, double *f)
{
    return dae_parts_judge(dae_parts_force(&d->parts, t, p, v, u, lambda, f), d->nv, f);
}

int dae_descriptor_dynamics(dae_descriptor *d, double t, const double *p, const double *v, const double *u,
                            const double *lambda, double *du)
{
    return dae_parts_judge(dae_parts_dynamics(&d->parts, t, p, v, u, lambda, du), d->nu, du);
}

int dae_descriptor_gamma(dae_descriptor *d, double t, const double *p, const double *v, double *gamma)
{
    return dae_parts_judge(dae_parts_gamma(&d->parts, t, -INFINITY, INFINITY, p, v, gamma), d->nl, gamma);
}

/* ---- Accelerations and multipliers ---------------------------------------------------------------- */

/* w, l: a right side that is solved too, or NULL. */
static int factor(dae_descriptor *d, double t, const double *p, double *w, double *l)
{
    d->at_t = NAN;
    int bad = dae_saddle_stale(d->saddle) ? dae_saddle_anchor(d->saddle, d->M, d->G, d->U) : 0;
    if (!bad) {
        bad = w ? dae_saddle_factor_solve(d->saddle, d->M, d->G, d->U, w, l)
                : dae_saddle_factor(d->saddle, d->M, d->G, d->U);
    }
    d->starved |= bad < 0;
    if (bad) return 1;
    d->at_t = t;
    dae_copy(d->np, p, d->at_p);
    return 0;
}

/* The right-hand side for the multipliers. */
static int lower_side(dae_descriptor *d, double t, const double *p, const double *v, double alpha,
                      double beta, double *low)
{
    int r = dae_descriptor_gamma(d, t, p, v, d->gI);
    for (int i = 0; i < d->nl; i++) low[i] = -d->gI[i];
    if (r || (alpha == 0 && beta == 0)) return r;
    r = dae_descriptor_drift(d, t, p, d->gI);
    if (!r) r = dae_descriptor_constraint(d, t, p, d->g, d->scratch_G);
    if (r) return r;
    dae_saddle_multiply(&d->spec, d->scratch_G, 1, v, d->gI);
    for (int i = 0; i < d->nl; i++) low[i] -= 2 * alpha * d->gI[i];
    for (int i = 0; i < d->ng; i++) low[i] -= beta * beta * d->g[i];
    return 0;
}

/* Where f depends on lambda: Newton, M a + (G^T - F) lambda = f(lambda_k) - F lambda_k. */
static int with_friction(dae_descriptor *d, double t, const double *p, const double *v, const double *u,
                         double *a, double *lambda)
{
    dae_copy(d->nl, d->lambda, lambda);
    for (int k = 0; k < FRICTION_TRIES; k++) {
        int r = dae_descriptor_force(d, t, p, v, u, lambda, a);
        if (!r) r = dae_parts_friction(&d->parts, t, p, v, u, lambda, d->F);
        r = dae_parts_judge(r, d->nv * d->nl, d->F);
        if (r) return r;
        dae_parts_upper(&d->parts, d->G, d->F, d->U);
        for (int j = 0; j < d->nl; j++) dae_axpy(d->nv, -lambda[j], d->F + (size_t)j * (size_t)d->nv, a);
        dae_copy(d->nl, d->low, d->gI);
        if (factor(d, t, p, a, d->gI)) return 1;
        if (!dae_all_finite(d->nv, a) || !dae_all_finite(d->nl, d->gI)) return 1;
        double change = 0, size = dae_largest(d->nl, d->gI);
        for (int i = 0; i < d->nl; i++) change = fmax(change, fabs(d->gI[i] - lambda[i]));
        dae_copy(d->nl, d->gI, lambda);
        if (change <= 1e-13 * size) {
            dae_copy(d->nl, lambda, d->lambda);
            return 0;
        }
    }
    return 1;
}

/* By the saddle-point system. */
static int solve(dae_descriptor *d, double t, const double *p, const double *v, const double *u, double alpha,
                 double beta, double *a, double *lambda)
{
    double *fa = d->side, *low = d->friction ? d->low : fa + d->nv;
    int r = lower_side(d, t, p, v, alpha, beta, low);
    if (!r) r = evaluate_mass(d, t, p);
    if (!r) r = dae_parts_constraint(&d->parts, t, p, NULL, d->G);
    if (r) return r;
    if (d->friction) return with_friction(d, t, p, v, u, a, lambda);
    r = dae_parts_force(&d->parts, t, p, v, u, d->nothing, fa);
    if (r) return r;
    if (factor(d, t, p, fa, low)) return 1;
    dae_copy(d->nv, fa, a);
    dae_copy(d->nl, low, lambda);
    return dae_all_finite(d->nv + d->nl, fa) ? 0 : 1;
}

int dae_descriptor_accelerations(dae_descriptor *d, double t, const double *p, const double *v,
                                 const double *u, double alpha, double beta, double *a, double *lambda)
{
    if (!d->m.accelerations || alpha != 0 || beta != 0) return solve(d, t, p, v, u, alpha, beta, a, lambda);
    int r = dae_parts_accelerations(&d->parts, t, p, v, u, d->side);
    dae_copy(d->nv, d->side, a);
    dae_copy(d->nl, d->side + d->nv, lambda);
    return dae_parts_judge(r, d->nv + d->nl, d->side);
}

double dae_descriptor_deviation(dae_descriptor *d, double t, const double *p, const double *v,
                                const double *u, double *a, double *lambda)
{
    int n = d->nv + d->nl;
    double off = 0;
    if (!d->m.accelerations || dae_parts_accelerations(&d->parts, t, p, v, u, d->own)) return 0;
    if (solve(d, t, p, v, u, 0, 0, a, lambda)) return 0; /* nothing to compare with */
    double size[2] = {dae_largest(d->nv, a), dae_largest(d->nl, lambda)};
    for (int i = 0; i < n; i++) {
        int multiplier = i >= d->nv;
        double other = multiplier ? lambda[i - d->nv] : a[i];
        off = fmax(off, fabs(d->own[i] - other) / fmax(size[multiplier], DBL_MIN));
    }
    return off;
}

/* ---- Projection ----------------------------------------------------------------------------------- */

static int factor_here(dae_descriptor *d, double t, const double *p)
{
    int r = evaluate_mass(d, t, p);
    if (!r) r = dae_parts_constraint(&d->parts, t, p, NULL, d->G);
    if (r) return r;
    if (d->friction) dae_copy(d->nG, d->G, d->U);
    return factor(d, t, p, NULL, NULL);
}

/* The first ng rows of G become dg/dp T. The factors are nobody else's: at_t tells. */
static int factor_position(dae_descriptor *d, double t, const double *p)
{
    if (!d->m.position_jacobian) return factor_here(d, t, p);
    int r = evaluate_mass(d, t, p);
    if (!r) r = dae_parts_constraint(&d->parts, t, p, NULL, d->G);
    if (!r) r = dae_parts_position_jacobian(&d->parts, t, p, d->C);
    r = dae_parts_judge(r, d->ng * d->nv, d->C);
    if (r) return r;
    for (int j = 0; j < d->nv; j++) dae_copy(d->ng, d->C + j * d->ng, d->G + j * d->nl);
    if (d->friction) dae_copy(d->nG, d->G, d->U);
    r = factor(d, t, p, NULL, NULL);
    d->at_t = NAN;
    return r;
}

/* 1: the last factors belong to a point that is near enough. */
static int have_factors(const dae_descriptor *d, double t, const double *p, double size)
{
    if (!(fabs(d->at_t - t) <= 8 * DBL_EPSILON * fabs(t))) return 0;
    for (int i = 0; i < d->np; i++) {
        if (!(fabs(p[i] - d->at_p[i]) <= NEAR * size)) return 0;
    }
    return 1;
}

/* One least-norm correction: [M G^T; G 0] (w, .) = (0, -r); the first n values of r count. */
static void correction(dae_descriptor *d, int n, const double *r, double *w)
{
    dae_zero(d->nv, w);
    for (int i = 0; i < d->nl; i++) d->low[i] = i < n ? -r[i] : 0;
    dae_saddle_solve(d->saddle, w, d->low);
}

/* 1: the correction of this relative size was the last that matters; -1: it gets nowhere. */
static int settled(double size, double last, int k)
{
    if (!isfinite(size) || (k > 1 && size > DBL_EPSILON && size >= 2 * last)) return -1;
    if (size <= 4 * DBL_EPSILON) return 1;
    if (k == 1) return size <= FIRST_ENOUGH;
    return size * (size / last) <= DBL_EPSILON;
}

/* Newton with factors that are kept while they contract well. */
static int project_position(dae_descriptor *d, double t, double *p)
{
    double size = fmax(dae_largest(d->np, p), DBL_MIN), last = 0;
    int renew = d->smooth || d->m.position_jacobian || !have_factors(d, t, p, size),
        own = 0; /* own: the factors were made here */
    for (int total = 1, k = 1; total <= ITERATIONS; total++, k++) {
        int r = dae_descriptor_constraint(d, t, p, d->g, NULL);
        if (!r && renew) r = factor_position(d, t, p);
        if (r) return r;
        if (renew) {
            own = k = 1;
            renew = 0;
        }
        correction(d, d->ng, d->g, d->up);
        r = dae_descriptor_kinematics(d, t, p, d->up, d->pdot);
        if (r) return r;
        double change = dae_largest(d->np, d->pdot) / size;
        int done = settled(change, last, k);
        if (done < 0 && own) return 1;
        if (done < 0) { /* factors of another point: once more with those of this one */
            renew = 1;
            continue;
        }
        dae_axpy(d->np, 1, d->pdot, p);
        if (done) return 0;
        renew = d->smooth || (k > 1 && change > SLOW * last);
        last = change;
    }
    return 1;
}

/* Newton with factors of every point that is KEEP or farther from the last: 0 fine; > 0: no convergence, p is as it was then or somewhat
 * better. G belongs to the end (scratch_G), the factors to a point that is *off away at most, relative. */
static int least_position(dae_descriptor *d, double t, double *p, double *off)
{
    double size = fmax(dae_largest(d->np, p), DBL_MIN), last = INFINITY;
    for (int k = 1; k <= ITERATIONS; k++) {
        int r = dae_parts_constraint(&d->parts, t, p, d->low, d->scratch_G); /* the correction is looked at */
        if (r) return r;
        if (d->smooth || last > KEEP) {
            if (dae_least_factor(d->least, d->scratch_G)) return 1;
            *off = 0;
        }
        for (int i = d->ng; i < d->nl; i++) d->low[i] = 0;
        double most = fmin(fmax(FIRST_ENOUGH, 2 * last) * size, DBL_MAX);
        double change = dae_least_correct(d->least, d->scratch_G, d->low, DBL_EPSILON * size, most, p);
        if (!(change <= most)) return 1;
        change /= size;
        if (change <= DBL_EPSILON) return 0;
        *off += change;
        if (change <= FIRST_ENOUGH) return dae_parts_constraint(&d->parts, t, p, NULL, d->scratch_G);
        last = change;
    }
    *off = 0;
    int r = dae_parts_constraint(&d->parts, t, p, NULL, d->scratch_G);
    return r ? r : dae_least_factor(d->least, d->scratch_G);
}

/* With the factors that belong to p one correction does it, a second one what the rounding of a large one left; with those of a point off
 * by that much a correction leaves such a part of itself, times what G makes of it. */
static int least_velocity(dae_descriptor *d, double t, const double *p, double off, double *v)
{
    double *drift = d->side, enough = LEAST_ENOUGH;
    if (enough * off > LEFT * DBL_EPSILON) enough = LEFT * DBL_EPSILON / off;
    int r = dae_parts_drift(&d->parts, t, p, drift);
    for (int k = 1; !r && k <= 3; k++) {
        double size = dae_largest(d->nv, v);
        double change = dae_least_correct_rate(d->least, d->scratch_G, drift, v);
        if (!isfinite(change)) return 1;
        if (change <= enough * size) break;
    }
    return r;
}

static int project_velocity(dae_descriptor *d, double t, const double *p, double *v)
{
    double size = fmax(dae_largest(d->nv, v), DBL_MIN), last = 0;
    double *residual = d->gI;
    double *drift = d->side;
    int r = dae_descriptor_constraint(d, t, p, NULL, d->scratch_G);
    if (!r) r = dae_descriptor_drift(d, t, p, drift);
    for (int k = 1; !r && k <= ITERATIONS; k++) {
        dae_copy(d->nl, drift, residual);
        dae_saddle_multiply(&d->spec, d->scratch_G, 1, v, residual);
        correction(d, d->nl, residual, d->up);
        double change = dae_largest(d->nv, d->up);
        size = fmax(size, change);
        int done = settled(change / size, last, k);
        if (done < 0) return 1;
        dae_axpy(d->nv, 1, d->up, v);
        if (done) return 0;
        last = change / size;
    }
    return r ? r : 1;
}

int dae_descriptor_project(dae_descriptor *d, double t, double *p, double *v)
{
    dae_parts_normalize(&d->parts, p);
    if (!d->nl) return 0;
    if (d->least && d->ng) {
        double off = 0;
        int r = least_position(d, t, p, &off);
        if (!r) r = least_velocity(d, t, p, off, v);
        if (r <= 0) return r; /* constraints that depend on each other: as below */
    }
    int r = 0;
    if (d->ng) r = project_position(d, t, p);
    dae_parts_normalize(&d->parts, p);
    if (!r && (d->smooth || !have_factors(d, t, p, fmax(dae_largest(d->np, p), DBL_MIN))))
        r = factor_here(d, t, p);
    return r ? r : project_velocity(d, t, p, v);
}

/* How many elements column j of G has, the first of them, and their rows (NULL: all of them). */
static int column_of(const dae_descriptor *d, int j, const double **value, const int **row)
{
    const int *colptr = d->spec.colptr;
    *value = d->G + (colptr ? colptr[j] : j * d->nl);
    *row = colptr ? d->spec.rowind + colptr[j] : NULL;
    return colptr ? colptr[j + 1] - colptr[j] : d->nl;
}

/* Factors of [W G^T; G 0], W the squared lengths of the columns of G, in d->M; squared lengths of the rows in its metric. What bodies weigh
 * is no matter of dependence: the rows of the joint of a pendulum would be nearly dependent where its bob is a point. */
static int factor_rows(dae_descriptor *d, double t, const double *p, double *lengths)
{
    int r = dae_parts_constraint(&d->parts, t, p, NULL, d->G);
    if (r) return r;
    dae_zero(d->nM, d->M);
    dae_zero(d->nl, lengths);
    for (int k = 0, j = 0, at = 0; j < d->nv; k++) {
        int size = d->spec.block ? d->spec.block[k] : d->nv;
        for (int i = 0; i < size; i++, j++) {
            const double *value;
            const int *row;
            int count = column_of(d, j, &value, &row);
            double square = dae_dot(count, value, value);
            d->M[at + i * (size + 1)] = square > 0 ? square : 1;
            for (int e = 0; e < count && square > 0; e++)
                lengths[row ? row[e] : e] += value[e] * value[e] / square;
        }
        at += size * size;
    }
    if (d->friction) dae_copy(d->nG, d->G, d->U);
    return factor(d, t, p, NULL, NULL);
}

double dae_descriptor_independence(dae_descriptor *d, double t, const double *p, double *x, double *off)
{
    double square = -1;
    if (dae_descriptor_constraint(d, t, p, d->g, NULL)) return -1;
    *off = dae_largest(d->ng, d->g);
    int bad = factor_rows(d, t, p, d->gI);
    if (bad) return d->starved || bad < 0 ? -1 : 0;
    /* x <- D S^-1 D x / |x|,  S = G W^-1 G^T,  D^2 its diagonal; a little of every row is mixed in */
    for (int i = 0; i < d->nl; i++) x[i] += MIXED * (1 + 0.5 * sin(1.7 * i));
    for (int k = 0; k < INVERSE_STEPS; k++) {
        double size = sqrt(dae_dot(d->nl, x, x));
        dae_zero(d->nv, d->up);
        for (int i = 0; i < d->nl; i++) d->low[i] = sqrt(d->gI[i]) * x[i] / size;
        dae_saddle_solve(d->saddle, d->up, d->low);
        for (int i = 0; i < d->nl; i++) x[i] = sqrt(d->gI[i]) * d->low[i];
        double grown = sqrt(dae_dot(d->nl, x, x));
        if (!isfinite(grown)) return 0;
        square = 1 / grown;
    }
    return fmin(square, 1);
}

int dae_descriptor_residuals(dae_descriptor *d, double t, const double *p, const double *v, const double *a,
                             dae_residuals *out)
{
    *out = (dae_residuals){.worst = -1};
    if (!d->nl) return 0;
    int r = dae_descriptor_constraint(d, t, p, d->g, d->scratch_G);
    if (!r) r = dae_descriptor_drift(d, t, p, d->gI);
    if (r) return r;
    for (int i = 0; i < d->ng; i++) {
        if (fabs(d->g[i]) >= out->position) {
            out->position = fabs(d->g[i]);
            out->worst = i;
        }
    }
    dae_saddle_multiply(&d->spec, d->scratch_G, 1, v, d->gI);
    out->velocity = dae_largest(d->nl, d->gI);
    if (!a) return 0;
    r = dae_descriptor_gamma(d, t, p, v, d->gI);
    if (r) return r;
    r = dae_descriptor_constraint(d, t, p, NULL, d->scratch_G); /* differences may have used it */
    if (r) return r;
    dae_saddle_multiply(&d->spec, d->scratch_G, 1, a, d->gI);
    out->acceleration = dae_largest(d->nl, d->gI);
    return 0;
}
