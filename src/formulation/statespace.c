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
 * max(limit, growth eta_start) or if Newton was slow twice in a row, and changed if that lowers eta by a given factor. */
#include "formulation/statespace.h"

#include <daedalus/gefp.h>

#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITERATIONS 15       /* ours: Newton for the positions; 3 are usual */
#define CURVATURE 10.0      /* ours: correction k+1 <= this times the square of correction k, until it is measured */
#define MANY_ITERATIONS 4   /* more than this, twice in a row: choose again */
#define TURN_STEP 1e-3      /* ours: relative step of differences of fourth order, rounding 1e-13 */

/* ---- Functionals and the matrix K ------------------------------------------------------------------- */

void dae_functionals_apply(const functionals *s, const double *x, double *out)
{
    for (int k = 0; k < s->count; k++) {
        if (!s->Z) {
            out[k] = x[s->index[k]];
            continue;
        }
        const double *z = s->Z + (size_t)k * (size_t)s->n;
        double sum = 0;
        for (int i = 0; i < s->n; i++) sum += z[i] * x[i];
        out[k] = sum;
    }
}

static void split_init(split_matrix *K, int m, int n, int reduced, dae_arena *a)
{
    K->m = m;
    K->n = n;
    K->reduced = reduced;
    K->dep = dae_arena_ints(a, (size_t)n);
    K->ind = dae_arena_ints(a, (size_t)n);
    K->A = dae_arena_reals(a, (size_t)(reduced ? m : n) * (size_t)n);
    K->x = dae_arena_reals(a, (size_t)n);
    if (m > 0 || !reduced) dae_dense_init(&K->lu, reduced ? m : n, 0, a);
}

/* G (ld rows, the first m count), functionals s of T x (T NULL: of x). 0: fine, > 0: singular. */
static int split_factor(split_matrix *K, int m, const double *G, int ld, const functionals *s, const double *T)
{
    int n = K->n;
    K->m = m;
    if (K->reduced) {
        int ni = 0, nd = 0;
        for (int j = 0; j < n; j++) {
            if (ni < s->count && s->index[ni] == j) K->ind[ni++] = j;
            else K->dep[nd++] = j;
            dae_copy(m, G + (size_t)j * (size_t)ld, K->A + (size_t)j * (size_t)m);
        }
        if (m == 0) return 0;
        for (int k = 0; k < m; k++) {
            dae_copy(m, K->A + (size_t)K->dep[k] * (size_t)m, K->lu.re + (size_t)k * (size_t)K->lu.ld);
        }
    } else {
        for (int j = 0; j < n; j++) {
            double *column = K->A + (size_t)j * (size_t)n;
            dae_copy(m, G + (size_t)j * (size_t)ld, column);
            if (T) {
                dae_functionals_apply(s, T + (size_t)j * (size_t)s->n, column + m);
            } else {
                for (int k = 0; k < s->count; k++) {
                    column[m + k] = s->Z ? s->Z[j + k * s->n] : (double)(s->index[k] == j);
                }
            }
            dae_copy(n, column, K->lu.re + (size_t)j * (size_t)K->lu.ld);
        }
    }
    K->lu.finite = 0;
    return dae_dense_factor(&K->lu);
}

void dae_split_solve(split_matrix *K, const double *b1, const double *b2, double *x)
{
    int m = K->m, n = K->n, ni = n - m;
    double *r = K->x;
    if (b1) dae_copy(m, b1, r);
    else dae_zero(m, r);
    if (!K->reduced) {
        if (b2) dae_copy(ni, b2, r + m);
        else dae_zero(ni, r + m);
        dae_dense_solve(&K->lu, r, NULL);
        dae_copy(n, r, x);
        return;
    }
    for (int k = 0; k < ni; k++) {
        double value = b2 ? b2[k] : 0;
        x[K->ind[k]] = value;
        if (value != 0) dae_axpy(m, -value, K->A + (size_t)K->ind[k] * (size_t)m, r);
    }
    if (m > 0) dae_dense_solve(&K->lu, r, NULL);
    for (int k = 0; k < m; k++) x[K->dep[k]] = r[k];
}

/* ---- Parts of the system ---------------------------------------------------------------------------- */

static double largest(int n, const double *x)
{
    double m = 0;
    for (int i = 0; i < n; i++) m = fmax(m, fabs(x[i]));
    return m;
}

double dae_statespace_scale(int n, const double *p)
{
    double size = largest(n, p);
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

/* s->T, column by column. */
static int dense_T(dae_formulation *f, double t, const double *p)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int r = 0;
    if (s->plain) return 0;
    dae_zero(d->nv, s->va);
    for (int j = 0; j < d->nv && !r; j++) {
        s->va[j] = 1;
        r = dae_descriptor_kinematics(d, t, p, s->va, s->T + (size_t)j * (size_t)d->np);
        s->va[j] = 0;
    }
    return r;
}

int dae_statespace_turn(dae_formulation *f, double t, const double *p, const double *v, double *out)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    static const double weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
    dae_zero(d->np, out);
    if (s->plain) return 0;
    int r = dae_descriptor_kinematics(d, t, p, v, s->pb);
    double speed = largest(d->np, s->pb), size = dae_statespace_scale(d->np, p);
    if (r || speed == 0) return r;
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

/* " p = (1, 2, ...)", shortened. */
static void print_point(char *out, size_t size, int n, const double *p)
{
    size_t used = (size_t)snprintf(out, size, "p = (");
    int shown = n < 6 ? n : 5;
    for (int i = 0; i < shown && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, "%s%.4g", i ? ", " : "", p[i]);
    }
    if (used < size) snprintf(out + used, size - used, "%s)", shown < n ? ", ..." : "");
}

static void note_trouble(dae_formulation *f, double t, const double *p, const char *what)
{
    char where[96];
    print_point(where, sizeof where, f->d.np, p);
    snprintf(f->trouble, sizeof f->trouble, "statespace, t = %.10g: %.90s; %s", t, what, where);
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
    if (c->fresh) c->rate = fmin(fmax(CURVATURE, c->last > 0 ? c->change / (c->last * c->last) : 0) * c->change, 1);
    else c->rate = c->last > 0 ? c->change / c->last : fmin(1, sqrt(c->change));
    return c->rate * c->change <= 0.5 * DBL_EPSILON;
}

/* 1: a matrix of the new point pays for an evaluation of g costs 1 and the matrix as much as its size says. */
static int renewal_pays(const progress *c, int n)
{
    double cost = n <= 16 ? 0.5 : n / 8.0, error = fmin(c->rate * c->change, 0.5), steps = 1;
    for (double e = error; e > DBL_EPSILON && steps < 6; steps++) e *= fmin(CURVATURE * e, 0.5);
    return remaining(c->change, c->rate) > steps * (1 + cost);
}

/* K of the positions at (t, p), into *K. */
static int factor_position(dae_formulation *f, split_matrix *K, const functionals *S, double t, const double *p)
{
    statespace *s = f->self;
    int r = dense_G(f, t, p);
    if (!r) r = dense_T(f, t, p);
    if (r) return r;
    return split_factor(K, f->d.ng, s->G, f->d.nl, S, s->T) ? 1 : 0;
}

static int recover_position(dae_formulation *f, double t, const double *w)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    double dt = t - s->anchor_t, *p = s->p, *r2 = s->residual, size = fmax(largest(d->np, s->anchor_p), DBL_MIN);
    split_matrix *K = s->anchor;
    progress c = {0};
    for (int i = 0; i < d->np; i++) p[i] = s->anchor_p[i] + dt * s->anchor_pdot[i];
    normalize(d, p);
    if (K->reduced) {
        for (int k = 0; k < s->nw; k++) p[s->position.index[k]] = w[k];
    }
    s->points++;
    for (int k = 1; k <= ITERATIONS; k++) {
        int r = dae_descriptor_constraint(d, t, p, d->g, NULL);
        if (r) return r;
        dae_functionals_apply(&s->position, p, r2);
        for (int i = 0; i < s->nw; i++) r2[i] = w[i] - r2[i];
        for (int i = 0; i < d->ng; i++) d->g[i] = -d->g[i];
        dae_split_solve(K, d->g, K->reduced ? NULL : r2, s->vb);
        r = dae_descriptor_kinematics(d, t, p, s->vb, s->step);
        if (r) return r;
        c.change = largest(d->np, s->step) / size;
        int done = settled(&c);
        s->iterations = k;
        s->newton++;
        if (done < 0) break;
        dae_axpy(d->np, 1, s->step, p);
        normalize(d, p);
        if (done) return 0;
        c.last = c.change;
        c.fresh = 0;
        if (!renewal_pays(&c, K->reduced ? K->m : K->n)) continue;
        r = factor_position(f, s->spare, &s->position, t, p);
        if (r) {
            note_trouble(f, t, p, "the matrix of the dependent coordinates is singular");
            return r;
        }
        K = s->spare;
        c.fresh = 1;
    }
    note_trouble(f, t, p, "Newton's method for the dependent coordinates does not converge: near a singular place?");
    return 1;
}

int dae_statespace_recover(dae_formulation *f, double t, const double *y)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int r = recover_position(f, t, y);
    if (!r) r = dense_G(f, t, s->p);
    if (!r) r = dense_T(f, t, s->p);
    if (!r) r = dae_descriptor_drift(d, t, s->p, s->la);
    if (r) return r;
    const functionals *S = s->holonomic ? &s->position : &s->velocity;
    if (split_factor(s->here, d->nl, s->G, d->nl, S, s->holonomic ? s->T : NULL)) {
        note_trouble(f, t, s->p, "the matrix of the dependent velocities is singular");
        return 1;
    }
    for (int i = 0; i < d->nl; i++) s->la[i] = -s->la[i];
    dae_split_solve(s->here, s->la, y + s->nw, s->v);
    return dae_all_finite(d->nv, s->v) ? 0 : 1;
}

static void null_space_of(split_matrix *K, int ns, double *unit, double *N)
{
    for (int k = 0; k < ns; k++) {
        dae_zero(ns, unit);
        unit[k] = 1;
        dae_split_solve(K, NULL, unit, N + (size_t)k * (size_t)K->n);
    }
}

void dae_statespace_null_space(dae_formulation *f)
{
    statespace *s = f->self;
    null_space_of(s->here, s->ns, s->rhs, s->N);
}

/* ---- Right-hand side ------------------------------------------------------------------------------------- */

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* Accelerations by full partitioning, into a. */
static int reduced_accelerations(dae_formulation *f, double t, const double *u, double *a)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int nv = d->nv, ns = s->ns;
    int r = dae_descriptor_gamma(d, t, s->p, s->v, s->la);
    if (!r) r = dae_descriptor_mass(d, t, s->p, d->M);
    if (!r) r = dae_descriptor_force(d, t, s->p, s->v, u, d->nothing, s->vb);
    if (r) return r;
    for (int i = 0; i < d->nl; i++) s->la[i] = -s->la[i];
    dae_split_solve(s->here, s->la, NULL, a);
    dae_saddle_multiply_mass(nv, d->spec.block, d->spec.nblock, d->M, -1, a, s->vb);
    dae_statespace_null_space(f);
    dae_zero(nv * ns, s->MN);
    for (int k = 0; k < ns; k++) {
        size_t at = (size_t)k * (size_t)nv;
        dae_saddle_multiply_mass(nv, d->spec.block, d->spec.nblock, d->M, 1, s->N + at, s->MN + at);
        for (int i = 0; i <= k; i++) {
            double x = dot(nv, s->N + (size_t)i * (size_t)nv, s->MN + at);
            s->reduced_lu.re[i + k * s->reduced_lu.ld] = x;
            s->reduced_lu.re[k + i * s->reduced_lu.ld] = x;
        }
        s->rhs[k] = dot(nv, s->N + at, s->vb);
    }
    s->reduced_lu.finite = 0;
    if (dae_dense_factor(&s->reduced_lu)) {
        note_trouble(f, t, s->p, "the mass matrix of the independent coordinates is singular");
        return 1;
    }
    dae_dense_solve(&s->reduced_lu, s->rhs, NULL);
    for (int k = 0; k < ns; k++) dae_axpy(nv, s->rhs[k], s->N + (size_t)k * (size_t)nv, a);
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

/* Independent velocities: full pivoting of the first m rows of s->G. Returns the rank. */
static int pivot_velocities(dae_formulation *f, int m, int *index)
{
    statespace *s = f->self;
    int nv = f->d.nv;
    for (int j = 0; j < nv; j++) dae_copy(m, s->G + (size_t)j * (size_t)f->d.nl, s->gefp + (size_t)j * (size_t)m);
    int rank = dae_gefp(m, nv, s->gefp, NULL, 0, s->rows, s->cols, NULL);
    for (int k = 0; k < nv - rank && rank == m; k++) index[k] = s->cols[m + k];
    if (rank == m) sort_ints(nv - m, index);
    return rank;
}

/* P = T N, np x nw. */
static void tangent(dae_formulation *f, const double *N, double *P)
{
    statespace *s = f->self;
    int np = f->d.np, nv = f->d.nv;
    for (int k = 0; k < s->nw; k++) {
        double *column = P + (size_t)k * (size_t)np;
        const double *from = N + (size_t)k * (size_t)nv;
        if (s->plain) {
            dae_copy(nv, from, column);
            continue;
        }
        dae_zero(np, column);
        for (int j = 0; j < nv; j++) dae_axpy(np, from[j], s->T + (size_t)j * (size_t)np, column);
    }
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

/* The coordinates that the user wants, at the start; s->G and s->T are those of the point. */
static int take_wish(dae_formulation *f, split_matrix *K)
{
    statespace *s = f->self;
    memcpy(s->other.index, s->wish, (size_t)s->nw * sizeof(int));
    return split_factor(K, f->d.ng, s->G, f->d.nl, &s->other, s->T) ? 1 : 0;
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
                        "independent = %s: expected %d different numbers of positions from 1 to %d with commas between them, and "
                        "coordinates = pivoting", text, s->nw, f->d.np);
    }
    s->wished = 1;
    return DAE_OK;
}

/* Chooses s->other for the positions (and s->other_velocity) at (t, p) and factors *K with it; first: at the start. */
static int choose_coordinates(dae_formulation *f, double t, const double *p, int first, split_matrix *K, int *rank)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int np = d->np, m = d->ng;
    *rank = -1;
    int r = dense_G(f, t, p);
    if (!r) r = dense_T(f, t, p);
    if (r) return r;
    if (!s->holonomic) {
        *rank = pivot_velocities(f, d->nl, s->other_velocity);
        if (*rank < d->nl) return 1;
    }
    functionals pick = {.n = d->nv, .count = s->nw, .index = s->other.index};
    if (first && s->wished) return take_wish(f, K);
    *rank = pivot_velocities(f, m, pick.index);
    if (*rank < m) return 1;
    if (s->plain && !s->other.Z) return split_factor(K, m, s->G, d->nl, &s->other, NULL) ? 1 : 0;
    /* A basis of the null space in terms of the velocities, then of positions. */
    double *P = s->other.Z ? s->other.Z : s->gefp + (size_t)np * (size_t)s->nw;
    if (split_factor(K, m, s->G, d->nl, &pick, NULL)) return 1;
    null_space_of(K, s->nw, s->residual, s->MN);
    tangent(f, s->MN, P);
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
    return split_factor(K, m, s->G, d->nl, &s->other, s->T) ? 1 : 0;
}

/* max |T N| of the positions with matrix *K; s->T is that of the point. */
static double influence(dae_formulation *f, split_matrix *K)
{
    statespace *s = f->self;
    null_space_of(K, s->nw, s->residual, s->MN);
    tangent(f, s->MN, s->gefp);
    return dae_all_finite(f->d.np * s->nw, s->gefp) ? largest(f->d.np * s->nw, s->gefp) : INFINITY;
}

/* The same for the selected velocities of a nonholonomic system; s->G is that of the point, *K is overwritten. */
static double velocity_influence(dae_formulation *f, int *index, split_matrix *K)
{
    statespace *s = f->self;
    int nv = f->d.nv;
    functionals pick = {.n = nv, .count = s->ns, .index = index};
    if (s->holonomic) return 0;
    if (split_factor(K, f->d.nl, s->G, f->d.nl, &pick, NULL)) return INFINITY;
    null_space_of(K, s->ns, s->residual, s->MN);
    return dae_all_finite(nv * s->ns, s->MN) ? largest(nv * s->ns, s->MN) : INFINITY;
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
    snprintf(f->text + used, sizeof f->text - used, ", eta = %.3g, changed %ld times", s->eta, s->changes);
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

/* Tries other coordinates at s->p; 1: they are in use now. */
static int change(dae_formulation *f, double t, double *y, const char *reason)
{
    statespace *s = f->self;
    int rank;
    double old = s->eta;
    if (choose_coordinates(f, t, s->p, 0, s->spare, &rank)) return 0;
    double eta = fmax(influence(f, s->spare), velocity_influence(f, s->other_velocity, s->here));
    if (!(eta < old / f->option.hysteresis)) {
        s->eta_start = fmax(s->eta_start, old / f->option.growth); /* as good as it gets: ask again when it is worse */
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
    describe(f);
    if (f->log.log) {
        dae_log(&f->log, DAE_LOG_INFO, "t=%.10g partition=changed reason=\"%s\" eta=%.3g was=%.3g text=\"%s\"", t, reason, eta, old,
                f->text);
    }
    return 1;
}

static int chart(double t, double *y, void *user)
{
    dae_formulation *f = user;
    statespace *s = f->self;
    int r = dae_statespace_recover(f, t, y);
    if (r) return r < 0 ? r : 0; /* the next evaluation tells */
    s->slow = s->iterations > MANY_ITERATIONS ? s->slow + 1 : 0;
    if (renew_anchor_matrix(f, t)) return 0;
    r = set_anchor(f, t);
    if (r) return r < 0 ? r : 0;
    f->trouble[0] = 0;
    s->eta = fmax(influence(f, s->anchor), velocity_influence(f, s->velocity.index, s->here));
    if (s->eta > fmax(f->option.eta, f->option.growth * s->eta_start)) return change(f, t, y, "influence of the independent coordinates");
    if (s->slow >= 2) {
        s->slow = 0;
        return change(f, t, y, "slow Newton iterations");
    }
    return 0;
}

static dae_status attach(dae_formulation *f, dae_integrator *it, dae_error *err)
{
    (void)err;
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
    take_functionals(&s->other, d->np, s->nw, linear, a);
    take_functionals(&s->velocity, d->nv, s->ns, 0, a);
    s->other_velocity = dae_arena_ints(a, ns + 1);
    s->wish = dae_arena_ints(a, nw + 1);
    s->anchor_p = dae_arena_reals(a, np);
    s->anchor_pdot = dae_arena_reals(a, np);
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
    dae_dense_init(&s->reduced_lu, s->ns, 0, a);
}

static dae_status create(dae_formulation *f, dae_error *err)
{
    const dae_descriptor *d = &f->d;
    int linear = !strcmp(f->option.coordinates, "nullspace");
    if (d->np != d->nv && d->m.nquaternion != d->np - d->nv) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "statespace: %d positions and %d velocities, but %d quadruples of Euler parameters; only these may "
                        "make the difference", d->np, d->nv, d->m.nquaternion);
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
                        "statespace: %d velocities and %d constraints leave no degree of freedom", d->nv, d->nl);
    }
    take_memory(s, d, linear, f->arena);
    if (dae_arena_failed(f->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a state space");
    dae_status wish = read_wish(f, err);
    if (wish) return wish;
    int reduced = s->plain && !linear;
    for (int i = 0; i < 3; i++) {
        split_init(&s->store[i], d->nl, d->nv, s->holonomic ? reduced : 0, f->arena);
    }
    s->anchor = &s->store[0];
    s->here = &s->store[1];
    s->spare = &s->store[2];
    int n = s->nw + s->ns + d->nu;
    if (dae_arena_failed(f->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d equations", n);
    f->sys = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = n, .f = rhs, .user = f}};
    if (s->holonomic) f->sys.structure.second_order = s->nw;
    if (s->holonomic && !d->nu && !d->friction) {
        f->sys.ode.jac = dae_statespace_jacobian;
        f->sys.ode.dfdt = dae_statespace_dfdt;
    }
    return DAE_OK;
}

/* ---- States ----------------------------------------------------------------------------------------------------- */

static dae_status no_choice(dae_formulation *f, double t, const double *p, int rank, dae_error *err)
{
    statespace *s = f->self;
    char where[96], which[64] = "";
    int m = s->holonomic ? f->d.ng : f->d.nl;
    print_point(where, sizeof where, f->d.np, p);
    if (rank < 0 || rank >= m) {
        return dae_fail(err, DAE_ERR_SINGULAR, t, "t = %.10g: no independent coordinates can be chosen at %s", t, where);
    }
    size_t used = 0;
    for (int i = rank; i < m && used + 8 < sizeof which; i++) {
        used += (size_t)snprintf(which + used, sizeof which - used, "%s%d", i > rank ? ", " : "", s->rows[i] + 1);
    }
    return dae_fail(err, DAE_ERR_SINGULAR, t,
                    "t = %.10g: constraints %s depend on the others at %s: redundant, or a singular configuration", t, which,
                    where);
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
    s->eta = s->eta_start = fmax(influence(f, s->anchor), velocity_influence(f, s->velocity.index, s->here));
    s->slow = 0;
    s->changes = s->points = s->newton = 0;
    f->trouble[0] = 0;
    int r = set_anchor(f, t);
    if (!r) r = write_state(f, t, y);
    dae_copy(d->nu, pvu + d->np + d->nv, y + s->nw + s->ns);
    if (!r) r = dae_statespace_recover(f, t, y); /* the dependent ones may have been given roughly */
    if (!r) r = set_anchor(f, t);
    describe(f);
    if (r) return dae_fail(err, DAE_ERR_INCONSISTENT, t, "t = %.10g: the initial values cannot be made consistent: %s", t, f->trouble);
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
    if (r) return dae_fail(err, DAE_ERR_UNDEFINED, t, "t = %.10g: no dependent coordinates there: %s", t, f->trouble);
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
    {"partition", DAE_OPTION_NAME, offsetof(dae_formulation_options, partition), 0, "full", 0, 0, "simple|full", "",
     "accelerations from the saddle-point system (simple) or in the null space of G (full)"},
    {"coordinates", DAE_OPTION_NAME, offsetof(dae_formulation_options, coordinates), 0, "pivoting", 0, 0,
     "pivoting|nullspace", "", "independent coordinates: chosen by full pivoting, or spanning the null space of G"},
    {"independent", DAE_OPTION_NAME, offsetof(dae_formulation_options, independent), 0, "auto", 0, 0, NULL, "",
     "numbers of the independent positions at the start, as 3,6; auto: chosen"},
    {"eta", DAE_OPTION_REAL, offsetof(dae_formulation_options, eta), 2, NULL, 1, 1e12, NULL, "",
     "influence of independent on dependent coordinates from which on others are looked for"},
    {"growth", DAE_OPTION_REAL, offsetof(dae_formulation_options, growth), 3, NULL, 1, 1e12, NULL, "",
     "and its growth since the last choice"},
    {"hysteresis", DAE_OPTION_REAL, offsetof(dae_formulation_options, hysteresis), 1.5, NULL, 1, 1e12, NULL, "",
     "factor by which another choice has to be better"},
    DAE_FORMULATION_SADDLE,
    {.name = NULL}};

const dae_formulation_type dae_formulation_statespace = {
    .info = {.name = "statespace",
             .title = "minimal coordinates by partitioning: ODE in the degrees of freedom",
             .summary = "for every ODE method; constraints hold to rounding, coordinates change during the run",
             .kind = DAE_KIND_ODE,
             .options = options},
    .create = create,
    .lift = lift,
    .lower = lower,
    .attach = attach,
    .tolerance = tolerance,
    .dynamics_at = dynamics_at,
};
