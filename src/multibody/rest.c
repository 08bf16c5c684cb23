/* Equilibrium of large mechanisms.
 *
 * At a pose with forces f and constraints G, lambda is the best one of r = f - G^T lambda, and the step d solves
 *
 *     [ K + mu I  G^T ] [ d ]   [ f ]
 *     [ G          0  ] [ . ] = [ 0 ],      K = -d(f - G^T lambda)/dp,
 *
 * by sparse factors. mu is the least of a row of sizes with which K + mu I is positive definite where G d = 0 (a banded Cholesky
 * decomposition of K + mu I + rho G^T G exists) and d stays in the trust region: the step goes downhill.
 *
 * A force that switches within the step (a link that comes to the floor) is linear on both sides of its border phi = 0, and both
 * agree there: what it changes by is q = -kappa phi grad phi, q at the pose being the difference of both branches. One rank more
 *     K + kappa w w^T,  f + q,      w = -q/(kappa phi),  kappa = -(q, d) / (phi (grad phi, d)),
 * and d lands where the new branch balances. The set of switched forces is repeated until the linear predictions agree with it, so that
 * all that come to the floor in one step are taken in this step. */
#include "multibody/rest.h"

#include "linalg/sparse.h"
#include "multibody/analyses.h"
#include "multibody/dual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGE = 60,       /* velocities; ours: below, dense factors with eigenvalues are as fast */
    MOST_STEPS = 600, /* ours */
    MOST_SETS = 12,   /* of switched forces in one step; ours */
    MOST_SHIFTS = 60, /* sizes of mu; ours */
    MOST_CLOSING = 8  /* Newton steps back to the constraints; ours */
};
#define RADIUS 0.2       /* of one step, m and rad; ours */
#define SHIFT 1e-12      /* -SHIFT I below G: rows that depend on each other do no harm; ours */
#define PENALTY 1e6      /* rho, relative to the largest stiffness; ours */
#define SMALL 1e-4       /* of a step, for the slope of margins; ours */
#define LEAST_SHIFT 1e-9 /* mu relative to the largest stiffness, below: 0; ours */
#define FINE 1e3         /* times what counts as balanced: rounding may leave it; ours */
#define CLOSED 1e-13     /* m and rad; ours */

/* A force that changes its branch within the step. */
typedef struct toggle {
    int known;         /* 1: q and what follows from it is known; -1: it has no slope */
    double phi, kappa; /* margin at the pose, curvature of the difference */
    double *q;         /* nv */
    int first, last;   /* of q: slots that are not 0 */
} toggle;

typedef struct rest {
    const mbs_mechanism *m;
    dae_system own; /* with sides of its own, where there are switches */
    int bound;
    double t, *y;
    int nv, nl, ns;
    dae_arena *arena, *pattern_arena;
    double *f, *r, *lambda, *g, *G, *d, *J, *K, *band, *x, *trial;
    int *row_ptr, *row_col, *row_at; /* G by rows: columns, places in G */
    unsigned char *mask;             /* nv*nv: entries of K */
    int width, grown;                /* of the band; 1: mask changed */
    dae_sparse_lu project, newton;
    int has_project, has_newton;
    int *side, *next, *wanted, *in;
    double *margin, *margin2;
    toggle *toggle;
    double mu, stiffest;
} rest;

int mbs_rest_takes(const mbs_mechanism *m)
{
    return m->nv >= LARGE && m->nu == 0 && m->system.mech.dfdp && m->system.mech.constraint_sparse;
}

/* ---- Set-up -------------------------------------------------------------------------------------------- */

static int by_rows(rest *x)
{
    const dae_mech *s = &x->m->system.mech;
    int nz = x->nl ? s->G_colptr[x->nv] : 0;
    x->row_ptr = dae_arena_ints(x->arena, (size_t)x->nl + 2);
    x->row_col = dae_arena_ints(x->arena, (size_t)nz + 1);
    x->row_at = dae_arena_ints(x->arena, (size_t)nz + 1);
    if (dae_arena_failed(x->arena)) return -1;
    for (int e = 0; e < nz; e++) x->row_ptr[s->G_rowind[e] + 2]++;
    for (int i = 0; i < x->nl; i++) x->row_ptr[i + 2] += x->row_ptr[i + 1];
    for (int c = 0; c < x->nv && nz; c++) {
        for (int e = s->G_colptr[c]; e < s->G_colptr[c + 1]; e++) {
            int at = x->row_ptr[s->G_rowind[e] + 1]++;
            x->row_col[at] = c;
            x->row_at[at] = e;
        }
    }
    return 0;
}

/* [ A G^T; G -SHIFT I ] with A in the mask, NULL: its diagonal. */
static int make_factors(rest *x, const unsigned char *mask, dae_arena *arena, dae_sparse_lu *lu)
{
    const dae_mech *s = &x->m->system.mech;
    int nv = x->nv, nl = x->nl, nz = nl ? s->G_colptr[nv] : 0, count = 2 * nz + nl, at = 0;
    for (int k = 0; mask && k < nv * nv; k++) count += mask[k];
    if (!mask) count += nv;
    int *colptr = dae_arena_ints(arena, (size_t)(nv + nl) + 1),
        *rowind = dae_arena_ints(arena, (size_t)count + 1);
    if (dae_arena_failed(arena)) return -1;
    for (int c = 0; c < nv; c++) {
        colptr[c] = at;
        for (int r = 0; r < nv; r++)
            if (mask ? mask[(size_t)c * (size_t)nv + (size_t)r] : r == c) rowind[at++] = r;
        for (int e = nl ? s->G_colptr[c] : 0; nl && e < s->G_colptr[c + 1]; e++)
            rowind[at++] = nv + s->G_rowind[e];
    }
    for (int i = 0; i < nl; i++) {
        colptr[nv + i] = at;
        for (int e = x->row_ptr[i]; e < x->row_ptr[i + 1]; e++) rowind[at++] = x->row_col[e];
        rowind[at++] = nv + i;
    }
    colptr[nv + nl] = at;
    return dae_sparse_init(lu, nv + nl, colptr, rowind, 0, arena);
}

/* Values of that matrix: A by rows (NULL: 0) + mu I. */
static int factor(rest *x, dae_sparse_lu *lu, const double *A, double mu)
{
    int nv = x->nv;
    for (int c = 0; c < nv + x->nl; c++) {
        int row = x->nl && c >= nv ? x->row_ptr[c - nv] : 0;
        int col = x->nl && c < nv ? x->m->system.mech.G_colptr[c] : 0;
        for (int e = lu->colptr[c]; e < lu->colptr[c + 1]; e++) {
            int r = lu->rowind[e];
            if (c < nv && r < nv)
                lu->value[e] = (A ? A[(size_t)r * (size_t)nv + (size_t)c] : 0) + (r == c ? mu : 0);
            else if (c < nv) lu->value[e] = x->G[col++];
            else lu->value[e] = r < nv ? x->G[x->row_at[row++]] : -SHIFT;
        }
    }
    return dae_sparse_factor(lu);
}

static void look_at_width(rest *x)
{
    x->width = 0;
    for (int r = 0; r < x->nv; r++) {
        for (int c = 0; c < r; c++) {
            if (!x->mask[(size_t)r * (size_t)x->nv + (size_t)c]) continue;
            if (r - c > x->width) x->width = r - c;
            break;
        }
    }
    for (int i = 0; i < x->nl; i++) {
        int from = x->row_col[x->row_ptr[i]], to = x->row_col[x->row_ptr[i + 1] - 1];
        if (x->row_ptr[i] < x->row_ptr[i + 1] && to - from > x->width) x->width = to - from;
    }
}

/* ---- Forces ---------------------------------------------------------------------------------------------- */

static double largest_of(int n, const double *d)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        if (!(fabs(d[i]) <= worst)) worst = fabs(d[i]);
    return worst;
}

static void thaw(rest *x)
{
    for (int i = 0; i < x->ns; i++) x->own.switches.side[i] = DAE_SIDE_FREE;
}

/* Sides on which the pose y stands. 0: fine. */
static int natural(rest *x, const double *y, int *side)
{
    if (!x->ns) return 0;
    thaw(x);
    return x->own.switches.values(x->t, y, x->own.switches.side, x->margin2, side, x->own.switches.user);
}

/* Margins of x->side at y. */
static int margins(rest *x, const double *y, double *margin)
{
    if (!x->ns) return 0;
    memcpy(x->own.switches.side, x->side, (size_t)x->ns * sizeof *x->side);
    int bad = x->own.switches.values(x->t, y, x->own.switches.side, margin, x->next, x->own.switches.user);
    thaw(x);
    return bad;
}

/* f, G, g, lambda, r at y; the imbalance relative to the size of f, INFINITY: it cannot be evaluated. */
static double imbalance(rest *x, double *y)
{
    const dae_mech *s = &x->own.mech;
    size_t nv = (size_t)x->nv;
    dae_mech_point at = {
        .t = x->t, .p = y, .v = y + x->m->np, .u = y + x->m->np + x->m->nv, .lambda = x->lambda};
    double worst, size;
    if (s->force(&at, x->f, s->user)) return INFINITY;
    if (x->nl && s->constraint_sparse(&at, x->g, x->G, s->user)) return INFINITY;
    if (factor(x, &x->project, NULL, 1)) return INFINITY;
    memcpy(x->r, x->f, nv * sizeof *x->r);
    memset(x->lambda, 0, (size_t)x->nl * sizeof *x->lambda);
    for (int pass = 0; x->nl && pass < 2; pass++) { /* the second takes back what SHIFT did */
        memcpy(x->x, x->r, nv * sizeof *x->x);
        memset(x->x + nv, 0, (size_t)x->nl * sizeof *x->x);
        dae_sparse_solve(&x->project, x->x, NULL);
        for (int i = 0; i < x->nl; i++) x->lambda[i] += x->x[x->nv + i];
        memcpy(x->r, x->f, nv * sizeof *x->r);
        for (size_t c = 0; c < nv; c++)
            for (int e = s->G_colptr[c]; e < s->G_colptr[c + 1]; e++)
                x->r[c] -= x->G[e] * x->lambda[s->G_rowind[e]];
    }
    worst = largest_of(x->nv, x->r);
    size = fmax(1, largest_of(x->nv, x->f));
    return worst / size;
}

/* y onto the constraints, the shortest way. 0: fine. */
static int close_up(rest *x, double *y)
{
    const dae_mech *s = &x->own.mech;
    for (int k = 0; x->nl && k < MOST_CLOSING; k++) {
        double worst = 0;
        dae_mech_point at = {.t = x->t, .p = y};
        if (s->constraint_sparse(&at, x->g, x->G, s->user)) return -1;
        for (int i = 0; i < x->m->ng; i++)
            if (!(fabs(x->g[i]) <= worst)) worst = fabs(x->g[i]);
        if (worst <= CLOSED) return 0;
        if (!(worst < 10 * RADIUS) || factor(x, &x->project, NULL, 1)) return -1;
        memset(x->x, 0, (size_t)(x->nv + x->nl) * sizeof *x->x);
        for (int i = 0; i < x->m->ng; i++) x->x[x->nv + i] = -x->g[i];
        dae_sparse_solve(&x->project, x->x, NULL);
        mbs_move(x->m, x->x, 1, y);
    }
    return x->nl ? 1 : 0;
}

/* ---- Steps ----------------------------------------------------------------------------------------------- */

/* 1: K + mu I + rho G^T G has a Cholesky decomposition. */
static int is_definite(rest *x, double mu)
{
    size_t nv = (size_t)x->nv, w = (size_t)x->width, ld = w + 1;
    double rho = PENALTY * (x->stiffest + mu), *B = x->band; /* B[r*ld + w - (r-c)]: row r, column c <= r */
    memset(B, 0, nv * ld * sizeof *B);
    for (size_t r = 0; r < nv; r++)
        for (size_t c = r > w ? r - w : 0; c <= r; c++)
            B[r * ld + w + c - r] = (x->K[r * nv + c] + x->K[c * nv + r]) / 2 + (r == c ? mu : 0);
    for (int i = 0; i < x->nl; i++)
        for (int a = x->row_ptr[i]; a < x->row_ptr[i + 1]; a++)
            for (int b = x->row_ptr[i]; b <= a; b++) {
                size_t r = (size_t)x->row_col[a], c = (size_t)x->row_col[b];
                B[r * ld + w + c - r] += rho * x->G[x->row_at[a]] * x->G[x->row_at[b]];
            }
    for (size_t r = 0; r < nv; r++) {
        size_t from = r > w ? r - w : 0;
        double *R = B + r * ld + w - r;
        for (size_t c = from; c <= r; c++) {
            const double *C = B + c * ld + w - c;
            double sum = R[c];
            for (size_t k = c > w && c - w > from ? c - w : from; k < c; k++) sum -= R[k] * C[k];
            if (c < r) R[c] = sum / C[c];
            else if (!(sum > 0)) return 0;
            else R[r] = sqrt(sum);
        }
    }
    return 1;
}

static void add_entry(rest *x, size_t r, size_t c, double value)
{
    size_t nv = (size_t)x->nv;
    x->K[r * nv + c] += value;
    if (x->mask[r * nv + c]) return;
    x->mask[r * nv + c] = x->mask[c * nv + r] = 1;
    x->grown = 1;
}

/* K and r of the present set of toggled forces. */
static int combine(rest *x, double *f)
{
    size_t nv = (size_t)x->nv;
    memcpy(f, x->r, nv * sizeof *f);
    for (size_t k = 0; k < nv * nv; k++) x->K[k] = -x->J[k];
    for (int i = 0; i < x->ns; i++) {
        const toggle *s = &x->toggle[i];
        if (!x->in[i] || s->known <= 0) continue;
        double scale = 1 / (s->kappa * s->phi * s->phi);
        for (int r = s->first; r < s->last; r++) {
            f[r] += s->q[r];
            for (int c = s->first; c < s->last && s->q[r] != 0; c++)
                if (s->q[c] != 0) add_entry(x, (size_t)r, (size_t)c, scale * s->q[r] * s->q[c]);
        }
    }
    x->stiffest = 0;
    for (size_t k = 0; k < nv * nv; k++) x->stiffest = fmax(x->stiffest, fabs(x->K[k]));
    if (!x->grown && x->has_newton) return 0;
    if (x->has_newton) dae_sparse_free(&x->newton);
    x->has_newton = 0;
    dae_arena_destroy(x->pattern_arena);
    if (!(x->pattern_arena = dae_arena_create()) || make_factors(x, x->mask, x->pattern_arena, &x->newton))
        return -1;
    x->has_newton = 1;
    look_at_width(x);
    x->band = dae_arena_reals(x->pattern_arena, (size_t)x->nv * (size_t)(x->width + 1));
    x->grown = 0;
    return x->band ? 0 : -1;
}

/* d for the right-hand side f, with the least mu from `from` on. 0: fine; 1: there is none; < 0: no memory. */
static int solve(rest *x, const double *f, double from)
{
    double floor = LEAST_SHIFT * x->stiffest, mu = from > floor ? from : 0;
    for (int k = 0; k < MOST_SHIFTS; k++) {
        double grow = 4;
        if (is_definite(x, mu)) {
            int bad = factor(x, &x->newton, x->K, mu);
            if (bad < 0) return -1;
            memcpy(x->x, f, (size_t)x->nv * sizeof *f);
            memset(x->x + x->nv, 0, (size_t)x->nl * sizeof *x->x);
            if (!bad) dae_sparse_solve(&x->newton, x->x, NULL);
            double length = bad ? INFINITY : largest_of(x->nv, x->x);
            if (length <= RADIUS) {
                memcpy(x->d, x->x, (size_t)x->nv * sizeof *x->d);
                x->mu = mu;
                return 0;
            }
            grow = fmin(fmax(1.5 * length / RADIUS, 1.5), 4);
        }
        mu = fmax(mu * grow, fmax(floor, 1e-300));
    }
    return 1;
}

static const mbs_force_data *force_of(const mbs_mechanism *m, int i)
{
    for (int k = 0; k < m->nforce; k++) {
        const mbs_force_data *f = &m->force[k];
        int count = f->type->count_switches ? f->type->count_switches(m, f) : f->type->switches;
        if (f->side >= 0 && i >= f->side && i < f->side + count) return f;
    }
    return NULL;
}

/* q, kappa of switch i that goes over to `to` along d. */
static void learn(rest *x, int i, int to)
{
    const mbs_mechanism *m = x->own.switches.user;
    toggle *s = &x->toggle[i];
    const mbs_force_data *f = force_of(m, i);
    double slope = (x->margin2[i] - x->margin[i]) / SMALL, work = 0;
    int *side = x->own.switches.side;
    s->known = -1;
    s->phi = x->margin[i];
    if (!f || !f->type->acts || !(s->phi > 0) || slope == 0) return;
    if (!s->q && !(s->q = dae_arena_reals(x->arena, (size_t)x->nv))) return;
    memset(s->q, 0, (size_t)x->nv * sizeof *s->q);
    for (int branch = 0; branch < 2; branch++) {
        for (int c = 0; c < x->nv; c++) s->q[c] = -s->q[c];
        memcpy(side, x->side, (size_t)x->ns * sizeof *side);
        if (branch) side[i] = to;
        mbs_context c = mbs_begin(m, x->t, x->y, x->y + m->np);
        c.u = x->y + m->np + m->nv;
        c.lambda = x->lambda;
        c.f = s->q;
        mbs_dual_reset(&c);
        f->type->apply(f, &c);
        mbs_end(&c);
    }
    thaw(x);
    s->first = x->nv, s->last = 0;
    for (int c = 0; c < x->nv; c++) {
        work += s->q[c] * x->d[c];
        if (s->q[c] == 0) continue;
        if (c < s->first) s->first = c;
        s->last = c + 1;
    }
    s->kappa = -work / (s->phi * slope);
    if (isfinite(s->kappa) && s->kappa != 0 && s->first < s->last) s->known = 1;
}

/* phi + (grad phi, d) of a known one. */
static double predicted(const rest *x, int i)
{
    const toggle *s = &x->toggle[i];
    double sum = 0;
    for (int c = s->first; c < s->last; c++) sum += s->q[c] * x->d[c];
    return s->phi - sum / (s->kappa * s->phi);
}

/* The step from x->y; mu from `from` on. 0: fine; 1: none; < 0: no memory. */
static int make_step(rest *x, double from)
{
    size_t all = (size_t)(x->m->np + x->m->nv + x->m->nu);
    double *f = x->x + x->nv + x->nl;
    for (int i = 0; i < x->ns; i++) x->in[i] = 0, x->toggle[i].known = 0;
    for (int k = 0; k < MOST_SETS; k++) {
        int changed = 0;
        if (combine(x, f)) return -1;
        int bad = solve(x, f, from);
        if (bad) return bad;
        if (!x->ns) return 0;
        memcpy(x->trial, x->y, all * sizeof *x->trial);
        mbs_move(x->m, x->d, SMALL, x->trial);
        if (margins(x, x->trial, x->margin2)) return 0;
        double *slope = x->margin2 + x->ns; /* kept: natural() writes margin2 */
        memcpy(slope, x->margin2, (size_t)x->ns * sizeof *slope);
        memcpy(x->trial, x->y, all * sizeof *x->trial);
        mbs_move(x->m, x->d, 1, x->trial);
        if (natural(x, x->trial, x->wanted)) return 0;
        memcpy(x->margin2, slope, (size_t)x->ns * sizeof *slope);
        for (int i = 0; i < x->ns; i++) {
            if (!x->toggle[i].known && x->wanted[i] != x->side[i]) learn(x, i, x->wanted[i]);
            int now = x->toggle[i].known > 0 && predicted(x, i) < 0;
            changed |= now != x->in[i];
            x->in[i] = now;
        }
        if (!changed) return 0;
    }
    return 0;
}

static double along(const rest *x)
{
    double work = 0;
    for (int c = 0; c < x->nv; c++) work += x->d[c] * x->r[c];
    return work;
}

static dae_status descend(rest *x, double balanced, const mbs_watch *watch, double *off)
{
    size_t all = (size_t)(x->m->np + x->m->nv + x->m->nu);
    double *before = x->trial + all, from = INFINITY;
    *off = imbalance(x, x->y);
    for (int k = 0; k<MOST_STEPS && * off> balanced; k++) {
        if (natural(x, x->y, x->side) || margins(x, x->y, x->margin)) break;
        mbs_force_stiffness(x->m, x->t, x->y, x->lambda, x->J);
        for (size_t i = 0; i < (size_t)x->nv * (size_t)x->nv; i++) {
            if (x->J[i] == 0 || x->mask[i]) continue;
            size_t r = i / (size_t)x->nv, c = i % (size_t)x->nv;
            x->mask[i] = x->mask[c * (size_t)x->nv + r] = 1;
            x->grown = 1;
        }
        if (!isfinite(from)) from = largest_of(x->nv, x->r) / RADIUS;
        memcpy(before, x->y, all * sizeof *before);
        double was = *off, tried = from;
        int taken = 0;
        for (int half = 0; half < 12 && !taken; half++) {
            int bad = make_step(x, tried);
            if (bad < 0) return DAE_ERR_MEMORY;
            if (bad) break;
            double pushes = along(x), length = 0;
            for (int c = 0; c < x->nv; c++) length += x->d[c] * x->d[c];
            mbs_move(x->m, x->d, 1, x->y);
            if (!close_up(x, x->y)) {
                *off = imbalance(x, x->y);
                taken = *off < was || along(x) > -0.5 * pushes;
            }
            if (taken) break;
            memcpy(x->y, before, all * sizeof *before);
            tried = fmax(4 * x->mu, length > 0 ? pushes / length : 0); /* half as long, or less */
            *off = imbalance(x, x->y);
        }
        if (!taken || (*off <= FINE * balanced && !(*off < was / 2))) break;
        from = x->mu / 8;
        if (watch) watch->step(k + 1, *off, watch->user);
    }
    return DAE_OK;
}

dae_status mbs_rest_downhill(const mbs_mechanism *m, double t, double balanced, const mbs_watch *watch,
                             double *y, double *off)
{
    rest x = {
        .m = m, .t = t, .y = y, .nv = m->nv, .nl = m->nlambda, .arena = dae_arena_create(), .own = m->system};
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda, all = (size_t)(m->np + m->nv + m->nu);
    dae_status s = x.arena ? DAE_OK : DAE_ERR_MEMORY;
    if (!s && m->system.switches.count && m->system.switches.bind) {
        s = m->system.switches.bind(&m->system, &x.own, NULL);
        x.bound = !s;
        x.ns = s ? 0 : x.own.switches.count;
    }
    if (!s) {
        size_t ns = (size_t)x.ns, nz = nl ? (size_t)m->system.mech.G_colptr[nv] : 0;
        x.f = dae_arena_reals(x.arena, nv);
        x.r = dae_arena_reals(x.arena, nv);
        x.d = dae_arena_reals(x.arena, nv);
        x.lambda = dae_arena_reals(x.arena, nl + 1);
        x.g = dae_arena_reals(x.arena, nl + 1);
        x.G = dae_arena_reals(x.arena, nz + 1);
        x.J = dae_arena_reals(x.arena, nv * nv);
        x.K = dae_arena_reals(x.arena, nv * nv);
        x.x = dae_arena_reals(x.arena, 2 * nv + nl);
        x.trial = dae_arena_reals(x.arena, 2 * all);
        x.mask = dae_arena_take(x.arena, nv * nv, 1);
        x.side = dae_arena_ints(x.arena, 4 * ns + 1);
        x.margin = dae_arena_reals(x.arena, 3 * ns + 1);
        x.toggle = dae_arena_take(x.arena, ns + 1, sizeof *x.toggle);
        if (dae_arena_failed(x.arena) || by_rows(&x) || make_factors(&x, NULL, x.arena, &x.project))
            s = DAE_ERR_MEMORY;
        else {
            x.has_project = 1;
            x.next = x.side + ns, x.wanted = x.next + ns, x.in = x.wanted + ns;
            x.margin2 = x.margin + ns;
            for (size_t c = 0; c < nv; c++) x.mask[c * nv + c] = 1;
        }
    }
    if (!s) s = descend(&x, balanced, watch, off);
    if (x.has_project) dae_sparse_free(&x.project);
    if (x.has_newton) dae_sparse_free(&x.newton);
    if (x.bound) x.own.switches.release(&x.own);
    dae_arena_destroy(x.pattern_arena);
    dae_arena_destroy(x.arena);
    return s;
}
