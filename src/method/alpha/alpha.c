/* genalpha, hht: the generalized-alpha methods of order 2 for constrained mechanical systems.
 *
 * Besides the accelerations w = v' there are algorithmic ones, a. One step from t_n to t_n + h:
 *
 *     psi = h v0 + h^2 ((1/2 - beta) a0 + beta a1)        p1 = p0 moved along T by psi (T = I: p0 + psi)
 *     v1  = v0 + h ((1 - gamma) a0 + gamma a1)            (1-am) a1 + am a0 = (1-af) w1 + af w0
 *     M(p1) w1 = f(p1, v1, u1, l1) - G(p1)^T l1           G(p1) v1 + gI(p1) = 0
 *     u1  = u0 + h/2 (d0 + d1)
 *     gamma = 1/2 + af - am,   beta = (gamma + 1/2)^2/4
 *
 *     genalpha: am = (2 rho - 1)/(rho + 1), af = rho/(rho + 1)       hht: am = 0, af = -alpha
 *
 * The constraint is taken on the velocities, because then the multipliers keep order 2 where the step size changes
 * (with g(p1) = 0 in its place they fall to order 1); p1 and v1 are moved onto g = 0 and G v + gI = 0 afterwards.
 * a_n belongs to the time t_n + D h, D = am - af, so that it is shifted when h changes:
 *
 *     a0 = a_n + D (h - h_old) j,   j = (a_n - a_(n-1))/h_old,   and at the start a_n = w, h_old = 0, j = w'
 *
 * Newton's method on (a1, l1), whose matrix does not degenerate for small h, c = (1-am)/(1-af):
 *
 *     [ c M + h gamma C + h^2 beta K     (G - F^T)^T ]     K = d(M w + G^T l - f)/dp T,  C = -df/dv,  F = df/dl
 *     [ G + h beta/gamma N               0           ]     N = d(G v + gI)/dp T
 *
 * Error of p in one step: h^2 kappa (a1 - a0), kappa = beta + D/2 - 1/6.
 *
 * Sources: [CH93] for the scheme, [AB07] for constraints, [BCA12] for rotations, [ABC15] for what the start does to the
 * multipliers, [NROS07] for hht with index 3. The shift of a and the constants of the control are ours. */
#include "method/mechanics.h"

#include "core/vector.h"
#include "linalg/dense.h"
#include "linalg/sparse.h"
#include "method/failure.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Control -------------------------------------------------------------------------------------- */

#define SHRINK 0.3
#define GROW 1.5
#define KEEP 1.15        /* a step that could grow by less keeps its size, and with it the matrix */
#define FAILED 0.5       /* factor on h where Newton's method fails */
#define STRETCH 1.01     /* a step that would end this near to the end goes to the end */
#define CONVERGED 1e-3   /* weighted error of positions and velocities that the iteration may leave */
#define ITERATIONS 10    /* of Newton's method, at most */
#define SLOW 0.9         /* a rate of convergence above it: diverges */
#define RENEW 0.2        /* above it: a new matrix for the next step */
#define OLDEST 20        /* steps that a matrix may serve */
#define H_CHANGE 0.25    /* relative change of h since the matrix was made, at most */
#define LARGEST_FULL 400 /* unknowns up to which `matrix = auto` takes K and C from the start, dense */
#define LARGEST 3000     /* velocities up to which it looks where K and C have entries */
#define DENSE 0.2        /* part of the matrix: with more entries they are not used */
#define MOST_BENT 2      /* slopes of velocities in the dense output, in units of those of a parabola; ours */
#define SHORT 0.1        /* a step that is shorter than this part of the last one tells no new jerk */

typedef struct alpha_options {
    double parameter; /* rho or alpha */
    double safety;
    const char *matrix;
    const char *linear_algebra;
} alpha_options;

/* Plain numbers that a checkpoint carries. */
typedef struct alpha_state {
    double t, h;      /* h > 0: size of the next attempt */
    double t_first;   /* where the method was started */
    double h_taken;   /* signed size of the last step, 0: none */
    double h_matrix;  /* signed h that the matrix was made with, 0: there is none */
    int age;          /* steps since then */
    int rejected;     /* the last attempt failed */
    int external_old; /* 1: slope_old is known */
    int stiff;        /* the iteration with M and G alone has failed: K and C by their pattern from now on */
} alpha_state;

typedef struct alpha {
    dae_ivp *ivp;
    alpha_options opt;
    double am, af, beta, gamma, shift, kappa, c;
    int np, nv, nu, nl, ny, full;
    int *body,
        *color; /* of each velocity; velocities of one color move no row together. NULL: no pattern is known */
    int ncolor;
    dae_mechanics x;
    dae_saddle *saddle;    /* velocities, accelerations */
    dae_saddle *position;  /* projection of p; the same where all constraints are holonomic */
    dae_saddle *iteration; /* Newton's method without K and C */
    dae_dense_lu lu;       /* and with them */
    dae_sparse_lu sparse;  /* the same by their pattern */
    dae_dense_lu external; /* I - h/2 dd/du */

    alpha_state *s;
    double t1;       /* end of the present attempt */
    double *y0, *y1; /* ny: the ends of the step */
    double *k0, *k1; /* ny: derivatives there: T v, w, d */
    double *l0, *l1; /* nl: multipliers there */
    double *a;       /* nv: a_n, shifted for h_taken */
    double *j;       /* nv: jerk */
    double *a0, *a1; /* nv: of the present attempt */
    double *rate,
        *bend; /* nv: (v1 - v0)/h of the last step, and how its velocities bend: the middle of the parabola through three ends */
    double *slope_old; /* nu: (d_n - d_(n-1))/h */
    double *psi;       /* nv */
    double *f;         /* nv: force at the iterate that the matrix is made for */
    double *rhs;       /* nv + nl */
    double *r, *r2;    /* nv + nl: residuals for differences */
    double *d;         /* nu */
    double *column;    /* 5 np: T e_j, and stages of a move along T */
    double *point;     /* ny: perturbed state; room for output */
    double *z;         /* ny: the same for derivatives */
    double *M, *G;     /* at the present iterate */
    double *gI;        /* nl */
    double *matrix;    /* (nv+nl)^2, where full */
    double *dfdp, *dfdv;
    double *dddu;   /* nu*nu */
    double *weight; /* ny */
} alpha;

/* ---- Life ----------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    alpha *s = self;
    if (!s) return;
    if (s->position != s->saddle) dae_saddle_destroy(s->position);
    if (s->color) dae_sparse_free(&s->sparse);
    dae_saddle_destroy(s->iteration);
    dae_saddle_destroy(s->saddle);
    free(s);
}

static dae_status create_solvers(alpha *s, dae_error *err)
{
    int friction = s->x.m->dfdlambda != NULL;
    const char *mode = s->opt.linear_algebra;
    s->saddle = dae_mechanics_saddle(&s->x, mode, s->nl, friction, err);
    if (s->saddle) s->position = s->saddle;
    if (s->saddle && (s->x.ng != s->nl || s->x.m->position_jacobian))
        s->position = dae_mechanics_saddle(&s->x, "auto", s->x.ng, 0, err);
    if (s->position && !s->full) s->iteration = dae_mechanics_saddle(&s->x, mode, s->nl, friction, err);
    return s->position && (s->full || s->iteration) ? DAE_OK : err ? err->status : DAE_ERR_MEMORY;
}

static void take_arrays(alpha *s, dae_arena *arena)
{
    size_t ny = (size_t)s->ny, nl = (size_t)s->nl, nv = (size_t)s->nv, nu = (size_t)s->nu, np = (size_t)s->np;
    double **state[] = {&s->y0, &s->y1, &s->k0, &s->k1, &s->point, &s->z, &s->weight};
    double **velocity[] = {&s->a, &s->j, &s->a0, &s->a1, &s->psi, &s->f, &s->rate, &s->bend};
    double **both[] = {&s->rhs, &s->r, &s->r2};
    s->s = dae_arena_take(arena, 1, sizeof *s->s);
    for (size_t i = 0; i < sizeof state / sizeof *state; i++) *state[i] = dae_arena_reals(arena, ny);
    for (size_t i = 0; i < sizeof velocity / sizeof *velocity; i++) *velocity[i] = dae_arena_reals(arena, nv);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) *both[i] = dae_arena_reals(arena, nv + nl);
    s->l0 = dae_arena_reals(arena, nl);
    s->l1 = dae_arena_reals(arena, nl);
    s->gI = dae_arena_reals(arena, nl);
    s->slope_old = dae_arena_reals(arena, nu);
    s->d = dae_arena_reals(arena, nu);
    s->dddu = dae_arena_reals(arena, nu * nu);
    s->column = dae_arena_reals(arena, 5 * np);
    s->M = dae_arena_reals(arena, (size_t)s->x.parts.nM);
    s->G = dae_arena_reals(arena, (size_t)s->x.parts.nG);
    if (nu) dae_dense_init(&s->external, s->nu, 0, arena);
    if (!s->full) return;
    dae_dense_init(&s->lu, s->nv + s->nl, 0, arena);
    s->matrix = dae_arena_reals(arena, (nv + nl) * (nv + nl));
    s->dfdp = dae_arena_reals(arena, nv * np);
    s->dfdv = dae_arena_reals(arena, nv * nv);
}

/* ---- The pattern of K and C ------------------------------------------------------------------------- */

/* What is needed to find it. */
typedef struct search {
    int nbody;
    unsigned char *near; /* nbody^2: a force or a row of G joins them, or they are the same */
    unsigned char *row;  /* nv + nl */
    int *taken, *of;     /* nbody: colors */
    double *state;       /* p, v, u, lambda without zeros */
    double *moved;       /* the same with one body elsewhere */
    double *f;           /* 2 nv */
} search;

static void join(search *w, int a, int b)
{
    w->near[(size_t)a * (size_t)w->nbody + (size_t)b] = w->near[(size_t)b * (size_t)w->nbody + (size_t)a] = 1;
}

/* f where the bodies are, or with one of them elsewhere; 1: it cannot be told. */
static int force_somewhere(alpha *s, const double *x, double *f)
{
    const double *v = x + s->np;
    int r = dae_mechanics_force(&s->x, 0.37, x, v, v + s->nv, v + s->nv + s->nu, f);
    s->x.n.f--;
    s->ivp->stats->f_jac++;
    return r || !dae_all_finite(s->nv, f);
}

/* Bodies in one row of G, and those whose forces change where a body is moved, at a place without zeros. */
static int join_all(alpha *s, search *w)
{
    const dae_saddle_spec *spec = &s->x.parts.spec;
    int all = s->ny + s->nl;
    for (int i = 0; i < all; i++) /* not u */
        w->state[i] = i < s->np + s->nv || i >= s->ny ? 0.4 + 0.7 * fmod(0.618033988749895 * (i + 1), 1) : 0;
    if (force_somewhere(s, w->state, w->f)) return 1;
    for (int b = 0; b < w->nbody; b++) {
        dae_copy(all, w->state, w->moved);
        for (int j = 0; j < s->nv; j++) s->point[j] = s->body[j] == b ? 0.01 / (1 + j % 7) : 0;
        if (dae_mechanics_kinematics(&s->x, 0.37, w->state, s->point, s->z)) return 1;
        dae_axpy(s->np, 1, s->z, w->moved);
        dae_axpy(s->nv, 1, s->point, w->moved + s->np);
        if (force_somewhere(s, w->moved, w->f + s->nv)) return 1;
        join(w, b, b);
        for (int i = 0; i < s->nv; i++) {
            if (w->f[i] != w->f[s->nv + i]) join(w, b, s->body[i]);
        }
    }
    for (int i = 0; i < s->nl; i++) { /* the bodies of row i with the last one of them before */
        int last = -1;
        for (int j = 0; j < s->nv; j++) {
            for (int k = spec->colptr[j]; k < spec->colptr[j + 1]; k++) {
                if (spec->rowind[k] != i || s->body[j] == last) continue;
                for (int c = 0; last >= 0 && c < s->body[j]; c++)
                    if (w->row[c]) join(w, c, s->body[j]);
                last = s->body[j];
                w->row[last] = 1;
            }
        }
        memset(w->row, 0, (size_t)w->nbody);
    }
    return 0;
}

/* Bodies of one color have no neighbor in common; the velocities of a body have colors of their own. */
static void choose_colors(alpha *s, search *w)
{
    int *taken = w->taken, *of = w->of, widest = 0, most = 0;
    for (int b = 0; b < w->nbody; b++) {
        memset(taken, 0, (size_t)w->nbody * sizeof *taken);
        for (int c = 0; c < w->nbody; c++) {
            if (!w->near[(size_t)b * (size_t)w->nbody + (size_t)c]) continue;
            for (int d = 0; d < b; d++)
                if (w->near[(size_t)c * (size_t)w->nbody + (size_t)d]) taken[of[d]] = 1;
        }
        of[b] = 0;
        while (taken[of[b]]) of[b]++;
        most = of[b] + 1 > most ? of[b] + 1 : most;
    }
    for (int j = 0, k = 0; j < s->nv; j++) {
        k = j && s->body[j] == s->body[j - 1] ? k + 1 : 0;
        widest = k + 1 > widest ? k + 1 : widest;
    }
    for (int j = 0, k = 0; j < s->nv; j++) {
        k = j && s->body[j] == s->body[j - 1] ? k + 1 : 0;
        s->color[j] = of[s->body[j]] * widest + k;
    }
    s->ncolor = most * widest;
}

/* Compressed columns of the matrix, rowind NULL: their lengths only. */
static void write_pattern(const alpha *s, const search *w, int *colptr, int *rowind)
{
    const dae_saddle_spec *spec = &s->x.parts.spec;
    int n = s->nv + s->nl, count = 0;
    unsigned char *row = w->row;
    for (int j = 0; j < n; j++) {
        colptr[j] = count;
        memset(row, 0, (size_t)n);
        for (int i = 0; i < s->nv; i++) {
            if (j < s->nv) row[i] = w->near[(size_t)s->body[j] * (size_t)w->nbody + (size_t)s->body[i]];
            for (int k = spec->colptr[i]; k < spec->colptr[i + 1]; k++) {
                if (j < s->nv && s->body[i] == s->body[j]) row[s->nv + spec->rowind[k]] = 1;
                if (j == s->nv + spec->rowind[k]) row[i] = 1;
            }
        }
        for (int i = 0; i < n; i++) {
            if (row[i] && rowind) rowind[count] = i;
            count += row[i];
        }
    }
    colptr[n] = count;
}

/* Where K and C have entries; what does not tell (one block, friction by multipliers, a dense matrix) has none, color NULL. */
static dae_status find_pattern(alpha *s, dae_arena *arena, dae_error *err)
{
    const dae_saddle_spec *spec = &s->x.parts.spec;
    int n = s->nv + s->nl;
    if (s->full || strcmp(s->opt.matrix, "mass") == 0 || s->nv > LARGEST || s->x.m->dfdlambda ||
        !spec->block || spec->nblock < 2 || !spec->colptr)
        return DAE_OK;
    search w = {.nbody = spec->nblock};
    size_t bodies = (size_t)w.nbody, all = (size_t)(s->ny + s->nl);
    int *colptr = calloc((size_t)n + 1, sizeof *colptr), *rowind = NULL;
    w.near = calloc(bodies * bodies, 1);
    w.row = calloc((size_t)n, 1);
    w.taken = calloc(2 * bodies + 1, sizeof *w.taken);
    w.state = calloc(2 * all + 2 * (size_t)s->nv, sizeof *w.state);
    s->body = dae_arena_take(arena, (size_t)s->nv, sizeof *s->body);
    int missing = !colptr || !w.near || !w.row || !w.taken || !w.state || !s->body;
    if (!missing) w.of = w.taken + bodies + 1, w.moved = w.state + all, w.f = w.moved + all;
    for (int k = 0, j = 0; !missing && k < w.nbody; k++)
        for (int i = 0; i < spec->block[k]; i++) s->body[j++] = k;
    int told = !missing && join_all(s, &w) == 0;
    if (told) write_pattern(s, &w, colptr, NULL);
    if (told && colptr[n] < DENSE * n * n) {
        rowind = calloc((size_t)colptr[n] + 1, sizeof *rowind);
        s->color = dae_arena_take(arena, (size_t)s->nv, sizeof *s->color);
        missing = !rowind || !s->color;
        if (!missing) {
            write_pattern(s, &w, colptr, rowind);
            choose_colors(s, &w);
            missing = dae_sparse_init(&s->sparse, n, colptr, rowind, 0, arena) != 0;
        }
    }
    free(rowind), free(colptr), free(w.near), free(w.row), free(w.taken), free(w.state);
    return missing ? dae_fail(err, DAE_ERR_MEMORY, NAN, "generalized alpha: out of memory") : DAE_OK;
}

static void *create(dae_ivp *ivp, const alpha_options *opt, double am, double af, dae_error *err)
{
    const dae_mech *m = &ivp->sys->mech;
    alpha *s = calloc(1, sizeof *s);
    if (!s) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "generalized alpha: out of memory");
        return NULL;
    }
    s->ivp = ivp;
    s->opt = *opt;
    s->am = am;
    s->af = af;
    s->gamma = 0.5 + af - am;
    s->beta = (s->gamma + 0.5) * (s->gamma + 0.5) / 4;
    s->shift = am - af;
    s->kappa = s->beta + s->shift / 2 - 1.0 / 6;
    s->c = (1 - am) / (1 - af);
    s->np = m->np;
    s->nv = m->nv;
    s->nu = m->nu;
    s->nl = m->nlambda;
    s->ny = s->np + s->nv + s->nu;
    s->full =
        strcmp(opt->matrix, "mass") != 0 && (!strcmp(opt->matrix, "full") || s->nv + s->nl <= LARGEST_FULL);
    if (dae_mechanics_init(&s->x, ivp, err)) goto fail;
    take_arrays(s, ivp->arena);
    if (create_solvers(s, err)) goto fail; /* finds missing memory too */
    if (find_pattern(s, ivp->arena, err)) goto fail;
    dae_ivp_solves_with(ivp, dae_saddle_describe(s->saddle));
    return s;
fail:
    destroy(s);
    return NULL;
}

static void *create_genalpha(dae_ivp *ivp, const void *option, dae_error *err)
{
    double rho = ((const alpha_options *)option)->parameter;
    return create(ivp, option, (2 * rho - 1) / (rho + 1), rho / (rho + 1), err);
}

static void *create_hht(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, option, 0, -((const alpha_options *)option)->parameter, err);
}

/* ---- Equations of a step -------------------------------------------------------------------------- */

/* p from p0 along p' = T(t, p) psi, t from t0 to t1 while the parameter goes from 0 to 1: one step of the classical
 * Runge-Kutta method, whose error is O(psi^5). */
static int move(alpha *s, double t0, double t1, const double *p0, const double *psi, double *p)
{
    if (!s->x.m->kinematics) {
        for (int i = 0; i < s->nv; i++) p[i] = p0[i] + psi[i];
        return 0;
    }
    static const double at[] = {0, 0.5, 0.5, 1}, b[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double *k = s->column + s->np, *q = k + s->np, *sum = q + s->np;
    dae_copy(s->np, p0, sum);
    for (int m = 0; m < 4; m++) {
        double t = at[m] == 1 ? t1 : t0 + at[m] * (t1 - t0);
        dae_copy(s->np, p0, q);
        if (m) dae_axpy(s->np, at[m], k, q);
        int r = dae_mechanics_kinematics(&s->x, t, q, psi, k);
        if (r) return r;
        dae_axpy(s->np, b[m], k, sum);
    }
    dae_copy(s->np, sum, p);
    return 0;
}

/* y1 and w from a1, without u. */
static int end_from_a(alpha *s, double h)
{
    double *v0 = s->y0 + s->np, *v1 = s->y1 + s->np, *w0 = s->k0 + s->np, *w1 = s->k1 + s->np;
    for (int i = 0; i < s->nv; i++) {
        double a0 = s->a0[i], a1 = s->a1[i];
        s->psi[i] = h * v0[i] + h * h * ((0.5 - s->beta) * a0 + s->beta * a1);
        v1[i] = v0[i] + h * ((1 - s->gamma) * a0 + s->gamma * a1);
        w1[i] = ((1 - s->am) * a1 + s->am * a0 - s->af * w0[i]) / (1 - s->af);
    }
    return move(s, s->s->t, s->t1, s->y0, s->psi, s->y1);
}

/* r = (M w + G^T l - f, G v + gI) at positions p; f NULL: without it. */
static int residual(alpha *s, const double *p, const double *f, double *r)
{
    dae_mechanics *x = &s->x;
    const double *M, *v = s->y1 + s->np, *w = s->k1 + s->np;
    int bad = dae_mechanics_mass(x, s->t1, p, s->M, &M);
    if (!bad) bad = dae_mechanics_jacobian(x, s->t1, p, NULL, s->G);
    if (!bad) bad = dae_mechanics_drift(x, s->t1, p, r + s->nv);
    if (bad) return bad;
    dae_zero(s->nv, r);
    if (f) dae_axpy(s->nv, -1, f, r);
    dae_saddle_multiply_mass(s->nv, x->parts.spec.block, x->parts.spec.nblock, M, 1, w, r);
    dae_saddle_multiply_transposed(&x->parts.spec, s->G, 1, s->l1, r);
    dae_saddle_multiply(&x->parts.spec, s->G, 1, v, r + s->nv);
    return 0;
}

static int force(alpha *s, const double *p, const double *v, double *f)
{
    return dae_mechanics_force(&s->x, s->t1, p, v, s->y1 + s->np + s->nv, s->l1, f);
}

/* ---- The matrix of Newton's method ---------------------------------------------------------------- */

static double difference(double value, double typical)
{
    return sqrt(DBL_EPSILON) * fmax(fabs(value), fmax(fabs(typical), 1e-3));
}

/* df/dv into s->dfdv, given or by differences; f: at the iterate. */
static int force_by_velocity(alpha *s, const double *f)
{
    const dae_mech *m = s->x.m;
    const double *v = s->y1 + s->np;
    double *moved = s->point;
    dae_zero(s->nv * s->nv, s->dfdv);
    if (m->dfdv) {
        dae_mech_point at = {
            .t = s->t1, .cache = s->x.parts.cache, .p = s->y1, .v = v, .u = v + s->nv, .lambda = s->l1};
        return m->dfdv(&at, s->dfdv, m->user);
    }
    dae_copy(s->nv, v, moved);
    for (int j = 0; j < s->nv; j++) {
        double delta = difference(v[j], 0), *to = s->dfdv + (size_t)j * (size_t)s->nv;
        moved[j] = v[j] + delta;
        int r = force(s, s->y1, moved, to);
        s->ivp->stats->f_jac++;
        s->x.n.f--;
        if (r) return r;
        for (int i = 0; i < s->nv; i++) to[i] = (to[i] - f[i]) / delta;
        moved[j] = v[j];
    }
    return 0;
}

/* Column j of (K, N): the derivative of the residual along T e_j. f and r: at the iterate. */
static int position_column(alpha *s, int j, const double *f, const double *r, double *out)
{
    const dae_mech *m = s->x.m;
    double *e = s->point, *direction = s->column, *p = s->z, *moved = s->r2;
    dae_zero(s->nv, e);
    e[j] = 1;
    int bad = dae_mechanics_kinematics(&s->x, s->t1, s->y1, e, direction);
    if (bad) return bad;
    double size = dae_largest(s->np, direction), at = 0;
    for (int i = 0; i < s->np; i++) {
        if (direction[i] != 0) at = fmax(at, fabs(s->y1[i]));
    }
    double delta = difference(at, 0) / fmax(size, 1e-3);
    for (int i = 0; i < s->np; i++) p[i] = s->y1[i] + delta * direction[i];
    double *moved_f = s->psi; /* made anew by the next iterate */
    if (m->dfdp) {
        dae_copy(s->nv, f, moved_f);
    } else {
        bad = force(s, p, s->y1 + s->np, moved_f);
        s->ivp->stats->f_jac++;
        s->x.n.f--;
    }
    if (!bad) bad = residual(s, p, moved_f, moved);
    if (bad) return bad;
    for (int i = 0; i < s->nv + s->nl; i++) out[i] = (moved[i] - r[i]) / delta;
    for (int i = 0; m->dfdp && i < s->np; i++) {
        dae_axpy(s->nv, -direction[i], s->dfdp + (size_t)i * (size_t)s->nv, out);
    }
    return 0;
}

/* Where entry (i, j) is kept. */
static double *entry(alpha *s, int i, int j)
{
    if (s->full) return s->matrix + i + (size_t)j * (size_t)(s->nv + s->nl);
    const dae_sparse_lu *p = &s->sparse;
    int low = p->colptr[j], high = p->colptr[j + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (p->rowind[middle] < i) low = middle + 1;
        else high = middle;
    }
    return p->value + low;
}

/* scale M added to the matrix. */
static void add_mass(alpha *s, const double *M, double scale)
{
    for (int k = 0, first = 0; first < s->nv; k++) {
        int size = s->x.parts.spec.block ? s->x.parts.spec.block[k] : s->nv;
        for (int j = first; j < first + size; j++)
            for (int i = first; i < first + size; i++) *entry(s, i, j) += scale * *M++;
        first += size;
    }
}

/* G and (G - F^T)^T added to the matrix. */
static void add_constraints(alpha *s, const double *G, const double *F)
{
    const dae_saddle_spec *spec = &s->x.parts.spec;
    for (int j = 0; j < s->nv; j++) {
        int begin = spec->colptr ? spec->colptr[j] : j * s->nl;
        int end = spec->colptr ? spec->colptr[j + 1] : (j + 1) * s->nl;
        for (int k = begin; k < end; k++) {
            int row = s->nv + (spec->colptr ? spec->rowind[k] : k - begin);
            *entry(s, row, j) += G[k];
            *entry(s, j, row) += G[k];
        }
    }
    for (int i = 0; F && i < s->nl; i++)
        for (int k = 0; k < s->nv; k++) *entry(s, k, s->nv + i) -= F[k + (long)i * s->nv];
}

/* M and G at the iterate, which K and C have been made for, added. */
static int add_rest(alpha *s)
{
    dae_mechanics *x = &s->x;
    const double *M, *v = s->y1 + s->np;
    int r = dae_mechanics_mass(x, s->t1, s->y1, s->M, &M);
    if (!r) r = dae_mechanics_jacobian(x, s->t1, s->y1, NULL, s->G);
    if (!r && x->friction) r = dae_mechanics_friction(x, s->t1, s->y1, v, v + s->nv, s->l1, x->friction);
    if (r) return r;
    add_mass(s, M, s->c);
    add_constraints(s, s->G, x->friction);
    return 0;
}

/* K, N and C by differences, all velocities of one color at once. */
static int sparse_matrix(alpha *s, double h)
{
    const double *v = s->y1 + s->np;
    double *e = s->point, *p = s->z, *moved = s->r2, *f = s->f, *moved_f = s->psi;
    memset(s->sparse.value, 0, (size_t)s->sparse.count * sizeof *s->sparse.value);
    int r = force(s, s->y1, v, f);
    if (!r) r = residual(s, s->y1, f, s->r);
    for (int c = 0; c < 2 * s->ncolor && !r; c++) {
        int by_v = c >= s->ncolor, color = by_v ? c - s->ncolor : c;
        dae_zero(s->nv, e);
        for (int j = 0; j < s->nv; j++) {
            if (s->color[j] == color) e[j] = difference(by_v ? v[j] : s->x.m->kinematics ? 1 : s->y1[j], 0);
        }
        if (by_v) {
            dae_copy(s->nv, v, p);
            dae_axpy(s->nv, 1, e, p);
            r = force(s, s->y1, p, moved_f);
        } else {
            r = dae_mechanics_kinematics(&s->x, s->t1, s->y1, e, s->column);
            for (int i = 0; i < s->np; i++) p[i] = s->y1[i] + s->column[i];
            if (!r) r = force(s, p, v, moved_f);
            if (!r) r = residual(s, p, moved_f, moved);
        }
        s->ivp->stats->f_jac++;
        s->x.n.f--;
        for (int j = 0; j < s->nv && !r; j++) {
            if (s->color[j] != color) continue;
            for (int k = s->sparse.colptr[j]; k < s->sparse.colptr[j + 1]; k++) {
                int i = s->sparse.rowind[k];
                double *to = s->sparse.value + k;
                if (by_v && i < s->nv) *to -= h * s->gamma * (moved_f[i] - f[i]) / e[j];
                else if (!by_v)
                    *to += h * s->beta * (i < s->nv ? h : 1 / s->gamma) * (moved[i] - s->r[i]) / e[j];
            }
        }
    }
    if (!r) r = add_rest(s);
    return r ? r : dae_sparse_factor(&s->sparse) ? 1 : 0;
}

static int full_matrix(alpha *s, double h)
{
    dae_mechanics *x = &s->x;
    const double *v = s->y1 + s->np;
    size_t n = (size_t)(s->nv + s->nl);
    double *f = s->f;
    memset(s->matrix, 0, n * n * sizeof *s->matrix);
    int r = force(s, s->y1, v, f);
    if (!r) r = force_by_velocity(s, f);
    if (!r && x->m->dfdp) {
        dae_mech_point at = {
            .t = s->t1, .cache = x->parts.cache, .p = s->y1, .v = v, .u = v + s->nv, .lambda = s->l1};
        dae_zero(s->nv * s->np, s->dfdp);
        r = x->m->dfdp(&at, s->dfdp, x->m->user);
    }
    if (!r) r = residual(s, s->y1, f, s->r);
    for (int j = 0; j < s->nv && !r; j++) {
        double *to = s->matrix + (size_t)j * n;
        r = position_column(s, j, f, s->r, to);
        for (int i = 0; i < s->nv; i++) to[i] *= h * h * s->beta;
        for (int i = s->nv; i < s->nv + s->nl; i++) to[i] *= h * s->beta / s->gamma;
        dae_axpy(s->nv, -h * s->gamma, s->dfdv + (size_t)j * (size_t)s->nv, to);
    }
    if (!r) r = add_rest(s);
    if (r) return r;
    dae_dense_load(&s->lu, 1, s->matrix, (int)n);
    return dae_dense_factor(&s->lu) ? 1 : 0;
}

/* M and G of the end alone, where K and C are small against M/h^2: the unknowns are (c da, dl). */
static int mass_matrix(alpha *s)
{
    dae_mechanics *x = &s->x;
    const double *M, *v = s->y1 + s->np;
    double *U = NULL;
    int r = dae_mechanics_mass(x, s->t1, s->y1, s->M, &M);
    if (!r) r = dae_mechanics_jacobian(x, s->t1, s->y1, NULL, s->G);
    if (!r && x->friction) {
        U = x->friction + s->nv * s->nl;
        r = dae_mechanics_friction(x, s->t1, s->y1, v, v + s->nv, s->l1, x->friction);
        if (!r) dae_parts_upper(&x->parts, s->G, x->friction, U);
    }
    if (r) return r;
    if (dae_saddle_stale(s->iteration)) dae_saddle_anchor(s->iteration, M, s->G, U);
    return dae_mechanics_factor(x, s->iteration, M, s->G, U);
}

static int dynamics(alpha *s, double *u, double *d)
{
    return dae_mechanics_dynamics(&s->x, s->t1, s->y1, s->y1 + s->np, u, s->l1, d);
}

/* I - h/2 dd/du by differences. */
static int external_matrix(alpha *s, double h)
{
    double *u = s->y1 + s->np + s->nv, *d = s->z;
    int r = s->nu ? dynamics(s, u, s->d) : 0;
    for (int j = 0; j < s->nu && !r; j++) {
        double delta = difference(u[j], 0), keep = u[j], *to = s->dddu + (size_t)j * (size_t)s->nu;
        u[j] += delta;
        r = dynamics(s, u, d);
        u[j] = keep;
        for (int i = 0; i < s->nu; i++) to[i] = (i == j) - h / 2 * (d[i] - s->d[i]) / delta;
    }
    if (r || !s->nu) return r;
    dae_dense_load(&s->external, 1, s->dddu, s->nu);
    return dae_dense_factor(&s->external) ? 1 : 0;
}

static int make_matrix(alpha *s, double h)
{
    s->s->h_matrix = 0;
    int r = s->full ? full_matrix(s, h) : s->s->stiff ? sparse_matrix(s, h) : mass_matrix(s);
    if (!r) r = external_matrix(s, h);
    if (r) return r;
    if (s->full || s->s->stiff) s->x.n.lu++;
    s->ivp->stats->jac++;
    s->s->h_matrix = h;
    s->s->age = 0;
    return 0;
}

/* ---- Newton's method ------------------------------------------------------------------------------ */

/* One iteration. *change: weighted size of the change of y1. *rounding: it is not more than that. */
static int iterate(alpha *s, double h, double *change, int *rounding)
{
    double *f = s->r2, *da = s->rhs, *dl = da + s->nv, *u = s->y1 + s->np + s->nv;
    double *d0 = s->k0 + s->np + s->nv, *u0 = s->y0 + s->np + s->nv;
    int r = end_from_a(s, h);
    if (!r) r = force(s, s->y1, s->y1 + s->np, f);
    if (!r) r = residual(s, s->y1, f, s->rhs);
    if (r) return r;
    for (int i = 0; i < s->nv; i++) da[i] = -da[i];
    int whole = s->full || s->s->stiff;
    for (int i = 0; i < s->nl; i++) dl[i] *= (whole ? -1 : -s->c) / (h * s->gamma);
    if (whole) {
        if (s->full) dae_dense_solve(&s->lu, s->rhs, NULL);
        else dae_sparse_solve(&s->sparse, s->rhs, NULL);
        s->x.n.solves++;
    } else {
        if (dae_mechanics_solve(&s->x, s->iteration, da, dl)) return 1;
        for (int i = 0; i < s->nv; i++) da[i] /= s->c;
    }
    s->ivp->stats->newton++;
    if (!dae_all_finite(s->nv + s->nl, s->rhs)) return 1;
    *rounding = dae_largest(s->nv, da) <= 100 * DBL_EPSILON * dae_largest(s->nv, s->a1);
    dae_axpy(s->nv, 1, da, s->a1);
    dae_axpy(s->nl, 1, dl, s->l1);
    double dv = fabs(h) * s->gamma * dae_wrms(s->nv, da, s->weight + s->np);
    r = dae_mechanics_kinematics(&s->x, s->t1, s->y1, da, s->z);
    *change = fmax(dv, h * h * s->beta * dae_wrms(s->np, s->z, s->weight));
    if (r || !s->nu) return r;
    r = dynamics(s, u, s->d);
    if (r) return r;
    for (int i = 0; i < s->nu; i++) s->z[i] = u0[i] - u[i] + h / 2 * (d0[i] + s->d[i]);
    dae_dense_solve(&s->external, s->z, NULL);
    if (!dae_all_finite(s->nu, s->z)) return 1;
    if (dae_largest(s->nu, s->z) > 100 * DBL_EPSILON * dae_largest(s->nu, u)) *rounding = 0;
    dae_axpy(s->nu, 1, s->z, u);
    *change = fmax(*change, dae_wrms(s->nu, s->z, s->weight + s->np + s->nv));
    return 0;
}

/* First iterate: a continues with the jerk, the rest as it was. */
static void predict(alpha *s, double h)
{
    int u = s->np + s->nv;
    for (int i = 0; i < s->nv; i++) s->a1[i] = s->a0[i] + h * s->j[i];
    dae_copy(s->nl, s->l0, s->l1);
    for (int i = u; i < s->ny; i++) s->y1[i] = s->y0[i] + h * s->k0[i];
}

/* 0: converged; > 0: not; < 0: stop. */
static int newton(alpha *s, double h)
{
    double last = 0, change = 0, rate = 0;
    int rounding = 0;
    for (int k = 0; k < ITERATIONS; k++) {
        int r = iterate(s, h, &change, &rounding);
        if (r) return r;
        if (k > 0 && last > 0) rate = change / last;
        double left = k > 0 ? change * rate / (1 - fmin(rate, SLOW)) : change;
        if (rounding || left <= CONVERGED) {
            if (rate > RENEW) s->s->age = OLDEST;
            return end_from_a(s, h);
        }
        if (rate > SLOW) return 1;
        last = change;
    }
    return 1;
}

/* With the matrix of earlier steps where it is near enough, then with a new one. */
static int solve_step(alpha *s, double h)
{
    alpha_state *st = s->s;
    /* the factors of a matrix with K and C are part of a checkpoint, those of the other are not */
    int old = (s->full || st->stiff) && st->h_matrix != 0 && st->age < OLDEST &&
              fabs(h / st->h_matrix - 1) <= H_CHANGE;
    predict(s, h);
    if (old) {
        int r = newton(s, h);
        if (r <= 0) return r;
        predict(s, h);
    }
    int r = end_from_a(s, h);
    if (!r) r = make_matrix(s, h);
    return r ? r : newton(s, h);
}

/* ---- Error estimate and projection ---------------------------------------------------------------- */

/* Where atol is 0 a component that is small against the largest position or velocity counts as SMALL of that: nobody wants the
 * relative accuracy of a coordinate that passes zero. */
static void set_weights(alpha *s, const double *y)
{
    const double SMALL = 1e-3;
    const dae_ivp *ivp = s->ivp;
    double size = dae_largest(s->np + s->nv, y);
    for (int i = 0; i < s->ny; i++) {
        double own = fmax(fabs(s->y0[i]), fabs(y[i]));
        if (ivp->atol[i] == 0) own = fmax(own, SMALL * size);
        s->weight[i] = fmax(ivp->atol[i] + ivp->rtol[i] * own, DBL_MIN);
    }
}

/* h^2 kappa (a1 - a0) for the positions, -h^3/12 u''' of the trapezoidal rule for u. */
static int error_estimate(alpha *s, double h, double *error)
{
    int u = s->np + s->nv;
    double *e = s->rhs;
    for (int i = 0; i < s->nv; i++) e[i] = h * h * s->kappa * (s->a1[i] - s->a0[i]);
    int r = dae_mechanics_kinematics(&s->x, s->t1, s->y1, e, s->z);
    if (!r) r = dynamics(s, s->y1 + u, s->k1 + u);
    if (r) return r;
    for (int i = 0; i < s->nu; i++) {
        double slope = (s->k1[u + i] - s->k0[u + i]) / h;
        double third = s->s->external_old ? 2 * (slope - s->slope_old[i]) / (h + s->s->h_taken) : 0;
        s->z[s->np + i] = h * h * h / 12 * third;
    }
    set_weights(s, s->y1);
    double p = dae_wrms(s->np, s->z, s->weight), x = dae_wrms(s->nu, s->z + s->np, s->weight + u);
    *error = fmax(p, x);
    return isfinite(*error) ? 0 : 1;
}

static int on_constraints(alpha *s, double t, double *y, const double *w)
{
    dae_projection out = {0};
    int r = dae_mechanics_project_position(&s->x, s->position, 0, t, y, s->weight, &out);
    return r ? r : dae_mechanics_project_velocity(&s->x, s->saddle, 0, t, y, y + s->np, w, &out);
}

/* ---- Start ---------------------------------------------------------------------------------------- */

static int accelerations(alpha *s, double t, const double *y, double *w, double *lambda)
{
    const double *v = y + s->np;
    return dae_mechanics_accelerations(&s->x, s->saddle, t, s->s->t_first, s->ivp->t_stop, y, v, v + s->nv, w,
                                       lambda);
}

/* The jerk at the start, from the accelerations a short time later along the motion. */
static void first_jerk(alpha *s, double t, double room)
{
    const double *v = s->y1 + s->np, *w = s->k1 + s->np;
    double rate = 1 / fmin(fmax(1, fabs(t)), room), *y = s->point;
    for (int i = 0; i < s->np; i++) rate = fmax(rate, fabs(s->k1[i]) / fmax(1, fabs(s->y1[i])));
    for (int i = 0; i < s->nv; i++) rate = fmax(rate, sqrt(fabs(w[i]) / fmax(1, fabs(v[i]))));
    double e = s->ivp->direction * cbrt(DBL_EPSILON) / rate;
    for (int i = 0; i < s->nv; i++) s->psi[i] = e * (v[i] + e / 2 * w[i]);
    dae_zero(s->nv, s->j);
    dae_copy(s->nl, s->l1, s->l0);
    if (move(s, t, t + e, s->y1, s->psi, y)) return;
    for (int i = 0; i < s->nv; i++) y[s->np + i] = v[i] + e * w[i];
    for (int i = s->np + s->nv; i < s->ny; i++) y[i] = s->y1[i] + e * s->k1[i];
    if (accelerations(s, t + e, y, s->a0, s->l0)) return;
    for (int i = 0; i < s->nv; i++) s->j[i] = (s->a0[i] - w[i]) / e;
}

/* From the error kappa h^3 j of a step, and not so far that the acceleration alone moves a position by more than
 * FIRST_MOVE of its tolerance (where a fast transient begins). */
static double first_step(alpha *s, double t, double room)
{
    const double FIRST_MOVE = 10;
    double h = 0.01 * room, jerk = 0, w = 0;
    if (!dae_mechanics_kinematics(&s->x, t, s->y1, s->j, s->z)) jerk = dae_wrms(s->np, s->z, s->weight);
    if (!dae_mechanics_kinematics(&s->x, t, s->y1, s->k1 + s->np, s->z)) w = dae_wrms(s->np, s->z, s->weight);
    if (jerk > 0) h = fmin(h, cbrt(0.1 / (fabs(s->kappa) * jerk)));
    if (w > 0) h = fmin(h, sqrt(2 * FIRST_MOVE / w));
    return fmin(fmax(h, 20 * DBL_EPSILON * fabs(t)), room);
}

static dae_status consistent_start(alpha *s, double t)
{
    dae_projection out = {0};
    int r = dae_mechanics_project_position(&s->x, s->position, 0, t, s->y1, s->weight, &out);
    if (!r) r = dae_mechanics_project_velocity(&s->x, s->saddle, 0, t, s->y1, s->y1 + s->np, NULL, &out);
    if (r) return dae_mechanics_bad_start(&s->x, s->saddle, r, t, &out);
    dae_zero(s->nl, s->l1);
    r = dae_mechanics_kinematics(&s->x, t, s->y1, s->y1 + s->np, s->k1);
    if (!r) r = accelerations(s, t, s->y1, s->k1 + s->np, s->l1);
    s->t1 = t;
    if (!r) r = dynamics(s, s->y1 + s->np + s->nv, s->k1 + s->np + s->nv);
    if (!r) return DAE_OK;
    return dae_ivp_fail(s->ivp, r < 0 ? DAE_ERR_CALLBACK : DAE_ERR_UNDEFINED,
                        "t = %g: the accelerations cannot be computed at the initial values", t);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    alpha *s = self;
    alpha_state *st = s->s;
    dae_ivp *ivp = s->ivp;
    (void)yp;
    double room = fabs(dae_ivp_piece_end(ivp) - t);
    *st = (alpha_state){.t = t, .t_first = t, .stiff = st->stiff};
    dae_copy(s->ny, y, s->y0);
    dae_copy(s->ny, y, s->y1);
    set_weights(s, y);
    dae_status status = consistent_start(s, t);
    if (status) return status;
    first_jerk(s, t, room);
    dae_copy(s->nv, s->k1 + s->np, s->a);
    dae_mechanics_residuals(&s->x, t, s->y1, s->y1 + s->np);
    st->h = h > 0 ? fmin(h, room) : first_step(s, t, room);
    if (ivp->opt->h_max > 0) st->h = fmin(st->h, ivp->opt->h_max);
    if (ivp->opt->fixed_step > 0) st->h = ivp->opt->fixed_step;
    dae_mechanics_count(&s->x);
    ivp->y = s->y1;
    ivp->h_next = ivp->direction * st->h;
    ivp->order = 2;
    return DAE_OK;
}

/* ---- The step ------------------------------------------------------------------------------------- */

/* One attempt from y0 to s->t1. Returns 0: accepted; > 0: rejected; < 0: stop. */
static int attempt(alpha *s, double h, double *error, double *factor)
{
    int fixed = s->ivp->opt->fixed_step > 0;
    *error = 0;
    *factor = FAILED;
    for (int i = 0; i < s->nv; i++) s->a0[i] = s->a[i] + s->shift * (h - s->s->h_taken) * s->j[i];
    int r = solve_step(s, h);
    if (r > 0) s->ivp->stats->newton_failures++;
    if (r > 0 && s->color && !s->s->stiff) { /* again, with K and C */
        s->s->stiff = 1;
        s->s->h_matrix = 0;
        *factor = 1;
    }
    if (!r) r = error_estimate(s, h, error);
    if (r) return r;
    *factor = fmin(fmax(s->opt.safety * pow(fmax(*error, 1e-10), -1.0 / 3), SHRINK), GROW);
    if (*error > 1 && !fixed) return 1;
    if (*factor >= 1 && *factor < KEEP) *factor = 1;
    double keep = *factor;
    *factor = FAILED;
    r = on_constraints(s, s->t1, s->y1, s->weight + s->np);
    if (!r) r = dae_mechanics_kinematics(&s->x, s->t1, s->y1, s->y1 + s->np, s->k1);
    if (!r) *factor = keep;
    return r;
}

/* What the next step needs of this one. */
static void remember(alpha *s, double h)
{
    alpha_state *st = s->s;
    int u = s->np + s->nv;
    const double *v0 = s->y0 + s->np, *v1 = s->y1 + s->np;
    for (int i = 0; i < s->nv; i++) {
        double rate = (v1[i] - v0[i]) / h;
        s->bend[i] = st->h_taken != 0 ? h * h * (rate - s->rate[i]) / (h + st->h_taken) : 0;
        s->rate[i] = rate;
    }
    for (int i = 0; i < s->nu; i++) s->slope_old[i] = (s->k1[u + i] - s->k0[u + i]) / h;
    st->external_old = 1;
    if (fabs(h) >= SHORT * fabs(st->h_taken)) {
        for (int i = 0; i < s->nv; i++) s->j[i] = (s->a1[i] - s->a0[i]) / h;
    }
    dae_copy(s->nv, s->a1, s->a);
    st->h_taken = h;
    st->age++;
}

/* The size of the next attempt, and *end: where it ends. No short step is left before the end. */
static double choose_step(alpha *s, double *end)
{
    alpha_state *st = s->s;
    dae_ivp *ivp = s->ivp;
    double stop = dae_ivp_piece_end(ivp), room = fabs(stop - st->t), h = st->h;
    int last = STRETCH * h >= room;
    if (last) h = room;
    else if (ivp->opt->fixed_step <= 0 && 2 * h > room) h = room / 2;
    *end = last ? stop : st->t + ivp->direction * h;
    return h;
}

static dae_status give_up(alpha *s, double h)
{
    const dae_stats *n = s->ivp->stats;
    return dae_ivp_fail(s->ivp, DAE_ERR_STEP_TOO_SMALL,
                        "t = %.10g: the step fell to %.3g after %ld rejections, %ld of them because Newton's "
                        "method failed; a singular position, or a force that jumps?",
                        s->s->t, h, n->rejected, n->newton_failures);
}

static dae_status step(void *self)
{
    alpha *s = self;
    alpha_state *st = s->s;
    dae_ivp *ivp = s->ivp;
    double smallest = 10 * DBL_EPSILON * fmax(fabs(st->t), st->h), error, factor;
    dae_copy(s->ny, s->y1, s->y0);
    dae_copy(s->ny, s->k1, s->k0);
    dae_copy(s->nl, s->l1, s->l0);
    dae_mechanics_renew_anchors(&s->x, s->saddle, s->position, st->t, s->y0);
    for (;;) {
        double wanted = st->h, h = choose_step(s, &s->t1);
        int at_once = s->t1 == dae_ivp_piece_end(ivp) && !st->rejected &&
                      h > 0; /* what is left may be as short as it is */
        if (!at_once && (!(h > smallest) || h < ivp->opt->h_min)) return give_up(s, h);
        ivp->stats->steps++;
        int r = attempt(s, ivp->direction * h, &error, &factor);
        dae_mechanics_count(&s->x);
        dae_log(ivp->opt, DAE_LOG_STEP, "t=%.10g h=%.6g error=%.3g outcome=%s", st->t, h, error,
                r ? "rejected" : "accepted");
        if (r) dae_copy(s->ny, s->y0, s->y1);
        if (r < 0) return dae_says_stopped(ivp, st->t, "a user function");
        st->h = r || st->rejected ? fmin(factor, 1) * h : factor * h;
        if (!r && h < wanted) st->h = fmax(st->h, wanted); /* it was cut short by the end only */
        st->rejected = r > 0;
        if (!r) {
            remember(s, ivp->direction * h);
            break;
        }
        ivp->stats->rejected++;
    }
    if (ivp->opt->fixed_step > 0) st->h = ivp->opt->fixed_step;
    else if (ivp->opt->h_max > 0) st->h = fmin(st->h, ivp->opt->h_max);
    ivp->stats->accepted++;
    ivp->t_old = st->t;
    ivp->t = st->t = s->t1;
    dae_mechanics_residuals(&s->x, st->t, s->y1, s->y1 + s->np);
    ivp->y = s->y1;
    ivp->h_next = ivp->direction * st->h;
    ivp->order = 2;
    return DAE_OK;
}

/* ---- Dense output, accelerations and multipliers -------------------------------------------------- */

/* The cubic through both ends with their slopes k0, k1. Accelerations follow what decays fast at once: an error e of a velocity that decays with the
 * rate L is L e in its slope, and would be h L e/8 between the ends. So no velocity bends there more than twice as much as the parabola through
 * its last three values; in a first step they are straight lines. */
static void interpolate(void *self, double t, double *y, double *yp)
{
    alpha *s = self;
    double h = s->s->h_taken, x = h != 0 ? (t - s->ivp->t_old) / h : 1, z = 1 - x;
    if (t == s->ivp->t || h == 0) {
        dae_copy(s->ny, s->y1, y);
        if (yp) dae_copy(s->ny, s->k1, yp);
        return;
    }
    for (int i = 0; i < s->ny; i++) {
        int velocity = i >= s->np && i < s->np + s->nv;
        double most = velocity ? MOST_BENT * fabs(s->bend[i - s->np]) : INFINITY;
        double d = s->y1[i] - s->y0[i], b0 = h * s->k0[i] - d, b1 = h * s->k1[i] - d;
        b0 = fmax(fmin(b0, most), -most);
        b1 = fmax(fmin(b1, most), -most);
        y[i] = s->y0[i] + x * d + x * z * (z * b0 - x * b1);
        if (yp) yp[i] = (d + z * (1 - 3 * x) * b0 + x * (3 * x - 2) * b1) / h;
    }
}

static int project(void *self, double t, double *y)
{
    alpha *s = self;
    dae_mechanics_counters before = s->x.n;
    int r = on_constraints(s, t, y, NULL);
    s->x.n = before; /* not part of the integration */
    return r;
}

static int multipliers(void *self, double t, double *acceleration, double *lambda)
{
    alpha *s = self;
    dae_mechanics_counters before = s->x.n;
    int r = 0;
    interpolate(s, t, s->point, NULL);
    if (t != s->ivp->t) r = on_constraints(s, t, s->point, NULL);
    dae_copy(s->nl, s->l1, s->gI);
    if (!r) r = accelerations(s, t, s->point, s->rhs, s->gI);
    s->x.n = before;
    if (acceleration) dae_copy(s->nv, s->rhs, acceleration);
    if (lambda) dae_copy(s->nl, s->gI, lambda);
    return r;
}

/* The solvers rebuild from the arena what they keep outside of it. */
static int load(void *self, const void *buffer, size_t size)
{
    alpha *s = self;
    (void)buffer;
    int bad = size != 0 ? 1 : dae_saddle_load(s->saddle, NULL, 0);
    if (s->position != s->saddle) bad |= dae_saddle_load(s->position, NULL, 0);
    if (s->iteration) bad |= dae_saddle_load(s->iteration, NULL, 0);
    if (s->color && s->s->stiff) bad |= dae_sparse_restore(&s->sparse) != 0;
    return bad;
}

/* ---- Descriptors ----------------------------------------------------------------------------------- */

#define COMMON                                                                                               \
    {"safety",                                                                                               \
     DAE_OPTION_REAL,                                                                                        \
     offsetof(alpha_options, safety),                                                                        \
     0.85,                                                                                                   \
     NULL,                                                                                                   \
     0.1,                                                                                                    \
     1,                                                                                                      \
     NULL,                                                                                                   \
     "",                                                                                                     \
     "factor on every new step size"},                                                                       \
        {"matrix",                                                                                           \
         DAE_OPTION_NAME,                                                                                    \
         offsetof(alpha_options, matrix),                                                                    \
         0,                                                                                                  \
         "auto",                                                                                             \
         1,                                                                                                  \
         0,                                                                                                  \
         "auto|full|mass",                                                                                   \
         "",                                                                                                 \
         "of Newton's method: full (with stiffness and damping, dense) or mass (M and G only, sparse; not "  \
         "for stiff forces); auto: full up to 400 unknowns, else mass until that fails, then full, sparse"}, \
    {                                                                                                        \
        "linear_algebra", DAE_OPTION_NAME, offsetof(alpha_options, linear_algebra), 0, "auto", 1, 0,         \
            DAE_SADDLE_MODES, "", "solver of the saddle-point systems of projections and accelerations"      \
    }

static const dae_option genalpha_options[] = {
    {"rho", DAE_OPTION_REAL, offsetof(alpha_options, parameter), 0.8, NULL, 0, 0.99, NULL, "",
     "spectral radius for infinitely fast vibrations: 0 damps them out in one step, near 1 hardly"},
    COMMON,
    {0}};

static const dae_option hht_options[] = {{"alpha", DAE_OPTION_REAL, offsetof(alpha_options, parameter), -0.1,
                                          NULL, -1.0 / 3, 0, NULL, "",
                                          "damping of fast vibrations, from -1/3 (most) to 0 (none)"},
                                         COMMON,
                                         {0}};

#define FUNCTIONS                                                                                   \
    .option_size = sizeof(alpha_options), .reset = reset, .step = step, .interpolate = interpolate, \
    .multipliers = multipliers, .project = project, .destroy = destroy, .load = load

const dae_method dae_method_genalpha = {
    .info = {.name = "genalpha",
             .title = "generalized-alpha method for constrained mechanical systems",
             .literature =
                 "Chung, Hulbert, J. Appl. Mech. 60 (1993) 371-375; Arnold, Bruels, Multibody Syst. "
                 "Dyn. 18 (2007) 185-202",
             .summary = "order 2 in positions, velocities and multipliers, adjustable damping of fast "
                        "vibrations, error estimate of the positions",
             .order_min = 2,
             .order_max = 2,
             .kinds = 1u << DAE_KIND_MECH,
             .max_index = 3,
             .implicit = 1,
             .checkpoint = 1,
             .options = genalpha_options},
    .create = create_genalpha,
    FUNCTIONS,
};

const dae_method dae_method_hht = {
    .info = {.name = "hht",
             .title = "method of Hilber, Hughes and Taylor for constrained mechanical systems (HHT-I3)",
             .literature = "Hilber, Hughes, Taylor, Earthquake Eng. Struct. Dyn. 5 (1977) 283-292; Negrut, "
                           "Rampalli, Ottarsson, Sajdak, J. Comput. Nonlinear Dyn. 2 (2007) 73-85",
             .summary = "order 2 in positions, velocities and multipliers, numerical damping alpha, error "
                        "estimate of the positions",
             .order_min = 2,
             .order_max = 2,
             .kinds = 1u << DAE_KIND_MECH,
             .max_index = 3,
             .implicit = 1,
             .checkpoint = 1,
             .options = hht_options},
    .create = create_hht,
    FUNCTIONS,
};
