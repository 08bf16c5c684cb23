#include "equations/evaluator.h"

#include <stdlib.h>

struct dae_evaluator {
    dae_program *program;
    int nvariable;
    int *from, *to; /* nvariable: X[from] goes to work[to] */
    int time;       /* place of t in work, -1: not needed */
    int nconstant;
    int *number, *register_; /* nconstant: parameter number (or -1 - discrete number), its place in work */
};

void dae_evaluator_destroy(dae_evaluator *e)
{
    if (!e) return;
    dae_program_destroy(e->program);
    free(e->from);
    free(e->to);
    free(e->number);
    free(e->register_);
    free(e);
}

static int is_leaf(int op)
{
    return op == OP_TIME || op == OP_PARAMETER || op == OP_DISCRETE || op == OP_VARIABLE;
}

/* Sorts input k, the leaf x, to where its value comes from. */
static void connect(dae_evaluator *e, const int *place, int k, dae_node x)
{
    if (x.op == OP_TIME) {
        e->time = k;
    } else if (x.op == OP_VARIABLE) {
        e->from[e->nvariable] = place[x.a] + x.b;
        e->to[e->nvariable++] = k;
    } else {
        e->number[e->nconstant] = x.op == OP_PARAMETER ? x.a : -1 - x.a;
        e->register_[e->nconstant++] = k;
    }
}

dae_evaluator *dae_evaluator_create(const dae_graph *g, const int *place, int noutput, const int *output)
{
    int *node = NULL, ninput = 0, count = dae_graph_reach(g, noutput, output, &node);
    dae_evaluator *e = calloc(1, sizeof *e);
    if (count < 0 || !e) goto fail;
    for (int k = 0; k < count; k++) {
        if (is_leaf(dae_graph_node(g, node[k]).op)) node[ninput++] = node[k];
    }
    size_t size = (size_t)ninput + 1;
    e->from = calloc(size, sizeof *e->from);
    e->to = calloc(size, sizeof *e->to);
    e->number = calloc(size, sizeof *e->number);
    e->register_ = calloc(size, sizeof *e->register_);
    e->time = -1;
    e->program = dae_program_create(g, ninput, node, noutput, output, NULL);
    if (!e->from || !e->to || !e->number || !e->register_ || !e->program) goto fail;
    for (int k = 0; k < ninput; k++) connect(e, place, k, dae_graph_node(g, node[k]));
    free(node);
    return e;
fail:
    free(node);
    dae_evaluator_destroy(e);
    return NULL;
}

size_t dae_evaluator_work(const dae_evaluator *e)
{
    return dae_program_work(e->program);
}

void dae_evaluator_start(const dae_evaluator *e, double *work, const double *parameter,
                         const double *discrete)
{
    dae_program_start(e->program, work);
    for (int k = 0; k < e->nconstant; k++) {
        int i = e->number[k];
        work[e->register_[k]] = i >= 0 ? parameter[i] : discrete[-1 - i];
    }
}

void dae_evaluator_run(const dae_evaluator *e, double *work, double t, const double *X, double *out)
{
    if (e->time >= 0) work[e->time] = t;
    for (int k = 0; k < e->nvariable; k++) work[e->to[k]] = X[e->from[k]];
    dae_program_run(e->program, work, out);
}
