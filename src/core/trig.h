/* Sines and cosines of several angles at once: a loop without branches, which the compiler vectorizes. The argument is
 * reduced by multiples of pi/2 in three parts (Cody, Waite 1980), the kernels are those of fdlibm (Sun 1993). Errors are
 * below 2e-16 for |x| < 1e5; beyond, libm answers. */
#ifndef DAE_CORE_TRIG_H
#define DAE_CORE_TRIG_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__)
/* also into functions for wider vectors */
#define DAE_TRIG_INLINE static inline __attribute__((always_inline))
#else
#define DAE_TRIG_INLINE static inline
#endif

static inline uint64_t dae_bits(double x)
{
    uint64_t b;
    memcpy(&b, &x, sizeof b);
    return b;
}

static inline double dae_from_bits(uint64_t b)
{
    double x;
    memcpy(&x, &b, sizeof x);
    return x;
}

DAE_TRIG_INLINE void dae_sincos(int n, const double *restrict x, double *restrict s, double *restrict c)
{
    const double rounds =
        6755399441055744.0; /* 1.5 2^52: adding it rounds to a whole number, which is in the last bits */
    uint64_t far = 0;       /* not 0: an angle is beyond 1e5 */
    for (int i = 0; i < n; i++) far |= dae_bits(1e5 - fabs(x[i])) >> 63;
    for (int i = 0; far && i < n; i++) {
        s[i] = sin(x[i]);
        c[i] = cos(x[i]);
    }
    if (far) return;
    for (int i = 0; i < n; i++) {
        double shifted = x[i] * 6.36619772367581382433e-01 + rounds, k = shifted - rounds;
        uint64_t quadrant = dae_bits(shifted);
        double r = x[i] - k * 1.57079632673412561417e+00;
        r = r - k * 6.07710050630396597660e-11;
        r = r - k * 2.02226624879595063154e-21;
        double z = r * r, h = 0.5 * z, w = 1 - h;
        double ps = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10;
        ps = 2.75573137070700676789e-06 + z * ps;
        ps = -1.98412698298579493134e-04 + z * ps;
        ps = 8.33333333332248946124e-03 + z * ps;
        ps = -1.66666666666666324348e-01 + z * ps;
        double pc = 2.08757232129817482790e-09 - z * 1.13596475577881948265e-11;
        pc = -2.75573143513906633035e-07 + z * pc;
        pc = 2.48015872894767294178e-05 + z * pc;
        pc = -1.38888888888741095749e-03 + z * pc;
        pc = 4.16666666666666019037e-02 + z * pc;
        uint64_t a = dae_bits(r + r * z * ps), b = dae_bits(w + ((1 - w - h) + z * z * pc));
        uint64_t swap = (a ^ b) & (0 - (quadrant & 1)); /* odd quadrants: sine and cosine change places */
        a ^= swap ^ (quadrant & 2) << 62;
        b ^= swap ^ ((quadrant + 1) & 2) << 62;
        s[i] = dae_from_bits(a);
        c[i] = dae_from_bits(b);
    }
}

#endif
