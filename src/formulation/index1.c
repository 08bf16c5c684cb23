/* The ODE forms: index1 (direct integration) and baumgarte ([Bau72]).
 *
 *     p' = T v,   v' = a,   u' = d(t, p, v, lambda, u),   y = (p, v, u)
 *
 * with (a, lambda) from the saddle-point system
 *
 *     M a + G^T lambda = f,   G a = -gamma - 2 alpha (G v + gI) - beta^2 g
 *
 * solved inside the right-hand side; alpha = beta = 0 in index1. Nonholonomic rows have no g, so that their
 * residual decays like exp(-2 alpha t). */
#include "formulation/formulation.h"

#include "core/number.h"
#include "core/vector.h"

#include <math.h>
#include <stdio.h>

#define PER_PERIOD 5.0 /* Baumgarte: alpha = beta = 5 / T, T the shortest time constant at the start */
#define POWER_STEPS 10 /* ours: of the power method that estimates it */

typedef struct form {
    double alpha, beta;
    int direct;   /* p' = v, no u, and the system's own accelerations, which nothing is added to */
    int chosen;   /* alpha and beta are known */
    double *work; /* 4 n: power method */
} form;

static int rhs(double t, const double *y, double *out, void *user)
{
    dae_formulation *f = user;
    const form *s = f->self;
    dae_descriptor *d = &f->d;
    const double *p = y, *v = y + d->np, *u = v + d->nv;
    if (s->direct) { /* whoever integrates it looks at the values */
        int r = dae_parts_accelerations(&d->parts, t, p, v, u, d->side);
        dae_copy(d->nv, v, out);
        dae_copy(d->nv, d->side, out + d->np);
        return r;
    }
    int r = dae_descriptor_accelerations(d, t, p, v, u, s->alpha, s->beta, out + d->np, f->lambda);
    if (!r) r = dae_descriptor_kinematics(d, t, p, v, out);
    return r ? r : dae_descriptor_dynamics(d, t, p, v, u, f->lambda, out + d->np + d->nv);
}

static dae_status create(dae_formulation *f, dae_error *err)
{
    const dae_descriptor *d = &f->d;
    int n = d->np + d->nv + d->nu;
    form *s = dae_arena_take(f->arena, 1, sizeof *s);
    if (s) s->work = dae_arena_reals(f->arena, 4 * (size_t)n);
    if (dae_arena_failed(f->arena))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d equations", n);
    s->direct = d->m.accelerations && !d->m.kinematics && !d->nu && f->type == &dae_formulation_index1;
    f->self = s;
    f->sys = (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = n, .f = rhs, .user = f}};
    if (!d->m.kinematics) f->sys.structure.second_order = d->nv;
    return DAE_OK;
}

/* ---- Baumgarte's numbers ---------------------------------------------------------------------------- */

/* The modulus of the largest eigenvalue of df/dy, in the mean over the last steps of a power method on
 * differences: positions and velocities take turns, so that single steps tell little. 0: not found. */
static double rate(dae_formulation *f, double t, const double *y)
{
    form *s = f->self;
    int n = f->sys.ode.n;
    double *f0 = s->work, *f1 = f0 + n, *x = f1 + n, *w = x + n, size = 0, product = 0;
    if (rhs(t, y, f0, f)) return 0;
    for (int i = 0; i < n; i++) {
        size = fmax(size, fabs(y[i]));
        w[i] = 1 + 0.5 * sin(1.7 * i + 0.3);
    }
    double eps = 1e-7 * (size > 0 ? size : 1);
    for (int k = 0; k < POWER_STEPS; k++) {
        double norm = 0, grown = 0;
        for (int i = 0; i < n; i++) norm += w[i] * w[i];
        norm = sqrt(norm);
        if (!(norm > 0)) return 0;
        for (int i = 0; i < n; i++) x[i] = y[i] + eps * w[i] / norm;
        if (rhs(t, x, f1, f)) return 0;
        for (int i = 0; i < n; i++) {
            w[i] = (f1[i] - f0[i]) / eps;
            grown += w[i] * w[i];
        }
        if (k >= 2) product += 0.5 * log(fmax(grown, 1e-300)) / (POWER_STEPS - 2);
    }
    double found = exp(product);
    return isfinite(found) ? found : 0;
}

static void choose(dae_formulation *f, double t, const double *y)
{
    form *s = f->self;
    double alpha = f->option.alpha, beta = f->option.beta, found = 0;
    if (s->chosen) return;
    if (alpha < 0 && beta < 0) {
        const double pi = 3.14159265358979323846;
        found = rate(f, t, y);
        alpha = found > 0 ? PER_PERIOD * found / (2 * pi) : 1;
        dae_snprintf(f->text, sizeof f->text, "alpha = beta = %.3g, chosen from a rate of %.3g at the start",
                     alpha, found);
    } else {
        if (alpha < 0) alpha = beta;
        dae_snprintf(f->text, sizeof f->text, "alpha = %.4g, beta = %.4g", alpha, beta < 0 ? alpha : beta);
    }
    s->alpha = alpha;
    s->beta = beta < 0 ? alpha : beta;
    s->chosen = 1;
}

/* ---- States ----------------------------------------------------------------------------------------- */

static dae_status lift(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    dae_copy(f->sys.ode.n, pvu, y);
    return dae_formulation_solve(f, t, pvu, f->a, f->lambda, err);
}

static dae_status lift_baumgarte(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    dae_status r = lift(f, t, pvu, y, err);
    if (!r) choose(f, t, y);
    return r;
}

static dae_status lower(dae_formulation *f, double t, const double *y, double *pvu, double *a, double *lambda,
                        int *known, dae_error *err)
{
    (void)t;
    (void)a;
    (void)lambda;
    (void)known;
    (void)err;
    dae_copy(f->sys.ode.n, y, pvu);
    return DAE_OK;
}

static const dae_option direct[] = {DAE_FORMULATION_PROJECT, DAE_FORMULATION_SADDLE, {.name = NULL}};
static const dae_option stabilized[] = {
    {"alpha", DAE_OPTION_REAL, offsetof(dae_formulation_options, alpha), -1, NULL, -1, 1e12, NULL, "1/s",
     "damping of the constraints; -1: as beta, or chosen from the motion at the start"},
    {"beta", DAE_OPTION_REAL, offsetof(dae_formulation_options, beta), -1, NULL, -1, 1e12, NULL, "1/s",
     "stiffness of the constraints (its square counts); -1: as alpha"},
    DAE_FORMULATION_PROJECT,
    DAE_FORMULATION_SADDLE,
    {.name = NULL}};

const dae_formulation_type dae_formulation_index1 = {
    .info = {.name = "index1",
             .title = "acceleration constraints: ODE in (p, v), integrated directly",
             .summary = "for every ODE method; the constraints drift unless they are projected",
             .kind = DAE_KIND_ODE,
             .options = direct},
    .astray = 1,
    .create = create,
    .lift = lift,
    .lower = lower,
};

const dae_formulation_type dae_formulation_baumgarte = {
    .info = {.name = "baumgarte",
             .title = "acceleration constraints with Baumgarte stabilization: ODE in (p, v)",
             .summary = "drift bounded by feedback with alpha, beta; for fixed steps and comparison",
             .kind = DAE_KIND_ODE,
             .options = stabilized},
    .astray = 1,
    .create = create,
    .lift = lift_baumgarte,
    .lower = lower,
};

/* ---- The descriptor form itself ------------------------------------------------------------------------ */

static dae_status create_descriptor(dae_formulation *f, dae_error *err)
{
    (void)err;
    f->sys = (dae_system){.kind = DAE_KIND_MECH, .mech = f->d.m};
    return DAE_OK;
}

static dae_status lift_descriptor(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err)
{
    (void)t;
    (void)err;
    dae_copy(dae_system_size(&f->sys), pvu, y);
    return DAE_OK;
}

static dae_status lower_descriptor(dae_formulation *f, double t, const double *y, double *pvu, double *a,
                                   double *lambda, int *known, dae_error *err)
{
    (void)t;
    (void)a;
    (void)lambda;
    (void)known;
    (void)err;
    dae_copy(dae_system_size(&f->sys), y, pvu);
    return DAE_OK;
}

static const dae_option none[] = {DAE_FORMULATION_SADDLE, {.name = NULL}};

const dae_formulation_type dae_formulation_descriptor = {
    .info = {.name = "descriptor",
             .title = "the mechanical system as it stands",
             .summary = "for methods made for it, such as mexx",
             .kind = DAE_KIND_MECH,
             .index = 3,
             .options = none},
    .create = create_descriptor,
    .lift = lift_descriptor,
    .lower = lower_descriptor,
};
