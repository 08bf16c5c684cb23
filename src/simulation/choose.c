/* What a simulation takes where the method, the form or the coordinates are left open. */
#include "simulation/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_open(const char *name)
{
    return !name || !strcmp(name, "auto");
}

/* A DAE with a mechanism behind it is left to methods that were made for DAEs if one of them is named and no form is. */
static int wants_mechanism(const dae_simulation *s)
{
    const dae_problem *p = s->p;
    if (!p->mechanism) return 0;
    if (is_open(s->options.method) || !is_open(s->options.formulation)) return 1;
    const dae_method_info *m = dae_method_find(s->options.method);
    return m && !(m->kinds & 1u << p->system.kind);
}

/* "auto" on a mechanism that is known to be stiff: the half-explicit methods, which it takes else, would crawl. */
static void choose_for_stiff(dae_simulation *s)
{
    const dae_problem *p = s->p;
    const char *form = s->options.formulation;
    if (p->system.kind != DAE_KIND_MECH || !p->info || !p->info->stiff) return;
    if (!is_open(s->options.method) || (!is_open(form) && strcmp(form, "statespace") != 0)) return;
    s->options.method = s->options.rtol < 1e-6 ? "radau5" : "rosnys4";
    s->options.formulation = "statespace";
    snprintf(s->reason, sizeof s->reason, "stiff mechanism: implicit method on the minimal coordinates");
}

/* Minimal coordinates: those that the problem names, unless a setting says how to choose them. */
static dae_status choose_coordinates(dae_simulation *s, dae_error *err)
{
    const char *form = s->options.formulation, *method = s->options.method;
    int n = s->options.nsetting;
    const dae_formulation_info *info =
        is_open(form) ? dae_formulation_choose(method) : dae_formulation_find(form);
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
    const char *form = s->options.formulation, *reason = "";
    const dae_method_info *m = is_open(s->options.method) ? NULL : dae_method_find(s->options.method);
    dae_error wrong = {0};
    if (is_open(form)) s->own_type = forms->choose(forms, m, &reason);
    else s->own_type = dae_forms_find(forms, form, &wrong);
    if (wrong.status < 0) {
        *err = wrong;
        return wrong.status;
    }
    s->formulation = s->own_type ? NULL : forms->as_written;
    s->options.formulation = NULL;
    snprintf(s->reason, sizeof s->reason, "%s", reason);
    return DAE_OK;
}

dae_status dae_simulation_choose(dae_simulation *s, dae_error *err)
{
    const dae_problem *p = s->p;
    const char *form = s->options.formulation;
    if (p->forms) return choose_own(s, err);
    s->as_mechanism = wants_mechanism(s);
    if (!s->as_mechanism && p->system.kind != DAE_KIND_MECH) {
        if (is_open(form)) return DAE_OK;
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "formulation \"%s\": %s is no mechanical system (its kind is %s); leave the formulation out",
            form, p->info && p->info->name ? p->info->name : "this", dae_kind_name(p->system.kind));
    }
    choose_for_stiff(s);
    return choose_coordinates(s, err);
}
