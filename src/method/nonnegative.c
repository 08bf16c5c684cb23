#include "method/nonnegative.h"

#include "core/error.h"
#include "core/vector.h"

#include <math.h>

#define RETURN 100 /* ours: what is outside comes back in this part of the interval */
#define FURTHER 10 /* ours: an accepted point may be so many tolerances outside before it is moved back */

/* The system of the user, and what it is seen through. */
struct dae_nonnegative {
    const dae_ivp *ivp;
    dae_ode ode;
    const double *t0; /* where the run began */
    int count, *component;
    double *f; /* n: the right-hand side at a point of the Jacobian */
    dae_project_fn *project;
    void *project_user;
};
typedef struct dae_nonnegative guard;

/* Where y_i <= 0, f_i is at least this times y_i. */
static double back(const guard *g)
{
    double rest = fabs(g->ivp->t_end - *g->t0);
    return rest > 0 ? -g->ivp->direction * RETURN / rest : 0;
}

static int is_replaced(const guard *g, double y, double f)
{
    return y <= 0 && g->ivp->direction * (f - back(g) * y) < 0;
}

static int guarded_f(double t, const double *y, double *f, void *user)
{
    const guard *g = user;
    int r = g->ode.f(t, y, f, g->ode.user);
    for (int k = 0; k < g->count; k++) {
        int i = g->component[k];
        if (is_replaced(g, y[i], f[i])) f[i] = back(g) * y[i];
    }
    return r;
}

static int guarded_dfdt(double t, const double *y, double *dfdt, void *user)
{
    const guard *g = user;
    return g->ode.dfdt(t, y, dfdt, g->ode.user);
}

static void replace_row(const dae_pattern *p, int n, int row, double diagonal, double *jac)
{
    int width = p->lower + 1 + p->upper;
    for (int j = 0; j < n; j++) {
        if (p->storage == DAE_SPARSE) {
            for (int k = p->colptr[j]; k < p->colptr[j + 1]; k++) {
                if (p->rowind[k] == row) jac[k] = row == j ? diagonal : 0;
            }
        } else if (p->storage == DAE_BANDED) {
            if (row - j <= p->lower && j - row <= p->upper)
                jac[p->upper + row - j + (long)j * width] = row == j ? diagonal : 0;
        } else {
            jac[row + (long)j * n] = row == j ? diagonal : 0;
        }
    }
}

/* Rows of components whose f is replaced. */
static int guarded_jac(double t, const double *y, double *jac, void *user)
{
    const guard *g = user;
    int outside = 0, r = g->ode.jac(t, y, jac, g->ode.user);
    for (int k = 0; k < g->count; k++) outside |= y[g->component[k]] <= 0;
    if (r || !outside) return r;
    r = g->ode.f(t, y, g->f, g->ode.user);
    for (int k = 0; k < g->count && !r; k++) {
        int i = g->component[k];
        if (is_replaced(g, y[i], g->f[i]))
            replace_row(&g->ivp->sys->structure.jacobian, g->ode.n, i, back(g), jac);
    }
    return r;
}

dae_status dae_nonnegative_create(dae_integrator *it, const dae_options *opt, dae_error *err)
{
    int n = it->ivp.n;
    it->opt.nonnegative = NULL;
    it->opt.nnonnegative = 0;
    if (opt->nnonnegative == 0) return DAE_OK;
    if (opt->nnonnegative < 0 || !opt->nonnegative)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "nnonnegative = %d without components", opt->nnonnegative);
    for (int k = 0; k < opt->nnonnegative; k++) {
        if (opt->nonnegative[k] >= 0 && opt->nonnegative[k] < n) continue;
        return dae_fail(err, DAE_ERR_INPUT, NAN,
                        "nonnegative: there is no component %d; the system has %d, numbered from 0",
                        opt->nonnegative[k], n);
    }
    if (it->sys.kind != DAE_KIND_ODE)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                        "nonnegative components are kept in systems y' = f(t,y), not in those of kind %s",
                        dae_kind_name(it->sys.kind));
    guard *g = dae_arena_take(it->keep, 1, sizeof *g);
    if (g) {
        g->component =
            dae_arena_copy(it->keep, opt->nonnegative, (size_t)opt->nnonnegative, sizeof *opt->nonnegative);
        g->f = dae_arena_reals(it->keep, (size_t)n);
    }
    if (!g || !g->component || !g->f)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for nonnegative components");
    g->ivp = &it->ivp;
    g->t0 = &it->begin;
    g->ode = it->sys.ode;
    g->ode.user = it->ivp.user;
    g->count = opt->nnonnegative;
    it->nonnegative = g;
    it->ivp.corners = 1;
    it->sys.ode.f = it->ivp.f = guarded_f;
    if (g->ode.jac) it->sys.ode.jac = guarded_jac;
    if (g->ode.dfdt) it->sys.ode.dfdt = guarded_dfdt;
    it->sys.ode.user = it->ivp.user = g;
    it->opt.nonnegative = g->component;
    it->opt.nnonnegative = g->count;
    return DAE_OK;
}

dae_status dae_nonnegative_check(const dae_integrator *it, double t, const double *y, dae_error *err)
{
    const guard *g = it->nonnegative;
    for (int k = 0; g && k < g->count; k++) {
        if (y[g->component[k]] < 0)
            return dae_fail(err, DAE_ERR_INPUT, t,
                            "t = %g: component %d is %g, but it is said to be nonnegative", t,
                            g->component[k] + 1, y[g->component[k]]);
    }
    return DAE_OK;
}

static int move_back(double t, double *y, void *user)
{
    const guard *g = user;
    int r = g->project ? g->project(t, y, g->project_user) : 0;
    for (int k = 0; k < g->count && !r; k++) {
        int i = g->component[k];
        if (!(y[i] < 0)) continue;
        if (g->ivp->atol[i] > 0 && -y[i] > FURTHER * g->ivp->atol[i]) r = 1;
        else y[i] = 0;
    }
    return r;
}

void dae_nonnegative_project(dae_integrator *it)
{
    guard *g = it->nonnegative;
    if (!g || it->ivp.project == move_back || !it->method->info.projects) return;
    g->project = it->ivp.project;
    g->project_user = it->ivp.project_user;
    it->ivp.project = move_back;
    it->ivp.project_user = g;
}

void dae_nonnegative_clip(const dae_integrator *it, double *y, double *yp)
{
    const guard *g = it->nonnegative;
    for (int k = 0; g && k < g->count; k++) {
        int i = g->component[k];
        if (!(y[i] < 0)) continue;
        y[i] = 0;
        if (yp && yp[i] < 0) yp[i] = 0;
    }
}
