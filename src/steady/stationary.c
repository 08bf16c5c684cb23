#include "steady/stationary.h"

#include "core/error.h"
#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/dense.h"
#include "linalg/eigenvalues.h"
#include "linalg/least_squares.h"
#include "linalg/null_space.h"
#include "linalg/svd.h"
#include "sensitivity/engine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 3000, POINTS = 3 }; /* unknowns: matrices are dense; points at which an invariant must be one */
#define MOVE 6e-6                 /* the cube root of the rounding unit: increments of central differences */
#define RANK 1e-12                /* ours: singular values below this part of the largest are 0; ... */
#define RANK_OFF 1e-8             /* ... where derivatives are differences */
#define SHAKEN 0.1                /* ours: how far the points lie apart at which an invariant is tested */

static dae_status no_memory(dae_error *err)
{
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

static const dae_mech *mechanism(const dae_stationary *s)
{
    return s->p->system.kind == DAE_KIND_MECH ? &s->p->system.mech : NULL;
}

/* ---- Life ----------------------------------------------------------------------------------------------------- */

dae_status dae_stationary_open(dae_stationary *s, const dae_problem *p, double t, const char *parameter,
                               dae_error *err)
{
    *s = (dae_stationary){.base = p, .p = p, .t = t, .parameter = -1, .n = dae_system_size(&p->system)};
    if (parameter) {
        s->parameter = p->info ? dae_parameter_find(p, parameter) : -1;
        if (s->parameter < 0)
            return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no parameter \"%s\"", parameter);
        const dae_parameter *q = &p->info->parameter[s->parameter];
        if (q->choices || q->integer)
            return dae_fail(err, DAE_ERR_INPUT, NAN, "parameter %s takes %s only", parameter,
                            q->choices ? "words" : "whole numbers");
        s->value = p->parameter[s->parameter];
    }
    const dae_mech *m = mechanism(s);
    s->unknowns = m ? m->nv + m->nu : s->n;
    if (s->unknowns > MOST)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "%d unknowns; steady states are for %d at most",
                        s->unknowns, MOST);
    s->arena = dae_arena_create();
    if (!s->arena) return no_memory(err);
    size_t n = (size_t)s->n, nv = m ? (size_t)m->nv : 0, nl = m ? (size_t)m->nlambda : 0,
           rows = m ? 2 * nv + nl + (size_t)m->nu : 2 * n;
    double **vector[] = {&s->low, &s->high, &s->moved, &s->rate, &s->floor, &s->anchor, &s->zero};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        *vector[k] = dae_arena_reals(s->arena, n + rows + 1);
    if (m) {
        s->N = dae_arena_reals(s->arena, nv * nv + 1);
        s->basis = dae_arena_reals(s->arena, nv * (nv + 1) + 1);
        s->G = dae_arena_reals(s->arena, nv * nl + 1);
        s->lambda = dae_arena_reals(s->arena, (nv > nl ? nv : nl) + 1);
        s->f = dae_arena_reals(s->arena, nv + 1);
        s->g = dae_arena_reals(s->arena, nl + 1);
    } else {
        s->W = dae_arena_reals(s->arena, n * n + 1);
        s->J = dae_arena_reals(s->arena, n * n + 1);
        s->E = dae_arena_reals(s->arena, n * n + 1);
        s->values =
            dae_arena_reals(s->arena, (size_t)dae_pattern_count(&p->system.structure.jacobian, s->n) + 1);
    }
    if (dae_arena_failed(s->arena)) return no_memory(err);
    s->rows = m ? 0 : s->n;
    double largest = 0;
    for (int i = 0; i < s->n; i++) largest = fmax(largest, fabs(p->y0[i]));
    for (int i = 0; i < s->n; i++) {
        double size = p->rtol > 0 ? p->atol / p->rtol : 1e-3;
        if (p->atol_factor) size *= p->atol_factor[i];
        s->floor[i] = fmax(fmin(size, 1), 1e-8 * fmax(largest, 1e-8));
    }
    return DAE_OK;
}

void dae_stationary_close(dae_stationary *s)
{
    dae_problem_destroy(s->variant);
    dae_arena_destroy(s->arena);
    *s = (dae_stationary){0};
}

dae_status dae_stationary_set(dae_stationary *s, double value, dae_error *err)
{
    char text[100];
    if (value == s->value) return DAE_OK;
    dae_parameter_text(s->base, s->parameter, value, text, sizeof text);
    dae_problem *v = dae_problem_variant(
        s->base, &(dae_setting){s->base->info->parameter[s->parameter].name, text}, 1, err);
    if (!v) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (dae_system_size(&v->system) != s->n || v->system.kind != s->base->system.kind) {
        dae_problem_destroy(v);
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "parameter %s changes the structure of the system",
                        s->base->info->parameter[s->parameter].name);
    }
    dae_problem_destroy(s->variant);
    s->variant = v;
    s->p = v;
    s->value = value;
    return DAE_OK;
}

/* ---- Mechanisms ------------------------------------------------------------------------------------------------ */

static dae_mech_point point_of(const dae_stationary *s, const dae_mech *m, const double *y)
{
    return (dae_mech_point){.t = s->t, .p = y, .v = y + m->np, .u = y + m->np + m->nv, .lambda = s->lambda};
}

/* f - G^T lambda into out (nv); g beside it. */
static int pull(dae_stationary *s, const dae_mech *m, const double *y, double *out)
{
    dae_mech_point at = point_of(s, m, y);
    int nl = m->nlambda, r = m->force(&at, out, m->user);
    dae_zero(nl * m->nv, s->G);
    dae_zero(nl, s->g);
    if (!r && nl) r = m->constraint(&at, s->g, s->G, m->user);
    for (int c = 0; c < m->nv && !r; c++) {
        for (int i = 0; i < nl; i++) out[c] -= s->G[c * nl + i] * s->lambda[i];
    }
    return r;
}

/* lambda that takes up most of f, by least squares. */
static int take_up(dae_stationary *s, const dae_mech *m, const double *y)
{
    int nl = m->nlambda, nv = m->nv;
    double *A = malloc(((size_t)nv * (size_t)nl + 1) * sizeof *A), *b = s->low;
    if (!A) return s->starved = 1, -1;
    dae_zero(nl, s->lambda);
    int r = pull(s, m, y, b);
    for (int c = 0; c < nv; c++) {
        for (int i = 0; i < nl; i++) A[i * nv + c] = s->G[c * nl + i];
    }
    int rank = !r && nl ? dae_least_squares(nv, nl, A, b, 1e-12) : 0;
    if (rank == -1) s->starved = 1;
    if (rank < 0) r = -1;
    if (!r) dae_copy(nl, b, s->lambda);
    free(A);
    return r;
}

/* N^T (f - G^T lambda), g, d */
static int mechanical_residual(dae_stationary *s, const dae_mech *m, const double *y, double *r)
{
    dae_mech_point at = point_of(s, m, y);
    int bad = pull(s, m, y, s->f), k = 0;
    for (int i = 0; i < s->free_directions; i++) r[k++] = dae_dot(m->nv, s->N + i * m->nv, s->f);
    for (int i = 0; i < m->ng; i++) r[k++] = s->g[i];
    if (!bad && m->nu) bad = m->dynamics(&at, r + k, m->user);
    return bad;
}

/* ---- Residual, steps ---------------------------------------------------------------------------------------------- */

int dae_stationary_frame(dae_stationary *s, const double *y)
{
    const dae_mech *m = mechanism(s);
    if (!m) return 0;
    int r = take_up(s, m, y);
    s->free_directions = dae_null_space(m->nv, m->nlambda, m->nlambda, s->G, s->basis, s->N);
    s->rows = s->free_directions + m->ng + m->nu;
    return r;
}

static int system_residual(const dae_stationary *s, const double *y, double *r)
{
    const dae_system *sys = &s->p->system;
    if (sys->kind == DAE_KIND_ODE) return sys->ode.f(s->t, y, r, sys->ode.user);
    if (sys->kind == DAE_KIND_DAE) return sys->dae.f(s->t, y, r, sys->dae.user);
    return sys->ide.residual(s->t, y, s->zero, r, sys->ide.user);
}

int dae_stationary_residual(dae_stationary *s, const double *y, double *r)
{
    const dae_mech *m = mechanism(s);
    int bad = m ? mechanical_residual(s, m, y, r) : system_residual(s, y, r);
    for (int k = 0; k < s->conserved; k++) {
        double sum = 0;
        for (int i = 0; i < s->n; i++) sum += s->W[k * s->n + i] * (y[i] - s->anchor[i]);
        r[s->n + k] = sum;
    }
    return bad || !dae_all_finite(s->rows, r);
}

void dae_stationary_move(const dae_stationary *s, const double *x, double *y)
{
    const dae_mech *m = mechanism(s);
    if (!m) {
        dae_axpy(s->n, 1, x, y);
        return;
    }
    dae_mech_point at = {.t = s->t, .p = y, .v = x};
    if (m->kinematics) m->kinematics(&at, s->rate, m->user);
    else dae_copy(m->np, x, s->rate);
    dae_axpy(m->np, 1, s->rate, y);
    dae_axpy(m->nu, 1, x + m->nv, y + m->np + m->nv);
    for (int k = 0; k < m->nquaternion; k++) {
        double *q = y + m->quaternion[k], norm = sqrt(dae_dot(4, q, q));
        for (int i = 0; i < 4; i++) q[i] /= norm;
    }
}

void dae_stationary_scale(const dae_stationary *s, const double *y, double *w)
{
    const dae_mech *m = mechanism(s);
    double length = 1e-3;
    for (int i = 0; m && i < m->np; i++) length = fmax(length, fabs(y[i]));
    for (int i = 0; i < s->unknowns; i++) {
        if (!m) w[i] = fabs(y[i]) + s->floor[i];
        else if (i < m->nv) w[i] = fmin(length, 1);
        else w[i] = fabs(y[m->np + i]) + s->floor[m->np + i];
    }
}

/* ---- Derivatives -------------------------------------------------------------------------------------------------- */

/* Central differences of the residual by all unknowns. */
static int by_differences(dae_stationary *s, const double *y, double *J)
{
    double *w = malloc(2 * (size_t)s->unknowns * sizeof *w), *x = w + s->unknowns;
    int r = w ? 0 : -1;
    if (!w) s->starved = 1;
    if (!r) dae_stationary_scale(s, y, w);
    for (int c = 0; c < s->unknowns && !r; c++) {
        double d = MOVE * w[c];
        for (int side = 0; side < 2 && !r; side++) {
            dae_zero(s->unknowns, x);
            x[c] = side ? d : -d;
            dae_copy(s->n, y, s->moved);
            dae_stationary_move(s, x, s->moved);
            r = dae_stationary_residual(s, s->moved, side ? s->high : s->low);
        }
        for (int i = 0; i < s->rows; i++) J[c * s->rows + i] = (s->high[i] - s->low[i]) / (2 * d);
    }
    free(w);
    s->differences = 1;
    return r;
}

/* df/dy or dF/dy of the system as a dense matrix (n*n). 1: it has none of its own. */
static int own_jacobian(dae_stationary *s, const double *y, int derivative, double *J)
{
    const dae_system *sys = &s->p->system;
    const dae_pattern *q = &sys->structure.jacobian;
    long count = dae_pattern_count(q, s->n);
    int r, given = sys->kind == DAE_KIND_ODE   ? sys->ode.jac != NULL
                   : sys->kind == DAE_KIND_DAE ? sys->dae.jac != NULL && !sys->dae.mass_fn
                                               : sys->ide.dfdy && sys->ide.dfdyp;
    if (!given || !dae_engine_complete(&sys->structure, s->n, NULL)) return 1;
    memset(s->values, 0, (size_t)count * sizeof *s->values);
    if (sys->kind == DAE_KIND_ODE) r = sys->ode.jac(s->t, y, s->values, sys->ode.user);
    else if (sys->kind == DAE_KIND_DAE) r = sys->dae.jac(s->t, y, s->values, sys->dae.user);
    else r = (derivative ? sys->ide.dfdyp : sys->ide.dfdy)(s->t, y, s->zero, s->values, sys->ide.user);
    if (r) return r > 0 ? 2 : r;
    if (sys->kind != DAE_KIND_IDE) dae_engine_complete(&sys->structure, s->n, s->values);
    if (q->storage == DAE_DENSE) {
        dae_copy(s->n * s->n, s->values, J);
    } else {
        dae_zero(s->n * s->n, J);
        dae_pattern_to_dense(q, s->n, s->values, J);
    }
    return 0;
}

int dae_stationary_jacobian(dae_stationary *s, const double *y, double *J)
{
    int r = mechanism(s) ? 1 : own_jacobian(s, y, 0, s->J);
    if (r == 1) return by_differences(s, y, J);
    for (int c = 0; c < s->n && !r; c++) {
        dae_copy(s->n, s->J + c * s->n, J + c * s->rows);
        for (int k = 0; k < s->conserved; k++) J[c * s->rows + s->n + k] = s->W[k * s->n + c];
    }
    return r;
}

/* ---- Linear invariants --------------------------------------------------------------------------------------------- */

/* M, or dF/dy', at y. 0: fine */
static int mass_of(dae_stationary *s, const double *y, double *E)
{
    const dae_system *sys = &s->p->system;
    int n = s->n;
    if (sys->kind == DAE_KIND_IDE) {
        int r = own_jacobian(s, y, 1, E);
        for (int c = 0; c < n && r == 1; c++) { /* differences */
            int bad = 0;
            for (int side = 0; side < 2 && !bad; side++) {
                s->zero[c] = side ? MOVE : -MOVE;
                bad = sys->ide.residual(s->t, y, s->zero, side ? s->high : s->low, sys->ide.user);
            }
            s->zero[c] = 0;
            if (bad) return -1;
            for (int i = 0; i < n; i++) E[c * n + i] = (s->high[i] - s->low[i]) / (2 * MOVE);
        }
        return r == 1 ? 0 : r;
    }
    dae_zero(n * n, E);
    if (sys->kind == DAE_KIND_DAE && sys->dae.mass_fn) {
        const dae_pattern *q = &sys->dae.mass.pattern;
        double *values = q->storage == DAE_DENSE ? E : s->values;
        dae_zero((int)dae_pattern_count(q, n), values);
        int r = sys->dae.mass_fn(s->t, y, values, sys->dae.user);
        if (q->storage == DAE_DIAGONAL) {
            for (int i = 0; i < n; i++) s->low[i] = values[i];
            for (int i = 0; i < n; i++) E[i * n + i] = s->low[i];
        } else if (q->storage != DAE_DENSE) {
            dae_pattern_to_dense(q, n, values, E);
        }
        return r;
    }
    const dae_matrix *M = sys->kind == DAE_KIND_DAE ? &sys->dae.mass : &(dae_matrix){0};
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < n; i++) E[c * n + i] = M->n ? dae_matrix_get(M, i, c) : i == c;
    }
    return 0;
}

/* The columns of W (n*count) that are left null vectors of J (n*n), in place; their number. */
static int left_null(int n, const double *J, double *W, int count, double tolerance)
{
    size_t size = (size_t)n * (size_t)count;
    double *A = malloc((2 * size + 2 * (size_t)count * (size_t)count + (size_t)n) * sizeof *A);
    if (!A || !count) return free(A), A ? 0 : -1;
    double *V = A + size, *old = V + (size_t)count * (size_t)count, *s = old + size, largest = 0;
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(J[i]));
    for (int k = 0; k < count; k++) { /* A = J^T W */
        for (int c = 0; c < n; c++) A[k * n + c] = dae_dot(n, J + c * n, W + k * n);
    }
    dae_svd(n, count, A, s, V);
    dae_copy(n * count, W, old);
    int left = 0;
    for (int k = 0; k < count; k++) {
        if (s[k] > tolerance * largest) continue;
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < count; j++) sum += old[j * n + i] * V[k * count + j];
            W[left * n + i] = sum;
        }
        left++;
    }
    free(A);
    return left;
}

/* A point near y, the same ones every time. */
static void shake(const dae_stationary *s, const double *y, int k, double *out)
{
    unsigned state = 12345u + 977u * (unsigned)k;
    for (int i = 0; i < s->n; i++) {
        state = state * 1664525u + 1013904223u;
        double random = (double)(state >> 8) / (1 << 24);
        out[i] = y[i] + (k ? SHAKEN * random * (fabs(y[i]) + s->floor[i]) : 0);
    }
}

dae_status dae_stationary_anchor(dae_stationary *s, const double *y, dae_error *err)
{
    int n = s->n, count = n;
    if (mechanism(s) || s->p->system.kind == DAE_KIND_IDE) return DAE_OK;
    s->conserved = 0;
    s->rows = n;
    for (int i = 0; i < n * n; i++) s->W[i] = i % (n + 1) == 0;
    for (int k = 0; k < POINTS && count; k++) {
        double *at = s->rate;
        shake(s, y, k, at);
        int r = own_jacobian(s, at, 0, s->J);
        if (r == 1) r = by_differences(s, at, s->J);
        if (r && k) continue; /* it cannot be evaluated there */
        if (r) return DAE_OK;
        count = left_null(n, s->J, s->W, count, s->differences ? RANK_OFF : RANK);
        if (count < 0) return no_memory(err);
    }
    if (!count || mass_of(s, y, s->E)) return DAE_OK;
    dae_copy(n, y, s->anchor);
    int bad = system_residual(s, y, s->low);
    for (int k = 0, kept = 0; k < count && !bad; k++) { /* w becomes M^T w */
        double *w = s->W + k * n, size = 0;
        for (int c = 0; c < n; c++) s->high[c] = dae_dot(n, s->E + c * n, w);
        for (int c = 0; c < n; c++) size = fmax(size, fabs(s->high[c]));
        if (!(size > 0)) continue;
        double drift = dae_dot(n, w, s->low), most = 0;
        for (int i = 0; i < n; i++) most = fmax(most, fabs(w[i] * s->low[i]));
        if (fabs(drift) > 1e-9 * most && most > 0)
            return dae_fail(
                err, DAE_ERR_CONVERGENCE, s->t,
                "there is no steady state: a sum of the components grows at a constant rate of %.3g", drift);
        dae_copy(n, s->high, s->W + kept * n);
        s->conserved = ++kept;
    }
    s->rows = n + s->conserved;
    return DAE_OK;
}

/* ---- Newton's method --------------------------------------------------------------------------------------------------- */

/* x = -J^-1 r in units of w, by least squares of least norm; its norm. NAN: failed. */
static double correction(dae_stationary *s, const double *J, const double *r, const double *w, double *A,
                         double *x)
{
    int rows = s->rows, n = s->unknowns;
    for (int c = 0; c < n; c++) {
        for (int i = 0; i < rows; i++) A[c * rows + i] = J[c * rows + i] * w[c];
    }
    for (int i = 0; i < rows; i++) { /* rows of size 1 */
        double most = 0;
        for (int c = 0; c < n; c++) most = fmax(most, fabs(A[c * rows + i]));
        double scale = most > 0 ? 1 / most : 1;
        for (int c = 0; c < n; c++) A[c * rows + i] *= scale;
        x[i] = -r[i] * scale;
    }
    int rank = dae_least_squares(rows, n, A, x, s->differences ? RANK_OFF : RANK);
    if (rank == -1) s->starved = 1;
    if (rank < 0) return NAN;
    double norm = sqrt(dae_dot(n, x, x) / n);
    for (int c = 0; c < n; c++) x[c] *= w[c];
    return norm;
}

typedef struct newton {
    double *J, *A, *r, *w, *x, *next, *trial;
} newton;

/* One damped step, natural monotonicity [HW: IV.8; Deuflhard]. Returns the norm of the correction that would follow, NAN: failed. */
static double damped(dae_stationary *s, newton *k, double *y, double norm, double *factor)
{
    for (*factor = 1; *factor > 1e-5; *factor /= 2) {
        dae_copy(s->n, y, k->trial);
        for (int c = 0; c < s->unknowns; c++) k->next[c] = *factor * k->x[c];
        dae_stationary_move(s, k->next, k->trial);
        if (dae_stationary_residual(s, k->trial, k->r)) continue;
        double after = correction(s, k->J, k->r, k->w, k->A, k->next);
        if (after <= (1 - *factor / 4) * norm) {
            dae_copy(s->n, k->trial, y);
            return after;
        }
    }
    return NAN;
}

dae_status dae_stationary_solve(dae_stationary *s, double tolerance, int max_iterations, double *y,
                                int *iterations, dae_error *err)
{
    const dae_mech *m = mechanism(s);
    size_t n = (size_t)s->n, u = (size_t)s->unknowns, rows = m ? (size_t)(m->nv + m->nlambda + m->nu) : 2 * n,
           most = rows > u ? rows : u;
    double *work = calloc(2 * rows * u + 5 * most + n + 8, sizeof *work), norm = INFINITY, factor = 1;
    if (!work) return no_memory(err);
    newton k = {.J = work, .A = work + rows * u};
    k.r = k.A + rows * u;
    k.w = k.r + most;
    k.x = k.w + most;
    k.next = k.x + most;
    k.trial = k.next + most;
    int done = 0;
    *iterations = 0;
    for (; *iterations < max_iterations && !done; ++*iterations) {
        if (dae_stationary_frame(s, y) || dae_stationary_residual(s, y, k.r) ||
            dae_stationary_jacobian(s, y, k.J))
            break;
        dae_stationary_scale(s, y, k.w);
        norm = correction(s, k.J, k.r, k.w, k.A, k.x);
        if (!isfinite(norm)) break;
        if (norm <= tolerance) { /* the last one is taken too */
            dae_stationary_move(s, k.x, y);
            done = 1;
            break;
        }
        double after = damped(s, &k, y, norm, &factor);
        if (isnan(after)) { /* at the level of rounding nothing falls any more */
            done = norm <= 1e3 * tolerance;
            break;
        }
        done = factor == 1 && after <= tolerance;
    }
    /* what least squares leave: the equations themselves must hold */
    if (done) {
        double off = 0, size = 0;
        if (dae_stationary_frame(s, y) || dae_stationary_residual(s, y, k.r) ||
            dae_stationary_jacobian(s, y, k.J))
            done = 0;
        for (int i = 0; i < s->rows && done; i++) {
            double most_of = 0;
            for (int c = 0; c < s->unknowns; c++)
                most_of = fmax(most_of, fabs(k.J[c * s->rows + i]) * k.w[c]);
            off = fmax(off, k.r[i] == 0 ? 0 : fabs(k.r[i]) / most_of); /* INFINITY where nothing moves it */
            size = fmax(size, fabs(k.r[i]));
        }
        done = done && off <= fmax(1e4 * tolerance, 1e-7);
        norm = off;
    }
    free(work);
    if (s->starved) return no_memory(err);
    if (done) return DAE_OK;
    return dae_fail(
        err, DAE_ERR_CONVERGENCE, s->t,
        "no steady state was found near the start: after %d iterations the correction is %.2g of the "
        "size of the unknowns",
        *iterations, norm);
}

/* ---- Eigenvalues -------------------------------------------------------------------------------------------------------- */

static void sort_by_real_part(int count, double *re, double *im)
{
    for (int i = 1; i < count; i++) {
        double a = re[i], b = im[i];
        int k = i;
        for (; k > 0 && re[k - 1] < a; k--) re[k] = re[k - 1], im[k] = im[k - 1];
        re[k] = a;
        im[k] = b;
    }
}

double dae_stationary_noise(const dae_stationary *s, int count, const double *re, const double *im)
{
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, hypot(re[i], im[i]));
    return (s->differences ? 1e-8 : 1e-12) * most;
}

/* B = (A - sigma E)^-1 E in place of E. 0: fine */
static int shifted_inverse(int n, const double *A, double *E, double sigma, int *starved)
{
    dae_arena *arena = dae_arena_create();
    double *C = malloc((size_t)n * (size_t)n * sizeof *C);
    int bad = !arena || !C;
    *starved |= bad;
    if (!bad) {
        dae_dense_lu lu = {0};
        for (int i = 0; i < n * n; i++) C[i] = A[i] - sigma * E[i];
        dae_dense_init(&lu, n, 0, arena);
        bad = dae_arena_failed(arena);
        *starved |= bad;
        if (!bad) {
            dae_dense_load(&lu, 1, C, n);
            bad = dae_dense_factor(&lu);
            for (int c = 0; c < n && !bad; c++) dae_dense_solve(&lu, E + c * n, NULL);
        }
    }
    free(C);
    dae_arena_destroy(arena);
    return bad;
}

/* Infinite eigenvalues of the pencil are zeros of B, in Jordan blocks where the index is above 1: B is restricted to its range
 * until it is regular. Returns the size that is left; B in place. */
static int deflate(int n, double *B)
{
    double *U = malloc((3 * (size_t)n * (size_t)n + (size_t)n) * sizeof *U), *T = U + n * n,
           *s = T + 2 * n * n;
    int size = n;
    if (!U) return -1;
    for (int turn = 0; turn < n && size; turn++) {
        dae_copy(size * size, B, U);
        dae_svd(size, size, U, s, NULL);
        int rank = 0;
        while (rank < size && s[rank] > RANK * s[0] && s[rank] > 0) rank++;
        if (rank == size) break;
        for (int c = 0; c < rank; c++) { /* T = B U */
            for (int i = 0; i < size; i++) {
                double sum = 0;
                for (int k = 0; k < size; k++) sum += B[k * size + i] * U[c * size + k];
                T[c * size + i] = sum;
            }
        }
        for (int c = 0; c < rank; c++) {
            for (int i = 0; i < rank; i++) B[c * rank + i] = dae_dot(size, U + i * size, T + c * size);
        }
        size = rank;
    }
    free(U);
    return size;
}

/* A x = lambda E x, with a shift that is no eigenvalue. */
static int pencil(int n, double *A, double *E, double *re, double *im, int *starved)
{
    double a = 0, e = 0;
    for (int i = 0; i < n * n; i++) a = fmax(a, fabs(A[i])), e = fmax(e, fabs(E[i]));
    if (!(e > 0)) return 0;
    double sigma = 0.0173 * a / e; /* ours: real, between the eigenvalues unless by chance */
    if (!(sigma > 0)) sigma = 1;
    if (shifted_inverse(n, A, E, sigma, starved)) return -1;
    int size = deflate(n, E), bad = size < 0 ? 0 : dae_eigenvalues(size, E, re, im);
    *starved |= size < 0 || bad <= DAE_EIGENVALUES_NO_MEMORY;
    if (size < 0 || bad) return -1;
    for (int i = 0; i < size; i++) {
        double square = re[i] * re[i] + im[i] * im[i];
        re[i] = sigma + re[i] / square;
        im[i] = -im[i] / square;
    }
    return size;
}

/* Small motions q = N x about rest: (N^T M N) x'' = N^T (K N x + C N x' + F u), u' = D_p N x + D_v N x' + D_u u. */
static int mechanical_eigenvalues(dae_stationary *s, const dae_mech *m, const double *y, double *re,
                                  double *im)
{
    int nv = m->nv, nu = m->nu, nf, size, bad;
    if (m->dfdlambda || dae_stationary_frame(s, y)) return -1;
    nf = s->free_directions;
    size = 2 * nf + nu;
    size_t all = (size_t)size * (size_t)size, square = (size_t)nv * (size_t)nv;
    double *A = calloc(2 * all + 2 * square + 3 * (size_t)(nv + nu) + 8, sizeof *A);
    if (!A) return s->starved = 1, -1;
    double *E = A + all, *M = E + all, *MN = M + square, *up = MN + square, *down = up + nv + nu,
           *x = down + nv + nu;
    dae_mech_point at = point_of(s, m, y);
    if (m->mass_fn) {
        bad = m->mass_fn(&at, M, m->user);
        for (int b = 0, first = 0; b < m->nblock; first += m->mass_block[b++]) { /* only the blocks count */
            for (int c = first; c < first + m->mass_block[b]; c++) {
                for (int i = 0; i < nv; i++) {
                    if (i < first || i >= first + m->mass_block[b]) M[c * nv + i] = 0;
                }
            }
        }
    } else {
        bad = 0;
        for (int c = 0; c < nv; c++) {
            for (int i = 0; i < nv; i++) M[c * nv + i] = m->mass.n ? dae_matrix_get(&m->mass, i, c) : i == c;
        }
    }
    for (int k = 0; k < nf; k++) {
        E[k * size + k] = 1;
        A[(nf + k) * size + k] = 1;
        for (int i = 0; i < nv; i++) {
            MN[k * nv + i] = 0;
            for (int c = 0; c < nv; c++) MN[k * nv + i] += M[c * nv + i] * s->N[k * nv + c];
        }
        for (int i = 0; i < nf; i++) E[(nf + k) * size + nf + i] = dae_dot(nv, s->N + i * nv, MN + k * nv);
    }
    for (int k = 0; k < nu; k++) E[(2 * nf + k) * size + 2 * nf + k] = 1;
    for (int k = 0; k < size && !bad; k++) { /* displaced along N, moving along N, other u */
        double d = k < nf ? MOVE : k < 2 * nf ? MOVE : MOVE * (fabs(y[m->np + nv + k - 2 * nf]) + 1);
        for (int side = 0; side < 2 && !bad; side++) {
            double sign = side ? d : -d, *out = side ? up : down;
            dae_copy(s->n, y, s->moved);
            dae_zero(nv + nu, x);
            if (k < nf) dae_axpy(nv, sign, s->N + k * nv, x);
            else if (k >= 2 * nf) x[nv + k - 2 * nf] = sign;
            if (k < nf || k >= 2 * nf) dae_stationary_move(s, x, s->moved);
            else dae_axpy(nv, sign, s->N + (k - nf) * nv, s->moved + m->np);
            dae_mech_point near = point_of(s, m, s->moved);
            bad = pull(s, m, s->moved, out);
            if (!bad && nu) bad = m->dynamics(&near, out + nv, m->user);
        }
        for (int i = 0; i < nv + nu; i++) up[i] = (up[i] - down[i]) / (2 * d);
        for (int i = 0; i < nf; i++) A[k * size + nf + i] = dae_dot(nv, s->N + i * nv, up);
        for (int i = 0; i < nu; i++) A[k * size + 2 * nf + i] = up[nv + i];
    }
    s->differences = 1;
    int count = bad ? -1 : pencil(size, A, E, re, im, &s->starved);
    free(A);
    return count;
}

int dae_stationary_eigenvalues(dae_stationary *s, const double *y, double *re, double *im)
{
    const dae_mech *m = mechanism(s);
    int count;
    if (m) {
        count = mechanical_eigenvalues(s, m, y, re, im);
    } else {
        int conserved = s->conserved, rows = s->rows, r = own_jacobian(s, y, 0, s->J);
        s->conserved = 0;
        s->rows = s->n;
        if (r == 1) r = by_differences(s, y, s->J);
        s->conserved = conserved;
        s->rows = rows;
        if (r || mass_of(s, y, s->E)) return -1;
        if (s->p->system.kind == DAE_KIND_IDE) {
            for (int i = 0; i < s->n * s->n; i++) s->J[i] = -s->J[i];
        }
        int plain =
            s->p->system.kind == DAE_KIND_ODE ||
            (s->p->system.kind == DAE_KIND_DAE && !s->p->system.dae.mass_fn && !s->p->system.dae.mass.n);
        if (plain) {
            int bad = dae_eigenvalues(s->n, s->J, re, im);
            s->starved |= bad <= DAE_EIGENVALUES_NO_MEMORY;
            count = bad ? -1 : s->n;
        } else count = pencil(s->n, s->J, s->E, re, im, &s->starved);
    }
    for (int k = 0; k < s->conserved && count > 0; k++) { /* the zeros of the invariants */
        int least = 0;
        for (int i = 1; i < count; i++) {
            if (hypot(re[i], im[i]) < hypot(re[least], im[least])) least = i;
        }
        count--;
        re[least] = re[count];
        im[least] = im[count];
    }
    if (count > 0) sort_by_real_part(count, re, im);
    return count;
}
