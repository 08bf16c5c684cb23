/* The form `projected` of equations: the underlying ODE in all variables and derivatives below the highest ones,
 *
 *     z = (x_j^(k), k < d_j; discrete values),   z' = the next derivative, the highest ones from f_i^(c_i) = 0
 *
 * and after every step the point of least change that satisfies f_i^(m) = 0, m < c_i (stages -max c, ..., -1). No states have to be
 * chosen, so nothing has to change along the run; the constraints hold at the ends of steps. */
#include "equations/form_base.h"

#include "core/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct projected {
    dae_form_base base;
    int n, count;   /* of z; of values of X in it */
    int *at;        /* count: places in X */
    double *weight; /* total: what counts as a change of size 1 */
} projected;

static int stage_0(void *user, double t, const double *z, const double **X)
{
    const projected *x = user;
    return dae_reduced_highest(x->base.d, t, x->count, x->at, z, X);
}

/* All of X. */
static int highest(projected *x, double t, const double *z, const double **X)
{
    return dae_form_base_solve(&x->base, t, z, z + x->count, stage_0, x, X);
}

static int switch_values(double t, const double *z, const int *side, double *margin, int *next, void *user)
{
    projected *x = user;
    const double *X;
    int r = highest(x, t, z, &X);
    if (!r) dae_sides_values(x->base.sides, t, X, side, margin, next);
    return r;
}

static const char *switch_name(int i, void *user)
{
    return dae_sides_name(((const projected *)user)->base.sides, i);
}

static int point(dae_form *f, double t, const double *z, const double **X, const double **discrete)
{
    projected *x = f->self;
    *discrete = dae_sides_discrete(x->base.sides);
    return highest(x, t, z, X);
}

static const int *given(const dae_form *f, int *count)
{
    const projected *x = f->self;
    *count = x->count;
    return x->at;
}

const dae_form_inside dae_projected_inside = {.point = point, .given = given};

static int rates(double t, const double *z, double *f, void *user)
{
    projected *x = user;
    const double *X;
    int r = highest(x, t, z, &X);
    if (r) return r;
    for (int k = 0; k < x->count; k++) f[k] = X[x->at[k] + 1];
    for (int k = x->count; k < x->n; k++) f[k] = 0;
    return 0;
}

static void destroy(dae_form *f)
{
    projected *x = f->self;
    if (!x) return;
    dae_form_base_close(&x->base);
    free(x->at);
    free(x->weight);
    free(x);
}

static dae_status create(dae_form *f, dae_error *err)
{
    dae_equation_system *s = (dae_equation_system *)f->model;
    const dae_analysis *a = &s->analysis;
    projected *x = f->self = calloc(1, sizeof *x);
    size_t total = (size_t)a->total + 1;
    if (!x) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the projection");
    x->at = calloc(total, sizeof *x->at);
    x->weight = calloc(total, sizeof *x->weight);
    if (!dae_form_base_open(&x->base, s) || !x->at || !x->weight || dae_reduced_projects(x->base.d))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the projection");
    for (int j = 0; j < a->n; j++) {
        for (int k = 0; k < a->sigma.d[j]; k++) x->at[x->count++] = a->place[j] + k;
    }
    for (int i = 0; i < a->total; i++) x->weight[i] = 1;
    x->n = x->count + s->model->ndiscrete;
    if (x->n == 0)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "there is nothing to integrate: no derivative occurs");
    f->system = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = x->n, .f = rates, .user = x}};
    f->system.switches = dae_sides_switches(x->base.sides, switch_values, x, switch_name);
    snprintf(f->text, sizeof f->text, "%d values, projected onto %d equations", x->count,
             x->count - a->sigma.dof);
    return DAE_OK;
}

static dae_status lift(dae_form *f, double t, const double *y, double *z, dae_error *err)
{
    projected *x = f->self;
    const dae_equation_system *s = x->base.s;
    dae_status status = dae_form_base_lift(&x->base, t, y, err);
    if (status == DAE_OK) status = dae_form_base_choose(&x->base, t, err);
    if (status != DAE_OK) return status;
    for (int k = 0; k < x->count; k++) z[k] = x->base.X[x->at[k]];
    memcpy(z + x->count, y + s->ncontinuous, (size_t)s->model->ndiscrete * sizeof *z);
    return DAE_OK;
}

static int lower(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp)
{
    projected *x = f->self;
    const double *X;
    (void)zp;
    int r = highest(x, t, z, &X);
    if (!r) dae_form_base_lower(&x->base, X, z + x->count, y, yp);
    return r;
}

static void tolerance(const dae_form *f, const double *given, double *out)
{
    const projected *x = f->self;
    dae_form_base_tolerance(&x->base, x->count, x->at, given, out);
}

static int project(double t, double *z, void *user)
{
    projected *x = user;
    dae_form_base_take(&x->base, z + x->count);
    for (int k = 0; k < x->count; k++)
        x->weight[x->at[k]] = fmax(fabs(z[k]), 1); /* as 2.7 weighs changes at the start */
    return dae_reduced_project(x->base.d, t, x->count, x->at, x->weight, z);
}

static size_t save(const void *user, void *buffer)
{
    return dae_form_base_save(&((const projected *)user)->base, buffer);
}

static int load(void *user, const void *buffer, size_t size)
{
    return dae_form_base_load(&((projected *)user)->base, buffer, size);
}

static int accept(double t, double *z, void *user)
{
    projected *x = user;
    const double *X;
    if (!dae_reduced_highest(x->base.d, t, x->count, x->at, z, &X)) dae_reduced_note(x->base.d, t);
    return 0;
}

static dae_status attach(dae_form *f, dae_integrator *it, dae_error *err)
{
    projected *x = f->self;
    dae_integrator_set_chart(it, accept, x);
    dae_integrator_set_memory(it, &(dae_memory){save, load, x});
    return x->count > x->base.s->analysis.sigma.dof ? dae_integrator_set_projection(it, project, x, err)
                                                    : DAE_OK;
}

const dae_form_type dae_form_projected = {
    .info = {.name = "projected",
             .title = "projected",
             .summary =
                 "the underlying ODE in all variables, projected onto the constraints after every step",
             .kind = DAE_KIND_ODE},
    .create = create,
    .destroy = destroy,
    .lift = lift,
    .lower = lower,
    .tolerance = tolerance,
    .attach = attach,
};
