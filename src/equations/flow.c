/* M y' = f(t, y) evaluated, see flow.h. The registers of each program begin with t, the parameters, then y. */
#include "equations/flow.h"

#include "equations/work.h"
#include "language/program.h"

#include <stdlib.h>
#include <string.h>

#define DENSE_BELOW 12     /* components: smaller Jacobians are dense; ours */
#define DENSE_FILLING 0.25 /* and those with more than this share of entries; ours */

typedef struct part { /* one program with its work arrays */
    dae_program *program;
    dae_work *work;
    const struct dae_flow *flow;
} part;

struct dae_flow {
    int n, nparameter;
    double *parameter;
    part f, jacobian, time;
    int *colptr, *rowind; /* of the sparse Jacobian */
    int *place;           /* dense: where output k goes */
    int dense, entries;
};

/* ---- Making -------------------------------------------------------------------------------------- */

static void prepare(double *array, void *user)
{
    const part *p = user;
    dae_program_start(p->program, array);
    memcpy(array + 1, p->flow->parameter, (size_t)p->flow->nparameter * sizeof *array);
}

/* Its registers, then room for the outputs of a dense Jacobian. */
static int make_part(dae_flow *flow, part *p, const dae_model *m, const int *input, int noutput,
                     const int *output, int *missing)
{
    p->flow = flow;
    p->program =
        dae_program_create(m->graph, 1 + flow->nparameter + flow->n, input, noutput, output, missing);
    if (!p->program) return 0;
    p->work = dae_work_create(dae_program_work(p->program) + (size_t)noutput, prepare, p);
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

/* The entries of df/dy sorted by columns, and df/dt in time[] (node 0: zero). Count, or -1. */
static int gather(dae_graph *g, int n, const int *leaf, const int *rate, entry **out, int *time)
{
    int *map = component_of(g, n, leaf), count = 0, capacity = 0, leaves = dae_graph_count(g);
    entry *e = NULL;
    for (int i = 0; map && i < n; i++) {
        dae_partial *p;
        int np = dae_graph_gradient_by(g, rate[i], NULL, 0, &p);
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

/* dae_graph_gradient_by gives variables and t; discrete values are components too. They never change within f, so their columns
 * stay empty. */
dae_flow *dae_flow_create(const dae_model *m, int n, const int *leaf, const int *rate, int *missing)
{
    dae_flow *f = calloc(1, sizeof *f);
    size_t total = (size_t)(1 + m->nparameter + n);
    int *input = malloc(total * sizeof *input), *node = malloc(((size_t)n + 1) * sizeof *node), count = -1,
        good = 0, lost = -1;
    entry *e = NULL;
    if (f && input && node) {
        f->n = n;
        f->nparameter = m->nparameter;
        f->parameter = malloc(((size_t)m->nparameter + 1) * sizeof *f->parameter);
        input[0] = dae_graph_time(m->graph);
        for (int k = 0; k < m->nparameter; k++) {
            input[1 + k] = dae_graph_parameter(m->graph, k);
            if (f->parameter) f->parameter[k] = m->parameter[k].value;
        }
        for (int i = 0; i < n; i++) input[1 + m->nparameter + i] = leaf[i];
        good = f->parameter && make_part(f, &f->f, m, input, n, rate, &lost);
        if (good) count = gather(m->graph, n, leaf, rate, &e, node);
        good = good && count >= 0 && make_pattern(f, count, e) &&
               make_part(f, &f->time, m, input, n, node, &lost);
        free(node);
        node = good ? malloc(((size_t)count + 1) * sizeof *node) : NULL;
        for (int k = 0; node && k < count; k++) node[k] = e[k].node;
        good = node && make_part(f, &f->jacobian, m, input, count, node, &lost);
    }
    free(e);
    free(node);
    free(input);
    if (missing) *missing = lost;
    if (good) return f;
    dae_flow_destroy(f);
    return NULL;
}

void dae_flow_destroy(dae_flow *f)
{
    if (!f) return;
    part *p[] = {&f->f, &f->jacobian, &f->time};
    for (int k = 0; k < 3; k++) {
        dae_work_destroy(p[k]->work);
        dae_program_destroy(p[k]->program);
    }
    free(f->parameter);
    free(f->colptr);
    free(f->rowind);
    free(f->place);
    free(f);
}

/* ---- Evaluation ---------------------------------------------------------------------------------- */

static double *load(const part *p, double t, const double *y, int *slot)
{
    double *work = dae_work_borrow(p->work, slot);
    if (!work) return NULL;
    work[0] = t;
    memcpy(work + 1 + p->flow->nparameter, y, (size_t)p->flow->n * sizeof *y);
    return work;
}

static int evaluate(const part *p, double t, const double *y, double *out)
{
    int slot;
    double *work = load(p, t, y, &slot);
    if (!work) return -1;
    dae_program_run(p->program, work, out);
    dae_work_return(p->work, slot);
    return 0;
}

int dae_flow_rhs(double t, const double *y, double *out, void *flow)
{
    return evaluate(&((const dae_flow *)flow)->f, t, y, out);
}

int dae_flow_time(double t, const double *y, double *out, void *flow)
{
    return evaluate(&((const dae_flow *)flow)->time, t, y, out);
}

int dae_flow_jacobian(double t, const double *y, double *out, void *flow)
{
    const dae_flow *f = flow;
    const part *p = &f->jacobian;
    int slot;
    if (!f->dense) return evaluate(p, t, y, out);
    double *work = load(p, t, y, &slot), *room = work ? work + dae_program_work(p->program) : NULL;
    if (!work) return -1;
    dae_program_run(p->program, work, room);
    for (int k = 0; k < f->entries; k++) out[f->place[k]] = room[k];
    dae_work_return(p->work, slot);
    return 0;
}

dae_pattern dae_flow_pattern(const dae_flow *f)
{
    if (f->dense) return (dae_pattern){.storage = DAE_DENSE};
    return (dae_pattern){.storage = DAE_SPARSE, .colptr = f->colptr, .rowind = f->rowind};
}

long dae_flow_operations(const dae_flow *f, int jacobian)
{
    return dae_program_operations(jacobian ? f->jacobian.program : f->f.program);
}
