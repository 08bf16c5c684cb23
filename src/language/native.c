/* What does not depend on the processor, see native_parts.h. */
#include "language/native_parts.h"

#include <math.h>
#include <stdlib.h>

dae_one_fn *dae_native_function(int op)
{
    switch (op) {
    case OP_SIN: return sin;
    case OP_COS: return cos;
    case OP_TAN: return tan;
    case OP_ASIN: return asin;
    case OP_ACOS: return acos;
    case OP_ATAN: return atan;
    case OP_SINH: return sinh;
    case OP_COSH: return cosh;
    case OP_TANH: return tanh;
    case OP_EXP: return exp;
    case OP_LOG: return log;
    case OP_LOG10: return log10;
    case OP_CBRT: return cbrt;
    case OP_FLOOR: return floor;
    case OP_CEIL: return ceil;
    default: return NULL;
    }
}

dae_two_fn *dae_native_function_of_two(int op)
{
    return op == OP_POW ? pow : op == OP_ATAN2 ? atan2 : op == OP_HYPOT ? hypot : NULL;
}

int dae_native_agrees(dae_native *n, const dae_program *p)
{
    size_t size = dae_program_work(p), most = 0;
    for (int i = 0; i < p->noutput; i++) {
        size_t where = (size_t)(p->place ? p->place[i] : i) + 1;
        if (where > most) most = where;
    }
    double *a = calloc(size + 2 * most + 1, sizeof *a), *out = a ? a + size : NULL,
           *same = a ? out + most : NULL;
    unsigned seed = 12345;
    int good = a != NULL;
    for (int round = 0; good && round < 3; round++) {
        dae_program_start(p, a);
        for (int i = 0; i < p->ninput; i++) {
            seed = seed * 1664525u + 1013904223u;
            a[i] = ((double)(seed >> 8) / 16777216 - (round == 0 ? 0 : 0.5)) * (round == 2 ? 20 : 1);
        }
        good = dae_native_run(n, a, p->time < 0 ? 0 : a[p->time], a + p->first_y, out);
        dae_program_run_levels(p, a, same);
        for (size_t i = 0; good && i < most; i++)
            good = out[i] == same[i] || (out[i] != out[i] && same[i] != same[i]);
    }
    free(a);
    return good;
}

#if !defined(DAE_NATIVE_X86) && !defined(DAE_NATIVE_WASM)

dae_native *dae_native_create(const dae_program *p)
{
    (void)p;
    return NULL;
}

void dae_native_destroy(dae_native *n)
{
    (void)n;
}

int dae_native_run(dae_native *n, const double *work, double t, const double *y, double *out)
{
    (void)n, (void)work, (void)t, (void)y, (void)out;
    return 0;
}

int dae_native_is_there(const dae_native *n)
{
    (void)n;
    return 0;
}

#endif
