/* Derivatives of a run by parameters and initial values: a second run with the sensitivities beside it, at the points of the first.
 * A time that stands twice is an event: its derivatives are taken a little before and after.
 * Integrals along a run: a second run too, with the same steps. */
#include "experiment/run_sensitivity.h"

#include <daedalus/quadrature.h>

#include "core/error.h"
#include "sensitivity/forward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BESIDE 1e-9 /* of the interval: how far from an event */

const char *dae_run_sensitivity_name(const dae_run_result *r, int j, int i, char *buffer, size_t size)
{
    char own[24];
    const char *of =
        i < r->n ? dae_component_name(r->problem, i, own, sizeof own) : r->problem->derived.column[i - r->n];
    snprintf(buffer, size, "d%s/d%s", of, r->sensitivity[j]);
    return buffer;
}

/* Numbers that derived columns have at one point. */
static size_t derived_size(const dae_run_result *r)
{
    return (size_t)r->problem->derived.ncolumn * (size_t)r->nsensitivity;
}

/* Derivatives of the derived columns at the present point; NAN where they cannot be had. < 0: out of memory. */
static dae_status derived_at(dae_sensitivity *s, const dae_run_result *r, double *out, dae_error *err)
{
    dae_error why = {0};
    size_t size = derived_size(r);
    dae_status bad = size ? dae_sensitivity_columns(s, NULL, out, &why) : DAE_OK;
    if (bad == DAE_ERR_MEMORY) return dae_fail(err, bad, why.t, "%s", why.text);
    for (size_t i = 0; bad < 0 && i < size; i++) out[i] = NAN;
    return DAE_OK;
}

/* Derivatives at the points of the trajectory. */
static dae_status along(dae_sensitivity *s, dae_run_result *r, double *out, double *derived, dae_error *err)
{
    double d = BESIDE * (r->t_end - r->t0);
    size_t size = (size_t)r->n * (size_t)r->nsensitivity;
    dae_status status = DAE_OK;
    for (int k = 0; k < r->npoint && status == DAE_OK; k++) {
        double t = r->point_t[k], last = dae_sensitivity_time(s);
        int before = k + 1 < r->npoint && r->point_t[k + 1] == t, after = k > 0 && r->point_t[k - 1] == t;
        if (before && !after) t -= d;
        if (after) t += d;
        if ((t - last) * d < 0) t = last;
        if ((r->t_end - t) * d < 0) t = r->t_end;
        status = dae_sensitivity_advance(s, t, err);
        if (status < 0) break;
        memcpy(out + (size_t)k * size, dae_sensitivity_values(s), size * sizeof *out);
        dae_status bad = derived_at(s, r, derived + (size_t)k * derived_size(r), err);
        if (bad < 0) status = bad;
    }
    return status < 0 || status == DAE_CANCELLED ? status : DAE_OK;
}

/* What the events do: their times, and the end where one is it. The second run finds the same ones. */
static dae_status of_events(dae_sensitivity *s, dae_run_result *r, int np, dae_arena *arena, dae_error *err)
{
    const double *dt;
    int count, n = r->n, ended = r->status == DAE_EVENT;
    const dae_event_record *found = dae_sensitivity_events(s, &dt, &count);
    size_t size = (size_t)n * (size_t)np;
    double *of = dae_arena_reals(arena, (size_t)np * (size_t)r->nevent + 1),
           *total = ended ? dae_arena_reals(arena, size) : NULL,
           *rate = ended ? dae_arena_reals(arena, (size_t)n) : NULL;
    if (dae_arena_failed(arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int i = 0; i < r->nevent; i++) {
        int same = dt && i < count && found[i].index == r->event[i].index;
        for (int j = 0; j < np; j++) of[i * np + j] = same ? dt[i * np + j] : NAN;
    }
    r->event_s = of;
    if (!ended || !r->nevent || count != r->nevent || dae_sensitivity_rate(s, rate)) return DAE_OK;
    memcpy(total, dae_sensitivity_values(s), size * sizeof *total);
    for (int j = 0; j < np; j++) {
        for (int i = 0; i < n; i++) total[i + j * n] += rate[i] * of[(r->nevent - 1) * np + j];
    }
    r->sensitivity_total = total;
    return DAE_OK;
}

/* Up to where the second run goes. It finds an event that ends the run where the first did up to rounding: perhaps a little later. */
static double last_time(const dae_sensitivity *s, const dae_run_result *r)
{
    int count;
    double end = r->last.t + BESIDE * (r->t_end - r->t0);
    dae_sensitivity_events(s, NULL, &count);
    if (r->status != DAE_EVENT || count >= r->nevent) return r->last.t;
    return (r->t_end - end) * (r->t_end - r->t0) < 0 ? r->t_end : end;
}

dae_status dae_run_sensitivity(dae_run_result *r, const dae_run_options *o, dae_arena *arena, dae_error *err)
{
    dae_sensitivity_options s = {
        .simulation = {.options = o->options, .t_end = o->t_end, .events = o->events}, .mode = "auto"};
    size_t size = (size_t)r->n * (size_t)o->nsensitivity;
    double *end = dae_arena_reals(arena, size),
           *points = dae_arena_reals(arena, size * (size_t)r->npoint + 1);
    const char **kind = dae_arena_take(arena, (size_t)o->nsensitivity + 1, sizeof *kind);
    r->nsensitivity = o->nsensitivity;
    r->sensitivity = o->sensitivity;
    double *derived = dae_arena_reals(arena, derived_size(r) * ((size_t)r->npoint + 1) + 1),
           *derived_end = derived ? derived + derived_size(r) * (size_t)r->npoint : NULL;
    if (!end || !points || !kind || !derived) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    dae_sensitivity *x = dae_sensitivity_open(r->problem, &s, o->sensitivity, o->nsensitivity, err);
    if (!x) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    dae_status status = dae_sensitivity_start(x, err);
    if (status >= 0) status = along(x, r, points, derived, err);
    double to = last_time(x, r);
    if (status == DAE_OK && (to - dae_sensitivity_time(x)) * (r->t_end - r->t0) > 0)
        status = dae_sensitivity_advance(x, to, err);
    if (status == DAE_CANCELLED) {
        r->nsensitivity = 0;
    } else if (status >= 0) {
        memcpy(end, dae_sensitivity_values(x), size * sizeof *end);
        for (int j = 0; j < o->nsensitivity; j++) kind[j] = dae_sensitivity_kind(x, j);
        r->sensitivity_kind = kind;
        r->sensitivity_end = end;
        r->point_s = points;
        dae_status last = derived_at(x, r, derived_end, err);
        if (derived_size(r)) {
            r->point_derived_s = derived;
            r->derived_s_end = derived_end;
        }
        if (last >= 0) last = of_events(x, r, o->nsensitivity, arena, err);
        if (last < 0) status = last;
    }
    dae_sensitivity_close(x);
    return status < 0 || status == DAE_CANCELLED ? status : DAE_OK;
}

dae_status dae_run_integrals(dae_run_result *r, const dae_run_options *o, dae_arena *arena, dae_error *err)
{
    dae_quadrature_options q = {.simulation = {.options = o->options, .t_end = o->t_end, .events = o->events},
                                .by = o->sensitivity,
                                .nby = o->nsensitivity,
                                .mode = "forward"};
    size_t count = (size_t)o->nintegral, points = (size_t)r->npoint + 1, by = (size_t)o->nsensitivity;
    double *t = dae_arena_reals(arena, points), *value = dae_arena_reals(arena, count * points),
           *error = dae_arena_reals(arena, count * points),
           *derivative = by ? dae_arena_reals(arena, count * by * points) : NULL;
    if (!t || !value || !error || (by && !derivative))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (r->npoint) memcpy(t, r->point_t, (points - 1) * sizeof *t);
    t[points - 1] = r->last.t;
    dae_status s = dae_quadrature(r->problem, &q, o->integral, o->nintegral, t, (int)points, value, error,
                                  derivative, err);
    if (s < 0 || s == DAE_CANCELLED) return s;
    r->integral = o->integral;
    r->nintegral = o->nintegral;
    r->point_q = value;
    r->integral_end = value + count * (points - 1);
    r->integral_error = error + count * (points - 1);
    r->integral_s = by ? derivative + count * by * (points - 1) : NULL;
    return DAE_OK;
}
