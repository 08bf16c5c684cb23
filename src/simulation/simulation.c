/* A problem on its way: the integrator, the formulation and the events, seen in the coordinates of the problem.
 *
 * Mechanical systems are integrated as they stand by methods made for them, and through a formulation by all others. A DAE that
 * is a mechanism in disguise is integrated as the mechanism by "auto", by methods that do not take DAEs, and wherever a
 * formulation is asked for. */
#include "simulation/simulation.h"

#include "core/number.h"
#include "core/vector.h"
#include "method/driver.h"
#include "problem/problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Coordinates ------------------------------------------------------------------------------- */

/* Formulated systems: what is left of the acceleration constraint where accelerations are known. */
void dae_simulation_note(dae_simulation *s, double t, const double *y, const double *a)
{
    double r[3];
    if (s->form && dae_formulation_residuals(s->form, t, y, a, r, NULL) >= 0)
        s->residual[2] = fmax(s->residual[2], r[2]);
}

/* y = (p, v, u) and what is known of a and lambda, of the mechanical system. */
static int lower_mechanism(dae_simulation *s, double t, const double *z, double *y, double *a, double *lambda)
{
    int wanted = a || lambda, size = s->mech->np + s->mech->nv + s->mech->nu;
    if (s->form) {
        if (dae_formulation_lower(s->form, t, z, y, a, lambda, NULL) >= 0) return wanted;
        dae_formulation_lower(s->form, t, z, y, NULL, NULL, NULL);
        return 0;
    }
    dae_copy(size, z, y);
    if (!wanted) return 0;
    if (dae_integrator_multipliers(s->it, t, a, lambda) >= 0) return 1;
    return s->descriptor && dae_formulation_lower(s->descriptor, t, z, y, a, lambda, NULL) >= 0;
}

/* What y has behind (p, v): accelerations and multipliers, NAN where they are not known, and zeros. */
static void put_reactions(const dae_simulation *s, int known, double *y)
{
    const dae_mech *m = s->mech;
    const dae_problem *p = s->p;
    for (int i = m->np + m->nv; i < s->n; i++) y[i] = known ? 0 : NAN;
    if (known && p->acceleration_at) dae_copy(m->nv, s->a, y + p->acceleration_at);
    if (known && p->multiplier_at) dae_copy(m->nlambda, s->lambda, y + p->multiplier_at);
}

/* At the end of the interval a form is asked for the limit from inside, where an instant lies on it. */
static double inside_of_end(const dae_simulation *s, double t)
{
    const dae_problem *p = s->p;
    int jumps =
        t == s->t_end && t != s->t0 && p->ndiscontinuity > 0 && p->discontinuity[p->ndiscontinuity - 1] == t;
    return jumps ? nextafter(t, s->t0) : t;
}

int dae_simulation_lower(dae_simulation *s, double t, const double *z, double *y, double *a, double *lambda)
{
    int known = 0;
    if (s->own) {
        if (s->own->type->lower(s->own, inside_of_end(s, t), z, NULL, y, NULL)) {
            for (int i = 0; i < s->n; i++) y[i] = NAN;
        }
    } else if (!s->mech) {
        dae_copy(s->nz, z, y);
    } else if (s->as_mechanism) {
        known = lower_mechanism(s, t, z, y, s->a, s->lambda);
        put_reactions(s, known, y);
        if (known && a) dae_copy(s->mech->nv, s->a, a);
        if (known && lambda) dae_copy(s->mech->nlambda, s->lambda, lambda);
    } else {
        known = lower_mechanism(s, t, z, y, a, lambda);
    }
    for (int i = 0; s->mech && a && !known && i < s->mech->nv; i++) a[i] = NAN;
    for (int i = 0; s->mech && lambda && !known && i < s->mech->nlambda; i++) lambda[i] = NAN;
    return known;
}

/* ---- Events of systems in other variables ------------------------------------------------------------ */

/* The state of the problem and its derivative, into ye and ype; zp may be NULL. */
static int lower_for_events(dae_simulation *s, double t, const double *z, const double *zp)
{
    const dae_mech *m = s->mech;
    if (s->own) return s->own->type->lower(s->own, t, z, zp, s->ye, zp ? s->ype : NULL);
    int npv = m->np + m->nv, reactions = s->as_mechanism && !s->given.plain;
    double *v = s->ye + m->np, *a = s->ype + m->np;
    if (s->as_mechanism) { /* by (p, v): the method may know them at its last step only */
        dae_formulation *f = s->form ? s->form : s->descriptor;
        int known = reactions && dae_formulation_lower(f, t, z, s->ye, s->a, s->lambda, NULL) >= 0;
        put_reactions(s, known, s->ye);
        for (int i = npv; i < s->n; i++) s->ype[i] = NAN;
    }
    if (!s->form) {
        dae_copy(npv, z, s->ye);
        if (zp) dae_copy(npv, zp, s->ype);
        return 0;
    }
    if (dae_formulation_lower(s->form, t, z, s->ye, zp ? a : NULL, NULL, NULL) < 0) return 1;
    if (!zp) return 0;
    dae_mech_point at = {.t = t, .p = s->ye, .v = v};
    dae_copy(m->nu, zp + dae_formulation_dynamics_at(s->form), a + m->nv);
    if (m->kinematics) return m->kinematics(&at, s->ype, m->user);
    dae_copy(m->np, v, s->ype);
    return 0;
}

static int on_switching(double t, const double *z, const double *zp, double *phi, void *user)
{
    dae_simulation *s = user;
    int r = lower_for_events(s, t, z, zp);
    return r ? r : s->given.phi(t, s->ye, zp ? s->ype : NULL, phi, s->given.user);
}

/* A changed state is lifted again: its multipliers, or other coordinates. */
static int lift_changed(dae_simulation *s, int r, double t, double *z, double *zp)
{
    if (r != DAE_EVENT_RESTART) return r;
    if (s->own) {
        if (s->own->type->lift(s->own, t, s->ye, z, NULL) < 0) return -1;
        if (zp && s->own->type->slope) s->own->type->slope(s->own, zp);
        return r;
    }
    if (!s->form) dae_copy(s->nz, s->ye, z);
    else if (dae_formulation_lift(s->form, t, s->ye, z, NULL) < 0) return -1;
    return r;
}

static int on_event(int i, double t, int rising, double *z, double *zp, void *user)
{
    dae_simulation *s = user;
    if (lower_for_events(s, t, z, zp)) return -1;
    return lift_changed(s, s->given.action(i, t, rising, s->ye, zp ? s->ype : NULL, s->given.user), t, z, zp);
}

static int on_instant(int *count, int room, int *index, int *rising, double t, double *z, double *zp,
                      void *user, dae_error *err)
{
    dae_simulation *s = user;
    if (lower_for_events(s, t, z, zp)) return -1;
    int r = s->given.instant(count, room, index, rising, t, s->ye, zp ? s->ype : NULL, s->given.user, err);
    return lift_changed(s, r, t, z, zp);
}

static dae_status set_events(dae_simulation *s, dae_integrator *it, dae_error *err)
{
    if (s->given.count < 1) return DAE_OK;
    s->events = s->given;
    if (s->form || s->own || s->as_mechanism) {
        s->events.phi = on_switching;
        s->events.action = s->given.action ? on_event : NULL;
        s->events.instant = s->given.instant ? on_instant : NULL;
        s->events.user = s;
    }
    return dae_integrator_set_events(it, &s->events, err);
}

/* ---- What is integrated -------------------------------------------------------------------------------- */

dae_simulation_options dae_simulation_options_default(const dae_problem *p)
{
    dae_simulation_options o = {.options = dae_options_default()};
    if (!p) return o;
    o.t_end = p->t_end;
    o.events = p->events;
    dae_problem_tolerances(p, &o.options);
    o.options.h0 = p->h0;
    o.options.h_max = p->h_max;
    if (p->method) o.options.method = p->method;
    if (p->formulation) o.options.formulation = p->formulation;
    o.options.discontinuity = p->discontinuity;
    o.options.ndiscontinuity = p->ndiscontinuity;
    return o;
}

static dae_status no_memory(dae_error *err)
{
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* Tolerances of all components of the problem, and for the integrator where they differ. */
static dae_status tolerances(dae_simulation *s, dae_error *err)
{
    const dae_problem *p = s->p;
    dae_options *o = &s->options;
    double *rtol = dae_arena_reals(s->arena, (size_t)s->n), *atol = dae_arena_reals(s->arena, (size_t)s->n);
    if (!rtol || !atol) return no_memory(err);
    for (int i = 0; i < s->n; i++) {
        rtol[i] = o->rtol_vec ? o->rtol_vec[i] : p->rtol_factor ? o->rtol * p->rtol_factor[i] : o->rtol;
        atol[i] = o->atol_vec ? o->atol_vec[i] : p->atol_factor ? o->atol * p->atol_factor[i] : o->atol;
    }
    s->rtol = rtol;
    s->atol = atol;
    if (p->rtol_factor && !o->rtol_vec) o->rtol_vec = rtol;
    if (p->atol_factor && !o->atol_vec) o->atol_vec = atol;
    return DAE_OK;
}

/* Jumps have to be sorted in the direction of integration. */
static dae_status discontinuities(dae_simulation *s, dae_error *err)
{
    int n = s->options.ndiscontinuity;
    const double *t = s->options.discontinuity;
    if (n < 2 || (t[n - 1] > t[0]) == (s->t_end > s->t0)) return DAE_OK;
    double *turned = dae_arena_reals(s->arena, (size_t)n);
    if (!turned) return no_memory(err);
    for (int i = 0; i < n; i++) turned[i] = t[n - 1 - i];
    s->options.discontinuity = turned;
    return DAE_OK;
}

/* Sets form or descriptor, and what is integrated: the mechanical system in the form that the options name. */
static dae_status formulate(dae_simulation *s, dae_error *err)
{
    dae_options inner;
    dae_formulation *f = dae_formulation_open(s->sys, &s->options, &inner, err);
    if (!f) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    const dae_system *formed = dae_formulation_system(f);
    s->mech = &s->sys->mech;
    s->formulation = dae_formulation_type_of(f)->name;
    s->options = inner;
    if (formed->kind == DAE_KIND_MECH) {
        s->descriptor = f;
    } else {
        s->form = f;
        s->sys = formed;
        s->nz = dae_system_size(formed);
    }
    return DAE_OK;
}

/* The form that the problem brings along. */
static dae_status open_own(dae_simulation *s, dae_error *err)
{
    s->own = dae_form_open(s->own_type, s->p->forms->model, err);
    if (!s->own) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    s->formulation = s->own_type->info.name;
    s->options.formulation = NULL;
    s->sys = &s->own->system;
    s->nz = dae_system_size(s->sys);
    return DAE_OK;
}

/* Tolerances of the form's variables, when its states are known. */
static dae_status own_tolerances(dae_simulation *s, dae_error *err)
{
    dae_options *o = &s->options;
    if (o->error_weight || o->nnonnegative > 0)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "%s belongs to the variables that are integrated, which are others in the form %s",
                        o->error_weight ? "error_weight" : "nonnegative", s->formulation);
    double *rtol = dae_arena_reals(s->arena, (size_t)s->nz), *atol = dae_arena_reals(s->arena, (size_t)s->nz);
    if (!rtol || !atol) return no_memory(err);
    if (o->rtol_vec) s->own->type->tolerance(s->own, s->rtol, rtol);
    if (o->atol_vec) s->own->type->tolerance(s->own, s->atol, atol);
    o->rtol_vec = o->rtol_vec ? rtol : NULL;
    o->atol_vec = o->atol_vec ? atol : NULL;
    return DAE_OK;
}

/* Sets z0 and zp0. */
static dae_status initial_values(dae_simulation *s, dae_error *err)
{
    const dae_problem *p = s->p;
    if (s->own) {
        dae_status r = s->own->type->lift(s->own, s->t0, p->y0, s->z0, err);
        if (r < 0 || !s->own->type->slope) return r;
        if (!s->zp0) s->zp0 = dae_arena_reals(s->arena, (size_t)s->nz);
        if (!s->zp0) return no_memory(err);
        s->own->type->slope(s->own, s->zp0);
        return r;
    }
    if (s->form) return dae_formulation_lift(s->form, s->t0, p->y0, s->z0, err);
    dae_copy(s->nz, p->y0, s->z0);
    if (!p->yp0 || s->as_mechanism) return DAE_OK;
    if (!s->zp0) s->zp0 = dae_arena_reals(s->arena, (size_t)s->nz);
    if (!s->zp0) return no_memory(err);
    dae_copy(s->nz, p->yp0, s->zp0);
    return DAE_OK;
}

static dae_status build(dae_simulation *s, dae_error *err)
{
    const dae_problem *p = s->p;
    dae_status status = tolerances(s, err);
    if (status >= 0) status = dae_simulation_choose(s, err);
    if (status < 0) return status;
    s->sys = s->as_mechanism ? p->mechanism : &p->system;
    s->nz = dae_system_size(s->sys);
    if (s->as_mechanism && s->options.h0 == p->h0) s->options.h0 = 0; /* meant for the DAE */
    if (s->own_type) status = open_own(s, err);
    else if (s->sys->kind == DAE_KIND_MECH) status = formulate(s, err);
    if (status >= 0) status = discontinuities(s, err);
    if (status < 0) return status;
    s->z0 = dae_arena_reals(s->arena, (size_t)s->nz);
    s->z = dae_arena_reals(s->arena, (size_t)s->nz);
    s->zp = dae_arena_reals(s->arena, (size_t)s->nz);
    s->y = dae_arena_reals(s->arena, (size_t)s->n);
    s->ye = dae_arena_reals(s->arena, (size_t)s->n);
    s->ype = dae_arena_reals(s->arena, (size_t)s->n);
    if (s->as_mechanism) {
        s->a = dae_arena_reals(s->arena, (size_t)s->mech->nv);
        s->lambda = dae_arena_reals(s->arena, (size_t)s->mech->nlambda + 1);
    }
    if (dae_arena_failed(s->arena)) return no_memory(err);
    status = initial_values(s, err);
    return status >= 0 && s->own ? own_tolerances(s, err) : status;
}

/* ---- Along the way --------------------------------------------------------------------------------------- */

static int state_inside(double t, double *pvu, void *user)
{
    dae_simulation *s = user;
    if (dae_integrator_interpolate(s->it, t, s->z, NULL) < 0) return 1;
    return dae_formulation_lower(s->form, t, s->z, pvu, NULL, NULL, NULL) < 0;
}

/* " (joints "A", "B")": what the rows belong to of which most is in a combination; at most three. */
static void name_rows(const dae_simulation *s, char *out, size_t size)
{
    int count, named[3];
    const double *x = dae_singular_rows(s->singular, &count);
    double largest = dae_largest(count, x);
    size_t used = 0;
    const char *const *name = s->p->constraint;
    out[0] = 0;
    for (int k = 0; k < 3; k++) {
        int best = -1;
        for (int i = 0; i < count; i++) {
            int told = 0;
            for (int j = 0; j < k; j++) told |= named[j] == i || (name && !strcmp(name[i], name[named[j]]));
            if (!told && fabs(x[i]) >= 0.2 * largest && (best < 0 || fabs(x[i]) > fabs(x[best]))) best = i;
        }
        if (best < 0) break;
        named[k] = best;
        const char *before = used ? ", " : name ? "" : "constraints ";
        if (name) used += (size_t)dae_snprintf(out + used, size - used, "%s\"%.40s\"", before, name[best]);
        else used += (size_t)dae_snprintf(out + used, size - used, "%s%d", before, best + 1);
    }
}

/* In the state s->y at the end of the last step. */
static void watch(dae_simulation *s, double t)
{
    char where[160];
    double from = dae_integrator_previous_time(s->it);
    int seen = dae_singular_look(s->singular, from, t, s->y, state_inside, s);
    s->starved |= seen == DAE_ERR_MEMORY;
    if (seen != 1) return;
    name_rows(s, where, sizeof where);
    dae_snprintf(s->warning, sizeof s->warning,
                 "t = %.6g: the run went through a singular pose (%s hold what others hold there), where two "
                 "motions cross, and the form %s does not hold it on its own: compare with method auto",
                 dae_singular_time(s->singular), where, s->formulation);
    dae_log(&s->options, DAE_LOG_WARN, "t=%.10g warning=\"%s\"", t, s->warning);
}

/* Formulated systems: the largest constraint residuals at the accepted points, and singular poses that a step goes through. */
static void note_state(dae_simulation *s, double t, int step)
{
    double r[3];
    if (!s->form || s->quiet) return;
    if (dae_formulation_lower(s->form, t, dae_integrator_state(s->it), s->y, NULL, NULL, NULL) < 0) return;
    if (step && s->singular) watch(s, t);
    if (dae_formulation_residuals(s->form, t, s->y, NULL, r, NULL) < 0) return;
    s->residual[0] = fmax(s->residual[0], r[0]);
    s->residual[1] = fmax(s->residual[1], r[1]);
}

static int on_step(const dae_integrator *it, double t, double t_end, void *user)
{
    dae_simulation *s = user;
    note_state(s, t, 1);
    if (s->starved) return 1;
    if (s->on_step) return s->on_step(it, t, t_end, s->on_step_user);
    return s->progress ? s->progress(s, s->progress_user) : 0;
}

dae_integrator *dae_simulation_again(dae_simulation *s, dae_error *err)
{
    dae_integrator *it = dae_integrator_create(s->sys, &s->options, err);
    if (it && s->chosen) dae_driver_may_switch(it);
    int fine = it && (!s->form || dae_formulation_attach(s->form, it, err) >= 0);
    if (fine && s->own && s->own->type->attach) fine = s->own->type->attach(s->own, it, err) >= 0;
    if (fine && set_events(s, it, err) >= 0) return it;
    dae_integrator_destroy(it);
    return NULL;
}

/* ---- Checkpoint ----------------------------------------------------------------------------------------- */

/* What the checkpoint of a run says besides what the integrator knows; made when one is saved or loaded. */
static size_t describe(const void *user, char *out, size_t size)
{
    const dae_simulation *s = user;
    const dae_problem *p = s->p;
    const dae_parameter *q = p->info ? p->info->parameter : NULL;
    const char *own = s->fingerprint ? s->fingerprint : "";
    size_t used = 0;
#define LINE(...) used += (size_t)dae_snprintf(out ? out + used : NULL, out ? size - used : 0, __VA_ARGS__)
    LINE("problem %s\nmodel %016llx\n", p->info && p->info->name ? p->info->name : "system", p->hash);
    LINE("%s%s", own, own[0] && own[strlen(own) - 1] != '\n' ? "\n" : "");
    for (int i = 0; q && q[i].name; i++) LINE("parameter %s=%.17g\n", q[i].name, p->parameter[i]);
    LINE("formulation %s\n", s->formulation ? s->formulation : "none");
#undef LINE
    return used;
}

size_t dae_simulation_save(const dae_simulation *s, void *buffer, size_t size)
{
    return s ? dae_integrator_save(s->it, buffer, size) : 0;
}

const char *dae_simulation_why_not_saved(const dae_simulation *s)
{
    return s ? dae_integrator_why_not_saved(s->it) : "the simulation is NULL";
}

dae_status dae_simulation_load(dae_simulation *s, const void *buffer, size_t size, const char *changes,
                               dae_error *err)
{
    if (!s) return dae_need(s, "the simulation", err);
    return dae_integrator_load_changed(s->it, buffer, size, changes, err);
}

/* ---- Life ---------------------------------------------------------------------------------------------- */

/* A start that is singular: what is known of the problem and looks like a mistake (a body without mass, a singular pose) names it. */
static void name_mistakes(const dae_problem *p, dae_error *err)
{
    if (!err || err->status != DAE_ERR_SINGULAR) return;
    for (int i = 0; p->warning && p->warning[i]; i++) {
        size_t used = strlen(err->text), room = sizeof err->text - used;
        if (strlen(p->warning[i]) + 3 <= room) snprintf(err->text + used, room, "; %s", p->warning[i]);
    }
}

dae_simulation *dae_simulation_open(const dae_problem *p, const dae_simulation_options *opt, dae_error *err)
{
    dae_error own = {0};
    if (!err) err = &own;
    if (dae_need(p, "the problem", err) || dae_need(p->y0, "y0", err)) return NULL;
    dae_simulation_options standard;
    if (!opt) {
        standard = dae_simulation_options_default(p);
        opt = &standard;
    }
    dae_simulation *s = calloc(1, sizeof *s);
    if (!s || !(s->arena = dae_arena_create())) {
        free(s);
        no_memory(err);
        return NULL;
    }
    s->p = p;
    s->options = opt->options;
    s->t0 = p->t0;
    s->t_end = opt->t_end;
    if (opt->events) s->given = *opt->events;
    s->residual[2] = NAN;
    if (opt->fingerprint) {
        s->fingerprint = dae_arena_copy(s->arena, opt->fingerprint, strlen(opt->fingerprint) + 1, 1);
        if (!s->fingerprint) {
            no_memory(err);
            goto fail;
        }
    }
    if (dae_system_check(&p->system, err) < 0) goto fail;
    s->n = dae_system_size(&p->system);
    if (build(s, err) < 0) goto fail;
    s->it = dae_simulation_again(s, err);
    if (!s->it) goto fail;
    if (s->form) {
        s->singular = dae_singular_create(s->form, err);
        if (err->status < 0) goto fail;
    }
    dae_fingerprint_by(s->it, describe, s);
    return s;
fail:
    name_mistakes(p, err);
    dae_simulation_close(s);
    return NULL;
}

void dae_simulation_close(dae_simulation *s)
{
    if (!s) return;
    dae_integrator_destroy(s->it);
    dae_singular_destroy(s->singular);
    dae_formulation_destroy(s->form);
    dae_form_close(s->own);
    dae_formulation_destroy(s->descriptor);
    dae_arena_destroy(s->arena);
    free(s);
}

dae_status dae_simulation_start(dae_simulation *s, dae_error *err)
{
    if (!s) return dae_need(s, "the simulation", err);
    dae_status status = DAE_OK;
    if (s->started) status = initial_values(s, err);
    s->started = 1;
    s->residual[0] = s->residual[1] = 0;
    s->residual[2] = NAN;
    s->warning[0] = 0;
    s->starved = 0;
    dae_singular_forget(s->singular);
    if ((s->form && !s->quiet) || s->progress || s->on_step) dae_integrator_set_progress(s->it, on_step, s);
    if (s->quiet) dae_driver_untimed(s->it);
    if (status >= 0) status = dae_integrator_start(s->it, s->t0, s->t_end, s->z0, s->zp0, err);
    if (status < 0) name_mistakes(s->p, err);
    return status;
}

/* ---- Going on ---------------------------------------------------------------------------------------------- */

/* A singular pose that nobody could look for may have been passed. */
static dae_status watched(const dae_simulation *s, dae_status status, dae_error *err)
{
    return s->starved && status >= 0 ? no_memory(err) : status;
}

dae_status dae_simulation_advance(dae_simulation *s, double t, dae_error *err)
{
    if (!s) return dae_need(s, "the simulation", err);
    dae_status status = watched(s, dae_integrator_advance(s->it, t, err), err);
    note_state(s, dae_integrator_time(s->it), 0); /* an event may have ended it between two steps */
    if (s->form && err) dae_formulation_explain(s->form, err);
    return status;
}

dae_status dae_simulation_step(dae_simulation *s, dae_error *err)
{
    if (!s) return dae_need(s, "the simulation", err);
    dae_status status = watched(s, dae_integrator_step(s->it, err), err);
    if (s->form && err) dae_formulation_explain(s->form, err);
    return status;
}

void dae_simulation_cancel(dae_simulation *s)
{
    if (s) dae_integrator_cancel(s->it);
}

void dae_simulation_set_progress(dae_simulation *s, dae_simulation_fn *progress, void *user)
{
    if (!s) return;
    s->progress = progress;
    s->progress_user = user;
    if (progress) dae_integrator_set_progress(s->it, on_step, s);
}

/* ---- Where it is -------------------------------------------------------------------------------------------- */

double dae_simulation_time(const dae_simulation *s)
{
    return s ? dae_integrator_time(s->it) : NAN;
}

double dae_simulation_previous_time(const dae_simulation *s)
{
    return s ? dae_integrator_previous_time(s->it) : NAN;
}

const double *dae_simulation_state(dae_simulation *s)
{
    if (!s) return NULL;
    dae_simulation_lower(s, dae_integrator_time(s->it), dae_integrator_state(s->it), s->y, NULL, NULL);
    return s->y;
}

/* The solution at t inside the last step, into z (and zp). */
static dae_status inside(dae_simulation *s, double t, double *zp, dae_error *err)
{
    double from = dae_integrator_previous_time(s->it), to = dae_integrator_time(s->it);
    if (t >= fmin(from, to) && t <= fmax(from, to) && dae_integrator_interpolate(s->it, t, s->z, zp) >= 0)
        return DAE_OK;
    return dae_fail(err, DAE_ERR_INPUT, t, "t = %.10g is not inside the last step, %.10g .. %.10g", t, from,
                    to);
}

dae_status dae_simulation_interpolate(dae_simulation *s, double t, double *y, double *yp, dae_error *err)
{
    if (!s) return dae_need(s, "the simulation", err);
    if (!y) return dae_need(y, "y", err);
    dae_status status = inside(s, t, yp ? s->zp : NULL, err);
    if (status < 0) return status;
    dae_simulation_lower(s, t, s->z, y, NULL, NULL);
    if (!yp) return DAE_OK;
    if (!s->form && !s->own && !s->as_mechanism) {
        dae_copy(s->n, s->zp, yp);
        return DAE_OK;
    }
    if (lower_for_events(s, t, s->z, s->zp))
        return dae_fail(err, DAE_ERR_UNDEFINED, t, "t = %.10g: the derivative cannot be evaluated", t);
    dae_copy(s->n, s->ype, yp);
    return DAE_OK;
}

static dae_status no_mechanism(const dae_simulation *s, dae_error *err)
{
    if (s->mech) return DAE_OK;
    return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "this is no mechanism");
}

dae_status dae_simulation_multipliers(dae_simulation *s, double t, double *a, double *lambda, dae_error *err)
{
    if (!s) return dae_need(s, "the simulation", err);
    dae_status status = no_mechanism(s, err);
    if (status < 0) return status;
    status = inside(s, t, NULL, err);
    if (status < 0) return status;
    if (dae_simulation_lower(s, t, s->z, s->y, a, lambda)) return DAE_OK;
    return dae_fail(err, DAE_ERR_SINGULAR, t, "t = %.10g: accelerations and multipliers are not known there",
                    t);
}

dae_status dae_simulation_residuals(dae_simulation *s, double residual[3], dae_error *err)
{
    if (!s) return dae_need(s, "the simulation", err);
    if (!residual) return dae_need(residual, "an array for the residuals", err);
    dae_status status = no_mechanism(s, err);
    if (status < 0) return status;
    double t = dae_integrator_time(s->it), *a = calloc((size_t)s->mech->nv + 1, sizeof *a);
    if (!a) return no_memory(err);
    int known = dae_simulation_lower(s, t, dae_integrator_state(s->it), s->y, a, NULL);
    status = dae_formulation_residuals(s->form ? s->form : s->descriptor, t, s->y, known ? a : NULL, residual,
                                       err);
    if (!known) residual[2] = NAN;
    free(a);
    return status;
}

dae_status dae_simulation_energy(dae_simulation *s, dae_energy *out, dae_error *err)
{
    if (!s) return dae_need(s, "the simulation", err);
    if (!out) return dae_need(out, "the energy", err);
    double t = dae_integrator_time(s->it);
    if (!s->p->derived.energy)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "no energy is known of this problem");
    int bad = s->p->derived.energy(s->p, 1, &t, dae_simulation_state(s), out);
    if (bad >= 0) return DAE_OK;
    if (bad == DAE_ERR_MEMORY) return no_memory(err);
    return dae_fail(err, DAE_ERR_UNDEFINED, t, "t = %.10g: the energy cannot be evaluated", t);
}

const dae_event_record *dae_simulation_events(const dae_simulation *s, int *count)
{
    return dae_integrator_events(s ? s->it : NULL, count);
}

dae_stats dae_simulation_stats(const dae_simulation *s)
{
    dae_stats stats = *dae_integrator_stats(s ? s->it : NULL);
    if (s && s->form) {
        stats.position_residual = s->residual[0];
        stats.velocity_residual = s->residual[1];
        stats.acceleration_residual = s->residual[2];
    }
    return stats;
}

size_t dae_simulation_explain(const dae_simulation *s, char *out, size_t size)
{
    if (size) out[0] = 0;
    if (!s) return 0;
    const dae_evidence *own = dae_integrator_evidence(s->it);
    size_t used = dae_choose_explain(s->evidence.given ? &s->evidence : own, out, size);
    if (!own->changed) return used;
    const char *reason = dae_integrator_reason(s->it);
    size_t at = used < size ? used : size ? size - 1 : 0;
    return used + (size_t)snprintf(out ? out + at : NULL, size - at, "changed   %s\n", reason);
}

const char *dae_simulation_warning(const dae_simulation *s)
{
    return s ? s->warning : "";
}

dae_choice dae_simulation_choice(const dae_simulation *s)
{
    if (!s)
        return (dae_choice){
            .method = "", .formulation = "", .reason = "", .coordinates = "", .linear_algebra = ""};
    const dae_formulation *form = s->form ? s->form : s->descriptor;
    const dae_method_info *m = dae_integrator_method(s->it);
    const char *why = dae_integrator_reason(s->it), *open = s->options.method;
    return (dae_choice){.method = m      ? m->name
                                  : open ? open
                                         : "auto",
                        .formulation = s->formulation ? s->formulation : "",
                        .reason = why && why[0] ? why : s->reason,
                        .coordinates = s->own ? s->own->text
                                       : form ? dae_formulation_describe(form)
                                              : "",
                        .linear_algebra = dae_integrator_linear_algebra(s->it)};
}
