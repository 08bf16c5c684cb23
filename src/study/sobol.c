/* Sobol's sequence in Gray code order, with the direction numbers of S. Joe and F. Y. Kuo, Constructing Sobol sequences
 * with better two-dimensional projections, SIAM J. Sci. Comput. 30 (2008) 2635-2654 (their file new-joe-kuo-6). */
#include <daedalus/study.h>

#include <math.h>
#include <stdint.h>

enum { bits = 32, dimensions = 16 };

/* Degree and inner coefficients of a primitive polynomial, first direction integers. Coordinate 0 is van der Corput's. */
static const struct {
    unsigned degree, inner;
    unsigned m[6];
} table[dimensions - 1] = {
    {1, 0, {1}},
    {2, 1, {1, 3}},
    {3, 1, {1, 3, 1}},
    {3, 2, {1, 1, 1}},
    {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}},
    {5, 2, {1, 1, 5, 5, 17}},
    {5, 4, {1, 1, 5, 5, 5}},
    {5, 7, {1, 1, 7, 11, 19}},
    {5, 11, {1, 1, 5, 1, 1}},
    {5, 13, {1, 1, 1, 3, 11}},
    {5, 14, {1, 3, 5, 5, 31}},
    {6, 1, {1, 3, 3, 9, 7, 49}},
    {6, 13, {1, 1, 1, 15, 21, 21}},
    {6, 16, {1, 3, 1, 13, 27, 49}},
};

static void directions(int dimension, uint32_t v[bits])
{
    if (dimension == 0) {
        for (int i = 0; i < bits; i++) v[i] = UINT32_C(1) << (31 - i);
        return;
    }
    unsigned s = table[dimension - 1].degree, a = table[dimension - 1].inner;
    for (unsigned i = 0; i < bits; i++) {
        if (i < s) {
            v[i] = (uint32_t)table[dimension - 1].m[i] << (31 - i);
            continue;
        }
        v[i] = v[i - s] ^ (v[i - s] >> s);
        for (unsigned k = 1; k < s; k++) {
            if ((a >> (s - 1 - k)) & 1) v[i] ^= v[i - k];
        }
    }
}

double dae_sobol(int dimension, unsigned long k)
{
    uint32_t v[bits], x = 0, gray = (uint32_t)(k ^ (k >> 1));
    if (dimension < 0 || dimension >= dimensions) return NAN;
    directions(dimension, v);
    for (int i = 0; i < bits; i++) {
        if ((gray >> i) & 1) x ^= v[i];
    }
    return ldexp((double)x, -32);
}
