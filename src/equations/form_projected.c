/* The form `projected` of equations: the underlying ODE in all variables and derivatives below the highest ones,
 *
 *     z = (x_j^(k), k < d_j; discrete values),   z' = the next derivative, the highest ones from f_i^(c_i) = 0
 *
 * and after every step the point of least change that satisfies f_i^(m) = 0, m < c_i (stages -max c, ..., -1). No states have to be
 * chosen, so nothing has to change along the run; the constraints hold at the ends of steps. */
#include "equations/forms.h"

#include "core/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct projected {
    dae_equation_system *s;
    dae_reduced *d;
    int n, count;     /* of z; of values of X in it */
    int *at;          /* count: places in X */
    double *X;        /* total: the last point that was lifted or accepted */
    double *weight;   /* total: what counts as a change of size 1 */
    dae_sides *sides; /* and discrete values */
    double *y;        /* n of the problem */
    unsigned char *changed;
    int started;
} projected;

static int take_discrete(projected *x, const double *values)
{
    if (!dae_sides_take(x->sides, values)) return 0;
    dae_reduced_set(x->d, x->s->parameter, dae_sides_discrete(x->sides));
    return 1;
}

/* All of X, with the sides of kinks that were let go. */
static int highest(projected *x, double t, const double *z, const double **X)
{
    enum { rounds = 3 };
    take_discrete(x, z + x->count);
    int r = dae_reduced_highest(x->d, t, x->count, x->at, z, X);
    for (int k = 0; k < rounds && !r && dae_sides_follow(x->sides, t, *X); k++) {
        dae_reduced_set(x->d, x->s->parameter, dae_sides_discrete(x->sides));
        r = dae_reduced_highest(x->d, t, x->count, x->at, z, X);
    }
    if (r > 0 && dae_sides_literal(x->sides, t, *X)) {
        dae_reduced_set(x->d, x->s->parameter, dae_sides_discrete(x->sides));
        r = dae_reduced_highest(x->d, t, x->count, x->at, z, X);
    }
    return r;
}

static int switch_values(double t, const double *z, const int *side, double *margin, int *next, void *user)
{
    projected *x = user;
    const double *X;
    int r = highest(x, t, z, &X);
    if (!r) dae_sides_values(x->sides, t, X, side, margin, next);
    return r;
}

static const char *switch_name(int i, void *user)
{
    return dae_sides_name(((const projected *)user)->sides, i);
}

static int point(dae_form *f, double t, const double *z, const double **X, const double **discrete)
{
    projected *x = f->self;
    *discrete = dae_sides_discrete(x->sides);
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
    dae_reduced_destroy(x->d);
    free(x->at);
    free(x->X);
    free(x->weight);
    dae_sides_destroy(x->sides);
    free(x->y);
    free(x->changed);
    free(x);
}

static dae_status create(dae_form *f, dae_error *err)
{
    const dae_equation_system *s = f->model;
    const dae_analysis *a = &s->analysis;
    projected *x = f->self = calloc(1, sizeof *x);
    size_t total = (size_t)a->total + 1;
    if (!x) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the projection");
    x->s = (dae_equation_system *)s;
    x->d = dae_reduced_create(s->reduction, s->parameter, s->discrete);
    x->at = calloc(total, sizeof *x->at);
    x->X = calloc(total, sizeof *x->X);
    x->weight = calloc(total, sizeof *x->weight);
    x->sides = dae_sides_create(s->smooth, s->discrete);
    x->y = calloc((size_t)s->n + 1, sizeof *x->y);
    x->changed = calloc((size_t)s->n + 1, 1);
    if (!x->d || !x->at || !x->X || !x->weight || !x->sides || !x->y || !x->changed ||
        dae_reduced_projects(x->d))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the projection");
    memcpy(x->X, s->initial.X, (size_t)a->total * sizeof(double));
    for (int j = 0; j < a->n; j++) {
        for (int k = 0; k < a->sigma.d[j]; k++) x->at[x->count++] = a->place[j] + k;
    }
    for (int i = 0; i < a->total; i++) x->weight[i] = 1;
    x->n = x->count + s->model->ndiscrete;
    if (x->n == 0)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "there is nothing to integrate: no derivative occurs");
    f->system = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = x->n, .f = rates, .user = x}};
    f->system.switches = dae_sides_switches(x->sides, switch_values, x, switch_name);
    snprintf(f->text, sizeof f->text, "%d values, projected onto %d equations", x->count,
             x->count - a->sigma.dof);
    return DAE_OK;
}

static dae_status lift(dae_form *f, double t, const double *y, double *z, dae_error *err)
{
    projected *x = f->self;
    dae_equation_system *s = x->s;
    int different = 0, bad = 0;
    dae_equation_system_components(s, x->X, x->y);
    for (int i = 0; i < s->ncontinuous; i++) {
        x->changed[i] = y[i] != x->y[i];
        different |= x->changed[i];
    }
    different |= take_discrete(x, y + s->ncontinuous);
    if (different) {
        int r = dae_equation_system_restart(s, t, y, x->changed, dae_sides_discrete(x->sides), x->X, x->X);
        if (r < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for consistent values");
        if (r > 0)
            return dae_fail(err, DAE_ERR_INCONSISTENT, t, "t = %.10g: the values contradict the equations",
                            t);
    }
    int r = dae_reduced_start(x->d, t, x->X, &bad);
    if (r < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for the projection");
    if (r > 0)
        return dae_fail(err, DAE_ERR_SINGULAR, t,
                        "t = %.10g: %s depends on other equations there (the system Jacobian is singular): a "
                        "redundant constraint?",
                        t, s->analysis.equation[bad]);
    for (int k = 0; k < x->count; k++) z[k] = x->X[x->at[k]];
    memcpy(z + x->count, y + s->ncontinuous, (size_t)s->model->ndiscrete * sizeof *z);
    return DAE_OK;
}

static int lower(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp)
{
    projected *x = f->self;
    const dae_equation_system *s = x->s;
    const double *X;
    (void)zp;
    int r = highest(x, t, z, &X);
    if (r) return r;
    memcpy(x->X, X, (size_t)s->analysis.total * sizeof *x->X);
    dae_equation_system_components(s, X, y);
    memcpy(y + s->ncontinuous, z + x->count, (size_t)s->model->ndiscrete * sizeof *y);
    for (int i = 0; yp && i < s->ncontinuous; i++) {
        int j = s->variable[i];
        yp[i] = s->order[i] < s->analysis.sigma.d[j] ? X[s->analysis.place[j] + s->order[i] + 1] : NAN;
    }
    for (int i = s->ncontinuous; yp && i < s->n; i++) yp[i] = 0;
    return 0;
}

/* Values get the tolerance of the component that they are, or of the highest below. */
static void tolerance(const dae_form *f, const double *given, double *out)
{
    const projected *x = f->self;
    const dae_equation_system *s = x->s;
    for (int k = 0, j = 0; k < x->count; k++) {
        int best = -1;
        while (x->at[k] >= s->analysis.place[j + 1]) j++;
        for (int i = 0; i < s->ncontinuous; i++) {
            int fits = s->variable[i] == j && s->order[i] <= x->at[k] - s->analysis.place[j];
            if (fits && (best < 0 || s->order[i] > s->order[best])) best = i;
        }
        out[k] = given[best < 0 ? 0 : best];
    }
    for (int i = 0; i < s->model->ndiscrete; i++) out[x->count + i] = given[s->ncontinuous + i];
}

static int project(double t, double *z, void *user)
{
    projected *x = user;
    take_discrete(x, z + x->count);
    for (int k = 0; k < x->count; k++)
        x->weight[x->at[k]] = fmax(fabs(z[k]), 1); /* as 2.7 weighs changes at the start */
    return dae_reduced_project(x->d, t, x->count, x->at, x->weight, z);
}

/* Memory of a checkpoint: discrete values, the last lifted point, where Newton starts. */
static size_t save(const void *user, void *buffer)
{
    const projected *x = user;
    size_t discrete = (size_t)dae_sides_all(x->sides) * sizeof(double),
           total = (size_t)x->s->analysis.total * sizeof(double);
    unsigned char *out = buffer;
    if (out) {
        memcpy(out, dae_sides_discrete(x->sides), discrete);
        memcpy(out + discrete, x->X, total);
        out += discrete + total;
    }
    return discrete + total + dae_reduced_save(x->d, out);
}

static int load(void *user, const void *buffer, size_t size)
{
    projected *x = user;
    size_t discrete = (size_t)dae_sides_all(x->sides) * sizeof(double),
           total = (size_t)x->s->analysis.total * sizeof(double);
    const unsigned char *in = buffer;
    if (size < discrete + total) return -1;
    dae_sides_restore(x->sides, (const double *)buffer);
    memcpy(x->X, in + discrete, total);
    dae_reduced_set(x->d, x->s->parameter, dae_sides_discrete(x->sides));
    return dae_reduced_load(x->d, in + discrete + total, size - discrete - total);
}

static int accept(double t, double *z, void *user)
{
    projected *x = user;
    const double *X;
    if (!dae_reduced_highest(x->d, t, x->count, x->at, z, &X)) dae_reduced_note(x->d, t);
    return 0;
}

static dae_status attach(dae_form *f, dae_integrator *it, dae_error *err)
{
    projected *x = f->self;
    dae_integrator_set_chart(it, accept, x);
    dae_integrator_set_memory(it, &(dae_memory){save, load, x});
    return x->count > x->s->analysis.sigma.dof ? dae_integrator_set_projection(it, project, x, err) : DAE_OK;
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
