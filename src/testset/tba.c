/* Two bit adding unit: a digital circuit of 39 MOS transistors that adds A1A0 + B1B0 + Cin, in charge form.
 *
 *     y' = f(t,x),  0 = y - g(x),   y the charges and x the voltages of 175 nodes;  the state is (y, x)
 *
 * A transistor with inner nodes a (source), b (drain), c, d (bulk at source and drain) and terminals G, D, S
 * adds, every letter standing for its voltage,
 *     f_a: -(a-S)/RGS - I      f_S: (a-S)/RGS - jn(c-S)      f_c: -(c-VBB)/RBS + jn(c-S)
 *     f_b: -(b-D)/RGD + I      f_D: (b-D)/RGD - jn(d-D)      f_d: -(d-VBB)/RBD + jn(d-D)
 *     g_a: CGS (a-G)           g_S: -cb(c-S) (c-S)           g_c: cb(c-S) (c-S)
 *     g_b: CGD (b-G)           g_D: -cb(d-D) (d-D)           g_d: cb(d-D) (d-R)
 *     g_G: CGS (G-a) + CGD (G-b)
 * where I = -H(G-a, c-S, b-a) for b > a and H(G-b, d-D, a-b) for b < a. If G is an input V(t), g has a and b
 * in place of a-G and b-G, and f_a, f_b get CGS V', CGD V'. What would go to a supply or an input is dropped.
 * R = D, but ground for the loads, and in the published routine a wrong node for the second driver of the NOR
 * gates (an index slip, to which the published reference belongs; variant = corrected is without it).
 *
 * Setup expands the gates of tba_netlist.h; the Jacobian is a constant part plus the stamps of the
 * transistors. Source: M. Guenther, Ladungsorientierte Rosenbrock-Wanner-Methoden zur numerischen Simulation
 * digitaler Schaltungen, 1995; test set report, release 2.3, part II-16. */
#include "core/vector.h"
#include "testset/tba_netlist.h"
#include "testset/testset.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { N = 2 * NODES, STAMPS = 31 };

/* In the order of the parameters: conductances 1/RGS, 1/RGD, 1/RBS, 1/RBD; capacities; junction; slope of the channel; supplies; Shichman
 * and Hodges' threshold, body effect, surface potential and gain of the depletion transistors (the loads) and of the enhancement
 * transistors. All scaled as in the routine. */
typedef struct constants {
    double YGS, YGD, YBS, YBD, CGS, CGD, CB, COUT, PHIB, IS, VTH, DELTA, V_DD, VBB;
    double VT0_load, gamma_load, phi_load, beta_load, VT0, gamma, phi, beta;
} constants;

typedef struct transistor {
    int a, b, c, d, G, D, S, R;
    double VT0_minus, gamma, phi, beta; /* VT0_minus = VT0 - gamma sqrt(phi) */
} transistor;

typedef struct stamp {
    int position, value; /* jac[position] += value[..] */
} stamp;

typedef struct tba {
    constants is;
    double per_VTH, per_PHIB;
    transistor transistor[TRANSISTORS];
    int colptr[N + 1], *rowind;
    double *constant;           /* the constant part of the Jacobian */
    int first[TRANSISTORS + 1]; /* its stamps */
    stamp stamp[TRANSISTORS * STAMPS];
} tba;

/* ---- Evaluation ------------------------------------------------------------------------------ */

/* An input and its slope, left continuous. */
static double input(const pulse *p, double t, double *slope)
{
    double tau = fmod(t, p->period) - p->delay;
    *slope = 0;
    if (!(tau > 0)) return 0;
    if (!(tau > 5)) return *slope = 1, tau;
    if (!(tau > 5 + p->high)) return 5;
    if (!(tau > 10 + p->high)) return *slope = -1, 5 - (tau - 5 - p->high);
    return 0;
}

/* All voltages: nodes, supplies, inputs; slope[G] for G >= V1. */
static void voltages(const tba *m, double t, const double *x, double *v, double *slope)
{
    dae_copy(NODES, x, v);
    v[VDD] = m->is.V_DD;
    v[GND] = 0;
    for (int i = 0; i < INPUTS; i++) v[V1 + i] = input(&input_pulse[i], t, &slope[i]);
}

/* Columns beside the solution: the inputs. */
static int inputs(const dae_problem *p, int count, const double *t, const double *y, const double *a,
                  const double *lambda, double *value)
{
    double slope;
    (void)p, (void)y, (void)a, (void)lambda;
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < INPUTS; i++) value[k * INPUTS + i] = input(&input_pulse[i], t[k], &slope);
    }
    return 0;
}

static double junction(const tba *m, double v)
{
    return v <= 0 ? -m->is.IS * (exp(v * m->per_VTH) - 1) : 0;
}

static double capacity(const tba *m, double v)
{
    return v <= 0 ? m->is.CB / sqrt(1 - v * m->per_PHIB) : m->is.CB * (1 + v / (2 * m->is.PHIB));
}

/* H and its derivatives by vg, vb and w. 1: undefined. */
static int channel(const tba *m, const transistor *q, double vg, double vb, double w, double *H, double dH[3])
{
    double inner = q->phi - vb;
    if (inner < 0) return 1;
    double root = sqrt(inner), u = vg - q->VT0_minus - q->gamma * root, by_u, by_w,
           slope = 1 + m->is.DELTA * w;
    if (u <= 0) {
        *H = by_u = by_w = 0;
    } else if (u <= w) {
        *H = q->beta * u * u * slope;
        by_u = 2 * q->beta * u * slope;
        by_w = q->beta * u * u * m->is.DELTA;
    } else {
        *H = q->beta * w * (2 * u - w) * slope;
        by_u = 2 * q->beta * w * slope;
        by_w = q->beta * (2 * (u - w) * slope + w * (2 * u - w) * m->is.DELTA);
    }
    if (dH) {
        dH[0] = by_u;
        dH[1] = by_u * q->gamma * 0.5 / root;
        dH[2] = by_w;
    }
    return 0;
}

static int rhs(double t, const double *y, double *f, void *user)
{
    const tba *m = user;
    double v[VOLTAGES], slope[INPUTS], F[VOLTAGES] = {0}, g[VOLTAGES] = {0};
    voltages(m, t, y + NODES, v, slope);
    for (int k = 0; k < TRANSISTORS; k++) {
        const transistor *q = &m->transistor[k];
        double a = v[q->a], b = v[q->b], c = v[q->c], d = v[q->d], G = v[q->G], D = v[q->D], S = v[q->S];
        double I = 0;
        if (b > a) {
            if (channel(m, q, G - a, c - S, b - a, &I, NULL)) return 1;
            I = -I;
        } else if (b < a) {
            if (channel(m, q, G - b, d - D, a - b, &I, NULL)) return 1;
        }
        double js = junction(m, c - S), jd = junction(m, d - D), ia = m->is.YGS * (a - S),
               ib = m->is.YGD * (b - D);
        F[q->a] += -ia - I;
        F[q->b] += -ib + I;
        F[q->c] += -m->is.YBS * (c - m->is.VBB) + js;
        F[q->d] += -m->is.YBD * (d - m->is.VBB) + jd;
        F[q->S] += ia - js;
        F[q->D] += ib - jd;

        double cs = capacity(m, c - S) * (c - S), cd = capacity(m, d - D);
        g[q->c] += cs;
        g[q->S] -= cs;
        g[q->d] += cd * (d - v[q->R]);
        g[q->D] -= cd * (d - D);
        if (q->G < NODES) {
            g[q->a] += m->is.CGS * (a - G);
            g[q->b] += m->is.CGD * (b - G);
            g[q->G] += m->is.CGS * (G - a) + m->is.CGD * (G - b);
        } else {
            g[q->a] += m->is.CGS * a;
            g[q->b] += m->is.CGD * b;
            F[q->a] += m->is.CGS * slope[q->G - V1];
            F[q->b] += m->is.CGD * slope[q->G - V1];
        }
    }
    for (int i = 0; i < 3; i++) g[output_node[i]] += m->is.COUT * v[output_node[i]];
    for (int i = 0; i < NODES; i++) {
        f[i] = F[i];
        f[NODES + i] = y[i] - g[i];
    }
    return 0;
}

/* The values of a transistor's stamps, in the order of stamp_place. */
static int stamp_values(const tba *m, const transistor *q, const double *v, double *s)
{
    double a = v[q->a], b = v[q->b], c = v[q->c], d = v[q->d], G = v[q->G], D = v[q->D], S = v[q->S];
    double H, dH[3], I[7] = {0}; /* dI by a, b, c, d, G, D, S */
    if (b >= a) {
        if (channel(m, q, G - a, c - S, b - a, &H, dH)) return b > a;
        I[0] = dH[0] + dH[2];
        I[1] = -dH[2];
        I[2] = -dH[1];
        I[4] = -dH[0];
        I[6] = dH[1];
    } else {
        if (channel(m, q, G - b, d - D, a - b, &H, dH)) return 1;
        I[0] = dH[2];
        I[1] = -dH[0] - dH[2];
        I[3] = dH[1];
        I[4] = dH[0];
        I[5] = -dH[1];
    }
    for (int i = 0; i < 7; i++) {
        s[i] = -I[i];
        s[7 + i] = I[i];
    }
    double us = c - S, ud = d - D;
    double js = us <= 0 ? -m->is.IS / m->is.VTH * exp(us / m->is.VTH) : 0,
           jd = ud <= 0 ? -m->is.IS / m->is.VTH * exp(ud / m->is.VTH) : 0;
    double cs = capacity(m, us), cd = capacity(m, ud); /* and their derivatives */
    double dcs = us <= 0 ? 0.5 * cs / (m->is.PHIB - us) : 0.5 * m->is.CB / m->is.PHIB,
           dcd = ud <= 0 ? 0.5 * cd / (m->is.PHIB - ud) : 0.5 * m->is.CB / m->is.PHIB;
    double qs = cs + dcs * us, qd = cd + dcd * ud, far = dcd * (d - v[q->R]);
    const double rest[17] = {js, -js, -js, js,        jd,  -jd, -jd, jd, -qs,
                             qs, qs,  -qs, -cd - far, far, cd,  qd,  -qd};
    for (int i = 0; i < 17; i++) s[14 + i] = rest[i];
    return 0;
}

static int jacobian(double t, const double *y, double *jac, void *user)
{
    const tba *m = user;
    double v[VOLTAGES], slope[INPUTS], s[STAMPS];
    voltages(m, t, y + NODES, v, slope);
    dae_copy(m->colptr[N], m->constant, jac);
    for (int k = 0; k < TRANSISTORS; k++) {
        if (stamp_values(m, &m->transistor[k], v, s)) return 1;
        for (int i = m->first[k]; i < m->first[k + 1]; i++) jac[m->stamp[i].position] += s[m->stamp[i].value];
    }
    return 0;
}

/* ---- Expanding the netlist ------------------------------------------------------------------- */

static int terminal(const gate *g, int code)
{
    switch (code) {
    case U1:
    case U2:
    case U3: return g->input[U1 - code];
    case TO_VDD: return VDD;
    case TO_GND: return GND;
    case OUTPUT: return g->output;
    default: return g->first + code;
    }
}

/* 0: depletion; k: enhancement, k in series with k times the gain. */
static mos mos_type(const constants *c, int kind)
{
    if (kind == 0) return (mos){c->VT0_load, c->gamma_load, c->phi_load, c->beta_load};
    return (mos){c->VT0, c->gamma, c->phi, dae_problem_decimal(kind * c->beta)};
}

static void expand(tba *m, int slip)
{
    int k = 0;
    for (size_t i = 0; i < sizeof gate_table / sizeof gate_table[0]; i++) {
        const gate *g = &gate_table[i];
        for (int j = 0; j < 4 && gate_part[g->kind][j].type >= 0; j++) {
            const part *p = &gate_part[g->kind][j];
            mos type = mos_type(&m->is, p->type);
            transistor *q = &m->transistor[k++];
            q->a = g->first + p->inner;
            q->b = q->a + 1;
            q->c = q->a + 2;
            q->d = q->a + 3;
            q->G = terminal(g, p->gate);
            q->D = terminal(g, p->drain);
            q->S = terminal(g, p->source);
            q->R = p->type == 0 ? GND : slip && g->kind == NOR && j == 2 ? g->first + 14 : q->D;
            q->VT0_minus = type.VT0 - type.gamma * sqrt(type.phi);
            q->gamma = type.gamma;
            q->phi = type.phi;
            q->beta = type.beta;
        }
    }
    assert(k == TRANSISTORS);
}

/* Row and column of stamp i of a transistor; rows of g lie NODES below those of f. 0: dropped. */
static int stamp_place(const transistor *q, int i, int *row, int *column)
{
    const int wire[7] = {q->a, q->b, q->c, q->d, q->G, q->D, q->S};
    const int rows[17] = {q->c, q->c, q->S, q->S, q->d, q->d, q->D, q->D, q->c,
                          q->c, q->S, q->S, q->d, q->d, q->d, q->D, q->D};
    const int columns[17] = {q->c, q->S, q->c, q->S, q->d, q->D, q->d, q->D, q->c,
                             q->S, q->c, q->S, q->d, q->D, q->R, q->d, q->D};
    *row = i < 7 ? q->a : i < 14 ? q->b : rows[i - 14];
    *column = i < 14 ? wire[i % 7] : columns[i - 14];
    if (*row >= NODES || *column >= NODES) return 0;
    if (i >= 22) *row += NODES;
    *column += NODES;
    return 1;
}

typedef struct entry {
    int key; /* row + column*N */
    double value;
} entry;

static int compare_keys(const void *a, const void *b)
{
    int x = ((const entry *)a)->key, y = ((const entry *)b)->key;
    return (x > y) - (x < y);
}

enum { CONSTANTS_MAX = TRANSISTORS * 17 + 3 + NODES, ENTRIES_MAX = CONSTANTS_MAX + TRANSISTORS * STAMPS };

/* Adds an entry between voltages to the list (row, column: node or supply); below: 1 for rows of g. */
static void add(entry *list, int *count, int row, int column, int below, double value)
{
    if (row >= NODES || column >= NODES) return;
    list[(*count)++] = (entry){row + below * NODES + (column + NODES) * N, value};
}

static int constant_entries(const tba *m, entry *list)
{
    int n = 0;
    for (int k = 0; k < TRANSISTORS; k++) {
        const transistor *q = &m->transistor[k];
        add(list, &n, q->a, q->a, 0, -m->is.YGS);
        add(list, &n, q->a, q->S, 0, m->is.YGS);
        add(list, &n, q->S, q->a, 0, m->is.YGS);
        add(list, &n, q->S, q->S, 0, -m->is.YGS);
        add(list, &n, q->b, q->b, 0, -m->is.YGD);
        add(list, &n, q->b, q->D, 0, m->is.YGD);
        add(list, &n, q->D, q->b, 0, m->is.YGD);
        add(list, &n, q->D, q->D, 0, -m->is.YGD);
        add(list, &n, q->c, q->c, 0, -m->is.YBS);
        add(list, &n, q->d, q->d, 0, -m->is.YBD);
        add(list, &n, q->a, q->a, 1, -m->is.CGS);
        add(list, &n, q->b, q->b, 1, -m->is.CGD);
        add(list, &n, q->a, q->G, 1, m->is.CGS);
        add(list, &n, q->b, q->G, 1, m->is.CGD);
        add(list, &n, q->G, q->a, 1, m->is.CGS);
        add(list, &n, q->G, q->b, 1, m->is.CGD);
        add(list, &n, q->G, q->G, 1, -m->is.CGS - m->is.CGD);
    }
    for (int i = 0; i < 3; i++) add(list, &n, output_node[i], output_node[i], 1, -m->is.COUT);
    for (int i = 0; i < NODES; i++) list[n++] = (entry){NODES + i + i * N, 1}; /* y in y - g(x) */
    return n;
}

/* Pattern, constant part and stamps. list has room for ENTRIES_MAX. */
static int compile(dae_problem *p, tba *m, entry *list)
{
    int n = constant_entries(m, list), row, column;
    for (int k = 0; k < TRANSISTORS; k++) {
        for (int i = 0; i < STAMPS; i++) {
            if (stamp_place(&m->transistor[k], i, &row, &column)) list[n++] = (entry){row + column * N, 0};
        }
    }
    assert(n <= ENTRIES_MAX);
    qsort(list, (size_t)n, sizeof *list, compare_keys);
    int count = 0;
    for (int i = 0; i < n; i++) {
        if (count > 0 && list[count - 1].key == list[i].key) list[count - 1].value += list[i].value;
        else list[count++] = list[i];
    }
    m->rowind = dae_problem_ints(p, count);
    m->constant = dae_problem_reals(p, count);
    if (!m->rowind || !m->constant) return 0;
    for (int i = 0; i < count; i++) {
        m->rowind[i] = list[i].key % N;
        m->constant[i] = list[i].value;
        m->colptr[list[i].key / N + 1] = i + 1;
    }
    n = 0;
    for (int k = 0; k < TRANSISTORS; k++) {
        m->first[k] = n;
        for (int i = 0; i < STAMPS; i++) {
            if (!stamp_place(&m->transistor[k], i, &row, &column)) continue;
            entry wanted = {row + column * N, 0};
            const entry *found = bsearch(&wanted, list, (size_t)count, sizeof *list, compare_keys);
            m->stamp[n++] = (stamp){(int)(found - list), i};
        }
    }
    m->first[TRANSISTORS] = n;
    return 1;
}

/* ---- Data ------------------------------------------------------------------------------------ */

enum { JUMPS = 65 }; /* the slopes of the inputs jump at 0, 5, ..., 320 */
static const dae_parameter parameter[] = {
    {.name = "variant",
     .value = 0,
     .choices = "published|corrected",
     .help = "corrected: without the index slip of the published routine"},
    {"YGS", 1250, 1e-12, 1e12, NULL, 0, "", "1/RGS: gate to source (scaled)"},
    {"YGD", 1250, 1e-12, 1e12, NULL, 0, "", "1/RGD: gate to drain"},
    {"YBS", 500, 1e-12, 1e12, NULL, 0, "", "1/RBS: bulk to source"},
    {"YBD", 500, 1e-12, 1e12, NULL, 0, "", "1/RBD: bulk to drain"},
    {"CGS", 0.6, 1e-12, 1e12, NULL, 0, "", "capacity from gate to source"},
    {"CGD", 0.6, 1e-12, 1e12, NULL, 0, "", "capacity from gate to drain"},
    {"CB", 0.24, 1e-12, 1e12, NULL, 0, "", "capacity of the junctions at 0 V"},
    {"COUT", 2, 1e-12, 1e12, NULL, 0, "", "load of the outputs"},
    {"PHIB", 0.87, 1e-12, 1e12, NULL, 0, "V", "potential of the junctions"},
    {"IS", 5e-11, 1, -1, NULL, 0, "", "saturation current of the junctions"},
    {"VTH", 25.85, 1e-12, 1e12, NULL, 0, "", "thermal voltage"},
    {"DELTA", 0.02, 1, -1, NULL, 0, "", "slope of the channel current"},
    {"VDD", 5, 1, -1, NULL, 0, "V", "supply"},
    {"VBB", -2.5, 1, -1, NULL, 0, "V", "supply of the bulk"},
    {"VT0_load", -2.43, 1, -1, NULL, 0, "V", "threshold of the depletion transistors"},
    {"gamma_load", 0.2, 1e-12, 1e12, NULL, 0, "", "their body effect"},
    {"phi_load", 1.28, 1e-12, 1e12, NULL, 0, "", "their surface potential"},
    {"beta_load", 2.675, 1e-12, 1e12, NULL, 0, "", "their gain"},
    {"VT0", 0.2, 1, -1, NULL, 0, "V", "threshold of the enhancement transistors"},
    {"gamma", 0.035, 1e-12, 1e12, NULL, 0, "", "their body effect"},
    {"phi", 1.01, 1e-12, 1e12, NULL, 0, "", "their surface potential"},
    {"beta", 8.74, 1e-12, 1e12, NULL, 0, "", "their gain; k in series have k times it"},
    {.name = NULL}};
static const double yp0[N];
static const int plot[] = {NODES + NODE(49), NODES + NODE(130), NODES + NODE(148)};

static dae_status setup(dae_problem *p, dae_error *err)
{
    static const char *const column[INPUTS] = {"V1", "V2", "V3", "V4", "Cin"}, *const unit[INPUTS] = {
                                                                                   "V", "V", "V", "V", "V"};
    (void)err;
    int fixed = dae_problem_parameter(p, "variant") != 0;
    tba *m = dae_problem_take(p, 1, sizeof *m);
    entry *list = dae_problem_take(p, ENTRIES_MAX, sizeof *list);
    double *mass = dae_problem_reals(p, N), *y0 = dae_problem_reals(p, N), *f = dae_problem_reals(p, N);
    double *jump = dae_problem_reals(p, JUMPS);
    unsigned char *scored = dae_problem_take(p, N, 1);
    if (!m || !list || !mass || !y0 || !f || !jump || !scored) return DAE_ERR_MEMORY;
    dae_problem_constants(p, 1, &m->is, sizeof m->is);
    m->per_VTH = 1 / m->is.VTH;
    m->per_PHIB = 1 / m->is.PHIB;
    expand(m, !fixed);
    if (!compile(p, m, list)) return DAE_ERR_MEMORY;
    dae_copy(NODES, x_start, y0 + NODES);
    rhs(0, y0, f, m);
    for (int i = 0; i < NODES; i++) {
        y0[i] = -f[NODES + i]; /* y = g(x) */
        mass[i] = 1;
    }
    for (int i = 0; i < JUMPS; i++) jump[i] = 5 * i;
    for (int i = 0; i < 3; i++) scored[NODES + output_node[i]] = 1;
    p->system = (dae_system){
        .kind = DAE_KIND_DAE,
        .dae = {.n = N, .mass = dae_diagonal(N, mass), .f = rhs, .jac = jacobian, .user = m},
        .structure = {.jacobian = {.storage = DAE_SPARSE, .colptr = m->colptr, .rowind = m->rowind}}};
    p->t_end = 320;
    p->y0 = y0;
    p->yp0 = yp0;
    p->discontinuity = jump;
    p->ndiscontinuity = JUMPS;
    p->rtol = p->atol = 1e-2;
    p->h0 = 0.1;
    int is_default = dae_problem_is_default_from(p, 1);
    p->reference = !is_default ? NULL : fixed ? corrected : published;
    p->reference_digits = fixed ? 6.6 : 6.1; /* of the outputs; 5 of the rest as published */
    p->reference_source = fixed ? "recomputed: Radau IIA order 5, tolerance 1e-8, restarts"
                                : "RADAU5, tolerances 1e-5, without restarts (test set routine)";
    p->scored = scored;
    dae_problem_names(p, 0, NODES, "q%d");
    dae_problem_names(p, NODES, NODES, "x%d");
    dae_problem_names(p, plot[0], 1, "S0");
    dae_problem_names(p, plot[1], 1, "S1");
    dae_problem_names(p, plot[2], 1, "notC");
    dae_problem_units(p, NODES, NODES, "V");
    p->plot = plot;
    p->nplot = 3;
    p->derived = (dae_derived){.ncolumn = INPUTS, .column = column, .unit = unit, .columns = inputs};
    return DAE_OK;
}

const dae_problem_entry dae_problem_tba = {
    .info = {.name = "tba",
             .title = "Two bit adding unit",
             .aliases = "twobit",
             .kind = DAE_KIND_DAE,
             .n = N,
             .index = 1,
             .stiff = 1,
             .origin = "digital circuit, MOS transistors in charge form (Guenther 1995)",
             .parameter = parameter},
    .setup = setup};
