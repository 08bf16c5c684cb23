/* Forward sensitivities: the handle. It runs an engine (abreast.c, columns.c) by an integrator of its own and shows the
 * results in the coordinates of the problem. */
#include "sensitivity/forward.h"
#include "sensitivity/jump.h"

#include "core/vector.h"
#include "method/driver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Relative increments of central differences by a parameter: about the cube root of the rounding unit; larger where iterations
 * that stop at a tolerance lie between, as in projections (docs/sensitivities.md) */
#define STEP 3e-6
#define STEP_ABREAST 1e-5
#define OUT_OF_REACH 1e99 /* tolerances of what has no say in the step size */

struct dae_sensitivity {
    const dae_problem *p;
    dae_sensitivity_options opt;
    dae_family *f;
    dae_arena *arena;
    dae_engine engine;
    dae_options options; /* of the integrator */
    dae_integrator *it;
    dae_jumps jumps;
    double t0, t_end;
    double *start, *derivative; /* size each; derivative NULL: not given */
    double *all;                /* size: interpolated */
    double *y, *values;         /* n, n*count */
    double *zs, *low[2];        /* nz; n each */
    double *z, *along;          /* nz each */
    double *moved[2];           /* nz each */
    double *forces[2];          /* mechanisms: nv + nlambda each */
    double *column;
    int ncolumn;
};

static dae_status no_memory(dae_error *err)
{
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

dae_sensitivity_options dae_sensitivity_options_default(const dae_problem *p)
{
    return (dae_sensitivity_options){.simulation = dae_simulation_options_default(p), .mode = "auto"};
}

/* ---- Building ---------------------------------------------------------------------------------------- */

/* Tolerances of all. Abreast only z counts, and as the rms norm is taken over all copies, z's are smaller by the square root of
 * their number. Columns have rtol and atol/|p_j|, so that s_j p_j is controlled as z is. */
static dae_status tolerances(dae_sensitivity *s, dae_error *err)
{
    const dae_engine *e = &s->engine;
    const dae_options *from = &s->f->sim->options;
    int n = e->layout.n, copies = e->layout.copies, alone = !e->columns || s->opt.uncontrolled;
    double *rtol = dae_arena_reals(s->arena, (size_t)e->size),
           *atol = dae_arena_reals(s->arena, (size_t)e->size);
    if (!rtol || !atol) return no_memory(err);
    double share = alone ? 1 / sqrt(copies) : 1;
    for (int c = 0; c < copies; c++) {
        double p = c && e->columns ? fabs(s->f->direction[c - 1].value) : 1;
        for (int i = 0; i < n; i++) {
            int k = dae_layout_at(&e->layout, c, i);
            rtol[k] = share * (from->rtol_vec ? from->rtol_vec[i] : from->rtol);
            atol[k] = share * (from->atol_vec ? from->atol_vec[i] : from->atol) / (p > 0 ? p : 1);
            if (c && alone) atol[k] = OUT_OF_REACH;
        }
    }
    s->options = *from;
    s->options.method = s->f->method;
    s->options.formulation = NULL;
    s->options.rtol_vec = rtol;
    s->options.atol_vec = atol;
    return DAE_OK;
}

/* ---- Derivatives of what follows from the state -------------------------------------------------------- */

/* A vector that follows from the state z of a member. 0: fine. */
typedef int vector_fn(dae_sensitivity *s, dae_simulation *m, double t, const double *z, double *out);

/* out (n) = its derivative by p_j: of eighth order where there are relatives for it, parts of z and p together where the increment of
 * p moves z by little; else the difference of the two sides. work: n values. */
static int derivative_of(dae_sensitivity *s, double t, const double *all, int j, vector_fn *fn, int n,
                         double *work, double *out)
{
    const dae_engine *e = &s->engine;
    const dae_direction_of *d = &s->f->direction[j];
    int r = 0;
    dae_zero(n, out);
    if (!e->columns || !(d->width > 0)) {
        for (int k = 0; k < 2 && !r; k++) {
            dae_engine_relative(e, all, j, k, s->zs);
            r = fn(s, dae_family_side(s->f, j, k), t, s->zs, work);
            dae_axpy(n, (k ? 1 : -1) / dae_family_width(s->f, j), work, out);
        }
        return r;
    }
    double *z = s->z, *along = s->along;
    dae_gather(&e->layout, 0, all, z);
    dae_gather(&e->layout, 1 + j, all, along);
    double size = dae_engine_size(e, z, along);
    int one = d->width * size < DAE_WIDE_MOVE;
    for (int part = one; part < 2 && !r; part++) { /* along z; along p */
        double h = part ? d->width : DAE_WIDE_MOVE / size;
        for (int k = 0; k < DAE_WIDE && !r; k++) {
            dae_copy(s->f->nz, z, s->zs);
            if (one || !part) dae_axpy(s->f->nz, dae_family_place[k] * h, along, s->zs);
            r = fn(s, part ? d->wide[k].sim : s->f->sim, t, s->zs, work);
            dae_axpy(n, dae_family_weight[k] / h, work, out);
        }
    }
    return r;
}

/* ---- Projection, charts ------------------------------------------------------------------------------- */

static int projected(dae_sensitivity *s, dae_simulation *m, double t, const double *z, double *out)
{
    dae_copy(s->f->nz, z, out);
    return m->it->ivp.project(t, out, m->it->ivp.project_user);
}

/* Moves z and its relatives onto their constraints. */
static int project(double t, double *all, void *user)
{
    dae_sensitivity *s = user;
    dae_engine *e = &s->engine;
    dae_copy(e->size, all, s->all);
    dae_gather(&e->layout, 0, s->all, s->z);
    int r = projected(s, s->f->sim, t, s->z, s->zs);
    dae_scatter(&e->layout, 0, s->zs, all);
    for (int j = 0; j < s->f->count && !r; j++) {
        const dae_direction_of *d = &s->f->direction[j];
        if (e->columns && d->inside) {
            dae_gather(&e->layout, 0, s->all, s->z);
            dae_gather(&e->layout, 1 + j, s->all, s->along);
            dae_gather(&e->layout, 0, all, s->moved[0]);
            r = s->f->p->tangents->inside_project(s->f->inside, t, s->z, s->moved[0], d->parameter, s->along);
            dae_scatter(&e->layout, 1 + j, s->along, all);
            continue;
        }
        if (e->columns && d->width > 0) {
            r = derivative_of(s, t, s->all, j, projected, s->f->nz, s->moved[0], s->moved[1]);
            dae_scatter(&e->layout, 1 + j, s->moved[1], all);
            continue;
        }
        for (int side = 0; side < 2 && !r; side++) {
            dae_engine_relative(e, s->all, j, side, s->z);
            r = projected(s, dae_family_side(s->f, j, side), t, s->z, s->zs);
            dae_engine_put_relative(e, all, j, side, s->zs);
        }
    }
    return r;
}

static int chart(double t, double *all, void *user)
{
    dae_sensitivity *s = user;
    return dae_engine_chart(&s->engine, t, all);
}

static dae_status attach(dae_sensitivity *s, dae_error *err)
{
    const dae_integrator *own = s->f->sim->it;
    dae_status r = DAE_OK;
    if (own->ivp.project) r = dae_integrator_set_projection(s->it, project, s, err);
    if (own->chart) dae_integrator_set_chart(s->it, chart, s);
    dae_events events = dae_jumps_events(&s->jumps);
    if (r >= 0 && events.count) r = dae_integrator_set_events(s->it, &events, err);
    return r;
}

/* ---- Life ------------------------------------------------------------------------------------------------ */

static dae_status initial_values(dae_sensitivity *s, dae_error *err)
{
    dae_engine *e = &s->engine;
    const dae_family *f = s->f;
    dae_scatter(&e->layout, 0, f->sim->z0, s->start);
    if (s->derivative) dae_scatter(&e->layout, 0, f->sim->zp0, s->derivative);
    for (int j = 0; j < f->count; j++) {
        if (s->opt.products) {
            dae_zero(f->nz, s->zs);
            if (s->opt.products->dy0dp && s->opt.products->dy0dp(j, s->zs, s->opt.products->user))
                return dae_fail(err, DAE_ERR_CALLBACK, s->t0, "dy0dp failed");
            dae_scatter(&e->layout, 1 + j, s->zs, s->start);
            continue;
        }
        if (e->columns) {
            if (dae_family_start(f, j, s->zs)) return no_memory(err);
            dae_scatter(&e->layout, 1 + j, s->zs, s->start);
        }
        for (int side = 0; side < 2 && !e->columns; side++) {
            const dae_simulation *m = dae_family_side(f, j, side);
            dae_engine_put_relative(e, s->start, j, side, m->z0);
        }
        for (int side = 0; side < 2 && s->derivative; side++) {
            const dae_simulation *m = dae_family_side(f, j, side);
            dae_engine_put_relative(e, s->derivative, j, side, m->zp0 ? m->zp0 : f->sim->zp0);
        }
    }
    return DAE_OK;
}

static dae_status take_memory(dae_sensitivity *s, dae_error *err)
{
    const dae_family *f = s->f;
    dae_arena *a = s->arena;
    const dae_mech *m = f->sim->mech;
    size_t n = (size_t)f->n, nz = (size_t)f->nz, size = (size_t)s->engine.size;
    s->start = dae_arena_reals(a, size);
    if (f->sim->zp0) s->derivative = dae_arena_reals(a, size);
    s->all = dae_arena_reals(a, size);
    s->y = dae_arena_reals(a, n);
    s->values = dae_arena_reals(a, n * (size_t)f->count + 1);
    s->zs = dae_arena_reals(a, nz);
    s->ncolumn = s->p->derived.columns ? s->p->derived.ncolumn : 0;
    for (int k = 0; k < 2; k++) {
        s->moved[k] = dae_arena_reals(a, nz);
        s->low[k] = dae_arena_reals(a, n);
        if (m) s->forces[k] = dae_arena_reals(a, (size_t)(m->nv + m->nlambda) + 1);
    }
    s->column = dae_arena_reals(a, (size_t)s->ncolumn + 1);
    s->z = dae_arena_reals(a, nz);
    s->along = dae_arena_reals(a, nz);
    return dae_arena_failed(a) ? no_memory(err) : DAE_OK;
}

/* Columns where they can be had; sets e->columns and opens the relatives. */
static dae_status choose_mode(dae_sensitivity *s, dae_error *err)
{
    const char *mode = s->opt.mode ? s->opt.mode : "auto";
    int automatic = !strcmp(mode, "auto");
    if (!automatic && strcmp(mode, "columns") && strcmp(mode, "abreast"))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "mode \"%s\" is not one of auto, columns, abreast", mode);
    const char *why = strcmp(mode, "abreast") ? dae_columns_refuse(s->f, s->opt.products) : NULL;
    s->engine.columns = strcmp(mode, "abreast") && !why;
    if (s->opt.products && !s->engine.columns)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "functions for df/dp need the mode \"columns\"%s%s",
                        why ? ", but " : "", why ? why : "");
    double own = s->opt.step;
    for (;;) {
        if (s->opt.products || (s->engine.columns && dae_family_exact(s->f, s->engine.z))) return DAE_OK;
        dae_status r = dae_family_relatives(s->f,
                                            own > 0             ? own
                                            : s->engine.columns ? STEP
                                                                : STEP_ABREAST,
                                            err);
        if (r < 0 || !s->engine.columns) return r;
        why = dae_columns_refuse(s->f, NULL); /* masses are known now */
        if (!why) return DAE_OK;
        if (!automatic)
            return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "mode \"columns\": %s; take \"abreast\"", why);
        dae_family_alone(s->f);
        s->engine.columns = 0;
    }
}

static dae_status build(dae_sensitivity *s, dae_error *err)
{
    dae_engine *e = &s->engine;
    e->f = s->f;
    e->arena = s->arena;
    e->z = dae_arena_reals(s->arena, (size_t)s->f->nz);
    e->zp = dae_arena_reals(s->arena, (size_t)s->f->nz);
    dae_status r = dae_arena_failed(s->arena) ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory")
                                              : choose_mode(s, err);
    if (r >= 0) r = e->columns ? dae_columns_create(e, s->opt.products, err) : dae_abreast_create(e, err);
    if (r >= 0) r = take_memory(s, err);
    if (r >= 0) r = tolerances(s, err);
    if (r < 0) return r;
    r = dae_jumps_create(&s->jumps, e, err);
    if (r < 0) return r;
    dae_jumps_switches(&s->jumps);
    s->it = dae_integrator_create(&e->sys, &s->options, err);
    if (!s->it) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    s->jumps.it = s->it;
    e->lead.unweighted = s->opt.uncontrolled;
    if (e->columns && e->layout.segments == 1) s->it->ivp.lead = &e->lead;
    const char *asked = s->opt.simulation.options.method;
    if (!asked || !strcmp(asked, "auto")) dae_driver_may_switch(s->it);
    return attach(s, err);
}

dae_sensitivity *dae_sensitivity_open(const dae_problem *p, const dae_sensitivity_options *opt,
                                      const char *const *name, int count, dae_error *err)
{
    dae_error own = {0};
    if (!err) err = &own;
    err->status = DAE_OK;
    if (dae_need(p, "the problem", err) || dae_need(p->y0, "y0", err) || dae_need(name, "the names", err))
        return NULL;
    if (count < 1) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "no parameter is named");
        return NULL;
    }
    dae_sensitivity_options standard = dae_sensitivity_options_default(p);
    if (!opt) opt = &standard;
    if (!(opt->step >= 0) || opt->step > 0.1) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "step = %g must be between 0 and 0.1", opt->step);
        return NULL;
    }
    dae_sensitivity *s = calloc(1, sizeof *s);
    if (!s || !(s->arena = dae_arena_create())) {
        free(s);
        no_memory(err);
        return NULL;
    }
    s->p = p;
    s->opt = *opt;
    s->t0 = p->t0;
    s->t_end = opt->simulation.t_end;
    s->f = dae_family_open(p, &opt->simulation, name, count, opt->products, err);
    if (s->f && build(s, err) >= 0) return s;
    dae_sensitivity_close(s);
    return NULL;
}

void dae_sensitivity_close(dae_sensitivity *s)
{
    if (!s) return;
    dae_integrator_destroy(s->it);
    dae_family_close(s->f);
    dae_arena_destroy(s->arena);
    dae_jumps_destroy(&s->jumps);
    free(s);
}

dae_status dae_sensitivity_start(dae_sensitivity *s, dae_error *err)
{
    if (!s) return dae_need(s, "the sensitivities", err);
    s->jumps.nevent = 0;
    dae_status r = initial_values(s, err);
    if (r < 0) return r;
    return dae_integrator_start(s->it, s->t0, s->t_end, s->start, s->derivative, err);
}

/* ---- Going on ------------------------------------------------------------------------------------------- */

static dae_status gone(dae_sensitivity *s, dae_status r)
{
    if (r == DAE_EVENT) dae_jumps_stopped(&s->jumps);
    return r;
}

dae_status dae_sensitivity_advance(dae_sensitivity *s, double t, dae_error *err)
{
    if (!s) return dae_need(s, "the sensitivities", err);
    return gone(s, dae_integrator_advance(s->it, t, err));
}

dae_status dae_sensitivity_step(dae_sensitivity *s, dae_error *err)
{
    if (!s) return dae_need(s, "the sensitivities", err);
    return gone(s, dae_integrator_step(s->it, err));
}

/* ---- Where it is ---------------------------------------------------------------------------------------- */

/* 1: the state of the problem is z itself. */
static int plain(const dae_sensitivity *s)
{
    const dae_simulation *m = s->f->sim;
    return !m->form && !m->own && !m->as_mechanism;
}

static int state_of(dae_sensitivity *s, dae_simulation *m, double t, const double *z, double *out)
{
    (void)s;
    dae_simulation_lower(m, t, z, out, NULL, NULL);
    return 0;
}

/* y, and dy/dp from the states of the relatives, at t. */
static void lower(dae_sensitivity *s, double t, const double *all, double *y, double *values)
{
    const dae_engine *e = &s->engine;
    const dae_family *f = s->f;
    dae_gather(&e->layout, 0, all, s->zs);
    if (y) dae_simulation_lower(f->sim, t, s->zs, y, NULL, NULL);
    for (int j = 0; values && j < f->count; j++) {
        double *out = values + (size_t)j * (size_t)f->n;
        if (plain(s) && e->columns) {
            dae_gather(&e->layout, 1 + j, all, out);
            continue;
        }
        if (e->columns && f->direction[j].inside) {
            dae_gather(&e->layout, 0, all, s->z);
            dae_gather(&e->layout, 1 + j, all, s->along);
            const dae_tangents *in = f->p->tangents;
            if (!in->inside_values(f->inside, t, s->z, s->along, f->direction[j].parameter, f->values)) {
                in->inside_pick(f->inside, f->values, NULL, NULL, out);
                continue;
            }
        }
        (void)derivative_of(s, t, all, j, state_of, f->n, s->low[0], out);
    }
}

double dae_sensitivity_time(const dae_sensitivity *s)
{
    return s ? dae_integrator_time(s->it) : NAN;
}

const double *dae_sensitivity_state(dae_sensitivity *s)
{
    if (!s) return NULL;
    lower(s, dae_integrator_time(s->it), dae_integrator_state(s->it), s->y, NULL);
    return s->y;
}

const double *dae_sensitivity_values(dae_sensitivity *s)
{
    if (!s) return NULL;
    lower(s, dae_integrator_time(s->it), dae_integrator_state(s->it), NULL, s->values);
    return s->values;
}

dae_status dae_sensitivity_interpolate(dae_sensitivity *s, double t, double *y, double *values,
                                       dae_error *err)
{
    if (!s) return dae_need(s, "the sensitivities", err);
    double from = dae_integrator_previous_time(s->it), to = dae_integrator_time(s->it);
    if (!(t >= fmin(from, to) && t <= fmax(from, to)) ||
        dae_integrator_interpolate(s->it, t, s->all, NULL) < 0)
        return dae_fail(err, DAE_ERR_INPUT, t, "t = %.10g is not inside the last step, %.10g .. %.10g", t,
                        from, to);
    lower(s, t, s->all, y, values);
    return DAE_OK;
}

/* Accelerations, then multipliers. */
static int forces_of(dae_sensitivity *s, dae_simulation *m, double t, const double *z, double *out)
{
    return !dae_simulation_lower(m, t, z, s->low[1], out, out + s->f->sim->mech->nv);
}

dae_status dae_sensitivity_multipliers(dae_sensitivity *s, double *a, double *lambda, dae_error *err)
{
    if (!s) return dae_need(s, "the sensitivities", err);
    const dae_family *f = s->f;
    const dae_mech *m = f->sim->mech;
    if (!m) return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "this is no mechanism");
    double t = dae_integrator_time(s->it);
    for (int j = 0; j < f->count; j++) {
        if (derivative_of(s, t, dae_integrator_state(s->it), j, forces_of, m->nv + m->nlambda, s->forces[0],
                          s->forces[1]))
            return dae_fail(err, DAE_ERR_SINGULAR, t,
                            "t = %.10g: accelerations and multipliers are not known there", t);
        if (a) dae_copy(m->nv, s->forces[1], a + (size_t)j * (size_t)m->nv);
        if (lambda) dae_copy(m->nlambda, s->forces[1] + m->nv, lambda + (size_t)j * (size_t)m->nlambda);
    }
    return DAE_OK;
}

/* The derived columns. */
static int columns_of(dae_sensitivity *s, dae_simulation *m, double t, const double *z, double *out)
{
    int nv = m->mech ? m->mech->nv : 0;
    int known =
        dae_simulation_lower(m, t, z, s->low[0], nv ? s->forces[0] : NULL, nv ? s->forces[0] + nv : NULL);
    int bad = m->p->derived.columns(m->p, 1, &t, s->low[0], known ? s->forces[0] : NULL,
                                    known ? s->forces[0] + nv : NULL, out);
    return bad < 0 ? bad : 0;
}

static dae_status columns_at(dae_sensitivity *s, double t, const double *all, double *value,
                             double *derivative, dae_error *err)
{
    int bad = 0;
    dae_gather(&s->engine.layout, 0, all, s->zs);
    if (value && s->ncolumn) bad = columns_of(s, s->f->sim, t, s->zs, value);
    for (int j = 0; j < s->f->count && derivative && s->ncolumn && !bad; j++) {
        const dae_direction_of *d = &s->f->direction[j];
        if (s->engine.columns && s->f->tangents && d->exact) {
            dae_gather(&s->engine.layout, 0, all, s->zs);
            dae_gather(&s->engine.layout, 1 + j, all, s->low[0]);
            bad = s->f->tangents->columns(s->p, t, s->zs, 0, s->low[0], d->parameter,
                                          derivative + (size_t)j * (size_t)s->ncolumn);
            continue;
        }
        if (s->engine.columns && d->inside) {
            const dae_tangents *in = s->f->p->tangents;
            dae_gather(&s->engine.layout, 0, all, s->z);
            dae_gather(&s->engine.layout, 1 + j, all, s->along);
            dae_simulation_lower(s->f->sim, t, s->z, s->low[0], NULL, NULL);
            bad = in->inside_values(s->f->inside, t, s->z, s->along, d->parameter, s->f->values);
            if (!bad) in->inside_pick(s->f->inside, s->f->values, NULL, NULL, s->low[1]);
            if (!bad)
                bad = in->columns(s->p, t, s->low[0], 0, s->low[1], d->parameter,
                                  derivative + (size_t)j * (size_t)s->ncolumn);
            continue;
        }
        bad = derivative_of(s, t, all, j, columns_of, s->ncolumn, s->column,
                            derivative + (size_t)j * (size_t)s->ncolumn);
    }
    if (bad == DAE_ERR_MEMORY) return dae_fail(err, DAE_ERR_MEMORY, t, "out of memory for the columns");
    return bad ? dae_fail(err, DAE_ERR_UNDEFINED, t, "t = %.10g: the columns cannot be evaluated", t)
               : DAE_OK;
}

dae_status dae_sensitivity_columns(dae_sensitivity *s, double *value, double *derivative, dae_error *err)
{
    if (!s) return dae_need(s, "the sensitivities", err);
    return columns_at(s, dae_integrator_time(s->it), dae_integrator_state(s->it), value, derivative, err);
}

dae_integrator *dae_sensitivity_integrator(dae_sensitivity *s)
{
    return s->it;
}

dae_status dae_sensitivity_at(dae_sensitivity *s, double t, double *y, double *values, double *column,
                              double *derivative, dae_error *err)
{
    if (dae_integrator_interpolate(s->it, t, s->all, NULL) < 0)
        return dae_fail(err, DAE_ERR_INTERNAL, t, "t = %.10g is not inside the last step", t);
    lower(s, t, s->all, y, values);
    return column || derivative ? columns_at(s, t, s->all, column, derivative, err) : DAE_OK;
}

int dae_sensitivity_rate(dae_sensitivity *s, double *yp)
{
    const dae_layout *l = &s->engine.layout;
    double t = dae_integrator_time(s->it), d = STEP * fmax(fabs(t), 1);
    dae_gather(l, 0, dae_integrator_state(s->it), s->z);
    dae_zero(l->n, s->along);
    if (s->it->yp) dae_gather(l, 0, s->it->yp, s->along);
    if (dae_jumps_rate(&s->jumps, t, s->z, s->along)) return -1;
    if (plain(s)) {
        dae_copy(l->n, s->along, yp);
        return 0;
    }
    for (int k = 0; k < 2; k++) {
        double h = k ? d : -d;
        for (int i = 0; i < l->n; i++) s->zs[i] = s->z[i] + h * s->along[i];
        dae_simulation_lower(s->f->sim, t + h, s->zs, s->low[k], NULL, NULL);
    }
    for (int i = 0; i < s->f->n; i++) yp[i] = (s->low[1][i] - s->low[0][i]) / (2 * d);
    return 0;
}

const dae_event_record *dae_sensitivity_events(const dae_sensitivity *s, const double **derivative,
                                               int *count)
{
    if (derivative) *derivative = s ? s->jumps.event : NULL;
    return dae_integrator_events(s ? s->it : NULL, count);
}

dae_stats dae_sensitivity_stats(const dae_sensitivity *s)
{
    return *dae_integrator_stats(s ? s->it : NULL);
}

dae_choice dae_sensitivity_choice(const dae_sensitivity *s, const char **mode)
{
    if (mode) *mode = !s ? "" : s->engine.columns ? "columns" : "abreast";
    dae_choice c = dae_simulation_choice(s ? s->f->sim : NULL);
    const dae_method_info *m = s ? dae_integrator_method(s->it) : NULL;
    const char *why = s ? dae_integrator_reason(s->it) : NULL;
    if (m) c.method = m->name; /* another one may have gone on */
    if (why && why[0]) c.reason = why;
    return c;
}

const char *dae_sensitivity_kind(const dae_sensitivity *s, int j)
{
    if (!s || j < 0 || j >= s->f->count) return "";
    const dae_direction_of *d = &s->f->direction[j];
    int exact = s->engine.columns && (s->opt.products || (s->f->tangents && d->exact) || d->inside);
    return exact ? "exact" : "differences";
}

double dae_sensitivity_parameter(const dae_sensitivity *s, int j)
{
    return s && j >= 0 && j < s->f->count ? s->f->direction[j].value : NAN;
}

/* ---- All in one ------------------------------------------------------------------------------------------ */

dae_status dae_sensitivity_run(const dae_problem *p, const dae_sensitivity_options *opt,
                               const char *const *name, int count, const double *times, int ntimes, double *y,
                               double *values, dae_stats *stats, dae_error *err)
{
    dae_error own = {0};
    if (!err) err = &own;
    if (dae_need(times, "the times", err)) return DAE_ERR_INPUT;
    dae_sensitivity *s = dae_sensitivity_open(p, opt, name, count, err);
    if (!s) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    dae_status r = dae_sensitivity_start(s, err);
    size_t n = (size_t)s->f->n;
    for (int k = 0; k < ntimes && r == DAE_OK; k++) {
        r = dae_sensitivity_advance(s, times[k], err);
        if (r < 0) break;
        lower(s, dae_integrator_time(s->it), dae_integrator_state(s->it), y ? y + n * (size_t)k : NULL,
              values ? values + n * (size_t)count * (size_t)k : NULL);
    }
    if (stats) *stats = dae_sensitivity_stats(s);
    dae_sensitivity_close(s);
    return r;
}
