/* What there is, as JSON: problems, methods and formulations, with their parameters, options and pages. */
#include <daedalus/about.h>

#include "core/text.h"
#include "study/json.h"
#include "study/solver.h"

#include <daedalus/equations.h>
#include <daedalus/page.h>

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

/* o with its page; NULL: out of memory. */
static json_t *with_page(json_t *o, const char *doc)
{
    dae_bytes html = {0};
    set(o, "doc", text(doc));
    dae_status s = doc ? dae_markdown_html(doc, strlen(doc), 0, dae_bytes_write, &html) : DAE_OK;
    set(o, "html", doc && s == DAE_OK ? json_stringn(html.text ? html.text : "", html.length) : json_null());
    free(html.text);
    if (s == DAE_OK) return o;
    json_decref(o);
    return NULL;
}

/* An object in one line with its end. */
static dae_status hand_out(json_t *o, dae_write_fn *write, void *user)
{
    return dae_json_line(o, write, user);
}

/* ---- In short, for lists ---------------------------------------------------------------------------- */

static void put_problem(json_t *o, const dae_problem_info *p)
{
    set(o, "name", text(p->name));
    set(o, "title", text(p->title));
    set(o, "kind", text(dae_kind_name(p->kind)));
    set(o, "n", json_integer(p->n));
    set(o, "index", json_integer(p->index));
    set(o, "stiff", json_boolean(p->stiff));
    set(o, "aliases", text(p->aliases));
    set(o, "origin", text(p->origin));
}

static void put_method(json_t *o, const dae_method_info *m)
{
    json_t *kinds = json_array();
    for (int k = DAE_KIND_ODE; k <= DAE_KIND_MECH; k++) {
        if (m->kinds & 1u << k) json_array_append_new(kinds, text(dae_kind_name((dae_kind)k)));
    }
    set(o, "name", text(m->name));
    set(o, "title", text(m->title));
    set(o, "order_min", json_integer(m->order_min));
    set(o, "order_max", json_integer(m->order_max));
    set(o, "kinds", kinds);
    set(o, "max_index", json_integer(m->max_index));
    set(o, "implicit", json_boolean(m->implicit));
    set(o, "literature", text(m->literature));
}

static void put_formulation(json_t *o, const dae_formulation_info *f)
{
    set(o, "name", text(f->name));
    set(o, "title", text(f->title));
    set(o, "kind", text(dae_kind_name(f->kind)));
    set(o, "index", json_integer(f->index));
}

/* The next object of a list. */
static json_t *more(json_t *list)
{
    json_t *o = json_object();
    json_array_append_new(list, o);
    return o;
}

dae_status dae_list_json(const char *what, int index, const struct dae_method *const *own,
                         dae_write_fn *write, void *user)
{
    json_t *answer = json_object();
    const dae_method_info *m;
    if (!what || !strcmp(what, "problems")) {
        json_t *list = json_array();
        for (int i = 0; dae_problem_get(i); i++) {
            if (index < 0 || dae_problem_get(i)->index == index) put_problem(more(list), dae_problem_get(i));
        }
        set(answer, "problems", list);
    }
    if (!what || !strcmp(what, "solvers")) {
        json_t *list = json_array();
        for (int i = 0; (m = dae_solver_method_at(own, i)); i++) {
            if (m->max_index >= index) put_method(more(list), m);
        }
        set(answer, "solvers", list);
    }
    if (!what || !strcmp(what, "formulations")) {
        json_t *list = json_array();
        for (int i = 0; dae_formulation_get(i); i++) put_formulation(more(list), dae_formulation_get(i));
        for (int i = 0; dae_equations_form(i); i++) {
            const dae_formulation_info *f = dae_equations_form(i);
            if (!dae_formulation_find(f->name)) put_formulation(more(list), f);
        }
        set(answer, "formulations", list);
    }
    return hand_out(answer, write, user);
}

/* ---- In full ----------------------------------------------------------------------------------------- */

dae_status dae_problem_json(const dae_problem *p, dae_write_fn *write, void *user)
{
    const dae_problem_info *info = p->info;
    json_t *o = json_object();
    int n = dae_system_size(&p->system);
    set(o, "what", text("problem"));
    put_problem(o, info);
    set(o, "n", json_integer(n));
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
    return hand_out(with_page(o, p->doc ? p->doc : dae_problem_doc(info->name)), write, user);
}

dae_status dae_method_json(const dae_method_info *m, dae_write_fn *write, void *user)
{
    json_t *o = json_object();
    set(o, "what", text("solver"));
    put_method(o, m);
    set(o, "multistep", json_boolean(m->multistep));
    set(o, "summary", text(m->summary));
    set(o, "options", options(m->options));
    return hand_out(with_page(o, dae_method_doc(m->name)), write, user);
}

dae_status dae_formulation_json(const dae_formulation_info *f, dae_write_fn *write, void *user)
{
    json_t *o = json_object();
    set(o, "what", text("formulation"));
    put_formulation(o, f);
    set(o, "summary", text(f->summary));
    set(o, "options", options(f->options));
    return hand_out(with_page(o, dae_formulation_doc(f->name)), write, user);
}

dae_status dae_error_json(const char *text, dae_write_fn *write, void *user)
{
    const char *place = strstr(text, "line ");
    char *behind = NULL;
    long line = place ? strtol(place + 5, &behind, 10) : 0, column = 0;
    if (behind && !strncmp(behind, ", column ", 9)) column = strtol(behind + 9, NULL, 10);
    json_t *error = json_pack("{s:o, s:o, s:s}", "line", line ? json_integer(line) : json_null(), "column",
                              column ? json_integer(column) : json_null(), "text", text);
    json_t *o = json_pack("{s:s, s:s, s:s, s:[o]}", "status", "input", "code", "DAE_ERR_INPUT", "message",
                          text, "errors", error);
    if (!o) /* a text that is no UTF-8 */
        o = json_pack("{s:s, s:s, s:s}", "status", "input", "code", "DAE_ERR_INPUT", "message",
                      "wrong input");
    return dae_json_line(o, write, user);
}
