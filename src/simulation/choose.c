/* What a simulation takes where the method, the form or the coordinates are left open. */
#include "simulation/simulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_open(const char *name)
{
    return !name || !strcmp(name, "auto");
}

/* A DAE with a mechanism behind it is left to methods that were made for DAEs if one of them is named and no form is. Where the
 * method is open too it is integrated as it stands unless its index is 3: crank and fekete, of index 2 and stiff, are faster and
 * more accurate so (radau5 on crank at 1e-6 1.5 ms, phem56 14 ms), caraxis and andrews are not. */
static int wants_mechanism(const dae_simulation *s)
{
    const dae_problem *p = s->p;
    if (!p->mechanism) return 0;
    if (!is_open(s->options.formulation)) return 1;
    if (is_open(s->options.method)) return dae_system_index(&p->system) > 2;
    const dae_method_info *m = dae_options_method(&s->options, s->options.method);
    return m && !(m->kinds & 1u << p->system.kind);
}

/* ---- Stiffness of a mechanism ------------------------------------------------------------------------ */

typedef struct motion {
    dae_formulation *form; /* descriptor */
    const dae_mech *m;
} motion;

/* (p, v, u)' with the accelerations of the constrained motion. */
static int rates(double t, const double *y, double *yp, void *user)
{
    const motion *x = user;
    const dae_mech *m = x->m;
    dae_mech_point at = {.t = t, .p = y, .v = y + m->np, .u = y + m->np + m->nv, .lambda = x->form->lambda};
    if (dae_formulation_solve(x->form, t, y, yp + m->np, x->form->lambda, NULL) < 0) return 1;
    if (m->nu && m->dynamics(&at, yp + m->np + m->nv, m->user)) return 1;
    if (m->kinematics) return m->kinematics(&at, yp, m->user);
    memcpy(yp, at.v, (size_t)m->np * sizeof *yp);
    return 0;
}

/* 0: the part of the forces that is odd in the velocities takes no power, so that nothing decays: seen at a few directions, for a
 * part of what an acceleration costs. What is even in them, gyroscopic terms among it, is no damping. < 0: out of memory. */
static int is_damped(const dae_mech *m, double t, const double *y)
{
    enum { DIRECTIONS = 3 };
    size_t nv = (size_t)m->nv;
    if (m->nu || m->dfdlambda) return 1;
    double *w = calloc(4 * nv + (size_t)m->nlambda + 1, sizeof *w), speed = 1;
    int damped = 0;
    if (!w) return -1;
    for (size_t i = 0; i < nv; i++) speed = fmax(speed, fabs(y[(size_t)m->np + i]));
    for (int k = 0; k < DIRECTIONS && !damped; k++) {
        double *u = w, *v = w + nv, *f[2] = {w + 2 * nv, w + 3 * nv}, power = 0, size = 0;
        dae_mech_point at = {.t = t, .p = y, .v = v, .u = y + m->np + m->nv, .lambda = w + 4 * nv};
        for (size_t i = 0; i < nv; i++) u[i] = sin(1.7 * (double)i + 0.3 + 2.1 * k) + 0.2;
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < nv; i++) v[i] = (side ? -speed : speed) * u[i];
            if (m->force(&at, f[side], m->user)) damped = 1;
        }
        for (size_t i = 0; i < nv; i++) {
            power += u[i] * (f[0][i] - f[1][i]);
            size += fabs(u[i]) * (fabs(f[0][i]) + fabs(f[1][i]));
        }
        damped |= !(fabs(power) <= 1e-12 * size); /* rounding */
    }
    free(w);
    return damped;
}

/* The same motions in joint coordinates, where an evaluation is a recursion over the tree; NAN: there are none at the start, < 0: out of
 * memory. */
static double joint_decay(const dae_simulation *s, dae_formulation *f)
{
    const dae_system *sys = dae_formulation_system(f);
    double *y = calloc((size_t)dae_system_size(sys) + 1, sizeof *y), rate = NAN;
    if (!y) return -1;
    dae_status lifted = dae_formulation_lift(f, s->t0, s->p->y0, y, NULL);
    if (lifted == DAE_OK) rate = dae_fastest_decay(&sys->ode, s->t0, y);
    if (lifted == DAE_ERR_MEMORY) rate = -1;
    free(y);
    return rate;
}

/* Fast time constants in the interval of motions that decay: at the start, and what contacts can bring later. < 0: out of
 * memory. */
static double time_constants(const dae_simulation *s, const dae_system *sys)
{
    double later = s->p->fastest * fabs(s->t_end - s->t0);
    dae_error err = {0};
    int damped = is_damped(&sys->mech, s->t0, s->p->y0);
    if (damped <= 0) return damped < 0 ? -1 : later;
    int tree = sys->mech.joint && sys->mech.joint->nloop == 0;
    dae_formulation *f = dae_formulation_create(sys, tree ? "joint" : "descriptor", NULL, 0, &err);
    if (!f) return err.status == DAE_ERR_MEMORY ? -1 : later;
    double rate = tree ? joint_decay(s, f) : NAN;
    if (isnan(rate)) {
        motion x = {f, &sys->mech};
        dae_ode ode = {.n = dae_system_size(sys), .f = rates, .user = &x};
        rate = dae_fastest_decay(&ode, s->t0, s->p->y0);
    }
    dae_formulation_destroy(f);
    return rate < 0 ? -1 : fmax(rate * fabs(s->t_end - s->t0), later);
}

/* Method and form of a mechanism where the method is open. A form that is given is kept: if it is the one that would be chosen
 * with the method, else with the method that the driver takes for what the form makes of the system. */
static dae_status choose_method(dae_simulation *s, dae_error *err)
{
    const dae_system *sys = s->as_mechanism ? s->p->mechanism : &s->p->system;
    const char *form = NULL, *given = s->options.formulation;
    dae_evidence e;
    dae_features x = dae_features_of(sys, &s->options, s->t0, s->t_end, s->p->y0, 0);
    x.constants = time_constants(s, sys);
    if (x.constants < 0) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    const dae_method_info *m = dae_choose(&x, &form, &e);
    if (!m || (!is_open(given) && strcmp(given, form) != 0)) return DAE_OK;
    s->evidence = e;
    dae_choose_reason(&e, s->reason, sizeof s->reason);
    s->options.method = m->name;
    s->options.formulation =
        is_open(given) && !strcmp(form, "index1") ? "auto" : form; /* projected, as it is then */
    s->chosen = 1;
    return DAE_OK;
}

/* ---- Coordinates --------------------------------------------------------------------------------------- */

/* Minimal coordinates: those that the problem names, unless a setting says how to choose them. */
static dae_status choose_coordinates(dae_simulation *s, dae_error *err)
{
    const char *form = s->options.formulation;
    const dae_method_info *m = dae_options_method(&s->options, s->options.method);
    int n = s->options.nsetting;
    const dae_formulation_info *info = is_open(form) ? dae_formulation_for(m) : dae_formulation_find(form);
    if (!s->p->independent || !info || strcmp(info->name, "statespace") != 0) return DAE_OK;
    for (int i = 0; i < n; i++) {
        const char *name = s->options.setting[i].name, *dot = strrchr(name, '.');
        if (dot) name = dot + 1;
        if (!strcmp(name, "independent") || !strcmp(name, "coordinates") || !strcmp(name, "scale"))
            return DAE_OK;
    }
    dae_setting *more = dae_arena_take(s->arena, (size_t)n + 1, sizeof *more);
    if (!more) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (n) memcpy(more, s->options.setting, (size_t)n * sizeof *more);
    more[n] = (dae_setting){"formulation.independent", s->p->independent};
    s->options.setting = more;
    s->options.nsetting = n + 1;
    return DAE_OK;
}

/* Problems that bring forms along: the one that is named, or the one that they take themselves. */
static dae_status choose_own(dae_simulation *s, dae_error *err)
{
    const dae_forms *forms = s->p->forms;
    const char *form = s->options.formulation, *reason = "", *method = NULL;
    const dae_method_info *m =
        is_open(s->options.method) ? NULL : dae_options_method(&s->options, s->options.method);
    dae_error wrong = {0};
    if (is_open(form)) s->own_type = forms->choose(forms, m, &method, &reason);
    else s->own_type = dae_forms_find(forms, form, &wrong);
    if (wrong.status < 0) {
        *err = wrong;
        return wrong.status;
    }
    s->formulation = s->own_type ? NULL : forms->as_written;
    s->options.formulation = NULL;
    if (method) {
        s->options.method = method;
        s->chosen = 1;
    }
    snprintf(s->reason, sizeof s->reason, "%s", reason);
    return DAE_OK;
}

/* The form that the problem asks for goes with its method; with another one that does not take it the form is open. */
static void leave_form_of_problem(dae_simulation *s)
{
    const dae_problem *p = s->p;
    dae_options *o = &s->options;
    if (!p->formulation || o->formulation != p->formulation || !p->method || o->method == p->method ||
        is_open(o->method) || !dae_method_find(o->method))
        return;
    if (dae_formulation_check(p->formulation, o->method, NULL) < 0) o->formulation = "auto";
}

dae_status dae_simulation_choose(dae_simulation *s, dae_error *err)
{
    const dae_problem *p = s->p;
    if (p->forms) return choose_own(s, err);
    leave_form_of_problem(s);
    const char *form = s->options.formulation;
    s->as_mechanism = wants_mechanism(s);
    if (p->method && s->options.method == p->method)
        memcpy(s->reason, "the problem asks for it", sizeof "the problem asks for it");
    if (!s->as_mechanism && p->system.kind != DAE_KIND_MECH) {
        if (is_open(form)) return DAE_OK;
        if (p->system.kind == DAE_KIND_ODE && !strcmp(form, "explicit")) { /* it is one already */
            s->options.formulation = NULL;
            return DAE_OK;
        }
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "formulation \"%s\": %s is no mechanical system (its kind is %s); leave the formulation out",
            form, p->info && p->info->name ? p->info->name : "this", dae_kind_name(p->system.kind));
    }
    dae_status status = is_open(s->options.method) ? choose_method(s, err) : DAE_OK;
    return status < 0 ? status : choose_coordinates(s, err);
}
