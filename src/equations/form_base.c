/* See form_base.h. */
#include "equations/form_base.h"

#include "core/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLLOW_ROUNDS = 3 };

int dae_form_base_open(dae_form_base *b, dae_equation_system *s)
{
    size_t total = (size_t)s->analysis.total;
    b->s = s;
    b->d = dae_reduced_create(s->reduction, s->parameter, s->discrete);
    b->sides = dae_sides_create(s->smooth, s->discrete);
    b->X = calloc(total + 1, sizeof *b->X);
    b->y = calloc((size_t)s->n + 1, sizeof *b->y);
    b->changed = calloc((size_t)s->n + 1, 1);
    if (!b->d || !b->sides || !b->X || !b->y || !b->changed) return 0;
    memcpy(b->X, s->initial.X, total * sizeof *b->X);
    return 1;
}

void dae_form_base_close(dae_form_base *b)
{
    dae_reduced_destroy(b->d);
    dae_sides_destroy(b->sides);
    free(b->X);
    free(b->y);
    free(b->changed);
}

void dae_form_base_renew(dae_form_base *b)
{
    if (b->renew) b->renew(b->user);
    else dae_reduced_set(b->d, b->s->parameter, dae_sides_discrete(b->sides));
}

int dae_form_base_take(dae_form_base *b, const double *discrete)
{
    if (!dae_sides_take(b->sides, discrete)) return 0;
    dae_form_base_renew(b);
    return 1;
}

int dae_form_base_solve(dae_form_base *b, double t, const double *z, const double *discrete,
                        dae_form_solve *solve, void *user, const double **X)
{
    dae_form_base_take(b, discrete);
    int r = solve(user, t, z, X);
    for (int k = 0; k < FOLLOW_ROUNDS && !r && dae_sides_follow(b->sides, t, *X); k++) {
        dae_form_base_renew(b);
        r = solve(user, t, z, X);
    }
    if (r > 0 && dae_sides_literal(b->sides, t, *X)) {
        dae_form_base_renew(b);
        r = solve(user, t, z, X);
    }
    return r;
}

dae_status dae_form_base_lift(dae_form_base *b, double t, const double *y, dae_error *err)
{
    dae_equation_system *s = b->s;
    int different = 0;
    dae_equation_system_components(s, b->X, b->y);
    for (int i = 0; i < s->ncontinuous; i++) {
        b->changed[i] = y[i] != b->y[i];
        different |= b->changed[i];
    }
    different |= dae_form_base_take(b, y + s->ncontinuous);
    int r = different
                ? dae_equation_system_restart(s, t, y, b->changed, dae_sides_discrete(b->sides), b->X, b->X)
                : 0;
    return dae_equation_system_restarted(r, t, err);
}

dae_status dae_form_base_choose(dae_form_base *b, double t, dae_error *err)
{
    int bad = 0, r = dae_reduced_start(b->d, t, b->X, &bad);
    if (r < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for the states");
    if (r == 0) return DAE_OK;
    char names[220];
    dae_reduced_dependent(b->d, bad, names, sizeof names);
    return dae_fail(err, DAE_ERR_SINGULAR, t, "t = %.10g: %s: a redundant constraint?", t, names);
}

void dae_form_base_lower(dae_form_base *b, const double *X, const double *discrete, double *y, double *yp)
{
    const dae_equation_system *s = b->s;
    if (X != b->X) memcpy(b->X, X, (size_t)s->analysis.total * sizeof *b->X);
    dae_equation_system_components(s, X, y);
    if (yp) dae_equation_system_rates(s, X, yp);
    for (int i = s->ncontinuous; i < s->n; i++) {
        y[i] = discrete[i - s->ncontinuous];
        if (yp) yp[i] = 0;
    }
}

void dae_form_base_tolerance(const dae_form_base *b, int count, const int *at, const double *given,
                             double *out)
{
    const dae_equation_system *s = b->s;
    for (int k = 0, j = 0; k < count; k++) {
        int best = -1;
        while (at[k] >= s->analysis.place[j + 1]) j++;
        for (int i = 0; i < s->ncontinuous; i++) {
            int fits = s->variable[i] == j && s->order[i] <= at[k] - s->analysis.place[j];
            if (fits && (best < 0 || s->order[i] > s->order[best])) best = i;
        }
        out[k] = given[best < 0 ? 0 : best];
    }
    for (int i = 0; i < s->model->ndiscrete; i++) out[count + i] = given[s->ncontinuous + i];
}

/* ---- Checkpoints ---------------------------------------------------------------------------------------------------------- */

size_t dae_form_base_save(const dae_form_base *b, void *buffer)
{
    size_t discrete = (size_t)dae_sides_all(b->sides) * sizeof(double),
           total = (size_t)b->s->analysis.total * sizeof(double);
    unsigned char *out = buffer;
    if (out) {
        memcpy(out, dae_sides_discrete(b->sides), discrete);
        memcpy(out + discrete, b->X, total);
        out += discrete + total;
    }
    return discrete + total + dae_reduced_save(b->d, out);
}

int dae_form_base_load(dae_form_base *b, const void *buffer, size_t size)
{
    size_t discrete = (size_t)dae_sides_all(b->sides) * sizeof(double),
           total = (size_t)b->s->analysis.total * sizeof(double);
    const unsigned char *in = buffer;
    if (size < discrete + total) return -1;
    dae_sides_restore(b->sides, (const double *)buffer);
    memcpy(b->X, in + discrete, total);
    dae_form_base_renew(b);
    return dae_reduced_load(b->d, in + discrete + total, size - discrete - total);
}
