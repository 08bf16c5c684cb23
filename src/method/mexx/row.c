/* One row of the extrapolation tableau: n half-explicit Euler steps of size h from the start of the step.
 *
 *     p_(i+1) = p_i + h T v_i
 *     [ M  G^T - F ] [ v_(i+1) - v_i  ]   [ h f_i - h F lambda_i ]
 *     [ G  0       ] [ h lambda_(i+1) ] = [ -gI - G v_i          ]      at (t_(i+1), p_(i+1))
 *     u_(i+1) = u_i + h d(t_(i+1), p_(i+1), v_(i+1), lambda_(i+1), u_i)
 *
 * [MEXX] (2.1), with F = 0, and (2.2), with F = df/dlambda at the start of the basic step. The report
 * evaluates d at the new p, v, lambda, its program at the old ones; the report's way needs fewer
 * evaluations. The report solves for v_(i+1); the increment is the same but for rounding, which in a
 * badly scaled mechanism then no longer spoils the accelerations (seven bodies, tolerance 1e-11: null_space
 * took 100 steps, and 33 with increments). */
#include "method/mexx/mexx.h"

#include "core/vector.h"

#define NOISE 1e-3 /* of the tolerance: smaller changes are no sign of anything; ours */
#define UNSTABLE 4 /* [MEXX program] |h a|^2 > 4 |v|^2 after the second substep of the first two rows */

size_t dae_mexx_sample_at(const mexx *s, int j)
{
    size_t count = 0;
    for (int k = 0; k < j; k++) count += (size_t)mexx_steps[k];
    return count * (size_t)s->ns;
}

/* M, G, gI at the new point and the velocities there. In: v old, lambda old. */
static int solve_velocities(const mexx *s, mexx_worker *w, double t, double h, const double *p,
                            const double *f, double *v, double *a, double *lambda)
{
    dae_mechanics *x = &w->x;
    const double *M;
    double *wv = w->rhs, *wl = w->rhs + s->nv;
    int r = dae_mechanics_mass(x, t, p, w->M, &M);
    if (!r) r = dae_mechanics_jacobian(x, t, p, NULL, w->G);
    if (!r) r = dae_mechanics_drift(x, t, p, w->gI);
    if (r) return r;
    x->n.nfcn++;
    for (int i = 0; i < s->nv; i++) wv[i] = h * f[i];
    if (s->friction) {
        dae_parts_upper(&x->parts, w->G, s->F, w->U);
        for (int j = 0; j < s->nl; j++) dae_axpy(s->nv, -h * lambda[j], s->F + (size_t)j * (size_t)s->nv, wv);
    }
    for (int i = 0; i < s->nl; i++) wl[i] = -w->gI[i];
    dae_saddle_multiply(&x->parts.spec, w->G, -1, v, wl);
    x->n.nsol++;
    if (dae_mechanics_factor_solve(x, w->saddle, M, w->G, s->friction ? w->U : NULL, wv, wl)) return 1;
    double r_h = 1 / h;
    for (int i = 0; i < s->nv; i++) a[i] = wv[i] * r_h;
    for (int i = 0; i < s->nv; i++) v[i] += wv[i];
    for (int i = 0; i < s->nl; i++) lambda[i] = wl[i] * r_h;
    return 0;
}

/* The step is too large for an explicit method if the velocities change by more than twice their size; rounding of a
 * system at rest does not count. */
static int grows(const mexx *s, double h, const double *a, const double *v)
{
    const double *weight = s->weight0 + s->np;
    double change = 0, size = 0;
    for (int i = 0; i < s->nv; i++) {
        double x = h * a[i] / weight[i], y = v[i] / weight[i];
        change += x * x;
        size += y * y;
    }
    return change > UNSTABLE * size && change > NOISE * NOISE * s->nv;
}

int dae_mexx_substep(const mexx *s, mexx_worker *w, int j, int i, double H)
{
    dae_mechanics *x = &w->x;
    int n = mexx_steps[j], np = s->np, nv = s->nv, nu = s->nu, r = 0;
    double h = H / n, t0 = s->t0, t = t0 + i * h, t_next = i + 1 < n ? t0 + (i + 1) * h : t0 + H;
    double *out = s->row + (size_t)j * (size_t)s->nx;
    double *sample = s->sample + dae_mexx_sample_at(s, j) + (size_t)i * (size_t)s->ns;
    double *p = out, *v = p + np, *u = v + nv, *a = u + nu, *lambda = a + nv;
    const double *f = s->f0, *pdot = s->pdot0;
    if (i == 0) {
        dae_copy(s->nx, s->x0, out);
    } else {
        r = dae_mechanics_force(x, t, p, v, u, lambda, w->f);
        if (!r) r = dae_mechanics_kinematics(x, t, p, v, w->pdot);
        f = w->f;
        pdot = w->pdot;
    }
    if (!r) {
        dae_copy(np, pdot, sample);
        dae_axpy(np, h, pdot, p);
        r = solve_velocities(s, w, t_next, h, p, f, v, a, lambda);
    }
    if (!r && nu) {
        double *udot = sample + np + nv;
        r = dae_mechanics_dynamics(x, t_next, p, v, u, lambda, udot);
        if (!r) dae_axpy(nu, h, udot, u);
    }
    if (r) return r < 0 ? ROW_STOP : ROW_UNSTABLE;
    dae_copy(nv, a, sample + np);
    dae_copy(s->nl, lambda, sample + s->ny);
    return i == 1 && j < 2 && grows(s, h, a, v) ? ROW_UNSTABLE : ROW_FINE;
}

int dae_mexx_row(const mexx *s, mexx_worker *w, int j, double H)
{
    int outcome = ROW_FINE;
    for (int i = 0; i < mexx_steps[j] && outcome == ROW_FINE; i++) outcome = dae_mexx_substep(s, w, j, i, H);
    return outcome;
}
