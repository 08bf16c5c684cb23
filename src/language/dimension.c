/* Arithmetic of dimensions: what +, *, functions do with units. */
#include "language/dimension.h"

#include "language/expression_code.h"

#include <string.h>

int dae_dimension_same(const dae_dimension *a, const dae_dimension *b)
{
    return !memcmp(a->power, b->power, sizeof a->power);
}

dae_dimension dae_dimension_times(const dae_dimension *a, const dae_dimension *b, int power)
{
    dae_dimension d = {.soft = a->soft};
    if (a->soft == 1 || b->soft == 1) d.soft = 1;
    else if (!a->soft && dae_dimension_same(a, &(dae_dimension){0})) d.soft = b->soft; /* a plain factor */
    else if (!b->soft && !dae_dimension_same(b, &(dae_dimension){0})) d.soft = 0;
    for (int i = 0; i < DAE_BASE_UNITS; i++) {
        int sum = a->power[i] + power * b->power[i];
        if (sum < -100 || sum > 100) sum = 0, d.soft = 1;
        d.power[i] = (signed char)sum;
    }
    return d;
}

int dae_dimension_agree(const dae_dimension *a, const dae_dimension *b, dae_dimension *out)
{
    int same = dae_dimension_same(a, b), implied = a->soft == DAE_IMPLIED && b->soft == DAE_IMPLIED;
    *out = (a->soft && !b->soft) || (a->soft == 1 && b->soft) ? *b : *a;
    if (implied && !same) out->soft = 1;
    return a->soft == 1 || b->soft == 1 || implied || same;
}

static dae_dimension root(dae_dimension d, int n)
{
    for (int i = 0; i < DAE_BASE_UNITS; i++) {
        if (d.power[i] % n) d.soft = 1;
        d.power[i] = (signed char)(d.power[i] / n);
    }
    return d;
}

dae_dimension dae_dimension_call(int op, const dae_dimension *in, int fault[2])
{
    static const dae_dimension none;
    dae_dimension d = in[0], other;
    fault[0] = fault[1] = -1;
    switch (op) {
    case OP_ABS:
    case OP_FLOOR:
    case OP_CEIL: return d;
    case OP_MIN:
    case OP_MAX:
    case OP_MOD:
    case OP_HYPOT:
    case OP_ATAN2:
        if (!dae_dimension_agree(&in[0], &in[1], &d)) fault[0] = 0, fault[1] = 1;
        return op == OP_ATAN2 ? none : d;
    case OP_IF:
        if (!dae_dimension_agree(&in[1], &in[2], &d)) fault[0] = 1, fault[1] = 2;
        return d;
    case OP_SIGN:
    case OP_STEP: return none;
    case OP_SMOOTH:
        for (int k = 2; k > 0; k--) {
            if (!dae_dimension_agree(&in[0], &in[k], &other)) fault[0] = 0, fault[1] = k;
        }
        return none;
    case OP_SQRT: return root(d, 2);
    case OP_CBRT: return root(d, 3);
    case OP_POW: d.soft = 1; return d;
    default:
        if (!d.soft && !dae_dimension_same(&d, &none)) fault[0] = 0;
        other = none;
        other.soft = d.soft;
        return other;
    }
}
