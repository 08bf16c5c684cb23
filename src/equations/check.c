/* What `check` says of an equation file: structure, start, states, the route that a run takes, or what is wrong. */
#include <daedalus/equations.h>
#include <daedalus/simulation.h>

#include "core/escape.h"
#include "core/number.h"
#include "equations/first_order.h"
#include "equations/forms.h"
#include "equations/mechanism.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check {
    dae_write_text_fn *write;
    void *user;
    int bad;     /* 1: the writer wants no more */
    int starved; /* 1: there was no memory for a part */
    dae_messages *messages;
    dae_model *m;
    dae_first_order *first;
    dae_equation_system *s;
    dae_problem *p;
    dae_simulation *run;
    dae_choice choice;
    dae_error err; /* of opening the run */
} check;

/* ---- Writing ------------------------------------------------------------------------------------------------------ */

static void put(check *c, const char *format, ...) DAE_PRINTF(2, 3);
static void put(check *c, const char *format, ...)
{
    char text[900];
    va_list args;
    va_start(args, format);
    int n = dae_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    if (!c->bad && c->write(text, length, c->user) < 0) c->bad = 1;
}

static void put_string(check *c, const char *text)
{
    if (!c->bad && dae_escape_json(text, strlen(text), c->write, c->user) < 0) c->bad = 1;
}

static void put_member(check *c, const char *name, const char *text)
{
    put(c, ",\"%s\":", name);
    put_string(c, text);
}

static int notes_kept(const check *c) /* the others were only counted */
{
    return c->messages->nnote < DAE_MODEL_MAX_ERRORS ? c->messages->nnote : DAE_MODEL_MAX_ERRORS;
}

static void put_number(check *c, double x)
{
    if (isfinite(x)) put(c, "%.17g", x);
    else put(c, "null");
}

static void put_ints(check *c, const char *name, const int *x, int n)
{
    put(c, "\"%s\":[", name);
    for (int i = 0; i < n; i++) put(c, "%s%d", i ? "," : "", x[i]);
    put(c, "]");
}

static void leaf_name(const check *c, int j, int order, char *out, size_t size)
{
    snprintf(out, size, "%.60s%.*s", c->s->analysis.variable[j], order < 8 ? order : 8, "''''''''");
}

/* ---- What is there -------------------------------------------------------------------------------------------------- */

static int largest_block(const dae_sigma *g)
{
    int largest = 0;
    for (int b = 0; b < g->nblock; b++) {
        int size = g->block_start[b + 1] - g->block_start[b];
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* The states at the start: places in X, dof of them; NULL: none can be chosen. To be freed. */
static int *states_of(check *c)
{
    const dae_equation_system *s = c->s;
    int bad = 0, dof = s->analysis.sigma.dof, *copy = NULL;
    dae_reduced *d = dae_reduced_create(s->reduction, s->parameter, s->discrete);
    int r = d ? dae_reduced_start(d, s->model->t0, s->initial.X, &bad) : -1;
    if (r == 0) copy = malloc(((size_t)dof + 1) * sizeof *copy);
    if (copy) memcpy(copy, dae_reduced_states(d), (size_t)dof * sizeof *copy);
    if (r < 0 || (r == 0 && !copy)) c->starved = 1;
    dae_reduced_destroy(d);
    return copy;
}

/* Why "auto" takes this form; "" where the file names one, or the equations have one only. */
static const char *form_reason(check *c)
{
    const dae_equation_system *s = c->p->forms ? c->p->forms->model : NULL;
    const char *reason = "", *form = c->p->formulation, *method = c->p->method, *own;
    if (!c->p->forms || (form && strcmp(form, "auto") != 0)) return reason;
    c->p->forms->choose(c->p->forms, method && strcmp(method, "auto") != 0 ? dae_method_find(method) : NULL,
                        &own, &reason);
    if (dae_graph_failed(s->model->graph) == DAE_GRAPH_STARVED) c->starved = 1;
    return reason;
}

static const char *route_of(const check *c)
{
    if (c->choice.formulation && c->choice.formulation[0]) return c->choice.formulation;
    return c->first->dae == 0 ? "explicit" : "";
}

static void put_places(check *c, const char *name, const dae_message *m, int count, int with_place)
{
    put(c, ",\"%s\":[", name);
    for (int k = 0; k < count; k++) {
        put(c, "%s{", k ? "," : "");
        if (with_place) put(c, "\"line\":%d,\"column\":%d,\"text\":", m[k].place.line, m[k].place.column);
        else put(c, "\"where\":\"line %d\",\"text\":", m[k].place.line);
        put_string(c, m[k].text);
        put(c, "}");
    }
    put(c, "]");
}

static void put_initial(check *c)
{
    put(c, ",\"initial\":[");
    for (int k = 0; k < c->s->initial.nline; k++) {
        const dae_initial_line *l = &c->s->initial.line[k];
        char name[80];
        leaf_name(c, l->variable, l->order, name, sizeof name);
        put(c, "%s{\"name\":", k ? "," : "");
        put_string(c, name);
        put(c, ",\"given\":");
        put_number(c, l->given);
        put(c, ",\"found\":");
        put_number(c, l->found);
        put(c, ",\"why\":\"%s\"}", l->why);
    }
    put(c, "]");
}

static void put_states_json(check *c)
{
    int *state = states_of(c), dof = c->s->analysis.sigma.dof;
    put(c, ",\"states\":[");
    for (int k = 0, j = 0; state && k < dof; k++) {
        char name[80];
        while (state[k] >= c->s->analysis.place[j + 1]) j++;
        leaf_name(c, j, state[k] - c->s->analysis.place[j], name, sizeof name);
        put(c, "%s", k ? "," : "");
        put_string(c, name);
    }
    put(c, "]");
    free(state);
}

static void put_mechanism_json(check *c)
{
    const dae_model_mechanism *x = c->m->mechanism;
    if (!x) return;
    put(c, ",\"mechanism\":{\"name\":");
    put_string(c, x->name);
    put(c, ",\"bodies\":%d,\"joints\":%d,\"sets\":[", x->model->nbody, x->model->njoint);
    for (int k = 0; k < x->ninput; k++) {
        put(c, "%s", k ? "," : "");
        put_string(c, c->m->variable[x->input[k].variable].name);
    }
    put(c, "],\"reads\":[");
    for (int k = 0; k < x->nsignal; k++) {
        put(c, "%s", k ? "," : "");
        put_string(c, c->m->discrete[x->first + k].name);
    }
    put(c, "]}");
}

static void write_json(check *c)
{
    int wrong = c->messages->count || !c->s;
    put(c, "{\"status\":\"%s\",\"kind\":\"equations\"", wrong || c->err.status < 0 ? "input" : "ok");
    if (c->m) put_member(c, "name", c->m->name);
    if (c->s) {
        const dae_sigma *g = &c->s->analysis.sigma;
        put(c,
            ",\"equations\":%d,\"variables\":%d,\"index\":%d,\"index_as_written\":%d,\"dof\":%d,\"blocks\":%"
            "d,\"largest_block\":%d",
            c->m->nequation, c->m->nvariable, g->index, c->s->analysis.as_written, g->dof, g->nblock,
            largest_block(g));
        put(c, ",\"combinations\":%d,\"augmented\":%d,\"offsets\":{", c->s->analysis.combinations,
            c->s->analysis.augmented);
        put_ints(c, "c", g->c, g->n);
        put(c, ",");
        put_ints(c, "d", g->d, g->n);
        put(c, "},");
        put_ints(c, "labels", g->label, g->n);
        put_states_json(c);
        put_initial(c);
        put_mechanism_json(c);
    }
    if (c->run) {
        put_member(c, "route", route_of(c));
        put_member(c, "solver", c->choice.method);
        put_member(c, "formulation", route_of(c));
        put_member(c, "form_reason", form_reason(c));
        put_member(c, "reason", c->choice.reason);
    }
    put_places(c, "warnings", c->messages->note, notes_kept(c), 0);
    dae_message run = {.place = {0, 0}};
    snprintf(run.text, sizeof run.text, "%.*s", (int)sizeof run.text - 1, c->err.text);
    put_places(c, "errors", &run, c->err.status < 0, 1);
    put(c, "}\n");
}

/* ---- Text --------------------------------------------------------------------------------------------------------------- */

/* "x' = vx once, rod twice": what is differentiated. */
static void put_differentiated(check *c)
{
    static const char *const often[] = {"", "once", "twice", "3 times", "4 times"};
    const dae_analysis *a = &c->s->analysis;
    int shown = 0, more = 0;
    for (int times = 4; times > 0; times--) {
        for (int i = 0; i < a->n; i++) {
            if (a->sigma.c[i] != times) continue;
            if (shown++ < 4)
                put(c, "%s %s %s", shown == 1 ? "; differentiated:" : ",", a->equation[i], often[times]);
            else more++;
        }
    }
    if (more) put(c, " and %d more", more);
}

static void put_start(check *c)
{
    const dae_initial *x = &c->s->initial;
    int shown = 0;
    put(c, "  start        %d value%s needed, %d given", x->needed, x->needed == 1 ? "" : "s", x->given);
    if (x->given > x->needed) put(c, " (they fit)");
    put(c, "\n");
    for (int k = 0; k < x->nline && shown < 12; k++) {
        const dae_initial_line *l = &x->line[k];
        char name[80];
        if (l->bound) continue;
        leaf_name(c, l->variable, l->order, name, sizeof name);
        if (isfinite(l->given))
            put(c, "               %s ~ %.6g: %.10g, %s\n", name, l->given, l->found, l->why);
        else put(c, "               %s: %.10g, %s\n", name, l->found, l->why);
        shown++;
    }
}

static void put_states(check *c)
{
    int *state = states_of(c), dof = c->s->analysis.sigma.dof, hidden = 0;
    for (int i = 0; i < c->s->analysis.n; i++) hidden |= c->s->analysis.sigma.c[i] > 0;
    if (state && hidden) {
        put(c, "  states      ");
        for (int k = 0, j = 0; k < dof && k < 20; k++) {
            char name[80];
            while (state[k] >= c->s->analysis.place[j + 1]) j++;
            leaf_name(c, j, state[k] - c->s->analysis.place[j], name, sizeof name);
            put(c, "%s %s", k ? "," : "", name);
        }
        put(c, "%s (chosen by pivoting; they change with the pose)\n",
            dof > 20   ? ", ..."
            : dof == 0 ? " none"
                       : "");
    }
    free(state);
}

static void put_mechanism(check *c)
{
    const dae_model_mechanism *x = c->m->mechanism;
    if (!x) return;
    put(c, "  mechanism    %s: %d bod%s, %d joint%s", x->name, x->model->nbody,
        x->model->nbody == 1 ? "y" : "ies", x->model->njoint, x->model->njoint == 1 ? "" : "s");
    for (int k = 0; k < x->ninput && k < 12; k++)
        put(c, "%s%s", k ? ", " : "; the equations set ", c->m->variable[x->input[k].variable].name);
    for (int k = 0; k < x->nsignal && k < 12; k++)
        put(c, "%s%s", k ? ", " : "; they read ", c->m->discrete[x->first + k].name);
    put(c, "%s\n", x->nsignal > 12 || x->ninput > 12 ? ", ..." : "");
}

static void write_text(check *c, const char *text, size_t length, const char *file)
{
    for (int k = 0; k < c->messages->count && k < DAE_MODEL_MAX_ERRORS; k++) {
        dae_text_error e = {.line = c->messages->error[k].place.line,
                            .column = c->messages->error[k].place.column};
        char out[900];
        snprintf(e.text, sizeof e.text, "%s", c->messages->error[k].text);
        dae_text_error_format(&e, text, length, file, out, sizeof out);
        put(c, "%s\n", out);
    }
    if (!c->s) return;
    const dae_sigma *g = &c->s->analysis.sigma;
    put(c, "%s: %d equation%s, %d variable%s\n", file ? file : c->m->name, c->m->nequation,
        c->m->nequation == 1 ? "" : "s", c->m->nvariable, c->m->nvariable == 1 ? "" : "s");
    put(c, "  structure    index %d", g->index);
    if (c->s->analysis.as_written != g->index)
        put(c, " (as written: at least %d)", c->s->analysis.as_written);
    put(c, ", %d degree%s of freedom; %d block%s, the largest of %d", g->dof, g->dof == 1 ? "" : "s",
        g->nblock, g->nblock == 1 ? "" : "s", largest_block(g));
    put_differentiated(c);
    put(c, "\n");
    put_mechanism(c);
    put_start(c);
    put_states(c);
    if (c->run) {
        const char *form = form_reason(c);
        const char *why = strcmp(form, c->choice.reason) ? c->choice.reason : ""; /* of both: once */
        put(c, "  route        %s%s%s%s, solver %s%s%s\n", route_of(c), form[0] ? " (" : "", form,
            form[0] ? ")" : "", c->choice.method, why[0] ? ": " : "", why);
    }
    for (int k = 0; k < notes_kept(c); k++)
        put(c, "  note         line %d: %s\n", c->messages->note[k].place.line, c->messages->note[k].text);
    if (c->err.status < 0) put(c, "  run          %s\n", c->err.text);
}

/* ---- All of it ---------------------------------------------------------------------------------------------------------------- */

/* Errors of reading as JSON members. */
static void write_errors_json(check *c)
{
    put(c, "{\"status\":\"input\",\"kind\":\"equations\"");
    if (c->m) put_member(c, "name", c->m->name);
    put_places(c, "errors", c->messages->error,
               c->messages->count < DAE_MODEL_MAX_ERRORS ? c->messages->count : DAE_MODEL_MAX_ERRORS, 1);
    put_places(c, "warnings", c->messages->note, notes_kept(c), 0);
    put(c, "}\n");
}

static void open_run(check *c, const char *text, size_t length, const char *file, const dae_setting *setting,
                     int nsetting)
{
    c->p = dae_equations_problem(text, length, file, setting, nsetting, &c->err);
    if (!c->p) return;
    dae_simulation_options o = dae_simulation_options_default(c->p);
    c->run = dae_simulation_open(c->p, &o, &c->err);
    if (c->run && dae_simulation_start(c->run, &c->err) >= 0) c->err.status = DAE_OK;
    if (c->run) c->choice = dae_simulation_choice(c->run);
}

dae_status dae_equations_check(const char *text, size_t length, const char *file, const dae_setting *setting,
                               int nsetting, int json, dae_write_text_fn *write, void *user, dae_error *err)
{
    check c = {.write = write, .user = user, .messages = calloc(1, sizeof *c.messages)};
    dae_status status = DAE_ERR_INPUT;
    if (!c.messages) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the analysis");
    c.m = dae_model_read(text, length, file, setting, nsetting, c.messages);
    if (c.m) c.first = dae_first_order_find(c.m);
    if (c.first)
        c.s = dae_equation_system_create(c.m, c.first->n, c.first->ncontinuous, c.first->variable,
                                         c.first->order, c.messages);
    if (c.m && dae_graph_failed(c.m->graph) == DAE_GRAPH_STARVED) dae_messages_starved(c.messages);
    if (c.s && !c.messages->starved) open_run(&c, text, length, file, setting, nsetting);
    if (c.s && !c.messages->count) status = c.err.status < 0 ? c.err.status : DAE_OK;
    else if (c.messages->starved || !c.messages->count) status = DAE_ERR_MEMORY;
    if (status == DAE_ERR_MEMORY) c.bad = 0; /* and nothing is written: half an analysis is none */
    else if (!json) write_text(&c, text, length, file);
    else if (c.messages->count || !c.s) write_errors_json(&c);
    else write_json(&c);
    if (status < 0)
        dae_fail(err, status, NAN, "%s",
                 c.messages->count  ? c.messages->error[0].text
                 : c.err.status < 0 ? c.err.text
                                    : "out of memory");
    if (c.starved) status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (c.bad) status = dae_fail(err, DAE_ERR_FILE, NAN, "the report could not be written");
    dae_simulation_close(c.run);
    dae_problem_destroy(c.p);
    dae_equation_system_destroy(c.s);
    dae_first_order_destroy(c.first);
    dae_model_destroy(c.m);
    free(c.messages);
    return status;
}
