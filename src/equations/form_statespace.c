/* The form `statespace` of equations: an ODE in the chosen states, which change where the pose wants others.
 *
 *     z = (states, discrete values, 0 if there are neither),   z' = (rates, 0)
 *
 * Every evaluation solves all equations and their derivatives (reduced.c), so that nothing drifts. */
#include "equations/form_base.h"

#include "core/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct statespace {
    dae_form_base base;
    const dae_integrator *it;
    int plain; /* 1: nothing is discrete and everything smooth */
    int n;     /* of z, at least 1 */
} statespace;

static int reduced_solve(void *user, double t, const double *z, const double **X)
{
    return dae_reduced_solve(user, t, z, X);
}

/* X of the states z. */
static int solve(statespace *x, double t, const double *z, const double **X)
{
    dae_form_base *b = &x->base;
    if (x->plain) return dae_reduced_solve(b->d, t, z, X);
    return dae_form_base_solve(b, t, z, z + b->s->analysis.sigma.dof, reduced_solve, b->d, X);
}

static int point(dae_form *f, double t, const double *z, const double **X, const double **discrete)
{
    statespace *x = f->self;
    *discrete = dae_sides_discrete(x->base.sides);
    return solve(x, t, z, X);
}

static const int *given(const dae_form *f, int *count)
{
    const statespace *x = f->self;
    *count = x->base.s->analysis.sigma.dof;
    return dae_reduced_states(x->base.d);
}

const dae_form_inside dae_statespace_inside = {.point = point, .given = given};

static int switch_values(double t, const double *z, const int *side, double *margin, int *next, void *user)
{
    statespace *x = user;
    const double *X;
    int r = solve(x, t, z, &X);
    if (!r) dae_sides_values(x->base.sides, t, X, side, margin, next);
    return r;
}

static const char *switch_name(int i, void *user)
{
    return dae_sides_name(((const statespace *)user)->base.sides, i);
}

static int rates(double t, const double *z, double *f, void *user)
{
    statespace *x = user;
    int dof = x->base.s->analysis.sigma.dof;
    const double *X;
    for (int k = dof; k < x->n; k++) f[k] = 0;
    int r = solve(x, t, z, &X);
    for (int k = 0; k < dof && !r; k++) f[k] = X[dae_reduced_states(x->base.d)[k] + 1];
    return r;
}

static void destroy(dae_form *f)
{
    statespace *x = f->self;
    if (!x) return;
    dae_form_base_close(&x->base);
    free(x);
}

static dae_status create(dae_form *f, dae_error *err)
{
    dae_equation_system *s = (dae_equation_system *)f->model;
    statespace *x = f->self = calloc(1, sizeof *x);
    if (!x || !dae_form_base_open(&x->base, s))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the states");
    x->plain = dae_sides_all(x->base.sides) == 0;
    x->n = s->analysis.sigma.dof + s->model->ndiscrete;
    if (x->n == 0) x->n = 1;
    f->system = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = x->n, .f = rates, .user = x}};
    f->system.switches = dae_sides_switches(x->base.sides, switch_values, x, switch_name);
    return DAE_OK;
}

/* "states: y, vy" */
static void describe(dae_form *f)
{
    const statespace *x = f->self;
    const dae_analysis *a = &x->base.s->analysis;
    const int *state = dae_reduced_states(x->base.d);
    size_t used = (size_t)snprintf(f->text, sizeof f->text, "states:");
    for (int k = 0, j = 0; k < a->sigma.dof && used + 60 < sizeof f->text; k++) {
        while (state[k] >= a->place[j + 1]) j++;
        int order = state[k] - a->place[j];
        used += (size_t)snprintf(f->text + used, sizeof f->text - used, "%s %.40s%.*s", k ? "," : "",
                                 a->variable[j], order < 8 ? order : 8, "''''''''");
    }
}

static dae_status lift(dae_form *f, double t, const double *y, double *z, dae_error *err)
{
    statespace *x = f->self;
    const dae_equation_system *s = x->base.s;
    int dof = s->analysis.sigma.dof;
    dae_status status = dae_form_base_lift(&x->base, t, y, err);
    if (status == DAE_OK) status = dae_form_base_choose(&x->base, t, err);
    if (status != DAE_OK) return status;
    for (int k = 0; k < dof; k++) z[k] = x->base.X[dae_reduced_states(x->base.d)[k]];
    if (dof == 0) z[0] = 0;
    memcpy(z + dof, y + s->ncontinuous, (size_t)s->model->ndiscrete * sizeof *z);
    describe(f);
    return DAE_OK;
}

static int lower(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp)
{
    statespace *x = f->self;
    const double *X;
    (void)zp;
    int r = solve(x, t, z, &X);
    if (!r) dae_form_base_lower(&x->base, X, z + x->base.s->analysis.sigma.dof, y, yp);
    return r;
}

static void tolerance(const dae_form *f, const double *given, double *out)
{
    const statespace *x = f->self;
    out[0] = given[0];
    dae_form_base_tolerance(&x->base, x->base.s->analysis.sigma.dof, dae_reduced_states(x->base.d), given,
                            out);
}

static int chart(double t, double *z, void *user)
{
    dae_form *f = user;
    statespace *x = f->self;
    dae_reduced_change_early(x->base.d, !dae_integrator_method(x->it)->multistep);
    int r = dae_reduced_accept(x->base.d, t, z);
    if (r > 0) describe(f);
    return r < 0 ? DAE_ERR_MEMORY : r;
}

static size_t save(const void *user, void *buffer)
{
    const statespace *x = ((const dae_form *)user)->self;
    return dae_form_base_save(&x->base, buffer);
}

static int load(void *user, const void *buffer, size_t size)
{
    dae_form *f = user;
    statespace *x = f->self;
    int r = dae_form_base_load(&x->base, buffer, size);
    if (r == 0) describe(f);
    return r;
}

static dae_status attach(dae_form *f, dae_integrator *it, dae_error *err)
{
    statespace *x = f->self;
    (void)err;
    x->it = it;
    dae_integrator_set_chart(it, chart, f);
    dae_integrator_set_memory(it, &(dae_memory){save, load, f});
    return DAE_OK;
}

const dae_form_type dae_form_statespace = {
    .info = {.name = "statespace",
             .title = "chosen states",
             .summary = "an ODE in states that change with the pose; nothing drifts",
             .kind = DAE_KIND_ODE},
    .create = create,
    .destroy = destroy,
    .lift = lift,
    .lower = lower,
    .tolerance = tolerance,
    .attach = attach,
};
