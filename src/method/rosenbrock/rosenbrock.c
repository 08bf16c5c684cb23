/* rosnys4, wnys2: the Rosenbrock-Nystrom methods of [RNY] for stiff mechanisms in state-space form, and for every ODE.
 *
 *     (I/(h gamma) - J) l_i = f(t + alpha_i h, y + sum_j a_ij l_j) + sum_j c_ij l_j / h + gamma_i h f_t
 *     y_new = y + sum m_i l_i,   error estimate sum (m_i - m^_i) l_i
 *
 * One Jacobian per step, one factorization per attempt. For second-order systems q'' = f(t, q, q') the positions are
 * eliminated from the linear systems (linalg/shifted.h), which leaves the matrix I/gamma - h J2 - h^2 gamma J1 of the
 * Nystrom form; both forms give the same numbers but for rounding, so that one program serves for all ODEs.
 *
 *   rosnys4  4 stages, 3 evaluations of f, order 4(3), L-stable ([RNY] tables 1, 2; two misprints corrected: the sign of
 *            gamma_21, and a_21 = 2). It needs exact derivatives: with a wrong J its order is 1.
 *   wnys2    W-method of order 2(1) ([RNY] table 3): for every J and f_t. f_t enters where the system tells it. A step
 *            size that would change by at most 5 % is held, and with it J and its factors, for 5 steps (ours): at fine
 *            tolerances four of five steps are two evaluations and three solves. Longer, and the error of J shows in the
 *            result (vdpol-mu: 20 steps cost a digit).
 *
 * Control as in [RNY] (4) to (7): root mean square over all variables, h_new = h min(5, max(0.2, 0.9 err^(-1/(q+1)))), no
 * growth right after a rejection. alpha_2 of rosnys4 is above 1: a stage may lie beyond the end of the interval, though never
 * beyond a wall (a jump, or the end with stop_at_end); there f is extrapolated linearly in t from the wall (ours).
 *
 * Dense output (ours): the cubic Hermite polynomial of both ends; for the positions of second-order systems the quintic one
 * with accelerations. f at the end of a step would spoil stiff components, since it multiplies their errors by J. The
 * derivative is that of one more stage instead, at y_new:
 *     (I/(h gamma) - J) l = f(t + h, y_new) + sum_j e_j l_j / h,   h y' = l/gamma - sum_j e_j l_j,
 * with e such that h y' is right to O(h^4) (W-method: to O(h^3)). After a restart, where no such derivative is known, that at
 * the start of the step is a combination of all these stages. tools/rosenbrock_dense.py derives both. */
#include "method/rosenbrock/rosenbrock.h"

#include "core/vector.h"
#include "linalg/shifted.h"
#include "method/failure.h"
#include "method/setup.h"

#include <float.h>
#include <stdlib.h>

enum { S = DAE_ROSENBROCK_STAGES };

/* ours: steps of one size that share a Jacobian and its factors; none after an old J has */
#define HELD_STEPS 5
#define CALM_STEPS 20 /* spoiled a step, and one more after this many steps */
/* ours, as in the explicit methods: take the rest if it is at most this many steps */
#define LAST_STRETCH 1.01

/* ---- Coefficients, [RNY] with the digits recomputed ------------------------------------------------------ */

const dae_rosenbrock_table dae_rosnys4_table = {
    .stages = 4,
    .order = 4,
    .embedded = 3,
    .reuse = 3,
    .gamma = 0.57281606,
    .alpha_i = {0, 1.14563212, 0.65521497597313382947774816665543, 0.65521497597313382947774816665543},
    .gamma_i = {0.57281606, -1.7691770671120139491705469975580, 0.75929396429320985367096872979489,
                -0.10489462149095580320674058133560},
    .a = {{0},
          {2.0},
          {1.8679481494982371323447677160718, 0.23444556851723885002321831029665},
          {1.8679481494982371323447677160718, 0.23444556851723885002321831029665}},
    .c = {{0},
          {-7.1376499433499798303693527598964},
          {2.5809236665096577144879898694092, 0.65162988730203202338738613312150},
          {-2.1371152665066191168063766234824, -0.32146953133995107076924604308884,
           -0.69496604928244522515734368208806}},
    .m = {2.2555662286045652437288472282341, 0.28705506319415760766263264752797,
          0.43531196337998321340271439451385, 1.0935076564032478032148206138787},
    .m_hat = {2.0683991605275837342586752271361, 0.23868135206753279795649324873928,
              0.36337334543539170826175416117122, 0.36655712793615514430914832866966},
    .end = {0.697290933898017211206968413260, -0.018473273097472738666297967515,
            -1.918929134748569629189497050588, -0.237661121408414748113643903138},
    .start = {5.442036107987693169413728766038, 0.593371926979343020358946157939,
              -2.664749953881378387269158895150, 0.421157151002216498133561744768},
    .start_end = 1,
};

/* gamma = 1 + 1/sqrt(2) */
const dae_rosenbrock_table dae_wnys2_table = {
    .stages = 2,
    .order = 2,
    .embedded = 1,
    .any_jacobian = 1,
    .gamma = 1.7071067811865475244008443621048,
    .alpha_i = {0, 1},
    .gamma_i = {1.7071067811865475244008443621048, -1.7071067811865475244008443621048},
    .a = {{0}, {0.58578643762690495119831127579030}},
    .c = {{0}, {-1.1715728752538099023966225515806}},
    .m = {0.87867965644035742679746691368545, 0.29289321881345247559915563789515},
    .m_hat = {1.1715728752538099023966225515806, 0.58578643762690495119831127579030},
    .end = {-0.757359312880714853594933827371, -0.171572875253809902396622551581},
    .start = {1.757359312880714853594933827371, 0.585786437626904951198311275790},
    .start_end = -1,
};

/* ---- State -------------------------------------------------------------------------------------------------- */

typedef struct options {
    double safety, factor_min, factor_max;
    int filter;       /* 1: error estimate times (I - h gamma J)^-1 */
    const char *norm; /* "all" or "parts" */
    int keep;         /* W-methods: steps that use one Jacobian, */
    double hold;      /* and change of the step size, relative, up to which it is held; 0: never */
} options;

/* Survives in a checkpoint. */
typedef struct state {
    double t_old, t, h, h_next;
    double h_factored; /* of the last factorization of this Jacobian; 0: none */
    int age;           /* steps made with the Jacobian; -1: there is none */
    int held, calm;    /* steps that may share a Jacobian at present; steps since that has changed */
    int known;         /* 1: d0 is the derivative of the end of the last step */
} state;

typedef struct rosenbrock {
    dae_ivp *ivp;
    const dae_rosenbrock_table *table;
    const options *option;
    dae_shifted *linear;
    int n, second; /* n; positions whose derivatives are variables */
    int has_ft;    /* 0: f_t is taken to be zero */
    state *s;
    double *y, *y0, *y1;   /* n: at t, at t_old, attempted */
    double *f0, *f1;       /* n: f at t_old (during a step at t), at t */
    double *d0, *d1;       /* n: derivatives there for dense output */
    double *ft;            /* n */
    double *l[S];          /* n each */
    double *x, *stage, *e; /* n each */
    double *J;
    double difference[S]; /* m - m^ */
} rosenbrock;

static void destroy(void *self)
{
    rosenbrock *m = self;
    if (!m) return;
    dae_shifted_destroy(m->linear);
    free(m);
}

static void *create(dae_ivp *ivp, const dae_rosenbrock_table *table, const void *option, dae_error *err)
{
    rosenbrock *m = calloc(1, sizeof *m);
    if (!m) goto memory;
    size_t n = (size_t)ivp->n;
    dae_arena *a = ivp->arena;
    m->ivp = ivp;
    m->table = table;
    m->option = option;
    m->n = ivp->n;
    m->second = ivp->sys->structure.second_order;
    m->has_ft = !table->any_jacobian || (ivp->sys->kind == DAE_KIND_ODE && ivp->sys->ode.dfdt);
    m->s = dae_arena_take(a, 1, sizeof *m->s);
    double **vector[] = {&m->y,  &m->y0, &m->y1, &m->f0,    &m->f1, &m->d0,
                         &m->d1, &m->ft, &m->x,  &m->stage, &m->e};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) *vector[k] = dae_arena_reals(a, n);
    for (int i = 0; i < table->stages; i++) {
        m->l[i] = dae_arena_reals(a, n);
        m->difference[i] = table->m[i] - table->m_hat[i];
    }
    m->J = dae_arena_reals(a, (size_t)dae_pattern_count(&ivp->jacobian, ivp->n));
    if (dae_arena_failed(a)) goto memory;
    ivp->no_iteration = 1;
    m->linear = dae_setup_solver(ivp, NULL, m->second, err);
    if (!m->linear) {
        destroy(m);
        return NULL;
    }
    ivp->y = m->y;
    ivp->order = table->order;
    return m;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a Rosenbrock method on %d equations", ivp->n);
    destroy(m);
    return NULL;
}

static void *create_rosnys4(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, &dae_rosnys4_table, option, err);
}

static void *create_wnys2(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, &dae_wnys2_table, option, err);
}

static dae_status evaluation_failed(rosenbrock *m, int r, const char *where)
{
    return dae_says_not_evaluated(m->ivp, r, m->s->t, "the system", where);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    rosenbrock *m = self;
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    if (y != m->y) dae_copy(m->n, y, m->y);
    dae_copy(m->n, m->y, m->y1);
    *s = (state){.t_old = t, .t = t, .age = -1, .held = HELD_STEPS};
    ivp->t_old = ivp->t = t;
    if (yp) { /* f(t,y), not counted yet */
        dae_copy(m->n, yp, m->f1);
        ivp->stats->f++;
    } else {
        int r = dae_ivp_f(ivp, t, m->y, m->f1);
        if (r) return evaluation_failed(m, r, "at the start");
    }
    dae_copy(m->n, m->f1, m->d1);
    if (ivp->opt->fixed_step > 0) h = ivp->opt->fixed_step;
    else if (h == 0) h = dae_ivp_first_step(ivp, t, m->y, m->f1, m->table->embedded);
    s->h_next = ivp->opt->fixed_step > 0 ? ivp->direction * h : dae_setup_limited(ivp, h);
    ivp->h_next = s->h_next;
    return DAE_OK;
}

/* ---- Parts of a step ---------------------------------------------------------------------------------------- */

static int jacobian(rosenbrock *m)
{
    m->s->age = 0;
    m->s->h_factored = 0;
    return dae_ivp_jacobian(m->ivp, m->s->t, m->y0, m->f0, m->J);
}

/* Relative change of the step size up to which it is held. */
static double hold(const rosenbrock *m)
{
    return m->table->any_jacobian && m->option->keep == 1 ? m->option->hold : 0;
}

/* 1: the next step may use the present Jacobian. */
static int is_young(const rosenbrock *m)
{
    const state *s = m->s;
    if (!m->table->any_jacobian || s->age < 0) return 0;
    return s->age < m->option->keep || (hold(m) > 0 && s->age < s->held && s->h_factored == s->h_next);
}

/* f at the start of the step, J and f_t. */
static int begin(rosenbrock *m)
{
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int r = 0, same = memcmp(m->y, m->y1, (size_t)m->n * sizeof *m->y) == 0;
    if (same) dae_copy(m->n, m->f1, m->f0);
    else r = dae_ivp_f(ivp, s->t, m->y, m->f0); /* somebody changed y */
    s->known = same && s->h != 0;
    if (s->known) dae_copy(m->n, m->d1, m->d0);
    dae_copy(m->n, m->y, m->y0);
    if (r) return r;
    if (!same || !is_young(m)) r = jacobian(m);
    if (!r && m->has_ft) r = dae_ivp_dfdt(ivp, s->t, m->y0, m->f0, m->ft);
    return r;
}

static int factor(rosenbrock *m, double h)
{
    int r = 0;
    if (m->s->h_factored == h) return 0;
    m->ivp->stats->lu++;
    DAE_LINALG(m->ivp, r = dae_shifted_factor(m->linear, 1 / (h * m->table->gamma), 0, m->J));
    m->s->h_factored = r ? 0 : h;
    return r ? 1 : 0;
}

static void solve(rosenbrock *m, double *x)
{
    m->ivp->stats->solves++;
    DAE_LINALG(m->ivp, dae_shifted_solve(m->linear, x));
}

/* y += sum_j c[j] l[j] scale, count terms in their order. */
static void add(const rosenbrock *m, int count, const double *c, double scale, double *restrict y)
{
    int n = m->n, j = 0;
    for (; j + 2 <= count; j += 2) {
        double a0 = c[j] * scale, a1 = c[j + 1] * scale;
        const double *restrict l0 = m->l[j], *restrict l1 = m->l[j + 1];
        for (int i = 0; i < n; i++) y[i] = y[i] + a0 * l0[i] + a1 * l1[i];
    }
    if (j < count) dae_axpy(n, c[j] * scale, m->l[j], y);
}

/* l[0] .. and y1. 0: fine, > 0: cannot be evaluated. */
static int stages(rosenbrock *m, double h, double t1)
{
    const dae_rosenbrock_table *tab = m->table;
    int n = m->n;
    double t = m->s->t;
    for (int i = 0; i < tab->stages; i++) {
        double *l = m->l[i];
        if (i > 0 && i != tab->reuse) {
            dae_copy(n, m->y0, m->stage);
            add(m, i, tab->a[i], 1, m->stage);
            double ti = tab->alpha_i[i] == 1 ? t1 : t + tab->alpha_i[i] * h, beyond = 0;
            if (m->ivp->direction * (ti - m->ivp->t_stop) > 0) {
                beyond = ti - m->ivp->t_stop;
                ti = m->ivp->t_stop;
            }
            int r = dae_ivp_f(m->ivp, ti, m->stage, m->x);
            if (r) return r;
            if (beyond != 0) dae_axpy(n, beyond, m->ft, m->x);
        }
        dae_copy(n, i == 0 ? m->f0 : m->x, l);
        add(m, i, tab->c[i], 1 / h, l);
        if (m->has_ft) dae_axpy(n, tab->gamma_i[i] * h, m->ft, l);
        solve(m, l);
    }
    dae_copy(n, m->y0, m->y1);
    add(m, tab->stages, tab->m, 1, m->y1);
    return dae_all_finite(n, m->y1) ? 0 : 1;
}

/* [RNY] (4), (5). */
static double error(rosenbrock *m, double h)
{
    const dae_ivp *ivp = m->ivp;
    const double *restrict atol = ivp->atol, *restrict rtol = ivp->rtol, *restrict y0 = m->y0,
                           *restrict y1 = m->y1;
    double sum = 0, *restrict e = m->e;
    dae_zero(m->n, e);
    add(m, m->table->stages, m->difference, 1, e);
    if (m->option->filter) {
        for (int i = 0; i < m->n; i++) e[i] /= h * m->table->gamma;
        solve(m, e);
    }
    double positions = 0; /* their part of the sum */
    for (int i = 0; i < m->n; i++) {
        double a = fabs(y0[i]), b = fabs(y1[i]), r = e[i] / (atol[i] + rtol[i] * (a > b ? a : b));
        sum += r * r;
        if (i + 1 == m->second) positions = sum;
    }
    if (m->second == 0 || m->n != 2 * m->second || !strcmp(m->option->norm, "all")) return sqrt(sum / m->n);
    return sqrt(fmax(positions, sum - positions) / m->second);
}

static double ratio(const rosenbrock *m, double err)
{
    const options *o = m->option;
    err = fmax(err, 1e-30);
    double r =
        o->safety * (m->table->embedded == 1 ? 1 / sqrt(err) : pow(err, -1.0 / (m->table->embedded + 1)));
    return fmin(o->factor_max, fmax(o->factor_min, r));
}

/* The error may come from the age of the Jacobian. */
static void note_age(state *s)
{
    s->held = 1;
    s->calm = 0;
}

/* The step after one of size h that passed with this error. Only a step with a new Jacobian changes the size: the
 * age of J enters the error. */
static double next_step(rosenbrock *m, double h, double err, long rejected)
{
    double r = ratio(m, err), band = hold(m);
    if (rejected && r > 1) r = 1;
    if (band == 0 || (fabs(r - 1) > band && m->s->age == 0)) return h * r;
    if (fabs(r - 1) > band) m->s->age = HELD_STEPS; /* a new one before the next step */
    if (r < 1 - band) note_age(m->s);
    return h;
}

static dae_status too_small(rosenbrock *m, double h, long rejected)
{
    return dae_ivp_fail(
        m->ivp, DAE_ERR_STEP_TOO_SMALL,
        "t = %.10g: step fell to %.3g (h_min %.3g) after %ld rejections; singularity or jump in the "
        "right-hand side, or a wrong Jacobian?",
        m->s->t, fabs(h), m->ivp->opt->h_min, rejected);
}

/* The derivatives at both ends of the step for dense output. */
static void end_derivatives(rosenbrock *m, double h)
{
    const dae_rosenbrock_table *tab = m->table;
    double scale = 1 / (tab->gamma * h);
    dae_copy(m->n, m->f1, m->x);
    add(m, tab->stages, tab->end, 1 / h, m->x);
    solve(m, m->x);
    for (int i = 0; i < m->n; i++) m->d1[i] = m->x[i] * scale;
    add(m, tab->stages, tab->end, -1 / h, m->d1);
    if (m->s->known) return;
    for (int i = 0; i < m->n; i++) m->d0[i] = tab->start_end * m->d1[i];
    add(m, tab->stages, tab->start, 1 / h, m->d0);
}

/* One attempt. 0: *err is the norm of its error; > 0: cannot be evaluated; < 0: stop. */
static int attempt(rosenbrock *m, double h, double t1, double *err)
{
    m->ivp->stats->steps++;
    int r = factor(m, h);
    if (!r) r = stages(m, h, t1);
    if (r) return r;
    *err = error(m, h);
    if (!isfinite(*err)) return 1;
    if (m->ivp->opt->fixed_step > 0) *err = 0;
    if (!(*err <= 1)) return 0;
    r = dae_ivp_project(m->ivp, t1, m->y1);
    return r ? r : dae_ivp_f(m->ivp, t1, m->y1, m->f1);
}

static void accept(rosenbrock *m, double h, double t1, double h_next)
{
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    end_derivatives(m, h);
    dae_copy(m->n, m->y1, m->y);
    s->t_old = s->t;
    s->t = t1;
    s->h = h;
    s->h_next = h_next;
    s->age++;
    if (s->held < HELD_STEPS && ++s->calm == CALM_STEPS) {
        s->held++;
        s->calm = 0;
    }
    ivp->stats->accepted++;
    ivp->t_old = s->t_old;
    ivp->t = t1;
    ivp->h_next = h_next;
}

static dae_status step(void *self)
{
    rosenbrock *m = self;
    dae_ivp *ivp = m->ivp;
    state *s = m->s;
    int fixed = ivp->opt->fixed_step > 0;
    double dir = ivp->direction, goal = dir * (ivp->t_stop - ivp->t_end) < 0 ? ivp->t_stop : ivp->t_end;
    double rest = goal - s->t, err = 0;
    if (dir * rest <= 0) return DAE_OK;
    int r = begin(m);
    if (r) return evaluation_failed(m, r, "at the start of a step");
    double h = s->h_next;
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
        r = attempt(m, h, t1, &err);
        if (r < 0) return evaluation_failed(m, r, "in a step");
        if (r > 0 && fixed) return evaluation_failed(m, r, "in a step of fixed size");
        if (r == 0 && err <= 1) {
            double next = fixed ? wanted : next_step(m, h, err, rejected);
            if (last && !rejected && fabs(next) < fabs(wanted)) next = wanted;
            accept(m, h, t1, fixed ? next : dae_setup_limited(ivp, next));
            return DAE_OK;
        }
        dae_log(ivp->opt, DAE_LOG_STEP, "t=%.10g h=%.4g err=%.3g rejected=%s", s->t, h, r ? NAN : err,
                r ? "undefined" : "error");
        ivp->stats->rejected++;
        rejected++;
        h *= r ? 0.5 : ratio(m, err);
        if (s->age == 0 || hold(m) == 0) continue;
        note_age(s);
        r = jacobian(m);
        if (r) return evaluation_failed(m, r, "at the start of a step");
    }
}

/* ---- Dense output --------------------------------------------------------------------------------------------- */

/* Cubic Hermite polynomial of one component; x in [0, 1]. */
static double cubic(double y0, double y1, double d0, double d1, double x, double *slope)
{
    double step = y1 - y0, left = d0 - step, right = step - d1 - left;
    if (slope) *slope = step + (1 - 2 * x) * left + x * (2 - 3 * x) * right;
    return y0 + x * (step + (1 - x) * (left + x * right));
}

/* Quintic Hermite polynomial: second derivatives too. */
static double quintic(double y0, double y1, double d0, double d1, double s0, double s1, double x)
{
    double step = y1 - y0, c3 = 10 * step - 6 * d0 - 4 * d1 - 1.5 * s0 + 0.5 * s1;
    double c4 = -15 * step + 8 * d0 + 7 * d1 + 1.5 * s0 - s1, c5 = 6 * step - 3 * (d0 + d1) - 0.5 * (s0 - s1);
    return y0 + x * (d0 + x * (0.5 * s0 + x * (c3 + x * (c4 + x * c5))));
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    rosenbrock *m = self;
    double h = m->s->h;
    if (h == 0) { /* no step yet */
        if (y) dae_copy(m->n, m->y, y);
        if (yp) dae_copy(m->n, m->d1, yp);
        return;
    }
    double x = (t - m->s->t_old) / h;
    if (!y) y = m->x;
    for (int i = 0; i < m->n; i++) {
        double slope;
        y[i] = cubic(m->y0[i], m->y1[i], h * m->d0[i], h * m->d1[i], x, &slope);
        if (yp) yp[i] = slope / h;
    }
    for (int i = 0; i < m->second; i++) {
        int j = m->second + i;
        y[i] = quintic(m->y0[i], m->y1[i], h * m->y0[j], h * m->y1[j], h * h * m->d0[j], h * h * m->d1[j], x);
        if (yp) yp[i] = y[j];
    }
}

static size_t save(const void *self, void *buffer)
{
    return dae_shifted_save(((const rosenbrock *)self)->linear, buffer);
}

static int load(void *self, const void *buffer, size_t size)
{
    return dae_shifted_load(((rosenbrock *)self)->linear, buffer, size);
}

/* ---- Descriptors ------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define COMMON                                                                                                        \
    {"safety", DAE_OPTION_REAL, offsetof(options, safety), 0.9, NULL, 0.1, 1, NULL, "", "safety factor fac of the step size"}, \
    {"factor_min", DAE_OPTION_REAL, offsetof(options, factor_min), 0.2, NULL, 0.01, 1, NULL, "", "smallest h_new/h"},  \
    {"factor_max", DAE_OPTION_REAL, offsetof(options, factor_max), 5, NULL, 1, 100, NULL, "", "largest h_new/h"},      \
    {"filter", DAE_OPTION_INT, offsetof(options, filter), 0, NULL, 0, 1, NULL, "",                                     \
     "1: the error estimate is multiplied by the inverse of I - h gamma J, for very stiff systems"},                   \
    {"norm", DAE_OPTION_NAME, offsetof(options, norm), 0, "all", 0, 0, "all|parts", "",                                \
     "error norm: over all variables, or the larger of those over positions and over velocities (second order)"}
/* clang-format on */

static const dae_option rosnys4_options[] = {COMMON, {.name = NULL}};
static const dae_option wnys2_options[] = {
    COMMON,
    {"keep", DAE_OPTION_INT, offsetof(options, keep), 1, NULL, 1, 1000, NULL, "",
     "steps that share a Jacobian, whatever their sizes; above 1: no hold"},
    {"hold", DAE_OPTION_REAL, offsetof(options, hold), 0.05, NULL, 0, 1, NULL, "",
     "relative change of the step size up to which it is held, with Jacobian and factors; 0: never"},
    {.name = NULL}};

const dae_method dae_method_rosnys4 = {
    .info = {.name = "rosnys4",
             .title = "Rosenbrock-Nystrom 4(3), L-stable, linearly implicit",
             .literature = "[RNY], [HW] section IV.7",
             .summary =
                 "stiff mechanisms in state space at crude and medium tolerances; exact Jacobians only",
             .order_min = 4,
             .order_max = 4,
             .kinds = 1u << DAE_KIND_ODE,
             .implicit = 1,
             .checkpoint = 1,
             .projects = 1,
             .options = rosnys4_options},
    .soft_end = 1,
    .option_size = sizeof(options),
    .create = create_rosnys4,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};

const dae_method dae_method_wnys2 = {
    .info = {.name = "wnys2",
             .title = "W-method 2(1) of Rosenbrock-Nystrom type, linearly implicit",
             .literature = "[RNY], [HW] section IV.7",
             .summary = "stiff systems with inexact or kept Jacobians at crude tolerances",
             .order_min = 2,
             .order_max = 2,
             .kinds = 1u << DAE_KIND_ODE,
             .implicit = 1,
             .checkpoint = 1,
             .projects = 1,
             .options = wnys2_options},
    .option_size = sizeof(options),
    .create = create_wnys2,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
    .save = save,
    .load = load,
};
