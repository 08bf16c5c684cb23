#include "method/mechanics.h"

#include "method/choose.h"

#include "core/arena.h"
#include "core/matrix.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define ITERATIONS 10  /* [MEXX] position projection: at most, */
#define CONVERGED 1e-2 /* until the weighted increment is below this, */
#define DIVERGED 2.0   /* and it fails if an increment grows by this factor */

/* ---- Shape --------------------------------------------------------------------------------------- */

/* C has the first ng rows of G: the same pattern, or a part of it; dense where it is given apart. */
static void shape_position(dae_mechanics *x, dae_arena *a)
{
    x->cspec = x->parts.spec;
    x->cspec.nl = x->ng;
    x->nC = x->m->position_jacobian ? x->ng * x->nv : x->parts.nG;
    if (x->ng == x->nl || x->m->position_jacobian) return;
    x->C_at = dae_arena_ints(a, (size_t)x->parts.nG);
    int *colptr = dae_arena_ints(a, (size_t)x->nv + 1), *rowind = dae_arena_ints(a, (size_t)x->parts.nG);
    if (!x->C_at || !colptr || !rowind) return;
    x->nC = 0;
    for (int j = 0; j < x->nv; j++) {
        int begin = x->parts.spec.colptr ? x->parts.spec.colptr[j] : j * x->nl;
        int end = x->parts.spec.colptr ? x->parts.spec.colptr[j + 1] : (j + 1) * x->nl;
        for (int k = begin; k < end; k++) {
            int row = x->parts.spec.colptr ? x->parts.spec.rowind[k] : k - begin;
            if (row >= x->ng) continue;
            rowind[x->nC] = row;
            x->C_at[x->nC++] = k;
        }
        colptr[j + 1] = x->nC;
    }
    if (x->parts.spec.colptr) {
        x->cspec.colptr = colptr;
        x->cspec.rowind = rowind;
    }
}

dae_status dae_mechanics_init(dae_mechanics *x, dae_ivp *ivp, dae_error *err)
{
    const dae_mech *m = &ivp->sys->mech;
    dae_arena *a = ivp->arena;
    *x = (dae_mechanics){
        .ivp = ivp, .m = m, .np = m->np, .nv = m->nv, .nu = m->nu, .nl = m->nlambda, .ng = m->ng};
    dae_parts_init(&x->parts, m, a);
    if (m->mass_blocks) x->parts.spec.mass = NULL;
    shape_position(x, a);
    x->M = dae_arena_reals(a, (size_t)x->parts.nM);
    x->G = dae_arena_reals(a, (size_t)x->parts.nG);
    x->C = x->C_at || m->position_jacobian ? dae_arena_reals(a, (size_t)x->nC) : x->G;
    x->gI = dae_arena_reals(a, (size_t)x->nl);
    x->g = dae_arena_reals(a, (size_t)x->ng);
    x->vec = dae_arena_reals(a, (size_t)(2 * x->np + 3 * x->nv + 2 * x->nl));
    if (m->dfdlambda) x->friction = dae_arena_reals(a, 2 * (size_t)x->nv * (size_t)x->nl);
    if (!dae_arena_failed(a)) return DAE_OK;
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a mechanical system with %d velocities", x->nv);
}

void dae_mechanics_count(dae_mechanics *x)
{
    dae_stats *st = x->ivp->stats;
    st->nfcn += x->n.nfcn;
    st->nsol += x->n.nsol;
    st->f += x->n.f;
    st->lu += x->n.lu;
    st->solves += x->n.solves;
    st->undefined += x->n.undefined;
    x->ivp->user_ticks += x->user_ticks;
    x->ivp->linalg_ticks += x->linalg_ticks;
    x->ivp->user_timed += x->user_timed;
    x->ivp->linalg_timed += x->linalg_timed;
    x->n = (dae_mechanics_counters){0};
    x->user_ticks = x->linalg_ticks = 0;
    x->user_timed = x->linalg_timed = 0;
}

dae_saddle *dae_mechanics_saddle(dae_mechanics *x, const char *mode, int rows, int unsymmetric,
                                 dae_error *err)
{
    dae_saddle_spec spec = rows == x->nl ? x->parts.spec : x->cspec;
    const char *general = x->ivp->opt->linear_algebra;
    spec.mode = mode && mode[0] ? mode : "auto";
    spec.unsymmetric = unsymmetric;
    if (!strcmp(spec.mode, "auto") && general) {
        if (!strcmp(general, "dense")) spec.mode = "dense_lu";
        if (!strcmp(general, "sparse")) spec.mode = "sparse_lu";
    }
    return dae_saddle_create(&spec, x->ivp->arena, err);
}

/* ---- Evaluations --------------------------------------------------------------------------------- */

#define TIMED(x, r, call)                            \
    do {                                             \
        if ((x)->ivp->opt->profile) {                \
            unsigned long long begin_ = dae_ticks(); \
            r = call;                                \
            (x)->user_ticks += dae_ticks() - begin_; \
            (x)->user_timed++;                       \
        } else {                                     \
            r = call;                                \
        }                                            \
    } while (0)

static int judge(dae_mechanics *x, int r, int n, const double *out)
{
    if (r < 0) return r;
    if (r == 0 && dae_all_finite(n, out)) return 0;
    x->n.undefined++;
    return 1;
}

int dae_mechanics_mass(dae_mechanics *x, double t, const double *p, double *buffer, const double **M)
{
    int r;
    *M = x->parts.constant ? x->parts.constant : buffer;
    if (x->parts.constant) return 0;
    TIMED(x, r, dae_parts_mass(&x->parts, dae_ivp_one_sided(x->ivp, t), p, buffer));
    if (r > 0) x->n.undefined++;
    return r; /* a value that is not finite shows in the factors */
}

int dae_mechanics_jacobian(dae_mechanics *x, double t, const double *p, double *g, double *G)
{
    int r;
    if (!x->nl) return 0;
    TIMED(x, r, dae_parts_constraint(&x->parts, dae_ivp_one_sided(x->ivp, t), p, g, G));
    return judge(x, r, g ? x->ng : 0, g);
}

int dae_mechanics_position_jacobian(dae_mechanics *x, double t, const double *p)
{
    int r;
    for (int k = 0; x->C_at && k < x->nC; k++) x->C[k] = x->G[x->C_at[k]];
    if (!x->m->position_jacobian) return 0;
    TIMED(x, r, dae_parts_position_jacobian(&x->parts, dae_ivp_one_sided(x->ivp, t), p, x->C));
    return judge(x, r, x->nC, x->C);
}

int dae_mechanics_drift(dae_mechanics *x, double t, const double *p, double *gI)
{
    int r;
    TIMED(x, r, dae_parts_drift(&x->parts, dae_ivp_one_sided(x->ivp, t), p, gI));
    return judge(x, r, x->m->velocity ? x->nl : 0, gI);
}

int dae_mechanics_kinematics(dae_mechanics *x, double t, const double *p, const double *v, double *pdot)
{
    int r;
    TIMED(x, r, dae_parts_kinematics(&x->parts, dae_ivp_one_sided(x->ivp, t), p, v, pdot));
    return judge(x, r, x->m->kinematics ? x->np : 0, pdot);
}

int dae_mechanics_force(dae_mechanics *x, double t, const double *p, const double *v, const double *u,
                        const double *lambda, double *f)
{
    int r;
    x->n.f++;
    TIMED(x, r, dae_parts_force(&x->parts, dae_ivp_one_sided(x->ivp, t), p, v, u, lambda, f));
    return judge(x, r, x->nv, f);
}

int dae_mechanics_dynamics(dae_mechanics *x, double t, const double *p, const double *v, const double *u,
                           const double *lambda, double *d)
{
    int r;
    if (!x->nu) return 0;
    TIMED(x, r, dae_parts_dynamics(&x->parts, dae_ivp_one_sided(x->ivp, t), p, v, u, lambda, d));
    return judge(x, r, x->nu, d);
}

int dae_mechanics_friction(dae_mechanics *x, double t, const double *p, const double *v, const double *u,
                           const double *lambda, double *F)
{
    int r;
    TIMED(x, r, dae_parts_friction(&x->parts, dae_ivp_one_sided(x->ivp, t), p, v, u, lambda, F));
    return judge(x, r, x->nv * x->nl, F);
}

#define TIMED_LINALG(x, call)                          \
    do {                                               \
        if ((x)->ivp->opt->profile) {                  \
            unsigned long long begin_ = dae_ticks();   \
            call;                                      \
            (x)->linalg_ticks += dae_ticks() - begin_; \
            (x)->linalg_timed++;                       \
        } else {                                       \
            call;                                      \
        }                                              \
    } while (0)

int dae_mechanics_factor(dae_mechanics *x, dae_saddle *s, const double *M, const double *G, const double *U)
{
    int bad;
    x->n.lu++;
    TIMED_LINALG(x, bad = dae_saddle_factor(s, M, G, U));
    x->starved |= bad < 0;
    return bad ? 1 : 0;
}

int dae_mechanics_solve(dae_mechanics *x, dae_saddle *s, double *w, double *l)
{
    x->n.solves++;
    TIMED_LINALG(x, dae_saddle_solve(s, w, l));
    return !dae_all_finite(x->nv, w);
}

int dae_mechanics_factor_solve(dae_mechanics *x, dae_saddle *s, const double *M, const double *G,
                               const double *U, double *w, double *l)
{
    int bad;
    x->n.lu++;
    TIMED_LINALG(x, bad = dae_saddle_factor_solve(s, M, G, U, w, l));
    x->starved |= bad < 0;
    if (bad) return 1;
    x->n.solves++;
    return !dae_all_finite(x->nv, w);
}

void dae_mechanics_renew_anchors(dae_mechanics *x, dae_saddle *s, dae_saddle *position, double t,
                                 const double *p)
{
    const double *M;
    if (!dae_saddle_stale(s) && !dae_saddle_stale(position)) return;
    if (dae_mechanics_mass(x, t, p, x->M, &M) || dae_mechanics_jacobian(x, t, p, NULL, x->G)) return;
    if (dae_saddle_stale(s)) dae_saddle_anchor(s, M, x->G, NULL);
    if (dae_mechanics_position_jacobian(x, t, p)) return;
    if (position != s && dae_saddle_stale(position)) dae_saddle_anchor(position, M, x->C, NULL);
}

/* ---- Projections --------------------------------------------------------------------------------- */

static void worst_residual(const dae_mechanics *x, dae_projection *out)
{
    out->largest = 0;
    out->residual = 0;
    for (int i = 0; i < x->ng; i++) {
        if (fabs(x->g[i]) > fabs(out->residual)) {
            out->residual = x->g[i];
            out->largest = i;
        }
    }
}

/* Corrections of this size change nothing, whatever the tolerance of a component is. */
static int only_rounding(int n, const double *dp, const double *p)
{
    double change = 0, size = 0;
    for (int i = 0; i < n; i++) {
        change = fmax(change, fabs(dp[i]));
        size = fmax(size, fabs(p[i]));
    }
    return change <= 4 * DBL_EPSILON * size;
}

int dae_mechanics_project_position(dae_mechanics *x, dae_saddle *s, int factored, double t, double *p,
                                   const double *w, dae_projection *out)
{
    const double *M = x->parts.constant ? x->parts.constant : x->M;
    double *nu = x->vec, *dv = nu + x->nv, *mu = dv + x->nv, *dp = mu + x->nl, *p0 = dp + x->np, last = 0;
    out->position = 0;
    out->iterations = 0;
    dae_parts_normalize(&x->parts, p);
    if (!x->ng) return 0;
    int r = dae_mechanics_jacobian(x, t, p, x->g, factored ? NULL : x->G);
    if (!r && !factored) r = dae_mechanics_mass(x, t, p, x->M, &M);
    if (r) return r;
    if (!factored) r = dae_mechanics_position_jacobian(x, t, p);
    if (r) return r;
    worst_residual(x, out);
    if (!factored && dae_mechanics_factor(x, s, M, x->C, NULL)) {
        out->residual = NAN;
        return 1;
    }
    dae_zero(x->nv, nu);
    dae_copy(x->np, p, p0);
    for (int k = 1; k <= ITERATIONS; k++) {
        dae_zero(x->nv, dv);
        dae_saddle_multiply_mass(x->nv, x->parts.spec.block, x->parts.spec.nblock, M, -1, nu, dv);
        for (int i = 0; i < x->ng; i++) mu[i] = -x->g[i];
        if (dae_mechanics_solve(x, s, dv, mu)) return 1;
        x->n.nsol++;
        out->iterations = k;
        r = dae_mechanics_kinematics(x, t, p0, dv, dp);
        if (r) return r;
        dae_axpy(x->nv, 1, dv, nu);
        dae_axpy(x->np, 1, dp, p);
        double change = dae_wrms(x->np, dp, w);
        int rounding = change >= CONVERGED && only_rounding(x->np, dp, p);
        if (change < CONVERGED || rounding) {
            dae_parts_normalize(&x->parts, p);
            for (int i = 0; i < x->np; i++) dp[i] = p[i] - p0[i];
            out->position = rounding && only_rounding(x->np, dp, p) ? 0 : dae_wrms(x->np, dp, w);
            return 0;
        }
        if (!isfinite(change) || (k > 1 && change >= DIVERGED * last)) return 1;
        last = change;
        r = dae_mechanics_jacobian(x, t, p, x->g, NULL);
        if (r) return r;
        worst_residual(x, out);
    }
    return 1;
}

/* *largest at least |x_i| for all i; NAN: not known so far. */
static void raise_to(double *largest, int n, const double *x)
{
    double m = isnan(*largest) ? 0 : *largest;
    for (int i = 0; i < n; i++) m = fabs(x[i]) > m ? fabs(x[i]) : m;
    *largest = m;
}

static void note_residuals(dae_mechanics *x, const double *r)
{
    dae_stats *st = x->ivp->stats;
    raise_to(&st->position_residual, x->ng, x->g);
    raise_to(&st->velocity_residual, x->nl, r);
}

/* v by simplified Newton steps with factors from nearby; M is those factors' and needs no evaluation. */
static int correct_velocity(dae_mechanics *x, dae_saddle *s, double t, const double *p, double *v,
                            const double *w, dae_projection *out)
{
    double *dv = x->vec, *mu = dv + x->nv, *r = mu + x->nl, *v0 = r + x->nl, last = 0;
    int bad = dae_mechanics_jacobian(x, t, p, x->g, x->G);
    if (!bad) bad = dae_mechanics_drift(x, t, p, x->gI);
    if (bad) return bad;
    x->n.nfcn++;
    dae_copy(x->nv, v, v0);
    for (int k = 1; k <= ITERATIONS; k++) {
        dae_copy(x->nl, x->gI, r);
        dae_saddle_multiply(&x->parts.spec, x->G, 1, v, r);
        if (k > 1 && last < CONVERGED) { /* r: what is left */
            note_residuals(x, r);
            for (int i = 0; i < x->nv; i++) dv[i] = v[i] - v0[i];
            out->velocity = dae_wrms(x->nv, dv, w);
            return 0;
        }
        dae_zero(x->nv, dv);
        for (int i = 0; i < x->nl; i++) mu[i] = -r[i];
        if (dae_mechanics_solve(x, s, dv, mu)) return 1;
        x->n.nsol++;
        dae_axpy(x->nv, 1, dv, v);
        double change = dae_wrms(x->nv, dv, w);
        if (!isfinite(change) || (k > 1 && change >= DIVERGED * last)) return 1;
        last = change;
    }
    return 1;
}

int dae_mechanics_project_velocity(dae_mechanics *x, dae_saddle *s, int factored, double t, const double *p,
                                   double *v, const double *w, dae_projection *out)
{
    if (factored) return correct_velocity(x, s, t, p, v, w, out);
    const double *M;
    double *rhs = x->vec, *mu = rhs + x->nv;
    int r = dae_mechanics_mass(x, t, p, x->M, &M);
    if (!r) r = dae_mechanics_jacobian(x, t, p, NULL, x->G);
    if (!r) r = dae_mechanics_drift(x, t, p, x->gI);
    if (r) return r;
    x->n.nfcn++;
    x->n.nsol++;
    if (dae_mechanics_factor(x, s, M, x->G, NULL)) {
        out->residual = NAN;
        return 1;
    }
    dae_zero(x->nv, rhs);
    dae_saddle_multiply_mass(x->nv, x->parts.spec.block, x->parts.spec.nblock, M, 1, v, rhs);
    for (int i = 0; i < x->nl; i++) mu[i] = -x->gI[i];
    if (dae_mechanics_solve(x, s, rhs, mu)) return 1;
    double *change = mu + x->nl;
    for (int i = 0; i < x->nv; i++) change[i] = rhs[i] - v[i];
    out->velocity = w ? dae_wrms(x->nv, change, w) : 0;
    dae_copy(x->nv, rhs, v);
    return 0;
}

dae_status dae_mechanics_bad_start(dae_mechanics *x, const dae_saddle *s, int r, double t,
                                   const dae_projection *out)
{
    if (r < 0)
        return dae_ivp_fail(x->ivp, DAE_ERR_CALLBACK,
                            "t = %g: a user function asked to stop at the initial values", t);
    if (x->starved)
        return dae_ivp_fail(x->ivp, DAE_ERR_MEMORY, "t = %g: no memory to factor [M G^T; G 0]", t);
    if (isnan(out->residual)) {
        return dae_ivp_fail(x->ivp, DAE_ERR_SINGULAR,
                            "t = %g: the matrix [M G^T; G 0] is singular at the initial values (%s); "
                            "redundant constraints, or a "
                            "mass matrix that is not definite, which range_space and pcg need",
                            t, dae_saddle_describe(s));
    }
    return dae_ivp_fail(
        x->ivp, DAE_ERR_INCONSISTENT,
        "t = %g: the initial positions and velocities cannot be projected onto the constraints (constraint "
        "%d "
        "has the residual %.3g); give values nearer to them, and check for redundant constraints",
        t, out->largest + 1, out->residual);
}

void dae_mechanics_residuals(dae_mechanics *x, double t, const double *p, const double *v)
{
    double *r = x->vec;
    if (!x->nl || dae_mechanics_jacobian(x, t, p, x->g, x->G) || dae_mechanics_drift(x, t, p, r)) return;
    dae_saddle_multiply(&x->parts.spec, x->G, 1, v, r);
    note_residuals(x, r);
}

/* ---- Consistent accelerations and multipliers ---------------------------------------------------- */

int dae_mechanics_gamma(dae_mechanics *x, double t, double t_first, double t_last, const double *p,
                        const double *v, double *gamma)
{
    int r;
    if (!x->nl) return 0;
    TIMED(x, r, dae_parts_gamma(&x->parts, dae_ivp_one_sided(x->ivp, t), t_first, t_last, p, v, gamma));
    return judge(x, r, x->nl, gamma);
}

int dae_mechanics_accelerations(dae_mechanics *x, dae_saddle *s, double t, double t_first, double t_last,
                                const double *p, const double *v, const double *u, double *a, double *lambda)
{
    enum { TRIES = 20 };
    const double *M;
    double *gamma = x->gI, *F = NULL, *U = NULL, *fa = x->vec, *fl = fa + x->nv;
    double *residual = &x->ivp->stats->acceleration_residual;
    int friction = x->m->dfdlambda != NULL;
    int r = dae_mechanics_gamma(x, t, t_first, t_last, p, v, gamma);
    if (!r) r = dae_mechanics_mass(x, t, p, x->M, &M);
    if (!r) r = dae_mechanics_jacobian(x, t, p, NULL, x->G);
    if (r) return r;
    x->n.nfcn++;
    x->n.nsol++;
    if (friction) {
        F = x->friction;
        U = F + x->nv * x->nl;
    }
    for (int k = 0; k < TRIES; k++) { /* M a + (G^T - F) lambda = f(lambda_old) - F lambda_old */
        r = dae_mechanics_force(x, t, p, v, u, lambda, fa);
        if (!r && friction) r = dae_mechanics_friction(x, t, p, v, u, lambda, F);
        if (r) return r;
        if (friction) {
            dae_parts_upper(&x->parts, x->G, F, U);
            for (int j = 0; j < x->nl; j++) dae_axpy(x->nv, -lambda[j], F + (size_t)j * (size_t)x->nv, fa);
        }
        for (int i = 0; i < x->nl; i++) fl[i] = -gamma[i];
        if (dae_mechanics_factor_solve(x, s, M, x->G, U, fa, fl)) return 1;
        double change = 0, size = 0;
        for (int i = 0; friction && i < x->nl; i++) {
            change = fmax(change, fabs(fl[i] - lambda[i]));
            size = fmax(size, fabs(fl[i]));
        }
        dae_copy(x->nv, fa, a);
        dae_copy(x->nl, fl, lambda);
        if (friction && change > 1e-13 * size) continue;
        dae_saddle_multiply(&x->parts.spec, x->G, 1, a, gamma); /* G a + gII */
        raise_to(residual, x->nl, gamma);
        return 0;
    }
    return 1;
}

int dae_mechanics_derivatives(dae_mechanics *x, dae_saddle *s, double t, double t_first, double t_last,
                              const double *y, double *yp, double *lambda)
{
    const double *v = y + x->np, *u = v + x->nv;
    int r = dae_mechanics_kinematics(x, t, y, v, yp);
    if (!r) r = dae_mechanics_accelerations(x, s, t, t_first, t_last, y, v, u, yp + x->np, lambda);
    return r ? r : dae_mechanics_dynamics(x, t, y, v, u, lambda, yp + x->np + x->nv);
}

/* ---- Stiffness ---------------------------------------------------------------------------------------- */

typedef struct motion {
    dae_mechanics x;
    dae_saddle *saddle;
    double *lambda;
} motion;

static int motion_f(double t, const double *y, double *f, void *user)
{
    motion *m = user;
    return dae_mechanics_derivatives(&m->x, m->saddle, t, t, m->x.ivp->t_stop, y, f, m->lambda);
}

double dae_mechanics_fastest_decay(const dae_ivp *ivp, double t, const double *y)
{
    dae_stats apart = {0};
    dae_ivp own = *ivp; /* counts elsewhere */
    motion m = {.saddle = NULL};
    double rate = 0;
    own.stats = &apart;
    own.arena = dae_arena_create();
    if (own.arena && dae_mechanics_init(&m.x, &own, NULL) == DAE_OK) {
        m.lambda = dae_arena_reals(own.arena, (size_t)m.x.nl);
        m.saddle = dae_mechanics_saddle(&m.x, "auto", m.x.nl, m.x.m->dfdlambda != NULL, NULL);
    }
    if (m.saddle && !dae_arena_failed(own.arena)) {
        dae_ode ode = {.n = own.n, .f = motion_f, .user = &m};
        dae_mechanics_renew_anchors(&m.x, m.saddle, m.saddle, t, y);
        rate = fmax(dae_fastest_decay(&ode, t, y), 0);
    }
    dae_saddle_destroy(m.saddle);
    dae_arena_destroy(own.arena);
    return rate;
}
