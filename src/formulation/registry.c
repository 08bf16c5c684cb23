/* The registry of formulations (formulations.def lists them), what goes with which method, and the life of one. */
#include "formulation/formulation.h"

#include "core/geometry.h"
#include "core/setting.h"
#include "core/vector.h"
#include "method/method.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACCELERATIONS_DIFFER 1e-6 /* ours: of the largest; those of two ways to solve differ by rounding */

static const dae_formulation_type *const list[] = {
#define FORMULATION(name) &dae_formulation_##name,
#include "formulation/formulations.def"
#undef FORMULATION
};
enum { COUNT = sizeof list / sizeof *list };

int dae_formulation_count(void)
{
    return COUNT;
}

const dae_formulation_info *dae_formulation_get(int i)
{
    return i >= 0 && i < COUNT ? &list[i]->info : NULL;
}

static const dae_formulation_type *find(const char *name)
{
    for (int i = 0; name && i < COUNT; i++) {
        if (!strcmp(list[i]->info.name, name)) return list[i];
    }
    return NULL;
}

const dae_formulation_info *dae_formulation_find(const char *name)
{
    const dae_formulation_type *type = find(name);
    return type ? &type->info : NULL;
}

/* ---- Method and formulation ---------------------------------------------------------------------------- */

static int is_auto(const char *name)
{
    return !name || !strcmp(name, "auto");
}

static int goes_with(const dae_formulation_info *f, const dae_method_info *m)
{
    return (m->kinds & 1u << f->kind) && !m->no_velocities &&
           (f->kind != DAE_KIND_DAE || f->index <= m->max_index);
}

/* "a, b" += ", c"; what does not fit is left out. */
static void append(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    if (used + strlen(word) + 3 <= size) snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

static dae_status no_formulation(const char *name, dae_error *err)
{
    char all[200] = "", near[64];
    for (int i = 0; i < COUNT; i++) {
        if (i) strcat(all, "|");
        strcat(all, list[i]->info.name);
    }
    dae_nearest_word(name, all, near, sizeof near);
    if (near[0]) {
        return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no formulation \"%s\"; did you mean \"%s\"?", name,
                        near);
    }
    return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no formulation \"%s\"; known: auto|%s", name, all);
}

static dae_status check(const char *formulation, const char *method, const dae_method_info *m, dae_error *err)
{
    const dae_formulation_info *f = dae_formulation_find(formulation);
    if (!is_auto(formulation) && !f) return no_formulation(formulation, err);
    if (!is_auto(method) && !m) {
        char near[64];
        if (dae_method_absent(method))
            return dae_fail(err, DAE_ERR_INPUT, NAN, "%s", dae_method_absent(method));
        dae_method_nearest(method, near, sizeof near);
        return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no method \"%s\"%s%s%s", method,
                        DAE_DID_YOU_MEAN(near));
    }
    if (!f || !m || goes_with(f, m)) return DAE_OK;
    char forms[160] = "", methods[240] = "";
    for (int i = 0; i < COUNT; i++) {
        if (goes_with(&list[i]->info, m)) append(forms, sizeof forms, list[i]->info.name);
    }
    for (int i = 0; i < dae_method_count(); i++) {
        if (goes_with(f, dae_method_get(i))) append(methods, sizeof methods, dae_method_get(i)->name);
    }
    return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                    "method %s does not take the formulation %s; %s goes with %s; %s is taken by %s", m->name,
                    f->name, m->name, forms[0] ? forms : "no formulation", f->name,
                    methods[0] ? methods : "no method yet");
}

dae_status dae_formulation_check(const char *formulation, const char *method, dae_error *err)
{
    return check(formulation, method, dae_method_find(method), err);
}

const dae_formulation_info *dae_formulation_choose(const char *method)
{
    return dae_formulation_for(dae_method_find(method));
}

const dae_formulation_info *dae_formulation_for(const dae_method_info *m)
{
    static const char *const nonstiff[] = {"descriptor", "index1", NULL};
    static const char *const stiff[] = {"descriptor", "ggl", "index1", NULL};
    static const char *const linearly_implicit[] = {"statespace",
                                                    NULL}; /* they want exact Jacobians and few variables */
    if (!m) { /* open: what the methods made for mechanical systems take, if there is one */
        for (int i = 0; i < dae_method_count(); i++) {
            if (dae_method_get(i)->kinds & 1u << DAE_KIND_MECH) return &dae_formulation_descriptor.info;
        }
        return &dae_formulation_index1.info;
    }
    int one_step_ode = m->kinds == 1u << DAE_KIND_ODE && !m->multistep;
    for (const char *const *name = !m->implicit   ? nonstiff
                                   : one_step_ode ? linearly_implicit
                                                  : stiff;
         *name; name++) {
        const dae_formulation_info *f = dae_formulation_find(*name);
        if (f && goes_with(f, m)) return f;
    }
    return NULL;
}

/* ---- Switches ------------------------------------------------------------------------------------------- */

static int switch_values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    dae_formulation *f = user;
    const dae_switches *w = &f->own.switches;
    int known = 0;
    dae_status s = f->type->lower(f, t, y, f->pvu, f->a, f->lambda, &known, NULL);
    return s < 0 ? 1 : w->values(t, f->pvu, side, margin, next, w->user);
}

/* Accelerations and multipliers in y jump where a force does. */
static int switch_adapt(double t, double *y, void *user)
{
    dae_formulation *f = user;
    int known = 0;
    dae_status s = f->type->lower(f, t, y, f->pvu, f->a, f->lambda, &known, NULL);
    return s < 0 || f->type->lift(f, t, f->pvu, y, NULL) < 0;
}

static const char *switch_name(int i, void *user)
{
    const dae_switches *w = &((dae_formulation *)user)->own.switches;
    return w->name ? w->name(i, w->user) : "a switch of the mechanical system";
}

/* The switches of the mechanical system as those of what came out. The formulation belongs to one run, and so do they. */
static int add_switches(dae_formulation *f)
{
    f->pvu = dae_arena_reals(f->arena, (size_t)(f->d.np + f->d.nv + f->d.nu) + 1);
    f->sys.switches = f->own.switches;
    f->sys.switches.bind = NULL;
    f->sys.switches.release = NULL;
    if (f->sys.kind != DAE_KIND_MECH) {
        f->sys.switches.values = switch_values;
        f->sys.switches.name = switch_name;
        f->sys.switches.adapt = f->sys.kind == DAE_KIND_DAE ? switch_adapt : NULL;
        f->sys.switches.user = f;
    }
    return dae_arena_failed(f->arena);
}

/* ---- Life ------------------------------------------------------------------------------------------------ */

dae_formulation *dae_formulation_create(const dae_system *mech, const char *name, const dae_setting *setting,
                                        int nsetting, dae_error *err)
{
    const dae_formulation_type *type = find(name);
    if (!type) {
        no_formulation(name ? name : "", err);
        return NULL;
    }
    if (dae_need(mech, "the system", err)) return NULL;
    if (mech->kind != DAE_KIND_MECH) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "formulation %s is for mechanical systems, this one is of kind %s",
                 name, dae_kind_name(mech->kind));
        return NULL;
    }
    if (dae_system_check(mech, err)) return NULL;
    if (mech->mech.position_jacobian &&
        (type == &dae_formulation_statespace || type == &dae_formulation_baumgarte)) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                 "formulation %s does not take a position Jacobian apart from G; index1 with project=1 does",
                 name);
        return NULL;
    }
    dae_formulation *f = calloc(1, sizeof *f);
    if (f) f->arena = dae_arena_create();
    if (!f || !f->arena) goto memory;
    f->type = type;
    dae_setting_defaults(type->info.options, &f->option);
    for (int i = 0; i < nsetting; i++) {
        char what[64];
        snprintf(what, sizeof what, "option of formulation %s", name);
        if (dae_setting_store(type->info.options, &f->option, what, setting[i].name, setting[i].value, err))
            goto fail;
    }
    f->own = *mech;
    if (mech->switches.bind) {
        if (mech->switches.bind(mech, &f->own, err) < 0) goto fail;
        f->bound = 1;
    }
    if (dae_descriptor_init(&f->d, &f->own.mech, f->option.saddle, f->arena, err)) goto fail;
    f->a = dae_arena_reals(f->arena, (size_t)f->d.nv);
    f->lambda = dae_arena_reals(f->arena, (size_t)f->d.nl);
    if (dae_arena_failed(f->arena)) goto memory;
    if (type->create(f, err)) goto fail;
    if (f->own.switches.count && add_switches(f)) goto memory;
    return f;
memory:
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for formulation %s", name);
fail:
    dae_formulation_destroy(f);
    return NULL;
}

void dae_formulation_destroy(dae_formulation *f)
{
    if (!f) return;
    if (f->type && f->type->release) f->type->release(f);
    dae_descriptor_free(&f->d);
    if (f->bound && f->own.switches.release) f->own.switches.release(&f->own);
    dae_arena_destroy(f->arena);
    free(f);
}

const dae_formulation_info *dae_formulation_type_of(const dae_formulation *f)
{
    return f ? &f->type->info : NULL;
}

const dae_system *dae_formulation_system(const dae_formulation *f)
{
    return f ? &f->sys : NULL;
}

const char *dae_formulation_describe(const dae_formulation *f)
{
    return f ? f->text : "";
}

/* ---- From the options of a run ---------------------------------------------------------------------------- */

static const char prefix[] = "formulation.";

static int has_option(const dae_option *table, const char *name)
{
    for (; table && table->name; table++) {
        if (!strcmp(table->name, name)) return 1;
    }
    return 0;
}

/* The name of a setting as the formulation knows it, or NULL if it is the method's. */
static const char *own_name(const dae_formulation_info *f, const dae_method_info *m, const char *name)
{
    size_t n = sizeof prefix - 1;
    if (!strncmp(name, prefix, n)) return name + n;
    if (has_option(f->options, name) && !(m && has_option(m->options, name))) return name;
    return NULL;
}

/* Tolerances of every variable: those of (p, v, u) first; accelerations get those of the velocities, multipliers
 * the scalar ones. */
static dae_status tolerances(dae_formulation *f, const dae_options *opt, dae_options *inner, dae_error *err)
{
    const dae_descriptor *d = &f->d;
    int n = dae_system_size(&f->sys), np = d->np, nv = d->nv, state = np + nv + d->nu;
    if (opt->error_weight || opt->nnonnegative > 0)
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, NAN,
            "%s belongs to the variables that are integrated, which are others in a formulation; make "
            "the formulation and give it to its integrator",
            opt->error_weight ? "error_weight" : "nonnegative");
    if (!opt->rtol_vec && !opt->atol_vec) return DAE_OK;
    f->rtol = dae_arena_reals(f->arena, (size_t)n);
    f->atol = dae_arena_reals(f->arena, (size_t)n);
    if (dae_arena_failed(f->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for tolerances");
    if (f->type->tolerance) {
        if (opt->rtol_vec) f->type->tolerance(f, opt->rtol_vec, f->rtol);
        if (opt->atol_vec) f->type->tolerance(f, opt->atol_vec, f->atol);
    }
    for (int i = 0; i < n && !f->type->tolerance; i++) {
        int extended = f->sys.kind == DAE_KIND_DAE && !d->constant;
        int from = i < state ? i : extended && i < state + nv ? i - state + np : -1;
        f->rtol[i] = opt->rtol_vec && from >= 0 ? opt->rtol_vec[from] : opt->rtol;
        f->atol[i] = opt->atol_vec && from >= 0 ? opt->atol_vec[from] : opt->atol;
    }
    inner->rtol_vec = opt->rtol_vec ? f->rtol : NULL;
    inner->atol_vec = opt->atol_vec ? f->atol : NULL;
    return DAE_OK;
}

/* What "auto" stands for with this system: joint coordinates where they leave no constraints, for methods that would take
 * index1 (a chain of 200 links by vode, explicit methods) and where the method is open too (it is then chosen as for other ODEs,
 * by stiffness); else what the method alone says. */
static const dae_formulation_info *choose_for(const dae_system *mech, const dae_method_info *m)
{
    const dae_formulation_info *info = dae_formulation_for(m), *joint = &dae_formulation_joint.info;
    int tree = mech->kind == DAE_KIND_MECH && mech->mech.joint && mech->mech.joint->nloop == 0;
    return tree && (!m || info == &dae_formulation_index1.info) ? joint : info;
}

dae_formulation *dae_formulation_open(const dae_system *mech, const dae_options *opt, dae_options *inner,
                                      dae_error *err)
{
    if (dae_need(mech, "the system", err) || dae_need(opt, "the options", err) ||
        dae_need(inner, "inner", err))
        return NULL;
    const char *method = opt->method;
    const dae_method_info *m = dae_options_method(opt, method);
    if (check(opt->formulation, method, m, err)) return NULL;
    int automatic = is_auto(opt->formulation);
    const dae_formulation_info *info =
        automatic ? choose_for(mech, m) : dae_formulation_find(opt->formulation);
    if (!info) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "method %s takes no form of mechanical systems", method);
        return NULL;
    }
    dae_setting *own = calloc((size_t)opt->nsetting + 1, sizeof *own);
    dae_setting *rest = calloc((size_t)opt->nsetting + 1, sizeof *rest);
    dae_formulation *f = NULL;
    int nown = 0, nrest = 0;
    if (!own || !rest) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for settings");
        goto done;
    }
    /* Ours: who leaves the form open gets the constraints kept; loops in joint coordinates are closed always. */
    int loops = info == &dae_formulation_joint.info && mech->kind == DAE_KIND_MECH && mech->mech.joint &&
                mech->mech.joint->nloop > 0;
    if ((automatic || loops) && has_option(info->options, "project") && (!m || m->projects))
        own[nown++] = (dae_setting){"project", "1"};
    for (int i = 0; i < opt->nsetting; i++) {
        const char *name = own_name(info, m, opt->setting[i].name);
        if (name) own[nown++] = (dae_setting){name, opt->setting[i].value};
        else rest[nrest++] = opt->setting[i];
    }
    f = dae_formulation_create(mech, info->name, own, nown, err);
    if (!f) goto done;
    f->rest = dae_arena_copy(f->arena, rest, (size_t)nrest + 1, sizeof *rest);
    *inner = *opt;
    inner->setting = f->rest;
    inner->nsetting = nrest;
    inner->formulation = NULL;
    f->log = (dae_options){.log = opt->log, .log_level = opt->log_level, .log_user = opt->log_user};
    if (!f->rest || tolerances(f, opt, inner, err)) {
        if (!f->rest) dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for settings");
        dae_formulation_destroy(f);
        f = NULL;
    }
done:
    free(own);
    free(rest);
    return f;
}

/* ---- States -------------------------------------------------------------------------------------------------- */

dae_status dae_formulation_solve(dae_formulation *f, double t, const double *pvu, double *a, double *lambda,
                                 dae_error *err)
{
    dae_descriptor *d = &f->d;
    int r = dae_descriptor_accelerations(d, t, pvu, pvu + d->np, pvu + d->np + d->nv, 0, 0, a, lambda);
    if (r == 0) return DAE_OK;
    if (r < 0)
        return dae_fail(err, DAE_ERR_CALLBACK, t,
                        "t = %.10g: a function of the mechanical system asked to stop", t);
    if (d->starved) return dae_fail(err, DAE_ERR_MEMORY, t, "t = %.10g: no memory to factor M and G", t);
    return dae_fail(
        err, DAE_ERR_SINGULAR, t,
        "t = %.10g: no accelerations and multipliers there: the system of M and G is singular or cannot be "
        "evaluated; check for redundant constraints and bodies without mass",
        t);
}

/* A call without what it needs. */
static dae_status missing(const dae_formulation *f, const double *pvu, const double *other, dae_error *err)
{
    return !f ? dae_need(f, "the formulation", err)
              : dae_need(pvu && other ? f : NULL, pvu ? "an array for the result" : "pvu", err);
}

/* Does the function that gives accelerations in one pass belong to M, f and G? */
static dae_status check_accelerations(dae_formulation *f, double t, const double *pvu, dae_error *err)
{
    dae_descriptor *d = &f->d;
    double off = dae_descriptor_deviation(d, t, pvu, pvu + d->np, pvu + d->np + d->nv, f->a, f->lambda);
    if (!(off > ACCELERATIONS_DIFFER)) return DAE_OK;
    return dae_fail(
        err, DAE_ERR_INPUT, t,
        "t = %.10g: the function accelerations does not belong to mass, force and constraint: its "
        "numbers are off by %.2g of the largest; correct it, or leave it out",
        t, off);
}

dae_status dae_formulation_lift(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    if (!f || !pvu || !y) return missing(f, pvu, y, err);
    if (!f->checked && f->sys.kind != DAE_KIND_MECH) { /* the integrator checks mechanical systems */
        dae_status s = dae_geometry_check(&f->d.m, t, pvu, err);
        if (!s) s = check_accelerations(f, t, pvu, err);
        if (s) return s;
        f->checked = 1;
    }
    return f->type->lift(f, t, pvu, y, err);
}

dae_status dae_formulation_lower(dae_formulation *f, double t, const double *y, double *pvu, double *a,
                                 double *lambda, dae_error *err)
{
    if (!f || !pvu || !y) return missing(f, pvu, y, err);
    int known = 0;
    dae_status r = f->type->lower(f, t, y, pvu, a, lambda, &known, err);
    if (r || known || (!a && !lambda)) return r;
    return dae_formulation_solve(f, t, pvu, a ? a : f->a, lambda ? lambda : f->lambda, err);
}

dae_status dae_formulation_project(dae_formulation *f, double t, double *pvu, dae_error *err)
{
    if (!f || !pvu) return missing(f, pvu, pvu, err);
    dae_descriptor *d = &f->d;
    dae_residuals left;
    int r = dae_descriptor_project(d, t, pvu, pvu + d->np);
    if (r == 0) return DAE_OK;
    if (r < 0)
        return dae_fail(err, DAE_ERR_CALLBACK, t,
                        "t = %.10g: a function of the mechanical system asked to stop", t);
    r = dae_descriptor_residuals(d, t, pvu, pvu + d->np, NULL, &left);
    return dae_fail(
        err, DAE_ERR_INCONSISTENT, t,
        "t = %.10g: the projection onto the constraints does not converge; position constraint %d is off by "
        "%.3g, velocities by %.3g",
        t, r ? 0 : left.worst + 1, left.position, left.velocity);
}

dae_status dae_formulation_residuals(dae_formulation *f, double t, const double *pvu, const double *a,
                                     double residual[3], dae_error *err)
{
    if (!f || !pvu || !residual) return missing(f, pvu, residual, err);
    dae_residuals x;
    int r = dae_descriptor_residuals(&f->d, t, pvu, pvu + f->d.np, a, &x);
    if (r) return dae_fail(err, DAE_ERR_UNDEFINED, t, "t = %.10g: the constraints cannot be evaluated", t);
    residual[0] = x.position;
    residual[1] = x.velocity;
    residual[2] = x.acceleration;
    return DAE_OK;
}

int dae_formulation_dynamics_at(const dae_formulation *f)
{
    return f->type->dynamics_at ? f->type->dynamics_at(f) : f->d.np + f->d.nv;
}

void dae_formulation_explain(dae_formulation *f, dae_error *err)
{
    if (!err || err->status >= 0 || !f->trouble[0] || strstr(err->text, f->trouble)) return;
    char text[sizeof err->text], more[128] = "";
    memcpy(text, err->text, sizeof text);
    if (f->type->diagnose) f->type->diagnose(f, more, sizeof more);
    int left = (int)(sizeof err->text - strlen(f->trouble) - strlen(more)) - 3;
    snprintf(err->text, sizeof err->text, "%.*s; %s%s", left, text, f->trouble, more);
}

/* ---- With an integrator ----------------------------------------------------------------------------------------- */

void dae_formulation_forget(dae_formulation *f)
{
    dae_descriptor_forget(&f->d);
    if (f->type->forget) f->type->forget(f);
}

static int project(double t, double *y, void *user)
{
    dae_formulation *f = user;
    if (f->type->project) return f->type->project(f, t, y);
    return dae_descriptor_project(&f->d, t, y, y + f->d.np);
}

/* The size of the descriptor's part, that part, that of the type. */
static size_t save(const void *user, void *buffer)
{
    const dae_formulation *f = user;
    unsigned char *out = buffer;
    size_t part = dae_descriptor_save(&f->d, out ? out + sizeof part : NULL);
    if (out) memcpy(out, &part, sizeof part);
    return sizeof part + part + (f->type->save ? f->type->save(f, out ? out + sizeof part + part : NULL) : 0);
}

static int load(void *user, const void *buffer, size_t size)
{
    dae_formulation *f = user;
    const unsigned char *in = buffer;
    size_t part;
    if (size < sizeof part) return -1;
    memcpy(&part, in, sizeof part);
    size -= sizeof part;
    in += sizeof part;
    if (part > size || dae_descriptor_load(&f->d, in, part)) return -1;
    if (!f->type->load) return size != part;
    return f->type->load(f, in + part, size - part);
}

dae_status dae_formulation_attach(dae_formulation *f, dae_integrator *it, dae_error *err)
{
    if (dae_need(f, "the formulation", err) || dae_need(it, "the integrator", err)) return DAE_ERR_INPUT;
    dae_integrator_set_memory(it, &(dae_memory){save, load, f});
    dae_status s = f->option.project ? dae_integrator_set_projection(it, project, f, err) : DAE_OK;
    if (s >= 0 && f->type->attach) s = f->type->attach(f, it, err);
    return s;
}
