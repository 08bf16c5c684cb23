/* An equation file as a problem: system, initial values, events, names, reference. */
#include "equations/problem.h"

#include "core/error.h"
#include "core/number.h"
#include "equations/coupled.h"
#include "equations/instants.h"

#include <daedalus/equations.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RTOL 1e-6

void dae_equation_object_destroy(void *p)
{
    dae_equation_object *o = p;
    if (!o) return;
    dae_flow_destroy(o->flow);
    dae_implicit_destroy(o->implicit);
    dae_equation_system_destroy(o->system);
    dae_actions_destroy(o->actions);
    dae_outputs_destroy(o->outputs);
    dae_tangent_set_destroy(o->tangents);
    dae_first_order_destroy(o->s);
    dae_model_destroy(o->m);
    free(o->instant);
    free(o);
}

/* ---- Names and parameters ------------------------------------------------------------------------ */

const char *dae_equation_unit(dae_problem *p, const dae_dimension *d)
{
    char text[64] = "";
    if (!d->soft) dae_dimension_name(d, text, sizeof text);
    if (!strcmp(text, "1")) text[0] = 0;
    return dae_problem_copy(p, text);
}

static void name_components(dae_problem *p, const dae_equation_object *o)
{
    const dae_first_order *s = o->s;
    const dae_model *m = o->m;
    const char **name = dae_problem_take(p, (size_t)s->n + 1, sizeof *name);
    const char **unit = dae_problem_take(p, (size_t)s->n + 1, sizeof *unit);
    for (int i = 0; name && unit && i < s->n; i++) {
        char text[200];
        int v = s->variable[i];
        dae_model_leaf_name(m, s->leaf[i], text, sizeof text);
        name[i] = dae_problem_copy(p, text);
        dae_dimension d = v < 0 ? m->discrete[-1 - v].dimension : m->variable[v].dimension;
        for (int k = 0; k < s->order[i] && !m->time.soft; k++) d.power[2] = (signed char)(d.power[2] - 1);
        if (s->order[i] && m->time.soft) d.soft = 1;
        unit[i] = dae_equation_unit(p, &d);
    }
    p->component = name;
    p->unit = unit;
    p->time_unit = m->time.soft ? NULL : "s";
}

void dae_equation_parameters(dae_problem *p, const dae_model *m, dae_problem_info *info, int more)
{
    dae_parameter *list = dae_problem_take(p, (size_t)(m->nparameter + more) + 1, sizeof *list);
    double *value = dae_problem_reals(p, m->nparameter + more + 1);
    for (int k = 0; list && value && k < m->nparameter; k++) {
        const dae_model_parameter *x = &m->parameter[k];
        value[k] = x->value;
        list[k] = (dae_parameter){.name = dae_problem_copy(p, x->name),
                                  .value = x->value,
                                  .min = x->min,
                                  .max = x->max,
                                  .integer = x->integer,
                                  .unit = dae_equation_unit(p, &x->dimension),
                                  .help = dae_problem_copy(p, x->help)};
        if (x->choices) list[k].choices = dae_problem_copy(p, x->choices);
    }
    info->parameter = list;
    p->parameter = value;
}

/* ---- Start, options, reference ------------------------------------------------------------------- */

/* An ODE needs no analysis, unless init equations tie its initial values together. 0: no memory, or messages tell. */
static int solve_init(const dae_equation_object *o, double *y0, dae_messages *messages)
{
    dae_model *m = o->m;
    const dae_first_order *s = o->s;
    dae_arena *arena = dae_arena_create();
    if (!arena) return 0;
    double *parameter = dae_arena_reals(arena, (size_t)m->nparameter + 1),
           *discrete = dae_arena_reals(arena, (size_t)m->ndiscrete + 1);
    dae_analysis a;
    dae_initial start;
    int good = !dae_arena_failed(arena);
    for (int i = 0; good && i < m->nparameter; i++) parameter[i] = m->parameter[i].value;
    for (int i = 0; good && i < m->ndiscrete; i++) discrete[i] = m->discrete[i].start;
    good = good && dae_analyze(m, arena, &a, messages) >= 0 &&
           dae_initial_find(&a, parameter, discrete, arena, &start, messages) >= 0;
    for (int i = 0; good && i < s->ncontinuous; i++) y0[i] = start.X[a.place[s->variable[i]] + s->order[i]];
    dae_arena_destroy(arena);
    return good;
}

static int set_start(dae_problem *p, const dae_equation_object *o, dae_messages *messages)
{
    const dae_first_order *s = o->s;
    const dae_model *m = o->m;
    double *y0 = dae_problem_reals(p, s->n + 1);
    for (int k = 0; y0 && k < m->nstart; k++) {
        const dae_model_start *x = &m->start[k];
        int i = x->order ? m->nvariable : x->variable; /* values come first, then orders 1, 2, ... */
        while (i < s->ncontinuous && (s->variable[i] != x->variable || s->order[i] != x->order)) i++;
        if (i < s->ncontinuous) y0[i] = x->value;
    }
    for (int i = s->ncontinuous; y0 && i < s->n; i++) y0[i] = m->discrete[-1 - s->variable[i]].start;
    if (y0 && o->system) dae_equation_system_components(o->system, o->system->initial.X, y0);
    else if (y0 && m->ninit && !solve_init(o, y0, messages)) return 0;
    if (o->implicit) {
        double *yp0 = dae_problem_reals(p, s->n + 1);
        const dae_analysis *a = &o->system->analysis;
        if (yp0) dae_implicit_rates(o->implicit, a->place, a->sigma.d, o->system->initial.X, yp0);
        p->yp0 = yp0;
    }
    p->y0 = y0;
    return 1;
}

int dae_equation_option(dae_problem *p, const dae_model_setting *x, double *rtol, double *atol,
                        dae_messages *messages)
{
    const struct {
        const char *name;
        double *to;
    } number[] = {{"rtol", rtol}, {"atol", atol}, {"h0", &p->h0}, {"h_max", &p->h_max}, {"every", &p->every}};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        if (strcmp(x->name, number[k].name) != 0) continue;
        char *end;
        *number[k].to = dae_strtod(x->value, &end);
        if (*end || !(*number[k].to > 0))
            dae_messages_error(messages, x->place, "%s must be a positive number", x->name);
        return 1;
    }
    if (!strcmp(x->name, "method")) p->method = dae_problem_copy(p, x->value);
    else if (!strcmp(x->name, "formulation")) p->formulation = dae_problem_copy(p, x->value);
    else {
        dae_messages_error(messages, x->place,
                           "solve has no option \"%s\" (it has rtol, rtol(x), atol, atol(x), h0, h_max, "
                           "every, method, formulation)",
                           x->name);
        return 0;
    }
    return 1;
}

/* Tolerances of single variables as factors of that of all; NULL: there are none. */
static const double *own_factors(dae_problem *p, const dae_equation_object *o, int relative, double all)
{
    double *factor = NULL;
    for (int i = 0; i < o->s->ncontinuous; i++) {
        const dae_model_variable *x = &o->m->variable[o->s->variable[i]];
        double own = relative ? x->rtol : x->atol;
        if (!(own > 0)) continue;
        if (!factor) {
            factor = dae_problem_reals(p, o->s->n);
            if (!factor) return NULL;
            for (int k = 0; k < o->s->n; k++) factor[k] = 1;
        }
        factor[i] = own / all;
    }
    return factor;
}

static void set_options(dae_problem *p, const dae_equation_object *o, dae_messages *messages)
{
    const dae_model *m = o->m;
    double rtol = 0, atol = 0;
    for (int k = 0; k < m->nsetting; k++) dae_equation_option(p, &m->setting[k], &rtol, &atol, messages);
    p->rtol = rtol > 0 ? rtol : atol > 0 ? atol : DEFAULT_RTOL;
    p->atol = atol > 0 ? atol : p->rtol;
    p->rtol_factor = own_factors(p, o, 1, p->rtol);
    p->atol_factor = own_factors(p, o, 0, p->atol);
    p->t0 = m->t0;
    p->t_end = m->t1;
}

static int component_of(const dae_first_order *s, int node)
{
    for (int i = 0; i < s->n; i++) {
        if (s->leaf[i] == node) return i;
    }
    return -1;
}

static void set_reference(dae_problem *p, const dae_equation_object *o, int changed)
{
    const dae_model *m = o->m;
    const dae_first_order *s = o->s;
    int found = 0;
    if (!m->nreference || changed || m->reference_t != m->t1) return;
    double *y = dae_problem_reals(p, s->n);
    unsigned char *scored = dae_problem_take(p, (size_t)s->n, 1);
    for (int i = 0; y && i < s->n; i++) y[i] = NAN;
    for (int k = 0; y && scored && k < m->nreference; k++) {
        int i = component_of(s, m->reference[k].node);
        if (i < 0) continue;
        y[i] = m->reference[k].value;
        found += !scored[i];
        scored[i] = 1;
    }
    for (int k = 0; y && scored && m->nscore && k < s->n; k++) scored[k] = scored[k] == 1 ? 2 : 0;
    for (int k = 0; y && scored && k < m->nscore; k++) {
        int i = component_of(s, m->score[k].node);
        if (i >= 0 && scored[i]) scored[i] = 1;
    }
    for (int k = 0; y && scored && m->nscore && k < s->n; k++) scored[k] = scored[k] == 1;
    if (!found) return;
    p->reference = y;
    p->scored = scored;
    p->reference_digits = m->reference_digits > 0 ? m->reference_digits : 12;
    p->reference_source =
        m->reference_source[0] ? dae_problem_copy(p, m->reference_source) : "given in the file";
}

/* component[k]: which one the k-th name is, or -1: a column of derived, or nothing that can be drawn. */
void dae_equation_plot(dae_problem *p, const dae_model *m, const int *component)
{
    int *plot = dae_problem_ints(p, m->nplot + 1), *drawn = dae_problem_ints(p, m->nplot + 1);
    if (!plot || !drawn) return;
    p->nplot = p->ndrawn = 0;
    for (int k = 0; k < m->nplot; k++) {
        int i = component[k];
        if (i >= 0) plot[p->nplot++] = i;
        for (int q = 0; i < 0 && q < p->derived.ncolumn; q++) {
            if (!strcmp(p->derived.column[q], m->plot[k].name)) i = dae_system_size(&p->system) + q;
        }
        if (i >= 0) drawn[p->ndrawn++] = i;
    }
    p->plot = plot;
    p->drawn = drawn;
    p->plot_log_t = m->plot_log_t;
    p->plot_against = m->plot_against && p->ndrawn == 2;
}

static void set_plot(dae_problem *p, const dae_equation_object *o)
{
    int *component = dae_problem_ints(p, o->m->nplot + 1);
    for (int k = 0; component && k < o->m->nplot; k++) component[k] = component_of(o->s, o->m->plot[k].node);
    if (component) dae_equation_plot(p, o->m, component);
}

/* ---- The system ---------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Instants at which an expression of time switches, in the equations as they are written: where sides are frozen, what stands in a condition
 * with discrete values or variables (mod(t, T) < duty*T) is out of sight. */
static int find_instants(dae_equation_object *o)
{
    int *node = malloc(((size_t)o->m->nequation + 1) * sizeof *node);
    if (!node) return -1;
    for (int i = 0; i < o->m->nequation; i++) node[i] = o->m->equation[i].node;
    int n = dae_instants_find(o->m, o->m->nequation, node, &o->instant);
    free(node);
    return n;
}

/* Instants of switches in time and of clocks. */
int dae_equation_instants(dae_problem *p, dae_equation_object *o, dae_messages *messages)
{
    double *clock = NULL;
    int n = find_instants(o), more = dae_actions_instants(o->m, &clock);
    if (n == -2) {
        dae_messages_note(messages, (dae_place){0, 0},
                          "more than 100000 switches in time: they are not located");
        n = 0;
    }
    if (n < 0 || more < 0) {
        free(clock);
        return 0;
    }
    double *all = dae_problem_reals(p, n + more + 2);
    int count = 0;
    for (int k = 0; all && k < n; k++) all[count++] = o->instant[k];
    for (int k = 0; all && k < more; k++) all[count++] = clock[k];
    free(clock);
    if (!all) return 0;
    if (n) all[count++] = o->m->t1; /* a switch may lie there: what is behind it is not seen */
    qsort(all, (size_t)count, sizeof *all, by_size);
    int kept = 0;
    for (int k = 0; k < count; k++) {
        /* "at 0.3" and the instant of mod(t, 0.1) are neighbours, and evaluations behind the first are evaluations behind both */
        if (!kept || all[k] > nextafter(all[kept - 1], INFINITY)) all[kept++] = all[k];
    }
    if (o->m->t1 < o->m->t0) {
        for (int k = 0; k < kept / 2; k++) {
            double swap = all[k];
            all[k] = all[kept - 1 - k];
            all[kept - 1 - k] = swap;
        }
    }
    p->discontinuity = all;
    p->ndiscontinuity = kept;
    return 1;
}

/* What is known of an ODE: velocities in the second half, which the first half of f is, whether the other half needs them, or t. */
static void set_structure(dae_structure *known, const dae_model *m, const dae_first_order *s)
{
    int half = s->n / 2, *list = NULL, positions = s->n > 0 && s->n == 2 * half && s->n == s->ncontinuous;
    for (int i = 0; i < half && positions; i++) positions = s->rate[i] == s->leaf[half + i];
    if (!positions) return;
    int count = dae_graph_reach(m->graph, half, s->rate + half, &list), timely = 0, moving = 0;
    for (int k = 0; k < count; k++) {
        dae_node x = dae_graph_node(m->graph, list[k]);
        timely |= x.op == OP_TIME;
        if (x.op != OP_VARIABLE) continue;
        for (int i = half; i < s->n && !moving; i++) moving = s->leaf[i] == list[k];
    }
    free(list);
    if (count < 0) {
        dae_graph_starve(m->graph);
        return;
    }
    known->second_order = half;
    known->no_velocities = !moving;
    known->autonomous = !timely;
}

/* y' = f(t, y), or M y' = f(t, y) with the index of each component, or F(t, y, y') = 0. */
static void set_system(dae_problem *p, const dae_equation_object *o)
{
    const dae_first_order *s = o->s;
    if (o->implicit) {
        p->system = (dae_system){.kind = DAE_KIND_IDE,
                                 .ide = {.n = s->n,
                                         .residual = dae_implicit_residual,
                                         .algebraic = dae_implicit_algebraic(o->implicit),
                                         .user = o->implicit}};
        p->system.switches = dae_implicit_switches(o->implicit);
    } else if (s->dae) {
        p->system = (dae_system){.kind = DAE_KIND_DAE,
                                 .dae = {.n = s->n,
                                         .mass = dae_sparse(s->n, s->colptr, s->rowind, s->mass),
                                         .f = dae_flow_rhs,
                                         .jac = dae_flow_jacobian,
                                         .dfdt = dae_flow_time,
                                         .user = o->flow}};
    } else {
        p->system = (dae_system){.kind = DAE_KIND_ODE,
                                 .ode = {.n = s->n,
                                         .f = dae_flow_rhs,
                                         .jac = dae_flow_jacobian,
                                         .dfdt = dae_flow_time,
                                         .user = o->flow}};
        set_structure(&p->system.structure, o->m, s);
    }
    if (o->flow) p->system.structure.jacobian = dae_flow_pattern(o->flow);
    if (o->flow) p->system.switches = dae_flow_switches(o->flow);
    if (o->flow) p->system.poles = dae_flow_poles(o->flow);
    if (!o->system) return;
    int *index = dae_problem_ints(p, s->n + 1), highest = 1;
    for (int i = 0; index && i < s->n; i++) {
        index[i] = dae_equation_system_label(o->system, i);
        highest = index[i] > highest ? index[i] : highest;
    }
    if (s->dae && highest > 1 && highest <= 3) p->system.structure.index = index;
    p->forms = dae_equation_forms_create(o->system, o->implicit   ? "residual"
                                                    : highest > 1 ? "labels"
                                                                  : "mass");
}

/* The system: an ODE as it stands; else the equations are analyzed, and have more forms than one. 0: no memory, or messages tell. */
static int make_system(dae_equation_object *o, dae_messages *messages)
{
    dae_first_order *s = o->s = dae_first_order_find(o->m);
    int missing;
    if (!s) return 0;
    if (s->dae != 0) {
        o->system = dae_equation_system_create(o->m, s->n, s->ncontinuous, s->variable, s->order, messages);
        if (!o->system) return 0;
    }
    o->outputs = dae_outputs_create(o->m, s); /* before switches are written into the rates */
    if (!o->outputs) return 0;
    if (s->dae < 0) o->implicit = dae_implicit_create(o->m, s);
    else o->flow = dae_flow_create(o->m, s->n, s->leaf, s->rate, &missing);
    return o->implicit || o->flow;
}

/* Algebraic variables follow what an event assigned. */
static int settle(double t, double *y, const unsigned char *changed, void *user)
{
    dae_equation_object *o = user;
    const dae_equation_system *s = o->system;
    double *X = malloc(((size_t)s->analysis.total + 1) * sizeof *X);
    if (!X) return -1;
    int r = dae_equation_system_restart(o->system, t, y, changed, y + o->s->ncontinuous, s->initial.X, X);
    if (!r) dae_equation_system_components(s, X, y);
    free(X);
    return r;
}

/* ---- Outputs ------------------------------------------------------------------------------------- */

static int columns(const dae_problem *p, int count, const double *t, const double *y, const double *a,
                   const double *lambda, double *value)
{
    const dae_equation_object *o = dae_problem_object(p, dae_equation_object_destroy);
    size_t n = (size_t)o->s->n, m = (size_t)p->derived.ncolumn;
    (void)a, (void)lambda;
    for (size_t k = 0; k < (size_t)count; k++) {
        int bad = dae_outputs_values(o->outputs, t[k], y + k * n, value + k * m);
        if (bad) return bad;
    }
    return 0;
}

static void set_outputs(dae_problem *p, const dae_equation_object *o)
{
    int n = dae_outputs_count(o->outputs);
    const char **name = dae_problem_take(p, (size_t)n + 1, sizeof *name);
    const char **unit = dae_problem_take(p, (size_t)n + 1, sizeof *unit);
    for (int i = 0; name && unit && i < n; i++) {
        dae_dimension d = dae_outputs_dimension(o->outputs, i);
        d.soft = 0; /* a number without a unit took part: it is as good as the others say */
        name[i] = dae_problem_copy(p, dae_outputs_name(o->outputs, i));
        unit[i] = dae_equation_unit(p, &d);
    }
    if (!name || !unit || !n) return;
    p->derived = (dae_derived){.ncolumn = n, .column = name, .unit = unit, .columns = columns};
}

static int fill(dae_problem *p, dae_equation_object *o, int changed, dae_messages *messages)
{
    dae_model *m = o->m;
    dae_problem_info *info = dae_problem_take(p, 1, sizeof *info);
    o->tangents = dae_tangent_set_create();
    if (!info || !o->tangents || !make_system(o, messages)) return 0;
    o->actions = m->nevent ? dae_actions_create(m, o->s->n, o->s->leaf, messages) : NULL;
    if ((m->nevent && !o->actions) || !dae_equation_instants(p, o, messages)) return 0;
    if (o->actions && o->system) dae_actions_settle(o->actions, settle, o);
    set_system(p, o);
    name_components(p, o);
    dae_equation_parameters(p, m, info, 0);
    if (!set_start(p, o, messages)) return 0;
    set_options(p, o, messages);
    set_reference(p, o, changed);
    set_outputs(p, o);
    set_plot(p, o);
    p->events = dae_actions_events(o->actions);
    if (p->y0 && !dae_actions_begin(o->actions, p->t0, (double *)p->y0)) return 0;
    info->name = dae_problem_copy(p, m->name);
    info->title = dae_problem_copy(p, m->title[0] ? m->title : m->name);
    info->kind = p->system.kind;
    info->n = o->s->n;
    info->index = o->system ? o->system->analysis.sigma.index : 0;
    info->origin = "equation file";
    p->info = info;
    p->source = "equations";
    if (o->flow) p->tangents = &dae_equation_tangents;
    return !dae_problem_exhausted(p) && !messages->count && !dae_graph_failed(m->graph);
}

/* ---- Messages ------------------------------------------------------------------------------------ */

void dae_text_error_format(const dae_text_error *e, const char *text, size_t length, const char *file,
                           char *out, size_t size)
{
    size_t at = 0, end;
    if (e->line <= 0) {
        snprintf(out, size, "%s: %s", file ? file : "equations", e->text);
        return;
    }
    for (int line = 1; line < e->line && at < length; at++) line += text[at] == '\n';
    for (end = at; end < length && text[end] != '\n' && text[end] != '\r';) end++;
    size_t shown = end - at > 150 ? 150 : end - at, column = e->column > 0 ? (size_t)e->column - 1 : 0;
    int used = snprintf(out, size, "%s:%d:%d: %s", file ? file : "equations", e->line, e->column, e->text);
    if (column > shown || used < 0 || (size_t)used + 2 * shown + 20 > size) return;
    char *o = out + used;
    *o++ = '\n';
    for (size_t k = 0; k < shown; k++) {
        unsigned char c = (unsigned char)text[at + k];
        *o++ = c == '\t' ? ' ' : c < 32 || c == 127 ? '?' : (char)c;
    }
    *o++ = '\n';
    for (size_t k = 0; k < column; k++) *o++ = ' ';
    *o++ = '^';
    *o = 0;
}

static dae_text_error public_form(const dae_message *m)
{
    dae_text_error e = {.line = m->place.line, .column = m->place.column};
    snprintf(e.text, sizeof e.text, "%s", m->text);
    return e;
}

int dae_equations_errors(const char *text, size_t length, const char *file, const dae_setting *setting,
                         int nsetting, dae_text_error *out, int max)
{
    dae_messages *messages = calloc(1, sizeof *messages);
    if (!messages) return 0;
    dae_model_destroy(dae_model_read(text, length, file, setting, nsetting, messages));
    int count = messages->count < DAE_MODEL_MAX_ERRORS ? messages->count : DAE_MODEL_MAX_ERRORS;
    for (int k = 0; k < count && k < max; k++) out[k] = public_form(&messages->error[k]);
    free(messages);
    return count;
}

dae_problem *dae_equations_problem(const char *text, size_t length, const char *file,
                                   const dae_setting *setting, int nsetting, dae_error *err)
{
    dae_messages *messages = calloc(1, sizeof *messages);
    dae_equation_object *o = calloc(1, sizeof *o);
    dae_problem *p = messages && o ? dae_problem_new("of equations", err) : NULL;
    dae_error inner = {0};
    unsigned long long files = 0;
    int good = 0;
    if (p) {
        dae_problem_own(p, o, dae_equation_object_destroy);
        o->m = dae_model_read(text, length, file, setting, nsetting, messages);
        files = o->m ? o->m->files : 0;
        if (o->m && o->m->mechanism) { /* p stays with the equations */
            dae_problem *coupled = dae_coupled_problem(p, o, nsetting > 0, messages, &inner);
            good = coupled != NULL;
            p = coupled;
        } else {
            good = o->m && fill(p, o, nsetting > 0, messages);
        }
        if (p && !good && o->m && dae_graph_failed(o->m->graph) == DAE_GRAPH_STARVED)
            dae_messages_starved(messages);
    } else {
        dae_equation_object_destroy(o);
    }
    if (!good && messages && messages->count && !messages->starved) {
        char full[sizeof err->text];
        dae_text_error e = public_form(&messages->error[0]);
        dae_text_error_format(&e, text, length, file, full, sizeof full);
        dae_fail(err, DAE_ERR_INPUT, NAN, "%s", full);
    } else if (!good && inner.status && inner.status != DAE_ERR_MEMORY) {
        dae_fail(err, inner.status, inner.t, "%s%s%s", file ? file : "", file ? ": " : "", inner.text);
    } else if (!good) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the equations%s%s", file ? " of " : "",
                 file ? file : "");
    }
    free(messages);
    if (good) p->hash = files;
    if (good) return p;
    dae_problem_destroy(p);
    return NULL;
}
