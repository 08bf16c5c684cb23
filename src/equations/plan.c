#include "equations/plan.h"

#include "language/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHRUNK 1e-4 /* a pivot against its size when it was chosen; ours */
enum {
    MOST_NODES = 4000, /* of a stage; ours: about what the elimination of 20 full rows takes */
    SEVERAL = 4,       /* unknowns up to which a correction is that of several iterations; ours */
    ITERATIONS = 2
};

/* One program, for stages first .. first + count - 1. Its inputs: t, constants, X. */
typedef struct piece {
    dae_program *program;
    int count, direct;
    int total, nconstant;
    int *number;          /* nconstant: parameter, or -1 - discrete value */
    int nresult, *result; /* where the results stand in `out` */
    int last;             /* and where the last correction begins */
    int nwatch, *at;      /* pivots that are no numbers: where they stand in `out`, */
    int *watch;           /* and which of the pivots (of all stages from the first on) they are */
    size_t work;          /* where its work begins */
} piece;

struct dae_plan {
    int nstage;
    piece *piece; /* nstage; those inside of others have no program */
    size_t work;
};

static void piece_destroy(piece *p)
{
    dae_program_destroy(p->program);
    free(p->number);
    free(p->result);
    free(p->at);
    free(p->watch);
}

void dae_plan_destroy(dae_plan *p)
{
    if (!p) return;
    for (int s = 0; p->piece && s < p->nstage; s++) piece_destroy(&p->piece[s]);
    free(p->piece);
    free(p);
}

/* ---- Making ------------------------------------------------------------------------------------------- */

/* What was found so far: leaves of X and the nodes that they are. */
typedef struct known {
    int n;
    int *leaf, *node;
} known;

/* The node of each place in X. */
static int *leaves_of(dae_graph *g, int n, const int *place)
{
    int *leaf = malloc(((size_t)place[n] + 1) * sizeof *leaf);
    for (int j = 0; leaf && j < n; j++) {
        for (int k = 0; k < place[j + 1] - place[j]; k++) leaf[place[j] + k] = dae_graph_variable(g, j, k);
    }
    return leaf;
}

/* A linear stage: f with x = 0 is b, and x = - J^-1 b, both with what is known of the stages before. */
static int solve_linear(dae_graph *g, const dae_plan_stage *s, const int *leaf, known *k, int *watch)
{
    int m = s->nodes.m, good = 0, zero = dae_graph_number(g, 0), before = k->n;
    int *f = malloc(((size_t)m * 2 + (size_t)s->nodes.nentry + 1) * sizeof *f), *x = f + m, *entry = x + m;
    if (!f) return 0;
    for (int e = 0; e < s->nodes.nentry; e++)
        entry[e] = dae_graph_substitute(g, s->nodes.entry[e], k->n, k->leaf, k->node);
    for (int i = 0; i < m; i++) {
        k->leaf[k->n] = leaf[s->unknown[i]];
        k->node[k->n++] = zero;
    }
    for (int i = 0; i < m; i++) f[i] = dae_graph_substitute(g, s->nodes.f[i], k->n, k->leaf, k->node);
    dae_linear_nodes nodes = s->nodes;
    nodes.f = f;
    nodes.entry = entry;
    good = dae_elimination_solve(g, &nodes, s->row, s->pivot_at, MOST_NODES, x, watch);
    for (int i = 0; good && i < m; i++) k->node[before + i] = dae_graph_scale(g, -1, x[i]);
    free(f);
    return good;
}

static int make_program(dae_graph *g, piece *p, int total, const int *leaf, int noutput, const int *output,
                        const int *place)
{
    int *node = NULL, nodes = dae_graph_reach(g, noutput, output, &node);
    int *input = nodes < 0 ? NULL : malloc(((size_t)nodes + (size_t)total + 2) * sizeof *input), ninput = 0;
    p->number = nodes < 0 ? NULL : malloc(((size_t)nodes + 1) * sizeof *p->number);
    p->total = total;
    if (input && p->number) {
        input[ninput++] = dae_graph_time(g);
        for (int k = 0; k < nodes; k++) {
            dae_node x = dae_graph_node(g, node[k]);
            if (x.op != OP_PARAMETER && x.op != OP_DISCRETE) continue;
            p->number[p->nconstant++] = x.op == OP_PARAMETER ? x.a : -1 - x.a;
            input[ninput++] = node[k];
        }
        memcpy(input + ninput, leaf, (size_t)total * sizeof *input);
        p->program = dae_graph_failed(g) ? NULL
                                         : dae_program_create_split(g, ninput + total, input, 0, ninput,
                                                                    total, noutput, output, place, NULL);
    }
    free(node);
    free(input);
    return p->program != NULL;
}

/* More iterations at once: correction[m] becomes the sum of all, last[m] is the last one; the pivots of iteration k are watch[k m ...]. */
static void iterate_again(dae_graph *g, const dae_plan_stage *s, const int *leaf, int *correction, int *last,
                          int *watch)
{
    int m = s->nodes.m, from[SEVERAL], to[SEVERAL], first[SEVERAL];
    for (int i = 0; i < m; i++) {
        from[i] = leaf[s->unknown[i]];
        first[i] = correction[i];
    }
    for (int k = 1; k < ITERATIONS; k++) {
        for (int i = 0; i < m; i++) to[i] = dae_graph_subtract(g, from[i], correction[i]);
        for (int i = 0; i < m; i++) {
            last[i] = dae_graph_substitute(g, first[i], m, from, to);
            watch[k * m + i] = watch[i] < 0 ? -1 : dae_graph_substitute(g, watch[i], m, from, to);
        }
        for (int i = 0; i < m; i++) correction[i] = dae_graph_add(g, correction[i], last[i]);
    }
}

/* Adds the pivots that have to be looked at; watch[k] is pivot first + k % m of the piece. */
static void add_watch(piece *p, int count, const int *watch, int m, int first, int behind, int *output)
{
    for (int k = 0; k < count; k++) {
        if (watch[k] < 0) continue;
        output[p->nresult + p->nwatch] = watch[k];
        p->at[p->nwatch] = behind + p->nwatch;
        p->watch[p->nwatch++] = first + k % m;
    }
}

/* Newton's correction of a stage. */
static int plan_newton(dae_graph *g, piece *p, const int *leaf, const dae_plan_stage *s, int *output,
                       int *watch)
{
    int m = s->nodes.m, several = m <= SEVERAL;
    if (!dae_elimination_solve(g, &s->nodes, s->row, s->pivot_at, MOST_NODES, output, watch)) return 0;
    if (several) iterate_again(g, s, leaf, output, output + m, watch);
    p->nresult = several ? 2 * m : m;
    p->last = p->nresult - m;
    for (int i = 0; i < p->nresult; i++) p->result[i] = i;
    add_watch(p, several ? ITERATIONS * m : m, watch, m, 0, p->nresult, output);
    return 1;
}

/* Linear stages one after another. */
static int plan_direct(dae_graph *g, piece *p, int total, const int *leaf, const dae_plan_stage *s,
                       int *output, int *watch, known *k)
{
    int good = 1;
    for (int q = 0; q < p->count; q++) p->nresult += s[q].nodes.m;
    for (int q = 0, first = 0; good && q < p->count; first += s[q].nodes.m, q++) {
        good = solve_linear(g, &s[q], leaf, k, watch);
        for (int i = 0; good && i < s[q].nodes.m; i++) p->result[first + i] = s[q].unknown[i];
        if (good) add_watch(p, s[q].nodes.m, watch, s[q].nodes.m, first, total, output);
    }
    if (good) memcpy(output, k->node, (size_t)p->nresult * sizeof *output);
    return good;
}

static int plan_piece(dae_graph *g, piece *p, int total, const int *leaf, const dae_plan_stage *s)
{
    size_t size = 1;
    for (int q = 0; q < p->count; q++) size += ITERATIONS * (size_t)s[q].nodes.m;
    int *space = malloc(7 * size * sizeof *space), *output = space, *to = space ? output + 2 * size : NULL;
    int *watch = space ? to + 2 * size : NULL;
    known k = {0, space ? watch + size : NULL, space ? watch + 2 * size : NULL};
    p->result = malloc(size * sizeof *p->result);
    p->at = malloc(size * sizeof *p->at);
    p->watch = malloc(size * sizeof *p->watch);
    int good = space && p->result && p->at && p->watch &&
               (p->direct ? plan_direct(g, p, total, leaf, s, output, watch, &k)
                          : plan_newton(g, p, leaf, s, output, watch));
    if (good) {
        memcpy(to, p->result, (size_t)p->nresult * sizeof *to);
        memcpy(to + p->nresult, p->at, (size_t)p->nwatch * sizeof *to);
        good = make_program(g, p, total, leaf, p->nresult + p->nwatch, output, to);
    }
    free(space);
    return good;
}

dae_plan *dae_plan_create(dae_graph *g, int n, const int *place, int nstage, const dae_plan_stage *stage)
{
    dae_plan *p = calloc(1, sizeof *p);
    int *leaf = leaves_of(g, n, place), good = p && leaf;
    if (good) good = (p->piece = calloc((size_t)nstage + 1, sizeof *p->piece)) != NULL;
    for (int s = 0; s < nstage && good; s += p->piece[s].count) {
        piece *now = &p->piece[s];
        p->nstage = nstage;
        now->count = 1;
        now->direct = stage[s].linear;
        while (now->direct && s + now->count < nstage && stage[s + now->count].linear) now->count++;
        good = plan_piece(g, now, place[n], leaf, stage + s);
        if (!good) break;
        now->work = p->work;
        p->work += dae_program_work(now->program) + 1;
    }
    free(leaf);
    if (good) return p;
    dae_plan_destroy(p);
    return NULL;
}

/* ---- Running ------------------------------------------------------------------------------------------ */

size_t dae_plan_work(const dae_plan *p)
{
    return p->work;
}

void dae_plan_start(const dae_plan *p, double *work, const double *parameter, const double *discrete)
{
    for (int s = 0; s < p->nstage; s++) {
        const piece *now = &p->piece[s];
        if (!now->program) continue;
        dae_program_start(now->program, work + now->work);
        for (int k = 0; k < now->nconstant; k++) {
            int i = now->number[k];
            work[now->work + 1 + (size_t)k] = i >= 0 ? parameter[i] : discrete[-1 - i];
        }
    }
}

int dae_plan_direct(const dae_plan *p, int s)
{
    return p->piece[s].direct ? p->piece[s].count : 0;
}

int dae_plan_last(const dae_plan *p, int s)
{
    return p->piece[s].last;
}

int dae_plan_run(const dae_plan *p, int s, double *work, double t, const double *X, const double *pivot,
                 double *out)
{
    const piece *now = &p->piece[s];
    double sum = 0;
    work += now->work;
    if (!dae_program_evaluate(now->program, work, t, X, out)) {
        work[0] = t;
        memcpy(work + 1 + now->nconstant, X, (size_t)now->total * sizeof *work);
        dae_program_run(now->program, work, out);
    }
    for (int q = 0; q < now->nwatch; q++) {
        if (!(fabs(out[now->at[q]]) > SHRUNK * pivot[now->watch[q]])) return 1;
    }
    for (int k = 0; k < now->nresult; k++) sum += out[now->result[k]] * 0;
    return !(sum == 0);
}
