/* Exact derivatives of the state-space form: w'' = F(t, w, w'), J1 = dF/dw, J2 = dF/dw', dF/dt.
 *
 * Along a direction (dt, dp) that satisfies the constraints, with K of statespace.h and d the derivative along it,
 *
 *     K dv = -( d[G v + gI], S d[T v] )                                at fixed v
 *     [M G^T; G 0] (da, .) = ( df + f_v dv - d[M a + G^T lambda],  -d[gamma + G a] - gamma_v dv )
 *     dF = S ( T da + d[T a + T' v] + (T' v)_v dv )                    at fixed v, a, lambda
 *
 * J1: dp = T N e_k. J2: dp = 0, dv = N e_k. dF/dt: dt = 1, K x = (-gI, 0), dp = T x. The factors of K and of N^T M N
 * serve all. The forces enter with the derivatives that the system gives, else with central differences;
 * the geometry with those that it gives, else with differences of fourth order along the few directions that occur (it is
 * smooth: relative errors of 1e-12). Differences of F itself would lose the stiff parts. */
#include "formulation/statespace.h"

#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define GEOMETRY_STEP 5e-4 /* ours: relative; fourth order leaves 1e-13 */
#define TIME_STEP 1e-4     /* ours */

typedef struct work {
    double *a, *lambda;             /* nv, nl */
    double *dp, *dv;                /* np, nv */
    double *up, *low;               /* nv, nl */
    double *x, *turn;               /* np each */
    double *Gv, *Tv, *Ma, *Ga, *Ta; /* derivatives: nl, np, nv, nl, np */
    double *l, *v, *p;              /* one evaluation: nl, nv, np */
    double *M, *G;                  /* values at displaced points */
    double *fp, *fv;                /* nv*np, nv*nv: given derivatives of f, and of the geometry */
} work;

size_t dae_statespace_jacobian_size(const dae_descriptor *d)
{
    size_t np = (size_t)d->np, nv = (size_t)d->nv, nl = (size_t)d->nl;
    return 5 * nl + 5 * nv + 7 * np + (size_t)d->nM + (size_t)d->nG + nv * np + nv * nv +
           (nl + nv) * (np + nv);
}

static double *next(double **at, int n)
{
    double *x = *at;
    *at += n;
    return x;
}

static work lay_out(dae_formulation *f)
{
    const dae_descriptor *d = &f->d;
    double *at = ((statespace *)f->self)->jacobian;
    int np = d->np, nv = d->nv, nl = d->nl;
    work w = {.a = next(&at, nv), .lambda = next(&at, nl)};
    w.dp = next(&at, np), w.dv = next(&at, nv);
    w.up = next(&at, nv), w.low = next(&at, nl);
    w.x = next(&at, np), w.turn = next(&at, np);
    w.Gv = next(&at, nl), w.Tv = next(&at, np), w.Ma = next(&at, nv), w.Ga = next(&at, nl),
    w.Ta = next(&at, np);
    w.l = next(&at, nl), w.v = next(&at, nv), w.p = next(&at, np);
    w.M = next(&at, d->nM), w.G = next(&at, d->nG);
    w.fp = next(&at, nv * np), w.fv = next(&at, nv * nv);
    return w;
}

/* out += A x, A with the given number of rows. */
static void multiply(int rows, int columns, const double *A, const double *x, double *out)
{
    for (int j = 0; j < columns; j++) dae_axpy(rows, x[j], A + (size_t)j * (size_t)rows, out);
}

/* ---- Geometry ---------------------------------------------------------------------------------------- */

/* Adds weight times the parts at (t, p) to the derivatives. */
static int geometry_at(dae_formulation *f, work *w, double t, const double *p, double weight)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int r = dae_descriptor_constraint(d, t, p, NULL, w->G);
    if (!r) r = dae_descriptor_drift(d, t, p, w->l);
    if (!r) dae_saddle_multiply(&d->spec, w->G, 1, s->v, w->l);
    if (!r) dae_axpy(d->nl, weight, w->l, w->Gv);
    if (!r) r = dae_descriptor_gamma(d, t, p, s->v, w->l);
    if (r) return r;
    dae_saddle_multiply(&d->spec, w->G, 1, w->a, w->l);
    dae_axpy(d->nl, weight, w->l, w->Ga);
    dae_zero(d->nv, w->v);
    if (!d->constant) {
        r = dae_descriptor_mass(d, t, p, w->M);
        if (!r) dae_saddle_multiply_mass(d->nv, d->spec.block, d->spec.nblock, w->M, 1, w->a, w->v);
    }
    dae_saddle_multiply_transposed(&d->spec, w->G, 1, w->lambda, w->v);
    dae_axpy(d->nv, weight, w->v, w->Ma);
    if (s->plain || r) return r;
    r = dae_descriptor_kinematics(d, t, p, s->v, w->p);
    dae_axpy(d->np, weight, w->p, w->Tv);
    if (!r) r = dae_descriptor_kinematics(d, t, p, w->a, w->p);
    dae_axpy(d->np, weight, w->p, w->Ta);
    if (!r) r = dae_statespace_turn(f, t, p, s->v, w->p);
    dae_axpy(d->np, weight, w->p, w->Ta);
    return r;
}

static void clear(const dae_descriptor *d, work *w)
{
    dae_zero(d->nl, w->Gv);
    dae_zero(d->np, w->Tv);
    dae_zero(d->nv, w->Ma);
    dae_zero(d->nl, w->Ga);
    dae_zero(d->np, w->Ta);
}

static int by_differences(dae_formulation *f, work *w, double t, double dt)
{
    statespace *s = f->self;
    const dae_descriptor *d = &f->d;
    static const double weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
    double size = dae_statespace_scale(d->np, s->p), speed = dae_largest(d->np, w->dp), h = INFINITY;
    if (speed > 0) h = GEOMETRY_STEP * size / speed;
    if (dt != 0) h = fmin(h, TIME_STEP * fmin(fmax(fabs(t), 1e-2), 1));
    int r = 0;
    for (int k = 0; k < 4 && !r && isfinite(h); k++) {
        for (int i = 0; i < d->np; i++) w->x[i] = s->p[i] + at[k] * h * w->dp[i];
        r = geometry_at(f, w, t + at[k] * h * dt, w->x, weight[k] / (12 * h));
    }
    return r;
}

static int has_derivatives(const dae_formulation *f)
{
    const dae_mech *m = &f->d.m;
    return ((statespace *)f->self)->plain && !m->velocity && m->dGw && m->dGtw && m->dgammadp &&
           m->dgammadv && (f->d.constant || m->dMw);
}

/* One given derivative times dp, added to out; A is work. */
static int product(dae_formulation *f, dae_mech_product_fn *fn, const dae_mech_point *x, const double *with,
                   int rows, double *A, const double *dp, double *out)
{
    const dae_descriptor *d = &f->d;
    dae_zero(rows * d->np, A);
    int r = fn(x, with, A, d->m.user);
    if (!r) multiply(rows, d->np, A, dp, out);
    return r;
}

/* The matrices lie in the work space behind those of f. */
static int by_given(dae_formulation *f, work *w, double t)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    const dae_mech *m = &d->m;
    dae_mech_point x = {.t = t, .p = s->p, .v = s->v};
    double *A = w->fv + (size_t)d->nv * (size_t)d->nv;
    int r = product(f, m->dGw, &x, s->v, d->nl, A, w->dp, w->Gv);
    if (!r) r = product(f, m->dGw, &x, w->a, d->nl, A, w->dp, w->Ga);
    if (!r) r = product(f, m->dGtw, &x, w->lambda, d->nv, A, w->dp, w->Ma);
    if (!r && !d->constant) r = product(f, m->dMw, &x, w->a, d->nv, A, w->dp, w->Ma);
    if (r) return r;
    dae_zero(d->nl * d->np, A);
    r = m->dgammadp(&x, A, m->user);
    if (!r) multiply(d->nl, d->np, A, w->dp, w->Ga);
    return r;
}

/* ---- Forces and what is quadratic in v ------------------------------------------------------------------ */

static int force_displaced(dae_formulation *f, work *w, double t, double dt, const double *dp,
                           const double *dv, double h, double *out)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    dae_copy(d->np, s->p, w->x);
    dae_copy(d->nv, s->v, w->v);
    if (dp) dae_axpy(d->np, h, dp, w->x);
    if (dv) dae_axpy(d->nv, h, dv, w->v);
    return dae_descriptor_force(d, t + h * dt, w->x, w->v, d->nothing + d->nl, d->nothing, out);
}

/* w->up += df along one of dt, dp, dv, by a central difference. */
static int force_difference(dae_formulation *f, work *w, double t, double dt, const double *dp,
                            const double *dv)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    double speed = dp ? dae_largest(d->np, dp) : dv ? dae_largest(d->nv, dv) : 1;
    double size = dp   ? dae_statespace_scale(d->np, s->p)
                  : dv ? fmax(dae_largest(d->nv, s->v), 1e-3)
                       : fmin(fmax(fabs(t), 1e-2), 1);
    if (speed == 0) return 0;
    double h = cbrt(DBL_EPSILON) * size / speed;
    double *plus = w->turn, *minus = w->p; /* np >= nv values each */
    int r = force_displaced(f, w, t, dt, dp, dv, h, plus);
    if (!r) r = force_displaced(f, w, t, dt, dp, dv, -h, minus);
    for (int i = 0; i < d->nv && !r; i++) w->up[i] += (plus[i] - minus[i]) / (2 * h);
    return r;
}

/* w->up += df along (dt, dp, dv); fp and fv were filled where the system gives them. */
static int force_along(dae_formulation *f, work *w, double t, double dt, const double *dp, const double *dv)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    const dae_mech *m = &d->m;
    int r = 0;
    if (dt != 0 && m->dfdt) {
        dae_mech_point x = {.t = t, .p = s->p, .v = s->v, .u = d->nothing, .lambda = d->nothing};
        dae_zero(d->nv, w->v);
        r = m->dfdt(&x, w->v, m->user);
        dae_axpy(d->nv, dt, w->v, w->up);
    } else if (dt != 0) {
        r = force_difference(f, w, t, dt, NULL, NULL);
    }
    if (dp && m->dfdp) multiply(d->nv, d->np, w->fp, dp, w->up);
    else if (dp && !r) r = force_difference(f, w, t, 0, dp, NULL);
    if (dv && m->dfdv) multiply(d->nv, d->nv, w->fv, dv, w->up);
    else if (dv && !r) r = force_difference(f, w, t, 0, NULL, dv);
    return r;
}

static int given_forces(dae_formulation *f, work *w, double t)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    dae_mech_point x = {.t = t, .p = s->p, .v = s->v, .u = d->nothing, .lambda = d->nothing};
    int r = 0;
    dae_zero(d->nv * d->np, w->fp);
    dae_zero(d->nv * d->nv, w->fv);
    if (d->m.dfdp) r = d->m.dfdp(&x, w->fp, d->m.user);
    if (!r && d->m.dfdv) r = d->m.dfdv(&x, w->fv, d->m.user);
    return r;
}

/* w->low -= gamma_v dv, and w->Ta += (T' v)_v dv. Both are quadratic in v: central differences are exact. */
static int velocity_part(dae_formulation *f, work *w, double t, const double *dv)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    double speed = dae_largest(d->nv, dv);
    if (speed == 0) return 0;
    double h = fmax(dae_largest(d->nv, s->v), 1) / speed;
    if (has_derivatives(f)) {
        dae_mech_point x = {.t = t, .p = s->p, .v = s->v};
        double *A = w->fv + (size_t)d->nv * (size_t)d->nv;
        dae_zero(d->nl * d->nv, A);
        int r = d->m.dgammadv(&x, A, d->m.user);
        dae_zero(d->nl, w->l);
        multiply(d->nl, d->nv, A, dv, w->l);
        dae_axpy(d->nl, -1, w->l, w->low);
        return r;
    }
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i < d->nv; i++) w->v[i] = s->v[i] + side * h * dv[i];
        int r = dae_descriptor_gamma(d, t, s->p, w->v, w->l);
        dae_axpy(d->nl, -side / (2 * h), w->l, w->low);
        if (!r && !s->plain) {
            r = dae_statespace_turn(f, t, s->p, w->v, w->p);
            dae_axpy(d->np, side / (2 * h), w->p, w->Ta);
        }
        if (r) return r;
    }
    return 0;
}

/* ---- One column ---------------------------------------------------------------------------------------------- */

/* dF along (dt, w->dp) at fixed w' (position = 1), or along w->dv alone, into out. */
static int column(dae_formulation *f, work *w, double t, double dt, int position, double *out)
{
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    int r = 0;
    clear(d, w);
    if (position) {
        int still = dt != 0 && d->constant && !d->m.velocity; /* the geometry does not depend on time */
        if (!still) r = has_derivatives(f) && dt == 0 ? by_given(f, w, t) : by_differences(f, w, t, dt);
        if (r) return r;
        dae_functionals_apply(&s->position, w->Tv, s->residual);
        for (int i = 0; i < s->nw; i++) s->residual[i] = -s->residual[i];
        for (int i = 0; i < d->nl; i++) w->l[i] = -w->Gv[i];
        dae_split_solve(s->here, w->l, s->residual, w->dv);
    }
    for (int i = 0; i < d->nv; i++) w->up[i] = -w->Ma[i];
    for (int i = 0; i < d->nl; i++) w->low[i] = -w->Ga[i];
    r = force_along(f, w, t, dt, position ? w->dp : NULL, w->dv);
    if (!r) r = velocity_part(f, w, t, w->dv);
    if (r) return r;
    dae_statespace_reduced_solve(f, w->up, w->low, s->vc);
    r = dae_descriptor_kinematics(d, t, s->p, s->vc, w->p);
    if (!s->plain) dae_axpy(d->np, 1, w->Ta, w->p);
    dae_functionals_apply(&s->position, w->p, out);
    return r;
}

/* Everything at (t, y) that all columns need. A method asks for df/dy and df/dt at the same point: what is there stays. */
static int prepare(dae_formulation *f, work *w, double t, const double *y)
{
    statespace *s = f->self;
    int n = 2 * s->nw;
    if (s->jacobian_points == s->points && s->jacobian_t == t &&
        !memcmp(y, s->jacobian_y, (size_t)n * sizeof *y))
        return 0;
    s->jacobian_points = -1;
    int r = dae_statespace_recover(f, t, y);
    if (!r) r = dae_descriptor_accelerations(&f->d, t, s->p, s->v, f->d.nothing, 0, 0, w->a, w->lambda);
    if (!r) r = dae_statespace_reduce(f, t);
    if (!r) r = given_forces(f, w, t);
    if (r) return r;
    s->jacobian_points = s->points; /* every other use of the form recovers a point */
    s->jacobian_t = t;
    dae_copy(n, y, s->jacobian_y);
    return 0;
}

int dae_statespace_jacobian(double t, const double *y, double *J, void *user)
{
    dae_formulation *f = user;
    statespace *s = f->self;
    int nw = s->nw, n = 2 * nw, nv = f->d.nv;
    work w = lay_out(f);
    int r = prepare(f, &w, t, y);
    if (r) return r;
    for (int k = 0; k < nw && !r; k++) {
        double *left = J + (size_t)k * (size_t)n, *right = J + (size_t)(nw + k) * (size_t)n;
        const double *N = s->N + (size_t)k * (size_t)nv;
        r = dae_descriptor_kinematics(&f->d, t, s->p, N, w.dp);
        if (!r) r = column(f, &w, t, 0, 1, left + nw);
        dae_copy(nv, N, w.dv);
        if (!r) r = column(f, &w, t, 0, 0, right + nw);
        right[k] = 1;
    }
    return r;
}

int dae_statespace_dfdt(double t, const double *y, double *out, void *user)
{
    dae_formulation *f = user;
    statespace *s = f->self;
    dae_descriptor *d = &f->d;
    work w = lay_out(f);
    int r = prepare(f, &w, t, y);
    if (!r) r = dae_descriptor_drift(d, t, s->p, w.l);
    if (r) return r;
    for (int i = 0; i < d->nl; i++) w.l[i] = -w.l[i];
    dae_split_solve(s->here, w.l, NULL, w.v);
    r = dae_descriptor_kinematics(d, t, s->p, w.v, w.dp);
    dae_zero(s->nw, out);
    return r ? r : column(f, &w, t, 1, 1, out + s->nw);
}
