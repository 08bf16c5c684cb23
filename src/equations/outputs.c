/* Named expressions along a solution, see outputs.h. */
#include "equations/outputs.h"

#include "equations/mechanism.h"
#include "equations/work.h"
#include "language/program.h"

#include <stdlib.h>
#include <string.h>

enum { max_lets = 100 };

struct dae_outputs {
    int count, n, nparameter, starved;
    const char **name; /* of the model's store */
    dae_dimension *dimension;
    int *node;
    double *parameter;
    dae_program *program;
    dae_work *work;
};

static void prepare(double *array, void *user)
{
    const dae_outputs *o = user;
    dae_program_start(o->program, array);
    memcpy(array + 1, o->parameter, (size_t)o->nparameter * sizeof *array);
}

/* The node in components only: highest derivatives become what y' = f says; -1: it needs others; DAE_ERR_MEMORY. */
static int in_components(dae_model *m, const dae_first_order *s, int node)
{
    int *list, good = 1, changed = 0, count = dae_graph_reach(m->graph, 1, &node, &list);
    for (int k = 0; k < count && good; k++) {
        dae_node n = dae_graph_node(m->graph, list[k]);
        if (n.op != OP_VARIABLE || n.b <= s->order[s->top[n.a]]) continue;
        good = s->dae == 0 && n.b == s->order[s->top[n.a]] + 1;
        changed = 1;
    }
    for (int k = 0; k < count && good && changed; k++) {
        dae_node n = dae_graph_node(m->graph, list[k]);
        if (n.op == OP_VARIABLE && n.b == s->order[s->top[n.a]] + 1)
            node = dae_graph_substitute(m->graph, node, 1, &list[k], &s->rate[s->top[n.a]]);
    }
    free(list);
    return count < 0 ? DAE_ERR_MEMORY : good ? node : -1;
}

static void add(dae_outputs *o, dae_model *m, const dae_first_order *s, const char *name, int node,
                dae_dimension d)
{
    dae_node n = dae_graph_node(m->graph, node);
    int signal = n.op == OP_DISCRETE && m->mechanism && m->mechanism->nsignal && n.a >= m->mechanism->first;
    if ((n.op == OP_DISCRETE && !signal) || n.op == OP_NUMBER) return; /* components are there already */
    if (n.op == OP_VARIABLE && n.b <= s->order[s->top[n.a]]) return;
    int mine = in_components(m, s, node);
    o->starved |= mine == DAE_ERR_MEMORY;
    if (mine < 0) return;
    o->name[o->count] = name;
    o->dimension[o->count] = d;
    o->node[o->count++] = mine;
}

static int make_program(dae_outputs *o, dae_model *m, const dae_first_order *s)
{
    int total = 1 + m->nparameter + s->n, *input = malloc((size_t)total * sizeof *input);
    if (!input) return 0;
    input[0] = dae_graph_time(m->graph);
    for (int k = 0; k < m->nparameter; k++) {
        input[1 + k] = dae_graph_parameter(m->graph, k);
        o->parameter[k] = m->parameter[k].value;
    }
    memcpy(input + 1 + m->nparameter, s->leaf, (size_t)s->n * sizeof *input);
    o->program = dae_program_create(m->graph, total, input, o->count, o->node, NULL);
    free(input);
    if (o->program) o->work = dae_work_create(dae_program_work(o->program), prepare, o);
    return o->work != NULL;
}

dae_outputs *dae_outputs_create(dae_model *m, const dae_first_order *s)
{
    dae_outputs *o = calloc(1, sizeof *o);
    size_t room = (size_t)(m->noutput ? m->noutput : m->nlet) + 1;
    dae_dimension unknown = {.soft = 1};
    if (!o) return NULL;
    o->n = s->n;
    o->nparameter = m->nparameter;
    o->name = calloc(room, sizeof *o->name);
    o->dimension = calloc(room, sizeof *o->dimension);
    o->node = calloc(room, sizeof *o->node);
    o->parameter = calloc((size_t)m->nparameter + 1, sizeof *o->parameter);
    if (o->name && o->dimension && o->node && o->parameter) {
        for (int k = 0; k < m->noutput; k++) {
            dae_dimension d = unknown;
            for (int i = 0; i < m->nlet; i++) {
                if (!strcmp(m->let[i].name, m->output[k].name)) d = m->let[i].dimension;
            }
            add(o, m, s, m->output[k].name, m->output[k].node, d);
        }
        for (int k = 0; !m->noutput && k < m->nlet && o->count < max_lets; k++)
            add(o, m, s, m->let[k].name, m->let[k].node, m->let[k].dimension);
        if (!o->starved && make_program(o, m, s)) return o;
    }
    dae_outputs_destroy(o);
    return NULL;
}

void dae_outputs_destroy(dae_outputs *o)
{
    if (!o) return;
    dae_work_destroy(o->work);
    dae_program_destroy(o->program);
    free(o->name);
    free(o->dimension);
    free(o->node);
    free(o->parameter);
    free(o);
}

int dae_outputs_count(const dae_outputs *o)
{
    return o->count;
}

const int *dae_outputs_nodes(const dae_outputs *o)
{
    return o->node;
}

const char *dae_outputs_name(const dae_outputs *o, int i)
{
    return o->name[i];
}

dae_dimension dae_outputs_dimension(const dae_outputs *o, int i)
{
    return o->dimension[i];
}

int dae_outputs_values(const dae_outputs *o, double t, const double *y, double *value)
{
    int slot;
    double *work = dae_work_borrow(o->work, &slot);
    if (!work) return DAE_ERR_MEMORY;
    work[0] = t;
    memcpy(work + 1 + o->nparameter, y, (size_t)o->n * sizeof *y);
    dae_program_run(o->program, work, value);
    dae_work_return(o->work, slot);
    return 0;
}
