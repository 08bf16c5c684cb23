/* What the tests of the driver share: an oscillator that counts its calls, and starting a run. */
#ifndef DAE_TESTS_METHOD_RUNS_H
#define DAE_TESTS_METHOD_RUNS_H

#include "test.h"

#include <daedalus/daedalus.h>

/* y = (cos t, -sin t) from (1, 0); user counts the calls (NULL: nobody does). */
static inline int oscillator_f(double t, const double *y, double *f, void *user)
{
    (void)t;
    if (user) ++*(long *)user;
    f[0] = y[1];
    f[1] = -y[0];
    return 0;
}

static const double oscillator_y0[] = {1, 0};

static inline dae_system oscillator(long *calls)
{
    return (dae_system){.kind = DAE_KIND_ODE, .ode = {.n = 2, .f = oscillator_f, .user = calls}};
}

static inline dae_options with_method(const char *name, double tol)
{
    dae_options opt = dae_options_default();
    opt.method = name;
    opt.rtol = opt.atol = tol;
    return opt;
}

/* The next method that takes ODEs, from *i on; NULL: no more. */
static inline const dae_method_info *next_ode_method(int *i)
{
    for (; *i < dae_method_count(); ++*i) {
        const dae_method_info *m = dae_method_get(*i);
        if (m->kinds & 1u << DAE_KIND_ODE) return dae_method_get((*i)++);
    }
    return NULL;
}

/* Second-order methods want to know the split; no other reads it here. */
static inline int wants_second_order(const dae_method_info *m)
{
    return !strcmp(m->name, "rosnys4") || !strcmp(m->name, "wnys2") || m->no_velocities;
}

static inline dae_integrator *create(const dae_system *sys, const dae_options *opt)
{
    dae_error err = {0};
    dae_integrator *it = dae_integrator_create(sys, opt, &err);
    if (!it) fail_msg("%s: %s", opt->method, err.text);
    return it;
}

static inline void start(dae_integrator *it, double t0, double t_end, const double *y0)
{
    dae_error err = {0};
    dae_status s = dae_integrator_start(it, t0, t_end, y0, NULL, &err);
    if (s) fail_msg("start: %s: %s", dae_status_name(s), err.text);
}

static inline void advance(dae_integrator *it, double t, dae_status expected)
{
    dae_error err = {0};
    dae_status s = dae_integrator_advance(it, t, &err);
    if (s != expected) {
        fail_msg("%s to %g: %s: %s", dae_integrator_method(it)->name, t, dae_status_name(s), err.text);
    }
}

#endif
