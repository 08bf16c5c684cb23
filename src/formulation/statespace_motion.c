/* statespace: from its coordinates to positions and velocities, and the right-hand side (the formulas are in statespace.c). */
#include "formulation/statespace.h"

#include "core/vector.h"

#include <float.h>
#include <math.h>

#define ITERATIONS 15 /* ours: Newton for the positions; 3 are usual */
/* ours: correction k+1 <= this times the square of correction k, until it is measured */
#define CURVATURE 10.0
/* ours: HMMWV, counted instructions: 45e3 for G, 20e3 for the factors, 15e3 for g with a solution */
#define SPARSE_COST 4.0
#define TURN_STEP 1e-3 /* ours: relative step of differences of fourth order, rounding 1e-13 */

/* ---- Parts of the system ---------------------------------------------------------------------------- */

double dae_statespace_scale(int n, const double *p)
{
    double size = dae_largest(n, p);
    return size > 0 ? fmin(fmax(size, 1e-8), 1) : 1;
}

/* s->G: dense. */
int dae_statespace_dense_G(dae_formulation *f, double t, const double *p)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    if (!d->spec.colptr) return dae_descriptor_constraint(d, t, p, NULL, s->G);
    int r = dae_descriptor_constraint(d, t, p, NULL, d->scratch_G);
    dae_zero(d->nl * d->nv, s->G);
    for (int j = 0; j < d->nv; j++) {
        for (int k = d->spec.colptr[j]; k < d->spec.colptr[j + 1]; k++) {
            s->G[d->spec.rowind[k] + j * d->nl] = d->scratch_G[k];
        }
    }
    return r;
}

/* s->T: dense, or in its pattern from groups of columns that share no row. */
int dae_statespace_kinematic_matrix(dae_formulation *f, double t, const double *p)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int r = 0, count = s->sparse ? s->groups : d->nv;
    if (s->plain) return 0;
    for (int g = 0; g < count && !r; g++) {
        for (int j = 0; j < d->nv; j++) s->va[j] = s->sparse ? s->group[j] == g : j == g;
        double *column = s->sparse ? s->pa : s->T + (size_t)g * (size_t)d->np;
        r = dae_descriptor_kinematics(d, t, p, s->va, column);
        for (int j = 0; s->sparse && j < d->nv; j++) {
            if (s->group[j] != g) continue;
            for (int e = s->pattern.T_colptr[j]; e < s->pattern.T_colptr[j + 1]; e++)
                s->T[e] = column[s->pattern.T_rowind[e]];
        }
    }
    return r;
}

/* s->G and s->T, in the form that dae_split_factor wants. */
static int matrices_at(dae_formulation *f, double t, const double *p)
{
    statespace *s = f->self;
    int r = s->sparse ? dae_descriptor_constraint(&f->d, t, p, NULL, s->G) : dae_statespace_dense_G(f, t, p);
    return r ? r : dae_statespace_kinematic_matrix(f, t, p);
}

int dae_statespace_turn(dae_formulation *f, double t, const double *p, const double *v, double *out)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    static const double weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
    dae_zero(d->np, out);
    if (s->plain) return 0;
    int r = dae_descriptor_kinematics(d, t, p, v, s->pb);
    double speed = dae_largest(d->np, s->pb), size = dae_statespace_scale(d->np, p);
    if (r || speed == 0) return r;
    if (s->affine) { /* T(p + p') v - T(p) v */
        for (int i = 0; i < d->np; i++) s->step[i] = p[i] + s->pb[i];
        r = dae_descriptor_kinematics(d, t, s->step, v, out);
        dae_axpy(d->np, -1, s->pb, out);
        return r;
    }
    double h = TURN_STEP * size / speed;
    for (int k = 0; k < 4 && !r; k++) {
        for (int i = 0; i < d->np; i++) s->step[i] = p[i] + at[k] * h * s->pb[i];
        r = dae_descriptor_kinematics(d, t, s->step, v, s->pc);
        dae_axpy(d->np, weight[k] / (12 * h), s->pc, out);
    }
    return r;
}

/* ---- Dependent positions and velocities ----------------------------------------------------------------- */

/* What the corrections of Newton's method tell; sizes are relative. */
typedef struct progress {
    double change, last; /* this correction and the one before it; 0: none */
    double rate;         /* of the present matrix */
    int fresh;           /* it was made at the point of the last residual */
} progress;

/* Corrections that are still needed if each is smaller than the one before by the given rate. */
static double remaining(double change, double rate)
{
    if (!(rate < 0.9)) return 1e3;
    return ceil(fmax(0, log(DBL_EPSILON / change) / log(rate)));
}

/* 1: the present correction was the last that matters; -1: it gets nowhere. */
static int settled(progress *c)
{
    if (!isfinite(c->change) || (c->last > 0 && c->change > 1e-9 && c->change >= 2 * c->last)) return -1;
    if (c->change <= 4 * DBL_EPSILON) return 1;
    if (c->last > 0 && c->change < 1e-11 && c->change >= 0.5 * c->last) return 1; /* rounding */
    if (c->fresh)
        c->rate = fmin(fmax(CURVATURE, c->last > 0 ? c->change / (c->last * c->last) : 0) * c->change, 1);
    else c->rate = c->last > 0 ? c->change / c->last : fmin(1, sqrt(c->change));
    return c->rate * c->change <= 0.5 * DBL_EPSILON;
}

/* What a new matrix costs, in evaluations of g. */
static double matrix_cost(const split_matrix *K)
{
    int n = K->kind == SPLIT_REDUCED ? K->m : K->n;
    if (K->kind == SPLIT_SPARSE) return SPARSE_COST;
    return n <= 16 ? 0.5 : n / 8.0;
}

/* 1: a matrix of the new point pays, for that cost. */
static int renewal_pays(const progress *c, double cost)
{
    double error = fmin(c->rate * c->change, 0.5), steps = 1;
    for (double e = error; e > DBL_EPSILON && steps < 6; steps++) e *= fmin(CURVATURE * e, 0.5);
    return remaining(c->change, c->rate) > steps * (1 + cost);
}

/* K of the positions at (t, p), into *K. */
int dae_statespace_factor_position(dae_formulation *f, split_matrix *K, const functionals *S, double t,
                                   const double *p)
{
    statespace *s = f->self;
    int r = matrices_at(f, t, p);
    if (r) return r;
    return dae_split_factor(K, f->d.ng, s->G, f->d.nl, S, s->T) ? 1 : 0;
}

static int recover_position(dae_formulation *f, double t, const double *w)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    double dt = t - s->anchor_t, *p = s->p, *r2 = s->residual,
           size = fmax(dae_largest(d->np, s->anchor_p), DBL_MIN);
    split_matrix *K = s->anchor;
    progress c = {0};
    for (int i = 0; i < d->np; i++) p[i] = s->anchor_p[i] + dt * s->anchor_pdot[i];
    dae_parts_normalize(&d->parts, p);
    if (K->kind == SPLIT_REDUCED) {
        for (int k = 0; k < s->nw; k++) p[s->position.index[k]] = w[k];
    }
    s->points++;
    for (int k = 1; k <= ITERATIONS; k++) {
        int r = dae_descriptor_constraint(d, t, p, d->g, NULL);
        if (r) return r;
        dae_functionals_apply(&s->position, p, r2);
        for (int i = 0; i < s->nw; i++) r2[i] = w[i] - r2[i];
        for (int i = 0; i < d->ng; i++) d->g[i] = -d->g[i];
        dae_split_solve(K, d->g, K->kind == SPLIT_REDUCED ? NULL : r2, s->vb);
        r = dae_descriptor_kinematics(d, t, p, s->vb, s->step);
        if (r) return r;
        c.change = dae_largest(d->np, s->step) / size;
        int done = settled(&c);
        s->iterations = k;
        s->newton++;
        if (done < 0) break;
        dae_axpy(d->np, 1, s->step, p);
        dae_parts_normalize(&d->parts, p);
        if (done) return 0;
        c.last = c.change;
        c.fresh = 0;
        if (!renewal_pays(&c, matrix_cost(K))) continue;
        r = dae_statespace_factor_position(f, s->spare, &s->position, t, p);
        if (r) {
            dae_statespace_note_trouble(f, t, p, "the matrix of the dependent coordinates is singular");
            return r;
        }
        K = s->spare;
        c.fresh = 1;
    }
    dae_statespace_note_trouble(f, t, p, "Newton's method for the dependent coordinates does not converge");
    return 1;
}

int dae_statespace_recover(dae_formulation *f, double t, const double *y)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int r = recover_position(f, t, y);
    if (!r) r = matrices_at(f, t, s->p);
    if (!r) r = dae_descriptor_drift(d, t, s->p, s->la);
    if (r) return r;
    const functionals *S = s->holonomic ? &s->position : &s->velocity;
    if (dae_split_factor(s->here, d->nl, s->G, d->nl, S, s->holonomic ? s->T : NULL)) {
        dae_statespace_note_trouble(f, t, s->p, "the matrix of the dependent velocities is singular");
        return 1;
    }
    for (int i = 0; i < d->nl; i++) s->la[i] = -s->la[i];
    dae_split_solve(s->here, s->la, y + s->nw, s->v);
    return dae_all_finite(d->nv, s->v) ? 0 : 1;
}

/* ---- Right-hand side ------------------------------------------------------------------------------------- */

/* Sums in four parts, as in core/vector.h. */
double dae_statespace_dot(int n, const double *restrict x, const double *restrict y)
{
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) sum[k] += x[i + k] * y[i + k];
    }
    for (; i < n; i++) sum[0] += x[i] * y[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

void dae_statespace_multiply_mass(const dae_formulation *f, double sign, const double *x, double *y)
{
    const statespace *s = f->self;
    const dae_descriptor *d = &f->d;
    if (!d->constant) {
        dae_saddle_multiply_mass(d->nv, d->spec.block, d->spec.nblock, d->M, sign, x, y);
        return;
    }
    for (int e = 0; e < s->mass_count; e++)
        y[s->mass_row[e]] += sign * s->mass_value[e] * x[s->mass_column[e]];
}

/* A constant M as a list of its nonzeros. */
void dae_statespace_list_mass(dae_formulation *f)
{
    statespace *s = f->self;
    const dae_descriptor *d = &f->d;
    const double *M = d->M;
    if (!d->constant) return;
    s->mass_row = dae_arena_ints(f->arena, (size_t)d->nM);
    s->mass_column = dae_arena_ints(f->arena, (size_t)d->nM);
    s->mass_value = dae_arena_reals(f->arena, (size_t)d->nM);
    if (dae_arena_failed(f->arena)) return;
    for (int k = 0, first = 0; first < d->nv; k++) {
        int n = d->spec.block ? d->spec.block[k] : d->nv;
        for (int i = 0; i < n * n; i++, M++) {
            if (*M == 0) continue;
            s->mass_row[s->mass_count] = first + i % n;
            s->mass_column[s->mass_count] = first + i / n;
            s->mass_value[s->mass_count++] = *M;
        }
        first += n;
    }
}

int dae_statespace_reduce(dae_formulation *f, double t)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int nv = d->nv, ns = s->ns;
    int r = dae_descriptor_mass(d, t, s->p, d->M);
    if (r) return r;
    dae_split_null_space(s->here, s->N);
    dae_zero(nv * ns, s->MN);
    for (int k = 0; k < ns; k++) {
        size_t at = (size_t)k * (size_t)nv;
        dae_statespace_multiply_mass(f, 1, s->N + at, s->MN + at);
        for (int i = 0; i <= k; i++) {
            double x = dae_statespace_dot(nv, s->N + (size_t)i * (size_t)nv, s->MN + at);
            s->reduced_lu.re[i + k * s->reduced_lu.ld] = x;
            s->reduced_lu.re[k + i * s->reduced_lu.ld] = x;
        }
    }
    s->reduced_lu.finite = 0;
    if (!dae_dense_factor(&s->reduced_lu)) return 0;
    dae_statespace_note_trouble(f, t, s->p, "the mass matrix of the independent coordinates is singular");
    return 1;
}

void dae_statespace_reduced_solve(dae_formulation *f, double *up, const double *low, double *x)
{
    statespace *s = f->self;
    int nv = f->d.nv;
    dae_split_solve(s->here, low, NULL, x);
    dae_statespace_multiply_mass(f, -1, x, up);
    for (int k = 0; k < s->ns; k++) s->rhs[k] = dae_statespace_dot(nv, s->N + (size_t)k * (size_t)nv, up);
    dae_dense_solve(&s->reduced_lu, s->rhs, NULL);
    for (int k = 0; k < s->ns; k++) dae_axpy(nv, s->rhs[k], s->N + (size_t)k * (size_t)nv, x);
}

/* Accelerations by full partitioning, into a. */
static int reduced_accelerations(dae_formulation *f, double t, const double *u, double *a)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int r = dae_descriptor_gamma(d, t, s->p, s->v, s->la);
    if (!r) r = dae_descriptor_force(d, t, s->p, s->v, u, d->nothing, s->vb);
    if (!r) r = dae_statespace_reduce(f, t);
    if (r) return r;
    for (int i = 0; i < d->nl; i++) s->la[i] = -s->la[i];
    dae_statespace_reduced_solve(f, s->vb, s->la, a);
    return 0;
}

int dae_statespace_rhs(double t, const double *y, double *out, void *user)
{
    dae_formulation *f = user;
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    const double *u = y + s->nw + s->ns;
    int r = dae_statespace_recover(f, t, y);
    if (r) return r;
    if (s->full) r = reduced_accelerations(f, t, u, s->vc);
    else r = dae_descriptor_accelerations(d, t, s->p, s->v, u, 0, 0, s->vc, f->lambda);
    if (r) return r;
    if (!s->holonomic) {
        r = dae_descriptor_kinematics(d, t, s->p, s->v, s->pa);
        dae_functionals_apply(&s->position, s->pa, out);
        dae_functionals_apply(&s->velocity, s->vc, out + s->nw);
    } else {
        dae_copy(s->nw, y + s->nw, out);
        r = dae_statespace_turn(f, t, s->p, s->v, s->pa);
        if (!r) r = dae_descriptor_kinematics(d, t, s->p, s->vc, s->pb);
        if (r) return r;
        if (!s->plain) dae_axpy(d->np, 1, s->pa, s->pb);
        dae_functionals_apply(&s->position, s->pb, out + s->nw);
    }
    return r ? r : dae_descriptor_dynamics(d, t, s->p, s->v, u, f->lambda, out + s->nw + s->ns);
}
