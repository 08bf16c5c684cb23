/* Evaluation of expressions: values, gradients, second derivatives along a curve. */
#include "language/expression_code.h"

#include <daedalus/system.h>

#include <math.h>
#include <string.h>

/* ---- Values -------------------------------------------------------------------------------------- */

static double whole_power(double x, int n)
{
    double y = 1, z = n < 0 ? 1 / x : x;
    for (unsigned k = (unsigned)(n < 0 ? -n : n); k; k >>= 1, z *= z) {
        if (k & 1) y *= z;
    }
    return y;
}

/* The segment of table (count points) in which x lies; the outer ones reach to infinity. */
static const double *segment(const double *table, int count, double x)
{
    int lo = 0, hi = count - 2;
    while (lo < hi) {
        int mid = (lo + hi + 1) / 2;
        if (x >= table[2 * mid]) lo = mid;
        else hi = mid - 1;
    }
    return table + 2 * lo;
}

/* A natural cubic spline (count points, then their second derivatives) at x: value, slope, curvature. */
static void spline_at(const double *table, int count, double x, double out[3])
{
    const double *p = segment(table, count, x), *m = table + 2 * count + (p - table) / 2;
    double h = p[2] - p[0], rise = (p[3] - p[1]) / h;
    if (x < p[0] || x > p[2]) { /* outside: the tangent at the end */
        int last = x > p[2];
        out[1] = rise + (last ? m[0] : -m[1]) * h / 6;
        out[0] = p[2 * last + 1] + out[1] * (x - p[2 * last]);
        out[2] = 0;
        return;
    }
    double b = (x - p[0]) / h, a = 1 - b;
    out[0] = a * p[1] + b * p[3] + ((a * a - 1) * a * m[0] + (b * b - 1) * b * m[1]) * h * h / 6;
    out[1] = rise + ((3 * b * b - 1) * m[1] - (3 * a * a - 1) * m[0]) * h / 6;
    out[2] = a * m[0] + b * m[1];
}

static double sign_of(double x)
{
    return (x > 0) - (x < 0);
}

/* 0 below a, 1 above b, a cubic with flat ends between. */
static double smooth(double x, double a, double b)
{
    double s = (x - a) / (b - a);
    if (s <= 0) return 0;
    if (s >= 1) return 1;
    return s * s * (3 - 2 * s);
}

double dae_expression_apply(const dae_instruction *i, const double *table, double a, double b, double c)
{
    switch (i->op) {
    case OP_ADD: return a + b;
    case OP_SUB: return a - b;
    case OP_MUL: return a * b;
    case OP_DIV: return a / b;
    case OP_NEG: return -a;
    case OP_POWI: return whole_power(a, i->c);
    case OP_LT: return a < b;
    case OP_LE: return a <= b;
    case OP_GT: return a > b;
    case OP_GE: return a >= b;
    case OP_EQ: return a == b;
    case OP_NE: return a != b;
    case OP_AND: return a != 0 && b != 0;
    case OP_OR: return a != 0 || b != 0;
    case OP_NOT: return a == 0;
    case OP_TABLE: {
        const double *p = segment(table + 2 * i->b, i->c, a);
        return p[1] + (p[3] - p[1]) * ((a - p[0]) / (p[2] - p[0]));
    }
    case OP_SPLINE: {
        double y[3];
        spline_at(table + 2 * i->b, i->c, a, y);
        return y[0];
    }
    case OP_SIN: return sin(a);
    case OP_COS: return cos(a);
    case OP_TAN: return tan(a);
    case OP_ASIN: return asin(a);
    case OP_ACOS: return acos(a);
    case OP_ATAN: return atan(a);
    case OP_ATAN2: return atan2(a, b);
    case OP_SINH: return sinh(a);
    case OP_COSH: return cosh(a);
    case OP_TANH: return tanh(a);
    case OP_EXP: return exp(a);
    case OP_LOG: return log(a);
    case OP_LOG10: return log10(a);
    case OP_SQRT: return sqrt(a);
    case OP_CBRT: return cbrt(a);
    case OP_ABS: return fabs(a);
    case OP_SIGN: return sign_of(a);
    case OP_FLOOR: return floor(a);
    case OP_CEIL: return ceil(a);
    case OP_MIN: return a < b ? a : b;
    case OP_MAX: return a > b ? a : b;
    case OP_POW: return pow(a, b);
    case OP_MOD: return a - b * floor(a / b);
    case OP_HYPOT: return hypot(a, b);
    case OP_STEP: return a >= 0;
    case OP_SMOOTH: return smooth(a, b, c);
    case OP_IF: return a != 0 ? b : c;
    default: return NAN;
    }
}

/* ---- Partial derivatives ------------------------------------------------------------------------- */

typedef struct partials {
    double d[3];       /* by a, b, c */
    double aa, ab, bb; /* second ones; c takes part in none that is curved, but see smooth */
} partials;

static partials smooth_partials(double x, double a, double b)
{
    partials p = {{0, 0, 0}, 0, 0, 0};
    double w = b - a, s = (x - a) / w;
    if (s <= 0 || s >= 1) return p;
    double ds = 6 * s * (1 - s);
    p.d[0] = ds / w;
    p.d[1] = ds * (x - b) / (w * w);
    p.d[2] = -ds * s / w;
    p.aa = 6 * (1 - 2 * s) / (w * w); /* second derivatives by the ends are not needed: curves run in x */
    return p;
}

static partials power_partials(double a, double b)
{
    partials p = {{0, 0, 0}, 0, 0, 0};
    double y = pow(a, b), l = a > 0 ? log(a) : 0;
    p.d[0] = b == 0 ? 0 : b * pow(a, b - 1);
    p.d[1] = y * l;
    p.aa = b == 0 || b == 1 ? 0 : b * (b - 1) * pow(a, b - 2);
    p.ab = a > 0 ? pow(a, b - 1) * (1 + b * l) : 0;
    p.bb = y * l * l;
    return p;
}

static partials partials_of(const dae_instruction *i, const double *table, double a, double b, double c,
                            double value)
{
    partials p = {{0, 0, 0}, 0, 0, 0};
    double q;
    switch (i->op) {
    case OP_ADD: p.d[0] = p.d[1] = 1; break;
    case OP_SUB: p.d[0] = 1, p.d[1] = -1; break;
    case OP_MUL: p.d[0] = b, p.d[1] = a, p.ab = 1; break;
    case OP_DIV:
        p.d[0] = 1 / b, p.d[1] = -value / b;
        p.ab = -1 / (b * b), p.bb = 2 * value / (b * b);
        break;
    case OP_NEG: p.d[0] = -1; break;
    case OP_POWI:
        p.d[0] = i->c * whole_power(a, i->c - 1);
        p.aa = i->c == 1 ? 0 : (double)i->c * (i->c - 1) * whole_power(a, i->c - 2);
        break;
    case OP_TABLE: {
        const double *s = segment(table + 2 * i->b, i->c, a);
        p.d[0] = (s[3] - s[1]) / (s[2] - s[0]);
        break;
    }
    case OP_SPLINE: {
        double y[3];
        spline_at(table + 2 * i->b, i->c, a, y);
        p.d[0] = y[1], p.aa = y[2];
        break;
    }
    case OP_SIN: p.d[0] = cos(a), p.aa = -value; break;
    case OP_COS: p.d[0] = -sin(a), p.aa = -value; break;
    case OP_TAN: p.d[0] = 1 + value * value, p.aa = 2 * value * p.d[0]; break;
    case OP_ASIN: q = 1 - a * a, p.d[0] = 1 / sqrt(q), p.aa = a / (q * sqrt(q)); break;
    case OP_ACOS: q = 1 - a * a, p.d[0] = -1 / sqrt(q), p.aa = -a / (q * sqrt(q)); break;
    case OP_ATAN: p.d[0] = 1 / (1 + a * a), p.aa = -2 * a * p.d[0] * p.d[0]; break;
    case OP_ATAN2:
        q = a * a + b * b;
        p.d[0] = b / q, p.d[1] = -a / q;
        p.aa = -2 * a * b / (q * q), p.bb = -p.aa, p.ab = (a * a - b * b) / (q * q);
        break;
    case OP_SINH: p.d[0] = cosh(a), p.aa = value; break;
    case OP_COSH: p.d[0] = sinh(a), p.aa = value; break;
    case OP_TANH: p.d[0] = 1 - value * value, p.aa = -2 * value * p.d[0]; break;
    case OP_EXP: p.d[0] = p.aa = value; break;
    case OP_LOG: p.d[0] = 1 / a, p.aa = -p.d[0] * p.d[0]; break;
    case OP_LOG10: p.d[0] = 0.43429448190325182765 / a, p.aa = -p.d[0] / a; break;
    case OP_SQRT: p.d[0] = 0.5 / value, p.aa = -p.d[0] / (2 * a); break;
    case OP_CBRT: p.d[0] = 1 / (3 * value * value), p.aa = -2 * p.d[0] / (3 * a); break;
    case OP_ABS: p.d[0] = sign_of(a); break;
    case OP_MIN: p.d[a < b ? 0 : 1] = 1; break;
    case OP_MAX: p.d[a > b ? 0 : 1] = 1; break;
    case OP_POW: p = power_partials(a, b); break;
    case OP_MOD: p.d[0] = 1, p.d[1] = -floor(a / b); break;
    case OP_HYPOT:
        q = value * value * value;
        p.d[0] = value > 0 ? a / value : 0, p.d[1] = value > 0 ? b / value : 0;
        if (value > 0) p.aa = b * b / q, p.ab = -a * b / q, p.bb = a * a / q;
        break;
    case OP_SMOOTH: p = smooth_partials(a, b, c); break;
    case OP_IF: p.d[a != 0 ? 1 : 2] = 1; break;
    default: break; /* comparisons, floor, sign, ...: zero */
    }
    return p;
}

/* ---- Switches ------------------------------------------------------------------------------------ */

/* The side on which the operands stand. */
static int side_of(const dae_instruction *i, const double *table, double a, double b)
{
    switch (i->op) {
    case OP_ABS:
    case OP_SIGN: return a > 0 ? 1 : -1;
    case OP_MIN: return a < b ? 1 : -1;
    case OP_MAX: return a > b ? 1 : -1;
    case OP_FLOOR: return (int)floor(a);
    case OP_CEIL: return (int)ceil(a);
    case OP_MOD: return (int)floor(a / b);
    case OP_TABLE: return (int)(segment(table + 2 * i->b, i->c, a) - (table + 2 * i->b)) / 2;
    default: return dae_expression_apply(i, table, a, b, 0) != 0 ? 1 : -1; /* step and comparisons */
    }
}

/* The operation on the given side, also beyond its border. */
static double apply_on(const dae_instruction *i, const double *table, int side, double a, double b)
{
    const double *p;
    switch (i->op) {
    case OP_ABS: return side * a;
    case OP_SIGN:
    case OP_FLOOR:
    case OP_CEIL: return side;
    case OP_MIN:
    case OP_MAX: return side > 0 ? a : b;
    case OP_MOD: return a - b * side;
    case OP_TABLE: p = table + 2 * (i->b + side); return p[1] + (p[3] - p[1]) * ((a - p[0]) / (p[2] - p[0]));
    default: return side > 0;
    }
}

static partials partials_on(const dae_instruction *i, const double *table, int side)
{
    partials p = {{0, 0, 0}, 0, 0, 0};
    const double *s;
    switch (i->op) {
    case OP_ABS: p.d[0] = side; break;
    case OP_MIN:
    case OP_MAX: p.d[side > 0 ? 0 : 1] = 1; break;
    case OP_MOD: p.d[0] = 1, p.d[1] = -side; break;
    case OP_TABLE:
        s = table + 2 * (i->b + side);
        p.d[0] = (s[3] - s[1]) / (s[2] - s[0]);
        break;
    default: break;
    }
    return p;
}

/* Distance of x to the nearer end of [low, high], and what lies beyond it. */
static double inside(double x, double low, double high, int side, int *next)
{
    *next = x - low < high - x ? side - 1 : side + 1;
    return fmin(x - low, high - x);
}

static double margin_of(const dae_instruction *i, const double *table, int side, double a, double b,
                        int *next)
{
    const double *p = table + 2 * i->b;
    *next = -side;
    switch (i->op) {
    case OP_ABS:
    case OP_SIGN:
    case OP_STEP: return side * a;
    case OP_MIN:
    case OP_LT:
    case OP_LE: return side * (b - a);
    case OP_MAX:
    case OP_GT:
    case OP_GE: return side * (a - b);
    case OP_FLOOR: return inside(a, side, side + 1, side, next);
    case OP_CEIL: return inside(a, side - 1, side, side, next);
    case OP_MOD: return inside(a / b, side, side + 1, side, next);
    default: /* table; the outer segments have no end */
        return inside(a, side == 0 ? -INFINITY : p[2 * side], side == i->c - 2 ? INFINITY : p[2 * side + 2],
                      side, next);
    }
}

int dae_expression_switches(const dae_expression *e)
{
    return e->nswitch;
}

/* The frozen side of an operation, or DAE_SIDE_FREE. */
static inline int frozen(const dae_instruction *i, const int *side)
{
    return side && i->s ? side[i->s - 1] : DAE_SIDE_FREE;
}

/* ---- Programs ------------------------------------------------------------------------------------ */

int dae_expression_operands(const dae_instruction *i)
{
    static const int count[] = {[OP_ADD] = 2,
                                [OP_SUB] = 2,
                                [OP_MUL] = 2,
                                [OP_DIV] = 2,
                                [OP_NEG] = 1,
                                [OP_POWI] = 1,
                                [OP_LT] = 2,
                                [OP_LE] = 2,
                                [OP_GT] = 2,
                                [OP_GE] = 2,
                                [OP_EQ] = 2,
                                [OP_NE] = 2,
                                [OP_AND] = 2,
                                [OP_OR] = 2,
                                [OP_NOT] = 1,
                                [OP_TABLE] = 1,
                                [OP_SPLINE] = 1,
#define X(name, id, n) [OP_##id] = n,
                                DAE_EXPRESSION_FUNCTIONS(X)
#undef X
    };
    return count[i->op];
}

size_t dae_expression_work(const dae_expression *e)
{
    size_t registers = (size_t)(e->nvariable + e->nconstant + e->ninstruction);
    size_t columns = e->nvariable > 2 ? (size_t)e->nvariable : 2;
    size_t own = registers * (1 + columns), program = dae_expression_program_work(e);
    return own > program ? own : program;
}

static void load(const dae_expression *e, const double *x, double *r)
{
    if (e->nvariable) memcpy(r, x, (size_t)e->nvariable * sizeof *r);
    if (e->nconstant) memcpy(r + e->nvariable, e->constant, (size_t)e->nconstant * sizeof *r);
}

double dae_expression_value(const dae_expression *e, const double *x, double *work)
{
    return dae_expression_value_on(e, NULL, x, work);
}

static double value_on(const dae_expression *e, const int *side, const double *x, double *work)
{
    double *r = work, *out = work + e->nvariable + e->nconstant;
    load(e, x, r);
    for (int k = 0; k < e->ninstruction; k++) {
        const dae_instruction *i = &e->code[k];
        switch (i->op) { /* the frequent ones without a call */
        case OP_ADD: out[k] = r[i->a] + r[i->b]; break;
        case OP_SUB: out[k] = r[i->a] - r[i->b]; break;
        case OP_MUL: out[k] = r[i->a] * r[i->b]; break;
        case OP_DIV: out[k] = r[i->a] / r[i->b]; break;
        case OP_NEG: out[k] = -r[i->a]; break;
        default: {
            int n = dae_expression_operands(i), on = frozen(i, side);
            double b = n > 1 ? r[i->b] : 0;
            out[k] = on != DAE_SIDE_FREE ? apply_on(i, e->table, on, r[i->a], b)
                                         : dae_expression_apply(i, e->table, r[i->a], b, n > 2 ? r[i->c] : 0);
        }
        }
    }
    return r[e->result];
}

/* A branch may have no value beyond its border, as sqrt(x) of if(x > 0, sqrt(x), 0): then the values decide. */
double dae_expression_value_on(const dae_expression *e, const int *side, const double *x, double *work)
{
    double y;
    if (e->program[DAE_EXPRESSION_VALUE] && dae_expression_run(e, DAE_EXPRESSION_VALUE, side, &x, &y, work))
        return y;
    y = value_on(e, side, x, work);
    return side && !isfinite(y) ? value_on(e, NULL, x, work) : y;
}

void dae_expression_margins(const dae_expression *e, const int *side, const double *x, double *margin,
                            int *next, double *work)
{
    if (!isfinite(value_on(e, side, x, work)) && side) value_on(e, NULL, x, work);
    for (int k = 0; k < e->ninstruction; k++) {
        const dae_instruction *i = &e->code[k];
        if (!i->s) continue;
        int on = frozen(i, side), j = i->s - 1;
        double a = work[i->a], b = dae_expression_operands(i) > 1 ? work[i->b] : 0;
        margin[j] = 0;
        if (on == DAE_SIDE_FREE) next[j] = side_of(i, e->table, a, b);
        else margin[j] = margin_of(i, e->table, on, a, b, &next[j]);
        margin[j] = fmax(-1e300, fmin(margin[j], 1e300)); /* of a table without ends */
    }
}

/* Value and partial derivatives of one operation. */
static partials operation(const dae_instruction *i, const double *table, int on, double a, double b, double c,
                          double *value)
{
    if (on != DAE_SIDE_FREE) {
        *value = apply_on(i, table, on, a, b);
        return partials_on(i, table, on);
    }
    *value = dae_expression_apply(i, table, a, b, c);
    return partials_of(i, table, a, b, c, *value);
}

/* Adds d * from to `to`; a factor of zero hides infinities (sqrt at 0). */
static void add_scaled(int n, double d, const double *from, double *to)
{
    if (d == 0) return;
    for (int k = 0; k < n; k++) {
        if (from[k] != 0) to[k] += d * from[k];
    }
}

double dae_expression_gradient(const dae_expression *e, const double *x, double *gradient, double *work)
{
    return dae_expression_gradient_on(e, NULL, x, gradient, work);
}

double dae_expression_gradient_on(const dae_expression *e, const int *side, const double *x, double *gradient,
                                  double *work)
{
    int n = e->nvariable, first = n + e->nconstant, registers = first + e->ninstruction;
    double *r = work, *g = work + registers;   /* g: n per register */
    if (e->program[DAE_EXPRESSION_GRADIENT]) { /* value and gradient come behind its registers */
        double *out = work + dae_expression_program_work(e) - n - 1;
        if (dae_expression_run(e, DAE_EXPRESSION_GRADIENT, side, &x, out, work)) {
            memcpy(gradient, out + 1, (size_t)n * sizeof *gradient);
            return out[0];
        }
    }
    load(e, x, r);
    memset(g, 0, (size_t)registers * (size_t)n * sizeof *g);
    for (int k = 0; k < n; k++) g[k * n + k] = 1;
    for (int k = 0; k < e->ninstruction; k++) {
        const dae_instruction *i = &e->code[k];
        int m = dae_expression_operands(i), in[3] = {i->a, m > 1 ? i->b : -1, m > 2 ? i->c : -1};
        double a = r[i->a], b = m > 1 ? r[i->b] : 0, c = m > 2 ? r[i->c] : 0;
        int on = frozen(i, side);
        partials p = operation(i, e->table, on, a, b, c, &r[first + k]);
        for (int j = 0; j < m; j++) add_scaled(n, p.d[j], g + in[j] * n, g + (first + k) * n);
    }
    memcpy(gradient, g + e->result * n, (size_t)n * sizeof *gradient);
    if (side && !isfinite(r[e->result])) return dae_expression_gradient_on(e, NULL, x, gradient, work);
    return r[e->result];
}

double dae_expression_curve(const dae_expression *e, const double *x, const double *x1, const double *x2,
                            double *out, double *work)
{
    return dae_expression_curve_on(e, NULL, x, x1, x2, out, work);
}

double dae_expression_curve_on(const dae_expression *e, const int *side, const double *x, const double *x1,
                               const double *x2, double *out, double *work)
{
    int n = e->nvariable, first = n + e->nconstant, registers = first + e->ninstruction;
    double *r = work, *r1 = work + registers, *r2 = r1 + registers, all[3];
    if (e->program[DAE_EXPRESSION_CURVE] &&
        dae_expression_run(e, DAE_EXPRESSION_CURVE, side, (const double *[]){x, x1, x2}, all, work)) {
        out[0] = all[1], out[1] = all[2];
        return all[0];
    }
    load(e, x, r);
    memset(r1, 0, 2 * (size_t)registers * sizeof *r1);
    for (int k = 0; k < n; k++) {
        r1[k] = x1[k];
        r2[k] = x2[k];
    }
    for (int k = 0; k < e->ninstruction; k++) {
        const dae_instruction *i = &e->code[k];
        int m = dae_expression_operands(i), in[3] = {i->a, m > 1 ? i->b : -1, m > 2 ? i->c : -1},
            to = first + k;
        double a = r[i->a], b = m > 1 ? r[i->b] : 0, c = m > 2 ? r[i->c] : 0;
        int on = frozen(i, side);
        partials p = operation(i, e->table, on, a, b, c, &r[to]);
        for (int j = 0; j < m; j++) {
            add_scaled(1, p.d[j], &r1[in[j]], &r1[to]);
            add_scaled(1, p.d[j], &r2[in[j]], &r2[to]);
        }
        double a1 = r1[i->a], b1 = m > 1 ? r1[i->b] : 0;
        if (a1 != 0) r2[to] += p.aa * a1 * a1 + (b1 != 0 ? 2 * p.ab * a1 * b1 : 0);
        if (b1 != 0) r2[to] += p.bb * b1 * b1;
    }
    out[0] = r1[e->result];
    out[1] = r2[e->result];
    return r[e->result];
}
