#include "method/radau/kernels.h"

#include "core/vector.h"
#include "linalg/kernel.h"
#include "linalg/small.h"

#include <float.h>
#include <math.h>

/* The loops over components carry nothing from one to the next. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INDEPENDENT _Pragma("GCC ivdep")
#else
#define INDEPENDENT
#endif

DAE_KERNEL_BODY void right_sides(const int s, int n, int ld, const struct coefficients *m, double q,
                                 const double *restrict mw, double *restrict g)
{
    double gamma = m->gamma * q, alpha[S_MAX / 2], beta[S_MAX / 2];
    for (int k = 0; k < s / 2; k++) {
        alpha[k] = m->alpha[k] * q;
        beta[k] = m->beta[k] * q;
    }
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v[S_MAX];
        for (int k = 0; k < s; k++) {
            double x = m->Tinv[k][0] * g[i];
            for (int j = 1; j < s; j++) x += m->Tinv[k][j] * g[j * ld + i];
            v[k] = x;
        }
        g[i] = v[0] - gamma * mw[i];
        for (int k = 0; k < s / 2; k++) {
            double a = mw[(2 * k + 1) * ld + i], b = mw[(2 * k + 2) * ld + i];
            g[(2 * k + 1) * ld + i] = v[2 * k + 1] - (alpha[k] * a - beta[k] * b);
            g[(2 * k + 2) * ld + i] = v[2 * k + 2] - (beta[k] * a + alpha[k] * b);
        }
    }
}

DAE_KERNEL_BODY void update(const int s, int n, int ld, const struct coefficients *m,
                            const double *restrict g, const double *restrict weight, const double *restrict y,
                            double *restrict w, double *restrict z, double *restrict stage,
                            double *restrict square)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v[S_MAX], sum = 0;
        for (int k = 0; k < s; k++) {
            double dw = g[k * ld + i], x = dw * weight[i];
            sum = k ? sum + x * x : x * x;
            v[k] = w[k * ld + i] + dw;
            w[k * ld + i] = v[k];
        }
        square[i] = sum;
        for (int k = 0; k < s; k++) {
            double x = m->T[k][0] * v[0];
            for (int j = 1; j < s; j++) x += m->T[k][j] * v[j];
            z[k * ld + i] = x;
            stage[k * ld + i] = y[i] + x;
        }
    }
}

DAE_KERNEL_BODY void predict(const int s, int n, int ld, const struct coefficients *m, double q,
                             const double *restrict shift, const double *restrict cont,
                             const double *restrict y, double *restrict z, double *restrict w,
                             double *restrict stage)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v[S_MAX];
        for (int k = 0; k < s; k++) {
            double p = cont[s * ld + i], sigma = m->c[k] * q;
            for (int j = s - 1; j >= 1; j--) p = cont[j * ld + i] + (sigma - shift[j]) * p;
            v[k] = sigma * p;
            z[k * ld + i] = v[k];
            stage[k * ld + i] = y[i] + v[k];
        }
        for (int k = 0; k < s; k++) {
            double x = m->Tinv[k][0] * v[0];
            for (int j = 1; j < s; j++) x += m->Tinv[k][j] * v[j];
            w[k * ld + i] = x;
        }
    }
}

DAE_KERNEL_BODY void differences(const int s, int n, int ld, const double (*inverse)[S_MAX + 1],
                                 const double *restrict z, double *restrict cont)
{
    for (int k = 0; k <= s; k++) {
        for (int i = 0; i < n; i++) cont[k * ld + i] = k < s ? z[(s - 1 - k) * ld + i] : 0;
    }
    for (int k = 1; k <= s; k++) {
        for (int j = s; j >= k; j--) {
            double *restrict a = cont + j * ld;
            const double *restrict b = cont + (j - 1) * ld;
            double factor = inverse[k][j];
            for (int i = 0; i < n; i++) a[i] = (a[i] - b[i]) * factor;
        }
    }
}

DAE_KERNEL_BODY double bend(const int s, int n, int lanes, int ld, const double *restrict lead, double q,
                            const double *restrict z, const double *restrict last,
                            const double *restrict weight, double *restrict x)
{
    double power = q;
    for (int k = 1; k < s; k++) power *= q;
    INDEPENDENT
    for (int i = 0; i < lanes; i++) {
        double v = lead[0] * z[i];
        for (int k = 1; k < s; k++) v += lead[k] * z[k * ld + i];
        x[i] = v - power * last[i];
    }
    return dae_sum_squares(n, x, weight);
}

DAE_KERNEL_BODY void defect(const int s, int n, int ld, const struct coefficients *m, double q,
                            const double *restrict z, double *restrict out)
{
    INDEPENDENT
    for (int i = 0; i < n; i++) {
        double v = m->dd[0] * z[i];
        for (int k = 1; k < s; k++) v += m->dd[k] * z[k * ld + i];
        out[i] = v * q;
    }
}

DAE_KERNEL_BODY void weights(int n, const double *restrict atol, const double *restrict rtol,
                             const double *restrict y, double *restrict out)
{
    for (int i = 0; i < n; i++) {
        double w = atol[i] + rtol[i] * fabs(y[i]);
        out[i] = 1 / (w > DBL_MIN ? w : DBL_MIN);
    }
}

DAE_KERNEL_BODY void advance(int n, const double *restrict y_new, const double *restrict f_new,
                             const double *restrict atol, const double *restrict rtol, double *restrict y,
                             double *restrict f, double *restrict weight)
{
    for (int i = 0; i < n; i++) {
        y[i] = y_new[i];
        f[i] = f_new[i];
    }
    weights(n, atol, rtol, y_new, weight);
}

DAE_KERNEL(void, advance,
           (int n, const double *y_new, const double *f_new, const double *atol, const double *rtol,
            double *y, double *f, double *weight),
           advance(n, y_new, f_new, atol, rtol, y, f, weight))
DAE_KERNEL(void, weights, (int n, const double *atol, const double *rtol, const double *y, double *out),
           weights(n, atol, rtol, y, out))

#define KERNELS(s)                                                                                    \
    DAE_KERNEL(void, right_sides##s,                                                                  \
               (int n, int ld, const struct coefficients *m, double q, const double *mw, double *g),  \
               right_sides(s, n, ld, m, q, mw, g))                                                    \
    DAE_KERNEL(void, update##s,                                                                       \
               (int n, int ld, const struct coefficients *m, const double *g, const double *weight,   \
                const double *y, double *w, double *z, double *stage, double *square),                \
               update(s, n, ld, m, g, weight, y, w, z, stage, square))                                \
    DAE_KERNEL(void, predict##s,                                                                      \
               (int n, int ld, const struct coefficients *m, double q, const double *shift,           \
                const double *cont, const double *y, double *z, double *w, double *stage),            \
               predict(s, n, ld, m, q, shift, cont, y, z, w, stage))                                  \
    DAE_KERNEL(void, differences##s,                                                                  \
               (int n, int ld, const double(*inverse)[S_MAX + 1], const double *z, double *cont),     \
               differences(s, n, ld, inverse, z, cont))                                               \
    DAE_KERNEL(void, defect##s,                                                                       \
               (int n, int ld, const struct coefficients *m, double q, const double *z, double *out), \
               defect(s, n, ld, m, q, z, out))                                                        \
    DAE_KERNEL(double, bend##s,                                                                       \
               (int n, int ld, const double *lead, double q, const double *z, const double *last,     \
                const double *weight, double *x),                                                     \
               return bend(s, n, n, ld, lead, q, z, last, weight, x))

KERNELS(3)
KERNELS(5)
KERNELS(7)

/* ---- Small systems: the same operations in the same order, n a constant ----------------------------- */

/* Vectors of three components are treated as four, of which the last stays zero: one vector of the machine. */
#define LANES(n) ((n) == 3 ? 4 : (n))

/* What functions of the user stored one by one, stored again as the vectors that the next loop loads. */
DAE_KERNEL_BODY void gather(const int n, double *restrict x)
{
#ifdef __GNUC__
    typedef double two __attribute__((vector_size(16), aligned(8), may_alias));
    typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
    double v[RADAU_SMALL_LD];
    for (int i = 0; i < n; i++) v[i] = DAE_SMALL_ALONE(x[i]);
    for (int i = 0; i + 4 <= n; i += 4) *(four *)(x + i) = (four){v[i], v[i + 1], v[i + 2], v[i + 3]};
    if (n % 4 > 1) *(two *)(x + n / 4 * 4) = (two){v[n / 4 * 4], v[n / 4 * 4 + 1]};
#else
    (void)n, (void)x;
#endif
}

/* dae_sum of n squares, without the zeros that it begins with: delta waits for every sum. */
DAE_KERNEL_BODY double sum_of_squares(const int n, const double *restrict x)
{
    const int lanes = n < 4 ? 1 : 4, whole = n / 4 * 4;
    double s[4] = {x[0]};
    for (int i = 1; i < n; i++) {
        if (i < lanes) s[i] = x[i];
        else s[i < whole ? i % 4 : 0] += x[i];
    }
    return lanes == 1 ? s[0] : (s[0] + s[1]) + (s[2] + s[3]);
}

DAE_KERNEL_BODY int factor_small(const int s, const int n, radau_small *a, const struct coefficients *m,
                                 double q)
{
    const double *restrict J = a->J;
    for (int k = 0; k <= s / 2; k++) {
        double *restrict re = a->re[k], *restrict im = a->im[k], x = (k ? m->alpha[k - 1] : m->gamma) * q,
                         y = k ? m->beta[k - 1] * q : 0;
        for (int i = 0; i < n * n; i++) re[i] = -J[i];
        for (int i = 0; k && i < n * n; i++) im[i] = 0;
        if (a->has_mass) {
            dae_small_add(n, &a->band, x, re);
            if (k) dae_small_add(n, &a->band, y, im);
        } else {
            for (int i = 0; i < n; i++) re[i + i * n] += x;
            for (int i = 0; k && i < n; i++) im[i + i * n] = y;
        }
        int bad = k ? dae_small_factor_complex(n, n, re, im, a->ire[k], a->iim[k], a->perm[k])
                    : dae_small_factor(n, n, re, a->ire[0], a->perm[0]);
        if (bad) return bad;
    }
    return 0;
}

DAE_KERNEL_BODY void increment_small(const int s, const int n, const radau_small *a,
                                     const struct coefficients *m, double q, const double *restrict w,
                                     double *restrict g)
{
    enum { LD = RADAU_SMALL_LD };
    for (int k = 0; k < s; k++) gather(LANES(n), g + k * LD);
    if (a->has_mass) {
        double mw[S_MAX * RADAU_SMALL_LD];
        for (int k = 0; k < s; k++) {
            for (int i = 0; i < LANES(n); i++) mw[k * LD + i] = w[k * LD + i];
            dae_small_multiply(n, &a->band, mw + k * LD);
        }
        right_sides(s, LANES(n), LD, m, q, mw, g);
    } else right_sides(s, LANES(n), LD, m, q, w, g);
    dae_small_solve(n, n, a->re[0], a->ire[0], a->perm[0], g);
    for (int k = 1; k <= s / 2; k++)
        dae_small_solve_complex(n, n, a->re[k], a->im[k], a->ire[k], a->iim[k], a->perm[k],
                                g + (2 * k - 1) * LD, g + 2 * k * LD);
}

DAE_KERNEL_BODY double iterate_small(const int s, const int n, const radau_small *a,
                                     const struct coefficients *m, double q, double *restrict g,
                                     const double *restrict weight, const double *restrict y,
                                     double *restrict w, double *restrict z, double *restrict stage)
{
    double square[RADAU_SMALL_LD];
    increment_small(s, n, a, m, q, w, g);
    update(s, LANES(n), RADAU_SMALL_LD, m, g, weight, y, w, z, stage, square);
    return sum_of_squares(n, square);
}

DAE_KERNEL_BODY double estimate_small(const int s, const int n, const radau_small *a,
                                      const struct coefficients *m, double q, const double *restrict z,
                                      const double *restrict f, const double *restrict weight,
                                      double *restrict md, double *restrict e)
{
    double x[RADAU_SMALL_LD], square[RADAU_SMALL_LD];
    defect(s, LANES(n), RADAU_SMALL_LD, m, q, z, x);
    if (a->has_mass) dae_small_multiply(n, &a->band, x);
    for (int i = 0; i < n; i++) {
        md[i] = x[i];
        x[i] += f[i];
    }
    dae_small_solve(n, n, a->re[0], a->ire[0], a->perm[0], x);
    for (int i = 0; i < n; i++) {
        e[i] = x[i];
        square[i] = x[i] * weight[i] * (x[i] * weight[i]);
    }
    return sum_of_squares(n, square) / n;
}

#define SMALL_LOOPS(s, n)                                                                                   \
    DAE_KERNEL(                                                                                             \
        void, predict##s##_##n,                                                                             \
        (int size, int ld, const struct coefficients *m, double q, const double *shift, const double *cont, \
         const double *y, double *z, double *w, double *stage),                                             \
        ((void)size, (void)ld, predict(s, LANES(n), RADAU_SMALL_LD, m, q, shift, cont, y, z, w, stage)))    \
    DAE_KERNEL(void, differences##s##_##n,                                                                  \
               (int size, int ld, const double(*inverse)[S_MAX + 1], const double *z, double *cont),        \
               ((void)size, (void)ld, differences(s, LANES(n), RADAU_SMALL_LD, inverse, z, cont)))          \
    DAE_KERNEL(void, defect##s##_##n,                                                                       \
               (int size, int ld, const struct coefficients *m, double q, const double *z, double *out),    \
               ((void)size, (void)ld, defect(s, n, RADAU_SMALL_LD, m, q, z, out)))                          \
    DAE_KERNEL(double, bend##s##_##n,                                                                       \
               (int size, int ld, const double *lead, double q, const double *z, const double *last,        \
                const double *weight, double *x),                                                           \
               (void)size;                                                                                  \
               (void)ld; return bend(s, n, LANES(n), RADAU_SMALL_LD, lead, q, z, last, weight, x))          \
    DAE_KERNEL(int, factor##s##_##n, (radau_small * a, const struct coefficients *m, double q),             \
               return factor_small(s, n, a, m, q))                                                          \
    DAE_KERNEL(void, increment##s##_##n,                                                                    \
               (const radau_small *a, const struct coefficients *m, double q, const double *mw, double *g), \
               increment_small(s, n, a, m, q, mw, g))                                                       \
    DAE_KERNEL(double, estimate##s##_##n,                                                                   \
               (const radau_small *a, const struct coefficients *m, double q, const double *z,              \
                const double *f, const double *weight, double *md, double *e),                              \
               return estimate_small(s, n, a, m, q, z, f, weight, md, e))                                   \
    DAE_KERNEL(double, iterate##s##_##n,                                                                    \
               (const radau_small *a, const struct coefficients *m, double q, double *g,                    \
                const double *weight, const double *y, double *w, double *z, double *stage),                \
               return iterate_small(s, n, a, m, q, g, weight, y, w, z, stage))

#define SMALL(n)                                                                                            \
    DAE_KERNEL(void, weights_##n,                                                                           \
               (int size, const double *atol, const double *rtol, const double *y, double *out),            \
               ((void)size, weights(n, atol, rtol, y, out)))                                                \
    DAE_KERNEL(void, advance_##n,                                                                           \
               (int size, const double *y_new, const double *f_new, const double *atol, const double *rtol, \
                double *y, double *f, double *weight),                                                      \
               ((void)size, advance(n, y_new, f_new, atol, rtol, y, f, weight)))                            \
    DAE_KERNEL(void, solve_##n, (const radau_small *a, double *x),                                          \
               dae_small_solve(n, n, a->re[0], a->ire[0], a->perm[0], x))                                   \
    SMALL_LOOPS(3, n) SMALL_LOOPS(5, n) SMALL_LOOPS(7, n)

SMALL(2)
SMALL(3)
SMALL(4)
SMALL(5)
SMALL(6)
SMALL(8)

/* ---- Sets -------------------------------------------------------------------------------------------- */

#define SET(s, version)                                                                                 \
    {                                                                                                   \
        right_sides##s##version, update##s##version, predict##s##version, differences##s##version,      \
            weights##version, advance##version, defect##s##version, bend##s##version, NULL, NULL, NULL, \
            NULL, NULL                                                                                  \
    }
#define SET_SMALL(s, n, version)                                                                            \
    {                                                                                                       \
        right_sides##s##version, update##s##version, predict##s##_##n##version,                             \
            differences##s##_##n##version, weights_##n##version, advance_##n##version,                      \
            defect##s##_##n##version, bend##s##_##n##version, factor##s##_##n##version, solve_##n##version, \
            increment##s##_##n##version, estimate##s##_##n##version, iterate##s##_##n##version              \
    }
#define SETS(version)                                                                       \
    {                                                                                       \
        {SET(3, version), SET(5, version), SET(7, version)},                                \
            {SET_SMALL(3, 2, version), SET_SMALL(5, 2, version), SET_SMALL(7, 2, version)}, \
            {SET_SMALL(3, 3, version), SET_SMALL(5, 3, version), SET_SMALL(7, 3, version)}, \
            {SET_SMALL(3, 4, version), SET_SMALL(5, 4, version), SET_SMALL(7, 4, version)}, \
            {SET_SMALL(3, 5, version), SET_SMALL(5, 5, version), SET_SMALL(7, 5, version)}, \
            {SET_SMALL(3, 6, version), SET_SMALL(5, 6, version), SET_SMALL(7, 6, version)}, \
            {SET_SMALL(3, 8, version), SET_SMALL(5, 8, version), SET_SMALL(7, 8, version)}, \
    }

enum { SIZES = 7 };
static const int sizes[SIZES] = {0, 2, 3, 4, 5, 6, 8};
static const radau_kernels base[SIZES][3] = SETS(_base);
#ifdef DAE_KERNEL_WIDE
static const radau_kernels wide[SIZES][3] = SETS(_avx2);
#endif

const radau_kernels *dae_radau_kernels(int s, int n)
{
    for (int k = 0; k < SIZES; k++) {
        if (sizes[k] != n) continue;
#ifdef DAE_KERNEL_WIDE
        if (__builtin_cpu_supports("avx2")) return &wide[k][(s - 3) / 2];
#endif
        return &base[k][(s - 3) / 2];
    }
    return NULL;
}
