/* The reader of equation files: text -> words -> trees -> model. */
#include "equations/mechanism.h"
#include "equations/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dae_model_destroy(dae_model *m)
{
    if (!m) return;
    dae_graph_destroy(m->graph);
    dae_model_mechanism_destroy(m->mechanism);
    free(m->variable);
    free(m->equation);
    free(m->start);
    free(m->init);
    free(m->parameter);
    free(m->discrete);
    free(m->let);
    free(m->event);
    free(m->setting);
    free(m->output);
    free(m->plot);
    free(m->score);
    free(m->reference);
    dae_store_destroy(m->store);
    free(m);
}

/* --init x=2, --init x~2: a setting whose value begins with = or ~. */
static void apply_init_settings(reader *r)
{
    dae_model *m = r->m;
    for (int k = 0; k < r->nsetting; k++) {
        const char *text = r->setting[k].value;
        dae_expression_error err;
        double x;
        if (text[0] != '=' && text[0] != '~') continue;
        r->failed = 0;
        r->setting_used[k] = 1;
        int begin = !strcmp(r->setting[k].name, "t"); /* --t0 */
        int j = begin ? 0 : dae_model_find_variable(m, r->setting[k].name), at = 0;
        if (j < 0) {
            dae_reader_wrong(r, (dae_place){0, 0}, "--init %.60s: there is no such variable",
                             r->setting[k].name);
            continue;
        }
        if (dae_expression_number(text + 1, &x, &err)) {
            if (!strcmp(err.text, DAE_EXPRESSION_STARVED)) dae_reader_starved(r);
            dae_reader_wrong(r, (dae_place){0, 0}, "--init %.60s%.60s: %s", r->setting[k].name, text,
                             err.text);
            continue;
        }
        if (begin) {
            m->t0 = x;
            if (m->t0 == m->t1) dae_reader_wrong(r, (dae_place){0, 0}, "--t0 %g: the interval is empty", x);
            continue;
        }
        while (at < m->nstart && (m->start[at].variable != j || m->start[at].order != 0)) at++;
        if (at == m->nstart) {
            if (!dae_reader_grow(r, (void **)&m->start, &m->start_capacity, m->nstart + 1, sizeof *m->start))
                return;
            m->nstart++;
        }
        m->start[at] = (dae_model_start){.variable = j,
                                         .bound = text[0] == '=',
                                         .node = dae_graph_number(r->g, x),
                                         .value = x,
                                         .place = m->variable[j].place};
    }
}

static void check_settings(reader *r)
{
    char near[64];
    for (int k = 0; k < r->nsetting; k++) {
        if (r->setting_used[k]) continue;
        r->failed = 0;
        int have = dae_setting_known(r, r->setting[k].name, near, sizeof near);
        dae_reader_wrong(r, (dae_place){0, 0}, "--set %.60s: the file has no such parameter%s%s%s",
                         r->setting[k].name, have ? "; did you mean \"" : "", near, have ? "\"?" : "");
    }
}

static void take_name(reader *r, const statement *first)
{
    r->m->name = "model";
    r->m->title = "";
    for (const statement *s = first; s; s = s->next) {
        if (s->kind != STATEMENT_MODEL) continue;
        r->m->name = s->name;
        r->m->title = s->text;
    }
}

static void read_all(reader *r, const statement *first)
{
    take_name(r, first);
    dae_declare_all(r, first);
    if (r->messages->count) return;
    dae_expand_interval(r, first);
    if (r->messages->count) return;
    apply_init_settings(r);
    dae_expand_all(r, first);
    if (!r->messages->count) check_settings(r);
    if (!r->messages->count) dae_mechanism_start(r);
    if (!r->messages->count && !r->m->nvariable && !r->m->mechanism)
        dae_messages_error(r->messages, (dae_place){1, 1}, "the text declares no variable (var x = ...)");
    if (!r->messages->count && dae_graph_failed(r->g))
        dae_messages_error(r->messages, (dae_place){0, 0}, "the equations have more than %d operations",
                           DAE_GRAPH_MAX_NODES);
}

dae_model *dae_model_read(const char *text, size_t length, const char *file, const dae_setting *setting,
                          int nsetting, dae_messages *messages)
{
    dae_model *m = calloc(1, sizeof *m);
    reader *r = calloc(1, sizeof *r);
    token *tokens = NULL;
    int count;
    memset(messages, 0, sizeof *messages);
    if (m) m->store = dae_store_create(), m->graph = dae_graph_create();
    unsigned char *used = calloc((size_t)nsetting + 1, 1);
    if (!m || !r || !used || !m->store || !m->graph) {
        dae_messages_starved(messages);
    } else if (length > DAE_MODEL_MAX_TEXT) {
        dae_messages_error(messages, (dae_place){0, 0}, "the text is longer than %d bytes",
                           DAE_MODEL_MAX_TEXT);
    } else {
        *r = (reader){.m = m,
                      .g = m->graph,
                      .store = m->store,
                      .messages = messages,
                      .file = file,
                      .setting = setting,
                      .nsetting = nsetting,
                      .setting_used = used};
        r->last = &r->first;
        m->time.soft = 1;
        m->reference_t = NAN;
        m->reference_source = "";
        tokens = dae_tokens_read(text, length, messages, &count);
        const statement *first = tokens ? dae_parse(tokens, count, m->store, messages) : NULL;
        if (!tokens) dae_messages_starved(messages);
        if (!messages->count) read_all(r, first);
        if (messages->starved || dae_store_failed(m->store) ||
            dae_graph_failed(m->graph) == DAE_GRAPH_STARVED)
            dae_messages_starved(messages);
    }
    free(tokens);
    free(used);
    free(r);
    if (!messages->count) return m;
    dae_model_destroy(m);
    return NULL;
}

/* ---- Names --------------------------------------------------------------------------------------- */

int dae_model_find_variable(const dae_model *m, const char *name)
{
    for (int j = 0; j < m->nvariable; j++) {
        if (!strcmp(m->variable[j].name, name)) return j;
    }
    return -1;
}

static const char *leaf_name(const dae_node *n, void *user)
{
    const dae_model *m = user;
    if (n->op == OP_VARIABLE) return n->a < m->nvariable ? m->variable[n->a].name : NULL;
    if (n->op == OP_PARAMETER) return m->parameter[n->a].name;
    if (n->op == OP_DISCRETE) return m->discrete[n->a].name;
    return "t";
}

void dae_model_leaf_name(const dae_model *m, int leaf, char *out, size_t size)
{
    dae_graph_text(m->graph, leaf, leaf_name, (void *)m, out, size);
}

void dae_model_node_text(const dae_model *m, int node, char *out, size_t size)
{
    dae_graph_text(m->graph, node, leaf_name, (void *)m, out, size);
}

void dae_model_equation_name(const dae_model *m, int equation, char *out, size_t size)
{
    const dae_model_equation *e = &m->equation[equation];
    if (e->label) snprintf(out, size, "%s", e->label);
    else if (!e->nloop) snprintf(out, size, "line %d", e->place.line);
    else if (e->nloop == 1) snprintf(out, size, "line %d[%d]", e->place.line, e->loop[0]);
    else
        snprintf(out, size, "line %d[%d,%d%s]", e->place.line, e->loop[0], e->loop[1],
                 e->nloop > 2 ? ",..." : "");
}

static double parameter_leaf(const dae_node *n, void *user)
{
    const dae_model *m = user;
    return n->op == OP_PARAMETER ? m->parameter[n->a].value : NAN;
}

double dae_model_constant(const dae_model *m, int node)
{
    double x;
    return dae_graph_is_number(m->graph, node, &x)
               ? x
               : dae_graph_value(m->graph, node, parameter_leaf, (void *)m);
}
