/* The step of an explicit Runge-Kutta method: stages, error test, step size, stiffness test, dense output.
 *
 * Control as in the programs DOPRI5 and DOP853 of [HNW] II.5 and its appendix: PI controller of [HW] IV.2,
 *     h_new = h / clip(err^(1/q - w beta) / err_old^beta / safety),   w = 0.75 (0.2 for order 8)
 * with q the order of the error estimate; no growth right after a rejection. From order 8 on, where errors grow from step to
 * step the next one is predicted from that ([HW] IV.8, Gustafsson), and the smaller of both sizes is taken, as RADAU5 does:
 *     h_new = safety h (h/h_old) (err_old / err^2)^(1/q)
 * (dopri5 takes the published steps.) Ours: jumps of f inside of a step are seen; a step whose function cannot be evaluated is
 * halved; the step size proposed before the last step was cut to meet t_end is remembered; the derivative at a y that somebody changed
 * after the step is computed anew. */
#include "method/erk/erk.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "method/choose.h"
#include "method/failure.h"

#include <float.h>
#include <stdlib.h>

#define LAST_STRETCH 1.01 /* DOPRI5: take the rest if it is at most this many steps */
#define STIFF_HITS 15     /* DOPRI5: stiff after this many */
#define STIFF_CALM 6      /* DOPRI5: suspicion ends after this many steps without */
#define AUTO_HITS 6       /* ours: of "auto", which counts what is left besides */
#define AUTO_REST \
    125 /* ours: ... at least so many time constants: stages do not tell oscillation from decay */
#define AUTO_EVERY 10  /* ... and where the test costs an evaluation looks so often */
#define AUTO_FIRST 32  /* ours: ... and asks the power method after so many steps, twice as many, and so on */
#define AUTO_SOON 8    /* ours: ... already from here on where the stages show such a rate */
#define AUTO_SURE 0.85 /* ours: ... if it is at this part of the bound */
#define AUTO_PART 0.5  /* ours: ... whose rate counts from this part of the bound on */
#define AUTO_SIZE 32   /* ... which has its room on the stack up to this size */
/* ours: an error so many times larger than that of the step before lets expect is that of a jump (DETEST, dop853 and vern9: class F
 * takes 1.16 times the steps, the smooth ones 1.005 times; with 30 1.015 times) */
#define ROUGH 100
#define ROUGH_MIN 0.1 /* ours: smallest ratio of two steps at a jump */
/* log 1e-4: what an error counts at least in the next step (DOPRI5, FACOLD) */
#define LOG_ERR_MIN (-9.210340371976182)

#define DOP853_TOP 7 /* degree of its dense output */
#define VERN8_TOP 8
#define VERN9_TOP 9
#define BEGIN 1e-10 /* ours: of a step: so near to its begin the solution is straight, up to rounding */

/* ---- Sums over stages --------------------------------------------------------------------------- */

#ifdef __GNUC__
typedef double four __attribute__((vector_size(32), may_alias));

/* out = y + h sum a_j k_j of 4 m components from i on, with the sums in registers; 0: all of them are finite, for then x - x is 0. */
DAE_KERNEL_BODY double sum_fours(const int m, int i, const double *restrict y, double h,
                                 const dae_erk_row *row, double *restrict out)
{
    const four *k = (const four *)(row->term[0].k + i), *from = (const four *)(y + i);
    double a = row->term[0].a;
    four s0 = a * k[0], s1 = {0}, s2 = {0}, s3 = {0}, *to = (four *)(out + i);
    if (m > 1) s1 = a * k[1];
    if (m > 2) s2 = a * k[2];
    if (m > 3) s3 = a * k[3];
    for (int j = 1, count = row->count; j < count; j++) {
        k = (const four *)(row->term[j].k + i);
        a = row->term[j].a;
        s0 += a * k[0];
        if (m > 1) s1 += a * k[1];
        if (m > 2) s2 += a * k[2];
        if (m > 3) s3 += a * k[3];
    }
    to[0] = s0 = from[0] + h * s0;
    s0 -= s0;
    if (m > 1) to[1] = s1 = from[1] + h * s1, s0 += s1 - s1;
    if (m > 2) to[2] = s2 = from[2] + h * s2, s0 += s2 - s2;
    if (m > 3) to[3] = s3 = from[3] + h * s3, s0 += s3 - s3;
    return (s0[0] + s0[1]) + (s0[2] + s0[3]);
}

/* 1: all of it is finite. Vectors of a method have room for all of their last four, with zeros in it (core/arena.h). */
DAE_KERNEL_BODY int sum_row(int n, const double *y, double h, const dae_erk_row *row, double *out)
{
    double off = 0;
    int i = 0;
    for (; n - i > 12; i += 16) off += sum_fours(4, i, y, h, row, out);
    if (n - i > 8) off += sum_fours(3, i, y, h, row, out);
    else if (n - i > 4) off += sum_fours(2, i, y, h, row, out);
    else if (n - i > 0) off += sum_fours(1, i, y, h, row, out);
    return off == 0;
}

#define ADD(name, n_)                                                                                       \
    DAE_KERNEL(int, name, (int n, const double *y, double h, const dae_erk_row *row, double *out), (void)n; \
               return sum_row(n_, y, h, row, out))
ADD(add_4, 4)
ADD(add_8, 8)
ADD(add_12, 12)
ADD(add_16, 16)
ADD(add_any, n)

static dae_erk_sum *sum_for(int n)
{
    switch ((n + 3) / 4) {
    case 1: return DAE_KERNEL_PICK(add_4, 0);
    case 2: return DAE_KERNEL_PICK(add_8, 0);
    case 3: return DAE_KERNEL_PICK(add_12, 0);
    case 4: return DAE_KERNEL_PICK(add_16, 0);
    default: return DAE_KERNEL_PICK(add_any, 0);
    }
}
#else
static int add_any(int n, const double *y, double h, const dae_erk_row *row, double *out)
{
    for (int i = 0; i < n; i++) {
        double sum = row->term[0].a * row->term[0].k[i];
        for (int j = 1; j < row->count; j++) sum += row->term[j].a * row->term[j].k[i];
        out[i] = y[i] + h * sum;
    }
    return dae_all_finite(n, out);
}

static dae_erk_sum *sum_for(int n)
{
    (void)n;
    return add_any;
}
#endif

/* ---- Life -------------------------------------------------------------------------------------- */

static void row_fill(dae_erk *m, int i, const double *a, int most)
{
    dae_erk_row *row = &m->row[i];
    row->count = 0;
    for (int j = 0; j < most; j++) {
        if (a[j] != 0) row->term[row->count++] = (dae_erk_term){a[j], m->k[j]};
    }
}

/* What dense output needs: its stages, then its coefficients. */
static void rows_for_dense(dae_erk *m)
{
    const dae_erk_table *tab = m->table;
    if (m->dense_rows) return;
    for (int i = tab->fsal + 1; i < tab->total; i++) row_fill(m, i, tab->a[i], i);
    for (int j = 0; j < tab->dense; j++) row_fill(m, tab->total + j, tab->d[j], tab->total);
    m->dense_rows = 1;
}

static double *next(double **block, size_t length)
{
    double *first = *block;
    *block += length;
    return first;
}

void *dae_erk_create(dae_ivp *ivp, const dae_erk_table *table, const void *option, dae_error *err)
{
    dae_erk *m = calloc(1, sizeof *m);
    if (!m) goto fail;
    int stages = table->total + table->spare, dense = 4 + table->dense;
    size_t n = ((size_t)ivp->n + 7) / 8 * 8; /* whole fours, and lines of the cache */
    m->ivp = ivp;
    m->table = table;
    m->option = option;
    m->n = ivp->n;
    m->sum = sum_for(m->n);
    m->s = dae_arena_take(ivp->arena, 1, sizeof *m->s);
    double *block = dae_arena_reals(ivp->arena, n * (size_t)(7 + stages + dense));
    if (table->refine) dae_refine_create(&m->refine, ivp, table->refine);
    m->row = malloc((size_t)(table->total + table->dense) * sizeof *m->row);
    if (dae_arena_failed(ivp->arena) || !m->row) goto fail;
    m->y = next(&block, n);
    m->y0 = next(&block, n);
    m->y1 = next(&block, n);
    m->stage = next(&block, n);
    m->zero = next(&block, n);
    m->w = next(&block, 2 * n);
    for (int j = 0; j < stages; j++) m->k[j] = next(&block, n);
    for (int j = 0; j < dense; j++) m->r[j] = next(&block, n);
    for (int i = 1; i < table->stages; i++) row_fill(m, i, table->a[i], i);
    ivp->y = m->y;
    ivp->order = table->order;
    ivp->dense_degree = table->refine > 3 + table->dense ? table->refine : 3 + table->dense;
    ivp->dense_break = NAN;
    return m;
fail:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for an explicit method on %d equations", ivp->n);
    dae_erk_destroy(m);
    return NULL;
}

void dae_erk_destroy(void *self)
{
    dae_erk *m = self;
    if (m) free(m->row);
    free(m);
}

static dae_status evaluation_failed(dae_erk *m, int r, const char *where)
{
    return dae_says_not_evaluated(m->ivp, r, m->ivp->t, "the right-hand side", where);
}

/* Limits |h| by h_max and gives it the direction of the run. */
static double signed_step(const dae_erk *m, double h)
{
    double size = fabs(h), h_max = m->ivp->opt->h_max;
    if (h_max > 0 && size > h_max) size = h_max;
    return m->ivp->direction * size;
}

dae_status dae_erk_reset(void *self, double t, const double *y, const double *yp, double h)
{
    dae_erk *m = self;
    dae_ivp *ivp = m->ivp;
    dae_erk_state *s = m->s;
    double *f = m->k[m->table->fsal];
    if (y != m->y) dae_copy(m->n, y, m->y);
    dae_copy(m->n, m->y, m->y1);
    s->t_old = s->t = t;
    s->h = 0;
    s->log_err = LOG_ERR_MIN;
    s->dense = s->hits = s->calm = s->reported = 0;
    if (m->table->refine) dae_refine_begin(&m->refine, NULL);
    ivp->t_old = ivp->t = t;
    if (yp) { /* f(t,y), not counted yet */
        dae_copy(m->n, yp, f);
        ivp->stats->f++;
    } else {
        int r = dae_ivp_f(ivp, t, m->y, f);
        if (r) return evaluation_failed(m, r, "at the start");
    }
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    else if (h == 0) h = dae_ivp_first_step(ivp, t, m->y, f, m->table->estimate - 1);
    s->h_next = ivp->opt->fixed_step > 0 ? ivp->direction * h : signed_step(m, h);
    ivp->h_next = s->h_next;
    return DAE_OK;
}

/* ---- Stages ------------------------------------------------------------------------------------ */

/* What was made of k[0] .. k[last] is not finite: notes which of them is not. All of them may be, where the sum is too large. */
static int refused(dae_erk *m, int last)
{
    for (int j = 0; j <= last; j++) {
        if (!dae_all_finite(m->n, m->k[j])) return dae_ivp_not_finite(m->ivp, m->n, m->k[j]);
    }
    return 1;
}

/* k[1] .. k[stages-1], and y1 where the last stage is at it; t1 = t + h as rounded. Values that are not finite are seen in the next
 * stage, or by who looks at the error. */
static int stages(dae_erk *m, double t, double h, double t1)
{
    const dae_erk_table *tab = m->table;
    for (int i = 1; i < tab->stages; i++) {
        double *Y = i == tab->fsal ? m->y1 : m->stage;
        if (!m->sum(m->n, m->y0, h, &m->row[i], Y)) return refused(m, i - 1);
        int r = dae_ivp_f_unchecked(m->ivp, tab->c[i] == 1 ? t1 : t + tab->c[i] * h, Y, m->k[i]);
        if (r) return r;
    }
    return 0;
}

/* ---- Stiffness --------------------------------------------------------------------------------- */

static int judged_f(double t, const double *y, double *f, void *user)
{
    return dae_ivp_f(user, t, y, f);
}

/* h rho as the stages show it, num/den = rho^2. */
static void by_stages(const dae_erk *m, double *num, double *den)
{
    const double *ka = m->k[m->table->fsal], *kb = m->k[m->table->compare];
    *num = *den = 0;
    for (int i = 0; i < m->n; i++) {
        double dk = ka[i] - kb[i], dy = m->y1[i] - m->stage[i];
        *num += dk * dk;
        *den += dy * dy;
    }
}

/* At tight tolerances the stages differ by what the slow motions do, and the test below finds their rates: whether the fastest
 * that decays bounds the steps, and goes on to. */
static int held_by_decay(dae_erk *m, double h, double rest)
{
    long k = m->s->accepted;
    double num, den, near = (k < AUTO_FIRST ? AUTO_SURE : AUTO_PART) * m->table->stiff_bound;
    if (m->n > AUTO_SIZE || k < AUTO_SOON || (k & (k - 1))) return 0;
    if (k < AUTO_FIRST) {
        if (m->table->other) return 0;
        by_stages(m, &num, &den);
        if (!(h * h * num > near * near * den)) return 0;
    }
    dae_ode ode = {.n = m->n, .f = judged_f, .user = m->ivp};
    double rate = dae_fastest_decay(&ode, m->s->t, m->y1);
    return rate * fabs(h) > near && rate * fabs(rest) > m->ivp->stiff_above;
}

/* DOPRI5's test after an accepted step. 0, 1: stiff, news; < 0: the right-hand side asked to stop. A run of "auto" looks at
 * once, and counts the time constants that are left: rest rho, rho^2 = num/den. */
static int stiffness(dae_erk *m, double h)
{
    dae_erk_state *s = m->s;
    const dae_erk_table *tab = m->table;
    double above = m->ivp->stiff_above, rest = m->ivp->t_end - s->t;
    int every = m->option->stiff_test, hits = above > 0 ? AUTO_HITS : STIFF_HITS;
    double least = fmax(above, AUTO_REST);
    if (above > 0) every = tab->other ? AUTO_EVERY : 1;
    if (s->reported) return 0;
    if (above > 0 && held_by_decay(m, h, rest)) {
        s->reported = 1;
        return 1;
    }
    if (!every || (s->accepted % every && !s->hits)) return 0;
    if (tab->other) {
        int r = tab->other(m, h);
        if (r) return r < 0 ? r : 0;
    }
    double num, den;
    by_stages(m, &num, &den);
    if (den > 0 && h * h * num > tab->stiff_bound * tab->stiff_bound * den) {
        s->calm = 0;
        if (++s->hits >= hits && (!(above > 0) || rest * rest * num > least * least * den)) {
            s->reported = 1;
            return 1;
        }
    } else if (s->hits && ++s->calm == STIFF_CALM) {
        s->hits = s->calm = 0;
    }
    return 0;
}

/* ---- The step ---------------------------------------------------------------------------------- */

/* k[0] = f(t, y): known, unless y was changed since. */
static int begin(dae_erk *m)
{
    int r = 0;
    if (memcmp(m->y, m->y1, (size_t)m->n * sizeof *m->y) == 0) dae_copy(m->n, m->k[m->table->fsal], m->k[0]);
    else r = dae_ivp_f(m->ivp, m->s->t, m->y, m->k[0]);
    dae_copy(m->n, m->y, m->y0);
    m->s->dense = 0;
    if (m->table->refine) dae_refine_begin(&m->refine, m->y0);
    return r;
}

/* The ratio h_new / h, after a step h with an error whose logarithm is log_err. After a rejection err alone counts. */
static double new_ratio(const dae_erk *m, double h, double log_err, int accepted)
{
    const dae_erk_option *o = m->option;
    const dae_erk_state *s = m->s;
    int high = m->table->order >= 8;
    double q = m->table->estimate, weight = high ? 0.2 : 0.75; /* EXPO1 of DOP853 and DOPRI5 */
    double e = -(1 / q - weight * o->beta) * log_err;
    if (accepted) e += o->beta * s->log_err;
    if (accepted && high && s->h != 0) {
        double predicted = (s->log_err - 2 * log_err) / q + log(h / s->h);
        if (predicted < e) e = predicted;
    }
    double ratio = o->safety * exp(e);
    if (ratio < o->factor_min) ratio = o->factor_min;
    if (ratio > o->factor_max) ratio = o->factor_max;
    return ratio;
}

static dae_status too_small(dae_erk *m, double h, long rejected)
{
    double h_min = m->ivp->opt->h_min;
    if (fabs(h) < h_min) {
        return dae_ivp_fail(m->ivp, DAE_ERR_STEP_TOO_SMALL,
                            "t = %.10g: step fell to %.3g (h_min %.3g) after %ld rejections; lower h_min or "
                            "loosen the tolerances; stiff? try radau5",
                            m->ivp->t, fabs(h), h_min, rejected);
    }
    return dae_ivp_fail(m->ivp, DAE_ERR_STEP_TOO_SMALL,
                        "t = %.10g: step fell to %.3g, the rounding level of t, after %ld rejections; "
                        "singularity or jump in the right-hand side? stiff? try radau5",
                        m->ivp->t, fabs(h), rejected);
}

/* An attempt that failed before in the same step; h = 0: none. */
typedef struct before {
    double h, seen;
} before;

/* The estimate by which jumps are seen. */
static double seen(const dae_erk *m, double err)
{
    return m->table->low ? m->low : err;
}

/* What is tested: the estimate err, and where f jumps inside of the step as much more as the estimate may hide of it. At a jump the
 * error falls with h only, not with h^q: seen where a rejected step is repeated, or after a step that lets expect far less. Steps that
 * cannot be much shorter are taken. */
static double doubted(const dae_erk *m, double h, double err, const before *b)
{
    const dae_erk_state *s = m->s;
    int q = m->table->low ? m->table->low : m->table->estimate, rough = 0;
    double now = seen(m, err);
    double least = fmax(10 * DBL_EPSILON * fabs(s->t), m->ivp->opt->h_min);
    if (!(err <= 1) || ROUGH_MIN * fabs(h) <= least) return err;
    if (b->h != 0) rough = now > b->seen * pow(h / b->h, 0.5 * q);
    else if (s->h != 0 && now > ROUGH * s->seen) /* shorter ones meet other motions */
        rough = now > ROUGH * s->seen * fmax(1, pow(h / s->h, q));
    return rough ? fmax(err, m->table->hidden * now) : err;
}

/* One attempt. 0: *err is the norm of its error, accepted where *tested is at most 1; > 0: cannot be evaluated; < 0: stop. */
static int attempt(dae_erk *m, double h, double t1, const before *b, double *err, double *tested)
{
    const dae_erk_table *tab = m->table;
    int fixed = m->ivp->opt->fixed_step > 0;
    m->ivp->stats->steps++;
    int r = stages(m, m->s->t, h, t1);
    if (r) return r;
    *err = tab->error(m, h);
    if (!isfinite(*err)) return refused(m, tab->stages - 1);
    if (fixed) *err = 0;
    *tested = doubted(m, h, *err, b);
    if (!(*tested <= 1)) return 0;
    r = dae_ivp_project(m->ivp, t1, m->y1);
    if (!r && (tab->fsal == tab->stages || m->ivp->project))
        r = dae_ivp_f(m->ivp, t1, m->y1, m->k[tab->fsal]);
    return r;
}

static void accept(dae_erk *m, double h, double t1, double h_next)
{
    dae_ivp *ivp = m->ivp;
    dae_erk_state *s = m->s;
    dae_copy(m->n, m->y1, m->y);
    s->t_old = s->t;
    s->t = t1;
    s->h = h;
    s->h_next = h_next;
    s->accepted++;
    ivp->stats->accepted++;
    ivp->t_old = s->t_old;
    ivp->t = t1;
    ivp->h_next = h_next;
}

dae_status dae_erk_step(void *self)
{
    dae_erk *m = self;
    dae_ivp *ivp = m->ivp;
    dae_erk_state *s = m->s;
    int fixed = ivp->opt->fixed_step > 0;
    double dir = ivp->direction, goal = dir * (ivp->t_stop - ivp->t_end) < 0 ? ivp->t_stop : ivp->t_end;
    double rest = goal - s->t, err = 0;
    if (dir * rest <= 0) return DAE_OK;
    int r = begin(m);
    if (r) return evaluation_failed(m, r, "at the state that was set after the last step");

    double h = s->h_next, tested = 0;
    before b = {0, 0};
    for (long rejected = 0;;) {
        double wanted = h, t1 = s->t + h;
        double stretch = ivp->opt->h_max > 0 && fabs(rest) > ivp->opt->h_max ? 1 : LAST_STRETCH;
        int last = stretch * fabs(h) >= fabs(rest), at_once = last && !rejected;
        if (!at_once && (0.1 * fabs(h) <= DBL_EPSILON * fabs(s->t) || (fabs(h) < ivp->opt->h_min && !fixed)))
            return too_small(m, h, rejected);
        if (last) {
            h = rest;
            t1 = goal;
        }
        r = attempt(m, h, t1, &b, &err, &tested);
        if (r < 0) return evaluation_failed(m, r, "in a step");
        if (r > 0 && fixed) return evaluation_failed(m, r, "in a step of fixed size");
        if (r == 0 && tested <= 1) {
            double log_err = log(err > 1e-30 ? err : 1e-30);
            double next = h * new_ratio(m, h, log_err, 1);
            if (rejected && fabs(next) > fabs(h)) next = h;
            if (fixed || (last && !rejected && fabs(next) < fabs(wanted))) next = wanted;
            s->seen = seen(m, err);
            s->log_err = log_err > LOG_ERR_MIN ? log_err : LOG_ERR_MIN;
            accept(m, h, t1, fixed ? next : signed_step(m, next));
            break;
        }
        dae_log(ivp->opt, DAE_LOG_STEP, "t=%.10g h=%.4g err=%.3g rejected=%s", s->t, h, r ? NAN : err,
                r          ? "undefined"
                : err <= 1 ? "jump"
                           : "error");
        ivp->stats->rejected++;
        rejected++;
        b = (before){r ? 0 : h, seen(m, err)};
        if (r) h *= 0.5;
        else if (err <= 1) h *= fmax(ROUGH_MIN, 0.5 / tested);
        else h *= new_ratio(m, h, log(err), 0);
    }
    r = stiffness(m, h);
    if (r < 0) return evaluation_failed(m, r, "in the test for stiffness");
    return r ? DAE_STIFF : DAE_OK;
}

/* ---- Dense output ------------------------------------------------------------------------------ */

/* The evaluations for dense output only; 0: fine. */
static int extra_stages(dae_erk *m)
{
    const dae_erk_table *tab = m->table;
    for (int i = tab->fsal + 1; i < tab->total; i++) {
        m->sum(m->n, m->y0, m->s->h, &m->row[i], m->stage);
        int r = dae_ivp_f(m->ivp, m->s->t_old + tab->c[i] * m->s->h, m->stage, m->k[i]);
        if (r) return r;
    }
    return 0;
}

/* The coefficients of the last step. Where an extra evaluation fails the Hermite cubic remains. */
static void prepare(dae_erk *m)
{
    const dae_erk_table *tab = m->table;
    double h = m->s->h, **r = m->r;
    const double *f0 = m->k[0], *f1 = m->k[tab->fsal];
    for (int i = 0; i < m->n; i++) {
        double step = m->y[i] - m->y0[i], left = h * f0[i] - step;
        r[0][i] = m->y0[i];
        r[1][i] = step;
        r[2][i] = left;
        r[3][i] = step - h * f1[i] - left;
    }
    rows_for_dense(m);
    int failed = tab->dense > 0 && extra_stages(m);
    for (int j = 0; j < tab->dense; j++) {
        if (failed) dae_zero(m->n, r[4 + j]);
        else m->sum(m->n, m->zero, h, &m->row[tab->total + j], r[4 + j]);
    }
    m->s->dense = 1;
}

/* r_0 + x (r_1 + (1-x) (r_2 + x (r_3 + ..))) with `top` the last, and q times its derivative unless yp is NULL. */
DAE_KERNEL_BODY void nested(const int top, int n, double *const *r, double x, double q, double *restrict y,
                            double *restrict yp)
{
    for (int i = 0; i < n; i++) {
        double p = r[top][i], dp = 0;
        for (int j = top - 1; j >= 0; j--) {
            double f = j % 2 ? 1 - x : x, df = j % 2 ? -1 : 1;
            if (yp) dp = f * dp + df * p;
            p = r[j][i] + f * p;
        }
        y[i] = p;
        if (yp) yp[i] = dp * q;
    }
}

/* The polynomial that the method has. */
static void own_polynomial(dae_erk *m, double t, double *y, double *yp)
{
    if (!m->s->dense) prepare(m);
    double x = (t - m->s->t_old) / m->s->h, q = 1 / m->s->h;
    int top = 3 + m->table->dense, n = m->n;
    if (top == DOP853_TOP && yp) nested(DOP853_TOP, n, m->r, x, q, y, yp);
    else if (top == DOP853_TOP) nested(DOP853_TOP, n, m->r, x, q, y, NULL);
    else if (top == VERN8_TOP && yp) nested(VERN8_TOP, n, m->r, x, q, y, yp);
    else if (top == VERN9_TOP && yp) nested(VERN9_TOP, n, m->r, x, q, y, yp);
    else nested(top, n, m->r, x, q, y, yp);
}

static void guess(void *self, double t, double *y)
{
    own_polynomial(self, t, y, NULL);
}

static void slope(void *self, double t, double *y, double *yp)
{
    own_polynomial(self, t, y, yp);
}

void dae_erk_interpolate(void *self, double t, double *y, double *yp)
{
    dae_erk *m = self;
    int n = m->n;
    if (m->s->h == 0) { /* no step yet */
        if (y) dae_copy(n, m->y, y);
        if (yp) dae_copy(n, m->k[m->table->fsal], yp);
        return;
    }
    if (!y) y = m->w;
    double behind = t - m->s->t_old;
    if (fabs(behind) <= BEGIN * fabs(m->s->h)) { /* an event right behind a border */
        for (int i = 0; i < n; i++) y[i] = m->y0[i] + behind * m->k[0][i];
        if (yp) dae_copy(n, m->k[0], yp);
        return;
    }
    dae_refine_step s = {.k = m->table->refine, .y1 = m->y1, .guess = guess, .slope = slope, .self = m};
    int fine = s.k && m->ivp->opt->fixed_step <= 0;
    if (!fine || !dae_refine_interpolate(&m->refine, &s, t, y, yp)) own_polynomial(m, t, y, yp);
}
