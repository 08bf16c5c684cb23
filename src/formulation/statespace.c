/* statespace: an ODE in as many coordinates as there are degrees of freedom (coordinate partitioning).
 *
 *     holonomic:     y = (w, w', u),   w = S p        w'' = S (T a + T' v)
 *     nonholonomic:  y = (w, v_I, u)                  w' = S T v,  v_I' = a_I
 *
 * The functionals S (statespace.h) are chosen by Gaussian elimination with full pivoting of G, or span its null space.
 * In every evaluation the dependent positions come from Newton's method, the dependent velocities from one linear
 * system, and the accelerations
 *   simple  from the saddle-point system [M G^T; G 0] (a, lambda) = (f, -gamma),
 *   full    from the equations of motion in the null space: with K k = (-gamma, 0),
 *           N^T M N s = N^T (f - M k),  a = k + N s.
 *
 * Newton begins at the last accepted point ("anchor"), extrapolated in time, with the matrix of that point, so that an
 * evaluation does not depend on those before it. Between two steps the quality of the coordinates is judged by
 * eta = max |T N|, the influence of the independent coordinates on all others: they are chosen anew if eta exceeds
 * max(limit, growth eta_start) or if Newton was slow twice in a row, and changed if that lowers eta by a given factor. The
 * limits depend on what a fresh start costs the method. */
#include "formulation/statespace.h"

#include <daedalus/gefp.h>

#include "core/number.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 15 /* ours: Newton for the positions; 3 are usual */
/* ours: correction k+1 <= this times the square of correction k, until it is measured */
#define CURVATURE 10.0
/* ours: HMMWV, counted instructions: 45e3 for G, 20e3 for the factors, 15e3 for g with a solution */
#define SPARSE_COST 4.0
#define SPARSE_FROM 30    /* ours: velocities from which on sparse factors pay */
#define MOVED 1e-3        /* ours: relative change of the positions after which eta is looked at again */
#define MANY_ITERATIONS 4 /* more than this, twice in a row: choose again */
/* ours: influence at the start above which coordinates that were named are refused */
#define USELESS 1e8
/* ours: pivots of G, relative to the first, below which a failed run is near a singular place */
#define NEARLY 1e-3
/* ours: steps until slow iterations are a reason again, where they were not before */
#define PATIENCE 20
/* Limit of eta, growth and improvement that are worth a change. Ours, measured with a turning pendulum, Andrews' mechanism, both
 * double pendulums and four models: for one-step methods, which lose an evaluation at most, the earliest change is the
 * best (pendulum, dopri5, 1e-7: 4240 evaluations with 2, 3, 1.5, 2560 with these); multistep methods begin again at order 1. */
static const double one_step[3] = {1, 1.2, 1.2}, multistep[3] = {1.5, 1.5, 1.5};
#define TURN_STEP 1e-3 /* ours: relative step of differences of fourth order, rounding 1e-13 */

/* ---- Parts of the system ---------------------------------------------------------------------------- */

double dae_statespace_scale(int n, const double *p)
{
    double size = dae_largest(n, p);
    return size > 0 ? fmin(fmax(size, 1e-8), 1) : 1;
}

/* s->G: dense. */
static int dense_G(dae_formulation *f, double t, const double *p)
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
static int kinematic_matrix(dae_formulation *f, double t, const double *p)
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
    int r = s->sparse ? dae_descriptor_constraint(&f->d, t, p, NULL, s->G) : dense_G(f, t, p);
    return r ? r : kinematic_matrix(f, t, p);
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

static void normalize(const dae_descriptor *d, double *p)
{
    for (int k = 0; k < d->m.nquaternion; k++) {
        double *e = p + d->m.quaternion[k];
        double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
        for (int i = 0; length > 0 && i < 4; i++) e[i] /= length;
    }
}

/* ---- Messages ------------------------------------------------------------------------------------------ */

/* "p = (1, 2, ...)", shortened. */
static void print_point(char *out, size_t size, int n, const double *p)
{
    size_t used = (size_t)snprintf(out, size, "p = (");
    int shown = n < 7 ? n : 6;
    for (int i = 0; i < shown && used < size; i++) {
        used += (size_t)dae_snprintf(out + used, size - used, "%s%.4g", i ? ", " : "", p[i]);
    }
    if (used < size) snprintf(out + used, size - used, "%s)", shown < n ? ", ..." : "");
}

static void note_trouble(dae_formulation *f, double t, const double *p, const char *what)
{
    char where[96];
    print_point(where, sizeof where, f->d.np, p);
    dae_snprintf(f->trouble, sizeof f->trouble, "statespace, t = %.10g: %.80s; %s", t, what, where);
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
static int factor_position(dae_formulation *f, split_matrix *K, const functionals *S, double t,
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
    normalize(d, p);
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
        normalize(d, p);
        if (done) return 0;
        c.last = c.change;
        c.fresh = 0;
        if (!renewal_pays(&c, matrix_cost(K))) continue;
        r = factor_position(f, s->spare, &s->position, t, p);
        if (r) {
            note_trouble(f, t, p, "the matrix of the dependent coordinates is singular");
            return r;
        }
        K = s->spare;
        c.fresh = 1;
    }
    note_trouble(f, t, p, "Newton's method for the dependent coordinates does not converge");
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
        note_trouble(f, t, s->p, "the matrix of the dependent velocities is singular");
        return 1;
    }
    for (int i = 0; i < d->nl; i++) s->la[i] = -s->la[i];
    dae_split_solve(s->here, s->la, y + s->nw, s->v);
    return dae_all_finite(d->nv, s->v) ? 0 : 1;
}

/* ---- Right-hand side ------------------------------------------------------------------------------------- */

/* Sums in four parts, as in core/vector.h. */
static double dot(int n, const double *restrict x, const double *restrict y)
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
static void list_mass(dae_formulation *f)
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
            double x = dot(nv, s->N + (size_t)i * (size_t)nv, s->MN + at);
            s->reduced_lu.re[i + k * s->reduced_lu.ld] = x;
            s->reduced_lu.re[k + i * s->reduced_lu.ld] = x;
        }
    }
    s->reduced_lu.finite = 0;
    if (!dae_dense_factor(&s->reduced_lu)) return 0;
    note_trouble(f, t, s->p, "the mass matrix of the independent coordinates is singular");
    return 1;
}

void dae_statespace_reduced_solve(dae_formulation *f, double *up, const double *low, double *x)
{
    statespace *s = f->self;
    int nv = f->d.nv;
    dae_split_solve(s->here, low, NULL, x);
    dae_statespace_multiply_mass(f, -1, x, up);
    for (int k = 0; k < s->ns; k++) s->rhs[k] = dot(nv, s->N + (size_t)k * (size_t)nv, up);
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

static int rhs(double t, const double *y, double *out, void *user)
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

/* ---- The choice of coordinates ------------------------------------------------------------------------------ */

static void sort_ints(int n, int *x)
{
    for (int i = 1; i < n; i++) {
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            int swap = x[j];
            x[j] = x[j - 1];
            x[j - 1] = swap;
        }
    }
}

/* Independent velocities: full pivoting of the first m rows of s->G. With columns of length 1 neither units nor lever arms
 * matter, and planar bodies on pins keep their angles; a single row has nothing left to choose by then. Returns the rank. */
static int pivot_velocities(dae_formulation *f, int m, int *index)
{
    statespace *s = f->self;
    int nv = f->d.nv;
    int scaled = !strcmp(f->option.scale, "columns");
    for (int j = 0; j < nv; j++) {
        double *column = s->gefp + (size_t)j * (size_t)m;
        dae_copy(m, s->G + (size_t)j * (size_t)f->d.nl, column);
        double length = scaled ? sqrt(dot(m, column, column)) : 0;
        for (int i = 0; i < m && length > 0; i++) column[i] /= length;
    }
    int rank = dae_gefp(m, nv, s->gefp, NULL, 0, s->rows, s->cols, NULL);
    for (int k = 0; k < nv - rank && rank == m; k++) index[k] = s->cols[m + k];
    if (rank == m) sort_ints(nv - m, index);
    return rank;
}

/* P = T N at (t, p), np x nw. */
static int tangent(dae_formulation *f, double t, const double *p, const double *N, double *P)
{
    statespace *s = f->self;
    int r = 0;
    for (int k = 0; k < s->nw && !r; k++) {
        r = dae_descriptor_kinematics(&f->d, t, p, N + (size_t)k * (size_t)f->d.nv,
                                      P + (size_t)k * (size_t)f->d.np);
    }
    return r;
}

/* Orthonormal columns with the same span (Gram-Schmidt, twice for rounding). */
static void orthonormalize(int n, int count, double *Z)
{
    for (int k = 0; k < count; k++) {
        double *z = Z + (size_t)k * (size_t)n;
        for (int pass = 0; pass < 2; pass++) {
            for (int j = 0; j < k; j++) {
                const double *other = Z + (size_t)j * (size_t)n;
                dae_axpy(n, -dot(n, other, z), other, z);
            }
        }
        double length = sqrt(dot(n, z, z));
        for (int i = 0; i < n; i++) z[i] /= length;
    }
}

/* The coordinates that the user wants, at the start. */
static int take_wish(dae_formulation *f, double t, const double *p, split_matrix *K)
{
    statespace *s = f->self;
    memcpy(s->other.index, s->wish, (size_t)s->nw * sizeof(int));
    return factor_position(f, K, &s->other, t, p);
}

/* "3,6" into s->wish, ascending. */
static dae_status read_wish(dae_formulation *f, dae_error *err)
{
    statespace *s = f->self;
    const char *text = f->option.independent;
    int count = 0;
    if (!strcmp(text, "auto")) return DAE_OK;
    for (const char *at = text; count <= s->nw; count++) {
        char *end;
        long k = strtol(at, &end, 10);
        if (end == at || k < 1 || k > f->d.np || (*end && *end != ',')) count = s->nw + 1;
        else if (count < s->nw) s->wish[count] = (int)k - 1;
        if (count > s->nw || !*end) {
            count++;
            break;
        }
        at = end + 1;
    }
    sort_ints(s->nw, s->wish);
    for (int i = 1; i < s->nw; i++) {
        if (s->wish[i] == s->wish[i - 1]) count = 0;
    }
    if (count != s->nw || s->position.Z) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "independent = %s: expected %d different numbers of positions from 1 to %d with "
                        "commas between them, and "
                        "coordinates = pivoting",
                        text, s->nw, f->d.np);
    }
    s->wished = 1;
    return DAE_OK;
}

/* Chooses s->other for the positions (and s->other_velocity) at (t, p) and factors *K with it; first: at the start. */
static int choose_coordinates(dae_formulation *f, double t, const double *p, int first, split_matrix *K,
                              int *rank)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int np = d->np, m = d->ng;
    *rank = -1;
    int r = dense_G(f, t, p);
    if (r) return r;
    if (!s->holonomic) {
        *rank = pivot_velocities(f, d->nl, s->other_velocity);
        if (*rank < d->nl) return 1;
    }
    functionals pick = {.n = d->nv, .count = s->nw, .index = s->other.index};
    if (first && s->wished) return take_wish(f, t, p, K);
    *rank = pivot_velocities(f, m, pick.index);
    if (*rank < m) return 1;
    if (s->plain && !s->other.Z) return factor_position(f, K, &s->other, t, p);
    /* A basis of the null space in terms of the velocities, then of positions. */
    double *P = s->other.Z ? s->other.Z : s->gefp + (size_t)np * (size_t)s->nw;
    split_matrix *basis = s->sparse ? &s->basis : K;
    if (dae_split_factor(basis, m, s->G, d->nl, &pick, NULL)) return 1;
    dae_split_null_space(basis, s->MN);
    r = tangent(f, t, p, s->MN, P);
    if (r) return r;
    if (s->other.Z) {
        orthonormalize(np, s->nw, P);
    } else {
        for (int j = 0; j < np; j++) {
            for (int k = 0; k < s->nw; k++) s->gefp[k + j * s->nw] = P[j + k * np];
        }
        *rank = dae_gefp(s->nw, np, s->gefp, NULL, 0, s->rows, s->cols, NULL);
        if (*rank < s->nw) return 1;
        for (int k = 0; k < s->nw; k++) s->other.index[k] = s->cols[k];
        sort_ints(s->nw, s->other.index);
    }
    return factor_position(f, K, &s->other, t, p);
}

/* max |T N| of the positions with matrix *K of the point s->p. */
static double influence(dae_formulation *f, double t, split_matrix *K)
{
    statespace *s = f->self;
    dae_split_null_space(K, s->MN);
    if (tangent(f, t, s->p, s->MN, s->gefp)) return INFINITY;
    return dae_all_finite(f->d.np * s->nw, s->gefp) ? dae_largest(f->d.np * s->nw, s->gefp) : INFINITY;
}

/* The same for the selected velocities of a nonholonomic system; s->G is that of the point, *K is overwritten. */
static double velocity_influence(dae_formulation *f, int *index, split_matrix *K)
{
    statespace *s = f->self;
    int nv = f->d.nv;
    functionals pick = {.n = nv, .count = s->ns, .index = index};
    if (s->holonomic) return 0; /* others are dense */
    if (dae_split_factor(K, f->d.nl, s->G, f->d.nl, &pick, NULL)) return INFINITY;
    dae_split_null_space(K, s->MN);
    return dae_all_finite(nv * s->ns, s->MN) ? dae_largest(nv * s->ns, s->MN) : INFINITY;
}

static void take_choice(statespace *s)
{
    functionals old = s->position;
    s->position = s->other;
    s->other = old;
    if (!s->holonomic) memcpy(s->velocity.index, s->other_velocity, (size_t)s->ns * sizeof(int));
}

/* y from (p, v) in s; u stays. */
static int write_state(dae_formulation *f, double t, double *y)
{
    statespace *s = f->self;
    int r = dae_descriptor_kinematics(&f->d, t, s->p, s->v, s->pa);
    dae_functionals_apply(&s->position, s->p, y);
    if (s->holonomic) dae_functionals_apply(&s->position, s->pa, y + s->nw);
    else dae_functionals_apply(&s->velocity, s->v, y + s->nw);
    return r;
}

static int set_anchor(dae_formulation *f, double t)
{
    statespace *s = f->self;
    s->anchor_t = t;
    dae_copy(f->d.np, s->p, s->anchor_p);
    return dae_descriptor_kinematics(&f->d, t, s->p, s->v, s->anchor_pdot);
}

/* What G says about the last good point. */
static void diagnose(dae_formulation *f, char *out, size_t size)
{
    statespace *s = f->self;
    int m = s->holonomic ? f->d.ng : f->d.nl, nv = f->d.nv;
    double *pivot = s->residual;
    out[0] = 0;
    if (m < 1 || dense_G(f, s->anchor_t, s->anchor_p)) return;
    for (int j = 0; j < nv; j++)
        dae_copy(m, s->G + (size_t)j * (size_t)f->d.nl, s->gefp + (size_t)j * (size_t)m);
    int rank = dae_gefp(m, nv, s->gefp, NULL, 0, s->rows, s->cols, pivot);
    double ratio = rank < m ? 0 : fabs(pivot[m - 1] / pivot[0]);
    if (ratio < NEARLY) {
        dae_snprintf(
            out, size,
            "; singular configuration: constraint %d depends on the others (pivot %.1e of the largest)",
            s->rows[m - 1] + 1, ratio);
    } else {
        dae_snprintf(out, size, "; the constraints are independent there (pivots to %.1e of the largest)",
                     ratio);
    }
}

static void describe(dae_formulation *f)
{
    statespace *s = f->self;
    size_t used = (size_t)snprintf(f->text, sizeof f->text, "%s partitioning, ", s->full ? "full" : "simple");
    if (s->position.Z) {
        used += (size_t)snprintf(f->text + used, sizeof f->text - used, "%d null space coordinates", s->nw);
    } else {
        used += (size_t)snprintf(f->text + used, sizeof f->text - used, "independent coordinates");
        for (int k = 0; k < s->nw && k < 12; k++) {
            used += (size_t)snprintf(f->text + used, sizeof f->text - used, " %d", s->position.index[k] + 1);
        }
        if (s->nw > 12) used += (size_t)snprintf(f->text + used, sizeof f->text - used, " ...");
    }
    used += (size_t)dae_snprintf(f->text + used, sizeof f->text - used, ", eta = %.3g, changed %ld times",
                                 s->eta, s->changes);
    if (s->changes && used < sizeof f->text) {
        snprintf(f->text + used, sizeof f->text - used, " (%ld by influence, %ld by slow Newton)",
                 s->changes - s->by_newton, s->by_newton);
    }
}

/* ---- Between two steps ---------------------------------------------------------------------------------------- */

/* The matrix of the positions at s->p becomes the anchor; in holonomic systems it is that of the velocities. */
static int renew_anchor_matrix(dae_formulation *f, double t)
{
    statespace *s = f->self;
    if (!s->holonomic) return factor_position(f, s->anchor, &s->position, t, s->p);
    split_matrix *swap = s->anchor;
    s->anchor = s->here;
    s->here = swap;
    return 0;
}

/* Tries other coordinates at s->p, because of their influence or of slow Newton iterations; 1: they are in use now. */
static int change(dae_formulation *f, double t, double *y, int newton)
{
    statespace *s = f->self;
    int rank;
    double old = s->eta;
    if (choose_coordinates(f, t, s->p, 0, s->spare, &rank)) return 0;
    double eta = fmax(influence(f, t, s->spare), velocity_influence(f, s->other_velocity, s->here));
    if (!(eta < old / s->limit[2])) {
        s->eta_start = fmax(s->eta_start, old); /* as good as it gets: ask again when it is worse */
        return 0;
    }
    take_choice(s);
    if (write_state(f, t, y)) return -1;
    split_matrix *swap = s->anchor;
    s->anchor = s->spare;
    s->spare = swap;
    s->eta = s->eta_start = eta;
    s->slow = 0;
    s->changes++;
    s->by_newton += newton;
    describe(f);
    if (f->log.log) {
        dae_log(&f->log, DAE_LOG_INFO,
                "t=%.10g partition=changed reason=\"%s\" eta=%.3g was=%.3g text=\"%s\"", t,
                newton ? "slow Newton iterations" : "influence of the independent coordinates", eta, old,
                f->text);
    }
    return 1;
}

/* The limits of a run with this method: what the user gave, else what suits it. */
static void set_limits(dae_formulation *f)
{
    statespace *s = f->self;
    const dae_method_info *method = s->it ? dae_integrator_method(s->it) : NULL;
    const double *own = method && method->multistep ? multistep : one_step;
    const double given[3] = {f->option.eta, f->option.growth, f->option.hysteresis};
    for (int k = 0; k < 3; k++) s->limit[k] = given[k] > 0 ? given[k] : own[k];
}

/* 1: the positions are not those for which eta was computed. */
static int moved(const dae_formulation *f)
{
    const statespace *s = f->self;
    double far = MOVED * fmax(dae_largest(f->d.np, s->p), DBL_MIN);
    for (int i = 0; i < f->d.np; i++) {
        if (!(fabs(s->p[i] - s->eta_p[i]) <= far)) return 1;
    }
    return 0;
}

static int chart(double t, double *y, void *user)
{
    dae_formulation *f = user;
    statespace *s = f->self;
    int r = dae_statespace_recover(f, t, y);
    if (r) return r < 0 ? r : 0; /* the next evaluation tells */
    s->slow = s->iterations > MANY_ITERATIONS || s->slow < 0 ? s->slow + 1 : 0;
    if (renew_anchor_matrix(f, t)) return 0;
    r = set_anchor(f, t);
    if (r) return r < 0 ? r : 0;
    f->trouble[0] = 0;
    if (s->slow < 2 && !moved(f)) return 0;
    dae_copy(f->d.np, s->p, s->eta_p);
    s->eta = fmax(influence(f, t, s->anchor), velocity_influence(f, s->velocity.index, s->here));
    set_limits(f);
    if (s->eta > fmax(s->limit[0], s->limit[1] * s->eta_start)) return change(f, t, y, 0);
    if (s->slow >= 2) {
        int changed = change(f, t, y, 1);
        s->slow = changed ? 0 : -PATIENCE;
        return changed;
    }
    return 0;
}

static dae_status attach(dae_formulation *f, dae_integrator *it, dae_error *err)
{
    statespace *s = f->self;
    (void)err;
    s->it = it;
    dae_integrator_set_chart(it, chart, f);
    return DAE_OK;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void take_functionals(functionals *s, int n, int count, int linear, dae_arena *a)
{
    s->n = n;
    s->count = count;
    s->index = dae_arena_ints(a, (size_t)(count > n ? count : n) + 1);
    s->Z = linear ? dae_arena_reals(a, (size_t)n * (size_t)count) : NULL;
}

static void take_memory(statespace *s, const dae_descriptor *d, int linear, dae_arena *a)
{
    size_t np = (size_t)d->np, nv = (size_t)d->nv, nl = (size_t)d->nl, ns = (size_t)s->ns, nw = (size_t)s->nw;
    size_t most = nw > ns ? nw : ns;
    take_functionals(&s->position, d->np, s->nw, linear, a);
    s->first_index = s->position.index;
    take_functionals(&s->other, d->np, s->nw, linear, a);
    take_functionals(&s->velocity, d->nv, s->ns, 0, a);
    s->other_velocity = dae_arena_ints(a, ns + 1);
    s->wish = dae_arena_ints(a, nw + 1);
    s->anchor_p = dae_arena_reals(a, np);
    s->anchor_pdot = dae_arena_reals(a, np);
    s->eta_p = dae_arena_reals(a, np);
    s->p = dae_arena_reals(a, np);
    s->v = dae_arena_reals(a, nv);
    s->G = dae_arena_reals(a, nl * nv);
    s->T = s->plain ? NULL : dae_arena_reals(a, np * nv);
    s->N = dae_arena_reals(a, nv * ns);
    s->MN = dae_arena_reals(a, nv * most);
    s->pdot = dae_arena_reals(a, np);
    s->step = dae_arena_reals(a, np);
    s->residual = dae_arena_reals(a, nl + most);
    s->va = dae_arena_reals(a, nv);
    s->vb = dae_arena_reals(a, nv);
    s->vc = dae_arena_reals(a, nv);
    s->pa = dae_arena_reals(a, np);
    s->pb = dae_arena_reals(a, np);
    s->pc = dae_arena_reals(a, np);
    s->la = dae_arena_reals(a, nl);
    s->lb = dae_arena_reals(a, nl);
    s->rhs = dae_arena_reals(a, ns);
    s->gefp = dae_arena_reals(a, nl * nv + 2 * np * most);
    s->rows = dae_arena_ints(a, nl + np);
    s->cols = dae_arena_ints(a, np + nv);
    s->jacobian = dae_arena_reals(a, dae_statespace_jacobian_size(d));
    s->jacobian_y = dae_arena_reals(a, 2 * most);
    s->jacobian_points = -1;
    dae_dense_init(&s->reduced_lu, s->ns, 0, a);
}

/* 1: T(p) v is affine in p (Euler parameters are) and does not depend on t, as far as two places tell. */
static int is_affine(dae_formulation *f)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    double *at[4] = {s->pa, s->pb, s->pc, s->pdot}, largest_value = 0, error = 0;
    if (s->plain) return 1;
    for (int j = 0; j < d->nv; j++) s->va[j] = 0.3 + (double)((5 * j) % 17) / 11;
    for (int k = 0; k < 4; k++) { /* x, x + a, x + b, x + a + b at different times */
        for (int i = 0; i < d->np; i++) {
            s->step[i] = 0.5 + (double)((7 * i) % 13) / 26 + (k % 2) * ((double)((3 * i) % 7) - 2.5) / 9 +
                         (k / 2) * ((double)((11 * i) % 5) - 1.5) / 7;
        }
        if (dae_descriptor_kinematics(d, k, s->step, s->va, at[k])) return 0;
    }
    for (int i = 0; i < d->np; i++) {
        largest_value = fmax(largest_value, fabs(at[0][i]));
        error = fmax(error, fabs(at[0][i] + at[3][i] - at[1][i] - at[2][i]));
    }
    return error <= 1e-13 * largest_value;
}

/* The pattern of T, found at a place without zeros, and groups of columns that share no row. 1: it is known. */
static int find_pattern(dae_formulation *f)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int np = d->np, nv = d->nv, used = 0;
    s->pattern = (split_pattern){.np = np, .G_colptr = d->spec.colptr, .G_rowind = d->spec.rowind};
    if (s->plain) return 1;
    for (int i = 0; i < np; i++) s->p[i] = 0.5 + (double)((7 * i) % 13) / 26;
    int *colptr = dae_arena_ints(f->arena, (size_t)nv + 1), *taken = dae_arena_ints(f->arena, (size_t)np);
    s->group = dae_arena_ints(f->arena, (size_t)nv);
    if (dae_arena_failed(f->arena) || kinematic_matrix(f, 0, s->p)) return 0; /* s->sparse is 0: T is dense */
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < np; i++) colptr[j + 1] += s->T[i + j * np] != 0;
        colptr[j + 1] += colptr[j];
    }
    int *rowind = dae_arena_ints(f->arena, (size_t)colptr[nv]);
    if (!rowind) return 0;
    for (int j = 0; j < nv; j++) {
        for (int i = 0; i < np; i++) {
            if (s->T[i + j * np] != 0) rowind[used++] = i;
        }
    }
    for (int done = 0; done < nv; s->groups++) { /* greedy: columns that do not fit go on to the next group */
        for (int i = 0; i < np; i++) taken[i] = 0;
        for (int j = 0; j < nv; j++) {
            int fits = 1;
            if (s->group[j] != s->groups) continue;
            for (int e = colptr[j]; e < colptr[j + 1]; e++) fits &= !taken[rowind[e]];
            if (!fits) {
                s->group[j]++;
                continue;
            }
            for (int e = colptr[j]; e < colptr[j + 1]; e++) taken[rowind[e]] = 1;
            done++;
        }
    }
    s->pattern.T_colptr = colptr;
    s->pattern.T_rowind = rowind;
    return 1;
}

static dae_status create(dae_formulation *f, dae_error *err)
{
    const dae_descriptor *d = &f->d;
    int linear = !strcmp(f->option.coordinates, "nullspace");
    if (d->np != d->nv && d->m.nquaternion != d->np - d->nv) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "statespace: %d positions and %d velocities, but %d quadruples of Euler parameters; "
                        "only these may "
                        "make the difference",
                        d->np, d->nv, d->m.nquaternion);
    }
    statespace *s = dae_arena_take(f->arena, 1, sizeof *s);
    if (!s) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a state space");
    f->self = s;
    s->plain = !d->m.kinematics;
    s->holonomic = d->ng == d->nl;
    s->nw = d->nv - d->ng;
    s->ns = d->nv - d->nl;
    s->full = !strcmp(f->option.partition, "full") && !d->nu && !d->friction;
    if (s->ns < 1) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "statespace: %d velocities and %d constraints leave no degree of freedom", d->nv,
                        d->nl);
    }
    s->keep = dae_arena_create();
    if (!s->keep) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a state space");
    take_memory(s, d, linear, s->keep);
    list_mass(f);
    if (dae_arena_failed(f->arena) || dae_arena_failed(s->keep))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a state space");
    dae_status wish = read_wish(f, err);
    if (wish) return wish;
    s->sparse = d->spec.colptr && s->holonomic && !linear && d->nv >= SPARSE_FROM && find_pattern(f);
    split_kind kind = s->sparse                             ? SPLIT_SPARSE
                      : s->plain && !linear && s->holonomic ? SPLIT_REDUCED
                                                            : SPLIT_DENSE;
    for (int i = 0; i < 3; i++) dae_split_init(&s->store[i], kind, d->nl, d->nv, &s->pattern, s->keep);
    if (s->sparse && !s->plain) dae_split_init(&s->basis, SPLIT_DENSE, d->nl, d->nv, NULL, s->keep);
    s->anchor = &s->store[0];
    s->here = &s->store[1];
    s->spare = &s->store[2];
    s->affine = is_affine(f);
    int n = s->nw + s->ns + d->nu;
    if (dae_arena_failed(f->arena) || dae_arena_failed(s->keep)) {
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d equations", n);
    }
    f->sys = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = n, .f = rhs, .user = f}};
    if (s->holonomic) f->sys.structure.second_order = s->nw;
    if (s->holonomic && !d->nu && !d->friction) {
        f->sys.ode.jac = dae_statespace_jacobian;
        f->sys.ode.dfdt = dae_statespace_dfdt;
    }
    return DAE_OK;
}

static void release(dae_formulation *f)
{
    statespace *s = f->self;
    for (int i = 0; s && i < 3; i++) dae_split_free(&s->store[i]);
    if (s) dae_arena_destroy(s->keep);
}

/* ---- Checkpoint ------------------------------------------------------------------------------------------------- */

/* Plain numbers of the run, and the sizes of what follows: the arena, the sparse factors. */
typedef struct kept {
    size_t arena, factors[3];
    int first_index; /* 1: position holds the index lists that were taken first */
    int role[3];     /* which of the three matrices are anchor, here and spare */
    int rows[3];     /* of G in each */
    int slow, iterations;
    long points, newton, changes, by_newton, jacobian_points;
    double anchor_t, eta, eta_start, jacobian_t;
    char text[sizeof((dae_formulation *)0)->text];
} kept;

static size_t save(const dae_formulation *f, void *buffer)
{
    const statespace *s = f->self;
    unsigned char *out = buffer;
    kept k;
    memset(&k, 0, sizeof k); /* the bytes between the numbers too */
    k.arena = dae_arena_bytes(s->keep);
    k.first_index = s->position.index == s->first_index;
    k.role[0] = (int)(s->anchor - s->store), k.role[1] = (int)(s->here - s->store),
    k.role[2] = (int)(s->spare - s->store);
    k.slow = s->slow, k.iterations = s->iterations;
    k.points = s->points, k.newton = s->newton, k.changes = s->changes, k.by_newton = s->by_newton,
    k.jacobian_points = s->jacobian_points;
    k.anchor_t = s->anchor_t, k.eta = s->eta, k.eta_start = s->eta_start, k.jacobian_t = s->jacobian_t;
    memcpy(k.text, f->text, sizeof k.text);
    size_t size = sizeof k + k.arena;
    if (out) dae_arena_write(s->keep, out + sizeof k);
    for (int i = 0; i < 3; i++) {
        k.factors[i] = dae_split_save(&s->store[i], out ? out + size : NULL);
        k.rows[i] = s->store[i].m;
        size += k.factors[i];
    }
    if (out) memcpy(out, &k, sizeof k);
    return size;
}

static int load(dae_formulation *f, const void *buffer, size_t size)
{
    statespace *s = f->self;
    const unsigned char *in = buffer;
    kept k;
    if (size < sizeof k) return -1;
    memcpy(&k, in, sizeof k);
    size_t at = sizeof k;
    if (k.arena != dae_arena_bytes(s->keep) || k.arena > size - at) return -1;
    for (int i = 0; i < 3; i++) {
        int bad = k.role[i] < 0 || k.role[i] > 2 || k.role[i] == k.role[(i + 1) % 3] || k.rows[i] < 0 ||
                  k.rows[i] > f->d.nl;
        if (bad) return -1;
        s->store[i].m = k.rows[i];
    }
    dae_arena_read(s->keep, in + at);
    at += k.arena;
    for (int i = 0; i < 3; i++) {
        if (k.factors[i] > size - at || dae_split_load(&s->store[i], in + at, k.factors[i])) return -1;
        at += k.factors[i];
    }
    if (k.first_index != (s->position.index == s->first_index)) {
        functionals swap = s->position;
        s->position = s->other;
        s->other = swap;
    }
    s->anchor = &s->store[k.role[0]], s->here = &s->store[k.role[1]], s->spare = &s->store[k.role[2]];
    s->slow = k.slow, s->iterations = k.iterations;
    s->points = k.points, s->newton = k.newton, s->changes = k.changes, s->by_newton = k.by_newton,
    s->jacobian_points = k.jacobian_points;
    s->anchor_t = k.anchor_t, s->eta = k.eta, s->eta_start = k.eta_start, s->jacobian_t = k.jacobian_t;
    memcpy(f->text, k.text, sizeof f->text);
    f->text[sizeof f->text - 1] = 0;
    f->trouble[0] = 0;
    return at != size;
}

/* ---- States ----------------------------------------------------------------------------------------------------- */

static int is_named(const dae_formulation *f)
{
    return strcmp(f->option.independent, "auto") != 0;
}

/* Coordinates that were named and do not determine the others here. */
static dae_status useless_choice(dae_formulation *f, double t, dae_error *err)
{
    char where[96];
    const statespace *s = f->self;
    print_point(where, sizeof where, f->d.np, s->p);
    return dae_fail(
        err, DAE_ERR_SINGULAR, t,
        "t = %.10g: independent = %s cannot be the independent coordinates at %s: the others do "
        "not follow from them there; name others, or leave the choice to pivoting (independent=auto)",
        t, f->option.independent, where);
}

static dae_status no_choice(dae_formulation *f, double t, const double *p, int rank, dae_error *err)
{
    statespace *s = f->self;
    char where[96], which[64] = "";
    int m = s->holonomic ? f->d.ng : f->d.nl;
    print_point(where, sizeof where, f->d.np, p);
    if (rank < 0 || rank >= m) {
        if (is_named(f)) return useless_choice(f, t, err);
        return dae_fail(err, DAE_ERR_SINGULAR, t, "t = %.10g: no independent coordinates can be chosen at %s",
                        t, where);
    }
    size_t used = 0;
    for (int i = rank; i < m && used + 8 < sizeof which; i++) {
        used +=
            (size_t)snprintf(which + used, sizeof which - used, "%s%d", i > rank ? ", " : "", s->rows[i] + 1);
    }
    return dae_fail(
        err, DAE_ERR_SINGULAR, t,
        "t = %.10g: constraints %s depend on the others at %s: redundant, or a singular configuration", t,
        which, where);
}

static dae_status lift(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int rank;
    dae_copy(d->np, pvu, s->p);
    dae_copy(d->nv, pvu + d->np, s->v);
    normalize(d, s->p);
    if (choose_coordinates(f, t, s->p, 1, s->anchor, &rank)) return no_choice(f, t, s->p, rank, err);
    take_choice(s);
    dae_copy(d->np, s->p, s->eta_p);
    s->eta = s->eta_start =
        fmax(influence(f, t, s->anchor), velocity_influence(f, s->velocity.index, s->here));
    if (is_named(f) && !(s->eta < USELESS)) return useless_choice(f, t, err);
    s->slow = 0;
    s->changes = s->by_newton = s->points = s->newton = 0;
    s->jacobian_points = -1;
    f->trouble[0] = 0;
    int r = set_anchor(f, t);
    if (!r) r = write_state(f, t, y);
    dae_copy(d->nu, pvu + d->np + d->nv, y + s->nw + s->ns);
    if (!r) r = dae_statespace_recover(f, t, y); /* the dependent ones may have been given roughly */
    if (!r) r = set_anchor(f, t);
    describe(f);
    if (r)
        return dae_fail(err, DAE_ERR_INCONSISTENT, t,
                        "t = %.10g: the initial values cannot be made consistent: %s", t, f->trouble);
    if (f->log.log) dae_log(&f->log, DAE_LOG_INFO, "t=%.10g partition=chosen text=\"%s\"", t, f->text);
    return DAE_OK;
}

static dae_status lower(dae_formulation *f, double t, const double *y, double *pvu, double *a, double *lambda,
                        int *known, dae_error *err)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    (void)a;
    (void)lambda;
    (void)known;
    int r = dae_statespace_recover(f, t, y);
    dae_copy(d->np, s->p, pvu);
    dae_copy(d->nv, s->v, pvu + d->np);
    dae_copy(d->nu, y + s->nw + s->ns, pvu + d->np + d->nv);
    if (r)
        return dae_fail(err, DAE_ERR_UNDEFINED, t, "t = %.10g: no dependent coordinates there: %s", t,
                        f->trouble);
    return DAE_OK;
}

/* Coordinates change their place: all positions get the smallest tolerance of the positions, velocities alike. */
static void tolerance(const dae_formulation *f, const double *given, double *out)
{
    const statespace *s = f->self;
    const dae_descriptor *d = &f->d;
    double p = INFINITY, v = INFINITY;
    for (int i = 0; i < d->np; i++) p = fmin(p, given[i]);
    for (int i = 0; i < d->nv; i++) v = fmin(v, given[d->np + i]);
    for (int i = 0; i < s->nw; i++) out[i] = p;
    for (int i = 0; i < s->ns; i++) out[s->nw + i] = v;
    for (int i = 0; i < d->nu; i++) out[s->nw + s->ns + i] = given[d->np + d->nv + i];
}

static int dynamics_at(const dae_formulation *f)
{
    const statespace *s = f->self;
    return s->nw + s->ns;
}

static const dae_option options[] = {
    {"partition", DAE_OPTION_NAME, offsetof(dae_formulation_options, partition), 0, "full", 0, 0,
     "simple|full", "",
     "accelerations from the saddle-point system (simple) or in the null space of G (full)"},
    {"coordinates", DAE_OPTION_NAME, offsetof(dae_formulation_options, coordinates), 0, "pivoting", 0, 0,
     "pivoting|nullspace", "",
     "independent coordinates: chosen by full pivoting, or spanning the null space of G"},
    {"independent", DAE_OPTION_NAME, offsetof(dae_formulation_options, independent), 0, "auto", 0, 0, NULL,
     "", "numbers of the independent positions at the start, as 3,6; auto: chosen"},
    {"scale", DAE_OPTION_NAME, offsetof(dae_formulation_options, scale), 0, "none", 0, 0, "none|columns", "",
     "full pivoting of G as it is, or with columns of length 1 (angles of bodies on pins are kept)"},
    {"eta", DAE_OPTION_REAL, offsetof(dae_formulation_options, eta), 0, NULL, 0, 1e12, NULL, "",
     "influence of independent on dependent coordinates from which on others are looked for; 0: 1, multistep "
     "methods 1.5"},
    {"growth", DAE_OPTION_REAL, offsetof(dae_formulation_options, growth), 0, NULL, 0, 1e12, NULL, "",
     "and its growth since the last choice; 0: 1.2, multistep methods 1.5"},
    {"hysteresis", DAE_OPTION_REAL, offsetof(dae_formulation_options, hysteresis), 0, NULL, 0, 1e12, NULL, "",
     "factor by which another choice has to be better; 0: 1.2, multistep methods 1.5"},
    DAE_FORMULATION_SADDLE,
    {.name = NULL}};

const dae_formulation_type dae_formulation_statespace = {
    .info = {.name = "statespace",
             .title = "minimal coordinates by partitioning: ODE in the degrees of freedom",
             .summary =
                 "for every ODE method; constraints hold to rounding, coordinates change during the run",
             .kind = DAE_KIND_ODE,
             .options = options},
    .create = create,
    .release = release,
    .lift = lift,
    .lower = lower,
    .attach = attach,
    .tolerance = tolerance,
    .dynamics_at = dynamics_at,
    .save = save,
    .load = load,
    .diagnose = diagnose,
};
