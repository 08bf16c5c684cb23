/* daedalus info NAME --json: the same facts as one object, for programs and for the web page. */
#include "info.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static json_t *text(const char *s)
{
    return s ? json_string(s) : json_null();
}

static json_t *number(double x)
{
    json_t *j = json_real(x); /* NULL where x is no number */
    return j ? j : json_null();
}

static void set(json_t *o, const char *key, json_t *value)
{
    json_object_set_new(o, key, value);
}

static void set_range(json_t *o, double least, double most)
{
    set(o, "min", least <= most ? number(least) : json_null());
    set(o, "max", least <= most ? number(most) : json_null());
}

static json_t *choices(const char *list)
{
    if (!list) return json_null();
    json_t *array = json_array();
    while (*list) {
        size_t length = strcspn(list, "|");
        json_array_append_new(array, json_stringn(list, length));
        list += length + (list[length] == '|');
    }
    return array;
}

static json_t *parameters(const dae_parameter *q)
{
    json_t *list = json_array();
    for (; q && q->name; q++) {
        json_t *o = json_object();
        set(o, "name", text(q->name));
        set(o, "value", number(q->value));
        set_range(o, q->min, q->max);
        set(o, "choices", choices(q->choices));
        set(o, "whole", json_boolean(q->integer));
        set(o, "unit", text(q->unit));
        set(o, "help", text(q->help));
        json_array_append_new(list, o);
    }
    return list;
}

/* What PROB, INIT, SETTOLERANCES and SOLUT of the test set say of each variable. */
static json_t *components(const dae_problem *p, int n)
{
    json_t *list = json_array();
    const int *label = p->system.structure.index; /* as codes want it: 1, 2, 3 */
    for (int i = 0; i < n; i++) {
        char buffer[24];
        json_t *o = json_object();
        set(o, "name", text(dae_component_name(p, i, buffer, sizeof buffer)));
        set(o, "unit", text(dae_component_unit(p, i)));
        set(o, "index", json_integer(label ? label[i] : 1));
        set(o, "start", number(p->y0[i]));
        set(o, "start_rate", p->yp0 ? number(p->yp0[i]) : json_null());
        set(o, "rtol", number(p->rtol * (p->rtol_factor ? p->rtol_factor[i] : 1)));
        set(o, "atol", number(p->atol * (p->atol_factor ? p->atol_factor[i] : 1)));
        set(o, "reference", p->reference ? number(p->reference[i]) : json_null());
        set(o, "scored", json_boolean(!p->scored || p->scored[i]));
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *numbers(const double *x, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, number(x[i]));
    return list;
}

static int has_jacobian(const dae_system *s)
{
    return s->kind == DAE_KIND_ODE   ? s->ode.jac != NULL
           : s->kind == DAE_KIND_DAE ? s->dae.jac != NULL
           : s->kind == DAE_KIND_IDE ? s->ide.dfdy != NULL
                                     : s->mech.dfdp != NULL;
}

static json_t *pattern(const dae_pattern *s)
{
    static const char *const name[] = {"dense", "banded", "sparse", "diagonal"};
    json_t *o = json_object();
    set(o, "storage", text(name[s->storage]));
    if (s->storage == DAE_BANDED) {
        set(o, "lower", json_integer(s->lower));
        set(o, "upper", json_integer(s->upper));
    }
    return o;
}

static json_t *options(const dae_option *o)
{
    json_t *list = json_array();
    for (; o && o->name; o++) {
        json_t *x = json_object();
        set(x, "name", text(o->name));
        set(x, "value", o->type == DAE_OPTION_NAME ? text(o->text) : number(o->value));
        set_range(x, o->min, o->max);
        set(x, "choices", choices(o->choices));
        set(x, "unit", text(o->unit));
        set(x, "help", text(o->help));
        json_array_append_new(list, x);
    }
    return list;
}

/* Collects what dae_markdown_html writes. */
static void set_page(json_t *o, const char *doc)
{
    cli_text b = {0};
    set(o, "doc", text(doc));
    dae_status s = doc ? dae_markdown_html(doc, strlen(doc), 0, cli_write_text, &b) : DAE_OK;
    set(o, "html", doc && s == DAE_OK ? json_stringn(b.text ? b.text : "", b.length) : json_null());
    free(b.text);
}

static void print(json_t *o)
{
    json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
    putchar('\n');
    json_decref(o);
}

void info_problem_json(const dae_problem_info *info, const dae_problem *p)
{
    json_t *o = json_object();
    int n = dae_system_size(&p->system);
    set(o, "what", text("problem"));
    set(o, "name", text(info->name));
    set(o, "title", text(info->title));
    set(o, "kind", text(dae_kind_name(info->kind)));
    set(o, "n", json_integer(n));
    set(o, "index", json_integer(info->index));
    set(o, "stiff", json_boolean(info->stiff));
    set(o, "aliases", text(info->aliases));
    set(o, "origin", text(info->origin));
    set(o, "t0", number(p->t0));
    set(o, "t_end", number(p->t_end));
    set(o, "time_unit", text(p->time_unit));
    set(o, "rtol", number(p->rtol));
    set(o, "atol", number(p->atol));
    set(o, "h0", p->h0 > 0 ? number(p->h0) : json_null());
    set(o, "discontinuities", numbers(p->discontinuity, p->ndiscontinuity));
    set(o, "jacobian", pattern(&p->system.structure.jacobian));
    set(o, "jacobian_given", json_boolean(has_jacobian(&p->system)));
    set(o, "mass", p->system.kind == DAE_KIND_DAE ? pattern(&p->system.dae.mass.pattern) : json_null());
    set(o, "reference_digits", p->reference ? number(p->reference_digits) : json_null());
    set(o, "reference_source", text(p->reference ? p->reference_source : NULL));
    set(o, "parameters", parameters(info->parameter));
    set(o, "components", components(p, n));
    set_page(o, p->doc ? p->doc : dae_problem_doc(info->name));
    print(o);
}

void info_solver_json(const dae_method_info *m)
{
    json_t *o = json_object(), *kinds = json_array();
    for (int k = DAE_KIND_ODE; k <= DAE_KIND_MECH; k++) {
        if (m->kinds & 1u << k) json_array_append_new(kinds, text(dae_kind_name((dae_kind)k)));
    }
    set(o, "what", text("solver"));
    set(o, "name", text(m->name));
    set(o, "title", text(m->title));
    set(o, "order_min", json_integer(m->order_min));
    set(o, "order_max", json_integer(m->order_max));
    set(o, "kinds", kinds);
    set(o, "max_index", json_integer(m->max_index));
    set(o, "implicit", json_boolean(m->implicit));
    set(o, "multistep", json_boolean(m->multistep));
    set(o, "literature", text(m->literature));
    set(o, "summary", text(m->summary));
    set(o, "options", options(m->options));
    set_page(o, dae_method_doc(m->name));
    print(o);
}

void info_formulation_json(const dae_formulation_info *f)
{
    json_t *o = json_object();
    set(o, "what", text("formulation"));
    set(o, "name", text(f->name));
    set(o, "title", text(f->title));
    set(o, "kind", text(dae_kind_name(f->kind)));
    set(o, "index", json_integer(f->index));
    set(o, "summary", text(f->summary));
    set(o, "options", options(f->options));
    set_page(o, dae_formulation_doc(f->name));
    print(o);
}
