#include "method/undamped.h"

#include <float.h>
#include <math.h>

#define NONE 3.0    /* h |J| from which nothing changes; all of it at a tenth of this */
#define LEAST 1e-13 /* no error is asked to be below this part of y: rounding */

void dae_undamped_begin(dae_undamped *u, const dae_ivp *ivp, double from, double power)
{
    double tol = 0;
    for (int i = 0; i < ivp->n; i++) tol = fmax(tol, ivp->digits[i]);
    u->most = 1;
    u->size = 0;
    if (u->damped) return;
    if (ivp->sys->kind != DAE_KIND_ODE || ivp->opt->fixed_step > 0 || !(tol < from)) return;
    u->most = fmax(1, fmin(pow(from / tol, power), tol / LEAST));
}

/* The largest weighted sum of a column over rows from `first` on, of columns j0 .. j1-1; w[j + shift] weighs column j. */
static double columns(const dae_pattern *p, int n, const double *J, const double *w, int first, int j0,
                      int j1, int shift)
{
    int width = p->lower + 1 + p->upper;
    double most = 0;
    for (int j = j0; j < j1; j++) {
        double sum = 0;
        if (p->storage == DAE_SPARSE) {
            for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++)
                if (p->rowind[k] >= first) sum += fabs(J[k]) * w[p->rowind[k]];
        } else if (p->storage == DAE_BANDED) {
            int from = j - p->upper > first ? j - p->upper : first,
                last = j + p->lower < n ? j + p->lower : n - 1;
            for (int i = from; i <= last; i++) sum += fabs(J[p->upper + i - j + (long)j * width]) * w[i];
        } else {
            for (int i = first; i < n; i++) sum += fabs(J[i + (long)j * n]) * w[i];
        }
        most = fmax(most, sum / w[j + shift]);
    }
    return most;
}

void dae_undamped_see(dae_undamped *u, const dae_ivp *ivp, const double *J, const double *w)
{
    const dae_pattern *p = &ivp->jacobian;
    int n = ivp->n, m = ivp->sys->structure.second_order;
    if (u->most <= 1) return;
    if (p->columns > 0) n /= 1 + p->columns; /* that of one block */
    double by_rest = columns(p, n, J, w, m, m, n, 0);
    if (m > 0) by_rest = by_rest / 2 + sqrt(by_rest * by_rest / 4 + columns(p, n, J, w, m, 0, m, m));
    u->size = fmax(by_rest, DBL_MIN); /* known: in free fall nothing damps at all */
}

double dae_undamped_factor(dae_undamped *u, double h)
{
    double x = fabs(h) * u->size / NONE;
    if (x >= 1) u->most = 1, u->damped = 1;
    if (u->most <= 1 || !(x > 0)) return 1;
    return x <= 0.1 ? u->most : pow(u->most, -log10(x));
}
