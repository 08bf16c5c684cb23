/* An equation file as a C source for the public interface: y' = f, M y' = f with the index of each variable, or F(t, y, y') = 0, with
 * Jacobian, switches, events, initial values and names, as one dae_problem. It compiles to a program of its own, and to a file that every
 * command takes (daedalus build).
 *
 * Not written: forms that need the analysis while they run (statespace, index1), `let` as outputs; a system whose algebraic variables
 * have to follow an event is refused. */
#include "equations/branches.h"
#include "equations/problem.h"
#include "language/c_writer.h"

#include <daedalus/equations.h>
#include <daedalus/version.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct writer {
    dae_c_writer w;
    const dae_problem *p;
    const dae_equation_object *o;
    dae_flow_parts flow; /* of an explicit system */
    int switches;
} writer;

#define PUT(x, ...) dae_c_put(&(x)->w, __VA_ARGS__)

static void put_lines(writer *x, size_t n, const char *const *line)
{
    for (size_t k = 0; k < n; k++) PUT(x, "%s\n", line[k]);
}
#define LINES(x, lines) put_lines(x, sizeof(lines) / sizeof *(lines), lines)

/* ---- Data ---------------------------------------------------------------------------------------- */

static void put_reals(writer *x, const char *name, int n, const double *value)
{
    PUT(x, "static const double %s[] = {", name);
    for (int i = 0; i < n; i++) {
        PUT(x, "%s", i == 0 ? "" : i % 6 ? ", " : ",\n    ");
        dae_c_number(&x->w, value[i]);
    }
    PUT(x, "%s};\n", n ? "" : "0");
}

static void put_ints(writer *x, const char *name, int n, const int *value)
{
    PUT(x, "static const int %s[] = {", name);
    for (int i = 0; i < n; i++) PUT(x, "%s%d", i == 0 ? "" : i % 20 ? ", " : ",\n    ", value[i]);
    PUT(x, "%s};\n", n ? "" : "0");
}

static void put_strings(writer *x, const char *name, int n, const char *const *value)
{
    PUT(x, "static const char *const %s[] = {", name);
    for (int i = 0; i < n; i++) {
        PUT(x, "%s", i == 0 ? "" : i % 10 ? ", " : ",\n    ");
        dae_c_string(&x->w, value[i]);
    }
    PUT(x, "%s};\n", n ? "" : "0");
}

static void put_parameters(writer *x)
{
    const dae_model *m = x->o->m;
    PUT(x, "static const double parameter[] = {\n");
    for (int i = 0; i < m->nparameter; i++) {
        PUT(x, "    ");
        dae_c_number(&x->w, m->parameter[i].value);
        PUT(x, ", /* p[%d]: %.60s */\n", i, m->parameter[i].name); /* names are letters, digits, . [ ] */
    }
    PUT(x, "    0};\n\n");
}

/* ---- Functions ----------------------------------------------------------------------------------- */

static const char *const plain_calls[] = {
    "static int rhs(double t, const double *y, double *f, void *user)",
    "{",
    "    (void)user;",
    "    f_of(t, parameter, y, 0, f);",
    "    return 0;",
    "}",
    "",
    "static int jacobian(double t, const double *y, double *jac, void *user)",
    "{",
    "    (void)user;",
    "    jacobian_of(t, parameter, y, 0, jac);",
    "    return 0;",
    "}",
    "",
    "static int by_time(double t, const double *y, double *f, void *user)",
    "{",
    "    (void)user;",
    "    time_of(t, parameter, y, 0, f);",
    "    return 0;",
    "}",
    "",
};

/* Sides as the driver froze them, or as the state says; see dae_switches in daedalus/system.h. */
static const char *const switch_calls[] = {
    "typedef struct run_data { /* of one run */",
    "    int side[SWITCHES];",
    "} run_data;",
    "",
    "static int side_of(int i, double x)",
    "{",
    "    if (switch_kind[i] == 0) return x > 0 ? 1 : -1;",
    "    if (switch_kind[i] == 1) return fabs(x) < 1e9 ? (int)floor(x) : 0;",
    "    return curve_segment(switch_curve[i], x);",
    "}",
    "",
    "static double margin_of(int i, int side, double x, int *next)",
    "{",
    "    double lo = side, hi = (double)side + 1;",
    "    *next = -side;",
    "    if (switch_kind[i] == 0) return side * x;",
    "    if (switch_kind[i] == 2) {",
    "        const curve *c = switch_curve[i];",
    "        double shift;",
    "        int k = curve_cell(c, side, &shift);",
    "        lo = k < 0 ? -HUGE_VAL : c->x[k < c->n ? k : c->n - 1] + shift;",
    "        hi = k + 1 >= c->n ? HUGE_VAL : c->x[k + 1] + shift;",
    "    }",
    "    *next = x - lo < hi - x ? side - 1 : side + 1;",
    "    return fmin(x - lo, hi - x);",
    "}",
    "",
    "static void load_sides(const run_data *r, double t, const double *y, double *s)",
    "{",
    "    double x[SWITCHES], none[SWITCHES] = {0};",
    "    int is_free = 0;",
    "    for (int i = 0; i < SWITCHES; i++) is_free |= r->side[i] == DAE_SIDE_FREE;",
    "    if (is_free) decision_of(t, parameter, y, none, x);",
    "    for (int i = 0; i < SWITCHES; i++) s[i] = r->side[i] == DAE_SIDE_FREE ? side_of(i, x[i]) : "
    "r->side[i];",
    "}",
    "",
    "static int rhs(double t, const double *y, double *f, void *user)",
    "{",
    "    double s[SWITCHES];",
    "    load_sides(user, t, y, s);",
    "    f_of(t, parameter, y, s, f);",
    "    return 0;",
    "}",
    "",
    "static int jacobian(double t, const double *y, double *jac, void *user)",
    "{",
    "    double s[SWITCHES];",
    "    load_sides(user, t, y, s);",
    "    jacobian_of(t, parameter, y, s, jac);",
    "    return 0;",
    "}",
    "",
    "static int by_time(double t, const double *y, double *f, void *user)",
    "{",
    "    double s[SWITCHES];",
    "    load_sides(user, t, y, s);",
    "    time_of(t, parameter, y, s, f);",
    "    return 0;",
    "}",
    "",
    "static int switch_values(double t, const double *y, const int *side, double *margin, int *next, void "
    "*user)",
    "{",
    "    double s[SWITCHES], x[SWITCHES], literal[SWITCHES], none[SWITCHES] = {0};",
    "    load_sides(user, t, y, s);",
    "    frozen_of(t, parameter, y, s, x);",
    "    decision_of(t, parameter, y, none, literal);",
    "    for (int i = 0; i < SWITCHES; i++) {",
    "        margin[i] = 0;",
    "        if (side[i] == DAE_SIDE_FREE) next[i] = side_of(i, literal[i]);",
    "        else margin[i] = margin_of(i, side[i], x[i], &next[i]);",
    "    }",
    "    return 0;",
    "}",
    "",
    "static const char *name_of_switch(int i, void *user)",
    "{",
    "    (void)user;",
    "    return switch_name[i];",
    "}",
    "",
    "static dae_status bind_run(const dae_system *sys, dae_system *own, dae_error *err)",
    "{",
    "    run_data *r = malloc(sizeof *r);",
    "    (void)err;",
    "    if (!r) return DAE_ERR_MEMORY;",
    "    for (int i = 0; i < SWITCHES; i++) r->side[i] = DAE_SIDE_FREE;",
    "    *own = *sys;",
    "    own->switches.side = r->side;",
    "    own->switches.user = r;",
    "    if (own->kind == DAE_KIND_ODE) own->ode.user = r;",
    "    else own->dae.user = r;",
    "    return DAE_OK;",
    "}",
    "",
    "static void release_run(dae_system *own)",
    "{",
    "    free(own->switches.user);",
    "}",
    "",
    "static run_data no_run;",
    "",
};

static void put_switches(writer *x)
{
    const dae_branches *b = x->flow.branches;
    PUT(x, "enum { SWITCHES = %d };\nstatic const int switch_kind[] = {", b->count);
    for (int i = 0; i < b->count; i++)
        PUT(x, "%s%d", i ? ", " : "",
            b->branch[i].kind == DAE_BRANCH_SIGN    ? 0
            : b->branch[i].kind == DAE_BRANCH_WHOLE ? 1
                                                    : 2);
    PUT(x, "}; /* a sign, a whole number, a segment of a table */\nstatic const curve *const switch_curve[] "
           "= {");
    for (int i = 0; i < b->count; i++) {
        if (b->branch[i].kind == DAE_BRANCH_SEGMENT) PUT(x, "%s&curve_%d", i ? ", " : "", b->branch[i].curve);
        else PUT(x, "%s0", i ? ", " : "");
    }
    PUT(x, "};\n");
    put_strings(x, "switch_name", b->count, x->flow.switch_name);
    PUT(x, "\n");
    LINES(x, switch_calls);
}

static void put_explicit(writer *x)
{
    int np = x->flow.nparameter, n = x->o->s->n;
    dae_c_function(&x->w, x->flow.f, "f_of", np, n);
    dae_c_function(&x->w, x->flow.jacobian, "jacobian_of", np, n);
    dae_c_function(&x->w, x->flow.time, "time_of", np, n);
    if (x->switches) {
        dae_c_function(&x->w, x->flow.literal, "decision_of", np, n);
        dae_c_function(&x->w, x->flow.frozen, "frozen_of", np, n);
        put_switches(x);
    } else {
        LINES(x, plain_calls);
    }
}

/* F(t, y, y'): the equations stand in the rows of the highest orders, the others say y_i' = y_next. */
static int put_implicit(writer *x)
{
    const dae_first_order *s = x->o->s;
    dae_model *m = x->o->m;
    int np = m->nparameter, k = 0, good;
    int *input = malloc((size_t)(1 + np + 2 * s->n) * sizeof *input);
    int *node = malloc(((size_t)m->nequation + 1) * sizeof *node);
    int *place = malloc(((size_t)m->nequation + 1) * sizeof *place);
    good = input && node && place;
    if (good) {
        input[k++] = dae_graph_time(m->graph);
        for (int i = 0; i < np; i++) input[k++] = dae_graph_parameter(m->graph, i);
        for (int i = 0; i < s->n; i++) input[k++] = s->leaf[i];
        for (int i = 0; i < s->n; i++)
            input[k++] = i < s->ncontinuous && s->top[s->variable[i]] == i
                             ? dae_graph_variable(m->graph, s->variable[i], s->order[i] + 1)
                             : s->leaf[i];
        for (int i = 0; i < m->nequation; i++) node[i] = m->equation[i].node, place[i] = s->top[i];
    }
    dae_program *p =
        good ? dae_program_create_split(m->graph, k, input, 0, 1 + np, s->n, m->nequation, node, place, NULL)
             : NULL;
    if (p) {
        dae_c_prelude(&x->w, p);
        dae_c_function(&x->w, p, "residual_of", np, s->n);
        PUT(x, "static int residual(double t, const double *y, const double *yp, double *F, void *user)\n{\n"
               "    (void)user;\n    residual_of(t, parameter, y, yp, F);\n");
        for (int i = 0; i < s->n; i++) {
            if (i >= s->ncontinuous) PUT(x, "    F[%d] = yp[%d];\n", i, i);
            else if (s->top[s->variable[i]] != i) {
                for (int q = 0; q < s->ncontinuous; q++) {
                    if (s->variable[q] == s->variable[i] && s->order[q] == s->order[i] + 1)
                        PUT(x, "    F[%d] = yp[%d] - y[%d];\n", i, i, q);
                }
            }
        }
        PUT(x, "    return 0;\n}\n\n");
    }
    free(input);
    free(node);
    free(place);
    dae_program_destroy(p);
    return p != NULL;
}

/* ---- Events -------------------------------------------------------------------------------------- */

static const char *const event_calls[] = {
    "static int phi(double t, const double *y, const double *yp, double *out, void *user)",
    "{",
    "    (void)yp, (void)user;",
    "    phi_of(t, parameter, y, 0, out);",
    "    return 0;",
    "}",
    "",
    "/* All events of an instant: right sides see the values before it; then conditions that became true by "
    "it, at most 20 rounds. */",
    "static int instant(int *count, int room, int *index, int *rising, double t, double *y, double *yp, void "
    "*user,",
    "                   dae_error *err)",
    "{",
    "    enum { events = sizeof stops / sizeof *stops };",
    "    double value[sizeof target / sizeof *target], before[events], after[events];",
    "    unsigned char fires[events] = {0};",
    "    int answer = 0;",
    "    (void)rising, (void)yp, (void)user;",
    "    for (int k = 0; k < *count; k++) fires[index[k]] = 1;",
    "    phi_of(t, parameter, y, 0, before);",
    "    for (int round = 0, next = 1; next; round++) {",
    "        int assigned = 0, by[sizeof target / sizeof *target];",
    "        next = 0;",
    "        value_of(t, parameter, y, 0, value);",
    "        for (int i = 0, m = 0; i < events; i++) {",
    "            if (!fires[i]) continue;",
    "            if (stops[i]) answer = DAE_EVENT_STOP;",
    "            for (int k = first[i]; k < first[i + 1]; k++, assigned = 1) {",
    "                for (int q = 0; q < m; q++) {",
    "                    if (target[by[q]] != target[k] || by[q] >= first[i]) continue;",
    "                    err->status = DAE_ERR_EVENT;",
    "                    snprintf(err->text, sizeof err->text, \"two events of one instant assign one "
    "variable\");",
    "                    return -1;",
    "                }",
    "                by[m++] = k;",
    "                y[target[k]] = value[k];",
    "            }",
    "        }",
    "        if (!assigned) break;",
    "        if (answer != DAE_EVENT_STOP) answer = DAE_EVENT_RESTART;",
    "        else break;",
    "        phi_of(t, parameter, y, 0, after);",
    "        for (int i = 0; i < events; i++) {",
    "            double was = fires[i] && !both[i] ? 1 : before[i];",
    "            fires[i] = (was <= 0 && after[i] > 0) || (both[i] && was > 0 && after[i] < 0 && !fires[i]);",
    "            if (fires[i] && *count < room) index[*count] = i, rising[(*count)++] = after[i] > 0;",
    "            next |= fires[i];",
    "            before[i] = after[i];",
    "        }",
    "        if (next && round == 19) {",
    "            err->status = DAE_ERR_EVENT;",
    "            snprintf(err->text, sizeof err->text, \"events set off each other without end\");",
    "            return -1;",
    "        }",
    "    }",
    "    return answer;",
    "}",
    "",
    "static int act(int i, double t, int rising, double *y, double *yp, void *user)",
    "{",
    "    int index[64] = {i}, up[64] = {rising}, count = 1;",
    "    dae_error err = {0};",
    "    return instant(&count, 64, index, up, t, y, yp, user, &err);",
    "}",
    "",
};

static void put_events(writer *x)
{
    const dae_events *e = x->p->events;
    dae_actions_parts a = dae_actions_look(x->o->actions);
    int np = x->flow.nparameter, n = x->o->s->n, last = a.first[a.count];
    dae_c_function(&x->w, a.phi, "phi_of", np, n);
    dae_c_function(&x->w, a.value, "value_of", np, n);
    put_ints(x, "first", a.count + 1, a.first);
    put_ints(x, "stops", a.count, a.stop);
    PUT(x, "static const int both[] = {");
    for (int i = 0; i < a.count; i++) PUT(x, "%s%d", i ? ", " : "", e->event[i].direction == DAE_BOTH);
    PUT(x, "};\n");
    PUT(x, "static const int target[] = {");
    for (int k = 0; k < last; k++) PUT(x, "%s%d", k ? ", " : "", dae_actions_target(x->o->actions, k));
    PUT(x, "%s};\n\n", last ? "" : "0");
    LINES(x, event_calls);
    PUT(x, "static const dae_event event[] = {\n");
    for (int i = 0; i < a.count; i++) {
        PUT(x, "    {.name = ");
        dae_c_string(&x->w, e->event[i].name);
        PUT(x, ", .direction = %s},\n", e->event[i].direction == DAE_BOTH ? "DAE_BOTH" : "DAE_RISING");
    }
    PUT(x,
        "};\nstatic const dae_events events = {.count = %d, .event = event, .phi = phi, .action = act, "
        ".instant = instant, .check_points = %d};\n\n",
        a.count, e->check_points);
}

/* ---- The problem --------------------------------------------------------------------------------- */

static void put_system(writer *x)
{
    const dae_system *s = &x->p->system;
    const dae_pattern *j = &s->structure.jacobian;
    int n = x->o->s->n;
    if (s->kind == DAE_KIND_DAE) {
        put_ints(x, "mass_column", n + 1, s->dae.mass.pattern.colptr);
        put_ints(x, "mass_row", s->dae.mass.pattern.colptr[n], s->dae.mass.pattern.rowind);
        put_reals(x, "mass", s->dae.mass.pattern.colptr[n], s->dae.mass.a);
    }
    if (j->storage == DAE_SPARSE && x->flow.f) {
        put_ints(x, "jacobian_column", n + 1, j->colptr);
        put_ints(x, "jacobian_row", j->colptr[n], j->rowind);
    }
    if (s->structure.index) put_ints(x, "variable_index", n, s->structure.index);
    PUT(x, "\nstatic void set_system(dae_system *s)\n{\n");
    if (s->kind == DAE_KIND_IDE) {
        PUT(x, "    s->kind = DAE_KIND_IDE;\n    s->ide = (dae_ide){.n = %d, .residual = residual};\n", n);
    } else if (s->kind == DAE_KIND_DAE) {
        PUT(x,
            "    s->kind = DAE_KIND_DAE;\n    s->dae = (dae_dae){.n = %d, .f = rhs, .jac = jacobian, .dfdt = "
            "by_time};\n"
            "    s->dae.mass = (dae_matrix){%d, {.storage = DAE_SPARSE, .colptr = mass_column, .rowind = "
            "mass_row}, mass};\n",
            n, n);
    } else {
        PUT(x,
            "    s->kind = DAE_KIND_ODE;\n    s->ode = (dae_ode){.n = %d, .f = rhs, .jac = jacobian, .dfdt = "
            "by_time};\n",
            n);
    }
    if (x->flow.f && j->storage == DAE_SPARSE)
        PUT(x, "    s->structure.jacobian = (dae_pattern){.storage = DAE_SPARSE, .colptr = jacobian_column, "
               ".rowind = "
               "jacobian_row};\n");
    else if (x->flow.f) PUT(x, "    s->structure.jacobian = (dae_pattern){.storage = DAE_DENSE};\n");
    if (s->structure.index) PUT(x, "    s->structure.index = variable_index;\n");
    if (s->structure.second_order)
        PUT(x,
            "    s->structure.second_order = %d;\n    s->structure.no_velocities = %d;\n    "
            "s->structure.autonomous = %d;\n",
            s->structure.second_order, s->structure.no_velocities, s->structure.autonomous);
    if (x->switches) {
        PUT(x,
            "    for (int i = 0; i < SWITCHES; i++) no_run.side[i] = DAE_SIDE_FREE;\n"
            "    s->switches = (dae_switches){.count = SWITCHES, .values = switch_values, .side = "
            "no_run.side,\n"
            "        .name = name_of_switch, .bind = bind_run, .release = release_run, .user = &no_run};\n"
            "    s->%s.user = &no_run;\n",
            s->kind == DAE_KIND_ODE ? "ode" : "dae");
    }
    PUT(x, "}\n\n");
}

static void put_member(writer *x, const char *name, double value)
{
    if (!(value > 0)) return;
    PUT(x, "    .%s = ", name);
    dae_c_number(&x->w, value);
    PUT(x, ",\n");
}

static void put_problem(writer *x)
{
    const dae_problem *p = x->p;
    int n = x->o->s->n;
    put_reals(x, "start", n, p->y0);
    if (p->yp0) put_reals(x, "start_rates", n, p->yp0);
    if (p->ndiscontinuity) put_reals(x, "instants", p->ndiscontinuity, p->discontinuity);
    if (p->reference) put_reals(x, "reference", n, p->reference);
    if (p->rtol_factor) put_reals(x, "rtol_factor", n, p->rtol_factor);
    if (p->atol_factor) put_reals(x, "atol_factor", n, p->atol_factor);
    put_strings(x, "component", n, p->component);
    put_strings(x, "unit", n, p->unit);
    if (p->nplot) put_ints(x, "plot", p->nplot, p->plot);
    if (p->reference && p->scored) {
        PUT(x, "static const unsigned char scored[] = {");
        for (int i = 0; i < n; i++) PUT(x, "%s%d", i ? ", " : "", p->scored[i]);
        PUT(x, "};\n");
    }
    put_system(x);
    PUT(x, "static const dae_problem_info info = {\n    .name = ");
    dae_c_string(&x->w, p->info->name);
    PUT(x, ",\n    .title = ");
    dae_c_string(&x->w, p->info->title);
    PUT(x, ",\n    .kind = (dae_kind)%d, .n = %d, .index = %d, .origin = \"equation file, as C\"};\n\n",
        (int)p->info->kind, n, p->info->index);
    PUT(x, "static dae_problem problem = {\n    .info = &info,\n    .source = \"equations\",\n    .t0 = ");
    dae_c_number(&x->w, p->t0);
    PUT(x, ",\n    .t_end = ");
    dae_c_number(&x->w, p->t_end);
    PUT(x, ",\n    .y0 = start,\n    .component = component,\n    .unit = unit,\n");
    if (p->yp0) PUT(x, "    .yp0 = start_rates,\n");
    if (p->time_unit) PUT(x, "    .time_unit = \"s\",\n");
    if (p->ndiscontinuity)
        PUT(x, "    .discontinuity = instants, .ndiscontinuity = %d,\n", p->ndiscontinuity);
    put_member(x, "rtol", p->rtol);
    put_member(x, "atol", p->atol);
    put_member(x, "h0", p->h0);
    put_member(x, "h_max", p->h_max);
    put_member(x, "every", p->every);
    if (p->rtol_factor) PUT(x, "    .rtol_factor = rtol_factor,\n");
    if (p->atol_factor) PUT(x, "    .atol_factor = atol_factor,\n");
    if (p->reference) {
        PUT(x, "    .reference = reference,\n%s", p->scored ? "    .scored = scored,\n" : "");
        put_member(x, "reference_digits", p->reference_digits);
        PUT(x, "    .reference_source = ");
        dae_c_string(&x->w, p->reference_source);
        PUT(x, ",\n");
    }
    if (p->nplot) PUT(x, "    .plot = plot, .nplot = %d,\n", p->nplot);
    if (p->plot_log_t) PUT(x, "    .plot_log_t = 1,\n");
    if (p->events) PUT(x, "    .events = &events,\n");
    if (p->method && p->system.kind == DAE_KIND_ODE) {
        PUT(x, "    .method = ");
        dae_c_string(&x->w, p->method);
        PUT(x, ",\n");
    }
    PUT(x, "};\n\n");
}

static const char *const ending[] = {
    "/* What `daedalus build` looks for. */",
    "const char daedalus_problem_version[] = DAE_VERSION;",
    "dae_problem *daedalus_problem(void);",
    "dae_problem *daedalus_problem(void)",
    "{",
    "    set_system(&problem.system);",
    "    return &problem;",
    "}",
    "",
    "#ifndef DAEDALUS_BUILD",
    "int main(void)",
    "{",
    "    dae_problem *p = daedalus_problem();",
    "    dae_error err = {0};",
    "    dae_run_options o = dae_run_options_default(p);",
    "    dae_run_result *r = dae_run(p, &o, &err);",
    "    if (!r || r->status < 0) {",
    "        fprintf(stderr, \"%s\\n\", r ? r->error.text : err.text);",
    "        return 1;",
    "    }",
    "    printf(\"t = %.17g, method %s\\n\", r->last.t, r->solver);",
    "    for (int i = 0; i < p->info->n; i++) printf(\"%s = %.17g\\n\", component[i], r->last.y[i]);",
    "    dae_run_destroy(r);",
    "    return 0;",
    "}",
    "#endif",
};

/* No end of the comment, and nothing that continues it, comes out of a name. */
static void put_comment(writer *x, const char *text)
{
    for (const char *c = text; *c; c++)
        PUT(x, "%c",
            (unsigned char)*c < 32 || (*c == '/' && c > text && c[-1] == '*') || *c == '\\' ? ' ' : *c);
}

static dae_status refuse(const dae_problem *p, const dae_equation_object *o, dae_error *err)
{
    dae_actions_parts a = {0};
    if (o->actions) a = dae_actions_look(o->actions);
    if (o->actions && o->system && a.first[a.count] > 0)
        return dae_fail(
            err, DAE_ERR_UNSUPPORTED, NAN,
            "%s: its events assign values that algebraic variables have to follow, which needs the analysis "
            "while it runs: it cannot be written as C",
            p->info->name);
    if (o->actions && o->implicit)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "%s: an implicit system with events cannot be written as C", p->info->name);
    return DAE_OK;
}

static dae_status write_all(const dae_problem *p, const dae_equation_object *o, dae_write_text_fn *write,
                            void *user, dae_error *err)
{
    writer x = {.w = {.put = write, .user = user}, .p = p, .o = o};
    dae_status s = refuse(p, o, err);
    if (s < 0) return s;
    if (o->flow) {
        x.flow = dae_flow_look(o->flow);
        x.switches = x.flow.branches->count;
    }
    PUT(&x, "/* ");
    put_comment(&x, p->info->title);
    PUT(&x,
        "\n *\n * Written by Daedalus %s from an equation file (daedalus export FILE --to c).\n *\n"
        " *     cc -O2 FILE.c -ldaedalus -lm           a program that runs it\n"
        " *     daedalus build FILE.c                  FILE.so, which every command takes as a problem\n */\n"
        "#include <daedalus/daedalus.h>\n\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n",
        dae_version());
    put_parameters(&x);
    if (o->flow) {
        dae_c_prelude(&x.w, x.flow.f);
        put_explicit(&x);
    } else if (!put_implicit(&x)) {
        x.w.failed = 2;
    }
    if (p->events) put_events(&x);
    put_problem(&x);
    LINES(&x, ending);
    if (x.w.failed == 2)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory to write %s as C", p->info->name);
    return x.w.failed ? dae_fail(err, DAE_ERR_FILE, NAN, "%s could not be written", p->info->name) : DAE_OK;
}

dae_status dae_equations_write_c(const char *text, size_t length, const char *file,
                                 const dae_setting *setting, int nsetting, dae_write_text_fn *write,
                                 void *user, dae_error *err)
{
    dae_problem *p = dae_equations_problem(text, length, file, setting, nsetting, err);
    if (!p) return err ? err->status : DAE_ERR_INPUT;
    const dae_equation_object *o = dae_problem_object(p, dae_equation_object_destroy);
    dae_status s = o ? write_all(p, o, write, user, err)
                     : dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                                "%s has a mechanism inside: it cannot be written as C", p->info->name);
    dae_problem_destroy(p);
    return s;
}
