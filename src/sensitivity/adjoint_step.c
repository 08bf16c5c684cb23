/* One step backwards, for the three families whose stages can be made again from where a step began. lambda = dG/dz at the end
 * becomes that at the beginning; dG/dp is collected. All are the exact transposes of the steps [Hager 2000, Sandu 2006].
 *
 * explicit Runge-Kutta   U_i = h J_i^T (b_i lambda + sum_{k>i} a_ki U_k/h ...):   with q_i = h (b_i lambda + sum_{k>i} a_ki J_k^T q_k)
 *                        lambda_n = lambda + sum J_i^T q_i,   dG/dp += sum q_i^T f_p(Y_i)
 * Rosenbrock             theta_i = m_i lambda + sum_{k>i} (a_ki J_k^T v_k + c_ki M^T v_k/h),  E^T v_i = theta_i,  E = M/(h gamma) - J
 *                        lambda_n = lambda + sum (J_i^T v_i + (d/dz (J u_i))^T v_i + gamma_i h (f_tz)^T v_i)
 *                        dG/dp += sum (f_p(Y_i) + d/dp (J u_i) + gamma_i h f_tp)^T v_i
 * Radau IIA              M^T mu_k - h J_k^T kappa_k = delta_ks lambda,   kappa_k = sum_i a_ik mu_i
 *                        lambda_n = sum M^T mu_k,   dG/dp += h sum kappa_k^T f_p(Y_k) */
#include "sensitivity/adjoint.h"

#include "core/matrix.h"
#include "method/radau/coefficients.h"
#include "sensitivity/masses.h"

#include <float.h>
#include <math.h>

#define MOVE 6e-6 /* the cube root of the rounding unit */

/* out += A^T v of a dense A */
static void add_transposed(int n, const double *J, const double *v, double *out)
{
    for (int j = 0; j < n; j++) {
        const double *column = J + (size_t)j * (size_t)n;
        double sum = 0;
        for (int i = 0; i < n; i++) sum += column[i] * v[i];
        out[j] += sum;
    }
}

/* out += J^T v */
static void add_turned(const dae_adjoint *a, const double *J, const double *v, double *out)
{
    const dae_pattern *p = &a->pattern;
    if (p->storage != DAE_SPARSE) {
        add_transposed(a->n, J, v, out);
        return;
    }
    for (int j = 0; j < a->n; j++) {
        double sum = 0;
        for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) sum += J[k] * v[p->rowind[k]];
        out[j] += sum;
    }
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* gradient_j += weight * q^T (f_pj - B_j f) at (t, Y), dM/dp_j = B_j M */
static int collect(dae_adjoint *a, double t, const double *Y, const double *q, double weight)
{
    const dae_family *f = a->f;
    int masses = 0;
    for (int j = 0; j < f->count; j++) masses |= f->direction[j].mass.count > 0;
    if (masses && dae_adjoint_f(a, -1, 0, t, Y, a->now)) return 1;
    for (int j = 0; j < f->count; j++) {
        const dae_direction_of *d = &f->direction[j];
        if (d->component >= 0) continue;
        if (d->mass.count > 0) a->gradient[j] -= weight * dae_masses_product(&d->mass, q, a->now);
        if (f->tangents && d->exact) { /* what is integrated does not depend on p */
            if (f->tangents->rate(f->p, &f->sim->it->sys, t, Y, 0, NULL, d->parameter, a->fl)) return 1;
            a->gradient[j] += weight * dot(a->nz, q, a->fl);
            continue;
        }
        int r = 0;
        for (int k = 0; k < DAE_WIDE && d->width > 0 && !r; k++) {
            r = dae_adjoint_f_of(a, d->wide[k].sim, t, Y, a->fl);
            a->gradient[j] += weight * dae_family_weight[k] / d->width * dot(a->n, q, a->fl);
        }
        if (r) return r;
        if (d->width > 0) continue;
        r = dae_adjoint_f(a, j, 0, t, Y, a->fl);
        if (!r) r = dae_adjoint_f(a, j, 1, t, Y, a->fh);
        if (r) return r;
        a->gradient[j] += weight * (dot(a->n, q, a->fh) - dot(a->n, q, a->fl)) / dae_family_width(f, j);
    }
    return 0;
}

/* ---- Explicit Runge-Kutta ------------------------------------------------------------------------------ */

int dae_adjoint_erk(dae_adjoint *a, double t, double h, const double *z, double *lambda)
{
    const dae_erk_table *tab = a->erk;
    int n = a->n, s = tab->fsal; /* k[fsal] is that of the end: row fsal of a holds b */
    const double *b = tab->a[tab->fsal];
    for (int i = 0; i < s; i++) { /* u_i = k_i */
        dae_copy(n, z, a->stage[i]);
        for (int k = 0; k < i; k++) {
            if (tab->a[i][k] != 0) dae_axpy(n, h * tab->a[i][k], a->u[k], a->stage[i]);
        }
        int r = dae_adjoint_f(a, -1, 0, t + tab->c[i] * h, a->stage[i], a->u[i]);
        if (r) return r;
    }
    dae_copy(n, lambda, a->w);
    for (int i = s - 1; i >= 0; i--) { /* v_i = J_i^T q_i */
        double *q = a->x;
        for (int l = 0; l < n; l++) q[l] = h * b[i] * lambda[l];
        for (int k = i + 1; k < s; k++) {
            if (tab->a[k][i] != 0) dae_axpy(n, h * tab->a[k][i], a->v[k], q);
        }
        dae_zero(n, a->v[i]);
        int used = 0;
        for (int l = 0; l < n; l++) used |= q[l] != 0;
        if (!used) continue;
        int r = dae_adjoint_jacobian(a, -1, 0, t + tab->c[i] * h, a->stage[i], a->J);
        if (r) return r;
        add_turned(a, a->J, q, a->v[i]);
        dae_axpy(n, 1, a->v[i], a->w);
        r = collect(a, t + tab->c[i] * h, a->stage[i], q, 1);
        if (r) return r;
    }
    dae_copy(n, a->w, lambda);
    return 0;
}

/* ---- Rosenbrock ------------------------------------------------------------------------------------------- */

/* Arguments of the stages from `sum` on add up. */
static double row_of(const dae_rodas_table *tab, int i, int k)
{
    if (i <= tab->sum) return tab->a[i][k];
    return k < tab->sum ? tab->a[tab->sum][k] : 1;
}

static void transpose(const dae_adjoint *a, const double *J, double *T)
{
    int n = a->n;
    if (a->turn) {
        for (long k = 0; k < a->count; k++) T[k] = J[a->turn[k]];
        return;
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) T[j + i * n] = J[i + j * n];
    }
}

static void multiply_mass(const dae_adjoint *a, int transposed, const double *x, double *out)
{
    if (!a->M) dae_copy(a->n, x, out);
    else if (transposed) dae_zero(a->n, out), add_transposed(a->n, a->M, x, out);
    else dae_matrix_multiply(&(dae_matrix){.n = a->n, .a = a->M}, a->n, x, out);
}

/* The stages u_i; a->J is df/dz at z. */
static int rodas_stages(dae_adjoint *a, double t, double h, const double *z)
{
    const dae_rodas_table *tab = a->rodas;
    int n = a->n, s = tab->stages;
    double dt = fmax(fabs(t), fabs(h)) * MOVE;
    if (!a->autonomous) { /* y := df/dt */
        int r = dae_adjoint_f(a, -1, 0, t + dt, z, a->fh);
        if (!r) r = dae_adjoint_f(a, -1, 0, t - dt, z, a->fl);
        if (r) return r;
        for (int l = 0; l < n; l++) a->w[l] = (a->fh[l] - a->fl[l]) / (2 * dt);
    }
    for (int i = 0; i < s; i++) {
        dae_copy(n, z, a->stage[i]);
        dae_zero(n, a->x);
        for (int k = 0; k < i; k++) {
            dae_axpy(n, row_of(tab, i, k), a->u[k], a->stage[i]);
            dae_axpy(n, tab->c[i][k] / h, a->u[k], a->x);
        }
        multiply_mass(a, 0, a->x, a->u[i]);
        int r = dae_adjoint_f(a, -1, 0, t + tab->alpha[i] * h, a->stage[i], a->x);
        if (r) return r;
        dae_axpy(n, 1, a->x, a->u[i]);
        if (!a->autonomous) dae_axpy(n, tab->gamma_i[i] * h, a->w, a->u[i]);
        dae_shifted_solve(a->solver, a->u[i]);
    }
    return 0;
}

/* How far z may move in the direction of u. */
static double move_of(const dae_adjoint *a, const double *z, const double *u)
{
    double most = 0;
    for (int i = 0; i < a->nz; i++) most = fmax(most, fabs(u[i]) / (fabs(z[i]) + a->floor[i]));
    return most > 0 ? MOVE / most : 0;
}

/* out += (d/dz (J u))^T v = (f_zz u)^T v: the change of J along u. */
static int add_second(dae_adjoint *a, double t, const double *z, const double *u, const double *v,
                      double *out)
{
    int n = a->n;
    double d = move_of(a, z, u);
    if (d == 0) return 0;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; i < n; i++) a->x[i] = z[i] + (side ? d : -d) * u[i];
        int r = dae_adjoint_jacobian(a, -1, 0, t, a->x, a->K);
        if (r) return r;
        dae_zero(n, a->fl);
        add_turned(a, a->K, v, a->fl);
        dae_axpy(n, (side ? 1 : -1) / (2 * d), a->fl, out);
    }
    return 0;
}

/* Parameters: (f_p(Y_i) + d/dp (J u_i) + gamma_i h f_tp)^T v_i; q: sum of gamma_i h v_i, or NULL. */
static int rodas_collect(dae_adjoint *a, double t, double h, const double *z, const double *q)
{
    const dae_rodas_table *tab = a->rodas;
    const dae_family *f = a->f;
    int n = a->n, s = tab->stages, r = 0;
    double dt = fmax(fabs(t), fabs(h)) * MOVE;
    for (int i = 0; i < s && !r; i++) r = collect(a, t + tab->alpha[i] * h, a->stage[i], a->v[i], 1);
    if (!r && q) {
        r = collect(a, t + dt, z, q, 1 / (2 * dt));
        if (!r) r = collect(a, t - dt, z, q, -1 / (2 * dt));
    }
    for (int j = 0; j < f->count && !r; j++) {
        const dae_direction_of *d = &f->direction[j];
        if (d->component >= 0) continue;
        for (int i = 0; i < s && d->mass.count > 0; i++) { /* d/dp = -B J u_i */
            dae_matrix_multiply(&(dae_matrix){.n = n, .pattern = a->pattern, .a = a->J}, n, a->u[i], a->x);
            a->gradient[j] -= dae_masses_product(&d->mass, a->v[i], a->x);
        }
        if (f->tangents && d->exact) {
            const dae_system *sys = &f->sim->it->sys;
            r = f->tangents->jacobian(f->p, sys, t, z, 0, NULL, d->parameter, a->values);
            dae_matrix J = {.n = a->nz, .pattern = sys->structure.jacobian, .a = a->values};
            for (int i = 0; i < s && !r; i++) {
                dae_matrix_multiply(&J, a->nz, a->u[i], a->x);
                a->gradient[j] += dot(a->nz, a->v[i], a->x);
            }
            continue;
        }
        for (int side = 0; side < 2 && !r; side++) {
            r = dae_adjoint_jacobian(a, j, side, t, z, a->K);
            for (int i = 0; i < s && !r; i++) {
                dae_matrix_multiply(&(dae_matrix){.n = n, .pattern = a->pattern, .a = a->K}, n, a->u[i],
                                    a->x);
                a->gradient[j] += (side ? 1 : -1) * dot(n, a->v[i], a->x) / dae_family_width(f, j);
            }
        }
    }
    return r;
}

int dae_adjoint_rodas(dae_adjoint *a, double t, double h, const double *z, double *lambda)
{
    const dae_rodas_table *tab = a->rodas;
    int n = a->n, s = tab->stages;
    int r = dae_adjoint_jacobian(a, -1, 0, t, z, a->J);
    if (r) return r;
    transpose(a, a->J, a->L);
    if (dae_shifted_factor(a->solver, 1 / (h * tab->gamma), 0, a->J) ||
        dae_shifted_factor(a->transposed, 1 / (h * tab->gamma), 0, a->L))
        return 1;
    r = rodas_stages(a, t, h, z);
    if (r) return r;
    double *next = a->y, *q = a->dy; /* lambda_n; sum of gamma_i h v_i */
    dae_copy(n, lambda, next);
    dae_zero(n, q);
    for (int i = s - 1; i >= 0; i--) { /* p_k = J_k^T v_k */
        double m = i == s - 1 ? 1 : row_of(tab, s - 1, i), *v = a->v[i];
        for (int l = 0; l < n; l++) v[l] = m * lambda[l];
        dae_zero(n, a->x);
        for (int k = i + 1; k < s; k++) {
            dae_axpy(n, row_of(tab, k, i), a->p[k], v);
            dae_axpy(n, tab->c[k][i] / h, a->v[k], a->x);
        }
        multiply_mass(a, 1, a->x, a->w);
        dae_axpy(n, 1, a->w, v);
        dae_shifted_solve(a->transposed, v);
        int here = i == 0 && tab->alpha[i] == 0; /* J is known there */
        if (!here) r = dae_adjoint_jacobian(a, -1, 0, t + tab->alpha[i] * h, a->stage[i], a->K);
        if (r) return r;
        dae_zero(n, a->p[i]);
        add_turned(a, here ? a->J : a->K, v, a->p[i]);
        dae_axpy(n, 1, a->p[i], next);
        dae_axpy(n, tab->gamma_i[i] * h, v, q);
    }
    for (int i = 0; i < s && !r; i++) r = add_second(a, t, z, a->u[i], a->v[i], next);
    double dt = fmax(fabs(t), fabs(h)) * MOVE;
    for (int side = 0; side < 2 && !r && !a->autonomous; side++) {
        r = dae_adjoint_jacobian(a, -1, 0, t + (side ? dt : -dt), z, a->K);
        dae_zero(n, a->fl);
        add_turned(a, a->K, q, a->fl);
        dae_axpy(n, (side ? 1 : -1) / (2 * dt), a->fl, next);
    }
    if (!r) r = rodas_collect(a, t, h, z, a->autonomous ? NULL : q);
    dae_copy(n, next, lambda);
    return r;
}

/* ---- Radau IIA ----------------------------------------------------------------------------------------------- */

static const struct coefficients *radau_of(int s)
{
    return s == 3 ? &order5 : s == 5 ? &order9 : &order13;
}

const double *dae_adjoint_radau_nodes(int s)
{
    return radau_of(s)->c;
}

/* a_ij, the integral of the j-th Lagrange polynomial to c_i: inv(A) = T Lambda inv(T) inverted block by block. */
static void radau_matrix(int s, double A[S_MAX][S_MAX])
{
    const struct coefficients *m = radau_of(s);
    double D[S_MAX][S_MAX] = {{0}};
    D[0][0] = 1 / m->gamma;
    for (int k = 0; k < s / 2; k++) {
        double d = m->alpha[k] * m->alpha[k] + m->beta[k] * m->beta[k];
        int at = 1 + 2 * k;
        D[at][at] = D[at + 1][at + 1] = m->alpha[k] / d;
        D[at][at + 1] = m->beta[k] / d;
        D[at + 1][at] = -m->beta[k] / d;
    }
    for (int i = 0; i < s; i++) {
        for (int j = 0; j < s; j++) {
            double sum = 0;
            for (int k = 0; k < s; k++) {
                for (int l = 0; l < s; l++) sum += m->T[i][k] * D[k][l] * m->Tinv[l][j];
            }
            A[i][j] = sum;
        }
    }
}

int dae_adjoint_radau(dae_adjoint *a, double t, double h, int s, const double *Y, double *lambda)
{
    int n = a->n, all = s * n;
    double A[S_MAX][S_MAX];
    const double *c = dae_adjoint_radau_nodes(s);
    radau_matrix(s, A);
    dae_zero(all * all, a->big);
    for (int k = 0; k < s; k++) { /* block row k: M^T mu_k - h J_k^T sum_i a_ik mu_i */
        int r = dae_adjoint_jacobian(a, -1, 0, t + c[k] * h, Y + (size_t)k * (size_t)n, a->K);
        if (r) return r;
        for (int i = 0; i < s; i++) {
            double x = -h * A[i][k];
            for (int q = 0; q < n; q++) {
                double *column = a->big + (size_t)(i * n + q) * (size_t)all + (size_t)(k * n);
                for (int l = 0; l < n; l++) column[l] = x * a->K[q + l * n];
                for (int l = 0; i == k && l < n; l++) column[l] += a->M ? a->M[q + l * n] : l == q;
            }
        }
    }
    dae_shifted *solver = a->stages[s];
    if (!solver || dae_shifted_factor_values(solver, a->big)) return 1;
    double *mu = a->mu;
    dae_zero(all, mu);
    dae_copy(n, lambda, mu + (s - 1) * n);
    dae_shifted_solve(solver, mu);
    dae_zero(n, a->x);
    for (int k = 0; k < s; k++) dae_axpy(n, 1, mu + k * n, a->x);
    multiply_mass(a, 1, a->x, lambda);
    for (int k = 0; k < s; k++) {
        dae_zero(n, a->w);
        for (int i = 0; i < s; i++) dae_axpy(n, h * A[i][k], mu + i * n, a->w);
        int r = collect(a, t + c[k] * h, Y + (size_t)k * (size_t)n, a->w, 1);
        if (r) return r;
    }
    return 0;
}
