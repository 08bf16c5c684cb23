/* One attempt of a Rosenbrock step, [HW] (IV.7.25): with E = M/(h gamma) - J
 *
 *     E u_i = f(t + alpha_i h, y + sum_j a_ij u_j) + M (sum_j c_ij u_j)/h + gamma_i h f_t
 *
 * The body is compiled once for every size that is worth it, with n and the number of stages as constants and the factors
 * unrolled (linalg/small.h), and once for all others, with linalg/shifted.h. Both do the same operations in the same
 * order. */
#include "method/rodas/rodas.h"

#include "core/matrix.h"
#include "core/vector.h"
#include "linalg/kernel.h"
#include "linalg/small.h"

/* Pairs: stages one after the other, each with its own number of terms, 0.9 of the time of a loop. Of larger n the loop takes 0.9 to 1. */
#define UNROLLED(n) ((n) == 2)

/* out = sum_j c[j] u_j over count >= 1 vectors, terms in their order */
DAE_KERNEL_BODY void combine_small(const int n, int count, const double *restrict c, const double *restrict u,
                                   double *restrict out)
{
    double s[DAE_SMALL_MAX];
    DAE_UNROLL
    for (int i = 0; i < n; i++) s[i] = c[0] * u[i];
    if (UNROLLED(n)) {
        DAE_UNROLL
        for (int j = 1; j < count; j++) {
            for (int i = 0; i < n; i++) s[i] += c[j] * u[j * n + i];
        }
    } else {
        for (int j = 1; j < count; j++) {
            DAE_UNROLL
            for (int i = 0; i < n; i++) s[i] += c[j] * u[j * n + i];
        }
    }
    DAE_UNROLL
    for (int i = 0; i < n; i++) out[i] = s[i];
}

/* The same for any size. */
DAE_KERNEL_BODY void combine_body(int n, int count, const double *restrict c, const double *restrict u,
                                  int ld, double *restrict out)
{
    for (int i = 0; i < n; i++) out[i] = c[0] * u[i];
    int j = 1;
    for (; j + 2 <= count; j += 2) {
        const double c0 = c[j],
                     c1 = c[j + 1], *restrict u0 = u + (size_t)j * (size_t)ld, *restrict u1 = u0 + ld;
        for (int i = 0; i < n; i++) out[i] = out[i] + c0 * u0[i] + c1 * u1[i];
    }
    if (j < count) dae_axpy(n, c[j], u + (size_t)j * (size_t)ld, out);
}

DAE_KERNEL(void, combine, (int n, int count, const double *c, const double *u, int ld, double *out),
           combine_body(n, count, c, u, ld, out))

/* lu = M/(h gamma) - J for a fixed size */
DAE_KERNEL_BODY void form(const int n, dae_rodas_work *w, double shift)
{
    double *restrict a = w->lu;
    const double *restrict J = w->J;
    for (int k = 0; k < n * n; k++) a[k] = -J[k];
    for (int i = 0; i < w->second; i++) {
        for (int j = 0; j < n; j++) a[i + j * n] = j == w->second + i ? -1 : 0;
    }
    if (w->band) {
        dae_small_add(n, w->band, shift, a);
    } else {
        for (int i = 0; i < n; i++) a[i + i * n] += shift;
    }
}

/* out = f + q x + gh f_t, the right side of a stage; ft = NULL: zero */
DAE_KERNEL_BODY void right_side(const int n, const double *restrict f, const double *restrict x, double q,
                                const double *restrict ft, double gh, double *restrict out)
{
    if (ft) {
        for (int i = 0; i < n; i++) out[i] = f[i] + q * x[i] + gh * ft[i];
    } else {
        for (int i = 0; i < n; i++) out[i] = f[i] + q * x[i];
    }
}

/* The sum over (e_i/(atol_i + rtol_i max(|y0_i|, |y1_i|)))^2, in the order of the components */
DAE_KERNEL_BODY double error_square(const int n, const dae_ivp *ivp, const double *restrict y0,
                                    const double *restrict y1, const double *restrict e)
{
    const double *restrict atol = ivp->atol, *restrict rtol = ivp->rtol;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double a = fabs(y0[i]), b = fabs(y1[i]), r = e[i] / (atol[i] + rtol[i] * (a > b ? a : b));
        sum += r * r;
    }
    return sum;
}

/* u_0 */
DAE_KERNEL_BODY void first_side(int n, const dae_rodas_work *w, double h, double *restrict u)
{
    double gh = w->table->gamma_i[0] * h;
    const double *f = w->f0, *ft = gh != 0 ? w->ft : NULL;
    for (int k = 0; k < n; k++) u[k] = ft ? f[k] + gh * ft[k] : f[k];
}

DAE_KERNEL_BODY void finish(int n, dae_rodas_work *w, const double *restrict e)
{
    w->ivp->stats->solves += w->table->stages;
    for (int k = 0; k < n; k++) w->y1[k] = w->stage[k] + e[k];
    w->square = error_square(n, w->ivp, w->y0, w->y1, e);
}

/* Stage i >= 1 of a fixed size */
DAE_KERNEL_BODY int stage_small(const int n, int i, const dae_rodas_work *w, double t, double h, double t1,
                                double q)
{
    const dae_rodas_table *tab = w->table;
    double *restrict u = w->u + i * n, *restrict Y = w->stage;
    double gh = tab->gamma_i[i] * h, x[DAE_SMALL_MAX], f[DAE_SMALL_MAX];
    if (i > tab->sum) {
        DAE_UNROLL
        for (int k = 0; k < n; k++) Y[k] += u[k - n];
    } else {
        combine_small(n, i, tab->a[i], w->u, x);
        DAE_UNROLL
        for (int k = 0; k < n; k++) Y[k] = w->y0[k] + x[k];
    }
    combine_small(n, i, tab->c[i], w->u, x); /* before f: it does not wait for it */
    if (w->band) dae_small_multiply(n, w->band, x);
    int r = dae_ivp_f_unchecked(w->ivp, tab->alpha[i] == 1 ? t1 : t + tab->alpha[i] * h, Y, w->f);
    if (r) return r;
    DAE_UNROLL
    for (int k = 0; k < n; k++) f[k] = DAE_SMALL_ALONE(w->f[k]);
    right_side(n, f, x, q, gh != 0 ? w->ft : NULL, gh, u);
    DAE_LINALG(w->ivp, dae_small_solve(n, n, w->lu, w->inverse, w->perm, u));
    return 0;
}

DAE_KERNEL_BODY int attempt_small(const int n, const int s, dae_rodas_work *w, double t, double h, double t1)
{
    const double q = 1 / h;
    int bad;
    form(n, w, 1 / (h * w->table->gamma));
    DAE_LINALG(w->ivp, bad = dae_small_factor(n, n, w->lu, w->inverse, w->perm));
    w->ivp->stats->lu++;
    if (bad) return bad < 0 ? bad : DAE_RODAS_SINGULAR;
    first_side(n, w, h, w->u);
    DAE_LINALG(w->ivp, dae_small_solve(n, n, w->lu, w->inverse, w->perm, w->u));
    if (w->count == 1) return 0;
    for (int i = 1; i < s && !bad && !UNROLLED(n); i++) bad = stage_small(n, i, w, t, h, t1, q);
    if (!UNROLLED(n)) {
        if (!bad) finish(n, w, w->u + (s - 1) * n);
        return bad;
    }
    bad = stage_small(n, 1, w, t, h, t1, q);
    if (!bad) bad = stage_small(n, 2, w, t, h, t1, q);
    if (!bad) bad = stage_small(n, 3, w, t, h, t1, q);
    if (!bad) bad = stage_small(n, 4, w, t, h, t1, q);
    if (!bad) bad = stage_small(n, 5, w, t, h, t1, q);
    if (!bad && s > 6) bad = stage_small(n, 6, w, t, h, t1, q);
    if (!bad && s > 6) bad = stage_small(n, 7, w, t, h, t1, q);
    if (!bad) finish(n, w, w->u + (s - 1) * n);
    return bad;
}

static int attempt_general(dae_rodas_work *w, double t, double h, double t1)
{
    const dae_rodas_table *tab = w->table;
    const int n = w->n, ld = w->ld, s = tab->stages;
    const double q = 1 / h;
    double *restrict Y = w->stage;
    int bad;
    DAE_LINALG(w->ivp, bad = dae_shifted_factor(w->linear, 1 / (h * tab->gamma), 0, w->J));
    w->ivp->stats->lu++;
    if (bad) return bad < 0 ? bad : DAE_RODAS_SINGULAR;
    for (int i = 0; i < s; i++) {
        double *restrict u = w->u + (size_t)i * (size_t)ld;
        double gh = tab->gamma_i[i] * h;
        if (i == 0) {
            first_side(n, w, h, u);
        } else {
            if (i > tab->sum) {
                const double *restrict before = u - ld;
                for (int k = 0; k < n; k++) Y[k] += before[k];
            } else {
                DAE_KERNEL_PICK(combine, 0)(n, i, tab->a[i], w->u, ld, Y);
                for (int k = 0; k < n; k++) Y[k] = w->y0[k] + Y[k];
            }
            int r = dae_ivp_f_unchecked(w->ivp, tab->alpha[i] == 1 ? t1 : t + tab->alpha[i] * h, Y, w->f);
            if (r) return r;
            DAE_KERNEL_PICK(combine, 0)(n, i, tab->c[i], w->u, ld, w->mass.n ? w->y1 : w->x);
            if (w->mass.n) dae_matrix_multiply(&w->mass, n, w->y1, w->x);
            right_side(n, w->f, w->x, q, gh != 0 ? w->ft : NULL, gh, u);
        }
        DAE_LINALG(w->ivp, dae_shifted_solve(w->linear, u));
        if (i == 0 && w->count == 1) return 0;
    }
    finish(n, w, w->u + (size_t)(s - 1) * (size_t)ld);
    return 0;
}

#define FIXED(n, s)                                                                         \
    DAE_KERNEL(int, attempt_##n##_##s, (dae_rodas_work * w, double t, double h, double t1), \
               return attempt_small(n, s, w, t, h, t1))
#define SIZE(n) FIXED(n, 6) FIXED(n, 8)

SIZE(2)
SIZE(3)
SIZE(4)
SIZE(5)
SIZE(6)
SIZE(8)

#define PICK(n, portable) \
    (six ? DAE_KERNEL_PICK(attempt_##n##_6, portable) : DAE_KERNEL_PICK(attempt_##n##_8, portable))

/* Vectors of four numbers where they divide n: at n = 6 they take 1.2 times the time of pairs. */
dae_rodas_attempt *dae_rodas_fixed(int n, const dae_rodas_table *table)
{
    int six = table->stages == 6;
    switch (n) {
    case 2: return PICK(2, 1);
    case 3: return PICK(3, 1);
    case 4: return PICK(4, 0);
    case 5: return PICK(5, 1);
    case 6: return PICK(6, 1);
    case 8: return PICK(8, 0);
    default: return NULL;
    }
}

#define SOLVE(n) \
    case n: dae_small_solve(n, n, w->lu, w->inverse, w->perm, x); break

static void solve_fixed(dae_rodas_work *w, double *x)
{
    switch (w->n) {
        SOLVE(2);
        SOLVE(3);
        SOLVE(4);
        SOLVE(5);
        SOLVE(6);
        SOLVE(8);
    default: break;
    }
}

void dae_rodas_solve(dae_rodas_work *w, double *x)
{
    w->ivp->stats->solves++;
    if (w->linear) DAE_LINALG(w->ivp, dae_shifted_solve(w->linear, x));
    else DAE_LINALG(w->ivp, solve_fixed(w, x));
}

dae_rodas_attempt *dae_rodas_general(void)
{
    return attempt_general;
}
