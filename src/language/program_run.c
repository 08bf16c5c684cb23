/* Evaluation of programs: one loop per run of equal operations. */
#include "language/native.h"

#include <math.h>
#include <string.h>

void dae_program_start(const dae_program *p, double *work)
{
    memset(work, 0, (size_t)p->ninput * sizeof *work);
    dae_program_constants(p, work);
}

void dae_program_constants(const dae_program *p, double *work)
{
    if (p->nconstant) memcpy(work + p->ninput, p->constant, (size_t)p->nconstant * sizeof *work);
}

/* z[i] = x[a[i]] op y[b[i]], without the indices where the operands follow each other. */
#define BINARY(expression)                                               \
    switch (run->dense) {                                                \
    case DAE_RUN_DENSE:                                                  \
        for (int i = 0; i < n; i++) z[i] = (u[i])expression(v[i]);       \
        return;                                                          \
    case DAE_RUN_ONE_BY_MANY:                                            \
        for (int i = 0; i < n; i++) z[i] = one expression(v[i]);         \
        return;                                                          \
    case DAE_RUN_MANY_BY_ONE:                                            \
        for (int i = 0; i < n; i++) z[i] = (u[i])expression other;       \
        return;                                                          \
    default:                                                             \
        for (int i = 0; i < n; i++) z[i] = (r[a[i]])expression(r[b[i]]); \
    }                                                                    \
    return

/* Two terms per pass, added one after the other. */
static void linear(const dae_program *p, const dae_run *run, double *r)
{
    int n = run->count, k = 0;
    const int *a = p->index + run->index;
    const double *f = p->factor + run->factor, *sum = f + (size_t)n * (size_t)run->terms;
    double *restrict z = r + run->to;
    for (; k + 1 < run->terms; k += 2, a += 2 * n, f += 2 * n, sum = z) {
        const int *b = a + n;
        const double *g = f + n;
        if (run->dense) {
            const double *x = r + a[0], *y = r + b[0];
            for (int i = 0; i < n; i++) z[i] = (sum[i] + f[i] * x[i]) + g[i] * y[i];
        } else {
            for (int i = 0; i < n; i++) z[i] = (sum[i] + f[i] * r[a[i]]) + g[i] * r[b[i]];
        }
    }
    if (k == run->terms) return;
    if (run->dense) {
        const double *x = r + a[0];
        for (int i = 0; i < n; i++) z[i] = sum[i] + f[i] * x[i];
    } else {
        for (int i = 0; i < n; i++) z[i] = sum[i] + f[i] * r[a[i]];
    }
}

#define UNARY(call)                                       \
    if (run->dense) {                                     \
        for (int i = 0; i < n; i++) z[i] = call(u[i]);    \
    } else {                                              \
        for (int i = 0; i < n; i++) z[i] = call(r[a[i]]); \
    }                                                     \
    return

double dae_program_apply(const dae_program *p, int op, int extra, double a, double b, double c)
{
    if (op == OP_PIECE) return dae_curve_piece(p->curve[extra / 4], (int)b, a, extra % 4);
    if (op == OP_CURVE) return dae_curve_value(p->curve[extra / 4], a, extra % 4);
    return dae_expression_apply(&(dae_instruction){.op = op, .c = extra}, NULL, a, b, c);
}

static void run_one(const dae_program *p, const dae_run *run, double *r)
{
    int n = run->count;
    const int *a = p->index + run->index, *b = a + (run->terms > 1 ? n : 0),
              *c = b + (run->terms > 2 ? n : 0);
    const double *u = r + a[0], *v = r + b[0], one = *u, other = *v;
    double *restrict z = r + run->to;
    switch (run->op) {
    case OP_LINEAR: linear(p, run, r); return;
    case OP_ADD: BINARY(+);
    case OP_SUB: BINARY(-);
    case OP_MUL: BINARY(*);
    case OP_DIV: BINARY(/);
    case OP_LT: BINARY(<);
    case OP_LE: BINARY(<=);
    case OP_NEG: UNARY(-);
    case OP_SQRT: UNARY(sqrt);
    case OP_ABS: UNARY(fabs);
    case OP_EXP: UNARY(exp);
    case OP_LOG: UNARY(log);
    case OP_SIN: UNARY(sin);
    case OP_COS: UNARY(cos);
    case OP_IF:
        for (int i = 0; i < n; i++) z[i] = r[a[i]] != 0 ? r[b[i]] : r[c[i]];
        return;
    default:
        for (int i = 0; i < n; i++)
            z[i] = dae_program_apply(p, run->op, run->extra, r[a[i]], r[b[i]], r[c[i]]);
    }
}

void dae_program_run_levels(const dae_program *p, double *work, double *out)
{
    for (int k = 0; k < p->nrun; k++) run_one(p, &p->run[k], work);
    if (p->place) {
        for (int i = 0; i < p->noutput; i++) out[p->place[i]] = work[p->output[i]];
    } else {
        for (int i = 0; i < p->noutput; i++) out[i] = work[p->output[i]];
    }
}

void dae_program_run(const dae_program *p, double *work, double *out)
{
    if (!dae_program_evaluate(p, work, p->time < 0 ? 0 : work[p->time], work + p->first_y, out))
        dae_program_run_levels(p, work, out);
}

int dae_program_evaluate(const dae_program *p, const double *work, double t, const double *y, double *out)
{
    return p->native && dae_native_run(p->native, work, t, y, out);
}
