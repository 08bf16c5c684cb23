/* rattle: a symplectic method of order 2 with constant steps, for mechanisms whose energy is to stay bounded over
 * very long times.
 *
 *     v'  = v_0 + h/2 M^-1 (f(p_0) - G(p_0)^T mu)        p_1 = p_0 + h v',    g(p_1) = 0
 *     v_1 = v'  + h/2 M^-1 (f(p_1) - G(p_1)^T nu)        G(p_1) v_1 + gI(p_1) = 0
 *
 * mu by simplified Newton steps with the factors of [M G^T; G 0] at p_0, down to rounding; nu by one solution with those
 * at p_1, which serve for mu of the next step: one factorization and one force per step.
 *
 * It is symplectic where M is constant and f comes from a potential; what it does not take is refused by name. Multipliers
 * and accelerations are told as the solution of M a = f - G^T lambda, G a + gII = 0 (nu alone has order 1).
 *
 * Sources: [And83] for the method, [HLW06] section VII.1 for its properties. */
#include "method/mechanics.h"

#include "core/vector.h"
#include "method/failure.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define ITERATIONS 50 /* for mu, at most */
#define STRETCH 1.01  /* a step that would end this near to the end goes to the end */
#define CHECKED 100   /* forces are tested for velocities in every so many steps */

/* Plain numbers that a checkpoint carries. */
typedef struct rattle_state {
    double t, h;    /* h > 0: the step */
    double t_first; /* where the method was started */
    double h_taken; /* signed size of the last step, 0: none */
    long taken;     /* steps */
    int slopes;     /* 1: w0 and w1 belong to the last step */
} rattle_state;

typedef struct rattle {
    dae_ivp *ivp;
    int n, nl; /* n = np = nv */
    dae_mechanics x;
    dae_saddle *saddle;
    int factored; /* 1: the saddle has the factors at the end of the last step */
    double t1;

    rattle_state *s;
    double *y0, *y1; /* 2n: the ends of the step */
    double *f;       /* n: force at the end of the last step */
    double *w0, *w1; /* n: accelerations at both ends, made for dense output */
    double *G;       /* at y1 */
    double *rhs;     /* n + nl */
    double *lambda;  /* nl */
    double *point;   /* 2n */
    double *weight;  /* 2n */
} rattle;

/* ---- Life ----------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    rattle *s = self;
    if (!s) return;
    dae_saddle_destroy(s->saddle);
    free(s);
}

/* What the method does not take, in words; NULL: it takes the system. */
static const char *refusal(const dae_mech *m)
{
    if (m->nu) return "the system has dynamics u of its own";
    if (m->ng < m->nlambda) return "some constraints are nonholonomic (on velocities only)";
    if (m->dfdlambda) return "the forces depend on the multipliers (dry friction)";
    if (m->kinematics) return "p' = T(p) v with T other than I (rotations of bodies in space)";
    if (m->position_jacobian) return "G is not dg/dp (position_jacobian is given apart)";
    if (m->mass_fn || (m->mass_blocks && m->mass.n == 0)) return "the mass matrix is not constant";
    return NULL;
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    const dae_mech *m = &ivp->sys->mech;
    const char *why = refusal(m);
    (void)option;
    if (why) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "rattle does not take this: %s; genalpha and hht do", why);
        return NULL;
    }
    rattle *s = calloc(1, sizeof *s);
    if (!s) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "rattle: out of memory");
        return NULL;
    }
    s->ivp = ivp;
    s->n = m->nv;
    s->nl = m->nlambda;
    size_t n = (size_t)s->n, nl = (size_t)s->nl;
    if (dae_mechanics_init(&s->x, ivp, err)) goto fail;
    double **state[] = {&s->y0, &s->y1, &s->point, &s->weight}, **half[] = {&s->f, &s->w0, &s->w1};
    for (size_t i = 0; i < sizeof state / sizeof *state; i++) *state[i] = dae_arena_reals(ivp->arena, 2 * n);
    for (size_t i = 0; i < sizeof half / sizeof *half; i++) *half[i] = dae_arena_reals(ivp->arena, n);
    s->s = dae_arena_take(ivp->arena, 1, sizeof *s->s);
    s->G = dae_arena_reals(ivp->arena, (size_t)s->x.parts.nG);
    s->rhs = dae_arena_reals(ivp->arena, n + nl);
    s->lambda = dae_arena_reals(ivp->arena, nl);
    s->saddle = dae_mechanics_saddle(&s->x, "auto", s->nl, 0, err);
    if (!s->saddle) goto fail; /* finds missing memory too */
    dae_ivp_solves_with(ivp, dae_saddle_describe(s->saddle));
    return s;
fail:
    destroy(s);
    return NULL;
}

/* ---- Forces that depend on velocities ------------------------------------------------------------- */

/* Compares the forces at (t, y) with those at other velocities, which must be the same to the last bit. */
static dae_status check_velocities(rattle *s, double t, const double *y, const double *f)
{
    const double *v = y + s->n;
    double *other = s->point, *g = s->rhs, size = fmax(dae_largest(s->n, v), 1);
    dae_mechanics_counters before = s->x.n;
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < s->n; i++) other[i] = k ? -v[i] + size * (0.3 + 0.1 * (i % 7)) : v[i] + size;
        if (dae_mechanics_force(&s->x, t, y, other, NULL, s->lambda, g)) continue;
        for (int i = 0; i < s->n; i++) {
            if (g[i] == f[i]) continue;
            s->x.n = before;
            return dae_ivp_fail(
                s->ivp, DAE_ERR_UNSUPPORTED,
                "t = %g: rattle does not take this: force %d depends on velocities (damper, friction, "
                "gyroscopic term); genalpha and hht do",
                t, i + 1);
        }
    }
    s->x.n = before;
    return DAE_OK;
}

/* ---- Start ---------------------------------------------------------------------------------------- */

static int accelerations(rattle *s, double t, const double *y, double *w)
{
    s->factored = 0;
    return dae_mechanics_accelerations(&s->x, s->saddle, t, s->s->t_first, s->ivp->t_stop, y, y + s->n, NULL,
                                       w, s->lambda);
}

static void set_weights(rattle *s, const double *y)
{
    const dae_ivp *ivp = s->ivp;
    for (int i = 0; i < 2 * s->n; i++) s->weight[i] = fmax(ivp->atol[i] + ivp->rtol[i] * fabs(y[i]), DBL_MIN);
}

/* Where no step is given: sqrt(tol) of the time in which the motion or the acceleration covers the size of the
 * positions, so that the error is about tol, and a whole number of steps fits. */
static double own_step(rattle *s, double room)
{
    double p = dae_largest(s->n, s->y1), v = dae_largest(s->n, s->y1 + s->n);
    double w = dae_largest(s->n, s->w1), scale = room, tol = 1;
    if (p < 1e-8) p = 1; /* it starts at the origin: nothing tells a length */
    for (int i = 0; i < s->n; i++) tol = fmin(tol, s->ivp->rtol[i] + s->ivp->atol[i] / p);
    if (v > 0) scale = fmin(scale, p / v);
    if (w > 0) scale = fmin(scale, sqrt(p / w));
    double h = sqrt(fmax(tol, DBL_EPSILON)) * scale;
    return room / ceil(room / h);
}

static dae_status consistent_start(rattle *s, double t)
{
    dae_projection out = {0};
    int r = dae_mechanics_project_position(&s->x, s->saddle, 0, t, s->y1, s->weight, &out);
    if (!r) r = dae_mechanics_project_velocity(&s->x, s->saddle, 0, t, s->y1, s->y1 + s->n, NULL, &out);
    if (r) return dae_mechanics_bad_start(&s->x, s->saddle, r, t, &out);
    dae_zero(s->nl, s->lambda);
    r = dae_mechanics_force(&s->x, t, s->y1, s->y1 + s->n, NULL, s->lambda, s->f);
    if (!r) r = dae_mechanics_jacobian(&s->x, t, s->y1, NULL, s->G);
    if (!r) r = accelerations(s, t, s->y1, s->w1);
    if (!r) return check_velocities(s, t, s->y1, s->f);
    return dae_ivp_fail(s->ivp, r < 0 ? DAE_ERR_CALLBACK : DAE_ERR_UNDEFINED,
                        "t = %g: the accelerations cannot be computed at the initial values", t);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    rattle *s = self;
    dae_ivp *ivp = s->ivp;
    (void)yp;
    double room = fabs(dae_ivp_piece_end(ivp) - t);
    *s->s = (rattle_state){.t = t, .t_first = t};
    dae_copy(2 * s->n, y, s->y0);
    dae_copy(2 * s->n, y, s->y1);
    set_weights(s, y);
    dae_status status = consistent_start(s, t);
    if (status) return status;
    dae_mechanics_residuals(&s->x, t, s->y1, s->y1 + s->n);
    s->s->h = h > 0 ? fmin(h, room) : own_step(s, room);
    if (ivp->opt->h_max > 0) s->s->h = fmin(s->s->h, ivp->opt->h_max);
    if (ivp->opt->fixed_step > 0) s->s->h = ivp->opt->fixed_step;
    dae_mechanics_count(&s->x);
    ivp->y = s->y1;
    ivp->h_next = ivp->direction * s->s->h;
    ivp->order = 2;
    return DAE_OK;
}

/* ---- The step ------------------------------------------------------------------------------------- */

static int factor(rattle *s)
{
    if (s->factored) return 0;
    if (dae_saddle_stale(s->saddle)) dae_saddle_anchor(s->saddle, s->x.parts.constant, s->G, NULL);
    int r = dae_mechanics_factor(&s->x, s->saddle, s->x.parts.constant, s->G, NULL);
    s->factored = !r;
    return r;
}

/* v' in the velocities of y1, and p_1. */
static int first_half(rattle *s, double h)
{
    int n = s->n;
    double *dv = s->rhs, *dl = dv + n, *p = s->y1, *v = s->y1 + n, last = INFINITY;
    int r = factor(s);
    if (r) return r;
    for (int i = 0; i < n; i++) dv[i] = h / 2 * s->f[i];
    dae_zero(s->nl, dl);
    for (int k = 0; k < ITERATIONS; k++) {
        if (dae_mechanics_solve(&s->x, s->saddle, dv, dl)) return 1;
        dae_axpy(n, 1, dv, v);
        for (int i = 0; i < n; i++) p[i] = s->y0[i] + h * v[i];
        double change = k ? fabs(h) * dae_largest(n, dv) : INFINITY, size = dae_largest(n, p);
        if (s->nl == 0 || change <= DBL_EPSILON * size) return 0;
        if (k > 1 && change >= last) return change <= 100 * DBL_EPSILON * size ? 0 : 1;
        last = change;
        r = dae_mechanics_jacobian(&s->x, s->t1, p, s->x.g, NULL);
        if (r) return r;
        s->ivp->stats->newton++;
        dae_zero(n, dv);
        for (int i = 0; i < s->nl; i++) dl[i] = -s->x.g[i] / h;
    }
    return 1;
}

/* v_1 from v'. */
static int second_half(rattle *s, double h)
{
    int n = s->n;
    double *dv = s->rhs, *dl = dv + n, *v = s->y1 + n;
    int r = dae_mechanics_force(&s->x, s->t1, s->y1, v, NULL, s->lambda, s->f);
    if (!r) r = dae_mechanics_jacobian(&s->x, s->t1, s->y1, NULL, s->G);
    if (!r) r = dae_mechanics_drift(&s->x, s->t1, s->y1, dl);
    s->factored = 0;
    if (!r) r = factor(s);
    if (r) return r;
    dae_saddle_multiply(&s->x.parts.spec, s->G, 1, v, dl);
    for (int i = 0; i < s->nl; i++) dl[i] = -dl[i];
    for (int i = 0; i < n; i++) dv[i] = h / 2 * s->f[i];
    if (dae_mechanics_solve(&s->x, s->saddle, dv, dl)) return 1;
    dae_axpy(n, 1, dv, v);
    s->x.n.nfcn++;
    s->x.n.nsol++;
    return 0;
}

static dae_status step(void *self)
{
    rattle *s = self;
    rattle_state *st = s->s;
    dae_ivp *ivp = s->ivp;
    double stop = dae_ivp_piece_end(ivp), room = fabs(stop - st->t);
    int last = STRETCH * st->h >= room;
    double h = ivp->direction * (last ? room : st->h);
    s->t1 = last ? stop : st->t + h;
    dae_copy(2 * s->n, s->y1, s->y0);
    ivp->stats->steps++;
    int r = first_half(s, h);
    if (!r) r = second_half(s, h);
    dae_mechanics_count(&s->x);
    if (r) dae_copy(2 * s->n, s->y0, s->y1);
    if (r < 0) return dae_says_stopped(ivp, st->t, "a user function");
    if (r) {
        ivp->stats->newton_failures++;
        return dae_ivp_fail(
            ivp, DAE_ERR_CONVERGENCE,
            "t = %.10g: rattle cannot meet the constraints with the constant step %.3g; give a "
            "smaller one (fixed_step), or a singular position was reached",
            st->t, fabs(h));
    }
    st->slopes = 0;
    st->h_taken = h;
    ivp->stats->accepted++;
    ivp->t_old = st->t;
    ivp->t = st->t = s->t1;
    ivp->y = s->y1;
    ivp->h_next = ivp->direction * st->h;
    ivp->order = 2;
    dae_mechanics_residuals(&s->x, st->t, s->y1, s->y1 + s->n);
    return ++st->taken % CHECKED ? DAE_OK : check_velocities(s, st->t, s->y1, s->f);
}

/* ---- Dense output, accelerations and multipliers -------------------------------------------------- */

/* Accelerations at both ends of the last step; zero where they cannot be evaluated. */
static void make_slopes(rattle *s)
{
    dae_mechanics_counters before = s->x.n;
    if (s->s->slopes) return;
    if (s->s->h_taken != 0 && accelerations(s, s->ivp->t_old, s->y0, s->w0)) dae_zero(s->n, s->w0);
    if (accelerations(s, s->ivp->t, s->y1, s->w1)) dae_zero(s->n, s->w1);
    dae_zero(s->nl, s->lambda);
    s->x.n = before; /* not part of the integration */
    s->s->slopes = 1;
}

/* The cubic through both ends with their slopes. */
static void interpolate(void *self, double t, double *y, double *yp)
{
    rattle *s = self;
    int n = s->n, end = t == s->ivp->t || s->s->h_taken == 0;
    double h = s->s->h_taken, x = end ? 1 : (t - s->ivp->t_old) / h, z = 1 - x;
    if (end) dae_copy(2 * n, s->y1, y);
    if (end && !yp) return;
    make_slopes(s);
    if (end) {
        dae_copy(n, s->y1 + n, yp);
        dae_copy(n, s->w1, yp + n);
        return;
    }
    for (int i = 0; i < 2 * n; i++) {
        double k0 = h * (i < n ? s->y0[n + i] : s->w0[i - n]), k1 = h * (i < n ? s->y1[n + i] : s->w1[i - n]);
        double d = s->y1[i] - s->y0[i];
        y[i] = s->y0[i] + x * x * (3 - 2 * x) * d + x * z * (z * k0 - x * k1);
        if (yp) yp[i] = (6 * x * z * d + z * (1 - 3 * x) * k0 + x * (3 * x - 2) * k1) / h;
    }
}

static int project(void *self, double t, double *y)
{
    rattle *s = self;
    dae_projection out = {0};
    dae_mechanics_counters before = s->x.n;
    s->factored = 0;
    int r = dae_mechanics_project_position(&s->x, s->saddle, 0, t, y, s->weight, &out);
    if (!r) r = dae_mechanics_project_velocity(&s->x, s->saddle, 0, t, y, y + s->n, NULL, &out);
    s->x.n = before;
    return r;
}

static int multipliers(void *self, double t, double *acceleration, double *lambda)
{
    rattle *s = self;
    dae_mechanics_counters before = s->x.n;
    int r = 0;
    interpolate(s, t, s->point, NULL);
    if (t != s->ivp->t) r = project(s, t, s->point);
    if (!r) r = accelerations(s, t, s->point, s->rhs);
    s->x.n = before;
    if (acceleration) dae_copy(s->n, s->rhs, acceleration);
    if (lambda) dae_copy(s->nl, s->lambda, lambda);
    dae_zero(s->nl, s->lambda);
    return r;
}

static int load(void *self, const void *buffer, size_t size)
{
    rattle *s = self;
    (void)buffer;
    s->factored = 0;
    return size != 0 ? 1 : dae_saddle_load(s->saddle, NULL, 0);
}

/* ---- Descriptor ------------------------------------------------------------------------------------ */

const dae_method dae_method_rattle = {
    .info =
        {.name = "rattle",
         .title = "RATTLE, symplectic method with constant steps for constrained mechanical systems",
         .literature =
             "Andersen, J. Comput. Phys. 52 (1983) 24-34; Hairer, Lubich, Wanner, Geometric Numerical "
             "Integration, 2nd ed., section VII.1",
         .summary =
             "order 2, constant step, energy bounded over long times, constraints to rounding; constant mass "
             "matrix and forces without velocities",
         .order_min = 2,
         .order_max = 2,
         .kinds = 1u << DAE_KIND_MECH,
         .max_index = 3,
         .checkpoint = 1},
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .multipliers = multipliers,
    .project = project,
    .destroy = destroy,
    .load = load,
};
