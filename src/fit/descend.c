/* Nonlinear least squares within bounds: Gauss-Newton steps damped after Levenberg and Marquardt,
 *
 *     min |J d + r|^2 + mu |D d|^2,    D_j = largest |J_j| so far  [Moré 1978],
 *
 * mu changed by the gain ratio as [Nielsen 1999]: mu max(1/3, 1 - (2 rho - 1)^3), after a failure mu nu, nu = 2, 4, 8, ...
 * Variables at a bound whose gradient points outwards are held; a step that would leave the bounds is cut back component by
 * component. A point where the problem cannot be integrated counts as infinitely bad. */
#include "fit/fit.h"

#include "linalg/least_squares.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_DAMPING 1e-3 /* [Nielsen 1999] */
#define FLAT 1e-11         /* relative decrease of the cost below which nothing is to be gained; ours */
#define MOST_DAMPING 1e16

typedef struct descent {
    const dae_fitting *f;
    const unsigned char *fixed;
    int start;
    double *x, *trial, *step, *size; /* np: size is D */
    double *r, *J, *r_new, *factor;  /* m, m*np, m, m */
    double *A, *b;                   /* the augmented system */
    int *vary;                       /* np: which variables move now */
    int nvary;
} descent;

static int make(descent *s, const dae_fitting *f)
{
    size_t m = (size_t)f->m, n = (size_t)f->np;
    s->trial = calloc(3 * n + 3, sizeof *s->trial);
    s->r = malloc((3 * m + 1) * sizeof *s->r);
    s->J = malloc(((m + n) * n + 1) * sizeof *s->J); /* as A: the two change places */
    s->A = malloc(((m + n) * n + 1) * sizeof *s->A);
    s->b = malloc((m + n + 1) * sizeof *s->b);
    s->vary = calloc(n + 1, sizeof *s->vary);
    if (!s->trial || !s->r || !s->J || !s->A || !s->b || !s->vary) return -1;
    s->step = s->trial + n;
    s->size = s->step + n;
    s->r_new = s->r + m;
    s->factor = s->r_new + m;
    return 0;
}

static void drop(descent *s)
{
    free(s->trial);
    free(s->A);
    free(s->b);
    free(s->vary);
}

/* The gradient of the cost, J^T (w r), of variable j. */
static double gradient(const descent *s, int j)
{
    double g = 0;
    const double *J = s->J + (size_t)s->f->m * (size_t)j;
    for (long i = 0; i < s->f->m; i++) g += J[i] * s->r[i] * s->factor[i] * s->factor[i];
    return g;
}

/* Which variables move, and the largest of g_j / (|J_j| |r|): the cosine between a column and the residuals. */
static double choose(descent *s, double cost)
{
    const dae_fitting *f = s->f;
    double largest = 0, length = sqrt(2 * cost) + DBL_MIN;
    s->nvary = 0;
    for (int j = 0; j < f->np; j++) {
        double g = gradient(s, j), norm = 0;
        for (long i = 0; i < f->m; i++) {
            double a = s->J[i + f->m * j] * s->factor[i];
            norm += a * a;
        }
        norm = sqrt(norm);
        s->size[j] = fmax(s->size[j], norm);
        if (s->fixed && s->fixed[j]) continue;
        if ((s->x[j] <= f->lower[j] && g > 0) || (s->x[j] >= f->upper[j] && g < 0)) continue;
        s->vary[s->nvary++] = j;
        if (norm > 0) largest = fmax(largest, fabs(g) / (norm * length));
    }
    return largest;
}

/* The step for the damping mu, cut back to the bounds; the decrease that the linear model predicts, < 0: none, NAN: no memory. */
static double propose(descent *s, double mu)
{
    const dae_fitting *f = s->f;
    int n = s->nvary;
    size_t rows = (size_t)f->m + (size_t)n;
    for (int k = 0; k < n; k++) {
        int j = s->vary[k];
        double *to = s->A + rows * (size_t)k;
        for (long i = 0; i < f->m; i++) to[i] = s->J[i + f->m * j] * s->factor[i];
        for (int l = 0; l < n; l++) to[f->m + l] = l == k ? sqrt(mu) * (s->size[j] > 0 ? s->size[j] : 1) : 0;
    }
    for (long i = 0; i < f->m; i++) s->b[i] = -s->r[i] * s->factor[i];
    for (int l = 0; l < n; l++) s->b[f->m + l] = 0;
    int rank = dae_least_squares((int)rows, n, s->A, s->b, 1e-15);
    if (rank < 0) return rank == -1 ? NAN : -1;
    memset(s->step, 0, (size_t)f->np * sizeof *s->step);
    for (int k = 0; k < n; k++) {
        int j = s->vary[k];
        double to = fmin(fmax(s->x[j] + s->b[k], f->lower[j]), f->upper[j]);
        s->step[j] = to - s->x[j];
        s->trial[j] = to;
    }
    double before = 0, after = 0;
    for (long i = 0; i < f->m; i++) {
        double a = s->r[i] * s->factor[i], d = a;
        for (int k = 0; k < n; k++) d += s->J[i + f->m * s->vary[k]] * s->factor[i] * s->step[s->vary[k]];
        before += a * a;
        after += d * d;
    }
    return 0.5 * (before - after);
}

static double relative_step(const descent *s)
{
    double largest = 0;
    for (int j = 0; j < s->f->np; j++)
        largest = fmax(largest, fabs(s->step[j]) / (fabs(s->x[j]) + 1e-10 * s->f->scale[j]));
    return largest;
}

static int tell(const descent *s, const dae_descent *d)
{
    const dae_fit_options *o = s->f->opt;
    dae_fit_progress at = {s->start,    o->starts,  d->iterations, d->cost,
                           d->gradient, d->damping, s->x,          s->f->np};
    return o->progress && !s->fixed ? o->progress(&at, o->user) : 0;
}

static void end(dae_descent *d, dae_status status, const char *message)
{
    d->status = status;
    snprintf(d->message, sizeof d->message, "%s", message);
}

static dae_status stopped(dae_descent *d, int *over)
{
    end(d, DAE_CANCELLED, "stopped");
    *over = 1;
    return DAE_OK;
}

/* The trial with r_new and, in the place of A, its derivatives becomes the present point. */
static void take_trial(descent *s)
{
    double *J = s->A;
    s->A = s->J;
    s->J = J;
    memcpy(s->x, s->trial, (size_t)s->f->np * sizeof *s->x);
    memcpy(s->r, s->r_new, (size_t)s->f->m * sizeof *s->r);
}

/* One accepted step, or the end: 1. */
static dae_status iterate(descent *s, dae_descent *d, double *nu, int *over, dae_error *err)
{
    const dae_fitting *f = s->f;
    d->gradient = choose(s, d->cost);
    if (tell(s, d)) return stopped(d, over);
    if (!s->nvary) end(d, DAE_OK, "all parameters are at their bounds"), *over = 1;
    else if (d->gradient < 1e-12) end(d, DAE_OK, "the gradient is zero"), *over = 1;
    if (*over) return DAE_OK;
    for (;;) {
        memcpy(s->trial, s->x, (size_t)f->np * sizeof *s->trial);
        double predicted = propose(s, d->damping), change = relative_step(s);
        if (isnan(predicted)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        if (predicted <= FLAT * d->cost || change < f->opt->tolerance * 1e-3) {
            end(d, DAE_OK, "converged: no step lowers the cost any more");
            *over = 1;
            return DAE_OK;
        }
        dae_error ignored = {0};
        dae_status status = dae_fitting_evaluate(f, s->trial, s->r_new, NULL, NULL, &ignored);
        d->evaluations++;
        if (status == DAE_CANCELLED) return stopped(d, over);
        if (status == DAE_ERR_MEMORY || status == DAE_ERR_CALLBACK) {
            *err = ignored;
            return status;
        }
        double cost = status < 0 ? INFINITY : dae_fitting_cost(f, s->r_new, NULL),
               gain = (d->cost - cost) / predicted;
        if (gain > 1e-4) {
            double lower = fmax(1.0 / 3, 1 - pow(2 * gain - 1, 3)), fell = d->cost - cost;
            status = dae_fitting_evaluate(f, s->trial, s->r_new, s->A, NULL, err);
            d->evaluations++;
            if (status == DAE_CANCELLED) return stopped(d, over);
            if (status < 0) return status;
            take_trial(s);
            d->damping = fmax(1e-12, d->damping * lower);
            *nu = 2;
            d->iterations++;
            d->cost = dae_fitting_cost(f, s->r, s->factor);
            if (change < f->opt->tolerance && fell < 1e-6 * (d->cost + fell))
                end(d, DAE_OK, "converged"), *over = 1;
            return DAE_OK;
        }
        if (change < f->opt->tolerance) {
            end(d, DAE_OK, "converged: steps have become shorter than the tolerance");
            *over = 1;
            return DAE_OK;
        }
        d->damping *= *nu;
        *nu *= 2;
        if (d->damping < MOST_DAMPING) continue;
        end(d, DAE_ERR_CONVERGENCE,
            status < 0 ? "the problem cannot be integrated near here" : "no step lowers the cost");
        *over = 1;
        return DAE_OK;
    }
}

dae_status dae_fitting_descend(const dae_fitting *f, double *x, const unsigned char *fixed, int start,
                               dae_descent *d, dae_error *err)
{
    descent s = {.f = f, .fixed = fixed, .start = start, .x = x};
    double nu = 2;
    int over = 0;
    if (make(&s, f)) {
        drop(&s);
        free(s.r);
        free(s.J);
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    if (!(d->damping > 0)) d->damping = FIRST_DAMPING;
    dae_status status = dae_fitting_evaluate(f, x, s.r, s.J, NULL, err);
    d->evaluations++;
    if (status == DAE_OK) d->cost = dae_fitting_cost(f, s.r, s.factor);
    if (status == DAE_CANCELLED) {
        drop(&s);
        free(s.r);
        free(s.J);
        return stopped(d, &over);
    }
    while (status >= 0 && !over) {
        if (d->iterations >= f->opt->max_iterations) {
            end(d, DAE_ERR_MAX_STEPS, "the limit on iterations was hit");
            break;
        }
        status = iterate(&s, d, &nu, &over, err);
    }
    drop(&s);
    free(d->r);
    free(d->J);
    d->r = s.r;
    d->J = s.J;
    return status;
}
