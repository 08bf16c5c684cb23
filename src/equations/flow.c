/* M y' = f(t, y) evaluated, see flow.h. The registers of each program begin with t, the parameters, then y, then the sides of
 * switches. */
#include "equations/flow.h"

#include "core/error.h"
#include "core/vector.h"
#include "equations/branches.h"
#include "equations/denominators.h"
#include "equations/work.h"
#include "language/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DENSE_BELOW 12     /* components: smaller Jacobians are dense; ours */
#define DENSE_FILLING 0.25 /* and those with more than this share of entries; ours */

typedef struct part { /* one program with its work arrays */
    dae_program *program;
    dae_work *work;
    /* parameters for machine code, which needs no work array; NULL: sides of switches are needed too */
    double *shared;
    const struct dae_flow *flow;
} part;

struct dae_flow {
    int n, nparameter;
    double *parameter;
    part f, jacobian, time;
    part literal, frozen; /* what decides on the sides, as written and with the other sides frozen */
    dae_branches *branches;
    int *side;         /* of the present run */
    const char **name; /* of switches */
    part pole;         /* what f is divided by, as written */
    int npole;
    const char **pole_name;
    int *colptr, *rowind; /* of the sparse Jacobian */
    int *place;           /* where entry k stands in the values of the Jacobian */
    int *entry;           /* nodes of the entries */
    int dense, entries;
    int polynomial; /* the Jacobian: no entry is at the end of a domain */
};

/* ---- Making -------------------------------------------------------------------------------------- */

static void prepare(double *array, void *user)
{
    const part *p = user;
    dae_program_start(p->program, array);
    memcpy(array + 1, p->flow->parameter, (size_t)p->flow->nparameter * sizeof *array);
}

/* Its registers, then room for the outputs. */
static int make_part(dae_flow *flow, part *p, const dae_model *m, const int *input, int noutput,
                     const int *output, const int *place, int *missing)
{
    p->flow = flow;
    int ninput = 1 + flow->nparameter + flow->n + flow->branches->count;
    p->program = dae_program_create_split(m->graph, ninput, input, 0, 1 + flow->nparameter, flow->n, noutput,
                                          output, place, missing);
    if (!p->program) return 0;
    if (!flow->branches->count) {
        p->shared = malloc(dae_program_work(p->program) * sizeof *p->shared);
        if (!p->shared) return 0;
        prepare(p->shared, p);
    }
    p->work = dae_work_create(dae_program_work(p->program) + (place ? 0 : (size_t)noutput), prepare, p);
    return p->work != NULL;
}

typedef struct entry {
    int row, column, node;
} entry;

static int by_column(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->column != y->column) return x->column < y->column ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Component of each leaf node, -1: none. */
static int *component_of(const dae_graph *g, int n, const int *leaf)
{
    size_t count = (size_t)dae_graph_count(g);
    int *map = malloc(count * sizeof *map);
    for (size_t k = 0; map && k < count; k++) map[k] = -1;
    for (int i = 0; map && i < n; i++) map[leaf[i]] = i;
    return map;
}

/* The entries of df/dy sorted by columns, and df/dt in time[] (node 0: zero). wanted: flags of nwanted nodes to differentiate by,
 * NULL: variables and t. Count, or -1. */
static int gather(dae_graph *g, int n, const int *leaf, const int *rate, const unsigned char *wanted,
                  int nwanted, entry **out, int *time)
{
    int *map = component_of(g, n, leaf), count = 0, capacity = 0, leaves = dae_graph_count(g);
    entry *e = NULL;
    for (int i = 0; map && i < n; i++) {
        dae_partial *p;
        int np = dae_graph_gradient_by(g, rate[i], wanted, nwanted, &p);
        time[i] = 0;
        if (np < 0) goto fail;
        if (count + np > capacity) {
            capacity = 2 * (count + np) + 64;
            entry *bigger = realloc(e, (size_t)capacity * sizeof *e);
            if (!bigger) {
                free(p);
                goto fail;
            }
            e = bigger;
        }
        for (int k = 0; k < np; k++) {
            if (dae_graph_node(g, p[k].leaf).op == OP_TIME) time[i] = p[k].derivative;
            else if (p[k].leaf < leaves && map[p[k].leaf] >= 0)
                e[count++] = (entry){i, map[p[k].leaf], p[k].derivative};
        }
        free(p);
    }
    if (!map) goto fail;
    free(map);
    if (count) qsort(e, (size_t)count, sizeof *e, by_column);
    *out = e;
    return count;
fail:
    free(map);
    free(e);
    return -1;
}

static int make_pattern(dae_flow *f, int count, const entry *e)
{
    size_t n = (size_t)f->n;
    f->entries = count;
    f->dense = f->n < DENSE_BELOW || count > DENSE_FILLING * (double)n * (double)n;
    f->colptr = calloc(n + 1, sizeof *f->colptr);
    f->rowind = malloc(((size_t)count + 1) * sizeof *f->rowind);
    f->place = malloc(((size_t)count + 1) * sizeof *f->place);
    if (!f->colptr || !f->rowind || !f->place) return 0;
    for (int k = 0; k < count; k++) {
        f->colptr[e[k].column + 1]++;
        f->rowind[k] = e[k].row;
        f->place[k] = f->dense ? e[k].row + e[k].column * f->n : k;
    }
    for (int j = 0; j < f->n; j++) f->colptr[j + 1] += f->colptr[j];
    return 1;
}

/* t, parameters, components, sides. */
static int *inputs(dae_flow *f, dae_model *m, const int *leaf)
{
    int *input = malloc((size_t)(1 + m->nparameter + f->n + f->branches->count) * sizeof *input), k = 0;
    if (!input) return NULL;
    input[k++] = dae_graph_time(m->graph);
    for (int i = 0; i < m->nparameter; i++) {
        input[k++] = dae_graph_parameter(m->graph, i);
        f->parameter[i] = m->parameter[i].value;
    }
    for (int i = 0; i < f->n; i++) input[k++] = leaf[i];
    for (int i = 0; i < f->branches->count; i++)
        input[k++] = dae_graph_discrete(m->graph, f->branches->first + i);
    return input;
}

/* Texts of nodes, malloc'ed, as far as there was memory for them. */
static int make_names(dae_model *m, int count, const int *node, const char **name)
{
    for (int i = 0; i < count; i++) {
        char text[80];
        dae_model_node_text(m, node[i], text, sizeof text);
        char *copy = malloc(strlen(text) + 1);
        if (!copy) return 0;
        name[i] = strcpy(copy, text);
    }
    return 1;
}

static void free_names(int count, const char **name)
{
    for (int i = 0; name && i < count; i++) free((char *)name[i]);
    free(name);
}

/* node: f->npole of them. */
static int make_poles(dae_flow *f, dae_model *m, const int *input, const int *node, int *lost)
{
    f->pole_name = calloc((size_t)f->npole + 1, sizeof *f->pole_name);
    return f->pole_name && make_names(m, f->npole, node, f->pole_name) &&
           (!f->npole || make_part(f, &f->pole, m, input, f->npole, node, NULL, lost));
}

static int make_switches(dae_flow *f, dae_model *m, const int *input, int *lost)
{
    int count = f->branches->count, good;
    int *node = malloc(((size_t)count + 1) * sizeof *node);
    f->side = malloc(((size_t)count + 1) * sizeof *f->side);
    f->name = calloc((size_t)count + 1, sizeof *f->name);
    if (!node || !f->side || !f->name) {
        free(node);
        return 0;
    }
    for (int i = 0; i < count; i++) node[i] = f->branches->branch[i].node;
    good = make_names(m, count, node, f->name);
    for (int i = 0; i < count; i++) {
        f->side[i] = DAE_SIDE_FREE;
        node[i] = f->branches->branch[i].literal;
    }
    good = good && make_part(f, &f->literal, m, input, count, node, NULL, lost);
    for (int i = 0; i < count; i++) node[i] = f->branches->branch[i].frozen;
    good = good && make_part(f, &f->frozen, m, input, count, node, NULL, lost);
    free(node);
    return good;
}

/* Columns of discrete values stay empty: they never change within f. Those of signals of a mechanism do. */
static int make_derivatives(dae_flow *f, dae_model *m, const int *input, const int *leaf, const int *rate,
                            int *lost)
{
    int *node = malloc(((size_t)f->n + 1) * sizeof *node), good = 0, time = dae_graph_time(m->graph),
        nwanted = m->mechanism ? dae_graph_count(m->graph) : 0;
    unsigned char *wanted = nwanted ? calloc((size_t)nwanted, 1) : NULL;
    entry *e = NULL;
    for (int i = 0; wanted && i < f->n; i++) wanted[leaf[i]] = 1;
    if (wanted) wanted[time] = 1;
    int count =
        node && (wanted || !nwanted) ? gather(m->graph, f->n, leaf, rate, wanted, nwanted, &e, node) : -1;
    if (count >= 0 && make_pattern(f, count, e) && make_part(f, &f->time, m, input, f->n, node, NULL, lost)) {
        free(node);
        node = malloc(((size_t)count + 1) * sizeof *node);
        for (int k = 0; node && k < count; k++) node[k] = e[k].node;
        good = node && make_part(f, &f->jacobian, m, input, count, node, f->dense ? f->place : NULL, lost);
        f->polynomial = good && dae_program_is_polynomial(f->jacobian.program);
        f->entry = node;
        node = NULL;
    }
    free(node);
    free(wanted);
    free(e);
    return good;
}

dae_flow *dae_flow_create(dae_model *m, int n, const int *leaf, int *rate, int *missing)
{
    dae_flow *f = calloc(1, sizeof *f);
    int *input = NULL, *pole = NULL, lost = -1, good = 0;
    if (f) {
        f->n = n;
        f->nparameter = m->nparameter;
        f->parameter = malloc(((size_t)m->nparameter + 1) * sizeof *f->parameter);
        f->npole = dae_denominators_find(m, n, rate, &pole); /* before the rates are rewritten */
        f->branches = f->npole >= 0 ? dae_branches_find(m, n, rate) : NULL;
        input = f->parameter && f->branches ? inputs(f, m, leaf) : NULL;
        good = input && make_part(f, &f->f, m, input, n, rate, NULL, &lost) &&
               make_derivatives(f, m, input, leaf, rate, &lost) && make_switches(f, m, input, &lost) &&
               make_poles(f, m, input, pole, &lost);
    }
    free(pole);
    free(input);
    if (missing) *missing = lost;
    if (good) return f;
    dae_flow_destroy(f);
    return NULL;
}

void dae_flow_destroy(dae_flow *f)
{
    if (!f) return;
    part *p[] = {&f->f, &f->jacobian, &f->time, &f->literal, &f->frozen, &f->pole};
    for (int k = 0; k < 6; k++) {
        dae_work_destroy(p[k]->work);
        dae_program_destroy(p[k]->program);
        free(p[k]->shared);
    }
    free_names(f->branches ? f->branches->count : 0, f->name);
    free_names(f->npole, f->pole_name);
    free(f->side);
    dae_branches_destroy(f->branches);
    free(f->parameter);
    free(f->colptr);
    free(f->rowind);
    free(f->place);
    free(f->entry);
    free(f);
}

/* ---- Evaluation ---------------------------------------------------------------------------------- */

static double *fill(const dae_flow *f, const part *p, double t, const double *y, int *slot)
{
    double *work = dae_work_borrow(p->work, slot);
    if (!work) return NULL;
    work[0] = t;
    memcpy(work + 1 + f->nparameter, y, (size_t)f->n * sizeof *y);
    return work;
}

/* Sides that no run has frozen are those that the state says; all of them if wanted. */
static int free_sides(const dae_flow *f, int all, double t, const double *y, double *to)
{
    int slot, count = f->branches->count;
    double *work = fill(f, &f->literal, t, y, &slot), *x;
    if (!work) return -1;
    x = work + dae_program_work(f->literal.program);
    dae_program_run(f->literal.program, work, x);
    for (int i = 0; i < count; i++)
        to[i] = all || f->side[i] == DAE_SIDE_FREE ? dae_branch_side(f->branches, i, x[i]) : f->side[i];
    dae_work_return(f->literal.work, slot);
    return 0;
}

static int load_sides(const dae_flow *f, double t, const double *y, double *to)
{
    for (int i = 0; i < f->branches->count; i++) {
        if (f->side[i] == DAE_SIDE_FREE) return free_sides(f, 0, t, y, to);
        to[i] = f->side[i];
    }
    return 0;
}

int dae_flow_sides(const dae_flow *f, double t, const double *y, double *side)
{
    return load_sides(f, t, y, side);
}

static double *load(const dae_flow *f, const part *p, double t, const double *y, int *slot)
{
    double *work = fill(f, p, t, y, slot);
    if (!work || !load_sides(f, t, y, work + 1 + f->nparameter + f->n)) return work;
    dae_work_return(p->work, *slot);
    return NULL;
}

/* Of entries that stand apart; in four parts as dae_all_finite, which is three times as fast as one after the other. */
static int entries_finite(int count, const int *place, const double *x)
{
    double s[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        for (int k = 0; k < 4; k++) s[k] += x[place[i + k]] - x[place[i + k]];
    }
    for (; i < count; i++) s[0] += x[place[i]] - x[place[i]];
    return s[0] + s[1] + s[2] + s[3] == 0;
}

static int is_finite(const dae_flow *f, const part *p, const double *out)
{
    if (p != &f->jacobian) return dae_all_finite(f->n, out);
    return f->dense ? entries_finite(f->entries, f->place, out) : dae_all_finite(f->entries, out);
}

/* Behind the end of its side a branch may be undefined: in sqrt(max(h, 0)) the side h of max below h = 0. There the text counts as it
 * stands; the switch is located behind the step. */
static int evaluate(const dae_flow *f, const part *p, double t, const double *y, double *out)
{
    int slot, bad = 0;
    if (p->shared && dae_program_evaluate(p->program, p->shared, t, y, out)) return 0;
    double *work = load(f, p, t, y, &slot);
    if (!work) return -1;
    dae_program_run(p->program, work, out);
    if (f->branches->count && !is_finite(f, p, out)) {
        bad = free_sides(f, 1, t, y, work + 1 + f->nparameter + f->n);
        if (!bad) dae_program_run(p->program, work, out);
    }
    dae_work_return(p->work, slot);
    return bad;
}

int dae_flow_rhs(double t, const double *y, double *out, void *flow)
{
    return evaluate(flow, &((const dae_flow *)flow)->f, t, y, out);
}

int dae_flow_time(double t, const double *y, double *out, void *flow)
{
    return evaluate(flow, &((const dae_flow *)flow)->time, t, y, out);
}

/* At the end of a domain d sqrt(max(h, 0))/dh is 0/0 or infinite, while f is not: such entries count as 0, and whether that is near
 * enough the iteration tells. Where f is undefined it says so itself. */
int dae_flow_jacobian(double t, const double *y, double *out, void *flow)
{
    const dae_flow *f = flow;
    int bad = evaluate(f, &f->jacobian, t, y, out);
    if (bad || f->polynomial || is_finite(f, &f->jacobian, out)) return bad;
    for (int k = 0; k < f->entries; k++) {
        if (!isfinite(out[f->place[k]])) out[f->place[k]] = 0;
    }
    return 0;
}

int dae_flow_on(const dae_flow *f, dae_flow_part what, const int *side, double t, const double *y,
                double *out)
{
    dae_flow own = *f;
    if (side) own.side = (int *)side;
    const part *p = what == DAE_FLOW_RATES ? &own.f : what == DAE_FLOW_JACOBIAN ? &own.jacobian : &own.time;
    return evaluate(&own, p, t, y, out);
}

/* ---- Switches ------------------------------------------------------------------------------------ */

int dae_flow_margins(const dae_flow *flow, const int *side, double t, const double *y, double *margin,
                     int *next)
{
    dae_flow own = *flow;
    own.side = (int *)side;
    return dae_flow_switches(&own).values(t, y, side, margin, next, &own);
}

static int switch_values(double t, const double *y, const int *side, double *margin, int *next, void *user)
{
    const dae_flow *f = user;
    int slot, count = f->branches->count, any_free = 0;
    double *work = load(f, &f->frozen, t, y, &slot), *x;
    if (!work) return -1;
    x = work + dae_program_work(f->frozen.program);
    dae_program_run(f->frozen.program, work, x);
    for (int i = 0; i < count; i++) {
        if (side[i] == DAE_SIDE_FREE) any_free = 1;
        else margin[i] = dae_branch_margin(f->branches, i, side[i], x[i], &next[i]);
    }
    dae_work_return(f->frozen.work, slot);
    if (!any_free) return 0;
    work = fill(f, &f->literal, t, y, &slot);
    if (!work) return -1;
    x = work + dae_program_work(f->literal.program);
    dae_program_run(f->literal.program, work, x);
    for (int i = 0; i < count; i++) {
        if (side[i] == DAE_SIDE_FREE) next[i] = dae_branch_side(f->branches, i, x[i]), margin[i] = 0;
    }
    dae_work_return(f->literal.work, slot);
    return 0;
}

static const char *switch_name(int i, void *user)
{
    return ((const dae_flow *)user)->name[i];
}

/* A copy for one run: everything is shared but the sides. */
static dae_status bind(const dae_system *sys, dae_system *own, dae_error *err)
{
    const dae_flow *f = sys->switches.user;
    size_t count = (size_t)f->branches->count;
    dae_flow *copy = malloc(sizeof *copy);
    int *side = malloc((count + 1) * sizeof *side);
    if (!copy || !side) {
        free(copy);
        free(side);
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    }
    for (size_t i = 0; i < count; i++) side[i] = DAE_SIDE_FREE;
    *copy = *f;
    copy->side = side;
    *own = *sys;
    if (own->kind == DAE_KIND_ODE) own->ode.user = copy;
    else own->dae.user = copy;
    own->switches = dae_flow_switches(copy);
    return DAE_OK;
}

static void release(dae_system *own)
{
    dae_flow *copy = own->switches.user;
    free(copy->side);
    free(copy);
}

dae_switches dae_flow_switches(dae_flow *f)
{
    return (dae_switches){.count = f->branches->count,
                          .values = switch_values,
                          .side = f->side,
                          .name = switch_name,
                          .bind = bind,
                          .release = release,
                          .user = f};
}

/* Without sides: as written. */
static int pole_values(double t, const double *y, double *q, void *user)
{
    const dae_flow *f = user;
    int slot;
    if (f->pole.shared && dae_program_evaluate(f->pole.program, f->pole.shared, t, y, q)) return 0;
    double *work = fill(f, &f->pole, t, y, &slot);
    if (!work) return -1;
    dae_program_run(f->pole.program, work, q);
    dae_work_return(f->pole.work, slot);
    return 0;
}

static const char *pole_name(int i, void *user)
{
    return ((const dae_flow *)user)->pole_name[i];
}

dae_poles dae_flow_poles(dae_flow *f)
{
    return (dae_poles){.count = f->npole, .values = pole_values, .name = pole_name, .user = f};
}

dae_pattern dae_flow_pattern(const dae_flow *f)
{
    if (f->dense) return (dae_pattern){.storage = DAE_DENSE};
    return (dae_pattern){.storage = DAE_SPARSE, .colptr = f->colptr, .rowind = f->rowind};
}

dae_flow_parts dae_flow_look(const dae_flow *f)
{
    return (dae_flow_parts){.f = f->f.program,
                            .jacobian = f->jacobian.program,
                            .time = f->time.program,
                            .literal = f->literal.program,
                            .frozen = f->frozen.program,
                            .branches = f->branches,
                            .switch_name = (const char *const *)f->name,
                            .nparameter = f->nparameter,
                            .entries = f->entries,
                            .values = f->dense ? f->n * f->n : f->entries,
                            .entry = f->entry,
                            .place = f->place,
                            .parameter = f->parameter};
}

long dae_flow_operations(const dae_flow *f, int jacobian)
{
    return dae_program_operations(jacobian ? f->jacobian.program : f->f.program);
}
