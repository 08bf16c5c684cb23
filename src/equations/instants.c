/* Instants of time-only switches, see instants.h. The switches are visited in the order of the graph, operands first, so that
 * between the instants known so far each switching function is smooth; there its changes of sign are found on a grid and refined by
 * bisection to the last bit, and then moved to where the switch itself, rounded as it is, takes its new value: the time before an
 * instant belongs to the old side, the instant to the new one. */
#include "equations/instants.h"

#include "language/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { grid = 32, max_instants = 100000 };

typedef struct finder {
    dae_model *m;
    double *at; /* ascending, with t0 first and t1 last */
    int n, capacity;
    dae_program *p; /* the present switching function, and the switch itself behind it */
    double *work;
    int failed;
} finder;

static double value_at(finder *x, double t)
{
    double v[2];
    x->work[0] = t;
    dae_program_run(x->p, x->work, v);
    return v[0];
}

static double switch_at(finder *x, double t)
{
    double v[2];
    x->work[0] = t;
    dae_program_run(x->p, x->work, v);
    return v[1];
}

/* The first time near t at which the switch has another value than before: t >= t2 switches at t2, and (t - t1)*k, rounded otherwise than
 * in the switching function, some units beside. Switches that do not jump stay. */
static double polish(finder *x, double t)
{
    enum { NEAR = 8 };
    double first = t, last = t;
    for (int k = 0; k < NEAR; k++) {
        first = nextafter(first, -INFINITY);
        last = nextafter(last, INFINITY);
    }
    double before = switch_at(x, first), jump = fabs(switch_at(x, last) - before) / 2;
    if (!(jump > 1e-9 * (fabs(before) + jump))) return t;
    for (double at = first; at < last; at = nextafter(at, INFINITY)) {
        if (fabs(switch_at(x, at) - before) >= jump) return at;
    }
    return last;
}

static void insert(finder *x, double t)
{
    if (x->failed) return;
    if (x->n == x->capacity) {
        int next = 2 * x->capacity + 64;
        double *bigger = realloc(x->at, (size_t)next * sizeof *bigger);
        if (!bigger || x->n > max_instants) {
            x->failed = bigger ? -2 : -1;
            if (bigger) x->at = bigger;
            return;
        }
        x->at = bigger;
        x->capacity = next;
    }
    x->at[x->n++] = t;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorted; instants closer than some rounding units are one. */
static void tidy(finder *x)
{
    int n = 0;
    double span = fabs(x->m->t1 - x->m->t0);
    qsort(x->at, (size_t)x->n, sizeof *x->at, ascending);
    for (int i = 0; i < x->n; i++) {
        if (n && x->at[i] - x->at[n - 1] <= 1e-14 * (fabs(x->at[i]) + span)) {
            if (i == x->n - 1) x->at[n - 1] = x->at[i]; /* the end stays */
            continue;
        }
        x->at[n++] = x->at[i];
    }
    x->n = n;
}

/* The crossing of `level` in [a, b], where the function is on different sides. */
static double bisect(finder *x, double a, double b, double level)
{
    int low = value_at(x, a) < level;
    for (int k = 0; k < 200; k++) {
        double c = a + (b - a) / 2;
        if (c == a || c == b) break;
        if ((value_at(x, c) < level) == low) a = c;
        else b = c;
    }
    return b;
}

/* Crossings of one level, or of all whole numbers, between neighbouring points. The ends are looked at a little inside:
 * at an instant itself the function may jump. */
static void scan_piece(finder *x, double a, double b, int whole)
{
    double inside = 1e-12 * (b - a), last = a + inside, f0 = value_at(x, last);
    for (int k = 1; k <= grid && !x->failed; k++) {
        double t = k == grid ? b - inside : a + (b - a) * k / grid, f1 = value_at(x, t);
        if (!isfinite(f0) || !isfinite(f1)) {
            f0 = f1, last = t;
            continue;
        }
        double lo = fmin(f0, f1), hi = fmax(f0, f1);
        if (!whole && ((f0 < 0) != (f1 < 0))) insert(x, polish(x, bisect(x, last, t, 0)));
        if (whole && hi - lo > max_instants) x->failed = -2;
        for (double level = ceil(lo); whole && level <= hi && !x->failed; level++) {
            if (level > lo) insert(x, polish(x, bisect(x, last, t, level)));
        }
        f0 = f1, last = t;
    }
}

/* node: the switching function; of: the switch. */
static void scan(finder *x, int node, int of, int whole)
{
    dae_model *m = x->m;
    int np = m->nparameter, pieces = x->n - 1;
    int *input = malloc((size_t)(np + 1) * sizeof *input);
    if (!input) {
        x->failed = -1;
        return;
    }
    input[0] = dae_graph_time(m->graph);
    for (int k = 0; k < np; k++) input[1 + k] = dae_graph_parameter(m->graph, k);
    x->p = dae_program_create(m->graph, np + 1, input, 2, (int[]){node, of}, NULL);
    x->work = x->p ? malloc(dae_program_work(x->p) * sizeof *x->work) : NULL;
    if (x->work) {
        dae_program_start(x->p, x->work);
        for (int k = 0; k < np; k++) x->work[1 + k] = m->parameter[k].value;
        for (int k = 0; k < pieces && !x->failed; k++) scan_piece(x, x->at[k], x->at[k + 1], whole);
        tidy(x);
    } else {
        x->failed = -1;
    }
    free(input);
    free(x->work);
    dae_program_destroy(x->p);
}

/* kind: 0 constant, 1 time only, 2 more. */
static void classify(const dae_graph *g, int count, const int *list, unsigned char *kind)
{
    int o;
    for (int i = 0; i < count; i++) {
        int op = dae_graph_node(g, list[i]).op;
        kind[i] = op == OP_TIME ? 1 : op == OP_DISCRETE || op == OP_VARIABLE ? 2 : 0;
        for (int k = 0; (o = dae_graph_operand(g, list[i], k)) >= 0; k++) {
            int lo = 0, hi = i;
            while (lo < hi) {
                int mid = (lo + hi) / 2;
                if (list[mid] < o) lo = mid + 1;
                else hi = mid;
            }
            if (kind[lo] > kind[i]) kind[i] = kind[lo];
        }
    }
}

static void corners(finder *x, const dae_curve *c, int a, int of)
{
    dae_graph *g = x->m->graph;
    if (c->kind == DAE_CURVE_SPLINE && c->outside == DAE_CURVE_LINE) return;
    for (int k = 0; k < c->n && !x->failed; k++)
        scan(x, dae_graph_sum(g, -c->x[k], 1, (dae_term[]){{a, 1}}), of, 0);
    if (c->outside == DAE_CURVE_PERIODIC) {
        double period = c->x[c->n - 1] - c->x[0];
        for (int k = 0; k + 1 < c->n && !x->failed; k++)
            scan(x, dae_graph_sum(g, -c->x[k] / period, 1, (dae_term[]){{a, 1 / period}}), of, 1);
    }
}

static void visit(finder *x, int node)
{
    dae_graph *g = x->m->graph;
    dae_node n = dae_graph_node(g, node);
    switch (n.op) {
    case OP_LT:
    case OP_LE:
    case OP_EQ:
    case OP_NE:
    case OP_MIN:
    case OP_MAX: scan(x, dae_graph_subtract(g, n.a, n.b), node, 0); break;
    case OP_ABS:
    case OP_SIGN:
    case OP_STEP: scan(x, n.a, node, 0); break;
    case OP_FLOOR:
    case OP_CEIL: scan(x, n.a, node, 1); break;
    case OP_MOD: scan(x, dae_graph_divide(g, n.a, n.b), node, 1); break;
    case OP_SMOOTH:
        scan(x, dae_graph_subtract(g, n.a, n.b), node, 0);
        scan(x, dae_graph_subtract(g, n.a, n.c), node, 0);
        break;
    case OP_CURVE: corners(x, dae_graph_get_curve(g, n.b), n.a, node); break;
    default: break;
    }
}

int dae_instants_find(dae_model *m, int nroot, const int *root, double **out)
{
    finder x = {.m = m};
    int *list, *open, next = 0, count = dae_graph_reach(m->graph, nroot, root, &list);
    int nopen = dae_graph_reach_switches(m->graph, nroot, root, &open); /* those outside of noevent */
    unsigned char *kind = count >= 0 && nopen >= 0 ? malloc((size_t)count + 1) : NULL;
    *out = NULL;
    insert(&x, fmin(m->t0, m->t1));
    insert(&x, fmax(m->t0, m->t1));
    if (!kind) x.failed = -1;
    else classify(m->graph, count, list, kind);
    for (int i = 0; i < count && !x.failed; i++) {
        if (next >= nopen || open[next] != list[i]) continue;
        next++;
        if (kind[i] == 1) visit(&x, list[i]);
    }
    free(kind);
    free(list);
    free(open);
    if (x.failed) {
        free(x.at);
        return x.failed;
    }
    memmove(x.at, x.at + 1, (size_t)(x.n - 1) * sizeof *x.at);
    *out = x.at;
    return x.n - 2;
}
