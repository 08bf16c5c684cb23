/* statespace: which coordinates are the independent ones, at the start and between two steps. */
#include "formulation/statespace.h"

#include <daedalus/gefp.h>

#include "core/number.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOVED 1e-3        /* ours: relative change of the positions after which eta is looked at again */
#define MANY_ITERATIONS 4 /* more than this, twice in a row: choose again */
/* ours: pivots of G, relative to the first, below which a failed run is near a singular place */
#define NEARLY 1e-3
/* ours: steps until slow iterations are a reason again, where they were not before */
#define PATIENCE 20
/* Limit of eta, growth and improvement that are worth a change. Ours, measured with a turning pendulum, Andrews' mechanism, both
 * double pendulums and four models: for one-step methods, which lose an evaluation at most, the earliest change is the
 * best (pendulum, dopri5, 1e-7: 4240 evaluations with 2, 3, 1.5, 2560 with these); multistep methods begin again at order 1. */
static const double one_step[3] = {1, 1.2, 1.2}, multistep[3] = {1.5, 1.5, 1.5};

/* ---- Messages ------------------------------------------------------------------------------------------ */

/* "p = (1, 2, ...)", shortened. */
void dae_statespace_print_point(char *out, size_t size, int n, const double *p)
{
    size_t used = (size_t)snprintf(out, size, "p = (");
    int shown = n < 7 ? n : 6;
    for (int i = 0; i < shown && used < size; i++) {
        used += (size_t)dae_snprintf(out + used, size - used, "%s%.4g", i ? ", " : "", p[i]);
    }
    if (used < size) snprintf(out + used, size - used, "%s)", shown < n ? ", ..." : "");
}

void dae_statespace_note_trouble(dae_formulation *f, double t, const double *p, const char *what)
{
    char where[96];
    dae_statespace_print_point(where, sizeof where, f->d.np, p);
    dae_snprintf(f->trouble, sizeof f->trouble, "statespace, t = %.10g: %.80s; %s", t, what, where);
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
static int pivot_velocities(dae_formulation *f, int m, int first, int *index)
{
    statespace *s = f->self;
    int nv = f->d.nv;
    int scaled = !strcmp(f->option.scale, "columns");
    for (int j = 0; j < nv; j++) {
        double *column = s->gefp + (size_t)j * (size_t)m;
        dae_copy(m, s->G + (size_t)j * (size_t)f->d.nl, column);
        double length = scaled ? sqrt(dae_statespace_dot(m, column, column)) : 0;
        for (int i = 0; i < m && length > 0; i++) column[i] /= length;
    }
    int printed = first && !strcmp(f->option.coordinates, "printed");
    int rank = (printed ? dae_gefp_printed : dae_gefp)(m, nv, s->gefp, NULL, 0, s->rows, s->cols, NULL);
    if (printed && rank < m) return pivot_velocities(f, m, 0, index); /* a zero stood there */
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
                dae_axpy(n, -dae_statespace_dot(n, other, z), other, z);
            }
        }
        double length = sqrt(dae_statespace_dot(n, z, z));
        for (int i = 0; i < n; i++) z[i] /= length;
    }
}

/* The coordinates that the user wants, at the start. */
static int take_wish(dae_formulation *f, double t, const double *p, split_matrix *K)
{
    statespace *s = f->self;
    memcpy(s->other.index, s->wish, (size_t)s->nw * sizeof(int));
    return dae_statespace_factor_position(f, K, &s->other, t, p);
}

/* "3,6" into s->wish, ascending. */
dae_status dae_statespace_read_wish(dae_formulation *f, dae_error *err)
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
int dae_statespace_choose(dae_formulation *f, double t, const double *p, int first, split_matrix *K,
                          int *rank)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int np = d->np, m = d->ng;
    *rank = -1;
    int r = dae_statespace_dense_G(f, t, p);
    if (r) return r;
    if (!s->holonomic) {
        *rank = pivot_velocities(f, d->nl, first, s->other_velocity);
        if (*rank < d->nl) return 1;
    }
    functionals pick = {.n = d->nv, .count = s->nw, .index = s->other.index};
    if (first && s->wished) return take_wish(f, t, p, K);
    *rank = pivot_velocities(f, m, first, pick.index);
    if (*rank < m) return 1;
    if (s->plain && !s->other.Z) return dae_statespace_factor_position(f, K, &s->other, t, p);
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
    return dae_statespace_factor_position(f, K, &s->other, t, p);
}

/* max |T N| of the positions with matrix *K of the point s->p. */
double dae_statespace_influence(dae_formulation *f, double t, split_matrix *K)
{
    statespace *s = f->self;
    dae_split_null_space(K, s->MN);
    if (tangent(f, t, s->p, s->MN, s->gefp)) return INFINITY;
    return dae_all_finite(f->d.np * s->nw, s->gefp) ? dae_largest(f->d.np * s->nw, s->gefp) : INFINITY;
}

/* The same for the selected velocities of a nonholonomic system; s->G is that of the point, *K is overwritten. */
double dae_statespace_velocity_influence(dae_formulation *f, int *index, split_matrix *K)
{
    statespace *s = f->self;
    int nv = f->d.nv;
    functionals pick = {.n = nv, .count = s->ns, .index = index};
    if (s->holonomic) return 0; /* others are dense */
    if (dae_split_factor(K, f->d.nl, s->G, f->d.nl, &pick, NULL)) return INFINITY;
    dae_split_null_space(K, s->MN);
    return dae_all_finite(nv * s->ns, s->MN) ? dae_largest(nv * s->ns, s->MN) : INFINITY;
}

void dae_statespace_take_choice(statespace *s)
{
    functionals old = s->position;
    s->position = s->other;
    s->other = old;
    if (!s->holonomic) memcpy(s->velocity.index, s->other_velocity, (size_t)s->ns * sizeof(int));
}

/* y from (p, v) in s; u stays. */
int dae_statespace_write_state(dae_formulation *f, double t, double *y)
{
    statespace *s = f->self;
    int r = dae_descriptor_kinematics(&f->d, t, s->p, s->v, s->pa);
    dae_functionals_apply(&s->position, s->p, y);
    if (s->holonomic) dae_functionals_apply(&s->position, s->pa, y + s->nw);
    else dae_functionals_apply(&s->velocity, s->v, y + s->nw);
    return r;
}

int dae_statespace_set_anchor(dae_formulation *f, double t)
{
    statespace *s = f->self;
    s->anchor_t = t;
    dae_copy(f->d.np, s->p, s->anchor_p);
    return dae_descriptor_kinematics(&f->d, t, s->p, s->v, s->anchor_pdot);
}

/* What G says about the last good point. */
void dae_statespace_diagnose(dae_formulation *f, char *out, size_t size)
{
    statespace *s = f->self;
    int m = s->holonomic ? f->d.ng : f->d.nl, nv = f->d.nv;
    double *pivot = s->residual;
    out[0] = 0;
    if (m < 1 || dae_statespace_dense_G(f, s->anchor_t, s->anchor_p)) return;
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

void dae_statespace_describe(dae_formulation *f)
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
    if (!s->holonomic) return dae_statespace_factor_position(f, s->anchor, &s->position, t, s->p);
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
    if (dae_statespace_choose(f, t, s->p, 0, s->spare, &rank)) return 0;
    double eta = fmax(dae_statespace_influence(f, t, s->spare),
                      dae_statespace_velocity_influence(f, s->other_velocity, s->here));
    if (!(eta < old / s->limit[2])) {
        s->eta_start = fmax(s->eta_start, old); /* as good as it gets: ask again when it is worse */
        return 0;
    }
    dae_statespace_take_choice(s);
    if (dae_statespace_write_state(f, t, y)) return -1;
    split_matrix *swap = s->anchor;
    s->anchor = s->spare;
    s->spare = swap;
    s->eta = s->eta_start = eta;
    s->slow = 0;
    s->changes++;
    s->by_newton += newton;
    dae_statespace_describe(f);
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
    if (r) return r < 0 ? -1 : 0; /* the next evaluation tells */
    s->slow = s->iterations > MANY_ITERATIONS || s->slow < 0 ? s->slow + 1 : 0;
    if (renew_anchor_matrix(f, t)) return 0;
    r = dae_statespace_set_anchor(f, t);
    if (r) return r < 0 ? -1 : 0;
    f->trouble[0] = 0;
    if (s->slow < 2 && !moved(f)) return 0;
    dae_copy(f->d.np, s->p, s->eta_p);
    s->eta = fmax(dae_statespace_influence(f, t, s->anchor),
                  dae_statespace_velocity_influence(f, s->velocity.index, s->here));
    set_limits(f);
    if (s->eta > fmax(s->limit[0], s->limit[1] * s->eta_start)) return change(f, t, y, 0);
    if (s->slow >= 2) {
        int changed = change(f, t, y, 1);
        s->slow = changed ? 0 : -PATIENCE;
        return changed;
    }
    return 0;
}

dae_status dae_statespace_attach(dae_formulation *f, dae_integrator *it, dae_error *err)
{
    statespace *s = f->self;
    (void)err;
    s->it = it;
    dae_integrator_set_chart(it, chart, f);
    return DAE_OK;
}
