/* The DAE forms: index3, index2 and ggl ([HW] VII.1; [GGL85] for the last).
 *
 *     p' = T (v - G^T mu)              mu in ggl only, of the position constraints; it is 0 in the solution
 *     M v' = f - G^T lambda
 *     u' = d
 *     0 = g                            index3, ggl
 *     0 = G v + gI                     index2, ggl; in index3 the nonholonomic rows only
 *
 * The mass matrix of a DAE is constant. If M is, the state is y = (p, v, u, lambda, mu) and M is a block of that
 * matrix. If M depends on t or p, the accelerations are variables too, y = (p, v, u, a, lambda, mu), with
 *
 *     v' = a,   0 = f - G^T lambda - M a,
 *
 * which keeps all derivatives free of inverses and is the form in which the test set states such problems.
 *
 * Jacobians are put together from what is known: T, M, G, df/dp, df/dv where given, df/dlambda; the rest by
 * differences of the parts with respect to p (and of f and d where nothing is given). */
#include "formulation/formulation.h"

#include "core/matrix.h"
#include "core/vector.h"

#include <math.h>

enum { POSITION = 1, VELOCITY = 2 }; /* which constraints are imposed */

typedef struct form {
    int constraints;         /* POSITION, VELOCITY or both */
    int p, v, u, a, l, m, n; /* first places of the parts in y; a = -1: no accelerations; n: size */
    double *w;               /* nv: v - G^T mu */
    double *y, *f0, *f1;     /* n each: differences */
    double *M, *G;           /* at the point of the last evaluation */
    double *block;           /* nv*np: df/dp or df/dv */
    unsigned char *is_unit;  /* n; 1: an Euler parameter */
} form;

/* ---- Right-hand side -------------------------------------------------------------------------------- */

/* w = v - G^T mu */
static void corrected_velocity(const dae_formulation *f, const form *s, const double *y, double *w)
{
    const dae_descriptor *d = &f->d;
    dae_copy(d->nv, y + s->v, w);
    if (s->m < 0) return;
    dae_copy(d->ng, y + s->m, d->low);
    dae_zero(d->nl - d->ng, d->low + d->ng);
    dae_saddle_multiply_transposed(&d->spec, s->G, -1, d->low, w);
}

/* force = 0: without f, for differences of the rest. */
static int evaluate(dae_formulation *f, double t, const double *y, int force, double *out)
{
    form *s = f->self;
    dae_descriptor *d = &f->d;
    const double *p = y + s->p, *v = y + s->v, *u = y + s->u, *lambda = y + s->l;
    double *up = s->a < 0 ? out + s->v : out + s->a, *low = out + s->l;
    int position = s->constraints & POSITION;
    int r = dae_descriptor_constraint(d, t, p, position ? d->g : NULL, s->G);
    if (r) return r;
    corrected_velocity(f, s, y, s->w);
    r = dae_descriptor_kinematics(d, t, p, s->w, out + s->p);
    if (!r && force) r = dae_descriptor_force(d, t, p, v, u, lambda, up);
    if (!force) dae_zero(d->nv, up);
    if (!r) r = dae_descriptor_dynamics(d, t, p, v, u, lambda, out + s->u);
    if (r) return r;
    dae_saddle_multiply_transposed(&d->spec, s->G, -1, lambda, up);
    if (s->a >= 0) {
        const double *a = y + s->a;
        r = dae_descriptor_mass(d, t, p, s->M);
        if (r) return r;
        dae_copy(d->nv, a, out + s->v);
        dae_saddle_multiply_mass(d->nv, d->spec.block, d->spec.nblock, s->M, -1, a, up);
    }
    if (s->constraints & VELOCITY || d->nl > d->ng) {
        r = dae_descriptor_drift(d, t, p, low);
        if (r) return r;
        dae_saddle_multiply(&d->spec, s->G, 1, v, low);
    }
    if (position) dae_copy(d->ng, d->g, s->m >= 0 ? out + s->m : low);
    return 0;
}

static int rhs(double t, const double *y, double *out, void *user)
{
    return evaluate(user, t, y, 1, out);
}

/* ---- Jacobian -------------------------------------------------------------------------------------- */

/* [RADAU5] for small x, relative for large ones; Euler parameters have the size 1 also where they are 0. */
static double increment(double x, int is_unit)
{
    x = fabs(x);
    return 1e-8 * (is_unit ? 1 : fmax(x, sqrt(fmax(1e-5, x))));
}

/* Columns first .. first+count-1 by differences; base holds the values at y. */
static int difference(dae_formulation *f, double t, const double *y, int first, int count, int force,
                      const double *base, double *jac)
{
    form *s = f->self;
    size_t n = (size_t)s->n;
    dae_copy(s->n, y, s->y);
    for (int j = first; j < first + count; j++) {
        double *col = jac + (size_t)j * n;
        s->y[j] = y[j] + increment(y[j], s->is_unit[j]);
        double h = s->y[j] - y[j];
        int r = evaluate(f, t, s->y, force, s->f1);
        if (r > 0) { /* the other side */
            s->y[j] = y[j] - h;
            h = -h;
            r = evaluate(f, t, s->y, force, s->f1);
        }
        s->y[j] = y[j];
        if (r) return r;
        for (int i = 0; i < s->n; i++) col[i] = (s->f1[i] - base[i]) / h;
    }
    return 0;
}

static inline double *at(double *jac, int n, int row, int column)
{
    return jac + (size_t)row + (size_t)column * (size_t)n;
}

/* A block (m x k, column-major) is added to jac at (row, column). */
static void add_block(const double *block, int m, int k, double *jac, int n, int row, int column)
{
    for (int j = 0; j < k; j++) {
        double *to = at(jac, n, row, column + j);
        for (int i = 0; i < m; i++) to[i] += block[(size_t)i + (size_t)j * (size_t)m];
    }
}

/* sign G (its first rows), or its transpose, is added to jac at (row, column). */
static void spread_G(const dae_formulation *f, const double *G, double sign, double *jac, int n, int row,
                     int column, int transposed, int rows)
{
    const dae_descriptor *d = &f->d;
    for (int j = 0; j < d->nv; j++) {
        int begin = d->spec.colptr ? d->spec.colptr[j] : j * d->nl;
        int end = d->spec.colptr ? d->spec.colptr[j + 1] : (j + 1) * d->nl;
        for (int k = begin; k < end; k++) {
            int i = d->spec.colptr ? d->spec.rowind[k] : k - begin;
            if (i >= rows) continue;
            *(transposed ? at(jac, n, row + j, column + i) : at(jac, n, row + i, column + j)) += sign * G[k];
        }
    }
}

/* Columns of v (and a): T, df/dv, G, M. */
static int velocity_columns(dae_formulation *f, double t, const double *y, const double *base, double *jac)
{
    form *s = f->self;
    dae_descriptor *d = &f->d;
    int up = s->a < 0 ? s->v : s->a, n = s->n, differences = !d->m.dfdv || d->nu > 0, r = 0;
    if (differences) { /* f and d; exact parts are overwritten below */
        r = difference(f, t, y, s->v, d->nv, !d->m.dfdv, base, jac);
        if (r) return r;
    }
    for (int j = 0; j < d->nv; j++) {
        double *col = at(jac, n, 0, s->v + j);
        dae_zero(d->nv, d->va);
        d->va[j] = 1;
        r = dae_descriptor_kinematics(d, t, y + s->p, d->va, col + s->p);
        if (r) return r;
        if (s->a >= 0) *at(jac, n, s->v + j, s->a + j) = 1;
        dae_zero(d->nl, col + s->l);
        if (d->m.dfdv) dae_zero(d->nv, col + up);
        if (s->a >= 0) dae_zero(d->nv, col + s->v);
    }
    if (d->m.dfdv) {
        dae_mech_point x = {.t = t, .p = y + s->p, .v = y + s->v, .u = y + s->u, .lambda = y + s->l};
        dae_zero(d->nv * d->nv, s->block);
        r = d->m.dfdv(&x, s->block, d->m.user);
        if (r) return r;
        add_block(s->block, d->nv, d->nv, jac, n, up, s->v);
    }
    if (s->constraints & VELOCITY) {
        spread_G(f, s->G, 1, jac, n, s->l, s->v, 0, d->nl);
    } else if (d->nl > d->ng) {
        spread_G(f, s->G, 1, jac, n, s->l, s->v, 0, d->nl);
        for (int j = 0; j < d->nv; j++) dae_zero(d->ng, at(jac, n, s->l, s->v + j));
    }
    if (s->a < 0) return 0;
    const double *M = s->M;
    for (int k = 0, first = 0; first < d->nv; k++) {
        int size = d->spec.block ? d->spec.block[k] : d->nv;
        for (int j = 0; j < size; j++) {
            for (int i = 0; i < size; i++) *at(jac, n, s->a + first + i, s->a + first + j) = -*M++;
        }
        first += size;
    }
    return 0;
}

/* Columns of lambda and mu: -G^T + df/dlambda, and -T G^T. */
static int multiplier_columns(dae_formulation *f, double t, const double *y, const double *base, double *jac)
{
    form *s = f->self;
    dae_descriptor *d = &f->d;
    int up = s->a < 0 ? s->v : s->a, n = s->n, r = 0;
    if (d->nu) { /* d may depend on lambda */
        r = difference(f, t, y, s->l, d->nl, 0, base, jac);
        for (int j = 0; !r && j < d->nl; j++) dae_zero(d->nv, at(jac, n, up, s->l + j));
        if (r) return r;
    }
    spread_G(f, s->G, -1, jac, n, up, s->l, 1, d->nl);
    if (d->friction) {
        dae_mech_point x = {.t = t, .p = y + s->p, .v = y + s->v, .u = y + s->u, .lambda = y + s->l};
        dae_zero(d->nv * d->nl, d->F);
        r = d->m.dfdlambda(&x, d->F, d->m.user);
        if (r) return r;
        add_block(d->F, d->nv, d->nl, jac, n, up, s->l);
    }
    for (int j = 0; s->m >= 0 && j < d->ng; j++) {
        dae_zero(d->nl, d->low);
        d->low[j] = 1;
        dae_zero(d->nv, d->va);
        dae_saddle_multiply_transposed(&d->spec, s->G, -1, d->low, d->va);
        r = dae_descriptor_kinematics(d, t, y + s->p, d->va, at(jac, n, s->p, s->m + j));
        if (r) return r;
    }
    return 0;
}

/* M and G of y again, after differences have moved p. */
static int restore(dae_formulation *f, double t, const double *y)
{
    form *s = f->self;
    int r = dae_descriptor_constraint(&f->d, t, y + s->p, NULL, s->G);
    return r || s->a < 0 ? r : dae_descriptor_mass(&f->d, t, y + s->p, s->M);
}

/* Columns of p: df/dp where given, and G in the rows of g where it is dg/dp; the rest by differences. */
static int position_columns(dae_formulation *f, double t, const double *y, const double *base, double *jac)
{
    form *s = f->self;
    dae_descriptor *d = &f->d;
    int up = s->a < 0 ? s->v : s->a, n = s->n;
    int r = difference(f, t, y, s->p, d->np, !d->m.dfdp, base, jac);
    if (r) return r;
    if (d->m.dfdp) {
        dae_mech_point x = {.t = t, .p = y + s->p, .v = y + s->v, .u = y + s->u, .lambda = y + s->l};
        dae_zero(d->nv * d->np, s->block);
        r = d->m.dfdp(&x, s->block, d->m.user);
        if (r) return r;
        add_block(s->block, d->nv, d->np, jac, n, up, s->p);
    }
    if (d->m.kinematics || d->m.position_jacobian || !(s->constraints & POSITION)) return 0;
    int row = s->m >= 0 ? s->m : s->l;
    r = restore(f, t, y);
    for (int j = 0; !r && j < d->np; j++) dae_zero(d->ng, at(jac, n, row, s->p + j));
    if (!r) spread_G(f, s->G, 1, jac, n, row, s->p, 0, d->ng);
    return r;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    dae_formulation *f = user;
    form *s = f->self;
    dae_descriptor *d = &f->d;
    double *with = s->f0, *without = s->f0 + s->n;
    int r = evaluate(f, t, y, 1, with);
    if (!r) r = evaluate(f, t, y, 0, without);
    if (!r) r = position_columns(f, t, y, d->m.dfdp ? without : with, jac);
    if (!r) r = restore(f, t, y);
    if (!r && d->nu) r = difference(f, t, y, s->u, d->nu, 1, with, jac);
    if (!r) r = velocity_columns(f, t, y, d->m.dfdv ? without : with, jac);
    return r ? r : multiplier_columns(f, t, y, without, jac);
}

/* ---- Life ------------------------------------------------------------------------------------------- */

/* The mass matrix: diagonal, or with the constant M as a block. */
static void put_mass(dae_formulation *f, const form *s, double *mass, int diagonal)
{
    const dae_descriptor *d = &f->d;
    size_t n = (size_t)s->n, step = diagonal ? 1 : n + 1;
    for (int i = 0; i < s->n; i++) {
        int differential = i < s->u + d->nu;
        mass[(size_t)i * step] = differential;
    }
    if (s->a >= 0) return;
    for (int j = 0; j < d->nv; j++) {
        for (int i = 0; i < d->nv; i++) {
            double x = d->m.mass.n ? dae_matrix_get(&d->m.mass, i, j) : (double)(i == j);
            if (diagonal && i == j) mass[s->v + i] = x;
            if (!diagonal) mass[(size_t)(s->v + i) + (size_t)(s->v + j) * n] = x;
        }
    }
}

/* Index of the variables, [HW] VII.1: how often the constraints have to be differentiated for them. */
static void put_index(const dae_formulation *f, const form *s, int *index)
{
    const dae_descriptor *d = &f->d;
    int three = s->constraints == POSITION && d->ng > 0;
    for (int i = 0; i < s->n; i++) index[i] = 1;
    for (int i = 0; three && i < d->nv; i++) index[s->v + i] = 2;
    for (int i = 0; three && i < d->nu; i++) index[s->u + i] = 2; /* d may depend on lambda */
    for (int i = s->a >= 0 ? s->a : s->l; i < s->n; i++) index[i] = three ? 3 : d->nl ? 2 : 1;
}

static dae_status create(dae_formulation *f, int constraints, dae_error *err)
{
    dae_descriptor *d = &f->d;
    form *s = dae_arena_take(f->arena, 1, sizeof *s);
    if (!s) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a formulation");
    f->self = s;
    s->constraints = constraints;
    s->v = d->np;
    s->u = s->v + d->nv;
    s->a = d->constant ? -1 : s->u + d->nu;
    s->l = s->u + d->nu + (d->constant ? 0 : d->nv);
    s->m = constraints == (POSITION | VELOCITY) ? s->l + d->nl : -1;
    s->n = s->l + d->nl + (s->m >= 0 ? d->ng : 0);
    size_t n = (size_t)s->n;
    int diagonal = s->a >= 0 || d->m.mass.n == 0 || d->m.mass.pattern.storage == DAE_DIAGONAL;
    double *mass = dae_arena_reals(f->arena, diagonal ? n : n * n);
    int *index = dae_arena_ints(f->arena, n);
    s->w = dae_arena_reals(f->arena, (size_t)d->nv);
    s->y = dae_arena_reals(f->arena, n);
    s->f0 = dae_arena_reals(f->arena, 2 * n);
    s->f1 = dae_arena_reals(f->arena, n);
    s->M = dae_arena_reals(f->arena, (size_t)d->nM);
    s->G = dae_arena_reals(f->arena, (size_t)d->nG);
    s->block = dae_arena_reals(f->arena, (size_t)d->nv * (size_t)d->np);
    s->is_unit = dae_arena_take(f->arena, n, 1);
    if (dae_arena_failed(f->arena))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d equations", s->n);
    for (int k = 0; k < 4 * d->m.nquaternion; k++) s->is_unit[d->m.quaternion[k / 4] + k % 4] = 1;
    put_mass(f, s, mass, diagonal);
    put_index(f, s, index);
    f->sys = (dae_system){.kind = DAE_KIND_DAE, .dae = {.n = s->n, .f = rhs, .jac = jacobian, .user = f}};
    f->sys.dae.mass = diagonal ? dae_diagonal(s->n, mass) : dae_dense(s->n, mass);
    f->sys.structure.index = index;
    return DAE_OK;
}

static dae_status create_index3(dae_formulation *f, dae_error *err)
{
    return create(f, POSITION, err);
}

static dae_status create_index2(dae_formulation *f, dae_error *err)
{
    return create(f, VELOCITY, err);
}

static dae_status create_ggl(dae_formulation *f, dae_error *err)
{
    return create(f, POSITION | VELOCITY, err);
}

static dae_status lift(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    const form *s = f->self;
    dae_zero(s->n, y);
    dae_copy(s->u + f->d.nu, pvu, y);
    double *a = s->a < 0 ? f->a : y + s->a;
    return dae_formulation_solve(f, t, pvu, a, y + s->l, err);
}

static dae_status lower(dae_formulation *f, double t, const double *y, double *pvu, double *a, double *lambda,
                        int *known, dae_error *err)
{
    const form *s = f->self;
    dae_copy(s->u + f->d.nu, y, pvu);
    *known = 1;
    dae_status r = DAE_OK;
    if (a && s->a >= 0) dae_copy(f->d.nv, y + s->a, a);
    else if (a) r = dae_formulation_solve(f, t, pvu, a, f->lambda, err);
    if (lambda) dae_copy(f->d.nl, y + s->l, lambda);
    return r;
}

static const dae_option plain[] = {DAE_FORMULATION_SADDLE, {.name = NULL}};
static const dae_option projected[] = {DAE_FORMULATION_PROJECT, DAE_FORMULATION_SADDLE, {.name = NULL}};

const dae_formulation_type dae_formulation_index3 = {
    .info = {.name = "index3",
             .title = "position constraints: DAE of index 3",
             .summary = "the equations as they stand; positions exact, velocities and multipliers less so",
             .kind = DAE_KIND_DAE,
             .index = 3,
             .options = plain},
    .astray = 1,
    .create = create_index3,
    .lift = lift,
    .lower = lower,
};

const dae_formulation_type dae_formulation_index2 = {
    .info = {.name = "index2",
             .title = "velocity constraints: DAE of index 2",
             .summary = "constraints differentiated once; positions drift slowly, or are projected",
             .kind = DAE_KIND_DAE,
             .index = 2,
             .options = projected},
    .astray = 1,
    .create = create_index2,
    .lift = lift,
    .lower = lower,
};

const dae_formulation_type dae_formulation_ggl = {
    .info = {.name = "ggl",
             .title =
                 "position and velocity constraints: stabilized DAE of index 2 (Gear, Gupta, Leimkuhler)",
             .summary = "no drift in positions and velocities; the safe choice for stiff mechanisms",
             .kind = DAE_KIND_DAE,
             .index = 2,
             .options = projected},
    .create = create_ggl,
    .lift = lift,
    .lower = lower,
};
