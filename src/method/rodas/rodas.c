/* rodas4p2, rodas5, rodas5p: Rosenbrock methods for M y' = f(t,y), ODEs and DAEs of index 1. With J = df/dy, f_t = df/dt at
 * (t, y) and one LU of E = M/(h gamma) - J:
 *
 *     E u_i = f(t + alpha_i h, y + sum_j a_ij u_j) + M (sum_j c_ij u_j)/h + gamma_i h f_t,    i = 1 .. s
 *     y_new = y + sum m_i u_i,    error estimate u_s
 *
 * [HW] section IV.7. One Jacobian per accepted step, one factorization per attempt, no iteration; stiffly accurate and
 * L-stable, so that algebraic equations hold at t + h to the order of the tolerance. kernels.c makes the attempts.
 *
 *   rodas4p2  6 stages, order 4(3)   [STE20]; order 2 with any J, order 3 on the problem of Prothero and Robinson
 *   rodas5    8 stages, order 5(4)   [DIM93]; its order falls to 1 there, but its error constants are small
 *   rodas5p   8 stages, order 5(4)   [STE23]; as rodas4p2
 *
 * Error: root mean square over e/(atol + rtol max(|y|, |y_new|)), algebraic variables too. Steps as in RODAS: with p the
 * order, h_new = h/clip(err^(1/p)/0.9, 1/6, 5), accepted when err <= 1, then the predictive controller of Gustafsson; no growth
 * right after a rejection. Dense output with theta = (t - t_old)/h, K_r = sum_i H_ri u_i, [HW] (IV.7.28):
 *     y(theta) = (1 - theta) y + theta (y_new + (1 - theta) (K_1 + theta (K_2 + theta K_3))).
 * Ours: u_s of rodas5, and every other of its combinations of order 4, vanishes for y' = f(t), so that a driven component was taken in
 * any step; unless the system is autonomous dense output has to fulfil the equations inside of the step, too (slope_error), one evaluation
 * more. Values that are off the algebraic equations at the start are moved onto them (consistent); "cannot be
 * evaluated" halves the step; f at the new point is computed before the point is taken. */
#include "method/rodas/rodas.h"
#include "method/refine.h"

#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/small.h"
#include "method/failure.h"
#include "method/setup.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#define SAFETY 0.9        /* RODAS */
#define GROW (1.0 / 6)    /* RODAS fac1: h_new <= 6 h */
#define SHRINK 5.0        /* RODAS fac2: h_new >= h/5 */
#define ERR_ACC_MIN 0.01  /* RODAS: errors below do not count in the predictive controller */
#define LAST_STRETCH 1.01 /* ours: take the rest if it is at most this many steps */
#define SINGULAR_MAX 5    /* RODAS */
#define LEAST 1e-100      /* ours: smallest step at t = 0, where rounding sets no limit */
#define GAP 0.75          /* ours: between the last two points alpha_i of rodas5, 0.484 and 1 */
#define CONSISTENT_MAX 10 /* ours: iterations towards consistent values */
/* ours: of the interval; differential variables move by h y', which is below rounding then */
#define CONSISTENT_STEP 1e-14
#define CONSISTENT_OFF 1e-2 /* ours: in units of the tolerance, what is left alone */

typedef struct options {
    const char *kernels; /* "auto" or "general" */
} options;

/* Survives in a checkpoint. */
typedef struct state {
    double t_old, t, h, h_next;
    double h_acc, err_acc; /* of the last accepted step */
    long accepted;         /* since the last reset */
    int stages;            /* u belongs to the last step: dense output is there */
} state;

typedef struct rodas {
    dae_rodas_work w; /* its vectors, and y0, f0, ft, J with their sizes as below */
    dae_rodas_attempt *attempt;
    state *s;
    dae_ivp *ivp;
    int n, last; /* stages of the method */
    int has_ft;
    double *y, *y0, *f0, *f1, *ft; /* n: at t; at t_old; f there and at t; df/dt */
    double *J;                     /* in the layout of ivp->jacobian */
    double *dense_J;               /* n*n, fixed sizes: J where that layout is another one */
    dae_refine refine;             /* ODEs only */
    dae_small_band band;           /* fixed sizes: M */
} rodas;

/* ---- Life -------------------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    rodas *m = self;
    if (!m) return;
    dae_shifted_destroy(m->w.linear);
    free(m);
}

/* Room of the kernels of fixed size, and M as they want it. */
static void take_fixed(rodas *m, dae_arena *a)
{
    dae_rodas_work *w = &m->w;
    size_t n = (size_t)m->n;
    w->lu = dae_arena_reals(a, n * n);
    w->inverse = dae_arena_reals(a, n);
    w->perm = dae_arena_ints(a, n);
    if (m->ivp->jacobian.storage != DAE_DENSE) m->dense_J = dae_arena_reals(a, n * n);
    w->J = m->dense_J ? m->dense_J : m->J;
    if (!w->mass.n) return;
    m->band = dae_small_band_of(&w->mass, m->n);
    w->band = &m->band;
}

static void *create(dae_ivp *ivp, const dae_rodas_table *table, const options *option, dae_error *err)
{
    rodas *m = calloc(1, sizeof *m);
    if (!m) goto memory;
    dae_arena *a = ivp->arena;
    dae_rodas_work *w = &m->w;
    size_t n = (size_t)ivp->n;
    m->ivp = w->ivp = ivp;
    m->n = w->n = ivp->n;
    m->last = table->stages;
    w->table = table;
    w->count = table->stages;
    w->mass = dae_ivp_mass(ivp);
    w->second = ivp->sys->structure.second_order;
    m->has_ft = !ivp->sys->structure.autonomous;
    int fixed = strcmp(option->kernels, "general") && !ivp->linear_solver && !ivp->jacobian.columns;
    m->attempt = fixed ? dae_rodas_fixed(ivp->n, table) : NULL;
    w->ld = m->attempt ? ivp->n : (ivp->n + 7) / 8 * 8;
    ivp->exact_jacobian = ivp->no_iteration = 1;
    m->s = dae_arena_take(a, 1, sizeof *m->s);
    double **vector[] = {&m->y, &m->y0, &m->f0, &m->f1, &m->ft, &w->stage, &w->f, &w->x, &w->y1};
    double *block = dae_arena_reals(a, n * (sizeof vector / sizeof *vector));
    w->u = dae_arena_reals(a, (size_t)w->ld * (size_t)table->stages);
    m->J = dae_arena_reals(a, (size_t)dae_pattern_count(&ivp->jacobian, ivp->n));
    if (ivp->sys->kind == DAE_KIND_ODE) dae_refine_create(&m->refine, ivp, table->order);
    if (dae_arena_failed(a)) goto memory;
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) *vector[k] = block + k * n;
    w->y0 = m->y0;
    w->f0 = m->f0;
    w->ft = m->has_ft ? m->ft : NULL;
    w->J = m->J;
    if (m->attempt) {
        take_fixed(m, a);
        if (dae_arena_failed(a)) goto memory;
        dae_ivp_solves_fixed(ivp);
    } else {
        m->attempt = dae_rodas_general();
        w->linear = dae_setup_solver(ivp, &w->mass, w->second, err);
        if (!w->linear) {
            destroy(m);
            return NULL;
        }
    }
    ivp->y = m->y;
    ivp->order = table->order;
    return m;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a Rosenbrock method on %d equations", ivp->n);
    destroy(m);
    return NULL;
}

static void *create_rodas4p2(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, &dae_rodas4p2_table, option, err);
}

static void *create_rodas5(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, &dae_rodas5_table, option, err);
}

static void *create_rodas5p(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, &dae_rodas5p_table, option, err);
}

static dae_status evaluation_failed(rodas *m, int r, const char *where)
{
    return dae_says_not_evaluated(m->ivp, r, m->s->t, "the system", where);
}

/* ---- Jacobian ------------------------------------------------------------------------------------------------ */

/* J and f_t at (t, y0), where f is f0. */
static int derivatives(rodas *m)
{
    int r = dae_ivp_jacobian(m->ivp, m->s->t, m->y0, m->f0, m->J);
    if (!r && m->dense_J) dae_pattern_to_dense(&m->ivp->jacobian, m->n, m->J, m->dense_J);
    if (!r && m->has_ft) r = dae_ivp_dfdt(m->ivp, m->s->t, m->y0, m->f0, m->ft);
    return r;
}

/* ---- Start ----------------------------------------------------------------------------------------------------- */

/* DAEs: Newton's method for the algebraic equations. (M/h - J) d = f has for h -> 0 the correction of the algebraic
 * variables as its solution, and h y' for the others, whatever M is; here as a step of the method itself, whose first
 * stage is u_1. Returns what an evaluation returned. */
static int consistent(rodas *m, double t)
{
    dae_ivp *ivp = m->ivp;
    double room = fabs(dae_ivp_piece_end(ivp) - t);
    double h = ivp->direction * (room > 0 ? room : 1) * CONSISTENT_STEP / m->w.table->gamma;
    for (int k = 0; k < CONSISTENT_MAX; k++) {
        dae_copy(m->n, m->y, m->y0);
        dae_copy(m->n, m->f1, m->f0);
        int r = derivatives(m);
        const double *ft = m->w.ft;
        m->w.ft = NULL;
        m->w.count = 1;
        if (!r) r = m->attempt(&m->w, t, h, t);
        m->w.count = m->last;
        m->w.ft = ft;
        if (r) return r < 0 ? r : 0; /* singular, or nothing near can be evaluated: the steps will tell */
        double off = 0;
        for (int i = 0; i < m->n; i++) {
            double d = m->w.u[i] / (ivp->atol[i] + ivp->rtol[i] * fabs(m->y[i]) + DBL_MIN);
            off = fmax(off, fabs(d));
        }
        if (!(off > CONSISTENT_OFF) || !isfinite(off)) return 0;
        dae_log(ivp->opt, DAE_LOG_INFO, "t=%.10g inconsistent=%.3g", t, off);
        for (int i = 0; i < m->n; i++) m->y[i] += m->w.u[i];
        r = dae_ivp_f(ivp, t, m->y, m->f1);
        if (r) return r;
    }
    return 0;
}

/* As radau's: changes y by half its tolerance, 1 % of the interval at most. */
static double first_step(const rodas *m, const double *yp, double room)
{
    const dae_ivp *ivp = m->ivp;
    double sum = 0;
    for (int i = 0; i < m->n; i++) {
        double v = yp[i] / (ivp->atol[i] + ivp->rtol[i] * fabs(m->y[i]) + DBL_MIN);
        sum += v * v;
    }
    double v = sqrt(sum / m->n), h = fmin(0.01 * room, v > 0 ? 0.5 / v : 0.01 * room);
    if (!(h > 0)) h = 1e-6 * room;
    return fmax(h, 40 * DBL_EPSILON * fabs(ivp->t));
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    rodas *m = self;
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int ode = ivp->sys->kind == DAE_KIND_ODE, r = 0;
    if (y != m->y) dae_copy(m->n, y, m->y);
    *s = (state){.t_old = t, .t = t};
    ivp->t_old = ivp->t = t;
    if (ode && yp) { /* f(t,y), not counted yet */
        dae_copy(m->n, yp, m->f1);
        ivp->stats->f++;
    } else {
        r = dae_ivp_f(ivp, t, m->y, m->f1);
    }
    if (!r && m->w.mass.n) {
        dae_stats *stats = ivp->stats, kept = *stats;
        r = consistent(m, t);
        stats->lu = kept.lu; /* what it evaluates counts, its factors are not those of steps */
        stats->jac = kept.jac;
    }
    if (r) return evaluation_failed(m, r, "at the start");
    dae_copy(m->n, m->y, m->w.y1);
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    else if (!(h > 0)) h = first_step(m, yp ? yp : m->f1, fabs(dae_ivp_piece_end(ivp) - t));
    s->h_next = ivp->opt->fixed_step > 0 ? ivp->direction * h : dae_setup_limited(ivp, h);
    ivp->h_next = s->h_next;
    return DAE_OK;
}

/* ---- The step ---------------------------------------------------------------------------------------------------- */

/* f, J and f_t at the start of the step. */
static int begin(rodas *m)
{
    int r = 0;
    if (memcmp(m->y, m->w.y1, (size_t)m->n * sizeof *m->y) == 0) dae_copy(m->n, m->f1, m->f0);
    else r = dae_ivp_f(m->ivp, m->s->t, m->y, m->f0); /* somebody changed y */
    dae_copy(m->n, m->y, m->y0);
    m->s->stages = 0;
    return r ? r : derivatives(m);
}

static double root(double x, int p) /* x^(1/p) */
{
    if (p == 4) return sqrt(sqrt(x));
    return (double)powf((float)x, 0.2f); /* as exact as a step size need be */
}

static double clip(double x)
{
    return x < GROW ? GROW : x > SHRINK ? SHRINK : x;
}

/* The step after one of size h that passed with this error. */
static double next_step(rodas *m, double h, double err, long rejected)
{
    state *s = m->s;
    int p = m->w.table->order;
    err = fmax(err, 1e-10);
    double fac = clip(root(err, p) / SAFETY);
    if (s->accepted > 0) {
        double predicted = fabs(s->h_acc / h) * root(err * err / s->err_acc, p) / SAFETY;
        fac = fmax(fac, clip(predicted));
    }
    s->h_acc = h;
    s->err_acc = fmax(ERR_ACC_MIN, err);
    return h / (rejected && fac < 1 ? 1 : fac);
}

/* The polynomial that the method has, at theta in [0, 1] of a step of size h. */
static void own_polynomial(const rodas *m, double theta, double h, double *y, double *yp)
{
    const dae_rodas_table *tab = m->w.table;
    double rest = 1 - theta;
    for (int i = 0; i < m->n; i++) {
        double k = 0, dk = 0; /* K_1 + theta (K_2 + ...), and its derivative */
        for (int r = tab->dense - 1; r >= 0; r--) {
            double sum = 0;
            for (int j = 0; j < tab->stages; j++)
                sum += tab->H[r][j] * m->w.u[(size_t)j * (size_t)m->w.ld + (size_t)i];
            dk = k + theta * dk;
            k = sum + theta * k;
        }
        double y0 = m->y0[i], y1 = m->w.y1[i];
        if (y) y[i] = rest * y0 + theta * (y1 + rest * k);
        if (yp) yp[i] = (y1 - y0 + (1 - 2 * theta) * k + theta * rest * dk) / h;
    }
}

/* *e = |E^-1 (M y' - f)| in the norm of the error, with y and y' of dense output at GAP. Returns what f returned. */
static int slope_error(rodas *m, double h, double *e)
{
    dae_rodas_work *w = &m->w;
    double *slope = w->mass.n ? w->f : w->x, sum = 0;
    own_polynomial(m, GAP, h, w->stage, slope);
    if (w->mass.n) dae_matrix_multiply(&w->mass, m->n, slope, w->x);
    int r = dae_ivp_f(m->ivp, m->s->t + GAP * h, w->stage, w->f);
    if (r) return r;
    dae_axpy(m->n, -1, w->f, w->x);
    dae_rodas_solve(w, w->x);
    for (int i = 0; i < m->n; i++) {
        double size = fmax(fabs(m->y0[i]), fabs(w->y1[i]));
        double q = w->x[i] / (m->ivp->atol[i] + m->ivp->rtol[i] * size);
        sum += q * q;
    }
    *e = sqrt(sum / m->n);
    return 0;
}

/* One attempt. 0: *err is the norm of its error; DAE_RODAS_SINGULAR; else > 0: cannot be evaluated; < 0: stop. */
static int attempt(rodas *m, double h, double t1, double *err)
{
    dae_ivp *ivp = m->ivp;
    dae_rodas_work *w = &m->w;
    ivp->stats->steps++;
    *err = NAN;
    int r = m->attempt(w, m->s->t, h, t1);
    if (r) return r;
    *err = sqrt(w->square / m->n);
    if (ivp->opt->fixed_step > 0 && isfinite(*err)) *err = 0;
    if (!(*err <= 1)) return 0;
    r = dae_ivp_project(ivp, t1, w->y1);
    if (!r) r = dae_ivp_f(ivp, t1, w->y1, m->f1);
    if (r || !w->table->blind || !m->has_ft || ivp->opt->fixed_step > 0) return r;
    double other = 0;
    r = slope_error(m, h, &other);
    *err = fmax(*err, other);
    return r;
}

static void accept(rodas *m, double h, double t1, double h_next)
{
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    dae_copy(m->n, m->w.y1, m->y);
    if (ivp->sys->kind == DAE_KIND_ODE) dae_refine_begin(&m->refine, m->y0);
    s->t_old = s->t;
    s->t = t1;
    s->h = h;
    s->h_next = h_next;
    s->stages = m->last;
    s->accepted++;
    ivp->stats->accepted++;
    ivp->t_old = s->t_old;
    ivp->t = t1;
    ivp->h_next = h_next;
}

static dae_status too_small(rodas *m, double h, long rejected)
{
    return dae_ivp_fail(
        m->ivp, DAE_ERR_STEP_TOO_SMALL,
        "t = %.10g: step fell to %.3g (h_min %.3g) after %ld rejections; singularity or jump in the "
        "right-hand side, a wrong Jacobian, or inconsistent initial values?",
        m->s->t, fabs(h), m->ivp->opt->h_min, rejected);
}

/* What h becomes after an attempt that failed, r and err as attempt left them. */
static double shorter(const rodas *m, int r, double err, double h)
{
    if (r) return 0.5 * h;
    return isfinite(err) ? h / clip(root(err, m->w.table->order) / SAFETY) : 0.1 * h;
}

static dae_status step(void *self)
{
    rodas *m = self;
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int fixed = ivp->opt->fixed_step > 0, singular = 0;
    double goal = dae_ivp_piece_end(ivp), rest = goal - s->t, err = 0;
    if (ivp->direction * rest <= 0) return DAE_OK;
    int r = begin(m);
    if (r) return evaluation_failed(m, r, "at the start of a step");
    double h = s->h_next, stretch = ivp->opt->h_max > 0 && fabs(rest) > ivp->opt->h_max ? 1 : LAST_STRETCH;
    for (long rejected = 0;; rejected++) {
        int last = stretch * fabs(h) >= fabs(rest);
        double wanted = h, t1 = last ? goal : s->t + h;
        if (last) h = rest;
        double least = fmax(10 * DBL_EPSILON * fabs(s->t), LEAST);
        if ((fabs(h) <= least || fabs(h) < ivp->opt->h_min) && !fixed && !last)
            return too_small(m, h, rejected);
        r = attempt(m, h, t1, &err);
        if (r < 0) return evaluation_failed(m, r, "in a step");
        if (r == DAE_RODAS_SINGULAR && (fixed || ++singular >= SINGULAR_MAX))
            return dae_ivp_fail(
                ivp, DAE_ERR_SINGULAR,
                "t = %.10g: the matrix M/(h gamma) - J is singular, also with h = %.3g; the index may "
                "be above 1, or a variable may not occur",
                s->t, h);
        if (fixed && (r || !isfinite(err))) return evaluation_failed(m, 1, "in a step of fixed size");
        if (r == 0 && err <= 1) {
            double next = fixed ? wanted : next_step(m, h, err, rejected);
            if (last && !rejected && fabs(next) < fabs(wanted)) next = wanted;
            accept(m, h, t1, fixed ? next : dae_setup_limited(ivp, next));
            return DAE_OK;
        }
        if (!r && !isfinite(err)) ivp->stats->undefined++;
        dae_log(ivp->opt, DAE_LOG_STEP, "t=%.10g h=%.4g err=%.3g rejected=%s", s->t, h, err,
                r ? "undefined" : "error");
        ivp->stats->rejected++;
        h = shorter(m, r, err, h);
    }
}

/* ---- Dense output -------------------------------------------------------------------------------------------------- */

static void guess(void *self, double t, double *y)
{
    const rodas *m = self;
    own_polynomial(m, (t - m->s->t_old) / m->s->h, m->s->h, y, NULL);
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    rodas *m = self;
    if (!m->s->stages) { /* no step yet */
        if (y) dae_copy(m->n, m->y, y);
        if (yp) dae_copy(m->n, m->f1, yp);
        return;
    }
    dae_refine_step s = {.k = m->w.table->order, .y1 = m->w.y1, .guess = guess, .self = m};
    int fine = y && m->ivp->sys->kind == DAE_KIND_ODE && m->ivp->opt->fixed_step <= 0;
    if (!fine || !dae_refine_interpolate(&m->refine, &s, t, y, yp))
        own_polynomial(m, (t - m->s->t_old) / m->s->h, m->s->h, y, yp);
}

static size_t save(const void *self, void *buffer)
{
    const rodas *m = self;
    return m->w.linear ? dae_shifted_save(m->w.linear, buffer) : 0;
}

static int load(void *self, const void *buffer, size_t size)
{
    rodas *m = self;
    return m->w.linear ? dae_shifted_load(m->w.linear, buffer, size) : size != 0;
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------------ */

static const dae_option option_table[] = {{"kernels", DAE_OPTION_NAME, offsetof(options, kernels), 0, "auto",
                                           0, 0, "auto|general", "",
                                           "auto: systems of 2 to 6 or 8 equations run in code made for "
                                           "their size; general: they do not (same results)"},
                                          {.name = NULL}};

#define METHOD(key, title_, literature_, summary_, order_)         \
    const dae_method dae_method_##key = {                          \
        .info = {.name = #key,                                     \
                 .title = title_,                                  \
                 .literature = literature_,                        \
                 .summary = summary_,                              \
                 .order_min = order_,                              \
                 .order_max = order_,                              \
                 .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE, \
                 .max_index = 1,                                   \
                 .implicit = 1,                                    \
                 .checkpoint = 1,                                  \
                 .projects = 1,                                    \
                 .options = option_table},                         \
        .option_size = sizeof(options),                            \
        .create = create_##key,                                    \
        .reset = reset,                                            \
        .step = step,                                              \
        .interpolate = interpolate,                                \
        .destroy = destroy,                                        \
        .save = save,                                              \
        .load = load,                                              \
    }

METHOD(rodas4p2, "Rosenbrock 4(3), stiffly accurate, linearly implicit", "[STE20], [HW] section IV.7",
       "small stiff ODEs and DAEs of index 1 at crude and medium tolerances; exact Jacobians", 4);
METHOD(rodas5, "Rosenbrock 5(4) of Di Marzo, stiffly accurate, linearly implicit",
       "[DIM93], [HW] section IV.7",
       "as rodas5p; fewer steps where stiff components are at rest, order reduction where they are driven",
       5);
METHOD(rodas5p, "Rosenbrock 5(4), stiffly accurate, linearly implicit", "[STE23], [HW] section IV.7",
       "stiff ODEs and DAEs of index 1 at medium tolerances; exact Jacobians", 5);
