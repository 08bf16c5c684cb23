/* mexx: extrapolated half-explicit Euler method for constrained mechanical systems.
 *
 * A basic step of size H computes rows j = 1, 2, ... of n_j half-explicit Euler steps (row.c) and
 * extrapolates x = (p, v, u, a, lambda) to h = 0,
 *
 *     T_j,k+1 = T_j,k + (T_j,k - T_j-1,k) / (n_j/n_(j-k) - 1),
 *
 * until T_jj - T_j,j-1 is below the tolerance in p, v, u. Then p and v are projected onto the position
 * and velocity constraints. Order (number of rows) and step size follow Deuflhard's control, as in the
 * original program; its constants reproduce the counts printed in the report. Dense output: dense.c.
 *
 * Sources: [MEXX] Lubich, Engstler, Nowak, Poehle, MEXX - Numerical software for the integration of
 * constrained mechanical multibody systems, ZIB SC 92-12; control details from a study of the program.
 * We differ: the mark "last step" does not survive a failed attempt, and F lambda is formed with the
 * present lambda; both were errors of the original. A failing projection halves the step. */
#include "method/mexx/mexx.h"

#include "core/vector.h"
#include "method/failure.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define TARGET 0.8     /* [MEXX program] sigma_1: aimed level of the error */
#define SAFETY 0.93    /* sigma_2: on the predicted step */
#define UNSTABLE_H 0.5 /* sigma_3: after a stability failure */
#define PROJECT_H 0.45 /* sigma_4: smallest factor after a projection changed too much */
#define SHRINK 0.1     /* c_lo, c_hi: limits of step changes */
#define GROW 4.0
#define DOWN 0.9                   /* order goes down if the work per unit step falls below this part, */
#define UP 1.0                     /* up if below this */
#define PROJECTION 5.0             /* largest weighted change by projection */
#define STRETCH ((1 + SAFETY) / 2) /* a step this near to the end goes to the end */
#define PROJECTION_WORK 4          /* work of a projection, in evaluations */
#define WORTH 0.5 /* a further row for the dense output has to reduce its error to this part; ours */
/* of an extrapolated value, relative to the largest of its kind; ours, seven bodies */
#define ROUNDING (500 * DBL_EPSILON)
#define NEAR_ROUNDING 5e-12 /* tolerances below this: rounding shows */
/* from the error of this row on it is foreseen how many the step will need; ours, chains of insulators */
#define FORESEE 4
#define FIRST_STEP 1e-3 /* default of the original */

/* ---- Life ---------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    mexx *s = self;
    if (!s) return;
    if (s->w && s->velocity != s->w->saddle) dae_saddle_destroy(s->velocity);
    if (s->position != s->velocity) dae_saddle_destroy(s->position);
    dae_saddle_destroy(s->exact);
    dae_pool_destroy(s->pool);
    for (int k = 0; s->w && k < s->threads; k++) dae_saddle_destroy(s->w[k].saddle);
    free(s->w);
    free(s);
}

static dae_status create_worker(mexx *s, mexx_worker *w, dae_error *err)
{
    dae_arena *a = s->ivp->arena;
    dae_status status = dae_mechanics_init(&w->x, s->ivp, err);
    if (status) return status;
    w->M = dae_arena_reals(a, (size_t)w->x.parts.nM);
    w->G = dae_arena_reals(a, (size_t)w->x.parts.nG);
    w->U = s->friction ? dae_arena_reals(a, (size_t)w->x.parts.nG) : NULL;
    w->gI = dae_arena_reals(a, (size_t)s->nl);
    w->f = dae_arena_reals(a, (size_t)s->nv);
    w->pdot = dae_arena_reals(a, (size_t)s->np);
    w->rhs = dae_arena_reals(a, (size_t)(s->nv + s->nl));
    w->saddle = dae_mechanics_saddle(&w->x, s->opt.linear_algebra, s->nl, s->friction, err);
    return w->saddle ? DAE_OK : err ? err->status : DAE_ERR_MEMORY;
}

/* Without threads to be had the run goes on with one. */
static dae_status create_workers(mexx *s, dae_error *err)
{
    s->pool = dae_pool_create(s->ivp->opt->threads < MEXX_ROWS ? s->ivp->opt->threads : MEXX_ROWS);
    s->threads = dae_pool_threads(s->pool);
    s->w = calloc((size_t)s->threads, sizeof *s->w);
    if (!s->w) return dae_fail(err, DAE_ERR_MEMORY, NAN, "mexx: out of memory");
    dae_status status = DAE_OK;
    for (int k = 0; k < s->threads && !status; k++) status = create_worker(s, &s->w[k], err);
    return status;
}

/* Projections are symmetric: they share the solver of the steps where that has the same shape. */
static dae_status create_projections(mexx *s, dae_error *err)
{
    const char *mode = s->opt.linear_algebra;
    s->velocity = s->friction ? dae_mechanics_saddle(&s->w->x, mode, s->nl, 0, err) : s->w->saddle;
    if (!s->velocity) return err ? err->status : DAE_ERR_MEMORY;
    s->position = s->velocity;
    if (s->w->x.ng != s->nl || s->w->x.m->position_jacobian)
        s->position = dae_mechanics_saddle(&s->w->x, mode, s->w->x.ng, 0, err);
    if (!s->position) return err ? err->status : DAE_ERR_MEMORY;
    if (!s->ivp->sys->mech.dfdlambda || s->friction) return DAE_OK;
    s->exact = dae_mechanics_saddle(&s->w->x, "auto", s->nl, 1, err);
    return s->exact ? DAE_OK : err ? err->status : DAE_ERR_MEMORY;
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    const dae_mech *m = &ivp->sys->mech;
    dae_arena *a = ivp->arena;
    mexx *s = calloc(1, sizeof *s);
    if (!s) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "mexx: out of memory");
        return NULL;
    }
    s->ivp = ivp;
    s->opt = *(const mexx_options *)option;
    s->np = m->np;
    s->nv = m->nv;
    s->nu = m->nu;
    s->nl = m->nlambda;
    s->ny = s->np + s->nv + s->nu;
    s->ns = s->ny + s->nl;
    s->nx = s->ns + s->nv;
    s->friction = m->dfdlambda != NULL && strcmp(s->opt.friction_jacobian, "off") != 0;
    if (!strcmp(s->opt.friction_jacobian, "on") && !m->dfdlambda) {
        dae_fail(err, DAE_ERR_INPUT, NAN,
                 "mexx: friction_jacobian = on needs dfdlambda, which the system does not give");
        goto fail;
    }
    size_t nx = (size_t)s->nx, ns = (size_t)s->ns, rows = MEXX_ROWS;
    s->s = dae_arena_take(a, 1, sizeof *s->s);
    s->x0 = dae_arena_reals(a, nx);
    s->x1 = dae_arena_reals(a, nx);
    s->point = dae_arena_reals(a, nx);
    s->f0 = dae_arena_reals(a, (size_t)s->nv);
    s->f1 = dae_arena_reals(a, (size_t)s->nv);
    s->pdot0 = dae_arena_reals(a, (size_t)s->np);
    s->pdot1 = dae_arena_reals(a, (size_t)s->np);
    s->u0 = dae_arena_reals(a, 2 * (size_t)s->nu);
    s->F = s->friction ? dae_arena_reals(a, (size_t)s->nv * (size_t)s->nl) : NULL;
    s->F1 = s->friction ? dae_arena_reals(a, (size_t)s->nv * (size_t)s->nl) : NULL;
    s->row = dae_arena_reals(a, rows * nx);
    s->tableau = dae_arena_reals(a, rows * nx);
    s->sample = dae_arena_reals(a, dae_mexx_sample_at(s, MEXX_ROWS));
    s->weight = dae_arena_reals(a, (size_t)s->ny);
    s->weight0 = dae_arena_reals(a, (size_t)s->ny);
    s->coefficient = dae_arena_reals(a, 3 * (size_t)MEXX_COEFFICIENTS * nx);
    s->scratch = dae_arena_reals(a, 3 * (rows + 1) * ns);
    s->A[1] = mexx_steps[0] + PROJECTION_WORK;
    for (int j = 2; j <= MEXX_ROWS; j++) s->A[j] = s->A[j - 1] + mexx_steps[j - 1];
    if (create_workers(s, err) || create_projections(s, err) || dae_mechanics_init(&s->aux, ivp, err))
        goto fail;
    dae_ivp_solves_with(ivp, dae_saddle_describe(s->w->saddle));
    dae_log(ivp->opt, DAE_LOG_INFO, "method=mexx scheme=%s", s->friction ? "modified" : "base");
    double finest = INFINITY;
    for (int i = 0; i < s->ny; i++) finest = fmin(finest, ivp->rtol[i] + ivp->atol[i]);
    s->near_rounding = finest < 2 * NEAR_ROUNDING;
    if (s->near_rounding) {
        dae_log(ivp->opt, DAE_LOG_WARN, "warning=\"rounding limits the accuracy at tolerances below %g\"",
                NEAR_ROUNDING);
    }
    return s;
fail:
    destroy(s);
    return NULL;
}

/* ---- Parts of a step ------------------------------------------------------------------------------ */

/* b, if a is no number. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double tolerance_weight(const dae_ivp *ivp, int i, double size)
{
    return larger(ivp->rtol[i] * size + ivp->atol[i], DBL_MIN);
}

/* Weights before there is a result: s_i = max(|y_i|, atol_i/rtol_i). */
static void initial_weights(const mexx *s, const double *y, double *weight)
{
    for (int i = 0; i < s->ny; i++) {
        weight[i] = tolerance_weight(s->ivp, i, fmax(fabs(y[i]), s->ivp->atol[i] / s->ivp->rtol[i]));
    }
}

/* f, T v and F at the right end: all rows of the next step begin with them. */
static int evaluate_end(mexx *s, double t)
{
    const double *x = s->x1, *p = x, *v = p + s->np, *u = v + s->nv, *lambda = x + s->ny + s->nv;
    int r = dae_mechanics_force(&s->aux, t, p, v, u, lambda, s->f1);
    if (!r) r = dae_mechanics_kinematics(&s->aux, t, p, v, s->pdot1);
    if (!r && s->friction) r = dae_mechanics_friction(&s->aux, t, p, v, u, lambda, s->F1);
    return r;
}

/* Adds row j (from 1) to the tableau: T_j1 = row. [MEXX] (2.6); in tableau: T_jk. A part of the components at a time, which stays
 * near the processor. */
static void extrapolate(mexx *s, int j)
{
    enum { PART = 512 };
    size_t nx = (size_t)s->nx;
    double old[PART];
    for (size_t first = 0; first < nx; first += PART) {
        size_t n = nx - first < PART ? nx - first : PART;
        const double *x = s->row + (size_t)(j - 1) * nx + first;
        double *restrict T = s->tableau + first; /* T_(j-1),k -> T_jk */
        for (size_t i = 0; i < n; i++) {
            old[i] = T[i];
            T[i] = x[i];
        }
        for (int k = 1; k < j; k++) {
            const double *restrict left = T;
            double c = 1 / ((double)mexx_steps[j - 1] / mexx_steps[j - 1 - k] - 1);
            T += nx;
            for (size_t i = 0; i < n; i++) {
                double above = T[i];
                T[i] = left[i] + c * (left[i] - old[i]);
                old[i] = above;
            }
        }
    }
}

static double mean_square(int n, const double *x, const double *y, const double *w)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double r = fabs(x[i] - y[i]) / w[i];
        r = r < 1e20 ? r : 1e20; /* also if it is no number */
        sum += r * r;
    }
    return n ? sum / n : 0;
}

/* Extrapolation makes the rounding errors of p, v or u, which are relative to the largest entry, larger by some hundred: the
 * tolerance of a small entry cannot be below that. */
static void add_rounding(int n, const double *x, double *w)
{
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    for (int i = 0; i < n; i++) w[i] = fmax(w[i], ROUNDING * size);
}

/* e_j from the last two columns of row j, [MEXX] (2.7), with the weights of this row. */
static double row_error(mexx *s, int j)
{
    const double *T = s->tableau + (size_t)(j - 1) * (size_t)s->nx, *before = T - s->nx, *w = s->weight;
    for (int i = 0; i < s->ny; i++)
        s->weight[i] = tolerance_weight(s->ivp, i, larger(fabs(T[i]), fabs(s->x0[i])));
    int v = s->np, u = s->np + s->nv;
    if (s->near_rounding) {
        add_rounding(s->np, T, s->weight);
        add_rounding(s->nv, T + v, s->weight + v);
        add_rounding(s->nu, T + u, s->weight + u);
    }
    double sum = mean_square(s->np, T, before, w) + mean_square(s->nv, T + v, before + v, w + v) +
                 mean_square(s->nu, T + u, before + u, w + u);
    return isfinite(sum) ? sqrt(sum) : 1e20;
}

static double largest_step(const mexx *s)
{
    double room = fabs(s->ivp->t_end - s->s->t_first);
    return s->ivp->opt->h_max > 0 ? fmin(s->ivp->opt->h_max, room) : room;
}

static void add_counters(dae_mechanics_counters *n, const dae_mechanics_counters *more)
{
    n->nfcn += more->nfcn;
    n->nsol += more->nsol;
    n->f += more->f;
    n->lu += more->lu;
    n->solves += more->solves;
    n->undefined += more->undefined;
}

/* A row is a task, its substeps are the pieces: the threads share the rows evenly although some are long. What a row counts and
 * whether it asks for an anchor is kept with it until it is used: rows ahead of need must not show. */
static int row_piece(void *object, int task, int piece, int thread)
{
    mexx *s = object;
    mexx_worker *w = &s->w[thread];
    mexx_row *row = &s->result[task];
    int failed = atomic_load(&s->failed);
    if (failed < task) return 1; /* nobody will look */
    dae_mechanics_counters before = w->x.n;
    int stale = dae_saddle_mark(w->saddle, 0);
    w->x.n = (dae_mechanics_counters){0};
    row->outcome = dae_mexx_substep(s, w, task, piece, s->H);
    row->stale |= dae_saddle_mark(w->saddle, stale);
    add_counters(&row->n, &w->x.n);
    w->x.n = before;
    if (row->outcome == ROW_FINE) return 0;
    while (task < failed && !atomic_compare_exchange_weak(&s->failed, &failed, task)) {
    }
    return 1;
}

/* Row j (from 1): computed now, or by several threads. */
static int take_row(mexx *s, int j)
{
    mexx_row *row = &s->result[j - 1];
    int K = s->s->K;
    if (!s->pool) return dae_mexx_row(s, s->w, j - 1, s->H);
    if (j == 1) dae_pool_start(s->pool, K, K + 1, mexx_steps, row_piece, s);
    dae_pool_wait(s->pool, j - 1);
    add_counters(&s->w->x.n, &row->n);
    if (row->stale) dae_saddle_mark(s->w->saddle, 1);
    return row->outcome;
}

/* Which rows the step will need, from the errors of row j and before: they fall by a factor that shrinks somewhat as n_j grows. (Were it
 * H/n_j as in theory, the exponent below would be 1.) Only the order of the work depends on it. */
static void foresee(const mexx *s, int j, int whole)
{
    const mexx_state *st = s->s;
    const double *e = s->e;
    if (!s->pool || j < FORESEE || !(e[j] < e[j - 2])) return;
    int k = j, least = whole ? 2 : st->rejected ? st->K : st->K - 1;
    double factor = sqrt(e[j] / e[j - 2]), middle = sqrt((double)mexx_steps[j - 2] * mexx_steps[j - 1]),
           error = e[j];
    while (k <= st->K && error > 1) error *= factor * sqrt(middle / mexx_steps[k++]);
    dae_pool_need(s->pool, k > least ? k : least);
}

/* Computes row j (from 1) and judges it. */
static int next_row(mexx *s, int j, double H, int whole, double *e_old)
{
    int r = take_row(s, j);
    if (r) return r;
    extrapolate(s, j);
    if (j == 1) return ROW_FINE;
    double e = s->e[j] = row_error(s, j), root = 1.0 / (j - 1), limit = pow(SHRINK, root);
    double phi = fmin(fmax(pow(e / TARGET, root) / SAFETY, limit), GROW / limit);
    s->Hj[j] = fmin(H / phi, largest_step(s));
    s->W[j] = s->A[j] / s->Hj[j];
    dae_log(s->ivp->opt, DAE_LOG_ITER, "t=%.10g H=%.4g row=%d error=%.3g h_optimal=%.4g work=%.4g", s->s->t,
            H, j, e, s->Hj[j], s->W[j]);
    if (j >= 3 && e >= *e_old) return ROW_UNSTABLE;
    foresee(s, j, whole);
    *e_old = fmax(e, TARGET);
    return ROW_FINE;
}

typedef enum outcome { ACCEPT, REJECT, UNSTABLE, STOP } outcome;

static outcome worse(int r)
{
    return r == ROW_STOP ? STOP : UNSTABLE;
}

/* The tableau of one attempt. *kappa: last row used. */
static outcome fill_tableau(mexx *s, double H, int whole, int *kappa)
{
    mexx_state *st = s->s;
    int K = st->K, r, fixed = s->ivp->opt->fixed_step > 0;
    double e_old = 0;
    for (int j = 1; fixed && j <= K; j++) { /* order studies: no judgement */
        r = next_row(s, j, H, 0, &(double){INFINITY});
        if (r) return worse(r);
        *kappa = j;
        if (j == K) return ACCEPT;
    }
    for (int j = 1; j <= K; j++) {
        if (!whole && j == K && K > 2 && !st->rejected) { /* convergence monitor */
            if (s->e[K - 1] <= 1) return ACCEPT;
            if (s->e[K - 1] > (double)mexx_steps[K] * mexx_steps[K - 1]) return REJECT;
        }
        r = next_row(s, j, H, whole, &e_old);
        if (r) return worse(r);
        *kappa = j;
        if (j >= 2 && (whole || j == K) && s->e[j] <= 1) return ACCEPT;
    }
    if (s->e[K] > mexx_steps[K]) return REJECT;
    r = next_row(s, K + 1, H, whole, &e_old);
    if (r) return worse(r);
    *kappa = K + 1;
    return s->e[K + 1] <= 1 ? ACCEPT : REJECT;
}

static outcome attempt(mexx *s, double H, int whole, int *kappa)
{
    memset(s->result, 0, sizeof s->result);
    atomic_store(&s->failed, MEXX_ROWS);
    s->t0 = s->s->t;
    s->H = s->ivp->direction * H;
    outcome o = fill_tableau(s, H, whole, kappa);
    atomic_store(&s->failed, -1); /* rows that still run are not wanted */
    dae_pool_settle(s->pool);
    return o;
}

static void after_reject(mexx *s, int kappa)
{
    mexx_state *st = s->s;
    if (st->K > kappa) st->K = kappa;
    if (st->K > 2 && s->W[st->K - 1] < DOWN * s->W[st->K]) st->K--;
    st->H = s->Hj[st->K];
    st->rejected = 1;
}

/* Order and size of the next step. */
static void after_accept(mexx *s, int kappa)
{
    mexx_state *st = s->s;
    int best = kappa, most = s->opt.max_rows - 1;
    const double *W = s->W;
    if (kappa == 2) {
        best = st->rejected ? 2 : 3;
    } else if (kappa <= st->K) {
        if (W[kappa - 1] < DOWN * W[kappa]) best = kappa - 1;
        if (W[kappa] < UP * W[kappa - 1]) best = kappa + 1 < most ? kappa + 1 : most;
    } else {
        best = kappa - 1;
        if (kappa > 3 && W[kappa - 2] < DOWN * W[kappa - 1]) best = kappa - 2;
        if (W[kappa] < UP * W[best]) best = kappa < most ? kappa : most;
    }
    if (st->rejected) {
        st->K = best < kappa ? best : kappa;
        st->H = fmin(st->H, s->Hj[st->K]);
        st->rejected = 0;
    } else {
        st->H =
            best <= kappa ? s->Hj[best] : fmin(s->Hj[kappa] * s->A[kappa + 1] / s->A[kappa], largest_step(s));
        st->K = best;
    }
}

/* Projects x1 onto the constraints. */
static int project_end(mexx *s, double t, dae_projection *change)
{
    double *p = s->x1, *v = p + s->np;
    int r = dae_mechanics_project_position(&s->aux, s->position, 0, t, p, s->weight, change);
    if (!r) r = dae_mechanics_project_velocity(&s->aux, s->velocity, 0, t, p, v, s->weight + s->np, change);
    return r;
}

/* Gives all solvers the matrices of (t, p) to build on: those of all threads the same. */
static void set_anchors(mexx *s, double t, const double *p, const double *F)
{
    dae_mechanics *x = &s->aux;
    const double *M;
    if (dae_mechanics_mass(x, t, p, x->M, &M) || dae_mechanics_jacobian(x, t, p, NULL, x->G)) return;
    if (s->friction) dae_parts_upper(&x->parts, x->G, F, s->w->U);
    int bad = 0;
    for (int k = 0; k < s->threads; k++)
        bad |= dae_saddle_anchor(s->w[k].saddle, M, x->G, s->friction ? s->w->U : NULL);
    if (s->velocity != s->w->saddle) bad |= dae_saddle_anchor(s->velocity, M, x->G, NULL);
    bad |= dae_mechanics_position_jacobian(x, t, p) != 0;
    if (s->position != s->velocity) bad |= dae_saddle_anchor(s->position, M, x->C, NULL);
    dae_log(s->ivp->opt, DAE_LOG_INFO, "t=%.10g anchor=%s analyses=%ld", t, bad ? "failed" : "new",
            dae_saddle_analyses(s->w->saddle));
}

/* ---- Start ---------------------------------------------------------------------------------------- */

static dae_status consistent_start(mexx *s, double t)
{
    dae_projection change = {0};
    int r = project_end(s, t, &change);
    if (r) return dae_mechanics_bad_start(&s->aux, s->velocity, r, t, &change);
    dae_log(s->ivp->opt, DAE_LOG_INFO, "t=%.10g projection position=%.3g velocity=%.3g", t, change.position,
            change.velocity);
    return DAE_OK;
}

/* a and lambda at (t, y): needed at the start by friction, later by dense output and by who asks. */
static int solve_z(mexx *s, double t, double *x)
{
    double *p = x, *v = p + s->np, *u = v + s->nv, *a = x + s->ny, *lambda = a + s->nv;
    dae_saddle *saddle = s->aux.m->dfdlambda && !s->friction ? s->exact : s->w->saddle;
    dae_mechanics_counters before = s->aux.n;
    int r =
        dae_mechanics_accelerations(&s->aux, saddle, t, s->s->t_first, s->ivp->t_stop, p, v, u, a, lambda);
    s->aux.n = before; /* not part of the integration */
    return r;
}

static int first_order(const mexx *s)
{
    double tolerance = INFINITY;
    for (int i = 0; i < s->ny; i++) tolerance = fmin(tolerance, s->ivp->atol[i] + s->ivp->rtol[i]);
    int K = (int)floor(1.5 - 0.6 * log10(tolerance)), most = s->opt.max_rows - 2;
    if (K > most) K = most;
    if (K < 3) K = 3;
    return K < s->opt.max_rows ? K : s->opt.max_rows - 1;
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    mexx *s = self;
    mexx_state *st = s->s;
    (void)yp;
    double room = fabs(s->ivp->t_stop - t);
    *st = (mexx_state){.t = t, .t_first = t, .first = 1};
    s->t_projected = NAN;
    dae_copy(s->ny, y, s->x1);
    initial_weights(s, y, s->weight);
    dae_zero(s->nv + s->nl, s->x1 + s->ny);
    if (!s->friction) set_anchors(s, t, s->x1, NULL); /* one beginning for all threads */
    dae_status status = consistent_start(s, t);
    if (status) return status;
    int r = 0;
    if (s->aux.m->dfdlambda) {
        r = solve_z(s, t, s->x1);
        st->known_z1 = !r;
    }
    if (!r) r = evaluate_end(s, t);
    if (!r && s->friction) set_anchors(s, t, s->x1, s->F1);
    dae_mechanics_residuals(&s->aux, t, s->x1, s->x1 + s->np);
    dae_mechanics_count(&s->aux);
    if (r)
        return dae_ivp_fail(s->ivp, r < 0 ? DAE_ERR_CALLBACK : DAE_ERR_UNDEFINED,
                            "t = %g: the forces cannot be evaluated at the initial values", t);
    st->K = s->opt.rows ? s->opt.rows : first_order(s);
    st->H = fmin(fmin(h > 0 ? h : fmin(FIRST_STEP, 0.01 * room), room), largest_step(s));
    if (s->ivp->opt->fixed_step > 0) st->H = s->ivp->opt->fixed_step;
    s->ivp->y = s->x1;
    s->ivp->h_next = s->ivp->direction * st->H;
    s->ivp->order = st->K;
    return DAE_OK;
}

/* ---- The step ------------------------------------------------------------------------------------- */

/* The left end of the step is the right end of the last one. */
static void move_left(mexx *s)
{
    dae_copy(s->nx, s->x1, s->x0);
    dae_copy(s->nv, s->f1, s->f0);
    dae_copy(s->np, s->pdot1, s->pdot0);
    if (s->friction) dae_copy(s->nv * s->nl, s->F1, s->F);
    s->s->known_z0 = s->s->known_z1;
    s->s->dense = 0;
    s->t_projected = NAN;
}

/* A tableau was accepted: project, evaluate the right end. Returns 0, > 0: try a smaller step, < 0: stop. */
static int finish(mexx *s, double H, int kappa, dae_projection *change)
{
    mexx_state *st = s->s;
    double t = fabs(s->ivp->t_stop - st->t) == H ? s->ivp->t_stop : st->t + s->ivp->direction * H;
    dae_copy(s->nx, s->tableau + (size_t)(kappa - 1) * (size_t)s->nx, s->x1);
    int r = project_end(s, t, change);
    if (r < 0) return r;
    if (r > 0) {
        st->H = UNSTABLE_H * H;
        return 1;
    }
    double c = change->position > PROJECTION ? change->position : change->velocity;
    if (c > PROJECTION && !(s->ivp->opt->fixed_step > 0)) {
        st->H = H * fmax(PROJECT_H, 0.9 / c);
        return 1;
    }
    r = evaluate_end(s, t);
    if (r > 0) st->H = UNSTABLE_H * H;
    if (r) return r;
    st->H_taken = s->ivp->direction * H;
    st->kappa = kappa;
    st->known_z1 = 1;
    s->ivp->t_old = st->t;
    s->ivp->t = st->t = t;
    return 0;
}

static void renew_anchors(mexx *s)
{
    if (!dae_saddle_stale(s->w->saddle) && !dae_saddle_stale(s->velocity) && !dae_saddle_stale(s->position))
        return;
    set_anchors(s, s->s->t, s->x0, s->F);
}

static dae_status give_up(mexx *s, double H)
{
    if (s->near_rounding) {
        return dae_ivp_fail(s->ivp, DAE_ERR_STEP_TOO_SMALL,
                            "t = %.10g: the step fell to %.3g after %ld rejections; rounding limits the "
                            "accuracy here: ask for "
                            "rtol and atol of 1e-11 or more",
                            s->s->t, H, s->ivp->stats->rejected);
    }
    return dae_ivp_fail(
        s->ivp, DAE_ERR_STEP_TOO_SMALL,
        "t = %.10g: the step fell to %.3g after %ld rejections; a singular position, dry friction without "
        "its Jacobian, or a stiff system? (radau5 takes stiff ones)",
        s->s->t, H, s->ivp->stats->rejected);
}

static dae_status step(void *self)
{
    mexx *s = self;
    mexx_state *st = s->s;
    dae_ivp *ivp = s->ivp;
    double smallest = 10 * DBL_EPSILON * fmax(fabs(st->t), st->H);
    move_left(s);
    renew_anchors(s);
    for (;;) {
        double room = fabs(ivp->t_stop - st->t), H = st->H;
        int last = H >= STRETCH * room, kappa = 1, K = st->K;
        if (last) H = st->H = room;
        int at_once = last && !st->rejected && H > 0; /* what is left may be as short as it is */
        if (!at_once && (!(H > smallest) || H < ivp->opt->h_min)) return give_up(s, H);
        dae_projection change = {0};
        dae_copy(s->ny, s->weight, s->weight0);
        ivp->stats->steps++;
        outcome o = attempt(s, H, st->first || last, &kappa);
        st->first = 0;
        int r = o == ACCEPT ? finish(s, H, kappa, &change) : 0;
        for (int k = 0; k < s->threads; k++) dae_mechanics_count(&s->w[k].x);
        dae_mechanics_count(&s->aux);
        dae_log(ivp->opt, DAE_LOG_STEP,
                "t=%.10g H=%.6g aim=%d rows=%d outcome=%s position_change=%.2g velocity_change=%.2g", st->t,
                H, K, kappa,
                o == ACCEPT   ? (r ? "projection" : "accepted")
                : o == REJECT ? "rejected"
                              : "unstable",
                change.position, change.velocity);
        if (o == STOP || r < 0) {
            return dae_says_stopped(ivp, st->t, "a user function");
        }
        if (o == ACCEPT && !r) {
            if (ivp->opt->fixed_step > 0) st->H = ivp->opt->fixed_step;
            else after_accept(s, kappa);
            break;
        }
        ivp->stats->rejected++;
        if (o == REJECT) after_reject(s, kappa);
        if (o == UNSTABLE) st->H = UNSTABLE_H * H;
        st->rejected = 1;
    }
    ivp->stats->accepted++;
    dae_mechanics_residuals(&s->aux, st->t, s->x1, s->x1 + s->np);
    ivp->y = s->x1;
    ivp->h_next = ivp->direction * st->H;
    ivp->order = st->kappa;
    return DAE_OK;
}

/* ---- Dense output, accelerations and multipliers -------------------------------------------------- */

/* What the driver has to know to keep the solution. */
static void tell_pieces(mexx *s)
{
    s->ivp->dense_degree =
        s->s->degree + (s->s->rough ? 6 : 0); /* what projection adds is smooth, but no polynomial */
    s->ivp->dense_break = s->s->halves ? s->ivp->t_old + s->s->H_taken / 2 : NAN;
}

/* One row more than the step needed, for the dense output; not part of the integration. */
static int add_row(mexx *s, int j)
{
    dae_mechanics_counters before = s->w->x.n;
    int stale = dae_saddle_mark(s->w->saddle, 0);
    s->t0 = s->ivp->t_old;
    int r = dae_mexx_row(s, s->w, j, s->s->H_taken);
    dae_saddle_mark(s->w->saddle, stale);
    s->w->x.n = before;
    return r;
}

/* Derivatives that only the dense output needs: z at the start of the run, u' at both ends. Then its coefficients. */
static void prepare_dense(mexx *s)
{
    mexx_state *st = s->s;
    if (!st->known_z0 && solve_z(s, s->ivp->t_old, s->x0)) { /* not there: the first substeps are near it */
        dae_copy(s->nv, s->sample + s->np, s->x0 + s->ny);
        dae_copy(s->nl, s->sample + s->ny, s->x0 + s->ny + s->nv);
    }
    st->known_z0 = 1;
    for (int end = 0; s->nu && end < 2; end++) {
        const double *x = end ? s->x1 : s->x0;
        dae_mechanics_dynamics(&s->aux, end ? s->ivp->t : s->ivp->t_old, x, x + s->np, x + s->np + s->nv,
                               x + s->ny + s->nv, s->u0 + end * s->nu);
    }
    int rows = st->kappa, more = dae_mexx_dense_build(s, rows);
    while (more && rows < s->opt.max_rows && add_row(s, rows) == ROW_FINE) {
        double before = st->dense_error;
        more = dae_mexx_dense_build(s, ++rows) && st->dense_error < WORTH * before;
    }
    if (strcmp(s->opt.dense_projection, "auto") != 0) st->rough = !strcmp(s->opt.dense_projection, "on");
    tell_pieces(s);
    dae_log(s->ivp->opt, DAE_LOG_STEP,
            "t=%.10g dense_degree=%d dense_rows=%d dense_pieces=%d dense_error=%.3g", st->t, st->degree, rows,
            1 + st->halves, st->dense_error);
}

/* The polynomials alone. */
static void polynomial(mexx *s, double t, double *y, double *yp, double *lambda)
{
    if (!s->s->dense) prepare_dense(s);
    dae_mexx_dense_at(s, (t - s->ivp->t_old) / s->s->H_taken, y, yp, lambda);
}

/* The factors of the position projection serve the velocities too: p has moved little. */
static int project(void *self, double t, double *y)
{
    mexx *s = self;
    dae_projection change;
    dae_mechanics_counters before = s->aux.n;
    int same = s->position == s->velocity && s->aux.ng > 0;
    int r = dae_mechanics_project_position(&s->aux, s->position, 0, t, y, s->weight, &change);
    if (!r)
        r = dae_mechanics_project_velocity(&s->aux, s->velocity, same, t, y, y + s->np, s->weight + s->np,
                                           &change);
    s->aux.n = before; /* not part of the integration */
    if (y != s->point) dae_copy(s->ny, y, s->point);
    s->t_projected = r ? NAN : t;
    return r;
}

/* y alone is a result: on the constraints where the polynomials are less accurate than the tolerance. y with y' is what
 * the search for events looks at, many times. */
static void interpolate(void *self, double t, double *y, double *yp)
{
    mexx *s = self;
    if (t == s->ivp->t && !yp) {
        dae_copy(s->ny, s->x1, y);
        return;
    }
    if (t == s->ivp->t && (!s->nu || s->s->dense)) { /* no polynomial is needed */
        dae_copy(s->ny, s->x1, y);
        dae_copy(s->np, s->pdot1, yp);
        dae_copy(s->nv, s->x1 + s->ny, yp + s->np);
        dae_copy(s->nu, s->u0 + s->nu, yp + s->np + s->nv);
        return;
    }
    polynomial(s, t, y, yp, NULL);
    if (yp || !s->s->rough || t == s->ivp->t_old) return;
    if (project(s, t, y)) polynomial(s, t, y, NULL, NULL);
}

static int multipliers(void *self, double t, double *a, double *lambda)
{
    mexx *s = self;
    double *x = s->point, *z = x + s->ny;
    int r = 0;
    if (t == s->ivp->t || s->ivp->t == s->ivp->t_old) {
        dae_copy(s->nx, s->x1, x);
    } else {
        int known = t == s->t_projected;
        polynomial(s, t, known ? NULL : x, NULL,
                   s->aux.m->dfdlambda ? z + s->nv : NULL); /* lambda: a guess */
        if (!known) r = project(s, t, x);
    }
    if (!r) r = solve_z(s, t, x);
    s->t_projected = NAN;
    if (a) dae_copy(s->nv, z, a);
    if (lambda) dae_copy(s->nl, z + s->nv, lambda);
    return r;
}

/* The solvers rebuild from the arena what they keep outside of it. */
static int load(void *self, const void *buffer, size_t size)
{
    mexx *s = self;
    (void)buffer;
    s->t_projected = NAN;
    if (s->s->dense) tell_pieces(s);
    int bad = size != 0;
    for (int k = 0; k < s->threads; k++) bad |= dae_saddle_load(s->w[k].saddle, NULL, 0);
    if (s->velocity != s->w->saddle) bad |= dae_saddle_load(s->velocity, NULL, 0);
    if (s->position != s->velocity) bad |= dae_saddle_load(s->position, NULL, 0);
    if (s->exact) bad |= dae_saddle_load(s->exact, NULL, 0);
    return bad;
}

/* ---- Descriptor ------------------------------------------------------------------------------------ */

static const dae_option options[] = {
    {"max_rows", DAE_OPTION_INT, offsetof(mexx_options, max_rows), MEXX_ROWS, NULL, 4, MEXX_ROWS, NULL, "",
     "rows of the extrapolation tableau at most; the order is at most one more"},
    {"rows", DAE_OPTION_INT, offsetof(mexx_options, rows), 0, NULL, 0, MEXX_ROWS - 1, NULL, "",
     "rows to begin with (with fixed_step: always); 0: from the tolerance"},
    {"dense_max_degree", DAE_OPTION_INT, offsetof(mexx_options, dense_max_degree), 0, NULL, 0, MEXX_ROWS,
     NULL, "", "degree of the dense output at most (graphics); 0: that of the step"},
    {"dense_projection", DAE_OPTION_NAME, offsetof(mexx_options, dense_projection), 0, "auto", 1, 0,
     "auto|on|off", "",
     "points inside a step are moved onto the constraints; auto: where the interpolation is less accurate "
     "than the tolerance"},
    {"friction_jacobian", DAE_OPTION_NAME, offsetof(mexx_options, friction_jacobian), 0, "auto", 1, 0,
     "auto|on|off", "", "modified discretization (2.2) with df/dlambda; auto: where the system gives it"},
    {"linear_algebra", DAE_OPTION_NAME, offsetof(mexx_options, linear_algebra), 0, "auto", 1, 0,
     DAE_SADDLE_MODES, "", "solver of the saddle-point systems"},
    {0}};

const dae_method dae_method_mexx = {
    .info = {.name = "mexx",
             .title = "extrapolated half-explicit Euler method for constrained mechanical systems",
             .literature = "Lubich, Engstler, Nowak, Poehle: MEXX, Konrad-Zuse-Zentrum Berlin SC 92-12",
             .summary = "orders 3 to 13 with order control, projection onto position and velocity "
                        "constraints, dense output",
             .order_min = 2,
             .order_max = 13,
             .kinds = 1u << DAE_KIND_MECH,
             .max_index = 3,
             .checkpoint = 1,
             .options = options},
    .option_size = sizeof(mexx_options),
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .multipliers = multipliers,
    .project = project,
    .destroy = destroy,
    .load = load,
};
