#include "equations/tangent.h"

#include "equations/work.h"
#include "language/program.h"

#include <stdlib.h>

enum { DIRECTIONS = 1 << 24 }; /* direction k is the variable of this number + k: no model has so many */

struct dae_tangent {
    dae_program *program;
    dae_work *work;
};

static void prepare(double *array, void *user)
{
    const dae_tangent *t = user;
    dae_program_start(t->program, array);
}

/* The sum of partial derivatives times directions; at[leaf]: its number. -1: no memory. */
static int differential(dae_graph *g, int node, const unsigned char *wanted, int nwanted, const int *at)
{
    dae_partial *p = NULL;
    int np = dae_graph_gradient_by(g, node, wanted, nwanted, &p);
    dae_term *term = np >= 0 ? malloc(((size_t)np + 1) * sizeof *term) : NULL;
    if (!term) {
        free(p);
        return -1;
    }
    for (int k = 0; k < np; k++) {
        int direction = dae_graph_variable(g, DIRECTIONS + at[p[k].leaf], 0);
        term[k] = (dae_term){dae_graph_multiply(g, p[k].derivative, direction), 1};
    }
    int sum = dae_graph_sum(g, 0, np, term);
    free(term);
    free(p);
    return sum;
}

static int make_program(dae_tangent *t, dae_graph *g, int nleaf, const int *leaf, int count, const int *node,
                        int *input, int *output)
{
    int known = dae_graph_count(g), good = 1;
    unsigned char *wanted = calloc((size_t)known, 1);
    int *at = calloc((size_t)known, sizeof *at);
    good = wanted && at;
    for (int k = 0; k < nleaf && good; k++) {
        input[k] = leaf[k];
        wanted[leaf[k]] = 1;
        at[leaf[k]] = k;
    }
    for (int i = 0; i < count && good; i++) {
        output[i] = differential(g, node[i], wanted, known, at);
        good = output[i] >= 0;
    }
    for (int k = 0; k < nleaf && good; k++) input[nleaf + k] = dae_graph_variable(g, DIRECTIONS + k, 0);
    free(wanted);
    free(at);
    if (!good || dae_graph_failed(g)) return 0;
    t->program = dae_program_create(g, 2 * nleaf, input, count, output, NULL);
    return t->program != NULL;
}

dae_tangent *dae_tangent_create(dae_graph *g, int nleaf, const int *leaf, int count, const int *node)
{
    dae_tangent *t = calloc(1, sizeof *t);
    int *input = malloc((2 * (size_t)nleaf + 1) * sizeof *input),
        *output = malloc(((size_t)count + 1) * sizeof *output);
    if (t && input && output && make_program(t, g, nleaf, leaf, count, node, input, output))
        t->work = dae_work_create(dae_program_work(t->program), prepare, t);
    free(input);
    free(output);
    if (t && t->work) return t;
    dae_tangent_destroy(t);
    return NULL;
}

void dae_tangent_destroy(dae_tangent *t)
{
    if (!t) return;
    dae_work_destroy(t->work);
    dae_program_destroy(t->program);
    free(t);
}

double *dae_tangent_borrow(const dae_tangent *t, int *slot)
{
    return dae_work_borrow(t->work, slot);
}

void dae_tangent_run(const dae_tangent *t, double *array, int slot, double *out)
{
    dae_program_run(t->program, array, out);
    dae_work_return(t->work, slot);
}
