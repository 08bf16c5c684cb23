/* The balance of energy along a trajectory: what is gained beyond the work of the forces that have no potential. The power
 * is integrated over the polynomials through neighboring points. */
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { stencil = 6 };

/* The polynomial through n points, at x (Neville). */
static double interpolate(int n, const double *t, const double *f, double x)
{
    double c[stencil];
    for (int i = 0; i < n; i++) c[i] = f[i];
    for (int k = 1; k < n; k++) {
        for (int i = 0; i < n - k; i++)
            c[i] = ((x - t[i + k]) * c[i] + (t[i] - x) * c[i + 1]) / (t[i] - t[i + k]);
    }
    return c[0];
}

/* Integral over [t[i], t[i+1]] of the polynomial through the points around, first .. last of which lie on one side of all
 * jumps: Gauss's three points are exact for its degree. */
static double segment(const double *t, const double *f, int i, int first, int last)
{
    static const double node[] = {0.11270166537925831, 0.5, 0.88729833462074169},
                        weight[] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
    int from = i + 1 - stencil / 2, n = last - first + 1 < stencil ? last - first + 1 : stencil;
    if (from < first) from = first;
    if (from + n - 1 > last) from = last + 1 - n;
    double h = t[i + 1] - t[i], sum = 0;
    for (int k = 0; k < 3; k++) sum += weight[k] * interpolate(n, t + from, f + from, t[i] + node[k] * h);
    return h * sum;
}

/* Adds the work of one smooth piece, and the largest error of the balance in it. */
static void add_piece(const double *t, const double *power, const double *energy, int first, int last,
                      dae_balance *out)
{
    for (int i = first; i < last; i++) {
        out->work += segment(t, power, i, first, last);
        out->largest = fmax(out->largest, fabs(energy[i + 1] - out->start - out->work));
    }
}

/* Pieces between jumps: a time that stands twice. */
static void add_pieces(int count, const double *t, const double *power, const double *energy,
                       dae_balance *out)
{
    out->start = energy[0];
    out->end = energy[count - 1];
    for (int first = 0, last; first < count; first = last + 1) {
        for (last = first; last + 1 < count && t[last + 1] != t[last]; last++) {
        }
        if (first > 0) out->largest = fmax(out->largest, fabs(energy[first] - out->start - out->work));
        add_piece(t, power, energy, first, last, out);
    }
}

dae_status dae_problem_balance(const dae_problem *p, int count, const double *t, const double *y,
                               dae_balance *out, dae_error *err)
{
    memset(out, 0, sizeof *out);
    if (!p->derived.energy)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "no energy is known of this problem");
    size_t n = (size_t)count;
    dae_energy *at = calloc(n + 1, sizeof *at);
    double *power = calloc(2 * n + 1, sizeof *power);
    dae_status status = DAE_OK;
    if (!at || !power) status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    int bad = status ? 0 : p->derived.energy(p, count, t, y, at);
    if (bad == -2) status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    else if (bad < 0)
        status = dae_fail(err, DAE_ERR_UNDEFINED, NAN, "the energy cannot be evaluated along the trajectory");
    for (int i = 0; i < count && !status; i++) {
        power[i] = at[i].power;
        power[n + (size_t)i] = at[i].kinetic + at[i].potential;
    }
    if (!status && count > 0) add_pieces(count, t, power, power + n, out);
    free(at);
    free(power);
    return status;
}
