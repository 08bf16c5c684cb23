/* rkc: Runge-Kutta-Chebyshev, order 2, for large mildly stiff systems with negative real spectrum (diffusion). No Jacobian,
 * no linear algebra; the number s of stages follows the step: the stability interval is about 0.65 s^2.
 *
 *     Y_0 = y,  Y_1 = y + b_1 w1 h f_0
 *     Y_j = (1 - mu_j - nu_j) y + mu_j Y_(j-1) + nu_j Y_(j-2) + mus_j h f(t + c_(j-1) h, Y_(j-1)) + gam_j h f_0
 *     mu_j = 2 b_j w0/b_(j-1),  nu_j = -b_j/b_(j-2),  mus_j = 2 b_j w1/b_(j-1),  gam_j = -a_(j-1) mus_j,  y_new = Y_s
 *
 * with w0 = 1 + eps/s^2, T_j the Chebyshev polynomials at w0, w1 = T'_s/T''_s, b_j = T''_j/T'_j^2, a_j = 1 - b_j T_j: [SSV97].
 * Error estimate 0.8 (y - y_new) + 0.4 h (f_0 + f_1). s = 1 + floor(sqrt(1 + 1.54 h rho)), where rho bounds the spectral radius
 * of df/dy: given by the option rho, or by a nonlinear power iteration, every 25 steps and after a rejection. Ours: it then starts from
 * what grew in the rejected step too, since one that ended too early would do so again.
 * Dense output: the cubic Hermite polynomial. Ours: steps that cannot be evaluated are halved. */
#include "method/method.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "method/failure.h"
#include "method/setup.h"
#include "method/undamped.h"

#include <float.h>
#include <stdlib.h>

#define DAMPING (2.0 / 13) /* [SSV97] eps */
#define STAGE_FACTOR 1.54  /* [SSV97]: s^2 - 1 >= 1.54 h rho */
#define POWER_MAX 50       /* [SSV97] iterations for rho */
#define POWER_CLOSE 0.01   /* [SSV97] relative change that ends them */
#define POWER_SAFETY 1.2   /* [SSV97] */
#define POWER_SIZE 1e-8    /* [SSV97] sqrt(uround): relative perturbation */
#define REFRESH 25         /* [SSV97] steps with one rho */
#define SAFETY 0.8         /* [SSV97] */
#define UNDAMPED 1e-5      /* ours: the tolerance from which undamped errors count more (method/undamped.h) */
#define DECAYS 0.9         /* ours: cosine between -v and df/dy v, above: v decays; 0.95 .. 1 in diffusion */
#define STIFF 300          /* ours: rho times the interval; DETEST's nonstiff problems 200, diffusion 1000 */
#define GROWN 1.5          /* ours: a step against the mean of those before, growing out of a transient */
#define LAST_STRETCH 1.01  /* ours, as in erk.c */

typedef struct options {
    double rho; /* 0: estimated */
    int max_stages;
} options;

/* Survives in a checkpoint. */
typedef struct state {
    double t_old, t, h, h_next;
    double h_acc, err_acc; /* of the last accepted step; 0: none */
    double rho;
    int age;        /* accepted steps with this rho; -1: there is none */
    int known;      /* v is a direction */
    int decays;     /* 1: along v df/dy is nearly a negative number */
    double t_begin; /* of this run or piece, and its steps so far */
    long taken;
    dae_undamped undamped;
} state;

typedef struct rkc {
    dae_ivp *ivp;
    const options *option;
    state *s;
    int n;
    double *y, *y0, *y1; /* n: at t; at t_old; attempted, and then y before anybody changed it */
    double *f0, *f1;     /* n: f there */
    double *a, *b;       /* n: stages */
    double *v;           /* n: the direction of the power iteration */
} rkc;

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    rkc *m = calloc(1, sizeof *m);
    if (m) {
        double **vector[] = {&m->y, &m->y0, &m->y1, &m->f0, &m->f1, &m->a, &m->b, &m->v};
        for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
            *vector[k] = dae_arena_reals(ivp->arena, (size_t)ivp->n);
        m->s = dae_arena_take(ivp->arena, 1, sizeof *m->s);
        m->ivp = ivp;
        m->option = option;
        m->n = ivp->n;
        ivp->y = m->y;
        ivp->order = 2;
        if (!dae_arena_failed(ivp->arena)) return m;
    }
    free(m);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for rkc on %d equations", ivp->n);
    return NULL;
}

static dae_status evaluation_failed(rkc *m, int r, const char *where)
{
    return dae_says_not_evaluated(m->ivp, r, m->s->t, "the right-hand side", where);
}

static double norm(int n, const double *x)
{
    double s[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += x[i + k] * x[i + k];
    }
    for (; i < n; i++) s[0] += x[i] * x[i];
    return sqrt((s[0] + s[1]) + (s[2] + s[3]));
}

/* rho at (t, y), f there: v_(k+1) = f(y + d v_k/|v_k|) - f(y), rho about |v|/d. 0: fine. */
static int spectral_radius(rkc *m, double t, const double *y, const double *f)
{
    state *s = m->s;
    int n = m->n, r = 0;
    s->age = 0;
    if (m->option->rho > 0) {
        s->rho = m->option->rho;
        return 0;
    }
    if (!s->known) dae_copy(n, f, m->v);
    double size = norm(n, y), last = 0, rho = 0;
    for (int i = 0; i < n && !(size > 0); i++) /* y = 0: what the tolerances tell about its size */
        size = m->ivp->atol[i] / fmax(m->ivp->rtol[i], 1e-6);
    double d = POWER_SIZE * (size > 0 ? size : 1);
    for (int k = 0; k < POWER_MAX; k++) {
        double length = norm(n, m->v);
        if (!(length > 0)) { /* no direction: any will do */
            for (int i = 0; i < n; i++) m->v[i] = 1 + 0.5 * sin(1.7 * i + 0.3);
            length = norm(n, m->v);
        }
        for (int i = 0; i < n; i++) m->a[i] = y[i] + m->v[i] * (d / length);
        r = dae_ivp_f(m->ivp, t, m->a, m->b);
        if (r > 0) { /* a border of the domain: the other side */
            for (int i = 0; i < n; i++) m->a[i] = y[i] - m->v[i] * (d / length);
            r = dae_ivp_f(m->ivp, t, m->a, m->b);
        }
        if (r) break;
        double along = 0;
        for (int i = 0; i < n; i++) {
            double change = m->b[i] - f[i];
            along += m->v[i] * change;
            m->v[i] = change;
        }
        rho = norm(n, m->v) / d;
        s->decays = -along > DECAYS * length * (rho * d);
        if (k > 0 && fabs(rho - last) <= POWER_CLOSE * rho) break;
        last = rho;
    }
    s->known = 1;
    if (r < 0) return r;
    s->rho = fmax(POWER_SAFETY * rho, r ? s->rho : 0);
    return 0;
}

/* After a rejection: where rho was too small, f grew along the direction that was missed. */
static void turn_direction(rkc *m)
{
    double grown = 0, length = norm(m->n, m->v);
    for (int i = 0; i < m->n; i++) grown += (m->f1[i] - m->f0[i]) * (m->f1[i] - m->f0[i]);
    grown = sqrt(grown);
    if (!(grown > 0 && grown <= DBL_MAX && length > 0)) return;
    for (int i = 0; i < m->n; i++) m->v[i] = m->v[i] / length + (m->f1[i] - m->f0[i]) / grown;
}

static double weight(const rkc *m, int i, const double *a, const double *b)
{
    return m->ivp->atol[i] + m->ivp->rtol[i] * fmax(fabs(a[i]), fabs(b[i])) + DBL_MIN;
}

/* [SSV97]: Euler with h = 1/rho, and a tenth of the step that its error allows. */
static int first_step(rkc *m, double t, double *h)
{
    double room = fabs(dae_ivp_piece_end(m->ivp) - t),
           trial = m->s->rho > 0 ? fmin(room, 1 / m->s->rho) : room, sum = 0;
    double step = m->ivp->direction * trial;
    for (int i = 0; i < m->n; i++) m->a[i] = m->y[i] + step * m->f1[i];
    int r = dae_ivp_f(m->ivp, t + step, m->a, m->b);
    if (r < 0) return r;
    for (int i = 0; i < m->n && !r; i++) {
        double e = trial * (m->b[i] - m->f1[i]) / weight(m, i, m->y, m->y);
        sum += e * e;
    }
    double e = r ? 1e4 : sqrt(sum / m->n);
    *h = e > 0 ? fmin(room, 0.1 * trial / sqrt(e)) : room;
    *h = fmax(*h, 100 * DBL_EPSILON * fabs(t));
    return 0;
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    rkc *m = self;
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int r = 0;
    if (y != m->y) dae_copy(m->n, y, m->y);
    dae_copy(m->n, m->y, m->y1);
    *s = (state){.t_old = t,
                 .t = t,
                 .age = -1,
                 .known = s->known,
                 .decays = s->decays,
                 .t_begin = t,
                 .rho = s->rho,
                 .undamped = s->undamped};
    dae_undamped_begin(&s->undamped, ivp, UNDAMPED, 0.5);
    ivp->t_old = ivp->t = t;
    if (yp) { /* f(t,y), not counted yet */
        dae_copy(m->n, yp, m->f1);
        ivp->stats->f++;
    } else {
        r = dae_ivp_f(ivp, t, m->y, m->f1);
    }
    if (!r) r = spectral_radius(m, t, m->y, m->f1);
    if (!r && ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    else if (!r && h == 0) r = first_step(m, t, &h);
    if (r) return evaluation_failed(m, r, "at the start");
    s->h_next = ivp->opt->fixed_step > 0 ? ivp->direction * h : dae_setup_limited(ivp, h);
    ivp->h_next = s->h_next;
    return DAE_OK;
}

/* ---- Stages ------------------------------------------------------------------------------------------------------- */

typedef struct chebyshev {
    double T, dT, ddT, a, b; /* at w0, for one j */
} chebyshev;

static chebyshev next(double w0, const chebyshev *p, const chebyshev *q) /* from j-1 and j-2 */
{
    chebyshev c = {.T = 2 * w0 * p->T - q->T,
                   .dT = 2 * w0 * p->dT - q->dT + 2 * p->T,
                   .ddT = 2 * w0 * p->ddT - q->ddT + 4 * p->dT};
    c.b = c.ddT / (c.dT * c.dT);
    c.a = 1 - c.b * c.T;
    return c;
}

/* q := k y + mu p + nu q + ms f + g f0 */
DAE_KERNEL_BODY void update_body(int n, double k, const double *restrict y, double mu,
                                 const double *restrict p, double ms, const double *restrict f, double g,
                                 const double *restrict f0, double nu, double *restrict q)
{
    for (int i = 0; i < n; i++) q[i] = k * y[i] + mu * p[i] + nu * q[i] + ms * f[i] + g * f0[i];
}

DAE_KERNEL(void, update,
           (int n, double k, const double *y, double mu, const double *p, double ms, const double *f,
            double g, const double *f0, double nu, double *q),
           update_body(n, k, y, mu, p, ms, f, g, f0, nu, q))

/* w1 = T'_s/T''_s at w0 */
static double scale_of(int s, double w0)
{
    chebyshev q = {.T = 1}, p = {.T = w0, .dT = 1};
    for (int j = 2; j <= s; j++) {
        chebyshev c = next(w0, &p, &q);
        q = p;
        p = c;
    }
    return p.dT / p.ddT;
}

/* y1 from y0 with s >= 2 stages. 0: fine. */
static int stages(rkc *m, int s, double h)
{
    double w0 = 1 + DAMPING / ((double)s * s), w1 = scale_of(s, w0);
    double t = m->s->t, c2 = 0, c1, *before = m->a, *last = m->b; /* Y_(j-2), Y_(j-1) */
    chebyshev q = {.T = 1}, p = {.T = w0, .dT = 1}, two = next(w0, &p, &q);
    q.b = p.b = two.b; /* b_0 = b_1 = b_2 */
    q.a = 1 - q.b;
    p.a = 1 - p.b * w0;
    c1 = p.b * w1;
    dae_copy(m->n, m->y0, before);
    for (int i = 0; i < m->n; i++) last[i] = m->y0[i] + h * c1 * m->f0[i];
    for (int j = 2; j <= s; j++) {
        chebyshev c = next(w0, &p, &q);
        double mu = 2 * c.b * w0 / p.b, nu = -c.b / q.b, ms = 2 * c.b * w1 / p.b, gamma = -p.a * ms;
        int r = dae_ivp_f(m->ivp, t + c1 * h, last, m->f1);
        if (r) return r;
        DAE_KERNEL_PICK(update, 0)
        (m->n, 1 - mu - nu, m->y0, mu, last, ms * h, m->f1, gamma * h, m->f0, nu, before);
        double ct = mu * c1 + nu * c2 + ms * (1 - p.a), *swap = before;
        before = last;
        last = swap;
        c2 = c1;
        c1 = ct;
        q = p;
        p = c;
    }
    dae_copy(m->n, last, m->y1);
    return dae_all_finite(m->n, m->y1) ? 0 : 1;
}

/* ---- The step -------------------------------------------------------------------------------------------------------- */

/* Stages for a step of size h; *h is shortened where they would be too many. */
static int count_of(const rkc *m, double *h, int fixed)
{
    double most = m->option->max_stages, s = 1 + floor(sqrt(1 + STAGE_FACTOR * fabs(*h) * m->s->rho));
    if (s > most && !fixed) {
        *h = m->ivp->direction * (most * most - 1) / (STAGE_FACTOR * m->s->rho);
        s = most;
    }
    return s < 2 ? 2 : s > most ? (int)most : (int)s;
}

static double error(const rkc *m, double h)
{
    double sum = 0;
    for (int i = 0; i < m->n; i++) {
        double e = 0.8 * (m->y0[i] - m->y1[i]) + 0.4 * h * (m->f0[i] + m->f1[i]);
        e /= weight(m, i, m->y0, m->y1);
        sum += e * e;
    }
    return sqrt(sum / m->n);
}

/* What an error counts more where nothing damps it (method/undamped.h). Not where steps grow out of the transient of a long run that
 * decays: they are short against 1/rho too, but what they leave is gone at the end. */
static double weight_of_error(rkc *m, double h, double t1)
{
    state *s = m->s;
    s->undamped.size = s->rho;
    double factor = dae_undamped_factor(&s->undamped, h);
    int transient = s->decays && s->rho * fabs(m->ivp->t_end - s->t_begin) > STIFF &&
                    (double)s->taken * fabs(h) > GROWN * fabs(t1 - s->t_begin);
    return transient ? 1 : factor;
}

/* One attempt. 0: *err is the norm of its error; > 0: cannot be evaluated; < 0: stop. */
static int attempt(rkc *m, int s, double h, double t1, double *err)
{
    dae_ivp *ivp = m->ivp;
    ivp->stats->steps++;
    int r = stages(m, s, h);
    if (!r) r = dae_ivp_f(ivp, t1, m->y1, m->f1);
    if (r) return r;
    *err = weight_of_error(m, h, t1) * error(m, h);
    if (!isfinite(*err)) return 1;
    if (ivp->opt->fixed_step > 0) *err = 0;
    if (!(*err <= 1) || !ivp->project) return 0;
    r = dae_ivp_project(ivp, t1, m->y1);
    return r ? r : dae_ivp_f(ivp, t1, m->y1, m->f1);
}

/* h_new/h after an accepted step: the predictive form from the second one on. */
static double growth(const rkc *m, double h, double err)
{
    const state *s = m->s;
    err = fmax(err, 1e-10);
    double r = SAFETY / cbrt(err);
    if (s->err_acc > 0) r *= fabs(h / s->h_acc) * cbrt(s->err_acc / err);
    return fmin(10, fmax(0.1, r));
}

static void accept(rkc *m, double h, double t1, double err, double h_next)
{
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    dae_copy(m->n, m->y1, m->y);
    s->t_old = s->t;
    s->t = t1;
    s->h = s->h_acc = h;
    s->err_acc = fmax(err, 1e-10);
    s->h_next = h_next;
    s->age++;
    s->taken++;
    ivp->stats->accepted++;
    ivp->t_old = s->t_old;
    ivp->t = t1;
    ivp->h_next = h_next;
}

/* f at the start of the step and a bound of the spectral radius that is not too old. */
static int begin(rkc *m)
{
    state *s = m->s;
    int r = 0;
    if (memcmp(m->y, m->y1, (size_t)m->n * sizeof *m->y) == 0) dae_copy(m->n, m->f1, m->f0);
    else r = dae_ivp_f(m->ivp, s->t, m->y, m->f0); /* somebody changed y */
    dae_copy(m->n, m->y, m->y0);
    if (!r && (s->age < 0 || s->age >= REFRESH)) r = spectral_radius(m, s->t, m->y0, m->f0);
    return r;
}

static dae_status step(void *self)
{
    rkc *m = self;
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int fixed = ivp->opt->fixed_step > 0;
    double goal = dae_ivp_piece_end(ivp), rest = goal - s->t, err = 0;
    if (ivp->direction * rest <= 0) return DAE_OK;
    int r = begin(m);
    if (r) return evaluation_failed(m, r, "at the start of a step");
    double h = s->h_next, stretch = ivp->opt->h_max > 0 && fabs(rest) > ivp->opt->h_max ? 1 : LAST_STRETCH;
    for (long rejected = 0;; rejected++) {
        double wanted = h;
        if (stretch * fabs(h) >= fabs(rest)) h = rest;
        int count = count_of(m, &h, fixed), last = h == rest;
        double t1 = last ? goal : s->t + h;
        if ((0.1 * fabs(h) <= DBL_EPSILON * fabs(s->t) || fabs(h) < ivp->opt->h_min) && !last && !fixed)
            return dae_ivp_fail(
                ivp, DAE_ERR_STEP_TOO_SMALL,
                "t = %.10g: step fell to %.3g (h_min %.3g) after %ld rejections; very stiff, or a "
                "singularity? try radau5",
                s->t, fabs(h), ivp->opt->h_min, rejected);
        r = attempt(m, count, h, t1, &err);
        if (r < 0) return evaluation_failed(m, r, "in a step");
        if (r > 0 && fixed) return evaluation_failed(m, r, "in a step of fixed size");
        if (r == 0 && err <= 1) {
            double grown = h * growth(m, h, err);
            if (fixed || (last && !rejected && fabs(grown) < fabs(wanted))) grown = wanted;
            accept(m, h, t1, err, fixed ? grown : dae_setup_limited(ivp, grown));
            return DAE_OK;
        }
        dae_log(ivp->opt, DAE_LOG_STEP, "t=%.10g h=%.4g err=%.3g stages=%d rejected=%s", s->t, h,
                r ? NAN : err, count, r ? "undefined" : "error");
        ivp->stats->rejected++;
        h *= r ? 0.1 : fmax(0.1, SAFETY / cbrt(err));
        if (s->age != 0 && !r) turn_direction(m);
        if (s->age != 0 && (r = spectral_radius(m, s->t, m->y0, m->f0)))
            return evaluation_failed(m, r, "at the start of a step");
    }
}

/* ---- Dense output ------------------------------------------------------------------------------------------------------ */

static void interpolate(void *self, double t, double *y, double *yp)
{
    const rkc *m = self;
    double h = m->s->h;
    if (h == 0) { /* no step yet */
        if (y) dae_copy(m->n, m->y, y);
        if (yp) dae_copy(m->n, m->f1, yp);
        return;
    }
    double x = (t - m->s->t_old) / h;
    for (int i = 0; i < m->n; i++) {
        double all = m->y1[i] - m->y0[i], left = h * m->f0[i] - all, right = all - h * m->f1[i] - left;
        if (y) y[i] = m->y0[i] + x * (all + (1 - x) * (left + x * right));
        if (yp) yp[i] = (all + (1 - 2 * x) * left + x * (2 - 3 * x) * right) / h;
    }
}

/* ---- Descriptor ---------------------------------------------------------------------------------------------------------- */

static const dae_option option_table[] = {
    {"rho", DAE_OPTION_REAL, offsetof(options, rho), 0, NULL, 0, 1e300, NULL, "1/s",
     "bound of the spectral radius of df/dy; 0: estimated by a power iteration"},
    {"max_stages", DAE_OPTION_INT, offsetof(options, max_stages), 2000, NULL, 2, 20000, NULL, "",
     "most stages of a step"},
    {.name = NULL}};

extern const dae_method dae_method_rkc; /* the registry declares it the same way */
const dae_method dae_method_rkc = {
    .info = {.name = "rkc",
             .title = "Runge-Kutta-Chebyshev of order 2, stabilized explicit",
             .literature = "[SSV97], [HW] section IV.2",
             .summary = "large mildly stiff systems with real negative spectrum (diffusion in 2 and 3 "
                        "dimensions), 2 to 5 digits",
             .order_min = 2,
             .order_max = 2,
             .kinds = 1u << DAE_KIND_ODE,
             .checkpoint = 1,
             .projects = 1,
             .options = option_table},
    .option_size = sizeof(options),
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = free,
};
