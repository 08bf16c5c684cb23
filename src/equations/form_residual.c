/* The form `residual` of equations: F(t, y, y') = 0 as they stand, for methods that take implicit systems. */
#include "equations/forms.h"

#include "core/error.h"
#include "equations/residual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct residual {
    dae_equation_system *s;
    dae_implicit *f;
    double *X;
    int *top;
    int *index; /* n: labels of the components */
} residual;

static void destroy(dae_form *f)
{
    residual *x = f->self;
    if (!x) return;
    dae_implicit_destroy(x->f);
    free(x->X);
    free(x->top);
    free(x->index);
    free(x);
}

static dae_status create(dae_form *f, dae_error *err)
{
    residual *x = f->self = calloc(1, sizeof *x);
    dae_equation_system *s = (dae_equation_system *)f->model;
    if (x) {
        x->s = s;
        x->X = calloc((size_t)s->analysis.total + 1, sizeof *x->X);
        x->top = calloc((size_t)s->model->nvariable + 1, sizeof *x->top);
    }
    if (x) x->index = calloc((size_t)s->n + 1, sizeof *x->index);
    if (!x || !x->X || !x->top || !x->index)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the residual");
    for (int j = 0; j < s->model->nvariable; j++) x->top[j] = -1;
    for (int i = 0; i < s->ncontinuous; i++) {
        int *top = &x->top[s->variable[i]];
        if (*top < 0 || s->order[i] > s->order[*top]) *top = i;
    }
    dae_first_order components = {.n = s->n,
                                  .ncontinuous = s->ncontinuous,
                                  .variable = (int *)s->variable,
                                  .order = (int *)s->order,
                                  .top = x->top};
    pthread_mutex_lock(&s->lock);
    x->f = dae_implicit_create(s->model, &components);
    pthread_mutex_unlock(&s->lock);
    if (!x->f) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the residual");
    memcpy(x->X, s->initial.X, (size_t)s->analysis.total * sizeof *x->X);
    f->system = (dae_system){.kind = DAE_KIND_IDE,
                             .ide = {.n = s->n,
                                     .residual = dae_implicit_residual,
                                     .algebraic = dae_implicit_algebraic(x->f),
                                     .user = x->f}};
    f->system.switches = dae_implicit_switches(x->f);
    int highest = 1;
    for (int i = 0; i < s->n; i++) {
        x->index[i] = dae_equation_system_label(s, i);
        highest = x->index[i] > highest ? x->index[i] : highest;
    }
    if (highest > 1 && highest <= 3) f->system.structure.index = x->index;
    return DAE_OK;
}

/* Values that differ from the consistent start were changed from outside: the rates have to follow them. */
static dae_status lift(dae_form *f, double t, const double *y, double *z, dae_error *err)
{
    residual *x = f->self;
    dae_equation_system *s = x->s;
    dae_equation_system_components(s, x->X, z);
    if (memcmp(z, y, (size_t)s->ncontinuous * sizeof *z) != 0 || t != s->model->t0) {
        int r = dae_equation_system_restart(s, t, y, NULL, y + s->ncontinuous, x->X, x->X);
        if (r) return dae_equation_system_restarted(r, t, err);
    }
    dae_equation_system_components(s, x->X, z);
    memcpy(z + s->ncontinuous, y + s->ncontinuous, (size_t)(s->n - s->ncontinuous) * sizeof *z);
    return DAE_OK;
}

static void slope(const dae_form *f, double *zp)
{
    const residual *x = f->self;
    dae_implicit_rates(x->f, x->s->analysis.place, x->s->analysis.sigma.d, x->X, zp);
}

static int lower(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp)
{
    const residual *x = f->self;
    (void)t;
    memcpy(y, z, (size_t)x->s->n * sizeof *y);
    for (int i = 0; yp && i < x->s->n; i++) yp[i] = zp ? zp[i] : NAN;
    return 0;
}

static void tolerance(const dae_form *f, const double *given, double *out)
{
    const residual *x = f->self;
    memcpy(out, given, (size_t)x->s->n * sizeof *out);
}

const dae_form_type dae_form_residual = {
    .info = {.name = "residual",
             .title = "implicit",
             .summary = "F(t, y, y') = 0 as the equations stand, for methods that take implicit systems",
             .kind = DAE_KIND_IDE},
    .create = create,
    .destroy = destroy,
    .lift = lift,
    .slope = slope,
    .lower = lower,
    .tolerance = tolerance,
};
