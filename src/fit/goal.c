/* Goals: expressions of functionals of a run. A functional is one of
 *
 *     final    E at the end
 *     integral of E over t under error control (dae_quadrature); mean: divided by the length; rms: root of the mean of E^2
 *     maximum, minimum of E on a uniform grid
 *
 * Its derivative by a parameter is that of E along the derivative of the solution, d E = E_y s + E_p; that of an extreme is taken
 * where the extreme is. The text of a functional is cut out of the goal and read as an expression of its own; in the goal it
 * is a variable. */
#include "fit/goal.h"

#include <daedalus/quadrature.h>

#include "core/number.h"
#include "problem/problem.h"
#include "sensitivity/family.h"
#include "sensitivity/quantity.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_functionals = 64, longest = 4000, number_length = 100 };

typedef enum kind { FINAL, INTEGRAL, MEAN, RMS, MAXIMUM, MINIMUM } kind;
static const char *const word[] = {"final", "integral", "mean", "rms", "maximum", "minimum"};

typedef struct functional {
    kind kind;
    char *text;
    dae_expression *e;
    double value, *gradient; /* np */
} functional;

struct dae_goals {
    const dae_problem *p;
    const dae_fit_free *free;
    int np, n, ncolumn, nparameter;
    const dae_sensitivity_options *opt;
    int points;
    int *parameter, *component; /* np: as in dae_fitting */
    functional list[most_functionals];
    int nlist;
    dae_expression **goal;
    int ngoal;
    double *x, *dx; /* values and derivatives of the variables of an expression */
    double *work;
    double *derived, *value; /* columns and their derivatives; all variables of functionals at a point */
};

static dae_status no_memory(dae_error *err)
{
    return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

/* ---- Names ---------------------------------------------------------------------------------------------------- */

static int add(dae_goals *g, kind what, const char *text, size_t length, dae_expression_error *err)
{
    if (g->nlist == most_functionals) {
        snprintf(err->text, sizeof err->text, "more than %d functionals", most_functionals);
        return -1;
    }
    functional *f = &g->list[g->nlist];
    f->kind = what;
    f->text = malloc(length + 1);
    f->gradient = calloc((size_t)g->np + 1, sizeof *f->gradient);
    if (!f->text || !f->gradient) {
        snprintf(err->text, sizeof err->text, "out of memory");
        return g->nlist++, -1;
    }
    memcpy(f->text, text, length);
    f->text[length] = 0;
    f->e = dae_expression_create(f->text, dae_quantity_lookup, (void *)g->p, err);
    g->nlist++;
    return f->e ? g->nlist - 1 : -1;
}

/* In a goal: "functional_3" is number 3; a component or sensor is its value at the end; a parameter is itself, behind the
 * functionals. */
static int lookup_outer(const char *name, dae_symbol *out, void *user)
{
    dae_goals *g = user;
    int k = -1, v = dae_quantity_find(g->p, name);
    dae_expression_error ignored = {0};
    if (!strncmp(name, "functional_", 11)) k = atoi(name + 11);
    else if (v >= g->n + g->ncolumn + 1) k = most_functionals + v - (g->n + g->ncolumn + 1);
    else if (v >= 0) k = add(g, FINAL, name, strlen(name), &ignored);
    if (k < 0) return 0;
    *out = (dae_symbol){.variable = k, .dimension = {.soft = 1}};
    return 1;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static int is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Copies the text with functionals cut out. */
static int cut_out(dae_goals *g, const char *text, char *out, dae_expression_error *err)
{
    size_t used = 0;
    for (const char *p = text; *p;) {
        size_t n = 0;
        while (is_letter(p[n])) n++;
        int k = -1;
        for (int i = 0; i < 6 && n; i++) {
            if (strlen(word[i]) == n && !strncmp(word[i], p, n) && p[n] == '(') k = i;
        }
        if (used + n + 40 > longest) {
            snprintf(err->text, sizeof err->text, "the text is too long");
            return -1;
        }
        if (k < 0) { /* a name, or one other character */
            size_t m = n ? n : 1;
            memcpy(out + used, p, m);
            used += m;
            p += m;
            continue;
        }
        const char *from = p + n + 1, *end = from;
        for (int depth = 1; *end; end++) {
            depth += (*end == '(') - (*end == ')');
            if (!depth) break;
        }
        if (!*end) {
            err->column = (int)(p - text);
            snprintf(err->text, sizeof err->text, "%s( is not closed", word[k]);
            return -1;
        }
        int number = add(g, (kind)k, from, (size_t)(end - from), err);
        if (number < 0) {
            err->column += (int)(from - text);
            return -1;
        }
        used += (size_t)snprintf(out + used, longest - used, "functional_%d", number);
        p = end + 1;
    }
    out[used] = 0;
    return 0;
}

static dae_status read_goal(dae_goals *g, int i, const char *text, dae_error *err)
{
    dae_expression_error at = {0};
    char *plain = malloc(longest + 1);
    if (!plain) return no_memory(err);
    if (strlen(text) < longest && !cut_out(g, text, plain, &at))
        g->goal[i] = dae_expression_create(plain, lookup_outer, g, &at);
    free(plain);
    if (g->goal[i]) return DAE_OK;
    return dae_fail(err, dae_message_status(at.text), NAN, "\"%.80s\", column %d: %.120s", text,
                    at.column + 1, at.text[0] ? at.text : "the text is too long");
}

static dae_status find_free(dae_goals *g, int j, dae_error *err)
{
    const char *name = g->free[j].name;
    if (dae_problem_variable(g->p, name, &g->parameter[j], &g->component[j])) return DAE_OK;
    return dae_fail(err, DAE_ERR_INPUT, NAN,
                    "there is no parameter and no component \"%s\" that could be free", name);
}

dae_goals *dae_goals_open(const dae_problem *p, const dae_fit_free *free_list, int np,
                          const char *const *text, int count, int points, const dae_sensitivity_options *opt,
                          dae_error *err)
{
    dae_goals *g = calloc(1, sizeof *g);
    if (!g) {
        no_memory(err);
        return NULL;
    }
    g->p = p;
    g->free = free_list;
    g->np = np;
    g->n = dae_system_size(&p->system);
    g->ncolumn = p->derived.ncolumn;
    g->opt = opt;
    g->points = points | 1;
    for (const dae_parameter *q = p->info ? p->info->parameter : NULL; q && q->name; q++) g->nparameter++;
    size_t variables = (size_t)(g->n + g->ncolumn + 1 + g->nparameter + most_functionals);
    g->parameter = calloc(2 * (size_t)np + 2, sizeof *g->parameter);
    g->component = g->parameter ? g->parameter + np : NULL;
    g->goal = calloc((size_t)count + 1, sizeof *g->goal);
    g->x = calloc(2 * variables + 2, sizeof *g->x);
    g->dx = g->x ? g->x + variables : NULL;
    g->value = calloc(variables + 1, sizeof *g->value);
    g->derived = calloc((size_t)g->ncolumn * (size_t)(np + 1) + 1, sizeof *g->derived);
    dae_status s = g->parameter && g->goal && g->x && g->value && g->derived ? DAE_OK : no_memory(err);
    for (int j = 0; j < np && s >= 0; j++) s = find_free(g, j, err);
    for (int i = 0; i < count && s >= 0; i++, g->ngoal++) s = read_goal(g, i, text[i], err);
    size_t work = 0;
    for (int i = 0; s >= 0 && i < g->ngoal + g->nlist; i++) {
        size_t one = dae_expression_work(i < g->ngoal ? g->goal[i] : g->list[i - g->ngoal].e);
        if (one > work) work = one;
    }
    if (s >= 0 && !(g->work = malloc((work + 1) * sizeof *g->work))) s = no_memory(err);
    if (s >= 0) return g;
    dae_goals_close(g);
    return NULL;
}

void dae_goals_close(dae_goals *g)
{
    if (!g) return;
    for (int i = 0; i < g->nlist; i++) {
        dae_expression_destroy(g->list[i].e);
        free(g->list[i].text);
        free(g->list[i].gradient);
    }
    for (int i = 0; g->goal && i < g->ngoal; i++) dae_expression_destroy(g->goal[i]);
    free(g->parameter);
    free(g->goal);
    free(g->x);
    free(g->value);
    free(g->derived);
    free(g->work);
    free(g);
}

/* ---- Along a run -------------------------------------------------------------------------------------------------- */

static int is_integral(const functional *f)
{
    return f->kind == INTEGRAL || f->kind == MEAN || f->kind == RMS;
}

/* What a point adds: the last point, or an extreme so far. */
static void take_point(dae_goals *g, functional *f, const double *s, int first, int last)
{
    const int *variable;
    int nv = dae_expression_variables(f->e, &variable);
    if (is_integral(f) || (f->kind == FINAL && !last)) return;
    for (int i = 0; i < nv; i++) g->x[i] = g->value[variable[i]];
    double e = dae_expression_gradient(f->e, g->x, g->dx, g->work);
    if (f->kind == MAXIMUM && !first && e <= f->value) return;
    if (f->kind == MINIMUM && !first && e >= f->value) return;
    f->value = e;
    for (int j = 0; j < g->np; j++) {
        double d = 0;
        for (int i = 0; i < nv && s; i++) {
            int v = variable[i];
            if (v < g->n) d += g->dx[i] * s[v + g->n * j];
            else if (v < g->n + g->ncolumn) d += g->dx[i] * g->derived[g->ncolumn * (1 + j) + v - g->n];
            else if (v > g->n + g->ncolumn && v - (g->n + g->ncolumn + 1) == g->parameter[j]) d += g->dx[i];
        }
        f->gradient[j] = d;
    }
}

/* A functional from the integral of E, or of E^2. */
static void finish(const dae_goals *g, functional *f, double length)
{
    double scale = f->kind == INTEGRAL ? 1 : 1 / length;
    f->value *= scale;
    for (int j = 0; j < g->np; j++) f->gradient[j] *= scale;
    if (f->kind != RMS) return;
    f->value = sqrt(f->value);
    for (int j = 0; j < g->np; j++) f->gradient[j] = f->value > 0 ? f->gradient[j] / (2 * f->value) : 0;
}

/* The problem with the free parameters at x. */
static dae_problem *open_at(const dae_goals *g, const double *x, dae_error *err)
{
    dae_setting *list = calloc((size_t)g->np + 1, sizeof *list),
                *init = calloc((size_t)g->np + 1, sizeof *init);
    char *text = calloc(2 * (size_t)g->np + 2, number_length), buffer[40];
    int count = 0, ninit = 0;
    dae_problem *v = NULL;
    for (int j = 0; list && init && text && j < g->np; j++) {
        char *value = text + (size_t)(2 * j) * number_length, *name = value + number_length;
        if (g->parameter[j] >= 0) {
            dae_parameter_text(g->p, g->parameter[j], x[j], value, number_length);
            list[count++] = (dae_setting){g->free[j].name, value};
        } else {
            dae_snprintf(value, number_length, "%.17g", x[j]);
            snprintf(name, number_length, "%.90s",
                     dae_component_name(g->p, g->component[j], buffer, sizeof buffer));
            init[ninit++] = (dae_setting){name, value};
        }
    }
    if (list && init && text) v = dae_problem_variant(g->p, list, count, err);
    else no_memory(err);
    if (v && ninit && dae_problem_start(v, v->t0, init, ninit, err) < 0) {
        dae_problem_destroy(v);
        v = NULL;
    }
    free(list);
    free(init);
    free(text);
    return v;
}

static dae_simulation_options options_of(const dae_goals *g, const dae_problem *q)
{
    dae_simulation_options o = dae_simulation_options_default(q);
    const dae_options *given = &g->opt->simulation.options;
    o.options.method = given->method;
    o.options.formulation = given->formulation;
    o.options.rtol = given->rtol;
    o.options.atol = given->atol;
    o.options.stop = given->stop;
    o.options.stop_user = given->stop_user;
    return o;
}

static dae_status ended_early(double t, dae_error *err)
{
    return dae_fail(err, DAE_ERR_EVENT, t, "the run was ended by an event at t = %g", t);
}

/* The texts of all integrals; those of E^2 in *square, one block to be freed. 0: no memory. */
static int integrands(const dae_goals *g, const char **text, char **square)
{
    size_t size = 1, used = 0;
    for (int i = 0; i < g->nlist; i++) size += strlen(g->list[i].text) + 8;
    char *all = *square = malloc(size);
    for (int i = 0, k = 0; all && i < g->nlist; i++) {
        if (!is_integral(&g->list[i])) continue;
        text[k++] = g->list[i].kind == RMS ? all + used : g->list[i].text;
        if (g->list[i].kind == RMS)
            used += (size_t)dae_snprintf(all + used, size - used, "(%s)^2", g->list[i].text) + 1;
    }
    return all != NULL;
}

/* All integrals, and their derivatives by the names (NULL: not wanted). */
static dae_status integrate(dae_goals *g, const dae_problem *q, const char *const *name, dae_error *err)
{
    const char *text[most_functionals];
    char *square = NULL;
    int count = 0;
    for (int i = 0; i < g->nlist; i++) count += is_integral(&g->list[i]);
    if (!count) return DAE_OK;
    dae_quadrature_options o = dae_quadrature_options_default(q);
    o.simulation = options_of(g, q);
    o.by = name;
    o.nby = name ? g->np : 0;
    double *value = malloc((size_t)(count * (1 + g->np)) * sizeof *value),
           *derivative = value ? value + count : NULL;
    dae_status s = value && integrands(g, text, &square) ? DAE_OK : no_memory(err);
    if (s >= 0) s = dae_quadrature(q, &o, text, count, NULL, 0, value, NULL, name ? derivative : NULL, err);
    if (s == DAE_EVENT) s = ended_early(err->t, err);
    for (int i = 0, k = 0; i < g->nlist && s == DAE_OK; i++) {
        functional *f = &g->list[i];
        if (!is_integral(f)) continue;
        f->value = value[k];
        for (int j = 0; j < g->np && name; j++) f->gradient[j] = derivative[k + count * j];
        finish(g, f, q->t_end - q->t0);
        k++;
    }
    free(value);
    free(square);
    return s;
}

/* Values at the end and extremes; integrals have a run of their own. */
static dae_status run(dae_goals *g, dae_problem *q, int derive, dae_error *err)
{
    dae_sensitivity_options o = {.simulation = options_of(g, q), .mode = g->opt->mode, .uncontrolled = 1};
    const char *name[64];
    int at_end = 0, extremes = 0, needs = 0;
    for (int j = 0; j < g->np; j++) name[j] = g->free[j].name;
    for (int i = 0; i < g->nlist; i++) {
        functional *f = &g->list[i];
        const int *v;
        int nv = dae_expression_variables(f->e, &v);
        f->value = 0;
        memset(f->gradient, 0, (size_t)g->np * sizeof *f->gradient);
        for (int k = 0; k < nv && !is_integral(f); k++) needs |= v[k] >= g->n && v[k] < g->n + g->ncolumn;
        at_end |= f->kind == FINAL;
        extremes |= f->kind == MAXIMUM || f->kind == MINIMUM;
    }
    dae_status done = integrate(g, q, derive ? name : NULL, err);
    if (done != DAE_OK || (!at_end && !extremes && g->nlist)) return done;
    dae_sensitivity *s = derive ? dae_sensitivity_open(q, &o, name, g->np, err) : NULL;
    dae_simulation *plain = derive ? NULL : dae_simulation_open(q, &o.simulation, err);
    dae_status status = s || plain ? DAE_OK : err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    if (status >= 0) status = s ? dae_sensitivity_start(s, err) : dae_simulation_start(plain, err);
    for (int k = extremes ? 0 : g->points - 1; k < g->points && status >= 0; k++) {
        double t = q->t0 + (q->t_end - q->t0) * k / (g->points - 1);
        if (k) status = s ? dae_sensitivity_advance(s, t, err) : dae_simulation_advance(plain, t, err);
        double now = s ? dae_sensitivity_time(s) : dae_simulation_time(plain);
        if (status == DAE_CANCELLED) break;
        if (status >= 0 && now < t - 1e-9 * fabs(q->t_end - q->t0)) status = ended_early(now, err);
        if (status < 0) break;
        const double *y = s ? dae_sensitivity_state(s) : dae_simulation_state(plain);
        memcpy(g->value, y, (size_t)g->n * sizeof *y);
        if (needs && s) status = dae_sensitivity_columns(s, g->derived, g->derived + g->ncolumn, err);
        else if (needs) status = dae_problem_columns(q, now, y, g->derived, err);
        if (needs) memcpy(g->value + g->n, g->derived, (size_t)g->ncolumn * sizeof *g->derived);
        g->value[g->n + g->ncolumn] = now;
        for (int i = 0; i < g->nparameter; i++) g->value[g->n + g->ncolumn + 1 + i] = q->parameter[i];
        const double *d = s ? dae_sensitivity_values(s) : NULL;
        for (int i = 0; i < g->nlist; i++) take_point(g, &g->list[i], d, k == 0, k == g->points - 1);
    }
    dae_sensitivity_close(s);
    dae_simulation_close(plain);
    return status;
}

dae_status dae_goals_evaluate(dae_goals *g, const double *x, double *value, double *gradient, dae_error *err)
{
    if (g->np > 64) return dae_fail(err, DAE_ERR_INPUT, NAN, "more than 64 free parameters");
    dae_problem *q = open_at(g, x, err);
    if (!q) return err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    dae_status s = run(g, q, gradient != NULL, err);
    for (int i = 0; i < g->ngoal && s >= 0 && s != DAE_CANCELLED; i++) {
        const int *variable;
        int nv = dae_expression_variables(g->goal[i], &variable);
        for (int k = 0; k < nv; k++)
            g->x[k] = variable[k] < most_functionals ? g->list[variable[k]].value
                                                     : q->parameter[variable[k] - most_functionals];
        value[i] = dae_expression_gradient(g->goal[i], g->x, g->dx, g->work);
        if (!isfinite(value[i]))
            s = dae_fail(err, DAE_ERR_UNDEFINED, NAN, "what is minimized or must hold is not finite");
        for (int j = 0; gradient && j < g->np; j++) {
            double d = 0;
            for (int k = 0; k < nv; k++) {
                if (variable[k] < most_functionals) d += g->dx[k] * g->list[variable[k]].gradient[j];
                else if (variable[k] - most_functionals == g->parameter[j]) d += g->dx[k];
            }
            gradient[i * g->np + j] = d;
        }
    }
    dae_problem_destroy(q);
    return s;
}
