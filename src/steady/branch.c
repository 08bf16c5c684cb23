/* Branches of steady states over a parameter by pseudo-arclength steps [Kel77]. With z = (y, alpha) in units of their sizes and the
 * tangent tau, H tau = 0, |tau| = 1, H = (dr/dy, dr/dalpha):
 *
 *     predict z + h tau,   correct by  (H; tau^T) dz = -(r; 0),   next tangent:  (H; tau^T) tau_new = (0; 1)
 *
 * A fold is where the last component of tau changes its sign, a Hopf point where the number of eigenvalues with positive real part
 * changes by a pair; both are located along the step. */
#include "steady/stationary.h"

#include "core/error.h"
#include "core/vector.h"
#include "linalg/least_squares.h"
#include "linalg/svd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DERIVE \
    1e-6 /* ours: increment of the parameter, of the larger of its value and a thousandth of its range */
#define CORRECTED 1e-10 /* ours: norm of the last correction */
#define SMALLEST 1e-7   /* ours: steps below this part of the largest end the branch */
#define TURN 0.95       /* ours: cosine between tangents; below it the step is halved */
#define LOCATED 1e-12   /* ours: of the step: where a special point is known */
#define FLAT 1e-3       /* ours: |im| of a pair that crosses, relative: below it both are real */
#define BEHIND 1e-3     /* ours: of the rest of a step: where a fold is over */
#define AGAIN 0.3       /* ours: of a step: as near to the start the branch is closed */
enum { CORRECTIONS = 12, EASY = 4, SEARCH = 60 };

typedef struct at {  /* a point of the branch */
    double *y, *tau; /* n; unknowns + 1, in units of w */
    double alpha;
    double *re, *im; /* all eigenvalues */
    int neigen, unstable;
} at;

typedef struct follower {
    dae_stationary s;
    const dae_branch_options *o;
    dae_branch *b;
    int room;
    double *w;                                 /* unknowns + 1: sizes */
    double *J, *A, *r, *ra, *x, *y, *extended; /* work */
    at now, next, probe;
    double span;
} follower;

const char *dae_branch_kind_name(dae_branch_kind k)
{
    static const char *const name[] = {"", "fold", "hopf", "cross", "end"};
    return (unsigned)k <= DAE_BRANCH_END ? name[k] : "";
}

dae_branch_options dae_branch_options_default(const dae_problem *p)
{
    return (dae_branch_options){.steady = dae_steady_options_default(p),
                                .min = NAN,
                                .max = NAN,
                                .step = 0.01,
                                .step_max = 0.05,
                                .max_points = 1000};
}

void dae_branch_destroy(dae_branch *b)
{
    if (!b) return;
    free(b->value);
    free(b->y);
    free(b->re);
    free(b->im);
    free(b->unstable);
    free(b->kind);
    free(b->frequency);
    free(b);
}

/* ---- Points ---------------------------------------------------------------------------------------------------------- */

static int grow(void *list, size_t count, size_t size)
{
    void **p = list, *larger = realloc(*p, count * size);
    if (larger) *p = larger;
    return larger ? 0 : -1;
}

static dae_status keep(follower *f, const at *a, dae_branch_kind kind, double frequency, dae_error *err)
{
    dae_branch *b = f->b;
    if (b->count == f->room) {
        size_t room = f->room ? 2 * (size_t)f->room : 128;
        if (grow(&b->value, room, sizeof *b->value) || grow(&b->y, room * (size_t)b->n + 1, sizeof *b->y) ||
            grow(&b->re, room, sizeof *b->re) || grow(&b->im, room, sizeof *b->im) ||
            grow(&b->unstable, room, sizeof *b->unstable) || grow(&b->kind, room, sizeof *b->kind) ||
            grow(&b->frequency, room, sizeof *b->frequency))
            return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        f->room = (int)room;
    }
    int k = b->count++;
    b->value[k] = a->alpha;
    memcpy(b->y + (size_t)k * (size_t)b->n, a->y, (size_t)b->n * sizeof *a->y);
    b->re[k] = a->neigen > 0 ? a->re[0] : NAN;
    b->im[k] = a->neigen > 0 ? fabs(a->im[0]) : NAN;
    b->unstable[k] = a->neigen >= 0 ? a->unstable : -1;
    b->kind[k] = kind;
    b->frequency[k] = frequency;
    return DAE_OK;
}

static void look(follower *f, at *a)
{
    a->neigen = dae_stationary_eigenvalues(&f->s, a->y, a->re, a->im);
    double noise = dae_stationary_noise(&f->s, a->neigen, a->re, a->im);
    a->unstable = 0;
    for (int i = 0; i < a->neigen; i++) a->unstable += a->re[i] > noise;
}

/* ---- The extended system ------------------------------------------------------------------------------------------------ */

/* dr/dalpha at y, into f->ra. */
static dae_status by_parameter(follower *f, const double *y, double alpha, dae_error *err)
{
    dae_stationary *s = &f->s;
    double d = DERIVE * fmax(fabs(alpha), 1e-3 * f->span), *side[2] = {f->x, f->ra};
    for (int k = 0; k < 2; k++) {
        dae_status r = dae_stationary_set(s, alpha + (k ? d : -d), err);
        if (r < 0) return r;
        if (dae_stationary_residual(s, y, side[k]))
            return dae_fail(err, DAE_ERR_UNDEFINED, s->t, "the system cannot be evaluated at %.10g", alpha);
    }
    for (int i = 0; i < s->rows; i++) f->ra[i] = (side[1][i] - side[0][i]) / (2 * d);
    return dae_stationary_set(s, alpha, err);
}

/* (H; tau^T) x = (b; last) in units of w, rows of size 1; x: room for rows + 1. 0: fine */
static int bordered(follower *f, const double *tau, const double *b, double last, double *x)
{
    int rows = f->s.rows + 1, n = f->s.unknowns;
    for (int c = 0; c <= n; c++) {
        const double *from = c < n ? f->J + c * f->s.rows : f->ra;
        for (int i = 0; i + 1 < rows; i++) f->A[c * rows + i] = from[i] * f->w[c];
        f->A[c * rows + rows - 1] = tau[c];
    }
    for (int i = 0; i + 1 < rows; i++) {
        double most = 0;
        for (int c = 0; c <= n; c++) most = fmax(most, fabs(f->A[c * rows + i]));
        double scale = most > 0 ? 1 / most : 1;
        for (int c = 0; c <= n; c++) f->A[c * rows + i] *= scale;
        x[i] = b ? -b[i] * scale : 0;
    }
    x[rows - 1] = last;
    int rank = dae_least_squares(rows, n + 1, f->A, x, 1e-13);
    if (rank == -1) f->s.starved = 1;
    return rank < 0;
}

static dae_status derivatives(follower *f, const double *y, double alpha, dae_error *err)
{
    dae_stationary *s = &f->s;
    if (dae_stationary_frame(s, y) || dae_stationary_jacobian(s, y, f->J))
        return dae_fail(err, DAE_ERR_UNDEFINED, s->t, "the system cannot be evaluated at %.10g", alpha);
    return by_parameter(f, y, alpha, err);
}

/* The tangent at a, towards `before`. */
static dae_status turn(follower *f, at *a, const double *before, dae_error *err)
{
    dae_status r = derivatives(f, a->y, a->alpha, err);
    if (r < 0) return r;
    int n = f->s.unknowns + 1;
    if (bordered(f, before, NULL, 1, f->extended))
        return dae_fail(err, DAE_ERR_SINGULAR, f->s.t, "the tangent at %.10g is not known", a->alpha);
    double norm = sqrt(dae_dot(n, f->extended, f->extended));
    for (int c = 0; c < n; c++) a->tau[c] = f->extended[c] / norm;
    return DAE_OK;
}

/* The first tangent: the null vector of H. */
static dae_status first_tangent(follower *f, at *a, dae_error *err)
{
    dae_status r = derivatives(f, a->y, a->alpha, err);
    if (r < 0) return r;
    int n = f->s.unknowns + 1, have = f->s.rows, rows = have > n ? have : n;
    double *A = calloc((size_t)rows * (size_t)n + (size_t)n * (size_t)n + (size_t)n, sizeof *A);
    if (!A) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    double *V = A + rows * n, *s = V + n * n;
    for (int i = 0; i < have; i++) {
        double most = 0;
        for (int c = 0; c < n; c++) {
            A[c * rows + i] = (c + 1 < n ? f->J[c * have + i] : f->ra[i]) * f->w[c];
            most = fmax(most, fabs(A[c * rows + i]));
        }
        for (int c = 0; c < n && most > 0; c++) A[c * rows + i] /= most;
    }
    dae_svd(rows, n, A, s, V);
    double sign = V[(n - 1) * n + n - 1] < 0 ? -1 : 1;
    for (int c = 0; c < n; c++) a->tau[c] = sign * V[(n - 1) * n + c];
    int unique = n < 2 || s[n - 2] > 1e-9 * s[0];
    free(A);
    if (unique) return DAE_OK;
    return dae_fail(
        err, DAE_ERR_SINGULAR, f->s.t,
        "at %s = %.10g steady states are not isolated (or two branches meet): start at another value",
        f->b->parameter, a->alpha);
}

/* From the point `from`, h along its tangent, to a point of the branch. *corrections: how many it took. */
static dae_status arrive(follower *f, const at *from, double h, at *to, int *corrections, dae_error *err)
{
    dae_stationary *s = &f->s;
    int n = s->unknowns;
    double last = INFINITY;
    memcpy(to->y, from->y, (size_t)s->n * sizeof *to->y);
    for (int c = 0; c < n; c++) f->x[c] = h * from->tau[c] * f->w[c];
    dae_stationary_move(s, f->x, to->y);
    to->alpha = from->alpha + h * from->tau[n] * f->w[n];
    dae_status r = dae_stationary_set(s, to->alpha, err);
    for (*corrections = 0; r >= 0 && *corrections < CORRECTIONS; ++*corrections) {
        if (*corrections % 4 == 0) r = derivatives(f, to->y, to->alpha, err); /* dr/dalpha is kept for some */
        else if (dae_stationary_frame(s, to->y) || dae_stationary_jacobian(s, to->y, f->J))
            r = DAE_ERR_UNDEFINED;
        if (r >= 0 && dae_stationary_residual(s, to->y, f->r)) r = DAE_ERR_UNDEFINED;
        if (r < 0) break;
        if (bordered(f, from->tau, f->r, 0, f->extended)) return DAE_ERR_SINGULAR;
        double norm = sqrt(dae_dot(n + 1, f->extended, f->extended));
        if (!isfinite(norm) || norm > fmax(2 * last, fabs(h))) return DAE_ERR_CONVERGENCE;
        for (int c = 0; c < n; c++) f->x[c] = f->extended[c] * f->w[c];
        dae_stationary_move(s, f->x, to->y);
        to->alpha += f->extended[n] * f->w[n];
        r = dae_stationary_set(s, to->alpha, err);
        last = norm;
        if (norm <= CORRECTED) return r;
    }
    return r < 0 ? r : DAE_ERR_CONVERGENCE;
}

/* The units grow with the unknowns; the tangent at a is that in the new ones. */
static void sizes(follower *f, at *a)
{
    int n = f->s.unknowns;
    double share = sqrt((double)n), norm = 0;
    dae_stationary_scale(&f->s, a->y, f->extended);
    f->extended[n] = f->span / share;
    for (int c = 0; c <= n; c++) {
        double old = f->w[c];
        f->w[c] = fmax(old, f->extended[c] * share);
        a->tau[c] *= old / f->w[c];
    }
    norm = sqrt(dae_dot(n + 1, a->tau, a->tau));
    for (int c = 0; c <= n && norm > 0; c++) a->tau[c] /= norm;
}

/* ---- Special points ------------------------------------------------------------------------------------------------------ */

/* What changes its sign between now and next: the last of the tangent, or a real part. */
static double test_value(const follower *f, const at *a, int fold, int index)
{
    return fold ? a->tau[f->s.unknowns] : a->re[index < a->neigen ? index : a->neigen - 1];
}

/* The point between a (where the test value is va) and h along the tangent at now where a test value vanishes, into probe, by
 * Illinois' rule with halves where it is slow. Returns where; NAN: see *err. */
static double locate(follower *f, double a, double va, double h, int fold, int index, dae_error *err)
{
    double b = h, vb = test_value(f, &f->next, fold, index), m = a;
    int tries, kept = 0;
    for (int k = 0; k < SEARCH && fabs(b - a) > LOCATED * h; k++) {
        m = k % 4 == 3 ? (a + b) / 2 : (a * vb - b * va) / (vb - va);
        if (!(m > fmin(a, b) && m < fmax(a, b))) m = (a + b) / 2;
        dae_status r = arrive(f, &f->now, m, &f->probe, &tries, err);
        if (r >= 0) r = turn(f, &f->probe, f->now.tau, err);
        if (r < 0 &&
            k > 0) { /* where branches cross the system is singular: the nearest point that was reached */
            m = fabs(va) < fabs(vb) ? a : b;
            r = arrive(f, &f->now, m, &f->probe, &tries, err);
            if (r >= 0) r = turn(f, &f->probe, f->now.tau, err);
            look(f, &f->probe);
            return r < 0 ? NAN : m;
        }
        if (r < 0) return NAN;
        look(f, &f->probe);
        double v = test_value(f, &f->probe, fold, index);
        if (v == 0 || fabs(v) < 1e-14) break;
        if ((v > 0) == (vb > 0)) {
            b = m;
            vb = v;
            if (kept == 1) va /= 2;
            kept = 1;
        } else {
            a = m;
            va = v;
            if (kept == -1) vb /= 2;
            kept = -1;
        }
    }
    return m;
}

/* A point a little behind the fold, into probe: how many eigenvalues are unstable there. */
static int behind(follower *f, double where, double h)
{
    int tries;
    dae_error spare = {0};
    if (arrive(f, &f->now, where + BEHIND * (h - where), &f->probe, &tries, &spare) < 0 ||
        turn(f, &f->probe, f->now.tau, &spare) < 0)
        return -1;
    look(f, &f->probe);
    return f->probe.neigen == f->next.neigen ? f->probe.unstable : -1;
}

/* Points between now and next that are special; adds them. */
static dae_status special(follower *f, double h, dae_error *err)
{
    int last = f->s.unknowns, before = f->now.unstable, after = f->next.unstable;
    double from = 0;
    const at *low = &f->now;
    dae_error spare = {0};
    if (f->now.tau[last] * f->next.tau[last] < 0) {
        from = locate(f, 0, f->now.tau[last], h, 1, 0, &spare);
        if (isnan(from))
            return spare.status == DAE_ERR_MEMORY ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory")
                                                  : DAE_OK;
        /* seen from a branch that comes back as its mirror image, where two branches cross looks like a fold; but nothing changes
         * its stability there */
        int mirror = f->now.neigen > 0 && before == after;
        dae_status r = keep(f, &f->probe, mirror ? DAE_BRANCH_CROSS : DAE_BRANCH_FOLD, 0, err);
        if (r < 0 || mirror) return r;
        before = behind(f, from, h);
        from += BEHIND * (h - from);
        low = &f->probe;
        if (before < 0) return DAE_OK;
    }
    if (f->now.neigen <= 0 || f->now.neigen != f->next.neigen || before == after) return DAE_OK;
    int index = before < after ? before : after;
    if (isnan(locate(f, from, test_value(f, low, 0, index), h, 0, index, &spare)))
        return spare.status == DAE_ERR_MEMORY ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory") : DAE_OK;
    int at_zero = 0; /* the eigenvalue on the axis */
    for (int i = 1; i < f->probe.neigen; i++) {
        if (fabs(f->probe.re[i]) < fabs(f->probe.re[at_zero])) at_zero = i;
    }
    double im = fabs(f->probe.im[at_zero]), most = 0;
    for (int i = 0; i < f->probe.neigen; i++) most = fmax(most, fabs(f->probe.im[i]));
    int pair = abs(before - after) > 1 && im > FLAT * most && im > 0;
    return keep(f, &f->probe, pair ? DAE_BRANCH_HOPF : DAE_BRANCH_CROSS, pair ? im : 0, err);
}

/* ---- Following ------------------------------------------------------------------------------------------------------------- */

static void swap(at *a, at *b)
{
    at c = *a;
    *a = *b;
    *b = c;
}

/* The parameter passed a bound: the point on it, into next. */
static dae_status end_at(follower *f, double bound, dae_error *err)
{
    double part = (bound - f->now.alpha) / (f->next.alpha - f->now.alpha);
    int iterations;
    for (int i = 0; i < f->b->n; i++) f->next.y[i] = f->now.y[i] + part * (f->next.y[i] - f->now.y[i]);
    dae_status r = dae_stationary_set(&f->s, bound, err);
    if (r >= 0)
        r = dae_stationary_solve(&f->s, f->o->steady.tolerance, f->o->steady.max_iterations, f->next.y,
                                 &iterations, err);
    if (r < 0) return r;
    f->next.alpha = bound;
    look(f, &f->next);
    return keep(f, &f->next, DAE_BRANCH_END, 0, err);
}

static double distance(const follower *f, const double *y, double alpha, const double *y1, double alpha1)
{
    double sum = (alpha - alpha1) / f->span * (alpha - alpha1) / f->span;
    int mechanism = f->s.p->system.kind == DAE_KIND_MECH;
    for (int i = 0; i < f->b->n; i++) {
        double d = (y[i] - y1[i]) / (mechanism ? 1 : f->w[i]);
        sum += d * d;
    }
    return sqrt(sum);
}

/* From now on in the direction of its tangent. */
static dae_status follow(follower *f, const at *origin, dae_error *err)
{
    const dae_branch_options *o = f->o;
    double h = o->step, gone = 0;
    int n = f->s.unknowns, tries;
    for (int k = 0; k < o->max_points;) {
        dae_error inner = {0};
        sizes(f, &f->now);
        dae_status r = arrive(f, &f->now, h, &f->next, &tries, &inner);
        if (r >= 0) r = turn(f, &f->next, f->now.tau, &inner);
        int sharp = r >= 0 && dae_dot(n + 1, f->now.tau, f->next.tau) < TURN;
        if (r == DAE_ERR_MEMORY || f->s.starved) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        if (r < 0 || (sharp && h > 1e-3 * o->step_max)) {
            h /= r < 0 ? 4 : 2;
            if (h >= SMALLEST * o->step_max) continue;
            dae_fail(err, DAE_ERR_CONVERGENCE, f->s.t,
                     "the branch could not be followed beyond %s = %.8g%s%.100s", f->b->parameter,
                     f->now.alpha, inner.text[0] ? ": " : "", inner.text);
            return DAE_ERR_CONVERGENCE;
        }
        double bound = f->next.alpha > o->max ? o->max : f->next.alpha < o->min ? o->min : NAN;
        if (!isnan(bound)) {
            r = end_at(f, bound, &inner);
            if (r == DAE_ERR_MEMORY || f->s.starved)
                return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
            if (r >= 0) return r;
            h /= 4;
            if (h < SMALLEST * o->step_max) return DAE_OK;
            continue;
        }
        look(f, &f->next);
        r = special(f, h, err);
        if (f->s.starved) r = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        if (r >= 0) r = dae_stationary_set(&f->s, f->next.alpha, err);
        if (r >= 0) r = keep(f, &f->next, DAE_BRANCH_REGULAR, 0, err);
        if (r < 0) return r;
        k++;
        gone += h;
        if (o->progress && o->progress(f->b->count, f->next.alpha, o->user)) return DAE_CANCELLED;
        if (gone > 4 * o->step_max &&
            distance(f, f->next.y, f->next.alpha, origin->y, origin->alpha) < AGAIN * h &&
            dae_dot(n + 1, f->next.tau, origin->tau) > TURN) {
            f->b->closed = 1;
            return DAE_OK;
        }
        swap(&f->now, &f->next);
        if (tries <= EASY && !sharp) h = fmin(1.5 * h, o->step_max);
        else if (tries > 7) h /= 2;
    }
    return DAE_ERR_MAX_STEPS;
}

/* The points so far in the other order. */
static void reverse(dae_branch *b)
{
    size_t n = (size_t)b->n;
    for (int i = 0, k = b->count - 1; i < k; i++, k--) {
        double *number[] = {b->value, b->re, b->im, b->frequency};
        for (int q = 0; q < 4; q++) {
            double x = number[q][i];
            number[q][i] = number[q][k];
            number[q][k] = x;
        }
        int u = b->unstable[i];
        b->unstable[i] = b->unstable[k];
        b->unstable[k] = u;
        dae_branch_kind kind = b->kind[i];
        b->kind[i] = b->kind[k];
        b->kind[k] = kind;
        for (size_t j = 0; j < n; j++) {
            double x = b->y[(size_t)i * n + j];
            b->y[(size_t)i * n + j] = b->y[(size_t)k * n + j];
            b->y[(size_t)k * n + j] = x;
        }
    }
}

static void copy_point(const follower *f, const at *from, at *to)
{
    size_t all = (size_t)from->neigen;
    memcpy(to->y, from->y, (size_t)f->b->n * sizeof *to->y);
    memcpy(to->tau, from->tau, (size_t)(f->s.unknowns + 1) * sizeof *to->tau);
    to->alpha = from->alpha;
    to->neigen = from->neigen;
    to->unstable = from->unstable;
    if (from->neigen > 0) {
        memcpy(to->re, from->re, all * sizeof *to->re);
        memcpy(to->im, from->im, all * sizeof *to->im);
    }
}

static dae_status both_ways(follower *f, at *origin, dae_error *err)
{
    dae_status r = DAE_OK, worst = DAE_OK;
    int n = f->s.unknowns + 1, first = f->o->one_way > 0 ? 1 : 0, last = f->o->one_way < 0 ? 0 : 1;
    for (int way = first; way <= last && !f->b->closed; way++) { /* to smaller values, then to larger ones */
        dae_error mine = {0};
        r = DAE_OK;
        copy_point(f, origin, &f->now);
        for (int c = 0; c < n && way == 0; c++) f->now.tau[c] = -origin->tau[c];
        if (way == 0 || first == 1) r = keep(f, &f->now, DAE_BRANCH_REGULAR, 0, err);
        if (r < 0) return r;
        r = dae_stationary_set(&f->s, origin->alpha, &mine);
        for (int c = 0; c < n && way == 0; c++) origin->tau[c] = -origin->tau[c];
        if (r >= 0) r = follow(f, origin, &mine);
        for (int c = 0; c < n && way == 0; c++) origin->tau[c] = -origin->tau[c];
        if (r == DAE_ERR_MEMORY) {
            *err = mine;
            return r;
        }
        if (way == 0) {
            reverse(f->b);
            f->b->start = f->b->count - 1;
        }
        if (r != DAE_OK && (worst == DAE_OK || r == DAE_CANCELLED)) {
            worst = r;
            snprintf(f->b->message, sizeof f->b->message, "%.190s",
                     mine.text[0]         ? mine.text
                     : r == DAE_CANCELLED ? "stopped"
                                          : "the number of points ran out");
        }
        if (r == DAE_CANCELLED) break;
    }
    f->b->status = worst;
    return DAE_OK;
}

/* ---- All ------------------------------------------------------------------------------------------------------------------- */

static int take_point(dae_arena *a, at *x, size_t n, size_t unknowns)
{
    x->y = dae_arena_reals(a, n);
    x->tau = dae_arena_reals(a, unknowns + 1);
    x->re = dae_arena_reals(a, 2 * n + 1);
    x->im = dae_arena_reals(a, 2 * n + 1);
    return dae_arena_failed(a);
}

static dae_status begin(follower *f, at *origin, const dae_problem *p, dae_error *err)
{
    dae_stationary *s = &f->s;
    size_t n = (size_t)s->n, u = (size_t)s->unknowns, rows = 2 * n + u + 2;
    double **vector[] = {&f->w, &f->r, &f->ra, &f->x, &f->y, &f->extended};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        *vector[k] = dae_arena_reals(s->arena, rows + u + 2);
    f->J = dae_arena_reals(s->arena, rows * u);
    f->A = dae_arena_reals(s->arena, (rows + 1) * (u + 1));
    at *point[] = {&f->now, &f->next, &f->probe, origin};
    for (int k = 0; k < 4; k++) take_point(s->arena, point[k], n, u);
    if (dae_arena_failed(s->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_steady_result *first = dae_steady(p, &f->o->steady, err);
    if (!first) return err->status ? err->status : DAE_ERR_INTERNAL;
    memcpy(origin->y, first->y, n * sizeof *origin->y);
    dae_steady_destroy(first);
    origin->alpha = s->value;
    dae_status r = dae_stationary_anchor(s, f->o->steady.guess ? f->o->steady.guess : p->y0, err);
    if (r < 0) return r;
    dae_stationary_frame(s, origin->y);
    sizes(f, origin);
    r = first_tangent(f, origin, err);
    look(f, origin);
    return f->s.starved ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory") : r;
}

dae_branch *dae_continue(const dae_problem *p, const char *parameter, const dae_branch_options *opt,
                         dae_error *err)
{
    dae_error own = {0};
    if (!err) err = &own;
    *err = (dae_error){0};
    if (dae_need(p, "the problem", err) || dae_need(p->y0, "y0", err) ||
        dae_need(parameter, "the name of the parameter", err))
        return NULL;
    dae_branch_options o = opt ? *opt : dae_branch_options_default(p);
    follower f = {.o = &o};
    at origin = {0};
    dae_status r = dae_stationary_open(&f.s, p, o.steady.t, parameter, err);
    double value = f.s.value;
    if (isnan(o.min)) o.min = value > 0 ? 0.1 * value : value < 0 ? 10 * value : -1;
    if (isnan(o.max)) o.max = value > 0 ? 10 * value : value < 0 ? 0.1 * value : 1;
    f.span = o.max - o.min;
    if (r >= 0 && !(o.min <= value && value <= o.max && f.span > 0))
        r = dae_fail(err, DAE_ERR_INPUT, NAN, "%s = %g is not inside %g .. %g: it begins there", parameter,
                     value, o.min, o.max);
    if (r >= 0 && (!(o.step > 0) || !(o.step_max >= o.step) || o.max_points < 1))
        r = dae_fail(err, DAE_ERR_INPUT, NAN,
                     "step = %g, step_max = %g, max_points = %d must be positive, step <= step_max", o.step,
                     o.step_max, o.max_points);
    f.b = calloc(1, sizeof *f.b);
    if (!f.b && r >= 0) r = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (r >= 0) {
        f.b->parameter = p->info->parameter[f.s.parameter].name;
        f.b->n = f.s.n;
        r = begin(&f, &origin, p, err);
    }
    if (r == DAE_CANCELLED) {
        f.b->status = r;
        snprintf(f.b->message, sizeof f.b->message, "stopped before the first was found");
    } else if (r >= 0) {
        r = both_ways(&f, &origin, err);
    }
    dae_stationary_close(&f.s);
    if (r >= 0) return f.b;
    dae_branch_destroy(f.b);
    return NULL;
}
