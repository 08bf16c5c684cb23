/* How certain a fit is. With the Jacobian J = U S V^T of the weighted residuals in relative changes of the parameters,
 *
 *     covariance = noise^2 V S^-2 V^T,     noise^2 = sum r^2 / (m - np), or 1 where all standard deviations are known,
 *
 * intervals by Student's distribution with m - np degrees of freedom. A direction whose singular value is next to nothing
 * compared with the largest is not determined by the data: it is told in words. */
#include "fit/fit.h"

#include "core/number.h"
#include "linalg/svd.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNDETERMINED 1e-5 /* of the largest singular value; derivatives are right to about 1e-6; ours */
#define TAKES_PART 0.05 /* a parameter with less of an undetermined direction is taken as determined; ours */

/* ---- Student's distribution -------------------------------------------------------------------------------- */

/* The incomplete beta function I_x(a, b) by its continued fraction in the form of Lentz, [AS] 26.5.8. */
static double beta_part(double a, double b, double x)
{
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - beta_part(b, a, 1 - x);
    double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    if (fabs(d) < 1e-300) d = 1e-300;
    d = 1 / d;
    double h = d;
    for (int k = 1; k < 500; k++) {
        double even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)),
               odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1));
        d = 1 + even * d, c = 1 + even / c;
        if (fabs(d) < 1e-300) d = 1e-300;
        if (fabs(c) < 1e-300) c = 1e-300;
        d = 1 / d;
        h *= d * c;
        d = 1 + odd * d, c = 1 + odd / c;
        if (fabs(d) < 1e-300) d = 1e-300;
        if (fabs(c) < 1e-300) c = 1e-300;
        d = 1 / d;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-15) break;
    }
    return front * h;
}

/* P(|T| <= t) = 1 - I_{v/(v+t^2)}(v/2, 1/2), [AS] 26.7.1; the normal distribution where v is next to infinite. */
static double within(double t, double freedom)
{
    return freedom > 1e6 ? erf(t / sqrt(2)) : 1 - beta_part(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double dae_student(double level, double freedom)
{
    if (!(freedom > 0)) return INFINITY;
    double low = 0, high = 1;
    while (high < 1e12 && within(high, freedom) < level) high *= 2;
    for (int k = 0; k < 200 && high - low > 1e-14 * high; k++) {
        double t = 0.5 * (low + high);
        if (within(t, freedom) < level) low = t;
        else high = t;
    }
    return 0.5 * (low + high);
}

/* ---- Words --------------------------------------------------------------------------------------------------- */

typedef struct line {
    char *text;
    size_t size, used;
} line;

static void put(line *l, const char *text)
{
    size_t n = strlen(text);
    if (l->used + n + 1 > l->size) return;
    memcpy(l->text + l->used, text, n + 1);
    l->used += n;
}

/* "k1 (+1), k2 (-0.99)": the relative changes that together change nothing. */
static void describe(const dae_fitting *f, const double *v, line *l)
{
    double largest = 0;
    int count = 0, only = -1;
    for (int j = 0; j < f->np; j++) largest = fmax(largest, fabs(v[j]));
    for (int j = 0; j < f->np; j++) {
        if (fabs(v[j]) < TAKES_PART * largest) continue;
        count++;
        only = j;
    }
    if (l->used) put(l, "; ");
    if (count == 1) {
        put(l, f->free[only].name);
        put(l, " cannot be found from these data: it changes nothing that was measured");
        return;
    }
    put(l, "only a combination of ");
    int said = 0;
    double sign = 0;
    for (int j = 0; j < f->np; j++) {
        if (fabs(v[j]) < TAKES_PART * largest) continue;
        if (sign == 0) sign = v[j] > 0 ? 1 : -1;
        if (said++) put(l, said == count ? " and " : ", ");
        put(l, f->free[j].name);
    }
    put(l, " can be found: changing them together by ");
    said = 0;
    for (int j = 0; j < f->np; j++) {
        if (fabs(v[j]) < TAKES_PART * largest) continue;
        char number[40];
        dae_snprintf(number, sizeof number, "%s%+.2g %%", said++ ? ", " : "", sign * v[j] / largest);
        put(l, number);
    }
    put(l, " changes nothing that was measured");
}

/* ---- Estimates ------------------------------------------------------------------------------------------------ */

/* J in relative changes of those parameters that are not at a bound; their number. */
static int scaled(const dae_fitting *f, const double *x, const dae_descent *d, double *A, double *size,
                  int *which)
{
    double *factor = malloc(((size_t)f->m + 1) * sizeof *factor);
    int n = 0;
    if (!factor) return -1;
    dae_fitting_cost(f, d->r, factor);
    for (int j = 0; j < f->np; j++) {
        size[j] = x[j] != 0 ? fabs(x[j]) : f->scale[j];
        if (x[j] <= f->lower[j] || x[j] >= f->upper[j]) continue;
        for (long i = 0; i < f->m; i++) A[i + f->m * n] = d->J[i + f->m * j] * factor[i] * size[j];
        which[n++] = j;
    }
    free(factor);
    return n;
}

static void estimates(const dae_fitting *f, const double *x, int n, const int *which, const double *size,
                      const double *s, const double *V, int rank, dae_fit_result *out)
{
    double quantile = dae_student(f->opt->level, f->all_sd_known ? 1e9 : (double)(f->m - n));
    double noise = f->all_sd_known ? 1 : out->noise;
    for (int j = 0; j < f->np; j++) {
        dae_fit_estimate *e = &out->estimate[j];
        *e = (dae_fit_estimate){.value = x[j], .sd = NAN, .lower = NAN, .upper = NAN, .profile = {NAN, NAN}};
        e->at_bound = x[j] <= f->lower[j] ? -1 : x[j] >= f->upper[j];
        for (int k = 0; k < f->np; k++) out->correlation[j + f->np * k] = j == k ? 1 : NAN;
    }
    for (int a = 0; a < n; a++) {
        dae_fit_estimate *e = &out->estimate[which[a]];
        double open = 0, sum = 0;
        for (int k = 0; k < n; k++) {
            double v = V[a + n * k];
            if (k < rank) sum += v * v / (s[k] * s[k]);
            else open += v * v;
        }
        e->sd = sqrt(open) > TAKES_PART ? INFINITY : noise * size[which[a]] * sqrt(sum);
        e->lower = fmax(f->lower[which[a]], e->value - quantile * e->sd);
        e->upper = fmin(f->upper[which[a]], e->value + quantile * e->sd);
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            double ab = 0, aa = 0, bb = 0;
            for (int k = 0; k < rank; k++) {
                double u = V[a + n * k] / s[k], v = V[b + n * k] / s[k];
                ab += u * v, aa += u * u, bb += v * v;
            }
            int known = isfinite(out->estimate[which[a]].sd) && isfinite(out->estimate[which[b]].sd);
            out->correlation[which[a] + f->np * which[b]] = a == b ? 1 : known ? ab / sqrt(aa * bb) : NAN;
        }
    }
}

dae_status dae_fitting_certainty(const dae_fitting *f, const double *x, const dae_descent *d,
                                 dae_fit_result *out, dae_error *err)
{
    size_t np = (size_t)f->np, text = 400 + 200 * np;
    double *A = malloc(((size_t)f->m * np + 1) * sizeof *A), *V = calloc(np * np + 1, sizeof *V),
           *size = calloc(np + 1, sizeof *size);
    int *which = calloc(np + 1, sizeof *which), n = -1;
    char *words = calloc(text, 1);
    double *factor = malloc(((size_t)f->m + 1) * sizeof *factor), robust = 0;
    if (A && V && size && which && words && factor) n = scaled(f, x, d, A, size, which);
    if (n >= 0) {
        line l = {words, text, 0};
        double sum = 0;
        dae_svd((int)f->m, n, A, out->singular, V);
        out->rank = 0;
        while (out->rank < n && out->singular[out->rank] > UNDETERMINED * out->singular[0]) out->rank++;
        for (long i = 0; i < f->m; i++) sum += d->r[i] * d->r[i];
        out->rms = sqrt(sum / (double)f->m);
        dae_fitting_cost(f, d->r, factor);
        for (long i = 0; i < f->m; i++) robust += d->r[i] * d->r[i] * factor[i] * factor[i];
        out->noise = f->m > n ? sqrt(robust / (double)(f->m - n)) : NAN;
        estimates(f, x, n, which, size, out->singular, V, out->rank, out);
        for (int k = 0; k < n; k++) {
            double *v = out->direction + f->np * k;
            for (int a = 0; a < n; a++) v[which[a]] = V[a + n * k];
            if (k >= out->rank) describe(f, v, &l);
        }
        for (int k = n; k < f->np; k++) out->singular[k] = NAN;
        free(out->unidentifiable);
        out->unidentifiable = words;
        words = NULL;
    }
    free(A);
    free(V);
    free(size);
    free(which);
    free(words);
    free(factor);
    return n >= 0 ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* ---- Profiles ---------------------------------------------------------------------------------------------------- */

/* The lowest cost with parameter j held at value; x is where the others begin and end. NAN: it was stopped. */
static double held_cost(const dae_fitting *f, double *x, int j, double value, unsigned char *fixed,
                        dae_error *err)
{
    dae_descent d = {0};
    memset(fixed, 0, (size_t)f->np);
    fixed[j] = 1;
    x[j] = value;
    dae_status s = dae_fitting_descend(f, x, fixed, 0, &d, err);
    free(d.r);
    free(d.J);
    return s < 0 ? INFINITY : d.status == DAE_CANCELLED ? NAN : d.cost;
}

/* Where the cost has risen by `rise`, going from the estimate in direction sign; +-INFINITY: it never does; NAN: it was stopped. */
static double border(const dae_fitting *f, const double *best, double cost, double rise, int j, double sign,
                     double first, double *x, double *keep, unsigned char *fixed)
{
    double bound = sign > 0 ? f->upper[j] : f->lower[j], inside = best[j], step = first, outside = NAN;
    dae_error ignored = {0};
    memcpy(keep, best, (size_t)f->np * sizeof *keep);
    for (int k = 0; k < 40 && isnan(outside); k++, step *= 1.7) {
        double at = inside + sign * step;
        int last = isfinite(bound) && sign * (at - bound) >= 0;
        if (last) at = bound;
        memcpy(x, keep, (size_t)f->np * sizeof *x);
        double risen = held_cost(f, x, j, at, fixed, &ignored) - cost;
        if (isnan(risen)) return NAN;
        if (risen > rise) outside = at;
        else if (last) return bound;
        else inside = at, memcpy(keep, x, (size_t)f->np * sizeof *keep);
    }
    if (isnan(outside)) return sign * INFINITY;
    for (int k = 0; k < 40 && fabs(outside - inside) > 1e-4 * fabs(outside - best[j]); k++) {
        double at = 0.5 * (inside + outside);
        memcpy(x, keep, (size_t)f->np * sizeof *x);
        double risen = held_cost(f, x, j, at, fixed, &ignored) - cost;
        if (isnan(risen)) return NAN;
        if (risen > rise) outside = at;
        else inside = at, memcpy(keep, x, (size_t)f->np * sizeof *keep);
    }
    return 0.5 * (inside + outside);
}

dae_status dae_fitting_profile(const dae_fitting *f, const double *best, double cost, dae_fit_result *out,
                               dae_error *err)
{
    size_t n = (size_t)f->np + 1;
    double *x = malloc(2 * n * sizeof *x);
    unsigned char *fixed = calloc(n, 1);
    double freedom = f->all_sd_known ? 1e9 : (double)(f->m - f->np),
           quantile = dae_student(f->opt->level, freedom);
    double noise = f->all_sd_known ? 1 : out->noise, rise = 0.5 * noise * noise * quantile * quantile;
    if (!x || !fixed) {
        free(x);
        free(fixed);
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    dae_status s = DAE_OK;
    for (int j = 0; j < f->np && s == DAE_OK; j++) {
        dae_fit_estimate *e = &out->estimate[j];
        double first =
            isfinite(e->sd) && e->sd > 0 ? e->sd : 0.1 * (e->value != 0 ? fabs(e->value) : f->scale[j]);
        for (int side = 0; side < 2 && s == DAE_OK; side++) {
            e->profile[side] = border(f, best, cost, rise, j, side ? 1 : -1, first, x, x + n, fixed);
            if (isnan(e->profile[side])) s = DAE_CANCELLED;
        }
    }
    free(x);
    free(fixed);
    return s;
}
