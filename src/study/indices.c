/* Variance-based indices [SAACRT10]. With rows A and B of independent points, A_i = A with column i of B, and f centered,
 *
 *     S_i = mean of f(B) (f(A_i) - f(A)) / V,     ST_i = mean of (f(A) - f(A_i))^2 / (2 V)        (Saltelli; Jansen)
 *
 * beside them the local ones, (dy/dp_i)^2 var(p_i) of the sum over all i, in the middle of the intervals. */
#include "core/error.h"
#include "sensitivity/family.h"

#include <daedalus/sensitivity.h>
#include <daedalus/sweep.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The row of each run of the design, or -1: it failed or is missing. */
static long *rows_of(const dae_table *t, long count)
{
    int status = dae_table_find(t, "status");
    long *row = malloc(((size_t)count + 1) * sizeof *row);
    for (long k = 0; row && k < count; k++) row[k] = -1;
    for (long i = 0; row && i < t->nrow; i++) {
        double run = t->value[i];
        const char *word = status >= 0 && t->text ? t->text[(long)status * t->nrow + i] : "ok";
        if (run >= 0 && run < (double)count && word && (!strcmp(word, "ok") || !strcmp(word, "event")))
            row[(long)run] = i;
    }
    return row;
}

/* first and total (width each) of a column of values. 0: too few runs, or nothing varies. */
static int variances(const double *f, const long *row, long points, int width, double *first, double *total)
{
    long used = 0, step = width + 2;
    double mean = 0, square = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; pass && i < width; i++) first[i] = total[i] = 0;
        for (long j = 0; j < points; j++) {
            const long *r = row + j * step;
            int whole = 1;
            for (long m = 0; m < step; m++) whole &= r[m] >= 0 && isfinite(f[r[m]]);
            if (!whole) continue;
            double a = f[r[0]] - mean, b = f[r[1]] - mean;
            if (!pass) {
                mean += f[r[0]] / 2 + f[r[1]] / 2; /* of this pass: the sum; mean was 0 */
                used++;
                continue;
            }
            square += a * a + b * b;
            for (int i = 0; i < width; i++) {
                double c = f[r[2 + i]] - mean;
                first[i] += b * (c - a);
                total[i] += (a - c) * (a - c);
            }
        }
        if (used < 2) return 0;
        if (!pass) mean /= (double)used;
    }
    double variance = square / (double)(2 * used - 1);
    if (!(variance > 0)) return 0;
    for (int i = 0; i < width; i++) {
        first[i] /= (double)used * variance;
        total[i] /= 2 * (double)used * variance;
    }
    return 1;
}

/* dy/dp (n*width) in the middle of the intervals; NULL: it fails. */
static double *middle(const dae_problem *p, const dae_design *d, double t_end, int *n)
{
    int width = dae_design_width(d);
    dae_error err = {0};
    dae_setting *list = calloc((size_t)width + 1, sizeof *list);
    const char **name = calloc((size_t)width + 1, sizeof *name);
    char *text = calloc((size_t)width + 1, 64);
    double *s = NULL, a, b;
    dae_problem *q = NULL;
    for (int k = 0; list && name && text && k < width; k++) {
        dae_design_interval(d, k, &a, &b);
        dae_parameter_text(p, dae_parameter_find(p, dae_design_name(d, k)), (a + b) / 2,
                           text + 64 * (size_t)k, 64);
        list[k] = (dae_setting){dae_design_name(d, k), text + 64 * (size_t)k};
        name[k] = dae_design_name(d, k);
    }
    if (list && name && text) q = dae_problem_variant(p, list, width, &err);
    *n = q ? dae_system_size(&q->system) : 0;
    if (q && (s = malloc((size_t)*n * (size_t)(width + 1) * sizeof *s))) {
        dae_sensitivity_options o = dae_sensitivity_options_default(q);
        double end = t_end != 0 ? t_end : q->t_end;
        o.simulation.t_end = end;
        if (dae_sensitivity_run(q, &o, name, width, &end, 1, NULL, s, NULL, &err) < 0) {
            free(s);
            s = NULL;
        }
    }
    dae_problem_destroy(q);
    free(list);
    free(name);
    free(text);
    return s;
}

static void local_shares(const dae_design *d, const double *s, int n, int component, double *share)
{
    int width = dae_design_width(d);
    double sum = 0, a, b;
    for (int k = 0; k < width; k++) {
        dae_design_interval(d, k, &a, &b);
        double by = s && component >= 0 ? s[component + n * k] * (b - a) : NAN;
        share[k] = by * by;
        sum += share[k];
    }
    for (int k = 0; k < width; k++) share[k] = sum > 0 ? share[k] / sum : NAN;
}

dae_table *dae_sweep_indices(const dae_table *runs, const dae_design *d, const dae_problem *p, double t_end,
                             dae_error *err)
{
    int width = dae_design_width(d), from = dae_table_find(runs, "t"), quantities = 0, n = 0;
    double a, b;
    if (!dae_design_interval(d, 0, &a, &b) || from < 0) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "variance-based indices need a design of Saltelli points");
        return NULL;
    }
    for (int c = from + 1; c < runs->ncol; c++) quantities += p && dae_component_find(p, runs->name[c]) >= 0;
    dae_table *t = dae_table_create(5, (long)quantities * width);
    long count = dae_design_count(d), *row = rows_of(runs, count), at = 0;
    double *value = malloc(3 * (size_t)width * sizeof *value), *s = p ? middle(p, d, t_end, &n) : NULL;
    if (t && row && value) {
        static const char *const name[] = {"quantity", "parameter", "first", "total", "local"};
        for (int k = 0; k < 5; k++) dae_table_column(t, k, name[k], "");
        dae_table_mark_words(t, "quantity");
        dae_table_mark_words(t, "parameter");
        for (int c = from + 1; c < runs->ncol; c++) {
            int component = p ? dae_component_find(p, runs->name[c]) : -1;
            if (component < 0) continue;
            int known = variances(runs->value + (long)c * runs->nrow, row, count / (width + 2), width, value,
                                  value + width);
            local_shares(d, s, n, component, value + 2 * width);
            for (int k = 0; k < width; k++, at++) {
                dae_table_set_text(t, at, 0, runs->name[c]);
                dae_table_set_text(t, at, 1, dae_design_name(d, k));
                for (int q = 0; q < 3; q++)
                    dae_table_set(t, at, 2 + q, q < 2 && !known ? NAN : value[q * width + k]);
            }
        }
    }
    int bad = !t || !row || !value || t->failed;
    free(row);
    free(value);
    free(s);
    if (!bad) return t;
    dae_table_destroy(t);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return NULL;
}
