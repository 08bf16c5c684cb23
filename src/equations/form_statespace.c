/* The form `statespace` of equations: an ODE in the chosen states, which change where the pose wants others.
 *
 *     z = (states, discrete values, 0 if there are neither),   z' = (rates, 0)
 *
 * Every evaluation solves all equations and their derivatives (reduced.c), so that nothing drifts. */
#include "equations/forms.h"

#include "core/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct statespace {
    dae_equation_system *s;
    dae_reduced *d;
    const dae_integrator *it;
    double *X;        /* total: the last point that was lifted */
    dae_sides *sides; /* and discrete values */
    unsigned char *changed;
    double *y; /* n */
    int started;
    int plain; /* 1: nothing is discrete and everything smooth */
    int n;     /* of z, at least 1 */
} statespace;

/* 1 if they are others than before. */
static int take_discrete(statespace *x, const double *values)
{
    if (!dae_sides_take(x->sides, values)) return 0;
    dae_reduced_set(x->d, x->s->parameter, dae_sides_discrete(x->sides));
    return 1;
}

/* X of the states z, with the sides of kinks that were let go. */
static int solve(statespace *x, double t, const double *z, const double **X)
{
    enum { rounds = 3 };
    if (x->plain) return dae_reduced_solve(x->d, t, z, X);
    take_discrete(x, z + x->s->analysis.sigma.dof);
    int r = dae_reduced_solve(x->d, t, z, X);
    for (int k = 0; k < rounds && !r && dae_sides_follow(x->sides, t, *X); k++) {
        dae_reduced_set(x->d, x->s->parameter, dae_sides_discrete(x->sides));
        r = dae_reduced_solve(x->d, t, z, X);
    }
    if (r > 0 && dae_sides_literal(x->sides, t, *X)) {
        dae_reduced_set(x->d, x->s->parameter, dae_sides_discrete(x->sides));
        r = dae_reduced_solve(x->d, t, z, X);
    }
    return r;
}

static int point(dae_form *f, double t, const double *z, const double **X, const double **discrete)
{
    statespace *x = f->self;
    *discrete = dae_sides_discrete(x->sides);
    return solve(x, t, z, X);
}

static const int *given(const dae_form *f, int *count)
{
    const statespace *x = f->self;
    *count = x->s->analysis.sigma.dof;
    return dae_reduced_states(x->d);
}

const dae_form_inside dae_statespace_inside = {.point = point, .given = given};

static int switch_values(double t, const double *z, const int *side, double *margin, int *next, void *user)
{
    statespace *x = user;
    const double *X;
    int r = solve(x, t, z, &X);
    if (!r) dae_sides_values(x->sides, t, X, side, margin, next);
    return r;
}

static const char *switch_name(int i, void *user)
{
    return dae_sides_name(((const statespace *)user)->sides, i);
}

static int rates(double t, const double *z, double *f, void *user)
{
    statespace *x = user;
    int dof = x->s->analysis.sigma.dof;
    const double *X;
    for (int k = dof; k < x->n; k++) f[k] = 0;
    int r = solve(x, t, z, &X);
    for (int k = 0; k < dof && !r; k++) f[k] = X[dae_reduced_states(x->d)[k] + 1];
    return r;
}

static void destroy(dae_form *f)
{
    statespace *x = f->self;
    if (!x) return;
    dae_reduced_destroy(x->d);
    free(x->X);
    dae_sides_destroy(x->sides);
    free(x->changed);
    free(x->y);
    free(x);
}

static dae_status create(dae_form *f, dae_error *err)
{
    const dae_equation_system *s = f->model;
    statespace *x = f->self = calloc(1, sizeof *x);
    if (!x) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the states");
    x->s = (dae_equation_system *)s;
    x->d = dae_reduced_create(s->reduction, s->parameter, s->discrete);
    x->X = calloc((size_t)s->analysis.total + 1, sizeof *x->X);
    x->sides = dae_sides_create(s->smooth, s->discrete);
    x->changed = calloc((size_t)s->n + 1, 1);
    x->y = calloc((size_t)s->n + 1, sizeof *x->y);
    if (!x->d || !x->X || !x->sides || !x->changed || !x->y)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the states");
    x->plain = dae_sides_all(x->sides) == 0;
    x->n = s->analysis.sigma.dof + s->model->ndiscrete;
    if (x->n == 0) x->n = 1;
    f->system = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = x->n, .f = rates, .user = x}};
    f->system.switches = dae_sides_switches(x->sides, switch_values, x, switch_name);
    return DAE_OK;
}

/* "states: y, vy" */
static void describe(dae_form *f)
{
    const statespace *x = f->self;
    const dae_analysis *a = &x->s->analysis;
    const int *state = dae_reduced_states(x->d);
    size_t used = (size_t)snprintf(f->text, sizeof f->text, "states:");
    for (int k = 0, j = 0; k < a->sigma.dof && used + 60 < sizeof f->text; k++) {
        while (state[k] >= a->place[j + 1]) j++;
        int order = state[k] - a->place[j];
        used += (size_t)snprintf(f->text + used, sizeof f->text - used, "%s %.40s%.*s", k ? "," : "",
                                 a->variable[j], order < 8 ? order : 8, "''''''''");
    }
}

/* At the start the consistent point of the system is taken as it is; later, values that differ from the last ones were assigned and
 * stay, the others follow. */
static dae_status lift(dae_form *f, double t, const double *y, double *z, dae_error *err)
{
    statespace *x = f->self;
    dae_equation_system *s = x->s;
    const dae_analysis *a = &s->analysis;
    int bad = 0, different = 0;
    dae_equation_system_components(s, x->started ? x->X : s->initial.X, x->y);
    for (int i = 0; i < s->ncontinuous; i++) {
        x->changed[i] = y[i] != x->y[i];
        different |= x->changed[i];
    }
    different |= take_discrete(x, y + s->ncontinuous);
    if (!different) { /* also after an event that assigned nothing: not a bit changes */
        if (!x->started) memcpy(x->X, s->initial.X, (size_t)a->total * sizeof *x->X);
    } else {
        int r = dae_equation_system_restart(s, t, y, x->changed, dae_sides_discrete(x->sides),
                                            x->started ? x->X : s->initial.X, x->X);
        if (r < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for consistent values");
        if (r > 0)
            return dae_fail(err, DAE_ERR_INCONSISTENT, t, "t = %.10g: the values contradict the equations",
                            t);
    }
    x->started = 1;
    int r = dae_reduced_start(x->d, t, x->X, &bad);
    if (r < 0) return dae_fail(err, DAE_ERR_MEMORY, t, "no memory for the states");
    if (r > 0) {
        return dae_fail(err, DAE_ERR_SINGULAR, t,
                        "t = %.10g: %s depends on other equations there (the system Jacobian is singular): "
                        "a redundant constraint?",
                        t, a->equation[bad]);
    }
    for (int k = 0; k < a->sigma.dof; k++) z[k] = x->X[dae_reduced_states(x->d)[k]];
    if (a->sigma.dof == 0) z[0] = 0;
    memcpy(z + a->sigma.dof, y + s->ncontinuous, (size_t)s->model->ndiscrete * sizeof *z);
    describe(f);
    return DAE_OK;
}

static int lower(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp)
{
    statespace *x = f->self;
    dae_equation_system *s = x->s;
    const double *X;
    (void)zp;
    int r = solve(x, t, z, &X);
    if (r) return r;
    dae_equation_system_components(s, X, y);
    memcpy(y + s->ncontinuous, z + s->analysis.sigma.dof, (size_t)s->model->ndiscrete * sizeof *y);
    memcpy(x->X, X, (size_t)s->analysis.total * sizeof *x->X);
    if (!yp) return 0;
    for (int i = 0; i < s->ncontinuous; i++) {
        int j = s->variable[i]; /* the derivative of an algebraic variable is not known */
        yp[i] = s->order[i] < s->analysis.sigma.d[j] ? X[s->analysis.place[j] + s->order[i] + 1] : NAN;
    }
    memset(yp + s->ncontinuous, 0, (size_t)s->model->ndiscrete * sizeof *yp);
    return 0;
}

/* States get the tolerance of the component that they are; derivatives that are none that of the highest below. */
static void tolerance(const dae_form *f, const double *given, double *out)
{
    const statespace *x = f->self;
    dae_equation_system *s = x->s;
    const dae_analysis *a = &s->analysis;
    const int *state = dae_reduced_states(x->d);
    out[0] = given[0];
    for (int k = 0, j = 0; k < a->sigma.dof; k++) {
        int best = 0, order = -1;
        while (state[k] >= a->place[j + 1]) j++;
        for (int i = 0; i < s->ncontinuous; i++) {
            if (s->variable[i] != j || s->order[i] > state[k] - a->place[j] || s->order[i] <= order) continue;
            order = s->order[i];
            best = i;
        }
        out[k] = given[best];
    }
    for (int i = 0; i < s->model->ndiscrete; i++) out[a->sigma.dof + i] = given[s->ncontinuous + i];
}

static int chart(double t, double *z, void *user)
{
    dae_form *f = user;
    statespace *x = f->self;
    dae_reduced_change_early(x->d, !dae_integrator_method(x->it)->multistep);
    int r = dae_reduced_accept(x->d, t, z);
    if (r > 0) describe(f);
    return r < 0 ? DAE_ERR_MEMORY : r;
}

/* Memory of a checkpoint: the choice of states, discrete values, the last lifted point. */
static size_t save(const void *user, void *buffer)
{
    const statespace *x = ((const dae_form *)user)->self;
    size_t discrete = (size_t)dae_sides_all(x->sides) * sizeof(double),
           total = (size_t)x->s->analysis.total * sizeof(double);
    unsigned char *out = buffer;
    if (out) {
        memcpy(out, dae_sides_discrete(x->sides), discrete);
        memcpy(out + discrete, x->X, total);
        memcpy(out + discrete + total, &x->started, sizeof x->started);
        out += discrete + total + sizeof x->started;
    }
    return discrete + total + sizeof x->started + dae_reduced_save(x->d, out);
}

static int load(void *user, const void *buffer, size_t size)
{
    dae_form *f = user;
    statespace *x = f->self;
    size_t discrete = (size_t)dae_sides_all(x->sides) * sizeof(double),
           total = (size_t)x->s->analysis.total * sizeof(double);
    size_t head = discrete + total + sizeof x->started;
    const unsigned char *in = buffer;
    if (size < head) return -1;
    memcpy(x->X, in + discrete, total);
    memcpy(&x->started, in + discrete + total, sizeof x->started);
    dae_sides_restore(x->sides, (const double *)buffer);
    dae_reduced_set(x->d, x->s->parameter, dae_sides_discrete(x->sides));
    int r = dae_reduced_load(x->d, in + head, size - head);
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
