/* Multiple shooting [Bock 1983], relaxed: the time of every experiment is cut into intervals, and the states s_k at the cuts are
 * unknowns of their own, begun at the data. So a trajectory never runs away from the data while the parameters are still wrong.
 *
 *     min  1/2 |r(p, s)|^2 + 1/2 w^2 sum |(y(t_{k+1}; s_k, p) - s_{k+1}) / size|^2
 *
 * by damped Gauss-Newton steps in p and s, with weights w of the gaps, beside those of the data, that rise from stage to stage. When the gaps are closed the
 * descent of descend.c goes on with one interval. Where we differ from Bock: he closes all gaps to first order in every step,
 * which from far away leads to steps that a line search then has to cut to nothing. For ODEs. */
#include "fit/fit.h"

#include "linalg/least_squares.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAGE_ITERATIONS 15
#define SETTLED 1e-3 /* relative decrease at which a stage is over; ours */
static const double stage_weight[] = {0.3, 1, 3, 10, 100}; /* of relative gaps beside relative data; ours */

typedef struct shooting {
    const dae_fitting *f;
    int K, n, np, npar; /* intervals, components, free ones, those of them that are parameters */
    int ncut;           /* unknown states: nexperiment * (K - 1) * n */
    double weight;      /* of the gaps */
    int stopped;        /* a run was */
    double *z, *trial;  /* np + ncut: parameters, then states */
    double *norm;       /* the same: largest length of a column so far */
    double *size;       /* n */
    double *r, *J;      /* rows, rows*unknowns */
    double *value, *by, *end, *end_by;
    double *M, *rhs;
} shooting;

static int rows_of(const shooting *s)
{
    return (int)s->f->m + s->ncut;
}

/* Where the state at the beginning of interval k >= 1 of experiment e stands among the unknowns. */
static int state_at(const shooting *s, int e, int k)
{
    return s->np + (e * (s->K - 1) + k - 1) * s->n;
}

static dae_stretch stretch(const shooting *s, const double *z, int e, int k)
{
    const dae_fit_experiment *x = s->f->experiment[e];
    dae_stretch a = {.experiment = e,
                     .first = (int)((long)x->ntime * k / s->K),
                     .last = (int)((long)x->ntime * (k + 1) / s->K),
                     .t = NAN,
                     .t_next = NAN};
    if (k > 0) {
        a.t = x->t[a.first];
        a.y = z + state_at(s, e, k);
    }
    if (k + 1 < s->K) a.t_next = x->t[a.last];
    return a;
}

/* Rows of the data of one interval. */
static void put_data(shooting *s, int e, int k, const dae_stretch *a, int with, long *row)
{
    const dae_fit_experiment *d = s->f->experiment[e];
    int rows = a->last - a->first, count = k ? s->npar + s->n : s->np, ld = rows_of(s);
    for (int c = 0; c < d->ncolumn; c++) {
        for (int i = 0; i < rows; i++) {
            size_t at = (size_t)c * (size_t)d->ntime + (size_t)(a->first + i);
            double w = s->f->weight[e][at];
            if (w == 0) continue;
            const double *by = s->by + (size_t)(c * rows + i) * (size_t)count;
            s->r[*row] = w * (s->value[c * rows + i] - d->value[at]);
            for (int j = 0, own = 0; with && j < s->np; j++)
                s->J[*row + (long)ld * j] = k == 0 ? w * by[j] : s->f->parameter[j] >= 0 ? w * by[own++] : 0;
            for (int l = 0; with && k && l < s->n; l++)
                s->J[*row + (long)ld * (state_at(s, e, k) + l)] = w * by[s->npar + l];
            ++*row;
        }
    }
}

/* Rows of the gap at the end of interval k. */
static void put_gap(shooting *s, const double *z, int e, int k, int with, long *row)
{
    int ld = rows_of(s), next = state_at(s, e, k + 1);
    for (int i = 0; i < s->n; i++, ++*row) {
        double w = s->weight / s->size[i];
        s->r[*row] = w * (s->end[i] - z[next + i]);
        for (int j = 0, own = 0; with && j < s->np; j++)
            s->J[*row + (long)ld * j] = k == 0                    ? w * s->end_by[i + s->n * j]
                                        : s->f->parameter[j] >= 0 ? w * s->end_by[i + s->n * own++]
                                                                  : 0;
        for (int l = 0; with && k && l < s->n; l++)
            s->J[*row + (long)ld * (state_at(s, e, k) + l)] = w * s->end_by[i + s->n * (s->npar + l)];
        if (with) s->J[*row + (long)ld * (next + i)] = -w;
    }
}

/* Residuals and gaps at z, with their derivatives or without: half the sum of squares; INFINITY where a run fails. */
static double evaluate(shooting *s, const double *z, int with, dae_error *err)
{
    long row = 0;
    double sum = 0;
    if (with) memset(s->J, 0, (size_t)rows_of(s) * (size_t)(s->np + s->ncut) * sizeof *s->J);
    for (int e = 0; e < s->f->nexperiment; e++) {
        for (int k = 0; k < s->K; k++) {
            dae_stretch a = stretch(s, z, e, k);
            int more = k + 1 < s->K;
            dae_status r = dae_fitting_stretch(s->f, z, &a, s->value, with ? s->by : NULL,
                                               more ? s->end : NULL, more && with ? s->end_by : NULL, err);
            s->stopped |= r == DAE_CANCELLED;
            if (r != DAE_OK) return INFINITY;
            put_data(s, e, k, &a, with, &row);
            if (more) put_gap(s, z, e, k, with, &row);
        }
    }
    for (long i = 0; i < row; i++) sum += s->r[i] * s->r[i];
    return isfinite(sum) ? 0.5 * sum : INFINITY;
}

/* The step for the damping mu from the residuals and derivatives there are, into trial; parameters stay within bounds. */
static int propose(shooting *s, double mu)
{
    int n = s->np + s->ncut, m = rows_of(s);
    size_t ld = (size_t)m + (size_t)n;
    for (int j = 0; j < n; j++) {
        double *to = s->M + ld * (size_t)j, sum = 0;
        memcpy(to, s->J + (size_t)m * (size_t)j, (size_t)m * sizeof *to);
        for (int i = 0; i < m; i++) sum += to[i] * to[i];
        s->norm[j] = fmax(s->norm[j], sqrt(sum));
        memset(to + m, 0, (size_t)n * sizeof *to);
        to[m + j] = sqrt(mu) * (s->norm[j] > 0 ? s->norm[j] : 1);
    }
    for (int i = 0; i < m; i++) s->rhs[i] = -s->r[i];
    memset(s->rhs + m, 0, (size_t)n * sizeof *s->rhs);
    if (dae_least_squares((int)ld, n, s->M, s->rhs, 1e-15) < 0) return -1;
    for (int j = 0; j < n; j++) {
        s->trial[j] = s->z[j] + s->rhs[j];
        if (j < s->np) s->trial[j] = fmin(fmax(s->trial[j], s->f->lower[j]), s->f->upper[j]);
    }
    return 0;
}

/* States at the cuts: what was measured there, else what a run with the starting values says, else the start. */
static void guess(shooting *s)
{
    const dae_fitting *f = s->f;
    dae_error ignored = {0};
    for (int i = 0; i < s->n; i++) s->size[i] = fabs(f->p->y0[i]);
    for (int e = 0; e < f->nexperiment; e++) {
        const dae_fit_experiment *d = f->experiment[e];
        for (int k = 1; k < s->K; k++) {
            double *y = s->z + state_at(s, e, k);
            int first = (int)((long)d->ntime * k / s->K);
            dae_stretch all = {.experiment = e, .t = NAN, .t_next = d->t[first]};
            dae_status r = dae_fitting_stretch(f, s->z, &all, NULL, NULL, y, NULL, &ignored);
            if (r != DAE_OK) memcpy(y, f->p->y0, (size_t)s->n * sizeof *y);
            if ((s->stopped |= r == DAE_CANCELLED)) return;
            for (int c = 0; c < d->ncolumn; c++) {
                const double *v = d->value + (size_t)c * (size_t)d->ntime;
                double near = NAN;
                for (int i = 0; i < d->ntime && isnan(near); i++) { /* the nearest value that there is */
                    if (first + i < d->ntime) near = v[first + i];
                    if (isnan(near) && first >= i) near = v[first - i];
                }
                if (f->column[e][c] >= 0 && !isnan(near)) y[f->column[e][c]] = near;
            }
            for (int i = 0; i < s->n; i++) s->size[i] = fmax(s->size[i], fabs(y[i]));
        }
    }
    for (int i = 0; i < s->n; i++) {
        if (s->size[i] == 0) s->size[i] = 1;
    }
}

/* The root of the mean of (value/sd)^2: how sharply the data are weighed, 1 where no sd is known. Gaps are weighed alike: much less, and data
 * with small sd would be met interval by interval while the gaps stay open; much more, and gaps would be all that counts. */
static double sharpness(const dae_fitting *f)
{
    double sum = 0;
    for (int e = 0; e < f->nexperiment; e++) {
        const dae_fit_experiment *d = f->experiment[e];
        for (long i = 0; i < (long)d->ncolumn * d->ntime; i++) {
            double v = f->weight[e][i] > 0 ? f->weight[e][i] * d->value[i] : 0;
            sum += v * v;
        }
    }
    double mean = sum / (double)f->m;
    return mean > 0 && isfinite(mean) ? sqrt(mean) : 1;
}

static int make(shooting *s, const dae_fitting *f)
{
    size_t n = (size_t)f->n, np = (size_t)f->np, cells = 1;
    *s = (shooting){.f = f, .K = f->opt->intervals, .n = f->n, .np = f->np};
    s->ncut = f->nexperiment * (s->K - 1) * f->n;
    for (int j = 0; j < f->np; j++) s->npar += f->parameter[j] >= 0;
    for (int e = 0; e < f->nexperiment; e++) {
        size_t c = (size_t)f->experiment[e]->ntime * (size_t)f->experiment[e]->ncolumn;
        if (c > cells) cells = c;
    }
    size_t all = np + (size_t)s->ncut, rows = (size_t)rows_of(s);
    const struct {
        double **to;
        size_t length;
    } array[] = {{&s->z, all},
                 {&s->trial, all},
                 {&s->norm, all},
                 {&s->size, n},
                 {&s->r, rows},
                 {&s->J, rows * all},
                 {&s->value, cells},
                 {&s->by, cells * (n + np)},
                 {&s->end, n},
                 {&s->end_by, n * (n + np)},
                 {&s->M, (rows + all) * all},
                 {&s->rhs, rows + all}};
    int bad = 0;
    for (size_t i = 0; i < sizeof array / sizeof *array; i++) {
        *array[i].to = calloc(array[i].length + 1, sizeof **array[i].to);
        bad |= !*array[i].to;
    }
    return bad ? -1 : 0;
}

static void drop(shooting *s)
{
    double *list[] = {s->z,     s->trial, s->norm, s->size,   s->r, s->J,
                      s->value, s->by,    s->end,  s->end_by, s->M, s->rhs};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) free(list[i]);
}

/* A run from z failed, or was stopped: then shooting is over. */
static dae_status no_run(const shooting *s, const dae_error *err)
{
    return s->stopped ? DAE_CANCELLED : err->status < 0 ? err->status : DAE_ERR_UNDEFINED;
}

/* Damped steps with the present weight of the gaps. */
static dae_status stage(shooting *s, int start, dae_descent *d, dae_error *err)
{
    const dae_fit_options *o = s->f->opt;
    double mu = 1e-3, now = evaluate(s, s->z, 1, err);
    if (isinf(now)) return no_run(s, err);
    memset(s->norm, 0, (size_t)(s->np + s->ncut) * sizeof *s->norm);
    for (int k = 0; k < STAGE_ITERATIONS; k++) {
        dae_fit_progress at = {start, o->starts, d->iterations, now, NAN, mu, s->z, s->np};
        if (o->progress && o->progress(&at, o->user)) return DAE_CANCELLED;
        double then = INFINITY;
        for (int again = 0; again < 12 && !(then < now); again++, mu *= again ? 4 : 1) {
            dae_error ignored = {0};
            evaluate(s, s->z, 0, &ignored); /* r at z: a trial has overwritten it */
            if (propose(s, mu)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
            then = evaluate(s, s->trial, 0, &ignored);
            d->evaluations += 2;
            if (s->stopped) return DAE_CANCELLED;
        }
        if (!(then < now)) return DAE_OK;
        memcpy(s->z, s->trial, (size_t)(s->np + s->ncut) * sizeof *s->z);
        mu = fmax(1e-9, mu / 5);
        d->iterations++;
        d->evaluations++;
        if (now - then < SETTLED * now) return DAE_OK;
        now = evaluate(s, s->z, 1, err);
        if (isinf(now)) return no_run(s, err);
    }
    return DAE_OK;
}

dae_status dae_fitting_shoot(const dae_fitting *f, double *x, int start, dae_descent *d, dae_error *err)
{
    shooting s;
    dae_status status = DAE_OK;
    if (f->p->system.kind != DAE_KIND_ODE)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "several intervals need y' = f(t,y); this problem takes one");
    for (int e = 0; e < f->nexperiment; e++) {
        if (f->experiment[e]->ntime < 2 * f->opt->intervals)
            return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: %d times are too few for %d intervals",
                            f->experiment[e]->name, f->experiment[e]->ntime, f->opt->intervals);
    }
    if (make(&s, f)) {
        drop(&s);
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    memcpy(s.z, x, (size_t)f->np * sizeof *x);
    guess(&s);
    if (s.stopped) status = DAE_CANCELLED;
    double sharp = sharpness(f);
    for (size_t k = 0; k < sizeof stage_weight / sizeof *stage_weight && status == DAE_OK; k++) {
        s.weight = sharp * stage_weight[k];
        status = stage(&s, start, d, err);
    }
    memcpy(x, s.z, (size_t)f->np * sizeof *x);
    drop(&s);
    if (status == DAE_CANCELLED) d->status = DAE_CANCELLED;
    return status < 0 ? status : DAE_OK;
}
