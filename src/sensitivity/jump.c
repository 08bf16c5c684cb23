/* Events and switches with parameters [sensitivities: jump conditions at an event]. With z the state, at t* with e(t*, z) = 0 and
 * z+ = phi(t*, z-):
 *
 *     dt* /dp = -(e_z s- + e_p) / (e_t + e_z f-),     s+ = phi_z s- + phi_p + (phi_t + phi_z f- - f+) dt* /dp
 *
 * Here both are made of the relatives z_c of z (p a little larger or smaller), in the order of what happens to them: each flies
 * straight, with its own f-, to its own event at t* + tau_c; its own action is taken there; and it flies back to t* with its own f+.
 * What is left out is of second order in the increment of p and cancels between the two sides. */
#include "sensitivity/jump.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define ALONG 1e-4    /* ours: part of the step along which the rate of a function is measured */
#define GRAZING 1e-10 /* ours: a rate below this part of what the function changes by in a step is none */
enum { TRIES = 4 };   /* Newton iterations for tau, each gains five digits */

/* ---- Rates -------------------------------------------------------------------------------------------- */

/* z' of a mechanical system. */
static int mechanical_rate(dae_jumps *j, dae_simulation *m, const dae_system *sys, double t, const double *z,
                           double *rate)
{
    const dae_mech *x = &sys->mech;
    dae_mech_point at = {.t = t, .p = z, .v = z + x->np, .u = z + x->np + x->nv};
    if (!dae_simulation_lower(m, t, z, j->f, j->a, j->lambda)) return 1;
    int r = 0;
    if (x->kinematics) r = x->kinematics(&at, rate, x->user);
    else dae_copy(x->np, at.v, rate);
    dae_copy(x->nv, j->a, rate + x->np);
    at.lambda = j->lambda;
    if (!r && x->nu) r = x->dynamics(&at, rate + x->np + x->nv, x->user);
    return r;
}

/* z' at (t, z) of a member; variables whose derivative does not occur keep what `rate` holds on entry. */
static int rate_of(dae_jumps *j, dae_simulation *m, double t, const double *z, double *rate)
{
    const dae_system *s = &m->it->sys;
    int n = j->e->f->nz;
    if (s->kind == DAE_KIND_ODE) return s->ode.f(t, z, rate, s->ode.user);
    if (s->kind == DAE_KIND_MECH) return mechanical_rate(j, m, s, t, z, rate);
    if (s->kind == DAE_KIND_IDE) return 0;
    const dae_matrix *M = &s->dae.mass;
    if (M->n && M->pattern.storage != DAE_DIAGONAL) return 0;
    int r = s->dae.f(t, z, j->f, s->dae.user);
    for (int i = 0; i < n && !r; i++) {
        if (!M->n) rate[i] = j->f[i];
        else if (M->a[i] != 0) rate[i] = j->f[i] / M->a[i];
    }
    return r;
}

int dae_jumps_rate(dae_jumps *j, double t, const double *z, double *rate)
{
    return rate_of(j, j->e->f->sim, t, z, rate);
}

static void fly(int n, double tau, const double *rate, double *z)
{
    dae_axpy(n, tau, rate, z);
}

/* Algebraic variables that follow from the others. */
static void settle(dae_jumps *j, dae_simulation *m, double t, double *z)
{
    if (!m->form || m->it->sys.kind == DAE_KIND_ODE) return;
    if (dae_formulation_lower(m->form, t, z, m->ye, NULL, NULL, NULL) >= 0)
        (void)dae_formulation_lift(m->form, t, m->ye, z, NULL);
    (void)j;
}

/* ---- A function and where it vanishes ------------------------------------------------------------------- */

/* Switching function or margin number i of a member. */
typedef int value_fn(dae_jumps *j, dae_simulation *m, int i, double t, const double *z, const double *zp,
                     double *value);

static int event_value(dae_jumps *j, dae_simulation *m, int i, double t, const double *z, const double *zp,
                       double *value)
{
    int r = m->events.phi(t, z, zp, j->phi, m->events.user);
    *value = j->phi[i];
    return r;
}

static int margin_value(dae_jumps *j, dae_simulation *m, int i, double t, const double *z, const double *zp,
                        double *value)
{
    const dae_switches *w = &m->it->sys.switches;
    (void)zp;
    int r = w->values(t, z, j->old, j->margin, j->next, w->user);
    *value = j->margin[i];
    return r;
}

/* The rate of a function along (1, z'), by a difference over a small part of the last step. 0: none. */
static double slope(dae_jumps *j, dae_simulation *m, value_fn *value, int i, double t, const double *z,
                    const double *rate)
{
    int n = j->e->f->nz;
    double h = fabs(j->it->s->stats.h_last) > 0 ? fabs(j->it->s->stats.h_last) : 1e-3, d = ALONG * h, v[2];
    for (int k = 0; k < 2; k++) {
        double step = k ? d : -d;
        dae_copy(n, z, j->z);
        fly(n, step, rate, j->z);
        if (value(j, m, i, t + step, j->z, rate, &v[k])) return 0;
    }
    return (v[1] - v[0]) / (2 * d);
}

/* tau with value(t + tau, z + tau z') = goal. NAN: it grazes, or cannot be evaluated. */
static double shift_of(dae_jumps *j, dae_simulation *m, value_fn *value, int i, double t, const double *z,
                       const double *rate, double goal, double along)
{
    double tau = 0, v;
    if (!(fabs(along) > 0)) return NAN;
    for (int k = 0; k < TRIES; k++) {
        dae_copy(j->e->f->nz, z, j->z);
        fly(j->e->f->nz, tau, rate, j->z);
        if (value(j, m, i, t + tau, j->z, rate, &v)) return NAN;
        tau -= (v - goal) / along;
    }
    return tau;
}

/* ---- States of the relatives ------------------------------------------------------------------------------- */

static void note_event(dae_jumps *j, const double *shift)
{
    int count = j->e->f->count;
    if (j->nevent == j->room) {
        int room = j->room ? 2 * j->room : 16;
        double *more = realloc(j->event, (size_t)room * (size_t)count * sizeof *more);
        if (!more) return;
        j->event = more;
        j->room = room;
    }
    memcpy(j->event + (size_t)j->nevent * (size_t)count, shift, (size_t)count * sizeof *shift);
    j->nevent++;
}

/* ---- Events -------------------------------------------------------------------------------------------------- */

static int on_switching(double t, const double *all, const double *allp, double *phi, void *user)
{
    dae_jumps *j = user;
    dae_simulation *m = j->e->f->sim;
    dae_gather(&j->e->layout, 0, all, j->z0);
    if (allp) dae_gather(&j->e->layout, 0, allp, j->zp0);
    return m->events.phi(t, j->z0, allp ? j->zp0 : NULL, phi, m->events.user);
}

/* The relative d, side, from its own event on. change 0: only its time is wanted. */
static int follow(dae_jumps *j, int d, int side, int i, double t, int rising, double goal, double along,
                  const double *all, const double *allp, int change, double *tau, double *z)
{
    dae_engine *e = j->e;
    dae_simulation *m = dae_family_side(e->f, d, side);
    int n = e->f->nz;
    dae_engine_relative(e, all, d, side, z);
    dae_engine_relative(e, allp, d, side, j->rate);
    int r = rate_of(j, m, t, z, j->rate);
    if (r) return r;
    *tau = shift_of(j, m, event_value, i, t, z, j->rate, goal, along);
    if (!change) return 0;
    if (!isfinite(*tau)) return -1;
    fly(n, *tau, j->rate, z);
    r = m->events.action(i, t + *tau, rising, z, j->rate, m->events.user);
    if (r < 0) return r;
    r = rate_of(j, m, t + *tau, z, j->rate);
    if (r) return r;
    fly(n, -*tau, j->rate, z);
    settle(j, m, t, z);
    return 0;
}

/* ---- Exact ------------------------------------------------------------------------------------------------------ */

/* 1: the events are those of the problem, which knows their derivatives by parameter k. */
static int is_exact(const dae_jumps *j, const dae_direction_of *d)
{
    const dae_family *f = j->e->f;
    return f->tangents && (!d || d->exact) && f->options.events == f->p->events &&
           f->sim->it->sys.kind == DAE_KIND_ODE;
}

int dae_jumps_exact(dae_jumps *j, const dae_direction_of *d, int i, double t, const double *before,
                    const double *after, const double *s, double *out, double *shift)
{
    const dae_family *f = j->e->f;
    int n = f->nz, k = d ? d->parameter : -1;
    double moved, along;
    if (!is_exact(j, d)) return 1;
    if (rate_of(j, f->sim, t, before, j->rate)) return -1;
    if (f->tangents->event(f->p, i, t, before, 0, s, k, &moved) ||
        f->tangents->event(f->p, i, t, before, 1, j->rate, -1, &along))
        return -1;
    *shift = along != 0 ? -moved / along : NAN;
    if (!after) return 0;
    if (!isfinite(*shift)) return -1;
    for (int c = 0; c < n; c++) j->z[c] = s[c] + *shift * j->rate[c];
    int r = f->tangents->jump(f->p, i, t, before, after, *shift, j->z, k, out);
    if (r) return r;
    if (rate_of(j, f->sim, t, after, j->rate)) return -1;
    fly(n, -*shift, j->rate, out);
    return 0;
}

/* All directions at once. 0: done; > 0: not known; < 0: failed. */
static int exact_columns(dae_jumps *j, int i, double t, const double *all, int change, double *out)
{
    dae_engine *e = j->e;
    int r = e->columns ? 0 : 1;
    dae_gather(&e->layout, 0, all, j->z0);
    for (int d = 0; d < e->f->count && !r; d++) {
        dae_gather(&e->layout, 1 + d, all, j->zp0);
        r = dae_jumps_exact(j, &e->f->direction[d], i, t, j->z0, change ? j->state : NULL, j->zp0, j->zp,
                            &j->shift[d]);
        if (!r && change) dae_scatter(&e->layout, 1 + d, j->zp, out);
    }
    return r;
}

/* dt/dp of event i, and where the state changes that of the relatives. all: the state before. */
static int relatives(dae_jumps *j, int i, double t, int rising, const double *all, const double *allp,
                     int change, double *out)
{
    dae_engine *e = j->e;
    dae_simulation *m = e->f->sim;
    double goal = 0, along;
    int known = exact_columns(j, i, t, all, change, out);
    if (known < 0) return known;
    if (known == 0) {
        note_event(j, j->shift);
        return 0;
    }
    dae_gather(&e->layout, 0, all, j->z0);
    dae_gather(&e->layout, 0, allp, j->zp0);
    if (rate_of(j, m, t, j->z0, j->zp0)) return -1;
    if (event_value(j, m, i, t, j->z0, j->zp0, &goal)) return -1;
    along = slope(j, m, event_value, i, t, j->z0, j->zp0);
    for (int d = 0; d < e->f->count; d++) {
        double tau[2] = {0, 0};
        for (int side = 0; side < 2; side++) {
            int r = follow(j, d, side, i, t, rising, goal, along, all, allp, change, &tau[side], j->zp);
            if (r) return r;
            if (change) dae_engine_put_relative(e, out, d, side, j->zp);
        }
        j->shift[d] = (tau[1] - tau[0]) / dae_family_width(e->f, d);
    }
    note_event(j, j->shift);
    return 0;
}

int dae_jumps_map(dae_jumps *j, dae_simulation *m, int i, double t, int rising, const double *z0, double *z,
                  double *shift)
{
    int n = j->e->f->nz;
    double goal = 0;
    dae_zero(n, j->zp0);
    if (rate_of(j, j->e->f->sim, t, z0, j->zp0)) return -1;
    if (event_value(j, j->e->f->sim, i, t, z0, j->zp0, &goal)) return -1;
    double along = slope(j, j->e->f->sim, event_value, i, t, z0, j->zp0);
    dae_zero(n, j->rate);
    if (rate_of(j, m, t, z, j->rate)) return -1;
    double tau = *shift = shift_of(j, m, event_value, i, t, z, j->rate, goal, along);
    if (!isfinite(tau)) return -1;
    fly(n, tau, j->rate, z);
    if (m->events.action(i, t + tau, rising, z, j->rate, m->events.user) < 0) return -1;
    if (rate_of(j, m, t + tau, z, j->rate)) return -1;
    fly(n, -tau, j->rate, z);
    settle(j, m, t, z);
    return 0;
}

static int on_event(int i, double t, int rising, double *all, double *allp, void *user)
{
    dae_jumps *j = user;
    dae_engine *e = j->e;
    dae_simulation *m = e->f->sim;
    int size = e->size;
    if (!allp) return -1;
    dae_copy(size, all, j->before);
    dae_gather(&e->layout, 0, all, j->state);
    dae_gather(&e->layout, 0, allp, j->zp0);
    int r =
        m->events.action ? m->events.action(i, t, rising, j->state, j->zp0, m->events.user) : DAE_EVENT_GO_ON;
    if (r < 0) return r;
    int change = r == DAE_EVENT_RESTART;
    if (relatives(j, i, t, rising, j->before, allp, change, all)) return -1;
    if (change) dae_scatter(&e->layout, 0, j->state, all);
    return r;
}

dae_events dae_jumps_events(dae_jumps *j)
{
    dae_events out = j->e->f->sim->events;
    if (out.count < 1) return (dae_events){0};
    out.no_state = 0;
    out.phi = on_switching;
    out.action = on_event;
    out.instant = NULL; /* one after the other, each with its own jump */
    out.user = j;
    return out;
}

void dae_jumps_stopped(dae_jumps *j)
{
    int count;
    const dae_event_record *r = dae_integrator_events(j->it, &count);
    if (count <= j->nevent) return;
    if (relatives(j, r[count - 1].index, r[count - 1].t, r[count - 1].rising, j->it->y, j->it->yp, 0, NULL)) {
        for (int d = 0; d < j->e->f->count; d++) j->shift[d] = NAN;
        note_event(j, j->shift);
    }
}

/* ---- Switches -------------------------------------------------------------------------------------------------- */

static int on_margins(double t, const double *all, const int *side, double *margin, int *next, void *user)
{
    dae_jumps *j = user;
    const dae_switches *w = &j->e->f->sim->it->sys.switches;
    dae_gather(&j->e->layout, 0, all, j->z0);
    int r = w->values(t, j->z0, side, margin, next, w->user);
    return r;
}

static const char *name_of_switch(int i, void *user)
{
    const dae_jumps *j = user;
    const dae_switches *w = &j->e->f->sim->it->sys.switches;
    return w->name ? w->name(i, w->user) : "a switch of the system";
}

static void set_sides(const dae_simulation *m, const int *side)
{
    const dae_switches *w = &m->it->sys.switches;
    if (w->side) memcpy(w->side, side, (size_t)w->count * sizeof *side);
}

/* All columns cross the border of switch i: s + (f- - f+) dt/dp, exact. > 0: not known. */
static int exact_crossing(dae_jumps *j, int i, double t, const int *fresh, double *all)
{
    dae_engine *e = j->e;
    const dae_family *f = e->f;
    const dae_system *sys = &f->sim->it->sys;
    int n = f->nz, r = !f->tangents || !e->columns || sys->kind != DAE_KIND_ODE;
    double along, moved;
    for (int d = 0; d < f->count && !r; d++) r = !f->direction[d].exact;
    if (r) return 1;
    dae_gather(&e->layout, 0, all, j->z0);
    set_sides(f->sim, j->old);
    r = rate_of(j, f->sim, t, j->z0, j->rate);
    if (!r) r = f->tangents->border(f->p, sys, i, t, j->z0, 1, j->rate, -1, &along);
    set_sides(f->sim, fresh);
    if (!r) r = rate_of(j, f->sim, t, j->z0, j->zp);
    for (int d = 0; d < f->count && !r; d++) {
        dae_gather(&e->layout, 1 + d, all, j->state);
        set_sides(f->sim, j->old);
        r = f->tangents->border(f->p, sys, i, t, j->z0, 0, j->state, f->direction[d].parameter, &moved);
        set_sides(f->sim, fresh);
        if (r || !(fabs(along) > 0)) return -1;
        for (int c = 0; c < n; c++) j->state[c] -= moved / along * (j->rate[c] - j->zp[c]);
        dae_scatter(&e->layout, 1 + d, j->state, all);
    }
    return r ? -1 : 0;
}

/* The relatives cross the border of switch i at t + tau_c: z_c + tau_c (f- - f+). */
static int cross(dae_jumps *j, int i, double t, const int *fresh, double *all)
{
    dae_engine *e = j->e;
    dae_simulation *m = e->f->sim;
    int n = e->f->nz, known = exact_crossing(j, i, t, fresh, all);
    double goal = 0, along;
    if (known <= 0) return known;
    dae_gather(&e->layout, 0, all, j->z0);
    set_sides(m, j->old);
    int r = rate_of(j, m, t, j->z0, j->zp0);
    if (!r) r = margin_value(j, m, i, t, j->z0, j->zp0, &goal);
    along = r ? 0 : slope(j, m, margin_value, i, t, j->z0, j->zp0);
    dae_copy(e->size, all, j->before);
    for (int d = 0; d < e->f->count && !r; d++) {
        for (int side = 0; side < 2 && !r; side++) {
            dae_simulation *c = dae_family_side(e->f, d, side);
            dae_engine_relative(e, j->before, d, side, j->zp);
            set_sides(c, j->old);
            dae_zero(n, j->rate);
            r = rate_of(j, c, t, j->zp, j->rate);
            if (r) break;
            double tau = shift_of(j, c, margin_value, i, t, j->zp, j->rate, goal, along);
            if (!isfinite(tau)) return -1;
            fly(n, tau, j->rate, j->zp);
            set_sides(c, fresh);
            r = rate_of(j, c, t + tau, j->zp, j->rate);
            fly(n, -tau, j->rate, j->zp);
            const dae_switches *w = &c->it->sys.switches;
            if (!r && w->adapt) r = w->adapt(t, j->zp, w->user);
            dae_engine_put_relative(e, all, d, side, j->zp);
        }
    }
    set_sides(m, fresh);
    return r;
}

static int on_switch(double t, double *all, void *user)
{
    dae_jumps *j = user;
    dae_simulation *m = j->e->f->sim;
    const dae_switches *w = &m->it->sys.switches;
    int r = 0, first = -1;
    if (!w->side) return 0;
    memcpy(j->fresh, w->side, (size_t)w->count * sizeof *j->fresh);
    memcpy(j->old, j->e->side, (size_t)w->count * sizeof *j->old);
    for (int i = 0; i < w->count && first < 0; i++) {
        if (j->old[i] != j->fresh[i] && j->old[i] != DAE_SIDE_FREE) first = i;
    }
    if (first >= 0) r = cross(j, first, t, j->fresh, all);
    if (r) return r > 0 ? -1 : r;
    dae_gather(&j->e->layout, 0, all, j->z0);
    if (w->adapt) r = w->adapt(t, j->z0, w->user);
    dae_scatter(&j->e->layout, 0, j->z0, all);
    return r;
}

void dae_jumps_switches(dae_jumps *j)
{
    const dae_switches *w = &j->e->f->sim->it->sys.switches;
    if (!w->count) return;
    j->e->sys.switches = (dae_switches){.count = w->count,
                                        .values = on_margins,
                                        .side = w->side,
                                        .adapt = on_switch,
                                        .name = name_of_switch,
                                        .user = j};
}

/* ---- Life --------------------------------------------------------------------------------------------------------- */

dae_status dae_jumps_create(dae_jumps *j, dae_engine *e, dae_error *err)
{
    const dae_simulation *m = e->f->sim;
    size_t nz = (size_t)e->f->nz, switches = (size_t)m->it->sys.switches.count + 1;
    double **vector[] = {&j->z0, &j->zp0, &j->z, &j->zp, &j->rate, &j->state, &e->w[0], &e->w[1]};
    j->e = e;
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++) *vector[k] = dae_arena_reals(e->arena, nz);
    j->f = dae_arena_reals(e->arena, nz + (size_t)e->f->n);
    j->before = dae_arena_reals(e->arena, (size_t)e->size);
    j->shift = dae_arena_reals(e->arena, (size_t)e->f->count);
    j->phi = dae_arena_reals(e->arena, (size_t)m->events.count + 1);
    j->margin = dae_arena_reals(e->arena, switches);
    j->next = dae_arena_ints(e->arena, switches);
    j->old = dae_arena_ints(e->arena, switches);
    j->fresh = dae_arena_ints(e->arena, switches);
    e->side = dae_arena_ints(e->arena, switches);
    if (m->mech) {
        j->a = dae_arena_reals(e->arena, (size_t)m->mech->nv);
        j->lambda = dae_arena_reals(e->arena, (size_t)m->mech->nlambda + 1);
    }
    return dae_arena_failed(e->arena) ? dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory") : DAE_OK;
}

void dae_jumps_destroy(dae_jumps *j)
{
    free(j->event);
}
