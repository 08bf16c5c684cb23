/* The driver: everything that every integrator needs and no method should have to know.
 *
 * A run is a sequence of accepted steps of the method. After each, the part of the step up to the
 * target (a requested time, or the end) is processed: events are located on the dense output, output
 * points are written, and if an event changed the state or a discontinuity was reached the method
 * starts afresh there. `now` is how far the run has been processed; it can lie inside the last step. */
#include "method/driver.h"
#include "method/matrix_free.h"
#include "method/mechanics.h"
#include "method/moving_mass.h"
#include "method/nonnegative.h"
#include "method/poles.h"

#include "core/geometry.h"
#include "core/matrix.h"
#include "core/number.h"
#include "core/setting.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A step that ends this part of itself behind a border is not repeated, and none more often than this; ours */
#define NEAR_END 0.01
#define REPEATS 3
/* Implicit methods begin behind a switch with this part of the step before it: a force that jumps or bends there excites stiff
 * modes, which their error estimate does not see in a long step (radau5 on hmmwv at 1e-10: four times the error). Ours. */
#define BEHIND 0.01
#define STEP_BEHIND 0.5 /* ours: the same for methods without an iteration behind a given discontinuity */
/* Part of a step before an event from which it tells the length of the next one; ours. */
#define AT_ONCE 1e-3
/* Part of the last step over which the slopes of algebraic variables are found behind a discontinuity; ours. */
#define RATES 1e-4
#define STIFF_STEP \
    0.1 /* ours: of a time constant; vode-adams and cvode-adams take 0.6 on y' = -1e5 (y - cos t) */
#define STABLE_STEP 10  /* steps that are longer are not bounded by stability (rkc) */
#define STIFF_REST 1000 /* time constants, as in choose.c */
/* What a jump of y' does in the last step, in tolerances, below which it is a kink: slopes of dense output are not better. Ours. */
#define KINK 100
/* rtol = 0, absolute control: what a method gets for it, so small that |y| below atol/rtol does not count but still what DDASSL and
 * LSODA take for accuracy that rounding allows; and what at most stands for the accuracy wanted where rtol does else. Ours. */
#define ABSOLUTE_RTOL (100 * DBL_EPSILON)
#define ABSOLUTE_MOST 0.1
#define LOOK 8     /* ours: steps between two looks at the clock */
#define CLOCK 0.1  /* ours: of rtol, the rounding unit of t against the interval from which a run warns */
#define WHOLE 1000 /* ours: an interval of at most so many rounding units of t is one step */
#define FEW_ULPS \
    16 /* ours: rounding units of t below which a step that goes nowhere is too small, and no fault of the method */

/* ---- Create ------------------------------------------------------------------------------------ */

/* Names of the methods that take this system, for messages. */
static void suitable(const dae_system *sys, char *out, size_t size)
{
    out[0] = 0;
    for (int i = 0; i < dae_method_count(); i++) {
        const dae_method_info *m = dae_method_get(i);
        if (!dae_method_takes(m, sys)) continue;
        if (strlen(out) + strlen(m->name) + 3 > size) return;
        if (out[0]) strcat(out, ", ");
        strcat(out, m->name);
    }
}

static dae_status check_method(const dae_method *m, const char *name, const dae_system *sys, dae_error *err)
{
    char list[300], near[64];
    if (m && dae_method_takes(&m->info, sys)) return DAE_OK;
    suitable(sys, list, sizeof list); /* for the messages */
    if (!m && dae_method_absent(name))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "%s", dae_method_absent(name));
    if (!m) {
        dae_method_nearest(name, near, sizeof near);
        return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no method \"%s\"%s%s%s; for this system: auto, %s",
                        name, DAE_DID_YOU_MEAN(near), list);
    }
    if (!(m->info.kinds & 1u << sys->kind)) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "method %s does not take systems of kind %s; these do: %s", m->info.name,
                        dae_kind_name(sys->kind), list[0] ? list : "none yet");
    }
    if (m->info.max_index < dae_system_index(sys)) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "method %s takes index %d at most, the system has index %d; these do: %s",
                        m->info.name, m->info.max_index, dae_system_index(sys), list[0] ? list : "none yet");
    }
    if (!dae_method_takes(&m->info, sys)) {
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, NAN,
            "method %s is for y'' = f(t,y) and the system does not say that its accelerations depend on no "
            "velocities (structure second_order = n/2, no_velocities = 1); these take it: %s",
            m->info.name, list);
    }
    return DAE_OK;
}

static dae_status check_options(const dae_options *o, int n, dae_error *err)
{
    if (!(o->rtol >= 0) && !o->rtol_vec)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "rtol = %g must not be negative", o->rtol);
    if (!(o->atol >= 0) && !o->atol_vec)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "atol = %g must not be negative", o->atol);
    for (int i = 0; i < n; i++) {
        if (o->rtol_vec && !(o->rtol_vec[i] >= 0)) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "rtol of component %d is %g; it must not be negative",
                            i + 1, o->rtol_vec[i]);
        }
        if (o->atol_vec && !(o->atol_vec[i] >= 0)) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "atol of component %d is %g; it must not be negative",
                            i + 1, o->atol_vec[i]);
        }
        if ((o->rtol_vec ? o->rtol_vec[i] : o->rtol) == 0 && (o->atol_vec ? o->atol_vec[i] : o->atol) == 0) {
            return dae_fail(err, DAE_ERR_INPUT, NAN,
                            "rtol and atol of component %d are both 0; one of them must be positive", i + 1);
        }
    }
    if (!(o->h0 >= 0) || !(o->h_max >= 0) || !(o->h_min >= 0) || !(o->fixed_step >= 0)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "step sizes (h0 = %g, h_max = %g, h_min = %g, fixed_step = %g) must not be negative",
                        o->h0, o->h_max, o->h_min, o->fixed_step);
    }
    if (o->max_steps < 0 || !(o->max_seconds >= 0)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "limits (max_steps = %ld, max_seconds = %g) must not be negative; 0 means none",
                        o->max_steps, o->max_seconds);
    }
    if (o->ndiscontinuity < 0 || (o->ndiscontinuity && !o->discontinuity)) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "ndiscontinuity = %d without times", o->ndiscontinuity);
    }
    if (o->linear_solver && (!o->linear_solver->create || !o->linear_solver->factor ||
                             !o->linear_solver->solve || !o->linear_solver->destroy))
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "linear_solver needs create, factor, solve and destroy; one is NULL");
    if (!dae_all_finite(o->ndiscontinuity, o->discontinuity))
        return dae_fail(err, DAE_ERR_INPUT, NAN, "a discontinuity time is not finite");
    return dae_setting_check_words(dae_options_table(), o, "option", err);
}

static dae_status copy_description(dae_integrator *it, const dae_system *sys, const dae_options *opt,
                                   dae_error *err)
{
    int ok = 1, n = dae_system_size(sys);
    dae_arena *a = it->keep;
    it->sys = *sys;
    it->opt = *opt;
    it->sys.structure.jacobian = dae_pattern_copy(&sys->structure.jacobian, n, a, &ok);
    it->sys.structure.index = dae_arena_copy(a, sys->structure.index, (size_t)n, sizeof(int));
    if (sys->kind == DAE_KIND_DAE) it->sys.dae.mass = dae_matrix_copy(&sys->dae.mass, a, &ok);
    if (sys->kind == DAE_KIND_IDE)
        it->sys.ide.algebraic = dae_arena_copy(a, sys->ide.algebraic, (size_t)n, sizeof(int));
    if (sys->kind == DAE_KIND_MECH) {
        it->sys.mech.mass = dae_matrix_copy(&sys->mech.mass, a, &ok);
        it->sys.mech.mass_block =
            dae_arena_copy(a, sys->mech.mass_block, (size_t)sys->mech.nblock, sizeof(int));
        it->sys.mech.parent = dae_arena_copy(a, sys->mech.parent, (size_t)sys->mech.nblock, sizeof(int));
        it->sys.mech.row_joint =
            dae_arena_copy(a, sys->mech.row_joint, (size_t)sys->mech.nlambda, sizeof(int));
        it->sys.mech.G_colptr = dae_arena_copy(a, sys->mech.G_colptr, (size_t)sys->mech.nv + 1, sizeof(int));
        size_t entries = sys->mech.G_colptr ? (size_t)sys->mech.G_colptr[sys->mech.nv] : 0;
        it->sys.mech.G_rowind = dae_arena_copy(a, sys->mech.G_rowind, entries, sizeof(int));
        it->sys.mech.quaternion =
            dae_arena_copy(a, sys->mech.quaternion, (size_t)sys->mech.nquaternion, sizeof(int));
    }
    double *rtol = dae_arena_reals(a, (size_t)n), *atol = dae_arena_reals(a, (size_t)n), *digits = rtol;
    int absolute = opt->error_weight != NULL; /* digits are not rtol */
    for (int i = 0; i < n; i++) absolute |= (opt->rtol_vec ? opt->rtol_vec[i] : opt->rtol) == 0;
    if (absolute) digits = dae_arena_reals(a, (size_t)n);
    it->opt.discontinuity =
        dae_arena_copy(a, opt->discontinuity, (size_t)opt->ndiscontinuity, sizeof(double));
    it->opt.setting = NULL;
    it->opt.nsetting = 0;
    if (!ok || dae_arena_failed(a))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a system of size %d", n);
    it->ivp.scalar_tolerances = 1;
    for (int i = 0; i < n; i++) {
        rtol[i] = opt->rtol_vec ? opt->rtol_vec[i] : opt->rtol;
        atol[i] = opt->atol_vec ? opt->atol_vec[i] : opt->atol;
        if (absolute) digits[i] = rtol[i] > 0 ? rtol[i] : fmin(atol[i], ABSOLUTE_MOST);
        if (rtol[i] == 0) rtol[i] = ABSOLUTE_RTOL;
        if (rtol[i] != rtol[0] || atol[i] != atol[0]) it->ivp.scalar_tolerances = 0;
    }
    it->ivp.rtol = it->opt.rtol_vec = rtol;
    it->ivp.atol = it->opt.atol_vec = it->atol = atol;
    if (opt->error_weight) {
        it->given[0] = dae_arena_copy(a, atol, (size_t)n, sizeof *atol);
        it->given[1] = dae_arena_copy(a, rtol, (size_t)n, sizeof *rtol);
        if (!it->given[0] || !it->given[1])
            return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for error weights");
        for (int i = 0; i < n; i++) rtol[i] = ABSOLUTE_RTOL;
        it->ivp.scalar_tolerances = 0;
        it->ivp.varies = 1;
    }
    if (opt->linear_solver) {
        it->opt.linear_solver = dae_arena_copy(a, opt->linear_solver, 1, sizeof *opt->linear_solver);
        if (!it->opt.linear_solver)
            return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a linear solver");
    }
    it->ivp.digits = digits;
    it->ivp.sys = &it->sys;
    it->ivp.opt = &it->opt;
    it->ivp.n = n;
    it->ivp.index = it->sys.structure.index;
    switch (sys->kind) {
    case DAE_KIND_ODE: it->ivp.f = sys->ode.f, it->ivp.user = sys->ode.user; break;
    case DAE_KIND_DAE: it->ivp.f = sys->dae.f, it->ivp.user = sys->dae.user; break;
    case DAE_KIND_IDE: it->ivp.user = sys->ide.user; break;
    case DAE_KIND_MECH: it->ivp.user = sys->mech.user; break;
    }
    return DAE_OK;
}

/* The options of the method: a struct of its own, filled through its table. */
static dae_status method_options(dae_integrator *it, const dae_options *opt, dae_error *err)
{
    const dae_method *m = it->method;
    it->option = dae_arena_take(it->keep, 1, m->option_size + 1);
    if (!it->option)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the options of %s", m->info.name);
    dae_setting_defaults(m->info.options, it->option);
    for (int i = 0; i < opt->nsetting; i++) {
        char what[64] = "option of method ";
        strncat(what, m->info.name, 32);
        dae_status s = dae_setting_store(m->info.options, it->option, what, opt->setting[i].name,
                                         opt->setting[i].value, err);
        if (s) return s;
    }
    return DAE_OK;
}

dae_integrator *dae_integrator_create(const dae_system *sys, const dae_options *opt, dae_error *err)
{
    dae_options standard = dae_options_default();
    dae_system seen; /* in place of a system with M(t,y) */
    if (!opt) opt = &standard;
    if (dae_system_check(sys, err) || check_options(opt, dae_system_size(sys), err)) return NULL;
    dae_integrator *it = calloc(1, sizeof *it);
    struct dae_difference *difference = NULL;
    if (!it) goto memory;
    it->keep = dae_arena_create();
    it->arena = dae_arena_create();
    if (!it->keep || !it->arena) goto memory;
    it->automatic = !opt->method || !strcmp(opt->method, "auto");
    if (sys->kind == DAE_KIND_DAE && sys->dae.mass_fn) {
        it->moving_mass =
            dae_moving_mass_create(sys, it->automatic ? NULL : dae_method_find(opt->method), &seen, err);
        if (!it->moving_mass) goto fail;
        sys = &seen;
    }
    if (copy_description(it, sys, opt, err) || dae_driver_switches_create(it, err) ||
        dae_nonnegative_create(it, opt, err) || dae_poles_create(it, err))
        goto fail;
    if (!it->automatic) {
        it->method = dae_method_lookup(opt, opt->method);
        if (it->method && !dae_method_find(opt->method) && dae_method_check(it->method, err)) goto fail;
        if (check_method(it->method, opt->method, sys, err) || method_options(it, opt, err)) goto fail;
    } else if (opt->nsetting) {
        dae_fail(err, DAE_ERR_INPUT, NAN,
                 "option \"%s\" belongs to a method, but the method is auto; name the method",
                 opt->setting[0].name);
        goto fail;
    }
    size_t n = (size_t)it->ivp.n;
    it->s = dae_arena_take(it->arena, 1, sizeof *it->s);
    it->y = dae_arena_reals(it->arena, n);
    it->yp = dae_arena_reals(it->arena, n);
    it->scratch = dae_arena_reals(it->arena, 2 * n);
    it->jump = dae_arena_reals(it->arena, n);
    it->reason = dae_arena_take(it->arena, 1, REASON_SIZE);
    it->evidence = dae_arena_take(it->arena, 1, sizeof *it->evidence);
    if (sys->kind == DAE_KIND_MECH) it->lambda = dae_arena_reals(it->arena, (size_t)sys->mech.nlambda);
    it->ivp.arena = it->arena;
    it->begun =
        dae_arena_reals(it->keep, 2 * n + (sys->kind == DAE_KIND_MECH ? (size_t)sys->mech.nlambda : 0));
    difference = dae_arena_take(it->keep, 1, dae_difference_size());
    if (dae_arena_failed(it->arena) || !difference || !it->begun) goto memory;
    it->ivp.difference = difference;
    it->ivp.stats = &it->s->stats;
    atomic_init(&it->cancelled, 0);
    return it;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for an integrator");
fail:
    dae_integrator_destroy(it);
    return NULL;
}

void dae_integrator_destroy(dae_integrator *it)
{
    if (!it) return;
    if (it->self) it->method->destroy(it->self);
    dae_driver_switches_destroy(it);
    dae_moving_mass_destroy(it->moving_mass);
    dae_matrix_free_destroy(&it->ivp);
    dae_arena_destroy(it->keep);
    dae_arena_destroy(it->arena);
    free(it->record);
    free(it->root);
    free(it);
}

/* ---- Start -------------------------------------------------------------------------------------- */

/* The wall ahead: the end, where the method must not pass it, or the next discontinuity (also one at the
 * end, or behind it for a method that may pass the end). */
static void set_segment(dae_integrator *it)
{
    dae_ivp *ivp = &it->ivp;
    const dae_options *o = &it->opt;
    int pass = it->method && it->method->soft_end && !o->stop_at_end &&
               !ivp->project; /* the end is a projected point */
    ivp->t_stop = pass ? ivp->direction * INFINITY : it->s->t_end;
    ivp->right = NAN;
    if (it->s->segment < o->ndiscontinuity) {
        double td = o->discontinuity[it->s->segment];
        if (ivp->direction * (ivp->t_stop - td) >= 0) ivp->t_stop = ivp->right = td;
    }
}

/* Skips the discontinuities that are not ahead of t; the one at t itself begins the segment. */
static void pass_discontinuities(dae_integrator *it, double t)
{
    dae_ivp *ivp = &it->ivp;
    ivp->left = NAN;
    while (it->s->segment < it->opt.ndiscontinuity) {
        double td = it->opt.discontinuity[it->s->segment];
        if (ivp->direction * (td - t) > 0) break;
        if (td == t) ivp->left = td;
        it->s->segment++;
    }
    set_segment(it);
}

dae_status dae_driver_derivative(dae_integrator *it, double t, int given, dae_error *err)
{
    dae_ivp *ivp = &it->ivp;
    if (it->sys.kind == DAE_KIND_IDE) {
        if (given && dae_ivp_residual(ivp, t, it->y, it->yp, it->scratch) == 0) {
            double largest = 0;
            for (int i = 0; i < ivp->n; i++) largest = fmax(largest, fabs(it->scratch[i]));
            if (largest == 0) return DAE_OK;
        }
        double h = it->s->stats.accepted > 0 ? fmin(fabs(it->s->stats.h_last), fabs(ivp->t_stop - t)) : 0;
        return dae_ivp_consistent(ivp, t, it->y, it->yp, ivp->direction * RATES * h, err);
    }
    if (it->sys.kind == DAE_KIND_MECH) return DAE_OK;
    if (given && it->sys.kind == DAE_KIND_DAE) return DAE_OK;
    int r = dae_ivp_derivative(ivp, t, it->y, it->yp);
    if (it->sys.kind == DAE_KIND_ODE) { /* a method that uses it counts it in reset */
        ivp->stats->f--;
        it->uncounted = 1;
    }
    if (r == 0) return DAE_OK;
    if (r == DAE_IVP_NO_MEMORY)
        return dae_fail(err, DAE_ERR_MEMORY, t, "no memory to solve M y' = f for %d equations", ivp->n);
    if (r < 0)
        return dae_fail(err, DAE_ERR_CALLBACK, t,
                        "t = %g: the right-hand side asked to stop at the initial values", t);
    if (dae_moving_mass_singular(it->moving_mass))
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, t,
            "t = %g: M(t,y) is singular at the initial values, and the method sees y' = M^-1 f; dassl, "
            "ida, mebdfi, pside and auto take it",
            t);
    if (ivp->bad_component >= 0) {
        return dae_fail(
            err, DAE_ERR_UNDEFINED, t,
            "t = %g: component %d of the right-hand side is not finite at the initial values; check them "
            "and the domain of the equations",
            t, ivp->bad_component + 1);
    }
    return dae_fail(err, DAE_ERR_UNDEFINED, t,
                    "t = %g: the right-hand side cannot be evaluated at the initial values", t);
}

/* Not every method passes on what it hears in a first guess, in an iteration or in dense output. */
static dae_status asked_to_stop(const dae_integrator *it, dae_error *err)
{
    return dae_fail(err, DAE_ERR_CALLBACK, it->ivp.t, "t = %.10g: a user function asked to stop", it->ivp.t);
}

/* Mechanical systems: y' = (T v, a, d) with the accelerations and multipliers of the method. */
static dae_status mechanical_start(dae_integrator *it, double t, dae_error *err)
{
    const dae_mech *m = &it->sys.mech;
    double *yp = it->yp, *y = it->y, *lambda = it->lambda;
    if (!it->method->multipliers) return DAE_OK;
    dae_mech_point x = {.t = t, .p = y, .v = y + m->np, .u = y + m->np + m->nv, .lambda = lambda};
    int r = it->method->multipliers(it->self, t, yp + m->np, lambda);
    if (!m->kinematics) dae_copy(m->np, x.v, yp);
    else if (!r)
        r = dae_ivp_mech(&it->ivp, m->kinematics, &(dae_mech_point){.t = t, .p = x.p, .v = x.v}, m->np, yp);
    if (!r && m->nu) r = dae_ivp_mech(&it->ivp, m->dynamics, &x, m->nu, yp + m->np + m->nv);
    if (r >= 0) return DAE_OK; /* singular there: events that use it will see */
    return dae_fail(err, DAE_ERR_CALLBACK, t, "t = %g: a user function asked to stop at the initial values",
                    t);
}

/* A first step that was asked for: not so short that it is lost in t, nor beyond the end, which methods that may pass it
 * would do with the solution of another time. */
static double first_step(const dae_integrator *it, double h)
{
    double t = it->s->now, rest = fabs(it->s->t_end - t);
    if (!(h > 0) && rest <= WHOLE * DBL_EPSILON * fmax(fabs(t), fabs(it->s->t_end))) return rest;
    if (!(h > 0)) return h;
    return fmin(fmax(h, dae_first_step_least(t)), rest > 0 ? rest : h);
}

/* The tolerances of the next step, where the user gives them (ivp.varies). */
static dae_status weigh_errors(dae_integrator *it, double t, const double *y, dae_error *err)
{
    for (int i = 0; i < it->ivp.n; i++) it->atol[i] = it->given[0][i] + it->given[1][i] * fabs(y[i]);
    if (it->opt.error_weight(t, y, it->atol, it->opt.error_weight_user))
        return dae_fail(err, DAE_ERR_CALLBACK, t,
                        "t = %.10g: the function of the error weights asked to stop", t);
    for (int i = 0; i < it->ivp.n; i++) {
        if (!(it->atol[i] > 0) || !isfinite(it->atol[i]))
            return dae_fail(err, DAE_ERR_INPUT, t,
                            "t = %.10g: the error allowed in component %d is %g; it must be positive", t,
                            i + 1, it->atol[i]);
    }
    return DAE_OK;
}

/* (Re)starts the method at (now, y, yp). */
dae_status dae_driver_restart(dae_integrator *it, double h, dae_error *err)
{
    dae_driver_leap_forget(it);
    return dae_driver_restart_only(it, h, err);
}

dae_status dae_driver_restart_only(dae_integrator *it, double h, dae_error *err)
{
    double t = it->s->now;
    dae_poles_forget(it);
    h = first_step(it, h);
    dae_stats *st = &it->s->stats;
    long counted = st->f;
    it->ivp.err = err;
    it->ivp.t = it->ivp.t_old = t;
    dae_status s = it->ivp.varies ? weigh_errors(it, t, it->y, err) : DAE_OK;
    if (s) return s;
    s = it->method->reset(it->self, t, it->y, it->yp, h);
    if (it->uncounted && st->f == counted) st->f++;
    it->uncounted = 0;
    if (s != DAE_ERR_CALLBACK && it->ivp.asked_to_stop) return asked_to_stop(it, err);
    if (s < 0)
        return err->status < 0 ? err->status : dae_fail(err, s, t, "t = %.10g: %s", t, dae_status_text(s));
    it->ivp.t = it->ivp.t_old = t;
    dae_copy(it->ivp.n, it->ivp.y, it->y); /* the method may have made the values consistent */
    return it->sys.kind == DAE_KIND_MECH ? mechanical_start(it, t, err) : DAE_OK;
}

static dae_status make_method(dae_integrator *it, dae_error *err)
{
    it->ivp.err = err;
    it->ivp.exact_jacobian = it->ivp.no_iteration = 0; /* until the method says so */
    it->self = it->method->create(&it->ivp, it->option, err);
    if (!it->self) return err && err->status < 0 ? err->status : DAE_ERR_MEMORY;
    if (dae_driver_leap_prepare(it) || dae_arena_failed(it->arena)) {
        it->method->destroy(it->self);
        it->self = NULL;
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for method %s", it->method->info.name);
    }
    return DAE_OK;
}

/* The right-hand side for the judgment of "auto": one-sided like every evaluation. */
static int judged_f(double t, const double *y, double *f, void *user)
{
    return dae_ivp_f(user, t, y, f);
}

void dae_driver_watch_stiffness(dae_integrator *it)
{
    const dae_evidence *e = it->evidence;
    it->ivp.stiff_above = e->given && e->seen.kind == DAE_KIND_ODE ? dae_stiff_limit(&e->seen) : 0;
}

static dae_status choose_method(dae_integrator *it, double t0, double t_end, dae_error *err)
{
    dae_system sys = it->sys;
    dae_options opt = it->opt;
    opt.rtol_vec = it->ivp.digits;
    if (sys.kind == DAE_KIND_ODE) {
        sys.ode.f = judged_f;
        sys.ode.user = &it->ivp;
    }
    long counted = it->s->stats.f; /* a run by "auto" counts what a run by the method itself does */
    int events = !it->events.count ? 0 : it->events.no_state ? DAE_EVENTS_BY_TIME : DAE_EVENTS_BY_STATE;
    const dae_method_info *info = dae_choose_as_it_stands(&sys, &opt, t0, t_end, it->y, events, it->evidence);
    it->s->stats.f = counted;
    if (!info) {
        const char *reason = dae_integrator_reason(it);
        int memory = !strcmp(reason, dae_choose_no_memory);
        return dae_fail(err, memory ? DAE_ERR_MEMORY : DAE_ERR_UNSUPPORTED, NAN, "auto: %s", reason);
    }
    if (it->ivp.project && !info->projects) {
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "auto: %s would be taken (%s), but cannot be projected", info->name,
                        dae_integrator_reason(it));
    }
    it->method = dae_method_lookup(NULL, info->name);
    dae_driver_watch_stiffness(it);
    dae_log(&it->opt, DAE_LOG_INFO, "method=%s reason=\"%s\"", info->name, dae_integrator_reason(it));
    return method_options(it, &it->opt, err);
}

/* Error tests divide by atol + rtol |y|; those of the methods for mechanical systems take the size of all positions. */
static dae_status check_weights(const dae_integrator *it, double t0, dae_error *err)
{
    if (it->opt.fixed_step > 0 || it->sys.kind == DAE_KIND_MECH) return DAE_OK;
    for (int i = 0; i < it->ivp.n && !it->ivp.varies; i++) {
        if (it->ivp.atol[i] > 0 || it->y[i] != 0) continue;
        return dae_fail(err, DAE_ERR_INPUT, t0,
                        "t = %g: component %d is zero and its atol too; give it a positive atol", t0, i + 1);
    }
    return DAE_OK;
}

dae_status dae_integrator_start(dae_integrator *it, double t0, double t_end, const double *y0,
                                const double *yp0, dae_error *err)
{
    dae_error spare;
    if (!err) err = &spare;
    err->status = DAE_OK;
    if (dae_need(it, "the integrator", err) || dae_need(y0, "y0", err)) return err->status;
    int n = it->ivp.n;
    it->started = it->uncounted = it->ivp.asked_to_stop = 0;
    if (!isfinite(t0) || !isfinite(t_end))
        return dae_fail(err, DAE_ERR_INPUT, t0, "t0 = %g and t_end = %g must be finite", t0, t_end);
    for (int i = 0; i < n; i++) {
        if (!isfinite(y0[i]))
            return dae_fail(err, DAE_ERR_INPUT, t0, "initial value of component %d is %g", i + 1, y0[i]);
        if (yp0 && !isfinite(yp0[i]))
            return dae_fail(err, DAE_ERR_INPUT, t0, "initial derivative of component %d is %g", i + 1,
                            yp0[i]);
    }
    driver_state *s = it->s;
    *s = (driver_state){.t0 = t0, .t_end = t_end, .now = t0, .aim = NAN};
    s->stats.h_smallest = INFINITY;
    it->nrecord = 0;
    it->begin = t0;
    it->ivp.direction = t_end >= t0 ? 1 : -1;
    it->ivp.t_end = t_end;
    it->ivp.t = it->ivp.t_old = t0;
    it->ivp.left = it->ivp.right = NAN;
    it->ivp.t_stop = t_end;
    for (int i = 1; i < it->opt.ndiscontinuity; i++) {
        if (!(it->ivp.direction * (it->opt.discontinuity[i] - it->opt.discontinuity[i - 1]) > 0)) {
            return dae_fail(err, DAE_ERR_INPUT, t0,
                            "discontinuity times must be sorted in the direction of integration");
        }
    }
    dae_copy(n, y0, it->y);
    if (yp0) dae_copy(n, yp0, it->yp);
    else dae_zero(n, it->yp);
    pass_discontinuities(it, t0);
    dae_status r = dae_driver_switches_start(it, err);
    if (r) return r;
    if (!it->prepared) {
        r = dae_ivp_prepare(&it->ivp, t0, it->y, it->sys.kind == DAE_KIND_IDE ? it->yp : NULL, err);
        if (!r && it->sys.kind == DAE_KIND_MECH) r = dae_geometry_check(&it->sys.mech, t0, it->y, err);
        if (!r && !it->method) r = choose_method(it, t0, t_end, err);
        if (!r) r = make_method(it, err);
        if (r) return r;
        it->prepared = 1;
    }
    r = check_weights(it, t0, err);
    if (!r) r = dae_nonnegative_check(it, t0, it->y, err);
    if (r) return r;
    dae_nonnegative_project(it);
    set_segment(it); /* now that the method is known */
    if (it->sys.kind == DAE_KIND_MECH) s->stats.acceleration_residual = NAN; /* until a method tells it */
    r = dae_driver_derivative(it, t0, yp0 != NULL, err);
    if (r) return r;
    r = dae_driver_restart(it, it->opt.h0, err);
    if (!r) r = dae_driver_events_start(it, err);
    dae_fingerprint_start(it, y0);
    const char *warning = dae_method_warning(&it->method->info, dae_system_index(&it->sys));
    if (warning) dae_log(&it->opt, DAE_LOG_WARN, "t=%.10g warning=\"%s\"", t0, warning);
    char clock[300];
    if (dae_clock_warning(t0, t_end, it->opt.rtol, clock, sizeof clock))
        dae_log(&it->opt, DAE_LOG_WARN, "t=%.10g warning=\"%s\"", t0, clock);
    it->started = !r; /* the output of the start may ask for more than y */
    if (!r) r = dae_driver_output_start(it, err);
    it->started = !r;
    return r;
}

/* ---- Going on ------------------------------------------------------------------------------------ */

static double cpu_seconds(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)) return (double)clock() / CLOCKS_PER_SEC;
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void dae_driver_at(dae_integrator *it, double t, double *y, double *yp)
{
    if (t == it->s->now) {
        dae_copy(it->ivp.n, it->y, y);
        if (yp) dae_copy(it->ivp.n, it->yp, yp);
    } else {
        it->method->interpolate(it->self, t, y, yp);
        dae_nonnegative_clip(it, y, yp);
    }
}

static void move_to(dae_integrator *it, double t)
{
    if (t == it->s->now) return;
    if (t == it->ivp.t) dae_copy(it->ivp.n, it->ivp.y, it->y);
    else it->method->interpolate(it->self, t, it->y, NULL);
    if (it->nonnegative) dae_nonnegative_clip(it, it->y, NULL);
    it->s->now = t;
}

static void note_step(dae_integrator *it)
{
    dae_stats *st = &it->s->stats;
    double h = fabs(it->ivp.t - it->ivp.t_old);
    st->h_last = it->ivp.t - it->ivp.t_old;
    st->order_last = it->ivp.order;
    if (h < st->h_smallest) st->h_smallest = h;
    if (h > st->h_largest) st->h_largest = h;
    dae_log(&it->opt, DAE_LOG_STEP, "t=%.16g h=%.6g order=%d steps=%ld accepted=%ld f=%ld jac=%ld lu=%ld",
            it->ivp.t, st->h_last, it->ivp.order, st->steps, st->accepted, st->f, st->jac, st->lu);
}

dae_status dae_driver_replace_method(dae_integrator *it, const dae_method *method, dae_error *err)
{
    it->started = 0;
    it->method->destroy(it->self);
    it->self = NULL;
    it->method = method;
    dae_status r = method_options(it, &it->opt, err);
    if (!r) r = make_method(it, err);
    if (!r) dae_nonnegative_project(it);
    it->prepared = it->started = !r;
    return r;
}

void dae_driver_untimed(dae_integrator *it)
{
    it->untimed = 1;
}

void dae_driver_may_switch(dae_integrator *it)
{
    it->automatic = 1;
}

int dae_clock_warning(double t0, double t_end, double rtol, char *text, size_t size)
{
    double unit = DBL_EPSILON * fmax(fabs(t0), fabs(t_end)), length = fabs(t_end - t0);
    if (!(rtol > 0) || !(length > 0) || !(unit > CLOCK * rtol * length) || length <= WHOLE * unit) return 0;
    dae_snprintf(text, size,
                 "t = %g .. %g is resolved to %.1g only, too little for rtol = %g over an interval of %g: "
                 "errors may be larger than the tolerance; let t begin near 0",
                 t0, t_end, unit, rtol, length);
    return 1;
}

/* "auto" took an explicit method and it met stiffness: go on with an implicit one, by the rules where the choice was made here,
 * with steps not shorter than its last. */
static dae_status switch_to_implicit(dae_integrator *it, dae_error *err)
{
    const dae_evidence *e = it->evidence;
    const dae_method_info *info =
        e->given && e->seen.kind == DAE_KIND_ODE ? dae_choose_stiff(&e->seen) : NULL;
    if (info && it->ivp.project && !info->projects) info = NULL;
    const dae_method *implicit = dae_method_lookup(NULL, info ? info->name : "radau5");
    if (!implicit || it->method == implicit) return DAE_OK;
    double h = fabs(it->ivp.h_next);
    it->evidence->changed = 1;
    dae_snprintf(it->reason, REASON_SIZE, "%s met stiffness at t = %g, so %s goes on from there",
                 it->method->info.name, it->ivp.t, implicit->info.name);
    dae_log(&it->opt, DAE_LOG_INFO, "method=%s reason=\"%s\"", implicit->info.name, it->reason);
    move_to(it, it->ivp.t);
    dae_status r = dae_driver_replace_method(it, implicit, err);
    if (r) return r;
    set_segment(it);
    r = dae_driver_derivative(it, it->s->now, 0, err);
    return r ? r : dae_driver_restart(it, h, err);
}

/* Something depends on something that it did not at the start (a contact): the method goes on with factors that have a place
 * for it. */
static dae_status extend_pattern(dae_integrator *it, dae_error *err)
{
    double h = fabs(it->ivp.h_next);
    move_to(it, it->ivp.t);
    dae_status r = dae_ivp_extend_pattern(&it->ivp, err);
    if (!r) r = dae_driver_replace_method(it, it->method, err);
    if (r) return r;
    dae_log(&it->opt, DAE_LOG_INFO, "t=%.10g pattern=extended", it->s->now);
    set_segment(it);
    r = dae_driver_derivative(it, it->s->now, 0, err);
    return r ? r : dae_driver_restart(it, h, err);
}

static double wall_seconds(const dae_integrator *it)
{
    return 1e-9 * (double)(dae_clock_ticks() - it->wall_begin);
}

/* CPU time is a system call, so the cheap wall clock is asked first: it is never behind. */
static int out_of_time(const dae_integrator *it)
{
    double used = it->s->stats.cpu_seconds;
    return used + wall_seconds(it) > it->opt.max_seconds &&
           used + cpu_seconds() - it->cpu_begin > it->opt.max_seconds;
}

/* Between two steps: other variables, where they are wanted. */
static dae_status change_chart(dae_integrator *it, dae_error *err)
{
    if (!it->chart || it->s->charted || it->ivp.t != it->s->now || it->ivp.t == it->ivp.t_old) return DAE_OK;
    it->s->charted = 1; /* a run that a limit stops before the next step is not asked again when it goes on */
    int r = it->chart(it->s->now, it->y, it->chart_user);
    if (r == 0) return DAE_OK;
    if (r == DAE_ERR_MEMORY)
        return dae_fail(err, DAE_ERR_MEMORY, it->s->now, "t = %.10g: no memory for other variables",
                        it->s->now);
    if (r < 0)
        return dae_fail(err, DAE_ERR_CALLBACK, it->s->now, "t = %.10g: the change of variables asked to stop",
                        it->s->now);
    it->s->stats.charts++;
    dae_log(&it->opt, DAE_LOG_INFO, "t=%.10g restart=chart", it->s->now);
    dae_status s = dae_driver_derivative(it, it->s->now, 0, err);
    return s ? s : dae_driver_restart(it, fabs(it->ivp.h_next), err);
}

dae_status dae_driver_take_cancel(dae_integrator *it, dae_error *err)
{
    atomic_store(&it->cancelled, 0);
    return dae_fail(err, DAE_CANCELLED, it->s->now, "cancelled at t = %.10g", it->s->now);
}

/* The steps fell to nothing, and the last attempts met points where the system has no values. */
static dae_status ends_here(const dae_integrator *it, dae_error *err)
{
    char which[64] = "", said[sizeof err->text] = "";
    const char *colon = err->status < 0 ? strstr(err->text, ": ") : NULL;
    if (colon) memcpy(said, colon, strlen(colon) + 1);
    if (it->ivp.bad_component >= 0)
        snprintf(which, sizeof which, " (component %d is not finite there)", it->ivp.bad_component + 1);
    return dae_fail(
        err, DAE_ERR_UNDEFINED, it->ivp.t,
        "t = %.10g: the system cannot be evaluated beyond this point%s%s%s", it->ivp.t, which, said,
        it->leap ? "; constraints that lose rank (a singular pose)? dop853 and mexx pass most such" : "");
}

/* 1: it is stiffness that makes an explicit method take so many steps. Those without a test of their own (Adams and half-explicit
 * methods) are asked now: steps of the order of the fastest time constant that decays, and many of it left. */
static int meets_stiffness(const dae_integrator *it)
{
    double h = fabs(it->ivp.t - it->ivp.t_old), rest = fabs(it->s->t_end - it->ivp.t);
    int mech = it->sys.kind == DAE_KIND_MECH;
    if (it->s->stiff || it->method->info.implicit || !(mech || it->sys.kind == DAE_KIND_ODE))
        return it->s->stiff;
    double rate = mech ? dae_mechanics_fastest_decay(&it->ivp, it->ivp.t, it->ivp.y)
                       : dae_fastest_decay(&it->sys.ode, it->ivp.t, it->ivp.y);
    return rate * h > STIFF_STEP && rate * h < STABLE_STEP && rate * rest > STIFF_REST;
}

/* One accepted step of the method. */
static dae_status one_step(dae_integrator *it, int *stiff, dae_error *err)
{
    dae_stats *st = &it->s->stats;
    if (dae_driver_cancelled(it)) return dae_driver_take_cancel(it, err);
    if (it->opt.max_steps > 0 && st->steps >= it->opt.max_steps) {
        return dae_fail(
            err, DAE_ERR_MAX_STEPS, it->s->now, "t = %.10g: %ld steps were taken without reaching %g; %s",
            it->s->now, st->steps, it->s->t_end,
            meets_stiffness(it) ? "the problem is stiff and the method explicit: take radau5 or auto"
                                : "raise max_steps");
    }
    if (it->opt.max_seconds > 0 && st->accepted % LOOK == 0 && out_of_time(it)) {
        return dae_fail(err, DAE_ERR_MAX_SECONDS, it->s->now,
                        "t = %.10g: %g s of CPU time are used up before %g was reached; raise max_seconds",
                        it->s->now, it->opt.max_seconds, it->s->t_end);
    }
    it->ivp.err = err;
    double before = it->ivp.t;
    long undefined = st->undefined;
    it->ivp.bad_component = -1;
    dae_status r = it->ivp.varies ? weigh_errors(it, before, it->ivp.y, err) : DAE_OK;
    if (r) return r;
    r = it->method->step(it->self);
    if (r != DAE_ERR_CALLBACK && it->ivp.asked_to_stop) return asked_to_stop(it, err);
    if ((r == DAE_ERR_STEP_TOO_SMALL || r == DAE_ERR_CONVERGENCE || r == DAE_ERR_SINGULAR) &&
        it->opt.h_min <= 0 && dae_driver_leap(it, err)) {
        r = DAE_OK;
        *err = (dae_error){.t = NAN};
    }
    if ((r == DAE_ERR_STEP_TOO_SMALL || r == DAE_ERR_CONVERGENCE) && st->undefined > undefined &&
        it->opt.h_min <= 0 && err->status != DAE_ERR_MEMORY)
        return ends_here(it, err);
    if (r < 0)
        return err->status < 0 ? err->status
                               : dae_fail(err, r, it->ivp.t, "t = %.10g: %s", it->ivp.t, dae_status_text(r));
    if (!(it->ivp.direction * (it->ivp.t - before) > 0)) {
        if (fabs(it->ivp.h_next) <= FEW_ULPS * DBL_EPSILON * fabs(before))
            return dae_fail(err, DAE_ERR_STEP_TOO_SMALL, before,
                            "t = %.10g: the step fell to %.3g, which t does not resolve; a singularity or a "
                            "discontinuity "
                            "may be near, or t begin too far from 0 for this accuracy",
                            before, fabs(it->ivp.h_next));
        return dae_fail(err, DAE_ERR_INTERNAL, before, "t = %.10g: a step of method %s made no headway",
                        before, it->method->info.name);
    }
    *stiff = r == DAE_STIFF;
    it->s->stiff |= *stiff;
    if (*stiff)
        dae_log(&it->opt, DAE_LOG_WARN, "t=%.10g warning=\"looks stiff for %s\"", it->ivp.t,
                it->method->info.name);
    it->s->charted = 0;
    note_step(it);
    if (it->leap) dae_driver_leap_note(it);
    return DAE_OK;
}

/* 1: y' of the differential variables, it->yp now, is what it was before (scratch + n), to what a step shows of it. */
static int goes_on(const dae_integrator *it)
{
    const dae_system *sys = &it->sys;
    int n = it->ivp.n;
    double h = fabs(it->s->stats.h_last), *weight = it->scratch, *old = it->scratch + n;
    for (int i = 0; i < n; i++) {
        weight[i] = it->ivp.atol[i] + it->ivp.rtol[i] * fabs(it->y[i]);
        old[i] = it->yp[i] - old[i];
        if (sys->kind == DAE_KIND_IDE && sys->ide.algebraic && sys->ide.algebraic[i]) old[i] = 0;
    }
    if (sys->kind == DAE_KIND_DAE && sys->dae.mass.n) { /* M y' */
        dae_matrix_multiply(&sys->dae.mass, n, old, it->jump);
        dae_copy(n, it->jump, old);
        dae_matrix_multiply(&sys->dae.mass, n, weight, it->jump);
        dae_copy(n, it->jump, weight);
    }
    for (int i = 0; i < n; i++) {
        if (!(h * fabs(old[i]) <= KINK * fabs(weight[i]))) return 0;
    }
    return 1;
}

/* At a switch: to its other side. */
static dae_status go_over(dae_integrator *it, dae_error *err)
{
    driver_state *s = it->s;
    double h = fmin(fabs(s->stats.h_last), fabs(s->now - it->ivp.t_old));
    if (!(h > 0)) h = fabs(s->stats.h_last);
    if (s->now != it->ivp.t && s->now != it->ivp.t_old) {
        dae_copy(it->ivp.n, it->y, it->scratch);
        dae_driver_project(it, s->now, it->scratch);
        dae_copy(it->ivp.n, it->scratch, it->y);
    }
    s->stats.restarts++;
    if (it->sys.kind == DAE_KIND_IDE && s->now != it->ivp.t_old)
        it->method->interpolate(it->self, s->now, it->scratch, it->yp);
    dae_status r = dae_driver_switches_act(it, err);
    s->aim = NAN;
    s->repeats = 0;
    pass_discontinuities(it, s->now);
    int multistep = it->method->info.multistep && s->now != it->ivp.t_old;
    if (multistep) it->method->interpolate(it->self, s->now, it->scratch, it->scratch + it->ivp.n);
    if (!r) r = dae_driver_derivative(it, s->now, 0, err);
    if (it->method->info.implicit) h *= BEHIND;
    if (r) return r;
    it->ivp.kink = multistep && goes_on(it);
    r = dae_driver_restart(it, h, err);
    it->ivp.kink = 0;
    return r;
}

/* One accepted step; one that passes a border is repeated up to it, because dense output inside a step can be less accurate
 * than its end. Not by multistep methods, which would lose their history, and block methods: there both are as good. */
static dae_status step_to_switch(dae_integrator *it, int *stiff, dae_error *err)
{
    driver_state *s = it->s;
    dae_ivp *ivp = &it->ivp;
    if (s->aim == ivp->t) s->repeats = 0;
    if (!isnan(s->aim) && ivp->direction * (s->aim - ivp->t) <= 0) { /* passed, and nothing switched */
        double h = fmax(fabs(ivp->h_next), fabs(ivp->t - ivp->t_old));
        s->aim = NAN;
        set_segment(it);
        dae_status r = dae_driver_derivative(it, s->now, 0, err);
        if (!r) r = dae_driver_restart(it, h, err); /* it has planned steps to the aim */
        if (r) return r;
    }
    for (;;) {
        dae_status r = one_step(it, stiff, err);
        s->switch_t = NAN;
        if (!r && it->sw) r = dae_driver_switches_look(it, err);
        int pole = !r && it->poles && isnan(s->switch_t) ? dae_poles_passed(it) : -1;
        if (pole >= 0) {
            double h;
            r = dae_poles_repeat(it, pole, &h, err);
            if (!r) r = dae_driver_derivative(it, s->now, 0, err);
            if (!r) r = dae_driver_restart(it, h, err);
            if (r) return r;
            continue;
        }
        if (r || isnan(s->switch_t)) return r;
        double used = s->switch_t - s->now, step = ivp->t - s->now;
        if (it->method->info.multistep || it->method->block || it->opt.fixed_step > 0 ||
            s->repeats >= REPEATS || !(fabs(used) > dae_first_step_least(s->now)) ||
            fabs(step - used) <= NEAR_END * fabs(step))
            return DAE_OK;
        s->repeats++;
        dae_driver_switches_again(it);
        s->aim = s->now + used * (1 + NEAR_END / 2); /* before the end of the step: see NEAR_END above */
        ivp->t_stop = s->aim;                        /* before the restart, which plans with it */
        ivp->right = NAN;
        r = dae_driver_derivative(it, s->now, 0, err);
        if (!r) r = dae_driver_restart(it, fabs(s->aim - s->now), err);
        if (r) return r;
    }
}

/* The first step behind a given discontinuity: one-step methods whose errors tell when it is too long, those for ODEs and those that solve
 * linear systems only, go on with half of the one that they would have taken there; growing from a guess takes more. All of it: DETEST F1 with
 * its jumps told has 2 of 350 runs more above 100 tolerances. */
static double step_behind(const dae_integrator *it)
{
    const dae_method_info *m = &it->method->info;
    int tells = m->implicit ? it->ivp.no_iteration : it->sys.kind == DAE_KIND_ODE;
    if (m->multistep || !tells || it->opt.h0 > 0) return it->opt.h0;
    return STEP_BEHIND * fabs(it->ivp.h_next);
}

/* Processes the present step from `now` up to `to`; restarts where an event or discontinuity asks. */
static dae_status process(dae_integrator *it, double to, dae_error *err)
{
    driver_state *s = it->s;
    dae_event_outcome out = {.t = to};
    double from = s->now;
    if (it->events.count) {
        dae_status r = dae_driver_events(it, from, to, &out, err);
        if (r) return r;
    }
    int wanted = it->piece || it->output.mode != DAE_OUTPUT_NONE;
    if (wanted && !out.written && !out.restart && !out.stop) {
        dae_status r = dae_driver_output(it, from, out.t, err);
        if (r < 0) return r;
    }
    if (out.stop || out.restart) {
        s->now = out.t; /* events.c left the state of this time in y */
        s->stopped = out.stop;
        if (out.stop)
            return dae_fail(err, DAE_EVENT, out.t, "a terminal event ended the run at t = %.16g", out.t);
        s->stats.restarts++;
        s->aim = NAN;
        pass_discontinuities(it, s->now);
        dae_status r = dae_driver_switches_start(it, err);
        if (r) return r;
        /* Not longer than the part of the step that was used: short flights between events follow each other. An event right where the
         * step begins (of a sampled controller, behind the border of its instant) says nothing of lengths. */
        double h = fmin(fabs(s->stats.h_last), fabs(out.t - it->ivp.t_old));
        if (h < AT_ONCE * fabs(s->stats.h_last)) h = it->opt.h0;
        r = dae_driver_derivative(it, s->now, 0, err);
        if (!r) r = dae_driver_restart(it, h, err);
        return r;
    }
    move_to(it, out.t);
    if (s->now == s->switch_t) return go_over(it, err);
    if (s->now == it->ivp.right && it->ivp.t == s->now &&
        s->now != s->t_end) { /* go on from its other side */
        s->stats.restarts++;
        dae_log(&it->opt, DAE_LOG_INFO, "t=%.10g restart=discontinuity", s->now);
        pass_discontinuities(it, s->now);
        if (it->sys.kind == DAE_KIND_IDE) it->method->interpolate(it->self, s->now, it->scratch, it->yp);
        dae_status r = dae_driver_switches_jump(it, err);
        double h = step_behind(it);
        if (!r) r = dae_driver_derivative(it, s->now, 0, err);
        return r ? r : dae_driver_restart(it, h, err);
    }
    return DAE_OK;
}

/* Ticks to seconds. Reading the clock twice costs itself: once inside the time taken, once outside. */
static void note_profile(dae_integrator *it, unsigned long long ticks, unsigned long long nanoseconds)
{
    dae_ivp *ivp = &it->ivp;
    dae_stats *st = &it->s->stats;
    double second = 1e-9 * (double)nanoseconds / (double)ticks, cost = INFINITY;
    for (int k = 0; k < 64; k++) {
        unsigned long long begin = dae_ticks();
        cost = fmin(cost, (double)(dae_ticks() - begin));
    }
    st->user_seconds += fmax(0, (double)ivp->user_ticks - cost * (double)ivp->user_timed) * second;
    st->linalg_seconds += fmax(0, (double)ivp->linalg_ticks - cost * (double)ivp->linalg_timed) * second;
    st->profile_seconds += 2 * cost * (double)(ivp->user_timed + ivp->linalg_timed) * second;
}

/* After an error: the state is that of its time where the last step reaches it, or the time that of the state. */
static void leave_at(dae_integrator *it, dae_error *err)
{
    double d = it->ivp.direction;
    if (d * (err->t - it->s->now) > 0 && d * (it->ivp.t - err->t) >= 0) move_to(it, err->t);
    err->t = it->s->now;
}

/* Goes on until target is processed (or, with one = 1, until one step is). */
static dae_status go(dae_integrator *it, double target, int one, dae_error *err)
{
    dae_error spare;
    if (!err) err = &spare;
    *err = (dae_error){.t = NAN};
    if (!it->started) return dae_fail(err, DAE_ERR_INPUT, NAN, "call dae_integrator_start first");
    driver_state *s = it->s;
    double d = it->ivp.direction;
    if (d * (target - s->now) < 0)
        return dae_fail(err, DAE_ERR_INPUT, s->now, "t = %g lies before the present time %g", target, s->now);
    if (!(d * (s->t_end - target) >= 0))
        return dae_fail(err, DAE_ERR_INPUT, s->now, "t = %g lies beyond the end %g that was given to start",
                        target, s->t_end);
    unsigned long long tick_begin = dae_ticks();
    it->wall_begin = dae_clock_ticks();
    int timed = !it->untimed || it->opt.max_seconds > 0 || it->opt.profile;
    it->cpu_begin = timed ? cpu_seconds() : NAN;
    it->ivp.user_ticks = it->ivp.linalg_ticks = 0;
    it->ivp.user_timed = it->ivp.linalg_timed = 0;
    dae_status r = DAE_OK;
    it->ivp.asked_to_stop = 0;
    if (s->stopped) { /* after a terminal event: afresh from there */
        s->stopped = 0;
        pass_discontinuities(it, s->now);
        r = dae_driver_switches_start(it, err);
        if (!r) r = dae_driver_derivative(it, s->now, 0, err);
        if (!r) r = dae_driver_restart(it, fabs(s->stats.h_last), err);
    }
    while (!r && d * (target - s->now) > 0) {
        int stiff = 0;
        if (d * (it->ivp.t - s->now) <= 0) {
            r = change_chart(it, err);
            if (!r) r = step_to_switch(it, &stiff, err);
        }
        if (r) break;
        double to = d * (it->ivp.t - target) > 0 ? target : it->ivp.t;
        if (d * (to - s->switch_t) > 0) to = s->switch_t;
        r = process(it, to, err);
        if (r >= 0 && it->ivp.asked_to_stop) r = asked_to_stop(it, err);
        if (!r && it->ivp.found_pattern == 2 && s->now == it->ivp.t) r = extend_pattern(it, err);
        if (!r && stiff && it->automatic && s->now == it->ivp.t && it->ivp.t != it->ivp.t_old)
            r = switch_to_implicit(it, err);
        if (!r && it->progress && it->progress(it, s->now, s->t_end, it->progress_user)) {
            r = dae_fail(err, DAE_CANCELLED, s->now, "cancelled at t = %.10g", s->now);
        }
        if (one) break;
    }
    if (r < 0) leave_at(it, err);
    if (timed) s->stats.cpu_seconds += cpu_seconds() - it->cpu_begin;
    if (it->opt.profile) note_profile(it, dae_ticks() - tick_begin, dae_clock_ticks() - it->wall_begin);
    return r;
}

dae_status dae_integrator_advance(dae_integrator *it, double t, dae_error *err)
{
    if (!it) return dae_need(it, "the integrator", err);
    return go(it, t, 0, err);
}

dae_status dae_integrator_step(dae_integrator *it, dae_error *err)
{
    if (!it) return dae_need(it, "the integrator", err);
    return go(it, it->s->t_end, 1, err);
}

dae_status dae_integrator_interpolate(dae_integrator *it, double t, double *y, double *yp)
{
    if (!it || !y) return DAE_ERR_INPUT;
    double d = it->ivp.direction;
    if (!it->started || !(d * (t - it->ivp.t_old) >= 0 && d * (it->ivp.t - t) >= 0)) return DAE_ERR_INPUT;
    if (it->ivp.t == it->ivp.t_old) {
        dae_copy(it->ivp.n, it->y, y);
        if (yp) dae_copy(it->ivp.n, it->yp, yp);
    } else {
        it->method->interpolate(it->self, t, y, yp);
        if (yp && it->sys.kind == DAE_KIND_MECH)
            it->method->interpolate(it->self, t, y, NULL); /* the better y */
        dae_nonnegative_clip(it, y, yp);
    }
    return DAE_OK;
}

dae_status dae_integrator_multipliers(dae_integrator *it, double t, double *a, double *lambda)
{
    if (!it) return DAE_ERR_INPUT;
    double d = it->ivp.direction;
    if (!it->started || !it->method->multipliers) return DAE_ERR_UNSUPPORTED;
    if (!(d * (t - it->ivp.t_old) >= 0 && d * (it->ivp.t - t) >= 0)) return DAE_ERR_INPUT;
    return it->method->multipliers(it->self, t, a, lambda) ? DAE_ERR_UNDEFINED : DAE_OK;
}

/* ---- Looking ------------------------------------------------------------------------------------- */

double dae_integrator_time(const dae_integrator *it)
{
    return it ? it->s->now : NAN;
}

double dae_integrator_previous_time(const dae_integrator *it)
{
    return it ? it->ivp.t_old : NAN;
}

const double *dae_integrator_state(const dae_integrator *it)
{
    return it ? it->y : NULL;
}

const dae_stats *dae_integrator_stats(const dae_integrator *it)
{
    static const dae_stats none;
    return it ? &it->s->stats : &none;
}

const dae_method_info *dae_integrator_method(const dae_integrator *it)
{
    return it && it->method ? &it->method->info : NULL;
}

const char *dae_integrator_reason(const dae_integrator *it)
{
    if (!it) return "";
    if (!it->reason[0]) dae_choose_reason(it->evidence, it->reason, REASON_SIZE);
    return it->reason;
}

const dae_evidence *dae_integrator_evidence(const dae_integrator *it)
{
    return it->evidence;
}

const char *dae_integrator_linear_algebra(const dae_integrator *it)
{
    return it ? it->ivp.solves_with : "";
}

void dae_integrator_cancel(dae_integrator *it)
{
    if (it) atomic_store(&it->cancelled, 1);
}

dae_status dae_integrator_set_projection(dae_integrator *it, dae_project_fn *project, void *user,
                                         dae_error *err)
{
    if (!it) return dae_need(it, "the integrator", err);
    if (project && it->method && !it->method->info.projects) {
        char list[300] = "";
        for (int i = 0; i < dae_method_count(); i++) {
            const dae_method_info *m = dae_method_get(i);
            if (!m->projects || !dae_method_takes(m, &it->sys)) continue;
            if (strlen(list) + strlen(m->name) + 3 > sizeof list) break;
            if (list[0]) strcat(list, ", ");
            strcat(list, m->name);
        }
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "method %s cannot be projected after its steps; these can: %s", it->method->info.name,
                        list[0] ? list : "none yet");
    }
    it->ivp.project = project;
    it->ivp.project_user = user;
    return DAE_OK;
}

void dae_integrator_set_chart(dae_integrator *it, dae_chart_fn *chart, void *user)
{
    if (!it) return;
    it->chart = chart;
    it->chart_user = user;
}

void dae_integrator_set_memory(dae_integrator *it, const dae_memory *memory)
{
    if (it) it->memory = memory ? *memory : (dae_memory){0};
}

void dae_integrator_set_progress(dae_integrator *it, dae_progress_fn *progress, void *user)
{
    if (!it) return;
    it->progress = progress;
    it->progress_user = user;
}
