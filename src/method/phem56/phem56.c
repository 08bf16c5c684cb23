/* phem56: partitioned half-explicit Runge-Kutta method of order 5 for constrained mechanical systems.
 *
 * Two sets of coefficients: those of Dormand and Prince, a_ij, for the motion, and abar_ij for the
 * constraint. With V'_1 = a_n, the acceleration at t_n, for i = 2 .. 6
 *
 *     Y_i = y_n + h sum_(j<i) a_ij Y'_j,   Q'_i = T(Q_i) V_i,   Qb_i = q_n + h sum_(j<=i) abar_ij Q'_j
 *     w_i = v_n + h sum_(j<i) abar_ij V'_j
 *     [ M(Q_i)   G(Q_i)^T ] [ V'_i ]   [ f(Q_i, V_i, U_i)                        ]
 *     [ G(Qb_i)  0        ] [ L_i  ] = [ -(G(Qb_i) w_i + gI(Qb_i)) / (h abar_ii) ]
 *     U'_i = d(Q_i, V_i, L_i, U_i)
 *     q_(n+1) = Qb_6,   v_(n+1) = w_6 + h abar_66 V'_6,   u_(n+1) = u_n + h sum b_j U'_j
 *
 * so that G v + gI = 0 holds at the end to rounding. The acceleration at the end, stage 1 of the next step, comes
 * from the constraint on accelerations where the system gives gamma (order 5), else from a seventh row of
 * the same form (order 4). After the step the position is projected onto g = 0.
 *
 * Sources: [Mur97] A. Murua, Partitioned half-explicit Runge-Kutta methods for differential-algebraic systems of
 * index 2, Computing 59 (1997) 43-61; [BH93] Brasey, Hairer, Half-explicit Runge-Kutta methods for differential-
 * algebraic systems of index 2, SIAM J. Numer. Anal. 30 (1993) 538-552. Step control, embedded solution and
 * projection as in the code PHEM56 as far as they are published; the rest is ours. */
#include "method/phem56/coefficients.h"

#include "method/mechanics.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "method/failure.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- Control -------------------------------------------------------------------------------------- */

#define BETA 0.045    /* of the PI controller; ours, DOPRI5 has 0.04 */
#define SMALLEST 1e-4 /* errors below this count as it */
#define SHRINK 0.2
#define GROW 10.0
#define FAILED 0.5   /* factor on h where the system cannot be evaluated; ours */
#define DIVERGED 0.7 /* where the projection does not converge, */
/* and above this weighted change by it the acceleration is computed anew; ours: 1e-2, as published, costs
 * 8 % more factorizations on seven bodies and changes nothing */
#define REPEAT 0.1
#define STRETCH 1.01 /* a step that would end this near to the end goes to the end */

typedef struct phem56_options {
    double safety;
    int project;
    const char *acceleration;
    const char *linear_algebra;
} phem56_options;

/* Plain numbers that a checkpoint carries. */
typedef struct phem56_state {
    double t, h;      /* h > 0: size of the next attempt */
    double t_first;   /* where the method was started */
    double h_taken;   /* signed size of the last step */
    int rejected;     /* the last attempt failed */
    double error_old; /* of the last accepted step */
    int unprojected;  /* accepted steps since the last projection */
    int dense;        /* 1: star belongs to the last step, */
    int fine;         /* 1: inner too; -1: the slopes there cannot be computed */
} phem56_state;

/* A row of coefficients without its zeros, and the derivatives that they belong to. */
typedef struct phem56_row {
    int count;
    double a[STAGES];
    const double *k[STAGES];
} phem56_row;

typedef struct phem56 {
    dae_ivp *ivp;
    phem56_options opt;
    int np, nv, nu, nl, ny;
    int solved; /* 1: acceleration at the end from gamma; 0: from row 7 */
    dae_mechanics x;
    dae_saddle *saddle;   /* stages, accelerations, velocities */
    dae_saddle *position; /* projection of q; the same where all constraints are holonomic */

    phem56_state *s;
    double t1;          /* end of the present attempt */
    double t_projected; /* Y is the solution at this time, projected (NAN: it is not) */
    double *y0, *y1;    /* ny: the ends of the step */
    double *l0, *l1;    /* nl: multipliers there */
    double *k;          /* (STAGES + 1) x ny: Y'_1 .. Y'_7 */
    double *Y;          /* ny: stage values */
    double *q;          /* np + nv: Qb_i and w_i */
    double *w;          /* ny: the embedded solution */
    double *rhs;        /* nv + nl */
    double *M, *G, *U;  /* matrices of a stage */
    double *gI;         /* nl */
    double *weight;     /* ny */
    double *star;       /* ny: the value at PHEM56_MIDDLE */
    double *inner;      /* FINE x ny: the slopes at phem56_fine_at */
    phem56_row motion[STAGES], constraint[STAGES + 1], external, embedded, middle;
} phem56;

/* ---- Combinations of derivatives ------------------------------------------------------------------ */

static double *derivative(const phem56 *s, int stage)
{
    return s->k + (size_t)stage * (size_t)s->ny;
}

#define T(j) (a[j] * k[j][i])
#define SUM(terms)                                           \
    for (int i = 0; i < n; i++) out[i] = y[i] + h * (terms); \
    break

/* out = y + h sum of the terms of the row. */
DAE_KERNEL_BODY void sum_row(const phem56_row *row, double h, const double *restrict y, int n,
                             double *restrict out)
{
    const double *a = row->a, *const *k = row->k;
    switch (row->count) {
    case 1: SUM(T(0));
    case 2: SUM(T(0) + T(1));
    case 3: SUM(T(0) + T(1) + T(2));
    case 4: SUM(T(0) + T(1) + T(2) + T(3));
    case 5: SUM(T(0) + T(1) + T(2) + T(3) + T(4));
    default: SUM(T(0) + T(1) + T(2) + T(3) + T(4) + T(5)); /* the longest */
    }
}

DAE_KERNEL(void, add_row, (const phem56_row *row, double h, const double *y, int n, double *out),
           sum_row(row, h, y, n, out))

static void combine(const phem56_row *row, double h, const double *y, int n, double *out)
{
    DAE_KERNEL_PICK(add_row, 0)(row, h, y, n, out);
}

/* The row of these coefficients without its zeros, for the components from `first` on. */
static phem56_row make_row(const phem56 *s, const double *coefficient, int count, int first)
{
    phem56_row row = {0};
    for (int j = 0; j < count; j++) {
        if (coefficient[j] == 0) continue;
        row.a[row.count] = coefficient[j];
        row.k[row.count++] = derivative(s, j) + first;
    }
    return row;
}

static void make_rows(phem56 *s)
{
    for (int i = 1; i < STAGES; i++) s->motion[i] = make_row(s, phem56_a[i], i, 0);
    for (int i = 1; i <= STAGES; i++) s->constraint[i] = make_row(s, phem56_abar[i], i, 0);
    s->external = make_row(s, phem56_abar[STAGES - 1], STAGES, s->np + s->nv);
    s->embedded = make_row(s, phem56_embedded, STAGES + 1, 0);
    s->middle = make_row(s, phem56_middle, STAGES + 1, 0);
}

/* ---- Life ----------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    phem56 *s = self;
    if (!s) return;
    if (s->position != s->saddle) dae_saddle_destroy(s->position);
    dae_saddle_destroy(s->saddle);
    free(s);
}

static dae_status create_solvers(phem56 *s, dae_error *err)
{
    s->saddle = dae_mechanics_saddle(&s->x, s->opt.linear_algebra, s->nl, 1, err);
    if (!s->saddle) return err ? err->status : DAE_ERR_MEMORY;
    int same = s->x.ng == s->nl && !s->x.m->position_jacobian;
    s->position = same ? s->saddle : dae_mechanics_saddle(&s->x, "auto", s->x.ng, 0, err);
    return s->position ? DAE_OK : err ? err->status : DAE_ERR_MEMORY;
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    const dae_mech *m = &ivp->sys->mech;
    dae_arena *arena = ivp->arena;
    if (m->dfdlambda) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                 "phem56: the forces depend on the multipliers (dry friction); mexx takes that");
        return NULL;
    }
    phem56 *s = calloc(1, sizeof *s);
    if (!s) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "phem56: out of memory");
        return NULL;
    }
    s->ivp = ivp;
    s->opt = *(const phem56_options *)option;
    s->np = m->np;
    s->nv = m->nv;
    s->nu = m->nu;
    s->nl = m->nlambda;
    s->ny = s->np + s->nv + s->nu;
    s->solved =
        strcmp(s->opt.acceleration, "stage") != 0 && (m->gamma || !strcmp(s->opt.acceleration, "solved"));
    size_t ny = (size_t)s->ny, nl = (size_t)s->nl;
    if (dae_mechanics_init(&s->x, ivp, err)) goto fail;
    s->s = dae_arena_take(arena, 1, sizeof *s->s);
    s->y0 = dae_arena_reals(arena, ny);
    s->y1 = dae_arena_reals(arena, ny);
    s->l0 = dae_arena_reals(arena, nl);
    s->l1 = dae_arena_reals(arena, nl);
    s->k = dae_arena_reals(arena, (STAGES + 1) * ny);
    s->Y = dae_arena_reals(arena, ny);
    s->q = dae_arena_reals(arena, (size_t)(s->np + s->nv));
    s->w = dae_arena_reals(arena, ny);
    s->rhs = dae_arena_reals(arena, (size_t)s->nv + nl);
    s->M = dae_arena_reals(arena, (size_t)s->x.parts.nM);
    s->G = dae_arena_reals(arena, (size_t)s->x.parts.nG);
    s->U = dae_arena_reals(arena, (size_t)s->x.parts.nG);
    s->gI = dae_arena_reals(arena, nl);
    s->weight = dae_arena_reals(arena, ny);
    s->star = dae_arena_reals(arena, ny);
    s->inner = dae_arena_reals(arena, FINE * ny);
    if (create_solvers(s, err)) goto fail; /* finds missing memory too */
    make_rows(s);
    dae_ivp_solves_with(ivp, dae_saddle_describe(s->saddle));
    dae_log(ivp->opt, DAE_LOG_INFO, "method=phem56 acceleration=%s", s->solved ? "solved" : "stage");
    return s;
fail:
    destroy(s);
    return NULL;
}

/* ---- Stages --------------------------------------------------------------------------------------- */

/* t_n + fraction h, which never lies beyond the end of the step. */
static double time_at(const phem56 *s, double fraction, double h)
{
    return fraction == 1 ? s->t1 : s->s->t + fraction * h;
}

/* V'_i and the multipliers of row i (abar) at the point (t, Y); Q'_i is known. k: in q', out v'. */
static int solve_row(phem56 *s, int row, double h, double t, const double *Y, double *k, double *lambda)
{
    dae_mechanics *x = &s->x;
    const double *M, *Q = Y, *V = Y + s->np, *u = V + s->nv, *w = s->q + s->np;
    double tb = time_at(s, phem56_cbar[row], h);
    double *f = s->rhs, *g = f + s->nv, scale = 1 / (h * phem56_abar[row][row]);
    combine(&s->constraint[row], h, s->y0, s->np + s->nv, s->q);
    dae_axpy(s->np, h * phem56_abar[row][row], k, s->q);
    int r = dae_mechanics_force(x, t, Q, V, u, s->l0, f);
    if (!r) r = dae_mechanics_mass(x, t, Q, s->M, &M);
    if (!r) r = dae_mechanics_jacobian(x, t, Q, NULL, s->U);
    if (!r) r = dae_mechanics_jacobian(x, tb, s->q, NULL, s->G);
    if (!r) r = dae_mechanics_drift(x, tb, s->q, s->gI);
    if (r) return r;
    x->n.nfcn++;
    x->n.nsol++;
    dae_zero(s->nl, g);
    dae_saddle_multiply(&x->parts.spec, s->G, -1, w, g);
    for (int i = 0; i < s->nl; i++) g[i] = (g[i] - s->gI[i]) * scale;
    if (dae_mechanics_factor_solve(x, s->saddle, M, s->G, s->U, f, g)) return 1;
    dae_copy(s->nv, f, k + s->np);
    dae_copy(s->nl, g, lambda);
    return 0;
}

/* Stages 2 .. 6 and the end of the step: y1 and the multipliers of the last stage in l1. */
static int stages(phem56 *s, double h)
{
    int v = s->np, u = s->np + s->nv, r = 0;
    for (int i = 1; i < STAGES && !r; i++) {
        double t = time_at(s, phem56_c[i], h), *k = derivative(s, i);
        combine(&s->motion[i], h, s->y0, s->ny, s->Y);
        r = dae_mechanics_kinematics(&s->x, t, s->Y, s->Y + v, k);
        if (!r) r = solve_row(s, i, h, t, s->Y, k, s->l1);
        if (!r) r = dae_mechanics_dynamics(&s->x, t, s->Y, s->Y + v, s->Y + u, s->l1, k + u);
    }
    if (r) return r;
    dae_copy(u, s->q, s->y1);
    dae_axpy(s->nv, h * phem56_abar[STAGES - 1][STAGES - 1], derivative(s, STAGES - 1) + v, s->y1 + v);
    if (s->nu) combine(&s->external, h, s->y0 + u, s->nu, s->y1 + u);
    return 0;
}

/* a, lambda and u' at the end of the step: they begin the next one. The solver keeps the factors. */
static int end_derivatives(phem56 *s, double h)
{
    dae_mechanics *x = &s->x;
    int v = s->np, u = s->np + s->nv;
    double t = s->t1, *y = s->y1, *k = derivative(s, END);
    int r = dae_mechanics_kinematics(x, t, y, y + v, k);
    if (r) return r;
    if (s->solved) {
        r = dae_mechanics_accelerations(x, s->saddle, t, s->s->t_first, s->ivp->t_stop, y, y + v, y + u,
                                        k + v, s->l1);
    } else {
        r = solve_row(s, STAGES, h, t, y, k, s->l1);
    }
    return r ? r : dae_mechanics_dynamics(x, t, y, y + v, y + u, s->l1, k + u);
}

/* ---- Error estimate ------------------------------------------------------------------------------- */

static void set_weights(phem56 *s, const double *y)
{
    const dae_ivp *ivp = s->ivp;
    for (int i = 0; i < s->ny; i++) {
        double a = fabs(s->y0[i]), b = fabs(y[i]), w = ivp->atol[i] + ivp->rtol[i] * (a > b ? a : b);
        s->weight[i] = w > DBL_MIN ? w : DBL_MIN;
    }
}

/* The embedded solution of order 4: its velocities are moved onto the constraint with the last factors, and
 * u' at the end is taken with the multipliers that belong to that. */
static int error_estimate(phem56 *s, double h, double *error)
{
    dae_mechanics *x = &s->x;
    int v = s->np, u = s->np + s->nv;
    double t = s->t1, *y = s->w, *f = s->rhs, *g = f + s->nv, *k = derivative(s, END);
    combine(&s->embedded, h, s->y0, s->ny, y);
    int r = dae_mechanics_jacobian(x, t, y, NULL, s->G);
    if (!r) r = dae_mechanics_drift(x, t, y, s->gI);
    if (r) return r;
    dae_zero(s->nv + s->nl, f);
    dae_saddle_multiply(&x->parts.spec, s->G, -1, y + v, g);
    dae_axpy(s->nl, -1, s->gI, g);
    if (dae_mechanics_solve(x, s->saddle, f, g)) return 1;
    dae_axpy(s->nv, 1, f, y + v);
    if (s->nu) {
        double scale = h * phem56_embedded[END];
        for (int i = 0; i < s->nl; i++) g[i] = s->l1[i] + g[i] / scale;
        r = dae_mechanics_dynamics(x, t, s->y1, s->y1 + v, s->y1 + u, g, s->Y);
        if (r) return r;
        for (int i = 0; i < s->nu; i++) y[u + i] += scale * (s->Y[i] - k[u + i]);
    }
    set_weights(s, s->y1);
    for (int i = 0; i < s->ny; i++) y[i] -= s->y1[i];
    *error = dae_wrms(s->ny, y, s->weight);
    return isfinite(*error) ? 0 : 1;
}

/* ---- Projection ----------------------------------------------------------------------------------- */

/* Moves the end of the step onto the constraints. 0, > 0: did not converge, < 0: stop. Where the factors of the
 * acceleration are those of the end they serve for both parts. */
static int project_end(phem56 *s, double *change)
{
    dae_projection out = {0};
    double t = s->t1, *q = s->y1, *v = q + s->np;
    int keep = s->solved && s->position == s->saddle;
    int r = dae_mechanics_project_position(&s->x, s->position, keep, t, q, s->weight, &out);
    if (!r) r = dae_mechanics_project_velocity(&s->x, s->saddle, keep, t, q, v, s->weight + s->np, &out);
    *change = fmax(out.position, out.velocity);
    return r;
}

/* ---- Start ---------------------------------------------------------------------------------------- */

/* Initial values on the constraints. */
static dae_status consistent_start(phem56 *s, double t)
{
    dae_projection change = {0};
    double *q = s->y1, *v = q + s->np;
    int r = dae_mechanics_project_position(&s->x, s->position, 0, t, q, s->weight, &change);
    if (!r) r = dae_mechanics_project_velocity(&s->x, s->saddle, 0, t, q, v, NULL, &change);
    return r ? dae_mechanics_bad_start(&s->x, s->saddle, r, t, &change) : DAE_OK;
}

static int start_derivatives(phem56 *s, double t, double *y, double *k, double *lambda)
{
    return dae_mechanics_derivatives(&s->x, s->saddle, t, t, s->ivp->t_stop, y, k, lambda);
}

/* [HNW] section II.4: from the sizes of y, y' and a difference for y''. */
static double first_step(phem56 *s, double t, double room)
{
    const double *k = derivative(s, END);
    double d0 = dae_wrms(s->ny, s->y1, s->weight), d1 = dae_wrms(s->ny, k, s->weight), d2 = 0;
    double h = fmin(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, room), *k2 = derivative(s, 0);
    if (!(h > 0)) return 1e-6 * room; /* a component without tolerance: zero, and atol = 0 */
    for (int i = 0; i < s->ny; i++) s->Y[i] = s->y1[i] + s->ivp->direction * h * k[i];
    dae_copy(s->nl, s->l1, s->l0);
    if (start_derivatives(s, t + s->ivp->direction * h, s->Y, k2, s->l0)) return h;
    for (int i = 0; i < s->ny; i++) k2[i] -= k[i];
    d2 = dae_wrms(s->ny, k2, s->weight) / h;
    if (!isfinite(d2)) return h;
    double d = fmax(d1, d2), next = d <= 1e-15 ? fmax(1e-6, 1e-3 * h) : pow(0.01 / d, 0.2);
    return fmin(fmin(100 * h, next), room);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    phem56 *s = self;
    phem56_state *st = s->s;
    dae_ivp *ivp = s->ivp;
    (void)yp;
    double room = fabs(ivp->t_stop - t);
    *st = (phem56_state){.t = t, .t_first = t, .error_old = SMALLEST};
    s->t_projected = NAN;
    dae_copy(s->ny, y, s->y0);
    dae_copy(s->ny, y, s->y1);
    set_weights(s, y);
    dae_status status = consistent_start(s, t);
    if (status) return status;
    int r = start_derivatives(s, t, s->y1, derivative(s, END), s->l1);
    if (r) {
        return dae_ivp_fail(ivp, r < 0 ? DAE_ERR_CALLBACK : DAE_ERR_UNDEFINED,
                            "t = %g: the accelerations cannot be computed at the initial values", t);
    }
    dae_mechanics_residuals(&s->x, t, s->y1, s->y1 + s->np);
    st->h = h > 0 ? fmin(h, room) : first_step(s, t, room);
    if (ivp->opt->h_max > 0) st->h = fmin(st->h, ivp->opt->h_max);
    if (ivp->opt->fixed_step > 0) st->h = ivp->opt->fixed_step;
    dae_mechanics_count(&s->x);
    ivp->y = s->y1;
    ivp->h_next = ivp->direction * st->h;
    ivp->order = 5;
    return DAE_OK;
}

/* ---- The step ------------------------------------------------------------------------------------- */

/* The left end of the step is the right end of the last one. */
static void move_left(phem56 *s)
{
    dae_copy(s->ny, s->y1, s->y0);
    dae_copy(s->nl, s->l1, s->l0);
    dae_copy(s->ny, derivative(s, END), derivative(s, 0));
    s->s->dense = s->s->fine = 0;
    s->t_projected = NAN;
}

static dae_status give_up(phem56 *s, double h)
{
    return dae_ivp_fail(s->ivp, DAE_ERR_STEP_TOO_SMALL,
                        "t = %.10g: the step fell to %.3g after %ld rejections; a singular position, or a "
                        "stiff system? (radau5 "
                        "takes stiff ones)",
                        s->s->t, h, s->ivp->stats->rejected);
}

/* PI control of the step size [HW, section IV.2]: after an accepted step the error before it counts too. Where errors
 * grow from step to step the next one is predicted from that ([HW, section IV.8], Gustafsson), and the smaller of both
 * sizes is taken; a rejected step is repeated with the safety factor twice. */
static double step_factor(phem56 *s, double h, double error)
{
    phem56_state *st = s->s;
    double old = st->error_old, e = fmax(error, SMALLEST), safety = s->opt.safety;
    if (error > 1) return fmax(safety * safety * pow(error, -0.2), SHRINK);
    double factor = safety * pow(e, 0.75 * BETA - 0.2) * pow(old, BETA);
    if (st->h_taken != 0) factor = fmin(factor, safety * h / st->h_taken * pow(old / (e * e), 0.2));
    st->error_old = e;
    return fmin(fmax(factor, SHRINK), GROW);
}

/* One attempt from y0 to s->t1. *factor: of the step size, for the next attempt or step. Returns 0: accepted;
 * > 0: rejected; < 0: stop. */
static int attempt(phem56 *s, double h, double *error, double *factor)
{
    int fixed = s->ivp->opt->fixed_step > 0;
    double change = 0;
    *error = 0;
    *factor = FAILED;
    int r = stages(s, h);
    if (!r) r = end_derivatives(s, h);
    if (!r) r = error_estimate(s, h, error);
    if (r) return r;
    *factor = step_factor(s, h, *error);
    if (*error > 1 && !fixed) return 1;
    if (s->opt.project == 0 || ++s->s->unprojected < s->opt.project) return 0;
    double keep = *factor;
    *factor = DIVERGED;
    r = project_end(s, &change);
    if (r) return r;
    s->s->unprojected = 0;
    *factor = keep;
    if (change > REPEAT) r = end_derivatives(s, h);
    else r = dae_mechanics_kinematics(&s->x, s->t1, s->y1, s->y1 + s->np, derivative(s, END));
    return r;
}

static dae_status step(void *self)
{
    phem56 *s = self;
    phem56_state *st = s->s;
    dae_ivp *ivp = s->ivp;
    double smallest = 10 * DBL_EPSILON * fmax(fabs(st->t), st->h), error, factor;
    move_left(s);
    dae_mechanics_renew_anchors(&s->x, s->saddle, s->position, st->t, s->y0);
    for (;;) {
        double room = fabs(ivp->t_stop - st->t);
        int last = STRETCH * st->h >= room;
        double h = last ? room : st->h;
        int at_once = last && !st->rejected && h > 0; /* what is left may be as short as it is */
        if (!at_once && (!(h > smallest) || h < ivp->opt->h_min)) return give_up(s, h);
        s->t1 = last ? ivp->t_stop : st->t + ivp->direction * h;
        ivp->stats->steps++;
        int r = attempt(s, ivp->direction * h, &error, &factor);
        dae_mechanics_count(&s->x);
        dae_log(ivp->opt, DAE_LOG_STEP, "t=%.10g h=%.6g error=%.3g outcome=%s", st->t, h, error,
                r ? "rejected" : "accepted");
        if (r < 0) return dae_says_stopped(ivp, st->t, "a user function");
        if (r == 0) {
            st->h_taken = ivp->direction * h;
            st->h = st->rejected ? fmin(factor, 1) * h : factor * h;
            st->rejected = 0;
            break;
        }
        ivp->stats->rejected++;
        st->h = fmin(factor, 1) * h;
        st->rejected = 1;
    }
    if (ivp->opt->fixed_step > 0) st->h = ivp->opt->fixed_step;
    else if (ivp->opt->h_max > 0) st->h = fmin(st->h, ivp->opt->h_max);
    ivp->stats->accepted++;
    ivp->t_old = st->t;
    ivp->t = st->t = s->t1;
    ivp->y = s->y1;
    ivp->h_next = ivp->direction * st->h;
    ivp->order = 5;
    return DAE_OK;
}

/* ---- Dense output, accelerations and multipliers -------------------------------------------------- */

/* The quartic through both ends with their slopes and through the value at PHEM56_MIDDLE. yp: NULL, or its slope. */
static void quartic(phem56 *s, double x, double *y, double *yp)
{
    double h = s->s->h_taken, m = PHEM56_MIDDLE;
    const double *k0 = derivative(s, 0), *k1 = derivative(s, END);
    if (!s->s->dense) combine(&s->middle, h, s->y0, s->ny, s->star);
    s->s->dense = 1;
    double z = 1 - x, m1 = (1 - m) * (1 - m);
    double slope0 = h * x * z * z * (m - x) / m, slope1 = h * x * x * z * (m - x) / (1 - m);
    double star = x * x * z * z / (m * m * m1),
           end = x * x * (m * (3 * m - 4) + x * (4 - 2 * m * m + x * (2 * m - 3))) / m1;
    for (int i = 0; i < s->ny; i++) {
        y[i] = s->y0[i] + slope0 * k0[i] + slope1 * k1[i] + star * (s->star[i] - s->y0[i]) +
               end * (s->y1[i] - s->y0[i]);
    }
    if (!yp) return;
    slope0 = (z * z * (m - x) - 2 * x * z * (m - x) - x * z * z) / m;
    slope1 = (2 * x * z * (m - x) - x * x * (m - x) - x * x * z) / (1 - m);
    star = (2 * x * z * z - 2 * x * x * z) / (m * m * m1 * h);
    end = x * (2 * m * (3 * m - 4) + x * (3 * (4 - 2 * m * m) + x * 4 * (2 * m - 3))) / (m1 * h);
    for (int i = 0; i < s->ny; i++) {
        yp[i] =
            slope0 * k0[i] + slope1 * k1[i] + star * (s->star[i] - s->y0[i]) + end * (s->y1[i] - s->y0[i]);
    }
}

/* The slopes inside the step, at points of the quartic: its error O(h^5) is O(h^6) in the quintic. Not where slopes at the ends are of
 * order 4 only. 1: they are there. */
static int find_slopes(phem56 *s)
{
    phem56_state *st = s->s;
    double residual = s->ivp->stats->acceleration_residual;
    dae_mechanics_counters before = s->x.n;
    if (st->fine || s->ivp->coarse || !(s->solved || !s->nl)) return st->fine > 0;
    int stale = dae_saddle_mark(s->saddle, 0);
    st->fine = 1;
    for (int j = 0; j < FINE; j++) {
        double x = phem56_fine_at[j], t = s->ivp->t_old + x * st->h_taken;
        quartic(s, x, s->w, NULL);
        dae_copy(s->nl, s->l1, s->gI);
        if (dae_mechanics_derivatives(&s->x, s->saddle, t, st->t_first, s->ivp->t_stop, s->w,
                                      s->inner + j * s->ny, s->gI))
            st->fine = -1;
    }
    dae_saddle_mark(s->saddle, stale); /* none of this is part of the integration */
    s->x.n = before;
    s->ivp->stats->acceleration_residual = residual;
    return st->fine > 0;
}

static void quintic(const phem56 *s, double x, double *y, double *yp)
{
    double h = s->s->h_taken, value[FINE + 3], slope[FINE + 3];
    const double *f0 = derivative(s, 0), *fa = s->inner, *fb = fa + s->ny, *f1 = derivative(s, END);
    for (int j = 0; j < FINE + 3; j++) {
        const double *c = phem56_fine[j];
        value[j] = x * (c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * c[4]))));
        slope[j] = c[0] + x * (2 * c[1] + x * (3 * c[2] + x * (4 * c[3] + x * 5 * c[4])));
    }
    for (int i = 0; i < s->ny; i++) {
        double d = s->y1[i] - s->y0[i];
        y[i] = s->y0[i] + value[0] * d +
               h * (value[1] * f0[i] + value[2] * fa[i] + value[3] * fb[i] + value[4] * f1[i]);
        if (!yp) continue;
        yp[i] = slope[0] * d / h + slope[1] * f0[i] + slope[2] * fa[i] + slope[3] * fb[i] + slope[4] * f1[i];
    }
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    phem56 *s = self;
    if (t == s->ivp->t) {
        dae_copy(s->ny, s->y1, y);
        if (yp) dae_copy(s->ny, derivative(s, END), yp);
        return;
    }
    double x = (t - s->ivp->t_old) / s->s->h_taken;
    if (find_slopes(s)) quintic(s, x, y, yp);
    else quartic(s, x, y, yp);
}

static int project(void *self, double t, double *y)
{
    phem56 *s = self;
    dae_projection change;
    dae_mechanics_counters before = s->x.n;
    int r = dae_mechanics_project_position(&s->x, s->position, 0, t, y, s->weight, &change);
    if (!r) r = dae_mechanics_project_velocity(&s->x, s->saddle, 0, t, y, y + s->np, NULL, &change);
    s->x.n = before; /* not part of the integration */
    if (y != s->Y) dae_copy(s->ny, y, s->Y);
    s->t_projected = r ? NAN : t;
    return r;
}

static int multipliers(void *self, double t, double *acceleration, double *lambda)
{
    phem56 *s = self;
    double *y = s->Y, *accel = s->w;
    int v = s->np, u = s->np + s->nv, r = 0;
    if (t == s->ivp->t) {
        dae_copy(s->ny, s->y1, y);
    } else if (t != s->t_projected) {
        interpolate(s, t, y, NULL);
        r = project(s, t, y);
    }
    dae_mechanics_counters before = s->x.n;
    if (!r)
        r = dae_mechanics_accelerations(&s->x, s->saddle, t, s->s->t_first, s->ivp->t_stop, y, y + v, y + u,
                                        accel, s->gI);
    s->x.n = before;
    s->t_projected = NAN;
    if (acceleration) dae_copy(s->nv, accel, acceleration);
    if (lambda) dae_copy(s->nl, s->gI, lambda);
    return r;
}

/* The solvers rebuild from the arena what they keep outside of it. */
static int load(void *self, const void *buffer, size_t size)
{
    phem56 *s = self;
    (void)buffer;
    s->t_projected = NAN;
    int bad = size != 0 ? 1 : dae_saddle_load(s->saddle, NULL, 0);
    if (s->position != s->saddle) bad |= dae_saddle_load(s->position, NULL, 0);
    return bad;
}

/* ---- Descriptor ------------------------------------------------------------------------------------ */

static const dae_option options[] = {
    {"safety", DAE_OPTION_REAL, offsetof(phem56_options, safety), 0.9, NULL, 0.1, 1, NULL, "",
     "factor on every new step size, twice where a step is repeated"},
    {"project", DAE_OPTION_INT, offsetof(phem56_options, project), 1, NULL, 0, 1000, NULL, "",
     "project onto the constraints after every so many steps; 0: never"},
    {"acceleration", DAE_OPTION_NAME, offsetof(phem56_options, acceleration), 0, "auto", 1, 0,
     "auto|solved|stage", "",
     "at the end of a step: solved from the constraint (order 5) or a seventh stage (order 4); auto: solved "
     "where gamma is given"},
    {"linear_algebra", DAE_OPTION_NAME, offsetof(phem56_options, linear_algebra), 0, "auto", 1, 0,
     DAE_SADDLE_MODES, "", "solver of the saddle-point systems, one that takes unsymmetric ones"},
    {0}};

const dae_method dae_method_phem56 = {
    .info = {.name = "phem56",
             .title = "partitioned half-explicit Runge-Kutta method for constrained mechanical systems",
             .literature =
                 "Murua, Computing 59 (1997) 43-61; Brasey, Hairer, SIAM J. Numer. Anal. 30 (1993) 538-552",
             .summary = "order 5 with error estimate, projection onto position and velocity constraints, "
                        "dense output of order 5 (4 where the acceleration is a stage)",
             .order_min = 5,
             .order_max = 5,
             .kinds = 1u << DAE_KIND_MECH,
             .max_index = 3,
             .checkpoint = 1,
             .options = options},
    .option_size = sizeof(phem56_options),
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .multipliers = multipliers,
    .project = project,
    .destroy = destroy,
    .load = load,
};
