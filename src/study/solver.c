/* Solvers as studies name them. */
#include "study/solver.h"

#include "core/error.h"

#include <daedalus/equations.h>
#include <daedalus/formulation.h>
#include <daedalus/plugin.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* SUNDIALS as Debian compiles it is not optimized: its times say nothing about its methods. */
static int left_out_of_all(const dae_method_info *m)
{
    return !strcmp(m->name, "cvode") || !strcmp(m->name, "cvode-adams") || !strcmp(m->name, "ida");
}

const dae_method_info *dae_solver_method_at(const struct dae_method *const *own, int k)
{
    int n = dae_method_count();
    if (k < n) return dae_method_get(k);
    for (int i = 0; own && own[i]; i++) {
        if (i == k - n) return &own[i]->info;
    }
    return NULL;
}

int dae_solver_takes(const dae_method_info *method, const dae_problem *p, const struct dae_method *const *own)
{
    if (p->system.kind != DAE_KIND_MECH) return dae_method_takes(method, &p->system);
    dae_options o = dae_options_default(), inner;
    o.own = own;
    o.method = method->name;
    dae_formulation *f = dae_formulation_open(&p->system, &o, &inner, NULL);
    dae_formulation_destroy(f);
    return f != NULL;
}

static dae_status no_method(const char *name, const struct dae_method *const *own, dae_error *err)
{
    char all[1000] = "", near[64];
    if (dae_method_absent(name)) return dae_fail(err, DAE_ERR_INPUT, NAN, "%s", dae_method_absent(name));
    for (int k = 0; dae_solver_method_at(own, k); k++) {
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", k ? "|" : "", dae_solver_method_at(own, k)->name);
    }
    dae_nearest_word(name, all, near, sizeof near);
    return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no solver \"%s\"%s%s%s", name,
                    near[0] ? "; did you mean " : "", near, near[0] ? "?" : "");
}

/* A form of mechanisms, or of equations. */
static const dae_formulation_info *find_form(const char *name)
{
    const dae_formulation_info *f = dae_formulation_find(name);
    for (int k = 0; !f && dae_equations_form(k); k++) {
        if (!strcmp(dae_equations_form(k)->name, name)) f = dae_equations_form(k);
    }
    return f;
}

dae_status dae_solver_parse(const char *label, size_t length, const struct dae_method *const *own,
                            dae_solver *out, dae_error *err)
{
    *out = (dae_solver){.own = own};
    if (length == 0 || length >= sizeof out->label)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "a name of a solver is empty or too long; expected a,b,c or all");
    memcpy(out->label, label, length);
    char method[sizeof out->label];
    memcpy(method, out->label, sizeof method);
    char *form = strchr(method, '/'), *plus = form ? strchr(form, '+') : NULL;
    if (form) *form++ = 0;
    if (plus) *plus++ = 0;
    if (plus && strcmp(plus, "project") != 0)
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "%s: expected SOLVER, SOLVER/FORMULATION or SOLVER/FORMULATION+project", out->label);
    out->project = plus != NULL;
    if (form) {
        const dae_formulation_info *f = find_form(form);
        if (!f) return dae_formulation_check(form, method, err);
        out->formulation = f->name;
    }
    out->method = dae_options_method(&(dae_options){.own = own}, method);
    return out->method ? DAE_OK : no_method(method, own, err);
}

static dae_status all_that_take(const dae_problem *p, const struct dae_method *const *own, dae_solver *out,
                                int *count, dae_error *err)
{
    const dae_method_info *m;
    for (int k = 0; (m = dae_solver_method_at(own, k)) && *count < DAE_MAX_SOLVERS; k++) {
        if (left_out_of_all(m) || !dae_solver_takes(m, p, own)) continue;
        out[*count] = (dae_solver){.method = m, .own = own};
        snprintf(out[*count].label, sizeof out->label, "%s", m->name);
        ++*count;
    }
    if (*count) return DAE_OK;
    return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no solver for %s", p->info ? p->info->name : "it");
}

dae_status dae_solvers_parse(const char *list, const dae_problem *p, const struct dae_method *const *own,
                             dae_solver *out, int *count, dae_error *err)
{
    *count = 0;
    if (!strcmp(list, "all")) return all_that_take(p, own, out, count, err);
    for (;; list++) {
        size_t n = strcspn(list, ",");
        if (*count == DAE_MAX_SOLVERS)
            return dae_fail(err, DAE_ERR_INPUT, NAN, "more than %d solvers are too many for one study",
                            DAE_MAX_SOLVERS);
        dae_status s = dae_solver_parse(list, n, own, &out[*count], err);
        if (s < 0) return s;
        for (int i = 0; i < *count; i++) {
            if (!strcmp(out[i].label, out[*count].label))
                return dae_fail(err, DAE_ERR_INPUT, NAN, "%s is named twice", out[i].label);
        }
        ++*count;
        list += n;
        if (!*list) return DAE_OK;
    }
}

static int append(char *list, size_t size, const char *solver, const char *form)
{
    size_t used = strlen(list);
    int n = snprintf(list + used, size - used, "%s%s%s%s", used ? "," : "", solver, form ? "/" : "",
                     form ? form : "");
    return n > 0 && (size_t)n < size - used;
}

/* A solver of the list without a form, in all forms. */
static dae_status cross_one(const char *solver, const char *forms, const struct dae_method *const *own,
                            char *list, size_t size, dae_error *err)
{
    if (!dae_options_method(&(dae_options){.own = own}, solver)) return no_method(solver, own, err);
    for (;; forms++) {
        size_t k = strcspn(forms, ",");
        char form[64], name[64];
        snprintf(form, sizeof form, "%.*s", (int)(k < sizeof form ? k : sizeof form - 1), forms);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(form, "+"), form);
        if (!dae_formulation_find(name)) return dae_formulation_check(name, solver, err);
        if (dae_formulation_check(name, solver, NULL) >= 0 && !append(list, size, solver, form))
            return dae_fail(err, DAE_ERR_INPUT, NAN, "too many solvers and formulations");
        forms += k;
        if (!*forms) return DAE_OK;
    }
}

dae_status dae_solvers_cross(const char *solvers, const char *forms, const struct dae_method *const *own,
                             char *list, size_t size, dae_error *err)
{
    list[0] = 0;
    for (;; solvers++) {
        size_t n = strcspn(solvers, ",");
        char solver[64];
        snprintf(solver, sizeof solver, "%.*s", (int)(n < sizeof solver ? n : sizeof solver - 1), solvers);
        dae_status s = DAE_OK;
        if (!strchr(solver, '/')) s = cross_one(solver, forms, own, list, size, err);
        else if (!append(list, size, solver, NULL))
            s = dae_fail(err, DAE_ERR_INPUT, NAN, "too many solvers and formulations");
        if (s < 0) return s;
        solvers += n;
        if (!*solvers) break;
    }
    if (list[0]) return DAE_OK;
    return dae_fail(err, DAE_ERR_INPUT, NAN, "none of these solvers takes one of these formulations");
}

void dae_solver_apply(const dae_solver *s, dae_options *o)
{
    static const dae_setting project = {"formulation.project", "1"};
    o->own = s->own;
    o->method = s->method->name;
    o->formulation = s->formulation;
    if (s->project) {
        o->setting = &project;
        o->nsetting = 1;
    }
}
