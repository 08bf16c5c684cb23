/* Arithmetic of dimensions: what +, *, functions do with units. */
#include "language/dimension.h"

#include "language/expression_code.h"

#include <string.h>

int dae_dimension_same(const dae_dimension *a, const dae_dimension *b)
{
    return !memcmp(a->power, b->power, sizeof a->power);
}

/* 4 times it: the number may have a unit, too. */
static unsigned char multiple(const dae_dimension *d)
{
    static const dae_dimension none;
    if (!d->soft) return dae_dimension_same(d, &none) ? DAE_SCALED : DAE_WEIGHED;
    return d->soft == DAE_IMPLIED ? DAE_SCALED : d->soft;
}

/* What a product of the two is: the less certain of them. */
static unsigned char product(const dae_dimension *a, const dae_dimension *b)
{
    static const dae_dimension none;
    if (a->soft == 1 || b->soft == 1) return 1;
    if (a->soft == DAE_PLAIN) return multiple(b);
    if (b->soft == DAE_PLAIN) return multiple(a);
    if (a->soft == DAE_SCALED || b->soft == DAE_SCALED) return DAE_SCALED;
    if (a->soft == DAE_WEIGHED) return b->soft == DAE_IMPLIED ? DAE_SCALED : DAE_WEIGHED;
    if (b->soft == DAE_WEIGHED) return a->soft == DAE_IMPLIED ? DAE_SCALED : DAE_WEIGHED;
    if (!a->soft && dae_dimension_same(a, &none)) return b->soft; /* a plain factor */
    if (!b->soft && !dae_dimension_same(b, &none)) return 0;
    return a->soft;
}

dae_dimension dae_dimension_times(const dae_dimension *a, const dae_dimension *b, int power)
{
    dae_dimension d = {.soft = product(a, b)};
    for (int i = 0; i < DAE_BASE_UNITS; i++) {
        int sum = a->power[i] + power * b->power[i];
        if (sum < -100 || sum > 100) sum = 0, d.soft = 1;
        d.power[i] = (signed char)sum;
    }
    return d;
}

/* How much is known of it: what is more certain says the unit of a sum. */
static int certainty(const dae_dimension *d)
{
    static const int known[] = {5, 1, 4, 2, 3, 0};
    return known[d->soft];
}

int dae_dimension_agree(const dae_dimension *a, const dae_dimension *b, dae_dimension *out)
{
    int least = certainty(a) < certainty(b) ? certainty(a) : certainty(b);
    *out = certainty(a) < certainty(b) ? *b : *a;
    if (least < 2 || dae_dimension_same(a, b)) return 1; /* a number stands beside anything */
    if (!a->soft || !b->soft) return least < 4;
    out->soft = 1; /* signals of different units: coefficients without one */
    return 1;
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
    case OP_POW:
        if (d.soft != DAE_PLAIN) d.soft = 1;
        return d;
    default:
        if (!d.soft && !dae_dimension_same(&d, &none)) fault[0] = 0;
        other = none;
        other.soft = d.soft && d.soft != DAE_IMPLIED ? DAE_PLAIN : d.soft; /* sin(2*t) is a number */
        return other;
    }
}
