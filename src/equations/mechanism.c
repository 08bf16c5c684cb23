/* Reading a mechanism inside equations, see mechanism.h. */
#include "equations/mechanism.h"

#include "core/hash.h"
#include "core/number.h"
#include "equations/reader.h"
#include "multibody/external.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dae_model_mechanism_destroy(dae_model_mechanism *x)
{
    if (!x) return;
    mbs_mechanism_destroy(x->alone);
    mbs_model_destroy(x->model);
    free(x->signal);
    free(x->input);
    free(x);
}

int dae_use_is_mechanism(const reader *r, const context *c, const statement *s)
{
    return !strcmp(s->left->name, "mechanism") && !dae_symbol_find(r, c->scope, s->left->name);
}

/* ---- Opening it ------------------------------------------------------------------------------------------- */

/* Parameters given here, then those from outside: --set car.L=2. Texts live in the store. Their number, -1: failed. */
static int collect_settings(reader *r, const context *c, const statement *s, const char *full,
                            dae_setting **out)
{
    int n = 0;
    size_t length = strlen(full);
    for (const item *i = s->items; i; i = i->next) n++;
    dae_setting *list = dae_reader_take(r, ((size_t)(n + r->nsetting) + 1) * sizeof *list);
    if (!list) return -1;
    n = 0;
    for (const item *i = s->items; i && !r->failed; i = i->next) {
        char text[40];
        if (!i->value) {
            dae_reader_wrong(r, i->place, "expected a number after %s =", i->name);
            break;
        }
        dae_snprintf(text, sizeof text, "%.17g", dae_evaluate_known(r, c, i->value));
        list[n++] = (dae_setting){i->name, dae_store_text(r->store, text, strlen(text))};
    }
    for (int k = 0; k < r->nsetting; k++) {
        const dae_setting *x = &r->setting[k];
        if (strncmp(x->name, full, length) != 0 || x->name[length] != '.' || x->value[0] == '=' ||
            x->value[0] == '~')
            continue;
        r->setting_used[k] = 1;
        list[n++] = (dae_setting){x->name + length + 1, x->value};
    }
    *out = list;
    return r->failed ? -1 : n;
}

static void open_file(reader *r, const statement *s, const dae_setting *setting, int n)
{
    dae_model_mechanism *x = r->m->mechanism;
    dae_error err = {0};
    char *path = dae_path_beside(r->file, s->text);
    if (!path) {
        dae_reader_starved(r);
        return;
    }
    x->model = mbs_model_load_with(path, setting, n, &err);
    if (x->model) r->m->files = dae_hash(r->m->files, (const char *)&x->model->files, sizeof x->model->files);
    if (x->model) x->alone = mbs_mechanism_create(x->model, &err);
    if (!x->alone && err.status == DAE_ERR_MEMORY) dae_reader_starved(r);
    else if (!x->alone) {
        int named = !strncmp(err.text, path, strlen(path)); /* by who could not read it */
        dae_reader_wrong(r, s->left->place, "%.60s%s%s", named ? "" : s->text, named ? "" : ": ", err.text);
    }
    free(path);
}

void dae_mechanism_declare(reader *r, const context *c, const statement *s)
{
    dae_setting *setting;
    if (!s->text || !s->text[0]) {
        dae_reader_wrong(r, s->left->place, "expected the file of a model: use %s = mechanism(\"file.json\")",
                         s->name);
        return;
    }
    if (r->m->mechanism) {
        dae_reader_wrong(r, s->place,
                         "there is a mechanism already (\"%s\", line %d): put both into one model",
                         r->m->mechanism->name, r->m->mechanism->place.line);
        return;
    }
    if (!r->file) {
        dae_reader_wrong(r, s->left->place, "mechanism(\"%.60s\"): no file can be read here", s->text);
        return;
    }
    symbol *x = dae_symbol_declare(r, c, SYMBOL_MECHANISM, s->name, s->place);
    dae_model_mechanism *made = x ? calloc(1, sizeof *made) : NULL;
    if (x && !made) dae_reader_starved(r);
    if (!made) return;
    made->name = x->name;
    made->place = s->place;
    r->m->mechanism = made;
    int n = collect_settings(r, c, s, x->name, &setting);
    if (n >= 0) open_file(r, s, setting, n);
}

/* ---- Its names -------------------------------------------------------------------------------------------- */

static const char *full_name(reader *r, const char *name)
{
    char text[400];
    int n = snprintf(text, sizeof text, "%s.%s", r->m->mechanism->name, name);
    return dae_store_text(r->store, text, n < (int)sizeof text ? (size_t)n : sizeof text - 1);
}

/* The variable of an input; it is made where it is named first. */
static value input_value(reader *r, int parameter, dae_place place)
{
    dae_model *m = r->m;
    dae_model_mechanism *x = m->mechanism;
    const mbs_parameter *p = &x->model->parameter[parameter];
    value v = {.dimension = p->dimension};
    int k = 0;
    while (k < x->ninput && x->input[k].parameter != parameter) k++;
    if (k == x->ninput) {
        if (!dae_reader_grow(r, (void **)&x->input, &x->input_capacity, k + 1, sizeof *x->input) ||
            !dae_reader_grow(r, (void **)&m->variable, &m->variable_capacity, m->nvariable + 1,
                             sizeof *m->variable) ||
            !dae_reader_grow(r, (void **)&m->start, &m->start_capacity, m->nstart + 1, sizeof *m->start))
            return v;
        x->input[x->ninput++] = (dae_model_input){parameter, m->nvariable};
        m->start[m->nstart++] = (dae_model_start){.variable = m->nvariable,
                                                  .node = dae_graph_number(r->g, p->value),
                                                  .value = p->value,
                                                  .place = place};
        m->variable[m->nvariable++] =
            (dae_model_variable){.name = full_name(r, p->name), .place = place, .dimension = p->dimension};
    }
    v.node = dae_graph_variable(r->g, x->input[k].variable, 0);
    return v;
}

static value signal_value(reader *r, const char *name, const mbs_signal *s, dae_dimension d, dae_place place)
{
    dae_model *m = r->m;
    dae_model_mechanism *x = m->mechanism;
    value v = {.dimension = d};
    int k = 0;
    while (k < x->nsignal && memcmp(&x->signal[k], s, sizeof *s) != 0) k++;
    if (k == x->nsignal) {
        if (!dae_reader_grow(r, (void **)&x->signal, &x->signal_capacity, k + 1, sizeof *x->signal) ||
            !dae_reader_grow(r, (void **)&m->discrete, &m->discrete_capacity, m->ndiscrete + 1,
                             sizeof *m->discrete))
            return v;
        if (k == 0) x->first = m->ndiscrete;
        x->signal[x->nsignal++] = *s;
        m->discrete[m->ndiscrete++] =
            (dae_model_discrete){.name = full_name(r, name), .place = place, .dimension = d};
    }
    v.node = dae_graph_discrete(r->g, x->first + k);
    return v;
}

/* A name of the mechanism that is none. */
static value unknown(reader *r, const char *name, dae_place place)
{
    const dae_model_mechanism *x = r->m->mechanism;
    char hint[64];
    int k = mbs_find_parameter(x->model, name);
    if (k >= 0)
        return dae_reader_wrong(
            r, place,
            "\"%s\" is a parameter of the mechanism \"%s\"; to set it from equations list it under "
            "\"inputs\" in its file",
            name, x->name);
    mbs_nearest_signal(x->alone, name, hint, sizeof hint);
    return dae_reader_wrong(r, place, "the mechanism \"%s\" has no signal or input \"%s\"%s%s%s%s%s", x->name,
                            name, hint[0] ? "; did you mean \"" : "", hint[0] ? x->name : "",
                            hint[0] ? "." : "", hint, hint[0] ? "\"?" : "");
}

static value named(reader *r, const char *name, dae_place place)
{
    const dae_model_mechanism *x = r->m->mechanism;
    mbs_signal s;
    dae_dimension d;
    if (!x->alone) return r->failed = 1, (value){0}; /* told where it was opened */
    int k = mbs_find_parameter(x->model, name);
    if (k >= 0 && x->model->parameter[k].input) return input_value(r, k, place);
    if (!mbs_find_signal(x->alone, name, &s, &d)) return unknown(r, name, place);
    const char *why = mbs_external_refuses(x->alone, &s);
    if (why)
        return dae_reader_wrong(
            r, place,
            "\"%s.%s\" %s: equations that set inputs can read positions, velocities and states only", x->name,
            name, why);
    return signal_value(r, name, &s, d, place);
}

int dae_mechanism_value(reader *r, const context *c, const char *name, dae_place place, value *out)
{
    const char *dot = r->m->mechanism ? strchr(name, '.') : NULL;
    for (; dot; dot = strchr(dot + 1, '.')) {
        char head[200];
        if (dot - name >= (long)sizeof head) return 0;
        memcpy(head, name, (size_t)(dot - name));
        head[dot - name] = 0;
        const symbol *s = dae_symbol_find(r, c->scope, head);
        if (!s || s->kind != SYMBOL_MECHANISM) continue;
        *out = named(r, dot + 1, place);
        return 1;
    }
    return 0;
}

int dae_mechanism_in(const reader *r, int node, const char **name)
{
    const dae_model *m = r->m;
    const dae_model_mechanism *x = m->mechanism;
    int *list, found = 0, count = x ? dae_graph_reach(r->g, 1, &node, &list) : 0;
    for (int i = 0; i < count && !found; i++) {
        dae_node n = dae_graph_node(r->g, list[i]);
        if (n.op == OP_DISCRETE && x->nsignal && n.a >= x->first) *name = m->discrete[n.a].name, found = 1;
        for (int k = 0; n.op == OP_VARIABLE && k < x->ninput && !found; k++) {
            if (x->input[k].variable == n.a) *name = m->variable[n.a].name, found = 1;
        }
    }
    if (x && count >= 0) free(list);
    return found;
}

void dae_mechanism_start(reader *r)
{
    dae_model *m = r->m;
    dae_model_mechanism *x = m->mechanism;
    dae_error err = {0};
    if (!x) return;
    r->failed = 0;
    x->model->simulation.t0 = x->alone->owned->simulation.t0 = m->t0;
    x->model->simulation.t1 = x->alone->owned->simulation.t1 = m->t1;
    if (m->t1 < m->t0) {
        dae_reader_wrong(r, x->place, "a mechanism runs forward in time: t = %g .. %g", m->t0, m->t1);
        return;
    }
    double *y = calloc((size_t)dae_system_size(mbs_mechanism_system(x->alone)) + (size_t)x->nsignal + 1,
                       sizeof *y),
           *known = y ? y + dae_system_size(mbs_mechanism_system(x->alone)) : NULL;
    if (!y) {
        dae_reader_starved(r);
        return;
    }
    if (mbs_mechanism_initial(x->alone, y, &err) < 0) {
        if (err.status == DAE_ERR_MEMORY) dae_reader_starved(r);
        else dae_reader_wrong(r, x->place, "\"%s\": %s", x->name, err.text);
    } else {
        if (mbs_signals_at(x->alone, m->t0, y, x->nsignal, x->signal, known)) dae_reader_starved(r);
        for (int k = 0; k < x->nsignal; k++) m->discrete[x->first + k].start = known[k];
    }
    free(y);
}
